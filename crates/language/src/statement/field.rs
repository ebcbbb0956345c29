//! Energies of elements: `field`.

use super::clause::twice;
use super::declare::only;
use super::mesh::no_material;
use super::run::hyphenated;
use super::selection::{Selection, condition, selection};
use crate::diagnostic::Diagnostic;
use crate::meshes::MeshField;
use crate::reader::{AXES, Reader};
use crate::setup::Limit;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, Value as Read, nearest};
use leastaction_field::{Card, FIELDS, Field, FieldError, Inversion, Over, Per, Value, Vector};
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
    let mut ahead = parser.clone();
    let (chosen, field, mut nodes) = match parser.accept_word("on") {
        true => own(reader, parser, &name)?,
        false => shipped(reader, parser, &name)?,
    };
    let card = hyphenated(&mut ahead).ok().and_then(|(kind, _)| FIELDS.iter().find(|card| card.name == kind));
    let inversion = card.map_or(Inversion::Unnoticed, Card::inversion);
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
    if let (Energy::Elements(_), true) = (&energy, nodes.is_empty()) {
        nodes = over.of(&reader.meshes[chosen.mesh].moving.mesh);
    }
    match energy {
        Energy::Formula(energy) => reader.setup.model.potential(&name, energy),
        Energy::Elements(elements) => reader.setup.model.potential(&name, elements),
        Energy::Opaque(opaque) => reader.setup.model.potential(&name, opaque),
    }
    reader.declare_energy(TermKind::Potential.word(), &name);
    let entry = &mut reader.meshes[chosen.mesh];
    entry.moving.fields.push(MeshField { name, over, elements, inversion });
    entry.fields.push((field, nodes));
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

pub(super) fn refused(span: Span, error: &FieldError) -> Diagnostic {
    Diagnostic::at(span, error.to_string())
}

/// A field, where it is, and the nodes of its elements.
type Chosen<'g> = (Selection, Field<'g>, Vec<u32>);

/// The nodes of the elements among those that are selected.
pub(super) fn elements(
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
        let (FieldError::Nothing { over: what, .. }, mesh_name) = (&error, &chosen.name) else {
            return refused(span, &error);
        };
        match over.of(mesh).is_empty() {
            true => Diagnostic::at(span, format!("this is over {what}, and `{mesh_name}` has none"))
                .help(kinds(mesh)),
            false => Diagnostic::at(
                span,
                format!("`{mesh_name}` has no {what} of which all nodes are chosen here"),
            )
            .help("an element is taken if all of its nodes are: choose more of them"),
        }
    })
}

/// What a mesh has elements of.
pub(super) fn kinds(mesh: &leastaction_field::Mesh) -> String {
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
    // All pairs are listed only if they are few, or have numbers of their own; those within a cut-off are found as they move.
    let mut nodes = match chosen.all && card.over == Over::Pairs {
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
        let value = parameter_value(reader, parser, card, parameter, &chosen, &mut nodes)?;
        given.push((parameter, value, token.span.to(parser.previous())));
    }
    let elastic = ["young", "poisson"].map(|name| given.iter().find(|(other, ..)| *other == name));
    if let [Some((one, _, span)), None] | [None, Some((one, _, span))] = elastic {
        let other = if *one == "young" { "poisson" } else { "young" };
        return Err(Diagnostic::at(*span, format!("`{one}` is given without `{other}`"))
            .help("a material has both, or `lambda` and `mu`"));
    }
    check_bulk(reader, &given)?;
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
    nodes: &mut Vec<u32>,
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
    let ranged = |values: Vec<f64>| match range_of(card, parameter) {
        Some((holds, range)) => match values.iter().find(|value| !holds(**value)) {
            Some(&value) => Err(out_of_range(parameter, value, range, span)),
            None => Ok(values),
        },
        None => Ok(values),
    };
    if per_node {
        return ranged(reader.at_places(&[value], span, mesh.nodes())?).map(Value::Nodes);
    }
    if nodes.is_empty() {
        *nodes = elements(reader, card.over, chosen, card.name, span)?;
    }
    let arity = card.over.arity();
    let centre = |element: &[u32]| -> Vector {
        let sum = |axis: usize| element.iter().map(|&node| mesh.nodes()[node as usize][axis]).sum::<f64>();
        std::array::from_fn(|axis| sum(axis) / arity as f64)
    };
    let centres: Vec<Vector> = nodes.chunks_exact(arity).map(centre).collect();
    ranged(reader.at_places(&[value], span, &centres)?).map(Value::Elements)
}

