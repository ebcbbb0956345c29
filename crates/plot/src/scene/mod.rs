//! The parts of a drawing at a moment, as shapes of a plane.

mod solids;
#[cfg(test)]
mod tests;

pub use solids::Solid;

use crate::moment::{Moment, Sampled, Wanted};
use crate::solid::{Form, Pigment, Skin, outline};
use crate::view::{Bounds, View, drawable};
use leastaction_language::{Drawing, Part, Spot, Tint};
use leastaction_output::Record;

/// How many corners the zigzag of a spring has.
const COILS: usize = 10;

/// Which part of a spring is straight at each end.
const STRAIGHT: f64 = 0.12;

/// How far a zigzag leads to each side, of the size of the picture.
const AMPLITUDE: f64 = 0.022;

/// Without a drawing, only so many places leave trails.
const TRAILS: usize = 50;

/// What is flatter than this is seen from high above.
const FLAT: f64 = 0.2;

/// The ground reaches so far beyond what moves over it.
const BEYOND: f64 = 1.15;

/// What hangs is so far above it, of the size of the whole.
const CLEAR: f64 = 0.1;

/// A soft body on the ground may be so far below it.
const SUNK: f64 = 0.03;

/// And is ruled into so many fields each way.
const FIELDS: usize = 4;

/// Something to paint. Points are those of the picture's plane, in lengths of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A straight line.
    Rod([[f64; 2]; 2]),
    /// A zigzag.
    Spring(Vec<[f64; 2]>),
    /// A disc. Its area stands for a mass, and `radius` is that of the disc of 1 for the heaviest.
    Dot {
        /// The middle.
        at: [f64; 2],
        /// The radius, from 0 to 1.
        radius: f64,
    },
    /// Where the end of a trail is now; the painter remembers where it was. Trails are counted from 0.
    Trail {
        /// Which trail.
        trail: usize,
        /// Where it ends.
        at: [f64; 2],
    },
    /// A body: its outline, and lines on it.
    Body {
        /// The corners of the outline.
        outline: Vec<[f64; 2]>,
        /// Lines by which one sees how it is turned.
        marks: Vec<Vec<[f64; 2]>>,
    },
    /// Something that stands still.
    Line(Vec<[f64; 2]>),
}

/// Why there is no scene.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// A drawing names something that the model does not have.
    #[error("the drawing names `{name}`, which is neither a particle, a point nor a mesh of the model")]
    Unknown {
        /// The name.
        name: String,
    },
    /// There is nothing to draw.
    #[error("there is nothing to draw: the model has no drawing, and no particles or points")]
    Nothing,
}

/// A drawing, ready to be laid out at any moment.
///
/// ```
/// use leastaction_language::Drawing;
/// use leastaction_plot::{Moment, Scene, Shape};
/// let drawing = Drawing::new().rod([0.0, 0.5], "bob").dot("bob", 1.0);
/// let scene = Scene::new(&drawing, &[("bob".into(), 2)])?;
/// let moment = Moment { places: &[0.3, 0.1], ..Moment::default() };
/// assert_eq!(scene.shapes(&moment, 1.0)[0], Shape::Rod([[0.0, 0.5], [0.3, 0.1]]));
/// # Ok::<(), leastaction_plot::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    parts: Vec<(Part, Vec<Whereabouts>)>,
    heaviest: f64,
    trails: usize,
    /// What is seen of the meshes.
    skins: Vec<Skin>,
    /// The shapes of bodies, in the order of their parts.
    forms: Vec<Form>,
    view: View,
}

/// Something in space that is drawn before or behind meshes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// A rod from here to there, in a colour.
    Rod([[f64; 3]; 2], Pigment),
    /// A ball; its radius is as that of [`Shape::Dot`].
    Ball([f64; 3], f64, Pigment),
}

/// What the ends of the scale of colours stand for, for everything that colours can stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scales(Vec<(Tint, [f64; 2])>);

