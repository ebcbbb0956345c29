//! Forces that depend on the multipliers of constraints, such as friction μN and creep.
//!
//! With multipliers in the generalized forces Q, accelerations and multipliers follow together from
//!
//! $$M\ddot q-\ell-Q(\lambda)+G^\mathsf{T}\lambda=0,\qquad G\ddot q+\gamma=0,$$
//!
//! ℓ being what M q̈ is without generalized forces. Coordinates that constraints hold take part, so that their reactions are multipliers like others. Where Q is affine in λ, this is one linear system, whose
//! solution is written out and put into Q: what is left is an ordinary force, and the multipliers that the engine then finds are those that were put in. Else Newton's steps are written out, from the
//! multipliers without such forces; if they have not come to an end, or if the answer would not be the only one (P. Painlevé, *Sur les lois du frottement de glissement*, C. R. Acad. Sci. 121, 1895), the force is no number,
//! and a run says so.

use crate::energy::Potential;
use crate::equations::{along, depend, motion, rate, symbols_of};
use crate::error::ModelError;
use crate::model::{Model, Term};
use crate::names::{constraint_of, is_reaction};
use crate::probe::Probe;
use leastaction_expr::{Entry, Expr, Id, Variables, jacobian, substitute};
use rustc_hash::{FxHashMap, FxHashSet};

/// Accelerations and multipliers are solved for by formulas if they are so many at most.
const MOST: usize = 24;

/// So many steps of Newton's method: a few for what is affine in pieces, as |λ|, and more for what is curved, as √(λ₁² + λ₂²).
const STEPS: [usize; 2] = [3, 7];

/// The last step changes no multiplier by more than this part of the largest.
const SAME: f64 = 1e-9;

/// The model with forces in which multipliers are what they are, if forces depend on some.
pub(crate) fn answered<'g>(written: &Model<'g>) -> Result<Option<Model<'g>>, ModelError> {
    let values = |model: &Model<'g>| -> Vec<Expr<'g>> {
        model.forces.iter().chain(&model.states).chain(&model.definitions).map(|(_, value)| *value).collect()
    };
    let known: FxHashSet<Id> = written.parameters.iter().map(|(parameter, _)| parameter.id()).collect();
    let of_constraint = |symbol: &Expr<'g>| {
        let name = symbol.to_string();
        let stem = constraint_of(&name)?;
        let row = written.constraints.iter().position(|term| term.name == stem)?;
        Some((*symbol, row, is_reaction(&name), name))
    };
    let asked = symbols_of(&values(written)).into_iter().filter(|symbol| !known.contains(&symbol.id()));
    let asked: Vec<_> = asked.filter_map(|symbol| of_constraint(&symbol)).collect();
    let Some((.., name)) = asked.first() else { return Ok(None) };
    let refuse = |reason| Err(ModelError::Multiplier { name: name.clone(), reason });
    if !written.hamiltonian.is_empty() {
        return refuse("the model states a Hamiltonian: state energies or a Lagrangian");
    }
    let formulas = written.potential.iter().all(|potential| potential.formula().is_some());
    if !formulas || !written.losses.is_empty() || !written.lumped.is_empty() || !written.holds.is_empty() {
        return refuse(
            "the model has meshes, or energies that are no formulas, and multipliers are not known in formulas there",
        );
    }
    let free = written.substituted()?;
    let states = free.state_places();
    let q = free.coordinates.iter().enumerate().filter(|(i, _)| !states.contains(i));
    let q: Vec<Expr<'g>> = q.map(|(_, q)| *q).collect();
    if q.len() + free.constraints.len() > MOST {
        return refuse("the model is too large: coordinates and constraints are 24 at most, all together");
    }
    let system = match System::new(&free, &q)? {
        Ok(system) => system,
        Err(reason) => return refuse(reason),
    };
    // What holds a coordinate acts on it with −∂Φ/∂q λ.
    let held = written.resolved()?.held;
    let mut named: Vec<(Expr<'g>, Expr<'g>)> = Vec::new();
    for (symbol, row, reaction, name) in &asked {
        let on = held.iter().find(|(_, by)| *by == written.constraints[*row].name);
        match (reaction, on) {
            (false, _) => named.push((*symbol, system.multipliers[*row])),
            (true, Some((coordinate, _))) => {
                let slope = free.constraints[*row].value.derivative(*coordinate);
                named.push((*symbol, -slope * system.multipliers[*row]));
            }
            (true, None) => {
                let reason = "nothing is held under this name: the multiplier of a constraint is `lambda_` with its name";
                return Err(ModelError::Multiplier { name: name.clone(), reason });
            }
        }
    }
    let forces = system.forces(&free, &q, &named);
    let probe = Probe::new(free.graph, &free.parameters);
    let Some(found) = system.solved(&forces, free.time, &probe) else {
        return refuse(
            "constraints depend on each other, or the masses are singular, so that multipliers are not determined",
        );
    };
    let known: Vec<_> = system.multipliers.iter().copied().zip(found).collect();
    let put = substitute(&named.iter().map(|(_, value)| *value).collect::<Vec<_>>(), &known);
    let named: Vec<_> = named.iter().map(|(symbol, _)| *symbol).zip(put).collect();
    let mut model = written.clone();
    let lists = [&mut model.forces, &mut model.states, &mut model.definitions];
    for (_, value) in lists.into_iter().flatten() {
        *value = value.substitute(&named);
    }
    Ok(Some(model))
}

