//! The reverse of a program: the derivatives of a weighted sum of its outputs by inputs and parameters, in one sweep back over its instructions.
//!
//! For outputs y = f(x), seeds λ lead to λᵀ ∂f/∂x, whatever the number of inputs, at the cost of a few evaluations
//! (A. Griewank and A. Walther, *Evaluating Derivatives*, 2008, chapter 3). The reverse is a program again: every backend runs it, in lanes too, and it has
//! a reverse of its own. Derivatives of functions are those of the operator table.
//!
//! Where a choice leaves a branch out, what is behind that branch has the adjoint 0, although its derivatives may be infinite there: 0 times those is 0.

use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Code, Instruction, Operand, Test};
use crate::program::Program;
use crate::{expand, fuse, hoist, lower};
use leastaction_expr::{Expr, Graph, Op, Symbol};
use rustc_hash::FxHashMap;

/// Why a program has no reverse.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReverseError {
    /// An instruction works on the bits of numbers.
    #[error(
        "`{code:?}` works on the bits of numbers and has no derivative: reverse the program before its functions are written out"
    )]
    Bits {
        /// The instruction.
        code: Code,
    },
    /// A variable is neither an input nor a parameter of the program.
    #[error("{variable:?} is neither an input nor a parameter of the program: derivatives are by those")]
    NotAVariable {
        /// What was given.
        variable: Operand,
    },
}

impl Program {
    /// The program of Σ seedᵢ · ∂outputᵢ/∂x for every variable x, which is an input or a parameter. Its inputs are those of this program, then one seed for
    /// each output.
    ///
    /// Choices count as they fall: `min`, `max`, `abs` and `select` have the derivative of the branch that is taken, and steps such as `floor` have none.
    ///
    /// ```
    /// use leastaction_compile::{Kernel, Operand, Program};
    /// use leastaction_expr::Graph;
    ///
    /// let graph = Graph::new();
    /// let [q, v, g] = graph.symbols(["q", "v", "g"]);
    /// let field = Program::build(&[q, v], &[g], &[v, -g * q.sin()])?;
    /// let reverse = field.reverse(&[Operand::Input(0), Operand::Input(1), Operand::Parameter(0)])?;
    /// let mut reverse = Kernel::compile(reverse)?.evaluator(&[9.81])?;
    ///
    /// let mut gradient = [0.0; 3];
    /// reverse.eval(&[0.5, 1.0, /* seeds */ 2.0, 3.0], &mut gradient)?;
    /// let exact = [-3.0 * 9.81 * 0.5f64.cos(), 2.0, -3.0 * 0.5f64.sin()];
    /// assert!(gradient.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-14));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReverseError`] if something that is differentiated works on bits, or a variable is neither an input nor a parameter.
    pub fn reverse(&self, by: &[Operand]) -> Result<Program, ReverseError> {
        let known = |variable: Operand| match variable {
            Operand::Input(i) => (i as usize) < self.inputs.len(),
            Operand::Parameter(i) => (i as usize) < self.parameters.len(),
            _ => false,
        };
        if let Some(&variable) = by.iter().find(|v| !known(**v)) {
            return Err(ReverseError::NotAVariable { variable });
        }
        let mut sweep = Sweep::new(self, by);
        for (output, seed) in self.outputs.iter().zip(0..) {
            let seed = Operand::Input(self.inputs.len() as u32 + seed);
            sweep.accumulate(*output, Term::Plus(seed));
        }
        for place in (0..sweep.instructions.len()).rev() {
            sweep.reverse(place)?;
        }
        let zero = sweep.builder.constant(0.0);
        let outputs = by.iter().map(|&v| sweep.leaves.get(&v).copied().flatten().unwrap_or(zero)).collect();
        let Builder { constants, body, .. } = sweep.builder;
        let program = Program {
            inputs: self.inputs.iter().cloned().chain(seeds(self)).collect(),
            parameters: self.parameters.clone(),
            constants,
            uniforms: Vec::new(),
            body,
            outputs,
        };
        Ok(expand::pair(hoist::hoist(program)))
    }
}

/// Names for the seeds that no other symbol of the program has.
fn seeds(program: &Program) -> impl Iterator<Item = Symbol> {
    let symbols = program.inputs.iter().chain(&program.parameters);
    let marks = |s: &Symbol| s.name.bytes().take_while(|b| *b == b'~').count();
    let mark = "~".repeat(1 + symbols.map(marks).max().unwrap_or(0));
    (0..program.outputs.len()).map(move |i| Symbol { name: format!("{mark}{i}").into(), dots: 0 })
}

