//! JSON: `about` (system, method, pace, parameters, how the run ended, and which columns belong together) and `columns`, a list of
//! numbers under each name.
//!
//! Numbers have 17 significant digits. JSON has no word for what is not finite: such numbers are `null`, and `not_finite` counts them by
//! column, so that they are not overlooked.

use super::Format;
use crate::about::About;
use crate::json;
use crate::record::Record;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    ending: "json",
    about: "text, a list for each column (null for what is not finite)",
    writer: write,
};

fn write(record: &Record, about: &About, writer: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<_> = record.columns().collect();
    let lost = |values: &[f64]| values.iter().filter(|value| !value.is_finite()).count();
    let lost = columns.iter().map(|(_, name, values)| (name, lost(values))).filter(|(_, count)| *count > 0);
    writeln!(writer, "{{\n\"about\": {},", about.json(record))?;
    writeln!(
        writer,
        "\"not_finite\": {},",
        json::object(lost.map(|(name, count)| (name, count.to_string())))
    )?;
    writeln!(writer, "\"columns\": {{")?;
    for (k, (_, name, values)) in columns.iter().enumerate() {
        write!(writer, "{}: [", json::text(name))?;
        for (i, &value) in values.iter().enumerate() {
            write!(writer, "{}{}", if i == 0 { "" } else { ", " }, json::number(value))?;
        }
        writeln!(writer, "]{}", if k + 1 == columns.len() { "" } else { "," })?;
    }
    writeln!(writer, "}}\n}}")
}
