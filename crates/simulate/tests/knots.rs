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

/// Of the velocity 5.5 a brake of the rate 1000 leaves exp(−1000·0.0005·√π), whatever acts beside it in that time; it was 0 at the start.
#[test]
fn a_brief_brake_is_not_stepped_over() {
    let left = (-0.5 * std::f64::consts::PI.sqrt()).exp();
    let exact = 5.5 * 5.5 / 2.0 + 5.5 * left * 4.5 + 4.5 * 4.5 / 2.0;
    for method in [None, Some("taylor"), Some("dop853"), Some("radau5")] {
        let x = end("force x = 1 - x'*1000*exp(-((t - 5.5)/5e-4)^2)\nrun until 10", method);
        // The motion by the constant force during the brake is not in the formula.
        assert!((x - exact).abs() < 5e-3, "{method:?}: {x} for {exact}");
        // x″ = k(t) x from x = 0 at the velocity 1: the pulse gives 33.3·∫k to the velocity, but for the square of its length.
        let x = end("force x = 10*x*exp(-((t - 33.3)/1e-3)^2)\nstart x' = 1\nrun until 100", method);
        let push = 0.01 * std::f64::consts::PI.sqrt();
        let exact = 100.0 + 33.3 * push * (100.0 - 33.3);
        assert!((x - exact).abs() < 1e-2, "{method:?}: {x} for {exact}");
    }
}

/// Places of masses that jump in time are refused; those of points may, and what is one turn or period farther is where it was.
#[test]
fn a_place_that_jumps_in_time_is_refused() {
    let refusal = |particle: &str| {
        let text = format!("coord x\n{particle}\nstart x' = 1\nrun until 1");
        let simulation = Source::text("test", &text).simulation(&Graph::new(), &Overrides::default());
        simulation.err().map(|error| format!("{error:?}"))
    };
    for place in ["select(t > 1, 1, 0) + x", "x + floor(t)", "x*sign(t - 1)", "x, (t > 0.5)"] {
        let said = refusal(&format!("particle p mass 1 at [{place}]")).unwrap_or_default();
        assert!(said.contains("the place of `p` jumps in time"), "{place}: {said}");
    }
    for place in ["x - floor(x)", "x + max(0, t - 1)", "x + select(t > 1, t - 1, 0)", "x + abs(t - 1)"] {
        assert_eq!(refusal(&format!("particle p mass 1 at [{place}]")), None, "{place}");
    }
    assert_eq!(refusal("particle p mass 1 at [x]\npoint flag at [floor(t)]"), None);
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

/// A puck on ice that is braked at 2 from the speed 1 stops after 1/2, and stays there, as one does that a smooth law brakes.
#[test]
fn friction_in_the_plane_holds_at_rest() {
    let puck = |speed: &str, method: Option<&str>| {
        let text = format!(
            "coord x, y\nparticle puck mass 1 at [x, y]\nlet v = {speed}\nforce x = -2*x'/v\nforce y = -2*y'/v\nstart x' = 0.6, y' = 0.8\nrun until 3"
        );
        let asked = Overrides { method: method.map(str::to_owned), ..Overrides::default() };
        Source::text("puck", &text).simulation(&Graph::new(), &asked).unwrap().run()
    };
    for method in [None, Some("dop853"), Some("radau5")] {
        let run = puck("norm([x', y'])", method).unwrap();
        let end = run.trajectory.end();
        assert!((end.q[0] - 0.15).abs() < 1e-9 && (end.q[1] - 0.2).abs() < 1e-9, "{end:?}");
        let record = run.record().unwrap();
        let broken = record.columns().find(|(_, _, values)| values.iter().any(|value| value.is_nan()));
        assert!(broken.is_none(), "{:?}", broken.map(|(_, name, _)| name.to_owned()));
    }
    let end = puck("sqrt(x'^2 + y'^2 + 1e-16)", None).unwrap().trajectory.end();
    assert!((end.q[0] - 0.15).abs() < 1e-7 && (end.q[1] - 0.2).abs() < 1e-7, "{end:?}");
}

/// y is pushed at t = 5 by what x has become, which is cut off where the motion begins: x = 0.15·t², and the bell has the momentum √π.
#[test]
fn a_bell_is_not_stepped_over_where_the_start_cuts_it_off() {
    for (factor, expected) in
        [("abs(x)", 3.75), ("max(0, x)", 3.75), ("max(0, x - 1)", 2.75), ("sign(x)", 1.0)]
    {
        let text = format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = 0.3, y = {factor}*1000*exp(-((t - 5)/1e-3)^2)\nrun until 10"
        );
        let run = Source::text("test", &text)
            .simulation(&Graph::new(), &Overrides::default())
            .unwrap()
            .run()
            .unwrap();
        let (p, exact) = (run.trajectory.end().p[1], expected * std::f64::consts::PI.sqrt());
        assert!((p - exact).abs() < 1e-6, "{factor}: {p} against {exact}");
    }
}

