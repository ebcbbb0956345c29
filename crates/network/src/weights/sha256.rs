//! The hash by which files of weights are distinguished: SHA-256 (FIPS 180-4, doi:10.6028/NIST.FIPS.180-4).

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the square roots of the first 8.
const ROUNDS: [u32; 64] = roots::<64>(3);
const START: [u32; 8] = roots::<8>(2);

/// Found by bisection in whole numbers: the largest r with rⁿ ≤ p·2^(32n), whose lowest 32 bits are those after the point.
const fn roots<const N: usize>(power: u32) -> [u32; N] {
    let mut list = [0; N];
    let (mut count, mut candidate) = (0, 2_u64);
    while count < N {
        let (mut divisor, mut prime) = (2, true);
        while divisor * divisor <= candidate {
            prime = prime && !candidate.is_multiple_of(divisor);
            divisor += 1;
        }
        if prime {
            list[count] = fraction(candidate, power);
            count += 1;
        }
        candidate += 1;
    }
    list
}

const fn fraction(prime: u64, power: u32) -> u32 {
    // p < 512, so that cube roots are below 8 and square roots of the first ones below 5.
    let (mut low, mut high) = (0_u64, 8 << 32);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if not_above(middle, prime, power) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}

/// Whether rⁿ ≤ p·2^(32n).
const fn not_above(r: u64, prime: u64, power: u32) -> bool {
    let square = r as u128 * r as u128;
    if power == 2 {
        return square <= (prime as u128) << 64;
    }
    // r³ has up to 105 bits.
    square * r as u128 <= (prime as u128) << 96
}

/// The hash of bytes, as 64 hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let mut state = START;
    let mut padded = bytes[bytes.len() / 64 * 64..].to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((8 * bytes.len() as u64).to_be_bytes());
    for block in bytes.chunks_exact(64).chain(padded.chunks_exact(64)) {
        digest(&mut state, block);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn digest(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for i in 16..64 {
        let (a, b) = (words[i - 15], words[i - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let other = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        words[i] = words[i - 16].wrapping_add(small).wrapping_add(words[i - 7]).wrapping_add(other);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(ROUNDS) {
        let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let one = h.wrapping_add(turned).wrapping_add(chosen).wrapping_add(constant).wrapping_add(*word);
        let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = turned.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    for (sum, term) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(term);
    }
}

#[cfg(test)]
mod tests {
    use super::sha256;

    /// The examples of FIPS 180-4's companion, and lengths about the size of a block.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let two = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha256(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        let million = vec![b'a'; 1_000_000];
        assert_eq!(sha256(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
