//! A system, how it starts, and how it is integrated: what every command that runs something asks for.

use super::Failure;
use super::source::open;
use super::sweep;
use clap::Args;
use leastaction::simulate::{AskedEvent, Overrides, Source};
use leastaction::{Expr, Graph, Integrator};

/// The options that say what there is, and where it begins.
#[derive(Args)]
pub(super) struct What {
    /// A system of the catalog (see `leastaction list`), a .motion file, or `-` for standard input
    pub(super) system: String,
    /// Set a parameter, or fix an input at a value; `run` sweeps several values, A=1,2,3 or A=0..1:11
    #[arg(long, value_name = "NAME=VALUE", value_parser = several, allow_hyphen_values = true)]
    set: Vec<(String, Vec<f64>)>,
    /// Set a coordinate, a velocity (`x'`) or a momentum (`p_x`) of the initial condition
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    start: Vec<(String, f64)>,
    /// Build the system with this number of pieces, if the catalog allows it
    #[arg(long, value_name = "N")]
    size: Option<usize>,
}

/// The options that say what runs, from where to when.
#[derive(Args)]
pub(super) struct Beginning {
    #[command(flatten)]
    pub(super) what: What,
    /// Run until this time; a negative time runs backwards
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) until: Option<f64>,
    /// Allow at most this number of steps
    #[arg(long, value_name = "N", default_value_t = Integrator::STEP_LIMIT)]
    pub(super) max_steps: u64,
}

/// An initial condition that is sampled at random.
#[derive(Args)]
pub(super) struct Seed {
    /// Sample the initial condition at random, if the catalog says how; the same number gives the same start
    #[arg(long, value_name = "N", conflicts_with = "start")]
    pub(super) seed: Option<u64>,
}

/// All options.
#[derive(Args)]
pub(super) struct Setting {
    #[command(flatten)]
    pub(super) beginning: Beginning,
    /// Integrate with this method (see `leastaction methods`) [default: chosen for the system]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Use steps of this size
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<f64>,
    /// Choose step sizes so that the error of a step is below this relative tolerance
    #[arg(long, value_name = "TOL", conflicts_with = "step")]
    tol: Option<f64>,
    /// Add this absolute tolerance, in the units of coordinates and momenta [default: from their own sizes]
    #[arg(long, value_name = "ATOL", conflicts_with = "step")]
    atol: Option<f64>,
    /// Take no steps longer than this, so that the run notices what happens in shorter times
    #[arg(long, value_name = "H", conflicts_with = "step")]
    max_step: Option<f64>,
}

/// What stands between commas that are not inside brackets.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut parts, mut begin) = (0_usize, Vec::new(), 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[begin..i].trim());
                begin = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[begin..].trim());
    parts
}

/// Reads `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as m1=2")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("there is no name before `=`".to_owned());
    }
    // Numbers, and expressions of them such as `pi/4`.
    let number = value.parse().ok().or_else(|| Graph::new().parse(value).ok().and_then(Expr::as_number));
    match number {
        Some(number) if f64::is_finite(number) => Ok((name.to_owned(), number)),
        Some(number) => Err(format!("`{name}` cannot be {number}: numbers are finite")),
        None => Err(format!("`{value}` is not a number")),
    }
}

/// Reads `NAME=VALUE`, `NAME=VALUE,VALUE,…` or `NAME=LOW..HIGH:COUNT`.
fn several(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, values) = text.split_once('=').ok_or("write NAME=VALUE, such as m1=2")?;
    let name = name.trim();
    if name.is_empty() {
        return Err("there is no name before `=`".to_owned());
    }
    Ok((name.to_owned(), sweep::values(name, values)?))
}

impl What {
    /// The text that says what there is, for one value of each parameter.
    pub(super) fn source(&self) -> Result<Source, Failure> {
        match self.swept()? {
            None => self.any_source(),
            Some((name, _)) => Err(Failure::usage(format!(
                "`{name}` has several values, which only `leastaction run` sweeps: give one, or sample it by `leastaction ensemble`"
            ))),
        }
    }

    /// The text that says what there is, whatever is swept.
    pub(super) fn any_source(&self) -> Result<Source, Failure> {
        open(&self.system, self.size)
    }

    /// What has several values.
    pub(super) fn swept(&self) -> Result<Option<(&str, &[f64])>, Failure> {
        let mut swept = self.set.iter().filter(|(_, values)| values.len() > 1);
        match (swept.next(), swept.next()) {
            (Some((one, _)), Some((other, _))) => Err(Failure::usage(format!(
                "`{one}` and `{other}` have several values: a sweep has one of them; sample both by `leastaction ensemble`"
            ))),
            (one, _) => Ok(one.map(|(name, values)| (name.as_str(), values.as_slice()))),
        }
    }

