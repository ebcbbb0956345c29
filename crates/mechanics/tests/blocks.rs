//! Coordinates in blocks: the same motion as by single names, and the same care for names.

use leastaction_expr::{BlockError, Expr, Graph};
use leastaction_mechanics::{Dynamics, Model, ModelError, StartError};

/// Beads on springs in the plane, each tied to the one before it.
fn springs<'g>(model: &mut Model<'g>, places: &[[Expr<'g>; 2]]) {
    let mut before = [model.number(0.0); 2];
    for (i, &[x, y]) in places.iter().enumerate() {
        model.particle(&format!("bead {i}"), 1.0 + i as f64, [x, y]);
        let (dx, dy) = (x - before[0], y - before[1]);
        model.potential(&format!("spring {i}"), 0.5 * (dx * dx + dy * dy) + 0.1 * dx * dx * dy);
        before = [x, y];
    }
}

fn rates(dynamics: &mut Dynamics) -> Vec<u64> {
    let d = dynamics.system().dimension();
    let state: Vec<f64> = (0..d).map(|i| (1.7 * i as f64).sin()).collect();
    let mut rates = vec![0.0; d];
    dynamics.rates(&[0.0], &state, &mut rates).unwrap();
    rates.into_iter().map(f64::to_bits).collect()
}

#[test]
fn a_block_moves_as_single_coordinates_do() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let rope = model.coordinate_block("rope", 5, &["x", "y"]).unwrap();
    springs(&mut model, &(0..5).map(|i| [rope.symbol(i, 0), rope.symbol(i, 1)]).collect::<Vec<_>>());
    let mut block = model.system().unwrap().dynamics().unwrap();

    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let names: Vec<String> = (0..10).map(|i| format!("{}{}", ["x", "y"][i % 2], i / 2)).collect();
    let single = model.coordinate_list(&names);
    springs(&mut model, &single.chunks(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>());
    assert_eq!(rates(&mut block), rates(&mut model.system().unwrap().dynamics().unwrap()));

    let system = block.system().clone();
    assert_eq!(system.coordinates().at(7), "rope[3].y");
    assert_eq!(system.velocities().at(7), "rope[3].y'");
    assert_eq!(system.momenta().at(7), "p_rope[3].y");
    assert_eq!(system.momenta().position("p_rope[3].y"), Some(7));
    assert_eq!(system.state_name(17), "p_rope[3].y");
    // Names are understood wherever expressions are.
    let state = block.start(&[("rope[3].y", 0.25), ("p_rope[4].x", -2.0)]).unwrap();
    let product = block.observable("rope[3].y*p_rope[4].x").unwrap();
    let mut value = [0.0];
    block.observe(product, &[0.0], &state.block(), &mut value).unwrap();
    assert_eq!(value, [-0.5]);
    let unknown = block.start(&[("rope[9].y", 0.25)]).unwrap_err();
    assert!(matches!(unknown, StartError::UnknownName { nearest: Some(_), .. }), "{unknown}");
}

#[test]
fn names_of_blocks_are_watched_as_others_are() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let rope = model.coordinate_block("rope", 2, &["x", "y"]).unwrap();
    let other = model.coordinate_block("rope", 3, &["x", "y"]);
    assert_eq!(other.unwrap_err(), BlockError { name: "rope".to_owned() });
    springs(&mut model, &[[rope.symbol(0, 0), rope.symbol(0, 1)], [rope.symbol(1, 0), rope.symbol(1, 1)]]);
    let wrong = |change: &dyn Fn(&mut Model<'_>)| {
        let mut model = model.clone();
        change(&mut model);
        model.system().unwrap_err()
    };
    let twice = wrong(&|model| {
        model.coordinate("rope[1].y");
    });
    assert!(matches!(&twice, ModelError::DuplicateName { name, .. } if name == "rope[1].y"), "{twice}");
    let again = wrong(&|model| drop(model.coordinate_block("rope", 2, &["x", "y"])));
    assert!(matches!(&again, ModelError::DuplicateName { name, .. } if name == "rope[0].x"), "{again}");
    let momentum = wrong(&|model| {
        model.parameter("p_rope[1].x", 1.0);
    });
    assert!(
        matches!(&momentum, ModelError::DuplicateName { name, .. } if name == "p_rope[1].x"),
        "{momentum}"
    );
    let odd = wrong(&|model| drop(model.coordinate_block("two words", 2, &[])));
    assert!(matches!(&odd, ModelError::BadName { .. }), "{odd}");
    let outside = wrong(&|model| {
        let third = model.graph().symbol("rope[2].x");
        model.potential("wall", third * third);
    });
    assert!(matches!(&outside, ModelError::UnknownName { name, .. } if name == "rope[2].x"), "{outside}");
}
