//! A drawing on a canvas, fitted to what the motion covers.

use super::relief;
use super::view::View;
use crate::command::canvas::{Canvas, FADES, Ink, Place};
use leastaction::language::{Drawing, Part, Spot};
use leastaction::plot::{self, Bounds, Fit, Moment, Relief, Scene, SceneError, Shape};
use leastaction::simulate::{Playback, Snapshot};

/// The heaviest disc has this radius in dots on a canvas of this height, and no disc is smaller than the least.
const RADIUS: f64 = 4.2;
const HIGH: f64 = 88.0;
/// In pictures of meshes it has this radius in lengths of the picture.
const BALL: f64 = 9.0;
const LEAST: f64 = 1.3;
/// Bounds follow what they should hold in about this time, in seconds.
const EASE: f64 = 0.25;
/// Not every snapshot is looked at to find the bounds.
const LOOKS: usize = 600;
/// And no more numbers than this in all of them.
const NUMBERS: usize = 1_000_000;
/// Points of a trail are at least this far apart, in dots.
const APART: f64 = 0.8;
/// A trail that fades shows one of this number of its dots.
const THIN: [usize; FADES as usize] = [1, 1, 2, 4];

/// A drawing that is shown.
pub(super) struct Picture {
    scene: Scene,
    /// The trails alone, which are laid out at many times at once.
    trails: Option<Scene>,
    /// The hue of each disc.
    hues: Vec<u8>,
    bounds: Option<Bounds>,
    /// The last picture of meshes, if there was one.
    relief: Option<Relief>,
}

fn moment(snapshot: &Snapshot) -> Moment<'_> {
    Moment {
        places: &snapshot.places,
        velocities: &snapshot.velocities,
        densities: &snapshot.densities,
        coordinates: &snapshot.coordinates,
    }
}

impl Picture {
    /// The picture of a drawing of places with names and dimensions; `rate` finds the number of a velocity by its name, and `coordinate` that of a
    /// coordinate.
    pub(super) fn new(
        drawing: &Drawing,
        places: &[(String, usize)],
        rate: impl Fn(&str) -> Option<usize>,
        coordinate: impl Fn(&str) -> Option<usize>,
    ) -> Result<Picture, SceneError> {
        let scene = Scene::new(drawing, places)?.rated(rate).posed(coordinate);
        let plain = drawing.parts.is_empty();
        let trails: Vec<&Spot> = drawing
            .parts
            .iter()
            .filter_map(|part| if let Part::Trail(of) = part { Some(of) } else { None })
            .collect();
        let hue = |spot: &Spot| trails.iter().position(|trail| *trail == spot).unwrap_or(trails.len()) as u8;
        let hues = drawing
            .parts
            .iter()
            .filter_map(|part| if let Part::Dot { at, .. } = part { Some(hue(at)) } else { None });
        let hues = if plain { (0..places.len()).map(|i| i as u8).collect() } else { hues.collect() };
        let mut only = Drawing::new();
        if plain {
            only = places.iter().take(scene.trails()).fold(only, |only, (name, _)| only.trail(name.as_str()));
        } else {
            only = trails.iter().fold(only, |only, of| only.trail((*of).clone()));
        }
        let trails = if only.parts.is_empty() { None } else { Some(Scene::new(&only, places)?) };
        Ok(Picture { scene, trails, hues, bounds: None, relief: None })
    }

    /// Whether it is of things in space.
    pub(super) fn is_solid(&self) -> bool {
        self.scene.view() != plot::View::PLANE
    }

