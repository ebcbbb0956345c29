#![allow(clippy::unwrap_used)] // a test may panic

use super::map::Lanes;
use super::sum::SumEvaluator;
use super::*;
use crate::parameters::Parameters;
use leastaction_compile::{Backend, LANES};
use leastaction_expr::{Graph, jvp, vjp};

/// Springs between neighbours of a square lattice in the plane, whose rest lengths differ, and which stiffen with time.
fn lattice(graph: &Graph, side: usize) -> (Elements<'_>, Expr<'_>) {
    let slots = ["ax", "ay", "bx", "by"].map(|name| graph.symbol(name));
    let [k, length, t] = ["k", "length", "t"].map(|name| graph.symbol(name));
    let apart = ((slots[2] - slots[0]).pow(2) + (slots[3] - slots[1]).pow(2)).sqrt();
    let (mut coordinates, mut values) = (Vec::new(), Vec::new());
    for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
        for (di, dj) in [(1, 0), (0, 1), (1, 1)] {
            if i + di < side && j + dj < side {
                let [a, b] = [i * side + j, (i + di) * side + j + dj].map(|node| 2 * node as u32);
                coordinates.extend([a, a + 1, b, b + 1]);
                values.push(0.8 + 0.3 * (values.len() as f64).sin());
            }
        }
    }
    let elements = Elements {
        energy: 0.5 * k * (1.0 + 0.1 * t.sin()) * (apart - length).pow(2),
        slots: slots.to_vec(),
        coordinates: coordinates.into(),
        constants: vec![length],
        values: values.into(),
        implicit: vec![],
    };
    (elements, t)
}

