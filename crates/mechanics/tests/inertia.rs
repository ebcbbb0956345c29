//! Inertias of shapes, meshes and compounds, against textbooks and against each other.

use leastaction_mechanics::{Inertia, InertiaError, Matter, Rotation, Surface, SurfaceError};
use std::f64::consts::PI;
use std::fmt::Write;

type Matrix = [[f64; 3]; 3];

#[track_caller]
fn near(found: &Matrix, expected: &Matrix, tolerance: f64) {
    for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((a - b).abs() <= tolerance, "{found:?} is not {expected:?}");
    }
}

fn diagonal([a, b, c]: [f64; 3]) -> Matrix {
    [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
}

/// Moments of inertia from the tables, not second moments.
#[test]
fn shapes_have_the_moments_of_the_textbook() {
    let (m, a, b, c, r, h) = (3.0, 0.7, 1.1, 1.9, 0.6, 1.3);
    let tables = [
        (Inertia::rod(m, a), [0.0, m * a * a / 12.0, m * a * a / 12.0]),
        (Inertia::disk(m, r), [m * r * r / 4.0, m * r * r / 4.0, m * r * r / 2.0]),
        (Inertia::plate(m, [a, b]), [m * b * b / 12.0, m * a * a / 12.0, m * (a * a + b * b) / 12.0]),
        (
            Inertia::cuboid(m, [a, b, c]),
            [m * (b * b + c * c) / 12.0, m * (a * a + c * c) / 12.0, m * (a * a + b * b) / 12.0],
        ),
        (Inertia::sphere(m, r), [0.4 * m * r * r; 3]),
        (
            Inertia::cylinder(m, r, h),
            [m * (3.0 * r * r + h * h) / 12.0, m * (3.0 * r * r + h * h) / 12.0, m * r * r / 2.0],
        ),
        (
            Inertia::cone(m, r, h),
            [3.0 / 80.0 * m * (4.0 * r * r + h * h), 3.0 / 80.0 * m * (4.0 * r * r + h * h), 0.3 * m * r * r],
        ),
    ];
    for (inertia, moments) in tables {
        let inertia = inertia.unwrap();
        near(&inertia.about_centre(), &diagonal(moments), 1e-15);
        // By its moments of inertia it is the same body.
        let again = Inertia::principal(m, moments).unwrap();
        near(&again.second(), &inertia.second(), 1e-15);
        assert_eq!((inertia.mass(), inertia.centre()), (m, [0.0; 3]));
    }
}

#[test]
fn density_times_size_is_mass() {
    let (a, b, c, r, h) = (0.7, 1.1, 1.9, 0.6, 1.3);
    let rho = Matter::Density(2.0);
    let masses = [
        (Inertia::rod(rho, a), a),
        (Inertia::disk(rho, r), PI * r * r),
        (Inertia::plate(rho, [a, b]), a * b),
        (Inertia::cuboid(rho, [a, b, c]), a * b * c),
        (Inertia::sphere(rho, r), 4.0 / 3.0 * PI * r * r * r),
        (Inertia::cylinder(rho, r, h), PI * r * r * h),
        (Inertia::cone(rho, r, h), PI * r * r * h / 3.0),
    ];
    for (inertia, size) in masses {
        assert!((inertia.unwrap().mass() - 2.0 * size).abs() < 1e-15);
    }
}

/// A solid of revolution about z as a surface: rings of n points at the given (radius, height).
fn revolved(profile: &[(f64, f64)], n: usize) -> Surface {
    let mut text = String::new();
    for &(r, z) in profile {
        for k in 0..n {
            let (sin, cos) = (2.0 * PI * k as f64 / n as f64).sin_cos();
            writeln!(text, "v {} {} {z}", r * cos, r * sin).unwrap();
        }
    }
    for ring in 0..profile.len() - 1 {
        for k in 0..n {
            let (a, b) = (ring * n + k + 1, ring * n + (k + 1) % n + 1);
            writeln!(text, "f {a} {b} {} {}", b + n, a + n).unwrap();
        }
    }
    // Two lids, each one polygon.
    let last = (profile.len() - 1) * n;
    let bottom: Vec<String> = (1..=n).rev().map(|i| i.to_string()).collect();
    let top: Vec<String> = (1..=n).map(|i| (last + i).to_string()).collect();
    writeln!(text, "f {}\nf {}", bottom.join(" "), top.join(" ")).unwrap();
    Surface::from_obj(&text).unwrap()
}

/// Meshes of 1/n² error: with two of them Richardson's extrapolation leaves 1/n⁴.
#[test]
fn round_shapes_are_the_limits_of_their_meshes() {
    let (rho, r, h) = (Matter::Density(1.5), 0.6, 1.3);
    let sphere = |n: usize| {
        let at = |k: usize| PI * k as f64 / n as f64;
        let rings: Vec<_> = (0..=n).map(|k| (r * at(k).sin(), -r * at(k).cos())).collect();
        revolved(&rings, 2 * n)
    };
    type Family<'a> = (&'a dyn Fn(usize) -> Surface, Inertia);
    let families: [Family<'_>; 3] = [
        (&|n| revolved(&[(r, -h / 2.0), (r, h / 2.0)], n), Inertia::cylinder(rho, r, h).unwrap()),
        (&|n| revolved(&[(r, -h / 4.0), (0.0, 0.75 * h)], n), Inertia::cone(rho, r, h).unwrap()),
        (&sphere, Inertia::sphere(rho, r).unwrap()),
    ];
    for (mesh, exact) in families {
        let [coarse, fine] = [40, 80].map(|n| mesh(n).inertia(rho).unwrap());
        let limit = |a: f64, b: f64| (4.0 * b - a) / 3.0;
        assert!((limit(coarse.mass(), fine.mass()) / exact.mass() - 1.0).abs() < 1e-5);
        let (a, b, e) = (coarse.about_centre(), fine.about_centre(), exact.about_centre());
        for i in 0..3 {
            for j in 0..3 {
                assert!((limit(a[i][j], b[i][j]) - e[i][j]).abs() < 3e-5 * e[0][0], "{i}{j}");
            }
            assert!((fine.centre()[i] - exact.centre()[i]).abs() < 1e-14);
        }
    }
}

