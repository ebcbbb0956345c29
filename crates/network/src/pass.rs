//! A batch on its way through a network, and back.

use crate::each::each;
use crate::network::{Layer, Network};
use crate::real::Real;
use leastaction_compile::LANES;
use leastaction_linear::{Onto, Rows, multiply};

/// A batch that passes a network. It begins with [`values`](Pass::values), or with [`units`](Pass::units) where outputs are not asked for; all else is about the inputs that were given there.
#[derive(Clone, Debug)]
pub struct Pass<T> {
    batch: usize,
    inputs: Vec<T>,
    outputs: Vec<T>,
    pub(crate) layers: Vec<Layer>,
    /// The units after each layer but the last.
    pub(crate) hidden: Vec<Hidden<T>>,
}

/// The units between two layers, after their activation σ.
#[derive(Clone, Debug)]
pub(crate) struct Hidden<T> {
    pub(crate) values: Vec<T>,
    /// σ′ and σ″.
    pub(crate) slopes: Vec<T>,
    pub(crate) seconds: Vec<T>,
}

/// Something that went through a network along its derivatives: weights of outputs, pulled back to the inputs, or a direction of inputs, pushed forward to the outputs.
#[derive(Clone, Debug)]
pub struct Sweep<T> {
    /// The weights, or the direction.
    pub(crate) seed: Vec<T>,
    /// For each layer of units, what came to their activation, and what left it, times σ′.
    pub(crate) hidden: Vec<[Vec<T>; 2]>,
}

/// Working memory for passes of one network, which is free between any two calls.
#[derive(Clone, Debug)]
pub struct Room<T> {
    sweep: Sweep<T>,
    /// What activations give by their bends, layer by layer in turn.
    bent: [Vec<T>; 2],
}

impl<T: Real> Sweep<T> {
    /// Memory for so many samples at once.
    #[must_use]
    pub fn new(network: &Network<T>, batch: usize) -> Sweep<T> {
        let rows = |width: usize| vec![T::default(); width * batch];
        let widths = network.widths();
        let hidden = widths[1..widths.len() - 1].iter().map(|&width| [rows(width), rows(width)]).collect();
        Sweep { seed: Vec::with_capacity(batch * network.inputs().max(network.outputs())), hidden }
    }

    pub(crate) fn begin(&mut self, seed: &[T]) {
        self.seed.clear();
        self.seed.extend_from_slice(seed);
    }

    /// What left the units before a layer, or the seed, if the layer is the first one.
    pub(crate) fn before(&self, layer: usize) -> &[T] {
        layer.checked_sub(1).map_or(&self.seed, |before| &self.hidden[before][1])
    }

    /// What left the units after a layer, or the seed, if the layer is the last one.
    fn after(&self, layer: usize) -> &[T] {
        self.hidden.get(layer).map_or(&self.seed, |[_, left]| left)
    }
}

impl<T: Real> Room<T> {
    /// Memory for so many samples at once.
    #[must_use]
    pub fn new(network: &Network<T>, batch: usize) -> Room<T> {
        let widest = network.widths().iter().copied().max().unwrap_or(0) * batch;
        Room { sweep: Sweep::new(network, batch), bent: [(); 2].map(|()| vec![T::default(); widest]) }
    }
}

impl<T: Real> Pass<T> {
    /// Memory for so many samples at once.
    #[must_use]
    pub fn new(network: &Network<T>, batch: usize) -> Pass<T> {
        let rows = |width: usize| vec![T::default(); width * batch];
        let widths = network.widths();
        let hidden = widths[1..widths.len() - 1].iter().map(|&width| Hidden {
            values: rows(width),
            slopes: rows(width),
            seconds: rows(width),
        });
        Pass {
            batch,
            inputs: rows(network.inputs()),
            outputs: rows(network.outputs()),
            layers: network.layers(),
            hidden: hidden.collect(),
        }
    }

    /// How many samples there are.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// What stands before a layer.
    pub(crate) fn before(&self, layer: usize) -> &[T] {
        layer.checked_sub(1).map_or(&self.inputs, |before| &self.hidden[before].values)
    }

