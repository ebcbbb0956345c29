//! The energy of a field at the nodes of its mesh, for pictures.

use leastaction_field::{Mesh, Over};

/// What the energies of elements are at nodes: the energy of the elements at a node for each of their length, area or volume at rest. Elements that have
/// none, such as pairs, give each of their nodes an equal share.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The field.
    pub field: String,
    /// How many nodes the mesh has.
    count: usize,
    /// The nodes of each element, of which there are so many.
    nodes: Vec<u32>,
    arity: usize,
    /// What elements are divided by; none if their energy is shared.
    sizes: Option<Vec<f64>>,
}

impl Density {
    /// That of a field on elements of a mesh, by the nodes of each.
    #[must_use]
    pub fn new(field: &str, over: Over, nodes: &[u32], mesh: &Mesh) -> Density {
        Density {
            field: field.to_owned(),
            count: mesh.nodes().len(),
            nodes: nodes.to_vec(),
            arity: over.arity(),
            sizes: over.sizes(nodes, mesh),
        }
    }

    /// What it is at each node, by the energy of each element. Nodes without elements have none.
    #[must_use]
    pub fn at_nodes(&self, energies: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.count];
        for (element, (nodes, energy)) in self.nodes.chunks_exact(self.arity).zip(energies).enumerate() {
            let (energy, size) = match &self.sizes {
                Some(sizes) => (*energy, sizes[element]),
                None => (energy / self.arity as f64, 0.0),
            };
            for &node in nodes {
                let (sum, whole) = &mut sums[node as usize];
                *sum += energy;
                *whole += size;
            }
        }
        sums.into_iter().map(|(sum, whole)| if whole > 0.0 { sum / whole } else { sum }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Density;
    use leastaction_field::{Mesh, Over};

    #[test]
    fn energies_are_divided_by_what_elements_fill() {
        let mesh = Mesh::cuboid([2.0, 1.0, 1.0], [2, 1, 1]).expect("a block");
        let nodes = Over::Tetrahedra.of(&mesh);
        let density = Density::new("elastic", Over::Tetrahedra, &nodes, &mesh);
        // An energy of 3 for each volume, of which there is 1/6 in each tetrahedron; then none in the second cell.
        assert!(density.at_nodes(&[0.5; 12]).iter().all(|energy| (energy - 3.0).abs() < 1e-14));
        let half: Vec<f64> = (0..12).map(|i| if i < 6 { 0.5 } else { 0.0 }).collect();
        let found = density.at_nodes(&half);
        for (node, energy) in mesh.nodes().iter().zip(&found) {
            let within = match node[0] {
                0.0 => 3.0..=3.0,
                2.0 => 0.0..=0.0,
                _ => 0.5..=2.5,
            };
            assert!(within.contains(&(1e12 * energy).round().mul_add(1e-12, 0.0)), "{node:?} {energy}");
        }
    }

    #[test]
    fn pairs_share_their_energy_among_nodes() {
        let atoms = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]).expect("atoms");
        let density = Density::new("bonds", Over::Pairs, &[0, 1, 0, 2], &atoms);
        let found = density.at_nodes(&[-1.0, -0.5]);
        assert_eq!(found, [-0.75, -0.5, -0.25]);
        // They add up to the energy of all.
        assert_eq!(found.iter().sum::<f64>(), -1.5);
    }

    #[test]
    fn edges_have_a_length() {
        let rope = Mesh::rope([0.0; 3], [4.0, 0.0, 0.0], 2).expect("a rope");
        let density = Density::new("stretch", Over::Edges, &[0, 1, 1, 2], &rope);
        assert_eq!(density.at_nodes(&[6.0, 2.0]), [3.0, 2.0, 1.0]);
    }
}
