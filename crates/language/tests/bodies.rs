//! Bodies, joints and springs in texts are those of the Rust API.

use leastaction_expr::Graph;
use leastaction_language::{BodyShape, Part, Setup, Spot, read, read_in};
use leastaction_mechanics::{Inertia, Matter, Model, Pose, Rotation};

/// Asserts that a text starts in the same state as a model made in Rust, and moves on in the same way.
fn assert_same(setup: &Setup<'_>, model: &Model<'_>, start: &[(&str, f64)]) {
    let [(state, found), (expected_state, expected)] =
        [(&setup.model, None), (model, Some(start))].map(|(model, start)| {
            let mut dynamics = model.system().unwrap().dynamics().unwrap();
            let values = start.map_or_else(|| setup.start(&dynamics).unwrap(), <[_]>::to_vec);
            let state = dynamics.start(&values).unwrap();
            let (t, y) = ([0.0], state.block());
            let mut field = vec![0.0; y.len()];
            dynamics.rates(&t, &y, &mut field).unwrap();
            let mut powers = [0.0; 4];
            dynamics.kinetic_energy(&t, &y, &mut powers[..1]).unwrap();
            dynamics.potential_energy(&t, &y, &mut powers[1..2]).unwrap();
            dynamics.dissipated_power(&t, &y, &mut powers[2..3]).unwrap();
            dynamics.supplied_power(&t, &y, &mut powers[3..]).unwrap();
            let system = dynamics.system();
            let names = (
                system.coordinates().clone(),
                system.constraints().iter().map(|c| c.0.clone()).collect::<Vec<_>>(),
            );
            (state, (names, field, powers))
        });
    assert_eq!(state, expected_state);
    assert_eq!(found, expected);
}