impl Scales {
    /// Widens the scale of what colours stand for so that it holds these values.
    fn include(&mut self, tint: &Tint, values: &[f64]) {
        let place = match self.0.iter().position(|(known, _)| known == tint) {
            Some(place) => place,
            None => {
                // Energies are up to a constant, speeds and strains are not.
                let none = [f64::INFINITY, f64::NEG_INFINITY];
                self.0.push((tint.clone(), if matches!(tint, Tint::Energy(_)) { none } else { [0.0; 2] }));
                self.0.len() - 1
            }
        };
        let (_, ends) = &mut self.0[place];
        let drawn = values.iter().filter(|value| drawable(**value));
        *ends = drawn.fold(*ends, |[low, high], value| [low.min(*value), high.max(*value)]);
    }

    /// Where values are on their scale, from 0 to 1.
    pub(crate) fn tones(&self, tint: &Tint, values: &[f64]) -> Vec<f32> {
        let [low, high] = self.0.iter().find(|(known, _)| known == tint).map_or([0.0; 2], |(_, ends)| *ends);
        let tone =
            |value: &f64| if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        // What is not a number has no place on a scale, and its node none in a picture.
        values.iter().map(|value| if value.is_nan() { 0.0 } else { tone(value) as f32 }).collect()
    }

    /// What colours stand for, and the ends of its scale.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Tint, [f64; 2])> {
        self.0.iter().filter(|(_, [low, high])| low <= high).map(|(tint, ends)| (tint, *ends))
    }
}

/// Where a spot finds its position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whereabouts {
    /// At an offset into the positions, with so many axes.
    Moving(usize, usize),
    Fixed([f64; 3]),
}

impl Whereabouts {
    /// The position in space, if there is one.
    pub(crate) fn position(self, positions: &[f64]) -> Option<[f64; 3]> {
        match self {
            Whereabouts::Fixed(position) => Some(position),
            Whereabouts::Moving(offset, dimensions) => {
                let mut position = [0.0; 3];
                let axes = positions.get(offset..offset + dimensions)?;
                position.iter_mut().zip(axes).for_each(|(x, axis)| *x = *axis);
                Some(position)
            }
        }
    }
}

/// The ground, in points of the picture's plane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ground {
    /// Its z.
    pub(crate) height: f64,
    pub(crate) corners: [[f64; 2]; 4],
    pub(crate) lines: Vec<[[f64; 2]; 2]>,
}

impl Scene {
    /// A drawing of places, which have names and dimensions and whose positions come one after the other. An empty drawing shows every
    /// place, and where it has been.
    ///
    /// # Errors
    /// [`SceneError`] if the drawing names something else, or if there is nothing to draw.
    pub fn new(drawing: &Drawing, places: &[(String, usize)]) -> Result<Scene, SceneError> {
        let usual;
        let drawing = if drawing.parts.is_empty() {
            usual = plain(places);
            &usual
        } else {
            drawing
        };
        if drawing.parts.is_empty() {
            return Err(SceneError::Nothing);
        }
        let find = |spot: &Spot| match spot {
            Spot::At(position) => Ok(Whereabouts::Fixed(*position)),
            Spot::Of(name) => {
                let mut offset = 0;
                for (other, dimensions) in places {
                    if other == name {
                        return Ok(Whereabouts::Moving(offset, *dimensions));
                    }
                    offset += dimensions;
                }
                Err(SceneError::Unknown { name: name.clone() })
            }
        };
        let parts = drawing.parts.iter().map(|part| {
            let spots: Result<Vec<_>, _> = part.spots().iter().map(find).collect();
            Ok((part.clone(), spots?))
        });
        let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
        let mass = |part: &Part| if let Part::Dot { mass, .. } = part { *mass } else { 0.0 };
        let deep = |position: &[f64; 3]| position[2] != 0.0;
        let spatial = parts.iter().any(|(part, spots)| {
            let spots = spots.iter().any(|spot| match spot {
                Whereabouts::Moving(_, dimensions) => *dimensions > 2,
                Whereabouts::Fixed(position) => deep(position),
            });
            let deep = match part {
                Part::Line(points) => points.iter().any(deep),
                Part::Mesh(_) => true,
                _ => false,
            };
            spots || deep
        });
        let meshes =
            parts.iter().filter_map(|(part, _)| if let Part::Mesh(mesh) = part { Some(mesh) } else { None });
        let mut densities = 0;
        let skins = meshes.map(|mesh| {
            let density = densities;
            densities += usize::from(mesh.density.is_some());
            let nodes = places.get(mesh.first..mesh.first + mesh.mesh.nodes().len());
            match nodes {
                Some(nodes) if nodes.iter().all(|(_, dimensions)| *dimensions == 3) => {
                    let before = places[..mesh.first].iter().map(|(_, dimensions)| dimensions).sum();
                    Ok(Skin::new(mesh, before, density))
                }
                _ => Err(SceneError::Unknown { name: mesh.name.clone() }),
            }
        });
        let skins: Vec<_> = skins.collect::<Result<_, _>>()?;
        let forms = parts.iter().filter_map(|(part, spots)| match part {
            Part::Body(body) => Some(Form::all(body, spots[0])),
            _ => None,
        });
        Ok(Scene {
            forms: forms.flatten().collect(),
            heaviest: parts.iter().map(|(part, _)| mass(part)).filter(|m| m.is_finite()).fold(0.0, f64::max),
            trails: parts.iter().filter(|(part, _)| matches!(part, Part::Trail(_))).count(),
            view: if spatial { View::gentle() } else { View::PLANE },
            skins,
            parts,
        })
    }

