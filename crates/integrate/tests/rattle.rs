//! Methods that keep constraints: order, symplecticity on the manifold, the way back, momenta, lanes, long runs.

use crate::common::{begin, distance, links};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Block, Card, Checkpoint, Density, Integrator, Keeps, Needs, Pace, RunError, StepError, Tolerance,
};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

type System = (Dynamics, State);

/// The methods for constraints of positions: `shake` is among them, and is projected.
fn holonomic() -> impl Iterator<Item = &'static Card> {
    ALL.iter().filter(|card| card.needs == Needs::Holonomic)
}

/// Paces at which a method may run: a density is for those that keep time reversal, of which a projection knows nothing.
fn paces(card: &Card, step: f64, density: Density) -> Vec<Pace> {
    let steps = Pace::Step(step);
    if card.keeps.contains(&Keeps::Constraints) { vec![steps, Pace::Density(density)] } else { vec![steps] }
}

/// Those that bring a state onto constraints by themselves.
fn keeping() -> impl Iterator<Item = &'static Card> {
    holonomic().filter(|card| card.keeps.contains(&Keeps::Constraints))
}

/// A motion in Cartesian coordinates with constraints, and the same in coordinates that need none.
struct Twins {
    name: &'static str,
    constrained: System,
    free: System,
    /// The constrained coordinates from a time and the free ones.
    place: fn(f64, &[f64]) -> Vec<f64>,
}

fn twins() -> Vec<Twins> {
    vec![
        Twins {
            name: "links",
            constrained: links(),
            free: angles(),
            place: |_, q| {
                let elbow = [q[0].sin(), -q[0].cos()];
                vec![elbow[0], elbow[1], elbow[0] + 0.5 * q[1].sin(), elbow[1] - 0.5 * q[1].cos()]
            },
        },
        Twins { name: "bead", constrained: bead(true, 0.0), free: bead(false, 0.0), place: on_bead },
        Twins { name: "rubbed bead", constrained: bead(true, 0.3), free: bead(false, 0.3), place: on_bead },
        Twins {
            name: "winch",
            constrained: winch(true),
            free: winch(false),
            place: |t, q| {
                let (length, pivot) = (1.0 + 0.3 * (2.0 * t).sin(), 0.2 * (3.0 * t).sin());
                vec![pivot + length * q[0].sin(), -length * q[0].cos()]
            },
        },
    ]
}

/// The two links in angles.
fn angles() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 2.0, [elbow[0] + 0.5 * b.sin(), elbow[1] - 0.5 * b.cos()]);
    model.gravity([0.0, -5.0]);
    begin(&model, &[("a", std::f64::consts::FRAC_PI_2)])
}

/// A bead on a parabola, by its abscissa, so that its mass depends on where it is; a rod hangs from it. There may be friction on the wire,
/// and on the rod's end. The rod's end is constrained, or given by an angle.
fn bead(constrained: bool, friction: f64) -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let s = model.coordinate("s");
    let wire = [s, 0.5 * s * s];
    model.particle("bead", 2.0, wire);
    let (end, names) = if constrained {
        ([model.coordinate("x"), model.coordinate("y")], [("x", 0.4 + 0.8), ("y", 0.08 - 0.6)])
    } else {
        let a = model.coordinate("a");
        ([wire[0] + a.sin(), wire[1] - a.cos()], [("a", 0.8_f64.asin()), ("a'", 0.0)])
    };
    model.particle("end", 1.0, end);
    model.gravity([0.0, -3.0]);
    if constrained {
        let [dx, dy] = [end[0] - wire[0], end[1] - wire[1]];
        model.constraint("rod", dx * dx + dy * dy, 1.0);
    }
    if friction > 0.0 {
        let velocity = model.velocities(end);
        let rubbed = model.velocity(s).pow(2.0) + velocity[0].pow(2.0) + velocity[1].pow(2.0);
        model.dissipation("friction", 0.5 * friction * rubbed);
    }
    let mut start = vec![("s", 0.4), ("s'", 0.5)];
    // The rod is carried along without turning.
    start.extend(names);
    if constrained {
        start.extend([("x'", 0.5), ("y'", 0.2)]);
    }
    begin(&model, &start)
}

