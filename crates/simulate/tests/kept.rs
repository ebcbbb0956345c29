//! What is kept of meshes, and damping of them, from texts: against the same by calls from Rust, to the bit, and against theory.

use crate::meshes::simulation;
use leastaction_expr::Graph;
use leastaction_field::{Field, Keep, Mesh, Nodes, Value, lumped_masses, shipped};
use leastaction_mechanics::{Dynamics, Inertia, Model, State};
use leastaction_simulate::Simulation;

fn elastic<'g>(graph: &'g Graph, young: f64) -> Field<'g> {
    let given =
        [("young", young), ("poisson", 0.3)].map(|(name, value)| (name, Value::uniform(graph, value)));
    shipped("neo-hookean").unwrap().field(graph, &given).unwrap().renamed("elastic")
}

/// A run from a text ends where one by calls does.
fn same(text: &Simulation, mut dynamics: Dynamics) {
    let names = |dynamics: &Dynamics| -> Vec<String> {
        dynamics.system().constraints().iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&text.dynamics), names(&dynamics));
    let (from_text, by_calls) = (text.run().unwrap().trajectory, {
        text.integrator.run(&mut dynamics, &text.start, text.until).unwrap()
    });
    assert_eq!(from_text.end(), by_calls.end());
    assert_ne!(from_text.end().q, text.start.q);
}

#[test]
fn cells_of_a_block_are_kept_as_by_calls() {
    let text = simulation(
        "mesh block box [1, 1, 2] cells [2, 2, 4]\nmaterial block density 1\nfield elastic neo-hookean on block young 1000 poisson 0.3\n\
         keep cells: volumes of block by cells\nstart block moving [-y*z, x*z, 0]\nrun method rattle, step 1e-3, until 0.05\n",
    );
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [2, 2, 4]).unwrap();
    let nodes = Nodes::new(&mut model, "block", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    nodes.add(&mut model, &elastic(&graph, 1000.0)).unwrap();
    let cells: Vec<u32> = (0..96).map(|tetrahedron| tetrahedron / 6).collect();
    nodes.constrain(&mut model, &Field::volumes(&graph).renamed("cells"), Keep::Patches(&cells)).unwrap();
    same(&text, model.system().unwrap().dynamics().unwrap());
    // Patches by places are cells again.
    let patched = simulation(
        "mesh block box [1, 1, 2] cells [2, 2, 4]\nmaterial block density 1\nfield elastic neo-hookean on block young 1000 poisson 0.3\n\
         keep cells: volumes of block by floor(2*x) + 2*floor(2*y) + 4*floor(2*z)\nstart block moving [-y*z, x*z, 0]\n\
         run method rattle, step 1e-3, until 0.05\n",
    );
    assert_eq!(patched.dynamics.system().constraints().len(), 16);
    let (one, other) = (text.run().unwrap().trajectory.end(), patched.run().unwrap().trajectory.end());
    assert!(one.q.iter().zip(&other.q).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn lengths_and_volumes_are_kept_as_by_calls() {
    let text = simulation(
        "mesh line rope from [0, 0, 0] to [1, 0, 0] segments 8\nmaterial line mass 0.1 per length\nfix hook: line start\n\
         keep tension: lengths of line\ngravity [0, 0, -9.81]\nstart line moving [0, 0.1*x, 0]\nrun method rattle, step 1e-3, until 0.1\n",
    );
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], 8).unwrap();
    let nodes = Nodes::new(&mut model, "line", &mesh, &lumped_masses(&mesh, 0.1).unwrap()).unwrap();
    nodes.hold(&mut model, "hook", [(0, [0.0; 3].map(|x| graph.number(x)))]).unwrap();
    nodes.constrain(&mut model, &Field::lengths(&graph).renamed("tension"), Keep::Each).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    same(&text, model.system().unwrap().dynamics().unwrap());

    let text = simulation(
        "mesh skin sphere 1 level 1\nmaterial skin mass 0.1 per area\nfield stretch springs on skin stiffness 10\n\
         keep air: volume of skin\nstart skin moving [x, -y, 0]\nrun method rattle, step 1e-2, until 0.2\n",
    );
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::sphere(1.0, 1).unwrap();
    let nodes = Nodes::new(&mut model, "skin", &mesh, &lumped_masses(&mesh, 0.1).unwrap()).unwrap();
    let given = [("stiffness", Value::uniform(&graph, 10.0))];
    nodes
        .add(&mut model, &shipped("springs").unwrap().field(&graph, &given).unwrap().renamed("stretch"))
        .unwrap();
    nodes.keep_volume(&mut model, "air").unwrap();
    same(&text, model.system().unwrap().dynamics().unwrap());
}

