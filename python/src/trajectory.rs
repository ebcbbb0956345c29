//! What came of a run.

use crate::arrays;
use crate::error::{failed, usage};
use crate::tables;
use leastaction::language::{MeshPart, Part, Spot};
use leastaction::output::{About, Record, write};
use leastaction::plot::{Animation, Energy, Film, Plot, Solid, View};
use leastaction::simulate::{MeasureError, Measurements, Run};
use leastaction::{Form, Reason};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The samples of a run, and all that can be told of them.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Trajectory {
    run: Run,
    record: OnceLock<Record>,
    measured: OnceLock<Result<Measurements, MeasureError>>,
}

impl Trajectory {
    pub(crate) fn of(run: Run) -> Trajectory {
        Trajectory { run, record: OnceLock::new(), measured: OnceLock::new() }
    }

    /// Everything that can be told about the samples; made when it is first asked for. Outside of the interpreter.
    pub(crate) fn record(&self) -> PyResult<&Record> {
        if let Some(record) = self.record.get() {
            return Ok(record);
        }
        let record = self.run.record().map_err(failed)?;
        Ok(self.record.get_or_init(|| record))
    }

    fn measured(&self) -> PyResult<&Measurements> {
        self.measured.get_or_init(|| self.run.measure()).as_ref().map_err(failed)
    }

    /// How the run ended.
    fn ended(&self) -> String {
        let (reached, until) = (self.run.trajectory.end().t, self.run.simulation.until);
        match (self.run.trajectory.reason(), self.run.stopped_by()) {
            (_, Some(event)) => format!("stopped by event `{event}` at t = {reached}, before {until}"),
            (Reason::Interrupted, _) => format!("stopped at t = {reached}, before {until}"),
            _ if reached == until => "complete".to_owned(),
            _ => format!("failed at t = {reached}, before {until}"),
        }
    }

    fn about(&self) -> About {
        let warnings =
            self.measured().into_iter().flat_map(|measured| &measured.warnings).map(ToString::to_string);
        About { warnings: warnings.collect(), ..self.run.simulation.describe(self.ended()) }
    }

    /// What is shown below the title of a plot.
    fn subtitle(&self, record: &Record, about: &About) -> String {
        let span = [record.times.first(), record.times.last()].map(|t| t.copied().unwrap_or(0.0));
        let ended = if about.ended == "complete" { String::new() } else { format!("; {}", about.ended) };
        format!(
            "{}, {}, t = {} to {}, {} samples{ended}",
            about.method,
            about.pace,
            span[0],
            span[1],
            record.len()
        )
    }

    /// Does something with the plot. Outside of the interpreter.
    fn with_plot<T>(&self, then: impl FnOnce(Plot<'_>) -> PyResult<T>) -> PyResult<T> {
        let (record, about) = (self.record()?, self.about());
        let energy = match self.run.energy() {
            Ok(energy) if energy.conserved && energy.resets.is_none_or(|(_, count)| count == 0) => {
                Energy::Conserved { scale: energy.drift.scale }
            }
            _ => Energy::Changing,
        };
        let subtitle = self.subtitle(record, &about);
        let drawing = &self.run.simulation.drawing;
        then(Plot { record, drawing, title: &about.system, subtitle: &subtitle, energy })
    }
}

#[pymethods]
impl Trajectory {
    fn __len__(&self) -> usize {
        self.run.trajectory.len()
    }

    /// The times.
    fn t<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::list(py, self.run.trajectory.times().to_vec())
    }

