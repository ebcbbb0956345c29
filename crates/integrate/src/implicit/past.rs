//! First guesses of increments: the polynomial through those of the last steps, continued
//! (E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section VIII.6.1).

use leastaction_compile::LANES;

/// Polynomials through more values than this, and more than one step, lose to rounding what they gain.
const VALUES: usize = 8;

/// The increments Lᵢ = hbᵢfᵢ of the last steps, lane by lane.
pub(crate) struct Past {
    c: Vec<f64>,
    b: Vec<f64>,
    len: usize,
    /// Increments of the last step, and of those before it.
    increments: Vec<Vec<f64>>,
    /// The steps they belong to.
    steps: Vec<[f64; LANES]>,
    /// How many steps each lane has behind it, up to as many as are kept.
    count: [f64; LANES],
    /// The step of the last guess.
    step: [f64; LANES],
    /// What each kept value contributes to each guess, and for which steps that was found.
    shares: Vec<[f64; LANES]>,
    found_for: Vec<[f64; LANES]>,
}

impl Past {
    /// For a method with these nodes and weights, and blocks of this length.
    pub(crate) fn new(c: &[f64], b: &[f64], len: usize) -> Past {
        let s = c.len();
        let kept = (VALUES / s).clamp(1, 3);
        Past {
            c: c.to_vec(),
            b: b.to_vec(),
            len,
            increments: vec![vec![0.0; s * len]; kept],
            steps: vec![[0.0; LANES]; kept],
            count: [0.0; LANES],
            step: [0.0; LANES],
            shares: vec![[0.0; LANES]; s * s * kept],
            found_for: vec![[f64::NAN; LANES]; kept + 2],
        }
    }

    /// Whether a lane has no past.
    pub(crate) fn is_empty(&self, width: usize) -> bool {
        self.count[..width].contains(&0.0)
    }

    /// Guesses increments for steps h; `slopes` of the field stand in where there is no past. `weights` are hbᵢ.
    pub(crate) fn guess(&mut self, h: &[f64], weights: &[[f64; LANES]], slopes: &[f64], out: &mut [f64]) {
        let (s, width) = (self.c.len(), h.len());
        for (j, h) in h.iter().enumerate() {
            self.step[j] = *h;
            self.find_shares(j);
        }
        let blank = |j: usize| self.count[j] == 0.0;
        let anyone_blank = (0..width).any(blank);
        for (i, out) in out.chunks_exact_mut(self.len).enumerate() {
            out.fill(0.0);
            let kept = self.increments.iter().flat_map(|step| step.chunks_exact(self.len));
            for (value, share) in kept.zip(&self.shares[i * s * self.steps.len()..]) {
                add(out, &share[..width], value);
            }
            if anyone_blank {
                for (place, (out, slope)) in out.iter_mut().zip(slopes).enumerate() {
                    let j = place % width;
                    *out = if blank(j) { weights[i][j] * slope } else { *out };
                }
            }
        }
    }

    /// The shares of kept increments in a guess, for one lane: Lagrange polynomials of the slopes L/(hb) at the new nodes.
    fn find_shares(&mut self, j: usize) {
        let (s, kept) = (self.c.len(), self.steps.len());
        let steps = self.steps.iter().map(|steps| steps[j]);
        let key = steps.chain([self.step[j], self.count[j]]);
        if key.clone().eq(self.found_for.iter().map(|found| found[j])) {
            return;
        }
        self.found_for.iter_mut().zip(key).for_each(|(found, key)| found[j] = key);
        let count = (self.count[j] as usize).min(kept);
        // Times relative to the end of the last step.
        let begin = |back: usize| -self.steps[..=back].iter().map(|steps| steps[j]).sum::<f64>();
        let time = |k: usize| begin(k / s) + self.c[k % s] * self.steps[k / s][j];
        // Where a step ends with a stage and begins with one, both are at the same time.
        let twice = |k: usize| k >= s && self.c[0] == 0.0 && k % s == s - 1;
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
    }

    /// The last step was taken in these lanes, with these increments.
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
        let most = self.steps.len() as f64;
        for j in (0..width).filter(|&j| lanes[j]) {
            self.count[j] = (self.count[j] + 1.0).min(most);
        }
    }

    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        self.increments.iter_mut().for_each(|increments| visit(increments));
        self.steps.iter_mut().for_each(|steps| visit(steps));
        visit(&mut self.count);
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

    /// Slopes that are a polynomial of time are continued exactly, over steps of different lengths.
    #[test]
    fn polynomials_are_continued() {
        continues([0.25, 0.75], 2);
        continues([0.0, 1.0], 3);
    }

    fn continues(c: [f64; 2], steps: usize) {
        let b = [0.5, 0.5];
        let mut past = Past::new(&c, &b, 1);
        let slope = |t: f64| 1.0 + t * (2.0 - t * (3.0 - 0.5 * t));
        let (mut t, mut guess) = (0.0, [0.0; 2]);
        for (k, h) in [0.1, 0.3, 0.2, 0.25].into_iter().enumerate() {
            let exact = [0, 1].map(|i| h * b[i] * slope(t + c[i] * h));
            past.guess(&[h], &[[h * b[0]; LANES], [h * b[1]; LANES]], &[slope(t)], &mut guess);
            let miss = (0..2).map(|i| (guess[i] - exact[i]).abs()).fold(0.0, f64::max);
            assert_eq!(miss < 1e-13, k >= steps, "step {k}: {miss:e}");
            past.keep(&[true], &exact);
            t += h;
        }
    }
}