fn on_bead(_: f64, q: &[f64]) -> Vec<f64> {
    let (s, a) = (q[0], q[1]);
    vec![s, s + a.sin(), 0.5 * s * s - a.cos()]
}

/// A pendulum whose length is wound up and down while its pivot is shaken.
fn winch(constrained: bool) -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let (length, pivot) = (1.0 + 0.3 * (2.0 * t).sin(), 0.2 * (3.0 * t).sin());
    model.gravity([0.0, -4.0]);
    if constrained {
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bob", 1.5, [x, y]);
        model.constraint("rope", (x - pivot).pow(2.0) + y * y, length.pow(2.0));
        // The angle 0 at rest: the pivot carries the bob along, and the rope is let out.
        begin(&model, &[("x", 0.0), ("y", -1.0), ("x'", 0.6 + 1.0), ("y'", -0.6)])
    } else {
        let a = model.coordinate("a");
        model.particle("bob", 1.5, [pivot + length * a.sin(), -length * a.cos()]);
        begin(&model, &[("a", 0.0), ("a'", 1.0)])
    }
}

/// The slope of log error over log step.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = || points.iter().map(|(h, e)| (h.ln(), e.ln()));
    let mean = logs().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / n, sum.1 + y / n));
    let (xy, xx) = logs().fold((0.0, 0.0), |sum, (x, y)| {
        let (dx, dy) = (x - mean.0, y - mean.1);
        (sum.0 + dx * dy, sum.1 + dx * dx)
    });
    xy / xx
}

/// Against the same motion in coordinates without constraints, at tight tolerance.
#[test]
fn methods_have_their_order_on_constraints() {
    for Twins { name, constrained, free, place } in &mut twins() {
        let span = 1.0;
        let reference = Integrator::named("dop853", Tolerance::relative(1e-13)).unwrap().ends_only();
        let end = reference.run(&mut free.0, &free.1, span).unwrap().end();
        let expected = place(span, &end.q);
        // Methods of order 8 reach rounding before their errors show their order on all of these: see the test of SPARK methods.
        for card in holonomic().filter(|card| card.order < 8) {
            let ratio = 8.0_f64.powf(1.0 / f64::from(card.order));
            let mut points = Vec::new();
            for steps in (0..40).map(|k| (3.0 * ratio.powi(k)).round()) {
                let run = Integrator::new(card, span / steps).ends_only();
                let Ok(found) = run.run(&mut constrained.0, &constrained.1, span) else {
                    assert!(span / steps > 0.04, "{} on {name} fails with {steps} steps", card.name);
                    continue;
                };
                let error = distance(&found.end().q, &expected);
                if error < 1e-11 || steps > 5000.0 {
                    break;
                }
                if error < 1e-3 {
                    points.push((span / steps, error));
                }
            }
            let most = if card.order < 6 { 5 } else { 3 };
            let used = &points[points.len().saturating_sub(most)..];
            let found = slope(used);
            println!("{:8} on {name}: order {found:.3} over {} steps", card.name, used.len());
            assert!((found - f64::from(card.order)).abs() < 0.3, "{} on {name}: {used:?}", card.name);
        }
    }
}

/// The state after a step, from a state.
fn step(card: &'static Card, dynamics: &mut Dynamics, t: f64, y: &[f64], h: f64) -> Vec<f64> {
    let state = State::from_block(t, y, y.len() / 2);
    Integrator::new(card, h).ends_only().run(dynamics, &state, t + h).unwrap().end().block()
}

/// How far ω(Ma, Mb) is from ω(a, b) for the derivative M of a step, over vectors that are tangent to the manifold of constraints: those of
/// the curves that lead through a state on it when each number of the state is moved and the result projected.
fn form_error(card: &'static Card, (dynamics, start): &mut System, h: f64) -> f64 {
    let (y, n) = (start.block(), start.q.len());
    let mut curve = |at: usize, by: f64| {
        let mut moved = y.clone();
        moved[at] += by;
        dynamics.project(&[start.t], &mut moved).unwrap();
        let image = step(card, dynamics, start.t, &moved, h);
        (moved, image)
    };
    let d = 2e-3;
    let tangents: Vec<(Vec<f64>, Vec<f64>)> = (0..2 * n)
        .map(|j| {
            let (mut tangent, mut image) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            // Differences of sixth order.
            for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
                let (plus, minus) = (curve(j, k * d), curve(j, -k * d));
                for i in 0..2 * n {
                    tangent[i] += weight * (plus.0[i] - minus.0[i]) / d;
                    image[i] += weight * (plus.1[i] - minus.1[i]) / d;
                }
            }
            (tangent, image)
        })
        .collect();
    let omega = |a: &[f64], b: &[f64]| (0..n).map(|i| a[i] * b[n + i] - a[n + i] * b[i]).sum::<f64>();
    let pairs = tangents.iter().flat_map(|a| tangents.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| (omega(&a.1, &b.1) - omega(&a.0, &b.0)).abs()).fold(0.0, f64::max)
}