    /// A drawing of the places of a record.
    ///
    /// # Errors
    /// As for [`Scene::new`].
    pub fn of(drawing: &Drawing, record: &Record) -> Result<Scene, SceneError> {
        let places: Vec<_> = record.paths.iter().map(|path| (path.name.clone(), path.axes.len())).collect();
        let names = record.velocities.names();
        let coordinates = record.coordinates.names();
        let scene = Scene::new(drawing, &places)?
            .rated(|name| names.position(name))
            .posed(|name| coordinates.position(name));
        if scene.view == View::PLANE {
            return Ok(scene);
        }
        // What is held somewhere stands or hangs there, which is seen from the side.
        let [x, y, z] = scene.extent(record).map(|[low, high]| high - low);
        let flat = scene.fixed().next().is_none() && z < FLAT * x.max(y);
        Ok(scene.seen(if flat { View::steep() } else { View::gentle() }))
    }

    /// Everything that does not move.
    fn fixed(&self) -> impl Iterator<Item = [f64; 3]> {
        self.parts.iter().flat_map(|(part, spots)| {
            let lines = if let Part::Line(points) = part { &points[..] } else { &[] };
            let fixed = spots.iter().filter_map(|spot| match spot {
                Whereabouts::Fixed(position) => Some(*position),
                Whereabouts::Moving(..) => None,
            });
            fixed.chain(lines.iter().copied())
        })
    }

    /// From where to where things reach along each axis of space, at all samples of a record.
    fn extent(&self, record: &Record) -> [[f64; 2]; 3] {
        let mut extent = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        let mut include = |position: [f64; 3]| {
            for (range, x) in extent.iter_mut().zip(position).filter(|(_, x)| drawable(*x)) {
                *range = [range[0].min(x), range[1].max(x)];
            }
        };
        self.fixed().for_each(&mut include);
        let mut sampled = Sampled::default();
        for sample in 0..record.len() {
            sampled.read(record, sample, self.wanted(false));
            let moment = sampled.moment();
            let moving = self.parts.iter().flat_map(|(_, spots)| spots);
            moving.filter_map(|spot| spot.position(moment.places)).for_each(&mut include);
            self.corners(&moment).for_each(&mut include);
            self.skins.iter().flat_map(|skin| skin.positions(&moment)).for_each(|at| include(*at));
        }
        extent.map(|[low, high]| if low <= high { [low, high] } else { [0.0; 2] })
    }

