//! Programs called by programs: a whole step of an explicit method as one kernel.

use crate::arithmetic::{Argument, Arithmetic};
use crate::builder::Builder;
use crate::hoist;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::{BuildError, Program};
use leastaction_expr::{Op, Symbol};
use rustc_hash::FxHashMap;

/// Builds a program out of calls of other programs and arithmetic between them.
///
/// Every call writes the program's instructions out at its arguments. Parameters are shared by their names, and so is
/// what depends on them alone. Equal instructions are one; nothing else is rewritten, so that (a + b) − a stays as it is.
///
/// ```
/// use leastaction_compile::{Arithmetic, Assembly, Kernel, Program};
/// use leastaction_expr::Graph;
///
/// // Heun's method for x' = −k x².
/// let graph = Graph::new();
/// let [x, k] = graph.symbols(["x", "k"]);
/// let field = Program::build(&[x], &[k], &[-k * x * x])?;
/// let [state, step] = ["x", "h"].map(|name| graph.symbol(name).as_symbol().unwrap());
/// let mut heun = Assembly::new(&[state, step], field.parameters())?;
/// let (x, h) = (heun.input(0), heun.input(1));
/// let first = heun.call(&field, &[x])?[0];
/// let ahead = heun.mul_add(h, first, x);
/// let second = heun.call(&field, &[ahead])?[0];
/// let sum = heun.add(first, second);
/// let half = heun.mul(0.5, h);
/// let next = heun.mul_add(half, sum, x);
///
/// let mut step = Kernel::compile(heun.finish(&[next])?)?.evaluator(&[1.0])?;
/// let mut end = [0.0];
/// step.eval(&[1.0, 0.125], &mut end)?;
/// assert_eq!(end, [1.0 - 0.0625 * (1.0 + 0.875 * 0.875)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Assembly {
    inputs: Vec<Symbol>,
    parameters: Vec<Symbol>,
    /// Where each of them is.
    places: FxHashMap<Symbol, Operand>,
    builder: Builder,
    /// A constant that is not finite.
    wrong: Option<f64>,
}

impl Argument<Assembly> for Operand {
    fn value(self, _: &mut Assembly) -> Operand {
        self
    }
}

/// Writes instructions. A constant that is not finite is refused by [`Assembly::finish`].
impl Arithmetic for Assembly {
    type Value = Operand;

    fn constant(&mut self, value: f64) -> Operand {
        if !value.is_finite() {
            self.wrong = Some(value);
        }
        self.builder.constant(value)
    }

    fn apply(&mut self, code: Code, arguments: &[Operand]) -> Operand {
        self.builder.apply(code, arguments)
    }

    fn repair(&mut self, fast: Operand, test: Operand, limit: f64, op: Op, arguments: &[Operand]) -> Operand {
        self.builder.repair(fast, test, limit, op, arguments)
    }
}

/// Why a program cannot be called.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssemblyError {
    /// The number of arguments is not that of the program's inputs.
    #[error("the program has {expected} inputs, {found} arguments were given")]
    Arguments {
        /// The number of the program's inputs.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// A parameter of the program is an input here.
    #[error("`{symbol}` is a parameter of the program that is called, but an input here: rename one of them")]
    ParameterIsInput {
        /// The parameter.
        symbol: Symbol,
    },
}

impl Assembly {
    /// An empty program with these inputs and parameters. Parameters of called programs are added as they come.
    ///
    /// # Errors
    /// [`BuildError::DuplicateSymbol`] if a symbol stands twice.
    pub fn new(inputs: &[Symbol], parameters: &[Symbol]) -> Result<Assembly, BuildError> {
        let mut places = FxHashMap::default();
        let input = inputs.iter().zip(0..).map(|(symbol, i)| (symbol, Operand::Input(i)));
        let parameter = parameters.iter().zip(0..).map(|(symbol, i)| (symbol, Operand::Parameter(i)));
        for (symbol, operand) in input.chain(parameter) {
            if places.insert(symbol.clone(), operand).is_some() {
                return Err(BuildError::DuplicateSymbol { symbol: symbol.clone() });
            }
        }
        let (inputs, parameters) = (inputs.to_vec(), parameters.to_vec());
        Ok(Assembly { inputs, parameters, places, ..Assembly::default() })
    }

