//! The run loop: lanes, samples, observers, the way back, and what it refuses.

use crate::common::{
    begin, distance, double_pendulum, driven_pendulum, kepler, stiff_pendulum, suited, undisturbed,
};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Block, Card, DriftError, Integrator, Keeps, Kind, Needs, RunError, StepError,
};
use leastaction_mechanics::{Model, State};
use std::ops::ControlFlow;

/// A lane is what it would be alone, whatever stands beside it.
#[test]
fn lanes_do_not_disturb_each_other() {
    for card in ALL {
        // Without constraints RATTLE is explicit, and such steps are beyond its stability.
        let explicit = card.name == "shake" || card.name.starts_with("rattle");
        let stiff = (card.kind == Kind::Implicit && !explicit).then(stiff_pendulum).into_iter();
        for (mut dynamics, start) in suited(card).into_iter().chain(stiff) {
            if !card.needs.met_by(dynamics.system().facts()) {
                continue;
            }
            // The stiff spring is hardly pulled: a step ten times as wide would be one across the centre, which has no solution.
            let (step, nudge) = if start.p == [0.0, 0.0] { (0.05, 0.003) } else { (0.02, 0.03) };
            let n = start.q.len();
            let run = Integrator::new(card, step).every(7);
            let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
                let mut y = start.block();
                y[0] += nudge * lane as f64;
                y
            });
            let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
            let go_on = |_: leastaction_integrate::Sample<'_>| Ok(ControlFlow::Continue(()));
            let done = run.march(&mut dynamics, 0.0, &mut block, 4.99, go_on);
            assert!(done.is_ok(), "{}: {done:?}", card.name);
            for (lane, state) in states.iter().enumerate() {
                let alone = run.run(&mut dynamics, &State::from_block(0.0, state, n), 4.99).unwrap();
                assert_eq!(block.lane(lane), alone.end().block(), "{} lane {lane}", card.name);
            }
        }
    }
}

#[test]
fn samples_are_those_asked_for() {
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("rk4", 0.1).unwrap();
    let times = |run: Integrator, dynamics: &mut _| run.run(dynamics, &start, 1.04).unwrap().times().to_vec();
    assert_eq!(times(run.clone(), &mut dynamics).len(), 12);
    assert_eq!(times(run.clone().every(4), &mut dynamics), [0.0, 0.4, 0.8, 1.04]);
    assert_eq!(times(run.clone().ends_only(), &mut dynamics), [0.0, 1.04]);
    assert_eq!(times(run.clone().every(0), &mut dynamics).len(), 12);
    assert!((run.last_step_between(0.0, 1.04).unwrap().unwrap() - 0.04).abs() < 1e-15);
    assert_eq!(run.last_step_between(0.0, 1.0).unwrap(), Some(0.1));
    let still = run.run(&mut dynamics, &start, 0.0).unwrap();
    assert_eq!((still.len(), still.work().steps, still.end()), (1, 0, start.clone()));
    let all = run.run(&mut dynamics, &start, 1.0).unwrap();
    assert_eq!(all.blocks()[4 * 5..][..4], all.state(5).unwrap().block());
    assert_eq!(all.state(11), None);
}

