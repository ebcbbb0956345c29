//! `leastaction fit`: parameters and starts of a model from measured trajectories.

mod json;
mod report;

use super::Failure;
use super::files::apart;
use super::pictures::plot_file;
use super::progress::Watcher;
use super::run::several;
use super::setting::Setting;
use super::source::unprepared;
use clap::Args;
use leastaction::fit::{
    Fit as Fitted, FitError, FittedChannel, Free, Measure, Plan, Progress, Reading, ReadingError, Recording,
    Restated, Sheet, SheetError, UnreadError, Watch, fit_watched, recordings,
};
use leastaction::output::{About, Format, check, check_apart, replace, write};
use leastaction::plot::{FittedCurve, FittedPlot};
use leastaction::simulate::{Overrides, Source};
use report::Besides;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(
    after_help = "The name of a column says what was measured: a coordinate (th), a velocity (th'), a point (bob.x), an output, or any expression of these;\n\
                  t or time is the time. Empty cells are gaps. A column sigma_th, or th_sigma, has the standard deviations of th. Each file has its own start, at its\n\
                  first time, which is fitted, too; --known th' takes it from the model, at t = 0. Data after --until are left out.\n\n\
                  A free parameter keeps its sign, unless limits are given for it.\n\n\
                  Exit codes: 0 success, 1 the model does not explain the data, or the data do not determine all that is free (the summary is printed all the same), 2 wrong usage, 130 interrupted.\n\n\
                  Examples:\n  \
                  leastaction fit swing.motion --data swing.csv --free l,c\n  \
                  leastaction fit swing.motion --data swing.csv --free l=0.1..3,c --column \"th=angle*pi/180\" --time clock/1000\n  \
                  leastaction fit swing.motion --data monday.csv --data tuesday.npz --known \"th'\" --plot fit.svg --write fitted.motion"
)]
pub(crate) struct Fit {
    #[command(flatten)]
    setting: Setting,
    /// Measured trajectories: a .csv with a line of names, or a .npz; may be repeated, with the same parameters for all
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// Fit these parameters, with limits if you give them: m,k=1..10 [default: all]
    #[arg(long, value_name = "NAME[=LOW..HIGH],…", value_delimiter = ',', allow_hyphen_values = true)]
    free: Vec<Free>,
    /// Take these numbers of the start from the model; `all` for the whole start [default: none]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    known: Vec<String>,
    /// An expression of the model is measured by a formula of columns, such as "th=angle*pi/180"; may be repeated
    #[arg(long, value_name = "EXPR=FORMULA", value_parser = measure, allow_hyphen_values = true)]
    column: Vec<Measure>,
    /// The standard deviation of what is measured: a number, or a formula of columns; may be repeated
    #[arg(long, value_name = "EXPR=FORMULA", value_parser = measure, allow_hyphen_values = true)]
    sigma: Vec<Measure>,
    /// The time, as a formula of columns [default: t, or time]
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    time: Option<String>,
    /// Leave out data before this time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    from: Option<f64>,
    /// Linearise the motion at most this number of times in each descent
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    iterations: u64,
    /// Do not look for other units and shifted times where the model does not explain the data
    #[arg(long)]
    no_hints: bool,
    /// Write data, fit and residuals to a file, by its ending: .csv, .npz, .parquet or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Plot data and fit to a file, as its ending says: .svg or .png (repeatable)
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
    /// Write the model with the fitted values to a file that ends in .motion
    #[arg(long, value_name = "FILE", value_parser = motion_file)]
    write: Option<PathBuf>,
    /// Print a summary for machines: one JSON document
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// Reads `EXPR=FORMULA`; the `=` may not belong to a comparison.
fn measure(text: &str) -> Result<Measure, String> {
    let wrong = || "write EXPRESSION=FORMULA, such as th=angle*pi/180".to_owned();
    let compares = |at: usize| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        after.starts_with('=') || before.ends_with(['=', '<', '>', '!'])
    };
    let at = text.match_indices('=').map(|(at, _)| at).find(|at| !compares(*at)).ok_or_else(wrong)?;
    let (what, formula) = (text[..at].trim(), text[at + 1..].trim());
    if what.is_empty() || formula.is_empty() {
        return Err(wrong());
    }
    Ok(Measure { what: what.to_owned(), formula: formula.to_owned() })
}

