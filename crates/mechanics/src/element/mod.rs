//! Elements: one energy over many places.

pub(crate) mod map;
pub(crate) mod search;

use crate::check::{Kind, declared, uses};
use crate::energy::EnergyError;
use crate::equations::depend;
use crate::error::{ModelError, Site, TermKind};
use leastaction_compile::{CodeError, Kernel, Program};
use leastaction_expr::{Expr, jvp, rebind};
use map::{Connectivity, Constant, ElementMap, Scatter};
use std::sync::Arc;

/// One formula over many elements: the potential energy Σ V(x…, c…, t) where x are coordinates that each element reads, and c constants
/// of its own. Parameters of the model and time may stand in it, too.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_mechanics::{Elements, Model};
///
/// // Two springs in a row, of different lengths.
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let k = model.parameter("k", 10.0);
/// for (name, q) in ["first", "second", "third"].into_iter().zip(model.coordinates(["x", "y", "z"])) {
///     model.particle(name, 1.0, [q]);
/// }
/// let [a, b, length] = ["a", "b", "length"].map(|name| graph.symbol(name));
/// model.potential("springs", Elements {
///     energy: 0.5 * k * (b - a - length).pow(2),
///     slots: vec![a, b],
///     coordinates: [0, 1, 1, 2].into(),
///     constants: vec![length],
///     values: [1.0, 2.0].into(),
/// });
/// let mut dynamics = model.system()?.dynamics()?;
/// let mut rates = [0.0; 6];
/// dynamics.rates(&[0.0], &[0.0, 1.5, 3.5, 0.0, 0.0, 0.0], &mut rates)?;
/// assert_eq!(rates[3..], [5.0, -5.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Elements<'g> {
    /// The energy of one element.
    pub energy: Expr<'g>,
    /// The symbols in it that stand for coordinates.
    pub slots: Vec<Expr<'g>>,
    /// For each element and slot, the coordinate by its index in the model.
    pub coordinates: Arc<[u32]>,
    /// The symbols in it that stand for constants of an element.
    pub constants: Vec<Expr<'g>>,
    /// For each element and constant, its value.
    pub values: Arc<[f64]>,
}

rebind!(Elements { energy, slots, constants; coordinates, values });

/// The energy of all elements, −∂V/∂q, and −(∂²V/∂q²) d for a direction d, each of which is added to what is there.
pub(crate) struct ElementEnergy {
    pub(crate) energy: Arc<ElementMap>,
    pub(crate) force: Arc<ElementMap>,
    pub(crate) force_change: Arc<ElementMap>,
    /// Whether time is one of the inputs.
    pub(crate) timed: bool,
}

impl<'g> Elements<'g> {
    fn count(&self) -> usize {
        self.coordinates.len() / self.slots.len()
    }

    pub(crate) fn depends_on(&self, time: Expr<'g>) -> bool {
        depend(&[self.energy], &[time])
    }

