//! Shapes and what is known of them, and meshes that are refused.

use leastaction_field::{CellKind, Group, Lattice, Meeting, Mesh, MeshError, ShapeError};

/// Relative to the value.
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
}

#[test]
fn boxes_follow_kuhns_rule() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8]).unwrap();
    mesh.check().unwrap();
    assert_eq!((mesh.nodes().len(), mesh.tetrahedra().len()), (225, 768));
    assert_eq!(mesh.nodes()[212], [0.5, 0.5, 2.0]);
    // The first cell, written out from the rule.
    let [x, y, z] = [1, 5, 25];
    let first = [
        [0, x, x + y, x + y + z],
        [0, x, x + y + z, x + z],
        [0, y, x + y + z, x + y],
        [0, y, y + z, x + y + z],
        [0, z, x + z, x + y + z],
        [0, z, x + y + z, y + z],
    ];
    assert_eq!(mesh.tetrahedra()[..6], first);
    assert!(mesh.volumes().iter().all(|volume| (volume - 1.0 / 384.0).abs() < 1e-16));
    // Node (i, j, k) stands where it should, also where all numbers of cells differ.
    let other = Mesh::cuboid([1.0, 1.5, 2.0], [2, 3, 4]).unwrap();
    other.check().unwrap();
    close(other.volume(), 3.0, 1e-14);
    let [i, j, k] = [1, 2, 3];
    assert_eq!(other.nodes()[i + 3 * (j + 4 * k)], [0.5, 1.0, 1.5]);
    // Two triangles for each square of the surface, and every edge of it twice.
    let surface = mesh.surface();
    assert_eq!(surface.len(), 2 * (2 * 16 + 4 * 32));
    let skin = Mesh::new(mesh.nodes().to_vec()).unwrap().with_triangles(surface).unwrap();
    assert!(skin.is_closed());
    close(skin.volume(), 2.0, 1e-14);
    close(skin.area(), 10.0, 1e-14);
    // Euler's characteristic of a ball is 1, with the faces counted from those inside and outside.
    let faces = (4 * mesh.tetrahedra().len() + skin.triangles().len()) / 2;
    let characteristic = 225 - mesh.edges().len() as i64 + faces as i64 - 768;
    assert_eq!(characteristic, 1);
}

#[test]
fn spheres_have_the_volumes_and_areas_of_the_reference() {
    let known = [
        (2.5361507101204, 9.5745413832739),
        (3.6587122085122, 11.665931391718),
        (4.0470446799788, 12.329848595235),
        (4.1527408170931, 12.50649273397),
    ];
    for (level, (volume, area)) in (0..).zip(known) {
        let sphere = Mesh::sphere(1.0, level).unwrap();
        sphere.check().unwrap();
        assert!(sphere.is_closed() && sphere.rim().is_empty());
        assert_eq!(sphere.triangles().len(), 20 << (2 * level));
        assert_eq!(sphere.hinges().len(), 30 << (2 * level));
        close(sphere.volume(), volume, 1e-13);
        close(sphere.area(), area, 1e-13);
        let ball = Mesh::ball(1.0, level).unwrap();
        ball.check().unwrap();
        assert_eq!(ball.tetrahedra().len(), 20 << (3 * level));
        close(ball.volume(), volume, 1e-12);
        assert_eq!(ball.surface().len(), sphere.triangles().len());
        // No cell is much smaller than the others.
        let volumes = ball.volumes();
        let least = volumes.iter().fold(f64::MAX, |a, &b| a.min(b));
        assert!(least > 0.3 * volume / volumes.len() as f64, "level {level}: {least}");
    }
}

