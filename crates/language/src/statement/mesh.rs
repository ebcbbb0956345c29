//! Meshes and atoms: `mesh`, `atoms`, `material`.

use super::clause::{numbers, one_of, twice};
use super::declare::only;
use super::pose::turn;
use super::selection::mesh_named;
use crate::diagnostic::Diagnostic;
use crate::meshes::MovingMesh;
use crate::reader::Reader;
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, SymbolBlock};
use leastaction_field::{
    CellKind, Field, Lattice, Mesh, ShapeError, add_coupled_nodes, add_nodes, consistent_masses,
    lumped_masses,
};
use leastaction_mechanics::{Rotation, TermKind, gravity_on};
use std::path::Path;
use std::sync::Arc;

type Outcome = Result<(), Diagnostic>;

/// More cells than this are refused: nobody waits for them.
const MOST_CELLS: f64 = 1e7;

/// Files larger than this are not read.
const LARGEST_FILE: u64 = 4 << 30;

const SHAPES: [&str; 7] = ["box", "beam", "plate", "ball", "sphere", "rope", "file"];
const ATOMS: [&str; 3] = ["lattice", "file", "at"];
const PLACING: [&str; 3] = ["scaled", "turned", "at"];
const LATTICES: [Lattice; 3] = [Lattice::Simple, Lattice::BodyCentred, Lattice::FaceCentred];

/// A mesh while a text is read.
pub(crate) struct MeshEntry<'g> {
    pub(crate) moving: MovingMesh,
    pub(crate) block: SymbolBlock<'g>,
    pub(crate) span: Span,
    /// Whether it was declared by `atoms`.
    pub(crate) atoms: bool,
    pub(crate) material: Option<Material<'g>>,
    /// Which coordinates are fixed.
    pub(crate) fixed: Vec<Fixed>,
    /// Of which nodes it is said where they start, and how fast.
    pub(crate) placed: Vec<bool>,
    pub(crate) pushed: Vec<bool>,
    /// How many tetrahedra, one after the other, make a cell of a box or a beam.
    pub(crate) per_cell: Option<u32>,
    /// Where each node is kept or attached.
    pub(crate) bound: Vec<Option<Span>>,
    /// The fields on it, in the order of those of `moving`, with the nodes of their elements; none for pairs that are not listed.
    pub(crate) fields: Vec<(Field<'g>, Vec<u32>)>,
}

/// Whether a coordinate is fixed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fixed {
    Free,
    AtRest,
    /// It moves as a statement says.
    Moved,
}

/// What the nodes of a mesh weigh: so many units each.
pub(crate) struct Material<'g> {
    pub(crate) masses: Vec<f64>,
    /// Nothing where masses are in the unit of the model.
    pub(crate) unit: Option<Expr<'g>>,
    pub(crate) span: Span,
}

/// `mesh NAME SHAPE [scaled S] [turned TURN] [at [X, Y, Z]]`
pub(super) fn mesh<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Mesh)?;
    let (word, start) = one_of(parser, &SHAPES, "the shape of the mesh")?;
    let mesh = match word {
        "box" => {
            let size = numbers(reader, parser, 3)?;
            let cells = counts(reader, parser, "cells")?;
            bounded(start, cells, 6.0)?;
            Mesh::cuboid(size, cells)
        }
        "beam" => {
            let [a, b, _] = numbers(reader, parser, 2)?;
            reader.word(parser, "length", "`length` and the beam's length")?;
            let length = reader.number(parser)?.0;
            let [m, n, along] = counts(reader, parser, "cells")?;
            bounded(start, [m, n, along], 6.0)?;
            Mesh::beam([a, b], length, [m, n], along)
        }
        "plate" => {
            let [a, b, _] = numbers(reader, parser, 2)?;
            let [m, n] = counts(reader, parser, "cells")?;
            bounded(start, [m, n], 2.0)?;
            Mesh::plate([a, b], [m, n])
        }
        "ball" | "sphere" => {
            let radius = reader.number(parser)?.0;
            reader.word(parser, "level", "`level` and how often it is refined")?;
            let level = count(reader, parser)?;
            let (each, ball) = if word == "ball" { (8.0_f64, true) } else { (4.0, false) };
            bounded(start, [20], each.powi(level.min(100) as i32))?;
            if ball { Mesh::ball(radius, level) } else { Mesh::sphere(radius, level) }
        }
        "rope" => {
            reader.word(parser, "from", "`from` and where the rope begins")?;
            let from = numbers(reader, parser, 3)?;
            reader.word(parser, "to", "`to` and where the rope ends")?;
            let to = numbers(reader, parser, 3)?;
            reader.word(parser, "segments", "`segments` and how many there are")?;
            let segments = count(reader, parser)?;
            bounded(start, [segments], 1.0)?;
            Mesh::rope(from, to, segments)
        }
        _ => {
            let mesh = file(reader, parser)?;
            return place(reader, parser, mesh).and_then(|mesh| declare(reader, &name, span, mesh, false));
        }
    };
    let shape = start.to(parser.previous());
    let mesh = mesh.map_err(|error| wrong_shape(shape, &error))?;
    let mesh = place(reader, parser, mesh)?;
    declare(reader, &name, span, mesh, false)?;
    if let ("box" | "beam", Some(entry)) = (word, reader.meshes.last_mut()) {
        entry.per_cell = Some(6);
    }
    Ok(())
}

