//! The chain of pendulums as an expert writes it by hand: the yardstick for generated code.
//!
//! Unit masses on unit rods, absolute angles. With k = n − max(i, j), counted from zero,
//! Mᵢⱼ = k cos(θᵢ − θⱼ) and fᵢ = −Σⱼ k sin(θᵢ − θⱼ) ωⱼ² − (n − i) g sin θᵢ; the accelerations solve M α = f.

const G: f64 = 9.81;

/// The double pendulum in closed form.
#[inline(never)]
pub(crate) fn double(y: &[f64], out: &mut [f64]) {
    let [a, b, u, v] = *y else { return };
    let (s, c) = (a - b).sin_cos();
    let p = -v * v * s - 2.0 * G * a.sin();
    let q = u * u * s - G * b.sin();
    let inverse = 1.0 / (1.0 + s * s);
    out[0] = u;
    out[1] = v;
    out[2] = (p - c * q) * inverse;
    out[3] = (2.0 * q - c * p) * inverse;
}

/// A chain of N pendulums.
#[inline(never)]
pub(crate) fn chain<const N: usize>(y: &[f64], out: &mut [f64]) {
    let (angles, rates) = y.split_at(N);
    let (mut s, mut c) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        (s[i], c[i]) = angles[i].sin_cos();
    }
    let mut m = [[0.0; N]; N];
    let mut f = [0.0; N];
    for i in 0..N {
        f[i] = -((N - i) as f64) * G * s[i];
        for j in 0..i {
            let k = (N - i) as f64;
            m[i][j] = k * (c[i] * c[j] + s[i] * s[j]);
            let turn = k * (s[i] * c[j] - c[i] * s[j]);
            f[i] -= turn * rates[j] * rates[j];
            f[j] += turn * rates[i] * rates[i];
        }
        m[i][i] = (N - i) as f64;
    }
    let mut inverse = [0.0; N];
    for j in 0..N {
        inverse[j] = 1.0 / m[j][j];
        for i in j + 1..N {
            let factor = m[i][j] * inverse[j];
            for k in j + 1..=i {
                m[i][k] -= factor * m[k][j];
            }
            f[i] -= factor * f[j];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            f[i] -= m[j][i] * f[j];
        }
        f[i] *= inverse[i];
    }
    out[..N].copy_from_slice(rates);
    out[N..].copy_from_slice(&f);
}

/// The same in eight lanes with AVX-512 intrinsics.
#[cfg(target_arch = "x86_64")]
pub(crate) mod lanes {
    use super::G;
    use std::arch::x86_64::*;

