//! Writes out what is repeated.

use super::clause::{Clause, Range, is_repeated};
use super::many::{MOST_TOKENS, Many, name_of};
use super::{MOST_REPEATED, MOST_WRITTEN, closing, depth_zero, whole};
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::sheet::Draft;
use leastaction_expr::{Kind, ParseError, Parser, Span, Token};

type Outcome = Result<(), Diagnostic>;

/// What is done for each choice of indices.
type Each<'a, 'w, 'g, 's> = &'a mut dyn FnMut(&mut Writer<'w, 'g, 's>) -> Outcome;

/// Writes statements out, with indices as numbers.
pub(super) struct Writer<'w, 'g, 's> {
    pub(super) reader: &'w Reader<'g, 's>,
    pub(super) template: &'w Parser<'g, 's>,
    /// The indices and their values.
    indices: Vec<(&'s str, i64, Span)>,
    draft: Draft,
    /// Indices that stay symbols, and the members of arrays that depend on them.
    symbols: Vec<String>,
    pub(super) places: Vec<(String, Vec<String>, Span)>,
    /// Whether sums of very many terms are kept as they are, and those that are.
    pub(super) defers: bool,
    many: Vec<Many<'g, 's>>,
    /// The token before, if what comes next may stand right behind it.
    before: Option<Token>,
}

