//! CSV ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180), with plain line feeds): a line of names, then a line for each sample.
//!
//! Whole numbers and words are written as such. Other numbers are the shortest that read back to the same bits; what is not finite is `NaN`, `inf` or `-inf`, as NumPy and pandas read it.

use super::Format;
use crate::about::About;
use crate::table::{Cell, ColumnKind, Table, parts};
use std::io::{self, Write};

pub(super) const FORMAT: Format =
    Format { ending: "csv", about: "text, a line for each sample (NaN, inf)", writer: write };

/// Rows that are in memory at a time.
const ROWS: u64 = 1 << 14;

fn write(table: &dyn Table, _: &About, writer: &mut dyn Write) -> io::Result<()> {
    let names: Vec<_> = table.columns().iter().map(|(_, name)| quoted(name)).collect();
    writeln!(writer, "{}", names.join(","))?;
    let kinds: Vec<ColumnKind> = (0..names.len()).map(|k| table.kind(k)).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for part in parts(0..table.rows(), ROWS) {
        for (k, values) in columns.iter_mut().enumerate() {
            values.clear();
            table.read(k, part.clone(), values)?;
        }
        for i in 0..(part.end - part.start) as usize {
            for (k, (values, kind)) in columns.iter().zip(&kinds).enumerate() {
                writer.write_all(if k == 0 { b"" } else { b"," })?;
                match kind.cell(values[i])? {
                    Cell::Number(value) => write!(writer, "{value:?}")?,
                    Cell::Whole(value) => write!(writer, "{value}")?,
                    Cell::Word(word) => write!(writer, "{}", quoted(word))?,
                }
            }
            writeln!(writer)?;
        }
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

/// The fields of a line of CSV; quotes go.
pub fn fields(line: &str) -> impl Iterator<Item = String> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(inside) = text.strip_prefix('"') else {
            let (field, after) =
                text.split_once(',').map_or((text, None), |(field, after)| (field, Some(after)));
            rest = after;
            return Some(field.to_owned());
        };
        let (mut field, mut letters) = (String::new(), inside.char_indices().peekable());
        rest = None;
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' if letters.peek().is_some_and(|&(_, next)| next == '"') => {
                    field.push('"');
                    letters.next();
                }
                '"' => {
                    rest = inside[at + 1..].split_once(',').map(|(_, after)| after);
                    break;
                }
                letter => field.push(letter),
            }
        }
        Some(field)
    })
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_are_those_of_csv() {
        let all = |line| fields(line).collect::<Vec<_>>();
        assert_eq!(all("a,b"), ["a", "b"]);
        assert_eq!(all("\"a \"\"b\"\", c\",,d,"), ["a \"b\", c", "", "d", ""]);
        assert_eq!(all("\"open"), ["open"]);
        assert_eq!(all(""), [""]);
    }
}
