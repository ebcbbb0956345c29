//! A sheet of marks, and how it becomes a picture.

use super::color::{Color, WHITE};
use super::raster::{Fine, Raster, png};
use crate::error::PictureError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Plotters counts in whole pixels, which shows in curves: marks are laid on a grid so many times as fine.
const GRAIN: f64 = 10.0;

/// Pixels of a PNG per unit of length of the sheet.
const DENSITY: f64 = 2.0;

/// Units of length of the sheet per metre: as CSS has it, 96 in an inch.
const PER_METRE: f64 = 96.0 / 0.0254;

/// The fonts of an SVG, the first that a reader has.
const FAMILY: &str = "Noto Sans, Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif";

/// Where the anchor of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Horizontal {
    Left,
    Center,
    Right,
}

/// Where the anchor of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vertical {
    Top,
    Center,
}

/// Something on a sheet. Lengths are pixels of a screen, from the upper left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    Line {
        points: Vec<[f64; 2]>,
        width: f64,
        color: Color,
    },
    Area {
        points: Vec<[f64; 2]>,
        color: Color,
    },
    Disc {
        at: [f64; 2],
        radius: f64,
        color: Color,
    },
    Text {
        at: [f64; 2],
        text: String,
        size: f64,
        color: Color,
        anchor: (Horizontal, Vertical),
        upright: bool,
    },
}

/// Cells of colour in a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Image {
    /// Cells from left to right, rows from top to bottom.
    pub(crate) cells: Vec<Color>,
    pub(crate) columns: usize,
    /// Whether it is a picture, and not cells that each stand for something.
    pub(crate) smooth: bool,
}

/// Images behind marks, back to front.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Left, top, right and bottom of each.
    pub(crate) images: Vec<(Image, [f64; 4])>,
    pub(crate) marks: Vec<Mark>,
}

impl Sheet {
    pub(crate) fn new(width: f64, height: f64) -> Sheet {
        Sheet { width, height, images: Vec::new(), marks: Vec::new() }
    }

    pub(crate) fn line(&mut self, points: impl Into<Vec<[f64; 2]>>, width: f64, color: Color) {
        self.marks.push(Mark::Line { points: points.into(), width, color });
    }

    pub(crate) fn text(
        &mut self,
        at: [f64; 2],
        text: impl Into<String>,
        size: f64,
        color: Color,
        anchor: (Horizontal, Vertical),
    ) {
        self.marks.push(Mark::Text { at, text: text.into(), size, color, anchor, upright: false });
    }

    /// The size on plotters' grid.
    fn fine(&self) -> (u32, u32) {
        ((self.width * GRAIN) as u32, (self.height * GRAIN) as u32)
    }

    /// The sheet as SVG.
    pub(crate) fn svg(&self) -> Result<String, PictureError> {
        let (mut text, fine) = (String::new(), self.fine());
        let area = SVGBackend::with_string(&mut text, fine).into_drawing_area();
        area.fill(&rgba(WHITE)).map_err(|error| PictureError::Painting(Box::new(error)))?;
        self.paint(&area)?;
        drop(area);
        // The size of the picture is that of the sheet, not of the fine grid; and corners of curves are round.
        let size = format!("<svg width=\"{}\" height=\"{}\"", fine.0, fine.1);
        let head = format!(
            "<svg width=\"{}\" height=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
            self.width, self.height
        );
        debug_assert!(text.starts_with(&size));
        // What is so anyway need not be said of each of thousands of points.
        let mut text = text.replacen(&size, &head, 1).replace(" opacity=\"1\"", "");
        // Images lie on the paper, which is the first shape.
        let paper = text.find("/>").map_or(text.len(), |end| end + 2);
        for (image, place) in &self.images {
            text.insert_str(paper, &image.svg(place.map(|length| length * GRAIN))?);
        }
        Ok(text.replace(" stroke=\"none\" stroke-width=\"0\"", ""))
    }