impl Fit {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        self.check_files()?;
        let source = self.setting.beginning.what.source()?;
        let overrides = self.setting.overrides(None);
        let until = overrides.until.unwrap_or(f64::INFINITY);
        let overrides = Overrides { until: None, ..overrides };
        let (recordings, unused) = self.recordings(&source, &overrides, until)?;
        let whole = self.known.iter().any(|name| name == "all");
        let plan = Plan {
            free: self.free.clone(),
            known: if whole { Vec::new() } else { self.known.clone() },
            known_start: whole,
            iterations: self.iterations as usize,
            hints: !self.no_hints,
        };
        let watcher = RefCell::new(Watcher::new(!self.quiet)?);
        let (before, interrupted) = (Instant::now(), watcher.borrow().interrupted());
        let progress = |progress: Progress| {
            // The fit itself looks whether it is interrupted.
            let _ = watcher.borrow_mut().tell(f64::NAN, || progress.to_string());
        };
        let watch = Watch { interrupted: &interrupted, progress: &progress };
        let fit = fit_watched(&source, &recordings, &plan, &overrides, &watch);
        let (wall, mut watcher) = (before.elapsed(), watcher.into_inner());
        watcher.finish();
        let fit = fit.map_err(|error| match &error {
            FitError::Prepare(error) => unprepared(&source, error),
            FitError::Interrupted => Failure::interrupted(watcher.interruption(), error),
            FitError::Run { .. } | FitError::Overflow | FitError::Stops { .. } | FitError::Eval(_) => {
                Failure::run(error)
            }
            error => Failure::usage(error),
        })?;
        let (written, mut errors) = self.keep(&fit, &source, &overrides);
        let text = match (self.quiet, self.json) {
            (true, _) => String::new(),
            (false, true) => json::json(&fit, &unused, wall),
            (false, false) => report::report(&fit, &Besides { wall, unused: &unused, written: &written }),
        };
        errors.splice(0..0, fit.faults());
        match errors.is_empty() {
            true => Ok(text),
            false => Err(Failure::run(several(&errors)).saying(text)),
        }
    }

    /// Refuses files that cannot be written, or are read, before anything is computed.
    fn check_files(&self) -> Result<(), Failure> {
        let read = &self.setting.beginning.what.system;
        let written = || self.out.iter().chain(&self.plot).chain(&self.write);
        apart(&written().cloned().collect::<Vec<_>>(), read)?;
        for path in written() {
            self.data.iter().try_for_each(|data| check_apart(path, data)).map_err(Failure::usage)?;
            check(path).map_err(Failure::usage)?;
        }
        self.out.iter().try_for_each(|path| Format::of(path).map(drop)).map_err(Failure::usage)
    }

    /// What was measured, and the columns that are not used.
    fn recordings(
        &self,
        source: &Source,
        overrides: &Overrides,
        until: f64,
    ) -> Result<(Vec<Recording>, Vec<String>), Failure> {
        let reading =
            Reading { time: self.time.clone(), measures: self.column.clone(), sigmas: self.sigma.clone() };
        let sheets = self.data.iter().map(|path| Sheet::read(path)).collect::<Result<Vec<_>, _>>();
        let sheets = sheets.map_err(|error| match error {
            SheetError::System { .. } => Failure::usage(error),
            error => Failure::run(error),
        })?;
        let span = [self.from.unwrap_or(f64::NEG_INFINITY), until];
        recordings(source, &sheets, &reading, overrides, span).map_err(|error| match &error {
            UnreadError::Fit(FitError::Prepare(error)) => unprepared(source, error),
            UnreadError::Fit(error) => Failure::usage(error),
            UnreadError::Reading(error) => {
                let option = match error {
                    ReadingError::NoTime { .. } => " (--time)",
                    ReadingError::Nothing { .. } => " (--column \"EXPR=COLUMN\")",
                    _ => "",
                };
                Failure::usage(format!("{error}{option}"))
            }
        })
    }

    /// Writes the requested files; says which were written, and what went wrong.
    fn keep(&self, fit: &Fitted, source: &Source, overrides: &Overrides) -> (Vec<String>, Vec<String>) {
        let (mut written, mut errors) = (Vec::new(), Vec::new());
        let mut note = |path: &Path, kept: Result<String, String>| match kept {
            Ok(more) => written.push(format!("{}{more}", path.display())),
            Err(error) => errors.push(error),
        };
        let about = About {
            system: fit.system.clone(),
            method: fit.method.clone(),
            parameters: fit.parameters.clone(),
            ended: "complete".to_owned(),
            warnings: fit.doubts.iter().map(ToString::to_string).collect(),
            ..About::default()
        };
        for path in &self.out {
            note(
                path,
                write(path, &fit.table(), &about).map(|()| String::new()).map_err(|error| error.to_string()),
            );
        }
        for path in &self.plot {
            note(path, picture(fit).save(path).map(|()| String::new()).map_err(|error| error.to_string()));
        }
        if let Some(path) = &self.write {
            note(path, write_model(path, fit, source, overrides));
        }
        (written, errors)
    }
}

