//! Where a record comes from: what files say besides numbers.

use crate::json;
use crate::record::Group;
use crate::table::Table;

/// What was run, and how.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct About {
    /// The name of the system.
    pub system: String,
    /// The name of the method.
    pub method: String,
    /// What set its steps: `step 0.01`, `relative tolerance 1e-9`.
    pub pace: String,
    /// The parameters, by name.
    pub parameters: Vec<(String, f64)>,
    /// How the run ended: `complete`, or why before its time.
    pub ended: String,
    /// The warnings about the numbers.
    pub warnings: Vec<String>,
    /// What else there is to say, by name.
    pub notes: Vec<(String, String)>,
}

impl About {
    /// Everything by name, as text: names and numbers as JSON where there are several.
    pub(crate) fn members(&self, table: &dyn Table) -> Vec<(&str, Member)> {
        let parameters = self.parameters.iter().map(|(name, value)| (name, json::number(*value)));
        let notes = self.notes.iter().map(|(name, text)| (name.as_str(), Member::Text(text.clone())));
        let mut members = vec![
            ("system", Member::Text(self.system.clone())),
            ("method", Member::Text(self.method.clone())),
            ("pace", Member::Text(self.pace.clone())),
            ("parameters", Member::Json(json::object(parameters))),
            ("ended", Member::Text(self.ended.clone())),
            ("warnings", Member::Json(json::list(self.warnings.iter().map(|warning| json::text(warning))))),
            ("samples", Member::Json(table.rows().to_string())),
            ("groups", Member::Json(groups(table))),
            ("written_by", Member::Text(concat!("leastaction ", env!("CARGO_PKG_VERSION")).to_owned())),
        ];
        members.extend(notes);
        members
    }

    /// All of it as a JSON object on one line.
    pub(crate) fn json(&self, table: &dyn Table) -> String {
        json::object(self.members(table).into_iter().map(|(name, member)| (name, member.json())))
    }
}

/// What is said about a run: in words, or in JSON.
pub(crate) enum Member {
    Text(String),
    Json(String),
}

impl Member {
    fn json(&self) -> String {
        match self {
            Member::Text(text) => json::text(text),
            Member::Json(json) => json.clone(),
        }
    }

    pub(crate) fn plain(self) -> String {
        match self {
            Member::Text(text) | Member::Json(text) => text,
        }
    }
}

/// The names of the columns, by what they belong to.
fn groups(table: &dyn Table) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (word, name) in table.columns() {
        match groups.last_mut() {
            Some((last, names)) if *last == word => names.push(json::text(&name)),
            _ => groups.push((word, vec![json::text(&name)])),
        }
    }
    json::object(groups.into_iter().map(|(word, names)| (word, json::list(names))))
}

impl Group {
    /// The word for it in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Group::Time => "time",
            Group::Coordinates => "coordinates",
            Group::Velocities => "velocities",
            Group::Momenta => "momenta",
            Group::Positions => "positions",
            Group::Energy => "energy",
            Group::Multipliers => "multipliers",
            Group::Violations => "violations",
            Group::Outputs => "outputs",
        }
    }
}
