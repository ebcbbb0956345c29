//! Constraint fields on meshes: volumes, lengths and attachments are kept, and so is what a free body keeps.

use crate::common::distance;
use leastaction_expr::Graph;
use leastaction_field::{Field, FieldError, Keep, Mesh, Nodes, Value, lumped_masses, shipped};
use leastaction_integrate::{Card, Integrator, Tolerance};
use leastaction_mechanics::{Dynamics, Inertia, Model, Pose, State};
use std::ops::ControlFlow;

fn given<'g>(graph: &'g Graph, list: &[(&'static str, f64)]) -> Vec<(&'static str, Value<'g>)> {
    list.iter().map(|&(name, value)| (name, Value::uniform(graph, value))).collect()
}

fn energy(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let mut energy = [0.0];
    dynamics.energy(&[t], y, &mut energy).unwrap();
    energy[0]
}

/// Linear and angular momentum of nodes whose coordinates and momenta these are.
fn momenta(y: &[f64]) -> [f64; 6] {
    let (q, p) = y.split_at(y.len() / 2);
    let mut sum = [0.0; 6];
    for (x, p) in q.as_chunks::<3>().0.iter().zip(p.as_chunks::<3>().0) {
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            sum[i] += p[i];
            sum[3 + i] += x[j] * p[k] - x[k] * p[j];
        }
    }
    sum
}

/// A regular tetrahedron that keeps its volume, stretched and released: its period is known (a quadrature).
#[test]
fn a_tetrahedron_that_keeps_its_volume_swings_with_its_period() {
    let corners = vec![[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]];
    let mesh = Mesh::new(corners.clone()).unwrap();
    let mesh = mesh
        .with_tetrahedra(vec![[0, 1, 2, 3]])
        .or_else(|_| Mesh::new(corners).and_then(|mesh| mesh.with_tetrahedra(vec![[0, 2, 1, 3]])));
    let mesh = mesh.unwrap();
    assert!((mesh.volume() - 8.0 / 3.0).abs() < 1e-15);
    let period = 2.2388155946485;
    for total in [true, false] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let nodes = Nodes::new(&mut model, "body", &mesh, &[0.5; 4]).unwrap();
        // Where volume is kept, this is μ/2 (I₁ − 3).
        let material = given(&graph, &[("c10", 1.5), ("c01", 0.0), ("kappa", 1.0)]);
        nodes.add(&mut model, &shipped("mooney-rivlin").unwrap().field(&graph, &material).unwrap()).unwrap();
        match total {
            true => nodes.keep_volume(&mut model, "volume").unwrap(),
            false => nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Each).unwrap(),
        }
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let stretch = 1.3f64;
        let thin = stretch.powf(-0.5);
        let places: Vec<_> =
            mesh.nodes().iter().map(|x| [thin * x[0], thin * x[1], stretch * x[2]]).collect();
        let mut block = vec![0.0; 24];
        nodes.place(dynamics.system(), &places, &mut block);
        dynamics.start_block(0.0, true, &mut block).unwrap();
        let start = State::from_block(0.0, &block, 12);
        let run = Integrator::new(Card::named("rattle6").unwrap(), period / 400.0);
        let end = run.run(&mut dynamics, &start, period).unwrap();
        let last = end.end();
        assert!(distance(&last.q, &start.q) < 1e-9, "{}", distance(&last.q, &start.q));
        // At the turning point momenta pass zero: how late they are.
        let mut rates = vec![0.0; 24];
        dynamics.rates(&[period], &last.block(), &mut rates).unwrap();
        let late = last.p[2] / rates[14];
        assert!(late.abs() < 1e-10, "off by {late:e}");
    }
}

