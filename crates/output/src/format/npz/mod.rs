//! NumPy's archive of arrays: one array for each column, of float64, int64 or text, under the name of the column, and `#about`, a text of JSON that says
//! what was run and which columns belong together.
//!
//! ```python
//! data = numpy.load("run.npz")
//! about = json.loads(str(data["#about"]))
//! q = numpy.stack([data[name] for name in about["groups"]["coordinates"]], axis=1)
//! ```
//!
//! Arrays are in the [NPY format](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), version 1.0, and stored in a
//! [ZIP archive](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT) with the sizes of ZIP64 throughout, so that there is one way
//! for small and large ones. [`column()`] reads them back. [`Arrays`] are a whole archive in memory, of arrays with any number of axes.

mod arrays;
mod read;

pub use arrays::{Array, Arrays};
pub use read::{ColumnError, column};

use super::Format;
use crate::about::About;
use crate::table::{Cell, ColumnKind, Table, parts};
use std::io::{self, Write};

pub(super) const FORMAT: Format =
    Format { ending: "npz", about: "NumPy, an array for each column", writer: write };

/// Numbers that are in memory at a time.
const ROWS: u64 = 1 << 16;

fn write(table: &dyn Table, about: &About, writer: &mut dyn Write) -> io::Result<()> {
    let mut archive = Archive { writer, at: 0, entries: Vec::new() };
    let (rows, mut values) = (table.rows(), Vec::new());
    for (k, (_, name)) in table.columns().into_iter().enumerate() {
        let kind = table.kind(k);
        let longest = match &kind {
            ColumnKind::Word(words) => {
                words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1)
            }
            ColumnKind::Number | ColumnKind::Whole => 2,
        };
        let described = match &kind {
            ColumnKind::Number => "<f8".to_owned(),
            ColumnKind::Whole => "<i8".to_owned(),
            ColumnKind::Word(_) => format!("<U{longest}"),
        };
        let head = head(&described, &format!("({rows},)"));
        let mut check = crc(!0, &head);
        let mut each = |part: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
            parts(0..rows, ROWS).try_for_each(|range| {
                values.clear();
                table.read(k, range, &mut values)?;
                let mut bytes = Vec::with_capacity(4 * longest * values.len());
                for &value in &values {
                    match kind.cell(value)? {
                        Cell::Number(value) => bytes.extend(value.to_le_bytes()),
                        Cell::Whole(value) => bytes.extend(value.to_le_bytes()),
                        Cell::Word(word) => {
                            let letters =
                                word.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
                            bytes.extend(letters.flat_map(u32::to_le_bytes));
                        }
                    }
                }
                part(&bytes)
            })
        };
        // The check stands before what it checks.
        each(&mut |bytes| {
            check = crc(check, bytes);
            Ok(())
        })?;
        archive.begin(&format!("{name}.npy"), check, head.len() as u64 + 4 * longest as u64 * rows)?;
        archive.put(&head)?;
        each(&mut |bytes| archive.put(bytes))?;
    }
    let text: Vec<u8> = about.json(table).chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let head = head(&format!("<U{}", text.len() / 4), "()");
    archive.begin("#about.npy", crc(crc(!0, &head), &text), (head.len() + text.len()) as u64)?;
    archive.put(&head)?;
    archive.put(&text)?;
    archive.close()
}

/// What precedes the numbers: magic, version, and a Python dictionary, padded to a multiple of 64 bytes.
fn head(kind: &str, shape: &str) -> Vec<u8> {
    const PREFIX: usize = 10;
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (PREFIX + text.len() + 1).next_multiple_of(64) - PREFIX;
    text.push_str(&" ".repeat(padded - text.len() - 1));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    // The dictionary of one axis is far shorter than 65536.
    head.extend((padded as u16).to_le_bytes());
    head.extend(text.into_bytes());
    head
}

/// A ZIP archive of what is stored as it is.
struct Archive<'w> {
    writer: &'w mut dyn Write,
    at: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    check: u32,
    size: u64,
    at: u64,
}

