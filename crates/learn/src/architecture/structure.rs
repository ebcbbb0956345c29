//! What is known of a system of Cartesian bodies when its energies are not: which coordinates belong to one body, and what holds them.

use crate::chain::Writer;
use crate::parameters::{Layout, NumberId};
use leastaction_expr::{Expr, Graph, jacobian, substitute};
use leastaction_mechanics::{Body, Equations, Factor, Level, Model, ModelError, Symmetric};
use std::collections::HashMap;

/// The bodies of a system in Cartesian coordinates, and its constraints.
#[derive(Clone, Debug)]
pub struct Structure<'g> {
    graph: &'g Graph,
    coordinates: Vec<Expr<'g>>,
    bodies: Vec<BodyNodes>,
    constraints: Vec<(String, Expr<'g>)>,
}

/// A point, or a rigid body by its centre of mass and the points at distance 1 from it on its principal axes.
#[derive(Clone, Debug)]
struct BodyNodes {
    name: String,
    /// For each node, its coordinates among those of the system.
    nodes: Vec<Vec<usize>>,
    /// Of a body, the axes along which it extends.
    extends: Option<[bool; 3]>,
}

/// The learned masses of a structure: the logarithm of the mass of each body, and those of the second moments of its mass along its axes.
#[derive(Clone, Debug)]
pub struct Masses {
    logarithms: Vec<Vec<NumberId>>,
}

/// Why a system has no such structure.
#[derive(Debug, thiserror::Error)]
pub enum StructureError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A particle is not given by coordinates.
    #[error(
        "the particle `{name}` is at expressions of coordinates: constrained networks need a model in Cartesian coordinates, in which each particle has its own, and constraints connect them"
    )]
    NotCartesian {
        /// The particle.
        name: String,
    },
    /// A coordinate without mass.
    #[error(
        "the coordinate `{name}` belongs to no particle or body: constrained networks need a model in Cartesian coordinates"
    )]
    NoBody {
        /// The coordinate.
        name: String,
    },
    /// A constraint of velocities, or one that depends on time.
    #[error(
        "the constraint `{name}` is one of velocities, or depends on time: constrained networks know constraints of positions only"
    )]
    NotHolonomic {
        /// The constraint.
        name: String,
    },
}

impl<'g> Structure<'g> {
    /// The structure of a model; parameters in its constraints have their defaults.
    ///
    /// # Errors
    /// [`StructureError`] if its coordinates are not Cartesian, or its constraints not of positions.
    pub fn of(model: &Model<'g>) -> Result<Structure<'g>, StructureError> {
        let equations: Equations<'g> = model.equations()?;
        let graph = equations.graph;
        let places: HashMap<_, usize> =
            equations.coordinates.iter().enumerate().map(|(place, q)| (q.id(), place)).collect();
        let node = |name: &str, position: &[Expr<'g>]| -> Result<Vec<usize>, StructureError> {
            let place = |x: &Expr<'g>| places.get(&x.id()).copied();
            let own: Option<Vec<usize>> = position.iter().map(place).collect();
            own.ok_or_else(|| StructureError::NotCartesian { name: name.to_owned() })
        };
        let mut bodies = Vec::new();
        for particle in &equations.particles {
            let massive = particle.inertias.iter().any(|inertia| inertia.as_number() != Some(0.0));
            if !massive {
                continue;
            }
            let name = particle.name.clone();
            let body = model.bodies().iter().find(|body| body.name() == name);
            let nodes = match body {
                Some(body) => body.nodes().iter().map(|at| node(&name, at)).collect::<Result<_, _>>()?,
                None => vec![node(&name, &particle.position)?],
            };
            bodies.push(BodyNodes { name, nodes, extends: body.map(Body::extends) });
        }
        let mut owned = vec![0; places.len()];
        bodies.iter().flat_map(|body| body.nodes.iter().flatten()).for_each(|&place| owned[place] += 1);
        if let Some(place) = owned.iter().position(|count| *count != 1) {
            let name = equations.coordinates[place].to_string();
            return Err(StructureError::NoBody { name });
        }
        let defaults: Vec<(Expr<'g>, Expr<'g>)> =
            equations.parameters.iter().map(|(symbol, value)| (*symbol, graph.number(*value))).collect();
        let mut constraints = Vec::new();
        for constraint in &equations.constraints {
            let timed = constraint.value.free_symbols().contains(&equations.time);
            if constraint.level != Level::Position || timed {
                return Err(StructureError::NotHolonomic { name: constraint.name.clone() });
            }
            constraints.push((constraint.name.clone(), constraint.value.substitute(&defaults)));
        }
        Ok(Structure { graph, coordinates: equations.coordinates, bodies, constraints })
    }

    /// The graph of its expressions.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// How many coordinates there are.
    #[must_use]
    pub fn degrees(&self) -> usize {
        self.coordinates.len()
    }

    /// The same without these constraints, by their place.
    #[must_use]
    pub fn without(&self, removed: &[usize]) -> Structure<'g> {
        let kept = self.constraints.iter().enumerate().filter(|(place, _)| !removed.contains(place));
        Structure { constraints: kept.map(|(_, kept)| kept.clone()).collect(), ..self.clone() }
    }

