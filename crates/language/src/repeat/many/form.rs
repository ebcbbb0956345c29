//! What members of arrays are: expressions of one form, in which coordinates, numbers and parameters differ.

use leastaction_expr::{Expr, Graph, Id, Node, Op};
use rustc_hash::FxHashMap;

/// A form, in the order in which it is computed.
pub(super) type Form = Vec<Word>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Word {
    /// A coordinate.
    Coordinate,
    /// The velocity of a coordinate.
    Velocity,
    /// A number or a parameter.
    Constant,
    /// Something else: the time.
    Symbol(Id),
    /// An exponent, which is part of the form.
    Exponent(u64),
    Apply(Op, [u32; 3]),
}

/// What a constant is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Constant {
    Number(f64),
    Parameter(Id),
}

/// A member: its form, and what stands in the slots of that.
#[derive(Clone, Debug, Default)]
pub(super) struct Filled {
    pub(super) form: u32,
    pub(super) coordinates: Vec<u32>,
    pub(super) constants: Vec<Constant>,
}

/// The forms that have been found.
#[derive(Default)]
pub(super) struct Forms {
    numbers: FxHashMap<Form, u32>,
    pub(super) all: Vec<Form>,
}

/// What symbols are.
pub(super) struct Known<'a> {
    pub(super) coordinates: &'a FxHashMap<Id, u32>,
    pub(super) velocities: &'a FxHashMap<Id, u32>,
    pub(super) parameters: &'a FxHashMap<Id, f64>,
}

impl Forms {
    /// The form of an expression, and what stands in it.
    pub(super) fn read(&mut self, graph: &Graph, value: Expr<'_>, known: &Known<'_>) -> Filled {
        let mut filled = Filled::default();
        let mut form = Form::new();
        let mut places: FxHashMap<(Id, bool), u32> = FxHashMap::default();
        let mut open = vec![(value.id(), false)];
        while let Some(&(id, exponent)) = open.last() {
            if places.contains_key(&(id, exponent)) {
                open.pop();
                continue;
            }
            let node = graph.node(id);
            let argument = |i: usize, id: Id| {
                let exponent = matches!(node, Node::Apply(Op::Pow, _)) && i == 1;
                (id, exponent && matches!(graph.node(id), Node::Number(_)))
            };
            let waiting = open.len();
            let arguments = || node.arguments().iter().enumerate().map(|(i, &a)| argument(i, a));
            open.extend(arguments().rev().filter(|argument| !places.contains_key(argument)));
            if open.len() > waiting {
                continue;
            }
            open.pop();
            let word = match node {
                Node::Number(bits) if exponent => Word::Exponent(bits),
                Node::Number(bits) => {
                    filled.constants.push(Constant::Number(f64::from_bits(bits)));
                    Word::Constant
                }
                Node::Symbol(_) => match (known.coordinates.get(&id), known.velocities.get(&id)) {
                    (Some(&place), _) => {
                        filled.coordinates.push(place);
                        Word::Coordinate
                    }
                    (_, Some(&place)) => {
                        filled.coordinates.push(place);
                        Word::Velocity
                    }
                    _ if known.parameters.contains_key(&id) => {
                        filled.constants.push(Constant::Parameter(id));
                        Word::Constant
                    }
                    _ => Word::Symbol(id),
                },
                Node::Apply(op, _) => {
                    let mut own = [0; 3];
                    own.iter_mut().zip(arguments()).for_each(|(place, a)| *place = places[&a]);
                    Word::Apply(op, own)
                }
            };
            places.insert((id, exponent), form.len() as u32);
            form.push(word);
        }
        let next = self.all.len() as u32;
        filled.form = *self.numbers.entry(form).or_insert_with_key(|form| {
            self.all.push(form.clone());
            next
        });
        filled
    }

    /// The expression of a form, with these in its slots: coordinates are symbols.
    pub(super) fn write<'g>(
        &self,
        graph: &'g Graph,
        form: u32,
        coordinates: &[Expr<'g>],
        constants: &[Expr<'g>],
    ) -> Expr<'g> {
        let (mut coordinates, mut constants) = (coordinates.iter().copied(), constants.iter().copied());
        let mut values: Vec<Expr<'g>> = Vec::new();
        let zero = graph.number(0.0);
        for word in &self.all[form as usize] {
            let value = match *word {
                Word::Coordinate => coordinates.next().unwrap_or(zero),
                Word::Velocity => coordinates.next().and_then(Expr::dot).unwrap_or(zero),
                Word::Constant => constants.next().unwrap_or(zero),
                Word::Symbol(id) => graph.at(id),
                Word::Exponent(bits) => graph.number(f64::from_bits(bits)),
                Word::Apply(op, places) => {
                    let arguments = places.map(|place| values[place as usize]);
                    graph.apply(op, &arguments[..op.row().arity])
                }
            };
            values.push(value);
        }
        values.last().copied().unwrap_or(zero)
    }
}
