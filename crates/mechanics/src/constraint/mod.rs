//! Constraints as expressions: what they demand of positions, velocities and accelerations.
//!
//! A constraint of positions Φ(q, t) = 0 demands of velocities Ψ = G v + ∂Φ/∂t = 0 with G = ∂Φ/∂q; a constraint of velocities
//! is Ψ = G v + b = 0 itself. Of accelerations both demand
//!
//! $$G\ddot q+\gamma=0,\qquad\gamma=\frac{\partial\Psi}{\partial q}v+\frac{\partial\Psi}{\partial t},$$
//!
//! and enforce it by the force −Gᵀλ, which does no work on motions that they allow (E. Hairer, C. Lubich and G. Wanner, *Geometric
//! Numerical Integration*, 2006, section VII.1; velocities: H. Goldstein, *Classical Mechanics*, section 2.4).

pub(crate) mod angle;
pub(crate) mod answer;
pub(crate) mod factors;
pub(crate) mod flow;
pub(crate) mod multipliers;
pub(crate) mod orthogonal;
pub(crate) mod project;
pub(crate) mod shake;
pub(crate) mod sparse;

use crate::constraint::sparse::{BENT, DEPENDENT, LONGEST};
use crate::equations::{Equations, Statement, along, depend, rate, symbols_of};
use crate::error::ModelError;
use crate::matrix::Symmetric;
use crate::model::{Model, Term};
use crate::probe::Probe;
use leastaction_expr::{Entry, Expr, Id, jacobian, jvp, rebind};
use rustc_hash::FxHashSet;

/// The forces of so many constraints are written out.
const WRITTEN_OUT: usize = 32;

/// A constraint of a model, with what it demands of velocities.
#[derive(Clone, Debug)]
pub struct Constraint<'g> {
    /// The name.
    pub name: String,
    /// What must be zero: Φ(q, t), or Ψ(q, v, t).
    pub value: Expr<'g>,
    /// What it demands of.
    pub level: Level,
    /// Ψ(q, v, t), which must be zero too.
    pub rate: Expr<'g>,
}

rebind!(Constraint { value, rate; name, level });

/// What a constraint demands something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Of positions: it is holonomic.
    Position,
    /// Of velocities, without following from a constraint of positions.
    Velocity,
}

/// The coordinate that must have a value for Φ to vanish, and the value.
pub(crate) fn held_by<'g>(
    value: Expr<'g>,
    fixed: &FxHashSet<Id>,
    coordinates: &FxHashSet<Id>,
) -> Option<(Expr<'g>, Expr<'g>)> {
    let mut moving = symbols_of(&[value]).into_iter().filter(|s| !fixed.contains(&s.id()));
    let (held, None) = (moving.next()?, moving.next()) else { return None };
    coordinates.contains(&held.id()).then_some(())?;
    let slope = value.derivative(held);
    let number = slope.as_number().filter(|slope| *slope != 0.0)?;
    let value = value.substitute(&[(held, held.like(0.0))]) / -number;
    // Nobody wants to read −0.
    Some((held, if value.as_number() == Some(0.0) { held.like(0.0) } else { value }))
}