const ARM: &str = "mesh arm beam [0.2, 0.2] length 1 cells [1, 1, 4] at [-0.1, -0.1, 0.1]\nmaterial arm density 2\n\
     field elastic neo-hookean on arm young 500 poisson 0.3\nbody hub cuboid [0.4, 0.4, 0.2] mass 0.3\n\
     joint axle hinge hub to ground axis [0, 1, 0]\nattach glue: arm z0 to hub\n";

/// A soft arm on a rigid hub with a hinge.
#[test]
fn a_soft_arm_moves_with_its_hub_as_by_calls() {
    let text = simulation(&format!(
        "{ARM}start hub at [0, 0, 0] spinning [0, 1, 0]\nstart arm moving [z, 0, -x]\nrun method rattle, step 5e-4, until 0.1\n"
    ));
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::beam([0.2, 0.2], 1.0, [1, 1], 4).unwrap();
    let mesh = mesh.mapped(|[x, y, z]| [x - 0.1, y - 0.1, z + 0.1]).unwrap();
    let nodes = Nodes::new(&mut model, "arm", &mesh, &lumped_masses(&mesh, 2.0).unwrap()).unwrap();
    nodes.add(&mut model, &elastic(&graph, 500.0)).unwrap();
    let hub = model.body("hub", Inertia::cuboid(0.3, [0.4, 0.4, 0.2]).unwrap()).unwrap();
    let ground = model.anchor([0.0; 3]);
    model.hinge("axle", &hub.centre(), &ground, [0.0, 1.0, 0.0]).unwrap();
    let root = mesh.group_nodes("z0").unwrap();
    let glued = root.iter().map(|&node| (node as usize, hub.point(mesh.nodes()[node as usize]).unwrap()));
    nodes.attach(&mut model, "glue", glued.collect::<Vec<_>>()).unwrap();
    same(&text, model.system().unwrap().dynamics().unwrap());
    // It turns as one from the start: nothing was moved, and the energy is that of a rigid body.
    let placed = text.placed.unwrap();
    assert!(placed.moved < 1e-15 && placed.deflected < 1e-14, "{placed:?}");
    let run = text.run().unwrap();
    assert!(run.energy().unwrap().drift.relative() < 1e-4);
}

#[test]
fn a_node_is_attached_to_a_particle() {
    // A rope that does not stretch with a bob at its end, as one pendulum of two links.
    let rope = simulation(
        "coord x, y, z\nparticle bob mass 1 at [x, y, z]\nmesh line rope from [0, 0, 0] to [1, 0, 0] segments 2\n\
         material line mass 1e-9 per node\nfix line start\nkeep lengths of line\nattach line[2] to bob\ngravity [0, 0, -1]\nstart x = 1\n\
         run until 1\n",
    );
    let bob = |run: &leastaction_simulate::Run| -> [f64; 2] {
        let (system, end) = (run.simulation.dynamics.system().clone(), run.trajectory.end());
        ["x", "z"].map(|name| end.q[system.coordinates().position(name).unwrap()])
    };
    let [x, z] = bob(&rope.run().unwrap());
    // From the horizontal a pendulum falls: after t = 1 by the known elliptic function, as one coordinate finds it.
    let one = simulation("coord a\nparticle bob mass 1 at [cos(a), -sin(a)]\ngravity [0, -1]\nrun until 1\n");
    let angle = one.run().unwrap().trajectory.end().q[0];
    assert!((x - angle.cos()).abs() < 1e-6 && (z + angle.sin()).abs() < 1e-6, "{x} {z} {angle}");
}

