//! The manifest: what is run, in lines of a word and what it is.

use super::StoreError;
use crate::{ReduceError, SampleError};
use leastaction_integrate::checksum;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Which part of all chunks: number i of n, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Part i of n; `None` if the text is not of this form.
    #[must_use]
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// Of how many parts it is one.
    #[must_use]
    pub fn of(self) -> u64 {
        self.of
    }

    /// The chunks of this part: all parts together have each chunk once, and about as many as the others.
    #[must_use]
    pub fn chunks(self, all: u64) -> std::ops::Range<u64> {
        let edge = |i: u64| (u128::from(all) * u128::from(i) / u128::from(self.of)) as u64;
        edge(self.number - 1)..edge(self.number)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A text is not a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a shard: write i/n with i from 1 to n, such as 1/4")]
pub struct ShardError {
    /// The text.
    pub text: String,
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let numbers =
            text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let shard = numbers.and_then(|(number, of)| Shard::new(number, of));
        shard.ok_or_else(|| ShardError { text: text.to_owned() })
    }
}

/// What is run: a list of words, each with what it is. A word may stand more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    entries: Vec<(String, String)>,
    shard: Shard,
}

const TITLE: &str = "leastaction ensemble 1";
/// What the last two lines begin with.
const SHARD: &str = "shard";
const CHECK: &str = "check";

impl Manifest {
    /// The name of its file.
    pub const NAME: &str = "manifest";

    pub(crate) fn new(entries: Vec<(String, String)>, shard: Shard) -> Manifest {
        let plain = |text: String| text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        let entries = entries.into_iter().map(|(key, value)| (key.replace(' ', "-"), plain(value)));
        Manifest { entries: entries.collect(), shard }
    }

    /// The same for the whole.
    pub(crate) fn of_the_whole(self) -> Manifest {
        Manifest { shard: Shard::WHOLE, ..self }
    }

    /// What stands under a word.
    pub fn get(&self, key: &str) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(move |(other, _)| other == key).map(|(_, value)| value.as_str())
    }

    /// All words, and what they are.
    #[must_use]
    pub fn entries(&self) -> &[(String, String)] {
        &self.entries
    }

    /// The parameters of the system that is run.
    ///
    /// # Errors
    /// [`ManifestError::Lacks`] if they are not written as a name and a number each.
    pub fn parameters(&self) -> Result<Vec<(String, f64)>, ManifestError> {
        let parameter = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        let all = self.get("parameters").flat_map(str::split_whitespace).map(parameter);
        all.collect::<Option<_>>().ok_or(ManifestError::Lacks("parameters"))
    }

    /// A number that stands under a word.
    pub(crate) fn whole(&self, key: &str) -> Option<u64> {
        self.get(key).next()?.parse().ok()
    }

    /// Which part of it.
    #[must_use]
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// A number that says whether two are the same, but for their shards.
    pub(crate) fn identity(&self) -> u64 {
        checksum(self.lines().bytes())
    }

    fn lines(&self) -> String {
        self.entries.iter().map(|(key, value)| format!("{key} {value}\n")).collect()
    }

    pub(crate) fn load(directory: &Path) -> Result<Manifest, StoreError> {
        let path = directory.join(Manifest::NAME);
        if !path.exists() {
            return Err(StoreError::NoManifest { directory: directory.to_owned() });
        }
        let text = std::fs::read_to_string(&path)
            .map_err(|source| StoreError::Read { path: path.clone(), source })?;
        text.parse().map_err(|source| StoreError::BadManifest { path, source })
    }

    /// Whether this one, of a directory, is the same as another one.
    pub(crate) fn check_same(
        &self,
        here: &Manifest,
        directory: &Path,
        shard: bool,
    ) -> Result<(), StoreError> {
        let differs = |key: &str, there: String, here: String| {
            let (directory, key) = (directory.to_owned(), key.to_owned());
            Err(StoreError::Differs { directory, key, there, here })
        };
        let keys = self.entries.iter().chain(&here.entries).map(|(key, _)| key.as_str());
        for key in keys {
            let all = |manifest: &Manifest| manifest.get(key).collect::<Vec<_>>().join("; ");
            if !self.get(key).eq(here.get(key)) {
                let (there, here) = (all(self), all(here));
                let (there, here) = first_difference(&there, &here);
                return differs(key, there.to_owned(), here.to_owned());
            }
        }
        match shard && self.shard != here.shard {
            true => differs(SHARD, self.shard.to_string(), here.shard.to_string()),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = format!("{TITLE}\n{}{SHARD} {}\n", self.lines(), self.shard);
        writeln!(f, "{body}{CHECK} {:016x}", checksum(body.bytes()))
    }
}

