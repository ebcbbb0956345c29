//! A model of one's own, of which some potential energies are not known: its `network` statements without weights. All else is as its text says, with a general mass matrix, dissipation,
//! forces and constraints of positions:
//!
//! $$M\dot v=b+Q-\sum_k\frac{\partial N_k}{\partial q}-G^{\mathsf T}\lambda,\qquad b=\frac{\partial L}{\partial q}-\Bigl(\frac{\partial p}{\partial q}\Bigr)v,\qquad
//! GM^{-1}G^{\mathsf T}\lambda=GM^{-1}f+\dot Gv.$$

use super::cartesian::minus;
use super::{Architecture, Card, Site};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use crate::recipe::Recipe;
use leastaction_expr::{Expr, Graph, jacobian, jvp, substitute, vjp};
use leastaction_language::NetworkWeights;
use leastaction_mechanics::{Level, ModelError, Statement, Symmetric};
use leastaction_network::{Feature, FeatureKind, NetworkError};

pub(super) const CARD: Card = Card {
    name: "known",
    about: "a model of your own, in which networks are among the potential energies",
    build: |site, recipe| Ok(Box::new(Known::new(site, recipe)?)),
};

/// See the module.
pub struct Known<'g> {
    graph: &'g Graph,
    layout: Layout,
    networks: Vec<(NetworkId, Vec<Feature>)>,
    /// Coordinates and velocities of the text, and in terms of them the mass matrix, what M v̇ is but for networks, and what must be 0.
    coordinates: Vec<Expr<'g>>,
    velocities: Vec<Expr<'g>>,
    mass: Symmetric<'g>,
    loads: Vec<Expr<'g>>,
    constraints: Vec<Expr<'g>>,
    /// The text with weights from a file, whose name and hash are to be put in.
    text: Option<String>,
}

/// Where the name of the file and its hash stand: no text has this letter.
const FILE: &str = "\0file";
const HASH: &str = "\0hash";

/// Why nothing can be learned for a text.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is nothing to learn.
    #[error(
        "the model has no network without weights: add a line such as `network extra of x, y hidden 32, 32` to its text, and give the text (--model)"
    )]
    NoNetwork,
    /// A network has weights already.
    #[error("the network `{name}` has weights already: all networks of a model are learned together")]
    Trained {
        /// The network.
        name: String,
    },
    /// A network cannot be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Something in the model is not learned with.
    #[error("models with {what} cannot be learned with")]
    Unsupported {
        /// What.
        what: &'static str,
    },
    /// Friction and constraints are stated in the text.
    #[error("the text says what is known: state friction, and leave constraints out, there")]
    Stated,
}

impl<'g> Known<'g> {
    /// For a text.
    ///
    /// # Errors
    /// [`KnownError`] if it has no networks to learn, or something that is not learned with.
    pub fn new(site: &Site<'_, 'g>, recipe: &Recipe) -> Result<Known<'g>, KnownError> {
        if recipe.damping || !recipe.removed.is_empty() {
            return Err(KnownError::Stated);
        }
        let (mut layout, mut networks, mut names) = (Layout::default(), Vec::new(), Vec::new());
        for term in &site.setup.networks {
            let NetworkWeights::Untrained { hidden, activation } = &term.weights else {
                return Err(KnownError::Trained { name: term.name.clone() });
            };
            let widths = [&[term.features.len()], &hidden[..], &[1]].concat();
            networks.push((layout.network(&term.name, &widths, *activation)?, term.features.clone()));
            names.push(term.name.clone());
        }
        if networks.is_empty() {
            return Err(KnownError::NoNetwork);
        }
        let equations = site.setup.without_networks().equations()?;
        let unsupported = |what| Err(KnownError::Unsupported { what });
        let Statement::Lagrangian(lagrangian) = &equations.statement else {
            return unsupported("a Hamiltonian");
        };
        if equations.nodes.is_some() || !equations.is_symbolic() {
            return unsupported("meshes, or energies that are no formulas,");
        }
        if !equations.held.is_empty() {
            return unsupported("coordinates that are held");
        }
        if !equations.inputs.is_empty() {
            return unsupported("inputs");
        }
        if equations.constraints.iter().any(|constraint| constraint.level != Level::Position) {
            return unsupported("constraints of velocities");
        }
        let graph = equations.graph;
        let mut known: Vec<(Expr<'g>, Expr<'g>)> =
            equations.parameters.iter().map(|(symbol, value)| (*symbol, graph.number(*value))).collect();
        // Inputs that are stated are functions of time, and are found out as such.
        known.extend(equations.stated_inputs.iter().copied());
        let loads = lagrangian.loads.iter().zip(equations.forces()).map(|(&a, b)| a + b);
        let loads = substitute(&loads.collect::<Vec<_>>(), &known);
        let values: Vec<Expr<'g>> = equations.constraints.iter().map(|constraint| constraint.value).collect();
        let constraints = substitute(&values, &known);
        let mass = lagrangian.mass.substitute(&known);
        let timed = |value: &Expr<'g>| value.free_symbols().contains(&equations.time);
        let entries: Vec<Expr<'g>> = mass.entries().map(|(_, _, value)| value).collect();
        if loads.iter().chain(&constraints).chain(&entries).any(timed) {
            return unsupported("forces, energies or constraints that depend on time");
        }
        let text = site.setup.with_weights(site.text, FILE, HASH);
        let (coordinates, velocities) = (equations.coordinates, equations.velocities);
        Ok(Known { graph, layout, networks, coordinates, velocities, mass, loads, constraints, text })
    }
}

