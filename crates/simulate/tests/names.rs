//! The names of a model mean the same in every expression: of observables, events, reductions and sections.

use leastaction_ensemble::Study;
use leastaction_expr::Graph;
use leastaction_integrate::{Event, Integrator};
use leastaction_language::Direction;
use leastaction_mechanics::{Model, ObserveError};
use leastaction_output::Table;
use leastaction_simulate::{Overrides, Section, SectionPlan, Source};

/// As many lanes as are observed at once.
const LANES: usize = 8;

const PENDULUM: &str = "
param l = 2, m = 3, g = 9.81, k = 5
coord th
let s = sin(th)
let twice(a) = 2*a
let down = [0, -1]
particle bob mass m at [l*sin(th), -l*cos(th)]
point middle at 0.5*bob
gravity [0, -g]
potential spring = k*th^2/2
output height = bob.y + l, `the angle` = th, rise = kinetic.bob
invariant total = m*l^2*th'^2/2 - m*g*l*cos(th) + k*th^2/2
event through: kinetic = potential.spring
start th = 0.7, th' = -0.4
run until 1
";

/// A text, and its value where th and th' have these values.
type Case = (&'static str, fn(f64, f64) -> f64);

const CASES: &[Case] = &[
    ("s + th'", |th, w| th.sin() + w),
    ("s'", |th, w| w * th.cos()),
    ("twice(s)", |th, _| 2.0 * th.sin()),
    ("norm(twice(bob))", |_, _| 4.0),
    ("bob.y", |th, _| -2.0 * th.cos()),
    ("bob.x'", |th, w| 2.0 * w * th.cos()),
    ("norm(bob')^2", |_, w| 4.0 * w * w),
    ("dot(down, middle)", |th, _| th.cos()),
    ("middle.x - bob.x", |th, _| -th.sin()),
    ("height", |th, _| 2.0 - 2.0 * th.cos()),
    ("`the angle`/2", |th, _| th / 2.0),
    ("rise", kinetic),
    ("total", |th, w| kinetic(th, w) + weight(th) + spring(th)),
    ("energy - total", |_, _| 0.0),
    ("kinetic/2", |th, w| kinetic(th, w) / 2.0),
    ("kinetic.bob", kinetic),
    ("potential", |th, _| weight(th) + spring(th)),
    ("spring", |th, _| spring(th)),
    ("potential.spring + t", |th, _| spring(th)),
    ("`gravity on bob`", |th, _| weight(th)),
    ("p_th", |_, w| 12.0 * w),
];

fn kinetic(_: f64, w: f64) -> f64 {
    6.0 * w * w
}

fn weight(th: f64) -> f64 {
    -3.0 * 9.81 * 2.0 * th.cos()
}

fn spring(th: f64) -> f64 {
    2.5 * th * th
}

#[test]
fn every_name_of_a_text_is_observed() {
    let graph = Graph::new();
    let setup = Source::text("pendulum", PENDULUM).setup(&graph, &[]).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    for (text, expected) in CASES {
        let observable = dynamics.observable(*text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let angles: [f64; LANES] = std::array::from_fn(|lane| 0.3 * lane as f64 - 1.1);
        let speeds: [f64; LANES] = std::array::from_fn(|lane| 1.7 - 0.6 * lane as f64);
        let (mut lanes, mut block) = ([0.0; LANES], [0.0; 2 * LANES]);
        block[..LANES].copy_from_slice(&angles);
        block[LANES..].iter_mut().zip(speeds).for_each(|(p, w)| *p = 12.0 * w);
        dynamics.observe(observable, &[0.0; LANES], &block, &mut lanes).unwrap();
        for (lane, (&th, &w)) in angles.iter().zip(&speeds).enumerate() {
            let (mut single, expected) = ([0.0], expected(th, w));
            dynamics.observe(observable, &[0.0], &[th, 12.0 * w], &mut single).unwrap();
            assert_eq!(single[0].to_bits(), lanes[lane].to_bits(), "{text}");
            assert!(
                (single[0] - expected).abs() < 1e-12 * expected.abs().max(10.0),
                "{text}: {single:?} {expected}"
            );
        }
    }
    let wrong = dynamics.observable("boob.y").unwrap_err();
    assert!(wrong.to_string().ends_with("did you mean `bob.y`?"), "{wrong}");
    assert!(dynamics.observable("bob").unwrap_err().to_string().contains("a vector of 2"));
    assert!(matches!(dynamics.rated("kinetic").unwrap_err(), ObserveError::NoRate { .. }));
    assert!(dynamics.observable("spring'").is_err());
}

#[test]
fn names_of_a_model_are_observed_that_no_text_declares() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("ball", 2.0, [x, y]);
    // This one has the name of a coordinate, which it does not hide.
    model.particle("x", 1.0, [x * 3.0]);
    let energy = model.define("energy", x * 7.0);
    model.potential("well", energy);
    model.constraint("floor", y * y, x * x);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0), ("y", 1.0)]).unwrap();
    let mut value = |text: &str| {
        let (observable, mut out) = (dynamics.observable(text).unwrap(), [0.0]);
        dynamics.observe(observable, &[0.0], &start.block(), &mut out).unwrap();
        out[0]
    };
    assert_eq!(
        [value("ball.x + ball.y"), value("x"), value("x.x"), value("energy"), value("well")],
        [2.0, 1.0, 3.0, 7.0, 7.0]
    );
    assert_eq!(value("potential.well + 0*lambda_floor"), 7.0);
    let mut lambda = [0.0];
    let (text, mut out) = (dynamics.observable("lambda_floor").unwrap(), [0.0]);
    dynamics.multipliers(&[0.0], &start.block(), &mut lambda).unwrap();
    dynamics.observe(text, &[0.0], &start.block(), &mut out).unwrap();
    assert!(lambda[0] != 0.0 && lambda == out);
}

