//! Repetition means what it says written out.

use leastaction_expr::Graph;
use leastaction_language::{Setup, read};
use leastaction_testing::Random;

/// The rates of the system of a text at some states, and its energies there. With `names` as the names of the coordinates.
fn rates(text: &str, seed: u64, near: &dyn Fn(usize) -> f64) -> Vec<f64> {
    let graph = Graph::new();
    let setup =
        read(&graph, text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render("text", text, false)));
    rates_of(&setup, seed, near)
}

fn rates_of(setup: &Setup<'_>, seed: u64, near: &dyn Fn(usize) -> f64) -> Vec<f64> {
    let system = setup.model.system().unwrap_or_else(|error| panic!("{error}"));
    let mut dynamics = system.dynamics().unwrap();
    let n = system.coordinates().len();
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for _ in 0..3 {
        let position = |i: usize, random: &mut Random| near(i) + 0.1 * random.normal();
        let mut y: Vec<f64> = (0..n).map(|i| position(i, &mut random)).collect();
        y.extend((0..n).map(|_| random.normal()));
        let (mut out, mut energy) = (vec![0.0; 2 * n], [0.0]);
        dynamics.rates(&[0.3], &y, &mut out).unwrap();
        dynamics.energy(&[0.3], &y, &mut energy).unwrap();
        all.extend(out);
        all.extend(energy);
    }
    all
}

fn same(short: &str, long: &str) {
    let near = |_: usize| 0.5;
    assert_eq!(rates(short, 7, &near), rates(long, 7, &near), "{short}");
}

#[test]
fn a_chain_in_angles() {
    let short = "
param N = 3, m = 2, l = 1.5
coord th[N]
point b[0] at [0, 0]
particle b[i] mass m at b[i-1] + l*[sin(th[i]), -cos(th[i])] for i in 1..N
gravity [0, -9.81]
dissipation sum(i in 1..N: th[i]'^2)/20
force th[i] = 0.1*i*sin(t) for i in 1..N
";
    let long = "
param m = 2, l = 1.5
coord th1, th2, th3
particle b1 mass m at l*[sin(th1), -cos(th1)]
particle b2 mass m at b1 + l*[sin(th2), -cos(th2)]
particle b3 mass m at b2 + l*[sin(th3), -cos(th3)]
gravity [0, -9.81]
dissipation (th1'^2 + th2'^2 + th3'^2)/20
force th1 = 0.1*1*sin(t), th2 = 0.1*2*sin(t), th3 = 0.1*3*sin(t)
";
    same(short, long);
}

#[test]
fn sums_products_conditions_and_bounds() {
    let short = "
param N = 3, k[N] = [1, 2, 4], e[2] = 0.5
param m[i] = i^2 for i in 1..N
coord x[N], y[0..2]
let x[0] = 0, x[N+1] = 1 + t
kinetic m[i]*x[i]'^2/2 + y[i-1]'^2 for i in 1..N
potential a = sum(i in 0..N: (x[i+1] - x[i])^4)
potential b = product(i in 1..2: 1 + e[i]*y[i]^2)
potential c[i] = sum(j in 1..i: k[j]*x[j]^2) for i in 1..N where i != 2
potential d = sum(i <= j in 1..N where i + j < 5: cos(x[i] - x[j]))
potential e = sum(i in 1..N, j in 0..i-1: sum(l in 1..2: x[i]*y[j]*l))
potential f = sum(i in -1..1: i*x[2+i])
let s = [1.5, 2.5, 3.5]
potential g = sum(i in 1..3: s[i]*x[i])
potential h = sum(i in 3..N-1: x[i])
";
    let long = "
param k1 = 1, k2 = 2, k3 = 4, e1 = 0.5, e2 = 0.5, m1 = 1, m2 = 4, m3 = 9
coord x1, x2, x3, y0, y1, y2
kinetic m1*x1'^2/2 + y0'^2 + (m2*x2'^2/2 + y1'^2) + (m3*x3'^2/2 + y2'^2)
potential a = (x1 - 0)^4 + (x2 - x1)^4 + (x3 - x2)^4 + (1 + t - x3)^4
potential b = (1 + e1*y1^2)*(1 + e2*y2^2)
potential c1 = k1*x1^2
potential c3 = k1*x1^2 + k2*x2^2 + k3*x3^2
potential d = cos(x1 - x1) + cos(x1 - x2) + cos(x1 - x3) + cos(x2 - x2)
potential e = (x1*y0*1 + x1*y0*2) + (x2*y0*1 + x2*y0*2) + (x2*y1*1 + x2*y1*2)
    + (x3*y0*1 + x3*y0*2) + (x3*y1*1 + x3*y1*2) + (x3*y2*1 + x3*y2*2)
potential f = (-1)*x1 + 0*x2 + 1*x3
potential g = 1.5*x1 + 2.5*x2 + 3.5*x3
";
    same(short, long);
}

#[test]
fn arrays_of_one_range_take_turns() {
    let graph = Graph::new();
    let text = "coord x[2], y[2], z[0..1], u[2][2]\nkinetic x[1]'^2\n";
    let setup = read(&graph, text, &[]).unwrap();
    let names: Vec<String> = setup.model.declared_coordinates().iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        ["x[1]", "y[1]", "x[2]", "y[2]", "z[0]", "z[1]", "u[1][1]", "u[1][2]", "u[2][1]", "u[2][2]"]
    );
}

#[test]
fn bodies_and_joints_are_repeated() {
    let short = "
param N = 2, l = 1
body bar[i] planar rod l mass 1 for i in 1..N
joint pin[1] pin bar[1] at [-l/2, 0] to ground
joint pin[i] pin bar[i] at [-l/2, 0] to bar[i-1] at [l/2, 0] for i in 2..N
gravity [0, -9.81]
start bar[i] at [i - 0.5, 0] for i in 1..N
output lambda_pin_x[2], bar[2].angle
";
    let long = "
param l = 1
body bar1 planar rod l mass 1
body bar2 planar rod l mass 1
joint pin1 pin bar1 at [-l/2, 0] to ground
joint pin2 pin bar2 at [-l/2, 0] to bar1 at [l/2, 0]
gravity [0, -9.81]
start bar1 at [1 - 0.5, 0], bar2 at [2 - 0.5, 0]
";
    let state = |text: &str| {
        let graph = Graph::new();
        let setup =
            read(&graph, text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render("text", text, false)));
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
        let mut out = vec![0.0; 2 * start.q.len()];
        dynamics.rates(&[0.0], &start.block(), &mut out).unwrap();
        (start.q.clone(), out)
    };
    assert_eq!(state(short), state(long));
}

