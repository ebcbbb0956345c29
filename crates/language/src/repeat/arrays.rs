//! Arrays: names with indices.

use super::write::Writer;
use super::{MOST_REPEATED, closing, depth_zero, parted, whole};
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::role::Role;
use leastaction_expr::{Kind, Parser, Span, Token};

type Outcome = Result<(), Diagnostic>;

/// The members of one name.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) role: Role,
    pub(crate) span: Span,
    /// The smallest and the largest of each index.
    pub(crate) ranges: Vec<(u64, u64)>,
    pub(crate) count: usize,
}

impl Array {
    /// Its indices, in words.
    pub(crate) fn indices(&self) -> String {
        let all: u64 = self.ranges.iter().map(|(low, high)| high - low + 1).product();
        let ranges: Vec<String> = self
            .ranges
            .iter()
            .map(|(low, high)| if low == high { low.to_string() } else { format!("{low} to {high}") })
            .collect();
        let gaps = if all == self.count as u64 { "" } else { ", not all of them" };
        format!("{}{gaps}", ranges.join(" and "))
    }
}

/// A name without indices at its end: `leg[2].th` for `leg[2].th[1]`.
pub(crate) fn base_of(name: &str) -> &str {
    let last = name.rfind('.').map_or(0, |dot| dot + 1);
    &name[..name[last..].find('[').map_or(name.len(), |open| last + open)]
}

/// A name with numbers in brackets at its end: `u[2][3]` as `u` and its indices.
pub(crate) fn member(name: &str) -> Option<(&str, Vec<u64>)> {
    let (base, rest) = name.split_at(base_of(name).len());
    let inside = rest.strip_prefix('[')?.strip_suffix(']')?;
    let indices: Result<Vec<u64>, _> = inside.split("][").map(str::parse).collect();
    Some((base, indices.ok()?))
}

impl Reader<'_, '_> {
    /// Adds a member to its array, which it may be the first of.
    pub(crate) fn add_member(&mut self, name: &str, span: Span, role: Role) {
        let Some((base, indices)) = member(name) else { return };
        let new = || Array { role, span, ranges: indices.iter().map(|&i| (i, i)).collect(), count: 0 };
        let array = self.arrays.entry(base.to_owned()).or_insert_with(new);
        array.count += 1;
        for ((low, high), index) in array.ranges.iter_mut().zip(indices) {
            (*low, *high) = ((*low).min(index), (*high).max(index));
        }
    }

    /// Refuses a new name that is a member of what is something else, or that arrays have.
    pub(crate) fn check_member(&self, name: &str, span: Span, role: Role) -> Outcome {
        let Some((base, indices)) = member(name) else {
            return match self.arrays.get(name) {
                None => Ok(()),
                Some(array) => Err(Diagnostic::at(
                    span,
                    format!("`{name}` is already an array: {} `{name}[…]`", array.role.plural()),
                )
                .related(array.span, "declared here")
                .help("choose another name")),
            };
        };
        if let Some((other, place)) = self.names.get(base) {
            return Err(Diagnostic::at(span, format!("`{base}` is already {}, and no array", other.what()))
                .related(*place, "declared here")
                .help("choose another name"));
        }
        let inner = self.parts.inner(base).unwrap_or(base);
        if base == "t" || leastaction_expr::needs_quotes(inner) {
            return Err(Diagnostic::at(
                span,
                format!("`{base}` cannot be an array: it has a meaning of its own"),
            )
            .help("choose another name"));
        }
        let Some(array) = self.arrays.get(base) else { return Ok(()) };
        // Ends of a row may be held by a definition: `let x[0] = 0`.
        let defined = [array.role, role].contains(&Role::Definition);
        if array.role != role && !defined && !(is_place(array.role) && is_place(role)) {
            return Err(Diagnostic::at(
                span,
                format!("`{name}` cannot be {}: `{base}` are {}", role.what(), array.role.plural()),
            )
            .related(array.span, "declared here")
            .help("choose another name"));
        }
        if array.ranges.len() != indices.len() {
            let count = |n: usize| if n == 1 { "one index".to_owned() } else { format!("{n} indices") };
            return Err(Diagnostic::at(
                span,
                format!(
                    "`{base}` has {} here, and {} before",
                    count(indices.len()),
                    count(array.ranges.len())
                ),
            )
            .related(array.span, "declared here"));
        }
        Ok(())
    }

