//! Brief pulses of time in the field, looked for before a run: no estimate of a long step tells of them.

use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, State};

/// How often the field is looked at; less often if it has many components.
const LOOKS: usize = 20_000;
const MOST_NUMBERS: usize = 1 << 21;
/// A rate is active where it is away from its median by this part of its range.
const ACTIVE: f64 = 0.02;
/// A field that is active for a larger part of the run has no pulses, but moves all the time.
const RARE: f64 = 0.05;
/// What is longer than this part of a run is seen by steps as they are.
const LONG: f64 = 0.01;

/// The longest step that does not pass over a pulse of the field, a bell-shaped push for example, with the state as it is at the start; nothing if there is no pulse that is shorter
/// than a hundredth of the run. Pulses of less than a twenty-thousandth of the run may go unseen. Those with corners and jumps are landed on anyway.
/// Only fields in closed form are looked at.
#[must_use]
pub fn step_for_pulses(dynamics: &Dynamics, start: &State, end: f64) -> Option<f64> {
    let (span, dimension) = (end - start.t, dynamics.system().dimension());
    let groups = (LOOKS.min(MOST_NUMBERS / dimension.max(1)) / LANES).max(1);
    let facts = dynamics.system().facts();
    let known = facts.explicit && !facts.autonomous && span != 0.0 && span.is_finite();
    if !known || groups * LANES < LOOKS / 10 {
        return None;
    }
    let mut field = match dynamics.on_branches().ok()? {
        Some(mut fixed) => {
            let branches = vec![0.0; 2 * dynamics.system().switches().len()];
            fixed.set_branches(dynamics, None, &branches).ok()?;
            fixed
        }
        None => dynamics.clone(),
    };
    let count = groups * LANES;
    let block: Vec<f64> = start.block().iter().flat_map(|y| [*y; LANES]).collect();
    let mut rates = vec![0.0; dimension * LANES];
    let mut rows = vec![Vec::with_capacity(count); dimension];
    for group in 0..groups {
        let look = |j: usize| start.t + span * (((group * LANES + j) as f64 + 0.5) / count as f64);
        field.rates(&std::array::from_fn::<f64, LANES, _>(look), &block, &mut rates).ok()?;
        rows.iter_mut().zip(rates.chunks_exact(LANES)).for_each(|(row, rates)| row.extend_from_slice(rates));
    }
    let shortest = rows.iter().filter_map(|row| shortest_pulse(row)).min();
    let step = shortest.map(|looks| looks as f64 / count as f64 / 2.0).filter(|part| *part < LONG);
    // By halves of the run, so that it is the same for pulses that are alike.
    step.map(|part| span.abs() * part.log2().floor().exp2())
}

/// How many looks the shortest pulse of a row takes; nothing if it has none.
fn shortest_pulse(row: &[f64]) -> Option<usize> {
    let mut sorted = row.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high, median) = (sorted[0], sorted[sorted.len() - 1], sorted[sorted.len() / 2]);
    let range = high - low;
    if !range.is_finite() || range <= 1e-9 * low.abs().max(high.abs()) {
        return None;
    }
    let active = |value: &f64| (value - median).abs() > ACTIVE * range;
    if row.iter().filter(|value| active(value)).count() as f64 > RARE * row.len() as f64 {
        return None;
    }
    row.split(|value| !active(value)).map(<[f64]>::len).filter(|len| *len > 0).min()
}

#[cfg(test)]
mod tests {
    use super::shortest_pulse;

    #[test]
    fn pulses_are_told_from_what_moves_all_the_time() {
        let row = |f: &dyn Fn(f64) -> f64| (0..20_000).map(|k| f(f64::from(k) / 200.0)).collect::<Vec<_>>();
        let bell = |t: f64, at: f64, width: f64| (-((t - at) / width).powi(2)).exp();
        let found = shortest_pulse(&row(&|t| 3.0 + bell(t, 50.0, 0.01)));
        assert!(found.is_some_and(|looks| (4..=10).contains(&looks)), "{found:?}");
        let found = shortest_pulse(&row(&|t| bell(t, 20.0, 0.5) + bell(t, 60.0, 0.05)));
        assert!(found.is_some_and(|looks| (20..=50).contains(&looks)), "{found:?}");
        assert_eq!(shortest_pulse(&row(&|t| (7.0 * t).sin())), None);
        assert_eq!(shortest_pulse(&row(&|_| 1.0)), None);
        assert_eq!(shortest_pulse(&row(&|t| 0.1 * t)), None);
    }
}
