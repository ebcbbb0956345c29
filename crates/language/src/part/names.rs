//! The names that the statements of a part declare, and what they are called where it is placed.

use crate::format::is_word;
use crate::reader::DECLARING;
use crate::repeat::{depth_zero, parted};
use crate::sheet::Draft;
use leastaction_expr::{Kind, Parser, Token};
use leastaction_mechanics::split_name;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Names of all energies of a kind, of which `potential.spring` is one.
const KINDS: [&str; 3] = ["kinetic", "potential", "dissipation"];

/// Whether a name is that of something which belongs to another, such as its momentum.
pub(super) fn belongs(name: &str) -> bool {
    KINDS.contains(&name) || split_name(name).is_some()
}

/// Declared names.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) values: HashSet<String>,
    /// Of these, bodies: their coordinates are `crank_x` and so on.
    bodies: Vec<String>,
}

/// Adds the names that a statement declares.
pub(super) fn locals<'s>(template: &Parser<'_, 's>, names: &mut Names) {
    let tokens = template.rest();
    let Some((word, rest)) = tokens.split_first() else { return };
    let rest = &rest[..rest.len().saturating_sub(1)];
    let word = template.text(word.span);
    let add = |token: &Token| {
        let text = template.text(token.span);
        let name = match token.kind {
            Kind::Name => &text[..text.find(['.', '[']).unwrap_or(text.len())],
            Kind::Quoted => text,
            _ => return,
        };
        names.values.insert(name.to_owned());
        if word == "body" {
            names.bodies.push(name.to_owned());
        }
    };
    let items = || parted(rest, ",").into_iter();
    match word {
        "particle" | "point" | "body" | "joint" | "place" => rest.first().into_iter().for_each(add),
        "spring" | "damper" => {
            rest.first().filter(|token| template.text(token.span) != "from").into_iter().for_each(add);
        }
        "output" | "invariant" => {
            items().filter(|item| depth_zero(item, "=").is_some()).filter_map(<[Token]>::first).for_each(add);
        }
        "kinetic" | "potential" | "lagrangian" | "hamiltonian" | "dissipation" => {
            depth_zero(rest, "=").and_then(|_| rest.first()).into_iter().for_each(add);
        }
        "constraint" | "event" | "every" => {
            depth_zero(rest, ":").and_then(|_| rest.first()).into_iter().for_each(add)
        }
        word if DECLARING.contains(&word) => items().filter_map(<[Token]>::first).for_each(add),
        _ => {}
    }
}

impl Names {
    /// Writes a statement of the part as it is where the part is placed.
    pub(super) fn write(
        &self,
        template: &Parser<'_, '_>,
        place: &str,
        aliases: &HashMap<String, String>,
        draft: &mut Draft,
    ) {
        let tokens = template.rest();
        let tokens = &tokens[..tokens.len().saturating_sub(1)];
        let statement = tokens.first().map_or("", |word| template.text(word.span));
        let shadows = shadows(template, statement, tokens);
        let (mut operand, mut depth, mut before) = (false, 0_usize, None::<Token>);
        for (at, token) in tokens.iter().enumerate() {
            let text = template.text(token.span);
            let previous = before.map_or("", |before| template.text(before.span));
            match token.kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            // Of two operands in a row the second is a word of the statement.
            let part_of_drawing = statement == "draw" && depth == 0 && (at == 1 || previous == ",");
            // The part that is placed, and the names of its arguments.
            let equals = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Sign("="));
            let of_part = statement == "place" && (depth == 0 && previous == "=" || depth == 1 && equals);
            let word =
                at == 0 || operand || ["column", "planar"].contains(&previous) || part_of_drawing || of_part;
            let (written, names_value) = match token.kind {
                Kind::Name if word => (None, previous == "column" || of_part),
                Kind::Name if shadows.iter().any(|(items, name)| items.contains(&at) && *name == text) => {
                    (None, true)
                }
                Kind::Name => match self.called(text, place, aliases) {
                    Some(name) => (Some(name), true),
                    None => (None, !is_word(text)),
                },
                Kind::Quoted => (self.quoted(text, place, aliases), true),
                Kind::Number(_) | Kind::Text => (None, true),
                Kind::Sign(sign) => (None, matches!(sign, ")" | "]" | "'")),
                Kind::Newline | Kind::End => (None, false),
            };
            if before.is_some_and(|before| before.span.end != token.span.start) {
                draft.text.push(' ');
            }
            draft.text.push_str(written.as_deref().unwrap_or(text));
            draft.origin.push(token.span);
            (operand, before) = (names_value, Some(*token));
        }
        draft.end();
    }

    /// What a name of the part is called where it is placed; nothing for names from outside.
    fn called(&self, text: &str, place: &str, aliases: &HashMap<String, String>) -> Option<String> {
        let (head, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
        if let Some(other) = aliases.get(head) {
            return Some(format!("{other}{rest}"));
        }
        let of_body = || {
            self.bodies
                .iter()
                .any(|body| head.strip_prefix(&**body).is_some_and(|part| part.starts_with('_')))
        };
        if self.values.contains(head) || of_body() {
            return Some(format!("{place}.{text}"));
        }
        if let Some(inner) = rest.strip_prefix('.').filter(|_| KINDS.contains(&head)) {
            return Some(format!("{head}.{}", self.called(inner, place, aliases)?));
        }
        let (prefix, inner) = split_name(text)?;
        Some(format!("{prefix}{}", self.called(inner, place, aliases)?))
    }

    /// The same of a name in backquotes.
    fn quoted(&self, text: &str, place: &str, aliases: &HashMap<String, String>) -> Option<String> {
        let inner = text.strip_prefix('`')?.strip_suffix('`')?;
        if self.values.contains(text) {
            return Some(format!("`{place}.{inner}`"));
        }
        let body = inner.strip_prefix("gravity on ")?;
        Some(format!("`gravity on {}`", self.called(body, place, aliases)?))
    }
}

/// The arguments of functions that a statement defines, and the tokens in which they hide other names.
fn shadows<'s>(
    template: &Parser<'_, 's>,
    statement: &str,
    tokens: &[Token],
) -> Vec<(std::ops::Range<usize>, &'s str)> {
    let mut found = Vec::new();
    if statement != "let" {
        return found;
    }
    let mut at = 1;
    for item in parted(tokens.get(1..).unwrap_or_default(), ",") {
        let items = at..at + item.len();
        if item.get(1).is_some_and(|token| token.kind == Kind::Sign("(")) {
            let arguments = item[2..].iter().take_while(|token| token.kind != Kind::Sign(")"));
            let names = arguments.filter(|token| token.kind == Kind::Name);
            // The name of the function itself is not hidden.
            found.extend(names.map(|token| (items.start + 1..items.end, template.text(token.span))));
        }
        at = items.end + 1;
    }
    found
}
