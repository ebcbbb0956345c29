//! Coordinates that are held: as if a constraint held them, but no unknowns.

use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Dynamics, Elements, Model};

const BEADS: usize = 5;

/// How the first and the last bead are held.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum By {
    /// As held coordinates, that elements read.
    Hold,
    /// As held coordinates, that formulas read.
    HoldInFormulas,
    /// By constraints of a form from which no value follows, with multipliers.
    Constraint,
}

/// Beads with masses that couple neighbours, springs between them, friction, and a push; the first moves as told, the last stands still.
pub(crate) fn beads(by: By) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q: Vec<_> = (0..BEADS).map(|i| model.coordinate(&format!("q{i}"))).collect();
    let v: Vec<_> = q.iter().map(|&q| model.velocity(q)).collect();
    let [k, far] = model.parameters([("k", 2.0), ("far", 4.4)]);
    for i in 0..BEADS {
        model.kinetic(&format!("own {i}"), 0.5 * (1.0 + 0.1 * q[i].sin()) * v[i].pow(2));
    }
    for i in 1..BEADS {
        model.kinetic(&format!("both {i}"), 0.2 * (q[i] - q[i - 1]).cos() * v[i] * v[i - 1]);
    }
    let [a, b] = graph.symbols(["a", "b"]);
    let spring = 0.5 * k * (b - a - 1.0).pow(2) + (b - a - 1.0).pow(4) / 4.0;
    let springs = Elements {
        energy: spring,
        slots: vec![a, b],
        coordinates: (0..BEADS as u32 - 1).flat_map(|i| [i, i + 1]).collect(),
        constants: Vec::new(),
        values: [].into(),
        implicit: vec![],
    };
    match by {
        By::Hold => model.potential("springs", springs.clone()),
        _ => model.potential(
            "springs",
            graph.sum(q.windows(2).map(|q| spring.substitute(&[(a, q[0]), (b, q[1])]))),
        ),
    }
    model.potential("weights", 0.3 * q[0].cos() + 0.1 * q[1] * q[4]);
    model.dissipation("air", 0.1 * v[4].pow(2) + 0.02 * v[2].pow(2) + 0.03 * (v[0] - v[3]).pow(2));
    let rub = 0.05 * (a * b).cos().pow(2) * (model.velocity(b) - model.velocity(a)).pow(2);
    match by {
        By::Hold => model.dissipation("dampers", Elements { energy: rub, ..springs }),
        _ => {
            let rub = |i: usize| {
                let places = [(a, q[i - 1]), (b, q[i])];
                rub.substitute(&places.map(|(a, q)| (model.velocity(a), model.velocity(q))))
                    .substitute(&places)
            };
            let rub: Vec<_> = (1..BEADS).map(rub).collect();
            model.dissipation("dampers", graph.sum(rub));
        }
    }
    model.force(q[0], 0.7 * v[1]);
    model.force(q[2], 0.1 * q[3]);
    model.constraint("rod", (q[2] - q[1] - 0.3 * q[4]).pow(2), 0.04);
    let motion = 0.3 * (2.0 * model.time()).sin();
    if by == By::Constraint {
        model.constraint("hand", q[0].sinh(), motion.sinh());
        model.constraint("wall", q[4].sinh(), far.sinh());
    } else {
        model.hold("hand", [(q[0], motion)]);
        model.hold("wall", [(q[4], far)]);
    }
    model.system().unwrap().dynamics().unwrap()
}

/// A state that constraints allow: of the beads between, and of all.
pub(crate) fn states(t: f64, far: f64) -> (Vec<f64>, Vec<f64>) {
    let q1 = 1.2;
    let q2 = q1 + 0.3 * far + 0.2;
    let free = [q1, q2, 3.4, 0.25, 0.25, -0.4];
    let all = [0.3 * (2.0 * t).sin(), q1, q2, 3.4, far, 0.6 * (2.0 * t).cos(), 0.25, 0.25, -0.4, 0.0];
    (free.to_vec(), all.to_vec())
}

