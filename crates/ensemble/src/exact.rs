//! Sums without rounding: of numbers and of their squares, so that a mean or a deviation does not depend on the order in which parts are added.
//!
//! Every square of an `f64` is a whole multiple of 2⁻²¹⁴⁸ below 2²⁰⁴⁸: a sum of 2⁵³ of them has room in 136 digits to the base 2³². Digits are kept in 64
//! bits, and carries wait (R. M. Neal, arXiv:1505.05571).

use std::cmp::Ordering;

const DIGITS: usize = 136;
/// The exponent of the last digit.
const LAST: i32 = -2148;
/// The carry of this number of additions fits next to a digit.
const PATIENCE: u32 = 1 << 29;
const BASE: i64 = 1 << 32;

/// A sum without rounding.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    digits: [i64; DIGITS],
    waiting: u32,
}

impl Default for Exact {
    fn default() -> Exact {
        Exact { digits: [0; DIGITS], waiting: 0 }
    }
}

impl Exact {
    /// Adds a finite number.
    pub(crate) fn add(&mut self, x: f64) {
        let (mantissa, exponent) = parts(x);
        self.put(mantissa, exponent, x.is_sign_negative());
    }

    /// Adds the square of a finite number.
    pub(crate) fn add_square(&mut self, x: f64) {
        let (mantissa, exponent) = parts(x);
        let square = u128::from(mantissa) * u128::from(mantissa);
        self.put(square as u64, 2 * exponent, false);
        self.put((square >> 64) as u64, 2 * exponent + 64, false);
    }

    pub(crate) fn add_sum(&mut self, other: &Exact) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.digits.iter_mut().zip(other.digits).for_each(|(digit, more)| *digit += more);
        self.waiting += 1;
    }

    fn put(&mut self, mantissa: u64, exponent: i32, negative: bool) {
        if self.waiting == PATIENCE {
            self.carry();
        }
        self.waiting += 1;
        let place = (exponent - LAST) as usize;
        let wide = u128::from(mantissa) << (place % 32);
        for k in 0..3 {
            let digit = i64::from((wide >> (32 * k)) as u32);
            // A square is put in two parts, the higher of which may be 0 beyond the last digit.
            if digit != 0 {
                self.digits[place / 32 + k] += if negative { -digit } else { digit };
            }
        }
    }

    /// Passes carries on: all digits but the highest are then from 0 to 2³² − 1, in the one way there is.
    fn carry(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carry;
            *digit = sum.rem_euclid(BASE);
            carry = sum.div_euclid(BASE);
        }
        self.digits[DIGITS - 1] += carry;
        self.waiting = 0;
    }

    /// The size of the sum, and whether it is negative.
    pub(crate) fn whole(&self) -> (Natural, bool) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.digits[DIGITS - 1] < 0;
        if negative {
            sum.digits.iter_mut().for_each(|digit| *digit = -*digit);
            sum.carry();
        }
        (Natural(sum.digits.iter().map(|&digit| digit as u32).collect()).trimmed(), negative)
    }

    /// The sum of such a size.
    pub(crate) fn of(size: &Natural, negative: bool) -> Option<Exact> {
        let mut sum = Exact::default();
        if size.0.len() >= DIGITS {
            return None;
        }
        for (digit, &value) in sum.digits.iter_mut().zip(&size.0) {
            *digit = if negative { -i64::from(value) } else { i64::from(value) };
        }
        sum.carry();
        Some(sum)
    }
}

/// A finite number as a whole one times a power of 2.
fn parts(x: f64) -> (u64, i32) {
    let (bits, hidden) = (x.to_bits(), 1 << 52);
    let (fraction, exponent) = (bits & (hidden - 1), (bits >> 52 & 0x7ff) as i32);
    if exponent == 0 { (fraction, -1074) } else { (fraction | hidden, exponent - 1075) }
}

/// A natural number, its lowest digit first, to the base 2³².
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Natural(pub(crate) Vec<u32>);

impl Natural {
    fn trimmed(mut self) -> Natural {
        let used = self.0.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
        self.0.truncate(used);
        self
    }

    /// Times a number.
    fn times(&self, factor: u64) -> Natural {
        self.product(&Natural(vec![factor as u32, (factor >> 32) as u32]))
    }

