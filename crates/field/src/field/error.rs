//! What can be wrong with a field.

use super::{ALL, Per};
use leastaction_compile::CodeError;

/// Why a field cannot be put on a mesh.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// There is no such shipped field.
    #[error("there is no field `{name}`: there are {}", names())]
    NoField {
        /// The name.
        name: String,
    },
    /// A parameter is not given.
    #[error("the field `{field}` needs `{parameter}`, {about}")]
    Missing {
        /// The field.
        field: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it is.
        about: &'static str,
    },
    /// There is no such parameter.
    #[error("the field `{field}` has no parameter `{parameter}`: it has {}", list(.known))]
    NoParameter {
        /// The field.
        field: &'static str,
        /// The parameter.
        parameter: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// A parameter is given twice.
    #[error("`{parameter}` of the field `{field}` is given twice")]
    Twice {
        /// The field.
        field: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A parameter of nodes is given for elements, or the other way round.
    #[error("`{parameter}` of the field `{field}` belongs to {}", of(*.per))]
    NotPer {
        /// The field.
        field: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it belongs to.
        per: Per,
    },
    /// A density is not positive.
    #[error("the density is {density}: it must be positive and finite")]
    Density {
        /// The density.
        density: f64,
    },
    /// A surface is open.
    #[error("the surface of the mesh is not closed: it encloses no volume")]
    NotClosed,
    /// A surface is inside out, or flat.
    #[error("the surface encloses the volume {volume:e}, which must be positive: turn its triangles")]
    NoVolume {
        /// The volume.
        volume: f64,
    },
    /// A mesh has nothing to have a density.
    #[error("the mesh has no cells that could have a density: give a mass for each node")]
    NoCells,
    /// A node has no mass.
    #[error(
        "node {node} has the mass {mass}, which must be positive: remove nodes that belong to no cell, and cells that are inverted"
    )]
    NoMass {
        /// The node.
        node: usize,
        /// Its mass.
        mass: f64,
    },
    /// There are more or fewer numbers than nodes or elements.
    #[error("`{parameter}` has {found} numbers, and the mesh has {expected} {of}")]
    Count {
        /// The parameter.
        parameter: String,
        /// How many numbers there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// What of.
        of: &'static str,
    },
    /// A number is infinite or NaN.
    #[error("`{parameter}` is not finite for number {index}, counted from 0")]
    NotFinite {
        /// The parameter.
        parameter: String,
        /// Which.
        index: usize,
    },
    /// The mesh has nothing that the field has an energy for.
    #[error("the field `{field}` has an energy for {over}, and the mesh has none")]
    Nothing {
        /// The field.
        field: String,
        /// What of.
        over: &'static str,
    },
    /// A constant that follows from rest positions is infinite or NaN for an element.
    #[error("the field `{field}` is not defined for the rest shape of element {element}")]
    AtRest {
        /// The field.
        field: String,
        /// The element, from 0.
        element: usize,
    },
    /// A list of nodes does not end with an element.
    #[error("{found} nodes do not make elements of {arity} each")]
    Partial {
        /// How many nodes an element has.
        arity: usize,
        /// How many nodes there are.
        found: usize,
    },
    /// There is no such node.
    #[error("element {element} has node {node}, and the mesh has {count}, which are counted from 0")]
    NoNode {
        /// The element.
        element: usize,
        /// The node.
        node: u32,
        /// How many nodes there are.
        count: usize,
    },
    /// A field has numbers that are given by equations, where none may be.
    #[error("the field `{field}` has numbers that are given by equations: it cannot {role}")]
    Implicit {
        /// The field.
        field: String,
        /// What it cannot be or do.
        role: &'static str,
    },
    /// There are so many constraints that nothing could move.
    #[error(
        "{constraints} constraints by `{field}` on {coordinates} coordinates leave nothing that could move: they depend on each other and lock. Keep sums over patches of elements, such as the cells of a box, or the total"
    )]
    Locked {
        /// The field.
        field: String,
        /// How many constraints there are.
        constraints: usize,
        /// How many coordinates they constrain.
        coordinates: usize,
    },
    /// Constraints depend on each other.
    #[error(
        "of {constraints} constraints by `{field}` only {independent} are independent where the mesh is at rest: the others lock it, or do not act there. Keep fewer, or sums over patches of elements"
    )]
    Dependent {
        /// The field.
        field: String,
        /// How many constraints there are.
        constraints: usize,
        /// How many of them are independent.
        independent: usize,
    },
    /// There is no such node.
    #[error("there is no node {node}: the mesh has {count}, which are counted from 0")]
    NoSuchNode {
        /// The node.
        node: usize,
        /// How many nodes there are.
        count: usize,
    },
    /// What follows from rest positions could not be computed.
    #[error("the energy cannot be compiled: {0}")]
    Code(#[from] CodeError),
}

fn names() -> String {
    list(&ALL.iter().map(|card| card.name).collect::<Vec<_>>())
}

fn of(per: Per) -> &'static str {
    match per {
        Per::Field => "the field, or to elements, not to nodes",
        Per::Node => "nodes, not to elements",
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
