//! Pictures of findings: maps over grids, and histograms.

use leastaction::Results;
use leastaction::ensemble::{Finding, Histogram, Histogram2, Map, Reduction, Sheet};
use leastaction::output::{About, Table};
use leastaction::plot::{Bars, Histograms, Map as Plane, Orbit, PictureError, Section};
use std::path::Path;

/// The words of reductions that have a picture.
const SHOWN: [&str; 4] = ["map", "histogram", "histogram2", "section"];

/// Whether reductions with this word have a picture.
pub(super) fn is_shown(word: &str) -> bool {
    SHOWN.contains(&word)
}

/// Plots a finding to a file.
pub(super) fn save(
    path: &Path,
    reduction: &Reduction,
    finding: &Finding,
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

/// What expressions are at an event, over the first parameter that is sampled, or else over the numbers of trajectories.
fn save_section(path: &Path, rows: &Sheet, title: String, subtitle: String) -> Result<(), PictureError> {
    let columns = rows.columns();
    let values = |column: usize| {
        let mut values = Vec::new();
        let read = rows.read(column, 0..rows.rows(), &mut values);
        read.map(|()| values).map_err(|error| PictureError::Painting(Box::new(error)))
    };
    let across = columns.iter().position(|(group, _)| *group == "parameters").unwrap_or(0);
    let right = values(across)?;
    let mut orbits = Vec::new();
    for (i, (_, name)) in columns.iter().enumerate().filter(|(_, (group, _))| *group == "values") {
        let points = right.iter().zip(values(i)?).map(|(x, y)| [*x, y]).collect();
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