    /// What is wrong with a member that there is not.
    pub(crate) fn no_member(&self, name: &str, span: Span) -> Option<Diagnostic> {
        let whole = name.split(['.', '\'']).next().unwrap_or(name);
        let (base, indices) = member(whole)?;
        if let Some(array) = self.arrays.get(base) {
            if self.names.contains_key(whole) {
                return None;
            }
            let wrong = Diagnostic::at(span, format!("there is no `{whole}`")).related(
                array.span,
                format!("the {} `{base}` have the indices {}", array.role.plural(), array.indices()),
            );
            return Some(match array.ranges.len() == indices.len() {
                true => wrong.unknown(name),
                false => wrong.help(format!("`{base}` has {} indices", array.ranges.len())),
            });
        }
        let Some(known) = self.scope.get(base) else {
            let below = self.declared_below(base, span).is_some() || self.names.contains_key(base);
            return (!below && self.node_named(whole).is_none()).then(|| {
                Diagnostic::at(span, format!("unknown name `{whole}`")).label("not declared").unknown(name).help(format!(
                    "what a row begins or ends with is declared above, as `point {whole} at [0, 0]` or `let {whole} = 0`; arrays with their size, as `coord {base}[10]`"
                ))
            });
        };
        Some(match known {
            leastaction_expr::Value::Vector(components) if indices.len() == 1 => {
                let count = components.len();
                Diagnostic::at(span, format!("there is no `{whole}`: `{base}` is a vector of {count}"))
                    .help(format!("its components are `{base}[1]` to `{base}[{count}]`"))
            }
            _ => Diagnostic::at(span, format!("`{base}` is no array: there is no `{whole}`"))
                .help("arrays are declared with their size, as `coord x[10]`"),
        })
    }

    /// Whether a statement declares arrays: some name at its beginning, or after a comma, has brackets.
    pub(super) fn declares_arrays(&self, template: &Parser<'_, '_>, tokens: &[Token]) -> bool {
        parted(tokens.get(1..).unwrap_or_default(), ",").into_iter().any(|item| match item {
            [name, ..] if name.kind != Kind::Name => false,
            [name, open, ..] if open.kind == Kind::Sign("[") && name.span.end == open.span.start => true,
            [name, ..] => member(template.text(name.span)).is_some(),
            [] => false,
        })
    }
}

/// Whether something has a position.
fn is_place(role: Role) -> bool {
    matches!(role, Role::Particle | Role::Point | Role::Body)
}

/// A name that is declared with its ranges, and what follows it.
struct Item<'t> {
    name: Token,
    /// The name without brackets.
    base: String,
    ranges: Vec<(i64, i64)>,
    rest: &'t [Token],
}

