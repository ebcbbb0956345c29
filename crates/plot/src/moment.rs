//! A system at a moment, as much of it as is drawn.

use leastaction_output::Record;

/// A system at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment<'a> {
    /// Where particles and points are, one after the other.
    pub places: &'a [f64],
    /// The velocities of the coordinates; none for a port-Hamiltonian system.
    pub velocities: &'a [f64],
    /// The energies that meshes are coloured by, at their nodes.
    pub densities: &'a [Vec<f64>],
    /// The coordinates, those last that constraints hold; they tell how bodies are turned.
    pub coordinates: &'a [f64],
}

/// A sample of a record, or what is between two of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampled {
    places: Vec<f64>,
    velocities: Vec<f64>,
    densities: Vec<Vec<f64>>,
    coordinates: Vec<f64>,
}

/// What a scene has to know of a moment besides where places are. There may be very many of these numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Meshes are coloured, by velocities or energies.
    pub(crate) colours: bool,
    /// There are bodies, which turn as their coordinates say.
    pub(crate) coordinates: bool,
}

impl Sampled {
    /// Reads a sample.
    pub(crate) fn read(&mut self, record: &Record, sample: usize, wanted: Wanted) {
        positions_at(record, sample, &mut self.places);
        let lists = [
            (&mut self.velocities, &record.velocities, wanted.colours),
            (&mut self.coordinates, &record.coordinates, wanted.coordinates),
        ];
        self.densities.clear();
        if wanted.colours {
            self.densities.extend(record.densities.get(sample).into_iter().flatten().cloned());
        }
        for (list, columns, wanted) in lists {
            list.clear();
            if wanted {
                let columns = (0..columns.len()).map(|i| columns.values(i));
                list.extend(columns.map(|values| values.get(sample).copied().unwrap_or(f64::NAN)));
            }
        }
    }

    /// Goes a part of the way to another sample.
    pub(crate) fn toward(&mut self, other: &Sampled, part: f64) {
        let lists = [
            (&mut self.places, &other.places),
            (&mut self.velocities, &other.velocities),
            (&mut self.coordinates, &other.coordinates),
        ];
        for (from, to) in lists.into_iter().chain(self.densities.iter_mut().zip(&other.densities)) {
            from.iter_mut().zip(to).for_each(|(x, next)| *x = (1.0 - part) * *x + part * next);
        }
    }

    pub(crate) fn moment(&self) -> Moment<'_> {
        Moment {
            places: &self.places,
            velocities: &self.velocities,
            densities: &self.densities,
            coordinates: &self.coordinates,
        }
    }
}

/// The positions of a record's places at a sample, one after the other, as a [`Scene`](crate::Scene) takes them.
pub fn positions_at(record: &Record, sample: usize, positions: &mut Vec<f64>) {
    positions.clear();
    let axes = record.paths.iter().flat_map(|path| &path.axes);
    positions.extend(axes.map(|axis| axis.get(sample).copied().unwrap_or(f64::NAN)));
}
