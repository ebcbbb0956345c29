//! The choice of methods and steps for fields of many elements.

use leastaction_expr::Graph;
use leastaction_field::{Field, Keep, Mesh, Nodes, Value, lumped_masses, shipped};
use leastaction_integrate::{Card, Choice, Pace, longest_stable_step};
use leastaction_mechanics::{Dynamics, Model, State};

#[derive(Clone, Copy, PartialEq)]
enum With {
    Nothing,
    Damping,
    Volumes,
}

/// A block of 2 × 2 × 3 cells, a little stretched.
fn block(with: With) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::cuboid([1.0, 1.0, 1.5], [2, 2, 3]).unwrap();
    let masses = lumped_masses(&mesh, 1.0).unwrap();
    let nodes = Nodes::new(&mut model, "block", &mesh, &masses).unwrap();
    let given = [("young", 1000.0), ("poisson", 0.3)].map(|(name, x)| (name, Value::uniform(&graph, x)));
    nodes.add(&mut model, &shipped("neo-hookean").unwrap().field(&graph, &given).unwrap()).unwrap();
    match with {
        With::Nothing => {}
        With::Damping => {
            let speeds = (0..masses.len()).flat_map(|node| nodes.at(node).map(|x| (node, model.velocity(x))));
            let drag: Vec<_> = speeds.map(|(node, v)| 0.25 * masses[node] * v * v).collect();
            model.dissipation("drag", graph.sum(drag));
        }
        With::Volumes => {
            nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Total).unwrap();
        }
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let n = dynamics.system().degrees();
    let mut block = vec![0.0; 2 * n];
    let places: Vec<_> = mesh.nodes().iter().map(|x| [x[0], x[1], x[2]]).collect();
    nodes.place(dynamics.system(), &places, &mut block);
    dynamics.start_block(0.0, true, &mut block).unwrap();
    (dynamics, State::from_block(0.0, &block, n))
}

#[test]
fn fields_get_methods_that_kick_once_with_a_part_of_the_stable_step() {
    for (with, name) in [(With::Nothing, "verlet"), (With::Damping, "conformal2"), (With::Volumes, "rattle")]
    {
        let (mut dynamics, start) = block(with);
        let choice = Choice::new(&mut dynamics, &start, 2.0, None).unwrap();
        assert_eq!(choice.integrator.card().name, name, "{}", choice.why);
        let limit = longest_stable_step(&mut dynamics, &start, choice.integrator.card()).unwrap();
        let Pace::Step(step) = *choice.integrator.pace() else { panic!("{:?}", choice.integrator.pace()) };
        assert!(step > 0.1 * limit && step < 0.2 * limit, "{step} of {limit}");
        assert!(choice.why.contains("stiffest element"), "{}", choice.why);
        // It is stable, and what should be kept is kept.
        let run = choice.integrator.run(&mut dynamics, &start, 2.0).unwrap();
        if with != With::Damping {
            assert!(run.energy_change(&mut dynamics).unwrap().change < 1e-3);
        }
    }
}

#[test]
fn a_step_beyond_the_limit_is_not_given_to_an_explicit_method() {
    let (mut dynamics, start) = block(With::Nothing);
    let verlet = Card::named("verlet").unwrap();
    let limit = longest_stable_step(&mut dynamics, &start, verlet).unwrap();
    let named = |dynamics: &mut Dynamics, step: f64| {
        Choice::new(dynamics, &start, 2.0, Some(Pace::Step(step))).unwrap().integrator.card().name
    };
    assert_eq!(named(&mut dynamics, 0.2 * limit), "verlet");
    assert_eq!(named(&mut dynamics, 2.0 * limit), "gauss4");
    // The limit is one: beyond it, an oscillation grows at once.
    let mut pushed = start.clone();
    pushed.p[5] = 1e-6;
    for (factor, grows) in [(0.97, false), (1.05, true)] {
        let run = leastaction_integrate::Integrator::new(verlet, Pace::Step(factor * limit));
        let end = run.run(&mut dynamics, &pushed, 400.0 * factor * limit);
        let fastest = end.map_or(f64::INFINITY, |run| run.end().p.iter().fold(0.0f64, |m, p| m.max(p.abs())));
        assert_eq!(fastest > 1e-3, grows, "{factor}: {fastest}");
    }
    // Other methods have other limits.
    let other = Card::named("blanes-moan4").unwrap();
    assert_eq!(longest_stable_step(&mut dynamics, &start, other), None);
}

