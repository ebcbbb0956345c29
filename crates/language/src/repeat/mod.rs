//! Repetition: statements with `for`, sums and products over indices, and arrays.
//!
//! What is repeated is written out, token by token: `b[i-1]` becomes the name `b[2]`, `i` becomes 3, and a sum becomes its terms. What is written out is
//! read like any other statement; its places are traced back to the words that it was written from. Sums of very many terms are not written out

mod arrays;
mod clause;
mod many;
mod write;

pub(crate) use arrays::{Array, base_of, member};
pub(crate) use many::{MARK, Many};

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use clause::Clause;
use leastaction_expr::{Kind, Parser, Span, Token};
use write::Writer;

/// So many bytes are written out at most, for all statements together.
pub(crate) const MOST_WRITTEN: usize = 192 << 20;

/// A statement is repeated so often at most, and an array has so many members.
pub(crate) const MOST_REPEATED: usize = 1_000_000;

/// Particles with so many coordinates, all together, are written out as formulas; more are nodes.
const MOST_WRITTEN_COORDINATES: usize = 400;

/// Statements that cannot be repeated.
const SINGLE: [&str; 11] = [
    "run",
    "gravity",
    "mesh",
    "atoms",
    "material",
    "field",
    "damping",
    "momentum",
    "tolerance",
    "part",
    "include",
];

/// Statements that declare arrays of what they name: `coord x[N]`.
const OF_ARRAYS: [&str; 3] = ["param", "coord", "momentum"];

/// Statements of energies: what is repeated under one name is added up.
const ADDED: [&str; 5] = ["kinetic", "potential", "lagrangian", "hamiltonian", "dissipation"];

/// Statements that were written out: their text, where each begins in it and the last one ends, and its place among all texts.
pub(crate) struct Written<'s> {
    pub(crate) text: &'s str,
    pub(crate) starts: Vec<usize>,
    pub(crate) begins: usize,
}

impl<'g, 's> Reader<'g, 's> {
    /// A statement as its parts that are read one after the other: sizes of arrays may be parameters that the same statement declares.
    pub(crate) fn parted(&self, template: &Parser<'g, 's>) -> Vec<Vec<Token>> {
        let tokens = template.rest();
        let tokens = &tokens[..tokens.len().saturating_sub(1)];
        let is_param = tokens.first().is_some_and(|word| template.text(word.span) == "param");
        if !is_param || clause::find(template, tokens).is_some() || !self.declares_arrays(template, tokens) {
            return vec![tokens.to_vec()];
        }
        let with_word = |item: &[Token]| [&tokens[..1], item].concat();
        parted(&tokens[1..], ",").into_iter().map(with_word).collect()
    }

    /// What a statement stands for, if it is written out before it is read.
    pub(crate) fn written(
        &mut self,
        template: &Parser<'g, 's>,
        tokens: &[Token],
    ) -> Result<Option<Written<'s>>, Diagnostic> {
        let text = |token: &Token| template.text(token.span);
        let Some(word) = tokens.first().filter(|token| token.kind == Kind::Name).map(text) else {
            return Ok(None);
        };
        if !crate::statement::words().any(|other| other == word) {
            return Ok(None);
        }
        let clause = clause::find(template, tokens);
        let declares =
            OF_ARRAYS.contains(&word) && clause.is_none() && self.declares_arrays(template, tokens);
        let part = tokens.len() + 1 < template.rest().len();
        if clause.is_none() && !declares && !part && !self.is_indexed(template, tokens) {
            return Ok(None);
        }
        let end = tokens.len();
        let body = &tokens[..clause.unwrap_or(end)];
        let clause = match clause {
            Some(at) if SINGLE.contains(&word) => {
                let wrong = Diagnostic::at(tokens[at].span, format!("`{word}` cannot be repeated"));
                return Err(wrong.help(match word {
                    "momentum" => "momenta of an array of coordinates are declared by `momentum p[N]`",
                    _ => "write it once, without `for`",
                }));
            }
            Some(at) => Some(Clause::read(template, &tokens[at + 1..end], tokens[at].span)?),
            None => None,
        };
        let first = self.many.len();
        let mut writer = Writer::new(self, template);
        writer.defers = ["potential", "dissipation"].contains(&word);
        match clause {
            _ if declares => writer.arrays(word, body)?,
            None => {
                writer.tokens(body)?;
                writer.end(body)?;
            }
            Some(clause) if ADDED.contains(&word) && !labels_each(template, body) => {
                writer.added(body, &clause)?;
            }
            Some(clause) => {
                writer.each(&clause, &mut |writer| {
                    writer.tokens(body)?;
                    writer.end(body)
                })?;
            }
        }
        let (draft, many) = writer.finish();
        self.many.extend(many);
        for number in first..self.many.len() {
            let name = many::name_of(number);
            self.scope.define(&name, self.graph.symbol(&name));
        }
        if draft.count() == 0 {
            return Ok(Some(Written { text: "", starts: Vec::new(), begins: 0 }));
        }
        self.written_bytes += draft.text.len();
        let (text, starts, begins) = self.setup.source_map.sheets.add(draft);
        let (text, page) = self.page.append(&text);
        self.page = page;
        Ok(Some(Written { text, starts, begins }))
    }

    /// Whether a statement has indices that are not written as numbers, or sums over indices.
    fn is_indexed(&self, template: &Parser<'g, 's>, tokens: &[Token]) -> bool {
        (1..tokens.len()).any(|at| {
            clause::is_repeated(template, &tokens[at..])
                || self.index_after(template, &tokens[at..]).is_some()
        })
    }

    /// Where the brackets of an index close, if a name with an index stands first: so many tokens later.
    pub(crate) fn index_after(&self, template: &Parser<'g, 's>, tokens: &[Token]) -> Option<usize> {
        let [name, open, ..] = tokens else { return None };
        if name.kind != Kind::Name || open.kind != Kind::Sign("[") || name.span.end != open.span.start {
            return None;
        }
        let close = closing(tokens, 1)?;
        let text = template.text(name.span);
        let base = base_of(text.split('\'').next().unwrap_or(text));
        let known =
            self.arrays.contains_key(base) || self.names.contains_key(base) || self.scope.get(text).is_some();
        let labels = matches!(template.rest(), [word, label, ..]
            if label.span == name.span && crate::format::NAMING.contains(&template.text(word.span)));
        let word = crate::format::is_word(text) && !labels;
        // A word before a vector: `at[0, 1]`.
        let several = depth_zero(&tokens[2..close], ",").is_some();
        (known || !(word || several) && close > 2).then_some(close)
    }
}

