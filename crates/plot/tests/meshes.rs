//! Pictures of meshes that move in made-up ways: what must be seen, where, and in which colours.

use crate::animations::decoded;
use leastaction_field::{Lattice, Mesh, Over};
use leastaction_language::{Density, Drawing, MeshPart, Part, Tint};
use leastaction_output::{Column, Path, Record};
use leastaction_plot::{
    Animation, Bounds, Energy, Fit, Moment, Pigment, Plot, Relief, Scene, SceneError, Speck, View,
};

/// A record of a mesh `m` that moves by a map of rest positions and time, with velocities by differences.
fn record(mesh: &Mesh, samples: u32, map: impl Fn([f64; 3], f64) -> [f64; 3]) -> Record {
    let times: Vec<f64> = (0..samples).map(|i| 0.1 * f64::from(i)).collect();
    let (mut paths, mut velocities) = (Vec::new(), Vec::new());
    for (node, &rest) in mesh.nodes().iter().enumerate() {
        let axis = |k: usize| times.iter().map(|t| map(rest, *t)[k]).collect::<Vec<_>>();
        let rate = |k: usize| {
            let rate = |t: &f64| (map(rest, t + 1e-6)[k] - map(rest, t - 1e-6)[k]) / 2e-6;
            times.iter().map(rate).collect::<Vec<_>>()
        };
        paths.push(Path { name: format!("m[{node}]"), axes: (0..3).map(axis).collect() });
        velocities.extend(
            ["x", "y", "z"]
                .iter()
                .zip(0..)
                .map(|(name, k)| Column { name: format!("m[{node}].{name}'"), values: rate(k) }),
        );
    }
    let energy = vec![1.0; times.len()];
    Record { times, paths, velocities: velocities.into(), energy, ..Record::default() }
}

fn places(count: usize) -> Vec<(String, usize)> {
    (0..count).map(|node| (format!("m[{node}]"), 3)).collect()
}

/// What is seen of a mesh where it is at rest, from somewhere, on a square.
fn seen(mesh: &Mesh, tint: Tint, view: View, velocities: &[f64]) -> (Relief, Fit) {
    let scene = Scene::new(&Drawing::new().mesh("m", mesh.clone(), 0, tint), &places(mesh.nodes().len()));
    let rate = |name: &str| {
        let (node, axis) = name.strip_prefix("m[")?.split_once("].")?;
        Some(3 * node.parse::<usize>().ok()? + ["x'", "y'", "z'"].iter().position(|known| *known == axis)?)
    };
    let scene = scene.expect("a mesh").rated(rate).seen(view);
    let positions = mesh.nodes().concat();
    let moment = Moment { places: &positions, velocities, ..Moment::default() };
    let mut bounds = Bounds::default();
    scene.widen(&mut bounds, &moment);
    let fit = bounds.fit(200.0, 200.0, 10.0);
    let mut relief = Relief::new(200, 200);
    relief.widen(&scene, &moment);
    relief.draw(&scene, &moment, fit, 1.0);
    (relief, fit)
}

fn speck(relief: &Relief, fit: Fit, view: View, at: [f64; 3]) -> Option<Speck> {
    let [x, y] = fit.pixel(view.project(at));
    relief.row(y as usize)[x as usize]
}

/// Two squares of one size, one behind the other.
fn two_sheets() -> Mesh {
    let square = |y: f64| [[0.0, y, 0.0], [1.0, y, 0.0], [1.0, y, 1.0], [0.0, y, 1.0]];
    Mesh::new([square(0.0), square(1.0)].concat())
        .and_then(|mesh| mesh.with_triangles(vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]))
        .expect("two sheets")
}

