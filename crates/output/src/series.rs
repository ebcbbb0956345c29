//! A mesh as it moves: a file for each moment, and one that lists them, for ParaView.

use crate::file::{FileError, check, replace};
use leastaction_field::Mesh;
use leastaction_field::format::{Data, write_collection, write_surface, write_volume};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is written of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPart {
    /// Its cells, to `.vtu` files.
    Cells,
    /// Its surface and its segments, to `.vtp` files: much less for solid bodies.
    Surface,
}

/// A series of files of a mesh as it moves: `jelly.pvd`, which ParaView opens, and next to it `jelly-000000.vtu`, `jelly-000001.vtu` and so on.
/// Each is whole, or as it was before; the list is written last, so that it never names a file that is not there.
///
/// ```
/// use leastaction_field::Mesh;
/// use leastaction_output::{MeshPart, MeshSeries};
///
/// let path = std::env::temp_dir().join(format!("rope-{}.pvd", std::process::id()));
/// let rope = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], 10)?;
/// let mut series = MeshSeries::new(&path, MeshPart::Surface)?;
/// series.add(0.0, &rope, rope.nodes(), &[])?;
/// let files = series.finish()?;
/// assert_eq!(files.len(), 2);
/// # files.iter().try_for_each(std::fs::remove_file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MeshSeries {
    path: PathBuf,
    part: MeshPart,
    /// The time of each file, and its name.
    files: Vec<(f64, OsString)>,
}

impl MeshSeries {
    /// A series of which this file is the list.
    ///
    /// # Errors
    /// [`FileError`] if a file cannot be written there.
    pub fn new(path: &Path, part: MeshPart) -> Result<MeshSeries, FileError> {
        check(path)?;
        Ok(MeshSeries { path: path.to_owned(), part, files: Vec::new() })
    }

    /// Writes the mesh with its nodes at these positions at a time, with numbers for its nodes or cells.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written, or positions or numbers do not fit the mesh.
    pub fn add(
        &mut self,
        time: f64,
        mesh: &Mesh,
        positions: &[[f64; 3]],
        data: &[Data<'_>],
    ) -> Result<(), FileError> {
        let ending = match self.part {
            MeshPart::Cells => "vtu",
            MeshPart::Surface => "vtp",
        };
        let mut name = self.path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{:06}.{ending}", self.files.len()));
        replace(&self.path.with_file_name(&name), |writer| match self.part {
            MeshPart::Cells => write_volume(writer, mesh, positions, data),
            MeshPart::Surface => write_surface(writer, mesh, positions, data),
        })?;
        self.files.push((time, name));
        Ok(())
    }

    /// Writes the list, and gives the names of all files, that of the list first.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be written.
    pub fn finish(self) -> Result<Vec<PathBuf>, FileError> {
        let names: Vec<_> = self.files.iter().map(|(time, name)| (*time, name.to_string_lossy())).collect();
        let names = names.iter().map(|(time, name)| (*time, name.as_ref()));
        replace(&self.path, |writer| write_collection(writer, names))?;
        let files = self.files.iter().map(|(_, name)| self.path.with_file_name(name));
        Ok(std::iter::once(self.path.clone()).chain(files).collect())
    }
}
