//! How time passes in an animation.

use crate::chart::short;
use std::fmt;

/// The frames of an animation: when, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tempo {
    /// How many frames there are.
    pub frames: usize,
    /// How much time of the run passes in a second of the animation.
    pub speed: f64,
    start: f64,
    end: f64,
    smooth: bool,
}

impl Tempo {
    /// Frames in a second: what a GIF, which counts in hundredths, can say.
    pub const RATE: usize = 25;

    /// No animation has more frames.
    pub const MOST: usize = 600;

    /// But for one whose speed is asked for: it may have so many.
    pub const MOST_ASKED: usize = 6000;

    /// Shorter animations are slowed down to last at least so many seconds.
    const SHORTEST: f64 = 2.0;

    /// One unit of time in a second if that is neither too long nor too short; or else a round number of them.
    pub(crate) fn of(times: &[f64]) -> Tempo {
        let (start, end) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        let span = (end - start).abs();
        let longest = (Tempo::MOST - 1) as f64 / Tempo::RATE as f64;
        let mut speed = 1.0;
        if !(span > 0.0 && span.is_finite()) {
            return Tempo { frames: 1, speed, start, end, smooth: false };
        }
        if !(Tempo::SHORTEST..=longest).contains(&span) {
            // The slowest round speed that is fast enough, or the fastest that is slow enough.
            let needed = if span > longest { span / longest } else { span / Tempo::SHORTEST };
            let power = 10_f64.powf(needed.log10().floor());
            let round = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
            let chosen = match span > longest {
                true => round.into_iter().find(|speed| *speed >= needed * (1.0 - 1e-12)),
                false => round.into_iter().rev().find(|speed| *speed <= needed * (1.0 + 1e-12)),
            };
            speed = chosen.unwrap_or(needed);
        }
        let frames = (span / speed * Tempo::RATE as f64).round() as usize + 1;
        // Samples that are far apart are shown as they are: nobody knows what was between them.
        let smooth = times.len() >= frames;
        let frames = if smooth { frames } else { times.len() }.clamp(2, Tempo::MOST);
        Tempo { frames, speed, start, end, smooth }
    }

    /// So much time of the run in a second, if that needs no more frames than [`Tempo::MOST_ASKED`]; else how many it needs.
    pub(crate) fn at(times: &[f64], speed: f64) -> Result<Tempo, f64> {
        let (start, end) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        let span = (end - start).abs();
        if !(span > 0.0 && span.is_finite()) {
            return Ok(Tempo { frames: 1, speed, start, end, smooth: false });
        }
        let frames = (span / speed * Tempo::RATE as f64).round() + 1.0;
        if frames > Tempo::MOST_ASKED as f64 {
            return Err(frames);
        }
        let frames = (frames as usize).max(2);
        let smooth = times.len() >= frames;
        Ok(Tempo { frames: if smooth { frames } else { times.len() }, speed, start, end, smooth })
    }

    /// The time that a frame shows.
    pub(crate) fn time(&self, frame: usize) -> f64 {
        let part = frame as f64 / (self.frames.max(2) - 1) as f64;
        self.start + (self.end - self.start) * part
    }

    /// Whether frames show times between samples.
    pub(crate) fn is_smooth(&self) -> bool {
        self.smooth
    }

    /// How long a frame is shown, in seconds.
    pub(crate) fn duration(&self) -> f64 {
        let span = (self.end - self.start).abs();
        if span > 0.0 { span / self.speed / (self.frames.max(2) - 1) as f64 } else { 1.0 }
    }
}

impl fmt::Display for Tempo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |one: bool| if one { "" } else { "s" };
        write!(f, "{} frame{}, ", self.frames, plural(self.frames == 1))?;
        write!(f, "{} unit{} of time in a second", short(self.speed, 3), plural(self.speed == 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Tempo;

    fn tempo(end: f64, samples: usize) -> Tempo {
        let times: Vec<_> = (0..samples).map(|i| end * i as f64 / (samples - 1) as f64).collect();
        Tempo::of(&times)
    }

    #[test]
    fn runs_of_some_seconds_are_shown_in_real_time() {
        let tempo = tempo(10.0, 2400);
        assert_eq!((tempo.frames, tempo.speed, tempo.is_smooth()), (251, 1.0, true));
        assert!((tempo.duration() - 0.04).abs() < 1e-12);
        assert_eq!((tempo.time(0), tempo.time(125), tempo.time(250)), (0.0, 5.0, 10.0));
    }

    #[test]
    fn long_and_short_runs_are_shown_at_round_speeds() {
        for (end, speed) in [(100.0, 5.0), (200_000.0, 10_000.0), (0.5, 0.2), (-30.0, 2.0), (1e300, 5e298)] {
            let tempo = tempo(end, 3000);
            assert!((tempo.speed / speed - 1.0).abs() < 1e-9, "{end}: {tempo:?}");
            assert!(tempo.frames <= Tempo::MOST && tempo.frames > 50, "{end}: {tempo:?}");
            assert!((tempo.duration() - 0.04).abs() < 1e-3, "{end}: {tempo:?}");
        }
    }

    #[test]
    fn a_speed_that_is_asked_for_is_kept() {
        let times: Vec<_> = (0..=4000).map(|i| f64::from(i) * 0.01).collect();
        let slow = Tempo::at(&times, 0.5).unwrap();
        assert_eq!((slow.frames, slow.speed, slow.is_smooth()), (2001, 0.5, true));
        assert!((slow.duration() - 0.04).abs() < 1e-12);
        assert_eq!(Tempo::at(&times, 1000.0).unwrap().frames, 2);
        assert_eq!(Tempo::at(&times, 0.1), Err(10_001.0));
        // Nobody knows what was between few samples.
        assert_eq!(Tempo::at(&times[..11], 0.01).unwrap().frames, 11);
    }

    #[test]
    fn few_samples_are_shown_as_they_are() {
        let tempo = tempo(10.0, 11);
        assert_eq!((tempo.frames, tempo.speed, tempo.is_smooth()), (11, 1.0, false));
        assert_eq!((tempo.duration(), tempo.time(3)), (1.0, 3.0));
        assert_eq!(Tempo::of(&[2.0]).frames, 1);
        assert_eq!(Tempo::of(&[2.0]).time(0), 2.0);
    }
}
