//! What a text says is done, what is asked for goes before it, and what was computed is kept.

use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Reason, RunError};
use leastaction_language::read;
use leastaction_output::{Record, Table};
use leastaction_simulate::{FailedRun, Fault, Overrides, Run, Simulation, Source, Warning};
use std::ops::ControlFlow;

/// A ball thrown up at 1 with g = 2: it turns at t = 1/2, where it is at 1/4, and lands at t = 1.
const BALL: &str = "param g = 2\ncoord y\nparticle ball mass 1 at [y]\ngravity [-g]\nstart y' = 1\n\
                    run method implicit-midpoint, step 0.125, until 10, every 0.25\noutput twice = 2*y\n\
                    event top: y' = 0, falling\nevent ground: y = 0, falling, stop\n";

fn run(text: &str, overrides: &Overrides) -> Run {
    Source::text("test", text).simulation(&Graph::new(), overrides).unwrap().run().unwrap()
}

fn pairs(values: &[(&str, f64)]) -> Vec<(String, f64)> {
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn all_that_a_text_says_is_done() {
    let flight = run(BALL, &Overrides::default());
    let simulation = &flight.simulation;
    assert_eq!((simulation.integrator.card().name, simulation.why.as_deref()), ("implicit-midpoint", None));
    let events: Vec<_> = flight.events().map(|(name, all)| (name, all.len(), all[0].t)).collect();
    let [("top", 1, turn), ("ground", 1, land)] = events[..] else { panic!("{events:?}") };
    assert!((turn - 0.5).abs() < 1e-14 && (land - 1.0).abs() < 1e-14);
    assert_eq!((flight.stopped_by(), flight.trajectory.end().t), (Some("ground"), land));
    assert_eq!((flight.is_interrupted(), flight.last_step()), (false, None));
    let record = flight.record().unwrap();
    assert_eq!(record.times[..4], [0.0, 0.25, 0.5, 0.75]);
    let twice = record.outputs.get(0).unwrap();
    assert!(twice.name == "twice" && (twice.values[2] - 0.5).abs() < 1e-15, "{twice:?}");
}

/// The same as by calls of the crates below.
#[test]
fn a_run_has_the_bits_of_its_parts() {
    let text = "coord x\nkinetic x'^2/2\npotential x^4/4\ninput u = cos(t)/2\nforce x = u\nstart x = 1\n\
                run method gauss6, step 0.01, until 3, every 0.1\noutput square = x^2";
    let whole = run(text, &Overrides::default());
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
    let square = dynamics.observable("x^2").unwrap();
    let integrator = Integrator::named("gauss6", 0.01).unwrap().every(10);
    let parts = integrator.run(&mut dynamics, &start, 3.0).unwrap();
    assert_eq!(whole.trajectory.blocks(), parts.blocks());
    let record = Record::new(&parts, &mut dynamics, &[("square".to_owned(), square)]).unwrap();
    assert_eq!(whole.record().unwrap(), record);
    let measured = whole.measure().unwrap();
    assert_eq!(measured.energy.drift.relative(), parts.energy_drift(&mut dynamics).unwrap());
    assert!(!measured.energy.conserved && measured.energy.lowest < measured.energy.highest);
    // Once more, by a simulation of a setup.
    let again = Simulation::of(setup, &Overrides::default()).unwrap();
    assert_eq!(again.run().unwrap().trajectory, again.run().unwrap().trajectory);
    assert_eq!(again.run().unwrap().trajectory.blocks(), parts.blocks());
}

#[test]
fn what_is_asked_for_goes_before_the_text() {
    let asked = Overrides {
        parameters: pairs(&[("g", 4.0)]),
        start: pairs(&[("p_y", 2.0)]),
        until: Some(0.5),
        method: Some("rk4".to_owned()),
        step: Some(0.0625),
        samples: Some(4),
        ..Overrides::default()
    };
    let flight = run(BALL, &asked);
    assert_eq!(flight.simulation.integrator.card().name, "rk4");
    assert_eq!(flight.trajectory.times(), [0.0, 0.125, 0.25, 0.375, 0.5]);
    assert_eq!((flight.trajectory.work().steps, flight.last_step()), (8, Some(0.0625)));
    // y = 2 t − 2 t²
    let end = flight.trajectory.end();
    assert!((end.q[0] - 0.5).abs() < 1e-14 && end.p[0].abs() < 1e-14, "{end:?}");
    let by_tolerance = Overrides {
        method: Some("dop853".to_owned()),
        tolerance: Some(1e-6),
        until: Some(0.7),
        ..Overrides::default()
    };
    let text = BALL.replace(", every 0.25", "");
    assert_eq!(run(&text, &by_tolerance).trajectory.len(), 1001);
    // What pictures need more is not recorded: bit by bit the same, by steps of one length, too.
    let by_step = Overrides { step: Some(1e-5), until: Some(0.7), ..Overrides::default() };
    for plain in [by_tolerance, by_step] {
        let fine = run(&text, &Overrides { fine_samples: Some(4000), ..plain.clone() });
        assert!(fine.trajectory.len() > 4000 && fine.fine_record().unwrap().len() == fine.trajectory.len());
        assert_eq!(fine.record().unwrap(), run(&text, &plain).record().unwrap());
    }
}

#[test]
fn events_are_a_table() {
    let flight = run(BALL, &Overrides::default());
    let table = flight.event_table().unwrap();
    let columns: Vec<_> = table.columns().into_iter().map(|(_, name)| name).collect();
    assert_eq!(columns, ["t", "event", "direction", "y", "y'", "p_y"]);
    let column = |i: usize| {
        let mut values = Vec::new();
        table.read(i, 0..table.rows(), &mut values).unwrap();
        values
    };
    assert_eq!((column(1), column(2)), (vec![0.0, 1.0], vec![0.0, 0.0]));
    assert!((column(0)[0] - 0.5).abs() < 1e-14 && (column(4)[1] + 1.0).abs() < 1e-14, "{table:?}");
}

#[test]
fn a_method_that_nobody_names_is_chosen() {
    let source = Source::open("pendulum", None).unwrap();
    let simulation = source.simulation(&Graph::new(), &Overrides::default()).unwrap();
    assert!(simulation.why.is_some() && simulation.name == "pendulum" && !simulation.about.is_empty());
}

#[test]
fn starts_are_drawn_where_the_catalog_says_how() {
    let asked = |seed| Overrides { seed: Some(seed), until: Some(0.0), ..Overrides::default() };
    let source = Source::open("n-pendulum", Some(3)).unwrap();
    let start = |seed| source.simulation(&Graph::new(), &asked(seed)).unwrap().start;
    assert_eq!(start(7), start(7));
    assert_ne!(start(7), start(8));
    let error = Source::text("test", BALL).simulation(&Graph::new(), &asked(7)).err().unwrap();
    assert_eq!(error.fault, Fault::Usage);
}

#[test]
fn an_interrupted_run_is_kept() {
    let source = Source::open("pendulum", None).unwrap();
    let simulation = source.simulation(&Graph::new(), &Overrides::default()).unwrap();
    let part = simulation.run_watched(|moment| match moment.work().steps {
        100.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let (part, whole) = (part.unwrap(), simulation.run().unwrap());
    assert!(part.is_interrupted() && part.trajectory.reason() == Reason::Interrupted);
    assert_eq!(part.trajectory.work().steps, 100);
    let both = part.trajectory.samples().zip(whole.trajectory.samples()).take(part.trajectory.len() - 1);
    assert!(both.clone().count() > 0 && both.into_iter().all(|(a, b)| a == b));
    assert_eq!(part.record().unwrap().len(), part.trajectory.len());
    assert!(part.measure().unwrap().energy.drift.relative() < 1e-3);
}

/// A fall into a hole: x' = −1/x ends at t = 1/2.
#[test]
fn a_failed_run_is_kept_until_there() {
    let text = "coord x\nmomentum p\nhamiltonian -p/x\nstart x = 1\nrun method dop853, tol 1e-8, until 2, every 0.125";
    let simulation = Source::text("hole", text).simulation(&Graph::new(), &Overrides::default()).unwrap();
    let failed = simulation.run().err().unwrap();
    assert_eq!(failed.fault(), Fault::Run);
    let FailedRun { error, run: Some(run) } = failed else { panic!("nothing is kept") };
    assert!(!matches!(error, RunError::TooManySteps { .. }), "{error}");
    assert_eq!(run.trajectory.times()[..4], [0.0, 0.125, 0.25, 0.375]);
    let x = run.record().unwrap().coordinates.values(0).to_vec();
    assert!((x[3] - 0.5).abs() < 1e-7, "{x:?}");
}

#[test]
fn a_run_that_cannot_begin_keeps_nothing() {
    let asked = Overrides { step: Some(-0.125), ..Overrides::default() };
    let error = Source::text("test", BALL).simulation(&Graph::new(), &asked).err().unwrap();
    assert_eq!(error.fault, Fault::Usage);
    let mut simulation = Source::text("test", BALL).simulation(&Graph::new(), &Overrides::default()).unwrap();
    simulation.until = -1.0;
    let failed = simulation.run().err().unwrap();
    assert!(failed.run.is_none() && failed.fault() == Fault::Usage);
}

#[test]
fn what_moved_or_drifted_is_reported() {
    let text = "coord x, y\nparticle bob mass 1 at [x, y]\ngravity [0, -1]\nconstraint rod: x^2 + y^2 = 1\n\
                start x = 1.02\nrun method rattle, step 0.01, until 1";
    let measured = run(text, &Overrides::default()).measure().unwrap();
    let [Warning::Moved { coordinate: Some((name, by)), velocities: None }] = &measured.warnings[..] else {
        panic!("{:?}", measured.warnings)
    };
    assert!(name == "x" && (by - 0.02).abs() < 1e-12);
    assert!(measured.position_violation < 1e-12 && measured.velocity_violation < 1e-12);

    let fall = Overrides { method: Some("rk4".to_owned()), step: Some(0.5), ..Overrides::default() };
    let orbit = Source::open("two-body", None).unwrap().simulation(&Graph::new(), &fall).unwrap();
    let measured = orbit.run().unwrap().measure().unwrap();
    let wrong = |warning: &Warning| matches!(warning, Warning::Drifted { name, remedy: "step", .. } if name == "energy");
    assert!(measured.warnings.iter().any(wrong), "{:?}", measured.warnings);
}

#[test]
fn totals_of_a_free_system_are_conserved() {
    let text = "coord x1, y1, x2, y2\nparticle a mass 1 at [x1, y1]\nparticle b mass 2 at [x2, y2]\n\
                potential ((x1 - x2)^2 + (y1 - y2)^2)^2\nstart x1 = 1, y2' = 0.5\nrun method gauss4, step 0.01, until 1";
    let measured = run(text, &Overrides::default()).measure().unwrap();
    let names: Vec<_> = measured.conserved.iter().map(|conserved| conserved.name.as_str()).collect();
    assert_eq!(names, ["energy", "momentum along x", "momentum along y", "angular momentum about z"]);
    assert!(
        measured.conserved[1..].iter().all(|conserved| conserved.drift.relative() < 1e-14),
        "{:?}",
        measured.conserved
    );
}

/// A push of 10 for a tenth of a second gives a unit of mass the speed 1: it is at (10 − 5.05)·1 in the end.
#[test]
fn a_brief_push_is_felt() {
    let push = "select(t > 5, select(t < 5.1, 10, 0), 0)";
    for how in [format!("input u = {push}\nforce x = u"), format!("force x = {push}")] {
        let text = format!("coord x\nparticle b mass 1 at [x]\n{how}\nrun until 10\n");
        let end = run(&text, &Overrides::default()).trajectory.end().q[0];
        assert!((end - 4.95).abs() < 1e-6, "{how}: {end}");
    }
}

/// Forty bodies in honey, too many for a trial to find out how stiff they are: a method for stiff systems takes over, and the run says so.
#[test]
fn a_method_that_creeps_is_replaced() {
    let names: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    let mut text = format!("coord {}\n", names.join(", "));
    for name in &names {
        text += &format!("particle b{name} mass 1 at [{name}]\nforce {name} = 1\n");
    }
    let squares: Vec<String> = names.iter().map(|name| format!("{name}'^2")).collect();
    text += &format!("dissipation 1e7*({})/2\nrun until 10\n", squares.join(" + "));
    let run =
        Source::text("honey", &text).simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap();
    let why = run.simulation.why.unwrap();
    assert_eq!(run.simulation.integrator.card().name, "radau5", "{why}");
    assert!(why.contains("was chosen, but had tried"), "{why}");
    assert!((run.trajectory.end().q[39] / 1e-6 - 1.0).abs() < 1e-6, "{:?}", run.trajectory.end());
}

/// It goes on from where the run stands, with the samples and the events until there, and those after it.
#[test]
fn a_method_that_takes_over_keeps_what_was_computed() {
    // An oscillator that runs into honey: too late for a trial to see it.
    let text = "coord x\nparticle ball mass 1 at [x]\npotential x^2/2\ndissipation 5e7*(1 + tanh(20*(t - 60)))*x'^2/2\nstart x = 1\n\
                event zero: x = 0\nrun until 70, every 0.5, tol 1e-10\n";
    let run = run(text, &Overrides::default());
    let why = run.simulation.why.clone().unwrap();
    assert!(why.contains("radau5 went on"), "{why}");
    let times = run.trajectory.times();
    assert_eq!(times.len(), 141, "{times:?}");
    assert!(times.iter().enumerate().all(|(i, t)| (t - 0.5 * i as f64).abs() < 1e-9), "{times:?}");
    // Before the honey it is a cosine, which passes 0 nineteen times until 59.
    let at = |i: usize| run.trajectory.state(i).unwrap().q[0];
    assert!((at(60) - 30_f64.cos()).abs() < 1e-8 && (at(100) - 50_f64.cos()).abs() < 1e-8);
    let zeros: Vec<f64> = run.trajectory.crossings().iter().map(|crossing| crossing.t).collect();
    let expected = (0..19).map(|i| (f64::from(i) + 0.5) * std::f64::consts::PI);
    assert!(
        zeros.len() >= 19 && zeros.iter().zip(expected).all(|(t, expected)| (t - expected).abs() < 1e-3),
        "{zeros:?}"
    );
    // And there it sticks.
    assert!((at(140) - at(125)).abs() < 1e-5);
}

/// A coordinate that is moved carries momentum that changes: nobody is warned of that. And what rests in a balance of forces that cancel but for rounding, here a
/// governor that is turned evenly, takes few steps.
#[test]
fn what_is_moved_or_rests_is_no_cause_for_alarm() {
    let run = |text: &str| {
        let simulation = Source::text("text", text).simulation(&Graph::new(), &Overrides::default()).unwrap();
        simulation.run().unwrap()
    };
    let lift = run("coord x, y\nparticle man mass 70 at [x, y]\ngravity [0, -9.81]\n\
                    constraint floor: y = 1.5*t^2/2\nstart x' = 0.5\nrun until 4");
    assert_eq!(lift.measure().unwrap().warnings, []);
    let record = lift.record().unwrap();
    let force = record.columns().find(|(_, name, _)| name == "reaction_floor").unwrap().2;
    assert!((force.last().unwrap() - 70.0 * 11.31).abs() < 1e-9);
    let governor = run("param l = 0.4, w = 8, g = 9.81\ncoord th, phi\n\
                        particle ball mass 0.5 at [l*sin(th)*cos(phi), l*sin(th)*sin(phi), -l*cos(th)]\n\
                        gravity [0, 0, -g]\nconstraint turn: phi = w*t\nstart th = acos(g/(l*w^2))\nrun until 5");
    assert!(governor.trajectory.work().steps < 1000, "{:?}", governor.trajectory.work());
    assert!((governor.trajectory.end().q[0] - (9.81_f64 / 25.6).acos()).abs() < 1e-9);
}

/// Van der Pol's oscillator with μ = 1000, whose end is known (F. Mazzia and C. Magherini, *Test Set for Initial Value Problem Solvers*, problem VDPOL): a series creeps through it.
#[test]
fn a_stiff_oscillator_is_left_to_another_method() {
    let text = "coord x\nkinetic x'^2/2\npotential x^2/2\nforce x = 1000*(1 - x^2)*x'\nstart x = 2\nrun until 2000\n";
    let run = run(text, &Overrides::default());
    let (end, work) = (run.trajectory.end(), run.trajectory.work());
    assert!(work.steps < 50_000, "{work:?}");
    assert!((end.q[0] - 1.706_167_732_170_483).abs() < 1e-7, "{end:?}");
    assert!((end.p[0] + 8.928_097_010_247_975e-4).abs() < 1e-9, "{end:?}");
}

/// Errors of borders name what is written, and no other method is offered where none can help.
#[test]
fn errors_of_borders_fit() {
    let text = "coord x\nparticle p mass 1 at [x]\npotential select(1 - abs(x) > 0, 1, 0)\nstart x' = 3\nrun until 3";
    let simulation = Source::text("jump", text).simulation(&Graph::new(), &Overrides::default()).unwrap();
    let failed = simulation.run().err().unwrap();
    let said = failed.error.to_string();
    assert!(said.contains("`x*sign(x) - 1`") && !said.contains("branch"), "{said}");
    let diagnosis = failed.diagnosis().unwrap();
    assert!(diagnosis.others.is_none() && !diagnosis.to_string().contains("collision"), "{diagnosis}");
}

/// All bounces are known: the n-th flight begins with vₙ = eⁿ sqrt(2 g h), and takes 2 vₙ/g.
#[test]
fn the_ball_of_the_catalog_bounces_as_it_should() {
    let source = Source::catalog("bouncing-ball", None).unwrap();
    let run = source.simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap();
    let (g, e, h, until) = (9.81_f64, 0.9_f64, 1.0_f64, 6.0);
    let (mut t, mut speed, mut bounces) = ((2.0 * h / g).sqrt(), (2.0 * g * h).sqrt(), Vec::new());
    while t < until {
        bounces.push(t);
        speed *= e;
        t += 2.0 * speed / g;
    }
    let found: Vec<f64> = run.trajectory.crossings().iter().map(|crossing| crossing.t).collect();
    assert_eq!((found.len(), bounces.len()), (11, 11));
    for (found, known) in found.iter().zip(&bounces) {
        assert!((found - known).abs() < 1e-12, "{found} is not {known}");
    }
    let (end, flown) = (run.trajectory.end(), until - bounces[10]);
    let known = [0.5 * until, speed * flown - 0.5 * g * flown * flown];
    assert!(end.q.iter().zip(known).all(|(q, known)| (q - known).abs() < 1e-12), "{:?} {known:?}", end.q);
}
