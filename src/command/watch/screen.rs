//! The terminal: taken over while something is shown, and given back however that ends.

use crate::command::canvas::{Canvas, FADES, Ink, TONES};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Attribute, Color, Print, ResetColor, SetAttribute, SetForegroundColor};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Characters with their inks, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) columns: usize,
    pub(super) rows: usize,
    cells: Vec<(char, Ink)>,
}

impl Frame {
    pub(super) fn new(columns: usize, rows: usize) -> Frame {
        Frame { columns, rows, cells: vec![(' ', Ink::Plain); columns * rows] }
    }

    /// Writes text into a row, as far as there is room. Returns the column after it.
    pub(super) fn write(&mut self, column: usize, row: usize, text: &str, ink: Ink) -> usize {
        let mut at = column;
        for letter in text.chars() {
            if at >= self.columns || row >= self.rows {
                break;
            }
            let letter = if letter.is_control() { ' ' } else { letter };
            self.cells[row * self.columns + at] = (letter, ink);
            at += 1;
        }
        at
    }

    /// Lays a canvas into rows from this one on.
    pub(super) fn lay(&mut self, canvas: &Canvas, row: usize) {
        let [across, down] = canvas.dots();
        for j in 0..(down / 4).min(self.rows.saturating_sub(row)) {
            for i in 0..(across / 2).min(self.columns) {
                self.cells[(row + j) * self.columns + i] = canvas.cell(i, j);
            }
        }
    }
}

/// Which colours a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// None, or none are wanted.
    None,
    /// The sixteen that all have.
    Few,
    /// The 256 of most.
    Many,
}

impl Palette {
    /// What the environment says: `NO_COLOR` (no-color.org), `COLORTERM` and `TERM`.
    pub(super) fn of(variable: impl Fn(&str) -> Option<String>) -> Palette {
        let says = |name: &str, what: &str| variable(name).is_some_and(|value| value.contains(what));
        if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            Palette::None
        } else if variable("COLORTERM").is_some_and(|value| !value.is_empty()) || says("TERM", "256") {
            Palette::Many
        } else {
            Palette::Few
        }
    }

    /// The colour of an ink.
    fn colour(self, ink: Ink) -> Option<Color> {
        /// Blue, orange, green, pink, sky, yellow: bright enough on black, dark enough on white.
        const MANY: [[u8; FADES as usize]; 6] = [
            [75, 68, 61, 60],
            [214, 172, 130, 95],
            [78, 72, 65, 59],
            [212, 175, 132, 96],
            [117, 110, 67, 60],
            [220, 178, 136, 94],
        ];
        const FEW: [Color; 6] =
            [Color::Blue, Color::Yellow, Color::Green, Color::Magenta, Color::Cyan, Color::Red];
        /// From blue over green to yellow, bright enough on black.
        const SCALE: [u8; TONES as usize] = [61, 62, 68, 73, 72, 78, 114, 185];
        const FEW_SCALE: [Color; TONES as usize] = [
            Color::DarkBlue,
            Color::Blue,
            Color::DarkCyan,
            Color::Cyan,
            Color::DarkGreen,
            Color::Green,
            Color::DarkYellow,
            Color::Yellow,
        ];
        let tone_of = |tone: u8| usize::from(tone.min(TONES - 1));
        let (hue, fade) = match ink {
            Ink::Disc(hue) => (hue, 0),
            Ink::Trail(hue, fade) => (hue, fade.min(FADES - 1)),
            _ => (0, 0),
        };
        let hue = usize::from(hue) % MANY.len();
        match (self, ink) {
            (Palette::None, _) | (_, Ink::Plain | Ink::Strong | Ink::Rod) => None,
            (_, Ink::Warning) => Some(Color::Red),
            (_, Ink::Faint | Ink::Still) => Some(Color::DarkGrey),
            (Palette::Many, Ink::Spring) => Some(Color::AnsiValue(109)),
            (Palette::Few, Ink::Spring) => Some(Color::DarkCyan),
            (Palette::Many, Ink::Tone(tone)) => Some(Color::AnsiValue(SCALE[tone_of(tone)])),
            (Palette::Few, Ink::Tone(tone)) => Some(FEW_SCALE[tone_of(tone)]),
            (Palette::Many, Ink::Disc(_) | Ink::Trail(..)) => {
                Some(Color::AnsiValue(MANY[hue][usize::from(fade)]))
            }
            (Palette::Few, Ink::Trail(_, fade)) if fade + 1 == FADES => Some(Color::DarkGrey),
            (Palette::Few, Ink::Disc(_) | Ink::Trail(..)) => Some(FEW[hue]),
        }
    }
}

/// Whether the terminal is taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is taken. Gives it back when dropped.
pub(super) struct Screen {
    palette: Palette,
    shown: Option<Frame>,
    /// What is to be written, at once.
    text: Vec<u8>,
}

impl Screen {
    /// Takes the terminal: the alternate screen, without cursor, keys as they are pressed.
    pub(super) fn take(palette: Palette) -> io::Result<Screen> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| give_back_on_panic(give_back));
        let screen = Screen { palette, shown: None, text: Vec::new() };
        screen.enter()?;
        Ok(screen)
    }

    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let entered = begin(&mut io::stdout());
        if entered.is_err() {
            give_back();
        }
        entered
    }

    /// Gives the terminal back to the shell, stops until the shell goes on with it, and takes the terminal again.
    #[cfg(unix)]
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::raise(signal_hook::consts::SIGSTOP)?;
        self.forget();
        self.enter()
    }

    /// Forgets what is shown: everything is drawn again.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }

    /// Shows a frame; only what has changed is written.
    pub(super) fn show(&mut self, frame: Frame) -> io::Result<()> {
        if self.shown.as_ref() == Some(&frame) {
            return Ok(());
        }
        self.text.clear();
        let before = self.shown.take().filter(|old| (old.columns, old.rows) == (frame.columns, frame.rows));
        changes(&mut self.text, before.as_ref(), &frame, self.palette)?;
        self.shown = Some(frame);
        let mut out = io::stdout().lock();
        out.write_all(&self.text)?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, once. If that fails, there is no place left for a message.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = end(&mut io::stdout());
        let _ = disable_raw_mode();
    }
}

