//! Parts: some statements that are written once and placed often.
//!
//! Where a part is placed, its statements are written out, with the names that it declares behind the name of the place: `th` becomes `left.th`. They are then read
//! like any others, and their places are traced back to the part.

mod names;

use crate::diagnostic::Diagnostic;
use crate::lines::ends_part;
use crate::reader::Reader;
use crate::repeat::{base_of, depth_zero, parted};
use crate::sheet::Draft;
use leastaction_expr::{Kind, Parser, Span, Token, nearest, needs_quotes};
use names::{Names, locals};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// So many statements of parts are written out at most.
const MOST_PLACED: usize = 300_000;

/// Parts may be placed in parts so deep.
const DEEPEST: usize = 20;

/// What stands in no part, and why.
const OUTSIDE: &[(&str, &str)] = &[
    ("part", "parts are written one after the other; one may place those above it by `place`"),
    ("include", "include the file at the margin, above the part"),
    ("run", "say it once, outside of the part"),
    ("gravity", "it pulls on all bodies: say it once, outside of the part"),
    ("momentum", "momenta are named outside of the part, in the order of all coordinates"),
    ("mesh", "meshes stand outside of parts; a part may hold on to their nodes by the name of a point"),
    ("atoms", "atoms stand outside of parts"),
    ("material", "meshes and what they are made of stand outside of parts"),
    ("field", "meshes and their fields stand outside of parts"),
    ("damping", "meshes and their damping stand outside of parts; write `damper` or `dissipation`"),
    ("fix", "meshes and what holds them stand outside of parts"),
    ("keep", "meshes and what they keep stand outside of parts"),
    ("attach", "meshes and what holds them stand outside of parts"),
    ("network", "networks stand outside of parts"),
];

/// A part as it is written.
#[derive(Debug)]
pub(crate) struct Part {
    span: Span,
    arguments: Vec<Argument>,
    /// Its statements.
    body: Vec<Span>,
    /// What they declare.
    names: Names,
}

#[derive(Debug)]
struct Argument {
    name: String,
    span: Span,
    default: Option<Vec<Token>>,
}

/// The parts of a text, and those that are being placed.
#[derive(Default)]
pub(crate) struct Parts {
    known: HashMap<String, Rc<Part>>,
    /// Parts that are wrong, or were found so where they were placed first, which is said once.
    wrong: Vec<String>,
    /// What is being placed: a name, and its part.
    open: Vec<(String, String)>,
    placed: usize,
    /// More that is wrong with the statement that is being read.
    pub(crate) more: Vec<Diagnostic>,
    /// Places of which something is wrong, so that nobody wonders where their names are.
    pub(crate) lost: Vec<String>,
}

impl Parts {
    /// What a name that is declared in the part which is being placed is called there.
    pub(crate) fn inner<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (place, _) = self.open.last()?;
        name.strip_prefix(place.as_str())?.strip_prefix('.')
    }
}

impl<'g, 's> Reader<'g, 's> {
    /// Keeps a part, from `part` to `end`.
    pub(crate) fn define_part(&mut self, span: Span) -> Result<(), Diagnostic> {
        let defined = self.read_part(span);
        if defined.is_err() {
            // That it is not there is not worth saying again.
            let text = self.source[span.start..span.end].trim_start_matches("part").trim_start();
            let name = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
            self.parts.wrong.push(name.to_owned());
        }
        defined
    }

