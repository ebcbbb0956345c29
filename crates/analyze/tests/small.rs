//! Systems of few coordinates, against closed forms.

use leastaction_analyze::{AnalyzeError, ModeKind, Rigid, equilibrium, largest_frequency, modes};
use leastaction_expr::Graph;
use leastaction_mechanics::Model;

#[test]
fn double_pendulum_hangs_and_swings_by_its_two_modes() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let first = [a.sin(), -a.cos()];
    model.particle("first", 1.0, first);
    model.particle("second", 1.0, [first[0] + b.sin(), first[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = equilibrium(&mut dynamics, 0.0, &[2.0, 1.5]).unwrap();
    assert!(found.q.iter().all(|q| (q / std::f64::consts::TAU).sin().abs() < 1e-11), "{found:?}");
    assert!(found.is_stable() && (found.energy + 3.0 * 9.81).abs() < 1e-12, "{found:?}");
    let modes_found = modes(&mut dynamics, 0.0, &found.q, 5).unwrap();
    // ω² = g (2 ± √2) for equal masses and lengths.
    let expected = [2.0 - 2.0f64.sqrt(), 2.0 + 2.0f64.sqrt()].map(|x| (9.81 * x).sqrt());
    assert_eq!((modes_found.modes.len(), modes_found.freedom), (2, 2));
    for (mode, expected) in modes_found.modes.iter().zip(expected) {
        assert!((mode.frequency() - expected).abs() < 1e-10, "{} for {expected}", mode.frequency());
    }
    let fastest = largest_frequency(&mut dynamics, 0.0, &found.q, 1e-6).unwrap();
    assert!((fastest - expected[1]).abs() < 1e-5);

    // Upright, it stays where it is, and falls in two directions: exactly one of the modes is slower.
    let up = std::f64::consts::PI;
    let found = equilibrium(&mut dynamics, 0.0, &[up, up]).unwrap();
    assert_eq!((found.negative_modes, found.iterations), (2, 0));
    let growing = modes(&mut dynamics, 0.0, &found.q, 2).unwrap().modes;
    for (mode, expected) in growing.iter().rev().zip(expected) {
        assert!(mode.kind == ModeKind::Growing && (mode.growth() - expected).abs() < 1e-10);
    }
    // With one up and one down, it is a saddle.
    assert_eq!(equilibrium(&mut dynamics, 0.0, &[0.0, up]).unwrap().negative_modes, 1);
}

#[test]
fn a_pendulum_by_a_constraint_has_the_modes_of_one_by_an_angle() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 3.0, [x, y]);
    model.gravity([0.0, -9.81]);
    model.constraint("rod", x * x + y * y, 4.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = equilibrium(&mut dynamics, 0.0, &[1.9, 0.3]).unwrap();
    assert!(found.q[0].abs() < 1e-10 && (found.q[1] + 2.0).abs() < 1e-12 && found.is_stable(), "{found:?}");
    // −Gᵀλ carries the weight: −2y λ = m g.
    assert!((4.0 * found.multipliers[0] - 3.0 * 9.81).abs() < 1e-9, "{found:?}");
    let modes = modes(&mut dynamics, 0.0, &found.q, 3).unwrap();
    assert_eq!((modes.modes.len(), modes.freedom), (1, 1));
    assert!((modes.modes[0].frequency() - (9.81f64 / 2.0).sqrt()).abs() < 1e-9, "{modes:?}");
    // Upright it is unstable, as the curvature of the constraint says.
    let up = equilibrium(&mut dynamics, 0.0, &[0.0, 2.0]).unwrap();
    assert_eq!(up.negative_modes, 1);
}

#[test]
fn what_falls_without_end_has_no_equilibrium() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let y = model.coordinate("y");
    model.particle("stone", 1.0, [y]);
    model.gravity([-9.81]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = equilibrium(&mut dynamics, 0.0, &[1.0]).unwrap_err();
    assert!(matches!(error, AnalyzeError::Unbounded { .. }), "{error}");
}

#[test]
fn a_constant_force_is_balanced_and_one_that_turns_is_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.potential("spring", 2.0 * (x * x + y * y));
    let mut turning = model.clone();
    model.force(x, 8.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = equilibrium(&mut dynamics, 0.0, &[0.0, 1.0]).unwrap();
    assert!((found.q[0] - 2.0).abs() < 1e-12 && found.q[1].abs() < 1e-12, "{found:?}");
    turning.force(x, y);
    let mut dynamics = turning.system().unwrap().dynamics().unwrap();
    let error = equilibrium(&mut dynamics, 0.0, &[0.0, 1.0]).unwrap_err();
    assert!(matches!(error, AnalyzeError::NotConservative { .. }), "{error}");
}

#[test]
fn a_force_that_changes_with_time_leaves_no_rest() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let t = model.time();
    model.particle("bead", 1.0, [x]);
    model.potential("spring", 2.0 * x * x);
    model.force(x, t.sin());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = equilibrium(&mut dynamics, 0.0, &[0.5]).unwrap_err();
    assert!(matches!(error, AnalyzeError::Moving { .. }), "{error}");
}