impl<'g, 's> Writer<'_, 'g, 's> {
    /// A statement that declares arrays, with all their members. Those of one range take turns: `x[1], y[1], x[2], y[2]`.
    pub(super) fn arrays(&mut self, word: &str, body: &[Token]) -> Outcome {
        let (head, list) = body.split_at(1);
        let items: Result<Vec<Item<'_>>, _> =
            parted(list, ",").into_iter().map(|item| self.item(item, head[0].span)).collect();
        let items = items?;
        self.put(word, head[0].span, head[0]);
        let (mut done, mut members, mut first) = (0, 0_usize, true);
        while let Some(item) = items.get(done) {
            let together = match word {
                "param" => 1,
                _ => items[done..].iter().take_while(|other| other.ranges == item.ranges).count(),
            };
            let group = &items[done..done + together];
            done += together;
            let count = item.ranges.iter().fold(group.len() as f64, |n, (a, b)| n * (b - a + 1) as f64);
            members = members.saturating_add(count as usize);
            if count > MOST_REPEATED as f64 || members > MOST_REPEATED {
                return Err(Diagnostic::at(
                    item.name.span,
                    format!("`{}` would have {count} members", item.base),
                )
                .help(format!(
                    "{MOST_REPEATED} are the most: for very many bodies of matter there are meshes and fields"
                )));
            }
            let mut indices: Vec<i64> = item.ranges.iter().map(|(low, _)| *low).collect();
            let mut number = 0;
            loop {
                for item in group {
                    if !std::mem::take(&mut first) {
                        self.sign(",", item.name.span);
                    }
                    self.member(item, &indices, number)?;
                }
                number += 1;
                // The last index is the fastest.
                let Some(axis) = (0..indices.len()).rev().find(|&axis| indices[axis] < item.ranges[axis].1)
                else {
                    break;
                };
                indices[axis] += 1;
                for later in axis + 1..indices.len() {
                    indices[later] = item.ranges[later].0;
                }
            }
        }
        self.end(body)
    }

    fn member(&mut self, item: &Item<'_>, indices: &[i64], number: usize) -> Outcome {
        let brackets: String = indices.iter().map(|index| format!("[{index}]")).collect();
        self.put(
            &format!("{}{brackets}", item.base),
            item.name.span,
            Token { kind: Kind::Name, ..item.name },
        );
        let [equals, open, inside @ .., close] = item.rest else { return self.tokens(item.rest) };
        let list = equals.kind == Kind::Sign("=")
            && open.kind == Kind::Sign("[")
            && close.kind == Kind::Sign("]")
            && closing(item.rest, 1) == Some(item.rest.len() - 1);
        if !list || indices.is_empty() {
            return self.tokens(item.rest);
        }
        let values = parted(inside, ",");
        let count: i64 = item.ranges.iter().map(|(low, high)| high - low + 1).product();
        if values.len() as i64 != count {
            let span = open.span.to(close.span);
            return Err(Diagnostic::at(
                span,
                format!("{} values are given for the {count} members of `{}`", values.len(), item.base),
            )
            .help("give one for each, or one number for all"));
        }
        self.put("=", equals.span, *equals);
        self.tokens(values[number])
    }

    fn item<'t>(&self, tokens: &'t [Token], statement: Span) -> Result<Item<'t>, Diagnostic> {
        let Some(&name) = tokens.first().filter(|token| token.kind == Kind::Name) else {
            let span = whole(tokens).unwrap_or(statement);
            return Err(Diagnostic::at(span, "a name is expected here"));
        };
        let text = self.template.text(name.span);
        let (base, literal) = text.split_at(base_of(text).len());
        let mut ranges = Vec::new();
        for size in literal.split(['[', ']']).filter(|part| !part.is_empty()) {
            let size: i64 = size.parse().unwrap_or(i64::MAX);
            ranges.push(self.sized(size, name.span)?);
        }
        let (mut at, mut end) = (1, name.span.end);
        while let Some(open) = tokens.get(at)
            && open.kind == Kind::Sign("[")
            && open.span.start == end
        {
            let close = closing(tokens, at)
                .ok_or_else(|| Diagnostic::at(open.span, "this bracket is never closed"))?;
            let inside = &tokens[at + 1..close];
            let span = open.span.to(tokens[close].span);
            ranges.push(match depth_zero(inside, "..") {
                None => self.sized(self.index(inside, span)?, span)?,
                Some(dots) => {
                    let low = self.index(&inside[..dots], span)?;
                    let high = self.index(&inside[dots + 1..], span)?;
                    if high < low {
                        return Err(Diagnostic::at(span, format!("this range is empty: {low}..{high}"))
                            .help("a range goes up from its first number to its last"));
                    }
                    if low < 0 {
                        return Err(Diagnostic::at(span, "indices are not negative")
                            .help(format!("begin at 0 or 1: `{base}[0..{high}]`")));
                    }
                    (low, high)
                }
            });
            (at, end) = (close + 1, tokens[close].span.end);
        }
        Ok(Item { name, base: base.to_owned(), ranges, rest: &tokens[at..] })
    }

    /// The range of an array of so many members.
    fn sized(&self, size: i64, span: Span) -> Result<(i64, i64), Diagnostic> {
        if size < 1 {
            return Err(Diagnostic::at(span, format!("an array has 1 member or more, not {size}")));
        }
        if size > MOST_REPEATED as i64 {
            return Err(Diagnostic::at(span, format!("an array of {size} members is too large")).help(
                format!(
                    "{MOST_REPEATED} are the most: for very many bodies of matter there are meshes and fields"
                ),
            ));
        }
        Ok((1, size))
    }
}
