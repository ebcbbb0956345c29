//! Checkpoints: all that the rest of a run depends on, so that it can go on later with the same bits.

use crate::error::{CheckpointError, CheckpointFileError};
use crate::pace::{Pace, Tolerance};
use crate::run::checksum::checksum;
use crate::run::density::Density;
use crate::run_loop::RunLoop;
use leastaction_mechanics::System;
use std::fmt;
use std::path::Path;
use std::str::{FromStr, SplitWhitespace};

/// The state of a run between two steps, to be [resumed](crate::Integrator::resume).
///
/// As text it is lines of words; numbers are written such that they are read back to the last bit. The last line is a check of the
/// others, so that a file that was cut off or changed is not taken for a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub(crate) method: String,
    pub(crate) states: Vec<String>,
    pub(crate) parameters: Vec<f64>,
    pub(crate) pace: Pace,
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) width: usize,
    t: f64,
    numbers: Vec<f64>,
    flags: Vec<bool>,
    counts: Vec<u64>,
}

/// A part of what the rest of a run depends on.
#[derive(Debug)]
pub enum Kept<'a> {
    /// Numbers, lanes innermost.
    Numbers(&'a mut [f64]),
    /// Whether something holds, lane by lane.
    Flags(&'a mut [bool]),
    /// How often something has happened, for all or lane by lane.
    Counts(&'a mut [u64]),
}

const TITLE: &str = "leastaction checkpoint 4";

impl Checkpoint {
    pub(crate) fn of(run: &mut RunLoop<'_>, pace: &Pace) -> Checkpoint {
        let (mut numbers, mut flags, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        run.memory(&mut |part| match part {
            Kept::Numbers(part) => numbers.extend_from_slice(part),
            Kept::Flags(part) => flags.extend_from_slice(part),
            Kept::Counts(part) => counts.extend_from_slice(part),
        });
        Checkpoint {
            method: run.card.name.to_owned(),
            states: state_names(run.motion.system()),
            parameters: run.motion.plain().parameters().to_vec(),
            pace: pace.clone(),
            start: run.start,
            end: run.end,
            width: run.block.width(),
            t: run.times()[0],
            numbers,
            flags,
            counts,
        }
    }

    /// Puts a run where this one was.
    pub(crate) fn restore(&self, run: &mut RunLoop<'_>) -> Result<(), CheckpointError> {
        let (mut numbers, mut flags) = (self.numbers.as_slice(), self.flags.as_slice());
        let (mut counts, mut complete) = (self.counts.as_slice(), true);
        run.memory(&mut |part| {
            complete &= match part {
                Kept::Numbers(part) => take(&mut numbers, part),
                Kept::Flags(part) => take(&mut flags, part),
                Kept::Counts(part) => take(&mut counts, part),
            };
        });
        if complete && numbers.is_empty() && flags.is_empty() && counts.is_empty() {
            Ok(())
        } else {
            let found = self.numbers.len() + self.flags.len() + self.counts.len();
            Err(CheckpointError::Count { found })
        }
    }

    /// Whether this is of a run of such a system, with such parameters.
    pub(crate) fn check(&self, system: &System, parameters: &[f64]) -> Result<(), CheckpointError> {
        let states = state_names(system);
        if states != self.states {
            return Err(CheckpointError::System { expected: states, found: self.states.clone() });
        }
        let names = system.parameters().iter().map(|(name, _)| name);
        for ((name, now), then) in names.zip(parameters).zip(&self.parameters) {
            if now.to_bits() != then.to_bits() {
                return Err(CheckpointError::Parameter { name: name.clone(), now: *now, then: *then });
            }
        }
        Ok(())
    }

    /// How many numbers it holds.
    pub(crate) fn size(&self) -> usize {
        self.numbers.len() + self.counts.len() + self.flags.len() + self.parameters.len()
    }

    /// The time that was reached.
    #[must_use]
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Writes the checkpoint to a file, which is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`CheckpointFileError::File`] if it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointFileError> {
        let failed = |source| CheckpointFileError::File { path: path.to_owned(), source };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let temporary = path.with_file_name(name);
        std::fs::write(&temporary, self.to_string()).map_err(failed)?;
        std::fs::rename(&temporary, path).map_err(failed)
    }

    /// Reads a checkpoint from a file.
    ///
    /// # Errors
    /// [`CheckpointFileError`] if there is none in it.
    pub fn load(path: &Path) -> Result<Checkpoint, CheckpointFileError> {
        let failed = |source| CheckpointFileError::File { path: path.to_owned(), source };
        Ok(std::fs::read_to_string(path).map_err(failed)?.parse()?)
    }
}

/// Reads as many as there is room for; returns whether there are so many.
fn take<T: Copy>(rest: &mut &[T], part: &mut [T]) -> bool {
    let Some((read, after)) = rest.split_at_checked(part.len()) else { return false };
    part.copy_from_slice(read);
    *rest = after;
    true
}

fn state_names(system: &System) -> Vec<String> {
    system.coordinates().iter().chain(system.momenta()).collect()
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        writeln!(f, "{text}{CHECK}{:016x}", checksum(text.bytes()))
    }
}

/// What the last line begins with.
const CHECK: &str = "check ";

impl Checkpoint {
    /// Writes all but the check.
    fn write(&self, f: &mut impl fmt::Write) -> fmt::Result {
        writeln!(f, "{TITLE}\nmethod {}\nstates {}", self.method, self.states.join(" "))?;
        writeln!(f, "parameters{}", words(&self.parameters))?;
        match &self.pace {
            Pace::Step(step) => writeln!(f, "step {step:e}")?,
            Pace::Tolerance(Tolerance { relative, absolute }) => {
                writeln!(f, "tolerance {relative:e}{}", words(absolute.as_slice()))?;
            }
            Pace::Density(Density { wanted, epsilon, from }) => {
                // An expression may run over lines; to it they are spaces. 0 is no density.
                let wanted = wanted.iter().flat_map(|text| text.split_whitespace());
                let wanted: String = wanted.map(|word| format!(" {word}")).collect();
                writeln!(f, "density {epsilon:e} {:e}{wanted}", from.unwrap_or(0.0))?;
            }
        }
        writeln!(f, "span {:e} {:e}\nlanes {}\nt {:e}", self.start, self.end, self.width, self.t)?;
        writeln!(f, "numbers{}", words(&self.numbers))?;
        let flags: String = self.flags.iter().map(|&flag| if flag { " yes" } else { " no" }).collect();
        let counts: String = self.counts.iter().map(|count| format!(" {count}")).collect();
        writeln!(f, "flags{flags}\ncounts{counts}")
    }
}

/// Numbers with as many digits as it takes to read them back to the last bit.
fn words(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!(" {x:e}")).collect()
}

