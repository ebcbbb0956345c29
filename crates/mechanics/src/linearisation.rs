//! A system about rest: how its forces change with coordinates and with velocities, and its masses.
//!
//! With momenta P(q, v) and S(q, v) = ∂L/∂q + Q, small motions u about a configuration at which nothing moves obey
//!
//! $$M\ddot u+D\dot u+Ku=0,\qquad M=\frac{\partial P}{\partial v},\quad D=\frac{\partial P}{\partial q}-\frac{\partial S}{\partial v},\quad
//! K=-\frac{\partial S}{\partial q}+\sum_k\lambda_k\frac{\partial^2\Phi_k}{\partial q^2}$$
//!
//! in the directions that constraints Φ with the multipliers λ allow (L. Meirovitch, *Methods of Analytical Dynamics*, 1970, chapter 5). K is the stiffness, which
//! is symmetric where all forces derive from energies; the antisymmetric part of D is gyroscopic, and its symmetric part damps.

use crate::dynamics::Dynamics;
use crate::element::map::Lanes;
use crate::element::sum::SumEvaluator;
use crate::energy::sum::{Place, SystemEnergyKind};
use crate::engine::{check, wrong_length};
use crate::error::EvalError;
use crate::facts::Form;
use crate::quantity::Quantity;
use crate::source::Source;
use crate::system::System;
use leastaction_compile::{Evaluator, Kernel, Program};
use leastaction_expr::{Entry, Expr, jacobian, substitute};
use leastaction_linear::{Pattern, Structure};
use std::sync::Arc;

/// Stiffnesses of so many rows are kept whole, whatever their structure.
const DENSE: usize = 64;
/// And of so many, if much of them is not zero. Beyond, only products are computed.
const MOST_DENSE: usize = 2048;

/// The linear motion of a system about rest, for the parameters that its dynamics had when this was made.
#[derive(Clone)]
pub struct Linearisation {
    degrees: usize,
    structure: Structure,
    /// What formulas give to K and to D.
    formulas: Option<Formulas>,
    rates: Option<Formulas>,
    elements: Vec<ElementPart>,
    /// Whether nodes are damped in proportion to their masses, and D with that.
    damped: bool,
    damping: (Pattern, Vec<f64>),
    /// Whether there is dissipation over elements, which is in no formula of D.
    lossy: bool,
    /// Whether some energy is known by its products only.
    opaque: bool,
    /// K at the last place, and that place.
    stiffness: Vec<f64>,
    place: (f64, Vec<f64>),
    inputs: Vec<f64>,
}

/// A sparse matrix of formulas of \[q…, λ…, t, u…\].
#[derive(Clone)]
struct Formulas {
    evaluator: Evaluator,
    pattern: Pattern,
    values: Vec<f64>,
}

/// The Hessians of the elements of one energy.
#[derive(Clone)]
struct ElementPart {
    hessians: SumEvaluator,
    timed: bool,
    slots: usize,
    coordinates: Arc<[u32]>,
    triangles: Vec<f64>,
}

impl Linearisation {
    /// Differentiates and compiles what is needed.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] for a port-Hamiltonian system, which has no masses, and for a Hamiltonian whose momenta at rest are not known in
    /// closed form.
    pub fn new(dynamics: &Dynamics) -> Result<Linearisation, EvalError> {
        Linearisation::kept(dynamics, true)
    }

    /// As [`Linearisation::new`], of which only products are asked for: nothing is kept of K, however many coordinates there are.
    ///
    /// # Errors
    /// As [`Linearisation::new`].
    pub fn by_products(dynamics: &Dynamics) -> Result<Linearisation, EvalError> {
        Linearisation::kept(dynamics, false)
    }

