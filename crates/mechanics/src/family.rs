//! Families: outputs of the same form share one small kernel.
//!
//! The links of a chain differ only in which coordinates, parameters and numbers stand in them. Instead of a program as long as the chain there is
//! one for a link, evaluated in lanes: of eight links for one state, of eight states for a block. Compiling it costs the
//! same for ten links and for a hundred thousand.

use crate::engine::wrong_length;
use crate::error::EvalError;
use crate::parameters::{Parameters, Revision};
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES, Program};
use leastaction_expr::{Expr, Graph, Id, Node, Op};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Blocks of eight that are gathered at once: few enough to stay in the first-level cache.
const GATHERED: usize = 8;

/// Whole numbers up to this size are part of a form; others may differ between its members.
const SMALL: f64 = 16.0;

/// A form, written in the order in which it is computed: equal for expressions that differ only in what stands in their slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    /// An input of the kernel: the number of its slot.
    Moving(u32),
    /// A parameter or a number: the number of its slot.
    Fixed(u32),
    /// A number that is part of the form.
    Number(u64),
    /// An operator, and the places of its arguments.
    Apply(Op, [u32; 3]),
    /// The place of a result.
    Result(u32),
}

/// What does not change while a system runs.
#[derive(Clone, Copy, PartialEq)]
enum Fixed {
    Parameter(u32),
    /// By its bits.
    Number(u64),
}

impl Fixed {
    fn value(self, parameters: &[f64]) -> f64 {
        match self {
            Fixed::Parameter(place) => parameters[place as usize],
            Fixed::Number(bits) => f64::from_bits(bits),
        }
    }
}

/// A group of outputs that are computed together, and what stands in its slots.
struct Member {
    form: Vec<Word>,
    moving: Vec<u32>,
    fixed: Vec<Fixed>,
    outputs: std::ops::Range<u32>,
}

/// Members of one form. Lists have, for every block of eight members, eight entries for each slot; the last member fills the last block.
struct Family {
    kernel: Kernel,
    members: usize,
    /// The inputs in each slot.
    moving: Vec<u32>,
    /// What stands in the slots of the kernel after those, where members differ in it.
    fixed: Vec<Fixed>,
    /// The parameters of the kernel.
    shared: Vec<u32>,
    /// Where the results go.
    results: Vec<u32>,
}

/// Outputs in families, and a kernel for the rest.
pub(crate) struct Families {
    inputs: usize,
    outputs: usize,
    list: Vec<Family>,
    rest: Option<(Kernel, Vec<u32>)>,
}

/// Where the symbols of a program stand.
pub(crate) struct Places {
    moving: FxHashMap<Id, u32>,
    fixed: FxHashMap<Id, u32>,
}

