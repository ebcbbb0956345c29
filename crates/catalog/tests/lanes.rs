//! Parameters that differ from lane to lane, for every system of the catalog and on every backend: a lane has the bits that its
//! trajectory has alone.
use crate::common::begin;
use leastaction_catalog::{ALL, Entry};
use leastaction_compile::{BACKEND_VARIABLE, Backend, LANES};
use leastaction_expr::Graph;
use leastaction_integrate::{Block, Integrator};
use leastaction_mechanics::{Dynamics, Quantity, Query, State};
use std::ops::ControlFlow;

const METHODS: [&str; 8] =
    ["rk4", "verlet", "dop853", "taylor", "gauss4", "rattle", "conformal2", "energy-collocation4"];

/// Quantities of states, with the rows that each has.
fn quantities(dynamics: &Dynamics) -> Vec<(&'static str, Query, usize)> {
    let system = dynamics.system();
    let (n, d) = (system.degrees(), system.dimension());
    let whole = [("jacobian", Dynamics::jacobian as Query, d * d)];
    let mut all = vec![
        ("field", Dynamics::rates as Query, d),
        ("velocities", Dynamics::velocities, n),
        ("energy", Dynamics::energy, 1),
        ("kinetic energy", Dynamics::kinetic_energy, 1),
        ("dissipated power", Dynamics::dissipated_power, 1),
        ("shares", Dynamics::shares, system.shares().len()),
        ("positions", Dynamics::positions, system.places().iter().map(|place| place.dimensions).sum()),
        ("multipliers", Dynamics::multipliers, system.constraints().len()),
    ];
    // Whole matrices are for few coordinates.
    all.extend(whole.into_iter().filter(|_| d <= 128));
    all
}

/// A lane: its parameters, its start, and its dynamics alone.
struct Lane {
    alone: Dynamics,
    start: State,
}

