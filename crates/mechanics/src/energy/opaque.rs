//! What opaque energies add: they are given the coordinates and parameters that they read, side by side.

use super::sum::{Place, What};
use super::{Batch, Opaque};
use crate::inverse::grow;
use leastaction_compile::LANES;
use std::sync::Arc;

/// An opaque energy, and which parameters of the system it reads.
#[derive(Clone)]
pub(crate) struct OpaqueTerm {
    pub(crate) opaque: Opaque,
    pub(crate) parameters: Arc<[u32]>,
}

/// Room for opaque energies: what they read, along what, what they give, and what they work with.
#[derive(Clone, Default)]
pub(super) struct Memory {
    q: Vec<f64>,
    parameters: Vec<f64>,
    direction: Vec<f64>,
    out: Vec<f64>,
    own: Vec<f64>,
}

impl OpaqueTerm {
    /// Adds what weights of forces give to the parameters that are read: NaN if the energy does not tell.
    pub(super) fn add_parameter_slopes(
        &self,
        at: Place<'_>,
        weights: &[f64],
        memory: &mut Memory,
        rows: &mut [f64],
    ) {
        if self.parameters.is_empty() {
            return;
        }
        let width = at.t.len();
        let needed = self.opaque.energy.memory(width);
        let (batch, direction) = self.gather(at, Some(weights), memory);
        let mut gradient = vec![0.0; self.parameters.len() * width];
        let mut own = vec![0.0; needed];
        if !self.opaque.energy.gradient_by_parameters(batch, direction, &mut own, &mut gradient) {
            gradient.fill(f64::NAN);
        }
        for (row, &place) in gradient.chunks_exact(width).zip(&*self.parameters) {
            let sums = &mut rows[place as usize * width..][..width];
            sums.iter_mut().zip(row).for_each(|(sum, slope)| *sum -= slope);
        }
    }

    /// What the energy reads, and a direction of that.
    fn gather<'m>(
        &self,
        at: Place<'m>,
        along: Option<&[f64]>,
        memory: &'m mut Memory,
    ) -> (Batch<'m>, &'m [f64]) {
        let OpaqueTerm { opaque: Opaque { coordinates, .. }, parameters: read } = self;
        let (t, width) = (at.t, at.t.len());
        let len = coordinates.len() * width;
        let Memory { q, parameters, direction, .. } = memory;
        let gather = |from: &[f64], to: &mut Vec<f64>| {
            grow(to, len);
            for (row, &i) in to.chunks_exact_mut(width).zip(&**coordinates) {
                row.copy_from_slice(&from[i as usize * width..][..width]);
            }
        };
        grow(parameters, read.len() * width);
        for (row, &i) in parameters.chunks_exact_mut(width).zip(&**read) {
            // Of more than eight lanes, each has the parameters of its place in groups of eight.
            row.iter_mut().enumerate().for_each(|(lane, value)| {
                let values =
                    if width == 1 { at.parameters.single() } else { at.parameters.lane(lane % LANES) };
                *value = values[i as usize];
            });
        }
        gather(at.states, q);
        if let Some(along) = along {
            gather(along, direction);
        }
        let (parameters, along) = (&parameters[..read.len() * width], along.map_or(0, |_| len));
        (Batch { t, q: &q[..len], parameters, stride: width }, &direction[..along])
    }

    /// Adds one of the things that the energy computes.
    pub(super) fn add(&self, what: What<'_>, at: Place<'_>, memory: &mut Memory, out: &mut [f64]) {
        let Opaque { energy, coordinates, .. } = &self.opaque;
        let width = at.t.len();
        let len = coordinates.len() * width;
        let (mut results, mut own) = (std::mem::take(&mut memory.out), std::mem::take(&mut memory.own));
        grow(&mut results, len.max(width));
        grow(&mut own, energy.memory(width));
        let along = if let What::Change(along) = what { Some(along) } else { None };
        let (batch, direction) = self.gather(at, along, memory);
        let working = &mut own[..energy.memory(width)];
        match what {
            What::Energy => energy.energy(batch, working, &mut results[..width]),
            What::Force => energy.gradient(batch, working, &mut results[..len]),
            What::Change(_) => energy.hessian_product(batch, direction, working, &mut results[..len]),
            What::Rate => {} // it is known to nobody
        }
        match what {
            What::Energy => out.iter_mut().zip(&results).for_each(|(sum, energy)| *sum += energy),
            What::Rate => {}
            What::Force | What::Change(_) => {
                for (row, &i) in results.chunks_exact(width).zip(&**coordinates) {
                    let sums = &mut out[i as usize * width..][..width];
                    sums.iter_mut().zip(row).for_each(|(sum, slope)| *sum -= slope);
                }
            }
        }
        (memory.out, memory.own) = (results, own);
    }
}