    fn kept(dynamics: &Dynamics, kept: bool) -> Result<Linearisation, EvalError> {
        let system = dynamics.system();
        let n = system.degrees();
        if !system.set_by_events().is_empty() {
            // At rest the states would be 0 that have the values.
            let (what, form) = ("linear motions of parameters that events set", system.facts().form);
            return Err(EvalError::Undefined { what, form });
        }
        let [formulas, rates] = system.with_source(|source| source.at_rest(system))?;
        let formulas = formulas.map(|f| f.bind(dynamics)).transpose()?;
        let rates = rates.map(|f| f.bind(dynamics)).transpose()?;
        let mut elements = Vec::new();
        let mut opaque = false;
        for energy in system.energies().terms.iter().filter(|_| kept) {
            match &energy.kind {
                SystemEnergyKind::Opaque(_) => opaque = true,
                SystemEnergyKind::Elements(term) => {
                    let compiled = system.with_source(|source| source.hessians(term));
                    let compiled =
                        compiled.map_err(|source| EvalError::Compile { what: "stiffness", source })?;
                    elements.push(ElementPart {
                        hessians: SumEvaluator::new(&Arc::new(compiled), &dynamics.engine.parameters)?,
                        timed: term.energy_rate.is_some(),
                        slots: term.formula.slots.len(),
                        coordinates: term.formula.coordinates.clone(),
                        triangles: Vec::new(),
                    });
                }
            }
        }
        let structure = match kept {
            true => structure(n, formulas.as_ref(), &elements, opaque),
            false => Structure::Free(n),
        };
        Ok(Linearisation {
            degrees: n,
            stiffness: vec![0.0; structure.len()],
            structure,
            formulas,
            rates,
            elements,
            damped: system.lumped().is_some_and(|lumped| lumped.is_damped()),
            damping: Default::default(),
            lossy: !system.energies().losses.is_empty(),
            opaque,
            place: (0.0, Vec::new()),
            inputs: Vec::new(),
        })
    }

