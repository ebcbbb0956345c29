//! Methods are compared by where a motion ends, and orbits are followed to where they pass a surface.

use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Pace};
use leastaction_language::Direction;
use leastaction_simulate::{
    Cause, Fan, Fault, Level, Lost, Overrides, PrepareError, Section, SectionError, SectionPlan, Source,
    applies,
};
use std::ops::ControlFlow;

/// x = cos t.
const SWING: &str = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\nrun until 10\n";

fn go_on<T>(_: T) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn trials_end_as_far_from_the_reference_as_from_the_truth() {
    let graph = Graph::new();
    let problem = Source::text("swing", SWING).problem(&graph, &Overrides::default()).unwrap();
    let reference = problem.reference(Integrator::STEP_LIMIT, go_on).unwrap().unwrap();
    let truth = [10f64.cos(), -10f64.sin()];
    assert!(reference.end.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-12) && reference.doubt < 1e-11);
    let trial = |step| {
        let rk4 = Integrator::named("rk4", step).unwrap();
        assert!(applies(rk4.card(), rk4.pace(), problem.dynamics.system().facts()));
        problem.trial(&rk4, go_on).unwrap().unwrap()
    };
    let errors = [0.1, 0.05].map(|step| reference.error(&trial(step)));
    assert!((errors[0] / errors[1] / 16.0 - 1.0).abs() < 0.1, "{errors:?}");
    assert!(trial(0.1).drift() > trial(0.05).drift() && trial(0.1).work.steps == 100);
    assert!(
        problem.trial(&Integrator::named("rk4", 0.1).unwrap(), |_| ControlFlow::Break(())).unwrap().is_none()
    );
}

fn plan(through: &str) -> SectionPlan {
    SectionPlan {
        through: through.to_owned(),
        direction: Direction::Rising,
        shown: None,
        orbits: 1,
        vary: None,
        level: None,
        count: 3,
        threads: None,
    }
}

fn section(system: &str, plan: &SectionPlan, overrides: &Overrides) -> Result<Section, PrepareError> {
    let (graph, source) = (Graph::new(), Source::open(system, None).unwrap());
    Section::new(&source, &mut source.problem(&graph, overrides)?, plan, overrides)
}

