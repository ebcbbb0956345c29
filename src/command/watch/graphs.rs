//! Graphs of a motion without a drawing: coordinates against time, or velocities against coordinates.

use super::screen::Frame;
use super::view::View;
use crate::command::canvas::{Canvas, FADES, Ink, Place};
use leastaction::simulate::{Playback, Snapshot};

/// The smallest numbers of rows of a graph, and of columns and rows of a portrait.
const LOWEST: usize = 3;
const SMALLEST: [usize; 2] = [16, 5];
/// Graphs show this much of the past, as a multiple of the time of trails, which is not less than some seconds.
const MORE: f64 = 3.0;
const SHORTEST: f64 = 1.0;
/// A range that is smaller than this part of its values is rounding.
const FLAT: f64 = 1e-12;

/// A part of a canvas with a range of numbers: where points are laid.
struct Panel {
    /// Columns and rows of cells: where it begins, and how many.
    cells: [[usize; 2]; 2],
    low: [f64; 2],
    high: [f64; 2],
}

impl Panel {
    fn new(cells: [[usize; 2]; 2]) -> Panel {
        Panel { cells, low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] }
    }

    /// Widens the range of an axis so that it holds a value.
    fn include(&mut self, axis: usize, value: f64) {
        if value.is_finite() {
            self.low[axis] = self.low[axis].min(value);
            self.high[axis] = self.high[axis].max(value);
        }
    }

    /// Gives a range some air, and one of no width a width.
    fn air(&mut self, axis: usize) {
        let (low, high) = (self.low[axis], self.high[axis]);
        if low > high {
            (self.low[axis], self.high[axis]) = (-1.0, 1.0);
        } else if high - low <= FLAT * high.abs().max(low.abs()) {
            let air = if high == 0.0 { 1.0 } else { 0.5 * high.abs() };
            (self.low[axis], self.high[axis]) = (low - air, high + air);
        } else {
            let air = 0.06 * (high - low);
            (self.low[axis], self.high[axis]) = (low - air, high + air);
        }
    }

    fn place(&self, point: [f64; 2]) -> Place {
        let [begin, size] = self.cells;
        let part = [0, 1].map(|axis| (point[axis] - self.low[axis]) / (self.high[axis] - self.low[axis]));
        let dots = [2 * size[0], 4 * size[1]].map(|n| n as f64 - 0.01);
        [2.0 * begin[0] as f64 + part[0] * dots[0], 4.0 * begin[1] as f64 + (1.0 - part[1]) * dots[1]]
    }

    /// Where a value of the axis is 0, if that is inside.
    fn zero(&self, axis: usize) -> Option<[Place; 2]> {
        let inside = self.low[axis] < 0.0 && self.high[axis] > 0.0;
        let ends = [self.low, self.high].map(|mut end| {
            end[axis] = 0.0;
            self.place(end)
        });
        inside.then_some(ends)
    }
}

/// Draws coordinates against time, as many as there is room for. `row` is where the canvas begins in the frame.
pub(super) fn against_time(
    frame: &mut Frame,
    canvas: &mut Canvas,
    row: usize,
    names: &[String],
    playback: &Playback,
    snapshot: &Snapshot,
    view: &View,
) {
    let [columns, rows] = cells(canvas);
    let count = names.len().min(rows / LOWEST).max(1);
    let window = (MORE * view.trail_time()).max(SHORTEST * view.speed) / view.zoom;
    let way = if playback.last() < playback.first() { -1.0 } else { 1.0 };
    let mut texts = Vec::new();
    for (i, name) in names.iter().take(count).enumerate() {
        let (top, bottom) = (i * rows / count, (i + 1) * rows / count);
        let mut panel = Panel::new([[0, top], [columns, bottom - top]]);
        let seen = || playback.past(snapshot.t, window).chain(std::iter::once(snapshot));
        seen().for_each(|snapshot| panel.include(1, snapshot.coordinates[i]));
        panel.air(1);
        (panel.low[0], panel.high[0]) = (-window, 0.0);
        if let Some(ends) = panel.zero(1) {
            canvas.dotted(&ends, 4, Ink::Still);
        }
        let points: Vec<Place> =
            seen().map(|s| panel.place([-way * (snapshot.t - s.t), s.coordinates[i]])).collect();
        canvas.dotted(&points, 1, Ink::Disc(i as u8));
        let more = if i + 1 == count && names.len() > count {
            format!("  (and {} more)", names.len() - count)
        } else {
            String::new()
        };
        texts.push((0, top, format!("{name} = {:.5}{more}", snapshot.coordinates[i])));
    }
    label(frame, canvas, row, &texts);
}

