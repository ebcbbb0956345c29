//! Letters as outlines. The font comes with the program: a machine without fonts still labels its pictures.

use std::sync::LazyLock;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| match Face::parse(notosans::REGULAR_TTF, 0) {
    Ok(face) => face,
    Err(error) => unreachable!("the font that comes with the program cannot be read: {error}"),
});

/// The glyph of a letter; that of what is missing, for one that the font does not have.
fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).unwrap_or_default()
}

/// The letter whose shape is drawn, how large, and how far it is raised. The font has raised digits, but no raised minus.
fn shape(letter: char) -> (char, f64, f64) {
    if letter == '⁻' { ('−', 0.62, 0.36) } else { (letter, 1.0, 0.0) }
}

fn advance(letter: char) -> f64 {
    let (letter, size, _) = shape(letter);
    let Some(advance) = FACE.glyph_hor_advance(glyph(letter)) else {
        unreachable!("the font says how far each of its glyphs advances")
    };
    size * (f64::from(advance) / f64::from(FACE.units_per_em()))
}

/// How wide a text is.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Whether the font has a letter.
#[cfg(test)]
pub(crate) fn has(letter: char) -> bool {
    FACE.glyph_index(shape(letter).0).is_some()
}

/// The outline of a text that starts at the origin on its baseline, y down; none if nothing is to be seen of it.
pub(crate) fn outline(text: &str, size: f64) -> Option<Path> {
    let scale = size / f64::from(FACE.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0, y: 0.0, scale };
    for letter in text.chars() {
        let (drawn, part, raised) = shape(letter);
        (pen.scale, pen.y) = (scale * part, -raised * size);
        FACE.outline_glyph(glyph(drawn), &mut pen);
        pen.x += advance(letter) * size;
    }
    pen.path.finish()
}

struct Pen {
    path: PathBuilder,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + self.scale * f64::from(x)) as f32, (self.y - self.scale * f64::from(y)) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{has, outline, width};

    #[test]
    fn the_font_has_what_labels_are_made_of() {
        let letters = "abcXYZ0123456789+-−×·=|()[]{}/_'.,:;%⁰¹²³⁴⁵⁶⁷⁸⁹⁻αβγδθλμπρσφψωΔΣΦΨΩ–…éü";
        let missing: String = letters.chars().filter(|letter| !has(*letter)).collect();
        assert_eq!(missing, "");
    }

    #[test]
    fn a_text_is_as_wide_as_its_outline() {
        let text = "energy |ΔE/E|";
        let bounds = outline(text, 20.0).expect("letters").bounds();
        let width = width(text, 20.0);
        assert!((f64::from(bounds.width()) - width).abs() < 8.0, "{width} {bounds:?}");
        assert!(bounds.top() < -12.0 && bounds.bottom() > 2.0, "{bounds:?}");
        assert!(outline("  ", 20.0).is_none());
    }
}
