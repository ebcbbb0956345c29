//! What differs between the languages in which functions are written.

use crate::op::Row;

/// A target language.
pub(super) struct Language {
    /// An operator's template.
    pub(super) template: fn(&Row) -> &'static str,
    /// Words that cannot name a variable, between spaces: keywords, what the generated code uses, and what the
    /// language's own headers or prelude define so that it cannot be redefined.
    pub(super) reserved: &'static str,
    /// Words that cannot name a function besides: those of the library that is included.
    pub(super) library: &'static str,
    /// Functions that the language does not have, by name; `@` stands before each such name.
    pub(super) helpers: &'static [(&'static str, &'static str)],
    /// What makes a number's type plain where the language asks for it.
    pub(super) number_suffix: &'static str,
    /// How a variable is declared, before its name and between name and value.
    pub(super) declare: (&'static str, &'static str),
    /// The arrays of inputs and outputs.
    pub(super) arrays: (&'static str, &'static str),
    /// A statement that uses the name `#`, and does nothing; empty if names need not be used.
    pub(super) unused: &'static str,
    /// What ends a statement, and begins a comment.
    pub(super) end: &'static str,
    pub(super) comment: &'static str,
    /// The index of the first element of an array.
    pub(super) first: usize,
    /// The sign of a power, if there is one.
    pub(super) power: Option<&'static str>,
}

impl Language {
    pub(super) fn is_reserved(&self, name: &str) -> bool {
        self.reserved.split_ascii_whitespace().any(|word| word == name)
    }

    /// Whether a function can have this name. Library functions exist for other precisions too, with `f` or `l` at the end.
    pub(super) fn can_name_function(&self, name: &str) -> bool {
        let known = |name: &str| {
            self.reserved
                .split_ascii_whitespace()
                .chain(self.library.split_ascii_whitespace())
                .any(|word| word == name)
        };
        let shorter = name.strip_suffix(['f', 'l']);
        !known(name) && (self.library.is_empty() || !shorter.is_some_and(known))
    }
}

pub(super) const C: Language = Language {
    template: |row| row.c,
    reserved: "
        alignas alignof auto bool break case char const constexpr continue default do double else enum
        extern false float for goto if inline int long nullptr register restrict return short signed sizeof
        static static_assert struct switch thread_local true typedef typeof typeof_unqual union unsigned
        void volatile while asm main in out acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp
        expm1 fabs floor hypot log log1p pow sin sinh sqrt tan tanh linux unix i386 NAN INFINITY HUGE
        HUGE_VAL HUGE_VALF HUGE_VALL DOMAIN SING OVERFLOW UNDERFLOW TLOSS PLOSS MAXFLOAT X_TLOSS
        math_errhandling MATH_ERRNO MATH_ERREXCEPT FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL
        FP_ILOGB0 FP_ILOGBNAN FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO FP_INT_TONEARESTFROMZERO
        FP_INT_TONEAREST FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2
        M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2",
    library: "
        ceil copysign drem erfc exp10 exp2 fdim finite fma fmax fmaxmag fmin fminmag fmod fpclassify frexp
        fromfp fromfpx gamma getpayload ilogb isfinite isgreater isgreaterequal isinf isless islessequal
        islessgreater isnan isnormal isunordered iseqsig issignaling issubnormal iszero j0 j1 jn ldexp lgamma
        lgamma_r llogb llrint llround log10 log2 logb lrint lround modf nan nearbyint nextafter nextdown
        nexttoward nextup remainder remquo rint round roundeven scalb scalbln scalbn setpayload setpayloadsig
        signbit signgam significand sincos tgamma totalorder totalordermag trunc ufromfp ufromfpx y0 y1 yn",
    helpers: &[
        (
            "logistic",
            "static inline double @logistic(double x) {
    const double e = exp(-fabs(x));
    return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}
",
        ),
        (
            "sign",
            "static inline double @sign(double x) {
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
",
        ),
        (
            "minimum",
            "static inline double @minimum(double a, double b) {
    return a < b || a != a ? a : b;
}
",
        ),
        (
            "maximum",
            "static inline double @maximum(double a, double b) {
    return a > b || a != a ? a : b;
}
",
        ),
        (
            "power",
            "// Not a number for a negative base, unless the exponent is whole.
static inline double @power(double x, double y) {
    if (y == floor(y)) {
        return pow(x, y);
    }
    return x < 0.0 ? NAN : pow(fabs(x), y);
}
",
        ),
        (
            "integer_power",
            "static inline double @integer_power(double x, int n) {
    double square = n < 0 ? 1.0 / x : x;
    double result = 1.0;
    for (int i = n < 0 ? -n : n; i > 0; i /= 2) {
        if (i % 2 == 1) {
            result *= square;
        }
        square *= square;
    }
    return result;
}
",
        ),
    ],
    number_suffix: "",
    declare: ("const double ", " = "),
    arrays: ("in", "out"),
    unused: "(void)#;",
    end: ";",
    comment: "//",
    first: 0,
    power: None,
};

pub(super) const RUST: Language = Language {
    template: |row| row.rust,
    reserved: "
        abstract as async await become box break const continue crate do dyn else enum extern false final fn
        for gen if impl in let loop macro match mod move mut override priv pub ref return self Self static
        struct super trait true try type typeof unsafe unsized use virtual where while yield main None Some
        Ok Err input output",
    library: "",
    helpers: &[
        (
            "logistic",
            "fn @logistic(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}
",
        ),
        (
            "sign",
            "fn @sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}
",
        ),
        (
            "minimum",
            "fn @minimum(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}
",
        ),
        (
            "maximum",
            "fn @maximum(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
",
        ),
        (
            "power",
            "// Not a number for a negative base, unless the exponent is whole.
fn @power(x: f64, y: f64) -> f64 {
    if y == y.floor() {
        x.powf(y)
    } else if x < 0.0 {
        f64::NAN
    } else {
        x.abs().powf(y)
    }
}
",
        ),
        (
            "integer_power",
            "fn @integer_power(x: f64, n: i32) -> f64 {
    let mut square = if n < 0 { 1.0 / x } else { x };
    let mut result = 1.0;
    let mut i = n.unsigned_abs();
    while i > 0 {
        if i % 2 == 1 {
            result *= square;
        }
        square *= square;
        i /= 2;
    }
    result
}
",
        ),
        (
            "acosh",
            "// Accurate near 1, where the standard library's is not.
fn @acosh(x: f64) -> f64 {
    let t = x - 1.0;
    if x < 1.0 {
        f64::NAN
    } else if x < 1e8 {
        (t + (t * (t + 2.0)).sqrt()).ln_1p()
    } else {
        x.ln() + std::f64::consts::LN_2
    }
}
",
        ),
        (
            "erf",
            "// A series of terms of one sign near zero, beyond it the continued fraction of the complement.
fn @erf(x: f64) -> f64 {
    let a = x.abs();
    if a < 2.5 {
        let (mut sum, mut term, mut odd) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= 2.0 * x * x / odd;
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
    } else if a < 6.0 {
        let fraction = (1..=60).rev().fold(a, |f, k| a + 0.5 * f64::from(k) / f);
        let complement = 0.5 * std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() / fraction;
        (1.0 - complement).copysign(x)
    } else if a.is_nan() {
        x
    } else {
        1.0_f64.copysign(x)
    }
}
",
        ),
    ],
    number_suffix: "_f64",
    declare: ("let ", ": f64 = "),
    arrays: ("input", "output"),
    unused: "let _ = #;",
    end: ";",
    comment: "//",
    first: 0,
    power: None,
};
