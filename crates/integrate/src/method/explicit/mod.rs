//! Explicit Runge–Kutta methods: one engine for all tableaux.
//!
//! $$k_i=f\Bigl(t+c_ih,\;y+h\sum_{j<i}a_{ij}k_j\Bigr),\qquad y_1=y+h\sum_i b_ik_i$$
//!
//! The slope at the end of a step is the first of the next: it costs nothing if the step is taken, and serves the error estimate and
//! the dense output.

pub(super) mod dop853;
pub(super) mod dormand_prince5;
pub(super) mod rk4;
pub(super) mod tsit5;
pub(super) mod vern9;

use crate::block::{Block, copy_in};
use crate::dense::{Basis, Polynomial};
use crate::pace::Tolerance;
use crate::step::{Interval, Motion, Step, StepError};
use crate::whole::{Draft, Whole};
use leastaction_compile::{AssemblyError, LANES, Operand};
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

/// Weights of slopes, by their numbers. Those that are left out are zero.
pub(super) type Row = &'static [(usize, f64)];

/// The coefficients of a method.
pub(super) struct Tableau {
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
    /// The weights of slopes in each term.
    pub(super) terms: &'static [Row],
}

/// A tableau at work.
pub(super) struct Explicit {
    tableau: &'static Tableau,
    /// Rows as long as the block, one per stage.
    slopes: Vec<f64>,
    at: Vec<f64>,
    /// The steps of the last try.
    h: [f64; LANES],
    /// 1 in lanes whose first slope is known from the step before.
    begun: [f64; LANES],
    whole: Option<Whole>,
}

impl Tableau {
    /// The memory for a system in so many lanes.
    pub(super) fn stepper(&'static self, dynamics: &Dynamics, width: usize) -> Box<dyn Step> {
        let len = dynamics.system().dimension() * width;
        Box::new(Explicit {
            tableau: self,
            slopes: vec![0.0; len * self.slopes()],
            at: vec![0.0; len],
            h: [0.0; LANES],
            begun: [0.0; LANES],
            whole: None,
        })
    }

    /// The number of the slope at the end.
    fn last(&self) -> usize {
        1 + self.stages.len()
    }

    /// The number of slopes, with those for dense output.
    fn slopes(&self) -> usize {
        self.last() + 1 + self.dense.extra.len()
    }
}

impl Explicit {
    /// Finds slope number `i` at y + h Σ aᵢⱼ kⱼ.
    fn find(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        i: usize,
        (c, row): (f64, Row),
    ) -> Result<(), StepError> {
        let len = self.at.len();
        gather(&mut self.at, Some(block.values()), &self.h, row, &self.slopes);
        Ok(motion.rates(interval, c, &self.at, &mut self.slopes[i * len..][..len])?)
    }

    /// Errors as multiples of what is tolerated, for the difference that a row stands for.
    fn measure(
        &mut self,
        row: Row,
        (tolerance, block, change): (Tolerance, &Block, &[f64]),
        ratios: &mut [f64],
        keep: &mut dyn FnMut(&mut [f64]),
    ) {
        gather(&mut self.at, None, &self.h, row, &self.slopes);
        keep(&mut self.at);
        tolerance.ratios(&self.at, block.values(), change, ratios);
    }
}

