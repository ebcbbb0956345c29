//! Events that set the state anew, against closed forms and against each other.

use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Checkpoint, Crossing, Ensemble, Event, Integrator, Launch, Reason, Reset, RunError, Tape, Tolerance,
    Trajectory,
};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

const G: f64 = 9.81;

/// A ball over a floor at a height, and the event in which it keeps a part of its speed.
fn ball(floor: f64) -> (Dynamics, Event) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let e = model.parameter("e", 0.8);
    let y = model.coordinate("y");
    let _ = e;
    model.particle("ball", 2.0, [y]);
    model.gravity([-G]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let sets = [("y'", dynamics.observable("-e*y'").unwrap())];
    let bounce = Reset::new("bounce", dynamics.system(), &sets).unwrap();
    let height = dynamics.observable(format!("y - {floor}").as_str()).unwrap();
    (dynamics, Event::new(height).falling().resetting(bounce))
}

fn times(run: &Trajectory) -> Vec<f64> {
    run.crossings().iter().map(|crossing| crossing.t).collect()
}

/// When a ball that falls from a height bounces for the n-th time: t₀(1 + 2(e + e² + … )).
fn bounce(n: i32, e: f64) -> f64 {
    (2.0 / G).sqrt() * (1.0 + 2.0 * (1..n).map(|k| e.powi(k)).sum::<f64>())
}

#[test]
fn a_ball_bounces_as_its_closed_form_says() {
    for e in [0.6, 0.8, 1.0] {
        for (name, pace) in [
            ("dop853", None),
            ("taylor", None),
            ("verlet", Some(0.01)),
            ("gauss4", Some(0.05)),
            ("rk4", Some(0.03)),
        ] {
            let (mut dynamics, event) = ball(0.0);
            dynamics.set_parameter("e", e).unwrap();
            let start = dynamics.start(&[("y", 1.0)]).unwrap();
            let end = 0.5 * (bounce(20, e) + bounce(21, e));
            let integrator = match pace {
                Some(step) => Integrator::named(name, step).unwrap(),
                None => Integrator::named(name, Tolerance::relative(1e-12)).unwrap(),
            };
            let run = integrator.event(event).ends_only().run(&mut dynamics, &start, end).unwrap();
            assert_eq!(run.crossings().len(), 20, "{name} e = {e}");
            for (k, Crossing { t, state, after, .. }) in run.crossings().iter().enumerate() {
                let speed = (2.0 * G).sqrt() * e.powi(k as i32);
                let after = after.as_ref().unwrap();
                let off =
                    [t - bounce(k as i32 + 1, e), state.p[0] / 2.0 + speed, after.p[0] / 2.0 - e * speed];
                assert!(off.iter().all(|off| off.abs() < 1e-12), "{name} e = {e}, {k}: {off:?}");
            }
            let energy = run.energy_drift(&mut dynamics).unwrap();
            assert!(energy < 1e-12, "{name} e = {e}: {energy}");
            let brought = run.energy_of_resets(&mut dynamics).unwrap();
            assert!((brought - 2.0 * G * (e.powi(40) - 1.0)).abs() < 1e-11, "{name} {brought}");
        }
    }
}

