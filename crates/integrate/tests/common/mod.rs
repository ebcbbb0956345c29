//! What the tests share: systems that are nonlinear, and some that can be solved by hand.

use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Card};
use leastaction_mechanics::{Dynamics, Model, State};
use std::sync::{Mutex, PoisonError};

/// The methods, by their names with `_` for `-`, handed to another macro: tests that are slow for all of them are one test for each, so that they run
/// side by side and tell which method fails.
macro_rules! methods {
    ($then:ident $sweep:ident) => {
        $then! { $sweep:
            rk4 dormand_prince5 tsit5 dop853 vern9 taylor ias15 radau5 symplectic_euler verlet verlet_position ruth3 forest_ruth4 mclachlan4 blanes_moan4 blanes_moan4_rkn yoshida6 kahan_li6 blanes_moan6 blanes_moan6_rkn yoshida8 kahan_li8 sofroniou_spaletta10 tao2 tao4 tao6 conformal2 conformal4 implicit_midpoint gauss4 gauss6 gauss8 gauss10 gauss12 stormer_verlet lobatto_pair4 lobatto_pair6 gauss_spark4 gauss_spark6 gauss_spark8 variational_midpoint variational4 variational6 variational8 discrete_gradient average_vector_field energy_collocation4 energy_collocation6 shake rattle rattle4 rattle6
        }
    };
}

/// A test of each method.
macro_rules! tests_of {
    ($sweep:ident: $($method:ident)*) => {
        mod $sweep {
            $(#[test]
            fn $method() {
                super::$sweep(crate::common::method(stringify!($method)));
            })*
        }
    };
}

/// Names of tests.
macro_rules! names_of {
    ($list:ident: $($method:ident)*) => {
        const $list: &[&str] = &[$(stringify!($method)),*];
    };
}

/// A method by the name of its test.
pub(crate) fn method(name: &str) -> &'static Card {
    Card::named(&name.replace('_', "-")).unwrap()
}

methods!(names_of METHODS);

#[test]
fn every_method_has_its_tests() {
    let tested: Vec<&str> = METHODS.iter().map(|name| method(name).name).collect();
    assert_eq!(tested, ALL.iter().map(|card| card.name).collect::<Vec<_>>());
}

/// The double pendulum, chaotic and not separable, well on its way.
pub(crate) fn double_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 1.5, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    begin(&model, &[("a", 0.9), ("b", -0.4), ("a'", 0.3), ("b'", 0.8)])
}

/// A pendulum driven at its pivot and damped: it depends on time, and velocities enter its forces.
pub(crate) fn driven_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, a) = (model.time(), model.coordinate("a"));
    model.particle("bob", 1.0, [a.sin() + 0.3 * (2.0 * t).sin(), -a.cos()]);
    model.gravity([0.0, -4.0]);
    model.dissipation("friction", 0.05 * model.velocity(a).pow(2.0));
    begin(&model, &[("a", 1.0)])
}

/// A planet on an ellipse of eccentricity e with semi-major axis 1 about a sun of GM = 1.
pub(crate) fn kepler(e: f64) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    begin(&model, &[("x", 1.0 - e), ("y'", ((1.0 + e) / (1.0 - e)).sqrt())])
}

/// The Hénon–Heiles system on a chaotic orbit (M. Hénon and C. Heiles, Astron. J. 69 (1964) 73, doi:10.1086/109234).
pub(crate) fn henon_heiles() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("star", 1.0, [x, y]);
    model.potential("well", 0.5 * (x * x + y * y) + x * x * y - y.pow(3.0) / 3.0);
    begin(&model, &[("x", 0.1), ("y", 0.4), ("x'", 0.35), ("y'", -0.1)])
}

/// A pendulum with linear friction: masses and damping are constant.
pub(crate) fn damped_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let a = model.coordinate("a");
    model.particle("bob", 1.0, [a.sin(), -a.cos()]);
    model.gravity([0.0, -4.0]);
    model.dissipation("friction", 0.15 * model.velocity(a).pow(2.0));
    begin(&model, &[("a", 1.0), ("a'", 0.5)])
}

