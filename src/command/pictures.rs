//! Pictures of a run: the options, and what is made of them.

use super::Failure;
use super::files::apart;
use clap::Args;
use leastaction::integrate::number;
use leastaction::output::{About, Record, check};
use leastaction::plot::{Animation, Energy, PictureError, Plot, ffmpeg};
use leastaction::simulate::Run;
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
    #[arg(long, value_name = "FILE", value_parser = animation_file)]
    animate: Vec<PathBuf>,
}

/// Reads the name of a plot's file.
pub(super) fn plot_file(name: &str) -> Result<PathBuf, String> {
    ending(name, &["svg", "png"])
}

pub(super) fn animation_file(name: &str) -> Result<PathBuf, String> {
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

impl Pictures {
    /// How many samples there should be at least, if there are pictures.
    pub(super) fn samples(&self) -> Option<u64> {
        match (self.plot.is_empty(), self.animate.is_empty()) {
            (true, true) => None,
            (_, true) => Some(SAMPLES),
            _ => Some(SAMPLES.max(Animation::SAMPLES)),
        }
    }

    /// Whether any picture is asked for.
    pub(super) fn are_wanted(&self) -> bool {
        self.samples().is_some()
    }

    /// Refuses files that cannot be written, or are read, before anything is computed.
    pub(super) fn check(&self, read: &str) -> Result<(), Failure> {
        apart(&self.plot, read)?;
        apart(&self.animate, read)?;
        self.plot.iter().chain(&self.animate).try_for_each(|path| check(path)).map_err(Failure::usage)
    }

    /// Makes the pictures that can be made: which files were written, and what went wrong.
    pub(super) fn write(&self, run: &Run, record: &Record, about: &About) -> (Option<String>, Vec<String>) {
        let (mut written, mut errors) = (Vec::new(), Vec::new());
        let drawing = &run.simulation.drawing;
        let span = [record.times.first(), record.times.last()].map(|t| number(t.unwrap_or(&0.0)));
        let ended = if about.ended == "complete" { String::new() } else { format!("; {}", about.ended) };
        let subtitle = format!(
            "{}, {}, t = {} to {}, {} sample{}{ended}",
            about.method,
            about.pace,
            span[0],
            span[1],
            record.len(),
            if record.len() == 1 { "" } else { "s" }
        );
        let energy = match run.energy() {
            Ok(energy) if energy.conserved => Energy::Conserved { scale: energy.drift.scale },
            // Where the drift cannot be told, the energy itself shows why.
            _ => Energy::Changing,
        };
        let title = about.system.as_str();
        for path in &self.plot {
            let plot = Plot { record, drawing, title, subtitle: &subtitle, energy };
            match plot.save(path) {
                Ok(()) => written.push(path.display().to_string()),
                Err(error) => errors.push(failure(path, &error)),
            }
        }
        for path in &self.animate {
            match (Animation { record, drawing, title }).save(path) {
                Ok(tempo) => written.push(format!("{} ({tempo})", path.display())),
                Err(error) => errors.push(failure(path, &error)),
            }
        }
        ((!written.is_empty()).then(|| written.join(", ")), errors)
    }
}

/// What went wrong with a picture; an error of its file names it already.
fn failure(path: &Path, error: &PictureError) -> String {
    match error {
        PictureError::File(error) => error.to_string(),
        error => format!("no picture `{}`: {error}", path.display()),
    }
}