/// What is written out for few is one formula for many: the same sums, in another order.
fn many(text: &str, size: usize, near: &(dyn Fn(usize) -> f64 + Sync)) {
    let graph = Graph::new();
    let setup = read(&graph, text, &[("N", size as f64)])
        .unwrap_or_else(|errors| panic!("{}", errors.render("text", text, false)));
    // The same with its sums written out by hand.
    let long = written(text, size);
    let (some, all) = (rates_of(&setup, 3, near), rates(&long, 3, near));
    assert_eq!(some.len(), all.len());
    let scale = all.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (i, (a, b)) in some.iter().zip(&all).enumerate() {
        assert!((a - b).abs() <= 1e-12 * scale.min(1.0 + b.abs() * 1e3), "{i}: {a} and {b}, of {scale}");
    }
}

/// A text with `SUM(i<j)BODY` written out: what the language itself does is not used.
fn written(text: &str, size: usize) -> String {
    let mut long = text.replace("param N = 1", &format!("param N = {size}"));
    for (pattern, pairs) in [("sum(i < j in 1..N: ", true), ("sum(i in 0..N: ", false)] {
        while let Some(at) = long.find(pattern) {
            let end = at + long[at..].find("#").unwrap();
            let body = long[at + pattern.len()..end - 1].to_owned();
            let one = |i: usize, j: usize| {
                let body = body.replace("[i+1]", &format!("[{}]", i + 1)).replace("[i]", &format!("[{i}]"));
                format!("({})", body.replace("[j]", &format!("[{j}]")).replace("(i)", &format!("{i}")))
            };
            let terms: Vec<String> = match pairs {
                true => (1..=size)
                    .flat_map(|i| (i + 1..=size).map(move |j| (i, j)))
                    .map(|(i, j)| one(i, j))
                    .collect(),
                false => (0..=size).map(|i| one(i, 0)).collect(),
            };
            // Few at a time: names for parts keep lines short.
            long.replace_range(at..end + 1, &format!("({})", terms.join(" + ")));
        }
    }
    long
}