impl FromStr for Checkpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Checkpoint, CheckpointError> {
        let (body, check) = text.rsplit_once(CHECK).unwrap_or((text, ""));
        let mut lines = body.lines();
        if lines.next() != Some(TITLE) {
            return Err(CheckpointError::Format { line: 1, expected: TITLE });
        }
        if u64::from_str_radix(check.trim_end(), 16) != Ok(checksum(body.bytes())) {
            return Err(CheckpointError::Changed);
        }
        let mut lines = lines.zip(2..);
        let mut take = |keys: &[&'static str]| {
            let (line, number) = lines.next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let key = words.next().and_then(|word| keys.iter().find(|key| **key == word));
            let key = *key.ok_or(CheckpointError::Format { line: number, expected: keys[0] })?;
            Ok::<_, CheckpointError>((key, words, number))
        };
        let (_, mut method, line) = take(&["method"])?;
        let method = method.next().ok_or(CheckpointError::Format { line, expected: "a method" })?.to_owned();
        let states = take(&["states"])?.1.map(str::to_owned).collect();
        let (_, parameters, line) = take(&["parameters"])?;
        let parameters = numbers(parameters, line)?;
        let (key, mut pace, line) = take(&["step", "tolerance", "density"])?;
        let first: Vec<f64> =
            pace.by_ref().take(2).map(|word| number(word, line)).collect::<Result<_, _>>()?;
        let rest: Vec<&str> = pace.collect();
        let pace = match (key, first.as_slice(), rest.as_slice()) {
            ("step", &[step], []) => Pace::Step(step),
            ("tolerance", &[relative, absolute], []) => {
                Pace::Tolerance(Tolerance { relative, absolute: absolute.into() })
            }
            ("tolerance", &[relative, first], rest) => {
                let mut each = vec![first];
                for word in rest {
                    each.push(number(word, line)?);
                }
                Pace::Tolerance(Tolerance { relative, absolute: each.into() })
            }
            ("density", &[epsilon, from], words) => Pace::Density(Density {
                wanted: (!words.is_empty()).then(|| words.join(" ")),
                epsilon,
                from: (from != 0.0).then_some(from),
            }),
            _ => return Err(CheckpointError::Format { line, expected: "a step, a tolerance or a density" }),
        };
        let (_, span, line) = take(&["span"])?;
        let [start, end] = exactly(span, line)?;
        let (_, width, line) = take(&["lanes"])?;
        let [width] = exactly(width, line)?;
        let (_, t, line) = take(&["t"])?;
        let [t] = exactly(t, line)?;
        let (_, rest, line) = take(&["numbers"])?;
        let numbers = numbers(rest, line)?;
        let (_, rest, line) = take(&["flags"])?;
        let flag = |word: &str| match word {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(CheckpointError::Format { line, expected: "yes or no" }),
        };
        let flags = rest.map(flag).collect::<Result<_, _>>()?;
        let (_, rest, line) = take(&["counts"])?;
        let counted = |_| CheckpointError::Format { line, expected: "counts" };
        let counts = rest.map(|word| word.parse().map_err(counted)).collect::<Result<_, _>>()?;
        Ok(Checkpoint {
            method,
            states,
            parameters,
            pace,
            start,
            end,
            width: width as usize,
            t,
            numbers,
            flags,
            counts,
        })
    }
}

fn numbers(words: SplitWhitespace<'_>, line: usize) -> Result<Vec<f64>, CheckpointError> {
    words.map(|word| number(word, line)).collect()
}

fn number(word: &str, line: usize) -> Result<f64, CheckpointError> {
    word.parse().map_err(|_| CheckpointError::Format { line, expected: "numbers" })
}

fn exactly<const N: usize>(words: SplitWhitespace<'_>, line: usize) -> Result<[f64; N], CheckpointError> {
    numbers(words, line)?.try_into().map_err(|_| CheckpointError::Format { line, expected: "other numbers" })
}
