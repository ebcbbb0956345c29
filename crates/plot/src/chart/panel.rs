//! A panel: two axes, curves, a title, a legend above and notes below.

use super::axis::{Axis, Ticks};
use crate::paper::color::{self, Color, GREY, GRID, INK};
use crate::paper::{Horizontal, Mark, Sheet, Vertical, font};
use crate::view::drawable;

const TITLE: f64 = 15.0;
const LABEL: f64 = 13.0;
const TICK: f64 = 12.0;

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// What the legend says; nothing if empty.
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
    /// Which colour, and which mark at the end: they are told apart without colours.
    pub(crate) index: usize,
    pub(crate) style: Style,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// A line with a mark at its end.
    Line,
    /// A thin line without a mark.
    Thin,
    /// Separate points.
    Points,
}

/// Something drawn over curves, in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    Line(Vec<[f64; 2]>),
    /// A disc with a radius in pixels.
    Disc([f64; 2], f64),
    /// The mark of a curve, with a text beside it.
    Labelled([f64; 2], usize, String),
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Whether lengths on both axes are alike.
    pub(crate) equal: bool,
    pub(crate) series: Vec<Series>,
    /// What is drawn over the curves.
    pub(crate) over: Vec<Over>,
    /// Small print at the end of the legend.
    pub(crate) notes: Vec<String>,
    /// What stands in the middle of a chart without curves.
    pub(crate) message: Option<String>,
}

impl Panel {
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Panel {
        Panel {
            title: title.into(),
            x,
            y,
            equal: false,
            series: Vec::new(),
            over: Vec::new(),
            notes: Vec::new(),
            message: None,
        }
    }

    /// Draws the panel into a rectangle of a sheet: left, top, width and height.
    pub(crate) fn draw(&self, sheet: &mut Sheet, [left, top, width, height]: [f64; 4]) {
        let left_top = (Horizontal::Left, Vertical::Top);
        let rows = self.legend(width);
        let head = 24.0 + 19.0 * rows.len() as f64 + 6.0;
        let [x0, y0] = [left + 62.0, top + head];
        let [x1, y1] = [left + width - 14.0, top + height - 46.0];
        let (across, down) = (x1 - x0, y1 - y0);
        let (mut x, mut y) = (self.x.clone(), self.y.clone());
        if self.equal {
            equalize(&mut x, &mut y, across / down);
        }
        sheet.text([left + 4.0, top], &self.title, TITLE, INK, left_top);
        for (i, row) in rows.iter().enumerate() {
            draw_legend(sheet, row, [left + 4.0, top + 24.0 + 19.0 * i as f64]);
        }
        let place = |[a, b]: [f64; 2]| [x0 + across * x.place(a), y1 - down * y.place(b)];
        let horizontal = x.ticks(across, 74.0);
        let vertical = y.ticks(down, 42.0);
        frame(sheet, [x0, y0, x1, y1], &place, &horizontal, &vertical, [x.low, y.low]);
        for series in &self.series {
            draw_series(sheet, series, &place);
        }
        for shape in &self.over {
            match shape {
                Over::Line(points) => {
                    sheet.line(points.iter().map(|p| place(*p)).collect::<Vec<_>>(), 1.6, GREY)
                }
                Over::Disc(at, radius) => {
                    sheet.marks.push(Mark::Disc { at: place(*at), radius: *radius, color: GREY });
                }
                Over::Labelled(at, index, text) => {
                    let [x, y] = place(*at);
                    end_mark(sheet, [x, y], 5.0, *index);
                    // On the side where there is more room.
                    let (side, shift) =
                        if x < (x0 + x1) / 2.0 { (Horizontal::Left, 9.0) } else { (Horizontal::Right, -9.0) };
                    sheet.text([x + shift, y], text, TICK, INK, (side, Vertical::Center));
                }
            }
        }
        for series in self.series.iter().filter(|series| series.style == Style::Line) {
            let last = series.points.iter().rev().find(|p| p.iter().all(|v| drawable(*v)));
            if let Some(last) = last {
                end_mark(sheet, place(*last), 4.0, series.index);
            }
        }
        if let Some(message) = &self.message {
            let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
            sheet.text(middle, message, LABEL, GREY, (Horizontal::Center, Vertical::Center));
        }
    }