/// Eight ways to set the parameters of a system; none if it has no parameters.
fn lanes(entry: &Entry, graph: &Graph) -> Option<(Dynamics, Vec<Lane>)> {
    let (setup, dynamics, _) = begin(graph, entry.name);
    if dynamics.parameters().is_empty() {
        return None;
    }
    let lane = |lane: usize| {
        let vary = |(k, value): (usize, &f64)| value * (1.0 + 1e-3 * (lane * (3 + k) % 11) as f64);
        let values: Vec<f64> = dynamics.parameters().iter().enumerate().map(vary).collect();
        let mut alone = dynamics.clone();
        alone.set_parameters(&values).unwrap();
        let values = setup.start(&alone).unwrap();
        let start = alone.start_over(0.0, &setup.start_blocks(), &values).unwrap();
        Lane { alone, start }
    };
    let lanes = (0..LANES).map(lane).collect();
    Some((dynamics, lanes))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn of_lane(values: &[f64], lane: usize) -> Vec<f64> {
    values.iter().skip(lane).step_by(LANES).copied().collect()
}

/// Small systems without redundant constraints, or all.
fn sweep(everything: bool) {
    let (mut systems, mut runs) = (0, 0);
    for entry in ALL {
        let graph = Graph::new();
        let Some((mut together, mut lanes)) = lanes(entry, &graph) else { continue };
        systems += 1;
        let name = entry.name;
        // Some is compiled before parameters are set, some after.
        let coordinate = together.system().coordinates().at(0);
        let text = format!("{coordinate}*{}", together.system().parameters()[0].0);
        let early = together.observable(&text).unwrap();
        together.prepare(&[Quantity::EnergyBalance]).unwrap();
        for (j, lane) in lanes.iter().enumerate() {
            together.set_parameters_in(j, lane.alone.parameters()).unwrap();
        }
        let late = together.observable(&text).unwrap();
        let states: Vec<Vec<f64>> = lanes.iter().map(|lane| lane.start.block()).collect();
        let block = Block::lanes(std::array::from_fn(|j| states[j].as_slice()));
        let t = [lanes[0].start.t; LANES];

        for (what, query, rows) in quantities(&together) {
            let mut wide = vec![0.0; rows * LANES];
            let found = query(&mut together, &t, block.values(), &mut wide);
            for (j, lane) in lanes.iter_mut().enumerate() {
                let mut narrow = vec![0.0; rows];
                let alone = query(&mut lane.alone, &t[..1], &states[j], &mut narrow);
                assert_eq!(found.is_ok(), alone.is_ok(), "{name}: {what}");
                assert_eq!(bits(&of_lane(&wide, j)), bits(&narrow), "{name}: {what}, lane {j}");
            }
        }
        let (mut values, mut others) = ([0.0; LANES], [0.0; LANES]);
        together.observe(early, &t, block.values(), &mut values).unwrap();
        together.observe(late, &t, block.values(), &mut others).unwrap();
        assert_eq!(bits(&values), bits(&others), "{name}");
        for (j, lane) in lanes.iter_mut().enumerate() {
            let what = lane.alone.observable(&text).unwrap();
            let mut value = [0.0];
            lane.alone.observe(what, &t[..1], &states[j], &mut value).unwrap();
            assert_eq!(values[j].to_bits(), value[0].to_bits(), "{name}: {text}, lane {j}");
        }

        let (facts, mut rank) = (together.system().facts().clone(), [0; LANES]);
        if facts.constrained {
            together.rank(&t, block.values(), &mut rank).unwrap();
        }
        let redundant = rank.iter().any(|rank| *rank < together.system().constraints().len());
        if !everything && (states[0].len() > 8 || redundant) {
            continue; // their steps take long
        }
        let step = step(entry);
        for method in METHODS {
            let Ok(run) = Integrator::named(method, step) else { panic!("there is no {method}") };
            let run = run.ends_only();
            if !run.card().needs.met_by(&facts) {
                continue;
            }
            let (start, end) = (t[0], t[0] + if redundant { 10.0 } else { 100.0 } * step);
            let mut wide = block.clone();
            let done = run.march(&mut together, start, &mut wide, end, |_| Ok(ControlFlow::Continue(())));
            for (j, lane) in lanes.iter_mut().enumerate() {
                let mut one = Block::one(&states[j]);
                let alone =
                    run.march(&mut lane.alone, start, &mut one, end, |_| Ok(ControlFlow::Continue(())));
                assert_eq!(done.is_ok(), alone.is_ok(), "{name} by {method}: {done:?} {alone:?}");
                assert_eq!(bits(&wide.lane(j)), bits(&one.lane(0)), "{name} by {method}, lane {j}");
            }
            runs += 1;
        }
    }
    println!("{systems} systems, {runs} runs of {LANES} lanes");
    assert!(systems > 15 && runs > if everything { 120 } else { 30 });
}

/// A step that suits a system.
fn step(entry: &Entry) -> f64 {
    let graph = Graph::new();
    let plan = entry.setup(&graph).plan;
    plan.step.unwrap_or(1e-3 * plan.until)
}

#[test]
#[ignore = "a helper of another test"]
fn sweep_small() {
    sweep(false);
}

#[test]
#[ignore = "a helper of another test"]
fn sweep_all() {
    sweep(true);
}

/// Runs a test with one backend after the other.
fn on_every_backend(test: &str) {
    for backend in Backend::ALL.into_iter().filter(|backend| backend.is_available()) {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--nocapture"]);
        let output = command.env(BACKEND_VARIABLE, backend.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{backend}: {said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("1 passed"), "{test} did not run: {said}");
        println!("{backend}: {said}");
    }
}

#[test]
fn lanes_have_the_bits_they_have_alone() {
    on_every_backend("lanes::sweep_small");
}

#[test]
#[ignore = "long"]
fn lanes_have_the_bits_they_have_alone_long() {
    on_every_backend("lanes::sweep_all");
}
