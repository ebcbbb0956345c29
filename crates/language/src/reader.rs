//! Reads a text, statement by statement, and goes on after what is wrong.

use crate::diagnostic::{Diagnostic, Errors};
use crate::drawing::Part;
use crate::include::Whole;
use crate::lines::{begins_part, statements};
use crate::part::Parts;
use crate::repeat::{Array, MARK, Many, Written, member};
use crate::role::Role;
use crate::setup::Setup;
use crate::sheet::{Page, Sheets};
use crate::source_map::{Fixed, Mention};
use crate::statement::{self, End, Link, MeshEntry, Statement, loose_body};
use crate::text::check_size;
use leastaction_expr::{
    Expr, Graph, Id, Kind, Node, Parser, Scope, Span, Token, UnboundSymbol, Value, needs_quotes, tokens,
};
use leastaction_mechanics::{Model, Placed, Pose, Rotation, Term, TermKind, constraint_of, gravity_on};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::{OnceCell, RefCell};

use std::path::{Path, PathBuf};

/// What a text says, read in the order in which it is written: a name is declared before it is used.
pub(crate) struct Reader<'g, 's> {
    pub(crate) graph: &'g Graph,
    pub(crate) source: &'s str,
    pub(crate) setup: Setup<'g>,
    pub(crate) scope: Scope<'g>,
    /// Values of parameters that take the place of those in the text.
    pub(crate) values: HashMap<String, f64>,
    /// The parameters with their values.
    pub(crate) parameters: HashMap<Id, f64>,
    /// Parameters whose values were used up in numbers, and where.
    pub(crate) fixed: RefCell<Vec<Fixed>>,
    /// The particles, points and bodies.
    pub(crate) places: Vec<Position<'g>>,
    /// The coordinates, those of bodies too.
    pub(crate) coordinates: Vec<String>,
    /// The same, to be found quickly, and how many momenta have names.
    pub(crate) numbered: HashMap<String, usize>,
    pub(crate) momenta: usize,
    /// States of first order.
    pub(crate) states: Vec<String>,
    /// Parameters and inputs that events set, and where.
    pub(crate) set: Vec<(String, Span)>,
    /// Points of bodies that have a name, and joints, whose names are those of the points that they hold together.
    pub(crate) points: HashMap<String, End<'g>>,
    /// The joints and springs.
    pub(crate) links: Vec<Link<'g>>,
    /// What constraints demand to be 0.
    pub(crate) constraints: Vec<Expr<'g>>,
    /// How many terms of a kind have no name of their own.
    unnamed: HashMap<&'static str, usize>,
    /// Declared names, what they are, and where that is said.
    pub(crate) names: HashMap<String, (Role, Span)>,
    /// Where names are declared in the whole text, once somebody asks.
    pub(crate) declarations: OnceCell<HashMap<&'s str, Vec<Span>>>,
    /// Values whose rates nobody has asked for yet, by name.
    pub(crate) rateless: HashMap<String, Value<'g>>,
    /// How many terms have been differentiated to find rates.
    pub(crate) rated: usize,
    /// The folder that paths in the text are taken from, if it has one.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) meshes: Vec<MeshEntry<'g>>,
    /// The parts that may be placed.
    pub(crate) parts: Parts,
    /// The arrays, by their names without indices.
    pub(crate) arrays: HashMap<String, Array>,
    /// The last page that was written out, and how many bytes there are on all.
    pub(crate) page: &'s Page,
    pub(crate) written_bytes: usize,
    /// The sums of very many terms.
    pub(crate) many: Vec<Many<'g, 's>>,
    /// Names of energies and their shares, for what is looked at along a run.
    pub(crate) energies: HashSet<String>,
    /// The bodies whose shapes can be drawn.
    pub(crate) shaped: Vec<Shaped<'g>>,
    /// Whether nothing is drawn but what the text says.
    pub(crate) draws_only: bool,
    /// The acceleration of gravity.
    pub(crate) pull: Vec<Expr<'g>>,
}

/// Where a particle, a point or a body is.
pub(crate) struct Position<'g> {
    pub(crate) name: String,
    pub(crate) at: Vec<Expr<'g>>,
    /// Nothing for a point.
    pub(crate) mass: Option<Expr<'g>>,
}

