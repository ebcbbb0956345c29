//! What follows from least squares: the covariance of unknowns, which of them are undetermined, and what is doubtful.

use crate::fitted::{Fit, FittedChannel};
use crate::levenberg::{Limits, scales};
use crate::misfit::Horizon;
use leastaction_integrate::{number, rounded};
use leastaction_linear::singular_values;
use std::fmt;

/// A direction of scaled unknowns is undetermined if residuals change by less than this part of what they do along the best one; derivatives by differences are less exact.
const UNDETERMINED: f64 = 1e-7;
const UNDETERMINED_BY_DIFFERENCES: f64 = 3e-4;

/// What of a direction counts.
const PART: f64 = 1e-3;

/// Residuals are those of another motion if they are more than this part of the spread of what was measured.
const UNEXPLAINED: f64 = 0.3;
/// They are not white if the correlation of neighbours exceeds this, and this number of its standard deviations, unless they are smaller than the errors of runs.
const WHITE: f64 = 0.25;
const WHITE_DEVIATIONS: f64 = 4.0;
const EXACT: f64 = 1e-6;
/// A sigma that was given is too small if residuals are larger than it by this.
const LARGER: f64 = 1.5;
const SMALL: f64 = 0.5;
/// A residual of this number of standard deviations is not noise.
const OUTSIDE: f64 = 6.0;
/// Estimates that go together as much as this are one number.
const TOGETHER: f64 = 0.995;

/// The normal equations at the least squares.
pub(crate) struct Normal {
    count: usize,
    /// By rows; that of what is held, or undetermined, is as if it were known.
    pub(crate) covariance: Vec<f64>,
    /// How many numbers are used up by unknowns.
    pub(crate) rank: usize,
    /// Directions of unknowns along which no residual changes.
    pub(crate) undetermined: Vec<Vec<f64>>,
    /// How much residuals change by each unknown; 1 where they do not.
    scales: Vec<f64>,
    /// Which unknowns stand at a limit.
    pub(crate) at_limit: Vec<bool>,
}

impl Normal {
    /// Of rows \[J r\] at x.
    pub(crate) fn new(rows: &[f64], x: &[f64], limits: &Limits, by_differences: bool) -> Normal {
        let (count, width) = (x.len(), x.len() + 1);
        let at_limit: Vec<bool> = (0..count)
            .map(|j| limits.low[j] < limits.high[j] && (x[j] <= limits.low[j] || x[j] >= limits.high[j]))
            .collect();
        let free: Vec<usize> =
            (0..count).filter(|&j| !at_limit[j] && limits.low[j] < limits.high[j]).collect();
        let lengths = scales(rows, x);
        let scales: Vec<f64> = free.iter().map(|&j| lengths[j]).collect();
        let unit = |scale: f64| if scale > 0.0 { scale } else { 1.0 };
        let scaled: Vec<f64> = rows
            .chunks_exact(width)
            .flat_map(|row| {
                free.iter().zip(&scales).map(|(&j, scale)| if *scale > 0.0 { row[j] / scale } else { 0.0 })
            })
            .collect();
        let mut all_scales = vec![1.0; count];
        free.iter().zip(&scales).for_each(|(&j, scale)| all_scales[j] = unit(*scale));
        let covariance = vec![0.0; count * count];
        let mut normal =
            Normal { count, covariance, rank: 0, undetermined: Vec::new(), scales: all_scales, at_limit };
        let Some(parts) = singular_values(&scaled, free.len()) else { return normal };
        let least = if by_differences { UNDETERMINED_BY_DIFFERENCES } else { UNDETERMINED };
        let largest = parts.values.first().copied().unwrap_or(0.0);
        for (k, sigma) in parts.values.iter().enumerate() {
            let right = &parts.right[k * free.len()..][..free.len()];
            let mut direction = vec![0.0; count];
            free.iter()
                .zip(right.iter().zip(&scales))
                .for_each(|(&j, (v, scale))| direction[j] = v / unit(*scale));
            if *sigma <= least * largest {
                normal.undetermined.push(direction);
                continue;
            }
            normal.rank += 1;
            for i in 0..count {
                for j in 0..count {
                    normal.covariance[i * count + j] += direction[i] * direction[j] / (sigma * sigma);
                }
            }
        }
        normal
    }

    /// Whether the data determine an unknown.
    pub(crate) fn tells(&self, i: usize) -> bool {
        let is_part = |direction: &Vec<f64>| (direction[i] * self.scales[i]).abs() > PART;
        !self.at_limit[i] && !self.undetermined.iter().any(is_part)
    }

