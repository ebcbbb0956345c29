//! The program: straight-line code in single-assignment form, over lanes of `f64`.

use crate::instruction::{Code, Instruction, Operand};
use crate::kernel::ArgumentError;
use crate::{expand, factor, fuse, hoist, lower};
use leastaction_expr::{Expr, Symbol};
use std::fmt;

/// Straight-line code over lanes of `f64`, ready for any backend.
///
/// A program has *inputs*, one value per lane and call; *parameters*, which are set once for many calls, for all lanes or for
/// each, without recompiling; and *outputs*. What depends on parameters alone is hoisted: it is computed when parameters
/// are set, not in every call.
///
/// ```
/// use leastaction_compile::Program;
/// use leastaction_expr::Graph;
///
/// let graph = Graph::new();
/// let [q, g, l] = graph.symbols(["q", "g", "l"]);
/// let program = Program::build(&[q], &[g, l], &[-(g / l) * q.abs()])?;
/// assert_eq!(
///     program.to_string(),
///     "program (q; g, l) -> 1\n\
///      u0 = Div g l\n\
///      t0 = abs q\n\
///      t1 = NegMulSub u0 t0 0.0\n\
///      out t1\n"
/// );
/// # Ok::<(), leastaction_compile::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) inputs: Vec<Symbol>,
    pub(crate) parameters: Vec<Symbol>,
    pub(crate) constants: Vec<f64>,
    /// Instructions hoisted out of the lanes: they read no input and no temporary.
    pub(crate) uniforms: Vec<Instruction>,
    pub(crate) body: Vec<Instruction>,
    pub(crate) outputs: Vec<Operand>,
}

/// Why expressions cannot become a program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// An expression uses a symbol that is neither an input nor a parameter.
    #[error("`{symbol}` is neither an input nor a parameter: add it to one of the two lists")]
    UnknownSymbol {
        /// The symbol.
        symbol: Symbol,
    },
    /// An input or a parameter is not a symbol.
    #[error("{what} {index} is `{expression}`: only symbols can be given values")]
    NotASymbol {
        /// "input" or "parameter".
        what: &'static str,
        /// The place in its list.
        index: usize,
        /// The expression found there.
        expression: String,
    },
    /// A symbol stands twice among inputs and parameters.
    #[error("`{symbol}` is given twice: keep it either as an input or as a parameter")]
    DuplicateSymbol {
        /// The symbol.
        symbol: Symbol,
    },
    /// A constant is infinite or NaN.
    #[error("the constant {value} is not finite: check the numbers that went into the expression")]
    NonFiniteConstant {
        /// The constant.
        value: f64,
    },
}

