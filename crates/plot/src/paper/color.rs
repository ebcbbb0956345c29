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
pub(crate) const STILL: Color = Color::new(160, 160, 160);
pub(crate) const GRID: Color = Color::new(228, 228, 228);

/// So many series have a colour of their own.
pub(crate) const SEVERAL: usize = 8;

/// The palette of M. Okabe and K. Ito, "Color Universal Design" (2008), without yellow, which white paper swallows, in an order that
/// makes neighbours differ in grey too; and the wine red of P. Tol, "Colour Schemes", SRON/EPS/TN/09-002 (2021).
const SERIES: [Color; SEVERAL] = [
    Color::new(0, 114, 178),
    Color::new(230, 159, 0),
    Color::new(0, 0, 0),
    Color::new(86, 180, 233),
    Color::new(213, 94, 0),
    Color::new(0, 158, 115),
    Color::new(204, 121, 167),
    Color::new(136, 34, 85),
];

/// The map viridis of S. van der Walt and N. Smith (2015), even to the eye and in grey, at even steps, without its yellow end.
const SCALE: [Color; 8] = [
    Color::new(68, 1, 84),
    Color::new(71, 44, 122),
    Color::new(59, 81, 139),
    Color::new(44, 113, 142),
    Color::new(33, 144, 141),
    Color::new(39, 173, 129),
    Color::new(92, 200, 99),
    Color::new(170, 220, 50),
];

/// The colour of a series.
pub(crate) fn series(index: usize) -> Color {
    SERIES[index % SERIES.len()]
}

/// The colour of a part of a range, from 0 to 1.
pub(crate) fn scale(part: f64) -> Color {
    let at = part.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at.floor() as usize).min(SCALE.len() - 2);
    SCALE[below + 1].faint(at - below as f64).over(SCALE[below])
}

#[cfg(test)]
mod tests {
    use super::{SCALE, SEVERAL, scale, series};

    #[test]
    fn colours_of_several_series_differ() {
        let far = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max() > Some(60);
        for i in 0..SEVERAL {
            assert!((0..i).all(|j| far(series(i).rgb, series(j).rgb)), "{i}");
        }
    }

    #[test]
    fn a_scale_goes_through_its_colours_and_gets_lighter() {
        assert_eq!([scale(0.0), scale(1.0)], [SCALE[0], SCALE[7]]);
        assert_eq!(scale(3.0 / 7.0), SCALE[3]);
        let light =
            |part: f64| scale(part).rgb.iter().zip([0.3, 0.59, 0.11]).map(|(c, w)| f64::from(*c) * w).sum();
        let lights: Vec<f64> = (0..=20).map(|i| light(f64::from(i) / 20.0)).collect();
        assert!(lights.windows(2).all(|pair| pair[0] < pair[1]), "{lights:?}");
    }
}