impl<'g> Reader<'g, '_> {
    /// Particles of arrays with very many coordinates become nodes, whose masses are numbers.
    pub(crate) fn lump(&mut self) {
        let particles = self.setup.model.particles();
        let members: Vec<Option<(&str, u64)>> = particles
            .iter()
            .map(|particle| match member(&particle.name) {
                Some((base, index)) if !particle.inertias.is_empty() && index.len() == 1 => {
                    Some((base, index[0]))
                }
                _ => None,
            })
            .collect();
        let mut runs: Vec<(String, u64, std::ops::Range<usize>)> = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let Some((base, index)) = *member else { continue };
            match runs.last_mut() {
                Some((name, first, range))
                    if name == base && range.end == place && *first + range.len() as u64 == index =>
                {
                    range.end += 1;
                }
                _ => runs.push((base.to_owned(), index, place..place + 1)),
            }
        }
        // From the last on: the others stay where they are.
        for (name, first, range) in runs.into_iter().rev() {
            let chosen = &self.setup.model.particles()[range.clone()];
            let alike = |particle: &leastaction_mechanics::Particle<'g>| {
                particle.inertias.iter().all(|inertia| *inertia == particle.inertias[0])
            };
            if range.len() * chosen[0].position.len() < MOST_WRITTEN_COORDINATES || !chosen.iter().all(alike)
            {
                continue;
            }
            let unit = chosen[0].inertias[0];
            let (masses, unit) = match chosen.iter().all(|particle| particle.inertias[0] == unit) {
                true if unit.as_number().is_none() => (vec![1.0; range.len()], Some(unit)),
                _ => {
                    let masses: Result<Vec<f64>, _> = chosen
                        .iter()
                        .map(|particle| {
                            let span = self
                                .names
                                .get(&particle.name)
                                .map_or(Span { start: 0, end: 0 }, |(_, span)| *span);
                            self.known(particle.inertias[0], span)
                        })
                        .collect();
                    // What is wrong with a mass is said by the model.
                    let Ok(masses) = masses else { continue };
                    (masses, None)
                }
            };
            if masses.iter().any(|mass| *mass <= 0.0) {
                continue;
            }
            if self.setup.model.lump(&name, first as usize, range, &masses, unit) {
                self.declare_energy("kinetic", &name);
            }
        }
    }
}

/// Whether the label of a term has an index, so that each has a name of its own.
fn labels_each<'g, 's>(template: &Parser<'g, 's>, body: &[Token]) -> bool {
    let Some(equals) = depth_zero(body, "=") else { return false };
    body[1..equals].iter().any(|token| {
        token.kind == Kind::Sign("[")
            || token.kind == Kind::Name && member(template.text(token.span)).is_some()
    })
}

/// Where the bracket that opens at a token is closed.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where a sign stands outside of brackets.
pub(crate) fn depth_zero(tokens: &[Token], sign: &str) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token.kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(token.kind, Kind::Sign(other) if other == sign)
    })
}

/// Tokens as the parts between a sign outside of brackets.
pub(crate) fn parted<'t>(mut tokens: &'t [Token], sign: &str) -> Vec<&'t [Token]> {
    let mut parts = Vec::new();
    while let Some(at) = depth_zero(tokens, sign) {
        parts.push(&tokens[..at]);
        tokens = &tokens[at + 1..];
    }
    parts.push(tokens);
    parts
}

/// The place of some tokens.
fn whole(tokens: &[Token]) -> Option<Span> {
    Some(tokens.first()?.span.to(tokens.last()?.span))
}
