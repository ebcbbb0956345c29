//! `leastaction equilibrium` and `leastaction modes`: where a system rests, and how it moves about there.

use super::Failure;
use super::files::apart;
use super::json::warning as json_warning;
use super::pictures::{animation_file, plot_file};
use super::run::several;
use super::setting::What;
use super::source::{title, unprepared};
use super::summary::{at_places, labelled, lines, rows_of};
use clap::Args;
use leastaction::analyze::{AnalyzeError, Equilibrium, Mode, ModeKind, Modes as NormalModes, Rigid, Spiral};
use leastaction::integrate::{number, rounded};
use leastaction::output::json::{self, list, object, text};
use leastaction::output::{Format, Table, check, write};
use leastaction::plot::{Animation, MOST_MODES, ModePicture, ModesPlot};
use leastaction::simulate::{ModesTable, Problem, Warning};
use leastaction::{EvalError, Graph, Overrides};
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "The search begins at the coordinates of the initial condition, and lowers the energy from there; constraints are kept. \
                  If the forces balance at the start already, the result is the start itself; the summary says whether the energy decreases in some direction.\n\n\
                  Exit codes: 0 an equilibrium was found, 1 none was, 2 wrong usage.\n\n\
                  Examples:\n  leastaction equilibrium double-pendulum\n  leastaction equilibrium double-pendulum --start th1=3 --start th2=3 --json\n  \
                  leastaction equilibrium swing.motion --set g=1.62 --out rest.csv"
)]
pub(crate) struct Rest {
    #[command(flatten)]
    what: What,
    /// Write the state to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(
    after_help = "The modes are those about the equilibrium that `leastaction equilibrium` finds. Frequencies are angular, in radians per unit of time. Shapes satisfy φᵀMφ = 1. \
                  If forces depend on velocities, such as damping, the summary also lists the motions with these forces.\n\n\
                  Exit codes: 0 success, 1 there is no equilibrium or modes were not found, 2 wrong usage.\n\n\
                  Examples:\n  leastaction modes double-pendulum\n  leastaction modes coupled-chain -k 5 --out modes.csv\n  \
                  leastaction modes double-pendulum --mode 2 --animate second.gif\n  leastaction modes jelly-cube --plot modes.png"
)]
pub(crate) struct Modes {
    #[command(flatten)]
    what: What,
    /// Find this number of the lowest modes
    #[arg(short = 'k', long = "count", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Write the modes with their shapes to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Plot the modes to a file, as its ending says: .svg or .png; the first six, or the one after --mode (repeatable)
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
    /// Animate a mode in a file, as its ending says: .gif, or .mp4 if ffmpeg is installed (repeatable)
    #[arg(long, value_name = "FILE", value_parser = animation_file)]
    animate: Vec<PathBuf>,
    /// Which mode is animated, from 1 [default: the lowest that vibrates], and plotted [default: the first six]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    mode: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What a command found, to be printed.
struct Report {
    rows: Vec<Vec<String>>,
    written: Vec<String>,
    errors: Vec<String>,
}

impl Report {
    fn write(&mut self, path: &Path, table: &dyn Table, problem: &Problem<'_>, what: &str) {
        match write(path, table, &problem.about_rest(what)) {
            Ok(()) => self.written.push(path.display().to_string()),
            Err(error) => self.errors.push(error.to_string()),
        }
    }

    /// What is printed, and what went wrong.
    fn done(mut self, json: Option<String>) -> Result<String, Failure> {
        if !self.written.is_empty() {
            self.rows.push(vec!["files".to_owned(), self.written.join(", ")]);
        }
        let said = json.unwrap_or_else(|| rows_of(self.rows));
        if self.errors.is_empty() { Ok(said) } else { Err(Failure::run(several(&self.errors)).saying(said)) }
    }
}

impl Rest {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        checked(&self.out, &self.what.system)?;
        let graph = Graph::new();
        let (mut problem, rest) = equilibrium(&self.what, &graph)?;
        let warnings = problem.inverted_at_rest(&rest).map_err(Failure::run)?;
        let mut report = Report { rows: rows(&problem, &rest), written: Vec::new(), errors: Vec::new() };
        let coordinates = problem.dynamics.system().coordinates();
        report.rows.extend(labelled("at", at_places(coordinates, &rest.q)));
        let names = problem.dynamics.system().constraints().iter();
        let multipliers =
            names.zip(&rest.multipliers).map(|((name, _), m)| format!("{name} = {}", rounded(*m, 10)));
        report.rows.extend(labelled("multipliers", lines(multipliers)));
        report.rows.extend(warnings.iter().map(|warning| vec!["warning".to_owned(), warning.to_string()]));
        if !self.out.is_empty() {
            let record = problem.equilibrium_record(&rest).map_err(Failure::run)?;
            self.out.iter().for_each(|path| report.write(path, &record.table(), &problem, "equilibrium"));
        }
        let json = self.json.then(|| document(members(&problem, &rest, &warnings)));
        report.done(json)
    }
}

