//! Wavefront `.obj`: vertices, faces and lines. Polygons are cut into fans of triangles; `g` and `o` name groups; textures, normals and
//! materials are passed over.

use super::scanner::{Place, Scanner, shown};
use super::{Format, FormatError};
use crate::mesh::{CellKind, Group, Mesh};

pub(super) const FORMAT: Format = Format { ending: "obj", about: "Wavefront OBJ", read };

fn read(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut lines = Scanner::new(bytes);
    let (mut nodes, mut segments, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    let mut groups: Vec<Group> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut line = 0;
    while !lines.is_done() {
        line += 1;
        let place = Place::Line(line);
        // A backslash at the end of a line goes on with the next.
        let mut text = lines.rest_of_line().to_vec();
        while text.last() == Some(&b'\\') && !lines.is_done() {
            text.pop();
            text.push(b' ');
            text.extend_from_slice(lines.rest_of_line());
            line += 1;
        }
        let mut words = Scanner::new(&text);
        // The scanner of one line counts from 1: tell the line of the file.
        let there = |error: FormatError| at_line(error, place);
        match words.word() {
            Some(b"v") => nodes.push(words.vector().map_err(there)?),
            Some(b"f") => {
                let corners =
                    corners(&mut words, &text, place, nodes.len(), 3, "a face of three corners or more")?;
                for pair in corners[1..].windows(2) {
                    for name in &names {
                        add(&mut groups, name, triangles.len() as u32);
                    }
                    triangles.push([corners[0], pair[0], pair[1]]);
                }
            }
            Some(b"l") => {
                let corners =
                    corners(&mut words, &text, place, nodes.len(), 2, "a line of two points or more")?;
                segments.extend(corners.windows(2).map(|pair| [pair[0], pair[1]]));
            }
            Some(b"g" | b"o") => {
                names = std::iter::from_fn(|| words.word())
                    .map(|w| String::from_utf8_lossy(w).into_owned())
                    .collect();
            }
            Some([b'#', ..] | b"vt" | b"vn" | b"vp" | b"p" | b"s" | b"usemtl" | b"mtllib") | None => {}
            Some(other) => {
                let (what, found) = ("statement", shown(other));
                let remedy = "write vertices, faces and lines only";
                return Err(FormatError::Unsupported { place, what, found, remedy });
            }
        }
    }
    let mut mesh = Mesh::new(nodes)?.with_segments(segments)?.with_triangles(triangles)?;
    for group in groups {
        mesh = mesh.with_group(group)?;
    }
    Ok(mesh.without_loose_nodes())
}

fn add(groups: &mut Vec<Group>, name: &str, member: u32) {
    match groups.iter_mut().find(|group| group.name == name) {
        Some(group) => group.members.push(member),
        None => groups.push(Group { name: name.to_owned(), kind: CellKind::Triangle, members: vec![member] }),
    }
}

/// The vertices that a statement names, each by the first number of `v/vt/vn`: from 1, or from the last backwards if it is negative.
fn corners(
    words: &mut Scanner<'_>,
    statement: &[u8],
    place: Place,
    count: usize,
    least: usize,
    expected: &'static str,
) -> Result<Vec<u32>, FormatError> {
    let mut corners = Vec::new();
    while let Some(word) = words.word() {
        let vertex = word.split(|&byte| byte == b'/').next().unwrap_or_default();
        let index: i64 =
            words.parse(vertex, "the number of a vertex").map_err(|error| at_line(error, place))?;
        let from_front =
            if index < 0 { index.checked_add_unsigned(count as u64) } else { index.checked_sub(1) };
        let node =
            from_front.and_then(|node| u32::try_from(node).ok()).filter(|&node| (node as usize) < count);
        corners.push(node.ok_or(FormatError::NoSuch { place, what: "vertex", index })?);
    }
    if corners.len() >= least {
        return Ok(corners);
    }
    Err(FormatError::Unexpected { place, expected, found: shown(statement) })
}

fn at_line(error: FormatError, place: Place) -> FormatError {
    match error {
        FormatError::Unexpected { expected, found, .. } => FormatError::Unexpected { place, expected, found },
        FormatError::Ended { expected, .. } => FormatError::Ended { place, expected },
        other => other,
    }
}
