//! The lines above and below the picture: time, speed, method, energies, and what there is to say.

use super::clock::Clock;
use super::screen::Frame;
use super::view::View;
use crate::command::canvas::Ink;
use leastaction::integrate::rounded;
use leastaction::simulate::{Playback, Snapshot};

/// What does not change while a system is watched.
pub(super) struct Title {
    /// The system.
    pub(super) name: String,
    /// The method with its pace.
    pub(super) method: String,
    /// Whether nothing should change the energy.
    pub(super) conserved: bool,
    /// How many digits a time has behind its point.
    pub(super) digits: usize,
}

/// An energy that should not change, and changes by more than this of itself, is not to be trusted.
const WRONG: f64 = 1e-2;
/// The number of blanks between parts of a line.
const GAP: usize = 2;

impl Title {
    /// Writes the first line.
    pub(super) fn head(&self, frame: &mut Frame, view: &View, clock: &Clock) {
        let time = format!("t = {:.*}", self.digits, clock.now + 0.0);
        let speed = match clock.slow(view.speed) {
            Some(reached) if !view.paused => {
                format!("×{} of ×{}, computed no faster", rough(reached), rough(view.speed))
            }
            _ if view.speed == 1.0 => "real time".to_owned(),
            _ => format!("×{}", rough(view.speed)),
        };
        let at = frame.write(0, 0, &self.name, Ink::Strong);
        let at = frame.write(at + GAP, 0, &time, Ink::Plain);
        let at = frame.write(at + GAP, 0, &speed, Ink::Plain);
        let at = if view.paused { frame.write(at + GAP, 0, "paused", Ink::Warning) } else { at };
        let length = self.method.chars().count();
        if at + GAP + length <= frame.columns {
            frame.write(frame.columns - length, 0, &self.method, Ink::Faint);
        }
    }

    /// Writes the last line: what there is to say, or else the energies.
    pub(super) fn foot(
        &self,
        frame: &mut Frame,
        playback: &Playback,
        snapshot: &Snapshot,
        note: Option<(&str, Ink)>,
    ) {
        let row = frame.rows.saturating_sub(1);
        let [scale, first] = playback.energy;
        let change = (snapshot.energy - first) / scale;
        let mut parts = Vec::new();
        if let Some([kinetic, potential]) = snapshot.shares {
            parts.push(format!("kinetic {}", even(kinetic)));
            parts.push(format!("potential {}", even(potential)));
        }
        parts.push(format!("energy {}", even(snapshot.energy)));
        parts.push(if self.conserved {
            format!("drift {change:+.1e}")
        } else {
            format!("change {:+.2} %", 100.0 * change)
        });
        let at = match note {
            // What does not fit into the last line begins above it.
            Some((text, ink)) => {
                let lines = wrapped(text, frame.columns);
                let first = frame.rows.saturating_sub(lines.len());
                let written = lines.iter().zip(first..).map(|(line, row)| {
                    frame.write(0, row, &" ".repeat(frame.columns), Ink::Plain);
                    frame.write(0, row, line, ink)
                });
                written.last().unwrap_or(0)
            }
            None => {
                let wrong = self.conserved && change.abs() > WRONG;
                let ink = if wrong { Ink::Warning } else { Ink::Plain };
                frame.write(0, row, &parts.join(&" ".repeat(GAP)), ink)
            }
        };
        let hint = "? keys";
        if at + GAP + hint.len() <= frame.columns {
            frame.write(frame.columns - hint.len(), row, hint, Ink::Faint);
        }
    }
}

/// A text in lines of at most this length, broken between words.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A number in seven letters or so, as many as the next one: lines should not jump.
fn even(value: f64) -> String {
    let size = value.abs();
    let text = match () {
        () if value == 0.0 || (1e-2..1e2).contains(&size) => format!("{value:.4}"),
        () if (1e2..1e6).contains(&size) => format!("{value:.1}"),
        () => format!("{value:.2e}"),
    };
    format!("{text:>8}")
}

/// A number in two digits.
pub(super) fn rough(value: f64) -> String {
    rounded(value, 2)
}

/// How many digits behind the point a time has that passes at such a speed.
pub(super) fn digits(speed: f64) -> usize {
    (2.0 - speed.abs().log10().floor()).clamp(0.0, 17.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("to be or not", 5), ["to be", "or", "not"]);
        assert_eq!(wrapped("unbelievable", 5), ["unbelievable"]);
        assert!(wrapped("", 5).is_empty());
    }

    #[test]
    fn numbers_keep_their_width() {
        for value in [0.0, 1.5, -1.5, 99.99, 12345.6, -2.5e-9, 7e300] {
            assert!((8..=9).contains(&even(value).chars().count()), "{}", even(value));
        }
        assert_eq!([rough(0.25), rough(5000.0), rough(1.0 / 3.0)], ["0.25", "5000", "0.33"]);
        assert_eq!([digits(1.0), digits(5000.0), digits(1e-3)], [2, 0, 5]);
    }
}
