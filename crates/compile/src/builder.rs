//! Builds a list of instructions in which equal instructions are one: common subexpressions are eliminated as
//! they are written.

use crate::instruction::{Code, Instruction, Operand, Test};
use leastaction_expr::Op;
use rustc_hash::FxHashMap;

/// A growing list of instructions and constants. Every pass writes into one.
#[derive(Default)]
pub struct Builder {
    pub(crate) constants: Vec<f64>,
    pub(crate) body: Vec<Instruction>,
    places: FxHashMap<u64, u32>,
    known: FxHashMap<Instruction, Operand>,
}

/// What an instruction can be written on: an operand, or a number, which becomes a constant.
pub trait Argument {
    /// Where the argument is.
    fn operand(self, builder: &mut Builder) -> Operand;
}

impl Argument for Operand {
    fn operand(self, _: &mut Builder) -> Operand {
        self
    }
}

impl Argument for f64 {
    fn operand(self, builder: &mut Builder) -> Operand {
        builder.constant(self)
    }
}

macro_rules! instructions {
    ($($name:ident $code:expr, $doc:literal, $($argument:ident)+;)*) => {$(
        #[doc = $doc]
        pub fn $name(&mut self, $($argument: impl Argument),+) -> Operand {
            let arguments = [$($argument.operand(self)),+];
            self.push($code, &arguments)
        }
    )*};
}

/// One method per instruction: the language in which vector expansions are written.
impl Builder {
    instructions! {
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
        round Code::Round, "to an integer, ties to even", a;
        floor Code::Floor, "the largest integer not above a", a;
        and Code::And, "bits of a and b", a b;
        and_not Code::AndNot, "bits of not a, and b", a b;
        or Code::Or, "bits of a or b", a b;
        xor Code::Xor, "bits of a exclusive or b", a b;
        add_int Code::AddInt, "bits as integers, wrapping", a b;
        sub_int Code::SubInt, "bits as integers, wrapping", a b;
        select_sign Code::SelectSign, "b if the sign bit of a is set, else c", a b c;
    }

    /// An empty list that begins with these constants, at these places, with room for some instructions.
    pub(crate) fn with_constants(constants: &[f64], room: usize) -> Builder {
        let mut builder = Builder {
            constants: constants.to_vec(),
            places: constants.iter().zip(0..).map(|(value, place)| (value.to_bits(), place)).collect(),
            ..Builder::default()
        };
        builder.body.reserve(room);
        builder.known.reserve(room);
        builder
    }

    /// A constant.
    pub fn constant(&mut self, value: f64) -> Operand {
        Operand::Constant(self.place(value))
    }

    /// A constant given by its bits.
    pub fn bits(&mut self, bits: u64) -> Operand {
        self.constant(f64::from_bits(bits))
    }

    /// The place of a constant.
    pub(crate) fn place(&mut self, value: f64) -> u32 {
        *self.places.entry(value.to_bits()).or_insert_with(|| {
            self.constants.push(value);
            self.constants.len() as u32 - 1
        })
    }

    /// Bits shifted left.
    pub fn shift_left(&mut self, a: Operand, bits: u8) -> Operand {
        self.push(Code::ShiftLeft(bits), &[a])
    }

    /// Bits shifted right, filled with zeros.
    pub fn shift_right(&mut self, a: Operand, bits: u8) -> Operand {
        self.push(Code::ShiftRight(bits), &[a])
    }

    /// c if a and b pass the test, else d.
    pub fn select(
        &mut self,
        test: Test,
        a: impl Argument,
        b: impl Argument,
        c: impl Argument,
        d: impl Argument,
    ) -> Operand {
        let arguments = [a.operand(self), b.operand(self), c.operand(self), d.operand(self)];
        self.push(Code::Select(test), &arguments)
    }

    /// −a.
    pub fn neg(&mut self, a: Operand) -> Operand {
        self.xor(a, -0.0)
    }

    /// |a|.
    pub fn abs(&mut self, a: Operand) -> Operand {
        self.and_not(-0.0, a)
    }

    /// |a| with the sign bit of b.
    pub fn copy_sign(&mut self, a: Operand, b: Operand) -> Operand {
        let magnitude = self.abs(a);
        let sign = self.and(b, -0.0);
        self.or(magnitude, sign)
    }

    /// The operator's value from the table, by a call per lane.
    pub fn call(&mut self, op: Op, arguments: &[Operand]) -> Operand {
        self.push(Code::Call(op), arguments)
    }

    /// `fast`, but the operator's value from the table in lanes where not `test ≤ limit`.
    pub fn repair(
        &mut self,
        fast: Operand,
        test: Operand,
        limit: f64,
        op: Op,
        arguments: &[Operand],
    ) -> Operand {
        let limit = self.place(limit);
        let mut operands = vec![fast, test];
        operands.extend_from_slice(arguments);
        self.push(Code::Repair { op, limit }, &operands)
    }

    /// An instruction, or the equal one that is there already.
    pub fn push(&mut self, code: Code, arguments: &[Operand]) -> Operand {
        let instruction = match *arguments {
            [a, b] if Self::commutes(code) && b < a => Instruction::new(code, &[b, a]),
            [a, b, c] if Self::commutes(code) && b < a => Instruction::new(code, &[b, a, c]),
            _ => Instruction::new(code, arguments),
        };
        let next = Operand::Temporary(self.body.len() as u32);
        let found = *self.known.entry(instruction).or_insert(next);
        if found == next {
            self.body.push(instruction);
        }
        found
    }

    /// Whether the first two arguments can be exchanged.
    fn commutes(code: Code) -> bool {
        use Code::{Add, AddInt, And, Mul, MulAdd, MulSub, NegMulAdd, NegMulSub, Or, Xor};
        matches!(code, Add | Mul | MulAdd | MulSub | NegMulAdd | NegMulSub | And | Or | Xor | AddInt)
    }
}
