//! Methods that keep constraints: order, symplecticity on the manifold, the way back, momenta, long runs.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::begin;
use leastaction_expr::Graph;
use leastaction_integrate::Integrator;
use leastaction_mechanics::{Dynamics, Model, State};

type System = (Dynamics, State);

/// The n-pendulum with N = 5 (SYSTEMS.md C: masses and lengths of the CHNN paper's benchmark), in Cartesian coordinates.
fn five() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let masses = [0.938924, 1.035907, 1.082211, 1.172151, 1.039051];
    let lengths = [0.906753, 1.370930, 1.313418, 0.950070, 1.116715];
    let angles = [0.9, -0.4, 1.6, 0.2, -1.1_f64];
    let speeds = [0.3, -0.8, 0.5, 1.1, -0.6];
    let (zero, mut start) = (graph.number(0.0), Vec::new());
    let mut above = ([zero, zero], [0.0; 2], [0.0; 2]);
    for k in 0..5 {
        let names = [format!("x{k}"), format!("y{k}")];
        let place = [model.coordinate(&names[0]), model.coordinate(&names[1])];
        model.particle(&format!("bob {k}"), masses[k], place);
        let [dx, dy] = [place[0] - above.0[0], place[1] - above.0[1]];
        model.constraint(&format!("rod {k}"), dx * dx + dy * dy, lengths[k] * lengths[k]);
        let (sin, cos) = angles[k].sin_cos();
        let at = [above.1[0] + lengths[k] * sin, above.1[1] - lengths[k] * cos];
        let by = [above.2[0] + lengths[k] * cos * speeds[k], above.2[1] + lengths[k] * sin * speeds[k]];
        for i in 0..2 {
            start.push((names[i].clone(), at[i]));
            start.push((format!("{}'", names[i]), by[i]));
        }
        above = (place, at, by);
    }
    model.gravity([0.0, -9.81]);
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    begin(&model, &start)
}

/// The largest violations of positions and velocities, relative to lengths and speeds of about one.
fn violation(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; rows], vec![0.0; rows]);
    dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
    positions.iter().chain(&velocities).fold(0.0, |m, x| m.max(x.abs()))
}

/// What a long run of the five pendulums leaves: the worst violation, the worst energy error, and its drift.
fn long_run(steps: u64) -> (f64, f64, f64) {
    let (mut dynamics, start) = five();
    let step = 1e-3;
    let run = Integrator::named("rattle", step).unwrap().every(steps / 100);
    let end = step * steps as f64;
    let trajectory = run.run(&mut dynamics, &start, end).unwrap();
    println!("{:?}", trajectory.work());
    let energies = trajectory.energies(&mut dynamics).unwrap();
    let worst = trajectory.samples().map(|(t, y)| violation(&mut dynamics, t, y)).fold(0.0, f64::max);
    let errors: Vec<f64> = energies.iter().map(|e| (e - energies[0]) / energies[0]).collect();
    let largest = errors.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (early, late) = errors.split_at(errors.len() / 2);
    (worst, largest, mean(late) - mean(early))
}

#[test]
fn five_pendulums_stay_on_their_rods() {
    let (violation, energy, drift) = long_run(20_000);
    println!("violation {violation:.1e}, energy {energy:.1e}, drift {drift:.1e}");
    assert!(violation < 1e-13, "{violation:e}");
    assert!(energy < 1e-4, "{energy:e}");
}

#[test]
#[ignore = "long"]
fn five_pendulums_stay_on_their_rods_for_a_million_steps() {
    let (violation, energy, drift) = long_run(1_000_000);
    println!("violation {violation:.1e}, energy {energy:.1e}, drift {drift:.1e}");
    assert!(violation < 1e-13, "{violation:e}");
    assert!(energy < 1e-4 && drift.abs() < 1e-5, "{energy:e} {drift:e}");
}
