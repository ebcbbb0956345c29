//! The start of bodies without a given position: it is found from joints and constraints, with all that is given left where it is.
//!
//! The places of loose bodies are found by the method of Levenberg and Marquardt, min |Φ|² + μ|δq|² with lengths measured by the mass matrix, so that a body moves
//! as a rigid one would (K. Levenberg, *Quart. Appl. Math.* 2, 164, 1944; D. W. Marquardt, *SIAM J. Appl. Math.* 11, 431, 1963). Their velocities follow from what constraints demand, which is linear in them:
//! the slowest motion that they allow. A search that ends where constraints are not met is begun again with other directions of the bodies.

use crate::dynamics::Dynamics;
use crate::error::EvalError;
use crate::quantity::Quantity;
use leastaction_linear::dense::{cholesky, solve_cholesky};

/// The search begins so often, each time with other directions.
const ATTEMPTS: u32 = 24;
/// Of more coordinates nothing is searched for: matrices are whole here. The projection onto constraints then does what it can, and says what it cannot.
pub(crate) const MOST: usize = 1000;
/// Steps of one search.
const STEPS: u32 = 300;
/// Constraints are met to rounding if what is left of them is smaller than this, relative to where the search began, or to 1.
const ROUNDING: f64 = 4e-16;
/// They are met if the search ends below this: the projection that follows makes the last digits right.
const MET: f64 = 1e-6;

/// What is given of the place of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Place and direction.
    Given,
    /// The direction only.
    Turned,
    /// Neither.
    Free,
}

/// A body whose start follows from constraints, its place or its velocity at least.
#[derive(Clone, Debug, PartialEq)]
pub struct Loose {
    /// Its name.
    pub name: String,
    /// Its coordinates: those of its centre, then those of its other nodes.
    pub nodes: Vec<Vec<String>>,
    /// What is given of its place.
    pub placed: Placed,
    /// Its angular velocity, if that is given, and not the velocity of its centre.
    pub spin: Option<[f64; 3]>,
    /// Whether the velocity of its centre is given, and not its angular velocity.
    pub moving: bool,
}

/// What can be changed of a start, by columns: coordinates that move together.
type Columns = Vec<Vec<usize>>;

/// The places of the coordinates of the nodes of loose bodies, by bodies, nodes and axes; none where a coordinate is held.
type Nodes = Vec<Vec<Vec<Option<usize>>>>;

impl Dynamics {
    /// Says which bodies have no given position: starts give them a direction at most, and the rest follows from constraints.
    pub fn set_loose(&mut self, loose: Vec<Loose>) {
        self.loose = loose.into();
    }

    /// The names of the bodies for which the last start found a place.
    pub fn assembled(&self) -> impl Iterator<Item = &str> {
        let found = self.loose.iter().filter(|loose| self.assembled && loose.placed != Placed::Given);
        found.map(|loose| loose.name.as_str())
    }

    /// Whether a coordinate, or its velocity, is of a loose body, so that it is not given.
    pub(crate) fn is_loose(&self, name: &str) -> bool {
        let coordinate = name.trim_end_matches('\'');
        let is_velocity = coordinate != name;
        self.loose
            .iter()
            .filter(|loose| if is_velocity { !loose.moving } else { loose.placed != Placed::Given })
            .any(|loose| loose.nodes.iter().flatten().any(|name| name == coordinate))
    }

    /// Finds places, and velocities if these are given and not momenta, for loose bodies in a block [q…, v…].
    pub(crate) fn assemble(
        &mut self,
        t: f64,
        by_velocities: bool,
        block: &mut [f64],
    ) -> Result<(), EvalError> {
        self.assembled = false;
        let facts = self.system().facts();
        if self.loose.is_empty() || !facts.constrained || self.system().degrees() > MOST {
            return Ok(());
        }
        let (loose, nodes) = (self.loose.clone(), self.loose_nodes());
        let columns = loose.iter().zip(&nodes).flat_map(|(body, nodes)| match body.placed {
            Placed::Given => Columns::new(),
            Placed::Turned => whole(nodes),
            Placed::Free => each(nodes),
        });
        let moving: Columns = columns.collect();
        let n = self.system().degrees();
        // The search begins with centres at the origin. Where one is held, the rest of the body is there, too.
        for (body, nodes) in loose.iter().zip(&nodes).filter(|(body, _)| body.placed != Placed::Given) {
            for axis in (0..nodes[0].len()).filter(|&axis| nodes[0][axis].is_none()) {
                let centre = self.held_value(t, &body.nodes[0][axis])?;
                nodes[1..].iter().filter_map(|node| node[axis]).for_each(|i| block[i] += centre);
            }
        }
        let guess = block[..n].to_vec();
        for attempt in 0..if moving.is_empty() { 0 } else { ATTEMPTS } {
            block[..n].copy_from_slice(&guess);
            for (k, (body, nodes)) in loose.iter().zip(&nodes).enumerate() {
                if body.placed == Placed::Free && attempt > 0 {
                    turn(nodes, attempt as usize * (2 * k + 1), block);
                }
            }
            if self.search(t, block, &moving)? {
                break;
            }
        }
        if by_velocities {
            self.set_velocities(t, block, &nodes, &self.loose_velocities(&nodes))?;
        }
        Ok(())
    }

