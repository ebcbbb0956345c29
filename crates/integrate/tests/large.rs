//! Implicit methods for systems of thousands of coordinates, at steps that are long for their fastest motion: nothing is dense.

use crate::common::distance;
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Work};
use leastaction_mechanics::{Dynamics, Model, State};
use leastaction_testing::allocated_bytes;

/// Masses between walls, joined by springs of stiffness k that harden, pushed in the shape of the slowest oscillation.
fn chain(count: usize, stiffness: f64) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q: Vec<_> = (0..count).map(|i| model.coordinate(&format!("q{i}"))).collect();
    let wall = graph.number(0.0);
    for (i, &q) in q.iter().enumerate() {
        model.particle(&format!("m{i}"), 1.0, [q]);
    }
    for i in 0..=count {
        let stretch = q.get(i).copied().unwrap_or(wall) - if i == 0 { wall } else { q[i - 1] };
        let square = stretch * stretch;
        model.potential(&format!("spring{i}"), stiffness * (0.5 * square + 2e4 * square * square));
    }
    let dynamics = model.system().unwrap().dynamics().unwrap();
    let angle = |i: usize| std::f64::consts::PI * (i + 1) as f64 / (count + 1) as f64;
    let p = (0..count).map(|i| angle(i).sin()).collect();
    (dynamics, State { t: 0.0, q: vec![0.0; count], p })
}

/// What a run takes: the error of its end, relative to how far it went, and the bytes allocated per coordinate.
fn measure(
    name: &str,
    h: f64,
    dynamics: &mut Dynamics,
    start: &State,
    end: f64,
    reference: &[f64],
) -> (f64, Work) {
    let run = Integrator::named(name, h).unwrap().ends_only();
    // The first run compiles what is needed.
    run.run(dynamics, start, h).unwrap();
    let before = allocated_bytes();
    let trajectory = run.run(dynamics, start, end).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (bytes, work) = ((allocated_bytes() - before) / start.q.len() as u64, trajectory.work());
    let error = distance(&trajectory.end().block(), reference) / distance(reference, &start.block());
    println!("{name}: {error:.1e}, {bytes} bytes per coordinate, {work:?}");
    // A Jacobian of all entries would have 128 thousand bytes per coordinate.
    assert!(bytes < 16_000, "{name}: {bytes} bytes per coordinate");
    (error, work)
}

fn reference(dynamics: &mut Dynamics, start: &State, end: f64) -> Vec<f64> {
    let run = Integrator::named("blanes-moan6", 5e-3).unwrap().ends_only();
    run.run(dynamics, start, end).unwrap().end().block()
}

/// Steps ten times as long as explicit methods bear end where steps a hundred times as short do, in memory in proportion to the length.
#[test]
fn long_chains_take_long_steps_in_little_memory() {
    let (mut dynamics, pushed) = chain(2000, 1e4);
    let reference = reference(&mut dynamics, &pushed, 1.0);
    let methods = [
        ("implicit-midpoint", 1e-4),
        ("gauss4", 1e-7),
        ("radau5", 1e-6),
        ("average-vector-field", 1e-4),
        ("energy-collocation4", 1e-7),
        ("discrete-gradient", 1e-4),
    ];
    for (name, most) in methods {
        let (error, work) = measure(name, 0.1, &mut dynamics, &pushed, 1.0, &reference);
        assert!(work.jacobians > 0, "{name} should need Newton's method");
        assert!(error < most, "{name}: {error:e}");
    }
}

/// Let go at rest, too: there momenta are small for a while, and forces are known only as well as rounding of the coordinates allows.
#[test]
fn long_chains_are_let_go_at_rest() {
    let (mut dynamics, pushed) = chain(2000, 1e4);
    let q = pushed.p.iter().map(|p| 0.3 * p).collect();
    let start = State { t: 0.0, q, p: vec![0.0; 2000] };
    let reference = reference(&mut dynamics, &start, 0.3);
    for (name, most) in [("implicit-midpoint", 1e-3), ("gauss4", 1e-7), ("energy-collocation4", 1e-7)] {
        let (error, _) = measure(name, 0.1, &mut dynamics, &start, 0.3, &reference);
        assert!(error < most, "{name}: {error:e}");
    }
}

/// Methods that are not for stiff systems take the same chain by short steps, in as little memory.
#[test]
fn long_chains_take_short_steps_in_little_memory() {
    let (mut dynamics, pushed) = chain(2000, 1e4);
    let reference = reference(&mut dynamics, &pushed, 0.1);
    let methods = [
        ("lobatto-pair4", 1e-8),
        ("variational-midpoint", 1e-6),
        ("variational4", 1e-8),
        ("gauss-spark4", 1e-8),
        ("tao2", 1e-3),
        ("tao4", 1e-5),
    ];
    for (name, most) in methods {
        let (error, _) = measure(name, 2e-3, &mut dynamics, &pushed, 0.1, &reference);
        assert!(error < most, "{name}: {error:e}");
    }
}

