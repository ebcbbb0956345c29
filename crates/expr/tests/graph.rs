//! Graphs as values: several of them, moved between threads, and very large ones.

use leastaction_expr::{Graph, c_function, jvp, operations, rust_function};

#[test]
fn expressions_of_two_graphs_mix() {
    let (left, right) = (Graph::new(), Graph::new());
    let x = left.symbol("x");
    let other = right.symbol("y").sin() + right.symbol("x");
    let sum = x * other;
    assert_eq!(sum, x * (left.symbol("y").sin() + x));
}

#[test]
fn a_graph_moves_to_another_thread_and_ids_stay_good() {
    let graph = Graph::new();
    let id = (graph.symbol("x").cos() * 3.0).id();
    let text = std::thread::spawn(move || graph.at(id).to_string()).join().unwrap();
    assert_eq!(text, "3*cos(x)");
}

#[test]
fn symbols_are_found_by_name_and_primes() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    assert_eq!(x.dot(), Some(graph.symbol("x'")));
    assert_eq!(graph.symbol("x''"), x.dot().unwrap().dot().unwrap());
    assert_eq!((x + 1.0).dot(), None);
    let free: Vec<_> = (x * graph.symbol("a") + x.dot().unwrap()).free_symbols();
    assert_eq!(free, [graph.symbol("a"), x, graph.symbol("x'")]);
}

#[test]
fn empty_sums_and_products_are_neutral() {
    let graph = Graph::new();
    assert_eq!(graph.sum([]).as_number(), Some(0.0));
    assert_eq!(graph.product([]).as_number(), Some(1.0));
}

const MILLION: usize = 1_000_000;

#[test]
fn a_sum_of_a_million_terms() {
    let graph = Graph::new();
    let x: Vec<_> = (0..MILLION).map(|i| graph.symbol(&format!("x{i}"))).collect();
    let sum = graph.sum(x.iter().map(|&x| x * x));
    assert_eq!(sum.operations(), 2 * MILLION - 1);
    let gradient = sum.gradient(&x);
    assert_eq!(operations(&gradient), MILLION);
    assert_eq!(gradient[MILLION / 2], 2.0 * x[MILLION / 2]);
    let values: Vec<_> = x.iter().map(|&x| (x, 1.0)).collect();
    assert_eq!(sum.eval(&values), Ok(MILLION as f64));
    assert!(sum.to_string().len() > MILLION);
}

#[test]
fn a_chain_of_a_million_operations() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let chain = (0..MILLION / 2).fold(x, |y, _| (y + x).sin());
    assert_eq!(chain.operations(), MILLION);
    let forward = jvp(&[chain], &[(x, graph.number(1.0))])[0];
    let reverse = chain.gradient(&[x])[0];
    let at = [(x, 1e-3)];
    let (forward, reverse) = (forward.eval(&at).unwrap(), reverse.eval(&at).unwrap());
    assert!((forward - reverse).abs() <= 1e-9 * forward.abs().max(1e-300), "{forward} {reverse}");
    let moved = chain.substitute(&[(x, graph.symbol("y"))]);
    assert_eq!(moved.operations(), MILLION);
    assert!(chain.to_string().len() > MILLION);
    assert!(chain.latex().len() > MILLION);
    assert!(c_function("chain", &[x], &[chain]).unwrap().len() > MILLION);
    assert!(rust_function("chain", &[x], &[chain]).unwrap().len() > MILLION);
}