/// The step as the kernel makes it, operation for operation as [`gather`] and [`advance`] do: from the states, their carries and the first slopes.
/// Gives the change and the other slopes.
fn write(
    tableau: &Tableau,
    draft: &mut Draft,
    inputs: &[Vec<Operand>],
) -> Result<Vec<Operand>, AssemblyError> {
    let [y, e, first] = inputs else { return Ok(Vec::new()) };
    let (n, h) = (y.len(), draft.h());
    let mut slopes = vec![first.clone()];
    for &(c, row) in tableau.stages {
        let mut state = Vec::with_capacity(n);
        for i in 0..n {
            let sum = sum(draft, row, |_, j| slopes[j][i]);
            let change = sum.map_or(h, |sum| draft.mul(h, sum));
            state.push(draft.add(y[i], change));
        }
        slopes.push(draft.quantity(Quantity::Field, c, &state)?);
    }
    let mut change = Vec::with_capacity(n);
    for i in 0..n {
        let apart = |draft: &mut Draft, j: usize| draft.sub(slopes[j][i], first[i]);
        // The first slope differs by nothing from itself.
        let sum = sum(draft, tableau.weights, apart);
        let mean = sum.map_or(first[i], |sum| draft.add(first[i], sum));
        change.push(draft.mul(h, mean));
    }
    let mut end = Vec::with_capacity(n);
    for i in 0..n {
        let moved = draft.add(e[i], change[i]);
        end.push(draft.add(y[i], moved));
    }
    slopes.push(draft.quantity(Quantity::Field, 1.0, &end)?);
    Ok(change.into_iter().chain(slopes.into_iter().skip(1).flatten()).collect())
}

/// Σ wⱼ xⱼ, from left to right.
fn sum(draft: &mut Draft, row: Row, mut value: impl FnMut(&mut Draft, usize) -> Operand) -> Option<Operand> {
    let mut sum = None;
    for &(j, weight) in row {
        let (weight, value) = (draft.number(weight), value(draft, j));
        let term = draft.mul(weight, value);
        sum = Some(sum.map_or(term, |sum| draft.add(sum, term)));
    }
    sum
}

impl Step for Explicit {
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError> {
        let (tableau, n) = (self.tableau, self.at.len() / width);
        let calls = tableau.stages.len() + 1;
        let name = format!("{:?}{:?}", tableau.stages, tableau.weights);
        let quantities = [(Quantity::Field, calls)];
        self.whole = Whole::compile(dynamics, width, &name, &quantities, &[n, n, n], |draft, inputs| {
            write(tableau, draft, inputs)
        })?;
        Ok(())
    }

    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let (tableau, len) = (self.tableau, change.len());
        // With one lane, all components have its step.
        self.h = std::array::from_fn(|j| interval.h[j % interval.h.len()]);
        let begun = &mut self.begun[..interval.t.len()];
        if begun.contains(&0.0) {
            motion.rates(interval, 0.0, block.values(), &mut self.at)?;
            let mut lanes = [false; LANES];
            lanes.iter_mut().zip(begun.iter()).for_each(|(lane, begun)| *lane = *begun == 0.0);
            copy_in(&lanes[..begun.len()], &self.at, &mut self.slopes[..len]);
            begun.fill(1.0);
        }
        if let Some(whole) = &mut self.whole {
            let (first, others) = self.slopes.split_at_mut(len);
            let outputs = whole.step(motion.dynamics(), interval, &[block.values(), block.carry(), first])?;
            let (moved, slopes) = outputs.split_at(len);
            change.copy_from_slice(moved);
            others[..slopes.len()].copy_from_slice(slopes);
            motion.work_mut().evaluations += (slopes.len() / len) as u64;
            return Ok(());
        }
        for (i, &stage) in tableau.stages.iter().enumerate() {
            self.find(motion, interval, block, i + 1, stage)?;
        }
        advance(change, &self.h, tableau.weights, &self.slopes);
        block.after(0, change, &mut self.at);
        Ok(motion.rates(interval, 1.0, &self.at, &mut self.slopes[tableau.last() * len..][..len])?)
    }

    fn error(&mut self, tolerance: Tolerance, block: &Block, change: &[f64], ratios: &mut [f64]) {
        self.error_within(tolerance, block, change, ratios, &mut |_| {});
    }

    fn error_within(
        &mut self,
        tolerance: Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
        keep: &mut dyn FnMut(&mut [f64]),
    ) {
        let scales = (tolerance, block, change);
        match self.tableau.estimate {
            Estimate::Embedded(row) => self.measure(row, scales, ratios, keep),
            Estimate::Pair { fifth, third } => {
                let mut others = [0.0; LANES];
                self.measure(third, scales, &mut others[..ratios.len()], keep);
                self.measure(fifth, scales, ratios, keep);
                for (ratio, third) in ratios.iter_mut().zip(others) {
                    let scale = ratio.hypot(0.1 * third);
                    *ratio *= if scale == 0.0 { 0.0 } else { *ratio / scale };
                }
            }
        }
    }

    fn polynomial(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        _: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<bool, StepError> {
        let (tableau, len) = (self.tableau, self.at.len());
        let dense = &tableau.dense;
        for (i, &stage) in dense.extra.iter().enumerate() {
            self.find(motion, interval, block, tableau.last() + 1 + i, stage)?;
        }
        let terms = polynomial.begin(block, dense.basis, dense.terms.len());
        for (term, row) in terms.chunks_exact_mut(len).zip(dense.terms) {
            gather(term, None, &self.h, row, &self.slopes);
        }
        Ok(true)
    }

    fn accept(&mut self, lanes: &[bool]) {
        let len = self.at.len();
        let (first, rest) = self.slopes.split_at_mut(len);
        copy_in(lanes, &rest[(self.tableau.last() - 1) * len..][..len], first);
    }

    fn displaced(&mut self) {
        self.begun.fill(0.0);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.begun);
        visit(&mut self.slopes[..self.at.len()]);
    }
}