/// What is added to an adjoint.
#[derive(Clone, Copy)]
enum Term {
    Plus(Operand),
    Minus(Operand),
    PlusProduct(Operand, Operand),
    MinusProduct(Operand, Operand),
}

/// A result of the program: where it is written, and its adjoint so far.
struct Node {
    value: Operand,
    adjoint: Option<Operand>,
    /// Whether it depends on a variable.
    active: bool,
    /// Whether a choice may leave it out.
    optional: bool,
}

/// The way back over a program.
struct Sweep {
    /// Those of the uniforms, then those of the body, as they stand in the program.
    instructions: Vec<Instruction>,
    uniforms: usize,
    nodes: Vec<Node>,
    /// The variables, and their adjoints so far.
    leaves: FxHashMap<Operand, Option<Operand>>,
    builder: Builder,
    graph: Graph,
    /// Derivatives of operators by an argument, where some arguments are constants, by their bits.
    slopes: FxHashMap<(Op, usize, [Option<u64>; 3]), Program>,
}

impl Sweep {
    /// The program written out once, with what the way back needs to know of its results.
    fn new(program: &Program, by: &[Operand]) -> Sweep {
        let (uniforms, body) = (&program.uniforms, &program.body);
        let mut sweep = Sweep {
            instructions: uniforms.iter().chain(body).copied().collect(),
            uniforms: uniforms.len(),
            nodes: Vec::with_capacity(uniforms.len() + body.len()),
            leaves: by.iter().map(|&variable| (variable, None)).collect(),
            builder: Builder::with_constants(&program.constants, 4 * (uniforms.len() + body.len())),
            graph: Graph::new(),
            slopes: FxHashMap::default(),
        };
        for place in 0..sweep.instructions.len() {
            let instruction = sweep.instructions[place];
            // Sines and cosines are paired again at the end, with those of derivatives.
            let code =
                if let Code::Paired(op) = instruction.code { Code::Math(op) } else { instruction.code };
            let arguments = instruction.map(|operand| sweep.value(operand));
            let value = sweep.builder.push(code, arguments.arguments());
            let active = instruction.arguments().iter().any(|&a| sweep.is_active(a));
            sweep.nodes.push(Node { value, adjoint: None, active, optional: false });
        }
        for place in (0..sweep.instructions.len()).rev() {
            let instruction = sweep.instructions[place];
            let chosen = if sweep.nodes[place].optional { 0 } else { first_choice(instruction.code) };
            for &argument in instruction.arguments().iter().skip(chosen) {
                if let Some(i) = sweep.place(argument) {
                    sweep.nodes[i].optional = true;
                }
            }
        }
        sweep
    }

    /// The place of a result among the instructions.
    fn place(&self, operand: Operand) -> Option<usize> {
        match operand {
            Operand::Uniform(i) => Some(i as usize),
            Operand::Temporary(i) => Some(self.uniforms + i as usize),
            _ => None,
        }
    }

    /// Where an operand of the program stands in the reverse.
    fn value(&self, operand: Operand) -> Operand {
        self.place(operand).map_or(operand, |i| self.nodes[i].value)
    }

    fn is_active(&self, operand: Operand) -> bool {
        self.place(operand).map_or_else(|| self.leaves.contains_key(&operand), |i| self.nodes[i].active)
    }

    /// The value of a constant.
    fn constant(&self, operand: Operand) -> Option<f64> {
        if let Operand::Constant(i) = operand { Some(self.builder.constants[i as usize]) } else { None }
    }

    /// Adds to the adjoint of an operand of the program, if it depends on a variable.
    fn accumulate(&mut self, operand: Operand, term: Term) {
        if !self.is_active(operand) {
            return;
        }
        let place = self.place(operand);
        let before = match place {
            Some(i) => self.nodes[i].adjoint,
            None => self.leaves.get(&operand).copied().flatten(),
        };
        let builder = &mut self.builder;
        let sum = match (before, term) {
            (None, Term::Plus(a)) => a,
            (None, Term::Minus(a)) => builder.push(Code::Math(Op::Neg), &[a]),
            (None, Term::PlusProduct(a, b)) => builder.mul(a, b),
            (None, Term::MinusProduct(a, b)) => builder.neg_mul_sub(a, b, 0.0),
            (Some(sum), Term::Plus(a)) => builder.add(sum, a),
            (Some(sum), Term::Minus(a)) => builder.sub(sum, a),
            (Some(sum), Term::PlusProduct(a, b)) => builder.mul_add(a, b, sum),
            (Some(sum), Term::MinusProduct(a, b)) => builder.neg_mul_add(a, b, sum),
        };
        match place {
            Some(i) => self.nodes[i].adjoint = Some(sum),
            None => {
                self.leaves.insert(operand, Some(sum));
            }
        }
    }

