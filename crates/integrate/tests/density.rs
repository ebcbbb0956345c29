//! Steps from a density: the way back, order, drift, lanes, checkpoints, and what is refused.

use crate::common::{begin, distance, henon_heiles, kepler};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Block, Card, Checkpoint, Density, Integrator, Keeps, RunError, Tolerance, Trajectory,
};
use leastaction_mechanics::{Dynamics, Model, State};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

const KEPLER: &str = "(x^2 + y^2)^(3/4)";

fn reversible() -> impl Iterator<Item = &'static Card> {
    ALL.iter().filter(|card| card.keeps.contains(&Keeps::Reversible))
}

/// The first so many steps of a run.
fn steps(run: &Integrator, dynamics: &mut Dynamics, start: &State, end: f64, count: u64) -> Trajectory {
    let watch = |moment: &mut leastaction_integrate::Moment<'_, '_>| match moment.work().steps < count {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    run.run_watched(dynamics, start, end, watch).unwrap()
}

/// As many steps back as there, each of them the same, to rounding: also near the sun, where they are a thousand times shorter.
#[test]
fn the_way_back_is_the_way_there() {
    for card in reversible() {
        let (mut dynamics, start) = kepler(0.9);
        if !card.needs.met_by(dynamics.system().facts()) {
            continue;
        }
        for pace in
            [Density::of(KEPLER, 0.1), Density::natural(0.15), Density::of("1/(1 + x'^2 + y'^2)", 0.1)]
        {
            let there = steps(&Integrator::new(card, pace.clone()), &mut dynamics, &start, 100.0, 300);
            let pace = pace.from_density(there.density().unwrap());
            let back = Integrator::new(card, pace).run(&mut dynamics, &there.end(), 0.0).unwrap();
            assert_eq!((there.work().steps, back.work().steps), (300, 300), "{}", card.name);
            let worst = there.samples().zip(back.samples().collect::<Vec<_>>().into_iter().rev());
            let worst = worst.map(|((t, y), (u, z))| (t - u).abs().max(distance(y, z))).fold(0.0, f64::max);
            println!("{:20} {worst:.1e}", card.name);
            assert!(worst < 1e-10, "{}: {worst:e} off", card.name);
        }
    }
}

/// The last step ends where the run should, and the others are as if it went on.
#[test]
fn the_last_step_is_cut_where_the_run_should_end() {
    let (mut dynamics, start) = kepler(0.6);
    let run = Integrator::named("implicit-midpoint", Density::of(KEPLER, 0.1)).unwrap();
    let [whole, longer] = [5.0, 6.0].map(|end| run.run(&mut dynamics, &start, end).unwrap());
    let before = whole.len() - 1;
    assert_eq!((whole.times()[before], longer.times()[longer.len() - 1]), (5.0, 6.0));
    assert_eq!(whole.times()[..before], longer.times()[..before]);
    assert_eq!(whole.blocks()[..4 * before], longer.blocks()[..4 * before]);
    // A cut step is no longer than a whole one, and its density is between those of its neighbours, or near them.
    let cut = 5.0 - whole.times()[before - 1];
    assert!(cut > 0.0 && cut < longer.times()[before] - longer.times()[before - 1]);
    let r = whole.end().q.iter().map(|q| q * q).sum::<f64>().sqrt();
    assert!((whole.density().unwrap() * r.powf(1.5) - 1.0).abs() < 1e-2);
    // The cut step is symmetric too: back over it, and then over the whole ones.
    let back = |pace: Density, dynamics: &mut Dynamics, from: &Trajectory, end: f64| {
        let pace = pace.from_density(from.density().unwrap());
        Integrator::named("implicit-midpoint", pace).unwrap().run(dynamics, &from.end(), end).unwrap()
    };
    let pace = Density::of(KEPLER, 0.1);
    let uncut = back(pace.clone(), &mut dynamics, &whole, whole.times()[before - 1]);
    let home = back(pace, &mut dynamics, &uncut, 0.0);
    assert_eq!((uncut.work().steps, home.work().steps), (1, before as u64 - 1));
    assert!(distance(&home.end().block(), &start.block()) < 1e-12);
    // Times of samples change nothing.
    let sampled = run.clone().at(&[1.0, 2.0, 5.0]).run(&mut dynamics, &start, 5.0).unwrap();
    assert_eq!((sampled.len(), sampled.end()), (3, whole.end()));
    assert_eq!(run.run(&mut dynamics, &start, 0.0).unwrap().work().steps, 0);
}

/// Errors at a time shrink with the order of the method as ε does; those of higher orders are too small to show it.
#[test]
fn methods_keep_their_order() {
    for card in reversible().filter(|card| card.order <= 8) {
        let (mut dynamics, start) = henon_heiles();
        let reference = Integrator::named("rk4", 1.0 / 8192.0).unwrap().ends_only();
        let exact = reference.run(&mut dynamics, &start, 2.0).unwrap().end().block();
        let wanted = format!("1/(2 + sin({}))", dynamics.system().coordinates().at(0));
        let ratio = 4.0_f64.powf(1.0 / f64::from(card.order));
        let runs = (0..60).map(|k| 4.0 * ratio.powi(-k)).map_while(|epsilon| {
            let run = Integrator::new(card, Density::of(&wanted, epsilon)).ends_only();
            let end = run.run(&mut dynamics, &start, 2.0);
            let error = end.map_or(f64::INFINITY, |end| distance(&end.end().block(), &exact));
            (error > 1e-10).then_some((epsilon, error))
        });
        let seen: Vec<(f64, f64)> = runs.filter(|(_, error)| *error < 1e-3).collect();
        assert!(seen.len() >= 3, "{}: only {seen:?}", card.name);
        let ((e0, d0), (e1, d1)) = (seen[seen.len().saturating_sub(8)], seen[seen.len() - 1]);
        let found = (d0 / d1).ln() / (e0 / e1).ln();
        println!("{:20} order {} measured {found:.2}", card.name, card.order);
        assert!(found > f64::from(card.order) - 0.6, "{}: slope {found} in {seen:?}", card.name);
    }
}

/// 100 orbits with e = 0.9: for the same number of steps, steps from a density have an energy error a hundred times smaller than
/// fixed ones, without drift; steps from the state at their beginning drift, although they are as long.
#[test]
fn nothing_drifts_on_an_eccentric_orbit() {
    let (mut dynamics, start) = kepler(0.9);
    let end = 100.0 * TAU;
    let card = Card::named("implicit-midpoint").unwrap();
    let adaptive = Integrator::new(card, Density::of(KEPLER, 0.02)).run(&mut dynamics, &start, end).unwrap();
    let count = adaptive.work().steps;
    let fixed = Integrator::new(card, end / count as f64).run(&mut dynamics, &start, end).unwrap();
    let energies = |run: &Trajectory| run.energies(&mut dynamics.clone()).unwrap();
    let measured = [
        (adaptive.times().to_vec(), energies(&adaptive)),
        (fixed.times().to_vec(), energies(&fixed)),
        naive(card, &mut dynamics, &start, 0.02, end),
    ]
    .map(|(times, energies)| {
        let worst = energies.iter().map(|e| (e + 0.5).abs()).fold(0.0, f64::max);
        (worst / 0.5, slope(&times, &energies) * end / 0.5)
    });
    println!("{count} steps, (worst error, drift) of density, fixed, naive: {measured:?}");
    let [(density, drift), (even, _), (_, wandered)] = measured;
    assert!(density < 0.01 * even, "{measured:?}");
    assert!(wandered.abs() > 100.0 * drift.abs(), "{measured:?}");
}

/// Times and energies with h = ε Q(y) at the beginning of each step.
fn naive(
    card: &'static Card,
    dynamics: &mut Dynamics,
    start: &State,
    epsilon: f64,
    end: f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut times, mut energies) = (Vec::new(), Vec::new());
    let (mut t, mut block, mut energy) = (start.t, Block::one(&start.block()), [0.0]);
    while t < end {
        let [x, y] = [block.values()[0], block.values()[1]];
        let h = epsilon * (x * x + y * y).powf(0.75);
        Integrator::new(card, h)
            .march(dynamics, t, &mut block, t + h, |_| Ok(ControlFlow::Continue(())))
            .unwrap();
        t += h;
        dynamics.energy(&[t], block.values(), &mut energy).unwrap();
        times.push(t);
        energies.push(energy[0]);
    }
    (times, energies)
}

