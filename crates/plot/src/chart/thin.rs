//! Fewer points that look the same.

use crate::view::drawable;

/// At most so many points make one curve.
const MOST: usize = 12_000;

/// Points of a quantity against time, in order of time: of each of so many slices of time the first, the lowest, the highest and the last.
/// A point that is not finite stays, as a gap.
pub(crate) fn thin_series(points: &[[f64; 2]], slices: usize) -> Vec<[f64; 2]> {
    if points.len() <= 4 * slices {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(4 * slices);
    for slice in 0..slices {
        let range = slice * points.len() / slices..(slice + 1) * points.len() / slices;
        let slice = &points[range];
        let finite = || slice.iter().enumerate().filter(|(_, p)| drawable(p[1]));
        let lowest = finite().min_by(|a, b| a.1[1].total_cmp(&b.1[1]));
        let highest = finite().max_by(|a, b| a.1[1].total_cmp(&b.1[1]));
        let gap = slice.iter().position(|p| !drawable(p[1]));
        let ends = [0, slice.len() - 1].into_iter();
        let mut chosen: Vec<usize> =
            ends.chain(gap).chain(lowest.map(|(i, _)| i)).chain(highest.map(|(i, _)| i)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|i| slice[i]));
    }
    kept
}

/// Points of a curve in the plane, without those nearer than a tolerance to the last one kept; the outermost of every direction of the axes
/// stay. The tolerance grows until few enough are left.
pub(crate) fn thin_curve(points: &[[f64; 2]], tolerance: [f64; 2]) -> Vec<[f64; 2]> {
    let outermost: Vec<usize> = (0..2)
        .flat_map(|axis| {
            let finite = || points.iter().enumerate().filter(|(_, p)| p.iter().all(|x| drawable(*x)));
            let low = finite().min_by(|a, b| a.1[axis].total_cmp(&b.1[axis]));
            let high = finite().max_by(|a, b| a.1[axis].total_cmp(&b.1[axis]));
            [low, high].into_iter().flatten().map(|(i, _)| i)
        })
        .collect();
    let mut grown = 1.0;
    loop {
        let mut kept: Vec<[f64; 2]> = Vec::new();
        for (i, point) in points.iter().enumerate() {
            let last = kept.last();
            let apart = last.is_none_or(|last| {
                let gap = |p: &[f64; 2]| p.iter().any(|x| !drawable(*x));
                if gap(last) || gap(point) {
                    return gap(last) != gap(point);
                }
                (0..2).any(|axis| (point[axis] - last[axis]).abs() >= grown * tolerance[axis])
            });
            if apart || i + 1 == points.len() || outermost.contains(&i) {
                kept.push(*point);
            }
        }
        if kept.len() <= MOST || kept.len() <= 8 {
            return kept;
        }
        grown *= 1.5;
        if grown > 1e6 {
            kept.truncate(MOST);
            return kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, thin_curve, thin_series};

    #[test]
    fn a_short_series_is_kept_and_a_long_one_keeps_its_extremes_and_gaps() {
        let mut points: Vec<[f64; 2]> =
            (0..100_000).map(|i| [f64::from(i), (f64::from(i) * 0.37).sin()]).collect();
        assert_eq!(thin_series(&points[..400], 100), &points[..400]);
        (points[77_777][1], points[33_333][1], points[50_000][1]) = (9.0, -7.0, f64::NAN);
        let kept = thin_series(&points, 500);
        assert!(kept.len() <= 2000 + 1, "{}", kept.len());
        assert!(kept.contains(&points[77_777]) && kept.contains(&points[33_333]));
        assert!(kept.iter().any(|p| p[0] == 50_000.0 && p[1].is_nan()));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        assert!(kept.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }

    #[test]
    fn a_curve_keeps_its_outermost_points_and_its_ends() {
        let mut points: Vec<[f64; 2]> =
            (0..200_000).map(|i| f64::from(i) * 1e-3).map(|s| [s.cos() * s.sin(), (s * 1.7).sin()]).collect();
        let tolerance = [1e-3, 1e-3];
        points[12_345] = [8.0, 0.5];
        points[54_321] = [0.5, -8.0];
        let kept = thin_curve(&points, tolerance);
        assert!(kept.len() <= MOST && kept.len() > 1000, "{}", kept.len());
        assert!(kept.contains(&[8.0, 0.5]) && kept.contains(&[0.5, -8.0]));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[199_999]));
        assert_eq!(thin_curve(&[[1.0, 1.0]; 1000], tolerance).len(), 2);
        assert!(thin_curve(&[], tolerance).is_empty());
    }
}
