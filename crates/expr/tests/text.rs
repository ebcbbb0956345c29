//! Text: what it looks like, and that it parses back to the same node.

use crate::support::{Random, expressions};
use leastaction_expr::{Expr, Graph, Op};
use std::time::Instant;

fn parses_back(e: Expr<'_>) {
    let text = e.to_string();
    match e.graph().parse(&text) {
        Ok(found) => assert_eq!(found.id(), e.id(), "`{text}` became `{found}`"),
        Err(error) => panic!("{}", error.render(&text)),
    }
}

#[test]
fn reads_like_mathematics() {
    let graph = Graph::new();
    // Already in the form in which they are written.
    for text in [
        "0.5*m*v^2",
        "a - b",
        "b - a",
        "a - b - c - d + e",
        "1 - cos(q)",
        "m*g*l*(1 - cos(q))",
        "3*(x*y)",
        "3*x*y",
        "-2*x*y",
        "-x^2",
        "(-x)^0.3",
        "x^-2",
        "2^-x^2",
        "(x^2)^y",
        "x^y^2",
        "a/(b*c)",
        "a/b/c",
        "-a/b",
        "-(a + b)",
        "-(a < b)",
        "x + 1e-9",
        "x - pi",
        "x'*y''",
        "atan2(-y, x)",
        "select(x < 0, -x, x)",
        "(a < b) + (a == b)",
        "min(-1e300, x)",
        "exp(-0.5*x^2)",
        "-((1 - x)*exp(1 - x))",
        "0.5*(1/x*y)",
        "`two words`' + `sin`*`pi`",
        "θ₁ + `a``b`",
        "``'",
    ] {
        let e = graph.parse(text).unwrap();
        assert_eq!(e.to_string(), text);
    }
    let numbers = [1e15, 1e16, 1e-4, 1e-5, -0.0, 5e-324, 0.1 + 0.2].map(|x| graph.number(x).to_string());
    assert_eq!(
        numbers,
        ["1000000000000000", "1e16", "0.0001", "1e-5", "-0", "5e-324", "0.30000000000000004"]
    );
    let numbers = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(|x| graph.number(x).to_string());
    assert_eq!(numbers, ["inf", "-inf", "nan"]);
}

#[test]
fn random_expressions_parse_back() {
    let mut checked = 0;
    for seed in 0..2000 {
        let graph = Graph::new();
        let mut random = Random::new(seed);
        let leaves = graph.symbols(["x", "y", "z'", "sin", "t1", "a b"]);
        // Few operators at a time, so that folding meets itself.
        let all =
            [Op::ALL, &[Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Neg, Op::Pow], &[Op::Add, Op::Sub, Op::Neg]];
        for e in expressions(&graph, &mut random, &leaves, all[seed as usize % 3], 60) {
            parses_back(e);
            checked += 1;
        }
    }
    assert!(checked > 100_000);
}

#[test]
fn modest_sharing_is_written_as_a_tree() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let r = (x * x + 1.0).sqrt();
    assert_eq!((r + r.sin()).to_string(), "sqrt(x^2 + 1) + sin(sqrt(x^2 + 1))");
}

#[test]
fn heavy_sharing_is_defined_first() {
    let graph = Graph::new();
    let [x, t2] = graph.symbols(["x", "t2'"]);
    let mut e = x + t2;
    for _ in 0..60 {
        e = (e.sin() - 1.0) * (e.cos() + 2.0);
    }
    let text = e.to_string();
    assert!(text.len() < 4000, "{text}");
    assert!(text.starts_with("let t1 = ") && text.contains("let t3 = ") && !text.contains("let t2 = "));
    parses_back(e);
}

/// Large expressions of every shape print in linear time, without recursion, and parse back.
#[test]
fn a_million_nodes_print() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let numbers = |count: usize| (0..count).map(|i| graph.number(i as f64 + 0.3));
    let shapes = [
        ("nested calls", (0..1_000_000).fold(x, |e, _| e.sin())),
        ("left sum", numbers(1_000_000).fold(x, |e, k| e + k)),
        ("alternating sum", numbers(100_000).fold(x, |e, k| k * y - e)),
        ("balanced sum", graph.sum(numbers(100_000).map(|k| k * x))),
        ("Horner", numbers(100_000).fold(x, |e, k| e * y + k)),
        ("tower", (0..100_000).fold(y, |e, _| x.pow(e))),
    ];
    for (name, e) in shapes {
        let start = Instant::now();
        parses_back(e);
        assert!(start.elapsed().as_secs() < 30, "{name} took {:?}", start.elapsed());
    }
}
