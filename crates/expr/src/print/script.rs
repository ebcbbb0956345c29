//! Functions in Python, with NumPy, and in Julia.

use super::code::{Body, PrintError, body, indented};
use super::language::Language;
use crate::Expr;
use crate::op::Row;

const PYTHON: Language = Language {
    template: python,
    reserved: "
        False None True and as assert async await break class continue def del elif else except finally for from
        global if import in is lambda nonlocal not or pass raise return try while with yield match case type print
        np math inputs outputs",
    library: "",
    helpers: &[],
    number_suffix: "",
    declare: ("", " = "),
    arrays: ("inputs", "outputs"),
    unused: "",
    end: "",
    comment: "#",
    first: 0,
    power: Some("**"),
};

const JULIA: Language = Language {
    template: julia,
    reserved: "
        baremodule begin break catch const continue do else elseif end export false finally for function global if
        import let local macro module quote return struct true try using while in isa pi im missing nothing NaN Inf
        inputs outputs sqrt cbrt hypot exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh
        atanh abs sign floor min max ifelse erf Float64",
    library: "",
    helpers: &[],
    number_suffix: "",
    declare: ("", " = "),
    arrays: ("inputs", "outputs"),
    unused: "",
    end: "",
    comment: "#",
    first: 1,
    power: Some("^"),
};

/// An operator in Python.
fn python(row: &Row) -> &'static str {
    match row.name {
        "^" => "#1**#2",
        "<" => "(#1 < #2)*1.0",
        "<=" => "(#1 <= #2)*1.0",
        "==" => "(#1 == #2)*1.0",
        "!=" => "(#1 != #2)*1.0",
        "sqrt" => "np.sqrt(#1)",
        "cbrt" => "np.cbrt(#1)",
        "hypot" => "np.hypot(#1, #2)",
        "exp" => "np.exp(#1)",
        "expm1" => "np.expm1(#1)",
        "ln" => "np.log(#1)",
        "ln1p" => "np.log1p(#1)",
        "sin" => "np.sin(#1)",
        "cos" => "np.cos(#1)",
        "tan" => "np.tan(#1)",
        "asin" => "np.arcsin(#1)",
        "acos" => "np.arccos(#1)",
        "atan" => "np.arctan(#1)",
        "atan2" => "np.arctan2(#1, #2)",
        "sinh" => "np.sinh(#1)",
        "cosh" => "np.cosh(#1)",
        "tanh" => "np.tanh(#1)",
        "asinh" => "np.arcsinh(#1)",
        "acosh" => "np.arccosh(#1)",
        "atanh" => "np.arctanh(#1)",
        "logistic" => "(0.5 + 0.5*np.tanh(0.5*(#1)))",
        "erf" => "np.float64(math.erf(#1))",
        "abs" => "np.abs(#1)",
        "sign" => "np.sign(#1)",
        "floor" => "np.floor(#1)",
        "min" => "np.minimum(#1, #2)",
        "max" => "np.maximum(#1, #2)",
        "select" => "np.where(#1 != 0.0, #2, #3)",
        _ => row.c,
    }
}

/// An operator in Julia.
fn julia(row: &Row) -> &'static str {
    match row.name {
        "^" => "#1^#2",
        "<" => "Float64(#1 < #2)",
        "<=" => "Float64(#1 <= #2)",
        "==" => "Float64(#1 == #2)",
        "!=" => "Float64(#1 != #2)",
        "sqrt" => "sqrt(#1)",
        "cbrt" => "cbrt(#1)",
        "hypot" => "hypot(#1, #2)",
        "exp" => "exp(#1)",
        "expm1" => "expm1(#1)",
        "ln" => "log(#1)",
        "ln1p" => "log1p(#1)",
        "sin" => "sin(#1)",
        "cos" => "cos(#1)",
        "tan" => "tan(#1)",
        "asin" => "asin(#1)",
        "acos" => "acos(#1)",
        "atan" => "atan(#1)",
        "atan2" => "atan(#1, #2)",
        "sinh" => "sinh(#1)",
        "cosh" => "cosh(#1)",
        "tanh" => "tanh(#1)",
        "asinh" => "asinh(#1)",
        "acosh" => "acosh(#1)",
        "atanh" => "atanh(#1)",
        "logistic" => "(0.5 + 0.5 * tanh(0.5 * (#1)))",
        "erf" => "erf(#1)",
        "abs" => "abs(#1)",
        "sign" => "sign(#1)",
        "floor" => "floor(#1)",
        "min" => "min(#1, #2)",
        "max" => "max(#1, #2)",
        "select" => "ifelse(#1 != 0.0, #2, #3)",
        _ => row.c,
    }
}

