//! A problem about rest: its equilibrium, its modes there, and both as tables and records for files and pictures.

use crate::meshes::colour;
use crate::problem::Problem;
use leastaction_analyze::{AnalyzeError, Equilibrium, Mode, ModeKind, Modes, equilibrium};
use leastaction_mechanics::Dynamics;
use leastaction_output::{About, ColumnKind, Record, RecordError, Table};
use std::io;
use std::ops::Range;

/// By how much of the size of everything a mode is shown to move.
const SHOWN: f64 = 0.1;
/// In so many samples a period looks smooth.
const SAMPLES: usize = 96;

impl Problem<'_> {
    /// The equilibrium that is found from the initial coordinates, whatever velocities are.
    ///
    /// # Errors
    /// [`AnalyzeError`] says why there is none, or how far the search came.
    pub fn equilibrium(&mut self) -> Result<Equilibrium, AnalyzeError> {
        equilibrium(&mut self.dynamics, self.start.t, &self.start.q)
    }

    /// The lowest normal modes about an equilibrium.
    ///
    /// # Errors
    /// [`AnalyzeError`] says why there are none, or how far the search came.
    pub fn modes(&mut self, about: &Equilibrium, count: usize) -> Result<Modes, AnalyzeError> {
        about.modes(&mut self.dynamics, self.start.t, count)
    }

    /// All that is recorded of a state, at an equilibrium.
    ///
    /// # Errors
    /// [`RecordError`] if something cannot be computed there.
    pub fn equilibrium_record(&mut self, at: &Equilibrium) -> Result<Record, RecordError> {
        let n = at.q.len();
        let mut z = at.q.clone();
        z.resize(2 * n, 0.0);
        let y = self.state_of(self.start.t, &z)?;
        self.record_of(&[(self.start.t, &y[..])])
    }

    /// A mode as a motion of one period about an equilibrium, large enough to be seen: what can be drawn of it. Constraints are kept.
    ///
    /// # Errors
    /// [`RecordError`] if something cannot be computed on the way.
    pub fn mode_record(&mut self, about: &Equilibrium, mode: &Mode) -> Result<Record, RecordError> {
        let (n, t) = (about.q.len(), self.start.t);
        let omega = match mode.kind {
            ModeKind::Vibration => mode.frequency(),
            ModeKind::Growing => mode.growth(),
            ModeKind::Free => 1.0,
        };
        let amplitude = self.amplitude(&about.q, &mode.shape)?;
        let period = std::f64::consts::TAU / omega;
        let mut states = Vec::with_capacity(SAMPLES + 1);
        for k in 0..=SAMPLES {
            let phase = std::f64::consts::TAU * k as f64 / SAMPLES as f64;
            let (x, v) = (amplitude * phase.sin(), amplitude * omega * phase.cos());
            let places = about.q.iter().zip(&mode.shape).map(|(q, phi)| q + x * phi);
            let z: Vec<f64> = places.chain(mode.shape.iter().map(|phi| v * phi)).collect();
            let mut y = self.state_of(t, &z)?;
            if self.dynamics.system().facts().constrained {
                // Where a step as large as this leads too far away, the tangent is shown.
                let mut projected = y.clone();
                if self.dynamics.project(&[t], &mut projected).is_ok() {
                    y = projected;
                }
            }
            states.push((t + period * k as f64 / SAMPLES as f64, y));
        }
        debug_assert!(states.iter().all(|(_, y)| y.len() == 2 * n));
        let samples: Vec<_> = states.iter().map(|(t, y)| (*t, &y[..])).collect();
        self.record_of(&samples)
    }

    fn record_of(&mut self, samples: &[(f64, &[f64])]) -> Result<Record, RecordError> {
        let mut record = Record::of_samples(samples.iter().copied(), &mut self.dynamics, &[])?;
        colour(&mut record, &self.setup.drawing, &mut self.dynamics, samples.iter().copied())?;
        Ok(record)
    }

    /// What files say about equilibria and modes.
    #[must_use]
    pub fn about_rest(&self, what: &str) -> About {
        let names = self.dynamics.system().parameters().iter().map(|(name, _)| name.clone());
        About {
            system: self.name.clone(),
            method: what.to_owned(),
            parameters: names.zip(self.dynamics.parameters().iter().copied()).collect(),
            ended: "complete".to_owned(),
            ..About::default()
        }
    }

    /// The state of coordinates and velocities.
    fn state_of(&mut self, t: f64, z: &[f64]) -> Result<Vec<f64>, RecordError> {
        let n = z.len() / 2;
        let mut y = z.to_vec();
        let status = self.dynamics.momenta(&[t], z, &mut y[n..]);
        status.map_err(|reason| RecordError { what: "momenta", t, reason })?;
        Ok(y)
    }

    /// How far to go along a mode, so that the place that moves most moves by a part of the size of all.
    fn amplitude(&mut self, q: &[f64], shape: &[f64]) -> Result<f64, RecordError> {
        let t = self.start.t;
        let most = shape.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let step = 1e-4 / most;
        let moved: Vec<f64> = q.iter().zip(shape).map(|(q, x)| q + step * x).collect();
        let fail = |reason| RecordError { what: "positions", t, reason };
        let here = positions(&mut self.dynamics, t, q).map_err(fail)?;
        let there = positions(&mut self.dynamics, t, &moved).map_err(fail)?;
        let size = spread(&here);
        let fastest = here.iter().zip(&there).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / step;
        let (amplitude, turn) = (SHOWN * size / fastest, 0.5 / most);
        // Where nothing has a place, or an angle would turn over, coordinates themselves say what is much.
        Ok(if amplitude.is_finite() && amplitude > 0.0 { amplitude.min(4.0 * turn) } else { turn })
    }
}

