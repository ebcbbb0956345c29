//! A network as a potential energy of a model.

use crate::activation::Activation;
use crate::network::Network;
use leastaction_compile::{Loops, vectorized};
use leastaction_mechanics::{Batch, EnergyFacts, OpaqueEnergy};

/// The potential energy V(q) = N(f(q)), with a network N of one output, and features f: coordinates, or their cosines and sines, each once or more.
///
/// Sums run over units in their order, in lanes as for one state, without fused products: a state has the same bits wherever it stands, and on every machine.
#[derive(Clone, Debug)]
pub struct NetworkEnergy {
    activation: Activation,
    layers: Vec<Weights>,
    coordinates: Vec<u32>,
    features: Vec<Feature>,
}

/// What a network reads: a coordinate, by its place among those that are read, or a function of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The coordinate, by its index in the model.
    pub coordinate: u32,
    /// What is made of it.
    pub of: FeatureKind,
}

/// What is made of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// Nothing: q.
    Plain,
    /// cos q.
    Cosine,
    /// sin q.
    Sine,
}

/// Why a network is no energy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnergyShapeError {
    /// It has not one output.
    #[error("a potential energy is one number, and the network has {outputs} outputs")]
    Outputs {
        /// How many it has.
        outputs: usize,
    },
    /// It reads more or fewer numbers.
    #[error("the network has {inputs} inputs, and {given} expressions are given")]
    Inputs {
        /// How many it has.
        inputs: usize,
        /// How many are given.
        given: usize,
    },
}

/// The weights of a layer by rows, and by columns.
#[derive(Clone, Debug)]
struct Weights {
    rows: usize,
    columns: usize,
    by_rows: Vec<f64>,
    by_columns: Vec<f64>,
    biases: Vec<f64>,
}

impl FeatureKind {
    /// Its value, and its first and second derivatives.
    fn at(self, q: f64) -> [f64; 3] {
        match self {
            FeatureKind::Plain => [q, 1.0, 0.0],
            FeatureKind::Cosine => [libm::cos(q), -libm::sin(q), -libm::cos(q)],
            FeatureKind::Sine => [libm::sin(q), libm::cos(q), -libm::sin(q)],
        }
    }
}

impl NetworkEnergy {
    /// The energy of a network that reads these features.
    ///
    /// # Errors
    /// [`EnergyShapeError`] if it has other inputs, or not one output.
    pub fn new(network: &Network<f64>, features: &[Feature]) -> Result<NetworkEnergy, EnergyShapeError> {
        if network.outputs() != 1 {
            return Err(EnergyShapeError::Outputs { outputs: network.outputs() });
        }
        if network.inputs() != features.len() {
            return Err(EnergyShapeError::Inputs { inputs: network.inputs(), given: features.len() });
        }
        let mut coordinates: Vec<u32> = features.iter().map(|feature| feature.coordinate).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let own = |feature: &Feature| {
            let place = coordinates.binary_search(&feature.coordinate).unwrap_or_default();
            Feature { coordinate: place as u32, of: feature.of }
        };
        let features = features.iter().map(own).collect();
        let layers = network.layers().into_iter().map(|layer| {
            let by_rows = network.parameters()[layer.weights.clone()].to_vec();
            let entry = |k: usize| by_rows[k % layer.rows * layer.columns + k / layer.rows];
            Weights {
                rows: layer.rows,
                columns: layer.columns,
                by_columns: (0..by_rows.len()).map(entry).collect(),
                biases: network.parameters()[layer.biases.clone()].to_vec(),
                by_rows,
            }
        });
        Ok(NetworkEnergy {
            activation: network.activation(),
            layers: layers.collect(),
            coordinates,
            features,
        })
    }

    /// How many numbers stand between all layers.
    fn hidden(&self) -> usize {
        self.layers[..self.layers.len() - 1].iter().map(|layer| layer.rows).sum()
    }

    fn widest(&self) -> usize {
        self.layers.iter().map(|layer| layer.rows.max(layer.columns)).max().unwrap_or(0)
    }

    /// What is asked for, in blocks of lanes.
    fn run(&self, at: Batch<'_>, direction: &[f64], memory: &mut [f64], out: &mut [f64], what: What) {
        let lanes = at.t.len();
        let width = if lanes.is_multiple_of(WIDE) { WIDE } else { 1 };
        for lane in (0..lanes).step_by(width) {
            let block =
                Block { energy: self, at, direction, lane, memory: &mut *memory, out: &mut *out, what };
            match width {
                1 => vectorized(In::<1>(block)),
                _ => vectorized(In::<WIDE>(block)),
            }
        }
    }
}

/// States go side by side in so many lanes.
const WIDE: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Energy,
    Gradient,
    Hessian,
}

impl OpaqueEnergy for NetworkEnergy {
    fn facts(&self) -> EnergyFacts {
        EnergyFacts { coordinates: self.coordinates.clone(), parameters: Vec::new(), time: false }
    }

    fn memory(&self, _: usize) -> usize {
        // Features with their derivatives and a direction; units with σ′ and σ″; what is pulled and pushed; two rows to work with.
        (6 * self.features.len() + 5 * self.hidden() + 3 * self.widest()) * WIDE
    }

    fn energy(&self, at: Batch<'_>, memory: &mut [f64], out: &mut [f64]) {
        self.run(at, &[], memory, out, What::Energy);
    }

    fn gradient(&self, at: Batch<'_>, memory: &mut [f64], out: &mut [f64]) {
        self.run(at, &[], memory, out, What::Gradient);
    }