/// The block of 4 × 4 × 8 cells, incompressible cell by cell and thrown, turning.
fn incompressible_block(strain: f64) -> (Dynamics, State, Mesh) {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "block", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    let material = given(&graph, &[("young", 1000.0), ("poisson", 0.3)]);
    nodes.add(&mut model, &shipped("neo-hookean").unwrap().field(&graph, &material).unwrap()).unwrap();
    let cells: Vec<u32> = (0..768).map(|tetrahedron| tetrahedron / 6).collect();
    nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Patches(&cells)).unwrap();
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    assert_eq!(dynamics.system().constraints().len(), 128);
    // Sheared and stretched, which changes no volume, and turning about a skew axis.
    let shape = |x: &[f64; 3]| {
        let stretch = 1.0 + strain;
        let thin = stretch.powf(-0.5);
        [thin * x[0] + strain * x[2], thin * x[1], stretch * x[2]]
    };
    let places: Vec<_> = mesh.nodes().iter().map(shape).collect();
    let mut block = vec![0.0; dynamics.system().dimension()];
    nodes.place(dynamics.system(), &places, &mut block);
    for (x, v) in places.iter().zip(block[675..].as_chunks_mut::<3>().0) {
        let turn = [0.5, -1.0, 2.0];
        *v = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            0.3 * i as f64 + turn[j] * x[k] - turn[k] * x[j]
        });
    }
    dynamics.start_block(0.0, true, &mut block).unwrap();
    assert!(dynamics.placed().unwrap().moved < 1e-12);
    (dynamics, State::from_block(0.0, &block, 675), mesh)
}

/// The largest change of the volume of a cell, from 1/64.
fn volume_error(mesh: &Mesh, q: &[f64]) -> f64 {
    let x = |node: u32| q.as_chunks::<3>().0[node as usize];
    let volume = |&[o, a, b, c]: &[u32; 4]| {
        let [a, b, c] = [a, b, c].map(|node| std::array::from_fn::<f64, 3, _>(|i| x(node)[i] - x(o)[i]));
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
    };
    let cells = mesh.tetrahedra().chunks_exact(6).map(|cell| cell.iter().map(volume).sum::<f64>());
    cells.fold(0.0, |worst, volume: f64| worst.max((volume - 1.0 / 64.0).abs()))
}

/// Runs the block for so many steps: volumes, momenta and the energy, which is averaged over pieces of the run.
fn run_block(strain: f64, step: f64, steps: usize, pieces: usize) -> Vec<f64> {
    let (mut dynamics, start, mesh) = incompressible_block(strain);
    let end = step * steps as f64;
    let before = momenta(&start.block());
    let (mut sums, mut counts, mut first) = (vec![0.0; pieces], vec![0.0; pieces], None);
    let run = Integrator::new(Card::named("rattle").unwrap(), step);
    let observed = run.observe(&mut dynamics, &start, end, |sample| {
        let y = sample.block.values();
        let e = energy(sample.dynamics, sample.t, y);
        let piece = ((sample.t / end * pieces as f64) as usize).min(pieces - 1);
        sums[piece] += e - *first.get_or_insert(e);
        counts[piece] += 1.0;
        let error = volume_error(&mesh, &y[..675]);
        assert!(error < 1e-12, "t = {}: {error:e}", sample.t);
        for (now, before) in momenta(y).iter().zip(before) {
            let size = before.abs().max(1.0);
            assert!((now - before).abs() < 1e-10 * size, "t = {}: {now} {before}", sample.t);
        }
        Ok(ControlFlow::Continue(()))
    });
    observed.unwrap();
    sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect()
}

#[test]
fn an_incompressible_block_keeps_the_volume_of_every_cell_and_its_momenta() {
    let errors = run_block(0.1, 1e-3, 200, 2);
    assert!(errors.iter().all(|e| e.abs() < 0.05), "{errors:?}");
}

/// The mean of values over a run, and how they change over all of it: the slope of a line through them.
fn trend(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let x = |k: usize| (k as f64 + 0.5) / n - 0.5;
    let mean = values.iter().sum::<f64>() / n;
    let xx: f64 = (0..values.len()).map(|k| x(k) * x(k)).sum();
    (mean, values.iter().enumerate().map(|(k, e)| x(k) * (e - mean)).sum::<f64>() / xx)
}

/// Of small strains, for large ones feed fast vibrations, whose energy a method of order two sees with another error.
#[test]
#[ignore = "long"]
fn an_incompressible_block_keeps_its_volumes_for_long_and_its_energy_does_not_drift() {
    let (mean, change) = trend(&run_block(0.005, 5e-4, 100_000, 64));
    println!("the energy is off by {mean:.2e}, which changes by {change:.2e}");
    assert!(change.abs() < 0.02 * mean.abs());
    // The error is that of the step.
    let (coarse, _) = trend(&run_block(0.005, 1e-3, 5_000, 4));
    assert!((3.8..4.2).contains(&(coarse / mean)), "{coarse:e} {mean:e}");
}

