//! Energies that are no formulas: over elements, and opaque. Every quantity is that of a model where they are written as formulas.

use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{
    Batch, Conserved, Dynamics, Elements, EnergyFacts, EvalError, Model, ModelError, ObserveError, Opaque,
    OpaqueEnergy, Quantity, Query,
};

const BEADS: usize = 6;

/// What beads in a row are coupled by.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    Formula,
    Elements,
    Opaque,
}

/// Σ k (q_{i+1} − q_i − 1)²/2 + (q_{i+1} − q_i − 1)⁴/4 over all neighbours, by hand.
struct Springs {
    beads: usize,
}

impl Springs {
    fn each(&self, at: Batch<'_>, mut spring: impl FnMut(usize, usize, f64, f64)) {
        for (i, lane) in (0..self.beads - 1).flat_map(|i| (0..at.t.len()).map(move |lane| (i, lane))) {
            let q = |i: usize| at.q[i * at.stride + lane];
            spring(i, lane, at.parameters[lane], q(i + 1) - q(i) - 1.0);
        }
    }
}

impl OpaqueEnergy for Springs {
    fn facts(&self) -> EnergyFacts {
        let coordinates = (0..self.beads as u32).collect();
        EnergyFacts { coordinates, parameters: vec!["k".into()], time: false }
    }

    fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        self.each(at, |_, lane, k, x| out[lane] += 0.5 * k * x * x + x * x * x * x / 4.0);
    }

    fn memory(&self, lanes: usize) -> usize {
        lanes
    }

    fn gradient(&self, at: Batch<'_>, memory: &mut [f64], out: &mut [f64]) {
        assert_eq!(memory.len(), at.t.len());
        out.fill(0.0);
        self.each(at, |i, lane, k, x| {
            let force = k * x + x * x * x;
            out[i * at.stride + lane] -= force;
            out[(i + 1) * at.stride + lane] += force;
        });
    }

    fn hessian_product(&self, at: Batch<'_>, d: &[f64], _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        self.each(at, |i, lane, k, x| {
            let [a, b] = [i, i + 1].map(|i| i * at.stride + lane);
            let change = (k + 3.0 * x * x) * (d[b] - d[a]);
            out[a] -= change;
            out[b] += change;
        });
    }
}

fn coupled<'g>(model: &mut Model<'g>, q: &[Expr<'g>], by: By) {
    let graph = model.graph();
    let k = model.parameter("k", 2.0);
    let spring = |a: Expr<'g>, b: Expr<'g>| 0.5 * k * (b - a - 1.0).pow(2) + (b - a - 1.0).pow(4) / 4.0;
    match by {
        By::Formula => model.potential("springs", graph.sum(q.windows(2).map(|q| spring(q[0], q[1])))),
        By::Opaque => model.potential("springs", Opaque::new(Springs { beads: q.len() })),
        By::Elements => {
            let [a, b] = ["a", "b"].map(|name| graph.symbol(name));
            let elements = Elements {
                energy: spring(a, b),
                slots: vec![a, b],
                coordinates: (0..q.len() as u32 - 1).flat_map(|i| [i, i + 1]).collect(),
                constants: Vec::new(),
                values: [].into(),
                implicit: vec![],
            };
            model.potential("springs", elements);
        }
    }
}

/// How the motion of the beads is stated.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stated {
    /// Beads on a line, with friction.
    Particles,
    /// Beads on a line that are coupled by their masses, too, which turn with time.
    Masses,
    /// By a Hamiltonian that is not quadratic in momenta.
    Hamiltonian,
    /// By energies, where the first two beads are coupled by a rod, and the last moves as told.
    Constrained,
}

