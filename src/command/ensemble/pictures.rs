//! Pictures of findings: maps over grids, histograms, sections, and orbits.

use leastaction::Results;
use leastaction::ensemble::{Finding, Histogram, Histogram2, Map, Reduction, Sheet};
use leastaction::output::{About, Table};
use leastaction::plot::{
    Bars, Choice, Histograms, Map as Plane, Orbit, PictureError, Portrait, PortraitChart, Section,
};
use std::path::Path;

/// The words of reductions that have a picture.
const SHOWN: [&str; 5] = ["map", "histogram", "histogram2", "section", SAMPLES];

/// The word of the reduction that orbits are drawn of.
pub(super) const SAMPLES: &str = "samples";

/// Of samples, so many coordinates and momenta are plotted if nothing else is said.
const USUAL: usize = 4;

/// Whether reductions with this word have a picture.
pub(super) fn is_shown(word: &str) -> bool {
    SHOWN.contains(&word)
}

/// The findings that have a picture. What was chosen is plotted of the samples that have all of it, and other samples are not plotted then.
pub(super) fn shown<'a>(
    findings: Vec<(&'a Reduction, &'a Finding)>,
    choices: &[Choice],
) -> Vec<(&'a Reduction, &'a Finding)> {
    let has_all = |rows: &Sheet| {
        let columns = rows.columns();
        let names = choices.iter().flat_map(|choice| choice.what.iter().chain(&choice.over));
        names.into_iter().all(|name| columns.iter().any(|(_, column)| column == name))
    };
    let is_samples = |reduction: &Reduction| reduction.word() == SAMPLES;
    let chosen = findings.iter().position(|(reduction, finding)| match finding {
        Finding::Rows(rows) => is_samples(reduction) && has_all(rows),
        Finding::Summary(_) => false,
    });
    let is_kept = |place: usize, reduction: &Reduction| match is_samples(reduction) && !choices.is_empty() {
        true => chosen == Some(place),
        false => is_shown(reduction.word()),
    };
    let kept = findings.into_iter().enumerate().filter(|(place, (reduction, _))| is_kept(*place, reduction));
    kept.map(|(_, shown)| shown).collect()
}

/// Plots a finding to a file.
pub(super) fn save(
    path: &Path,
    (reduction, finding): (&Reduction, &Finding),
    choices: &[Choice],
    results: &Results,
    about: &About,
) -> Result<(), PictureError> {
    let count = results.overview().count();
    let ended = if about.ended == "complete" { String::new() } else { format!("; {}", about.ended) };
    let (title, subtitle) = (
        format!("{}: {reduction}", about.system),
        format!("{count} trajectories, {} with {}{ended}", about.method, about.pace),
    );
    let summary = match finding {
        Finding::Summary(summary) => summary.as_any(),
        Finding::Rows(rows) if reduction.word() == SAMPLES => {
            return save_orbits(path, rows, choices, &about.system, subtitle);
        }
        Finding::Rows(rows) => return save_section(path, rows, title, subtitle),
    };
    if let Some(map) = summary.downcast_ref::<Map>() {
        return save_map(path, map, title, subtitle);
    }
    if let Some(histogram) = summary.downcast_ref::<Histogram>() {
        let bars = Bars {
            what: histogram.text().to_owned(),
            low: histogram.bins.low,
            high: histogram.bins.high,
            counts: histogram.counts().to_vec(),
            outside: histogram.outside(),
        };
        return Histograms { title, subtitle, histograms: vec![bars] }.save(path);
    }
    let Some(histogram) = summary.downcast_ref::<Histogram2>() else { return Err(PictureError::Empty) };
    let [x, y] = histogram.bins();
    let counts = histogram.counts();
    // What never happens has no colour.
    let value = |i: usize, j: usize| match counts.get(i * y.count + j) {
        Some(0) | None => f64::NAN,
        Some(&count) => count as f64,
    };
    let plane = Plane {
        title,
        subtitle,
        labels: histogram.texts().map(str::to_owned),
        ranges: [[x.low, x.high], [y.low, y.high]],
        columns: x.count,
        values: (0..x.count * y.count).map(|k| value(k % x.count, k / x.count)).collect(),
        what: "trajectories".to_owned(),
        without: "none".to_owned(),
        log: false,
        categories: Vec::new(),
    };
    plane.save(path)
}

