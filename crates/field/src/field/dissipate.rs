//! Dissipation fields: what resists the motion of a mesh.
//!
//! A field is dissipation if its expression is a dissipation function D of the places and velocities of nodes: the force is −∂D/∂v. Rayleigh's is
//! D = ½ vᵀ(αM + βK)v with the masses M and the stiffness K at rest.

use super::vector::{determinant, dot, inverse_rows, length, minus};
use super::{Element, ExprVector, Field, FieldError, Nodes, Over};
use leastaction_expr::{Expr, Graph, IntoExpr, jvp, substitute};
use leastaction_mechanics::Model;

impl<'g> Element<'g> {
    /// The velocity of a node, for dissipation.
    ///
    /// # Panics
    /// If the element has fewer nodes.
    #[must_use]
    pub fn velocity(&self, node: usize) -> ExprVector<'g> {
        self.at(node).map(rate)
    }

    /// How expressions of places change along the motion.
    fn rates(&self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let motion: Vec<_> = self.slots().into_iter().map(|x| (x, rate(x))).collect();
        jvp(expressions, &motion)
    }
}

fn rate(place: Expr<'_>) -> Expr<'_> {
    place.dot().unwrap_or_else(|| unreachable!("the place of a node is a symbol"))
}

impl<'g> Field<'g> {
    /// Dampers along edges: D = ½ c l̇² for the length l of each.
    #[must_use]
    pub fn dampers(graph: &'g Graph, c: impl IntoExpr<'g>) -> Field<'g> {
        let c = c.into_expr(graph);
        Field::new(graph, "dampers", Over::Edges, |e| {
            let along = e.rates(&[length(minus(e.at(1), e.at(0)))])[0];
            0.5 * c * along * along
        })
    }

    /// Viscosity of tetrahedra, which resists strain, and no rigid motion: D = V (η Ė:Ė + ½ ζ (tr Ė)²) for the volume V at rest and the rate
    /// of Green's strain E.
    #[must_use]
    pub fn viscosity(graph: &'g Graph, shear: impl IntoExpr<'g>, bulk: impl IntoExpr<'g>) -> Field<'g> {
        let (shear, bulk) = (shear.into_expr(graph), bulk.into_expr(graph));
        Field::new(graph, "viscosity", Over::Tetrahedra, |e| {
            let edges =
                |place: &dyn Fn(usize) -> ExprVector<'g>| [1, 2, 3].map(|node| minus(place(node), place(0)));
            let (now, rest) = (edges(&|node| e.at(node)), edges(&|node| e.rest(node)));
            let inverse = inverse_rows(rest);
            let column = |j: usize| -> ExprVector<'g> {
                std::array::from_fn(|i| (0..3).fold(e.number(0.0), |sum, k| sum + now[k][i] * inverse[k][j]))
            };
            let [a, b, c] = [0, 1, 2].map(column);
            // FᵀF = I + 2E: its diagonal, and what is beside it.
            let strain = [dot(a, a), dot(b, b), dot(c, c), dot(b, c), dot(c, a), dot(a, b)];
            let [x, y, z, u, v, w] = {
                let rates = e.rates(&strain);
                std::array::from_fn(|i| 0.5 * rates[i])
            };
            let square = x * x + y * y + z * z + 2.0 * (u * u + v * v + w * w);
            let trace = x + y + z;
            determinant(rest) / 6.0 * (shear * square + 0.5 * bulk * trace * trace)
        })
    }

    /// Dissipation in proportion to the stiffness of this field at rest: D = ½ β vᵀKv with K = ∂²E/∂x² there. It resists turning, too.
    ///
    /// # Errors
    /// [`FieldError::Implicit`] if the field has implicit numbers: take one that is as stiff at rest, such as `linear` for `corotational`.
    pub fn rest_damping(&self, factor: impl IntoExpr<'g>) -> Result<Field<'g>, FieldError> {
        if !self.element.implicit.is_empty() {
            return Err(FieldError::Implicit {
                field: self.name.clone(),
                role: "damp by its stiffness at rest",
            });
        }
        let (element, factor) = (self.element.clone(), factor.into_expr(self.element.graph()));
        let slope = element.rates(&[self.energy]);
        let along: Vec<_> = element.slots().into_iter().map(|x| (x, rate(x))).collect();
        let twice = jvp(&slope, &along);
        let places =
            (0..element.arity()).flat_map(|node| element.at(node).into_iter().zip(element.rest(node)));
        let energy = 0.5 * factor * substitute(&twice, &places.collect::<Vec<_>>())[0];
        Ok(Field { name: format!("{} damping", self.name), over: self.over, element, energy, cutoff: None })
    }
}

impl<'g> Nodes<'_, 'g> {
    /// Adds a dissipation field on the mesh, under its name.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_field::{Field, Mesh, Nodes, Value, lumped_masses, shipped};
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let block = Mesh::cuboid([1.0; 3], [2; 3])?;
    /// let nodes = Nodes::new(&mut model, "block", &block, &lumped_masses(&block, 1.0)?)?;
    /// let given = [("young", Value::uniform(&graph, 10.0)), ("poisson", Value::uniform(&graph, 0.3))];
    /// let elastic = shipped("neo-hookean")?.field(&graph, &given)?;
    /// nodes.add(&mut model, &elastic)?;
    /// nodes.damp(&mut model, &Field::viscosity(&graph, 0.1, 0.0))?;
    /// // Rayleigh's damping.
    /// nodes.damp(&mut model, &elastic.rest_damping(0.01)?)?;
    /// nodes.damp_masses(&mut model, "air", 0.5);
    /// let dynamics = model.system()?.dynamics()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Field::on`].
    pub fn damp(&self, model: &mut Model<'g>, field: &Field<'g>) -> Result<(), FieldError> {
        model.dissipation(field.name(), field.on(self.mesh(), self.first() as u32)?);
        Ok(())
    }

    /// Adds dissipation in proportion to the masses of the nodes: D = ½ α Σ m v², under which momenta decay at the rate α.
    pub fn damp_masses(&self, model: &mut Model<'g>, name: &str, rate: impl IntoExpr<'g>) {
        model.damp_lumped(name, self.name(), rate);
    }
}
