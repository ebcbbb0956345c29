//! What stands between the layers of a network.

use crate::real::Real;
use leastaction_compile::{Loops, vectorized};
use std::fmt;
use std::str::FromStr;

/// A smooth function that is applied to each number between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// tanh x.
    Tanh,
    /// ln(1 + eˣ).
    Softplus,
    /// sin x.
    Sine,
    /// x/(1 + e⁻ˣ).
    Silu,
}

impl Activation {
    /// All of them.
    pub const ALL: [Activation; 4] =
        [Activation::Tanh, Activation::Softplus, Activation::Sine, Activation::Silu];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Activation::Tanh => "tanh",
            Activation::Softplus => "softplus",
            Activation::Sine => "sin",
            Activation::Silu => "silu",
        }
    }

    /// The value, the first and the second derivative.
    #[inline(always)]
    pub(crate) fn at<T: Real>(self, x: T) -> [T; 3] {
        let (one, two) = (T::of(1.0), T::of(2.0));
        // What is less than e to the power of −80 is as good as that.
        let decay = |x: T| (-(if x > T::of(80.0) { T::of(80.0) } else { x })).exponential();
        match self {
            Activation::Tanh => {
                let (_, less) = decay(two * x.size());
                let value = (-less / (less + two)).with_sign_of(x);
                let slope = one - value * value;
                [value, slope, -two * value * slope]
            }
            Activation::Softplus => {
                let (decayed, _) = decay(x.size());
                let positive = (x + x.size()) * T::of(0.5);
                let [slope, bend] = rising(decayed, x);
                [positive + decayed.log_of_one_and(), slope, bend]
            }
            Activation::Sine => {
                let (sine, cosine) = x.sine_and_cosine();
                [sine, cosine, -sine]
            }
            Activation::Silu => {
                let (decayed, _) = decay(x.size());
                let [slope, bend] = rising(decayed, x);
                let second = bend * (two + x * (one - two * slope));
                [x * slope, slope + x * bend, second]
            }
        }
    }

    /// Values and derivatives of many numbers, which stand where second derivatives are to be.
    pub(crate) fn apply<T: Real>(self, values: &mut [T], slopes: &mut [T], seconds: &mut [T]) {
        let rows = Applied { values, slopes, seconds };
        // Each has a loop of its own, without branches.
        match self {
            Activation::Tanh => vectorized(With(rows, |x| Activation::Tanh.at(x))),
            Activation::Softplus => vectorized(With(rows, |x| Activation::Softplus.at(x))),
            Activation::Sine => vectorized(With(rows, |x| Activation::Sine.at(x))),
            Activation::Silu => vectorized(With(rows, |x| Activation::Silu.at(x))),
        }
    }
}

/// 1/(1 + e⁻ˣ) and its derivative, from e to the power of −|x|.
#[inline(always)]
fn rising<T: Real>(decayed: T, x: T) -> [T; 2] {
    let one = T::of(1.0);
    let part = one / (one + decayed);
    [if x < T::of(0.0) { decayed * part } else { part }, decayed * part * part]
}

struct Applied<'a, T> {
    values: &'a mut [T],
    slopes: &'a mut [T],
    seconds: &'a mut [T],
}

struct With<'a, T, F>(Applied<'a, T>, F);

impl<T: Real, F: Fn(T) -> [T; 3]> Loops for With<'_, T, F> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let With(Applied { values, slopes, seconds }, function) = self;
        for ((value, slope), second) in values.iter_mut().zip(slopes).zip(seconds) {
            [*value, *slope, *second] = function(*second);
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such activation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no activation `{name}`: there are `tanh`, `softplus`, `sin` and `silu`")]
pub struct NoActivation {
    /// What was asked for.
    pub name: String,
}

impl FromStr for Activation {
    type Err = NoActivation;

    fn from_str(name: &str) -> Result<Activation, NoActivation> {
        let activation = Activation::ALL.into_iter().find(|activation| activation.name() == name);
        activation.ok_or_else(|| NoActivation { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::Activation;
    use crate::real::Real;

    /// By the library's functions.
    fn exact(activation: Activation, x: f64) -> [f64; 3] {
        let rising = 1.0 / (1.0 + (-x).exp());
        let bend = rising / (1.0 + x.exp());
        match activation {
            Activation::Tanh => {
                let slope = x.cosh().powi(-2);
                [x.tanh(), slope, -2.0 * x.tanh() * slope]
            }
            Activation::Softplus => [x.max(0.0) + (-x.abs()).exp().ln_1p(), rising, bend],
            Activation::Sine => [x.sin(), x.cos(), -x.sin()],
            Activation::Silu => [x * rising, rising + x * bend, bend * (2.0 + x * (1.0 - 2.0 * rising))],
        }
    }

    /// Values are right to their own digits, but for sines; derivatives to rounding of 1.
    fn sweep<T: Real>(within: f64) {
        let grid = (-4000..=4000).map(|i| f64::from(i) * 0.011);
        let tiny = (1..40).flat_map(|k| [1.0, -1.0].map(|sign| sign * 0.5_f64.powi(k)));
        for x in grid.chain(tiny).chain([0.0, 100.0, -100.0]) {
            for activation in Activation::ALL {
                let [value, slope, second] = activation.at(T::of(x)).map(T::wide);
                let expected = exact(activation, T::of(x).wide());
                let scale = if activation == Activation::Sine { 1.0 } else { expected[0].abs().max(1e-16) };
                assert!(
                    (value - expected[0]).abs() <= within * scale,
                    "{activation} {x}: {value} {expected:?}"
                );
                assert!(
                    (slope - expected[1]).abs() <= 2.0 * within,
                    "{activation}' {x}: {slope} {expected:?}"
                );
                assert!(
                    (second - expected[2]).abs() <= 8.0 * within,
                    "{activation}'' {x}: {second} {expected:?}"
                );
            }
        }
    }

    #[test]
    fn activations_have_their_values_and_derivatives() {
        sweep::<f64>(1e-15);
        sweep::<f32>(5e-7);
    }

    #[test]
    fn what_is_no_number_stays_none() {
        for activation in Activation::ALL {
            assert!(activation.at(f64::NAN)[0].is_nan(), "{activation}");
            assert!(activation.at(f32::NAN)[0].is_nan(), "{activation}");
        }
    }

    #[test]
    fn activations_have_names() {
        assert!(Activation::ALL.iter().all(|a| a.name().parse() == Ok(*a)));
        assert!("relu".parse::<Activation>().is_err_and(|error| error.to_string().contains("`silu`")));
    }
}
