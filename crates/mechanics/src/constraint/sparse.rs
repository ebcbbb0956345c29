//! The matrix G M⁻¹ Gᵀ of constraints: which of its entries are not zero, how they are put together, and in which order they are
//! eliminated. All of that is found once for a system; numbers come and go in [`ConstraintFactors`](crate::ConstraintFactors).
//!
//! Rows that touch no common mass are not coupled, so that chains and trees are factored with work in proportion to their length.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A pivot smaller than this, relative to what it was before elimination, is rounding: its row depends on those before it. Rows whose
/// directions differ by less than the square root of this count as the same.
pub(crate) const DEPENDENT: f64 = 1e-12;
/// The squares of lengths at which a direction is clearly there, and clearly rounding. Between them the pivots have lost digits.
pub(crate) const THERE: f64 = 1e-3;
const GONE: f64 = 1e-15;
/// Where constraints are violated, relative to the size of the coordinates, their directions are bent in proportion: one that differs from
/// others by less than this multiple is not known. If it were taken for real, mechanisms whose constraints are redundant
/// wherever they are met would lock as soon as an integrator looks at a state beside them.
pub(crate) const BENT: f64 = 10.0;
/// But a direction longer than this is there, however far from being met constraints are.
pub(crate) const LONGEST: f64 = 1e-3;

/// What elimination found in the lanes.
pub(crate) struct Found<const W: usize> {
    pub(crate) rank: [usize; W],
    /// The smallest pivot that is not clearly rounding, relative to what it was before elimination.
    pub(crate) weakest: [f64; W],
}

/// An entry of a result gains the product of two others.
#[derive(Clone, Copy, Debug)]
struct Product {
    into: u32,
    left: u32,
    right: u32,
}

/// Entries that are sums of products of two others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// Entry k is the sum of `products[start[k]..start[k + 1]]`, each a place on the left and one on the right.
    start: Vec<u32>,
    products: Vec<[u32; 2]>,
}

impl Sums {
    fn new(count: usize, mut products: Vec<Product>) -> Sums {
        products.sort_by_key(|product| product.into);
        let start = starts(count, products.iter().map(|product| product.into as usize));
        Sums { start, products: products.iter().map(|product| [product.left, product.right]).collect() }
    }

    #[inline]
    pub(crate) fn fill<const W: usize>(&self, left: &[f64], right: &[f64], out: &mut [f64]) {
        let ((left, _), (right, _)) = (left.as_chunks::<W>(), right.as_chunks::<W>());
        for (out, range) in out.as_chunks_mut::<W>().0.iter_mut().zip(self.start.windows(2)) {
            let mut sum = [0.0; W];
            for &[a, b] in &self.products[range[0] as usize..range[1] as usize] {
                let (a, b) = (left[a as usize], right[b as usize]);
                for l in 0..W {
                    sum[l] += a[l] * b[l];
                }
            }
            *out = sum;
        }
    }
}

/// Coordinates that the mass matrix couples, and where their part of its inverse is kept, by rows.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) size: usize,
    pub(crate) first: usize,
}

/// Where everything stands. Of a matrix by rows, row k has the entries `start[k]..start[k + 1]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) coordinates: usize,
    pub(crate) rows: usize,
    /// G by rows.
    pub(crate) start: Vec<u32>,
    pub(crate) columns: Vec<u32>,
    /// The parts of the mass matrix that constraints touch, and the places of its entries in them: one for each nonzero of its lower
    /// triangle, and its mirror image.
    pub(crate) components: Vec<Component>,
    /// The coordinates of each of these parts.
    pub(crate) members: Vec<Vec<u32>>,
    pub(crate) masses: Vec<(u32, [u32; 2])>,
    pub(crate) inverse_len: usize,
    /// M⁻¹Gᵀ by columns, one for each row of G: its entries and how they come about.
    pub(crate) spread_start: Vec<u32>,
    pub(crate) spread_columns: Vec<u32>,
    pub(crate) spread: Sums,
    /// The entries of G M⁻¹ Gᵀ on and below the diagonal, in the order of elimination.
    pub(crate) diagonal: Sums,
    pub(crate) lower: Sums,
    /// Those above the diagonal, of a G that is not the one on the right, each at the place of its mirror image.
    pub(crate) upper: Sums,
    /// The row that is eliminated at each place.
    pub(crate) order: Vec<u32>,
    /// The factor L by columns, below the diagonal.
    pub(crate) factor_start: Vec<u32>,
    pub(crate) factor_rows: Vec<u32>,
}