/// A pendulum whose support begins to move at once: the blow takes the velocity along, as the same in one angle says.
#[test]
fn constraints_that_begin_to_move_take_velocities_along() {
    let held = "coord x, y\nparticle a mass 1 at [x, y]\nconstraint norm([x - 0.1*max(0, t - 1), y]) = 1\n\
                gravity [0, -9.81]\nstart x = sin(2.5), y = -cos(2.5)\nrun until 2";
    let free = "coord th\nparticle a mass 1 at [0.1*max(0, t - 1) + sin(th), -cos(th)]\ngravity [0, -9.81]\n\
                start th = 2.5\nrun until 2";
    let end = |text: &str| {
        let run = Source::text("test", text)
            .simulation(&Graph::new(), &Overrides::default())
            .unwrap()
            .run()
            .unwrap();
        run.trajectory.end().q
    };
    let (q, th) = (end(held), end(free)[0]);
    assert!((q[0] - 0.1 - th.sin()).abs() < 1e-7 && (q[1] + th.cos()).abs() < 1e-7, "{q:?} {th}");
}

/// What is left of rates that cancel varies like a pulse, and is none: the run took 65 536 steps.
#[test]
fn rounding_is_no_push() {
    let text = "body b cone 0.4 height 1 density 1\ngravity [0.3, 0.2, -2.5]\n\
                joint hold hinge b at [0.5, 0, 0] to [0.5, 0, 0] axis [0, 1, 0]\ntorque b = [0.1, t, 0]\n\
                force b at [0.2, 0, 0.1] = 2.5*b.axis1 - 0.1*b'\n\
                spring from b at [0.3, 0, 0] to [0, 1, 2] stiffness 1.5 length 2.5\nstart b at [0, 0, 0]\n\
                run until 0.461";
    let asked =
        Overrides { method: Some("dop853".to_owned()), tolerance: Some(1e-9), ..Overrides::default() };
    let run = Source::text("test", text).simulation(&Graph::new(), &asked).unwrap().run().unwrap();
    assert!(run.trajectory.work().steps < 100, "{} steps", run.trajectory.work().steps);
}

/// A kick of 1e5 where a bell of width 1e-6 is above a half, and an event where it is: the level is that of its argument.
#[test]
fn narrow_bells_are_met() {
    let text = "coord x\nkinetic x'^2/2\nforce x = select(exp(-((x - 5)/1e-6)^2) > 0.5, 1e5, 0)\n\
                event inside: exp(-((x - 5)/1e-6)^2) = 0.5, rising\nstart x' = 1\nrun until 10";
    let run =
        Source::text("test", text).simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap();
    let gained = 2.0 * 1e5 * 2e-6 * 2.0_f64.ln().sqrt();
    assert!((run.trajectory.end().p[0] - (1.0 + gained).sqrt()).abs() < 1e-6, "{:?}", run.trajectory.end());
    assert_eq!(run.trajectory.crossings().len(), 1);
}

/// Unlike masses that move together, and meet by rounding only: no blow, and no end of the run.
#[test]
fn what_moves_together_does_not_meet() {
    let text = "coord a, b\nkinetic a'^2/2 + 3*b'^2/2\npotential a^2 + 3*b^2\n\
                event hit: b - a = 0, falling, set a' = (-2*a' + 6*b')/4, b' = (2*b' + 2*a')/4\n\
                start a = 0.3, b = 0.3\nrun until 20";
    let asked = Overrides { method: Some("taylor".to_owned()), ..Overrides::default() };
    let run = Source::text("test", text).simulation(&Graph::new(), &asked).unwrap().run().unwrap();
    let (end, exact) = (run.trajectory.end(), 0.3 * (20.0 * 2.0_f64.sqrt()).cos());
    assert!(run.trajectory.crossings().is_empty(), "{} hits", run.trajectory.crossings().len());
    assert!(end.q.iter().all(|q| (q - exact).abs() < 1e-8), "{end:?}");
}

/// Something begins to slip under a force that rises slowly: whatever method is chosen, one comes to the end, 0.5 (t − 2)³/6 along the pull.
#[test]
fn slow_slips_begin() {
    let text = "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = 0.3*t, y = 0.4*t\n\
                dissipation norm([x', y'])\nrun until 4";
    let run =
        Source::text("test", text).simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap();
    let (end, way) = (run.trajectory.end(), 0.5 * 8.0 / 6.0);
    assert!((end.q[0] - 0.6 * way).abs() < 1e-7 && (end.q[1] - 0.8 * way).abs() < 1e-7, "{end:?}");
}

/// A pendulum with dry friction in its pin, as a body, comes to rest; it takes about as many steps as in one angle.
#[test]
fn friction_in_a_pin_costs_little() {
    let body = "body r planar rod 1 mass 1\njoint A pin r at [-0.5, 0] to ground\ngravity [0, -10]\n\
                torque r = -0.4*sign(r.angle')\nstart r from [0, 0] to [sin(1), -cos(1)]\n\
                output th = atan2(r.x, -r.y)\nrun until 10";
    let angle = "coord th\nkinetic th'^2/6\npotential -5*cos(th)\nforce th = -0.4*sign(th')\nstart th = 1\nrun until 10";
    let [(body, few), (angle, _)] = [body, angle].map(|text| {
        let run = Source::text("test", text)
            .simulation(&Graph::new(), &Overrides::default())
            .unwrap()
            .run()
            .unwrap();
        let record = run.record().unwrap();
        let (.., values) = record.columns().find(|(_, name, _)| *name == "th").unwrap();
        (*values.last().unwrap(), run.trajectory.work().steps)
    });
    assert!((body - angle).abs() < 1e-8 && few < 400, "{body} {angle} in {few} steps");
}
