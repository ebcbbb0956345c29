//! The plot of a run: where things went, how coordinates changed, and how well what should stay did.

use crate::animation;
use crate::chart::{Axis, Figure, Over, Panel, Series, Style, short, thin_curve, thin_series};
use crate::chosen::{note, pairs, spread, telling};
use crate::error::PictureError;
use crate::moment::Sampled;
use crate::paper::color::{self, WHITE};
use crate::scene::{Scene, Shape};
use crate::view::{View, drawable};
use leastaction_language::{Drawing, Part};
use leastaction_output::{ColumnRef, Record};
use std::path::Path;

/// At most so many curves are in one chart.
const MOST: usize = 6;

/// At most so many coordinates are in a phase portrait.
const PORTRAITS: usize = 2;

/// Portraits whose sizes differ by more than this are drawn each by its own measure.
const UNLIKE: f64 = 3.0;

/// So many values of an error are shown besides the largest so far.
const FAINT: usize = 400;

/// A curve against time is told by so many slices.
const SLICES: usize = 600;

/// What is told of the energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Energy {
    /// It should stay as it is: by how much it does not, relative to this.
    Conserved {
        /// What errors are relative to.
        scale: f64,
    },
    /// It changes.
    Changing,
}

/// A plot of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plot<'a> {
    /// What happened.
    pub record: &'a Record,
    /// How it is drawn: the end of the run is shown over the paths.
    pub drawing: &'a Drawing,
    /// What stands above: the system.
    pub title: &'a str,
    /// And below that: the method and its step.
    pub subtitle: &'a str,
    /// What is told of the energy.
    pub energy: Energy,
}