/// An inextensible rope is a chain of particles with distances written by hand.
#[test]
fn an_inextensible_rope_moves_as_a_chain_written_by_hand() {
    let links = 12;
    let rope = Mesh::rope([0.0, 0.0, 0.0], [3.0, 1.0, 0.5], links).unwrap();
    let masses: Vec<f64> = (0..=links).map(|i| 0.1 + 0.01 * f64::from(i)).collect();
    let mut ends = Vec::new();
    for by_hand in [false, true] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let nodes = Nodes::new(&mut model, "rope", &rope, &masses).unwrap();
        model.gravity([0.0, 0.0, -9.81]);
        if by_hand {
            for (k, edge) in rope.edges().iter().enumerate() {
                let [a, b] = edge.map(|node| nodes.at(node as usize));
                let [u, v] = edge.map(|node| rope.nodes()[node as usize]);
                let square = (0..3).map(|i| (u[i] - v[i]).powi(2)).sum::<f64>();
                model.constraint(
                    &format!("link {k}"),
                    graph.sum((0..3).map(|i| (a[i] - b[i]).pow(2))),
                    square,
                );
            }
            for (axis, q) in nodes.at(0).into_iter().enumerate() {
                model.constraint(&format!("hook {axis}"), q, rope.nodes()[0][axis]);
            }
        } else {
            nodes.constrain(&mut model, &Field::lengths(&graph), Keep::Each).unwrap();
            let hook = rope.nodes()[0].map(|x| graph.number(x));
            nodes.hold(&mut model, "hook", [(0, hook)]).unwrap();
        }
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let mut block = vec![0.0; dynamics.system().dimension()];
        nodes.place(dynamics.system(), rope.nodes(), &mut block);
        dynamics.start_block(0.0, true, &mut block).unwrap();
        let start = State::from_block(0.0, &block, dynamics.system().degrees());
        let run = Integrator::new(Card::named("rattle").unwrap(), 1e-3);
        ends.push(run.run(&mut dynamics, &start, 1.0).unwrap().end().block());
    }
    assert_eq!(ends[0].len(), ends[1].len());
    let apart = distance(&ends[0], &ends[1]);
    assert!(apart < 1e-9, "{apart:e}");
}

/// A cloth that does not stretch along its threads, held by an edge: nothing is quadratic in its size.
#[test]
#[ignore = "long"]
fn an_inextensible_cloth_of_thousands_of_edges_falls() {
    for cells in [20u32, 40, 80] {
        let begun = std::time::Instant::now();
        let (mut dynamics, start) = cloth(cells);
        let built = begun.elapsed();
        let run = Integrator::new(Card::named("rattle").unwrap(), 1e-3);
        let end = run.run(&mut dynamics, &start, 0.02).unwrap().end();
        let n = dynamics.system().constraints().len();
        println!("{n} edges: built in {built:?}, 20 steps in {:?}", begun.elapsed() - built);
        let (mut phi, mut psi) = (vec![0.0; n], vec![0.0; n]);
        dynamics.violations(&[0.02], &end.block(), &mut phi, &mut psi).unwrap();
        assert!(phi.iter().all(|phi| phi.abs() < 1e-14));
    }
}

fn cloth(cells: u32) -> (Dynamics, State) {
    let mesh = Mesh::plate([1.0, 1.0], [cells; 2]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "cloth", &mesh, &lumped_masses(&mesh, 0.2).unwrap()).unwrap();
    model.gravity([0.0, 0.0, -9.81]);
    let x = |node: u32| mesh.nodes()[node as usize];
    let threads = mesh.edges().into_iter().filter(|&[a, b]| x(a)[0] == x(b)[0] || x(a)[1] == x(b)[1]);
    let threads: Vec<u32> = threads.flatten().collect();
    nodes.constrain_elements(&mut model, &Field::lengths(&graph), &threads, Keep::Each).unwrap();
    let edge = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][1] == 0.0);
    let edge = edge.map(|node| (node, mesh.nodes()[node].map(|x| graph.number(x))));
    nodes.hold(&mut model, "edge", edge).unwrap();
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut block = vec![0.0; dynamics.system().dimension()];
    nodes.place(dynamics.system(), mesh.nodes(), &mut block);
    // A cloth that is flat at first has no forces across it: it starts with a breath of wind.
    let half = block.len() / 2;
    (half..block.len()).for_each(|i| block[i] = 1e-3 * (i as f64).sin());
    dynamics.start_block(0.0, true, &mut block).unwrap();
    let start = State::from_block(0.0, &block, half);
    (dynamics, start)
}