impl<'w, 'g, 's> Writer<'w, 'g, 's> {
    pub(super) fn new(reader: &'w Reader<'g, 's>, template: &'w Parser<'g, 's>) -> Writer<'w, 'g, 's> {
        Writer {
            reader,
            template,
            indices: Vec::new(),
            draft: Draft::default(),
            symbols: Vec::new(),
            places: Vec::new(),
            defers: false,
            many: Vec::new(),
            before: None,
        }
    }

    /// A writer that leaves these indices as they are, and gives names to the members of arrays that depend on them.
    pub(super) fn symbolic(
        reader: &'w Reader<'g, 's>,
        template: &'w Parser<'g, 's>,
        indices: &[String],
    ) -> Writer<'w, 'g, 's> {
        Writer { symbols: indices.to_vec(), ..Writer::new(reader, template) }
    }

    /// Tokens as a text, and the members in it that depend on indices.
    #[allow(clippy::type_complexity)] // a member: its array, its indices and its place
    pub(super) fn symbols_of(
        mut self,
        tokens: &[Token],
    ) -> Result<(String, Vec<(String, Vec<String>, Span)>), Diagnostic> {
        self.tokens(tokens)?;
        Ok((self.draft.text, self.places))
    }

    pub(super) fn finish(self) -> (Draft, Vec<Many<'g, 's>>) {
        (self.draft, self.many)
    }

    /// A writer of a part, with the same indices.
    fn inner(&self) -> Writer<'w, 'g, 's> {
        let mut inner = Writer::new(self.reader, self.template);
        inner.indices.clone_from(&self.indices);
        inner
    }

    /// Ends a statement.
    pub(super) fn end(&mut self, body: &[Token]) -> Outcome {
        self.draft.end();
        self.before = None;
        let all = self.reader.written_bytes + self.draft.text.len();
        let Some(span) = whole(body).filter(|_| all > MOST_WRITTEN || self.draft.count() > MOST_REPEATED)
        else {
            return Ok(());
        };
        Err(self.too_many(span))
    }

    fn too_many(&self, span: Span) -> Diagnostic {
        Diagnostic::at(span, "this is repeated too often: a model of this size cannot be read").help(format!(
            "a statement is repeated {MOST_REPEATED} times at most; for very many bodies of matter there are meshes and fields"
        ))
    }

    /// Tokens with indices as numbers.
    pub(super) fn tokens(&mut self, tokens: &[Token]) -> Outcome {
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            let text = self.template.text(token.span);
            let is_name = token.kind == Kind::Name;
            if is_name && is_repeated(self.template, &tokens[at..]) {
                let close = closing(tokens, at + 1).ok_or_else(|| unclosed(tokens[at + 1].span))?;
                self.repeated(text, token.span, &tokens[at + 2..close], tokens[close].span)?;
                at = close + 1;
                continue;
            }
            if let Some(close) = self.reader.index_after(self.template, &tokens[at..]) {
                at = self.indexed(tokens, at, at + close)?;
                continue;
            }
            let called =
                matches!(tokens.get(at + 1).map(|next| next.kind), Some(Kind::Sign("(" | "'" | ":")));
            match self.indices.iter().find(|(name, ..)| is_name && *name == text && !called) {
                Some(&(_, value, _)) => self.number(value, token),
                None => self.put(text, token.span, token),
            }
            at += 1;
        }
        Ok(())
    }

    /// A name with its indices, and a part of it; gives where it ends.
    fn indexed(&mut self, tokens: &[Token], at: usize, close: usize) -> Result<usize, Diagnostic> {
        let mut name = self.template.text(tokens[at].span).to_owned();
        let (mut open, mut close, mut tail) = (at + 1, close, String::new());
        let mut end;
        let base = name.clone();
        // The texts of indices, if some of them are not known yet.
        let (mut texts, mut symbolic) = (Vec::new(), false);
        loop {
            let inside = &tokens[open + 1..close];
            if let Some(comma) = depth_zero(inside, ",") {
                return Err(Diagnostic::at(inside[comma].span, "each index has its own brackets")
                    .help(format!("write `{name}[i][j]`")));
            }
            let open_index = |token: &Token| {
                token.kind == Kind::Name
                    && self.symbols.iter().any(|index| index == self.template.text(token.span))
            };
            if !self.symbols.is_empty() {
                let mut inner = self.inner();
                inner.tokens(inside)?;
                texts.push(inner.draft.text);
            }
            symbolic |= inside.iter().any(open_index);
            let index =
                if symbolic { 0 } else { self.index(inside, tokens[open].span.to(tokens[close].span))? };
            if index < 0 {
                return Err(self
                    .wrong(
                        whole(inside).unwrap_or(tokens[open].span),
                        format!("this index is {index}, and indices are not negative"),
                    )
                    .help("arrays count from 1, or from 0 if they are declared so"));
            }
            name.push_str(&format!("[{index}]"));
            end = close;
            let mut next = close + 1;
            // A part of it, which may have indices of its own: `leg[i].th[j]`.
            if let [dot, part, ..] = &tokens[next..]
                && dot.kind == Kind::Sign(".")
            {
                tail.push('.');
                tail.push_str(self.template.text(part.span));
                end = next + 1;
                next += 2;
            }
            let more = tokens.get(next).filter(|token| token.kind == Kind::Sign("["));
            if more.is_none_or(|more| more.span.start != tokens[next - 1].span.end) {
                break;
            }
            if symbolic && !tail.is_empty() {
                let span = tokens[at].span.to(tokens[next].span);
                return Err(Diagnostic::at(span, "a sum of very many terms has no indices behind a part")
                    .help("give it a name with one index: `let a[i] = …` for each"));
            }
            name.push_str(&std::mem::take(&mut tail));
            open = next;
            close = closing(tokens, open).ok_or_else(|| unclosed(tokens[open].span))?;
        }
        if symbolic {
            let known = self.places.iter().position(|(array, index, _)| *array == base && *index == texts);
            let number = known.unwrap_or(self.places.len());
            if known.is_none() {
                self.places.push((base, texts, tokens[at].span.to(tokens[close].span)));
            }
            name = format!("{}slot[{number}]", super::MARK);
        }
        name.push_str(&tail);
        let last = Token { kind: Kind::Name, span: tokens[end].span };
        let span = tokens[at].span.to(last.span);
        let begin = Token { kind: Kind::Name, span: tokens[at].span };
        self.put_between(&name, span, begin, last);
        Ok(end + 1)
    }

    /// A number in place of an index.
    fn number(&mut self, value: i64, token: Token) {
        let number = Token { kind: Kind::Number(0.0), span: token.span };
        if value < 0 {
            self.sign("(", token.span);
            self.sign("-", token.span);
        }
        self.put(&value.unsigned_abs().to_string(), token.span, number);
        if value < 0 {
            self.sign(")", token.span);
        }
    }

    /// A sign that the text does not have.
    pub(super) fn sign(&mut self, sign: &'static str, span: Span) {
        if self.before.is_some_and(|before| !matches!(before.kind, Kind::Sign("(" | "-"))) {
            self.draft.text.push(' ');
        }
        self.draft.text.push_str(sign);
        self.draft.origin.push(span);
        // Nothing stands right behind it.
        self.before =
            Some(Token { kind: Kind::Sign(sign), span: Span { start: usize::MAX, end: usize::MAX } });
    }

    /// A token by its text.
    pub(super) fn put(&mut self, text: &str, origin: Span, token: Token) {
        self.put_between(text, origin, token, token);
    }

    fn put_between(&mut self, text: &str, origin: Span, first: Token, last: Token) {
        let word = |kind| matches!(kind, Kind::Name | Kind::Number(_) | Kind::Quoted | Kind::Text);
        if let Some(before) = self.before {
            let apart = before.span.end != first.span.start || word(before.kind) && word(first.kind);
            if apart && !matches!(before.kind, Kind::Sign("(" | "-") if before.span.start == usize::MAX) {
                self.draft.text.push(' ');
            }
        }
        self.draft.text.push_str(text);
        self.draft.origin.push(origin);
        self.before = Some(last);
    }

    /// A sum or a product, term by term.
    fn repeated(&mut self, word: &str, span: Span, inside: &[Token], close: Span) -> Outcome {
        let Some(colon) = depth_zero(inside, ":") else {
            return Err(Diagnostic::at(span, format!("this {word} has indices, and nothing to add up"))
                .help(format!("write what is added up after a colon: `{word}(i in 1..N: x[i]^2)`")));
        };
        let clause = Clause::read(self.template, &inside[..colon], span)?;
        let body = &inside[colon + 1..];
        if body.is_empty() {
            return Err(Diagnostic::at(inside[colon].span, "nothing stands after the colon")
                .help(format!("write what is added up: `{word}(i in 1..N: x[i]^2)`")));
        }
        if word == "sum" && self.deferred(&clause, body, span)? {
            return Ok(());
        }
        let (sign, nothing) = if word == "sum" { ("+", "0") } else { ("*", "1") };
        let (mut first, most) = (true, MOST_WRITTEN.saturating_sub(self.reader.written_bytes));
        self.sign("(", span);
        self.each(&clause, &mut |writer| {
            if !std::mem::take(&mut first) {
                writer.sign(sign, span);
            }
            writer.sign("(", span);
            writer.tokens(body)?;
            writer.sign(")", close);
            match writer.draft.text.len() > most {
                true => Err(writer.too_many(span)),
                false => Ok(()),
            }
        })?;
        if first {
            self.put(nothing, span, Token { kind: Kind::Number(0.0), span });
        }
        self.sign(")", close);
        Ok(())
    }

    /// Keeps a sum as it is, if it has very many terms, or a cut-off, and stands where it can be kept; whether it was.
    fn deferred(&mut self, clause: &Clause, body: &[Token], span: Span) -> Result<bool, Diagnostic> {
        if !self.defers || !self.indices.is_empty() || !self.symbols.is_empty() {
            return Ok(false);
        }
        self.check_indices(clause)?;
        let condition = clause.condition.as_deref().unwrap_or_default();
        let cut =
            (0..condition.len()).any(|at| self.reader.index_after(self.template, &condition[at..]).is_some());
        if !cut && self.count(&clause.ranges)? * body.len() as f64 <= MOST_TOKENS as f64 {
            return Ok(false);
        }
        let name = name_of(self.reader.many.len() + self.many.len());
        let (mut clause, mut body) = (clause.clone(), body);
        // A sum of sums is one sum.
        while let Some((inner, terms)) = self.only_sum(body)?
            && (clause.condition.is_none() || inner.condition.is_none())
        {
            clause.ranges.extend(inner.ranges);
            clause.condition = clause.condition.or(inner.condition);
            body = terms;
        }
        self.check_indices(&clause)?;
        self.many.push(Many::new(self.template, &clause, body, span));
        self.put(&name, span, Token { kind: Kind::Name, span });
        Ok(true)
    }

    /// The indices and the terms of a sum, if nothing else stands here.
    fn only_sum<'t>(&self, body: &'t [Token]) -> Result<Option<(Clause, &'t [Token])>, Diagnostic> {
        if !is_repeated(self.template, body)
            || self.template.text(body[0].span) != "sum"
            || closing(body, 1) != Some(body.len() - 1)
        {
            return Ok(None);
        }
        let inside = &body[2..body.len() - 1];
        let Some(colon) = depth_zero(inside, ":").filter(|colon| colon + 1 < inside.len()) else {
            return Ok(None);
        };
        let clause = Clause::read(self.template, &inside[..colon], body[0].span)?;
        Ok(Some((clause, &inside[colon + 1..])))
    }

    /// How many choices of indices there are, without their condition.
    fn count(&mut self, ranges: &[Range]) -> Result<f64, Diagnostic> {
        let Some((range, rest)) = ranges.split_first() else { return Ok(1.0) };
        let (low, high) = self.bounds(range)?;
        let n = (high - low + 1).max(0) as f64;
        let name = self.template.text(range.index);
        if rest.is_empty() {
            return Ok(match range.second {
                None => n,
                Some((_, true)) => n * (n - 1.0) / 2.0,
                Some((_, false)) => n * (n + 1.0) / 2.0,
            });
        }
        let mut sum = 0.0;
        for value in low..=high {
            self.indices.push((name, value, range.index));
            let seconds = match range.second {
                None => vec![None],
                Some((span, strict)) => {
                    (value + i64::from(strict)..=high).map(|after| Some((span, after))).collect()
                }
            };
            for second in seconds {
                if let Some((span, after)) = second {
                    self.indices.push((self.template.text(span), after, span));
                }
                let counted = self.count(rest);
                if second.is_some() {
                    self.indices.pop();
                }
                sum += counted.inspect_err(|_| self.indices.clear())?;
            }
            self.indices.pop();
            if sum > 1e9 {
                break;
            }
        }
        Ok(sum)
    }

    /// An energy that is repeated under one name: a sum.
    pub(super) fn added(&mut self, body: &[Token], clause: &Clause) -> Outcome {
        let begin = depth_zero(body, "=").map_or(1, |equals| equals + 1);
        let (head, terms) = body.split_at(begin.min(body.len()));
        let span = whole(terms).unwrap_or(body[0].span);
        self.tokens(head)?;
        if self.deferred(clause, terms, span)? {
            return self.end(body);
        }
        let mut first = true;
        let most = MOST_WRITTEN.saturating_sub(self.reader.written_bytes);
        self.each(clause, &mut |writer| {
            if !std::mem::take(&mut first) {
                writer.sign("+", span);
            }
            writer.sign("(", span);
            writer.tokens(terms)?;
            writer.sign(")", span);
            match writer.draft.text.len() > most {
                true => Err(writer.too_many(span)),
                false => Ok(()),
            }
        })?;
        if first {
            self.put("0", span, Token { kind: Kind::Number(0.0), span });
        }
        self.end(body)
    }

    /// Does something for each choice of indices.
    pub(super) fn each(&mut self, clause: &Clause, action: Each<'_, 'w, 'g, 's>) -> Outcome {
        self.check_indices(clause)?;
        let count = self.indices.len();
        let done = self.choose(&clause.ranges, clause.condition.as_deref(), action);
        self.indices.truncate(count);
        done
    }

    fn choose(
        &mut self,
        ranges: &[Range],
        condition: Option<&[Token]>,
        action: Each<'_, 'w, 'g, 's>,
    ) -> Outcome {
        let Some((range, rest)) = ranges.split_first() else {
            if let Some(condition) = condition {
                let span = whole(condition).unwrap_or(self.template.peek().span);
                if self.value(condition, span)? == 0.0 {
                    return Ok(());
                }
            }
            return action(self);
        };
        let (low, high) = self.bounds(range)?;
        let name = |span: Span| self.template.text(span);
        let (index, second) =
            (name(range.index), range.second.map(|(span, strict)| (name(span), span, strict)));
        for value in low..=high {
            self.indices.push((index, value, range.index));
            match second {
                None => self.choose(rest, condition, action)?,
                Some((other, span, strict)) => {
                    for after in value + i64::from(strict)..=high {
                        self.indices.push((other, after, span));
                        self.choose(rest, condition, action)?;
                        self.indices.pop();
                    }
                }
            }
            self.indices.pop();
        }
        Ok(())
    }

    /// The ends of a range.
    fn bounds(&self, range: &Range) -> Result<(i64, i64), Diagnostic> {
        let open = |token: &&Token| {
            token.kind == Kind::Name
                && self.symbols.iter().any(|index| index == self.template.text(token.span))
        };
        if let Some(token) = range.low.iter().chain(&range.high).find(open) {
            let index = self.template.text(token.span);
            return Err(Diagnostic::at(
                range.span,
                format!("this range depends on the index `{index}` of a sum of very many terms"),
            )
            .help("write one sum with all indices, as `sum(i in 1..N, j in 1..i: …)`"));
        }
        let low = self.index(&range.low, range.span)?;
        let high = self.index(&range.high, range.span)?;
        let shown = |wrong: String| self.wrong(range.span, wrong);
        let named = range.low.iter().chain(&range.high).any(|token| token.kind == Kind::Name);
        if high < low && !(named && high == low - 1) {
            return Err(shown(format!("this range is empty: {low}..{high}"))
                .help("a range goes up from its first number to its last; both are part of it"));
        }
        if high.saturating_sub(low) >= MOST_REPEATED as i64 {
            let count = high.saturating_sub(low).saturating_add(1);
            return Err(shown(format!("this range has {count} numbers, and {MOST_REPEATED} are the most")));
        }
        Ok((low, high))
    }

    /// Something wrong where indices have values.
    fn wrong(&self, span: Span, message: String) -> Diagnostic {
        let wrong = Diagnostic::at(span, message);
        self.indices.iter().fold(wrong, |wrong, (name, value, span)| {
            wrong.related(*span, format!("`{name}` is {value} here"))
        })
    }

    /// An index, which is a whole number that is known now.
    pub(super) fn index(&self, tokens: &[Token], place: Span) -> Result<i64, Diagnostic> {
        let Some(span) = whole(tokens) else {
            return Err(Diagnostic::at(place, "an index is missing").help("write `x[i]`, or `x[1]`"));
        };
        let value = match self.simple(tokens) {
            Some(value) => value,
            None => self.value(tokens, span)?,
        };
        if value.fract() != 0.0 || value.abs() > 1e9 {
            return Err(self.wrong(span, format!("a whole number is expected here, not {value}")));
        }
        Ok(value as i64)
    }

    /// The value of what most indices are: `3`, `i`, `i-1`.
    fn simple(&self, tokens: &[Token]) -> Option<f64> {
        let value = |token: &Token| match token.kind {
            Kind::Number(value) => Some(value),
            Kind::Name => {
                let name = self.template.text(token.span);
                self.indices.iter().find(|(index, ..)| *index == name).map(|(_, value, _)| *value as f64)
            }
            _ => None,
        };
        match tokens {
            [one] => value(one),
            [one, sign, two] => match sign.kind {
                Kind::Sign("+") => Some(value(one)? + value(two)?),
                Kind::Sign("-") => Some(value(one)? - value(two)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of an expression of indices and parameters.
    fn value(&self, tokens: &[Token], span: Span) -> Result<f64, Diagnostic> {
        let mut inner = self.inner();
        inner.tokens(tokens)?;
        let sheet = |wrong: Diagnostic| Diagnostic { span: Some(span), related: Vec::new(), ..wrong };
        let text = inner.draft.text;
        let graph = self.reader.graph;
        let mut parser = Parser::new(graph, &text).map_err(|error| sheet(error.into()))?;
        let value = parser.expression(&self.reader.scope).map_err(|error| match &error {
            ParseError::UnknownName { name, .. } => sheet(Diagnostic::from(error.clone()).unknown(name)),
            _ => sheet(error.into()),
        })?;
        parser.finish().map_err(|error| sheet(error.into()))?;
        let value = value
            .scalar()
            .map_err(|found| Diagnostic::at(span, format!("a number is expected here, not {found}")))?;
        self.reader.known(value, span).map_err(|wrong| {
            Diagnostic { label: None, ..wrong }.help("indices and ranges are made of numbers and parameters")
        })
    }

    fn check_indices(&self, clause: &Clause) -> Outcome {
        let spans: Vec<Span> = clause.ranges.iter().flat_map(Range::indices).collect();
        for (at, &span) in spans.iter().enumerate() {
            self.check_index(span)?;
            let name = self.template.text(span);
            if let Some(first) = spans[..at].iter().find(|other| self.template.text(**other) == name) {
                return Err(Diagnostic::at(span, format!("`{name}` is an index already"))
                    .related(*first, "this is the first")
                    .help("choose another name for the index"));
            }
        }
        Ok(())
    }

    /// Refuses indices that mean something else already.
    fn check_index(&self, span: Span) -> Outcome {
        let name = self.template.text(span);
        let help = "choose another name for the index";
        if self.symbols.iter().any(|other| other == name) {
            return Err(Diagnostic::at(span, format!("`{name}` is an index already")).help(help));
        }
        if let Some((_, _, first)) = self.indices.iter().find(|(other, ..)| *other == name) {
            return Err(Diagnostic::at(span, format!("`{name}` is an index already"))
                .related(*first, "here")
                .help(help));
        }
        if let Some((role, place)) = self.reader.names.get(name) {
            return Err(Diagnostic::at(span, format!("`{name}` is already {}", role.what()))
                .related(*place, "declared here")
                .help(help));
        }
        if let Some(array) = self.reader.arrays.get(name) {
            return Err(Diagnostic::at(span, format!("`{name}` is already an array"))
                .related(array.span, "declared here")
                .help(help));
        }
        Ok(())
    }
}

fn unclosed(span: Span) -> Diagnostic {
    let bracket = "this bracket is never closed";
    Diagnostic::at(span, bracket).label("opened here")
}