#[test]
fn what_is_held_moves_as_if_constraints_held_it_and_reactions_are_their_forces() {
    let [mut held, mut formulas, mut bound] = [By::Hold, By::HoldInFormulas, By::Constraint].map(beads);
    assert_eq!((held.system().degrees(), bound.system().degrees()), (BEADS - 2, BEADS));
    assert_eq!(held.system().holds(), ["hand", "wall"]);
    assert_eq!([0, 1, 4].map(|i| held.system().place_of(i)), [None, Some(0), None]);
    assert_eq!([0, 4, 5].map(|i| bound.system().place_of(i)), [Some(0), Some(4), None]);
    for (t, far) in [(0.0, 4.4), (0.7, 4.4), (1.3, 5.1)] {
        for dynamics in [&mut held, &mut formulas, &mut bound] {
            dynamics.set_parameter("far", far).unwrap();
        }
        let (free, all) = states(t, far);
        let (mut few, mut many) = (vec![0.0; BEADS - 2], vec![0.0; BEADS]);
        bound.accelerations(&[t], &all, &mut many).unwrap();
        let mut y = all.clone();
        bound.momenta(&[t], &all, &mut y[BEADS..]).unwrap();
        let mut lambda = [0.0; 3];
        bound.multipliers(&[t], &y, &mut lambda).unwrap();
        let pull = |i: usize, row: usize| -all[i].cosh() * lambda[row];
        let expected = [pull(0, 1), pull(4, 2)];
        let energy = |dynamics: &mut Dynamics, y: &[f64]| {
            let mut energy = [0.0];
            dynamics.energy(&[t], y, &mut energy).unwrap();
            energy[0]
        };
        let whole = energy(&mut bound, &y);
        for dynamics in [&mut held, &mut formulas] {
            dynamics.accelerations(&[t], &free, &mut few).unwrap();
            for i in 0..BEADS - 2 {
                assert!((few[i] - many[i + 1]).abs() < 1e-11, "{t} {i}: {} {}", few[i], many[i + 1]);
            }
            let mut y = free.clone();
            dynamics.momenta(&[t], &free, &mut y[BEADS - 2..]).unwrap();
            let mut reactions = [0.0; 2];
            dynamics.reactions(&[t], &y, &mut reactions).unwrap();
            for (found, expected) in reactions.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-11, "{t}: {found} {expected}");
            }
            assert!((energy(dynamics, &y) - whole).abs() < 1e-12);
            for (name, expected) in [("reaction_hand", reactions[0]), ("reaction_wall", reactions[1])] {
                let observable = dynamics.observable(name).unwrap();
                let mut found = [0.0];
                dynamics.observe(observable, &[t], &y, &mut found).unwrap();
                assert_eq!(found[0].to_bits(), expected.to_bits());
            }
        }
    }
}

#[test]
fn held_values_follow_the_time_and_the_parameters_of_every_lane() {
    let mut lanes = beads(By::Hold);
    let far = |lane: usize| 4.0 + 0.1 * lane as f64;
    let time = |lane: usize| 0.2 * lane as f64;
    for lane in 0..LANES {
        lanes.set_parameters_in(lane, &[2.0, far(lane)]).unwrap();
    }
    let t: Vec<f64> = (0..LANES).map(time).collect();
    let n = 2 * (BEADS - 2);
    let block: Vec<f64> =
        (0..n * LANES).map(|k| states(time(k % LANES), far(k % LANES)).0[k / LANES]).collect();
    let (mut kicks, mut reactions) = (vec![0.0; n / 2 * LANES], vec![0.0; 2 * LANES]);
    lanes.kick(&t, &block, &mut kicks).unwrap();
    lanes.reactions(&t, &block, &mut reactions).unwrap();
    let wide = 2 * LANES;
    let mut wider = vec![0.0; n / 2 * wide];
    let rows: Vec<f64> = block.chunks(LANES).flat_map(|row| [row, row].concat()).collect();
    lanes.momentum_rates(&[&t[..], &t].concat(), &rows, &mut wider).unwrap();
    let mut momentum_rates = vec![0.0; n / 2 * LANES];
    lanes.momentum_rates(&t, &block, &mut momentum_rates).unwrap();
    for lane in 0..LANES {
        let mut alone = beads(By::Hold);
        alone.set_parameter("far", far(lane)).unwrap();
        let y = states(time(lane), far(lane)).0;
        let (mut kick, mut reaction) = (vec![0.0; n / 2], vec![0.0; 2]);
        alone.kick(&[time(lane)], &y, &mut kick).unwrap();
        alone.reactions(&[time(lane)], &y, &mut reaction).unwrap();
        let bits = |all: &[f64], i: usize| all[i * LANES + lane].to_bits();
        (0..n / 2).for_each(|i| assert_eq!(kick[i].to_bits(), bits(&kicks, i), "{lane} {i}"));
        (0..2).for_each(|i| assert_eq!(reaction[i].to_bits(), bits(&reactions, i), "{lane} {i}"));
        for (i, offset) in (0..n / 2).flat_map(|i| [(i, 0), (i, LANES)]) {
            assert_eq!(wider[i * wide + offset + lane].to_bits(), bits(&momentum_rates, i));
        }
    }
}

