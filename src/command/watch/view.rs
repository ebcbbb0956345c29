//! How a motion is looked at, and how keys change that.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How a motion is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// Time of the model per second.
    pub(super) speed: f64,
    /// How much larger than what fits.
    pub(super) zoom: f64,
    /// How long trails are, in seconds at the speed to begin with.
    pub(super) trail: f64,
    /// Whether time stands still.
    pub(super) paused: bool,
    /// Whether the keys are shown.
    pub(super) help: bool,
    /// From where a motion in space is seen: azimuth and elevation in degrees.
    pub(super) angles: [f64; 2],
    /// What is shown.
    pub(super) show: Show,
    /// The speed to begin with.
    usual: f64,
    /// Whether the motion is one in space.
    solid: bool,
    /// Whether there is something to draw besides graphs.
    drawn: bool,
}

/// What is shown of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// Its drawing.
    Drawing,
    /// Its coordinates against time.
    Graphs,
    /// Its velocities against its coordinates.
    Phases,
}

/// What a key asks for that is not a matter of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To go on.
    Nothing,
    /// To start again.
    Restart,
    /// To go one picture further while time stands still.
    Step,
    /// To leave for the shell, and come back.
    Suspend,
    /// To end.
    Quit,
}

/// The keys in a line.
pub(super) const KEYS: &str = "+/- speed  z/Z zoom  t/T trail  space pause  . step  r again  v view  q quit";
/// The keys where the view can be turned.
pub(super) const KEYS_IN_SPACE: &str =
    "+/- speed  z/Z zoom  arrows turn  t/T trail  space pause  r again  v view  q end";

/// One press multiplies the speed, or the length of trails, by this.
const FASTER: f64 = 2.0;
/// Speeds differ from the one to begin with by this factor at most.
const SPEEDS: f64 = 1024.0;
/// One press enlarges by this factor; four double.
const CLOSER: f64 = 1.189_207_115_002_721;
const ZOOMS: [f64; 2] = [1.0 / 16.0, 64.0];
/// The trail to begin with, the shortest but none, and the longest.
const TRAIL: f64 = 3.0;
const TRAILS: [f64; 2] = [0.375, 48.0];
/// One press turns by this, in degrees.
const TURN: f64 = 7.5;

impl View {
    /// The view to begin with.
    pub(super) fn new(speed: f64, solid: bool, drawn: bool) -> View {
        View {
            speed,
            zoom: 1.0,
            trail: TRAIL,
            paused: false,
            help: false,
            angles: [-65.0, 22.0],
            show: if drawn { Show::Drawing } else { Show::Graphs },
            usual: speed,
            solid,
            drawn,
        }
    }

    /// The keys that do something.
    pub(super) fn keys(&self) -> &'static str {
        if self.solid && self.show == Show::Drawing { KEYS_IN_SPACE } else { KEYS }
    }

    /// How long trails are in time of the model.
    pub(super) fn trail_time(&self) -> f64 {
        self.trail * self.usual
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: KeyEvent) -> Wish {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if control => return Wish::Quit,
            KeyCode::Char('z') if control => return Wish::Suspend,
            _ if control => {}
            KeyCode::Char('q' | 'Q') | KeyCode::Esc => return Wish::Quit,
            KeyCode::Char('r' | 'R') => return Wish::Restart,
            KeyCode::Char('.') => {
                self.paused = true;
                return Wish::Step;
            }
            KeyCode::Char(' ') => self.paused = !self.paused,
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Char('+' | '=') => self.speed = (self.speed * FASTER).min(self.usual * SPEEDS),
            KeyCode::Char('-' | '_') => self.speed = (self.speed / FASTER).max(self.usual / SPEEDS),
            KeyCode::Char('1') => self.speed = self.usual,
            KeyCode::Char('z') => self.enlarge(CLOSER),
            KeyCode::Char('Z') => self.enlarge(1.0 / CLOSER),
            KeyCode::Char('0') => self.zoom = 1.0,
            KeyCode::Char('t') => {
                self.trail = if self.trail == 0.0 { TRAILS[0] } else { (self.trail * FASTER).min(TRAILS[1]) };
            }
            KeyCode::Char('T') => {
                self.trail = if self.trail <= TRAILS[0] { 0.0 } else { self.trail / FASTER };
            }
            KeyCode::Char('v') | KeyCode::Tab => self.show = self.next(),
            KeyCode::Left if self.solid => self.angles[0] -= TURN,
            KeyCode::Right if self.solid => self.angles[0] += TURN,
            KeyCode::Up if self.solid => self.angles[1] = (self.angles[1] + TURN).min(90.0),
            KeyCode::Down if self.solid => self.angles[1] = (self.angles[1] - TURN).max(-90.0),
            KeyCode::Up => self.enlarge(CLOSER),
            KeyCode::Down => self.enlarge(1.0 / CLOSER),
            _ => {}
        }
        Wish::Nothing
    }

    fn enlarge(&mut self, factor: f64) {
        self.zoom = (self.zoom * factor).clamp(ZOOMS[0], ZOOMS[1]);
    }

    fn next(&self) -> Show {
        match self.show {
            Show::Drawing => Show::Graphs,
            Show::Graphs => Show::Phases,
            Show::Phases if self.drawn => Show::Drawing,
            Show::Phases => Show::Graphs,
        }
    }
}