    /// How the stiffness is kept.
    #[must_use]
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Whether forces change with velocities, or momenta with coordinates: whether there may be a D.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        self.rates.is_some() || self.damped || self.lossy
    }

    /// Computes K at coordinates q, with multipliers of the constraints; they are taken for 0 if none are given.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn evaluate(
        &mut self,
        dynamics: &mut Dynamics,
        t: f64,
        q: &[f64],
        multipliers: &[f64],
    ) -> Result<(), EvalError> {
        check("coordinates", self.degrees, q.len())?;
        self.gather(dynamics, t, q, multipliers)?;
        self.place.0 = t;
        self.place.1.clear();
        self.place.1.extend_from_slice(q);
        let Linearisation { degrees, structure, formulas, elements, stiffness, inputs, .. } = self;
        let (n, structure) = (*degrees, &*structure);
        stiffness.fill(0.0);
        if let Some(formulas) = formulas {
            formulas.evaluate(inputs)?;
        }
        let at = |i: u32, j: u32| match structure {
            Structure::Dense(_) => i as usize * n + j as usize,
            Structure::Sparse(pattern) => match pattern.find(i as usize, j as usize) {
                Some(place) => place,
                None => unreachable!("the pattern has all places of elements"),
            },
            Structure::Free(_) => unreachable!("nothing is kept of it"),
        };
        if matches!(structure, Structure::Free(_)) {
            return Ok(());
        }
        if let Some(Formulas { pattern, values, .. }) = formulas {
            for ((row, column), value) in pattern.entries().zip(values) {
                stiffness[at(row as u32, column as u32)] += *value;
            }
        }
        for part in elements {
            let size = part.slots * (part.slots + 1) / 2;
            part.triangles.resize(part.coordinates.len() / part.slots * size, 0.0);
            let shared = if part.timed { std::slice::from_ref(&t) } else { &[] };
            let place =
                Place { t: &[t], states: q, velocities: &[], parameters: &dynamics.engine.parameters };
            let ElementPart { hessians, triangles, .. } = part;
            dynamics
                .engine
                .energies
                .with_held(place, |_, at| hessians.eval(Lanes::whole(1), &[at.states], shared, triangles))?;
            let reads = part.coordinates.chunks_exact(part.slots);
            for (triangle, reads) in part.triangles.chunks_exact(size).zip(reads) {
                let mut entries = triangle.iter();
                for (row, &i) in reads.iter().enumerate() {
                    for ((column, &j), &entry) in reads[..=row].iter().enumerate().zip(&mut entries) {
                        // What is held does not move.
                        if i.max(j) as usize >= n {
                            continue;
                        }
                        stiffness[at(i, j)] += entry;
                        if column != row {
                            stiffness[at(j, i)] += entry;
                        }
                    }
                }
            }
        }
        if self.opaque {
            let (mut direction, mut change) = (vec![0.0; n], vec![0.0; n]);
            for j in 0..n {
                direction[j] = 1.0;
                change.fill(0.0);
                let Dynamics { engine, .. } = dynamics;
                let place = Place { t: &[t], states: q, velocities: &[], parameters: &engine.parameters };
                engine.energies.add_change(place, true, &direction, &mut change)?;
                direction[j] = 0.0;
                (0..n).for_each(|i| stiffness[i * n + j] -= change[i]);
            }
        }
        Ok(())
    }

    /// The entries of K that its structure keeps, where it was evaluated last.
    #[must_use]
    pub fn stiffness(&self) -> &[f64] {
        &self.stiffness
    }

    /// out += K d, where it was evaluated last.
    ///
    /// # Errors
    /// [`EvalError`] if something cannot be computed there.
    pub fn add_product(
        &self,
        dynamics: &mut Dynamics,
        direction: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let n = self.degrees;
        match &self.structure {
            Structure::Dense(_) => {
                for (out, row) in out.iter_mut().zip(self.stiffness.chunks_exact(n)) {
                    *out += row.iter().zip(direction).map(|(k, d)| k * d).sum::<f64>();
                }
            }
            Structure::Sparse(pattern) => pattern.add_product::<1>(&self.stiffness, direction, out),
            Structure::Free(_) => {
                if let Some(Formulas { pattern, values, .. }) = &self.formulas {
                    pattern.add_product::<1>(values, direction, out);
                }
                let (t, q) = &self.place;
                let Dynamics { engine, .. } = dynamics;
                let (t, velocities) = (std::slice::from_ref(t), &[][..]);
                let place = Place { t, states: q, velocities, parameters: &engine.parameters };
                let mut change = vec![0.0; n];
                engine.energies.add_change(place, false, direction, &mut change)?;
                out.iter_mut().zip(&change).for_each(|(out, change)| *out -= change);
            }
        }
        Ok(())
    }

    /// Where D has entries at coordinates q, and these, if formulas give any: without what dissipation over elements adds ([`Linearisation::damping`]).
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn rates(
        &mut self,
        dynamics: &mut Dynamics,
        t: f64,
        q: &[f64],
    ) -> Result<Option<(&Pattern, &[f64])>, EvalError> {
        check("coordinates", self.degrees, q.len())?;
        self.gather(dynamics, t, q, &[])?;
        if let Some(rates) = &mut self.rates {
            rates.evaluate(&self.inputs)?;
        }
        if let (Some(lumped), true) = (&mut dynamics.engine.lumped, self.damped) {
            let own = lumped.resistances(t)?;
            let formulas = self.rates.iter().flat_map(|rates| rates.pattern.entries().zip(&rates.values));
            let formulas = formulas.map(|(place, value)| (place, *value));
            let mut entries: Vec<((usize, usize), f64)> = formulas.chain(own).collect();
            entries.sort_by_key(|(place, _)| *place);
            entries.dedup_by(|next, sum| {
                next.0 == sum.0 && {
                    sum.1 += next.1;
                    true
                }
            });
            let (places, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
            self.damping = (Pattern::new(self.degrees, self.degrees, places), values);
            return Ok(Some((&self.damping.0, &self.damping.1)));
        }
        Ok(self.rates.as_ref().map(|rates| (&rates.pattern, &rates.values[..])))
    }

    /// D at coordinates q times a direction, with dissipation over elements.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn damping(
        &mut self,
        dynamics: &mut Dynamics,
        t: f64,
        q: &[f64],
        direction: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        check("direction", self.degrees, direction.len())?;
        check("damping", self.degrees, out.len())?;
        out.fill(0.0);
        if self.lossy {
            let Dynamics { engine, .. } = &mut *dynamics;
            let place = Place {
                t: std::slice::from_ref(&t),
                states: q,
                velocities: &[],
                parameters: &engine.parameters,
            };
            engine.energies.add_loss_change(place, direction, out)?;
            out.iter_mut().for_each(|force| *force = -*force);
        }
        if let Some((pattern, entries)) = self.rates(dynamics, t, q)? {
            pattern.add_product::<1>(entries, direction, out);
        }
        Ok(())
    }

    /// Whether D has a part that is not symmetric at coordinates q: forces that turn.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn is_gyroscopic(&mut self, dynamics: &mut Dynamics, t: f64, q: &[f64]) -> Result<bool, EvalError> {
        let Some((pattern, values)) = self.rates(dynamics, t, q)? else { return Ok(false) };
        let turns = |((i, j), value): ((usize, usize), &f64)| {
            let other = pattern.find(j, i).map_or(0.0, |place| values[place]);
            (value - other).abs() > 1e-9 * (value.abs() + other.abs())
        };
        Ok(pattern.entries().zip(values).any(turns))
    }

    /// \[q…, λ…, t, u…\].
    fn gather(
        &mut self,
        dynamics: &Dynamics,
        t: f64,
        q: &[f64],
        multipliers: &[f64],
    ) -> Result<(), EvalError> {
        let rows = dynamics.system().constraints().len();
        self.inputs.clear();
        match dynamics.system().lumped() {
            Some(lumped) if !lumped.reads_nodes(Quantity::ConstraintRates) => {
                self.inputs.extend(lumped.formula.iter().map(|&i| q[i as usize]));
            }
            _ => self.inputs.extend_from_slice(q),
        }
        if multipliers.is_empty() {
            self.inputs.resize(self.inputs.len() + rows, 0.0);
        } else {
            check("multipliers", rows, multipliers.len())?;
            self.inputs.extend_from_slice(multipliers);
        }
        self.inputs.push(t);
        self.inputs.extend(dynamics.engine.inputs.iter().map(|input| input.at(t)));
        Ok(())
    }
}

