//! All sign changes of a smooth function on an interval.
//!
//! The function is sampled at Chebyshev points, 5, 9 or 17 of them, until the coefficients of its interpolant have died away; an interval where
//! they do not is halved: six times for a kink, and on where the highest coefficients are so large that it is a jump, or oscillates faster than
//! the samples. On each piece the interpolant
//!
//! $$f(x)\approx\sum_k c_kT_k(x),\qquad |T_k|\le1,$$
//!
//! has no zero if |c₀| exceeds the sum of the other |cₖ|, and at most one if the same holds for its derivative; else the piece is halved.
//! What remains are brackets with one sign change each, which bisection and secants close to the last bit.

use std::f64::consts::PI;
use std::sync::LazyLock;

/// The largest number of intervals between samples, and that of a first look.
const MOST: usize = 16;
pub(crate) const COARSE: usize = 4;
/// How often a piece is halved because its interpolant has not died away, or because it may have several zeros.
const BLURRED: u32 = 6;
const TANGLED: u32 = 40;
/// Where the upper half of the coefficients is larger than this in sum, relative to the largest but the mean, a piece is halved on, down to this
/// depth, and in an interval not more often than this.
const ROUGH: f64 = 0.2;
const DEEPEST: u32 = 24;
const ENOUGH: u32 = 1 << 14;
/// Coefficients smaller than this, relative to the largest, have died away.
const DEAD: f64 = 1e-9;
/// The mean of a piece without zeros is larger than what is added to it by this part at least.
const CLEARLY: f64 = 1e-12;
/// A tail that a coarse look may have, relative to the mean.
const SMALL_TAIL: f64 = 0.001;
/// What is left of an interpolant where it is smaller than this, relative to its largest coefficient, is rounding: it has no zeros to
/// be told apart.
const LOST: f64 = 4.0 * f64::EPSILON;

/// A sign change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Root {
    /// Where, from 0 to 1.
    pub(crate) at: f64,
    /// Whether the function is greater behind it.
    pub(crate) rising: bool,
    /// Whether the function jumps there against the way that it moves on both sides, as at a pole, or where an angle is wrapped: it does not pass zero.
    pub(crate) jumps_back: bool,
}

/// Finds all sign changes of `f` on [0, 1]. `sign` is that of the function before 0 (0 if it has not had one), and then that at 1.
///
/// # Errors
/// What `f` fails with, or `visit`.
pub(crate) fn sign_changes<E>(
    f: &mut impl FnMut(f64) -> Result<f64, E>,
    sign: &mut f64,
    mut visit: impl FnMut(Root) -> Result<(), E>,
) -> Result<(), E> {
    let (mut last, mut left) = (0.0, ENOUGH);
    pieces(f, 0.0, 1.0, (0, &mut left), &mut |f, b| {
        let value = f(b)?;
        if value != 0.0 && !value.is_nan() {
            if *sign != 0.0 && value.signum() != *sign {
                let (at, jumps_back) = close(f, last, b, *sign)?;
                visit(Root { at, rising: value > 0.0, jumps_back })?;
            }
            (last, *sign) = (b, value.signum());
        }
        Ok(())
    })
}