#[test]
fn volumes_of_every_tetrahedron_are_refused_with_the_reason() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "block", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    let refused = nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Each).unwrap_err();
    assert!(matches!(refused, FieldError::Locked { constraints: 768, coordinates: 675, .. }), "{refused}");
    let few = nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Patches(&[0; 3])).unwrap_err();
    assert!(matches!(few, FieldError::Count { found: 3, expected: 768, .. }), "{few}");
    let open = Mesh::plate([1.0, 1.0], [2, 2]).unwrap();
    let nodes = Nodes::new(&mut model, "plate", &open, &lumped_masses(&open, 1.0).unwrap()).unwrap();
    assert!(matches!(nodes.keep_volume(&mut model, "volume"), Err(FieldError::NotClosed)));
}

/// A soft bar that carries a rigid body, on which another one hinges: free in space, all of them keep momenta, and the bar stays attached.
#[test]
fn soft_and_rigid_bodies_are_one_model_with_joints() {
    let mesh = Mesh::cuboid([0.2, 0.2, 1.0], [1, 1, 5]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "bar", &mesh, &lumped_masses(&mesh, 2.0).unwrap()).unwrap();
    let material = given(&graph, &[("young", 50.0), ("poisson", 0.3)]);
    nodes.add(&mut model, &shipped("neo-hookean").unwrap().field(&graph, &material).unwrap()).unwrap();
    let box_of = |mass: f64| Inertia::cuboid(mass, [0.4, 0.4, 0.2]).unwrap();
    let (carried, hinged) =
        (model.body("carried", box_of(0.3)).unwrap(), model.body("hinged", box_of(0.2)).unwrap());
    // The upper face of the bar is glued into the first box, whose centre is at (0.1, 0.1, 1.1).
    let centre = [0.1, 0.1, 1.1];
    let top: Vec<usize> = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] == 1.0).collect();
    let glue = top.iter().map(|&node| {
        let x = mesh.nodes()[node];
        (node, carried.point([x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]]).unwrap())
    });
    let glue: Vec<_> = glue.collect();
    nodes.attach(&mut model, "glue", glue).unwrap();
    let [left, right] = [carried.point([0.2, 0.0, 0.1]).unwrap(), hinged.point([-0.2, 0.0, -0.1]).unwrap()];
    model.hinge("hinge", &left, &right, [0.0, 1.0, 0.0]).unwrap();
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let names: Vec<String> = (0..mesh.nodes().len())
        .flat_map(|node| ["x", "y", "z"].map(|axis| format!("bar[{node}].{axis}")))
        .collect();
    let mut values: Vec<(&str, f64)> =
        names.iter().map(String::as_str).zip(mesh.nodes().as_flattened().iter().copied()).collect();
    let bodies = [
        carried.start(&Pose::at(centre)).unwrap(),
        hinged.start(&Pose::at([0.5, 0.1, 1.3]).moving([0.2, 0.0, 0.9])).unwrap(),
    ];
    values.extend(bodies.iter().flatten());
    let start = dynamics.start(&values).unwrap();
    let system = dynamics.system().clone();
    let kept: Vec<_> = [model.total_momentum(), model.total_angular_momentum()].concat();
    let kept: Vec<_> = kept.into_iter().map(|f| dynamics.observable(f).unwrap()).collect();
    let look = |dynamics: &mut Dynamics, t: f64, y: &[f64]| -> Vec<f64> {
        let value = |what| {
            let mut value = [0.0];
            dynamics.observe(what, &[t], y, &mut value).unwrap();
            value[0]
        };
        kept.iter().copied().map(value).collect()
    };
    let before = look(&mut dynamics, 0.0, &start.block());
    let first = energy(&mut dynamics, 0.0, &start.block());
    let mut largest = [0.0f64; 2];
    for (step, largest) in [2e-3, 1e-3].into_iter().zip(&mut largest) {
        let run = Integrator::new(Card::named("rattle").unwrap(), step);
        let observed = run.observe(&mut dynamics, &start, 1.0, |sample| {
            let (y, n) = (sample.block.values(), system.constraints().len());
            let (mut phi, mut psi) = (vec![0.0; n], vec![0.0; n]);
            sample.dynamics.violations(&[sample.t], y, &mut phi, &mut psi)?;
            assert!(phi.iter().all(|phi| phi.abs() < 1e-13), "t = {}", sample.t);
            for (now, before) in look(sample.dynamics, sample.t, y).iter().zip(&before) {
                assert!((now - before).abs() < 1e-12, "t = {}: {now} {before}", sample.t);
            }
            *largest = largest.max((energy(sample.dynamics, sample.t, y) - first).abs());
            Ok(ControlFlow::Continue(()))
        });
        observed.unwrap();
    }
    // Of order two: half the step, a quarter of the error.
    let ratio = largest[0] / largest[1];
    assert!(largest[1] < 1e-3 * first && (3.5..4.5).contains(&ratio), "{largest:?} of {first}");
}

