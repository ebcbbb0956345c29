//! The matrix G M⁻¹ Gᵀ of constraints: which of its entries are not zero, how they are put together, and in which order they are
//! eliminated. All of that is found once for a system; numbers come and go in [`ConstraintFactors`](crate::ConstraintFactors).
//!
//! Rows that touch no common mass are not coupled, so that chains and trees are factored with work in proportion to their length.

use leastaction_linear::{Elimination, Pattern};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A pivot smaller than this, relative to what it was before elimination, is rounding: its row depends on those before it. Rows whose
/// directions differ by less than the square root of this count as the same.
pub(crate) const DEPENDENT: f64 = 1e-12;
/// The square of the length at which a direction is clearly there: pivots below it have lost digits.
pub(crate) const THERE: f64 = 1e-2;
/// Where constraints are violated, relative to the size of the coordinates, their directions are bent in proportion: one that differs from
/// others by less than this multiple is not known. If it were taken for real, mechanisms whose constraints are redundant
/// wherever they are met would lock as soon as an integrator looks at a state beside them.
pub(crate) const BENT: f64 = 10.0;
/// But a direction longer than this is there, however far from being met constraints are.
pub(crate) const LONGEST: f64 = 1e-3;

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
        let mut start = vec![0u32; count + 1];
        products.iter().for_each(|product| start[product.into as usize + 1] += 1);
        (0..count).for_each(|entry| start[entry + 1] += start[entry]);
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

/// Where everything stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) coordinates: usize,
    pub(crate) rows: usize,
    /// G by rows.
    pub(crate) jacobian: Pattern,
    /// The parts of the mass matrix that constraints touch, and the places of its entries in them: one for each nonzero of its lower
    /// triangle, and its mirror image.
    pub(crate) components: Vec<Component>,
    /// The coordinates of each of these parts.
    pub(crate) members: Vec<Vec<u32>>,
    pub(crate) masses: Vec<(u32, [u32; 2])>,
    pub(crate) inverse_len: usize,
    /// M⁻¹Gᵀ by columns, one for each row of G: its entries and how they come about.
    pub(crate) spread_pattern: Pattern,
    pub(crate) spread: Sums,
    /// The entries of G M⁻¹ Gᵀ on and below the diagonal, in the order of elimination.
    pub(crate) diagonal: Sums,
    pub(crate) lower: Sums,
    /// Those above the diagonal, of a G that is not the one on the right, each at the place of its mirror image.
    pub(crate) upper: Sums,
    /// The order in which G M⁻¹ Gᵀ is eliminated, and where its factors have entries.
    pub(crate) elimination: Elimination,
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
        layout.jacobian = Pattern::new(rows, coordinates, jacobian.to_vec());
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
        let touched: BTreeSet<usize> = self.jacobian.columns().iter().map(|&c| roots[c as usize]).collect();
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
        let columns = self.jacobian.columns();
        let (mut products, mut reached, mut count) = (Vec::new(), Vec::with_capacity(self.rows), 0);
        for row in 0..self.rows {
            let entries = self.jacobian.row(row);
            let touched: BTreeSet<u32> =
                columns[entries.clone()].iter().filter_map(|&c| Some(places[c as usize]?.0)).collect();
            let row: Vec<u32> =
                touched.iter().flat_map(|&component| &members[component as usize]).copied().collect();
            for (&coordinate, into) in row.iter().zip(count..) {
                for entry in entries.clone() {
                    let pair = places[coordinate as usize].zip(places[columns[entry] as usize]);
                    if let Some((i, j)) = pair.filter(|(i, j)| i.0 == j.0) {
                        let left = self.inverse_at(i, j);
                        products.push(Product { into, left, right: entry as u32 });
                    }
                }
            }
            count += row.len() as u32;
            reached.push(row);
        }
        self.spread = Sums::new(count as usize, products);
        self.spread_pattern = Pattern::from_rows(self.coordinates, reached);
        self.members = members;
    }

    /// Finds the entries of G M⁻¹ Gᵀ, orders its rows, and places the products that it is a sum of.
    fn place_product(&mut self) {
        let mut touching: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.coordinates];
        for (entry, (row, column)) in self.jacobian.entries().enumerate() {
            touching[column].push((row as u32, entry as u32));
        }
        // For each pair of rows k, l the products of G_k and (M⁻¹Gᵀ)_l.
        let pairs: Vec<Vec<(u32, u32, u32)>> = (0..self.rows)
            .map(|l| {
                let products = self.spread_pattern.row(l).flat_map(|s| {
                    let touching = &touching[self.spread_pattern.columns()[s] as usize];
                    touching.iter().map(move |&(k, g)| (k, g, s as u32))
                });
                products.collect()
            })
            .collect();
        let others = |(l, pairs): (usize, &Vec<(u32, u32, u32)>)| {
            pairs.iter().map(|&(k, ..)| k).filter(|&k| k as usize != l).collect::<BTreeSet<u32>>()
        };
        self.elimination = Elimination::new(pairs.iter().enumerate().map(others).collect());
        let order = self.elimination.order();
        let mut place = vec![0u32; self.rows];
        order.iter().enumerate().for_each(|(k, &row)| place[row as usize] = k as u32);
        let (mut diagonal, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
        let entry = |row: u32, column: u32| self.elimination.find(row, column) as u32;
        for &l in order {
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
        self.lower = Sums::new(self.elimination.len(), lower);
        self.upper = Sums::new(self.elimination.len(), upper);
    }
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
        assert_eq!(links(&chain).elimination.len(), count - 1);
        // Links to a common parent are coupled, three at a time: two children and the parent's own link.
        let tree: Vec<_> = (0..count).map(|i| (i, if i == 0 { count } else { (i - 1) / 2 })).collect();
        let siblings = (count - 2) / 2;
        assert_eq!(links(&tree).elimination.len(), count - 1 + siblings);
        // A closed ring of links fills in once for each.
        let ring: Vec<_> = (0..count).map(|i| (i, (i + 1) % count)).collect();
        assert_eq!(links(&ring).elimination.len(), 2 * count - 3);
    }

    #[test]
    fn a_chain_is_eliminated_from_both_ends_in_turn() {
        let chain: Vec<_> = (0..7).map(|i| (i, i + 1)).collect();
        assert_eq!(links(&chain).elimination.order(), [0, 6, 1, 5, 2, 4, 3]);
    }
}