/// Calls `piece` with the ends of pieces that have at most one zero each, from left to right.
fn pieces<E, F: FnMut(f64) -> Result<f64, E>>(
    f: &mut F,
    a: f64,
    b: f64,
    (depth, left): (u32, &mut u32),
    piece: &mut impl FnMut(&mut F, f64) -> Result<(), E>,
) -> Result<(), E> {
    let mut values = [0.0; MOST + 1];
    let mut n = COARSE;
    let rough = loop {
        // Points of the coarser grid are among those of the finer.
        let compiled = MOST / n;
        for k in (0..=n).filter(|k| n == COARSE || k % 2 == 1) {
            values[k * compiled] = f(a + (b - a) * TABLE.points[k * compiled])?;
        }
        let mut coefficients = [0.0; MOST + 1];
        transform(&values, n, &mut coefficients);
        let series = &coefficients[..=n];
        if leaves_no_doubt(series, values.iter().step_by(compiled)) {
            return piece(f, b);
        }
        let largest = series.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        let tail = series[n].abs() + series[n - 1].abs();
        if tail <= DEAD * largest {
            let rounding = (LOST * largest).max(f64::MIN_POSITIVE);
            return untangle(f, series, rounding, a, b, depth, piece);
        }
        if n == MOST {
            let most = series[1..].iter().fold(0.0_f64, |m, c| m.max(c.abs()));
            break series[MOST / 2 + 1..].iter().map(|c| c.abs()).sum::<f64>() > ROUGH * most;
        }
        n *= 2;
    };
    if depth >= BLURRED && (!rough || depth >= DEEPEST || *left == 0) {
        return coarse_pieces(f, [a, b], &values, piece);
    }
    *left -= u32::from(depth >= BLURRED);
    let middle = 0.5 * (a + b);
    pieces(f, a, middle, (depth + 1, left), piece)?;
    pieces(f, middle, b, (depth + 1, left), piece)
}

/// Pieces where a function has a kink or a jump: between its samples, and where it dips to the other side of zero between two of them.
fn coarse_pieces<E, F: FnMut(f64) -> Result<f64, E>>(
    f: &mut F,
    [a, b]: [f64; 2],
    values: &[f64; MOST + 1],
    piece: &mut impl FnMut(&mut F, f64) -> Result<(), E>,
) -> Result<(), E> {
    let at = |k: usize| a + (b - a) * TABLE.points[k];
    for k in 0..=MOST {
        let dip = dip(f, &at, values, k)?;
        if let Some(dip) = dip.filter(|dip| *dip < at(k)) {
            piece(f, dip)?;
        }
        if k > 0 {
            piece(f, at(k))?;
        }
        if let Some(dip) = dip.filter(|dip| *dip > at(k)) {
            piece(f, dip)?;
        }
    }
    Ok(())
}

/// Where a function is on the other side of zero near the k-th sample, if that is the one nearest to zero, its neighbours are on the same side, and slopes as steep as
/// those around lead beyond zero. Such a dip has one lowest point, as that of a distance has, which is looked for by golden sections (J. Kiefer, Proc. Amer.
/// Math. Soc. 4 (1953) 502, doi:10.1090/S0002-9939-1953-0055639-3).
fn dip<E>(
    f: &mut impl FnMut(f64) -> Result<f64, E>,
    at: &impl Fn(usize) -> f64,
    values: &[f64; MOST + 1],
    k: usize,
) -> Result<Option<f64>, E> {
    const SECTION: f64 = 0.381_966_011_250_105_1;
    let (first, last) = (k.saturating_sub(1), (k + 1).min(MOST));
    let (sign, height) = (values[k].signum(), values[k].abs());
    let is_lowest = |i: usize| values[i] * sign > 0.0 && values[i].abs() >= height;
    if height == 0.0 || !(first..=last).all(is_lowest) {
        return Ok(None);
    }
    let slope = |i: usize| ((values[i + 1] - values[i]) / (at(i + 1) - at(i))).abs();
    let steepest = (k.saturating_sub(2)..(k + 2).min(MOST)).map(slope).fold(0.0, f64::max);
    let (mut low, mut high) = (at(first), at(last));
    if height > steepest * (high - low) {
        return Ok(None);
    }
    let inner = |low: f64, high: f64| [low + SECTION * (high - low), high - SECTION * (high - low)];
    let mut points = inner(low, high);
    let mut heights = [sign * f(points[0])?, sign * f(points[1])?];
    // Until what is left of the height is less than the slopes make of what is left of the bracket.
    while heights[0].min(heights[1]) <= steepest * (high - low) && high - low > f64::EPSILON * high {
        if let Some(i) = (0..2).find(|&i| heights[i] < 0.0) {
            return Ok(Some(points[i]));
        }
        if heights[0] < heights[1] {
            high = points[1];
            points = inner(low, high);
            heights = [sign * f(points[0])?, heights[0]];
        } else {
            low = points[0];
            points = inner(low, high);
            heights = [heights[1], sign * f(points[1])?];
        }
    }
    Ok(None)
}

