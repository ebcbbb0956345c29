//! Pixels: a backend for plotters that paints smoothly, with the font that comes with the program.

use super::color::{Color, WHITE};
use super::font;
use super::sheet::Image;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Rect, Stroke, Transform,
};

/// A picture of pixels.
pub(crate) struct Raster {
    pixels: Pixmap,
}

impl Raster {
    /// A white picture; none if it has no pixels or too many.
    pub(crate) fn new(width: u32, height: u32) -> Option<Raster> {
        let mut pixels = Pixmap::new(width, height)?;
        pixels.fill(skia(WHITE));
        Some(Raster { pixels })
    }

    pub(crate) fn clear(&mut self, other: &Raster) {
        self.pixels.fill(tiny_skia::Color::WHITE);
        self.pixels.draw_pixmap(
            0,
            0,
            other.pixels.as_ref(),
            &PixmapPaint::default(),
            Transform::identity(),
            None,
        );
    }

    pub(crate) fn stroke(&mut self, points: impl IntoIterator<Item = [f64; 2]>, width: f64, color: Color) {
        if let Some(path) = polyline(points, false) {
            self.stroke_path(&path, width, color);
        }
    }

    fn stroke_path(&mut self, path: &Path, width: f64, color: Color) {
        let stroke = Stroke {
            width: width as f32,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        self.pixels.stroke_path(path, &paint(color), &stroke, Transform::identity(), None);
    }

    pub(crate) fn fill(&mut self, points: impl IntoIterator<Item = [f64; 2]>, color: Color) {
        if let Some(path) = polyline(points, true) {
            self.fill_path(&path, color, Transform::identity());
        }
    }

    fn fill_path(&mut self, path: &Path, color: Color, transform: Transform) {
        self.pixels.fill_path(path, &paint(color), FillRule::Winding, transform, None);
    }

    pub(crate) fn disc(&mut self, at: [f64; 2], radius: f64, color: Color) {
        if let Some(path) = PathBuilder::from_circle(at[0] as f32, at[1] as f32, radius as f32) {
            self.fill_path(&path, color, Transform::identity());
        }
    }

    /// Writes a text that starts here on its baseline.
    pub(crate) fn text(&mut self, at: [f64; 2], text: &str, size: f64, color: Color) {
        if let Some(path) = font::outline(text, size) {
            self.fill_path(&path, color, Transform::from_translate(at[0] as f32, at[1] as f32));
        }
    }

    /// Lays a colour over a pixel.
    pub(crate) fn blend(&mut self, x: usize, y: usize, color: Color) {
        let place = y * self.width() as usize + x;
        let pixel = &mut self.pixels.pixels_mut()[place];
        // The paper is white, so that nothing shines through.
        let below = Color::new(pixel.red(), pixel.green(), pixel.blue());
        let [r, g, b] = color.over(below).rgb;
        *pixel = tiny_skia::ColorU8::from_rgba(r, g, b, 255).premultiply();
    }

    pub(crate) fn width(&self) -> u32 {
        self.pixels.width()
    }

    pub(crate) fn height(&self) -> u32 {
        self.pixels.height()
    }

    /// Red, green and blue of each pixel, row by row. The paper is white, so that nothing shines through.
    pub(crate) fn rgb(&self) -> Vec<u8> {
        self.pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect()
    }

    /// The picture as a PNG with this many pixels per metre.
    pub(crate) fn png(&self, per_metre: u32) -> Result<Vec<u8>, png::EncodingError> {
        png(&self.rgb(), [self.width(), self.height()], Some(per_metre))
    }

    /// Lays cells of colour into a rectangle: each pixel has the mean colour of what it covers.
    pub(crate) fn image(&mut self, image: &Image, [left, top, right, bottom]: [f64; 4]) {
        let (columns, rows) = (image.columns, image.cells.len() / image.columns.max(1));
        let (width, height) = (self.width() as usize, self.height() as usize);
        let [x0, x1] = [left, right].map(|x| (x.round().max(0.0) as usize).min(width));
        let [y0, y1] = [top, bottom].map(|y| (y.round().max(0.0) as usize).min(height));
        // The cells that a pixel covers: at least the one in its middle.
        let covered = |at: usize, (from, to): (f64, f64), count: usize| {
            let place = |edge: f64| (edge - from) / (to - from) * count as f64;
            let (first, last) = (place(at as f64), place(at as f64 + 1.0));
            let middle = ((first + last) / 2.0) as usize;
            let first = (first.round().max(0.0) as usize).min(middle);
            first.min(count - 1)..(last.round() as usize).max(middle + 1).clamp(1, count)
        };
        let pixels = self.pixels.pixels_mut();
        for y in y0..y1 {
            let lines = covered(y, (top, bottom), rows);
            for x in x0..x1 {
                let (mut sum, mut count) = ([0_u32; 3], 0);
                for line in lines.clone() {
                    for cell in covered(x, (left, right), columns) {
                        let rgb = image.cells[line * columns + cell].over(WHITE).rgb;
                        sum.iter_mut().zip(rgb).for_each(|(sum, c)| *sum += u32::from(c));
                        count += 1;
                    }
                }
                let [r, g, b] = sum.map(|sum| (sum / count.max(1)) as u8);
                pixels[y * width + x] = tiny_skia::ColorU8::from_rgba(r, g, b, 255).premultiply();
            }
        }
    }
}

/// Red, green and blue of pixels as a PNG, with this many of them per metre.
pub(crate) fn png(
    rgb: &[u8],
    [width, height]: [u32; 2],
    per_metre: Option<u32>,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_pixel_dims(per_metre.map(|per_metre| png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    encoder.write_header()?.write_image_data(rgb)?;
    Ok(bytes)
}

fn skia(color: Color) -> tiny_skia::Color {
    let [r, g, b] = color.rgb;
    tiny_skia::Color::from_rgba8(r, g, b, (color.cover * 255.0).round() as u8)
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(skia(color));
    paint
}

fn polyline(points: impl IntoIterator<Item = [f64; 2]>, closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, [x, y]) in points.into_iter().enumerate() {
        let (x, y) = (x as f32, y as f32);
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// A raster as plotters sees it: on a finer grid, as plotters counts in whole pixels.
pub(crate) struct Fine<'a> {
    pub(crate) raster: &'a mut Raster,
    /// The size of the fine grid.
    pub(crate) size: (u32, u32),
    /// Pixels per step of the fine grid.
    pub(crate) scale: f64,
}

impl Fine<'_> {
    fn place(&self, (x, y): BackendCoord) -> [f64; 2] {
        [f64::from(x) * self.scale, f64::from(y) * self.scale]
    }
}

fn color(color: BackendColor) -> Color {
    let (red, green, blue) = color.rgb;
    Color::new(red, green, blue).faint(color.alpha)
}

type Painted = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Fine<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Painted {
        Ok(())
    }

    fn present(&mut self) -> Painted {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, paint: BackendColor) -> Painted {
        let at = self.place(point);
        self.raster.disc(at, self.scale / 2.0, color(paint));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Painted {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Painted {
        let points: Vec<_> = path.into_iter().map(|point| self.place(point)).collect();
        self.raster.stroke(points, f64::from(style.stroke_width()) * self.scale, color(style.color()));
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Painted {
        let ([left, top], [right, bottom]) = (self.place(upper_left), self.place(bottom_right));
        let sides = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32);
        let Some(path) = sides.map(PathBuilder::from_rect) else { return Ok(()) };
        if fill {
            self.raster.fill_path(&path, color(style.color()), Transform::identity());
        } else {
            let width = f64::from(style.stroke_width()) * self.scale;
            self.raster.stroke_path(&path, width, color(style.color()));
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Painted {
        let (at, radius) = (self.place(center), f64::from(radius) * self.scale);
        if fill {
            self.raster.disc(at, radius, color(style.color()));
        } else if let Some(path) = PathBuilder::from_circle(at[0] as f32, at[1] as f32, radius as f32) {
            let width = f64::from(style.stroke_width()) * self.scale;
            self.raster.stroke_path(&path, width, color(style.color()));
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Painted {
        let points: Vec<_> = path.into_iter().map(|point| self.place(point)).collect();
        self.raster.fill(points, color(style.color()));
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Painted {
        // As the SVG backend of plotters has it: the size of a font is 1.24 times that of its letters, and anchors are so far from the
        // baseline.
        let size = style.size() / 1.24 * self.scale;
        let Some(path) = font::outline(text, size) else { return Ok(()) };
        let right = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5,
            HPos::Right => -1.0,
        } * font::width(text, size);
        let down = match style.anchor().v_pos {
            VPos::Top => 0.76,
            VPos::Center => 0.268,
            VPos::Bottom => -0.268,
        } * size;
        let turn = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 90.0,
            FontTransform::Rotate180 => 180.0,
            FontTransform::Rotate270 => 270.0,
        };
        let [x, y] = self.place(pos);
        let transform = Transform::from_translate(right as f32, down as f32)
            .post_rotate(turn)
            .post_translate(x as f32, y as f32);
        self.raster.fill_path(&path, color(style.color()), transform);
        Ok(())
    }
}
