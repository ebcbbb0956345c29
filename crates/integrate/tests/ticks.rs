//! Events that happen again and again after a time, against what can be worked out by hand.

use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Checkpoint, Ensemble, Event, Integrator, Launch, Reset, RunError, Sizing, Tape, Tolerance,
};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

/// A cart of mass 1 that is pushed by u, which a controller sets after every period to −k x − d x′.
fn cart(period: f64, gains: [f64; 2]) -> (Dynamics, Event) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    model.parameter("T", period);
    model.parameter("k", gains[0]);
    model.parameter("d", gains[1]);
    let x = model.coordinate("x");
    model.particle("cart", 1.0, [x]);
    let u = model.state("u");
    model.force(x, u);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let [period, push] = ["T", "-k*x - d*x'"].map(|what| dynamics.observable(what).unwrap());
    let control = Reset::new("control", dynamics.system(), &[("u", push)]).unwrap();
    (dynamics, Event::every(period, control))
}

/// The place and speed of the cart after so many periods: the power of the matrix of one of them.
fn sampled(period: f64, [k, d]: [f64; 2], periods: u32) -> [f64; 2] {
    let (half, mut power) = (0.5 * period * period, [[1.0, 0.0], [0.0, 1.0]]);
    let one = [[1.0 - half * k, period - half * d], [-period * k, 1.0 - period * d]];
    let product = |a: [[f64; 2]; 2], b: [[f64; 2]; 2]| {
        [0, 1].map(|i: usize| [0, 1].map(|j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
    };
    (0..periods).for_each(|_| power = product(one, power));
    [power[0][0], power[1][0]]
}

/// Every method lands on the ticks, with steps that are shorter than a period, longer, and no part of it.
#[test]
fn a_sampled_double_integrator_is_a_power_of_a_matrix() {
    let (period, gains) = (0.1, [3.0, 2.0]);
    let (mut dynamics, control) = cart(period, gains);
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    let facts = dynamics.system().facts().clone();
    let mut tried = 0;
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts) && card.order > 1) {
        let steps = [0.03, 0.1, 0.7].map(|step| Integrator::new(card, step));
        let tolerances = [1e-6, 1e-11].map(|tolerance| Integrator::new(card, Tolerance::relative(tolerance)));
        let adaptive = tolerances.into_iter().filter(|_| card.sizing != Sizing::Given);
        for integrator in steps.into_iter().filter(|_| card.sizing != Sizing::Foreseen).chain(adaptive) {
            let pace = integrator.pace().to_string();
            let run = integrator.event(control.clone()).run(&mut dynamics, &start, 6.05);
            let run = run.unwrap_or_else(|error| panic!("{} {pace}: {error}", card.name));
            assert_eq!(run.crossings().len(), 61, "{} {pace}", card.name);
            for (k, tick) in run.crossings().iter().enumerate() {
                let [x, v] = sampled(period, gains, k as u32);
                let off = [tick.state.q[0] - x, tick.state.p[0] - v, tick.t - k as f64 * period];
                assert!(off.iter().all(|off| off.abs() < 1e-12), "{} {pace} {k}: {off:?}", card.name);
            }
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
}

/// Gains that are chosen for the sampled cart bring it to rest within two ticks.
#[test]
fn a_deadbeat_controller_settles_in_two_ticks() {
    let period = 0.25;
    let (mut dynamics, control) = cart(period, [1.0 / (period * period), 1.5 / period]);
    let start = dynamics.start(&[("x", 1.0), ("x'", -3.0)]).unwrap();
    for integrator in [
        Integrator::named("rk4", 0.1).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap(),
    ] {
        let run = integrator.event(control.clone()).run(&mut dynamics, &start, 3.0).unwrap();
        for (k, tick) in run.crossings().iter().enumerate() {
            let rests = tick.state.q[0].abs() < 1e-13 && tick.state.p[0].abs() < 1e-13;
            assert_eq!(rests, k >= 2, "{k}: {:?}", tick.state);
        }
    }
}

/// Ticks are multiples of their period, and not sums; steps of one length go on at the times of their grid, and samples at a tick follow it.
#[test]
fn many_ticks_do_not_drift() {
    let (mut dynamics, control) = cart(0.01, [1.0, 1.0]);
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    for integrator in [
        Integrator::named("verlet", 0.03).unwrap_or_else(|_| Integrator::named("rk4", 0.03).unwrap()),
        Integrator::named("gauss4", 0.03).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-6)).unwrap(),
    ] {
        let Ok(run) = integrator.event(control.clone()).run(&mut dynamics, &start, 100.0) else { continue };
        assert_eq!(run.crossings().len(), 10_001);
        for (k, tick) in run.crossings().iter().enumerate() {
            let exact = k as f64 * 0.01;
            assert!((tick.t - exact).abs() <= 2.0 * f64::EPSILON * exact, "{k}: {} {exact}", tick.t);
        }
    }
    let rk4 = Integrator::named("rk4", 0.03).unwrap().event(control.clone());
    let run = rk4.run(&mut dynamics, &start, 0.3).unwrap();
    assert_eq!(run.times().len(), 11);
    // All that is sampled at ticks, by a rule for times of its own, is what holds from there on.
    let wanted: Vec<f64> = (0..=300).map(|i| f64::from(i) / 100.0).collect();
    for integrator in [
        Integrator::named("rk4", 0.007).unwrap(),
        Integrator::named("taylor", Tolerance::relative(1e-9)).unwrap(),
    ] {
        let run = integrator.event(control.clone()).at(&wanted).run(&mut dynamics, &start, 3.0).unwrap();
        assert_eq!(run.times(), wanted);
        for (k, (_, y)) in run.samples().enumerate() {
            let after = run.crossings()[k].after.as_ref().unwrap();
            assert_eq!(y[3], after.p[1], "{k}");
        }
    }
}