/// Draws velocities against coordinates, as many as there is room for.
pub(super) fn phases(
    frame: &mut Frame,
    canvas: &mut Canvas,
    row: usize,
    names: &[(String, String)],
    playback: &Playback,
    snapshot: &Snapshot,
    view: &View,
) {
    let [columns, rows] = cells(canvas);
    let (across, down) = grid(names.len(), columns, rows);
    let mut texts = Vec::new();
    for (k, (name, rate)) in names.iter().take(across * down).enumerate() {
        let (i, j) = (k % across, k / across);
        let (left, right) = (i * columns / across, (i + 1) * columns / across);
        let (top, bottom) = (j * rows / down, (j + 1) * rows / down);
        // A blank column and row keep neighbours apart; the first row is for the name.
        let size = [right - left - usize::from(i + 1 < across), bottom - top - 1];
        let mut panel = Panel::new([[left, top + 1], size]);
        for known in playback.snapshots() {
            panel.include(0, known.coordinates[k]);
            panel.include(1, known.velocities[k]);
        }
        [0, 1].into_iter().for_each(|axis| panel.air(axis));
        [0, 1].into_iter().filter_map(|axis| panel.zero(axis)).for_each(|e| canvas.dotted(&e, 4, Ink::Still));
        let time = view.trail_time().max(SHORTEST * view.speed);
        let seen: Vec<&Snapshot> =
            playback.past(snapshot.t, MORE * time).chain(std::iter::once(snapshot)).collect();
        for fade in (0..FADES).rev() {
            let part = |f: u8| seen.len() * usize::from(FADES - f) / usize::from(FADES);
            let (from, to) = (part(fade + 1), part(fade));
            let points = seen[from..to].iter().map(|s| panel.place([s.coordinates[k], s.velocities[k]]));
            canvas.dotted(&points.collect::<Vec<_>>(), 1, Ink::Trail(k as u8, fade));
        }
        canvas.disc(panel.place([snapshot.coordinates[k], snapshot.velocities[k]]), 1.6, Ink::Disc(k as u8));
        let more = match names.len() - across * down.min(names.len()) {
            more if more > 0 && k + 1 == across * down => format!("  (and {more} more)"),
            _ => String::new(),
        };
        texts.push((left, top, format!("{rate} against {name}{more}")));
    }
    label(frame, canvas, row, &texts);
}

/// How many portraits go across and down: all of them if there is room, in a grid that is about as wide as the canvas.
fn grid(count: usize, columns: usize, rows: usize) -> (usize, usize) {
    let most = [(columns / SMALLEST[0]).max(1), (rows / SMALLEST[1]).max(1)];
    let shape = columns as f64 / (2.0 * rows.max(1) as f64);
    let across = ((count as f64 * shape).sqrt().round() as usize).clamp(1, most[0].min(count.max(1)));
    (across, count.div_ceil(across).clamp(1, most[1]))
}

fn cells(canvas: &Canvas) -> [usize; 2] {
    let [across, down] = canvas.dots();
    [across / 2, down / 4]
}

/// Lays the canvas into the frame, and texts over it.
fn label(frame: &mut Frame, canvas: &Canvas, row: usize, texts: &[(usize, usize, String)]) {
    frame.lay(canvas, row);
    for (column, line, text) in texts {
        frame.write(*column, row + line, text, Ink::Strong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portraits_share_the_canvas() {
        assert_eq!(grid(1, 80, 22), (1, 1));
        assert_eq!(grid(2, 80, 22), (2, 1));
        assert_eq!(grid(8, 80, 22), (4, 2));
        assert_eq!(grid(1000, 80, 22), (5, 4));
        assert_eq!(grid(3, 10, 3), (1, 1));
        assert_eq!(grid(0, 80, 22), (1, 1));
    }

    #[test]
    fn panels_hold_their_points() {
        let mut panel = Panel::new([[10, 5], [20, 4]]);
        [-1.0, 3.0, f64::NAN].into_iter().for_each(|x| panel.include(0, x));
        panel.include(1, 2.0);
        [0, 1].into_iter().for_each(|axis| panel.air(axis));
        let [x, y] = panel.place([-1.0, 2.0]);
        assert!(x > 20.0 && x < 24.0 && (y - 28.0).abs() < 0.1, "{x}, {y}");
        assert!(panel.zero(0).is_some() && panel.zero(1).is_none());
        let mut empty = Panel::new([[0, 0], [1, 1]]);
        empty.air(0);
        assert_eq!((empty.low[0], empty.high[0]), (-1.0, 1.0));
    }
}