/// A Python function `name(inputs)` that gives the outputs as a NumPy array.
///
/// ```
/// # use leastaction_expr::{Graph, python_function};
/// # let graph = Graph::new();
/// let [l, th] = graph.symbols(["l", "th'"]);
/// let code = python_function("kinetic", &[l, th], &[l.pow(2) * th.sin()])?;
/// assert_eq!(code, "\
/// import numpy as np
///
/// def kinetic(inputs):
///     inputs = np.asarray(inputs, dtype=float)
///     outputs = np.empty(1)
///     l = inputs[0]
///     th_dot = inputs[1] # `th'`
///     outputs[0] = l * l * np.sin(th_dot)
///     return outputs
/// ");
/// # Ok::<(), leastaction_expr::PrintError>(())
/// ```
///
/// # Errors
/// As [`c_function`](crate::c_function).
pub fn python_function(name: &str, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<String, PrintError> {
    let Body { statements, .. } = body(&PYTHON, name, "", inputs, outputs)?;
    let math = if statements.contains("math.") { "import math\n\n" } else { "" };
    let count = outputs.len();
    let head = format!("inputs = np.asarray(inputs, dtype=float)\noutputs = np.empty({count})\n");
    Ok(format!(
        "{math}import numpy as np\n\ndef {name}(inputs):\n{}",
        indented(&format!("{head}{statements}return outputs\n"))
    ))
}

/// A Julia function `name(inputs)` that gives the outputs as a vector.
///
/// ```
/// # use leastaction_expr::{Graph, julia_function};
/// # let graph = Graph::new();
/// let [x, y] = graph.symbols(["x", "y"]);
/// let code = julia_function("far", &[x, y], &[(x * x + y * y).sqrt()])?;
/// assert_eq!(code, "\
/// function far(inputs)
///     outputs = zeros(1)
///     x = inputs[1]
///     y = inputs[2]
///     outputs[1] = sqrt(x * x + y * y)
///     return outputs
/// end
/// ");
/// # Ok::<(), leastaction_expr::PrintError>(())
/// ```
///
/// # Errors
/// As [`c_function`](crate::c_function).
pub fn julia_function(name: &str, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<String, PrintError> {
    let Body { statements, .. } = body(&JULIA, name, "", inputs, outputs)?;
    let special = if statements.contains("erf(") { "using SpecialFunctions\n\n" } else { "" };
    let head = format!("outputs = zeros({})\n", outputs.len());
    Ok(format!(
        "{special}function {name}(inputs)\n{}end\n",
        indented(&format!("{head}{statements}return outputs\n"))
    ))
}

#[cfg(test)]
mod tests {
    use super::{julia, python};
    use crate::Op;

    #[test]
    fn every_operator_has_its_words() {
        let signs = ["+", "-", "*", "/", "neg"];
        for op in Op::ALL.iter().map(|op| op.row()).filter(|row| !signs.contains(&row.name)) {
            assert_ne!(python(op), op.c, "{} in Python", op.name);
            if ![
                "sqrt", "cbrt", "hypot", "exp", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos",
                "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "floor",
            ]
            .contains(&op.name)
                && op.name != "ln"
                && op.name != "ln1p"
            {
                assert_ne!(julia(op), op.c, "{} in Julia", op.name);
            }
        }
    }
}
