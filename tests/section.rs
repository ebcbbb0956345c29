//! `leastaction section` against closed forms and a second integration.

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};
use std::path::PathBuf;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leastaction")).arg("section").args(arguments).output().unwrap()
}

/// The columns of the points of a section.
fn points(name: &str, arguments: &[&str]) -> HashMap<String, Vec<f64>> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("section-{name}.csv"));
    let output = run(&[arguments, &["--out", path.to_str().unwrap(), "--quiet"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: HashMap<String, Vec<f64>> =
        names.iter().map(|name| ((*name).to_owned(), vec![])).collect();
    for line in lines {
        for (name, value) in names.iter().zip(line.split(',')) {
            columns.get_mut(*name).unwrap().push(value.parse().unwrap());
        }
    }
    columns
}

/// With λ = 0 the system is an oscillator: x = v sin t, y = 0.1 cos t.
#[test]
fn an_oscillator_comes_back_to_the_same_point() {
    let circle = ["henon-heiles", "--set", "lambda=0", "--tol", "1e-13", "--count", "30", "--through"];
    let found = points("oscillator", &[&circle[..], &["x", "--rising"]].concat());
    assert_eq!(found["t"].len(), 30);
    for (k, t) in found["t"].iter().enumerate() {
        // The start itself lies on the surface, and does not count.
        assert!((t - TAU * (k + 1) as f64).abs() < 1e-9, "{k}: {t}");
        assert!(
            (found["y"][k] - 0.1).abs() < 1e-10
                && found["p_y"][k].abs() < 1e-10
                && found["x"][k].abs() < 1e-15
        );
    }
    let both = points("both", &[&circle[..], &["x"]].concat());
    let falling = points("falling", &[&circle[..], &["x", "--falling"]].concat());
    for k in 0..30 {
        assert!((both["t"][k] - PI * (k + 1) as f64).abs() < 1e-9);
        assert!((falling["t"][k] - PI * (2 * k + 1) as f64).abs() < 1e-9 && falling["y"][k] < -0.0999);
    }
    let speed = found["x'"][0];
    let aside = points("aside", &[&circle[..], &["x = 0.05", "--rising", "--show", "x*y,t"]].concat());
    for (k, t) in aside["t"].iter().enumerate() {
        let expected = (0.05 / speed).asin() + TAU * k as f64;
        assert!((t - expected).abs() < 1e-9, "{k}: {t} {expected}");
        assert!((aside["x*y"][k] - 0.005 * expected.cos()).abs() < 1e-10);
    }
}

/// The Hénon–Heiles field, written by hand.
fn field([x, y, u, v]: [f64; 4]) -> [f64; 4] {
    [u, v, -x - 2.0 * x * y, -y - x * x + y * y]
}

/// The classical Runge–Kutta step of a field.
fn step(f: impl Fn([f64; 4]) -> [f64; 4], s: [f64; 4], h: f64) -> [f64; 4] {
    let shift = |k: [f64; 4], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
    let k1 = f(s);
    let k2 = f(shift(k1, h / 2.0));
    let k3 = f(shift(k2, h / 2.0));
    let k4 = f(shift(k3, h));
    std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// y and p_y where x passes 0 upwards, by small steps, and a last one in x onto the surface (M. Hénon, Physica D 5 (1982) 412).
fn by_hand(mut s: [f64; 4], count: usize) -> Vec<[f64; 2]> {
    let mut found = Vec::new();
    while found.len() < count {
        let next = step(field, s, 1e-3);
        if s[0] < 0.0 && next[0] >= 0.0 {
            // dy/dx, du/dx, dv/dx, with x itself as a state of rate 1.
            let in_x = |s: [f64; 4]| field(s).map(|rate| rate / s[2]);
            let [_, y, _, v] = step(in_x, s, -s[0]);
            found.push([y, v]);
        }
        s = next;
    }
    found
}

#[test]
fn points_are_those_of_a_second_integration() {
    let found =
        points("second", &["henon-heiles", "--through", "x", "--rising", "--tol", "1e-13", "--count", "25"]);
    let speed = (2.0 / 12.0 - 0.1 * 0.1 + 2.0 * 0.001 / 3.0_f64).sqrt();
    for (k, [y, v]) in by_hand([0.0, 0.1, speed, 0.0], 25).into_iter().enumerate() {
        let (dy, dv) = (found["y"][k] - y, found["p_y"][k] - v);
        assert!(dy.abs() < 1e-9 && dv.abs() < 1e-9, "{k}: {dy:e} {dv:e}");
    }
}

/// How much points jump from one to the next about their middle: next to nothing on a closed curve, about as much as they are large in a
/// cloud.
fn roughness(y: &[f64], v: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let spread = |x: &[f64]| (x.iter().map(|a| (a - mean(x)).powi(2)).sum::<f64>() / x.len() as f64).sqrt();
    let (y0, v0, sy, sv) = (mean(y), mean(v), spread(y), spread(v));
    let mut polar: Vec<(f64, f64)> = y
        .iter()
        .zip(v)
        .map(|(y, v)| {
            let (a, b) = ((y - y0) / sy, (v - v0) / sv);
            (b.atan2(a), a.hypot(b))
        })
        .collect();
    polar.sort_by(|a, b| a.0.total_cmp(&b.0));
    let jumps: f64 = polar.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).sum();
    jumps / polar.len() as f64
}

#[test]
fn orbits_are_orderly_at_low_energies_and_chaotic_at_high_ones() {
    let at = |energy: &'static str, y: &'static str| {
        let fan = ["--energy", energy, "--solve", "p_x", "--vary", y, "--count", "400"];
        points(energy, &[&["henon-heiles", "--through", "x", "--rising"], &fan[..]].concat())
    };
    let calm = at("0.08333333333333333", "y=0.1..0.1");
    let wild = at("0.1666", "y=-0.1..-0.1");
    let (low, high) = (roughness(&calm["y"], &calm["p_y"]), roughness(&wild["y"], &wild["p_y"]));
    assert!(low < 0.02 && high > 0.1, "{low} {high}");
    for (points, energy) in [(&calm, 1.0 / 12.0), (&wild, 0.1666)] {
        assert!(points["energy"].iter().all(|e| (e - energy).abs() < 1e-8));
    }
}

#[test]
fn fans_have_one_energy_and_numbers() {
    let fan = ["--energy", "0.1", "--solve", "x'", "--vary", "y=-0.2..0.4", "--orbits", "4", "--count", "5"];
    let found = points("fan", &[&["henon-heiles", "--through", "x", "--rising"], &fan[..]].concat());
    let numbers: Vec<f64> = (0..4).flat_map(|i| [f64::from(i); 5]).collect();
    assert_eq!(found["orbit"], numbers);
    assert!(found["energy"].iter().all(|e| (e - 0.1).abs() < 1e-8));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |arguments: &[&str]| {
        let output = run(&[&["henon-heiles"], arguments].concat());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--through", "x +"], 2, "`x +`"),
        (&["--through", "x = 1 = 2"], 2, "is no surface"),
        (&["--through", "w"], 2, "`w`, which the system does not have"),
        (&["--through", "x", "--show", "y"], 2, "are not two expressions"),
        (&["--through", "x", "--orbits", "3"], 2, "several orbits need several starts"),
        (&["--through", "x", "--energy", "0.1"], 2, "--solve"),
        (&["--through", "x", "--energy", "0.1", "--solve", "p_w"], 2, "did you mean"),
        (&["--through", "x", "--energy", "-1", "--solve", "p_x"], 2, "no p_x gives the energy -1"),
        (&["--through", "x", "--vary", "y=1"], 2, "NAME=FROM..TO"),
        (&["--through", "x", "--out", "points.xyz"], 2, ".csv"),
        (&["--through", "x = 7"], 1, "no orbit passes x = 7"),
    ];
    for (arguments, code, part) in cases {
        let (found, message) = refused(arguments);
        assert!(found == *code && message.contains(part), "{arguments:?}: {found} {message}");
    }
}
