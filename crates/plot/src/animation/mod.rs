//! Animations: a drawing that moves.

mod frame;
mod gif;
mod solids;
mod tempo;
mod video;

use crate::chart::ending;
use crate::error::PictureError;
use crate::paper::Image;
use crate::paper::color::Color;
use crate::scene::{Scene, SceneError};
use crate::view::View;
use frame::{Canvas, Painter};
use leastaction_language::Drawing;
use leastaction_output::{Path as Course, Record, replace};
use std::path::Path;

pub use tempo::Tempo;
pub use video::ffmpeg;

/// Pixels per length of a picture that is part of a plot.
const STILL: f64 = 1.6;

/// Coordinates of a phase portrait, where there is nothing else to draw.
const PORTRAITS: usize = 3;

/// An animation of a run.
#[derive(Clone, Copy, Debug)]
pub struct Animation<'a> {
    /// What happened.
    pub record: &'a Record,
    /// How it is drawn; if it is empty, every place is shown, or else a phase portrait.
    pub drawing: &'a Drawing,
    /// What stands in a corner: the system.
    pub title: &'a str,
}

/// How a film is shown, where the usual way is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Film {
    /// How much time of the run passes in a second.
    pub speed: Option<f64>,
    /// How many pixels it has across and down.
    pub size: Option<[u32; 2]>,
    /// From where things in space are seen.
    pub view: Option<View>,
}

impl Animation<'_> {
    /// So many samples, evenly spaced, make every animation smooth.
    pub const SAMPLES: u64 = 4 * Tempo::MOST as u64;

    /// Writes the animation to a file that ends in .gif or .mp4, and tells how time passes in it.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<Tempo, PictureError> {
        self.save_as(path, &Film::default())
    }

    /// The same, as it is asked for.
    ///
    /// # Errors
    /// As [`Animation::save`], and if it cannot be shown like this.
    pub fn save_as(&self, path: &Path, film: &Film) -> Result<Tempo, PictureError> {
        let (tempo, bytes) = match ending(path).as_str() {
            "gif" => self.gif_as(film)?,
            "mp4" => {
                let program = ffmpeg(&std::env::var_os("PATH").unwrap_or_default());
                let program = program.ok_or(PictureError::NoFfmpeg)?;
                return self.with(film, 2.0, |painter| video::save(painter, &program, path));
            }
            _ => return Err(PictureError::Ending { path: path.to_owned(), endings: ".gif or .mp4" }),
        };
        replace(path, |file| file.write_all(&bytes))?;
        Ok(tempo)
    }

    /// The animation as GIF.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show.
    pub fn gif(&self) -> Result<(Tempo, Vec<u8>), PictureError> {
        self.gif_as(&Film::default())
    }

    fn gif_as(&self, film: &Film) -> Result<(Tempo, Vec<u8>), PictureError> {
        let mut bytes = Vec::new();
        let tempo = self.with(film, 1.0, |painter| gif::encode(painter, &mut bytes))?;
        Ok((tempo, bytes))
    }

    /// Has an animation painted with so many pixels per unit of length.
    fn with(
        &self,
        film: &Film,
        density: f64,
        work: impl FnOnce(&mut Painter<'_>) -> Result<(), PictureError>,
    ) -> Result<Tempo, PictureError> {
        if self.record.is_empty() {
            return Err(PictureError::Empty);
        }
        let times = &self.record.times;
        let tempo = match film.speed {
            None => Tempo::of(times),
            Some(speed) => Tempo::at(times, speed).map_err(|frames| PictureError::Frames {
                speed,
                frames,
                most: Tempo::MOST_ASKED,
            })?,
        };
        let seen = |scene: Scene| match film.view {
            None => Ok(scene),
            Some(_) if scene.view() == View::PLANE => Err(PictureError::Flat),
            Some(view) => Ok(scene.seen(view)),
        };
        let canvas = film.size.map_or(Canvas::Usual { density }, Canvas::Size);
        match Scene::of(self.drawing, self.record) {
            Ok(scene) => work(&mut Painter::new(self.record, &seen(scene)?, tempo, self.title, canvas)?)?,
            Err(SceneError::Nothing) => {
                let (record, drawing) = portrait(self.record).ok_or(SceneError::Nothing)?;
                let names: Vec<_> = record.paths.iter().map(|path| path.name.as_str()).collect();
                let title = format!("{}, phase portrait of {}", self.title, names.join(", "));
                let scene = seen(Scene::of(&drawing, &record)?)?;
                work(&mut Painter::new(&record, &scene, tempo, &title, canvas)?)?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(tempo)
    }
}

/// A picture of a scene at a sample of a record.
pub(crate) fn still(record: &Record, scene: &Scene, sample: usize) -> Result<Image, PictureError> {
    let mut painter =
        Painter::new(record, scene, Tempo::of(&record.times), "", Canvas::Usual { density: STILL })?;
    let columns = painter.size().0 as usize;
    let rgb = painter.paint_sample(sample);
    let cells = rgb.as_chunks().0.iter().map(|&[r, g, b]| Color::new(r, g, b)).collect();
    Ok(Image { cells, columns, smooth: true })
}

/// Coordinates and their velocities as places of a plane, each scaled to fill it, around two axes.
fn portrait(record: &Record) -> Option<(Record, Drawing)> {
    let (q, v) = (&record.coordinates, &record.velocities);
    let pairs: Vec<_> = match v.is_empty() {
        false => q.iter().zip(v.iter()).take(PORTRAITS).collect(),
        true => q.get(0).zip(q.get(1)).into_iter().collect(),
    };
    let scaled = |values: &[f64]| {
        let size = values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
        values.iter().map(|v| if size > 0.0 { v / size } else { *v }).collect()
    };
    let paths: Vec<_> = pairs
        .into_iter()
        .map(|(q, v)| Course {
            name: format!("{}, {}", q.name, v.name),
            axes: vec![scaled(q.values), scaled(v.values)],
        })
        .collect();
    let axes = Drawing::new().line([[-1.0, 0.0], [1.0, 0.0]]).line([[0.0, -1.0], [0.0, 1.0]]);
    let trails = paths.iter().fold(axes, |drawing, path| drawing.trail(path.name.as_str()));
    let drawing = paths.iter().fold(trails, |drawing, path| drawing.dot(path.name.as_str(), 1.0));
    let some = !paths.is_empty();
    some.then(|| (Record { times: record.times.clone(), paths, ..Record::default() }, drawing))
}