#[test]
fn the_form_is_kept_on_the_manifold() {
    for Twins { name, mut constrained, .. } in twins().into_iter().filter(|twins| twins.name != "rubbed bead")
    {
        for card in keeping() {
            let found = form_error(card, &mut constrained, 0.1);
            println!("{:8} on {name}: ω changes by {found:.1e}", card.name);
            assert!(found < 1e-10, "{} on {name}: {found:e}", card.name);
        }
        let found = form_error(Card::named("rk4").unwrap(), &mut constrained, 0.1);
        println!("projected rk4 on {name}: ω changes by {found:.1e}");
        assert!(found > 1e-7, "the checker sees nothing on {name}");
    }
}

/// A step h and one of −h, from where the first led; and, where time does not matter, a step h with velocities turned round.
#[test]
fn the_way_back_is_the_way_there() {
    for Twins { name, constrained: (mut dynamics, start), .. } in twins() {
        let (y, n) = (start.block(), start.q.len());
        for card in holonomic() {
            let there = step(card, &mut dynamics, 0.0, &y, 0.05);
            let back = step(card, &mut dynamics, 0.05, &there, -0.05);
            let mut off = distance(&back, &y);
            if dynamics.system().facts().autonomous && !dynamics.system().facts().dissipative {
                let turned = |y: &[f64]| -> Vec<f64> {
                    y.iter().enumerate().map(|(i, y)| if i < n { *y } else { -y }).collect()
                };
                off = off.max(distance(&turned(&step(card, &mut dynamics, 0.0, &turned(&there), 0.05)), &y));
            }
            println!("{:8} on {name}: comes back {off:.1e} off", card.name);
            assert!(off < 1e-13, "{} on {name}: {off:e}", card.name);
        }
    }
}

/// A chain of rods that flies freely, held together by a spring from end to end: linear and angular momentum.
#[test]
fn momenta_are_conserved_to_rounding() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let places: Vec<_> = (0..4)
        .map(|k| {
            let place = ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}{k}")));
            model.particle(&format!("ball {k}"), 1.0 + 0.5 * f64::from(k), place);
            place
        })
        .collect();
    let apart = |a: usize, b: usize| {
        let [x, y, z] = std::array::from_fn(|i| (places[a][i] - places[b][i]).pow(2.0));
        x + y + z
    };
    for k in 1..4 {
        model.constraint(&format!("rod {k}"), apart(k - 1, k), 1.0);
    }
    model.potential("spring", 2.0 * apart(0, 3).sqrt());
    let start = [
        ("x1", 1.0),
        ("x2", 1.0),
        ("y2", 1.0),
        ("x3", 1.0),
        ("y3", 1.0),
        ("z3", 1.0),
        ("x0'", 0.3),
        ("y1'", -0.4),
        ("z2'", 0.8),
        ("x3'", -0.5),
        ("y3'", 0.9),
        ("z0'", 0.2),
    ];
    let (mut dynamics, start) = begin(&model, &start);
    let momenta = |y: &[f64]| -> [f64; 6] {
        let (q, p) = y.split_at(12);
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let each = (0..12).step_by(3);
            match i {
                0..3 => each.map(|b| p[b + i]).sum(),
                _ => each.map(|b| q[b + j] * p[b + k] - q[b + k] * p[b + j]).sum(),
            }
        })
    };
    for card in keeping() {
        let run = Integrator::new(card, 0.02).run(&mut dynamics, &start, 40.0).unwrap();
        let before = momenta(&start.block());
        let off = run.samples().map(|(_, y)| distance(&momenta(y), &before)).fold(0.0, f64::max);
        println!("{:8} momenta change by {off:.1e}", card.name);
        assert!(off < 2e-13, "{}: {off:e}", card.name);
        assert!(violation(&mut dynamics, 40.0, &run.end().block()) < 1e-13);
    }
    let run = Integrator::named("rk4", 0.02).unwrap().run(&mut dynamics, &start, 40.0).unwrap();
    assert!(distance(&momenta(&run.end().block()), &momenta(&start.block())) > 1e-9, "nothing to see");
}

