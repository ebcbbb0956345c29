//! Solid balls of tetrahedra: an icosahedron with its centre, refined again and again.

use super::ShapeError;
use super::sphere::{Middles, check, icosahedron};
use crate::geometry::{length, minus};
use crate::mesh::Mesh;

impl Mesh {
    /// A solid ball round the origin: the twenty tetrahedra between the centre and the faces of an icosahedron, each cut into eight so many
    /// times. New nodes are moved to the mean of the radii of the two they are between, so that nodes lie on shells, and the surface is
    /// that of [`Mesh::sphere`]. It has 20·8ˡ tetrahedra.
    ///
    /// ```
    /// use leastaction_field::Mesh;
    /// let (ball, sphere) = (Mesh::ball(2.0, 2)?, Mesh::sphere(2.0, 2)?);
    /// assert!((ball.volume() - sphere.volume()).abs() < 1e-12);
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if the radius is not positive, or the level too fine.
    pub fn ball(radius: f64, level: u32) -> Result<Mesh, ShapeError> {
        check("ball", radius, level, 8)?;
        let (mut nodes, faces) = icosahedron();
        let centre = nodes.len() as u32;
        nodes.push([0.0; 3]);
        let mut cells: Vec<[u32; 4]> = faces.into_iter().map(|[a, b, c]| [centre, a, b, c]).collect();
        for _ in 0..level {
            let mut middles = Middles::new(&mut nodes);
            cells = cells.iter().flat_map(|&cell| refined(cell, &mut middles)).collect();
        }
        nodes.iter_mut().for_each(|node| *node = node.map(|x| x * radius));
        Ok(Mesh::new(nodes)?.with_tetrahedra(cells)?)
    }
}

/// A tetrahedron in eight: one at each corner, and four round the shortest diagonal of the octahedron that is left (J. Bey,
/// doi:10.1007/BF02238487).
fn refined([a, b, c, d]: [u32; 4], middles: &mut Middles<'_>) -> [[u32; 4]; 8] {
    let [ab, ac, ad, bc, bd, cd] =
        [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)].map(|(a, b)| middles.between(a, b));
    let apart = |a: u32, b: u32| length(minus(middles.nodes[a as usize], middles.nodes[b as usize]));
    // Each diagonal, and the four nodes round it, clockwise seen from its end.
    let diagonals = [(ab, cd, [ac, bc, bd, ad]), (ac, bd, [ab, ad, cd, bc]), (ad, bc, [ab, bd, cd, ac])];
    let shorter = |x: &&(u32, u32, _), y: &&(u32, u32, _)| apart(x.0, x.1).total_cmp(&apart(y.0, y.1));
    let &(from, to, [p, q, r, s]) = diagonals.iter().min_by(shorter).unwrap_or(&diagonals[0]);
    [
        [a, ab, ac, ad],
        [ab, b, bc, bd],
        [ac, bc, c, cd],
        [ad, bd, cd, d],
        [from, to, q, p],
        [from, to, r, q],
        [from, to, s, r],
        [from, to, p, s],
    ]
}
