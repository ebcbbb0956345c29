//! Corners and jumps of forces, as texts say them, by default settings.

use leastaction_expr::Graph;
use leastaction_simulate::{Overrides, Run, Source};

const BALL: &str = "coord x\nparticle ball mass 1 at [x]\n";

fn run(rest: &str, method: Option<&str>) -> Run {
    let asked = Overrides { method: method.map(str::to_owned), ..Overrides::default() };
    let text = format!("{BALL}{rest}");
    Source::text("test", &text).simulation(&Graph::new(), &asked).unwrap().run().unwrap()
}

fn end(rest: &str, method: Option<&str>) -> f64 {
    run(rest, method).trajectory.end().q[0]
}

/// x = 0.05 while it is pushed, and 4.9 from then on; also by a Taylor series, which sees nothing of what comes.
#[test]
fn a_push_is_not_stepped_over() {
    let texts = [
        "force x = select(t > 5, select(t < 5.1, 10, 0), 0)\nrun until 10",
        "input u = select(t > 5, select(t < 5.1, 10, 0), 0)\nforce x = u\nrun until 10",
        "potential -x*select(t > 5, select(t < 5.1, 10, 0), 0)\nrun until 10",
    ];
    for text in texts {
        for method in [None, Some("taylor"), Some("ias15"), Some("radau5")] {
            let x = end(text, method);
            assert!((x - 4.95).abs() < 1e-10, "{text} {method:?}: {x}");
        }
    }
}

/// A bell of the width 0.01 in a run of 100 has the momentum 0.01·√π.
#[test]
fn a_brief_bell_is_not_stepped_over() {
    for method in [None, Some("taylor"), Some("dop853"), Some("ias15"), Some("radau5")] {
        let x = end("force x = exp(-((t - 33.3)/0.01)^2)\nrun until 100", method);
        let exact = 0.01 * std::f64::consts::PI.sqrt() * (100.0 - 33.3);
        assert!((x - exact).abs() < 1e-7, "{method:?}: {x} for {exact}");
    }
}

/// A block that is braked at 2 stops after 1/2, at 1/4, and stays there.
#[test]
fn dry_friction_holds() {
    let texts = [
        "force x = -2*sign(x')\nstart x' = 1\nrun until 3",
        "dissipation 2*abs(x')\nstart x' = 1\nrun until 3",
        "force x = select(x' > 0, -2, 2)\nstart x' = 1\nrun until 3",
    ];
    for text in texts {
        let x = end(text, None);
        assert!((x - 0.25).abs() < 1e-12, "{text}: {x}");
    }
}

/// The corners of V = |x| are passed 3535 times, and the energy is there.
#[test]
fn corners_do_not_add_up() {
    for text in ["potential abs(x)", "force x = -sign(x)", "potential max(x, -x)"] {
        let x = end(&format!("{text}\nstart x = 1\nrun until 10000"), None);
        let quarter = 2f64.sqrt();
        let half = (10_000.0 / (2.0 * quarter)).floor();
        let s = 10_000.0 - 2.0 * quarter * half - quarter;
        let sign = if half % 2.0 == 0.0 { -1.0 } else { 1.0 };
        let exact = sign * s * (1.0 - s.abs() / (2.0 * quarter)) * quarter;
        // 3535 corners, at each of which the error is what is tolerated.
        assert!((x - exact).abs() < 3e-7, "{text}: {x} for {exact}");
    }
}

/// The wall of the width 0.002 throws the ball back after 0.002.
#[test]
fn thin_walls_are_met() {
    let x = end("potential 1000*max(0, 0.001 - abs(x - 5.0123))\nstart x' = 1\nrun until 10", None);
    let exact = 5.0113 - (10.0 - 5.0133);
    assert!((x - exact).abs() < 1e-9, "{x} for {exact}");
}

#[test]
fn a_constraint_that_jumps_is_refused() {
    let refusal = |constraint: &str| {
        let text = format!(
            "coord x, y\nparticle bead mass 1 at [x, y]\nconstraint {constraint}\nstart x' = 1\nrun until 1"
        );
        let simulation = Source::text("test", &text).simulation(&Graph::new(), &Overrides::default());
        simulation.err().map(|error| format!("{error:?}"))
    };
    for constraint in ["y = floor(3*t)", "y = sign(t - 0.5)", "y = (t > 0.5)", "x^2 + y = floor(t)"] {
        let said = refusal(constraint).unwrap_or_default();
        assert!(said.contains("jumps"), "{constraint}: {said}");
    }
    assert_eq!(refusal("y = select(t < 0.5, 0, (t - 0.5)^2)"), None);
}