/// The slope of the line through points.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let pairs = || x.iter().zip(y).map(|(x, y)| (x - mx, y - my));
    pairs().map(|(x, y)| x * y).sum::<f64>() / pairs().map(|(x, _)| x * x).sum::<f64>()
}

/// Three bodies of masses 3, 4 and 5 at the corners of a right triangle, at rest. The natural time knows nothing of bodies, and still
/// leads through their encounters, of which the closest is near t = 15.83 at a distance of about 4e−4 (C. Burrau's problem; V. Szebehely
/// and C. F. Peters, Astron. J. 72 (1967) 876, doi:10.1086/110355). Ten times as many fixed steps do not.
#[test]
fn close_encounters_set_the_pace_by_themselves() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let bodies = [("a", 3.0), ("b", 4.0), ("c", 5.0)];
    let places = bodies
        .map(|(name, _)| [model.coordinate(&format!("x{name}")), model.coordinate(&format!("y{name}"))]);
    for (i, (name, mass)) in bodies.into_iter().enumerate() {
        model.particle(name, mass, places[i]);
        for j in 0..i {
            let [dx, dy] = [places[i][0] - places[j][0], places[i][1] - places[j][1]];
            model.potential(
                &format!("{name}{}", bodies[j].0),
                -mass * bodies[j].1 / (dx * dx + dy * dy).sqrt(),
            );
        }
    }
    let corners = [("xa", 1.0), ("ya", 3.0), ("xb", -2.0), ("yb", -1.0), ("xc", 1.0), ("yc", -1.0)];
    let (mut dynamics, start) = begin(&model, &corners);
    let distance = |y: &[f64], i: usize, j: usize| (y[i] - y[j]).hypot(y[i + 1] - y[j + 1]);
    let closest = |run: &Trajectory| {
        let nearest = |y: &[f64]| distance(y, 0, 2).min(distance(y, 0, 4)).min(distance(y, 2, 4));
        let pairs = run.samples().map(|(t, y)| (nearest(y), t));
        pairs.fold((f64::MAX, 0.0), |a, b| if b.0 < a.0 { b } else { a })
    };
    for (name, epsilon, energy) in [("kahan-li8", 0.05, 1e-8), ("blanes-moan6", 0.05, 1e-7)] {
        let run = Integrator::named(name, Density::natural(epsilon)).unwrap();
        let run = run.run(&mut dynamics, &start, 20.0).unwrap();
        let ((r, t), drift) = (closest(&run), run.energy_drift(&mut dynamics).unwrap());
        println!("{name}: {drift:.1e} in {} steps, {r:.2e} at {t:.4}", run.work().steps);
        assert!((t - 15.83).abs() < 1e-3 && (3.5e-4..4.5e-4).contains(&r), "{r} at {t}");
        assert!(drift < energy, "{name}: {drift}");
        let step = 2.0 / run.work().steps as f64;
        let fixed = Integrator::named(name, step).unwrap().run(&mut dynamics, &start, 20.0).unwrap();
        let drift = fixed.energy_drift(&mut dynamics).unwrap();
        println!("{name}: {drift:.1e} in {} fixed steps", fixed.work().steps);
        assert!(drift > 1e-2);
    }
}

