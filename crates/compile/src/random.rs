//! Random programs and what they must give: the common ground of the tests of all backends.
//!
//! A backend must agree with [`Code::value`] bit for bit. Only the bits of a NaN that arithmetic made are free, so
//! the oracle follows where those bits go ([`Expected`]).

use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Code, Instruction, Operand, Test};
use crate::program::Program;
use leastaction_expr::{Op, Symbol};

pub(crate) use leastaction_testing::Random;

/// Any kind of number: ordinary, whole, huge, tiny, subnormal, infinite, NaN, or random bits.
pub(crate) fn wild(random: &mut Random) -> f64 {
    const SPECIAL: [f64; 14] = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        -5e-324,
        1e300,
        -1e300,
        1e-300,
        0.5,
        -2.5,
        4503599627370497.5,
        -1.0,
    ];
    match random.below(10) {
        0..4 => random.between(-4.0, 4.0),
        4..6 => random.below(40) as f64 / 2.0 - 10.0,
        6..9 => random.pick(&SPECIAL),
        _ => match f64::from_bits(random.bits()) {
            x if x.is_nan() => f64::from_bits(x.to_bits() | 1 << 51), // a signalling one would be made quiet
            x => x,
        },
    }
}

/// A program of random instructions over all codes.
pub(crate) fn program(random: &mut Random) -> Program {
    let size = |random: &mut Random, usual: usize, large: usize| {
        if random.chance(0.05) { random.below(large) } else { random.below(usual) }
    };
    let names = |count: usize, letter: &str| -> Vec<Symbol> {
        (0..count).map(|i| Symbol { name: format!("{letter}{i}").into(), dots: 0 }).collect()
    };
    let inputs = size(random, 12, 300);
    let parameters = size(random, 6, 40);
    let constants = 1 + size(random, 12, 300);
    let length = match random.below(10) {
        0..5 => random.below(30),
        5..9 => 30 + random.below(170),
        _ => 200 + random.below(600),
    };

    let mut draft = Draft::default();
    for _ in 0..constants {
        let value = if random.chance(0.7) { random.between(-4.0, 4.0) } else { wild(random) };
        let constant = draft.builder.constant(value);
        draft.leaves.push(constant);
    }
    draft.leaves.extend((0..parameters).map(|i| Operand::Parameter(i as u32)));
    // Inputs count more than the rest.
    for _ in 0..1 + constants / inputs.max(1) {
        draft.leaves.extend((0..inputs).map(|i| Operand::Input(i as u32)));
    }
    draft.reach = random.pick(&[3, 10, 40, usize::MAX]);
    // Values that wait long for their use make registers scarce.
    draft.old = random.pick(&[0.0, 0.1, 0.5, 0.9]);
    let wide = random.chance(0.3);
    let copies = random.chance(0.4);
    for i in 0..length {
        let only_leaves = wide && i < length / 2;
        draft.push(random, only_leaves);
        if copies && random.chance(1.5 / length as f64) {
            draft.copies(random, inputs);
        }
    }

    let Draft { builder: Builder { constants, body, .. }, leaves, unused, .. } = draft;
    let mut outputs: Vec<Operand> = Vec::new();
    if random.chance(0.7) {
        outputs.extend(&unused);
    }
    for _ in 0..size(random, 12, 300) {
        let operand = match body.len() {
            0 => random.pick(&leaves),
            _ if random.chance(0.2) => random.pick(&leaves),
            count => Operand::Temporary(random.below(count) as u32),
        };
        outputs.push(operand);
    }
    let program = Program {
        inputs: names(inputs, "x"),
        parameters: names(parameters, "p"),
        constants,
        uniforms: Vec::new(),
        body,
        outputs,
    };
    if random.chance(0.5) { crate::hoist::hoist(program) } else { program }
}

/// A program in the making.
#[derive(Default)]
struct Draft {
    builder: Builder,
    leaves: Vec<Operand>,
    /// Temporaries that nothing reads yet, oldest first.
    unused: Vec<Operand>,
    /// How many instructions back an argument may lie.
    reach: usize,
    /// How often an argument is the oldest that nothing reads yet.
    old: f64,
    /// The last instruction that chose by a condition.
    choice: Option<Instruction>,
}

/// Where an argument of a pattern comes from, in each of its copies.
#[derive(Clone, Copy)]
enum Origin {
    /// An earlier instruction of the copy.
    Within(usize),
    /// An argument as any instruction has it, chosen for each copy.
    Any,
    /// The same for all copies.
    Shared(Operand),
    /// Inputs one after the other, from this one on.
    Row(usize),
    /// An earlier instruction of the copy before, if there is one.
    Before(usize),
}

