//! CSV ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180), with plain line feeds): a line of names, then a line for each sample.
//!
//! Numbers are the shortest that read back to the same bits; what is not finite is `NaN`, `inf` or `-inf`, as NumPy and pandas read it.

use super::Format;
use crate::about::About;
use crate::record::Record;
use std::io::{self, Write};

pub(super) const FORMAT: Format =
    Format { ending: "csv", about: "text, a line for each sample (NaN, inf)", writer: write };

fn write(record: &Record, _: &About, writer: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<_> = record.columns().collect();
    let names: Vec<_> = columns.iter().map(|(_, name, _)| quoted(name)).collect();
    writeln!(writer, "{}", names.join(","))?;
    for i in 0..record.len() {
        for (k, (_, _, values)) in columns.iter().enumerate() {
            write!(writer, "{}{:?}", if k == 0 { "" } else { "," }, values[i])?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