/// out = y + h·Σ wⱼ kⱼ, or without y. Places go in chunks of eight: the lanes of a component, or components of one lane.
#[inline]
fn gather(out: &mut [f64], y: Option<&[f64]>, h: &[f64; LANES], row: Row, slopes: &[f64]) {
    let len = out.len();
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    let whole = LANES * chunks.len();
    for (place, out) in (0..).step_by(LANES).zip(chunks) {
        *out = [0.0; LANES];
        for &(j, weight) in row {
            let slope = chunk(slopes, j * len + place);
            (0..LANES).for_each(|l| out[l] += weight * slope[l]);
        }
        (0..LANES).for_each(|l| out[l] *= h[l]);
        if let Some(y) = y {
            let y = chunk(y, place);
            (0..LANES).for_each(|l| out[l] += y[l]);
        }
    }
    if rest.is_empty() {
        return;
    }
    rest.fill(0.0);
    for &(j, weight) in row {
        rest.iter_mut().zip(&slopes[j * len + whole..]).for_each(|(out, slope)| *out += weight * slope);
    }
    rest.iter_mut().for_each(|out| *out *= h[0]);
    if let Some(y) = y {
        rest.iter_mut().zip(&y[whole..]).for_each(|(out, y)| *out += y);
    }
}

/// change = h·(k₀ + Σ bⱼ (kⱼ − k₀)), which is h·Σ bⱼ kⱼ: but rounding of the weights, which is the same in every step and would
/// add up, meets only differences.
#[inline]
fn advance(change: &mut [f64], h: &[f64; LANES], weights: Row, slopes: &[f64]) {
    let len = change.len();
    let (chunks, rest) = change.as_chunks_mut::<LANES>();
    let whole = LANES * chunks.len();
    for (place, change) in (0..).step_by(LANES).zip(chunks) {
        *change = [0.0; LANES];
        let first = chunk(slopes, place);
        for &(j, weight) in weights {
            let slope = chunk(slopes, j * len + place);
            (0..LANES).for_each(|l| change[l] += weight * (slope[l] - first[l]));
        }
        (0..LANES).for_each(|l| change[l] = h[l] * (first[l] + change[l]));
    }
    if rest.is_empty() {
        return;
    }
    let first = &slopes[whole..len];
    rest.fill(0.0);
    for &(j, weight) in weights {
        let others = slopes[j * len + whole..].iter().zip(first);
        rest.iter_mut().zip(others).for_each(|(out, (slope, first))| *out += weight * (slope - first));
    }
    rest.iter_mut().zip(first).for_each(|(out, first)| *out = h[0] * (first + *out));
}

#[inline]
fn chunk(values: &[f64], place: usize) -> &[f64; LANES] {
    values[place..].first_chunk().unwrap_or(&[0.0; LANES])
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
            assert_eq!(rows.len(), tableau.slopes());
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