impl Draft {
    /// Several copies of some instructions, on arguments of their own: what native code packs.
    fn copies(&mut self, random: &mut Random, inputs: usize) {
        let (count, length) = (2 + random.below(20), 1 + random.below(25));
        let mut pattern: Vec<(Code, Vec<Origin>)> = Vec::with_capacity(length);
        for i in 0..length {
            let code = self.code(random);
            let origin = |random: &mut Random, draft: &mut Draft| match random.below(20) {
                0..12 if i > 0 => Origin::Within(random.below(i.min(6)) + i.saturating_sub(6)),
                12..14 => Origin::Shared(draft.argument(random, false)),
                14..17 if inputs > 0 => Origin::Row(random.below(inputs)),
                17 if i > 0 => Origin::Before(random.below(i)),
                _ => Origin::Any,
            };
            pattern.push((code, (0..code.arity()).map(|_| origin(random, self)).collect()));
        }
        let mut before: Vec<Operand> = Vec::new();
        let interleaved = random.chance(0.5);
        let mut copies: Vec<Vec<Operand>> = vec![Vec::new(); count];
        for turn in 0..count * length {
            let (copy, i) =
                if interleaved { (turn % count, turn / count) } else { (turn / length, turn % length) };
            if !interleaved && i == 0 && copy > 0 {
                before = copies[copy - 1].clone();
            }
            let (code, origins) = &pattern[i];
            let arguments: Vec<Operand> = origins
                .iter()
                .map(|&origin| match origin {
                    Origin::Within(i) => copies[copy][i],
                    Origin::Shared(operand) => operand,
                    Origin::Row(first) => Operand::Input(((first + copy) % inputs) as u32),
                    Origin::Before(i) if i < before.len() => before[i],
                    Origin::Before(_) | Origin::Any => self.argument(random, false),
                })
                .collect();
            let result = self.builder.push(*code, &arguments);
            copies[copy].push(result);
            if i + 1 == length || random.chance(0.1) {
                self.unused.push(result);
            }
        }
    }

    fn push(&mut self, random: &mut Random, only_leaves: bool) {
        let code = self.code(random);
        let mut arguments: Vec<Operand> = Vec::with_capacity(4);
        // One condition often serves several choices.
        let code = match self.choice {
            Some(Instruction { code, operands: [a, b, ..] }) if !only_leaves && random.chance(0.05) => {
                arguments.push(a);
                if code != Code::SelectSign {
                    arguments.push(b);
                }
                code
            }
            _ => code,
        };
        for _ in arguments.len()..code.arity() {
            let argument = match arguments.last() {
                Some(_) if random.chance(0.12) => random.pick(&arguments),
                _ => self.argument(random, only_leaves),
            };
            arguments.push(argument);
        }
        let known = self.builder.body.len();
        let result = self.builder.push(code, &arguments);
        if matches!(code, Code::Select(_) | Code::SelectSign | Code::Repair { .. }) {
            self.choice = Some(Instruction::new(code, &arguments));
        }
        self.unused.retain(|operand| !arguments.contains(operand));
        if self.builder.body.len() > known {
            self.unused.push(result);
        }
    }

    /// Any code.
    fn code(&mut self, random: &mut Random) -> Code {
        const ARITHMETIC: [Code; 11] = [
            Code::Add,
            Code::Sub,
            Code::Mul,
            Code::Div,
            Code::Sqrt,
            Code::MulAdd,
            Code::MulSub,
            Code::NegMulAdd,
            Code::NegMulSub,
            Code::Round,
            Code::Floor,
        ];
        const BITS: [Code; 7] =
            [Code::And, Code::AndNot, Code::Or, Code::Xor, Code::XorAnd, Code::AddInt, Code::SubInt];
        const CALLS: [Op; 9] =
            [Op::Erf, Op::Cbrt, Op::Atan2, Op::Hypot, Op::Sin, Op::Tanh, Op::Atan, Op::Select, Op::Pow];
        match random.below(100) {
            0..45 => random.pick(&ARITHMETIC),
            45..60 => random.pick(&[Code::MulAdd, Code::MulSub, Code::NegMulAdd, Code::NegMulSub]),
            60..70 => random.pick(&[Code::Min, Code::Max]),
            70..75 => random.pick(&BITS),
            75..78 => {
                let bits = random.below(64) as u8;
                random.pick(&[Code::ShiftLeft(bits), Code::ShiftRight(bits)])
            }
            78..90 => Code::Select(random.pick(&Test::ALL)),
            90..94 => Code::SelectSign,
            94..97 => Code::Call(random.pick(&CALLS)),
            _ => {
                let limit = random.pick(&[0.5, 1.0, 2.5, 1e10, -1.0]);
                let op = random.pick(&[Op::Erf, Op::Sin, Op::Cbrt, Op::Atan2, Op::Hypot]);
                Code::Repair { op, limit: self.builder.place(limit) }
            }
        }
    }

    fn argument(&mut self, random: &mut Random, only_leaves: bool) -> Operand {
        let count = self.builder.body.len();
        if only_leaves || count == 0 || random.chance(0.3) {
            return random.pick(&self.leaves);
        }
        match self.unused.first() {
            Some(&oldest) if random.chance(self.old) => oldest,
            _ => Operand::Temporary((count - 1 - random.below(count.min(self.reach))) as u32),
        }
    }
}

