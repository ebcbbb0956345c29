//! Sampling: from which distributions start values and parameters are drawn.
//!
//! | text | what it draws |
//! |---|---|
//! | `x=1.5` | this number |
//! | `x=uniform(-1,1)` | evenly between two numbers |
//! | `m=normal(1,0.1)` | from the normal distribution with this mean and standard deviation |
//! | `x=grid(-2,2,101)` | 101 equally spaced numbers; several grids make a product, of which the last one varies fastest |
//! | `x=latin(-1,1)` | one in each of as many strata as there are trajectories, in random order: with others, a Latin hypercube |
//! | `x=sobol(-1,1)` | a dimension of the Sobol sequence, with others as evenly as it gets |
//! | `x=file(starts.csv)` | a row for each trajectory, from the column `x`, or from one that is named: `file(starts.csv, x0)`; also from a `.npz` of NumPy |
//!
//! The samples of trajectory number i depend only on the seed and on i: they are the same for all threads, shards and resumed runs.

mod constant;
mod error;
mod file;
mod grid;
mod latin;
mod launcher;
mod normal;
mod permutation;
mod read;
mod rest;
mod sobol;
mod uniform;

pub use error::{SampleError, SampleFileError};
pub use launcher::Launcher;
pub use read::Arguments;
pub use rest::Rest;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A kind of distribution, as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word.
    pub name: &'static str,
    /// How it is written.
    pub form: &'static str,
    /// What it draws.
    pub about: &'static str,
    read: fn(&Arguments<'_>) -> Result<Arc<dyn Law>, SampleError>,
}

/// All kinds, besides plain numbers.
pub const ALL: &[Kind] = &[uniform::KIND, normal::KIND, grid::KIND, latin::KIND, sobol::KIND, file::KIND];

/// A distribution.
pub trait Law: fmt::Debug + Send + Sync {
    /// The value for each trajectory, in its role.
    ///
    /// # Errors
    /// [`SampleError`] if it cannot play that role.
    fn draw(&self, role: &Role) -> Result<Draw, SampleError>;

    /// How many trajectories it has values for.
    fn span(&self) -> Span {
        Span::Any
    }

    /// Whether different trajectories get different values even where grids are at the same point.
    fn varies(&self) -> bool {
        true
    }

    /// What else two studies must have in common to draw the same: what stands in a file.
    fn content(&self) -> Option<u64> {
        None
    }
}

/// The value for a trajectory, by its number, and by the place on its own grid.
pub type Draw = Box<dyn Fn(u64, u64) -> f64 + Send + Sync>;

/// How many trajectories a distribution has values for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// For any number.
    Any,
    /// This number of points, times those of other grids.
    Grid(u64),
    /// This number of rows.
    Rows(u64),
    /// For any number, in an order that does not go with grids.
    Sequence,
}

/// What a distribution is asked to draw.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// The seed.
    pub seed: u64,
    /// How many trajectories there are.
    pub count: u64,
    /// The place in the list.
    pub dimension: u32,
    /// The place among those of its span.
    pub rank: u32,
}

/// What is drawn for one name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The coordinate, velocity (`x'`), momentum or parameter.
    pub name: String,
    /// The distribution as it was written.
    pub text: String,
    /// The distribution.
    pub law: Arc<dyn Law>,
}

impl FromStr for Named {
    type Err = SampleError;

    fn from_str(text: &str) -> Result<Named, SampleError> {
        read::read(text)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.text)
    }
}

/// What is drawn for each trajectory.
///
/// ```
/// use leastaction_ensemble::Sampling;
/// let sampling = Sampling::read(["th1=grid(-pi, pi, 101)", "th2=grid(-pi, pi, 51)", "m=normal(1, 0.1)"])?;
/// assert_eq!(sampling.count(None)?, 101 * 51);
/// assert!(sampling.count(Some(100)).is_err());
/// let wrong = Sampling::read(["th1=unifrom(-1,1)"]).unwrap_err();
/// assert_eq!(wrong.to_string(), "`th1=unifrom(-1,1)`: there is no distribution `unifrom`: did you mean `uniform`?");
/// # Ok::<(), leastaction_ensemble::SampleError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sampling {
    /// What is drawn, in order: the draws of one depend on its place.
    pub list: Vec<Named>,
}

