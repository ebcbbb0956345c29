//! JSON: `about` (system, method, pace, parameters, how the run ended, and which columns belong together) and `columns`, a list of
//! numbers or words under each name.
//!
//! Numbers that are not whole by their nature have 17 significant digits. JSON has no word for what is not finite: such numbers are `null`, and `not_finite` counts them by
//! column, so that they are not overlooked.

use super::Format;
use crate::about::About;
use crate::json;
use crate::table::{Table, parts};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    ending: "json",
    about: "text, a list for each column (null for what is not finite)",
    writer: write,
};

/// Numbers that are in memory at a time.
const ROWS: u64 = 1 << 16;

fn write(table: &dyn Table, about: &About, writer: &mut dyn Write) -> io::Result<()> {
    let (columns, parts, mut values) = (table.columns(), parts(0..table.rows(), ROWS), Vec::new());
    let mut lost = Vec::new();
    for (k, (_, name)) in columns.iter().enumerate() {
        let mut count = 0;
        for part in parts.clone() {
            values.clear();
            table.read(k, part, &mut values)?;
            count += values.iter().filter(|value| !value.is_finite()).count();
        }
        if count > 0 {
            lost.push((name, count.to_string()));
        }
    }
    writeln!(writer, "{{\n\"about\": {},", about.json(table))?;
    writeln!(writer, "\"not_finite\": {},", json::object(lost))?;
    writeln!(writer, "\"columns\": {{")?;
    for (k, (_, name)) in columns.iter().enumerate() {
        write!(writer, "{}: [", json::text(name))?;
        let kind = table.kind(k);
        for part in parts.clone() {
            let begin = part.start == 0;
            values.clear();
            table.read(k, part, &mut values)?;
            for (i, &value) in values.iter().enumerate() {
                let cell = json::cell(&kind, value)?;
                write!(writer, "{}{cell}", if begin && i == 0 { "" } else { ", " })?;
            }
        }
        writeln!(writer, "]{}", if k + 1 == columns.len() { "" } else { "," })?;
    }
    writeln!(writer, "}}\n}}")
}
