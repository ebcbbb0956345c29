//! Sliding: motion that is held on a border because both branches drive it there, as dry friction holds a body (A. F. Filippov, *Differential Equations with
//! Discontinuous Righthand Sides*, 1988).
//!
//! With σ between −1 and 1 in place of the sign, rates are f₀ + Σ σⱼ fⱼ, and the rate of a switching function is
//!
//! $$\dot g_k=b_k+\sum_jA_{kj}\sigma_j.$$
//!
//! Where a motion slides on g_k = 0, σ_k is what makes this vanish; else it is the branch. It slides as long as σ_k stays between −1 and 1. Rates in which σ_k stands in
//! |g_k| = σ_k g_k too, as those of friction that depends on the speed, are read without that: it is 0 there.
//!
//! A vector that vanishes is held there by a direction in place of the sign, as long as its length is at most 1. What holds it may also make it vanish, by a
//! rate −κ a, or let it go, by a rate w σ: the σ of length 1 is where it then begins to move.

use crate::equations::symbols_of;
use leastaction_expr::{Direction, Expr, Graph, jacobian};
use rustc_hash::FxHashMap;

/// Rows that act on each other while they are slid on, at most: each costs one of elimination that is written out.
const MOST: usize = 6;

/// What stays as it is while a motion slides on the border of a switch, and the sign by which it does: there are several for a direction.
pub(super) struct Row<'g> {
    pub(super) switch: usize,
    pub(super) function: Expr<'g>,
    pub(super) sign: Expr<'g>,
    /// For a direction.
    pub(super) ease: Option<Ease<'g>>,
}

/// By which rates a vector that is held at 0 may change: κ and w.
#[derive(Clone)]
pub(super) struct Ease<'g> {
    pub(super) pull: Expr<'g>,
    pub(super) slack: Expr<'g>,
}

/// What the sign of each row is in the rates: its branch, or what keeps the motion on the border where `slides[k]` is not 0; nothing for rows of switches on which no motion
/// slides.
pub(super) fn controls<'g>(
    graph: &'g Graph,
    rows: &[Row<'g>],
    slides: &[Expr<'g>],
    states: &[Expr<'g>],
    time: Expr<'g>,
    rates: &[Expr<'g>],
) -> Vec<Option<Expr<'g>>> {
    let mut controls = vec![None; rows.len()];
    let drifts_by = |rates: &[Expr<'g>], functions: &[Expr<'g>]| {
        let moving = states.iter().copied().zip(rates.iter().copied());
        Direction::new(graph, moving.chain([(time, graph.number(1.0))])).derivatives(functions)
    };
    let functions: Vec<_> = rows.iter().map(|row| row.function).collect();
    let signs: Vec<_> = rows.iter().map(|row| row.sign).collect();
    let mut drifts = drifts_by(rates, &functions);
    for (Row { function, sign, ease, .. }, drift) in rows.iter().zip(&mut drifts) {
        let twice = drift.derivative(*sign).derivative(*sign).as_number() != Some(0.0);
        if ease.is_none() && twice {
            let [zero, size, mirrored] = [graph.number(0.0), *sign * *function, -*sign * -*function];
            let rates: Vec<_> =
                rates.iter().map(|rate| rate.substitute(&[(size, zero), (mirrored, zero)])).collect();
            *drift = drifts_by(&rates, &[*function])[0];
        }
    }
    let drifts = drifts;
    let matrix: FxHashMap<(usize, usize), Expr<'g>> =
        jacobian(&drifts, &signs).into_iter().map(|entry| ((entry.row, entry.column), entry.value)).collect();
    let none: Vec<_> = signs.iter().map(|&sign| (sign, graph.number(0.0))).collect();
    let affine = |row: usize, column: usize| {
        matrix
            .get(&(row, column))
            .is_none_or(|entry| symbols_of(&[*entry]).iter().all(|s| !signs.contains(s)))
    };
    let slides_alone =
        |row: usize| matrix.contains_key(&(row, row)) && (0..signs.len()).all(|j| affine(row, j));
    let of_one = |i: usize, j: usize| rows[i].switch == rows[j].switch;
    let all_slide = |row: usize| (0..rows.len()).filter(|&j| of_one(row, j)).all(slides_alone);
    let able: Vec<usize> = (0..rows.len()).filter(|&row| all_slide(row)).collect();
    let mut done = vec![false; rows.len()];
    for &first in &able {
        // All that act on each other, from the first on.
        let mut group = vec![first];
        let mut next = 0;
        while next < group.len() && !done[first] {
            let row = group[next];
            let acts =
                |j: usize| of_one(row, j) || matrix.contains_key(&(row, j)) || matrix.contains_key(&(j, row));
            let more: Vec<_> = able.iter().copied().filter(|&j| acts(j) && !group.contains(&j)).collect();
            group.extend(more);
            next += 1;
        }
        if done[first] {
            continue;
        }
        group.iter().for_each(|&row| done[row] = true);
        if group.len() > MOST {
            continue;
        }
        let equations = group.iter().map(|&row| {
            let Row { switch, function, sign, ref ease } = rows[row];
            let slide = slides[switch];
            let entry = |j: &usize| {
                let slope = matrix.get(&(row, *j)).copied().unwrap_or(graph.number(0.0));
                match ease {
                    Some(Ease { slack, .. }) if *j == row => slide.select(slope - *slack, 1.0),
                    _ => slide.select(slope, if *j == row { 1.0 } else { 0.0 }),
                }
            };
            let rest = drifts[row].substitute(&none);
            let others = (0..signs.len()).filter(|j| !group.contains(j));
            let others = graph.sum(others.filter_map(|j| Some(*matrix.get(&(row, j))? * signs[j])));
            let right = match ease {
                Some(Ease { pull, .. }) => slide.select(-(rest + others) - *pull * function, 0.0),
                None => slide.select(-(rest + others), sign),
            };
            (group.iter().map(entry).collect::<Vec<_>>(), right)
        });
        for (&row, control) in group.iter().zip(solve(equations.collect())) {
            controls[row] = Some(control);
        }
    }
    controls
}

/// The solution of a few equations, by elimination in their order.
fn solve<'g>(mut rows: Vec<(Vec<Expr<'g>>, Expr<'g>)>) -> Vec<Expr<'g>> {
    let n = rows.len();
    for i in 0..n {
        let (pivot, right) = rows[i].clone();
        for (row, value) in &mut rows[i + 1..] {
            let factor = row[i] / pivot[i];
            (i..n).for_each(|j| row[j] -= factor * pivot[j]);
            *value -= factor * right;
        }
    }
    let mut found: Vec<Expr<'g>> = rows.iter().map(|(_, right)| *right).collect();
    for i in (0..n).rev() {
        for j in i + 1..n {
            let known = rows[i].0[j] * found[j];
            found[i] -= known;
        }
        let pivot = rows[i].0[i];
        found[i] /= pivot;
    }
    found
}