    /// Solves for the velocities of a block [q…, v…] that are not given, as far as constraints demand them: those that are given stay as they are.
    pub(crate) fn solve_velocities(
        &mut self,
        t: f64,
        block: &mut [f64],
        is_given: &[bool],
    ) -> Result<(), EvalError> {
        let nodes = self.loose_nodes();
        let mut moving = self.loose_velocities(&nodes);
        let mut is_known = is_given.to_vec();
        nodes.iter().flatten().flatten().flatten().for_each(|&i| is_known[i] = true);
        moving.extend((0..is_known.len()).filter(|&i| !is_known[i]).map(|i| vec![i]));
        self.set_velocities(t, block, &nodes, &moving)
    }

    fn loose_nodes(&self) -> Nodes {
        let coordinates = self.system().coordinates();
        let place = |name: &String| coordinates.position(name);
        let node = |node: &Vec<String>| node.iter().map(place).collect();
        self.loose.iter().map(|body| body.nodes.iter().map(node).collect()).collect()
    }

    /// What is not given of the velocities of loose bodies.
    fn loose_velocities(&self, nodes: &Nodes) -> Columns {
        let each = self.loose.iter().zip(nodes).flat_map(|(body, nodes)| match (body.spin, body.moving) {
            (Some(_), _) => whole(nodes),
            (None, moving) => each(&nodes[usize::from(moving)..]),
        });
        each.collect()
    }

    /// Moves what can be moved until constraints of positions are met. Returns whether they are.
    fn search(&mut self, t: f64, z: &mut [f64], moving: &Columns) -> Result<bool, EvalError> {
        let rows = self.system().position_constraints();
        let n = self.system().degrees();
        let mut values = vec![0.0; rows];
        self.engine.eval(Quantity::Constraints, &[t], z, &mut values)?;
        let first = norm(&values);
        let (mut left, mut damping) = (first, 1e-2);
        let mut metric = vec![0.0; n * n];
        for _ in 0..STEPS {
            if left <= ROUNDING * first.max(1.0) {
                return Ok(true);
            }
            self.assembled = true;
            self.mass_matrix(&[t], z, &mut metric)?;
            let slopes = self.slopes(t, z, moving, rows)?;
            let Some(step) = damped(&slopes, &values, &weights(&metric, n, moving), damping) else {
                damping *= 4.0;
                continue;
            };
            let mut tried = z.to_vec();
            moved(&mut tried[..n], moving, &step);
            let mut there = vec![0.0; rows];
            self.engine.eval(Quantity::Constraints, &[t], &tried, &mut there)?;
            if norm(&there) < left {
                z.copy_from_slice(&tried);
                (left, values) = (norm(&there), there);
                damping = (damping * 0.2).max(1e-14);
            } else if damping < 1e12 && left > 1e-13 * first.max(1.0) {
                damping *= 4.0;
            } else {
                break;
            }
        }
        Ok(left <= MET * first.max(1.0))
    }

    /// Gives loose bodies the slowest velocities that constraints allow, and the angular velocities that are given.
    fn set_velocities(
        &mut self,
        t: f64,
        z: &mut [f64],
        nodes: &[Vec<Vec<Option<usize>>>],
        moving: &Columns,
    ) -> Result<(), EvalError> {
        let (system, n) = (self.system().clone(), self.system().degrees());
        for (body, nodes) in self.loose.clone().iter().zip(nodes) {
            let Some([a, b, c]) = body.spin else { continue };
            let dimensions = nodes[0].len();
            let mut at = Vec::with_capacity(nodes.len());
            for (places, names) in nodes.iter().zip(&body.nodes) {
                let mut position = [0.0; 3];
                for (axis, (place, name)) in places.iter().zip(names).enumerate() {
                    position[axis] = place.map_or_else(|| self.held_value(t, name), |i| Ok(z[i]))?;
                }
                at.push(position);
            }
            for (node, position) in nodes.iter().zip(&at).skip(1) {
                let arm: [f64; 3] = std::array::from_fn(|axis| position[axis] - at[0][axis]);
                let turning = [b * arm[2] - c * arm[1], c * arm[0] - a * arm[2], a * arm[1] - b * arm[0]];
                let turning = turning.into_iter().take(dimensions);
                for (i, v) in node.iter().zip(turning) {
                    i.iter().for_each(|&i| z[n + i] = v);
                }
            }
        }
        let rows = system.constraints().len();
        let mut metric = vec![0.0; n * n];
        self.mass_matrix(&[t], z, &mut metric)?;
        let slopes = self.slopes(t, z, moving, rows)?;
        let weights = weights(&metric, n, moving);
        // Once more for the digits that damping costs.
        for _ in 0..3 {
            let mut values = vec![0.0; rows];
            self.engine.eval(Quantity::ConstraintRates, &[t], z, &mut values)?;
            if let Some(step) = damped(&slopes, &values, &weights, 1e-10) {
                moved(&mut z[n..], moving, &step);
            }
        }
        Ok(())
    }