    fn product(&self, other: &Natural) -> Natural {
        let mut product = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                let sum = u64::from(product[i + j]) + u64::from(a) * u64::from(b) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + other.0.len()] = carry as u32;
        }
        Natural(product).trimmed()
    }

    /// What is left of a larger number.
    fn minus(&self, other: &Natural) -> Natural {
        let mut borrow = 0;
        let digits = (0..self.0.len()).map(|i| {
            let digit = i64::from(self.0[i]) - other.0.get(i).map_or(0, |&digit| i64::from(digit)) - borrow;
            borrow = i64::from(digit < 0);
            (digit + borrow * BASE) as u32
        });
        Natural(digits.collect()).trimmed()
    }

    /// Divided by a number, and whether something remains.
    fn over(&self, divisor: u64) -> (Natural, bool) {
        let mut rest = 0u128;
        let mut quotient = vec![0; self.0.len()];
        for (i, &digit) in self.0.iter().enumerate().rev() {
            rest = rest << 32 | u128::from(digit);
            quotient[i] = (rest / u128::from(divisor)) as u32;
            rest %= u128::from(divisor);
        }
        (Natural(quotient).trimmed(), rest != 0)
    }

    /// Without its last bits.
    fn shifted_down(&self, bits: usize) -> Natural {
        let (whole, part) = (bits / 32, bits % 32);
        let digit = |i: usize| self.0.get(i).map_or(0, |&digit| u64::from(digit));
        let digits = (whole..self.0.len()).map(|i| ((digit(i) | digit(i + 1) << 32) >> part) as u32);
        Natural(digits.collect()).trimmed()
    }

    fn bits(&self) -> usize {
        self.0.last().map_or(0, |last| 32 * self.0.len() - last.leading_zeros() as usize)
    }

    fn has_bits_below(&self, bits: usize) -> bool {
        let (whole, part) = (bits / 32, bits % 32);
        self.0.iter().take(whole).any(|&digit| digit != 0)
            || self.0.get(whole).is_some_and(|digit| digit & ((1 << part) - 1) != 0)
    }

    /// The 64 leading bits as f · 2ᵉ with f from 1 to 2, correctly rounded to 53 bits; `more` if the number is a little larger.
    fn rounded(&self, more: bool) -> Option<(f64, i32)> {
        let bits = self.bits();
        if bits == 0 {
            return None;
        }
        let (low, lost) = match bits.cmp(&64) {
            Ordering::Greater => (bits - 64, more || self.has_bits_below(bits - 64)),
            _ => (0, more),
        };
        let top = self.shifted_down(low);
        let top = top.0.iter().rev().fold(0u64, |sum, &digit| sum << 32 | u64::from(digit));
        let top = top << top.leading_zeros();
        // To odd, so that the conversion rounds but once.
        let fraction = (top | u64::from(lost)) as f64 / (1u64 << 63) as f64;
        Some((fraction, bits as i32 - 1 + LAST))
    }
}

/// f · 2ᵉ, rounded once where it is subnormal.
fn scaled(fraction: f64, exponent: i32) -> f64 {
    libm::scalbn(fraction, exponent)
}

/// The mean of a number of values, from their sum: the nearest `f64`, except for subnormal ones, which are rounded twice.
pub(crate) fn mean(sum: &Exact, count: u64) -> f64 {
    let (size, negative) = sum.whole();
    let (quotient, rest) = size.over(count.max(1));
    let mean = quotient.rounded(rest).map_or(0.0, |(fraction, exponent)| scaled(fraction, exponent));
    if negative { -mean } else { mean }
}

