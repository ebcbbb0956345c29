//! Functions in C and Rust: they compile without warnings and agree with evaluation.

use crate::support::{Random, expressions};
use leastaction_expr::{Expr, Graph, Op, PrintError, c_function, rust_function};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Expressions to be computed by a generated function, and the points to compute them at.
struct Case<'g> {
    what: String,
    inputs: Vec<Expr<'g>>,
    outputs: Vec<Expr<'g>>,
    points: Vec<Vec<f64>>,
    tolerance: f64,
}

const EDGES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.0,
    3.0,
    1e-300,
    1e300,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A point of any size, an edge, or of the size that mechanics has.
fn coordinate(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => random.pick(EDGES),
        1 => random.between(-1.0, 1.0) * 10_f64.powf(random.between(-12.0, 12.0)),
        2 => 1.0 + random.between(-1.0, 1.0) * 10_f64.powf(random.between(-9.0, 0.0)),
        _ => random.between(-4.0, 4.0),
    }
}

/// Every operator by itself: the libraries differ by an ulp or two.
fn operators<'g>(graph: &'g Graph, random: &mut Random) -> Vec<Case<'g>> {
    let symbols = graph.symbols(["θ'", "double", "x y"]);
    let single = Op::ALL.iter().map(|&op| {
        let inputs = symbols[..op.row().arity].to_vec();
        (op.row().name.to_string(), vec![graph.apply(op, &inputs)], inputs)
    });
    let powers = [-40.0, -3.0, -2.0, 2.0, 3.0, 4.0, 7.0, 32.0, 33.0, 0.5, 1.5, -0.3].map(|n| {
        let x = symbols[0];
        (format!("x^{n}"), vec![x.pow(n), (x + 1.0).pow(n)], vec![x])
    });
    let cases = single.chain(powers).map(|(what, outputs, inputs)| {
        let points = (0..300).map(|_| inputs.iter().map(|_| coordinate(random)).collect()).collect();
        Case { what, inputs, outputs, points, tolerance: 1e-14 }
    });
    cases.collect()
}

/// Random expressions over operators whose results IEEE arithmetic prescribes: equal to the last bit.
fn exact<'g>(graph: &'g Graph, random: &mut Random) -> Vec<Case<'g>> {
    use Op::{Abs, Add, Div, Eq, Floor, Le, Lt, Max, Min, Mul, Ne, Neg, Select, Sign, Sqrt, Sub};
    let ops = [Add, Sub, Mul, Div, Neg, Abs, Floor, Min, Max, Select, Sign, Sqrt, Lt, Le, Eq, Ne];
    let inputs = graph.symbols(["x", "x'", "int", "fn", "t1", "X", "_", "x_dot", "sign", "M_PI", "9", "é"]);
    (0..30)
        .map(|i| {
            let outputs = expressions(graph, random, &inputs, &ops, 60).split_off(60);
            let point = |random: &mut Random| inputs.iter().map(|_| coordinate(random)).collect();
            let points = (0..20).map(|_| point(random)).collect();
            Case { what: format!("exact {i}"), inputs: inputs.to_vec(), outputs, points, tolerance: 0.0 }
        })
        .collect()
}

/// Constants that are not finite although their parts are, nothing to compute, and nothing to read.
fn odd(graph: &Graph) -> Vec<Case<'_>> {
    let huge = graph.number(1e300);
    let zero = graph.number(0.0);
    let infinite = huge * huge;
    let outputs = [
        infinite,
        infinite.sin(),
        (huge * 1e200).cos(),
        -(infinite + 1.0),
        zero.ln(),
        1.0 / zero,
        huge.pow(2.0),
        graph.number(-2.0),
    ];
    let x = graph.symbol("x");
    vec![
        Case {
            what: "constants".into(),
            inputs: vec![],
            outputs: outputs.to_vec(),
            points: vec![vec![]],
            tolerance: 1e-15,
        },
        Case {
            what: "nothing".into(),
            inputs: vec![x],
            outputs: vec![],
            points: vec![vec![1.0]],
            tolerance: 0.0,
        },
    ]
}

