//! Sums of very many terms, which are not written out: one formula, and lists of what stands in its places.
//!
//! The terms of a sum are read once, with symbols in place of what depends on indices: `x[i+1]` is a slot, and so is `i`. For each choice of
//! indices a slot is a coordinate, a number or a parameter, or an expression of a form that all members of the array share. Those are the lists of
//! [`Elements`]. Pairs in space are not even listed, if they are all pairs or those within a cut-off.

mod form;
mod index;
mod pairs;
mod terms;

use super::clause::Clause;
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, symbols_in};
use leastaction_expr::{Expr, Parser, Span, Token};
use leastaction_mechanics::{Elements, Energy, TermKind};

/// Sums of more tokens than this are not written out. Elements then start sooner (`cargo bench` is not needed to see it: 40 atoms by pairs took 0.6 s, 90 by elements 0.1 s), and a step costs no more.
pub(super) const MOST_TOKENS: usize = 6_000;

/// More terms than this are refused where they must be listed.
const MOST_TERMS: usize = 20_000_000;

/// What names begin with that stand for slots and sums: nothing that is declared does.
pub(crate) const MARK: char = 'ˢ';

/// A sum that is not written out.
#[derive(Clone)]
pub(crate) struct Many<'g, 's> {
    /// The statement in which it stands.
    template: Parser<'g, 's>,
    clause: Clause,
    body: Vec<Token>,
    span: Span,
}

impl<'g, 's> Many<'g, 's> {
    pub(super) fn new(
        template: &Parser<'g, 's>,
        clause: &Clause,
        body: &[Token],
        span: Span,
    ) -> Many<'g, 's> {
        Many { template: template.clone(), clause: clause.clone(), body: body.to_vec(), span }
    }
}

/// The name by which a sum stands in its statement.
pub(super) fn name_of(number: usize) -> String {
    format!("{MARK}sum[{number}]")
}

impl<'g, 's> Reader<'g, 's> {
    /// Takes the sums of very many terms out of an energy, or a dissipation, and adds them to the model. What is left is returned, if anything is.
    pub(crate) fn without_many(
        &mut self,
        kind: TermKind,
        name: &str,
        value: Expr<'g>,
        span: Span,
    ) -> Result<Option<Expr<'g>>, Diagnostic> {
        if self.many.is_empty() {
            return Ok(Some(value));
        }
        let many = std::mem::take(&mut self.many);
        let names: Vec<String> = (0..many.len()).map(name_of).collect();
        let sums: Vec<Expr<'g>> = names.iter().map(|name| self.graph.symbol(name)).collect();
        let mut rest = value;
        let mut number = 0;
        for (sum, many) in sums.iter().zip(many) {
            let coefficient = value.derivative(*sum);
            let still = |symbol: &Expr<'g>| {
                *symbol == self.setup.model.time() || self.parameters.contains_key(&symbol.id())
            };
            if !symbols_in(coefficient).iter().all(still) {
                return Err(Diagnostic::at(many.span, "this sum has too many terms to be part of another expression")
                    .help("state it as an energy of its own, such as `potential NAME = sum(…)`; numbers and parameters may multiply it"));
            }
            if coefficient.as_number() == Some(0.0) {
                continue;
            }
            rest = rest.substitute(&[(*sum, self.graph.number(0.0))]);
            for energy in self.energies_of(&many, coefficient, kind)? {
                number += 1;
                let own = if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
                self.add_many(kind, &own, energy, span);
            }
        }
        if rest.as_number() == Some(0.0) {
            return Ok(None);
        }
        if number > 0 {
            let own = format!("{name} ({})", number + 1);
            self.setup.source_map.mark(crate::source_map::Mention::Term(kind), &own, span);
            match kind {
                TermKind::Dissipation => self.setup.model.dissipation(&own, rest),
                _ => self.setup.model.potential(&own, rest),
            }
            return Ok(None);
        }
        Ok(Some(rest))
    }

    fn add_many(&mut self, kind: TermKind, name: &str, energy: Energy<'g>, span: Span) {
        self.setup.source_map.mark(crate::source_map::Mention::Term(kind), name, span);
        let model = &mut self.setup.model;
        match (kind, energy) {
            (TermKind::Dissipation, Energy::Elements(elements)) => model.dissipation(name, elements),
            (TermKind::Dissipation, _) => unreachable!("dissipation is one of elements"),
            (_, Energy::Elements(elements)) => model.potential(name, elements),
            (_, Energy::Formula(energy)) => model.potential(name, energy),
            (_, Energy::Opaque(opaque)) => model.potential(name, opaque),
        }
        if kind != TermKind::Dissipation {
            self.declare_energy(kind.word(), name);
        }
    }

    fn energies_of(
        &mut self,
        many: &Many<'g, 's>,
        coefficient: Expr<'g>,
        kind: TermKind,
    ) -> Result<Vec<Energy<'g>>, Diagnostic> {
        let term = self.term_of(many)?;
        if kind != TermKind::Dissipation
            && let Some(pairs) = self.pairs_of(many, &term, coefficient)?
        {
            return Ok(vec![pairs]);
        }
        let all = self.elements_of(many, &term, coefficient, kind)?;
        Ok(all.into_iter().map(Energy::Elements).collect::<Vec<Energy<'g>>>())
    }
}

/// Elements with a list of coordinates.
type Lists<'g> = Vec<Elements<'g>>;
