//! What is written of the findings of a study: tables and pictures, by options that `ensemble` and `merge` share.

use super::super::Failure;
use super::super::files::apart;
use super::super::pictures::plot_file;
use super::pictures;
use clap::Args;
use leastaction::Results;
use leastaction::ensemble::{Finding, Reduction, Summary};
use leastaction::output::{About, Column, ColumnKind, Format, Table, check, write};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Args)]
pub(crate) struct Findings {
    /// Write what was found to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; of several reductions, each to a file with its word in the name
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Plot maps and histograms to a file, .svg or .png; several of them, each to a file with its word in the name
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
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
        apart(&self.out, read)?;
        apart(&self.plot, read)?;
        let tables = self.out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path)));
        tables.and_then(|()| self.plot.iter().try_for_each(|path| check(path))).map_err(Failure::usage)
    }

    /// Refuses a plot of what is no picture.
    pub(crate) fn check_for(&self, reductions: &[String]) -> Result<(), Failure> {
        let pictured = |text: &String| {
            text.parse().is_ok_and(|reduction: Reduction| pictures::is_shown(reduction.word()))
        };
        if !self.plot.is_empty() && !reductions.iter().any(pictured) {
            let remedy = "ask for a map, a histogram or a histogram2 (--reduce)";
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
        let shown: Vec<_> =
            findings.into_iter().filter(|(reduction, _)| pictures::is_shown(reduction.word())).collect();
        for path in &self.plot {
            for (path, (reduction, finding)) in names(path, &shown).into_iter().zip(&shown) {
                match pictures::save(&path, reduction, finding, results, about) {
                    Ok(()) => plots.push(path.display().to_string()),
                    Err(error) => errors.push(format!("no picture `{}`: {error}", path.display())),
                }
            }
        }
        let row = |word, names: Vec<String>| (!names.is_empty()).then(|| (word, names.join(", ")));
        let rows = [row("files", files), row("pictures", plots)];
        (rows.into_iter().flatten().collect(), errors)
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