/// What a fit found, for people, with the columns that were not used, and how long it took.
#[must_use]
pub fn summary(fit: &Fitted, unused: &[String], wall: Duration) -> String {
    report::report(fit, &Besides { wall, unused, written: &[] })
}

/// Reads the name of a model's file.
fn motion_file(name: &str) -> Result<PathBuf, String> {
    match Path::new(name).extension() {
        Some(end) if end == "motion" => Ok(PathBuf::from(name)),
        _ => Err("the name should end in .motion".to_owned()),
    }
}

/// Writes the model with fitted values. Gives what there is to say of it.
fn write_model(path: &Path, fit: &Fitted, source: &Source, asked: &Overrides) -> Result<String, String> {
    let restated = fit.restated(source, asked);
    let (text, start) = restated.map_err(|why| format!("`{}` is not written: {why}", path.display()))?;
    replace(path, |file| file.write_all(text.as_bytes())).map_err(|error| error.to_string())?;
    Ok(match start {
        Restated::Whole => String::new(),
        other => format!(", {other}"),
    })
}

/// Data and fit as a plot.
#[must_use]
pub fn picture(fit: &Fitted) -> FittedPlot {
    let curve = |(c, channel): (usize, &FittedChannel)| {
        let (mut data, mut line, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
        for recording in &fit.recordings {
            let gap = [f64::NAN, f64::NAN];
            let [measured, fitted] = &recording.channels[c];
            for ((t, x), y) in recording.times.iter().zip(measured).zip(fitted) {
                data.push([*t, *x]);
                residuals.push([*t, x - y]);
            }
            line.extend(recording.curve.0.iter().zip(&recording.curve.1[c]).map(|(t, x)| [*t, *x]));
            line.push(gap);
        }
        FittedCurve { name: channel.what.clone(), data, fit: line, residuals, sigma: channel.sigma }
    };
    let values = fit.estimates.iter().filter(|e| e.recording.is_none());
    let values: Vec<String> = values.map(|e| format!("{} = {}", e.name, report::with_error(e))).collect();
    FittedPlot {
        title: fit.system.clone(),
        subtitle: values.join(", "),
        curves: fit.channels.iter().enumerate().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn measures_are_split_at_a_sign_that_compares_nothing() {
        let read = |text: &str| measure(text).map(|m| (m.what, m.formula)).ok();
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(read("th = angle*pi/180"), pair("th", "angle*pi/180"));
        assert_eq!(read("select(x >= 1, y, 0)=a"), pair("select(x >= 1, y, 0)", "a"));
        for wrong in ["th", "=x", "th=", "x == y", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