    /// Draws the system at a time with its trails, on a canvas of this size. It takes the seconds since the last picture, too.
    pub(super) fn draw(
        &mut self,
        canvas: &mut Canvas,
        playback: &Playback,
        snapshot: &Snapshot,
        view: &View,
        seconds: f64,
    ) {
        if self.is_solid() {
            let angles = plot::View::from(view.angles[0], view.angles[1]);
            self.scene.turn(angles);
            self.trails.iter_mut().for_each(|trails| trails.turn(angles));
        }
        let bounds = self.follow(playback, seconds);
        let [across, down] = canvas.dots().map(|n| n as f64);
        let largest = RADIUS * (across.min(down) / HIGH).clamp(0.4, 2.5);
        let mut fit = bounds.fit(across, down, largest + 1.0);
        fit.scale *= view.zoom;
        self.draw_trails(canvas, playback, snapshot, view, fit);
        if self.scene.has_surfaces() {
            for shape in self.scene.shapes(&moment(snapshot), bounds.size()) {
                if let Shape::Line(points) = shape {
                    through(canvas, &points, fit, Ink::Still);
                }
            }
            let grain = largest / BALL;
            relief::draw(canvas, &mut self.relief, &self.scene, &moment(snapshot), fit, grain);
            return;
        }
        let mut discs = self.hues.iter();
        for shape in self.scene.shapes(&moment(snapshot), bounds.size()) {
            match shape {
                Shape::Rod([from, to]) => canvas.line(fit.pixel(from), fit.pixel(to), Ink::Rod),
                Shape::Spring(points) => through(canvas, &points, fit, Ink::Spring),
                Shape::Line(points) => through(canvas, &points, fit, Ink::Still),
                Shape::Dot { at, radius } => {
                    let ink = Ink::Disc(discs.next().copied().unwrap_or(0));
                    canvas.disc(fit.pixel(at), (largest * radius).max(LEAST), ink);
                }
                Shape::Body { mut outline, marks } => {
                    outline.extend(outline.first().copied());
                    through(canvas, &outline, fit, Ink::Rod);
                    marks.iter().for_each(|line| through(canvas, line, fit, Ink::Rod));
                }
                Shape::Trail { .. } => {}
            }
        }
    }

    fn draw_trails(
        &self,
        canvas: &mut Canvas,
        playback: &Playback,
        snapshot: &Snapshot,
        view: &View,
        fit: Fit,
    ) {
        let (Some(trails), time) = (&self.trails, view.trail_time()) else { return };
        let mut paths: Vec<Vec<(f64, Place)>> = vec![Vec::new(); trails.trails()];
        for past in playback.past(snapshot.t, time).chain(std::iter::once(snapshot)) {
            for shape in trails.shapes(&moment(past), 1.0) {
                if let Shape::Trail { trail, at } = shape {
                    let (age, at) = ((snapshot.t - past.t).abs() / time, fit.pixel(at));
                    let path = &mut paths[trail];
                    let far = |(_, [x, y]): &(f64, Place)| (at[0] - x).hypot(at[1] - y) >= APART;
                    if path.last().is_none_or(far) || past.t == snapshot.t {
                        path.push((age, at));
                    }
                }
            }
        }
        // The oldest first, so that what is bright lies on top.
        for fade in (0..FADES).rev() {
            for (trail, path) in paths.iter().enumerate() {
                let shade = |age: f64| ((age * f64::from(FADES)) as u8).min(FADES - 1);
                let from = path.partition_point(|(age, _)| shade(*age) > fade);
                let to = path.partition_point(|(age, _)| shade(*age) >= fade);
                // Shades join: each goes on to the first point of the next.
                let points: Vec<Place> = path[from..(to + 1).min(path.len())].iter().map(|p| p.1).collect();
                canvas.dotted(&points, THIN[usize::from(fade)], Ink::Trail(trail as u8, fade));
            }
        }
    }

    /// The bounds, led towards what they should hold: all that is known of the motion around now.
    fn follow(&mut self, playback: &Playback, seconds: f64) -> Bounds {
        let mut wanted = Bounds::default();
        let snapshots = playback.snapshots();
        let numbers = playback.snapshots().next_back().map_or(1, |snapshot| snapshot.places.len().max(1));
        let looks = LOOKS.min(NUMBERS / numbers).max(4);
        let stride = snapshots.len().div_ceil(looks).max(1);
        snapshots.step_by(stride).for_each(|snapshot| self.scene.widen(&mut wanted, &moment(snapshot)));
        playback
            .snapshots()
            .next_back()
            .iter()
            .for_each(|snapshot| self.scene.widen(&mut wanted, &moment(snapshot)));
        let Some(held) = self.bounds.filter(|held| !held.is_empty() && !wanted.is_empty()) else {
            self.bounds = Some(wanted);
            return wanted;
        };
        let part = 1.0 - (-seconds / EASE).exp();
        let lead =
            |from: [f64; 2], to: [f64; 2]| [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
        let eased = Bounds { low: lead(held.low, wanted.low), high: lead(held.high, wanted.high) };
        self.bounds = Some(eased);
        eased
    }
}

fn through(canvas: &mut Canvas, points: &[[f64; 2]], fit: Fit, ink: Ink) {
    points.windows(2).for_each(|pair| canvas.line(fit.pixel(pair[0]), fit.pixel(pair[1]), ink));
}
