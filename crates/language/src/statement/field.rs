//! Energies of elements: `field`.

use super::clause::twice;
use super::declare::only;
use super::mesh::no_material;
use super::run::hyphenated;
use super::selection::{Selection, condition, selection};
use crate::diagnostic::Diagnostic;
use crate::meshes::MeshField;
use crate::reader::{AXES, Reader};
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, Value as Read, nearest};
use leastaction_field::{Card, FIELDS, Field, FieldError, Over, Per, Value, Vector};
use leastaction_mechanics::{Energy, TermKind};

type Outcome = Result<(), Diagnostic>;

/// More elements than this are refused: of pairs there are soon very many.
const MOST_ELEMENTS: u64 = 50_000_000;

/// `field NAME KIND on MESH [GROUP | where CONDITION] PARAMETER VALUE …` and `field NAME on ELEMENTS of MESH [GROUP] (a, b, …) [where CONDITION] = ENERGY`
pub(super) fn field<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = parser.name()?;
    let name = name.into_owned();
    if let Some(first) = reader.setup.source_map.find(Mention::Term(TermKind::Potential), &name) {
        return Err(Diagnostic::at(span, format!("there are two potential energies `{name}`"))
            .related(first, "the first one")
            .help("rename one of them"));
    }
    check_name(reader, &name, span)?;
    let (chosen, field, nodes) = match parser.accept_word("on") {
        true => own(reader, parser, &name)?,
        false => shipped(reader, parser, &name)?,
    };
    let entry = &reader.meshes[chosen.mesh];
    let first = entry.moving.first_coordinate as u32;
    let mesh = &entry.moving.mesh;
    let over = field.over();
    let whole = span.to(parser.previous());
    let (energy, elements) = match nodes.is_empty() {
        true => (field.potential(mesh, first), over.most_elements(mesh) as usize),
        false => {
            let energy = field.on_elements(&nodes, mesh.nodes(), first).map(Energy::Elements);
            (energy, nodes.len() / over.arity())
        }
    };
    let energy = energy.map_err(|error| refused(whole, &error))?;
    reader.setup.source_map.mark(Mention::Term(TermKind::Potential), &name, whole);
    match energy {
        Energy::Formula(energy) => reader.setup.model.potential(&name, energy),
        Energy::Elements(elements) => reader.setup.model.potential(&name, elements),
        Energy::Opaque(opaque) => reader.setup.model.potential(&name, opaque),
    }
    reader.declare_energy(TermKind::Potential.word(), &name);
    reader.meshes[chosen.mesh].moving.fields.push(MeshField { name, over, elements });
    Ok(())
}

/// Names that mean something already where outputs are read.
const TAKEN: [&str; 11] =
    ["t", "pi", "π", "inf", "nan", "energy", "kinetic", "potential", "jacobi", "supplied", "dissipated"];

/// Refuses names of fields that outputs would take for something else.
fn check_name(reader: &Reader<'_, '_>, name: &str, span: Span) -> Outcome {
    if let Some((role, place)) = reader.names.get(name) {
        return Err(Diagnostic::at(span, format!("`{name}` is already {}", role.what()))
            .related(*place, "declared here")
            .help("choose another name for the field: outputs call its energy by that"));
    }
    if TAKEN.contains(&name) || reader.scope.get(name).is_some() || reader.is_measured(name) {
        let wrong = format!("`{name}` cannot be a field: it has a meaning of its own in outputs");
        return Err(Diagnostic::at(span, wrong).help("choose another name"));
    }
    Ok(())
}

fn refused(span: Span, error: &FieldError) -> Diagnostic {
    Diagnostic::at(span, error.to_string())
}

/// A field, where it is, and the nodes of its elements.
type Chosen<'g> = (Selection, Field<'g>, Vec<u32>);

