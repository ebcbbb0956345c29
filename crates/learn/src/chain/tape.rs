//! What a chain leaves behind for its way back.

use super::Chain;
use leastaction_compile::LANES;
use leastaction_network::{Network, Pass, Real, Sweep};

/// The rows of a batch, and what networks keep of it.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    chain: Chain,
    lanes: usize,
    pub(super) rows: Vec<f64>,
    pub(super) passes: Vec<Pass<T>>,
    pub(super) sweeps: Vec<Sweep<T>>,
}

impl<T: Real> Tape<T> {
    /// Memory for so many samples at once, a multiple of eight.
    ///
    /// # Panics
    /// If it is not a multiple of eight.
    #[must_use]
    pub fn new(chain: &Chain, networks: &[Network<T>], lanes: usize) -> Tape<T> {
        assert!(lanes.is_multiple_of(LANES), "samples are in blocks of {LANES}");
        let inner = &chain.inner;
        Tape {
            chain: chain.clone(),
            lanes,
            rows: vec![0.0; inner.rows * lanes],
            passes: inner.passes.iter().map(|&network| Pass::new(&networks[network], lanes)).collect(),
            sweeps: inner.sweeps.iter().map(|&network| Sweep::new(&networks[network], lanes)).collect(),
        }
    }

    /// The chain that it is for.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// How many samples there are.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// What the chain reads, row by row.
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        let end = self.chain.inputs() * self.lanes;
        &mut self.rows[..end]
    }

    /// A row that the chain gives.
    #[must_use]
    pub fn output(&self, place: usize) -> &[f64] {
        let row = self.chain.inner.outputs[place];
        &self.rows[row * self.lanes..][..self.lanes]
    }
}
