//! What is wrong with bodies, joints, springs and poses is said clearly.

use leastaction_expr::Graph;
use leastaction_language::read;

const PLANE: &str = "body rod planar rod 2 mass 1\nbody disk planar disk 0.5 mass 1\n";
const SPACE: &str = "body bar rod 2 mass 1\nbody top cylinder 1 height 2 mass 3\nbody grain point mass 1\n";

/// The one thing that is wrong: what it is, the source it is about, and the help.
fn wrong(before: &str, text: &str) -> [String; 3] {
    let graph = Graph::new();
    let source = format!("{before}{text}");
    let mut errors = read(&graph, &source, &[]).map(|_| ()).unwrap_err().diagnostics;
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = errors.remove(0);
    let span = error.span.unwrap();
    [error.message, source[span.start..span.end].to_owned(), error.help.unwrap_or_default()]
}

fn assert_wrong(before: &str, text: &str, message: &str, place: &str, help: &str) {
    let [found, at, advice] = wrong(before, text);
    assert_eq!((found.as_str(), at.as_str()), (message, place), "{text}");
    assert!(advice.starts_with(help), "{text}: {advice}");
}

#[test]
fn bodies() {
    let check =
        |text: &str, message: &str, place: &str, help: &str| assert_wrong("", text, message, place, help);
    check("body b mass 1", "the body `b` has no shape", "b", "say how its mass is spread: `rod LENGTH`");
    check("body b sphere 1", "the body `b` has no mass", "b", "give its `mass`, or the `density`");
    check(
        "body b sphere -1 mass 2",
        "the radius of the sphere is -1: it must be positive and finite",
        "sphere -1",
        "",
    );
    check("body b sphere 1 mass 0", "the mass is 0: it must be positive and finite", "mass 0", "");
    check("body b mass 0 moments [1, 1]", "the mass of body `b` is 0: it must be positive", "mass 0", "");
    check(
        "body b mass 1 moments [1, -1, 1]",
        "a second moment of body `b` is -1: it must be positive",
        "moments [1, -1, 1]",
        "",
    );
    check(
        "body b inertia [1, 1, 3] mass 2",
        "the principal moments of inertia 1, 1 and 3 belong to no body: 3 > 1 + 1 violates the triangle inequality",
        "inertia [1, 1, 3]",
        "",
    );
    check("body b rod 1 disk 2 mass 1", "a body has `rod` or `disk`, not both", "disk 2", "remove one");
    check("body b rod 1 mass 2 mass 3", "`mass` is given twice", "mass 3", "remove one");
    check(
        "body b cube 1 mass 2",
        "expected a word that says what the body is like, found `cube`",
        "cube",
        "",
    );
    check(
        "body b shpere 1 mass 2",
        "expected a word that says what the body is like, found `shpere`",
        "shpere",
        "did you mean `sphere`?",
    );
    check("body b cylinder 1 mass 2", "expected `height` and the height, found `mass`", "mass", "");
    check("body b cuboid [1, 2] mass 2", "`cuboid` takes a vector of 3, not one of 2", "[1, 2]", "");
    check(
        "body b point density 2",
        "`point` does not say how large the body is, so a density is not enough",
        "density 2",
        "give its `mass`",
    );
    check(
        "body b planar moments [1, 1, 1] mass 2",
        "a body of the plane has two second moments, not three",
        "moments [1, 1, 1]",
        "leave out",
    );
    check("coord x\nbody b sphere x mass 2", "this depends on `x`", "sphere x", "mass and shape");
    check(
        "coord b_ax\nbody b sphere 1 mass 2",
        "the body `b` has a coordinate `b_ax`",
        "b",
        "choose another name",
    );
    check(
        "body b planar rod 1 mass 1 centre [1, 0, 0]",
        "the centre of a body of the plane has 2 components, not 3",
        "centre [1, 0, 0]",
        "",
    );
    check(
        "body b rod 1 mass 1 turned about [0, 0, 0] by 1",
        "the axis of a rotation has length 0",
        "about [0, 0, 0] by 1",
        "give a direction",
    );
}

