//! Random numbers and random expressions for the sweeps.

use leastaction_expr::{Expr, Graph, Op};

pub(crate) use leastaction_testing::Random;

/// A finite number: often a special one, else of any size.
pub(crate) fn number(random: &mut Random) -> f64 {
    const SPECIAL: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        0.25,
        4.0,
        3.0,
        -3.0,
        0.1,
        1e300,
        -1e300,
        1e-300,
        5e-324,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        std::f64::consts::PI,
        -std::f64::consts::PI,
        1e16,
        1e-4,
        1e-5,
    ];
    match random.below(3) {
        0 => loop {
            let value = f64::from_bits(random.bits());
            if value.is_finite() {
                break value;
            }
        },
        _ => random.pick(SPECIAL),
    }
}

/// Expressions built one on another from these leaves; every third argument is a number.
pub(crate) fn expressions<'g>(
    graph: &'g Graph,
    random: &mut Random,
    leaves: &[Expr<'g>],
    ops: &[Op],
    count: usize,
) -> Vec<Expr<'g>> {
    let mut pool = leaves.to_vec();
    for _ in 0..count {
        let op = random.pick(ops);
        let arguments: Vec<Expr<'g>> = (0..op.row().arity)
            .map(|_| match random.below(6) {
                0 => graph.number(number(random)),
                1 => random.pick(leaves),
                2 => random.pick(&pool),
                _ => pool[pool.len() - 1 - random.below(pool.len().min(6))],
            })
            .collect();
        pool.push(graph.apply(op, &arguments));
    }
    pool
}