/// The standard deviation of a number of values from their mean, $\sqrt{(n\sum x^2-(\sum x)^2)/n(n-1)}$, to one unit in the last place; 0 of one number.
pub(crate) fn deviation(sum: &Exact, squares: &Exact, count: u64) -> f64 {
    if count < 2 {
        return 0.0;
    }
    // A sum of numbers is a multiple of 2⁻¹⁰⁷⁴.
    let sum = sum.whole().0.shifted_down(LAST.unsigned_abs() as usize / 2);
    let spread = squares.whole().0.times(count).minus(&sum.product(&sum));
    let (part, rest) = spread.over(count);
    let (variance, more) = part.over(count - 1);
    let Some((fraction, exponent)) = variance.rounded(rest || more) else { return 0.0 };
    let odd = exponent.rem_euclid(2);
    scaled((fraction * f64::from(1 << odd)).sqrt(), (exponent - odd) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_testing::Random;

    fn of(values: &[f64]) -> (f64, f64) {
        let (mut sum, mut squares) = (Exact::default(), Exact::default());
        values.iter().for_each(|&x| {
            sum.add(x);
            squares.add_square(x);
        });
        (mean(&sum, values.len() as u64), deviation(&sum, &squares, values.len() as u64))
    }

    #[test]
    fn means_and_deviations_are_exact_where_they_can_be() {
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]), (3.0, 2.5f64.sqrt()));
        assert_eq!(of(&[7.5]), (7.5, 0.0));
        assert_eq!(of(&[-2.0, 2.0]), (0.0, 8f64.sqrt()));
        // What sums in f64 lose altogether: 1e16 ± 1 about a mean of 1e16, and what cancels.
        assert_eq!(of(&[1e16 - 2.0, 1e16, 1e16 + 2.0]), (1e16, 2.0));
        assert_eq!(of(&[1e300, 1.0, -1e300]).0, 1.0 / 3.0);
        // The extremes: largest, smallest.
        assert_eq!(of(&[f64::MAX, f64::MAX]), (f64::MAX, 0.0));
        assert_eq!(of(&[f64::MAX, -f64::MAX]).0, 0.0);
        assert_eq!(of(&[5e-324, 5e-324]), (5e-324, 0.0));
        let wide = of(&[1e300, -1e300]).1 / 1e300;
        assert!((wide - 2f64.sqrt()).abs() < 4e-16, "{wide}");
        let narrow = of(&[1e-300, -1e-300]).1 * 1e300;
        assert!((narrow - 2f64.sqrt()).abs() < 4e-16, "{narrow}");
    }

    /// Whole numbers with known sums, in 128-bit integers: n Σx² − (Σx)² there, and divided in `f64` once.
    #[test]
    fn random_sums_agree_with_integers() {
        let mut random = Random::new(3);
        for _ in 0..200 {
            let count = 2 + random.below(500);
            let values: Vec<i64> = (0..count).map(|_| random.below(2_000_001) as i64 - 1_000_000).collect();
            let n = count as i128;
            let sum: i128 = values.iter().map(|&x| i128::from(x)).sum();
            let squares: i128 = values.iter().map(|&x| i128::from(x) * i128::from(x)).sum();
            let variance = (n * squares - sum * sum) as f64 / (n * (n - 1)) as f64;
            let (mean, deviation) = of(&values.iter().map(|&x| x as f64).collect::<Vec<_>>());
            assert_eq!(mean, sum as f64 / n as f64);
            assert!((deviation / variance.sqrt() - 1.0).abs() < 4e-16, "{deviation} of {variance}");
        }
    }

    /// Any numbers in any order, in any parts, through their stored form: the same sum to the last digit.
    #[test]
    fn order_and_parts_do_not_matter() {
        let mut random = Random::new(4);
        let any = |random: &mut Random| loop {
            let x = f64::from_bits(random.bits());
            if x.is_finite() {
                break x;
            }
        };
        for _ in 0..50 {
            let mut values: Vec<f64> = (0..300).map(|_| any(&mut random)).collect();
            let whole = |values: &[f64]| {
                let (mut sum, mut squares) = (Exact::default(), Exact::default());
                values.iter().for_each(|&x| (sum.add(x), squares.add_square(x)).1);
                (sum, squares)
            };
            let (sum, squares) = whole(&values);
            for i in (1..values.len()).rev() {
                values.swap(i, random.below(i + 1));
            }
            let (mut joined, mut joined_squares) = (Exact::default(), Exact::default());
            for part in values.chunks(1 + random.below(40)) {
                let (sum, squares) = whole(part);
                let (size, negative) = sum.whole();
                joined.add_sum(&Exact::of(&size, negative).expect("it fits"));
                joined_squares.add_sum(&squares);
            }
            assert_eq!(joined.whole(), sum.whole());
            assert_eq!(joined_squares.whole(), squares.whole());
        }
    }

    /// The nearest f64 of a sum of doubles, against two-sums: 0.1 added ten times is a little more than 1.
    #[test]
    fn sums_are_rounded_once() {
        let mut sum = Exact::default();
        (0..10).for_each(|_| sum.add(0.1));
        assert_eq!(mean(&sum, 1), 1.0);
        assert_eq!(mean(&sum, 10), 0.1);
        sum.add(f64::EPSILON);
        assert_eq!(mean(&sum, 1), 1.0 + f64::EPSILON);
    }
}
