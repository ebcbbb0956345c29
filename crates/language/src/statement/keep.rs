//! Constraints on meshes: `keep`, and `attach` of nodes to bodies.

use super::body::refused as refused_body;
use super::clause::one_of;
use super::field::{elements, kinds, named_elements, of_element, refused};
use super::joint::{body_named, end};
use super::mesh::Fixed;
use super::nodes::of_place;
use super::selection::{Selection, selection};
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader};
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span};
use leastaction_field::{Field, FieldError, Keep, Over, Vector, enclosed_elements, keep_elements};
use leastaction_mechanics::{Point, TermKind, suffixed};

type Outcome = Result<(), Diagnostic>;

const CONSTRAINT: Mention = Mention::Term(TermKind::Constraint);

/// What can be kept, and words that may follow the nodes.
const KEPT: [&str; 4] = ["lengths", "volumes", "volume", "on"];
const FOLLOWING: [&str; 2] = ["by", "along"];

/// Which sums of values are kept.
enum Sums {
    Each,
    Total,
    Patches(Vec<u32>),
}

/// Values of elements to be kept.
struct Values<'g> {
    chosen: Selection,
    field: Field<'g>,
    nodes: Vec<u32>,
    sums: Sums,
}

/// `keep [NAME:] lengths of NODES [along AXIS, …]`, `keep [NAME:] volume of NODES`, `keep [NAME:] volumes of NODES [by cells | by PATCH]` and
/// `keep [NAME:] on ELEMENTS of MESH [GROUP] (a, b, …) [where CONDITION] [in all] = VALUE`
pub(super) fn keep<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let name = constraint_name(reader, parser, "keep")?;
    let (word, _) = one_of(parser, &KEPT, "what is kept")?;
    if word != "on" {
        reader.word(parser, "of", "`of` and the mesh")?;
    }
    let values = match word {
        "lengths" => lengths(reader, parser, &name)?,
        "volume" => volume(reader, parser, &name)?,
        "volumes" => volumes(reader, parser, &name)?,
        _ => own(reader, parser, &name)?,
    };
    let span = start.to(parser.previous());
    let Values { chosen, field, nodes, sums } = movable(reader, values, span)?;
    let entry = &reader.meshes[chosen.mesh];
    let free = |node: usize| [0, 1, 2].map(|axis| entry.fixed[3 * node + axis] == Fixed::Free);
    let at = |node: usize| ([0, 1, 2].map(|axis| entry.block.symbol(node, axis)), free(node));
    let kept = match &sums {
        Sums::Each => Keep::Each,
        Sums::Total => Keep::Total,
        Sums::Patches(patches) => Keep::Patches(patches),
    };
    let mesh = entry.moving.mesh.clone();
    let constraints = keep_elements(&mut reader.setup.model, &mesh, &field, &nodes, kept, &at);
    let constraints = constraints.map_err(|error| {
        let wrong = refused(span, &error);
        if !matches!(error, FieldError::Locked { .. } | FieldError::Dependent { .. }) {
            return wrong;
        }
        let mesh = &chosen.name;
        match word {
            "lengths" => wrong.help(format!(
                "keep those of fewer edges, as `keep lengths of {mesh} along x, y`, or let them stretch a little: `field NAME bars on {mesh} stiffness EA`"
            )),
            "volumes" | "volume" => wrong.help(format!(
                "write `keep volumes of {mesh} by cells` for a box or a beam, `keep volumes of {mesh} by floor(2*z)` for patches by their places, or `keep volume of {mesh}` for the total"
            )),
            _ => wrong,
        }
    })?;
    mark(reader, &name, &constraints, span);
    nodes.iter().for_each(|&node| reader.meshes[chosen.mesh].bound[node as usize] = Some(span));
    Ok(())
}

/// The name of a constraint, or one that is made.
fn constraint_name<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    kind: &'static str,
) -> Result<String, Diagnostic> {
    let place = parser.peek().span;
    let Some(name) = reader.label(parser, ":")? else { return Ok(reader.next_name(kind)) };
    match reader.setup.source_map.find(CONSTRAINT, &name) {
        Some(first) => Err(Diagnostic::at(place, format!("there are two constraints `{name}`"))
            .related(first, "the first one")
            .help("rename one of them")),
        None => Ok(name),
    }
}

