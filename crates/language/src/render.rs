//! Errors shown in their source.

use crate::diagnostic::{Diagnostic, Errors};
use crate::doubts::Doubt;
use ariadne::{Color, Config, Fmt, IndexType, Label, Report, ReportKind, Source};
use leastaction_expr::Span;

/// So many errors are shown: who reads more?
const SHOWN: usize = 20;

/// Of a long line, so many characters are shown before and after the beginning of what is wrong.
const BEFORE: usize = 60;
const AFTER: usize = 100;

/// Messages are cut after so many characters: names may be long.
const LONGEST: usize = 400;

impl Errors {
    /// The errors, each underlined in the source it was found in, or in the file that this includes, the first twenty of them. The name is that of the source.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    ///
    /// let graph = Graph::new();
    /// let text = "coord x\nkinetic x'^2/2\npotential 2x\n";
    /// let errors = leastaction_language::read(&graph, text, &[]).unwrap_err();
    /// let shown = errors.render("ball.motion", text, false);
    /// assert!(shown.starts_with("Error: an operator is missing"));
    /// assert!(shown.contains("ball.motion:3:11"));
    /// ```
    #[must_use]
    pub fn render(&self, name: &str, source: &str, colour: bool) -> String {
        let shown = self.diagnostics.iter().take(SHOWN);
        let mut parts: Vec<String> = shown
            .map(|diagnostic| match &diagnostic.file {
                Some(file) => diagnostic.render(ReportKind::Error, &file.path, &file.text, colour),
                None => diagnostic.render(ReportKind::Error, name, source, colour),
            })
            .collect();
        match self.diagnostics.len().saturating_sub(SHOWN) {
            0 => {}
            1 => parts.push("and one more error".to_owned()),
            more => parts.push(format!("and {more} more errors")),
        }
        parts.join("\n\n")
    }
}

impl Doubt {
    /// The doubt underlined in the source it was found in, as [`Errors::render`] shows errors.
    #[must_use]
    pub fn render(&self, name: &str, source: &str, colour: bool) -> String {
        self.diagnostic.render(ReportKind::Warning, name, source, colour)
    }
}

impl Diagnostic {
    /// The error underlined in its source.
    fn render(&self, kind: ReportKind<'_>, name: &str, source: &str, colour: bool) -> String {
        let Some(span) = self.span else { return self.plain(name, colour) };
        let related = self.related.iter().map(|(span, label)| (*span, Some(label.as_str()), Color::Blue));
        let mut places: Vec<_> = related.collect();
        places.push((span, self.label.as_deref(), Color::Red));
        // In the order of the text, or a line would be shown twice.
        places.sort_by_key(|(span, ..)| span.start);
        let excerpt = Excerpt::new(source, &places.iter().map(|(span, ..)| *span).collect::<Vec<_>>());

        let config = Config::default().with_color(colour).with_index_type(IndexType::Char);
        let (own, column, written) = excerpt.place(source, span);
        let mut report = Report::build(kind, (name, own)).with_config(config);
        report.set_message(short(&self.message));
        for (span, label, color) in places {
            let (place, ..) = excerpt.place(source, span);
            let marked = Label::new((name, place)).with_color(color);
            // Without a message the place would not be marked.
            report.add_label(marked.with_message(short(label.unwrap_or("here"))));
        }
        if let Some(help) = &self.help {
            report.set_help(short(help));
        }
        let text = Source::from(excerpt.text.as_str());
        let mut shown: Vec<u8> = Vec::new();
        if report.finish().write((name, text), &mut shown).is_err() {
            return self.plain(name, colour);
        }
        let shown = String::from_utf8_lossy(&shown);
        // A line that is cut begins further left than it is written.
        let (cut, whole) = (format!(":{} ", column + 1), format!(":{} ", written + 1));
        let mut lines = shown.lines().map(|line| line.trim_end().to_owned());
        let head = lines.next().into_iter().chain(lines.next().map(|line| line.replacen(&cut, &whole, 1)));
        head.chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// The error without a place.
    fn plain(&self, name: &str, colour: bool) -> String {
        let paint = |word: &str, color| {
            if colour { word.fg(color).to_string() } else { word.to_owned() }
        };
        let message = format!("{} {}: {}", paint("Error:", Color::Red), short(name), short(&self.message));
        match &self.help {
            Some(help) => format!("{message}\n  {}: {}", paint("Help", Color::Fixed(115)), short(help)),
            None => message,
        }
    }
}

/// The lines of a source between the first and the last of some places, cut where they are long, with nothing in them that would
/// move what stands after it.
struct Excerpt {
    /// The lines, after as many empty ones as come before them.
    text: String,
    /// For each of the lines: where it begins in the source, in bytes; where it begins in the text, in characters; the first
    /// of its characters that is shown; and how many are.
    lines: Vec<(usize, usize, usize, usize)>,
}

impl Excerpt {
    fn new(source: &str, places: &[Span]) -> Excerpt {
        let begin = |span: &Span| line_start(source, source.floor_char_boundary(span.start));
        let first = places.iter().map(begin).min().unwrap_or(0);
        let last = places.iter().map(begin).max().unwrap_or(0);
        let above = source[..first].matches('\n').count();
        let mut excerpt = Excerpt { text: "\n".repeat(above), lines: Vec::new() };
        let (mut at, mut written) = (first, above);
        for line in source[first..].split('\n') {
            let marked = places.iter().filter(|span| begin(span) == at).map(|span| span.start);
            let (from, shown) = match marked.min() {
                Some(place) => cut(line, line[..source.floor_char_boundary(place) - at].chars().count()),
                // Nothing is shown of lines in between.
                None => (0, String::new()),
            };
            let count = shown.chars().count();
            excerpt.lines.push((at, written, from, count));
            excerpt.text.push_str(&shown);
            // Room to mark the end of a line.
            excerpt.text.push_str(" \n");
            written += count + 2;
            if at == last {
                break;
            }
            at += line.len() + 1;
        }
        excerpt
    }