/// Refuses values that no material has, and cut-offs that leave nothing, where they are known and do not change with time; with other parameters they are looked at again.
fn check_range<'g>(
    reader: &mut Reader<'g, '_>,
    card: &Card,
    parameter: &str,
    value: Expr<'g>,
    span: Span,
) -> Outcome {
    let (Ok(known), Some((holds, range))) = (reader.evaluate(value), range_of(card, parameter)) else {
        return Ok(());
    };
    if !holds(known) {
        return Err(out_of_range(parameter, known, range, span));
    }
    if value.as_number().is_none() {
        reader.setup.limits.push(Limit { name: parameter.to_owned(), value, holds, range });
    }
    Ok(())
}

/// Whether a value is possible, and which are, in words.
type Range = (fn(f64) -> bool, &'static str);

/// The values that a parameter may have, if not all.
fn range_of(card: &Card, parameter: &str) -> Option<Range> {
    let incompressible = !card.parameters.iter().any(|p| p.name == "lambda");
    Some(match parameter {
        "young" | "cutoff" | "thickness" | "sigma" | "kappa" | "mass" => (|x| x > 0.0, "positive"),
        "mu" | "stiffness" | "bulk" | "tension" | "softening" | "epsilon" | "depth" | "r0" => {
            (|x| x >= 0.0, "0 or positive")
        }
        "poisson" if incompressible => (|x| x > -1.0 && x <= 0.5, "above -1, and 0.5 at most"),
        "poisson" => (|x| x > -1.0 && x < 0.5, "above -1 and below 0.5"),
        _ => return None,
    })
}

fn out_of_range(parameter: &str, value: f64, range: &str, span: Span) -> Diagnostic {
    let wrong = Diagnostic::at(span, format!("`{parameter}` is {value} here, and must be {range}"));
    match parameter {
        "poisson" if value == 0.5 => wrong.help("0.5 is of a material that keeps its volume: take 0.49"),
        _ => wrong,
    }
}

/// Refuses a bulk modulus λ + 2μ/3 that is negative, where both are known: such a material has no stable shape.
fn check_bulk<'g>(reader: &mut Reader<'g, '_>, given: &[(&'static str, Value<'g>, Span)]) -> Outcome {
    let uniform = |name: &str| {
        given.iter().find_map(|(other, value, span)| match value {
            Value::Uniform(value) if *other == name => Some((*value, *span)),
            _ => None,
        })
    };
    let (Some((lambda, span)), Some((mu, _))) = (uniform("lambda"), uniform("mu")) else { return Ok(()) };
    let (Ok(known), Ok(shear)) = (reader.evaluate(lambda), reader.evaluate(mu)) else { return Ok(()) };
    if known < -2.0 / 3.0 * shear {
        return Err(Diagnostic::at(span, format!("`lambda` is {known} here, below -2/3 of `mu`, {shear}"))
            .help("a material with a negative bulk modulus has no stable shape: give a larger `lambda`"));
    }
    let value = 3.0 * lambda + 2.0 * mu;
    if value.as_number().is_none() {
        let (name, range) = ("3*lambda + 2*mu".to_owned(), "0 or positive");
        reader.setup.limits.push(Limit { name, value, holds: |x| x >= 0.0, range });
    }
    Ok(())
}

/// A field of one's own: the places of the nodes of an element have names, and those at rest the same names with 0.
fn own<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<Chosen<'g>, Diagnostic> {
    let named = named_elements(reader, parser, name)?;
    reader.sign(parser, "=", "`=` and the energy of an element")?;
    let field = of_element(reader, parser, name, &named, "the energy")?;
    Ok((named.chosen, field, named.nodes))
}

/// Elements of a mesh whose nodes have names.
pub(super) struct NamedElements {
    pub(super) chosen: Selection,
    over: Over,
    points: Vec<String>,
    pub(super) nodes: Vec<u32>,
}

/// `ELEMENTS of MESH [GROUP] (a, b, …) [where CONDITION]`
pub(super) fn named_elements<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
) -> Result<NamedElements, Diagnostic> {
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
    Ok(NamedElements { chosen, over, points, nodes })
}

/// What is said of one element, in terms of its nodes.
pub(super) fn of_element<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
    named: &NamedElements,
    what: &str,
) -> Result<Field<'g>, Diagnostic> {
    let NamedElements { over, points, .. } = named;
    let mut read = None;
    let field = Field::new(reader.graph, name, *over, |element| {
        let places: Vec<_> = (0..over.arity()).map(|node| [element.at(node), element.rest(node)]).collect();
        let found = value_of(reader, parser, points, &places, what);
        let value = found.as_ref().map_or_else(|_| element.number(0.0), |value| *value);
        read = Some(found);
        value
    });
    match read {
        Some(Err(wrong)) => Err(wrong),
        _ => Ok(field),
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

/// What is said of an element, in which the nodes have names.
fn value_of<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    points: &[String],
    places: &[[[Expr<'g>; 3]; 2]],
    what: &str,
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
    let rule = format!("{what} of an element depends on the places of its nodes, on parameters and on time");
    only(reader, value, span, &allowed, &rule)?;
    Ok(value)
}
