//! Events that set parameters and inputs, against closed forms.

use leastaction_expr::Graph;
use leastaction_simulate::{Overrides, Run, Source};

fn run(text: &str, overrides: &Overrides) -> Run {
    let source = Source::text("model", text);
    source.simulation(&Graph::new(), overrides).unwrap().run().unwrap()
}

fn times(run: &Run, event: &str) -> Vec<f64> {
    let (_, crossings) = run.events().find(|(name, _)| *name == event).unwrap();
    crossings.iter().map(|crossing| crossing.t).collect()
}

/// A room that is heated to 22 and cools down to 18 degrees.
#[test]
fn a_thermostat_switches_when_its_closed_form_says() {
    let text = "param on = 1, outside = 5, heat = 40, tau = 3
coord x
particle clock mass 1 at [x]
state T' = (outside - T)/tau + on*heat/tau
event cold: T = 18, falling, set on = 1
event warm: T = 22, rising, set on = 0
start T = 20
run until 30, tol 1e-12";
    let run = run(text, &Overrides::default());
    // Towards 45 while it is heated, and 5 while not.
    let first = 3.0 * f64::ln((45.0 - 20.0) / (45.0 - 22.0));
    let (cools, heats) = (3.0 * f64::ln(17.0 / 13.0), 3.0 * f64::ln(27.0 / 23.0));
    let (warm, cold) = (times(&run, "warm"), times(&run, "cold"));
    assert!(warm.len() >= 20 && cold.len() >= 20);
    for (k, t) in warm.iter().enumerate() {
        assert!((t - first - k as f64 * (cools + heats)).abs() < 1e-10, "{k}: {t}");
    }
    for (k, t) in cold.iter().enumerate() {
        assert!((t - first - cools - k as f64 * (cools + heats)).abs() < 1e-10, "{k}: {t}");
    }
}

/// A mass on a spring drops its load: with its velocity, or keeping the momentum.
#[test]
fn what_drops_its_load_keeps_what_is_said() {
    for (also, speed) in [("", 1.0), (", p_x = m*x'", 3.0)] {
        for method in ["dop853", "taylor", "gauss8", "radau5"] {
            let text = format!(
                "param m = 3, k = 12
coord x
particle block mass m at [x]
potential k*x^2/2
event drop: x = 0, rising, set m = 1{also}
start x = -1
run until 2, method {method}, tol 1e-12"
            );
            let text = if method == "gauss8" { text.replace("tol 1e-12", "step 0.01") } else { text };
            let run = run(&text, &Overrides::default());
            let t = std::f64::consts::PI / 4.0;
            let [drop] = times(&run, "drop")[..] else { panic!("{method}: it drops once") };
            assert!((drop - t).abs() < 1e-11, "{method}: {drop}");
            let crossing = &run.trajectory.crossings()[0];
            let after = crossing.after.as_ref().unwrap();
            assert!((crossing.state.p[0] - 6.0).abs() < 1e-10, "{method}");
            assert!((after.p[0] - 2.0 * speed).abs() < 1e-10, "{method}: {}", after.p[0]);
            // From there on it swings as the lighter mass does, with ω = √12.
            let (w, since) = (12f64.sqrt(), 2.0 - t);
            let x = 2.0 * speed / w * (w * since).sin();
            assert!((run.trajectory.end().q[0] - x).abs() < 1e-10, "{method}");
            let energy = run.energy().unwrap();
            let (brought, count) = energy.resets.unwrap();
            assert!(
                (brought - (2.0 * speed * speed - 6.0)).abs() < 1e-9 && count == 1,
                "{method}: {brought}"
            );
            assert!(energy.conserved && energy.drift.relative() < 1e-8, "{method}");
        }
    }
}

