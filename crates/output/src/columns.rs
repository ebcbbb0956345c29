//! Many columns of numbers under their names.

use leastaction_expr::Names;

/// A quantity at every sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name: `th1`, `th1'`, `p_th1`, `bob.x`, `energy`.
    pub name: String,
    /// One value for each sample.
    pub values: Vec<f64>,
}

/// A column where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRef<'a> {
    /// The name.
    pub name: String,
    /// One value for each sample.
    pub values: &'a [f64],
}

/// Quantities of one kind at every sample: all numbers in one place, and names that are made when they are asked for.
#[derive(Clone, Default)]
pub struct Columns {
    names: Names,
    rows: usize,
    /// How many rows there is room for: so far apart are the first numbers of two columns.
    room: usize,
    values: Vec<f64>,
}

impl Columns {
    /// Columns of these names without rows.
    #[must_use]
    pub fn new(names: Names) -> Columns {
        Columns { names, ..Columns::default() }
    }

    /// Reserves memory for this number of rows in all.
    pub fn reserve(&mut self, rows: usize) {
        if rows > self.room {
            let mut values = vec![0.0; rows * self.len()];
            for (column, place) in values.chunks_exact_mut(rows).zip(0..) {
                column[..self.rows].copy_from_slice(self.values(place));
            }
            (self.values, self.room) = (values, rows);
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not a number for each column.
    pub fn push(&mut self, row: &[f64]) {
        self.push_parts(&[row]);
    }

    /// Adds a row that stands in parts.
    ///
    /// # Panics
    /// If they have not a number for each column.
    pub fn push_parts(&mut self, parts: &[&[f64]]) {
        let count: usize = parts.iter().map(|part| part.len()).sum();
        assert_eq!(count, self.len(), "a number for each column");
        if self.rows == self.room {
            self.reserve((2 * self.room).max(16));
        }
        let row = parts.iter().copied().flatten();
        for (column, value) in self.values.chunks_exact_mut(self.room).zip(row) {
            column[self.rows] = *value;
        }
        self.rows += 1;
    }

    /// How many columns there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The numbers of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn values(&self, column: usize) -> &[f64] {
        &self.values[column * self.room..][..self.rows]
    }

    /// The numbers of a column, to be changed.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn values_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.values[column * self.room..][..self.rows]
    }

    /// A column, if there is one with this number.
    #[must_use]
    pub fn get(&self, column: usize) -> Option<ColumnRef<'_>> {
        (column < self.len()).then(|| ColumnRef { name: self.names.at(column), values: self.values(column) })
    }

    /// All columns.
    pub fn iter(&self) -> impl Iterator<Item = ColumnRef<'_>> {
        self.names.iter().zip(0..).map(|(name, place)| ColumnRef { name, values: self.values(place) })
    }
}

impl From<Vec<Column>> for Columns {
    /// # Panics
    /// If the columns have not all as many numbers.
    fn from(columns: Vec<Column>) -> Columns {
        let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().map(|c| (c.name, c.values)).unzip();
        let rows = columns.first().map_or(0, Vec::len);
        assert!(columns.iter().all(|column| column.len() == rows), "columns of one length");
        Columns { names: names.into_iter().collect(), rows, room: rows, values: columns.concat() }
    }
}

impl PartialEq for Columns {
    fn eq(&self, other: &Columns) -> bool {
        self.names == other.names && (0..self.len()).all(|place| self.values(place) == other.values(place))
    }
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter().map(|column| (column.name, column.values))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_however_many_there_are() {
        let names: Names = ["a".to_owned(), "b".to_owned()].into_iter().collect();
        let mut columns = Columns::new(names);
        for i in 0..100 {
            columns.push(&[f64::from(i), -f64::from(i)]);
        }
        assert_eq!(columns.values(1)[40..43], [-40.0, -41.0, -42.0]);
        let whole = |name: &str, sign: f64| Column {
            name: name.to_owned(),
            values: (0..100).map(|i| sign * f64::from(i)).collect(),
        };
        assert_eq!(columns, vec![whole("a", 1.0), whole("b", -1.0)].into());
        assert!(columns.get(2).is_none() && columns.get(1).is_some_and(|column| column.name == "b"));
    }
}
