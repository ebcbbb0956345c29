//! What is learned: the weights of networks, and numbers such as masses.

use leastaction_network::{Activation, Initial, Network, NetworkError, Real};
use std::ops::Range;

/// The parameters of a learned model: those of its networks, one after the other, then its numbers. They are kept in double precision, whatever networks compute in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    networks: Vec<NetworkLayout>,
    numbers: Vec<NumberLayout>,
}

/// A network among the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkLayout {
    /// The name.
    pub name: String,
    /// How many inputs it has, units between them, and outputs.
    pub widths: Vec<usize>,
    /// What stands between its layers.
    pub activation: Activation,
    /// Where its parameters stand.
    pub range: Range<usize>,
}

/// A number among the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberLayout {
    /// The name.
    pub name: String,
    /// What it begins with.
    pub initial: f64,
}

/// A network of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkId(pub(crate) usize);

/// A number of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberId(pub(crate) usize);

impl Layout {
    /// Adds a network.
    ///
    /// # Errors
    /// [`NetworkError`] if there is no such network.
    ///
    /// # Panics
    /// If there are numbers already: networks come first.
    pub fn network(
        &mut self,
        name: &str,
        widths: &[usize],
        activation: Activation,
    ) -> Result<NetworkId, NetworkError> {
        assert!(self.numbers.is_empty(), "networks stand before numbers");
        let begin = self.networks.last().map_or(0, |network| network.range.end);
        let count = Network::<f32>::new(widths, activation)?.parameters().len();
        let range = begin..begin + count;
        self.networks.push(NetworkLayout {
            name: name.to_owned(),
            widths: widths.to_vec(),
            activation,
            range,
        });
        Ok(NetworkId(self.networks.len() - 1))
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, initial: f64) -> NumberId {
        self.numbers.push(NumberLayout { name: name.to_owned(), initial });
        NumberId(self.numbers.len() - 1)
    }

    /// The networks.
    #[must_use]
    pub fn networks(&self) -> &[NetworkLayout] {
        &self.networks
    }

    /// The numbers.
    #[must_use]
    pub fn numbers(&self) -> &[NumberLayout] {
        &self.numbers
    }

    /// Where numbers begin among the parameters.
    #[must_use]
    pub fn first_number(&self) -> usize {
        self.networks.last().map_or(0, |network| network.range.end)
    }

    /// How many parameters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_number() + self.numbers.len()
    }

    /// Whether there is nothing to learn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Parameters to begin with: weights drawn by a seed, numbers as they were given.
    #[must_use]
    pub fn drawn(&self, initial: Initial, seed: u64) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.len());
        for (place, network) in (0..).zip(&self.networks) {
            let own = leastaction_expr::Random::at(seed, place).bits();
            all.extend_from_slice(network.zeros::<f64>().drawn(initial, own).parameters());
        }
        all.extend(self.numbers.iter().map(|number| number.initial));
        all
    }

    /// The networks with these parameters.
    #[must_use]
    pub fn with<T: Real>(&self, parameters: &[f64]) -> Vec<Network<T>> {
        let mut networks: Vec<Network<T>> = self.networks.iter().map(NetworkLayout::zeros).collect();
        self.put(parameters, &mut networks);
        networks
    }

    /// Gives the networks other parameters.
    pub fn put<T: Real>(&self, parameters: &[f64], networks: &mut [Network<T>]) {
        for (layout, network) in self.networks.iter().zip(networks) {
            let values = &parameters[layout.range.clone()];
            network.parameters_mut().iter_mut().zip(values).for_each(|(to, &value)| *to = T::of(value));
        }
    }
}

impl NetworkLayout {
    fn zeros<T: Real>(&self) -> Network<T> {
        Network::new(&self.widths, self.activation).expect("the layout was made with this network")
    }
}
