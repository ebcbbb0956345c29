//! What data do not tell, and what is doubtful.

use leastaction_expr::{Graph, Random};
use leastaction_fit::{Doubt, Fit, Free, Hint, Plan, Recording, fit};
use leastaction_simulate::{Overrides, Source};

const PENDULUM: &str = "param l = 1, c = 0.1, m = 1
coord th
particle bob mass m at [l*sin(th), -l*cos(th)]
gravity [0, -9.81]
dissipation c*th'^2/2
start th = 1
";

/// A swing of a pendulum of length 1.27 with damping 0.25, from 1.9 rad, with noise.
fn swing(text: &str, set: &[(&str, f64)], what: &str) -> (Vec<f64>, Vec<f64>) {
    let asked = Overrides {
        parameters: set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        start: vec![("th".to_owned(), 1.9)],
        until: Some(8.0),
        every: Some(0.05),
        ..Overrides::default()
    };
    let simulation = Source::text("truth", text).simulation(&Graph::new(), &asked).unwrap();
    let (run, mut dynamics) = (simulation.run().unwrap(), simulation.dynamics.clone());
    let observable = dynamics.observable(what).unwrap();
    let (mut random, mut value) = (Random::new(4), [0.0]);
    let both = run.trajectory.samples().map(|(t, y)| {
        dynamics.observe(observable, &[t], y, &mut value).unwrap();
        (t, value[0] + 0.01 * random.normal())
    });
    both.unzip()
}

fn truth(what: &str) -> (Vec<f64>, Vec<f64>) {
    swing(PENDULUM, &[("l", 1.27), ("c", 0.25)], what)
}

fn fitted(text: &str, data: Recording, free: &[&str]) -> Fit {
    let plan = Plan { free: free.iter().map(|name| Free::named(name)).collect(), ..Plan::default() };
    fit(&Source::text("pendulum", text), &[data], &plan, &Overrides::default()).unwrap()
}

#[test]
fn parameters_that_data_do_not_determine_are_named() {
    let (times, angles) = truth("th");
    // The mass of a pendulum without friction changes nothing; with friction, only c/m is told.
    let found = fitted(PENDULUM, Recording::new("swing", times.clone()).with("th", angles.clone()), &[]);
    let undetermined = found.undetermined.clone().unwrap();
    assert_eq!(
        (undetermined.names, undetermined.combination.unwrap()),
        (vec!["c".to_owned(), "m".to_owned()], "c/m".to_owned())
    );
    assert!(!found.is_sound());
    let [l, c] = ["l", "c"].map(|name| found.parameter(name).unwrap());
    assert!((l.value - 1.27).abs() < 5.0 * l.error.unwrap() && c.error.is_none() && c.interval.is_none());
    let ratio = c.value / found.parameter("m").unwrap().value;
    assert!((ratio - 0.25).abs() < 0.01, "{ratio}");
    let without = PENDULUM.replace("dissipation c*th'^2/2\n", "").replace("c = 0.1, ", "");
    let (times, angles) = swing(&without, &[("l", 1.27)], "th");
    let found = fitted(&without, Recording::new("swing", times).with("th", angles), &[]);
    assert_eq!(found.undetermined.unwrap().names, ["m"]);
    // A physical pendulum of which only m l² and m l count: with a torsion spring in place of gravity, only k/(m l²).
    let text = "param k = 2, m = 1\ncoord th\nparticle bob mass m at [1.5*sin(th), -1.5*cos(th)]\npotential k*th^2/2\nstart th = 1\n";
    let times: Vec<f64> = (0..80).map(|i| f64::from(i) * 0.1).collect();
    let values: Vec<f64> = times.iter().map(|t| (1.3 * t).cos() + 1e-3 * (t * 77.0).sin()).collect();
    let found = fitted(text, Recording::new("spring", times).with("th", values), &[]);
    assert_eq!(found.undetermined.unwrap().combination.unwrap(), "k/m");
}

#[test]
fn mixed_up_units_are_recognised() {
    let (times, angles) = truth("th");
    let factor = 180.0 / std::f64::consts::PI;
    let degrees: Vec<f64> = angles.iter().map(|x| x * factor).collect();
    let found = fitted(PENDULUM, Recording::new("swing", times.clone()).with("th", degrees), &["l", "c"]);
    assert!(found.doubts.iter().any(Doubt::is_grave), "{:?}", found.doubts);
    let [Hint::Unit { factor, .. }] = found.hints[..] else { panic!("{:?}", found.hints) };
    assert!((factor - std::f64::consts::PI / 180.0).abs() < 1e-15);
}

#[test]
fn milliseconds_are_recognised() {
    let (times, angles) = truth("th");
    let times: Vec<f64> = times.iter().map(|t| 1000.0 * t).collect();
    // With a length within limits, a slow pendulum is none.
    let plan =
        Plan { free: vec![Free::between("l", 0.2, 5.0), Free::between("c", 0.0, 3.0)], ..Plan::default() };
    let data = [Recording::new("swing", times).with("th", angles)];
    let found = fit(&Source::text("pendulum", PENDULUM), &data, &plan, &Overrides::default()).unwrap();
    let [Hint::Time { factor, .. }] = found.hints[..] else { panic!("{:?} {:?}", found.hints, found.doubts) };
    assert_eq!(factor, 1e-3);
}