/// `atoms NAME lattice KIND edge A cells [I, J, K]`, `atoms NAME file "PATH"` and `atoms NAME at [X, Y, Z], …`
pub(super) fn atoms<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Mesh)?;
    let (word, start) = one_of(parser, &ATOMS, "where the atoms are")?;
    let mesh = match word {
        "lattice" => {
            let (kind, _) = one_of(parser, &LATTICES.map(Lattice::name), "the kind of the lattice")?;
            let lattice = LATTICES.into_iter().find(|lattice| lattice.name() == kind);
            reader.word(parser, "edge", "`edge` and that of a cell")?;
            let edge = reader.number(parser)?.0;
            let cells = counts(reader, parser, "cells")?;
            bounded(start, cells, 4.0)?;
            let mesh = Mesh::lattice(lattice.unwrap_or(Lattice::Simple), edge, cells);
            mesh.map_err(|error| wrong_shape(start.to(parser.previous()), &error))?
        }
        "file" => file(reader, parser)?,
        _ => {
            let mut nodes = vec![numbers(reader, parser, 3)?];
            while parser.accept(",") {
                nodes.push(numbers(reader, parser, 3)?);
            }
            let whole = start.to(parser.previous());
            let mesh = Mesh::new(nodes).map_err(|error| Diagnostic::at(whole, error.to_string()))?;
            return declare(reader, &name, span, mesh, true);
        }
    };
    let mesh = place(reader, parser, mesh)?;
    declare(reader, &name, span, mesh, true)
}

fn wrong_shape(span: Span, error: &ShapeError) -> Diagnostic {
    Diagnostic::at(span, error.to_string())
}

/// A whole number that is not negative.
fn count<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<u32, Diagnostic> {
    let (value, span) = reader.number(parser)?;
    whole(value, span)
}

fn whole(value: f64, span: Span) -> Result<u32, Diagnostic> {
    if value.fract() == 0.0 && (0.0..=1e9).contains(&value) {
        return Ok(value as u32);
    }
    Err(Diagnostic::at(span, format!("a whole number is expected here, not {value}")))
}

/// Whole numbers after a word.
fn counts<'g, 's, const N: usize>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    word: &'static str,
) -> Result<[u32; N], Diagnostic> {
    one_of(parser, &[word], "`cells` and how many there are along each axis")?;
    let start = parser.peek().span;
    let all = numbers(reader, parser, N)?;
    let span = start.to(parser.previous());
    let mut counts = [0; N];
    for (to, value) in counts.iter_mut().zip(all) {
        *to = whole(value, span)?;
    }
    Ok(counts)
}

fn bounded<const N: usize>(span: Span, counts: [u32; N], each: f64) -> Outcome {
    let cells = counts.iter().fold(each, |cells, &count| cells * f64::from(count));
    if cells <= MOST_CELLS {
        return Ok(());
    }
    let wrong = format!("the mesh would have {cells:.0e} cells, and {MOST_CELLS:.0e} are the most");
    Err(Diagnostic::at(span, wrong).help("make it coarser"))
}

