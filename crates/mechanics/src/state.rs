//! States, and how a start is written by names.

use crate::assembly::{Loose, MOST, Placed};
use crate::constraint::project::Projection;
use crate::dynamics::Dynamics;
use crate::engine::wrong_length;
use crate::error::{EvalError, ObserveError, StartError, StartQuantity};
use crate::facts::Form;
use crate::observe::ObservedKernel;
use crate::quantity::Quantity;
use leastaction_expr::{Names, nearest};

/// A start is moved onto the constraints by no more than this, relative to its largest coordinate: what is farther away was hardly meant.
const FAR: f64 = 0.25;

/// A start may set a held coordinate to what it is held at, as closely as this.
const AGREES: f64 = 1e-9;

/// Velocities that differ by more than this, relative to the largest, are others, and not what rounding makes of them.
const OTHER: f64 = 1e-3;

/// Where a system is: time, coordinates and momenta.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// The time.
    pub t: f64,
    /// The coordinates; the states of a port-Hamiltonian system.
    pub q: Vec<f64>,
    /// The momenta; none for a port-Hamiltonian system.
    pub p: Vec<f64>,
}

impl State {
    /// The state block \[q…, p…\].
    #[must_use]
    pub fn block(&self) -> Vec<f64> {
        [self.q.as_slice(), &self.p].concat()
    }

    /// The state of a time and a block \[q…, p…\] of a system with so many coordinates.
    #[must_use]
    pub fn from_block(t: f64, block: &[f64], degrees: usize) -> State {
        let (q, p) = block.split_at(degrees.min(block.len()));
        State { t, q: q.to_vec(), p: p.to_vec() }
    }
}

/// Where many coordinates start that follow each other, and how fast they are: those of the nodes of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct StartBlock<'a> {
    /// The number of the first coordinate, as they were declared.
    pub first: usize,
    /// The values of the coordinates.
    pub coordinates: &'a [f64],
    /// Their velocities; 0 where there are none.
    pub velocities: &'a [f64],
}

impl Dynamics {
    /// The state at time 0 with these values, given by name: coordinates, and velocities (`x'`) or momenta. What is not named is 0; if neither
    /// velocities nor momenta are named, the system is at rest (or, stated by a Hamiltonian, without momentum). A start that is near
    /// what the constraints allow is moved there, and [`Dynamics::placed`] tells how far. Bodies that are [loose](Dynamics::set_loose) are put where constraints
    /// want them.
    ///
    /// # Errors
    /// [`StartError`] for a name that is unknown or given twice, for velocities together with momenta, and if the mass
    /// matrix is singular there, energy or vector field are not finite, or the constraints cannot be met near it.
    pub fn start(&mut self, values: &[(&str, f64)]) -> Result<State, StartError> {
        self.start_at(0.0, values)
    }

    /// As [`Dynamics::start`], at a time.
    ///
    /// # Errors
    /// As [`Dynamics::start`].
    pub fn start_at(&mut self, t: f64, values: &[(&str, f64)]) -> Result<State, StartError> {
        self.start_over(t, &[], values)
    }