/// A rotor that is kicked after every unit of time is the standard map; what the kicks do to the energy is booked.
#[test]
fn a_kicked_rotor_is_the_standard_map() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    model.kinetic("rotor", 0.5 * model.velocity(th) * model.velocity(th));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let [period, kick] = ["1", "th' + 0.9*sin(th)"].map(|what| dynamics.observable(what).unwrap());
    let kick = Reset::new("kick", dynamics.system(), &[("th'", kick)]).unwrap();
    let start = dynamics.start(&[("th", 0.5), ("th'", 0.2)]).unwrap();
    for integrator in [
        Integrator::named("verlet", 0.3).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap(),
    ] {
        let run =
            integrator.event(Event::every(period, kick.clone())).run(&mut dynamics, &start, 40.5).unwrap();
        let [mut q, mut p] = [0.5, 0.2];
        for (k, tick) in run.crossings().iter().enumerate() {
            assert!((tick.state.q[0] - q).abs() + (tick.state.p[0] - p).abs() < 1e-9, "{k}");
            p += 0.9 * f64::sin(q);
            q += p;
        }
        let drift = run.energy_drift(&mut dynamics).unwrap();
        assert!(drift < 1e-12, "{drift}");
        let end = run.end();
        let brought = run.energy_of_resets(&mut dynamics).unwrap();
        let first = run.state(0).unwrap();
        assert!((0.5 * (end.p[0].powi(2) - first.p[0].powi(2)) - brought).abs() < 1e-12);
        // The first kick is at the start, and the first sample follows it.
        assert!((first.p[0] - 0.2 - 0.9 * f64::sin(0.5)).abs() < 1e-15);
    }
}