#[test]
fn lanes_have_densities_of_their_own() {
    let (mut dynamics, start) = kepler(0.5);
    let run = Integrator::named("implicit-midpoint", Density::of(KEPLER, 0.1)).unwrap().ends_only();
    let states: [Vec<f64>; LANES] = std::array::from_fn(|j| {
        let mut y = start.block();
        y[3] *= 1.0 - 0.08 * j as f64;
        y
    });
    let mut block = Block::lanes(states.each_ref().map(|s| s.as_slice()));
    run.march(&mut dynamics, 0.0, &mut block, 10.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
    for (lane, state) in states.iter().enumerate() {
        let alone = run.run(&mut dynamics, &State::from_block(0.0, state, 2), 10.0).unwrap();
        assert_eq!(block.lane(lane), alone.end().block(), "lane {lane}");
    }
    let mut block = Block::lanes(states.each_ref().map(|s| s.as_slice()));
    let apart = run.every(1).march(&mut dynamics, 0.0, &mut block, 10.0, |_| Ok(ControlFlow::Continue(())));
    assert_eq!(apart.unwrap_err(), RunError::LanesApart);
}

#[test]
fn checkpoints_go_on_with_the_same_bits() {
    for pace in [Density::of("(x^2 +\n y^2)^(3/4)", 0.1), Density::natural(0.1).from_density(30.0)] {
        let (mut dynamics, start) = kepler(0.8);
        let run = Integrator::named("implicit-midpoint", pace).unwrap();
        let whole = run.run(&mut dynamics, &start, 20.0).unwrap();
        let left = steps(&run, &mut dynamics, &start, 20.0, 100);
        let text = left.checkpoint().unwrap().to_string();
        let read: Checkpoint = text.parse().unwrap();
        assert_eq!(&read, left.checkpoint().unwrap());
        let (mut dynamics, _) = kepler(0.8);
        let rest = run.resume(&mut dynamics, &read).unwrap();
        assert_eq!((rest.end(), rest.density()), (whole.end(), whole.density()));
        assert_eq!(rest.work(), whole.work());
    }
    let text = Checkpoint::to_string(
        steps(
            &Integrator::named("implicit-midpoint", Density::natural(0.1)).unwrap(),
            &mut kepler(0.1).0,
            &kepler(0.1).1,
            1.0,
            2,
        )
        .checkpoint()
        .unwrap(),
    );
    assert!(text.replace("density 1e-1", "density x").parse::<Checkpoint>().is_err());
}

#[test]
fn refuses_what_is_no_density() {
    let (mut dynamics, start) = kepler(0.9);
    let mut refused = |method: &str, pace: Density| {
        let failed = Integrator::named(method, pace).unwrap().run(&mut dynamics, &start, 10.0).unwrap_err();
        println!("{failed}");
        failed.error
    };
    let of = |text: &str| Density::of(text, 0.1);
    assert!(
        matches!(refused("rk4", of(KEPLER)), RunError::NotReversible { instead, .. } if instead != "rk4")
    );
    for epsilon in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused("implicit-midpoint", Density::of(KEPLER, epsilon)),
            RunError::BadEpsilon { .. }
        ));
    }
    let mut refused = |pace| refused("implicit-midpoint", pace);
    assert!(matches!(refused(of(KEPLER).from_density(-1.0)), RunError::BadFirstDensity { .. }));
    assert!(matches!(refused(of("r^2")), RunError::Wanted(_)));
    assert!(matches!(refused(of("x^")), RunError::Wanted(_)));
    // At the start, and on the way.
    assert!(matches!(refused(of("0*x - 1")), RunError::BadWanted { t: 0.0, value: -1.0, .. }));
    assert!(matches!(refused(of("1/y")), RunError::BadWanted { t: 0.0, .. }));
    let crossed = refused(Density::of("x + 0.5", 0.01));
    assert!(matches!(crossed, RunError::BadWanted { t, .. } | RunError::StepTooShort { t, .. } if t > 0.0));
    // Steps of changing length keep time reversal, but not the symplectic form.
    let run = Integrator::named("implicit-midpoint", of(KEPLER)).unwrap();
    assert!(run.clone().keeping(Keeps::Reversible).run(&mut dynamics, &start, 1.0).is_ok());
    let lost = run.keeping(Keeps::Symplectic).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(lost.error, RunError::LostByPace { what: Keeps::Symplectic, .. }), "{lost}");
    let adaptive = Integrator::named("implicit-midpoint", Tolerance::relative(1e-6)).unwrap();
    assert!(adaptive.run(&mut dynamics, &start, 10.0).is_err());
    // A stone in uniform gravity has no natural time, and says so; at rest at the origin a wanted step may still be given.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("stone", 1.0, [x]);
    model.gravity([-9.81]);
    let (mut dynamics, start) = begin(&model, &[]);
    let fall = |pace: Density| Integrator::named("implicit-midpoint", pace).unwrap();
    let failed = fall(Density::natural(0.1)).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(failed.error, RunError::BadWanted { t: 0.0, .. }), "{failed}");
    let fell = fall(Density::of("1 + x^2", 0.01)).run(&mut dynamics, &start, 1.0).unwrap();
    assert!((fell.end().q[0] + 9.81 / 2.0).abs() < 1e-14);
    // A wanted step that grows so fast that the density cannot follow with these steps, but can with shorter ones.
    let growing =
        |epsilon: f64| fall(Density::of("exp(-5*x)", epsilon)).run(&mut dynamics.clone(), &start, 0.5);
    assert!(matches!(growing(0.2).unwrap_err().error, RunError::BadDensity { t, .. } if t > 0.0));
    assert!(growing(1e-5).is_ok());
    let limited = fall(Density::of("1 + x^2", 0.01)).at_most(3).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(limited.error, RunError::OutOfSteps { limit: 3, .. }));
}
