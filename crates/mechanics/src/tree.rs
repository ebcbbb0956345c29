//! Trees of particles: each is placed by coordinates of its own, from where another one is. Chains of pendulums are such trees.
//!
//! Their mass matrix is full, but solving with it takes work in proportion to the number of particles. With D = ∂(x − x′)/∂q of
//! a particle at x that hangs on one at x′, and N and E that complete it (Nᵀ D = 0, Eᵀ D = s·1), the force that passes
//! through a link is f = N T + E r/s, where r is the generalized force on its own coordinates, and T is what makes the ends follow each other:
//!
//! $$W\ddot x=Wg+f-\sum_{below}f,\qquad N^T(\ddot x-\ddot x')=N^Tc,\qquad s\,\ddot q=E^T(\ddot x-\ddot x'-c)$$
//!
//! with c = d²(x − x′)/dt² at q̈ = 0. The matrix of the T is that of the constraints Nᵀ(ẍ − ẍ′) = …: as sparse as the tree. (Compare
//! R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 3.2 and chapter 7; D. Baraff, Linear-time dynamics using Lagrange
//! multipliers, SIGGRAPH 1996.)

use crate::equations::rate;
use crate::matrix::{Factor, Symmetric};
use crate::model::Model;
use leastaction_expr::{Entry, Expr, Variables, rebind};
use std::collections::BTreeMap;

/// Particles, each on another one or on the ground, with what does not depend on forces.
#[derive(Clone, Debug)]
pub(crate) struct Tree<'g> {
    links: Vec<Link<'g>>,
    /// Pairs of links that share a particle, each with itself too: how much a force in the second moves the ends of the first apart.
    pairs: Vec<Pair<'g>>,
    tensions: Symmetric<'g>,
    order: Vec<usize>,
    /// The number of tensions before each link.
    first: Vec<usize>,
    coordinates: usize,
    gravity: Vec<Expr<'g>>,
}

/// A particle and how it is placed.
#[derive(Clone, Debug)]
struct Link<'g> {
    /// The link whose particle it hangs on.
    above: Option<usize>,
    /// Its coordinates, and how each moves it.
    own: Vec<usize>,
    moves: Vec<Vec<Expr<'g>>>,
    /// Inertia, and its inverse, for each direction of space.
    inertia: Vec<Expr<'g>>,
    mobility: Vec<Expr<'g>>,
    frame: Frame<'g>,
    /// Nᵀc and Eᵀc.
    bends: [Vec<Expr<'g>>; 2],
}

/// Directions that complete those in which coordinates move a particle.
#[derive(Clone, Debug)]
struct Frame<'g> {
    /// N: across all of them.
    across: Vec<Vec<Expr<'g>>>,
    /// E: across all but one.
    along: Vec<Vec<Expr<'g>>>,
    /// s.
    size: Expr<'g>,
}

/// What forces in one link do to another.
#[derive(Clone, Debug)]
struct Pair<'g> {
    links: [usize; 2],
    /// The directions of the first (N, then E) by those of the second, by rows.
    blocks: Vec<Vec<Option<Expr<'g>>>>,
}

rebind!(Tree { links, pairs, tensions, gravity; order, first, coordinates });
rebind!(Link { moves, inertia, mobility, frame, bends; above, own });
rebind!(Frame { across, along, size });
rebind!(Pair { blocks; links });

