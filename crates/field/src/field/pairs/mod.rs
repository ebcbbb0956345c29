//! Pairs of nodes without a list of all of them: those that are near each other, found again as they move, or each node against those after it.
//!
//! The energy is Σ V(a, b) over pairs a < b, in the order of a and then of b, of those that are nearer than a cut-off. Pairs that are a little farther are
//! looked at, too, so that a list serves for a while (L. Verlet, doi:10.1103/PhysRev.159.98); they add exactly nothing, so that no bit depends on when
//! a list was made.

mod list;
mod stream;

use super::{Field, FieldError, Over};
use leastaction_compile::{ArgumentError, CodeError, Evaluator, Kernel, LANES, Program, vectorized};
use leastaction_expr::{Expr, Node, jvp, substitute, vjp};
use leastaction_mechanics::{Batch, EnergyFacts, Opaque, OpaqueEnergy};
use list::NearList;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use stream::{Rows, Stream};

/// Blocks of eight pairs that are evaluated at once: few enough to stay in the first-level cache.
const AT_ONCE: usize = 8;

/// So many lists are kept at the same time, one for each thread and lane.
const MOST_LISTS: usize = 256;

/// Gradients of more operations are not written out for eight nodes at once.
const LONG: usize = 300;

/// All pairs of fewer nodes are listed: then the derivatives of each are known by themselves.
const FEW: usize = 128;

/// Which numbers a pair reads besides the places of its nodes: those of its first node, then those of its second.
struct NodeValues {
    each: usize,
    values: Vec<f64>,
}

/// The energy of pairs of nodes.
pub(super) struct Pairs {
    first: u32,
    nodes: usize,
    node_values: NodeValues,
    parameters: Vec<String>,
    timed: bool,
    energy: Kernel,
    gradient: Kernel,
    /// The gradient of eight first nodes with second ones, without a cut-off.
    tile: Option<Kernel>,
    product: Kernel,
    /// If there is one.
    cutoff: Option<Kernel>,
    /// What is not in use at the moment.
    benches: Mutex<HashMap<(ThreadId, usize), Box<Bench>>>,
}

/// What one state is evaluated with.
struct Bench {
    parameters: Vec<f64>,
    energy: Evaluator,
    gradient: Evaluator,
    tile: Option<Evaluator>,
    product: Evaluator,
    cutoff: Option<Evaluator>,
    list: NearList,
    rows: Rows,
    /// What nodes got from pairs of which they are the second, by axis.
    added: [Vec<[f64; LANES]>; 3],
    positions: Vec<f64>,
    direction: Vec<f64>,
    sums: Vec<f64>,
    gathered: Vec<f64>,
    results: Vec<f64>,
}

/// One of the three things to compute.
#[derive(Clone, Copy)]
enum What<'a> {
    Energy,
    Gradient,
    Product(&'a [f64]),
}