    /// Whether a start value is given.
    pub(super) fn asks(&self, name: &str) -> bool {
        self.start.iter().any(|(asked, _)| asked == name)
    }

    /// Whether a parameter was given a value.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }

    /// The overrides of what the text says.
    pub(super) fn overrides(&self) -> Overrides {
        let parameters = self.set.iter().map(|(name, values)| (name.clone(), values[0])).collect();
        Overrides { parameters, start: self.start.clone(), ..Overrides::default() }
    }
}

impl Beginning {
    /// The overrides of what the text says.
    pub(super) fn overrides(&self, seed: Option<u64>) -> Overrides {
        Overrides { seed, until: self.until, max_steps: Some(self.max_steps), ..self.what.overrides() }
    }
}

impl Setting {
    /// The overrides of what the text says.
    pub(super) fn overrides(&self, seed: Option<u64>) -> Overrides {
        Overrides {
            method: self.method.clone(),
            step: self.step,
            tolerance: self.tol,
            absolute: self.atol,
            max_step: self.max_step,
            ..self.beginning.overrides(seed)
        }
    }
}

/// Reads `NAME=EXPR`.
pub(super) fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=EXPRESSION, such as flip=cos(th/2)")?;
    let (name, value) = (name.trim(), value.trim());
    let word = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
    if !word || value.is_empty() {
        return Err("write NAME=EXPRESSION, such as flip=cos(th/2)".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads an event: `NAME=EXPR`, which passes 0, or `NAME: LEFT = RIGHT` and `NAME=LEFT=RIGHT`, which become equal.
pub(super) fn event(text: &str) -> Result<(String, String), String> {
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) if !name.contains('=') => named(&format!("{name}={rest}"))?,
        _ => named(text)?,
    };
    match sides(&rest) {
        Some(("", _)) => Err(format!("the event has no name: write NAME: {}", text.trim())),
        Some((_, "")) => Err(format!("`{rest}` has nothing after `=`")),
        Some((left, right)) => Ok((name, format!("({left}) - ({right})"))),
        None => Ok((name, rest)),
    }
}

/// Both sides of `=` or `==`, which is no part of `<=`, `>=` or `!=`.
fn sides(text: &str) -> Option<(&str, &str)> {
    let is_part = |i: usize| text[..i].ends_with(['<', '>', '!']);
    let (i, _) = text.match_indices('=').find(|(i, _)| !is_part(*i))?;
    let right = text[i + 1..].strip_prefix('=').unwrap_or(&text[i + 1..]);
    Some((text[..i].trim(), right.trim()))
}

/// Reads `NAME=EXPR`, or an expression that is its own name.
pub(super) fn shown(text: &str) -> Result<(String, String), String> {
    let is_comparison = |value: &str| value.starts_with('=');
    match named(text) {
        Ok((name, value)) if !is_comparison(&value) => Ok((name, value)),
        _ if text.trim().is_empty() => Err("write an expression, or NAME=EXPRESSION".to_owned()),
        _ => Ok((text.trim().to_owned(), text.trim().to_owned())),
    }
}

/// Events, and those that end a run.
pub(super) fn asked_events(events: &[(String, String)], stops: &[(String, String)]) -> Vec<AskedEvent> {
    let going_on = events.iter().map(|event| (event, false));
    going_on
        .chain(stops.iter().map(|event| (event, true)))
        .map(|((name, expression), stop)| AskedEvent {
            name: name.clone(),
            expression: expression.clone(),
            stop,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn events_are_expressions_or_equations() {
        let read = |text: &str| event(text).map(|(name, value)| format!("{name}: {value}"));
        for (text, expected) in [
            ("a=th - 0.1", "a: th - 0.1"),
            ("a = max(x, y) <= 2", "a: max(x, y) <= 2"),
            ("a=th=0.1", "a: (th) - (0.1)"),
            ("a: th = 0.1", "a: (th) - (0.1)"),
            ("a: th == 0.1", "a: (th) - (0.1)"),
            ("a: th - 0.1", "a: th - 0.1"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(read("th == 0.1").unwrap_err(), "the event has no name: write NAME: th == 0.1");
        for wrong in ["", "a", "a=", "=x", "a b: x", "a: x =", ": x"] {
            assert!(event(wrong).is_err(), "{wrong}");
        }
    }
}
