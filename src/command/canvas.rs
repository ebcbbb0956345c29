//! A canvas of braille: two by four dots in each cell of a terminal.
//!
//! The eight dots of a cell are the bits of a character from U+2800 on (The Unicode Standard, chapter 21.1, Braille).

/// What something is drawn with; a terminal gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Ink {
    /// Text, and nothing else.
    #[default]
    Plain,
    /// Text that stands back.
    Faint,
    /// Text that stands out.
    Strong,
    /// Text that warns.
    Warning,
    /// What stands still.
    Still,
    /// Rods.
    Rod,
    /// Springs.
    Spring,
    /// Discs, in the colour of their number.
    Disc(u8),
    /// Surfaces that are coloured by a quantity, on a scale from 0 to [`TONES`] − 1.
    Tone(u8),
    /// A trail in the colour of its number, fading from 0 to [`FADES`] − 1.
    Trail(u8, u8),
}

/// How many colours the scale of a quantity has.
pub(super) const TONES: u8 = 8;

/// How many shades a trail fades through.
pub(super) const FADES: u8 = 4;

/// A place on the canvas in dots, from the upper left corner: x to the right, y down.
pub(super) type Place = [f64; 2];

/// Dots in cells, each cell with the ink of the last dot in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    bits: Vec<u8>,
    inks: Vec<Ink>,
}

/// The bit of each dot: `BITS[y][x]`.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    /// An empty canvas of cells.
    pub(super) fn new(columns: usize, rows: usize) -> Canvas {
        let cells = columns * rows;
        Canvas { columns, rows, bits: vec![0; cells], inks: vec![Ink::Plain; cells] }
    }

    /// How many dots there are across and down.
    pub(super) fn dots(&self) -> [usize; 2] {
        [2 * self.columns, 4 * self.rows]
    }

    /// The character and the ink of a cell.
    pub(super) fn cell(&self, column: usize, row: usize) -> (char, Ink) {
        let i = row * self.columns + column;
        match self.bits[i] {
            0 => (' ', Ink::Plain),
            bits => (char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' '), self.inks[i]),
        }
    }

    /// Sets a dot; one that is not on the canvas is left out.
    pub(super) fn dot(&mut self, [x, y]: Place, ink: Ink) {
        let [across, down] = self.dots();
        let inside = x >= 0.0 && y >= 0.0 && x < across as f64 && y < down as f64;
        if inside {
            let (x, y) = (x as usize, y as usize);
            let i = (y / 4) * self.columns + x / 2;
            self.bits[i] |= BITS[y % 4][x % 2];
            self.inks[i] = ink;
        }
    }

    /// Takes a dot away.
    pub(super) fn erase(&mut self, [x, y]: Place) {
        let [across, down] = self.dots();
        if x >= 0.0 && y >= 0.0 && x < across as f64 && y < down as f64 {
            let (x, y) = (x as usize, y as usize);
            self.bits[(y / 4) * self.columns + x / 2] &= !BITS[y % 4][x % 2];
        }
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, from: Place, to: Place, ink: Ink) {
        self.stroke(from, to, ink, |_| true);
    }

    /// Draws every so-manyth dot of a line that goes through points, counted along all of it, so that it looks fainter.
    pub(super) fn dotted(&mut self, points: &[Place], every: usize, ink: Ink) {
        let mut count = 0_usize;
        for pair in points.windows(2) {
            let before = count;
            self.stroke(pair[0], pair[1], ink, |i| {
                count = before + i;
                count.is_multiple_of(every)
            });
        }
    }

    /// Draws the dots of a line whose numbers are chosen.
    fn stroke(&mut self, from: Place, to: Place, ink: Ink, mut wanted: impl FnMut(usize) -> bool) {
        let [across, down] = self.dots().map(|n| n as f64);
        let Some([from, to]) = clip(from, to, [across, down]) else { return };
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0) as usize;
        for i in 0..=steps {
            let s = i as f64 / steps as f64;
            if wanted(i) {
                self.dot([from[0] + s * dx, from[1] + s * dy], ink);
            }
        }
    }

    /// Fills a disc: every dot whose middle lies in it, and at least the one at its own middle.
    pub(super) fn disc(&mut self, [x, y]: Place, radius: f64, ink: Ink) {
        let [across, down] = self.dots().map(|n| n as f64);
        let near = x + radius >= 0.0 && y + radius >= 0.0 && x - radius < across && y - radius < down;
        if !near || !radius.is_finite() {
            return;
        }
        self.dot([x, y], ink);
        let rows = (y - radius).max(0.0) as usize..=(y + radius).min(down - 1.0).max(0.0) as usize;
        for j in rows {
            let columns = (x - radius).max(0.0) as usize..=(x + radius).min(across - 1.0).max(0.0) as usize;
            for i in columns {
                let [i, j] = [i as f64 + 0.5, j as f64 + 0.5];
                if (i - x).powi(2) + (j - y).powi(2) <= radius * radius {
                    self.dot([i, j], ink);
                }
            }
        }
    }
}

