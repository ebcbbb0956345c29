//! Networks as energies of models: derivatives, and the same bits wherever a state stands.

use leastaction_expr::{Graph, Random};
use leastaction_mechanics::{Batch, Model, Opaque, OpaqueEnergy};
use leastaction_network::{Activation, Feature, FeatureKind, Initial, Network, NetworkEnergy, Pass, Sweep};

fn feature(coordinate: u32, of: FeatureKind) -> Feature {
    Feature { coordinate, of }
}

/// V of a plain coordinate 4 and an angle 2, which are read as places 1 and 0.
fn energy(activation: Activation, hidden: &[usize]) -> (Network<f64>, NetworkEnergy) {
    let widths = [&[3], hidden, &[1]].concat();
    let network = Network::new(&widths, activation).unwrap().drawn(Initial::Orthogonal, 3);
    let mut random = Random::new(1);
    let parameters: Vec<f64> = network.parameters().iter().map(|p| p + 0.2 * random.normal()).collect();
    let network = network.with_parameters(&parameters).unwrap();
    let features =
        [feature(4, FeatureKind::Plain), feature(2, FeatureKind::Cosine), feature(2, FeatureKind::Sine)];
    let energy = NetworkEnergy::new(&network, &features).unwrap();
    (network, energy)
}

const LANES: usize = 16;

struct Found {
    energy: Vec<f64>,
    gradient: Vec<f64>,
    product: Vec<f64>,
}

/// In rows of so many lanes.
fn all(energy: &NetworkEnergy, q: &[f64], direction: &[f64], lanes: usize) -> Found {
    let t = vec![0.0; lanes];
    let at = Batch { t: &t, q, parameters: &[], stride: lanes };
    // Nothing is read of what was there.
    let mut memory = vec![f64::NAN; energy.memory(lanes)];
    let mut found = Found {
        energy: vec![f64::NAN; lanes],
        gradient: vec![f64::NAN; 2 * lanes],
        product: vec![f64::NAN; 2 * lanes],
    };
    energy.energy(at, &mut memory, &mut found.energy);
    energy.gradient(at, &mut memory, &mut found.gradient);
    energy.hessian_product(at, direction, &mut memory, &mut found.product);
    found
}

#[test]
fn derivatives_are_differences_and_lanes_have_the_bits_of_single_states() {
    let mut random = Random::new(9);
    let q: Vec<f64> = (0..2 * LANES).map(|_| random.normal()).collect();
    let d: Vec<f64> = (0..2 * LANES).map(|_| random.normal()).collect();
    for activation in Activation::ALL {
        for hidden in [&[][..], &[7], &[6, 5, 9]] {
            let (network, energy) = energy(activation, hidden);
            assert_eq!(energy.facts().coordinates, [2, 4]);
            let found = all(&energy, &q, &d, LANES);
            for lane in 0..LANES {
                let (own, along) = ([q[lane], q[LANES + lane]], [d[lane], d[LANES + lane]]);
                let single = all(&energy, &own, &along, 1);
                let pick = |rows: &[f64]| {
                    rows.iter().skip(lane).step_by(LANES).map(|x| x.to_bits()).collect::<Vec<_>>()
                };
                let bits = |rows: &[f64]| rows.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(pick(&found.energy), bits(&single.energy));
                assert_eq!(pick(&found.gradient), bits(&single.gradient));
                assert_eq!(pick(&found.product), bits(&single.product));
                // Coordinate 2 is the angle.
                let x = [own[1], own[0].cos(), own[0].sin()];
                let (mut pass, mut slopes) = (Pass::new(&network, 1), [0.0; 3]);
                let value = pass.values(&network, &x)[0];
                assert!((value - single.energy[0]).abs() < 1e-13, "{activation} {hidden:?}");
                pass.pull(&network, &[1.0], &mut Sweep::new(&network, 1), &mut slopes);
                let expected = [slopes[2] * x[1] - slopes[1] * x[2], slopes[0]];
                for (a, b) in single.gradient.iter().zip(expected) {
                    assert!((a - b).abs() < 1e-13, "{activation} {hidden:?}: {a} {b}");
                }
                let h = 1e-3;
                let moved = |k: f64| {
                    let q = [own[0] + k * h * along[0], own[1] + k * h * along[1]];
                    all(&energy, &q, &along, 1).gradient
                };
                let at = [1.0, -1.0, 2.0, -2.0].map(moved);
                for i in 0..2 {
                    let slope = (8.0 * (at[0][i] - at[1][i]) - (at[2][i] - at[3][i])) / (12.0 * h);
                    assert!(
                        (slope - single.product[i]).abs() < 1e-8,
                        "{activation} {hidden:?}: {slope} {}",
                        single.product[i]
                    );
                }
            }
        }
    }
}

#[test]
fn a_model_moves_in_a_network() {
    let network = Network::new(&[2, 16, 1], Activation::Tanh).unwrap().drawn(Initial::Orthogonal, 8);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 2.0, [x, y]);
    let features = [feature(0, FeatureKind::Plain), feature(1, FeatureKind::Plain)];
    model.potential("learned", Opaque::new(NetworkEnergy::new(&network, &features).unwrap()));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let (mut rates, mut energy) = ([0.0; 4], [0.0]);
    dynamics.rates(&[0.0], &[0.3, -0.2, 1.0, 2.0], &mut rates).unwrap();
    dynamics.energy(&[0.0], &[0.3, -0.2, 1.0, 2.0], &mut energy).unwrap();
    let (mut pass, mut slopes) = (Pass::new(&network, 1), [0.0; 2]);
    let value = pass.values(&network, &[0.3, -0.2])[0];
    pass.pull(&network, &[1.0], &mut Sweep::new(&network, 1), &mut slopes);
    assert_eq!(rates[..2], [0.5, 1.0]);
    assert!((rates[2] + slopes[0]).abs() < 1e-14 && (rates[3] + slopes[1]).abs() < 1e-14);
    assert!((energy[0] - 1.25 - value).abs() < 1e-14);
}

#[test]
fn networks_that_are_no_energies_are_refused() {
    let network = |widths: &[usize]| Network::new(widths, Activation::Tanh).unwrap();
    let plain = [feature(0, FeatureKind::Plain)];
    let wrong = NetworkEnergy::new(&network(&[1, 2]), &plain).unwrap_err().to_string();
    assert!(wrong.contains("2 outputs"), "{wrong}");
    let wrong = NetworkEnergy::new(&network(&[3, 1]), &plain).unwrap_err().to_string();
    assert!(wrong.contains("3 inputs, and 1"), "{wrong}");
}
