//! What is written of the findings of a study: tables and pictures, by options that `ensemble` and `merge` share.

use super::super::Failure;
use super::super::files::apart;
use super::super::pictures::{Plotted, choices, plot_file, plotted};
use super::pictures;
use super::report::about;
use clap::Args;
use leastaction::Results;
use leastaction::ensemble::{Finding, Reduction, Summary};
use leastaction::output::{About, Column, ColumnKind, Format, Table, check, write};
use leastaction::plot::Choice;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Args)]
pub(crate) struct Findings {
    /// Write what was found to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; of several reductions, each to a file with its word in the name
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Plot maps, histograms, sections and samples to a file, .svg or .png; several of them, each to a file with its word in the name; or say what to plot of all trajectories: "x" against time, "x' over x" (repeatable)
    #[arg(long, value_name = "FILE or WHAT", value_parser = plotted)]
    plot: Vec<Plotted>,
    /// Print a summary for machines: one JSON document
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(super) quiet: bool,
}

impl Findings {
    /// Refuses files that cannot be written, or are read, before anything is computed.
    pub(crate) fn check(&self, read: &str) -> Result<(), Failure> {
        Plotted::check(&self.plot)?;
        let plots = Plotted::files(&self.plot);
        apart(&self.out, read)?;
        apart(&plots, read)?;
        let tables = self.out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path)));
        tables.and_then(|()| plots.iter().try_for_each(|path| check(path))).map_err(Failure::usage)
    }

    /// The samples that have to be kept for what was chosen to be plotted.
    pub(super) fn samples(&self) -> Option<String> {
        let names = Plotted::names(&self.plot);
        (!names.is_empty()).then(|| format!("samples({})", names.join(", ")))
    }

    /// Refuses a plot of what is no picture.
    pub(crate) fn check_for(&self, reductions: &[String]) -> Result<(), Failure> {
        let pictured = |text: &String| {
            text.parse().is_ok_and(|reduction: Reduction| pictures::is_shown(reduction.word()))
        };
        if !self.plot.is_empty() && !reductions.iter().any(pictured) {
            let remedy = "ask for a map, a histogram, a histogram2, a section or samples (--reduce), or say what to plot of all trajectories, as --plot \"x' over x\"";
            return Err(Failure::usage(format!("there is nothing to plot: {remedy}")));
        }
        Ok(())
    }

    /// Writes all that can be written: which files, and what went wrong.
    pub(crate) fn write(
        &self,
        results: &Results,
        about: &About,
    ) -> (Vec<(&'static str, String)>, Vec<String>) {
        let (mut files, mut plots, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let findings: Vec<_> = results.findings().collect();
        for path in &self.out {
            for (path, (_, finding)) in names(path, &findings).into_iter().zip(&findings) {
                let written = match finding {
                    Finding::Rows(sheet) => write(&path, sheet, about),
                    Finding::Summary(summary) => write(&path, &Columns::of(&**summary), about),
                };
                match written {
                    Ok(()) => files.push(path.display().to_string()),
                    Err(error) => errors.push(error.to_string()),
                }
            }
        }
        let choices = Plotted::choices(&self.plot);
        for path in &Plotted::files(&self.plot) {
            let (written, wrong) = plot(results, &choices, about, path);
            plots.extend(written.iter().map(|path| path.display().to_string()));
            errors.extend(wrong);
        }
        let row = |word, names: Vec<String>| (!names.is_empty()).then(|| (word, names.join(", ")));
        let rows = [row("files", files), row("pictures", plots)];
        (rows.into_iter().flatten().collect(), errors)
    }
}

/// Plots all findings that have a picture: to which files, and what went wrong.
fn plot(results: &Results, choices: &[Choice], about: &About, path: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let (mut written, mut errors) = (Vec::new(), Vec::new());
    let shown = pictures::shown(results.findings().collect(), choices);
    let has_orbits = shown.iter().any(|(reduction, _)| reduction.word() == pictures::SAMPLES);
    let unkept = match choices {
        [] => shown.is_empty().then_some("nothing that was kept has a picture"),
        _ => (!has_orbits).then_some("no samples were kept of all that should be plotted"),
    };
    errors.extend(unkept.map(|unkept| format!("no picture `{}`: {unkept}", path.display())));
    for (path, found) in names(path, &shown).into_iter().zip(&shown) {
        match pictures::save(&path, *found, choices, results, about) {
            Ok(()) => written.push(path),
            Err(error) => errors.push(format!("no picture `{}`: {error}", path.display())),
        }
    }
    (written, errors)
}

/// Writes the pictures of all that an ensemble found and that has one, to a file that ends in .svg or .png; of several, each to a file with its word in the name. Of
/// samples, what the texts say is plotted, such as `x' over x`, or else states against time.
///
/// # Errors
/// What a text lacks, or why a picture could not be written, in words.
pub fn ensemble_pictures(results: &Results, what: &[String], path: &Path) -> Result<Vec<PathBuf>, String> {
    let path = path.to_str().map(plot_file).unwrap_or_else(|| Err("the name is no text".to_owned()))?;
    let choices: Vec<Vec<Choice>> = what.iter().map(|text| choices(text)).collect::<Result<_, _>>()?;
    let about = about(results).map_err(|error| error.to_string())?;
    let (written, errors) = plot(results, &choices.concat(), &about, &path);
    match errors.is_empty() {
        true => Ok(written),
        false => Err(errors.join("; ")),
    }
}

/// The file of each finding: the one that was named, or, of several, one with the word of the reduction, and a number where words are the same.
fn names(path: &Path, findings: &[(&Reduction, &Finding)]) -> Vec<PathBuf> {
    if findings.len() == 1 {
        return vec![path.to_owned()];
    }
    let words: Vec<&str> = findings.iter().map(|(reduction, _)| reduction.word()).collect();
    let name = |(place, word): (usize, &&str)| {
        let same = |others: &[&str]| others.iter().filter(|other| *other == word).count();
        let number = if same(&words) > 1 { format!("-{}", same(&words[..=place])) } else { String::new() };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let ending = path.extension().map(|ending| ending.to_string_lossy()).unwrap_or_default();
        path.with_file_name(format!("{stem}-{word}{number}.{ending}"))
    };
    words.iter().enumerate().map(name).collect()
}

/// The columns of a summary as a table. Where some are shorter than others, NaN follows.
struct Columns<'a>(&'a dyn Summary, Vec<Column>);

impl Columns<'_> {
    fn of(summary: &dyn Summary) -> Columns<'_> {
        Columns(summary, summary.columns())
    }
}

impl Table for Columns<'_> {
    fn columns(&self) -> Vec<(&'static str, String)> {
        self.1.iter().map(|column| ("found", column.name.clone())).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        self.0.kind(column)
    }

    fn rows(&self) -> u64 {
        self.1.iter().map(|column| column.values.len() as u64).max().unwrap_or(0)
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let values =
            &self.1.get(column).ok_or_else(|| io::Error::other("the table has no such column"))?.values;
        into.extend(rows.map(|row| values.get(row as usize).copied().unwrap_or(f64::NAN)));
        Ok(())
    }
}