/// A damped block on a shaken floor, with a push on its top: over a run its energy changes by what was supplied, less what was dissipated.
#[test]
fn the_power_of_a_shaken_and_damped_block_adds_up_to_its_energy() {
    let mesh = Mesh::cuboid([0.5, 0.5, 1.0], [2, 2, 3]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "block", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
    let material = given(&graph, &[("young", 200.0), ("poisson", 0.3)]);
    let elastic = shipped("neo-hookean").unwrap().field(&graph, &material).unwrap();
    nodes.add(&mut model, &elastic).unwrap();
    nodes.damp(&mut model, &Field::viscosity(&graph, 0.3, 0.1)).unwrap();
    nodes.damp(&mut model, &elastic.rest_damping(0.001).unwrap()).unwrap();
    nodes.damp_masses(&mut model, "air", 0.2);
    model.gravity([0.0, 0.0, -2.0]);
    let time = model.time();
    model.force(nodes.at(mesh.nodes().len() - 1)[1], 0.05 * (4.0 * time).cos());
    let floor = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] == 0.0).map(|node| {
        let [x, y, z] = mesh.nodes()[node].map(|x| graph.number(x));
        (node, [x + 0.05 * (3.0 * time).sin(), y, z])
    });
    let floor: Vec<_> = floor.collect();
    nodes.hold(&mut model, "floor", floor).unwrap();
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut block = vec![0.0; dynamics.system().dimension()];
    nodes.place(dynamics.system(), mesh.nodes(), &mut block);
    dynamics.start_block(0.0, true, &mut block).unwrap();
    let start = State::from_block(0.0, &block, dynamics.system().degrees());
    let powers = ["supplied", "dissipated"].map(|name| dynamics.observable(name).unwrap());
    let (end, steps) = (1.0, 800);
    let times: Vec<f64> = (0..=steps).map(|k| end * f64::from(k) / f64::from(steps)).collect();
    let run = Integrator::new(Card::named("dop853").unwrap(), Tolerance::relative(1e-11)).at(&times);
    let trajectory = run.run(&mut dynamics, &start, end).unwrap();
    // By Simpson's rule.
    let mut sums = [0.0; 2];
    for (k, (t, y)) in trajectory.samples().enumerate() {
        let last = k == 0 || k == steps as usize;
        let weight = if last { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
        for (sum, power) in sums.iter_mut().zip(powers) {
            let mut value = [0.0];
            dynamics.observe(power, &[t], y, &mut value).unwrap();
            *sum += weight * value[0] * end / f64::from(3 * steps);
        }
    }
    let [supplied, dissipated] = sums;
    let last = trajectory.end();
    let change = energy(&mut dynamics, end, &last.block()) - energy(&mut dynamics, 0.0, &start.block());
    println!("energy changes by {change}: {supplied} supplied, {dissipated} dissipated");
    assert!(dissipated > 1e-3 && supplied.abs() > 1e-3);
    assert!((change - (supplied - dissipated)).abs() < 1e-8, "{change} {supplied} {dissipated}");
}
