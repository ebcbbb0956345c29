//! Meshes of a run: how large they are, what energy their fields have, and files of them as they move.

use crate::problem::Problem;
use crate::run::Run;
use crate::simulation::Simulation;
use crate::warning::Warning;
use leastaction_analyze::Equilibrium;
use leastaction_field::format::{Data, DataKind, Values};
use leastaction_field::{CellKind, Inversion};
use leastaction_language::{Density, Drawing, MeshField, MovingMesh};
use leastaction_mechanics::{Dynamics, EvalError, ShareKind, State};
use leastaction_output::{FileError, MeshPart, MeshSeries, Record, RecordError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How large a mesh is.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSize<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many nodes it has.
    pub nodes: usize,
    /// How many cells there are of each kind that it has.
    pub cells: Vec<(CellKind, usize)>,
    /// How many of the coordinates of its nodes are held.
    pub held: usize,
}

/// A field of a run, or the motion of a mesh, with its share of the energy.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldShare<'a> {
    /// The mesh.
    pub mesh: &'a str,
    /// The field; none for the kinetic energy.
    pub field: Option<&'a MeshField>,
    /// Its energy at the start.
    pub first: f64,
    /// Its energy at the end.
    pub last: f64,
}

/// Why a moving mesh cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// There is no mesh.
    #[error("the system has no mesh, and `{}` is a file of one: use .csv, .npz, .parquet or .json", .path.display())]
    NoMesh {
        /// The file.
        path: PathBuf,
    },
    /// Positions cannot be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Simulation {
    /// How large the meshes are.
    #[must_use]
    pub fn mesh_sizes(&self) -> Vec<MeshSize<'_>> {
        self.meshes.iter().map(|mesh| self.mesh_size(mesh)).collect()
    }

    fn mesh_size<'a>(&self, moving: &'a MovingMesh) -> MeshSize<'a> {
        let (mesh, system) = (&moving.mesh, self.dynamics.system());
        let kinds = [CellKind::Segment, CellKind::Triangle, CellKind::Tetrahedron];
        let cells = kinds.map(|kind| (kind, mesh.count(kind)));
        let own = moving.first_coordinate..moving.first_coordinate + 3 * mesh.nodes().len();
        MeshSize {
            name: &moving.name,
            nodes: mesh.nodes().len(),
            cells: cells.into_iter().filter(|(_, count)| *count > 0).collect(),
            held: own.filter(|&declared| system.place_of(declared).is_none()).count(),
        }
    }
}

impl Run {
    /// Tetrahedra that are turned inside out at a sample: the first of each mesh.
    pub(crate) fn inverted(&self) -> Result<Vec<Warning>, EvalError> {
        let judged = judged(&self.simulation.meshes);
        if judged.is_empty() {
            return Ok(Vec::new());
        }
        let mut dynamics = self.simulation.dynamics.clone();
        let mut warnings: Vec<Option<Warning>> = vec![None; judged.len()];
        for (now, y) in self.trajectory.samples() {
            let all = inverted(&judged, &mut dynamics, now, y)?;
            for (((mesh, field), warning), (first, count)) in judged.iter().zip(&mut warnings).zip(all) {
                match (warning, first) {
                    (Some(Warning::Inverted { most, last, .. }), _) => {
                        (*most, *last) = ((*most).max(count), count);
                    }
                    (warning, Some(element)) => {
                        *warning = Some(Warning::Inverted {
                            mesh: mesh.name.clone(),
                            field: field.name.clone(),
                            element,
                            t: now,
                            most: count,
                            last: count,
                            reversed: field.inversion == Inversion::Reversed,
                        });
                    }
                    (_, None) => {}
                }
            }
        }
        Ok(warnings.into_iter().flatten().collect())
    }

