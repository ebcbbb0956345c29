//! Rigid bodies and joints in motion: what must be conserved, and motions that have closed equations without constraints.

use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Integrator, Keeps, Trajectory};
use leastaction_mechanics::{BodyError, Dynamics, Inertia, Model, Point, Pose, Rotation, State};

/// An inertia without symmetry, in a frame off its centre and axes.
fn potato(mass: f64) -> Inertia {
    let own = Inertia::principal(mass, [0.5 * mass, 0.8 * mass, 0.6 * mass]).unwrap();
    own.turned(&Rotation::zxz(0.3, 1.1, -2.0)).moved([0.2, -0.1, 0.4])
}

/// Methods that keep constraints by themselves, and one that is projected.
fn methods() -> Vec<&'static str> {
    let keeping = ALL.iter().filter(|card| card.keeps.contains(&Keeps::Constraints));
    keeping.map(|card| card.name).chain(["dop853"]).collect()
}

fn run(dynamics: &mut Dynamics, start: &State, method: &str, step: f64, until: f64) -> Trajectory {
    Integrator::named(method, step).unwrap().run(dynamics, start, until).unwrap()
}

/// The largest violation of the constraints along a motion.
fn violation(dynamics: &mut Dynamics, motion: &Trajectory) -> f64 {
    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; rows], vec![0.0; rows]);
    let mut worst = 0.0f64;
    for (t, y) in motion.samples() {
        dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
        worst = positions.iter().chain(&velocities).fold(worst, |w, x| w.max(x.abs()));
    }
    worst
}

type Join = for<'g> fn(&mut Model<'g>, &Point<'g>, &Point<'g>) -> Result<(), BodyError>;

const JOINTS: [(&str, Join); 9] = [
    ("ball", |m, a, b| m.ball("j", a, b)),
    ("hinge", |m, a, b| m.hinge("j", a, b, [1.0, 2.0, 2.0])),
    ("universal", |m, a, b| m.universal("j", a, [1.0, 2.0, 2.0], b, [2.0, 1.0, -2.0])),
    ("cylindrical", |m, a, b| m.cylindrical("j", a, b, [1.0, 2.0, 2.0])),
    ("prismatic", |m, a, b| m.prismatic("j", a, b, [1.0, 2.0, 2.0])),
    ("fixed", |m, a, b| m.fixed("j", a, b)),
    ("distance", |m, a, b| m.distance("j", a, b, 0.3)),
    ("spring", |m, a, b| m.spring("j", a, b, 20.0, 0.25)),
    ("damper", |m, a, b| m.damper("j", a, b, 0.5)),
];

/// Two bodies without gravity, held together by each kind of joint: momentum and angular momentum to rounding, energy to the error of
/// the method.
#[test]
fn every_joint_conserves_momentum_and_angular_momentum() {
    for (name, join) in JOINTS {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let a = model.body("a", potato(1.3)).unwrap();
        let b = model.body("b", potato(0.7)).unwrap();
        let loose = ["distance", "spring", "damper"].contains(&name);
        let off = if loose { [0.1, 0.2, 0.2] } else { [0.0; 3] };
        let at_a = a.point([0.3 + off[0], 0.1 + off[1], 0.2 + off[2]]).unwrap();
        let at_b = b.point([-0.2, 0.4, 0.1]).unwrap();
        join(&mut model, &at_a, &at_b).unwrap();
        let invariants = [model.total_momentum(), model.total_angular_momentum()].concat();

        let pose = Pose::at([0.4, -0.2, 0.1]).turned(Rotation::zxz(0.4, 0.9, 0.2)).moving([0.2, -0.1, 0.3]);
        let values = [
            a.start(&pose.holding([0.3, 0.1, 0.2]).spinning([1.0, -2.0, 0.7])).unwrap(),
            b.start(&pose.holding([-0.2, 0.4, 0.1]).spinning([-1.5, 0.4, 1.1])).unwrap(),
        ]
        .concat();
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        // Velocities that the joint forbids are taken out at the start.
        let start = dynamics.start(&values).unwrap();
        for method in methods() {
            let step = if method == "dop853" { 0.005 } else { 0.002 };
            let motion = run(&mut dynamics, &start, method, step, 1.0);
            let mut worst = 0.0f64;
            for &f in &invariants {
                let what = dynamics.observable(&f.to_string()).unwrap();
                worst = worst.max(motion.drift(&mut dynamics, what).unwrap());
            }
            let (energy, off) =
                (motion.energy_drift(&mut dynamics).unwrap(), violation(&mut dynamics, &motion));
            println!("{name:12} {method:8} momenta {worst:.1e} energy {energy:.1e} constraints {off:.1e}");
            assert!(worst < 2e-14, "{name}, {method}: momenta change by {worst:e}");
            assert!(off < 2e-14, "{name}, {method}: off by {off:e}");
            if name == "damper" {
                assert!(energy > 1e-3, "a damper takes energy: {energy:e}");
            } else {
                assert!(
                    energy < if method == "dop853" { 1e-11 } else { 1e-4 },
                    "{name}, {method}: {energy:e}"
                );
            }
        }
    }
}

