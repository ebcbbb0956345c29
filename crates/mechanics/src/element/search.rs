//! Repetition in outputs that were written out one by one: those of the same form become one [`ElementMap`].
//!
//! The links of a chain differ only in which coordinates, parameters and numbers stand in them. Instead of a program as long as the chain there is
//! one for a link. Compiling it costs the same for ten links and for a hundred thousand.

use super::map::{Connectivity, Constant, ElementEvaluator, ElementMap, in_blocks};
use crate::engine::{check, wrong_length};
use crate::error::EvalError;
use crate::parameters::Parameters;
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES, Program};
use leastaction_expr::{Expr, Graph, Id, Node, Op};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Whole numbers up to this size are part of a form; others may differ between its members.
const SMALL: f64 = 16.0;

/// A form, written in the order in which it is computed: equal for expressions that differ only in what stands in their slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    /// An input of the kernel: the number of its slot.
    Moving(u32),
    /// A parameter or a number: the number of its slot.
    Constant(u32),
    /// A number that is part of the form.
    Number(u64),
    /// An operator, and the places of its arguments.
    Apply(Op, [u32; 3]),
    /// The place of a result.
    Result(u32),
}

/// A group of outputs that are computed together, and what stands in its slots.
struct Member {
    form: Vec<Word>,
    moving: Vec<u32>,
    constants: Vec<Constant>,
    outputs: std::ops::Range<u32>,
}

/// Outputs in element maps, and a kernel for the rest.
pub(crate) struct Repetition {
    inputs: usize,
    outputs: usize,
    maps: Vec<Arc<ElementMap>>,
    rest: Option<(Kernel, Vec<u32>)>,
}

/// Where the symbols of a program stand.
struct Places {
    moving: FxHashMap<Id, u32>,
    fixed: FxHashMap<Id, u32>,
}