    /// How the first so many constraints change with what can be moved, by rows.
    fn slopes(
        &mut self,
        t: f64,
        z: &[f64],
        moving: &Columns,
        rows: usize,
    ) -> Result<Vec<Vec<f64>>, EvalError> {
        let (system, n) = (self.system().clone(), self.system().degrees());
        let pattern = &system.layout().jacobian;
        let mut entries = vec![0.0; pattern.len()];
        self.engine.eval(Quantity::ConstraintJacobian, &[t], z, &mut entries)?;
        let mut columns_of = vec![Vec::new(); n];
        for (column, members) in moving.iter().enumerate() {
            members.iter().for_each(|&i| columns_of[i].push(column));
        }
        let mut slopes = vec![vec![0.0; moving.len()]; rows];
        for ((row, i), entry) in pattern.entries().zip(entries).filter(|((row, _), _)| *row < rows) {
            columns_of[i].iter().for_each(|&column| slopes[row][column] += entry);
        }
        Ok(slopes)
    }
}

/// A body that moves as a whole.
fn whole(nodes: &[Vec<Option<usize>>]) -> Columns {
    let axes = (0..nodes[0].len()).map(|axis| nodes.iter().filter_map(|node| node[axis]).collect());
    axes.filter(|column: &Vec<usize>| !column.is_empty()).collect()
}

/// Nodes of which each moves by itself.
fn each(nodes: &[Vec<Option<usize>>]) -> Columns {
    nodes.iter().flatten().flatten().map(|&i| vec![i]).collect()
}

/// Turns the nodes of a body about its centre: each time into other directions, which are spread evenly by the golden angle.
fn turn(nodes: &[Vec<Option<usize>>], times: usize, q: &mut [f64]) {
    let angle = times as f64 * std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let turned = |[a, b]: [f64; 2], (sin, cos): (f64, f64)| [a * cos - b * sin, a * sin + b * cos];
    let Some((centre, others)) = nodes.split_first() else { return };
    for node in others {
        let places: Option<Vec<(usize, usize)>> = node.iter().zip(centre).map(|(&i, &c)| i.zip(c)).collect();
        // What is held stays.
        let Some(places) = places else { return };
        let mut arm: Vec<f64> = places.iter().map(|&(i, c)| q[i] - q[c]).collect();
        [arm[0], arm[1]] = turned([arm[0], arm[1]], angle.sin_cos());
        if arm.len() == 3 {
            [arm[1], arm[2]] = turned([arm[1], arm[2]], (1.7 * angle).sin_cos());
        }
        places.iter().zip(arm).for_each(|(&(i, c), arm)| q[i] = q[c] + arm);
    }
}

/// Moves columns by these amounts.
fn moved(q: &mut [f64], moving: &Columns, step: &[f64]) {
    for (members, by) in moving.iter().zip(step) {
        members.iter().for_each(|&i| q[i] += by);
    }
}

/// The metric of what can be moved, by rows.
fn weights(metric: &[f64], n: usize, moving: &Columns) -> Vec<f64> {
    let mut weights = Vec::with_capacity(moving.len() * moving.len());
    for a in moving {
        for b in moving {
            let pairs = a.iter().flat_map(|&i| b.iter().map(move |&j| metric[i * n + j]));
            weights.push(pairs.sum());
        }
    }
    weights
}

/// The step δ that minimizes |Φ + J δ|² + μ δᵀN δ, where μ is relative to the sizes of both; none if there is no such.
fn damped(slopes: &[Vec<f64>], values: &[f64], weights: &[f64], damping: f64) -> Option<Vec<f64>> {
    let k = weights.len().isqrt();
    let mut matrix = vec![0.0; k * k];
    let mut step = vec![0.0; k];
    for (row, value) in slopes.iter().zip(values) {
        for i in (0..k).filter(|&i| row[i] != 0.0) {
            step[i] -= row[i] * value;
            (0..k).for_each(|j| matrix[i * k + j] += row[i] * row[j]);
        }
    }
    let trace = |m: &[f64]| (0..k).map(|i| m[i * k + i]).sum::<f64>();
    let scale = damping * trace(&matrix) / trace(weights);
    matrix.iter_mut().zip(weights).for_each(|(entry, weight)| *entry += scale * weight);
    if !cholesky(&mut matrix, k) {
        return None;
    }
    solve_cholesky(&matrix, &mut step);
    step.iter().all(|x| x.is_finite()).then_some(step)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}