/// Thousands of nodes at once: constant, by parameters, and by time; an energy reads them among the others.
#[test]
fn thousands_of_coordinates_are_held_at_once() {
    let (count, graph) = (3000, Graph::new());
    let mut model = Model::new(&graph);
    let lift = model.parameter("lift", 0.5);
    let block = model.coordinate_block("rope", count, &["x", "y"]).unwrap();
    for i in 0..count {
        model.particle(&format!("bead {i}"), 1.0, [block.symbol(i, 0), block.symbol(i, 1)]);
    }
    let [ax, ay, bx, by] = graph.symbols(["ax", "ay", "bx", "by"]);
    model.potential(
        "springs",
        Elements {
            energy: 0.5 * ((bx - ax).pow(2) + (by - ay).pow(2)),
            slots: vec![ax, ay, bx, by],
            coordinates: (0..2 * count as u32 - 2).step_by(2).flat_map(|i| i..i + 4).collect(),
            constants: vec![],
            values: [].into(),
            implicit: vec![],
        },
    );
    // Every bead but the middle ones.
    let middle = 1499..1502;
    let sides = || (0..count).filter(|i| !middle.contains(i));
    model.hold("along", sides().map(|i| (block.symbol(i, 0), i as f64)));
    let time = model.time();
    model.hold("up", sides().map(|i| (block.symbol(i, 1), lift * (0.01 * i as f64 + time).sin())));
    let system = model.system().unwrap();
    assert_eq!((system.degrees(), system.held().len(), system.holds().len()), (6, 5994, 2));
    assert_eq!(system.coordinates().at(1), "rope[1499].y");
    assert_eq!(system.place_of(3002), Some(4));
    let mut dynamics = system.dynamics().unwrap();
    let values = [("rope[1499].x", 1499.0), ("rope[1500].x", 1500.5), ("rope[1501].x", 1501.0)];
    let y = dynamics.start_at(2.0, &values).unwrap().block();
    let mut rates = [0.0; 12];
    let height = |i: usize| 0.5 * (0.01 * i as f64 + 2.0).sin();
    dynamics.rates(&[2.0], &y, &mut rates).unwrap();
    let expected = [0.5, height(1498), -1.0, 0.0, 0.5, height(1502)];
    for (found, expected) in rates[6..].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let mut reactions = vec![0.0; 5994];
    dynamics.reactions(&[2.0], &y, &mut reactions).unwrap();
    // The first bead is pulled along by its neighbour; going up and down takes m a.
    assert!((reactions[0] + 1.0).abs() < 1e-12);
    let up = height(0) - height(1) - height(0);
    assert!((reactions[2997] - up).abs() < 1e-12, "{} {up}", reactions[2997]);
    let mut positions = vec![0.0; 6000];
    dynamics.positions(&[2.0], &y, &mut positions).unwrap();
    assert!((positions[2 * 700 + 1] - height(700)).abs() < 1e-15);
}

/// What a model of a bead in a plane says, of which coordinates are held so.
fn refusal(hold: impl for<'g> Fn(&mut Model<'g>, [Expr<'g>; 2])) -> String {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let q = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, q);
    hold(&mut model, q);
    model.system().unwrap_err().to_string()
}

#[test]
fn what_cannot_be_held_is_refused() {
    let unknown = refusal(|model, _| model.hold("hand", [(model.graph().symbol("z"), 1.0)]));
    assert_eq!(
        unknown,
        "`hand` holds `z`, which is not a coordinate: declare it as a coordinate, or leave it out"
    );
    let moving = refusal(|model, [x, y]| model.hold("hand", [(x, 2.0 * y)]));
    assert_eq!(
        moving,
        "the value at which `hand` holds a coordinate uses `y`, a coordinate: it must be constant"
    );
    let jumping = refusal(|model, [x, _]| model.hold("hand", [(x, model.time().floor())]));
    assert!(jumping.contains("`hand`") && jumping.contains("jump"), "{jumping}");
    let twice = refusal(|model, [x, _]| {
        model.hold("hand", [(x, 1.0)]);
        model.hold("wall", [(x, 2.0)]);
    });
    assert!(twice.contains("`wall`"), "{twice}");
    let all = refusal(|model, [x, y]| model.hold("hand", [(x, 1.0), (y, 2.0)]));
    assert!(all.contains("no coordinates"), "{all}");
    let element = refusal(|model, [x, _]| {
        let a = model.graph().symbol("a");
        let elements = Elements {
            energy: a * a,
            slots: vec![a],
            coordinates: [7].into(),
            constants: vec![],
            values: [].into(),
            implicit: vec![],
        };
        model.potential("springs", elements);
        model.hold("hand", [(x, 1.0)]);
    });
    assert!(element.contains("reads coordinate 7, and there are 2"), "{element}");
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let p = model.momentum("p");
    model.hamiltonian("free", 0.5 * p * p);
    model.hold("hand", [(x, 1.0)]);
    let stated = model.system().unwrap_err().to_string();
    assert!(stated.starts_with("`hand` holds coordinates of a model that states a Hamiltonian"), "{stated}");
    // Held twice at the same value is held once.
    let mut model = Model::new(&graph);
    let q = model.coordinates(["u", "v"]);
    model.particle("bead", 1.0, q);
    model.hold("hand", [(q[0], 1.0)]);
    model.hold("wall", [(q[0], 1.0)]);
    assert_eq!(model.system().unwrap().degrees(), 1);
}
