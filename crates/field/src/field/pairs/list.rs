//! The pairs of points that are nearer than a cut-off, and a little more.

/// A list holds pairs up to this much more than the cut-off, as a part of it: a longer list is made less often.
const MORE: f64 = 0.12;

/// Pairs that may be near each other, as long as nothing has moved far.
#[derive(Clone, Debug, Default)]
pub(super) struct NearList {
    cutoff: f64,
    /// Where the points were when the list was made.
    then: Vec<[f64; 3]>,
    /// The smaller number first, in ascending order.
    pairs: Vec<[u32; 2]>,
    /// The number of the first point of each cell among `sorted`, and the points by cells.
    starts: Vec<u32>,
    sorted: Vec<u32>,
}

impl NearList {
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Makes sure that all pairs nearer than a cut-off are in the list. Whether points and the cut-off are numbers.
    pub(super) fn update(&mut self, points: &[[f64; 3]], cutoff: f64) -> bool {
        let cutoff = cutoff.abs();
        let numbers = points.as_flattened().iter().all(|x| x.is_finite());
        if cutoff.is_nan() || !numbers {
            return false;
        }
        if !self.serves(points, cutoff) {
            self.make(points, cutoff);
        }
        true
    }

    /// Two points that were farther apart than cut-off and more are not nearer than the cut-off while each has moved by less than half of that.
    fn serves(&self, points: &[[f64; 3]], cutoff: f64) -> bool {
        // A little less, for rounding.
        let far = (0.499 * MORE * cutoff).powi(2);
        let near = |(now, then): (&[f64; 3], &[f64; 3])| square(now, then) < far;
        self.cutoff == cutoff && self.then.len() == points.len() && points.iter().zip(&self.then).all(near)
    }

    fn make(&mut self, points: &[[f64; 3]], cutoff: f64) {
        self.cutoff = cutoff;
        self.then.clear();
        self.then.extend_from_slice(points);
        self.pairs.clear();
        let reach = (1.0 + MORE) * cutoff;
        let grid = Grid::new(points, reach);
        self.sort(points, &grid);
        let limit = reach * reach;
        for (point, i) in points.iter().zip(0..) {
            let first = self.pairs.len();
            for cell in grid.around(grid.cell(point)) {
                let [from, to] = [cell, cell + 1].map(|cell| self.starts[cell] as usize);
                let later = self.sorted[from..to].iter().filter(|&&j| j > i);
                let near = later.filter(|&&j| square(point, &points[j as usize]) <= limit);
                self.pairs.extend(near.map(|&j| [i, j]));
            }
            self.pairs[first..].sort_unstable();
        }
    }

    /// Sorts points into cells by counting.
    fn sort(&mut self, points: &[[f64; 3]], grid: &Grid) {
        self.starts.clear();
        self.starts.resize(grid.count() + 1, 0);
        points.iter().for_each(|point| self.starts[grid.number(grid.cell(point)) + 1] += 1);
        (1..self.starts.len()).for_each(|cell| self.starts[cell] += self.starts[cell - 1]);
        self.sorted.clear();
        self.sorted.resize(points.len(), 0);
        let mut next = self.starts.clone();
        for (point, i) in points.iter().zip(0..) {
            let place = &mut next[grid.number(grid.cell(point))];
            self.sorted[*place as usize] = i;
            *place += 1;
        }
    }
}

fn square(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let [x, y, z]: [f64; 3] = std::array::from_fn(|axis| a[axis] - b[axis]);
    x * x + y * y + z * z
}

/// Cells that are at least as large as a reach: what is nearer is in the same cell or one beside it.
struct Grid {
    low: [f64; 3],
    /// Cells per length.
    density: [f64; 3],
    counts: [usize; 3],
}

