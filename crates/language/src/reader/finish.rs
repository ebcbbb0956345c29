//! What follows from the text as a whole, once its last statement is read.

use super::Reader;
use crate::diagnostic::Diagnostic;
use crate::drawing::Part;
use crate::setup::Setup;
use crate::statement::loose_body;
use leastaction_expr::Expr;
use leastaction_mechanics::{Placed, Pose, Term};
use rustc_hash::FxHashMap as HashMap;

impl<'g> Reader<'g, '_> {
    /// Meshes that have no mass.
    pub(super) fn weightless(&self) -> Vec<Diagnostic> {
        let without = self.meshes.iter().filter(|entry| entry.material.is_none());
        let wrong = without.map(|entry| {
            let name = &entry.moving.name;
            let how = if entry.atoms { "mass M" } else { "density RHO" };
            Diagnostic::at(entry.span, format!("the mesh `{name}` has no mass"))
                .help(format!("say what it is made of: `material {name} {how}`"))
        });
        wrong.collect()
    }

    pub(super) fn finish(mut self) -> Setup<'g> {
        self.place_bodies();
        self.lump();
        self.setup.meshes = std::mem::take(&mut self.meshes).into_iter().map(|entry| entry.moving).collect();
        // A mesh may be drawn before its nodes have become particles.
        for part in &mut self.setup.drawing.parts {
            if let Part::Mesh(part) = part {
                let mesh = self.setup.meshes.iter().find(|mesh| mesh.name == part.name);
                part.first = mesh.map_or(part.first, |mesh| mesh.first_place);
            }
        }
        if !self.draws_only {
            crate::picture::complete(&mut self);
        }
        // A state is what people want to see of it; what it is the rate of is recorded anyway.
        let set = std::mem::take(&mut self.set).into_iter().map(|(name, _)| name);
        for name in std::mem::take(&mut self.states).into_iter().chain(set) {
            if !self.setup.outputs.iter().any(|output| output.name == name) {
                let value = self.graph.symbol(&name);
                self.setup.outputs.push(Term { name, value });
            }
        }
        let mut names = self.scope.glossary();
        for Term { name, value } in self.setup.outputs.iter().chain(&self.setup.invariants) {
            if !self.names.contains_key(name) && self.scope.get(name).is_none() {
                names.add(name, *value);
            }
        }
        self.setup.model.set_names(names);
        self.setup.doubts = crate::doubts::doubts(&self);
        self.setup.source_map.source = self.source.to_owned();
        self.setup.source_map.fixed = self.fixed.into_inner();
        self.setup
    }

    /// Bodies of which no start is given start at the origin, their axes along those of the world, unless joints and constraints want them elsewhere.
    fn place_bodies(&mut self) {
        let given: HashMap<String, Expr<'g>> =
            self.setup.start.iter().map(|term| (term.name.clone(), term.value)).collect();
        let model = self.setup.model.clone();
        for body in model.bodies() {
            let origin = if body.dimensions() == 2 { Pose::at([0.0; 2]) } else { Pose::at([0.0; 3]) };
            let origin = origin.holding(body.centre_in_frame());
            let usual: HashMap<&str, f64> = match body.start(&origin) {
                Ok(usual) => usual.into_iter().collect(),
                Err(error) => unreachable!("every body can be at the origin: {error}"),
            };
            let nodes: Vec<Vec<String>> =
                body.nodes().iter().map(|node| node.iter().map(ToString::to_string).collect()).collect();
            let value = |name: &String| usual[name.as_str()];
            let missing = nodes.iter().flatten().filter(|&name| !given.contains_key(name)).count();
            if missing == nodes.iter().flatten().count() {
                self.setup.source_map.unplaced.push(body.name().to_owned());
                self.setup.loose.push(loose_body(body, Placed::Free, None));
            }
            for node in &nodes {
                for (name, centre) in
                    node.iter().zip(&nodes[0]).filter(|(name, _)| !given.contains_key(*name))
                {
                    // What is given by coordinates takes the rest of the body along.
                    let moved =
                        given.get(centre).copied().unwrap_or_else(|| self.graph.number(value(centre)));
                    let value = moved + (value(name) - value(centre));
                    self.setup.start.push(Term { name: name.clone(), value });
                }
            }
        }
    }
}
