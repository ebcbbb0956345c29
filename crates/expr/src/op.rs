//! The operator table: everything the rest of the workspace knows about an operator stands in its row.
//!
//! A row gives the name, the arguments, the value, the derivative by each argument, and how the operator is
//! written as text, LaTeX, C and Rust. Evaluation, differentiation, the parser, the printers, the method on
//! [`Expr`] and the fuzz tests read it. To add an operator, add a row. The compiler runs it from then on by
//! calling `value` lane by lane; a vector expansion in `leastaction-compile` makes it fast.

use crate::Expr;
use crate::value;

/// How an operator is written in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between its two arguments. A larger `binding` binds tighter.
    Infix {
        /// The sign between the arguments.
        symbol: &'static str,
        /// How tightly it binds: comparison 1, sum 2, product 3, negation 4, power 5.
        binding: u8,
        /// Whether `a ∘ b ∘ c` means `a ∘ (b ∘ c)`.
        right: bool,
    },
    /// Before its argument: negation.
    Prefix {
        /// The sign before the argument.
        symbol: &'static str,
        /// How tightly it binds, on the scale of [`Form::Infix`].
        binding: u8,
    },
    /// As a function call, `name(a, b)`.
    Call,
}

/// How a function of one argument answers to a change of sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// f(−x) = f(x)
    Even,
    /// f(−x) = −f(x)
    Odd,
}

/// What the workspace knows about one operator.
pub struct Row {
    /// The name: the one parsed and printed for a call, and the one in dumps.
    pub name: &'static str,
    /// The number of arguments, 1 to 3.
    pub arity: usize,
    /// The value, correct to 2 ulp; the reference for every backend and the slow path of native code.
    pub value: fn(&[f64]) -> f64,
    /// The partial derivative by one argument, given the arguments, the result and the argument's index.
    pub partial: for<'g> fn(&[Expr<'g>], Expr<'g>, usize) -> Expr<'g>,
    /// How it is written as text.
    pub form: Form,
    /// LaTeX of a call, with `#1`, `#2`, `#3` for the arguments. Infix operators are laid out by the printer.
    pub latex: &'static str,
    /// C, with the same placeholders. `@` stands before a function that C does not have; the printer writes it.
    pub c: &'static str,
    /// Rust, with the same placeholders and `@`.
    pub rust: &'static str,
}

const fn infix(symbol: &'static str, binding: u8) -> Form {
    Form::Infix { symbol, binding, right: false }
}