    /// The variance of a weighted sum of the unknowns of a recording.
    fn variance(&self, slopes: &[f64], places: &[usize]) -> f64 {
        let mut sum = 0.0;
        for (a, &i) in slopes.iter().zip(places) {
            let row: f64 =
                slopes.iter().zip(places).map(|(b, &j)| b * self.covariance[i * self.count + j]).sum();
            sum += a * row;
        }
        sum
    }

    /// How much of each measured number is used up by unknowns: its leverage, of each recording.
    pub(crate) fn used(&self, horizon: &Horizon<'_, '_, '_>) -> Vec<Vec<f64>> {
        let (k, s) = (horizon.shooting.free.len(), horizon.shooting.starting.len());
        let of = |(target, slopes): (usize, &Vec<f64>)| {
            let places: Vec<usize> = (0..k).chain(k + target * s..k + (target + 1) * s).collect();
            let rows = horizon.shooting.targets[target].rows.iter().zip(slopes.chunks_exact((k + s).max(1)));
            let one = |(row, slopes): (&crate::shooting::Row, &[f64])| {
                let noise = horizon.noise_of(row);
                (self.variance(slopes, &places) / (noise * noise)).min(1.0)
            };
            rows.map(one).collect()
        };
        horizon.slopes.iter().enumerate().map(of).collect()
    }
}

/// Unknowns that these data do not tell apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Undetermined {
    /// Which.
    pub names: Vec<String>,
    /// By which parts of themselves they can be changed together without a change of what is measured; empty if there is more than one way.
    pub together: Vec<f64>,
    /// The formula of them that the data do determine, if there is one.
    pub combination: Option<String>,
}

impl Undetermined {
    /// Of directions of unknowns, which have names and values. Those of starts count as they are, those of parameters by their values.
    pub(crate) fn new(
        directions: &[Vec<f64>],
        names: &[String],
        x: &[f64],
        parameters: usize,
    ) -> Option<Undetermined> {
        let relative = |direction: &Vec<f64>| -> Vec<f64> {
            let of = |(i, d): (usize, &f64)| if i < parameters && x[i] != 0.0 { d / x[i].abs() } else { *d };
            let list: Vec<f64> = direction.iter().enumerate().map(of).collect();
            let largest = list.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            list.iter().map(|d| if largest > 0.0 { d / largest } else { 0.0 }).collect()
        };
        let all: Vec<Vec<f64>> = directions.iter().map(relative).collect();
        let counts = |i: usize| all.iter().any(|direction| direction[i].abs() > PART);
        let places: Vec<usize> = (0..x.len()).filter(|&i| counts(i)).collect();
        if places.is_empty() {
            return None;
        }
        let named: Vec<String> = places.iter().map(|&i| names[i].clone()).collect();
        let [only] = &all[..] else {
            return Some(Undetermined { names: named, together: Vec::new(), combination: None });
        };
        let together: Vec<f64> = places.iter().map(|&i| only[i]).collect();
        let plain = places.iter().all(|&i| i < parameters && x[i] != 0.0);
        let combination = if plain { combination(&named, &together) } else { None };
        Some(Undetermined { names: named, together, combination })
    }
}

/// The formula that keeps its value when parameters change together by these parts of themselves.
fn combination(names: &[String], parts: &[f64]) -> Option<String> {
    let alike = |a: f64, b: f64| (a - b).abs() < 0.01 * b.abs();
    match (names, parts) {
        ([one, other], [a, b]) => {
            // one^1 · other^power stays.
            let power = -a / b;
            let whole = |power: f64| (1..=4).find(|n| alike(power.abs(), f64::from(*n)));
            let (base, by, power) = match (whole(power), whole(1.0 / power)) {
                (Some(n), _) => (one, other, f64::from(n).copysign(power)),
                (None, Some(n)) => (other, one, f64::from(n).copysign(power)),
                (None, None) => (one, other, power),
            };
            let sign = if power < 0.0 { "/" } else { "*" };
            let power = power.abs();
            let raised = if power == 1.0 { String::new() } else { format!("^{}", rounded(power, 3)) };
            Some(format!("{base}{sign}{by}{raised}"))
        }
        (_, [first, rest @ ..]) if !rest.is_empty() && rest.iter().all(|part| alike(*part, *first)) => {
            let list: Vec<String> = names[1..].iter().map(|name| format!("{name}/{}", names[0])).collect();
            Some(list.join(", "))
        }
        _ => None,
    }
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        };
        match (&self.names[..], &self.combination) {
            ([one], _) => {
                write!(f, "{one} changes nothing that was measured: hold it, or measure what depends on it")
            }
            (names, Some(combination)) => {
                write!(
                    f,
                    "the data determine only {combination}, not {}: hold one of them, or measure more",
                    list(names)
                )
            }
            (names, None) if self.together.is_empty() => {
                write!(f, "the data do not determine {}: hold some of them, or measure more", list(names))
            }
            (names, None) => {
                let percent = |part: &f64| format!("{} %", rounded(part * 100.0, 3));
                let parts: Vec<String> = names
                    .iter()
                    .zip(&self.together)
                    .map(|(name, part)| format!("{name} by {}", percent(part)))
                    .collect();
                write!(
                    f,
                    "the data do not determine {}: what is measured stays the same when they change together ({}); hold one of them, or measure more",
                    list(names),
                    parts.join(", ")
                )
            }
        }
    }
}

