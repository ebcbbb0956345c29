//! The points of a section as a picture of braille.

use super::short;
use crate::command::canvas::{Canvas, Ink};
use leastaction::simulate::Points;

/// The size of the picture, in cells.
const CELLS: [usize; 2] = [64, 22];

/// The points in braille, with their ranges in words.
pub(super) fn picture(points: &Points, names: &[String; 2]) -> String {
    let shown = || points.shown.iter().map(|(_, point)| point).filter(|p| p.iter().all(|x| x.is_finite()));
    let ranges = [0, 1].map(|axis| {
        let fold = |start: f64, pick: fn(f64, f64) -> f64| shown().map(|p| p[axis]).fold(start, pick);
        let (low, high) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
        if high > low { [low, high] } else { [low - 0.5, high + 0.5] }
    });
    if shown().next().is_none() {
        return String::new();
    }
    let mut canvas = Canvas::new(CELLS[0], CELLS[1]);
    let dots = canvas.dots().map(|n| n as f64 - 1.0);
    let part = |axis: usize, x: f64| (x - ranges[axis][0]) / (ranges[axis][1] - ranges[axis][0]);
    for [x, y] in shown() {
        canvas.dot([part(0, *x) * dots[0] + 0.5, (1.0 - part(1, *y)) * dots[1] + 0.5], Ink::Plain);
    }
    let axis_label = |axis: usize| {
        format!("{} from {} to {}", names[axis], short(ranges[axis][0]), short(ranges[axis][1]))
    };
    let line = |row: usize| (0..CELLS[0]).map(|column| canvas.cell(column, row).0).collect::<String>();
    let lines: Vec<String> =
        (0..CELLS[1]).map(|row| format!("  {}", line(row)).trim_end().to_owned()).collect();
    format!("\n  {} (up)\n\n{}\n\n  {} (right)\n", axis_label(1), lines.join("\n"), axis_label(0))
}