macro_rules! operators {
    (
        signs {
            $($sign:ident $sname:literal ($($sarg:ident),+) -> $sy:ident
                | $svalue:expr ; d [$($spartial:expr),+] ; $form:expr ; $slatex:literal ; $sc:literal ; $srust:literal .)+
        }
        functions {
            $($op:ident $name:ident ($first:ident $(, $rest:ident)*) -> $y:ident $doc:literal
                | $value:expr ; d [$($partial:expr),+] ; $latex:literal ; $c:literal ; $rust:literal .)+
        }
    ) => {
        /// An operator of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", $sname, "`")] $sign,)+
            $(#[doc = $doc] $op,)+
        }

        impl Op {
            /// Every operator, in table order.
            pub const ALL: &[Op] = &[$(Op::$sign,)+ $(Op::$op,)+];
        }

        static TABLE: &[Row] = &[
            $(operators!(@row $sname, ($($sarg),+), $sy, $svalue, [$($spartial),+], $form, $slatex, $sc, $srust),)+
            $(operators!(@row stringify!($name), ($first $(, $rest)*), $y, $value, [$($partial),+], Form::Call, $latex, $c, $rust),)+
        ];

        /// The functions of the operator table.
        impl<'g> Expr<'g> {
            $(
                #[doc = $doc]
                #[must_use]
                pub fn $name(self $(, $rest: impl crate::IntoExpr<'g>)*) -> Expr<'g> {
                    let graph = self.graph();
                    graph.apply(Op::$op, &[self $(, $rest.into_expr(graph))*])
                }
            )+
        }
    };
    (@row $name:expr, ($($arg:ident),+), $y:ident, $value:expr, [$($partial:expr),+], $form:expr, $latex:literal, $c:literal, $rust:literal) => {
        Row {
            name: $name,
            arity: [$(stringify!($arg)),+].len(),
            value: |arguments| match *arguments {
                [$($arg),+] => $value,
                _ => f64::NAN,
            },
            partial: {
                #[allow(unused_variables)] // most derivatives need only some of the arguments
                fn partial<'g>(arguments: &[Expr<'g>], $y: Expr<'g>, index: usize) -> Expr<'g> {
                    let [$($arg),+] = *arguments else { return $y.graph().number(f64::NAN) };
                    let by_argument: &[&dyn Fn() -> Expr<'g>] = &[$(&|| $partial),+];
                    by_argument[index]()
                }
                partial
            },
            form: $form,
            latex: $latex,
            c: $c,
            rust: $rust,
        }
    };
}

operators! {
    // Op  name  (arguments) -> result | value ; d [derivative by each argument] ; form ; LaTeX ; C ; Rust
    signs {
        Add "+" (a, b) -> y | a + b ; d [y.like(1.0), y.like(1.0)] ; infix("+", 2) ; "#1 + #2" ; "#1 + #2" ; "#1 + #2" .
        Sub "-" (a, b) -> y | a - b ; d [y.like(1.0), y.like(-1.0)] ; infix("-", 2) ; "#1 - #2" ; "#1 - #2" ; "#1 - #2" .
        Mul "*" (a, b) -> y | a * b ; d [b, a] ; infix("*", 3) ; r"#1 \, #2" ; "#1 * #2" ; "#1 * #2" .
        Div "/" (a, b) -> y | a / b ; d [1.0 / b, -(y * (1.0 / b))] ; infix("/", 3) ; r"\frac{#1}{#2}" ; "#1 / #2" ; "#1 / #2" .
        Neg "neg" (a) -> y | -a ; d [y.like(-1.0)] ; Form::Prefix { symbol: "-", binding: 4 } ; "-#1" ; "-#1" ; "-#1" .
        Pow "^" (a, b) -> y | value::power(a, b) ; d [b * a.pow(b - 1.0), y * a.ln()] ; Form::Infix { symbol: "^", binding: 5, right: true } ; "{#1}^{#2}" ; "@power(#1, #2)" ; "@power(#1, #2)" .
        Lt "<" (a, b) -> y | value::flag(a < b) ; d [y.like(0.0), y.like(0.0)] ; infix("<", 1) ; "#1 < #2" ; "(double)(#1 < #2)" ; "f64::from(#1 < #2)" .
        Le "<=" (a, b) -> y | value::flag(a <= b) ; d [y.like(0.0), y.like(0.0)] ; infix("<=", 1) ; r"#1 \le #2" ; "(double)(#1 <= #2)" ; "f64::from(#1 <= #2)" .
        Eq "==" (a, b) -> y | value::flag(a == b) ; d [y.like(0.0), y.like(0.0)] ; infix("==", 1) ; "#1 = #2" ; "(double)(#1 == #2)" ; "f64::from(#1 == #2)" .
        Ne "!=" (a, b) -> y | value::flag(a != b) ; d [y.like(0.0), y.like(0.0)] ; infix("!=", 1) ; r"#1 \ne #2" ; "(double)(#1 != #2)" ; "f64::from(#1 != #2)" .
    }
    functions {
        Sqrt sqrt(x) -> y "The square root; NaN below zero." | x.sqrt() ; d [0.5 / y] ; r"\sqrt{#1}" ; "sqrt(#1)" ; "#1.sqrt()" .
        Cbrt cbrt(x) -> y "The real cube root." | libm::cbrt(x) ; d [1.0 / (3.0 * y * y)] ; r"\sqrt[3]{#1}" ; "cbrt(#1)" ; "#1.cbrt()" .
        Hypot hypot(a, b) -> y "√(a² + b²) without undue overflow." | libm::hypot(a, b) ; d [a * (1.0 / y), b * (1.0 / y)] ; r"\operatorname{hypot}\left(#1, #2\right)" ; "hypot(#1, #2)" ; "#1.hypot(#2)" .
        Exp exp(x) -> y "eˣ." | libm::exp(x) ; d [y] ; r"\exp\left(#1\right)" ; "exp(#1)" ; "#1.exp()" .
        Expm1 expm1(x) -> y "eˣ − 1, accurate near 0." | libm::expm1(x) ; d [x.exp()] ; r"\operatorname{expm1}\left(#1\right)" ; "expm1(#1)" ; "#1.exp_m1()" .
        Ln ln(x) -> y "The natural logarithm." | libm::log(x) ; d [1.0 / x] ; r"\ln\left(#1\right)" ; "log(#1)" ; "#1.ln()" .
        Ln1p ln1p(x) -> y "ln(1 + x), accurate near 0." | libm::log1p(x) ; d [1.0 / (1.0 + x)] ; r"\operatorname{ln1p}\left(#1\right)" ; "log1p(#1)" ; "#1.ln_1p()" .
        Sin sin(x) -> y "The sine." | libm::sin(x) ; d [x.cos()] ; r"\sin\left(#1\right)" ; "sin(#1)" ; "#1.sin()" .
        Cos cos(x) -> y "The cosine." | libm::cos(x) ; d [-x.sin()] ; r"\cos\left(#1\right)" ; "cos(#1)" ; "#1.cos()" .
        Tan tan(x) -> y "The tangent." | libm::tan(x) ; d [1.0 + y * y] ; r"\tan\left(#1\right)" ; "tan(#1)" ; "#1.tan()" .
        Asin asin(x) -> y "The arcsine, in [−π/2, π/2]." | libm::asin(x) ; d [1.0 / ((1.0 - x) * (1.0 + x)).sqrt()] ; r"\arcsin\left(#1\right)" ; "asin(#1)" ; "#1.asin()" .
        Acos acos(x) -> y "The arccosine, in [0, π]." | libm::acos(x) ; d [-1.0 / ((1.0 - x) * (1.0 + x)).sqrt()] ; r"\arccos\left(#1\right)" ; "acos(#1)" ; "#1.acos()" .
        Atan atan(x) -> y "The arctangent, in [−π/2, π/2]." | libm::atan(x) ; d [1.0 / (1.0 + x * x)] ; r"\arctan\left(#1\right)" ; "atan(#1)" ; "#1.atan()" .
        Atan2 atan2(a, b) -> y "The angle of the point (b, a), in [−π, π]: `y.atan2(x)`." | libm::atan2(a, b) ; d [b * (1.0 / (a * a + b * b)), -(a * (1.0 / (a * a + b * b)))] ; r"\operatorname{atan2}\left(#1, #2\right)" ; "atan2(#1, #2)" ; "#1.atan2(#2)" .
        Sinh sinh(x) -> y "The hyperbolic sine." | value::sinh(x) ; d [x.cosh()] ; r"\sinh\left(#1\right)" ; "sinh(#1)" ; "#1.sinh()" .
        Cosh cosh(x) -> y "The hyperbolic cosine." | libm::cosh(x) ; d [x.sinh()] ; r"\cosh\left(#1\right)" ; "cosh(#1)" ; "#1.cosh()" .
        Tanh tanh(x) -> y "The hyperbolic tangent." | value::tanh(x) ; d [1.0 - y * y] ; r"\tanh\left(#1\right)" ; "tanh(#1)" ; "#1.tanh()" .
        Asinh asinh(x) -> y "The inverse hyperbolic sine." | value::asinh(x) ; d [1.0 / x.hypot(1.0)] ; r"\operatorname{arsinh}\left(#1\right)" ; "asinh(#1)" ; "#1.asinh()" .
        Acosh acosh(x) -> y "The inverse hyperbolic cosine; NaN below 1." | value::acosh(x) ; d [1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt())] ; r"\operatorname{arcosh}\left(#1\right)" ; "acosh(#1)" ; "@acosh(#1)" .
        Atanh atanh(x) -> y "The inverse hyperbolic tangent; NaN outside [−1, 1]." | value::atanh(x) ; d [1.0 / ((1.0 - x) * (1.0 + x))] ; r"\operatorname{artanh}\left(#1\right)" ; "atanh(#1)" ; "#1.atanh()" .
        Logistic logistic(x) -> y "The logistic function 1/(1 + e⁻ˣ)." | value::logistic(x) ; d [y * (1.0 - y)] ; r"\sigma\left(#1\right)" ; "@logistic(#1)" ; "@logistic(#1)" .
        Erf erf(x) -> y "The error function." | libm::erf(x) ; d [std::f64::consts::FRAC_2_SQRT_PI * (-(x * x)).exp()] ; r"\operatorname{erf}\left(#1\right)" ; "erf(#1)" ; "@erf(#1)" .
        Abs abs(x) -> y "The absolute value; its derivative at 0 is 0." | x.abs() ; d [x.sign()] ; r"\left|#1\right|" ; "fabs(#1)" ; "#1.abs()" .
        Sign sign(x) -> y "−1, 0 or 1 with the sign of x; ±0 and NaN are kept." | value::sign(x) ; d [y.like(0.0)] ; r"\operatorname{sgn}\left(#1\right)" ; "@sign(#1)" ; "@sign(#1)" .
        Floor floor(x) -> y "The largest integer not above x; its derivative is 0." | x.floor() ; d [y.like(0.0)] ; r"\left\lfloor #1 \right\rfloor" ; "floor(#1)" ; "#1.floor()" .
        Min min(a, b) -> y "The smaller of two; NaN if either is." | value::minimum(a, b) ; d [a.lt(b).select(1.0, 0.0), a.lt(b).select(0.0, 1.0)] ; r"\min\left(#1, #2\right)" ; "@minimum(#1, #2)" ; "@minimum(#1, #2)" .
        Max max(a, b) -> y "The larger of two; NaN if either is." | value::maximum(a, b) ; d [b.lt(a).select(1.0, 0.0), b.lt(a).select(0.0, 1.0)] ; r"\max\left(#1, #2\right)" ; "@maximum(#1, #2)" ; "@maximum(#1, #2)" .
        Select select(c, a, b) -> y "`a` where the condition `self` is not zero, else `b`. A NaN condition counts as not zero." | if c != 0.0 { a } else { b } ; d [y.like(0.0), c.select(1.0, 0.0), c.select(0.0, 1.0)] ; r"\begin{cases} #2 & #1 \\ #3 & \text{otherwise} \end{cases}" ; "#1 != 0.0 ? #2 : #3" ; "if #1 != 0.0 { #2 } else { #3 }" .
    }
}

impl Op {
    /// The operator's row of the table.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Whether the order of the arguments does not matter.
    #[must_use]
    pub fn is_commutative(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::Eq | Op::Ne | Op::Min | Op::Max | Op::Hypot)
    }

    /// How the value changes with the sign of a single argument.
    #[must_use]
    pub fn parity(self) -> Option<Parity> {
        match self {
            Op::Sin | Op::Tan | Op::Asin | Op::Atan | Op::Sinh | Op::Tanh | Op::Asinh | Op::Atanh => {
                Some(Parity::Odd)
            }
            Op::Erf | Op::Cbrt | Op::Sign => Some(Parity::Odd),
            Op::Cos | Op::Cosh | Op::Abs => Some(Parity::Even),
            _ => None,
        }
    }

    /// Whether it has no jumps and no corners inside its domain.
    #[must_use]
    pub fn is_smooth(self) -> bool {
        let steps = matches!(self, Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::Select | Op::Sign | Op::Floor);
        !steps && !matches!(self, Op::Abs | Op::Min | Op::Max)
    }

    /// The function of this name, for the parser.
    #[must_use]
    pub fn function(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.row().form == Form::Call && op.row().name == name)
    }
}
