//! What one thread does for a sum over elements of one state: it evaluates parts, with elements in its lanes.

use super::parts::Part;
use super::sum::{ElementSum, Into};
use crate::engine::wrong_length;
use crate::error::EvalError;
use leastaction_compile::{Evaluator, LANES};

/// Blocks of eight that are evaluated at once: few enough to stay in the first-level cache. In lanes of states these are the elements of one
/// block.
const AT_ONCE: usize = LANES;

/// What a thread works with.
#[derive(Clone)]
pub(super) struct Worker {
    pub(super) evaluator: Evaluator,
    /// What a part reads of each array, and what it adds up.
    local: Vec<f64>,
    pub(super) added: Vec<f64>,
    pub(super) gathered: Vec<f64>,
    pub(super) results: Vec<f64>,
}

impl Worker {
    pub(super) fn new(sum: &ElementSum, parameters: &[f64]) -> Result<Worker, EvalError> {
        let program = sum.kernel.program();
        let evaluator = sum.kernel.evaluator(&sum.own(parameters)).map_err(wrong_length)?;
        Ok(Worker {
            evaluator,
            local: Vec::new(),
            added: Vec::new(),
            gathered: vec![0.0; program.inputs().len() * LANES * AT_ONCE],
            results: vec![0.0; program.outputs().len() * LANES * AT_ONCE],
        })
    }
}

pub(super) fn grown(list: &mut Vec<f64>, len: usize) -> &mut [f64] {
    if list.len() < len {
        list.resize(len, 0.0);
    }
    &mut list[..len]
}

impl Worker {
    /// Evaluates a part, whose sums are then in `added`, and gives its total.
    pub(super) fn eval<const RUN: usize>(
        &mut self,
        sum: &ElementSum,
        part: Part<'_>,
        arrays: &[&[f64]],
        shared: &[f64],
        kept: &mut [f64],
    ) -> Result<f64, EvalError> {
        let Worker { evaluator, local, added, gathered, results } = self;
        let runs = sum.parts.slots() / RUN;
        let [slots, constants, each] =
            [sum.parts.slots(), sum.parts.constants(), sum.results()].map(|len| len * LANES);
        let inputs = arrays.len() * slots + constants + shared.len() * LANES;
        let (places, _) = part.places.as_chunks::<RUN>();
        let (local, _) = grown(local, arrays.len() * part.places.len()).as_chunks_mut::<RUN>();
        for (array, local) in arrays.iter().zip(local.chunks_exact_mut(places.len())) {
            for (local, places) in local.iter_mut().zip(places) {
                *local = places.map(|place| array[place as usize]);
            }
        }
        let (added, _) = grown(added, part.places.len()).as_chunks_mut::<RUN>();
        added.fill([0.0; RUN]);
        let (blocks, mut eighths) = (part.elements.div_ceil(LANES), [0.0; LANES]);
        for first in (0..blocks).step_by(AT_ONCE) {
            let count = AT_ONCE.min(blocks - first);
            for (k, gathered) in gathered.chunks_exact_mut(inputs).take(count).enumerate() {
                let (moving, rest) = gathered.split_at_mut(arrays.len() * slots);
                let (own, alike) = rest.split_at_mut(constants);
                let (reads, _) =
                    part.reads[(first + k) * runs * LANES..][..runs * LANES].as_chunks::<LANES>();
                for (local, moving) in local.chunks_exact(places.len()).zip(moving.chunks_exact_mut(slots)) {
                    let (moving, _) = moving.as_chunks_mut::<LANES>();
                    let (moving, _) = moving.as_chunks_mut::<RUN>();
                    for (rows, reads) in moving.iter_mut().zip(reads) {
                        for lane in 0..LANES {
                            let at = &local[reads[lane] as usize];
                            (0..RUN).for_each(|i| rows[i][lane] = at[i]);
                        }
                    }
                }
                own.copy_from_slice(&part.values[(first + k) * constants..][..constants]);
                alike.chunks_exact_mut(LANES).zip(shared).for_each(|(row, &x)| row.fill(x));
            }
            let computed = &mut results[..each * count];
            evaluator.eval_lanes(&gathered[..inputs * count], computed).map_err(wrong_length)?;
            for (k, computed) in computed.chunks_exact(each).enumerate() {
                let filled = LANES.min(part.elements - (first + k) * LANES);
                let (rows, _) = computed.as_chunks::<LANES>();
                match sum.into {
                    Into::Coordinates => {
                        let reads = &part.reads[(first + k) * runs * LANES..][..runs * LANES];
                        scatter(added, rows.as_chunks::<RUN>().0, reads.as_chunks().0, filled);
                    }
                    Into::Total => (0..filled).for_each(|lane| eighths[lane] += rows[0][lane]),
                    Into::Each => {
                        let results = rows.len();
                        let kept = &mut kept[(first + k) * LANES * results..][..filled * results];
                        for (lane, kept) in kept.chunks_exact_mut(results).enumerate() {
                            kept.iter_mut().zip(rows).for_each(|(kept, row)| *kept = row[lane]);
                        }
                    }
                }
            }
        }
        Ok(eighths.iter().fold(0.0, |sum, x| sum + x))
    }
}

/// Adds the results of a block, of which so many lanes are elements.
#[inline]
fn scatter<const RUN: usize>(
    added: &mut [[f64; RUN]],
    rows: &[[[f64; LANES]; RUN]],
    reads: &[[u32; LANES]],
    filled: usize,
) {
    let mut add = |rows: &[[f64; LANES]; RUN], reads: &[u32; LANES], lane: usize| {
        let sums = &mut added[reads[lane] as usize];
        (0..RUN).for_each(|i| sums[i] += rows[i][lane]);
    };
    for (rows, reads) in rows.iter().zip(reads) {
        // A number that is known while compiling is twice as fast; but for the last block it is this one.
        if filled == LANES {
            (0..LANES).for_each(|lane| add(rows, reads, lane));
        } else {
            (0..filled).for_each(|lane| add(rows, reads, lane));
        }
    }
}
