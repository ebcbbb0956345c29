//! Numbers as bytes, the lowest first.

/// Reads numbers from bytes. `None` after the last one.
#[derive(Clone, Debug)]
pub struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// This number of bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A whole number.
    pub fn whole(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// How many items of a size follow: no more than there is room for.
    pub fn count(&mut self, size: usize) -> Option<usize> {
        let count = usize::try_from(self.whole()?).ok()?;
        (count.checked_mul(size.max(1))? <= self.0.len()).then_some(count)
    }

    /// A number.
    pub fn number(&mut self) -> Option<f64> {
        Some(f64::from_bits(self.whole()?))
    }

    /// Whether all was read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes numbers as [`Reader`] reads them.
pub trait Writer {
    /// A whole number.
    fn whole(&mut self, value: u64);

    /// A number.
    fn number(&mut self, value: f64) {
        self.whole(value.to_bits());
    }
}

impl Writer for Vec<u8> {
    fn whole(&mut self, value: u64) {
        self.extend(value.to_le_bytes());
    }
}
