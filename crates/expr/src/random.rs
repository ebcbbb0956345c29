//! Random numbers that a seed repeats, the same on every machine.

/// What SplitMix64 adds in each step: 2⁶⁴ by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, doi:10.1145/2714064.2660195): small, seeded, and good enough for starts and tests.
///
/// ```
/// use leastaction_expr::Random;
/// let (mut one, mut two) = (Random::new(7), Random::new(7));
/// assert_eq!(one.between(-1.0, 1.0), two.between(-1.0, 1.0));
/// assert!(one.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The sequence of a seed from a place on, which need not be reached one by one.
    #[must_use]
    pub fn at(seed: u64, place: u64) -> Random {
        Random(seed.wrapping_add(place.wrapping_mul(STEP)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        Random::mix(self.0)
    }

    /// 64 bits mixed so that each depends on all; no two give the same.
    #[must_use]
    pub fn mix(mut z: u64) -> u64 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to n − 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number in [low, high), all alike.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normal number with mean 0 and variance 1 (G. E. P. Box and M. E. Muller, doi:10.1214/aoms/1177706645).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.between(0.0, 1.0)).ln()).sqrt(); // 1 − u is never 0
        radius * self.between(0.0, std::f64::consts::TAU).cos()
    }

    /// Normal numbers.
    pub fn normals<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.normal())
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
    }

    /// An element of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The published first numbers of SplitMix64 from seed 1234567 (S. Vigna's reference implementation).
    #[test]
    fn bits_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let found: [u64; 3] = std::array::from_fn(|_| random.bits());
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// The moments of a normal distribution are 0, 1, 0, 3, each to five standard errors.
    #[test]
    fn normal_numbers_have_normal_moments() {
        let (mut random, n) = (Random::new(3), 200_000);
        let numbers: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        for (power, (mean, variance)) in (1..).zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0_f64)]) {
            let found = numbers.iter().map(|x| x.powi(power)).sum::<f64>() / f64::from(n);
            assert!((found - mean).abs() < 5.0 * (variance / f64::from(n)).sqrt(), "{power}: {found}");
        }
    }
}
