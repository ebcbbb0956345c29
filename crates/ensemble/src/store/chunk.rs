//! A chunk's file: what each reduction makes of its trajectories.
//!
//! ```text
//! "LACHUNK1"  identity of the run  number of the chunk  number of parts
//! for each part:  length of the summary  columns  rows
//! for each part:  the summary  the columns, one after the other
//! check of all before
//! ```
//!
//! All numbers have 64 bits, the lowest first.

use super::sheet::Source;
use crate::bytes::{Reader, Writer};
use leastaction_integrate::checksum;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"LACHUNK1";

/// What a reduction makes of a chunk.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Part {
    /// A summary.
    pub summary: Vec<u8>,
    /// Columns of rows, all equally long.
    pub columns: Vec<Vec<f64>>,
}

impl Part {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// What was read of a chunk: the summaries, and where the columns are.
pub(crate) struct StoredChunk {
    pub(crate) path: PathBuf,
    pub(crate) parts: Vec<(Vec<u8>, Source)>,
}

pub(super) fn bytes(identity: u64, number: u64, parts: &[Part]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    [identity, number, parts.len() as u64].into_iter().for_each(|whole| bytes.whole(whole));
    for part in parts {
        let sizes = [part.summary.len(), part.columns.len(), part.rows()];
        sizes.into_iter().for_each(|size| bytes.whole(size as u64));
    }
    for part in parts {
        bytes.extend(&part.summary);
        part.columns.iter().flatten().for_each(|&value| bytes.number(value));
    }
    let check = checksum(bytes.iter().copied());
    bytes.whole(check);
    bytes
}

/// A chunk of this run with this number; `None` if it is something else, or damaged.
pub(super) fn read(bytes: &[u8], identity: u64, number: u64, path: &Path) -> Option<StoredChunk> {
    let (content, last) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    if Reader(last).whole()? != checksum(content.iter().copied()) {
        return None;
    }
    let mut reader = Reader(content);
    if reader.bytes(8)? != MAGIC || reader.whole()? != identity || reader.whole()? != number {
        return None;
    }
    let mut sizes = Vec::new();
    for _ in 0..reader.count(24)? {
        sizes.push([reader.whole()?, reader.whole()?, reader.whole()?]);
    }
    let (mut parts, path): (_, Arc<PathBuf>) = (Vec::new(), Arc::new(path.to_owned()));
    for [summary, columns, rows] in sizes {
        let summary = reader.bytes(usize::try_from(summary).ok()?)?.to_vec();
        let at = (content.len() - reader.0.len()) as u64;
        let size = columns.checked_mul(rows)?.checked_mul(8)?;
        reader.bytes(usize::try_from(size).ok()?)?;
        parts.push((summary, Source::File { path: path.clone(), at, rows }));
    }
    reader.is_done().then(|| StoredChunk { path: path.to_path_buf(), parts })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction_testing::Random;

    /// Every change of a byte is noticed, and so is every cut.
    #[test]
    fn damage_is_noticed() {
        let parts = [
            Part { summary: vec![1, 2, 3], columns: Vec::new() },
            Part { summary: Vec::new(), columns: vec![vec![0.5, -0.0], vec![f64::NAN, 1e300]] },
        ];
        let whole = bytes(7, 3, &parts);
        let path = Path::new("3.chunk");
        let found = read(&whole, 7, 3, path).unwrap();
        assert_eq!(found.parts[0].0, [1, 2, 3]);
        assert!(matches!(found.parts[1].1, Source::File { rows: 2, .. }));
        assert!(read(&whole, 8, 3, path).is_none() && read(&whole, 7, 4, path).is_none());
        let mut random = Random::new(1);
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << random.below(8);
            assert!(read(&damaged, 7, 3, path).is_none(), "byte {place}");
            assert!(read(&whole[..place], 7, 3, path).is_none(), "{place} bytes");
        }
        // What passes the check may still say nonsense.
        for _ in 0..2000 {
            let mut nonsense = whole[..whole.len() - 8].to_vec();
            (0..1 + random.below(4)).for_each(|_| nonsense[24 + random.below(80)] = random.bits() as u8);
            let check = checksum(nonsense.iter().copied());
            nonsense.whole(check);
            read(&nonsense, 7, 3, path);
        }
    }
}