/// Whether nothing is to be found between the ends of a piece: the function has no zero there, or is not defined. A coarse look is enough where it leaves
/// no doubt: fast oscillations may hide between a few points, but rarely with a small tail.
fn leaves_no_doubt<'a>(series: &[f64], mut values: impl Iterator<Item = &'a f64>) -> bool {
    let n = series.len() - 1;
    let largest = series.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let tail = series[n].abs() + series[n - 1].abs();
    if !largest.is_finite() || values.all(|value| value.is_nan()) {
        return true;
    }
    let others = series[1..].iter().map(|c| c.abs()).sum::<f64>();
    series[0].abs() > others + 4.0 * tail && tail <= SMALL_TAIL * series[0].abs()
}

/// Where a first look is taken, from 0 to 1.
pub(crate) fn coarse_point(k: usize) -> f64 {
    TABLE.points[k * MOST / COARSE]
}

/// Whether [`sign_changes`] would find nothing, as far as a first look tells, and leave the sign as it is.
pub(crate) fn is_quiet(values: [f64; COARSE + 1], sign: f64) -> bool {
    let (mut spread, mut series) = ([0.0; MOST + 1], [0.0; MOST + 1]);
    spread.iter_mut().step_by(MOST / COARSE).zip(&values).for_each(|(place, value)| *place = *value);
    transform(&spread, COARSE, &mut series);
    let last = values[COARSE];
    let same = last == 0.0 || last.is_nan() || last.signum() == sign;
    same && leaves_no_doubt(&series[..=COARSE], values.iter())
}

/// The Chebyshev points of the finest look, from 0 to 1, and the weights of values in coefficients for looks of 4, 8 and 16 intervals.
struct Table {
    points: [f64; MOST + 1],
    weights: [[[f64; MOST + 1]; MOST + 1]; 3],
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table {
    points: std::array::from_fn(|k| 0.5 * (1.0 - (PI * k as f64 / MOST as f64).cos())),
    weights: std::array::from_fn(|look| {
        let n = COARSE << look;
        let known = |j: usize, k: usize| if j <= n && k <= n { weight(j, k, n) } else { 0.0 };
        std::array::from_fn(|j| std::array::from_fn(|k| known(j, k)))
    }),
});

/// The coefficients of the interpolant of 4, 8 or 16 intervals, of values at the points of the finest look.
fn transform(values: &[f64; MOST + 1], n: usize, coefficients: &mut [f64; MOST + 1]) {
    let weights = &TABLE.weights[(n / COARSE).ilog2() as usize];
    for (c, weights) in coefficients.iter_mut().zip(weights).take(n + 1) {
        *c = weights.iter().zip(values.iter().step_by(MOST / n)).map(|(weight, value)| weight * value).sum();
    }
}

