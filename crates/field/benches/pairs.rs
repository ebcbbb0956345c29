//! What does a pair cost? Gravitation between all pairs of 1000 bodies, beside a loop written by hand for the vectors of this processor, and Lennard-Jones
//! forces within a cut-off, in nanoseconds for each pair, in turn in one run; the best of many rounds counts.

use leastaction_compile::{Loops, vectorized};
use leastaction_expr::Graph;
use leastaction_field::{Lattice, Mesh, Nodes, Value, shipped};
use leastaction_mechanics::{Dynamics, ElementsEvaluator, Model};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// All candidates are run in turn for this long.
const TIME: Duration = Duration::from_secs(4);
const BODIES: usize = 1000;
const SOFTENING: f64 = 0.05;

/// Bodies by hand: x of all, then y, then z, with a tail of bodies without mass, so that blocks of eight are whole.
struct Bodies {
    at: [Vec<f64>; 3],
    mass: Vec<f64>,
    force: [Vec<f64>; 3],
}

/// Forces by Newton's third law: each body against blocks of eight bodies after it.
struct ByHand<'a>(&'a mut Bodies);

impl Loops for ByHand<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Bodies { at, mass, force } = self.0;
        let count = mass.len();
        force.iter_mut().for_each(|axis| axis.fill(0.0));
        let [fx, fy, fz] = force;
        let blocks =
            |list: &[f64], from: usize| -> [f64; 8] { std::array::from_fn(|lane| list[from + lane]) };
        for i in 0..count {
            let [x, y, z] = [0, 1, 2].map(|axis| at[axis][i]);
            let mut sums = [[0.0; 8]; 3];
            for from in (i / 8 * 8..count).step_by(8) {
                let (bx, by, bz) = (blocks(&at[0], from), blocks(&at[1], from), blocks(&at[2], from));
                let m = blocks(mass, from);
                let (mut gx, mut gy, mut gz) = (blocks(fx, from), blocks(fy, from), blocks(fz, from));
                for lane in 0..8 {
                    let (dx, dy, dz) = (bx[lane] - x, by[lane] - y, bz[lane] - z);
                    let square = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING;
                    let pull = mass[i] * m[lane] / (square * square.sqrt());
                    let pull = if from + lane > i { pull } else { 0.0 };
                    sums[0][lane] += pull * dx;
                    sums[1][lane] += pull * dy;
                    sums[2][lane] += pull * dz;
                    gx[lane] -= pull * dx;
                    gy[lane] -= pull * dy;
                    gz[lane] -= pull * dz;
                }
                fx[from..from + 8].copy_from_slice(&gx);
                fy[from..from + 8].copy_from_slice(&gy);
                fz[from..from + 8].copy_from_slice(&gz);
            }
            let [sx, sy, sz] = sums.map(|lanes| lanes.iter().sum::<f64>());
            (fx[i], fy[i], fz[i]) = (fx[i] + sx, fy[i] + sy, fz[i] + sz);
        }
    }
}

fn dynamics<'g>(graph: &'g Graph, mesh: &Mesh, name: &str, given: &[(&str, Value<'g>)]) -> Dynamics {
    let mut model = Model::new(graph);
    let nodes = Nodes::new(&mut model, "body", mesh, &vec![1.0; mesh.nodes().len()]).expect("masses");
    let field = shipped(name).expect("it is shipped").field(graph, given).expect("it is good");
    nodes.add(&mut model, &field).expect("the mesh is good");
    model.system().expect("it compiles").dynamics().expect("it compiles")
}

/// The best time of each, in nanoseconds.
fn best<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [f64::MAX; N];
    let begun = Instant::now();
    while begun.elapsed() < TIME {
        for (best, run) in best.iter_mut().zip(&mut runs) {
            let begun = Instant::now();
            run();
            *best = best.min(begun.elapsed().as_secs_f64() * 1e9);
        }
    }
    best
}

fn main() {
    gravitation();
    lennard_jones();
}

