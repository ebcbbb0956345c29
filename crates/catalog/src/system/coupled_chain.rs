//! Pendulums in a row, each joined to the next by a spring.

use super::statement;

pub(super) fn text(size: usize) -> String {
    let pivot = |i: usize| match i {
        1 => "0".to_owned(),
        2 => "d".to_owned(),
        _ => format!("{}*d", i - 1),
    };
    let bob = |i: usize| match i {
        1 => "particle bob1 mass m at [l*sin(th1), -l*cos(th1)]\n".to_owned(),
        _ => format!("particle bob{i} mass m at [{} + l*sin(th{i}), -l*cos(th{i})]\n", pivot(i)),
    };
    let spring = |i: usize| format!("spring spring{i} from bob{i} to bob{} stiffness k length d\n", i + 1);
    format!(
        "\
# a row of pendulums joined by springs, the first one pulled aside
#
# Small swings of N pendulums are waves: th_i is proportional to cos(jπ(i - 1/2)/N) at the
# frequencies ω² = g/l + 4k/m sin²(jπ/2N), for j from 0 to N - 1.

param m = 1, l = 1, g = 9.81, k = 10, d = 1
{}
{}gravity [0, -g]

{}
start th1 = 0.5
run step 0.005, until 20
{}{}{}",
        statement("coord", (1..=size).map(|i| format!("th{i}"))),
        (1..=size).map(bob).collect::<String>(),
        (1..size).map(spring).collect::<String>(),
        statement("draw", (1..=size).map(|i| format!("rod [{}, 0] to bob{i}", pivot(i)))),
        statement("draw", (1..size).map(|i| format!("spring bob{i} to bob{}", i + 1))),
        statement("draw", (1..=size).map(|i| format!("dot bob{i}"))),
    )
}