    /// Takes a batch of inputs to the last units before the outputs: as far as derivatives ask for it.
    ///
    /// # Panics
    /// As everything here, if lengths are not those of the network and the batch.
    pub fn units(&mut self, network: &Network<T>, inputs: &[T]) {
        assert_eq!(self.layers.len() + 1, network.widths.len(), "a pass is for its network");
        self.inputs.copy_from_slice(inputs);
        for number in 0..self.hidden.len() {
            let (before, rest) = self.hidden.split_at_mut(number);
            let from = before.last().map_or(&self.inputs, |hidden| &hidden.values);
            let Hidden { values, slopes, seconds } = &mut rest[0];
            // What comes to the units stands where their second derivatives are to be.
            affine(network, &self.layers[number], self.batch, from, seconds);
            network.activation.apply(values, slopes, seconds);
        }
    }

    /// The outputs for a batch of inputs.
    pub fn values(&mut self, network: &Network<T>, inputs: &[T]) -> &[T] {
        self.units(network, inputs);
        let last = self.layers.len() - 1;
        let from = self.hidden.last().map_or(&self.inputs, |hidden| &hidden.values);
        affine(network, &self.layers[last], self.batch, from, &mut self.outputs);
        &self.outputs
    }

    /// ȳᵀ J: the derivatives by the inputs of outputs that are weighted so, sample by sample.
    pub fn pull(&self, network: &Network<T>, weights: &[T], sweep: &mut Sweep<T>, gradient: &mut [T]) {
        self.pull_to_units(network, weights, sweep);
        let back = self.layers[0].weights(network).transposed();
        multiply(gradient, Onto::Replaced, back, Rows::new(sweep.after(0), self.layers[0].rows, self.batch));
    }

    /// The same, as far as the first units.
    pub(crate) fn pull_to_units(&self, network: &Network<T>, weights: &[T], sweep: &mut Sweep<T>) {
        sweep.begin(weights);
        for (number, layer) in self.layers.iter().enumerate().skip(1).rev() {
            let (before, rest) = sweep.hidden.split_at_mut(number);
            let from = rest.first().map_or(&sweep.seed, |[_, left]| left);
            let [came, left] = &mut before[number - 1];
            let back = layer.weights(network).transposed();
            multiply(came, Onto::Replaced, back, Rows::new(from, layer.rows, self.batch));
            each(left, [came, &self.hidden[number - 1].slopes], |_, [came, slope]| came * slope);
        }
    }

    /// J ẋ: how outputs change along directions of the inputs, sample by sample.
    pub fn push(&self, network: &Network<T>, direction: &[T], sweep: &mut Sweep<T>, rates: &mut [T]) {
        self.push_to_units(network, direction, sweep);
        let last = self.layers.len() - 1;
        let layer = &self.layers[last];
        let from = Rows::new(sweep.before(last), layer.columns, self.batch);
        multiply(rates, Onto::Replaced, layer.weights(network), from);
    }

    /// The same, as far as the last units.
    pub(crate) fn push_to_units(&self, network: &Network<T>, direction: &[T], sweep: &mut Sweep<T>) {
        sweep.begin(direction);
        for (number, hidden) in self.hidden.iter().enumerate() {
            let layer = &self.layers[number];
            let (before, rest) = sweep.hidden.split_at_mut(number);
            let from = before.last().map_or(&sweep.seed, |[_, left]| left);
            let [came, left] = &mut rest[0];
            multiply(
                came,
                Onto::Replaced,
                layer.weights(network),
                Rows::new(from, layer.columns, self.batch),
            );
            each(left, [came, &hidden.slopes], |_, [came, slope]| came * slope);
        }
    }

    /// The reverse of [`values`](Pass::values): adds to `parameters` the derivatives of Σ ȳ·y by the parameters of the network, and puts those by the inputs into `inputs`.
    pub fn reverse_values(
        &self,
        network: &Network<T>,
        weights: &[T],
        room: &mut Room<T>,
        inputs: &mut [T],
        parameters: &mut [T],
    ) {
        self.pull(network, weights, &mut room.sweep, inputs);
        for (number, layer) in self.layers.iter().enumerate() {
            let back = room.sweep.after(number);
            add_outer(&mut parameters[layer.weights.clone()], layer, self.batch, back, self.before(number));
            add_rows(&mut parameters[layer.biases.clone()], self.batch, back);
        }
    }

    /// The reverse of a [`pull`](Pass::pull): adds to `parameters` the derivatives of Σ ȳᵀ J ẋ by the parameters of the network, and puts those by the inputs into `inputs`,
    /// and J ẋ, which are those by ȳ, into `rates`.
    pub fn reverse_pull(
        &self,
        network: &Network<T>,
        (pulled, direction): (&Sweep<T>, &[T]),
        room: &mut Room<T>,
        inputs: &mut [T],
        rates: &mut [T],
        parameters: &mut [T],
    ) {
        let Room { sweep, bent } = room;
        self.push(network, direction, sweep, rates);
        self.bend(network, [pulled, sweep], bent, inputs, parameters);
    }

