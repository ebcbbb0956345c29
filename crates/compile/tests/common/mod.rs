//! Random expressions over the whole operator table, and numbers to try them on.

use leastaction_expr::{Expr, Form, Graph, Op};

pub(crate) use leastaction_testing::Random;

/// Mostly ordinary numbers, some integers, some of any size, some special.
pub(crate) fn number(random: &mut Random) -> f64 {
    const SPECIAL: [f64; 12] = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        5e-324,
        -3e-310,
        f64::MAX,
        -f64::MAX,
        1.0,
        -1.0,
    ];
    match random.below(20) {
        0..12 => random.between(-3.0, 3.0),
        12..15 => random.below(21) as f64 - 10.0,
        15..18 => random.between(-1.0, 1.0) * 10f64.powf(random.between(-300.0, 300.0)),
        _ => random.pick(&SPECIAL),
    }
}

/// Expressions of the given symbols, grown by random operators of the table.
///
/// Half of the arguments are tamed into (−2, 2), so that values neither overflow nor leave the domains at once.
pub(crate) fn expressions<'g>(
    graph: &'g Graph,
    random: &mut Random,
    symbols: &[Expr<'g>],
    steps: usize,
) -> Vec<Expr<'g>> {
    let mut known: Vec<Expr<'g>> = symbols.to_vec();
    known.push(graph.number(random.between(-2.0, 2.0)));
    known.push(graph.number(random.below(7) as f64 - 3.0));
    for _ in 0..steps {
        let op = random.pick(Op::ALL);
        let mut arguments = Vec::new();
        for _ in 0..op.row().arity {
            let recent = known.len().saturating_sub(12);
            let from = if random.chance(0.7) { &known[recent..] } else { &known[..] };
            let x = random.pick(from);
            arguments.push(match random.below(8) {
                0..4 => x,
                4..6 => 2.0 * x / (1.0 + x.abs()),
                6 => x.abs() + 0.5,
                _ => graph.number(if op.row().form == Form::Call {
                    random.between(-1.0, 1.0)
                } else {
                    random.below(9) as f64 - 4.0
                }),
            });
        }
        known.push(graph.apply(op, &arguments));
    }
    known
}