fn gravitation() {
    let number = |i: usize| (i as f64 * 0.618_033_988_749_895).fract();
    let places: Vec<[f64; 3]> =
        (0..BODIES).map(|i| [number(i), number(7 * i + 1), number(13 * i + 5)]).collect();
    let masses: Vec<f64> = (0..BODIES).map(|i| 1.0 + number(3 * i)).collect();
    let padded = BODIES.next_multiple_of(8);
    let fill = |values: &dyn Fn(usize) -> f64, rest: f64| -> Vec<f64> {
        (0..padded).map(|i| if i < BODIES { values(i) } else { rest }).collect()
    };
    let mut bodies = Bodies {
        at: [0, 1, 2].map(|axis| fill(&|i| places[i][axis], 9.0)),
        mass: fill(&|i| masses[i], 0.0),
        force: [0, 1, 2].map(|_| vec![0.0; padded]),
    };
    let mesh = Mesh::new(places.clone()).expect("bodies");
    let graph = Graph::new();
    let given = || [("mass", Value::Nodes(masses.clone())), ("softening", Value::uniform(&graph, SOFTENING))];
    let field = shipped("gravitation").expect("it is shipped").field(&graph, &given()).expect("it is good");
    let elements = field.on(&mesh, 0).expect("the mesh is good");
    let mut listed = ElementsEvaluator::new(&elements, graph.symbol("t"), &[]).expect("it compiles");
    listed.set_threads(1);
    let mut ours = dynamics(&graph, &mesh, "gravitation", &given());
    let mut state = places.concat();
    state.resize(6 * BODIES, 0.0);
    let (mut rates, mut forces) = (vec![0.0; 6 * BODIES], vec![0.0; 3 * BODIES]);
    vectorized(ByHand(&mut bodies));
    ours.rates(&[0.0], &state, &mut rates).expect("lengths fit");
    let size = rates[3 * BODIES..].iter().fold(0.0_f64, |m, f| m.max(f.abs()));
    for (i, found) in rates[3 * BODIES..].chunks_exact(3).enumerate() {
        let off = (0..3).map(|axis| (found[axis] - bodies.force[axis][i]).abs()).fold(0.0, f64::max);
        assert!(off < 1e-11 * size, "forces by hand differ by {off:e} of {size:e}");
    }
    let [hand, listed, ours] = best([
        &mut || vectorized(ByHand(black_box(&mut bodies))),
        &mut || {
            listed
                .add_forces(0.0, black_box(&state[..3 * BODIES]), black_box(&mut forces))
                .expect("lengths fit")
        },
        &mut || ours.rates(&[0.0], black_box(&state), black_box(&mut rates)).expect("lengths fit"),
    ])
    .map(|time| time / (BODIES * (BODIES - 1) / 2) as f64);
    println!(
        "gravitation of {BODIES} bodies, for each pair: by hand {hand:.2} ns, by a list of pairs {listed:.2} ns, rates {ours:.2} ns ({:.2} of by hand)",
        ours / hand
    );
}

fn lennard_jones() {
    let mesh = Mesh::lattice(Lattice::FaceCentred, 1.6, [14, 14, 13]).expect("atoms");
    let (count, cutoff) = (mesh.nodes().len(), 2.5_f64);
    let near = mesh.nodes().iter().enumerate().map(|(i, a)| {
        let near = |b: &&[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>() < cutoff * cutoff;
        mesh.nodes()[i + 1..].iter().filter(near).count()
    });
    let pairs: usize = near.sum();
    let graph = Graph::new();
    let begun = Instant::now();
    let mut dynamics =
        dynamics(&graph, &mesh, "lennard-jones-cut", &[("cutoff", Value::uniform(&graph, cutoff))]);
    let mut state = mesh.nodes().concat();
    state.resize(6 * count, 0.0);
    let mut rates = vec![0.0; 6 * count];
    dynamics.rates(&[0.0], &state, &mut rates).expect("lengths fit");
    let ready = begun.elapsed().as_secs_f64();
    let mut far = state.clone();
    far.iter_mut().for_each(|x| *x *= 1.5);
    let [same] = best([&mut || {
        dynamics.rates(&[0.0], black_box(&state), black_box(&mut rates)).expect("lengths fit")
    }]);
    // Each of these two finds its pairs anew.
    let [anew] = best([&mut || {
        dynamics.rates(&[0.0], black_box(&far), black_box(&mut rates)).expect("lengths fit");
        dynamics.rates(&[0.0], black_box(&state), black_box(&mut rates)).expect("lengths fit");
    }]);
    println!(
        "Lennard-Jones, {count} atoms, {pairs} pairs within the cut-off: ready in {ready:.2} s, {:.2} ns for each pair, {:.2} ms in all; two states whose pairs are found anew {:.2} ms",
        same / pairs as f64,
        same / 1e6,
        anew / 1e6
    );
}
