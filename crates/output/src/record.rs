//! Everything that can be computed from the samples of a run, column by column.

use crate::columns::Columns;
use crate::held::Held;
use crate::table::RecordTable;
use leastaction_expr::Names;
use leastaction_integrate::Trajectory;
use leastaction_mechanics::{Dynamics, EvalError, Form, Observable, Place, System, integral, multiplier};

/// What coordinates that constraints hold are called in errors.
const HELD: &str = "held coordinates";

/// Where a particle or a point was, at every sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The name of the particle or point.
    pub name: String,
    /// x, y and z, as many as there are: `axes[1][7]` is y at sample 7.
    pub axes: Vec<Vec<f64>>,
}

/// What a column belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Time.
    Time,
    /// Generalized coordinates.
    Coordinates,
    /// Their velocities.
    Velocities,
    /// Their momenta.
    Momenta,
    /// Cartesian positions of particles and points.
    Positions,
    /// The energy.
    Energy,
    /// Multipliers of the constraints.
    Multipliers,
    /// How far constraints are violated.
    Violations,
    /// What the model asks for by `output`.
    Outputs,
}

/// A run, sample by sample.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Record {
    /// The times.
    pub times: Vec<f64>,
    /// The coordinates, those last that constraints hold.
    pub coordinates: Columns,
    /// The velocities, in the same order; none for a port-Hamiltonian system.
    pub velocities: Columns,
    /// The momenta; none for a port-Hamiltonian system.
    pub momenta: Columns,
    /// Where particles and points were.
    pub paths: Vec<Path>,
    /// The energy T + V.
    pub energy: Vec<f64>,
    /// Jacobi's function p·v − L, where it is another one than the energy; empty else.
    pub jacobi: Vec<f64>,
    /// The power that is supplied at each sample; empty where the energy is conserved, and where that power is not known.
    pub supplied: Vec<f64>,
    /// The power that is dissipated: the energy changes at the rate of what is supplied less this. Empty as the former.
    pub dissipated: Vec<f64>,
    /// The multipliers of the constraints, called `lambda_` and the constraint's name; then the forces with which coordinates are held, `reaction_` and the name of what holds them.
    pub multipliers: Columns,
    /// The largest |Φ| of the constraints of positions at each sample; empty without any.
    pub position_violation: Vec<f64>,
    /// The largest |Ψ|, what constraints demand of velocities, at each sample; empty without any.
    pub velocity_violation: Vec<f64>,
    /// What else was asked for.
    pub outputs: Columns,
    /// For pictures: at each sample, the energy that each mesh is coloured by, at its nodes. Empty where none is.
    pub densities: Vec<Vec<Vec<f64>>>,
}

/// Why a run cannot be recorded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} cannot be computed at t = {t}: {reason}")]
pub struct RecordError {
    /// What.
    pub what: &'static str,
    /// When.
    pub t: f64,
    /// Why.
    pub reason: EvalError,
}

impl Record {
    /// The record of a trajectory of these dynamics, with outputs by name.
    ///
    /// # Errors
    /// [`RecordError`] if a quantity cannot be computed at a sample.
    pub fn new(
        trajectory: &Trajectory,
        dynamics: &mut Dynamics,
        outputs: &[(String, Observable)],
    ) -> Result<Record, RecordError> {
        Record::of_samples(trajectory.samples(), dynamics, outputs)
    }