    /// The states: coordinates, then momenta.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dimension = self.run.simulation.dynamics.system().dimension();
        arrays::rows(py, self.run.trajectory.blocks().to_vec(), dimension)
    }

    /// The velocities.
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.run.simulation.dynamics.system().degrees();
        let values = py.detach(|| {
            let mut dynamics = self.run.simulation.dynamics.clone();
            let mut values = vec![0.0; n * self.run.trajectory.len()];
            for ((t, y), v) in self.run.trajectory.samples().zip(values.chunks_exact_mut(n.max(1))) {
                dynamics.velocities(&[t], y, v).map_err(failed)?;
            }
            Ok::<_, PyErr>(values)
        })?;
        arrays::rows(py, values, n)
    }

    /// The energy.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let energies = py.detach(|| {
            let mut dynamics = self.run.simulation.dynamics.clone();
            self.run.trajectory.energies(&mut dynamics).map_err(failed)
        })?;
        Ok(arrays::list(py, energies))
    }

    /// The named terms of the energy.
    fn shares<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let system = self.run.simulation.dynamics.system();
        let count = system.shares().len();
        let samples = self.run.trajectory.len();
        let values = py.detach(|| {
            let mut dynamics = self.run.simulation.dynamics.clone();
            let (mut values, mut row) = (vec![vec![0.0; samples]; count], vec![0.0; count]);
            for (k, (t, y)) in self.run.trajectory.samples().enumerate() {
                dynamics.shares(&[t], y, &mut row).map_err(failed)?;
                values.iter_mut().zip(&row).for_each(|(column, share)| column[k] = *share);
            }
            Ok::<_, PyErr>(values)
        })?;
        let shares = PyDict::new(py);
        for (share, column) in system.shares().iter().zip(values) {
            shares.set_item(&share.name, arrays::list(py, column))?;
        }
        Ok(shares)
    }

    /// What can be told: groups and names, in the order of files.
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        py.detach(|| {
            use leastaction::output::Table;
            let columns = self.record()?.table().columns();
            Ok(columns.into_iter().map(|(group, name)| (group.to_owned(), name)).collect())
        })
    }

    /// A column by its name; None if there is none.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let values = py.detach(|| {
            let record = self.record()?;
            let found = record.columns().find(|(_, other, _)| other == name);
            // The places of nodes are coordinates; they are told of under both names.
            Ok::<_, PyErr>(found.map(|(.., values)| values.to_vec()))
        })?;
        Ok(values.map(|values| arrays::list(py, values)))
    }

    /// Where particles, points and bodies were: a row for each sample.
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let record = py.detach(|| self.record())?;
        let places = PyDict::new(py);
        for path in &record.paths {
            let count = path.axes.len();
            let rows = (0..record.len()).flat_map(|k| path.axes.iter().map(move |axis| axis[k]));
            places.set_item(&path.name, arrays::rows(py, rows.collect(), count)?)?;
        }
        Ok(places)
    }

    /// The events, by name: times, directions, states, and by how much times may be off where that is known.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = &self.run;
        let n = run.simulation.dynamics.system().degrees();
        let momenta = run.simulation.dynamics.system().dimension() - n;
        let all = PyDict::new(py);
        for (i, name) in run.simulation.events.iter().enumerate() {
            let own = || {
                run.trajectory.crossings().iter().enumerate().filter(move |(_, crossing)| crossing.event == i)
            };
            let event = PyDict::new(py);
            event.set_item("t", arrays::list(py, own().map(|(_, crossing)| crossing.t).collect()))?;
            event.set_item("rising", own().map(|(_, crossing)| crossing.rising).collect::<Vec<_>>())?;
            let q = own().flat_map(|(_, crossing)| crossing.state.q.iter().copied());
            event.set_item("q", arrays::rows(py, q.collect(), n)?)?;
            let p = own().flat_map(|(_, crossing)| crossing.state.p.iter().copied());
            event.set_item("p", arrays::rows(py, p.collect(), momenta)?)?;
            let errors = run.error.as_ref().map(|error| {
                let off = |(nth, _)| error.crossings.get(nth).copied().unwrap_or(f64::INFINITY);
                arrays::list(py, own().map(off).collect())
            });
            event.set_item("at_rest", arrays::list(py, run.trajectory.rests(i).collect()))?;
            event.set_item("t_error", errors)?;
            all.set_item(name, event)?;
        }
        Ok(all)
    }

    /// What was run, and how.
    fn about_run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (run, dictionary) = (&self.run, PyDict::new(py));
        let (simulation, system) = (&run.simulation, run.simulation.dynamics.system());
        let work = run.trajectory.work();
        let moving = system.facts().form != Form::Ports;
        let velocities: Vec<String> = if moving { system.velocities().iter().collect() } else { Vec::new() };
        dictionary.set_item("system", &simulation.name)?;
        dictionary.set_item("about", &simulation.about)?;
        dictionary.set_item("method", simulation.integrator.card().name)?;
        dictionary.set_item("pace", simulation.integrator.pace().to_string())?;
        dictionary.set_item("because", &simulation.why)?;
        dictionary.set_item("until", simulation.until)?;
        dictionary.set_item("ended", self.ended())?;
        dictionary.set_item("stopped_by", run.stopped_by())?;
        dictionary.set_item("steps", work.steps)?;
        dictionary.set_item("rejected", work.rejected)?;
        dictionary.set_item("evaluations", work.evaluations)?;
        dictionary.set_item("compile_s", simulation.compile.as_secs_f64())?;
        dictionary.set_item("wall_s", run.wall.as_secs_f64())?;
        dictionary.set_item("coordinates", system.coordinates().iter().collect::<Vec<_>>())?;
        dictionary.set_item("velocities", velocities)?;
        dictionary.set_item("momenta", system.momenta().iter().collect::<Vec<_>>())?;
        let parameters = PyDict::new(py);
        let values = system.parameters().iter().zip(simulation.dynamics.parameters());
        values.into_iter().try_for_each(|((name, _), value)| parameters.set_item(name, value))?;
        dictionary.set_item("parameters", parameters)?;
        Ok(dictionary)
    }

    /// The warnings: a word for machines, and a sentence.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
        let measured = py.detach(|| self.measured())?;
        Ok(measured.warnings.iter().map(|warning| (warning.code(), warning.to_string())).collect())
    }

    /// How well the run kept what it should.
    fn measure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let measured = py.detach(|| self.measured())?;
        let dictionary = PyDict::new(py);
        dictionary.set_item("energy_start", measured.energy.first)?;
        dictionary.set_item("energy_end", measured.energy.last)?;
        dictionary.set_item("energy_drift", measured.energy.drift.relative())?;
        dictionary.set_item("energy_conserved", measured.energy.conserved)?;
        let conserved = PyDict::new(py);
        for kept in &measured.conserved {
            conserved.set_item(&kept.name, kept.drift.relative())?;
        }
        dictionary.set_item("conserved", conserved)?;
        dictionary.set_item("position_violation", measured.position_violation)?;
        dictionary.set_item("velocity_violation", measured.velocity_violation)?;
        let work = measured.work.map(|work| (work.supplied, work.dissipated, work.residual));
        dictionary.set_item("work", work)?;
        Ok(dictionary)
    }

    /// How far the end may be off, if that was judged: digits that are certain, the largest relative error, in words.
    fn accuracy(&self) -> Option<(u32, f64, String)> {
        self.run.error.as_ref().map(|error| (error.digits(), error.relative, error.to_string()))
    }

    /// Writes the samples to a file, by its ending.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pvd")) {
                return self.run.write_meshes(&path).map(drop).map_err(usage);
            }
            let record = self.record()?;
            write(&path, &record.table(), &self.about()).map_err(usage)
        })
    }

    /// Writes every event to a file, by its ending.
    fn save_events(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let table = self.run.event_table().map_err(failed)?;
            write(&path, &table, &self.about()).map_err(usage)
        })
    }

    /// All events as a table, in the order of the run.
    fn event_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = py.detach(|| self.run.event_table().map_err(failed))?;
        tables::columns(py, &table)
    }

    /// What is drawn, besides places: parts by their words, with places by name, or as they are; of bodies the number of their shapes; and of meshes the number of their first place, how many
    /// nodes they have, their faces and their segments.
    fn drawing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let parts = PyList::empty(py);
        let spot = |spot: &Spot| -> PyResult<Py<PyAny>> {
            Ok(match spot {
                Spot::Of(name) => name.into_pyobject(py)?.into_any().unbind(),
                Spot::At(place) => place.to_vec().into_pyobject(py)?.into_any().unbind(),
            })
        };
        for part in &self.run.simulation.drawing.parts {
            match part {
                Part::Rod(from, to) => parts.append(("rod", spot(from)?, spot(to)?))?,
                Part::Spring(from, to) => parts.append(("spring", spot(from)?, spot(to)?))?,
                Part::Dot { at, mass } => parts.append(("dot", spot(at)?, *mass))?,
                Part::Trail(of) => parts.append(("trail", spot(of)?))?,
                Part::Line(points) => {
                    let points: Vec<Vec<f64>> = points.iter().map(|point| point.to_vec()).collect();
                    parts.append(("line", points))?;
                }
                Part::Body(body) => parts.append(("body", &body.name, body.shapes.len()))?,
                Part::Mesh(MeshPart { mesh, first, .. }) => {
                    let faces: Vec<Vec<u32>> = mesh.surface().iter().map(|face| face.to_vec()).collect();
                    let segments: Vec<Vec<u32>> = mesh.segments().iter().map(|ends| ends.to_vec()).collect();
                    parts.append(("mesh", *first, mesh.nodes().len(), faces, segments))?;
                }
            }
        }
        Ok(parts)
    }

    /// The shapes of all bodies in the order of their parts: triangles, lines, and at each of these samples the middle with the images of the axes, if these are known.
    fn solids<'py>(&self, py: Python<'py>, samples: Vec<usize>) -> PyResult<Bound<'py, PyList>> {
        let solids = py.detach(|| {
            let record = self.record()?;
            Solid::all(&self.run.simulation.drawing, record, &samples).map_err(usage)
        })?;
        PyList::new(py, solids.into_iter().map(|solid| (solid.faces, solid.lines, solid.places)))
    }

    /// Numbers of the whole run by their texts, as `max(x')`; samples and events before a time, if one is given, do not count.
    #[pyo3(signature = (texts, since = None))]
    fn reduced(
        &self,
        py: Python<'_>,
        texts: Vec<String>,
        since: Option<f64>,
    ) -> PyResult<Vec<(String, f64)>> {
        py.detach(|| self.run.reduced(&texts, since).map(|reduced| reduced.values).map_err(usage))
    }

    /// The plot as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.with_plot(|plot| plot.svg().map_err(usage)))
    }

    /// The plot as PNG.
    fn png(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| self.with_plot(|plot| plot.png().map_err(usage)))
    }

    /// Writes the plot to a file that ends in .svg or .png.
    fn save_plot(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.with_plot(|plot| plot.save(&path).map_err(usage)))
    }

    /// Writes the animation to a file that ends in .gif or .mp4: with so much time of the run in a second, so many pixels across and down, and seen from these angles of
    /// azimuth and elevation, where that is asked for.
    fn save_animation(
        &self,
        py: Python<'_>,
        path: PathBuf,
        speed: Option<f64>,
        size: Option<[u32; 2]>,
        view: Option<[f64; 2]>,
    ) -> PyResult<()> {
        py.detach(|| {
            let (record, simulation) = (self.record()?, &self.run.simulation);
            let animation = Animation { record, drawing: &simulation.drawing, title: &simulation.name };
            let view = view.map(|[azimuth, elevation]| View::from(azimuth, elevation));
            animation.save_as(&path, &Film { speed, size, view }).map(drop).map_err(usage)
        })
    }
}
