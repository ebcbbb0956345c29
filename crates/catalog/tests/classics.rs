//! The classics of textbooks, against what can be worked out by hand.

use crate::common::{assert_near, run};
use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_integrate::Trajectory;
use leastaction_language::read;
use std::f64::consts::{PI, TAU};

/// The run of a text, by a method of high order, with every state.
fn rerun(text: &str, step: f64, until: f64) -> Trajectory {
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let values = setup.start(&dynamics).unwrap();
    let start = dynamics.start(&values).unwrap();
    let method = if dynamics.system().facts().constrained { "dop853" } else { "gauss8" };
    run(&mut dynamics, &start, method, step, until)
}

fn text(name: &str) -> String {
    Entry::named(name).unwrap().source(None).unwrap().into_owned()
}

/// The least and the largest value of a coordinate.
fn range(run: &Trajectory, coordinate: usize) -> [f64; 2] {
    run.samples()
        .map(|(_, y)| y[coordinate])
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, largest], x| [least.min(x), largest.max(x)])
}

#[test]
fn a_planet_is_back_after_a_year() {
    let end = rerun(&text("kepler"), 2e-4, 1.0).end();
    assert_near(&end.q, &[0.4, TAU], 1e-9);
}

/// What the bead has of Jacobi's function is a quadratic in cos θ, whose other root is where it turns.
#[test]
fn a_bead_turns_where_the_other_root_is() {
    let swing = rerun(&text("bead-on-hoop"), 5e-4, 3.0);
    let turn = (2.0 * 9.81 / (100.0 * 0.2) - 0.1_f64.cos()).acos();
    assert_near(&range(&swing, 0), &[0.1, turn], 1e-5);
}

/// As above, for (E + g u)(1 − u²) = p²/2 with u = cos θ, of which one root is where it starts.
#[test]
fn a_spherical_pendulum_swings_between_two_angles() {
    let swing = rerun(&text("spherical-pendulum"), 1e-3, 5.0);
    let (start, momentum) = (0.5_f64, 0.75);
    let energy = momentum * momentum / (2.0 * 0.75) - 9.81 * start;
    let beyond = |u: f64| (energy + 9.81 * u) * (1.0 - u * u) - momentum * momentum / 2.0;
    let (mut low, mut high) = (0.6, 1.0);
    assert!(beyond(low) > 0.0 && beyond(high) < 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle) > 0.0 { low = middle } else { high = middle }
    }
    assert_near(&range(&swing, 0), &[low.acos(), PI / 3.0], 1e-5);
}

/// The frequencies are as 2 to 1: from a small swing and a bounce, the swing grows at the cost of the bounce.
#[test]
fn an_elastic_pendulum_is_in_resonance() {
    let text = text("elastic-pendulum");
    let sideways = |text: &str| range(&rerun(text, 2e-3, 60.0), 0)[1];
    let [tuned, apart] = [sideways(&text), sideways(&text.replace("k = 3*m*g/l", "k = 5*m*g/l"))];
    assert!(tuned > 0.09 && apart < 0.07, "{tuned} {apart}");
}

/// z = x + iy turns back by Ω sin φ while it swings.
#[test]
fn the_plane_of_foucault_turns_with_the_latitude() {
    let until = 3600.0;
    let end = rerun(&text("foucault"), 0.1, until).end();
    let slow = TAU / 86164.0 * (48.85 * PI / 180.0).sin();
    let fast = (9.81_f64 / 67.0 + slow * slow).sqrt();
    let [(sin, cos), (back, along)] = [(fast * until).sin_cos(), (slow * until).sin_cos()];
    let (x, y) = (3.0 * cos, 3.0 * slow / fast * sin);
    assert_near(&end.q, &[x * along + y * back, y * along - x * back], 1e-9);
}

#[test]
fn a_pivot_that_shakes_fast_enough_holds_a_pendulum_upright() {
    let text = text("kapitza");
    let away = |text: &str| range(&rerun(text, 1e-3, 5.0), 0)[1];
    assert!(away(&text) < 0.5);
    assert!(away(&text.replace("w = 60", "w = 40")) > PI / 2.0);
}

/// Nothing pushes the two sideways: their common centre stays where it is.
#[test]
fn a_cart_and_its_pole_stay_about_their_centre() {
    let fall = rerun(&text("cart-pole"), 1e-3, 10.0);
    let [leftmost, rightmost] = range(&fall, 0);
    for (_, y) in fall.samples() {
        assert_near(&[1.1 * y[0] + 0.05 * y[1].sin()], &[0.05 * 0.1_f64.sin()], 1e-12);
    }
    assert!(leftmost < -0.04 && rightmost > 0.04, "{leftmost} {rightmost}");
}

/// L4 is in balance, and its slow libration has the angular frequency ω with ω⁴ − ω² + 27 μ (1 − μ)/4 = 0.
#[test]
fn a_craft_librates_about_l4() {
    let text = text("restricted-three-body");
    let rest = rerun(&text.replace("0.5 - mu + 0.01", "0.5 - mu"), 0.01, 20.0);
    let (mu, half) = (0.0121505856, 0.5 * 3.0_f64.sqrt());
    assert_near(&rest.end().q, &[0.5 - mu, half], 1e-12);

    // One frequency passes by where x is combined with itself half a turn of it later: x(t) + x(t + π/ω) has none of it.
    let root = (1.0 - 27.0 * mu * (1.0 - mu)).sqrt();
    let [slow, fast] = [-root, root].map(|root: f64| (0.5 * (1.0 + root)).sqrt());
    let small = text.replace("+ 0.01", "+ 1e-7");
    let at = |t: f64| 1e7 * (rerun(&small, t / 4000.0, t).end().q[0] - (0.5 - mu));
    for t in [3.0, 7.0] {
        let (half_slow, half_fast) = (PI / slow, PI / fast);
        let left = at(t) + at(t + half_slow) + at(t + half_fast) + at(t + half_slow + half_fast);
        assert_near(&[left], &[0.0], 1e-4);
    }
}

