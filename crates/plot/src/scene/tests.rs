use super::{AMPLITUDE, Scene, SceneError, Shape};
use crate::moment::{Moment, positions_at};
use crate::view::{Bounds, View};
use leastaction_language::Drawing;
use leastaction_output::{Path, Record};

fn places(list: &[(&str, usize)]) -> Vec<(String, usize)> {
    list.iter().map(|(name, dimensions)| ((*name).to_owned(), *dimensions)).collect()
}

fn at(places: &[f64]) -> Moment<'_> {
    Moment { places, ..Moment::default() }
}

#[test]
fn parts_are_found_by_name_behind_places_of_other_dimensions() {
    let drawing =
        Drawing::new().line([[0.0, 0.0], [1.0, 0.0]]).trail("b").rod("a", "b").dot("b", 2.0).dot("a", 8.0);
    let scene = Scene::new(&drawing, &places(&[("rail", 1), ("a", 2), ("b", 2)])).expect("all are there");
    let shapes = scene.shapes(&at(&[9.0, 1.0, 2.0, 3.0, 4.0]), 1.0);
    let [a, b] = [[1.0, 2.0], [3.0, 4.0]];
    let expected = [
        Shape::Line(vec![[0.0, 0.0], [1.0, 0.0]]),
        Shape::Trail { trail: 0, at: b },
        Shape::Rod([a, b]),
        Shape::Dot { at: b, radius: 0.5 },
        Shape::Dot { at: a, radius: 1.0 },
    ];
    assert_eq!(shapes, expected);
    assert_eq!(scene.view(), View::PLANE);
}

#[test]
fn names_that_are_not_there_and_empty_scenes_are_refused() {
    let lost = Scene::new(&Drawing::new().dot("bob", 1.0), &places(&[("bab", 2)]));
    assert_eq!(lost.expect_err("no bob"), SceneError::Unknown { name: "bob".to_owned() });
    assert_eq!(Scene::new(&Drawing::new(), &[]).expect_err("nothing"), SceneError::Nothing);
}

#[test]
fn without_a_drawing_places_and_their_trails_are_shown() {
    let scene = Scene::new(&Drawing::new(), &places(&[("a", 1), ("b", 3)])).expect("places");
    assert_eq!((scene.trails(), scene.view()), (2, View::gentle()));
    let dots = scene.shapes(&at(&[1.0, 0.0, 0.0, 2.0]), 1.0);
    assert!(matches!(dots[3], Shape::Dot { at, radius: 1.0 } if at[0] == 0.0 && at[1] > 1.8));
}

#[test]
fn a_spring_keeps_its_ends_and_its_width() {
    let scene = Scene::new(&Drawing::new().spring([0.0, 0.0], [3.0, 4.0]), &[]).expect("fixed");
    let shapes = scene.shapes(&at(&[]), 10.0);
    let Shape::Spring(points) = &shapes[0] else { panic!("a spring") };
    assert_eq!((points[0], points[points.len() - 1]), ([0.0, 0.0], [3.0, 4.0]));
    // The distance from the line 4x = 3y.
    let widest = points.iter().map(|[x, y]| (4.0 * x - 3.0 * y).abs() / 5.0).fold(0.0, f64::max);
    assert!((widest - 10.0 * AMPLITUDE).abs() < 1e-12, "{widest}");
    let collapsed = Scene::new(&Drawing::new().spring([1.0, 1.0], [1.0, 1.0]), &[]).expect("fixed");
    assert_eq!(collapsed.shapes(&at(&[]), 1.0), [Shape::Spring(vec![[1.0, 1.0]; 2])]);
}

#[test]
fn what_is_not_finite_is_left_out() {
    let drawing = Drawing::new().rod([0.0, 0.0], "a").dot([1.0, 1.0], 1.0);
    let scene = Scene::new(&drawing, &places(&[("a", 2)])).expect("a");
    assert_eq!(scene.shapes(&at(&[f64::NAN, 0.0]), 1.0), [Shape::Dot { at: [1.0, 1.0], radius: 1.0 }]);
    assert_eq!(scene.shapes(&at(&[]), 1.0).len(), 1);
}

#[test]
fn bounds_hold_all_samples_and_lines() {
    let path = Path { name: "a".to_owned(), axes: vec![vec![0.0, 5.0, f64::NAN], vec![-1.0, 2.0, 90.0]] };
    let record = Record { times: vec![0.0, 1.0, 2.0], paths: vec![path], ..Record::default() };
    let scene = Scene::of(&Drawing::new().dot("a", 1.0).line([[-3.0, 0.0], [0.0, 7.0]]), &record).expect("a");
    assert_eq!(scene.bounds(&record), Bounds { low: [-3.0, -1.0], high: [5.0, 7.0] });
    let mut positions = Vec::new();
    positions_at(&record, 1, &mut positions);
    assert_eq!(positions, [5.0, 2.0]);
}

/// A weight that circles over a pivot at a height, or below it.
fn circling(height: f64) -> Record {
    let angles: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i)).collect();
    let axes = vec![
        angles.iter().map(|a| a.cos()).collect(),
        angles.iter().map(|a| a.sin()).collect(),
        vec![height; 100],
    ];
    let paths = vec![Path { name: "bob".to_owned(), axes }];
    Record { times: angles, paths, ..Record::default() }
}

#[test]
fn a_top_is_seen_from_the_side_and_stands_on_its_ground() {
    let held = Drawing::new().rod([0.0, 0.0, 0.5], "bob").dot("bob", 1.0);
    for (height, ground) in [(0.6, 0.5), (0.2, 0.0), (9.0, 0.5)] {
        let record = circling(height);
        let scene = Scene::of(&held, &record).expect("a bob");
        assert_eq!(scene.view(), View::gentle(), "{height}");
        let found = scene.ground(&record).expect("in space");
        assert!((found.height - ground).abs() < 1e-3, "{height}: {}", found.height);
        let ground = found.height;
        // The pivot is above the middle.
        let middle = [0, 1].map(|axis| found.corners.iter().map(|c| c[axis]).sum::<f64>() / 4.0);
        let below = scene.view().project([0.0, 0.0, ground]);
        assert!(middle.iter().zip(below).all(|(a, b)| (a - b).abs() < 1e-12), "{height}");
        // A shadow is right below what it is of.
        let shadow = scene.shadows(&at(&[1.0, 0.0, height]), 1.0, ground);
        let Shape::Dot { at, .. } = shadow[1] else { panic!("a dot") };
        let above = scene.view().project([1.0, 0.0, height]);
        assert!((at[0] - above[0]).abs() < 1e-12 && at[1] <= above[1], "{height}");
    }
    // Orbits that nothing holds are seen from above; what is in a plane has no ground.
    let free = circling(0.0);
    assert_eq!(Scene::of(&Drawing::new(), &free).expect("a bob").view(), View::steep());
    let mut plane = circling(0.0);
    plane.paths[0].axes.pop();
    assert_eq!(Scene::of(&Drawing::new(), &plane).expect("a bob").ground(&plane), None);
}
