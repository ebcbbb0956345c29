//! Whole archives of arrays with any number of axes.

use super::read::{ColumnError, directory, header, stored};
use super::{Archive, crc, head};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Arrays by name, in the order of the archive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays {
    list: Vec<(String, Array)>,
}

/// What an array is.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Numbers, the last axis innermost.
    Numbers {
        /// How long each axis is.
        shape: Vec<usize>,
        /// As many numbers as they make.
        values: Vec<f64>,
    },
    /// A text.
    Text(String),
}

impl Arrays {
    /// Adds numbers.
    ///
    /// # Panics
    /// If there are more or fewer than the shape says.
    pub fn push(&mut self, name: &str, shape: &[usize], values: Vec<f64>) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "numbers of `{name}`");
        self.list.push((name.to_owned(), Array::Numbers { shape: shape.to_vec(), values }));
    }

    /// Adds a text.
    pub fn push_text(&mut self, name: &str, text: &str) {
        self.list.push((name.to_owned(), Array::Text(text.to_owned())));
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(name, _)| name.as_str())
    }

    /// An array.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.list.iter().find(|(other, _)| other == name).map(|(_, array)| array)
    }

    /// The shape and the numbers of an array of numbers.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Option<(&[usize], &[f64])> {
        match self.get(name)? {
            Array::Numbers { shape, values } => Some((shape, values)),
            Array::Text(_) => None,
        }
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Array::Text(text) => Some(text),
            Array::Numbers { .. } => None,
        }
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut archive = Archive { writer, at: 0, entries: Vec::new() };
        for (name, array) in &self.list {
            let (head, bytes): (Vec<u8>, Vec<u8>) = match array {
                Array::Numbers { shape, values } => {
                    let axes: String = shape.iter().map(|length| format!("{length},")).collect();
                    let head = head("<f8", &format!("({axes})"));
                    (head, values.iter().flat_map(|value| value.to_le_bytes()).collect())
                }
                Array::Text(text) => {
                    // NumPy has no texts of no letters.
                    let letters = text.chars().count().max(1);
                    let codes = text.chars().map(u32::from).chain([0]).take(letters);
                    (head(&format!("<U{letters}"), "()"), codes.flat_map(u32::to_le_bytes).collect())
                }
            };
            let check = crc(crc(!0, &head), &bytes);
            archive.begin(&format!("{name}.npy"), check, (head.len() + bytes.len()) as u64)?;
            archive.put(&head)?;
            archive.put(&bytes)?;
        }
        archive.close()
    }

    /// Reads an archive as `numpy.savez` or [`Arrays::write`] makes one. Each array must have its check.
    ///
    /// # Errors
    /// [`ColumnError`] if the file is something else, or damaged.
    pub fn read(path: &Path) -> Result<Arrays, ColumnError> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut list = Vec::new();
        for entry in directory(&mut file, length)? {
            let mut data = Vec::new();
            stored(file.try_clone()?, &entry, length)?.read_to_end(&mut data)?;
            if data.len() as u64 != entry.size {
                return Err(ColumnError::CutOff);
            }
            if !crc(!0, &data) != entry.check {
                return Err(ColumnError::Check { array: entry.name });
            }
            let mut rest = &data[..];
            let kind = header(&mut rest)?;
            let count = kind.axes.iter().try_fold(1_u64, |product, &axis| product.checked_mul(axis));
            if count.and_then(|count| count.checked_mul(kind.width as u64)) != Some(rest.len() as u64) {
                return Err(ColumnError::Damaged);
            }
            let array = if kind.letter == b'U' {
                let codes =
                    rest.chunks_exact(4).map(|code| u32::from_le_bytes([code[0], code[1], code[2], code[3]]));
                let text: Option<String> = codes.take_while(|code| *code != 0).map(char::from_u32).collect();
                Array::Text(text.filter(|_| kind.axes.is_empty()).ok_or(ColumnError::NotNumbers)?)
            } else if kind.in_order() {
                let values = rest.chunks_exact(kind.width).map(|number| kind.number(number)).collect();
                Array::Numbers { shape: kind.axes.iter().map(|&axis| axis as usize).collect(), values }
            } else {
                return Err(ColumnError::Kind { kind: "Fortran order".to_owned() });
            };
            list.push((entry.name, array));
        }
        Ok(Arrays { list })
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Arrays};
    use crate::format::npz::ColumnError;

    #[test]
    fn archives_read_back_and_damage_is_found() {
        let mut arrays = Arrays::default();
        arrays.push("x", &[2, 3], vec![0.1, -0.0, f64::INFINITY, 1e-310, 4.0, 5.0]);
        arrays.push("one", &[], vec![7.0]);
        arrays.push_text("model", "param m = 1 # é\n");
        let mut bytes = Vec::new();
        arrays.write(&mut bytes).unwrap();
        let folder = std::env::temp_dir().join(format!("leastaction-arrays-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.npz");
        std::fs::write(&path, &bytes).unwrap();
        let back = Arrays::read(&path).unwrap();
        assert_eq!(back, arrays);
        assert_eq!(back.numbers("x").unwrap().0, [2, 3]);
        assert!(matches!(back.get("model"), Some(Array::Text(text)) if text.ends_with("é\n")));
        // Whatever bit is turned over, it is found, or what is read is the same.
        for place in 0..bytes.len() {
            bytes[place] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(other) = Arrays::read(&path) {
                let same = other.list.iter().zip(&arrays.list).all(|((_, a), (_, b))| a == b);
                assert!(same, "byte {place}");
            }
            bytes[place] ^= 0x10;
        }
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(matches!(Arrays::read(&path), Err(ColumnError::NotAnArchive)));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
