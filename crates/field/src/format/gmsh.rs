//! Gmsh's `.msh`, versions 2.2 and 4.1, as text (C. Geuzaine and J.-F. Remacle, doi:10.1002/nme.2579; the format is described in Gmsh's
//! manual). Physical groups become groups.

use super::scanner::{Scanner, shown};
use super::{Format, FormatError};
use crate::mesh::{CellKind, Group, Mesh, Vector};
use rustc_hash::FxHashMap;

pub(super) const FORMAT: Format =
    Format { ending: "msh", about: "Gmsh, versions 2.2 and 4.1, as text", read };

const REMEDY: &str =
    "make a mesh of tetrahedra or triangles of the first order (Mesh.ElementOrder = 1, no recombination)";

/// The name of an element type of Gmsh, for those that are not read.
fn type_name(kind: u32) -> &'static str {
    match kind {
        3 => "quadrangle",
        5 => "hexahedron",
        6 => "prism",
        7 => "pyramid",
        8 => "line of the second order",
        9 => "triangle of the second order",
        10 | 16 => "quadrangle of the second order",
        11 => "tetrahedron of the second order",
        12 | 17 => "hexahedron of the second order",
        _ => "type of element",
    }
}

/// What a file has so far.
#[derive(Default)]
struct File {
    nodes: Vec<Vector>,
    /// Nodes by their tags.
    tags: FxHashMap<u64, u32>,
    segments: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tetrahedra: Vec<[u32; 4]>,
    /// By dimension and tag.
    names: FxHashMap<(u32, i64), String>,
    /// Members of physical groups, in the order in which groups appear.
    groups: Vec<(u32, i64, Vec<u32>)>,
    /// Where a group stands in that list.
    group_places: FxHashMap<(u32, i64), usize>,
    /// The physical groups of the entities of version 4.1, by dimension and tag.
    entities: FxHashMap<(u32, i64), Vec<i64>>,
}

fn read(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut scanner = Scanner::new(bytes);
    let mut file = File::default();
    let header = scanner.expect("$MeshFormat")?;
    if header != b"$MeshFormat" {
        return Err(scanner.unexpected("$MeshFormat", header));
    }
    let version = scanner.expect("a version")?;
    let four = match version {
        b"2" | b"2.0" | b"2.1" | b"2.2" => false,
        b"4.1" => true,
        other => {
            let remedy = "save the mesh in version 4.1 or 2.2 (Mesh.MshFileVersion)";
            let found = shown(other);
            return Err(FormatError::Unsupported { place: scanner.place(), what: "version", found, remedy });
        }
    };
    let kind: u32 = scanner.number("0, for text")?;
    if kind != 0 {
        let (what, found) = ("file type", kind.to_string());
        let remedy = "save the mesh as text (Mesh.Binary = 0)";
        return Err(FormatError::Unsupported { place: scanner.place(), what, found, remedy });
    }
    let _size: u32 = scanner.number("the size of a number")?;
    end(&mut scanner, b"$EndMeshFormat", "$EndMeshFormat")?;
    let (mut nodes, mut elements) = (false, false);
    while let Some(section) = scanner.word() {
        match section {
            b"$PhysicalNames" => {
                file.names(&mut scanner)?;
                end(&mut scanner, b"$EndPhysicalNames", "$EndPhysicalNames")?;
            }
            b"$Entities" if four => {
                file.entities(&mut scanner)?;
                end(&mut scanner, b"$EndEntities", "$EndEntities")?;
            }
            b"$Nodes" => {
                if four {
                    file.nodes_4(&mut scanner)?
                } else {
                    file.nodes_2(&mut scanner)?
                }
                end(&mut scanner, b"$EndNodes", "$EndNodes")?;
                nodes = true;
            }
            b"$Elements" => {
                if four {
                    file.elements_4(&mut scanner)?
                } else {
                    file.elements_2(&mut scanner)?
                }
                end(&mut scanner, b"$EndElements", "$EndElements")?;
                elements = true;
            }
            [b'$', name @ ..] => skip(&mut scanner, name)?,
            other => return Err(scanner.unexpected("the name of a section, such as $Nodes,", other)),
        }
    }
    if !nodes {
        return Err(FormatError::Missing { what: "section $Nodes" });
    }
    if !elements {
        return Err(FormatError::Missing { what: "section $Elements" });
    }
    file.mesh()
}