/// A body with a shape: the word for it, and its lengths.
#[derive(Clone)]
pub(crate) struct Shaped<'g> {
    pub(crate) name: String,
    pub(crate) word: &'static str,
    pub(crate) lengths: Vec<Expr<'g>>,
    /// How it is turned in the frame of the body.
    pub(crate) turn: Rotation,
}

/// Brackets may be nested so deep: nobody writes more, and what follows has stacks of its own.
const DEEPEST: usize = 200;

/// After so many errors the text is something else.
const MOST_ERRORS: usize = 200;

/// Statements that declare the name they begin with, and some of them more after commas.
pub(crate) const DECLARING: [&str; 15] = [
    "param", "coord", "momentum", "state", "input", "let", "particle", "point", "body", "joint", "mesh",
    "atoms", "field", "network", "place",
];

/// Statements that look at a run, in which energies have names.
const MEASURING: [&str; 4] = ["output", "invariant", "event", "every"];

/// Statements in which multipliers and reactions of constraints have names, and energies have none.
const ANSWERING: [&str; 4] = ["force", "torque", "state", "let"];

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
    read_in(graph, source, values, None, &[])
}

/// As [`read`], of a text that may name files by their paths from a folder. Names in expressions that will be asked for besides, such as `block.centre.z`, are given
/// their meaning.
///
/// # Errors
/// As [`read`].
pub fn read_in<'g>(
    graph: &'g Graph,
    source: &str,
    values: &[(&str, f64)],
    folder: Option<&Path>,
    asked: &[&str],
) -> Result<Setup<'g>, Errors> {
    check_size(source.len())?;
    let whole = Whole::new(source, folder)?;
    let (about, source) = (about(source), whole.text.as_str());
    let pages = Page::default();
    let mut scope = Scope::closed();
    scope.define("t", graph.symbol("t"));
    let mut reader = Reader {
        graph,
        source,
        setup: Setup::new(Model::new(graph)),
        scope,
        values: values.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        parameters: HashMap::default(),
        fixed: RefCell::default(),
        places: Vec::new(),
        points: HashMap::default(),
        links: Vec::new(),
        coordinates: Vec::new(),
        numbered: HashMap::default(),
        momenta: 0,
        states: Vec::new(),
        set: Vec::new(),
        constraints: Vec::new(),
        unnamed: HashMap::default(),
        names: HashMap::default(),
        declarations: OnceCell::new(),
        rateless: HashMap::default(),
        rated: 0,
        folder: folder.map(Path::to_owned),
        meshes: Vec::new(),
        parts: Parts::default(),
        arrays: HashMap::default(),
        page: &pages,
        written_bytes: 0,
        many: Vec::new(),
        energies: ["energy", "jacobi", "kinetic", "potential", "supplied", "dissipated"]
            .map(str::to_owned)
            .into_iter()
            .collect(),
        shaped: Vec::new(),
        draws_only: false,
        pull: Vec::new(),
    };
    reader.setup.source_map.sheets = Sheets::new(source);
    let (spans, mut wrong) = statements(source);
    if spans.is_empty() && wrong.is_empty() {
        let wrong = Diagnostic::of_all(if source.trim().is_empty() {
            "the text is empty"
        } else {
            "the text has comments only"
        });
        return Err(wrong.help("begin with what can move, such as `coord x`; `leastaction new NAME` writes a file to start from").into());
    }
    let mut lost: HashSet<String> = HashSet::default();
    for span in spans {
        if let Err(diagnostic) = reader.statement(span) {
            // A statement that is wrong declares nothing. What follows from that is not worth saying.
            let follows = diagnostic.unknown.as_ref().is_some_and(|name| lost.contains(&**name));
            lost.extend(reader.declared_by(span));
            lost.extend(std::mem::take(&mut reader.parts.lost));
            let more = std::mem::take(&mut reader.parts.more);
            for diagnostic in Some(diagnostic).filter(|_| !follows).into_iter().chain(more) {
                wrong.push(reader.setup.source_map.sheets.traced_all(diagnostic));
            }
            if wrong.len() > MOST_ERRORS {
                wrong.push(Diagnostic::of_all("there are more errors: the rest of the text was not read"));
                break;
            }
        }
        lost.extend(std::mem::take(&mut reader.parts.lost));
    }
    if wrong.is_empty() {
        wrong.extend(reader.weightless());
        wrong.extend(statement::used_up(&reader));
    }
    if wrong.is_empty() {
        for text in asked {
            // What is wrong with it is said where it is used.
            let found = tokens(text).unwrap_or_default();
            let names = found.iter().filter(|token| token.kind == Kind::Name);
            let names: Vec<_> =
                names.map(|token| (&text[token.span.start..token.span.end], Kind::Name, Kind::End)).collect();
            reader.members(&names);
        }
        reader.setup.about = about.to_owned();
        let mut setup = reader.finish();
        setup.source_map.source.clone_from(&whole.text);
        setup.source_map.whole = whole;
        return Ok(setup);
    }
    let sheets = &reader.setup.source_map.sheets;
    let mut wrong: Vec<Diagnostic> = wrong.into_iter().map(|wrong| sheets.traced_all(wrong)).collect();
    wrong.sort_by_key(|diagnostic| diagnostic.span.map_or(usize::MAX, |span| span.start));
    let diagnostics = wrong.into_iter().map(|wrong| whole.placed(wrong)).collect();
    Err(Errors { diagnostics })
}