/// Splits an interval until its series has at most one zero in each piece.
fn untangle<E, F: FnMut(f64) -> Result<f64, E>>(
    f: &mut F,
    series: &[f64],
    rounding: f64,
    a: f64,
    b: f64,
    depth: u32,
    piece: &mut impl FnMut(&mut F, f64) -> Result<(), E>,
) -> Result<(), E> {
    let n = series.len() - 1;
    // Zeros at both ends of a piece are none but for rounding, and are told apart in its halves.
    let clear = |c: &[f64]| c[0].abs() > (1.0 + CLEARLY) * c[1..].iter().map(|c| c.abs()).sum::<f64>();
    let mut derivative = [0.0; MOST + 2];
    // cₖ′ = cₖ₊₂′ + 2(k + 1)cₖ₊₁, halved for k = 0.
    for k in (0..n).rev() {
        derivative[k] = derivative[k + 2] + 2.0 * (k as f64 + 1.0) * series[k + 1];
    }
    derivative[0] *= 0.5;
    let lost = series.iter().map(|c| c.abs()).sum::<f64>() <= rounding;
    if lost || clear(series) || clear(&derivative[..n.max(1)]) || depth == TANGLED {
        return piece(f, b);
    }
    let middle = 0.5 * (a + b);
    for (half, from, to) in [(-0.5, a, middle), (0.5, middle, b)] {
        let mut values = [0.0; MOST + 1];
        for (k, value) in values.iter_mut().enumerate().take(n + 1) {
            *value = clenshaw(series, half - 0.5 * (PI * k as f64 / n as f64).cos());
        }
        let mut part = [0.0; MOST + 1];
        for (j, c) in part.iter_mut().enumerate().take(n + 1) {
            *c = (0..=n).map(|k| weight(j, k, n) * values[k]).sum();
        }
        untangle(f, &part[..=n], rounding, from, to, depth + 1, piece)?;
    }
    Ok(())
}

fn clenshaw(series: &[f64], x: f64) -> f64 {
    let (mut sum, mut later) = (0.0, 0.0);
    for c in series[1..].iter().rev() {
        (sum, later) = (c + 2.0 * x * sum - later, sum);
    }
    series[0] + x * sum - later
}

/// What the value at −cos(πk/n) contributes to the coefficient of Tⱼ.
pub(crate) fn weight(j: usize, k: usize, n: usize) -> f64 {
    let half = |i: usize| if i == 0 || i == n { 0.5 } else { 1.0 };
    let angle = PI * ((j * (n - k)) % (2 * n)) as f64 / n as f64;
    2.0 / n as f64 * half(j) * half(k) * angle.cos()
}

/// A function jumps within a closed bracket if it changes there by more than this part of its values where the bracket began.
const JUMP: f64 = 1e-3;
/// Which way a function moves beside a jump is seen this far from it.
const BESIDE: f64 = 1e-6;

