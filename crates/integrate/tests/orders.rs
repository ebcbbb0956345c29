//! The orders of all methods, of steps and between steps, measured on motions that are not linear.

use crate::common::{cyclotron, oscillator, suited, undisturbed};
use leastaction_integrate::{Card, Integrator};
use leastaction_mechanics::{Dynamics, State};
use std::sync::{Mutex, PoisonError};

/// Spans of time over which errors are measured: the longer ones for methods that are too good for the first.
const SPANS: [f64; 3] = [1.0, 2.0, 4.0];

/// Errors below this are those of the reference.
const FLOOR: f64 = 3e-13;

/// Errors above this are too large to show an order.
fn ceiling(card: &Card) -> f64 {
    if card.order == 1 { 1e-2 } else { 1e-3 }
}

/// Three motions that begin apart: on one alone, terms of the error may cancel at some steps.
fn starts(start: &State) -> [State; 3] {
    [0.0, 0.05, 0.1].map(|by| {
        let mut y = start.block();
        y[0] += by;
        State::from_block(start.t, &y, start.q.len())
    })
}

/// What a run must be sampled at: its end, or times that lie between steps.
fn samples(run: &Integrator, dynamics: &mut Dynamics, start: &State, span: f64) -> Option<Vec<f64>> {
    run.run(dynamics, start, span).ok().map(|run| run.blocks().to_vec())
}

/// The same but for rounding: two runs with `rk4`, extrapolated. They are kept by start, span and the number of samples, as many methods ask for
/// the same. Starts of systems differ.
fn exact(dynamics: &mut Dynamics, start: &State, times: &[f64], span: f64) -> Vec<f64> {
    type Known = (State, f64, usize, Vec<f64>);
    static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = |(at, long, count, _): &&Known| at == start && *long == span && *count == times.len();
    if let Some((.., samples)) = known.iter().find(asked) {
        return samples.clone();
    }
    let [coarse, fine] = [4096.0, 8192.0].map(|n| {
        let rk4 = Integrator::named("rk4", 1.0 / n).unwrap().at(times);
        samples(&rk4, dynamics, start, span).unwrap()
    });
    let exact: Vec<f64> =
        fine.iter().zip(&coarse).map(|(fine, coarse)| fine + (fine - coarse) / 15.0).collect();
    known.push((start.clone(), span, times.len(), exact.clone()));
    exact
}

/// Odd numbers of steps such that errors of a method shrink by about eight from one to the next, or steps by two.
fn ladder(order: u32) -> impl Iterator<Item = u32> {
    let ratio = 8.0_f64.powf(1.0 / f64::from(order)).min(2.0);
    let counts = (0..60).map(move |k| (2.0 * ratio.powi(k)).round() as u32 | 1).take_while(|&n| n <= 10_000);
    let mut last = 0;
    counts.filter(move |&n| std::mem::replace(&mut last, n) != n)
}

/// Steps and errors between the plateaus, over the shortest span that shows enough of them, at fractions of the span.
fn errors(
    card: &'static Card,
    (dynamics, start): &mut (Dynamics, State),
    fractions: &[f64],
) -> Vec<(f64, f64)> {
    let starts = starts(start);
    let mut best: Vec<(f64, f64)> = Vec::new();
    for span in SPANS {
        let times: Vec<f64> = fractions.iter().map(|x| x * span).collect();
        let exact = starts.each_ref().map(|start| exact(dynamics, start, &times, span));
        let mut error = |n: u32| {
            let run = Integrator::new(card, span / f64::from(n)).at(&times);
            let parts = starts.iter().zip(&exact).map(|(start, exact)| {
                let found = samples(&run, dynamics, start, span);
                assert!(found.is_some() || span / f64::from(n) > 0.05, "{}: fails with {n} steps", card.name);
                found.map_or(f64::INFINITY, |found| separation(&found, exact))
            });
            parts.sum::<f64>()
        };
        let points = ladder(card.order).map(|n| (span / f64::from(n), error(n)));
        let points = points.take_while(|(_, error)| *error > 0.3 * FLOOR);
        let between = |(_, error): &(f64, f64)| (FLOOR..ceiling(card)).contains(error);
        let seen: Vec<_> = points.filter(between).collect();
        if seen.len() > best.len() {
            best = seen;
        }
        if best.len() >= 6 {
            break;
        }
    }
    assert!(best.len() >= 3 || card.order > 12, "{}: only {best:?} between the plateaus", card.name);
    best
}

/// The root of the mean square, which has no kinks where one component takes over from another.
fn separation(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
}

/// The smallest steps: at least four of them, and so many that the longest is so many times the shortest.
fn smallest(points: &[(f64, f64)], range: f64) -> &[(f64, f64)] {
    let shortest = points.last().unwrap().0;
    let used = points.iter().filter(|(h, _)| *h <= range * shortest).count().max(4);
    &points[points.len().saturating_sub(used)..]
}