/// What is set on the command line is the value at the start; what is recorded is the value there.
#[test]
fn what_is_set_begins_with_its_parameter() {
    let text = "param k = 2
input u = 3*k
coord x
particle block mass 1 at [x]
force x = u - k
event there: x = 1, rising, set u = 0, k = 0
output both = u + 10*k
run until 4, tol 1e-12";
    for k in [2.0, 0.5] {
        let overrides = Overrides { parameters: vec![("k".to_owned(), k)], ..Overrides::default() };
        let run = run(text, &overrides);
        let push = 2.0 * k;
        let arrives = (2.0 / push).sqrt();
        let end = 1.0 + push * arrives * (4.0 - arrives);
        let there = times(&run, "there")[0];
        assert!((there - arrives).abs() < 1e-12 && (run.trajectory.end().q[0] - end).abs() < 1e-11, "{k}");
        let record = run.record().unwrap();
        let column = |name: &str| {
            let found = record.columns().find(|(_, other, _)| other == name);
            found.unwrap_or_else(|| panic!("{name} is recorded")).2.to_vec()
        };
        assert_eq!((column("both")[0], *column("both").last().unwrap()), (13.0 * k, 0.0));
        assert_eq!((column("k")[0], *column("k").last().unwrap()), (k, 0.0));
    }
}

/// A gear that shifts: two wheels turn at a ratio that an event changes. The new speeds must agree with the new ratio.
#[test]
fn a_gear_shifts_to_speeds_that_it_allows() {
    let text = |sets: &str| {
        format!(
            "param r = 2, J = 3, K = 1
coord a, b
kinetic J*a'^2/2 + K*b'^2/2
constraint mesh: b' = r*a'
force a = 7
event shift: a' = 4, rising, set r = 1{sets}
run until 9, method dop853, tol 1e-11"
        )
    };
    let graph = Graph::new();
    let source = Source::text("model", &text(""));
    let failed = source.simulation(&graph, &Overrides::default()).unwrap().run().unwrap_err();
    assert!(failed.to_string().contains("constraints do not allow"), "{failed}");
    // What the clutch does to the wheels is as the angular momentum of both says.
    let run = run(&text(", a' = (J*a' + K*b')/(J + K), b' = (J*a' + K*b')/(J + K)"), &Overrides::default());
    // At first 3 a'' + 4 a'' = 7, and then 4 a'' = 7.
    let shift = times(&run, "shift")[0];
    assert!((shift - 4.0).abs() < 1e-9, "{shift}");
    let dynamics = &mut run.simulation.dynamics.clone();
    let mut speed = [0.0];
    let what = dynamics.observable("a'").unwrap();
    dynamics.observe(what, &[9.0], &run.trajectory.end().block(), &mut speed).unwrap();
    assert!((speed[0] - (5.0 + 5.0 * 7.0 / 4.0)).abs() < 1e-8, "{speed:?}");
}

/// A ball that bounces until it lies still, and slides on from there.
#[test]
fn a_ball_that_has_bounced_lies_still() {
    for (e, method) in
        [(0.3, "dop853"), (0.8, "dop853"), (0.8, "taylor"), (0.9, "gauss4"), (0.5, "radau5"), (0.0, "taylor")]
    {
        let pace = if method == "gauss4" { "step 0.01" } else { "tol 1e-12" };
        let text = format!(
            "param g = 9.81, e = {e}, m = 2, lies = 0
coord x, y
particle ball mass m at [x, y]
gravity [0, -g]
force y = lies*m*g
event bounce: y = 0, falling, set y' = -e*y', finally set y = 0, y' = 0, lies = 1
event there: x = 20, stop
start y = 1, x' = 1
run until 30, method {method}, {pace}"
        );
        let overrides = Overrides { max_steps: Some(50_000), ..Overrides::default() };
        let source = Source::text("model", &text);
        let run = source.simulation(&Graph::new(), &overrides).unwrap().run();
        let run = run.unwrap_or_else(|failed| panic!("{e} {method}: {failed}"));
        assert_eq!(run.stopped_by(), Some("there"), "{e} {method}");
        let expected = (2.0 / 9.81_f64).sqrt() * (1.0 + e) / (1.0 - e);
        let [rests] = run.trajectory.rests(0).collect::<Vec<_>>()[..] else {
            panic!("{e} {method}: it rests once")
        };
        assert!((rests - expected).abs() < 1e-9 * expected, "{e} {method}: {rests} {expected}");
        let last = run.trajectory.crossings().iter().rfind(|crossing| crossing.event == 0).unwrap();
        assert!(last.finally && (last.t - expected).abs() < 2e-7 * expected, "{e} {method}: {}", last.t);
        let end = run.trajectory.end();
        assert!((end.t - 20.0).abs() < 1e-11 && (end.q[0] - 20.0).abs() < 1e-11, "{e} {method}");
        assert_eq!((end.q[1], end.p[1]), (0.0, 0.0), "{e} {method}");
    }
}

