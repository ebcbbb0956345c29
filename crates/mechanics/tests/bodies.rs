//! Rigid bodies: nodes, points, joints, forces, outputs and starts, against the mechanics of rigid bodies in numbers.

use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{
    Body, BodyError, Dynamics, Inertia, Model, Point, Pose, Rotation, StartError, State,
};

type Vector = [f64; 3];

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn times(m: &[Vector; 3], v: Vector) -> Vector {
    m.map(|row| dot(row, v))
}

fn begin(model: &Model<'_>, values: &[(&str, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(values).unwrap();
    (dynamics, start)
}

/// The values of expressions in a state.
fn observe(dynamics: &mut Dynamics, state: &State, expressions: &[Expr<'_>]) -> Vec<f64> {
    let value = |e: &Expr<'_>| {
        let mut value = [0.0];
        let what = dynamics.observable(&e.to_string()).unwrap();
        dynamics.observe(what, &[state.t], &state.block(), &mut value).unwrap();
        value[0]
    };
    expressions.iter().map(value).collect()
}

fn energy(dynamics: &mut Dynamics, state: &State) -> f64 {
    let mut energy = [0.0];
    dynamics.energy(&[state.t], &state.block(), &mut energy).unwrap();
    energy[0]
}

#[track_caller]
fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} is not {expected:?}");
    }
}

/// An inertia without symmetry, whose frame is neither at the centre of mass nor along principal axes.
fn potato() -> Inertia {
    let own = Inertia::principal(1.3, [0.5, 0.8, 0.6]).unwrap();
    own.turned(&Rotation::zxz(0.3, 1.1, -2.0)).moved([0.2, -0.1, 0.4])
}

fn thrown() -> Pose {
    Pose::at([1.0, -2.0, 0.5])
        .holding([0.1, 0.2, -0.3])
        .turned(Rotation::zxz(2.0, 0.7, -0.4))
        .moving([0.3, 0.1, -0.2])
        .spinning([1.0, -2.0, 0.7])
}

/// T = ½m|v|² + ½ω·Iω with I of the frame turned into the world, and the nodes' constant mass matrix gives the same.
#[test]
fn the_energy_of_nodes_is_that_of_a_rigid_body() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let body = model.body("b", potato()).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    let (mut dynamics, start) = begin(&model, &body.start(&thrown()).unwrap());
    assert!(dynamics.placed().unwrap().moved < 1e-15);

    let inertia = potato().turned(&thrown().rotation()).about_centre();
    let (x, v) = (thrown().position_of(potato().centre()), thrown().velocity_of(potato().centre()));
    let w = thrown().angular_velocity();
    let expected = 0.5 * 1.3 * dot(v, v) + 0.5 * dot(w, times(&inertia, w)) + 1.3 * 9.81 * x[2];
    assert!((energy(&mut dynamics, &start) - expected).abs() < 1e-14);

    let momentum = observe(&mut dynamics, &start, &model.total_momentum());
    near(&momentum, &v.map(|v| 1.3 * v), 1e-15);
    let spin = times(&inertia, w);
    near(&observe(&mut dynamics, &start, &body.angular_momentum()), &spin, 1e-14);
    let orbit = cross(x, v);
    let total: Vector = std::array::from_fn(|i| spin[i] + 1.3 * orbit[i]);
    near(&observe(&mut dynamics, &start, &model.total_angular_momentum()), &total, 1e-14);
    let origin = model.anchor([0.0, 0.0, 0.0]);
    let about = body.angular_momentum_about(&origin).unwrap();
    near(&observe(&mut dynamics, &start, &about), &total, 1e-14);
    assert_eq!(dynamics.system().constraints().len(), 6);
}

