//! A check of what is stored.

/// FNV-1a, 64 bits: each step is invertible, so no change of one byte goes unnoticed
/// (G. Fowler, L. C. Noll and K.-P. Vo, isthe.com/chongo/tech/comp/fnv).
#[must_use]
pub fn checksum(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    /// A value that the authors give.
    #[test]
    fn the_check_is_fnv_1a() {
        assert_eq!(super::checksum(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