/// A ball that comes to rest is recognised, whatever the method and the height of the floor.
#[test]
fn ever_shorter_times_come_to_an_end() {
    for (floor, slack) in [(0.0, 1e-9), (1.0, 1e-7), (-1e3, 1e-5)] {
        for (e, method) in [(0.3, "dop853"), (0.5, "taylor"), (0.8, "dop853"), (0.95, "taylor")] {
            let (mut dynamics, event) = ball(floor);
            dynamics.set_parameter("e", e).unwrap();
            let start = dynamics.start(&[("y", floor + 1.0)]).unwrap();
            let run = Integrator::named(method, Tolerance::relative(1e-12)).unwrap();
            let run = run.event(event).run(&mut dynamics, &start, 100.0).unwrap();
            assert_eq!(run.reason(), Reason::Accumulated(0), "floor {floor}, e = {e}");
            let expected = (2.0 / G).sqrt() * (1.0 + e) / (1.0 - e);
            let found = run.accumulation().unwrap();
            assert!(
                (found - expected).abs() < slack * expected,
                "floor {floor}, e = {e}: {found} {expected}"
            );
            assert!((run.end().q[0] - floor).abs() < 1e-9, "floor {floor}, e = {e}");
        }
    }
    // A ball that keeps nothing, and one that lies there already.
    for height in [1.0, 0.0] {
        let (mut dynamics, event) = ball(0.0);
        dynamics.set_parameter("e", 0.0).unwrap();
        let start = dynamics.start(&[("y", height)]).unwrap();
        let run =
            Integrator::named("gauss4", 0.01).unwrap().event(event).run(&mut dynamics, &start, 9.0).unwrap();
        assert_eq!(run.reason(), Reason::Accumulated(0));
        assert!((run.end().t - (2.0 * height / G).sqrt()).abs() < 1e-12);
    }
}

/// An oscillator between a wall and nothing, for all methods: each returns to the wall after half of its period, or a third.
#[test]
fn every_method_bounces() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("ball", 1.0, [x, y]);
    model.potential("spring", 0.5 * (x * x + y * y));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0), ("y'", 0.5)]).unwrap();
    let half = dynamics.observable("x - 1/2").unwrap();
    let set = dynamics.observable("-x'").unwrap();
    let reset = Reset::new("wall", dynamics.system(), &[("x'", set)]).unwrap();
    let third = std::f64::consts::PI / 3.0;
    let facts = dynamics.system().facts().clone();
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
        let integrator = match Integrator::new(card, Tolerance::relative(1e-9)) {
            adaptive if card.sizing != leastaction_integrate::Sizing::Given => adaptive,
            _ => Integrator::new(card, 0.01),
        };
        let run = integrator
            .event(Event::new(half).falling().resetting(reset.clone()))
            .run(&mut dynamics, &start, 6.0)
            .unwrap_or_else(|error| panic!("{}: {error}", card.name));
        let slack = if card.order == 1 { 5e-2 } else { 2e-3 };
        let [one, two, three] = times(&run)[..] else { panic!("{}: {:?}", card.name, times(&run)) };
        for (found, expected) in [(one, third), (two, 3.0 * third), (three, 5.0 * third)] {
            assert!((found - expected).abs() < slack, "{}: {found} {expected}", card.name);
        }
        // From the last bounce on it is a part of the same oscillation.
        let end = run.end();
        let expected = [(6.0 - 6.0 * third).cos(), 0.5 * 6.0_f64.sin()];
        let off = (end.q[0] - expected[0]).abs() + (end.q[1] - expected[1]).abs();
        assert!(off < 4.0 * slack, "{}: {:?} {expected:?}", card.name, end.q);
    }
}

/// Samples on both sides of a reset, at its very time, and on the grid afterwards.
#[test]
fn samples_lie_on_both_sides() {
    let fall = (2.0 / G).sqrt();
    for integrator in [
        Integrator::named("verlet", 0.1).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap(),
    ] {
        let (mut dynamics, event) = ball(0.0);
        let start = dynamics.start(&[("y", 1.0)]).unwrap();
        let wanted = [0.0, fall - 1e-3, fall + 1e-3, 0.7, 1.0];
        let run = integrator.event(event).at(&wanted).run(&mut dynamics, &start, 1.0).unwrap();
        assert_eq!(run.times(), wanted);
        for (t, y) in run.samples() {
            let (since, speed) = (t - fall, 0.8 * (2.0 * G).sqrt());
            let expected = match t < fall {
                true => [1.0 - 0.5 * G * t * t, -2.0 * G * t],
                false => [speed * since - 0.5 * G * since * since, 2.0 * (speed - G * since)],
            };
            assert!((y[0] - expected[0]).abs() < 1e-12 && (y[1] - expected[1]).abs() < 1e-12, "{t} {y:?}");
        }
    }
    // Steps of one length go on at the times of their grid.
    let (mut dynamics, event) = ball(0.0);
    let start = dynamics.start(&[("y", 1.0)]).unwrap();
    let run = Integrator::named("verlet", 0.1).unwrap().event(event).run(&mut dynamics, &start, 1.0).unwrap();
    let grid: Vec<f64> = (0..=10).map(|i| f64::from(i) * 0.1).collect();
    assert_eq!(run.times(), grid);
}