#[test]
fn a_nearer_face_hides_a_farther_one_from_either_side() {
    let mesh = two_sheets();
    // The sheet at y = 0 is slow, that at y = 1 fast.
    let velocities: Vec<f64> = (0..8).flat_map(|node| [if node < 4 { 0.0 } else { 2.0 }, 0.0, 0.0]).collect();
    for (azimuth, tone) in [(-90.0, 0), (90.0, 255)] {
        let view = View::from(azimuth, 0.0);
        let (relief, fit) = seen(&mesh, Tint::Speed, view, &velocities);
        let found = speck(&relief, fit, view, [0.4, 0.5, 0.6]).expect("a sheet");
        assert_eq!((found.pigment, found.tone), (Pigment::Scale, tone), "from {azimuth}");
        // Both sides of a sheet are lit from the side of the viewer.
        assert!(found.light > 150, "from {azimuth}: {}", found.light);
        assert_eq!(relief.scales().collect::<Vec<_>>(), [(&Tint::Speed, [0.0, 2.0])]);
    }
}

#[test]
fn a_block_shows_three_sides_in_three_lights_and_a_ball_none_inside_out() {
    let view = View::from(-60.0, 30.0);
    let (relief, fit) = seen(&Mesh::cuboid([1.0; 3], [1; 3]).expect("a block"), Tint::Plain, view, &[]);
    // Away from the edges, which are drawn.
    let sides = [[0.3, 0.0, 0.4], [1.0, 0.3, 0.4], [0.3, 0.4, 1.0]];
    let [front, right, top] = sides.map(|at| speck(&relief, fit, view, at).expect("a side").light);
    assert!(top > right && front > right && front != top, "{front} {right} {top}");
    let ball = Mesh::sphere(1.0, 3).expect("a ball");
    let (relief, fit) = seen(&ball, Tint::Plain, view, &[]);
    // Light is greatest up on the left, and falls evenly to the lower right: neighbours are alike.
    let across: Vec<u8> = (30..170).filter_map(|i| relief.row(i)[i]).map(|speck| speck.light).collect();
    assert!(
        across.len() > 120 && across[across.len() / 3] > 240 && across[across.len() - 3] < 130,
        "{across:?}"
    );
    assert!(across.windows(2).all(|pair| pair[0].abs_diff(pair[1]) < 20), "{across:?}");
    assert_eq!(speck(&relief, fit, view, [0.0, 0.0, 0.0]).map(|speck| speck.pigment), Some(Pigment::Plain));
}

#[test]
fn atoms_are_balls_of_the_radius_of_their_lattice() {
    let atoms = Mesh::lattice(Lattice::Simple, 1.0, [9, 1, 1]).expect("atoms");
    let view = View::from(-90.0, 0.0);
    let (relief, fit) = seen(&atoms, Tint::Plain, view, &[]);
    let [x, y, z] = atoms.nodes()[4];
    for (far, covered) in [(0.0, true), (0.45, true), (0.55, false)] {
        assert_eq!(speck(&relief, fit, view, [x, y, z + far]).is_some(), covered, "{far}");
    }
    // Neighbours touch, and no more.
    assert!(speck(&relief, fit, view, [x + 0.5, y, z + 0.1]).is_none());
    let row = fit.pixel([0.0, z])[1] as usize;
    assert!(relief.row(row)[20..180].iter().flatten().count() > 150);
}

/// A scale of energies begins at the least, which may be negative, and a moment of which energies are not known has none.
#[test]
fn energies_have_a_scale_from_the_least_to_the_most() {
    let mesh = two_sheets();
    let part =
        MeshPart { name: "m".into(), mesh: mesh.clone().into(), first: 0, tint: Tint::Plain, density: None };
    let density = Density::new("elastic", Over::Triangles, mesh.triangles().as_flattened(), &mesh);
    let energies = [density.at_nodes(&[-1.5, -1.5, -0.5, -0.5])];
    let drawing = Drawing { parts: vec![Part::Mesh(part.by_energy(density))] };
    let view = View::from(-90.0, 0.0);
    let scene = Scene::new(&drawing, &places(8)).expect("a mesh").seen(view);
    let positions = mesh.nodes().concat();
    let moment = Moment { places: &positions, densities: &energies, ..Moment::default() };
    let mut bounds = Bounds::default();
    scene.widen(&mut bounds, &moment);
    let fit = bounds.fit(200.0, 200.0, 10.0);
    let mut relief = Relief::new(200, 200);
    relief.widen(&scene, &Moment { densities: &[], ..moment });
    assert_eq!(relief.scales().count(), 0);
    relief.widen(&scene, &moment);
    // Half of the area of a square of 1 has 1.5.
    assert_eq!(relief.scales().collect::<Vec<_>>(), [(&Tint::Energy("elastic".into()), [-3.0, -1.0])]);
    for (azimuth, tone) in [(-90.0, 0), (90.0, 255)] {
        let view = View::from(azimuth, 0.0);
        let scene = scene.clone().seen(view);
        relief.draw(&scene, &moment, fit, 1.0);
        assert_eq!(speck(&relief, fit, view, [0.4, 0.5, 0.6]).expect("a sheet").tone, tone, "from {azimuth}");
    }
}