/// Remembers where constraints are said.
fn mark(reader: &mut Reader<'_, '_>, name: &str, constraints: &[String], span: Span) {
    for name in constraints.iter().map(String::as_str).chain([name]) {
        reader.setup.source_map.mark(CONSTRAINT, name, span);
    }
}

/// The lengths of edges, all or those along axes at rest.
fn lengths<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Values<'g>, Diagnostic> {
    let chosen = selection(reader, parser, &FOLLOWING)?;
    let mut nodes = elements(reader, Over::Edges, &chosen, name, chosen.span)?;
    if parser.accept_word("along") {
        let start = parser.peek().span;
        let mut axes = [false; 3];
        loop {
            let (axis, _) = one_of(parser, &AXES, "an axis")?;
            AXES.iter().zip(&mut axes).for_each(|(other, along)| *along |= *other == axis);
            if !parser.accept(",") {
                break;
            }
        }
        let places = reader.meshes[chosen.mesh].moving.mesh.nodes();
        let edges = nodes.as_chunks::<2>().0.iter();
        nodes = edges
            .filter(|edge| axis_of(edge.map(|node| places[node as usize])).is_some_and(|axis| axes[axis]))
            .flatten()
            .copied()
            .collect();
        if nodes.is_empty() {
            let wrong = format!("no edge of `{}` is along there at rest", chosen.name);
            return Err(Diagnostic::at(start.to(parser.previous()), wrong));
        }
    }
    Ok(Values { chosen, field: Field::lengths(reader.graph).renamed(name), nodes, sums: Sums::Each })
}

/// The axis that an edge is along, if it is along one.
fn axis_of([a, b]: [Vector; 2]) -> Option<usize> {
    let along: Vector = std::array::from_fn(|axis| (b[axis] - a[axis]).abs());
    let longest = along.iter().fold(0.0f64, |most, x| most.max(*x));
    let mut axes = (0..3).filter(|&axis| along[axis] > 1e-9 * longest);
    axes.next().filter(|_| axes.next().is_none())
}

/// The volume of chosen tetrahedra together, or what a closed surface encloses.
fn volume<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Values<'g>, Diagnostic> {
    let chosen = selection(reader, parser, &FOLLOWING)?;
    let nodes = match chosen.all {
        true => {
            let mesh = &reader.meshes[chosen.mesh].moving.mesh;
            enclosed_elements(mesh).map_err(|error| refused(chosen.span, &error).help(kinds(mesh)))?
        }
        false => elements(reader, Over::Tetrahedra, &chosen, name, chosen.span)?,
    };
    if parser.peek().kind == Kind::Name && parser.text(parser.peek().span) == "by" {
        return Err(Diagnostic::at(
            parser.peek().span,
            "one volume is kept, so there is nothing to share it by",
        )
        .help(format!("write `keep volumes of {} by …`", chosen.name)));
    }
    Ok(Values { chosen, field: Field::volumes(reader.graph).renamed(name), nodes, sums: Sums::Total })
}

/// The volumes of tetrahedra, of cells, or of patches.
fn volumes<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Values<'g>, Diagnostic> {
    let chosen = selection(reader, parser, &FOLLOWING)?;
    // Refuses a mesh without tetrahedra there.
    elements(reader, Over::Tetrahedra, &chosen, name, chosen.span)?;
    let (mesh, among) = (reader.meshes[chosen.mesh].moving.mesh.clone(), chosen.among(reader));
    let inside =
        |cell: &[u32; 4]| among.as_ref().is_none_or(|among| cell.iter().all(|&node| among[node as usize]));
    let (numbers, cells): (Vec<u32>, Vec<[u32; 4]>) =
        (0..).zip(mesh.tetrahedra()).filter(|(_, cell)| inside(cell)).unzip();
    let sums = match parser.accept_word("by") {
        false => Sums::Each,
        true => {
            let token = parser.peek();
            match token.kind == Kind::Name && parser.text(token.span) == "cells" {
                true => {
                    parser.advance();
                    let Some(each) = reader.meshes[chosen.mesh].per_cell else {
                        let wrong = format!("`{}` is not made of cells", chosen.name);
                        return Err(Diagnostic::at(token.span, wrong).help(
                            "a box or a beam is; elsewhere say what elements of a patch have in common, as `by floor(2*z)`",
                        ));
                    };
                    Sums::Patches(numbers.iter().map(|number| number / each).collect())
                }
                false => Sums::Patches(patches(reader, parser, &cells, mesh.nodes())?),
            }
        }
    };
    let nodes = cells.into_flattened();
    Ok(Values { chosen, field: Field::volumes(reader.graph).renamed(name), nodes, sums })
}

