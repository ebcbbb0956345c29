//! First guesses of what a step solves for: the polynomial through the rates of the last steps, continued
//! (E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section VIII.6.1).

use crate::quadrature::{Rule, basis};
use crate::run::checkpoint::Kept;
use leastaction_compile::LANES;

/// Polynomials through more values than this, and more than one step, lose to rounding what they gain.
const VALUES: usize = 8;

/// The increments Lᵢ = hbᵢfᵢ of the last steps, or the coefficients h∫φₖf, lane by lane.
pub(crate) struct Past {
    c: Vec<f64>,
    b: Vec<f64>,
    /// φₖ at the nodes, nodes × terms, if coefficients are kept.
    phi: Vec<f64>,
    len: usize,
    /// Increments of the last step, and of those before it.
    increments: Vec<Vec<f64>>,
    /// The steps they belong to.
    steps: Vec<[f64; LANES]>,
    /// How many steps each lane has behind it, up to as many as are kept.
    count: [u64; LANES],
    /// The step of the last guess.
    step: [f64; LANES],
    /// What each kept value contributes to each guess, and for which steps that was found.
    shares: Vec<[f64; LANES]>,
    shares_for: Vec<[f64; LANES]>,
    /// Room to change from increments to coefficients.
    product: Vec<f64>,
}

impl Past {
    /// Of increments at these nodes with these weights, in blocks of this length.
    pub(crate) fn of_increments(c: &[f64], b: &[f64], len: usize) -> Past {
        Past::of_steps((VALUES / c.len()).clamp(1, 3), c, b, len)
    }

    /// Of one value per step that is a smooth function of time, times the step: those of so many steps.
    pub(crate) fn of_values(kept: usize, len: usize) -> Past {
        Past::of_steps(kept, &[0.5], &[1.0], len)
    }

    fn of_steps(kept: usize, c: &[f64], b: &[f64], len: usize) -> Past {
        let s = c.len();
        Past {
            c: c.to_vec(),
            b: b.to_vec(),
            phi: Vec::new(),
            len,
            increments: vec![vec![0.0; s * len]; kept],
            steps: vec![[0.0; LANES]; kept],
            count: [0; LANES],
            step: [0.0; LANES],
            shares: vec![[0.0; LANES]; s * s * kept],
            shares_for: vec![[f64::NAN; LANES]; kept + 2],
            product: vec![0.0; s * s],
        }
    }

    /// Of so many coefficients h∫φₖf with orthonormal Legendre polynomials, in blocks of this length.
    pub(crate) fn of_coefficients(terms: usize, len: usize) -> Past {
        // They are as good as increments Lᵢ at Gauss's nodes: h∫φₖf = Σ φₖ(cᵢ) Lᵢ, and Lᵢ = bᵢ Σ φₖ(cᵢ) h∫φₖf.
        let rule = Rule::gauss(terms);
        let mut past = Past::of_increments(&rule.nodes, &rule.weights, len);
        past.phi = vec![0.0; terms * terms];
        let nodes = past.phi.chunks_exact_mut(terms).zip(&rule.nodes);
        nodes.for_each(|(phi, c)| basis(*c, phi));
        past
    }

    /// Whether a lane has no past.
    pub(crate) fn is_empty(&self, width: usize) -> bool {
        self.count[..width].contains(&0)
    }

    /// Guesses for steps h, in lanes that have a past; in others `out` stays.
    pub(crate) fn guess(&mut self, h: &[f64], out: &mut [f64]) {
        let (s, width) = (self.c.len(), h.len());
        for (j, h) in h.iter().enumerate() {
            self.step[j] = *h;
            self.find_shares(j);
        }
        let blank = self.count.map(|count| count == 0);
        let anyone_blank = blank[..width].contains(&true);
        for (i, out) in out.chunks_exact_mut(self.len).enumerate() {
            if anyone_blank {
                let known = out.iter_mut().enumerate().filter(|(place, _)| !blank[place % width]);
                known.for_each(|(_, out)| *out = 0.0);
            } else {
                out.fill(0.0);
            }
            // Shares are 0 in lanes without a past.
            let kept = self.increments.iter().flat_map(|step| step.chunks_exact(self.len));
            for (value, share) in kept.zip(&self.shares[i * s * self.steps.len()..]) {
                add(out, &share[..width], value);
            }
        }
    }

