//! [Apache Parquet](https://parquet.apache.org/docs/file-format/): a required column of doubles, 64-bit integers or strings for each column, in row groups of a million, plain and
//! uncompressed; what was run is in the key-value metadata of the file.
//!
//! The footer is Thrift in its [compact protocol](https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), and its
//! structs and field numbers are those of [parquet.thrift](https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).

use super::Format;
use crate::about::About;
use crate::table::{Cell, ColumnKind, Table, parts};
use std::io::{self, Write};
use std::ops::Range;

pub(super) const FORMAT: Format = Format {
    ending: "parquet",
    about: "Apache Parquet, a column each of doubles, integers or words",
    writer: write,
};

const MAGIC: &[u8] = b"PAR1";
/// Values in a page: 1 MiB, as readers like it.
const PAGE: u64 = 1 << 17;

// Enums of parquet.thrift.
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
/// `ConvertedType`: bytes that are text.
const UTF8: i64 = 0;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

/// Rows in a group: 8 MiB of each column.
const GROUP: u64 = 1 << 20;

/// Where the pages of a column begin, and how long they are.
struct Chunk {
    at: i64,
    size: i64,
}

/// A number of rows, and their columns.
struct RowGroup {
    rows: i64,
    chunks: Vec<Chunk>,
}

fn write(table: &dyn Table, about: &About, writer: &mut dyn Write) -> io::Result<()> {
    let (rows, mut at) = (table.rows(), MAGIC.len() as i64);
    writer.write_all(MAGIC)?;
    let columns = table.columns();
    let kinds: Vec<ColumnKind> = (0..columns.len()).map(|k| table.kind(k)).collect();
    let (mut groups, mut values) = (Vec::new(), Vec::new());
    // A table without rows has one group without rows, whose columns have one page each.
    for range in some(0..rows, GROUP) {
        let mut chunks = Vec::new();
        for (k, kind) in kinds.iter().enumerate() {
            let begin = at;
            for page in some(range.clone(), PAGE) {
                values.clear();
                table.read(k, page, &mut values)?;
                let bytes = plain(kind, &values)?;
                let head = page_header(values.len() as i64, bytes.len() as i64);
                writer.write_all(&head)?;
                writer.write_all(&bytes)?;
                at += (head.len() + bytes.len()) as i64;
            }
            chunks.push(Chunk { at: begin, size: at - begin });
        }
        groups.push(RowGroup { rows: (range.end - range.start) as i64, chunks });
    }
    let names: Vec<_> = columns.into_iter().map(|(_, name)| name).zip(&kinds).collect();
    let footer = footer(
        &names,
        &groups,
        &about.members(table).into_iter().map(|(key, member)| (key, member.plain())).collect::<Vec<_>>(),
    );
    writer.write_all(&footer)?;
    let length = u32::try_from(footer.len())
        .map_err(|_| io::Error::other("there are too many columns for Parquet"))?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(MAGIC)
}

/// Parts of rows, but one at least.
fn some(rows: Range<u64>, most: u64) -> Vec<Range<u64>> {
    let mut list: Vec<_> = parts(rows.clone(), most).collect();
    if list.is_empty() {
        list.push(rows);
    }
    list
}

/// Values one after the other, texts with their lengths before them.
fn plain(kind: &ColumnKind, values: &[f64]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(8 * values.len());
    for &value in values {
        match kind.cell(value)? {
            Cell::Number(value) => bytes.extend(value.to_le_bytes()),
            Cell::Whole(value) => bytes.extend(value.to_le_bytes()),
            Cell::Word(word) => {
                bytes.extend((word.len() as u32).to_le_bytes());
                bytes.extend(word.as_bytes());
            }
        }
    }
    Ok(bytes)
}

/// `PageHeader` of a page, from the numbers of its values and bytes.
fn page_header(values: i64, bytes: i64) -> Vec<u8> {
    Struct::new()
        .i32(1, DATA_PAGE)
        .i32(2, bytes)
        .i32(3, bytes)
        // `DataPageHeader`
        .one(5, Struct::new().i32(1, values).i32(2, PLAIN).i32(3, RLE).i32(4, RLE))
        .end()
}

