//! VTK's XML files, which ParaView reads: `.vtu` for cells of any kind, `.vtp` for surfaces and lines, and `.pvd` for a series of them in
//! time. Arrays are binary in base64, little-endian, with a length of 64 bits before them: every bit of every number is kept.

use crate::mesh::Mesh;
use std::io::{self, Write};

/// What numbers belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Each node has one.
    Nodes,
    /// Each cell has one: in `.vtu` files segments, triangles and tetrahedra in this order, in `.vtp` files segments and the triangles of
    /// the surface.
    Cells,
}

/// Numbers for each node or cell.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// One each.
    Scalars(&'a [f64]),
    /// Three each.
    Vectors(&'a [[f64; 3]]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Scalars(values) => values.len(),
            Values::Vectors(values) => values.len(),
        }
    }
}

/// Numbers that are written with a mesh.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// Their name.
    pub name: &'a str,
    /// What they belong to.
    pub kind: DataKind,
    /// The numbers.
    pub values: Values<'a>,
}

/// Writes a mesh with its nodes at these positions as a `.vtu` file. Nodes of a mesh without cells become vertices.
///
/// # Errors
/// What the writer says, or [`io::ErrorKind::InvalidInput`] if there are more or fewer positions or data than nodes or cells.
pub fn write_volume(
    writer: &mut dyn Write,
    mesh: &Mesh,
    positions: &[[f64; 3]],
    data: &[Data<'_>],
) -> io::Result<()> {
    let cells: Vec<(u8, &[u32])> = {
        let segments = mesh.segments().iter().map(|cell| (3, &cell[..]));
        let triangles = mesh.triangles().iter().map(|cell| (5, &cell[..]));
        let tetrahedra = mesh.tetrahedra().iter().map(|cell| (10, &cell[..]));
        segments.chain(triangles).chain(tetrahedra).collect()
    };
    let alone: Vec<[u32; 1]> = (0..mesh.nodes().len() as u32).map(|node| [node]).collect();
    let cells = if cells.is_empty() { alone.iter().map(|cell| (1, &cell[..])).collect() } else { cells };
    check(mesh, positions, data, cells.len())?;
    let points = positions.len();
    begin(writer, "UnstructuredGrid")?;
    writeln!(writer, "<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{}\">", cells.len())?;
    all_data(writer, data)?;
    points_of(writer, positions)?;
    writeln!(writer, "<Cells>")?;
    connectivity(writer, cells.iter().map(|(_, nodes)| *nodes))?;
    let types = cells.iter().map(|(kind, _)| [*kind]);
    array(writer, "UInt8", "types", 1, cells.len() as u64, types)?;
    writeln!(writer, "</Cells>\n</Piece>")?;
    end(writer, "UnstructuredGrid")
}

/// Writes the surface of a mesh, and its segments, with its nodes at these positions as a `.vtp` file.
///
/// # Errors
/// As [`write_volume`].
pub fn write_surface(
    writer: &mut dyn Write,
    mesh: &Mesh,
    positions: &[[f64; 3]],
    data: &[Data<'_>],
) -> io::Result<()> {
    let (lines, surface) = (mesh.segments(), mesh.surface());
    check(mesh, positions, data, lines.len() + surface.len())?;
    begin(writer, "PolyData")?;
    writeln!(
        writer,
        "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">",
        positions.len(),
        lines.len(),
        surface.len()
    )?;
    all_data(writer, data)?;
    points_of(writer, positions)?;
    writeln!(writer, "<Lines>")?;
    connectivity(writer, lines.iter().map(|cell| &cell[..]))?;
    writeln!(writer, "</Lines>\n<Polys>")?;
    connectivity(writer, surface.iter().map(|cell| &cell[..]))?;
    writeln!(writer, "</Polys>\n</Piece>")?;
    end(writer, "PolyData")
}

/// Writes a `.pvd` file: the files of a series by their names relative to it, each with its time.
///
/// # Errors
/// What the writer says.
pub fn write_collection<'a>(
    writer: &mut dyn Write,
    files: impl IntoIterator<Item = (f64, &'a str)>,
) -> io::Result<()> {
    begin(writer, "Collection")?;
    for (time, file) in files {
        writeln!(
            writer,
            "<DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{}\"/>",
            escaped(file)
        )?;
    }
    end(writer, "Collection")
}

fn check(mesh: &Mesh, positions: &[[f64; 3]], data: &[Data<'_>], cells: usize) -> io::Result<()> {
    let nodes = mesh.nodes().len();
    let wrong = |what: &str, found: usize, expected: usize| {
        let message = format!("{found} {what} are given, {expected} are expected");
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    };
    if positions.len() != nodes {
        return wrong("positions", positions.len(), nodes);
    }
    for data in data {
        let expected = match data.kind {
            DataKind::Nodes => nodes,
            DataKind::Cells => cells,
        };
        if data.values.len() != expected {
            return wrong(data.name, data.values.len(), expected);
        }
    }
    Ok(())
}

fn begin(writer: &mut dyn Write, kind: &str) -> io::Result<()> {
    writeln!(writer, "<?xml version=\"1.0\"?>")?;
    writeln!(
        writer,
        "<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<{kind}>"
    )
}

fn end(writer: &mut dyn Write, kind: &str) -> io::Result<()> {
    writeln!(writer, "</{kind}>\n</VTKFile>")
}

fn all_data(writer: &mut dyn Write, data: &[Data<'_>]) -> io::Result<()> {
    for (kind, tag) in [(DataKind::Nodes, "PointData"), (DataKind::Cells, "CellData")] {
        writeln!(writer, "<{tag}>")?;
        for data in data.iter().filter(|data| data.kind == kind) {
            match data.values {
                Values::Scalars(values) => floats(writer, data.name, 1, values)?,
                Values::Vectors(values) => floats(writer, data.name, 3, values.as_flattened())?,
            }
        }
        writeln!(writer, "</{tag}>")?;
    }
    Ok(())
}

fn points_of(writer: &mut dyn Write, positions: &[[f64; 3]]) -> io::Result<()> {
    writeln!(writer, "<Points>")?;
    floats(writer, "Points", 3, positions.as_flattened())?;
    writeln!(writer, "</Points>")
}

fn connectivity<'a>(
    writer: &mut dyn Write,
    cells: impl Iterator<Item = &'a [u32]> + Clone,
) -> io::Result<()> {
    let nodes = cells.clone().flatten().map(|&node| i64::from(node).to_le_bytes());
    let count = cells.clone().map(|cell| cell.len() as u64).sum::<u64>();
    array(writer, "Int64", "connectivity", 1, 8 * count, nodes)?;
    let offsets = cells.clone().scan(0i64, |offset, cell| {
        *offset += cell.len() as i64;
        Some(offset.to_le_bytes())
    });
    array(writer, "Int64", "offsets", 1, 8 * cells.clone().count() as u64, offsets)
}

fn floats(writer: &mut dyn Write, name: &str, components: usize, values: &[f64]) -> io::Result<()> {
    let bytes = values.iter().map(|value| value.to_le_bytes());
    array(writer, "Float64", name, components, 8 * values.len() as u64, bytes)
}

/// An array of numbers by their bytes, of which there are so many.
fn array<const N: usize>(
    writer: &mut dyn Write,
    kind: &str,
    name: &str,
    components: usize,
    length: u64,
    numbers: impl Iterator<Item = [u8; N]>,
) -> io::Result<()> {
    let name = escaped(name);
    write!(
        writer,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">"
    )?;
    base64(writer, length.to_le_bytes().into_iter().chain(numbers.flatten()))?;
    writeln!(writer, "</DataArray>")
}

/// Bytes in base64 (RFC 4648).
fn base64(writer: &mut dyn Write, bytes: impl Iterator<Item = u8>) -> io::Result<()> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const FULL: usize = 1 << 12;
    let mut text = Vec::with_capacity(FULL + 4);
    let (mut group, mut filled) = (0u32, 0);
    let letter = |group: u32, place: u32| LETTERS[(group >> (18 - 6 * place)) as usize & 63];
    for byte in bytes {
        group |= u32::from(byte) << (16 - 8 * filled);
        filled += 1;
        if filled == 3 {
            text.extend((0..4).map(|place| letter(group, place)));
            (group, filled) = (0, 0);
            if text.len() >= FULL {
                writer.write_all(&text)?;
                text.clear();
            }
        }
    }
    if filled > 0 {
        text.extend((0..4).map(|place| if place <= filled { letter(group, place) } else { b'=' }));
    }
    writer.write_all(&text)
}

/// Text with what XML reserves written out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
