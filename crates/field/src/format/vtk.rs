//! Legacy `.vtk`, as text and binary: unstructured grids and polygonal data, of files of versions 1 to 5.1 (described in the VTK file
//! formats document). Polygons are cut into fans of triangles; data of points and cells are passed over.

use super::scanner::{Scanner, shown};
use super::{Format, FormatError};
use crate::mesh::Mesh;

pub(super) const FORMAT: Format = Format { ending: "vtk", about: "legacy VTK, as text and binary", read };

const REMEDY: &str = "make a mesh of tetrahedra, triangles or lines of the first order";

/// A type of numbers.
#[derive(Clone, Copy)]
enum Number {
    Float(usize),
    Signed(usize),
    Unsigned(usize),
}

struct File<'a> {
    scanner: Scanner<'a>,
    binary: bool,
    points: Vec<[f64; 3]>,
    segments: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tetrahedra: Vec<[u32; 4]>,
}

fn read(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut scanner = Scanner::new(bytes);
    let header = scanner.rest_of_line();
    if !header.starts_with(b"# vtk DataFile") {
        return Err(scanner.unexpected("# vtk DataFile Version", header));
    }
    scanner.rest_of_line();
    let binary = match scanner.expect("ASCII or BINARY")? {
        b"ASCII" => false,
        b"BINARY" => true,
        other => return Err(scanner.unexpected("ASCII or BINARY", other)),
    };
    let keyword = scanner.expect("DATASET")?;
    if keyword != b"DATASET" {
        return Err(scanner.unexpected("DATASET", keyword));
    }
    let grid = match scanner.expect("the kind of data")? {
        b"UNSTRUCTURED_GRID" => true,
        b"POLYDATA" => false,
        other => {
            let (place, what, found) = (scanner.place(), "data set", shown(other));
            let remedy = "save an UNSTRUCTURED_GRID or POLYDATA";
            return Err(FormatError::Unsupported { place, what, found, remedy });
        }
    };
    let (points, segments, triangles, tetrahedra) = Default::default();
    let mut file = File { scanner, binary, points, segments, triangles, tetrahedra };
    file.sections(grid)?;
    let mesh = Mesh::new(file.points)?.with_segments(file.segments)?;
    Ok(mesh.with_triangles(file.triangles)?.with_tetrahedra(file.tetrahedra)?.without_loose_nodes())
}