impl Plot<'_> {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    /// The plot as SVG.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show.
    pub fn svg(&self) -> Result<String, PictureError> {
        self.figure()?.sheet().svg()
    }

    /// The plot as PNG.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        self.figure()?.sheet().png()
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        if self.record.is_empty() {
            return Err(PictureError::Empty);
        }
        let mut shapes = self.stills()?;
        if shapes.is_empty() {
            shapes = self.paths()?;
            shapes.extend(self.portrait());
        }
        let mut times = vec![self.outputs(), self.coordinates(), self.energy()];
        times.extend(self.constraints());
        times.retain(|panel| !panel.series.is_empty() || panel.message.is_some());
        let height = match (shapes.len(), times.len()) {
            (0 | 1, 0..=2) => 600.0,
            (0..=2, 0..=3) => 760.0,
            (shapes, times) => 340.0 * shapes.max(times) as f64,
        };
        Ok(Figure {
            title: self.title.to_owned(),
            subtitle: self.subtitle.to_owned(),
            columns: vec![shapes, times],
            height,
        })
    }

    /// How meshes look at the start and at the end, if there are any.
    fn stills(&self) -> Result<Vec<Panel>, PictureError> {
        if !self.drawing.parts.iter().any(|part| matches!(part, Part::Mesh(_))) {
            return Ok(Vec::new());
        }
        let scene = Scene::of(self.drawing, self.record)?;
        let last = self.record.len() - 1;
        let moments = [("At the end", last), ("At the start", 0)];
        let moments = &moments[..if last > 0 { 2 } else { 1 }];
        let panel = |&(title, sample): &(&str, usize)| {
            Ok(Panel::picture(title, animation::still(self.record, &scene, sample)?))
        };
        moments.iter().map(panel).collect()
    }

    /// Where particles and points went: in a plane, or seen from the front and from above.
    fn paths(&self) -> Result<Vec<Panel>, PictureError> {
        let spatial = self.record.paths.iter().any(|path| path.axes.len() > 2);
        let moving: Vec<_> = self.record.paths.iter().filter(|path| path.axes.len() > 1).collect();
        if moving.is_empty() {
            return Ok(Vec::new());
        }
        let views: &[[usize; 2]] = if spatial { &[[0, 2], [0, 1]] } else { &[[0, 1]] };
        let panel = |[across, up]: [usize; 2]| {
            let mut series = Vec::new();
            let chosen = spread(moving.len(), MOST);
            for (index, &i) in chosen.iter().enumerate() {
                let axis =
                    |axis: usize, sample| moving[i].axes.get(axis).map_or(0.0, |values| values[sample]);
                let points = (0..self.record.len()).map(|sample| [axis(across, sample), axis(up, sample)]);
                let name = moving[i].name.clone();
                series.push(Series { name, points: points.collect(), index, style: Style::Line });
            }
            let over = self.end(across, up)?;
            let title = match (spatial, up) {
                (false, _) => "Paths".to_owned(),
                (true, 2) => "Paths, from the front".to_owned(),
                (true, _) => "Paths, from above".to_owned(),
            };
            let [x, y] = [across, up].map(|axis| ["x", "y", "z"][axis]);
            Ok(plane(title, [x, y], series, over, note(chosen.len(), moving.len()), true))
        };
        views.iter().map(|view| panel(*view)).collect()
    }

    /// The drawing at the end of the run.
    fn end(&self, across: usize, up: usize) -> Result<Vec<Over>, PictureError> {
        if self.drawing.parts.is_empty() {
            return Ok(Vec::new());
        }
        let unit = |axis: usize| std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
        let scene = Scene::of(self.drawing, self.record)?.seen(View { right: unit(across), up: unit(up) });
        let mut end = Sampled::default();
        end.read(self.record, self.record.len() - 1, scene.wanted(false));
        let size = scene.bounds(self.record).size();
        let shapes = scene.shapes(&end.moment(), size).into_iter();
        Ok(shapes
            .flat_map(|shape| match shape {
                Shape::Rod(ends) => vec![Over::Line(ends.to_vec())],
                Shape::Spring(points) => vec![Over::Line(points)],
                Shape::Line(points) => vec![Over::Still(points)],
                Shape::Dot { at, radius } => vec![Over::Disc(at, 1.5 + 3.0 * radius)],
                Shape::Body { mut outline, marks } => {
                    outline.extend(outline.first().copied());
                    std::iter::once(outline).chain(marks).map(Over::Line).collect()
                }
                Shape::Trail { .. } => Vec::new(),
            })
            .collect())
    }

    /// Coordinates against their velocities; of a port-Hamiltonian system, one state against another.
    fn portrait(&self) -> Option<Panel> {
        let all = pairs(self.record);
        let shown = &all[..all.len().min(PORTRAITS)];
        let mut labels = match shown {
            [] => return None,
            [(q, v)] => [q.name.as_str(), v.name.as_str()],
            _ => ["coordinate", "velocity"],
        };
        let largest = |column: &ColumnRef<'_>| {
            let size = column.values.iter().filter(|v| drawable(**v)).fold(0.0_f64, |m, v| m.max(v.abs()));
            if size > 0.0 { size } else { 1.0 }
        };
        let sizes: Vec<_> = shown.iter().map(|(q, v)| [largest(q), largest(v)]).collect();
        let unlike = |axis: usize| {
            let (low, high) =
                sizes.iter().fold((f64::MAX, 0.0_f64), |(l, h), s| (l.min(s[axis]), h.max(s[axis])));
            high > UNLIKE * low
        };
        // The small one would be a point beside the large one.
        let scaled = unlike(0) || unlike(1);
        let series = shown.iter().zip(&sizes).enumerate().map(|(index, ((q, v), size))| {
            let [across, up] = if scaled { *size } else { [1.0; 2] };
            let points = q.values.iter().zip(v.values).map(|(q, v)| [q / across, v / up]).collect();
            let by = if scaled {
                size.map(|size| format!(" / {}", short(size, 3)))
            } else {
                [String::new(), String::new()]
            };
            let name = format!("{}{}, {}{}", q.name, by[0], v.name, by[1]);
            Series { name, points, index, style: Style::Line }
        });
        let series: Vec<_> = series.collect();
        let mut notes =
            if self.record.velocities.is_empty() { Vec::new() } else { note(shown.len(), all.len()) };
        if scaled {
            labels = ["coordinate / its largest", "velocity / its largest"];
            notes.push("each by its own measure".to_owned());
        }
        Some(plane("Phase portrait".to_owned(), labels, series, Vec::new(), notes, false))
    }

    /// What the model asks for.
    fn outputs(&self) -> Panel {
        let all: Vec<_> = self.record.outputs.iter().collect();
        self.against_time("Outputs", "output", &all)
    }

    fn coordinates(&self) -> Panel {
        let coordinates = &self.record.coordinates;
        let all: Vec<_> = telling(self.record).into_iter().filter_map(|i| coordinates.get(i)).collect();
        self.against_time("Coordinates", "coordinate", &all)
    }

    fn against_time(&self, title: &str, kind: &str, all: &[ColumnRef<'_>]) -> Panel {
        let chosen = spread(all.len(), MOST);
        let series =
            chosen.iter().enumerate().map(|(index, &i)| self.curve(&all[i].name, all[i].values, index));
        let series: Vec<_> = series.collect();
        let label = if let [one] = all { one.name.as_str() } else { kind };
        let x = Axis::linear("t", self.record.times.iter().copied(), 0.0);
        let y = Axis::linear(label, series.iter().flat_map(|s| s.points.iter().map(|p| p[1])), 0.05);
        let mut panel = Panel::new(title, x, y);
        panel.notes = note(chosen.len(), all.len());
        panel.notes.extend(left_out(&series));
        panel.series = series;
        panel
    }

    fn energy(&self) -> Panel {
        let (times, energy) = (&self.record.times, &self.record.energy);
        match self.energy {
            Energy::Changing => {
                let jacobi = &self.record.jacobi;
                let series = match jacobi.is_empty() {
                    true => vec![self.curve("", energy, 0)],
                    false => vec![
                        self.curve("energy T + V", energy, 0),
                        self.curve("Jacobi's function p·v − L", jacobi, 1),
                    ],
                };
                let x = Axis::linear("t", times.iter().copied(), 0.0);
                let y = Axis::linear("E", energy.iter().chain(jacobi).copied(), 0.05);
                let mut panel = Panel::new("Energy", x, y);
                panel.notes = left_out(&series).into_iter().collect();
                panel.series = series;
                panel
            }
            Energy::Conserved { scale } => {
                let first = energy.first().copied().unwrap_or(0.0);
                let errors: Vec<_> = energy.iter().map(|e| (e - first).abs() / scale).collect();
                let all = [("largest so far", &errors[..])];
                // The energy itself may be next to nothing: terms of it that cancel are the measure then.
                let cancelled = (scale - first.abs()).abs() > 1e-6 * scale;
                let label =
                    if cancelled { format!("|ΔE| / {}", short(scale, 3)) } else { "|ΔE / E|".to_owned() };
                let mut panel = errors_panel("Energy error", &label, times, &all, true);
                if panel.message.is_some() {
                    panel.y.label = "|ΔE|".to_owned();
                } else if cancelled {
                    panel.notes.push(format!("E = {} at the start", short(first, 3)));
                }
                panel
            }
        }
    }

    fn constraints(&self) -> Option<Panel> {
        let (position, velocity) = (&self.record.position_violation[..], &self.record.velocity_violation[..]);
        let all =
            [("|Φ|", "positions, largest so far", position), ("|Ψ|", "velocities, largest so far", velocity)];
        let all: Vec<_> = all.into_iter().filter(|(.., values)| !values.is_empty()).collect();
        let label = all.iter().map(|(symbol, ..)| *symbol).collect::<Vec<_>>().join(", ");
        let all: Vec<_> = all.into_iter().map(|(_, name, values)| (name, values)).collect();
        (!all.is_empty()).then(|| errors_panel("Constraint error", &label, &self.record.times, &all, false))
    }

    fn curve(&self, name: &str, values: &[f64], index: usize) -> Series {
        let points: Vec<_> = self.record.times.iter().zip(values).map(|(t, v)| [*t, *v]).collect();
        Series { name: name.to_owned(), points: thin_series(&points, SLICES), index, style: Style::Line }
    }
}