const BOX: &str = "# a box, from corner (0, 0, 0) to (2, 3, 5)
o box
v 0 0 0
v 2 0 0 1.0
v 2 3 0
v 0 3 0
v 0 0 5
v 2 0 5
v 2 3 5
v 0 3 5
vn 0 0 1
f 4//1 3//1 2//1 1//1
f -4 -3 -2 \\
  -1
f 1/1/1 2/2/2 6/3/3 5/4/4
f 2 3 7 6   # a comment
f 3 4 8 7
f 4 1 5 8
";

#[test]
fn a_box_of_quadrilaterals_is_exact() {
    let surface = Surface::from_obj(BOX).unwrap();
    assert!((surface.volume() - 30.0).abs() < 1e-14);
    let found = surface.inertia(Matter::Density(0.1)).unwrap();
    let exact = Inertia::cuboid(3.0, [2.0, 3.0, 5.0]).unwrap().moved([1.0, 1.5, 2.5]);
    assert!((found.mass() - 3.0).abs() < 1e-14);
    near(&found.second(), &exact.second(), 1e-14);
    assert_eq!(found.centre(), exact.centre());
    // Windows line ends, and a file that is inside out.
    assert_eq!(Surface::from_obj(&BOX.replace('\n', "\r\n")).unwrap(), surface);
    let flipped: Vec<_> = surface.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(Surface::new(surface.vertices().to_vec(), flipped).unwrap().triangles(), surface.triangles());
}

