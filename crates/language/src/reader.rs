//! Reads a text, statement by statement, and goes on after what is wrong.

use crate::diagnostic::{Diagnostic, Errors};
use crate::lines::statements;
use crate::setup::Setup;
use crate::statement::{self, End, Link, Statement};
use leastaction_expr::{Expr, Graph, Kind, Node, ParseError, Parser, Scope, Span, Token, Value, nearest};
use leastaction_mechanics::Model;
use std::collections::HashMap;

/// What a text says, read in the order in which it is written: a name is declared before it is used.
pub(crate) struct Reader<'g, 's> {
    pub(crate) graph: &'g Graph,
    pub(crate) source: &'s str,
    pub(crate) setup: Setup<'g>,
    pub(crate) scope: Scope<'g>,
    /// Values of parameters that take the place of those in the text.
    pub(crate) values: HashMap<String, f64>,
    /// The parameters with their values.
    pub(crate) parameters: Vec<(Expr<'g>, f64)>,
    /// The particles, points and bodies.
    pub(crate) places: Vec<Position<'g>>,
    /// The coordinates, those of bodies too.
    pub(crate) coordinates: Vec<String>,
    /// Points of bodies that have a name, and joints, whose names are those of the points that they hold together.
    pub(crate) points: HashMap<String, End<'g>>,
    /// The joints and springs.
    pub(crate) links: Vec<Link<'g>>,
    /// What constraints demand to be 0.
    pub(crate) constraints: Vec<Expr<'g>>,
    /// What the start sets, and what the run says, and where.
    pub(crate) starts: Vec<(String, Span)>,
    pub(crate) clauses: Vec<(String, Span)>,
    /// How many terms of a kind have no name of their own.
    unnamed: HashMap<&'static str, usize>,
    /// Declared names, what they are, and where that is said.
    pub(crate) names: HashMap<String, (Role, Span)>,
}

/// Where a particle, a point or a body is.
pub(crate) struct Position<'g> {
    pub(crate) name: String,
    pub(crate) at: Vec<Expr<'g>>,
    /// Nothing for a point.
    pub(crate) mass: Option<Expr<'g>>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Parameter,
    Coordinate,
    Momentum,
    Input,
    Definition,
    Function,
    Particle,
    Point,
    Body,
    Joint,
}

impl Role {
    /// In words, with an article.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Role::Parameter => "a parameter",
            Role::Coordinate => "a coordinate",
            Role::Momentum => "a momentum",
            Role::Input => "an input",
            Role::Definition => "a definition",
            Role::Function => "a function",
            Role::Particle => "a particle",
            Role::Point => "a point",
            Role::Body => "a body",
            Role::Joint => "a joint",
        }
    }
}

/// Brackets may be nested so deep: nobody writes more, and what follows has stacks of its own.
const DEEPEST: usize = 200;

/// Statements that declare the name they begin with, and some of them more after commas.
const DECLARING: [&str; 9] =
    ["param", "coord", "momentum", "input", "let", "particle", "point", "body", "joint"];

/// The components of a vector, in names such as `bob.x`.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// What a text says. Values of parameters given here take the place of those in the text.
///
/// ```
/// use leastaction_expr::Graph;
///
/// let graph = Graph::new();
/// let pendulum = "
/// param l = 1, g = 9.81
/// coord th
/// particle bob mass 1 at [l*sin(th), -l*cos(th)]
/// gravity [0, -g]
/// start th = 0.5
/// ";
/// let setup = leastaction_language::read(&graph, pendulum, &[("l", 2.0)])?;
/// let mut dynamics = setup.model.system()?.dynamics()?;
/// let start = dynamics.start(&setup.start(&dynamics)?)?;
/// let mut energy = [0.0];
/// dynamics.energy(&[0.0], &start.block(), &mut energy)?;
/// assert_eq!(energy, [-2.0 * 9.81 * 0.5f64.cos()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Errors`] with everything that is wrong, each at its place.
pub fn read<'g>(graph: &'g Graph, source: &str, values: &[(&str, f64)]) -> Result<Setup<'g>, Errors> {
    let mut scope = Scope::closed();
    scope.define("t", graph.symbol("t"));
    let mut reader = Reader {
        graph,
        source,
        setup: Setup::new(Model::new(graph)),
        scope,
        values: values.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        parameters: Vec::new(),
        places: Vec::new(),
        points: HashMap::new(),
        links: Vec::new(),
        coordinates: Vec::new(),
        constraints: Vec::new(),
        starts: Vec::new(),
        clauses: Vec::new(),
        unnamed: HashMap::new(),
        names: HashMap::new(),
    };
    let (spans, mut wrong) = statements(source);
    let mut lost: Vec<String> = Vec::new();
    for span in spans {
        if let Err(diagnostic) = reader.statement(span) {
            // A statement that is wrong declares nothing. What follows from that is not worth saying.
            let follows = diagnostic.unknown.as_ref().is_some_and(|name| lost.contains(name));
            lost.extend(reader.declared_by(span));
            if !follows {
                wrong.push(diagnostic);
            }
        }
    }
    if wrong.is_empty() {
        return Ok(reader.finish());
    }
    wrong.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    Err(Errors { diagnostics: wrong })
}