impl Modes {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        checked(&self.out, &self.what.system)?;
        if self.mode.is_some() && self.animate.is_empty() && self.plot.is_empty() {
            return Err(Failure::usage(
                "--mode says which mode is drawn: give --animate FILE or --plot FILE, too",
            ));
        }
        apart(&self.animate, &self.what.system)?;
        apart(&self.plot, &self.what.system)?;
        self.animate.iter().chain(&self.plot).try_for_each(|path| check(path)).map_err(Failure::usage)?;
        let graph = Graph::new();
        let (mut problem, rest) = equilibrium(&self.what, &graph)?;
        let inverted = problem.inverted_at_rest(&rest).map_err(Failure::run)?;
        let modes = problem.modes(&rest, self.count as usize).map_err(|error| failed(&error))?;
        let mut report = Report { rows: rows(&problem, &rest), written: Vec::new(), errors: Vec::new() };
        report.rows.extend(free(&modes).map(|list| vec!["free".to_owned(), list]));
        let head = format!("{} of {}, lowest first", modes.modes.len(), modes.freedom);
        let rows = modes.modes.iter().enumerate().map(|(k, mode)| mode_text(&problem, k + 1, mode));
        report.rows.extend(labelled("modes", std::iter::once(head).chain(rows).collect()));
        if let Some(spirals) = &modes.spirals {
            report.rows.extend(labelled("with velocities", spirals.iter().map(spiral).collect()));
        }
        report.rows.extend(inverted.iter().map(|warning| vec!["warning".to_owned(), warning.to_string()]));
        if modes.undamped {
            let why = "forces depend on velocities, and are left out: these are modes without damping";
            report.rows.push(vec!["warning".to_owned(), why.to_owned()]);
        }
        for (k, _) in modes.modes.iter().enumerate().filter(|(_, mode)| !mode.steady) {
            let why = format!(
                "the stiffness of mode {} vanishes or changes right at the equilibrium: how fast it is depends on how far it goes, and the number above means nothing",
                k + 1
            );
            report.rows.push(vec!["warning".to_owned(), why]);
        }
        for path in &self.out {
            report.write(path, &ModesTable::new(&modes, &problem.dynamics), &problem, "modes");
        }
        if !self.animate.is_empty() {
            let (number, mode) = self.chosen(&modes)?;
            let record = problem.mode_record(&rest, mode).map_err(Failure::run)?;
            let title = format!("{}, mode {number}", problem.name);
            let drawing = &problem.setup.drawing;
            for path in &self.animate {
                match (Animation { record: &record, drawing, title: &title }).save(path) {
                    Ok(tempo) => report.written.push(format!("{} ({tempo})", path.display())),
                    Err(error) => report.errors.push(format!("no picture `{}`: {error}", path.display())),
                }
            }
        }
        if !self.plot.is_empty() {
            self.draw(&mut problem, &rest, &modes, &mut report)?;
        }
        let json = self.json.then(|| {
            let mut all = members(&problem, &rest, &inverted);
            all.extend(mode_members(&problem, &modes));
            document(all)
        });
        report.done(json)
    }

    /// The mode that is animated.
    /// Plots modes.
    fn draw(
        &self,
        problem: &mut Problem<'_>,
        rest: &Equilibrium,
        modes: &NormalModes,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let numbered: Vec<(usize, &Mode)> = match self.mode {
            Some(_) => vec![self.chosen(modes)?],
            None => (1..).zip(&modes.modes).take(MOST_MODES).collect(),
        };
        let mut pictures = Vec::new();
        for (number, mode) in numbered {
            let record = problem.mode_record(rest, mode).map_err(Failure::run)?;
            pictures.push(ModePicture { name: drawn(number, mode), record, shape: &mode.shape });
        }
        let subtitle =
            format!("{} of {} modes, each as far as it is shown to go", pictures.len(), modes.freedom);
        let (title, drawing) = (problem.name.as_str(), &problem.setup.drawing);
        let plot = ModesPlot { drawing, title, subtitle: &subtitle, modes: &pictures };
        for path in &self.plot {
            match plot.save(path) {
                Ok(()) => report.written.push(path.display().to_string()),
                Err(error) => report.errors.push(format!("no picture `{}`: {error}", path.display())),
            }
        }
        Ok(())
    }

    fn chosen<'m>(&self, modes: &'m NormalModes) -> Result<(usize, &'m Mode), Failure> {
        let vibrates = |mode: &Mode| mode.kind == ModeKind::Vibration;
        let number = match self.mode {
            Some(number) => number as usize,
            None => modes.modes.iter().position(vibrates).unwrap_or(0) + 1,
        };
        let none = || {
            Failure::usage(format!(
                "there is no mode {number}: {} were found (-k finds more)",
                modes.modes.len()
            ))
        };
        Ok((number, modes.modes.get(number - 1).ok_or_else(none)?))
    }
}