/// A cube of so many cells along each edge, held at its foot and stretched by gravity that was not there before.
fn cube(cells: u32) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::cuboid([1.0; 3], [cells; 3]).unwrap();
    let nodes = Nodes::new(&mut model, "cube", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    let given = [("young", 1000.0), ("poisson", 0.3)].map(|(name, x)| (name, Value::uniform(&graph, x)));
    nodes.add(&mut model, &shipped("stable-neo-hookean").unwrap().field(&graph, &given).unwrap()).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    let foot = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] == 0.0);
    let foot = foot.map(|node| (node, mesh.nodes()[node].map(|x| graph.number(x))));
    nodes.hold(&mut model, "foot", foot.collect::<Vec<_>>()).unwrap();
    let dynamics = model.system().unwrap().dynamics().unwrap();
    let n = dynamics.system().degrees();
    let mut block = vec![0.0; 2 * n];
    nodes.place(dynamics.system(), mesh.nodes(), &mut block);
    (dynamics, State::from_block(0.0, &block, n))
}

/// At steps that explicit methods cannot take, each of an implicit one takes a few evaluations, as its equations are solved with the factors of M + h²K/4.
#[test]
fn long_implicit_steps_of_a_field_take_few_evaluations() {
    let (mut dynamics, start) = cube(7);
    assert!(dynamics.system().dimension() > 2048, "{}", dynamics.system().dimension());
    let verlet = Card::named("verlet").unwrap();
    let limit = longest_stable_step(&mut dynamics, &start, verlet).unwrap();
    let (step, count) = (10.0 * limit, 20.0);
    let run = leastaction_integrate::Integrator::named("implicit-midpoint", step).unwrap();
    let run = run.run(&mut dynamics, &start, count * step).unwrap();
    let work = run.work();
    let each = work.evaluations as f64 / work.steps as f64;
    assert!(each < 60.0, "{each} evaluations a step");
    // Each step solves its equations: y₁ − y₀ = h f((y₀ + y₁)/2).
    let n = dynamics.system().dimension();
    for pair in run.blocks().chunks_exact(n).collect::<Vec<_>>().windows(2).take(5) {
        let middle: Vec<f64> = pair[0].iter().zip(pair[1]).map(|(a, b)| 0.5 * (a + b)).collect();
        let mut rates = vec![0.0; n];
        dynamics.rates(&[0.0], &middle, &mut rates).unwrap();
        let changes = pair[0].iter().zip(pair[1]).map(|(a, b)| b - a);
        let off = changes.zip(&rates).fold(0.0f64, |m, (change, rate)| m.max((change - step * rate).abs()));
        assert!(off < 1e-12, "{off}");
    }
    assert!(run.energy_change(&mut dynamics).unwrap().relative() < 1e-2);
}

/// So do methods that keep the energy, whose equations have more in them than the Jacobian of the rates: they keep it to rounding, in few evaluations.
#[test]
fn long_steps_of_a_field_keep_the_energy() {
    let (mut dynamics, start) = cube(7);
    let verlet = Card::named("verlet").unwrap();
    let step = 10.0 * longest_stable_step(&mut dynamics, &start, verlet).unwrap();
    for (name, most) in [("discrete-gradient", 400.0), ("average-vector-field", 1500.0)] {
        let run = leastaction_integrate::Integrator::named(name, step).unwrap();
        let run =
            run.run(&mut dynamics, &start, 6.0 * step).unwrap_or_else(|error| panic!("{name}: {error}"));
        let each = run.work().evaluations as f64 / run.work().steps as f64;
        let drift = run.energy_drift(&mut dynamics).unwrap();
        println!("{name}: {each} evaluations a step, energy to {drift:e}");
        assert!(each < most, "{name}: {each} evaluations a step");
        assert!(drift < 1e-12, "{name}: {drift:e}");
    }
}
