//! Pictures of a run: the options, and what is made of them.

use super::Failure;
use super::files::apart;
use super::setting::parts;
use clap::Args;
use leastaction::integrate::number;
use leastaction::output::{About, Record, check};
use leastaction::plot::{Animation, Choice, Energy, Film, PictureError, Plot, Several, View, ffmpeg};
use leastaction::simulate::Run;
use std::path::{Path, PathBuf};

/// A plot looks smooth with this number of samples.
const SAMPLES: u64 = 4000;

/// A picture of several runs shows this number of quantities by default.
const USUAL: usize = 4;

/// The options.
#[derive(Args)]
pub(super) struct Pictures {
    /// Plot the run to a file, as its ending says: .svg or .png; or say what to plot: "x, y" against time, "x' over x", "energies" (repeatable)
    #[arg(long, value_name = "FILE or WHAT", value_parser = plotted)]
    plot: Vec<Plotted>,
    /// Animate the run in a file, as its ending says: .gif, or .mp4 if ffmpeg is installed (repeatable)
    #[arg(long, value_name = "FILE", value_parser = animation_file)]
    animate: Vec<PathBuf>,
    /// With --animate, so much time of the run in a second of the film [default: 1, or what makes it 2 to 24 s long]
    #[arg(long, value_name = "TIME", value_parser = film_speed, requires = "animate")]
    film_speed: Option<f64>,
    /// With --animate, the pixels across and down, both even, such as 800x600
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = film_size, requires = "animate")]
    film_size: Option<[u32; 2]>,
    /// With --animate, from where motions in space are seen: the angles of azimuth and elevation in degrees, such as -65,22
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = film_view, allow_hyphen_values = true, requires = "animate")]
    film_view: Option<View>,
}

fn film_speed(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|speed: &f64| *speed > 0.0 && speed.is_finite()).ok_or_else(|| {
        "write how much time of the run passes in a second of the film, such as 0.5".to_owned()
    })
}

fn film_size(text: &str) -> Result<[u32; 2], String> {
    const RANGE: std::ops::RangeInclusive<u32> = 120..=4096;
    let sides =
        text.split_once('x').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    sides
        .filter(|sides: &[u32; 2]| sides.iter().all(|side| RANGE.contains(side) && side % 2 == 0))
        .ok_or_else(|| {
            format!(
                "write two even numbers of pixels from {} to {}, such as 800x600",
                RANGE.start(),
                RANGE.end()
            )
        })
}

fn film_view(text: &str) -> Result<View, String> {
    let angles =
        text.split_once(',').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    let [azimuth, elevation] = angles
        .filter(|[a, b]: &[f64; 2]| a.is_finite() && (-90.0..=90.0).contains(b))
        .ok_or("write two angles in degrees, such as -65,22: the elevation is from -90 to 90")?;
    Ok(View::from(azimuth, elevation))
}

/// What stands for the kinetic, the potential and the whole energy.
const ENERGIES: &str = "energies";

/// A file for a plot, or what is in it.
#[derive(Clone)]
pub(super) enum Plotted {
    File(PathBuf),
    What(Vec<Choice>),
}

impl Plotted {
    /// The files among those.
    pub(super) fn files(all: &[Plotted]) -> Vec<PathBuf> {
        let file =
            |plotted: &Plotted| if let Plotted::File(path) = plotted { Some(path.clone()) } else { None };
        all.iter().filter_map(file).collect()
    }

    /// What was chosen by those.
    pub(super) fn choices(all: &[Plotted]) -> Vec<Choice> {
        let what =
            |plotted: &Plotted| if let Plotted::What(all) = plotted { all.clone() } else { Vec::new() };
        all.iter().flat_map(what).collect()
    }