impl<'g> Tree<'g> {
    /// The tree of a model whose particles are all that has inertia, if they are one.
    pub(crate) fn find(model: &Model<'g>) -> Option<Tree<'g>> {
        let massive: Vec<_> = model.particles.iter().filter(|p| !p.inertias.is_empty()).collect();
        let dimensions = massive.first()?.position.len();
        if massive.iter().any(|p| p.position.len() != dimensions || p.inertias.len() != dimensions) {
            return None;
        }
        let variables = Variables::new(model.graph, &model.coordinates);
        let zero = model.graph.number(0.0);
        let slopes = massive.iter().map(|particle| {
            let mut slopes: BTreeMap<usize, Vec<Expr<'g>>> = BTreeMap::new();
            for Entry { row, column, value } in variables.jacobian(&particle.position) {
                slopes.entry(column).or_insert_with(|| vec![zero; dimensions])[row] = value;
            }
            slopes
        });
        let slopes: Vec<_> = slopes.collect();
        // Those that depend on fewer coordinates first: what a particle hangs on comes before it.
        let mut order: Vec<usize> = (0..massive.len()).collect();
        order.sort_by_key(|&i| slopes[i].len());
        let mut owner: Vec<Option<usize>> = vec![None; model.coordinates.len()];
        let mut links: Vec<Link<'g>> = Vec::with_capacity(massive.len());
        for (link, &i) in order.iter().enumerate() {
            let above = slopes[i].keys().filter_map(|&column| owner[column]).max();
            let known = above.map(|above| &slopes[order[above]]);
            let shared = |column: &usize| known.is_some_and(|known| known.contains_key(column));
            if known
                .is_some_and(|known| known.iter().any(|(column, slope)| slopes[i].get(column) != Some(slope)))
            {
                return None;
            }
            let own: Vec<usize> = slopes[i].keys().filter(|column| !shared(column)).copied().collect();
            if own.iter().any(|&column| owner[column].is_some()) {
                return None;
            }
            own.iter().for_each(|&column| owner[column] = Some(link));
            let moves: Vec<_> = own.iter().map(|column| slopes[i][column].clone()).collect();
            let frame = Frame::new(&moves)?;
            let above_position = above.map(|above| massive[order[above]].position.as_slice());
            let bends = bends(model, &frame, &own, &moves, &massive[i].position, above_position);
            let inertia = massive[i].inertias.clone();
            let mobility = inertia.iter().map(|&m| 1.0 / m).collect();
            links.push(Link { above, own, moves, inertia, mobility, frame, bends });
        }
        // Where nothing hangs on anything else, the mass matrix is as sparse.
        let whole = owner.iter().all(Option::is_some) && links.iter().any(|link| link.above.is_some());
        whole.then_some(())?;
        Tree::new(links, model)
    }

    fn new(links: Vec<Link<'g>>, model: &Model<'g>) -> Option<Tree<'g>> {
        let first = links.iter().scan(0, |sum, link| {
            *sum += link.frame.across.len();
            Some(*sum - link.frame.across.len())
        });
        let first: Vec<usize> = first.collect();
        let count = links.iter().map(|link| link.frame.across.len()).sum();
        let mut pairs = Vec::new();
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        for (k, link) in links.iter().enumerate() {
            if let Some(above) = link.above {
                // Links that hang on the same particle push the same way.
                for &sibling in &below[above] {
                    let parts = [(1.0, links[above].mobility.as_slice())];
                    pairs.push(Pair::new(&links, [k, sibling], &parts));
                    pairs.push(Pair::new(&links, [sibling, k], &parts));
                }
                below[above].push(k);
                let parts = [(-1.0, links[above].mobility.as_slice())];
                pairs.push(Pair::new(&links, [k, above], &parts));
                pairs.push(Pair::new(&links, [above, k], &parts));
            }
            let mut parts = vec![(1.0, link.mobility.as_slice())];
            parts.extend(link.above.map(|above| (1.0, links[above].mobility.as_slice())));
            pairs.push(Pair::new(&links, [k, k], &parts));
        }
        let mut tensions = Symmetric::zero(count);
        for Pair { links: [k, l], blocks } in &pairs {
            let across = [k, l].map(|&link| links[link].frame.across.len());
            for (i, row) in blocks.iter().take(across[0]).enumerate() {
                for (j, &entry) in row.iter().take(across[1]).enumerate() {
                    if let Some(entry) = entry.filter(|_| first[*k] + i >= first[*l] + j) {
                        tensions.add(first[*k] + i, first[*l] + j, entry);
                    }
                }
            }
        }
        let order = tensions.elimination()?;
        let (coordinates, gravity) = (model.coordinates.len(), model.gravity.clone());
        Some(Tree { links, pairs, tensions, order, first, coordinates, gravity })
    }

