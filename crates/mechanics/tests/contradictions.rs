//! Constraints that cannot be met together, and how far projections reach where they can.

use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Dynamics, Model};
use leastaction_testing::Random;

/// A bead in a plane that must obey what `demand` says.
fn bead(demand: impl for<'g> Fn(&mut Model<'g>, [Expr<'g>; 2])) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let place = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, place);
    demand(&mut model, place);
    model.system().unwrap().dynamics().unwrap()
}

#[track_caller]
fn refused(dynamics: &mut Dynamics, start: &[(&str, f64)]) -> String {
    dynamics.start(start).unwrap_err().to_string()
}

/// The length of an axis that is held by sines and cosines is 1 but for rounding; a millionth of a millionth more is not.
#[test]
fn rounding_is_no_contradiction() {
    let held = |length: f64| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y, z, turn] = model.coordinates(["x", "y", "z", "turn"]);
        model.kinetic("spin", 0.5 * model.velocity(turn).pow(2));
        model.particle("tip", 1.0, [x, y, z]);
        let angle = std::f64::consts::FRAC_PI_4;
        model.constraint("x", x, angle.sin() * 0.6_f64.sin());
        model.constraint("y", y, angle.cos() * 0.6_f64.sin());
        model.constraint("z", z, 0.6_f64.cos());
        model.constraint("length", x * x + y * y + z * z, length);
        model.system().map(|_| ()).map_err(|error| error.to_string())
    };
    let sum = [0.6_f64.sin().powi(2) * 0.5, 0.6_f64.sin().powi(2) * 0.5, 0.6_f64.cos().powi(2)];
    assert!(sum.iter().sum::<f64>() - 1.0 < 1e-15);
    for length in [1.0, 1.0 + 4.0 * f64::EPSILON, 1.0 - 9.0 * f64::EPSILON] {
        assert_eq!(held(length), Ok(()));
    }
    assert!(held(1.0 + 1e-11).is_err_and(|error| error.contains("`length`")));
}

#[test]
fn constraints_that_contradict_each_other_are_named() {
    let mut circles = bead(|model, [x, y]| {
        model.constraint("inner", x * x + y * y, 1.0);
        model.constraint("outer", x * x + y * y, 4.0);
    });
    let error = refused(&mut circles, &[("x", 1.5)]);
    assert_eq!(
        error,
        "there is no such start: the constraints cannot be met near this state at t = 0: they contradict each other, or the state is \
         too far from what they allow (in the end they are violated: `inner` by 1.50e0, `outer` by -1.50e0)"
    );

    let mut apart = bead(|model, [x, y]| {
        model.constraint("line", x + y, 1.0);
        model.constraint("beside", x + y, 1.5);
    });
    let error = refused(&mut apart, &[("x", 0.5), ("y", 0.5)]);
    assert!(error.contains("`line`") && error.contains("`beside`"), "{error}");
    assert!(error.contains("cannot be met near this state at t = 0"), "{error}");

    // At t = 0 both lines are one, but one of them moves.
    let mut moving = bead(|model, [x, y]| {
        let t = model.time();
        model.constraint("line", x + y, 1.0);
        model.constraint("moving", 2.0 * x + 2.0 * y, 2.0 + t);
    });
    let error = refused(&mut moving, &[("x", 0.5), ("y", 0.5)]);
    assert!(error.contains("no velocities meet the constraints at t = 0: what they demand"), "{error}");
    assert!(error.contains("`line` by ") && error.contains("`moving` by "), "{error}");

    let mut nowhere = bead(|model, [x, y]| model.constraint("nowhere", x * x + y * y, -1.0));
    let error = refused(&mut nowhere, &[("x", 1.0)]);
    assert!(error.contains("`nowhere` by "), "{error}");

    // Of no length: the only point that it allows has no direction to be held in.
    let mut nothing = bead(|model, [x, y]| model.constraint("nothing", x * x + y * y, 0.0));
    let error = refused(&mut nothing, &[("x", 0.1)]);
    assert!(error.contains("`nothing` by "), "{error}");
}

/// Bars of 1 m do not reach over 4 m.
#[test]
fn a_loop_that_cannot_close_is_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b, c, d] = model.coordinates(["bx", "by", "cx", "cy"]);
    model.particle("B", 1.0, [a, b]);
    model.particle("C", 1.0, [c, d]);
    model.constraint("crank", a * a + b * b, 1.0);
    model.constraint("coupler", (c - a).pow(2.0) + (d - b).pow(2.0), 1.0);
    model.constraint("rocker", (c - 4.0).pow(2.0) + d * d, 1.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = refused(&mut dynamics, &[("bx", 1.0), ("by", 0.3), ("cx", 3.0), ("cy", 0.3)]);
    assert!(error.contains("cannot be met near this state"), "{error}");
    assert!(error.contains("`coupler`"), "{error}");
}