impl Sampling {
    /// Reads texts such as `x=uniform(-1,1)`.
    ///
    /// # Errors
    /// [`SampleError`] says what is wrong with which text.
    pub fn read<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Sampling, SampleError> {
        let mut list: Vec<Named> = Vec::new();
        for text in texts {
            let named: Named = text.as_ref().parse()?;
            if list.iter().any(|other| other.name == named.name) {
                return Err(SampleError::Twice { name: named.name });
            }
            list.push(named);
        }
        Ok(Sampling { list })
    }

    /// The points of the product of all grids; `None` without grids.
    ///
    /// # Errors
    /// [`SampleError::TooMany`] if they cannot be counted.
    pub fn points(&self) -> Result<Option<u64>, SampleError> {
        let sizes = self.shape();
        let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let product = product.filter(|&points| points <= MOST).ok_or(SampleError::TooMany)?;
        Ok((!sizes.is_empty()).then_some(product))
    }

    /// The sizes of the grids, in their order. The last one varies fastest.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.grids().map(|(_, size)| size).collect()
    }

    /// The grids, with their sizes.
    pub fn grids(&self) -> impl Iterator<Item = (&Named, u64)> {
        self.list.iter().filter_map(|named| match named.law.span() {
            Span::Grid(size) => Some((named, size)),
            _ => None,
        })
    }

    /// Whether trajectories differ at all.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.list.iter().any(|named| named.law.varies() || matches!(named.law.span(), Span::Grid(_)))
    }

    /// How many trajectories there are: the requested number, or as many as there can be.
    ///
    /// # Errors
    /// [`SampleError`] if grids, files and the number that is asked for do not go together.
    pub fn count(&self, asked: Option<u64>) -> Result<u64, SampleError> {
        let points = self.points()?;
        let rows = self.list.iter().filter_map(|named| match named.law.span() {
            Span::Rows(rows) => Some((named, rows)),
            _ => None,
        });
        let rows: Vec<_> = rows.collect();
        if let (Some(((first, one), (second, two))), _) =
            (rows.first().zip(rows.iter().find(|r| r.1 != rows[0].1)).map(|(a, b)| (*a, *b)), ())
        {
            let (first, second) = (first.to_string(), second.to_string());
            return Err(SampleError::Rows { first, one, second, two });
        }
        let besides_grids = self.list.iter().find(|n| matches!(n.law.span(), Span::Rows(_) | Span::Sequence));
        if let (Some((grid, _)), Some(other)) = (self.grids().next(), besides_grids) {
            return Err(SampleError::NotWithGrids { grid: grid.to_string(), other: other.to_string() });
        }
        let rows = rows.first().map(|&(named, rows)| (named.to_string(), rows));
        match (asked, points, rows) {
            (Some(0), ..) => Err(SampleError::None),
            (Some(asked), ..) if asked > MOST => Err(SampleError::TooMany),
            (None, Some(points), _) => Ok(points),
            (None, _, Some((_, rows))) => Ok(rows),
            (None, None, None) => Err(SampleError::NoCount),
            (Some(asked), Some(points), _) => {
                let varies =
                    self.list.iter().any(|n| n.law.varies() && !matches!(n.law.span(), Span::Grid(_)));
                match asked == points || varies && asked % points == 0 {
                    true => Ok(asked),
                    false => Err(SampleError::Points { asked, points, varies }),
                }
            }
            (Some(asked), None, Some((text, rows))) if asked > rows => {
                Err(SampleError::FewRows { text, asked, rows })
            }
            (Some(asked), ..) => Ok(asked),
        }
    }
}

/// More trajectories cannot be counted by a number that tables have room for: 2⁵³.
const MOST: u64 = 1 << 53;
