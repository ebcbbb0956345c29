//! Random numbers by counting: what is drawn for a trajectory depends on the seed, its number and the dimension, and on nothing else, so that shards,
//! threads and resumed runs draw the same.

/// Philox4x32-10: ten rounds that mix a counter under a key into 128 random bits
/// (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, SC '11, doi:10.1145/2063384.2063405).
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const ROUNDS: u32 = 10;
    const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    let product = |a: u32, b: u32| {
        let wide = u64::from(a) * u64::from(b);
        ((wide >> 32) as u32, wide as u32)
    };
    for _ in 0..ROUNDS {
        let (high, low) = product(MULTIPLIERS[0], counter[0]);
        let (above, below) = product(MULTIPLIERS[1], counter[2]);
        counter = [above ^ counter[1] ^ key[0], below, high ^ counter[3] ^ key[1], low];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// What random bits are for. Different purposes never share bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// The value of a trajectory.
    Draw,
    /// The keys of a permutation.
    Permutation,
    /// The digits that shift a sequence.
    Shift,
}

/// 64 random bits for a trajectory (or a round) and a dimension.
pub(crate) fn bits(seed: u64, index: u64, dimension: u32, purpose: Purpose) -> u64 {
    let counter = [index as u32, (index >> 32) as u32, dimension, purpose as u32];
    let [a, b, ..] = philox(counter, [seed as u32, (seed >> 32) as u32]);
    u64::from(a) << 32 | u64::from(b)
}

/// The multiple of 2⁻⁵³ in [0, 1) that bits stand for.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number strictly between 0 and 1 that bits stand for: half a step off the multiples of 2⁻⁵².
pub(crate) fn inner(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// The point of an interval at a part of its length.
pub(crate) fn between(low: f64, high: f64, part: f64) -> f64 {
    (low + (high - low) * part).clamp(low, high)
}

/// Number `step` of as many equal steps as `last` from a number to another: (low·(last − step) + high·step)/last, which meets both ends, is the same from
/// either side, and gives round numbers where there are any.
pub(crate) fn spaced(low: f64, high: f64, step: u64, last: u64) -> f64 {
    // A multiple that is divided again may be off by a bit.
    if step == 0 || step == last {
        return if step == 0 { low } else { high };
    }
    let (done, left, all) = (step as f64, (last - step) as f64, last as f64);
    let sum = low * left + high * done;
    if sum.is_finite() { sum / all } else { low * (left / all) + high * (done / all) }
}

/// The quantile of the standard normal distribution: x with Φ(x) = u, to about 16 digits (M. J. Wichura, algorithm AS 241,
/// Appl. Stat. 37 (1988) 477, doi:10.2307/2347330).
pub(crate) fn normal_quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(&MIDDLE, r);
    }
    let tail = if q < 0.0 { u } else { 1.0 - u };
    // The same on every machine, which the system's own logarithm need not be.
    let r = (-libm::log(tail)).sqrt();
    let x = if r <= 5.0 { ratio(&SIDES, r - 1.6) } else { ratio(&TAILS, r - 5.0) };
    x.copysign(q)
}

type Rational = [[f64; 8]; 2];

fn ratio([above, below]: &Rational, r: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c);
    polynomial(above) / polynomial(below)
}

const MIDDLE: Rational = [
    [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
const SIDES: Rational = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
const TAILS: Rational = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_9,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with Random123.
    #[test]
    fn philox_gives_the_known_answers() {
        let known = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([!0; 4], [!0; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in known {
            assert_eq!(philox(counter, key), answer);
        }
    }

    /// χ² of 256 cells with 2¹⁸ draws: 255 ± 22.6, of the values themselves, and of pairs of neighbours in index, dimension and seed.
    #[test]
    fn draws_are_uniform_and_neighbours_independent() {
        const DRAWS: u64 = 1 << 18;
        let draw = |seed, index, dimension| bits(seed, index, dimension, Purpose::Draw);
        let chi = |name: &str, cell: &dyn Fn(u64) -> u64| {
            let mut counts = [0.0; 256];
            (0..DRAWS).for_each(|i| counts[cell(i) as usize] += 1.0);
            let mean = DRAWS as f64 / 256.0;
            let chi: f64 = counts.iter().map(|n| (n - mean) * (n - mean) / mean).sum();
            assert!((chi - 255.0).abs() < 4.0 * 22.6, "{name}: {chi}");
        };
        let pair = |a: u64, b: u64| (a >> 60) << 4 | b >> 60;
        chi("high bits", &|i| draw(1, i, 0) >> 56);
        chi("low bits", &|i| draw(1, i, 0) & 255);
        chi("indices", &|i| pair(draw(1, i, 0), draw(1, i + 1, 0)));
        chi("dimensions", &|i| pair(draw(1, i, 0), draw(1, i, 1)));
        chi("seeds", &|i| pair(draw(1, i, 0), draw(2, i, 0)));
        chi("far indices", &|i| pair(draw(1, i, 0), draw(1, i + (1 << 32), 0)));
    }

    /// Moments of 2¹⁸ draws within five standard errors: 0, 1, 0, 3 of the normal distribution, 1/2 and 1/12 of the uniform one.
    #[test]
    fn moments_are_those_of_the_distributions() {
        const DRAWS: u64 = 1 << 18;
        let moment = |f: &dyn Fn(u64) -> f64| {
            (0..DRAWS).map(|i| f(bits(7, i, 3, Purpose::Draw))).sum::<f64>() / DRAWS as f64
        };
        let error = |variance: f64| 5.0 * (variance / DRAWS as f64).sqrt();
        assert!((moment(&unit) - 0.5).abs() < error(1.0 / 12.0));
        assert!((moment(&|b| (unit(b) - 0.5).powi(2)) - 1.0 / 12.0).abs() < error(1.0 / 180.0));
        for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let found = moment(&|b| normal_quantile(inner(b)).powi(power));
            assert!((found - mean).abs() < error(variance), "moment {power}: {found}");
        }
    }

    #[test]
    fn steps_meet_both_ends() {
        assert_eq!([0, 29, 100].map(|step| spaced(0.0, 100.0, step, 100)), [0.0, 29.0, 100.0]);
        assert_eq!([0, 1, 2].map(|step| spaced(-0.3, 0.3, step, 2)), [-0.3, 0.0, 0.3]);
        let any = (1..999).map(|i| 1.0 / f64::from(i));
        assert!(any.zip(2..).all(|(x, last)| spaced(-x, x, last, last) == x && spaced(x, 2.0, 0, last) == x));
        let large = f64::MAX / 2.0;
        assert_eq!([0, 5, 10].map(|step| spaced(-large, large, step, 10)), [-large, 0.0, large]);
    }

    /// Against the distribution itself, (1 + erf(x/√2))/2, and the values of scipy.special.ndtri.
    #[test]
    fn the_normal_quantile_inverts_the_distribution() {
        let known = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.1, -1.281_551_565_544_600_4),
            (1e-10, -6.361_340_902_404_056),
            (1e-16, -8.222_082_216_130_435),
        ];
        for (u, x) in known {
            let found = normal_quantile(u);
            assert!((found - x).abs() <= 4e-16 * x.abs(), "{u}: {found} and {x}");
        }
        for i in 1..2000 {
            let u = f64::from(i) / 4000.0;
            let back = 0.5 * libm::erfc(-normal_quantile(u) / std::f64::consts::SQRT_2);
            assert!((back - u).abs() <= 4e-15 * u, "{u} gives {back}");
        }
    }
}
