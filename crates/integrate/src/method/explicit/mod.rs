//! Explicit Runge–Kutta methods: one engine for all tableaux.
//!
//! $$k_i=f\Bigl(t+c_ih,\;y+h\sum_{j<i}a_{ij}k_j\Bigr),\qquad y_1=y+h\sum_i b_ik_i$$
//!
//! The rate at the end of a step is the first of the next: it costs nothing if the step is taken, and serves the error estimate and
//! the dense output.

pub(super) mod dop853;
pub(super) mod dormand_prince5;
pub(super) mod rk4;
mod text;
pub(super) mod tsit5;
pub(super) mod vern9;

use crate::block::{Block, CopyIn, copy_in};
use crate::compiled_loop::StepCode;
use crate::compiled_step::{CompiledStep, Contents, KernelKey};
use crate::dense::{Basis, Polynomial};
use crate::natural::NaturalSizes;
use crate::pace::{Pace, Tolerance};
use crate::run::checkpoint::Kept;
use crate::step::{Compiled, Estimated, Interpolated, Interval, Motion, Step, StepError};
use crate::workspace::{Computing, Memory, Slot, spread};
use leastaction_compile::{LANES, Lanes, vectorized};
use leastaction_mechanics::{Dynamics, EvalError};
use text::Weighted;

/// Weights of stages, by their numbers. Those that are left out are zero.
pub(super) type Row = &'static [(usize, f64)];

/// The coefficients of a method.
pub(super) struct Tableau {
    /// The name of the method.
    pub(super) method: &'static str,
    /// c and the row of A for every stage but the first, which is at the start, and the last, which is at the end.
    pub(super) stages: &'static [(f64, Row)],
    /// b.
    pub(super) weights: Row,
    pub(super) estimate: Estimate,
    pub(super) dense: Dense,
}

/// How the error of a step is estimated.
pub(super) enum Estimate {
    /// By the difference b − b̂ to a method of lower order.
    Embedded(Row),
    /// By the differences to methods of orders 5 and 3: e₅²/√(e₅² + e₃²/100), which shrinks as h⁸
    /// (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, section II.10).
    Pair { fifth: Row, third: Row },
}

/// The motion within a step.
pub(super) struct Dense {
    /// c and the row of A for stages that only this needs.
    pub(super) extra: &'static [(f64, Row)],
    pub(super) basis: Basis,
    /// The weights of stages in each term.
    pub(super) terms: &'static [Row],
}

/// A tableau at work.
pub(super) struct Explicit {
    tableau: &'static Tableau,
    /// What errors are measured by, if that sets the steps.
    tolerance: Option<Tolerance>,
    /// Rows as long as the block, one per stage.
    stages: Vec<f64>,
    at: Vec<f64>,
    /// The steps of the last try.
    h: [f64; LANES],
    /// In which lanes the first rate is known from the step before.
    begun: [bool; LANES],
    /// The step as a kernel that keeps the stages between the first and the last to itself, and one that shows them.
    whole: Option<CompiledStep>,
    full: Option<CompiledStep>,
    /// Whether all stages of the last step are known, and whether those of the next will be asked for.
    stages_known: bool,
    stages_wanted: bool,
    /// The errors of the last step as multiples of what is tolerated, as the kernel found them.
    ratios: [f64; LANES],
}

impl Tableau {
    /// The memory for a system in so many lanes.
    pub(super) fn stepper(&'static self, dynamics: &Dynamics, width: usize, pace: &Pace) -> Box<dyn Step> {
        let len = dynamics.system().dimension() * width;
        let tolerance = if let Pace::Tolerance(tolerance) = pace { Some(tolerance.clone()) } else { None };
        Box::new(Explicit {
            tableau: self,
            tolerance,
            stages: vec![0.0; len * self.stage_count()],
            at: vec![0.0; len],
            h: [0.0; LANES],
            begun: [false; LANES],
            whole: None,
            full: None,
            stages_known: true,
            stages_wanted: false,
            ratios: [0.0; LANES],
        })
    }

    /// The number of the stage at the end.
    fn last(&self) -> usize {
        1 + self.stages.len()
    }

    /// The number of stages, with those for dense output.
    fn stage_count(&self) -> usize {
        self.last() + 1 + self.dense.extra.len()
    }
}

