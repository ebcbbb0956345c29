//! One kernel over many elements: each reads some numbers of a state by index, and its results go to places of an output that no other
//! element writes to. For one state, lanes are elements; for lanes of states, elements come one after the other.

use crate::engine::wrong_length;
use crate::error::EvalError;
use crate::parameters::{Parameters, Revision};
use leastaction_compile::{Evaluator, Kernel, LANES};
use std::sync::Arc;

/// Blocks of eight, or in lanes of states elements, that are gathered at once: few enough to stay in the first-level cache.
const GATHERED: usize = LANES;

/// What an element has of its own and keeps while a system runs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Constant {
    Parameter(u32),
    /// By its bits.
    Number(u64),
}

/// What each element reads. Lists have, for every block of eight elements, eight entries for each slot; the last element fills the last
/// block.
pub(crate) struct Connectivity {
    elements: usize,
    slots: usize,
    reads: Vec<u32>,
    constants: usize,
    values: Vec<f64>,
    /// Which of the values are those of parameters.
    of_parameters: Vec<(u32, u32)>,
}

/// A kernel of \[slots…, constants…\], run over a connectivity.
pub(crate) struct ElementMap {
    pub(crate) kernel: Kernel,
    pub(crate) connectivity: Arc<Connectivity>,
    /// The parameters of the kernel, among those of the system.
    pub(crate) parameters: Vec<u32>,
    /// Where results go, in blocks as the slots of a [`Connectivity`].
    pub(crate) places: Vec<u32>,
}

/// Where lanes stand in the rows of a block: 1 or 8 of them, from an offset on, in rows that are a stride apart.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) width: usize,
    pub(crate) stride: usize,
    pub(crate) offset: usize,
}

impl Lanes {
    /// A block of 1 or 8 lanes by themselves.
    pub(crate) fn whole(width: usize) -> Lanes {
        Lanes { width, stride: width, offset: 0 }
    }

    pub(crate) fn row(self, i: u32) -> usize {
        i as usize * self.stride + self.offset
    }
}

impl Constant {
    fn value(self, parameters: &[f64]) -> f64 {
        match self {
            Constant::Parameter(place) => parameters[place as usize],
            Constant::Number(bits) => f64::from_bits(bits),
        }
    }
}

/// For every block of eight elements, eight entries for each slot.
pub(crate) fn in_blocks<T>(elements: usize, slots: usize, entry: impl Fn(usize, usize) -> T) -> Vec<T> {
    let mut list = Vec::with_capacity(elements.next_multiple_of(LANES) * slots);
    for first in (0..elements).step_by(LANES) {
        for slot in 0..slots {
            list.extend((first..first + LANES).map(|element| entry(element.min(elements - 1), slot)));
        }
    }
    list
}

/// Where a slot of an element stands in such a list.
fn place(element: usize, slots: usize, slot: usize) -> usize {
    (element / LANES * slots + slot) * LANES + element % LANES
}

impl Connectivity {
    /// `read` gives the index that an element reads in a slot, `constant` what it has of its own.
    pub(crate) fn new(
        elements: usize,
        slots: usize,
        read: impl Fn(usize, usize) -> u32,
        constants: usize,
        constant: impl Fn(usize, usize) -> Constant,
    ) -> Connectivity {
        let kept = in_blocks(elements, constants, constant);
        let of_parameters = kept.iter().zip(0..).filter_map(|(constant, place)| match constant {
            Constant::Parameter(parameter) => Some((place, *parameter)),
            Constant::Number(_) => None,
        });
        let of_parameters = of_parameters.collect();
        let value = |constant: &Constant| match *constant {
            Constant::Parameter(_) => f64::NAN,
            number => number.value(&[]),
        };
        let values = kept.iter().map(value).collect();
        Connectivity {
            elements,
            slots,
            reads: in_blocks(elements, slots, read),
            constants,
            values,
            of_parameters,
        }
    }

    /// The values of all constants with these parameters; `None` if no parameter is among them.
    fn values_with(&self, parameters: &[f64]) -> Option<Vec<f64>> {
        if self.of_parameters.is_empty() {
            return None;
        }
        let mut values = self.values.clone();
        self.of_parameters.iter().for_each(|&(at, from)| values[at as usize] = parameters[from as usize]);
        Some(values)
    }
}

impl ElementMap {
    fn results(&self) -> usize {
        self.kernel.program().outputs().len()
    }

    fn own(&self, parameters: &[f64]) -> Vec<f64> {
        self.parameters.iter().map(|&place| parameters[place as usize]).collect()
    }
}

/// A map with parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct ElementEvaluator {
    map: Arc<ElementMap>,
    evaluator: Evaluator,
    /// The constants, if parameters are among them.
    values: Option<Vec<f64>>,
    /// What it has for eight states, where these do not all have the parameters of single ones.
    apart: Option<Box<Apart>>,
    gathered: Vec<f64>,
    results: Vec<f64>,
}

#[derive(Clone)]
struct Apart {
    evaluator: Evaluator,
    /// The constants, eight each, if parameters are among them.
    values: Option<Vec<[f64; LANES]>>,
}

