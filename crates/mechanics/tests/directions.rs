//! Lengths of velocities that forces are divided by: where the motion can come to rest, whatever way they are written.

use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Switch, SwitchKind};

/// The directions of a particle with a mass of 2 in the plane, or in polar coordinates, with this dissipation and these forces.
fn directions(polar: bool, dissipation: &str, forces: [&str; 2]) -> Vec<Switch> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    model.parameter("w", 1.5);
    let (x, y) = (model.coordinate("x"), model.coordinate("y"));
    match polar {
        true => model.kinetic("moving", graph.parse("x'^2 + x^2*y'^2").unwrap()),
        false => {
            model.particle("puck", 2.0, [x, y]);
        }
    }
    if !dissipation.is_empty() {
        model.dissipation("friction", graph.parse(dissipation).unwrap());
    }
    for (q, force) in [x, y].into_iter().zip(forces).filter(|(_, force)| !force.is_empty()) {
        model.force(q, graph.parse(force).unwrap());
    }
    let system = model.system().unwrap();
    system.switches().iter().filter(|switch| switch.kind == SwitchKind::Direction).cloned().collect()
}

#[test]
fn motions_come_to_rest_however_friction_is_written() {
    let none = ["", ""];
    let quotients = [
        ["-3*x'/sqrt(x'^2 + y'^2)", "-3*y'/sqrt(x'^2 + y'^2)"],
        ["-(x'/sqrt(x'^2 + y'^2))*3", "-y'*(3/sqrt(x'^2 + y'^2))"],
        ["-3*(x' - w)/hypot(x' - w, y')", "-3*y'/hypot(x' - w, y')"],
        [
            "-3*(x' + w*y)/sqrt((x' + w*y)^2 + (y' - w*x)^2)",
            "-3*(y' - w*x)/sqrt((x' + w*y)^2 + (y' - w*x)^2)",
        ],
        ["-3*(2 + cos(x))*x'/sqrt(x'^2 + y'^2) - x'", "-y'*(1 + 3*(2 + cos(x))/sqrt(x'^2 + y'^2))"],
        ["-x'/sqrt(x'^2 + 4*y'^2)", "-4*y'/sqrt(x'^2 + 4*y'^2)"],
    ];
    let dissipations = [
        (false, "3*sqrt(x'^2 + y'^2)"),
        (false, "3*cos(0.1*t)*sqrt(x'^2 + y'^2)"),
        (false, "3*sqrt(x'^2 + y'^2) + (x'^2 + y'^2)/2"),
        (true, "3*sqrt(x'^2 + (x*y')^2)"),
    ];
    for forces in quotients {
        let found = directions(false, "", forces);
        assert!(matches!(found[..], [Switch { slides: true, direction: 2, .. }]), "{forces:?}: {found:?}");
    }
    for (polar, dissipation) in dissipations {
        let found = directions(polar, dissipation, none);
        assert!(matches!(found[..], [Switch { slides: true, direction: 2, .. }]), "{dissipation}: {found:?}");
    }
}

/// A smooth law has a direction at rest, too, and one that does not vanish with the velocity is none of friction.
#[test]
fn other_quotients_are_left_alone() {
    assert!(directions(false, "3*sqrt(x'^2 + y'^2 + 1e-6)", ["", ""]).is_empty());
    assert!(directions(false, "", ["1/sqrt(1 + x'^2)", ""]).is_empty());
    let push = directions(false, "", ["1/sqrt(x'^2 + y'^2)", ""]);
    assert!(push.iter().all(|direction| !direction.slides), "{push:?}");
}