#[test]
fn observers_can_break_off() {
    let (mut dynamics, start) = kepler(0.2);
    let mut energies = Vec::new();
    let end = Integrator::named("rk4", 0.125).unwrap().observe(&mut dynamics, &start, 10.0, |sample| {
        let mut energy = [0.0];
        sample.dynamics.energy(&[sample.t], sample.block.values(), &mut energy)?;
        energies.push(energy[0]);
        Ok(if sample.t >= 1.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let end = end.unwrap();
    assert_eq!((end.t, end.work.steps, end.work.evaluations), (1.0, 8, 32));
    assert!(energies.len() == 9 && energies.iter().all(|e| (e + 0.5).abs() < 1e-3));
}

/// A last step of another length, and one step as long as the whole run.
#[test]
fn ends_are_hit_exactly() {
    for card in ALL {
        let (mut dynamics, start) = kepler(0.2);
        let fine = Integrator::named("rk4", 1e-4).unwrap().run(&mut dynamics, &start, 1.0).unwrap().end();
        let end = Integrator::new(card, 0.003).run(&mut dynamics, &start, 1.0).unwrap().end();
        assert_eq!(end.t, 1.0);
        let allowed = if card.order == 1 { 1e-2 } else { 1e-4 };
        assert!(distance(&end.block(), &fine.block()) < allowed, "{}", card.name);
        let one = Integrator::new(card, 5.0).run(&mut dynamics, &start, 0.01).unwrap();
        assert_eq!((one.end().t, one.work().steps), (0.01, 1));
    }
}

/// One part in 10¹⁶ a step would be 10⁻¹² after ten thousand steps if it were not compensated.
#[test]
fn rounding_does_not_grow_with_steps() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    let (mut dynamics, start) = begin(&model, &[("x'", 0.1)]);
    for card in ALL {
        let end = Integrator::new(card, 1e-2).ends_only().run(&mut dynamics, &start, 100.0).unwrap().end();
        assert!((end.q[0] - 10.0).abs() < 2e-15, "{}: {}", card.name, end.q[0]);
    }
}

#[test]
fn work_is_counted() {
    let work = |name: &str| {
        let (mut dynamics, start) = double_pendulum();
        Integrator::named(name, 0.01).unwrap().run(&mut dynamics, &start, 1.0).unwrap().work()
    };
    assert_eq!((work("rk4").evaluations, work("rk4").iterations), (400, 0));
    // One evaluation for the first guess, eight iterations a step: pinned, so that a solver that tires shows.
    let midpoint = work("implicit-midpoint");
    assert_eq!((midpoint.evaluations, midpoint.iterations), (851, 850));
    let gauss = work("gauss4");
    assert_eq!((gauss.evaluations, gauss.iterations), (1675, 837));
}

/// A step that begins as the last one ended needs no new force: one kick and one drift a step, and one more at the start.
#[test]
fn forces_at_the_ends_of_steps_are_used_twice() {
    let evaluations = |name: &str| {
        let (mut dynamics, start) = kepler(0.2);
        let run = Integrator::named(name, 0.01).unwrap().run(&mut dynamics, &start, 1.0).unwrap();
        run.work().evaluations
    };
    let expected =
        [("symplectic-euler", 200), ("verlet", 201), ("verlet-position", 201), ("kahan-li8", 3401)];
    expected.into_iter().for_each(|(name, count)| assert_eq!(evaluations(name), count, "{name}"));
}

/// What a step leaves to the next is in the checkpoint: a run that goes on has the same bits, and needs no new force.
#[test]
fn resumed_runs_use_the_last_force() {
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("verlet", 0.01).unwrap();
    let whole = run.run(&mut dynamics, &start, 1.0).unwrap();
    let mut steps = 0;
    let part = run.run_watched(&mut dynamics, &start, 1.0, |_| {
        steps += 1;
        if steps > 37 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let rest = run.resume(&mut dynamics, part.unwrap().checkpoint().unwrap()).unwrap();
    assert_eq!((rest.end(), rest.work()), (whole.end(), whole.work()));
}

#[test]
fn bad_runs_are_refused() {
    let (mut dynamics, start) = kepler(0.2);
    let mut refused = |step: f64, end: f64| {
        let run = Integrator::named("rk4", step).unwrap().at_most(100_000);
        run.run(&mut dynamics, &start, end).unwrap_err().to_string()
    };
    assert_eq!(refused(0.0, 1.0), "the step is 0: it must be a finite number other than 0");
    assert_eq!(refused(f64::NAN, 1.0), "the step is NaN: it must be a finite number other than 0");
    assert_eq!(refused(0.1, f64::NAN), "the end of the run is at t = NaN: it must be finite");
    assert_eq!(refused(0.1, -1.0), "a step of 0.1 from t = 0 leads away from the end at t = -1: use -0.1");
    assert_eq!(
        refused(1e-9, 1.0),
        "the run would take 1e9 steps, and 100000 are allowed: use a longer step, or allow more"
    );

    let rk4 = Integrator::named("rk4", 0.1).unwrap();
    let short = State { t: 0.0, q: vec![1.0], p: vec![] };
    assert_eq!(
        rk4.run(&mut dynamics, &short, 1.0).unwrap_err().error,
        RunError::WrongLength { expected: 4, found: 1 }
    );
    let nowhere = State { t: 0.0, q: vec![1.0, f64::NAN], p: vec![0.0, 0.0] };
    assert_eq!(
        rk4.run(&mut dynamics, &nowhere, 1.0).unwrap_err().to_string(),
        "`y` is NaN at the start: it must be finite"
    );
    let huge = rk4.at_most(u64::MAX).run(&mut dynamics, &start, 1e17).unwrap_err();
    assert!(matches!(huge.error, RunError::TooManySamples { .. }), "{huge}");
}

/// A fall off the edge of where the energy is defined.
#[test]
fn singularities_are_reported() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("stone", 1.0, [x, y]);
    model.potential("slope", 5.0 * y.sqrt());
    let (mut dynamics, start) = begin(&model, &[("y", 1.0)]);
    let mut failed = |name: &str| {
        Integrator::named(name, 0.125).unwrap().run(&mut dynamics, &start, 100.0).unwrap_err().error
    };
    let RunError::NotFinite { t, name, value, .. } = failed("rk4") else { panic!() };
    assert!((t, name.as_str(), value.is_nan()) == (0.875, "p_y", true), "{name} is {value} at {t}");
    let error = failed("implicit-midpoint");
    let RunError::Step(StepError::NoConvergence { t, iterations, .. }) = error else { panic!("{error}") };
    assert!(t > 0.2 && t < 1.0 && iterations > 1, "{t} {iterations}");
}

/// Far beyond where plain iteration converges (ωh/2 < 1), acceleration and Newton's method still solve the step.
#[test]
fn stiff_steps_are_solved() {
    let (mut dynamics, start) = stiff_pendulum();
    let swing =
        Integrator::named("implicit-midpoint", 0.05).unwrap().run(&mut dynamics, &start, 20.0).unwrap();
    assert!(swing.work().jacobians > 0 && swing.work().jacobians < swing.work().steps, "{:?}", swing.work());
    assert!(swing.energies(&mut dynamics).unwrap().iter().all(|e| e.abs() < 20.0));
}

#[test]
fn methods_that_do_not_apply_are_refused() {
    static PICKY: Card = Card { name: "picky", needs: Needs::Separable, ..ALL[0] };
    let (mut dynamics, start) = double_pendulum();
    for card in [&PICKY, Card::named("verlet").unwrap()] {
        let refused = Integrator::new(card, 0.1).run(&mut dynamics, &start, 1.0).unwrap_err().to_string();
        let (why, instead) = refused.rsplit_once(": use ").unwrap();
        assert_eq!(
            why,
            format!("{} needs a separable Hamiltonian, which this system does not have", card.name)
        );
        assert!(Card::named(instead).unwrap().needs.met_by(dynamics.system().facts()), "{instead}");
    }
    let (mut dynamics, start) = kepler(0.2);
    assert!(Integrator::new(&PICKY, 0.1).run(&mut dynamics, &start, 1.0).is_ok());
}

/// A claim that does not hold for the system is refused, not made.
#[test]
fn demands_are_met_or_refused() {
    let (mut dynamics, start) = driven_pendulum();
    let mut refused = |name: &str, what: Keeps| {
        let run = Integrator::named(name, 0.1).unwrap().keeping(what);
        run.run(&mut dynamics, &start, 1.0).map_err(|failed| failed.error)
    };
    let nothing = RunError::NothingToKeep { what: Keeps::Symplectic };
    assert_eq!(refused("implicit-midpoint", Keeps::Symplectic), Err(nothing.clone()));
    assert_eq!(
        nothing.to_string(),
        "nothing says that the symplectic form is conserved here: time, dissipation, forces or ports may change it. Run without this demand"
    );
    assert!(refused("implicit-midpoint", Keeps::Reversible).is_ok());
    let unkept = refused("rk4", Keeps::Reversible).unwrap_err();
    assert!(unkept.to_string().starts_with("rk4 does not keep the time reversal: use "), "{unkept}");
    let (mut dynamics, start) = double_pendulum();
    let run = Integrator::named("implicit-midpoint", 0.1).unwrap().keeping(Keeps::Symplectic);
    assert!(run.run(&mut dynamics, &start, 1.0).is_ok());
}

/// A step that is compiled as a whole has the bits of its stages one by one, in one lane and in eight.
#[test]
fn whole_steps_have_the_same_bits() {
    for card in ALL {
        for (mut dynamics, start) in suited(card) {
            let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
                let mut y = start.block();
                y[0] += 0.03 * lane as f64;
                y
            });
            let lanes = Block::lanes(states.each_ref().map(Vec::as_slice));
            for block in [Block::one(&states[0]), lanes] {
                let mut ends = [true, false].map(|whole| {
                    let (mut block, run) = (block.clone(), Integrator::new(card, 0.02).compiled(whole));
                    let go_on = |_: leastaction_integrate::Sample<'_>| Ok(ControlFlow::Continue(()));
                    let end = run.ends_only().march(&mut dynamics, 0.0, &mut block, 2.0, go_on).unwrap();
                    (block, end.work)
                });
                let [whole, apart] = &mut ends;
                assert_eq!(whole, apart, "{} in {} lanes", card.name, block.width());
            }
        }
    }
}

/// What a run computes does not depend on what other threads do.
#[test]
fn threads_do_not_change_bits() {
    for card in ALL {
        let (mut dynamics, start) = undisturbed(card);
        let run = Integrator::new(card, 0.02).ends_only();
        let alone = run.run(&mut dynamics, &start, 2.0).unwrap().end();
        std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| {
                let (mut dynamics, run, start) = (dynamics.clone(), &run, &start);
                scope.spawn(move || run.run(&mut dynamics, start, 2.0).unwrap().end())
            });
            for thread in threads {
                assert_eq!(thread.join().unwrap(), alone, "{}", card.name);
            }
        });
    }
}