    /// How many constraints there are.
    #[must_use]
    pub fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// What must be 0, where coordinates are these.
    #[must_use]
    pub fn values(&self, x: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let moved: Vec<(Expr<'g>, Expr<'g>)> =
            self.coordinates.iter().copied().zip(x.iter().copied()).collect();
        let values: Vec<Expr<'g>> = self.constraints.iter().map(|(_, value)| *value).collect();
        substitute(&values, &moved)
    }

    /// The bodies with these masses, and constraints, as statements of the `.motion` language.
    #[must_use]
    pub fn statements(&self, masses: &Masses, numbers: &[f64]) -> String {
        let mut text = String::new();
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(", ");
        let name = |place: &usize| self.coordinates[*place].to_string();
        let points = || self.bodies.iter().filter(|body| body.extends.is_none());
        if points().next().is_some() {
            let mut names = points().flat_map(|body| body.nodes[0].iter().map(name));
            text += &format!("coord {}\n\n", list(&mut names));
        }
        let mut own = Vec::new();
        for (body, logarithms) in self.bodies.iter().zip(&masses.logarithms) {
            let mut values = logarithms.iter().map(|number| format!("{:?}", numbers[number.0].exp()));
            let mass = values.next().unwrap_or_default();
            match body.extends {
                None => {
                    let at = list(&mut body.nodes[0].iter().map(name));
                    text += &format!("particle {} mass {mass} at [{at}]\n", body.name);
                }
                Some(extends) => {
                    let planar = if body.nodes[0].len() == 2 { 2 } else { 3 };
                    let mut moments = extends.iter().take(planar).map(|own| match own {
                        true => values.next().unwrap_or_default(),
                        false => "0".to_owned(),
                    });
                    text += &format!("body {} mass {mass} moments [{}]\n", body.name, list(&mut moments));
                    // A body keeps itself rigid.
                    let letters = ['a', 'b', 'c'];
                    let pairs = letters.iter().flat_map(|i| letters.iter().map(move |j| (i, j)));
                    own.extend(pairs.map(|(i, j)| format!("{}_{i}{j}", body.name)));
                }
            }
        }
        for (name, value) in self.constraints.iter().filter(|(name, _)| !own.contains(name)) {
            text += &format!("constraint `{name}`: {value} = 0\n");
        }
        text
    }

    /// The coordinates of each node of each body, by their places.
    pub(super) fn nodes(&self) -> Vec<&[usize]> {
        self.bodies.iter().flat_map(|body| body.nodes.iter().map(Vec::as_slice)).collect()
    }

    /// The names of the coordinates.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.coordinates.iter().map(ToString::to_string).collect()
    }

    /// Adds the masses of its bodies to what is learned.
    pub fn masses(&self, layout: &mut Layout) -> Masses {
        let own = |body: &BodyNodes| {
            (0..body.nodes.len())
                .map(|node| match node {
                    0 => layout.number(&format!("log mass of {}", body.name), 0.0),
                    _ => layout.number(&format!("log moment {node} of {}", body.name), 0.0),
                })
                .collect()
        };
        Masses { logarithms: self.bodies.iter().map(own).collect() }
    }

    /// M⁻¹ f: with the mass m of a body and its moments λᵢ per unit mass, M⁻¹ = (1 1ᵀ + Σ eᵢ eᵢᵀ/λᵢ)/m over its nodes.
    #[must_use]
    pub fn inverse_mass(&self, writer: &Writer<'g>, masses: &Masses, f: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let mut result = f.to_vec();
        for (body, logarithms) in self.bodies.iter().zip(&masses.logarithms) {
            let inverse: Vec<Expr<'g>> = logarithms.iter().map(|&log| (-writer.number(log)).exp()).collect();
            for axis in 0..body.nodes[0].len() {
                let all = self.graph.sum(body.nodes.iter().map(|node| f[node[axis]]));
                result[body.nodes[0][axis]] = inverse[0] * all;
                for (node, &inverse_moment) in body.nodes.iter().zip(&inverse).skip(1) {
                    result[node[axis]] = inverse[0] * (all + inverse_moment * f[node[axis]]);
                }
            }
        }
        result
    }

    /// The factors of G M⁻¹ Gᵀ, with G the derivatives of these constraints by x.
    pub(super) fn factor(
        &self,
        writer: &Writer<'g>,
        masses: &Masses,
        (values, x): (&[Expr<'g>], &[Expr<'g>]),
    ) -> Factor<'g> {
        let zero = self.graph.number(0.0);
        let mut rows = vec![vec![zero; x.len()]; values.len()];
        jacobian(values, x).into_iter().for_each(|entry| rows[entry.row][entry.column] = entry.value);
        let mut matrix = Symmetric::zero(values.len());
        for (c, row) in rows.iter().enumerate() {
            let moved = self.inverse_mass(writer, masses, row);
            for (e, other) in rows.iter().enumerate().take(c + 1) {
                let dot = self.graph.sum(moved.iter().zip(other).map(|(&a, &b)| a * b));
                matrix.add(c, e, dot);
            }
        }
        matrix.factored()
    }
}