    /// The kinetic energies of meshes, and the fields on them, with their energies at the start and at the end.
    ///
    /// # Errors
    /// [`EvalError`] if they cannot be computed.
    pub fn field_shares(&self) -> Result<Vec<FieldShare<'_>>, EvalError> {
        let meshes = &self.simulation.meshes;
        if meshes.is_empty() {
            return Ok(Vec::new());
        }
        let mut dynamics = self.simulation.dynamics.clone();
        let system = dynamics.system().clone();
        let mut shares = |state: &State| {
            let mut shares = vec![0.0; system.shares().len()];
            dynamics.shares(&[state.t], &state.block(), &mut shares).map(|()| shares)
        };
        let (first, last) = (shares(&self.simulation.start)?, shares(&self.trajectory.end())?);
        let place = |mesh: &MovingMesh, field: Option<&MeshField>| {
            let (kind, name) = match field {
                Some(field) => (ShareKind::Potential, &field.name),
                None => (ShareKind::Kinetic, &mesh.name),
            };
            system.shares().iter().position(|share| share.kind == kind && share.name == *name)
        };
        let all = meshes.iter().flat_map(|mesh| {
            std::iter::once(None).chain(mesh.fields.iter().map(Some)).map(move |field| (mesh, field))
        });
        let found = all.filter_map(|(mesh, field)| {
            let place = place(mesh, field)?;
            Some(FieldShare { mesh: &mesh.name, field, first: first[place], last: last[place] })
        });
        Ok(found.collect())
    }

    /// Writes the meshes as they move to a series of files that ParaView reads: `jelly.pvd`, or `jelly-NAME.pvd` for each of several. Nodes have their
    /// displacement from rest. Gives the lists of files.
    ///
    /// # Errors
    /// [`MeshFileError`] if there is no mesh, or a file cannot be written.
    pub fn write_meshes(&self, path: &Path) -> Result<Vec<PathBuf>, MeshFileError> {
        let meshes = &self.simulation.meshes;
        if meshes.is_empty() {
            return Err(MeshFileError::NoMesh { path: path.to_owned() });
        }
        let named = |mesh: &MovingMesh| match meshes.len() {
            1 => path.to_owned(),
            _ => {
                let mut name = path.file_stem().unwrap_or_default().to_owned();
                name.push(format!("-{}.pvd", mesh.name));
                path.with_file_name(name)
            }
        };
        let mut dynamics = self.simulation.dynamics.clone();
        let axes: Vec<usize> = dynamics.system().places().iter().map(|place| place.dimensions).collect();
        let before = |place: usize| axes[..place].iter().sum::<usize>();
        let mut all = Vec::new();
        for mesh in meshes {
            let mut series = MeshSeries::new(&named(mesh), MeshPart::Cells)?;
            let thinned = self.trajectory.thinned(self.simulation.finer);
            let (rest, mut positions) = (mesh.mesh.nodes(), vec![0.0; axes.iter().sum()]);
            for (t, y) in thinned.samples() {
                dynamics.positions(&[t], y, &mut positions)?;
                let own = &positions[before(mesh.first_place)..][..3 * rest.len()];
                let at: Vec<[f64; 3]> = own.as_chunks().0.to_vec();
                let moved: Vec<[f64; 3]> =
                    at.iter().zip(rest).map(|(at, rest)| std::array::from_fn(|i| at[i] - rest[i])).collect();
                let data =
                    Data { name: "displacement", kind: DataKind::Nodes, values: Values::Vectors(&moved) };
                series.add(t, &mesh.mesh, &at, &[data])?;
            }
            series.finish()?;
            all.push(named(mesh));
        }
        Ok(all)
    }
}

impl Problem<'_> {
    /// Tetrahedra that are turned inside out at an equilibrium: a warning for each mesh that has some.
    ///
    /// # Errors
    /// [`EvalError`] if positions cannot be computed.
    pub fn inverted_at_rest(&mut self, at: &Equilibrium) -> Result<Vec<Warning>, EvalError> {
        let judged = judged(&self.setup.meshes);
        if judged.is_empty() {
            return Ok(Vec::new());
        }
        let mut y = at.q.clone();
        y.resize(2 * at.q.len(), 0.0);
        let all = inverted(&judged, &mut self.dynamics, self.start.t, &y)?;
        let warnings = judged.iter().zip(all).filter_map(|((mesh, field), (first, count))| {
            first.map(|element| Warning::InvertedAtRest {
                mesh: mesh.name.clone(),
                field: field.name.clone(),
                element,
                count,
                reversed: field.inversion == Inversion::Reversed,
            })
        });
        Ok(warnings.collect())
    }
}

