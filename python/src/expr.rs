//! Expressions: handles that keep their graph.

use crate::error::usage;
use leastaction::expr::{Entry, Node, Op};
use leastaction::{Expr as Handle, Graph};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyFloat, PyInt, PyTuple};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Of longer texts, `repr` shows the beginning.
const SHOWN: usize = 2000;

/// The graph of all expressions that there are: nothing is copied when they are put together. With the last of them it goes, and all its memory.
static SHARED: Mutex<Weak<Graph>> = Mutex::new(Weak::new());

fn shared() -> Arc<Graph> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let graph = Arc::new(Graph::new());
        *shared = Arc::downgrade(&graph);
        graph
    })
}

/// An expression: a formula of symbols and numbers.
#[pyclass(frozen, module = "leastaction")]
pub(crate) struct Expr {
    graph: Arc<Graph>,
    id: leastaction::expr::Id,
}

impl Expr {
    /// Keeps what is made of expressions of a graph.
    fn keep(graph: &Arc<Graph>, handle: Handle<'_>) -> Expr {
        let id = graph.adopt(handle).id();
        Expr { graph: Arc::clone(graph), id }
    }

    /// The handle to work with.
    pub(crate) fn handle(&self) -> Handle<'_> {
        self.graph.at(self.id)
    }

    fn map(&self, make: impl for<'g> FnOnce(Handle<'g>) -> Handle<'g>) -> Expr {
        Expr::keep(&self.graph, make(self.handle()))
    }

    /// With another operand on the right or on the left; nothing if that is none.
    fn join(&self, py: Python<'_>, op: Op, other: &Bound<'_, PyAny>, left: bool) -> PyResult<Py<PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented()) };
        let (this, other) = (self.handle(), self.graph.adopt(other.in_graph(&self.graph)));
        let pair = if left { [other, this] } else { [this, other] };
        Ok(Py::new(py, Expr::keep(&self.graph, self.graph.apply(op, &pair)))?.into_any())
    }
}

/// What can stand in an expression.
enum Operand<'py> {
    Expr(PyRef<'py, Expr>),
    Number(f64),
}

impl Operand<'_> {
    fn in_graph<'g>(&'g self, graph: &'g Graph) -> Handle<'g> {
        match self {
            Operand::Expr(expr) => expr.handle(),
            Operand::Number(value) => graph.number(*value),
        }
    }
}

/// An expression or a finite number; nothing for anything else, such as an array.
fn operand<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Operand<'py>>> {
    if let Ok(expr) = object.cast::<Expr>() {
        return Ok(Some(Operand::Expr(expr.borrow())));
    }
    let plain = object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyInt>();
    // Numbers of NumPy are some; arrays, which may be turned into a number too, have a length.
    if !plain && (!object.hasattr("__float__")? || object.hasattr("__len__")?) {
        return Ok(None);
    }
    let value: f64 = object.extract()?;
    match value.is_finite() {
        true => Ok(Some(Operand::Number(value))),
        false => Err(PyValueError::new_err(format!("{value} in an expression: numbers are finite"))),
    }
}

/// An operand where nothing else will do.
fn needed<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Operand<'py>> {
    let kind = || object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    operand(object)?.ok_or_else(|| {
        PyTypeError::new_err(format!("{what} should be an expression or a number, not {}", kind()))
    })
}

/// The names that NumPy has for functions, with ours.
const ALIASES: &[(&str, &str)] = &[
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arcsinh", "asinh"),
    ("arccosh", "acosh"),
    ("arctanh", "atanh"),
    ("log", "ln"),
    ("log1p", "ln1p"),
    ("absolute", "abs"),
    ("fabs", "abs"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("fmin", "min"),
    ("fmax", "max"),
];

/// The operator of a name: of a function, ours or NumPy's, or of a comparison.
fn named(name: &str) -> Option<Op> {
    let ours = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, ours)| ours);
    match ours {
        "equal" => Some(Op::Eq),
        "not_equal" => Some(Op::Ne),
        "less" => Some(Op::Lt),
        "less_equal" => Some(Op::Le),
        ours => Op::function(ours),
    }
}

