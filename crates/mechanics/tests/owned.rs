//! Models, equations and systems that borrow nothing.

use crate::common::zoo::chain;
use crate::common::{field, run};
use leastaction_expr::{Graph, Owned};
use leastaction_mechanics::{Dynamics, Equations, Inertia, Model, Ports, System};
use std::sync::Arc;

fn is_kept_and_shared<T: Send + Sync + 'static>() {}

#[test]
fn what_is_owned_can_be_kept_and_shared() {
    is_kept_and_shared::<Owned<Model<'static>>>();
    is_kept_and_shared::<Owned<Equations<'static>>>();
    is_kept_and_shared::<Owned<Ports<'static>>>();
    is_kept_and_shared::<System>();
    is_kept_and_shared::<Graph>();
}

/// One thread writes a model, the next derives its equations, the third compiles and runs them: with the same bits as one does it all.
#[test]
fn threads_hand_a_model_on() {
    let graph = Arc::new(Graph::new());
    let mut model = Model::new(&graph);
    let start = chain(&mut model, 4);
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let end = |mut dynamics: Dynamics| {
        let start = dynamics.start(&start).unwrap();
        (field(&mut dynamics, &start), run(&mut dynamics, &start, 0.1, 10))
    };
    let alone = end(model.system().unwrap().dynamics().unwrap());

    let kept = Owned::new(Arc::clone(&graph), &model);
    assert_eq!(format!("{:?}", kept.get()), format!("{model:?}"));
    let derived = std::thread::spawn(move || {
        let equations = kept.get().equations().unwrap();
        Owned::new(Arc::clone(kept.graph()), &equations)
    });
    let derived = derived.join().unwrap();
    assert_eq!(format!("{:?}", derived.get()), format!("{:?}", model.equations().unwrap()));
    let system = std::thread::spawn(move || derived.get().system().unwrap()).join().unwrap();
    assert_eq!(end(system.dynamics().unwrap()), alone);
}

/// Two threads write into one graph, and each into its own what it takes from the other's.
#[test]
fn threads_share_graphs() {
    let [one, two] = [Graph::new(), Graph::new()];
    let write = |own: &Graph, other: &Graph, letter: &str| {
        let mut sum = own.number(0.0);
        for i in 0..2000 {
            let x = other.symbol(&format!("{letter}{i}"));
            sum += (x * x).sin();
        }
        assert_eq!(sum.free_symbols().len(), 2000);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| write(&one, &two, "x"));
        scope.spawn(|| write(&two, &one, "y"));
        scope.spawn(|| write(&one, &two, "z"));
    });
}

/// A body, its joint and gravity by lists whose length is known at run time only, and what is kept of them.
#[test]
fn lists_say_what_arrays_say() {
    let (first, second) = (Arc::new(Graph::new()), Graph::new());
    let (mut by_lists, mut by_arrays) = (Model::new(&first), Model::new(&second));
    let names: Vec<String> = ["x", "y"].map(str::to_owned).to_vec();
    let g = by_lists.parameter_list(&[("g", 9.81)])[0];
    let position = by_lists.coordinate_list(&names);
    by_lists.momentum_list(&["px", "py"]);
    by_lists.particle("bob", 2.0, &position);
    by_lists.point("tip", &position[..]);
    by_lists.gravity(vec![by_lists.number(0.0), -g]);
    let top = by_lists.planar_body("top", Inertia::disk(1.0, 0.5).unwrap()).unwrap();
    by_lists.push(&top.point(vec![0.1, 0.2]).unwrap(), vec![1.0, 0.0]).unwrap();

    let [g] = by_arrays.parameters([("g", 9.81)]);
    let position = by_arrays.coordinates(["x", "y"]);
    by_arrays.momenta(["px", "py"]);
    by_arrays.particle("bob", 2.0, position);
    by_arrays.point("tip", position);
    by_arrays.gravity([by_arrays.number(0.0), -g]);
    let top = by_arrays.planar_body("top", Inertia::disk(1.0, 0.5).unwrap()).unwrap();
    by_arrays.push(&top.point([0.1, 0.2]).unwrap(), [1.0, 0.0]).unwrap();
    let text = |model: &Model<'_>| format!("{:?}", model.equations().unwrap());
    assert_eq!(text(&by_lists), text(&by_arrays));
    assert_eq!(text(&Owned::new(Arc::clone(&first), &by_lists).get()), text(&by_lists));
}
