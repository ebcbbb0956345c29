//! `.stl`, as text and binary: triangles, each with its own three corners. Corners at one place become one node.

use super::scanner::{Place, Scanner};
use super::{Format, FormatError};
use crate::mesh::{Mesh, Vector};
use rustc_hash::FxHashMap;

pub(super) const FORMAT: Format = Format { ending: "stl", about: "STL, as text and binary", read };

/// The bytes before the triangles of a binary file, and those of a triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

fn read(bytes: &[u8]) -> Result<Mesh, FormatError> {
    // Some binary files begin with `solid`, too: their length decides.
    let announced = bytes.get(80..HEADER).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let binary_length = announced.map(|count| HEADER as u64 + count as u64 * TRIANGLE as u64);
    let text = bytes.trim_ascii_start().starts_with(b"solid");
    if text && binary_length != Some(bytes.len() as u64) { read_text(bytes) } else { read_binary(bytes) }
}

#[derive(Default)]
struct Corners {
    nodes: Vec<Vector>,
    known: FxHashMap<[u64; 3], u32>,
}

impl Corners {
    fn node(&mut self, at: Vector) -> u32 {
        // −0 and 0 are one place.
        let key = at.map(|x| (x + 0.0).to_bits());
        *self.known.entry(key).or_insert_with(|| {
            self.nodes.push(at);
            (self.nodes.len() - 1) as u32
        })
    }
}

fn read_text(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut scanner = Scanner::new(bytes);
    let (mut corners, mut triangles) = (Corners::default(), Vec::new());
    let keyword = |scanner: &mut Scanner<'_>, word: &'static str| {
        let found = scanner.expect(word)?;
        if found == word.as_bytes() { Ok(()) } else { Err(scanner.unexpected(word, found)) }
    };
    keyword(&mut scanner, "solid")?;
    scanner.rest_of_line();
    loop {
        match scanner.expect("facet or endsolid")? {
            b"facet" => {
                keyword(&mut scanner, "normal")?;
                // Normals follow from the corners, and are often wrong.
                (0..3).try_for_each(|_| scanner.expect("a component of a normal").map(drop))?;
                keyword(&mut scanner, "outer")?;
                keyword(&mut scanner, "loop")?;
                let mut triangle = [0; 3];
                for corner in &mut triangle {
                    keyword(&mut scanner, "vertex")?;
                    *corner = corners.node(scanner.vector()?);
                }
                keyword(&mut scanner, "endloop")?;
                keyword(&mut scanner, "endfacet")?;
                triangles.push(triangle);
            }
            b"endsolid" => {
                scanner.rest_of_line();
                match scanner.word() {
                    None => break,
                    Some(b"solid") => drop(scanner.rest_of_line()),
                    Some(other) => return Err(scanner.unexpected("solid", other)),
                }
            }
            other => return Err(scanner.unexpected("facet or endsolid", other)),
        }
    }
    Ok(Mesh::new(corners.nodes)?.with_triangles(triangles)?)
}

fn read_binary(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut scanner = Scanner::new(bytes);
    scanner.take(80, "the header of a binary file")?;
    let count = scanner.take(4, "a number of triangles")?;
    let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
    let (mut corners, mut triangles) = (Corners::default(), Vec::new());
    triangles.reserve(scanner.room(count as usize, TRIANGLE));
    for number in 0..count as usize {
        let triangle = scanner.take(TRIANGLE, "a triangle")?;
        let numbers: Vec<f64> = triangle[12..48]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f64::from(f32::from_le_bytes(*bytes)))
            .collect();
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            let place = Place::Byte(HEADER + number * TRIANGLE + 12 + 4 * at);
            let (expected, found) = ("a finite coordinate", numbers[at].to_string());
            return Err(FormatError::Unexpected { place, expected, found });
        }
        let (points, _) = numbers.as_chunks::<3>();
        triangles.push([corners.node(points[0]), corners.node(points[1]), corners.node(points[2])]);
    }
    if !scanner.is_done() {
        let (expected, found) =
            (u64::from(count), u64::from(count) + scanner.left().div_ceil(TRIANGLE) as u64);
        return Err(FormatError::Count { place: Place::Byte(80), what: "triangles", expected, found });
    }
    Ok(Mesh::new(corners.nodes)?.with_triangles(triangles)?)
}