/// "Extract with 4.5", ZIP64; "the name is UTF-8"; stored; 1 January 1980, the first day of ZIP, so that the same run gives the same bytes.
const VERSION: u16 = 45;
const UTF8: u16 = 1 << 11;
const STORED: u16 = 0;
const TIME: u16 = 0;
const DATE: u16 = 1 << 5 | 1;
/// "See the 64-bit field."
const LONG: u32 = u32::MAX;

impl Archive<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.writer.write_all(bytes)
    }

    /// The head of an entry, whose bytes follow.
    fn begin(&mut self, name: &str, check: u32, size: u64) -> io::Result<()> {
        let entry = Entry { name: name.to_owned(), check: !check, size, at: self.at };
        let mut local = b"PK\x03\x04".to_vec();
        local.extend(VERSION.to_le_bytes());
        entry.describe(&mut local);
        local.extend(20_u16.to_le_bytes());
        local.extend(name.as_bytes());
        local.extend([1, 0, 16, 0]);
        local.extend(size.to_le_bytes());
        local.extend(size.to_le_bytes());
        self.entries.push(entry);
        self.put(&local)
    }

    /// The directory, and where it is.
    fn close(mut self) -> io::Result<()> {
        let (begin, count) = (self.at, self.entries.len() as u64);
        for entry in std::mem::take(&mut self.entries) {
            let mut central = b"PK\x01\x02".to_vec();
            central.extend(VERSION.to_le_bytes());
            central.extend(VERSION.to_le_bytes());
            entry.describe(&mut central);
            central.extend(28_u16.to_le_bytes());
            // No comment, disk 0, no attributes.
            central.extend([0; 10]);
            central.extend(LONG.to_le_bytes());
            central.extend(entry.name.as_bytes());
            central.extend([1, 0, 24, 0]);
            for long in [entry.size, entry.size, entry.at] {
                central.extend(long.to_le_bytes());
            }
            self.put(&central)?;
        }
        let (end, mut tail) = (self.at, b"PK\x06\x06".to_vec());
        tail.extend(44_u64.to_le_bytes());
        tail.extend([VERSION.to_le_bytes(), VERSION.to_le_bytes()].concat());
        tail.extend([0; 8]);
        for long in [count, count, end - begin, begin] {
            tail.extend(long.to_le_bytes());
        }
        tail.extend(b"PK\x06\x07\0\0\0\0");
        tail.extend(end.to_le_bytes());
        tail.extend(1_u32.to_le_bytes());
        tail.extend(b"PK\x05\x06\0\0\0\0");
        tail.extend([0xff; 12]);
        tail.extend([0; 2]);
        self.put(&tail)
    }
}

impl Entry {
    /// What the entry's own header and the directory have in common.
    fn describe(&self, out: &mut Vec<u8>) {
        for short in [UTF8, STORED, TIME, DATE] {
            out.extend(short.to_le_bytes());
        }
        for long in [self.check, LONG, LONG] {
            out.extend(long.to_le_bytes());
        }
        // Names of columns are far shorter than 65536.
        out.extend((self.name.len() as u16).to_le_bytes());
    }
}

/// The cyclic redundancy check of ZIP: x³² + x²⁶ + … + 1, bits reversed, continued over bytes.
fn crc(check: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(check, |check, byte| TABLE[usize::from(check as u8 ^ byte)] ^ (check >> 8))
}

const TABLE: [u32; 256] = {
    let (mut table, mut i) = ([0; 256], 0);
    while i < 256 {
        let (mut check, mut bit) = (i as u32, 0);
        while bit < 8 {
            check = if check & 1 == 1 { 0xedb8_8320 ^ (check >> 1) } else { check >> 1 };
            bit += 1;
        }
        table[i] = check;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    /// The check value that catalogues of CRCs give for CRC-32.
    #[test]
    fn checks_are_those_of_zip() {
        assert_eq!(!super::crc(!0, b"123456789"), 0xcbf4_3926);
    }
}