/// Eight lanes from starts of their own, with steps of one length or each its own: the bits of eight runs.
#[test]
fn lanes_have_the_bits_of_single_runs() {
    for Twins { name, constrained: (mut dynamics, start), .. } in twins() {
        let y = start.block();
        let mut states = [const { Vec::new() }; LANES];
        for (lane, state) in states.iter_mut().enumerate() {
            *state = y.clone();
            state.iter_mut().enumerate().for_each(|(i, y)| *y += 0.03 * ((i + 3 * lane) as f64).sin());
            dynamics.project(&[0.0], state).unwrap();
        }
        let wanted = format!("1/(2 + sin(3*{}))", dynamics.system().coordinates().at(0));
        for card in holonomic() {
            for pace in paces(card, 0.04, Density::of(&wanted, 0.04)) {
                let run = Integrator::new(card, pace.clone()).ends_only();
                let mut wide = Block::lanes(states.each_ref().map(|state| state.as_slice()));
                run.march(&mut dynamics, 0.0, &mut wide, 2.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
                for (lane, state) in states.iter().enumerate() {
                    let single = run.run(&mut dynamics, &State::from_block(0.0, state, y.len() / 2), 2.0);
                    let (single, wide) = (single.unwrap().end().block(), wide.lane(lane));
                    assert_eq!(single, wide, "{} on {name}, lane {lane} with {pace}", card.name);
                }
            }
        }
    }
}

/// A run that was broken off and resumed is the run that was not, on constraints too.
#[test]
fn resumed_runs_have_the_same_bits() {
    for Twins { name, constrained: (mut dynamics, start), .. } in twins() {
        for card in holonomic() {
            for pace in paces(card, 0.03, Density::of("1/(2 + sin(t))", 0.06)) {
                let run = Integrator::new(card, pace).every(3);
                let whole = run.run(&mut dynamics, &start, 3.0).unwrap();
                let broken = run.run_watched(&mut dynamics, &start, 3.0, |moment| {
                    if moment.fraction() > 0.4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                let text = broken.unwrap().checkpoint().unwrap().to_string();
                let rest = run.resume(&mut dynamics, &text.parse::<Checkpoint>().unwrap()).unwrap();
                assert_eq!(rest.end(), whole.end(), "{} on {name}", card.name);
                assert_eq!(rest.work(), whole.work(), "{} on {name}", card.name);
            }
        }
    }
}

/// `shake` with its velocities projected is `rattle`.
#[test]
fn shake_and_rattle_have_the_same_motion() {
    let (mut dynamics, start) = links();
    let mut ends = ["shake", "rattle"].map(|name| {
        Integrator::named(name, 0.01).unwrap().run(&mut dynamics, &start, 5.0).unwrap().end().block()
    });
    let off = distance(&ends[0], &ends[1]);
    println!("shake and rattle differ by {off:.1e}");
    assert!(off < 1e-11, "{off:e}");
    assert!(violation(&mut dynamics, 5.0, &ends[0]) < 1e-13);
    // Without a projection of velocities one step alone leaves them off: it is not that there is nothing to project.
    let once = step(Card::named("verlet").unwrap(), &mut kicked(), 0.0, &start.block(), 0.01);
    ends[0] = once;
    assert!(violation(&mut dynamics, 0.01, &ends[0]) > 1e-6);
}

/// The two links without their constraints.
fn kicked() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
    model.particle("elbow", 1.0, [x, y]);
    model.particle("hand", 2.0, [u, v]);
    model.gravity([0.0, -5.0]);
    begin(&model, &[]).0
}

/// A rod that is stated twice changes nothing but the multipliers; a third that contradicts them is found out.
#[test]
fn redundant_constraints_do_no_harm() {
    let doubled = |extra: &[f64]| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
        model.particle("elbow", 1.0, [x, y]);
        model.particle("hand", 2.0, [u, v]);
        model.gravity([0.0, -5.0]);
        model.constraint("upper", x * x + y * y, 1.0);
        for (k, factor) in extra.iter().enumerate() {
            let squared = (u - x).pow(2.0) + (v - y).pow(2.0);
            model.constraint(&format!("lower {k}"), squared * *factor, 0.25 * factor);
        }
        begin(&model, &[("x", 1.0), ("u", 1.0), ("v", -0.5)])
    };
    for card in keeping() {
        let [once, thrice] = [&[1.0][..], &[1.0, 3.0, 0.7]].map(|factors| {
            let (mut dynamics, start) = doubled(factors);
            let run = Integrator::new(card, 0.01).run(&mut dynamics, &start, 3.0).unwrap();
            let end = run.end().block();
            assert!(violation(&mut dynamics, 3.0, &end) < 1e-13);
            end
        });
        assert!(distance(&once, &thrice) < 1e-11, "{}: {once:?} {thrice:?}", card.name);
    }
}

/// A bob that hangs at the origin from a pivot above it, at rest, pushed a little, or swinging through: positions are known no better than to
/// the rounding of the rod's length, however small they are.
#[test]
fn motion_through_the_origin_is_no_obstacle() {
    for (friction, speed) in
        [(0.0, 0.0), (0.0, 1e-9), (0.0, 1e-4), (0.0, 1.0), (0.2, 0.0), (0.2, 1e-6), (0.2, 1.0)]
    {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bob", 1.0, [x, y]);
        model.gravity([0.0, -9.81]);
        model.constraint("rod", x * x + (y - 1.0).pow(2.0), 1.0);
        if friction > 0.0 {
            let [u, v] = model.velocities([x, y]);
            model.dissipation("air", friction * (u * u + v * v));
        }
        let (mut dynamics, start) = begin(&model, &[("x'", speed)]);
        for card in keeping() {
            let run = Integrator::new(card, 1e-3).every(500).run(&mut dynamics, &start, 5.0);
            let end = run.unwrap_or_else(|failed| panic!("{} at {speed}: {failed}", card.name)).end();
            assert!(violation(&mut dynamics, end.t, &end.block()) < 1e-15);
            assert!(end.q[0].abs() <= speed, "{} at {speed}: {:?}", card.name, end.q);
        }
    }
}

/// The same chain in nanometres and in gigametres, its rods written as squares and as roots, is kept to the same digits.
#[test]
fn units_do_not_matter() {
    let mut drifts = Vec::new();
    for (length, mass) in [(1.0, 1.0), (1e-9, 1e-30), (1e9, 1e24)] {
        for root in [false, true] {
            let graph = Graph::new();
            let mut model = Model::new(&graph);
            let [x, y, u, w] = model.coordinates(["x", "y", "u", "w"]);
            model.particle("elbow", mass, [x, y]);
            model.particle("hand", mass, [u, w]);
            model.gravity([0.0, -9.81 * length]);
            for (name, square) in [("upper", x * x + y * y), ("lower", (x - u).pow(2.0) + (y - w).pow(2.0))] {
                let (is, should) = if root { (square.sqrt(), length) } else { (square / length, length) };
                model.constraint(name, is, should);
            }
            let (mut dynamics, start) = begin(&model, &[("x", length), ("u", 2.0 * length)]);
            for card in keeping() {
                let run = Integrator::new(card, 0.01).run(&mut dynamics, &start, 1.0).unwrap();
                let (violation, _) = run.violations(&mut dynamics).unwrap();
                assert!(violation < 1e-14 * length, "{}, {root}, {length:e}: {violation:e}", card.name);
                // All energies are 0 at the start.
                let drift = run.energy_drift(&mut dynamics).unwrap();
                assert!((1e-16..0.1).contains(&drift), "{}, {root}, {length:e}: {drift:e}", card.name);
                drifts.push(drift);
            }
        }
    }
    for (i, drift) in drifts.iter().enumerate() {
        let same = drifts[i % keeping().count()];
        assert!((drift / same - 1.0).abs() < 0.5 || *drift < 1e-12, "{drifts:?}");
    }
}

/// A step so long that no multiplier leads back to the constraints ends the run, and says where.
#[test]
fn steps_that_are_too_long_are_reported() {
    let (mut dynamics, start) = links();
    for card in keeping() {
        let failed = Integrator::new(card, 5.0).run(&mut dynamics, &start, 50.0).unwrap_err();
        println!("{failed}");
        let RunError::Step(StepError::NoConvergence { lane: 0, t, .. }) = failed.error else {
            panic!("{}: {failed}", card.name)
        };
        assert!((0.0..50.0).contains(&t));
    }
}

/// The n-pendulum with N = 5 (SYSTEMS.md C: masses and lengths of the CHNN paper's benchmark), in Cartesian coordinates.
fn five() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let masses = [0.938924, 1.035907, 1.082211, 1.172151, 1.039051];
    let lengths = [0.906753, 1.370930, 1.313418, 0.950070, 1.116715];
    let angles = [0.9, -0.4, 1.6, 0.2, -1.1_f64];
    let speeds = [0.3, -0.8, 0.5, 1.1, -0.6];
    let (zero, mut start) = (graph.number(0.0), Vec::new());
    let mut above = ([zero, zero], [0.0; 2], [0.0; 2]);
    for k in 0..5 {
        let names = [format!("x{k}"), format!("y{k}")];
        let place = [model.coordinate(&names[0]), model.coordinate(&names[1])];
        model.particle(&format!("bob {k}"), masses[k], place);
        let [dx, dy] = [place[0] - above.0[0], place[1] - above.0[1]];
        model.constraint(&format!("rod {k}"), dx * dx + dy * dy, lengths[k] * lengths[k]);
        let (sin, cos) = angles[k].sin_cos();
        let at = [above.1[0] + lengths[k] * sin, above.1[1] - lengths[k] * cos];
        let by = [above.2[0] + lengths[k] * cos * speeds[k], above.2[1] + lengths[k] * sin * speeds[k]];
        for i in 0..2 {
            start.push((names[i].clone(), at[i]));
            start.push((format!("{}'", names[i]), by[i]));
        }
        above = (place, at, by);
    }
    model.gravity([0.0, -9.81]);
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    begin(&model, &start)
}