/// All that happens at one time happens, whatever rounding makes of its order.
#[test]
fn what_happens_together_happens_once_each() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    model.particle("one", 1.0, [a]);
    model.particle("two", 3.0, [b]);
    model.gravity([-G]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("a", 1.0), ("b", 1.0)]).unwrap();
    let mut event = |what: &str, set: &str, to: &str| {
        let to = dynamics.observable(to).unwrap();
        let reset = Reset::new(what, dynamics.system(), &[(set, to)]).unwrap();
        Event::new(dynamics.observable(what).unwrap()).falling().resetting(reset)
    };
    let (one, two) = (event("a", "a'", "-0.9*a'"), event("b", "b'", "-0.9*b'"));
    let touch = Event::new(dynamics.observable("a").unwrap());
    let integrator = Integrator::named("gauss4", 0.03).unwrap().event(touch).event(one).event(two);
    let run = integrator.run(&mut dynamics, &start, 3.0).unwrap();
    let of = |i: usize| run.crossings().iter().filter(|c| c.event == i).map(|c| c.t).collect::<Vec<_>>();
    assert_eq!(of(0).len(), 4);
    assert_eq!(of(0), of(1));
    assert_eq!(of(1), of(2));
    assert!((run.end().q[0] - run.end().q[1]).abs() < 1e-14);
}