/// A million steps: what the method keeps exactly wanders by rounding, and does not drift. An iteration that stops one
/// digit early, at a sixteenth of the last place, drifts by 6e−15 here, in proportion to time.
#[test]
fn quadratic_invariants_do_not_drift() {
    let (mut dynamics, start) = kepler(0.2);
    let spin = |y: &[f64]| y[0] * y[3] - y[1] * y[2];
    let (before, mut worst) = (spin(&start.block()), 0.0_f64);
    let run = Integrator::named("implicit-midpoint", 0.0063).unwrap().every(1000);
    let end = run.observe(&mut dynamics, &start, 6300.0, |sample| {
        worst = worst.max((spin(sample.block.values()) - before).abs());
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(end.unwrap().work.steps, 1_000_000);
    println!("angular momentum wanders by {worst:.1e}");
    assert!(worst < 2e-15, "{worst:e}");
}

/// A potential of time alone moves nothing, so the run goes on where the energy is no number.
#[test]
fn drift_does_not_hide_nan() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("ball", 1.0, [x]);
    model.potential("clock", (1.0 - t).sqrt());
    let (mut dynamics, start) = begin(&model, &[("x'", 1.0)]);
    let flight = Integrator::named("rk4", 0.25).unwrap().run(&mut dynamics, &start, 2.0).unwrap();
    let error = flight.energy_drift(&mut dynamics).unwrap_err();
    assert!(matches!(error, DriftError::NotFinite { t: 1.25, value } if value.is_nan()), "{error}");
}

/// A pendulum let go level has an energy of 6e−16, which is the rounding of cos(π/2) and measures nothing.
#[test]
fn drift_is_relative_to_more_than_rounding() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    model.particle("bob", 1.0, [th.sin(), -th.cos()]);
    model.gravity([0.0, -9.81]);
    let (mut dynamics, start) = begin(&model, &[("th", std::f64::consts::FRAC_PI_2)]);
    let swing = Integrator::named("gauss8", 0.01).unwrap().run(&mut dynamics, &start, 10.0).unwrap();
    let drift = swing.energy_drift(&mut dynamics).unwrap();
    assert!(drift > 0.0 && drift < 1e-12, "{drift:e}");
}