/// The operator of a name, applied to as many expressions and numbers as it takes.
fn applied(op: Op, arguments: &[Bound<'_, PyAny>]) -> PyResult<Expr> {
    let row = op.row();
    if arguments.len() != row.arity {
        let plural = if row.arity == 1 { "" } else { "s" };
        let (name, arity, found) = (row.name, row.arity, arguments.len());
        return Err(PyTypeError::new_err(format!("{name} takes {arity} argument{plural}, not {found}")));
    }
    let operands = arguments.iter().map(|argument| needed(argument, "an argument"));
    let operands = operands.collect::<PyResult<Vec<_>>>()?;
    let graph = shared();
    let handles: Vec<_> = operands.iter().map(|operand| graph.adopt(operand.in_graph(&graph))).collect();
    Ok(Expr::keep(&graph, graph.apply(op, &handles)))
}

#[pymethods]
impl Expr {
    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Add, other, false)
    }

    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Add, other, true)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Sub, other, false)
    }

    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Sub, other, true)
    }

    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Mul, other, false)
    }

    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Mul, other, true)
    }

    fn __truediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Div, other, false)
    }

    fn __rtruediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.join(py, Op::Div, other, true)
    }

    fn __pow__(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        modulus: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match modulus {
            None => self.join(py, Op::Pow, other, false),
            Some(_) => Ok(py.NotImplemented()),
        }
    }

    fn __rpow__(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        modulus: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match modulus {
            None => self.join(py, Op::Pow, other, true),
            Some(_) => Ok(py.NotImplemented()),
        }
    }

    fn __neg__(&self) -> Expr {
        self.map(|it| -it)
    }

    fn __pos__(&self) -> Expr {
        self.map(|it| it)
    }

    fn __abs__(&self) -> Expr {
        self.map(|it| it.abs())
    }

    fn __richcmp__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        match op {
            CompareOp::Lt => self.join(py, Op::Lt, other, false),
            CompareOp::Le => self.join(py, Op::Le, other, false),
            CompareOp::Gt => self.join(py, Op::Lt, other, true),
            CompareOp::Ge => self.join(py, Op::Le, other, true),
            CompareOp::Eq | CompareOp::Ne => {
                // Whether it is the same formula: expressions are keys of dictionaries.
                let Ok(Some(other)) = operand(other) else { return Ok(py.NotImplemented()) };
                let same = self.graph.adopt(other.in_graph(&self.graph)) == self.handle();
                let truth = same == matches!(op, CompareOp::Eq);
                Ok(truth.into_pyobject(py)?.to_owned().into_any().unbind())
            }
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        match self.handle().as_number() {
            // A number is equal to itself in Python.
            Some(number) => PyFloat::new(py, number).hash(),
            None => Ok(self.id.index() as isize),
        }
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "an expression is neither true nor false before its symbols have values: write la.select(condition, a, b) for `a if condition else b`, \
             la.equal(a, b) for `a == b`, and a*b or la.min(a, b) for `a and b`",
        ))
    }

    fn __float__(&self) -> PyResult<f64> {
        let number = self.handle().as_number();
        number.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "`{}` is no number: give its symbols values by .eval({{symbol: value}}), or compile it by la.compile",
                short(self.handle())
            ))
        })
    }

    fn __str__(&self) -> String {
        self.handle().to_string()
    }

    fn __repr__(&self) -> String {
        short(self.handle())
    }

    fn _repr_latex_(&self) -> String {
        format!("$\\displaystyle {}$", self.handle().latex())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.import("leastaction._native")?.getattr("expression")?, (self.handle().to_string(),)))
    }

    fn __copy__(slf: Py<Expr>) -> Py<Expr> {
        slf
    }

    fn __deepcopy__(slf: Py<Expr>, _memo: &Bound<'_, PyAny>) -> Py<Expr> {
        slf
    }

    /// The functions of the operator table, ours and under NumPy's names: `x.sin()`, which is what `np.sin` calls.
    fn __getattr__<'py>(slf: &Bound<'py, Expr>, name: &str) -> PyResult<Bound<'py, PyCFunction>> {
        let op = named(name).filter(|op| matches!(op.row().form, leastaction::expr::Form::Call));
        let op = op.ok_or_else(|| PyAttributeError::new_err(format!("an expression has no `{name}`")))?;
        let this = slf.clone().unbind();
        PyCFunction::new_closure(
            slf.py(),
            None,
            None,
            move |arguments: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>| {
                if keywords.is_some_and(|keywords| !keywords.is_empty()) {
                    return Err(PyTypeError::new_err("functions of expressions have no options"));
                }
                let this = this.bind(arguments.py()).clone().into_any();
                applied(op, &std::iter::once(this).chain(arguments.iter()).collect::<Vec<_>>())
            },
        )
    }

    #[pyo3(signature = (ufunc, method, *inputs, **keywords))]
    fn __array_ufunc__<'py>(
        slf: Py<Expr>,
        py: Python<'py>,
        ufunc: &Bound<'py, PyAny>,
        method: &Bound<'py, PyAny>,
        inputs: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = slf;
        let call = py.import("leastaction._ufunc")?.getattr("call")?;
        call.call1((ufunc, method, inputs, keywords))
    }

    /// LaTeX of it.
    fn latex(&self) -> String {
        self.handle().latex()
    }

    /// The name, if it is a symbol; else None.
    #[getter]
    fn name(&self) -> Option<String> {
        self.handle().as_symbol().map(|symbol| symbol.to_string())
    }

    /// The symbols in it, in the order of their names.
    #[getter]
    fn symbols(&self) -> Vec<Expr> {
        self.handle().free_symbols().into_iter().map(|symbol| Expr::keep(&self.graph, symbol)).collect()
    }

    /// How many operations it has: what appears twice counts once.
    #[getter]
    fn operations(&self) -> usize {
        self.handle().operations()
    }

    /// The time derivative of a symbol: x' for x.
    #[getter]
    fn dot(&self) -> PyResult<Expr> {
        let dot = self.handle().dot().map(|dot| Expr::keep(&self.graph, dot));
        dot.ok_or_else(|| {
            PyValueError::new_err(format!(
                "`{}` is no symbol: only symbols have a .dot; Model.velocity gives the rate of an expression",
                short(self.handle())
            ))
        })
    }

    /// The derivative by symbols, one after the other: x.diff(a, b), or x.diff(a, 2) for the second one.
    #[pyo3(signature = (*variables))]
    fn diff(&self, variables: &Bound<'_, PyTuple>) -> PyResult<Expr> {
        let mut derivative = self.handle();
        let mut last: Option<Handle<'_>> = None;
        if variables.is_empty() {
            return Err(PyTypeError::new_err("diff needs the symbol to differentiate by"));
        }
        for variable in variables.iter() {
            if let (Some(symbol), false, Ok(times)) =
                (last, variable.is_instance_of::<Expr>(), variable.extract::<u32>())
            {
                if !(1..=100).contains(&times) {
                    return Err(PyValueError::new_err(format!(
                        "a derivative of order {times}: from 1 to 100"
                    )));
                }
                (1..times).for_each(|_| derivative = derivative.derivative(symbol));
                last = None;
                continue;
            }
            let symbol = needed(&variable, "what to differentiate by")?;
            let symbol = self.graph.adopt(symbol.in_graph(&self.graph));
            let symbol = symbol_of(symbol, "differentiated by")?;
            derivative = derivative.derivative(symbol);
            last = Some(symbol);
        }
        Ok(Expr::keep(&self.graph, derivative))
    }

    /// The expression with parts replaced, all at once: {x: y, m: 2.0}.
    fn subs(&self, replacements: &Bound<'_, PyDict>) -> PyResult<Expr> {
        let mut pairs = Vec::new();
        for (from, to) in replacements.iter() {
            pairs.push((needed(&from, "what is replaced")?, needed(&to, "a replacement")?));
        }
        let graph = &self.graph;
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(from, to)| (graph.adopt(from.in_graph(graph)), graph.adopt(to.in_graph(graph))))
            .collect();
        Ok(Expr::keep(graph, self.handle().substitute(&pairs)))
    }

    /// The number that it is where its symbols have these values.
    #[pyo3(signature = (values = None))]
    fn eval(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<f64> {
        let mut pairs = Vec::new();
        for (symbol, value) in values.into_iter().flat_map(|values| values.iter()) {
            let symbol = match symbol.extract::<String>() {
                Ok(name) => self.graph.symbol(&name).id(),
                Err(_) => {
                    let symbol = needed(&symbol, "what has a value")?;
                    symbol_of(self.graph.adopt(symbol.in_graph(&self.graph)), "given a value")?.id()
                }
            };
            pairs.push((self.graph.at(symbol), value.extract::<f64>()?));
        }
        self.handle().eval(&pairs).map_err(usage)
    }
}