/// Errors against time, on a logarithmic axis: faint at each time, and the largest so far. The first is 0 if it is what others are
/// compared with.
fn errors_panel(title: &str, label: &str, times: &[f64], all: &[(&str, &[f64])], compared: bool) -> Panel {
    let skipped = usize::from(compared && times.len() > 1);
    let values = || all.iter().flat_map(|(_, values)| values.iter().skip(skipped).copied());
    let count = values().count();
    let zeros = values().filter(|v| *v == 0.0).count();
    let broken = values().filter(|v| !drawable(*v)).count();
    let x = Axis::linear("t", times.iter().copied(), 0.0);
    let Some(axis) = Axis::log(label, values()) else {
        let mut panel = Panel::new(title, x, Axis { log: true, ..Axis::linear(label, [1e-17, 1e-15], 0.0) });
        panel.message = Some(match (count, broken) {
            (1, 0) if compared => "a single sample: nothing to compare it with".to_owned(),
            (_, 0) => format!("exactly 0 at all of {count} samples"),
            _ => format!("{broken} of {count} values are not finite"),
        });
        return panel;
    };
    let small = values().filter(|v| *v > 0.0 && *v < axis.low).count();
    let mut panel = Panel::new(title, x, axis);
    for (index, (name, values)) in all.iter().enumerate() {
        let points: Vec<_> = times.iter().zip(*values).skip(skipped).map(|(t, v)| [*t, *v]).collect();
        // Lines through errors that are rounding would be a solid block.
        let faint = points.iter().step_by(points.len().div_ceil(FAINT).max(1)).copied().collect();
        let style = Style::Points(color::series(index).faint(0.4).over(WHITE), 0.8);
        panel.series.push(Series { name: String::new(), points: faint, index, style });
        let points = thin_series(&largest_so_far(&points), SLICES);
        panel.series.push(Series { name: (*name).to_owned(), points, index, style: Style::Line });
    }
    // Lines lie on top.
    panel.series.sort_by_key(|series| series.style == Style::Line);
    panel.notes.push("faint: at each time".to_owned());
    panel.notes.extend(match (zeros, small) {
        (0, 0) => None,
        (_, 0) => Some("lower edge: 0".to_owned()),
        _ => Some("lower edge: smaller, or 0".to_owned()),
    });
    panel.notes.extend((broken > 0).then(|| format!("{broken} values not finite: left out")));
    panel
}