/// Elements whose centres give an expression one value are one patch; patches are in the order of these values.
fn patches<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    cells: &[[u32; 4]],
    places: &[Vector],
) -> Result<Vec<u32>, Diagnostic> {
    let start = parser.peek().span;
    let value = reader.of_place(parser, |reader, parser| reader.value(parser))?;
    let span = start.to(parser.previous());
    let value = value.scalar().map_err(|found| {
        Diagnostic::at(
            span,
            format!("`cells` or a number for each place is expected here, as `floor(2*z)`, not {found}"),
        )
    })?;
    let centre = |cell: &[u32; 4]| -> Vector {
        std::array::from_fn(|axis| cell.iter().map(|&node| places[node as usize][axis]).sum::<f64>() / 4.0)
    };
    let values = reader.at_places(&[value], span, &cells.iter().map(centre).collect::<Vec<_>>())?;
    let mut sorted = values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    Ok(values
        .iter()
        .map(|value| sorted.partition_point(|other| other.total_cmp(value).is_lt()) as u32)
        .collect())
}

/// A value of one's own.
fn own<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Values<'g>, Diagnostic> {
    let named = named_elements(reader, parser, name)?;
    let together = parser.accept_word("in");
    if together {
        reader.word(parser, "all", "`all`: the sum over all elements")?;
    }
    reader.sign(parser, "=", "`=` and the value of an element that is kept")?;
    let start = parser.peek().span;
    let field = of_element(reader, parser, name, &named, "what is kept")?;
    let inputs =
        reader.names.iter().filter(|(_, (role, _))| *role == Role::Input).map(|(name, _)| name.as_str());
    let driven = ["t"].into_iter().chain(inputs).find(|name| field.depends_on(reader.graph.symbol(name)));
    if let Some(name) = driven {
        let wrong = format!("this depends on `{name}`, but is kept as it is at rest");
        return Err(Diagnostic::at(start.to(parser.previous()), wrong)
            .help("leave it out; nodes that move in a given way are said by `fix NODES at PLACE`"));
    }
    let sums = if together { Sums::Total } else { Sums::Each };
    Ok(Values { chosen: named.chosen, field, nodes: named.nodes, sums })
}

/// Leaves out elements of which no node can move: they are kept as they are.
fn movable<'g>(reader: &Reader<'g, '_>, values: Values<'g>, span: Span) -> Result<Values<'g>, Diagnostic> {
    let Values { chosen, field, nodes, sums } = values;
    let (entry, arity) = (&reader.meshes[chosen.mesh], field.over().arity());
    let coordinates = |element: &[u32]| -> Vec<Fixed> {
        element.iter().flat_map(|&node| &entry.fixed[3 * node as usize..][..3]).copied().collect()
    };
    let (mut left, mut patches) = (Vec::with_capacity(nodes.len()), Vec::new());
    for (number, element) in nodes.chunks_exact(arity).enumerate() {
        let fixed = coordinates(element);
        if fixed.contains(&Fixed::Free) {
            left.extend_from_slice(element);
            if let Sums::Patches(all) = &sums {
                patches.push(all[number]);
            }
        } else if fixed.contains(&Fixed::Moved) {
            let wrong = format!(
                "all nodes of element {number} of the {} are moved as `fix` says, which changes what is kept",
                field.over().name()
            );
            return Err(Diagnostic::at(span, wrong).help("leave such elements out by `where CONDITION`"));
        }
    }
    if left.is_empty() {
        let wrong = format!("all nodes here of `{}` are fixed, so there is nothing to keep", chosen.name);
        return Err(Diagnostic::at(span, wrong).help("remove it"));
    }
    let sums = if let Sums::Patches(_) = sums { Sums::Patches(patches) } else { sums };
    Ok(Values { chosen, field, nodes: left, sums })
}