/// Closes a bracket at whose left end the function has the given sign, and at whose right end the other, to the last bit: secants of the Illinois kind
/// (M. Dowell and P. Jarratt, BIT 11 (1971) 168, doi:10.1007/BF01934364), and a bisection wherever three of them have not halved it. Returns where that is, and
/// whether the function [jumps back](Root::jumps_back) there.
fn close<E>(
    f: &mut impl FnMut(f64) -> Result<f64, E>,
    mut a: f64,
    mut b: f64,
    sign: f64,
) -> Result<(f64, bool), E> {
    let (mut fa, mut fb) = (f(a)?, f(b)?);
    let largest = fa.abs().max(fb.abs());
    // The values at the ends, without the factors of the secants.
    let (mut before, mut behind) = (fa, fb);
    // The step before may have ended on the other side of zero, by rounding.
    if fa == 0.0 || fa.signum() != sign {
        return Ok((a, false));
    }
    let (mut width, mut secants, mut kept) = (b - a, 0, 0);
    while b - a > 2.0 * f64::EPSILON * b.abs().max(f64::MIN_POSITIVE) {
        let middle = 0.5 * (a + b);
        let mut x = b - fb * (b - a) / (fb - fa);
        if secants == 3 || !(x > a && x < b) {
            x = middle;
            secants = 0;
        }
        if x <= a || x >= b {
            break;
        }
        let value = f(x)?;
        if value == 0.0 || value.is_nan() {
            return Ok((x, false));
        }
        if value.signum() == sign {
            (a, fa, before) = (x, value, value);
            fb *= if kept == 1 { 0.5 } else { 1.0 };
            kept = 1;
        } else {
            (b, fb, behind) = (x, value, value);
            fa *= if kept == -1 { 0.5 } else { 1.0 };
            kept = -1;
        }
        secants = if b - a < 0.5 * width { 0 } else { secants + 1 };
        width = if secants == 0 { b - a } else { width };
    }
    let jump = behind - before;
    if jump.abs() <= JUMP * largest {
        return Ok((b, false));
    }
    let moves = [before - f(a - BESIDE)?, f(b + BESIDE)? - behind];
    Ok((b, moves.iter().all(|change| change * jump < 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn roots(f: impl Fn(f64) -> f64) -> (Vec<Root>, usize) {
        let (mut roots, mut sign, mut calls) = (Vec::new(), f(0.0).signum(), 0);
        let mut counted = |x: f64| {
            calls += 1;
            Ok::<f64, Infallible>(f(x))
        };
        let Ok(()) = sign_changes(&mut counted, &mut sign, |root| {
            roots.push(root);
            Ok(())
        });
        (roots, calls)
    }

    #[test]
    fn all_roots_of_a_polynomial_are_found_to_the_last_bit() {
        let places = [0.05, 0.051, 0.3, 0.300_001, 0.301, 0.77, 0.99, 0.999];
        let (found, _) = roots(|x| places.iter().map(|p| x - p).product());
        assert_eq!(found.len(), places.len(), "{found:?}");
        for (i, (root, place)) in found.iter().zip(places).enumerate() {
            assert!((root.at - place).abs() <= 4.0 * f64::EPSILON, "{} for {place}", root.at);
            assert_eq!(root.rising, i % 2 == 1);
        }
    }

    #[test]
    fn jumps_back_are_no_zeros() {
        for (shift, width) in [(0.3, 1.0), (0.1, 10.0), (0.77, 40.0)] {
            for (found, rising) in [
                (roots(|x: f64| (width * (x - shift)).tan()).0, true),
                (roots(|x: f64| 1.0 / (width * (x - shift)).tan()).0, false),
                (roots(|x: f64| (width * (x - shift)).sin().atan2((width * (x - shift)).cos())).0, true),
                (roots(|x: f64| (width * (x - shift) - 0.25).fract() - 0.3).0, true),
            ] {
                let (jumps, zeros): (Vec<_>, Vec<_>) = found.into_iter().partition(|root| root.jumps_back);
                assert!(zeros.iter().all(|zero| zero.rising == rising), "{zeros:?}");
                assert!(jumps.iter().all(|jump| jump.rising != rising), "{jumps:?}");
                assert!(zeros.len().abs_diff(jumps.len()) <= 1, "{zeros:?} {jumps:?}");
            }
        }
        let jumps_back = |f: fn(f64) -> f64| roots(f).0[0].jumps_back;
        assert!(jumps_back(|x| 1.0 / (x - 0.37)) && jumps_back(|x| (x - 0.37).signum() - 2.0 * (x - 0.37)));
        assert!(!jumps_back(|x| (x - 0.37).cbrt()) && !jumps_back(|x| (x - 0.37).signum()));
        assert!(
            !jumps_back(|x| (1e9 * (x - 0.37)).tanh()) && !jumps_back(|x| (x - 0.37).signum() + x - 0.37)
        );
    }

    #[test]
    fn fast_oscillations_are_counted() {
        for k in (1..190).chain([1000, 7777, 20_000]) {
            let (found, _) = roots(|x| (PI * f64::from(k) * (x + 0.25 / f64::from(k))).cos());
            assert_eq!(found.len(), k as usize);
        }
    }

    #[test]
    fn touching_is_no_crossing() {
        assert_eq!(roots(|x| (x - 0.37).powi(2)).0, []);
        assert_eq!(roots(|x| (x - 0.37).powi(2) + 1e-12).0, []);
        assert_eq!(roots(|x| (x - 0.37).powi(2) - 1e-12).0.len(), 2);
        assert_eq!(roots(|x| (x - 0.37).powi(3)).0.len(), 1);
        assert_eq!(roots(|x| (x - 0.37).abs() - 1e-3).0.len(), 2);
    }

    /// The distance from a disc of which a straight way cuts a thin part.
    #[test]
    fn thin_dips_are_seen() {
        for place in [0.37, 0.5, 0.500_01, 0.25 - 1e-7, 0.999_999, 1e-6] {
            for radius in [1e-3, 1e-5, 1e-7, 1e-9] {
                for aside in [0.0, 0.5, 0.99] {
                    let distance = |x: f64| (x - place).hypot(aside * radius);
                    let (found, calls) = roots(|x| distance(x) - radius);
                    let half = radius * f64::sqrt(1.0 - aside * aside);
                    let exact: Vec<_> =
                        [place - half, place + half].into_iter().filter(|x| *x > 0.0 && *x < 1.0).collect();
                    assert_eq!(found.len(), exact.len(), "{radius:e} at {place}, {aside}: {found:?}");
                    for (root, exact) in found.iter().zip(exact) {
                        assert!((root.at - exact).abs() < 1e-13, "{} for {exact}", root.at);
                    }
                    assert!(calls < 2000, "{calls}");
                    assert_eq!(roots(|x| distance(x) + 1e-3 * radius - aside * radius).0, []);
                }
            }
        }
    }

    #[test]
    fn clear_cases_are_cheap() {
        let (found, calls) = roots(|x| 2.0 + x + x * x);
        assert!(found.is_empty() && calls <= 6, "{calls}");
        let (found, calls) = roots(|x| x.exp() - 1.5);
        assert!((found[0].at - 1.5_f64.ln()).abs() < 1e-15 && calls < 40, "{calls}");
    }

    /// Where a function is nothing but rounding, nobody looks for its zeros one by one.
    #[test]
    fn nothing_is_looked_at_once() {
        let (found, calls) = roots(|_| 0.0);
        assert!(found.is_empty() && calls <= 6, "{calls}");
        let (found, calls) = roots(|x| 1e-320 * (x - 0.37));
        assert!(found.len() == 1 && calls < 100, "{calls}");
        for power in [5, 9, 16, 25] {
            let (found, calls) = roots(|x| (x - 0.37).powi(power));
            assert_eq!(found.len(), power as usize % 2, "power {power}");
            assert!(calls < 2000, "{calls} for power {power}");
        }
    }

    /// A zero at the border of two steps is found once.
    #[test]
    fn borders_belong_to_one_step() {
        for shift in [0.0, 1e-17, -1e-17, 1e-16, -1e-16] {
            let (mut sign, mut count) = (-1.0, 0);
            for step in 0..2 {
                let offset = if step == 0 { 0.0 } else { shift };
                let mut f = |x: f64| Ok::<f64, Infallible>(x + f64::from(step) - 1.0 + offset);
                let Ok(()) = sign_changes(&mut f, &mut sign, |_| {
                    count += 1;
                    Ok(())
                });
            }
            assert_eq!(count, 1, "{shift:e}");
        }
    }

    /// A bounce that takes a sixteenth of a step: both of its zeros are at ends of a piece.
    #[test]
    fn zeros_at_both_ends_of_a_piece_are_told_apart() {
        for below in [0.0, 1e-17, -1e-17] {
            let (mut found, mut sign) = (Vec::new(), 1.0);
            let mut f = |x: f64| Ok::<f64, ()>(4.0 * x * (0.0625 - x) - below);
            sign_changes(&mut f, &mut sign, |root| {
                found.push(root);
                Ok(())
            })
            .unwrap();
            let [root] = found[..] else { panic!("{below}: {found:?}") };
            assert!((root.at - 0.0625).abs() < 1e-15 && !root.rising, "{below}: {root:?}");
        }
    }
}
