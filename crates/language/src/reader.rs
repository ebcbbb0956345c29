//! Reads a text, statement by statement, and goes on after what is wrong.

mod finish;
mod names;
mod operands;

pub(crate) use operands::{symbols, symbols_in};

use crate::diagnostic::{Diagnostic, Errors};
use crate::include::Whole;
use crate::lines::{begins_part, statements};
use crate::part::Parts;
use crate::repeat::{Array, Many, Written};
use crate::role::Role;
use crate::setup::Setup;
use crate::sheet::{Page, Sheets};
use crate::source_map::{Fixed, Mention};
use crate::statement::{self, End, Link, MeshEntry, Statement};
use crate::text::check_size;
use leastaction_expr::{Expr, Graph, Id, Kind, Parser, Scope, Span, Token, Value, tokens};
use leastaction_mechanics::{Model, Rotation};
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

/// A shape of a body: the word for it, and its lengths.
#[derive(Clone)]
pub(crate) struct Shaped<'g> {
    /// The name of the body.
    pub(crate) name: String,
    pub(crate) word: &'static str,
    pub(crate) lengths: Vec<Expr<'g>>,
    /// Where its centre of mass is in the frame of the body: at the origin, if nothing is said.
    pub(crate) centre: Vec<Expr<'g>>,
    /// How it is turned there.
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
}

/// What a text is about: the first line of the comment that it begins with, if it does.
#[must_use]
pub fn about(source: &str) -> &str {
    let first = source.lines().map(str::trim).find(|line| !line.is_empty());
    let comment = first.and_then(|line| line.strip_prefix('#'));
    comment.map_or("", |text| text.trim_start_matches('#').trim())
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
