//! Expressions, and where networks stand among them, to stages.

use super::compiled::ProgramStage;
use super::{Chain, Inner, Stage};
use crate::parameters::{Layout, NetworkId, NumberId};
use leastaction_compile::{BuildError, CompileError, ReverseError};
use leastaction_expr::{Expr, Graph, Id, Substitution};
use std::collections::HashMap;
use std::sync::Arc;

/// Writes a [`Chain`].
///
/// Expressions of rows are written as any others. Where a network reads them, or [`Writer::store`] says so, they become rows, whose symbols stand for them from then on.
pub struct Writer<'g> {
    graph: &'g Graph,
    layout: Layout,
    inputs: usize,
    /// The symbol of each row.
    rows: Vec<Expr<'g>>,
    places: HashMap<Id, usize>,
    numbers: HashMap<Id, usize>,
    settings: Vec<Expr<'g>>,
    stages: Vec<Stage>,
    /// Rows that no stage writes yet, in terms of those that one does.
    pending: Vec<(usize, Expr<'g>)>,
    passes: Vec<usize>,
    sweeps: Vec<usize>,
}

/// A network at the inputs that it was given.
#[derive(Clone, Debug)]
pub struct Evaluated<'g> {
    stage: usize,
    pass: usize,
    inputs: Vec<Expr<'g>>,
    outputs: usize,
}

impl<'g> Evaluated<'g> {
    /// What the network reads.
    #[must_use]
    pub fn inputs(&self) -> &[Expr<'g>] {
        &self.inputs
    }
}

/// Why a chain cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// An expression cannot become a program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A program has no reverse.
    #[error(transparent)]
    Reverse(#[from] ReverseError),
    /// A program cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A network reads as many numbers as it has inputs.
    #[error("the network `{network}` has {expected} inputs or outputs, and {found} expressions are given")]
    Width {
        /// The network.
        network: String,
        /// How many it has.
        expected: usize,
        /// How many are given.
        found: usize,
    },
}

impl<'g> Writer<'g> {
    /// A chain that reads so many rows, of a model with these parameters, and with settings by name, which are not learned.
    #[must_use]
    pub fn new(graph: &'g Graph, layout: &Layout, inputs: usize, settings: &[&str]) -> Writer<'g> {
        let mut writer = Writer {
            graph,
            layout: layout.clone(),
            inputs,
            rows: Vec::new(),
            places: HashMap::new(),
            numbers: HashMap::new(),
            settings: settings.iter().map(|name| graph.symbol(&format!("#{name}"))).collect(),
            stages: Vec::new(),
            pending: Vec::new(),
            passes: Vec::new(),
            sweeps: Vec::new(),
        };
        for place in 0..layout.numbers().len() {
            writer.numbers.insert(writer.number(NumberId(place)).id(), place);
        }
        (0..inputs).for_each(|_| _ = writer.row());
        writer
    }

    /// The graph of all expressions.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The rows that it reads.
    #[must_use]
    pub fn inputs(&self) -> Vec<Expr<'g>> {
        self.rows[..self.inputs].to_vec()
    }

