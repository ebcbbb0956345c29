//! Weights in files, in the [safetensors](https://huggingface.co/docs/safetensors) format: the length of a header (eight bytes, the lowest first), a header of JSON, which names tensors with their
//! kinds, shapes and places, and the numbers.

mod json;
mod sha256;

pub use sha256::sha256;

use crate::activation::Activation;
use crate::network::Network;
use json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longer headers are refused, as the format says.
const LONGEST_HEADER: u64 = 100_000_000;

/// Named arrays of numbers, with texts about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// What is known of them, by name.
    pub about: Vec<(String, String)>,
    /// The arrays, in the order of the file.
    pub list: Vec<Tensor>,
}

/// A named array of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The name.
    pub name: String,
    /// How long each axis is.
    pub shape: Vec<usize>,
    /// The numbers, the last axis innermost.
    pub values: Vec<f64>,
}

/// Why a file of weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The system does not give the file.
    #[error("cannot read the weights `{}`: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is something else, or damaged.
    #[error("`{}` is no file of weights in the safetensors format, or damaged: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is another one.
    #[error("`{}` has the hash {found}, and {expected} is expected: it is not the file of weights that was meant, or damaged", .path.display())]
    Hash {
        /// The file.
        path: PathBuf,
        /// What it has.
        found: String,
        /// What it should have.
        expected: String,
    },
}