/// The whole energy as one expression of these coordinates.
fn unrolled<'g>(elements: &Elements<'g>, q: &[Expr<'g>]) -> Expr<'g> {
    let parts = elements.coordinates.chunks_exact(4).zip(&*elements.values).map(|(places, &value)| {
        let slots = elements.slots.iter().zip(places).map(|(&slot, &i)| (slot, q[i as usize]));
        let constant = (elements.constants[0], elements.energy.like(value));
        elements.energy.substitute(&slots.chain([constant]).collect::<Vec<_>>())
    });
    elements.energy.graph().sum(parts)
}

#[test]
fn elements_have_the_energy_forces_and_hessian_products_of_what_they_unroll_to() {
    let (graph, side, time) = (Graph::new(), 5, 0.7);
    let n = 2 * side * side;
    let (elements, t) = lattice(&graph, side);
    let parameters = [graph.symbol("unused"), graph.symbol("k")];
    let values = Parameters::new(vec![7.0, 3.0]);
    let q: Vec<_> = (0..n).map(|i| graph.symbol(&format!("q{i}"))).collect();
    let d: Vec<_> = (0..n).map(|i| graph.symbol(&format!("d{i}"))).collect();
    let whole = unrolled(&elements, &q);
    let force: Vec<_> = vjp(&[whole], &q, &[graph.number(-1.0)]);
    let along: Vec<_> = q.iter().copied().zip(d.iter().copied()).collect();
    let outputs = [vec![whole], force.clone(), jvp(&force, &along)].concat();
    let inputs = [q, d, vec![t]].concat();
    let whole = Kernel::compile(Program::build(&inputs, &parameters, &outputs).unwrap()).unwrap();

    let state = |lane: usize| {
        let place = move |i: usize| [i / 2 / side, i / 2 % side][i % 2] as f64;
        (0..n).map(move |i| place(i) + 0.1 * ((i * 3 + lane) as f64).cos()).collect::<Vec<_>>()
    };
    let direction: Vec<f64> = (0..n).map(|i| (2.0 * i as f64).sin()).collect();
    let mut expected = vec![0.0; 2 * n + 1];
    let at = [state(0), direction.clone(), vec![time]].concat();
    whole.evaluator(values.single()).unwrap().eval(&at, &mut expected).unwrap();

    let mut bits: Option<Vec<u64>> = None;
    for backend in [Backend::best(), Backend::Interpreter] {
        let compiled =
            elements.compile(t, &parameters, |program| Kernel::with_backend(program, backend)).unwrap();
        let mut found = vec![0.0; 2 * n + 1];
        let (head, changes) = found.split_at_mut(n + 1);
        let (energy, forces) = head.split_at_mut(1);
        let mut each = [&compiled.energy, &compiled.force, &compiled.force_change]
            .map(|map| SumEvaluator::new(map, &values).unwrap());
        let one = Lanes::whole(1);
        each[0].eval(one, &[&state(0)], &[time], energy).unwrap();
        each[1].eval(one, &[&state(0)], &[time], forces).unwrap();
        each[2].eval(one, &[&state(0), &direction], &[time], changes).unwrap();
        let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() <= 1e-14 * size, "{i}: {a} {b}");
        }
        // Forces are what energies change by.
        let mut at = state(0);
        for i in [0, 7, n - 1] {
            let h = 1e-5;
            let mut ends = [0.0; 2];
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                at[i] += sign * h;
                each[0].eval(one, &[&at], &[time], std::slice::from_mut(end)).unwrap();
                at[i] = state(0)[i];
            }
            assert!((found[1 + i] + (ends[0] - ends[1]) / (2.0 * h)).abs() < 1e-9, "{i}");
        }
        // Native code and the interpreter agree, and lanes with single states, wherever they stand.
        let now: Vec<u64> = found.iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits.get_or_insert_with(|| now.clone()), &now, "bit for bit");
        let width = 2 * LANES;
        let block: Vec<f64> = (0..n * width).map(|k| state(k % width)[k / width]).collect();
        let mut lanes = vec![0.0; n * width];
        let mut energies = vec![0.0; width];
        let mut alone = vec![0.0; n];
        for offset in [0, LANES] {
            let wide = Lanes { width: LANES, stride: width, offset };
            each[1].eval(wide, &[&block], &[time; LANES], &mut lanes).unwrap();
            each[0].eval(wide, &[&block], &[time; LANES], &mut energies).unwrap();
        }
        for lane in [0, 6, 13] {
            alone.fill(0.0);
            each[1].eval(one, &[&state(lane)], &[time], &mut alone).unwrap();
            let mut energy = [0.0];
            each[0].eval(one, &[&state(lane)], &[time], &mut energy).unwrap();
            assert_eq!(energy[0].to_bits(), energies[lane].to_bits(), "bit for bit");
            for i in 0..n {
                assert_eq!(alone[i].to_bits(), lanes[i * width + lane].to_bits(), "bit for bit");
            }
        }
    }
}

#[test]
fn the_total_of_many_elements_loses_little_and_is_the_same_in_lanes() {
    let graph = Graph::new();
    let [x, c, t] = ["x", "c", "t"].map(|name| graph.symbol(name));
    let count = 100_003;
    let elements = Elements {
        energy: c * x,
        slots: vec![x],
        coordinates: vec![0; count].into(),
        constants: vec![c],
        values: (0..count).map(|i| 0.1 + (i % 3) as f64).collect(),
        implicit: vec![],
    };
    let compiled = elements.compile(t, &[], Kernel::compile).unwrap();
    let mut map = SumEvaluator::new(&compiled.energy, &Parameters::new(Vec::new())).unwrap();
    let (mut one, mut eight) = ([0.0], [0.0; LANES]);
    map.eval(Lanes::whole(1), &[&[3.0]], &[], &mut one).unwrap();
    map.eval(Lanes::whole(LANES), &[&[3.0; LANES]], &[], &mut eight).unwrap();
    let exact = 3.0 * (0.1 * count as f64 + (0..count).map(|i| i % 3).sum::<usize>() as f64);
    assert!((one[0] - exact).abs() <= 1e-13 * exact, "{:e}", one[0] - exact);
    assert!(eight.iter().all(|energy| energy.to_bits() == one[0].to_bits()));
}