    fn read_part(&mut self, span: Span) -> Result<(), Diagnostic> {
        let source = self.source;
        let text = &source[span.start..span.end];
        let whole = Parser::within(self.graph, source, span)?;
        let ends = whole.rest().iter().find(|token| matches!(token.kind, Kind::Newline | Kind::End));
        let header = Span { start: span.start, end: ends.map_or(span.end, |end| end.span.start) };
        let mut parser = Parser::within(self.graph, source, header)?;
        parser.advance();
        let (name, place) = parser.name()?;
        if needs_quotes(&name) || name.contains(['.', '[']) || crate::format::is_word(&name) {
            let wrong = Diagnostic::at(place, format!("`{name}` cannot be the name of a part"));
            return Err(
                wrong.help("choose a name of letters, digits and underscores that means nothing else")
            );
        }
        if let Some(first) = self.parts.known.get(&*name) {
            return Err(Diagnostic::at(place, format!("there are two parts `{name}`"))
                .related(first.span, "the first one")
                .help("rename one of them"));
        }
        let (name, mut arguments) = (name.into_owned(), Vec::new());
        let open = parser.peek();
        if parser.accept("(") {
            let rest = parser.rest();
            let close = closing(rest).ok_or_else(|| unclosed(open.span))?;
            for item in parted(&rest[..close], ",") {
                arguments.push(self.argument(&parser, item, open.span, &arguments)?);
            }
            for _ in 0..=close {
                parser.advance();
            }
        }
        if parser.finish().is_err() {
            let more = parser.peek().span;
            return Err(Diagnostic::at(
                more,
                "a part begins with its name and its arguments, and nothing more",
            )
            .help("write its statements on the lines below, and `end` behind them"));
        }
        let body = body(text, header.end - span.start);
        let body: Vec<Span> = body
            .into_iter()
            .map(|inner| Span { start: span.start + inner.start, end: span.start + inner.end })
            .collect();
        if body.is_empty() {
            return Err(Diagnostic::at(place, format!("the part `{name}` is empty"))
                .help("write statements between `part` and `end`"));
        }
        // A name that is declared twice, or outside too, is a matter of where it is placed.
        let mut names = Names::default();
        for argument in &arguments {
            names.values.insert(argument.name.clone());
        }
        for &statement in &body {
            let inner = Parser::within(self.graph, source, statement)?.ignore_newlines();
            crate::reader::check_depth(inner.rest())?;
            let word = inner.text(inner.peek().span);
            if let Some((word, why)) = OUTSIDE.iter().find(|(other, _)| *other == word) {
                let wrong = Diagnostic::at(inner.peek().span, format!("`{word}` cannot stand in a part"));
                return Err(wrong.related(place, "this part").help(*why));
            }
            locals(&inner, &mut names);
        }
        self.parts.known.insert(name, Rc::new(Part { span: place, arguments, body, names }));
        Ok(())
    }

    /// An argument of a part: a name, perhaps with a value.
    fn argument(
        &self,
        parser: &Parser<'g, 's>,
        tokens: &[Token],
        at: Span,
        before: &[Argument],
    ) -> Result<Argument, Diagnostic> {
        let form = "arguments are names, perhaps with values: `part leg(l, m = 1)`";
        let (name, rest) = match tokens {
            [] => return Err(Diagnostic::at(at, "an argument is missing here").help(form)),
            [name, rest @ ..] => (name, rest),
        };
        let (span, text) = (name.span, parser.text(name.span));
        let plain =
            name.kind == Kind::Name && !needs_quotes(text) && !text.contains(['.', '[']) && text != "t";
        if !plain {
            return Err(
                Diagnostic::at(span, format!("`{text}` cannot be the name of an argument")).help(form)
            );
        }
        if let Some(first) = before.iter().find(|argument| argument.name == text) {
            return Err(Diagnostic::at(span, format!("the part has two arguments `{text}`"))
                .related(first.span, "the first one")
                .help("rename one of them"));
        }
        let default = match rest {
            [] => None,
            [equals, value @ ..] if equals.kind == Kind::Sign("=") && !value.is_empty() => {
                Some(value.to_vec())
            }
            [more, ..] => return Err(Diagnostic::at(more.span, "this is no argument").help(form)),
        };
        Ok(Argument { name: text.to_owned(), span, default })
    }

    /// Places a part, whose values stand next in the text.
    pub(crate) fn place_part(
        &mut self,
        parser: &mut Parser<'g, 's>,
        place: &str,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let (name, called) = parser.name()?;
        let root = base_of(place.split('.').next().unwrap_or(place));
        if self.parts.wrong.iter().any(|wrong| *wrong == *name) {
            self.parts.lost.push(root.to_owned());
            return self.skip(parser);
        }
        let Some(part) = self.parts.known.get(&*name).cloned() else {
            let wrong = Diagnostic::at(called, format!("there is no part `{name}`"));
            return Err(match nearest(&name, self.parts.known.keys()) {
                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                None => wrong.help(format!(
                    "parts are written above the lines that place them: `part {name}(l, m)`, statements, `end`"
                )),
            });
        };
        if self.parts.open.iter().any(|(_, other)| *other == *name) || self.parts.open.len() >= DEEPEST {
            let wrong = Diagnostic::at(called, format!("the part `{name}` would contain itself"));
            return Err(wrong.help("a part places parts that are written above it"));
        }
        let values = self.given(parser, &name, &part, called)?;
        let draft = self.written_part(parser, place, span, &part, values)?;
        self.parts.placed += draft.count();
        self.written_bytes += draft.text.len();
        if self.parts.placed > MOST_PLACED || self.written_bytes > crate::repeat::MOST_WRITTEN {
            let wrong =
                Diagnostic::at(called, "parts are placed too often: a model of this size cannot be read");
            return Err(wrong.help(format!("{MOST_PLACED} statements of parts are the most")));
        }
        if draft.count() == 0 {
            return Ok(());
        }
        let (text, starts, begins) = self.setup.source_map.sheets.add(draft);
        let (text, page) = self.page.append(&text);
        self.page = page;
        self.parts.open.push((place.to_owned(), name.clone().into_owned()));
        let (mut wrong, lost): (Vec<Diagnostic>, usize) = (Vec::new(), self.parts.lost.len());
        for ends in starts.windows(2) {
            let span = Span { start: begins + ends[0], end: begins + ends[1] };
            let read = Parser::placed(self.graph, &text[ends[0]..ends[1]], span.start)
                .map_err(Diagnostic::from)
                .and_then(|template| self.statement_of(&template.ignore_newlines(), span));
            let Err(error) = read else { continue };
            // What is not known in the part after a mistake in it may only follow from that.
            let follows = !wrong.is_empty() || self.parts.lost.len() > lost;
            let of_part = |name: &str| name == root || names::belongs(name);
            if !follows || !error.unknown.as_deref().is_some_and(of_part) {
                wrong.push(error);
            }
        }
        self.parts.open.pop();
        if wrong.is_empty() {
            return Ok(());
        }
        self.parts.wrong.push(name.into_owned());
        self.parts.lost.push(root.to_owned());
        let sheets = &self.setup.source_map.sheets;
        let label = format!("`{place}` is placed here");
        let mut wrong =
            wrong.into_iter().map(|wrong| match wrong.related.iter().any(|(at, _)| *at == span) {
                true => wrong,
                false => sheets.traced_all(wrong).related(sheets.traced(span), label.clone()),
            });
        let first = wrong.next();
        let more: Vec<Diagnostic> = wrong.collect();
        self.parts.more.extend(more);
        first.map_or(Ok(()), Err)
    }