/// A file in double quotes, by its path from where the text is.
pub(super) fn file<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Mesh, Diagnostic> {
    let (path, span) = parser.quotation("the path of a file in double quotes, as `\"part.msh\"`")?;
    let at = |message: String| Diagnostic::at(span, message);
    let Some(folder) = &reader.folder else {
        return Err(at("this text is no file, so there is no place to look for others".to_owned())
            .help("save it as a `.motion` file beside the mesh"));
    };
    let full = folder.join(Path::new(path));
    let metadata = std::fs::metadata(&full).map_err(|error| {
        at(format!("the file cannot be read: {error}")).help("paths are taken from the folder of the model")
    })?;
    if !metadata.is_file() || metadata.len() > LARGEST_FILE {
        let why = if metadata.is_file() { "is larger than 4 GB" } else { "is no file" };
        return Err(at(format!("`{path}` {why}")));
    }
    let mesh = Mesh::read(&full).map_err(|error| at(error.to_string()))?;
    if mesh.count(CellKind::Tetrahedron) + mesh.count(CellKind::Triangle) + mesh.count(CellKind::Segment) > 0
    {
        mesh.check().map_err(|error| at(format!("`{path}`: {error}")))?;
    }
    if mesh.nodes().is_empty() {
        return Err(at(format!("`{path}` has no nodes")));
    }
    Ok(mesh)
}

/// A mesh made larger, turned and moved, in this order.
fn place<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    mesh: Mesh,
) -> Result<Mesh, Diagnostic> {
    let (mut scale, mut rotation, mut offset) = (1.0, None::<Rotation>, [0.0; 3]);
    let mut seen: Vec<(&'static str, Span)> = Vec::new();
    let start = parser.peek().span;
    while parser.peek().kind != Kind::End {
        let (word, span) = one_of(parser, &PLACING, "where the mesh is")?;
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == word) {
            return Err(twice(word, span, *first));
        }
        seen.push((word, span));
        match word {
            "scaled" => {
                let (value, place) = reader.number(parser)?;
                if value <= 0.0 {
                    return Err(Diagnostic::at(place, format!("a scale is positive, not {value}")));
                }
                scale = value;
            }
            "turned" => rotation = Some(turn(reader, parser)?),
            _ => offset = numbers(reader, parser, 3)?,
        }
    }
    if seen.is_empty() {
        return Ok(mesh);
    }
    let span = start.to(parser.previous());
    let placed = mesh.mapped(|at| {
        let at = at.map(|x| x * scale);
        let at = rotation.map_or(at, |rotation| rotation.apply(at));
        std::array::from_fn(|axis| at[axis] + offset[axis])
    });
    placed.map_err(|error| Diagnostic::at(span, error.to_string()))
}

/// Declares the coordinates of the nodes.
fn declare(reader: &mut Reader<'_, '_>, name: &str, span: Span, mesh: Mesh, atoms: bool) -> Outcome {
    let model = &mut reader.setup.model;
    let (count, first_coordinate) = (mesh.nodes().len(), model.coordinate_count());
    let block = model.coordinate_block(name, count, &["x", "y", "z"]).map_err(|error| {
        Diagnostic::at(span, format!("{error}, so no node can have its name")).help("choose another name")
    })?;
    reader.declare(name, span, Role::Mesh);
    let start = mesh.nodes().into();
    let moving = MovingMesh {
        name: name.to_owned(),
        mesh: Arc::new(mesh),
        first_coordinate,
        first_place: 0,
        fields: Vec::new(),
        start,
        velocities: None,
    };
    reader.meshes.push(MeshEntry {
        moving,
        block,
        span,
        atoms,
        material: None,
        fixed: vec![Fixed::Free; 3 * count],
        placed: vec![false; count],
        pushed: vec![false; count],
        per_cell: None,
        bound: vec![None; count],
        fields: Vec::new(),
    });
    Ok(())
}

/// What a density is of.
#[derive(Clone, Copy, PartialEq)]
enum Per {
    Volume,
    Area,
    Length,
    Node,
}

impl Per {
    fn of(mesh: &Mesh) -> Per {
        let kinds = [
            (CellKind::Tetrahedron, Per::Volume),
            (CellKind::Triangle, Per::Area),
            (CellKind::Segment, Per::Length),
        ];
        kinds.into_iter().find(|(kind, _)| mesh.count(*kind) > 0).map_or(Per::Node, |(_, per)| per)
    }

    fn word(self) -> &'static str {
        match self {
            Per::Volume => "volume",
            Per::Area => "area",
            Per::Length => "length",
            Per::Node => "node",
        }
    }

    /// How a material of such a mesh is written.
    fn forms(self, name: &str) -> String {
        match self {
            Per::Volume => format!("write `material {name} density RHO`"),
            Per::Area => format!(
                "write `material {name} density RHO thickness T`, or `material {name} mass M per area`"
            ),
            Per::Length => format!(
                "write `material {name} density RHO section A`, or `material {name} mass M per length`"
            ),
            Per::Node => format!("write `material {name} mass M`, the mass of each atom"),
        }
    }
}

