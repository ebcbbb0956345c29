//! Networks against differences, plain loops, and closed forms.

use leastaction_expr::Random;
use leastaction_network::{
    Activation, Bends, CurveAdjoints, Curved, Initial, Network, NetworkError, Pass, Real, Room, Sweep,
};

const SHAPES: [&[usize]; 5] = [&[3, 8, 1], &[2, 5, 7, 3], &[4, 6, 6, 6, 1], &[3, 2], &[1, 1, 1]];

fn numbers<T: Real>(random: &mut Random, count: usize) -> Vec<T> {
    (0..count).map(|_| T::of(random.normal())).collect()
}

fn network(widths: &[usize], activation: Activation, random: &mut Random) -> Network<f64> {
    let network = Network::new(widths, activation).unwrap();
    let parameters: Vec<f64> = (0..network.parameters().len()).map(|_| 0.6 * random.normal()).collect();
    network.with_parameters(&parameters).unwrap()
}

/// One sample, by plain loops.
fn plainly(network: &Network<f64>, x: &[f64]) -> Vec<f64> {
    let (widths, mut parameters, mut at) = (network.widths(), network.parameters(), x.to_vec());
    for (number, pair) in widths.windows(2).enumerate() {
        let (weights, rest) = parameters.split_at(pair[0] * pair[1]);
        let (biases, rest) = rest.split_at(pair[1]);
        parameters = rest;
        let sum = |(row, bias): (&[f64], &f64)| bias + dot(row, &at);
        let sums: Vec<f64> = weights.chunks_exact(pair[0]).zip(biases).map(sum).collect();
        let last = number + 2 == widths.len();
        at = sums.into_iter().map(|x| if last { x } else { activate(network.activation(), x) }).collect();
    }
    at
}

fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Tanh => x.tanh(),
        Activation::Softplus => x.exp().ln_1p(),
        Activation::Sine => x.sin(),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The derivatives of a function by all its arguments, by central differences of fourth order.
fn differences(at: &[f64], mut function: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    const H: f64 = 1e-3;
    let mut moved = at.to_vec();
    let mut derivatives = Vec::new();
    for i in 0..at.len() {
        let mut value = |k: f64| {
            moved[i] = at[i] + k * H;
            let value = function(&moved);
            moved[i] = at[i];
            value
        };
        derivatives.push((8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / (12.0 * H));
    }
    derivatives
}

fn assert_close(found: &[f64], expected: &[f64], within: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= within * size, "{what} {i}: {found} against {expected}");
    }
}

fn everywhere(mut check: impl FnMut(&Network<f64>, usize, &mut Random, &str)) {
    let mut random = Random::new(5);
    for widths in SHAPES {
        for activation in Activation::ALL {
            for batch in [1, 3, 17] {
                let network = network(widths, activation, &mut random);
                check(&network, batch, &mut random, &format!("{widths:?} {activation} {batch}"));
            }
        }
    }
}

#[test]
fn a_batch_has_the_values_of_its_samples() {
    everywhere(|network, batch, random, what| {
        let x = numbers(random, network.inputs() * batch);
        let y = Pass::new(network, batch).values(network, &x).to_vec();
        for b in 0..batch {
            let sample: Vec<f64> = x.iter().skip(b).step_by(batch).copied().collect();
            let found: Vec<f64> = y.iter().skip(b).step_by(batch).copied().collect();
            assert_close(&found, &plainly(network, &sample), 1e-14, what);
        }
    });
}

#[test]
fn pulls_and_pushes_are_derivatives_and_agree() {
    everywhere(|network, batch, random, what| {
        let (mut pass, mut sweep) = (Pass::new(network, batch), Sweep::new(network, batch));
        let x: Vec<f64> = numbers(random, network.inputs() * batch);
        let weights: Vec<f64> = numbers(random, network.outputs() * batch);
        let direction: Vec<f64> = numbers(random, x.len());
        let (mut gradient, mut rates) = (vec![0.0; x.len()], vec![0.0; weights.len()]);
        pass.values(network, &x);
        pass.pull(network, &weights, &mut sweep, &mut gradient);
        pass.push(network, &direction, &mut sweep, &mut rates);
        let mut other = Pass::new(network, batch);
        let expected = differences(&x, |x| dot(&weights, other.values(network, x)));
        assert_close(&gradient, &expected, 1e-9, what);
        let (one, two) = (dot(&gradient, &direction), dot(&weights, &rates));
        assert!((one - two).abs() <= 1e-13 * (1.0 + one.abs()), "{what}: {one} {two}");
    });
}