/// Springs along a line of nodes in space, and back to the first of them: several parts, and one coordinate that most of them read.
fn necklace(graph: &Graph, count: usize) -> Elements<'_> {
    let slots: Vec<_> = ["ax", "ay", "az", "bx", "by", "bz"].map(|name| graph.symbol(name)).to_vec();
    let length = graph.symbol("length");
    let apart = graph.sum((0..3).map(|i| (slots[3 + i] - slots[i]).pow(2))).sqrt();
    let pairs = (1..count as u32).flat_map(|i| [[i - 1, i], [i, 0]]);
    let pairs: Vec<_> = pairs.collect();
    let coordinates = pairs.iter().flatten().flat_map(|&node| (3 * node..3 * node + 3).collect::<Vec<_>>());
    Elements {
        energy: (apart - length).pow(2) + 0.1 * apart.sin(),
        slots,
        coordinates: coordinates.collect(),
        constants: vec![length],
        values: pairs.iter().map(|pair| 0.7 + 0.1 * f64::from(pair[0]).sin()).collect(),
        implicit: vec![],
    }
}

#[test]
fn sums_of_many_parts_have_the_same_bits_on_any_number_of_threads_and_in_lanes() {
    let graph = Graph::new();
    for count in [3, 1030, 5003] {
        let elements = necklace(&graph, count);
        let t = graph.symbol("t");
        let n = 3 * count;
        let state = |lane: usize| (0..n).map(|i| ((i * 7 + 3 * lane) as f64).sin() * 9.0).collect::<Vec<_>>();
        let (q, d) = (state(2), state(5));
        let mut known = None;
        for threads in [1, 2, 3, 7] {
            let mut evaluator = ElementsEvaluator::new(&elements, t, &[]).unwrap();
            evaluator.set_threads(threads);
            let mut found = vec![0.5; 2 * n];
            let (forces, changes) = found.split_at_mut(n);
            evaluator.add_forces(0.0, &q, forces).unwrap();
            evaluator.add_force_changes(0.0, &q, &d, changes).unwrap();
            let mut energies = vec![0.0; evaluator.count()];
            evaluator.energies(0.0, &q, &mut energies).unwrap();
            found.extend(energies);
            found.push(evaluator.energy(0.0, &q).unwrap());
            let bits: Vec<u64> = found.iter().map(|x| x.to_bits()).collect();
            assert_eq!(
                known.get_or_insert_with(|| bits.clone()),
                &bits,
                "{count} nodes on {threads} threads"
            );
        }
        let known = known.unwrap();
        let compiled = elements.compile(t, &[], Kernel::compile).unwrap();
        let none = Parameters::new(Vec::new());
        let shifted = |values: &[f64], k: usize| values[k / LANES] + 0.1 * (k % LANES) as f64;
        let block = |values: &[f64]| (0..n * LANES).map(|k| shifted(values, k)).collect::<Vec<_>>();
        let (q, d) = (block(&q), block(&d));
        let mut lanes = vec![0.5; n * LANES];
        let wide = Lanes::whole(LANES);
        SumEvaluator::new(&compiled.force, &none).unwrap().eval(wide, &[&q], &[], &mut lanes).unwrap();
        let mut changes = vec![0.5; n * LANES];
        let mut change = SumEvaluator::new(&compiled.force_change, &none).unwrap();
        change.eval(wide, &[&q, &d], &[], &mut changes).unwrap();
        let mut energy = [0.0; LANES];
        SumEvaluator::new(&compiled.energy, &none).unwrap().eval(wide, &[&q], &[], &mut energy).unwrap();
        // The state of lane 0 is the one that was evaluated alone.
        for i in 0..n {
            assert_eq!(lanes[i * LANES].to_bits(), known[i], "force {i} of {count} nodes");
            assert_eq!(changes[i * LANES].to_bits(), known[n + i], "change {i} of {count} nodes");
        }
        assert_eq!(energy[0].to_bits(), *known.last().unwrap(), "{count} nodes");
    }
}

