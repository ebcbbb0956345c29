//! Port-Hamiltonian systems: energy that flows, is lost and is supplied.
//!
//! $$\dot x = (J(x) - R(x))\,\nabla H(x) + B(x)\,u, \qquad y = B(x)^\mathsf{T}\,\nabla H(x)$$
//!
//! with J skew-symmetric and R symmetric positive semidefinite, so that energy is balanced:
//! dH/dt = −∇HᵀR∇H + yᵀu. (A. van der Schaft and D. Jeltsema, *Port-Hamiltonian Systems Theory: An Introductory Overview*, 2014,
//! doi:10.1561/2600000002.)

use crate::blueprint::{Blueprint, REPEATED};
use crate::check::{self, Kind};
use crate::equations::{depend, is_smooth, is_smooth_in};
use crate::error::{ModelError, Site, StartError, TermKind};
use crate::facts::{Facts, Form, Share, ShareKind};
use crate::held::reaction::ReactionLayout;
use crate::inverse::Inverse;
use crate::model::Term;
use crate::quantity::Quantity;
use crate::source::Space;
use crate::symmetry::Conserved;
use crate::system::System;
use leastaction_expr::{Expr, Graph, IntoExpr, rebind};
use leastaction_linear::rank;
use std::sync::Arc;

type Matrix<'g> = Vec<Vec<Expr<'g>>>;

/// A port-Hamiltonian system, as a person writes it.
///
/// Matrices may depend on states, parameters and time; what is not given is zero. [`Dynamics::start`](crate::Dynamics::start) checks
/// that J is skew and R positive semidefinite where the motion begins.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_mechanics::Ports;
///
/// // A mass on a spring with friction, pushed by a force u: the output is its velocity.
/// let graph = Graph::new();
/// let mut ports = Ports::new(&graph);
/// let [m, k, c] = ports.parameters([("m", 2.0), ("k", 8.0), ("c", 0.5)]);
/// let [x, p] = ports.states(["x", "p"]);
/// ports.inputs(["u"]);
/// ports.hamiltonian("spring", k * x * x / 2.0);
/// ports.hamiltonian("motion", p * p / (2.0 * m));
/// ports.interconnection([[0.0, 1.0], [-1.0, 0.0]]);
/// ports.dissipation([[0.0 * c, 0.0 * c], [0.0 * c, c]]);
/// ports.port_matrix([[0.0], [1.0]]);
///
/// let mut dynamics = ports.system()?.dynamics()?;
/// dynamics.set_input("u", 3.0)?;
/// let start = dynamics.start(&[("x", 0.25), ("p", 4.0)])?;
/// let (mut rates, mut velocity, mut power) = ([0.0; 2], [0.0], [0.0]);
/// dynamics.rates(&[0.0], &start.block(), &mut rates)?;
/// dynamics.outputs(&[0.0], &start.block(), &mut velocity)?;
/// dynamics.supplied_power(&[0.0], &start.block(), &mut power)?;
/// assert_eq!((rates, velocity, power), ([2.0, -2.0 - 1.0 + 3.0], [2.0], [6.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ports<'g> {
    graph: &'g Graph,
    time: Expr<'g>,
    parameters: Vec<(Expr<'g>, f64)>,
    states: Vec<Expr<'g>>,
    inputs: Vec<Expr<'g>>,
    hamiltonian: Vec<Term<'g>>,
    interconnection: Matrix<'g>,
    dissipation: Matrix<'g>,
    port_matrix: Matrix<'g>,
}

rebind!(Ports {
    graph,
    time,
    parameters,
    states,
    inputs,
    hamiltonian,
    interconnection,
    dissipation,
    port_matrix
});

