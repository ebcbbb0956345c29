//! What constrained networks share: bodies in Cartesian coordinates with known constraints, masses and a potential energy that are learned, and, if it is asked for, friction.

use super::damping::Damping;
use super::structure::{Masses, Structure};
use super::{Architecture, BuildError, Site, Statements};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use crate::recipe::Recipe;
use leastaction_expr::{Expr, Graph, jvp, vjp};
use leastaction_network::{Activation, NetworkError};

/// Constraints are met by so many corrections of a step, each of which makes what is left smaller by about the angle of a step.
const CORRECTIONS: usize = 10;

/// Bodies, and what is learned of them.
pub(super) struct Cartesian<'g> {
    pub(super) structure: Structure<'g>,
    layout: Layout,
    pub(super) masses: Masses,
    potential: NetworkId,
    damping: Option<Damping>,
}

impl<'g> Cartesian<'g> {
    pub(super) fn new(
        structure: Structure<'g>,
        hidden: &[usize],
        activation: Activation,
    ) -> Result<Cartesian<'g>, NetworkError> {
        let mut layout = Layout::default();
        let widths = [&[structure.degrees()], hidden, &[1]].concat();
        let potential = layout.network("potential", &widths, activation)?;
        let masses = structure.masses(&mut layout);
        Ok(Cartesian { structure, layout, masses, potential, damping: None })
    }

    /// ∂V/∂x.
    fn slope(&self, writer: &mut Writer<'g>, x: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let at = writer.network(self.potential, x)?;
        writer.pull(&at, &[writer.graph().number(1.0)])
    }

    /// The forces at positions and velocities, with their signs turned round: ∂V/∂x, and friction, which is the same in all directions.
    pub(super) fn resistance(
        &self,
        writer: &mut Writer<'g>,
        x: &[Expr<'g>],
        v: &[Expr<'g>],
    ) -> Result<Vec<Expr<'g>>, ChainError> {
        let mut forces = self.slope(writer, x)?;
        if let Some(damping) = &self.damping {
            let nodes = self.structure.nodes();
            for axis in 0..nodes.first().map_or(0, |node| node.len()) {
                let along: Vec<Expr<'g>> = nodes.iter().map(|node| v[node[axis]]).collect();
                for (node, force) in nodes.iter().zip(damping.forces(writer, &along)) {
                    forces[node[axis]] += force;
                }
            }
        }
        Ok(forces)
    }

    pub(super) fn inverse_mass(&self, writer: &Writer<'g>, f: &[Expr<'g>]) -> Vec<Expr<'g>> {
        self.structure.inverse_mass(writer, &self.masses, f)
    }

    fn statements(&self, numbers: &[f64]) -> Statements {
        let mut bodies = self.structure.statements(&self.masses, numbers);
        if let Some(damping) = &self.damping {
            let (nodes, names, matrix) =
                (self.structure.nodes(), self.structure.names(), damping.matrix(numbers));
            let mut terms = Vec::new();
            for (i, row) in matrix.iter().enumerate() {
                for (j, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    let pairs = nodes[i].iter().zip(nodes[j]);
                    terms.extend(
                        pairs.map(|(&a, &b)| format!("{:?}*{}'*{}'", 0.5 * value, names[a], names[b])),
                    );
                }
            }
            if !terms.is_empty() {
                bodies += &format!("dissipation friction = {}\n", terms.join(" + "));
            }
        }
        Statements { bodies, network: "potential", reads: self.structure.names() }
    }

    /// A step of RATTLE (H. C. Andersen, J. Comput. Phys. 52, 1983), or of Störmer and Verlet if there are no constraints: with f = −∇V,
    ///
    /// $$v_{1/2}=v_0+\tfrac h2M^{-1}(f_0-G_0^{\mathsf T}\lambda),\quad x_1=x_0+hv_{1/2},\quad\Phi(x_1)=0;\qquad v_1=v_{1/2}+\tfrac h2M^{-1}(f_1-G_1^{\mathsf T}\mu),\quad G_1v_1=0.$$
    ///
    /// λ is found by corrections with the factors of G₀ M⁻¹ G₀ᵀ. They are part of the step, so that its derivatives are exact, however many there are.
    fn rattle(
        &self,
        writer: &mut Writer<'g>,
        y: &[Expr<'g>],
        h: Expr<'g>,
    ) -> Result<Vec<Expr<'g>>, ChainError> {
        let structure = &self.structure;
        let (x, v) = y.split_at(structure.degrees());
        let slope = self.slope(writer, x)?;
        let values = structure.values(x);
        let factor = structure.factor(writer, &self.masses, (&values, x));
        let kicked = |v: &[Expr<'g>], a: &[Expr<'g>]| -> Vec<Expr<'g>> {
            v.iter().zip(a).map(|(&v, &a)| v - 0.5 * h * a).collect()
        };
        let half = kicked(v, &self.inverse_mass(writer, &slope));
        let moved: Vec<Expr<'g>> = x.iter().zip(&half).map(|(&x, &v)| x + h * v).collect();
        let mut next = writer.store(&moved);
        for _ in 0..if values.is_empty() { 0 } else { CORRECTIONS } {
            let multipliers = factor.solve(&structure.values(&next));
            let step = self.inverse_mass(writer, &vjp(&values, x, &multipliers));
            next = writer.store(&minus(&next, &step));
        }
        let mean: Vec<Expr<'g>> = match values.is_empty() {
            true => half,
            false => next.iter().zip(x).map(|(&next, &x)| (next - x) / h).collect(),
        };
        let slope = self.slope(writer, &next)?;
        let free = kicked(&mean, &self.inverse_mass(writer, &slope));
        let values = structure.values(&next);
        let factor = structure.factor(writer, &self.masses, (&values, &next));
        let along: Vec<_> = next.iter().copied().zip(free.iter().copied()).collect();
        let multipliers = factor.solve(&jvp(&values, &along));
        let last = minus(&free, &self.inverse_mass(writer, &vjp(&values, &next, &multipliers)));
        Ok([next, last].concat())
    }
}