fn positions(
    dynamics: &mut Dynamics,
    t: f64,
    q: &[f64],
) -> Result<Vec<f64>, leastaction_mechanics::EvalError> {
    let axes = dynamics.system().places().iter().map(|place| place.dimensions).sum();
    let (mut y, mut x) = (q.to_vec(), vec![0.0; axes]);
    y.resize(2 * q.len(), 0.0);
    if axes > 0 {
        dynamics.positions(&[t], &y, &mut x)?;
    }
    Ok(x)
}

/// The largest difference of two numbers, or the largest number if all are one.
fn spread(x: &[f64]) -> f64 {
    let (low, high) = x.iter().fold((0.0f64, 0.0f64), |(low, high), x| (low.min(*x), high.max(*x)));
    high - low
}

/// Modes as a table: a row for each, with its shape by coordinates.
pub struct ModesTable<'a> {
    modes: &'a [Mode],
    coordinates: &'a leastaction_expr::Names,
}

impl<'a> ModesTable<'a> {
    /// The table of modes of these dynamics.
    #[must_use]
    pub fn new(modes: &'a Modes, dynamics: &'a Dynamics) -> ModesTable<'a> {
        ModesTable { modes: &modes.modes, coordinates: dynamics.system().coordinates() }
    }
}

/// The columns before those of shapes.
const FIRST: [&str; 5] = ["mode", "kind", "square", "frequency", "growth"];

impl Table for ModesTable<'_> {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let first = FIRST.into_iter().map(|name| ("modes", name.to_owned()));
        first.chain(self.coordinates.iter().map(|name| ("coordinates", name))).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        match column {
            0 => ColumnKind::Whole,
            1 => ColumnKind::Word(["vibration", "free", "growing"].map(str::to_owned).to_vec()),
            _ => ColumnKind::Number,
        }
    }

    fn rows(&self) -> u64 {
        self.modes.len() as u64
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let rows = rows.start as usize..rows.end as usize;
        let all = self.modes.get(rows.clone()).ok_or_else(|| io::Error::other("there are no such modes"))?;
        into.extend(all.iter().zip(rows).map(|(mode, number)| match column {
            0 => number as f64 + 1.0,
            1 => f64::from(mode.kind as u8),
            2 => mode.square,
            3 => mode.frequency(),
            4 => mode.growth(),
            column => mode.shape[column - FIRST.len()],
        }));
        Ok(())
    }
}