impl<'g> Ports<'g> {
    /// An empty system whose expressions live in this graph. Time is the symbol `t`.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Ports<'g> {
        Ports {
            graph,
            time: graph.symbol("t"),
            parameters: Vec::new(),
            states: Vec::new(),
            inputs: Vec::new(),
            hamiltonian: Vec::new(),
            interconnection: Vec::new(),
            dissipation: Vec::new(),
            port_matrix: Vec::new(),
        }
    }

    /// Declares parameters and their defaults.
    pub fn parameters<const N: usize>(&mut self, list: [(&str, f64); N]) -> [Expr<'g>; N] {
        let symbols = list.map(|(name, value)| (self.graph.symbol(name), value));
        self.parameters.extend(symbols);
        symbols.map(|(symbol, _)| symbol)
    }

    /// Declares states x.
    pub fn states<const N: usize>(&mut self, names: [&str; N]) -> [Expr<'g>; N] {
        let symbols = names.map(|name| self.graph.symbol(name));
        self.states.extend(symbols);
        symbols
    }

    /// Declares inputs u.
    pub fn inputs<const N: usize>(&mut self, names: [&str; N]) -> [Expr<'g>; N] {
        let symbols = names.map(|name| self.graph.symbol(name));
        self.inputs.extend(symbols);
        symbols
    }

    /// Adds a term to the Hamiltonian H(x, t).
    pub fn hamiltonian(&mut self, name: &str, value: impl IntoExpr<'g>) {
        self.hamiltonian.push(Term { name: name.into(), value: value.into_expr(self.graph) });
    }

    /// Sets J, the skew-symmetric matrix through which states exchange energy.
    pub fn interconnection<R: AsRef<[X]>, X: IntoExpr<'g> + Copy>(&mut self, rows: impl AsRef<[R]>) {
        self.interconnection = self.matrix(rows);
    }

    /// Sets R, the positive semidefinite matrix through which energy is lost.
    pub fn dissipation<R: AsRef<[X]>, X: IntoExpr<'g> + Copy>(&mut self, rows: impl AsRef<[R]>) {
        self.dissipation = self.matrix(rows);
    }

    /// Sets B, through which inputs act: a row for each state, a column for each input.
    pub fn port_matrix<R: AsRef<[X]>, X: IntoExpr<'g> + Copy>(&mut self, rows: impl AsRef<[R]>) {
        self.port_matrix = self.matrix(rows);
    }

    fn matrix<R: AsRef<[X]>, X: IntoExpr<'g> + Copy>(&self, rows: impl AsRef<[R]>) -> Matrix<'g> {
        let row = |row: &R| row.as_ref().iter().map(|entry| entry.into_expr(self.graph)).collect();
        rows.as_ref().iter().map(row).collect()
    }

    /// Compiles the system.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with it.
    pub fn system(&self) -> Result<System, ModelError> {
        let n = self.states.len();
        let j = self.sized("J", &self.interconnection, n)?;
        let r = self.sized("R", &self.dissipation, n)?;
        let b = self.sized("B", &self.port_matrix, self.inputs.len())?;
        self.check_names(&[("J", &j), ("R", &r), ("B", &b)])?;

        let sum = |terms: Vec<Expr<'g>>| self.graph.sum(terms);
        let product =
            |row: &[Expr<'g>], x: &[Expr<'g>]| sum(row.iter().zip(x).map(|(&a, &x)| a * x).collect());
        let h = sum(self.hamiltonian.iter().map(|term| term.value).collect());
        let slopes = h.gradient(&self.states);
        let lost: Vec<_> = r.iter().map(|row| product(row, &slopes)).collect();
        let outputs: Vec<_> = (0..self.inputs.len())
            .map(|k| sum(b.iter().zip(&slopes).map(|(row, &slope)| row[k] * slope).collect()))
            .collect();
        let field: Vec<_> =
            (0..n).map(|i| product(&j[i], &slopes) - lost[i] + product(&b[i], &self.inputs)).collect();
        let (dissipated, supplied) = (product(&lost, &slopes), product(&outputs, &self.inputs));
        let zero = self.graph.number(0.0);
        let balance = self.hamiltonian.iter().map(|term| term.value);
        let forces = supplied - dissipated;
        let balance =
            balance.chain([zero, zero, zero, h, dissipated, forces, h.derivative(self.time)]).collect();
        let structure = j.iter().chain(&r).flatten().copied().collect();
        let plans = vec![
            (Quantity::Rates, Space::Phase, field),
            (Quantity::Energy, Space::Phase, vec![h]),
            (Quantity::EnergyBalance, Space::Phase, balance),
            (Quantity::Outputs, Space::Phase, outputs),
            (Quantity::Structure, Space::Phase, structure),
            (Quantity::Gradient, Space::Phase, slopes.clone()),
        ];
        let all: Vec<_> = plans.iter().flat_map(|(.., outputs)| outputs.iter().copied()).collect();
        let nonzero = |matrix: &Matrix<'g>| matrix.iter().flatten().any(|e| e.as_number() != Some(0.0));
        let timed = depend(&all, &[self.time]);
        let (dissipative, forced) = (nonzero(&r), nonzero(&b));
        let conserved = !dissipative && !forced && !depend(&[h], &[self.time]);
        let blueprint = Blueprint {
            graph: self.graph,
            facts: Facts {
                form: Form::Ports,
                separable: false,
                constant_mass: false,
                driven: !self.inputs.is_empty(),
                autonomous: !timed && self.inputs.is_empty(),
                smooth_in_time: !timed || is_smooth_in(self.time, &all),
                jacobi: false,
                smooth: is_smooth(&all),
                jumping: Vec::new(),
                cornered: Vec::new(),
                directions: Vec::new(),
                dissipative,
                forced,
                forces_depend_on_velocities: false,
                linear_damping: false,
                explicit: true,
                one_kernel: true,
                symbolic: true,
                constrained: false,
                holonomic: true,
                cyclic: Vec::new(),
                conserved: conserved.then_some(Conserved::Energy).into_iter().collect(),
            },
            time: self.time,
            parameters: self.parameters.clone(),
            inputs: self.inputs.clone(),
            coordinates: self.states.clone(),
            velocities: Vec::new(),
            momenta: Vec::new(),
            places: Vec::new(),
            particles: Vec::new(),
            shares: self
                .hamiltonian
                .iter()
                .map(|term| Share { name: term.name.clone(), kind: ShareKind::Hamiltonian })
                .collect(),
            massive: Vec::new(),
            inverse: Inverse::default(),
            damped: Vec::new(),
            constraints: Vec::new(),
            held: Vec::new(),
            states: Vec::new(),
            set: Vec::new(),
            declared: Vec::new(),
            reactions: ReactionLayout::default(),
            constraints_work: false,
            stated_inputs: Vec::new(),
            definitions: Vec::new(),
            names: Arc::default(),
            jacobian: Vec::new(),
            plans,
            lengths: Vec::new(),
            repeated: REPEATED,
            energies: Arc::default(),
            lumped: None,
        };
        blueprint.compile(|_| Ok((Arc::default(), None)))
    }

    /// A matrix with a row for each state; zero if it was not given.
    fn sized(
        &self,
        name: &'static str,
        matrix: &Matrix<'g>,
        columns: usize,
    ) -> Result<Matrix<'g>, ModelError> {
        let rows = self.states.len();
        if matrix.is_empty() {
            return Ok(vec![vec![self.graph.number(0.0); columns]; rows]);
        }
        let wrong = matrix.iter().map(Vec::len).find(|&len| len != columns);
        let found = (matrix.len(), wrong.unwrap_or(columns));
        if found != (rows, columns) {
            return Err(ModelError::MatrixSize { name, found, expected: (rows, columns) });
        }
        Ok(matrix.clone())
    }

    fn check_names(&self, matrices: &[(&'static str, &Matrix<'g>)]) -> Result<(), ModelError> {
        if self.states.is_empty() {
            return Err(ModelError::NoCoordinates);
        }
        if self.hamiltonian.is_empty() {
            return Err(ModelError::NoEnergy);
        }
        let parameters = self.parameters.iter().map(|(symbol, _)| (*symbol, Kind::Parameter));
        let states = self.states.iter().map(|&s| (s, Kind::Coordinate));
        let inputs = self.inputs.iter().map(|&s| (s, Kind::Input));
        let symbols = [(self.time, Kind::Time)].into_iter().chain(parameters).chain(states).chain(inputs);
        let declared = check::declared(symbols)?;
        check::parameters(&self.parameters)?;
        let allowed = &[Kind::Parameter, Kind::Time, Kind::Coordinate];
        check::distinct(TermKind::Hamiltonian, self.hamiltonian.iter().map(|t| t.name.as_str()))?;
        for term in &self.hamiltonian {
            check::uses(
                &declared,
                Site::Term(TermKind::Hamiltonian, term.name.clone()),
                term.value,
                allowed,
            )?;
        }
        for (name, matrix) in matrices {
            for &entry in matrix.iter().flatten() {
                check::uses(&declared, Site::Matrix(name), entry, allowed)?;
            }
        }
        Ok(())
    }
}

/// Checks the values of J and R, one after the other by rows.
pub(crate) fn check_structure(structure: &[f64], n: usize) -> Result<(), StartError> {
    let (j, r) = structure.split_at(n * n);
    let size = |m: &[f64]| m.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mirrored = |m: &[f64], sign: f64| {
        let tolerance = 1e-12 * size(m);
        (0..n * n).find(|&k| (m[k] - sign * m[k % n * n + k / n]).abs() > tolerance)
    };
    if let Some(k) = mirrored(j, -1.0) {
        let (row, column) = (k / n, k % n);
        return Err(StartError::NotSkew { row, column, value: j[k], mirror: j[column * n + row] });
    }
    if let Some(k) = mirrored(r, 1.0) {
        let (row, column) = (k / n, k % n);
        let found = format!("R[{row}][{column}] = {} and R[{column}][{row}] = {}", r[k], r[column * n + row]);
        return Err(StartError::NotDissipative { found });
    }
    match rank::left_of_semidefinite(r, n, 1e-12 * size(r)) {
        Some((i, j, value)) => Err(StartError::NotDissipative {
            found: format!("elimination leaves {value:.3e} at [{i}][{j}] with no positive pivot"),
        }),
        None => Ok(()),
    }
}