/// The nodes of the elements among those that are selected.
fn elements(
    reader: &Reader<'_, '_>,
    over: Over,
    chosen: &Selection,
    name: &str,
    span: Span,
) -> Result<Vec<u32>, Diagnostic> {
    let mesh = &reader.meshes[chosen.mesh].moving.mesh;
    let most = over.most_elements(mesh);
    if most > MOST_ELEMENTS {
        let wrong = format!("`{}` has {most} pairs of nodes, and {MOST_ELEMENTS} are the most", chosen.name);
        return Err(Diagnostic::at(span, wrong).help("choose fewer nodes, or make the mesh coarser"));
    }
    over.among(mesh, name, chosen.among(reader).as_deref()).map_err(|error| {
        let wrong = refused(span, &error);
        match error {
            FieldError::Nothing { .. } => wrong.help(kinds(mesh)),
            _ => wrong,
        }
    })
}

/// What a mesh has elements of.
fn kinds(mesh: &leastaction_field::Mesh) -> String {
    let (tetrahedra, triangles, segments) =
        (mesh.tetrahedra().len(), mesh.triangles().len(), mesh.segments().len());
    format!(
        "the mesh has {} nodes, {segments} segments, {triangles} triangles and {tetrahedra} tetrahedra; fields and what they are over are listed on the page of fields",
        mesh.nodes().len()
    )
}

/// A field that is shipped.
fn shipped<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Chosen<'g>, Diagnostic> {
    let start = parser.peek().span;
    let (kind, kind_span) = hyphenated(parser)?;
    let Some(card) = FIELDS.iter().find(|card| card.name == kind) else {
        let wrong = Diagnostic::at(kind_span, format!("there is no field `{kind}`"));
        return Err(match nearest(&kind, FIELDS.iter().map(|card| card.name)) {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None => {
                let names: Vec<&str> = FIELDS.iter().map(|card| card.name).collect();
                wrong.help(format!("there are {}; one of your own is written `field {name} on ELEMENTS of MESH (a, b) = ENERGY`", names.join(", ")))
            }
        });
    };
    reader.word(parser, "on", "`on` and the mesh")?;
    let taken: Vec<&str> = takes(card);
    let chosen = selection(reader, parser, &taken)?;
    // Pairs within a cut-off are found as they move.
    let near = chosen.all && card.parameters.iter().any(|parameter| parameter.name == "cutoff");
    let nodes = match near {
        true => Vec::new(),
        false => elements(reader, card.over, &chosen, name, start.to(parser.previous()))?,
    };
    let mut given: Vec<(&'static str, Value<'g>, Span)> = Vec::new();
    while parser.peek().kind != Kind::End {
        let token = parser.peek();
        let word = parser.text(token.span);
        let Some(&parameter) = taken.iter().find(|name| token.kind == Kind::Name && **name == word) else {
            let wrong = Diagnostic::at(token.span, format!("the field `{kind}` has no parameter `{word}`"));
            return Err(match nearest(word, taken.iter().copied()) {
                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                None => wrong.help(format!("it has {}", taken.join(", "))),
            });
        };
        parser.advance();
        if let Some((.., first)) = given.iter().find(|(other, ..)| *other == parameter) {
            return Err(twice(parameter, token.span, *first));
        }
        let value = parameter_value(reader, parser, card, parameter, &chosen, &nodes)?;
        given.push((parameter, value, token.span.to(parser.previous())));
    }
    let elastic = ["young", "poisson"].map(|name| given.iter().find(|(other, ..)| *other == name));
    if let [Some((one, _, span)), None] | [None, Some((one, _, span))] = elastic {
        let other = if *one == "young" { "poisson" } else { "young" };
        return Err(Diagnostic::at(*span, format!("`{one}` is given without `{other}`"))
            .help("a material has both, or `lambda` and `mu`"));
    }
    // The masses of nodes are known already.
    let weighs = card.parameters.iter().any(|p| p.name == "mass" && p.per == Per::Node);
    if weighs && !given.iter().any(|(name, ..)| *name == "mass") {
        let Some(material) = &reader.meshes[chosen.mesh].material else {
            return Err(no_material(&chosen.name, chosen.span));
        };
        let unit = material.unit.map_or(Ok(1.0), |unit| reader.known(unit, material.span))?;
        let masses = material.masses.iter().map(|mass| mass * unit).collect();
        given.push(("mass", Value::Nodes(masses), material.span));
    }
    let whole = start.to(parser.previous());
    let values: Vec<_> = given.into_iter().map(|(name, value, _)| (name, value)).collect();
    let field = card.field(reader.graph, &values).map_err(|error| refused(whole, &error))?;
    Ok((chosen, field.renamed(name), nodes))
}