    /// Hands the adjoint of a result to its arguments.
    fn reverse(&mut self, place: usize) -> Result<(), ReverseError> {
        let Node { value: y, adjoint, active, optional } = self.nodes[place];
        let (Some(adjoint), true) = (adjoint, active) else { return Ok(()) };
        let instruction = self.instructions[place];
        let [a, b, c, d] = instruction.operands;
        let [x, z, w, _] = instruction.operands.map(|operand| self.value(operand));
        // What is not differentiated by needs no term.
        let mut terms: Vec<(Operand, Term)> = Vec::with_capacity(4);
        let builder = &mut self.builder;
        let zero = builder.constant(0.0);
        use Term::{Minus, MinusProduct, Plus, PlusProduct};
        match instruction.code {
            Code::Add => terms.extend([(a, Plus(adjoint)), (b, Plus(adjoint))]),
            Code::Sub => terms.extend([(a, Plus(adjoint)), (b, Minus(adjoint))]),
            Code::Mul => terms.extend([(a, PlusProduct(adjoint, z)), (b, PlusProduct(adjoint, x))]),
            Code::MulAdd => {
                terms.extend([(a, PlusProduct(adjoint, z)), (b, PlusProduct(adjoint, x)), (c, Plus(adjoint))])
            }
            Code::MulSub => terms.extend([
                (a, PlusProduct(adjoint, z)),
                (b, PlusProduct(adjoint, x)),
                (c, Minus(adjoint)),
            ]),
            Code::NegMulAdd => terms.extend([
                (a, MinusProduct(adjoint, z)),
                (b, MinusProduct(adjoint, x)),
                (c, Plus(adjoint)),
            ]),
            Code::NegMulSub => terms.extend([
                (a, MinusProduct(adjoint, z)),
                (b, MinusProduct(adjoint, x)),
                (c, Minus(adjoint)),
            ]),
            Code::Div => {
                let part = builder.div(adjoint, z);
                terms.extend([(a, Plus(part)), (b, MinusProduct(part, y))]);
            }
            Code::Sqrt => {
                let half = builder.mul(0.5, adjoint);
                terms.push((a, Plus(builder.div(half, y))));
            }
            Code::Min | Code::Max => {
                let (low, high) = if instruction.code == Code::Min { (x, z) } else { (z, x) };
                terms.push((a, Plus(builder.select(Test::Less, low, high, adjoint, zero))));
                terms.push((b, Plus(builder.select(Test::Less, low, high, zero, adjoint))));
            }
            Code::Select(test) => {
                terms.push((c, Plus(builder.select(test, x, z, adjoint, zero))));
                terms.push((d, Plus(builder.select(test, x, z, zero, adjoint))));
            }
            Code::SelectSign => {
                terms.push((b, Plus(builder.select_sign(x, adjoint, zero))));
                terms.push((c, Plus(builder.select_sign(x, zero, adjoint))));
            }
            Code::Round | Code::Floor => {}
            Code::Math(op) | Code::Paired(op) | Code::Call(op) => {
                self.function(op, place, adjoint, &mut terms)
            }
            // Signs, as `Arithmetic` writes them.
            Code::Xor if self.is_sign(b) => terms.push((a, Minus(adjoint))),
            Code::Xor if self.is_sign(a) => terms.push((b, Minus(adjoint))),
            Code::AndNot if self.is_sign(a) => {
                let sign = self.builder.push(Code::Math(Op::Sign), &[z]);
                terms.push((b, PlusProduct(adjoint, sign)));
            }
            Code::XorAnd if self.is_sign(c) => {
                terms.push((a, Plus(self.builder.apply(Code::XorAnd, &[adjoint, z, w]))));
            }
            code => return Err(ReverseError::Bits { code }),
        }
        for (operand, term) in terms {
            if self.is_active(operand) {
                let term = if optional { self.guarded(adjoint, term) } else { term };
                self.accumulate(operand, term);
            }
        }
        Ok(())
    }

    fn is_sign(&self, operand: Operand) -> bool {
        self.constant(operand).is_some_and(|value| value.to_bits() == (-0.0_f64).to_bits())
    }

