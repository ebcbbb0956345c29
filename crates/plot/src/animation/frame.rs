//! The frames of an animation.

use super::solids::Solids;
use super::tempo::Tempo;
use crate::chart::short;
use crate::error::PictureError;
use crate::moment::Sampled;
use crate::paper::color::{self, Color, GREY, INK, STILL, WHITE};
use crate::paper::font;
use crate::paper::raster::Raster;
use crate::scene::{Ground, Scene, Shape};
use crate::view::{Fit, View};
use leastaction_output::Record;

/// The pixels of a picture, about: the square of this.
const SIDE: f64 = 480.0;

/// Room for dots at the edge, and for the texts in the corners.
const MARGIN: f64 = 38.0;

/// Room below a motion in space, for the axes: what is drawn does not come there.
const STRIP: f64 = 30.0;

/// How long the axes are, and how far away their names.
const AXIS: [f64; 2] = [22.0, 30.0];

/// The ground, the lines on it, and shadows.
const GROUND: [Color; 3] = [Color::new(246, 246, 246), Color::new(228, 228, 228), Color::new(205, 205, 205)];

/// Bodies in a plane.
const BODY: Color = Color::new(200, 219, 235);

/// A trail is so many seconds of the animation long.
const TRAIL: f64 = 3.0;

/// A trail fades in so many steps: each is a colour of the palette.
const FADES: usize = 8;

/// At most so many points make a trail.
const POINTS: usize = 480;

/// The size of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Canvas {
    /// As high and wide as the drawing asks for, with so many pixels per length of the picture.
    Usual { density: f64 },
    /// So many pixels across and down.
    Size([u32; 2]),
}

/// What paints frames.
pub(crate) struct Painter<'a> {
    record: &'a Record,
    scene: &'a Scene,
    tempo: Tempo,
    title: String,
    density: f64,
    fit: Fit,
    size: f64,
    /// Where the trails were at each sample, in pixels; NaN where they were nowhere.
    trails: Vec<Vec<[f64; 2]>>,
    /// The z of the ground, if there is one.
    ground: Option<f64>,
    /// What does not move.
    still: Raster,
    frame: Raster,
    /// Meshes, and what is before and behind them.
    solids: Option<Solids>,
    sampled: Sampled,
}