/// What stands above the picture of a mode.
fn drawn(number: usize, mode: &Mode) -> String {
    match mode.kind {
        ModeKind::Vibration => format!("{number}: ω = {}", rounded(mode.frequency(), 5)),
        ModeKind::Free => format!("{number}: costs no energy"),
        ModeKind::Growing => format!("{number}: grows as exp({} t)", rounded(mode.growth(), 5)),
    }
}

/// Refuses files that cannot be written, or are read, before anything is computed.
fn checked(out: &[PathBuf], read: &str) -> Result<(), Failure> {
    apart(out, read)?;
    out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path))).map_err(Failure::usage)
}

/// The problem of a system, and its equilibrium.
fn equilibrium<'g>(what: &What, graph: &'g Graph) -> Result<(Problem<'g>, Equilibrium), Failure> {
    let source = what.source()?;
    let overrides: Overrides = what.overrides();
    let problem = source.problem(graph, &overrides);
    let mut problem = problem.map_err(|error| unprepared(&source, &error))?;
    let equilibrium = problem.equilibrium().map_err(|error| failed(&error))?;
    Ok((problem, equilibrium))
}

/// It is wrong usage to ask for what a system cannot have; it is a failure if the search finds nothing.
fn failed(error: &AnalyzeError) -> Failure {
    match error {
        AnalyzeError::Velocity { .. }
        | AnalyzeError::NotConservative { .. }
        | AnalyzeError::Gyroscopic { .. }
        | AnalyzeError::NoMass { .. }
        | AnalyzeError::Eval(EvalError::Undefined { .. }) => Failure::usage(error),
        error => Failure::run(error),
    }
}