/// Where each constraint is symmetric by itself, conservation shows from the expressions. The components of a ball joint turn into each other:
/// they are symmetric only together, where they vanish, and then nothing is claimed.
#[test]
fn momenta_are_known_to_be_conserved() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    // In numbers that have no rounding, so that sums that vanish do.
    let body = Inertia::second_moments(1.0, [0.25, 0.5, 0.125]).unwrap();
    let a = model.body("a", body).unwrap();
    let b = model.body("b", body).unwrap();
    let (at_a, at_b) = (a.point([0.5, 0.25, 0.75]).unwrap(), b.point([-0.25, 0.5, 0.25]).unwrap());
    model.distance("link", &at_a, &at_b, 0.5).unwrap();
    model.spring("spring", &a.centre(), &b.centre(), 3.0, 0.2).unwrap();
    let verdicts = |model: &Model<'_>| {
        let equations = model.equations().unwrap();
        let all = [model.total_momentum(), model.total_angular_momentum()].concat();
        all.into_iter().map(|f| equations.is_conserved(f)).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&model), [Some(true); 6]);
    assert_eq!(model.equations().unwrap().is_conserved(a.angular_momentum()[0]), None);
    let mut joined = model.clone();
    joined.ball("ball", &at_a, &at_b).unwrap();
    assert_eq!(verdicts(&joined), [Some(true), Some(true), Some(true), None, None, None]);
    model.gravity([0.0, 0.0, -9.81]);
    assert_eq!(verdicts(&model), [Some(true), Some(true), None, None, None, Some(true)]);
}

/// M = m [[1 + Σλ, −λᵀ], [−λ, diag λ]] for every Cartesian direction.
#[test]
fn the_mass_matrix_is_the_published_one() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let lambda = [0.2, 0.3, 0.4];
    model.body("b", Inertia::second_moments(2.0, lambda).unwrap()).unwrap();
    let equations = model.equations().unwrap();
    let leastaction_mechanics::Statement::Lagrangian(l) = &equations.statement else { unreachable!() };
    for i in 0..12 {
        for j in 0..12 {
            let found = l.mass.get(i, j).map_or(0.0, |m| m.as_number().unwrap());
            let (row, column) = (i / 3, j / 3);
            let expected = match (row, column) {
                _ if i % 3 != j % 3 => 0.0,
                (0, 0) => 2.0 * (1.0 + lambda.iter().sum::<f64>()),
                (0, k) | (k, 0) => -2.0 * lambda[k - 1],
                (k, l) if k == l => 2.0 * lambda[k - 1],
                _ => 0.0,
            };
            assert!((found - expected).abs() < 1e-15, "{i} {j}: {found}");
        }
    }
}

#[test]
fn points_positions_and_velocities_are_those_of_the_pose() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let body = model.body("b", potato()).unwrap();
    let place = [0.7, -0.2, 0.9];
    let point = body.point(place).unwrap();
    let velocity: Vec<_> = point.position().iter().map(|&x| model.velocity(x)).collect();
    let (mut dynamics, start) = begin(&model, &body.start(&thrown()).unwrap());
    near(&observe(&mut dynamics, &start, &point.position()), &thrown().position_of(place), 1e-14);
    near(&observe(&mut dynamics, &start, &velocity), &thrown().velocity_of(place), 1e-14);
    let direction = observe(&mut dynamics, &start, &point.direction([0.0, 3.0, 4.0]).unwrap());
    near(&direction, &thrown().rotation().apply([0.0, 0.6, 0.8]), 1e-14);
    let turned = Rotation::about([0.0, 0.0, 1.0], 0.5).unwrap();
    let direction = point.turned(&turned).direction([1.0, 0.0, 0.0]).unwrap();
    let expected = thrown().rotation().apply(turned.apply([1.0, 0.0, 0.0]));
    near(&observe(&mut dynamics, &start, &direction), &expected, 1e-14);
}

