//! Closed loops: a four-bar linkage, a slider with its crank, and Bricard's mechanism, whose constraints are redundant.
//!
//! `cargo run --release --example closed_loops [FILE.svg]` runs each with several methods, prints how many of its constraints are independent, how
//! well constraints and energy are kept, and draws both over time.

use leastaction::{
    Dynamics, Graph, Integrator, Overrides, Pace, Problem, Source, State, Tolerance, energy_scale,
};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// So many samples are enough for a curve.
const SAMPLES: u64 = 500;
/// What is smaller is drawn here.
const FLOOR: f64 = 1e-17;

struct Case {
    name: &'static str,
    title: &'static str,
    dynamics: Dynamics,
    start: State,
    /// The step of methods that need one, and the time at the end.
    step: f64,
    until: f64,
}

/// How a method keeps constraints and energy.
struct Curve {
    method: &'static str,
    /// Times, with violations of constraints of positions and of velocities, and errors of the energy.
    times: Vec<f64>,
    violations: Vec<[f64; 2]>,
    energies: Vec<f64>,
}

fn main() -> Fallible<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "book/src/closed-loops.svg".to_owned());
    let mut cases = [
        case("four-bar", "Four-bar linkage")?,
        case("slider-crank", "Slider and crank")?,
        case("bricard", "Bricard's mechanism")?,
    ];
    println!("system        constraints  rank  method    steps    |Φ| at most  |Φ'| at most  energy error");
    let mut rows = Vec::new();
    for case in &mut cases {
        let mut curves = Vec::new();
        for (method, pace) in [
            ("rattle", Pace::Step(case.step)),
            ("gauss4", Pace::Step(case.step)),
            ("dop853", Pace::Tolerance(Tolerance::relative(1e-9))),
        ] {
            curves.push(measure(case, method, pace)?);
        }
        rows.push((case.title, curves));
    }
    // A file that is being read never is half a picture.
    let unfinished = format!("{file}.part");
    draw(&unfinished, &rows)?;
    std::fs::rename(&unfinished, &file)?;
    println!("wrote {file}");
    Ok(())
}

fn case(name: &'static str, title: &'static str) -> Fallible<Case> {
    let graph = Graph::new();
    let problem = Source::catalog(name, None)?.problem(&graph, &Overrides::default())?;
    let Problem { setup, dynamics, start, until, .. } = problem;
    let step = setup.plan.step.ok_or("the plan has no step")?;
    Ok(Case { name, title, dynamics, start, step, until })
}

fn measure(case: &mut Case, method: &'static str, pace: Pace) -> Fallible<Curve> {
    let Case { name, dynamics, start, step, until, .. } = case;
    let every = match pace {
        Pace::Step(_) => ((*until / *step) as u64 / SAMPLES).max(1),
        _ => 1,
    };
    let integrator = Integrator::named(method, pace)?.every(every);
    let run = match integrator.run(dynamics, start, *until) {
        Ok(run) => run,
        Err(failed) => {
            println!("{name:12}  {method}: {failed}");
            // What was computed until then is shown.
            match failed.trajectory {
                Some(run) => *run,
                None => return Err(failed.error.into()),
            }
        }
    };
    let scale = energy_scale(dynamics, start)?;
    let energies = run.energies(dynamics)?;
    let first = energies.first().copied().unwrap_or_default();
    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) =
        (vec![0.0; dynamics.system().position_constraints()], vec![0.0; rows]);
    let mut curve = Curve {
        method,
        times: run.times().to_vec(),
        violations: Vec::new(),
        energies: energies.iter().map(|energy| (energy - first).abs() / scale).collect(),
    };
    for (t, y) in run.samples() {
        dynamics.violations(&[t], y, &mut positions, &mut velocities)?;
        curve.violations.push([largest(&positions), largest(&velocities)]);
    }
    let end = run.end();
    let mut rank = [0];
    dynamics.rank(&[end.t], &end.block(), &mut rank)?;
    let worst = |k: usize| largest(&curve.violations.iter().map(|v| v[k]).collect::<Vec<_>>());
    println!(
        "{name:12}  {rows:11}  {:4}  {method:8}  {:5}  {:13.1e}  {:12.1e}  {:12.1e}",
        rank[0],
        run.work().steps,
        worst(0),
        worst(1),
        largest(&curve.energies)
    );
    Ok(curve)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

const PANEL: (u32, u32) = (520, 300);
/// Colours that stay apart in print and for the colour-blind.
const COLORS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115)];

fn draw(file: &str, rows: &[(&str, Vec<Curve>)]) -> Fallible<()> {
    let size = (2 * PANEL.0, PANEL.1 * rows.len() as u32 + 30);
    let root = SVGBackend::new(file, size).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled("Closed loops: what constraints and energy are off by", ("sans-serif", 20))?;
    let panels = root.split_evenly((rows.len(), 2));
    for (r, (title, curves)) in rows.iter().enumerate() {
        let positions = |curve: &Curve, i: usize| curve.violations[i][0].max(curve.violations[i][1]);
        panel(&panels[2 * r], &format!("{title}: constraints"), curves, positions)?;
        panel(&panels[2 * r + 1], &format!("{title}: energy"), curves, |curve, i| curve.energies[i])?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    curves: &[Curve],
    value: impl Fn(&Curve, usize) -> f64,
) -> Fallible<()> {
    let end = curves.iter().filter_map(|curve| curve.times.last()).fold(0.0, |end: f64, t| end.max(*t));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 15))
        .margin(8)
        .margin_right(70)
        .x_label_area_size(32)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..end, (FLOOR..1e-2_f64).log_scale())?;
    let power = |x: &f64| format!("1e{}", x.log10().round() as i32);
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .y_label_formatter(&power)
        .x_desc("time (s)")
        .y_desc("error")
        .draw()?;
    for (k, curve) in curves.iter().enumerate() {
        let color = COLORS[k % COLORS.len()];
        let points = curve.times.iter().enumerate().map(|(i, &t)| (t, value(curve, i).max(FLOOR)));
        chart.draw_series(LineSeries::new(points, color.stroke_width(1)))?;
        let (x, y) = ((PANEL.0 - 66) as i32, 44 + 18 * k as i32);
        area.draw(&PathElement::new([(x, y), (x + 14, y)], color.stroke_width(2)))?;
        let font = ("sans-serif", 12).into_text_style(area);
        area.draw(&Text::new(curve.method, (x + 18, y - 6), font))?;
    }
    Ok(())
}
