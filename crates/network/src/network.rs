//! Multilayer perceptrons on batches, with the derivatives that mechanics and training ask for.

use crate::activation::Activation;
use crate::initial::Initial;
use crate::real::Real;
use leastaction_expr::Random;
use std::ops::Range;

/// A multilayer perceptron: y = W_L σ(… σ(W_1 x + b_1) …) + b_L.
///
/// Its parameters are one list: the weights of a layer, row by row (a row for each output), then its biases, layer after layer.
///
/// ```
/// use leastaction_network::{Activation, Initial, Network, Pass, Sweep};
///
/// let energy = Network::<f64>::new(&[2, 16, 1], Activation::Tanh)?.drawn(Initial::Orthogonal, 7);
/// // Two places, x of both and then y of both, and the derivatives of the energy there.
/// let (mut pass, mut sweep) = (Pass::new(&energy, 2), Sweep::new(&energy, 2));
/// let mut gradient = [0.0; 4];
/// pass.values(&energy, &[0.1, -0.4, 0.2, 0.3]);
/// pass.pull(&energy, &[1.0; 2], &mut sweep, &mut gradient);
/// assert!(gradient.iter().all(|slope| slope.is_finite()));
/// # Ok::<(), leastaction_network::NetworkError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Network<T> {
    pub(crate) activation: Activation,
    pub(crate) widths: Vec<usize>,
    pub(crate) parameters: Vec<T>,
}

/// Why there is no such network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Too few layers.
    #[error("a network needs the number of its inputs and of its outputs: {given} numbers are given")]
    TooFew {
        /// How many numbers of units are given.
        given: usize,
    },
    /// A layer without units.
    #[error("layer {layer} has no units")]
    Empty {
        /// Which; inputs are layer 0.
        layer: usize,
    },
    /// Parameters of another network.
    #[error("the network has {expected} parameters, and {given} are given")]
    WrongLength {
        /// How many it has.
        expected: usize,
        /// How many are given.
        given: usize,
    },
    /// A parameter that is no number.
    #[error("parameter {index} is {value}: parameters must be finite")]
    NotFinite {
        /// Which.
        index: usize,
        /// What it is.
        value: String,
    },
}

/// Where the weights and the biases of a layer stand among the parameters.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) weights: Range<usize>,
    pub(crate) biases: Range<usize>,
}

impl<T: Real> Network<T> {
    /// A network with so many inputs, units between them, and outputs, all of whose parameters are 0.
    ///
    /// # Errors
    /// [`NetworkError`] if there are fewer than two numbers, or one is 0.
    pub fn new(widths: &[usize], activation: Activation) -> Result<Network<T>, NetworkError> {
        if widths.len() < 2 {
            return Err(NetworkError::TooFew { given: widths.len() });
        }
        if let Some(layer) = widths.iter().position(|width| *width == 0) {
            return Err(NetworkError::Empty { layer });
        }
        let count = widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
        Ok(Network { activation, widths: widths.to_vec(), parameters: vec![T::default(); count] })
    }

    /// The same with weights drawn by a seed, and biases of 0.
    #[must_use]
    pub fn drawn(mut self, initial: Initial, seed: u64) -> Network<T> {
        for (number, layer) in self.layers().into_iter().enumerate() {
            let mut random = Random::at(seed, number as u64);
            initial.draw(layer.rows, layer.columns, &mut random, &mut self.parameters[layer.weights]);
            self.parameters[layer.biases].fill(T::default());
        }
        self
    }

    /// The same with these parameters.
    ///
    /// # Errors
    /// [`NetworkError`] if they are more or fewer, or not all finite.
    pub fn with_parameters(mut self, parameters: &[T]) -> Result<Network<T>, NetworkError> {
        if parameters.len() != self.parameters.len() {
            return Err(NetworkError::WrongLength {
                expected: self.parameters.len(),
                given: parameters.len(),
            });
        }
        if let Some(index) = parameters.iter().position(|parameter| !parameter.is_number()) {
            return Err(NetworkError::NotFinite { index, value: parameters[index].to_string() });
        }
        self.parameters.copy_from_slice(parameters);
        Ok(self)
    }

    /// What stands between its layers.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// How many inputs it has, units between them, and outputs.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// How many inputs it has.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// How many outputs it has.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// Its parameters, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// Where the weights and biases of each layer stand.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        let layer = |next: &mut usize, pair: &[usize]| {
            let (begin, weights) = (*next, *next + pair[0] * pair[1]);
            *next = weights + pair[1];
            Some(Layer { rows: pair[1], columns: pair[0], weights: begin..weights, biases: weights..*next })
        };
        self.widths.windows(2).scan(0, layer).collect()
    }
}