/// Meshes whose tetrahedra can be turned inside out, each with the field that shapes them.
fn judged(meshes: &[MovingMesh]) -> Vec<(&MovingMesh, &MeshField)> {
    meshes.iter().filter_map(|mesh| Some((mesh, shaping(mesh)?))).collect()
}

/// The first tetrahedron of each mesh that is turned inside out at a state, and how many are.
fn inverted(
    meshes: &[(&MovingMesh, &MeshField)],
    dynamics: &mut Dynamics,
    t: f64,
    y: &[f64],
) -> Result<Vec<(Option<usize>, usize)>, EvalError> {
    let axes: Vec<usize> = dynamics.system().places().iter().map(|place| place.dimensions).collect();
    let mut positions = vec![0.0; axes.iter().sum()];
    dynamics.positions(&[t], y, &mut positions)?;
    let of_mesh = |(mesh, _): &(&MovingMesh, &MeshField)| {
        let before: usize = axes[..mesh.first_place].iter().sum();
        let at = positions[before..][..3 * mesh.mesh.nodes().len()].as_chunks::<3>().0;
        let inverted = |cell: &[u32; 4]| volume(cell.map(|node| at[node as usize])) <= 0.0;
        let mut all = mesh.mesh.tetrahedra().iter().enumerate().filter(|(_, cell)| inverted(cell));
        let first = all.next().map(|(element, _)| element);
        (first, all.count() + usize::from(first.is_some()))
    };
    Ok(meshes.iter().map(of_mesh).collect())
}

/// The field that shapes the tetrahedra of a mesh, if they can be turned inside out: one that turns them back, if there is one.
fn shaping(mesh: &MovingMesh) -> Option<&MeshField> {
    let shapes = |field: &&MeshField| field.over.arity() > 1 && field.inversion != Inversion::Impossible;
    let mut fields = mesh.fields.iter().filter(shapes).filter(|_| !mesh.mesh.tetrahedra().is_empty());
    let reversed = fields.clone().find(|field| field.inversion == Inversion::Reversed);
    reversed.or_else(|| fields.next())
}

/// Adds to a record what colours in a drawing stand for, where that is an energy.
pub(crate) fn colour<'y>(
    record: &mut Record,
    drawing: &Drawing,
    dynamics: &mut Dynamics,
    samples: impl Iterator<Item = (f64, &'y [f64])>,
) -> Result<(), RecordError> {
    let drawn: Vec<_> = drawing.densities().cloned().collect();
    for (t, y) in samples.filter(|_| !drawn.is_empty()) {
        let what = "the energies of elements";
        let values = densities(&drawn, dynamics, t, y).map_err(|reason| RecordError { what, t, reason })?;
        record.densities.push(values);
    }
    Ok(())
}

/// The energies that meshes are coloured by, at their nodes.
pub(crate) fn densities(
    drawn: &[Arc<Density>],
    dynamics: &mut Dynamics,
    t: f64,
    y: &[f64],
) -> Result<Vec<Vec<f64>>, EvalError> {
    if drawn.is_empty() {
        return Ok(Vec::new());
    }
    let all = dynamics.element_energies(t, y)?;
    let energies = |field: &str| all.iter().find(|(name, _)| name == field).map_or(&[][..], |(_, each)| each);
    Ok(drawn.iter().map(|density| density.at_nodes(energies(&density.field))).collect())
}

/// Six times the volume of a tetrahedron, negative if it is inside out.
fn volume([o, a, b, c]: [[f64; 3]; 4]) -> f64 {
    let [a, b, c] = [a, b, c].map(|at| -> [f64; 3] { std::array::from_fn(|i| at[i] - o[i]) });
    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]
}
