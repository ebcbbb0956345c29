//! GIF: few colours, and of each frame only what changed.

use super::frame::Painter;
use crate::error::PictureError;
use crate::paper::color::{Color, INK, WHITE};
use ::gif::{Encoder, Frame, Repeat};
use std::borrow::Cow;

/// Steps from white to a colour: the edges of shapes are smooth.
const SHADES: usize = 12;

/// How long the last frame stays, in hundredths of a second.
const PAUSE: u16 = 100;

pub(crate) fn encode(painter: &mut Painter<'_>, bytes: &mut Vec<u8>) -> Result<(), PictureError> {
    let tempo = painter.tempo();
    let (wide, high) = painter.size();
    let refused = || PictureError::Size { width: wide, height: high };
    let [width, height] = [wide, high].map(|length| u16::try_from(length).map_err(|_| refused()));
    let (width, height) = (width?, height?);
    let mut palette = Palette::new(&painter.colors(), &painter.tones());
    let mut encoder = Encoder::new(bytes, width, height, &palette.bytes())?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut shown: Vec<u8> = Vec::new();
    let mut held = 0;
    for frame in 0..tempo.frames {
        let pixels: Vec<u8> = painter.paint(frame).chunks_exact(3).map(|rgb| palette.nearest(rgb)).collect();
        // Delays are whole hundredths: what is lost on one frame is made up for on the next.
        let due = ((frame + 1) as f64 * tempo.duration() * 100.0).round() as u64;
        let delay = u16::try_from(due - held).unwrap_or(u16::MAX);
        held = due;
        let delay = if frame + 1 == tempo.frames { PAUSE.max(delay) } else { delay };
        encoder.write_frame(&changes(&shown, &pixels, width, height, palette.unchanged(), delay))?;
        shown = pixels;
    }
    Ok(())
}

/// The rectangle that holds all changed pixels, with others left as they are.
fn changes(
    shown: &[u8],
    pixels: &[u8],
    width: u16,
    height: u16,
    unchanged: u8,
    delay: u16,
) -> Frame<'static> {
    let mut frame = Frame { delay, width, height, ..Frame::default() };
    if shown.is_empty() {
        frame.buffer = Cow::Owned(pixels.to_vec());
        return frame;
    }
    let row = usize::from(width);
    let mut changed = (0..pixels.len()).filter(|&i| shown[i] != pixels[i]);
    let (mut left, mut right, mut top, mut bottom) = match changed.next() {
        Some(i) => (i % row, i % row, i / row, i / row),
        // A frame has at least one pixel.
        None => (0, 0, 0, 0),
    };
    for i in changed {
        (left, right) = (left.min(i % row), right.max(i % row));
        (top, bottom) = (top.min(i / row), bottom.max(i / row));
    }
    let inside = (top..=bottom).flat_map(|y| (left..=right).map(move |x| y * row + x));
    let buffer = inside.map(|i| if shown[i] == pixels[i] { unchanged } else { pixels[i] });
    frame.buffer = Cow::Owned(buffer.collect());
    (frame.left, frame.top) = (left as u16, top as u16);
    (frame.width, frame.height) = ((right - left + 1) as u16, (bottom - top + 1) as u16);
    frame.transparent = Some(unchanged);
    frame
}

/// The colours of a GIF. The last stands for what did not change.
struct Palette {
    colors: Vec<[u8; 3]>,
    /// The nearest colour of each block of 8 × 8 × 8 colours, once looked for.
    known: Vec<Option<u8>>,
}

impl Palette {
    /// Shades from white to each colour, and from each to ink, and these tones as they are. Where there are tones, shades are few: all
    /// have to find room.
    fn new(colors: &[Color], tones: &[Color]) -> Palette {
        let mut all: Vec<_> =
            std::iter::once(WHITE).chain(tones.iter().copied()).map(|color| color.rgb).collect();
        let (shades, dark) = if tones.is_empty() { (SHADES, 3) } else { (SHADES / 3, 1) };
        let ramp = |from: Color, to: Color, shades: usize| {
            (1..=shades).map(move |i| to.faint(i as f64 / shades as f64).over(from).rgb)
        };
        for color in colors {
            all.extend(ramp(WHITE, *color, shades));
            all.extend(ramp(*color, INK, dark));
        }
        let mut known = std::collections::HashSet::new();
        all.retain(|rgb| known.insert(*rgb));
        all.truncate(255);
        all.sort_unstable();
        Palette { colors: all, known: vec![None; 1 << 18] }
    }

    fn bytes(&self) -> Vec<u8> {
        self.colors.iter().chain([&[0; 3]]).flatten().copied().collect()
    }

    fn unchanged(&self) -> u8 {
        self.colors.len() as u8
    }

    fn nearest(&mut self, rgb: &[u8]) -> u8 {
        let key = rgb.iter().fold(0, |key, c| key << 6 | usize::from(c >> 2));
        if let Some(known) = self.known[key] {
            return known;
        }
        // White is exact: it is most of every frame.
        let far = |color: &[u8; 3]| {
            let squares = color.iter().zip(rgb).map(|(a, b)| i32::from(*a).abs_diff(i32::from(*b)).pow(2));
            squares.sum::<u32>()
        };
        let Some(found) = (0..self.colors.len()).min_by_key(|&i| far(&self.colors[i])) else {
            unreachable!("a palette has a color");
        };
        self.known[key] = Some(found as u8);
        found as u8
    }
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn changes_make_one_frame_the_next() {
        let shown = vec![1; 30];
        let mut pixels = shown.clone();
        (pixels[8], pixels[21]) = (2, 3);
        let frame = changes(&shown, &pixels, 6, 5, 9, 4);
        assert_eq!((frame.left, frame.top, frame.width, frame.height), (2, 1, 2, 3));
        let mut canvas = shown.clone();
        for (i, &pixel) in frame.buffer.iter().enumerate().filter(|(_, pixel)| **pixel != 9) {
            canvas[(1 + i / 2) * 6 + 2 + i % 2] = pixel;
        }
        assert_eq!(canvas, pixels);
        assert_eq!(changes(&shown, &shown, 6, 5, 9, 4).buffer[..], [9]);
    }
}