    /// Steps over what is left.
    fn skip(&self, parser: &mut Parser<'g, 's>) -> Result<(), Diagnostic> {
        while parser.peek().kind != Kind::End {
            parser.advance();
        }
        Ok(())
    }

    /// The values of the arguments, in their order: those that are given, and else those that the part has.
    fn given(
        &self,
        parser: &mut Parser<'g, 's>,
        name: &str,
        part: &Part,
        called: Span,
    ) -> Result<Vec<(Vec<Token>, bool)>, Diagnostic> {
        let wanted: Vec<&str> = part.arguments.iter().map(|argument| argument.name.as_str()).collect();
        let takes = match wanted.is_empty() {
            true => format!("`{name}` has no arguments"),
            false => format!("`{name}` is placed with {}", wanted.join(", ")),
        };
        let mut values: Vec<Option<Vec<Token>>> = vec![None; wanted.len()];
        let open = parser.peek();
        if parser.accept("(") {
            let rest = parser.rest().to_vec();
            let close = closing(&rest).ok_or_else(|| unclosed(open.span))?;
            let mut named = false;
            let items = if close == 0 { Vec::new() } else { parted(&rest[..close], ",") };
            for (at, item) in items.into_iter().enumerate() {
                let Some(first) = item.first() else {
                    return Err(Diagnostic::at(open.span, "a value is missing here").help(takes));
                };
                let by_name = depth_zero(item, "=") == Some(1) && first.kind == Kind::Name;
                let place = match by_name {
                    true => wanted.iter().position(|other| *other == parser.text(first.span)),
                    false => Some(at).filter(|at| *at < wanted.len()),
                };
                let value = if by_name { &item[2..] } else { item };
                if named && !by_name {
                    let wrong = Diagnostic::at(first.span, "after values with names each has its name");
                    return Err(wrong
                        .help(format!("write `{}`", parser.text(part_of(item)).trim()))
                        .help(takes));
                }
                named |= by_name;
                let Some(place) = place else {
                    let text = parser.text(first.span);
                    return Err(match by_name {
                        true => {
                            let wrong =
                                Diagnostic::at(first.span, format!("`{name}` has no argument `{text}`"));
                            match nearest(text, wanted.iter()) {
                                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                                None => wrong.help(takes),
                            }
                        }
                        false => Diagnostic::at(first.span, format!("`{name}` has not so many arguments"))
                            .help(takes),
                    }
                    .related(part.span, "the part"));
                };
                if value.is_empty() {
                    return Err(Diagnostic::at(
                        first.span,
                        format!("the value of `{}` is missing", wanted[place]),
                    )
                    .help(takes));
                }
                if values[place].is_some() {
                    let wrong = Diagnostic::at(first.span, format!("`{}` is given twice", wanted[place]));
                    return Err(wrong.help("remove one of them"));
                }
                values[place] = Some(value.to_vec());
            }
            for _ in 0..=close {
                parser.advance();
            }
        }
        let all = values.into_iter().zip(&part.arguments).map(|(value, argument)| {
            match (value, &argument.default) {
                (Some(value), _) => Ok((value, true)),
                (None, Some(default)) => Ok((default.clone(), false)),
                (None, None) => {
                    Err(Diagnostic::at(called, format!("the argument `{}` is not given", argument.name))
                        .related(argument.span, "it has no value of its own")
                        .help(format!("{takes}, as `{name}({} = …)`", argument.name)))
                }
            }
        });
        all.collect()
    }

