//! Long chaotic runs: the energy error of a symplectic method wanders, and does not drift.

use crate::common::{double_pendulum, henon_heiles};
use leastaction_integrate::{ALL, Card, Integrator, Keeps};
use std::ops::ControlFlow;

const BLOCKS: usize = 64;

/// Energy errors on a chaotic orbit of Hénon and Heiles, averaged over pieces of the run.
fn energies(card: &'static Card, step: f64, end: f64) -> Vec<f64> {
    let (mut dynamics, start) = henon_heiles();
    let (mut sums, mut counts, mut first) = (vec![0.0; BLOCKS], vec![0.0; BLOCKS], None);
    let run = Integrator::new(card, step);
    let observed = run.observe(&mut dynamics, &start, end, |sample| {
        let mut energy = [0.0];
        sample.dynamics.energy(&[sample.t], sample.block.values(), &mut energy)?;
        let block = ((sample.t / end * BLOCKS as f64) as usize).min(BLOCKS - 1);
        sums[block] += energy[0] - *first.get_or_insert(energy[0]);
        counts[block] += 1.0;
        Ok(ControlFlow::Continue(()))
    });
    observed.unwrap();
    sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect()
}

/// The slope of a line through values, over the whole run; and its standard error.
fn trend(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let x = |k: usize| (k as f64 + 0.5) / n - 0.5;
    let mean = values.iter().sum::<f64>() / n;
    let xx: f64 = (0..values.len()).map(|k| x(k) * x(k)).sum();
    let slope = values.iter().enumerate().map(|(k, y)| x(k) * (y - mean)).sum::<f64>() / xx;
    let rest = values.iter().enumerate().map(|(k, y)| (y - mean - slope * x(k)).powi(2)).sum::<f64>();
    (slope, (rest / (n - 2.0) / xx).sqrt())
}

/// Below this, over 30 000 steps, energies change by rounding: a walk that grows as the root of their number.
const ROUNDING: f64 = 1e-14;

fn drifts(card: &'static Card, step: f64, end: f64) -> bool {
    let (slope, error) = trend(&energies(card, step, end));
    println!("{:20} energy changes by {slope:.1e} ± {error:.1e}", card.name);
    slope.abs() > (4.0 * error).max(ROUNDING * (end / step / 3e4).sqrt())
}

#[test]
fn symplectic_methods_do_not_drift() {
    for card in ALL.iter().filter(|card| card.keeps.contains(&Keeps::Symplectic)) {
        assert!(!drifts(card, 0.1, 3000.0), "{}", card.name);
    }
    assert!(drifts(Card::named("rk4").unwrap(), 0.1, 3000.0), "the checker can say yes");
}

#[test]
#[ignore = "long"]
fn symplectic_methods_do_not_drift_for_long() {
    for card in ALL.iter().filter(|card| card.keeps.contains(&Keeps::Symplectic)) {
        assert!(!drifts(card, 0.1, 100_000.0), "{}", card.name);
    }
}

/// In the doubled phase space the energy of one copy is nearly kept, for as long as the copies stay together: the error of
/// the double pendulum in later parts of a run is no larger than in the first. Unbound copies part within a few swings, with errors
/// as large as the energy.
#[test]
fn bound_copies_stay_together() {
    for (name, step, bound) in [("tao2", 0.004, 0.2), ("tao4", 0.004, 3e-4), ("tao6", 0.005, 3e-4)] {
        for start in [[0.9, -0.4, 0.3, 0.8], [1.6, 0.0, 0.0, 0.0]] {
            let (mut dynamics, _) = double_pendulum();
            let names = ["a", "b", "a'", "b'"];
            let start: Vec<_> = names.into_iter().zip(start).collect();
            let start = dynamics.start(&start).unwrap();
            let (end, mut worst, mut first) = (400.0, [0.0_f64; 4], None);
            let run = Integrator::named(name, step).unwrap().every(11);
            let observed = run.observe(&mut dynamics, &start, end, |sample| {
                let mut energy = [0.0];
                sample.dynamics.energy(&[sample.t], sample.block.values(), &mut energy)?;
                let part = ((4.0 * sample.t / end) as usize).min(3);
                worst[part] = worst[part].max((energy[0] - *first.get_or_insert(energy[0])).abs());
                Ok(ControlFlow::Continue(()))
            });
            observed.unwrap();
            println!("{name}: {worst:?}");
            assert!(worst.iter().all(|&error| error < bound), "{name}: {worst:?}");
        }
    }
}
