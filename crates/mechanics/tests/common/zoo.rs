//! One system of every kind, each with a state in general position.

use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Input, Model, State};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) dynamics: Dynamics,
    pub(crate) state: State,
}

/// Writes a model and returns a start, by name.
type Build = fn(&mut Model<'_>) -> Start;
type Start = Vec<(String, f64)>;

pub(crate) fn zoo() -> Vec<Case> {
    let builders: [(&'static str, Build); 14] = [
        ("map: chain of three", |model| chain(model, 3)),
        ("map: chain of thirteen, by its tensions", |model| chain(model, 13)),
        ("map: thirty-four weighted rods, factored at run time", |model| weighted_rods(model, 34)),
        ("map in time: mobile on a shaken hook", mobile),
        ("map: tree in space", tree_in_space),
        ("map in time: rotating frame", rotating_frame),
        ("energies: cart-pole, damped and driven", cart_pole),
        ("energies: spring on a rail", spring_on_rail),
        ("Lagrangian: charge in fields", charge),
        ("Lagrangian: relativistic particle", relativistic),
        ("Lagrangian: Bateman's oscillators, indefinite", bateman),
        ("Hamiltonian: not separable", not_separable),
        ("Hamiltonian: relativistic", relativistic_hamiltonian),
        ("Hamiltonian: separable, friction and force", henon_heiles),
    ];
    builders.into_iter().map(|(name, build)| case(name, build)).collect()
}

fn case(name: &'static str, build: Build) -> Case {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let start = build(&mut model);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    if !dynamics.system().inputs().is_empty() {
        dynamics.set_input("u", Input::function(|t| (3.0 * t).sin())).unwrap();
    }
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let state = dynamics.start_at(0.7, &start).unwrap();
    Case { name, dynamics, state }
}

fn start<const N: usize>(values: [(&str, f64); N]) -> Start {
    values.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Pendulums hanging from each other, with masses and lengths that differ.
pub(crate) fn chain(model: &mut Model<'_>, links: usize) -> Start {
    let (mut x, mut y) = (model.number(0.0), model.number(0.0));
    // However many links, about the same size and weight.
    let share = 3.0 / links as f64;
    for i in 0..links {
        let m = model.parameter(&format!("mass{i}"), share * (1.0 + 0.1 * i as f64));
        let r = model.parameter(&format!("rod{i}"), share * (1.0 - 0.02 * i as f64));
        let angle = model.coordinate(&format!("a{i}"));
        x += r * angle.sin();
        y -= r * angle.cos();
        model.particle(&format!("bob{i}"), m, [x, y]);
    }
    model.gravity([0.0, -9.81]);
    let angles = (0..links).map(|i| (format!("a{i}"), 0.4 - 0.13 * i as f64));
    angles.chain(start([("a0'", 0.7), ("a1'", -1.1), ("a2'", 0.4)])).collect()
}

/// Rods hanging from each other, each with a weight in its middle and one at its end.
fn weighted_rods(model: &mut Model<'_>, links: usize) -> Start {
    let (mut x, mut y) = (model.number(0.0), model.number(0.0));
    let share = 3.0 / links as f64;
    for i in 0..links {
        let angle = model.coordinate(&format!("a{i}"));
        let [east, south] = [share * angle.sin(), share * angle.cos()];
        model.particle(&format!("middle{i}"), share, [x + 0.5 * east, y - 0.5 * south]);
        x += east;
        y -= south;
        model.particle(&format!("end{i}"), 0.5 * share, [x, y]);
    }
    model.gravity([0.0, -9.81]);
    let angles = (0..links).map(|i| (format!("a{i}"), 0.4 - 0.13 * i as f64));
    angles.chain(start([("a0'", 0.7), ("a1'", -1.1), ("a2'", 0.4)])).collect()
}

/// Weights on rods, springs and rails, two or three on each, with damping and forces.
fn mobile(model: &mut Model<'_>) -> Start {
    let t = model.time();
    let mut places = vec![[0.1 * (2.0 * t).sin(), 0.05 * t.cos()]];
    let mut values = Vec::new();
    for i in 0..12 {
        let [x, y] = places[[0, 1, 1, 2, 2, 0, 3, 3, 3, 6, 7, 10][i]];
        let m = model.parameter(&format!("m{i}"), 1.0 + 0.1 * i as f64);
        let l = model.parameter(&format!("l{i}"), 1.0 - 0.03 * i as f64);
        let q = model.coordinate(&format!("q{i}"));
        let [v] = model.velocities([q]);
        values.push((format!("q{i}"), 0.4 - 0.07 * i as f64));
        values.push((format!("q{i}'"), 0.3 * (i as f64).cos()));
        let place = match i % 4 {
            1 => {
                let r = model.coordinate(&format!("r{i}"));
                values.push((format!("r{i}"), 1.1));
                values.push((format!("r{i}'"), 0.2));
                model.potential(&format!("spring{i}"), 4.0 * (r - l) * (r - l));
                [x + r * q.sin(), y - r * q.cos()]
            }
            3 => [x + q, y - 0.5 - 0.2 * q * q + 0.02 * q * t],
            _ => [x + l * q.sin(), y - l * q.cos()],
        };
        model.dissipation(&format!("air{i}"), 0.02 * v * v);
        // A sledge that is harder to move one way than the other.
        let heavier = if i % 4 == 2 { 2.0 } else { 1.0 };
        model.particle_with_inertias(&format!("weight{i}"), [m, heavier * m], place);
        places.push(place);
    }
    let [q2, q4] = ["q2", "q4"].map(|name| model.graph().symbol(name));
    let [v2] = model.velocities([q2]);
    model.lagrangian("field", 0.3 * v2 * q4.sin());
    model.potential("string", 0.5 * (q2 - q4) * (q2 - q4));
    model.force(q4, 0.2 * (3.0 * t).cos());
    model.gravity([0.3, -9.81]);
    values
}

/// Weights on rods in space, of which some are free.
fn tree_in_space(model: &mut Model<'_>) -> Start {
    let mut places = vec![[model.number(0.0); 3]];
    let mut values = Vec::new();
    for i in 0..7 {
        let [x, y, z] = places[[0, 1, 1, 3, 3, 5, 0][i]];
        let names = ["a", "b", "c"].map(|name| format!("{name}{i}"));
        let [a, b] = [&names[0], &names[1]].map(|name| model.coordinate(name));
        let l = 1.0 + 0.1 * i as f64;
        let place = if i == 2 || i == 6 {
            let c = model.coordinate(&names[2]);
            values.push((names[2].clone(), 0.2));
            model.potential(&format!("spring{i}"), 2.0 * (a * a + b * b + c * c) + 0.3 * a * b.pow(3.0));
            [x + a, y + b, z + c]
        } else {
            [x + l * a.sin() * b.cos(), y + l * a.sin() * b.sin(), z - l * a.cos()]
        };
        values.push((names[0].clone(), 0.5 + 0.1 * i as f64));
        values.push((names[1].clone(), 0.3 - 0.2 * i as f64));
        values.push((format!("{}'", names[0]), 0.4 * (i as f64).sin()));
        values.push((format!("{}'", names[1]), 0.4 * (2.0 * i as f64).cos()));
        model.particle(&format!("weight{i}"), 1.0 + 0.2 * i as f64, place);
        places.push(place);
    }
    model.gravity([0.0, 0.0, -9.81]);
    values
}

/// A particle on a spring, seen from a turning table.
fn rotating_frame(model: &mut Model<'_>) -> Start {
    let [m, k, w] = model.parameters([("m", 2.0), ("k", 3.0), ("w", 0.6)]);
    let [x, y] = model.coordinates(["x", "y"]);
    let turn = w * model.time();
    let position = [turn.cos() * x - turn.sin() * y, turn.sin() * x + turn.cos() * y];
    model.particle("bead", m, position);
    model.potential("spring", k * (x * x + y * y) / 2.0);
    start([("x", 0.5), ("y", -0.2), ("x'", 0.3), ("y'", 1.0)])
}

fn cart_pole(model: &mut Model<'_>) -> Start {
    let [cart, m, l, g, c] = model.parameters([("M", 1.0), ("m", 0.1), ("l", 0.5), ("g", 9.81), ("c", 0.1)]);
    let [x, th] = model.coordinates(["x", "th"]);
    let [vx, w] = model.velocities([x, th]);
    model.kinetic("cart", (cart + m) * vx * vx / 2.0);
    model.kinetic("pole", m * l * vx * w * th.cos() + m * l * l * w * w / 2.0);
    model.potential("weight", m * g * l * th.cos());
    model.dissipation("axle", c * vx * vx / 2.0 + 0.01 * w.pow(4.0));
    let u = model.input("u");
    model.force(x, u + 0.2 * (2.0 * model.time()).cos() - 0.1 * x);
    start([("th", 0.3), ("x'", 0.5), ("th'", -1.0)])
}

fn spring_on_rail(model: &mut Model<'_>) -> Start {
    let [r, x, th] = model.coordinates(["r", "x", "th"]);
    let wall = |position: f64| 25.0 * ((9.0f64.ln() / 0.1) * (r - position)).logistic();
    let reach = 1.0 + x;
    model.particle("block", 2.0, [r]);
    model.particle("weight", 1.0, [r + reach * th.sin(), -reach * th.cos()]);
    model.potential("spring", 5.0 * x * x);
    model.potential("walls", 1.0 - wall(-1.5) + wall(1.5));
    model.potential("gravity", -reach * th.cos());
    start([("x", 0.1), ("r", 1.4), ("r'", 1.0), ("th'", -0.5)])
}

/// A charge in a magnetic field along z that grows with x, and an electric field that turns with time.
fn charge(model: &mut Model<'_>) -> Start {
    let [m, charge, b] = model.parameters([("m", 1.5), ("charge", 0.8), ("B", 2.0)]);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    let [vx, vy, vz] = model.velocities([x, y, z]);
    let t = model.time();
    let [ax, ay] = [-b * y / 2.0 * (1.0 + 0.1 * x), b * x / 2.0];
    model.kinetic("motion", m * (vx * vx + vy * vy + vz * vz) / 2.0);
    model.lagrangian("field", charge * (vx * ax + vy * ay) - charge * (x * t.cos() + z * t.sin()));
    start([("x", 0.2), ("y", 0.1), ("x'", 0.3), ("y'", 1.0), ("z'", -0.4)])
}

fn relativistic(model: &mut Model<'_>) -> Start {
    let [m, c, k] = model.parameters([("m", 1.0), ("c", 1.0), ("k", 0.4)]);
    let [x, y] = model.coordinates(["x", "y"]);
    let [vx, vy] = model.velocities([x, y]);
    model.lagrangian("free", -m * c * c * (1.0 - (vx * vx + vy * vy) / (c * c)).sqrt());
    model.potential("pull", k * (x * x + 2.0 * y * y) / 2.0);
    start([("x", 1.0), ("y", 0.2), ("x'", 0.6), ("y'", -0.75)])
}

/// A damped oscillator and the image that takes up its energy (H. Bateman, Phys. Rev. 38, 1931).
fn bateman(model: &mut Model<'_>) -> Start {
    let [x, y] = model.coordinates(["x", "y"]);
    let [vx, vy] = model.velocities([x, y]);
    model.lagrangian("pair", vx * vy + 0.1 * (x * vy - y * vx) - 2.0 * x * y);
    start([("x", 1.0), ("y", 0.2), ("x'", 0.6), ("y'", -0.75)])
}

fn not_separable(model: &mut Model<'_>) -> Start {
    let [x, y] = model.coordinates(["x", "y"]);
    let [px, py] = model.momenta(["px", "py"]);
    let curved = (px * px + 0.5 * px * py + py * py) * (1.0 + x * x) / 2.0 + px * y;
    model.hamiltonian("curved", curved);
    model.potential("well", x.pow(4.0) + y * y);
    start([("x", 0.3), ("y", 0.4), ("px", 0.5), ("py", -0.8)])
}

fn relativistic_hamiltonian(model: &mut Model<'_>) -> Start {
    let [x, y] = model.coordinates(["x", "y"]);
    let [px, py] = model.momenta(["px", "py"]);
    model.hamiltonian("free", (1.0 + px * px + py * py).sqrt());
    model.potential("pull", 0.2 * (x * x + 2.0 * y * y));
    start([("x", 1.0), ("y", 0.2), ("px", 1.5), ("py", -2.0)])
}

fn henon_heiles(model: &mut Model<'_>) -> Start {
    let [x, y] = model.coordinates(["x", "y"]);
    let [px, py] = model.momenta(["px", "py"]);
    let [vx, vy] = model.velocities([x, y]);
    model.hamiltonian("motion", (px * px + py * py) / 2.0);
    model.potential("well", (x * x + y * y) / 2.0 + x * x * y - y.pow(3.0) / 3.0);
    model.dissipation("friction", 0.05 * (vx * vx + vy * vy));
    model.force(y, 0.1 * model.time().sin());
    start([("x", 0.3), ("y", 0.1), ("px", 0.2), ("py", 0.35)])
}
