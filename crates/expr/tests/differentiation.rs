//! Forward, reverse, sparse and repeated derivatives against each other and against closed forms.

use leastaction_expr::{
    Direction, Entry, Expr, Graph, Substitution, Variables, jacobian, jvp, operations, vjp,
};

/// Kinetic less potential energy of a chain of unit pendulums, by positions and velocities.
fn chain_energy<'g>(graph: &'g Graph, n: usize) -> (Vec<Expr<'g>>, Vec<Expr<'g>>, Expr<'g>) {
    let angles: Vec<_> = (0..n).map(|i| graph.symbol(&format!("q{i}"))).collect();
    let rates: Vec<_> = angles.iter().filter_map(|q| q.dot()).collect();
    let (mut x, mut y, mut positions, mut potential) =
        (graph.number(0.0), graph.number(0.0), Vec::new(), graph.number(0.0));
    for q in &angles {
        x += q.sin();
        y -= q.cos();
        positions.extend([x, y]);
        potential += 9.81 * y;
    }
    let along: Vec<_> = angles.iter().copied().zip(rates.iter().copied()).collect();
    let kinetic = 0.5 * graph.sum(jvp(&positions, &along).into_iter().map(|v| v * v));
    (angles, rates, kinetic - potential)
}

/// Values for the given symbols that are neither special nor alike.
fn point<'g>(symbols: &[Expr<'g>]) -> Vec<(Expr<'g>, f64)> {
    symbols.iter().enumerate().map(|(i, &s)| (s, 0.3 + 0.37 * i as f64 - 0.05 * (i * i) as f64)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn a_gradient_costs_at_most_four_times_the_function() {
    let graph = Graph::new();
    let (angles, rates, energy) = chain_energy(&graph, 20);
    let variables: Vec<_> = angles.into_iter().chain(rates).collect();
    let gradient = energy.gradient(&variables);
    let (function, derivative) = (energy.operations(), operations(&gradient));
    println!(
        "20-link pendulum: {function} operations, gradient by {} variables {derivative}",
        variables.len()
    );
    assert!(derivative <= 4 * function, "{derivative} operations for {function}");
}

#[test]
fn forward_and_reverse_agree() {
    let graph = Graph::new();
    let (angles, rates, energy) = chain_energy(&graph, 4);
    let variables: Vec<_> = angles.iter().chain(&rates).copied().collect();
    let values = point(&variables);
    let reverse = energy.gradient(&variables);
    for (variable, slope) in variables.iter().zip(&reverse) {
        let forward = energy.derivative(*variable).eval(&values).unwrap();
        assert!(close(forward, slope.eval(&values).unwrap()));
    }
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    let graph = Graph::new();
    let (angles, rates, energy) = chain_energy(&graph, 3);
    let variables: Vec<_> = angles.iter().chain(&rates).copied().collect();
    let values = point(&variables);
    for (i, slope) in energy.gradient(&variables).iter().enumerate() {
        let at = |step: f64| {
            let mut moved = values.clone();
            moved[i].1 += step;
            energy.eval(&moved).unwrap()
        };
        // Fourth-order central difference: error about h⁴ + ε/h.
        let h = 1e-3;
        let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert!((difference - slope.eval(&values).unwrap()).abs() < 1e-9);
    }
}

#[test]
fn jacobians_agree_whichever_way_they_are_made() {
    let graph = Graph::new();
    let [x, y, z] = graph.symbols(["x", "y", "z"]);
    let tall = [x * y, y.sin(), z.exp() / x, graph.number(3.0)];
    let by_forward = jacobian(&tall, &[x, y, z]);
    let places: Vec<_> = by_forward.iter().map(|e| (e.row, e.column)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 1), (2, 0), (2, 2)]);
    let values = point(&[x, y, z]);
    for Entry { row, column, value } in by_forward {
        let by_reverse = jacobian(&tall[row..=row], &[x, y, z]);
        let same = by_reverse.iter().find(|e| e.column == column).unwrap();
        assert!(close(value.eval(&values).unwrap(), same.value.eval(&values).unwrap()));
    }
}