/// The constraints of a model whose names are resolved, as functions of these coordinates; those of positions first.
pub(crate) fn derive<'g>(
    model: &Model<'g>,
    coordinates: &[Expr<'g>],
) -> Result<Vec<Constraint<'g>>, ModelError> {
    let probe = Probe::new(model.graph, &model.parameters);
    let velocities: Vec<_> = coordinates.iter().map(|&q| rate(q)).collect();
    let ids = |list: &[Expr<'g>]| list.iter().map(|e| e.id()).collect::<FxHashSet<Id>>();
    let (places, speeds) = (ids(coordinates), ids(&velocities));
    let fixed = model.parameters.iter().map(|(parameter, _)| parameter.id()).collect();
    let values: Vec<_> = model.constraints.iter().map(|term| term.value).collect();
    let rates = along(&values, coordinates, model.time);
    let mut constraints = Vec::with_capacity(values.len());
    for (Term { name, value }, along) in model.constraints.iter().zip(rates) {
        let read = symbols_of(&[*value]);
        let reads = |on: &FxHashSet<Id>| read.iter().any(|symbol| on.contains(&symbol.id()));
        if !reads(&places) && !reads(&speeds) {
            if probe.is_zero(*value) {
                continue; // redundant: what it demands is so already
            }
            let body = model.bodies.kept_rigid_by(name).map(str::to_owned);
            return Err(ModelError::Contradiction {
                constraint: name.clone(),
                value: value.to_string(),
                body,
            });
        }
        let level = if reads(&speeds) { Level::Velocity } else { Level::Position };
        let rate = if level == Level::Velocity { *value } else { along };
        if level == Level::Position
            && let Some(parameter) = angle::proportions(*value, &fixed).first()
        {
            let (constraint, parameter) = (name.clone(), parameter.to_string());
            return Err(ModelError::AngleProportion { constraint, parameter });
        }
        // Rates are those of the value, whichever turn it is in.
        let value = if level == Level::Position { angle::up_to_turns(*value, &fixed) } else { *value };
        constraints.push(Constraint { name: name.clone(), value, level, rate });
    }
    // What follows from constraints of positions is linear in velocities.
    let bound: Vec<&Constraint<'_>> = constraints.iter().filter(|c| c.level == Level::Velocity).collect();
    let rates: Vec<_> = bound.iter().map(|c| c.rate).collect();
    for Entry { row, value, .. } in jacobian(&rates, &velocities) {
        if symbols_of(&[value]).iter().any(|symbol| speeds.contains(&symbol.id())) {
            return Err(ModelError::NonlinearConstraint { constraint: bound[row].name.clone() });
        }
    }
    if let (Some(constraint), false) = (bound.first(), model.hamiltonian.is_empty()) {
        return Err(ModelError::VelocityConstraint { constraint: constraint.name.clone() });
    }
    constraints.sort_by_key(|c| c.level == Level::Velocity);
    Ok(constraints)
}

/// What kernels compute of constraints.
pub(crate) struct Demands<'g> {
    /// Φ of each constraint of positions.
    pub(crate) values: Vec<Expr<'g>>,
    /// Ψ of each constraint.
    pub(crate) rates: Vec<Expr<'g>>,
    /// The nonzeros of G, by rows.
    pub(crate) jacobian: Vec<Entry<'g>>,
    /// γ of each constraint.
    pub(crate) bias: Vec<Expr<'g>>,
}

impl<'g> Equations<'g> {
    /// Whether no constraint is one of velocities.
    #[must_use]
    pub fn is_holonomic(&self) -> bool {
        self.constraints.iter().all(|c| c.level == Level::Position)
    }

    /// Whether constraints depend on time, or drive the motion: their forces then do work.
    pub(crate) fn constraints_work(&self) -> bool {
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        if depend(&rates, &[self.time]) {
            return true;
        }
        // Constraints of positions that do not change with time demand nothing at rest.
        let values: Vec<_> = self.constraints.iter().map(|c| c.value).collect();
        let timed = depend(&values, &[self.time]);
        let demanding = self.constraints.iter().filter(|c| timed || c.level == Level::Velocity);
        let rates: Vec<_> = demanding.map(|c| c.rate).collect();
        let (_, velocities) = self.constrained();
        let rest: Vec<_> = velocities.iter().map(|&v| (v, v.like(0.0))).collect();
        let driving = leastaction_expr::substitute(&rates, &rest);
        !self.probe().zeros(&driving).iter().all(|&zero| zero)
    }

