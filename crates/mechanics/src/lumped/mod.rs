//! Nodes: many points that move freely in space, each with a mass that is a number.
//!
//! A mesh of a million tetrahedra has half a million coordinates. Nothing is written down for each of them: velocities p/m, the weight m g, and what damps
//! them in proportion to their masses are computed from lists of numbers ([`sum`]). Only nodes that some formula reads are particles like all others;
//! constraints make no particles of nodes where there are many thousands of them.

mod at;
pub(crate) mod coupling;
pub(crate) mod split;
pub(crate) mod sum;
#[cfg(test)]
mod tests;

use crate::model::Model;
use coupling::MassMatrix;
use leastaction_expr::{Expr, IntoExpr, SymbolBlock, rebind};
use std::ops::Range;
use std::sync::Arc;

/// Nodes as they are declared.
#[derive(Clone, Debug)]
pub struct Lumped<'g> {
    /// The name of all.
    pub name: String,
    /// The number of the first coordinate, among all as they are declared.
    pub first: usize,
    /// How many coordinates each has.
    pub width: usize,
    /// The number in the name of the first.
    pub numbered_from: usize,
    /// The mass of each, or how many units it has.
    pub masses: Arc<[f64]>,
    /// The unit of these masses, an expression of parameters.
    pub unit: Option<Expr<'g>>,
    /// Consistent masses, if they are coupled: the masses above are the sums of rows then.
    pub matrix: Option<Arc<MassMatrix>>,
    /// Rates at which their momenta decay, by name.
    pub damping: Vec<(String, Expr<'g>)>,
    /// How many particles were declared before.
    pub(crate) after: usize,
}

rebind!(Lumped { unit, damping; name, first, width, numbered_from, masses, matrix, after });

impl<'g> Lumped<'g> {
    /// The name of a node.
    #[must_use]
    pub fn node_name(&self, node: usize) -> String {
        format!("{}[{}]", self.name, self.numbered_from + node)
    }

    /// Whether this is the name of one of them.
    fn has(&self, name: &str) -> bool {
        let number =
            name.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
        number
            .and_then(|number| number.parse::<usize>().ok()?.checked_sub(self.numbered_from))
            .is_some_and(|node: usize| node < self.masses.len() && self.node_name(node) == name)
    }

    /// The mass of a node.
    pub(crate) fn mass(&self, node: usize, like: Expr<'g>) -> Expr<'g> {
        let mass = self.masses[node];
        self.unit.map_or_else(|| like.like(mass), |unit| mass * unit)
    }
}

impl<'g> Model<'g> {
    /// Makes the members of a block of coordinates points of these masses, or of so many units each, where that is an expression of parameters. Its
    /// components are Cartesian. It is the same as a [particle](Model::particle) for each, but that masses stay numbers: nothing is written out for each
    /// of them, however many there are. They have one kinetic energy together, and one potential energy in gravity.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let sand = model.coordinate_block("sand", 1000, &["x", "y", "z"])?;
    /// model.lumped("sand", sand, &[1e-3; 1000], None);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let start = dynamics.start(&[("sand[7].z'", 2.0)])?;
    /// let mut energy = [0.0];
    /// dynamics.energy(&[0.0], &start.block(), &mut energy)?;
    /// assert!((energy[0] - 0.5 * 1e-3 * 4.0).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the block is not one of coordinates of this model, or there is not a mass for each of its members.
    pub fn lumped(&mut self, name: &str, block: SymbolBlock<'g>, masses: &[f64], unit: Option<Expr<'g>>) {
        assert_eq!(block.count(), masses.len(), "a mass for each member");
        let first =
            block.symbols().next().and_then(|q| self.coordinates.iter().rposition(|&other| other == q));
        let Some(first) = first else { panic!("`{name}` is no block of coordinates of this model") };
        self.lumped.push(Lumped {
            name: name.into(),
            first,
            width: block.width(),
            numbered_from: 0,
            masses: masses.into(),
            matrix: None,
            unit,
            damping: Vec::new(),
            after: self.particles.len(),
        });
    }