/// The names of the parameters of a field.
fn takes(card: &Card) -> Vec<&'static str> {
    let own = card.parameters.iter().map(|parameter| parameter.name);
    let elastic = own.clone().any(|name| name == "mu") && !own.clone().any(|name| name == "young");
    own.chain(["young", "poisson"].into_iter().filter(|_| elastic)).collect()
}

/// What a parameter is: one for all, or, where x, y and z are in it, one for each node or element.
fn parameter_value<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    card: &Card,
    parameter: &str,
    chosen: &Selection,
    nodes: &[u32],
) -> Result<Value<'g>, Diagnostic> {
    let start = parser.peek().span;
    let value = reader.of_place(parser, |reader, parser| reader.value(parser))?;
    let span = start.to(parser.previous());
    let wrong = |found| Diagnostic::at(span, format!("a number is expected here, not {found}"));
    let value = value.scalar().map_err(wrong)?;
    if !reader.depends_on_place(value) {
        let rule = "parameters of fields are numbers, or expressions of parameters of the model";
        only(reader, value, span, &["t"], rule)?;
        check_range(reader, card, parameter, value, span)?;
        return Ok(Value::Uniform(value));
    }
    if matches!(parameter, "young" | "poisson") {
        return Err(Diagnostic::at(span, format!("`{parameter}` is the same for all elements"))
            .help("give `lambda` and `mu` where a material differs from place to place"));
    }
    let mesh = reader.meshes[chosen.mesh].moving.mesh.clone();
    let per_node = card.parameters.iter().any(|p| p.name == parameter && p.per == Per::Node);
    if per_node {
        return Ok(Value::Nodes(reader.at_places(&[value], span, mesh.nodes())?));
    }
    let arity = card.over.arity();
    let centre = |element: &[u32]| -> Vector {
        let sum = |axis: usize| element.iter().map(|&node| mesh.nodes()[node as usize][axis]).sum::<f64>();
        std::array::from_fn(|axis| sum(axis) / arity as f64)
    };
    let centres: Vec<Vector> = nodes.chunks_exact(arity).map(centre).collect();
    Ok(Value::Elements(reader.at_places(&[value], span, &centres)?))
}

/// Refuses values that no material has, and cut-offs that leave nothing, where they are known and do not change with time.
fn check_range<'g>(
    reader: &Reader<'g, '_>,
    card: &Card,
    parameter: &str,
    value: Expr<'g>,
    span: Span,
) -> Outcome {
    let Ok(value) = reader.evaluate(value) else { return Ok(()) };
    let incompressible = !card.parameters.iter().any(|p| p.name == "lambda");
    let (right, range) = match parameter {
        "young" | "cutoff" => (value > 0.0, "positive"),
        "poisson" if incompressible => (value > -1.0 && value <= 0.5, "above -1, and 0.5 at most"),
        "poisson" => (value > -1.0 && value < 0.5, "above -1 and below 0.5"),
        _ => return Ok(()),
    };
    if right {
        return Ok(());
    }
    let wrong = Diagnostic::at(span, format!("`{parameter}` is {value} here, and must be {range}"));
    Err(match parameter {
        "poisson" if value == 0.5 => wrong.help("0.5 is of a material that keeps its volume: take 0.49"),
        _ => wrong,
    })
}

