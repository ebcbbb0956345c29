//! How networks bend: products of second derivatives by the inputs with directions, and their reverses, for energies that are not quadratic in velocities.

use crate::activation::Activation;
use crate::each::each;
use crate::network::Network;
use crate::pass::{Pass, Sweep, add_outer, add_rows, affine};
use crate::real::Real;
use leastaction_linear::{Onto, Rows, multiply};

/// Working memory for curves of one network, which is free between any two calls.
#[derive(Clone, Debug)]
pub struct Bends<T> {
    /// What is pulled back, the direction, the weights of the curve as another one, and both together.
    pulled: Sweep<T>,
    first: Sweep<T>,
    second: Sweep<T>,
    mixed: Sweep<T>,
    /// Derivatives by the units of a layer, by how they change along the first direction, and along the second; and the same after their activation.
    came: [Vec<T>; 3],
    left: [Vec<T>; 3],
    thirds: Vec<T>,
}

/// What a curve is of: weights ȳ of the outputs, and a direction ẋ of the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Curved<'a, T> {
    /// ȳ.
    pub weights: &'a [T],
    /// ẋ.
    pub direction: &'a [T],
}

/// Where the derivatives of a curve go: those by the inputs x, by ẋ and by ȳ.
#[derive(Debug)]
pub struct CurveAdjoints<'a, T> {
    /// By x.
    pub inputs: &'a mut [T],
    /// By ẋ.
    pub direction: &'a mut [T],
    /// By ȳ.
    pub weights: &'a mut [T],
}

impl<T: Real> Bends<T> {
    /// Memory for so many samples at once.
    #[must_use]
    pub fn new(network: &Network<T>, batch: usize) -> Bends<T> {
        let widest = network.widths().iter().copied().max().unwrap_or(0) * batch;
        let rows = || [(); 3].map(|()| vec![T::default(); widest]);
        let sweep = || Sweep::new(network, batch);
        Bends {
            pulled: sweep(),
            first: sweep(),
            second: sweep(),
            mixed: sweep(),
            came: rows(),
            left: rows(),
            thirds: vec![T::default(); widest],
        }
    }
}

impl<T: Real> Pass<T> {
    /// H ẋ, with the second derivatives H = ∂²(ȳ·y)/∂x² by the inputs, sample by sample.
    ///
    /// # Panics
    /// If lengths are not those of the network and the batch.
    pub fn curve(&self, network: &Network<T>, of: Curved<'_, T>, bends: &mut Bends<T>, curve: &mut [T]) {
        let Bends { pulled, first, came: [came, ..], left: [left, ..], .. } = bends;
        self.pull_to_units(network, of.weights, pulled);
        self.push_to_units(network, of.direction, first);
        let Some(last) = self.hidden.len().checked_sub(1) else { return curve.fill(T::default()) };
        for number in (0..=last).rev() {
            let (hidden, layer) = (&self.hidden[number], &self.layers[number]);
            let count = hidden.values.len();
            let rows = [&hidden.seconds[..], &first.hidden[number][0], &pulled.hidden[number][0]];
            if number == last {
                each(&mut left[..count], rows, |_, [second, rate, back]| second * rate * back);
            } else {
                let [seconds, rates, back] = rows;
                let rows = [seconds, rates, back, &hidden.slopes, &came[..count]];
                let sum = |_, [second, rate, back, slope, came]: [T; 5]| second * rate * back + slope * came;
                each(&mut left[..count], rows, sum);
            }
            let to = if number == 0 { &mut *curve } else { &mut came[..layer.columns * self.batch()] };
            let back = layer.weights(network).transposed();
            multiply(to, Onto::Replaced, back, Rows::new(&left[..count], layer.rows, self.batch()));
        }
    }