/// θ̈ = −(m g d/I) sin θ with I about the hinge by the parallel-axis theorem.
fn swing(rate: f64, angle: f64, spin: f64, until: f64) -> [f64; 2] {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let theta = model.coordinate("theta");
    let turning = model.velocity(theta);
    model.kinetic("swing", 0.5 * turning * turning);
    model.potential("weight", -rate * theta.cos());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("theta", angle), ("theta'", spin)]).unwrap();
    let end = run(&mut dynamics, &start, "dop853", 0.002, until).end();
    [end.q[0], end.p[0]]
}

/// A box hung by an edge swings about a hinge, in space and in the plane.
#[test]
fn a_physical_pendulum() {
    let (edges, m, g) = ([0.3, 0.7, 0.2], 1.7, 9.81);
    let hook = [0.1, 0.35];
    let centre = [hook[0], hook[1]].map(|x: f64| x * x).iter().sum::<f64>();
    let inertia = m * ((edges[0] * edges[0] + edges[1] * edges[1]) / 12.0 + centre);
    let rate = m * g * centre.sqrt() / inertia;
    // The angle of the line from the hinge to the centre of mass, from hanging down.
    let lean = |turn: f64| turn + (-hook[1]).atan2(-hook[0]) + std::f64::consts::FRAC_PI_2;
    let (turn, spin) = (0.9, -1.4);
    let [angle, speed] = swing(rate, lean(turn), spin, 3.0);

    let graph = Graph::new();
    for planar in [false, true] {
        let mut model = Model::new(&graph);
        let (body, values);
        let inertia = Inertia::cuboid(m, edges).unwrap();
        let rotation = Rotation::angle(turn);
        if planar {
            body = model.planar_body("box", inertia).unwrap();
            model.pin("hook", &body.point(hook).unwrap(), &model.anchor([0.5, 0.2])).unwrap();
            model.gravity([0.0, -g]);
            values = body.start(&Pose::at([0.5, 0.2]).holding(hook).turned(rotation).turning(spin)).unwrap();
        } else {
            body = model.body("box", inertia).unwrap();
            let point = body.point([hook[0], hook[1], 0.05]).unwrap();
            model.hinge("hook", &point, &model.anchor([0.5, 0.2, 0.1]), [0.0, 0.0, 1.0]).unwrap();
            model.gravity([0.0, -g, 0.0]);
            let pose = Pose::at([0.5, 0.2, 0.1]).holding([hook[0], hook[1], 0.05]);
            values = body.start(&pose.turned(rotation).spinning([0.0, 0.0, spin])).unwrap();
        }
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&values).unwrap();
        let end = run(&mut dynamics, &start, "dop853", 0.002, 3.0).end();
        let pose = body.pose(&mut dynamics, &end).unwrap();
        let found = [lean(pose.rotation().as_angle()), pose.angular_velocity()[2]];
        let off = (found[0] - angle).rem_euclid(std::f64::consts::TAU);
        let off = off.min(std::f64::consts::TAU - off).max((found[1] - speed).abs());
        println!("planar: {planar}, off by {off:.1e}");
        assert!(off < 1e-11, "{off:e}");
    }
}

/// Two rods as one: welded end to end they move as the single rod does.
#[test]
fn welded_rods_are_one_rod() {
    let graph = Graph::new();
    let pose = Pose::at([0.0, 0.0]).moving([0.4, 1.0]).turned(Rotation::angle(0.3)).turning(2.0);
    let end = |parts: usize| {
        let mut model = Model::new(&graph);
        let mut values = Vec::new();
        let bodies: Vec<_> = (0..parts)
            .map(|i| {
                let length = 2.0 / parts as f64;
                let rod = Inertia::rod(3.0 / parts as f64, length).unwrap();
                let offset = -1.0 + length * (i as f64 + 0.5);
                model.planar_body(&format!("rod{parts}{i}"), rod.moved([offset, 0.0, 0.0])).unwrap()
            })
            .collect();
        for pair in bodies.windows(2) {
            let name = format!("weld {}", pair[1].name());
            model
                .fixed(&name, &pair[0].point([0.1, 0.0]).unwrap(), &pair[1].point([0.1, 0.0]).unwrap())
                .unwrap();
        }
        model
            .spring("spring", &bodies[0].point([-1.0, 0.0]).unwrap(), &model.anchor([0.0, 1.0]), 5.0, 0.4)
            .unwrap();
        for body in &bodies {
            values.extend(body.start(&pose).unwrap());
        }
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&values).unwrap();
        let end = run(&mut dynamics, &start, "dop853", 0.002, 2.0).end();
        let pose = bodies[0].pose(&mut dynamics, &end).unwrap();
        [pose.position(), pose.velocity(), pose.rotation().rows()[0], pose.angular_velocity()].concat()
    };
    let (one, three) = (end(1), end(3));
    assert!(one.iter().zip(&three).all(|(a, b)| (a - b).abs() < 1e-11), "{one:?} {three:?}");
}