/// The equations for accelerations and multipliers, but for generalized forces.
struct System<'g> {
    /// Symbols for the multipliers.
    multipliers: Vec<Expr<'g>>,
    /// M and G.
    mass: Vec<Entry<'g>>,
    slopes: Vec<Entry<'g>>,
    /// ℓ with dissipation, and γ.
    loads: Vec<Expr<'g>>,
    bias: Vec<Expr<'g>>,
}

impl<'g> System<'g> {
    /// The equations in these coordinates, or why there are none.
    fn new(free: &Model<'g>, q: &[Expr<'g>]) -> Result<Result<System<'g>, &'static str>, ModelError> {
        let (graph, time) = (free.graph, free.time);
        let v: Vec<_> = q.iter().map(|&q| rate(q)).collect();
        let terms = free.kinetic_terms();
        let terms = terms.iter().chain(&free.lagrangian).map(|term| term.value);
        let potential = free.potential_terms();
        let potential = potential.iter().filter_map(Potential::formula).map(|value| -value);
        let lagrangian = graph.sum(terms.chain(potential));
        let momenta = lagrangian.gradient(&v);
        let mass = jacobian(&momenta, &v);
        if depend(&mass.iter().map(|entry| entry.value).collect::<Vec<_>>(), &v) {
            return Ok(Err("kinetic energies are not quadratic in velocities"));
        }
        let changes = along(&momenta, q, time);
        let mut loads: Vec<_> =
            lagrangian.gradient(q).into_iter().zip(changes).map(|(slope, change)| slope - change).collect();
        let fast = Variables::new(graph, &v);
        for (i, slope) in free.dissipation.iter().flat_map(|term| fast.gradient(term.value)) {
            loads[i] -= slope;
        }
        let values: Vec<_> = free.constraints.iter().map(|term| term.value).collect();
        let pushed = motion(q, time).derivatives(&values);
        let rates: Vec<_> = values
            .iter()
            .zip(pushed)
            .map(|(&value, pushed)| if depend(&[value], &v) { value } else { pushed })
            .collect();
        let slopes = jacobian(&rates, &v);
        if depend(&slopes.iter().map(|entry| entry.value).collect::<Vec<_>>(), &v) {
            return Ok(Err("a constraint is not linear in velocities"));
        }
        let bias = along(&rates, q, time);
        let name = |term: &Term<'g>| graph.symbol(&format!("lambda_{}", term.name));
        let multipliers = free.constraints.iter().map(name).collect();
        Ok(Ok(System { multipliers, mass, slopes, loads, bias }))
    }

    /// Generalized forces, in which reactions are written by multipliers.
    fn forces(&self, free: &Model<'g>, q: &[Expr<'g>], named: &[(Expr<'g>, Expr<'g>)]) -> Vec<Expr<'g>> {
        let places: FxHashMap<Id, usize> = q.iter().zip(0..).map(|(q, i)| (q.id(), i)).collect();
        let mut forces = vec![free.graph.number(0.0); q.len()];
        for (coordinate, value) in &free.forces {
            // Forces on anything else are refused later.
            places.get(&coordinate.id()).into_iter().for_each(|&i| forces[i] += *value);
        }
        substitute(&forces, named)
    }

    /// The multipliers, as functions of coordinates, velocities, time and inputs.
    fn solved(&self, forces: &[Expr<'g>], time: Expr<'g>, probe: &Probe<'g>) -> Option<Vec<Expr<'g>>> {
        let graph = self.loads.first()?.graph();
        let (n, zero) = (self.loads.len(), graph.number(0.0));
        let answers = jacobian(forces, &self.multipliers);
        let no_answers: Vec<Entry<'g>> = Vec::new();
        let plan = pivots(&self.matrix(&no_answers), probe)?;
        // Of forces Q(λ) ≈ Q₀ + A λ.
        let solve = |at_zero: &[Expr<'g>], answers: &[Entry<'g>]| {
            let push = self.loads.iter().zip(at_zero).map(|(&load, &force)| load + force);
            let right = push.chain(self.bias.iter().map(|&bias| -bias)).collect();
            let (all, determinant) = eliminated(self.matrix(answers), right, &plan);
            (all[n..].to_vec(), determinant)
        };
        let nothing: Vec<_> = self.multipliers.iter().map(|&l| (l, zero)).collect();
        let entries: Vec<_> = answers.iter().map(|entry| entry.value).collect();
        let without = substitute(forces, &nothing);
        if !depend(&entries, &self.multipliers) {
            return Some(solve(&without, &answers).0);
        }
        let curved = {
            let second = jacobian(&entries, &self.multipliers);
            !probe.zeros(&second.iter().map(|entry| entry.value).collect::<Vec<_>>()).iter().all(|&zero| zero)
        };
        let (mut now, plain) = solve(&without, &no_answers);
        let (mut before, mut determinants) = (now.clone(), [plain; 2]);
        for _ in 0..STEPS[usize::from(curved)] {
            let known: Vec<_> = self.multipliers.iter().copied().zip(now.iter().copied()).collect();
            let values = substitute(&entries, &known);
            let at: Vec<Entry<'g>> =
                answers.iter().zip(values).map(|(entry, value)| Entry { value, ..*entry }).collect();
            let mut rest = substitute(forces, &known);
            at.iter().for_each(|entry| rest[entry.row] -= entry.value * now[entry.column]);
            let (next, ahead) = solve(&rest, &at);
            let opposite: Vec<_> = at.iter().map(|entry| Entry { value: -entry.value, ..*entry }).collect();
            let (_, behind) = solve(&rest, &opposite);
            determinants = [ahead, behind];
            before = std::mem::replace(&mut now, next);
        }
        // Neither these forces nor their opposites may turn the system inside out: the answer would not be the only one.
        let turned = determinants.into_iter().filter(|other| *other != plain);
        let mut conditions: Vec<Expr<'g>> = turned.map(|other| zero.lt(other * plain)).collect();
        if now != before {
            let size = now.iter().fold(zero, |size, l| size.max(l.abs()));
            let off = graph.sum(now.iter().zip(&before).map(|(&a, &b)| (a - b).abs()));
            conditions.push(off.le(SAME * size));
        }
        let Some(sound) = conditions.into_iter().reduce(|a, b| a * b) else { return Some(now) };
        // No number, whatever the time.
        let none = (-1.0 - time * time).sqrt();
        Some(now.into_iter().map(|value| sound.select(value, none)).collect())
    }

    /// The matrix of accelerations and multipliers, with what forces answer to multipliers.
    fn matrix(&self, answers: &[Entry<'g>]) -> Vec<Vec<Expr<'g>>> {
        let (n, m) = (self.loads.len(), self.bias.len());
        let Some(graph) = self.loads.first().map(|e| e.graph()) else { return Vec::new() };
        let mut matrix = vec![vec![graph.number(0.0); n + m]; n + m];
        self.mass.iter().for_each(|entry| matrix[entry.row][entry.column] += entry.value);
        for entry in &self.slopes {
            matrix[n + entry.row][entry.column] += entry.value;
            matrix[entry.column][n + entry.row] += entry.value;
        }
        answers.iter().for_each(|entry| matrix[entry.row][n + entry.column] -= entry.value);
        matrix
    }
}

/// The row that each column is eliminated with, by values at a point without pattern; nothing if the matrix is singular there.
fn pivots(matrix: &[Vec<Expr<'_>>], probe: &Probe<'_>) -> Option<Vec<usize>> {
    let size = matrix.len();
    let all: Vec<_> = matrix.concat();
    let (values, _) = probe.values(&all, 0);
    let mut rows: Vec<Vec<f64>> = values.chunks(size).map(<[f64]>::to_vec).collect();
    let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut left: Vec<usize> = (0..size).collect();
    let mut plan = Vec::with_capacity(size);
    for column in 0..size {
        let of = |&row: &usize| rows[row][column].abs();
        let best = left.iter().copied().max_by(|a, b| of(a).total_cmp(&of(b)))?;
        // A row of its own, where that is good enough: the matrix is symmetric without forces.
        let own = Some(column).filter(|row| left.contains(row) && of(row) > 0.1 * of(&best));
        let row = own.unwrap_or(best);
        if of(&row).is_nan() || of(&row) <= 1e-11 * largest {
            return None;
        }
        left.retain(|&other| other != row);
        for &other in &left {
            let factor = rows[other][column] / rows[row][column];
            for k in column..size {
                let pivot = rows[row][k];
                rows[other][k] -= factor * pivot;
            }
        }
        plan.push(row);
    }
    Some(plan)
}

/// The solution of a system, eliminated in this order, and the product of the pivots.
fn eliminated<'g>(
    mut matrix: Vec<Vec<Expr<'g>>>,
    mut right: Vec<Expr<'g>>,
    plan: &[usize],
) -> (Vec<Expr<'g>>, Expr<'g>) {
    let size = matrix.len();
    let is_zero = |e: Expr<'g>| e.as_number() == Some(0.0);
    let mut left: Vec<usize> = (0..size).collect();
    let mut determinant = right[0].like(1.0);
    for (column, &row) in plan.iter().enumerate() {
        left.retain(|&other| other != row);
        let pivot = matrix[row][column];
        determinant *= pivot;
        for &other in &left {
            let entry = matrix[other][column];
            if is_zero(entry) {
                continue;
            }
            let factor = entry / pivot;
            for k in column + 1..size {
                let above = matrix[row][k];
                if !is_zero(above) {
                    matrix[other][k] -= factor * above;
                }
            }
            let above = right[row];
            right[other] -= factor * above;
        }
    }
    let mut solution = right.clone();
    for (column, &row) in plan.iter().enumerate().rev() {
        let known =
            (column + 1..size).filter(|&k| !is_zero(matrix[row][k])).map(|k| matrix[row][k] * solution[k]);
        let known: Vec<_> = known.collect();
        let sum = known.into_iter().fold(right[row], |sum, part| sum - part);
        solution[column] = sum / matrix[row][column];
    }
    (solution, determinant)
}