#[test]
fn drift_tells_what_is_conserved() {
    let (mut dynamics, start) = kepler(0.2);
    let orbit =
        Integrator::named("implicit-midpoint", 0.01).unwrap().run(&mut dynamics, &start, 6.0).unwrap();
    let mut drift = |text: &str| {
        let what = dynamics.observable(text).unwrap();
        orbit.drift(&mut dynamics, what).unwrap()
    };
    assert!(drift("x*y' - y*x'") < 1e-14);
    // The momentum turns round: its change is about twice its size at the start, or all of it where it starts from 0.
    assert!(drift("p_y") > 1.0 && (0.9..=1.0).contains(&drift("p_x")), "{} {}", drift("p_y"), drift("p_x"));
    assert_eq!(drift("3"), 0.0);
    // What points to the perihelion has no part along y there, because two terms cancel; the orbit turns by a part of h².
    assert!(drift("-p_x*(x*p_y - y*p_x) - y/sqrt(x^2 + y^2)") < 1e-3);
}

/// Two bodies pushed apart from rest: the sum of their momenta is 0 but for rounding, and each of them is not.
#[test]
fn drift_from_rest_is_relative_to_what_moves() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    model.particle("left", 0.3, [a]);
    model.particle("right", 1.7, [b]);
    model.potential("spring", (b - a).pow(4.0));
    let (mut dynamics, start) = begin(&model, &[("a", 0.1), ("b", 1.3)]);
    let swing = Integrator::named("rk4", 0.01).unwrap().run(&mut dynamics, &start, 6.0).unwrap();
    let sum = dynamics.observable("p_a + p_b").unwrap();
    let one = dynamics.observable("p_a").unwrap();
    assert!(swing.drift(&mut dynamics, sum).unwrap() < 1e-13);
    assert!(swing.drift(&mut dynamics, one).unwrap() > 0.9);
}
