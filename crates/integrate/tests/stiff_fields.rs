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