    /// The ground below a motion in space, as a square and the lines on it: where the lowest of what is fixed is, or at z = 0, if that is
    /// just below all that moves; otherwise a little below that.
    pub(crate) fn ground(&self, record: &Record) -> Option<Ground> {
        if self.view == View::PLANE {
            return None;
        }
        let [x, y, z] = self.extent(record);
        let size = [x, y, z].iter().map(|[low, high]| high - low).fold(0.0, f64::max);
        if !(size > 0.0 && drawable(size)) {
            return None;
        }
        let base = self.fixed().map(|position| position[2]).reduce(f64::min).unwrap_or(0.0);
        // What is soft may sink in a little.
        let sunk = if self.has_surfaces() { SUNK * size } else { 0.0 };
        let level =
            if (z[0] - 0.5 * size..=z[0] + sunk).contains(&base) { base } else { z[0] - CLEAR * size };
        // What stands on one foot stands in the middle.
        let mut feet = self.fixed().map(|[x, y, _]| [x, y]);
        let foot = feet.next().filter(|foot| feet.all(|other| other == *foot));
        let middle = foot.unwrap_or([x, y].map(|[low, high]| 0.5 * low + 0.5 * high));
        let reach = [x, y].into_iter().zip(middle).map(|([low, high], at)| (at - low).max(high - at));
        // A tower is on some ground too.
        let half = BEYOND * reach.fold(0.3 * size, f64::max);
        let at = |right: f64, depth: f64| {
            self.view.project([middle[0] + half * right, middle[1] + half * depth, level])
        };
        let ruled = (0..=FIELDS).map(|i| 2.0 * i as f64 / FIELDS as f64 - 1.0);
        let lines = ruled.flat_map(|s| [[at(s, -1.0), at(s, 1.0)], [at(-1.0, s), at(1.0, s)]]).collect();
        let corners = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
        Some(Ground { height: level, corners, lines })
    }

    /// The scene, in which meshes know where their velocities stand, by the names of all velocities.
    #[must_use]
    pub fn rated(mut self, position: impl Fn(&str) -> Option<usize>) -> Scene {
        self.skins.iter_mut().for_each(|skin| skin.find_rates(&position));
        self
    }

    /// The scene, seen like this.
    #[must_use]
    pub fn seen(mut self, view: View) -> Scene {
        self.turn(view);
        self
    }

    /// Lets it be seen like this.
    pub fn turn(&mut self, view: View) {
        self.view = view;
    }

    /// How it is seen.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// The scene, in which bodies know where the coordinates of their nodes stand, by the names of all coordinates.
    #[must_use]
    pub fn posed(mut self, position: impl Fn(&str) -> Option<usize>) -> Scene {
        self.forms.iter_mut().for_each(|form| form.find_nodes(&position));
        self
    }

    /// Whether there is something in space that hides what is behind it: meshes, or bodies.
    #[must_use]
    pub fn has_surfaces(&self) -> bool {
        !self.skins.is_empty() || self.view != View::PLANE && !self.forms.is_empty()
    }

    /// Whether there are bodies in one plane.
    pub(crate) fn has_flat_bodies(&self) -> bool {
        self.view == View::PLANE && !self.forms.is_empty()
    }

    pub(crate) fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// What it has to know of a moment, with or without what things are coloured by.
    pub(crate) fn wanted(&self, colored: bool) -> Wanted {
        Wanted { colours: colored && !self.skins.is_empty(), coordinates: !self.forms.is_empty() }
    }

