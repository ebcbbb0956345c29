//! Quantities with their rates along the motion, for callers that need to know how fast something changes.
//!
//! $$\dot Q=\frac{\partial Q}{\partial q}\cdot\dot q+\frac{\partial Q}{\partial p}\cdot\dot p+\frac{\partial Q}{\partial t}$$
//!
//! is one forward sweep along the vector field. Where the field is known as expressions, both are one kernel, which has only those parts
//! of the field in it that matter: no forces, if Q depends on q alone.

use crate::dynamics::Dynamics;
use crate::engine::{check, wrong_length};
use crate::equations::{Equations, depend, rate};
use crate::error::{EvalError, ObserveError};
use crate::inverse::grow;
use crate::matrix::Symmetric;
use crate::observe::{Observed, Read};
use crate::quantity::Quantity;
use crate::reading::Reading;
use crate::system::System;
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES};
use leastaction_expr::{Entry, Expr, Id, jvp};

/// A quantity of one [`Dynamics`] and its clones, with its rate along the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated(usize);

/// A quantity that was asked for: its expression, or none for the natural time.
#[derive(Clone)]
pub(crate) struct RatedQuantity {
    value: Option<Id>,
    pub(crate) evaluator: Evaluator,
}

/// So many second derivatives of H are worth writing out to learn the natural time.
const WORTHWHILE: usize = 1000;

const TIMELESS: &str = "the natural time needs an H(q, p) in closed form with not too many second derivatives: \
                        name a quantity instead";

const MEASURED: &str = "energies and multipliers are known by their values only: write the formula instead";

impl Dynamics {
    /// Compiles an expression, or the text of one, together with its rate along the motion, to be evaluated by [`Dynamics::observe_rated`]. What was asked for
    /// before is not compiled again.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let x = model.coordinate("x");
    /// model.particle("bead", 2.0, [x]);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let square = dynamics.rated("x^2")?;
    /// let (mut value, mut rate) = ([0.0], [0.0]);
    /// dynamics.observe_rated(square, &[0.0], &[3.0, 1.0], &mut value, &mut rate)?; // x = 3, p_x = 1
    /// assert_eq!((value, rate), ([9.0], [2.0 * 3.0 * 0.5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ObserveError`] if it is not an expression, uses a name that the system does not have, or has no rate that is known: inputs have
    /// none, and velocities only if they are known as functions of momenta.
    pub fn rated<'a>(&mut self, what: impl Into<Observed<'a>>) -> Result<Rated, ObserveError> {
        let value = self.system().with_source(|source| match source.read(what.into())? {
            Reading { reads, .. } if reads.iter().any(|(_, read)| matches!(read, Read::Measured(_))) => {
                Err(ObserveError::NoRate { reason: MEASURED })
            }
            Reading { value, .. } => Ok(value.id()),
        })?;
        self.rated_quantity(Some(value))
    }

    /// The time in which the motion turns, 1/ω, with its rate:
    ///
    /// $$\omega^4=\operatorname{tr}\Bigl(\frac{\partial^2H}{\partial p^2}\frac{\partial^2H}{\partial q^2}\Bigr)^2.$$
    ///
    /// For H = ½pᵀM⁻¹p + V(q) this is Σω⁴ of the frequencies of small oscillations in the potential as it is at the place, whether up
    /// or down; it does not depend on units, nor on linear changes of the coordinates. A planet at a distance r has √5·GM/r³ for
    /// ω², so that its natural time follows Kepler's r^{3/2}, and among many bodies the closest pair sets it. It is infinite where
    /// forces are uniform.
    ///
    /// # Errors
    /// [`ObserveError::NoRate`] if H is not known in closed form, or has too many second derivatives.
    pub fn natural_time(&mut self) -> Result<Rated, ObserveError> {
        self.rated_quantity(None)
    }

    fn rated_quantity(&mut self, value: Option<Id>) -> Result<Rated, ObserveError> {
        let known = self.observatory.rated.iter().position(|quantity| quantity.value == value);
        if let Some(place) = known {
            return Ok(Rated(place));
        }
        let evaluator = self.engine.parameters.evaluator(&self.system().rated(value)?);
        let evaluator = evaluator.map_err(CodeError::from)?;
        self.observatory.rated.push(RatedQuantity { value, evaluator });
        Ok(Rated(self.observatory.rated.len() - 1))
    }

    /// A quantity and its rate at y, one number each per lane.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the vector field cannot be evaluated.
    pub fn observe_rated(
        &mut self,
        what: Rated,
        t: &[f64],
        y: &[f64],
        values: &mut [f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        check("values", t.len(), values.len())?;
        check("rates", t.len(), rates.len())?;
        let (width, facts) = (t.len(), self.system().facts());
        let (symbolic, form) = (facts.symbolic, facts.form);
        let states = y.len();
        let size = 2 * states + (1 + self.system().inputs().len()) * width;
        let mut block = std::mem::take(&mut self.observatory.rates);
        grow(&mut block, size);
        // Without expressions of them, the field's values stand after all else.
        let rated = if symbolic { Ok(()) } else { self.rates(t, y, &mut block[size - states..size]) };
        let head = &mut block[..if symbolic { size - states } else { size }];
        head[..states].copy_from_slice(y);
        head[states..][..width].copy_from_slice(t);
        self.engine.fill_inputs(t, &mut head[states + width..size - states]);
        let mut both = [0.0; 2 * LANES];
        let out = &mut both[..2 * width];
        let evaluated = match self.observatory.rated.get_mut(what.0) {
            None => Err(EvalError::Undefined { what: "quantities of another system", form }),
            Some(RatedQuantity { evaluator, .. }) if width == LANES => {
                evaluator.eval_lanes(head, out).map_err(wrong_length)
            }
            Some(RatedQuantity { evaluator, .. }) => evaluator.eval(head, out).map_err(wrong_length),
        };
        values.copy_from_slice(&both[..width]);
        rates.copy_from_slice(&both[width..2 * width]);
        self.observatory.rates = block;
        evaluated.and(rated)
    }
}