impl<'g, 's> Reader<'g, 's> {
    fn statement(&mut self, span: Span) -> Result<(), Diagnostic> {
        if begins_part(&self.source[span.start..span.end]) {
            return self.define_part(span);
        }
        let template = Parser::within(self.graph, self.source, span)?.ignore_newlines();
        self.statement_of(&template, span)
    }

    /// Reads a statement by its words.
    pub(crate) fn statement_of(&mut self, template: &Parser<'g, 's>, span: Span) -> Result<(), Diagnostic> {
        check_depth(template.rest())?;
        let parts = self.parted(template);
        parts.iter().try_for_each(|tokens| self.part_of_statement(template, tokens, span))
    }

    /// Reads a statement, or a part that is one.
    fn part_of_statement(
        &mut self,
        template: &Parser<'g, 's>,
        tokens: &[Token],
        span: Span,
    ) -> Result<(), Diagnostic> {
        let wrong = match self.written(template, tokens)? {
            None => self.read_statement(template.clone()).err(),
            Some(Written { text, starts, begins }) => {
                starts.windows(2).enumerate().find_map(|(number, ends)| {
                    let text = &text[ends[0]..ends[1]];
                    let parser = Parser::placed(self.graph, text, begins + ends[0]);
                    let parser = parser.map(Parser::ignore_newlines).map_err(Diagnostic::from);
                    let read = parser.and_then(|parser| {
                        check_depth(parser.rest())?;
                        self.read_statement(parser)
                    });
                    read.err().map(|wrong| {
                        // What is repeated under one name is in its own way.
                        let itself = number > 0 && wrong.related.iter().any(|(span, _)| span.start >= begins);
                        let wrong = self.setup.source_map.sheets.traced_all(wrong);
                        match itself {
                            true => wrong.help("each needs a name of its own: give it the index, as `b[i]`"),
                            false => wrong,
                        }
                    })
                })
            }
        };
        match wrong {
            Some(wrong) => Err(self.indented(template, span, &wrong).unwrap_or(wrong)),
            None => Ok(()),
        }
    }