    /// The entries of the legend in rows that fit.
    fn legend(&self, width: f64) -> Vec<Vec<Entry>> {
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        let curves =
            named.map(|series| Entry { text: series.name.clone(), key: Some((series.index, series.style)) });
        let notes = self.notes.iter().map(|note| Entry { text: note.clone(), key: None });
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut used = f64::INFINITY;
        for entry in curves.chain(notes) {
            if used + entry.width() > width {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += entry.width();
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        rows
    }
}

/// An entry of a legend.
struct Entry {
    text: String,
    key: Option<(usize, Style)>,
}

impl Entry {
    fn width(&self) -> f64 {
        let key = if self.key.is_some() { 30.0 } else { 0.0 };
        // The reader of an SVG may have a wider font.
        key + 1.1 * font::width(&self.text, TICK) + 12.0
    }
}

fn draw_legend(sheet: &mut Sheet, row: &[Entry], [mut x, y]: [f64; 2]) {
    for entry in row {
        let (mut at, middle) = (x, y + 8.0);
        if let Some((index, style)) = entry.key {
            match style {
                Style::Points => end_mark(sheet, [x + 12.0, middle], 4.0, index),
                Style::Thin => sheet.line([[x, middle], [x + 24.0, middle]], 1.0, tint(index, style)),
                Style::Line => {
                    sheet.line([[x, middle], [x + 24.0, middle]], 1.6, tint(index, style));
                    end_mark(sheet, [x + 12.0, middle], 4.0, index);
                }
            }
            at += 30.0;
        }
        let ink = if entry.key.is_some() { INK } else { GREY };
        sheet.text([at, middle], &entry.text, TICK, ink, (Horizontal::Left, Vertical::Center));
        x += entry.width();
    }
}

/// Grid, axes, ticks and labels.
fn frame(
    sheet: &mut Sheet,
    [x0, y0, x1, y1]: [f64; 4],
    place: &impl Fn([f64; 2]) -> [f64; 2],
    horizontal: &Ticks,
    vertical: &Ticks,
    [low_x, low_y]: [f64; 2],
) {
    for (value, label) in &horizontal.major {
        let [x, _] = place([*value, low_y]);
        sheet.line([[x, y0], [x, y1]], 1.0, GRID);
        sheet.line([[x, y1], [x, y1 + 4.0]], 1.0, INK);
        sheet.text([x, y1 + 7.0], label, TICK, INK, (Horizontal::Center, Vertical::Top));
    }
    for (value, label) in &vertical.major {
        let [_, y] = place([low_x, *value]);
        sheet.line([[x0, y], [x1, y]], 1.0, GRID);
        sheet.line([[x0 - 4.0, y], [x0, y]], 1.0, INK);
        sheet.text([x0 - 7.0, y], label, TICK, INK, (Horizontal::Right, Vertical::Center));
    }
    sheet.line([[x0, y0], [x0, y1], [x1, y1]], 1.0, INK);
    let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
    sheet.text([middle[0], y1 + 25.0], &horizontal.label, LABEL, INK, (Horizontal::Center, Vertical::Top));
    sheet.marks.push(Mark::Text {
        at: [x0 - 56.0, middle[1]],
        text: vertical.label.clone(),
        size: LABEL,
        color: INK,
        anchor: (Horizontal::Center, Vertical::Top),
        upright: true,
    });
}

fn tint(index: usize, style: Style) -> Color {
    let color = color::series(index);
    if style == Style::Thin { color.faint(0.5).over(color::WHITE) } else { color }
}

fn draw_series(sheet: &mut Sheet, series: &Series, place: &impl Fn([f64; 2]) -> [f64; 2]) {
    let color = tint(series.index, series.style);
    let whole = |p: &[f64; 2]| p.iter().all(|v| drawable(*v));
    if series.style == Style::Points {
        let radius = if series.points.len() > 300 { 0.9 } else { 2.0 };
        for point in series.points.iter().filter(|p| whole(p)) {
            sheet.marks.push(Mark::Disc { at: place(*point), radius, color });
        }
        return;
    }
    let width = if series.style == Style::Thin { 0.8 } else { 1.3 };
    for run in series.points.split(|p| !whole(p)).filter(|run| run.len() > 1) {
        sheet.line(run.iter().map(|p| place(*p)).collect::<Vec<_>>(), width, color);
    }
}

/// A mark by which a curve is known without its colour.
fn end_mark(sheet: &mut Sheet, [x, y]: [f64; 2], r: f64, index: usize) {
    let color = color::series(index);
    let corners: &[[f64; 2]] = match index % 7 {
        1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
        2 => &[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
        3 => &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
        4 => &[[0.0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
        5 => &[[-1.3, 0.4], [-1.3, -0.4], [1.3, -0.4], [1.3, 0.4]],
        6 => &[[-0.4, -1.3], [0.4, -1.3], [0.4, 1.3], [-0.4, 1.3]],
        _ => {
            sheet.marks.push(Mark::Disc { at: [x, y], radius: r, color });
            return;
        }
    };
    let points = corners.iter().map(|[dx, dy]| [x + r * dx, y + r * dy]).collect();
    sheet.marks.push(Mark::Area { points, color });
}

/// Widens one of two axes so that lengths on both are alike in a chart that is `ratio` times as wide as high.
fn equalize(x: &mut Axis, y: &mut Axis, ratio: f64) {
    let (width, height) = (x.high - x.low, y.high - y.low);
    let widen =
        |axis: &mut Axis, more: f64| (axis.low, axis.high) = (axis.low - more / 2.0, axis.high + more / 2.0);
    if width < ratio * height {
        widen(x, ratio * height - width);
    } else {
        widen(y, width / ratio - height);
    }
}