    /// A term that is 0 where the adjoint is, whatever it is multiplied by.
    fn guarded(&mut self, adjoint: Operand, term: Term) -> Term {
        let builder = &mut self.builder;
        let value = match term {
            Term::Plus(a) | Term::Minus(a) if a == adjoint => return term,
            Term::Plus(a) => a,
            Term::Minus(a) => builder.push(Code::Math(Op::Neg), &[a]),
            Term::PlusProduct(a, b) => builder.mul(a, b),
            Term::MinusProduct(a, b) => builder.neg_mul_sub(a, b, 0.0),
        };
        Term::Plus(builder.select(Test::Equal, adjoint, 0.0, 0.0, value))
    }

    /// The terms of an operator of the table.
    fn function(&mut self, op: Op, place: usize, adjoint: Operand, terms: &mut Vec<(Operand, Term)>) {
        let instruction = self.instructions[place];
        let arguments = instruction.arguments();
        let values: Vec<Operand> = arguments.iter().map(|&a| self.value(a)).collect();
        for (index, &argument) in arguments.iter().enumerate() {
            if !self.is_active(argument) {
                continue;
            }
            // What is chosen gets all, and what is left out nothing: not a product with 1 or 0.
            let zero = self.builder.constant(0.0);
            let choice = match (op, &values[..]) {
                (Op::Select, &[condition, ..]) if index > 0 => {
                    Some((Test::Differ, condition, zero, index == 1))
                }
                (Op::Min, &[a, b]) => Some((Test::Less, a, b, index == 0)),
                (Op::Max, &[a, b]) => Some((Test::Less, b, a, index == 0)),
                _ => None,
            };
            if let Some((test, a, b, holds)) = choice {
                let (yes, no) = if holds { (adjoint, zero) } else { (zero, adjoint) };
                terms.push((argument, Term::Plus(self.builder.select(test, a, b, yes, no))));
                continue;
            }
            let slope = self.slope(op, index, &values, self.nodes[place].value);
            terms.push(match self.constant(slope) {
                Some(0.0) => continue,
                Some(1.0) => (argument, Term::Plus(adjoint)),
                Some(-1.0) => (argument, Term::Minus(adjoint)),
                _ => (argument, Term::PlusProduct(adjoint, slope)),
            });
        }
    }

    /// The derivative of an operator by one of its arguments.
    fn slope(&mut self, op: Op, index: usize, arguments: &[Operand], result: Operand) -> Operand {
        let mut constants = [None; 3];
        for (known, &argument) in constants.iter_mut().zip(arguments) {
            *known = self.constant(argument).map(f64::to_bits);
        }
        let graph = &self.graph;
        let slope = self.slopes.entry((op, index, constants)).or_insert_with(|| {
            let symbols: [Expr<'_>; 4] = graph.symbols(["a", "b", "c", "y"]);
            let with = |constants: [Option<u64>; 3]| {
                let exact = |i: usize| constants[i].map(|bits| graph.number(f64::from_bits(bits)));
                let of: Vec<_> = (0..arguments.len()).map(|i| exact(i).unwrap_or(symbols[i])).collect();
                lower::lower(&symbols, &[], &[(op.row().partial)(&of, symbols[3], index)])
            };
            // What is not finite at constants, such as ln 0 in the derivative of 0ˣ, is computed and not folded.
            match with(constants).or_else(|_| with([None; 3])) {
                Ok(program) => fuse::fuse(program),
                Err(error) => unreachable!("the derivative of {} is no program: {error}", op.row().name),
            }
        });
        let builder = &mut self.builder;
        let constants: Vec<Operand> = slope.constants.iter().map(|&c| builder.constant(c)).collect();
        let mut places: Vec<Operand> = Vec::with_capacity(slope.body.len());
        let moved = |operand: Operand, places: &[Operand]| match operand {
            Operand::Constant(i) => constants[i as usize],
            Operand::Input(3) => result,
            Operand::Input(i) => arguments[i as usize],
            Operand::Temporary(i) => places[i as usize],
            other => unreachable!("{other:?} in a program that has no parameters"),
        };
        for instruction in &slope.body {
            let instruction = instruction.map(|operand| moved(operand, &places));
            places.push(builder.push(instruction.code, instruction.arguments()));
        }
        moved(slope.outputs[0], &places)
    }
}

/// The first argument that an instruction chooses by a condition, and may leave out.
fn first_choice(code: Code) -> usize {
    match code {
        Code::Min | Code::Max | Code::Math(Op::Min | Op::Max) => 0,
        Code::SelectSign | Code::Math(Op::Select) | Code::Call(Op::Select) => 1,
        Code::Select(_) => 2,
        _ => usize::MAX,
    }
}