/// Pendulums on stiff springs, so many that constraint forces are not written out.
fn pendulums(count: usize) -> (Dynamics, State) {
    let graph = Graph::new();
    let (mut model, mut q) = (Model::new(&graph), Vec::new());
    for k in 0..count {
        let [x, y] = ["x", "y"].map(|name| model.coordinate(&format!("{name}{k}")));
        model.particle(&format!("m{k}"), 1.0, [x, y]);
        model.potential(&format!("spring{k}"), 2e3 * (x - 1.0) * (x - 1.0) + 3e3 * y * y);
        model.constraint(&format!("rod{k}"), x * x + y * y, 1.0);
        let angle = 0.1 * (k as f64 + 1.0).sin();
        q.extend([angle.cos(), angle.sin()]);
    }
    (model.system().unwrap().dynamics().unwrap(), State { t: 0.0, p: vec![0.0; q.len()], q })
}

/// Where only products with the Jacobian are known, Newton's method solves the same equations as where all of it is.
#[test]
fn systems_without_a_pattern_are_solved_by_products() {
    let (mut one, start_of_one) = pendulums(1);
    let (mut many, start) = pendulums(600);
    for name in ["implicit-midpoint", "gauss4"] {
        let run = Integrator::named(name, 0.1).unwrap().ends_only();
        let alone = run.run(&mut one, &start_of_one, 0.5).unwrap();
        let together = run.run(&mut many, &start, 0.5).unwrap();
        assert!(alone.work().jacobians > 0, "{name} should need Newton's method");
        assert_eq!(together.work().jacobians, 0);
        let (alone, together) = (alone.end(), together.end());
        let off = distance(&alone.q, &together.q[..2]).max(distance(&alone.p, &together.p[..2]));
        assert!(off < 1e-8, "{name}: {off:e}");
    }
}

/// A cube of masses, each joined to its neighbours and the walls by springs: its Jacobian fills in so much that factors are made in blocks. Of an
/// oscillation of frequency ω the implicit midpoint rule makes one that turns by 2 atan(hω/2) in each step.
#[test]
fn meshes_oscillate_as_the_midpoint_rule_says() {
    let (side, stiffness, h) = (9, 1e6, 0.01);
    let count = side * side * side;
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q: Vec<_> = (0..count).map(|i| model.coordinate(&format!("q{i}"))).collect();
    let wall = graph.number(0.0);
    for (i, &q) in q.iter().enumerate() {
        model.particle(&format!("m{i}"), 1.0, [q]);
    }
    let place = |[x, y, z]: [usize; 3]| (x * side + y) * side + z;
    let points = (0..count).map(|i| [i / (side * side), i / side % side, i % side]);
    for (point, axis) in points.flat_map(|point| (0..3).map(move |axis| (point, axis))) {
        let here = q[place(point)];
        let mut next = point;
        next[axis] += 1;
        let there = if next[axis] < side { q[place(next)] } else { wall };
        let mut square = (here - there) * (here - there);
        if point[axis] == 0 {
            square += here * here;
        }
        model.potential(&format!("spring{}-{axis}", place(point)), 0.5 * stiffness * square);
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let angle = |i: usize| std::f64::consts::PI * i as f64 / (side + 1) as f64;
    let shape = |i: usize| {
        let [x, y, z] = [i / (side * side) + 1, i / side % side + 1, i % side + 1];
        angle(2 * x).sin() * angle(y).sin() * angle(5 * z).sin()
    };
    let cosines: f64 = [2, 1, 5].into_iter().map(|mode| angle(mode).cos()).sum();
    let omega = (stiffness * (6.0 - 2.0 * cosines)).sqrt();
    let start = State { t: 0.0, q: (0..count).map(shape).collect(), p: vec![0.0; count] };
    let run = Integrator::named("implicit-midpoint", h).unwrap().ends_only();
    let trajectory = run.run(&mut dynamics, &start, 20.0 * h).unwrap();
    assert!(trajectory.work().jacobians > 0, "Newton's method should be needed");
    let turned = (20.0 * 2.0 * (0.5 * h * omega).atan()).cos();
    let exact: Vec<f64> = start.q.iter().map(|q| turned * q).collect();
    let off = distance(&trajectory.end().q, &exact);
    assert!(off < 1e-10, "{off:e}");
}
