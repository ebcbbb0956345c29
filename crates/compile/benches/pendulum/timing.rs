//! Timing candidates in turn, so that a busy machine disturbs their ratios little.

use std::time::{Duration, Instant};

/// How often each candidate runs; the best counts.
pub(crate) const ROUNDS: usize = 15;

/// Something to time: a name, and a function that runs a number of evaluations.
pub(crate) type Candidate<'a> = (String, Box<dyn FnMut() + 'a>);

/// The best time in ns of each candidate, per evaluation.
pub(crate) fn time(mut candidates: Vec<Candidate<'_>>, evaluations: usize) -> Vec<(String, f64)> {
    let mut best = vec![Duration::MAX; candidates.len()];
    let mut calls = vec![1; candidates.len()];
    for round in 0..=ROUNDS {
        for (i, (_, run)) in candidates.iter_mut().enumerate() {
            let begin = Instant::now();
            (0..calls[i]).for_each(|_| run());
            let spent = begin.elapsed() / calls[i];
            if round == 0 {
                // The first round warms up and decides how many calls make about four milliseconds.
                calls[i] = (4_000_000 / spent.as_nanos().max(1) + 1) as u32;
            } else {
                best[i] = best[i].min(spent);
            }
        }
    }
    let ns = |t: &Duration| t.as_secs_f64() * 1e9 / evaluations as f64;
    candidates.into_iter().zip(&best).map(|((name, _), t)| (name, ns(t))).collect()
}
