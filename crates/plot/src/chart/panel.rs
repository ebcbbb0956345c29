//! A panel: two axes, curves, a title, a legend above and notes below.

use super::axis::{Axis, Ticks};
use crate::paper::color::{self, Color, GREY, GRID, INK, STILL};
use crate::paper::{Horizontal, Image, Mark, Sheet, Vertical, font};
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
    /// Which colour, and which mark at the end: they are distinguished without colours.
    pub(crate) index: usize,
    pub(crate) style: Style,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// A line with a mark at its end.
    Line,
    /// A line of many, in a colour of its own.
    Curve(Color),
    /// Separate points of a colour of their own, with this radius.
    Points(Color, f64),
}

/// Something drawn besides curves, in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    Line(Vec<[f64; 2]>),
    /// A line that lies behind the curves.
    Still(Vec<[f64; 2]>),
    /// An area that lies behind the curves.
    Area(Vec<[f64; 2]>, Color),
    /// A disc with a radius in pixels.
    Disc([f64; 2], f64),
    /// The mark of a curve, with a text beside it if there is room.
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
    /// What is drawn besides the curves.
    pub(crate) over: Vec<Over>,
    /// Small print at the end of the legend.
    pub(crate) notes: Vec<String>,
    /// What stands in the middle of a chart without curves.
    pub(crate) message: Option<String>,
    /// What the ends of the scale of colours stand for, if curves have colours of it.
    pub(crate) scale: Option<[String; 2]>,
    /// What fills the chart, instead of a grid.
    pub(crate) image: Option<Image>,
    /// What stands here instead of a chart.
    pub(crate) picture: Option<Image>,
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
            scale: None,
            image: None,
            picture: None,
        }
    }

    /// Nothing: room that is left free.
    pub(crate) fn blank() -> Panel {
        Panel::picture("", Image { cells: Vec::new(), columns: 0, smooth: false })
    }

    /// A picture under a title.
    pub(crate) fn picture(title: impl Into<String>, picture: Image) -> Panel {
        let axis = || Axis::linear("", [0.0, 1.0], 0.0);
        Panel { picture: Some(picture), ..Panel::new(title, axis(), axis()) }
    }

    /// Draws the panel into a rectangle of a sheet: left, top, width and height.
    pub(crate) fn draw(&self, sheet: &mut Sheet, [left, top, width, height]: [f64; 4]) {
        let left_top = (Horizontal::Left, Vertical::Top);
        if let Some(picture) = &self.picture {
            sheet.text([left + 4.0, top], &self.title, TITLE, INK, left_top);
            if picture.cells.is_empty() {
                return;
            }
            let [room, high] = [width - 8.0, height - 28.0];
            let rows = picture.cells.len() / picture.columns.max(1);
            let [across, down] = [picture.columns, rows].map(|count| count as f64);
            let scale = (room / across).min(high / down);
            let x = left + 4.0 + (room - scale * across) / 2.0;
            let y = top + 24.0;
            sheet.images.push((picture.clone(), [x, y, x + scale * across, y + scale * down]));
            return;
        }
        let rows = self.legend(width);
        let title = if self.title.is_empty() { 4.0 } else { 24.0 };
        let head = title + 19.0 * rows.len() as f64 + 6.0;
        let [x0, y0] = [left + 62.0, top + head];
        let [x1, y1] = [left + width - 14.0, top + height - 46.0];
        let (across, down) = (x1 - x0, y1 - y0);
        let (mut x, mut y) = (self.x.clone(), self.y.clone());
        if self.equal {
            equalize(&mut x, &mut y, across / down);
        }
        sheet.text([left + 4.0, top], &self.title, TITLE, INK, left_top);
        for (i, row) in rows.iter().enumerate() {
            draw_legend(sheet, row, [left + 4.0, top + title + 19.0 * i as f64]);
        }
        let place = |[a, b]: [f64; 2]| [x0 + across * x.place(a), y1 - down * y.place(b)];
        let horizontal = x.ticks(across, 74.0);
        let vertical = y.ticks(down, 42.0);
        let grid = self.image.is_none();
        sheet.images.extend(self.image.clone().map(|image| (image, [x0, y0, x1, y1])));
        frame(sheet, [x0, y0, x1, y1], &place, [&horizontal, &vertical], [x.low, y.low], grid);
        for shape in &self.over {
            match shape {
                Over::Still(points) => {
                    sheet.line(points.iter().map(|p| place(*p)).collect::<Vec<_>>(), 2.4, STILL);
                }
                Over::Area(points, color) => {
                    let points = points.iter().map(|p| place(*p)).collect();
                    sheet.marks.push(Mark::Area { points, color: *color });
                }
                Over::Line(_) | Over::Disc(..) | Over::Labelled(..) => {}
            }
        }
        for series in &self.series {
            draw_series(sheet, series, &place);
        }
        for shape in &self.over {
            match shape {
                Over::Line(points) => {
                    sheet.line(points.iter().map(|p| place(*p)).collect::<Vec<_>>(), 1.6, GREY)
                }
                Over::Still(_) | Over::Area(..) | Over::Labelled(..) => {}
                Over::Disc(at, radius) => {
                    sheet.marks.push(Mark::Disc { at: place(*at), radius: *radius, color: GREY });
                }
            }
        }
        self.labels(sheet, [x0, y0, x1, y1], &place);
        for series in self.series.iter().filter(|series| series.style == Style::Line) {
            let last = series.points.iter().rev().find(|p| p.iter().all(|v| drawable(*v)));
            if let Some(last) = last {
                end_mark(sheet, place(*last), 4.0, series.index);
            }
        }
        if let Some(message) = &self.message {
            let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
            // No line of the grid goes through it.
            let [a, b] = [0.55 * font::width(message, LABEL) + 4.0, LABEL];
            let points = [[-a, -b], [a, -b], [a, b], [-a, b]].map(|[x, y]| [middle[0] + x, middle[1] + y]);
            sheet.marks.push(Mark::Area { points: points.to_vec(), color: color::WHITE });
            sheet.text(middle, message, LABEL, GREY, (Horizontal::Center, Vertical::Center));
        }
    }

    /// Draws marks, and the texts beside them that find a place inside of the axes where nothing else is. Others are in the legend.
    fn labels(&self, sheet: &mut Sheet, inside: Rectangle, place: &impl Fn([f64; 2]) -> [f64; 2]) {
        let around = |[x, y]: [f64; 2], r: f64| [x - r, y - r, x + r, y + r];
        let (mut taken, mut marked): (Vec<Rectangle>, Vec<_>) = (Vec::new(), Vec::new());
        for shape in &self.over {
            match shape {
                Over::Disc(at, radius) => taken.push(around(place(*at), *radius)),
                Over::Labelled(at, index, text) => {
                    taken.push(around(place(*at), 5.0));
                    marked.push((place(*at), *index, text));
                }
                Over::Line(_) | Over::Still(_) | Over::Area(..) => {}
            }
        }
        for (at, index, _) in &marked {
            end_mark(sheet, *at, 5.0, *index);
        }
        for ([x, y], _, text) in marked {
            // The reader of an SVG may have a wider font.
            let (wide, high) = (1.1 * font::width(text, TICK), TICK + 2.0);
            let aside = [(9.0, 0.0), (-9.0 - wide, 0.0)];
            let slanted = [(7.0, -9.0), (7.0, 9.0), (-7.0 - wide, -9.0), (-7.0 - wide, 9.0)];
            let straight = [(-wide / 2.0, -14.0), (-wide / 2.0, 14.0)];
            let found = aside.into_iter().chain(slanted).chain(straight).find(|(right, down)| {
                let [left, top] = [x + right, y + down - high / 2.0];
                let text = [left, top, left + wide, top + high];
                let whole =
                    text[0] > inside[0] && text[2] < inside[2] && text[1] > inside[1] && text[3] < inside[3];
                whole && !taken.iter().any(|other| overlap(other, &text))
            });
            if let Some((right, down)) = found {
                let [left, middle] = [x + right, y + down];
                sheet.text([left, middle], text, TICK, INK, (Horizontal::Left, Vertical::Center));
                taken.push([left, middle - high / 2.0, left + wide, middle + high / 2.0]);
            }
        }
    }

    /// The entries of the legend in rows that fit.
    fn legend(&self, width: f64) -> Vec<Vec<Entry>> {
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        let curves = named
            .map(|series| Entry { text: series.name.clone(), key: Key::Curve(series.index, series.style) });
        let scale =
            self.scale.iter().map(|[low, high]| Entry { text: high.clone(), key: Key::Scale(low.clone()) });
        let curves = curves.chain(scale);
        let notes = self.notes.iter().map(|note| Entry { text: note.clone(), key: Key::Note });
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
    key: Key,
}