    /// The names in what was chosen, each once: expressions in any names of the model.
    pub(super) fn names(all: &[Plotted]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in
            Plotted::choices(all).into_iter().flat_map(|choice| choice.what.into_iter().chain(choice.over))
        {
            if name != "t" && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Refuses what no file is named for.
    pub(super) fn check(all: &[Plotted]) -> Result<(), Failure> {
        match (Plotted::choices(all).first(), Plotted::files(all).is_empty()) {
            (Some(first), true) => Err(Failure::usage(format!(
                "`{}` says what to plot: add --plot and the name of a file, which should end in .svg or .png",
                first.what.join(", ")
            ))),
            _ => Ok(()),
        }
    }
}

/// Reads a file, or what is to be plotted.
pub(super) fn plotted(text: &str) -> Result<Plotted, String> {
    let ends = |end: &str| text.to_lowercase().ends_with(end);
    if ends(".svg") || ends(".png") {
        return Ok(Plotted::File(PathBuf::from(text)));
    }
    let has_ending = Path::new(text).extension().is_some_and(|end| end.len() > 1);
    if has_ending && !text.contains([' ', ',', '(']) && !text.ends_with('\'') {
        let known = text
            .rsplit_once('.')
            .is_some_and(|(_, end)| ["pdf", "eps", "jpg", "jpeg", "gif", "ps"].contains(&end));
        if known {
            return Err("the name should end in .svg or .png".to_owned());
        }
    }
    choices(text).map(Plotted::What)
}

/// Reads `A, B, C over D`: quantities against time in one chart, and each that is over another in one of its own.
pub(super) fn choices(text: &str) -> Result<Vec<Choice>, String> {
    let parts = parts(text);
    if parts.iter().any(|part| part.is_empty()) {
        return Err("write a file that ends in .svg or .png, or what to plot, as \"x, y\" or \"x' over x\""
            .to_owned());
    }
    let (mut all, mut timed): (Vec<Choice>, Vec<String>) = (Vec::new(), Vec::new());
    for part in parts {
        match part.split_once(" over ") {
            Some((what, over)) if !what.trim().is_empty() && !over.trim().is_empty() => {
                all.push(Choice { what: vec![what.trim().to_owned()], over: Some(over.trim().to_owned()) });
            }
            Some(_) => return Err(format!("`{part}` says nothing before or after `over`")),
            None => timed.push(part.to_owned()),
        }
    }
    // The energy and what it is made of have a chart of their own.
    let energies = timed.iter().any(|name| name == ENERGIES);
    timed.retain(|name| name != ENERGIES);
    if energies {
        let what = ["kinetic", "potential", "energy"].map(str::to_owned).to_vec();
        all.insert(0, Choice { what, over: None });
    }
    if !timed.is_empty() {
        all.insert(0, Choice { what: timed, over: None });
    }
    Ok(all)
}

/// Reads the name of a plot's file.
pub(super) fn plot_file(name: &str) -> Result<PathBuf, String> {
    ending(name, &["svg", "png"])
}

pub(super) fn animation_file(name: &str) -> Result<PathBuf, String> {
    let file = ending(name, &["gif", "mp4"])?;
    let video = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("mp4"));
    if video && ffmpeg(&std::env::var_os("PATH").unwrap_or_default()).is_none() {
        return Err(
            "an .mp4 needs the program `ffmpeg`, which was not found: install it, or write a .gif".to_owned()
        );
    }
    Ok(file)
}

/// Accepts a file's name with one of these endings.
fn ending(name: &str, endings: &[&str]) -> Result<PathBuf, String> {
    let path = Path::new(name);
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match end {
        Some(end) if endings.contains(&end.as_str()) => Ok(path.to_owned()),
        _ => Err(format!("the name should end in .{}", endings.join(" or ."))),
    }
}

impl Pictures {
    /// How many samples there should be at least, if there are pictures.
    pub(super) fn samples(&self) -> Option<u64> {
        match (self.plot.is_empty(), self.animate.is_empty()) {
            (true, true) => None,
            (_, true) => Some(SAMPLES),
            _ => Some(SAMPLES.max(Animation::SAMPLES)),
        }
    }

    /// The names of what was chosen, each once: expressions in any names of the model.
    pub(super) fn chosen_names(&self) -> Vec<String> {
        Plotted::names(&self.plot)
    }

    /// Whether a film is requested.
    pub(super) fn animates(&self) -> bool {
        !self.animate.is_empty()
    }

    /// Whether any picture is requested.
    pub(super) fn are_wanted(&self) -> bool {
        self.samples().is_some()
    }

