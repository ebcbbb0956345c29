//! How every sample of a run depends on its start and on parameters: for many samples of few numbers.
//!
//! One way back over the run, with a unit weight of each number of the state in a lane of its own, gives how each sample depends on the one before,
//! yₖ₊₁ = Φₖ(yₖ, θ); the chain of these, from the start on,
//!
//! $$S_0=(1,0),\qquad S_{k+1}=\frac{\partial\Phi_k}{\partial y}\,S_k+\Bigl(0,\frac{\partial\Phi_k}{\partial\theta}\Bigr),$$
//!
//! is how they depend on the start. So the work is that of one way back for eight numbers of the state, however many samples there are.

use super::error::AdjointError;
use super::reverse_step::{ReverseStep, Site};
use super::tape::{Cursor, Place, Tape};
use crate::step::Interval;
use leastaction_compile::LANES;
use std::ops::Range;

/// The derivatives of something by the state at a mark before it and by parameters, row by row.
type Rows = Vec<f64>;

/// Where the run is told of: marks between steps, from one to the next, and what is within steps after a mark.
struct Chain {
    marks: Vec<u64>,
    links: Vec<Rows>,
    /// Samples by their places, with their parts of the step that begins at a mark.
    inner: Vec<(usize, usize, f64)>,
    rows: Vec<Rows>,
}

impl Chain {
    fn new(tape: &Tape, size: usize) -> Chain {
        let step_of = |place: &Place| match *place {
            Place::Between(step) | Place::Within(step, _) => Some(step),
            Place::Crossing(_) => None,
        };
        let mut marks: Vec<u64> = tape.samples().iter().filter_map(step_of).chain([0]).collect();
        marks.sort_unstable();
        marks.dedup();
        let within = |(sample, place): (usize, &Place)| match *place {
            Place::Within(step, tau) => Some((sample, marks.binary_search(&step).ok()?, tau)),
            _ => None,
        };
        let inner: Vec<_> = tape.samples().iter().enumerate().filter_map(within).collect();
        let zeros = |count: usize| vec![vec![0.0; size]; count];
        Chain { links: zeros(marks.len() - 1), rows: zeros(inner.len()), marks, inner }
    }

    /// Fills in what some numbers of the state depend on.
    fn fill(&mut self, tape: &Tape, of: Range<usize>) -> Result<(), AdjointError> {
        let (d, k, width) = (tape.dimension(), tape.by().len(), LANES);
        let inputs = tape.dynamics().system().inputs().len();
        let parameters = vec![tape.dynamics().parameters(); of.len()];
        let mut reverse = ReverseStep::new(tape, width, &parameters)?;
        let mut cursor = Cursor::new(tape);
        let mut unit = vec![0.0; d * width];
        of.clone().enumerate().for_each(|(lane, i)| unit[i * width + lane] = 1.0);
        let (mut adjoint, mut sums) = (unit.clone(), vec![0.0; (k + inputs) * width]);
        let put = |rows: &mut Rows, adjoint: &[f64], sums: &[f64]| {
            for (lane, i) in of.clone().enumerate() {
                let row = &mut rows[i * (d + k)..][..d + k];
                (0..d).for_each(|j| row[j] = adjoint[j * width + lane]);
                (0..k).for_each(|j| row[d + j] = sums[j * width + lane]);
            }
        };
        let spread = |values: &[f64]| -> Vec<f64> { values.iter().flat_map(|x| [*x; LANES]).collect() };
        let (mut after, mut left) = (spread(tape.beyond()), self.inner.len());
        let mut mark = self.marks.len() - 1;
        for step in (0..tape.steps()).rev() {
            let record = cursor.back()?;
            let (t, h, y) = ([record.t; LANES], [record.h; LANES], spread(record.y));
            let site = Site { interval: Interval { t: &t, h: &h }, y: &y, after: &after };
            // Beyond the last mark, the way back over a step is only what comes before a look within it.
            let beyond = step >= self.marks[mark];
            let (mut nothing, mut nowhere) = (vec![0.0; adjoint.len()], vec![0.0; sums.len()]);
            let onto = if beyond { (&mut nothing, &mut nowhere) } else { (&mut adjoint, &mut sums) };
            reverse.back(tape.dynamics(), site, (onto.0, onto.1))?;
            let here = if beyond { mark } else { mark.saturating_sub(1) };
            while left > 0 && self.marks[here] == step && self.inner[left - 1].1 == here {
                left -= 1;
                let (mut adjoint, mut sums) = (vec![0.0; adjoint.len()], vec![0.0; sums.len()]);
                let onto = (&mut adjoint[..], &mut sums[..]);
                reverse.inside_all(tape, self.inner[left].2, &unit, site, onto)?;
                put(&mut self.rows[left], &adjoint, &sums);
            }
            if !beyond && self.marks[mark - 1] == step {
                put(&mut self.links[mark - 1], &adjoint, &sums);
                adjoint.copy_from_slice(&unit);
                sums.fill(0.0);
                mark -= 1;
            }
            after = y;
        }
        Ok(())
    }
}