/// From rest, the top leans as far as the other root of 2a (u₀ − u) = 1 − u², where u = cos θ.
#[test]
fn a_top_leans_as_far_as_its_spin_lets_it() {
    let spin = rerun(&text("lagrange-top"), 5e-4, 2.0);
    let (a, start) = (0.02_f64.powi(2) / (4.0 * 0.0004 * 0.1 * 9.81 * 0.05), 0.5_f64.cos());
    let furthest = (a - (a * a - 2.0 * a * start + 1.0).sqrt()).acos();
    assert_near(&range(&spin, 0), &[0.5, furthest], 1e-5);
}

/// A coin that hardly leans wobbles with ω² = 12 n²/5 − 4 g/(5 R), for n the speed at which it turns, about what its heading keeps of the
/// first lean.
#[test]
fn a_coin_wobbles_as_it_rolls() {
    let small = text("rolling-coin").replace("lean = 0.1", "lean = 1e-4");
    let turning = 12.0 * 25.0_f64.powi(2) / 5.0;
    let wobble = (turning - 4.0 * 9.81 / (5.0 * 0.0125)).sqrt();
    let middle = turning / wobble.powi(2);
    for t in [0.1, 0.33] {
        let end = rerun(&small, 1e-4, t).end();
        assert_near(&[1e4 * end.q[2]], &[middle + (1.0 - middle) * (wobble * t).cos()], 1e-6);
    }
}

/// Whipple's bicycle, pushed a little, leans and steers by M q″ + v C q′ + (g K₀ + v² K₂) q = 0, where q is lean and steer, with the matrices that are published
/// for these numbers (J. P. Meijaard and others, Proc. R. Soc. A 463 (2007) 1955, equations 5.3 and 5.5). They come from another derivation, by other coordinates.
#[test]
fn a_bicycle_leans_and_steers_as_published() {
    const M: [[f64; 2]; 2] = [[80.81722, 2.319_413_322_087_09], [2.319_413_322_087_09, 0.297_841_881_996_86]];
    const C: [[f64; 2]; 2] = [[0.0, 33.866_413_914_924_94], [-0.850_356_414_569_78, 1.685_403_973_975_60]];
    const K0: [[f64; 2]; 2] =
        [[-80.95, -2.599_516_852_498_72], [-2.599_516_852_498_72, -0.803_294_884_586_18]];
    const K2: [[f64; 2]; 2] = [[0.0, 76.597_345_895_732_22], [0.0, 2.654_315_237_946_04]];
    let (speed, push, until) = (5.0, 1e-4, 2.0);
    let times = |a: &[[f64; 2]; 2], x: [f64; 2]| a.map(|row| row[0] * x[0] + row[1] * x[1]);
    let rates = |[lean, steer, lean_rate, steer_rate]: [f64; 4]| {
        let (by_speed, by_weight) = (times(&C, [lean_rate, steer_rate]), times(&K0, [lean, steer]));
        let by_both = times(&K2, [lean, steer]);
        let pull: [f64; 2] = std::array::from_fn(|i| {
            -(speed * by_speed[i] + 9.81 * by_weight[i] + speed * speed * by_both[i])
        });
        let det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
        let [a, b] = [M[1][1] * pull[0] - M[0][1] * pull[1], M[0][0] * pull[1] - M[1][0] * pull[0]];
        [lean_rate, steer_rate, a / det, b / det]
    };
    let (mut y, steps) = ([0.0, 0.0, push, 0.0], 4000);
    let h = until / f64::from(steps);
    let ahead = |y: [f64; 4], k: [f64; 4], h: f64| -> [f64; 4] { std::array::from_fn(|i| y[i] + h * k[i]) };
    for _ in 0..steps {
        let a = rates(y);
        let b = rates(ahead(y, a, h / 2.0));
        let c = rates(ahead(y, b, h / 2.0));
        let d = rates(ahead(y, c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }

    let graph = Graph::new();
    let text = text("bicycle").replace("v = 4.6, push = 0.5", "v = 5, push = 1e-4");
    let setup = read(&graph, &text, &[]).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let values = setup.start(&dynamics).unwrap();
    let start = dynamics.start_over(0.0, &setup.start_blocks(), &values).unwrap();
    let end = run(&mut dynamics, &start, "dop853", 5e-3, until).end();
    let angles = ["lean", "steer"].map(|name| {
        let (what, mut now) = (dynamics.observable(name).unwrap(), [0.0]);
        dynamics.observe(what, &[end.t], &end.block(), &mut now).unwrap();
        now[0]
    });
    // What is left is of the third order in the push.
    assert_near(&angles.map(|angle| angle / push), &[y[0] / push, y[1] / push], 1e-8);
    assert!(y[0].abs() > 0.05 * push && y[1].abs() > 0.05 * push);
}
