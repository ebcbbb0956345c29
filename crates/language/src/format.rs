//! A text in its usual form: the same words, evenly spaced.

use crate::diagnostic::{Diagnostic, Errors};
use crate::lines::{begins_part, ends_part};
use leastaction_expr::{Kind, Span, Token, tokens};

/// Statements longer than this are broken at commas, or before a sign.
const WIDTH: usize = 100;

/// What continues a statement is indented so far.
const INDENT: &str = "    ";

/// Words that an expression may follow.
const WORDS: &[&str] = &[
    "about",
    "and",
    "angle",
    "at",
    "atol",
    "axis",
    "ball",
    "beam",
    "box",
    "bulk",
    "by",
    "cells",
    "centre",
    "charge",
    "cone",
    "cuboid",
    "curve",
    "cutoff",
    "cylinder",
    "density",
    "disk",
    "edge",
    "edges",
    "every",
    "for",
    "from",
    "ground",
    "hash",
    "height",
    "hidden",
    "holding",
    "in",
    "inertia",
    "lambda",
    "length",
    "level",
    "line",
    "mass",
    "moment",
    "moments",
    "moving",
    "mu",
    "on",
    "plate",
    "point",
    "poisson",
    "pressure",
    "quaternion",
    "rate",
    "rates",
    "rod",
    "samples",
    "scaled",
    "section",
    "segments",
    "set",
    "sphere",
    "spinning",
    "spring",
    "step",
    "stiffness",
    "tension",
    "thickness",
    "to",
    "tol",
    "trail",
    "turned",
    "turning",
    "units",
    "until",
    "viscosity",
    "where",
    "with",
    "young",
    "zxz",
];

/// Statements whose second word is a name, whatever it is.
pub(crate) const NAMING: [&str; 14] = [
    "part",
    "place",
    "param",
    "coord",
    "let",
    "input",
    "particle",
    "point",
    "body",
    "joint",
    "constraint",
    "event",
    "output",
    "invariant",
];

/// Whether an expression may follow a word, so that brackets behind it are a vector.
pub(crate) fn is_word(text: &str) -> bool {
    WORDS.contains(&text) || crate::statement::words().any(|word| word == text)
}

/// The text in its usual form. Only spaces and the ends of lines change, so it means the same; comments stay where they are.
///
/// ```
/// let tidy = leastaction_language::format("coord x,y\n\n\npotential  k*(x -y)^2/2# a spring\n")?;
/// assert_eq!(tidy, "coord x, y\n\npotential k*(x - y)^2/2  # a spring\n");
/// # Ok::<(), leastaction_language::Errors>(())
/// ```
///
/// Lines end as the first one does.
///
/// # Errors
/// [`Errors`] if a line is no line of the language: characters that mean nothing, numbers that are none.
pub fn format(source: &str) -> Result<String, Errors> {
    let (mut out, mut wrong) = (String::with_capacity(source.len()), Vec::new());
    let mut lines = Lines { source, at: 0 }.peekable();
    let mut gap = false;
    // Within a part, and how far its statements are indented once that is known.
    let mut part: Option<Option<usize>> = None;
    while let Some(line) = lines.next() {
        if line.text.trim().is_empty() {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.push('\n');
        }
        if ends_part(line.text) {
            part = None;
        }
        let begins = part.is_none_or(|_| !line.is_indented()) && begins_part(line.text);
        let mut margin = 0;
        if let Some(known) = part.as_mut().filter(|_| !begins && !line.is_comment()) {
            margin = *known.get_or_insert(line.indent());
        } else if let Some(Some(known)) = part {
            margin = known;
        }
        let inside = part.is_some() && !begins;
        // A statement has the indented lines below it, up to the last that is more than a comment.
        let mut statement = vec![line];
        if !line.is_comment() {
            let mut ahead;
            let mut pending = Vec::new();
            let within = |next: &Line<'_>| next.indent() > margin && !(inside && ends_part(next.text));
            // The statements of a part do not continue its first line, which ends with its brackets.
            while begins && open_brackets(&statement) {
                match lines.next() {
                    Some(next) => statement.push(next),
                    None => break,
                }
            }
            ahead = if begins { Lines { source, at: source.len() }.peekable() } else { lines.clone() };
            while let Some(next) = ahead.next_if(|next| next.is_blank() || next.is_comment() || within(next))
            {
                pending.push(next);
                if !next.is_blank() && !next.is_comment() {
                    statement.append(&mut pending);
                    lines = ahead.clone();
                }
            }
        }
        match arrange(source, &statement, if inside { INDENT } else { "" }) {
            Ok(text) => out.push_str(&text),
            Err(diagnostic) => wrong.push(diagnostic),
        }
        if begins {
            part = Some(None);
        }
    }
    // A file keeps the line ends that it has.
    if source.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
        out = out.replace('\n', "\r\n");
    }
    if wrong.is_empty() { Ok(out) } else { Err(Errors { diagnostics: wrong }) }
}