/// A map over two grids is a plane, one over one grid a curve of points.
fn save_map(path: &Path, map: &Map, title: String, subtitle: String) -> Result<(), PictureError> {
    match map.axes() {
        [(x, columns), (y, rows)] => {
            let (columns, rows) = (*columns as usize, *rows as usize);
            let value = |i: usize, j: usize| map.values().get(i * rows + j).copied().unwrap_or(f64::NAN);
            let plane = Plane {
                title,
                subtitle,
                labels: [x.clone(), y.clone()],
                ranges: [edges(&map.axis(0)), edges(&map.axis(1))],
                columns,
                values: (0..columns * rows).map(|k| value(k % columns, k / columns)).collect(),
                what: map.text().to_owned(),
                without: "without a value".to_owned(),
                categories: categories(map.values()),
                log: spans(map.values()),
            };
            plane.save(path)
        }
        [(x, _)] => {
            let points = map.axis(0).into_iter().zip(map.values()).map(|(x, y)| [x, *y]).collect();
            let labels = [x.clone(), map.text().to_owned()];
            let orbits = vec![Orbit { name: String::new(), points }];
            Section { title, subtitle, labels, orbits }.save(path)
        }
        axes => Err(PictureError::Dimensions { found: axes.len() }),
    }
}

/// How quantities go with others, or with time, along each trajectory.
fn save_orbits(
    path: &Path,
    rows: &Sheet,
    choices: &[Choice],
    system: &str,
    subtitle: String,
) -> Result<(), PictureError> {
    let columns = rows.columns();
    let values = |name: &str| {
        let column = columns.iter().position(|(_, other)| other == name).ok_or(PictureError::Empty)?;
        read(rows, column)
    };
    // Each quantity has a chart of its own.
    let apart = |choice: &Choice| {
        let over = choice.over.clone().unwrap_or_else(|| "t".to_owned());
        choice.what.clone().into_iter().map(move |what| [over.clone(), what])
    };
    let mut charts: Vec<[String; 2]> = choices.iter().flat_map(apart).collect();
    if charts.is_empty() {
        let states = columns.iter().filter(|(group, _)| *group == "states").take(USUAL);
        charts = states.map(|(_, name)| ["t".to_owned(), name.clone()]).collect();
    }
    let trajectories = read(rows, 0)?;
    let mut names = Vec::new();
    let mut orbits = |[over, what]: &[String; 2]| -> Result<PortraitChart, PictureError> {
        let points: Vec<[f64; 2]> =
            values(over)?.into_iter().zip(values(what)?).map(|(x, y)| [x, y]).collect();
        let (mut orbits, mut at) = (Vec::new(), 0);
        names.clear();
        for same in trajectories.chunk_by(|a, b| a == b) {
            names.push(format!("trajectory {}", same[0]));
            orbits.push(points[at..at + same.len()].to_vec());
            at += same.len();
        }
        Ok(PortraitChart { labels: [over.clone(), what.clone()], orbits })
    };
    let charts = charts.iter().map(&mut orbits).collect::<Result<_, _>>()?;
    Portrait { title: system.to_owned(), subtitle, names, charts }.save(path)
}

/// A column of a table.
fn read(rows: &Sheet, column: usize) -> Result<Vec<f64>, PictureError> {
    let mut values = Vec::new();
    let read = rows.read(column, 0..rows.rows(), &mut values);
    read.map(|()| values).map_err(|error| PictureError::Painting(Box::new(error)))
}

/// What expressions are at an event, over the first parameter that is sampled, or else over the numbers of trajectories.
fn save_section(path: &Path, rows: &Sheet, title: String, subtitle: String) -> Result<(), PictureError> {
    let columns = rows.columns();
    let across = columns.iter().position(|(group, _)| *group == "parameters").unwrap_or(0);
    let right = read(rows, across)?;
    let mut orbits = Vec::new();
    for (i, (_, name)) in columns.iter().enumerate().filter(|(_, (group, _))| *group == "values") {
        let points = right.iter().zip(read(rows, i)?).map(|(x, y)| [*x, y]).collect();
        orbits.push(Orbit { name: name.clone(), points });
    }
    let up = match &mut orbits[..] {
        [only] => std::mem::take(&mut only.name),
        _ => "values".to_owned(),
    };
    Section { title, subtitle, labels: [columns[across].1.clone(), up], orbits }.save(path)
}

/// The values, if they are few whole numbers: what they stand for are kinds of ends, and no quantities.
fn categories(values: &[f64]) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    for &value in values.iter().filter(|value| value.is_finite()) {
        if value.fract() != 0.0 || all.len() > Plane::CATEGORIES {
            return Vec::new();
        }
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.sort_by(f64::total_cmp);
    if all.len() > Plane::CATEGORIES { Vec::new() } else { all }
}

/// Whether values are positive and of different orders of magnitude, as times until something happens are.
fn spans(values: &[f64]) -> bool {
    const SPAN: f64 = 30.0;
    let known = values.iter().copied().filter(|value| value.is_finite());
    let (low, high) =
        known.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    low > 0.0 && high > SPAN * low
}

/// Where the cells about evenly spaced values begin and end.
fn edges(values: &[f64]) -> [f64; 2] {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return [0.0, 1.0] };
    let half = if values.len() > 1 { 0.5 * (last - first) / (values.len() - 1) as f64 } else { 0.5 };
    [first - half, last + half]
}