    /// A number that is learned.
    #[must_use]
    pub fn number(&self, number: NumberId) -> Expr<'g> {
        self.graph.symbol(&format!("#{}:{}", number.0, self.layout.numbers()[number.0].name))
    }

    /// A setting, by its place.
    #[must_use]
    pub fn setting(&self, place: usize) -> Expr<'g> {
        self.settings[place]
    }

    fn row(&mut self) -> usize {
        let place = self.rows.len();
        let symbol = self.graph.symbol(&format!("#{place}"));
        self.places.insert(symbol.id(), place);
        self.rows.push(symbol);
        place
    }

    /// Makes rows of expressions, and gives their symbols.
    #[must_use]
    pub fn store(&mut self, values: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let places: Vec<usize> = values.iter().map(|&value| self.place(value)).collect();
        places.into_iter().map(|place| self.rows[place]).collect()
    }

    /// The row of an expression.
    fn place(&mut self, value: Expr<'g>) -> usize {
        if let Some(&place) = self.places.get(&value.id()) {
            return place;
        }
        // In terms of what is written already.
        let mut known = Substitution::new(self.graph);
        self.pending.iter().for_each(|&(place, value)| known.replace(self.rows[place], value));
        let value = known.apply(&[value])[0];
        if let Some(&(place, _)) = self.pending.iter().find(|(_, other)| *other == value) {
            return place;
        }
        if let Some(&place) = self.places.get(&value.id()) {
            return place;
        }
        let place = self.row();
        self.pending.push((place, value));
        place
    }

    /// Writes the rows that wait for it.
    fn flush(&mut self) -> Result<(), ChainError> {
        let pending = std::mem::take(&mut self.pending);
        let Some(&(first, _)) = pending.first() else { return Ok(()) };
        let outputs: Vec<Expr<'g>> = pending.iter().map(|(_, value)| *value).collect();
        debug_assert!((first..).zip(&pending).all(|(place, (row, _))| place == *row), "rows are in a row");
        let (mut reads, mut numbers, mut settings) = (Vec::new(), Vec::new(), Vec::new());
        let ids: Vec<Id> = outputs.iter().map(|value| value.id()).collect();
        let nodes = self.graph.order(&ids).into_iter().map(|(id, _)| self.graph.at(id));
        for symbol in nodes.filter(|node| node.as_symbol().is_some()) {
            let (list, place) = match (self.places.get(&symbol.id()), self.numbers.get(&symbol.id())) {
                (Some(&place), _) => (&mut reads, place),
                (_, Some(&place)) => (&mut numbers, place),
                _ => match self.settings.iter().position(|setting| *setting == symbol) {
                    Some(place) => (&mut settings, place),
                    None => continue, // the program says that it is unknown
                },
            };
            list.push(place);
        }
        reads.sort_unstable();
        let inputs: Vec<Expr<'g>> = reads.iter().map(|&place| self.rows[place]).collect();
        let parameters: Vec<Expr<'g>> = numbers
            .iter()
            .map(|&place| self.number(NumberId(place)))
            .chain(settings.iter().map(|&place| self.settings[place]))
            .collect();
        let writes = first..first + outputs.len();
        let stage = ProgramStage::new((reads, inputs), (writes, outputs), (numbers, settings), &parameters)?;
        self.stages.push(Stage::Program(Box::new(stage)));
        Ok(())
    }

    /// Rows that are written by a stage that comes next.
    fn written(&mut self, values: &[Expr<'g>]) -> Result<Vec<usize>, ChainError> {
        let places: Vec<usize> = values.iter().map(|&value| self.place(value)).collect();
        if self.pending.iter().any(|(row, _)| places.contains(row)) {
            self.flush()?;
        }
        Ok(places)
    }

    /// New rows for what a stage writes. Others may wait no longer, so that theirs stay in a row.
    fn fresh(&mut self, count: usize) -> Result<std::ops::Range<usize>, ChainError> {
        self.flush()?;
        let first = self.rows.len();
        (0..count).for_each(|_| _ = self.row());
        Ok(first..first + count)
    }

    fn check(&self, network: usize, expected: usize, found: usize) -> Result<(), ChainError> {
        if expected == found {
            return Ok(());
        }
        let network = self.layout.networks()[network].name.clone();
        Err(ChainError::Width { network, expected, found })
    }

    fn widths(&self, pass: usize) -> (usize, usize, usize) {
        let network = self.passes[pass];
        let widths = &self.layout.networks()[network].widths;
        (network, widths[0], widths[widths.len() - 1])
    }

    /// Evaluates a network.
    ///
    /// # Errors
    /// [`ChainError`] if its inputs are more or fewer, or cannot be compiled.
    pub fn network(&mut self, network: NetworkId, inputs: &[Expr<'g>]) -> Result<Evaluated<'g>, ChainError> {
        let pass = self.passes.len();
        self.passes.push(network.0);
        let (_, expected, outputs) = self.widths(pass);
        self.check(network.0, expected, inputs.len())?;
        let reads = self.written(inputs)?;
        let inputs = reads.iter().map(|&place| self.rows[place]).collect();
        self.stages.push(Stage::Network { pass, reads, writes: None });
        Ok(Evaluated { stage: self.stages.len() - 1, pass, inputs, outputs })
    }

    /// The outputs of a network.
    ///
    /// # Errors
    /// [`ChainError`] if what waits to be written cannot be compiled.
    pub fn outputs(&mut self, at: &Evaluated<'g>) -> Result<Vec<Expr<'g>>, ChainError> {
        let known = match &self.stages[at.stage] {
            Stage::Network { writes, .. } => writes.clone(),
            _ => unreachable!("the stage of a network"),
        };
        let range = match known {
            Some(range) => range,
            None => {
                let range = self.fresh(at.outputs)?;
                if let Stage::Network { writes, .. } = &mut self.stages[at.stage] {
                    *writes = Some(range.clone());
                }
                range
            }
        };
        Ok(self.rows[range].to_vec())
    }

    /// The derivatives of weighted outputs by the inputs.
    ///
    /// # Errors
    /// [`ChainError`] if weights are more or fewer than outputs, or cannot be compiled.
    pub fn pull(&mut self, at: &Evaluated<'g>, weights: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (network, inputs, outputs) = self.widths(at.pass);
        self.check(network, outputs, weights.len())?;
        let weights = self.written(weights)?;
        let writes = self.fresh(inputs)?;
        self.sweeps.push(network);
        let sweep = self.sweeps.len() - 1;
        self.stages.push(Stage::Pull { pass: at.pass, sweep, weights, writes: writes.clone() });
        Ok(self.rows[writes].to_vec())
    }

    /// How the outputs change along a direction of the inputs.
    ///
    /// # Errors
    /// [`ChainError`] if the direction has more or fewer numbers than there are inputs, or cannot be compiled.
    pub fn push(&mut self, at: &Evaluated<'g>, direction: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (network, inputs, outputs) = self.widths(at.pass);
        self.check(network, inputs, direction.len())?;
        let direction = self.written(direction)?;
        let writes = self.fresh(outputs)?;
        self.sweeps.push(network);
        let sweep = self.sweeps.len() - 1;
        self.stages.push(Stage::Push { pass: at.pass, sweep, direction, writes: writes.clone() });
        Ok(self.rows[writes].to_vec())
    }

    /// The second derivatives of weighted outputs by the inputs, along a direction of these.
    ///
    /// # Errors
    /// [`ChainError`] if weights or the direction have more or fewer numbers than there are outputs and inputs, or cannot be compiled.
    pub fn curve(
        &mut self,
        at: &Evaluated<'g>,
        weights: &[Expr<'g>],
        direction: &[Expr<'g>],
    ) -> Result<Vec<Expr<'g>>, ChainError> {
        let (network, inputs, outputs) = self.widths(at.pass);
        self.check(network, outputs, weights.len())?;
        self.check(network, inputs, direction.len())?;
        // Both wait together: what one of them writes, the other may read.
        let both = self.written(&[weights, direction].concat())?;
        let (weights, direction) = both.split_at(outputs);
        let writes = self.fresh(inputs)?;
        let (weights, direction) = (weights.to_vec(), direction.to_vec());
        self.stages.push(Stage::Curve { pass: at.pass, weights, direction, writes: writes.clone() });
        Ok(self.rows[writes].to_vec())
    }

    /// The chain with these outputs.
    ///
    /// # Errors
    /// [`ChainError`] if an expression cannot be compiled.
    pub fn finish(mut self, outputs: &[Expr<'g>]) -> Result<Chain, ChainError> {
        let outputs = outputs.iter().map(|&value| self.place(value)).collect();
        self.flush()?;
        let Writer { inputs, rows, stages, passes, sweeps, .. } = self;
        let inner = Inner { stages, inputs, rows: rows.len(), outputs, passes, sweeps };
        Ok(Chain { inner: Arc::new(inner) })
    }
}