/// The energy gradient of a chain of pendulums: a real use, with everything shared.
fn mechanics(graph: &Graph) -> Case<'_> {
    let angles: Vec<Expr<'_>> = (0..5).map(|i| graph.symbol(&format!("theta{i}"))).collect();
    let mut energy = graph.number(0.0);
    let (mut x, mut y) = (graph.number(0.0), graph.number(0.0));
    for &q in &angles {
        let (vx, vy) = (q.dot().unwrap() * q.cos(), q.dot().unwrap() * q.sin());
        (x, y) = (x + vx, y + vy);
        energy += 0.5 * (x * x + y * y) - 9.81 * q.cos();
    }
    let rates: Vec<Expr<'_>> = angles.iter().map(|q| q.dot().unwrap()).collect();
    let inputs = [angles, rates].concat();
    let mut outputs = energy.gradient(&inputs);
    outputs.push(energy);
    let mut random = Random::new(7);
    let points = (0..50).map(|_| inputs.iter().map(|_| random.between(-2.0, 2.0)).collect()).collect();
    Case { what: "pendulums".into(), inputs, outputs, points, tolerance: 1e-13 }
}

fn cases(graph: &Graph) -> Vec<Case<'_>> {
    let mut random = Random::new(1);
    let mut cases = operators(graph, &mut random);
    cases.extend(exact(graph, &mut random));
    cases.extend(odd(graph));
    cases.push(mechanics(graph));
    cases
}

/// Whether two values agree to this relative tolerance, or to the bit; any NaN agrees with any other.
fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    a.to_bits() == b.to_bits()
        || a.is_nan() && b.is_nan()
        || (a - b).abs() <= tolerance * a.abs().max(f64::MIN_POSITIVE)
}

