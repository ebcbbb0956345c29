//! Chances: the distributions of Student and Fisher, by the incomplete beta function.

/// ln Γ(x) for x > 0, by Stirling's series after shifting x beyond 10.
fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

/// The regularised incomplete beta function Iₓ(a, b), by its continued fraction (NIST Handbook of Mathematical Functions 8.17.22), computed by Lentz's method.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast before the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    front * fraction
}

/// Where an increasing function passes a value.
fn inverse(value: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while function(high) < value && high < 1e300 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if function(middle) < value { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// How many standard errors make an interval that holds the truth with this chance, if the noise was estimated with this number of degrees of freedom.
pub(crate) fn student(chance: f64, freedom: f64) -> f64 {
    inverse(chance, |t| 1.0 - beta(freedom / (freedom + t * t), freedom / 2.0, 0.5))
}

/// The value below which Fisher's F with these degrees of freedom is with this chance.
pub(crate) fn fisher(chance: f64, above: f64, below: f64) -> f64 {
    inverse(chance, |f| beta(above * f / (above * f + below), above / 2.0, below / 2.0))
}

#[cfg(test)]
mod tests {
    use super::{fisher, ln_gamma, student};

    /// Tables of Student's and Fisher's distributions (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2 and 1.3.6.7.3).
    #[test]
    fn quantiles_are_those_of_tables() {
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 6e-4, "{found}, not {expected}");
        near(student(0.95, 1.0), 12.706);
        near(student(0.95, 5.0), 2.571);
        near(student(0.95, 30.0), 2.042);
        near(student(0.99, 10.0), 3.169);
        near(student(0.95, 1e7), 1.960);
        near(fisher(0.95, 1.0, 5.0), 6.608);
        near(fisher(0.95, 8.0, 20.0), 2.447);
        near(fisher(0.95, 2.0, 100.0), 3.087);
        // Of Cauchy's distribution: tan(π·chance/2).
        near(student(0.5, 1.0), 1.0);
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-13);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
    }
}
