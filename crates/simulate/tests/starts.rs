//! What is given of a start stays, and what is asked for is what is meant.

use leastaction_expr::Graph;
use leastaction_simulate::{AskedEvent, Cause, Overrides, Run, Source, Warning};

fn simulated(text: &str, asked: &Overrides) -> Result<Run, String> {
    let simulation = Source::text("test", text).simulation(&Graph::new(), asked);
    Ok(simulation.map_err(|error| error.to_string())?.run().unwrap())
}

/// The end of a run, by the name of a coordinate or a velocity.
fn end(run: &Run, name: &str) -> f64 {
    let mut dynamics = run.simulation.dynamics.clone();
    let (what, state) = (dynamics.observable(name).unwrap(), run.trajectory.end());
    let mut value = [0.0];
    dynamics.observe(what, &[state.t], &state.block(), &mut value).unwrap();
    value[0]
}

/// Two wheels, one of which is pushed by a torque of 2: α = 2/(J₁ + J₂/9), and both go through many turns.
#[test]
fn gears_have_parameters_as_ratios() {
    let text = "param r1 = 1, r2 = 3\nbody g1 planar disk 1 mass 2\nbody g2 planar disk 3 mass 4\n\
                joint A pin g1 to ground\njoint B pin g2 to ground at [4, 0]\nconstraint mesh: r1*g1.angle + r2*g2.angle = 0\n\
                torque g1 = 2\nstart g1 at [0, 0]\nstart g2 at [4, 0]\nrun until 10";
    let rate = |r1: f64, r2: f64| 2.0 * 10.0 / (1.0 + 18.0 * (r1 / r2).powi(2));
    let run = simulated(text, &Overrides::default()).unwrap();
    assert!((end(&run, "g1.angle'") - rate(1.0, 3.0)).abs() < 1e-6, "{}", end(&run, "g1.angle'"));
    // It is read again with another value.
    let asked = Overrides { parameters: vec![("r2".to_owned(), 2.0)], ..Overrides::default() };
    let run = simulated(text, &asked).unwrap();
    assert!((end(&run, "g1.angle'") - rate(1.0, 2.0)).abs() < 1e-6, "{}", end(&run, "g1.angle'"));
    // A ratio that is sampled would be that of the text.
    let graph = Graph::new();
    let problem = Source::text("gears", text).problem(&graph, &Overrides::default()).unwrap();
    assert!(problem.check_sampled(["r2"], &Overrides::default()).is_err());
    assert!(problem.check_sampled(["r3"], &Overrides::default()).is_ok());
}

/// A rod on a pin, of which the velocity of the centre is said: it turns with ω = v/r.
#[test]
fn a_body_that_moves_turns_as_its_joint_wants() {
    let text = "body b planar rod 2 mass 3\njoint hinge pin b at [-1, 0] to ground at [-1, 0]\nstart b at [0, 0] moving [0, 1]\nrun until 0.01";
    let run = simulated(text, &Overrides::default()).unwrap();
    let start = &run.simulation.start;
    let mut dynamics = run.simulation.dynamics.clone();
    let mut at_start = |name: &str| {
        let (what, mut value) = (dynamics.observable(name).unwrap(), [0.0]);
        dynamics.observe(what, &[0.0], &start.block(), &mut value).unwrap();
        value[0]
    };
    let found = ["b.y'", "b.x'", "b.angle'"].map(&mut at_start);
    let wanted = [1.0, 0.0, 1.0];
    assert!(found.iter().zip(wanted).all(|(x, e)| (x - e).abs() < 1e-9), "{text}: {found:?}");
    let moved = |warning: &Warning| matches!(warning, Warning::Moved { .. });
    assert!(!run.measure().unwrap().warnings.iter().any(moved));
}

const SWING: &str =
    "coord th\nkinetic th'^2/2\npotential -cos(th)\nstart th = 1\noutput speed = th'\nrun until 3";

#[test]
fn events_that_never_happen_are_refused() {
    let asked = |expression: &str| Overrides {
        events: vec![AskedEvent { name: "low".to_owned(), expression: expression.to_owned(), stop: true }],
        ..Overrides::default()
    };
    for constant in ["0.1", "2*pi - 1"] {
        let error = Source::text("test", SWING).simulation(&Graph::new(), &asked(constant)).err().unwrap();
        assert!(
            matches!(&error.cause, Cause::NeverPasses { expression, .. } if expression == constant),
            "{error}"
        );
    }
    let run = simulated(SWING, &asked("th - 0.1")).unwrap();
    assert!(run.stopped_by() == Some("low") && (end(&run, "th") - 0.1).abs() < 1e-9);
}

/// A picture asks for an output of the text by its name.
#[test]
fn an_output_of_the_text_may_be_asked_for() {
    let asked = |name: &str, expression: &str| Overrides {
        outputs: vec![(name.to_owned(), expression.to_owned())],
        ..Overrides::default()
    };
    let run = simulated(SWING, &asked("speed", "speed")).unwrap();
    let record = run.record().unwrap();
    assert!(
        record.outputs.get(0).is_some_and(|column| column.name == "speed") && record.outputs.get(1).is_none()
    );
    let error = simulated(SWING, &asked("speed", "2*th")).err().unwrap();
    assert!(error.contains("two outputs have the name `speed`"), "{error}");
}

/// Momenta have names in what looks at a run, whether somebody names them or not.
#[test]
fn momenta_are_looked_at() {
    let text = |name: &str, statement: &str| {
        format!(
            "coord y\n{statement}particle a mass 2 at [0, y]\ngravity [0, -10]\nstart y' = 2.5\n\
             output m = {name} + 5\nevent turn: {name} + 5 = 0, stop\nrun until 3\n"
        )
    };
    for text in [text("p_y", ""), text("p", "momentum p\n")] {
        let run = Source::text("test", &text)
            .simulation(&Graph::new(), &Overrides::default())
            .unwrap()
            .run()
            .unwrap();
        let record = run.record().unwrap();
        let (.., m) = record.columns().find(|(_, name, _)| *name == "m").unwrap();
        assert_eq!((run.trajectory.end().t, m[0]), (0.5, 10.0));
        assert!(m.last().unwrap().abs() < 1e-13, "{m:?}");
    }
}
