//! What does a tetrahedron cost? Forces and Hessian products of the St. Venant–Kirchhoff material on boxes, in nanoseconds for each
//! tetrahedron, beside plain Rust written by hand, in turn in one run; the best of many rounds counts.
//!
//! A number is the largest count of tetrahedra.

use leastaction_expr::Graph;
use leastaction_field::{Mesh, lame, shipped};
use leastaction_mechanics::ElementsEvaluator;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// All candidates of one size are run in turn for this long.
const TIME: Duration = Duration::from_secs(4);
/// Cells along an edge of the box.
const CELLS: [u32; 4] = [6, 12, 26, 55];

/// Forces by hand: what a person writes first, with the inverse of the rest shape and the volume kept for each tetrahedron.
struct ByHand {
    tetrahedra: Vec<[u32; 4]>,
    /// The rows of the inverse, and the volume.
    rest: Vec<([[f64; 3]; 3], f64)>,
    lambda: f64,
    mu: f64,
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl ByHand {
    fn new(mesh: &Mesh, lambda: f64, mu: f64) -> ByHand {
        let rest = mesh.tetrahedra().iter().map(|nodes| {
            let [a, b, c, d] = nodes.map(|node| mesh.nodes()[node as usize]);
            let [b, c, d] = [minus(b, a), minus(c, a), minus(d, a)];
            let determinant = dot(b, cross(c, d));
            let rows = [cross(c, d), cross(d, b), cross(b, c)].map(|row| row.map(|x| x / determinant));
            (rows, determinant / 6.0)
        });
        ByHand { tetrahedra: mesh.tetrahedra().to_vec(), rest: rest.collect(), lambda, mu }
    }

    fn add_forces(&self, q: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (nodes, (rows, volume)) in self.tetrahedra.iter().zip(&self.rest) {
            let nodes = nodes.map(|node| node as usize);
            let [a, b, c, d] = nodes.map(|node| q[node]);
            let edges = [minus(b, a), minus(c, a), minus(d, a)];
            let mut f = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    f[i][j] = edges[0][i] * rows[0][j] + edges[1][i] * rows[1][j] + edges[2][i] * rows[2][j];
                }
            }
            let mut stress = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..=i {
                    let metric = f[0][i] * f[0][j] + f[1][i] * f[1][j] + f[2][i] * f[2][j];
                    stress[i][j] = self.mu * (metric - f64::from(u8::from(i == j)));
                    stress[j][i] = stress[i][j];
                }
            }
            let trace = self.lambda / (2.0 * self.mu) * (stress[0][0] + stress[1][1] + stress[2][2]);
            (0..3).for_each(|i| stress[i][i] += trace);
            let mut first = [0.0; 3];
            let mut p = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    p[i][j] = f[i][0] * stress[0][j] + f[i][1] * stress[1][j] + f[i][2] * stress[2][j];
                }
            }
            for k in 0..3 {
                for i in 0..3 {
                    let force =
                        -volume * (p[i][0] * rows[k][0] + p[i][1] * rows[k][1] + p[i][2] * rows[k][2]);
                    out[nodes[k + 1]][i] += force;
                    first[i] -= force;
                }
            }
            (0..3).for_each(|i| out[nodes[0]][i] += first[i]);
        }
    }
}

fn main() {
    let most = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(usize::MAX);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "| tetrahedra | by hand | one thread | as it comes, of {threads} threads | Hessian product | to the force | bytes | ready, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for cells in CELLS {
        let mesh = Mesh::cuboid([1.0; 3], [cells; 3]).expect("the box is good");
        let count = mesh.tetrahedra().len();
        if count > most {
            break;
        }
        let (lambda, mu) = lame(1000.0, 0.3);
        let by_hand = ByHand::new(&mesh, lambda, mu);
        let graph = Graph::new();
        let [lambda_, mu_] = graph.symbols(["lambda", "mu"]);
        let begun = Instant::now();
        let card = shipped("st-venant-kirchhoff").expect("it is shipped");
        let field =
            card.field(&graph, &[("lambda", lambda_.into()), ("mu", mu_.into())]).expect("it is good");
        let elements = field.on(&mesh, 0).expect("the mesh is good");
        let parameters = [(lambda_, lambda), (mu_, mu)];
        let mut ours =
            ElementsEvaluator::new(&elements, graph.symbol("t"), &parameters).expect("it compiles");
        let ready = begun.elapsed().as_secs_f64();
        let mut many = ours.clone();
        ours.set_threads(1);

        let q: Vec<[f64; 3]> =
            mesh.nodes().iter().map(|x| [x[0] + 0.1 * x[1] * x[2], x[1] - 0.1 * x[0], 1.1 * x[2]]).collect();
        let flat = q.as_flattened();
        let d: Vec<f64> = (0..flat.len()).map(|i| (i as f64).sin()).collect();
        let mut expected = vec![[0.0; 3]; q.len()];
        by_hand.add_forces(&q, &mut expected);
        let mut found = vec![0.0; flat.len()];
        ours.add_forces(0.0, flat, &mut found).expect("lengths fit");
        let size = expected.as_flattened().iter().fold(0.0f64, |m, f| m.max(f.abs()));
        let off = found.iter().zip(expected.as_flattened()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off <= 1e-11 * size, "forces by hand differ by {off:e} of {size:e}");

        let mut best = [f64::MAX; 4];
        let begun = Instant::now();
        while begun.elapsed() < TIME {
            let mut timed = |which: usize, run: &mut dyn FnMut()| {
                // Small meshes are run several times, so that a sample is not too short.
                let times = (20_000 / count).max(1);
                let begun = Instant::now();
                (0..times).for_each(|_| run());
                let each = begun.elapsed().as_secs_f64() / (times * count) as f64 * 1e9;
                best[which] = best[which].min(each);
            };
            timed(0, &mut || by_hand.add_forces(black_box(&q), black_box(&mut expected)));
            timed(1, &mut || {
                ours.add_forces(0.0, black_box(flat), black_box(&mut found)).expect("lengths fit")
            });
            timed(2, &mut || {
                many.add_forces(0.0, black_box(flat), black_box(&mut found)).expect("lengths fit")
            });
            timed(3, &mut || {
                ours.add_force_changes(0.0, black_box(flat), black_box(&d), black_box(&mut found))
                    .expect("lengths fit");
            });
        }
        let [hand, one, all, product] = best;
        let (ratio, bytes, ready) = (product / one, ours.bytes_per_element(), 1e3 * ready);
        println!(
            "| {count} | {hand:.1} ns | {one:.1} ns | {all:.1} ns | {product:.1} ns | {ratio:.2} | {bytes:.0} | {ready:.0} |"
        );
        if cells == CELLS[0] {
            eprintln!("instructions of an energy, forces, a Hessian product: {:?}", ours.instructions());
        }
    }
}