/// What is set finally, and moves on all the same, ends the run there; and what lifts the ball lets it bounce again.
#[test]
fn what_rests_may_be_lifted() {
    let text = "param g = 10, m = 1, lies = 0, e = 0.5
coord y
particle ball mass m at [y]
gravity [-g]
force y = lies*m*g
event bounce: y = 0, falling, set y' = -e*y', finally set y = 0, y' = 0, lies = 1
event lift: t = 5, rising, set y' = 4, lies = 0
start y = 0.2
run until 9, tol 1e-12";
    let lifted = run(text, &Overrides::default());
    // It falls for 0.2 with a speed of 2, and later is thrown up with 4.
    let rests: Vec<f64> = lifted.trajectory.rests(0).collect();
    let expected = [0.2 * 3.0, 5.0 + 0.8 * 2.0];
    assert!(rests.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9) && rests.len() == 2, "{rests:?}");
    assert_eq!(lifted.trajectory.end().q[0], 0.0);
    let stuck =
        run(&text.replace("finally set y = 0, y' = 0, lies = 1", "finally set e = e"), &Overrides::default());
    let (event, t) = stuck.accumulated().unwrap();
    assert!(event == "bounce" && (t - 0.6).abs() < 1e-6, "{event} {t}");
}

/// A mass that is set to nothing ends the run with a message.
#[test]
fn no_mass_is_set_to_nothing() {
    let text = "param m = 3
coord x
particle block mass m at [x]
potential 6*x^2
event drop: x = 0, rising, set m = m - 3
start x = -1
run until 2, tol 1e-10";
    let source = Source::text("model", text);
    let failed = source.simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap_err();
    assert!(failed.to_string().contains("`drop`") && failed.to_string().contains("block"), "{failed}");
}

/// A state with the rate of an angle goes on past a turn, where the angle itself jumps.
#[test]
fn a_state_counts_turns() {
    let text =
        include_str!("../../../book/models/engine.motion").to_owned() + "\nstate turned' = crank.angle'\n";
    let run = run(&text, &Overrides::default());
    let record = run.record().unwrap();
    let (_, _, turned) = record.columns().find(|(_, name, _)| name == "turned").unwrap();
    assert!((turned.last().unwrap() - 20.0).abs() < 1e-8, "{:?}", turned.last());
}

/// The end lies half-way between two ticks but for rounding: the last step ends on it, not just before it.
#[test]
fn the_end_between_ticks_is_reached() {
    let text = "coord x
particle block mass 1 at [x]
potential x^2/2
state hold
param swap = 1
every 0.03 set hold = x
every 0.05 set swap = -swap
start x = 1
run until 0.34, every 0.05";
    for method in ["taylor", "dop853", "tsit5", "radau5"] {
        let asked = Overrides { method: Some(method.to_owned()), ..Overrides::default() };
        let run = run(text, &asked);
        assert_eq!(run.trajectory.end().t, 0.34, "{method}");
        assert!((run.trajectory.end().q[0] - 0.34_f64.cos()).abs() < 1e-8, "{method}");
    }
}
