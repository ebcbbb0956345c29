//! Inputs from tables against the same functions written out, and files that are wrong.

use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Sizing};
use leastaction_simulate::{Overrides, Run, Source};
use std::path::PathBuf;

const MASS: &str = "coord x\nparticle cart mass 2 at [x]\nforce x = u - 0.3*x\nstart x = 0.2\n";

/// A folder with a table, which nobody else has.
fn folder(name: &str, table: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("leastaction-table-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("u.csv"), table).unwrap();
    folder
}

fn source(name: &str, table: &str, input: &str) -> Source {
    Source::text("model", &format!("input u = table \"u.csv\" column u{input}\n{MASS}run until 3\n"))
        .in_folder(&folder(name, table))
}

fn run(source: &Source, asked: &Overrides) -> Run {
    source.simulation(&Graph::new(), asked).unwrap().run().unwrap()
}

fn by(method: &str, tolerance: Option<f64>, step: Option<f64>) -> Overrides {
    Overrides { method: Some(method.to_owned()), tolerance, step, ..Overrides::default() }
}

const ROWS: &str = "t,u\n0,0\n0.7,2\n0.73,-1.5\n2,0.5\n3,0\n";

/// The same as the text that a person would write for it.
#[test]
fn tables_are_what_is_written_out() {
    let line = "select(t < 0.7, 2/0.7*t, select(t < 0.73, 2 - 3.5/0.03*(t - 0.7), select(t < 2, -1.5 + 2/1.27*(t - 0.73), 0.5 - 0.5*(t - 2))))";
    let steps = "select(t < 0.7, 0, select(t < 0.73, 2, select(t < 2, -1.5, 0.5)))";
    for (name, input, written) in [("linear", "", line), ("hold", " hold", steps)] {
        let table = source(name, ROWS, input);
        let text = Source::text("model", &format!("input u = {written}\n{MASS}run until 3\n"));
        for asked in
            [by("dop853", Some(1e-12), None), by("taylor", Some(1e-12), None), by("gauss6", None, Some(0.07))]
        {
            let (one, other) = (run(&table, &asked).trajectory.end(), run(&text, &asked).trajectory.end());
            assert!((one.q[0] - other.q[0]).abs() < 1e-12 && (one.p[0] - other.p[0]).abs() < 1e-12, "{name}");
        }
    }
}

/// Every method lands on each row: the impulse of what is held is exact where nothing else acts.
#[test]
fn every_method_lands_on_each_row() {
    let text = "coord x\nparticle cart mass 2 at [x]\nforce x = u\ninput u = table \"u.csv\" column u hold\nrun until 3\n";
    let text = text.replace(
        "force x = u\ninput u = table \"u.csv\" column u hold\n",
        "input u = table \"u.csv\" column u hold\nforce x = u\n",
    );
    let source = Source::text("model", &text).in_folder(&folder("all", ROWS));
    let impulse = 2.0 * 0.03 - 1.5 * 1.27 + 0.5;
    let graph = Graph::new();
    let problem = source.problem(&graph, &Overrides::default()).unwrap();
    let facts = problem.dynamics.system().facts().clone();
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
        let asked = match card.sizing {
            Sizing::Given => by(card.name, None, Some(0.1)),
            _ => by(card.name, Some(1e-9), None),
        };
        let end = run(&source, &asked).trajectory.end();
        assert!((end.p[0] - impulse).abs() < 1e-12, "{}: {}", card.name, end.p[0] - impulse);
    }
}

#[test]
fn a_cubic_table_follows_a_smooth_signal() {
    let rows: String =
        (0..=120).map(|i| format!("{},{}\n", i as f64 / 40.0, (i as f64 / 20.0).sin())).collect();
    let table = source("cubic", &format!("t,u\n{rows}"), " cubic");
    let text = Source::text("model", &format!("input u = sin(2*t)\n{MASS}run until 3\n"));
    let asked = by("dop853", Some(1e-12), None);
    let (one, other) = (run(&table, &asked).trajectory.end(), run(&text, &asked).trajectory.end());
    assert!((one.q[0] - other.q[0]).abs() < 1e-6, "{}", one.q[0] - other.q[0]);
}

#[test]
fn runs_beyond_the_table_are_refused() {
    let later = Overrides { until: Some(4.0), ..Overrides::default() };
    let refused = |input: &str, asked: &Overrides| {
        let wrong = source("beyond", ROWS, input).simulation(&Graph::new(), asked).err();
        wrong.map(|error| error.cause.to_string())
    };
    let said = refused("", &later).unwrap();
    assert!(
        said.contains("times from 0 to 3, and the run goes from 0 to 4") && said.contains("held"),
        "{said}"
    );
    assert!(refused("", &Overrides { until: Some(-1.0), ..Overrides::default() }).is_some());
    assert_eq!(refused(" held", &later), None);
    // A value in its place needs no table.
    let set = Overrides { parameters: vec![("u".to_owned(), 1.0)], ..later };
    assert_eq!(refused("", &set), None);
}

#[test]
fn wrong_files_are_reported() {
    let said = |table: &str, input: &str| {
        let source = source("wrong", table, input);
        let error = source.simulation(&Graph::new(), &Overrides::default()).err().unwrap();
        let shown = error.diagnostics.unwrap().render("model", &source.text, false);
        assert!(shown.contains("model:1:"), "{shown}");
        shown
    };
    assert!(said("t,v\n0,1\n1,2\n", "").contains("no column `u`"));
    assert!(said("t,u\n0,1\n0,2\n", "").contains("line 3"));
    assert!(said("t,u\n0,1\n1,inf\n", "").contains("must be finite"));
    assert!(said("", "").contains("is empty"));
    assert!(said("t,u\n0,1\n1,2\n", " quadratic").contains("`cubic`"));
    let nowhere = Source::text("model", &format!("input u = table \"none.csv\" column u\n{MASS}"))
        .in_folder(&folder("nowhere", ROWS));
    let error = nowhere.simulation(&Graph::new(), &Overrides::default()).err().unwrap();
    assert!(error.diagnostics.unwrap().render("model", &nowhere.text, false).contains("none.csv"));
}