/// What is doubtful about a fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The model does not explain what was measured.
    Unexplained {
        /// Which channels, with residuals as parts of the spread of their values.
        channels: Vec<(String, f64)>,
    },
    /// Residuals follow a pattern.
    Pattern {
        /// Of which channel.
        what: String,
        /// The correlation of neighbours.
        correlation: f64,
    },
    /// Residuals are larger than the noise that was given.
    Noise {
        /// Of which channel.
        what: String,
        /// How many times as large.
        ratio: f64,
    },
    /// An estimate ended at a limit.
    Limit {
        /// Which.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Single values are far off.
    Outliers {
        /// Of which channel.
        what: String,
        /// How many.
        count: usize,
        /// The time of the first.
        t: f64,
    },
    /// Two estimates are nearly one number.
    Together {
        /// One of them.
        one: String,
        /// The other.
        other: String,
        /// Their correlation.
        correlation: f64,
    },
    /// It was not found where nothing near is better.
    Unfinished {
        /// After this number of iterations.
        iterations: usize,
    },
}

impl Doubt {
    /// Whether the estimates mean nothing.
    #[must_use]
    pub fn is_grave(&self) -> bool {
        matches!(self, Doubt::Unexplained { .. })
    }

    /// A word for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Doubt::Unexplained { .. } => "unexplained",
            Doubt::Pattern { .. } => "pattern",
            Doubt::Noise { .. } => "noise",
            Doubt::Limit { .. } => "limit",
            Doubt::Outliers { .. } => "outliers",
            Doubt::Together { .. } => "together",
            Doubt::Unfinished { .. } => "unfinished",
        }
    }

    /// Everything that is doubtful.
    pub(crate) fn all(fit: &Fit, converged: bool) -> Vec<Doubt> {
        let mut all = Vec::new();
        let is_far = |channel: &&FittedChannel| channel.relative > UNEXPLAINED && channel.rows > 1;
        let far: Vec<(String, f64)> = fit
            .channels
            .iter()
            .filter(is_far)
            .map(|channel| (channel.what.clone(), channel.relative))
            .collect();
        let explained = far.is_empty();
        if !explained {
            all.push(Doubt::Unexplained { channels: far });
        }
        for channel in fit.channels.iter().filter(|_| explained) {
            let what = || channel.what.clone();
            let deviation = 1.0 / (channel.rows.max(1) as f64).sqrt();
            let limit = WHITE.max(WHITE_DEVIATIONS * deviation);
            // Residuals that are small compared with a known noise need not be white.
            let is_noise = channel.given && channel.ratio < SMALL;
            if channel.correlation.abs() > limit && channel.relative > EXACT && !is_noise {
                all.push(Doubt::Pattern { what: what(), correlation: channel.correlation });
            }
            if channel.given && channel.ratio > LARGER.max(1.0 + WHITE_DEVIATIONS * deviation) {
                all.push(Doubt::Noise { what: what(), ratio: channel.ratio });
            }
            if let Some(t) = channel.outlier_at.filter(|_| channel.relative > EXACT) {
                all.push(Doubt::Outliers { what: what(), count: channel.outliers, t });
            }
        }
        for estimate in fit.estimates.iter().filter(|estimate| estimate.at_limit) {
            all.push(Doubt::Limit { name: estimate.name.clone(), value: estimate.value });
        }
        let parameters: Vec<usize> =
            (0..fit.estimates.len()).filter(|&i| fit.estimates[i].recording.is_none()).collect();
        for (nth, &i) in parameters.iter().enumerate() {
            for &j in &parameters[..nth] {
                let correlation = fit.correlation(i, j).unwrap_or(0.0);
                if correlation.abs() > TOGETHER && fit.undetermined.is_none() && explained {
                    let (one, other) = (fit.estimates[j].name.clone(), fit.estimates[i].name.clone());
                    all.push(Doubt::Together { one, other, correlation });
                }
            }
        }
        if !converged && explained {
            all.push(Doubt::Unfinished { iterations: fit.iterations });
        }
        all
    }

    /// From how many standard deviations on a residual is no noise.
    pub(crate) const OUTSIDE: f64 = OUTSIDE;
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Unexplained { channels } => {
                let list: Vec<String> = channels
                    .iter()
                    .map(|(what, part)| {
                        format!("{what} is off by {} % of its spread", rounded(part * 100.0, 3))
                    })
                    .collect();
                write!(f, "the model does not explain the data: {}", list.join(", "))
            }
            Doubt::Pattern { what, correlation } => write!(
                f,
                "residuals of {what} follow a pattern (neighbours correlate by {}): something is not in the model, and errors are larger than they are given",
                rounded(*correlation, 2)
            ),
            Doubt::Noise { what, ratio } => {
                write!(f, "residuals of {what} are {} times as large as its sigma says", rounded(*ratio, 2))
            }
            Doubt::Limit { name, value } => write!(
                f,
                "{name} ended at its limit {}: the data ask for more; give it other limits, as in {name}=LOW..HIGH",
                number(value)
            ),
            Doubt::Outliers { what, count, t } => write!(
                f,
                "{count} value{} of {what} {} more than {OUTSIDE} standard deviations off, the first at t = {}: leave out what was measured wrongly",
                if *count == 1 { "" } else { "s" },
                if *count == 1 { "is" } else { "are" },
                number(t)
            ),
            Doubt::Together { one, other, correlation } => write!(
                f,
                "{one} and {other} are told together more than apart (they correlate by {})",
                rounded(*correlation, 4)
            ),
            Doubt::Unfinished { iterations } => {
                write!(f, "nothing near may be better, but {iterations} iterations were not enough to say so")
            }
        }
    }
}