impl ElementEvaluator {
    pub(crate) fn new(map: &Arc<ElementMap>, parameters: &Parameters) -> Result<ElementEvaluator, EvalError> {
        let program = map.kernel.program();
        let (inputs, outputs) = (program.inputs().len(), program.outputs().len());
        let mut evaluator = ElementEvaluator {
            map: map.clone(),
            evaluator: map.kernel.evaluator(&map.own(parameters.single())).map_err(wrong_length)?,
            values: map.connectivity.values_with(parameters.single()),
            apart: None,
            gathered: vec![0.0; inputs * LANES * GATHERED],
            results: vec![0.0; outputs * LANES * GATHERED],
        };
        parameters.pass(&mut Revision::default(), |lane, values| match lane {
            None => Ok(()),
            Some(lane) => evaluator.set_parameters_in(lane, values),
        })?;
        Ok(evaluator)
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), EvalError> {
        self.apart = None;
        self.values = self.map.connectivity.values_with(parameters);
        self.evaluator.set_parameters(&self.map.own(parameters)).map_err(wrong_length)
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), EvalError> {
        let apart = self.apart.get_or_insert_with(|| {
            let values = self.values.as_ref().map(|v| v.iter().map(|&value| [value; LANES]).collect());
            Box::new(Apart { evaluator: self.evaluator.clone(), values })
        });
        if let Some(values) = &mut apart.values {
            for &(at, from) in &self.map.connectivity.of_parameters {
                values[at as usize][lane] = parameters[from as usize];
            }
        }
        apart.evaluator.set_parameters_in(lane, &self.map.own(parameters)).map_err(wrong_length)
    }

    /// Evaluates all elements at a block of 1 or 8 states.
    pub(crate) fn eval(&mut self, width: usize, state: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if width == 1 { self.eval_single(state, out) } else { self.eval_lanes(state, out) }
    }

    /// One state: lanes are elements.
    fn eval_single(&mut self, state: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        let ElementEvaluator { map, evaluator, values, gathered, results, .. } = self;
        let Connectivity { elements, reads, .. } = &*map.connectivity;
        let values = values.as_ref().unwrap_or(&map.connectivity.values);
        let [slots, constants, each] =
            [map.connectivity.slots, map.connectivity.constants, map.results()].map(|len| len * LANES);
        let (inputs, blocks) = (slots + constants, elements.div_ceil(LANES));
        for first in (0..blocks).step_by(GATHERED) {
            let count = GATHERED.min(blocks - first);
            for (k, gathered) in gathered.chunks_exact_mut(inputs.max(1)).take(count).enumerate() {
                let (moving, kept) = gathered.split_at_mut(slots);
                let reads = &reads[(first + k) * slots..][..slots];
                moving.iter_mut().zip(reads).for_each(|(x, &i)| *x = state[i as usize]);
                kept.copy_from_slice(&values[(first + k) * constants..][..constants]);
            }
            let computed = &mut results[..each * count];
            evaluator.eval_lanes(&gathered[..inputs * count], computed).map_err(wrong_length)?;
            let places = &map.places[first * each..][..each * count];
            computed.iter().zip(places).for_each(|(x, &i)| out[i as usize] = *x);
        }
        Ok(())
    }

    /// Eight states: elements one after the other.
    fn eval_lanes(&mut self, state: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        let ElementEvaluator { map, evaluator, values, apart, gathered, results } = self;
        let Connectivity { elements, slots, reads, constants, .. } = &*map.connectivity;
        let (slots, constants, each) = (*slots, *constants, map.results());
        let values = values.as_ref().unwrap_or(&map.connectivity.values);
        let (evaluator, apart) = match apart.as_deref_mut() {
            Some(Apart { evaluator, values }) => (evaluator, values.as_ref()),
            None => (evaluator, None),
        };
        let inputs = slots + constants;
        let (state, _) = state.as_chunks::<LANES>();
        let (out, _) = out.as_chunks_mut::<LANES>();
        for first in (0..*elements).step_by(GATHERED) {
            let count = GATHERED.min(elements - first);
            let (blocks, _) = gathered.as_chunks_mut::<LANES>();
            for (k, gathered) in blocks.chunks_exact_mut(inputs.max(1)).take(count).enumerate() {
                let (moving, kept) = gathered.split_at_mut(slots);
                for (slot, x) in moving.iter_mut().enumerate() {
                    *x = state[reads[place(first + k, slots, slot)] as usize];
                }
                for (slot, x) in kept.iter_mut().enumerate() {
                    let place = place(first + k, constants, slot);
                    *x = apart.map_or([values[place]; LANES], |values| values[place]);
                }
            }
            let computed = &mut results[..each * LANES * count];
            evaluator.eval_lanes(&gathered[..inputs * LANES * count], computed).map_err(wrong_length)?;
            let (computed, _) = computed.as_chunks::<LANES>();
            for (k, slot) in (0..count).flat_map(|k| (0..each).map(move |slot| (k, slot))) {
                out[map.places[place(first + k, each, slot)] as usize] = computed[k * each + slot];
            }
        }
        Ok(())
    }
}
