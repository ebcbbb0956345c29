//! Coordinates without constraints, for networks that know none: angles of rods and bodies in place of Cartesian coordinates.
//!
//! The systems of the benchmark have charts of their own; any other system without constraints is its own chart. A coordinate is an angle if the energy is the same a turn on; networks read
//! the cosine and the sine of angles.

use super::{BuildError, Site};
use leastaction_compile::{Kernel, Program};
use leastaction_expr::{Expr, Graph, Random, jvp};
use leastaction_mechanics::{Equations, Statement};

/// A chart of the configurations of a system.
#[derive(Clone, Debug)]
pub struct Chart<'g> {
    graph: &'g Graph,
    /// The coordinates of the system, those of the chart, and which of these are angles.
    x: Vec<Expr<'g>>,
    q: Vec<Expr<'g>>,
    angles: Vec<bool>,
    /// Each in terms of the others.
    x_of_q: Vec<Expr<'g>>,
    q_of_x: Vec<Expr<'g>>,
}

/// States of a system and those of a chart, one made of the other.
#[derive(Clone, Debug)]
pub struct Conversion {
    angles: Vec<usize>,
    /// From \[x…, ẋ…\] to \[q…, q̇…\], and back.
    into: Kernel,
    back: Kernel,
}

impl<'g> Chart<'g> {
    /// The chart of a system.
    ///
    /// # Errors
    /// [`BuildError`] if the model is wrong, or has constraints and no chart is known.
    pub fn of(site: &Site<'_, 'g>) -> Result<Chart<'g>, BuildError> {
        let equations = site.setup.model.equations().map_err(super::StructureError::from)?;
        let graph = equations.graph;
        let x = equations.coordinates.clone();
        let number = |name: &str| {
            let value = equations.parameters.iter().find(|(symbol, _)| symbol.to_string() == name);
            value
                .map(|(_, value)| *value)
                .ok_or(BuildError::NoChart { constraints: equations.constraints.len() })
        };
        let q = |count: usize| (0..count).map(|i| graph.symbol(&format!("#q{i}"))).collect::<Vec<_>>();
        match site.system {
            "n-pendulum" => {
                let (q, mut x_of_q, mut q_of_x) = (q(x.len() / 2), Vec::new(), Vec::new());
                let zero = graph.number(0.0);
                let (mut place, mut before) = ([zero; 2], [zero; 2]);
                for (i, &angle) in q.iter().enumerate() {
                    let l = number(&format!("l{}", i + 1))?;
                    place = [place[0] + l * angle.sin(), place[1] - l * angle.cos()];
                    x_of_q.extend(place);
                    let at = [x[2 * i], x[2 * i + 1]];
                    q_of_x.push((at[0] - before[0]).atan2(before[1] - at[1]));
                    before = at;
                }
                let angles = vec![true; q.len()];
                Ok(Chart { graph, x, q, angles, x_of_q, q_of_x })
            }
            "coupled-pendulums" | "magnet-pendulum" => {
                let (l, q) = (number("l")?, q(x.len() / 3 * 2));
                let (mut x_of_q, mut q_of_x) = (Vec::new(), Vec::new());
                for (i, (pair, at)) in q.chunks_exact(2).zip(x.chunks_exact(3)).enumerate() {
                    let (phi, theta) = (pair[0], pair[1]);
                    let anchor = i as f64;
                    x_of_q.push(anchor - l * theta.cos());
                    x_of_q.extend([l * theta.sin() * phi.sin(), l * theta.sin() * phi.cos()]);
                    let across = (at[1].pow(2.0) + at[2].pow(2.0)).sqrt();
                    q_of_x.extend([at[1].atan2(at[2]), across.atan2(anchor - at[0])]);
                }
                let angles = vec![true; q.len()];
                Ok(Chart { graph, x, q, angles, x_of_q, q_of_x })
            }
            "gyroscope" | "rigid-rotor" => Chart::of_body(site, &equations, q),
            _ if equations.constraints.is_empty() => {
                let (q, angles) = (q(x.len()), angles(&equations));
                Ok(Chart { graph, x_of_q: q.clone(), q_of_x: x.clone(), x, q, angles })
            }
            _ => Err(BuildError::NoChart { constraints: equations.constraints.len() }),
        }
    }

    /// A body in space with three nodes, on a ball joint at its third axis, or free: Euler's angles (φ, θ, ψ) with R = R_z(φ) R_x(θ) R_z(ψ), after the place of a free one.
    fn of_body(
        site: &Site<'_, 'g>,
        equations: &Equations<'g>,
        q: impl Fn(usize) -> Vec<Expr<'g>>,
    ) -> Result<Chart<'g>, BuildError> {
        let graph = equations.graph;
        let none = || BuildError::NoChart { constraints: equations.constraints.len() };
        let [body] = site.setup.model.bodies() else { return Err(none()) };
        let nodes = body.nodes();
        let [centre, axes @ ..] = &nodes[..] else { return Err(none()) };
        if axes.len() != 3 {
            return Err(none());
        }
        let free = site.system == "rigid-rotor";
        let q = q(if free { 6 } else { 3 });
        let [phi, theta, psi] = [0, 1, 2].map(|i| q[q.len() - 3 + i]);
        let ((sf, cf), (st, ct), (sp, cp)) =
            ((phi.sin(), phi.cos()), (theta.sin(), theta.cos()), (psi.sin(), psi.cos()));
        // The axes of the body in the world: the columns of R.
        let turned = [
            [cf * cp - sf * ct * sp, sf * cp + cf * ct * sp, st * sp],
            [-(cf * sp) - sf * ct * cp, cf * ct * cp - sf * sp, st * cp],
            [sf * st, -(cf * st), ct],
        ];
        let length = equations
            .parameters
            .iter()
            .find(|(symbol, _)| symbol.to_string() == "l")
            .map(|(_, value)| *value);
        let at: Vec<Expr<'g>> = match (free, length) {
            (true, _) => q[..3].to_vec(),
            (false, Some(l)) => turned[2].iter().map(|&e| l * e).collect(),
            (false, None) => return Err(none()),
        };
        let mut x_of_q = vec![graph.number(0.0); equations.coordinates.len()];
        let place = |x: &Expr<'g>| equations.coordinates.iter().position(|other| other == x).ok_or_else(none);
        for (d, x) in centre.iter().enumerate() {
            x_of_q[place(x)?] = at[d];
        }
        for (node, axis) in axes.iter().zip(turned) {
            for (d, x) in node.iter().enumerate() {
                x_of_q[place(x)?] = at[d] + axis[d];
            }
        }
        let e = |k: usize, d: usize| axes[k][d] - centre[d];
        let across = (e(2, 0).pow(2.0) + e(2, 1).pow(2.0)).sqrt();
        let euler = [e(2, 0).atan2(-e(2, 1)), across.atan2(e(2, 2)), e(0, 2).atan2(e(1, 2))];
        let q_of_x = if free { centre.iter().copied().chain(euler).collect() } else { euler.to_vec() };
        let angles = (0..q.len()).map(|i| i + 3 >= q.len()).collect();
        Ok(Chart { graph, x: equations.coordinates.clone(), q, angles, x_of_q, q_of_x })
    }

    /// The graph of its expressions.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// How many coordinates it has.
    #[must_use]
    pub fn degrees(&self) -> usize {
        self.q.len()
    }

    /// What networks read of coordinates: the cosine and the sine of angles, all others as they are.
    #[must_use]
    pub fn features(&self, q: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let each = |(&q, &angle): (&Expr<'g>, &bool)| if angle { vec![q.cos(), q.sin()] } else { vec![q] };
        q.iter().zip(&self.angles).flat_map(each).collect()
    }

    /// How many numbers those are.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.angles.iter().map(|&angle| 1 + usize::from(angle)).sum()
    }

    /// Compiled, for states.
    ///
    /// # Errors
    /// [`BuildError::Chain`] if it cannot be.
    pub fn conversion(&self) -> Result<Conversion, BuildError> {
        let rate = |(i, _): (usize, &Expr<'g>)| self.graph.symbol(&format!("#rate{i}"));
        let kernel = |from: &[Expr<'g>], to: &[Expr<'g>]| -> Result<Kernel, BuildError> {
            let rates: Vec<Expr<'g>> = from.iter().enumerate().map(rate).collect();
            let along: Vec<_> = from.iter().copied().zip(rates.iter().copied()).collect();
            let outputs = [to.to_vec(), jvp(to, &along)].concat();
            let program = Program::build(&[from.to_vec(), rates].concat(), &[], &outputs);
            let program = program.map_err(crate::chain::ChainError::from)?;
            Ok(Kernel::compile_lightly(program).map_err(crate::chain::ChainError::from)?)
        };
        Ok(Conversion {
            angles: self.angles.iter().enumerate().filter(|(_, angle)| **angle).map(|(i, _)| i).collect(),
            into: kernel(&self.x, &self.q_of_x)?,
            back: kernel(&self.q, &self.x_of_q)?,
        })
    }
}

