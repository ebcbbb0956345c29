//! Reading columns from NumPy's archives: arrays of one axis in the [NPY format](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), stored in a
//! [ZIP archive](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT) as `numpy.savez` and `leastaction` write it. What is compressed is refused.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Why a column cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// It is not there.
    #[error("there is no such column; there are {}", .columns.join(", "))]
    NoColumn {
        /// Those that are there.
        columns: Vec<String>,
    },
    /// The file is something else.
    #[error("it is not an archive of NumPy")]
    NotAnArchive,
    /// The archive is compressed.
    #[error("it is compressed: write it by numpy.savez")]
    Compressed,
    /// The file ends early.
    #[error("it is cut off")]
    CutOff,
    /// The file contradicts itself.
    #[error("it is damaged")]
    Damaged,
    /// There is no kind, or no shape.
    #[error("it is not an array of numbers")]
    NotNumbers,
    /// The array is a number or a table.
    #[error("the array has not one axis: save a column by a name of its own, as in numpy.savez(file, x=x)")]
    NotOneAxis,
    /// The numbers are of a kind that is not read.
    #[error("its numbers are of kind `{kind}`: make them float64")]
    Kind {
        /// The kind, as NumPy writes it.
        kind: String,
    },
    /// What is written of an array is not what was written: its check differs.
    #[error("`{array}` is damaged: its numbers do not have their check")]
    Check {
        /// The array.
        array: String,
    },
    /// The system does not give the file.
    #[error(transparent)]
    System(io::Error),
}

impl From<io::Error> for ColumnError {
    fn from(error: io::Error) -> ColumnError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ColumnError::CutOff,
            _ => ColumnError::System(error),
        }
    }
}

/// What the directory says of an array.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) method: u16,
    pub(super) check: u32,
    pub(super) size: u64,
    pub(super) at: u64,
}

/// The numbers of an array of one axis in an archive of NumPy.
///
/// # Errors
/// [`ColumnError`] if there is no such array, or the file is not what `numpy.savez` or this crate writes.
pub fn column(path: &Path, name: &str) -> Result<Vec<f64>, ColumnError> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let entries = directory(&mut file, length)?;
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        let names = entries.into_iter().map(|entry| entry.name).filter(|name| !name.starts_with('#'));
        return Err(ColumnError::NoColumn { columns: names.collect() });
    };
    let mut array = stored(file, entry, length)?;
    let kind = header(&mut array)?;
    if kind.letter == b'U' {
        return Err(ColumnError::Kind { kind: format!("U{}", kind.width / 4) });
    }
    let [rows] = kind.axes[..] else {
        return Err(ColumnError::NotOneAxis);
    };
    let mut data = Vec::new();
    array.read_to_end(&mut data)?;
    let (numbers, rest) = (data.chunks_exact(kind.width), data.len() % kind.width);
    if numbers.len() as u64 != rows || rest != 0 {
        return Err(ColumnError::CutOff);
    }
    Ok(numbers.map(|number| kind.number(number)).collect())
}

/// The bytes of an array.
pub(super) fn stored(mut file: File, entry: &Entry, length: u64) -> Result<io::Take<File>, ColumnError> {
    if entry.method != 0 {
        return Err(ColumnError::Compressed);
    }
    file.seek(SeekFrom::Start(entry.at))?;
    let head = bytes(&mut file, 30)?;
    if !head.starts_with(b"PK\x03\x04") {
        return Err(ColumnError::Damaged);
    }
    file.seek_relative(i64::from(short(&head, 26)) + i64::from(short(&head, 28)))?;
    Ok(file.take(entry.size.min(length)))
}

/// The directory at the end of an archive.
pub(super) fn directory(file: &mut File, length: u64) -> Result<Vec<Entry>, ColumnError> {
    const END: u64 = 22;
    const LOCATOR: u64 = 20;
    // A comment of up to 64 KiB may follow the end of the directory.
    let tail = length.min(END + LOCATOR + (1 << 16));
    file.seek(SeekFrom::Start(length - tail))?;
    let end_of_file = bytes(file, tail)?;
    let Some(end) = end_of_file.windows(END as usize).rposition(|window| window.starts_with(b"PK\x05\x06"))
    else {
        return Err(ColumnError::NotAnArchive);
    };
    let (mut size, mut at) =
        (u64::from(long(&end_of_file, end + 12)), u64::from(long(&end_of_file, end + 16)));
    let locator =
        end.checked_sub(LOCATOR as usize).filter(|&place| end_of_file[place..].starts_with(b"PK\x06\x07"));
    if let Some(locator) = locator {
        file.seek(SeekFrom::Start(wide(&end_of_file, locator + 8)))?;
        let record = bytes(file, 56)?;
        if !record.starts_with(b"PK\x06\x06") {
            return Err(ColumnError::Damaged);
        }
        (size, at) = (wide(&record, 40), wide(&record, 48));
    }
    if size > length {
        return Err(ColumnError::Damaged);
    }
    file.seek(SeekFrom::Start(at))?;
    let directory = bytes(file, size)?;
    let (mut rest, mut entries) = (&directory[..], Vec::new());
    while rest.starts_with(b"PK\x01\x02") && rest.len() >= 46 {
        let [name, extra, comment] = [28, 30, 32].map(|place| usize::from(short(rest, place)));
        let Some(after) = rest.get(46..).filter(|after| after.len() >= name + extra + comment) else {
            return Err(ColumnError::Damaged);
        };
        let (size, at) = (u64::from(long(rest, 24)), u64::from(long(rest, 42)));
        let [size, at] = extended(&after[name..name + extra], [u64::from(long(rest, 20)), size, at]);
        let text = String::from_utf8_lossy(&after[..name]);
        let name_of = text.strip_suffix(".npy").unwrap_or(&text).to_owned();
        let (method, check) = (short(rest, 10), long(rest, 16));
        entries.push(Entry { name: name_of, method, check, size, at });
        rest = &after[name + extra + comment..];
    }
    Ok(entries)
}