    /// The shares of kept values in a guess, for one lane: Lagrange polynomials of the rates L/(hb) at the new nodes.
    fn find_shares(&mut self, j: usize) {
        let (s, kept) = (self.c.len(), self.steps.len());
        let steps = self.steps.iter().map(|steps| steps[j]);
        let key = steps.chain([self.step[j], self.count[j] as f64]);
        if key.clone().eq(self.shares_for.iter().map(|known| known[j])) {
            return;
        }
        self.shares_for.iter_mut().zip(key).for_each(|(known, key)| known[j] = key);
        let count = (self.count[j] as usize).min(kept);
        // Times relative to the end of the last step.
        let begin = |back: usize| -self.steps[..=back].iter().map(|steps| steps[j]).sum::<f64>();
        let time = |k: usize| begin(k / s) + self.c[k % s] * self.steps[k / s][j];
        // Where a step ends with a stage and begins with one, both are at the same time.
        let ends = self.c[0] == 0.0 && self.c[s - 1] == 1.0;
        let twice = |k: usize| k >= s && ends && k % s == s - 1;
        let used = |k: &usize| *k < s * count && !twice(*k);
        for i in 0..s {
            let at = self.c[i] * self.step[j];
            for k in 0..s * kept {
                let others = (0..s * count).filter(|l| *l != k && used(l));
                let value = || others.map(|l| (at - time(l)) / (time(k) - time(l))).product::<f64>();
                let ratio = || self.step[j] * self.b[i] / (self.steps[k / s][j] * self.b[k % s]);
                self.shares[i * s * kept + k][j] = if used(&k) { value() * ratio() } else { 0.0 };
            }
        }
        if !self.phi.is_empty() {
            (0..kept).for_each(|back| self.turn(back, j));
        }
    }

    /// The shares of a step back as those of coefficients in coefficients: Φᵀ S diag(b) Φ.
    fn turn(&mut self, back: usize, j: usize) {
        let (s, kept) = (self.c.len(), self.steps.len());
        let place = |i: usize, k: usize| (i * kept + back) * s + k;
        for (i, m) in (0..s).flat_map(|i| (0..s).map(move |m| (i, m))) {
            let terms = (0..s).map(|k| self.shares[place(i, k)][j] * self.b[k] * self.phi[k * s + m]);
            self.product[i * s + m] = terms.sum();
        }
        for (l, m) in (0..s).flat_map(|l| (0..s).map(move |m| (l, m))) {
            let sum = (0..s).map(|i| self.phi[i * s + l] * self.product[i * s + m]).sum();
            self.shares[place(l, m)][j] = sum;
        }
    }

    /// The last step was taken in these lanes, with these values.
    pub(crate) fn keep(&mut self, lanes: &[bool], increments: &[f64]) {
        let width = lanes.len();
        let all = lanes.iter().all(|&taken| taken);
        for back in (0..self.steps.len()).rev() {
            let (newer, older) = self.increments.split_at_mut(back);
            let source = newer.last().map_or(increments, Vec::as_slice);
            if all {
                older[0].copy_from_slice(source);
            } else {
                for (place, value) in source.iter().enumerate().filter(|(place, _)| lanes[place % width]) {
                    older[0][place] = *value;
                }
            }
            for j in (0..width).filter(|&j| lanes[j]) {
                self.steps[back][j] = if back == 0 { self.step[j] } else { self.steps[back - 1][j] };
            }
        }
        let most = self.steps.len() as u64;
        for j in (0..width).filter(|&j| lanes[j]) {
            self.count[j] = (self.count[j] + 1).min(most);
        }
    }

    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        self.increments.iter_mut().for_each(|increments| visit(Kept::Numbers(increments)));
        self.steps.iter_mut().for_each(|steps| visit(Kept::Numbers(steps)));
        visit(Kept::Counts(&mut self.count));
    }
}

