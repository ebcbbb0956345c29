//! Implicit methods for systems of thousands of coordinates, at steps that are long for their fastest motion: nothing is dense.

use crate::common::distance;
use leastaction_expr::Graph;
use leastaction_integrate::Integrator;
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

/// A step ten times as long as explicit methods bear ends where steps a hundred times as short do, in memory in proportion to the length.
#[test]
fn long_chains_take_long_steps_in_little_memory() {
    let (count, stiffness) = (2000, 1e4);
    let (mut dynamics, start) = chain(count, stiffness);
    let end = 1.0;
    let reference = Integrator::named("blanes-moan6", 5e-3).unwrap().ends_only();
    let reference = reference.run(&mut dynamics, &start, end).unwrap().end().block();
    for (name, most) in [("implicit-midpoint", 1e-4), ("gauss4", 1e-7), ("radau5", 1e-6)] {
        let run = Integrator::named(name, 0.1).unwrap().ends_only();
        // The first run compiles what is needed.
        run.run(&mut dynamics, &start, 0.1).unwrap();
        let before = allocated_bytes();
        let trajectory = run.run(&mut dynamics, &start, end).unwrap();
        let (bytes, work) = (allocated_bytes() - before, trajectory.work());
        let error = distance(&trajectory.end().block(), &reference) / distance(&reference, &start.block());
        println!("{name}: {error:.1e}, {} bytes per coordinate, {work:?}", bytes / count as u64);
        assert!(work.jacobians > 0, "{name} should need Newton's method");
        assert!(error < most, "{name}: {error:e}");
        // A Jacobian of all entries would have 128 thousand bytes per coordinate.
        assert!(bytes < 8_000 * count as u64, "{name}: {bytes} bytes");
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
