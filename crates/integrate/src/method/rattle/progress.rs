//! How far the corrections of a multiplier have come, and when they end: where violations are rounding.

/// Iterations beyond this lead nowhere.
pub(super) const MOST: u32 = 30;
/// Newton's method is worth its factors where more iterations than this would be needed without.
const SLOW: i32 = 3;
/// A correction that no longer shrinks is rounding if it is smaller than this, relative to the state; or than this, if it is one of Newton's
/// method, which would shrink.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
const NOISE: f64 = 1e-11;

/// Where an iteration stands, in one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) open: bool,
    /// The last correction, and by what corrections shrink: NaN until there were two.
    pub(super) last: f64,
    rate: f64,
    /// By what they are expected to shrink at first.
    pub(super) expected: f64,
    /// Whether they are made by Newton's method, so that what does not shrink never will.
    pub(super) newton: bool,
    pub(super) iterations: u32,
}

impl Progress {
    /// Before the first correction. A lane that rests needs none.
    pub(super) fn new(h: f64, expected: f64, newton: bool) -> Progress {
        Progress { open: h != 0.0, last: f64::NAN, rate: f64::NAN, expected, newton, iterations: 0 }
    }

    /// Whether a correction is made, given the size of what it corrects; closes the lane where nothing more is to be gained.
    pub(super) fn takes(&mut self, change: f64, size: f64) -> bool {
        if !self.open {
            return false;
        }
        self.iterations += 1;
        self.rate = change / self.last;
        let noise = if self.newton { NOISE } else { ROUNDING };
        if self.rate >= 0.5 && change <= noise * size {
            self.open = false; // it no longer shrinks
            return false;
        }
        if self.rate.is_finite() && !self.newton && change > 1e3 * f64::EPSILON * size {
            self.expected = 2.0 * self.rate;
        }
        let rate = if self.rate.is_finite() { self.rate } else { self.expected };
        let done = change <= 2.0 * f64::EPSILON * size || change <= f64::MIN_POSITIVE;
        let foreseen = rate < 0.1 && rate * change <= 0.25 * f64::EPSILON * size;
        self.open = !done && !foreseen;
        self.last = change;
        true
    }

    /// Whether corrections lead nowhere.
    pub(super) fn is_astray(&self, size: f64) -> bool {
        self.open && (self.iterations >= MOST || self.last.is_nan() || self.last > 1e3 * size)
    }

    /// Whether many more corrections would be needed, going on like this.
    pub(super) fn is_slow(&self, size: f64) -> bool {
        self.open && self.rate.powi(SLOW) * self.last > f64::EPSILON * size
    }
}