/// `attach [NAME:] NODES to BODY [at [X, Y, Z]]` and `attach [NAME:] MESH[NUMBER] to POINT`
pub(super) fn attach<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let name = constraint_name(reader, parser, "attach")?;
    let chosen = selection(reader, parser, &["to"])?;
    reader.word(parser, "to", "`to` and a body")?;
    let target = parser.peek().span;
    let points = match reader.names.get(parser.text(target)) {
        Some((Role::Body, _)) => of_body(reader, parser, &chosen)?,
        _ => {
            let end = end(reader, parser)?;
            let [_] = chosen.nodes[..] else {
                let (count, mesh) = (chosen.nodes.len(), &chosen.name);
                return Err(Diagnostic::at(
                    chosen.span,
                    format!("{count} nodes of `{mesh}` cannot all be at one point"),
                )
                .help(format!("name one node, as `{mesh}[0]`, or attach them to a body")));
            };
            vec![end.point]
        }
    };
    let span = start.to(parser.previous());
    let mut constraints = Vec::new();
    for (&node, point) in chosen.nodes.iter().zip(points) {
        let entry = &reader.meshes[chosen.mesh];
        if entry.fixed[3 * node as usize..][..3].iter().all(|fixed| *fixed != Fixed::Free) {
            let wrong =
                format!("node {node} of `{}` is fixed, and cannot be attached to what moves", chosen.name);
            return Err(Diagnostic::at(chosen.span, wrong).help("leave it out, or do not fix it"));
        }
        let own = [0, 1, 2].map(|axis| entry.block.symbol(node as usize, axis));
        let joint = format!("{name}[{node}]");
        let model = &mut reader.setup.model;
        let own = model.anchor(own);
        model.ball(&joint, &own, &point).map_err(|error| refused_body(span, error))?;
        constraints.extend(AXES.map(|axis| suffixed(&joint, axis)));
        reader.meshes[chosen.mesh].bound[node as usize] = Some(span);
    }
    mark(reader, &name, &constraints, span);
    Ok(())
}

/// `BODY [at [X, Y, Z]]`: a point of the body for each node, which is where the node is at rest, or as said, in the frame of the body.
fn of_body<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    chosen: &Selection,
) -> Result<Vec<Point<'g>>, Diagnostic> {
    let (name, span) = parser.name()?;
    let body = body_named(reader, &name, span)?;
    if body.dimensions() != 3 {
        return Err(Diagnostic::at(span, format!("`{name}` is a body of the plane, and nodes are in space"))
            .help("declare it without `planar`"));
    }
    let mesh = reader.meshes[chosen.mesh].moving.mesh.clone();
    let rest: Vec<Vector> = chosen.nodes.iter().map(|&node| mesh.nodes()[node as usize]).collect();
    let (places, place) = match parser.accept_word("at") {
        false => (rest, span),
        true => {
            let (vector, place) = of_place(reader, parser, &[])?;
            let values: Vec<f64> = reader.at_places(&vector, place, &rest)?;
            (values.as_chunks().0.to_vec(), place)
        }
    };
    let number = |place: Vector| -> [Expr<'g>; 3] { place.map(|x| reader.graph.number(x)) };
    let points = places.into_iter().zip(&chosen.nodes).map(|(at, node)| {
        body.point(number(at)).map_err(|error| {
            let wrong = refused_body(place, error);
            Diagnostic { message: format!("node {node} of `{}`: {}", chosen.name, wrong.message), ..wrong }
        })
    });
    points.collect()
}
