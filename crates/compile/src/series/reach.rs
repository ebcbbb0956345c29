//! How far an expansion reaches: the longest step that a tolerance allows.
//!
//! Where one coefficient is larger than another, ρ = (|cⱼ|/|cₖ|)^{1/(k−j)} is about the radius of convergence, and h = ρ ε^{1/(N+1−j)} leaves
//! a remainder of ε relative to the term of order j. The smallest of these over several high orders k is taken, because at a point of
//! symmetry any one of them may vanish, and the largest over the first few j, because a component may pass through zero.
//!
//! All is done with logarithms, and these need not be good, for they are taken to a high root: that of |x| is its exponent, with the fraction
//! after it as if the logarithm were linear between powers of two. These are the bits of |x|, and a number once they are shifted into those of
//! 2⁵². So they are here: 2⁵² + 2⁴¹ (1023 + log₂|x|), which orders zeros, numbers, infinities and NaN.

use crate::arithmetic::Arithmetic;
use crate::instruction::Test;

/// How many of the highest orders tell the radius of convergence, at least; and how many of these must not vanish in all components.
/// From a point of symmetry only every other order may be there, or every fourth, or fewer.
pub(super) const TELLING: usize = 4;
const PRESENT: usize = 2;

/// Terms that the remainder is measured against: the first few.
const MEASURES: usize = 3;

/// What follows from a tolerance: the share of the radius that a remainder relative to each of these terms allows, and the logarithm of
/// the absolute tolerance.
pub(super) const TOLERATED: usize = MEASURES + 1;

/// All that a step is measured by: that, and what states of each kind are measured by at least.
pub(super) const SHARES: usize = TOLERATED + KINDS;
pub(super) const KINDS: usize = 2;

/// Logarithms of 0, of an infinity, and of a factor of two.
const ZERO: f64 = 4_503_599_627_370_496.0;
const NOT_FINITE: f64 = ZERO + 2047.0 * OCTAVE;
const OCTAVE: f64 = 2_199_023_255_552.0;

/// A component that is so many octaves smaller than the largest of its kind is measured by that one.
const SMALL: f64 = 6.64;

/// The longest step, as a power of two, and the shortest.
const MOST: f64 = 1000.0;

/// The shares for a tolerance.
pub(super) fn shares(order: usize, relative: f64, absolute: f64) -> [f64; TOLERATED] {
    let mut shares = [absolute_share(absolute); TOLERATED];
    for (j, share) in shares[..MEASURES].iter_mut().enumerate() {
        *share = relative.log2() / (order + 1 - j) as f64;
    }
    shares
}

/// What stands for an absolute tolerance: its logarithm.
pub(super) fn absolute_share(absolute: f64) -> f64 {
    ZERO + OCTAVE * (1023.0 + absolute.log2())
}

/// The place of the absolute tolerance among the shares.
pub(super) const ABSOLUTE: usize = MEASURES;

/// The first of the orders that usually tell the radius.
pub(super) fn usual(order: usize) -> usize {
    (order + 1).saturating_sub(TELLING).max(2)
}

/// What the sizes of the highest orders say.
pub(super) enum RadiusFrom {
    /// These orders tell the radius.
    Radius,
    /// The radius follows from orders from this one on.
    From(usize),
    /// The series ends here.
    Ends,
    /// A coefficient is not finite.
    NotFinite,
}

/// Which orders tell the radius, from the largest of the logarithms of each order.
pub(super) fn radius_from(order: usize, top: impl Fn(usize) -> f64) -> RadiusFrom {
    let (usual, mut present) = (usual(order), 0);
    for k in (2..=order).rev() {
        let top = top(k);
        if top >= NOT_FINITE {
            return RadiusFrom::NotFinite;
        }
        present += usize::from(top > ZERO);
        if present >= PRESENT && k <= usual {
            return if k == usual { RadiusFrom::Radius } else { RadiusFrom::From(k) };
        }
    }
    if present == 0 { RadiusFrom::Ends } else { RadiusFrom::From(2) }
}

