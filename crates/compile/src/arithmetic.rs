//! The language of all that is both computed and compiled: the primitives, on whatever stands for a number.
//!
//! An expansion in [`crate::math`], a recurrence of a series, or the step of an integrator is written once, for any [`Arithmetic`]. On a
//! [`Builder`] or an [`Assembly`](crate::Assembly) it becomes instructions; on numbers it computes. Both do the same operations in the
//! same order, so they agree to the last bit.

use crate::builder::Builder;
use crate::instruction::{Code, Operand, Test, call};
use leastaction_expr::Op;

/// What a primitive can be applied to: a value, or a number.
pub trait Argument<A: Arithmetic + ?Sized> {
    /// The value.
    fn value(self, arithmetic: &mut A) -> A::Value;
}

impl<A: Arithmetic + ?Sized> Argument<A> for f64 {
    #[inline(always)]
    fn value(self, arithmetic: &mut A) -> A::Value {
        arithmetic.constant(self)
    }
}

impl Argument<Builder> for Operand {
    fn value(self, _: &mut Builder) -> Operand {
        self
    }
}

macro_rules! primitives {
    ($($name:ident $code:expr, $doc:literal, $($argument:ident)+;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        fn $name(&mut self, $($argument: impl Argument<Self>),+) -> Self::Value {
            let arguments = [$($argument.value(self)),+];
            self.apply($code, &arguments)
        }
    )*};
}

/// Numbers, or what stands for them, with one method per primitive.
///
/// ```
/// use leastaction_compile::{Arithmetic, Lanes};
///
/// fn length<A: Arithmetic>(a: &mut A, x: A::Value, y: A::Value) -> A::Value {
///     let square = a.mul(x, x);
///     let sum = a.mul_add(y, y, square);
///     a.sqrt(sum)
/// }
///
/// assert_eq!(length(&mut Lanes, [3.0, 0.6], [4.0, 0.8]), [5.0, 1.0]);
/// ```
pub trait Arithmetic {
    /// What stands for a number.
    type Value: Copy + Argument<Self>;

    /// A number.
    fn constant(&mut self, value: f64) -> Self::Value;

    /// A primitive.
    fn apply(&mut self, code: Code, arguments: &[Self::Value]) -> Self::Value;

    /// `fast`, but the operator's value from the table in lanes where not `test ≤ limit`.
    fn repair(
        &mut self,
        fast: Self::Value,
        test: Self::Value,
        limit: f64,
        op: Op,
        arguments: &[Self::Value],
    ) -> Self::Value;

    primitives! {
        add Code::Add, "a + b", a b;
        sub Code::Sub, "a − b", a b;
        mul Code::Mul, "a · b", a b;
        div Code::Div, "a / b", a b;
        sqrt Code::Sqrt, "√a", a;
        mul_add Code::MulAdd, "a · b + c, rounded once", a b c;
        mul_sub Code::MulSub, "a · b − c, rounded once", a b c;
        neg_mul_add Code::NegMulAdd, "c − a · b, rounded once", a b c;
        neg_mul_sub Code::NegMulSub, "−a · b − c, rounded once", a b c;
        min Code::Min, "a if a < b, else b", a b;
        max Code::Max, "a if a > b, else b", a b;
        floor Code::Floor, "the largest integer not above a", a;
        and Code::And, "bits of a and b", a b;
        and_not Code::AndNot, "bits of not a, and b", a b;
        or Code::Or, "bits of a or b", a b;
        xor Code::Xor, "bits of a exclusive or b", a b;
        add_int Code::AddInt, "bits as integers, wrapping", a b;
        sub_int Code::SubInt, "bits as integers, wrapping", a b;
        select_sign Code::SelectSign, "b if the sign bit of a is set, else c", a b c;
    }

    /// A number given by its bits.
    #[inline(always)]
    fn bits(&mut self, bits: u64) -> Self::Value {
        self.constant(f64::from_bits(bits))
    }

    /// Bits shifted left.
    #[inline(always)]
    fn shift_left(&mut self, a: Self::Value, bits: u8) -> Self::Value {
        self.apply(Code::ShiftLeft(bits), &[a])
    }

    /// Bits shifted right, filled with zeros.
    #[inline(always)]
    fn shift_right(&mut self, a: Self::Value, bits: u8) -> Self::Value {
        self.apply(Code::ShiftRight(bits), &[a])
    }

