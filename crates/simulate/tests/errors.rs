//! Whose fault an error is, and what it was.

use leastaction_expr::Graph;
use leastaction_mechanics::SettingError;
use leastaction_simulate::{Cause, Fault, Overrides, PrepareError, Source, SourceError};
use std::error::Error;

const SWING: &str =
    "param m = 1\ncoord x\nparticle bob mass m at [x]\npotential x^2/2\nstart x = 1\nrun until 1\n";

fn refused(text: &str, overrides: &Overrides) -> PrepareError {
    Source::text("test", text).simulation(&Graph::new(), overrides).err().unwrap()
}

#[test]
fn a_wrong_text_is_shown_at_its_place() {
    let error = refused("coord x\nkinetic x'^2/2 + y\n", &Overrides::default());
    assert!(error.fault == Fault::Model && matches!(error.cause, Cause::Text(_)), "{error:?}");
    let error = refused("coord x, y\nkinetic x'^2/2\n", &Overrides::default());
    let place = error.diagnostics.as_ref().unwrap().diagnostics[0].span.unwrap();
    assert!(
        error.fault == Fault::Model && matches!(error.cause, Cause::Model(_)) && place.start == 9,
        "{error:?}"
    );
    let error = refused(&SWING.replace("until 1", "method rk5, until 1"), &Overrides::default());
    assert!(error.fault == Fault::Model && matches!(error.cause, Cause::Method(_)));
    assert!(error.diagnostics.is_some_and(|errors| errors.diagnostics[0].span.is_some()));
    let error = refused(&format!("{SWING}output p_x = x\n"), &Overrides::default());
    assert_eq!(
        (error.fault, error.to_string().as_str()),
        (Fault::Model, "`p_x` is recorded anyway, and is something else")
    );
}

#[test]
fn what_is_wrong_only_as_asked_for_is_not_the_texts_fault() {
    let with = |name: &str, value| Overrides {
        parameters: vec![(String::from(name), value)],
        ..Overrides::default()
    };
    let error = refused(SWING, &with("m", -1.0));
    assert_eq!(error.fault, Fault::Usage, "{error:?}");
    assert_eq!(refused(&SWING.replace("m = 1", "m = -1"), &Overrides::default()).fault, Fault::Model);
    let error = refused(SWING, &with("quux", 1.0));
    let Cause::Unknown { source: SettingError::Unknown { name, .. }, parameters } = &error.cause else {
        panic!("{error:?}")
    };
    assert!(name == "quux" && parameters == &["m"] && error.source().is_some());
    let error = refused(SWING, &Overrides { start: vec![("y".to_owned(), 1.0)], ..Overrides::default() });
    assert!(error.fault == Fault::Usage && matches!(error.cause, Cause::Start(_)), "{error:?}");
}

#[test]
fn what_excludes_itself_is_refused() {
    let usual = Overrides::default;
    let both = [
        Overrides { step: Some(0.1), tolerance: Some(1e-6), ..usual() },
        Overrides { every: Some(0.1), samples: Some(3), ..usual() },
        Overrides { start: vec![("x".to_owned(), 1.0)], seed: Some(1), ..usual() },
    ];
    for overrides in both {
        assert!(matches!(refused(SWING, &overrides).cause, Cause::Both { .. }), "{overrides:?}");
    }
    let cause = |overrides| refused(SWING, &overrides).cause;
    assert!(matches!(
        cause(Overrides { method: Some("rk4".to_owned()), ..usual() }),
        Cause::NoStep { method: "rk4" }
    ));
    assert!(matches!(cause(Overrides { every: Some(0.0), ..usual() }), Cause::Every { every: 0.0 }));
    assert!(matches!(cause(Overrides { seed: Some(1), ..usual() }), Cause::NoCatalog));
}

#[test]
fn sources_are_found_or_refused() {
    let error = Source::open("pendulums", None).err().unwrap();
    assert!(
        error.fault() == Fault::Usage && error.to_string().contains("did you mean `pendulum`?"),
        "{error}"
    );
    assert!(matches!(Source::open("./a.motion", Some(3)), Err(SourceError::Size)));
    let error = Source::open("./nowhere.motion", None).err().unwrap();
    assert!(matches!(error, SourceError::Read { .. }) && error.source().is_some());
    let error = Source::read("a", "a.motion", &b"\xff\xfe"[..]).err().unwrap();
    assert!(error.fault() == Fault::Model && error.to_string().contains("UTF-16"), "{error}");
    assert_eq!(Source::read("a", "a.motion", &b"coord x"[..]).unwrap().text, "coord x");
}

/// Of several velocities with the same momentum one is found: another one cannot be given.
#[test]
fn velocities_that_momenta_do_not_tell_are_refused() {
    for energy in ["x'^3/3", "x'^4/4 - x'^2"] {
        let text = format!("coord x\nlagrangian {energy}\nstart x' = -1\nrun until 1\n");
        let error = refused(&text, &Overrides::default());
        assert!(error.to_string().contains("has the same momentum"), "{error}");
    }
    let text = "coord x\nlagrangian x'^4/4\nstart x' = -1\nrun until 1\n";
    assert!(Source::text("test", text).simulation(&Graph::new(), &Overrides::default()).is_ok());
}

/// Where the momentum leaves the range of velocities, no step is short enough: the run ends there. It tried the shortest step for ever.
#[test]
fn a_motion_that_has_no_velocity_any_more_ends() {
    let text = "coord x\nlagrangian x'^3/3 - x^2/2\nstart x = 1, x' = 1\nrun until 10\n";
    let graph = Graph::new();
    let simulation = Source::text("test", text).simulation(&graph, &Overrides::default()).unwrap();
    let failed = simulation.run().unwrap_err();
    assert!(failed.to_string().contains("no velocities for these momenta"), "{failed}");
}