/// What is known of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Exactly these bits.
    Bits(u64),
    /// A NaN that arithmetic made: any sign and payload.
    Nan,
    /// It depends on the bits of such a NaN.
    Unknown,
}

impl Expected {
    fn value(self) -> f64 {
        match self {
            Expected::Bits(bits) => f64::from_bits(bits),
            Expected::Nan | Expected::Unknown => f64::NAN,
        }
    }

    /// Whether a result is right as far as can be said.
    pub(crate) fn allows(self, result: f64) -> bool {
        match self {
            Expected::Bits(bits) => result.to_bits() == bits,
            Expected::Nan => result.is_nan(),
            Expected::Unknown => true,
        }
    }

    /// Whether this is a number to compare with.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Expected::Bits(bits) if !f64::from_bits(bits).is_nan())
    }

    /// The result of an instruction in one lane.
    fn of(code: Code, arguments: [Expected; 4], limit: f64) -> Expected {
        use Expected::{Bits, Nan, Unknown};
        let [a, b, c, d] = arguments;
        let [x, y, ..] = arguments.map(Expected::value);
        let either = |choice: Option<bool>, yes: Expected, no: Expected| match choice {
            Some(true) => yes,
            Some(false) => no,
            None if yes == no => yes,
            None => Unknown,
        };
        let known = |test: bool| (a != Unknown && b != Unknown).then_some(test);
        let used = &arguments[..code.arity()];
        let computed = |used: &[Expected], value: f64| match value {
            _ if used.contains(&Unknown) => Unknown,
            value if value.is_nan() => Nan,
            value => Bits(value.to_bits()),
        };
        match code {
            Code::Min => either(known(x < y), a, b),
            Code::Max => either(known(x > y), a, b),
            Code::Select(test) => either(known(test.holds(x, y)), c, d),
            Code::SelectSign => match a {
                Bits(_) => either(Some(x.is_sign_negative()), b, c),
                Nan | Unknown => either(None, b, c),
            },
            Code::Repair { .. } if b == Unknown => Unknown,
            Code::Repair { .. } if y <= limit => a,
            Code::And
            | Code::AndNot
            | Code::Or
            | Code::Xor
            | Code::XorAnd
            | Code::AddInt
            | Code::SubInt
            | Code::ShiftLeft(_)
            | Code::ShiftRight(_) => {
                if used.iter().all(|e| matches!(e, Bits(_))) {
                    Bits(code.value(arguments.map(Expected::value), limit).to_bits())
                } else {
                    Unknown
                }
            }
            Code::Repair { .. } => computed(&used[2..], code.value(arguments.map(Expected::value), limit)),
            _ => computed(used, code.value(arguments.map(Expected::value), limit)),
        }
    }
}

/// The pool of a program: constants, parameters, uniforms.
pub(crate) fn pool(program: &Program, parameters: &[f64]) -> Vec<f64> {
    let mut pool = program.constants.clone();
    pool.extend_from_slice(parameters);
    for instruction in &program.uniforms {
        let arguments = instruction.operands.map(|a| pool[program.pool_place(a)]);
        pool.push(instruction.code.value(arguments, program.limit(instruction.code)));
    }
    pool
}

/// The outputs in one lane.
pub(crate) fn expect(program: &Program, pool: &[f64], inputs: &[f64]) -> Vec<Expected> {
    let mut temporaries: Vec<Expected> = Vec::with_capacity(program.body.len());
    let find = |temporaries: &[Expected], operand: Operand| match operand {
        Operand::Input(i) => Expected::Bits(inputs[i as usize].to_bits()),
        Operand::Temporary(i) => temporaries[i as usize],
        shared => Expected::Bits(pool[program.pool_place(shared)].to_bits()),
    };
    for instruction in &program.body {
        let arguments = instruction.operands.map(|operand| find(&temporaries, operand));
        temporaries.push(Expected::of(instruction.code, arguments, program.limit(instruction.code)));
    }
    program.outputs.iter().map(|&output| find(&temporaries, output)).collect()
}

/// A smaller program that still fails: drops outputs and instructions while it does.
pub(crate) fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smaller = true;
    while smaller {
        smaller = false;
        for i in (0..program.outputs.len()).rev() {
            let mut candidate = program.clone();
            candidate.outputs.remove(i);
            if fails(&candidate) {
                (program, smaller) = (candidate, true);
            }
        }
        for i in (0..program.body.len()).rev() {
            let candidate = without(&program, i as u32);
            if fails(&candidate) {
                (program, smaller) = (candidate, true);
            }
        }
    }
    program
}

/// The program without an instruction: its first argument stands for it.
fn without(program: &Program, removed: u32) -> Program {
    let mut program = program.clone();
    let first = program.body.remove(removed as usize).operands[0];
    let moved = |operand| match operand {
        Operand::Temporary(i) if i == removed => first,
        Operand::Temporary(i) if i > removed => Operand::Temporary(i - 1),
        other => other,
    };
    program.body.iter_mut().for_each(|instruction| *instruction = instruction.map(moved));
    program.outputs.iter_mut().for_each(|output| *output = moved(*output));
    program
}