impl Explicit {
    /// The rows of a step.
    fn rows<'a>(&'a mut self, block: &'a Block, change: &'a mut [f64]) -> Memory<'a> {
        let Explicit { at, stages, h, .. } = self;
        Memory { row: at.len(), h: *h, block, change, at, rates: stages }
    }

    /// The step as a kernel.
    fn kernel(
        &self,
        dynamics: &Dynamics,
        width: usize,
        full: bool,
    ) -> Result<Option<CompiledStep>, EvalError> {
        let (tableau, n) = (self.tableau, self.at.len() / width);
        let settings = self.tolerance.iter().flat_map(|tolerance| {
            std::iter::once(tolerance.relative).chain(tolerance.absolute.as_slice().iter().copied())
        });
        let settings: Vec<f64> = settings.collect();
        let contents = Contents::Step { stages: full, settings: settings.len() };
        CompiledStep::compile(
            dynamics,
            width,
            KernelKey { method: tableau.method, contents },
            &tableau.quantities(),
            (&[n, n, n, if settings.is_empty() { 0 } else { 2 }], &settings),
            |builder, inputs| tableau.write_alone(full, builder, inputs),
        )
    }

    /// Makes the step, and with `full` finds all of its stages.
    fn step_as_whole(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        full: bool,
        change: Option<&mut [f64]>,
    ) -> Result<(), EvalError> {
        let (len, last) = (self.at.len(), self.tableau.last());
        let Some(whole) = (if full { &mut self.full } else { &mut self.whole }) else {
            unreachable!("a step is compiled before it is made as a whole")
        };
        let (first, others) = self.stages.split_at_mut(len);
        // Only errors are measured by natural sizes.
        let (natural, width) =
            (*motion.natural(), if self.tolerance.is_some() { interval.t.len() } else { 0 });
        let [coordinates, momenta] = natural.each_ref().map(|sizes| &sizes[..width]);
        let rows = [block.values(), block.carry(), first, coordinates, momenta];
        let outputs = whole.step(motion.dynamics(), interval, &rows)?;
        if let Some(change) = change {
            change.copy_from_slice(&outputs[..len]);
        }
        let inner = if full { (last - 1) * len } else { 0 };
        let (outputs, inner) = outputs.split_at(outputs.len() - inner);
        others[(last - 1) * len..][..len].copy_from_slice(&outputs[len..][..len]);
        others[..inner.len()].copy_from_slice(inner);
        let ratios = &outputs[2 * len..];
        self.ratios[..ratios.len()].copy_from_slice(ratios);
        self.stages_known = full;
        Ok(())
    }

    /// Finds the first rate in lanes that have none from the step before.
    fn begin(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        self.h = spread(interval.h);
        let begun = &mut self.begun[..interval.t.len()];
        if begun.contains(&false) {
            motion.rates(interval, 0.0, block.values(), &mut self.at)?;
            let mut lanes = [false; LANES];
            lanes.iter_mut().zip(begun.iter()).for_each(|(lane, begun)| *lane = !begun);
            copy_in(&lanes[..begun.len()], &self.at, &mut self.stages[..self.at.len()]);
            begun.fill(true);
        }
        Ok(())
    }

    /// Finds the stages of the last step that its kernel kept to itself.
    fn complete_stages(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        if self.whole.is_none() || self.stages_known {
            return Ok(());
        }
        if self.full.is_none() {
            self.full = self.kernel(motion.dynamics(), interval.t.len(), true)?;
        }
        self.step_as_whole(motion, interval, block, true, None)
    }
}

impl Estimate {
    /// The rows of differences.
    fn rows(&self) -> impl Iterator<Item = Row> {
        match *self {
            Estimate::Embedded(row) => [Some(row), None],
            Estimate::Pair { fifth, third } => [Some(fifth), Some(third)],
        }
        .into_iter()
        .flatten()
    }
}

impl Step for Explicit {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let tableau = self.tableau;
        self.begin(motion, interval, block)?;
        if self.whole.is_some() {
            let full = std::mem::take(&mut self.stages_wanted) && self.full.is_some();
            motion.work_mut().evaluations += tableau.stages.len() as u64 + 1;
            return Ok(self.step_as_whole(motion, interval, block, full, Some(change))?);
        }
        let mut step = Computing { motion, interval, memory: self.rows(block, change) };
        Ok(tableau.step(&mut step)?)
    }

    fn accept(&mut self, lanes: &[bool]) {
        let len = self.at.len();
        let (first, rest) = self.stages.split_at_mut(len);
        vectorized(CopyIn { lanes, from: &rest[(self.tableau.last() - 1) * len..][..len], to: first });
    }

    fn displaced(&mut self) {
        self.begun.fill(false);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Flags(&mut self.begun));
        visit(Kept::Numbers(&mut self.stages[..self.at.len()]));
    }

    fn estimated(&mut self) -> Option<&mut dyn Estimated> {
        Some(self)
    }

    fn interpolated(&mut self) -> Option<&mut dyn Interpolated> {
        Some(self)
    }

    fn compiled(&mut self) -> Option<&mut dyn Compiled> {
        Some(self)
    }
}