/// The size and the place of an entry: what does not fit into 32 bits is in an additional field of 64 bits, in this order.
fn extended(mut extra: &[u8], [packed, size, at]: [u64; 3]) -> [u64; 2] {
    const FULL: u64 = u32::MAX as u64;
    let mut values = [packed, size, at];
    while extra.len() >= 4 {
        let (tag, length) = (short(extra, 0), usize::from(short(extra, 2)));
        let Some(field) = extra.get(4..4 + length) else { break };
        if tag == 1 {
            let mut longs = field.chunks_exact(8).map(|long| wide(long, 0));
            // The unpacked size stands first.
            for place in [1, 0, 2] {
                if values[place] == FULL {
                    values[place] = longs.next().unwrap_or(FULL);
                }
            }
        }
        extra = &extra[4 + length..];
    }
    [values[1], values[2]]
}

/// The numbers of an array.
pub(super) struct Kind {
    pub(super) letter: u8,
    big: bool,
    pub(super) width: usize,
    fortran: bool,
    pub(super) axes: Vec<u64>,
}

/// The head of an array: magic, version, and a Python dictionary.
pub(super) fn header(array: &mut impl Read) -> Result<Kind, ColumnError> {
    let start = bytes(array, 8)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err(ColumnError::NotAnArchive);
    }
    let length = match start[6] {
        1 => u64::from(short(&bytes(array, 2)?, 0)),
        _ => u64::from(long(&bytes(array, 4)?, 0)),
    };
    let text = String::from_utf8_lossy(&bytes(array, length.min(1 << 16))?).into_owned();
    let after = |key: &str| text.split_once(key).map(|(_, after)| after.trim_start_matches([':', ' ']));
    let kind =
        after("'descr'").and_then(|rest| rest.strip_prefix('\'')).and_then(|rest| rest.split('\'').next());
    let shape =
        after("'shape'").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split(')').next());
    let (Some(kind), Some(shape)) = (kind, shape) else { return Err(ColumnError::NotNumbers) };
    let axes: Vec<u64> = shape.split(',').filter_map(|axis| axis.trim().parse().ok()).collect();
    let mut letters = kind.bytes();
    let (order, letter) = (letters.next(), letters.next().unwrap_or_default());
    let width = kind.get(2..).and_then(|width| width.parse().ok()).unwrap_or(0);
    let known = match letter {
        b'f' => [4, 8].contains(&width),
        b'i' | b'u' => [1, 2, 4, 8].contains(&width),
        b'U' => width > 0,
        _ => false,
    };
    let width = if letter == b'U' { 4 * width } else { width };
    let fortran = after("'fortran_order'").is_some_and(|rest| rest.starts_with("True"));
    match known {
        true => Ok(Kind { letter, big: order == Some(b'>'), width, fortran, axes }),
        false => Err(ColumnError::Kind { kind: kind.to_owned() }),
    }
}

impl Kind {
    /// Whether numbers stand in the order of C, the last axis innermost, or there is one axis only.
    pub(super) fn in_order(&self) -> bool {
        !self.fortran || self.axes.len() < 2
    }

    /// The number that bytes stand for, which are as many as the width.
    pub(super) fn number(&self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..self.width].copy_from_slice(bytes);
        if self.big {
            word[..self.width].reverse();
        }
        let whole = u64::from_le_bytes(word);
        let spare = 64 - 8 * self.width as u32;
        match (self.letter, self.width) {
            (b'f', 8) => f64::from_bits(whole),
            (b'f', _) => f64::from(f32::from_bits(whole as u32)),
            (b'i', _) => ((whole << spare) as i64 >> spare) as f64,
            _ => whole as f64,
        }
    }
}

/// This number of bytes; memory is allocated only for bytes that exist.
fn bytes(from: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    from.take(count).read_to_end(&mut read)?;
    if read.len() as u64 == count { Ok(read) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(short(bytes, at)) | u32::from(short(bytes, at + 2)) << 16
}

fn wide(bytes: &[u8], at: usize) -> u64 {
    u64::from(long(bytes, at)) | u64::from(long(bytes, at + 4)) << 32
}