/// Expressions and numbers agree, in several orientations, for a solid and for a plate, which has two nodes.
#[test]
fn outputs_are_those_of_the_pose() {
    let plate = Inertia::plate(0.7, [0.3, 0.5]).unwrap().turned(&Rotation::zxz(0.4, 1.0, 0.2));
    let graph = Graph::new();
    for (inertia, nodes) in [(potato(), 4), (plate, 3)] {
        let mut model = Model::new(&graph);
        let body = model.body("b", inertia).unwrap();
        assert_eq!(body.nodes().len(), nodes);
        let half = Rotation::about([0.6, 0.0, 0.8], std::f64::consts::PI).unwrap();
        let turns = [Rotation::zxz(2.0, 0.7, -0.4), Rotation::zxz(-3.0, 2.9, 3.0), half];
        for rotation in turns {
            let pose = thrown().turned(rotation);
            let (mut dynamics, start) = begin(&model, &body.start(&pose).unwrap());
            let mut see = |e: &[Expr<'_>]| observe(&mut dynamics, &start, e);
            near(&see(&body.orientation().unwrap().concat()), &rotation.rows().concat(), 1e-14);
            let q = see(&body.quaternion().unwrap());
            let again = Rotation::quaternion([q[0], q[1], q[2], q[3]]).unwrap();
            near(&again.rows().concat(), &rotation.rows().concat(), 1e-14);
            near(&see(&body.zxz().unwrap()), &rotation.as_zxz(), 1e-13);
            near(&see(&body.roll_pitch_yaw().unwrap()), &rotation.as_roll_pitch_yaw(), 1e-13);
            near(&see(&body.angular_velocity().unwrap()), &pose.angular_velocity(), 1e-14);
            let own = see(&body.angular_velocity_in_body().unwrap());
            near(&own, &pose.angular_velocity_in_body(), 1e-14);

            let found = body.pose(&mut dynamics, &start).unwrap();
            near(&found.rotation().rows().concat(), &rotation.rows().concat(), 1e-14);
            near(&found.position(), &pose.position_of([0.0; 3]), 1e-14);
            near(&found.velocity(), &pose.velocity_of([0.0; 3]), 1e-14);
            near(&found.angular_velocity(), &pose.angular_velocity(), 1e-14);
        }
    }
}

/// In the plane: a rod has one node, a plate two; both know their angle.
#[test]
fn bodies_in_the_plane() {
    let graph = Graph::new();
    let upright = Inertia::rod(2.0, 0.6).unwrap().turned(&Rotation::angle(std::f64::consts::FRAC_PI_2));
    let plate = Inertia::plate(2.0, [0.3, 0.5]).unwrap().turned(&Rotation::angle(0.4)).moved([0.1, 0.2, 0.0]);
    let moment = Inertia::planar(2.0, 0.3).unwrap();
    for (inertia, nodes, i) in [
        (Inertia::rod(2.0, 0.6).unwrap(), 2, 2.0 * 0.36 / 12.0),
        (upright, 2, 2.0 * 0.36 / 12.0),
        (plate, 3, 2.0 * (0.09 + 0.25) / 12.0),
        (moment, 2, 0.3),
    ] {
        let mut model = Model::new(&graph);
        let body = model.planar_body("b", inertia).unwrap();
        assert_eq!((body.nodes().len(), body.nodes()[0].len()), (nodes, 2));
        let pose = Pose::at([1.0, 2.0]).turned(Rotation::angle(2.5)).moving([0.3, -0.2]).turning(1.5);
        let (mut dynamics, start) = begin(&model, &body.start(&pose).unwrap());
        let centre = inertia.centre();
        let v = pose.velocity_of(centre);
        let expected = dot(v, v) + 0.5 * i * 1.5 * 1.5;
        assert!((energy(&mut dynamics, &start) - expected).abs() < 1e-14);
        let outputs = [body.angle().unwrap(), body.angular_rate().unwrap(), body.angular_momentum()[2]];
        near(&observe(&mut dynamics, &start, &outputs), &[2.5, 1.5, 1.5 * i], 1e-14);
        let point = body.point([0.4, -0.3]).unwrap();
        let at = pose.position_of([0.4, -0.3, 0.0]);
        near(&observe(&mut dynamics, &start, &point.position()), &at[..2], 1e-14);
        let found = body.pose(&mut dynamics, &start).unwrap();
        near(&[found.rotation().as_angle(), found.angular_velocity()[2]], &[2.5, 1.5], 1e-14);
    }
}

/// Newton and Euler: m a = F, İω = τ + r × F − ω × Iω, from the constrained equations of the nodes.
#[test]
fn forces_and_torques_accelerate_as_newton_and_euler_say() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let body = model.body("b", potato()).unwrap();
    let place = [0.7, -0.2, 0.9];
    let (force, torque) = ([0.3, -1.1, 0.8], [0.2, 0.5, -0.9]);
    model.push(&body.point(place).unwrap(), force).unwrap();
    model.torque(&body, torque).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    let (mut dynamics, start) = begin(&model, &body.start(&thrown()).unwrap());

    let mut rates = vec![0.0; 24];
    dynamics.rates(&[0.0], &start.block(), &mut rates).unwrap();
    let mut v = vec![0.0; 12];
    dynamics.velocities(&[0.0], &start.block(), &mut v).unwrap();
    let z = [start.q.clone(), v].concat();
    let mut a = vec![0.0; 12];
    dynamics.accelerations(&[0.0], &z, &mut a).unwrap();
    let push: Vector = std::array::from_fn(|i| force[i] / 1.3 - if i == 2 { 9.81 } else { 0.0 });
    near(&a[..3], &push, 1e-13);

    // The rate of the angular momentum m Σ λ e × ė is m Σ λ e × ë.
    let lambda: Vec<f64> = body.moments().iter().map(|m| m.as_number().unwrap()).collect();
    let mut turning = [0.0; 3];
    for k in 0..3 {
        let e = std::array::from_fn(|d| start.q[3 * (k + 1) + d] - start.q[d]);
        let bend = std::array::from_fn(|d| a[3 * (k + 1) + d] - a[d]);
        let part = cross(e, bend);
        (0..3).for_each(|d| turning[d] += 1.3 * lambda[k] * part[d]);
    }
    let arm: Vector =
        std::array::from_fn(|i| thrown().position_of(place)[i] - thrown().position_of(potato().centre())[i]);
    let moment = cross(arm, force);
    let expected: Vector = std::array::from_fn(|i| torque[i] + moment[i]);
    near(&turning, &expected, 1e-13);
}

