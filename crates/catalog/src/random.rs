//! Random numbers that a seed repeats.

/// SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, doi:10.1145/2714064.2660195), and normal numbers made of it.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [low, high), all alike.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normal number with mean 0 and variance 1 (G. E. P. Box and M. E. Muller, doi:10.1214/aoms/1177706645).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.between(0.0, 1.0)).ln()).sqrt(); // 1 − u is never 0
        radius * self.between(0.0, std::f64::consts::TAU).cos()
    }

    /// Normal numbers.
    pub(crate) fn normals<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.normal())
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