/// The slope of a line through log error over log step.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = || points.iter().map(|(h, e)| (h.ln(), e.ln()));
    let mean = logs().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / n, sum.1 + y / n));
    let (xy, xx) = logs().fold((0.0, 0.0), |sum, (x, y)| {
        let (dx, dy) = (x - mean.0, y - mean.1);
        (sum.0 + dx * dy, sum.1 + dx * dx)
    });
    xy / xx
}

/// The slope of log error over log step, over the smallest steps above the plateau of rounding.
///
/// On some systems leading terms are so small that the next ones hide them, and for high orders steps between the plateaus are too long for a
/// sharp slope everywhere. So errors must shrink as fast on every system, by half an order less if it is high; and with the order on one.
fn methods_have_their_order(card: &'static Card) {
    if card.order > 12 {
        return high_order(card);
    }
    let claimed = f64::from(card.order);
    let allowed = if card.order >= 10 { 0.35 } else { 0.2 };
    let everywhere = if card.order >= 8 { 0.5 } else { 0.2 };
    let mut best = f64::INFINITY;
    for mut system in suited(card) {
        let seen = errors(card, &mut system, &[1.0]);
        // Few steps may mislead where terms of the error cancel, many where they are too long to show the order.
        let found = [1.0, 4.0].map(|range| slope(smallest(&seen, range)));
        let [few, many] = found;
        println!(
            "{:20} order {} measured {few:.3}, {many:.3} over {} steps",
            card.name,
            card.order,
            seen.len()
        );
        assert!(few.max(many) > claimed - everywhere, "{}: slope {found:?} in {seen:?}", card.name);
        best = found.iter().map(|slope| (slope - claimed).abs()).fold(best, f64::min);
    }
    assert!(best < allowed, "{}: no slope nearer to its order than {best}", card.name);
}

methods!(tests_of methods_have_their_order);

/// On nonlinear systems, motions have poles in the complex plane. At a distance of z steps from one, errors of a method of high order p
/// shrink only as the power p√((z−1)/(z+1)) of the step, and steps that are short enough to show p itself have errors of 10⁻³⁰. So the
/// order is measured on motions without poles, oscillation and cyclotron, for long times; and elsewhere, errors must shrink nearly as fast.
fn high_order(card: &'static Card) {
    let claimed = f64::from(card.order);
    let turning = |t: f64| vec![t.cos(), -t.sin()];
    let circling = |t: f64| vec![t.cos(), -t.sin(), -0.5 * t.sin(), -0.5 * t.cos()];
    let motions: [(_, &dyn Fn(f64) -> Vec<f64>); 2] = [(oscillator(), &turning), (cyclotron(), &circling)];
    for ((mut dynamics, start), there) in motions {
        let errors = [2.0, 1.9, 1.8, 1.7, 1.6, 1.5].map(|step| {
            // As long as it takes for errors above rounding.
            let step = step * claimed / 15.0;
            let run =
                Integrator::new(card, step).ends_only().run(&mut dynamics, &start, 500.0 * step).unwrap();
            (step, separation(&run.end().block(), &there(run.end().t)) / run.end().t)
        });
        let found = slope(&errors);
        println!("{:20} order {} measured {found:.3} in {errors:?}", card.name, card.order);
        assert!((found - claimed).abs() < 0.35, "{}: slope {found} in {errors:?}", card.name);
    }
    for mut system in suited(card) {
        let seen = errors(card, &mut system, &[1.0]);
        if seen.len() > 2 {
            let found = slope(smallest(&seen, 1.0));
            println!("{:20} order {} shows as {found:.3} over {} steps", card.name, card.order, seen.len());
            assert!(found > 0.75 * claimed, "{}: slope {found} in {seen:?}", card.name);
        }
    }
}

/// Errors between steps shrink with the order less one, at least.
fn dense_output_has_the_order_less_one(card: &'static Card) {
    // Steps of the reference end at these, and of an odd number of steps none does.
    let fractions: Vec<f64> = (0..128).map(|k| (f64::from(k) + 0.5) / 128.0).collect();
    let seen = errors(card, &mut undisturbed(card), &fractions);
    let found = slope(smallest(&seen, 16.0));
    println!("{:20} dense output of order {found:.3} over {} steps", card.name, seen.len());
    // Very high orders do not show on nonlinear motions, as said above.
    let least = if card.order > 12 { 0.75 * f64::from(card.order - 1) } else { f64::from(card.order) - 1.35 };
    assert!(found > least, "{}: slope {found} in {seen:?}", card.name);
}

methods!(tests_of dense_output_has_the_order_less_one);