/// The rates of a text at its start are those of a model by calls there.
fn same_rates(text: &str, build: impl for<'g> FnOnce(&mut Model<'g>, &Nodes<'_, 'g>, &Field<'g>)) {
    let text = simulation(&format!(
        "mesh block box [1, 1, 1] cells [2, 2, 2]\nmaterial block density 1\nfield elastic neo-hookean on block young 10 poisson 0.3\n\
         start block at [1.1*x, y + 0.1*z, z] moving [y, -x*z, 0.3]\n{text}\n"
    ));
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::cuboid([1.0; 3], [2; 3]).unwrap();
    let nodes = Nodes::new(&mut model, "block", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    let field = elastic(&graph, 10.0);
    nodes.add(&mut model, &field).unwrap();
    build(&mut model, &nodes, &field);
    let rates = |mut dynamics: Dynamics, State { t, .. }: &State| {
        let y = text.start.block();
        let (mut rates, mut lost) = (vec![0.0; y.len()], [0.0]);
        dynamics.rates(&[*t], &y, &mut rates).unwrap();
        dynamics.dissipated_power(&[*t], &y, &mut lost).unwrap();
        assert!(lost[0] > 1e-3, "{lost:?}");
        (rates, lost)
    };
    let by_calls = rates(model.system().unwrap().dynamics().unwrap(), &text.start);
    assert_eq!(rates(text.dynamics.clone(), &text.start), by_calls);
}

#[test]
fn damping_is_that_of_calls() {
    same_rates("damping block viscosity 0.2 bulk 0.1", |model, nodes, _| {
        nodes.damp(model, &Field::viscosity(model.graph(), 0.2, 0.1)).unwrap();
    });
    same_rates("damping elastic stiffness 0.01", |model, nodes, elastic| {
        nodes.damp(model, &elastic.rest_damping(0.01).unwrap()).unwrap();
    });
    same_rates("damping block edges 0.3", |model, nodes, _| {
        nodes.damp(model, &Field::dampers(model.graph(), 0.3)).unwrap();
    });
}

/// With damping β K a mode of ω decays at the rate β ω²/2, and with dampers by masses at half their rate.
#[test]
fn modes_decay_as_their_damping_says() {
    let text = |damping: &str| {
        simulation(&format!(
            "mesh b box [1, 1, 2] cells [1, 1, 2]\nmaterial b density 1\nfield elastic linear on b young 1000 poisson 0.3\nfix b z0\n{damping}\n"
        ))
    };
    let beta = 0.004;
    for (damping, rate) in [
        (format!("damping elastic stiffness {beta}"), beta),
        (format!("damping elastic stiffness {beta}\ndamping b rate 0.6"), beta),
    ] {
        let simulation = text(&damping);
        let mut dynamics = simulation.dynamics.clone();
        let found = leastaction_analyze::modes(&mut dynamics, 0.0, &simulation.start.q, 24).unwrap();
        let spirals = found.spirals.unwrap();
        assert!(!found.undamped);
        for mode in &found.modes {
            let alpha = if damping.contains("rate") { 0.6 } else { 0.0 };
            let (square, growth) = (mode.square, -(alpha + rate * mode.square) / 2.0);
            let left = square - growth * growth;
            let known = spirals.iter().any(|spiral| match left > 0.0 {
                true => {
                    (spiral.growth - growth).abs() < 1e-8 * square
                        && (spiral.frequency - left.sqrt()).abs() < 1e-6
                }
                false => (spiral.growth - (growth + (-left).sqrt())).abs() < 1e-6 && spiral.frequency == 0.0,
            });
            assert!(known, "{damping}: ω² = {square}, growth {growth}, {spirals:?}");
        }
    }
}
