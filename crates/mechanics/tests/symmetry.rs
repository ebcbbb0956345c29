//! Brackets, conserved quantities and the facts recorded about a system; and how equations of motion are written.

use crate::common::{assert_close, run};
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Conserved, Equations, Model};

/// A planet in space, by its Hamiltonian.
fn kepler(graph: &Graph) -> Equations<'_> {
    let mut model = Model::new(graph);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    let [px, py, pz] = model.momenta(["px", "py", "pz"]);
    let [m, k] = model.parameters([("m", 1.3), ("k", 0.7)]);
    model.hamiltonian("motion", (px * px + py * py + pz * pz) / (2.0 * m));
    model.potential("pull", -k / (x * x + y * y + z * z).sqrt());
    model.equations().unwrap()
}

fn cross<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> [Expr<'g>; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[test]
fn brackets_of_coordinates_momenta_and_angular_momenta() {
    let graph = Graph::new();
    let kepler = kepler(&graph);
    let (q, p) = (&kepler.coordinates, &kepler.momenta);
    for i in 0..3 {
        for j in 0..3 {
            let expected = f64::from(u8::from(i == j));
            assert_eq!(kepler.bracket(q[i], p[j]).unwrap().as_number(), Some(expected));
            assert_eq!(kepler.bracket(q[i], q[j]).unwrap().as_number(), Some(0.0));
        }
    }
    let l = cross(q, p);
    for i in 0..3 {
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        let algebra = kepler.bracket(l[i], l[j]).unwrap();
        assert!(kepler.is_zero(algebra - l[k]), "{{L{i}, L{j}}} = L{k}");
        assert!(!kepler.is_zero(algebra + l[k]));
    }
}

#[test]
fn kepler_conserves_energy_angular_momentum_and_the_direction_of_its_axis() {
    let graph = Graph::new();
    let kepler = kepler(&graph);
    let h = kepler.hamiltonian().unwrap();
    let (q, p) = (&kepler.coordinates, &kepler.momenta);
    let l = cross(q, p);
    assert_eq!(kepler.is_conserved(q[0].floor()), None, "it jumps");
    let turned = cross(p, &l);
    let r = graph.sum(q.iter().map(|&x| x * x)).sqrt();
    let [m, k] = [kepler.parameters[0].0, kepler.parameters[1].0];
    for i in 0..3 {
        let axis = turned[i] - m * k * q[i] / r;
        for f in [l[i], axis] {
            assert!(kepler.is_zero(kepler.bracket(f, h).unwrap()));
            assert_eq!(kepler.is_conserved(f), Some(true));
        }
        assert_eq!(kepler.is_conserved(axis + 1e-6 * p[i]), Some(false));
        assert_eq!(kepler.is_conserved(q[i]), Some(false));
    }
    assert_eq!(kepler.is_conserved(h), Some(true));
    assert_eq!(kepler.conserved(), [Conserved::Energy]);
    assert!(kepler.is_separable());
}

#[test]
fn velocities_stand_in_brackets_for_what_they_are() {
    // For a charge in a magnetic field {m vx, m vy} = charge·B.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [vx, vy] = model.velocities([x, y]);
    let [m, b] = model.parameters([("m", 1.5), ("B", 2.0)]);
    model.kinetic("motion", m * (vx * vx + vy * vy) / 2.0);
    model.lagrangian("field", b * x * vy);
    let equations = model.equations().unwrap();
    let bracket = equations.bracket(m * vx, m * vy).unwrap();
    assert!(equations.is_zero(bracket - b), "{bracket}");
    assert_eq!(equations.cyclic(), [1]);
    // The rate of any expression, forces included, along the motion.
    assert!(equations.is_zero(equations.rate_of_change(m * vx).unwrap() - b * vy));
    assert!(equations.is_zero(equations.rate_of_change(model.time() * x).unwrap() - x - model.time() * vx));
}

#[test]
fn small_is_not_zero_and_undefined_is_not_zero() {
    let graph = Graph::new();
    let kepler = kepler(&graph);
    let x = kepler.coordinates[0];
    let expanded = (x + 1.0).pow(2.0) - x * x - 2.0 * x - 1.0;
    assert!(kepler.is_zero(expanded));
    assert!(!kepler.is_zero(expanded + 1e-9 * x));
    assert!(!kepler.is_zero(x - x.abs()), "zero only where x is positive");
    assert!(!kepler.is_zero((-1.0 - x * x).sqrt()), "defined nowhere");
}

/// What is claimed of a model: cyclic coordinates, conserved quantities, and whether it is separable.
fn claims(build: impl FnOnce(&mut Model<'_>)) -> (Vec<usize>, Vec<Conserved>, bool) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    build(&mut model);
    let equations = model.equations().unwrap();
    (equations.cyclic(), equations.conserved(), equations.is_separable())
}

#[test]
fn what_underflows_is_not_zero() {
    // A hydrogen molecule in SI units: the bond is flat to rounding at everyday distances.
    let bond = claims(|model| {
        let [mu, depth, a, re] =
            model.parameters([("mu", 1.6e-27), ("De", 7e-19), ("a", 5e-11), ("re", 7e-11)]);
        let r = model.coordinate("r");
        model.particle("atom", mu, [r]);
        model.potential("bond", depth * (1.0 - (-(r - re) / a).exp()).pow(2.0));
    });
    assert_eq!(bond, (vec![], vec![Conserved::Energy], true));
    let far = claims(|model| {
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bead", 1.0, [x, y]);
        model.potential("wall", (x - 100.0).max(0.0).pow(2.0) + (y - 1e6).exp());
    });
    assert_eq!(far, (vec![], vec![Conserved::Energy], true));
    // Flat, or noise, at everyday distances.
    for potential in [
        |x: Expr<'_>| (1e6 * x).tanh().to_string(),
        |x: Expr<'_>| (1e20 * x).cos().to_string(),
        |x: Expr<'_>| (1e9 - x * x).logistic().to_string(),
        |x: Expr<'_>| ((x - 1e7).pow(2.0).sqrt() + x).to_string(),
    ] {
        let (cyclic, ..) = claims(|model| {
            let x = model.coordinate("x");
            model.particle("bead", 1.0, [x]);
            let potential = model.graph().parse(&potential(x)).unwrap();
            model.potential("step", potential);
        });
        assert!(cyclic.is_empty());
    }
}

#[test]
fn branches_that_are_not_taken_count() {
    let stiffening = claims(|model| {
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        let late = model.number(10.0).lt(model.time());
        model.potential("spring", 0.5 * x * x * (1.0 + late.select(3.0, 0.0)));
    });
    assert_eq!(stiffening, (vec![], vec![], true));
    let mixed = claims(|model| {
        let x = model.coordinate("x");
        let p = model.momentum("p");
        model.hamiltonian("all", p * p / 2.0 + x * x / 2.0 + p * p * (x - 100.0).max(0.0));
    });
    assert_eq!(mixed, (vec![], vec![Conserved::Energy], false));
    // Derivatives do not see a jump.
    let stairs = claims(|model| {
        let x = model.coordinate("x");
        let p = model.momentum("p");
        model.hamiltonian("all", p * p / 2.0 * (2.0 + x.sign()) + x.floor());
    });
    assert_eq!(stairs, (vec![], vec![Conserved::Energy], false));
    // Whatever the branch, a force along the radius does not turn.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [vx, vy] = model.velocities([x, y]);
    model.particle("bead", 2.0, [x, y]);
    model.potential("shell", ((x * x + y * y).sqrt() - 100.0).max(0.0).pow(2.0));
    let equations = model.equations().unwrap();
    assert_eq!(equations.is_conserved(x * vy - y * vx), Some(true));
    assert_eq!(equations.is_conserved(vx), None, "no values tell where the shell begins");
    assert_eq!(equations.conserved(), [Conserved::Energy]);
}

#[test]
fn noether_needs_no_force_on_the_coordinate() {
    let graph = Graph::new();
    let base = || {
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("puck", 2.0, [x, y]);
        model
    };
    let [x, y] = graph.symbols(["x", "y"]);
    let conserved = |model: Model<'_>| {
        let system = model.system().unwrap();
        (system.facts().cyclic.clone(), system.conserved())
    };
    assert_eq!(conserved(base()), (vec![0, 1], vec!["energy".into(), "p_x".into(), "p_y".into()]));
    let mut model = base();
    model.dissipation("ice", 0.1 * model.velocity(x).pow(2.0));
    assert_eq!(conserved(model), (vec![0, 1], vec!["p_y".to_owned()]));
    let mut model = base();
    model.force(y, 1.0);
    assert_eq!(conserved(model), (vec![0, 1], vec!["p_x".to_owned()]));
    let mut model = base();
    model.potential("wave", (x - model.time()).cos());
    assert_eq!(conserved(model), (vec![1], vec!["p_y".to_owned()]));
}

#[test]
fn facts_are_read_from_the_expressions() {
    let graph = Graph::new();
    let facts = |build: fn(&mut Model<'_>)| {
        let mut model = Model::new(&graph);
        build(&mut model);
        model.system().unwrap().facts().clone()
    };
    let oscillator = facts(|model| {
        let x = model.coordinate("x");
        let p = model.momentum("p");
        // Written so that only values show that it separates: (p + x)² − 2xp.
        model.hamiltonian("all", (p + x).pow(2.0) - 2.0 * x * p);
    });
    assert!(oscillator.separable && oscillator.autonomous && oscillator.explicit);
    assert!(!oscillator.dissipative && !oscillator.forced);
    let mixed = facts(|model| {
        let x = model.coordinate("x");
        let p = model.momentum("p");
        model.hamiltonian("all", p * p / 2.0 + x * p);
    });
    assert!(!mixed.separable);
    let driven = facts(|model| {
        let x = model.coordinate("x");
        let v = model.velocity(x);
        model.particle("bead", 1.0, [x]);
        model.force(x, model.time().sin() - v);
    });
    assert!(driven.separable && !driven.autonomous && driven.forced && driven.forces_depend_on_velocities);
    assert!(!driven.dissipative && driven.conserved.is_empty());
}

#[test]
fn large_sparse_systems_are_written_out() {
    // Particles joined by springs: the mass matrix is diagonal however many there are.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let m = model.parameter("m", 2.0);
    let beads: Vec<_> = (0..200).map(|i| model.coordinate(&format!("x{i}"))).collect();
    for (i, &x) in beads.iter().enumerate() {
        model.particle(&format!("bead{i}"), m, [x]);
    }
    for (i, pair) in beads.windows(2).enumerate() {
        model.potential(&format!("spring{i}"), 3.0 * (pair[1] - pair[0]).pow(2.0) / 2.0);
    }
    // One cart carries all of them: an arrow of couplings, which fills in unless it is eliminated last.
    let cart = model.coordinate("cart");
    let v = model.velocity(cart);
    model.kinetic(
        "cart",
        v * v + beads.iter().fold(model.number(0.0), |sum, &x| sum + 0.01 * v * model.velocity(x)),
    );
    let system = model.system().unwrap();
    assert!(system.facts().explicit && system.facts().separable);
    let mut dynamics = system.dynamics().unwrap();
    let start = dynamics.start(&[("x0", 0.3), ("x100'", 1.0), ("cart'", 0.2)]).unwrap();
    let end = run(&mut dynamics, &start, 1.0, 100);
    assert_close(
        &[crate::common::energy(&mut dynamics, &end)],
        &[crate::common::energy(&mut dynamics, &start)],
        1e-9,
    );
    // The springs pull inside, and the cart is free: both total momenta stay.
    assert_eq!(system.conserved(), ["energy", "p_cart"]);
    assert_close(&[end.p[..200].iter().sum()], &[start.p[..200].iter().sum()], 1e-12);
}

#[test]
fn equations_are_written_as_text_and_latex() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g, c] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81), ("c", 0.1)]);
    let theta = model.coordinate("theta");
    let w = model.velocity(theta);
    model.kinetic("motion", m * l * l * w * w / 2.0);
    model.potential("weight", -m * g * l * theta.cos());
    model.dissipation("air", c * w * w / 2.0);
    let equations = model.equations().unwrap();
    assert_eq!(equations.to_string(), "m*l^2*theta'' = -c*theta' - m*l*g*sin(theta)");
    assert_eq!(
        equations.latex(),
        "\\begin{aligned}\n  m \\, l^{2} \\, \\ddot{\\theta} &= -c \\, \\dot{\\theta} - m \\, l \\, g \\, \\sin{\\theta}\n\\end{aligned}"
    );
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let p = model.momentum("p");
    model.hamiltonian("motion", p * p / (2.0 * m));
    model.potential("spring", g * x * x / 2.0);
    model.parameters([("m", 1.0), ("g", 2.0)]);
    assert_eq!(model.equations().unwrap().to_string(), "x' = p/m\np' = -g*x");
}