#[test]
fn joints_and_springs() {
    let plane =
        |text: &str, message: &str, place: &str, help: &str| assert_wrong(PLANE, text, message, place, help);
    let space =
        |text: &str, message: &str, place: &str, help: &str| assert_wrong(SPACE, text, message, place, help);
    plane(
        "joint pin rod to ground",
        "the joint has no name",
        "pin",
        "a joint has a name before its kind: `joint NAME pin …`",
    );
    plane(
        "joint a bal rod to ground",
        "expected the kind of joint, found `bal`",
        "bal",
        "did you mean `ball`?",
    );
    plane(
        "joint a pin rad to ground",
        "there is no body, particle or point `rad`",
        "rad",
        "did you mean `rod`?",
    );
    plane(
        "joint a pin rod at [1, 0] ground",
        "expected `to` and the other end, found `ground`",
        "ground",
        "",
    );
    plane(
        "joint a pin rod at [1, 0, 0] to ground",
        "a point of body `rod` has 3 dimensions, 2 are expected",
        "[1, 0, 0]",
        "",
    );
    plane(
        "joint a pin rod to rod at [1, 0]",
        "`a` joins the body `rod` to itself: its points never move against each other",
        "rod to rod at [1, 0]",
        "",
    );
    plane(
        "joint a pin ground to [1, 0]",
        "neither end moves",
        "ground to [1, 0]",
        "one of them must be on a body",
    );
    plane(
        "joint a pin rod to ground at [0, 0, 0]",
        "the point of the world in `a` has 3 dimensions, 2 are expected",
        "rod to ground at [0, 0, 0]",
        "",
    );
    plane("joint a pin rod to disk axis [0, 1]", "a joint `pin` has no axis", "[0, 1]", "leave it out");
    plane(
        "joint a prismatic rod to disk",
        "`prismatic` needs an axis",
        "prismatic",
        "write `axis [X, Y, Z]`",
    );
    plane("joint a distance rod to disk", "`distance` needs a length", "distance", "write `length L`");
    plane("joint a distance rod to disk length -1", "the length of `a` is -1: it must be positive", "-1", "");
    plane(
        "joint a pin rod to disk\njoint a pin rod to ground",
        "`a` is already a joint",
        "a",
        "choose another name",
    );
    plane(
        "joint s prismatic rod to disk axis [1, 0]\ndraw dot s",
        "the joint `s` does not hold two points together, so it is no place",
        "s",
        "",
    );
    space(
        "joint a universal top to ground axis [1, 0, 0]",
        "`universal` needs two axes",
        "universal",
        "write `axis [X, Y, Z] and [X, Y, Z]`",
    );
    space(
        "joint a hinge top to ground axis [0, 0, 0]",
        "the axis of `a` has length 0",
        "[0, 0, 0]",
        "give a direction",
    );
    space(
        "joint a ball bar at [0, 1, 0] to ground",
        "`bar` is a rod, so a point off it is not defined",
        "[0, 1, 0]",
        "take a point on its axis",
    );
    space(
        "joint a hinge grain to top axis [1, 0, 0]",
        "`grain` is a point, so the axis of `a` is not defined",
        "grain to top",
        "use a ball",
    );
    space(
        "coord x\nspring from top to x stiffness 1 length 1",
        "a position in the plane or in space is expected here, not a number",
        "x",
        "for what moves along a line",
    );
    space(
        "spring from top to ground length 1",
        "expected `stiffness` and the stiffness, found `length`",
        "length",
        "",
    );
    space(
        "damper from top to top at [0, 0, 1] rate 1",
        "`damper` joins the body `top` to itself: its points never move against each other",
        "from top to top at [0, 0, 1]",
        "",
    );
    space("point p on tap at [0, 0, 0]", "there is no body `tap`", "tap", "did you mean `top`?");
    space("param q = 1\npoint p on q at [0, 0, 0]", "`q` is a parameter, not a body", "q", "");
    space("force top = 3", "a force is a vector here", "3", "give a component for each axis");
    space("torque top = 3", "a torque in space is a vector of 3", "3", "");
    space(
        "torque grain = [0, 0, 1]",
        "`grain` is a point, so its angular velocity is not defined",
        "grain",
        "give it second moments",
    );
    plane("torque rod = [0, 0, 1]", "a torque in the plane is a number", "[0, 0, 1]", "counterclockwise");
}

#[test]
fn poses() {
    let plane =
        |text: &str, message: &str, place: &str, help: &str| assert_wrong(PLANE, text, message, place, help);
    let space =
        |text: &str, message: &str, place: &str, help: &str| assert_wrong(SPACE, text, message, place, help);
    plane(
        "start rod moving [1, 0]",
        "where the body `rod` starts is not said",
        "rod",
        "write `start rod at [X, Y]`",
    );
    plane("start rod at [0, 0, 0]", "a vector of 2 is expected here, not one of 3", "[0, 0, 0]", "");
    plane("start rod at [0, 0] at [1, 1]", "`at` is given twice", "at", "remove one");
    plane(
        "start rod at [0, 0] from [0, 0] to [1, 0]",
        "a pose has `at` or `from`, not both",
        "from",
        "remove one",
    );
    plane(
        "start rod from [1, 0] to [1, 0]",
        "both ends are one place, so there is no direction",
        "[1, 0] to [1, 0]",
        "",
    );
    plane(
        "start rod at [0, 0] turned about [1, 0, 0] by 1",
        "`rod` moves in the plane: its rotation must be about the z axis",
        "rod at [0, 0] turned about [1, 0, 0] by 1",
        "",
    );
    plane("start rod at [0, 0], rod at [1, 0]", "the start of `rod` is given twice", "rod", "remove one");
    plane(
        "start rod at [0, 0]\nstart rod_x = 1",
        "the start of `rod_x` is given twice",
        "rod_x",
        "remove one",
    );
    plane("start rod at [t, 0]", "this depends on `t`", "[t, 0]", "use numbers and parameters only");
    plane(
        "start rod att [0, 0]",
        "expected a word that says where the body is and how it moves, found `att`",
        "att",
        "did you mean `at`?",
    );
    space("start top at [0, 0, 0] spinning 3", "a vector of 3 is expected here, not a number", "3", "");
    space(
        "start top at [0, 0, 0] turned quaternion [0, 0, 0, 0]",
        "the quaternion of a rotation has length 0",
        "quaternion [0, 0, 0, 0]",
        "give a direction",
    );
    space(
        "start top at [0, 0, 0] turned zxz [0, 1, 0] rates [0, 0, 1] spinning [0, 0, 1]",
        "a pose has `rates` or `spinning`, not both",
        "spinning",
        "remove one",
    );
}

#[test]
fn what_follows_from_a_wrong_body_is_not_said() {
    wrong(
        "",
        "body b sphere -1 mass 2\njoint j ball b to ground\nspring from b to ground stiffness 1 length 1\nstart b at [0, 0, 0]\ntorque b = [0, 0, 1]\noutput b.x, j.y\n",
    );
}