    /// The record of states at times, which need not be those of a motion.
    ///
    /// # Errors
    /// As [`Record::new`].
    pub fn of_samples<'y>(
        samples: impl ExactSizeIterator<Item = (f64, &'y [f64])>,
        dynamics: &mut Dynamics,
        outputs: &[(String, Observable)],
    ) -> Result<Record, RecordError> {
        let system = dynamics.system().clone();
        let (n, moving) = (system.degrees(), system.facts().form != Form::Ports);
        let (constrained, balanced) = (system.facts().constrained, tells_power(&system));
        let mut record = Record::blank(&system, outputs.iter().map(|(name, _)| name.as_str()));
        record.times.reserve(samples.len());
        let kinds = [&mut record.coordinates, &mut record.velocities, &mut record.momenta];
        let kinds = kinds.into_iter().chain([&mut record.multipliers, &mut record.outputs]);
        kinds.for_each(|columns| columns.reserve(samples.len()));
        let axes = system.places().iter().map(|place| place.dimensions).sum();
        let (mut v, mut x, mut e) = (vec![0.0; n], vec![0.0; axes], [0.0]);
        let mut shown = vec![0.0; outputs.len()];
        let held = Held::names(&system).observables(dynamics);
        // It is not known at any time.
        let held = held.map_err(|reason| RecordError { what: HELD, t: f64::NAN, reason })?;
        let mut lambda = vec![0.0; system.constraints().len()];
        let (mut phi, mut psi) = (vec![0.0; system.position_constraints()], lambda.clone());
        for (t, y) in samples {
            record.times.push(t);
            let fail = |what| move |reason| RecordError { what, t, reason };
            let held = held.at(dynamics, t, y).map_err(fail(HELD))?;
            record.coordinates.push_parts(&[&y[..n], &held.coordinates]);
            if moving {
                record.momenta.push(&y[n..]);
                dynamics.velocities(&[t], y, &mut v).map_err(fail("velocities"))?;
                record.velocities.push_parts(&[&v, &held.velocities]);
            }
            if axes > 0 {
                dynamics.positions(&[t], y, &mut x).map_err(fail("positions"))?;
                let all = record.paths.iter_mut().flat_map(|path| &mut path.axes);
                all.zip(&x).for_each(|(axis, &x)| axis.push(x));
            }
            dynamics.energy(&[t], y, &mut e).map_err(fail("the energy"))?;
            record.energy.push(e[0]);
            if system.facts().jacobi {
                dynamics.hamiltonian(&[t], y, &mut e).map_err(fail("Jacobi's function"))?;
                record.jacobi.push(e[0]);
            }
            if balanced {
                dynamics.supplied_power(&[t], y, &mut e).map_err(fail("the power supplied"))?;
                record.supplied.push(e[0]);
                dynamics.dissipated_power(&[t], y, &mut e).map_err(fail("the power dissipated"))?;
                record.dissipated.push(e[0]);
            }
            if constrained {
                dynamics.multipliers(&[t], y, &mut lambda).map_err(fail("multipliers"))?;
                dynamics
                    .violations(&[t], y, &mut phi, &mut psi)
                    .map_err(fail("violations of constraints"))?;
                if !phi.is_empty() {
                    record.position_violation.push(largest(&phi));
                }
                record.velocity_violation.push(largest(&psi));
            }
            record.multipliers.push_parts(&[&lambda, &held.reactions]);
            for ((_, what), value) in outputs.iter().zip(shown.chunks_exact_mut(1)) {
                dynamics.observe(*what, &[t], y, value).map_err(fail("an output"))?;
            }
            record.outputs.push(&shown);
        }
        Ok(record)
    }

    /// Whether a name is of something that is recorded of a system, whatever else is asked for.
    #[must_use]
    pub fn has(system: &System, name: &str) -> bool {
        let moving = system.facts().form != Form::Ports;
        let states = [system.coordinates(), system.velocities(), system.momenta()];
        let states = &states[..if moving { 3 } else { 1 }];
        let held = Held::names(system);
        let mut held = held.coordinates.iter().chain(&held.velocities).chain(&held.reactions);
        let violations = ["violation", "violation'"].contains(&name) && !system.constraints().is_empty();
        let is_multiplier = system.constraints().iter().any(|(constraint, _)| multiplier(constraint) == name);
        let component = |(place, axis): (&str, &str)| {
            let axis = ["x", "y", "z"].iter().position(|other| *other == axis);
            axis.is_some_and(|axis| system.places().iter().any(|p| p.name == place && axis < p.dimensions))
        };
        ["t", "energy"].contains(&name)
            || name == "jacobi" && system.facts().jacobi
            || ["supplied", "dissipated"].contains(&name) && tells_power(system)
            || states.iter().any(|names| names.contains(name))
            || held.any(|other| other == name)
            || violations
            || is_multiplier
            || name.rsplit_once('.').is_some_and(component)
    }