#[test]
fn implicit_numbers_have_the_derivatives_of_what_they_are() {
    let graph = Graph::new();
    let [x, y, s, k, t] = ["x", "y", "s", "k", "t"].map(|name| graph.symbol(name));
    // s³ + s = h has one root, by Cardano's formula.
    let h = x.pow(2) + k * y.sin();
    let root = (0.25 * h.pow(2) + 1.0 / 27.0).sqrt();
    let solution = (0.5 * h + root).cbrt() + (0.5 * h - root).cbrt();
    let energy = s.pow(2) * x + (s * y).sin();
    let implicit = Elements {
        energy,
        slots: vec![x, y],
        coordinates: [0, 1, 1, 2].into(),
        constants: vec![],
        values: [].into(),
        implicit: vec![Implicit { symbol: s, equation: s.pow(3) + s - h, solution }],
    };
    let explicit =
        Elements { energy: energy.substitute(&[(s, solution)]), implicit: vec![], ..implicit.clone() };
    let (q, d) = ([0.7, 1.3, -0.4], [0.2, -0.5, 1.0]);
    let [found, expected] = [&implicit, &explicit].map(|elements| {
        let mut evaluator = ElementsEvaluator::new(elements, t, &[(k, 1.7)]).unwrap();
        let mut numbers = vec![0.0; 6];
        let (forces, changes) = numbers.split_at_mut(3);
        evaluator.add_forces(0.0, &q, forces).unwrap();
        evaluator.add_force_changes(0.0, &q, &d, changes).unwrap();
        numbers.push(evaluator.energy(0.0, &q).unwrap());
        let mut hessians = ElementHessians::new(elements, t, &[(k, 1.7)]).unwrap();
        let mut matrix = [[0.0; 3]; 3];
        hessians.entries(0.0, &q, |i, j, value| matrix[i as usize][j as usize] += value).unwrap();
        for i in 0..3 {
            let product: f64 = (0..3).map(|j| matrix[i][j] * d[j]).sum();
            assert!((product + numbers[3 + i]).abs() < 1e-13);
        }
        assert_eq!(hessians.pattern(), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]);
        numbers.extend(matrix.as_flattened());
        numbers
    });
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }
    let wrong =
        Elements { implicit: vec![Implicit { symbol: s, equation: x, solution }], ..implicit.clone() };
    let error = ElementsEvaluator::new(&wrong, t, &[(k, 1.7)]).err().unwrap().to_string();
    assert!(error.ends_with("implicit number 0 does not contain it, and so cannot determine it"), "{error}");
    let wrong = Elements { implicit: vec![Implicit { symbol: s, equation: s - x, solution: s }], ..implicit };
    let error = ElementsEvaluator::new(&wrong, t, &[(k, 1.7)]).err().unwrap().to_string();
    assert!(error.contains("uses `s`, which is not declared"), "{error}");
}

#[test]
fn the_first_element_without_a_finite_energy_is_named() {
    let graph = Graph::new();
    let [x, t] = ["x", "t"].map(|name| graph.symbol(name));
    let elements = Elements {
        energy: x.ln(),
        slots: vec![x],
        coordinates: [0, 1, 2, 3].into(),
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    let mut evaluator = ElementsEvaluator::new(&elements, t, &[]).unwrap();
    assert_eq!(evaluator.not_finite(0.0, &[1.0, 2.0, 3.0, 4.0]).unwrap(), None);
    assert_eq!(evaluator.not_finite(0.0, &[1.0, 2.0, -3.0, 0.0]).unwrap(), Some(2));
    assert!(evaluator.add_forces(0.0, &[1.0; 3], &mut [0.0; 4]).is_err());
    assert!(evaluator.energies(0.0, &[1.0; 4], &mut [0.0; 3]).is_err());
}