/// What is wrong with a manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Nothing is in it.
    #[error("it is empty")]
    Empty,
    /// It is something else.
    #[error("it does not begin with `{TITLE}`")]
    Title,
    /// It is not as it was written.
    #[error("it was changed, or cut off")]
    Changed,
    /// An entry that every manifest has is not there.
    #[error("it does not say its {0}")]
    Lacks(&'static str),
    /// It is of a shard that cannot be.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// Its sampling cannot be.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A reduction in it cannot be.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
}

impl FromStr for Manifest {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<Manifest, ManifestError> {
        let (head, last) = text.trim_end().rsplit_once('\n').ok_or(ManifestError::Empty)?;
        let body = format!("{head}\n");
        let check = last.strip_prefix(CHECK).and_then(|check| u64::from_str_radix(check.trim(), 16).ok());
        let mut lines = body.lines();
        if lines.next() != Some(TITLE) {
            return Err(ManifestError::Title);
        }
        if check != Some(checksum(body.bytes())) {
            return Err(ManifestError::Changed);
        }
        let mut entries: Vec<(String, String)> = lines
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let shard = entries.pop().filter(|(key, _)| key == SHARD).ok_or(ManifestError::Lacks(SHARD))?;
        Ok(Manifest { entries, shard: shard.1.parse()? })
    }
}

/// The first line in which two entries differ, of texts that have several.
fn first_difference<'a>(there: &'a str, here: &'a str) -> (&'a str, &'a str) {
    let lines = |text: &'a str| text.split("\\n").chain(std::iter::repeat(""));
    let most = there.len().max(here.len()) + 1;
    let mut pairs = lines(there).zip(lines(here)).take(most);
    pairs.find(|(there, here)| there != here).unwrap_or((there, here))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let entries =
            [("seed", "7"), ("sample", "x=uniform(0, 1)"), ("sample", "y = 2"), ("text", "a\nb \\n")];
        let entries = entries.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        Manifest::new(entries, Shard::new(2, 3).unwrap())
    }

    #[test]
    fn manifests_are_read_as_written() {
        let manifest = manifest();
        assert_eq!(manifest.to_string().parse::<Manifest>().unwrap(), manifest);
        assert_eq!(manifest.get("sample").count(), 2);
        let text = manifest.to_string();
        for place in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            // Spaces after the check do not matter.
            assert!(changed.parse::<Manifest>().is_err(), "{changed}");
        }
    }

    #[test]
    fn what_differs_is_told() {
        let (one, directory) = (manifest(), Path::new("d"));
        let mut other = one.clone();
        other.entries[1].1 = "x=uniform(0, 2)".to_owned();
        let message = one.check_same(&other, directory, true).unwrap_err().to_string();
        assert!(
            message
                .contains("its sample is `x=uniform(0, 1); y = 2`, and here it is `x=uniform(0, 2); y = 2`"),
            "{message}"
        );
        // Of a text, the line.
        let mut other = one.clone();
        other.entries[3].1 = other.entries[3].1.replace('a', "c");
        let message = one.check_same(&other, directory, true).unwrap_err().to_string();
        assert!(message.contains("its text is `a`, and here it is `c`"), "{message}");
        let mut other = one.clone();
        other.entries.pop();
        assert!(
            one.check_same(&other, directory, true).is_err()
                && other.check_same(&one, directory, true).is_err()
        );
        let mut other = one.clone();
        other.shard = Shard::WHOLE;
        assert!(one.check_same(&other, directory, true).is_err());
        assert!(one.check_same(&other, directory, false).is_ok() && one.identity() == other.identity());
    }

    /// Every chunk is in one shard, whatever the numbers.
    #[test]
    fn shards_share_chunks_out() {
        for all in [0, 1, 2, 7, 100, u64::MAX] {
            for of in [1, 2, 3, 7, 64] {
                let mut end = 0;
                for number in 1..=of {
                    let chunks = Shard::new(number, of).unwrap().chunks(all);
                    assert_eq!(chunks.start, end);
                    assert!(chunks.end - chunks.start <= all.div_ceil(of));
                    end = chunks.end;
                }
                assert_eq!(end, all);
            }
        }
        assert!(Shard::new(0, 2).is_none() && Shard::new(3, 2).is_none());
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        assert!(["3/2", "x", "1", "-1/2", "0/0"].iter().all(|text| text.parse::<Shard>().is_err()));
    }
}
