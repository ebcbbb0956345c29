//! Random numbers and random expressions for the sweeps.
#![allow(dead_code)] // each sweep uses its own part

use leastaction_expr::{Expr, Graph, Op};

/// A small generator of pseudo-random numbers (a 64-bit congruential sequence, its high bits mixed).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ (self.0 >> 29);
        x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A finite number: often a special one, else of any size.
    pub(crate) fn number(&mut self) -> f64 {
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
        match self.below(3) {
            0 => loop {
                let value = f64::from_bits(self.bits());
                if value.is_finite() {
                    break value;
                }
            },
            _ => self.pick(SPECIAL),
        }
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
                0 => graph.number(random.number()),
                1 => random.pick(leaves),
                2 => random.pick(&pool),
                _ => pool[pool.len() - 1 - random.below(pool.len().min(6))],
            })
            .collect();
        pool.push(graph.apply(op, &arguments));
    }
    pool
}
