//! What happens to nodes of meshes: `fix`, and `start` and `force` of meshes.

use super::clause::{one_of, twice};
use super::declare::only;
use super::mesh::Fixed;
use super::selection::{PLACE, Selection, selection};
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader};
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, substitute};
use leastaction_mechanics::{TermKind, reaction};

type Outcome = Result<(), Diagnostic>;

/// `fix [NAME:] MESH GROUP | where CONDITION [along AXIS, …] [at [X, Y, Z]]`
pub(super) fn fix<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let place = parser.peek().span;
    let name = match reader.label(parser, ":")? {
        Some(name) => name,
        None => reader.next_name("fix"),
    };
    let known = AXES.iter().find_map(|axis| {
        reader.setup.source_map.find(Mention::Term(TermKind::Constraint), &format!("{name}.{axis}"))
    });
    if let Some(first) = known {
        return Err(Diagnostic::at(place, format!("two things are fixed under the name `{name}`"))
            .related(first, "the first one")
            .help("rename one of them"));
    }
    let chosen = selection(reader, parser, &["along", "at"])?;
    let mut axes = [true; 3];
    let along = parser.accept_word("along");
    if along {
        axes = [false; 3];
        loop {
            let (axis, span) = one_of(parser, &AXES, "an axis")?;
            let index = AXES.iter().position(|other| *other == axis).unwrap_or(0);
            if std::mem::replace(&mut axes[index], true) {
                return Err(
                    Diagnostic::at(span, format!("`{axis}` is named twice")).help("remove one of them")
                );
            }
            if !parser.accept(",") {
                break;
            }
        }
    }
    let moved = if parser.accept_word("at") { Some(of_place(reader, parser, &["t"])?) } else { None };
    if chosen.all && !along && moved.is_none() {
        return Err(Diagnostic::at(
            chosen.span,
            format!("all nodes of `{}` would be fixed, so nothing moves", chosen.name),
        )
        .help(format!("say which: `fix {} GROUP`, or `fix {} where z > 1`", chosen.name, chosen.name)));
    }
    hold(reader, &name, &chosen, axes, moved)
}

/// Holds coordinates of nodes where they are at rest, or at expressions of that place and time. They are no unknowns then.
fn hold<'g>(
    reader: &mut Reader<'g, '_>,
    name: &str,
    chosen: &Selection,
    axes: [bool; 3],
    moved: Option<(Vec<Expr<'g>>, Span)>,
) -> Outcome {
    let place = reader.place_symbols();
    let entry = &mut reader.meshes[chosen.mesh];
    let mut values: [Vec<(Expr<'g>, Expr<'g>)>; 3] = Default::default();
    for &node in &chosen.nodes {
        let rest = entry.moving.mesh.nodes()[node as usize];
        let held: Vec<Expr<'g>> = match &moved {
            Some((at, _)) => {
                let known: Vec<_> =
                    place.iter().zip(rest).map(|(&symbol, x)| (symbol, symbol.like(x))).collect();
                substitute(at, &known)
            }
            None => rest.map(|x| place[0].like(x)).to_vec(),
        };
        for axis in (0..3).filter(|&axis| axes[axis]) {
            let now = if moved.is_some() { Fixed::Moved } else { Fixed::AtRest };
            if let Some(bound) = entry.bound[node as usize] {
                let wrong = format!("node {node} of `{}` is kept or attached above", chosen.name);
                return Err(Diagnostic::at(chosen.span, wrong)
                    .related(bound, "here, where it must be known what is fixed")
                    .help("write `fix` above that"));
            }
            match std::mem::replace(&mut entry.fixed[3 * node as usize + axis], now) {
                Fixed::Free => {}
                // It is there already.
                Fixed::AtRest if now == Fixed::AtRest => continue,
                Fixed::AtRest | Fixed::Moved => {
                    let wrong =
                        format!("node {node} of `{}` is fixed already, and in another way", chosen.name);
                    return Err(Diagnostic::at(chosen.span, wrong).help("say once where it is"));
                }
            }
            values[axis].push((entry.block.symbol(node as usize, axis), held[axis]));
        }
    }
    for (axis, coordinates) in AXES.into_iter().zip(values).filter(|(_, held)| !held.is_empty()) {
        let along = format!("{name}.{axis}");
        reader.setup.source_map.mark(Mention::Term(TermKind::Constraint), &along, chosen.span);
        reader.energies.insert(reaction(&along));
        reader.setup.model.hold(&along, coordinates);
    }
    Ok(())
}