impl<'g> Field<'g> {
    /// The field on pairs of nodes, those that are nearer than its cut-off if it has one; node i has the coordinates first + 3i and the two after that. None if it is no field of pairs,
    /// has numbers for each pair, of which there would have to be a list, or if all pairs are few.
    pub(super) fn pairs(&self, nodes: usize, first: u32) -> Result<Option<Opaque>, FieldError> {
        if self.over != Over::Pairs || (self.cutoff.is_none() && nodes < FEW) {
            return Ok(None);
        }
        let graph = self.energy.graph();
        let slots = self.element.slots();
        let own = self.element.values_of_nodes(nodes)?;
        let names: Vec<Expr<'g>> = (0..2).flat_map(|k| own.iter().map(move |own| own.symbols[k])).collect();
        let time = graph.symbol("t");
        let known: Vec<Expr<'g>> = slots.iter().chain(&names).copied().chain([time]).collect();
        let roots: Vec<_> = [self.energy].into_iter().chain(self.cutoff).map(|e| e.id()).collect();
        let used = graph.order(&roots);
        let symbols =
            used.into_iter().filter(|(_, node)| matches!(node, Node::Symbol(_))).map(|(id, _)| graph.at(id));
        let symbols: Vec<Expr<'g>> = symbols.collect();
        let timed = symbols.contains(&time);
        let parameters: Vec<_> = symbols.into_iter().filter(|symbol| !known.contains(symbol)).collect();
        if parameters.iter().any(|symbol| self.element.is_of_element(*symbol))
            || !self.element.implicit.is_empty()
        {
            return Ok(None);
        }
        let directions: Vec<_> =
            slots.iter().map(|slot| graph.symbol(&format!("{slot}_direction"))).collect();
        let gradient = vjp(&[self.energy], &slots, &[graph.number(1.0)]);
        let along: Vec<_> = slots.iter().copied().zip(directions.iter().copied()).collect();
        let product = jvp(&gradient, &along);
        let uniform: &[Expr<'g>] = if timed { &[time] } else { &[] };
        let kernel = |inputs: &[Expr<'g>], outputs: &[Expr<'g>]| -> Result<Kernel, FieldError> {
            let program = Program::lean(inputs, &parameters, outputs).map_err(CodeError::from)?;
            Ok(Kernel::compile_lightly(program).map_err(CodeError::from)?)
        };
        let tile = match self.cutoff {
            None => tile(&slots, &names, uniform, &gradient),
            Some(_) => None,
        };
        let (gradient, product) = (unmirrored(&gradient), unmirrored(&product));
        let inputs = [&slots[..], &names, uniform].concat();
        let with_directions = [&slots[..], &directions, &names, uniform].concat();
        let each = own.len();
        let values = (0..nodes).flat_map(|node| own.iter().map(move |own| own.values[node])).collect();
        Ok(Some(Opaque::new(Pairs {
            first,
            nodes,
            node_values: NodeValues { each, values },
            parameters: parameters.iter().map(ToString::to_string).collect(),
            timed,
            energy: kernel(&inputs, &[self.energy])?,
            gradient: kernel(&inputs, gradient)?,
            tile: tile.map(|(inputs, outputs)| kernel(&inputs, &outputs)).transpose()?,
            product: kernel(&with_directions, product)?,
            cutoff: self.cutoff.map(|cutoff| kernel(&[], &[cutoff])).transpose()?,
            benches: Mutex::default(),
        })))
    }
}

/// The symbols and the results of a tile: eight first nodes, each with numbers of its own, and a second one. Results are the sum of what pairs give to the second node,
/// and what each gives to its first node. None if that is long: then what it saves is little.
fn tile<'g>(
    slots: &[Expr<'g>],
    names: &[Expr<'g>],
    uniform: &[Expr<'g>],
    gradient: &[Expr<'g>],
) -> Option<(Vec<Expr<'g>>, Vec<Expr<'g>>)> {
    let graph = gradient[0].graph();
    let roots: Vec<_> = gradient.iter().map(|e| e.id()).collect();
    if graph.order(&roots).len() > LONG {
        return None;
    }
    let [first, second] = [0, 1].map(|k| {
        let each = names.len() / 2;
        [&slots[3 * k..][..3], &names[k * each..][..each]].concat()
    });
    let (mut inputs, mut firsts, mut sums) = (Vec::new(), Vec::new(), vec![graph.number(0.0); 3]);
    for number in 0..LANES {
        let own: Vec<_> = first.iter().map(|e| graph.symbol(&format!("{e}_{number}"))).collect();
        let renamed: Vec<_> = first.iter().copied().zip(own.iter().copied()).collect();
        let results = substitute(gradient, &renamed);
        firsts.extend(&results[..3]);
        sums.iter_mut().zip(&results[3..]).for_each(|(sum, &x)| *sum += x);
        inputs.extend(own);
    }
    Some(([&inputs, &second, uniform].concat(), [sums, firsts].concat()))
}

/// What a pair gives to its first node, and to its second one unless that is the opposite.
fn unmirrored<'a, 'g>(both: &'a [Expr<'g>]) -> &'a [Expr<'g>] {
    let (first, second) = both.split_at(both.len() / 2);
    let is_mirrored = first.iter().zip(second).all(|(one, other)| (-*one).id() == other.id());
    if is_mirrored { first } else { both }
}

impl Pairs {
    fn bench(&self, parameters: &[f64]) -> Result<Box<Bench>, ArgumentError> {
        let kernels = [&self.product, &self.gradient].into_iter().chain(&self.tile);
        let most = |count: fn(&Kernel) -> usize| kernels.clone().map(count).max().unwrap_or(0);
        let inputs = most(|kernel| kernel.program().inputs().len());
        let outputs = most(|kernel| kernel.program().outputs().len());
        Ok(Box::new(Bench {
            parameters: parameters.to_vec(),
            energy: self.energy.evaluator(parameters)?,
            gradient: self.gradient.evaluator(parameters)?,
            tile: self.tile.as_ref().map(|tile| tile.evaluator(parameters)).transpose()?,
            product: self.product.evaluator(parameters)?,
            cutoff: self.cutoff.as_ref().map(|cutoff| cutoff.evaluator(parameters)).transpose()?,
            list: NearList::default(),
            rows: Rows::default(),
            added: Default::default(),
            positions: Vec::new(),
            direction: Vec::new(),
            sums: vec![0.0; 3 * self.nodes],
            gathered: vec![0.0; inputs * LANES * AT_ONCE],
            results: vec![0.0; outputs * LANES * AT_ONCE],
        }))
    }

    /// Computes something for each lane, one after the other.
    fn each_lane(&self, at: Batch<'_>, what: What<'_>, out: &mut [f64]) {
        for lane in 0..at.t.len() {
            let parameters: Vec<f64> =
                (0..self.parameters.len()).map(|i| at.parameters[i * at.stride + lane]).collect();
            let key = (std::thread::current().id(), lane);
            let kept = self.benches.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            let computed = kept.map_or_else(|| self.bench(&parameters), Ok).and_then(|mut bench| {
                let total = bench.eval(self, lane, at, &parameters, what)?;
                Ok((bench, total))
            });
            match (computed, what) {
                (Ok((bench, total)), _) => {
                    match what {
                        What::Energy => out[lane] = total,
                        What::Gradient | What::Product(_) => {
                            let rows = out.chunks_exact_mut(at.stride);
                            rows.zip(&bench.sums).for_each(|(row, &sum)| row[lane] = sum);
                        }
                    }
                    let mut benches = self.benches.lock().unwrap_or_else(PoisonError::into_inner);
                    if benches.len() >= MOST_LISTS {
                        benches.clear();
                    }
                    benches.insert(key, bench);
                }
                // Parameters that are no numbers: neither is the energy.
                (Err(_), What::Energy) => out[lane] = f64::NAN,
                (Err(_), _) => out.chunks_exact_mut(at.stride).for_each(|row| row[lane] = f64::NAN),
            }
        }
    }
}

impl OpaqueEnergy for Pairs {
    fn facts(&self) -> EnergyFacts {
        let end = self.first + 3 * self.nodes as u32;
        EnergyFacts {
            coordinates: (self.first..end).collect(),
            parameters: self.parameters.clone(),
            time: self.timed,
        }
    }

    fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        self.each_lane(at, What::Energy, out);
    }

    fn gradient(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        self.each_lane(at, What::Gradient, out);
    }

    fn hessian_product(&self, at: Batch<'_>, direction: &[f64], _: &mut [f64], out: &mut [f64]) {
        self.each_lane(at, What::Product(direction), out);
    }
}

impl Bench {
    /// Evaluates a lane: the energy is returned, what belongs to coordinates is then in `sums`.
    fn eval(
        &mut self,
        pairs: &Pairs,
        lane: usize,
        at: Batch<'_>,
        parameters: &[f64],
        what: What<'_>,
    ) -> Result<f64, ArgumentError> {
        if self.parameters != parameters {
            let evaluators = [&mut self.energy, &mut self.gradient, &mut self.product];
            evaluators
                .into_iter()
                .chain(&mut self.cutoff)
                .chain(&mut self.tile)
                .try_for_each(|evaluator| evaluator.set_parameters(parameters))?;
            self.parameters.copy_from_slice(parameters);
        }
        let gather = |from: &[f64], to: &mut Vec<f64>| {
            to.clear();
            to.extend(from.iter().skip(lane).step_by(at.stride));
        };
        gather(at.q, &mut self.positions);
        if let What::Product(direction) = what {
            gather(direction, &mut self.direction);
        }
        let time = pairs.timed.then_some(at.t[lane]);
        let Some(evaluator) = &mut self.cutoff else {
            return vectorized(Stream { bench: self, own: &pairs.node_values, time, what });
        };
        let mut cutoff = [0.0];
        evaluator.eval(&[], &mut cutoff)?;
        if !self.list.update(self.positions.as_chunks().0, cutoff[0]) {
            self.sums.fill(f64::NAN);
            return Ok(f64::NAN);
        }
        self.sum(&pairs.node_values, time, what)
    }