impl Dynamics {
    /// Where the mass matrix has entries, below and on the diagonal, for a system of energies: the places of [`Dynamics::mass_entries`].
    #[must_use]
    pub fn mass_pattern(&self) -> Option<&[(usize, usize)]> {
        let system = &self.engine.system;
        (system.facts().form == Form::Lagrangian).then(|| &*system.inverse().pattern)
    }

    /// The entries of the mass matrix at rest, for a system of energies.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn mass_entries(&mut self, t: f64, q: &[f64]) -> Result<Vec<f64>, EvalError> {
        let n = self.system().degrees();
        check("coordinates", n, q.len())?;
        let mut entries = vec![0.0; self.system().inverse().pattern.len()];
        let mut z = q.to_vec();
        z.resize(2 * n, 0.0);
        self.inertia_at_rest(t, &z, &mut entries)?;
        Ok(entries)
    }
}

/// A matrix before it has parameters.
struct Unbound {
    kernel: Kernel,
    pattern: Pattern,
}

impl Unbound {
    fn bind(self, dynamics: &Dynamics) -> Result<Formulas, EvalError> {
        let values = vec![0.0; self.pattern.len()];
        Ok(Formulas { evaluator: dynamics.evaluator(&self.kernel)?, pattern: self.pattern, values })
    }
}

impl Formulas {
    fn evaluate(&mut self, inputs: &[f64]) -> Result<(), EvalError> {
        self.evaluator.eval(inputs, &mut self.values).map_err(wrong_length)
    }
}

impl Source {
    /// What formulas give to K and to D.
    fn at_rest(&self, system: &System) -> Result<[Option<Unbound>; 2], EvalError> {
        let form = system.facts().form;
        let undefined = || EvalError::Undefined { what: "small motions about rest", form };
        let [q, p, v] = [&self.coordinates, &self.momenta, &self.velocities]
            .map(|ids| self.expressions(&self.read_by(Quantity::ConstraintRates, ids)));
        let rest: Vec<_> = v.iter().map(|&v| (v, v.like(0.0))).collect();
        // S(q, v) and P(q, v).
        let (forces, momenta) = match form {
            Form::Ports => return Err(undefined()),
            Form::Lagrangian => {
                let forces = self.outputs(Quantity::MomentumRates).ok_or_else(undefined)?;
                (forces, self.outputs(Quantity::Momenta).ok_or_else(undefined)?)
            }
            Form::Hamiltonian => {
                let forces = self.outputs(Quantity::Kick).ok_or_else(undefined)?;
                let momenta = self.outputs(Quantity::Momenta).ok_or_else(undefined)?;
                let moving: Vec<_> = p.iter().copied().zip(momenta.iter().copied()).collect();
                (substitute(&forces, &moving), momenta)
            }
        };
        let still = substitute(&forces, &rest);
        // −S + Gᵀλ.
        let multipliers: Vec<_> =
            (0..system.constraints().len()).map(|k| self.graph.symbol(&format!("\u{3bb}[{k}]"))).collect();
        let reads_nodes = self.lumped.as_ref().is_some_and(|l| l.reads_nodes(Quantity::ConstraintRates));
        // Where one of the coordinates that are read stands among all, and one of formulas among these.
        let column = |i: usize| if reads_nodes { i } else { self.place(i) };
        let row = |i: usize| if reads_nodes { self.place(i) } else { i };
        let mut balance = vec![self.graph.number(0.0); q.len()];
        still.iter().enumerate().for_each(|(i, &s)| balance[row(i)] = -s);
        if let Some(rates) = self.outputs(Quantity::ConstraintRates) {
            for Entry { row, column, value } in jacobian(&rates, &v) {
                balance[column] += multipliers[row] * value.substitute(&rest);
            }
        }
        let inputs: Vec<_> = q
            .iter()
            .chain(&multipliers)
            .copied()
            .chain(self.expressions(&[self.time]))
            .chain(self.expressions(&self.inputs))
            .collect();
        let stiffness = jacobian(&balance, &q).into_iter().map(|entry| Entry {
            row: column(entry.row),
            column: column(entry.column),
            ..entry
        });
        let stiffness = self.matrix(&inputs, stiffness.collect())?;
        let turning = jacobian(&substitute(&momenta, &rest), &q);
        let resisting = jacobian(&forces, &v)
            .into_iter()
            .map(|entry| Entry { value: -entry.value.substitute(&rest), ..entry });
        let rates = turning.into_iter().chain(resisting).map(|entry| Entry {
            row: self.place(entry.row),
            column: column(entry.column),
            ..entry
        });
        let rates = self.matrix(&inputs, rates.collect())?;
        Ok([stiffness, rates])
    }

