//! Texts to expressions: grammar, meaning, and what is said about mistakes.

use leastaction_expr::{Expr, Graph, ParseError, Parser, Scope, Value};

/// Asserts that the text and the expression are the same node.
fn same<'g>(graph: &'g Graph, text: &str, expected: Expr<'g>) {
    match graph.parse(text) {
        Ok(found) => assert_eq!(found, expected, "`{text}`"),
        Err(error) => panic!("{}", error.render(text)),
    }
}

fn message(text: &str) -> String {
    Graph::new().parse(text).expect_err(text).to_string()
}

/// The part of the text that an error points to.
fn marked(text: &str) -> &str {
    let span = Graph::new().parse(text).expect_err(text).span();
    &text[span.start..span.end]
}

#[test]
fn precedence_is_that_of_mathematics() {
    let graph = Graph::new();
    let [a, b, c] = graph.symbols(["a", "b", "c"]);
    same(&graph, "a + b*c", a + b * c);
    same(&graph, "a - b - c", a - b - c);
    same(&graph, "a/b/c", a / b / c);
    same(&graph, "a/b*c", a / b * c);
    same(&graph, "-a^2", -(a.pow(2.0)));
    same(&graph, "(-a)^b", (-a).pow(b));
    same(&graph, "a^b^c", a.pow(b.pow(c)));
    same(&graph, "2^-a", graph.number(2.0).pow(-a));
    same(&graph, "2^-a^2*b", graph.number(2.0).pow(-a.pow(2.0)) * b);
    same(&graph, "a*-b", a * -b);
    same(&graph, "--a", a);
    same(&graph, "a + b < b*c", (a + b).lt(b * c));
    same(&graph, "a > b", b.lt(a));
    same(&graph, "a >= b", b.le(a));
    same(&graph, "(a == b) + (a != c)", a.equals(b) + a.differs(c));
}

#[test]
fn functions_numbers_and_names() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    same(&graph, "atan2(y, x) + select(x < 1, x, .5e1)", y.atan2(x) + x.lt(1.0).select(x, 5.0));
    same(&graph, "log(x) + log1p(y)", x.ln() + y.ln1p());
    same(&graph, "cos(pi*x) - π", (std::f64::consts::PI * x).cos() - std::f64::consts::PI);
    same(&graph, "θ₁'' + ω_2", graph.symbol("θ₁''") + graph.symbol("ω_2"));
    same(&graph, "`my name`' + `sin` + `a``b`", {
        graph.symbol("my name'") + graph.symbol("sin") + graph.symbol("a`b")
    });
    same(&graph, "# energy\nx * # times\n  y\n", x * y);
}

#[test]
fn definitions_come_first() {
    let graph = Graph::new();
    let [x, t] = graph.symbols(["x", "t"]);
    same(&graph, "let u = x + 1; let v = u*t; sin(u) + v", (x + 1.0).sin() + (x + 1.0) * t);
    assert_eq!(message("let u = 1; let u = 2; u"), "`u` is already defined; choose another name");
    assert_eq!(message("let sin = 1; sin"), "`sin` has a meaning of its own; choose another name");
    assert_eq!(message("let u = x; u'"), "`'` is the time derivative of a symbol; `u` has none here");
    assert_eq!(message("let u = x, u"), "expected an operator or `;`, found `,`");
    assert_eq!(message("let u < x"), "expected `=`, found `<`");
    assert_eq!(message("1 + let"), "expected an expression, found `let`");
}

#[test]
fn vectors() {
    let graph = Graph::new();
    let [a, b, k] = graph.symbols(["a", "b", "k"]);
    let mut scope = Scope::open();
    scope.define("r", vec![a, b]);
    let read = |text| Parser::new(&graph, text).unwrap().expression(&scope).unwrap();
    assert_eq!(read("r + [1, k]"), Value::Vector(vec![a + 1.0, b + k]));
    assert_eq!(read("-k*r/2"), Value::Vector(vec![-k * a / 2.0, -k * b / 2.0]));
    assert_eq!(read("r*k - r"), Value::Vector(vec![a * k - a, b * k - b]));
    assert_eq!(read("dot(r, [b, a])"), Value::Scalar(a * b + b * a));
    assert_eq!(read("norm(r)"), Value::Scalar((a * a + b * b).sqrt()));

    assert_eq!(
        message("[1, 2] + [1, 2, 3]"),
        "`+` does not take a vector of 2 and a vector of 3: the lengths must be equal"
    );
    assert_eq!(
        message("[1, 2]*[3, 4]"),
        "`*` does not take a vector of 2 and a vector of 2: write `dot(a, b)` for the scalar product"
    );
    assert_eq!(
        message("[1, 2]^2"),
        "`^` does not take a vector of 2 and a number: write `dot(a, a)` for the square of the length"
    );
    assert_eq!(message("x + 2/[1, 2]"), "`/` does not take a number and a vector of 2");
    assert_eq!(marked("x + 2/[1, 2]"), "2/[1, 2]");
    assert_eq!(message("sin([1])"), "`sin` takes numbers, not a vector of 1");
    assert_eq!(
        message("dot([1], 2)"),
        "`dot` takes two vectors of equal length, not a vector of 1 and a number"
    );
    assert_eq!(message("norm(x)"), "`norm` takes a vector: for a number write `abs`");
    assert_eq!(message("[[1, 2], 3]"), "a component is a number, not a vector of 2");
    assert_eq!(message("[1, 2]"), "this is a vector of 2, where a number is expected");
    assert_eq!(message("[]"), "expected an expression, found `]`");
}

