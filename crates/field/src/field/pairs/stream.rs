//! All pairs, without a list: each node against blocks of eight nodes after it.

use super::{AT_ONCE, Bench, NodeValues, What};
use leastaction_compile::{ArgumentError, LANES, Loops};

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

impl Loops for Stream<'_> {
    type Result = Result<f64, ArgumentError>;

    #[inline(always)]
    fn run(self) -> Result<f64, ArgumentError> {
        let Stream { bench, own, time, what } = self;
        let Bench {
            energy,
            gradient,
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
        let gathered = &mut gathered[..inputs * AT_ONCE];
        for to in gathered.chunks_exact_mut(inputs) {
            to[inputs - 1..].iter_mut().zip(time).for_each(|(row, time)| row.fill(time));
        }
        let blocks = nodes.div_ceil(LANES);
        added.resize(3 * blocks, [0.0; LANES]);
        added.fill([0.0; LANES]);
        let mut total = [0.0; LANES];
        for i in 0..nodes {
            for (number, row) in rows.iter().enumerate() {
                let (to, first) = (place(number, 0), [row[i / LANES][i % LANES]; LANES]);
                gathered.iter_mut().skip(to).step_by(inputs).for_each(|row| *row = first);
            }
            let mut mine = [[0.0; LANES]; 3];
            for from in ((i + 1) / LANES..blocks).step_by(AT_ONCE) {
                let count = AT_ONCE.min(blocks - from);
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
                                subtract(&mut added[axis * blocks + block], row);
                            }
                        }
                        _ => {
                            (0..3).for_each(|axis| add(&mut mine[axis], &results[axis]));
                            (0..3)
                                .for_each(|axis| add(&mut added[axis * blocks + block], &results[3 + axis]));
                        }
                    }
                }
            }
            // What nodes before it gave to this one is complete by now.
            for (axis, mine) in mine.iter().enumerate() {
                let of_earlier = added[axis * blocks + i / LANES][i % LANES];
                sums[3 * i + axis] = of_earlier + mine.iter().sum::<f64>();
            }
        }
        Ok(total.iter().sum())
    }
}