    /// A record of a system without samples: what will be recorded.
    #[must_use]
    pub fn blank<'a>(system: &System, outputs: impl Iterator<Item = &'a str>) -> Record {
        let held = Held::names(system);
        let columns = |names: &Names, held: Vec<String>| match held.is_empty() {
            true => Columns::new(names.clone()),
            false => Columns::new(names.iter().chain(held).collect()),
        };
        let (moving, none) = (system.facts().form != Form::Ports, Names::default());
        let multipliers = system.constraints().iter().map(|(name, _)| multiplier(name));
        let path =
            |place: &Place| Path { name: place.name.clone(), axes: vec![Vec::new(); place.dimensions] };
        Record {
            coordinates: columns(system.coordinates(), held.coordinates),
            velocities: columns(if moving { system.velocities() } else { &none }, held.velocities),
            momenta: columns(if moving { system.momenta() } else { &none }, Vec::new()),
            paths: system.places().iter().map(path).collect(),
            multipliers: Columns::new(multipliers.chain(held.reactions).collect()),
            outputs: Columns::new(outputs.map(str::to_owned).collect()),
            ..Record::default()
        }
    }

    /// How many samples there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Where a particle or a point was.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|path| path.name == name)
    }

    /// Whether a coordinate is the integral of a state of first order, `int_z` of an output `z` which is its rate: nothing that moves.
    #[must_use]
    pub fn is_integral(&self, coordinate: &str) -> bool {
        let rate = format!("{coordinate}'");
        let rate = self.velocities.iter().find(|column| column.name == rate);
        let state = self.outputs.iter().find(|column| integral(&column.name) == coordinate);
        rate.zip(state).is_some_and(|(rate, state)| rate.values == state.values)
    }

    /// How many numbers are not finite.
    #[must_use]
    pub fn not_finite(&self) -> usize {
        self.columns().map(|(_, _, values)| values.iter().filter(|value| !value.is_finite()).count()).sum()
    }

    /// The same as a table, in which a column is found at once.
    #[must_use]
    pub fn table(&self) -> RecordTable<'_> {
        RecordTable { columns: self.columns().collect(), rows: self.len() }
    }

    /// All columns in the order of files: time, coordinates, velocities, momenta, positions, energy, powers, multipliers, violations, outputs.
    pub fn columns(&self) -> impl Iterator<Item = (Group, String, &[f64])> {
        fn all(group: Group, columns: &Columns) -> impl Iterator<Item = (Group, String, &[f64])> {
            columns.iter().map(move |column| (group, column.name, column.values))
        }
        let one = |group, name: &str, values| (group, name.to_owned(), values);
        let violations = [("violation", &self.position_violation), ("violation'", &self.velocity_violation)];
        let violations = violations.into_iter().filter(|(_, values)| !values.is_empty());
        let powers = [("supplied", &self.supplied), ("dissipated", &self.dissipated)];
        let powers = powers.into_iter().filter(|(_, values)| !values.is_empty());
        let positions = self.paths.iter().flat_map(|path| {
            let axes = path.axes.iter().zip(["x", "y", "z"]);
            axes.map(|(axis, letter)| (Group::Positions, format!("{}.{letter}", path.name), &axis[..]))
        });
        // The places of nodes are coordinates, but for those that are held.
        let positions = positions.filter(|(_, name, _)| !self.coordinates.names().contains(name));
        std::iter::once(one(Group::Time, "t", &self.times[..]))
            .chain(all(Group::Coordinates, &self.coordinates))
            .chain(all(Group::Velocities, &self.velocities))
            .chain(all(Group::Momenta, &self.momenta))
            .chain(positions)
            .chain(std::iter::once(one(Group::Energy, "energy", &self.energy[..])))
            .chain((!self.jacobi.is_empty()).then(|| one(Group::Energy, "jacobi", &self.jacobi[..])))
            .chain(powers.map(move |(name, values)| one(Group::Energy, name, &values[..])))
            .chain(all(Group::Multipliers, &self.multipliers))
            .chain(violations.map(move |(name, values)| one(Group::Violations, name, &values[..])))
            .chain(all(Group::Outputs, &self.outputs))
    }
}

/// Whether power is recorded: the energy is not conserved, and all power from outside is known.
fn tells_power(system: &System) -> bool {
    !system.conserves_energy() && system.knows_power()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}
