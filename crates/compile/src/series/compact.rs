//! Compact code: loops over the tape and its orders, for programs whose unrolled code would be too long.

use super::expansion::Expansion;
use super::polynomial::sum;
use super::reach::{ABSOLUTE, SHARES, reach, top};
use super::recurrence::{Shape, Table, Visit, convolution, finish, inner};
use super::tape::{Node, Tape};
use super::unrolled;
use crate::LANES;
use crate::aligned::Aligned;
use crate::arithmetic::{Arithmetic, Lanes};
use crate::interpreter::Level;
use crate::kernel::{ArgumentError, CompileError, Evaluator, Kernel};

/// Sums that grow side by side, so that one need not wait for another.
const SIDE_BY_SIDE: usize = 4;

/// Convolutions with the same terms: for each its series, u and v. A short group repeats its last.
struct Group {
    shape: Shape,
    members: [[Node; 3]; SIDE_BY_SIDE],
}

/// Runs a tape up to an order.
pub(super) struct Compact {
    tape: Tape,
    /// Order 0 of all series.
    start: Kernel,
    groups: Vec<Group>,
    /// By series and order: whether there are inner terms.
    summed: Vec<bool>,
    order: usize,
    level: Level,
}

/// The memory of one thread.
#[derive(Clone)]
pub(super) struct Rows {
    start: Evaluator,
    /// Order 0 of all series, by lane.
    first: Aligned,
    /// Coefficients by series, order and lane; the sums of inner terms in place of those that are not known yet.
    values: Aligned,
}

/// The rows of the coefficients.
struct Known<'a, const W: usize> {
    orders: usize,
    values: &'a mut [[f64; W]],
}

impl<const W: usize> Table<Lanes<W>> for Known<'_, W> {
    #[inline(always)]
    fn get(&self, node: Node, order: usize) -> [f64; W] {
        self.values[node as usize * self.orders + order]
    }
}

/// Convolutions that grow side by side: the rows of their u and v.
struct Sums<'a, const W: usize> {
    rows: [[&'a [[f64; W]]; 2]; SIDE_BY_SIDE],
    sums: [[f64; W]; SIDE_BY_SIDE],
}

impl<const W: usize> Visit for Sums<'_, W> {
    #[inline(always)]
    fn term(&mut self, j: usize, i: usize) {
        for m in 0..SIDE_BY_SIDE {
            let [u, v] = self.rows[m];
            self.sums[m] = Lanes.mul_add(u[j], v[i], self.sums[m]);
        }
    }
}

impl Rows {
    /// Sets the parameters.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), ArgumentError> {
        self.start.set_parameters(parameters)
    }

    /// Sets the parameters of one lane.
    pub(super) fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), ArgumentError> {
        self.start.set_parameters_in(lane, parameters)
    }
}

impl Compact {
    pub(super) fn new(tape: Tape, order: usize) -> Result<Compact, CompileError> {
        let start = Kernel::compile(unrolled::start(&tape))?;
        let (groups, orders) = (groups(&tape), order + 1);
        let mut summed = vec![false; tape.rules.len() * orders];
        for Group { shape, members } in &groups {
            for (k, [node, ..]) in (1..orders).flat_map(|k| members.iter().map(move |m| (k, m))) {
                inner(*shape, k, &mut |_, _| summed[*node as usize * orders + k] = true);
            }
        }
        Ok(Compact { tape, start, groups, summed, order, level: Level::detect() })
    }

    /// Memory for one thread.
    pub(super) fn rows(&self, parameters: &[f64]) -> Result<Rows, ArgumentError> {
        let count = self.tape.rules.len() * LANES;
        let values = Aligned::zeros(count * (self.order + 1));
        Ok(Rows { start: self.start.evaluator(parameters)?, first: Aligned::zeros(count), values })
    }

    /// The sums of the states' polynomials, in `W` lanes.
    pub(super) fn sum<const W: usize>(&self, coefficients: &[f64], h: &[f64], out: &mut [f64]) {
        let (coefficients, _) = coefficients.as_chunks::<W>();
        let (out, _) = out.as_chunks_mut::<W>();
        let Some(h) = h.first_chunk::<W>() else { return };
        match self.level {
            Level::Baseline => sums(self.order, coefficients, *h, out),
            // SAFETY: the machine has the instructions of its level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { sums_avx2(self.order, coefficients, *h, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { sums_avx512(self.order, coefficients, *h, out) },
        }
    }