#[test]
fn plates_ropes_and_lattices() {
    let plate = Mesh::plate([2.0, 1.0], [6, 4]).unwrap();
    plate.check().unwrap();
    close(plate.area(), 2.0, 1e-15);
    assert!(!plate.is_closed());
    // Every edge is a hinge or on the rim.
    assert_eq!(plate.hinges().len() + plate.rim().len(), plate.edges().len());
    for [a, b, c, d] in plate.hinges() {
        let turned = |t: [u32; 3]| {
            plate.triangles().iter().any(|&[x, y, z]| [[x, y, z], [y, z, x], [z, x, y]].contains(&t))
        };
        assert!(turned([a, b, c]) && turned([b, a, d]));
    }
    let rope = Mesh::rope([1.0, 2.0, 3.0], [1.0, 2.0, -1.0], 7).unwrap();
    rope.check().unwrap();
    assert_eq!((rope.nodes()[0], rope.nodes()[7]), ([1.0, 2.0, 3.0], [1.0, 2.0, -1.0]));
    assert_eq!((rope.bends()[0], rope.group_nodes("end")), ([0, 1, 2], Some(vec![7])));
    // The number of nearest neighbours of an atom inside, and how far they are.
    for (lattice, neighbours, apart) in [
        (Lattice::Simple, 6, 1.0),
        (Lattice::BodyCentred, 8, 0.75f64.sqrt()),
        (Lattice::FaceCentred, 12, 0.5f64.sqrt()),
    ] {
        let atoms = Mesh::lattice(lattice, 2.0, [3, 3, 3]).unwrap();
        atoms.check().unwrap();
        let middle = [2.0, 2.0, 2.0];
        assert!(atoms.nodes().contains(&middle));
        let distance = |at: &[f64; 3]| (0..3).map(|i| (at[i] - middle[i]).powi(2)).sum::<f64>().sqrt();
        let near = atoms.nodes().iter().map(distance).filter(|d| *d > 0.0 && *d < 2.0 * apart * 1.0001);
        assert_eq!(near.count(), neighbours, "{}", lattice.name());
    }
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let message = |shape: Result<Mesh, ShapeError>| shape.unwrap_err().to_string();
    assert_eq!(
        message(Mesh::cuboid([1.0, -1.0, 1.0], [1; 3])),
        "the size of a box is -1: it must be positive and finite"
    );
    assert_eq!(
        message(Mesh::plate([1.0, f64::NAN], [1; 2])),
        "the size of a plate is NaN: it must be positive and finite"
    );
    assert_eq!(message(Mesh::cuboid([1.0; 3], [1, 0, 1])), "a box needs at least one of its cells");
    assert!(matches!(Mesh::cuboid([1.0; 3], [u32::MAX; 3]), Err(ShapeError::TooFine { .. })));
    assert!(matches!(Mesh::sphere(1.0, u32::MAX), Err(ShapeError::TooFine { .. })));
    assert!(matches!(Mesh::ball(1.0, 12), Err(ShapeError::TooFine { .. })));
    assert!(matches!(Mesh::rope([1.0; 3], [1.0; 3], 3), Err(ShapeError::Size { .. })));
    assert!(matches!(Mesh::lattice(Lattice::Simple, 0.0, [1; 3]), Err(ShapeError::Size { .. })));
}

