//! Runs that are sampled at any time, watched over, broken off, and gone on with.

use crate::common::{begin, distance, double_pendulum, kepler, suited, undisturbed};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Block, Card, Checkpoint, CheckpointError, CheckpointFileError, Density, Integrator, Keeps, Pace,
    Reason, RunError, Sizing, Tolerance,
};
use leastaction_mechanics::{Model, State};
use std::ops::ControlFlow;

/// Every pace that a method can go at.
fn paces(card: &Card) -> Vec<Pace> {
    let mut paces = vec![Pace::Step(0.03)];
    match card.sizing {
        Sizing::Given => {}
        Sizing::Estimated { .. } | Sizing::Foreseen => {
            paces.push(Pace::Tolerance(Tolerance::relative(1e-8)));
        }
    }
    if card.keeps.contains(&Keeps::Reversible) {
        paces.push(Pace::Density(Density::of("1/(2 + sin(t))", 0.06)));
    }
    paces
}

/// A run that was broken off, written down, read back and resumed is the run that was not broken off, to the last bit.
fn resumed_runs_have_the_same_bits(card: &'static Card) {
    for pace in paces(card) {
        for (mut dynamics, start) in suited(card) {
            let run = Integrator::new(card, pace.clone()).every(3);
            let whole = run.run(&mut dynamics, &start, 3.0).unwrap();
            let broken = run.run_watched(&mut dynamics, &start, 3.0, |moment| {
                if moment.fraction() > 0.4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let broken = broken.unwrap();
            assert_eq!(broken.reason(), Reason::Interrupted);
            assert!(broken.end().t > 1.2 && broken.end().t < 3.0);
            let text = broken.checkpoint().unwrap().to_string();
            let checkpoint: Checkpoint = text.parse().unwrap();
            assert_eq!(&checkpoint, broken.checkpoint().unwrap());
            let rest = run.resume(&mut dynamics, &checkpoint).unwrap();
            assert_eq!(rest.end(), whole.end(), "{} with {pace}", card.name);
            assert_eq!(rest.work(), whole.work(), "{} with {pace}", card.name);
            let seen = broken.len() + rest.len();
            let last = broken.times()[broken.len() - 1];
            let extra = usize::from(!whole.times().contains(&last));
            assert_eq!(seen, whole.len() + extra, "{} with {pace}: samples", card.name);
        }
    }
}

methods!(tests_of resumed_runs_have_the_same_bits);

/// A run that had come to its end has nothing left to show, however it is sampled.
#[test]
fn complete_runs_resume_to_nothing() {
    let (mut dynamics, start) = kepler(0.3);
    let run = Integrator::named("gauss4", 0.1).unwrap();
    for run in [run.clone(), run.clone().ends_only(), run.clone().at(&[0.2, 1.0]), run.spaced(0.3)] {
        let whole = run.run(&mut dynamics, &start, 1.0).unwrap();
        let rest = run.resume(&mut dynamics, whole.checkpoint().unwrap()).unwrap();
        assert_eq!((rest.len(), rest.reason(), rest.work()), (0, Reason::Complete, whole.work()));
    }
}

/// A spacing that is lost in rounding is refused: its samples would never come to an end.
#[test]
fn spacings_that_vanish_are_refused() {
    let (mut dynamics, start) = kepler(0.3);
    for spacing in [1e-300, 1e-17, f64::NAN, -1.0, f64::INFINITY] {
        let run = Integrator::named("gauss4", 0.1).unwrap().spaced(spacing);
        let refused = run.run(&mut dynamics, &start, 1.0).unwrap_err().error;
        assert!(matches!(refused, RunError::BadSpacing { .. }), "{spacing}");
    }
}

/// Lanes with steps of their own are what they would be alone.
#[test]
fn adaptive_lanes_do_not_disturb_each_other() {
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        for (mut dynamics, start) in suited(card) {
            let run = Integrator::new(card, Tolerance::relative(1e-7)).ends_only();
            let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
                let mut y = start.block();
                y[0] *= 1.0 + 0.1 * lane as f64;
                y
            });
            let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
            run.march(&mut dynamics, 0.0, &mut block, 5.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
            for (lane, state) in states.iter().enumerate() {
                let start = State::from_block(0.0, state, start.q.len());
                let alone = run.run(&mut dynamics, &start, 5.0).unwrap();
                assert_eq!(block.lane(lane), alone.end().block(), "{} lane {lane}", card.name);
            }
            let every = Integrator::new(card, Tolerance::relative(1e-7));
            let apart = every.march(&mut dynamics, 0.0, &mut block, 9.0, |_| Ok(ControlFlow::Continue(())));
            assert_eq!(apart.unwrap_err(), RunError::LanesApart);
        }
    }
}