    /// The coefficients in `W` lanes.
    pub(super) fn run<const W: usize>(
        &self,
        rows: &mut Rows,
        inputs: &[f64],
        out: &mut [f64],
    ) -> Result<(), ArgumentError> {
        let Rows { start, first, values } = rows;
        let first = &mut first.as_mut_slice()[..self.tape.rules.len() * W];
        match W {
            1 => start.eval(inputs, first)?,
            _ => start.eval_lanes(inputs, first)?,
        }
        let (first, _) = first.as_chunks::<W>();
        let (values, _) = values.as_mut_slice().as_chunks_mut::<W>();
        let (out, _) = out.as_chunks_mut::<W>();
        let orders = self.order + 1;
        for (row, value) in values.chunks_exact_mut(orders).zip(first) {
            row[0] = *value;
        }
        let known = Known { orders, values };
        match self.level {
            Level::Baseline => run(self, known, out),
            // SAFETY: the machine has the instructions of its level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { run_avx2(self, known, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { run_avx512(self, known, out) },
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<const W: usize>(compact: &Compact, known: Known<'_, W>, out: &mut [[f64; W]]) {
    run(compact, known, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<const W: usize>(compact: &Compact, known: Known<'_, W>, out: &mut [[f64; W]]) {
    run(compact, known, out);
}

#[inline(always)]
fn run<const W: usize>(compact: &Compact, known: Known<'_, W>, out: &mut [[f64; W]]) {
    let (lanes, tape, orders) = (&mut Lanes::<W>, &compact.tape, known.orders);
    let states = tape.states.len();
    for k in 1..=compact.order {
        for group in &compact.groups {
            let row = |node: Node| &known.values[node as usize * orders..][..orders];
            let rows = group.members.map(|[_, u, v]| [row(u), row(v)]);
            // A product added to −0 is that product, to the sign of a zero.
            let mut sums = Sums { rows, sums: [[-0.0; W]; SIDE_BY_SIDE] };
            inner(group.shape, k, &mut sums);
            let sums = sums.sums;
            for ([node, ..], sum) in group.members.iter().zip(sums) {
                known.values[*node as usize * orders + k] = sum;
            }
        }
        for &node in &tape.running {
            if tape.has(node, k) {
                let place = node as usize * orders + k;
                let sum = compact.summed[place].then(|| known.values[place]);
                known.values[place] = finish(lanes, tape, &known, node, k, sum);
            }
        }
        for (out, &node) in out[(k - 1) * states..][..states].iter_mut().zip(&tape.states) {
            *out = if tape.has(node, k) { known.get(node, k) } else { [0.0; W] };
        }
    }
}

/// The convolutions of a tape by their shape.
fn groups(tape: &Tape) -> Vec<Group> {
    let mut all: Vec<(Shape, [Node; 3])> = Vec::new();
    for &node in &tape.running {
        all.extend(convolution(tape, node).map(|c| (c.shape, [node, c.u, c.v])));
    }
    all.sort_by_key(|(shape, _)| *shape);
    let mut groups = Vec::new();
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        for chunk in same.chunks(SIDE_BY_SIDE) {
            let member = |m: usize| chunk[m.min(chunk.len() - 1)].1;
            groups.push(Group { shape: chunk[0].0, members: std::array::from_fn(member) });
        }
    }
    groups
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sums_avx2<const W: usize>(order: usize, coefficients: &[[f64; W]], h: [f64; W], out: &mut [[f64; W]]) {
    sums(order, coefficients, h, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn sums_avx512<const W: usize>(order: usize, coefficients: &[[f64; W]], h: [f64; W], out: &mut [[f64; W]]) {
    sums(order, coefficients, h, out);
}

#[inline(always)]
fn sums<const W: usize>(order: usize, coefficients: &[[f64; W]], h: [f64; W], out: &mut [[f64; W]]) {
    let states = out.len() / 3;
    let (high, rest) = out.split_at_mut(states);
    let (low, slopes) = rest.split_at_mut(states);
    for (i, ((high, low), slope)) in high.iter_mut().zip(low).zip(slopes).enumerate() {
        [*high, *low, *slope] = sum(&mut Lanes, order, h, |k| coefficients[(k - 1) * states + i]);
    }
}

/// The step that an expansion allows, from orders `from` on.
pub(super) fn reach_from<const W: usize>(expansion: &Expansion, from: usize) -> [f64; W] {
    let (numbers, _) = expansion.numbers().as_chunks::<W>();
    let Expansion { states, order, .. } = *expansion;
    let shares: [[f64; W]; SHARES] = std::array::from_fn(|i| numbers[states * order + 1 + i]);
    let absolute = |i: usize| expansion.each().get(i).map_or(shares[ABSOLUTE], |absolute| [*absolute; W]);
    reach(&mut Lanes, states, from, order, shares, absolute, |k, i| numbers[expansion.place(k, i)])
}

/// The logarithm of the largest coefficient of an order.
pub(super) fn top_of<const W: usize>(expansion: &Expansion, k: usize) -> [f64; W] {
    let (numbers, _) = expansion.numbers().as_chunks::<W>();
    top(&mut Lanes, expansion.states, |i| numbers[expansion.place(k, i)])
}