impl File<'_> {
    fn sections(&mut self, grid: bool) -> Result<(), FormatError> {
        let mut cells: Option<Vec<Vec<i64>>> = None;
        while let Some(section) = self.scanner.word() {
            match section {
                b"POINTS" => {
                    let count: usize = self.scanner.number("a number of points")?;
                    let kind = self.kind()?;
                    let numbers = self.numbers(count.saturating_mul(3), kind)?;
                    self.points = numbers.as_chunks::<3>().0.to_vec();
                }
                b"CELLS" if grid => cells = Some(self.cells()?),
                b"CELL_TYPES" if grid => {
                    let count: usize = self.scanner.number("a number of cells")?;
                    let types = self.integers(count, Number::Signed(4))?;
                    let cells = cells
                        .take()
                        .ok_or(FormatError::Missing { what: "section CELLS before CELL_TYPES" })?;
                    if cells.len() != types.len() {
                        let (place, expected, found) =
                            (self.scanner.place(), types.len() as u64, cells.len() as u64);
                        return Err(FormatError::Count { place, what: "cells", expected, found });
                    }
                    cells.iter().zip(types).try_for_each(|(cell, kind)| self.cell(kind, cell))?;
                }
                b"VERTICES" if !grid => drop(self.cells()?),
                b"LINES" if !grid => {
                    self.cells()?.iter().try_for_each(|cell| self.cell(4, cell))?;
                }
                b"POLYGONS" if !grid => {
                    self.cells()?.iter().try_for_each(|cell| self.cell(7, cell))?;
                }
                b"FIELD" => self.skip_field()?,
                // Ends with an empty line.
                b"METADATA" => {
                    self.scanner.rest_of_line();
                    while !self.scanner.is_done() && !self.scanner.rest_of_line().is_empty() {}
                }
                // What follows says nothing about the mesh.
                b"POINT_DATA" | b"CELL_DATA" => break,
                other => {
                    let (place, what, found) = (self.scanner.place(), "section", shown(other));
                    return Err(FormatError::Unsupported { place, what, found, remedy: REMEDY });
                }
            }
        }
        if cells.is_some() {
            return Err(FormatError::Missing { what: "section CELL_TYPES" });
        }
        if self.points.is_empty() { Err(FormatError::Missing { what: "POINTS" }) } else { Ok(()) }
    }

    /// Cells as lists of points: counted lists, or, since version 5.1, offsets into one list.
    fn cells(&mut self) -> Result<Vec<Vec<i64>>, FormatError> {
        let count: usize = self.scanner.number("a number of cells")?;
        let size: usize = self.scanner.number("a number of points")?;
        let mut ahead = self.scanner.clone();
        if ahead.word() == Some(b"OFFSETS") {
            self.scanner = ahead;
            let kind = self.kind()?;
            let offsets = self.integers(count, kind)?;
            let keyword = self.scanner.expect("CONNECTIVITY")?;
            if keyword != b"CONNECTIVITY" {
                return Err(self.scanner.unexpected("CONNECTIVITY", keyword));
            }
            let kind = self.kind()?;
            let list = self.integers(size, kind)?;
            let part = |ends: &[i64]| {
                let [from, to] = [ends[0], ends[1]].map(usize::try_from);
                let part = from.ok().zip(to.ok()).and_then(|(from, to)| list.get(from..to));
                let missing =
                    FormatError::NoSuch { place: self.scanner.place(), what: "offset", index: ends[1] };
                part.map(<[i64]>::to_vec).ok_or(missing)
            };
            return offsets.windows(2).map(part).collect();
        }
        let list = self.integers(size, Number::Signed(4))?;
        let mut rest = &list[..];
        let mut cells = Vec::with_capacity(self.scanner.room(count, 2).min(list.len()));
        while let Some((&length, after)) = rest.split_first() {
            let cell = usize::try_from(length).ok().and_then(|length| after.split_at_checked(length));
            let (place, what) = (self.scanner.place(), "list of so many points:");
            let (cell, next) = cell.ok_or(FormatError::NoSuch { place, what, index: length })?;
            cells.push(cell.to_vec());
            rest = next;
        }
        if cells.len() == count {
            return Ok(cells);
        }
        let (place, expected, found) = (self.scanner.place(), count as u64, cells.len() as u64);
        Err(FormatError::Count { place, what: "cells", expected, found })
    }

    /// Adds a cell by the number of its type.
    fn cell(&mut self, kind: i64, points: &[i64]) -> Result<(), FormatError> {
        let place = self.scanner.place();
        let node = |&index: &i64| {
            let node = u32::try_from(index).ok().filter(|&node| (node as usize) < self.points.len());
            node.ok_or(FormatError::NoSuch { place, what: "point", index })
        };
        let nodes = points.iter().map(node).collect::<Result<Vec<u32>, _>>()?;
        match (kind, &nodes[..]) {
            (1 | 2, _) => {}
            (3 | 4, line) if line.len() >= 2 => {
                self.segments.extend(line.windows(2).map(|pair| [pair[0], pair[1]]))
            }
            (5 | 7 | 9, [first, rest @ ..]) if rest.len() >= 2 => {
                self.triangles.extend(rest.windows(2).map(|pair| [*first, pair[0], pair[1]]));
            }
            (10, &[a, b, c, d]) => self.tetrahedra.push([a, b, c, d]),
            (3 | 4 | 5 | 7 | 9 | 10, _) => {
                let (expected, found) = (if kind == 10 { 4 } else { 3 }, nodes.len() as u64);
                return Err(FormatError::Count { place, what: "points of a cell", expected, found });
            }
            _ => {
                let (what, found) = ("type of cell", kind.to_string());
                return Err(FormatError::Unsupported { place, what, found, remedy: REMEDY });
            }
        }
        Ok(())
    }

    fn skip_field(&mut self) -> Result<(), FormatError> {
        self.scanner.expect("the name of a field")?;
        let arrays: usize = self.scanner.number("a number of arrays")?;
        for _ in 0..arrays {
            self.scanner.expect("the name of an array")?;
            let components: usize = self.scanner.number("a number of components")?;
            let count: usize = self.scanner.number("a number of values")?;
            let kind = self.kind()?;
            self.numbers(components.saturating_mul(count), kind)?;
        }
        Ok(())
    }

    fn kind(&mut self) -> Result<Number, FormatError> {
        let word = self.scanner.expect("a type of numbers")?;
        Ok(match word {
            b"float" => Number::Float(4),
            b"double" => Number::Float(8),
            b"char" | b"vtktypeint8" => Number::Signed(1),
            b"short" | b"vtktypeint16" => Number::Signed(2),
            b"int" | b"vtktypeint32" => Number::Signed(4),
            b"long" | b"vtktypeint64" | b"vtkIdType" => Number::Signed(8),
            b"unsigned_char" | b"vtktypeuint8" => Number::Unsigned(1),
            b"unsigned_short" | b"vtktypeuint16" => Number::Unsigned(2),
            b"unsigned_int" | b"vtktypeuint32" => Number::Unsigned(4),
            b"unsigned_long" | b"vtktypeuint64" => Number::Unsigned(8),
            other => {
                let (place, what, found) = (self.scanner.place(), "type of numbers", shown(other));
                let remedy = "save points as float or double, and indices as int";
                return Err(FormatError::Unsupported { place, what, found, remedy });
            }
        })
    }

    fn numbers(&mut self, count: usize, kind: Number) -> Result<Vec<f64>, FormatError> {
        let mut numbers = Vec::with_capacity(self.scanner.room(count, 1));
        self.each(count, kind, |scanner, number| match number {
            Found::Word(word) => {
                numbers.push(scanner.parse(word, "a number")?);
                Ok(())
            }
            Found::Float(x) => {
                numbers.push(x);
                Ok(())
            }
            Found::Integer(x) => {
                numbers.push(x as f64);
                Ok(())
            }
        })?;
        Ok(numbers)
    }

    fn integers(&mut self, count: usize, kind: Number) -> Result<Vec<i64>, FormatError> {
        let mut integers = Vec::with_capacity(self.scanner.room(count, 1));
        self.each(count, kind, |scanner, number| match number {
            Found::Word(word) => {
                integers.push(scanner.parse(word, "an integer")?);
                Ok(())
            }
            Found::Integer(x) => {
                integers.push(x);
                Ok(())
            }
            Found::Float(x) => Err(scanner.unexpected("an integer", x.to_string().as_bytes())),
        })?;
        Ok(integers)
    }

    /// Shows the numbers of an array.
    fn each(
        &mut self,
        count: usize,
        kind: Number,
        mut show: impl FnMut(&Scanner<'_>, Found<'_>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        if !self.binary {
            for _ in 0..count {
                let word = self.scanner.expect("a number")?;
                show(&self.scanner, Found::Word(word))?;
            }
            return Ok(());
        }
        // Binary numbers begin after the end of the line, and are big-endian.
        self.scanner.rest_of_line();
        let size = match kind {
            Number::Float(size) | Number::Signed(size) | Number::Unsigned(size) => size,
        };
        let bytes = self.scanner.take(count.saturating_mul(size), "an array of numbers")?;
        for bytes in bytes.chunks_exact(size) {
            let bits = bytes.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            let unused = 64 - 8 * size as u32;
            let number = match kind {
                Number::Float(4) => Found::Float(f64::from(f32::from_bits(bits as u32))),
                Number::Float(_) => Found::Float(f64::from_bits(bits)),
                Number::Signed(_) => Found::Integer((bits << unused) as i64 >> unused),
                Number::Unsigned(_) => Found::Integer(bits as i64),
            };
            show(&self.scanner, number)?;
        }
        Ok(())
    }
}

/// A number as it stands in a file.
enum Found<'a> {
    Word(&'a [u8]),
    Float(f64),
    Integer(i64),
}
