//! All pairs, without a list: each node against blocks of eight nodes after it, and for forces eight nodes at once, a tile, against the blocks after theirs.

use super::{AT_ONCE, Bench, NodeValues, What};
use leastaction_compile::{ArgumentError, Evaluator, LANES, Loops};
use std::ops::Range;

/// Numbers of nodes, eight of them side by side. What fills the last block is a copy of the last node.
#[derive(Clone, Default)]
pub(super) struct Rows {
    /// For each number of a node, its blocks.
    rows: Vec<Vec<[f64; LANES]>>,
}

impl Rows {
    /// Takes numbers, so many for each node.
    fn fill(&mut self, first: usize, each: usize, values: &[f64]) {
        let nodes = values.len().checked_div(each).unwrap_or(0);
        self.rows.resize(self.rows.len().max(first + each), Vec::new());
        for (k, row) in self.rows[first..first + each].iter_mut().enumerate() {
            row.resize(nodes.div_ceil(LANES), [0.0; LANES]);
            let value = |node: usize| values[node.min(nodes - 1) * each + k];
            for (number, lanes) in row.iter_mut().enumerate() {
                *lanes = std::array::from_fn(|lane| value(number * LANES + lane));
            }
        }
    }
}

/// What of the results of a block is of pairs: node i goes with those after it.
#[inline(always)]
fn masked(row: &[f64; LANES], i: usize, block: usize, nodes: usize) -> [f64; LANES] {
    let first = block * LANES;
    std::array::from_fn(|lane| if i < first + lane && first + lane < nodes { row[lane] } else { 0.0 })
}

#[inline(always)]
fn add(sums: &mut [f64; LANES], row: &[f64; LANES]) {
    (0..LANES).for_each(|lane| sums[lane] += row[lane]);
}

#[inline(always)]
fn subtract(sums: &mut [f64; LANES], row: &[f64; LANES]) {
    (0..LANES).for_each(|lane| sums[lane] -= row[lane]);
}

/// A sum over all pairs: of a node with those after it in eight lanes, which are added up at last; of those with it one by one.
pub(super) struct Stream<'a> {
    pub(super) bench: &'a mut Bench,
    pub(super) own: &'a NodeValues,
    pub(super) time: Option<f64>,
    pub(super) what: What<'a>,
}

/// Blocks that a tile is evaluated with at once: its inputs and results then stay in the first-level cache.
const TILED: usize = 4;

/// What eight nodes get from pairs of which they are the first, in lanes.
type Firsts = [[[f64; LANES]; 3]; LANES];

/// What the nodes of a tile give to whole blocks after theirs, and get from them.
struct Tile<'a> {
    evaluator: &'a mut Evaluator,
    rows: &'a [Vec<[f64; LANES]>],
    time: Option<f64>,
    gathered: &'a mut [[f64; LANES]],
    results: &'a mut [f64],
}

impl Tile<'_> {
    /// Of so many blocks, this one with those after it.
    #[inline(always)]
    fn add(
        &mut self,
        own: usize,
        blocks: Range<usize>,
        added: &mut [Vec<[f64; LANES]>; 3],
        firsts: &mut Firsts,
    ) -> Result<(), ArgumentError> {
        let (rows, each) = (self.rows, self.rows.len());
        let inputs = (LANES + 1) * each + usize::from(self.time.is_some());
        let outputs = 3 * (LANES + 1);
        for to in self.gathered.chunks_exact_mut(inputs).take(TILED) {
            for (node, to) in to.chunks_exact_mut(each).take(LANES).enumerate() {
                to.iter_mut().zip(rows).for_each(|(to, row)| *to = [row[own][node]; LANES]);
            }
            to[inputs - 1..].iter_mut().zip(self.time).for_each(|(row, time)| row.fill(time));
        }
        for from in blocks.clone().step_by(TILED) {
            let count = TILED.min(blocks.end - from);
            for (to, block) in self.gathered.chunks_exact_mut(inputs).zip(from..from + count) {
                to[LANES * each..].iter_mut().zip(rows).for_each(|(to, row)| *to = row[block]);
            }
            let computed = &mut self.results[..outputs * LANES * count];
            self.evaluator.eval_lanes(self.gathered[..inputs * count].as_flattened(), computed)?;
            let (computed, _) = computed.as_chunks::<LANES>();
            for (results, block) in computed.chunks_exact(outputs).zip(from..) {
                let (second, of_firsts) = results.split_at(3);
                (0..3).for_each(|axis| add(&mut added[axis][block], &second[axis]));
                for (sums, rows) in firsts.iter_mut().zip(of_firsts.as_chunks::<3>().0) {
                    (0..3).for_each(|axis| add(&mut sums[axis], &rows[axis]));
                }
            }
        }
        Ok(())
    }
}

