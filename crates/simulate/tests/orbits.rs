//! Methods are compared by where a motion ends, and orbits are followed to where they pass a surface.

use leastaction_expr::Graph;
use leastaction_integrate::Integrator;
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
    // Interrupted in the second orbit.
    let part = section.run(|progress| match (progress.orbit, progress.points) {
        (1, 1..) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let part = part.unwrap();
    assert_eq!((part.interrupted, part.points.len()), (Some(1), 4));
    assert_eq!(part.points.shown[..], run.points.shown[..4]);
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
    let vary = Some(Fan { name: "y".to_owned(), from: 0.0, to: 1.0 });
    let drawn = Overrides { seed: Some(1), ..Overrides::default() };
    let error = section("double-pendulum", &SectionPlan { vary, ..plan("th1") }, &drawn).err().unwrap();
    assert!(matches!(error.cause, Cause::Section(SectionError::Drawn) | Cause::Sample(_)), "{error}");
}