    /// Reads a statement from its first word on.
    fn read_statement(&mut self, mut parser: Parser<'g, 's>) -> Result<(), Diagnostic> {
        let token = parser.peek();
        let word = parser.text(token.span);
        let Some(Statement { read, form, word }) =
            statement::ALL.iter().find(|statement| token.kind == Kind::Name && statement.word == word)
        else {
            return Err(self.no_statement(&parser));
        };
        let named: Vec<(&'s str, Kind, Kind)> = parser
            .rest()
            .windows(2)
            .filter(|pair| matches!(pair[0].kind, Kind::Name | Kind::Quoted))
            .map(|pair| (parser.text(pair[0].span), pair[0].kind, pair[1].kind))
            .collect();
        self.members(&named);
        self.rates(&named);
        let measured = match word {
            word if MEASURING.contains(word) => self.measure(&named, true),
            word if ANSWERING.contains(word) => self.measure(&named, false),
            _ => Vec::new(),
        };
        parser.advance();
        self.setup.source_map.mark(Mention::Statement, word, token.span);
        let read = read(self, &mut parser).and_then(|()| match parser.finish() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.leftover(word, &parser).unwrap_or_else(|| error.into())),
        });
        measured.iter().for_each(|name| drop(self.scope.replace(name, None)));
        read.map_err(|wrong| match wrong.help.is_none() && wrong.unexpected {
            true => {
                let wrong = self.expected(word, &parser, wrong);
                let form = format!("{} is written `{form}`", article(word));
                Diagnostic { help: wrong.help.or(Some(form)), unexpected: true, ..wrong }
            }
            false => wrong,
        })
    }

    /// The names that a statement would have declared, were it right: those after its first word and after commas.
    fn declared_by(&self, span: Span) -> Vec<String> {
        let text = &self.source[span.start..span.end];
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // A misspelt word, or none, may have been meant to declare.
        if !DECLARING.contains(&word) && statement::ALL.iter().any(|statement| statement.word == word) {
            return Vec::new();
        }
        let name = |part: &str| {
            let part = part.trim_start();
            let end = part.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(part.len());
            part[..end].to_owned()
        };
        let inner = rest.lines().map(|line| line.trim_start().split_once(' ').map_or("", |(_, inner)| inner));
        let parts = rest.split([',', '\n']).chain(inner).chain([word]);
        parts.map(name).filter(|name| !name.is_empty()).collect()
    }

    /// A name to declare, which must be new.
    pub(crate) fn new_name(
        &self,
        parser: &mut Parser<'g, 's>,
        role: Role,
    ) -> Result<(String, Span), Diagnostic> {
        let mut ahead = parser.clone();
        let (name, span) = ahead.name()?;
        if ahead.peek().kind == Kind::Sign("'") {
            let primed = span.to(ahead.peek().span);
            return Err(Diagnostic::at(primed, format!("`{name}'` cannot be declared"))
                .help(format!("declare `{name}`: its rate `{name}'` comes with it")));
        }
        self.new_name_with_rate(parser, role)
    }

    /// The same, where its rate may follow.
    pub(crate) fn new_name_with_rate(
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
        if self.meshes.iter().any(|entry| entry.moving.fields.iter().any(|field| field.name == *name)) {
            return bad("it is a field", "choose another name");
        }
        if name == "t" {
            return bad("`t` is the time", "choose another name");
        }
        self.check_member(&name, span, role)?;
        if name.starts_with(MARK) {
            return bad("names do not begin like this", "choose another name");
        }
        // In a part that is placed, its name comes first.
        let inner = self.parts.inner(&name).unwrap_or(&name);
        if quoted || inner.contains('.') || inner.contains('[') && member(inner).is_none() {
            return bad("a name is letters, digits and underscores", "choose another name");
        }
        if needs_quotes(inner) {
            return bad("it has a meaning of its own", "choose another name");
        }
        Ok((name.into_owned(), span))
    }

    pub(crate) fn add_coordinate(&mut self, name: &str) {
        self.numbered.insert(name.to_owned(), self.coordinates.len());
        self.coordinates.push(name.to_owned());
    }

    pub(crate) fn declare(&mut self, name: &str, span: Span, role: Role) {
        self.names.insert(name.to_owned(), (role, span));
        self.add_member(name, span, role);
        self.setup.source_map.mark(Mention::Name, name, span);
        if matches!(role, Role::Particle | Role::Body) {
            self.setup.source_map.mark(Mention::Weight, &gravity_on(name), span);
        }
    }

    /// Gives the names of multipliers that a statement uses their meaning, and those of energies if it may use them, unless they have another one.
    fn measure(&mut self, named: &[(&str, Kind, Kind)], energies: bool) -> Vec<String> {
        let mut measured = Vec::new();
        for (name, ..) in named {
            let name = name.trim_matches('`');
            let has_meaning = energies && self.energies.contains(name) || self.is_multiplier(name);
            if has_meaning && self.scope.get(name).is_none() {
                self.scope.define(name, self.graph.symbol(name));
                measured.push(name.to_owned());
            }
        }
        measured
    }

    /// Whether a name is that of an energy, or `lambda_` or `reaction_` with that of a constraint.
    pub(crate) fn is_measured(&self, name: &str) -> bool {
        self.energies.contains(name) || self.is_multiplier(name)
    }

    fn is_multiplier(&self, name: &str) -> bool {
        constraint_of(name).is_some_and(|name| self.setup.model.has_constraint(name))
    }

    /// Declares the name of a term of the energies.
    pub(crate) fn declare_energy(&mut self, kind: &str, name: &str) {
        self.energies.extend([format!("{kind}.{name}"), name.to_owned()]);
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

    /// The text in which a place is, and where that begins.
    pub(crate) fn text_at(&self, span: Span) -> (&str, usize) {
        self.setup.source_map.sheets.text(span).unwrap_or((self.source, 0))
    }

    /// What stands at a place.
    pub(crate) fn text_of(&self, span: Span) -> &str {
        let (text, begins) = self.text_at(span);
        text.get(span.start - begins..span.end.saturating_sub(begins)).unwrap_or("")
    }

    /// The line of a place, before it and from it on.
    pub(crate) fn line_at(&self, at: usize) -> (&str, &str) {
        let (text, begins) = self.text_at(Span { start: at, end: at });
        let at = (at - begins).min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        (&text[start..at], text[at..].lines().next().unwrap_or(""))
    }

    /// Remembers that the value of a parameter was used up.
    pub(crate) fn fix(&self, parameter: &str, span: Span) {
        self.fixed.borrow_mut().push(Fixed { parameter: parameter.to_owned(), span, clause: None });
    }

    /// The value of an expression of parameters. What is made of it does not follow when they change: it is remembered that they are fixed here, so that
    /// nobody samples them.
    pub(crate) fn known(&self, expr: Expr<'g>, span: Span) -> Result<f64, Diagnostic> {
        let fixed = symbols(expr).into_iter().map(|parameter| Fixed { parameter, span, clause: None });
        self.fixed.borrow_mut().extend(fixed);
        match self.evaluate(expr) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => Err(Diagnostic::at(span, format!("this is {value}: numbers must be finite"))
                .help("look for a division by 0, or a root or logarithm of what is not positive")),
            Err(unbound) => Err(Diagnostic::at(span, format!("this depends on `{}`", unbound.symbol))
                .label("a number is expected here")
                .help("use numbers and parameters only")),
        }
    }

    /// The value of an expression of parameters, at a cost that does not depend on how many there are.
    pub(crate) fn evaluate(&self, expr: Expr<'g>) -> Result<f64, UnboundSymbol> {
        let value = |symbol: Expr<'g>| Some((symbol, *self.parameters.get(&symbol.id())?));
        let values: Vec<_> = symbols_in(expr).into_iter().filter_map(value).collect();
        expr.eval(&values)
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
        mention: Mention,
        sign: &'static str,
    ) -> Result<String, Diagnostic> {
        let place = parser.peek().span;
        match self.label(parser, sign)? {
            Some(name) => match self.setup.source_map.find(mention, &name) {
                Some(first) => {
                    Err(Diagnostic::at(place, format!("there are two {} `{name}`", plural(mention)))
                        .related(first, "the first one")
                        .help("rename one of them"))
                }
                None => Ok(name),
            },
            None => Ok(self.next_name(match mention {
                Mention::Term(kind) => kind.word(),
                _ => "event",
            })),
        }
    }

    /// A name made of a kind and a number.
    pub(crate) fn next_name(&mut self, kind: &'static str) -> String {
        let count = self.unnamed.entry(kind).or_insert(0);
        *count += 1;
        if *count == 1 { kind.to_owned() } else { format!("{kind}{count}") }
    }

    /// Meshes that have no mass.
    fn weightless(&self) -> Vec<Diagnostic> {
        let without = self.meshes.iter().filter(|entry| entry.material.is_none());
        let wrong = without.map(|entry| {
            let name = &entry.moving.name;
            let how = if entry.atoms { "mass M" } else { "density RHO" };
            Diagnostic::at(entry.span, format!("the mesh `{name}` has no mass"))
                .help(format!("say what it is made of: `material {name} {how}`"))
        });
        wrong.collect()
    }

    fn finish(mut self) -> Setup<'g> {
        self.place_bodies();
        self.lump();
        self.setup.meshes = std::mem::take(&mut self.meshes).into_iter().map(|entry| entry.moving).collect();
        // A mesh may be drawn before its nodes have become particles.
        for part in &mut self.setup.drawing.parts {
            if let Part::Mesh(part) = part {
                let mesh = self.setup.meshes.iter().find(|mesh| mesh.name == part.name);
                part.first = mesh.map_or(part.first, |mesh| mesh.first_place);
            }
        }
        if !self.draws_only {
            crate::picture::complete(&mut self);
        }
        // A state is what people want to see of it; what it is the rate of is recorded anyway.
        let set = std::mem::take(&mut self.set).into_iter().map(|(name, _)| name);
        for name in std::mem::take(&mut self.states).into_iter().chain(set) {
            if !self.setup.outputs.iter().any(|output| output.name == name) {
                let value = self.graph.symbol(&name);
                self.setup.outputs.push(Term { name, value });
            }
        }
        let mut names = self.scope.glossary();
        for Term { name, value } in self.setup.outputs.iter().chain(&self.setup.invariants) {
            if !self.names.contains_key(name) && self.scope.get(name).is_none() {
                names.add(name, *value);
            }
        }
        self.setup.model.set_names(names);
        self.setup.doubts = crate::doubts::doubts(&self);
        self.setup.source_map.source = self.source.to_owned();
        self.setup.source_map.fixed = self.fixed.into_inner();
        self.setup
    }
}