/// In lanes, also where each has a period of its own, trajectories have the bits of single runs.
#[test]
fn lanes_have_the_bits_of_single_runs() {
    for integrator in [
        Integrator::named("rk4", 0.03).unwrap(),
        Integrator::named("gauss4", 0.05).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-8)).unwrap(),
        Integrator::named("taylor", Tolerance::relative(1e-8)).unwrap(),
    ] {
        let (mut dynamics, control) = cart(0.1, [3.0, 2.0]);
        let wanted: Vec<f64> = (0..=20).map(|i| f64::from(i) * 0.13).collect();
        let edge = Event::new(dynamics.observable("x - 1/2").unwrap());
        for integrator in [integrator.clone().ends_only(), integrator.event(edge).at(&wanted)] {
            let integrator = integrator.event(control.clone());
            let launch = |index: u64, _: &mut Dynamics, launch: &mut Launch| {
                launch.state.copy_from_slice(&[1.0 + 0.05 * index as f64, 0.0, 0.0, 0.0]);
                launch.parameters[0] = 0.05 + 0.01 * index as f64;
                Ok(())
            };
            let mut ends = Vec::new();
            Ensemble::new(integrator.clone(), 0.0, 2.6)
                .threads(2)
                .run(&dynamics, &launch, 0..19, |chunk| {
                    for row in 0..chunk.len() {
                        let of = chunk.first + row as u64;
                        let own = chunk.crossings.iter().filter(|(index, _)| *index == of);
                        let own: Vec<_> = own.map(|(_, crossing)| crossing.clone()).collect();
                        ends.push((chunk.times[row], chunk.ends().nth(row).unwrap().to_vec(), own));
                    }
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(ends.len(), 19);
            for (index, (t, end, crossings)) in ends.iter().enumerate() {
                let mut alone = dynamics.clone();
                alone.set_parameter("T", 0.05 + 0.01 * index as f64).unwrap();
                let start = State { t: 0.0, q: vec![1.0 + 0.05 * index as f64, 0.0], p: vec![0.0; 2] };
                let run = integrator.run(&mut alone, &start, 2.6).unwrap();
                assert_eq!((run.end().t, run.end().block()), (*t, end.clone()), "{index}");
                assert_eq!(run.crossings(), crossings, "{index}");
            }
        }
    }
}

/// A run that is broken off anywhere goes on with the same bits, and one that another method ends keeps its ticks.
#[test]
fn what_goes_on_keeps_its_ticks() {
    let (mut dynamics, control) = cart(0.1, [3.0, 2.0]);
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    for integrator in [
        Integrator::named("rk4", 0.03).unwrap(),
        Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap(),
    ] {
        let integrator = integrator.event(control.clone());
        let mut kept: Vec<String> = Vec::new();
        let whole = integrator
            .run_watched(&mut dynamics, &start, 2.0, |moment| {
                kept.push(moment.checkpoint().to_string());
                ControlFlow::Continue(())
            })
            .unwrap();
        for text in &kept {
            let from: Checkpoint = text.parse().unwrap();
            let rest = integrator.resume(&mut dynamics, &from).unwrap();
            assert_eq!(rest.end(), whole.end(), "from t = {}", from.t());
            assert!(whole.crossings().ends_with(rest.crossings()), "from t = {}", from.t());
        }
    }
    let [one, other] =
        ["rk4", "gauss4"].map(|name| Integrator::named(name, 0.03).unwrap().event(control.clone()));
    for steps in [0, 1, 5, 10, 17] {
        let mut made = 0;
        let so_far = one.run_watched(&mut dynamics, &start, 2.0, |_| {
            made += 1;
            if made > steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let all = other
            .take_over(&mut dynamics, so_far.unwrap(), (0.0, 2.0), |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(all.crossings().len(), 21, "after {steps}");
        for (k, tick) in all.crossings().iter().enumerate() {
            let [x, _] = sampled(0.1, [3.0, 2.0], k as u32);
            assert!((tick.state.q[0] - x).abs() < 1e-12, "after {steps}: {k}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (period, limit) in [(0.0, 1000), (-1.0, 1000), (1e-5, 1000)] {
        let (mut dynamics, control) = cart(1.0, [1.0, 1.0]);
        dynamics.set_parameter("T", period).unwrap();
        let start = dynamics.start(&[("x", 1.0)]).unwrap();
        let run = Integrator::named("rk4", 0.1).unwrap().at_most(limit).event(control);
        let error = run.run(&mut dynamics, &start, 1.0).unwrap_err().error;
        match limit as f64 * period > 0.0 {
            false => assert!(matches!(error, RunError::BadPeriod { .. }), "{error}"),
            true => assert!(matches!(error, RunError::TooManyTicks { .. }), "{error}"),
        }
    }
    let (mut dynamics, control) = cart(1.0, [1.0, 1.0]);
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    let run = Integrator::named("rk4", 0.1).unwrap().event(control.clone());
    Tape::record(&run, &dynamics, &start, 1.0).err().unwrap();
    let back = Integrator::named("rk4", -0.1).unwrap().event(control);
    assert!(matches!(back.run(&mut dynamics, &start, -1.0).unwrap_err().error, RunError::ResetBack { .. }));
}
