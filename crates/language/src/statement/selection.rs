//! Nodes of meshes: by a group, by a condition on where they are at rest, or by their numbers.

use super::declare::only;
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader};
use crate::role::Role;
use leastaction_expr::{Expr, Kind, Parser, Span, Value, nearest};
use leastaction_field::{Vector, at_places};

/// The symbols of a place at rest, as they are printed: no text has such names.
pub(super) const PLACE: [&str; 3] = ["`place(x)`", "`place(y)`", "`place(z)`"];

/// Some nodes of a mesh.
pub(super) struct Selection {
    /// The mesh, by its place among those of the text.
    pub(super) mesh: usize,
    pub(super) name: String,
    /// Where it is said.
    pub(super) span: Span,
    pub(super) nodes: Vec<u32>,
    /// Whether these are all nodes because nothing else is said.
    pub(super) all: bool,
}

impl Selection {
    /// Whether each node of the mesh is among them; nothing if all are.
    pub(super) fn among(&self, reader: &Reader<'_, '_>) -> Option<Vec<bool>> {
        if self.all {
            return None;
        }
        let mut among = vec![false; reader.meshes[self.mesh].block.count()];
        self.nodes.iter().for_each(|&node| among[node as usize] = true);
        Some(among)
    }
}

/// The name of a mesh.
pub(super) fn mesh_named<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(usize, String, Span), Diagnostic> {
    let (name, span) = parser.name()?;
    match reader.meshes.iter().position(|entry| entry.moving.name == *name) {
        Some(index) => Ok((index, name.into_owned(), span)),
        None => Err(no_mesh(reader, &name, span)),
    }
}

fn no_mesh(reader: &Reader<'_, '_>, name: &str, span: Span) -> Diagnostic {
    if let Some((role, place)) = reader.names.get(name)
        && *role != Role::Mesh
    {
        return Diagnostic::at(span, format!("`{name}` is {}, and a mesh is expected here", role.what()))
            .related(*place, "declared here");
    }
    let wrong = Diagnostic::at(span, format!("there is no mesh `{name}`")).unknown(name);
    match nearest(name, reader.meshes.iter().map(|entry| entry.moving.name.as_str())) {
        Some(other) => wrong.help(format!("did you mean `{other}`?")),
        None => wrong.help(format!("declare it above, as `mesh {name} box [1, 1, 1] cells [4, 4, 4]`")),
    }
}

/// `MESH[NUMBER]`, `MESH GROUP`, `MESH where CONDITION` or `MESH`. These words may follow.
pub(super) fn selection<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    following: &[&str],
) -> Result<Selection, Diagnostic> {
    let token = parser.peek();
    let text = parser.text(token.span);
    if token.kind == Kind::Name
        && let Some((mesh, node)) = reader.node_named(text)
    {
        parser.advance();
        let name = reader.meshes[mesh].moving.name.clone();
        return Ok(Selection { mesh, name, span: token.span, nodes: vec![node], all: false });
    }
    if let Some(entry) = text.split_once('[').and_then(|(name, _)| reader.mesh_of_name(name)) {
        let (name, count) = (&entry.moving.name, entry.block.count());
        let wrong =
            format!("there is no `{text}`: the mesh `{name}` has {count} nodes, which are counted from 0");
        return Err(
            Diagnostic::at(token.span, wrong).help(format!("the last one is `{name}[{}]`", count - 1))
        );
    }
    let (mesh, name, span) = mesh_named(reader, parser)?;
    let next = parser.peek();
    if next.kind == Kind::Sign("[") {
        let count = reader.meshes[mesh].block.count();
        let wrong = format!("which node of `{name}` is meant is not a number from 0 to {}", count - 1);
        return Err(Diagnostic::at(span.to(next.span), wrong)
            .help(format!("write a number, as `{name}[0]`; the last one is `{name}[{}]`", count - 1)));
    }
    let word = parser.text(next.span);
    if parser.accept_word("where") {
        let nodes = condition(reader, parser, mesh)?;
        return Ok(Selection { mesh, name, span: span.to(parser.previous()), nodes, all: false });
    }
    if matches!(next.kind, Kind::Name | Kind::Quoted) && !following.contains(&word) {
        let (group, place) = parser.name()?;
        let nodes = reader.meshes[mesh].moving.mesh.group_nodes(&group);
        let nodes = nodes.ok_or_else(|| no_group(reader, mesh, &group, place, following))?;
        return Ok(Selection { mesh, name, span: span.to(place), nodes, all: false });
    }
    let nodes = (0..reader.meshes[mesh].block.count() as u32).collect();
    Ok(Selection { mesh, name, span, nodes, all: true })
}

fn no_group(reader: &Reader<'_, '_>, mesh: usize, group: &str, span: Span, following: &[&str]) -> Diagnostic {
    let moving = &reader.meshes[mesh].moving;
    let wrong = Diagnostic::at(span, format!("the mesh `{}` has no group `{group}`", moving.name));
    let groups: Vec<&str> = moving.mesh.groups().iter().map(|group| group.name.as_str()).collect();
    match nearest(group, groups.iter().chain(following).copied()) {
        Some(other) => wrong.help(format!("did you mean `{other}`?")),
        None if groups.is_empty() => {
            wrong.help("it has no groups: choose nodes by where they are at rest, as `where z > 1`")
        }
        None => {
            let known: Vec<String> = groups.iter().take(12).map(|group| format!("`{group}`")).collect();
            wrong.help(format!(
                "it has {}; or choose nodes by where they are at rest, as `where z > 1`",
                known.join(", ")
            ))
        }
    }
}

