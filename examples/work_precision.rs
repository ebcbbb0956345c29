//! Work against precision: every method on every problem it applies to, as a picture.
//!
//! `cargo run --release --example work_precision [FILE.svg]` runs each method at steps or tolerances that halve or shrink tenfold, measures the error of the
//! end state against a reference on which two methods agree, takes the best of three times, and draws one curve per method. A row is a
//! problem, a column a family of methods; the other families stand behind in grey. Down and to the left is better.

use leastaction::{
    Card, Dynamics, Graph, Integrator, Keeps, Kind, METHODS, Model, Overrides, Pace, Sizing, Source, State,
    Tolerance,
};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::time::Instant;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// A run that takes longer than this is the last of its method.
const PATIENCE: f64 = 0.15;
/// Errors below this are rounding.
const FLOOR: f64 = 2e-14;

struct Problem {
    name: &'static str,
    dynamics: Dynamics,
    start: State,
    end: f64,
    exact: Vec<f64>,
}

struct Curve {
    card: &'static Card,
    /// Seconds and relative errors.
    points: Vec<(f64, f64)>,
}

/// The families, one column each.
const FAMILIES: [&str; 4] =
    ["explicit symplectic", "implicit symplectic", "energy and others", "general, adaptive"];

fn family(card: &Card) -> usize {
    let symplectic = card.keeps.contains(&Keeps::Symplectic);
    match (card.kind, card.sizing) {
        (Kind::Explicit, Sizing::Given) if symplectic => 0,
        (Kind::Implicit, Sizing::Given) if symplectic => 1,
        (_, Sizing::Given) => 2,
        (_, Sizing::Estimated { .. } | Sizing::Foreseen) => 3,
    }
}

fn main() -> Fallible<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "work_precision.svg".to_owned());
    let mut problems = [double_pendulum()?, kepler()?, henon_heiles()?];
    let mut rows = Vec::new();
    for problem in &mut problems {
        let mut curves = Vec::new();
        let facts = problem.dynamics.system().facts().clone();
        for card in METHODS.iter().filter(|card| card.needs.met_by(&facts)) {
            let curve = measure(problem, card);
            let best = curve.points.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
            println!(
                "{:18} {:22} best error {best:.1e} in {} runs",
                problem.name,
                card.name,
                curve.points.len()
            );
            curves.push(curve);
        }
        rows.push((problem.name, curves));
    }
    draw(&file, &rows)?;
    println!("wrote {file}");
    Ok(())
}

fn double_pendulum() -> Fallible<Problem> {
    let graph = Graph::new();
    // Slow enough for 5 s of it to have many digits.
    let slow = Overrides { parameters: vec![("g".to_owned(), 5.0)], ..Overrides::default() };
    let pendulum = Source::catalog("double-pendulum", None)?.problem(&graph, &slow)?;
    problem("double pendulum", pendulum.dynamics, pendulum.start, 5.0)
}

fn kepler() -> Fallible<Problem> {
    let (graph, e) = (Graph::new(), 0.6);
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    let mut dynamics = model.system()?.dynamics()?;
    let start = dynamics.start(&[("x", 1.0 - e), ("y'", ((1.0_f64 + e) / (1.0 - e)).sqrt())])?;
    problem("Kepler, e = 0.6", dynamics, start, 60.0)
}

fn henon_heiles() -> Fallible<Problem> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("star", 1.0, [x, y]);
    model.potential("well", 0.5 * (x * x + y * y) + x * x * y - y.pow(3.0) / 3.0);
    let mut dynamics = model.system()?.dynamics()?;
    let start = dynamics.start(&[("x", 0.1), ("y", 0.4), ("x'", 0.35), ("y'", -0.1)])?;
    problem("Hénon–Heiles", dynamics, start, 50.0)
}

/// The problem with its end state, on which two methods must agree.
fn problem(name: &'static str, mut dynamics: Dynamics, start: State, end: f64) -> Fallible<Problem> {
    let fine = Integrator::named("gauss12", end / 20_000.0)?.ends_only();
    let other = Integrator::named("vern9", Tolerance::relative(1e-15))?.ends_only();
    let [exact, again] = [fine, other].map(|run| run.run(&mut dynamics, &start, end));
    let (exact, again) = (exact?.end().block(), again?.end().block());
    let apart = distance(&exact, &again);
    if apart > 1e-10 {
        return Err(format!("{name}: two references differ by {apart:.1e}").into());
    }
    Ok(Problem { name, dynamics, start, end, exact })
}