impl System {
    /// A kernel for a quantity and its rate, of \[q…, p…, t, u…\] and, if the field is not known as expressions, \[q̇…, ṗ…\].
    fn rated(&self, value: Option<Id>) -> Result<Kernel, ObserveError> {
        let (symbolic, constrained) = (self.facts().symbolic, self.facts().constrained);
        self.with_source(|source| {
            let mut value = match value {
                Some(value) => source.graph.at(value),
                None => {
                    let energy = source.outputs(Quantity::Energy).and_then(|h| h.first().copied());
                    let (q, p) = (&source.coordinates, source.expressions(&source.momenta));
                    let energy =
                        energy.filter(|_| !p.is_empty() && !constrained && self.energies().first().is_none());
                    let time = energy.and_then(|h| turning_time(h, &source.expressions(q), &p));
                    time.ok_or(ObserveError::NoRate { reason: TIMELESS })?
                }
            };
            if let Some(drift) = source.outputs(Quantity::Drift) {
                let velocities = source.expressions(&source.of_formulas(&source.velocities));
                value = value.substitute(&velocities.into_iter().zip(drift).collect::<Vec<_>>());
                value = source.with_momenta_of_nodes(value);
            }
            let no_rate = |reason| Err(ObserveError::NoRate { reason });
            if depend(&[value], &source.expressions(&source.velocities)) {
                return no_rate("velocities do not follow from momenta in closed form: use momenta instead");
            }
            if depend(&[value], &source.expressions(&source.inputs)) {
                return no_rate("the rates of inputs are not known: leave them out");
            }
            let (time, states) = (source.graph.at(source.time), source.states());
            let field = if symbolic { source.outputs(Quantity::Rates) } else { None };
            let rates = field.unwrap_or_else(|| states.iter().map(|&x| rate(x)).collect());
            let moving = states.iter().copied().zip(rates.iter().copied());
            let direction: Vec<_> = moving.chain([(time, time.like(1.0))]).collect();
            let change = jvp(&[value], &direction)[0];
            let mut inputs = [states, vec![time], source.expressions(&source.inputs)].concat();
            if !symbolic {
                inputs.extend(rates);
            }
            Ok(source.kernel(&inputs, &[value, change])?)
        })
    }
}

/// 1/ω with ω⁴ = tr (∂²H/∂p² ∂²H/∂q²)², unless H has too many second derivatives.
fn turning_time<'g>(energy: Expr<'g>, q: &[Expr<'g>], p: &[Expr<'g>]) -> Option<Expr<'g>> {
    let (n, graph) = (q.len(), energy.graph());
    let (stiffness, mobility) = (hessian(energy, q), hessian(energy, p));
    if stiffness.entries().count() + mobility.entries().count() > WORTHWHILE {
        return None;
    }
    let product = |i: usize, j: usize| {
        let pairs = (0..n).filter_map(|k| Some(mobility.get(i, k)? * stiffness.get(k, j)?));
        graph.sum(pairs)
    };
    let rows: Vec<Vec<Expr<'_>>> = (0..n).map(|i| (0..n).map(|j| product(i, j)).collect()).collect();
    let mut trace = graph.number(0.0);
    for i in 0..n {
        trace += rows[i][i] * rows[i][i];
        for j in 0..i {
            trace += 2.0 * rows[i][j] * rows[j][i];
        }
    }
    Some(trace.pow(-0.25))
}

impl<'g> Equations<'g> {
    /// The time in which the motion turns, as [`Dynamics::natural_time`] has it; as a clock for
    /// [fictitious time](Equations::in_fictitious_time), for example. None if H is not known in closed form, or has too many second
    /// derivatives.
    #[must_use]
    pub fn natural_time(&self) -> Option<Expr<'g>> {
        if !self.constraints.is_empty() {
            return None;
        }
        turning_time(self.hamiltonian()?, &self.coordinates, &self.momenta)
    }
}

fn hessian<'g>(energy: Expr<'g>, variables: &[Expr<'g>]) -> Symmetric<'g> {
    let mut matrix = Symmetric::zero(variables.len());
    let entries = energy.hessian(variables).into_iter();
    entries.for_each(|Entry { row, column, value }| matrix.add(row, column, value));
    matrix
}
