//! The length of a pendulum, its damping and how it was let go, from noisy samples of its angle: a fit by the method of Gauss and Newton. The way back over the run
//! gives the Jacobian, eight samples at a time.
//!
//! ```text
//! cargo run --release --example fit_pendulum
//! ```

use leastaction::expr::Random;
use leastaction::{Graph, Integrator, Model, Seed, State, Tape};
use std::error::Error;

/// Samples of the angle are off by about so much.
const NOISE: f64 = 0.01;
const SAMPLES: usize = 100;
const END: f64 = 5.0;

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [l, c] = model.parameters([("l", 1.0), ("c", 0.0)]);
    let th = model.coordinate("th");
    model.particle("bob", 1.0, [l * th.sin(), -l * th.cos()]);
    model.gravity([0.0, -9.81]);
    model.dissipation("air", c * model.velocity(th).pow(2.0) / 2.0);
    let mut dynamics = model.system()?.dynamics()?;
    let times: Vec<f64> = (1..=SAMPLES).map(|i| END * i as f64 / SAMPLES as f64).collect();
    let integrator = Integrator::named("dop853", 0.05)?.at(&times);

    // What was measured: a pendulum of length 1.27 with damping 0.4, from 1.9 rad.
    let truth = [1.27, 0.4, 1.9];
    dynamics.set_parameters(&truth[..2])?;
    let start = dynamics.start(&[("th", truth[2])])?;
    let mut random = Random::new(7);
    let swing = integrator.run(&mut dynamics, &start, END)?;
    let data: Vec<f64> = swing.samples().map(|(_, y)| y[0] + NOISE * random.normal()).collect();

    // A guess, and steps from it: J δ = residuals, in the sense of least squares.
    let mut guess = [1.0, 0.1, 1.6];
    println!("{:>4} {:>10} {:>10} {:>10} {:>12}", "step", "l", "c", "th", "misfit");
    let mut misfit = f64::INFINITY;
    for step in 0..20 {
        dynamics.set_parameters(&guess[..2])?;
        let start = State { t: 0.0, q: vec![guess[2]], p: vec![0.0] };
        let tape = Tape::record(&integrator, &dynamics, &start, END)?;
        let residuals: Vec<f64> =
            tape.trajectory().samples().zip(&data).map(|((_, y), measured)| measured - y[0]).collect();
        let before = std::mem::replace(&mut misfit, (square(&residuals) / SAMPLES as f64).sqrt());
        println!("{step:>4} {:>10.6} {:>10.6} {:>10.6} {misfit:>12.3e}", guess[0], guess[1], guess[2]);
        if before - misfit < 1e-12 {
            break;
        }
        let seeds: Vec<Seed> = (0..SAMPLES).map(|i| Seed::new().sample(i, &[1.0, 0.0])).collect();
        let rows = tape.gradients(&seeds)?;
        let rows = rows.iter().map(|row| [row.parameters[0], row.parameters[1], row.start[0]]);
        let (mut normal, mut side) = ([[0.0; 3]; 3], [0.0; 3]);
        for (row, residual) in rows.zip(&residuals) {
            for i in 0..3 {
                (0..3).for_each(|j| normal[i][j] += row[i] * row[j]);
                side[i] += row[i] * residual;
            }
        }
        let delta = solved(normal, side);
        (0..3).for_each(|i| guess[i] += delta[i]);
    }
    let off = guess.iter().zip(truth).map(|(found, truth)| (found - truth).abs()).fold(0.0, f64::max);
    println!("true {:>10.6} {:>10.6} {:>10.6}", truth[0], truth[1], truth[2]);
    if off > 10.0 * NOISE {
        return Err(format!("the fit is off by {off}").into());
    }
    Ok(())
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

/// The solution of three equations, by Cramer's rule.
fn solved(a: [[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let determinant = |m: [[f64; 3]; 3]| -> f64 {
        (0..3)
            .map(|i| {
                m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3])
            })
            .sum()
    };
    let whole = determinant(a);
    std::array::from_fn(|column| {
        let mut replaced = a;
        (0..3).for_each(|row| replaced[row][column] = b[row]);
        determinant(replaced) / whole
    })
}