/// What stands before the text of an entry.
enum Key {
    Curve(usize, Style),
    /// All colours, after the text of the first of them.
    Scale(String),
    Note,
}

/// How long the scale of colours is.
const SCALE: f64 = 160.0;

impl Entry {
    fn width(&self) -> f64 {
        // The reader of an SVG may have a wider font.
        let key = match &self.key {
            Key::Curve(..) => 30.0,
            Key::Scale(low) => 1.1 * font::width(low, TICK) + SCALE + 16.0,
            Key::Note => 0.0,
        };
        key + 1.1 * font::width(&self.text, TICK) + 12.0
    }
}

fn draw_legend(sheet: &mut Sheet, row: &[Entry], [mut x, y]: [f64; 2]) {
    for entry in row {
        let (mut at, middle) = (x, y + 8.0);
        let left = (Horizontal::Left, Vertical::Center);
        match &entry.key {
            Key::Curve(index, style) => {
                match style {
                    Style::Points(color, _) => {
                        sheet.marks.push(Mark::Disc { at: [x + 17.0, middle], radius: 4.0, color: *color });
                    }
                    Style::Curve(color) => {
                        sheet.line([[x, middle], [x + 24.0, middle]], 1.6, *color);
                    }
                    Style::Line => {
                        sheet.line([[x, middle], [x + 24.0, middle]], 1.6, color::series(*index));
                        end_mark(sheet, [x + 12.0, middle], 4.0, *index);
                    }
                }
                at += 30.0;
            }
            Key::Scale(low) => {
                sheet.text([x, middle], low, TICK, INK, left);
                let start = x + 1.1 * font::width(low, TICK) + 8.0;
                const STRIPES: usize = 64;
                for stripe in 0..STRIPES {
                    let [from, to] = [stripe, stripe + 1].map(|i| start + SCALE * i as f64 / STRIPES as f64);
                    let color = color::scale(stripe as f64 / (STRIPES - 1) as f64);
                    // A little wider than its part, so that no white shows between.
                    let to = (to + 0.4).min(start + SCALE);
                    let (top, bottom) = (middle - 5.0, middle + 5.0);
                    let points = vec![[from, top], [to, top], [to, bottom], [from, bottom]];
                    sheet.marks.push(Mark::Area { points, color });
                }
                at = start + SCALE + 8.0;
            }
            Key::Note => {}
        }
        let ink = if matches!(entry.key, Key::Note) { GREY } else { INK };
        sheet.text([at, middle], &entry.text, TICK, ink, left);
        x += entry.width();
    }
}

