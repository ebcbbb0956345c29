//! The texts that are read: that of the model, and what is written out from it, such as the statements that a `for` repeats.
//!
//! All places are numbers on one line: those of the text come first, and each sheet that is written out has its own range behind them. Whatever keeps a
//! place so keeps it rightly; before it is shown, it is traced to the words from which the sheet was written.

use crate::diagnostic::Diagnostic;
use leastaction_expr::{Span, tokens};
use std::cell::OnceCell;
use std::sync::Arc;

/// Where written texts are kept while they are read: each page has a place for the next.
#[derive(Default)]
pub(crate) struct Page {
    text: Arc<str>,
    next: OnceCell<Box<Page>>,
}

impl Page {
    /// Appends a text to the last page; gives it, and what is then the last page.
    pub(crate) fn append(&self, text: &Arc<str>) -> (&str, &Page) {
        let next = || Box::new(Page { text: text.clone(), next: OnceCell::new() });
        let page = self.next.get_or_init(next);
        (&page.text, page)
    }
}

impl Drop for Page {
    /// One after the other: a chain of many would drop each within the one before.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut page) = next {
            next = page.next.take();
        }
    }
}

/// A text that was written out from statements.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    begins: usize,
    text: Arc<str>,
    /// Where each of its statements begins, and where the last one ends.
    starts: Vec<usize>,
    origin: Origin,
}

/// From which words the tokens of a sheet were written.
#[derive(Clone, Debug)]
enum Origin {
    /// The same for each of its statements.
    Same(Vec<Span>),
    /// For each of them.
    Each(Vec<Vec<Span>>),
}

/// A sheet while it is written.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    starts: Vec<usize>,
    origins: Vec<Vec<Span>>,
    same: bool,
    /// Where the tokens of the statement come from that is being written.
    pub(crate) origin: Vec<Span>,
}

impl Draft {
    /// Ends a statement.
    pub(crate) fn end(&mut self) {
        let start = self.starts.last().copied().unwrap_or(0);
        if self.starts.is_empty() {
            self.starts.push(start);
            self.same = true;
        }
        self.text.push('\n');
        self.starts.push(self.text.len());
        let origin = std::mem::take(&mut self.origin);
        if self.same && self.origins.first().is_some_and(|first| *first != origin) {
            let first = self.origins[0].clone();
            self.origins.resize(self.starts.len() - 2, first);
            self.same = false;
        }
        if !self.same || self.origins.is_empty() {
            self.origins.push(origin);
        } else {
            // The list is used again.
            self.origin = origin;
            self.origin.clear();
        }
    }

    /// How many statements there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// All sheets, in the order of their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheets {
    /// Where the text of the model ends.
    root: usize,
    list: Vec<Sheet>,
}

impl Sheets {
    pub(crate) fn new(source: &str) -> Sheets {
        Sheets { root: source.len() + 1, list: Vec::new() }
    }

    /// Where the next sheet begins.
    fn end(&self) -> usize {
        self.list.last().map_or(self.root, |sheet| sheet.begins + sheet.text.len() + 1)
    }

    /// Keeps a sheet; gives its text, and the place at which each of its statements begins, and the last one ends.
    pub(crate) fn add(&mut self, draft: Draft) -> (Arc<str>, Vec<usize>, usize) {
        let (begins, text) = (self.end(), Arc::<str>::from(draft.text));
        let starts = draft.starts.clone();
        let mut origins = draft.origins;
        let origin = match draft.same {
            true => Origin::Same(origins.pop().unwrap_or_default()),
            false => Origin::Each(origins),
        };
        self.list.push(Sheet { begins, text: text.clone(), starts: draft.starts, origin });
        (text, starts, begins)
    }

    fn sheet(&self, at: usize) -> Option<&Sheet> {
        let after = self.list.partition_point(|sheet| sheet.begins <= at);
        self.list[..after].last().filter(|_| at >= self.root)
    }