    /// Where the corners of bodies are.
    fn corners<'a>(&'a self, moment: &'a Moment<'_>) -> impl Iterator<Item = [f64; 3]> + 'a {
        let placed = self.forms.iter().filter_map(|form| Some((form, form.placement(moment)?)));
        placed.flat_map(|(form, placement)| form.corners.iter().map(move |&at| placement.point(at)))
    }

    pub(crate) fn skins(&self) -> &[Skin] {
        &self.skins
    }

    /// What the colours of the meshes stand for, from the least to the most in a record.
    pub(crate) fn scales(&self, record: &Record) -> Scales {
        let (mut scales, mut sampled) = (Scales::default(), Sampled::default());
        for sample in 0..record.len() {
            if self.skins.iter().all(|skin| skin.tint == Tint::Plain) {
                break;
            }
            sampled.read(record, sample, self.wanted(true));
            self.widen_scales(&mut scales, &sampled.moment());
        }
        scales
    }

    /// Widens scales so that they hold what colours stand for at a moment.
    pub(crate) fn widen_scales(&self, scales: &mut Scales, moment: &Moment<'_>) {
        for skin in self.skins.iter().filter(|skin| skin.tint != Tint::Plain) {
            scales.include(&skin.tint, &skin.values(moment));
        }
    }

    /// Rods, springs and dots in space.
    pub(crate) fn bodies(&self, moment: &Moment<'_>) -> Vec<Body> {
        let places = moment.places;
        let trail = |at: &[f64; 3]| {
            let trails = self.parts.iter().filter(|(part, _)| matches!(part, Part::Trail(_)));
            let mut ends = trails.map(|(_, spots)| spots[0].position(places));
            ends.position(|end| end.as_ref() == Some(at)).and_then(|trail| u8::try_from(trail).ok())
        };
        let body = |(part, spots): &(Part, Vec<Whereabouts>)| {
            let at: Option<Vec<_>> = spots.iter().map(|spot| spot.position(places)).collect();
            match (part, &at?[..]) {
                (Part::Rod(..), &[from, to]) => Some(Body::Rod([from, to], Pigment::Rod)),
                (Part::Spring(..), &[from, to]) => Some(Body::Rod([from, to], Pigment::Spring)),
                (Part::Dot { mass, .. }, &[at]) => {
                    Some(Body::Ball(at, self.radius(*mass), Pigment::Ball(trail(&at).unwrap_or(u8::MAX))))
                }
                _ => None,
            }
        };
        let mut all: Vec<Body> = self.parts.iter().filter_map(body).collect();
        for (form, placement) in self.forms.iter().filter_map(|form| Some((form, form.placement(moment)?))) {
            let rod = |ends: [[f64; 3]; 2], pigment| Body::Rod(ends.map(|end| placement.point(end)), pigment);
            all.extend(form.ends.map(|ends| rod(ends, Pigment::Rod)));
            let lines = form.marks.iter().flat_map(|line| line.array_windows::<2>());
            all.extend(lines.map(|ends| rod(*ends, Pigment::Mark)));
        }
        all
    }

    /// How many trails there are.
    #[must_use]
    pub fn trails(&self) -> usize {
        self.trails
    }

    /// The shapes at a moment, back to front, in a picture that holds this size, which the zigzags of springs
    /// follow. What is not at finite positions is left out.
    #[must_use]
    pub fn shapes(&self, moment: &Moment<'_>, size: f64) -> Vec<Shape> {
        self.laid_out(moment, size, |position| finite(self.view.project(position)))
    }

    /// The shapes below those of a moment, on a ground at this height.
    pub(crate) fn shadows(&self, moment: &Moment<'_>, size: f64, height: f64) -> Vec<Shape> {
        self.laid_out(moment, size, |[x, y, _]| finite(self.view.project([x, y, height])))
    }

    fn laid_out(
        &self,
        moment: &Moment<'_>,
        size: f64,
        locate: impl Fn([f64; 3]) -> Option<[f64; 2]>,
    ) -> Vec<Shape> {
        let mut trails = 0;
        let mut forms = self.forms.iter();
        let mut shapes = Vec::with_capacity(self.parts.len());
        for (part, spots) in &self.parts {
            let trail = trails;
            trails += usize::from(matches!(part, Part::Trail(_)));
            let at: Vec<_> = spots.iter().filter_map(|spot| locate(spot.position(moment.places)?)).collect();
            let shape = match (part, &at[..]) {
                (Part::Body(own), _) => {
                    let forms: Vec<&Form> = forms.by_ref().take(own.shapes.len()).collect();
                    let seen = forms.into_iter().map(|form| body(form, moment, &locate));
                    match seen.collect::<Option<Vec<_>>>() {
                        Some(seen) => shapes.extend(seen),
                        // How it is turned cannot be told.
                        None => shapes.extend(at.first().map(|&at| Shape::Dot { at, radius: 1.0 })),
                    }
                    continue;
                }
                (Part::Rod(..), &[from, to]) => Shape::Rod([from, to]),
                (Part::Spring(..), &[from, to]) => Shape::Spring(zigzag(from, to, AMPLITUDE * size)),
                (Part::Dot { mass, .. }, &[at]) => Shape::Dot { at, radius: self.radius(*mass) },
                (Part::Trail(_), &[at]) => Shape::Trail { trail, at },
                (Part::Line(points), _) => {
                    Shape::Line(points.iter().map(|point| self.view.project(*point)).collect())
                }
                _ => continue,
            };
            shapes.push(shape);
        }
        shapes
    }

    /// Widens bounds so that they hold everything at a moment.
    pub fn widen(&self, bounds: &mut Bounds, moment: &Moment<'_>) {
        for at in self.skins.iter().flat_map(|skin| skin.positions(moment)) {
            bounds.include(self.view.project(*at));
        }
        self.corners(moment).for_each(|at| bounds.include(self.view.project(at)));
        for (part, spots) in &self.parts {
            spots
                .iter()
                .filter_map(|spot| self.locate(*spot, moment.places))
                .for_each(|at| bounds.include(at));
            if let Part::Line(points) = part {
                points.iter().for_each(|point| bounds.include(self.view.project(*point)));
            }
        }
    }

    /// What holds everything at all samples of a record.
    #[must_use]
    pub fn bounds(&self, record: &Record) -> Bounds {
        let (mut bounds, mut sampled) = (Bounds::default(), Sampled::default());
        for sample in 0..record.len() {
            sampled.read(record, sample, self.wanted(false));
            self.widen(&mut bounds, &sampled.moment());
        }
        bounds
    }

    /// Where a spot is in the picture; nowhere if it is not at a finite position.
    fn locate(&self, spot: Whereabouts, positions: &[f64]) -> Option<[f64; 2]> {
        finite(self.view.project(spot.position(positions)?))
    }

    /// The area stands for the mass; without masses all dots are alike.
    fn radius(&self, mass: f64) -> f64 {
        if self.heaviest > 0.0 { (mass.max(0.0) / self.heaviest).sqrt().min(1.0) } else { 1.0 }
    }
}

