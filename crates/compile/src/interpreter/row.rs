//! The loops of the interpreter: one instruction over one row of lanes.

use super::Step;
use crate::arithmetic::{Exact, Fast};
use crate::instruction::{Code, Test, call};
use crate::math;
use leastaction_expr::Op;

/// A loop over the rows of a step.
///
/// # Safety
/// The machine has the level's instructions; `rows` points to as many rows as the step names, each of the number of
/// lanes that the loop was made for; and the step's result is none of its arguments.
pub(super) type Run = unsafe fn(step: &Step, rows: *mut f64);

/// The instruction set that loops are built for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    pub(crate) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Baseline
    }

    /// The loop for an instruction over rows of `L` lanes.
    pub(super) fn run<const L: usize>(self, code: Code, shared: u8) -> Run {
        match self {
            Level::Baseline => baseline::run::<L>(code, shared),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::run::<L>(code, shared),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::run::<L>(code, shared),
        }
    }
}

/// A frequent instruction, as a type, so that a loop can be built for it alone.
trait Primitive {
    const CODE: Code;
}

macro_rules! primitives {
    ($($name:ident)*) => {$(
        struct $name;
        impl Primitive for $name {
            const CODE: Code = Code::$name;
        }
    )*};
}

primitives! { Add Sub Mul Div MulAdd MulSub NegMulAdd NegMulSub }

/// Room for operators in [`each_operator`].
const MOST_OPERATORS: usize = 64;
const _: () = assert!(Op::ALL.len() <= MOST_OPERATORS, "add numbers to `each_operator`");