/// The largest difference, relative to the largest number.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

fn measure(problem: &mut Problem, card: &'static Card) -> Curve {
    let paces: Vec<Pace> = match card.sizing {
        Sizing::Given => (0..24)
            .map(|k| Pace::Step(problem.end / (25.0 * 2.0_f64.powf(0.5 * f64::from(k))).round()))
            .collect(),
        Sizing::Estimated { .. } | Sizing::Foreseen => {
            (2..16).map(|k| Pace::Tolerance(Tolerance::relative(0.1_f64.powi(k)))).collect()
        }
    };
    let mut points = Vec::new();
    for pace in paces {
        let run = Integrator::new(card, pace).ends_only();
        let mut timed = || {
            let before = Instant::now();
            let end = run.run(&mut problem.dynamics, &problem.start, problem.end);
            (before.elapsed().as_secs_f64(), end)
        };
        let (first, end) = timed();
        // Steps that are too long fail loudly, and have no place in the picture.
        let Ok(end) = end else { continue };
        let error = distance(&end.end().block(), &problem.exact);
        let seconds = (0..2).map(|_| timed().0).fold(first, f64::min);
        if error < 0.5 {
            points.push((seconds, error.max(1e-16)));
        }
        if seconds > PATIENCE || error < FLOOR {
            break;
        }
    }
    Curve { card, points }
}

const PANEL: (u32, u32) = (520, 380);
/// The room for names beside a panel.
const NAMES: u32 = 150;

fn draw(file: &str, rows: &[(&str, Vec<Curve>)]) -> Fallible<()> {
    let size = (PANEL.0 * FAMILIES.len() as u32, PANEL.1 * rows.len() as u32 + 40);
    let root = SVGBackend::new(file, size).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled("Error of the end state (relative) against time (seconds)", ("sans-serif", 20))?;
    let panels = root.split_evenly((rows.len(), FAMILIES.len()));
    for (r, (problem, curves)) in rows.iter().enumerate() {
        for c in 0..FAMILIES.len() {
            panel(&panels[r * FAMILIES.len() + c], problem, c, curves)?;
        }
    }
    root.present()?;
    Ok(())
}

/// Ten colours that stay apart in print and for the colour-blind.
const COLORS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 60, 150),
    RGBColor(130, 130, 0),
    RGBColor(150, 20, 40),
    RGBColor(40, 40, 40),
];

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    problem: &str,
    column: usize,
    curves: &[Curve],
) -> Fallible<()> {
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{problem}: {}", FAMILIES[column]), ("sans-serif", 15))
        .margin(8)
        .margin_right(NAMES)
        .x_label_area_size(32)
        .y_label_area_size(52)
        .build_cartesian_2d((2e-6..0.5_f64).log_scale(), (1e-15..1.0_f64).log_scale())?;
    let power = |x: &f64| format!("1e{}", x.log10().round() as i32);
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&power)
        .y_label_formatter(&power)
        .x_desc("seconds")
        .y_desc("error")
        .draw()?;
    if curves.iter().all(|curve| family(curve.card) != column) {
        let font = ("sans-serif", 13).into_text_style(area);
        area.draw(&Text::new("none of these applies", (90, 60), font))?;
    }
    for curve in curves.iter().filter(|curve| family(curve.card) != column) {
        chart.draw_series(LineSeries::new(curve.points.iter().copied(), RGBColor(225, 225, 225)))?;
    }
    for (i, curve) in curves.iter().filter(|curve| family(curve.card) == column).enumerate() {
        let color = COLORS[i % COLORS.len()];
        // Beyond ten curves, hollow points tell those of one colour apart.
        let point: ShapeStyle = if i < COLORS.len() { color.filled() } else { color.stroke_width(1) };
        chart.draw_series(LineSeries::new(curve.points.iter().copied(), color.stroke_width(2)))?;
        chart.draw_series(curve.points.iter().map(|&at| Circle::new(at, 3, point)))?;
        let (x, y) = ((PANEL.0 - NAMES + 4) as i32, 44 + 18 * i as i32);
        area.draw(&PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)))?;
        area.draw(&Circle::new((x + 8, y), 3, point))?;
        let font = ("sans-serif", 12).into_text_style(area);
        area.draw(&Text::new(curve.card.name, (x + 22, y - 6), font))?;
    }
    Ok(())
}