#[test]
fn a_gyroscope() {
    let graph = Graph::new();
    let text = "\
param m = 0.1, foot = 0.2217285
body top mass m moments [0.2413784, 0.2413784, 0.0369415]
joint pivot ball top at [0, 0, -foot] to ground
gravity [0, 0, -9.81]
start top at [0, 0, 0] holding [0, 0, -foot] turned zxz [0, 0.8, 0] rates [0, 0.1, 10.5]
let L = top.angular_momentum + top.mass*cross(top, top')
invariant `vertical angular momentum` = L.z
output nod = acos(top.axis3.z), spin = dot(top.spin, top.axis3)
";
    let setup = read(&graph, text, &[]).unwrap();
    let mut model = Model::new(&graph);
    let m = model.parameter("m", 0.1);
    let foot = model.parameter("foot", 0.2217285);
    let zero = model.number(0.0);
    let moments = [0.2413784, 0.2413784, 0.0369415].map(|moment| model.number(moment));
    let top = model.body_with_moments("top", m, moments).unwrap();
    let origin = model.anchor([0.0, 0.0, 0.0]);
    model.ball("pivot", &top.point([zero, zero, -foot]).unwrap(), &origin).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    let pose = Pose::at([0.0; 3]).holding([0.0, 0.0, -0.2217285]).zxz([0.0, 0.8, 0.0], [0.0, 0.1, 10.5]);
    assert_same(&setup, &model, &top.start(&pose).unwrap());

    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let state = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
    let mut observe = |text: &str| {
        let observable = dynamics.observable(text).unwrap();
        let mut value = [0.0];
        dynamics.observe(observable, &[0.0], &state.block(), &mut value).unwrap();
        value[0]
    };
    assert!((observe(&setup.outputs[0].value.to_string()) - 0.8).abs() < 1e-14);
    assert!((observe(&setup.outputs[1].value.to_string()) - 10.5).abs() < 1e-12);
    let about = top.angular_momentum_about(&origin).unwrap()[2];
    let expected = observe(&about.to_string());
    assert!((observe(&setup.invariants[0].value.to_string()) - expected).abs() < 1e-14 && expected > 0.01);

    // The picture: a rod from the pivot to the centre.
    assert!(setup.drawing.parts.contains(&Part::Rod(Spot::At([0.0; 3]), "top".into())));
}

#[test]
fn a_four_bar_linkage() {
    let graph = Graph::new();
    let text = "\
body crank planar rod 1 mass 1
body coupler planar rod 2.5 density 1
body rocker planar rod 3.75 mass 3.75
joint A pin [0, 0] to crank at [-0.5, 0]
joint B pin crank at [0.5, 0] to coupler at [-1.25, 0]
joint C pin coupler at [1.25, 0] to rocker at [-1.875, 0]
joint D pin rocker at [1.875, 0] to ground at [3.75, 0]
gravity [0, -9.81]
torque crank = 0.5
start crank from [0, 0] to [0, 1] spinning -2,
  coupler from [0, 1] to [1.5, 3], rocker from [1.5, 3] to [3.75, 0]
output crank.angle, crank.angle'
";
    let setup = read(&graph, text, &[]).unwrap();
    let mut model = Model::new(&graph);
    let [a, b, c, d] = [[0.0, 0.0], [0.0, 1.0], [1.5, 3.0], [3.75, 0.0]];
    let crank = model.planar_body("crank", Inertia::rod(1.0, 1.0).unwrap()).unwrap();
    let coupler = model.planar_body("coupler", Inertia::rod(2.5, 2.5).unwrap()).unwrap();
    let rocker = model.planar_body("rocker", Inertia::rod(3.75, 3.75).unwrap()).unwrap();
    model.pin("A", &model.anchor(a), &crank.point([-0.5, 0.0]).unwrap()).unwrap();
    model.pin("B", &crank.point([0.5, 0.0]).unwrap(), &coupler.point([-1.25, 0.0]).unwrap()).unwrap();
    model.pin("C", &coupler.point([1.25, 0.0]).unwrap(), &rocker.point([-1.875, 0.0]).unwrap()).unwrap();
    model.pin("D", &rocker.point([1.875, 0.0]).unwrap(), &model.anchor(d)).unwrap();
    model.gravity([0.0, -9.81]);
    model.planar_torque(&crank, 0.5).unwrap();
    let start = [
        crank.start(&Pose::between(a, b).unwrap().turning(-2.0)).unwrap(),
        coupler.start(&Pose::between(b, c).unwrap()).unwrap(),
        rocker.start(&Pose::between(c, d).unwrap()).unwrap(),
    ];
    assert_same(&setup, &model, &start.concat());
    assert_eq!(setup.outputs[0].value, crank.angle().unwrap());
    assert_eq!(setup.outputs[1].value, crank.angular_rate().unwrap());
    // Each bar is drawn with its shape, and nothing else between its joints.
    let shapes = setup.drawing.parts.iter().filter_map(|part| match part {
        Part::Body(body) => Some((body.name.as_str(), body.shapes[0].shape)),
        _ => None,
    });
    let rods = [("crank", 1.0), ("coupler", 2.5), ("rocker", 3.75)];
    assert_eq!(shapes.collect::<Vec<_>>(), rods.map(|(name, length)| (name, BodyShape::Rod(length))));
    assert!(!setup.drawing.parts.iter().any(|part| matches!(part, Part::Rod(..) | Part::Dot { .. })));
    assert!(setup.model.particles().iter().any(|place| place.name == "B" && place.inertias.is_empty()));
}

#[test]
fn a_slider_and_a_crank() {
    let graph = Graph::new();
    let text = "\
body crank planar rod 0.2 mass 1
body rod planar rod 0.6 mass 0.5
body piston planar point mass 0.3
point journal on crank at [0.1, 0]
joint shaft pin crank at [-0.1, 0] to ground
joint pin1 pin journal to rod at [-0.3, 0]
joint gudgeon pin rod at [0.3, 0] to piston
joint cylinder prismatic piston to ground axis [1, 0]
force crank at [0.1, 0] = [0, 2*t + 0.3], piston = [-5, 0]
start crank from [0, 0] to [0.2, 0], rod from [0.2, 0] to [0.8, 0]
start piston at [0.8, 0]
";
    let setup = read(&graph, text, &[]).unwrap();
    let mut model = Model::new(&graph);
    let crank = model.planar_body("crank", Inertia::rod(1.0, 0.2).unwrap()).unwrap();
    let rod = model.planar_body("rod", Inertia::rod(0.5, 0.6).unwrap()).unwrap();
    let piston = model.planar_body("piston", Inertia::point(0.3).unwrap()).unwrap();
    let origin = model.anchor([0.0, 0.0]);
    let journal = crank.point([0.1, 0.0]).unwrap();
    model.pin("shaft", &crank.point([-0.1, 0.0]).unwrap(), &origin).unwrap();
    model.pin("pin1", &journal, &rod.point([-0.3, 0.0]).unwrap()).unwrap();
    model.pin("gudgeon", &rod.point([0.3, 0.0]).unwrap(), &piston.centre()).unwrap();
    model.prismatic("cylinder", &piston.centre(), &origin, [1.0, 0.0]).unwrap();
    let zero = model.number(0.0);
    model.push(&journal, [zero, 2.0 * model.time() + 0.3]).unwrap();
    model.push(&piston.centre(), [-5.0, 0.0]).unwrap();
    let start = [
        crank.start(&Pose::between([0.0, 0.0], [0.2, 0.0]).unwrap()).unwrap(),
        rod.start(&Pose::between([0.2, 0.0], [0.8, 0.0]).unwrap()).unwrap(),
        piston.start(&Pose::at([0.8, 0.0])).unwrap(),
    ];
    assert_same(&setup, &model, &start.concat());
}

#[test]
fn a_box_on_a_spring_with_a_damper() {
    let graph = Graph::new();
    let text = "\
param k = 200, rest = 0.4, c = 3
body crate cuboid [0.3, 0.2, 0.1] density 500
spring from crate at [0.15, 0.1, 0.05] to [0, 0, 1] stiffness k length rest
damper from crate at [0.15, 0.1, 0.05] to [0, 0, 1] rate c
gravity [0, 0, -9.81]
torque crate = [0, 0, 0.1]
start crate at [0, 0, 0.5] holding [0.15, 0.1, 0.05] turned about [1, 0, 0] by 0.3 moving [0, 0.1, 0] spinning [0, 0, 3] in body
";
    let setup = read(&graph, text, &[]).unwrap();
    let mut model = Model::new(&graph);
    let [k, rest, c] = model.parameters([("k", 200.0), ("rest", 0.4), ("c", 3.0)]);
    let crate_ =
        model.body("crate", Inertia::cuboid(Matter::Density(500.0), [0.3, 0.2, 0.1]).unwrap()).unwrap();
    let (corner, ceiling) = (crate_.point([0.15, 0.1, 0.05]).unwrap(), model.anchor([0.0, 0.0, 1.0]));
    model.spring("spring", &corner, &ceiling, k, rest).unwrap();
    model.damper("damper", &corner, &ceiling, c).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    model.torque(&crate_, [0.0, 0.0, 0.1]).unwrap();
    let hung = Pose::at([0.0, 0.0, 0.5])
        .holding([0.15, 0.1, 0.05])
        .turned(Rotation::about([1.0, 0.0, 0.0], 0.3).unwrap())
        .moving([0.0, 0.1, 0.0])
        .spinning_in_body([0.0, 0.0, 3.0]);
    assert_same(&setup, &model, &crate_.start(&hung).unwrap());
    assert!(setup.drawing.parts.contains(&Part::Spring("spring.from".into(), Spot::At([0.0, 0.0, 1.0]))));
    // The corner is on the crate, which is drawn with its shape.
    assert!(!setup.drawing.parts.contains(&Part::Rod("spring.from".into(), "crate".into())));
    let crates = |part: &Part| matches!(part, Part::Body(body) if body.shapes[0].shape == BodyShape::Cuboid([0.3, 0.2, 0.1]));
    assert!(setup.drawing.parts.iter().any(crates));
}

#[test]
fn two_shafts_with_a_universal_joint() {
    let graph = Graph::new();
    let text = "\
let bend = 0.4
body a cylinder 0.05 height 1 mass 2
body b cylinder 0.05 height 1 mass 2 centre [0, 0, 0.5]
joint bearing1 hinge a to ground at [0, 0, 0] axis [0, 0, 1]
joint cardan universal a at [0, 0, 0.5] to b at [0, 0, 0] axis [1, 0, 0] and [0, 1, 0]
joint bearing2 cylindrical b at [0, 0, 1] to ground at [0, -sin(bend), 0.5 + cos(bend)] axis [0, 0, 1] and [0, -sin(bend), cos(bend)]
torque a = [0, 0, 1]
start a at [0, 0, 0] spinning [0, 0, 2]
start b at [0, 0, 0.5] holding [0, 0, 0] turned about [1, 0, 0] by bend
";
    let setup = read(&graph, text, &[]).unwrap();
    let mut model = Model::new(&graph);
    let shaft = Inertia::cylinder(2.0, 0.05, 1.0).unwrap();
    let a = model.body("a", shaft).unwrap();
    let b = model.body("b", shaft.moved([0.0, 0.0, 0.5])).unwrap();
    let (sin, cos) = 0.4f64.sin_cos();
    let ground = model.anchor([0.0, -sin, 0.5 + cos]);
    let bend = Rotation::shortest([0.0, 0.0, 1.0], [0.0, -sin, cos]).unwrap();
    assert!((bend.apply([0.0, 1.0, 0.0])[2] - sin).abs() < 1e-15);
    model.hinge("bearing1", &a.centre(), &model.anchor([0.0; 3]), [0.0, 0.0, 1.0]).unwrap();
    let (end, begin) = (a.point([0.0, 0.0, 0.5]).unwrap(), b.point([0.0; 3]).unwrap());
    model.universal("cardan", &end, [1.0, 0.0, 0.0], &begin, [0.0, 1.0, 0.0]).unwrap();
    let tip = b.point([0.0, 0.0, 1.0]).unwrap();
    model.cylindrical("bearing2", &tip, &ground.turned(&bend), [0.0, 0.0, 1.0]).unwrap();
    model.torque(&a, [0.0, 0.0, 1.0]).unwrap();
    let start = [
        a.start(&Pose::at([0.0; 3]).spinning([0.0, 0.0, 2.0])).unwrap(),
        b.start(&Pose::at([0.0, 0.0, 0.5]).turned(Rotation::about([1.0, 0.0, 0.0], 0.4).unwrap())).unwrap(),
    ];
    assert_same(&setup, &model, &start.concat());
}

/// A tensor is that of its principal moments, turned; and a body of several shapes is that of their sum.
#[test]
fn tensors_and_several_shapes() {
    let inertia = |text: &str| {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).unwrap();
        let body = setup.model.body_named("a").unwrap();
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
        let mut seen = |text: &str| {
            let mut out = [0.0];
            let observable = dynamics.observable(text).unwrap();
            dynamics.observe(observable, &[0.0], &start.block(), &mut out).unwrap();
            out[0]
        };
        let l = ["x", "y", "z"].map(|axis| seen(&format!("a.angular_momentum.{axis}")));
        (l, seen("kinetic"), body.centre_in_frame(), seen("a.mass"))
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    // Symmetric, positive, and with axes that are no principal ones.
    let (l, energy, ..) = inertia(
        "body a inertia [[3, 0.5, -0.25], [0.5, 4, 0.75], [-0.25, 0.75, 5]] mass 2\nstart a spinning [0.2, -0.3, 0.7]\n",
    );
    let w = [0.2, -0.3, 0.7];
    let expected = [
        3.0 * w[0] + 0.5 * w[1] - 0.25 * w[2],
        0.5 * w[0] + 4.0 * w[1] + 0.75 * w[2],
        -0.25 * w[0] + 0.75 * w[1] + 5.0 * w[2],
    ];
    l.iter().zip(expected).for_each(|(a, b)| close(*a, b));
    close(energy, 0.5 * w.iter().zip(expected).map(|(a, b)| a * b).sum::<f64>());

    // A dumbbell: two balls on a rod, about an axis across it, by Steiner's theorem.
    let (l, _, centre, mass) = inertia(
        "body a rod 1 mass 0.5 with sphere 0.1 mass 2 centre [0.5, 0, 0] with sphere 0.2 mass 1 centre [-0.5, 0, 0]
start a spinning [0, 0, 1]
",
    );
    close(mass, 3.5);
    close(centre[0], 0.5 / 3.5);
    let off = |m: f64, x: f64| m * (x - 0.5 / 3.5) * (x - 0.5 / 3.5);
    let about_z = 0.5 / 12.0 + 0.4 * 2.0 * 0.01 + 0.4 * 0.04 + off(0.5, 0.0) + off(2.0, 0.5) + off(1.0, -0.5);
    close(l[2], about_z);
}

/// The solid inside a mesh of a box is the box.
#[test]
fn meshes_are_bodies() {
    let folder = std::env::temp_dir().join(format!("leastaction-body-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let corners: Vec<String> =
        (0..8).map(|i| format!("v {} {} {}\n", 200 * (i & 1), 100 * (i >> 1 & 1), 50 * (i >> 2))).collect();
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    std::fs::write(folder.join("box.obj"), corners.concat() + faces).unwrap();
    std::fs::write(folder.join("open.obj"), corners.concat() + &faces[10..]).unwrap();
    let energy = |text: &str| {
        let graph = Graph::new();
        let text = format!("{text}\nstart a spinning [1, 2, 3]\n");
        let setup = read_in(&graph, &text, &[], Some(&folder), &[]).map_err(|wrong| wrong.to_string())?;
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
        let mut out = [0.0];
        dynamics.energy(&[0.0], &start.block(), &mut out).unwrap();
        Ok::<f64, String>(out[0])
    };
    let solid = energy("body a mesh \"box.obj\" scaled 1e-3 density 7850");
    let cuboid = energy("body a cuboid [0.2, 0.1, 0.05] density 7850").unwrap();
    assert!((solid.clone().unwrap() - cuboid).abs() < 1e-12 * cuboid, "{solid:?} {cuboid}");
    let open = energy("body a mesh \"open.obj\" mass 1").unwrap_err();
    assert!(open.contains("not closed"), "{open}");
    let wrong = energy("body a mesh \"box.obj\" mass 1 scaled 0").unwrap_err();
    assert!(wrong.contains("a scale is positive"), "{wrong}");
    let wrong = energy("body a mesh \"box.obj\" mass 1 centre [0, 0, 1]").unwrap_err();
    assert!(wrong.contains("where its file has it"), "{wrong}");
    std::fs::remove_dir_all(&folder).unwrap();
}
