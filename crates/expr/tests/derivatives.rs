//! The derivatives in the operator table are those of the values in the operator table.
//!
//! Checked by central differences, extrapolated twice (Richardson): with steps of 2⁻⁷ and its halves, the error is about
//! 10⁻¹⁴ f⁽⁷⁾/7! from the formula and 3·10⁻¹³ f from rounding. The points keep 0.3 away from singularities, where f⁽⁷⁾/7! is
//! below 10⁴, so that 10⁻⁹ is a tolerance that no correct derivative misses and hardly a wrong one meets.

use leastaction_expr::{Graph, Op};

const STEP: f64 = 1.0 / 128.0;
const TOLERANCE: f64 = 1e-9;

/// An interval for each argument.
type Region = &'static [(f64, f64)];

/// Where an operator is smooth. There is no default: a new operator has to say it.
#[rustfmt::skip]
fn regions(op: Op) -> &'static [Region] {
    /// Either argument is the larger one.
    const APART: &[Region] = &[&[(-1.0, 0.0), (0.5, 1.5)], &[(0.5, 1.5), (-1.0, 0.0)]];
    match op {
        Op::Add | Op::Sub | Op::Mul => &[&[(-3.0, 3.0), (-3.0, 3.0)]],
        Op::Div => &[&[(-3.0, 3.0), (0.5, 3.0)], &[(-3.0, 3.0), (-3.0, -0.5)]],
        Op::Neg => &[&[(-3.0, 3.0)]],
        Op::Pow => &[&[(0.5, 3.0), (-2.0, 3.0)]],
        Op::Lt | Op::Le | Op::Eq | Op::Ne => APART,
        Op::Sqrt | Op::Ln => &[&[(0.5, 4.0)]],
        Op::Cbrt => &[&[(0.5, 4.0)], &[(-4.0, -0.5)]],
        Op::Hypot => &[&[(0.5, 3.0), (-3.0, 3.0)], &[(-3.0, 3.0), (-3.0, -0.5)]],
        Op::Exp | Op::Expm1 | Op::Sin | Op::Cos | Op::Sinh | Op::Cosh | Op::Tanh => &[&[(-3.0, 3.0)]],
        Op::Ln1p => &[&[(-0.5, 3.0)]],
        Op::Tan => &[&[(-1.2, 1.2)], &[(2.0, 4.3)]],
        Op::Asin | Op::Acos | Op::Atanh => &[&[(-0.6, 0.6)]],
        Op::Atan | Op::Asinh | Op::Logistic | Op::Erf => &[&[(-3.0, 3.0)]],
        Op::Atan2 => &[&[(-3.0, 3.0), (0.5, 3.0)], &[(0.5, 3.0), (-3.0, 3.0)], &[(-3.0, -0.5), (-3.0, 3.0)]],
        Op::Acosh => &[&[(1.5, 4.0)]],
        Op::Abs | Op::Sign => &[&[(0.5, 3.0)], &[(-3.0, -0.5)]],
        Op::Floor => &[&[(2.1, 2.9)], &[(-1.9, -1.1)]],
        Op::Min | Op::Max => APART,
        Op::Select => &[&[(1.0, 2.0), (-3.0, 3.0), (-3.0, 3.0)]],
    }
}

/// Numbers in [0, 1) that are spread evenly: multiples of the golden ratio (Weyl).
fn spread(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_894_9).fract()
}

/// The derivative of a function at 0, extrapolated from central differences.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let [a, b, c] = [STEP, STEP / 2.0, STEP / 4.0].map(|h| (f(h) - f(-h)) / (2.0 * h));
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

#[test]
fn every_operator_has_the_derivative_of_its_value() {
    let mut checked = 0;
    for &op in Op::ALL {
        let row = op.row();
        let graph = Graph::new();
        let symbols = &graph.symbols(["a", "b", "c"])[..row.arity];
        let y = graph.apply(op, symbols);
        let slopes: Vec<_> = symbols.iter().map(|&s| y.derivative(s)).collect();
        for (r, region) in regions(op).iter().enumerate() {
            assert_eq!(region.len(), row.arity, "{}: one interval for each argument", row.name);
            for n in 0..200 {
                let at: Vec<f64> = region
                    .iter()
                    .enumerate()
                    .map(|(i, (low, high))| low + (high - low) * spread(1 + r + 3 * n + 7 * i * (n + 1)))
                    .collect();
                let values: Vec<_> = symbols.iter().copied().zip(at.iter().copied()).collect();
                for (i, slope) in slopes.iter().enumerate() {
                    let exact = slope.eval(&values).unwrap();
                    let shifted = |h: f64| {
                        let mut at = at.clone();
                        at[i] += h;
                        (row.value)(&at)
                    };
                    let found = difference(shifted);
                    let scale = 1.0 + exact.abs() + shifted(0.0).abs();
                    assert!(
                        (exact - found).abs() <= TOLERANCE * scale,
                        "{} by argument {i} at {at:?}: the table says {exact}, differences say {found}",
                        row.name
                    );
                    checked += 1;
                }
            }
        }
    }
    println!("{checked} derivatives of {} operators", Op::ALL.len());
}
