//! The fields that are shipped, one file each.

mod bars;
mod coulomb;
mod gravitation;
mod gravity;
mod hinges;
mod lennard_jones;
mod membrane;
mod morse;
mod pressure;
mod rods;
mod springs;
mod surface_tension;
mod tethers;
mod tetrahedron;
mod volume;

use super::material::lame_of;
use super::{Element, Field, FieldError, Over, Value};
use leastaction_expr::{Expr, Graph};

/// Every field that is shipped.
pub const ALL: &[Card] = &[
    gravity::CARD,
    gravitation::CARD,
    coulomb::CARD,
    lennard_jones::CARD,
    lennard_jones::CUT,
    morse::CARD,
    tethers::CARD,
    springs::CARD,
    bars::CARD,
    rods::CARD,
    hinges::CARD,
    membrane::ST_VENANT_KIRCHHOFF,
    membrane::NEO_HOOKEAN,
    surface_tension::CARD,
    pressure::CARD,
    volume::CARD,
    tetrahedron::linear::CARD,
    tetrahedron::corotational::CARD,
    tetrahedron::corotational::FIXED,
    tetrahedron::st_venant_kirchhoff::CARD,
    tetrahedron::neo_hookean::CARD,
    tetrahedron::stable_neo_hookean::CARD,
    tetrahedron::stable_neo_hookean::WITHOUT_LOGARITHM,
    tetrahedron::mooney_rivlin::CARD,
];

/// What a parameter of a shipped field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The field as a whole, or each element.
    Field,
    /// Each node.
    Node,
}

/// A parameter of a shipped field.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What it belongs to.
    pub per: Per,
    /// What it is if nothing is said.
    pub default: Option<f64>,
}

impl Parameter {
    const fn of_field(name: &'static str, about: &'static str) -> Parameter {
        Parameter { name, about, per: Per::Field, default: None }
    }

    const fn of_nodes(name: &'static str, about: &'static str) -> Parameter {
        Parameter { name, about, per: Per::Node, default: None }
    }

    const fn or(mut self, default: f64) -> Parameter {
        self.default = Some(default);
        self
    }
}

/// The first of Lamé's parameters, and the second.
const LAMBDA: Parameter = Parameter::of_field("lambda", "Lamé's first parameter");
const MU: Parameter = Parameter::of_field("mu", "the shear modulus");

/// The parameter from which on a pair has no energy.
const CUTOFF: &str = "cutoff";

/// What is declared of a shipped field.
pub struct Card {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The energy of an element.
    pub formula: &'static str,
    /// Where it is described.
    pub reference: &'static str,
    /// What it has an energy for.
    pub over: Over,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Whether the energy stays when everything is moved, and when everything is turned.
    pub invariant: [bool; 2],
    energy: for<'g> fn(&mut Given<'_, 'g>) -> Expr<'g>,
}

/// An element, and the parameters of a field for it.
struct Given<'e, 'g> {
    element: &'e mut Element<'g>,
    /// For each parameter of the card, one expression, or one for each node of the element.
    parameters: Vec<(&'static str, Vec<Expr<'g>>)>,
}

impl<'g> Given<'_, 'g> {
    /// A parameter of the field.
    fn get(&self, name: &str) -> Expr<'g> {
        self.of_nodes(name)[0]
    }

    /// A parameter of each node.
    fn of_nodes(&self, name: &str) -> &[Expr<'g>] {
        let found = self.parameters.iter().find(|(known, _)| *known == name);
        found.map_or_else(|| unreachable!("the card declares `{name}`"), |(_, values)| values)
    }
}

/// The shipped field of a name.
///
/// # Errors
/// [`FieldError::NoField`] names those there are.
pub fn shipped(name: &str) -> Result<&'static Card, FieldError> {
    ALL.iter().find(|card| card.name == name).ok_or_else(|| FieldError::NoField { name: name.to_owned() })
}

/// What a field makes of tetrahedra that are turned inside out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inversion {
    /// They have no energy, and the run ends.
    Impossible,
    /// Forces push them back, from most shapes.
    Reversed,
    /// They may have an energy by which they stay so: nothing but their shape tells it.
    Unnoticed,
}