/// The speed at which a run is shown unless one is asked for: real time if that takes neither forever nor no time, else such that the run
/// takes about half a minute, at a round number.
pub(super) fn usual_speed(span: f64) -> f64 {
    const PATIENCE: [f64; 2] = [0.5, 120.0];
    const SHOW: f64 = 30.0;
    let span = span.abs();
    if (PATIENCE[0]..=PATIENCE[1]).contains(&span) || span == 0.0 || !span.is_finite() {
        return 1.0;
    }
    let speed = span / SHOW;
    let power = 10_f64.powf(speed.log10().floor());
    let leading = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| {
        let off = |x: f64| (speed / power / x).ln().abs();
        off(*a).total_cmp(&off(*b))
    });
    leading.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(view: &mut View, letter: char) -> Wish {
        view.press(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE))
    }

    #[test]
    fn keys_do_what_the_help_says() {
        let mut view = View::new(1.0, false, true);
        let begun = view.clone();
        assert_eq!(key(&mut view, ' '), Wish::Nothing);
        assert!(view.paused);
        key(&mut view, ' ');
        key(&mut view, '+');
        assert_eq!(view.speed, 2.0);
        key(&mut view, '-');
        key(&mut view, 'z');
        assert!(view.zoom > 1.18);
        key(&mut view, '0');
        key(&mut view, 't');
        assert_eq!(view.trail, 6.0);
        key(&mut view, 'T');
        assert_eq!(view, begun);
        assert_eq!(key(&mut view, 'r'), Wish::Restart);
        assert_eq!(key(&mut view, 'q'), Wish::Quit);
        assert_eq!(view.press(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)), Wish::Quit);
        assert_eq!(view.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Wish::Quit);
        assert_eq!(view.press(KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL)), Wish::Suspend);
        // A letter that only looks like a key.
        assert_eq!(view.press(KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL)), Wish::Nothing);
        assert_eq!(view, begun);
        assert_eq!((key(&mut view, '.'), view.paused), (Wish::Step, true));
        assert!(KEYS.len() <= 80 && KEYS_IN_SPACE.len() <= 80);
    }

    #[test]
    fn nothing_leaves_its_bounds() {
        let mut view = View::new(100.0, true, true);
        for letter in ['+', 'z', 't'] {
            (0..1000).for_each(|_| _ = key(&mut view, letter));
        }
        assert_eq!((view.speed, view.zoom, view.trail), (102_400.0, ZOOMS[1], TRAILS[1]));
        for letter in ['-', 'Z', 'T'] {
            (0..1000).for_each(|_| _ = key(&mut view, letter));
        }
        assert_eq!((view.speed, view.zoom, view.trail), (100.0 / 1024.0, ZOOMS[0], 0.0));
        key(&mut view, 't');
        assert_eq!(view.trail, TRAILS[0]);
        for _ in 0..1000 {
            view.press(KeyEvent::new(KeyCode::Up, KeyModifiers::NONE));
        }
        assert_eq!(view.angles[1], 90.0);
    }

    #[test]
    fn arrows_turn_in_space_and_zoom_in_a_plane() {
        let up = KeyEvent::new(KeyCode::Up, KeyModifiers::NONE);
        let (mut plane, mut space) = (View::new(1.0, false, true), View::new(1.0, true, true));
        plane.press(up);
        space.press(up);
        assert!(plane.zoom > 1.0 && plane.angles == View::new(1.0, false, true).angles);
        assert!(space.zoom == 1.0 && space.angles[1] > plane.angles[1]);
    }

    #[test]
    fn views_follow_each_other() {
        let mut drawn = View::new(1.0, false, true);
        let mut seen = vec![];
        for _ in 0..3 {
            key(&mut drawn, 'v');
            seen.push(drawn.show);
        }
        assert_eq!(seen, [Show::Graphs, Show::Phases, Show::Drawing]);
        let mut bare = View::new(1.0, false, false);
        assert_eq!(bare.show, Show::Graphs);
        key(&mut bare, 'v');
        key(&mut bare, 'v');
        assert_eq!(bare.show, Show::Graphs);
    }

    #[test]
    fn long_runs_are_shown_in_half_a_minute() {
        assert_eq!(usual_speed(20.0), 1.0);
        assert_eq!(usual_speed(-20.0), 1.0);
        assert_eq!(usual_speed(0.0), 1.0);
        assert_eq!(usual_speed(300.0), 10.0);
        assert_eq!(usual_speed(200_000.0), 5000.0);
        assert!((usual_speed(1e-12) / 5e-14 - 1.0).abs() < 1e-12);
    }
}
