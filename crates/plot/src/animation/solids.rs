//! What is in space and hides what is behind it, on the pixels of a frame.

use crate::chart::short;
use crate::moment::Moment;
use crate::paper::color::{Color, GREY, INK};
use crate::paper::font;
use crate::paper::raster::Raster;
use crate::scene::Scene;
use crate::solid::{Pigment, Relief, color, scale, tones};
use crate::view::Fit;
use leastaction_language::Tint;
use leastaction_output::Record;

/// Each pixel is the mean of the square of so many, about, per length of the picture: edges are smooth.
const FINE: f64 = 3.0;

/// How long the scale of colours is, how high, and the size of its texts.
const BAR: [f64; 3] = [96.0, 8.0, 12.0];

/// What paints meshes, and what is before and behind them.
pub(super) struct Solids {
    relief: Relief,
    /// Pixels of the relief in a row of a pixel.
    fine: usize,
    density: f64,
}

impl Solids {
    /// For frames of this size, if there is something to paint.
    pub(super) fn new(scene: &Scene, record: &Record, size: [u32; 2], density: f64) -> Option<Solids> {
        let fine = (FINE / density).round().max(2.0) as usize;
        let [width, height] = size.map(|length| length as usize * fine);
        let relief = || Relief::new(width, height).scaled(scene, record);
        scene.has_surfaces().then(|| Solids { relief: relief(), fine, density })
    }

    /// The colours it needs, about.
    pub(super) fn colors(&self, scene: &Scene) -> Vec<Color> {
        let plain = scene.skins().iter().any(|skin| skin.tint == Tint::Plain) || !scene.forms().is_empty();
        let scaled = self.relief.scales().next().is_some();
        let pigments = [(scaled, Pigment::Scale), (plain, Pigment::Plain)];
        pigments.into_iter().filter(|(used, _)| *used).flat_map(|(_, pigment)| tones(pigment)).collect()
    }

    pub(super) fn paint(&mut self, frame: &mut Raster, scene: &Scene, moment: &Moment<'_>, fit: Fit) {
        let (fit, grain) = self.finer(fit);
        self.relief.draw(scene, moment, fit, grain);
        self.lay(frame);
    }

    pub(super) fn shadow(
        &mut self,
        frame: &mut Raster,
        scene: &Scene,
        moment: &Moment<'_>,
        fit: Fit,
        height: f64,
    ) {
        let (fit, grain) = self.finer(fit);
        self.relief.draw_shadow(scene, moment, fit, grain, height);
        self.lay(frame);
    }

    /// A fit to the pixels of the relief, and how many of them are a length of the picture.
    fn finer(&self, fit: Fit) -> (Fit, f64) {
        let fine = self.fine as f64;
        let fit = Fit { scale: fit.scale * fine, center: fit.center.map(|x| x * fine), ..fit };
        (fit, fine * self.density)
    }

    /// Lays what is seen onto a frame: each pixel has the mean colour of what it covers.
    fn lay(&self, frame: &mut Raster) {
        let [width, height] = self.relief.size().map(|length| length / self.fine);
        let mut sums = vec![([0_u32; 3], 0_u32); width];
        for y in 0..height {
            sums.fill(([0; 3], 0));
            for row in y * self.fine..(y + 1) * self.fine {
                for (specks, (sum, count)) in self.relief.row(row).chunks_exact(self.fine).zip(&mut sums) {
                    for &speck in specks.iter().flatten() {
                        let rgb = color(speck).rgb;
                        sum.iter_mut().zip(rgb).for_each(|(sum, c)| *sum += u32::from(c));
                        *count += 1;
                    }
                }
            }
            for (x, (sum, count)) in sums.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
                let [r, g, b] = sum.map(|sum| ((sum + count / 2) / count) as u8);
                let cover = f64::from(*count) / (self.fine * self.fine) as f64;
                frame.blend(x, y, Color::new(r, g, b).faint(cover));
            }
        }
    }

    /// Draws scales of colours side by side, with the last of them ending here.
    pub(super) fn bars(&self, frame: &mut Raster, [mut right, middle]: [f64; 2]) {
        let [long, high, size] = BAR.map(|length| length * self.density);
        let gap = 5.0 * self.density;
        for (tint, [low, top]) in self.relief.scales() {
            let (least, most) = (format!("{} {}", tint.name(), short(low, 3)), short(top, 3));
            let from = right - font::width(&most, size) - gap - long;
            frame.text([from + long + gap, middle + 0.36 * size], &most, size, GREY);
            const STRIPES: usize = 32;
            for stripe in 0..STRIPES {
                let [left, next] = [stripe, stripe + 1].map(|i| from + long * i as f64 / STRIPES as f64);
                let next = (next + 0.4).min(from + long);
                let (top, bottom) = (middle - high / 2.0, middle + high / 2.0);
                let color = scale(stripe as f64 / (STRIPES - 1) as f64);
                frame.fill([[left, top], [next, top], [next, bottom], [left, bottom]], color);
            }
            let start = from - gap - font::width(&least, size);
            frame.text([start, middle + 0.36 * size], &least, size, INK);
            right = start - 3.0 * gap;
        }
    }
}