/// The largest violations of positions and velocities, relative to lengths and speeds of about one.
fn violation(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; rows], vec![0.0; rows]);
    dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
    positions.iter().chain(&velocities).fold(0.0, |m, x| m.max(x.abs()))
}

/// What a long run of the five pendulums leaves: the worst violation, the worst energy error, and its drift.
fn long_run(steps: u64) -> (f64, f64, f64) {
    let (mut dynamics, start) = five();
    let step = 1e-3;
    let run = Integrator::named("rattle", step).unwrap().every(steps / 100);
    let end = step * steps as f64;
    let trajectory = run.run(&mut dynamics, &start, end).unwrap();
    println!("{:?}", trajectory.work());
    let energies = trajectory.energies(&mut dynamics).unwrap();
    let worst = trajectory.samples().map(|(t, y)| violation(&mut dynamics, t, y)).fold(0.0, f64::max);
    let errors: Vec<f64> = energies.iter().map(|e| (e - energies[0]) / energies[0]).collect();
    let largest = errors.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (early, late) = errors.split_at(errors.len() / 2);
    (worst, largest, mean(late) - mean(early))
}

#[test]
fn five_pendulums_stay_on_their_rods() {
    let (violation, energy, drift) = long_run(20_000);
    println!("violation {violation:.1e}, energy {energy:.1e}, drift {drift:.1e}");
    assert!(violation < 1e-13, "{violation:e}");
    assert!(energy < 1e-4, "{energy:e}");
}

#[test]
#[ignore = "long"]
fn five_pendulums_stay_on_their_rods_for_a_million_steps() {
    let (violation, energy, drift) = long_run(1_000_000);
    println!("violation {violation:.1e}, energy {energy:.1e}, drift {drift:.1e}");
    assert!(violation < 1e-13, "{violation:e}");
    assert!(energy < 1e-4 && drift.abs() < 1e-5, "{energy:e} {drift:e}");
}
