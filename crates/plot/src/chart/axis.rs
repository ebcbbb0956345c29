//! Axes: what range they show, and where their ticks are.

use crate::view::drawable;

/// A range with less than this of its size in it is shown as if it had this much: the rest is rounding.
const NARROWEST: f64 = 1e-13;

/// Ranges narrower than this, of the size of their numbers, are written as differences from a number.
const OFFSET: f64 = 1e-4;

/// On a logarithmic axis, what is this much smaller than the largest lies on the lower edge.
const DECADES: i32 = 10;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether it is logarithmic; `low` and `high` are powers of 10 then.
    pub(crate) log: bool,
}

/// The ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Values with labels.
    pub(crate) major: Vec<(f64, String)>,
    /// The label of the axis, with what the ticks leave out.
    pub(crate) label: String,
}

impl Axis {
    /// An axis that holds the drawable ones of these values, with some room if asked for.
    pub(crate) fn linear(label: impl Into<String>, values: impl IntoIterator<Item = f64>, room: f64) -> Axis {
        let (mut low, mut high) = range(values).unwrap_or((0.0, 0.0));
        let size = low.abs().max(high.abs());
        if high - low <= NARROWEST * size || high == low {
            let margin = if size > 0.0 { 0.1 * size } else { 1.0 };
            (low, high) = (low - margin, high + margin);
        } else {
            let margin = room * (high - low);
            (low, high) = (low - margin, high + margin);
        }
        Axis { label: label.into(), low, high, log: false }
    }

    /// A logarithmic axis over whole decades; none if no value is above 0.
    pub(crate) fn log(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Option<Axis> {
        Axis::log_over(label, values, DECADES)
    }

    /// A logarithmic axis over at most so many decades.
    pub(crate) fn log_over(
        label: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        decades: i32,
    ) -> Option<Axis> {
        let (low, high) = range(values.into_iter().filter(|v| *v > 0.0))?;
        let top = high.log10().ceil() as i32;
        let bottom = (low.log10().floor() as i32).max(top - decades).min(top - 1);
        let power = |k: i32| 10_f64.powi(k).max(f64::MIN_POSITIVE);
        Some(Axis { label: label.into(), low: power(bottom), high: power(top), log: true })
    }

    /// Where a value lies, from 0 to 1. On a logarithmic axis what is too small, and 0, lies on the lower edge.
    pub(crate) fn place(&self, value: f64) -> f64 {
        if self.log {
            let [low, high] = [self.low, self.high].map(f64::log10);
            return ((value.max(self.low).log10() - low) / (high - low)).min(1.0);
        }
        (value - self.low) / (self.high - self.low)
    }

    /// Ticks for a length of so many pixels, about `apart` pixels from each other.
    pub(crate) fn ticks(&self, length: f64, apart: f64) -> Ticks {
        if self.log { self.decades(length, apart) } else { self.steps(length, apart) }
    }

    fn decades(&self, length: f64, apart: f64) -> Ticks {
        let [low, high] = [self.low, self.high].map(|v| v.log10().round() as i32);
        let most = (length / apart).max(1.0);
        let every = (f64::from(high - low) / most).ceil().max(1.0) as i32;
        let major = (low..=high).rev().step_by(every as usize).map(|k| (10_f64.powi(k), power_of_ten(k)));
        Ticks { major: major.collect(), label: self.label.clone() }
    }

    fn steps(&self, length: f64, apart: f64) -> Ticks {
        let step = nice((self.high - self.low) / (length / apart).max(1.0));
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let size = self.low.abs().max(self.high.abs());
        // Numbers that agree in their first digits are written as differences from one of them.
        let offset =
            if self.high - self.low < OFFSET * size { ((first + last) / 2.0).round() * step } else { 0.0 };
        let size = if offset == 0.0 { size } else { self.high - self.low };
        let power = size.log10().floor() as i32;
        let power = if (-2..=3).contains(&power) { 0 } else { power };
        let unit = 10_f64.powi(power);
        let quarter = if is_quarter(step / unit) { 1.0 } else { 0.0 };
        let digits = (quarter - (step / unit * 1.000_001).log10().floor()).clamp(0.0, 9.0) as usize;
        let count = (last - first).clamp(-1.0, 50.0) as i64;
        let major = (0..=count).map(|i| {
            let value = (first + i as f64) * step;
            let shown = (value - offset) / unit;
            // Not −0, and a minus sign as long as a plus.
            let text = format!("{:.digits$}", if shown.abs() < 0.5 * step / unit { 0.0 } else { shown });
            (value, text.replace('-', "−"))
        });
        let mut label = self.label.clone();
        if offset != 0.0 {
            let sign = if offset > 0.0 { '−' } else { '+' };
            label = format!("{label} {sign} {}", short(offset.abs(), 8));
        }
        if power != 0 {
            label = format!("{label}  ({})", power_of_ten(power));
        }
        Ticks { major: major.collect(), label }
    }
}

/// The smallest and the largest of the values that can be drawn.
fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let drawn = values.into_iter().filter(|v| drawable(*v));
    drawn.fold(None, |range, v| {
        range.map_or(Some((v, v)), |(low, high): (f64, f64)| Some((low.min(v), high.max(v))))
    })
}