/// The part of a line that lies on a canvas of this size (Y.-D. Liang and B. A. Barsky, ACM Trans. Graph. 3 (1984) 1,
/// doi:10.1145/357332.357333); none if it lies outside or nowhere.
fn clip(from: Place, to: Place, size: [f64; 2]) -> Option<[Place; 2]> {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let change = to[axis] - from[axis];
        if !(change.is_finite() && from[axis].is_finite()) {
            return None;
        }
        for (rate, room) in [(-change, from[axis]), (change, size[axis] - from[axis])] {
            if rate == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if rate < 0.0 {
                first = first.max(room / rate);
            } else {
                last = last.min(room / rate);
            }
        }
    }
    let at = |s: f64| [from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1])];
    (first <= last).then(|| [at(first), at(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(canvas: &Canvas) -> String {
        let row = |j| (0..canvas.columns).map(|i| canvas.cell(i, j).0).collect::<String>();
        (0..canvas.rows).map(row).collect::<Vec<_>>().join("\n")
    }

    fn count(canvas: &Canvas) -> u32 {
        canvas.bits.iter().map(|b| b.count_ones()).sum()
    }

    #[test]
    fn each_dot_has_its_bit() {
        // Unicode numbers the dots of a cell down its left side, 1 2 3 7, and down its right side, 4 5 6 8.
        let numbers = [[1, 4], [2, 5], [3, 6], [7, 8]];
        for (y, row) in numbers.iter().enumerate() {
            for (x, number) in row.iter().enumerate() {
                let mut canvas = Canvas::new(1, 1);
                canvas.dot([x as f64, y as f64], Ink::Rod);
                let expected = char::from_u32(0x2800 + (1 << (number - 1))).expect("a braille character");
                assert_eq!(canvas.cell(0, 0), (expected, Ink::Rod), "{x}, {y}");
            }
        }
    }

    #[test]
    fn lines_look_like_lines() {
        let mut canvas = Canvas::new(4, 2);
        canvas.line([0.0, 0.0], [7.5, 7.5], Ink::Rod);
        assert_eq!(text(&canvas), "⠑⢄  \n  ⠑⢄");
        let mut canvas = Canvas::new(4, 1);
        canvas.line([0.0, 1.5], [7.9, 1.5], Ink::Rod);
        assert_eq!(text(&canvas), "⠒⠒⠒⠒");
        let mut canvas = Canvas::new(1, 2);
        canvas.line([1.0, 7.9], [1.0, 0.0], Ink::Rod);
        assert_eq!(text(&canvas), "⢸\n⢸");
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut canvas = Canvas::new(4, 4);
        canvas.line([-5.0, -5.0], [-1.0, 9.0], Ink::Rod);
        canvas.line([f64::NAN, 0.0], [1.0, 1.0], Ink::Rod);
        canvas.line([0.0, 0.0], [f64::INFINITY, 1.0], Ink::Rod);
        canvas.dot([-0.1, 3.0], Ink::Rod);
        canvas.dot([8.0, 3.0], Ink::Rod);
        canvas.dot([f64::NAN, 3.0], Ink::Rod);
        canvas.erase([f64::NAN, 3.0]);
        canvas.erase([9.0, 3.0]);
        canvas.disc([-50.0, 3.0], 10.0, Ink::Rod);
        canvas.disc([f64::NAN, 3.0], 10.0, Ink::Rod);
        assert_eq!(count(&canvas), 0);
        // A line of astronomical length costs no more than what is seen of it.
        canvas.line([-1e12, 8.0], [1e12, 8.0], Ink::Rod);
        assert_eq!(count(&canvas), 8);
    }

    #[test]
    fn discs_are_round() {
        let mut canvas = Canvas::new(10, 5);
        canvas.disc([10.0, 10.0], 6.0, Ink::Disc(0));
        let area = f64::from(count(&canvas));
        assert!((area - std::f64::consts::PI * 36.0).abs() < 8.0, "{area}");
        let mut canvas = Canvas::new(10, 5);
        canvas.disc([3.2, 3.7], 0.1, Ink::Disc(0));
        assert_eq!(count(&canvas), 1);
    }

    #[test]
    fn faint_lines_have_fewer_dots() {
        let points: Vec<Place> = (0..=40).map(|i| [f64::from(i), 4.0]).collect();
        let drawn = |every| {
            let mut canvas = Canvas::new(20, 2);
            canvas.dotted(&points, every, Ink::Trail(0, 0));
            count(&canvas)
        };
        assert_eq!(drawn(1), 40);
        assert!(drawn(2) >= 20 && drawn(2) < 24 && drawn(4) < 13);
    }
}