/// The pull of springs and dampers on a body is that of forces at their ends.
#[test]
fn springs_and_dampers_pull_along_themselves() {
    let (k, rest, c) = (7.0, 0.5, 0.4);
    let place = [0.7, -0.2, 0.9];
    let hook = [0.2, 0.3, 3.0];
    let x = thrown().position_of(place);
    let v = thrown().velocity_of(place);
    let apart: Vector = std::array::from_fn(|i| x[i] - hook[i]);
    let length = dot(apart, apart).sqrt();
    let speed = dot(apart, v) / length;
    let pull = apart.map(|d| -(k * (length - rest) + c * speed) * d / length);

    let field = |build: &dyn for<'g> Fn(&mut Model<'g>, &Point<'g>)| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let body = model.body("b", potato()).unwrap();
        build(&mut model, &body.point(place).unwrap());
        let (mut dynamics, start) = begin(&model, &body.start(&thrown()).unwrap());
        let mut rates = vec![0.0; 24];
        dynamics.rates(&[0.0], &start.block(), &mut rates).unwrap();
        rates
    };
    let sprung = field(&|model, point| {
        let hook = model.anchor(hook);
        model.spring("s", point, &hook, k, rest).unwrap();
        model.damper("d", &hook, point, c).unwrap();
    });
    near(&sprung, &field(&|model, point| model.push(point, pull).unwrap()), 1e-13);
    let loose = field(&|model, point| {
        let hook = model.anchor(hook);
        model.spring("s", point, &hook, k, 0.0).unwrap();
    });
    near(&loose, &field(&|model, point| model.push(point, apart.map(|d| -k * d)).unwrap()), 1e-13);
}

