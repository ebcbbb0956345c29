//! Brief pulses of time in the field, looked for before a run: no estimate of a long step tells of them.

use crate::run_loop::switching::direction::unknown;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, State, Switch};

/// How often the field is looked at; less often if it has many components.
const LOOKS: usize = 20_000;
const MOST_NUMBERS: usize = 1 << 21;
/// A rate is active where it is away from its median by this part of its range.
const ACTIVE: f64 = 0.02;
/// A field that is active for a larger part of the run has no pulses, but moves all the time.
const RARE: f64 = 0.05;
/// Rates that vary by no more than this, relative to the largest of their kind, are sums that cancel.
const NOISE: f64 = 1e-12;
/// Multiples of the golden ratio have no pattern.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// What is longer than this part of a run is seen by steps as they are.
const LONG: f64 = 0.01;

/// The longest step that does not pass over a pulse of the field, a bell-shaped push for example; nothing if there is no pulse that is shorter than a hundredth of the run.
/// The field is looked at with the state as it is at the start, and then with numbers in place of those that are zero there: what a pulse is multiplied by may be zero at first, as the
/// velocity that a brief brake acts on is; and on both sides of every `abs`, `max` and comparison of the state. Pulses of less than a twenty-thousandth of the run may go unseen. Those with corners and jumps are landed on anyway.
#[must_use]
pub fn step_for_pulses(dynamics: &Dynamics, start: &State, end: f64) -> Option<f64> {
    let (span, dimension) = (end - start.t, dynamics.system().dimension());
    let groups = (LOOKS.min(MOST_NUMBERS / dimension.max(1)) / LANES).max(1);
    let moves = !dynamics.system().facts().autonomous && span != 0.0 && span.is_finite();
    if !moves || groups * LANES < LOOKS / 10 {
        return None;
    }
    let here = start.block();
    let elsewhere = without_zeros(&here, start.q.len());
    let looks = Looks { start: start.t, span, groups };
    let mut pulses = Vec::new();
    let switches = dynamics.system().switches();
    let of_state = switches.iter().any(|switch| !switch.of_time);
    let mut field = dynamics.on_branches().ok()?.unwrap_or_else(|| dynamics.clone());
    // On borders, and then on both sides of those that the state may cross: a pulse may be multiplied by what is cut off where the motion begins.
    let sides: &[f64] = if of_state { &[0.0, 1.0, -1.0] } else { &[0.0] };
    for &side in sides {
        if !switches.is_empty() {
            let branch = |switch: &Switch| if switch.of_time { 0.0 } else { side };
            let mut branches: Vec<f64> = switches.iter().map(branch).collect();
            branches.resize(2 * switches.len(), 0.0);
            branches.extend(unknown(switches));
            field.set_branches(dynamics, None, &branches).ok()?;
        }
        pulses.extend(looks.shortest_pulse(&mut field, &here));
        if elsewhere != here {
            pulses.extend(looks.shortest_pulse(&mut field, &elsewhere));
        }
    }
    let shortest = pulses.into_iter().min();
    let step = shortest.map(|n| n as f64 / (groups * LANES) as f64 / 2.0).filter(|part| *part < LONG);
    // By halves of the run, so that it is the same for pulses that are alike.
    step.map(|part| span.abs() * part.log2().floor().exp2())
}

/// A state with numbers without pattern in place of zeros, as large as others of their kind.
fn without_zeros(state: &[f64], coordinates: usize) -> Vec<f64> {
    let (q, p) = state.split_at(coordinates);
    let size = |kind: &[f64]| kind.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
    let sizes = [size(q), size(p)].map(|size| if size > 0.0 { size } else { 1.0 });
    let filled = |(i, y): (usize, &f64)| {
        let part = (0.37 + GOLDEN * i as f64).fract();
        if *y == 0.0 { (0.25 + 0.5 * part) * sizes[usize::from(i >= coordinates)] } else { *y }
    };
    state.iter().enumerate().map(filled).collect()
}

/// When a field is looked at.
struct Looks {
    start: f64,
    span: f64,
    groups: usize,
}

impl Looks {
    /// How many looks the shortest pulse of a field takes at one state; nothing if it has none, or is not defined there.
    fn shortest_pulse(&self, field: &mut Dynamics, state: &[f64]) -> Option<usize> {
        let count = self.groups * LANES;
        let block: Vec<f64> = state.iter().flat_map(|y| [*y; LANES]).collect();
        let mut rates = vec![0.0; block.len()];
        let mut rows = vec![Vec::with_capacity(count); state.len()];
        for group in 0..self.groups {
            let look =
                |j: usize| self.start + self.span * (((group * LANES + j) as f64 + 0.5) / count as f64);
            field.rates(&std::array::from_fn::<f64, LANES, _>(look), &block, &mut rates).ok()?;
            rows.iter_mut()
                .zip(rates.chunks_exact(LANES))
                .for_each(|(row, rates)| row.extend_from_slice(rates));
        }
        let (of_positions, of_momenta) = rows.split_at(state.len() / 2);
        let shortest = |kind: &[Vec<f64>]| {
            let size = kind.iter().flatten().fold(0.0_f64, |size, rate| size.max(rate.abs()));
            kind.iter().filter_map(|row| shortest_pulse(row, NOISE * size)).min()
        };
        [shortest(of_positions), shortest(of_momenta)].into_iter().flatten().min()
    }
}

/// How many looks the shortest pulse of a row takes; nothing if it has none. What varies by no more than the noise is rounding.
fn shortest_pulse(row: &[f64], noise: f64) -> Option<usize> {
    let mut sorted = row.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high, median) = (sorted[0], sorted[sorted.len() - 1], sorted[sorted.len() / 2]);
    let range = high - low;
    if !range.is_finite() || range <= noise.max(1e-9 * low.abs().max(high.abs())) {
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
        let found = shortest_pulse(&row(&|t| 3.0 + bell(t, 50.0, 0.01)), 1e-12);
        assert!(found.is_some_and(|looks| (4..=10).contains(&looks)), "{found:?}");
        let found = shortest_pulse(&row(&|t| bell(t, 20.0, 0.5) + bell(t, 60.0, 0.05)), 1e-12);
        assert!(found.is_some_and(|looks| (20..=50).contains(&looks)), "{found:?}");
        assert_eq!(shortest_pulse(&row(&|t| (7.0 * t).sin()), 1e-12), None);
        assert_eq!(shortest_pulse(&row(&|_| 1.0), 1e-12), None);
        assert_eq!(shortest_pulse(&row(&|t| 0.1 * t), 1e-12), None);
        // What is left of numbers of size 1 that cancel.
        let left = row(&|t| 1e-16 * bell(t, 50.0, 0.01));
        assert_eq!(shortest_pulse(&left, 1e-12), None);
    }
}