    /// The sheet as pixels.
    pub(crate) fn raster(&self) -> Result<Raster, PictureError> {
        let [width, height] = [self.width, self.height].map(|length| (length * DENSITY).round() as u32);
        let mut raster = Raster::new(width, height).ok_or(PictureError::Size { width, height })?;
        for (image, place) in &self.images {
            raster.image(image, place.map(|length| length * DENSITY));
        }
        let fine = Fine { raster: &mut raster, size: self.fine(), scale: DENSITY / GRAIN };
        self.paint(&fine.into_drawing_area())?;
        Ok(raster)
    }

    /// The sheet as PNG.
    pub(crate) fn png(&self) -> Result<Vec<u8>, PictureError> {
        Ok(self.raster()?.png((DENSITY * PER_METRE).round() as u32)?)
    }

    fn paint<B: DrawingBackend<ErrorType: 'static>>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), PictureError> {
        let refused = |error: DrawingAreaErrorKind<B::ErrorType>| PictureError::Painting(Box::new(error));
        for mark in &self.marks {
            match mark {
                Mark::Line { points, width, color } => {
                    let stroke_width = (width * GRAIN).round() as u32;
                    let style = ShapeStyle { color: rgba(*color), filled: false, stroke_width };
                    let mut grid: Vec<_> = points.iter().map(fine).collect();
                    grid.dedup();
                    area.draw(&PathElement::new(grid, style)).map_err(refused)?;
                }
                Mark::Area { points, color } => {
                    let points: Vec<_> = points.iter().map(fine).collect();
                    area.draw(&Polygon::new(points, rgba(*color))).map_err(refused)?;
                }
                Mark::Disc { at, radius, color } => {
                    let radius = (radius * GRAIN).round() as u32;
                    area.draw(&Circle::new(
                        fine(at),
                        radius,
                        ShapeStyle { color: rgba(*color), filled: true, stroke_width: 0 },
                    ))
                    .map_err(refused)?;
                }
                Mark::Text { at, text, size, color, anchor, upright } => {
                    let horizontal = match anchor.0 {
                        Horizontal::Left => HPos::Left,
                        Horizontal::Center => HPos::Center,
                        Horizontal::Right => HPos::Right,
                    };
                    let vertical = match anchor.1 {
                        Vertical::Top => VPos::Top,
                        Vertical::Center => VPos::Center,
                    };
                    let turn = if *upright { FontTransform::Rotate270 } else { FontTransform::None };
                    let ink = rgba(*color);
                    let style = TextStyle::from((FAMILY, size * GRAIN * 1.24).into_font())
                        .color(&ink)
                        .transform(turn)
                        .pos(Pos::new(horizontal, vertical));
                    area.draw(&Text::new(text.as_str(), fine(at), style)).map_err(refused)?;
                }
            }
        }
        area.present().map_err(refused)
    }
}

impl Image {
    /// The image in a rectangle of an SVG.
    fn svg(&self, [left, top, right, bottom]: [f64; 4]) -> Result<String, PictureError> {
        let rgb = self.cells.iter().flat_map(|cell| cell.over(WHITE).rgb).collect::<Vec<u8>>();
        let rows = self.cells.len() / self.columns.max(1);
        let (width, height) = (self.columns as u32, rows as u32);
        let png = png(&rgb, [width, height], None)?;
        let rendering = if self.smooth { "auto" } else { "pixelated" };
        Ok(format!(
            "\n<image x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             image-rendering=\"{rendering}\" href=\"data:image/png;base64,{}\"/>",
            right - left,
            bottom - top,
            base64(&png)
        ))
    }
}

/// Bytes as text (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().chain(&[0; 2]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for i in 0..4 {
            let letter = char::from(LETTERS[bits >> (18 - 6 * i) & 63]);
            text.push(if i <= group.len() { letter } else { '=' });
        }
    }
    text
}

fn rgba(color: Color) -> RGBAColor {
    let [red, green, blue] = color.rgb;
    RGBAColor(red, green, blue, color.cover)
}

fn fine(point: &[f64; 2]) -> (i32, i32) {
    ((point[0] * GRAIN).round() as i32, (point[1] * GRAIN).round() as i32)
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn bytes_become_text() {
        let examples = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(examples.map(|bytes| base64(bytes.as_bytes())), texts);
    }
}