/// Runs a program that reads the bits of all points and writes the bits of all outputs; compares with `eval`.
fn compare(program: &Path, cases: &[Case<'_>]) {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut given = String::new();
    for coordinate in cases.iter().flat_map(|case| &case.points).flatten() {
        writeln!(given, "{:x}", coordinate.to_bits()).unwrap();
    }
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(given.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = text.lines().map(|line| f64::from_bits(u64::from_str_radix(line, 16).unwrap()));
    let mut compared = 0;
    for case in cases {
        for point in &case.points {
            let values: Vec<_> = case.inputs.iter().copied().zip(point.iter().copied()).collect();
            for output in &case.outputs {
                let (expected, found) = (output.eval(&values).unwrap(), found.next().unwrap());
                assert!(
                    agree(expected, found, case.tolerance),
                    "{}: `{output}` at {point:?} is {expected:e}, not {found:e}",
                    case.what
                );
                compared += usize::from(!expected.is_nan());
            }
        }
    }
    assert!(compared > 20_000, "only {compared} values were numbers");
}

fn workshop(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Compiles; false, with a message, if there is no such compiler here.
fn compiles(compiler: &str, arguments: &[&str]) -> bool {
    match Command::new(compiler).args(arguments).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: there is no `{compiler}` here");
            false
        }
        Err(error) => panic!("{compiler}: {error}"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
    }
}

#[test]
fn c_agrees_with_evaluation() {
    let graph = Graph::new();
    let cases = cases(&graph);
    let mut code = String::from("#include <inttypes.h>\n#include <stdio.h>\n#include <string.h>\n");
    let mut calls = String::new();
    for (i, case) in cases.iter().enumerate() {
        code += &c_function(&format!("f{i}"), &case.inputs, &case.outputs).unwrap();
        let (n, m) = (case.inputs.len(), case.outputs.len());
        writeln!(calls, "    run(f{i}, {n}, {m}, {});", case.points.len()).unwrap();
    }
    write!(
        code,
        "static void run(void (*f)(const double *, double *), int n, int m, int points) {{
    static double in[1000], out[1000];
    uint64_t bits;
    for (int p = 0; p < points; p++) {{
        for (int i = 0; i < n; i++) {{
            if (scanf(\"%\" SCNx64, &bits) == 1) memcpy(&in[i], &bits, 8);
        }}
        f(in, out);
        for (int i = 0; i < m; i++) {{
            memcpy(&bits, &out[i], 8);
            printf(\"%\" PRIx64 \"\\n\", bits);
        }}
    }}
}}
int main(void) {{
{calls}    return 0;
}}
"
    )
    .unwrap();
    let directory = workshop("c");
    let (source, program) = (directory.join("functions.c"), directory.join("functions"));
    std::fs::write(&source, code).unwrap();
    let paths = [source.to_str().unwrap(), program.to_str().unwrap()];
    if compiles(
        "cc",
        &[
            "-std=c99",
            "-O2",
            "-ffp-contract=off",
            "-Wall",
            "-Wextra",
            "-Werror",
            paths[0],
            "-o",
            paths[1],
            "-lm",
        ],
    ) {
        compare(&program, &cases);
    }
}

#[test]
fn rust_agrees_with_evaluation() {
    let graph = Graph::new();
    let cases = cases(&graph);
    let mut code = String::from("#![deny(warnings)]\nuse std::io::Read;\n");
    let mut calls = String::new();
    for (i, case) in cases.iter().enumerate() {
        code += &rust_function(&format!("f{i}"), &case.inputs, &case.outputs).unwrap();
        writeln!(calls, "    run(f{i}, {}, &mut bits);", case.points.len()).unwrap();
    }
    write!(
        code,
        "fn run<const N: usize, const M: usize>(f: fn(&[f64; N], &mut [f64; M]), points: usize, bits: &mut impl Iterator<Item = u64>) {{
    for _ in 0..points {{
        let input = std::array::from_fn(|_| f64::from_bits(bits.next().unwrap()));
        let mut output = [0.0; M];
        f(&input, &mut output);
        output.iter().for_each(|value| println!(\"{{:x}}\", value.to_bits()));
    }}
}}
fn main() {{
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut bits = text.lines().map(|line| u64::from_str_radix(line, 16).unwrap());
{calls}}}
"
    )
    .unwrap();
    let directory = workshop("rust");
    let (source, program) = (directory.join("functions.rs"), directory.join("functions"));
    std::fs::write(&source, code).unwrap();
    let paths = [source.to_str().unwrap(), program.to_str().unwrap()];
    if compiles("rustc", &["--edition=2024", "-O", paths[0], "-o", paths[1]]) {
        compare(&program, &cases);
    }
}

#[test]
fn mistakes_are_typed() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y'"]);
    for function in [c_function, rust_function] {
        let error = |name, inputs: &[Expr<'_>], output| function(name, inputs, &[output]).unwrap_err();
        assert_eq!(error("f", &[x], x * y), PrintError::MissingInput { symbol: y.as_symbol().unwrap() });
        assert_eq!(error("f", &[x, x], x), PrintError::RepeatedInput { symbol: x.as_symbol().unwrap() });
        assert_eq!(error("f", &[x, x + y], x), PrintError::NotASymbol { index: 1, input: "x + y'".into() });
        assert_eq!(error("f", &[x], x * f64::INFINITY), PrintError::NotFinite { value: f64::INFINITY });
        for name in ["", "2x", "a-b", "return", "θ", "_", "a b"] {
            assert_eq!(error(name, &[x], x), PrintError::InvalidName { name: name.into() });
        }
    }
}

#[test]
fn helpers_are_written_only_when_used() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let code = c_function("f", &[x], &[x.sign() + x.abs()]).unwrap();
    assert_eq!(code.matches("static inline").count(), 1);
    assert!(code.contains("static inline double f_sign(double x)"));
    let code = rust_function("f", &[x], &[x.sin()]).unwrap();
    assert_eq!(code.matches("fn ").count(), 1);
}

#[test]
fn names_cannot_leave_their_comment() {
    let graph = Graph::new();
    let x = graph.symbol("a\n} evil \u{202e} \\");
    for function in [c_function, rust_function] {
        let code = function("f", &[x], &[x + 1.0]).unwrap();
        assert!(code.contains("// `a_} evil _ \\`\n"), "{code}");
    }
}

#[test]
fn large_functions_are_written_statement_by_statement() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let nested = (0..300_000).fold(x, |e, _| e.sin());
    let sum = (0..300_000).fold(x, |e, k| e + (f64::from(k) + 0.3));
    for function in [c_function, rust_function] {
        let code = function("f", &[x], &[nested, sum]).unwrap();
        let longest = code.lines().map(str::len).max().unwrap();
        assert!(longest < 400 && code.len() < 40_000_000, "{longest} {}", code.len());
    }
}

#[test]
fn names_of_the_mathematical_library_are_refused_in_c() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    for name in ["round", "gamma", "y0", "fmaf", "log2l", "isnan", "sin"] {
        assert!(c_function(name, &[x], &[2.0 * x]).is_err(), "{name}");
    }
    for name in ["field", "shelf", "rounds"] {
        assert!(c_function(name, &[x], &[2.0 * x]).is_ok(), "{name}");
    }
}
