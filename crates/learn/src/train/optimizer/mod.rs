//! How parameters are changed by gradients: by AdamW, one by one; or the weights of each layer as the matrix that they are, by [`muon`] or [`soap`].
//!
//! Numbers such as masses are few, and mean what they mean: they learn at a rate of their own, do not decay, and are always changed by AdamW.

mod adamw;
mod muon;
mod soap;

pub use adamw::{AdamW, AdamWOptions};
pub(super) use soap::Basis;

use crate::parameters::Layout;
use crate::recipe::RecipeError;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How the weights of networks are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimizerKind {
    /// Each by itself.
    AdamW,
    /// Matrices of weights by their momentum, made orthogonal.
    Muon,
    /// Matrices of weights as by AdamW, in the axes of their gradients.
    Soap,
}

impl OptimizerKind {
    /// All of them.
    pub const ALL: [OptimizerKind; 3] = [OptimizerKind::AdamW, OptimizerKind::Muon, OptimizerKind::Soap];

    /// The rate at its highest, where nobody says another: that of the reference networks for AdamW.
    #[must_use]
    pub fn rate(self) -> f64 {
        match self {
            OptimizerKind::AdamW | OptimizerKind::Muon => 3e-3,
            OptimizerKind::Soap => 5e-3,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OptimizerKind::AdamW => "adamw",
            OptimizerKind::Muon => "muon",
            OptimizerKind::Soap => "soap",
        }
    }
}

impl fmt::Display for OptimizerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OptimizerKind {
    type Err = RecipeError;

    fn from_str(name: &str) -> Result<OptimizerKind, RecipeError> {
        OptimizerKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| RecipeError::Unknown {
            what: "optimizer",
            name: name.to_owned(),
            known: OptimizerKind::ALL.map(OptimizerKind::name).to_vec(),
        })
    }
}

/// How fast parameters change in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    /// Weights,
    pub weights: f64,
    /// and numbers.
    pub numbers: f64,
}

/// An optimizer and all that it remembers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Optimizer {
    kind: OptimizerKind,
    /// What it remembers of each parameter; of a matrix in the axes of [`Basis`], where there is one.
    pub(super) adamw: AdamW,
    /// The axes of each matrix, one matrix after the other.
    pub(super) bases: Vec<Basis>,
    matrices: Vec<Matrix>,
    first_number: usize,
}

/// The weights of a layer, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    range: Range<usize>,
    rows: usize,
    columns: usize,
}

impl Optimizer {
    pub(super) fn new(kind: OptimizerKind, layout: &Layout, options: AdamWOptions) -> Optimizer {
        let adamw = AdamW::new(layout.len(), options);
        let all = layout.networks().iter().flat_map(|network| {
            let mut next = network.range.start;
            network.widths.windows(2).map(move |pair| {
                let range = next..next + pair[0] * pair[1];
                next = range.end + pair[1];
                Matrix { range, rows: pair[1], columns: pair[0] }
            })
        });
        // Of a single row, an orthogonal matrix would tell the direction only.
        let kept = |matrix: &Matrix| match kind {
            OptimizerKind::AdamW => false,
            OptimizerKind::Muon => matrix.rows > 1 && matrix.columns > 1,
            OptimizerKind::Soap => true,
        };
        let matrices: Vec<Matrix> = all.filter(kept).collect();
        let bases = match kind {
            OptimizerKind::Soap => matrices.iter().map(Basis::new).collect(),
            _ => Vec::new(),
        };
        Optimizer { kind, adamw, bases, matrices, first_number: layout.first_number() }
    }

    /// Changes parameters by a gradient.
    pub(super) fn step(&mut self, rates: Rates, gradient: &[f64], parameters: &mut [f64]) {
        let decay = self.adamw.options.decay;
        self.adamw.begin();
        // What stands between matrices: biases.
        let mut done = 0;
        for place in 0..=self.matrices.len() {
            let next = self.matrices.get(place).map_or(self.first_number, |matrix| matrix.range.start);
            let between = done..next;
            self.adamw.change(between.clone(), (rates.weights, decay), &gradient[between], parameters);
            let Some(matrix) = self.matrices.get(place) else { break };
            let own = &gradient[matrix.range.clone()];
            match self.kind {
                OptimizerKind::AdamW => {}
                OptimizerKind::Muon => muon::change(&mut self.adamw, matrix, rates.weights, own, parameters),
                OptimizerKind::Soap => {
                    soap::change(
                        &mut self.adamw,
                        matrix,
                        &mut self.bases[place],
                        rates.weights,
                        own,
                        parameters,
                    );
                }
            }
            done = matrix.range.end;
        }
        let numbers = self.first_number..gradient.len();
        self.adamw.change(numbers.clone(), (rates.numbers, 0.0), &gradient[numbers], parameters);
    }
}