impl Estimated for Explicit {
    fn error(
        &mut self,
        motion: &Motion<'_>,
        tolerance: &Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
    ) {
        if self.whole.is_some() && self.tolerance.as_ref() == Some(tolerance) {
            return ratios.copy_from_slice(&self.ratios[..ratios.len()]);
        }
        self.measure(motion.natural(), tolerance, block, change, ratios, &mut |_| {});
    }

    fn error_within(
        &mut self,
        motion: &mut Motion<'_>,
        tolerance: &Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
        keep: &mut dyn FnMut(&mut Motion<'_>, &mut [f64]),
    ) {
        let natural = *motion.natural();
        self.measure(&natural, tolerance, block, change, ratios, &mut |errors| keep(motion, errors));
    }
}

impl Explicit {
    fn measure(
        &mut self,
        natural: &NaturalSizes,
        tolerance: &Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
        keep: &mut dyn FnMut(&mut [f64]),
    ) {
        let (mut measured, estimate, width) = ([[0.0; LANES]; 2], &self.tableau.estimate, ratios.len());
        for (row, measured) in estimate.rows().zip(&mut measured) {
            self.rows(block, &mut []).combine(Slot::At(0), Weighted(row));
            keep(&mut self.at);
            tolerance.ratios(natural, &self.at, block.values(), change, &mut measured[..width]);
        }
        for (j, ratio) in ratios.iter_mut().enumerate() {
            [*ratio] = estimate.join(&mut Lanes, [[measured[0][j]], [measured[1][j]]]);
        }
    }
}

impl Interpolated for Explicit {
    fn polynomial(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        _: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let (tableau, len) = (self.tableau, self.at.len());
        let dense = &tableau.dense;
        self.stages_wanted = true;
        self.complete_stages(motion, interval, block)?;
        let mut step = Computing { motion, interval, memory: self.rows(block, &mut []) };
        for (i, &stage) in dense.extra.iter().enumerate() {
            text::stage(&mut step, tableau.last() + 1 + i, stage)?;
        }
        let terms = polynomial.begin(block, dense.basis, dense.terms.len());
        for (term, row) in terms.chunks_exact_mut(len).zip(dense.terms) {
            self.rows(block, term).combine(Slot::Change(0), Weighted(row));
        }
        Ok(())
    }
}

impl Compiled for Explicit {
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError> {
        self.whole = self.kernel(dynamics, width, false)?;
        Ok(())
    }

    fn text(&self) -> &dyn StepCode {
        self.tableau
    }

    fn code(&self) -> Option<&dyn StepCode> {
        self.whole.is_some().then_some(self.tableau as &dyn StepCode)
    }