    /// The reverse of a [`push`](Pass::push): adds to `parameters` the derivatives of Σ ȳᵀ J ẋ by the parameters of the network, and puts those by the inputs into `inputs`,
    /// and ȳᵀ J, which are those by ẋ, into `gradient`.
    pub fn reverse_push(
        &self,
        network: &Network<T>,
        (pushed, weights): (&Sweep<T>, &[T]),
        room: &mut Room<T>,
        inputs: &mut [T],
        gradient: &mut [T],
        parameters: &mut [T],
    ) {
        let Room { sweep, bent } = room;
        self.pull(network, weights, sweep, gradient);
        self.bend(network, [sweep, pushed], bent, inputs, parameters);
    }

    /// The derivatives of Σ ȳᵀ J ẋ by inputs and parameters, where weights were pulled back and a direction pushed forward.
    fn bend(
        &self,
        network: &Network<T>,
        [pulled, pushed]: [&Sweep<T>; 2],
        [bent, before]: &mut [Vec<T>; 2],
        inputs: &mut [T],
        parameters: &mut [T],
    ) {
        for (number, layer) in self.layers.iter().enumerate() {
            let (left, right) = (pulled.after(number), pushed.before(number));
            add_outer(&mut parameters[layer.weights.clone()], layer, self.batch, left, right);
        }
        let Some(last) = self.hidden.len().checked_sub(1) else { return inputs.fill(T::default()) };
        for (number, layer) in self.layers[..=last].iter().enumerate().rev() {
            let hidden = &self.hidden[number];
            let count = hidden.values.len();
            let came = [&hidden.seconds[..], &pulled.hidden[number][0], &pushed.hidden[number][0]];
            if number == last {
                each(&mut bent[..count], came, |_, [second, back, rate]| second * back * rate);
            } else {
                let [seconds, pulled, pushed] = came;
                let rows = [seconds, pulled, pushed, &hidden.slopes];
                let sum = |sum, [second, back, rate, slope]: [T; 4]| slope * sum + second * back * rate;
                each(&mut bent[..count], rows, sum);
            }
            let bent_rows = &bent[..count];
            let (weights, biases) = (layer.weights.clone(), layer.biases.clone());
            add_outer(&mut parameters[weights], layer, self.batch, bent_rows, self.before(number));
            add_rows(&mut parameters[biases], self.batch, bent_rows);
            let to = if number == 0 { &mut *inputs } else { &mut before[..layer.columns * self.batch] };
            let back = layer.weights(network).transposed();
            multiply(to, Onto::Replaced, back, Rows::new(bent_rows, layer.rows, self.batch));
            std::mem::swap(bent, before);
        }
    }
}

impl Layer {
    pub(crate) fn weights<'n, T: Real>(&self, network: &'n Network<T>) -> Rows<'n, T> {
        Rows::new(&network.parameters[self.weights.clone()], self.rows, self.columns)
    }
}

/// W x + b.
pub(crate) fn affine<T: Real>(network: &Network<T>, layer: &Layer, batch: usize, from: &[T], to: &mut [T]) {
    for (row, &bias) in to.chunks_exact_mut(batch).zip(&network.parameters[layer.biases.clone()]) {
        row.fill(bias);
    }
    multiply(to, Onto::Added, layer.weights(network), Rows::new(from, layer.columns, batch));
}

/// Adds the products of each row with each, summed over the batch.
pub(crate) fn add_outer<T: Real>(sums: &mut [T], layer: &Layer, batch: usize, left: &[T], right: &[T]) {
    let right = Rows::new(right, layer.columns, batch).transposed();
    multiply(sums, Onto::Added, Rows::new(left, layer.rows, batch), right);
}

/// Adds the sum of each row to a number.
pub(crate) fn add_rows<T: Real>(sums: &mut [T], batch: usize, rows: &[T]) {
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(batch)) {
        // In parts that do not wait for each other.
        let (blocks, rest) = row.as_chunks::<LANES>();
        let mut parts = [T::default(); LANES];
        for block in blocks {
            parts.iter_mut().zip(block).for_each(|(part, &x)| *part += x);
        }
        *sum += parts.iter().chain(rest).fold(T::default(), |sum, &x| sum + x);
    }
}
