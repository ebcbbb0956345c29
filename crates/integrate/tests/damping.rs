//! Linear damping: closed forms, and what is refused.

use crate::common::{begin, distance};
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::Integrator;
use leastaction_mechanics::Model;

/// x″ + 2δx′ + ω²x = 0 is x = e^{−δt} (x₀ cos νt + (v₀ + δx₀)/ν sin νt), ν² = ω² − δ².
#[test]
fn a_damped_oscillator_decays_as_it_should() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 0.5, [x]);
    model.potential("spring", 2.0 * x * x);
    model.dissipation("friction", 0.2 * model.velocity(x).pow(2.0));
    let (mut dynamics, start) = begin(&model, &[("x", 1.0), ("x'", -0.3)]);
    let (delta, t) = (0.4_f64, 5.0);
    let nu = (8.0 - delta * delta).sqrt();
    let exact = (-delta * t).exp() * ((nu * t).cos() + (delta - 0.3) / nu * (nu * t).sin());
    for (name, step, bound) in [("conformal2", 0.001, 2e-6), ("conformal4", 0.01, 1e-7)] {
        let end = Integrator::named(name, step).unwrap().run(&mut dynamics, &start, t).unwrap().end();
        assert!((end.q[0] - exact).abs() < bound, "{name}: {} for {exact}", end.q[0]);
    }
}

/// With Γ = γ·1 angular momentum is L₀ e^{−γt}, to rounding, whatever the step, also a last one that is shorter.
#[test]
fn angular_momentum_decays_exactly() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", 1.0, [x, y]);
    model.potential("spring", (x * x + y * y).pow(2.0));
    let [u, v] = model.velocities([x, y]);
    let gamma = model.parameter("gamma", 0.2);
    model.dissipation("friction", 0.5 * gamma * (u * u + v * v));
    let (mut dynamics, start) = begin(&model, &[("x", 1.0), ("y'", 1.5)]);
    dynamics.set_parameter("gamma", 0.1).unwrap();
    let spin = |y: &[f64]| y[0] * y[3] - y[1] * y[2];
    for name in ["conformal2", "conformal4"] {
        let run = Integrator::named(name, 0.1).unwrap().run(&mut dynamics, &start, 20.03).unwrap();
        for (t, y) in run.samples() {
            let expected = 1.5 * (-0.1 * t).exp();
            assert!((spin(y) - expected).abs() < 4e-15, "{name}: {} for {expected}", spin(y));
        }
    }
}

/// Dampers between masses: Γ is a full matrix, and the motion is that of a Runge–Kutta method.
#[test]
fn dampers_may_couple_masses() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q = model.coordinates(["x", "y", "z"]);
    let v = model.velocities(q);
    for (k, name) in ["one", "two", "three"].into_iter().enumerate() {
        model.particle(name, 1.0 + 0.5 * k as f64, [q[k]]);
        model.potential(name, 0.5 * q[k].pow(2.0) + 0.1 * q[k].pow(4.0));
    }
    model.dissipation("left", 0.3 * (v[1] - v[0]).pow(2.0));
    model.dissipation("right", 0.7 * (v[2] - v[1]).pow(2.0));
    let (mut dynamics, start) = begin(&model, &[("x", 1.0), ("z", -0.5), ("y'", 0.4)]);
    let mut gamma = [0.0; 9];
    dynamics.damping(&mut gamma).unwrap();
    // C M⁻¹, with C = (0.6, −0.6, 0; −0.6, 2, −1.4; 0, −1.4, 1.4) and masses 1, 1.5, 2.
    let expected = [0.6, -0.4, 0.0, -0.6, 2.0 / 1.5, -0.7, 0.0, -1.4 / 1.5, 0.7];
    assert!(distance(&gamma, &expected) < 1e-15);
    let end = |name: &str, step: f64, dynamics: &mut _| {
        Integrator::named(name, step).unwrap().ends_only().run(dynamics, &start, 3.0).unwrap().end().block()
    };
    let exact = end("rk4", 1e-4, &mut dynamics);
    let errors = [0.02, 0.01].map(|step| distance(&end("conformal4", step, &mut dynamics), &exact));
    let order = (errors[0] / errors[1]).log2();
    assert!(errors[0] < 1e-6 && (order - 4.0).abs() < 0.2, "{errors:?}, order {order}");
}

/// Other friction is refused, with a method that would do: drag that is quadratic, dry friction, and rates that depend on time or
/// place.
#[test]
fn other_friction_is_refused() {
    type Friction = for<'g> fn(Expr<'g>, Expr<'g>, Expr<'g>) -> Expr<'g>;
    let frictions: [Friction; 4] = [
        |v, _, _| (v * v + 1e-3).pow(1.5),
        |v, _, _| 0.5 * v * v + 0.1 * v.abs(),
        |v, _, t| 0.5 * v * v * (1.0 + 0.1 * t.sin()),
        |v, x, _| 0.5 * v * v * (1.0 + x * x),
    ];
    for friction in frictions {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("mass", 1.0, [x]);
        model.potential("spring", 0.5 * x * x);
        let loss = friction(model.velocity(x), x, model.time());
        model.dissipation("friction", loss);
        let (mut dynamics, start) = begin(&model, &[("x", 1.0)]);
        let refused = Integrator::named("conformal2", 0.1).unwrap().run(&mut dynamics, &start, 1.0);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "conformal2 needs constant masses and linear damping, which this system does not have: use gauss4"
        );
        assert!(dynamics.damping(&mut [0.0]).is_err());
    }
}
