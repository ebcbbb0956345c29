//! Words and numbers of a file, with the place where each stands.

use super::FormatError;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(usize),
    /// A byte, from 0.
    Byte(usize),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Reads words that white space separates, lines, and numbers in binary, from the front to the back.
#[derive(Clone)]
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

/// The beginning of something that stands in a file, for messages.
pub(super) fn shown(bytes: &[u8]) -> String {
    const LENGTH: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LENGTH)]);
    let clean = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut short: String = clean.take(LENGTH).collect();
    if short.len() < bytes.len() {
        short.push('…');
    }
    short
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, at: 0, line: 1 }
    }

    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// How many bytes are left: nothing in a file can be more often than that.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Room for so many of which each takes some bytes of the file, however many are announced.
    pub(super) fn room(&self, announced: usize, bytes_each: usize) -> usize {
        announced.min(self.left() / bytes_each + 1)
    }

    /// The next word, if there is one.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(&rest[..end])
    }

    /// The next word.
    pub(super) fn expect(&mut self, expected: &'static str) -> Result<&'a [u8], FormatError> {
        self.word().ok_or(FormatError::Ended { place: self.place(), expected })
    }

    pub(super) fn unexpected(&self, expected: &'static str, found: &[u8]) -> FormatError {
        FormatError::Unexpected { place: self.place(), expected, found: shown(found) }
    }

    /// The next word as a number.
    pub(super) fn number<T: std::str::FromStr>(&mut self, expected: &'static str) -> Result<T, FormatError> {
        let word = self.expect(expected)?;
        self.parse(word, expected)
    }

    /// A word as a number.
    pub(super) fn parse<T: std::str::FromStr>(
        &self,
        word: &[u8],
        expected: &'static str,
    ) -> Result<T, FormatError> {
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.unexpected(expected, word))
    }

    /// Three finite coordinates.
    pub(super) fn vector(&mut self) -> Result<[f64; 3], FormatError> {
        let mut vector = [0.0f64; 3];
        for x in &mut vector {
            let word = self.expect("a coordinate")?;
            *x = self.parse(word, "a coordinate")?;
            if !x.is_finite() {
                return Err(self.unexpected("a finite coordinate", word));
            }
        }
        Ok(vector)
    }

    /// The rest of the line, without its end.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.line += usize::from(end < rest.len());
        rest[..end].trim_ascii()
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next bytes, as they are.
    pub(super) fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], FormatError> {
        if count > self.left() {
            return Err(FormatError::Ended { place: Place::Byte(self.bytes.len()), expected });
        }
        let taken = &self.bytes[self.at..][..count];
        self.at += count;
        self.line += taken.iter().filter(|&&byte| byte == b'\n').count();
        Ok(taken)
    }
}