impl Repetition {
    /// The forms of so many members at least among outputs, of which each group, given by its end, is computed together; `None`
    /// if there is none.
    pub(crate) fn find<'g>(
        inputs: &[Expr<'g>],
        parameters: &[Expr<'g>],
        outputs: &[Expr<'g>],
        ends: &[usize],
        large: usize,
    ) -> Result<Option<Repetition>, CodeError> {
        if ends.len() < large {
            return Ok(None);
        }
        let places = |list: &[Expr<'g>]| list.iter().map(|e| e.id()).zip(0..).collect::<FxHashMap<_, _>>();
        let places = Places { moving: places(inputs), fixed: places(parameters) };
        let mut numbers: FxHashMap<Vec<Word>, usize> = FxHashMap::default();
        let mut members: Vec<Vec<Member>> = Vec::new();
        let mut first = 0;
        for &end in ends {
            let mut member = places.read(&outputs[first..end]);
            member.outputs = first as u32..end as u32;
            first = end;
            if member.outputs.is_empty() {
                continue;
            }
            let next = members.len();
            let place = *numbers.entry(std::mem::take(&mut member.form)).or_insert(next);
            if place == next {
                members.push(Vec::new());
            }
            members[place].push(member);
        }
        if members.iter().all(|members| members.len() < large) {
            return Ok(None);
        }
        let mut forms: Vec<(Vec<Word>, usize)> = numbers.into_iter().collect();
        forms.sort_unstable_by_key(|&(_, place)| place);
        let (mut maps, mut rest) = (Vec::new(), Vec::new());
        for ((form, _), members) in forms.iter().zip(&members) {
            if members.len() < large {
                rest.extend(members.iter().flat_map(|member| member.outputs.clone()));
            } else {
                maps.push(Arc::new(of_form(form, members)?));
            }
        }
        let rest = if rest.is_empty() {
            None
        } else {
            let outputs: Vec<_> = rest.iter().map(|&place| outputs[place as usize]).collect();
            Some((Kernel::compile(Program::build(inputs, parameters, &outputs)?)?, rest))
        };
        Ok(Some(Repetition { inputs: inputs.len(), outputs: outputs.len(), maps, rest }))
    }

    /// Evaluates them with these parameters, in one thread.
    pub(crate) fn evaluator(
        self: &Arc<Self>,
        parameters: &Parameters,
    ) -> Result<RepetitionEvaluator, EvalError> {
        let maps = self.maps.iter().map(|map| ElementEvaluator::new(map, parameters));
        let maps = maps.collect::<Result<_, _>>()?;
        let rest = self.rest.as_ref().map(|(kernel, _)| parameters.evaluator(kernel)).transpose();
        let results = vec![0.0; self.rest.as_ref().map_or(0, |(_, places)| places.len() * LANES)];
        let rest = rest.map_err(wrong_length)?;
        Ok(RepetitionEvaluator { repetition: self.clone(), maps, rest, results })
    }
}

impl Places {
    /// Outputs as a form and what stands in its slots.
    fn read(&self, outputs: &[Expr<'_>]) -> Member {
        let mut member =
            Member { form: Vec::new(), moving: Vec::new(), constants: Vec::new(), outputs: 0..0 };
        let Some(graph) = outputs.first().map(|e| e.graph()) else { return member };
        // The place in the form of a node; of a number also whether it is part of the form.
        let mut known: FxHashMap<(Id, bool), u32> = FxHashMap::default();
        let mut open: Vec<(Id, bool)> = outputs.iter().rev().map(|e| (e.id(), false)).collect();
        while let Some(&(id, exponent)) = open.last() {
            if known.contains_key(&(id, exponent)) {
                open.pop();
                continue;
            }
            let node = graph.node(id);
            let argument = |i: usize, id: Id| {
                let exponent = matches!(node, Node::Apply(Op::Pow, _)) && i == 1;
                (id, exponent && matches!(graph.node(id), Node::Number(_)))
            };
            let arguments = || node.arguments().iter().enumerate().map(|(i, &a)| argument(i, a));
            let waiting = open.len();
            open.extend(arguments().rev().filter(|argument| !known.contains_key(argument)));
            if open.len() > waiting {
                continue;
            }
            open.pop();
            let word = match node {
                Node::Number(bits) if exponent || is_small(f64::from_bits(bits)) => Word::Number(bits),
                Node::Number(bits) => member.keep(Constant::Number(bits)),
                Node::Symbol(_) => match (self.moving.get(&id), self.fixed.get(&id)) {
                    (Some(&place), _) => {
                        member.moving.push(place);
                        Word::Moving(member.moving.len() as u32 - 1)
                    }
                    (None, Some(&place)) => member.keep(Constant::Parameter(place)),
                    (None, None) => unreachable!("a checked model has no other symbols than these"),
                },
                Node::Apply(op, _) => {
                    let mut places = [0; 3];
                    places.iter_mut().zip(arguments()).for_each(|(place, a)| *place = known[&a]);
                    Word::Apply(op, places)
                }
            };
            known.insert((id, exponent), member.form.len() as u32);
            member.form.push(word);
        }
        member.form.extend(outputs.iter().map(|e| Word::Result(known[&(e.id(), false)])));
        member
    }
}

fn is_small(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= SMALL
}

impl Member {
    fn keep(&mut self, what: Constant) -> Word {
        self.constants.push(what);
        Word::Constant(self.constants.len() as u32 - 1)
    }
}

/// The map of the members of one form: what they all have is in the kernel, or a parameter of it.
fn of_form(form: &[Word], members: &[Member]) -> Result<ElementMap, CodeError> {
    let first = &members[0];
    let graph = Graph::new();
    let symbol = |kind: &str, slot: usize| graph.symbol(&format!("{kind}{slot}"));
    let moving: Vec<_> = (0..first.moving.len()).map(|slot| symbol("x", slot)).collect();
    let (mut differing, mut symbols, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
    let constants = first.constants.iter().enumerate().map(|(slot, &what)| {
        let same = members.iter().all(|member| member.constants[slot] == what);
        match what {
            Constant::Number(bits) if same => graph.number(f64::from_bits(bits)),
            Constant::Parameter(place) if same => {
                parameters.push(place);
                symbols.push(symbol("p", slot));
                symbol("p", slot)
            }
            _ => {
                differing.push(slot);
                symbol("c", slot)
            }
        }
    });
    let constants: Vec<_> = constants.collect();

    let (mut values, mut results) = (Vec::with_capacity(form.len()), Vec::new());
    for &word in form {
        match word {
            Word::Moving(slot) => values.push(moving[slot as usize]),
            Word::Constant(slot) => values.push(constants[slot as usize]),
            Word::Number(bits) => values.push(graph.number(f64::from_bits(bits))),
            Word::Apply(op, places) => {
                let arguments = places.map(|place| values[place as usize]);
                values.push(graph.apply(op, &arguments[..op.row().arity]));
            }
            Word::Result(place) => results.push(values[place as usize]),
        }
    }
    let inputs: Vec<_> =
        moving.iter().copied().chain(differing.iter().map(|&slot| constants[slot])).collect();
    let kernel = Kernel::compile(Program::build(&inputs, &symbols, &results)?)?;
    let connectivity = Connectivity::new(
        members.len(),
        moving.len(),
        |element, slot| members[element].moving[slot],
        differing.len(),
        |element, k| members[element].constants[differing[k]],
    );
    let place = |element: usize, k: usize| members[element].outputs.start + k as u32;
    let places = in_blocks(members.len(), results.len(), place);
    Ok(ElementMap { kernel, connectivity: Arc::new(connectivity), parameters, places })
}

/// A [`Repetition`] with its parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct RepetitionEvaluator {
    repetition: Arc<Repetition>,
    maps: Vec<ElementEvaluator>,
    rest: Option<Evaluator>,
    results: Vec<f64>,
}

impl RepetitionEvaluator {
    pub(crate) fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), EvalError> {
        self.maps.iter_mut().try_for_each(|map| map.set_parameters_in(lane, parameters))?;
        let set = |rest: &mut Evaluator| rest.set_parameters_in(lane, parameters);
        self.rest.as_mut().map_or(Ok(()), set).map_err(wrong_length)
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), EvalError> {
        self.maps.iter_mut().try_for_each(|map| map.set_parameters(parameters))?;
        self.rest.as_mut().map_or(Ok(()), |rest| rest.set_parameters(parameters)).map_err(wrong_length)
    }

    /// Evaluates one state, or a block of eight.
    pub(crate) fn eval(
        &mut self,
        width: usize,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), EvalError> {
        check("inputs", self.repetition.inputs * width, inputs.len())?;
        check("outputs", self.repetition.outputs * width, outputs.len())?;
        for map in &mut self.maps {
            map.eval(width, inputs, outputs)?;
        }
        if let (Some(rest), Some((_, places))) = (&mut self.rest, &self.repetition.rest) {
            let results = &mut self.results[..places.len() * width];
            match width {
                1 => rest.eval(inputs, results),
                _ => rest.eval_lanes(inputs, results),
            }
            .map_err(wrong_length)?;
            for (&place, result) in places.iter().zip(results.chunks_exact(width)) {
                outputs[place as usize * width..][..width].copy_from_slice(result);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic
    use super::*;

    /// Links |r_i − r_j|² = l² with their derivatives: lengths by parameters, by numbers and equal; one link to a fixed point; and rows of numbers only.
    fn links(graph: &Graph, count: usize) -> (Vec<Expr<'_>>, Vec<Expr<'_>>, Vec<Expr<'_>>, Vec<usize>) {
        let inputs: Vec<_> = (0..2 * count).map(|i| graph.symbol(&format!("q{i}"))).collect();
        let mut parameters = vec![graph.symbol("k")];
        let (mut outputs, mut ends) = (Vec::new(), Vec::new());
        for i in 0..count {
            let [x, y] = [inputs[2 * i], inputs[2 * i + 1]];
            let (dx, dy) = if i == 0 { (x, y) } else { (x - inputs[2 * i - 2], y - inputs[2 * i - 1]) };
            let length = match i % 3 {
                0 => {
                    parameters.push(graph.symbol(&format!("l{i}")));
                    parameters[parameters.len() - 1]
                }
                1 => graph.number(1.0 + 0.01 * i as f64),
                _ => parameters[0],
            };
            let value = dx.pow(2) + dy.pow(2) - length.pow(2) + 0.25 * (dx * length).sin();
            let slopes = [x, y].map(|q| value.derivative(q));
            outputs.extend([value, slopes[0], slopes[1]]);
            ends.push(outputs.len());
            outputs.push(graph.number(2.0));
            outputs.push(graph.number(0.5 + i as f64));
            ends.push(outputs.len());
        }
        (inputs, parameters, outputs, ends)
    }

    #[test]
    fn repetition_agrees_with_one_program_and_lanes_with_single_states() {
        for count in [54, 61, 67] {
            let graph = Graph::new();
            let (inputs, parameters, outputs, ends) = links(&graph, count);
            let repetition = Repetition::find(&inputs, &parameters, &outputs, &ends, 16).unwrap().unwrap();
            // Three kinds of length and numbers; the first link, and the first that has k in it, are alone.
            assert_eq!(repetition.maps.len(), 4);
            assert_eq!(repetition.rest.as_ref().unwrap().1.len(), 6);
            let repetition = Arc::new(repetition);
            let whole = Kernel::compile(Program::build(&inputs, &parameters, &outputs).unwrap()).unwrap();
            let values = |shift: f64| (0..parameters.len()).map(move |i| shift + (i as f64).cos());
            let first: Vec<f64> = values(0.0).collect();
            let mut repeated = repetition.evaluator(&Parameters::new(first)).unwrap();
            for shift in [2.0, 3.0] {
                let parameters: Vec<f64> = values(shift).collect();
                repeated.set_parameters(&parameters).unwrap();
                let mut alone = repeated.clone();
                // Lanes of their own parameters, but for the first shift.
                let in_lane =
                    |lane: usize| values(shift + 0.1 * (shift - 2.0) * lane as f64).collect::<Vec<_>>();
                for lane in (0..LANES).filter(|_| shift > 2.0) {
                    repeated.set_parameters_in(lane, &in_lane(lane)).unwrap();
                }
                let mut evaluator = whole.evaluator(&parameters).unwrap();
                let mut blocks = vec![0.0; outputs.len() * LANES];
                let state = |lane: usize| (0..inputs.len()).map(move |i| ((i * 7 + lane) as f64).sin());
                let block: Vec<f64> =
                    (0..inputs.len() * LANES).map(|k| ((k / LANES * 7 + k % LANES) as f64).sin()).collect();
                repeated.eval(LANES, &block, &mut blocks).unwrap();
                for lane in 0..LANES {
                    let state: Vec<f64> = state(lane).collect();
                    let (mut found, mut expected) = (vec![0.0; outputs.len()], vec![0.0; outputs.len()]);
                    repeated.eval(1, &state, &mut found).unwrap();
                    evaluator.eval(&state, &mut expected).unwrap();
                    let mut in_its_lane = vec![0.0; outputs.len()];
                    alone.set_parameters(&in_lane(lane)).unwrap();
                    alone.eval(1, &state, &mut in_its_lane).unwrap();
                    for i in 0..outputs.len() {
                        let size = expected[i].abs().max(1.0);
                        assert!(
                            (found[i] - expected[i]).abs() <= 1e-14 * size,
                            "{i}: {} {}",
                            found[i],
                            expected[i]
                        );
                        assert_eq!(
                            in_its_lane[i].to_bits(),
                            blocks[i * LANES + lane].to_bits(),
                            "bit for bit"
                        );
                    }
                }
            }
            assert!(repeated.eval(1, &[0.0], &mut [0.0]).is_err());
        }
    }

    #[test]
    fn few_members_are_no_repetition() {
        let graph = Graph::new();
        let (inputs, parameters, outputs, ends) = links(&graph, 7);
        assert!(Repetition::find(&inputs, &parameters, &outputs, &ends, 16).unwrap().is_none());
    }

    /// A chain of links from the ceiling, of equal and of different lengths.
    fn chain(graph: &Graph, count: usize) -> crate::Model<'_> {
        let mut model = crate::Model::new(graph);
        let length = model.parameter("l", 0.9);
        let mut above = [graph.number(0.0); 2];
        for i in 0..count {
            let place = ["x", "y"].map(|axis| model.coordinate(&format!("{axis}{i}")));
            model.particle(&format!("m{i}"), 1.0 + 0.1 * (i % 7) as f64, place);
            let squares = (place[0] - above[0]).pow(2) + (place[1] - above[1]).pow(2);
            let own = graph.number(1.0 + 0.01 * i as f64);
            model.constraint(&format!("link {i}"), squares, if i % 2 == 0 { length } else { own }.pow(2));
            above = place;
        }
        model.gravity([0.0, -9.81]);
        model
    }

    #[test]
    fn a_system_of_repeated_constraints_moves_as_one_that_is_written_out() {
        let (graph, count) = (Graph::new(), 150);
        let equations = chain(&graph, count).equations().unwrap();
        let mut repeated = equations.system_repeated(16).unwrap().dynamics().unwrap();
        let mut whole = equations.system().unwrap().dynamics().unwrap();
        for quantity in [crate::Quantity::Constraints, crate::Quantity::ConstraintJacobian] {
            assert!(repeated.system().repetition(quantity).unwrap().is_some_and(|r| !r.maps.is_empty()));
            assert!(whole.system().repetition(quantity).unwrap().is_none());
        }
        let z: Vec<f64> = (0..4 * count).map(|i| (1.7 * i as f64).sin() + (i / 2) as f64).collect();
        let block: Vec<f64> =
            (0..4 * count * LANES).map(|k| z[k / LANES] + 0.01 * (k % LANES) as f64).collect();
        for length in [0.9, 1.1] {
            repeated.set_parameter("l", length).unwrap();
            whole.set_parameter("l", length).unwrap();
            let mut found = [(); 3].map(|()| vec![0.0; 2 * count]);
            let mut lanes = vec![0.0; 2 * count * LANES];
            repeated.accelerations(&[0.0], &z, &mut found[0]).unwrap();
            whole.accelerations(&[0.0], &z, &mut found[1]).unwrap();
            repeated.accelerations(&[0.0; LANES], &block, &mut lanes).unwrap();
            let alone: Vec<f64> = block.chunks_exact(LANES).map(|row| row[5]).collect();
            repeated.accelerations(&[0.0], &alone, &mut found[2]).unwrap();
            let size = found[1].iter().fold(0.0f64, |m, a| m.max(a.abs()));
            for i in 0..2 * count {
                assert!((found[0][i] - found[1][i]).abs() <= 1e-10 * size, "{i}");
                assert_eq!(found[2][i].to_bits(), lanes[i * LANES + 5].to_bits(), "bit for bit");
            }
        }
    }
}