impl Layout {
    /// The layout for so many coordinates and constraints, from the rows and columns of the nonzeros of G, sorted, and of the
    /// lower triangle of M.
    pub(crate) fn new(
        coordinates: usize,
        rows: usize,
        jacobian: &[(usize, usize)],
        mass: &[(usize, usize)],
    ) -> Layout {
        let mut layout = Layout { coordinates, rows, ..Layout::default() };
        if rows == 0 {
            return layout;
        }
        layout.start = starts(rows, jacobian.iter().map(|&(row, _)| row));
        layout.columns = jacobian.iter().map(|&(_, column)| column as u32).collect();
        let component = layout.place_masses(mass);
        layout.place_spread(&component);
        layout.place_product();
        layout
    }

    /// Finds the components of the mass matrix that constraints touch. Returns the component and the place in it of each coordinate.
    fn place_masses(&mut self, mass: &[(usize, usize)]) -> Vec<Option<(u32, u32)>> {
        let mut group: Vec<usize> = (0..self.coordinates).collect();
        fn root(group: &mut [usize], mut i: usize) -> usize {
            while group[i] != i {
                group[i] = group[group[i]];
                i = group[i];
            }
            i
        }
        for &(i, j) in mass {
            let (a, b) = (root(&mut group, i), root(&mut group, j));
            group[a.max(b)] = a.min(b);
        }
        let roots: Vec<usize> = (0..self.coordinates).map(|i| root(&mut group, i)).collect();
        let touched: BTreeSet<usize> = self.columns.iter().map(|&c| roots[c as usize]).collect();
        let numbers: BTreeMap<usize, usize> =
            touched.into_iter().enumerate().map(|(k, root)| (root, k)).collect();
        let mut sizes = vec![0; numbers.len()];
        let places: Vec<_> = roots
            .iter()
            .map(|root| {
                let &k = numbers.get(root)?;
                sizes[k] += 1;
                Some((k as u32, sizes[k] as u32 - 1))
            })
            .collect();
        for size in sizes {
            self.components.push(Component { size, first: self.inverse_len });
            self.inverse_len += size * size;
        }
        for (entry, &(i, j)) in mass.iter().enumerate() {
            if let (Some(i), Some(j)) = (places[i], places[j]) {
                self.masses.push((entry as u32, [self.inverse_at(i, j), self.inverse_at(j, i)]));
            }
        }
        places
    }

    /// Where the entry of M⁻¹ for two places in one component is kept.
    fn inverse_at(&self, (component, i): (u32, u32), (_, j): (u32, u32)) -> u32 {
        let Component { size, first } = self.components[component as usize];
        (first + i as usize * size) as u32 + j
    }

