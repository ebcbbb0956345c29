//! Files of meshes: those that are read, and those that are written for ParaView. One file for each format.

mod gmsh;
mod obj;
mod scanner;
mod stl;
mod vtk;
mod xml;
mod xyz;

pub use scanner::Place;
pub use xml::{Data, DataKind, Values, write_collection, write_surface, write_volume};

use crate::check::MeshError;
use crate::mesh::Mesh;
use std::io;
use std::path::{Path, PathBuf};

/// A format that meshes are read from.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What a file's name ends with, without the dot.
    pub ending: &'static str,
    /// What it is.
    pub about: &'static str,
    read: fn(&[u8]) -> Result<Mesh, FormatError>,
}

/// Every format that meshes are read from.
pub const ALL: &[Format] = &[gmsh::FORMAT, obj::FORMAT, stl::FORMAT, vtk::FORMAT, xyz::FORMAT];

/// What is wrong with a file of a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FormatError {
    /// Something else was expected.
    #[error("{place}: {expected} is expected, not `{found}`")]
    Unexpected {
        /// Where.
        place: Place,
        /// What is expected.
        expected: &'static str,
        /// What is there; its beginning if it is long.
        found: String,
    },
    /// The file ends too early.
    #[error("{place}: the file ends where {expected} is expected; it may have been cut off")]
    Ended {
        /// Where.
        place: Place,
        /// What is expected.
        expected: &'static str,
    },
    /// The file has something that is not read.
    #[error("{place}: {what} `{found}` is not read: {remedy}")]
    Unsupported {
        /// Where.
        place: Place,
        /// What it is.
        what: &'static str,
        /// Its name in the file.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A number of a node, a face or a vertex is not that of one.
    #[error("{place}: there is no {what} {index}")]
    NoSuch {
        /// Where.
        place: Place,
        /// What it is.
        what: &'static str,
        /// The number in the file.
        index: i64,
    },
    /// Two nodes have one number.
    #[error("{place}: there is a {what} {index} already")]
    Twice {
        /// Where.
        place: Place,
        /// What it is.
        what: &'static str,
        /// The number in the file.
        index: i64,
    },
    /// Two numbers should be equal.
    #[error("{place}: {found} {what} do not fit {expected} that were announced")]
    Count {
        /// Where.
        place: Place,
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A part that every such file has is missing.
    #[error("the file has no {what}")]
    Missing {
        /// The part.
        what: &'static str,
    },
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Why a mesh cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The ending says nothing.
    #[error("cannot tell what kind of mesh `{}` is from its ending: {} are read", .path.display(), endings())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something is wrong in it.
    #[error("cannot read `{}`: {source}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: FormatError,
    },
}

fn endings() -> String {
    ALL.iter().map(|format| format!(".{}", format.ending)).collect::<Vec<_>>().join(", ")
}

impl Format {
    /// The format that a file's ending says.
    #[must_use]
    pub fn of(path: &Path) -> Option<&'static Format> {
        let ending = path.extension()?;
        ALL.iter().find(|format| ending.eq_ignore_ascii_case(format.ending))
    }

    /// Reads a mesh from what a file contains. Memory is in proportion to it, whatever it says about itself.
    ///
    /// # Errors
    /// [`FormatError`] says what is wrong, and where.
    pub fn read(&self, bytes: &[u8]) -> Result<Mesh, FormatError> {
        (self.read)(bytes)
    }
}

impl Mesh {
    /// Reads a mesh from a file: Gmsh `.msh` (2.2 and 4.1, text), Wavefront `.obj`, `.stl`, legacy `.vtk`, or `.xyz` for atoms, by its ending. Nodes that no
    /// cell has are left out. The mesh is as the file has it: [`Mesh::check`] says whether it is one body.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be read, with the line where something is wrong.
    pub fn read(path: &Path) -> Result<Mesh, ReadError> {
        let named = || path.to_owned();
        let format = Format::of(path).ok_or_else(|| ReadError::UnknownEnding { path: named() })?;
        let bytes = std::fs::read(path).map_err(|source| ReadError::File { path: named(), source })?;
        format.read(&bytes).map_err(|source| ReadError::Format { path: named(), source })
    }
}