/// The beginning of a long text.
fn short(handle: Handle<'_>) -> String {
    let text = handle.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

fn symbol_of<'g>(handle: Handle<'g>, what: &str) -> PyResult<Handle<'g>> {
    match handle.as_symbol() {
        Some(_) => Ok(handle),
        None => Err(PyValueError::new_err(format!("`{}` is {what}, and is no symbol", short(handle)))),
    }
}

/// An expression from its text, or from a number or an expression.
#[pyfunction]
pub(crate) fn expression(text: &Bound<'_, PyAny>) -> PyResult<Expr> {
    let graph = shared();
    if let Ok(text) = text.extract::<String>() {
        let parsed = graph.parse(&text).map_err(|error| usage(format!("`{text}`: {error}")))?;
        return Ok(Expr::keep(&graph, parsed));
    }
    let operand = needed(text, "it")?;
    Ok(Expr::keep(&graph, operand.in_graph(&graph)))
}

/// A function of the operator table, or a comparison, applied to expressions and numbers.
#[pyfunction]
#[pyo3(signature = (name, *arguments))]
pub(crate) fn apply(name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Expr> {
    let op = named(name).ok_or_else(|| usage(format!("there is no function `{name}` of expressions")))?;
    applied(op, &arguments.iter().collect::<Vec<_>>())
}

/// The functions that expressions can have: their names and how many arguments they take.
#[pyfunction]
pub(crate) fn functions() -> Vec<(&'static str, usize)> {
    let calls = Op::ALL.iter().filter(|op| matches!(op.row().form, leastaction::expr::Form::Call));
    calls.map(|op| (op.row().name, op.row().arity)).collect()
}

/// Handles of many expressions in one graph.
pub(crate) fn together<'g>(graph: &'g Graph, expressions: &'g [PyRef<'_, Expr>]) -> Vec<Handle<'g>> {
    expressions.iter().map(|expr| graph.adopt(expr.handle())).collect()
}