impl<'a> Painter<'a> {
    pub(crate) fn new(
        record: &'a Record,
        scene: &'a Scene,
        tempo: Tempo,
        title: &str,
        canvas: Canvas,
    ) -> Result<Painter<'a>, PictureError> {
        let mut bounds = scene.bounds(record);
        let size = bounds.size();
        let ground = scene.ground(record);
        ground.iter().flat_map(|ground| ground.corners).for_each(|corner| bounds.include(corner));
        if bounds.is_empty() {
            return Err(PictureError::NotFinite { what: "the drawing".to_owned() });
        }
        let [wide, high] = [0, 1].map(|axis| bounds.high[axis] - bounds.low[axis]);
        let ratio = if wide > 0.0 || high > 0.0 { (wide / high).clamp(0.6, 1.8) } else { 1.0 };
        let strip = if scene.view() == View::PLANE { 0.0 } else { STRIP };
        let (density, width, picture, height) = match canvas {
            Canvas::Usual { density } => {
                // Videos have even sizes.
                let even = |length: f64| 2.0 * (length * density / 2.0).round();
                let picture = even(SIDE / ratio.sqrt());
                (density, even(SIDE * ratio.sqrt()), picture, picture + even(strip))
            }
            Canvas::Size(size) => {
                let [width, height] = size.map(f64::from);
                // Lines and texts are in proportion.
                let density = (width * height).sqrt() / SIDE;
                (density, width, height - strip * density, height)
            }
        };
        let refused = || PictureError::Size { width: width as u32, height: height as u32 };
        let blank = || Raster::new(width as u32, height as u32).ok_or_else(refused);
        let fit = bounds.fit(width, picture, MARGIN * density);
        let solids = Solids::new(scene, record, [width as u32, height as u32], density);
        let mut painter = Painter {
            record,
            scene,
            tempo,
            title: title.to_owned(),
            density,
            fit,
            size,
            ground: ground.as_ref().map(|ground| ground.height),
            trails: vec![Vec::with_capacity(record.len()); scene.trails()],
            still: blank()?,
            frame: blank()?,
            solids,
            sampled: Sampled::default(),
        };
        ground.iter().for_each(|ground| painter.lay(ground));
        painter.prepare();
        Ok(painter)
    }

    pub(crate) fn tempo(&self) -> Tempo {
        self.tempo
    }

    pub(crate) fn size(&self) -> (u32, u32) {
        (self.frame.width(), self.frame.height())
    }

    /// Colours of light and shade that frames are made of.
    pub(crate) fn tones(&self) -> Vec<Color> {
        self.solids.as_ref().map_or_else(Vec::new, |solids| solids.colors(self.scene))
    }

    /// Colours that frames are made of besides, if their edges were hard.
    pub(crate) fn colors(&self) -> Vec<Color> {
        let mut colors = vec![INK, GREY, STILL];
        colors.extend(GROUND);
        colors.extend(self.scene.has_flat_bodies().then_some(BODY));
        colors.extend((0..self.scene.trails().min(color::SEVERAL)).map(color::series));
        colors
    }

    /// Paints the ground.
    fn lay(&mut self, ground: &Ground) {
        self.still.fill(ground.corners.map(|corner| self.fit.pixel(corner)), GROUND[0]);
        for line in &ground.lines {
            self.still.stroke(line.map(|point| self.fit.pixel(point)), self.density, GROUND[1]);
        }
    }

    fn prepare(&mut self) {
        for sample in 0..self.record.len() {
            self.sampled.read(self.record, sample, self.scene.wanted(false));
            self.trails.iter_mut().for_each(|trail| trail.push([f64::NAN; 2]));
            for shape in self.scene.shapes(&self.sampled.moment(), self.size) {
                match shape {
                    Shape::Trail { trail, at } => self.trails[trail][sample] = self.fit.pixel(at),
                    Shape::Line(points) if sample == 0 => {
                        let pixels = points.into_iter().map(|point| self.fit.pixel(point));
                        self.still.stroke(pixels, 1.5 * self.density, STILL);
                    }
                    _ => {}
                }
            }
        }
        let at = [10.0, 20.0].map(|x| x * self.density);
        let room = f64::from(self.frame.width()) - 2.0 * at[0];
        let full = font::width(&self.title, 13.0 * self.density);
        let size = 13.0 * self.density * (room / full).min(1.0);
        self.still.text(at, &self.title, size, GREY);
        if self.scene.view() != View::PLANE {
            let left = self.triad();
            if let Some(solids) = &self.solids {
                let middle = f64::from(self.still.height()) - 16.0 * self.density;
                solids.bars(&mut self.still, [left - 12.0 * self.density, middle]);
            }
        }
    }

    /// Shows where the axes of space lead, in the corner that is left free for it, and tells where that begins.
    fn triad(&mut self) -> f64 {
        let ends: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let unit = std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
            let [right, up] = self.scene.view().project(unit);
            [right, -up]
        });
        // The origin is such that names at the ends just keep to the edges.
        let reach = |side: usize| ends.iter().map(|end| AXIS[1] * end[side]).fold(0.0, f64::max);
        let sides = [f64::from(self.frame.width()), f64::from(self.frame.height())];
        let origin = [0, 1].map(|side| sides[side] - (reach(side) + 9.0) * self.density);
        for ([right, down], name) in ends.into_iter().zip(["x", "y", "z"]) {
            let along = |length: f64| {
                [origin[0] + length * self.density * right, origin[1] + length * self.density * down]
            };
            self.still.stroke([origin, along(AXIS[0])], 1.5 * self.density, GREY);
            let [x, y] = along(AXIS[1]);
            let at = [x - 3.0 * self.density, y + 4.0 * self.density];
            self.still.text(at, name, 12.0 * self.density, GREY);
        }
        let back = ends.iter().map(|end| AXIS[1] * end[0]).fold(0.0, f64::min);
        origin[0] + back * self.density
    }

    /// Paints a frame, and gives its pixels: red, green and blue, row by row.
    pub(crate) fn paint(&mut self, frame: usize) -> Vec<u8> {
        let time = self.tempo.time(frame);
        let (sample, part) = self.sample(time);
        self.interpolate(sample, part);
        self.picture(time, sample)
    }

    /// Paints a sample of the record, likewise.
    pub(crate) fn paint_sample(&mut self, sample: usize) -> Vec<u8> {
        self.interpolate(sample, 0.0);
        self.picture(self.record.times[sample], sample)
    }

    /// Paints what is at a time, at or after a sample.
    fn picture(&mut self, time: f64, sample: usize) -> Vec<u8> {
        self.frame.clear(&self.still);
        let shapes = self.scene.shapes(&self.sampled.moment(), self.size);
        let ends = shapes.iter().filter_map(|shape| match shape {
            Shape::Trail { trail, at } => Some((*trail, *at)),
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        let crowded = shapes.iter().filter(|shape| matches!(shape, Shape::Dot { .. })).count() > 16;
        let largest = if crowded { 5.0 } else { 9.0 } * self.density;
        self.shadows(largest);
        for (trail, at) in &ends {
            self.trail(*trail, sample, time, self.fit.pixel(*at));
        }
        if let Some(solids) = &mut self.solids {
            solids.paint(&mut self.frame, self.scene, &self.sampled.moment(), self.fit);
        }
        for shape in shapes.iter().filter(|_| self.solids.is_none()) {
            match shape {
                Shape::Rod(line) => {
                    let pixels = line.map(|point| self.fit.pixel(point));
                    self.frame.stroke(pixels, if crowded { 2.0 } else { 3.0 } * self.density, INK);
                }
                Shape::Spring(points) => {
                    let pixels: Vec<_> = points.iter().map(|point| self.fit.pixel(*point)).collect();
                    self.frame.stroke(pixels, 1.8 * self.density, GREY);
                }
                Shape::Dot { at, radius } => {
                    let pixel = self.fit.pixel(*at);
                    let radius = (largest * radius).max(2.5 * self.density);
                    let trail = ends.iter().find(|(_, end)| end == at);
                    let color = trail.map_or(INK, |(trail, _)| color::series(*trail));
                    self.frame.disc(pixel, radius + 1.2 * self.density, WHITE);
                    self.frame.disc(pixel, radius, color);
                }
                Shape::Body { outline, marks } => {
                    let pixels = |line: &[[f64; 2]]| -> Vec<_> {
                        line.iter().map(|point| self.fit.pixel(*point)).collect()
                    };
                    let mut rim = pixels(outline);
                    self.frame.fill(rim.iter().copied(), BODY);
                    rim.extend(rim.first().copied());
                    self.frame.stroke(rim, 1.6 * self.density, INK);
                    for line in marks {
                        self.frame.stroke(pixels(line), 1.6 * self.density, INK);
                    }
                }
                Shape::Trail { .. } | Shape::Line(_) => {}
            }
        }
        self.label(time);
        self.frame.rgb()
    }

    /// What rods and dots leave of a light straight above: it tells how high they are.
    fn shadows(&mut self, largest: f64) {
        let Some(height) = self.ground else { return };
        if let Some(solids) = &mut self.solids {
            solids.shadow(&mut self.frame, self.scene, &self.sampled.moment(), self.fit, height);
        }
        for shape in self.scene.shadows(&self.sampled.moment(), self.size, height) {
            match shape {
                Shape::Rod(line) => {
                    self.frame.stroke(line.map(|point| self.fit.pixel(point)), 2.0 * self.density, GROUND[2]);
                }
                Shape::Dot { at, radius } => {
                    let radius = (0.7 * largest * radius).max(1.5 * self.density);
                    self.frame.disc(self.fit.pixel(at), radius, GROUND[2]);
                }
                Shape::Body { outline, .. } => {
                    let pixels: Vec<_> = outline.iter().map(|point| self.fit.pixel(*point)).collect();
                    self.frame.fill(pixels, GROUND[2]);
                }
                Shape::Spring(_) | Shape::Trail { .. } | Shape::Line(_) => {}
            }
        }
    }

    fn label(&mut self, time: f64) {
        let span = (self.tempo.time(self.tempo.frames - 1) - self.tempo.time(0)).abs();
        let mut text = if (0.1..1e5).contains(&span) {
            let digits = (3.0 - span.log10().floor()).clamp(0.0, 2.0) as usize;
            format!("t = {time:.digits$}").replace('-', "−")
        } else {
            format!("t = {}", short(time, 3))
        };
        if self.tempo.speed != 1.0 && !self.title.is_empty() {
            text = format!("{text}   (×{})", short(self.tempo.speed, 2));
        }
        let moment = self.sampled.moment();
        if moment.places.iter().any(|x| !x.is_finite()) {
            text.push_str("   not finite");
        }
        let at = [10.0 * self.density, f64::from(self.frame.height()) - 11.0 * self.density];
        self.frame.text(at, &text, 14.0 * self.density, INK);
    }

    /// Draws where something was in the last seconds, fading.
    fn trail(&mut self, trail: usize, sample: usize, time: f64, end: [f64; 2]) {
        let ago = TRAIL * self.tempo.speed;
        let times = &self.record.times;
        let first = times[..=sample].partition_point(|t| (time - t).abs() > ago);
        let step = (sample + 1 - first).div_ceil(POINTS).max(1);
        let color = color::series(trail);
        for fade in 0..FADES {
            let age = |k: usize| ago * (1.0 - k as f64 / FADES as f64);
            let [from, to] = [age(fade), age(fade + 1)]
                .map(|age| first + times[first..=sample].partition_point(|t| (time - t).abs() > age));
            // Whole steps counted from the start of the run, so that a trail does not flicker.
            let mut points: Vec<_> =
                (from..=to.min(sample)).filter(|i| i % step == 0).map(|i| self.trails[trail][i]).collect();
            if fade + 1 == FADES {
                points.push(end);
            }
            // A step of fading goes on to where the next begins.
            if let Some(next) = (to + 1..=sample).find(|i| i % step == 0).filter(|_| fade + 1 < FADES) {
                points.push(self.trails[trail][next]);
            } else if fade + 1 < FADES && to >= sample {
                points.push(end);
            }
            let cover = 0.15 + 0.75 * (fade + 1) as f64 / FADES as f64;
            for run in points.split(|p| !p[0].is_finite()).filter(|run| run.len() > 1) {
                self.frame.stroke(run.iter().copied(), 2.0 * self.density, color.faint(cover).over(WHITE));
            }
        }
    }

    /// The sample before a time, and how far that is on the way to the next one.
    fn sample(&self, time: f64) -> (usize, f64) {
        let times = &self.record.times;
        let start = times[0];
        let passed = (time - start).abs();
        let after = times.partition_point(|t| (t - start).abs() <= passed).clamp(1, times.len());
        let before = after - 1;
        if after == times.len() {
            return (before, 0.0);
        }
        let part = (time - times[before]) / (times[after] - times[before]);
        match self.tempo.is_smooth() {
            true => (before, part),
            false if part > 0.5 => (after, 0.0),
            false => (before, 0.0),
        }
    }

    fn interpolate(&mut self, sample: usize, part: f64) {
        let wanted = self.scene.wanted(true);
        self.sampled.read(self.record, sample, wanted);
        if part > 0.0 {
            let mut next = Sampled::default();
            next.read(self.record, sample + 1, wanted);
            self.sampled.toward(&next, part);
        }
    }
}