fn begin(out: &mut impl Write) -> io::Result<()> {
    execute!(out, EnterAlternateScreen, Hide, DisableLineWrap, Clear(ClearType::All))
}

fn end(out: &mut impl Write) -> io::Result<()> {
    execute!(
        out,
        EndSynchronizedUpdate,
        ResetColor,
        SetAttribute(Attribute::Reset),
        EnableLineWrap,
        Show,
        LeaveAlternateScreen
    )
}

/// Does something before the message of a panic is printed, so that it lands on the screen that stays.
fn give_back_on_panic(give_back: impl Fn() + Send + Sync + 'static) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        before(info);
    }));
}

/// What turns one frame into another on a terminal.
fn changes(out: &mut impl Write, old: Option<&Frame>, new: &Frame, palette: Palette) -> io::Result<()> {
    queue!(out, BeginSynchronizedUpdate)?;
    if old.is_none() {
        queue!(out, ResetColor, SetAttribute(Attribute::Reset), Clear(ClearType::All))?;
    }
    let mut style = None;
    for row in 0..new.rows {
        let mut at = None;
        for column in 0..new.columns {
            let i = row * new.columns + column;
            let (letter, ink) = new.cells[i];
            let same = match old {
                Some(old) => old.cells[i] == new.cells[i],
                None => letter == ' ',
            };
            if same {
                continue;
            }
            if at != Some(column) {
                queue!(out, MoveTo(column as u16, row as u16))?;
            }
            let wanted = (palette.colour(ink), ink == Ink::Strong);
            if style != Some(wanted) {
                queue!(out, SetAttribute(Attribute::Reset))?;
                if let (Some(colour), _) = wanted {
                    queue!(out, SetForegroundColor(colour))?;
                }
                if wanted.1 {
                    queue!(out, SetAttribute(Attribute::Bold))?;
                }
                style = Some(wanted);
            }
            queue!(out, Print(letter))?;
            at = Some(column + 1);
        }
    }
    queue!(out, SetAttribute(Attribute::Reset), EndSynchronizedUpdate)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    fn written(old: Option<&Frame>, new: &Frame, palette: Palette) -> String {
        let mut out = Vec::new();
        changes(&mut out, old, new, palette).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_changes_are_written() {
        let mut old = Frame::new(10, 2);
        old.write(0, 0, "abc", Ink::Plain);
        let mut new = old.clone();
        let nothing = written(Some(&old), &new, Palette::Many);
        assert!(!nothing.contains('a') && !nothing.contains("\x1b[2J"));
        assert_eq!(new.write(8, 1, "xyz", Ink::Disc(1)), 10);
        let text = written(Some(&old), &new, Palette::Many);
        assert!(text.contains("\x1b[2;9H") && text.contains("xy\x1b") && !text.contains('a'), "{text:?}");
        assert!(written(None, &new, Palette::Many).contains("abc"));
    }

    #[test]
    fn no_colours_are_written_where_none_are_wanted() {
        let mut frame = Frame::new(4, 1);
        frame.write(0, 0, "a", Ink::Disc(1));
        frame.write(1, 0, "b", Ink::Warning);
        assert!(written(None, &frame, Palette::Many).contains("38;5;"));
        assert!(!written(None, &frame, Palette::None).contains("38;5;"));
    }

    #[test]
    fn palettes_follow_the_environment() {
        let of = |pairs: &'static [(&str, &str)]| {
            Palette::of(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("TERM", "xterm-256color")]), Palette::Many);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), Palette::None);
        assert_eq!(of(&[("TERM", "linux"), ("NO_COLOR", "")]), Palette::Few);
        assert_eq!(of(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Palette::Many);
    }

    #[test]
    fn what_is_begun_is_ended() {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        begin(&mut first).unwrap();
        end(&mut last).unwrap();
        let (first, last) = (String::from_utf8(first).unwrap(), String::from_utf8(last).unwrap());
        for mode in ["?1049", "?25", "?7"] {
            let (set, unset) = (format!("\x1b[{mode}h"), format!("\x1b[{mode}l"));
            assert!(
                first.contains(&set) && last.contains(&unset)
                    || first.contains(&unset) && last.contains(&set)
            );
        }
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_speaks() {
        let order = Arc::new(AtomicU32::new(0));
        let (spoke, gave) = (order.clone(), order.clone());
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |_| {
            let _ = spoke.compare_exchange(1, 2, Ordering::SeqCst, Ordering::SeqCst);
        }));
        give_back_on_panic(move || gave.store(1, Ordering::SeqCst));
        let caught = std::panic::catch_unwind(|| panic!("a test"));
        std::panic::set_hook(usual);
        assert!(caught.is_err());
        assert_eq!(order.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn text_stays_in_its_frame() {
        let mut frame = Frame::new(3, 1);
        assert_eq!(frame.write(1, 0, "a\u{1b}[2J", Ink::Plain), 3);
        assert_eq!(frame.cells[1..], [('a', Ink::Plain), (' ', Ink::Plain)]);
        assert_eq!(frame.write(0, 7, "abc", Ink::Plain), 0);
        frame.lay(&Canvas::new(9, 9), 0);
    }
}
