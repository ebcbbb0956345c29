//! What resists the motion of meshes: `damping`.

use super::clause::{one_of, twice};
use super::declare::only;
use super::field::{elements, refused};
use super::mesh::no_material;
use super::selection::{Selection, selection};
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, nearest};
use leastaction_field::{Field, FieldError, Over};
use leastaction_mechanics::TermKind;

type Outcome = Result<(), Diagnostic>;

const KINDS: [&str; 3] = ["rate", "viscosity", "edges"];

/// `damping MESH rate C`, `damping NODES viscosity ETA [bulk ZETA]`, `damping NODES edges C` and `damping FIELD stiffness BETA`
pub(super) fn damping<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let token = parser.peek();
    let word = parser.text(token.span);
    let whole =
        |entry: &super::MeshEntry<'g>| entry.moving.fields.iter().position(|field| field.name == word);
    let found = reader.meshes.iter().enumerate().find_map(|(mesh, entry)| Some((mesh, whole(entry)?)));
    if let Some((mesh, field)) = found.filter(|_| matches!(token.kind, Kind::Name | Kind::Quoted)) {
        return of_field(reader, parser, mesh, field);
    }
    if token.kind == Kind::Name && reader.mesh_of_name(word).is_none() && reader.node_named(word).is_none() {
        let fields = reader.meshes.iter().flat_map(|entry| &entry.moving.fields);
        let fields = fields.map(|field| field.name.as_str());
        let meshes = reader.meshes.iter().map(|entry| entry.moving.name.as_str());
        if let Some(other) = nearest(word, meshes.chain(fields)) {
            let wrong =
                Diagnostic::at(token.span, format!("there is no mesh or field `{word}`")).unknown(word);
            return Err(wrong.help(format!("did you mean `{other}`?")));
        }
    }
    let chosen = selection(reader, parser, &["rate", "viscosity", "edges", "stiffness"])?;
    let (kind, span) = one_of(parser, &KINDS, "what kind of damping it is").map_err(|wrong| {
        let stiff = parser.peek().kind == Kind::Name && parser.text(parser.peek().span) == "stiffness";
        match stiff {
            true => wrong.help(format!(
                "damping by stiffness is that of a field: name one on `{}` in its place",
                chosen.name
            )),
            false => wrong,
        }
    })?;
    let (value, place) = resistance(reader, parser)?;
    let (graph, term) = (reader.graph, format!("{kind} of {}", said(reader, &chosen)));
    let field = match kind {
        "rate" => return by_mass(reader, &chosen, value, span.to(place)),
        "viscosity" => {
            let bulk = match parser.accept_word("bulk") {
                true => resistance(reader, parser)?.0,
                false => graph.number(0.0),
            };
            Field::viscosity(graph, value, bulk)
        }
        _ => Field::dampers(graph, value),
    };
    let over = if kind == "viscosity" { Over::Tetrahedra } else { Over::Edges };
    let nodes = elements(reader, over, &chosen, &term, chosen.span)?;
    let whole = chosen.span.to(parser.previous());
    add(reader, chosen.mesh, &field.renamed(&term), &nodes, whole)
}

/// Nodes as the text says them.
fn said(reader: &Reader<'_, '_>, chosen: &Selection) -> String {
    reader.text_of(chosen.span).to_owned()
}

/// A number that is not negative, or an expression of parameters and time.
fn resistance<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(Expr<'g>, Span), Diagnostic> {
    let (value, place) = reader.scalar(parser)?;
    only(reader, value, place, &["t"], "damping is given by a number, or an expression of parameters")?;
    match reader.evaluate(value) {
        Ok(value) if value < 0.0 || value.is_nan() => {
            Err(Diagnostic::at(place, format!("this is {value}: damping is 0 or positive"))
                .help("a negative one would drive the motion; write `force` for that"))
        }
        _ => Ok((value, place)),
    }
}

/// Adds dissipation over elements, once of its name.
fn add<'g>(
    reader: &mut Reader<'g, '_>,
    mesh: usize,
    field: &Field<'g>,
    nodes: &[u32],
    span: Span,
) -> Outcome {
    let moving = &reader.meshes[mesh].moving;
    let found = field.on_elements(nodes, moving.mesh.nodes(), moving.first_coordinate as u32);
    let found = found.map_err(|error| refused(span, &error))?;
    if let Some(first) =
        reader.setup.source_map.mark(Mention::Term(TermKind::Dissipation), field.name(), span)
    {
        return Err(twice("damping", span, first));
    }
    reader.setup.model.dissipation(field.name(), found);
    Ok(())
}

/// `FIELD stiffness BETA`: in proportion to the stiffness of a field at rest.
fn of_field<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    mesh: usize,
    number: usize,
) -> Outcome {
    let (name, span) = parser.name()?;
    let name = name.into_owned();
    one_of(parser, &["stiffness"], "`stiffness` and what it is multiplied with: a time").map_err(
        |wrong| {
            let help =
                format!("`{name}` is a field: write `damping {name} stiffness BETA`, or name the mesh");
            Diagnostic { help: Some(help), ..wrong }
        },
    )?;
    let (factor, _) = resistance(reader, parser)?;
    let whole = span.to(parser.previous());
    let (field, nodes) = &reader.meshes[mesh].fields[number];
    if nodes.is_empty() {
        let wrong = format!("`{name}` is of pairs that are not listed: it has no stiffness at rest");
        return Err(Diagnostic::at(span, wrong).help("damp the mesh, as `damping MESH rate C`"));
    }
    let damping = field.rest_damping(factor).map_err(|error| {
        let wrong = refused(whole, &error);
        match error {
            FieldError::Implicit { .. } => {
                wrong.help("damp the mesh by `viscosity`, which resists strain as well")
            }
            _ => wrong,
        }
    })?;
    let nodes = nodes.clone();
    add(reader, mesh, &damping.renamed(&format!("stiffness of {name}")), &nodes, whole)
}

/// The force −C m v on each node.
fn by_mass<'g>(reader: &mut Reader<'g, '_>, chosen: &Selection, rate: Expr<'g>, span: Span) -> Outcome {
    let entry = &reader.meshes[chosen.mesh];
    if entry.material.is_none() {
        return Err(no_material(&chosen.name, chosen.span));
    }
    if !chosen.all {
        return Err(Diagnostic::at(chosen.span, "a rate is that of a whole mesh")
            .help(format!("write `damping {} rate C`", chosen.name)));
    }
    let (term, span) = (format!("damping of {}", said(reader, chosen)), chosen.span.to(span));
    if let Some(first) = reader.setup.source_map.mark(Mention::Term(TermKind::Dissipation), &term, span) {
        return Err(twice("damping", span, first));
    }
    reader.setup.model.damp_lumped(&term, &chosen.name, rate);
    Ok(())
}