impl Conversion {
    /// States of the system, of trajectories of so many samples each, in the chart. Along a trajectory angles do not jump.
    #[must_use]
    pub fn into_chart(&self, states: &[f64], samples: usize) -> Vec<f64> {
        let mut converted = converted(&self.into, states);
        let dimension = self.into.program().outputs().len();
        for trajectory in converted.chunks_exact_mut(samples * dimension) {
            for sample in 1..samples {
                let (before, now) = trajectory.split_at_mut(sample * dimension);
                for &angle in &self.angles {
                    let step = now[angle] - before[before.len() - dimension + angle];
                    now[angle] -= (step / std::f64::consts::TAU).round() * std::f64::consts::TAU;
                }
            }
        }
        converted
    }

    /// States of the chart as those of the system.
    #[must_use]
    pub fn out_of_chart(&self, states: &[f64]) -> Vec<f64> {
        converted(&self.back, states)
    }
}

fn converted(kernel: &Kernel, states: &[f64]) -> Vec<f64> {
    let mut evaluator = kernel.evaluator(&[]).expect("there are no parameters");
    let (from, to) = (kernel.program().inputs().len(), kernel.program().outputs().len());
    let mut all = vec![0.0; states.len() / from * to];
    for (state, out) in states.chunks_exact(from).zip(all.chunks_exact_mut(to)) {
        evaluator.eval(state, out).expect("the lengths are those of the program");
    }
    all
}