#[test]
fn orbits_of_one_energy_pass_the_surface() {
    let fan = SectionPlan {
        orbits: 3,
        vary: Some(Fan { name: "y".to_owned(), from: -0.2, to: 0.9 }),
        level: Some(Level { energy: 0.125, solve: "p_x".to_owned() }),
        ..plan("x = 0")
    };
    let fine = Overrides { tolerance: Some(1e-12), ..Overrides::default() };
    let section = section("henon-heiles", &fan, &fine).unwrap();
    assert_eq!(section.names, ["y", "p_y"]);
    let run = section.run(go_on).unwrap();
    // The last one would start beyond the energy.
    assert!(
        section.starts.len() == 2 && matches!(&run.lost[..], [lost] if matches!(lost.why, Lost::Start(_)))
    );
    assert_eq!(run.points.orbits().map(|(_, points)| points.len()).collect::<Vec<_>>(), [3, 3]);
    let record = &run.points.record;
    assert!(record.coordinates.values(0).iter().all(|x| x.abs() < 1e-9), "{record:?}");
    assert!(record.velocities.values(0).iter().all(|v| *v > 0.0) && run.drift < 1e-9);
    assert!(record.energy.iter().all(|e| (e - 0.125).abs() < 1e-9));
    // Interrupted in the first orbit.
    let long = super::orbits::section(
        "henon-heiles",
        &SectionPlan { count: 1_000_000, threads: Some(1), ..fan },
        &fine,
    );
    let part = long.unwrap().run(|progress| match progress.points {
        3.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let part = part.unwrap();
    assert_eq!(part.interrupted, Some(0));
    assert_eq!(part.points.shown[..3], run.points.shown[..3]);
}

#[test]
fn sections_that_cannot_be_are_refused() {
    let usual = Overrides::default();
    let refused = |plan: &SectionPlan, overrides| {
        let error = section("henon-heiles", plan, overrides).err().unwrap();
        assert_eq!(error.fault, Fault::Usage);
        let Cause::Section(error) = error.cause else { panic!("{error:?}") };
        error
    };
    assert!(matches!(refused(&plan("x = 1 = 2"), &usual), SectionError::Surface { .. }));
    assert!(matches!(refused(&plan("z"), &usual), SectionError::Observe { .. }));
    assert!(matches!(refused(&SectionPlan { orbits: 2, ..plan("x") }, &usual), SectionError::OneStart));
    for solve in ["y'", "p_y"] {
        let vary = Some(Fan { name: "p_y".to_owned(), from: 0.0, to: 1.0 });
        let level = Some(Level { energy: 0.1, solve: solve.to_owned() });
        let solved = refused(&SectionPlan { vary, level, ..plan("x") }, &usual);
        assert!(matches!(solved, SectionError::Solved { .. }), "{solved}");
    }
    let vary = Some(Fan { name: "y".to_owned(), from: 0.0, to: 1.0 });
    let drawn = Overrides { seed: Some(1), ..Overrides::default() };
    let error = section("double-pendulum", &SectionPlan { vary, ..plan("th1") }, &drawn).err().unwrap();
    assert!(matches!(error.cause, Cause::Section(SectionError::Drawn) | Cause::Sample(_)), "{error}");
}

/// Threads do not change a bit, and neither do they change the order.
#[test]
fn points_are_the_same_for_any_number_of_threads() {
    let run = |threads: usize| {
        let fan = Fan { name: "y".to_owned(), from: -0.2, to: 0.2 };
        let plan = SectionPlan { orbits: 5, vary: Some(fan), threads: Some(threads), ..plan("x") };
        section("henon-heiles", &plan, &Overrides::default()).unwrap().run(go_on).unwrap()
    };
    let (one, many) = (run(1), run(4));
    assert!(one.points.len() == 15 && one.points.record == many.points.record);
    assert_eq!((one.drift.to_bits(), one.interrupted), (many.drift.to_bits(), None));
    let plan = SectionPlan { threads: Some(2), count: 1_000_000, ..plan("x") };
    let broken =
        section("henon-heiles", &plan, &Overrides::default()).unwrap().run(|_| ControlFlow::Break(()));
    assert_eq!(broken.unwrap().interrupted, Some(0));
}

/// Orbits are followed by the better of steps of one length and a tolerance, unless somebody says how.
#[test]
fn sections_take_the_better_of_step_and_tolerance() {
    let graph = Graph::new();
    let source = Source::open("henon-heiles", None).unwrap();
    let usual = source.problem(&graph, &Overrides::default()).unwrap().method(&Overrides::default()).unwrap();
    let Pace::Step(step) = usual.integrator.pace() else { panic!("{:?}", usual.integrator) };
    let plan = SectionPlan { count: 100, ..plan("x") };
    let better = section("henon-heiles", &plan, &Overrides::default()).unwrap();
    assert!(matches!(better.integrator.pace(), Pace::Tolerance(_)) && better.why.is_some());
    let name = usual.integrator.card().name;
    let asked = Overrides { method: Some(name.to_owned()), step: Some(*step), ..Overrides::default() };
    let by_steps = section("henon-heiles", &plan, &asked).unwrap();
    assert_eq!(by_steps.integrator.pace(), &Pace::Step(*step));
    assert!(better.run(go_on).unwrap().drift <= by_steps.run(go_on).unwrap().drift);
}

/// Above the energy of the saddles, 1/6, orbits escape to where nothing is known of them any more.
#[test]
fn points_of_orbits_that_escape_are_left_out() {
    let vary = Some(Fan { name: "y".to_owned(), from: -0.3, to: 0.3 });
    let level = Some(Level { energy: 0.5, solve: "p_x".to_owned() });
    let plan =
        SectionPlan { orbits: 4, count: 200, vary, level, direction: Direction::Both, ..plan("x = 0") };
    let steps = Overrides { method: Some("rk4".to_owned()), step: Some(0.1), ..Overrides::default() };
    let run = section("henon-heiles", &plan, &steps).unwrap().run(go_on).unwrap();
    assert!(
        run.drift < 1e-2 && run.points.shown.iter().all(|(_, [y, p])| y.hypot(*p) < 1e4),
        "{}",
        run.drift
    );
    assert_eq!(run.lost.len(), 4);
    assert!(run.lost.iter().any(|lost| matches!(lost.why, Lost::Astray { .. })), "{:?}", run.lost);
}
