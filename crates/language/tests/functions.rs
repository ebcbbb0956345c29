//! Functions that texts define, starts that nobody gave, and outputs that are recorded anyway.

use leastaction_expr::Graph;
use leastaction_language::{Setup, format, read};

fn message(text: &str) -> String {
    let graph = Graph::new();
    let errors = read(&graph, text, &[]).map(drop).unwrap_err();
    errors.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
}

fn output(text: &str) -> String {
    let graph = Graph::new();
    read(&graph, text, &[]).unwrap().outputs[0].value.to_string()
}

#[test]
fn arguments_hide_rates_and_parts() {
    let coordinates = "coord x, y\nparticle bob mass 1 at [x, y]\n";
    let wrong = message(&format!("{coordinates}let f(x) = x'\noutput a = f(y)\n"));
    assert_eq!(wrong, "the rate of the argument `x` is not known");
    let wrong = message(&format!("{coordinates}let f(bob) = bob.x'\noutput a = f([y, x])\n"));
    assert_eq!(wrong, "the rate of the argument `bob` is not known");
    // The part of the argument, not of the particle.
    assert_eq!(output(&format!("{coordinates}let f(bob) = bob.x\noutput a = f([y, 2])\n")), "y");
    assert!(message(&format!("{coordinates}let f(pi) = pi\n")).starts_with("`pi` cannot be the name"));
}

#[test]
fn functions_take_vectors() {
    let two = "coord x, y\nlet V(p, q) = -1/norm(p - q)\n";
    assert_eq!(
        output(&format!("{two}output a = V([x, y], [0, 1])\n")),
        output(&format!("{two}output a = -1/norm([x, y - 1])\n"))
    );
    let spaces = output(&format!("{two}output a = V([x, y, 1], [0, 1, x])\n"));
    assert_eq!(spaces, output(&format!("{two}output a = -1/norm([x, y - 1, 1 - x])\n")));
    // Functions of functions, of names that arguments of others have, and with vectors as values.
    let text = "param k = 3\ncoord x\nlet f(p) = k*p\nlet g(k) = norm(f(k))\noutput a = g([x, 0])\n";
    assert_eq!(output(text), output("param k = 3\ncoord x\noutput a = norm(k*[x, 0])\n"));
    let wrong = message(&format!("{two}output a = V(x, y)\n"));
    assert_eq!(wrong, "`V` does not take a number and a number");
    assert!(
        message(&format!("{two}output a = V([x, y], [0, 0, 1])\n"))
            .starts_with("`V` does not take a vector of 2 and")
    );
}

#[test]
fn what_no_argument_makes_right_is_found_where_it_stands() {
    assert!(message("coord x\nlet f(p) = norm(p)*k\n").contains("unknown name `k`"));
    assert!(message("coord x\nlet f(p) = p.x*g(2)\n").contains("unknown function `g`"));
    assert!(message("coord x\nlet f(p) = p + norm(3)\n").contains("`norm` takes a vector"));
    assert!(
        message("coord x\nlet f(p) = norm(p) 2\nkinetic x'^2/2\npotential f([x, 2])\n")
            .contains("operator is missing")
    );
    // What is said of V follows from what is wrong with it.
    let wrong = message("coord x\nlet V(p) = p + k\nkinetic x'^2/2\npotential V(x)\n");
    assert_eq!(wrong, "unknown name `k`");
}

/// Every function reads the one before it when it is called: this must end, and not in the stack.
#[test]
fn chains_of_functions_end() {
    let chain = |last: usize, body: &str| {
        let first = format!("coord x\nlet f0(p, q) = {body}\n");
        let others = (1..=last).map(|i| format!("let f{i}(p, q) = f{}(p, q)\n", i - 1));
        first + &others.collect::<String>() + &format!("output a = f{last}([x, 1], 2)\n")
    };
    assert_eq!(output(&chain(40, "q*norm(p)")), output("coord x\noutput a = 2*norm([x, 1])\n"));
    let wrong = message(&chain(20_000, "q*norm(p)"));
    assert!(wrong.starts_with("this is too large"), "{wrong}");
}