    /// c if a and b pass the test, else d.
    #[inline(always)]
    fn select(
        &mut self,
        test: Test,
        a: impl Argument<Self>,
        b: impl Argument<Self>,
        c: impl Argument<Self>,
        d: impl Argument<Self>,
    ) -> Self::Value {
        let arguments = [a.value(self), b.value(self), c.value(self), d.value(self)];
        self.apply(Code::Select(test), &arguments)
    }

    /// −a.
    #[inline(always)]
    fn neg(&mut self, a: Self::Value) -> Self::Value {
        self.xor(a, -0.0)
    }

    /// |a|.
    #[inline(always)]
    fn abs(&mut self, a: Self::Value) -> Self::Value {
        self.and_not(-0.0, a)
    }

    /// a, with its sign changed where the sign bit of b is set.
    #[inline(always)]
    fn flip_sign(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let sign = self.constant(-0.0);
        self.apply(Code::XorAnd, &[a, b, sign])
    }

    /// The size of a with the sign of b.
    #[inline(always)]
    fn copy_sign(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let size = self.abs(a);
        self.flip_sign(size, b)
    }
}

impl Arithmetic for Builder {
    type Value = Operand;

    fn constant(&mut self, value: f64) -> Operand {
        Operand::Constant(self.place(value))
    }

    fn apply(&mut self, code: Code, arguments: &[Operand]) -> Operand {
        self.push(code, arguments)
    }

    fn repair(&mut self, fast: Operand, test: Operand, limit: f64, op: Op, arguments: &[Operand]) -> Operand {
        let limit = self.place(limit);
        let operands: Vec<Operand> = [fast, test].iter().chain(arguments).copied().collect();
        self.push(Code::Repair { op, limit }, &operands)
    }
}

/// Computes on numbers. Without `REPAIR` it leaves repairs and only notes that one is due: what a loop over lanes can
/// run without branches.
#[derive(Default)]
pub(crate) struct Numbers<const REPAIR: bool> {
    /// Whether a repair was left.
    pub(crate) due: bool,
}

/// Computes, but leaves repairs.
pub(crate) type Fast = Numbers<false>;

/// Computes, repairs included.
pub(crate) type Exact = Numbers<true>;

impl<const REPAIR: bool> Arithmetic for Numbers<REPAIR> {
    type Value = f64;

    #[inline(always)]
    fn constant(&mut self, value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn apply(&mut self, code: Code, arguments: &[f64]) -> f64 {
        let mut four = [0.0; 4];
        four[..arguments.len()].copy_from_slice(arguments);
        code.value(four, 0.0)
    }

    #[inline(always)]
    fn repair(&mut self, fast: f64, test: f64, limit: f64, op: Op, arguments: &[f64]) -> f64 {
        let slow = Test::NotLessEqual.holds(test, limit);
        if REPAIR && slow {
            return call(op, arguments);
        }
        self.due |= slow;
        fast
    }
}

/// Computes on so many numbers side by side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes<const W: usize>;

impl<const W: usize> Argument<Lanes<W>> for [f64; W] {
    #[inline(always)]
    fn value(self, _: &mut Lanes<W>) -> [f64; W] {
        self
    }
}

impl<const W: usize> Arithmetic for Lanes<W> {
    type Value = [f64; W];

    #[inline(always)]
    fn constant(&mut self, value: f64) -> [f64; W] {
        [value; W]
    }

    #[inline(always)]
    fn apply(&mut self, code: Code, arguments: &[[f64; W]]) -> [f64; W] {
        // By indices, which need no optimiser to see how many arguments there are: tests are built with little of it.
        let argument = |i: usize, lane: usize| if i < arguments.len() { arguments[i][lane] } else { 0.0 };
        let mut result = [0.0; W];
        for lane in 0..W {
            let four = [argument(0, lane), argument(1, lane), argument(2, lane), argument(3, lane)];
            result[lane] = code.value(four, 0.0);
        }
        result
    }

    #[inline(always)]
    fn repair(
        &mut self,
        mut fast: [f64; W],
        test: [f64; W],
        limit: f64,
        op: Op,
        arguments: &[[f64; W]],
    ) -> [f64; W] {
        for lane in (0..W).filter(|&lane| Test::NotLessEqual.holds(test[lane], limit)) {
            let mut three = [0.0; 3];
            three.iter_mut().zip(arguments).for_each(|(value, argument)| *value = argument[lane]);
            fast[lane] = call(op, &three[..arguments.len()]);
        }
        fast
    }
}