/// The next of 1, 2, 2.5 and 5 times a power of 10.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let part = step / power;
    let part = [1.0, 2.0, 2.5, 5.0].into_iter().find(|nice| part <= nice * 1.000_001).unwrap_or(10.0);
    part * power
}

fn is_quarter(step: f64) -> bool {
    let part = step / 10_f64.powf(step.log10().floor());
    (part - 2.5).abs() < 1e-6
}

/// A power of ten as people write it.
pub(crate) fn power_of_ten(power: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = power.unsigned_abs().to_string();
    let raised = digits.bytes().map(|digit| RAISED[usize::from(digit - b'0')]);
    format!("10{}{}", if power < 0 { "⁻" } else { "" }, raised.collect::<String>())
}

/// A number in a few digits.
pub(crate) fn short(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let split = text.split_once('e').and_then(|(part, power)| Some((part, power.parse::<i32>().ok()?)));
    let Some((part, power)) = split else { unreachable!("{text} has an exponent") };
    let trimmed = |text: &str| {
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        text.replace('-', "−")
    };
    if (-4..=5).contains(&power) {
        let decimals = (digits as i32 - 1 - power).clamp(0, 15) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    match trimmed(part).as_str() {
        "1" => power_of_ten(power),
        part => format!("{part}·{}", power_of_ten(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, nice, power_of_ten, short};

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks(300.0, 60.0).major.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_of_the_range() {
        let axis = Axis::linear("x", [-1.3, 2.2], 0.0);
        assert_eq!(labels(&axis), ["−1", "0", "1", "2"]);
        assert_eq!(labels(&Axis::linear("x", [0.0, 1.0], 0.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::linear("x", [-30.0, 80.0], 0.0)), ["−25", "0", "25", "50", "75"]);
        let big = Axis::linear("x", [0.0, 2e5], 0.0).ticks(300.0, 60.0);
        assert_eq!(big.label, "x  (10⁵)");
        assert_eq!(big.major[1], (5e4, "0.5".to_owned()));
    }

    #[test]
    fn close_numbers_are_told_by_their_differences() {
        let ticks = Axis::linear("E", [5.0, 5.000_000_4], 0.0).ticks(300.0, 60.0);
        assert!(ticks.label.starts_with("E − 5.0000002"), "{}", ticks.label);
        assert!(ticks.label.ends_with("(10⁻⁷)"), "{}", ticks.label);
        assert!(ticks.major.iter().all(|(_, label)| label.chars().count() <= 4), "{ticks:?}");
    }

    #[test]
    fn constant_and_huge_and_missing_values_have_ranges() {
        for values in [
            vec![],
            vec![3.0],
            vec![0.0; 5],
            vec![-1e300, 1e300],
            vec![f64::NAN, f64::INFINITY],
            vec![1e-300],
        ] {
            let axis = Axis::linear("x", values.clone(), 0.05);
            assert!(axis.low < axis.high && (axis.high - axis.low).is_finite(), "{values:?}: {axis:?}");
            let ticks = axis.ticks(300.0, 60.0);
            assert!(!ticks.major.is_empty() && ticks.major.len() < 10, "{values:?}: {ticks:?}");
            for (value, label) in &ticks.major {
                assert!((-1e-9..=1.0 + 1e-9).contains(&axis.place(*value)), "{values:?}: {value}");
                assert!(label.chars().count() < 8, "{values:?}: {label}");
            }
        }
    }

    #[test]
    fn logarithmic_axes_span_whole_decades_and_take_zero_to_the_edge() {
        let axis = Axis::log("e", [0.0, 3e-15, 2e-12]).expect("values above 0");
        let powers = [axis.low, axis.high].map(|v| v.log10().round());
        assert_eq!(powers, [-15.0, -11.0]);
        assert_eq!((axis.place(0.0), axis.place(1e-11)), (0.0, 1.0));
        assert!((axis.place(1e-13) - 0.5).abs() < 1e-12);
        assert!(Axis::log("e", [0.0, 0.0]).is_none());
        let deep = Axis::log("e", [1e-300, 1.0]).expect("values above 0");
        assert!((deep.low.log10() + 10.0).abs() < 1e-9);
        assert!(labels(&deep).len() <= 6, "{:?}", labels(&deep));
        let tiny = Axis::log("e", [1e-320]).expect("a value above 0");
        assert!(tiny.place(1e-320).is_finite());
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.5, 1e-9, -2.5e7, 123_456.0, 0.001, 1e5, 1.0 / 3.0].map(|v| short(v, 3));
        assert_eq!(texts, ["0.5", "10⁻⁹", "−2.5·10⁷", "123456", "0.001", "100000", "0.333"]);
        assert_eq!((power_of_ten(-12).as_str(), nice(0.3), nice(2.2)), ("10⁻¹²", 0.5, 2.5));
    }
}