    /// (q̇, ṗ) as functions of (q, p, t, u) with the forces of constraints, where they can be written down: where velocities follow from
    /// momenta in closed form, and constraints are few. Constraints that depend on others are left out where they do, as in
    /// [`ConstraintFactors`](crate::ConstraintFactors).
    #[must_use]
    pub fn constrained_rates(&self) -> Option<(Vec<Expr<'g>>, Vec<Expr<'g>>)> {
        let (rows, n, zero) = (self.constraints.len(), self.degrees(), self.graph.number(0.0));
        if rows == 0 || rows > WRITTEN_OUT {
            return if rows == 0 { self.phase_rates() } else { None };
        }
        // Without energies that are no formulas: multipliers depend on all forces.
        let (rates, mut forces) = self.phase_rates()?;
        let Demands { jacobian, bias, .. } = self.demands();
        let mut gradients = vec![vec![zero; n]; rows];
        jacobian.iter().for_each(|entry| gradients[entry.row][entry.column] = entry.value);
        let accelerations = match &self.statement {
            Statement::Lagrangian(_) => self.accelerations()?,
            Statement::Hamiltonian(_) => {
                let pairs = [(&self.coordinates, &rates), (&self.momenta, &forces)];
                let moving = pairs.into_iter().flat_map(|(x, dx)| x.iter().copied().zip(dx.iter().copied()));
                jvp(&rates, &moving.chain([(self.time, self.graph.number(1.0))]).collect::<Vec<_>>())
            }
        };
        let mut matrix = Symmetric::zero(rows);
        for (k, gradient) in gradients.iter().enumerate() {
            let spread = match &self.statement {
                Statement::Lagrangian(l) => l.solve(gradient)?,
                // ∂²H/∂p² Gᵀ is the change of ∂H/∂p along Gᵀ.
                Statement::Hamiltonian(_) => jvp(
                    &rates,
                    &self.momenta.iter().copied().zip(gradient.iter().copied()).collect::<Vec<_>>(),
                ),
            };
            for l in 0..=k {
                matrix.add(k, l, self.dot(&gradients[l], &spread));
            }
        }
        let pressing = gradients.iter().zip(&bias).map(|(g, &bias)| self.dot(g, &accelerations) + bias);
        let pressing: Vec<_> = pressing.collect();
        let order = matrix.elimination()?;
        let multipliers = matrix.factor_semidefinite(&order, self.dependence(&gradients))?.solve(&pressing);
        for entry in &jacobian {
            forces[entry.column] -= entry.value * multipliers[entry.row];
        }
        Some((rates.clone(), self.in_phase_space(&forces, &rates)))
    }

    /// The square of the length below which a direction of a constraint is not known, as in [`ConstraintFactors`](crate::ConstraintFactors).
    fn dependence(&self, gradients: &[Vec<Expr<'g>>]) -> Expr<'g> {
        let zero = self.graph.number(0.0);
        let size = self.coordinates.iter().fold(zero, |size, q| size.max(q.abs()));
        let bends = self.constraints.iter().zip(gradients).filter(|(c, _)| c.level == Level::Position);
        let largest = bends.fold(zero, |largest, (constraint, gradient)| {
            let steepness = self.graph.sum(gradient.iter().map(|g| g.abs()));
            // At the origin nothing has a size.
            largest.max((constraint.value / (steepness * size + f64::MIN_POSITIVE)).abs())
        });
        let bend = BENT * largest;
        (bend * bend).max(DEPENDENT).min(LONGEST * LONGEST)
    }

    fn dot(&self, a: &[Expr<'g>], b: &[Expr<'g>]) -> Expr<'g> {
        self.graph.sum(a.iter().zip(b).map(|(&a, &b)| a * b))
    }

    pub(crate) fn demands(&self) -> Demands<'g> {
        let positions = self.constraints.iter().filter(|c| c.level == Level::Position);
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        let (coordinates, velocities) = self.constrained();
        let mut jacobian = jacobian(&rates, &velocities);
        jacobian.sort_by_key(|entry| (entry.row, entry.column));
        let bias = along(&rates, coordinates, self.time);
        Demands { values: positions.map(|c| c.value).collect(), rates, jacobian, bias }
    }
}