/// A body as it is seen from here: a rod as a line.
fn body(form: &Form, moment: &Moment<'_>, locate: &impl Fn([f64; 3]) -> Option<[f64; 2]>) -> Option<Shape> {
    let placement = form.placement(moment)?;
    let place = |at: &[f64; 3]| locate(placement.point(*at));
    if let Some([from, to]) = &form.ends {
        return Some(Shape::Rod([place(from)?, place(to)?]));
    }
    let all: Option<Vec<_>> = form.corners.iter().map(place).collect();
    let line = |mark: &Vec<[f64; 3]>| mark.iter().map(place).collect::<Option<Vec<_>>>();
    Some(Shape::Body { outline: outline(all?), marks: form.marks.iter().filter_map(line).collect() })
}

/// What shows every place, and where the first ones have been.
fn plain(places: &[(String, usize)]) -> Drawing {
    let names = || places.iter().map(|(name, _)| name.as_str());
    let trails = names().take(TRAILS).fold(Drawing::new(), Drawing::trail);
    names().fold(trails, |drawing, name| drawing.dot(name, 1.0))
}

fn finite(point: [f64; 2]) -> Option<[f64; 2]> {
    point.iter().all(|x| x.is_finite()).then_some(point)
}

/// A zigzag with straight ends, as wide as its length allows.
fn zigzag(from: [f64; 2], to: [f64; 2], amplitude: f64) -> Vec<[f64; 2]> {
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = along[0].hypot(along[1]);
    if !(length > 0.0 && length.is_finite()) {
        return vec![from, to];
    }
    let across = [-along[1] / length, along[0] / length].map(|x| x * amplitude.min(length / 2.0));
    let point = |s: f64, side: f64| [0, 1].map(|axis| from[axis] + s * along[axis] + side * across[axis]);
    let corner = |i: usize| {
        let s = STRAIGHT + (1.0 - 2.0 * STRAIGHT) * (i as f64 + 0.5) / COILS as f64;
        point(s, if i.is_multiple_of(2) { 1.0 } else { -1.0 })
    };
    let mut points = vec![from, point(STRAIGHT, 0.0)];
    points.extend((0..COILS).map(corner));
    points.extend([point(1.0 - STRAIGHT, 0.0), to]);
    points
}
