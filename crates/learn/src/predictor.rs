//! Predictions of an architecture: a state, and what becomes of it sample by sample.

use crate::architecture::{Architecture, BuildError, Conversion};
use crate::chain::{Chain, Writer};
use crate::parameters::Layout;
use leastaction_expr::Expr;

/// A step, written around the rates of an architecture.
pub type StepWriter = for<'g> fn(
    &dyn Architecture<'g>,
    &mut Writer<'g>,
    &[Expr<'g>],
    Expr<'g>,
) -> Result<Vec<Expr<'g>>, BuildError>;

/// An architecture and a step, compiled. It borrows nothing and is shared by threads.
#[derive(Clone, Debug)]
pub struct Predictor {
    pub(crate) layout: Layout,
    /// From z to y, a step of y, and from y to z.
    pub(crate) encode: Chain,
    pub(crate) step: Chain,
    pub(crate) decode: Chain,
    pub(crate) dimension: usize,
    pub(crate) substeps: usize,
    /// From states of the system to states z, if these are others.
    conversion: Option<Conversion>,
}

impl Predictor {
    /// Compiles an architecture with a step, so many of which are taken from sample to sample.
    ///
    /// # Errors
    /// [`BuildError::Chain`] if something in it cannot be compiled.
    ///
    /// # Panics
    /// If no steps are taken.
    pub fn new<'g>(
        model: &dyn Architecture<'g>,
        step: StepWriter,
        substeps: usize,
    ) -> Result<Predictor, BuildError> {
        assert!(substeps > 0, "from sample to sample, steps are taken");
        let (graph, layout, dimension) = (model.graph(), model.layout(), model.dimension());
        let mut writer = Writer::new(graph, layout, dimension, &[]);
        let inputs = writer.inputs();
        let y = model.encode(&mut writer, &inputs)?;
        let encode = writer.finish(&y)?;
        let mut writer = Writer::new(graph, layout, y.len(), &["h"]);
        let (inputs, h) = (writer.inputs(), writer.setting(0));
        let next = step(model, &mut writer, &inputs, h)?;
        let step = writer.finish(&next)?;
        let mut writer = Writer::new(graph, layout, y.len(), &[]);
        let inputs = writer.inputs();
        let z = model.decode(&mut writer, &inputs)?;
        let decode = writer.finish(&z)?;
        assert_eq!(z.len(), dimension, "what is decoded is what was encoded");
        let conversion = model.chart().map(|chart| chart.conversion()).transpose()?;
        Ok(Predictor { layout: layout.clone(), encode, step, decode, dimension, substeps, conversion })
    }

    /// What is learned.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many numbers a state z has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// States z for those of the system, of trajectories of so many samples each.
    #[must_use]
    pub fn states(&self, states: &[f64], samples: usize) -> Vec<f64> {
        self.conversion.as_ref().map_or_else(|| states.to_vec(), |chart| chart.into_chart(states, samples))
    }

    /// States of the system for states z.
    #[must_use]
    pub fn states_of_system(&self, states: &[f64]) -> Vec<f64> {
        self.conversion.as_ref().map_or_else(|| states.to_vec(), |chart| chart.out_of_chart(states))
    }
}
