//! Closed surfaces of triangles, and the inertia of what they enclose.
//!
//! The cones from the origin over the triangles (a, b, c), counted with the sign of det(a, b, c), fill what a closed surface
//! encloses. Over such a tetrahedron of volume V polynomials integrate exactly: ∫ 1 = V, ∫ x = V s/4, ∫ x xᵀ = V (aaᵀ + bbᵀ + ccᵀ +
//! ssᵀ)/20 with s = a + b + c (F. Tonon, doi:10.3844/jmssp.2005.8.11).

use super::inertia::{Inertia, InertiaError, Matter};
use super::vector::{Matrix, Vector, cross, dot, minus, outer, plus, principal, scaled, zip};
use std::collections::HashMap;

/// A closed surface of triangles, such as a Wavefront OBJ file describes.
///
/// ```
/// use leastaction_mechanics::{Inertia, Matter, Surface};
///
/// let tetrahedron = Surface::from_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4")?;
/// let inertia = tetrahedron.inertia(Matter::Density(6.0))?;
/// assert!((inertia.mass() - 1.0).abs() < 1e-15 && (inertia.centre()[0] - 0.25).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    vertices: Vec<Vector>,
    triangles: Vec<[usize; 3]>,
}

/// Why something is not the surface of a solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// A line of a file cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are {vertices}")]
    Vertex {
        /// The triangle, from 0.
        triangle: usize,
        /// The vertex, from 0.
        vertex: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A vertex is infinite or NaN.
    #[error("vertex {} is ({}, {}, {}): numbers must be finite", .vertex + 1, .at[0], .at[1], .at[2])]
    NotFinite {
        /// The vertex, from 0.
        vertex: usize,
        /// Its coordinates.
        at: [f64; 3],
    },
    /// There are no triangles.
    #[error("the surface has no triangles")]
    Empty,
    /// An edge belongs to one face only.
    #[error(
        "the surface is not closed: the edge from vertex {} ({}) to vertex {} ({}) belongs to {faces}; close the hole there",
        .from + 1, place(.at[0]), .to + 1, place(.at[1])
    )]
    Open {
        /// The vertex it comes from, from 0, in the order of the file.
        from: usize,
        /// The vertex it goes to.
        to: usize,
        /// Where they are.
        at: [[f64; 3]; 2],
        /// How many faces it belongs to, in words.
        faces: &'static str,
    },
    /// Two faces run the same way along their common edge.
    #[error(
        "faces turn opposite ways at the edge from vertex {} ({}) to vertex {} ({}): reverse the faces on one side of it",
        .from + 1, place(.at[0]), .to + 1, place(.at[1])
    )]
    Inconsistent {
        /// The vertex it comes from, from 0, in the order of the file.
        from: usize,
        /// The vertex it goes to.
        to: usize,
        /// Where they are.
        at: [[f64; 3]; 2],
    },
    /// The surface encloses nothing.
    #[error("the surface encloses no volume")]
    Flat,
    /// The surface crosses itself, or a part of it is inside out.
    #[error(
        "the surface encloses a solid with a negative second moment: a part of it is inside out, or it crosses itself"
    )]
    InsideOut,
    /// The matter in it is not positive.
    #[error(transparent)]
    Matter(#[from] InertiaError),
}

fn place([x, y, z]: [f64; 3]) -> String {
    format!("{x}, {y}, {z}")
}