impl<'g> Architecture<'g> for Known<'g> {
    fn name(&self) -> &'static str {
        "known"
    }

    fn graph(&self) -> &'g Graph {
        self.graph
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn dimension(&self) -> usize {
        2 * self.coordinates.len()
    }

    fn text(&self, file: &str, hash: &str) -> Option<String> {
        Some(self.text.as_ref()?.replace(FILE, file).replace(HASH, hash))
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let n = self.coordinates.len();
        let (q, v) = y.split_at(n);
        let own = self.coordinates.iter().chain(&self.velocities).copied();
        let moved: Vec<(Expr<'g>, Expr<'g>)> = own.zip(y.iter().copied()).collect();
        let mut forces = substitute(&self.loads, &moved);
        for (network, features) in &self.networks {
            let read: Vec<Expr<'g>> = features
                .iter()
                .map(|feature| match (feature.of, q[feature.coordinate as usize]) {
                    (FeatureKind::Plain, q) => q,
                    (FeatureKind::Cosine, q) => q.cos(),
                    (FeatureKind::Sine, q) => q.sin(),
                })
                .collect();
            let at = writer.network(*network, &read)?;
            let pulled = writer.pull(&at, &[self.graph.number(1.0)])?;
            forces = minus(&forces, &vjp(&read, q, &pulled));
        }
        let mass = self.mass.substitute(&moved).factored();
        let free = mass.solve(&forces);
        if self.constraints.is_empty() {
            return Ok(v.iter().copied().chain(free).collect());
        }
        let values = substitute(&self.constraints, &moved);
        let along = |rates: &[Expr<'g>]| q.iter().copied().zip(rates.iter().copied()).collect::<Vec<_>>();
        let mut rows = vec![vec![self.graph.number(0.0); n]; values.len()];
        jacobian(&values, q).into_iter().for_each(|entry| rows[entry.row][entry.column] = entry.value);
        let spread: Vec<Vec<Expr<'g>>> = rows.iter().map(|row| mass.solve(row)).collect();
        let mut matrix = Symmetric::zero(values.len());
        for (c, moved) in spread.iter().enumerate() {
            for (e, row) in rows.iter().enumerate().take(c + 1) {
                matrix.add(c, e, self.graph.sum(moved.iter().zip(row).map(|(&a, &b)| a * b)));
            }
        }
        let bends = jvp(&jvp(&values, &along(v)), &along(v));
        let right = jvp(&values, &along(&free)).into_iter().zip(bends).map(|(a, b)| a + b);
        let multipliers = matrix.factored().solve(&right.collect::<Vec<_>>());
        let held = (0..n).map(|i| {
            let terms = spread.iter().zip(&multipliers).map(|(moved, &multiplier)| multiplier * moved[i]);
            free[i] - self.graph.sum(terms)
        });
        Ok(v.iter().copied().chain(held).collect())
    }
}