    /// The statements of a part at a place.
    fn written_part(
        &self,
        parser: &Parser<'g, 's>,
        place: &str,
        span: Span,
        part: &Part,
        values: Vec<(Vec<Token>, bool)>,
    ) -> Result<Draft, Diagnostic> {
        let mut draft = Draft::default();
        let mut aliases: HashMap<String, String> = HashMap::default();
        let source = |token: &Token| &self.source[token.span.start..token.span.end];
        for (number, (argument, (value, given))) in part.arguments.iter().zip(values).enumerate() {
            // A value of the part's own may be made of the arguments before it.
            let text = |token: &Token| -> Result<String, Diagnostic> {
                let text = if given { parser.text(token.span) } else { source(token) };
                let head = &text[..text.find(['.', '[']).unwrap_or(text.len())];
                let of = part.arguments.iter().position(|other| other.name == head);
                let Some(other) = of.filter(|_| !given && token.kind == Kind::Name) else {
                    return Ok(text.to_owned());
                };
                if other >= number {
                    let wrong = format!(
                        "the value of `{}` is made of `{head}`, which stands behind it",
                        argument.name
                    );
                    return Err(Diagnostic::at(token.span, wrong).help("give the arguments another order"));
                }
                Ok(aliases
                    .get(head)
                    .map_or_else(|| format!("{place}.{text}"), |a| format!("{a}{}", &text[head.len()..])))
            };
            let texts: Vec<String> = value.iter().map(text).collect::<Result<_, _>>()?;
            let open = value.iter().zip(&texts).any(|(token, text)| match token.kind {
                Kind::Name => !needs_quotes(text),
                kind => kind == Kind::Quoted,
            });
            let vector = value.iter().any(|token| token.kind == Kind::Sign("["));
            let only = match &value[..] {
                [one] if one.kind == Kind::Name && open => Some(texts[0].clone()),
                _ => None,
            };
            let word = if open || vector { "let" } else { "param" };
            let full = format!("{place}.{}", argument.name);
            if let Some(other) = only {
                // What is no value, as a body, has no other name.
                let is_value = self.scope.get(&other).is_some() || !given;
                aliases.insert(argument.name.clone(), other);
                if !is_value || self.names.contains_key(&full) {
                    continue;
                }
            }
            for (word, from) in [(word, span), (&*full, argument.span), ("=", argument.span)] {
                draft.text.push_str(word);
                draft.text.push(' ');
                draft.origin.push(from);
            }
            let mut end = usize::MAX;
            for (token, text) in value.iter().zip(&texts) {
                if end != token.span.start && end != usize::MAX {
                    draft.text.push(' ');
                }
                draft.text.push_str(text);
                draft.origin.push(token.span);
                end = token.span.end;
            }
            draft.end();
        }
        for &statement in &part.body {
            let template = Parser::within(self.graph, self.source, statement)?.ignore_newlines();
            part.names.write(&template, place, &aliases, &mut draft);
        }
        Ok(draft)
    }
}

/// The statements between the first line of a part, which ends at a byte of its text, and its `end`: those that are indented as the first of them, with the lines that
/// are indented more.
fn body(text: &str, header: usize) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let (mut at, mut margin) = (0, None);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let full = line.trim_end();
        let inner = full.trim_start();
        if start < header || inner.is_empty() || inner.starts_with('#') || ends_part(inner) {
            continue;
        }
        let indent = full[..full.len() - inner.len()].chars().count();
        let span = Span { start: start + full.len() - inner.len(), end: start + full.len() };
        match found.last_mut() {
            Some(statement) if indent > *margin.get_or_insert(indent) => statement.end = span.end,
            _ => {
                margin.get_or_insert(indent);
                found.push(span);
            }
        }
    }
    found
}

/// Where the bracket is closed within which these tokens stand.
fn closing(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") if depth == 0 => return Some(at),
            Kind::Sign(")" | "]") => depth -= 1,
            _ => {}
        }
    }
    None
}

fn part_of(tokens: &[Token]) -> Span {
    let whole = tokens.first().zip(tokens.last()).map(|(first, last)| first.span.to(last.span));
    whole.unwrap_or(Span { start: 0, end: 0 })
}

fn unclosed(span: Span) -> Diagnostic {
    Diagnostic::at(span, "this bracket is never closed").label("opened here")
}