/// `material MESH density RHO [thickness T | section A] [consistent]` and `material MESH mass M [per volume | area | length | node] [consistent]`
pub(super) fn material<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (index, name, name_span) = mesh_named(reader, parser)?;
    if let Some(first) = &reader.meshes[index].material {
        return Err(Diagnostic::at(name_span, format!("`{name}` has a material already"))
            .related(first.span, "given here first")
            .help("remove one of them"));
    }
    let (mesh, atoms) = (reader.meshes[index].moving.mesh.clone(), reader.meshes[index].atoms);
    let kind = Per::of(&mesh);
    let start = parser.peek().span;
    let (word, word_span) = one_of(parser, &["density", "mass"], "`density` or `mass`")?;
    let (amount, place) = reader.scalar(parser)?;
    let mut unit = amount;
    let mut per = kind;
    if word == "density" {
        let needed = match kind {
            Per::Volume => None,
            Per::Area => Some("thickness"),
            Per::Length => Some("section"),
            Per::Node => {
                return Err(Diagnostic::at(
                    word_span,
                    format!("`{name}` has no cells that could have a density"),
                )
                .help(kind.forms(&name)));
            }
        };
        if let Some(needed) = needed {
            if !parser.accept_word(needed) {
                let what = if kind == Per::Area { "triangles" } else { "segments" };
                return Err(Diagnostic::at(
                    parser.peek().span,
                    format!("`{name}` has {what}: a density is not enough to tell their mass"),
                )
                .help(kind.forms(&name)));
            }
            unit = amount * reader.scalar(parser)?.0;
        }
    } else if parser.accept_word("per") {
        let (word, span) =
            one_of(parser, &["volume", "area", "length", "node", "atom"], "what it is the mass of")?;
        per = match word {
            "node" | "atom" => Per::Node,
            _ if word == kind.word() => kind,
            _ => {
                return Err(Diagnostic::at(span, format!("the cells of `{name}` have no {word}"))
                    .help(kind.forms(&name)));
            }
        };
    } else if !atoms {
        return Err(Diagnostic::at(word_span.to(place), "it is not said what this is the mass of")
            .help(kind.forms(&name)));
    }
    let consistent = parser.accept_word("consistent");
    if consistent && per == Per::Node {
        let wrong = format!("`{name}` has a mass for each node: only cells have consistent masses");
        return Err(Diagnostic::at(parser.previous(), wrong).help("leave out `consistent`"));
    }
    let whole = start.to(parser.previous());
    only(reader, unit, whole, &[], "masses are numbers, or expressions of parameters")?;
    let refused = |error: leastaction_field::FieldError| Diagnostic::at(whole, error.to_string());
    let before = reader.fixed.borrow().len();
    let value = reader.known(unit, whole)?;
    reader.fixed.borrow_mut().truncate(before);
    if value <= 0.0 {
        return Err(Diagnostic::at(whole, format!("this is {value}: masses must be positive")));
    }
    // Where no parameter is in it, masses are what the same calls from Rust give, to the bit.
    let (density, unit) = if unit.as_number().is_some() { (value, None) } else { (1.0, Some(unit)) };
    let masses = match per {
        Per::Node => vec![density; mesh.nodes().len()],
        _ => lumped_masses(&mesh, density).map_err(refused)?,
    };
    let block = reader.meshes[index].block;
    let model = &mut reader.setup.model;
    let first_place = model.place_count();
    match consistent {
        true => {
            add_coupled_nodes(model, &name, block, consistent_masses(&mesh, density).map_err(refused)?, unit)
        }
        false => add_nodes(model, &name, block, &masses, unit),
    }
    .map_err(refused)?;
    reader.setup.source_map.mark(Mention::Mass, &name, whole);
    reader.setup.source_map.mark(Mention::Weight, &gravity_on(&name), whole);
    reader.declare_energy(TermKind::Kinetic.word(), &name);
    reader.declare_energy(TermKind::Potential.word(), &gravity_on(&name));
    let entry = &mut reader.meshes[index];
    entry.moving.first_place = first_place;
    entry.material = Some(Material { masses, unit, span: whole });
    Ok(())
}

/// Says that a mesh has no mass yet.
pub(super) fn no_material(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("the mass of `{name}` is not known here"))
        .help(format!("say above what it is made of: `material {name} …`"))
}