    /// An empty program with so many inputs that have no names of their own.
    ///
    /// # Errors
    /// [`BuildError::DuplicateSymbol`] if a parameter stands twice.
    pub fn with_inputs(count: usize, parameters: &[Symbol]) -> Result<Assembly, BuildError> {
        // No parameter is spelt like this.
        let name = |i: usize| Symbol { name: format!("#{i}").into(), dots: 0 };
        Assembly::new(&(0..count).map(name).collect::<Vec<_>>(), parameters)
    }

    /// An input, by its place.
    ///
    /// # Panics
    /// If there are fewer inputs.
    #[must_use]
    pub fn input(&self, place: usize) -> Operand {
        assert!(place < self.inputs.len(), "input {place} of {}", self.inputs.len());
        Operand::Input(place as u32)
    }

    /// A parameter, added if it is not there yet.
    ///
    /// # Errors
    /// [`AssemblyError::ParameterIsInput`] if the symbol is an input.
    pub fn parameter(&mut self, symbol: &Symbol) -> Result<Operand, AssemblyError> {
        match self.places.get(symbol) {
            Some(Operand::Input(_)) => Err(AssemblyError::ParameterIsInput { symbol: symbol.clone() }),
            Some(&operand) => Ok(operand),
            None => {
                let operand = Operand::Parameter(self.parameters.len() as u32);
                self.parameters.push(symbol.clone());
                self.places.insert(symbol.clone(), operand);
                Ok(operand)
            }
        }
    }

    /// Writes a program out at these arguments, one per input. Gives its outputs.
    ///
    /// # Errors
    /// [`AssemblyError`] if the number of arguments is wrong or a parameter of the program is an input here.
    pub fn call(&mut self, program: &Program, arguments: &[Operand]) -> Result<Vec<Operand>, AssemblyError> {
        let (expected, found) = (program.inputs.len(), arguments.len());
        if expected != found {
            return Err(AssemblyError::Arguments { expected, found });
        }
        let parameters =
            program.parameters.iter().map(|s| self.parameter(s)).collect::<Result<Vec<_>, _>>()?;
        let builder = &mut self.builder;
        let constants: Vec<Operand> = program.constants.iter().map(|&c| builder.constant(c)).collect();
        let mut uniforms: Vec<Operand> = Vec::with_capacity(program.uniforms.len());
        let mut temporaries: Vec<Operand> = Vec::with_capacity(program.body.len());
        let moved = |operand: Operand, uniforms: &[Operand], temporaries: &[Operand]| match operand {
            Operand::Constant(i) => constants[i as usize],
            Operand::Parameter(i) => parameters[i as usize],
            Operand::Input(i) => arguments[i as usize],
            Operand::Uniform(i) => uniforms[i as usize],
            Operand::Temporary(i) => temporaries[i as usize],
        };
        let mut write = |instruction: &Instruction, uniforms: &[Operand], temporaries: &[Operand]| {
            let code = match instruction.code {
                Code::Repair { op, limit } => {
                    Code::Repair { op, limit: builder.place(program.constants[limit as usize]) }
                }
                code => code,
            };
            let operands = instruction.operands.map(|o| moved(o, uniforms, temporaries));
            builder.push(code, &operands[..code.arity()])
        };
        for instruction in &program.uniforms {
            let result = write(instruction, &uniforms, &[]);
            uniforms.push(result);
        }
        for instruction in &program.body {
            let result = write(instruction, &uniforms, &temporaries);
            temporaries.push(result);
        }
        Ok(program.outputs.iter().map(|&o| moved(o, &uniforms, &temporaries)).collect())
    }

    /// The program with these outputs: what none of them needs is removed, and what only parameters change is computed
    /// when they are set.
    ///
    /// # Errors
    /// [`BuildError::NonFiniteConstant`] if a constant is infinite or NaN.
    pub fn finish(self, outputs: &[Operand]) -> Result<Program, BuildError> {
        if let Some(value) = self.wrong {
            return Err(BuildError::NonFiniteConstant { value });
        }
        let Builder { constants, body, .. } = self.builder;
        Ok(hoist::hoist(Program {
            inputs: self.inputs,
            parameters: self.parameters,
            constants,
            uniforms: Vec::new(),
            body,
            outputs: outputs.to_vec(),
        }))
    }
}