    /// A kernel for the sum of entries, unless all are zero.
    fn matrix(&self, inputs: &[Expr<'_>], mut entries: Vec<Entry<'_>>) -> Result<Option<Unbound>, EvalError> {
        let n = self.coordinates.len();
        entries.retain(|entry| entry.value.as_number() != Some(0.0));
        entries.sort_by_key(|entry| (entry.row, entry.column));
        let (mut places, mut values): (Vec<(usize, usize)>, Vec<Expr<'_>>) = Default::default();
        for Entry { row, column, value } in entries {
            match (places.last(), values.last_mut()) {
                (Some(&last), Some(sum)) if last == (row, column) => *sum += value,
                _ => {
                    places.push((row, column));
                    values.push(value);
                }
            }
        }
        if values.iter().all(|value| value.as_number() == Some(0.0)) {
            return Ok(None);
        }
        let program = Program::build(inputs, &self.expressions(&self.parameters), &values);
        let kernel = program
            .map_err(leastaction_compile::CodeError::from)
            .and_then(|program| Ok(Kernel::compile_lightly(program)?));
        let kernel = kernel.map_err(|source| EvalError::Compile { what: "stiffness", source })?;
        Ok(Some(Unbound { kernel, pattern: Pattern::new(n, n, places) }))
    }
}

/// How K is kept: whole if there are few coordinates; by its nonzeros if these are few; of many of which many depend on each other,
/// only by products.
fn structure(n: usize, formulas: Option<&Formulas>, elements: &[ElementPart], opaque: bool) -> Structure {
    if n <= DENSE {
        return Structure::Dense(n);
    }
    let full = || if n <= MOST_DENSE { Structure::Dense(n) } else { Structure::Free(n) };
    if opaque {
        return full();
    }
    let most = n.saturating_mul(n) / 8;
    // The elements that read each coordinate.
    let mut readers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
    for (number, part) in elements.iter().enumerate() {
        for (element, reads) in part.coordinates.chunks_exact(part.slots).enumerate() {
            let free = reads.iter().filter(|&&i| (i as usize) < n);
            free.for_each(|&i| readers[i as usize].push((number as u32, element as u32)));
        }
    }
    let (mut rows, mut count, mut row) = (Vec::with_capacity(n), 0, Vec::new());
    for (i, readers) in readers.iter().enumerate() {
        row.clear();
        row.push(i as u32);
        if let Some(formulas) = formulas {
            row.extend(&formulas.pattern.columns()[formulas.pattern.row(i)]);
        }
        for &(number, element) in readers {
            let part = &elements[number as usize];
            let reads = &part.coordinates[element as usize * part.slots..][..part.slots];
            row.extend(reads.iter().filter(|&&j| (j as usize) < n));
            if row.len() > 4 * n {
                row.sort_unstable();
                row.dedup();
            }
        }
        row.sort_unstable();
        row.dedup();
        count += row.len();
        if count > most {
            return full();
        }
        rows.push(row.clone());
    }
    Structure::Sparse(Arc::new(Pattern::from_rows(n, rows)))
}
