//! The plot of a Poincaré section: where orbits pass a surface.

use crate::chart::{Axis, Figure, Panel, Series, Style, ending};
use crate::error::PictureError;
use crate::paper::color;
use crate::view::drawable;
use std::path::Path;

/// An SVG with more points than this is slow to show.
const MOST: usize = 18_000;

/// Points of a section of more than so many are small.
const MANY: usize = 1500;

/// The points of an orbit.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// What the legend calls it; nothing if empty.
    pub name: String,
    /// Where it passes the surface.
    pub points: Vec<[f64; 2]>,
}

/// A section through orbits.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// What the axes show.
    pub labels: [String; 2],
    /// The orbits: a few have colours of their own, many those of a scale from the first to the last.
    pub orbits: Vec<Orbit>,
}

impl Section {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        let most = if ending(path) == "svg" { MOST } else { usize::MAX };
        self.figure(most)?.save(path)
    }

    fn figure(&self, most: usize) -> Result<Figure, PictureError> {
        let points = || self.orbits.iter().flat_map(|orbit| &orbit.points);
        let whole = |p: &&[f64; 2]| p.iter().all(|v| drawable(*v));
        let (count, broken) = (points().count(), points().filter(|p| !whole(p)).count());
        if count == broken {
            let what = "the section".to_owned();
            return Err(if count == 0 { PictureError::Empty } else { PictureError::NotFinite { what } });
        }
        let [x, y] = [0, 1]
            .map(|axis| Axis::linear(&self.labels[axis], points().filter(whole).map(|p| p[axis]), 0.04));
        let mut panel = Panel::new("", x, y);
        let every = count.div_ceil(most);
        let radius = if count > MANY { 1.0 } else { 1.3 };
        let last = self.orbits.len().saturating_sub(1);
        let several = last >= color::SEVERAL;
        for (index, orbit) in self.orbits.iter().enumerate() {
            let color = if several { color::scale(index as f64 / last as f64) } else { color::series(index) };
            let name = if several { String::new() } else { orbit.name.clone() };
            let points = orbit.points.iter().step_by(every).copied().collect();
            panel.series.push(Series { name, points, index, style: Style::Points(color, radius) });
        }
        if let (true, [first, .., last]) = (several, &self.orbits[..]) {
            let named = !first.name.is_empty() && !last.name.is_empty();
            panel.scale = named.then(|| [first.name.clone(), last.name.clone()]);
        }
        panel.notes.extend((every > 1).then(|| format!("1 of {every} points")));
        panel.notes.extend((broken > 0).then(|| format!("{broken} points not finite: left out")));
        let (title, subtitle) = (self.title.clone(), self.subtitle.clone());
        Ok(Figure { title, subtitle, columns: vec![vec![panel]], height: 740.0 })
    }
}
