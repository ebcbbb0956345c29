//! The loss and the gradient of one small case, as PyTorch and JAX compute them: `chnn_case.npz` has both.

use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_learn::architecture::{Architecture, Structure, chnn};
use leastaction_learn::{Chunks, Loss, Objective, Predictor, step};
use leastaction_network::Activation;
use leastaction_output::npz::Arrays;

#[test]
fn loss_and_gradient_are_those_of_independent_frameworks() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chnn_case.npz");
    let case = Arrays::read(&path).unwrap();
    let numbers = |name: &str| case.numbers(name).unwrap_or_else(|| panic!("{name}")).1;
    let graph = Graph::new();
    let setup = Entry::named("n-pendulum").unwrap().setup_sized(&graph, 3).unwrap();
    let structure = Structure::of(&setup.model).unwrap();
    let chnn = chnn(structure, &[32, 32, 32], Activation::Tanh).unwrap();
    let predictor = Predictor::new(&chnn, step::three_eighths, 1).unwrap();

    let flat = |prefix: &str| {
        let mut all = Vec::new();
        for name in ["W1", "b1", "W2", "b2", "W3", "b3", "w4"] {
            all.extend_from_slice(numbers(&format!("{prefix}_{name}")));
        }
        all.push(0.0); // the constant of the energy, which has no effect
        all.extend_from_slice(numbers(&format!("{prefix}_logm")));
        all
    };
    let parameters = flat("p");
    assert_eq!(parameters.len(), chnn.layout().len());
    // Sample, number of the state, chunk: here chunks come first.
    let (shape, z) = case.numbers("z").unwrap();
    let (samples, dimension, chunks) = (shape[0], shape[1] * shape[2] * shape[3], shape[4]);
    let mut states = vec![0.0; z.len()];
    for (place, value) in z.iter().enumerate() {
        states[(place % chunks) * samples * dimension + place / chunks] = *value;
    }
    let batch = Chunks { states: &states, samples, dimension };

    let mut objective = Objective::<f64>::new(&predictor, Loss::Absolute, numbers("dt")[0], 1);
    let mut gradient = vec![0.0; parameters.len()];
    let loss = objective.loss_and_gradient(&parameters, batch, &mut gradient);
    assert!((loss - numbers("loss_torch")[0]).abs() < 1e-12, "{loss}");
    assert_eq!(loss, objective.loss(&parameters, batch));
    let expected = flat("torch");
    let mut place = 0;
    for name in ["W1", "b1", "W2", "b2", "W3", "b3", "w4", "c", "logm"] {
        let count = if name == "c" { 1 } else { numbers(&format!("p_{name}")).len() };
        let (found, expected) = (&gradient[place..place + count], &expected[place..place + count]);
        let size = expected.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= 1e-11 * size, "{name}: {worst} of {size}");
        place += count;
    }
}
