//! The texts of the catalog: they are read, they are tidy, and the formatter leaves their meaning alone.

use leastaction_catalog::{ALL, Entry};
use leastaction_expr::Graph;
use leastaction_language::{Setup, format, read};
use leastaction_mechanics::Term;

/// Every system, those of any size in several.
fn texts() -> Vec<(String, String)> {
    let sizes = |entry: &Entry| match entry.size {
        Some(usual) => vec![Some(1), Some(2), Some(usual), Some(23)],
        None => vec![None],
    };
    let text = |entry: &Entry, size: Option<usize>| {
        (format!("{} {size:?}", entry.name), entry.source(size).unwrap().into_owned())
    };
    ALL.iter().flat_map(|entry| sizes(entry).into_iter().map(|size| text(entry, size))).collect()
}

/// All that a text says, in words.
fn meaning(name: &str, text: &str) -> String {
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"));
    let Setup { about, model, start, plan, outputs, invariants, events, drawing, .. } = &setup;
    let terms = |terms: &[Term<'_>]| {
        terms.iter().map(|term| format!("{} = {}\n", term.name, term.value)).collect::<String>()
    };
    let equations = model.equations().unwrap_or_else(|error| panic!("{name}: {error}"));
    let system = equations.system().unwrap();
    let events: Vec<_> = events.iter().map(|a| (&a.name, a.value.to_string(), a.direction, a.stop)).collect();
    let inputs: Vec<_> = model.stated_inputs().iter().map(|(u, value)| format!("{u} = {value}")).collect();
    let terms = [start, outputs, invariants].map(|list| terms(list)).join("\n");
    format!(
        "{about}\n{equations}\n{:?}\n{:?}\n{:?}\n{inputs:?}\n{terms}\n{plan:?}\n{events:?}\n{drawing:?}",
        system.parameters(),
        system.constraints(),
        system.places(),
    )
}

/// A line as someone might write it who does not care for spaces.
fn in_a_hurry(line: &str) -> String {
    match line.starts_with('#') {
        true => format!("{line}\n"),
        false => {
            line.replace(" = ", "=").replace(", ", " ,  ").replace(" + ", "+").replace('[', "[ ") + "  \n\n\n"
        }
    }
}

#[test]
fn texts_mean_the_same_when_they_are_formatted() {
    for (name, text) in texts() {
        let untidy: String = text.lines().map(in_a_hurry).collect();
        let tidy = format(&untidy).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        assert_ne!(untidy, tidy);
        assert_eq!(format(&tidy).unwrap(), tidy, "{name}");
        assert_eq!(meaning(&name, &tidy), meaning(&name, &text), "{name}");
    }
}

#[test]
fn texts_are_tidy() {
    for (name, text) in texts() {
        assert_eq!(format(&text).unwrap(), text, "{name}");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
    }
}

/// What a text is about stands in its first line, and below it what it is made of.
#[test]
fn texts_say_what_they_are() {
    for (name, text) in texts() {
        let about = text.lines().next().unwrap();
        assert!(about.starts_with("# ") && !about.ends_with('.'), "{name}: {about}");
        let lines = ["param ", "start ", "run step "];
        for word in lines {
            assert!(text.lines().any(|line| line.starts_with(word)), "{name} has no `{word}`");
        }
    }
}

#[test]
fn the_largest_systems_are_read() {
    for entry in ALL.iter().filter(|entry| entry.size.is_some()) {
        let graph = Graph::new();
        let setup = entry.setup_sized(&graph, Entry::LARGEST).unwrap();
        let last = format!("bob{}", Entry::LARGEST);
        assert!(setup.drawing.parts.iter().any(|part| part.spots().contains(&last.as_str().into())));
    }
}