    /// The reverse of a [`curve`](Pass::curve), weighted by r̄: adds to `parameters` the derivatives of r̄ᵀ H ẋ by the parameters of the network, and puts those by x, ẋ and ȳ where they are to go.
    ///
    /// # Panics
    /// If lengths are not those of the network and the batch.
    pub fn reverse_curve(
        &self,
        network: &Network<T>,
        (of, adjoint): (Curved<'_, T>, &[T]),
        bends: &mut Bends<T>,
        to: CurveAdjoints<'_, T>,
        parameters: &mut [T],
    ) {
        if self.hidden.is_empty() {
            return [to.inputs, to.direction, to.weights]
                .into_iter()
                .for_each(|rows| rows.fill(T::default()));
        }
        let batch = self.batch();
        let Bends { pulled, first, second, mixed, came, left, thirds } = bends;
        self.pull_to_units(network, of.weights, pulled);
        self.push_to_units(network, of.direction, first);
        self.push_to_units(network, adjoint, second);
        self.mix(network, [first, second], mixed);
        // The outputs bend by the last layer's weights of what bends before it.
        let last = &self.layers[self.layers.len() - 1];
        let bent = mixed.before(self.layers.len() - 1);
        multiply(to.weights, Onto::Replaced, last.weights(network), Rows::new(bent, last.columns, batch));
        add_outer(&mut parameters[last.weights.clone()], last, batch, of.weights, bent);
        came.iter_mut().for_each(|rows| rows.fill(T::default()));
        for number in (0..self.hidden.len()).rev() {
            let (hidden, layer) = (&self.hidden[number], &self.layers[number]);
            let count = hidden.values.len();
            affine(network, layer, batch, self.before(number), &mut thirds[..count]);
            network.activation().thirds(&mut thirds[..count]);
            let [slopes, seconds, thirds] = [&hidden.slopes[..], &hidden.seconds, &thirds[..count]];
            let [one, two, both] =
                [&first.hidden[number][0][..], &second.hidden[number][0], &mixed.hidden[number][0]];
            let back = &pulled.hidden[number][0][..];
            let [came_of_units, came_of_one, came_of_two] = [0, 1, 2].map(|i| &came[i][..count]);
            let [units, by_one, by_two] = left;
            each(
                &mut by_one[..count],
                [slopes, came_of_one, seconds, two, back],
                |_, [s, c, z, two, back]| s * c + z * two * back,
            );
            each(
                &mut by_two[..count],
                [slopes, came_of_two, seconds, one, back],
                |_, [s, c, z, one, back]| s * c + z * one * back,
            );
            // In two turns, as loops read no more than so many rows at once.
            each(
                &mut units[..count],
                [slopes, came_of_units, thirds, one, two, back],
                |_, [s, c, third, one, two, back]| s * c + third * one * two * back,
            );
            each(
                &mut units[..count],
                [seconds, one, came_of_one, two, came_of_two, both, back],
                |sum, [z, one, c1, two, c2, both, back]| sum + z * (one * c1 + two * c2 + both * back),
            );
            let (weights, biases) = (layer.weights.clone(), layer.biases.clone());
            let pairs = [
                (&left[0][..count], self.before(number)),
                (&left[1][..count], first.before(number)),
                (&left[2][..count], second.before(number)),
                (&pulled.hidden[number][1][..], mixed.before(number)),
            ];
            for (rows, before) in pairs {
                // Nothing bends before the first layer.
                if !before.is_empty() {
                    add_outer(&mut parameters[weights.clone()], layer, batch, rows, before);
                }
            }
            add_rows(&mut parameters[biases], batch, &left[0][..count]);
            let turned = layer.weights(network).transposed();
            let back = |to: &mut [T], rows: &[T]| {
                multiply(to, Onto::Replaced, turned, Rows::new(rows, layer.rows, batch));
            };
            if number == 0 {
                back(to.inputs, &left[0][..count]);
                back(to.direction, &left[1][..count]);
                // And by the second direction it is the curve itself.
            } else {
                let below = layer.columns * batch;
                came.iter_mut().zip(&*left).for_each(|(to, rows)| back(&mut to[..below], &rows[..count]));
            }
        }
    }

    /// How units bend along two directions.
    fn mix(&self, network: &Network<T>, [first, second]: [&Sweep<T>; 2], mixed: &mut Sweep<T>) {
        mixed.begin(&[]);
        for (number, hidden) in self.hidden.iter().enumerate() {
            let layer = &self.layers[number];
            let (before, rest) = mixed.hidden.split_at_mut(number);
            let [came, left] = &mut rest[0];
            match before.last() {
                None => came.fill(T::default()),
                Some([_, from]) => {
                    let from = Rows::new(from, layer.columns, self.batch());
                    multiply(came, Onto::Replaced, layer.weights(network), from);
                }
            }
            let rows = [&hidden.seconds[..], &first.hidden[number][0], &second.hidden[number][0]];
            each(left, rows, |_, [bend, one, two]| bend * one * two);
            each(left, [&hidden.slopes, came], |sum, [slope, came]| sum + slope * came);
        }
    }
}

impl Activation {
    /// Third derivatives, in place of what they are at.
    fn thirds<T: Real>(self, x: &mut [T]) {
        let [one, two, three, six] = [1.0, 2.0, 3.0, 6.0].map(T::of);
        let third = |x: T| {
            let [value, slope, bend] = self.at(x);
            match self {
                Activation::Tanh => -two * (slope * slope + value * bend),
                Activation::Sine => -slope,
                Activation::Softplus => bend * (one - two * slope),
                Activation::Silu => {
                    let [_, part, bend] = Activation::Softplus.at(x);
                    bend * (three * (one - two * part) + x * (one - six * part + six * part * part))
                }
            }
        };
        x.iter_mut().for_each(|x| *x = third(*x));
    }
}
