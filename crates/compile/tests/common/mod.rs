//! Random expressions over the whole operator table, and numbers to try them on.

use leastaction_expr::{Expr, Form, Graph, Op};

/// SplitMix64 (Steele, Lea and Flood, doi:10.1145/2714064.2660195): small, seeded, good enough for tests.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Mostly ordinary numbers, some integers, some of any size, some special.
    pub(crate) fn number(&mut self) -> f64 {
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
        match self.below(20) {
            0..12 => self.uniform(-3.0, 3.0),
            12..15 => self.below(21) as f64 - 10.0,
            15..18 => self.uniform(-1.0, 1.0) * 10f64.powf(self.uniform(-300.0, 300.0)),
            _ => self.pick(&SPECIAL),
        }
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
    known.push(graph.number(random.uniform(-2.0, 2.0)));
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
                    random.uniform(-1.0, 1.0)
                } else {
                    random.below(9) as f64 - 4.0
                }),
            });
        }
        known.push(graph.apply(op, &arguments));
    }
    known
}
