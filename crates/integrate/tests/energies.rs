//! Energies over elements, and opaque ones, through every method: the motion is that of the same energies written as formulas.

use crate::common::{begin, distance};
use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{ALL, Block, Integrator, Pace, RunError};
use leastaction_mechanics::{Batch, Dynamics, Elements, EnergyFacts, Model, Opaque, OpaqueEnergy, State};
use leastaction_testing::allocations;
use std::ops::ControlFlow;

fn spring<'g>(k: Expr<'g>, [a, b, l]: [Expr<'g>; 3]) -> Expr<'g> {
    0.5 * k * (b - a - l).pow(2) + (b - a).pow(4) / 8.0
}

/// A chain of beads on a line, between walls, whose springs stiffen.
pub(crate) fn chain(by_elements: bool, rod: bool) -> (Dynamics, State) {
    let (graph, count) = (Graph::new(), 5);
    let mut model = Model::new(&graph);
    let q: Vec<_> = (0..count).map(|i| model.coordinate(&format!("q{i}"))).collect();
    for (i, &q) in q.iter().enumerate() {
        model.particle(&format!("bead {i}"), 1.0 + 0.25 * i as f64, [q]);
    }
    let k = model.parameter("k", 3.0);
    let rest = |i: usize| 0.1 + 0.05 * i as f64;
    if by_elements {
        let [a, b, l] = ["a", "b", "l"].map(|name| graph.symbol(name));
        let springs = Elements {
            energy: spring(k, [a, b, l]),
            slots: vec![a, b],
            coordinates: (0..count as u32 - 1).flat_map(|i| [i, i + 1]).collect(),
            constants: vec![l],
            values: (0..count - 1).map(rest).collect(),
            implicit: vec![],
        };
        model.potential("springs", springs);
    } else {
        let pairs = q.windows(2).enumerate();
        model.potential(
            "springs",
            graph.sum(pairs.map(|(i, q)| spring(k, [q[0], q[1], graph.number(rest(i))]))),
        );
    }
    model.potential("walls", 0.5 * (q[0] * q[0] + q[count - 1] * q[count - 1]));
    if rod {
        model.constraint("rod", (q[2] - q[1]).pow(2), 0.25);
    }
    begin(&model, &[("q1", 0.2), ("q2", 0.7), ("q3", 0.9), ("q4", 1.2), ("q0'", 0.6), ("q4'", -0.3)])
}

/// −9.81 cos θ, by hand.
struct Gravity;

impl OpaqueEnergy for Gravity {
    fn facts(&self) -> EnergyFacts {
        EnergyFacts { coordinates: vec![0], parameters: Vec::new(), time: false }
    }

    fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        out.iter_mut().zip(at.q).for_each(|(energy, angle)| *energy = -9.81 * angle.cos());
    }

    fn gradient(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        out.iter_mut().zip(at.q).for_each(|(slope, angle)| *slope = 9.81 * angle.sin());
    }

    fn hessian_product(&self, at: Batch<'_>, d: &[f64], _: &mut [f64], out: &mut [f64]) {
        out.iter_mut().zip(at.q.iter().zip(d)).for_each(|(h, (angle, d))| *h = 9.81 * angle.cos() * d);
    }
}

pub(crate) fn pendulum(opaque: bool) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let angle = model.coordinate("angle");
    model.kinetic("swing", 0.5 * model.velocity(angle).pow(2));
    match opaque {
        true => model.potential("gravity", Opaque::new(Gravity)),
        false => model.potential("gravity", -9.81 * angle.cos()),
    }
    begin(&model, &[("angle", 1.2), ("angle'", 0.5)])
}

/// Runs both through all methods that apply to the second, and tells how many those are.
fn agree(mut pair: [(Dynamics, State); 2], until: f64, slack: f64) -> usize {
    let facts = pair[1].0.system().facts().clone();
    assert!(!facts.symbolic);
    let applicable = ALL.iter().filter(|card| card.needs.met_by(&facts));
    for card in applicable.clone() {
        let run = Integrator::new(card, 0.01).ends_only();
        let [formula, other] = pair.each_mut().map(|(dynamics, start)| {
            run.run(dynamics, start, until).unwrap_or_else(|e| panic!("{}: {e}", card.name)).end().block()
        });
        let apart = distance(&formula, &other);
        assert!(apart < slack, "{}: {apart:e}", card.name);
        // Lanes have the bits of single runs, and nothing is allocated on the way.
        let (dynamics, start) = &mut pair[1];
        let state = start.block();
        let mut block = Block::lanes([state.as_slice(); LANES]);
        let (mut before, mut during) = (None, 0);
        let counted = |sample: leastaction_integrate::Sample<'_>| {
            let now = allocations();
            if sample.t > until / 2.0 {
                during = now - *before.get_or_insert(now);
            }
            Ok(ControlFlow::Continue(()))
        };
        Integrator::new(card, 0.01).march(dynamics, 0.0, &mut block, until, counted).unwrap();
        assert_eq!(during, 0, "{}", card.name);
        for (k, x) in block.values().iter().enumerate() {
            assert_eq!(x.to_bits(), other[k / LANES].to_bits(), "{}: bit for bit", card.name);
        }
    }
    applicable.count()
}

#[test]
fn a_chain_of_elements_moves_as_its_formula_by_every_method() {
    assert!(agree([chain(false, false), chain(true, false)], 2.0, 1e-11) > 20);
}

#[test]
fn an_opaque_pendulum_swings_as_its_formula_by_every_method() {
    assert!(agree([pendulum(false), pendulum(true)], 2.0, 1e-11) > 20);
}

#[test]
fn elements_pull_at_constraints() {
    assert!(agree([chain(false, true), chain(true, true)], 1.0, 1e-9) > 5);
}

#[test]
fn energy_has_no_drift_and_what_needs_a_series_refuses() {
    let (mut dynamics, start) = chain(true, false);
    let verlet = ALL.iter().find(|card| card.name == "verlet").unwrap();
    let mut energy = |state: &State| {
        let mut energy = [0.0];
        dynamics.energy(&[state.t], &state.block(), &mut energy).unwrap();
        energy[0]
    };
    let first = energy(&start);
    let (mut other, _) = chain(true, false);
    let end = Integrator::new(verlet, 0.01).ends_only().run(&mut other, &start, 200.0).unwrap();
    assert!((energy(&end.end()) - first).abs() < 1e-3 * first.abs());
    let taylor = ALL.iter().find(|card| card.name == "taylor").unwrap();
    let refused = Integrator::new(taylor, Pace::Step(0.01)).run(&mut other, &start, 1.0).unwrap_err();
    assert!(matches!(refused.error, RunError::NotApplicable { .. }), "{refused}");
}