/// Which coordinates are angles: those of which the energy is the same a turn on, wherever the others are.
fn angles(equations: &Equations<'_>) -> Vec<bool> {
    let energy = match &equations.statement {
        Statement::Lagrangian(lagrangian) => lagrangian.value,
        Statement::Hamiltonian(h) => *h,
    };
    let mut random = Random::new(7);
    let known: Vec<_> = equations.parameters.iter().map(|(symbol, value)| (*symbol, *value)).collect();
    let points: Vec<Vec<_>> = (0..5)
        .map(|_| {
            let symbols = energy.free_symbols().into_iter().filter(|s| !known.iter().any(|(k, _)| k == s));
            symbols.map(|symbol| (symbol, random.between(-1.0, 1.0))).collect()
        })
        .collect();
    let turned = |q| {
        points.iter().all(|point: &Vec<_>| {
            let value = |turn: f64| {
                let moved = point.iter().map(|(s, value)| (*s, if *s == q { value + turn } else { *value }));
                energy.eval(&known.iter().copied().chain(moved).collect::<Vec<_>>())
            };
            match (value(0.0), value(std::f64::consts::TAU), value(1.0)) {
                (Ok(here), Ok(there), Ok(between)) => {
                    (here - there).abs() <= 1e-9 * (1.0 + here.abs()) && here != between
                }
                _ => false,
            }
        })
    };
    equations.coordinates.iter().map(|&q| turned(q)).collect()
}