impl<'g> Reader<'g, '_> {
    /// Bodies of which no start is given start at the origin, their axes along those of the world, unless joints and constraints want them elsewhere.
    fn place_bodies(&mut self) {
        let given: HashMap<String, Expr<'g>> =
            self.setup.start.iter().map(|term| (term.name.clone(), term.value)).collect();
        let model = self.setup.model.clone();
        for body in model.bodies() {
            let origin = if body.dimensions() == 2 { Pose::at([0.0; 2]) } else { Pose::at([0.0; 3]) };
            let origin = origin.holding(body.centre_in_frame());
            let usual: HashMap<&str, f64> = match body.start(&origin) {
                Ok(usual) => usual.into_iter().collect(),
                Err(error) => unreachable!("every body can be at the origin: {error}"),
            };
            let nodes: Vec<Vec<String>> =
                body.nodes().iter().map(|node| node.iter().map(ToString::to_string).collect()).collect();
            let value = |name: &String| usual[name.as_str()];
            let missing = nodes.iter().flatten().filter(|&name| !given.contains_key(name)).count();
            if missing == nodes.iter().flatten().count() {
                self.setup.source_map.unplaced.push(body.name().to_owned());
                self.setup.loose.push(loose_body(body, Placed::Free, None));
            }
            for node in &nodes {
                for (name, centre) in
                    node.iter().zip(&nodes[0]).filter(|(name, _)| !given.contains_key(*name))
                {
                    // What is given by coordinates takes the rest of the body along.
                    let moved =
                        given.get(centre).copied().unwrap_or_else(|| self.graph.number(value(centre)));
                    let value = moved + (value(name) - value(centre));
                    self.setup.start.push(Term { name: name.clone(), value });
                }
            }
        }
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
    symbols_in(expr).into_iter().map(|symbol| symbol.to_string()).collect()
}