/// A constrained network: its bodies, and how their rates follow from what is learned.
pub struct Constrained<'g> {
    pub(super) bodies: Cartesian<'g>,
    pub(super) name: &'static str,
    pub(super) rates: Rates<'g>,
}

/// ẏ at y.
pub(super) type Rates<'g> =
    fn(&Cartesian<'g>, &mut Writer<'g>, &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError>;

impl<'g> Constrained<'g> {
    pub(super) fn of(
        site: &Site<'_, 'g>,
        recipe: &Recipe,
        name: &'static str,
        rates: Rates<'g>,
    ) -> Result<Constrained<'g>, BuildError> {
        let mut bodies = Cartesian::new(site.structure(recipe)?, &recipe.hidden, recipe.activation)?;
        if recipe.damping {
            let size = bodies.structure.nodes().len();
            bodies.damping = Some(Damping::new(&mut bodies.layout, size));
        }
        Ok(Constrained { bodies, name, rates })
    }
}

impl<'g> Architecture<'g> for Constrained<'g> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn graph(&self) -> &'g Graph {
        self.bodies.structure.graph()
    }

    fn layout(&self) -> &Layout {
        &self.bodies.layout
    }

    fn dimension(&self) -> usize {
        2 * self.bodies.structure.degrees()
    }

    fn statements(&self, numbers: &[f64]) -> Option<Statements> {
        Some(self.bodies.statements(numbers))
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        (self.rates)(&self.bodies, writer, y)
    }

    fn rattle(
        &self,
        writer: &mut Writer<'g>,
        y: &[Expr<'g>],
        h: Expr<'g>,
    ) -> Option<Result<Vec<Expr<'g>>, ChainError>> {
        self.bodies.damping.is_none().then(|| self.bodies.rattle(writer, y, h))
    }
}

pub(super) fn minus<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Vec<Expr<'g>> {
    a.iter().zip(b).map(|(&a, &b)| a - b).collect()
}