#[test]
fn sums_of_many_terms_are_formulas_over_lists() {
    // Ends are held; masses and stiffnesses differ; a number depends on the index.
    let chain = "
param N = 1
param m[i] = 1 + i/100 for i in 1..N
param k[i] = 2 + i/50 for i in 0..N
param c = 0.3
coord x[N]
let x[0] = 0, x[N+1] = 0.5*t
particle p[i] mass m[i] at [x[i]] for i in 1..N
potential springs = 3*c*sum(i in 0..N: k[i]*(x[i+1] - x[i])^2/2 + (x[i+1] - x[i])^4/(1 + (i)))#
dissipation loss = sum(i in 0..N: c*(x[i+1]' - x[i]')^2/2)#
";
    many(chain, 420, &|i| i as f64 * 0.1);
    let atoms = "
param N = 1, eps = 1, sigma = 0.9
coord x[N], y[N], z[N]
particle a[i] mass 2 at [x[i], y[i], z[i]] for i in 1..N
let lj(r) = 4*eps*((sigma/r)^12 - (sigma/r)^6)
potential pairs = sum(i < j in 1..N: lj(norm(a[i] - a[j])))#
";
    let near = |i: usize| [i / 3 % 5, i / 15 % 5, i / 75][i % 3] as f64 * 1.5;
    many(atoms, 40, &near);
    // In the plane, about moving centres.
    let flat = "
param N = 1
coord r[N], th[N]
particle a[i] mass 2 at r[i]*[cos(th[i]), sin(th[i])] for i in 1..N
potential pairs = sum(i < j in 1..N: exp(-norm(a[i] - a[j])^2))#
";
    many(flat, 30, &|i| i as f64);
}

#[test]
fn pairs_need_no_list() {
    let atoms = "
param N = 1, eps = 1, sigma = 0.9
coord x[N], y[N], z[N]
particle a[i] mass 2 at [x[i], y[i], z[i]] for i in 1..N
potential pairs = eps*sum(i < j in 1..N: 4*((sigma/norm(a[i] - a[j]))^12 - (sigma/norm(a[i] - a[j]))^6))#
";
    let near = |i: usize| [i / 3 % 6, i / 18 % 6, i / 108][i % 3] as f64 * 1.5;
    let graph = Graph::new();
    let setup = read(&graph, atoms.replace('#', "").as_str(), &[("N", 140.0)]).unwrap();
    let some = rates_of(&setup, 3, &near);
    // By the same sum over a list: one more index makes it no sum over pairs.
    let listed = atoms.replace("i < j in 1..N: ", "i in 1..N, j in i+1..N: ").replace('#', "");
    let setup = read(&graph, &listed, &[("N", 140.0)]).unwrap();
    let all = rates_of(&setup, 3, &near);
    for (a, b) in some.iter().zip(&all) {
        assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{a} and {b}");
    }
    // Those within a cut-off, of few atoms too.
    let near_by = atoms.replace("in 1..N: ", "in 1..N where norm(a[i] - a[j]) < 2: ").replace('#', "");
    let setup = read(&graph, &near_by, &[("N", 20.0)]).unwrap();
    let some = rates_of(&setup, 3, &near);
    let system = setup.model.system().unwrap();
    assert_eq!(some.len(), 3 * (2 * system.coordinates().len() + 1));
    let lennard_jones = |r: f64| 4.0 * ((0.9 / r).powi(12) - (0.9 / r).powi(6));
    let mut random = Random::new(3);
    let q: Vec<f64> = (0..60).map(|i| near(i) + 0.1 * random.normal()).collect();
    let p: Vec<f64> = (0..60).map(|_| random.normal()).collect();
    let mut energy: f64 = p.iter().map(|p| p * p / 4.0).sum();
    for i in 0..20 {
        for j in i + 1..20 {
            let r = (0..3).map(|k| (q[3 * i + k] - q[3 * j + k]).powi(2)).sum::<f64>().sqrt();
            energy += if r < 2.0 { lennard_jones(r) } else { 0.0 };
        }
    }
    assert!((some[120] - energy).abs() < 1e-12 * energy.abs(), "{} and {energy}", some[120]);
}

#[test]
fn sizes_are_parameters() {
    let text = "
param N = 2
coord x[N]
particle p[i] mass 1 at [x[i]] for i in 1..N
potential sum(i in 1..N-1: (x[i+1] - x[i])^2)
start x[i] = i for i in 1..N
";
    for size in [1, 2, 7] {
        let graph = Graph::new();
        let setup = read(&graph, text, &[("N", f64::from(size))]).unwrap();
        assert_eq!(setup.model.coordinate_count(), size as usize);
        assert_eq!(setup.start.len(), size as usize);
        let fixed = setup.fixed("N", &[]).unwrap().to_string();
        assert!(fixed.contains("`N` cannot be sampled"), "{fixed}");
    }
}