/// Samples at times of the user's own do not change the run, and lie on it.
fn samples_lie_on_the_run(card: &'static Card) {
    for pace in paces(card) {
        let (mut dynamics, start) = undisturbed(card);
        let run = Integrator::new(card, pace);
        let steps = run.run(&mut dynamics, &start, 1.0).unwrap();
        let times: Vec<f64> =
            steps.times().windows(2).flat_map(|t| [t[0], 0.4 * t[0] + 0.6 * t[1]]).collect();
        let samples = run.clone().at(&times).run(&mut dynamics, &start, 1.0).unwrap();
        assert_eq!(samples.times(), times);
        for (i, (t, block)) in samples.samples().enumerate() {
            if i % 2 == 0 {
                assert_eq!(block, steps.state(i / 2).unwrap().block(), "{} at a step", card.name);
            } else {
                let [before, after] = [i / 2, i / 2 + 1].map(|k| steps.state(k).unwrap().block());
                let size = distance(&before, &after);
                assert!(distance(block, &before) < 1.1 * size, "{} at {t}", card.name);
            }
        }
        let spaced = run.spaced(0.25).run(&mut dynamics, &start, 1.1).unwrap();
        assert_eq!(spaced.times(), [0.0, 0.25, 0.5, 0.75, 1.0, 1.1]);
    }
}

methods!(tests_of samples_lie_on_the_run);

#[test]
fn runs_lead_back_in_time() {
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let (mut dynamics, start) = undisturbed(card);
        let run = Integrator::new(card, Tolerance::relative(1e-11)).spaced(0.3);
        let there = run.run(&mut dynamics, &start, 2.0).unwrap();
        let back = run.run(&mut dynamics, &there.end(), 0.0).unwrap();
        assert_eq!((back.times()[0], back.times()[1], back.end().t), (2.0, 1.7, 0.0));
        assert!(distance(&back.end().block(), &start.block()) < 1e-8, "{}", card.name);
    }
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("rk4", -0.1).unwrap().at(&[-0.25, -0.55, -1.0]);
    assert_eq!(run.run(&mut dynamics, &start, -1.0).unwrap().times(), [-0.25, -0.55, -1.0]);
}

#[test]
fn bad_samples_are_refused() {
    let (mut dynamics, start) = kepler(0.2);
    let mut refused = |run: Integrator| run.run(&mut dynamics, &start, 1.0).unwrap_err().to_string();
    let rk4 = || Integrator::named("rk4", 0.1).unwrap();
    let bad = "a sample is wanted at t = 1.5, which is not between 0.5 and 1";
    assert_eq!(refused(rk4().at(&[0.5, 1.5])), bad);
    let twice = "a sample is wanted at t = 0.5, which is not between 0.5 and 1";
    assert_eq!(refused(rk4().at(&[0.5, 0.5])), twice);
    assert_eq!(
        refused(rk4().spaced(0.0)),
        "the spacing of samples is 0e0: it must be finite and above 0, and not lost in the rounding of times"
    );
}

