//! Which coordinates elements read: in parts of some thousands of elements, each with a numbering of its own.
//!
//! A part copies the coordinates that it needs to the front of the cache, where its elements read them again and again, and gathers the
//! forces of its elements there, too. A coordinate then adds up the sums of its parts, in their order. So a sum is defined by the
//! elements alone, whatever threads compute the parts.

use super::map::in_blocks;
use leastaction_compile::LANES;
use std::ops::Range;

/// The most elements of a part: what a part of tetrahedra reads and sums then fits into a second-level cache.
pub(crate) const PART: usize = 2048;

/// What each element reads, and its constants. Lists have, for every block of eight elements, eight entries for each slot; the last element
/// of a part fills its last block. Parts but the last are whole blocks.
pub(crate) struct Parts {
    elements: usize,
    slots: usize,
    /// How many coordinates slots read together: 3 where elements read nodes in space. Mostly they stand in a row.
    run: usize,
    /// The end of each part among the runs, and how many of its runs are coordinates in a row.
    ends: Vec<(usize, usize)>,
    /// The coordinates of the runs of each part: of those in a row first, ascending, then of the others, such as nodes that are held.
    places: Vec<u32>,
    /// For each element, the runs that it reads, by their places in its part.
    reads: Vec<u32>,
    constants: usize,
    values: Vec<f64>,
}

/// Some elements, and what they read.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The coordinates of the runs it reads.
    pub(crate) places: &'a [u32],
    pub(crate) reads: &'a [u32],
    pub(crate) values: &'a [f64],
    pub(crate) elements: usize,
    /// The number of its first element.
    pub(crate) first: usize,
}

impl Parts {
    pub(crate) fn new(slots: usize, coordinates: &[u32], constants: usize, values: &[f64]) -> Parts {
        let elements = coordinates.len() / slots;
        let together = |run: usize| {
            let rows = coordinates.chunks_exact(run).filter(|run| is_row(run)).count();
            slots.is_multiple_of(run) && 2 * rows * run >= coordinates.len()
        };
        let run = [3, 2].into_iter().find(|&run| together(run)).unwrap_or(1);
        let each = slots / run;
        let (mut places, mut ends, mut reads) = (Vec::new(), Vec::new(), Vec::with_capacity(elements * each));
        for part in coordinates.chunks(PART * slots) {
            let (rows, mut others): (Vec<&[u32]>, Vec<&[u32]>) =
                part.chunks_exact(run).partition(|run| is_row(run));
            let mut rows: Vec<u32> = rows.into_iter().map(|run| run[0]).collect();
            rows.sort_unstable();
            rows.dedup();
            others.sort_unstable();
            others.dedup();
            let place = |element: usize, slot: usize| {
                let own = &part[element * slots + slot * run..][..run];
                let place = match is_row(own) {
                    true => rows.partition_point(|&first| first < own[0]),
                    false => rows.len() + others.partition_point(|other| *other < own),
                };
                place as u32
            };
            reads.extend(in_blocks(part.len() / slots, each, place));
            places.extend(rows.iter().flat_map(|&first| first..first + run as u32));
            places.extend(others.iter().copied().flatten());
            ends.push((places.len() / run, rows.len()));
        }
        let constant = |element: usize, k: usize| values[element * constants + k];
        let values = in_blocks(elements, constants, constant);
        Parts { elements, slots, run, ends, places, reads, constants, values }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn run(&self) -> usize {
        self.run
    }

    pub(crate) fn constants(&self) -> usize {
        self.constants
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many runs there are in all parts.
    pub(crate) fn runs(&self) -> usize {
        self.places.len() / self.run
    }

    /// The most runs of a part.
    pub(crate) fn most_runs(&self) -> usize {
        (0..self.len()).map(|part| self.runs_of(part).len()).max().unwrap_or(0)
    }

    /// Where the runs of a part stand among all.
    pub(crate) fn runs_of(&self, part: usize) -> Range<usize> {
        let first = if part == 0 { 0 } else { self.ends[part - 1].0 };
        first..self.ends[part].0
    }

    /// How many runs of a part are coordinates in a row.
    pub(crate) fn rows_of(&self, part: usize) -> usize {
        self.ends[part].1
    }

    pub(crate) fn part(&self, part: usize) -> Part<'_> {
        let first = part * PART;
        let elements = PART.min(self.elements - first);
        let padded = first..first + elements.next_multiple_of(LANES);
        let within = |each: usize| padded.start * each..padded.end * each;
        let runs = self.runs_of(part);
        Part {
            places: &self.places[runs.start * self.run..runs.end * self.run],
            reads: &self.reads[within(self.slots / self.run)],
            values: &self.values[within(self.constants)],
            elements,
            first,
        }
    }

    /// Bytes that are kept for each element, on average.
    pub(crate) fn bytes_per_element(&self) -> f64 {
        let bytes =
            4 * (self.places.len() + self.reads.len()) + 8 * (self.values.len() + 2 * self.ends.len());
        bytes as f64 / self.elements.max(1) as f64
    }
}

/// Whether these are coordinates in a row.
fn is_row(run: &[u32]) -> bool {
    run.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
}
