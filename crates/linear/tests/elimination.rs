//! Sparse elimination in lanes: order, fill, rank.

use crate::{distance, number};
use leastaction_linear::Elimination;
use std::collections::BTreeSet;

/// Rows that are coupled in pairs.
fn coupled(rows: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<BTreeSet<u32>> {
    let mut coupled = vec![BTreeSet::new(); rows];
    for (a, b) in pairs {
        coupled[a].insert(b as u32);
        coupled[b].insert(a as u32);
    }
    coupled
}

#[test]
fn chains_and_trees_do_not_fill_in_and_rings_once() {
    let n = 1000;
    assert_eq!(Elimination::new(coupled(n, (1..n).map(|i| (i - 1, i)))).len(), n - 1);
    assert_eq!(Elimination::new(coupled(n, (1..n).map(|i| ((i - 1) / 2, i)))).len(), n - 1);
    assert_eq!(Elimination::new(coupled(n, (0..n).map(|i| (i, (i + 1) % n)))).len(), 2 * n - 3);
}

#[test]
fn a_chain_is_eliminated_from_both_ends_in_turn() {
    assert_eq!(Elimination::new(coupled(7, (1..7).map(|i| (i - 1, i)))).order(), [0, 6, 1, 5, 2, 4, 3]);
}

/// What is filled into the factors of a matrix, given by its entries in its own order.
fn entries(elimination: &Elimination, value: impl Fn(usize, usize) -> f64) -> [Vec<f64>; 3] {
    let n = elimination.rows();
    let order = elimination.order();
    let mut found = [vec![0.0; n], vec![0.0; elimination.len()], vec![0.0; elimination.len()]];
    for column in 0..n {
        let own = order[column] as usize;
        found[0][column] = value(own, own);
        for row in column + 1..n {
            let other = order[row] as usize;
            for (side, entry) in [(1, value(other, own)), (2, value(own, other))] {
                if entry != 0.0 {
                    found[side][elimination.find(row as u32, column as u32)] = entry;
                }
            }
        }
    }
    found
}

/// A ring of springs and its unsymmetric neighbour, factored and solved.
#[test]
fn what_is_multiplied_is_solved() {
    let n = 12;
    let elimination = Elimination::new(coupled(n, (0..n).map(|i| (i, (i + 1) % n))));
    let near = |i: usize, j: usize| (i + 1) % n == j || (j + 1) % n == i;
    for skew in [0.0, 0.2] {
        let value = |i: usize, j: usize| match (i == j, near(i, j)) {
            (true, _) => 3.0 + 0.1 * i as f64,
            (_, true) => -1.0 + if i < j { skew } else { -skew },
            _ => 0.0,
        };
        let x: Vec<f64> = (0..n).map(number).collect();
        let b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| value(i, j) * x[j]).sum()).collect();
        let [mut diagonal, mut lower, mut upper] = entries(&elimination, value);
        let (mut ordered, mut found) = (vec![0.0; n], vec![0.0; n]);
        if skew == 0.0 {
            let pivots = elimination.factor::<1>(&mut diagonal, &mut lower, &mut ordered, &[1e-12]);
            assert_eq!(pivots.rank, [n]);
            elimination.gather::<1>(&b, &mut ordered);
            elimination.solve::<1>(&diagonal, &lower, &mut ordered);
        } else {
            let all = vec![1.0; n];
            elimination.factor_unsymmetric::<1>(&all, &mut diagonal, &mut lower, &mut upper);
            elimination.gather::<1>(&b, &mut ordered);
            elimination.solve_unsymmetric::<1>(&diagonal, &lower, &upper, &mut ordered);
        }
        elimination.scatter::<1>(&ordered, &mut found);
        assert!(distance(&found, &x) < 1e-13, "{skew}");
    }
}

/// A closed ring of springs that nothing holds has one direction less than rows; what is solvable is solved.
#[test]
fn a_dependent_row_takes_no_part() {
    let n = 9;
    let elimination = Elimination::new(coupled(n, (0..n).map(|i| (i, (i + 1) % n))));
    let value = |i: usize, j: usize| match (i == j, (i + 1) % n == j || (j + 1) % n == i) {
        (true, _) => 2.0,
        (_, true) => -1.0,
        _ => 0.0,
    };
    let image = |x: &[f64]| (0..n).map(|i| (0..n).map(|j| value(i, j) * x[j]).sum()).collect::<Vec<f64>>();
    let b = image(&(0..n).map(number).collect::<Vec<f64>>());
    let [mut diagonal, mut lower, _] = entries(&elimination, value);
    let (mut ordered, mut x) = (vec![0.0; n], vec![0.0; n]);
    let pivots = elimination.factor::<1>(&mut diagonal, &mut lower, &mut ordered, &[1e-12]);
    assert_eq!(pivots.rank, [n - 1]);
    elimination.gather::<1>(&b, &mut ordered);
    elimination.solve::<1>(&diagonal, &lower, &mut ordered);
    elimination.scatter::<1>(&ordered, &mut x);
    assert!(distance(&image(&x), &b) < 1e-13);
}