    /// Where a place is in the text, in characters; and its column, as it is shown and as it is written. A place ends with its
    /// first line.
    fn place(&self, source: &str, span: Span) -> (std::ops::Range<usize>, usize, usize) {
        let start = source.floor_char_boundary(span.start);
        let row = self.lines.partition_point(|(at, ..)| *at <= start).saturating_sub(1);
        let (at, offset, from, count) = self.lines.get(row).copied().unwrap_or((start, 0, 0, 0));
        let end = source.floor_char_boundary(span.end).clamp(start, line_end(source, start));
        let column = source[at..start].chars().count();
        let width = source[start..end].trim_end().chars().count().max(1);
        let shown = column.saturating_sub(from).min(count);
        let stop = (shown + width).min(count + 1);
        (offset + shown..offset + stop, shown, column)
    }
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |newline| at + newline)
}

/// The first character of a line that is shown, and what is shown of the line, if something is wrong at a column.
fn cut(line: &str, column: usize) -> (usize, String) {
    let line = line.trim_end();
    let from = if line.chars().nth(BEFORE + AFTER).is_some() { column.saturating_sub(BEFORE) } else { 0 };
    let mut shown: String = line.chars().skip(from).take(BEFORE + AFTER).map(blank).collect();
    if line.chars().nth(from + BEFORE + AFTER).is_some() {
        shown.push('…');
    }
    (from, shown)
}

/// Tabs and other control characters would move what stands after them, and some end lines.
fn blank(c: char) -> char {
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }
}

/// A message on one line, not too long, without control characters.
fn short(message: &str) -> String {
    let visible =
        |c: char| -> String { if blank(c) == c { c.to_string() } else { c.escape_unicode().to_string() } };
    let mut text: String = message.chars().take(LONGEST).map(visible).collect();
    if message.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, start: usize, end: usize) -> String {
        let related = vec![(Span { start: 0, end: 1 }, "there".to_owned())];
        let wrong = Diagnostic { related, ..Diagnostic::at(Span { start, end }, "wrong").help("do") };
        Errors { diagnostics: vec![wrong] }.render("a.motion", source, false)
    }

    #[test]
    fn odd_places_are_shown() {
        for source in
            ["", "\n", "a", "a\r\nb\r\n", "θ\tθ̇\n\u{85}x\u{2028}\u{b}y\r", "\u{feff}日本語 \n\n x", "\n\n"]
        {
            for start in 0..source.len() + 3 {
                for end in 0..source.len() + 3 {
                    let text = shown(source, start, end);
                    assert!(
                        text.contains("a.motion:") && text.contains("there"),
                        "{source:?} {start}..{end}: {text}"
                    );
                }
            }
        }
    }

    #[test]
    fn lines_and_columns_are_those_of_the_source() {
        let source = "# ü\r\n\tab = θθ + q\r\n";
        let at = source.find('q').unwrap_or(0);
        let text = shown(source, at, at + 1);
        assert!(text.contains("a.motion:2:12"), "{text}");
        assert!(text.lines().any(|line| line.ends_with(" ab = θθ + q")), "{text}");
    }

    #[test]
    fn long_lines_are_cut() {
        let source = format!("{}?{}", "x + ".repeat(100_000), " + x".repeat(100_000));
        let text = shown(&source, 400_000, 400_001);
        assert!(text.len() < 2000 && text.contains("a.motion:1:400001"), "{text}");
    }

    #[test]
    fn colour_only_when_asked() {
        let errors = Errors { diagnostics: vec![Diagnostic::at(Span { start: 0, end: 1 }, "wrong"); 30] };
        assert!(!errors.render("a", "x", false).contains('\u{1b}'));
        assert!(errors.render("a", "x", true).contains('\u{1b}'));
        assert!(errors.render("a", "x", false).ends_with("and 10 more errors"));
    }
}
