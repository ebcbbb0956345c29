//! Sliding: motion that is held on a border because both branches drive it there, as dry friction holds a body (A. F. Filippov, *Differential Equations with
//! Discontinuous Righthand Sides*, 1988).
//!
//! With σ between −1 and 1 in place of the sign, rates are f₀ + Σ σⱼ fⱼ, and the rate of a switching function is
//!
//! $$\dot g_k=b_k+\sum_jA_{kj}\sigma_j.$$
//!
//! Where a motion slides on g_k = 0, σ_k is what makes this vanish; else it is the branch. It slides as long as σ_k stays between −1 and 1.

use super::hold::Candidate;
use crate::equations::symbols_of;
use leastaction_expr::{Direction, Expr, Graph, jacobian};
use rustc_hash::FxHashMap;

/// Borders that act on each other while they are slid on, at most: each costs a row of elimination that is written out.
const MOST: usize = 4;

/// What the sign of each switch is in the rates: its branch, or what keeps the motion on the border where `slides[k]` is not 0; nothing for switches on which no motion slides.
pub(super) fn controls<'g>(
    graph: &'g Graph,
    switches: &[Candidate<'g>],
    slides: &[Expr<'g>],
    states: &[Expr<'g>],
    time: Expr<'g>,
    rates: &[Expr<'g>],
) -> Vec<Option<Expr<'g>>> {
    let mut controls = vec![None; switches.len()];
    let candidates: Vec<usize> = (0..switches.len()).filter(|&k| switches[k].may_slide()).collect();
    let moving = states.iter().copied().zip(rates.iter().copied());
    let direction = Direction::new(graph, moving.chain([(time, graph.number(1.0))]));
    let functions: Vec<_> = candidates.iter().map(|&k| switches[k].function).collect();
    let signs: Vec<_> = candidates.iter().map(|&k| switches[k].branch).collect();
    let drifts = direction.derivatives(&functions);
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
    let able: Vec<usize> = (0..candidates.len()).filter(|&row| slides_alone(row)).collect();
    let mut done = vec![false; candidates.len()];
    for &first in &able {
        // All that act on each other, from the first on.
        let mut group = vec![first];
        let mut next = 0;
        while next < group.len() && !done[first] {
            let row = group[next];
            let acts = |j: usize| matrix.contains_key(&(row, j)) || matrix.contains_key(&(j, row));
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
        let rows = group.iter().map(|&row| {
            let (slide, k) = (slides[candidates[row]], candidates[row]);
            let entry = |j: &usize| {
                let slope = matrix.get(&(row, *j)).copied().unwrap_or(graph.number(0.0));
                slide.select(slope, if *j == row { 1.0 } else { 0.0 })
            };
            let rest = drifts[row].substitute(&none);
            let others = (0..signs.len()).filter(|j| !group.contains(j));
            let others = graph.sum(others.filter_map(|j| Some(*matrix.get(&(row, j))? * signs[j])));
            (group.iter().map(entry).collect::<Vec<_>>(), slide.select(-(rest + others), switches[k].branch))
        });
        for (&row, control) in group.iter().zip(solve(rows.collect())) {
            controls[candidates[row]] = Some(control);
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
    let mut solution: Vec<Expr<'g>> = rows.iter().map(|(_, right)| *right).collect();
    for i in (0..n).rev() {
        for j in i + 1..n {
            let known = rows[i].0[j] * solution[j];
            solution[i] -= known;
        }
        let pivot = rows[i].0[i];
        solution[i] /= pivot;
    }
    solution
}