/// A vector of three, in which x, y and z are the place of a node at rest, and these names may stand.
pub(super) fn of_place<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    allowed: &[&str],
) -> Result<(Vec<Expr<'g>>, Span), Diagnostic> {
    let (components, span) = reader.of_place(parser, |reader, parser| reader.vector(parser))?;
    if components.len() != 3 {
        let found = components.len();
        return Err(Diagnostic::at(
            span,
            format!(
                "a vector of 3 is expected here, not {}",
                if found == 1 { "a number".to_owned() } else { format!("one of {found}") }
            ),
        ));
    }
    let allowed: Vec<&str> = allowed.iter().chain(&PLACE).copied().collect();
    for &component in &components {
        only(
            reader,
            component,
            span,
            &allowed,
            "use numbers, parameters, and `x`, `y` and `z`, the place of a node at rest",
        )?;
    }
    Ok((components, span))
}

/// `start MESH [GROUP | where CONDITION] [at [X, Y, Z]] [moving [U, V, W]]`
pub(super) fn start<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    const WORDS: [&str; 2] = ["at", "moving"];
    let chosen = selection(reader, parser, &WORDS)?;
    let mut seen: Vec<(&'static str, Span)> = Vec::new();
    while parser.peek().kind != Kind::End && parser.peek().kind != Kind::Sign(",") {
        let (word, span) = one_of(parser, &WORDS, "where the nodes are, or how they move")?;
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == word) {
            return Err(twice(word, span, *first));
        }
        seen.push((word, span));
        let (vector, place) = of_place(reader, parser, &[])?;
        let mesh = reader.meshes[chosen.mesh].moving.mesh.clone();
        let places: Vec<_> = chosen.nodes.iter().map(|&node| mesh.nodes()[node as usize]).collect();
        let values = reader.at_places(&vector, place, &places)?;
        let entry = &mut reader.meshes[chosen.mesh];
        let (given, what) = match word {
            "at" => (&mut entry.placed, "where node"),
            _ => (&mut entry.pushed, "how node"),
        };
        for &node in &chosen.nodes {
            if std::mem::replace(&mut given[node as usize], true) {
                return Err(Diagnostic::at(
                    chosen.span.to(place),
                    format!("{what} {node} of `{}` starts is said twice", chosen.name),
                )
                .help("say it once for each node"));
            }
        }
        let list = match word {
            "at" => &mut entry.moving.start,
            _ => entry.moving.velocities.get_or_insert_with(|| vec![[0.0; 3]; mesh.nodes().len()]),
        };
        for (&node, value) in chosen.nodes.iter().zip(values.as_chunks().0) {
            list[node as usize] = *value;
        }
    }
    if seen.is_empty() {
        return Err(Diagnostic::from(parser.unexpected("`at` or `moving`")).help(format!(
            "write `start {} at [x, y, 1.1*z]`, or `start {} moving [0, 0, 1]`",
            chosen.name, chosen.name
        )));
    }
    reader.setup.source_map.mark(Mention::Start, &chosen.name, chosen.span);
    Ok(())
}

/// `force MESH [GROUP | where CONDITION] [in all] = [X, Y, Z]`: on each node, or on all of them together in equal shares.
pub(super) fn force<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let chosen = selection(reader, parser, &["in"])?;
    let shared = parser.accept_word("in");
    if shared {
        reader.word(parser, "all", "`all`: the force on all nodes together")?;
    }
    reader.sign(parser, "=", "`=` and the force")?;
    let (vector, span) = reader.of_place(parser, |reader, parser| reader.vector(parser))?;
    if vector.len() != 3 {
        return Err(Diagnostic::at(span, "a force on a node is a vector of 3"));
    }
    let place = reader.place_symbols();
    let entry = &reader.meshes[chosen.mesh];
    let share = if shared { 1.0 / chosen.nodes.len() as f64 } else { 1.0 };
    for &node in &chosen.nodes {
        let rest = entry.moving.mesh.nodes()[node as usize];
        let known: Vec<_> = place.iter().zip(rest).map(|(&symbol, x)| (symbol, symbol.like(x))).collect();
        for (axis, component) in substitute(&vector, &known).into_iter().enumerate() {
            if component.as_number() != Some(0.0) {
                reader.setup.model.force(entry.block.symbol(node as usize, axis), share * component);
            }
        }
    }
    reader.setup.source_map.mark(Mention::Force, &chosen.name, span);
    Ok(())
}

