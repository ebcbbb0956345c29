//! What is drawn, with and without a word.

use leastaction_expr::Graph;
use leastaction_language::{BodyPart, BodyShape, Drawing, Part, Spot, read};

fn drawing(text: &str) -> Drawing {
    let graph = Graph::new();
    read(&graph, text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render("model", text, false))).drawing
}

const PENDULUM: &str = "coord th\nparticle bob mass 2 at [sin(th), -cos(th)]\ngravity [0, -9.81]\n";

#[test]
fn draw_adds_and_draw_only_replaces() {
    let bob = || Spot::from("bob");
    let usual =
        [Part::Trail(bob()), Part::Rod(Spot::At([0.0; 3]), bob()), Part::Dot { at: bob(), mass: 2.0 }];
    assert_eq!(drawing(PENDULUM).parts, usual);
    let with = |draw: &str| drawing(&format!("{PENDULUM}{draw}")).parts;
    let line = Part::Line(vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    // What stands still is behind the rest, whatever the order of the words.
    assert_eq!(with("draw line [-1, 0] to [1, 0]"), [std::slice::from_ref(&line), &usual[..]].concat());
    assert_eq!(with("draw only line [-1, 0] to [1, 0]"), std::slice::from_ref(&line));
    assert_eq!(with("draw dot bob\ndraw only line [-1, 0] to [1, 0]"), [usual[2].clone(), line]);
    // What the text draws in its own way is not drawn twice.
    let [trail, rod, dot] = usual;
    let spring = Part::Spring(bob(), Spot::At([0.0; 3]));
    assert_eq!(
        with("draw spring bob to [0, 0], dot bob mass 7"),
        [trail.clone(), spring, Part::Dot { at: bob(), mass: 7.0 }]
    );
    assert_eq!(with("draw rod [0, 0] to bob, trail bob, dot bob"), [trail, rod, dot]);
}

#[test]
fn points_leave_trails() {
    let trails = |text: &str| {
        let all = drawing(text).parts.into_iter().filter_map(|part| match part {
            Part::Trail(Spot::Of(name)) => Some(name),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(trails(&format!("{PENDULUM}point half at bob/2\npoint wall at [2, 0]\n")), ["bob", "half"]);
    let chain = "param N = 5\ncoord x[N]\nparticle p[i] mass 1 at [i, x[i]] for i in 1..N\n";
    assert_eq!(trails(chain), ["p[5]"]);
    assert_eq!(trails(&format!("{chain}point m at (p[1] + p[2])/2\n")), ["m"]);
}

/// The body that is drawn.
fn body(text: &str) -> BodyPart {
    let bodies = drawing(text).parts.into_iter().filter_map(|part| match part {
        Part::Body(body) => Some(body),
        _ => None,
    });
    bodies.last().expect("a body")
}

#[test]
fn shapes_know_their_sizes_and_how_they_lie_in_their_bodies() {
    let wheel = body("param R = 0.5\nbody wheel planar disk 2*R mass 1\n");
    assert_eq!(wheel.shapes[0].shape, BodyShape::Disk(1.0));
    assert_eq!(wheel.nodes[0].as_deref(), Some(&["wheel_ax".to_owned(), "wheel_ay".to_owned()][..]));
    assert_eq!(wheel.nodes[2], None);
    // Turned by a quarter about z, the rod along x lies along y, so that its principal axis is y in the frame and x in that of the rod.
    for turn in ["pi/2", "about [0, 0, 1] by pi/2"] {
        let rod = body(&format!("body bar planar rod 2 mass 1 turned {turn}\npoint tip on bar at [0, 1]\n"));
        let axis = rod.nodes.iter().position(Option::is_some).expect("a node");
        assert!(rod.shapes[0].axes[axis][0].abs() > 1.0 - 1e-12, "{:?}", rod.shapes);
    }
    // The tip is on it, so that no line is drawn to it; a point beside it is reached by one.
    let rods = |place: &str| {
        let text = format!("body bar planar rod 2 mass 1 turned pi/2\npoint tip on bar at {place}\n");
        drawing(&text).parts.iter().filter(|part| matches!(part, Part::Rod(..))).count()
    };
    assert_eq!([rods("[0, 1]"), rods("[0, 1.1]"), rods("[1, 0]")], [0, 1, 1]);
}

#[test]
fn bodies_of_several_shapes_are_drawn_with_all_of_them() {
    // 0.1 at the origin and 0.7 at 0.16: the centre of mass is at 0.14.
    let text = "body hammer rod 0.3 mass 0.1 with cuboid [0.03, 0.03, 0.1] mass 0.7 centre [0.16, 0, 0] turned about [0, 0, 1] by pi/2\n";
    let hammer = body(text);
    assert_eq!(
        hammer.shapes.iter().map(|placed| placed.shape).collect::<Vec<_>>(),
        [BodyShape::Rod(0.3), BodyShape::Cuboid([0.03, 0.03, 0.1])]
    );
    // The head is turned by a quarter: what is ahead in the frame of the body is to the right in its own.
    let expected = [[-0.14, 0.0, 0.0], [0.0, -0.02, 0.0]];
    for (placed, expected) in hammer.shapes.iter().zip(expected) {
        assert!(placed.offset.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{placed:?}");
    }
    // Points on the handle and on the head need no line to them; one beside them does.
    let rods = |place: &str| {
        let all = drawing(&format!("{text}point tip on hammer at {place}\n"));
        all.parts.iter().filter(|part| matches!(part, Part::Rod(..))).count()
    };
    assert_eq!([rods("[-0.1, 0, 0]"), rods("[0.16, 0, 0.05]"), rods("[0, 0, 0.05]")], [0, 0, 1]);
    // What has no size is left out, and a body of nothing else is a dot.
    assert_eq!(body("body two disk 1 mass 1 with point mass 1 centre [1, 0, 0]\n").shapes.len(), 1);
    let none = drawing("body two point mass 1 centre [0, 1, 0] with point mass 1 centre [1, 0, 0]\n");
    assert!(none.parts.iter().all(|part| !matches!(part, Part::Body(_))), "{none:?}");
}

#[test]
fn shapes_hold_what_is_in_them() {
    let cone = BodyShape::Cone { radius: 1.0, height: 4.0 };
    assert!(
        cone.contains([0.0, 0.0, 3.0]) && cone.contains([1.0, 0.0, -1.0]) && cone.contains([0.0, 0.5, 1.0])
    );
    assert!(
        !cone.contains([0.0, 0.6, 1.0])
            && !cone.contains([0.0, 0.0, 3.1])
            && !cone.contains([0.0, 0.0, -1.1])
    );
    let can = BodyShape::Cylinder { radius: 1.0, height: 4.0 };
    assert!(
        can.contains([0.0, 1.0, -2.0]) && !can.contains([0.8, 0.8, 0.0]) && !can.contains([0.0, 0.0, 2.1])
    );
    assert!(
        BodyShape::Disk(1.0).contains([0.0, -1.0, 0.0]) && !BodyShape::Disk(1.0).contains([0.0, 0.0, 0.1])
    );
    assert!(BodyShape::Rod(2.0).contains([1.0, 0.0, 0.0]) && !BodyShape::Rod(2.0).contains([0.5, 0.1, 0.0]));
}