/// `FileMetaData`.
fn footer(names: &[(String, &ColumnKind)], groups: &[RowGroup], about: &[(&str, String)]) -> Vec<u8> {
    let rows: i64 = groups.iter().map(|group| group.rows).sum();
    // `SchemaElement`: a root with a child for each column.
    let root = Struct::new().text(4, "record").i32(5, names.len() as i64);
    let physical = |kind: &ColumnKind| match kind {
        ColumnKind::Number => DOUBLE,
        ColumnKind::Whole => INT64,
        ColumnKind::Word(_) => BYTE_ARRAY,
    };
    let leaf = |(name, kind): &(String, &ColumnKind)| {
        let leaf = Struct::new().i32(1, physical(kind)).i32(3, REQUIRED).text(4, name);
        if let ColumnKind::Word(_) = kind { leaf.i32(6, UTF8) } else { leaf }
    };
    let schema = std::iter::once(root).chain(names.iter().map(leaf));
    // `ColumnChunk` around `ColumnMetaData`.
    let column = |rows: i64, (name, kind): &(String, &ColumnKind), chunk: &Chunk| {
        let meta = Struct::new()
            .i32(1, physical(kind))
            .numbers(2, &[PLAIN])
            .texts(3, &[name])
            .i32(4, UNCOMPRESSED)
            .i64(5, rows)
            .i64(6, chunk.size)
            .i64(7, chunk.size)
            .i64(9, chunk.at);
        Struct::new().i64(2, 0).one(3, meta)
    };
    let group = |RowGroup { rows, chunks }: &RowGroup| {
        let total = chunks.iter().map(|chunk| chunk.size).sum();
        let columns = names.iter().zip(chunks).map(|(name, chunk)| column(*rows, name, chunk));
        Struct::new().many(1, columns).i64(2, total).i64(3, *rows)
    };
    let pair = |(key, value): &(&str, String)| Struct::new().text(1, key).text(2, value);
    Struct::new()
        .i32(1, 1)
        .many(2, schema)
        .i64(3, rows)
        .many(4, groups.iter().map(group))
        .many(5, about.iter().map(pair))
        .text(6, concat!("leastaction version ", env!("CARGO_PKG_VERSION")))
        .end()
}

/// A struct of Thrift's compact protocol, field by field, in the order of their numbers.
struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

// Types of fields and of items of lists.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    fn new() -> Struct {
        Struct { bytes: Vec::new(), last: 0 }
    }

    /// The head of a field: how far its number is from the last one, and its type in one byte.
    fn field(&mut self, number: i16, kind: u8) {
        let ahead = (number - self.last) as u8;
        debug_assert!((1..16).contains(&ahead), "fields are written in order");
        self.bytes.push(ahead << 4 | kind);
        self.last = number;
    }

    /// Seven bits in a byte, the lowest first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Signed numbers in the zigzag 0, −1, 1, −2, …
    fn zigzag(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    fn bytes(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn items(&mut self, count: usize, kind: u8) {
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(count as u64);
        }
    }

    fn i32(mut self, number: i16, value: i64) -> Struct {
        self.field(number, I32);
        self.zigzag(value);
        self
    }

    fn i64(mut self, number: i16, value: i64) -> Struct {
        self.field(number, I64);
        self.zigzag(value);
        self
    }

    fn text(mut self, number: i16, text: &str) -> Struct {
        self.field(number, BINARY);
        self.bytes(text);
        self
    }

    fn numbers(mut self, number: i16, values: &[i64]) -> Struct {
        self.field(number, LIST);
        self.items(values.len(), I32);
        values.iter().for_each(|&value| self.zigzag(value));
        self
    }

    fn texts(mut self, number: i16, texts: &[&String]) -> Struct {
        self.field(number, LIST);
        self.items(texts.len(), BINARY);
        texts.iter().for_each(|text| self.bytes(text));
        self
    }

    fn one(mut self, number: i16, item: Struct) -> Struct {
        self.field(number, STRUCT);
        self.bytes.extend(item.end());
        self
    }

    fn many(mut self, number: i16, items: impl IntoIterator<Item = Struct>) -> Struct {
        let items: Vec<Struct> = items.into_iter().collect();
        self.field(number, LIST);
        self.items(items.len(), STRUCT);
        items.into_iter().for_each(|item| self.bytes.extend(item.end()));
        self
    }

    /// The bytes, with the mark of the end.
    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
