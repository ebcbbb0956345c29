//! A scene in which the nearer hides the farther, at a moment.

use super::buffer::{DepthBuffer, Pigment, Speck};
use super::stage::Stage;
use crate::moment::Moment;
use crate::scene::{Body, Scales, Scene};
use crate::view::Fit;
use leastaction_language::Tint;
use leastaction_output::Record;

/// What is seen of a [`Scene`] with meshes or bodies in space at each pixel.
///
/// ```
/// use leastaction_field::Mesh;
/// use leastaction_language::{Drawing, Tint};
/// use leastaction_plot::{Bounds, Moment, Relief, Scene};
/// let block = Mesh::cuboid([1.0; 3], [2; 3])?;
/// let positions: Vec<f64> = block.nodes().concat();
/// let places: Vec<_> = (0..27).map(|node| (format!("block[{node}]"), 3)).collect();
/// let scene = Scene::new(&Drawing::new().mesh("block", block, 0, Tint::Plain), &places)?;
/// let moment = Moment { places: &positions, ..Moment::default() };
/// let mut bounds = Bounds::default();
/// scene.widen(&mut bounds, &moment);
/// let mut relief = Relief::new(40, 30);
/// relief.draw(&scene, &moment, bounds.fit(40.0, 30.0, 2.0), 1.0);
/// assert!(relief.row(15)[20].is_some() && relief.row(0)[0].is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Relief {
    buffer: DepthBuffer,
    scales: Scales,
}

/// The heaviest ball has this radius, the least another, and rods and springs are so wide, in lengths of the picture.
const BALL: [f64; 2] = [9.0, 2.5];
const ROD: f64 = 1.7;
const SPRING: f64 = 1.0;
const MARK: f64 = 0.8;

impl Relief {
    /// An empty one, with so many pixels.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Relief {
        Relief { buffer: DepthBuffer::new(width, height), scales: Scales::default() }
    }

    /// One of another size with the same scales of colours.
    #[must_use]
    pub fn resized(self, width: usize, height: usize) -> Relief {
        match self.size() == [width, height] {
            true => self,
            false => Relief { scales: self.scales, ..Relief::new(width, height) },
        }
    }

    /// With scales of colours that hold all samples of a record.
    pub(crate) fn scaled(self, scene: &Scene, record: &Record) -> Relief {
        Relief { scales: scene.scales(record), ..self }
    }

    /// Widens the scales of colours so that they hold a moment.
    pub fn widen(&mut self, scene: &Scene, moment: &Moment<'_>) {
        scene.widen_scales(&mut self.scales, moment);
    }

    /// What colours stand for, and the ends of its scale.
    pub fn scales(&self) -> impl Iterator<Item = (&Tint, [f64; 2])> {
        self.scales.iter()
    }

    /// How many pixels there are across and down.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.buffer.width, self.buffer.height]
    }

    /// What is seen at each pixel of a row.
    #[must_use]
    pub fn row(&self, y: usize) -> &[Option<Speck>] {
        self.buffer.row(y)
    }

    /// Draws a scene at a moment, with so many pixels for a length of the picture.
    pub fn draw(&mut self, scene: &Scene, moment: &Moment<'_>, fit: Fit, grain: f64) {
        self.buffer.clear();
        let stage = Relief::stage(scene, moment, fit, grain);
        for skin in scene.skins() {
            let tones = self.scales.tones(&skin.tint, &skin.values(moment));
            stage.mesh(&mut self.buffer, skin, skin.positions(moment), &tones);
        }
        for form in scene.forms() {
            stage.form(&mut self.buffer, form, moment);
        }
        for body in scene.bodies(moment) {
            match body {
                Body::Rod(ends, pigment) => {
                    let width = match pigment {
                        Pigment::Rod => ROD,
                        Pigment::Mark => MARK,
                        _ => SPRING,
                    };
                    let ends = ends.map(|end| stage.spot(end));
                    self.buffer.rod(ends, (width * grain) as f32, pigment, [0.0; 2]);
                }
                Body::Ball(at, radius, pigment) => {
                    let radius = (BALL[0] * radius).max(BALL[1]) * grain;
                    self.buffer.ball(stage.spot(at), radius as f32, pigment, 0.0);
                }
            }
        }
    }

    /// Draws what a scene leaves of a light straight above, on a ground at this height.
    pub(crate) fn draw_shadow(
        &mut self,
        scene: &Scene,
        moment: &Moment<'_>,
        fit: Fit,
        grain: f64,
        height: f64,
    ) {
        self.buffer.clear();
        let stage = Relief::stage(scene, moment, fit, grain);
        for skin in scene.skins() {
            stage.shadow(&mut self.buffer, skin, skin.positions(moment), height);
        }
    }

    fn stage(scene: &Scene, moment: &Moment<'_>, fit: Fit, grain: f64) -> Stage {
        let nodes = scene.skins().iter().flat_map(|skin| skin.positions(moment)).copied();
        let centres = scene.forms().iter().filter_map(|form| Some(form.placement(moment)?.point([0.0; 3])));
        let depth = nodes
            .chain(centres)
            .find(|at| at.iter().all(|x| x.is_finite()))
            .map_or(0.0, |at| scene.view().toward(at));
        Stage { view: scene.view(), fit, depth, grain }
    }
}