impl Loops for Stream<'_> {
    type Result = Result<f64, ArgumentError>;

    #[inline(always)]
    fn run(self) -> Result<f64, ArgumentError> {
        let Stream { bench, own, time, what } = self;
        let Bench {
            energy,
            gradient,
            tile,
            product,
            positions,
            direction,
            sums,
            gathered,
            results,
            rows,
            added,
            ..
        } = bench;
        let nodes = positions.len() / 3;
        let (evaluator, moving) = match what {
            What::Energy => (energy, 3),
            What::Gradient => (gradient, 3),
            What::Product(_) => (product, 6),
        };
        let mut tile = tile.as_mut().filter(|_| matches!(what, What::Gradient));
        rows.fill(0, 3, positions);
        if moving == 6 {
            rows.fill(3, 3, direction);
        }
        rows.fill(moving, own.each, &own.values);
        let rows = &rows.rows[..moving + own.each];
        let outputs = evaluator.kernel().program().outputs().len();
        // Inputs are the places of both nodes, then directions of both, then numbers of the first and of the second.
        let place = |number: usize, second: usize| match number {
            0..3 => 3 * second + number,
            _ if number < moving => 6 + 3 * second + number - 3,
            _ => 2 * moving + second * own.each + number - moving,
        };
        let inputs = 2 * rows.len() + usize::from(time.is_some());
        let (gathered, _) = gathered.as_chunks_mut::<LANES>();
        let (blocks, whole) = (nodes.div_ceil(LANES), nodes / LANES);
        for added in added.iter_mut() {
            added.resize(blocks, [0.0; LANES]);
            added.fill([0.0; LANES]);
        }
        let mut total = [0.0; LANES];
        for own in 0..blocks {
            let mut firsts: Firsts = [[[0.0; LANES]; 3]; LANES];
            // The blocks after this one that its nodes go against one by one: all, or only one that is not whole.
            let mut after = own + 1..blocks;
            if let Some(evaluator) = tile.as_deref_mut().filter(|_| own < whole) {
                let (gathered, results) = (&mut *gathered, &mut results[..]);
                let mut tile = Tile { evaluator, rows, time, gathered, results };
                tile.add(own, own + 1..whole, added, &mut firsts)?;
                after.start = whole.max(own + 1);
            }
            for to in gathered.chunks_exact_mut(inputs).take(AT_ONCE) {
                to[inputs - 1..].iter_mut().zip(time).for_each(|(row, time)| row.fill(time));
            }
            for (i, mine) in (own * LANES..nodes).zip(&mut firsts) {
                for (number, row) in rows.iter().enumerate() {
                    let (to, first) = (place(number, 0), [row[own][i % LANES]; LANES]);
                    let to = gathered.iter_mut().skip(to).step_by(inputs).take(AT_ONCE);
                    to.for_each(|row| *row = first);
                }
                // With the last node of a block, its block is done.
                let begun = (i + 1) / LANES..own + 1;
                for range in [begun, after.clone()] {
                    for from in range.clone().step_by(AT_ONCE) {
                        let count = AT_ONCE.min(range.end - from);
                        for (number, row) in rows.iter().enumerate() {
                            let to = gathered.iter_mut().skip(place(number, 1)).step_by(inputs);
                            to.zip(&row[from..from + count]).for_each(|(to, row)| *to = *row);
                        }
                        let computed = &mut results[..outputs * LANES * count];
                        evaluator.eval_lanes(gathered[..inputs * count].as_flattened(), computed)?;
                        let (computed, _) = computed.as_chunks_mut::<LANES>();
                        for (results, block) in computed.chunks_exact_mut(outputs).zip(from..) {
                            if i >= block * LANES || (block + 1) * LANES > nodes {
                                results.iter_mut().for_each(|row| *row = masked(row, i, block, nodes));
                            }
                            match *results {
                                [row] => add(&mut total, &row),
                                [x, y, z] => {
                                    for (axis, row) in [x, y, z].iter().enumerate() {
                                        add(&mut mine[axis], row);
                                        subtract(&mut added[axis][block], row);
                                    }
                                }
                                _ => {
                                    (0..3).for_each(|axis| add(&mut mine[axis], &results[axis]));
                                    (0..3).for_each(|axis| add(&mut added[axis][block], &results[3 + axis]));
                                }
                            }
                        }
                    }
                }
                // What nodes before it gave to this one is complete by now.
                for (axis, mine) in mine.iter().enumerate() {
                    let of_earlier = added[axis][own][i % LANES];
                    sums[3 * i + axis] = of_earlier + mine.iter().sum::<f64>();
                }
            }
        }
        Ok(total.iter().sum())
    }
}
