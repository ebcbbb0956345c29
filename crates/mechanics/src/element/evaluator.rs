//! Elements by themselves, without a model.

use super::Elements;
use super::map::Lanes;
use super::sum::{ElementSum, Into, SumEvaluator};
use crate::engine::wrong_length;
use crate::error::{EvalError, ModelError};
use crate::parameters::Parameters;
use leastaction_compile::{ArgumentError, Kernel};
use leastaction_expr::Expr;
use std::sync::Arc;

/// [`Elements`] by themselves: their energy, forces, Hessian products and Hessians at one configuration q, on as many threads as there
/// are, with the same bits for any number of them.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_mechanics::{Elements, ElementsEvaluator};
///
/// let graph = Graph::new();
/// let [a, b, k] = graph.symbols(["a", "b", "k"]);
/// let springs = Elements {
///     energy: 0.5 * k * (b - a - 1.0).pow(2),
///     slots: vec![a, b],
///     coordinates: [0, 1, 1, 2].into(),
///     constants: vec![],
///     values: [].into(),
///     implicit: vec![],
/// };
/// let mut springs = ElementsEvaluator::new(&springs, graph.symbol("t"), &[(k, 10.0)])?;
/// let mut force = [0.0; 3];
/// springs.add_forces(0.0, &[0.0, 1.5, 2.5], &mut force)?;
/// assert_eq!((force, springs.energy(0.0, &[0.0, 1.5, 2.5])?), ([5.0, -5.0, 0.0], 1.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ElementsEvaluator {
    energy: SumEvaluator,
    each: SumEvaluator,
    force: SumEvaluator,
    force_change: SumEvaluator,
    common: Common,
}

/// The Hessian ∂²V/∂x² of each of many [`Elements`], to be assembled.
#[derive(Clone)]
pub struct ElementHessians {
    each: SumEvaluator,
    common: Common,
    /// The lower triangles of all elements.
    triangles: Vec<f64>,
}

/// Why elements cannot be evaluated by themselves.
#[derive(Debug, thiserror::Error)]
pub enum ElementsError {
    /// The elements are wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The parameters are wrong.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// What both know of the elements.
#[derive(Clone)]
struct Common {
    coordinates: Arc<[u32]>,
    slots: usize,
    /// One more than the largest coordinate.
    least: usize,
    timed: bool,
    bytes: f64,
}

impl Common {
    fn new(elements: &Elements<'_>, time: Expr<'_>, sum: &ElementSum) -> Common {
        Common {
            coordinates: elements.coordinates.clone(),
            slots: elements.slots.len(),
            least: elements.coordinates.iter().max().map_or(0, |&last| last as usize + 1),
            timed: elements.depends_on(elements.energy.graph().adopt(time)),
            bytes: sum.parts.bytes_per_element(),
        }
    }

    fn shared<'a>(&self, t: &'a f64) -> &'a [f64] {
        if self.timed { std::slice::from_ref(t) } else { &[] }
    }

    fn check(&self, what: &'static str, found: usize) -> Result<(), EvalError> {
        let expected = self.least;
        let wrong = ArgumentError::WrongLength { what, expected, found };
        if found >= expected { Ok(()) } else { Err(wrong_length(wrong)) }
    }

    fn count(&self) -> usize {
        self.coordinates.len() / self.slots
    }
}

/// The parameters of elements: their symbols, and their values.
fn parameters<'g>(list: &[(Expr<'g>, f64)]) -> (Vec<Expr<'g>>, Parameters) {
    let (symbols, values) = list.iter().copied().unzip();
    (symbols, Parameters::new(values))
}

impl ElementsEvaluator {
    /// Differentiates and compiles elements whose energies may depend on time and on these parameters.
    ///
    /// # Errors
    /// [`ElementsError`] if a symbol is not known, or the lists of coordinates and constants do not fit.
    pub fn new<'g>(
        elements: &Elements<'g>,
        time: Expr<'g>,
        list: &[(Expr<'g>, f64)],
    ) -> Result<ElementsEvaluator, ElementsError> {
        let (symbols, values) = parameters(list);
        elements.check_alone(time, &symbols)?;
        let compiled = elements.compile(time, &symbols, Kernel::compile).map_err(ModelError::from)?;
        let each = ElementSum { into: Into::Each, ..compiled.energy.again() };
        let evaluator = |sum: &Arc<ElementSum>| SumEvaluator::new(sum, &values);
        Ok(ElementsEvaluator {
            energy: evaluator(&compiled.energy)?,
            each: evaluator(&Arc::new(each))?,
            force: evaluator(&compiled.force)?,
            force_change: evaluator(&compiled.force_change)?,
            common: Common::new(elements, time, &compiled.energy),
        })
    }

    /// How many elements there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.common.count()
    }

    /// How many bytes are kept for each element, on average: what it reads, and its constants.
    #[must_use]
    pub fn bytes_per_element(&self) -> f64 {
        self.common.bytes
    }

    /// The instructions that each element takes: for its energy, its forces, and its Hessian product.
    #[must_use]
    pub fn instructions(&self) -> [usize; 3] {
        [&self.energy, &self.force, &self.force_change].map(SumEvaluator::instructions)
    }