    /// As [`Dynamics::start_at`], with blocks of coordinates that start elsewhere than at 0 unless they are named. What of them is held stays where it is held.
    ///
    /// # Errors
    /// As [`Dynamics::start`]; velocities of a block count as named.
    pub fn start_over(
        &mut self,
        t: f64,
        blocks: &[StartBlock<'_>],
        values: &[(&str, f64)],
    ) -> Result<State, StartError> {
        let system = self.system().clone();
        let n = system.degrees();
        let kinds = [system.coordinates(), system.velocities(), system.momenta()];
        let mut given = kinds.map(|names| vec![None; names.len()]);
        // Names are said last, and count.
        let mut usual = vec![None; 2 * n];
        for block in blocks {
            let rows = [(0, block.coordinates), (n, block.velocities)];
            for (offset, values) in rows.into_iter().filter(|(offset, _)| *offset == 0 || kinds[1].len() == n)
            {
                for (i, &value) in values.iter().enumerate() {
                    if let Some(place) = system.place_of(block.first + i) {
                        usual[offset + place] = Some(value);
                    }
                }
            }
        }
        let place = |name: &str| {
            let mut kinds = kinds.iter().enumerate();
            kinds.find_map(|(kind, names)| Some((kind, names.position(name)?)))
        };
        let mut states = Vec::new();
        for &(name, value) in values {
            if let Some((place, _)) = system.states().iter().find(|(_, state)| state == name) {
                finite(|| StartQuantity::Given(name.to_owned()), value)?;
                if states.iter().any(|(other, _)| other == place) {
                    return Err(StartError::Twice { name: name.to_owned() });
                }
                states.push((*place, value));
                continue;
            }
            let Some((kind, i)) = place(name) else {
                if self.is_loose(name) {
                    continue; // nobody gave it
                }
                if let Some(constraint) = system.held_by(name) {
                    finite(|| StartQuantity::Given(name.to_owned()), value)?;
                    let held = self.held_value(t, name)?;
                    if (value - held).abs() <= AGREES * held.abs().max(1.0) {
                        continue;
                    }
                    let (name, constraint) = (name.to_owned(), constraint.to_owned());
                    return Err(StartError::Held { name, value, constraint, held });
                }
                let nearest = nearest(name, kinds.into_iter().flat_map(Names::firsts).map(|(_, name)| name));
                return Err(StartError::UnknownName { name: name.to_owned(), nearest });
            };
            if given[kind][i].replace(value).is_some() {
                return Err(StartError::Twice { name: name.to_owned() });
            }
            finite(|| StartQuantity::Given(name.to_owned()), value)?;
        }
        finite(|| StartQuantity::Time, t)?;
        let [mut q, mut v, p] = given;
        let (places, speeds) = usual.split_at(n);
        q.iter_mut().zip(places).for_each(|(given, usual)| *given = given.or(*usual));
        v.iter_mut().zip(speeds).for_each(|(given, usual)| *given = given.or(*usual));
        let named = |kind: usize, values: &[Option<f64>]| {
            values.iter().position(Option::is_some).map(|i| kinds[kind].at(i))
        };
        let by_velocities = match (named(1, &v), named(2, &p)) {
            (Some(velocity), Some(momentum)) => return Err(StartError::Mixed { velocity, momentum }),
            (velocity, momentum) => {
                velocity.is_some() || momentum.is_none() && system.facts().form == Form::Lagrangian
            }
        };
        let loose = self.loose.clone();
        if n == 1 && q[0].is_none() && system.position_constraints() > 0 {
            // Where the only coordinate is follows from its constraint.
            let nodes = vec![vec![system.coordinates().at(0)]];
            self.set_loose(vec![Loose {
                name: system.coordinates().at(0),
                nodes,
                placed: Placed::Free,
                spin: None,
                moving: v[0].is_some(),
            }]);
        }
        let mut conjugate = if by_velocities { v } else { p };
        // The momentum of what a state is the rate of is that rate.
        for (place, value) in states {
            if conjugate[place].replace(value).is_some() {
                return Err(StartError::Twice { name: system.velocities().at(place) });
            }
        }
        let is_given: Vec<bool> = conjugate.iter().map(Option::is_some).collect();
        let mut block: Vec<f64> = q.into_iter().chain(conjugate).map(Option::unwrap_or_default).collect();
        let started = self.start_given(t, by_velocities, &mut block, &is_given);
        self.loose = loose;
        started?;
        Ok(State::from_block(t, &block, n))
    }

    /// As [`Dynamics::start_at`], of all values in the system's order, without looking for names: turns \[q…, v…\] into the state \[q…, p…\]; or
    /// \[q…, p…\], if these are momenta already, into one that constraints allow.
    ///
    /// # Errors
    /// As [`Dynamics::start_at`]; and [`EvalError`] if the block has another length.
    pub fn start_block(&mut self, t: f64, by_velocities: bool, block: &mut [f64]) -> Result<(), StartError> {
        let system = self.system().clone();
        let n = system.degrees();
        match by_velocities {
            true => self.check_mechanical(&[t], block)?,
            false => self.engine.check_block(&[t], block)?,
        }
        finite(|| StartQuantity::Time, t)?;
        for (i, &value) in block.iter().enumerate() {
            let name = || match by_velocities {
                true if i >= n => system.velocities().at(i - n),
                _ => system.state_name(i),
            };
            finite(|| StartQuantity::Given(name()), value)?;
        }
        self.assemble(t, by_velocities, block)?;
        self.settle(t, by_velocities, block)
    }

    /// As [`Dynamics::start_block`], where only some of the velocities or momenta are given. Velocities that are not follow from constraints, so that those that are stay as they are, if they can.
    ///
    /// # Errors
    /// As [`Dynamics::start_block`].
    pub fn start_given(
        &mut self,
        t: f64,
        by_velocities: bool,
        block: &mut [f64],
        is_given: &[bool],
    ) -> Result<(), StartError> {
        let given = block.to_vec();
        self.start_block(t, by_velocities, block)?;
        let n = self.system().degrees();
        let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let deflected = |placed: &Projection| placed.deflected > AGREES * largest(&given[n..]);
        let Some(first) = self.placed.filter(|placed| by_velocities && deflected(placed)) else {
            return Ok(());
        };
        if !is_given.contains(&true) || n > MOST {
            return Ok(());
        }
        if self.loose.is_empty() && !is_given.contains(&false) {
            return Ok(());
        }
        let stated = given[n..].iter().zip(is_given).map(|(&v, &given)| if given { v } else { 0.0 });
        block[n..].iter_mut().zip(stated).for_each(|(v, stated)| *v = stated);
        self.solve_velocities(t, block, is_given)?;
        self.settle(t, true, block)?;
        let Projection { moved, farthest, .. } = first;
        self.placed = self.placed.map(|placed| Projection { moved, farthest, ..placed });
        Ok(())
    }

    /// Turns velocities into momenta, moves a start onto the constraints, and checks it.
    fn settle(&mut self, t: f64, by_velocities: bool, block: &mut [f64]) -> Result<(), StartError> {
        let system = self.system().clone();
        let n = system.degrees();
        if by_velocities {
            let mut p = vec![0.0; block.len() - n];
            self.momenta(&[t], block, &mut p)?;
            for (i, &p) in p.iter().enumerate() {
                finite(|| StartQuantity::Momentum(system.momenta().at(i)), p)?;
            }
            let given = block[n..].to_vec();
            block[n..].copy_from_slice(&p);
            self.check_velocities(t, block, &given)?;
        }
        self.placed = None;
        if system.facts().constrained
            && let Err(error) = self.place(t, block)
        {
            // Where masses are singular, corrections are none.
            self.check_inertia(t, &block[..n])?;
            return Err(error);
        }
        self.check_start(t, block)
    }

    /// The value at which a constraint holds a coordinate, or its velocity.
    pub(crate) fn held_value(&self, t: f64, name: &str) -> Result<f64, EvalError> {
        let system = self.system();
        let observed = system.observation(name.into()).map_err(|error| match error {
            ObserveError::Compile(source) => EvalError::Compile { what: "held coordinates", source },
            other => unreachable!("a held coordinate is defined: {other}"),
        })?;
        let ObservedKernel::Computed(kernel, reads) = observed else {
            unreachable!("a held coordinate is no part of the state")
        };
        let mut evaluator = kernel.evaluator(self.parameters()).map_err(wrong_length)?;
        // It depends on time and parameters only.
        let block = vec![t; reads.len()];
        let mut value = [0.0];
        evaluator.eval(&block, &mut value).map_err(wrong_length)?;
        Ok(value[0])
    }

    /// How far the last start was moved to meet the constraints, if there are any.
    #[must_use]
    pub fn placed(&self) -> Option<Projection> {
        self.placed
    }

    /// Moves a start onto the constraints, if it is near them.
    fn place(&mut self, t: f64, block: &mut [f64]) -> Result<(), StartError> {
        let mut y = block.to_vec();
        let projection = self.project(&[t], &mut y)?[0];
        let n = self.system().degrees();
        let size = y[..n].iter().chain(&block[..n]).fold(0.0f64, |m, q| m.max(q.abs()));
        if projection.moved > FAR * size {
            let coordinate = self.system().coordinates().at(projection.farthest);
            return Err(StartError::FarFromConstraints { coordinate, moved: projection.moved });
        }
        self.placed = Some(projection);
        block.copy_from_slice(&y);
        Ok(())
    }

    /// Whether velocities that were given are those that the momenta stand for: where energies are no parabolas of them, several may have the same momenta.
    fn check_velocities(&mut self, t: f64, y: &[f64], given: &[f64]) -> Result<(), StartError> {
        let mut solved = vec![0.0; given.len()];
        // Where none are found, the field is not either, which is said then.
        if self.velocities(&[t], y, &mut solved).is_err() {
            return Ok(());
        }
        // At rest, what is found is rounding.
        let size = given.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if size == 0.0 {
            return Ok(());
        }
        let wrong =
            given.iter().zip(&solved).position(|(given, solved)| (given - solved).abs() > OTHER * size);
        wrong.map_or(Ok(()), |i| {
            let name = self.system().velocities().at(i);
            Err(StartError::OtherVelocity { name, given: given[i], other: solved[i] })
        })
    }

    fn check_inertia(&mut self, t: f64, q: &[f64]) -> Result<(), StartError> {
        let Some(idle) = self.idle(t, q)? else { return Ok(()) };
        let coordinates = idle.into_iter().map(|i| self.system().coordinates().at(i)).collect();
        Err(StartError::SingularMass { t, coordinates })
    }

    fn check_start(&mut self, t: f64, y: &[f64]) -> Result<(), StartError> {
        let (system, n) = (self.system().clone(), self.system().degrees());
        self.check_inertia(t, &y[..n])?;
        let t = [t];
        let mut shares = vec![0.0; system.shares().len()];
        self.shares(&t, y, &mut shares)?;
        let mut named = system.shares().iter().zip(&shares);
        if let Some((share, &value)) = named.find(|(_, value)| !value.is_finite()) {
            let broken = self.broken_element(t[0], y)?.filter(|(name, _)| *name == share.name);
            let what = broken.map_or_else(
                || StartQuantity::Share(share.name.clone()),
                |(name, element)| StartQuantity::Element(name, element),
            );
            return Err(StartError::NotFinite { what, value });
        }
        let mut energy = [0.0];
        self.energy(&t, y, &mut energy)?;
        finite(|| StartQuantity::Energy, energy[0])?;
        let mut field = vec![0.0; y.len()];
        self.rates(&t, y, &mut field)?;
        for (i, &value) in field.iter().enumerate() {
            finite(|| StartQuantity::Rate(system.state_name(i)), value)?;
        }
        if system.facts().form == Form::Ports {
            let mut structure = vec![0.0; 2 * n * n];
            self.prepare(&[Quantity::Structure])?;
            self.structure(&t, y, &mut structure)?;
            crate::ports::check_structure(&structure, n)?;
        }
        Ok(())
    }
}

fn finite(what: impl Fn() -> StartQuantity, value: f64) -> Result<(), StartError> {
    if value.is_finite() { Ok(()) } else { Err(StartError::NotFinite { what: what(), value }) }
}
