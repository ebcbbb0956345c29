//! Functions that a text defines: their arguments are numbers or vectors, whatever a call gives.

use super::expression::MOST_TERMS;
use super::{Kind, ParseError, Parser, Scope, Span, Value};
use crate::{Expr, Graph, Substitution};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Functions call others so deep: each one is read while another is.
const DEEPEST: usize = 64;

/// The forms of a function that were needed, by the shapes of the arguments.
type Forms<'g> = FxHashMap<Vec<Shape>, Result<Rc<Form<'g>>, ParseError>>;

/// A function: its text, which is read once for every choice of shapes that calls make.
#[derive(Clone, Debug)]
pub(super) struct Function<'g> {
    pub(super) source: FunctionText,
    forms: RefCell<Forms<'g>>,
}

/// The text of a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionText {
    arguments: Vec<Box<str>>,
    /// The text of the value, and where it begins in its source.
    text: Box<str>,
    at: usize,
}

impl FunctionText {
    /// The function, of which no form was needed yet.
    pub(super) fn function<'g>(&self) -> Function<'g> {
        Function { source: self.clone(), forms: RefCell::default() }
    }
}

/// The number of components of a vector, or 0 for a number.
type Shape = usize;

/// The value of a function whose arguments have certain shapes, with symbols in place of them.
#[derive(Debug)]
pub(super) struct Form<'g> {
    symbols: Vec<Expr<'g>>,
    value: Value<'g>,
    /// How many nodes the value has.
    pub(super) terms: usize,
}

impl<'g> Form<'g> {
    /// The value with arguments in place of the symbols that stand for them.
    pub(super) fn of(&self, graph: &'g Graph, arguments: &[Value<'g>]) -> Value<'g> {
        let mut known = Substitution::new(graph);
        let given = arguments.iter().flat_map(components).copied();
        self.symbols.iter().zip(given).for_each(|(&symbol, value)| known.replace(symbol, value));
        match &self.value {
            Value::Scalar(value) => known.apply(&[*value])[0].into(),
            Value::Vector(components) => known.apply(components).into(),
        }
    }
}

fn components<'a, 'g>(value: &'a Value<'g>) -> &'a [Expr<'g>] {
    match value {
        Value::Scalar(expr) => std::slice::from_ref(expr),
        Value::Vector(components) => components,
    }
}

/// What the arguments of a function are while its text is read. They hide other names, with their parts and rates.
#[derive(Debug)]
pub(super) struct Frame<'g> {
    known: FxHashMap<Box<str>, Value<'g>>,
    symbols: Vec<Expr<'g>>,
}

impl<'g> Frame<'g> {
    fn new(graph: &'g Graph, function: &str, arguments: &[Box<str>], shapes: &[Shape]) -> Frame<'g> {
        let (mut known, mut symbols) = (FxHashMap::default(), Vec::new());
        for (argument, &shape) in arguments.iter().zip(shapes) {
            // No other name looks like these.
            let name = format!("{function}({argument})");
            if shape == 0 {
                symbols.push(graph.symbol(&name));
                known.insert(argument.clone(), graph.symbol(&name).into());
                continue;
            }
            let own: Vec<_> = (0..shape).map(|i| graph.symbol(&format!("{name}.{i}"))).collect();
            for (&component, axis) in own.iter().zip(["x", "y", "z"]) {
                known.insert(format!("{argument}.{axis}").into(), component.into());
            }
            symbols.extend(&own);
            known.insert(argument.clone(), own.into());
        }
        Frame { known, symbols }
    }

    /// The argument that a name is, or is a part or the rate of.
    fn owner<'n>(&self, name: &'n str) -> Option<&'n str> {
        let root = &name[..name.find(['.', '\'']).unwrap_or(name.len())];
        self.known.contains_key(root).then_some(root)
    }
}

/// The names that an expression may use: those of a scope, behind the arguments of the function it is the value of.
#[derive(Clone, Copy)]
pub(super) struct Names<'a, 'g> {
    pub(super) scope: &'a Scope<'g>,
    pub(super) frame: Option<&'a Frame<'g>>,
    pub(super) depth: usize,
}

impl<'a, 'g> Names<'a, 'g> {
    /// The argument that a name is, or is a part or the rate of.
    pub(super) fn argument<'n>(&self, name: &'n str) -> Option<&'n str> {
        self.frame.and_then(|frame| frame.owner(name))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value<'g>> {
        match self.frame {
            Some(frame) if frame.owner(name).is_some() => frame.known.get(name),
            _ => self.scope.get(name),
        }
    }

    /// The names, in no particular order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a str> {
        let own = self.frame.into_iter().flat_map(|frame| frame.known.keys().map(AsRef::as_ref));
        own.chain(self.scope.names())
    }
}

impl<'g> Function<'g> {
    pub(super) fn arity(&self) -> usize {
        self.source.arguments.len()
    }