fn beads(stated: Stated, by: By) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q: Vec<_> = (0..BEADS).map(|i| model.coordinate(&format!("q{i}"))).collect();
    let t = model.time();
    match stated {
        Stated::Particles | Stated::Constrained => {
            for (i, &q) in q.iter().enumerate() {
                model.particle(&format!("bead {i}"), 1.0 + 0.2 * i as f64, [q]);
            }
            model.dissipation("air", 0.05 * model.velocity(q[2]).pow(2));
        }
        Stated::Masses => {
            let v: Vec<_> = q.iter().map(|&q| model.velocity(q)).collect();
            for i in 0..BEADS {
                model.kinetic(
                    &format!("own {i}"),
                    0.5 * (1.0 + 0.1 * q[i].sin()) * v[i].pow(2) + 0.1 * t * v[i],
                );
            }
            model.kinetic("mixed", 0.1 * v[0] * v[1] + 0.2 * v[2] * v[4]);
        }
        Stated::Hamiltonian => {
            for (i, &q) in q.iter().enumerate() {
                let p = model.momentum(&format!("p{i}"));
                model.hamiltonian(&format!("own {i}"), (1.0 + p * p).sqrt() + 0.1 * p * q.sin());
            }
        }
    }
    model.potential("weights", 0.3 * q[1].cos() + 0.1 * q[5].pow(2));
    coupled(&mut model, &q, by);
    if stated == Stated::Constrained {
        model.constraint("rod", (q[1] - q[0]).pow(2), 1.21);
        model.constraint("hand", q[5], 5.5);
    }
    model.system().unwrap().dynamics().unwrap()
}

fn state(lane: usize) -> Vec<f64> {
    let place = |i: usize| if i < BEADS { 1.1 * i as f64 } else { 0.0 };
    (0..2 * BEADS).map(|i| place(i) + 0.2 * ((3 * i + lane) as f64).sin()).collect()
}