impl Tensors {
    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let quoted = json::text;
        let mut members = Vec::new();
        if !self.about.is_empty() {
            let about: Vec<String> = self
                .about
                .iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)))
                .collect();
            members.push(format!("\"__metadata__\":{{{}}}", about.join(",")));
        }
        let mut at = 0;
        for tensor in &self.list {
            let shape: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
            let end = at + 8 * tensor.values.len();
            members.push(format!(
                "{}:{{\"dtype\":\"F64\",\"shape\":[{}],\"data_offsets\":[{at},{end}]}}",
                quoted(&tensor.name),
                shape.join(",")
            ));
            at = end;
        }
        let mut header = format!("{{{}}}", members.join(","));
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.into_bytes());
        bytes
            .extend(self.list.iter().flat_map(|tensor| &tensor.values).flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// Reads a file, and checks its hash if one is expected.
    ///
    /// # Errors
    /// [`WeightsError`] if it cannot be read, is something else, or has another hash.
    pub fn read(path: &Path, expected: Option<&str>) -> Result<Tensors, WeightsError> {
        let path = path.to_owned();
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes));
        if let Err(source) = read {
            return Err(WeightsError::Read { path, source });
        }
        if let Some(expected) = expected {
            let found = sha256(&bytes);
            if found != expected {
                return Err(WeightsError::Hash { path, found, expected: expected.to_owned() });
            }
        }
        Tensors::of(&bytes).map_err(|what| WeightsError::Damaged { path, what })
    }

    /// What the bytes of a file say.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of(bytes: &[u8]) -> Result<Tensors, String> {
        let cut_off = || "it is cut off".to_owned();
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut_off)?;
        let length = u64::from_le_bytes(*length);
        if length > LONGEST_HEADER || length > rest.len() as u64 {
            return Err(cut_off());
        }
        let (header, data) = rest.split_at(length as usize);
        let header = std::str::from_utf8(header).map_err(|_| "its header is no text".to_owned())?;
        let Value::Object(members) = json::read(header)? else {
            return Err("its header is no object".to_owned());
        };
        let mut tensors = Tensors::default();
        let mut places = Vec::new();
        for (name, value) in members {
            let Value::Object(fields) = value else { return Err(format!("`{name}` is no object")) };
            if name == "__metadata__" {
                for (key, value) in fields {
                    let Value::Text(value) = value else { return Err(format!("`{key}` is no text")) };
                    tensors.about.push((key, value));
                }
                continue;
            }
            let field = |key: &str| {
                let found = fields.iter().find(|(other, _)| other == key).map(|(_, value)| value);
                found.ok_or_else(|| format!("`{name}` has no `{key}`"))
            };
            let list = |key: &str| {
                field(key)?.whole_numbers().ok_or_else(|| format!("`{key}` of `{name}` are no whole numbers"))
            };
            let width = match field("dtype")? {
                Value::Text(kind) if kind == "F64" => 8,
                Value::Text(kind) if kind == "F32" => 4,
                Value::Text(kind) => {
                    return Err(format!("`{name}` is of the kind {kind}: F64 and F32 are read"));
                }
                _ => return Err(format!("the kind of `{name}` is no text")),
            };
            let (shape, offsets) = (list("shape")?, list("data_offsets")?);
            let &[begin, end] = &offsets[..] else { return Err(format!("`{name}` has not two offsets")) };
            let count = shape.iter().try_fold(width, |product: usize, &length| product.checked_mul(length));
            let numbers = data.get(begin..end).filter(|numbers| Some(numbers.len()) == count);
            let numbers = numbers.ok_or_else(|| format!("the numbers of `{name}` are not where it says"))?;
            let values: Vec<f64> = match width {
                8 => numbers.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect(),
                _ => numbers
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .map(|number| f64::from(f32::from_le_bytes(*number)))
                    .collect(),
            };
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(format!("`{name}` has {value} in it"));
            }
            if tensors.list.iter().any(|other| other.name == name) {
                return Err(format!("`{name}` stands twice"));
            }
            places.push((begin, end));
            tensors.list.push(Tensor { name, shape, values });
        }
        // Without gaps, and nothing is read twice.
        places.sort_unstable();
        let mut at = 0;
        for (begin, end) in places {
            if begin != at {
                return Err("its tensors do not stand one after the other".to_owned());
            }
            at = end;
        }
        if at != data.len() {
            return Err("there is more in it than its header says".to_owned());
        }
        Ok(tensors)
    }

    /// The names of the networks in it: of which there are `NAME.0.weight`, `NAME.0.bias` and so on.
    #[must_use]
    pub fn networks(&self) -> Vec<String> {
        let first = |tensor: &Tensor| tensor.name.strip_suffix(".0.weight").map(str::to_owned);
        self.list.iter().filter_map(first).collect()
    }

    /// A network in it, with the units that are named by `activation` in what is known of it.
    ///
    /// # Errors
    /// What is missing, or does not fit.
    pub fn network(&self, name: &str) -> Result<Network<f64>, String> {
        let units = self
            .about("activation")
            .ok_or("it does not say what units are: `activation` is missing in its texts")?;
        let activation: Activation = units.parse().map_err(|error| format!("{error}"))?;
        let (mut widths, mut parameters): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for number in 0.. {
            let (weight, bias) = (format!("{name}.{number}.weight"), format!("{name}.{number}.bias"));
            let Some(weights) = self.get(&weight) else { break };
            let biases = self.get(&bias).ok_or_else(|| format!("`{bias}` is missing"))?;
            let (&[rows, columns], &[count]) = (&weights.shape[..], &biases.shape[..]) else {
                return Err(format!("`{weight}` has not two axes, or `{bias}` not one"));
            };
            if count != rows || widths.last().is_some_and(|width| *width != columns) {
                return Err(format!("`{weight}` does not fit what is beside it"));
            }
            if widths.is_empty() {
                widths.push(columns);
            }
            widths.push(rows);
            parameters.extend(weights.values.iter().chain(&biases.values));
        }
        let network = Network::new(&widths, activation).map_err(|error| error.to_string())?;
        network.with_parameters(&parameters).map_err(|error| error.to_string())
    }

    /// An array.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.list.iter().find(|tensor| tensor.name == name)
    }

    /// What is known of them by a name.
    #[must_use]
    pub fn about(&self, name: &str) -> Option<&str> {
        self.about.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Tensor, Tensors};

    fn example() -> Tensors {
        Tensors {
            about: vec![("model".into(), "param m = 1 # \"é\"\n".into()), ("of".into(), String::new())],
            list: vec![
                Tensor {
                    name: "a.weight".into(),
                    shape: vec![2, 3],
                    values: vec![0.1, -0.0, 1e-310, 4.0, 5.0, 6.0],
                },
                Tensor { name: "m".into(), shape: vec![], values: vec![7.0] },
            ],
        }
    }

    #[test]
    fn weights_read_back_to_the_same_bits() {
        let (tensors, bytes) = (example(), example().bytes());
        assert_eq!(Tensors::of(&bytes).unwrap(), tensors);
        assert!(bytes.len() % 8 == 0);
    }

    #[test]
    fn single_precision_of_other_writers_is_read() {
        let header = r#"{"w": {"shape": [2], "dtype": "F32", "data_offsets": [0, 8]} }"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend([0.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()));
        assert_eq!(Tensors::of(&bytes).unwrap().get("w").unwrap().values, [0.5, -2.0]);
    }

    #[test]
    fn hostile_files_are_refused() {
        let bytes = example().bytes();
        for end in 0..bytes.len() {
            assert!(Tensors::of(&bytes[..end]).is_err(), "{end}");
        }
        let with = |header: &str, data: usize| {
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend(header.bytes());
            bytes.extend(vec![0; data]);
            Tensors::of(&bytes)
        };
        for header in [
            "",
            "[]",
            "{",
            "{\"a\": 1}",
            "{\"a\": {}}",
            r#"{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 16]}}"#,
            r#"{"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}"#,
            r#"{"a": {"dtype": "F64", "shape": [18446744073709551615, 9], "data_offsets": [0, 8]}}"#,
            r#"{"a": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}"#,
            r#"{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}, "b": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}"#,
            r#"{"a": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}} x"#,
        ] {
            assert!(with(header, 8).is_err(), "{header}");
        }
        assert!(with(&"[".repeat(100_000), 0).is_err());
        let mut more = bytes.clone();
        more.push(0);
        assert!(Tensors::of(&more).unwrap_err().contains("more in it"));
        let mut wrong = bytes;
        let last = wrong.len() - 8;
        wrong[last..].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(Tensors::of(&wrong).unwrap_err().contains("NaN"));
    }
}