/// Corners of the unit cube, by their bits.
fn corners() -> Vec<[f64; 3]> {
    (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect()
}

#[test]
fn meshes_that_are_no_body_are_refused_with_the_element() {
    let cube = || Mesh::new(corners()).unwrap();
    let tetrahedra = |list: &[[u32; 4]]| cube().with_tetrahedra(list.to_vec()).map(Mesh::without_loose_nodes);
    let triangles = |list: &[[u32; 3]]| cube().with_triangles(list.to_vec()).map(Mesh::without_loose_nodes);
    let bad = |mesh: Result<Mesh, MeshError>| mesh.and_then(|mesh| mesh.check()).unwrap_err();

    let error = bad(tetrahedra(&[[0, 1, 2, 4], [0, 1, 2, 8]]));
    assert_eq!(error.to_string(), "tetrahedron 1 has node 8, and there are 8, which are counted from 0");
    let error = bad(tetrahedra(&[[0, 1, 2, 4], [3, 1, 3, 4]]));
    assert_eq!(error, MeshError::Repeated { kind: CellKind::Tetrahedron, cell: 1, node: 3 });
    let error = bad(tetrahedra(&[[0, 1, 2, 4], [1, 2, 3, 4]]));
    assert_eq!(error, MeshError::Inverted { tetrahedron: 1, volume: -1.0 / 6.0 });
    assert!(error.to_string().ends_with("it is inside out; swap two of its nodes"));
    let error = bad(tetrahedra(&[[0, 1, 2, 3]]));
    assert!(
        matches!(error, MeshError::Inverted { tetrahedron: 0, volume } if volume.abs() < 1e-16),
        "{error}"
    );
    let error = bad(tetrahedra(&[[0, 1, 2, 4], [1, 2, 0, 4]]));
    assert_eq!(error, MeshError::Doubled { kind: CellKind::Tetrahedron, cell: 1, other: 0 });
    // Two tetrahedra that touch in one edge, and in one node.
    let mut nodes = corners();
    nodes.extend([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]);
    let edge = Mesh::new(nodes).unwrap().with_tetrahedra(vec![[0, 1, 2, 4], [0, 1, 8, 9]]);
    let error = bad(edge.map(Mesh::without_loose_nodes));
    let reason = Meeting::Edge([0, 1]);
    assert_eq!(error, MeshError::NotManifold { kind: CellKind::Tetrahedron, cell: 1, reason });
    let mut nodes = corners();
    nodes.extend([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]);
    let touching = Mesh::new(nodes).unwrap().with_tetrahedra(vec![[0, 1, 2, 4], [0, 8, 10, 9]]);
    let error = bad(touching.map(Mesh::without_loose_nodes));
    assert!(matches!(error, MeshError::NotManifold { cell: 1, reason: Meeting::Node(0), .. }), "{error}");
    // Three tetrahedra at one face.
    let mut nodes = corners();
    nodes.push([0.1, 0.1, 0.7]);
    let face = Mesh::new(nodes).unwrap().with_tetrahedra(vec![[0, 1, 2, 4], [0, 1, 2, 8], [0, 1, 2, 7]]);
    let error = bad(face.map(Mesh::without_loose_nodes));
    let reason = Meeting::Face([0, 1, 2]);
    assert_eq!(error, MeshError::NotManifold { kind: CellKind::Tetrahedron, cell: 2, reason });

    let error = bad(triangles(&[[0, 1, 2], [0, 1, 4]]));
    assert_eq!(error, MeshError::Inconsistent { triangle: 1, other: 0 });
    let error = bad(triangles(&[[0, 1, 2], [1, 0, 4], [0, 1, 7]]));
    let reason = Meeting::Edge([0, 1]);
    assert_eq!(error, MeshError::NotManifold { kind: CellKind::Triangle, cell: 2, reason });
    let error = bad(triangles(&[[0, 1, 2], [0, 4, 7]]));
    assert!(matches!(error, MeshError::NotManifold { cell: 1, reason: Meeting::Node(0), .. }), "{error}");
    let error = bad(triangles(&[[0, 1, 3], [4, 5, 6]]));
    assert_eq!(error, MeshError::Disconnected { kind: CellKind::Triangle, cell: 1, parts: 2 });
    let line = Mesh::new(vec![[0.0; 3], [1.0; 3], [3.0; 3]]).unwrap().with_triangles(vec![[0, 1, 2]]);
    assert_eq!(bad(line), MeshError::Degenerate { kind: CellKind::Triangle, cell: 0 });
    let error = bad(cube().with_tetrahedra(vec![[0, 1, 2, 4]]));
    assert_eq!(error, MeshError::Loose { node: 3 });

    let error = Mesh::new(vec![[0.0; 3], [0.0, f64::INFINITY, 1.0]]).unwrap_err();
    assert_eq!(error.to_string(), "node 1 is at (0, inf, 1): coordinates must be finite");
    let group = Group { name: "face".into(), kind: CellKind::Triangle, members: vec![0] };
    assert!(matches!(cube().with_group(group), Err(MeshError::NoMember { member: 0, count: 0, .. })));
}

#[test]
fn parts_are_counted_whatever_the_order_of_cells() {
    let line = Mesh::new((0..10).map(|i| [f64::from(i), 0.0, 0.0]).collect()).unwrap();
    let mesh = line.with_segments(vec![[8, 9], [3, 2], [6, 7], [0, 1], [7, 8], [1, 3], [4, 5]]).unwrap();
    let (parts, count) = mesh.parts();
    assert_eq!((parts, count), (vec![0, 0, 0, 0, 1, 1, 2, 2, 2, 2], 3));
}