#[test]
fn a_late_sensor_is_recognised() {
    let ((times, x), (_, y)) = (truth("bob.x"), truth("bob.y"));
    let late: Vec<f64> = times.iter().map(|t| t + 0.08).collect();
    // Heights are written 0.08 s after they were measured.
    let mut both: Vec<(f64, [f64; 2])> = times.iter().zip(&x).map(|(t, x)| (*t, [*x, f64::NAN])).collect();
    both.extend(late.iter().zip(&y).map(|(t, y)| (*t, [f64::NAN, *y])));
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    let column = |k: usize| both.iter().map(|(_, pair)| pair[k]).collect::<Vec<_>>();
    let data = Recording::new("swing", both.iter().map(|(t, _)| *t).collect::<Vec<_>>())
        .with("bob.x", column(0))
        .with("bob.y", column(1));
    let found = fitted(PENDULUM, data, &["l", "c"]);
    assert!(found.doubts.iter().any(|doubt| matches!(doubt, Doubt::Pattern { .. })), "{:?}", found.doubts);
    // One of both is early, or the other is late.
    let off = |hint: &Hint| match hint {
        Hint::Late { what, by } if what == "bob.y" => (0.03..0.1).contains(by),
        Hint::Late { by, .. } => (-0.1..-0.03).contains(by),
        _ => false,
    };
    assert!(found.hints.iter().any(off), "{:?}", found.hints);
}

/// A drive knows the time: data that begin at another one are shifted.
#[test]
fn shifted_times_are_recognised() {
    let text = "param k = 9, c = 0.2\ncoord x\nparticle ball mass 1 at [x]\npotential k*x^2/2\ndissipation c*x'^2/2\nforce x = 4*sin(1.3*t)*exp(-((t-6)/4)^2)\nstart x = 0.1\n";
    let asked = Overrides { until: Some(12.0), every: Some(0.05), ..Overrides::default() };
    let run = Source::text("driven", text).simulation(&Graph::new(), &asked).unwrap().run().unwrap();
    let mut random = Random::new(2);
    let (times, x): (Vec<f64>, Vec<f64>) =
        run.trajectory.samples().map(|(t, y)| (t + 2.4, y[0] + 2e-3 * random.normal())).unzip();
    let plan =
        Plan { free: vec![Free::between("k", 8.0, 10.0), Free::between("c", 0.1, 0.4)], ..Plan::default() };
    let data = [Recording::new("driven", times).with("x", x)];
    let found = fit(&Source::text("driven", text), &data, &plan, &Overrides::default()).unwrap();
    let shift =
        found.hints.iter().find_map(|hint| if let Hint::Shifted { by } = hint { Some(*by) } else { None });
    assert!(shift.is_some_and(|by| (by + 2.4).abs() < 0.2), "{:?} {:?}", found.hints, found.doubts);
}

/// Friction that the model does not have leaves a pattern; so does a limit that is too narrow.
#[test]
fn a_model_that_lacks_something_is_doubted() {
    let (times, angles) = truth("th");
    let data = || Recording::new("swing", times.clone()).with("th", angles.clone());
    let plan = Plan { free: vec![Free::named("l"), Free::between("c", 0.05, 0.2)], ..Plan::default() };
    let found = fit(&Source::text("pendulum", PENDULUM), &[data()], &plan, &Overrides::default()).unwrap();
    let limit = found
        .doubts
        .iter()
        .any(|doubt| matches!(doubt, Doubt::Limit { name, value } if name == "c" && *value == 0.2));
    let pattern = found.doubts.iter().any(|doubt| matches!(doubt, Doubt::Pattern { .. }));
    assert!(limit && pattern, "{:?}", found.doubts);
    let c = found.parameter("c").unwrap();
    assert!(c.at_limit && c.error.is_none());
    // A sigma that is too small, and a value that is far off.
    let mut wrong = angles.clone();
    wrong[40] += 1.0;
    let outlier = fitted(PENDULUM, Recording::new("swing", times.clone()).with("th", wrong), &["l", "c"]);
    let names_outlier = outlier
        .doubts
        .iter()
        .any(|doubt| matches!(doubt, Doubt::Outliers { count: 1, t, .. } if (t - 2.0).abs() < 1e-9));
    assert!(names_outlier, "{:?}", outlier.doubts);
    let small = fitted(PENDULUM, data().sigma(0.002), &["l", "c"]);
    let doubts_noise = small
        .doubts
        .iter()
        .any(|doubt| matches!(doubt, Doubt::Noise { ratio, .. } if (4.0..6.0).contains(ratio)));
    assert!(doubts_noise, "{:?}", small.doubts);
}