impl Tape {
    /// Shows how the state at each sample depends on the state at the start and on the parameters, sample by sample in the order of the run: a row for each number of the state,
    /// with the derivatives by all numbers of the state block \[q…, p…\] at the start, and then by the parameters. A sample that ends the run by an event, whose time
    /// moves, is left out.
    ///
    /// This is much less work than [`Tape::gradients`] with a seed for each sample, if there are more samples than numbers in a state.
    ///
    /// # Errors
    /// As [`Tape::gradient`].
    pub fn sample_slopes(&self, mut show: impl FnMut(usize, &[f64])) -> Result<(), AdjointError> {
        self.check_alike(self)?;
        let (d, k) = (self.dimension(), self.by().len());
        let width = d + k;
        let mut chain = Chain::new(self, d * width);
        for first in (0..d).step_by(LANES) {
            chain.fill(self, first..(first + LANES).min(d))?;
        }
        let mut state = vec![0.0; d * width];
        (0..d).for_each(|i| state[i * width + i] = 1.0);
        let after = |rows: &Rows, state: &[f64]| -> Result<Rows, AdjointError> {
            let mut products = vec![0.0; d * width];
            for (row, out) in rows.chunks_exact(width).zip(products.chunks_exact_mut(width)) {
                for (slope, from) in
                    row.iter().zip(state.chunks_exact(width)).filter(|(slope, _)| **slope != 0.0)
                {
                    out.iter_mut().zip(from).for_each(|(sum, x)| *sum += slope * x);
                }
                out[d..].iter_mut().zip(&row[d..]).for_each(|(sum, x)| *sum += x);
            }
            self.check_slopes(&products)?;
            Ok(products)
        };
        let (mut mark, mut inner) = (0, chain.inner.iter().zip(&chain.rows).peekable());
        for (sample, place) in self.samples().iter().enumerate() {
            let step = match *place {
                Place::Between(step) | Place::Within(step, _) => step,
                Place::Crossing(_) => continue,
            };
            while chain.marks[mark] < step {
                state = after(&chain.links[mark], &state)?;
                mark += 1;
            }
            match inner.next_if(|((of, ..), _)| *of == sample) {
                Some((_, rows)) => show(sample, &after(rows, &state)?),
                None => show(sample, &state),
            }
        }
        Ok(())
    }

    /// Refuses derivatives that do not exist.
    fn check_slopes(&self, rows: &[f64]) -> Result<(), AdjointError> {
        let (d, system) = (self.dimension(), self.dynamics().system());
        match rows.iter().position(|x| !x.is_finite()).map(|place| place % (d + self.by().len())) {
            None => Ok(()),
            Some(i) if i < d => {
                Err(AdjointError::NotFinite { name: format!("`{}` at the start", system.state_name(i)) })
            }
            Some(i) => {
                let name = &system.parameters()[self.by()[i - d]].0;
                Err(AdjointError::NotFinite { name: format!("the parameter `{name}`") })
            }
        }
    }
}