/// What differs from 0 of the derivatives of expressions by symbols: row, column, derivative.
#[pyfunction]
pub(crate) fn jacobian(
    expressions: Vec<PyRef<'_, Expr>>,
    variables: Vec<PyRef<'_, Expr>>,
) -> PyResult<Vec<(usize, usize, Expr)>> {
    let graph = shared();
    let (outputs, variables) = (together(&graph, &expressions), together(&graph, &variables));
    variables.iter().try_for_each(|&variable| symbol_of(variable, "differentiated by").map(drop))?;
    let entries = leastaction::jacobian(&outputs, &variables).into_iter();
    Ok(entries.map(|Entry { row, column, value }| (row, column, Expr::keep(&graph, value))).collect())
}

/// A node: a number, the name of a symbol, or the name of an operator with the places of its arguments.
#[derive(IntoPyObject)]
pub(crate) enum Part {
    Number(f64),
    Symbol(String),
    Operator((&'static str, Vec<usize>)),
}

/// All that expressions are made of, arguments before what uses them, and the places of the expressions.
#[pyfunction]
pub(crate) fn walk(expressions: Vec<PyRef<'_, Expr>>) -> (Vec<Part>, Vec<usize>) {
    let graph = shared();
    let roots: Vec<_> = together(&graph, &expressions).iter().map(|handle| handle.id()).collect();
    let order = graph.order(&roots);
    let place = |id: leastaction::expr::Id| order.partition_point(|(other, _)| *other < id);
    let parts = order.iter().map(|(_, node)| match node {
        Node::Number(bits) => Part::Number(f64::from_bits(*bits)),
        Node::Symbol(index) => Part::Symbol(graph.symbol_at(*index).to_string()),
        Node::Apply(op, _) => {
            Part::Operator((op.row().name, node.arguments().iter().map(|id| place(*id)).collect()))
        }
    });
    (parts.collect::<Vec<_>>(), roots.into_iter().map(place).collect())
}

/// Parts of an expression that it has so often that they need names, each with its text, in their order; and the text of the expression with these names.
#[pyfunction]
pub(crate) fn definitions(expr: PyRef<'_, Expr>, prefix: &str) -> PyResult<(Vec<(String, String)>, String)> {
    let (text, graph) = (expr.handle().to_string(), Graph::new());
    let read = |text: &str| graph.parse(text).map_err(|error| usage(format!("`{text}`: {error}")));
    let (mut rest, mut named, mut renamed) = (text.as_str(), Vec::new(), Vec::new());
    while let Some((definition, after)) = rest.strip_prefix("let ").and_then(|rest| rest.split_once(";\n")) {
        let Some((name, value)) = definition.split_once(" = ") else { break };
        let own = format!("{prefix}{}", named.len() + 1);
        named.push((own.clone(), read(value)?.substitute(&renamed).to_string()));
        renamed.push((graph.symbol(name), graph.symbol(&own)));
        rest = after;
    }
    Ok((named, read(rest)?.substitute(&renamed).to_string()))
}