/// In lanes, trajectories have the bits of single runs, with samples and to the end.
#[test]
fn lanes_have_the_bits_of_single_runs() {
    for integrator in [
        Integrator::named("verlet", 0.01).unwrap(),
        Integrator::named("gauss4", 0.02).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-8)).unwrap(),
        Integrator::named("taylor", Tolerance::relative(1e-8)).unwrap(),
    ] {
        let (dynamics, event) = ball(0.0);
        let wanted: Vec<f64> = (0..=20).map(|i| f64::from(i) * 0.13).collect();
        let integrator = integrator.event(event).at(&wanted);
        let launch = |index: u64, _: &mut Dynamics, launch: &mut Launch| {
            launch.state.copy_from_slice(&[0.3 + 0.05 * index as f64, 0.0]);
            launch.parameters[0] = 0.4 + 0.03 * index as f64;
            Ok(())
        };
        let mut ends = Vec::new();
        let ensemble = Ensemble::new(integrator.clone(), 0.0, 2.6).threads(2);
        ensemble
            .run(&dynamics, &launch, 0..19, |chunk| {
                for row in 0..chunk.len() {
                    let of = chunk.first + row as u64;
                    let own = chunk.crossings.iter().filter(|(index, _)| *index == of);
                    ends.push((
                        chunk.times[row],
                        chunk.ends().nth(row).unwrap().to_vec(),
                        own.map(|(_, crossing)| crossing.clone()).collect::<Vec<_>>(),
                    ));
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(ends.len(), 19);
        let mut rested = 0;
        for (index, (t, end, crossings)) in ends.iter().enumerate() {
            let mut alone = dynamics.clone();
            alone.set_parameter("e", 0.4 + 0.03 * index as f64).unwrap();
            let start = State { t: 0.0, q: vec![0.3 + 0.05 * index as f64], p: vec![0.0] };
            let run = integrator.run(&mut alone, &start, 2.6).unwrap();
            assert_eq!((run.end().t, run.end().block()), (*t, end.clone()), "{index}");
            assert_eq!(run.crossings(), crossings, "{index}");
            rested += usize::from(run.reason() == Reason::Accumulated(0));
        }
        assert!(rested > 2 && rested < 17, "{rested}");
    }
}

/// A run that is broken off anywhere goes on with the same bits, also right behind a reset.
#[test]
fn checkpoints_know_resets() {
    for integrator in [
        Integrator::named("verlet", 0.05).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap(),
    ] {
        let (mut dynamics, event) = ball(0.0);
        let start = dynamics.start(&[("y", 1.0)]).unwrap();
        let integrator = integrator.event(event);
        let mut kept: Vec<String> = Vec::new();
        let whole = integrator
            .run_watched(&mut dynamics, &start, 5.0, |moment| {
                kept.push(moment.checkpoint().to_string());
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(whole.reason(), Reason::Accumulated(0));
        for text in kept.iter().step_by(3) {
            let from: Checkpoint = text.parse().unwrap();
            let rest = integrator.resume(&mut dynamics, &from).unwrap();
            assert_eq!((rest.reason(), rest.end()), (whole.reason(), whole.end()), "from t = {}", from.t());
            assert!(whole.crossings().ends_with(rest.crossings()), "from t = {}", from.t());
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (mut dynamics, event) = ball(0.0);
    let start = dynamics.start(&[("y", 1.0)]).unwrap();
    let run = |event: Event| Integrator::named("gauss4", 0.01).unwrap().event(event);
    let back = Integrator::named("gauss4", -0.01).unwrap().event(event.clone());
    assert!(matches!(back.run(&mut dynamics, &start, -1.0).unwrap_err().error, RunError::ResetBack { .. }));
    let refused = Tape::record(&run(event), &dynamics, &start, 1.0).err().unwrap();
    assert!(refused.to_string().contains("`bounce`"), "{refused}");
    let what = dynamics.observable("sqrt(y' - 1)").unwrap();
    for sets in [&[("z", what)][..], &[("y'", what), ("y'", what)], &[("y'", what), ("p_y", what)]] {
        Reset::new("bounce", dynamics.system(), sets).unwrap_err();
    }
    let nan = Reset::new("bounce", dynamics.system(), &[("y'", what)]).unwrap();
    let height = dynamics.observable("y").unwrap();
    let failed = run(Event::new(height).resetting(nan)).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(failed.error, RunError::Reset { .. }), "{failed}");
}

/// On constraints, what is set must be allowed.
#[test]
fn resets_meet_constraints() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.gravity([0.0, -G]);
    model.constraint("rod", x * x + y * y, 1.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    let wall = dynamics.observable("x").unwrap();
    let (back, up) = (dynamics.observable("-0.7*x'").unwrap(), dynamics.observable("-0.7*y'").unwrap());
    let both = Reset::new("wall", dynamics.system(), &[("x'", back), ("y'", up)]).unwrap();
    let run = Integrator::named("dop853", Tolerance::relative(1e-11)).unwrap();
    let hit = Event::new(wall).falling();
    let swing = run.clone().event(hit.clone().resetting(both)).run(&mut dynamics, &start, 4.0).unwrap();
    assert!(swing.crossings().len() >= 2);
    assert!(swing.energy_drift(&mut dynamics).unwrap() < 1e-9);
    assert!(swing.violations(&mut dynamics).unwrap().0 < 1e-12);
    // Beside the wall, one velocity alone leads off the circle.
    let distance = dynamics.observable("x - 1/2").unwrap();
    let one = Reset::new("wall", dynamics.system(), &[("x'", back)]).unwrap();
    let failed = run.event(Event::new(distance).falling().resetting(one)).run(&mut dynamics, &start, 4.0);
    assert!(failed.unwrap_err().to_string().contains("constraints do not allow"));
}

/// A ball that counts its bounces, and is stopped by the third of them.
#[test]
fn counts_bring_events_about() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let y = model.coordinate("y");
    let n = model.coordinate("n");
    model.particle("ball", 2.0, [y]);
    model.particle("counter", 1.0, [n]);
    model.potential("weight", 2.0 * G * y);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let sets = [("y'", "-0.8*y'"), ("n", "n + 1")];
    let sets = sets.map(|(name, value)| (name, dynamics.observable(value).unwrap()));
    let count = Reset::new("bounce", dynamics.system(), &sets).unwrap();
    let height = dynamics.observable("y").unwrap();
    let third = dynamics.observable("n - 2.5").unwrap();
    let start = dynamics.start(&[("y", 1.0)]).unwrap();
    for integrator in [
        Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap(),
        Integrator::named("verlet", 0.01).unwrap(),
    ] {
        let integrator = integrator
            .event(Event::new(height).falling().resetting(count.clone()))
            .event(Event::new(third).rising().terminal());
        let run = integrator.run(&mut dynamics, &start, 10.0).unwrap();
        assert_eq!(run.crossings().iter().map(|crossing| crossing.event).collect::<Vec<_>>(), [0, 0, 0, 1]);
        assert!(matches!(run.reason(), Reason::Event(1)), "{:?}", run.reason());
        let t = run.times().last().unwrap();
        assert!((t - bounce(3, 0.8)).abs() < 1e-12, "{t}");
    }
}

/// Equal balls on a line, of which neighbours exchange their velocities when they meet.
fn cradle(places: &[f64], speeds: &[f64]) -> (Vec<(f64, usize)>, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let names: Vec<String> = (0..places.len()).map(|i| format!("x{i}")).collect();
    let balls = model.coordinate_list(&names);
    for (name, ball) in names.iter().zip(&balls) {
        model.particle(&format!("ball {name}"), 1.0, [*ball]);
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut start = dynamics.start(&[]).unwrap();
    (start.q, start.p) = (places.to_vec(), speeds.to_vec());
    let mut integrator = Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap();
    for (a, b) in names.iter().zip(&names[1..]) {
        let sets = [(format!("{a}'"), format!("{b}'")), (format!("{b}'"), format!("{a}'"))];
        let sets = sets.map(|(name, value)| (name, dynamics.observable(value.as_str()).unwrap()));
        let sets = sets.each_ref().map(|(name, value)| (name.as_str(), *value));
        let swap = Reset::new("meet", dynamics.system(), &sets).unwrap();
        let apart = dynamics.observable(format!("{a} - {b}").as_str()).unwrap();
        integrator = integrator.event(Event::new(apart).rising().resetting(swap));
    }
    let run = integrator.run(&mut dynamics, &start, 3.0).unwrap();
    assert_eq!(run.reason(), Reason::Complete);
    (run.crossings().iter().map(|crossing| (crossing.t, crossing.event)).collect(), run.end())
}

/// Where balls touch, a blow goes through all of them, in their order and against it, and from both sides.
#[test]
fn blows_go_through_balls_that_touch() {
    let (meetings, end) = cradle(&[0.0, 1.0, 1.0, 1.0], &[1.0, 0.0, 0.0, 0.0]);
    assert_eq!(meetings.iter().map(|(_, event)| *event).collect::<Vec<_>>(), [0, 1, 2]);
    assert!((end.q[3] - 3.0).abs() < 1e-12 && end.q[..3] == [1.0; 3], "{:?}", end.q);
    let (_, end) = cradle(&[1.0, 1.0, 2.0], &[0.0, 0.0, -1.0]);
    assert!((end.q[0] + 1.0).abs() < 1e-12 && (end.q[1] - 1.0).abs() < 1e-12, "{:?}", end.q);
    let (meetings, end) = cradle(&[-1.0, 0.0, 1.0], &[1.0, 0.0, -1.0]);
    assert_eq!(meetings.len(), 3);
    for (place, exact) in end.q.iter().zip([-2.0, 0.0, 2.0]) {
        assert!((place - exact).abs() < 1e-12, "{:?}", end.q);
    }
}

/// A ball that lies on another one as both fall is thrown up when that bounces.
#[test]
fn what_touches_is_met_when_it_moves() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [y, z] = model.coordinates(["y", "z"]);
    model.particle("lower", 1.0, [y]);
    model.particle("upper", 1.0, [z]);
    model.gravity([-G]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let [floor, meet] =
        [("floor", vec![("y'", "-y'")]), ("meet", vec![("y'", "z'"), ("z'", "y'")])].map(|(name, sets)| {
            let sets: Vec<_> =
                sets.into_iter().map(|(name, value)| (name, dynamics.observable(value).unwrap())).collect();
            Reset::new(name, dynamics.system(), &sets).unwrap()
        });
    let start = dynamics.start(&[("y", 1.0), ("z", 1.0)]).unwrap();
    let [height, apart] = ["y", "y - z"].map(|what| dynamics.observable(what).unwrap());
    for integrator in [
        Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap(),
        Integrator::named("verlet", 1e-3).unwrap(),
    ] {
        let run = integrator
            .event(Event::new(height).falling().resetting(floor.clone()))
            .event(Event::new(apart).rising().resetting(meet.clone()))
            .run(&mut dynamics, &start, 0.6)
            .unwrap();
        assert_eq!(run.crossings().iter().map(|crossing| crossing.event).collect::<Vec<_>>(), [0, 1, 0]);
        // The lower ball throws the upper one up, is thrown onto the floor by it, and follows it.
        let (fall, speed) = ((2.0 / G).sqrt(), (2.0 * G).sqrt());
        let since = 0.6 - fall;
        let exact = speed * since - G * since * since / 2.0;
        assert!(run.end().q.iter().all(|place| (place - exact).abs() < 1e-12), "{:?} {exact}", run.end().q);
    }
}

/// What an event sets without turning the motion leaves the motion alone, however slow it becomes beside where it is.
#[test]
fn slow_motion_goes_on() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let n = model.coordinate("n");
    model.particle("block", 1.0, [x]);
    model.particle("count", 1.0, [n]);
    model.potential("spring", 500.0 * (x - 1.0) * (x - 1.0));
    model.dissipation("drag", 10.0 * model.velocity(x) * model.velocity(x));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let next = dynamics.observable("n + 1").unwrap();
    let count = Reset::new("count", dynamics.system(), &[("n", next)]).unwrap();
    let aside = dynamics.observable("x - 1").unwrap();
    let start = dynamics.start(&[("x", 1.5)]).unwrap();
    let run = Integrator::named("rk4", 1e-3).unwrap();
    let run = run.event(Event::new(aside).rising().resetting(count)).run(&mut dynamics, &start, 3.0).unwrap();
    assert_eq!(run.reason(), Reason::Complete);
    let period = std::f64::consts::TAU / 900f64.sqrt();
    for pair in run.crossings().windows(2).take(11) {
        assert!((pair[1].t - pair[0].t - period).abs() < 1e-6, "{}", pair[0].t);
    }
}

/// A ball that begins on the floor and falls bounces at once: what that does to the energy is booked.
#[test]
fn a_reset_at_the_start_is_booked() {
    let (mut dynamics, event) = ball(0.0);
    let start = dynamics.start(&[("y", 0.0), ("y'", -1.0)]).unwrap();
    let run = Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap().event(event);
    let run = run.run(&mut dynamics, &start, 0.1).unwrap();
    assert!(times(&run).len() == 1 && times(&run)[0] < 1e-15);
    assert!((run.energy_of_resets(&mut dynamics).unwrap() + 0.36).abs() < 1e-14);
    assert!(run.energy_drift(&mut dynamics).unwrap() < 1e-13);
}