impl Surface {
    /// A surface of triangles, each by three vertices, counterclockwise from outside. Vertices at one place count as one, and
    /// a surface that is inside out as a whole is turned.
    ///
    /// # Errors
    /// [`SurfaceError`] if it is not closed, or its faces are not turned alike, with the edge where that shows.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[usize; 3]>) -> Result<Surface, SurfaceError> {
        if let Some(vertex) = vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            return Err(SurfaceError::NotFinite { vertex, at: vertices[vertex] });
        }
        let mut first = HashMap::new();
        // −0 and 0 are one place.
        let place = |v: &Vector| v.map(|x| (x + 0.0).to_bits());
        let same: Vec<usize> =
            vertices.iter().enumerate().map(|(i, v)| *first.entry(place(v)).or_insert(i)).collect();
        let mut merged = Vec::with_capacity(triangles.len());
        for (triangle, corners) in triangles.into_iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v >= same.len()) {
                return Err(SurfaceError::Vertex { triangle, vertex, vertices: same.len() });
            }
            let [a, b, c] = corners.map(|v| same[v]);
            if a != b && b != c && c != a {
                merged.push([a, b, c]);
            }
        }
        let mut surface = Surface { vertices, triangles: merged };
        surface.check_closed()?;
        if surface.volume() < 0.0 {
            surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(surface)
    }

    /// Reads the vertices and faces of a Wavefront OBJ file. Polygons are cut into fans of triangles; normals, textures, groups and
    /// materials are passed over.
    ///
    /// # Errors
    /// [`SurfaceError`] with the line that cannot be read, or as [`Surface::new`].
    pub fn from_obj(text: &str) -> Result<Surface, SurfaceError> {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        let mut lines = text.lines().enumerate();
        while let Some((at, start)) = lines.next() {
            let mut whole = start.to_owned();
            while whole.trim_end().ends_with('\\') {
                whole.truncate(whole.trim_end().len() - 1);
                whole.push(' ');
                whole.push_str(lines.next().map_or("", |(_, next)| next));
            }
            let line = at + 1;
            let mut words = whole.split('#').next().unwrap_or_default().split_whitespace();
            match words.next() {
                None
                | Some("vt" | "vn" | "vp" | "g" | "o" | "s" | "mg" | "usemtl" | "mtllib" | "l" | "p") => {}
                Some("v") => vertices.push(vertex(line, words)?),
                Some("f") => fan(line, words, vertices.len(), &mut triangles)?,
                Some(other) => {
                    let problem =
                        format!("`{other}` is not read: export the surface as vertices and polygons");
                    return Err(SurfaceError::Line { line, problem });
                }
            }
        }
        Surface::new(vertices, triangles)
    }

    /// The vertices.
    #[must_use]
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// The triangles, counterclockwise from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// The volume enclosed.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.moments(self.middle()).0
    }

    /// The inertia of the solid that the surface encloses, in the frame of its vertices.
    ///
    /// # Errors
    /// [`SurfaceError`] if it encloses nothing, crosses itself so that no solid has its moments, or the matter is not positive.
    pub fn inertia(&self, matter: impl Into<Matter>) -> Result<Inertia, SurfaceError> {
        // From the middle of the surface, then from the centre of mass: a body far from the origin loses no digits.
        let middle = self.middle();
        let reach = self.vertices.iter().flat_map(|v| minus(*v, middle)).fold(0.0f64, |m, x| m.max(x.abs()));
        let (volume, first, _) = self.moments(middle);
        if volume <= 1e-13 * reach.powi(3) || !volume.is_finite() {
            return Err(SurfaceError::Flat);
        }
        let centre = plus(middle, scaled(1.0 / volume, first));
        let (volume, first, second) = self.moments(centre);
        let rest = scaled(1.0 / volume, first);
        let second = zip(&second, &outer(rest, rest), |s, r| s / volume - r);
        let (values, _) = principal(&second);
        if values.iter().any(|&v| v <= 0.0) {
            return Err(SurfaceError::InsideOut);
        }
        let mass = Inertia::new(matter.into(), volume, [0.0; 3])?.mass();
        Ok(Inertia::about(mass, plus(centre, rest), second))
    }

    /// ∫ 1, ∫ x and ∫ x xᵀ over the enclosed solid, with x measured from an origin.
    fn moments(&self, origin: Vector) -> (f64, Vector, Matrix) {
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        for corners in &self.triangles {
            let [a, b, c] = corners.map(|v| minus(self.vertices[v], origin));
            let part = dot(a, cross(b, c)) / 6.0;
            let sum = plus(plus(a, b), c);
            volume += part;
            for i in 0..3 {
                first[i] += part * sum[i] / 4.0;
                for j in 0..3 {
                    second[i][j] += part * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]) / 20.0;
                }
            }
        }
        (volume, first, second)
    }

    /// The middle of the box around the triangles.
    fn middle(&self) -> Vector {
        let used = || self.triangles.iter().flatten().map(|&v| self.vertices[v]);
        std::array::from_fn(|d| {
            let low = used().map(|v| v[d]).fold(f64::INFINITY, f64::min);
            let high = used().map(|v| v[d]).fold(f64::NEG_INFINITY, f64::max);
            low + 0.5 * (high - low)
        })
    }

    /// Checks that every edge is run along as often in one direction as in the other.
    fn check_closed(&self) -> Result<(), SurfaceError> {
        if self.triangles.is_empty() {
            return Err(SurfaceError::Empty);
        }
        let mut runs: HashMap<(usize, usize), usize> = HashMap::new();
        let edges = || self.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        edges().for_each(|edge| *runs.entry(edge).or_default() += 1);
        for (from, to) in edges() {
            let (there, back) = (runs[&(from, to)], runs.get(&(to, from)).copied().unwrap_or(0));
            let at = [self.vertices[from], self.vertices[to]];
            match (there, back) {
                _ if there == back => {}
                (1, 0) => return Err(SurfaceError::Open { from, to, at, faces: "one face only" }),
                _ if (there + back) % 2 == 1 => {
                    return Err(SurfaceError::Open { from, to, at, faces: "an odd number of faces" });
                }
                _ => return Err(SurfaceError::Inconsistent { from, to, at }),
            }
        }
        Ok(())
    }
}

/// x, y and z; a weight or a colour may follow.
fn vertex<'a>(line: usize, words: impl Iterator<Item = &'a str>) -> Result<Vector, SurfaceError> {
    let mut at = [0.0; 3];
    let mut words = words;
    for x in &mut at {
        let word = words.next().unwrap_or("nothing");
        let number = word.parse().ok().filter(|x: &f64| x.is_finite());
        let problem = || format!("a vertex needs three numbers, not `{word}`");
        *x = number.ok_or_else(|| SurfaceError::Line { line, problem: problem() })?;
    }
    Ok(at)
}

/// The triangles of a polygon. Its corners are vertices from 1, or from −1 backwards, each with a texture and a normal after slashes.
fn fan<'a>(
    line: usize,
    words: impl Iterator<Item = &'a str>,
    known: usize,
    triangles: &mut Vec<[usize; 3]>,
) -> Result<(), SurfaceError> {
    let mut corners = Vec::new();
    for word in words {
        let first = word.split('/').next().unwrap_or_default();
        let index = match first.parse::<i64>() {
            Ok(from_start) if from_start > 0 => usize::try_from(from_start - 1).ok(),
            Ok(from_end) if from_end < 0 => {
                usize::try_from(from_end.unsigned_abs()).ok().and_then(|back| known.checked_sub(back))
            }
            _ => None,
        };
        let Some(index) = index.filter(|&i| i < known) else {
            let problem = format!("a face names the vertex `{first}`, but there are {known} vertices so far");
            return Err(SurfaceError::Line { line, problem });
        };
        corners.push(index);
    }
    if corners.len() < 3 {
        let problem = format!("a face needs at least three corners, not {}", corners.len());
        return Err(SurfaceError::Line { line, problem });
    }
    triangles.extend((1..corners.len() - 1).map(|i| [corners[0], corners[i], corners[i + 1]]));
    Ok(())
}
