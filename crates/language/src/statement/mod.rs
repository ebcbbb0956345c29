//! The statements: one row each, one file for each family.

mod body;
mod clause;
mod damping;
mod declare;
mod draw;
mod energy;
mod event;
mod field;
mod joint;
mod keep;
mod mesh;
mod network;
mod nodes;
mod part;
mod place;
mod pose;
mod run;
mod selection;
mod state;
mod table;

pub(crate) use event::used_up;
pub(crate) use joint::{End, Link, LinkKind};
pub(crate) use mesh::MeshEntry;
pub(crate) use pose::loose_body;

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use leastaction_expr::Parser;

/// A kind of statement.
pub(crate) struct Statement {
    /// The word it begins with.
    pub(crate) word: &'static str,
    /// How it is written.
    pub(crate) form: &'static str,
    /// Reads what follows the word.
    pub(crate) read: for<'g, 's> fn(&mut Reader<'g, 's>, &mut Parser<'g, 's>) -> Result<(), Diagnostic>,
}

/// Every statement of the language.
#[rustfmt::skip]
pub(crate) const ALL: &[Statement] = &[
    Statement { word: "param", form: "param NAME = NUMBER, …", read: declare::param },
    Statement { word: "coord", form: "coord NAME, …", read: declare::coord },
    Statement { word: "momentum", form: "momentum NAME, …", read: declare::momentum },
    Statement { word: "state", form: "state NAME' = EXPRESSION, …", read: state::state },
    Statement { word: "input", form: "input NAME = EXPRESSION, … or input NAME = table \"FILE\" column NAME [linear | cubic | hold]", read: declare::input },
    Statement { word: "let", form: "let NAME = EXPRESSION, …", read: declare::define },
    Statement { word: "particle", form: "particle NAME mass MASS at [X, Y]", read: place::particle },
    Statement { word: "point", form: "point NAME [on BODY] at [X, Y]", read: place::point },
    Statement { word: "body", form: "body NAME [planar] SHAPE mass M [centre [X, Y, Z]] [turned TURN] [with SHAPE mass M …]", read: body::body },
    Statement { word: "joint", form: "joint NAME KIND A to B [axis [X, Y, Z]] [length L]", read: joint::joint },
    Statement { word: "spring", form: "spring [NAME] from A to B stiffness K length L", read: joint::spring },
    Statement { word: "damper", form: "damper [NAME] from A to B rate C", read: joint::damper },
    Statement { word: "part", form: "part NAME(ARGUMENT, …), statements on the lines below, and end", read: part::part },
    Statement { word: "place", form: "place NAME = PART(VALUE, …)", read: part::place },
    Statement { word: "include", form: "include \"FILE\"", read: part::include },
    Statement { word: "mesh", form: "mesh NAME box [A, B, C] cells [I, J, K] [turned TURN] [at [X, Y, Z]]", read: mesh::mesh },
    Statement { word: "atoms", form: "atoms NAME lattice fcc edge A cells [I, J, K]", read: mesh::atoms },
    Statement { word: "material", form: "material MESH density RHO", read: mesh::material },
    Statement { word: "field", form: "field NAME KIND on MESH PARAMETER VALUE … or field NAME on ELEMENTS of MESH (a, b) = ENERGY", read: field::field },
    Statement { word: "damping", form: "damping MESH rate C, damping MESH viscosity ETA [bulk ZETA], damping MESH edges C, or damping FIELD stiffness BETA", read: damping::damping },
    Statement { word: "fix", form: "fix [NAME:] MESH GROUP or fix [NAME:] MESH where CONDITION", read: nodes::fix },
    Statement { word: "keep", form: "keep [NAME:] lengths of MESH, keep [NAME:] volumes of MESH by cells, or keep [NAME:] volume of MESH", read: keep::keep },
    Statement { word: "attach", form: "attach [NAME:] MESH GROUP to BODY [at [X, Y, Z]]", read: keep::attach },
    Statement { word: "gravity", form: "gravity [X, Y]", read: place::gravity },
    Statement { word: "kinetic", form: "kinetic [NAME =] ENERGY", read: energy::kinetic },
    Statement { word: "potential", form: "potential [NAME =] ENERGY", read: energy::potential },
    Statement { word: "network", form: "network NAME of COORDINATE, … from \"FILE\" [hash \"HEX\"] or network NAME of COORDINATE, … hidden N, … [units KIND]", read: network::network },
    Statement { word: "lagrangian", form: "lagrangian [NAME =] EXPRESSION", read: energy::lagrangian },
    Statement { word: "hamiltonian", form: "hamiltonian [NAME =] EXPRESSION", read: energy::hamiltonian },
    Statement { word: "dissipation", form: "dissipation [NAME =] POWER/2", read: energy::dissipation },
    Statement { word: "force", form: "force COORDINATE = EXPRESSION, … or force BODY [at [X, Y]] = [FX, FY], …", read: energy::force },
    Statement { word: "torque", form: "torque BODY = TORQUE, …", read: energy::torque },
    Statement { word: "constraint", form: "constraint [NAME:] EXPRESSION = EXPRESSION", read: energy::constraint },
    Statement { word: "start", form: "start NAME = VALUE, …", read: run::start },
    Statement { word: "tolerance", form: "tolerance NAME = VALUE, …", read: run::tolerance },
    Statement { word: "run", form: "run method NAME, step H, until T", read: run::run },
    Statement { word: "output", form: "output NAME = EXPRESSION, …", read: run::output },
    Statement { word: "invariant", form: "invariant NAME = EXPRESSION, …", read: run::invariant },
    Statement { word: "event", form: "event [NAME:] EXPRESSION = EXPRESSION [, rising | falling] [, stop] [, set NAME = EXPRESSION, …] [, finally set NAME = EXPRESSION, …]", read: event::event },
    Statement { word: "every", form: "every [NAME:] TIME set NAME = EXPRESSION, …", read: event::every },
    Statement { word: "draw", form: "draw [only] rod A to B, spring A to B, dot A, trail A, body B, line A to B to C, mesh M by speed", read: draw::draw },
];

/// The words that statements begin with.
pub fn words() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|statement| statement.word)
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn the_page_has_every_statement() {
        let page = include_str!("../../../../book/src/language.md");
        let (_, grammar) = page.split_once("## Grammar").expect("the page ends with the grammar");
        for statement in ALL {
            let word = statement.word;
            assert!(page.contains(&format!("`{word} ")), "{word} is not explained");
            assert!(grammar.contains(&format!("\"{word}\"")), "{word} is not in the grammar");
        }
    }
}