/// The symbols in an expression.
pub(crate) fn symbols_in(expr: Expr<'_>) -> Vec<Expr<'_>> {
    let graph = expr.graph();
    let nodes = graph.order(&[expr.id()]).into_iter();
    nodes.filter(|(_, node)| matches!(node, Node::Symbol(_))).map(|(id, _)| graph.at(id)).collect()
}

/// Terms of a kind, in words.
fn plural(mention: Mention) -> &'static str {
    match mention {
        Mention::Term(TermKind::Kinetic) => "kinetic energies",
        Mention::Term(TermKind::Potential) => "potential energies",
        Mention::Term(TermKind::Lagrangian) => "terms of the Lagrangian",
        Mention::Term(TermKind::Hamiltonian) => "terms of the Hamiltonian",
        Mention::Term(TermKind::Dissipation) => "dissipations",
        Mention::Term(TermKind::Constraint) => "constraints",
        _ => "events",
    }
}

fn article(word: &str) -> String {
    format!("{} `{word}`", if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

pub(crate) fn check_depth(tokens: &[Token]) -> Result<(), Diagnostic> {
    let mut depth = 0_usize;
    for token in tokens {
        match token.kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            let wrong = Diagnostic::at(token.span, format!("more than {DEEPEST} brackets are open here"));
            return Err(wrong.help("name the inner parts with `let`"));
        }
    }
    Ok(())
}