    fn rates(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<&[f64], StepError> {
        self.begin(motion, interval, block)?;
        Ok(&self.stages[..self.at.len()])
    }

    fn set_rates(&mut self, rates: &[f64], _: &Block) {
        self.stages[..rates.len()].copy_from_slice(rates);
        self.begun.fill(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::explicit::{dop853, dormand_prince5, tsit5, vern9};

    /// A rooted tree by its branches.
    #[derive(Clone, PartialEq, PartialOrd)]
    struct Tree(Vec<Tree>);

    /// Every tree with so many nodes: a root with a multiset of smaller trees.
    fn trees(nodes: usize) -> Vec<Tree> {
        fn branches(
            left: usize,
            largest: Option<&Tree>,
            known: &[Vec<Tree>],
            all: &mut Vec<Tree>,
            some: &Tree,
        ) {
            if left == 0 {
                return all.push(some.clone());
            }
            for tree in known[..left].iter().flatten().filter(|tree| largest.is_none_or(|top| *tree <= top)) {
                let mut more = some.clone();
                more.0.push(tree.clone());
                branches(left - tree.nodes(), Some(tree), known, all, &more);
            }
        }
        let mut known: Vec<Vec<Tree>> = Vec::new();
        for n in 0..nodes {
            let mut all = Vec::new();
            branches(n, None, &known, &mut all, &Tree(Vec::new()));
            known.push(all);
        }
        known.pop().unwrap_or_default()
    }

    impl Tree {
        fn nodes(&self) -> usize {
            1 + self.0.iter().map(Tree::nodes).sum::<usize>()
        }

        /// γ: the density.
        fn density(&self) -> f64 {
            self.nodes() as f64 * self.0.iter().map(Tree::density).product::<f64>()
        }

        /// Φ: what the tree contributes at every stage.
        fn weights(&self, rows: &[Row]) -> Vec<f64> {
            let below: Vec<Vec<f64>> = self.0.iter().map(|branch| branch.weights(rows)).collect();
            rows.iter().map(|row| below.iter().map(|b| dot(row, b)).product()).collect()
        }
    }

    fn dot(row: Row, values: &[f64]) -> f64 {
        row.iter().map(|&(j, weight)| weight * values[j]).sum()
    }

    /// The largest defect Σ b Φ − τⁿ/γ among trees with so many nodes.
    fn defect(rows: &[Row], nodes: usize, tau: f64, weigh: impl Fn(&[f64]) -> f64) -> f64 {
        let defects = trees(nodes).into_iter().map(|tree| {
            let exact = tau.powi(nodes as i32) / tree.density();
            (weigh(&tree.weights(rows)) - exact).abs()
        });
        defects.fold(0.0, f64::max)
    }

    #[test]
    fn trees_are_all_there() {
        // https://oeis.org/A000081
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| trees(n).len()), [1, 1, 2, 4, 9, 20, 48, 115, 286]);
    }

    /// All order conditions, of the method, of the methods it is compared with, and of its dense output; and not one order more,
    /// or the conditions see nothing.
    #[test]
    fn order_conditions_hold() {
        let all: [(&str, &Tableau, usize, &[usize], usize); 4] = [
            ("dormand-prince5", &dormand_prince5::TABLEAU, 5, &[4], 4),
            ("tsit5", &tsit5::TABLEAU, 5, &[4], 4),
            ("dop853", &dop853::TABLEAU, 8, &[5, 3], 7),
            ("vern9", &vern9::TABLEAU, 9, &[8], 8),
        ];
        for (name, tableau, order, embedded, dense) in all {
            let mut rows: Vec<Row> = vec![&[]];
            let mut nodes = vec![0.0];
            let end = [(1.0, tableau.weights)];
            for &(c, row) in tableau.stages.iter().chain(&end).chain(tableau.dense.extra) {
                rows.push(row);
                nodes.push(c);
            }
            assert_eq!(rows.len(), tableau.stage_count());
            for (row, c) in rows.iter().zip(&nodes) {
                let sum: f64 = row.iter().map(|(_, a)| a).sum();
                assert!((sum - c).abs() < 1e-13, "{name}: a row sums to {sum}, not {c}");
                assert!(row.iter().all(|(_, a)| a.is_finite()) && row.is_sorted_by_key(|(j, _)| *j));
            }
            let holds = |what: &str, order: usize, tau: f64, weigh: &dyn Fn(&[f64]) -> f64| {
                for nodes in 1..=order {
                    let found = defect(&rows, nodes, tau, weigh);
                    assert!(
                        found < 5e-14,
                        "{name}, {what}: a condition of order {nodes} is off by {found:e}"
                    );
                }
                let more = defect(&rows, order + 1, tau, weigh);
                println!("{name:16} {what:10} order {order}, off by {more:.1e} in the next");
                assert!(more > 1e-7, "{name}, {what}: of higher order than {order}");
            };
            holds("step", order, 1.0, &|phi| dot(tableau.weights, phi));
            let rows_of = match tableau.estimate {
                Estimate::Embedded(row) => vec![row],
                Estimate::Pair { fifth, third } => vec![fifth, third],
            };
            assert_eq!(rows_of.len(), embedded.len());
            for (row, &order) in rows_of.into_iter().zip(embedded) {
                holds("embedded", order, 1.0, &|phi| dot(tableau.weights, phi) - dot(row, phi));
            }
            let Dense { basis, terms, .. } = &tableau.dense;
            for tau in [0.3_f64, 0.77] {
                let base = |k: usize| match basis {
                    Basis::Powers => tau.powi(k as i32 + 1),
                    Basis::Chebyshev => (k as f64 * (2.0 * tau - 1.0).acos()).cos(),
                };
                let weigh =
                    |phi: &[f64]| terms.iter().enumerate().map(|(k, row)| base(k) * dot(row, phi)).sum();
                holds("dense", dense, tau, &weigh);
            }
        }
    }
}