    /// Makes some particles, which follow each other, nodes: masses that stay numbers, or so many units each, as those of [`Model::lumped`]. They must be where
    /// coordinates are that follow each other, too. The name is that of all, `b` for `b[1]`, `b[2]` …, of which the first number is given. Returns whether
    /// that is what they are; if not, nothing is changed.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
    /// model.particle("b[1]", 2.0, [x, y]);
    /// model.particle("b[2]", 3.0, [u, v]);
    /// assert!(model.lump("b", 1, 0..2, &[2.0, 3.0], None));
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let state = dynamics.start(&[("v'", 2.0)])?;
    /// assert_eq!(state.p, [0.0, 0.0, 0.0, 6.0]);
    /// assert!(model.has_place("b[2]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are no such particles, or there is not a mass for each.
    pub fn lump(
        &mut self,
        name: &str,
        number: usize,
        particles: Range<usize>,
        masses: &[f64],
        unit: Option<Expr<'g>>,
    ) -> bool {
        let chosen = &self.particles[particles.clone()];
        assert_eq!(chosen.len(), masses.len(), "a mass for each particle");
        let Some(start) = chosen.first().and_then(|particle| particle.position.first()) else { return false };
        let Some(first) = self.coordinates.iter().position(|q| q == start) else { return false };
        let width = chosen[0].position.len();
        let own = self.coordinates[first..].chunks(width);
        let follow = own.zip(chosen).filter(|(own, particle)| **own == particle.position[..]).count();
        if follow < chosen.len() || chosen.iter().any(|particle| particle.inertias.len() != width) {
            return false;
        }
        self.particles.drain(particles.clone());
        let at = self.lumped.partition_point(|nodes| nodes.after <= particles.start);
        self.lumped[at..].iter_mut().for_each(|nodes| nodes.after -= masses.len());
        let nodes = Lumped {
            name: name.into(),
            first,
            width,
            numbered_from: number,
            masses: masses.into(),
            matrix: None,
            unit,
            damping: Vec::new(),
            after: particles.start,
        };
        self.lumped.insert(at, nodes);
        true
    }

    /// As [`Model::lumped`], with masses that are coupled: a symmetric, positive definite matrix with a row for each member, which is the same along every axis,
    /// such as the consistent mass matrix of a mesh. Momenta are M v, and velocities are solved for. No formula may read coordinates of such nodes.
    ///
    /// # Panics
    /// If the block is not one of coordinates of this model, or the matrix has not a row for each of its members.
    pub fn consistent(
        &mut self,
        name: &str,
        block: SymbolBlock<'g>,
        matrix: MassMatrix,
        unit: Option<Expr<'g>>,
    ) {
        self.lumped(name, block, &matrix.row_sums(), unit);
        if let Some(nodes) = self.lumped.last_mut() {
            nodes.matrix = Some(Arc::new(matrix));
        }
    }

    /// Adds dissipation in proportion to the masses of [lumped](Model::lumped) nodes, D = ½ α Σ m v²: their momenta decay at the rate α, an expression of
    /// time and parameters.
    ///
    /// # Panics
    /// If there are no nodes of this name.
    pub fn damp_lumped(&mut self, name: &str, of: &str, rate: impl IntoExpr<'g>) {
        let rate = rate.into_expr(self.graph);
        let Some(nodes) = self.lumped.iter_mut().find(|nodes| nodes.name == of) else {
            panic!("there are no nodes `{of}`")
        };
        nodes.damping.push((name.into(), rate));
    }

    /// How many places are declared so far, of particles, points and nodes: the number of the next.
    #[must_use]
    pub fn place_count(&self) -> usize {
        self.particles.len() + self.lumped.iter().map(|nodes| nodes.masses.len()).sum::<usize>()
    }

    /// Whether a particle, a point or a node has this name.
    #[must_use]
    pub fn has_place(&self, name: &str) -> bool {
        self.particles.iter().any(|particle| particle.name == name)
            || self.lumped.iter().any(|nodes| nodes.has(name))
    }

    /// All coordinates as they were declared, also those that are held by now.
    pub(crate) fn all_coordinates(&self) -> &[Expr<'g>] {
        if self.declared.is_empty() { &self.coordinates } else { &self.declared }
    }
}