/// The nodes of a mesh that fulfil a condition on x, y and z, their places at rest.
pub(super) fn condition<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    mesh: usize,
) -> Result<Vec<u32>, Diagnostic> {
    let start = parser.peek().span;
    let value = reader.of_place(parser, |reader, parser| reader.value(parser))?;
    let span = start.to(parser.previous());
    let condition = value.scalar().map_err(|found| {
        Diagnostic::at(span, format!("a condition is expected here, as `z > 1`, not {found}"))
    })?;
    let moving = reader.meshes[mesh].moving.mesh.clone();
    let values = reader.at_places(&[condition], span, moving.nodes())?;
    let nodes: Vec<u32> =
        (0..).zip(&values).filter(|(_, value)| **value != 0.0).map(|(node, _)| node).collect();
    if nodes.is_empty() {
        let extent = |axis: usize| {
            let all = moving.nodes().iter().map(|at| at[axis]);
            let (low, high) =
                all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            format!("{} from {} to {}", AXES[axis], short(low), short(high))
        };
        let name = &reader.meshes[mesh].moving.name;
        return Err(Diagnostic::at(span, format!("no node of `{name}` is there")).help(format!(
            "at rest its nodes have {}, {} and {}",
            extent(0),
            extent(1),
            extent(2)
        )));
    }
    Ok(nodes)
}

impl<'g, 's> Reader<'g, 's> {
    /// The symbols of a place at rest.
    pub(crate) fn place_symbols(&self) -> [Expr<'g>; 3] {
        AXES.map(|axis| self.graph.symbol(&format!("place({axis})")))
    }

    /// Reads something in which x, y and z are the place of a node at rest. Who gave such a name another meaning may mean that, and is asked.
    pub(super) fn of_place<T>(
        &mut self,
        parser: &mut Parser<'g, 's>,
        read: impl FnOnce(&mut Reader<'g, 's>, &mut Parser<'g, 's>) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let tokens = parser.rest().to_vec();
        let symbols = self.place_symbols();
        let hidden: Vec<Option<Value<'g>>> = AXES
            .into_iter()
            .zip(symbols)
            .map(|(axis, symbol)| self.scope.replace(axis, Some(symbol.into())))
            .collect();
        let found = read(self, parser);
        for (axis, value) in AXES.into_iter().zip(hidden) {
            self.scope.replace(axis, value);
        }
        let found = found?;
        let end = parser.previous().end;
        let after = tokens.iter().skip(1).map(|token| token.kind).chain([Kind::End]);
        for (token, after) in tokens.iter().zip(after).take_while(|(token, _)| token.span.end <= end) {
            let name = parser.text(token.span);
            let place = token.kind == Kind::Name && AXES.contains(&name) && after != Kind::Sign("'");
            if let Some((role, declared)) = self.names.get(name).filter(|_| place) {
                let wrong = format!(
                    "`{name}` may be the place of a node at rest here, or the {} `{name}`",
                    role.noun()
                );
                return Err(Diagnostic::at(token.span, wrong).related(*declared, "declared here").help(
                    format!(
                        "rename the {}: here `x`, `y` and `z` are the place of a node at rest",
                        role.noun()
                    ),
                ));
            }
        }
        Ok(found)
    }

    /// Whether an expression depends on the place.
    pub(super) fn depends_on_place(&self, value: Expr<'g>) -> bool {
        let place = self.place_symbols();
        crate::reader::symbols_in(value).iter().any(|symbol| place.contains(symbol))
    }

    /// The values of expressions of a place at rest, for each place one after the other. Parameters have their values, and are fixed here.
    pub(super) fn at_places(
        &self,
        expressions: &[Expr<'g>],
        span: Span,
        places: &[Vector],
    ) -> Result<Vec<f64>, Diagnostic> {
        let symbols = self.place_symbols();
        let allowed = PLACE;
        let mut known = Vec::new();
        for &expression in expressions {
            only(
                self,
                expression,
                span,
                &allowed,
                "this is known when the text is read: use numbers, parameters, and `x`, `y` and `z`, the place of a node at rest",
            )?;
            for symbol in crate::reader::symbols_in(expression) {
                if let Some(&value) = self.parameters.get(&symbol.id()) {
                    known.push((symbol, value));
                    self.fix(&symbol.to_string(), span);
                }
            }
        }
        let values = at_places(expressions, symbols, &known, places)
            .map_err(|error| Diagnostic::at(span, error.to_string()))?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(place) => {
                let (node, value) = (place / expressions.len(), values[place]);
                let at = places[node].map(short).join(", ");
                Err(Diagnostic::at(span, format!("this is {value} at [{at}]"))
                    .help("look for a division by 0, or a root or logarithm of what is not positive"))
            }
        }
    }

    /// The mesh of a name.
    pub(super) fn mesh_of_name(&self, name: &str) -> Option<&super::MeshEntry<'g>> {
        self.meshes.iter().find(|entry| entry.moving.name == name)
    }

    /// The mesh and the node that a name such as `block[17]` stands for.
    pub(crate) fn node_named(&self, name: &str) -> Option<(usize, u32)> {
        let (base, rest) = name.split_once('[')?;
        let number: u32 = rest.strip_suffix(']')?.parse().ok()?;
        let mesh = self.meshes.iter().position(|entry| entry.moving.name == base)?;
        ((number as usize) < self.meshes[mesh].block.count()).then_some((mesh, number))
    }
}

/// Six digits of a number.
fn short(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    rounded.to_string()
}