    /// Has so many threads share the elements. Many elements are shared by as many threads as there are, unless this says otherwise.
    pub fn set_threads(&mut self, threads: usize) {
        let all = [&mut self.energy, &mut self.each, &mut self.force, &mut self.force_change];
        all.into_iter().for_each(|sum| sum.set_threads(threads));
    }

    /// Sets the parameters, in the order in which they were given.
    ///
    /// # Errors
    /// [`EvalError`] if one is not finite.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), EvalError> {
        let all = [&mut self.energy, &mut self.each, &mut self.force, &mut self.force_change];
        all.into_iter().try_for_each(|sum| sum.set_parameters(values))
    }

    /// The energy of all elements.
    ///
    /// # Errors
    /// [`EvalError`] if q has too few coordinates.
    pub fn energy(&mut self, t: f64, q: &[f64]) -> Result<f64, EvalError> {
        self.common.check("coordinates", q.len())?;
        let mut energy = [0.0];
        self.energy.eval(Lanes::whole(1), &[q], self.common.shared(&t), &mut energy)?;
        Ok(energy[0])
    }

    /// The energy of each element.
    ///
    /// # Errors
    /// [`EvalError`] if q has too few coordinates, or there are more or fewer energies than elements.
    pub fn energies(&mut self, t: f64, q: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.common.check("coordinates", q.len())?;
        let (what, expected, found) = ("energies", self.count(), out.len());
        if found != expected {
            return Err(wrong_length(ArgumentError::WrongLength { what, expected, found }));
        }
        self.each.eval(Lanes::whole(1), &[q], self.common.shared(&t), out)
    }

    /// The first element whose energy is infinite or NaN, such as one that is inverted, if there is any.
    ///
    /// # Errors
    /// [`EvalError`] if q has too few coordinates.
    pub fn not_finite(&mut self, t: f64, q: &[f64]) -> Result<Option<usize>, EvalError> {
        let mut energies = vec![0.0; self.count()];
        self.energies(t, q, &mut energies)?;
        Ok(energies.iter().position(|energy| !energy.is_finite()))
    }

    /// Adds −∂V/∂q.
    ///
    /// # Errors
    /// [`EvalError`] if there are too few coordinates or forces.
    pub fn add_forces(&mut self, t: f64, q: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.common.check("coordinates", q.len())?;
        self.common.check("forces", out.len())?;
        self.force.eval(Lanes::whole(1), &[q], self.common.shared(&t), out)
    }

    /// Adds −(∂²V/∂q²) d: how forces change along a direction d.
    ///
    /// # Errors
    /// [`EvalError`] if there are too few coordinates, components or forces.
    pub fn add_force_changes(
        &mut self,
        t: f64,
        q: &[f64],
        d: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        self.common.check("coordinates", q.len())?;
        self.common.check("components of the direction", d.len())?;
        self.common.check("forces", out.len())?;
        self.force_change.eval(Lanes::whole(1), &[q, d], self.common.shared(&t), out)
    }
}

impl ElementHessians {
    /// Differentiates twice, and compiles.
    ///
    /// # Errors
    /// As [`ElementsEvaluator::new`].
    pub fn new<'g>(
        elements: &Elements<'g>,
        time: Expr<'g>,
        list: &[(Expr<'g>, f64)],
    ) -> Result<ElementHessians, ElementsError> {
        let (symbols, values) = parameters(list);
        elements.check_alone(time, &symbols)?;
        let sum = elements.compile_hessians(time, &symbols, Kernel::compile_lightly);
        let sum = Arc::new(sum.map_err(ModelError::from)?);
        let common = Common::new(elements, time, &sum);
        Ok(ElementHessians { each: SumEvaluator::new(&sum, &values)?, common, triangles: Vec::new() })
    }

    /// Shows the entries (i, j, ∂²V/∂qᵢ∂qⱼ) that each element adds, element by element, both of each pair off the diagonal: the Hessian
    /// is the sum of all that are shown for a place.
    ///
    /// # Errors
    /// [`EvalError`] if q has too few coordinates.
    pub fn entries(
        &mut self,
        t: f64,
        q: &[f64],
        mut show: impl FnMut(u32, u32, f64),
    ) -> Result<(), EvalError> {
        let ElementHessians { each, common, triangles } = self;
        common.check("coordinates", q.len())?;
        let (slots, count) = (common.slots, common.count());
        let size = slots * (slots + 1) / 2;
        triangles.resize(count * size, 0.0);
        each.eval(Lanes::whole(1), &[q], common.shared(&t), triangles)?;
        for (triangle, reads) in triangles.chunks_exact(size).zip(common.coordinates.chunks_exact(slots)) {
            let mut entries = triangle.iter();
            for (row, &i) in reads.iter().enumerate() {
                for ((column, &j), &entry) in reads[..=row].iter().enumerate().zip(&mut entries) {
                    show(i, j, entry);
                    if column != row {
                        show(j, i, entry);
                    }
                }
            }
        }
        Ok(())
    }

    /// The pairs of coordinates that have an entry, each once, in ascending order: the pattern of the assembled matrix.
    #[must_use]
    pub fn pattern(&self) -> Vec<(u32, u32)> {
        let reads = self.common.coordinates.chunks_exact(self.common.slots);
        let pairs = reads.flat_map(|reads| reads.iter().flat_map(|&i| reads.iter().map(move |&j| (i, j))));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}