#[test]
fn a_charge_in_a_magnetic_field_circles() {
    // L = v²/2 + B (x y' − y x')/2 − k (x² + y²)/2: ω = √(B²/4 + k) ± B/2.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [vx, vy] = [x, y].map(|q| model.velocity(q));
    let (b, k) = (3.0, 2.0);
    model.lagrangian(
        "charge",
        0.5 * (vx * vx + vy * vy) + 0.5 * b * (x * vy - y * vx) - 0.5 * k * (x * x + y * y),
    );
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = equilibrium(&mut dynamics, 0.0, &[0.4, -0.3]).unwrap();
    let modes = modes(&mut dynamics, 0.0, &found.q, 2).unwrap();
    let spirals = modes.spirals.unwrap();
    let root = (b * b / 4.0 + k).sqrt();
    for (spiral, expected) in spirals.iter().zip([root - b / 2.0, root + b / 2.0]) {
        assert!((spiral.frequency - expected).abs() < 1e-10 && spiral.growth.abs() < 1e-10, "{spiral:?}");
    }
}

#[test]
fn damping_shows_as_decay() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let v = model.velocity(x);
    model.particle("bead", 2.0, [x]);
    model.potential("spring", 4.0 * x * x);
    model.dissipation("drag", 0.3 * v * v);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let modes = modes(&mut dynamics, 0.0, &[0.0], 1).unwrap();
    assert!((modes.modes[0].frequency() - 2.0).abs() < 1e-12);
    let spiral = &modes.spirals.unwrap()[0];
    // m = 2, c = 0.6: σ = c/2m, ω² = k/m − σ².
    assert!(
        (spiral.growth + 0.15).abs() < 1e-12 && (spiral.frequency - (4.0f64 - 0.0225).sqrt()).abs() < 1e-12
    );
}

#[test]
fn a_collapse_is_no_equilibrium() {
    // Two bodies that attract fall into each other.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("one", 1.0, [x]);
    model.particle("other", 1e-3, [y]);
    model.potential("gravity", -1e-6 / ((x - y).pow(2)).sqrt());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = equilibrium(&mut dynamics, 0.0, &[0.0, 30.0]).unwrap_err();
    assert!(matches!(error, AnalyzeError::Unbounded { .. }), "{error}");
}

#[test]
fn what_nothing_holds_is_free() {
    // A mass on a rail, with a pendulum: the rail holds nothing, and rounding is no spring.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, a] = model.coordinates(["x", "a"]);
    model.particle("cart", 1.0, [x, graph.number(0.0)]);
    model.particle("bob", 0.5, [x + a.sin(), -a.cos()]);
    model.gravity([0.0, -9.81]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = equilibrium(&mut dynamics, 0.0, &[0.3, 1.0]).unwrap();
    let modes = found.modes(&mut dynamics, 0.0, 2).unwrap();
    assert_eq!(modes.modes[0].kind, ModeKind::Free);
    assert_eq!((modes.rigid.translations, modes.rigid.others), (vec![0], 0));
    assert!((modes.modes[1].frequency() - (9.81f64 * 1.5).sqrt()).abs() < 1e-10);
}

/// The bottom of x⁴ has no frequency, wherever the search ends; that of x² + x⁴ has one.
#[test]
fn a_stiffness_that_vanishes_is_reported() {
    let steady = |square: f64| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        model.potential("bowl", square * x * x / 2.0 + x.pow(4));
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let rest = equilibrium(&mut dynamics, 0.0, &[1.0]).unwrap();
        let modes = rest.modes(&mut dynamics, 0.0, 1).unwrap().modes;
        modes.iter().all(|mode| mode.steady && mode.kind == ModeKind::Vibration)
    };
    assert!(steady(1.0) && !steady(0.0));
}

