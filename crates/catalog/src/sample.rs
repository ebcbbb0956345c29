//! Starts drawn at random.

use crate::entry::{Entry, EntryError};
use leastaction_expr::Random;
use leastaction_mechanics::{Dynamics, StartError, State};

/// Why no start was drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The catalog does not say how starts of this system are distributed.
    #[error("this system has no random starts: state a start")]
    NoSampling,
    /// One draw after the other led to no start.
    #[error("{attempts} random starts in a row cannot be used: {last}")]
    NoStart {
        /// How many were drawn.
        attempts: u32,
        /// What was wrong with the last one.
        last: StartError,
    },
    /// The system has no such size.
    #[error(transparent)]
    Size(#[from] EntryError),
}

/// A draw whose projection fails is drawn again, so many times.
const ATTEMPTS: u32 = 100;

impl Entry {
    /// Whether starts can be drawn at random.
    #[must_use]
    pub fn has_samples(&self) -> bool {
        self.draw.is_some()
    }

    /// A start drawn at random for the system with a number of pieces, or the usual one; the same for the same seed. It is drawn for the
    /// default parameters, moved onto the constraints however far that is, and drawn again if it cannot be.
    ///
    /// ```
    /// # use leastaction_catalog::Entry;
    /// # use leastaction_expr::Graph;
    /// let graph = Graph::new();
    /// let entry = Entry::named("n-pendulum")?;
    /// let mut dynamics = entry.setup(&graph).model.system()?.dynamics()?;
    /// let mut start = |seed| entry.sample(None, &mut dynamics, seed);
    /// assert_eq!(start(7)?, start(7)?);
    /// assert_ne!(start(7)?, start(8)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SampleError`] if the catalog has no way to draw one, or a hundred in a row cannot be used.
    pub fn sample(
        &self,
        size: Option<usize>,
        dynamics: &mut Dynamics,
        seed: u64,
    ) -> Result<State, SampleError> {
        let draw = self.draw.ok_or(SampleError::NoSampling)?;
        let size = self.checked(size)?;
        let mut random = Random::new(seed);
        let mut attempts = 1;
        loop {
            match settle(dynamics, &draw(&mut random, size)) {
                Ok(state) => return Ok(state),
                Err(last) if attempts == ATTEMPTS => return Err(SampleError::NoStart { attempts, last }),
                Err(_) => attempts += 1,
            }
        }
    }
}

/// The start nearest to values by name. [`Dynamics::start`] alone would refuse it where that is far.
fn settle(dynamics: &mut Dynamics, values: &[(String, f64)]) -> Result<State, StartError> {
    let system = dynamics.system().clone();
    let (n, velocities) = (system.degrees(), system.velocities());
    let mut z = vec![0.0; n + velocities.len()];
    for (name, value) in values {
        let velocity = || velocities.position(name).map(|place| n + place);
        let Some(place) = system.coordinates().position(name).or_else(velocity) else {
            return Err(StartError::UnknownName { name: name.clone(), nearest: None });
        };
        z[place] = *value;
    }
    let mut y = z.clone();
    dynamics.momenta(&[0.0], &z, &mut y[n..])?;
    dynamics.project(&[0.0], &mut y)?;
    dynamics.start_block(0.0, false, &mut y)?;
    Ok(State::from_block(0.0, &y, n))
}