#[test]
fn the_reverse_of_values_is_their_derivative_by_all_parameters() {
    everywhere(|network, batch, random, what| {
        let mut pass = Pass::new(network, batch);
        let x: Vec<f64> = numbers(random, network.inputs() * batch);
        let weights: Vec<f64> = numbers(random, network.outputs() * batch);
        let mut inputs = vec![0.0; x.len()];
        // What stands there is added to.
        let mut parameters = vec![1.0; network.parameters().len()];
        pass.values(network, &x);
        pass.reverse_values(network, &weights, &mut Room::new(network, batch), &mut inputs, &mut parameters);
        let expected = differences(network.parameters(), |parameters| {
            let network = network.clone().with_parameters(parameters).unwrap();
            dot(&weights, Pass::new(&network, batch).values(&network, &x))
        });
        parameters.iter_mut().for_each(|derivative| *derivative -= 1.0);
        assert_close(&parameters, &expected, 1e-9, what);
        let expected = differences(&x, |x| dot(&weights, Pass::new(network, batch).values(network, x)));
        assert_close(&inputs, &expected, 1e-9, what);
    });
}

#[test]
fn the_reverse_of_products_is_their_derivative_by_all_parameters() {
    everywhere(|network, batch, random, what| {
        let mut pass = Pass::new(network, batch);
        let x: Vec<f64> = numbers(random, network.inputs() * batch);
        let weights: Vec<f64> = numbers(random, network.outputs() * batch);
        let direction: Vec<f64> = numbers(random, x.len());
        let along = |network: &Network<f64>, x: &[f64]| {
            let (mut pass, mut rates) = (Pass::new(network, batch), vec![0.0; weights.len()]);
            pass.values(network, x);
            pass.push(network, &direction, &mut Sweep::new(network, batch), &mut rates);
            dot(&weights, &rates)
        };
        let value = along(network, &x);
        let by_parameters = differences(network.parameters(), |parameters| {
            along(&network.clone().with_parameters(parameters).unwrap(), &x)
        });
        let by_inputs = differences(&x, |x| along(network, x));
        let (mut sweep, mut room) = (Sweep::new(network, batch), Room::new(network, batch));
        for pulled in [true, false] {
            // The pass and its room were used for something else.
            pass.units(network, &direction);
            pass.reverse_values(
                network,
                &weights,
                &mut room,
                &mut x.clone(),
                &mut network.parameters().to_vec(),
            );
            pass.units(network, &x);
            let (mut inputs, mut rates) = (vec![0.0; x.len()], vec![0.0; weights.len()]);
            let (mut gradient, mut parameters) = (x.clone(), vec![1.0; network.parameters().len()]);
            if pulled {
                pass.pull(network, &weights, &mut sweep, &mut gradient);
                let seeds = (&sweep, &direction[..]);
                pass.reverse_pull(network, seeds, &mut room, &mut inputs, &mut rates, &mut parameters);
            } else {
                pass.push(network, &direction, &mut sweep, &mut rates);
                let seeds = (&sweep, &weights[..]);
                pass.reverse_push(network, seeds, &mut room, &mut inputs, &mut gradient, &mut parameters);
            }
            assert!((dot(&weights, &rates) - value).abs() <= 1e-13 * (1.0 + value.abs()), "{what}");
            assert!((dot(&gradient, &direction) - value).abs() <= 1e-13 * (1.0 + value.abs()), "{what}");
            parameters.iter_mut().for_each(|derivative| *derivative -= 1.0);
            assert_close(&parameters, &by_parameters, 1e-8, what);
            assert_close(&inputs, &by_inputs, 1e-8, what);
        }
    });
}

#[test]
fn single_precision_follows_double() {
    let mut random = Random::new(11);
    for activation in Activation::ALL {
        let wide = Network::<f64>::new(&[6, 64, 64, 1], activation).unwrap().drawn(Initial::Orthogonal, 3);
        let narrow = Network::<f32>::new(wide.widths(), activation).unwrap().drawn(Initial::Orthogonal, 3);
        let single: Vec<f32> = numbers(&mut random, 6 * 40);
        let x: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
        let (mut expected, mut found) = (vec![0.0; x.len()], vec![0.0_f32; x.len()]);
        let (mut one, mut other) = (Pass::new(&wide, 40), Pass::new(&narrow, 40));
        one.values(&wide, &x);
        other.values(&narrow, &single);
        one.pull(&wide, &[1.0; 40], &mut Sweep::new(&wide, 40), &mut expected);
        other.pull(&narrow, &[1.0; 40], &mut Sweep::new(&narrow, 40), &mut found);
        let found: Vec<f64> = found.into_iter().map(f64::from).collect();
        assert_close(&found, &expected, 3e-6, activation.name());
    }
}

