//! Where a step begins to look for its solution: the velocity polynomial of the last step, carried on.
//!
//! A rate that was Σ aₖ φₖ(τ) over the last step, with orthonormal Legendre polynomials, is Σ aₖ φₖ(1 + ρξ) over the next,
//! which is ρ times as long:
//!
//! $$a'_j=\sum_k T_{jk}(\rho)\,a_k,\qquad T_{jk}(\rho)=\int_0^1\varphi_j(\xi)\,\varphi_k(1+\rho\xi)\,d\xi.$$
//!
//! Where there is but one coefficient, its change since the step before goes on as well.

use crate::quadrature::{Rule, basis};
use leastaction_compile::LANES;

/// The coefficients of the last step, times its length, and what carries them on.
pub(super) struct Forecast {
    rule: Rule,
    /// The coefficients of the last try and of the last step: for each of the parts, terms × rows × lanes.
    tried: Vec<f64>,
    taken: Vec<f64>,
    /// Those of the step before, as rates; empty if there is more than one term.
    earlier: Vec<f64>,
    /// The step of the last try, and of the last step: 0 if there was none.
    trial: [f64; LANES],
    last: [f64; LANES],
    /// Whether there was a step before: 1, or 0.
    before: [f64; LANES],
    /// T(ρ) of each lane, and the ρ it belongs to.
    carry: Vec<[f64; LANES]>,
    ratio: [f64; LANES],
}

impl Forecast {
    /// For so many terms, and as many numbers, all lanes counted.
    pub(super) fn new(terms: usize, len: usize) -> Forecast {
        Forecast {
            rule: Rule::gauss(terms),
            tried: vec![0.0; len],
            taken: vec![0.0; len],
            earlier: vec![0.0; if terms == 1 { len } else { 0 }],
            trial: [0.0; LANES],
            last: [0.0; LANES],
            before: [0.0; LANES],
            carry: vec![[0.0; LANES]; terms * terms],
            ratio: [f64::NAN; LANES],
        }
    }

    /// Whether a lane has no last step.
    pub(super) fn begins(&self, lane: usize) -> bool {
        self.last[lane] == 0.0
    }

    /// The coefficients of the next step, times its length, in lanes that have a last one. Parts have these numbers of rows.
    pub(super) fn guess(&mut self, h: &[f64], parts: [usize; 2], x: &mut [f64]) {
        let (terms, width) = (self.rule.nodes.len(), h.len());
        for (lane, h) in h.iter().enumerate() {
            let ratio = h / self.last[lane];
            if self.last[lane] != 0.0 && ratio != self.ratio[lane] {
                self.ratio[lane] = ratio;
                self.fill(lane);
            }
        }
        let mut start = 0;
        for rows in parts.map(|rows| rows * width) {
            for (j, i) in (0..terms).flat_map(|j| (0..rows).map(move |i| (j, i))) {
                let lane = i % width;
                if self.last[lane] != 0.0 {
                    let at = |k: usize| start + k * rows + i;
                    let carried = |k: usize| self.carry[j * terms + k][lane] * self.taken[at(k)];
                    let mut sum = (0..terms).map(carried).sum::<f64>();
                    if let Some(earlier) = self.earlier.get(at(j)).filter(|_| self.before[lane] != 0.0) {
                        sum += sum - self.last[lane] * earlier;
                    }
                    x[at(j)] = self.ratio[lane] * sum;
                }
            }
            start += terms * rows;
        }
    }

    fn fill(&mut self, lane: usize) {
        const MOST: usize = 16;
        let terms = self.rule.nodes.len().min(MOST);
        self.carry.iter_mut().for_each(|entry| entry[lane] = 0.0);
        for (c, b) in self.rule.nodes.iter().zip(&self.rule.weights) {
            let (mut here, mut there) = ([0.0; MOST], [0.0; MOST]);
            basis(*c, &mut here[..terms]);
            basis(1.0 + self.ratio[lane] * c, &mut there[..terms]);
            for (j, k) in (0..terms).flat_map(|j| (0..terms).map(move |k| (j, k))) {
                self.carry[j * terms + k][lane] += b * here[j] * there[k];
            }
        }
    }

    /// Notes the solution of a step that may be taken.
    pub(super) fn note(&mut self, h: &[f64], x: &[f64]) {
        self.trial[..h.len()].copy_from_slice(h);
        self.tried.copy_from_slice(x);
    }

    /// It was taken in these lanes.
    pub(super) fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for (earlier, taken) in self.earlier.chunks_exact_mut(width).zip(self.taken.chunks_exact(width)) {
            let older = |j: &usize| lanes[*j] && self.last[*j] != 0.0;
            (0..width).filter(older).for_each(|j| earlier[j] = taken[j] / self.last[j]);
        }
        for lane in (0..width).filter(|&j| lanes[j]) {
            self.before[lane] = f64::from(self.last[lane] != 0.0);
        }
        let rows = self.taken.chunks_exact_mut(lanes.len()).zip(self.tried.chunks_exact(lanes.len()));
        for (taken, tried) in rows {
            (0..lanes.len()).filter(|&j| lanes[j]).for_each(|j| taken[j] = tried[j]);
        }
        (0..lanes.len()).filter(|&j| lanes[j]).for_each(|j| self.last[j] = self.trial[j]);
    }

    pub(super) fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.taken);
        visit(&mut self.earlier);
        visit(&mut self.last);
        visit(&mut self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A polynomial is carried on exactly, to a step of another length.
    #[test]
    fn polynomials_go_on() {
        // x' = 3τ² − 4τ + 2 over a step of 1, then over τ = 1 … 1.5.
        let rate = |tau: f64| (3.0 * tau - 4.0) * tau + 2.0;
        let project = |start: f64, h: f64| {
            let (rule, mut sum) = (Rule::gauss(3), [0.0; 3]);
            for (&c, b) in rule.nodes.iter().zip(&rule.weights) {
                let mut phi = [0.0; 3];
                basis(c, &mut phi);
                (0..3).for_each(|k| sum[k] += h * b * phi[k] * rate(start + c * h));
            }
            sum
        };
        let mut forecast = Forecast::new(3, 3);
        let mut x = [7.0; 3];
        assert!(forecast.begins(0));
        forecast.guess(&[1.0], [1, 0], &mut x);
        assert_eq!(x, [7.0; 3]);
        forecast.note(&[1.0], &project(0.0, 1.0));
        forecast.accept(&[true]);
        forecast.guess(&[0.5], [1, 0], &mut x);
        let exact = project(1.0, 0.5);
        assert!(x.iter().zip(exact).all(|(x, e)| (x - e).abs() < 1e-14), "{x:?} {exact:?}");
    }
}
