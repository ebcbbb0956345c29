//! What names stand for.

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Parameter,
    Coordinate,
    Momentum,
    State,
    Input,
    Definition,
    Function,
    Particle,
    Point,
    Body,
    Joint,
    Place,
    Mesh,
}

impl Role {
    /// In words.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Role::Parameter => "parameter",
            Role::Coordinate => "coordinate",
            Role::Momentum => "momentum",
            Role::State => "state",
            Role::Input => "input",
            Role::Definition => "definition",
            Role::Function => "function",
            Role::Particle => "particle",
            Role::Point => "point",
            Role::Body => "body",
            Role::Joint => "joint",
            Role::Place => "part",
            Role::Mesh => "mesh",
        }
    }

    /// Many of them, in words.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Role::Parameter => "parameters",
            Role::Coordinate => "coordinates",
            Role::Momentum => "momenta",
            Role::State => "states",
            Role::Input => "inputs",
            Role::Definition => "definitions",
            Role::Function => "functions",
            Role::Particle => "particles",
            Role::Point => "points",
            Role::Body => "bodies",
            Role::Joint => "joints",
            Role::Place => "parts",
            Role::Mesh => "meshes",
        }
    }

    /// In words, with an article.
    pub(crate) fn what(self) -> String {
        let article = if self == Role::Input { "an" } else { "a" };
        format!("{article} {}", self.noun())
    }
}