/// What would explain data that the model does not explain.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// Another unit of what was measured.
    Unit {
        /// Which channels.
        channels: Vec<String>,
        /// What the values have to be multiplied by.
        factor: f64,
        /// What that would mean.
        meaning: &'static str,
    },
    /// Another unit of time.
    Time {
        /// What times have to be multiplied by.
        factor: f64,
        /// What that would mean.
        meaning: &'static str,
    },
    /// Values of a channel are later than they should be.
    Late {
        /// Which channel.
        what: String,
        /// By how much; what comes before its time is late by less than nothing.
        by: f64,
    },
    /// All times are shifted.
    Shifted {
        /// By how much.
        by: f64,
    },
}

impl Hint {
    /// A word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Hint::Unit { .. } => "unit",
            Hint::Time { .. } => "time",
            Hint::Late { .. } => "late",
            Hint::Shifted { .. } => "shifted",
        }
    }

    /// Its factor, or by how much times are off.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Hint::Unit { factor, .. } | Hint::Time { factor, .. } => *factor,
            Hint::Late { by, .. } | Hint::Shifted { by } => *by,
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Unit { channels, factor, meaning } => write!(
                f,
                "{} would fit if multiplied by {}: {meaning}",
                channels.join(" and "),
                rounded(*factor, 6)
            ),
            Hint::Time { factor, meaning } => {
                write!(f, "the data would fit if times were multiplied by {}: {meaning}", rounded(*factor, 6))
            }
            Hint::Late { what, by } => write!(
                f,
                "values of {what} look {} by {}: was it measured by another clock?",
                if *by > 0.0 { "late" } else { "early" },
                rounded(by.abs(), 3)
            ),
            Hint::Shifted { by } => {
                write!(f, "the data would fit if {} were added to all times", rounded(*by, 3))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Undetermined;

    fn said(directions: &[&[f64]], names: &[&str], x: &[f64]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let directions: Vec<Vec<f64>> = directions.iter().map(|direction| direction.to_vec()).collect();
        Undetermined::new(&directions, &names, x, names.len()).unwrap().to_string()
    }

    #[test]
    fn what_is_determined_of_parameters_is_a_formula() {
        // m l² stays: dm/m = −2 dl/l.
        assert!(said(&[&[2.0, -3.0]], &["m", "l"], &[1.0, 3.0]).contains("only m*l^2, not"));
        assert!(said(&[&[-1.0, 4.0]], &["l", "m"], &[1.0, 2.0]).contains("only m*l^2, not"));
        assert!(said(&[&[2.0, 3.0]], &["k", "m"], &[2.0, 3.0]).contains("only k/m, not"));
        assert!(
            said(&[&[2.0, 3.0, 0.0, 4.0]], &["k", "m", "l", "c"], &[2.0, 3.0, 1.0, 4.0])
                .contains("only m/k, c/k, not")
        );
        assert!(said(&[&[0.0, 1.0]], &["k", "m"], &[2.0, 3.0]).starts_with("m changes nothing"));
        let several = said(&[&[1.0, 2.0, 0.0], &[0.0, 1.0, 3.0]], &["a", "b", "c"], &[1.0, 1.0, 1.0]);
        assert_eq!(several, "the data do not determine a, b and c: hold some of them, or measure more");
    }
}