impl Families {
    /// The families of so many members at least among outputs, of which each group, given by its end, is computed together; `None`
    /// if there is none.
    pub(crate) fn find<'g>(
        inputs: &[Expr<'g>],
        parameters: &[Expr<'g>],
        outputs: &[Expr<'g>],
        ends: &[usize],
        large: usize,
    ) -> Result<Option<Families>, CodeError> {
        if ends.len() < large {
            return Ok(None);
        }
        let places = |list: &[Expr<'g>]| list.iter().map(|e| e.id()).zip(0..).collect::<FxHashMap<_, _>>();
        let places = Places { moving: places(inputs), fixed: places(parameters) };
        let mut numbers: FxHashMap<Vec<Word>, usize> = FxHashMap::default();
        let mut found: Vec<Vec<Member>> = Vec::new();
        let mut first = 0;
        for &end in ends {
            let mut member = places.read(&outputs[first..end]);
            member.outputs = first as u32..end as u32;
            first = end;
            if member.outputs.is_empty() {
                continue;
            }
            let next = found.len();
            let place = *numbers.entry(std::mem::take(&mut member.form)).or_insert(next);
            if place == next {
                found.push(Vec::new());
            }
            found[place].push(member);
        }
        if found.iter().all(|members| members.len() < large) {
            return Ok(None);
        }
        let mut forms: Vec<(Vec<Word>, usize)> = numbers.into_iter().collect();
        forms.sort_unstable_by_key(|&(_, place)| place);
        let (mut list, mut rest) = (Vec::new(), Vec::new());
        for ((form, _), members) in forms.iter().zip(&found) {
            if members.len() < large {
                rest.extend(members.iter().flat_map(|member| member.outputs.clone()));
            } else {
                list.push(Family::new(form, members)?);
            }
        }
        let rest = if rest.is_empty() {
            None
        } else {
            let outputs: Vec<_> = rest.iter().map(|&place| outputs[place as usize]).collect();
            Some((Kernel::compile(Program::build(inputs, parameters, &outputs)?)?, rest))
        };
        Ok(Some(Families { inputs: inputs.len(), outputs: outputs.len(), list, rest }))
    }

    /// Evaluates them with these parameters, in one thread.
    pub(crate) fn chorus(self: &Arc<Self>, parameters: &Parameters) -> Result<Chorus, EvalError> {
        let voice = |family: &Family| family.voice(parameters.single());
        let voices = self.list.iter().map(voice).collect::<Result<_, _>>()?;
        let rest = match &self.rest {
            Some((kernel, _)) => Some(kernel.evaluator(parameters.single()).map_err(wrong_length)?),
            None => None,
        };
        let results = vec![0.0; self.rest.as_ref().map_or(0, |(_, places)| places.len() * LANES)];
        let mut chorus = Chorus { families: self.clone(), voices, rest, results };
        parameters.pass(&mut Revision::default(), |lane, values| match lane {
            None => Ok(()),
            Some(lane) => chorus.set_parameters_in(lane, values),
        })?;
        Ok(chorus)
    }
}

impl Places {
    /// Outputs as a form and what stands in its slots.
    fn read(&self, outputs: &[Expr<'_>]) -> Member {
        let mut member = Member { form: Vec::new(), moving: Vec::new(), fixed: Vec::new(), outputs: 0..0 };
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
                Node::Number(bits) => member.fix(Fixed::Number(bits)),
                Node::Symbol(_) => match (self.moving.get(&id), self.fixed.get(&id)) {
                    (Some(&place), _) => {
                        member.moving.push(place);
                        Word::Moving(member.moving.len() as u32 - 1)
                    }
                    (None, place) => member.fix(Fixed::Parameter(place.copied().unwrap_or_default())),
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
    fn fix(&mut self, what: Fixed) -> Word {
        self.fixed.push(what);
        Word::Fixed(self.fixed.len() as u32 - 1)
    }
}

impl Family {
    fn new(form: &[Word], members: &[Member]) -> Result<Family, CodeError> {
        let first = &members[0];
        let graph = Graph::new();
        let symbol = |kind: &str, slot: usize| graph.symbol(&format!("{kind}{slot}"));
        let moving: Vec<_> = (0..first.moving.len()).map(|slot| symbol("x", slot)).collect();
        let (mut differing, mut parameters, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        let fixed = first.fixed.iter().enumerate().map(|(slot, &what)| {
            let same = members.iter().all(|member| member.fixed[slot] == what);
            match what {
                Fixed::Number(bits) if same => graph.number(f64::from_bits(bits)),
                Fixed::Parameter(place) if same => {
                    shared.push(place);
                    parameters.push(symbol("p", slot));
                    symbol("p", slot)
                }
                _ => {
                    differing.push(slot);
                    symbol("c", slot)
                }
            }
        });
        let fixed: Vec<_> = fixed.collect();

        let (mut values, mut results) = (Vec::with_capacity(form.len()), Vec::new());
        for &word in form {
            match word {
                Word::Moving(slot) => values.push(moving[slot as usize]),
                Word::Fixed(slot) => values.push(fixed[slot as usize]),
                Word::Number(bits) => values.push(graph.number(f64::from_bits(bits))),
                Word::Apply(op, places) => {
                    let arguments = places.map(|place| values[place as usize]);
                    values.push(graph.apply(op, &arguments[..op.row().arity]));
                }
                Word::Result(place) => results.push(values[place as usize]),
            }
        }
        let inputs: Vec<_> =
            moving.iter().copied().chain(differing.iter().map(|&slot| fixed[slot])).collect();
        let kernel = Kernel::compile(Program::build(&inputs, &parameters, &results)?)?;
        Ok(Family {
            kernel,
            members: members.len(),
            moving: in_blocks(members, moving.len(), |member, slot| member.moving[slot]),
            fixed: in_blocks(members, differing.len(), |member, k| member.fixed[differing[k]]),
            shared,
            results: in_blocks(members, results.len(), |member, k| member.outputs.start + k as u32),
        })
    }

    fn voice(&self, parameters: &[f64]) -> Result<Voice, EvalError> {
        let shared: Vec<f64> = self.shared.iter().map(|&place| parameters[place as usize]).collect();
        let program = self.kernel.program();
        let (inputs, outputs) = (program.inputs().len(), program.outputs().len());
        Ok(Voice {
            evaluator: self.kernel.evaluator(&shared).map_err(wrong_length)?,
            apart: None,
            fixed: self.fixed.iter().map(|what| what.value(parameters)).collect(),
            gathered: vec![0.0; inputs * LANES * GATHERED],
            results: vec![0.0; outputs * LANES * GATHERED],
        })
    }
}

/// For every block of eight members, eight entries for each slot.
fn in_blocks<T>(members: &[Member], slots: usize, entry: impl Fn(&Member, usize) -> T) -> Vec<T> {
    let mut list = Vec::with_capacity(members.len().next_multiple_of(LANES) * slots);
    for block in members.chunks(LANES) {
        for slot in 0..slots {
            list.extend((0..LANES).map(|lane| entry(&block[lane.min(block.len() - 1)], slot)));
        }
    }
    list
}

/// Families with their parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct Chorus {
    families: Arc<Families>,
    voices: Vec<Voice>,
    rest: Option<Evaluator>,
    results: Vec<f64>,
}

/// One family's evaluator.
#[derive(Clone)]
struct Voice {
    evaluator: Evaluator,
    /// What it has for eight states, where these do not all have the parameters of single ones.
    apart: Option<Box<Apart>>,
    /// The values of what is fixed.
    fixed: Vec<f64>,
    gathered: Vec<f64>,
    results: Vec<f64>,
}

#[derive(Clone)]
struct Apart {
    evaluator: Evaluator,
    /// The values of what is fixed, eight each.
    fixed: Vec<[f64; LANES]>,
    /// The kernel's parameters in one lane.
    shared: Vec<f64>,
}

impl Chorus {
    pub(crate) fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), EvalError> {
        for (voice, family) in self.voices.iter_mut().zip(&self.families.list) {
            voice.set_parameters_in(family, lane, parameters)?;
        }
        match &mut self.rest {
            Some(rest) => rest.set_parameters_in(lane, parameters).map_err(wrong_length),
            None => Ok(()),
        }
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), EvalError> {
        for (voice, family) in self.voices.iter_mut().zip(&self.families.list) {
            *voice = family.voice(parameters)?;
        }
        match &mut self.rest {
            Some(rest) => rest.set_parameters(parameters).map_err(wrong_length),
            None => Ok(()),
        }
    }

    /// Evaluates one state, or a block of eight.
    pub(crate) fn eval(
        &mut self,
        width: usize,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), EvalError> {
        crate::engine::check("inputs", self.families.inputs * width, inputs.len())?;
        crate::engine::check("outputs", self.families.outputs * width, outputs.len())?;
        for (voice, family) in self.voices.iter_mut().zip(&self.families.list) {
            if width == 1 {
                voice.eval_single(family, inputs, outputs)?;
            } else {
                voice.eval_lanes(family, inputs, outputs)?;
            }
        }
        if let (Some(rest), Some((_, places))) = (&mut self.rest, &self.families.rest) {
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

impl Voice {
    fn set_parameters_in(
        &mut self,
        family: &Family,
        lane: usize,
        parameters: &[f64],
    ) -> Result<(), EvalError> {
        let apart = self.apart.get_or_insert_with(|| {
            let fixed = self.fixed.iter().map(|&value| [value; LANES]).collect();
            let shared = vec![0.0; family.shared.len()];
            Box::new(Apart { evaluator: self.evaluator.clone(), fixed, shared })
        });
        let Apart { evaluator, fixed, shared } = &mut **apart;
        shared.iter_mut().zip(&family.shared).for_each(|(x, &place)| *x = parameters[place as usize]);
        fixed.iter_mut().zip(&family.fixed).for_each(|(x, what)| x[lane] = what.value(parameters));
        evaluator.set_parameters_in(lane, shared).map_err(wrong_length)
    }

    /// One state: lanes are members.
    fn eval_single(&mut self, family: &Family, inputs: &[f64], outputs: &mut [f64]) -> Result<(), EvalError> {
        let blocks = family.members.div_ceil(LANES);
        let [moving, fixed, results] =
            [family.moving.len(), self.fixed.len(), family.results.len()].map(|len| len / blocks);
        for first in (0..blocks).step_by(GATHERED) {
            let count = GATHERED.min(blocks - first);
            for (k, gathered) in
                self.gathered.chunks_exact_mut((moving + fixed).max(1)).take(count).enumerate()
            {
                let (head, tail) = gathered.split_at_mut(moving);
                let places = &family.moving[(first + k) * moving..][..moving];
                head.iter_mut().zip(places).for_each(|(x, &place)| *x = inputs[place as usize]);
                tail.copy_from_slice(&self.fixed[(first + k) * fixed..][..fixed]);
            }
            let found = &mut self.results[..results * count];
            self.evaluator
                .eval_lanes(&self.gathered[..(moving + fixed) * count], found)
                .map_err(wrong_length)?;
            let places = &family.results[first * results..][..results * count];
            found.iter().zip(places).for_each(|(x, &place)| outputs[place as usize] = *x);
        }
        Ok(())
    }

    /// Eight states: members one after the other.
    fn eval_lanes(&mut self, family: &Family, inputs: &[f64], outputs: &mut [f64]) -> Result<(), EvalError> {
        let blocks = family.members.div_ceil(LANES);
        let [moving, fixed, results] =
            [family.moving.len(), self.fixed.len(), family.results.len()].map(|len| len / blocks / LANES);
        let (inputs, _) = inputs.as_chunks::<LANES>();
        let (outputs, _) = outputs.as_chunks_mut::<LANES>();
        // Where a slot of a member stands in a list.
        let at = |member: usize, slots: usize, slot: usize| {
            (member / LANES * slots + slot) * LANES + member % LANES
        };
        let (evaluator, apart) = match self.apart.as_deref_mut() {
            Some(Apart { evaluator, fixed, .. }) => (evaluator, Some(&*fixed)),
            None => (&mut self.evaluator, None),
        };
        for first in (0..family.members).step_by(GATHERED) {
            let count = GATHERED.min(family.members - first);
            let (gathered, _) = self.gathered.as_chunks_mut::<LANES>();
            for (k, gathered) in gathered.chunks_exact_mut((moving + fixed).max(1)).take(count).enumerate() {
                for (slot, x) in gathered.iter_mut().enumerate() {
                    *x = match slot.checked_sub(moving) {
                        None => inputs[family.moving[at(first + k, moving, slot)] as usize],
                        Some(slot) => {
                            let place = at(first + k, fixed, slot);
                            apart.map_or([self.fixed[place]; LANES], |fixed| fixed[place])
                        }
                    };
                }
            }
            let found = &mut self.results[..results * LANES * count];
            let gathered = &self.gathered[..(moving + fixed) * LANES * count];
            evaluator.eval_lanes(gathered, found).map_err(wrong_length)?;
            let (found, _) = found.as_chunks::<LANES>();
            for (k, found) in found.chunks_exact(results).enumerate() {
                for (slot, x) in found.iter().enumerate() {
                    outputs[family.results[at(first + k, results, slot)] as usize] = *x;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic
    use super::*;

    /// Links |r_i − r_j|² = l² with slopes: lengths by parameters, by numbers and equal; one link to a fixed point; and rows of numbers only.
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
    fn families_agree_with_one_program_and_lanes_with_single_states() {
        for count in [54, 61, 67] {
            let graph = Graph::new();
            let (inputs, parameters, outputs, ends) = links(&graph, count);
            let families = Families::find(&inputs, &parameters, &outputs, &ends, 16).unwrap().unwrap();
            // Three kinds of length and numbers; the first link, and the first that has k in it, are alone.
            assert_eq!(families.list.len(), 4);
            assert_eq!(families.rest.as_ref().unwrap().1.len(), 6);
            let families = Arc::new(families);
            let whole = Kernel::compile(Program::build(&inputs, &parameters, &outputs).unwrap()).unwrap();
            let values = |shift: f64| (0..parameters.len()).map(move |i| shift + (i as f64).cos());
            let first: Vec<f64> = values(0.0).collect();
            let mut chorus = families.chorus(&Parameters::new(first)).unwrap();
            for shift in [2.0, 3.0] {
                let parameters: Vec<f64> = values(shift).collect();
                chorus.set_parameters(&parameters).unwrap();
                let mut alone = chorus.clone();
                // Lanes of their own parameters, but for the first shift.
                let in_lane =
                    |lane: usize| values(shift + 0.1 * (shift - 2.0) * lane as f64).collect::<Vec<_>>();
                for lane in (0..LANES).filter(|_| shift > 2.0) {
                    chorus.set_parameters_in(lane, &in_lane(lane)).unwrap();
                }
                let mut evaluator = whole.evaluator(&parameters).unwrap();
                let mut blocks = vec![0.0; outputs.len() * LANES];
                let state = |lane: usize| (0..inputs.len()).map(move |i| ((i * 7 + lane) as f64).sin());
                let block: Vec<f64> =
                    (0..inputs.len() * LANES).map(|k| ((k / LANES * 7 + k % LANES) as f64).sin()).collect();
                chorus.eval(LANES, &block, &mut blocks).unwrap();
                for lane in 0..LANES {
                    let state: Vec<f64> = state(lane).collect();
                    let (mut found, mut expected) = (vec![0.0; outputs.len()], vec![0.0; outputs.len()]);
                    chorus.eval(1, &state, &mut found).unwrap();
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
            assert!(chorus.eval(1, &[0.0], &mut [0.0]).is_err());
        }
    }

    #[test]
    fn few_members_are_no_family() {
        let graph = Graph::new();
        let (inputs, parameters, outputs, ends) = links(&graph, 7);
        assert!(Families::find(&inputs, &parameters, &outputs, &ends, 16).unwrap().is_none());
    }
}
