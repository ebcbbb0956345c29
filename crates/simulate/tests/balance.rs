//! The balance of energy: what is supplied and dissipated, against closed forms, and that the rest is nothing.

use crate::meshes::simulation;
use leastaction_simulate::{Balanced, Measurements, Run, Warning};

fn measured(text: &str) -> (Run, Measurements) {
    let run = simulation(text).run().unwrap();
    let measured = run.measure().unwrap();
    (run, measured)
}

fn work(text: &str) -> Balanced {
    measured(text).1.work.unwrap_or_else(|| panic!("no balance of:\n{text}"))
}

/// x″ + c x′ + x = 0 from x = 1: x = e^(−ct/2) (cos ωt + c/(2ω) sin ωt), and what is lost is lost of the energy.
fn decayed(c: f64, t: f64) -> f64 {
    let omega = (1.0 - c * c / 4.0).sqrt();
    let (s, cosine) = (omega * t).sin_cos();
    let x = (-c * t / 2.0).exp() * (cosine + c / (2.0 * omega) * s);
    let v = -(-c * t / 2.0).exp() * s / omega;
    0.5 - 0.5 * (x * x + v * v)
}

#[test]
fn a_damped_oscillator_loses_what_theory_says() {
    let text = |how: &str| {
        format!(
            "param c = 0.3\ncoord x\nparticle b mass 1 at [x]\npotential x^2/2\ndissipation c*x'^2/2\nstart x = 1\nrun {how}, until 7\n"
        )
    };
    let expected = decayed(0.3, 7.0);
    for (how, within) in [
        ("tol 1e-11", 1e-10),
        ("method vern9, tol 1e-10", 1e-9),
        ("method radau5, tol 1e-9", 1e-6),
        ("method gauss4, step 0.03", 1e-6),
        ("method rk4, step 0.03", 1e-6),
        ("method conformal2, step 0.01", 1e-4),
    ] {
        let found = work(&text(how));
        assert_eq!(found.supplied, 0.0, "{how}");
        let off = (found.dissipated - expected).abs();
        assert!(off < within && found.relative() < within, "{how}: off by {off:e}, {found:?}");
    }
}

/// x″ = cos 2t − c x′ − x from rest: the work of the force is ∫ v cos 2t, with v from the closed form of c = 0, x = (cos t − cos 2t)/3.
#[test]
fn a_driven_oscillator_is_given_what_theory_says() {
    let driven = "coord x\nparticle b mass 1 at [x]\npotential x^2/2\n";
    let end = 5.0_f64;
    // v = (2 sin 2t − sin t)/3, whose products with cos 2t have known integrals.
    let expected =
        ((1.0 - (4.0 * end).cos()) / 4.0 + (3.0 * end).cos() / 6.0 - end.cos() / 2.0 + 1.0 / 3.0) / 3.0;
    for input in ["force x = cos(2*t)", "input u = cos(2*t)\nforce x = u"] {
        let found = work(&format!("{driven}{input}\nrun tol 1e-11, until 5\n"));
        assert!((found.supplied - expected).abs() < 1e-9, "{} and {expected}", found.supplied);
        assert!(found.dissipated == 0.0 && found.relative() < 1e-9, "{found:?}");
    }
    // A force that depends on velocities is supplied, not dissipated, and a friction both ways balances.
    let both = work(&format!("{driven}force x = cos(2*t)\ndissipation 0.1*x'^2/2\nrun tol 1e-11, until 5\n"));
    assert!(both.dissipated > 0.01 && both.relative() < 1e-9, "{both:?}");
}

#[test]
fn ends_at_events_and_switches_balance() {
    let stopped = measured(
        "coord x\nparticle b mass 1 at [x]\npotential x^2/2\ndissipation 0.3*x'^2/2\nstart x = 1\nevent down: x = 0, stop\nrun tol 1e-10, until 7\n",
    );
    assert!(stopped.0.trajectory.end().t < 2.0);
    assert!(stopped.1.work.is_some_and(|work| work.relative() < 1e-9), "{:?}", stopped.1.work);
    let fixed = measured(
        "coord x\nparticle b mass 1 at [x]\npotential x^2/2\ndissipation 0.3*x'^2/2\nstart x = 1\nevent down: x = 0, stop\n\
         run method rk4, step 0.01, until 7\n",
    );
    assert!(fixed.1.work.is_some_and(|work| work.relative() < 1e-6), "{:?}", fixed.1.work);
    // Pushed until t = 1, which is on no grid.
    for how in ["tol 1e-10", "method rk4, step 0.0171"] {
        let pushed = work(&format!(
            "coord x\nparticle b mass 1 at [x]\npotential x^2/2\nforce x = select(t < 1, 1, 0)\nrun {how}, until 3\n"
        ));
        // The work of a constant force is x(1) = 1 − cos 1.
        assert!((pushed.supplied - (1.0 - 1.0_f64.cos())).abs() < 1e-7, "{how}: {pushed:?}");
        assert!(pushed.relative() < 1e-7, "{how}: {pushed:?}");
    }
}

/// A block on a belt, held by friction while the belt pulls the spring: the work of the friction is that of the force which holds.
#[test]
fn friction_that_holds_on_a_belt_does_work() {
    let (run, measured) = measured(
        "coord x\nparticle block mass 1 at [x]\npotential 10*x^2/2\nforce x = -0.5*9.81*sign(x' - 0.3)\nrun until 20\n",
    );
    let work = measured.work.unwrap();
    assert!(work.relative() < 1e-6, "{work:?}");
    assert!(measured.warnings.is_empty(), "{:?}", measured.warnings);
    // Once it has slipped, it swings about μg/k = 0.4905 as fast as the belt at most, and no more energy comes in.
    let end = run.trajectory.end();
    let energy = end.p[0].powi(2) / 2.0 + 5.0 * end.q[0].powi(2);
    assert!((work.supplied - work.dissipated - energy).abs() < 1e-6 * energy, "{work:?}, {energy}");
}