#[test]
fn frames_of_an_animation_keep_their_place_and_show_both_ends_of_the_scale() {
    let block = Mesh::cuboid([1.0, 1.0, 2.0], [3, 3, 6]).expect("a block");
    let record = record(&block, 41, |[x, y, z], t| [x + 0.4 * z * (2.0 * t).sin(), y, z]);
    let drawing = Drawing::new().mesh("m", block, 0, Tint::Speed);
    let (tempo, gif) =
        Animation { record: &record, drawing: &drawing, title: "block" }.gif().expect("a film");
    let (width, height, frames, _) = decoded(&gif);
    assert_eq!(frames.len(), tempo.frames);
    let scene = Scene::of(&drawing, &record).expect("a scene");
    assert!(scene.has_surfaces() && scene.view() == View::gentle());
    let dark = |pixels: &[[u8; 3]]| {
        pixels.iter().filter(|rgb| rgb.iter().map(|c| u32::from(*c)).sum::<u32>() < 380).count()
    };
    // The foot stands still and stays dark purple in every frame; the block is about as large in all of them.
    let sizes: Vec<usize> = frames.iter().map(|frame| dark(frame)).collect();
    let (least, most) = (sizes.iter().min().expect("frames"), sizes.iter().max().expect("frames"));
    assert!(
        *least > width * height / 30 && *most < width * height / 2 && most - least < most / 2,
        "{sizes:?}"
    );
    let still = frames[0].iter().zip(&frames[20]).filter(|(a, b)| a == b).count();
    assert!(still > width * height / 2, "{still}");
}

#[test]
fn a_plot_shows_the_mesh_at_the_start_and_at_the_end_and_stays_small() {
    let cloth = Mesh::plate([1.0, 1.0], [12, 12]).expect("a cloth");
    let record = record(&cloth, 11, |[x, y, _], t| [x, y, 0.3 * t * x * (4.0 * y).sin()]);
    let drawing = Drawing::new().mesh("m", cloth, 0, Tint::Strain);
    let plot =
        Plot { record: &record, drawing: &drawing, title: "cloth", subtitle: "", energy: Energy::Changing };
    let svg = plot.svg().expect("a plot");
    assert_eq!(svg.matches("<image ").count(), 2);
    assert!(svg.contains("At the start") && svg.contains("At the end") && !svg.contains("Phase portrait"));
    assert!(svg.len() < 400_000, "{} bytes", svg.len());
    assert!(plot.png().expect("a plot").len() < 400_000);
}

#[test]
fn meshes_that_do_not_fit_their_places_are_refused_and_lost_nodes_leave_holes() {
    let rope = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], 4).expect("a rope");
    for (first, places) in [(0, places(4)), (3, places(6)), (0, vec![("m[0]".to_owned(), 2); 5])] {
        let refused = Scene::new(&Drawing::new().mesh("m", rope.clone(), first, Tint::Plain), &places);
        assert_eq!(refused.expect_err("too few"), SceneError::Unknown { name: "m".to_owned() });
    }
    let record = record(&rope, 3, |[x, _, _], t| [if t > 0.15 && x > 0.5 { f64::NAN } else { x }, t, 0.0]);
    let drawing = Drawing::new().mesh("m", rope, 0, Tint::Speed);
    let (tempo, gif) = Animation { record: &record, drawing: &drawing, title: "rope" }.gif().expect("a film");
    assert_eq!(decoded(&gif).2.len(), tempo.frames);
}
