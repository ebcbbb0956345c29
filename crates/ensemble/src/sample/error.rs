//! What can be wrong with a sampling.

use super::ALL;
use leastaction_expr::UnboundSymbol;
use leastaction_mechanics::SettingError;
use leastaction_output::npz::ColumnError;
use std::path::PathBuf;

/// What is wrong with a file of starts.
#[derive(Debug, thiserror::Error)]
pub enum SampleFileError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// It is not an archive of NumPy that can be read.
    #[error(transparent)]
    Archive(#[from] ColumnError),
    /// It is of another kind.
    #[error("starts are read from .csv and .npz files; write it as one")]
    Ending,
    /// Nothing is in it.
    #[error("it is empty; its first line should name the columns")]
    Empty,
    /// Only the names of columns are in it.
    #[error("it has names, but no rows")]
    NoRows,
    /// There is nothing in a column.
    #[error("`{column}` is empty")]
    EmptyColumn {
        /// The column.
        column: String,
    },
    /// A number of a column is infinite or NaN.
    #[error("number {} of `{column}` is {value}: starts are finite", row + 1)]
    NotFinite {
        /// The column.
        column: String,
        /// The number's place, from 0.
        row: usize,
        /// The number.
        value: f64,
    },
}

/// Why starts cannot be sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is no name, or nothing to draw for it.
    #[error("`{text}` does not say what to draw: write NAME=DISTRIBUTION, such as th1=uniform(-1,1)")]
    NoName {
        /// The text.
        text: String,
    },
    /// There is no such distribution.
    #[error("`{text}`: {}", unknown(.word, .nearest, *.form))]
    UnknownKind {
        /// The text.
        text: String,
        /// The word.
        word: String,
        /// A word that is near.
        nearest: Option<String>,
        /// How it is written, if it is known.
        form: Option<&'static str>,
    },
    /// Something is not a number.
    #[error(
        "`{text}`: `{part}` is not a finite number; numbers and what is made of them, such as pi/4, can be given"
    )]
    NotANumber {
        /// The text.
        text: String,
        /// The part that should be one.
        part: String,
    },
    /// There are too many arguments, or too few.
    #[error("`{text}`: {found} given, but it is written {form}")]
    ArgumentCount {
        /// The text.
        text: String,
        /// How it should be written.
        form: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An interval is empty.
    #[error("`{text}`: {low} is not below {high}; give the smaller number first")]
    Ends {
        /// The text.
        text: String,
        /// The first number.
        low: f64,
        /// The second one.
        high: f64,
    },
    /// A standard deviation is negative.
    #[error("`{text}`: a standard deviation is not negative, but {value} is given")]
    Deviation {
        /// The text.
        text: String,
        /// What was given.
        value: f64,
    },
    /// A number of points is not one.
    #[error("`{text}`: a grid has 2 points or more, a whole number of them, but {value} is given")]
    GridSize {
        /// The text.
        text: String,
        /// What was given.
        value: f64,
    },
    /// The sequence does not have this number of dimensions.
    #[error(
        "the Sobol sequence has {most} dimensions here, and more are sampled from it; sample some by latin(low, high)"
    )]
    Dimensions {
        /// How many there are.
        most: usize,
    },
    /// A file cannot be read.
    #[error("`{text}`: cannot read `{}`: {source}", .path.display())]
    File {
        /// The text.
        text: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: SampleFileError,
    },
    /// A file has no such column.
    #[error("`{text}`: `{}` has no column `{column}`{}; its columns are {columns}", .path.display(), suggestion(.nearest))]
    Column {
        /// The text.
        text: String,
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// One that is near.
        nearest: Option<String>,
        /// Those that there are.
        columns: String,
    },
    /// A value in a file is not a number.
    #[error("`{text}`: line {line} of `{}` has `{value}` in column `{column}`, which is not a finite number", .path.display())]
    Value {
        /// The text.
        text: String,
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
    },
    /// A name is sampled twice.
    #[error("`{name}` is sampled twice: leave one out")]
    Twice {
        /// The name.
        name: String,
    },
    /// The system has no such name.
    #[error("there is no coordinate, velocity, momentum or parameter `{name}` to draw{}; there are {known}", suggestion(.nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// One that is near.
        nearest: Option<String>,
        /// Those that there are.
        known: String,
    },
    /// A coordinate that is held cannot be sampled.
    #[error(
        "`{name}` cannot be sampled: the constraint `{constraint}` holds it; leave it out, or change the constraint"
    )]
    Held {
        /// The coordinate, or its velocity.
        name: String,
        /// The constraint.
        constraint: String,
    },
    /// Velocities and momenta are both sampled.
    #[error("`{velocity}` and `{momentum}` are both sampled: sample velocities, or momenta")]
    Mixed {
        /// A velocity.
        velocity: String,
        /// A momentum.
        momentum: String,
    },
    /// Files have different numbers of rows.
    #[error(
        "`{first}` has {one} rows and `{second}` has {two}: take columns of one file, or make them equally long"
    )]
    Rows {
        /// One of them.
        first: String,
        /// Its rows.
        one: u64,
        /// The other.
        second: String,
        /// Its rows.
        two: u64,
    },
    /// Something that has an order of its own is sampled together with a grid.
    #[error(
        "`{grid}` and `{other}` do not go together, since both say which trajectory is where: beside grids, draw by \
         uniform, normal or latin"
    )]
    NotWithGrids {
        /// The grid.
        grid: String,
        /// What does not go with it.
        other: String,
    },
    /// A number of trajectories that is not that of the grids.
    #[error("{asked} trajectories are asked for, but the grids have {points} points: {}", points_remedy(*.points, *.varies))]
    Points {
        /// How many are asked for.
        asked: u64,
        /// How many points there are.
        points: u64,
        /// Whether points could be repeated.
        varies: bool,
    },
    /// More trajectories than rows.
    #[error("{asked} trajectories are asked for, but `{text}` has {rows} rows: ask for {rows} at most")]
    FewRows {
        /// The text.
        text: String,
        /// How many are asked for.
        asked: u64,
        /// How many there are.
        rows: u64,
    },
    /// Nothing says how many trajectories there are.
    #[error("nothing says how many trajectories there are: give a count, or draw from a grid or a file")]
    NoCount,
    /// Nothing differs between trajectories.
    #[error(
        "all {count} trajectories would be the same, as nothing is sampled that differs between them: sample something, such as {name}=uniform(-1,1)"
    )]
    Same {
        /// How many trajectories there are.
        count: u64,
        /// Something that could be sampled.
        name: String,
    },
    /// No trajectories are asked for.
    #[error("no trajectories are asked for: ask for 1 at least")]
    None,
    /// There are too many.
    #[error("there are more than 2^53 trajectories: no computer has time for them; ask for fewer")]
    TooMany,
    /// The values of the start cannot be computed from parameters.
    #[error("the start cannot be computed: {0}")]
    Rest(#[from] UnboundSymbol),
    /// Parameters cannot be set.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

fn unknown(word: &str, nearest: &Option<String>, form: Option<&str>) -> String {
    match (form, nearest) {
        (Some(form), _) => format!("it is written {form}"),
        (None, Some(nearest)) => format!("there is no distribution `{word}`: did you mean `{nearest}`?"),
        (None, None) => {
            let known: Vec<_> = ALL.iter().map(|kind| kind.form).collect();
            format!("there is no distribution `{word}`; there are {}", known.join(", "))
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn points_remedy(points: u64, varies: bool) -> String {
    match varies {
        true => format!("ask for {points} or a multiple of it, to sample each point so often"),
        false => format!("ask for {points}, or for none"),
    }
}