#[test]
fn every_quantity_adds_up_over_formulas_elements_and_opaque_energies() {
    let n = BEADS;
    for stated in [Stated::Particles, Stated::Masses, Stated::Hamiltonian, Stated::Constrained] {
        let mut by_formula = beads(stated, By::Formula);
        for by in [By::Elements, By::Opaque] {
            let mut dynamics = beads(stated, by);
            // What is held is no unknown, also where it is read by what is no formula.
            let n = if stated == Stated::Constrained { n - 1 } else { n };
            assert_eq!((by_formula.system().degrees(), dynamics.system().degrees()), (n, n));
            let state = |lane: usize| {
                let all = state(lane);
                [&all[..n], &all[BEADS..][..n]].concat()
            };
            let mut queries: Vec<(&str, Query, usize)> = vec![
                ("rates", Dynamics::rates, 2 * n),
                ("kick", Dynamics::kick, n),
                ("velocities", Dynamics::velocities, n),
                ("momentum rates", Dynamics::momentum_rates, n),
                ("accelerations", Dynamics::accelerations, n),
                ("energy", Dynamics::energy, 1),
                ("kinetic", Dynamics::kinetic_energy, 1),
                ("potential", Dynamics::potential_energy, 1),
                ("lagrangian", Dynamics::lagrangian, 1),
                ("shares", Dynamics::shares, by_formula.system().shares().len()),
            ];
            match stated {
                Stated::Constrained => queries.push(("reactions", Dynamics::reactions, 1)),
                _ => queries.push(("jacobian", Dynamics::jacobian, 4 * n * n)),
            }
            if !matches!(stated, Stated::Hamiltonian | Stated::Constrained) {
                queries.push(("configuration", Dynamics::configuration_jacobian, 3 * n * n));
            }
            assert_eq!(by_formula.system().shares(), dynamics.system().shares());
            for (name, query, len) in queries {
                let (mut expected, mut found) = (vec![0.0; len], vec![0.0; len]);
                query(&mut by_formula, &[0.3], &state(0), &mut expected).unwrap();
                query(&mut dynamics, &[0.3], &state(0), &mut found).unwrap();
                for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                    assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{stated:?} {name} {i}: {a} {b}");
                }
                // Eight lanes, and three times eight, are what each would be alone.
                let wide = if stated == Stated::Constrained { LANES } else { 3 * LANES };
                for width in [LANES, wide] {
                    let rows = (0..2 * n * width).map(|k| state(k % width)[k / width]).collect::<Vec<_>>();
                    let mut lanes = vec![0.0; len * width];
                    query(&mut dynamics, &vec![0.3; width], &rows, &mut lanes).unwrap();
                    for lane in [0, width - 3] {
                        query(&mut dynamics, &[0.3], &state(lane), &mut found).unwrap();
                        for i in 0..len {
                            let lane = lanes[i * width + lane];
                            assert_eq!(found[i].to_bits(), lane.to_bits(), "{stated:?} {name} {i}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn constraint_forces_hold_against_what_elements_and_opaque_energies_pull() {
    let mut by_formula = beads(Stated::Constrained, By::Formula);
    let start =
        by_formula.start(&[("q1", 1.1), ("q2", 2.3), ("q3", 3.0), ("q4", 4.6), ("q3'", 0.4)]).unwrap();
    let mut expected = vec![0.0; 2 * (BEADS - 1)];
    by_formula.rates(&[0.0], &start.block(), &mut expected).unwrap();
    for by in [By::Elements, By::Opaque] {
        let mut dynamics = beads(Stated::Constrained, by);
        let values = [("q1", 1.1), ("q2", 2.3), ("q3", 3.0), ("q4", 4.6), ("q5", 5.5), ("q3'", 0.4)];
        let start = dynamics.start(&values).unwrap();
        let mut found = vec![0.0; 2 * (BEADS - 1)];
        dynamics.rates(&[0.0], &start.block(), &mut found).unwrap();
        for i in 0..2 * (BEADS - 1) {
            assert!((found[i] - expected[i]).abs() < 1e-12, "{i}: {} {}", found[i], expected[i]);
        }
        assert!(!dynamics.system().facts().explicit);
    }
}

/// Elements and opaque energies have the parameters of each lane: those of a single state with these, and of groups of eight beyond eight lanes.
#[test]
fn parameters_reach_energies_in_every_lane() {
    for by in [By::Elements, By::Opaque] {
        let mut dynamics = beads(Stated::Particles, by);
        let (mut alone, mut formula) = (dynamics.clone(), beads(Stated::Particles, By::Formula));
        for lane in 0..LANES {
            dynamics.set_parameters_in(lane, &[1.0 + lane as f64]).unwrap();
        }
        for width in [LANES, 3 * LANES] {
            let block: Vec<f64> = (0..2 * BEADS * width).map(|k| state(k % width)[k / width]).collect();
            let (mut lanes, mut one, mut same) =
                (vec![0.0; BEADS * width], vec![0.0; BEADS], vec![0.0; BEADS]);
            dynamics.kick(&vec![0.0; width], &block, &mut lanes).unwrap();
            for lane in 0..width {
                let k = 1.0 + (lane % LANES) as f64;
                alone.set_parameter("k", k).unwrap();
                alone.kick(&[0.0], &state(lane), &mut one).unwrap();
                formula.set_parameter("k", k).unwrap();
                formula.kick(&[0.0], &state(lane), &mut same).unwrap();
                for i in 0..BEADS {
                    assert_eq!(one[i].to_bits(), lanes[i * width + lane].to_bits());
                    assert!((one[i] - same[i]).abs() < 1e-13 * (1.0 + same[i].abs()), "{by:?}");
                }
            }
        }
    }
}

#[test]
fn facts_are_declared_where_nothing_can_be_read() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    let t = model.time();
    let a = graph.symbol("a");
    let element = |energy, coordinate: u32| Elements {
        energy,
        slots: vec![a],
        coordinates: [coordinate].into(),
        constants: Vec::new(),
        values: [].into(),
        implicit: vec![],
    };
    let mut timed = model.clone();
    model.potential("well", element(a * a, 0));
    timed.potential("well", element(a * a * t, 0));
    let facts = model.system().unwrap().facts().clone();
    assert!(facts.separable && facts.constant_mass && facts.autonomous);
    assert!(facts.explicit && !facts.one_kernel && !facts.symbolic);
    assert_eq!(facts.cyclic, [1]);
    assert_eq!(facts.conserved, [Conserved::Energy, Conserved::Momentum(1)]);
    let facts = timed.system().unwrap().facts().clone();
    assert!(!facts.autonomous);
    assert_eq!(facts.conserved, [Conserved::Momentum(1)]);
    let equations = model.equations().unwrap();
    assert_eq!(equations.to_string(), "x'' = force_well_x\ny'' = 0");
    assert_eq!(equations.is_conserved(model.velocity(x)), None);
    assert!(equations.phase_rates().is_none() && equations.hamiltonian().is_none());
}

#[test]
fn what_needs_expressions_says_so() {
    for by in [By::Elements, By::Opaque] {
        let mut dynamics = beads(Stated::Particles, by);
        let system = dynamics.system().clone();
        let no_formula =
            |e: EvalError| matches!(e, EvalError::NoFormula { energy, .. } if energy == "springs");
        for quantity in [Quantity::Rates, Quantity::Kick, Quantity::Energy, Quantity::Jacobian] {
            assert!(system.kernel(quantity).is_err_and(no_formula));
        }
        assert!(system.kernel(Quantity::Drift).is_ok());
        assert!(system.rates_program().is_err_and(no_formula) && system.series(4).is_err_and(no_formula));
        assert!(matches!(dynamics.natural_time(), Err(ObserveError::NoRate { .. })));
        // The rate of anything else is known from the values of forces.
        let energy = dynamics.rated("q0*p_q1").unwrap();
        let (y, mut rates, mut both) = (state(0), vec![0.0; 2 * BEADS], [[0.0], [0.0]]);
        dynamics.rates(&[0.0], &y, &mut rates).unwrap();
        let [value, rate] = &mut both;
        dynamics.observe_rated(energy, &[0.0], &y, value, rate).unwrap();
        assert!((rate[0] - (rates[0] * y[BEADS + 1] + y[0] * rates[BEADS + 1])).abs() < 1e-14);
    }
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.parameter("k", 2.0);
    model.particle("bead", 1.0, [x]);
    model.potential("spring", Opaque::new(Springs { beads: 1 }));
    let refused = model.equations().unwrap().in_fictitious_time(1.0 + x * x);
    assert!(matches!(refused, Err(ModelError::NoFictitiousTime { .. })));
}

#[test]
fn energies_that_do_not_fit_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("bead", 1.0, [x]);
    let [a, b, c] = ["a", "b", "c"].map(|name| graph.symbol(name));
    let good = Elements {
        energy: (a - b).pow(2) * c,
        slots: vec![a, b],
        coordinates: [0, 0].into(),
        constants: vec![c],
        values: [1.0].into(),
        implicit: vec![],
    };
    let refused = |elements: Elements<'_>| {
        let mut model = model.clone();
        model.potential("pairs", elements);
        model.system().map(|_| ()).unwrap_err().to_string()
    };
    let mut whole = model.clone();
    whole.potential("pairs", good.clone());
    assert!(whole.system().is_ok());
    let cases = [
        (
            Elements { coordinates: [0].into(), ..good.clone() },
            "1 indices of coordinates do not make elements of 2",
        ),
        (Elements { coordinates: [0, 1].into(), ..good.clone() }, "reads coordinate 1, and there are 1"),
        (Elements { values: [].into(), ..good.clone() }, "1 constants of elements are expected, 0 are given"),
        (Elements { values: [f64::NAN].into(), ..good.clone() }, "constant 0 of element 0 is not finite"),
        (Elements { slots: vec![], ..good.clone() }, "uses `a`, which is not declared"),
        (Elements { slots: vec![a, a], ..good.clone() }, "`a` is declared twice"),
        (Elements { energy: a * x, ..good.clone() }, "uses `x`, which is not declared"),
    ];
    for (elements, message) in cases {
        let found = refused(elements);
        assert!(found.contains(message), "{found}");
    }
    model.potential("springs", Opaque::new(Springs { beads: 2 }));
    let refused = |model: &Model<'_>| model.system().map(|_| ()).unwrap_err().to_string();
    let message = refused(&model);
    assert!(message.contains("springs") && message.contains("parameter `k`"), "{message}");
    model.parameter("k", 2.0);
    let message = refused(&model);
    assert!(message.contains("springs") && message.contains("coordinate 1"), "{message}");
}
