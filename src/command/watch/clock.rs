//! The time that is shown: it passes at the requested speed, but not faster than the motion is computed.

/// A clock of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clock {
    /// The time.
    pub(super) now: f64,
    /// 1 forward in time, −1 back.
    way: f64,
    /// Which part of the requested speed was reached recently.
    pace: f64,
}

/// The speed is averaged over about this number of seconds.
const MEMORY: f64 = 1.0;
/// A clock with less than this part of the requested speed is slow.
const SLOW: f64 = 0.9;

impl Clock {
    pub(super) fn new(start: f64, end: f64) -> Clock {
        Clock { now: start, way: if end < start { -1.0 } else { 1.0 }, pace: 1.0 }
    }

    /// Lets seconds pass at a speed, until what is known of the motion. A motion that is over makes no clock slow.
    pub(super) fn pass(&mut self, seconds: f64, speed: f64, last: f64, over: bool) {
        let wished = seconds * speed;
        if wished <= 0.0 || !wished.is_finite() {
            return;
        }
        let room = (self.way * (last - self.now)).max(0.0);
        let advance = wished.min(room);
        self.now = if advance == room { last } else { self.now + self.way * advance };
        let reached = if over { 1.0 } else { advance / wished };
        let keep = (-seconds / MEMORY).exp();
        self.pace = keep * self.pace + (1.0 - keep) * reached;
    }

    /// The speed that was reached, if it is less than the requested one.
    pub(super) fn slow(&self, speed: f64) -> Option<f64> {
        (self.pace < SLOW).then_some(self.pace * speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_at_its_speed() {
        let mut clock = Clock::new(0.0, 10.0);
        clock.pass(0.5, 2.0, 10.0, false);
        assert_eq!((clock.now, clock.slow(2.0)), (1.0, None));
        let mut back = Clock::new(0.0, -10.0);
        back.pass(0.5, 2.0, -10.0, false);
        assert_eq!(back.now, -1.0);
        back.pass(100.0, 1.0, -10.0, true);
        assert_eq!(back.now, -10.0);
    }

    #[test]
    fn a_motion_that_is_computed_slowly_is_shown_slowly() {
        let mut clock = Clock::new(0.0, 10.0);
        for i in 0..300 {
            clock.pass(1.0 / 30.0, 1.0, f64::from(i) / 120.0, false);
        }
        assert!((clock.now - 299.0 / 120.0).abs() < 1e-12);
        let slow = clock.slow(1.0).expect("a quarter of the speed");
        assert!((slow - 0.25).abs() < 0.02, "{slow}");
        for _ in 0..150 {
            clock.pass(1.0 / 30.0, 1.0, 10.0, true);
        }
        assert_eq!(clock.slow(1.0), None);
    }
}
