//! Instructions: what a program is made of, and what each one means.

use crate::math;
use leastaction_expr::Op;
use std::fmt;

/// Where an instruction's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// A constant of the program.
    Constant(u32),
    /// A parameter: one value for all lanes.
    Parameter(u32),
    /// The result of a hoisted instruction: one value for all lanes, computed when parameters are set.
    Uniform(u32),
    /// An input: one value per lane.
    Input(u32),
    /// The result of an instruction of the body.
    Temporary(u32),
}

impl Operand {
    /// Whether all lanes have the same value.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        matches!(self, Operand::Constant(_) | Operand::Parameter(_) | Operand::Uniform(_))
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Constant(i) => write!(f, "c{i}"),
            Operand::Parameter(i) => write!(f, "p{i}"),
            Operand::Uniform(i) => write!(f, "u{i}"),
            Operand::Input(i) => write!(f, "x{i}"),
            Operand::Temporary(i) => write!(f, "t{i}"),
        }
    }
}

/// A comparison. The `Not` forms hold where an argument is NaN; the others, but for `Differ`, do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Test {
    /// a < b
    Less,
    /// a ≤ b
    LessEqual,
    /// a = b
    Equal,
    /// a ≠ b; holds for NaN
    Differ,
    /// not a < b; holds for NaN
    NotLess,
    /// not a ≤ b; holds for NaN
    NotLessEqual,
}

impl Test {
    /// Every comparison.
    pub const ALL: [Test; 6] =
        [Test::Less, Test::LessEqual, Test::Equal, Test::Differ, Test::NotLess, Test::NotLessEqual];

    /// Whether it holds.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::neg_cmp_op_on_partial_ord)] // the negation is the meaning: it holds for NaN
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Test::Less => a < b,
            Test::LessEqual => a <= b,
            Test::Equal => a == b,
            Test::Differ => a != b,
            Test::NotLess => !(a < b),
            Test::NotLessEqual => !(a <= b),
        }
    }
}

/// What an instruction does in each lane. Arguments are a, b, c, d in this order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Code {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a · b
    Mul,
    /// a / b
    Div,
    /// √a
    Sqrt,
    /// a · b + c, rounded once
    MulAdd,
    /// a · b − c, rounded once
    MulSub,
    /// c − a · b, rounded once
    NegMulAdd,
    /// −a · b − c, rounded once
    NegMulSub,
    /// a if a < b, else b (so b if either is NaN)
    Min,
    /// a if a > b, else b (so b if either is NaN)
    Max,
    /// a rounded to an integer, ties to even
    Round,
    /// the largest integer not above a
    Floor,
    /// bits of a and b
    And,
    /// bits of not a, and b
    AndNot,
    /// bits of a or b
    Or,
    /// bits of a exclusive or b
    Xor,
    /// bits of a exclusive or (b and c): with c = −0, a with its sign changed where b is negative
    XorAnd,
    /// bits as integers, wrapping: a + b
    AddInt,
    /// bits as integers, wrapping: a − b
    SubInt,
    /// bits shifted left
    ShiftLeft(u8),
    /// bits shifted right, filled with zeros
    ShiftRight(u8),
    /// c if a and b pass the test, else d
    Select(Test),
    /// b if the sign bit of a is set, else c
    SelectSign,
    /// the operator's value from the table, by one call per lane
    Call(Op),
    /// a, but the operator's value at (c, d) in lanes where not b ≤ limit: the slow path of a vector expansion
    Repair {
        /// The operator.
        op: Op,
        /// The largest b for which a is good, by its place among the constants.
        limit: u32,
    },
    /// an operator as a whole; native code has its vector expansion instead
    Math(Op),
    /// the sine or the cosine of an argument of which the program needs both, so that they share their work
    Paired(Op),
}

impl Code {
    /// The number of arguments.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Code::Sqrt | Code::Round | Code::Floor | Code::ShiftLeft(_) | Code::ShiftRight(_) => 1,
            Code::MulAdd | Code::MulSub | Code::NegMulAdd | Code::NegMulSub => 3,
            Code::SelectSign | Code::XorAnd => 3,
            Code::Select(_) => 4,
            Code::Call(op) | Code::Math(op) | Code::Paired(op) => op.row().arity,
            Code::Repair { op, .. } => 2 + op.row().arity,
            _ => 2,
        }
    }

    /// The value in one lane. `limit` is the constant of [`Code::Repair`]. This defines the instruction: the
    /// interpreters run it, and native code agrees with it bit for bit.
    #[inline(always)]
    #[must_use]
    pub fn value(self, [a, b, c, d]: [f64; 4], limit: f64) -> f64 {
        let bits = |f: fn(u64, u64) -> u64| f64::from_bits(f(a.to_bits(), b.to_bits()));
        match self {
            Code::Add => a + b,
            Code::Sub => a - b,
            Code::Mul => a * b,
            Code::Div => a / b,
            Code::Sqrt => a.sqrt(),
            Code::MulAdd => a.mul_add(b, c),
            Code::MulSub => a.mul_add(b, -c),
            Code::NegMulAdd => (-a).mul_add(b, c),
            Code::NegMulSub => (-a).mul_add(b, -c),
            Code::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Code::Max => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            Code::Round => a.round_ties_even(),
            Code::Floor => a.floor(),
            Code::And => bits(|a, b| a & b),
            Code::AndNot => bits(|a, b| !a & b),
            Code::Or => bits(|a, b| a | b),
            Code::Xor => bits(|a, b| a ^ b),
            Code::XorAnd => f64::from_bits(a.to_bits() ^ (b.to_bits() & c.to_bits())),
            Code::AddInt => bits(u64::wrapping_add),
            Code::SubInt => bits(u64::wrapping_sub),
            Code::ShiftLeft(n) => f64::from_bits(a.to_bits() << (n & 63)),
            Code::ShiftRight(n) => f64::from_bits(a.to_bits() >> (n & 63)),
            Code::Select(test) => {
                if test.holds(a, b) {
                    c
                } else {
                    d
                }
            }
            Code::SelectSign => {
                if a.is_sign_negative() {
                    b
                } else {
                    c
                }
            }
            Code::Call(op) => call(op, &[a, b, c][..op.row().arity]),
            Code::Math(op) => math::value(op, &[a, b, c], false),
            Code::Paired(op) => math::value(op, &[a, b, c], true),
            Code::Repair { op, .. } => {
                if Test::LessEqual.holds(b, limit) {
                    a
                } else {
                    call(op, &[c, d][..op.row().arity])
                }
            }
        }
    }
}

/// An operator's value from the table.
pub(crate) fn call(op: Op, arguments: &[f64]) -> f64 {
    (op.row().value)(arguments)
}

/// An instruction: its code and its arguments, padded by repeating the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What it does.
    pub code: Code,
    /// The arguments; entries beyond the arity repeat the first.
    pub operands: [Operand; 4],
}

impl Instruction {
    /// An instruction of a code and its arguments.
    #[must_use]
    pub fn new(code: Code, arguments: &[Operand]) -> Instruction {
        debug_assert_eq!(arguments.len(), code.arity());
        let mut operands = [arguments[0]; 4];
        operands[..arguments.len()].copy_from_slice(arguments);
        Instruction { code, operands }
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &[Operand] {
        &self.operands[..self.code.arity()]
    }

    /// The same code on changed arguments.
    #[must_use]
    pub fn map(mut self, change: impl FnMut(Operand) -> Operand) -> Instruction {
        self.operands = self.operands.map(change);
        self
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.code)?;
        self.arguments().iter().try_for_each(|a| write!(f, " {a:?}"))
    }
}