    /// The entries of M on and below the diagonal: what hangs on a link moves with it, so that
    ///
    /// $$M_{kl}=D_k^T\Big(\sum_{k\ and\ below}W\Big)D_l$$
    ///
    /// for a link l that k hangs on, and for itself.
    pub(crate) fn masses(&self) -> Vec<((usize, usize), Expr<'g>)> {
        let mut carried: Vec<Option<Vec<Expr<'g>>>> = vec![None; self.links.len()];
        let mut masses = Vec::new();
        for (k, link) in self.links.iter().enumerate().rev() {
            let add = |sum: Vec<Expr<'g>>, more: &[Expr<'g>]| {
                sum.into_iter().zip(more).map(|(a, &b)| a + b).collect::<Vec<_>>()
            };
            let inertia =
                carried[k].take().map_or_else(|| link.inertia.clone(), |sum| add(sum, &link.inertia));
            let alike = inertia.iter().all(|m| *m == inertia[0]);
            let product = |a: &[Expr<'g>], b: &[Expr<'g>]| match alike {
                true => Some(inertia[0] * dot(a, b)?),
                false => dot(&a.iter().zip(&inertia).map(|(&a, &m)| a * m).collect::<Vec<_>>(), b),
            };
            let up = std::iter::successors(Some(k), |&l| self.links[l].above);
            for (j, l) in up.flat_map(|l| (0..self.links[l].own.len()).map(move |j| (j, l))) {
                for (i, a) in link.moves.iter().enumerate().filter(|(i, _)| l != k || *i >= j) {
                    let (row, column) = (link.own[i], self.links[l].own[j]);
                    let entry = product(a, &self.links[l].moves[j]);
                    masses.extend(entry.map(|entry| ((row.max(column), row.min(column)), entry)));
                }
            }
            if let Some(above) = link.above {
                carried[above] = Some(match carried[above].take() {
                    Some(sum) => add(sum, &inertia),
                    None => inertia,
                });
            }
        }
        masses
    }

    /// The solution of M x = b.
    pub(crate) fn solve(&self, b: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        self.follow(b, |_, _, _| None)
    }

    /// The accelerations under gravity and generalized forces.
    pub(crate) fn accelerations(&self, forces: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        // What ends are apart in their accelerations but for forces: gravity pulls those alike that hang on each other.
        self.follow(forces, |link, kind, i| {
            let frame = &link.frame;
            let direction = [&frame.across, &frame.along][kind].get(i)?;
            let fall = if link.above.is_none() { dot(direction, &self.gravity) } else { None };
            let bend = Some(link.bends[kind][i]).filter(|bend| bend.as_number() != Some(0.0));
            match (fall, bend) {
                (Some(fall), Some(bend)) => Some(fall - bend),
                (Some(fall), None) => Some(fall),
                (None, Some(bend)) => Some(-bend),
                (None, None) => None,
            }
        })
    }

    /// What the coordinates do under forces on them, where the ends of links are otherwise this much apart.
    fn follow(
        &self,
        forces: &[Expr<'g>],
        apart: impl Fn(&Link<'g>, usize, usize) -> Option<Expr<'g>>,
    ) -> Option<Vec<Expr<'g>>> {
        // r/s
        let shares = self
            .links
            .iter()
            .map(|link| link.own.iter().map(|&own| forces[own] / link.frame.size).collect::<Vec<_>>());
        let shares: Vec<Vec<Expr<'g>>> = shares.collect();
        let zero = forces.first()?.like(0.0);
        let gap = |kind: usize| {
            let of_link = |link: &Link<'g>| {
                let count = [link.frame.across.len(), link.own.len()][kind];
                (0..count).map(|i| apart(link, kind, i).unwrap_or(zero)).collect::<Vec<_>>()
            };
            self.links.iter().map(of_link).collect::<Vec<_>>()
        };
        let [mut across, mut along] = [gap(0), gap(1)];
        for Pair { links: [k, l], blocks } in &self.pairs {
            let (rows, columns) = (across[*k].len(), across[*l].len());
            for (i, row) in blocks.iter().enumerate() {
                for (&entry, &share) in row.iter().skip(columns).zip(&shares[*l]) {
                    let Some(entry) = entry else { continue };
                    match i.checked_sub(rows) {
                        None => across[*k][i] += entry * share,
                        Some(i) => along[*k][i] += entry * share,
                    }
                }
            }
        }
        let right: Vec<_> = across.iter().flatten().map(|&gap| -gap).collect();
        let tensions = self.factor()?.solve(&right);
        for Pair { links: [k, l], blocks } in &self.pairs {
            let columns = across[*l].len();
            for (i, row) in blocks.iter().skip(across[*k].len()).enumerate() {
                for (j, &entry) in row.iter().take(columns).enumerate() {
                    if let Some(entry) = entry {
                        along[*k][i] += entry * tensions[self.first[*l] + j];
                    }
                }
            }
        }
        let mut accelerations = vec![zero; self.coordinates];
        for (link, along) in self.links.iter().zip(along) {
            link.own.iter().zip(along).for_each(|(&own, gap)| accelerations[own] = gap / link.frame.size);
        }
        Some(accelerations)
    }

    fn factor(&self) -> Option<Factor<'g>> {
        self.tensions.factor(&self.order)
    }
}