impl Card {
    /// What it makes of tetrahedra that are turned inside out.
    #[must_use]
    pub fn inversion(&self) -> Inversion {
        use tetrahedron::{mooney_rivlin, neo_hookean, stable_neo_hookean};
        let among = |cards: &[Card]| cards.iter().any(|card| card.name == self.name);
        if among(&[neo_hookean::CARD, mooney_rivlin::CARD]) {
            Inversion::Impossible
        } else if among(&[stable_neo_hookean::CARD, stable_neo_hookean::WITHOUT_LOGARITHM]) {
            Inversion::Reversed
        } else {
            Inversion::Unnoticed
        }
    }

    /// The field with these parameters. One that has `lambda` and `mu` takes `young` and `poisson` as well: Young's modulus and
    /// Poisson's ratio.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    /// use leastaction_field::{Mesh, Value, shipped};
    ///
    /// let graph = Graph::new();
    /// let (young, poisson) = (Value::uniform(&graph, 1e4), Value::uniform(&graph, 0.3));
    /// let rubber = shipped("neo-hookean")?.field(&graph, &[("young", young), ("poisson", poisson)])?;
    /// let block = rubber.on(&Mesh::cuboid([1.0; 3], [4; 3])?, 0)?;
    /// assert_eq!(block.constants.len(), 10); // the inverse of the rest shape, and the volume
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FieldError`] if a parameter is missing, not known, or given twice.
    pub fn field<'g>(&self, graph: &'g Graph, given: &[(&str, Value<'g>)]) -> Result<Field<'g>, FieldError> {
        let given = self.with_lame(given);
        for (i, (name, _)) in given.iter().enumerate() {
            let Some(known) = self.parameters.iter().find(|parameter| parameter.name == *name) else {
                let known = self.parameters.iter().map(|parameter| parameter.name).collect();
                return Err(FieldError::NoParameter {
                    field: self.name,
                    parameter: (*name).to_owned(),
                    known,
                });
            };
            if given[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(FieldError::Twice { field: self.name, parameter: known.name });
            }
        }
        let mut element = Element::new(graph, self.over.arity());
        let mut parameters = Vec::new();
        for &Parameter { name, about, per, default } in self.parameters {
            let value = given.iter().find(|(given, _)| *given == name).map(|(_, value)| value.clone());
            let value = value.or(default.map(|default| Value::uniform(graph, default)));
            let Some(value) = value else {
                return Err(FieldError::Missing { field: self.name, parameter: name, about });
            };
            let symbols = match (value, per) {
                (Value::Uniform(expression), Per::Field) => vec![graph.adopt(expression)],
                (Value::Elements(values), Per::Field) => vec![element.element_values(name, values)],
                (Value::Nodes(values), Per::Node) => element.node_values(name, values),
                (Value::Uniform(expression), Per::Node) => vec![graph.adopt(expression); self.over.arity()],
                (Value::Elements(_), Per::Node) | (Value::Nodes(_), Per::Field) => {
                    return Err(FieldError::NotPer { field: self.name, parameter: name, per });
                }
            };
            parameters.push((name, symbols));
        }
        let cutoff = parameters.iter().find(|(name, _)| *name == CUTOFF).map(|(_, symbols)| symbols[0]);
        let energy = (self.energy)(&mut Given { element: &mut element, parameters });
        Ok(Field { name: self.name.to_owned(), over: self.over, element, energy, cutoff })
    }

    /// With Lamé's parameters in place of Young's modulus and Poisson's ratio.
    fn with_lame<'a, 'g>(&self, given: &[(&'a str, Value<'g>)]) -> Vec<(&'a str, Value<'g>)> {
        let uniform = |name: &str| {
            given.iter().find_map(|(known, value)| match value {
                Value::Uniform(expression) if *known == name => Some(*expression),
                _ => None,
            })
        };
        let takes = |name: &str| self.parameters.iter().any(|parameter| parameter.name == name);
        let mut list = given.to_vec();
        if let (Some(young), Some(poisson)) = (uniform("young"), uniform("poisson"))
            && takes("mu")
            && !takes("young")
        {
            let (lambda, mu) = lame_of(young, poisson);
            list.retain(|(name, _)| *name != "young" && *name != "poisson");
            list.push(("mu", Value::Uniform(mu)));
            if takes("lambda") {
                list.push(("lambda", Value::Uniform(lambda)));
            }
        }
        list
    }
}