impl Grid {
    fn new(points: &[[f64; 3]], reach: f64) -> Grid {
        let end = |pick: fn(f64, f64) -> f64, from: f64| {
            points
                .iter()
                .fold([from; 3], |end, point| std::array::from_fn(|axis| pick(end[axis], point[axis])))
        };
        let (low, high) = (end(f64::min, f64::INFINITY), end(f64::max, f64::NEG_INFINITY));
        let most = 4 * points.len() + 64;
        let mut size = reach;
        loop {
            let count = |axis: usize| {
                let cells = ((high[axis] - low[axis]) / size).floor();
                // Where points are far apart, there are fewer cells than their distance asks for.
                if cells >= 1.0 { cells.min(1e6) as usize } else { 1 }
            };
            let counts: [usize; 3] = std::array::from_fn(count);
            // A reach of 0 finds nothing, in whatever cells.
            if counts.iter().product::<usize>() <= most || size == 0.0 {
                let counts = if size == 0.0 { [1; 3] } else { counts };
                let density = std::array::from_fn(|axis| {
                    let density = counts[axis] as f64 / (high[axis] - low[axis]);
                    if density.is_finite() { density } else { 0.0 }
                });
                return Grid { low, density, counts };
            }
            size *= 1.26;
        }
    }

    fn count(&self) -> usize {
        self.counts.iter().product()
    }

    fn cell(&self, point: &[f64; 3]) -> [usize; 3] {
        std::array::from_fn(|axis| {
            let place = (point[axis] - self.low[axis]) * self.density[axis];
            (place as usize).min(self.counts[axis] - 1)
        })
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.counts[1] + y) * self.counts[2] + z
    }

    /// A cell and those beside it, by number.
    fn around(&self, cell: [usize; 3]) -> impl Iterator<Item = usize> {
        let range = move |axis: usize| cell[axis].saturating_sub(1)..(cell[axis] + 2).min(self.counts[axis]);
        let columns = range(0).flat_map(move |x| range(1).map(move |y| (x, y)));
        columns.flat_map(move |(x, y)| range(2).map(move |z| self.number([x, y, z])))
    }
}

#[cfg(test)]
mod tests {
    use super::{NearList, square};
    use leastaction_testing::Random;

    fn points(count: usize, size: [f64; 3], random: &mut Random) -> Vec<[f64; 3]> {
        (0..count).map(|_| size.map(|size| random.between(-size, size))).collect()
    }

    #[test]
    fn every_near_pair_is_in_the_list_once_and_in_order() {
        let mut random = Random::new(7);
        let mut list = NearList::default();
        let sizes = [[1.0; 3], [5.0, 5.0, 0.0], [100.0, 1.0, 1e-9], [1e6, 1e6, 1e6], [0.0; 3]];
        for (size, cutoff) in sizes
            .into_iter()
            .zip([0.5, 1.0, 3.0, 1e5, 1.0])
            .chain([([2.0; 3], f64::INFINITY), ([2.0; 3], 0.0)])
        {
            let points = points(200, size, &mut random);
            assert!(list.update(&points, cutoff));
            assert!(list.pairs().windows(2).all(|two| two[0] < two[1]));
            for (a, i) in points.iter().zip(0..) {
                for (b, j) in points.iter().zip(0..).skip(i as usize + 1) {
                    let listed = list.pairs().binary_search(&[i, j]).is_ok();
                    assert!(listed || square(a, b) >= cutoff * cutoff, "{size:?} {cutoff}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn lists_serve_until_something_has_moved_far_and_no_longer() {
        let mut random = Random::new(3);
        let mut now = points(400, [3.0; 3], &mut random);
        let mut list = NearList::default();
        let mut updates = 0;
        for _ in 0..200 {
            now.as_flattened_mut().iter_mut().for_each(|x| *x += random.between(-0.01, 0.011));
            let before = list.then.clone();
            assert!(list.update(&now, 1.0));
            updates += usize::from(list.then != before);
            let near = |i: usize| {
                (i + 1..400)
                    .filter(|&j| square(&now[i], &now[j]) < 1.0)
                    .map(move |j| [i as u32, j as u32])
                    .collect::<Vec<_>>()
            };
            assert!((0..400).flat_map(near).all(|pair| list.pairs().binary_search(&pair).is_ok()));
        }
        assert!((5..100).contains(&updates), "{updates}");
        now[17][1] = f64::NAN;
        assert!(!list.update(&now, 1.0) && !list.update(&[[0.0; 3]], f64::NAN));
    }
}