/// The rows that both commands begin with.
fn rows(problem: &Problem<'_>, equilibrium: &Equilibrium) -> Vec<Vec<String>> {
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let parameters = problem.dynamics.system().parameters().iter().zip(problem.dynamics.parameters());
    let parameters = lines(parameters.map(|((name, _), value)| format!("{name} = {}", number(value))));
    let mut rows = vec![row("system", title(&problem.name, &problem.setup.about))];
    rows.extend(labelled("parameters", parameters));
    let kind = match equilibrium.negative_modes {
        0 => "stable: the energy falls in no direction".to_owned(),
        1 => "unstable, a saddle: the energy falls in 1 direction".to_owned(),
        many => format!("unstable: the energy falls in {many} independent directions"),
    };
    rows.push(row("equilibrium", kind));
    rows.push(row(
        "energy",
        format!(
            "{}, from {} where the search began, in {} iteration{}",
            rounded(equilibrium.energy, 10),
            rounded(equilibrium.start_energy, 10),
            equilibrium.iterations,
            plural(equilibrium.iterations)
        ),
    ));
    let balance = match equilibrium.residual {
        0.0 => "balance exactly".to_owned(),
        left => format!("balance to {left:.1e}, where they are made of {:.1e}", equilibrium.force_size),
    };
    rows.push(row("forces", balance));
    rows
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// What is known of modes that cost no energy, if there are any.
fn free(modes: &NormalModes) -> Option<String> {
    let Rigid { translations, rotations, others } = &modes.rigid;
    let count = translations.len() + rotations.len() + others;
    let axes = |axes: &[usize]| axes.iter().map(|&axis| ["x", "y", "z"][axis]).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !translations.is_empty() {
        parts.push(format!("translation{} along {}", plural(translations.len()), axes(translations)));
    }
    if !rotations.is_empty() {
        parts.push(format!("rotation{} about {}", plural(rotations.len()), axes(rotations)));
    }
    if *others > 0 && !parts.is_empty() {
        parts.push(format!("{others} other{}", plural(*others)));
    }
    let names = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    let cost = if count == 1 { "motion costs" } else { "motions cost" };
    let least = if modes.more_free { "at least " } else { "" };
    (count > 0).then(|| format!("{least}{count} {cost} no energy{names}"))
}

/// A mode in a line.
fn mode_text(problem: &Problem<'_>, number: usize, mode: &Mode) -> String {
    let names = problem.dynamics.system().coordinates();
    let moves = format!("`{}` moves most", names.at(mode.leading()));
    match mode.kind {
        ModeKind::Vibration => {
            let omega = mode.frequency();
            format!("{number}: ω = {}, period {}, {moves}", rounded(omega, 10), rounded(TAU / omega, 6))
        }
        // What costs no energy moves as one likes, if there are several.
        ModeKind::Free => format!("{number}: costs no energy"),
        ModeKind::Growing => format!("{number}: grows as exp({} t), {moves}", rounded(mode.growth(), 10)),
    }
}

/// A motion with forces that depend on velocities, in a line.
fn spiral(spiral: &Spiral) -> String {
    let size = spiral.frequency.hypot(spiral.growth);
    let rate = match spiral.growth {
        rate if rate.abs() <= 1e-9 * size => "neither grows nor decays".to_owned(),
        rate if rate > 0.0 => format!("grows as exp({} t)", rounded(rate, 10)),
        rate => format!("decays as exp({} t)", rounded(rate, 10)),
    };
    format!("ω = {}, {rate}", rounded(spiral.frequency, 10))
}

fn document(members: Vec<(&'static str, String)>) -> String {
    let lines = members.into_iter().map(|(name, value)| format!("  {}: {value}", text(name)));
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

fn numbers(x: &[f64]) -> String {
    list(x.iter().map(|x| json::number(*x)))
}

/// The members that both documents begin with.
fn members(
    problem: &Problem<'_>,
    equilibrium: &Equilibrium,
    warnings: &[Warning],
) -> Vec<(&'static str, String)> {
    let system = problem.dynamics.system();
    let parameters = system.parameters().iter().zip(problem.dynamics.parameters());
    let named = system.coordinates().iter().zip(&equilibrium.q).map(|(name, q)| (name, json::number(*q)));
    let multipliers = system.constraints().iter().zip(&equilibrium.multipliers);
    vec![
        ("system", text(&problem.name)),
        ("parameters", object(parameters.map(|((name, _), value)| (name, json::number(*value))))),
        ("stable", equilibrium.is_stable().to_string()),
        ("negative_modes", equilibrium.negative_modes.to_string()),
        ("t", json::number(problem.start.t)),
        ("coordinates", object(named.collect::<Vec<_>>())),
        ("multipliers", object(multipliers.map(|((name, _), m)| (name, json::number(*m))))),
        ("energy", json::number(equilibrium.energy)),
        ("start_energy", json::number(equilibrium.start_energy)),
        ("residual", json::number(equilibrium.residual)),
        ("force_size", json::number(equilibrium.force_size)),
        ("iterations", equilibrium.iterations.to_string()),
        ("warnings", list(warnings.iter().map(json_warning))),
    ]
}

fn mode_members(problem: &Problem<'_>, all: &NormalModes) -> Vec<(&'static str, String)> {
    let kind = |kind: ModeKind| match kind {
        ModeKind::Vibration => "vibration",
        ModeKind::Free => "free",
        ModeKind::Growing => "growing",
    };
    let modes = all.modes.iter().map(|mode| {
        object([
            ("kind", text(kind(mode.kind))),
            ("frequency", json::number(mode.frequency())),
            ("growth", json::number(mode.growth())),
            ("square", json::number(mode.square)),
            ("steady", mode.steady.to_string()),
            ("shape", numbers(&mode.shape)),
        ])
    });
    let spirals = all.spirals.as_ref().map(|spirals| {
        list(spirals.iter().map(|spiral| {
            object([
                ("frequency", json::number(spiral.frequency)),
                ("growth", json::number(spiral.growth)),
                ("shape", numbers(&spiral.shape)),
                ("quadrature", numbers(&spiral.quadrature)),
            ])
        }))
    });
    let axes = |axes: &[usize]| list(axes.iter().map(|&axis| text(["x", "y", "z"][axis])));
    let names = problem.dynamics.system().coordinates();
    vec![
        ("freedom", all.freedom.to_string()),
        ("translations", axes(&all.rigid.translations)),
        ("rotations", axes(&all.rigid.rotations)),
        ("other_free_modes", all.rigid.others.to_string()),
        ("more_free_modes", all.more_free.to_string()),
        ("shape_of", list(names.iter().map(|name| text(&name)))),
        ("modes", list(modes)),
        ("with_velocities", spirals.unwrap_or_else(|| "null".to_owned())),
        ("undamped", all.undamped.to_string()),
    ]
}