/// A torsion spring reads the angle of a direction, which jumps where the rod passes the negative axis; what is the same after a turn does not.
#[test]
fn an_angle_that_jumps_in_an_energy_is_told() {
    let turns = |energy: &str, speed: f64| {
        let text = format!(
            "body p planar rod 1 mass 2\njoint a pin p to ground\n{energy}\nstart p at [0, 0] spinning {speed}\nrun tol 1e-9, until 3\n"
        );
        measured(&text).1.warnings.iter().find_map(|warning| match warning {
            Warning::Turned { t } => Some(*t),
            _ => None,
        })
    };
    let t = turns("potential 0.01*p.angle^2/2", 2.0).unwrap();
    assert!((1.5..1.7).contains(&t), "{t}");
    assert!(turns("torque p = -0.01*p.angle", 2.0).is_some());
    assert_eq!(turns("potential 0.01*(1 - cos(p.angle))", 2.0), None);
    assert_eq!(turns("torque p = -0.01*sin(p.angle/2)^2", 2.0), None);
    assert_eq!(turns("potential 0.01*p.angle^2/2", 0.2), None);
}

/// A beam that hangs at rest at height 0: all of its energy is rounding.
#[test]
fn rounding_of_an_energy_at_rest_is_no_drift() {
    let text = "body b planar rod 2 mass 4\njoint A pin b at [-1, 0] to ground at [-1, 0]\njoint B pin b at [1, 0] to ground at [1, 0]\n\
                gravity [0, -9.81]\nstart b at [0, 0]\nrun until 0.1\n";
    let (_, measured) = measured(text);
    assert!(measured.warnings.is_empty(), "{:?}", measured.warnings);
}

#[test]
fn meshes_and_constraints_balance() {
    let hung = work(
        "mesh block box [1, 1, 2] cells [1, 1, 2]\nmaterial block density 1\nfield elastic neo-hookean on block young 100 poisson 0.3\n\
         fix top: block z1 at [x + 0.1*sin(5*t), y, z]\ndamping block viscosity 0.5\ngravity [0, 0, -9.81]\nrun tol 1e-8, until 1\n",
    );
    assert!(hung.dissipated > 1e-3 && hung.supplied.abs() > 1e-3 && hung.relative() < 1e-7, "{hung:?}");
    let led = work(
        "coord x, y\nparticle b mass 1 at [x, y]\ngravity [0, -1]\nconstraint (x - sin(t))^2 + y^2 = 1\ndissipation 0.1*(x'^2 + y'^2)/2\n\
         start y = -1\nrun tol 1e-9, until 3\n",
    );
    assert!(led.supplied.abs() > 1e-2 && led.relative() < 1e-7, "{led:?}");
}

#[test]
fn columns_tell_the_powers_where_the_energy_is_not_conserved() {
    let (run, _) = measured(
        "coord x\nparticle b mass 1 at [x]\npotential x^2/2\ndissipation 0.3*x'^2/2\nforce x = 1\nstart x' = 2\noutput supplied, twice = 2*dissipated\nrun until 1\n",
    );
    let record = run.record().unwrap();
    assert_eq!((record.supplied[0], record.dissipated[0]), (2.0, 0.3 * 4.0));
    let names: Vec<String> = record.columns().map(|(_, name, _)| name).collect();
    assert_eq!(
        names.iter().filter(|name| *name == "supplied" || *name == "dissipated").count(),
        2,
        "{names:?}"
    );
    assert_eq!(record.outputs.values(0)[0], 2.4);
    let (run, measured) =
        measured("coord x\nparticle b mass 1 at [x]\npotential x^2/2\nstart x = 1\nrun until 1\n");
    assert!(run.record().unwrap().supplied.is_empty() && measured.work.is_none());
}

/// Steps that are far too long for a motion do not keep the balance, and that is said.
#[test]
fn a_balance_that_does_not_close_is_a_warning() {
    let (_, measured) = measured(
        "coord x\nparticle b mass 1 at [x]\npotential x^4\ndissipation 0.1*x'^2/2\nstart x = 1\nrun method rk4, step 0.45, until 20\n",
    );
    let found = measured.warnings.iter().any(|warning| matches!(warning, Warning::Unbalanced { .. }));
    assert!(found, "{:?} {:?}", measured.work, measured.warnings);
}

/// Damping whose rate becomes negative, and a damper on a place that moves by itself, add energy: that is said.
#[test]
fn dissipation_that_adds_energy_is_reported() {
    let warned = |text: &str| {
        measured(text).1.warnings.iter().any(|warning| matches!(warning, Warning::Driving { .. }))
    };
    assert!(warned(
        "coord x\nkinetic x'^2/2\npotential x^2/2\ndissipation cos(3*t)*x'^2/2\nstart x = 1\nrun until 5\n"
    ));
    assert!(warned(
        "coord x\nparticle b mass 1 at [x + 5, 0]\ndamper from [t, 0] to b rate 1\nrun until 1\n"
    ));
    assert!(!warned(
        "coord x\nkinetic x'^2/2\npotential x^2/2\ndissipation x'^2/2\nstart x = 1\nrun until 50\n"
    ));
}