/// An array of a function's instances for all operators, in table order. Entries beyond the table are never asked for.
macro_rules! each_operator {
    ($function:ident, $lanes:ident) => {
        each_operator!(@ $function $lanes
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
    };
    (@ $function:ident $lanes:ident $($op:literal)*) => {{
        let all: [Run; MOST_OPERATORS] = [$($function::<$op, $lanes>),*];
        all
    }};
}

/// Builds the loops for one instruction set.
macro_rules! level {
    ($name:ident $(, $features:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $features)])?
            unsafe fn special<P: Primitive, const SHARED: u8, const L: usize>(step: &Step, rows: *mut f64) {
                // SAFETY: passed on from the caller.
                unsafe { super::special::<P, SHARED, L>(step, rows) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn general<const L: usize>(step: &Step, rows: *mut f64) {
                // SAFETY: passed on from the caller.
                unsafe { super::general::<L>(step, rows) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn function<const OP: usize, const L: usize>(step: &Step, rows: *mut f64) {
                // SAFETY: passed on from the caller.
                unsafe { super::function::<OP, L>(step, rows) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn pair<const L: usize>(step: &Step, rows: *mut f64) {
                // SAFETY: passed on from the caller.
                unsafe { super::pair::<L>(step, rows) }
            }

            pub(super) fn run<const L: usize>(code: Code, shared: u8) -> Run {
                match (code, shared) {
                    (Code::Add, 0) => special::<Add, 0, L>,
                    (Code::Add, 1) => special::<Add, 1, L>,
                    (Code::Mul, 0) => special::<Mul, 0, L>,
                    (Code::Mul, 1) => special::<Mul, 1, L>,
                    (Code::Sub, 0) => special::<Sub, 0, L>,
                    (Code::Sub, 1) => special::<Sub, 1, L>,
                    (Code::Sub, 2) => special::<Sub, 2, L>,
                    (Code::Div, 0) => special::<Div, 0, L>,
                    (Code::Div, 1) => special::<Div, 1, L>,
                    (Code::MulAdd, 0) => special::<MulAdd, 0, L>,
                    (Code::MulAdd, 1) => special::<MulAdd, 1, L>,
                    (Code::MulAdd, 4) => special::<MulAdd, 4, L>,
                    (Code::MulAdd, 5) => special::<MulAdd, 5, L>,
                    (Code::MulSub, 0) => special::<MulSub, 0, L>,
                    (Code::MulSub, 1) => special::<MulSub, 1, L>,
                    (Code::NegMulAdd, 0) => special::<NegMulAdd, 0, L>,
                    (Code::NegMulAdd, 1) => special::<NegMulAdd, 1, L>,
                    (Code::NegMulAdd, 4) => special::<NegMulAdd, 4, L>,
                    (Code::NegMulAdd, 5) => special::<NegMulAdd, 5, L>,
                    (Code::NegMulSub, 0) => special::<NegMulSub, 0, L>,
                    (Code::Math(op), _) => each_operator!(function, L)[op as usize],
                    (Code::Paired(_), _) => pair::<L>,
                    _ => general::<L>,
                }
            }
        }
    };
}

level!(baseline);
#[cfg(target_arch = "x86_64")]
level!(avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
level!(avx512, "avx512f,avx512dq,avx512vl,fma");

/// The rows of a step: its result, then its arguments.
///
/// # Safety
/// As for [`Run`].
#[inline(always)]
unsafe fn rows<'a, const L: usize>(step: &Step, rows: *mut f64) -> (&'a mut [f64; L], [&'a [f64; L]; 4]) {
    debug_assert!(!step.arguments.contains(&step.result));
    // SAFETY: the rows are there, and the exclusive one is none of the shared ones.
    unsafe {
        let row = |slot: u32| rows.add(slot as usize * L).cast::<[f64; L]>();
        (&mut *row(step.result), step.arguments.map(|slot| &*row(slot)))
    }
}

/// One frequent instruction. Arguments of the set `SHARED` are constants, and read once.
///
/// # Safety
/// As for [`Run`].
#[inline(always)]
unsafe fn special<P: Primitive, const SHARED: u8, const L: usize>(step: &Step, base: *mut f64) {
    // SAFETY: passed on from the caller.
    let (y, [a, b, c, _]) = unsafe { rows::<L>(step, base) };
    let (first_a, first_b, first_c) = (a[0], b[0], c[0]);
    each(y, [a, b, c, c], |[a, b, c, _]| {
        let a = if SHARED & 1 != 0 { first_a } else { a };
        let b = if SHARED & 2 != 0 { first_b } else { b };
        let c = if SHARED & 4 != 0 { first_c } else { c };
        P::CODE.value([a, b, c, 0.0], 0.0)
    });
}

/// Applies a function lane by lane. As parameters, the rows are known not to overlap the result.
#[inline(always)]
fn each<const L: usize>(y: &mut [f64; L], [a, b, c, d]: [&[f64; L]; 4], f: impl Fn([f64; 4]) -> f64) {
    for i in 0..L {
        y[i] = f([a[i], b[i], c[i], d[i]]);
    }
}

/// Any instruction.
///
/// # Safety
/// As for [`Run`].
#[inline(always)]
unsafe fn general<const L: usize>(step: &Step, base: *mut f64) {
    // SAFETY: passed on from the caller.
    let (y, [a, b, c, d]) = unsafe { rows::<L>(step, base) };
    macro_rules! each {
        ($code:expr) => {
            each(y, [a, b, c, d], |arguments| $code.value(arguments, 0.0))
        };
    }
    match step.code {
        Code::Add => each!(Code::Add),
        Code::Sub => each!(Code::Sub),
        Code::Mul => each!(Code::Mul),
        Code::Div => each!(Code::Div),
        Code::Sqrt => each!(Code::Sqrt),
        Code::MulAdd => each!(Code::MulAdd),
        Code::MulSub => each!(Code::MulSub),
        Code::NegMulAdd => each!(Code::NegMulAdd),
        Code::NegMulSub => each!(Code::NegMulSub),
        Code::Min => each!(Code::Min),
        Code::Max => each!(Code::Max),
        Code::Round => each!(Code::Round),
        Code::Floor => each!(Code::Floor),
        Code::And => each!(Code::And),
        Code::AndNot => each!(Code::AndNot),
        Code::Or => each!(Code::Or),
        Code::Xor => each!(Code::Xor),
        Code::XorAnd => each!(Code::XorAnd),
        Code::AddInt => each!(Code::AddInt),
        Code::SubInt => each!(Code::SubInt),
        Code::ShiftLeft(n) => each!(Code::ShiftLeft(n)),
        Code::ShiftRight(n) => each!(Code::ShiftRight(n)),
        Code::Select(Test::Less) => each!(Code::Select(Test::Less)),
        Code::Select(Test::LessEqual) => each!(Code::Select(Test::LessEqual)),
        Code::Select(Test::Equal) => each!(Code::Select(Test::Equal)),
        Code::Select(Test::Differ) => each!(Code::Select(Test::Differ)),
        Code::Select(Test::NotLess) => each!(Code::Select(Test::NotLess)),
        Code::Select(Test::NotLessEqual) => each!(Code::Select(Test::NotLessEqual)),
        Code::SelectSign => each!(Code::SelectSign),
        Code::Math(_) | Code::Paired(_) => unreachable!("functions have loops of their own"),
        Code::Call(op) => each(y, [a, b, c, d], |[a, b, c, _]| call(op, &[a, b, c][..op.row().arity])),
        Code::Repair { op, .. } => {
            *y = *a;
            let bad = |&b: &f64| Test::NotLessEqual.holds(b, step.limit);
            if b.iter().fold(false, |any, b| any | bad(b)) {
                for i in (0..L).filter(|&i| bad(&b[i])) {
                    y[i] = call(op, &[c[i], d[i]][..op.row().arity]);
                }
            }
        }
    }
}

/// A whole function: the fast path in all lanes without a branch, and once more with repairs if any lane needs one.
///
/// # Safety
/// As for [`Run`].
#[inline(always)]
unsafe fn function<const OP: usize, const L: usize>(step: &Step, base: *mut f64) {
    /// Whether a lane needs a repair.
    #[inline(always)]
    fn fast<const OP: usize, const L: usize>(y: &mut [f64; L], [a, b, c]: [&[f64; L]; 3]) -> bool {
        let op = Op::ALL[OP];
        let mut due = false;
        for i in 0..L {
            let mut fast = Fast::default();
            let arguments = &[a[i], b[i], c[i]][..op.row().arity];
            match math::expand(&mut fast, op, arguments, false) {
                Some(value) => y[i] = value,
                None => return true, // for every lane alike
            }
            due |= fast.due;
        }
        due
    }
    // SAFETY: passed on from the caller.
    let (y, [a, b, c, _]) = unsafe { rows::<L>(step, base) };
    if fast::<OP, L>(y, [a, b, c]) {
        each(y, [a, b, c, c], |[a, b, c, _]| math::value(Op::ALL[OP], &[a, b, c], false));
    }
}

/// The sine and the cosine of one argument.
///
/// # Safety
/// As for [`Run`], also for the second result.
#[inline(always)]
unsafe fn pair<const L: usize>(step: &Step, base: *mut f64) {
    /// Whether a lane needs a repair.
    #[inline(always)]
    fn fast<const L: usize>(sines: &mut [f64; L], cosines: &mut [f64; L], x: &[f64; L]) -> bool {
        let mut due = false;
        for i in 0..L {
            let mut fast = Fast::default();
            (sines[i], cosines[i]) = math::sine_and_cosine(&mut fast, x[i]);
            due |= fast.due;
        }
        due
    }
    // SAFETY: passed on from the caller.
    let (y, [x, ..]) = unsafe { rows::<L>(step, base) };
    // SAFETY: the second result's row is there, and is neither the first's nor the argument's.
    let other = unsafe { &mut *base.add(step.partner as usize * L).cast::<[f64; L]>() };
    let (sines, cosines) = if step.code == Code::Paired(Op::Sin) { (y, other) } else { (other, y) };
    if fast(sines, cosines, x) {
        for i in 0..L {
            (sines[i], cosines[i]) = math::sine_and_cosine(&mut Exact::default(), x[i]);
        }
    }
}
