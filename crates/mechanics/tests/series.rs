//! Taylor coefficients of a Lagrangian system's motion.

use leastaction_compile::{Backend, Form, LANES, Series};
use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Quantity, System};
use std::hint::black_box;
use std::time::Instant;

fn double_pendulum() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81)]);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [l * a.sin(), -l * a.cos()];
    let hand = [elbow[0] + l * b.sin(), elbow[1] - l * b.cos()];
    model.particle("elbow", m, elbow);
    model.particle("hand", m, hand);
    model.gravity([graph.number(0.0), -g]);
    model.system().unwrap()
}

/// The series at a start, summed over a short time, is where many small steps lead.
#[test]
fn the_series_of_a_double_pendulum_is_its_motion() {
    let system = double_pendulum();
    let kernel = system.kernel(Quantity::Rates).unwrap();
    let parameters = [1.0, 1.0, 9.81];
    let mut field = kernel.evaluator(&parameters).unwrap();
    let start = [0.3, -0.7, 1.1, 0.4];
    let series = Series::new(kernel.source(), 4, 20).unwrap();
    let mut coefficients = [0.0; 80];
    series.evaluator(&parameters).unwrap().eval(&start, &mut coefficients).unwrap();
    let h = 0.05;
    let (mut y, steps) = (start, 2000);
    let mut rates = |y: &[f64; 4]| {
        let mut out = [0.0; 4];
        field.eval(y, &mut out).unwrap();
        out
    };
    let first = rates(&start);
    for _ in 0..steps {
        let h = h / f64::from(steps);
        let ahead = |k: &[f64; 4], h: f64| std::array::from_fn::<f64, 4, _>(|i| y[i] + h * k[i]);
        let a = rates(&y);
        let b = rates(&ahead(&a, h / 2.0));
        let c = rates(&ahead(&b, h / 2.0));
        let d = rates(&ahead(&c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
    }
    for i in 0..4 {
        let sum = (0..20).rev().fold(0.0, |sum, k| (sum + coefficients[4 * k + i]) * h) + start[i];
        assert!((coefficients[i] - first[i]).abs() <= 4.0 * f64::EPSILON * first[i].abs().max(1.0));
        assert!((sum - y[i]).abs() < 1e-13, "state {i}: {sum} {}", y[i]);
    }
}

/// Points that attract each other, in space.
fn bodies(count: usize) -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let constant = model.parameter("G", 1.0);
    let places: Vec<_> = (0..count)
        .map(|i| {
            let place = ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}{i}")));
            model.particle(&format!("body{i}"), 1.0, place);
            place
        })
        .collect();
    for (i, a) in places.iter().enumerate() {
        for (j, b) in places.iter().enumerate().skip(i + 1) {
            let square = |k: usize| (a[k] - b[k]).pow(2.0);
            let distance = (square(0) + square(1) + square(2)).sqrt();
            model.potential(&format!("{i}–{j}"), -(constant / distance));
        }
    }
    model.system().unwrap()
}

/// Prints what coefficients cost.
#[test]
#[ignore = "long"]
fn cost() {
    let best = |mut run: Box<dyn FnMut() + '_>, few: u32| {
        let mut best = f64::INFINITY;
        for _ in 0..100 {
            let clock = Instant::now();
            (0..few).for_each(|_| run());
            best = best.min(clock.elapsed().as_secs_f64() / f64::from(few));
        }
        best * 1e9
    };
    let systems = [
        ("double pendulum", double_pendulum(), vec![1.0, 1.0, 9.81], 50),
        ("6 bodies", bodies(6), vec![1.0], 5),
        ("12 bodies", bodies(12), vec![1.0], 2),
        ("24 bodies", bodies(24), vec![1.0], 1),
    ];
    for (name, system, parameters, few) in systems {
        let field = system.kernel(Quantity::Rates).unwrap();
        let states = system.dimension();
        println!("{name}: {} instructions", field.source().body().len());
        for order in [12, 20] {
            for form in [Form::Unrolled(Backend::best()), Form::Compact] {
                let clock = Instant::now();
                let series = Series::with_form(field.source(), states, order, form).unwrap();
                let compile = clock.elapsed();
                let mut evaluator = series.evaluator(&parameters).unwrap();
                let mut out = vec![0.0; states * order * LANES];
                let inputs: Vec<f64> = (0..states * LANES).map(|i| 0.1 + (i as f64).sin()).collect();
                let one = best(
                    Box::new(|| {
                        evaluator.eval(black_box(&inputs[..states]), &mut out[..states * order]).unwrap();
                    }),
                    few,
                );
                let eight =
                    best(Box::new(|| evaluator.eval_lanes(black_box(&inputs), &mut out).unwrap()), few);
                let (body, bytes) =
                    series.kernel().map_or((0, 0), |k| (k.program().body().len(), k.code_len()));
                println!(
                    "  order {order}, {form:?}: {one:.0} ns, {eight:.0} ns for eight lanes, {body} instructions, \
                     {bytes} bytes, compiled in {compile:?}"
                );
            }
        }
    }
}