    /// Refuses files that cannot be written, or are read, before anything is computed.
    pub(super) fn check(&self, read: &str) -> Result<(), Failure> {
        Plotted::check(&self.plot)?;
        let files = Plotted::files(&self.plot);
        apart(&files, read)?;
        apart(&self.animate, read)?;
        files.iter().chain(&self.animate).try_for_each(|path| check(path)).map_err(Failure::usage)
    }

    /// Makes the pictures that can be made: which files were written, and what went wrong.
    pub(super) fn write(&self, run: &Run, record: &Record, about: &About) -> (Option<String>, Vec<String>) {
        let (mut written, mut errors) = (Vec::new(), Vec::new());
        let drawing = &run.simulation.drawing;
        let span = [record.times.first(), record.times.last()].map(|t| number(t.unwrap_or(&0.0)));
        let ended = if about.ended == "complete" { String::new() } else { format!("; {}", about.ended) };
        let subtitle = format!(
            "{}, {}, t = {} to {}, {} sample{}{ended}",
            about.method,
            about.pace,
            span[0],
            span[1],
            record.len(),
            if record.len() == 1 { "" } else { "s" }
        );
        let energy = match run.energy() {
            Ok(energy) if energy.conserved && energy.resets.is_none_or(|(_, count)| count == 0) => {
                Energy::Conserved { scale: energy.drift.scale }
            }
            // If the drift cannot be computed, the energy itself shows why.
            _ => Energy::Changing,
        };
        let title = about.system.as_str();
        let choices = Plotted::choices(&self.plot);
        for path in &Plotted::files(&self.plot) {
            let plot = Plot { record, drawing, title, subtitle: &subtitle, energy };
            let curves = Several {
                runs: vec![(String::new(), record)],
                choices: choices.clone(),
                title,
                subtitle: &subtitle,
            };
            match if choices.is_empty() { plot.save(path) } else { curves.save(path) } {
                Ok(()) => written.push(path.display().to_string()),
                Err(error) => errors.push(failure(path, &error)),
            }
        }
        for path in &self.animate {
            let film = Film { speed: self.film_speed, size: self.film_size, view: self.film_view };
            match (Animation { record, drawing, title }).save_as(path, &film) {
                Ok(tempo) => written.push(format!("{} ({tempo})", path.display())),
                Err(error) => errors.push(failure(path, &error)),
            }
        }
        ((!written.is_empty()).then(|| written.join(", ")), errors)
    }

    /// Makes one picture of several runs: of what was chosen, or of outputs and coordinates against time.
    pub(super) fn write_curves(
        &self,
        runs: Vec<(String, &Record)>,
        title: &str,
        subtitle: &str,
    ) -> (Option<String>, Vec<String>) {
        // Each quantity has a chart of its own, with a curve for each run.
        let apart = |choice: Choice| {
            let over = choice.over;
            choice.what.into_iter().map(move |what| Choice { what: vec![what], over: over.clone() })
        };
        let mut choices: Vec<Choice> = Plotted::choices(&self.plot).into_iter().flat_map(apart).collect();
        if let ([], Some((_, record))) = (&choices[..], runs.first()) {
            let usual = record.outputs.iter().chain(record.coordinates.iter()).map(|column| column.name);
            let usual = usual.filter(|name| !record.is_integral(name)).take(USUAL);
            choices = usual.map(|name| Choice { what: vec![name], over: None }).collect();
        }
        let curves = Several { runs, choices, title, subtitle };
        let (mut written, mut errors) = (Vec::new(), Vec::new());
        for path in &Plotted::files(&self.plot) {
            match curves.save(path) {
                Ok(()) => written.push(path.display().to_string()),
                Err(error) => errors.push(failure(path, &error)),
            }
        }
        ((!written.is_empty()).then(|| written.join(", ")), errors)
    }
}

/// What went wrong with a picture; an error of its file names it already.
fn failure(path: &Path, error: &PictureError) -> String {
    match error {
        PictureError::File(error) => error.to_string(),
        error => format!("no picture `{}`: {error}", path.display()),
    }
}