/// Whether brackets are left open by the last of these lines.
fn open_brackets(lines: &[Line<'_>]) -> bool {
    let signs = lines.iter().flat_map(|line| tokens(line.text).unwrap_or_default());
    let depth = signs.fold(0_i32, |depth, token| match token.kind {
        Kind::Sign("(" | "[") => depth + 1,
        Kind::Sign(")" | "]") => depth - 1,
        _ => depth,
    });
    depth > 0
}

/// A line and where it begins.
#[derive(Clone, Copy)]
struct Line<'s> {
    start: usize,
    text: &'s str,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_comment(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }

    fn is_indented(&self) -> bool {
        self.indent() > 0
    }

    /// How many spaces it begins with.
    fn indent(&self) -> usize {
        self.text.chars().take_while(|c| c.is_whitespace()).count()
    }
}

#[derive(Clone)]
struct Lines<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Iterator for Lines<'s> {
    type Item = Line<'s>;

    fn next(&mut self) -> Option<Line<'s>> {
        let rest = self.source.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line = Line { start: self.at, text: rest[..length].trim_end() };
        self.at += length;
        Some(line)
    }
}

/// A statement, or a comment, with its line ends, so far from the margin.
fn arrange(source: &str, lines: &[Line<'_>], margin: &str) -> Result<String, Diagnostic> {
    let mut pieces: Vec<(Vec<Token>, &str)> = Vec::with_capacity(lines.len());
    for line in lines {
        let mut found = tokens(line.text).map_err(|error| Diagnostic::from(error).shifted(line.start))?;
        let code_end = found.iter().rev().nth(1).map_or(0, |last| last.span.end);
        found.retain(|token| !matches!(token.kind, Kind::End | Kind::Newline));
        let comment = line.text[code_end..].trim();
        let place = |span: Span| Span { start: span.start + line.start, end: span.end + line.start };
        found.iter_mut().for_each(|token| token.span = place(token.span));
        pieces.push((found, comment));
    }
    let comments_inside = pieces.iter().rev().skip(1).any(|(_, comment)| !comment.is_empty());
    let mut out = String::new();
    if comments_inside {
        let mut writer = Writer::new(source);
        for (i, (tokens, comment)) in pieces.iter().enumerate() {
            let words = writer.words(tokens).join("");
            let line = [words.trim(), *comment].into_iter().filter(|part| !part.is_empty());
            let line = line.collect::<Vec<_>>().join("  ");
            if !line.is_empty() {
                let indent = if i == 0 { "" } else { INDENT };
                out.push_str(&format!("{margin}{indent}{line}\n"));
            }
        }
        return Ok(out);
    }
    let comment = pieces.last().map_or("", |(_, comment)| *comment);
    let all: Vec<Token> = pieces.into_iter().flat_map(|(tokens, _)| tokens).collect();
    out.push_str(&fold(&Writer::new(source).words(&all), WIDTH - margin.len()));
    if !comment.is_empty() {
        out.push_str(if out.is_empty() { "" } else { "  " });
        out.push_str(comment);
    }
    Ok(out.split('\n').map(|line| format!("{margin}{line}\n")).collect())
}

/// Words joined to lines of at most so many characters: broken after commas outside of brackets, and what is longer still before signs.
fn fold(words: &[String], width: usize) -> String {
    let length = |text: &str| text.chars().count();
    if words.iter().map(|word| length(word)).sum::<usize>() <= width {
        return words.concat().trim().to_owned();
    }
    let (mut pieces, mut depth) = (vec![Vec::new()], 0_usize);
    for word in words {
        let last = pieces.len() - 1;
        pieces[last].push(word.as_str());
        match word.trim() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => pieces.push(Vec::new()),
            _ => {}
        }
    }
    let room = width - INDENT.len();
    let split = |piece: Vec<&str>| {
        if length(&piece.concat()) <= room { vec![piece.concat()] } else { at_signs(&piece) }
    };
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces.into_iter().flat_map(split) {
        match lines.last_mut() {
            Some(line) if length(line) + length(piece.trim_end()) <= width => line.push_str(&piece),
            Some(_) => lines.push(format!("{INDENT}{}", piece.trim_start())),
            None => lines.push(piece.trim_start().to_owned()),
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Words as pieces that begin before signs, and before `to`, outside of brackets.
fn at_signs(words: &[&str]) -> Vec<String> {
    let (mut pieces, mut depth) = (vec![String::new()], 0_usize);
    for word in words {
        match word.trim() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "+" | "-" | "to" if depth == 0 && word.starts_with(' ') => pieces.push(String::new()),
            _ => {}
        }
        let last = pieces.len() - 1;
        pieces[last].push_str(word);
    }
    pieces
}

/// Puts spaces before tokens.
struct Writer<'s> {
    source: &'s str,
    /// The tokens before, and whether the last of them is an operand that an operator may follow.
    previous: Option<Token>,
    operand: bool,
    /// Whether the last sign was that of a sign, not of a difference.
    prefix: bool,
    /// Whether the name of a method or a field is being read, whose parts stay together.
    method: bool,
    /// Whether the nodes of an element are about to be named, which is no call.
    nodes: bool,
    field: bool,
    first: bool,
    /// Whether a name follows, whatever it is.
    naming: bool,
    /// For each open bracket, and outside of all: whether signs stand close, as in indices and ranges.
    close: Vec<bool>,
}

impl<'s> Writer<'s> {
    fn new(source: &'s str) -> Writer<'s> {
        Writer {
            source,
            previous: None,
            operand: false,
            prefix: false,
            method: false,
            nodes: false,
            field: false,
            first: true,
            naming: false,
            close: vec![false],
        }
    }

    fn words(&mut self, tokens: &[Token]) -> Vec<String> {
        tokens.iter().map(|&token| self.word(token)).collect()
    }

    /// A token with the space before it.
    fn word(&mut self, token: Token) -> String {
        let text = &self.source[token.span.start..token.span.end];
        let index = self.is_index(token);
        let space = self.space_before(token, text) && !index;
        let keyword = token.kind == Kind::Name
            && (self.first || WORDS.contains(&text) && !self.in_expression() && !self.naming);
        self.naming = self.first && NAMING.contains(&text);
        self.prefix = token.kind == Kind::Sign("-") && !self.operand;
        self.operand = match token.kind {
            Kind::Number(_) | Kind::Quoted | Kind::Text => true,
            Kind::Name => !keyword,
            Kind::Sign(sign) => matches!(sign, ")" | "]" | "'"),
            Kind::Newline | Kind::End => false,
        };
        let word = |word: &str| token.kind == Kind::Name && text == word;
        // `field NAME KIND on`, and `field NAME on ELEMENTS of MESH (a, b) =`.
        let field = self.first && word("field");
        self.method = field || word("method") || self.method && token.kind != Kind::Sign(",") && !word("on");
        self.field |= field;
        self.nodes = self.field && word("of") || self.nodes && token.kind != Kind::Sign("(");
        let inner = self.close.last().copied().unwrap_or(false);
        match token.kind {
            Kind::Sign("(" | "[") => self.close.push(index || inner),
            Kind::Sign(")" | "]") if self.close.len() > 1 => drop(self.close.pop()),
            // A range begins, and it ends.
            Kind::Name if text == "in" && keyword => *self.innermost() = true,
            Kind::Sign("," | ":" | "=") => *self.innermost() = false,
            Kind::Name if keyword => *self.innermost() = false,
            _ => {}
        }
        (self.first, self.previous) = (false, Some(token));
        format!("{}{text}", if space { " " } else { "" })
    }

    /// Whether an operand stands before, or between it and a sign that joins it with the next.
    fn operand_before(&self) -> bool {
        self.operand || matches!(self.previous.map(|token| token.kind), Some(Kind::Sign("+" | "-")))
    }

    fn innermost(&mut self) -> &mut bool {
        if self.close.is_empty() {
            self.close.push(false);
        }
        let last = self.close.len() - 1;
        &mut self.close[last]
    }

    /// Whether this bracket is that of an index: right behind a name.
    fn is_index(&self, token: Token) -> bool {
        let Some(previous) = self.previous.filter(|_| token.kind == Kind::Sign("[")) else { return false };
        let adjacent = previous.span.end == token.span.start;
        // Names are operands, and words are none.
        adjacent && self.operand && matches!(previous.kind, Kind::Name | Kind::Sign("]"))
    }

    /// Whether the token before demands an operand, so that a word here is a name.
    fn in_expression(&self) -> bool {
        let signs = ["+", "-", "*", "/", "^", "(", "[", "=", ":", "<", ">", "<=", ">=", "==", "!="];
        matches!(self.previous.map(|token| token.kind), Some(Kind::Sign(sign)) if signs.contains(&sign))
    }

    fn space_before(&self, token: Token, text: &str) -> bool {
        let Some(previous) = self.previous else { return false };
        let adjacent = previous.span.end == token.span.start;
        if self.method && adjacent && !matches!(token.kind, Kind::Sign("," | "[" | "(")) {
            return false;
        }
        let close = self.close.last().copied().unwrap_or(false);
        match (previous.kind, token.kind) {
            (Kind::Sign(".." | "."), _) | (_, Kind::Sign(".." | ".")) => false,
            (Kind::Sign("+" | "-"), _) | (_, Kind::Sign("+" | "-")) if close && self.operand_before() => {
                false
            }
            (_, Kind::Sign("," | ")" | "]" | "'" | ":" | ";")) => false,
            (Kind::Sign("(" | "[" | "*" | "/" | "^"), _) | (_, Kind::Sign("*" | "/" | "^")) => false,
            (Kind::Sign("-"), _) if self.prefix => false,
            (Kind::Name | Kind::Quoted, Kind::Sign("(")) if self.nodes => true,
            // A call, or a product of brackets that somebody forgot the sign of.
            (Kind::Name | Kind::Quoted, Kind::Sign("(")) if self.operand => false,
            _ => !text.is_empty(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::{WIDTH, format};

    fn tidy(text: &str) -> String {
        let once = format(text).unwrap();
        assert_eq!(format(&once).unwrap(), once, "not idempotent: {text}");
        once
    }

    #[test]
    fn signs_are_spaced() {
        assert_eq!(tidy("let f( a,b )=-a ^ -2*b-1+ b '*c.y"), "let f(a, b) = -a^-2*b - 1 + b'*c.y\n");
    }

    #[test]
    fn words_are_not_functions() {
        assert_eq!(tidy("particle a mass(m+1)at[x,-y]"), "particle a mass (m + 1) at [x, -y]\n");
        assert_eq!(
            tidy("run until -5,method  implicit-midpoint , step 1e-3"),
            "run until -5, method implicit-midpoint, step 1e-3\n"
        );
        assert_eq!(tidy("let a = length-1 + length(2)"), "let a = length - 1 + length(2)\n");
        assert_eq!(tidy("start b at [0,0]turned -1"), "start b at [0, 0] turned -1\n");
        assert_eq!(tidy("body b rod(l/2)mass 1"), "body b rod (l/2) mass 1\n");
        assert_eq!(
            tidy("field e  neo-hookean on b young -E  poisson nu"),
            "field e neo-hookean on b young -E poisson nu\n"
        );
        assert_eq!(
            tidy("field f on nodes of b(a)=k*max(0,-a.z)^2-sin( a0.x )"),
            "field f on nodes of b (a) = k*max(0, -a.z)^2 - sin(a0.x)\n"
        );
        assert_eq!(tidy("mesh p file \"a  b.msh\"at[0,0,1]"), "mesh p file \"a  b.msh\" at [0, 0, 1]\n");
        assert_eq!(tidy("constraint rod:dot(a,a)=1"), "constraint rod: dot(a, a) = 1\n");
        assert_eq!(
            tidy("constraint rod[ i ]:norm(b[i]-b[ i - 1 ].x+b[i].y')=l  for i in 1 .. N - 1 where i!=2+ 1"),
            "constraint rod[i]: norm(b[i] - b[i-1].x + b[i].y') = l for i in 1..N-1 where i != 2 + 1\n"
        );
        assert_eq!(
            tidy("potential sum( i<j in -1..N:-k[i] *x[j - (i+1)]^2 )"),
            "potential sum(i < j in -1..N: -k[i]*x[j-(i+1)]^2)\n"
        );
        assert_eq!(tidy("coord x [N],u[ 2*N ] [0 ..M]"), "coord x [N], u[2*N] [0..M]\n");
        assert_eq!(tidy("gravity[0,- g]"), "gravity [0, -g]\n");
        assert_eq!(tidy("draw dot b[i]for i in 1..N,j in 1..2"), "draw dot b[i] for i in 1..N, j in 1..2\n");
        assert_eq!(tidy("constraint `my rod` : x^2=1"), "constraint `my rod`: x^2 = 1\n");
    }

    #[test]
    fn lines_are_joined_broken_and_kept() {
        assert_eq!(tidy("\n\n# top\n\n\n\ncoord a,\n  b\n\n\n"), "# top\n\ncoord a, b\n");
        assert_eq!(tidy("coord a, # first\n      b # second\n"), "coord a,  # first\n    b  # second\n");
        assert_eq!(tidy("coord a,\n# between\n  b"), "coord a,\n    # between\n    b\n");
        assert_eq!(
            tidy("coord a\n# after\n\n  # more\ncoord b\r\n"),
            "coord a\n# after\n\n# more\ncoord b\n"
        );
        let long =
            format!("param {}", (0..40).map(|i| format!("m{i} = {i}.5")).collect::<Vec<_>>().join(", "));
        let broken = tidy(&long);
        assert!(broken.lines().count() > 2 && broken.lines().all(|line| line.len() <= WIDTH), "{broken}");
        let sum =
            format!("kinetic {}", (0..40).map(|i| format!("m{i}*x{i}'^2/2")).collect::<Vec<_>>().join(" + "));
        assert!(tidy(&sum).lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn parts_are_indented() {
        assert_eq!(
            tidy(
                "part leg( l,m=1 )# a\ncoord th\n  # more\n\nparticle  p mass m at [l,\n  th]\nend\nplace left=leg( l=2 )"
            ),
            "part leg(l, m = 1)  # a\n    coord th\n    # more\n\n    particle p mass m at [l, th]\nend\nplace left = leg(l = 2)\n"
        );
        let long: Vec<String> = (0..40).map(|i| format!("m{i} = {i}.5")).collect();
        let long = tidy(&format!("part a\n  param {}\nend\ncoord x,\n y", long.join(", ")));
        assert!(long.lines().all(|line| line.len() <= WIDTH), "{long}");
        assert!(long.contains("\n        m") && long.ends_with("\nend\ncoord x, y\n"), "{long}");
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(tidy(""), "");
        assert_eq!(tidy("# only"), "# only\n");
        assert!(format("coord x\nlet a = 1.2.3\n").is_err());
    }
}