    /// The value for arguments of these shapes.
    pub(super) fn form(
        &self,
        graph: &'g Graph,
        names: Names<'_, 'g>,
        function: &str,
        arguments: &[Value<'g>],
    ) -> Result<Rc<Form<'g>>, ParseError> {
        let shape = |value: &Value<'g>| match value {
            Value::Scalar(_) => 0,
            Value::Vector(components) => components.len(),
        };
        self.form_of_shapes(graph, names, function, arguments.iter().map(shape).collect())
    }

    fn form_of_shapes(
        &self,
        graph: &'g Graph,
        names: Names<'_, 'g>,
        function: &str,
        shapes: Vec<Shape>,
    ) -> Result<Rc<Form<'g>>, ParseError> {
        if let Some(known) = self.forms.borrow().get(&shapes) {
            return known.clone();
        }
        let FunctionText { arguments, text, at } = &self.source;
        let whole = Span { start: *at, end: at + text.len() };
        // What is read once more is counted as if it were terms.
        if names.depth >= DEEPEST || !names.scope.spend(text.len() / 8, MOST_TERMS) {
            return Err(ParseError::TooLarge { span: whole, limit: MOST_TERMS });
        }
        let frame = Frame::new(graph, function, arguments, &shapes);
        let names = Names { frame: Some(&frame), depth: names.depth + 1, ..names };
        let read = || {
            let mut parser = Parser::new(graph, text)?.ignore_newlines();
            let value = parser.expression_of(names)?;
            parser.finish()?;
            Ok(value)
        };
        let form = read().map(|value| {
            Rc::new(Form { terms: terms(graph, &value), value, symbols: frame.symbols.clone() })
        });
        let form = form.map_err(|error: ParseError| error.shifted(*at));
        // How deep a call is says nothing about the next one.
        if !matches!(form.as_ref().map_err(ParseError::innermost), Err(ParseError::TooLarge { .. })) {
            self.forms.borrow_mut().insert(shapes, form.clone());
        }
        form
    }
}

/// How many nodes a value has.
fn terms(graph: &Graph, value: &Value<'_>) -> usize {
    let ids: Vec<_> = components(value).iter().map(|e| e.id()).collect();
    graph.order(&ids).len()
}

impl<'g> Parser<'g, '_> {
    /// The value of a function of these arguments, from the current token on, which enters the scope. Within it, the arguments hide other
    /// names, with their parts and rates. What they are, numbers or vectors, is found when it is called; what could be right
    /// for no arguments is found now.
    ///
    /// ```
    /// # use leastaction_expr::{Graph, Parser, Scope};
    /// # let graph = Graph::new();
    /// let mut scope = Scope::open();
    /// Parser::new(&graph, "norm(p - q)^2")?.function(&mut scope, "apart", &["p", "q"])?;
    /// let read = |text| Parser::new(&graph, text)?.expression(&scope);
    /// assert_eq!(read("apart([a, 0], [0, b])")?, read("norm([a, -b])^2")?);
    /// assert_eq!(read("apart(a)").unwrap_err().to_string(), "`apart` takes 2 arguments, not 1");
    /// let wrong = read("apart(a, b)").unwrap_err().to_string();
    /// assert_eq!(wrong, "`apart` does not take a number and a number: `norm` takes a vector: for a number write `abs`");
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`ParseError`] with the place.
    pub fn function(
        &mut self,
        scope: &mut Scope<'g>,
        name: &str,
        arguments: &[&str],
    ) -> Result<(), ParseError> {
        let arguments: Vec<Box<str>> = arguments.iter().map(|&argument| argument.into()).collect();
        let first = self.at;
        let start = self.peek().span;
        let numbers = vec![0; arguments.len()];
        let frame = Frame::new(self.graph, name, &arguments, &numbers);
        let names = Names { scope, frame: Some(&frame), depth: 0 };
        let read = self.expression_of(names);
        let form = match read {
            Ok(value) => {
                Ok(Rc::new(Form { terms: terms(self.graph, &value), value, symbols: frame.symbols.clone() }))
            }
            Err(error @ ParseError::TooLarge { .. }) => return Err(error),
            Err(error) if !error.is_about_shapes(&frame) => return Err(error),
            Err(error) => {
                self.at = first;
                self.skip_value(names)?;
                Err(error)
            }
        };
        let span = start.to(self.previous());
        let function = Function {
            source: FunctionText { arguments, text: self.text(span).into(), at: span.start },
            forms: RefCell::new(std::iter::once((numbers, form.clone())).collect()),
        };
        if let Err(error) = form {
            // What is wrong for numbers and for vectors alike is wrong, and so is what has nothing to do with shapes.
            let names = Names { scope, frame: None, depth: 0 };
            let mut alike = true;
            for shape in [2, 3] {
                let shapes = vec![shape; function.arity()];
                match function.form_of_shapes(self.graph, names, name, shapes) {
                    Err(other) if !other.is_about_shapes(&frame) => return Err(other),
                    other => alike &= other.err().as_ref() == Some(&error),
                }
            }
            if alike {
                return Err(error);
            }
        }
        scope.insert_function(name, function);
        Ok(())
    }

    /// Steps over a value without reading it, but for its names: those must be known.
    fn skip_value(&mut self, names: Names<'_, 'g>) -> Result<(), ParseError> {
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End | Kind::Newline => return Ok(()),
                Kind::Sign("," | ";") if depth == 0 => return Ok(()),
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") if depth == 0 => return Ok(()),
                Kind::Sign(")" | "]") => depth -= 1,
                Kind::Name | Kind::Quoted => {
                    let at = self.at;
                    self.check_name(names)?;
                    self.at = at;
                }
                _ => {}
            }
            self.advance();
        }
    }
}

impl ParseError {
    /// The error in the text of the function that was called last.
    #[must_use]
    pub fn innermost(&self) -> &ParseError {
        match self {
            ParseError::InFunction { inside, .. } => inside,
            other => other,
        }
    }

    /// Whether arguments of other shapes might be right.
    fn is_about_shapes(&self, frame: &Frame<'_>) -> bool {
        match self {
            ParseError::Shape { .. } | ParseError::InFunction { .. } | ParseError::TooLarge { .. } => true,
            ParseError::UnknownName { name, .. } => frame.owner(name).is_some(),
            _ => false,
        }
    }
}