/// Whether the usual orders tell the radius in all lanes, from the largest of the logarithms of each.
pub(super) fn all_usual<const W: usize>(order: usize, tops: &[[f64; W]]) -> bool {
    let (mut present, mut finite) = ([0.0; W], true);
    for top in tops {
        for j in 0..W {
            finite &= top[j] < NOT_FINITE;
            present[j] += f64::from(u8::from(top[j] > ZERO));
        }
    }
    let enough = usual(order) <= order && present.iter().fold(true, |all, &n| all & (n >= PRESENT as f64));
    enough & finite
}

/// The logarithm of the largest coefficient of an order.
#[inline(always)]
pub(super) fn top<A: Arithmetic>(
    a: &mut A,
    states: usize,
    coefficient: impl Fn(usize) -> A::Value,
) -> A::Value {
    let mut top = a.constant(ZERO);
    for i in 0..states {
        let size = logarithm(a, coefficient(i));
        top = a.max(size, top);
    }
    top
}

/// The longest step, from orders `from` on; by order and state, where order 0 is the state itself.
#[inline(always)]
pub(super) fn reach<A: Arithmetic>(
    a: &mut A,
    states: usize,
    from: usize,
    order: usize,
    shares: [A::Value; SHARES],
    absolute: impl Fn(usize) -> A::Value,
    coefficient: impl Fn(usize, usize) -> A::Value,
) -> A::Value {
    let mut reach = a.constant(MOST);
    let half = states.div_ceil(2);
    for (kind, part) in [0..half, half..states].into_iter().enumerate() {
        let mut least = [None; MEASURES];
        for (j, least) in least.iter_mut().enumerate().take(order) {
            for i in part.clone() {
                let size = logarithm(a, coefficient(j, i));
                *least = Some(match *least {
                    Some(largest) => a.max(size, largest),
                    None => size,
                });
            }
            *least = least.map(|largest| a.sub(largest, SMALL * OCTAVE));
        }
        let natural = logarithm(a, shares[TOLERATED + kind]);
        least[0] = least[0].map(|least| a.max(least, natural));
        for i in part {
            let absolute = absolute(i);
            let (mut largest, mut measures) = (absolute, [None; MEASURES]);
            for j in 0..MEASURES {
                let Some(least) = least[j] else { continue };
                let size = logarithm(a, coefficient(j, i));
                let measure = a.max(size, least);
                largest = a.max(measure, largest);
                measures[j] = Some(measure);
            }
            let mut nearest: Option<A::Value> = None;
            for k in from..=order {
                let size = logarithm(a, coefficient(k, i));
                let beyond = a.sub(absolute, size);
                let mut furthest = a.mul(beyond, 1.0 / (k as f64 * OCTAVE));
                for j in 0..MEASURES.min(k) {
                    let Some(measure) = measures[j] else { continue };
                    let beyond = a.sub(measure, size);
                    let radius = a.mul_add(beyond, 1.0 / ((k - j) as f64 * OCTAVE), shares[j]);
                    furthest = a.max(furthest, radius);
                }
                nearest = Some(match nearest {
                    Some(nearest) => a.min(furthest, nearest),
                    None => furthest,
                });
            }
            if let Some(nearest) = nearest {
                // Where there is nothing to measure by, a component does not count.
                let nearest = a.select(Test::Less, ZERO, largest, nearest, MOST);
                reach = a.min(nearest, reach);
            }
        }
    }
    power_of_two(a, reach)
}

/// The logarithm of a size, as everywhere here.
#[inline(always)]
fn logarithm<A: Arithmetic>(a: &mut A, x: A::Value) -> A::Value {
    let size = a.abs(x);
    let bits = a.shift_right(size, 11);
    a.or(bits, ZERO)
}

/// 2ˣ to a thousandth, for x up to [`MOST`]; a power at least that small.
#[inline(always)]
fn power_of_two<A: Arithmetic>(a: &mut A, x: A::Value) -> A::Value {
    let x = a.max(x, -MOST);
    let whole = a.floor(x);
    let rest = a.sub(x, whole);
    // 1 and 2 at the ends, and 2^½ in the middle.
    let bent = a.mul_add(rest, 0.343_145_750_507_619_8, 0.656_854_249_492_380_2);
    let fraction = a.mul_add(bent, rest, 1.0);
    let exponent = a.add(whole, ZERO + 1023.0);
    let power = a.shift_left(exponent, 52);
    a.mul(fraction, power)
}