/// A field of one's own: the places of the nodes of an element have names, and those at rest the same names with 0.
fn own<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Chosen<'g>, Diagnostic> {
    let token = parser.peek();
    let kind = parser.text(token.span);
    let Some(over) = Over::named(kind).filter(|_| token.kind == Kind::Name) else {
        let names: Vec<&str> =
            Over::ALL.iter().filter(|over| **over != Over::ClosedSurface).map(|over| over.name()).collect();
        let wrong = Diagnostic::at(token.span, format!("a mesh has no `{kind}` to put a field on"));
        return Err(match nearest(kind, names.iter().copied()) {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None => wrong.help(format!("there are {}", names.join(", "))),
        });
    };
    parser.advance();
    reader.word(parser, "of", "`of` and the mesh")?;
    let mut chosen = selection(reader, parser, &[])?;
    let place = parser.peek().span;
    let points = points(reader, parser)?;
    let span = place.to(parser.previous());
    if points.len() != over.arity() {
        let (found, expected) = (points.len(), over.arity());
        let nodes = |n: usize| format!("{n} node{}", if n == 1 { "" } else { "s" });
        return Err(Diagnostic::at(
            span,
            format!(
                "each of the {kind} has {}, and {} named here",
                nodes(expected),
                if found == 1 { "one is".to_owned() } else { format!("{found} are") }
            ),
        )
        .help("name each node once, in the order of the mesh"));
    }
    if parser.accept_word("where") {
        if !chosen.all {
            return Err(Diagnostic::at(
                parser.previous(),
                "nodes are chosen by a group or by a condition, not by both",
            ));
        }
        chosen.nodes = condition(reader, parser, chosen.mesh)?;
        chosen.all = false;
    }
    let nodes = elements(reader, over, &chosen, name, chosen.span)?;
    reader.sign(parser, "=", "`=` and the energy of an element")?;
    let mut read = None;
    let field = Field::new(reader.graph, name, over, |element| {
        let places: Vec<_> = (0..over.arity()).map(|node| [element.at(node), element.rest(node)]).collect();
        let found = energy(reader, parser, &points, &places);
        let value = found.as_ref().map_or_else(|_| element.number(0.0), |value| *value);
        read = Some(found);
        value
    });
    match read {
        Some(Err(wrong)) => Err(wrong),
        _ => Ok((chosen, field, nodes)),
    }
}

/// `(a, b, …)`: names of the nodes of an element.
fn points<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Vec<String>, Diagnostic> {
    reader.sign(parser, "(", "names of the nodes of an element in brackets, as `(a, b)`")?;
    let mut names: Vec<String> = Vec::new();
    loop {
        let quoted = parser.peek().kind == Kind::Quoted;
        let (name, span) = parser.name()?;
        let bad = quoted || name.contains(['.', '[']) || name == "t" || name.ends_with('0');
        if bad || reader.graph.symbol(&name).to_string().starts_with('`') {
            return Err(Diagnostic::at(span, format!("`{name}` cannot be the name of a node"))
                .help("choose a name of letters and digits that means nothing else and does not end with 0: `a0` is the place of `a` at rest"));
        }
        if names.iter().any(|other| *other == name) {
            return Err(
                Diagnostic::at(span, format!("two nodes are called `{name}`")).help("rename one of them")
            );
        }
        names.push(name.into_owned());
        if !parser.accept(",") {
            break;
        }
    }
    reader.sign(parser, ")", "`,` or `)`")?;
    Ok(names)
}

/// The energy of an element, in which the nodes have names.
fn energy<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    points: &[String],
    places: &[[[Expr<'g>; 3]; 2]],
) -> Result<Expr<'g>, Diagnostic> {
    let mut hidden: Vec<(String, Option<Read<'g>>)> = Vec::new();
    for (name, [at, rest]) in points.iter().zip(places) {
        for (name, place) in [(name.clone(), at), (format!("{name}0"), rest)] {
            for (axis, &component) in AXES.into_iter().zip(place) {
                let part = format!("{name}.{axis}");
                let before = reader.scope.replace(&part, Some(component.into()));
                hidden.push((part, before));
            }
            let before = reader.scope.replace(&name, Some(place.to_vec().into()));
            hidden.push((name, before));
        }
    }
    let value = reader.scalar(parser);
    for (name, before) in hidden.into_iter().rev() {
        reader.scope.replace(&name, before);
    }
    let (value, span) = value?;
    let own: Vec<String> = places.iter().flatten().flatten().map(ToString::to_string).collect();
    let allowed: Vec<&str> = own.iter().map(String::as_str).chain(["t"]).collect();
    only(
        reader,
        value,
        span,
        &allowed,
        "the energy of an element depends on the places of its nodes, on parameters and on time",
    )?;
    Ok(value)
}