#[test]
fn constraints_and_their_forces_are_written_too() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81)]);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", m, [x, y]);
    model.gravity([model.number(0.0), -g]);
    model.constraint("rod", x * x + y * y, l * l);
    model.constraint("ice edge", model.velocity(x), y * model.velocity(y));
    assert_eq!(
        model.equations().unwrap().to_string(),
        "m*x'' = -2*x*lambda_rod - lambda_ice_edge\nm*y'' = -2*y*lambda_rod + y*lambda_ice_edge - m*g\n\
         x^2 + y^2 - l^2 = 0\nx' - y*y' = 0"
    );
    assert_eq!(
        model.equations().unwrap().latex(),
        "\\begin{aligned}\n  \
         m \\, \\ddot{x} &= -2 \\, x \\, \\lambda_{\\mathrm{rod}} - \\lambda_{\\mathrm{ice},\\mathrm{edge}} \\\\\n  \
         m \\, \\ddot{y} &= -2 \\, y \\, \\lambda_{\\mathrm{rod}} + y \\, \\lambda_{\\mathrm{ice},\\mathrm{edge}} - m \\, g \\\\\n  \
         x^{2} + y^{2} - l^{2} &= 0 \\\\\n  \\dot{x} - y\\,\\dot{y} &= 0\n\\end{aligned}"
    );

    // A Hamiltonian, and names that are taken already.
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [p, q] = model.momenta(["p", "q"]);
    let [a, b] = model.parameters([("lambda_a_b", 1.0), ("lambda_a_b_", 2.0)]);
    model.hamiltonian("motion", (p * p + q * q) / 2.0);
    model.constraint("a b", a * x, b * y);
    model.constraint("a-b", x, y);
    assert_eq!(
        model.equations().unwrap().to_string(),
        "x' = p\ny' = q\np' = -lambda_a_b*lambda_a_b__ - lambda_a_b___\nq' = lambda_a_b_*lambda_a_b__ + lambda_a_b___\n\
         x*lambda_a_b - y*lambda_a_b_ = 0\nx - y = 0"
    );
}