impl<'g> Reader<'g, '_> {
    /// Gives the names of nodes of meshes that a statement uses their meaning: `block[17]`, its components and their rates; and of meshes
    /// their centre of mass and their volume.
    pub(crate) fn members(&mut self, named: &[(&str, Kind, Kind)]) {
        for &(name, ..) in named.iter().filter(|(_, kind, _)| *kind == Kind::Name) {
            if let Some(component) = self.component(name) {
                self.scope.define(name, component);
            }
            if self.meshes.is_empty() {
                continue;
            }
            let whole = name.split_once('.').map_or(name, |(whole, _)| whole);
            if self.scope.get(name).is_some() {
                continue;
            }
            if let Some((mesh, node)) = self.node_named(whole) {
                let block = self.meshes[mesh].block;
                let place: Vec<Expr<'g>> = (0..3).map(|axis| block.symbol(node as usize, axis)).collect();
                for (&x, axis) in place.iter().zip(AXES) {
                    self.scope.define(&format!("{whole}.{axis}'"), self.setup.model.velocity(x));
                }
                self.define(whole, &place.into());
            } else if let Some(mesh) = self.meshes.iter().position(|entry| entry.moving.name == whole) {
                match name.split_once('.').map(|(_, part)| part.split('.').next().unwrap_or("")) {
                    Some("centre") => {
                        if let Some(centre) = self.meshes[mesh].centre() {
                            self.define(&format!("{whole}.centre"), &centre.into());
                        }
                    }
                    Some("volume") => {
                        if let Some(volume) = self.meshes[mesh].volume() {
                            self.define(&format!("{whole}.volume"), &volume.into());
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

impl<'g> Reader<'g, '_> {
    /// The component of a vector that has a name, if `name` is that: `v[2]`.
    fn component(&self, name: &str) -> Option<Expr<'g>> {
        let (base, indices) = crate::repeat::member(name)?;
        let Some(leastaction_expr::Value::Vector(components)) =
            self.scope.get(base).filter(|_| self.scope.get(name).is_none())
        else {
            return None;
        };
        let &[index] = &indices[..] else { return None };
        components.get((index as usize).checked_sub(1)?).copied()
    }
}

impl<'g> super::mesh::MeshEntry<'g> {
    /// The centre of mass, if the masses are known.
    fn centre(&self) -> Option<Vec<Expr<'g>>> {
        let material = self.material.as_ref()?;
        let (graph, total) = (self.block.symbol(0, 0).graph(), material.masses.iter().sum::<f64>());
        let along = |axis: usize| {
            let terms = material
                .masses
                .iter()
                .enumerate()
                .map(|(node, mass)| (mass / total) * self.block.symbol(node, axis));
            graph.sum(terms)
        };
        Some((0..3).map(along).collect())
    }

    /// The volume of the tetrahedra, or that which a surface encloses.
    fn volume(&self) -> Option<Expr<'g>> {
        let at = |node: u32| [0, 1, 2].map(|axis| self.block.symbol(node as usize, axis));
        let minus =
            |a: [Expr<'g>; 3], b: [Expr<'g>; 3]| -> [Expr<'g>; 3] { std::array::from_fn(|i| a[i] - b[i]) };
        let mixed = |a: [Expr<'g>; 3], b: [Expr<'g>; 3], c: [Expr<'g>; 3]| {
            a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        let (mesh, graph) = (&self.moving.mesh, self.block.symbol(0, 0).graph());
        if !mesh.tetrahedra().is_empty() {
            let volume = |cell: &[u32; 4]| {
                let [a, b, c, d] = cell.map(at);
                mixed(minus(b, a), minus(c, a), minus(d, a))
            };
            return Some(graph.sum(mesh.tetrahedra().iter().map(volume)) / 6.0);
        }
        let origin = at(0);
        let cone = |cell: &[u32; 3]| {
            let [a, b, c] = cell.map(|node| minus(at(node), origin));
            mixed(a, b, c)
        };
        (!mesh.triangles().is_empty()).then(|| graph.sum(mesh.triangles().iter().map(cone)) / 6.0)
    }
}