/// The chaotic orbit of Hénon and Heiles with friction γ = 0.3 in all directions.
pub(crate) fn damped_henon_heiles() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("star", 2.0, [x, y]);
    model.potential("well", 0.5 * (x * x + y * y) + x * x * y - y.pow(3.0) / 3.0);
    let [u, v] = model.velocities([x, y]);
    model.dissipation("friction", 0.3 * (u * u + v * v));
    begin(&model, &[("x", 0.1), ("y", 0.4), ("x'", 0.35), ("y'", -0.1)])
}

/// A relativistic particle in a quartic well that breathes: separable, but its kinetic energy is not quadratic, and both energies
/// depend on time.
pub(crate) fn relativistic() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    let p = model.momentum("p_x");
    let motion = (1.0 + (1.0 + 0.2 * t.sin()) * p * p).sqrt();
    model.hamiltonian("H", motion + (1.0 + 0.3 * (2.0 * t).cos()) * x.pow(4.0) / 4.0);
    begin(&model, &[("x", 1.1), ("p_x", 0.4)])
}

/// A mass of 2 at rest that is pushed by a force of t − `from` as soon as that is positive.
pub(crate) fn pushed(from: f64) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", 2.0, [x]);
    model.force(x, (t - from).max(0.0));
    begin(&model, &[])
}

/// An oscillator of unit frequency from unit amplitude: q = cos t.
pub(crate) fn oscillator() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("spring", 0.5 * x * x);
    begin(&model, &[("x", 1.0)])
}

/// A charge in a magnetic field, circling about the origin: q = (cos t, −sin t). Its Hamiltonian is not separable.
pub(crate) fn cyclotron() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [u, v] = model.velocities([x, y]);
    model.particle("charge", 1.0, [x, y]);
    model.lagrangian("field", 0.5 * (x * v - y * u));
    begin(&model, &[("x", 1.0), ("y'", -1.0)])
}

type System = (Dynamics, State);

/// Systems that are not linear, on which a method that applies must show what it claims.
pub(crate) fn suited(card: &Card) -> Vec<System> {
    let all: [fn() -> System; 6] =
        [double_pendulum, driven_pendulum, damped_pendulum, relativistic, henon_heiles, || kepler(0.3)];
    // They are compiled once: every sweep asks for them again and again.
    static MADE: Mutex<Vec<System>> = Mutex::new(Vec::new());
    let mut systems = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if systems.is_empty() {
        systems.extend(all.iter().map(|make| make()));
    }
    systems.iter().filter(|(dynamics, _)| card.needs.met_by(dynamics.system().facts())).cloned().collect()
}

/// The first of them that nothing drives or damps.
pub(crate) fn undisturbed(card: &Card) -> System {
    let calm = |(dynamics, _): &System| {
        let facts = dynamics.system().facts();
        facts.autonomous && !facts.dissipative && !facts.forced
    };
    suited(card).into_iter().find(calm).expect("every method applies to an undisturbed system")
}

/// A pendulum of two links in Cartesian coordinates: positions of two particles, and two constraints.
pub(crate) fn links() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
    model.particle("elbow", 1.0, [x, y]);
    model.particle("hand", 2.0, [u, v]);
    model.gravity([0.0, -5.0]);
    model.constraint("upper", x * x + y * y, 1.0);
    model.constraint("lower", (u - x).pow(2.0) + (v - y).pow(2.0), 0.25);
    begin(&model, &[("x", 1.0), ("u", 1.0), ("v", -0.5)])
}

/// A pendulum on a spring that is stiff: its fast oscillation has ω = 100.
pub(crate) fn stiff_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.potential("spring", 5000.0 * ((x * x + y * y).sqrt() - 1.0).pow(2.0));
    model.gravity([0.0, -9.81]);
    begin(&model, &[("x", 1.0)])
}

pub(crate) fn begin(model: &Model<'_>, start: &[(&str, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(start).unwrap();
    (dynamics, start)
}

/// The largest difference between numbers.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