/// Angular momentum is conserved by constraints that turn along, and not by others; what holds only on the constraints is not claimed.
#[test]
fn constraints_conserve_what_they_do_not_pull_at() {
    for by_momenta in [false, true] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y, z] = model.coordinates(["x", "y", "z"]);
        let (spin, along) = if by_momenta {
            let [a, b, c] = model.momenta(["a", "b", "c"]);
            model.hamiltonian("motion", (a * a + b * b + c * c) / 2.0);
            (x * b - y * a, c)
        } else {
            model.particle("bead", 1.0, [x, y, z]);
            let [a, b, c] = model.velocities([x, y, z]);
            (x * b - y * a, c)
        };
        let bowl = {
            let mut bowl = model.clone();
            bowl.constraint("bowl", x * x + y * y, z);
            bowl.equations().unwrap()
        };
        assert_eq!(bowl.is_conserved(spin), Some(true));
        assert_eq!(bowl.is_conserved(along), None);
        assert_eq!(bowl.is_conserved(x * x + y * y - z), None, "it is, but only on the constraint");
        model.constraint("edge", x * x, z);
        let edge = model.equations().unwrap();
        assert_eq!(edge.is_conserved(spin), None);
        assert_eq!(edge.is_conserved(model.graph().number(2.0)), Some(true));
    }
}

#[test]
fn systems_are_shared_between_threads() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("bead", 1.0, [x]);
    model.potential("spring", x * x / 2.0);
    let system = model.system().unwrap();
    drop(model);
    let energies: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let system = system.clone();
                scope.spawn(move || {
                    let mut dynamics = system.dynamics().unwrap();
                    let start = dynamics.start(&[("x", 1.0)]).unwrap();
                    let end = run(&mut dynamics, &start, 1.0, 100);
                    crate::common::energy(&mut dynamics, &end)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(energies.iter().all(|e| *e == energies[0]));
}