/// Grid, axes, ticks and labels.
fn frame(
    sheet: &mut Sheet,
    [x0, y0, x1, y1]: [f64; 4],
    place: &impl Fn([f64; 2]) -> [f64; 2],
    [horizontal, vertical]: [&Ticks; 2],
    [low_x, low_y]: [f64; 2],
    grid: bool,
) {
    let across = |sheet: &mut Sheet, line: [[f64; 2]; 2]| {
        if grid {
            sheet.line(line, 1.0, GRID);
        }
    };
    for (value, label) in &horizontal.major {
        let [x, _] = place([*value, low_y]);
        across(sheet, [[x, y0], [x, y1]]);
        sheet.line([[x, y1], [x, y1 + 4.0]], 1.0, INK);
        sheet.text([x, y1 + 7.0], label, TICK, INK, (Horizontal::Center, Vertical::Top));
    }
    for (value, label) in &vertical.major {
        let [_, y] = place([low_x, *value]);
        across(sheet, [[x0, y], [x1, y]]);
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

fn draw_series(sheet: &mut Sheet, series: &Series, place: &impl Fn([f64; 2]) -> [f64; 2]) {
    let whole = |p: &[f64; 2]| p.iter().all(|v| drawable(*v));
    if let Style::Points(color, radius) = series.style {
        for point in series.points.iter().filter(|p| whole(p)) {
            sheet.marks.push(Mark::Disc { at: place(*point), radius, color });
        }
        return;
    }
    let (color, width) = match series.style {
        Style::Curve(color) => (color, 0.9),
        _ => (color::series(series.index), 1.3),
    };
    for run in series.points.split(|p| !whole(p)).filter(|run| run.len() > 1) {
        sheet.line(run.iter().map(|p| place(*p)).collect::<Vec<_>>(), width, color);
    }
}

/// A mark by which a curve is known without its colour.
fn end_mark(sheet: &mut Sheet, [x, y]: [f64; 2], r: f64, index: usize) {
    let color = color::series(index);
    let corners: &[[f64; 2]] = match index % color::SEVERAL {
        1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
        2 => &[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
        3 => &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
        4 => &[[0.0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
        5 => &[[-1.3, 0.4], [-1.3, -0.4], [1.3, -0.4], [1.3, 0.4]],
        6 => &[[-0.4, -1.3], [0.4, -1.3], [0.4, 1.3], [-0.4, 1.3]],
        7 => &[[-1.2, -1.0], [0.0, -0.3], [1.2, -1.0], [0.0, 1.2]],
        _ => {
            sheet.marks.push(Mark::Disc { at: [x, y], radius: r, color });
            return;
        }
    };
    let points = corners.iter().map(|[dx, dy]| [x + r * dx, y + r * dy]).collect();
    sheet.marks.push(Mark::Area { points, color });
}

/// Left, top, right and bottom.
type Rectangle = [f64; 4];

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
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