    fn sum(&mut self, own: &NodeValues, time: Option<f64>, what: What<'_>) -> Result<f64, ArgumentError> {
        let Bench { energy, gradient, product, list, positions, direction, sums, gathered, results, .. } =
            self;
        let (positions, _) = positions.as_chunks::<3>();
        let (evaluator, direction) = match what {
            What::Energy => (energy, &[][..]),
            What::Gradient => (gradient, &[][..]),
            What::Product(_) => (product, direction.as_chunks::<3>().0),
        };
        let outputs = evaluator.kernel().program().outputs().len();
        let places = if direction.is_empty() { 6 } else { 12 };
        let inputs = places + 2 * own.each + usize::from(time.is_some());
        sums.fill(0.0);
        let (sums, _) = sums.as_chunks_mut::<3>();
        let (gathered, _) = gathered.as_chunks_mut::<LANES>();
        let mut total = 0.0;
        for some in list.pairs().chunks(LANES * AT_ONCE) {
            let blocks = some.len().div_ceil(LANES);
            for (block, rows) in some.chunks(LANES).zip(gathered.chunks_exact_mut(inputs)) {
                for lane in 0..LANES {
                    // The last pair fills its block.
                    let pair = block[lane.min(block.len() - 1)];
                    for (k, node) in pair.into_iter().enumerate() {
                        let node = node as usize;
                        (0..3).for_each(|axis| rows[3 * k + axis][lane] = positions[node][axis]);
                        if let Some(along) = direction.get(node) {
                            (0..3).for_each(|axis| rows[6 + 3 * k + axis][lane] = along[axis]);
                        }
                        let values = &own.values[node * own.each..][..own.each];
                        let to = rows[places + k * own.each..].iter_mut();
                        to.zip(values).for_each(|(row, &value)| row[lane] = value);
                    }
                }
                rows[inputs - 1..].iter_mut().zip(time).for_each(|(row, time)| row.fill(time));
            }
            let computed = &mut results[..outputs * LANES * blocks];
            evaluator.eval_lanes(gathered[..inputs * blocks].as_flattened(), computed)?;
            let (computed, _) = computed.as_chunks::<LANES>();
            // One after the other, in the order of the pairs: a sum in lanes would depend on where in the list a pair stands.
            for (block, rows) in some.chunks(LANES).zip(computed.chunks_exact(outputs)) {
                match *rows {
                    [row] => block.iter().zip(row).for_each(|(_, energy)| total += energy),
                    _ => {
                        let (first, second) = (&rows[..3], &rows[3..]);
                        for (lane, &[a, b]) in block.iter().enumerate() {
                            (0..3).for_each(|axis| sums[a as usize][axis] += first[axis][lane]);
                            match second {
                                [] => (0..3).for_each(|axis| sums[b as usize][axis] -= first[axis][lane]),
                                _ => (0..3).for_each(|axis| sums[b as usize][axis] += second[axis][lane]),
                            }
                        }
                    }
                }
            }
        }
        Ok(total)
    }
}