    fn hessian_product(&self, at: Batch<'_>, direction: &[f64], memory: &mut [f64], out: &mut [f64]) {
        self.run(at, direction, memory, out, What::Hessian);
    }
}

/// A block of lanes, and what is computed of it.
struct Block<'a> {
    energy: &'a NetworkEnergy,
    at: Batch<'a>,
    direction: &'a [f64],
    lane: usize,
    memory: &'a mut [f64],
    out: &'a mut [f64],
    what: What,
}

struct In<'a, const W: usize>(Block<'a>);

impl<const W: usize> Loops for In<'_, W> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Block { energy, at, direction, lane, memory, out, what } = self.0;
        let NetworkEnergy { activation, layers, coordinates, features } = energy;
        let (inputs, hidden, widest) = (features.len() * W, energy.hidden() * W, energy.widest() * W);
        let mut rest = memory;
        let mut take = |count: usize| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            part
        };
        let (values, slopes, seconds) = (take(inputs), take(inputs), take(inputs));
        let (units, first, second) = (take(hidden), take(hidden), take(hidden));
        let (pulled, pushed) = (take(hidden), take(hidden));
        let (one, two, back) = (take(widest), take(widest), take(widest));
        for (f, feature) in features.iter().enumerate() {
            for j in 0..W {
                let q = at.q[feature.coordinate as usize * at.stride + lane + j];
                [values[f * W + j], slopes[f * W + j], seconds[f * W + j]] = feature.of.at(q);
            }
        }
        // Forwards.
        let last = layers.len() - 1;
        let mut begin = 0;
        one[..inputs].copy_from_slice(values);
        for (number, layer) in layers.iter().enumerate() {
            let (to, from) = (&mut two[..layer.rows * W], &one[..layer.columns * W]);
            for (row, &bias) in to.chunks_exact_mut(W).zip(&layer.biases) {
                row.fill(bias);
            }
            multiply::<W>(&layer.by_columns, layer.rows, from, to);
            if number < last {
                for (k, &x) in to.iter().enumerate() {
                    [units[begin + k], first[begin + k], second[begin + k]] = activation.at(x);
                }
                one[..to.len()].copy_from_slice(&units[begin..begin + to.len()]);
                begin += to.len();
            }
        }
        if what == What::Energy {
            out[lane..lane + W].copy_from_slice(&two[..W]);
            return;
        }
        // Back, to what the features are pulled by.
        one[..W].fill(1.0);
        let mut end = hidden;
        for number in (0..layers.len()).rev() {
            let layer = &layers[number];
            let to = &mut two[..layer.columns * W];
            to.fill(0.0);
            multiply::<W>(&layer.by_rows, layer.columns, &one[..layer.rows * W], to);
            if number > 0 {
                let begin = end - to.len();
                pulled[begin..end].copy_from_slice(to);
                for (k, x) in to.iter().enumerate() {
                    one[k] = x * first[begin + k];
                }
                end = begin;
            }
        }
        let gradient = &mut back[..inputs];
        gradient.copy_from_slice(&two[..inputs]);
        let places = |f: usize, j: usize| features[f].coordinate as usize * at.stride + lane + j;
        for place in 0..coordinates.len() {
            out[place * at.stride + lane..][..W].fill(0.0);
        }
        if what == What::Gradient {
            for f in 0..features.len() {
                for j in 0..W {
                    out[places(f, j)] += slopes[f * W + j] * gradient[f * W + j];
                }
            }
            return;
        }
        // Along the direction, forwards.
        for f in 0..features.len() {
            for j in 0..W {
                let along = direction[places(f, j)];
                one[f * W + j] = slopes[f * W + j] * along;
                out[places(f, j)] += seconds[f * W + j] * along * gradient[f * W + j];
            }
        }
        let mut begin = 0;
        for layer in &layers[..last] {
            let to = &mut two[..layer.rows * W];
            to.fill(0.0);
            multiply::<W>(&layer.by_columns, layer.rows, &one[..layer.columns * W], to);
            for (k, &x) in to.iter().enumerate() {
                pushed[begin + k] = x;
                one[k] = x * first[begin + k];
            }
            begin += to.len();
        }
        // And back, with what activations bend.
        one[..W].fill(0.0);
        let mut end = hidden;
        for number in (0..layers.len()).rev() {
            let layer = &layers[number];
            let to = &mut two[..layer.columns * W];
            to.fill(0.0);
            if number < last {
                multiply::<W>(&layer.by_rows, layer.columns, &one[..layer.rows * W], to);
            }
            if number > 0 {
                let begin = end - to.len();
                for (k, x) in to.iter().enumerate() {
                    let bend = second[begin + k] * pulled[begin + k] * pushed[begin + k];
                    one[k] = x * first[begin + k] + bend;
                }
                end = begin;
            }
        }
        for f in 0..features.len() {
            for j in 0..W {
                out[places(f, j)] += slopes[f * W + j] * two[f * W + j];
            }
        }
    }
}

/// Adds to rows their sums over columns, one column after the other: entries stand column by column.
#[inline(always)]
fn multiply<const W: usize>(entries: &[f64], rows: usize, from: &[f64], to: &mut [f64]) {
    for (column, x) in entries.chunks_exact(rows).zip(from.as_chunks::<W>().0) {
        for (sum, &weight) in to.as_chunks_mut::<W>().0.iter_mut().zip(column) {
            for j in 0..W {
                sum[j] += weight * x[j];
            }
        }
    }
}