#[test]
fn a_hessian_is_sparse_symmetric_and_multiplies_vectors() {
    let graph = Graph::new();
    let variables: Vec<_> = (0..30).map(|i| graph.symbol(&format!("x{i}"))).collect();
    let chain = graph.sum(variables.windows(2).map(|w| (w[0] - w[1]).pow(4.0)));
    let hessian = chain.hessian(&variables);
    assert_eq!(hessian.len(), 30 + 29, "a chain of springs couples neighbours only");
    assert!(hessian.iter().all(|e| e.column <= e.row));

    let directions: Vec<_> = (0..30).map(|i| graph.symbol(&format!("v{i}"))).collect();
    let product = chain.hessian_vector(&variables, &directions);
    let mut values = point(&variables);
    values.extend(directions.iter().enumerate().map(|(i, &v)| (v, (i as f64).cos())));
    let mut expected = vec![0.0; 30];
    for Entry { row, column, value } in hessian {
        let h = value.eval(&values).unwrap();
        expected[row] += h * (column as f64).cos();
        if row != column {
            expected[column] += h * (row as f64).cos();
        }
    }
    for (entry, expected) in product.iter().zip(expected) {
        assert!(close(entry.eval(&values).unwrap(), expected));
    }
}

#[test]
fn third_and_higher_derivatives_by_repetition() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let mut derivative = (2.0 * x).exp() * x;
    for _ in 0..5 {
        derivative = derivative.derivative(x);
    }
    // d⁵/dx⁵ (x e^{2x}) = (32 x + 80) e^{2x}
    let found = derivative.eval(&[(x, 0.7)]).unwrap();
    assert!(close(found, (32.0 * 0.7 + 80.0) * 1.4f64.exp()), "{found}");
}

#[test]
fn seeds_weigh_outputs() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let sum = vjp(&[x * y, x + y], &[x, y], &[graph.number(2.0), graph.number(3.0)]);
    assert_eq!(sum, [2.0 * y + 3.0, 2.0 * x + 3.0]);
}

#[test]
fn a_subexpression_can_be_the_variable() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let u = x.sin();
    assert_eq!((u * u).derivative(u), 2.0 * u);
    assert_eq!((u * u).gradient(&[u]), [2.0 * u]);
}

#[test]
fn what_is_looked_up_once_gives_the_same_as_one_by_one() {
    let graph = Graph::new();
    let (angles, rates, energy) = chain_energy(&graph, 5);
    let gradient = energy.gradient(&angles);
    let pairs: Vec<_> = angles.iter().copied().zip(rates.iter().copied()).collect();
    let direction = Direction::new(&graph, pairs.iter().copied());
    let variables = Variables::new(&graph, &angles);
    for &slope in &gradient {
        assert_eq!(direction.derivatives(&[slope]), jvp(&[slope], &pairs));
        assert_eq!(variables.jacobian(&[slope]), jacobian(&[slope], &angles));
        let dense = slope.gradient(&angles).into_iter().enumerate();
        let nonzero: Vec<_> = dense.filter(|(_, value)| value.as_number() != Some(0.0)).collect();
        assert_eq!(variables.gradient(slope), nonzero);
    }
    assert!(variables.gradient(graph.symbol("other")).is_empty());
    // A variable that is named twice has two columns.
    let [x, y] = graph.symbols(["x", "y"]);
    let twice = Variables::new(&graph, &[x, y, x]);
    assert_eq!(twice.gradient(x * y), [(0, y), (1, x), (2, y)]);
    assert_eq!(twice.jacobian(&[x * y, y]).len(), 4);

    let mut substitution = Substitution::new(&graph);
    pairs.iter().for_each(|&(from, to)| substitution.replace(from, to));
    for &slope in &gradient {
        assert_eq!(substitution.apply(&[slope]), [slope.substitute(&pairs)]);
    }
    substitution.replace(x, y);
    substitution.replace(x, 2.0 * y);
    assert_eq!(substitution.apply(&[x + y, y]), [3.0 * y, y]);
}