/// A search that runs away to infinity has not met the constraint, though infinity is no larger than infinity.
#[test]
fn what_leads_to_infinity_is_named() {
    let mut dynamics = bead(|model, [x, y]| model.constraint("steep", (5.0 * x).sin() + y.exp(), 1e5));
    let text = refused(&mut dynamics, &[("x", 1.0)]);
    assert!(text.contains("`steep`") && text.contains("cannot be met near this state"), "{text}");
}

/// Chains that hang from a point, and loops of four bars, displaced at random by parts of a link: how many of a hundred are brought back, by
/// how many corrections, and whether they then are met to rounding.
#[test]
fn projections_reach_from_moderate_distances() {
    let mut random = Random::new(5);
    for (closed, displaced, brought, corrections) in
        [(false, 0.05, 100, 6), (false, 0.3, 98, 10), (true, 0.05, 100, 7), (true, 0.2, 98, 10)]
    {
        let (mut reached, mut most) = (0, 0);
        for _ in 0..20 {
            let graph = Graph::new();
            let mut model = Model::new(&graph);
            let links = if closed { 3 } else { 5 };
            let mut at = [0.0, 0.0];
            let mut last = [graph.number(0.0), graph.number(0.0)];
            let mut q = Vec::new();
            for i in 0..links {
                let angle = random.between(-3.0, 3.0);
                let next = [at[0] + angle.sin(), at[1] - angle.cos()];
                let end_fixed = closed && i + 1 == links;
                let place = if end_fixed {
                    next.map(|x| graph.number(x))
                } else {
                    q.extend(next);
                    model.coordinates([&format!("x{i}"), &format!("y{i}")])
                };
                if !end_fixed {
                    model.particle(&format!("{i}"), 1.0 + i as f64, place);
                }
                let length = (place[0] - last[0]).pow(2.0) + (place[1] - last[1]).pow(2.0);
                model.constraint(&format!("link {i}"), length, 1.0);
                (last, at) = (place, next);
            }
            let mut dynamics = model.system().unwrap().dynamics().unwrap();
            for _ in 0..5 {
                let moved = q.iter().map(|q| q + displaced * random.between(-1.0, 1.0));
                let mut y: Vec<f64> = moved.chain(q.iter().map(|_| 0.0)).collect();
                let Ok(found) = dynamics.project(&[0.0], &mut y) else { continue };
                let mut values = vec![0.0; links];
                dynamics.constraint_values(&[0.0], &y, &mut values).unwrap();
                assert!(values.iter().all(|value| value.abs() < 1e-14), "{values:?}");
                reached += 1;
                most = most.max(found[0].iterations);
            }
        }
        assert!(
            reached >= brought && most <= corrections,
            "closed {closed} by {displaced}: {reached}, {most}"
        );
    }
}

/// In a chain that hangs still, each link carries what is below it; on its way, a pendulum's rod carries weight and centrifugal force.
#[test]
fn multipliers_are_forces() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mut last = [graph.number(0.0), graph.number(0.0)];
    let count = 20;
    for i in 0..count {
        let place = model.coordinates([&format!("x{i}"), &format!("y{i}")]);
        model.particle(&format!("{i}"), 0.1 + 0.05 * i as f64, place);
        let length = (place[0] - last[0]).pow(2.0) + (place[1] - last[1]).pow(2.0);
        model.constraint(&format!("link {i}"), length, 0.25);
        last = place;
    }
    model.gravity([0.0, -9.81]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let names: Vec<String> = (0..count).map(|i| format!("y{i}")).collect();
    let hanging: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), -0.5 * (i + 1) as f64)).collect();
    let start = dynamics.start(&hanging).unwrap();
    let mut multipliers = vec![0.0; count];
    dynamics.multipliers(&[0.0], &start.block(), &mut multipliers).unwrap();
    for (k, multiplier) in multipliers.iter().enumerate() {
        let below: f64 = (k..count).map(|i| 0.1 + 0.05 * i as f64).sum();
        // Φ = |r|² − l² pulls with 2λl.
        assert!((2.0 * multiplier * 0.5 - 9.81 * below).abs() < 1e-11, "link {k}: {multiplier}");
    }
}

/// A rod that is there twice carries half each time, and one of three times the slope a third of the multiplier.
#[test]
fn redundant_constraints_share_what_they_carry() {
    let mut twice = bead(|model, [x, y]| {
        model.gravity([0.0, -9.81]);
        model.constraint("rod", x * x + y * y, 1.0);
        model.constraint("again", 3.0 * (x * x + y * y), 3.0);
    });
    let start = twice.start(&[("y", -1.0)]).unwrap();
    let mut multipliers = [0.0; 2];
    twice.multipliers(&[0.0], &start.block(), &mut multipliers).unwrap();
    let [rod, again] = multipliers;
    assert!(
        (2.0 * rod - 9.81 / 2.0).abs() < 1e-13 && (6.0 * again - 9.81 / 2.0).abs() < 1e-13,
        "{rod} {again}"
    );
}