/// What a run had computed when it failed is kept, and so is where it was.
#[test]
fn failed_runs_keep_what_they_had() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("stone", 1.0, [x, y]);
    model.potential("slope", 5.0 * y.sqrt());
    let (mut dynamics, start) = begin(&model, &[("y", 1.0)]);
    let failed = Integrator::named("rk4", 0.125).unwrap().run(&mut dynamics, &start, 100.0).unwrap_err();
    assert!(failed.to_string().ends_with(" (what was computed until t = 0.75 is kept)"), "{failed}");
    let kept = failed.trajectory.unwrap();
    assert_eq!(
        (kept.times(), kept.reason()),
        (&[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75][..], Reason::Interrupted)
    );
    assert!(kept.blocks().iter().all(|y| y.is_finite()));
    assert_eq!(kept.checkpoint().unwrap().t(), 0.75);
}

#[test]
fn checkpoints_are_saved_as_a_whole() {
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("implicit-midpoint", 0.1).unwrap();
    let folder = std::env::temp_dir().join(format!("leastaction-checkpoint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("run.checkpoint");
    let mut saved = 0;
    run.run_watched(&mut dynamics, &start, 2.0, |moment| {
        moment.checkpoint().save(&file).unwrap();
        saved += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    let last = Checkpoint::load(&file).unwrap();
    assert!(saved == 20 && (last.t() - 1.9).abs() < 1e-12);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    std::fs::write(&file, "x").unwrap();
    let error = Checkpoint::load(&file).unwrap_err();
    assert!(matches!(error, CheckpointFileError::Checkpoint(CheckpointError::Format { line: 1, .. })));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(Checkpoint::load(&file), Err(CheckpointFileError::File { .. })));
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("implicit-midpoint", 0.1).unwrap();
    let checkpoint = run.run(&mut dynamics, &start, 1.0).unwrap().checkpoint().unwrap().clone();
    let refused =
        |run: &Integrator, dynamics: &mut _| run.resume(dynamics, &checkpoint).unwrap_err().to_string();
    assert_eq!(
        refused(&Integrator::named("rk4", 0.1).unwrap(), &mut dynamics),
        "the checkpoint is of a run by implicit-midpoint with steps of 0.1 in 1 lanes, and this integrator is rk4 with steps of 0.1"
    );
    assert!(
        refused(&run, &mut double_pendulum().0)
            .starts_with("the checkpoint is of a system with the states x, y")
    );
    // What another version may have written: a number less, and a check that is right.
    let text = checkpoint.to_string();
    let (content, _) = text.rsplit_once("check ").unwrap();
    let content = content.trim_end().rsplit_once(' ').unwrap().0.to_owned() + "\n";
    let check = leastaction_integrate::checksum(content.bytes());
    let short: Checkpoint = format!("{content}check {check:x}").parse().unwrap();
    let short = run.resume(&mut dynamics, &short).unwrap_err().error;
    assert!(matches!(short, RunError::Checkpoint(CheckpointError::Count { .. })), "{short}");
}

/// A file that ends early, or in which anything was changed, would go on with other numbers.
#[test]
fn checkpoints_that_were_cut_off_or_changed_are_refused() {
    let (mut dynamics, start) = kepler(0.2);
    let run = Integrator::named("gauss4", 0.1).unwrap();
    let text = run.run(&mut dynamics, &start, 1.0).unwrap().checkpoint().unwrap().to_string();
    assert!(text.parse::<Checkpoint>().is_ok());
    for length in 0..text.len() - 1 {
        assert!(text[..length].parse::<Checkpoint>().is_err(), "{length} of {} bytes", text.len());
    }
    // A shorter span, of which too many steps were made already.
    assert_eq!(
        text.replace("span 0e0 1e0", "span 0e0 5e-1").parse::<Checkpoint>(),
        Err(CheckpointError::Changed)
    );
    for place in text.match_indices(|c: char| c.is_ascii_digit()).map(|(place, _)| place) {
        let mut changed = text.clone().into_bytes();
        changed[place] = if changed[place] == b'7' { b'3' } else { b'7' };
        assert!(String::from_utf8(changed).unwrap().parse::<Checkpoint>().is_err(), "at {place}");
    }
}