impl<'g, 's> Reader<'g, 's> {
    fn statement(&mut self, span: Span) -> Result<(), Diagnostic> {
        let mut parser = Parser::within(self.graph, self.source, span)?.ignore_newlines();
        check_depth(self.source, span)?;
        let token = parser.peek();
        let Some(Statement { read, form, word }) = self.keyword(&parser)? else {
            return Err(self.no_statement(parser.text(token.span), token.span));
        };
        parser.advance();
        let read = read(self, &mut parser).and_then(|()| match parser.finish() {
            Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        });
        read.map_err(|diagnostic| match diagnostic {
            Diagnostic { help: None, .. } => {
                diagnostic.help(format!("{} is written `{form}`", article(word)))
            }
            diagnostic => diagnostic,
        })
    }

    fn keyword(&self, parser: &Parser<'g, 's>) -> Result<Option<&'static Statement>, ParseError> {
        let token = parser.peek();
        if token.kind != Kind::Name {
            return Err(parser.unexpected("a statement, which begins with a word such as `coord`"));
        }
        Ok(statement::ALL.iter().find(|statement| statement.word == parser.text(token.span)))
    }

    fn no_statement(&self, word: &str, span: Span) -> Diagnostic {
        let wrong = Diagnostic::at(span, format!("no statement begins with `{word}`"));
        match nearest(word, statement::ALL.iter().map(|statement| statement.word)) {
            Some(word) => wrong.help(format!("did you mean `{word}`?")),
            None => {
                let words: Vec<&str> = statement::ALL.iter().map(|statement| statement.word).collect();
                wrong.help(format!(
                    "statements begin with {}; to continue the line above, indent this one",
                    words.join(", ")
                ))
            }
        }
    }

    /// The names that a statement would have declared, were it right: those after its first word and after commas.
    fn declared_by(&self, span: Span) -> Vec<String> {
        let text = &self.source[span.start..span.end];
        let Ok(tokens) = leastaction_expr::tokens(text) else { return Vec::new() };
        let word = tokens.first().map_or("", |token| &text[token.span.start..token.span.end]);
        if !DECLARING.contains(&word) {
            return Vec::new();
        }
        let begins = |before: &Token| before.span.start == 0 || before.kind == Kind::Sign(",");
        let pairs = tokens.iter().zip(tokens.iter().skip(1));
        let names = pairs.filter(|(before, token)| begins(before) && token.kind == Kind::Name);
        names.map(|(_, token)| text[token.span.start..token.span.end].to_owned()).collect()
    }

    /// A name to declare, which must be new.
    pub(crate) fn new_name(
        &self,
        parser: &mut Parser<'g, 's>,
        role: Role,
    ) -> Result<(String, Span), Diagnostic> {
        let quoted = parser.peek().kind == Kind::Quoted;
        let (name, span) = parser.name()?;
        let bad = |why: &str, help: &str| {
            Err(Diagnostic::at(span, format!("`{name}` cannot be {}: {why}", role.what())).help(help))
        };
        if let Some((first, place)) = self.names.get(&*name) {
            let wrong = Diagnostic::at(span, format!("`{name}` is already {}", first.what()));
            return Err(wrong.related(*place, "declared here").help("choose another name"));
        }
        if name == "t" {
            return bad("`t` is the time", "choose another name");
        }
        if quoted || name.contains('.') {
            return bad("a name is letters, digits and underscores", "choose another name");
        }
        if self.graph.symbol(&name).to_string().starts_with('`') {
            return bad("the name has a meaning of its own", "choose another name");
        }
        Ok((name.into_owned(), span))
    }

    pub(crate) fn declare(&mut self, name: &str, span: Span, role: Role) {
        self.names.insert(name.to_owned(), (role, span));
    }

    /// Gives a name a value, its components, and its rate if it has one.
    pub(crate) fn define(&mut self, name: &str, value: &Value<'g>) {
        self.define_with_parts(name, value.clone());
        if let Some(rate) = self.rate(value) {
            self.define_with_parts(&format!("{name}'"), rate);
        }
    }

    fn define_with_parts(&mut self, name: &str, value: Value<'g>) {
        if let Value::Vector(components) = &value {
            let (base, primes) = name.split_at(name.find('\'').unwrap_or(name.len()));
            for (&component, axis) in components.iter().zip(AXES) {
                self.scope.define(&format!("{base}.{axis}{primes}"), component);
            }
        }
        self.scope.define(name, value);
    }

    /// How a value changes along the motion, if that follows from coordinates, velocities and time.
    fn rate(&self, value: &Value<'g>) -> Option<Value<'g>> {
        let rate = |e: Expr<'g>| {
            let rate = self.setup.model.velocity(e);
            // A rate is known if its symbols are: accelerations, and rates of inputs and momenta, are not.
            let known = symbols(rate).iter().all(|name| self.scope.get(name).is_some());
            known.then_some(rate)
        };
        match value {
            Value::Scalar(e) => rate(*e).map(Value::Scalar),
            Value::Vector(components) => {
                components.iter().map(|&e| rate(e)).collect::<Option<Vec<_>>>().map(Value::Vector)
            }
        }
    }

    /// An expression.
    pub(crate) fn value(&self, parser: &mut Parser<'g, 's>) -> Result<Value<'g>, Diagnostic> {
        parser.expression(&self.scope).map_err(|error| self.explain(error))
    }

    /// An expression that is a number, and its place.
    pub(crate) fn scalar(&self, parser: &mut Parser<'g, 's>) -> Result<(Expr<'g>, Span), Diagnostic> {
        let start = parser.peek().span;
        let value = self.value(parser)?;
        let span = start.to(parser.previous());
        let wrong = |found| Diagnostic::at(span, format!("a number is expected here, not {found}"));
        value.scalar().map(|expr| (expr, span)).map_err(wrong)
    }

    /// An expression that is a vector of 1 to 3 components, or a number for a vector of one.
    pub(crate) fn vector(&self, parser: &mut Parser<'g, 's>) -> Result<(Vec<Expr<'g>>, Span), Diagnostic> {
        let start = parser.peek().span;
        let value = self.value(parser)?;
        let span = start.to(parser.previous());
        match value {
            Value::Scalar(expr) => Ok((vec![expr], span)),
            Value::Vector(components) if components.len() <= 3 => Ok((components, span)),
            Value::Vector(components) => {
                let found = components.len();
                Err(Diagnostic::at(
                    span,
                    format!("a vector of 1, 2 or 3 is expected here, not one of {found}"),
                ))
            }
        }
    }

    /// A number that is known when the text is read: parameters have their values.
    pub(crate) fn number(&self, parser: &mut Parser<'g, 's>) -> Result<(f64, Span), Diagnostic> {
        let (expr, span) = self.scalar(parser)?;
        Ok((self.known(expr, span)?, span))
    }

    /// The value of an expression of parameters.
    pub(crate) fn known(&self, expr: Expr<'g>, span: Span) -> Result<f64, Diagnostic> {
        match expr.eval(&self.parameters) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => Err(Diagnostic::at(span, format!("this is {value}: numbers must be finite"))),
            Err(unbound) => Err(Diagnostic::at(span, format!("this depends on `{}`", unbound.symbol))
                .label("a number is expected here")
                .help("use numbers and parameters only")),
        }
    }

    /// Steps over a sign.
    pub(crate) fn sign(
        &self,
        parser: &mut Parser<'g, 's>,
        sign: &str,
        expected: &'static str,
    ) -> Result<(), Diagnostic> {
        if parser.accept(sign) { Ok(()) } else { Err(parser.unexpected(expected).into()) }
    }

    /// Steps over a word.
    pub(crate) fn word(
        &self,
        parser: &mut Parser<'g, 's>,
        word: &str,
        expected: &'static str,
    ) -> Result<(), Diagnostic> {
        if parser.accept_word(word) { Ok(()) } else { Err(parser.unexpected(expected).into()) }
    }

    /// The name of a term, `NAME =`, if there is one.
    pub(crate) fn label(
        &self,
        parser: &mut Parser<'g, 's>,
        sign: &'static str,
    ) -> Result<Option<String>, Diagnostic> {
        let named = matches!(parser.peek().kind, Kind::Name | Kind::Quoted);
        if !named || parser.peek_next().kind != Kind::Sign(sign) {
            return Ok(None);
        }
        let (name, _) = parser.name()?;
        parser.advance();
        Ok(Some(name.into_owned()))
    }

    /// The name of a term, or one made of its kind and a number: `constraint`, `constraint2`.
    pub(crate) fn term_name(
        &mut self,
        parser: &mut Parser<'g, 's>,
        kind: &'static str,
        sign: &'static str,
    ) -> Result<String, Diagnostic> {
        match self.label(parser, sign)? {
            Some(name) => Ok(name),
            None => Ok(self.next_name(kind)),
        }
    }

    /// A name made of a kind and a number.
    pub(crate) fn next_name(&mut self, kind: &'static str) -> String {
        let count = self.unnamed.entry(kind).or_insert(0);
        *count += 1;
        if *count == 1 { kind.to_owned() } else { format!("{kind}{count}") }
    }

    /// Says of a name that is declared further down that it is.
    fn explain(&self, error: ParseError) -> Diagnostic {
        let span = error.span();
        match &error {
            ParseError::UnknownName { name, suggestion, .. } => {
                let wrong = Diagnostic::at(span, format!("unknown name `{name}`")).unknown(name);
                match (self.declared_below(name, span), suggestion) {
                    (Some(below), _) => wrong
                        .related(below, "declared here")
                        .help(format!("move the declaration of `{name}` up: names are declared before they are used")),
                    (None, Some(other)) => wrong.help(format!("did you mean `{other}`?")),
                    (None, None) => wrong.help(format!(
                        "declare it above: `param {name} = …` for a number, `coord {name}` for what moves, `let {name} = …` for an expression"
                    )),
                }
            }
            _ => error.into(),
        }
    }

    /// Where a name stands first in a statement further down.
    fn declared_below(&self, name: &str, from: Span) -> Option<Span> {
        let below = self.source.get(from.end..)?;
        let mut at = from.end;
        for line in below.split_inclusive('\n') {
            let begins = DECLARING.iter().any(|word| line.starts_with(&format!("{word} ")));
            if let Ok(tokens) = leastaction_expr::tokens(line.trim_end())
                && begins
                && let Some(token) = tokens
                    .iter()
                    .skip(1)
                    .find(|t| t.kind == Kind::Name && &line[t.span.start..t.span.end] == name)
            {
                return Some(Span { start: at + token.span.start, end: at + token.span.end });
            }
            at += line.len();
        }
        None
    }

    fn finish(mut self) -> Setup<'g> {
        if self.setup.drawing.parts.is_empty() {
            self.setup.drawing = crate::picture::picture(&mut self);
        }
        self.setup.about = about(self.source).to_owned();
        self.setup
    }
}

/// What a text is about: the first line of the comment that it begins with, if it does.
#[must_use]
pub fn about(source: &str) -> &str {
    let first = source.lines().map(str::trim).find(|line| !line.is_empty());
    let comment = first.and_then(|line| line.strip_prefix('#'));
    comment.map_or("", |text| text.trim_start_matches('#').trim())
}

/// The names of the symbols in an expression.
pub(crate) fn symbols(expr: Expr<'_>) -> Vec<String> {
    let graph = expr.graph();
    let nodes = graph.order(&[expr.id()]).into_iter().map(|id| graph.node(id));
    nodes
        .filter_map(|node| match node {
            Node::Symbol(index) => Some(graph.symbol_at(index).to_string()),
            _ => None,
        })
        .collect()
}

fn article(word: &str) -> String {
    format!("{} `{word}`", if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

fn check_depth(source: &str, span: Span) -> Result<(), Diagnostic> {
    let mut depth = 0_usize;
    for (i, byte) in source.as_bytes()[span.start..span.end].iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            let at = span.start + i;
            return Err(Diagnostic::at(
                Span { start: at, end: at + 1 },
                format!("more than {DEEPEST} brackets are open here"),
            )
            .help("name the inner parts with `let`"));
        }
    }
    Ok(())
}