/// out += share·value in each lane.
#[inline]
fn add(out: &mut [f64], share: &[f64], value: &[f64]) {
    if let Some(share) = share.first_chunk::<LANES>() {
        for (out, value) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(value.as_chunks::<LANES>().0) {
            (0..LANES).for_each(|j| out[j] += share[j] * value[j]);
        }
    } else if let [share] = share {
        out.iter_mut().zip(value).for_each(|(out, value)| *out += share * value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [f64; 4] = [0.1, 0.3, 0.2, 0.25];

    fn rate(t: f64) -> f64 {
        1.0 + t * (2.0 - t * (3.0 - 0.5 * t))
    }

    /// Rates that are a polynomial of time are continued exactly, over steps of different lengths.
    #[test]
    fn polynomials_are_continued() {
        continues([0.25, 0.75], 2);
        continues([0.0, 1.0], 3);
    }

    fn continues(c: [f64; 2], steps: usize) {
        let b = [0.5, 0.5];
        let mut past = Past::of_increments(&c, &b, 1);
        let (mut t, mut guess) = (0.0, [0.0; 2]);
        for (k, h) in STEPS.into_iter().enumerate() {
            let exact = [0, 1].map(|i| h * b[i] * rate(t + c[i] * h));
            past.guess(&[h], &mut guess);
            let miss = (0..2).map(|i| (guess[i] - exact[i]).abs()).fold(0.0, f64::max);
            assert_eq!(miss < 1e-13, k >= steps, "step {k}: {miss:e}");
            past.keep(&[true], &exact);
            t += h;
        }
    }

    /// So are values of which there is one per step.
    #[test]
    fn values_are_continued() {
        let mut past = Past::of_values(4, 1);
        let (mut t, mut guess) = (0.0, [0.0]);
        for (k, h) in STEPS.into_iter().chain(STEPS).enumerate() {
            // Of steps that differ in length, values belong to the middle.
            let exact = h * rate(t + 0.5 * h);
            past.guess(&[h], &mut guess);
            assert_eq!((guess[0] - exact).abs() < 1e-13, k >= 4, "step {k}: {} {exact}", guess[0]);
            past.keep(&[true], &[exact]);
            t += h;
        }
    }

    /// So are coefficients; lanes without a past keep what they had.
    #[test]
    fn coefficients_are_continued() {
        for terms in 1..=4 {
            let rule = Rule::gauss(6);
            let project = |t: f64, h: f64| {
                let mut sum = vec![0.0; terms * LANES];
                for (c, b) in rule.nodes.iter().zip(&rule.weights) {
                    let mut phi = vec![0.0; terms];
                    basis(*c, &mut phi);
                    (0..terms).for_each(|k| sum[k * LANES] += h * b * phi[k] * rate(t + c * h));
                }
                sum
            };
            let mut past = Past::of_coefficients(terms, LANES);
            let lanes: [bool; LANES] = std::array::from_fn(|lane| lane == 0);
            let mut t = 0.0;
            for (k, h) in STEPS.into_iter().enumerate() {
                let (exact, mut guess) = (project(t, h), vec![7.0; terms * LANES]);
                assert!(past.is_empty(LANES));
                past.guess(&[h; LANES], &mut guess);
                assert!((0..terms * LANES).all(|place| place % LANES == 0 || guess[place] == 7.0));
                let known = terms * k.min((VALUES / terms).clamp(1, 3));
                let miss =
                    (0..terms).map(|i| (guess[i * LANES] - exact[i * LANES]).abs()).fold(0.0, f64::max);
                // Of the cubic's coefficients, those beyond the last term are not known; but the first such vanishes at the nodes.
                assert_eq!(miss < 1e-11, terms >= 3 && known >= 4, "{terms} terms, step {k}: {miss:e}");
                past.keep(&lanes, &exact);
                t += h;
            }
        }
    }
}
