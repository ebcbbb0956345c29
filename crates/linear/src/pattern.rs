//! Where a sparse matrix has entries, by rows; and products with it, in lanes.

use std::ops::Range;

/// The places of a sparse matrix, sorted by rows. Row r has the entries `row(r)`; the numbers of entry k in W lanes stand at `k·W`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    start: Vec<u32>,
    columns: Vec<u32>,
    width: usize,
}

impl Pattern {
    /// The pattern of a matrix of so many rows and columns from its entries (row, column), in any order; a place that is named twice
    /// counts once.
    ///
    /// # Panics
    /// If a place is outside of the matrix.
    #[must_use]
    pub fn new(rows: usize, columns: usize, mut entries: Vec<(usize, usize)>) -> Pattern {
        entries.sort_unstable();
        entries.dedup();
        assert!(entries.iter().all(|&(row, column)| row < rows && column < columns), "a place is outside");
        let start = starts(rows, entries.iter().map(|&(row, _)| row));
        let columns_of = entries.iter().map(|&(_, column)| column as u32).collect();
        Pattern { start, columns: columns_of, width: columns }
    }

    /// The pattern of a matrix with so many columns from those of each row, in the order in which they are given.
    #[must_use]
    pub fn from_rows(columns: usize, rows: impl IntoIterator<Item = Vec<u32>>) -> Pattern {
        let mut pattern = Pattern { start: vec![0], columns: Vec::new(), width: columns };
        for row in rows {
            pattern.columns.extend(row);
            pattern.start.push(pattern.columns.len() as u32);
        }
        pattern
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The entries of a row.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    /// The columns of all entries.
    #[inline]
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The entry at a row and a column of a sorted pattern.
    #[must_use]
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.row(row);
        let place = self.columns[range.clone()].binary_search(&(column as u32)).ok()?;
        Some(range.start + place)
    }

    /// The row of an entry.
    #[must_use]
    pub fn row_of(&self, entry: usize) -> usize {
        self.start.partition_point(|&start| start as usize <= entry) - 1
    }

    /// All entries as (row, column), by rows.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows())
            .flat_map(move |row| self.row(row).map(move |entry| (row, self.columns[entry] as usize)))
    }

    /// out += A x.
    #[inline]
    pub fn add_product<const W: usize>(&self, entries: &[f64], x: &[f64], out: &mut [f64]) {
        let ((entries, _), (x, _)) = (entries.as_chunks::<W>(), x.as_chunks::<W>());
        for (out, range) in out.as_chunks_mut::<W>().0.iter_mut().zip(self.start.windows(2)) {
            let range = range[0] as usize..range[1] as usize;
            for (&column, entry) in self.columns[range.clone()].iter().zip(&entries[range]) {
                let x = &x[column as usize];
                (0..W).for_each(|l| out[l] += entry[l] * x[l]);
            }
        }
    }

    /// out −= Aᵀ x.
    #[inline]
    pub fn subtract_transposed<const W: usize>(&self, entries: &[f64], x: &[f64], out: &mut [f64]) {
        let ((entries, _), (out, _)) = (entries.as_chunks::<W>(), out.as_chunks_mut::<W>());
        for (x, range) in x.as_chunks::<W>().0.iter().zip(self.start.windows(2)) {
            let range = range[0] as usize..range[1] as usize;
            for (&column, entry) in self.columns[range.clone()].iter().zip(&entries[range]) {
                let out = &mut out[column as usize];
                (0..W).for_each(|l| out[l] -= entry[l] * x[l]);
            }
        }
    }
}

/// Where each row begins in a list sorted by rows.
fn starts(rows: usize, sorted: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut start = vec![0u32; rows + 1];
    sorted.for_each(|row| start[row + 1] += 1);
    (0..rows).for_each(|row| start[row + 1] += start[row]);
    start
}