#[test]
fn a_closed_scope_knows_its_names() {
    let graph = Graph::new();
    let mut scope = Scope::closed();
    for name in ["theta", "theta'", "mass"] {
        scope.define(name, graph.symbol(name));
    }
    let read = |text| Parser::new(&graph, text)?.expression(&scope);
    assert_eq!(read("mass*theta'"), Ok((graph.symbol("mass") * graph.symbol("theta'")).into()));
    let unknown = |text| match read(text) {
        Err(ParseError::UnknownName { suggestion, .. }) => suggestion,
        other => panic!("{other:?}"),
    };
    assert_eq!(unknown("1 + thtea").as_deref(), Some("theta"));
    assert_eq!(unknown("1 + thtea'").as_deref(), Some("theta'"));
    assert_eq!(unknown("zeppelin"), None);
    assert!(matches!(read("mass'"), Err(ParseError::NoDerivative { .. })));
    assert!(matches!(read("mass(2)"), Err(ParseError::MissingOperator { .. })));
}

#[test]
fn mistakes_are_named_at_their_place() {
    let cases = [
        ("2 x", "2 x", "an operator is missing; for a product write `2*x`"),
        ("1 + 2θ", "2θ", "an operator is missing; for a product write `2*θ`"),
        ("(a)(b)", ")(", "an operator is missing; for a product write `(…)*(…)`"),
        ("f(a b)", "f", "unknown function `f`"),
        ("sin(a b)", "a b", "an operator is missing; for a product write `a*b`"),
        ("a < b < c", "<", "comparisons do not chain: multiply them, as in `(a < b)*(b < c)`"),
        ("a + ", "", "expected an expression, found the end"),
        ("a + * b", "*", "expected an expression, found `*`"),
        ("(a + b", "(", "`(` is never closed"),
        ("[a, b)", ")", "`[` is still open where `)` stands"),
        ("a + b)", ")", "expected an operator or the end, found `)`"),
        ("(a, b)", "(a, b)", "expected one expression in parentheses, found several"),
        ("a = b", "=", "expected an operator or the end, found `=`"),
        ("sin(a, b)", "sin(a, b)", "`sin` takes 1 argument, not 2"),
        ("1 + atan2(a)", "atan2(a)", "`atan2` takes 2 arguments, not 1"),
        ("sine(a)", "sine", "unknown function `sine`; did you mean `sin`?"),
        ("cos + 1", "cos", "`cos` is a function: write `cos(…)`, or `` `cos` `` for a symbol of that name"),
        ("(a + b)' + 1", "(a + b)'", "`'` is the time derivative of a symbol; `(a + b)` has none here"),
        ("pi'", "pi'", "`'` is the time derivative of a symbol; `pi` has none here"),
        ("inf", "inf", "expected an expression, found `inf`"),
        ("", "", "expected an expression, found the end"),
    ];
    for (text, place, expected) in cases {
        assert_eq!((message(text).as_str(), marked(text)), (expected, place), "`{text}`");
    }
}

#[test]
fn primes_are_counted() {
    let graph = Graph::new();
    let most = format!("x{}", "'".repeat(255));
    same(&graph, &most, graph.symbol(&most));
    assert!(matches!(graph.parse(&format!("{most}'")), Err(ParseError::NoDerivative { .. })));
}

#[test]
fn depth_needs_no_stack() {
    const DEPTH: usize = 100_000;
    let deep = || {
        let graph = Graph::new();
        let x = graph.symbol("x");
        let nested = |open: &str, close: &str| format!("{}x{}", open.repeat(DEPTH), close.repeat(DEPTH));
        same(&graph, &nested("(", ")"), x);
        same(&graph, &nested("-", ""), x);
        same(&graph, &nested("sin(", ")"), (0..DEPTH).fold(x, |e, _| e.sin()));
        same(&graph, &nested("x^", ""), (0..DEPTH).fold(x, |e, _| x.pow(e)));
        same(&graph, &nested("2*(1 + ", ")"), (0..DEPTH).fold(x, |e, _| 2.0 * (1.0 + e)));
        let unclosed = graph.parse(&"1 + min(2, ".repeat(DEPTH));
        assert!(matches!(unclosed, Err(ParseError::Expected { .. })));
    };
    let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(deep).unwrap();
    thread.join().unwrap();
}

#[test]
fn a_million_terms_parse() {
    let graph = Graph::new();
    let text: String = (0..1_000_000)
        .map(|i| format!("{}x{}*y", if i % 3 == 0 { " - " } else { " + " }, i % 1000))
        .collect();
    let sum = graph.parse(&text[3..]).unwrap();
    assert!(sum.operations() > 1_000_000);
}

#[test]
fn no_text_panics() {
    let pieces = [
        "x", "'", "`", "2", ".", "e", "1e9", "sin", "(", ")", "[", "]", ",", "^", "-", "+", "*", "/", "<",
        "==", "=", ";", "let ", "pi", "dot", "θ", "²", "\n", " ", "#", "\u{301}", "\0",
    ];
    let graph = Graph::new();
    let mut state = 1_u64;
    let mut parsed = 0;
    for _ in 0..100_000 {
        let mut text = String::new();
        for _ in 0..(state >> 60) + 1 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        match graph.parse(&text) {
            Ok(_) => parsed += 1,
            Err(error) => {
                let span = error.span();
                assert!(text.get(span.start..span.end).is_some(), "{text:?} {error:?}");
                assert!(error.render(&text).contains('^'));
            }
        }
    }
    assert!(parsed > 1000, "{parsed} texts were valid");
}
