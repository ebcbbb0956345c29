//! Fits against answers in closed form.

use leastaction_expr::Random;
use leastaction_fit::{Derivatives, Free, Plan, Recording, fit};
use leastaction_simulate::{Overrides, Source};

/// A fall: x = x₀ + v t − g t²/2 is linear in x₀, v and g.
const FALL: &str = "param g = 5\ncoord x\nparticle ball mass 1 at [x]\npotential g*x\n";

/// The solution of the normal equations, with the covariance for one unit of noise, by elimination.
fn normal_equations(rows: &[[f64; 3]], values: &[f64]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut a = [[0.0; 7]; 3];
    for (row, value) in rows.iter().zip(values) {
        for i in 0..3 {
            (0..3).for_each(|j| a[i][j] += row[i] * row[j]);
            a[i][6] += row[i] * value;
        }
    }
    (0..3).for_each(|i| a[i][3 + i] = 1.0);
    for k in 0..3 {
        let pivot = a[k][k];
        a[k].iter_mut().for_each(|x| *x /= pivot);
        for i in (0..3).filter(|i| *i != k) {
            let factor = a[i][k];
            let row = a[k];
            a[i].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    ([a[0][6], a[1][6], a[2][6]], std::array::from_fn(|i| [a[i][3], a[i][4], a[i][5]]))
}

/// Uneven times with noise, and gaps.
fn fall(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let mut times: Vec<f64> = (0..40).map(|_| random.between(0.5, 2.5)).collect();
    times.sort_by(f64::total_cmp);
    let value = |t: &f64| 3.0 + 2.0 * t - 4.9 * t * t;
    let mut values: Vec<f64> = times.iter().map(value).collect();
    values.iter_mut().for_each(|x| *x += 0.05 * random.normal());
    values[7] = f64::NAN;
    values[23] = f64::NAN;
    (times, values)
}

#[test]
fn a_linear_problem_has_the_solution_of_the_normal_equations() {
    let (times, values) = fall(1);
    let data = [Recording::new("fall", times.clone()).with("x", values.clone())];
    let found = fit(&Source::text("fall", FALL), &data, &Plan::default(), &Overrides::default()).unwrap();
    let measured: Vec<(f64, f64)> =
        times.iter().zip(&values).filter(|(_, x)| !x.is_nan()).map(|(t, x)| (*t, *x)).collect();
    let first = measured[0].0;
    let rows: Vec<[f64; 3]> =
        measured.iter().map(|(t, _)| [-(t - first).powi(2) / 2.0, 1.0, t - first]).collect();
    let values: Vec<f64> = measured.iter().map(|(_, x)| *x).collect();
    let (expected, inverse) = normal_equations(&rows, &values);
    let left = rows.iter().zip(&values);
    let squares: f64 = left.map(|(r, x)| (x - (0..3).map(|i| r[i] * expected[i]).sum::<f64>()).powi(2)).sum();
    let noise = squares / 35.0;
    assert_eq!((found.measured, found.freedom), (38, 35));
    for (i, estimate) in found.estimates.iter().enumerate() {
        assert!((estimate.value / expected[i] - 1.0).abs() < 1e-8, "{estimate:?}, not {}", expected[i]);
        let error = (noise * inverse[i][i]).sqrt();
        assert!((estimate.error.unwrap() / error - 1.0).abs() < 1e-5, "{estimate:?}, not ± {error}");
        let [low, high] = estimate.interval.unwrap();
        // Student's t with 35 degrees of freedom.
        assert!(((high - low) / (2.0 * 2.0301 * error) - 1.0).abs() < 1e-4);
    }
    let correlation = inverse[0][2] / (inverse[0][0] * inverse[2][2]).sqrt();
    assert!((found.correlation(0, 2).unwrap() - correlation).abs() < 1e-5);
    assert!((found.channels[0].sigma / noise.sqrt() - 1.0).abs() < 1e-3);
    assert_eq!(found.derivatives, Derivatives::Adjoint);
    assert!(found.is_sound() && found.doubts.is_empty(), "{:?}", found.doubts);
}

/// With noise that is known, and differs from row to row, errors follow from it alone.
#[test]
fn weights_are_those_of_the_noise_that_is_given() {
    let (times, values) = fall(2);
    let sigmas: Vec<f64> = (0..times.len()).map(|i| if i % 3 == 0 { 0.02 } else { 0.08 }).collect();
    let data = [Recording::new("fall", times.clone()).with("x", values.clone()).sigmas(sigmas.clone())];
    let found = fit(&Source::text("fall", FALL), &data, &Plan::default(), &Overrides::default()).unwrap();
    let used: Vec<usize> = (0..times.len()).filter(|&i| !values[i].is_nan()).collect();
    let first = times[used[0]];
    let row = |&i: &usize| [-(times[i] - first).powi(2) / 2.0, 1.0, times[i] - first].map(|x| x / sigmas[i]);
    let rows: Vec<[f64; 3]> = used.iter().map(row).collect();
    let scaled: Vec<f64> = used.iter().map(|&i| values[i] / sigmas[i]).collect();
    let (expected, inverse) = normal_equations(&rows, &scaled);
    for (i, estimate) in found.estimates.iter().enumerate() {
        assert!((estimate.value / expected[i] - 1.0).abs() < 1e-7, "{estimate:?}, not {}", expected[i]);
        assert!((estimate.error.unwrap() / inverse[i][i].sqrt() - 1.0).abs() < 1e-6, "{estimate:?}");
    }
}

/// Several recordings share parameters, and have starts of their own: two falls tell g as one of both.
#[test]
fn recordings_share_parameters_and_not_starts() {
    let all: Vec<Recording> = [3, 4, 5]
        .iter()
        .map(|seed| {
            let (times, values) = fall(*seed);
            Recording::new("fall", times).with("x", values)
        })
        .collect();
    let (source, plan, none) = (Source::text("fall", FALL), Plan::default(), Overrides::default());
    let together = fit(&source, &all, &plan, &none).unwrap();
    assert_eq!(together.estimates.len(), 1 + 3 * 2);
    assert_eq!(together.estimates[6].recording, Some(2));
    // Without shared noise, g would be the mean of those found apart, weighed by their errors; with it, nearly.
    let apart: Vec<_> =
        all.iter().map(|one| fit(&source, std::slice::from_ref(one), &plan, &none).unwrap()).collect();
    let noise = |k: usize| apart[k].channels[0].sigma;
    let weight = |k: usize| (noise(k) / apart[k].estimates[0].error.unwrap()).powi(2);
    let total: f64 = (0..3).map(weight).sum();
    let mean: f64 = (0..3).map(|k| weight(k) * apart[k].estimates[0].value).sum::<f64>() / total;
    assert!((together.estimates[0].value / mean - 1.0).abs() < 1e-7);
    let error = together.channels[0].sigma / total.sqrt();
    assert!((together.estimates[0].error.unwrap() / error - 1.0).abs() < 1e-4);
}

/// Where two planets were: the mass of the sun from Kepler's third law, far from the guess.
#[test]
fn the_mass_of_a_sun_follows_from_an_orbit() {
    let text = "param mu = 20\ncoord x, y\nparticle planet mass 1 at [x, y]\npotential -mu/sqrt(x^2 + y^2)\n\
                start x = 1, y' = 5\n";
    // An ellipse with a = 1, e = 0.3 and μ = 4π²: its period is 1; Kepler's equation tells where it is.
    let place = |t: f64| {
        let mean = std::f64::consts::TAU * t;
        let mut e = mean;
        (0..60).for_each(|_| e = mean + 0.3 * e.sin());
        [e.cos() - 0.3, (1.0 - 0.09f64).sqrt() * e.sin()]
    };
    let times: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.05).collect();
    let mut random = Random::new(5);
    let mut column =
        |k: usize| -> Vec<f64> { times.iter().map(|t| place(*t)[k] + 1e-3 * random.normal()).collect() };
    let data = [Recording::new("orbit", times.clone()).with("x", column(0)).with("y", column(1))];
    let found = fit(&Source::text("sun", text), &data, &Plan::default(), &Overrides::default()).unwrap();
    let mu = found.parameter("mu").unwrap();
    let truth = 4.0 * std::f64::consts::PI.powi(2);
    assert!((mu.value - truth).abs() < 4.0 * mu.error.unwrap(), "{mu:?}");
    assert!(mu.error.unwrap() < 0.02 && (mu.value / truth - 1.0).abs() < 1e-3, "{mu:?}");
    assert!(found.is_sound() && found.doubts.is_empty(), "{:?}", found.doubts);
}

/// Twenty swings of an oscillator whose guessed frequency is off by half: least squares over all of it have many minima, of which the progressive horizon finds the lowest.
#[test]
fn many_swings_are_fitted_from_a_bad_guess() {
    let text = "param w = 1, c = 0\ncoord x\nparticle ball mass 1 at [x]\npotential w^2*x^2/2\ndissipation c*x'^2/2\n";
    let times: Vec<f64> = (0..600).map(|i| f64::from(i) * 0.1).collect();
    let mut random = Random::new(9);
    let (w, c) = (2.1f64, 0.04f64);
    let damped = (w * w - c * c / 4.0).sqrt();
    let value = |t: &f64| (-c * t / 2.0).exp() * (damped * t + 0.7).cos() + 0.02 * random.normal();
    let values: Vec<f64> = times.iter().map(value).collect();
    let data = [Recording::new("swings", times).with("x", values)];
    let found =
        fit(&Source::text("oscillator", text), &data, &Plan::default(), &Overrides::default()).unwrap();
    let [fw, fc] = ["w", "c"].map(|name| found.parameter(name).unwrap().clone());
    assert!((fw.value - w).abs() < 4.0 * fw.error.unwrap() && fw.error.unwrap() < 1e-3, "{fw:?}");
    assert!((fc.value - c).abs() < 4.0 * fc.error.unwrap() && fc.error.unwrap() < 2e-3, "{fc:?}");
}

/// A start that is known, as a formula of a parameter: the period of a pendulum that is let go from a ledge.
#[test]
fn a_known_start_follows_parameters() {
    let text = "param l = 1, k = 2\ncoord x\nparticle ball mass 1 at [x]\npotential k*x^2/2\nstart x = 2*l\n";
    let times: Vec<f64> = (1..40).map(|i| f64::from(i) * 0.1).collect();
    let values: Vec<f64> = times.iter().map(|t| 3.0 * (2.5 * t).cos()).collect();
    let data = [Recording::new("swing", times).with("x", values)];
    let plan = Plan { known_start: true, ..Plan::default() };
    let found = fit(&Source::text("ledge", text), &data, &plan, &Overrides::default()).unwrap();
    assert_eq!(found.estimates.len(), 2);
    assert!((found.parameter("l").unwrap().value - 1.5).abs() < 1e-6);
    assert!((found.parameter("k").unwrap().value - 6.25).abs() < 1e-6);
    assert_eq!(found.recordings[0].begin, 0.0);
    // Only the velocity is known.
    let plan = Plan { known: vec!["x'".to_owned()], free: vec![Free::named("k")], ..Plan::default() };
    let found = fit(&Source::text("ledge", text), &data, &plan, &Overrides::default()).unwrap();
    assert_eq!(found.estimates.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["k", "x"]);
    assert!((found.estimates[1].value - 3.0).abs() < 1e-6);
}

/// On a constraint, what it does not allow is not told, and nobody asks.
#[test]
fn starts_on_constraints_are_found() {
    let text = "param g = 5\ncoord x, y\nparticle bob mass 1 at [x, y]\ngravity [0, -g]\nconstraint rod: x^2 + y^2 = 1\nstart x = 0.8, y = -0.6\n";
    // A small swing would be harmonic; here the motion of an angle tells what x and y are.
    let angle = "param g = 9.7\ncoord th\nparticle bob mass 1 at [sin(th), -cos(th)]\ngravity [0, -g]\nstart th = 0.9\n";
    let asked =
        Overrides { until: Some(3.0), every: Some(0.05), outputs: Vec::new(), ..Overrides::default() };
    let source = Source::text("angle", angle);
    let run = source.simulation(&leastaction_expr::Graph::new(), &asked).unwrap().run().unwrap();
    let (times, angles): (Vec<f64>, Vec<f64>) = run.trajectory.samples().map(|(t, y)| (t, y[0])).unzip();
    let mut random = Random::new(3);
    let mut with_noise =
        |f: fn(f64) -> f64| -> Vec<f64> { angles.iter().map(|a| f(*a) + 1e-3 * random.normal()).collect() };
    let data =
        [Recording::new("swing", times).with("x", with_noise(f64::sin)).with("y", with_noise(|a| -a.cos()))];
    let found = fit(&Source::text("rod", text), &data, &Plan::default(), &Overrides::default()).unwrap();
    let g = found.parameter("g").unwrap();
    assert!((g.value - 9.7).abs() < 4.0 * g.error.unwrap() && g.error.unwrap() < 0.02, "{g:?}");
    assert!(found.undetermined.is_none(), "{:?}", found.undetermined);
    assert_eq!(found.freedom, found.measured - 3);
}

/// What is not smooth is differentiated by differences: a ball that bounces on a stiff floor.
#[test]
fn switches_are_fitted_by_differences() {
    let text = |g: f64, k: f64| {
        format!(
            "param g = {g}, k = {k}\ncoord y\nparticle ball mass 1 at [0, y]\ngravity [0, -g]\npotential k*max(0, -y)^2/2\nstart y = 1\n"
        )
    };
    let asked = Overrides { until: Some(2.0), every: Some(0.02), ..Overrides::default() };
    let source = Source::text("truth", &text(9.81, 400.0));
    let run = source.simulation(&leastaction_expr::Graph::new(), &asked).unwrap().run().unwrap();
    let (times, heights): (Vec<f64>, Vec<f64>) = run.trajectory.samples().map(|(t, y)| (t, y[0])).unzip();
    let mut random = Random::new(11);
    let heights: Vec<f64> = heights.iter().map(|y| y + 2e-3 * random.normal()).collect();
    let data = [Recording::new("ball", times).with("y", heights)];
    let found = fit(&Source::text("ball", &text(8.5, 300.0)), &data, &Plan::default(), &Overrides::default())
        .unwrap();
    assert!(matches!(found.derivatives, Derivatives::Differences { .. }), "{:?}", found.derivatives);
    for (name, truth) in [("g", 9.81), ("k", 400.0)] {
        let estimate = found.parameter(name).unwrap();
        assert!((estimate.value - truth).abs() < 4.0 * estimate.error.unwrap(), "{estimate:?}");
    }
    assert!(found.is_sound());
}

/// An oscillator that loses a part of its velocity at each passage: between these, x = e^{−ct/2}(cos ωt + c/(2ω) sin ωt) times what is left of it.
#[test]
fn events_that_set_something_are_part_of_the_motion() {
    let text = "param k = 4, c = 0.2, keep = 0.96\ncoord x\nkinetic x'^2/2\npotential k*x^2/2\ndissipation c*x'^2/2\n\
                event pass: x = 0, set x' = keep*x'\nstart x = 1\n";
    let (c, keep) = (0.05_f64, 0.96_f64);
    let w = (4.0 - c * c / 4.0).sqrt();
    let first = (std::f64::consts::PI - (2.0 * w / c).atan()) / w;
    let mut random = Random::new(5);
    let times: Vec<f64> = (0..120).map(|i| f64::from(i) * 0.083).collect();
    let x = |t: f64| {
        let passages = if t < first { 0.0 } else { ((t - first) * w / std::f64::consts::PI).floor() + 1.0 };
        (-c * t / 2.0).exp() * ((w * t).cos() + c / (2.0 * w) * (w * t).sin()) * keep.powf(passages)
    };
    let values: Vec<f64> = times.iter().map(|t| x(*t) + 1e-3 * random.normal()).collect();
    let data = [Recording::new("clock", times).with("x", values)];
    let plan = Plan { free: vec![Free::named("c")], known_start: true, hints: false, ..Plan::default() };
    let found = fit(&Source::text("clock", text), &data, &plan, &Overrides::default()).unwrap();
    let c = found.parameter("c").unwrap();
    assert!((c.value - 0.05).abs() < 4.0 * c.error.unwrap() && c.error.unwrap() < 1e-3, "{c:?}");
    let Derivatives::Differences { why } = &found.derivatives else { panic!("{:?}", found.derivatives) };
    assert_eq!(why, "the event `pass` sets something");
}

/// An event is that of the model, whatever is measured: x passes 0, and t = 100 stops the run.
#[test]
fn what_is_measured_ends_no_run() {
    let (times, values) = fall(3);
    let text = format!("{FALL}event end: t = 100, stop\n");
    let data = [Recording::new("fall", times).with("x", values)];
    let found = fit(&Source::text("fall", &text), &data, &Plan::default(), &Overrides::default()).unwrap();
    let g = found.parameter("g").unwrap();
    assert!((g.value - 9.8).abs() < 5.0 * g.error.unwrap(), "{g:?}");
}
