//! Where a record comes from: what files say besides numbers.

use crate::json;
use crate::record::{Group, Record};

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
}

impl About {
    /// Everything by name, as text: names and numbers as JSON where there are several.
    pub(crate) fn members(&self, record: &Record) -> Vec<(&'static str, Member)> {
        let parameters = self.parameters.iter().map(|(name, value)| (name, json::number(*value)));
        vec![
            ("system", Member::Text(self.system.clone())),
            ("method", Member::Text(self.method.clone())),
            ("pace", Member::Text(self.pace.clone())),
            ("parameters", Member::Json(json::object(parameters))),
            ("ended", Member::Text(self.ended.clone())),
            ("samples", Member::Json(record.len().to_string())),
            ("groups", Member::Json(groups(record))),
            ("written_by", Member::Text(concat!("leastaction ", env!("CARGO_PKG_VERSION")).to_owned())),
        ]
    }

    /// All of it as a JSON object on one line.
    pub(crate) fn json(&self, record: &Record) -> String {
        json::object(self.members(record).into_iter().map(|(name, member)| (name, member.json())))
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
fn groups(record: &Record) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (group, name, _) in record.columns() {
        let word = word(group);
        match groups.last_mut() {
            Some((last, names)) if *last == word => names.push(json::text(&name)),
            _ => groups.push((word, vec![json::text(&name)])),
        }
    }
    json::object(groups.into_iter().map(|(word, names)| (word, json::list(names))))
}

fn word(group: Group) -> &'static str {
    match group {
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