#[test]
fn many_definitions_are_resolved_in_one_pass() {
    let mut text = "coord x\nlet a0 = x\n".to_owned();
    (1..20_000).for_each(|i| text += &format!("let a{i} = sin(a{})\n", i - 1));
    let graph = Graph::new();
    let setup = read(&graph, &(text + "kinetic x'^2/2\npotential a5\n"), &[]).unwrap();
    // If every definition were walked by itself, this would take 2·10⁸ steps.
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let rate = dynamics.observable("a2'").unwrap();
    let mut out = [0.0];
    dynamics.observe(rate, &[0.0], &[0.5, 2.0], &mut out).unwrap();
    assert!((out[0] - 2.0 * 0.5f64.cos() * 0.5f64.sin().cos()).abs() < 1e-15);
}

fn started(setup: &Setup<'_>) -> Result<Vec<f64>, String> {
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let start = setup.start(&dynamics).unwrap();
    dynamics.set_loose(setup.loose.clone());
    let state = dynamics.start(&start).map_err(|error| setup.explain(&error).to_string())?;
    let mut x = vec![0.0; dynamics.system().places().iter().map(|place| place.dimensions).sum()];
    dynamics.positions(&[0.0], &state.block(), &mut x).unwrap();
    Ok(x)
}

#[test]
fn bodies_start_at_the_origin() {
    let graph = Graph::new();
    let text = "body rod planar rod 2 mass 1\npoint tip on rod at [1, 0]\n";
    assert_eq!(started(&read(&graph, text, &[]).unwrap()).unwrap(), [0.0, 0.0, 1.0, 0.0]);
    let moved = format!("{text}start rod_x = 3\n");
    assert_eq!(started(&read(&graph, &moved, &[]).unwrap()).unwrap(), [3.0, 0.0, 4.0, 0.0]);
    let top = read(&graph, "body top cuboid [1, 2, 3] mass 1\npoint tip on top at [1, 2, 3]\n", &[]).unwrap();
    assert_eq!(started(&top).unwrap(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let far = format!("{text}joint A pin rod at [1, 0] to [50, 30]\n");
    let [x, y, tip, up] = started(&read(&graph, &far, &[]).unwrap()).unwrap()[..] else {
        panic!("a body and a point")
    };
    assert!((tip - 50.0).abs() < 1e-9 && (up - 30.0).abs() < 1e-9, "{tip}, {up}");
    assert!(((tip - x).hypot(up - y) - 1.0).abs() < 1e-9);
    let torn = format!("{far}joint B pin rod at [-1, 0] to [50, 40]\n");
    let wrong = started(&read(&graph, &torn, &[]).unwrap()).unwrap_err();
    assert_eq!(wrong, "no place was found for the body `rod` that joints and constraints allow");
}

#[test]
fn what_is_recorded_anyway_is_no_second_column() {
    let graph = Graph::new();
    let text =
        "coord x, y\nparticle bob mass 1 at [x, y]\noutput bob.y, bob.x', x, height = bob.y, energy = x\n";
    let setup = read(&graph, text, &[]).unwrap();
    let names = ["t", "x", "y", "x'", "y'", "bob.x", "bob.y"];
    let besides = setup.outputs_except(|name| names.contains(&name)).unwrap();
    let besides: Vec<_> = besides.iter().map(|term| term.name.as_str()).collect();
    assert_eq!(besides, ["bob.x'", "height", "energy"]);
    let errors = setup.outputs_except(|name| name == "energy").unwrap_err();
    let shown = errors.render("a.motion", text, false);
    assert!(shown.contains("`energy` is recorded anyway") && shown.contains("a.motion:3:42"), "{shown}");
}

#[test]
fn a_comma_is_missing_before_a_rate() {
    let wrong = message("coord x\nkinetic x'^2/2\nstart x = 1 x' = 2\n");
    assert_eq!(wrong, "a comma is missing before `x`");
}

#[test]
fn line_ends_stay() {
    assert_eq!(
        format("coord x,y\r\n\r\n\r\npotential x # a\r\n").unwrap(),
        "coord x, y\r\n\r\npotential x  # a\r\n"
    );
    assert_eq!(format("coord x\r\nrun until 2\r\n").unwrap(), "coord x\r\nrun until 2\r\n");
}

#[test]
fn errors_of_all_name_the_text() {
    let errors = read(&Graph::new(), "", &[]).map(drop).unwrap_err();
    assert!(errors.render("empty.motion", "", false).starts_with("Error: empty.motion: the text is empty"));
}