    /// M⁻¹Gᵀ reaches all coordinates of the components that a row of G touches.
    fn place_spread(&mut self, places: &[Option<(u32, u32)>]) {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.components.len()];
        for (i, place) in places.iter().enumerate() {
            if let Some((component, _)) = place {
                members[*component as usize].push(i as u32);
            }
        }
        self.spread_start.push(0);
        let mut products = Vec::new();
        for row in 0..self.rows {
            let entries = self.row(row);
            let touched: BTreeSet<u32> =
                self.columns[entries.clone()].iter().filter_map(|&c| Some(places[c as usize]?.0)).collect();
            for &coordinate in touched.iter().flat_map(|&component| &members[component as usize]) {
                let into = self.spread_columns.len() as u32;
                self.spread_columns.push(coordinate);
                for entry in entries.clone() {
                    let pair = places[coordinate as usize].zip(places[self.columns[entry] as usize]);
                    if let Some((i, j)) = pair.filter(|(i, j)| i.0 == j.0) {
                        let left = self.inverse_at(i, j);
                        products.push(Product { into, left, right: entry as u32 });
                    }
                }
            }
            self.spread_start.push(self.spread_columns.len() as u32);
        }
        self.spread = Sums::new(self.spread_columns.len(), products);
        self.members = members;
    }

    /// Finds the entries of G M⁻¹ Gᵀ, orders its rows, and places the products that it is a sum of.
    fn place_product(&mut self) {
        let mut touching: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.coordinates];
        for row in 0..self.rows {
            self.row(row)
                .for_each(|entry| touching[self.columns[entry] as usize].push((row as u32, entry as u32)));
        }
        // For each pair of rows k, l the products of G_k and (M⁻¹Gᵀ)_l.
        let pairs: Vec<Vec<(u32, u32, u32)>> = (0..self.rows)
            .map(|l| {
                let products = self.spread_row(l).flat_map(|s| {
                    let touching = &touching[self.spread_columns[s] as usize];
                    touching.iter().map(move |&(k, g)| (k, g, s as u32))
                });
                products.collect()
            })
            .collect();
        let others = |(l, pairs): (usize, &Vec<(u32, u32, u32)>)| {
            pairs.iter().map(|&(k, ..)| k).filter(|&k| k as usize != l).collect::<BTreeSet<u32>>()
        };
        let coupled = pairs.iter().enumerate().map(others).collect();
        let (order, columns) = minimum_degree(coupled);
        let mut place = vec![0u32; self.rows];
        order.iter().enumerate().for_each(|(k, &row)| place[row as usize] = k as u32);
        self.factor_start.push(0);
        for column in columns {
            let mut rows: Vec<u32> = column.into_iter().map(|row| place[row as usize]).collect();
            rows.sort_unstable();
            self.factor_rows.extend(rows);
            self.factor_start.push(self.factor_rows.len() as u32);
        }
        let (mut diagonal, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
        let entry = |row: u32, column: u32| {
            let below = self.factor_column(column as usize);
            (below.start + self.factor_rows[below].partition_point(|&r| r < row)) as u32
        };
        for &l in &order {
            let column = place[l as usize];
            for &(k, left, right) in &pairs[l as usize] {
                let row = place[k as usize];
                match row.cmp(&column) {
                    Ordering::Equal => diagonal.push(Product { into: column, left, right }),
                    Ordering::Greater => lower.push(Product { into: entry(row, column), left, right }),
                    Ordering::Less => upper.push(Product { into: entry(column, row), left, right }),
                }
            }
        }
        self.diagonal = Sums::new(self.rows, diagonal);
        self.lower = Sums::new(self.factor_rows.len(), lower);
        self.upper = Sums::new(self.factor_rows.len(), upper);
        self.order = order;
    }

    /// The entries of a row of G.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    /// The entries of M⁻¹Gᵀ that belong to a row of G.
    #[inline]
    pub(crate) fn spread_row(&self, row: usize) -> std::ops::Range<usize> {
        self.spread_start[row] as usize..self.spread_start[row + 1] as usize
    }

    #[inline]
    pub(crate) fn factor_column(&self, column: usize) -> std::ops::Range<usize> {
        self.factor_start[column] as usize..self.factor_start[column + 1] as usize
    }

    /// Replaces G M⁻¹ Gᵀ, given on and below the diagonal, by its factors: unit lower triangular L, and the inverse pivots on the
    /// diagonal. A row that depends on those before it has the inverse pivot 0, so that it takes no part; for a semidefinite matrix
    /// this solves what is solvable.
    pub(crate) fn factor<const W: usize>(
        &self,
        diagonal: &mut [f64],
        lower: &mut [f64],
        sizes: &mut [f64],
        dependent: &[f64; W],
    ) -> Found<W> {
        let mut found = Found { rank: [0; W], weakest: [1.0; W] };
        sizes.copy_from_slice(diagonal);
        for j in 0..self.rows {
            let column = self.factor_column(j);
            let mut inverse = [0.0; W];
            for l in 0..W {
                let (pivot, size) = (diagonal[j * W + l], sizes[j * W + l]);
                let independent = pivot.abs() > dependent[l] * size.abs();
                found.rank[l] += usize::from(independent);
                if pivot.abs() > GONE * size && pivot.abs() < found.weakest[l] * size {
                    found.weakest[l] = pivot.abs() / size;
                }
                inverse[l] = if independent || pivot.is_nan() { 1.0 / pivot } else { 0.0 };
                diagonal[j * W + l] = inverse[l];
            }
            let (done, open) = lower.split_at_mut(column.end * W);
            for a in column.clone() {
                let s = self.factor_rows[a] as usize;
                let mut factor = [0.0; W];
                for l in 0..W {
                    factor[l] = done[a * W + l] * inverse[l];
                    diagonal[s * W + l] -= factor[l] * done[a * W + l];
                }
                let mut at = self.factor_start[s] as usize;
                for b in a + 1..column.end {
                    while self.factor_rows[at] != self.factor_rows[b] {
                        at += 1;
                    }
                    let target = &mut open[(at - column.end) * W..][..W];
                    for l in 0..W {
                        target[l] -= factor[l] * done[b * W + l];
                    }
                }
                done[a * W..][..W].copy_from_slice(&factor);
            }
        }
        found
    }

    /// Solves L D Lᵀ x = b in the order of elimination, in place.
    pub(crate) fn solve<const W: usize>(&self, inverse: &[f64], lower: &[f64], x: &mut [f64]) {
        self.solve_lower::<W>(lower, x);
        let ((inverse, _), (lower, _), (x, _)) =
            (inverse.as_chunks::<W>(), lower.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in (0..self.rows).rev() {
            let mut sum = x[j];
            (0..W).for_each(|l| sum[l] *= inverse[j][l]);
            let column = self.factor_column(j);
            for (&s, factor) in self.factor_rows[column.clone()].iter().zip(&lower[column]) {
                let x = &x[s as usize];
                (0..W).for_each(|l| sum[l] -= factor[l] * x[l]);
            }
            x[j] = sum;
        }
    }

    /// Solves L x = b in the order of elimination, in place.
    pub(crate) fn solve_lower<const W: usize>(&self, lower: &[f64], x: &mut [f64]) {
        let ((lower, _), (x, _)) = (lower.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in 0..self.rows {
            let (column, known) = (self.factor_column(j), x[j]);
            for (&s, factor) in self.factor_rows[column.clone()].iter().zip(&lower[column]) {
                let x = &mut x[s as usize];
                (0..W).for_each(|l| x[l] -= factor[l] * known[l]);
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

/// An order of elimination that fills in little, by always taking the row that is coupled to the fewest (W. F. Tinney and J. W.
/// Walker, Proc. IEEE 55, 1967); and the rows below the diagonal of each column of the factor, in that order.
fn minimum_degree(mut coupled: Vec<BTreeSet<u32>>) -> (Vec<u32>, Vec<Vec<u32>>) {
    // By degree, then by how long ago it changed: of a chain both ends are taken in turn, of a tree all leaves before their
    // parents, so that neighbours in the order do not wait for each other.
    let mut changed = vec![0u32; coupled.len()];
    let mut queue: BTreeSet<(usize, u32, u32)> =
        coupled.iter().enumerate().map(|(row, others)| (others.len(), 0, row as u32)).collect();
    let (mut order, mut columns) = (Vec::with_capacity(coupled.len()), Vec::with_capacity(coupled.len()));
    while let Some((degree, _, next)) = queue.pop_first() {
        order.push(next);
        if degree == queue.len() {
            // All that is left is coupled to all.
            let mut left: Vec<u32> = queue.iter().map(|&(.., row)| row).collect();
            columns.push(left.clone());
            while let Some(row) = left.pop() {
                order.push(row);
                columns.push(left.clone());
            }
            break;
        }
        let others = std::mem::take(&mut coupled[next as usize]);
        for &i in &others {
            let (mine, changed) = (&mut coupled[i as usize], &mut changed[i as usize]);
            queue.remove(&(mine.len(), *changed, i));
            mine.extend(&others);
            mine.remove(&next);
            mine.remove(&i);
            *changed = order.len() as u32;
            queue.insert((mine.len(), *changed, i));
        }
        columns.push(others.into_iter().collect());
    }
    (order, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout of links between points on a line, each of mass of its own, of which the last is held.
    fn links(pairs: &[(usize, usize)]) -> Layout {
        let points = pairs.len();
        let ends = |&(a, b): &(usize, usize)| [a, b].into_iter().filter(move |&end| end < points);
        let jacobian = pairs.iter().enumerate().flat_map(|(row, pair)| ends(pair).map(move |end| (row, end)));
        let mut jacobian: Vec<_> = jacobian.collect();
        jacobian.sort_unstable();
        let mass: Vec<_> = (0..points).map(|i| (i, i)).collect();
        Layout::new(points, pairs.len(), &jacobian, &mass)
    }

    #[test]
    fn chains_and_trees_do_not_fill_in() {
        let count = 1000;
        let chain: Vec<_> = (0..count).map(|i| (i, i + 1)).collect();
        assert_eq!(links(&chain).factor_rows.len(), count - 1);
        // Links to a common parent are coupled, three at a time: two children and the parent's own link.
        let tree: Vec<_> = (0..count).map(|i| (i, if i == 0 { count } else { (i - 1) / 2 })).collect();
        let siblings = (count - 2) / 2;
        assert_eq!(links(&tree).factor_rows.len(), count - 1 + siblings);
        // A closed ring of links fills in once for each.
        let ring: Vec<_> = (0..count).map(|i| (i, (i + 1) % count)).collect();
        assert_eq!(links(&ring).factor_rows.len(), 2 * count - 3);
    }

    #[test]
    fn a_chain_is_eliminated_from_both_ends_in_turn() {
        let chain: Vec<_> = (0..7).map(|i| (i, i + 1)).collect();
        assert_eq!(links(&chain).order, [0, 6, 1, 5, 2, 4, 3]);
    }
}
