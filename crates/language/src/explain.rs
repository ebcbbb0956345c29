//! What a slip probably means: causes and suggestions for what people write.

use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, DECLARING, Reader};
use crate::role::Role;
use crate::statement;
use leastaction_expr::{Kind, ParseError, Parser, Span, nearest, tokens};
use leastaction_mechanics::constraint_of;
use rustc_hash::FxHashMap;

/// Words of other languages, and the statement or clause that says it here.
const SYNONYMS: &[(&str, &str)] = &[
    ("parameter", "param"),
    ("parameters", "param"),
    ("const", "param"),
    ("constant", "param"),
    ("float", "param"),
    ("real", "param"),
    ("variable", "coord"),
    ("var", "coord"),
    ("coordinate", "coord"),
    ("coordinates", "coord"),
    ("state", "coord"),
    ("def", "let"),
    ("function", "let"),
    ("define", "let"),
    ("mass", "particle"),
    ("ball", "particle"),
    ("K", "kinetic"),
    ("T", "kinetic"),
    ("U", "potential"),
    ("V", "potential"),
    ("L", "lagrangian"),
    ("H", "hamiltonian"),
    ("friction", "dissipation"),
    ("cuboid", "box"),
    ("cube", "box"),
    ("cloth", "plate"),
    ("sheet", "plate"),
    ("clamp", "fix"),
    ("pin", "fix"),
    ("hold", "fix"),
    ("inextensible", "keep"),
    ("incompressible", "keep"),
    ("conserve", "keep"),
    ("glue", "attach"),
    ("weld", "attach"),
    ("initial", "start"),
    ("init", "start"),
    ("simulate", "run"),
    ("solve", "run"),
    ("integrate", "run"),
    ("print", "output"),
    ("record", "output"),
    ("plot", "draw"),
    ("show", "draw"),
    ("stepsize", "step"),
    ("dt", "step"),
    ("timestep", "step"),
    ("tolerance", "tol"),
    ("rtol", "tol"),
    ("abstol", "atol"),
    ("accuracy", "tol"),
    ("duration", "until"),
    ("time", "until"),
    ("end", "until"),
    ("solver", "method"),
    ("integrator", "method"),
    ("interval", "every"),
    ("points", "samples"),
    ("frames", "samples"),
    ("circle", "dot"),
    ("disc", "dot"),
    ("disk", "dot"),
    ("bar", "rod"),
    ("link", "rod"),
    ("string", "rod"),
    ("path", "trail"),
    ("trace", "trail"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("tg", "tan"),
    ("root", "sqrt"),
    ("absolute", "abs"),
    ("length", "norm"),
];

/// One of these words that was probably meant.
pub(crate) fn meant(word: &str, among: &[&'static str]) -> Option<String> {
    let same = SYNONYMS.iter().find(|(other, here)| *other == word && among.contains(here));
    same.map(|(_, here)| (*here).to_owned()).or_else(|| nearest(word, among.iter().copied()))
}

const OF_TIME: &str = "a time derivative is written with a prime, as `x'`";
const SELECT: &str = "write `select(x > 0, a, b)` for what is `a` where x > 0, and `b` elsewhere";

impl From<ParseError> for Diagnostic {
    fn from(error: ParseError) -> Diagnostic {
        let (span, message) = (error.span(), error.to_string());
        match error {
            ParseError::MissingOperator { product, .. } => Diagnostic::at(span, "an operator is missing")
                .label("nothing stands between these")
                .help(format!("for a product write `{product}`")),
            ParseError::Unclosed { .. } => Diagnostic::at(span, message).label("opened here"),
            ParseError::Mismatched { opened, bracket, .. } => {
                let closing = if bracket == "[" { "]" } else { ")" };
                let wrong = Diagnostic::at(span, message).related(opened, "opened here");
                wrong.help(format!("close it with `{closing}`"))
            }
            ParseError::UnclosedQuote { .. } => Diagnostic::at(span, message)
                .label("opened here")
                .help("close it with another backquote; names without spaces need none"),
            ParseError::UnexpectedCharacter { found, instead, .. } => character(span, &found, instead),
            ParseError::MalformedNumber { .. } => {
                Diagnostic::at(span, message).help("a number has one decimal point, as `1.5` or `2e-3`")
            }
            ParseError::UnknownFunction { name, suggestion, .. } => {
                let wrong = Diagnostic::at(span, format!("unknown function `{name}`"))
                    .label("no such function")
                    .unknown(&name);
                let statement = |word: &str| statement::ALL.iter().any(|statement| statement.word == word);
                let alike = SYNONYMS.iter().find(|(other, here)| *other == name && !statement(here));
                let alike = alike.map(|(_, here)| *here);
                match (name.as_str(), alike.map(str::to_owned).or(suggestion)) {
                    ("diff" | "der" | "d" | "derivative", _) => wrong.help(OF_TIME),
                    ("pow" | "power" | "sqr" | "square", _) => {
                        wrong.help("a power is written with `^`, as `x^2`")
                    }
                    ("if" | "ifelse" | "cond" | "where" | "piecewise", _) => wrong.help(SELECT),
                    (_, Some(other)) => wrong.help(format!("did you mean `{other}`?")),
                    (name, None) => {
                        wrong.help(format!("functions are defined above their use: `let {name}(a) = …`"))
                    }
                }
            }
            ParseError::NotCalled { name, .. } => {
                Diagnostic::at(span, format!("`{name}` is a function, without its argument"))
                    .help(format!("write `{name}(…)`"))
            }
            ParseError::InFunction { name, given, inside, .. } => {
                let inside = inside.innermost();
                Diagnostic::at(span, format!("`{name}` does not take {given}"))
                    .label("called here")
                    .related(inside.span(), inside.to_string())
                    .help("a function takes what its text can use")
            }
            ParseError::RateOfArgument { name, .. } => {
                Diagnostic::at(span, format!("the rate of the argument `{name}` is not known"))
                    .label(format!("`{name}` is what a call puts here"))
                    .help("give the rate as another argument: a call then is `f(y, y')`")
            }
            ParseError::TooLarge { .. } => Diagnostic::at(span, message).help("write it another way"),
            ParseError::ChainedComparison { .. } => Diagnostic::at(span, "comparisons do not chain")
                .help("multiply them, as in `(a < b)*(b < c)`"),
            ParseError::Shape { problem, .. } => Diagnostic { span: Some(span), ..problem.into() },
            ParseError::Expected { .. } => Diagnostic { unexpected: true, ..Diagnostic::at(span, message) },
            _ => Diagnostic::at(span, message),
        }
    }
}

/// A character that means nothing.
fn character(span: Span, found: &str, instead: Option<&str>) -> Diagnostic {
    let wrong = Diagnostic::at(span, format!("`{found}` is not part of the language"));
    let help = match (found, instead) {
        (_, Some(instead)) => format!("write `{instead}`"),
        ("\u{307}" | "\u{308}", _) => {
            let start = span.start.saturating_sub(1);
            let wrong =
                Diagnostic::at(Span { start, ..span }, "a dot above a name is not part of the language");
            return wrong.help(OF_TIME);
        }
        ("\"" | "“" | "”" | "„" | "«" | "»", _) => {
            "names stand without quotes; one that has spaces stands in backquotes".to_owned()
        }
        ("°", _) => "angles are in radians: for 30° write `30*pi/180`".to_owned(),
        ("%", _) => "comments begin with `#`".to_owned(),
        ("|", _) => "the absolute value is `abs(x)`, the length of a vector `norm(a)`".to_owned(),
        (".", _) => format!(
            "{OF_TIME}; numbers begin with a digit; of a vector that has no name, give it one: `let v = …`, then `v.x`"
        ),
        ("!", _) => "there is no factorial: write the number that it stands for".to_owned(),
        (other, _)
            if other
                .chars()
                .all(|c| c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || c == '\u{feff}') =>
        {
            "remove it; your editor may not show it".to_owned()
        }
        _ => return wrong,
    };
    wrong.help(help)
}

impl<'g, 's> Reader<'g, 's> {
    /// A text that begins as no statement does.
    pub(crate) fn no_statement(&self, parser: &Parser<'g, 's>) -> Diagnostic {
        let token = parser.peek();
        let text = parser.text(token.span);
        let next = parser.peek_next();
        if token.kind != Kind::Name {
            let wrong = Diagnostic::at(token.span, format!("a statement cannot begin with `{text}`"));
            if self.line_at(token.span.start).1.starts_with("```") {
                return wrong.help("remove the lines with ```: they are not part of the model");
            }
            let comment = text == "/" && matches!(next.kind, Kind::Sign("/" | "*"));
            return match token.kind {
                _ if comment => wrong.help("comments begin with `#`"),
                Kind::Sign(_) => wrong.help("to continue the line above, indent this one"),
                _ => wrong.help("a statement begins with a word such as `coord`"),
            };
        }
        let wrong = Diagnostic::at(token.span, format!("no statement begins with `{text}`"));
        let words: Vec<&'static str> = statement::ALL.iter().map(|statement| statement.word).collect();
        if next.kind == Kind::Sign("'") {
            return wrong.help(format!(
                "equations of motion follow from energies: state `kinetic …` and `potential …`, and what else acts on it as `force {text} = …`"
            ));
        }
        if text == "end" && matches!(next.kind, Kind::End | Kind::Sign(";")) {
            return wrong.help("`end` ends a part, and none begins above: `part leg(l, m)`");
        }
        if text == "for" {
            return wrong
                .help("what is repeated stands first: `particle b[i] mass 1 at [x[i], 0] for i in 1..N`");
        }
        let alike = meant(text, &words).filter(|_| next.kind != Kind::Sign("=") || text.len() == 1);
        match (alike, next.kind) {
            (Some(word), Kind::Sign("=")) => wrong.help(format!("write `{word} …`, or `let {text} = …` to give an expression a name")),
            (Some(word), _) => wrong.help(format!("did you mean `{word}`?")),
            (None, Kind::Sign("=")) => wrong.help(format!(
                "write `param {text} = …` for a number that can be changed, `let {text} = …` for an expression"
            )),
            (None, _) => wrong.help(format!(
                "statements begin with {}; to continue the line above, indent this one",
                words.join(", ")
            )),
        }
    }

    /// What is left of a statement that could end here.
    pub(crate) fn leftover(&self, word: &str, parser: &Parser<'g, 's>) -> Option<Diagnostic> {
        let token = parser.peek();
        let text = parser.text(token.span);
        // A name may have primes.
        let next = parser
            .rest()
            .iter()
            .skip(1)
            .find(|token| token.kind != Kind::Sign("'"))
            .copied()
            .unwrap_or(token);
        let name = matches!(token.kind, Kind::Name | Kind::Quoted);
        let lists = matches!(word, "coord" | "momentum");
        let clause =
            word == "run" && ["method", "step", "tol", "atol", "until", "every", "samples"].contains(&text);
        Some(match token.kind {
            Kind::End => return None,
            Kind::Sign(";") => {
                Diagnostic::at(token.span, "a statement ends with its line").help("remove the `;`")
            }
            Kind::Sign(sign @ (")" | "]")) => {
                let open = if sign == "]" { "[" } else { "(" };
                Diagnostic::at(token.span, format!("there is no `{open}` for this `{sign}`"))
                    .help(format!("remove it, or write `{open}` where it opens"))
            }
            Kind::Sign("=") => Diagnostic::at(token.span, "there is one `=` too many"),
            Kind::Sign("-") if lists => {
                Diagnostic::at(token.span, "a name is letters, digits and underscores")
                    .help("write `_` in its place")
            }
            _ if name && (lists || clause || next.kind == Kind::Sign("=")) => {
                Diagnostic::at(token.span, format!("a comma is missing before `{text}`"))
                    .help(format!("write `, {text}`"))
            }
            _ if name && word == "param" => Diagnostic::at(
                token.span,
                format!("a parameter is a number, and nothing more: `{text}` cannot follow"),
            )
            .help("units are your own choice: note them in a comment, as `# kg`; for a product write `*`"),
            _ if matches!(text, "if" | "else" | "and" | "or" | "where") => {
                Diagnostic::at(token.span, format!("`{text}` is not part of the language")).help(SELECT)
            }
            _ => return None,
        })
    }

    /// A statement that is indented, and so continues the one above it, if that explains what is wrong.
    pub(crate) fn indented(
        &self,
        parser: &Parser<'g, 's>,
        statement: Span,
        wrong: &Diagnostic,
    ) -> Option<Diagnostic> {
        let end = wrong.span?.end;
        let text = parser.text(statement);
        let mut at = statement.start;
        for line in text.split_inclusive('\n') {
            let inner = line.trim_start();
            let start = at + (line.len() - inner.len());
            at += line.len();
            let length = inner.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(inner.len());
            let word = &inner[..length];
            if start > end {
                return None;
            }
            if start > statement.start && statement::ALL.iter().any(|other| other.word == word) {
                let span = Span { start, end: start + length };
                return Some(
                    Diagnostic::at(
                        span,
                        format!("`{word}` is indented, so it continues the statement above"),
                    )
                    .help("begin it at the margin"),
                );
            }
        }
        None
    }

    /// Where something else should stand: what people write there.
    pub(crate) fn expected(&self, word: &str, parser: &Parser<'g, 's>, wrong: Diagnostic) -> Diagnostic {
        let token = parser.peek();
        let text = parser.text(token.span);
        let before = parser.text(parser.previous());
        let compared = |sign: &str| {
            wrong.span.is_some_and(|span| {
                self.line_at(span.start).0.contains(sign) || self.text_of(span).contains(sign)
            })
        };
        let help = match token.kind {
            Kind::Sign("==") => "write `=`".to_owned(),
            Kind::Sign("'") if word == "force" => format!("a force acts on a coordinate: `force {before} = …`"),
            Kind::Sign("'") => "names stand without quotes".to_owned(),
            Kind::Text => "names stand without quotes; one that has spaces stands in backquotes".to_owned(),
            Kind::Sign("=") if word == "run" => "clauses have no `=`, as in `run step 0.01, until 10`".to_owned(),
            Kind::Sign(":") => "write `=`".to_owned(),
            Kind::Number(_) if before == "," => {
                format!("a comma separates; decimals have a point, as `1.{text}`")
            }
            Kind::Number(_) if parser.peek_next().kind == Kind::Name && parser.peek_next().span.start == token.span.end => {
                "a name cannot begin with a digit".to_owned()
            }
            Kind::End if before == "," => "remove the comma, or continue".to_owned(),
            Kind::Sign("*") if before == "/" => "comments begin with `#`".to_owned(),
            _ if matches!(word, "constraint" | "event") && compared("==") => {
                "write `=`: `==` compares two numbers".to_owned()
            }
            _ if word == "constraint" && (compared("<") || compared(">")) => {
                "a constraint is an equation: walls and stops that only push are not constraints; a steep potential stands for them, `event …, set …` bounces off them, and `event …, stop` ends the run there".to_owned()
            }
            _ if word == "event" && (compared("<") || compared(">")) => {
                "an event is where two sides become equal: write `=`, and `, rising` or `, falling` for one direction".to_owned()
            }
            _ => return wrong,
        };
        wrong.help(help)
    }

    /// An error in an expression, with what is known about names.
    pub(crate) fn explain(&self, error: ParseError) -> Diagnostic {
        let span = error.span();
        match &error {
            ParseError::UnknownName { name, suggestion, .. } => {
                self.unknown_name(name, suggestion.as_deref(), span)
            }
            ParseError::NoDerivative { what, .. } => {
                let name = what.trim_matches('`');
                let text = self.text_of(span);
                match self.names.get(name) {
                    Some((Role::Coordinate, _)) => Diagnostic::at(
                        span,
                        format!("`{text}` is an acceleration, which cannot stand here"),
                    )
                    .help(
                        "accelerations follow from energies and forces: use the coordinate and its velocity here, and `leastaction run --show \"x''\"` for its values",
                    ),
                    Some((Role::Parameter, _)) => Diagnostic::at(
                        span,
                        format!("`{name}` is a parameter, which does not change: it has no rate"),
                    )
                    .help(format!("declare `coord {name}` for what moves")),
                    Some((role @ (Role::Input | Role::Momentum), _)) => {
                        Diagnostic::at(span, format!("the rate of {} is not known", role.what()))
                    }
                    Some(_) => Diagnostic::at(
                        span,
                        format!("the rate of `{name}` is not known: it would need accelerations, or rates of inputs"),
                    )
                    .help("accelerations follow from energies and forces; use coordinates and velocities"),
                    None => Diagnostic::at(span, "a prime stands behind a name only")
                        .help("name it above, `let a = …`, and write `a'`"),
                }
            }
            _ => error.into(),
        }
    }

    fn unknown_name(&self, name: &str, suggestion: Option<&str>, span: Span) -> Diagnostic {
        if let Some(wrong) = self.no_member(name, span) {
            return wrong;
        }
        let wrong =
            Diagnostic::at(span, format!("unknown name `{name}`")).label("not declared").unknown(name);
        let (base, primes) = name.split_at(name.find('\'').unwrap_or(name.len()));
        if let Some(below) = self.declared_below(base, span) {
            return wrong.label("used here").related(below, "declared here").help(format!(
                "move the declaration of `{base}` up: names are declared before they are used"
            ));
        }
        if let Some(array) = self.arrays.get(base) {
            let index = array.ranges.iter().map(|(low, _)| format!("[{low}]")).collect::<String>();
            return wrong
                .label("an index is missing")
                .related(
                    array.span,
                    format!("the {} `{base}` have the indices {}", array.role.plural(), array.indices()),
                )
                .help(format!("write `{base}{index}{primes}`, or `{base}[i]` of an index `i`"));
        }
        if let Some(of) = self.derivative_of(base) {
            return wrong.help(format!("a time derivative is written with a prime: `{of}'`"));
        }
        let (before, after) = (self.line_at(span.start).0, self.line_at(span.end).1);
        let second = after.trim_start().split_once(' ').filter(|(word, rest)| {
            word.starts_with(char::is_alphabetic) && rest.trim_start().starts_with('=')
        });
        if before.trim() == "constraint" && after.trim_start().starts_with('=') {
            return wrong
                .help(format!("a constraint's name stands before a colon: `constraint {name}: … = …`"));
        }
        if let Some((second, _)) = second {
            return wrong.help(format!("a name with spaces stands in backquotes: `` `{name} {second}` ``"));
        }
        if let Some((_, part)) = base.rsplit_once('.')
            && let Some((owner, _)) =
                base.rsplit_once('.').filter(|(owner, _)| self.names.contains_key(*owner))
            && AXES.iter().any(|axis| self.scope.get(&format!("{owner}.{axis}")).is_some())
        {
            let parts = AXES.iter().map(|axis| format!("{owner}.{axis}"));
            let parts: Vec<_> = parts.filter(|name| self.scope.get(name).is_some()).collect();
            return wrong
                .label(format!("there is no `{part}`"))
                .help(format!("`{owner}` has the components `{}`", parts.join("`, `")));
        }
        if constraint_of(base).is_some() {
            return wrong.help(
                "what constraints press has a name below the constraint, in forces, torques, rates of states, `let`, outputs, invariants and events",
            );
        }
        if self.energies.contains(base) {
            return wrong.help("energies have names in outputs, invariants and events only");
        }
        let mut split = base.char_indices().skip(1).map(|(at, _)| base.split_at(at));
        let product = split.find(|(a, b)| self.scope.get(a).is_some() && self.scope.get(b).is_some());
        if let Some((a, b)) = product.filter(|_| primes.is_empty()) {
            return wrong.help(format!("for a product write `{a}*{b}`"));
        }
        match suggestion {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None if primes.is_empty() => wrong.help(format!(
                "declare it above: `param {base} = …` for a number, `coord {base}` for what moves, `let {base} = …` for an expression"
            )),
            None => wrong.help(format!("declare it above: `coord {base}`; its rate `{name}` comes with it")),
        }
    }

    /// The name of which another is the time derivative, in other notations.
    fn derivative_of(&self, name: &str) -> Option<String> {
        let precomposed = ["ẋx", "ẏy", "żz", "ṙr", "ṡs"].into_iter().find_map(|pair| {
            let mut letters = pair.chars();
            let dotted = letters.next()?;
            name.starts_with(dotted).then(|| letters.chain(name.chars().skip(1)).collect::<String>())
        });
        let others = [
            name.strip_suffix("_dot"),
            name.strip_suffix("dot"),
            name.strip_prefix("dot_"),
            name.strip_prefix("d"),
            name.strip_suffix("dt").and_then(|rest| rest.strip_prefix("d")),
        ];
        let all = precomposed.into_iter().chain(others.into_iter().flatten().map(str::to_owned));
        let known = |name: &String| !name.is_empty() && self.scope.get(&format!("{name}'")).is_some();
        all.into_iter().find(known)
    }

    /// Where a name is declared further down.
    pub(crate) fn declared_below(&self, name: &str, from: Span) -> Option<Span> {
        let all = self.declarations.get_or_init(|| declarations(self.source));
        let places = all.get(name)?;
        places.get(places.partition_point(|place| place.start < from.end)).copied()
    }
}

/// The names that a text declares, and where, in its order.
fn declarations(source: &str) -> FxHashMap<&str, Vec<Span>> {
    let mut found: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let word = line.split([' ', '\t']).next().unwrap_or("");
        if !DECLARING.contains(&word) {
            continue;
        }
        let Ok(tokens) = tokens(line.trim_end()) else { continue };
        let lists = matches!(word, "param" | "coord" | "momentum" | "input" | "let");
        let mut depth = 0_usize;
        for pair in tokens.windows(2) {
            let [before, token] = pair else { continue };
            match before.kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            let begins = before.span.start == 0 || lists && depth == 0 && before.kind == Kind::Sign(",");
            if begins && token.kind == Kind::Name {
                let span = Span { start: start + token.span.start, end: start + token.span.end };
                found.entry(&source[span.start..span.end]).or_default().push(span);
            }
        }
    }
    found
}