#[test]
fn weights_are_orthogonal_or_have_their_variance_and_follow_the_seed() {
    let drawn = |initial, seed| {
        let network = Network::<f64>::new(&[30, 50, 20, 1], Activation::Tanh).unwrap();
        network.drawn(initial, seed).parameters().to_vec()
    };
    let list = drawn(Initial::Orthogonal, 1);
    assert_eq!(list, drawn(Initial::Orthogonal, 1));
    assert_ne!(list, drawn(Initial::Orthogonal, 2));
    // 50 rows of 30: columns are orthonormal. Then 50 biases, and 20 rows of 50.
    for (i, j) in [(0, 0), (0, 1), (7, 29)] {
        let sum: f64 = list[..1500].chunks_exact(30).map(|row| row[i] * row[j]).sum();
        assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-14, "{sum}");
    }
    assert!(list[1500..1550].iter().all(|bias| *bias == 0.0));
    let rows: Vec<&[f64]> = list[1550..2550].chunks_exact(50).collect();
    assert!((dot(rows[3], rows[3]) - 1.0).abs() < 1e-14 && dot(rows[3], rows[9]).abs() < 1e-14);
    let list = drawn(Initial::Glorot, 1);
    let variance = list[..1500].iter().map(|w| w * w).sum::<f64>() / 1500.0;
    assert!((variance * 80.0 / 2.0 - 1.0).abs() < 0.15, "{variance}");
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let new = |widths: &[usize]| Network::<f32>::new(widths, Activation::Sine).map(|_| ());
    assert_eq!(new(&[3]), Err(NetworkError::TooFew { given: 1 }));
    assert_eq!(new(&[3, 0, 1]), Err(NetworkError::Empty { layer: 1 }));
    let network = Network::<f32>::new(&[1, 1], Activation::Sine).unwrap();
    let wrong = network.clone().with_parameters(&[1.0]).unwrap_err();
    assert_eq!(wrong, NetworkError::WrongLength { expected: 2, given: 1 });
    let wrong = network.with_parameters(&[1.0, f32::NAN]).unwrap_err();
    assert_eq!(wrong.to_string(), "parameter 1 is NaN: parameters must be finite");
}

#[test]
fn curves_are_second_derivatives_and_their_reverse_is_theirs() {
    everywhere(|network, batch, random, what| {
        let mut pass = Pass::new(network, batch);
        let [x, direction, adjoint] = [(); 3].map(|()| numbers::<f64>(random, network.inputs() * batch));
        let weights: Vec<f64> = numbers(random, network.outputs() * batch);
        let mut bends = Bends::new(network, batch);
        let curve = |network: &Network<f64>, x: &[f64], weights: &[f64], direction: &[f64]| {
            let (mut pass, mut bends) = (Pass::new(network, batch), Bends::new(network, batch));
            let mut curve = vec![f64::NAN; x.len()];
            pass.units(network, x);
            pass.curve(network, Curved { weights, direction }, &mut bends, &mut curve);
            curve
        };
        // Along a line, pulls change by the curve.
        let found = curve(network, &x, &weights, &direction);
        let expected = differences(&[0.0], |at| {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + at[0] * d).collect();
            let mut gradient = vec![0.0; x.len()];
            pass.units(network, &moved);
            pass.pull(network, &weights, &mut Sweep::new(network, batch), &mut gradient);
            dot(&gradient, &adjoint)
        });
        assert_close(&[dot(&found, &adjoint)], &expected, 1e-8, what);

        let mut parameters = vec![1.0; network.parameters().len()];
        let [mut inputs, mut by_direction] = [(); 2].map(|()| vec![f64::NAN; x.len()]);
        let mut by_weights = vec![f64::NAN; weights.len()];
        let to =
            CurveAdjoints { inputs: &mut inputs, direction: &mut by_direction, weights: &mut by_weights };
        pass.units(network, &x);
        let of = Curved { weights: &weights, direction: &direction };
        pass.reverse_curve(network, (of, &adjoint), &mut bends, to, &mut parameters);
        parameters.iter_mut().for_each(|derivative| *derivative -= 1.0);
        let expected = differences(network.parameters(), |parameters| {
            let network = network.clone().with_parameters(parameters).unwrap();
            dot(&adjoint, &curve(&network, &x, &weights, &direction))
        });
        assert_close(&parameters, &expected, 1e-8, what);
        let expected = differences(&x, |x| dot(&adjoint, &curve(network, x, &weights, &direction)));
        assert_close(&inputs, &expected, 1e-8, what);
        let expected = differences(&direction, |d| dot(&adjoint, &curve(network, &x, &weights, d)));
        assert_close(&by_direction, &expected, 1e-8, what);
        let expected = differences(&weights, |w| dot(&adjoint, &curve(network, &x, w, &direction)));
        assert_close(&by_weights, &expected, 1e-8, what);
    });
}
