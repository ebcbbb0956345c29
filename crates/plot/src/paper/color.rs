//! Colours that people with any colour vision tell apart.

/// Red, green, blue and how much of it covers what is below, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Color {
    pub(crate) rgb: [u8; 3],
    pub(crate) cover: f64,
}

impl Color {
    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Color {
        Color { rgb: [red, green, blue], cover: 1.0 }
    }

    /// The colour, covering only part of what is below.
    pub(crate) const fn faint(self, cover: f64) -> Color {
        Color { cover, ..self }
    }

    /// The colour on another, in full.
    pub(crate) fn over(self, below: Color) -> Color {
        let mix = |i: usize| {
            let (above, below) = (f64::from(self.rgb[i]), f64::from(below.rgb[i]));
            (self.cover * above + (1.0 - self.cover) * below).round() as u8
        };
        Color { rgb: [mix(0), mix(1), mix(2)], cover: 1.0 }
    }
}

pub(crate) const WHITE: Color = Color::new(255, 255, 255);
pub(crate) const INK: Color = Color::new(34, 34, 34);
pub(crate) const GREY: Color = Color::new(110, 110, 110);
pub(crate) const GRID: Color = Color::new(228, 228, 228);

/// The palette of M. Okabe and K. Ito, "Color Universal Design" (2008), without yellow, which white paper swallows, in an order that
/// makes neighbours differ in grey too.
const SERIES: [Color; 7] = [
    Color::new(0, 114, 178),
    Color::new(230, 159, 0),
    Color::new(0, 0, 0),
    Color::new(86, 180, 233),
    Color::new(213, 94, 0),
    Color::new(0, 158, 115),
    Color::new(204, 121, 167),
];

/// The colour of a series.
pub(crate) fn series(index: usize) -> Color {
    SERIES[index % SERIES.len()]
}