impl<'g> Frame<'g> {
    /// What completes these moves; `None` if there is no natural choice.
    fn new(moves: &[Vec<Expr<'g>>]) -> Option<Frame<'g>> {
        let frame = |across, along, size: Option<Expr<'g>>| Some(Frame { across, along, size: size? });
        match moves {
            [d] if d.len() == 1 => frame(vec![], vec![d.clone()], dot(d, d)),
            [d] if d.len() == 2 => frame(vec![vec![-d[1], d[0]]], vec![d.clone()], dot(d, d)),
            [a, b] if a.len() == 2 => {
                let along = vec![vec![b[1], -b[0]], vec![-a[1], a[0]]];
                let size = dot(&along[0], a);
                frame(vec![], along, size)
            }
            [a, b] if a.len() == 3 => {
                let n = cross(a, b);
                let size = dot(&n, &n);
                frame(vec![n.clone()], vec![cross(b, &n), cross(&n, a)], size)
            }
            [a, b, c] if a.len() == 3 => {
                let along = vec![cross(b, c), cross(c, a), cross(a, b)];
                let size = dot(&along[0], a);
                frame(vec![], along, size)
            }
            _ => None,
        }
    }

    /// N, then E.
    fn directions(&self) -> impl Iterator<Item = &Vec<Expr<'g>>> {
        self.across.iter().chain(&self.along)
    }
}

impl<'g> Pair<'g> {
    /// The products of the directions of two links by way of particles, each of which counts so much.
    fn new(links: &[Link<'g>], pair: [usize; 2], particles: &[(f64, &[Expr<'g>])]) -> Pair<'g> {
        let [first, second] = pair.map(|link| &links[link].frame);
        let product = |(i, a): (usize, &Vec<Expr<'g>>), (j, b): (usize, &Vec<Expr<'g>>)| {
            // N and E are orthogonal where they are of one link, as far as space is alike in all directions.
            let crossing = pair[0] == pair[1] && (i < first.across.len()) != (j < first.across.len());
            let parts = particles.iter().filter_map(|&(sign, mobility)| {
                let alike = mobility.iter().all(|m| *m == mobility[0]);
                let product = match (alike, crossing) {
                    (true, true) => return None,
                    (true, false) => dot(a, b)? * mobility[0],
                    (false, _) => dot(&a.iter().zip(mobility).map(|(&a, &m)| a * m).collect::<Vec<_>>(), b)?,
                };
                Some(sign * product)
            });
            parts.reduce(|a, b| a + b)
        };
        let rows = first
            .directions()
            .enumerate()
            .map(|a| second.directions().enumerate().map(|b| product(a, b)).collect());
        Pair { links: pair, blocks: rows.collect() }
    }
}

/// Nᵀc and Eᵀc, where c is the sum of second derivatives of x − x′ times rates: products of directions come first, so that
/// turning vectors fold.
fn bends<'g>(
    model: &Model<'g>,
    frame: &Frame<'g>,
    own: &[usize],
    moves: &[Vec<Expr<'g>>],
    position: &[Expr<'g>],
    above: Option<&[Expr<'g>]>,
) -> [Vec<Expr<'g>>; 2] {
    let time = model.time;
    let coordinates: Vec<_> = own.iter().map(|&i| model.coordinates[i]).collect();
    // By its coordinates, then by time.
    let lag = |d: usize| {
        let passing = position[d].derivative(time);
        above.map_or(passing, |above| passing - above[d].derivative(time))
    };
    let mut slopes: Vec<(Vec<Expr<'g>>, Expr<'g>)> =
        moves.iter().cloned().zip(coordinates.iter().map(|&q| rate(q))).collect();
    slopes.push(((0..position.len()).map(lag).collect(), time.like(1.0)));
    let variables: Vec<_> = coordinates.iter().copied().chain([time]).collect();
    let speeds: Vec<_> = slopes.iter().map(|(_, speed)| *speed).collect();
    let mut curves = Vec::new();
    for (slope, speed) in &slopes {
        for (&variable, &other) in variables.iter().zip(&speeds) {
            let curve: Vec<_> = slope.iter().map(|s| s.derivative(variable)).collect();
            curves.push((curve, *speed * other));
        }
    }
    let along = |direction: &Vec<Expr<'g>>| {
        let parts = curves.iter().filter_map(|(curve, speeds)| Some(dot(direction, curve)? * *speeds));
        parts.reduce(|a, b| a + b).unwrap_or_else(|| time.like(0.0))
    };
    [&frame.across, &frame.along].map(|directions| directions.iter().map(along).collect())
}

/// The scalar product, if it does not fold to zero.
fn dot<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Option<Expr<'g>> {
    let sum = a.iter().zip(b).map(|(&a, &b)| a * b).reduce(|a, b| a + b)?;
    (sum.as_number() != Some(0.0)).then_some(sum)
}