    /// Whether this machine can run it.
    pub(crate) fn available() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
    }

    /// Sine and cosine by reduction to [−π/4, π/4] and two polynomials, |x| < 10⁶.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn sin_cos(x: __m512d) -> (__m512d, __m512d) {
        let set = |v: f64| _mm512_set1_pd(v);
        let magic = set(6755399441055744.0);
        let shifted = _mm512_fmadd_pd(x, set(std::f64::consts::FRAC_2_PI), magic);
        let k = _mm512_sub_pd(shifted, magic);
        let r = _mm512_fnmadd_pd(k, set(1.5707963267341256), x);
        let r = _mm512_fnmadd_pd(k, set(6.077100506303966e-11), r);
        let r = _mm512_fnmadd_pd(k, set(2.0222662487959506e-21), r);
        let u = _mm512_mul_pd(r, r);
        let horner = |terms: [f64; 6]| {
            let mut sum = set(terms[5]);
            for &term in terms[..5].iter().rev() {
                sum = _mm512_fmadd_pd(sum, u, set(term));
            }
            sum
        };
        let p = horner([
            -0.16666666666666666,
            0.008333333333330948,
            -0.00019841269836758574,
            2.755731610255244e-06,
            -2.5051131845003624e-08,
            1.5918129294866608e-10,
        ]);
        let q = horner([
            0.041666666666666664,
            -0.0013888888888887398,
            2.480158729876569e-05,
            -2.7557317271729793e-07,
            2.08761462684032e-09,
            -1.1382632425521717e-11,
        ]);
        let sine = _mm512_fmadd_pd(_mm512_mul_pd(p, u), r, r);
        let cosine = _mm512_fmadd_pd(_mm512_mul_pd(u, u), q, _mm512_fnmadd_pd(u, set(0.5), set(1.0)));
        let bits = _mm512_castpd_si512(shifted);
        let odd = _mm512_test_epi64_mask(bits, _mm512_set1_epi64(1));
        let sign = |quadrants: __m512i| {
            _mm512_castsi512_pd(_mm512_slli_epi64::<63>(_mm512_srli_epi64::<1>(quadrants)))
        };
        let s = _mm512_xor_pd(_mm512_mask_blend_pd(odd, sine, cosine), sign(bits));
        let next = _mm512_add_epi64(bits, _mm512_set1_epi64(1));
        let c = _mm512_xor_pd(_mm512_mask_blend_pd(odd, cosine, sine), sign(next));
        (s, c)
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn load(block: &[f64], i: usize) -> __m512d {
        let row: &[f64; 8] = block[8 * i..8 * i + 8].first_chunk().expect("eight lanes");
        // SAFETY: the row has eight numbers.
        unsafe { _mm512_loadu_pd(row.as_ptr()) }
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn store(block: &mut [f64], i: usize, value: __m512d) {
        let row: &mut [f64; 8] = block[8 * i..8 * i + 8].first_chunk_mut().expect("eight lanes");
        // SAFETY: the row has eight numbers.
        unsafe { _mm512_storeu_pd(row.as_mut_ptr(), value) }
    }

    /// The double pendulum.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn double(inputs: &[f64], outputs: &mut [f64]) {
        let set = |v: f64| _mm512_set1_pd(v);
        for (y, out) in inputs.chunks_exact(32).zip(outputs.chunks_exact_mut(32)) {
            let (a, b, u, v) = (load(y, 0), load(y, 1), load(y, 2), load(y, 3));
            let (s, c) = sin_cos(_mm512_sub_pd(a, b));
            let (sa, sb) = (sin_cos(a).0, sin_cos(b).0);
            let p = _mm512_fnmadd_pd(
                set(2.0 * G),
                sa,
                _mm512_mul_pd(_mm512_mul_pd(_mm512_mul_pd(v, v), s), set(-1.0)),
            );
            let q = _mm512_fnmadd_pd(set(G), sb, _mm512_mul_pd(_mm512_mul_pd(u, u), s));
            let inverse = _mm512_div_pd(set(1.0), _mm512_fmadd_pd(s, s, set(1.0)));
            store(out, 0, u);
            store(out, 1, v);
            store(out, 2, _mm512_mul_pd(_mm512_fnmadd_pd(c, q, p), inverse));
            store(out, 3, _mm512_mul_pd(_mm512_fnmadd_pd(c, p, _mm512_add_pd(q, q)), inverse));
        }
    }

    /// A chain of N pendulums.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn chain<const N: usize>(inputs: &[f64], outputs: &mut [f64]) {
        let set = |v: f64| _mm512_set1_pd(v);
        let zero = set(0.0);
        for (y, out) in inputs.chunks_exact(16 * N).zip(outputs.chunks_exact_mut(16 * N)) {
            let (mut s, mut c, mut squares) = ([zero; N], [zero; N], [zero; N]);
            for i in 0..N {
                (s[i], c[i]) = sin_cos(load(y, i));
                let rate = load(y, N + i);
                squares[i] = _mm512_mul_pd(rate, rate);
                store(out, i, rate);
            }
            let mut m = [[zero; N]; N];
            let mut f = [zero; N];
            for i in 0..N {
                let k = set((N - i) as f64);
                f[i] = _mm512_mul_pd(set(-((N - i) as f64) * G), s[i]);
                let (ks, kc) = (_mm512_mul_pd(k, s[i]), _mm512_mul_pd(k, c[i]));
                for j in 0..i {
                    m[i][j] = _mm512_fmadd_pd(kc, c[j], _mm512_mul_pd(ks, s[j]));
                    let turn = _mm512_fmsub_pd(ks, c[j], _mm512_mul_pd(kc, s[j]));
                    f[i] = _mm512_fnmadd_pd(turn, squares[j], f[i]);
                    f[j] = _mm512_fmadd_pd(turn, squares[i], f[j]);
                }
                m[i][i] = k;
            }
            let mut inverse = [zero; N];
            for j in 0..N {
                inverse[j] = _mm512_div_pd(set(1.0), m[j][j]);
                for i in j + 1..N {
                    let factor = _mm512_mul_pd(m[i][j], inverse[j]);
                    for k in j + 1..=i {
                        m[i][k] = _mm512_fnmadd_pd(factor, m[k][j], m[i][k]);
                    }
                    f[i] = _mm512_fnmadd_pd(factor, f[j], f[i]);
                }
            }
            for i in (0..N).rev() {
                f[i] = _mm512_mul_pd(f[i], inverse[i]);
                for j in 0..i {
                    f[j] = _mm512_fnmadd_pd(m[i][j], f[i], f[j]);
                }
            }
            for i in 0..N {
                store(out, N + i, f[i]);
            }
        }
    }
}