/// With vertices vᵢ and mean c, the second moments of a tetrahedron are Σ (vᵢ − c)(vᵢ − c)ᵀ / 20.
#[test]
fn a_tetrahedron_is_exact() {
    let v = [[0.3, -1.0, 0.2], [1.4, 0.1, 0.0], [-0.2, 0.9, 0.4], [0.1, 0.2, 2.0]];
    let surface = Surface::new(v.to_vec(), vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap();
    let found = surface.inertia(1.0).unwrap();
    let c: [f64; 3] = std::array::from_fn(|d| v.iter().map(|x| x[d]).sum::<f64>() / 4.0);
    let second = std::array::from_fn(|i| {
        std::array::from_fn(|j| v.iter().map(|x| (x[i] - c[i]) * (x[j] - c[j])).sum::<f64>() / 20.0)
    });
    near(&found.second(), &second, 1e-15);
    assert!(found.centre().iter().zip(c).all(|(a, b)| (a - b).abs() < 1e-15));
}

/// Moving and turning the mesh moves and turns the inertia; a million units away no digit is lost but those of the vertices.
#[test]
fn meshes_move_and_turn_with_their_frame() {
    let surface = Surface::from_obj(BOX).unwrap();
    let own = surface.inertia(3.0).unwrap();
    let rotation = Rotation::zxz(0.3, 1.1, -2.0);
    for (offset, tolerance) in [([0.0; 3], 1e-14), ([1e6, -2e6, 3e6], 1e-9)] {
        let place = |v: &[f64; 3]| {
            let turned = rotation.apply(*v);
            std::array::from_fn(|d| turned[d] + offset[d])
        };
        let vertices = surface.vertices().iter().map(place).collect();
        let moved = Surface::new(vertices, surface.triangles().to_vec()).unwrap().inertia(3.0).unwrap();
        let expected = own.turned(&rotation).moved(offset);
        near(&moved.second(), &expected.second(), tolerance);
        assert!(moved.centre().iter().zip(expected.centre()).all(|(a, b)| (a - b).abs() < tolerance));
    }
}

/// Cutting a box in two and putting it together, which uses the parallel-axis theorem.
#[test]
fn compounds_are_wholes() {
    let half = Inertia::cuboid(1.0, [1.0, 2.0, 3.0]).unwrap();
    let whole = half.moved([-0.5, 0.0, 0.0]).with(&half.moved([0.5, 0.0, 0.0]));
    let exact = Inertia::cuboid(2.0, [2.0, 2.0, 3.0]).unwrap();
    near(&whole.second(), &exact.second(), 1e-15);
    assert_eq!((whole.mass(), whole.centre()), (2.0, [0.0; 3]));
    // Steiner: a rod about its end.
    let rod = Inertia::rod(3.0, 2.0).unwrap();
    near(&rod.about_point([-1.0, 0.0, 0.0]), &diagonal([0.0, 4.0, 4.0]), 1e-15);
}

#[test]
fn a_tensor_in_any_axes_gives_its_principal_ones() {
    let rotation = Rotation::zxz(-0.4, 0.8, 2.2);
    let own = Inertia::principal(2.0, [1.0, 1.5, 0.9]).unwrap();
    let turned = own.turned(&rotation);
    let again = Inertia::tensor(2.0, turned.about_centre()).unwrap();
    near(&again.second(), &turned.second(), 1e-15);
    let (mut moments, axes) = again.principal_axes();
    for (axis, moment) in axes.iter().zip(moments) {
        let image: [f64; 3] = turned.second().map(|row| row.iter().zip(axis).map(|(a, b)| a * b).sum());
        assert!(image.iter().zip(axis).all(|(a, b)| (a - moment * b).abs() < 1e-15));
    }
    moments.sort_by(f64::total_cmp);
    let expected = [(1.0 + 0.9 - 1.5) / 4.0, (1.5 + 0.9 - 1.0) / 4.0, (1.0 + 1.5 - 0.9) / 4.0];
    assert!(moments.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
}

#[test]
fn impossible_inertias_are_refused() {
    let message = |result: Result<Inertia, InertiaError>| result.unwrap_err().to_string();
    assert_eq!(message(Inertia::point(-1.0)), "the mass is -1: it must be positive and finite");
    assert_eq!(
        message(Inertia::sphere(Matter::Density(f64::NAN), 1.0)),
        "the density is NaN: it must be positive and finite"
    );
    assert_eq!(
        message(Inertia::cylinder(1.0, 0.1, 0.0)),
        "the height of the cylinder is 0: it must be positive and finite"
    );
    assert_eq!(
        message(Inertia::principal(1.0, [1.0, 2.0, -0.5])),
        "the moment of inertia about or along principal axis 3 is -0.5: moments cannot be negative"
    );
    assert_eq!(
        message(Inertia::principal(1.0, [1.0, 1.0, 2.5])),
        "the principal moments of inertia 1, 1 and 2.5 belong to no body: 2.5 > 1 + 1 violates the triangle inequality"
    );
    assert_eq!(
        message(Inertia::second_moments(1.0, [1.0, -1.0, 0.0])),
        "the second moment about or along principal axis 2 is -1: moments cannot be negative"
    );
    let skew = [[1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(message(Inertia::tensor(1.0, skew)).contains("I[0][1] = 0.1 and I[1][0] = 0.2"));
    assert!(message(Inertia::tensor(1.0, [[f64::INFINITY; 3]; 3])).contains("inf"));
    // A disk, with the digits of a data sheet, is still one.
    let disk = Inertia::principal(1.0, [0.333333, 0.333333, 0.6666666]).unwrap();
    assert_eq!(disk.principal_axes().0[2], 0.0);
}

#[test]
fn surfaces_that_enclose_nothing_are_refused() {
    let message = |text: &str| Surface::from_obj(text).unwrap_err().to_string();
    let lines: Vec<&str> = BOX.lines().collect();
    let without = |line: &str| lines.iter().filter(|l| **l != line).copied().collect::<Vec<_>>().join("\n");
    assert_eq!(
        message(&without("f 3 4 8 7")),
        "the surface is not closed: the edge from vertex 4 (0, 3, 0) to vertex 3 (2, 3, 0) belongs to one face only; \
         close the hole there"
    );
    let turned = BOX.replace("f 3 4 8 7", "f 7 8 4 3");
    assert!(message(&turned).starts_with("faces turn opposite ways at the edge from vertex "));
    assert_eq!(message("v 0 0"), "line 1: a vertex needs three numbers, not `nothing`");
    assert_eq!(message("v 0 0 nan"), "line 1: a vertex needs three numbers, not `nan`");
    assert_eq!(
        message("\nv 0 0 0\nf 1 2 3"),
        "line 3: a face names the vertex `2`, but there are 1 vertices so far"
    );
    assert_eq!(
        message("v 0 0 0\nf -2 1 1"),
        "line 2: a face names the vertex `-2`, but there are 1 vertices so far"
    );
    assert_eq!(
        message("v 0 0 0\nf 0 1 1"),
        "line 2: a face names the vertex `0`, but there are 1 vertices so far"
    );
    assert_eq!(message("v 0 0 0\nf 1 1"), "line 2: a face needs at least three corners, not 2");
    assert!(message("curv 0 1").starts_with("line 1: `curv` is not read"));
    assert_eq!(message(""), SurfaceError::Empty.to_string());
    // Two triangles back to back enclose nothing.
    let flat = Surface::from_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1").unwrap();
    assert_eq!(flat.inertia(1.0), Err(SurfaceError::Flat));
    // Corners that exporters write once for every face are one.
    let split = revolved(&[(1.0, 0.0), (1.0, 1.0)], 4);
    let mut vertices = Vec::new();
    let triangles = split.triangles().iter().map(|corners| {
        corners.map(|v| {
            vertices.push(split.vertices()[v]);
            vertices.len() - 1
        })
    });
    let triangles: Vec<_> = triangles.collect();
    assert!((Surface::new(vertices, triangles).unwrap().volume() - 2.0).abs() < 1e-15);
}
