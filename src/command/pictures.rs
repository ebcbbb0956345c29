//! Pictures of a run: the options, and what is made of them.

use clap::Args;
use leastaction::integrate::number;
use leastaction::language::Drawing;
use leastaction::output::Record;
use leastaction::plot::{Animation, Energy, Plot, ffmpeg};
use leastaction::{Card, Pace};
use std::path::{Path, PathBuf};

/// A plot looks smooth with so many samples.
const SAMPLES: u64 = 4000;

/// The options.
#[derive(Args)]
pub(super) struct Pictures {
    /// Plot the run to a file, as its ending says: .svg or .png (repeatable)
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
    /// Animate the run in a file, as its ending says: .gif, or .mp4 if ffmpeg is installed (repeatable)
    #[arg(long, value_name = "FILE", value_parser = film_file)]
    animate: Vec<PathBuf>,
}

/// What pictures show.
pub(super) struct Shown<'a> {
    /// The system, by name.
    pub(super) system: &'a str,
    pub(super) method: &'a Card,
    pub(super) pace: &'a Pace,
    pub(super) drawing: &'a Drawing,
    pub(super) record: &'a Record,
    /// The largest relative error of the energy, if it should stay as it is.
    pub(super) energy_drift: Option<f64>,
}

fn plot_file(name: &str) -> Result<PathBuf, String> {
    ending(name, &["svg", "png"])
}

fn film_file(name: &str) -> Result<PathBuf, String> {
    let file = ending(name, &["gif", "mp4"])?;
    let video = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("mp4"));
    if video && ffmpeg(&std::env::var_os("PATH").unwrap_or_default()).is_none() {
        return Err(
            "an .mp4 needs the program `ffmpeg`, which was not found: install it, or write a .gif".to_owned()
        );
    }
    Ok(file)
}

/// Accepts a file's name with one of these endings.
fn ending(name: &str, endings: &[&str]) -> Result<PathBuf, String> {
    let path = Path::new(name);
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match end {
        Some(end) if endings.contains(&end.as_str()) => Ok(path.to_owned()),
        _ => Err(format!("the name should end in .{}", endings.join(" or ."))),
    }
}

/// Errors of the energy are relative to what the summary's are.
fn conserved(record: &Record, drift: f64) -> Energy {
    let first = record.energy.first().copied().unwrap_or(0.0);
    let change = record.energy.iter().map(|e| (e - first).abs()).fold(0.0, f64::max);
    let scale = if drift > 0.0 { change / drift } else { first.abs() };
    Energy::Conserved { scale: if scale > 0.0 { scale } else { 1.0 } }
}

impl Pictures {
    /// How many samples there should be at least, if there are pictures.
    pub(super) fn samples(&self) -> Option<u64> {
        match (self.plot.is_empty(), self.animate.is_empty()) {
            (true, true) => None,
            (_, true) => Some(SAMPLES),
            _ => Some(SAMPLES.max(Animation::SAMPLES)),
        }
    }

    /// Makes all pictures that can be made: which were, and what went wrong.
    pub(super) fn write(&self, shown: &Shown<'_>) -> (Option<String>, Vec<String>) {
        let (mut written, mut errors) = (Vec::new(), Vec::new());
        let Shown { system, record, drawing, .. } = *shown;
        let pace = match shown.pace {
            Pace::Step(step) => format!("step {}", number(step)),
            other => other.to_string(),
        };
        let span = [record.times.first(), record.times.last()].map(|t| number(t.unwrap_or(&0.0)));
        let subtitle = format!(
            "{}, {pace}, t = {} to {}, {} samples",
            shown.method.name,
            span[0],
            span[1],
            record.len()
        );
        let energy = shown.energy_drift.map_or(Energy::Changing, |drift| conserved(record, drift));
        for path in &self.plot {
            let plot = Plot { record, drawing, title: system, subtitle: &subtitle, energy };
            match plot.save(path) {
                Ok(()) => written.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        for path in &self.animate {
            match (Animation { record, drawing, title: system }).save(path) {
                Ok(tempo) => written.push(format!("{} ({tempo})", path.display())),
                Err(error) => errors.push(error.to_string()),
            }
        }
        ((!written.is_empty()).then(|| written.join(", ")), errors)
    }
}