    /// The text of a sheet that was written, and where it begins; none for a place in the text of the model.
    pub(crate) fn text(&self, span: Span) -> Option<(&str, usize)> {
        self.sheet(span.start).map(|sheet| (&*sheet.text, sheet.begins))
    }

    /// The place in the text of the model from which something was written.
    pub(crate) fn traced(&self, mut span: Span) -> Span {
        while let Some(sheet) = self.sheet(span.start) {
            let before = span;
            span = sheet.origin_of(span);
            if span == before {
                break;
            }
        }
        span
    }

    /// What is wrong, at its places in the text of the model.
    pub(crate) fn traced_all(&self, mut wrong: Diagnostic) -> Diagnostic {
        let places = wrong.span.iter_mut().chain(wrong.related.iter_mut().map(|(span, _)| span));
        places.for_each(|span| *span = self.traced(*span));
        // A statement that is repeated may disagree with itself.
        let span = wrong.span;
        wrong.related.retain(|(other, label)| Some(*other) != span || label.contains('`'));
        wrong
    }
}

impl Sheet {
    fn origin_of(&self, span: Span) -> Span {
        let local = |at: usize| at.saturating_sub(self.begins).min(self.text.len());
        let (start, end) = (local(span.start), local(span.end));
        let statement = self.starts.partition_point(|&at| at <= start).saturating_sub(1);
        let statement = statement.min(self.starts.len().saturating_sub(2));
        let origins = match &self.origin {
            Origin::Same(origins) => origins,
            Origin::Each(all) => &all[statement],
        };
        let (first, last) = (self.starts[statement], self.starts[statement + 1]);
        let found = tokens(&self.text[first..last]).unwrap_or_default();
        let from = found.partition_point(|token| first + token.span.end <= start);
        let to = found.partition_point(|token| first + token.span.start < end).max(from + 1);
        let within = &origins[from.min(origins.len())..to.min(origins.len())];
        let begin = within.iter().map(|span| span.start).min();
        let end = within.iter().map(|span| span.end).max();
        let whole = origins.last().copied().unwrap_or(Span { start: 0, end: 0 });
        match begin.zip(end) {
            Some((start, end)) => Span { start, end },
            // Behind the last token.
            None => Span { start: whole.end, end: whole.end },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    #[test]
    fn places_are_traced_to_words() {
        let mut draft = Draft::default();
        for (text, origin) in [
            ("a[1] b", vec![span(0, 4), span(5, 6)]),
            ("a[10] b", vec![span(0, 4), span(5, 6)]),
            ("a[11] ( b", vec![span(0, 4), span(5, 6), span(5, 6)]),
        ] {
            draft.text.push_str(text);
            draft.origin = origin;
            draft.end();
        }
        assert_eq!(draft.count(), 3);
        let mut sheets = Sheets::new("a[i] b");
        let (text, starts, begins) = sheets.add(draft);
        assert_eq!((begins, &starts[..]), (7, &[0, 7, 15, 25][..]));
        let place = |word: &str, from: usize| begins + from + text[from..].find(word).unwrap_or(0);
        for (from, b) in [(0, span(5, 6)), (7, span(5, 6)), (15, span(5, 6))] {
            let at = place("b", from);
            assert_eq!(sheets.traced(span(at, at + 1)), b);
            let at = place("a[", from);
            assert_eq!(sheets.traced(span(at, at + 1)), span(0, 4));
            assert_eq!(sheets.traced(span(at, place("b", from) + 1)), span(0, 6));
        }
        assert_eq!(sheets.traced(span(3, 4)), span(3, 4));
    }

    #[test]
    fn many_pages_are_dropped() {
        let first = Page::default();
        let mut last = &first;
        for i in 0..200_000 {
            let (text, page) = last.append(&format!("{i}").into());
            assert!(!text.is_empty());
            last = page;
        }
    }
}
