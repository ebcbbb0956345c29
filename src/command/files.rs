//! Samples of a run, and the files they are written to.

use super::Failure;
use clap::Args;
use leastaction::output::{About, Format, Record, check, check_apart, write};
use leastaction::simulate::{MeshFileError, Overrides, Run, Simulation, Source};
use std::path::{Path, PathBuf};

/// The options.
#[derive(Args)]
pub(super) struct Files {
    /// Record a sample every DT units of time [default: about 1000 samples, more for pictures]
    #[arg(long, value_name = "DT", allow_hyphen_values = true, conflicts_with = "samples")]
    every: Option<f64>,
    /// Record this number of samples, besides the initial state
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Write the samples to a file, by its ending: .csv, .npz (NumPy), .parquet or .json, or .pvd for meshes (ParaView); may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Write every event to a file, by its ending: its time, its name, its direction and the state; may be repeated
    #[arg(long, value_name = "FILE")]
    events: Vec<PathBuf>,
}

impl Files {
    /// Whether any file is requested.
    pub(super) fn are_wanted(&self) -> bool {
        !self.out.is_empty() || !self.events.is_empty()
    }

    /// Refuses files that cannot be written, or are read, before anything is computed.
    pub(super) fn check(&self, read: &str) -> Result<(), Failure> {
        apart(&self.out, read)?;
        apart(&self.events, read)?;
        let mut files = self.out.iter().chain(&self.events);
        let known = |path: &PathBuf| if is_series(path) { Ok(()) } else { Format::of(path).map(drop) };
        let all = files.try_for_each(|path| known(path).and_then(|()| check(path)));
        all.map_err(Failure::usage)?;
        match self.events.iter().find(|path| is_series(path)) {
            Some(path) => {
                Err(Failure::usage(format!("`{}` is a file of meshes: events are no mesh", path.display())))
            }
            None => Ok(()),
        }
    }

    /// Refuses files of meshes if the model has none, before the run.
    pub(super) fn check_meshes(&self, simulation: &Simulation) -> Result<(), Failure> {
        match self.out.iter().find(|path| is_series(path)) {
            Some(path) if simulation.meshes.is_empty() => {
                Err(Failure::usage(MeshFileError::NoMesh { path: path.clone() }))
            }
            _ => Ok(()),
        }
    }

    /// The overrides, with these samples.
    pub(super) fn sampled(&self, overrides: Overrides) -> Overrides {
        Overrides { every: self.every, samples: self.samples, ..overrides }
    }

    /// Writes all files that can be written: which were, and what went wrong.
    pub(super) fn write(&self, run: &Run, about: &About) -> Result<(Option<String>, Vec<String>), Failure> {
        let (mut written, mut names, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        if !self.out.is_empty() {
            let record = run.record().map_err(Failure::run)?;
            for path in self.out.iter().filter(|path| is_series(path)) {
                match run.write_meshes(path) {
                    Ok(lists) => names.extend(lists.iter().map(|list| list.display().to_string())),
                    Err(error) => errors.push(error.to_string()),
                }
            }
            for path in self.out.iter().filter(|path| !is_series(path)) {
                match write(path, &record.table(), about) {
                    Ok(()) => names.push(format!("{}{}", path.display(), lost(path, &record))),
                    Err(error) => errors.push(error.to_string()),
                }
            }
            if !names.is_empty() {
                written.push(format!("{} ({} samples)", names.join(", "), record.len()));
            }
        }
        if !self.events.is_empty() {
            let table = run.event_table().map_err(Failure::run)?;
            for path in &self.events {
                match write(path, &table, about) {
                    Ok(()) => written.push(format!("{} ({} events)", path.display(), table.len())),
                    Err(error) => errors.push(error.to_string()),
                }
            }
        }
        Ok(((!written.is_empty()).then(|| written.join(", ")), errors))
    }
}

/// Whether a file is the list of a series of meshes.
fn is_series(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pvd"))
}

/// Refuses to write over the model that is read.
pub(super) fn apart(written: &[PathBuf], read: &str) -> Result<(), Failure> {
    let apart = |path: &PathBuf| check_apart(path, Path::new(read));
    if Source::is_path(read) { written.iter().try_for_each(apart).map_err(Failure::usage) } else { Ok(()) }
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