/// The largest value up to each time; a gap stays a gap.
pub(crate) fn largest_so_far(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut worst = 0.0_f64;
    let so_far = |&[t, v]: &[f64; 2]| {
        if drawable(v) {
            worst = worst.max(v);
        }
        [t, if drawable(v) { worst } else { v }]
    };
    points.iter().map(so_far).collect()
}

/// A chart of curves in a plane.
fn plane(
    title: String,
    labels: [&str; 2],
    series: Vec<Series>,
    over: Vec<Over>,
    mut notes: Vec<String>,
    equal: bool,
) -> Panel {
    let points = || {
        let over = over.iter().flat_map(|shape| match shape {
            Over::Line(points) | Over::Still(points) | Over::Area(points, _) => &points[..],
            Over::Disc(at, _) | Over::Labelled(at, ..) => std::slice::from_ref(at),
        });
        series.iter().flat_map(|s| &s.points).chain(over)
    };
    let [x, y] = [0, 1].map(|axis| Axis::linear(labels[axis], points().map(|p| p[axis]), 0.05));
    // A quarter of a pixel.
    let tolerance = [x.high - x.low, y.high - y.low].map(|range| range / 1600.0);
    notes.extend(left_out(&series));
    let mut panel = Panel::new(title, x, y);
    let thinned = series.into_iter().map(|s| Series { points: thin_curve(&s.points, tolerance), ..s });
    panel.series = thinned.collect();
    (panel.over, panel.notes, panel.equal) = (over, notes, equal);
    panel
}

/// What is told of points that cannot be drawn.
fn left_out(series: &[Series]) -> Option<String> {
    let points = series.iter().flat_map(|s| &s.points);
    let count = points.filter(|p| p.iter().any(|v| !drawable(*v))).count();
    (count > 0).then(|| format!("{count} points not finite: left out"))
}