fn cross<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Vec<Expr<'g>> {
    (0..3).map(|d| a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3]).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic
    use super::*;
    use leastaction_expr::Graph;

    /// The number of tensions, if it is a tree.
    fn tensions(write: fn(&mut Model<'_>)) -> Option<usize> {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        write(&mut model);
        Tree::find(&model).map(|tree| tree.tensions.size())
    }

    /// A weight on a rod at an angle to the vertical, from some place.
    fn hang<'g>(
        model: &mut Model<'g>,
        name: &str,
        [x, y]: [Expr<'g>; 2],
        length: f64,
        angle: Expr<'g>,
    ) -> [Expr<'g>; 2] {
        let place = [x + length * angle.sin(), y - length * angle.cos()];
        model.particle(name, 1.5, place);
        place
    }

    #[test]
    fn trees_are_told_from_what_looks_like_them() {
        let on_two = |model: &mut Model<'_>| {
            let [a, b, c] = model.coordinates(["a", "b", "c"]);
            let ground = [model.number(0.0); 2];
            let place = hang(model, "first", ground, 1.0, a);
            hang(model, "second", place, 2.0, b);
            hang(model, "third", place, 1.0, c);
        };
        assert_eq!(tensions(on_two), Some(3), "one in each rod");
        let free = |model: &mut Model<'_>| {
            let [x, y, a] = model.coordinates(["x", "y", "a"]);
            model.particle("first", 1.0, [x, y]);
            hang(model, "second", [x, y], 1.0, a);
        };
        assert_eq!(tensions(free), Some(1), "what is free has none");
        let on_one_rod = |model: &mut Model<'_>| {
            let [a] = model.coordinates(["a"]);
            let ground = [model.number(0.0); 2];
            hang(model, "first", ground, 1.0, a);
            hang(model, "second", ground, 2.0, a);
        };
        assert_eq!(tensions(on_one_rod), None);
        let folded = |model: &mut Model<'_>| {
            let [a, b] = model.coordinates(["a", "b"]);
            let ground = [model.number(0.0); 2];
            let place = hang(model, "first", ground, 1.0, a);
            hang(model, "second", place, 1.0, a + b);
        };
        assert_eq!(tensions(folded), None, "the second angle is not its own");
        let ring = |model: &mut Model<'_>| {
            let [a, b, c] = model.coordinates(["a", "b", "c"]);
            let ground = [model.number(0.0); 2];
            let first = hang(model, "first", ground, 1.0, a);
            let second = hang(model, "second", ground, 2.0, b);
            model.particle("between", 1.0, [first[0] + second[0] + c, first[1]]);
        };
        assert_eq!(tensions(ring), None, "it hangs on two");
        let idle = |model: &mut Model<'_>| {
            let [a, _] = model.coordinates(["a", "b"]);
            let ground = [model.number(0.0); 2];
            hang(model, "first", ground, 1.0, a);
        };
        assert_eq!(tensions(idle), None, "a coordinate moves nothing");
    }

    #[test]
    fn tensions_solve_with_the_mass_matrix() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let mut places = vec![[graph.number(0.0); 2]];
        let mut at = Vec::new();
        for i in 0..9usize {
            let angle = model.coordinate(&format!("a{i}"));
            let above = places[[0, 1, 1, 2, 2, 2, 5, 7, 7][i]];
            places.push(hang(&mut model, &format!("weight{i}"), above, 1.0 + 0.2 * i as f64, angle));
            at.push((angle, (3.0 * i as f64).sin()));
        }
        let tree = Tree::find(&model).unwrap();
        let force: Vec<_> = (0..9).map(|i| graph.number(1.0 + (5.0 * f64::from(i)).cos())).collect();
        let solution = tree.solve(&force).unwrap();
        let equations = model.equations().unwrap();
        let crate::Statement::Lagrangian(lagrangian) = &equations.statement else { unreachable!() };
        for (i, force) in force.iter().enumerate() {
            let row = (0..9).filter_map(|j| Some(lagrangian.mass.get(i, j)? * solution[j]));
            let difference = (graph.sum(row) - *force).eval(&at).unwrap();
            assert!(difference.abs() < 1e-13, "{i}: {difference:e}");
        }
    }
}
