//! The names that statements declare, and those that a statement may use besides.

use super::Reader;
use crate::diagnostic::Diagnostic;
use crate::repeat::{MARK, member};
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Kind, Parser, Span, needs_quotes};
use leastaction_mechanics::{TermKind, constraint_of, coordinate_of, gravity_on};

impl<'g, 's> Reader<'g, 's> {
    /// A name to declare, which must be new.
    pub(crate) fn new_name(
        &self,
        parser: &mut Parser<'g, 's>,
        role: Role,
    ) -> Result<(String, Span), Diagnostic> {
        let mut ahead = parser.clone();
        let (name, span) = ahead.name()?;
        if ahead.peek().kind == Kind::Sign("'") {
            let primed = span.to(ahead.peek().span);
            return Err(Diagnostic::at(primed, format!("`{name}'` cannot be declared"))
                .help(format!("declare `{name}`: its rate `{name}'` comes with it")));
        }
        self.new_name_with_rate(parser, role)
    }

    /// The same, where its rate may follow.
    pub(crate) fn new_name_with_rate(
        &self,
        parser: &mut Parser<'g, 's>,
        role: Role,
    ) -> Result<(String, Span), Diagnostic> {
        let quoted = parser.peek().kind == Kind::Quoted;
        let (name, span) = parser.name()?;
        let bad = |why: &str, help: &str| {
            Err(Diagnostic::at(span, format!("`{name}` cannot be {}: {why}", role.what())).help(help))
        };
        if let Some((first, place)) = self.names.get(&*name) {
            let wrong = Diagnostic::at(span, format!("`{name}` is already {}", first.what()));
            return Err(wrong.related(*place, "declared here").help("choose another name"));
        }
        if self.meshes.iter().any(|entry| entry.moving.fields.iter().any(|field| field.name == *name)) {
            return bad("it is a field", "choose another name");
        }
        if name == "t" {
            return bad("`t` is the time", "choose another name");
        }
        self.check_member(&name, span, role)?;
        if name.starts_with(MARK) {
            return bad("names do not begin like this", "choose another name");
        }
        // In a part that is placed, its name comes first.
        let inner = self.parts.inner(&name).unwrap_or(&name);
        if quoted || inner.contains('.') || inner.contains('[') && member(inner).is_none() {
            return bad("a name is letters, digits and underscores", "choose another name");
        }
        if needs_quotes(inner) {
            return bad("it has a meaning of its own", "choose another name");
        }
        Ok((name.into_owned(), span))
    }

    pub(crate) fn add_coordinate(&mut self, name: &str) {
        self.numbered.insert(name.to_owned(), self.coordinates.len());
        self.coordinates.push(name.to_owned());
    }

    pub(crate) fn declare(&mut self, name: &str, span: Span, role: Role) {
        self.names.insert(name.to_owned(), (role, span));
        self.add_member(name, span, role);
        self.setup.source_map.mark(Mention::Name, name, span);
        if matches!(role, Role::Particle | Role::Body) {
            self.setup.source_map.mark(Mention::Weight, &gravity_on(name), span);
        }
    }

    /// Gives the names of multipliers that a statement uses their meaning, and those of energies and of momenta without a name of their own if it may use them, unless they
    /// have another one.
    pub(super) fn measure(&mut self, named: &[(&str, Kind, Kind)], energies: bool) -> Vec<String> {
        let mut measured = Vec::new();
        for (name, ..) in named {
            let name = name.trim_matches('`');
            let looks = energies && (self.energies.contains(name) || self.is_unnamed_momentum(name));
            let has_meaning = looks || self.is_multiplier(name);
            if has_meaning && self.scope.get(name).is_none() {
                self.scope.define(name, self.graph.symbol(name));
                measured.push(name.to_owned());
            }
        }
        measured
    }

    /// Whether a name is that of an energy, or `lambda_` or `reaction_` with that of a constraint.
    pub(crate) fn is_measured(&self, name: &str) -> bool {
        self.energies.contains(name) || self.is_multiplier(name)
    }

    /// Whether a name is that of a momentum which is called after its coordinate, as nothing else names it.
    pub(crate) fn is_unnamed_momentum(&self, name: &str) -> bool {
        let coordinate = coordinate_of(name).and_then(|coordinate| self.numbered.get(coordinate));
        coordinate.is_some_and(|&i| i >= self.momenta)
    }

    fn is_multiplier(&self, name: &str) -> bool {
        constraint_of(name).is_some_and(|name| self.setup.model.has_constraint(name))
    }

    /// Declares the name of a term of the energies.
    pub(crate) fn declare_energy(&mut self, kind: &str, name: &str) {
        self.energies.extend([format!("{kind}.{name}"), name.to_owned()]);
    }

    /// The name of a term, `NAME =`, if there is one.
    pub(crate) fn label(
        &self,
        parser: &mut Parser<'g, 's>,
        sign: &'static str,
    ) -> Result<Option<String>, Diagnostic> {
        let named = matches!(parser.peek().kind, Kind::Name | Kind::Quoted);
        if !named || parser.peek_next().kind != Kind::Sign(sign) {
            return Ok(None);
        }
        let (name, _) = parser.name()?;
        parser.advance();
        Ok(Some(name.into_owned()))
    }

    /// The name of a term, or one made of its kind and a number: `constraint`, `constraint2`.
    pub(crate) fn term_name(
        &mut self,
        parser: &mut Parser<'g, 's>,
        mention: Mention,
        sign: &'static str,
    ) -> Result<String, Diagnostic> {
        let place = parser.peek().span;
        match self.label(parser, sign)? {
            Some(name) => match self.setup.source_map.find(mention, &name) {
                Some(first) => {
                    Err(Diagnostic::at(place, format!("there are two {} `{name}`", plural(mention)))
                        .related(first, "the first one")
                        .help("rename one of them"))
                }
                None => Ok(name),
            },
            None => Ok(self.next_name(match mention {
                Mention::Term(kind) => kind.word(),
                _ => "event",
            })),
        }
    }

    /// A name made of a kind and a number.
    pub(crate) fn next_name(&mut self, kind: &'static str) -> String {
        let count = self.unnamed.entry(kind).or_insert(0);
        *count += 1;
        if *count == 1 { kind.to_owned() } else { format!("{kind}{count}") }
    }
}

/// Terms of a kind, in words.
fn plural(mention: Mention) -> &'static str {
    match mention {
        Mention::Term(TermKind::Kinetic) => "kinetic energies",
        Mention::Term(TermKind::Potential) => "potential energies",
        Mention::Term(TermKind::Lagrangian) => "terms of the Lagrangian",
        Mention::Term(TermKind::Hamiltonian) => "terms of the Hamiltonian",
        Mention::Term(TermKind::Dissipation) => "dissipations",
        Mention::Term(TermKind::Constraint) => "constraints",
        _ => "events",
    }
}