type Join<'g> = fn(&mut Model<'g>, &Point<'g>, &Point<'g>) -> Result<(), BodyError>;

/// Each joint takes as many degrees of freedom as it should, between solids and to the world, and none of its equations is redundant.
#[test]
fn joints_take_the_degrees_of_freedom_that_they_should() {
    let axis = [1.0, 2.0, 2.0];
    let graph = Graph::new();
    let joints: [(&str, usize, Join<'_>); 7] = [
        ("ball", 3, |m, a, b| m.ball("j", a, b)),
        ("hinge", 5, |m, a, b| m.hinge("j", a, b, [1.0, 2.0, 2.0])),
        ("universal", 4, |m, a, b| m.universal("j", a, [1.0, 2.0, 2.0], b, [2.0, 1.0, -2.0])),
        ("cylindrical", 4, |m, a, b| m.cylindrical("j", a, b, [1.0, 2.0, 2.0])),
        ("prismatic", 5, |m, a, b| m.prismatic("j", a, b, [1.0, 2.0, 2.0])),
        ("fixed", 6, |m, a, b| m.fixed("j", a, b)),
        ("distance", 1, |m, a, b| m.distance("j", a, b, 0.25)),
    ];
    for (name, taken, join) in joints {
        for grounded in [false, true] {
            let mut model = Model::new(&graph);
            let a = model.body("a", potato()).unwrap();
            let at_a = a.point([0.3, 0.1, 0.2]).unwrap();
            let pose = thrown().holding([0.3, 0.1, 0.2]);
            let mut values = a.start(&pose).unwrap();
            let other: Body<'_>;
            let at_b = if grounded {
                model.anchor(pose.position()).turned(&pose.rotation())
            } else {
                other = model.body("b", potato()).unwrap();
                let own = other.point([-0.2, 0.4, 0.1]).unwrap();
                values.extend(other.start(&pose.holding([-0.2, 0.4, 0.1])).unwrap());
                own
            };
            let at_a = if name == "distance" {
                // Some distance away, along the axis.
                let off: Vector = std::array::from_fn(|i| [0.3, 0.1, 0.2][i] + 0.25 * axis[i] / 3.0);
                a.point(off).unwrap()
            } else {
                at_a
            };
            join(&mut model, &at_a, &at_b).unwrap();
            let mut dynamics = model.system().unwrap().dynamics().unwrap();
            // The world stands still, so only bodies move with the pose.
            let at_rest: Vec<_> =
                values.iter().copied().filter(|(n, _)| !grounded || !n.ends_with('\'')).collect();
            let start = dynamics.start(&at_rest).unwrap();
            let placed = dynamics.placed().unwrap();
            let bodies = if grounded { 1 } else { 2 };
            assert_eq!(placed.rank, 6 * bodies + taken, "{name}, grounded: {grounded}");
            assert_eq!(dynamics.system().constraints().len(), placed.rank, "{name}");
            assert!(placed.moved < 1e-14, "{name}: {placed:?}");
            // Moving as one body, both bodies stay where the joint wants them.
            assert!(placed.deflected < 1e-13, "{name}: {placed:?}");
            assert_eq!(start.q.len(), 12 * bodies);
        }
    }
}

#[test]
fn joints_in_the_plane_and_of_rods_and_points() {
    let graph = Graph::new();
    let rank = |model: &Model<'_>, values: &[(&str, f64)]| {
        let (dynamics, _) = begin(model, values);
        let placed = dynamics.placed().unwrap();
        assert_eq!(placed.rank, dynamics.system().constraints().len());
        assert!(placed.moved < 1e-15);
        placed.rank
    };
    let rod = Inertia::rod(1.0, 2.0).unwrap();
    let pose = Pose::at([0.4, 0.3]).turned(Rotation::angle(0.7));
    for (taken, join) in [
        (2, (|m, a, b| m.pin("j", a, b)) as Join<'_>),
        (2, |m, a, b| m.prismatic("j", a, b, [1.0, 0.5])),
        (3, |m, a, b| m.fixed("j", a, b)),
    ] {
        let mut model = Model::new(&graph);
        let a = model.planar_body("a", rod).unwrap();
        let b = model.planar_body("b", rod).unwrap();
        join(&mut model, &a.point([0.5, 0.0]).unwrap(), &b.point([0.5, 0.0]).unwrap()).unwrap();
        let values = [a.start(&pose).unwrap(), b.start(&pose).unwrap()].concat();
        assert_eq!(rank(&model, &values), 2 + taken);
    }
    // In space a rod has one axis: hinged across it, it loses one turn; fixed, or hinged along it, two.
    let pose = Pose::at([0.4, 0.3, 0.1]).turned(Rotation::zxz(0.3, 0.8, 0.1));
    for (taken, join) in [
        (3, (|m, a, b| m.ball("j", a, b)) as Join<'_>),
        (4, |m, a, b| m.hinge("j", a, b, [0.0, 0.0, 1.0])),
        (5, |m, a, b| m.hinge("j", a, b, [1.0, 0.0, 0.0])),
        (5, |m, a, b| m.fixed("j", a, b)),
        (4, |m, a, b| m.prismatic("j", a, b, [0.0, 0.0, 1.0])),
    ] {
        for flipped in [false, true] {
            let mut model = Model::new(&graph);
            let a = model.body("a", rod).unwrap();
            let b = model.body("b", potato()).unwrap();
            let ends = [a.point([0.5, 0.0, 0.0]).unwrap(), b.point([0.5, 0.0, 0.0]).unwrap()];
            let (from, to) = if flipped { (&ends[1], &ends[0]) } else { (&ends[0], &ends[1]) };
            match join(&mut model, from, to) {
                Ok(()) => {
                    let values = [a.start(&pose).unwrap(), b.start(&pose).unwrap()].concat();
                    assert_eq!(rank(&model, &values), 7 + taken);
                }
                // A rod cannot say which way is sideways.
                Err(error) => {
                    assert!(flipped && taken == 4 && matches!(error, BodyError::Undefined { .. }), "{error}")
                }
            }
        }
    }
    // A point mass on a rail that a solid carries.
    let mut model = Model::new(&graph);
    let bead = model.body("bead", Inertia::point(0.1).unwrap()).unwrap();
    let b = model.body("b", potato()).unwrap();
    model.prismatic("rail", &bead.centre(), &b.point([0.0; 3]).unwrap(), [1.0, 1.0, 0.0]).unwrap();
    let along = Pose::at(pose.position_of([0.2, 0.2, 0.0]));
    let values = [bead.start(&along).unwrap(), b.start(&pose).unwrap()].concat();
    assert_eq!(rank(&model, &values), 6 + 2);
}

#[test]
fn rods_lie_between_two_places() {
    let ends = |pose: Pose, half: f64| {
        [pose.position_of([-half, 0.0, 0.0]), pose.position_of([half, 0.0, 0.0])].concat()
    };
    let pose = Pose::between([1.0, 2.0], [1.0, -1.0]).unwrap();
    near(&ends(pose, 1.5), &[1.0, 2.0, 0.0, 1.0, -1.0, 0.0], 1e-15);
    for to in [[2.0, 3.0, 0.0], [-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 1e-9, 0.0]] {
        let pose = Pose::between([0.5, 0.0, 0.0], to).unwrap();
        let half = 0.5 * ((to[0] - 0.5f64).powi(2) + to[1] * to[1]).sqrt();
        near(&ends(pose, half), &[[0.5, 0.0, 0.0], to].concat(), 1e-15);
    }
    assert!(Pose::between([1.0, 2.0], [1.0, 2.0]).is_err());
    assert!(Pose::between([1.0, 2.0], [f64::NAN, 2.0]).is_err());
}

/// Held at its centre, a wheel has only its turning left; what is held can still be given and read.
#[test]
fn a_wheel_on_an_axle() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let wheel = model.body("wheel", Inertia::cylinder(2.0, 0.5, 0.1).unwrap()).unwrap();
    model.hinge("axle", &wheel.centre(), &model.anchor([1.0, 2.0, 3.0]), [0.0, 0.0, 1.0]).unwrap();
    let pose = Pose::at([1.0, 2.0, 3.0]).turned(Rotation::angle(0.3)).turning(4.0);
    let (mut dynamics, start) = begin(&model, &wheel.start(&pose).unwrap());
    assert!(dynamics.system().held().len() >= 3);
    assert!((energy(&mut dynamics, &start) - 0.5 * (0.5 * 2.0 * 0.25) * 16.0).abs() < 1e-14);
    let found = wheel.pose(&mut dynamics, &start).unwrap();
    near(&found.position(), &[1.0, 2.0, 3.0], 1e-15);
    near(&found.rotation().rows().concat(), &Rotation::angle(0.3).rows().concat(), 1e-15);
    let rate = observe(&mut dynamics, &start, &wheel.angular_velocity().unwrap());
    near(&rate, &[0.0, 0.0, 4.0], 1e-14);
    let elsewhere = dynamics.start(&wheel.start(&Pose::at([1.0, 2.0, 3.5])).unwrap()).unwrap_err();
    assert!(matches!(&elsewhere, StartError::Held { name, .. } if name == "wheel_z"), "{elsewhere}");
}

#[test]
fn parameters_may_be_masses_and_lengths() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l] = model.parameters([("m", 2.0), ("l", 0.6)]);
    let zero = model.number(0.0);
    let rod = model.body_with_moments("rod", m, [l * l / 12.0, zero]).unwrap();
    model.pin("pivot", &rod.point([-l / 2.0, zero]).unwrap(), &model.anchor([0.0, 0.0])).unwrap();
    let pose = Pose::at([0.0, 0.0]).holding([-0.5, 0.0]).turned(Rotation::angle(0.4)).turning(3.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    dynamics.set_parameters(&[3.0, 1.0]).unwrap();
    let start = dynamics.start(&rod.start(&pose).unwrap()).unwrap();
    assert!(dynamics.placed().unwrap().moved < 1e-15);
    assert!((energy(&mut dynamics, &start) - 0.5 * (3.0 / 3.0) * 9.0).abs() < 1e-14);
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let solid = Inertia::sphere(1.0, 0.1).unwrap();
    let a = model.body("arm", solid).unwrap();
    let rod = model.body("rod", Inertia::rod(1.0, 1.0).unwrap()).unwrap();
    let bead = model.body("bead", Inertia::point(1.0).unwrap()).unwrap();
    let flat = model.planar_body("flat", solid).unwrap();
    let at = a.point([0.0, 0.0, 0.1]).unwrap();
    let world = model.anchor([0.0, 0.0, 0.0]);
    let mut messages = Vec::new();
    let mut refused = |error: BodyError| messages.push(error.to_string());

    refused(model.body("arm", solid).unwrap_err());
    refused(model.body("far", solid.moved([0.0, f64::INFINITY, 0.0])).unwrap_err());
    refused(model.body("turned", solid.turned(&Rotation::angle(f64::NAN))).unwrap_err());
    refused(model.body_named("arn").unwrap_err());
    let other_graph = Graph::new();
    let mut other = Model::new(&other_graph);
    other.body("hand", solid).unwrap();
    refused(other.ball("wrist", &at, &other.anchor([0.0; 3])).unwrap_err());
    refused(model.ball("wrist", &at, &a.centre()).unwrap_err());
    refused(model.ball("wrist", &at, &flat.centre()).unwrap_err());
    refused(model.ball("wrist", &at, &model.anchor([0.0, 0.0])).unwrap_err());
    refused(model.hinge("wrist", &at, &world, [0.0; 3]).unwrap_err());
    refused(model.hinge("wrist", &at, &world, [0.0, f64::NAN, 0.0]).unwrap_err());
    refused(model.hinge("wrist", &flat.centre(), &model.anchor([0.0; 2]), [1.0, 0.0]).unwrap_err());
    refused(model.hinge("wrist", &rod.centre(), &world, [1.0, 1.0, 0.0]).unwrap_err());
    refused(model.hinge("wrist", &bead.centre(), &world, [1.0, 1.0, 0.0]).unwrap_err());
    refused(model.distance("wrist", &at, &world, -1.0).unwrap_err());
    refused(model.spring("wrist", &at, &world, f64::INFINITY, 1.0).unwrap_err());
    refused(model.push(&at, [1.0, 0.0]).unwrap_err());
    refused(a.point([0.0, 0.0]).unwrap_err());
    refused(a.point([0.0, 0.0, f64::NAN]).unwrap_err());
    refused(rod.point([0.1, 0.2, 0.0]).unwrap_err());
    refused(bead.point([0.1, 0.0, 0.0]).unwrap_err());
    refused(rod.orientation().unwrap_err());
    refused(bead.angular_velocity().unwrap_err());
    refused(a.angle().unwrap_err());
    refused(a.start(&Pose::at([0.0, 0.0])).unwrap_err());
    refused(a.start(&Pose::at([0.0, 0.0, f64::NAN])).unwrap_err());
    refused(flat.start(&Pose::at([0.0, 0.0]).turned(Rotation::zxz(0.0, 1.0, 0.0))).unwrap_err());
    refused(flat.start(&Pose::at([0.0, 0.0]).spinning([1.0, 0.0, 0.0])).unwrap_err());
    let m = model.parameter("m", -2.0);
    refused(model.body_with_moments("light", m, [m * m; 3]).unwrap_err());
    refused(model.body_with_moments("thin", 1.0, [m; 3]).unwrap_err());
    assert_eq!(
        messages,
        [
            "there is a body `arm` already: rename one of them",
            "a number in the inertia of body `far` is inf: numbers must be finite",
            "a number in the inertia of body `turned` is NaN: numbers must be finite",
            "the model has no body `arn`: did you mean `arm`?",
            "`wrist` holds the body `arm`, which this model does not have: add it to this model first",
            "`wrist` joins the body `arm` to itself: its points never move against each other",
            "the point of flat in `wrist` has 2 dimensions, 3 are expected",
            "the point of the world in `wrist` has 2 dimensions, 3 are expected",
            "the axis of `wrist` has length 0: give a direction",
            "the axis of `wrist` is NaN: numbers must be finite",
            "`wrist`, a joint of space that in the plane is a pin, has 2 dimensions, 3 are expected",
            "`rod` is a rod, so the axis of `wrist` is not defined: use a ball, an axis along or across a rod, or give it \
             second moments across",
            "`bead` is a point, so the axis of `wrist` is not defined: use a ball, an axis along or across a rod, or give it \
             second moments across",
            "the length of `wrist` is -1: it must be positive",
            "the stiffness of `wrist` is inf: numbers must be finite",
            "a force on arm has 2 dimensions, 3 are expected",
            "a point of body `arm` has 2 dimensions, 3 are expected",
            "a point of body `arm` is NaN: numbers must be finite",
            "`rod` is a rod, so a point off it is not defined: take a point on its axis, or give it second moments across",
            "`bead` is a point, so a point off it is not defined: take its centre, or give it second moments",
            "`rod` is a rod, so its orientation is not defined: give it second moments across",
            "`bead` is a point, so its angular velocity is not defined: give it second moments",
            "the angle is one number in the plane only: body `arm` has 3 dimensions, 2 are expected",
            "the pose of body `arm` has 2 dimensions, 3 are expected",
            "a number in the pose of body `arm` is NaN: numbers must be finite",
            "`flat` moves in the plane: its rotation must be about the z axis",
            "`flat` moves in the plane: its angular velocity must be about the z axis",
            "the mass of body `light` is -2: it must be positive",
            "a second moment of body `thin` is -2: it must be positive",
        ]
    );
}