/// Where a search from a place ends, in a potential of two coordinates with masses 1.
fn rest_of(
    start: [f64; 2],
    potential: impl for<'g> Fn(
        &'g Graph,
        leastaction_expr::Expr<'g>,
        leastaction_expr::Expr<'g>,
    ) -> leastaction_expr::Expr<'g>,
) -> Result<leastaction_analyze::Equilibrium, AnalyzeError> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("one", 1.0, [x]);
    model.particle("other", 1.0, [y]);
    model.potential("given", potential(&graph, x, y));
    equilibrium(&mut model.system().unwrap().dynamics().unwrap(), 0.0, &start)
}

#[test]
fn a_soft_coordinate_is_found_next_to_a_stiff_one() {
    for stiff in [1.0, 1e6, 1e10, 1e12, 1e15] {
        let found = rest_of([7.0, 7.0], |_, x, y| stiff * (x - 1.0).pow(2) + (y - 2.0).pow(2)).unwrap();
        assert!(
            (found.q[0] - 1.0).abs() < 1e-9 && (found.q[1] - 2.0).abs() < 1e-9 && found.is_stable(),
            "{stiff}: {found:?}"
        );
        // Weights on springs.
        let found =
            rest_of([0.1, 0.1], |_, x, y| 0.5 * stiff * x * x + 0.5 * y * y - 9.81 * x - 9.81 * y).unwrap();
        assert!((found.q[0] * stiff / 9.81 - 1.0).abs() < 1e-9, "{stiff}: {found:?}");
        assert!((found.q[1] - 9.81).abs() < 1e-8, "{stiff}: {found:?}");
    }
}

/// A weight on a soft spring, with another mass on a stiff one: forces are known to 1e-16 of the stiff one.
#[test]
fn a_soft_motion_of_what_is_stiff_is_found() {
    for stiff in [1.0, 1e6, 1e9, 1e11] {
        let found =
            rest_of([7.0, 6.0], |_, x, y| 0.5 * stiff * (x - y).pow(2) + 0.5 * y * y - 9.81 * y).unwrap();
        let close = |q: f64| (q - 9.81).abs() < 1e-9 + 1e-14 * stiff;
        assert!(found.q.iter().all(|q| close(*q)), "{stiff}: {found:?}");
    }
}

#[test]
fn a_force_that_fades_is_no_balance() {
    let fades = [
        rest_of([0.0, 0.0], |_, x, y| (-x).exp() + y * y),
        rest_of([0.0, 1.0], |_, x, y| 1.0 / (x - y).pow(2).sqrt()),
        rest_of([0.3, 1.0], |_, x, y| 1.0 / (x * x + y * y).sqrt()),
    ];
    for found in fades {
        let error = found.unwrap_err();
        assert!(
            matches!(error, AnalyzeError::Unbounded { .. } | AnalyzeError::NotConverged { .. }),
            "{error}"
        );
    }
}

#[test]
fn all_motions_that_cost_no_energy_are_counted() {
    // A rope of 21 springs that are not stretched: each of 20 knots is free across it, in two directions.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let knots: Vec<[_; 3]> = (0..20)
        .map(|i| {
            model.coordinates(
                [format!("x{i}"), format!("y{i}"), format!("z{i}")].each_ref().map(String::as_str),
            )
        })
        .collect();
    knots.iter().enumerate().for_each(|(i, knot)| model.particle(&format!("knot {i}"), 1.0, *knot));
    let at = |x: f64| [graph.number(x), graph.number(0.0), graph.number(0.0)];
    let all: Vec<_> = std::iter::once(at(0.0)).chain(knots).chain([at(21.0)]).collect();
    let springs = all.windows(2).map(|ends| {
        let [x, y, z] = [0, 1, 2].map(|i| ends[1][i] - ends[0][i]);
        50.0 * ((x * x + y * y + z * z).sqrt() - 1.0).pow(2)
    });
    model.potential("springs", graph.sum(springs.collect::<Vec<_>>()));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start: Vec<f64> = (1..=20).flat_map(|i| [f64::from(i), 0.0, 0.0]).collect();
    for count in [1, 6, 10, 50] {
        let found = modes(&mut dynamics, 0.0, &start, count).unwrap();
        let Rigid { translations, rotations, others } = &found.rigid;
        assert_eq!(translations.len() + rotations.len() + others, 40, "{:?}", found.rigid);
        assert!(!found.more_free && found.modes.len() == count);
    }
}