const ARM: &str = "
body left planar rod 1 mass 2
joint pivot pin left at [-0.5, 0] to ground
point tip on left at [0.5, 0]
gravity [0, -9.81]
start left at [0.5, 0]
run until 1
";

#[test]
fn ensembles_and_sections_know_the_names() {
    let (graph, source) = (Graph::new(), Source::text("arm", ARM));
    let mut problem = source.problem(&graph, &Overrides::default()).unwrap();
    let stop = problem.dynamics.observable("left.angle + 0.5").unwrap();
    let integrator = Integrator::named("dop853", 1e-3).unwrap().event(Event::new(stop).terminal());
    let rest = problem.rest(&Overrides::default()).unwrap();
    let study = Study::new(integrator, 1.0)
        .starting(rest)
        .events(["down"])
        .reducing(["ends(left.angle, tip.x, norm(tip'), left.angle', energy, potential/2)"])
        .unwrap()
        .count(1);
    let results = study.run(&problem.dynamics, |_| ()).unwrap();
    let rows = results.rows(0).unwrap();
    let value = |name: &str| {
        let place = rows.columns().iter().position(|(_, column)| column == name).unwrap();
        let mut values = Vec::new();
        rows.read(place, 0..1, &mut values).unwrap();
        values[0]
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10, "{a} {b}");
    close(value("left.angle"), -0.5);
    close(value("tip.x"), 0.5f64.cos());
    close(value("norm(tip')"), -value("left.angle'"));
    // It falls from rest: what its weight gives, it turns with.
    close(value("energy"), 0.0);
    close(value("potential/2"), -9.81 * 0.5 * 0.5f64.sin());

    let plan = SectionPlan {
        through: "tip.y = -0.25".to_owned(),
        direction: Direction::Falling,
        shown: Some(["left.angle".to_owned(), "kinetic + potential".to_owned()]),
        orbits: 1,
        vary: None,
        level: None,
        count: 3,
        threads: None,
    };
    let section = Section::new(&source, &mut problem, &plan, &Overrides::default()).unwrap();
    let run = section.run(|_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(run.points.len(), 3);
    for (_, [angle, energy]) in &run.points.shown {
        assert!((angle.sin() + 0.25).abs() < 1e-9 && energy.abs() < 1e-8, "{angle} {energy}");
    }
}
