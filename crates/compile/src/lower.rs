//! Expressions to instructions: arithmetic as it stands, functions left for [`crate::expand`].

use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Code, Operand, Test};
use crate::program::{BuildError, Program};
use leastaction_expr::{Expr, Graph, Id, Node, Op, Symbol};
use rustc_hash::FxHashMap;

pub(crate) fn lower(
    inputs: &[Expr<'_>],
    parameters: &[Expr<'_>],
    outputs: &[Expr<'_>],
) -> Result<Program, BuildError> {
    let Some(graph) = [outputs, inputs, parameters].into_iter().flatten().map(|e| e.graph()).next() else {
        return Ok(Program::default());
    };
    let mut given: FxHashMap<Id, Operand> = FxHashMap::default();
    let inputs = declare("input", graph, inputs, Operand::Input, &mut given)?;
    let parameters = declare("parameter", graph, parameters, Operand::Parameter, &mut given)?;

    let mut builder = Builder::default();
    let outputs = match outputs.is_empty() {
        false => {
            let roots: Vec<Id> = outputs.iter().map(|&e| graph.adopt(e).id()).collect();
            let order = graph.order(&roots);
            builder = Builder::with_constants(&[], order.len());
            // Indexed by node; what no root needs is never read.
            let mut known = vec![Operand::Constant(0); order.last().map_or(0, |(last, _)| last.index() + 1)];
            for (id, node) in order {
                known[id.index()] = lower_node(graph, (id, node), &given, &known, &mut builder)?;
            }
            roots.iter().map(|id| known[id.index()]).collect()
        }
        true => Vec::new(),
    };
    let Builder { constants, body, .. } = builder;
    Ok(Program { inputs, parameters, constants, uniforms: Vec::new(), body, outputs })
}

fn declare(
    what: &'static str,
    graph: &Graph,
    expressions: &[Expr<'_>],
    place: fn(u32) -> Operand,
    given: &mut FxHashMap<Id, Operand>,
) -> Result<Vec<Symbol>, BuildError> {
    let mut symbols = Vec::with_capacity(expressions.len());
    for (index, e) in expressions.iter().enumerate() {
        let symbol =
            e.as_symbol().ok_or_else(|| BuildError::NotASymbol { what, index, expression: e.to_string() })?;
        if given.insert(graph.adopt(*e).id(), place(index as u32)).is_some() {
            return Err(BuildError::DuplicateSymbol { symbol });
        }
        symbols.push(symbol);
    }
    Ok(symbols)
}

fn lower_node(
    graph: &Graph,
    (id, node): (Id, Node),
    given: &FxHashMap<Id, Operand>,
    known: &[Operand],
    builder: &mut Builder,
) -> Result<Operand, BuildError> {
    let (op, [a, b, c]) = match node {
        Node::Number(bits) => {
            let value = f64::from_bits(bits);
            return if value.is_finite() {
                Ok(builder.constant(value))
            } else {
                Err(BuildError::NonFiniteConstant { value })
            };
        }
        Node::Symbol(index) => {
            let unknown = || BuildError::UnknownSymbol { symbol: graph.symbol_at(index) };
            return given.get(&id).copied().ok_or_else(unknown);
        }
        Node::Apply(op, arguments) => (op, arguments),
    };
    let value = |id: Id| known[id.index()];
    let (x, y) = (value(a), value(b));
    Ok(match op {
        Op::Add => builder.add(x, y),
        Op::Sub => builder.sub(x, y),
        Op::Mul => builder.mul(x, y),
        Op::Div => builder.div(x, y),
        Op::Sqrt => builder.sqrt(x),
        Op::Floor => builder.floor(x),
        Op::Pow => match graph.at(b).as_number() {
            Some(2.0) => builder.mul(x, x),
            Some(3.0) => {
                let square = builder.mul(x, x);
                builder.mul(square, x)
            }
            Some(4.0) => {
                let square = builder.mul(x, x);
                builder.mul(square, square)
            }
            _ => builder.push(Code::Math(Op::Pow), &[x, y]),
        },
        Op::Lt | Op::Le | Op::Eq | Op::Ne => {
            let (one, zero) = (builder.constant(1.0), builder.constant(0.0));
            builder.select(test(op), x, y, one, zero)
        }
        Op::Select => {
            // A comparison decides by itself, without first becoming 1 or 0.
            let (yes, no) = (y, value(c));
            match graph.node(a) {
                Node::Apply(compare @ (Op::Lt | Op::Le | Op::Eq | Op::Ne), [p, q, _]) => {
                    builder.select(test(compare), value(p), value(q), yes, no)
                }
                _ => {
                    let zero = builder.constant(0.0);
                    builder.select(Test::Differ, x, zero, yes, no)
                }
            }
        }
        _ => builder.push(Code::Math(op), &[x, y, value(c)][..op.row().arity]),
    })
}

fn test(op: Op) -> Test {
    match op {
        Op::Lt => Test::Less,
        Op::Le => Test::LessEqual,
        Op::Eq => Test::Equal,
        _ => Test::Differ,
    }
}