    /// Checks the names in the formula, among those of the model that may stand in it.
    pub(crate) fn check(
        &self,
        name: &str,
        outside: impl Iterator<Item = (Expr<'g>, Kind)>,
    ) -> Result<(), ModelError> {
        let own = self.slots.iter().map(|&slot| (slot, Kind::Coordinate));
        let own = own.chain(self.constants.iter().map(|&constant| (constant, Kind::Parameter)));
        let declared = declared(outside.chain(own))?;
        let allowed = &[Kind::Parameter, Kind::Time, Kind::Coordinate];
        uses(&declared, Site::Term(TermKind::Potential, name.to_owned()), self.energy, allowed)?;
        let wrong = |source| Err(ModelError::Energy { name: name.to_owned(), source });
        if self.slots.is_empty() {
            return wrong(EnergyError::NoSlots);
        }
        let (slots, found) = (self.slots.len(), self.coordinates.len());
        if found % slots != 0 {
            return wrong(EnergyError::PartialElement { slots, found });
        }
        let (constants, expected) = (self.constants.len(), self.count() * self.constants.len());
        if expected != self.values.len() {
            return wrong(EnergyError::Constants { expected, found: self.values.len() });
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(i) => wrong(EnergyError::NotFinite { element: i / constants, constant: i % constants }),
            None => Ok(()),
        }
    }

    /// Differentiates the energy of one element, and compiles it. Parameters are those of the model.
    pub(crate) fn compile(
        &self,
        time: Expr<'g>,
        parameters: &[Expr<'g>],
        compile: impl Fn(Program) -> Result<Kernel, leastaction_compile::CompileError>,
    ) -> Result<ElementEnergy, CodeError> {
        let (slots, constants) = (self.slots.len(), self.constants.len());
        let connectivity = Arc::new(Connectivity::new(
            self.count(),
            slots,
            |element, slot| self.coordinates[element * slots + slot],
            constants,
            |element, k| Constant::Number(self.values[element * constants + k].to_bits()),
        ));
        let timed = self.depends_on(time);
        let uniform: &[Expr<'g>] = if timed { &[time] } else { &[] };
        let (symbols, places): (Vec<_>, Vec<_>) =
            parameters.iter().zip(0..).filter(|(p, _)| depend(&[self.energy], &[**p])).unzip();
        let map = |directions: &[Expr<'g>], outputs: &[Expr<'g>], scatter| {
            let inputs = [&self.slots, directions, &self.constants, uniform].concat();
            let kernel = compile(Program::lean(&inputs, &symbols, outputs)?)?;
            let (connectivity, parameters) = (connectivity.clone(), places.clone());
            let arrays = 1 + usize::from(!directions.is_empty());
            Ok::<_, CodeError>(Arc::new(ElementMap { kernel, connectivity, arrays, parameters, scatter }))
        };
        let force: Vec<_> = self.energy.gradient(&self.slots).into_iter().map(|slope| -slope).collect();
        // The symbol of a velocity stands for nothing else in a potential.
        let directions: Vec<_> = self.slots.iter().map(|&slot| crate::equations::rate(slot)).collect();
        let along: Vec<_> = self.slots.iter().copied().zip(directions.iter().copied()).collect();
        Ok(ElementEnergy {
            energy: map(&[], &[self.energy], Scatter::Total)?,
            force: map(&[], &force, Scatter::Add)?,
            force_change: map(&directions, &jvp(&force, &along), Scatter::Add)?,
            timed,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic
    use super::map::{ElementEvaluator, Lanes};
    use super::*;
    use crate::parameters::Parameters;
    use leastaction_compile::{Backend, LANES};
    use leastaction_expr::{Graph, vjp};

    /// Springs between neighbours of a square lattice in the plane, whose rest lengths differ, and which stiffen with time.
    fn lattice(graph: &Graph, side: usize) -> (Elements<'_>, Expr<'_>) {
        let slots = ["ax", "ay", "bx", "by"].map(|name| graph.symbol(name));
        let [k, length, t] = ["k", "length", "t"].map(|name| graph.symbol(name));
        let apart = ((slots[2] - slots[0]).pow(2) + (slots[3] - slots[1]).pow(2)).sqrt();
        let (mut coordinates, mut values) = (Vec::new(), Vec::new());
        for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
            for (di, dj) in [(1, 0), (0, 1), (1, 1)] {
                if i + di < side && j + dj < side {
                    let [a, b] = [i * side + j, (i + di) * side + j + dj].map(|node| 2 * node as u32);
                    coordinates.extend([a, a + 1, b, b + 1]);
                    values.push(0.8 + 0.3 * (values.len() as f64).sin());
                }
            }
        }
        let elements = Elements {
            energy: 0.5 * k * (1.0 + 0.1 * t.sin()) * (apart - length).pow(2),
            slots: slots.to_vec(),
            coordinates: coordinates.into(),
            constants: vec![length],
            values: values.into(),
        };
        (elements, t)
    }

    /// The whole energy as one expression of these coordinates.
    fn unrolled<'g>(elements: &Elements<'g>, q: &[Expr<'g>]) -> Expr<'g> {
        let parts = elements.coordinates.chunks_exact(4).zip(&*elements.values).map(|(places, &value)| {
            let slots = elements.slots.iter().zip(places).map(|(&slot, &i)| (slot, q[i as usize]));
            let constant = (elements.constants[0], elements.energy.like(value));
            elements.energy.substitute(&slots.chain([constant]).collect::<Vec<_>>())
        });
        elements.energy.graph().sum(parts)
    }

    #[test]
    fn elements_have_the_energy_forces_and_hessian_products_of_what_they_unroll_to() {
        let (graph, side, time) = (Graph::new(), 5, 0.7);
        let n = 2 * side * side;
        let (elements, t) = lattice(&graph, side);
        let parameters = [graph.symbol("unused"), graph.symbol("k")];
        let values = Parameters::new(vec![7.0, 3.0]);
        let q: Vec<_> = (0..n).map(|i| graph.symbol(&format!("q{i}"))).collect();
        let d: Vec<_> = (0..n).map(|i| graph.symbol(&format!("d{i}"))).collect();
        let whole = unrolled(&elements, &q);
        let force: Vec<_> = vjp(&[whole], &q, &[graph.number(-1.0)]);
        let along: Vec<_> = q.iter().copied().zip(d.iter().copied()).collect();
        let outputs = [vec![whole], force.clone(), jvp(&force, &along)].concat();
        let inputs = [q, d, vec![t]].concat();
        let whole = Kernel::compile(Program::build(&inputs, &parameters, &outputs).unwrap()).unwrap();

        let state = |lane: usize| {
            let place = move |i: usize| [i / 2 / side, i / 2 % side][i % 2] as f64;
            (0..n).map(move |i| place(i) + 0.1 * ((i * 3 + lane) as f64).cos()).collect::<Vec<_>>()
        };
        let direction: Vec<f64> = (0..n).map(|i| (2.0 * i as f64).sin()).collect();
        let mut expected = vec![0.0; 2 * n + 1];
        let at = [state(0), direction.clone(), vec![time]].concat();
        whole.evaluator(values.single()).unwrap().eval(&at, &mut expected).unwrap();

        let mut bits: Option<Vec<u64>> = None;
        for backend in [Backend::best(), Backend::Interpreter] {
            let compiled =
                elements.compile(t, &parameters, |program| Kernel::with_backend(program, backend)).unwrap();
            let mut found = vec![0.0; 2 * n + 1];
            let (head, changes) = found.split_at_mut(n + 1);
            let (energy, forces) = head.split_at_mut(1);
            let mut each = [&compiled.energy, &compiled.force, &compiled.force_change]
                .map(|map| ElementEvaluator::new(map, &values).unwrap());
            let one = Lanes::whole(1);
            each[0].eval(one, &[&state(0)], &[time], energy).unwrap();
            each[1].eval(one, &[&state(0)], &[time], forces).unwrap();
            each[2].eval(one, &[&state(0), &direction], &[time], changes).unwrap();
            let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() <= 1e-14 * size, "{i}: {a} {b}");
            }
            // Forces are what energies change by.
            let mut at = state(0);
            for i in [0, 7, n - 1] {
                let h = 1e-5;
                let mut ends = [0.0; 2];
                for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                    at[i] += sign * h;
                    each[0].eval(one, &[&at], &[time], std::slice::from_mut(end)).unwrap();
                    at[i] = state(0)[i];
                }
                assert!((found[1 + i] + (ends[0] - ends[1]) / (2.0 * h)).abs() < 1e-9, "{i}");
            }
            // Native code and the interpreter agree, and lanes with single states, wherever they stand.
            let now: Vec<u64> = found.iter().map(|x| x.to_bits()).collect();
            assert_eq!(bits.get_or_insert_with(|| now.clone()), &now, "bit for bit");
            let width = 2 * LANES;
            let block: Vec<f64> = (0..n * width).map(|k| state(k % width)[k / width]).collect();
            let mut lanes = vec![0.0; n * width];
            let mut energies = vec![0.0; width];
            let mut alone = vec![0.0; n];
            for offset in [0, LANES] {
                let wide = Lanes { width: LANES, stride: width, offset };
                each[1].eval(wide, &[&block], &[time; LANES], &mut lanes).unwrap();
                each[0].eval(wide, &[&block], &[time; LANES], &mut energies).unwrap();
            }
            for lane in [0, 6, 13] {
                alone.fill(0.0);
                each[1].eval(one, &[&state(lane)], &[time], &mut alone).unwrap();
                let mut energy = [0.0];
                each[0].eval(one, &[&state(lane)], &[time], &mut energy).unwrap();
                assert_eq!(energy[0].to_bits(), energies[lane].to_bits(), "bit for bit");
                for i in 0..n {
                    assert_eq!(alone[i].to_bits(), lanes[i * width + lane].to_bits(), "bit for bit");
                }
            }
        }
    }

    #[test]
    fn the_total_of_many_elements_loses_little_and_is_the_same_in_lanes() {
        let graph = Graph::new();
        let [x, c, t] = ["x", "c", "t"].map(|name| graph.symbol(name));
        let count = 100_003;
        let elements = Elements {
            energy: c * x,
            slots: vec![x],
            coordinates: vec![0; count].into(),
            constants: vec![c],
            values: (0..count).map(|i| 0.1 + (i % 3) as f64).collect(),
        };
        let compiled = elements.compile(t, &[], Kernel::compile).unwrap();
        let mut map = ElementEvaluator::new(&compiled.energy, &Parameters::new(Vec::new())).unwrap();
        let (mut one, mut eight) = ([0.0], [0.0; LANES]);
        map.eval(Lanes::whole(1), &[&[3.0]], &[], &mut one).unwrap();
        map.eval(Lanes::whole(LANES), &[&[3.0; LANES]], &[], &mut eight).unwrap();
        let exact = 3.0 * (0.1 * count as f64 + (0..count).map(|i| i % 3).sum::<usize>() as f64);
        assert!((one[0] - exact).abs() <= 1e-13 * exact, "{:e}", one[0] - exact);
        assert!(eight.iter().all(|energy| energy.to_bits() == one[0].to_bits()));
    }
}
