//! Samples of a run, and the files they are written to.

use super::Failure;
use clap::Args;
use leastaction::language::Plan;
use leastaction::output::{About, Format, Record, check, write};
use leastaction::{Integrator, Pace};
use std::path::{Path, PathBuf};

/// Samples are about so many unless something else is asked for, so that taking them costs little.
pub(super) const SAMPLES: u64 = 1000;

/// The options.
#[derive(Args)]
pub(super) struct Files {
    /// Take a sample every so much time [default: about 1000 samples, more for pictures]
    #[arg(long, value_name = "DT", allow_hyphen_values = true, conflicts_with = "samples")]
    every: Option<f64>,
    /// Take so many samples, besides the start
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Write the samples to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
}

impl Files {
    /// Whether any file is asked for.
    pub(super) fn are_wanted(&self) -> bool {
        !self.out.is_empty()
    }

    /// Refuses files that cannot be written before anything is computed.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let all = self.out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path)));
        all.map_err(Failure::usage)
    }

    /// The integrator with the samples that are asked for, here or by the model; or else as many as pictures need.
    pub(super) fn sampled(
        &self,
        integrator: Integrator,
        plan: &Plan,
        between: (f64, f64),
        pictured: Option<u64>,
    ) -> Result<Integrator, Failure> {
        sampled((self.every, self.samples), integrator, plan, between, pictured.unwrap_or(SAMPLES))
    }

    /// Writes all files that can be written: which were, and what went wrong.
    pub(super) fn write(&self, record: &Record, about: &About) -> (Option<String>, Vec<String>) {
        let (mut names, mut errors) = (Vec::new(), Vec::new());
        for path in &self.out {
            match write(path, record, about) {
                Ok(()) => names.push(format!("{}{}", path.display(), lost(path, record))),
                Err(error) => errors.push(error.to_string()),
            }
        }
        let written = format!("{} ({} samples)", names.join(", "), record.len());
        ((!names.is_empty()).then_some(written), errors)
    }
}

/// The integrator with samples every so much time, or with so many; or those that the model asks for, or the usual number.
pub(super) fn sampled(
    asked: (Option<f64>, Option<u64>),
    integrator: Integrator,
    plan: &Plan,
    (start, until): (f64, f64),
    usual: u64,
) -> Result<Integrator, Failure> {
    if until == start {
        return Ok(integrator.ends_only());
    }
    let asked = match asked {
        (None, None) => (plan.every, plan.samples),
        asked => asked,
    };
    let steps = integrator.steps_between(start, until).map_err(Failure::usage)?;
    let (span, count) = ((until - start).abs(), |samples: u64| samples as f64);
    let spacing = match (asked, steps) {
        ((Some(every), _), _) if every > 0.0 && every.is_finite() => every,
        ((Some(every), _), _) => {
            let error = format!("samples every {every}: the time between them must be finite and above 0");
            return Err(Failure::usage(error));
        }
        ((None, Some(samples)), _) => span / count(samples),
        ((None, None), Some(steps)) => return Ok(integrator.every(steps / usual)),
        ((None, None), None) => span / count(usual),
    };
    // Samples at the ends of steps are the method's own; those between come from a polynomial.
    if let Pace::Step(step) = integrator.pace() {
        let whole = (spacing / step.abs()).round();
        if whole > 0.0 && (whole * step.abs() - spacing).abs() <= 4.0 * f64::EPSILON * spacing {
            return Ok(integrator.every(whole as u64));
        }
    }
    Ok(integrator.spaced(spacing))
}

/// What a format cannot say.
fn lost(path: &Path, record: &Record) -> String {
    match (Format::of(path), record.not_finite()) {
        (Ok(format), count @ 1..) if format.ending == "json" => {
            format!(" ({count} numbers that are not finite are null)")
        }
        _ => String::new(),
    }
}