impl Program {
    /// Compiles expressions of inputs and parameters into a program with one output per expression.
    ///
    /// The passes, each linear in its input: lowering (the graph has no common subexpressions), fusion of products
    /// with sums, pairing sines with cosines, hoisting of what no lane changes.
    ///
    /// # Errors
    /// [`BuildError`] if a symbol is unknown or given twice, or a constant is not finite.
    pub fn build(
        inputs: &[Expr<'_>],
        parameters: &[Expr<'_>],
        outputs: &[Expr<'_>],
    ) -> Result<Program, BuildError> {
        let lowered = lower::lower(inputs, parameters, outputs)?;
        Ok(finished(lowered))
    }

    /// The same in fewer instructions, for what is computed again and again, such as the field of a motion: factors that no lane changes are
    /// gathered, and polynomials are written in the shortest of some forms. Results differ from those of [`Program::build`] by rounding.
    ///
    /// # Errors
    /// [`BuildError`] if a symbol is unknown or given twice, or a constant is not finite.
    pub fn lean(
        inputs: &[Expr<'_>],
        parameters: &[Expr<'_>],
        outputs: &[Expr<'_>],
    ) -> Result<Program, BuildError> {
        let lowered = lower::lower(inputs, parameters, outputs)?;
        let (patient, tied) = factor::with_fewer_instructions(&lowered, false);
        let (plain, patient) = (finished(lowered.clone()), finished(patient));
        if patient.cost() >= plain.cost() {
            return Ok(plain);
        }
        // Where little was gained, little more can be.
        if tied && patient.cost() < plain.cost() - plain.cost() / 32 {
            let eager = finished(factor::with_fewer_instructions(&lowered, true).0);
            if eager.cost() < patient.cost() {
                return Ok(eager);
            }
        }
        Ok(patient)
    }

    /// About how long the body takes, in instructions: a quotient takes as long as several.
    fn cost(&self) -> usize {
        let each = |i: &Instruction| if matches!(i.code, Code::Div | Code::Sqrt) { 8 } else { 1 };
        self.body.iter().map(each).sum()
    }

    /// The same program with functions written out in primitives, as native code runs it.
    #[must_use]
    pub fn expanded(&self) -> Program {
        hoist::hoist(expand::expand(self.clone()))
    }

    /// The same program with constant powers written out, as the interpreter runs it.
    pub(crate) fn with_powers_expanded(self) -> Program {
        hoist::hoist(expand::constant_powers(self))
    }

    /// The same program for two blocks of lanes at once, with functions written out: inputs and outputs of one, then those of the other. While
    /// one waits for a result the other goes on; they take turns after every `turn` instructions.
    ///
    /// # Panics
    /// If `turn` is 0.
    #[must_use]
    pub fn twice(&self, turn: usize) -> Program {
        let once = self.expanded();
        let count = once.inputs.len() as u32;
        let again = |symbol: &Symbol| Symbol { name: format!("{}#", symbol.name).into(), dots: symbol.dots };
        let inputs = once.inputs.iter().cloned().chain(once.inputs.iter().map(again)).collect();
        let mut places = [Vec::with_capacity(once.body.len()), Vec::with_capacity(once.body.len())];
        let moved = |operand: Operand, which: usize, places: &[Operand]| match operand {
            Operand::Temporary(i) => places[i as usize],
            Operand::Input(i) => Operand::Input(which as u32 * count + i),
            other => other,
        };
        let mut body = Vec::with_capacity(2 * once.body.len());
        for part in once.body.chunks(turn) {
            for (which, places) in places.iter_mut().enumerate() {
                for instruction in part {
                    let instruction = instruction.map(|operand| moved(operand, which, places));
                    places.push(Operand::Temporary(body.len() as u32));
                    body.push(instruction);
                }
            }
        }
        let outputs = places.iter().enumerate();
        let outputs =
            outputs.flat_map(|(which, p)| once.outputs.iter().map(move |&o| moved(o, which, p))).collect();
        Program { inputs, body, outputs, ..once }
    }

    /// The inputs, one value per lane each.
    #[must_use]
    pub fn inputs(&self) -> &[Symbol] {
        &self.inputs
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &[Symbol] {
        &self.parameters
    }

    /// The constants.
    #[must_use]
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The instructions that run once whenever parameters are set.
    #[must_use]
    pub fn uniforms(&self) -> &[Instruction] {
        &self.uniforms
    }

    /// The instructions that run in every lane.
    #[must_use]
    pub fn body(&self) -> &[Instruction] {
        &self.body
    }

    /// Where the outputs come from.
    #[must_use]
    pub fn outputs(&self) -> &[Operand] {
        &self.outputs
    }

    /// The number of values that are set once for many calls: constants, parameters and uniforms, in this order.
    pub(crate) fn pool_len(&self) -> usize {
        self.constants.len() + self.parameters.len() + self.uniforms.len()
    }

    /// The place in the pool of a value that does not differ between calls.
    pub(crate) fn pool_place(&self, operand: Operand) -> usize {
        match operand {
            Operand::Constant(i) => i as usize,
            Operand::Parameter(i) => self.constants.len() + i as usize,
            Operand::Uniform(i) => self.constants.len() + self.parameters.len() + i as usize,
            Operand::Input(_) | Operand::Temporary(_) => unreachable!("{operand:?} differs between calls"),
        }
    }

    /// Constants, parameters and uniforms for these parameters, into a slice of [`Program::pool_len`] values.
    pub(crate) fn fill_pool(&self, parameters: &[f64], pool: &mut [f64]) {
        let constants = self.constants.len();
        pool[..constants].copy_from_slice(&self.constants);
        pool[constants..][..parameters.len()].copy_from_slice(parameters);
        for (i, instruction) in self.uniforms.iter().enumerate() {
            let arguments = instruction.operands.map(|o| pool[self.pool_place(o)]);
            let limit = self.limit(instruction.code);
            pool[constants + parameters.len() + i] = instruction.code.value(arguments, limit);
        }
    }

    /// Checks parameters: their number, and that all are finite.
    pub(crate) fn check_parameters(&self, parameters: &[f64]) -> Result<(), ArgumentError> {
        let (expected, found) = (self.parameters.len(), parameters.len());
        if expected != found {
            return Err(ArgumentError::WrongLength { what: "parameters", expected, found });
        }
        match self.parameters.iter().zip(parameters).find(|(_, v)| !v.is_finite()) {
            Some((symbol, &value)) => {
                Err(ArgumentError::NonFiniteParameter { symbol: symbol.clone(), value })
            }
            None => Ok(()),
        }
    }

    /// The limit of a repair; 0 for other instructions.
    pub(crate) fn limit(&self, code: Code) -> f64 {
        match code {
            Code::Repair { limit, .. } => self.constants[limit as usize],
            _ => 0.0,
        }
    }

    fn name(&self, operand: Operand) -> String {
        match operand {
            Operand::Input(i) => self.inputs[i as usize].to_string(),
            Operand::Parameter(i) => self.parameters[i as usize].to_string(),
            Operand::Constant(i) => format!("{:?}", self.constants[i as usize]),
            other => format!("{other:?}"),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, result: Operand, instruction: &Instruction) -> fmt::Result {
        write!(f, "{result:?} = ")?;
        match instruction.code {
            Code::Math(op) => f.write_str(op.row().name)?,
            Code::Paired(op) => write!(f, "paired {}", op.row().name)?,
            Code::Call(op) => write!(f, "call {}", op.row().name)?,
            code @ Code::Repair { op, .. } => {
                write!(f, "repair {} above {:?}:", op.row().name, self.limit(code))?
            }
            code => write!(f, "{code:?}")?,
        }
        instruction.arguments().iter().try_for_each(|&a| write!(f, " {}", self.name(a)))?;
        writeln!(f)
    }
}

/// What is left to do after lowering.
fn finished(lowered: Program) -> Program {
    hoist::hoist(expand::pair(fuse::fuse(lowered)))
}

/// A readable dump: one instruction a line.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |symbols: &[Symbol]| symbols.iter().map(Symbol::to_string).collect::<Vec<_>>().join(", ");
        writeln!(
            f,
            "program ({}; {}) -> {}",
            list(&self.inputs),
            list(&self.parameters),
            self.outputs.len()
        )?;
        for (i, instruction) in self.uniforms.iter().enumerate() {
            self.write(f, Operand::Uniform(i as u32), instruction)?;
        }
        for (i, instruction) in self.body.iter().enumerate() {
            self.write(f, Operand::Temporary(i as u32), instruction)?;
        }
        self.outputs.iter().try_for_each(|&o| writeln!(f, "out {}", self.name(o)))
    }
}