fn end(scanner: &mut Scanner<'_>, word: &[u8], expected: &'static str) -> Result<(), FormatError> {
    let found = scanner.expect(expected)?;
    if found == word { Ok(()) } else { Err(scanner.unexpected(expected, found)) }
}

/// Passes over a section that says nothing about the mesh.
fn skip(scanner: &mut Scanner<'_>, name: &[u8]) -> Result<(), FormatError> {
    loop {
        let word = scanner.expect("the end of a section")?;
        if word.strip_prefix(b"$End") == Some(name) {
            return Ok(());
        }
    }
}

impl File {
    fn names(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let count: usize = scanner.number("a number of names")?;
        for _ in 0..count {
            let dimension = scanner.number("a dimension")?;
            let tag = scanner.number("the tag of a group")?;
            let rest = scanner.rest_of_line();
            let name = rest.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
            let name = name.ok_or_else(|| scanner.unexpected("a name in quotes", rest))?;
            self.names.insert((dimension, tag), String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }

    fn entities(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let mut counts = [0usize; 4];
        for count in &mut counts {
            *count = scanner.number("a number of entities")?;
        }
        for (dimension, count) in (0..).zip(counts) {
            for _ in 0..count {
                let tag = scanner.number("the tag of an entity")?;
                // A point, or the corners of a bounding box.
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    scanner.number::<f64>("a coordinate")?;
                }
                let groups: usize = scanner.number("a number of groups")?;
                let mut list = Vec::with_capacity(scanner.room(groups, 2));
                for _ in 0..groups {
                    list.push(scanner.number("the tag of a group")?);
                }
                if dimension > 0 {
                    let bounds: usize = scanner.number("a number of entities that bound it")?;
                    for _ in 0..bounds {
                        scanner.number::<i64>("the tag of an entity")?;
                    }
                }
                self.entities.insert((dimension, tag), list);
            }
        }
        Ok(())
    }

    fn node(&mut self, scanner: &Scanner<'_>, tag: u64, at: Vector) -> Result<(), FormatError> {
        let number = u32::try_from(self.nodes.len());
        let number = number.map_err(|_| scanner.unexpected("fewer than 2³² nodes", b"more"))?;
        if self.tags.insert(tag, number).is_some() {
            return Err(FormatError::Twice { place: scanner.place(), what: "node", index: tag as i64 });
        }
        self.nodes.push(at);
        Ok(())
    }

    fn nodes_2(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let count: usize = scanner.number("a number of nodes")?;
        self.nodes.reserve(scanner.room(count, 8));
        for _ in 0..count {
            let tag = scanner.number("the number of a node")?;
            let at = scanner.vector()?;
            self.node(scanner, tag, at)?;
        }
        Ok(())
    }

    fn nodes_4(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let blocks: usize = scanner.number("a number of blocks")?;
        let expected: u64 = scanner.number("a number of nodes")?;
        scanner.number::<u64>("the smallest tag")?;
        scanner.number::<u64>("the largest tag")?;
        for _ in 0..blocks {
            let dimension: u32 = scanner.number("a dimension")?;
            scanner.number::<i64>("the tag of an entity")?;
            let parametric: u32 = scanner.number("0 or 1")?;
            let count: usize = scanner.number("a number of nodes")?;
            let mut tags = Vec::with_capacity(scanner.room(count, 8));
            for _ in 0..count {
                tags.push(scanner.number("the tag of a node")?);
            }
            for tag in tags {
                let at = scanner.vector()?;
                for _ in 0..if parametric == 0 { 0 } else { dimension.min(3) } {
                    scanner.number::<f64>("a parametric coordinate")?;
                }
                self.node(scanner, tag, at)?;
            }
        }
        let found = self.nodes.len() as u64;
        if found == expected {
            return Ok(());
        }
        Err(FormatError::Count { place: scanner.place(), what: "nodes", expected, found })
    }

    fn elements_2(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let count: usize = scanner.number("a number of elements")?;
        for _ in 0..count {
            scanner.number::<i64>("the number of an element")?;
            let kind: u32 = scanner.number("a type of element")?;
            let tags: usize = scanner.number("a number of tags")?;
            let mut group = 0;
            for place in 0..tags {
                let tag = scanner.number::<i64>("a tag")?;
                if place == 0 {
                    group = tag;
                }
            }
            self.element(scanner, kind, if group == 0 { &[] } else { std::slice::from_ref(&group) })?;
        }
        Ok(())
    }

    fn elements_4(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        let blocks: usize = scanner.number("a number of blocks")?;
        for what in ["a number of elements", "the smallest tag", "the largest tag"] {
            scanner.number::<u64>(what)?;
        }
        for _ in 0..blocks {
            let dimension: u32 = scanner.number("a dimension")?;
            let entity: i64 = scanner.number("the tag of an entity")?;
            let kind: u32 = scanner.number("a type of element")?;
            let count: usize = scanner.number("a number of elements")?;
            let groups = self.entities.get(&(dimension, entity)).cloned().unwrap_or_default();
            for _ in 0..count {
                scanner.number::<u64>("the tag of an element")?;
                self.element(scanner, kind, &groups)?;
            }
        }
        Ok(())
    }

    /// Reads the nodes of an element, and puts it into groups.
    fn element(&mut self, scanner: &mut Scanner<'_>, kind: u32, groups: &[i64]) -> Result<(), FormatError> {
        let (dimension, member) = match kind {
            15 => {
                let [node] = self.corners(scanner)?;
                (0, node)
            }
            1 => {
                let corners = self.corners(scanner)?;
                self.segments.push(corners);
                (1, self.segments.len() as u32 - 1)
            }
            2 => {
                let corners = self.corners(scanner)?;
                self.triangles.push(corners);
                (2, self.triangles.len() as u32 - 1)
            }
            4 => {
                let corners = self.corners(scanner)?;
                self.tetrahedra.push(corners);
                (3, self.tetrahedra.len() as u32 - 1)
            }
            other => {
                let (what, found) = (type_name(other), other.to_string());
                return Err(FormatError::Unsupported { place: scanner.place(), what, found, remedy: REMEDY });
            }
        };
        for &group in groups {
            // Version 4.1 says by a sign how an entity is turned.
            let key = (dimension, group.saturating_abs());
            let place = *self.group_places.entry(key).or_insert_with(|| {
                self.groups.push((key.0, key.1, Vec::new()));
                self.groups.len() - 1
            });
            self.groups[place].2.push(member);
        }
        Ok(())
    }

    fn corners<const N: usize>(&self, scanner: &mut Scanner<'_>) -> Result<[u32; N], FormatError> {
        let mut corners = [0; N];
        for corner in &mut corners {
            let tag: u64 = scanner.number("the number of a node")?;
            let found = self.tags.get(&tag).copied();
            let missing = FormatError::NoSuch { place: scanner.place(), what: "node", index: tag as i64 };
            *corner = found.ok_or(missing)?;
        }
        Ok(corners)
    }

    fn mesh(self) -> Result<Mesh, FormatError> {
        let mut mesh = Mesh::new(self.nodes)?;
        mesh = mesh.with_segments(self.segments)?.with_triangles(self.triangles)?;
        mesh = mesh.with_tetrahedra(self.tetrahedra)?;
        for (dimension, tag, members) in self.groups {
            let kinds = [CellKind::Node, CellKind::Segment, CellKind::Triangle, CellKind::Tetrahedron];
            let name = self.names.get(&(dimension, tag)).cloned().unwrap_or_else(|| tag.to_string());
            mesh = mesh.with_group(Group { name, kind: kinds[dimension as usize], members })?;
        }
        Ok(mesh.without_loose_nodes())
    }
}
