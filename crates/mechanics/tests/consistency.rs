//! What must hold for every system, whatever the way it was written: one sweep per claim over one system of every kind.

use crate::common::zoo::{Case, zoo};
use crate::common::{assert_close, energy, field, velocities};
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Form, Query, State};

/// A function of a block evaluated with one number changed by ±h and ±2h: its derivative by that number to fourth order.
fn difference(block: &[f64], place: usize, h: f64, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut at = |steps: f64| {
        let mut moved = block.to_vec();
        moved[place] += steps * h;
        f(&moved)
    };
    let values = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
    (0..values[0].len())
        .map(|i| (values[0][i] - 8.0 * values[1][i] + 8.0 * values[2][i] - values[3][i]) / (12.0 * h))
        .collect()
}

#[test]
fn the_zoo_has_systems_of_every_kind() {
    let facts: Vec<_> = zoo().iter().map(|case| case.dynamics.system().facts().clone()).collect();
    for form in [Form::Lagrangian, Form::Hamiltonian] {
        assert!(facts.iter().any(|f| f.form == form && f.separable));
        assert!(facts.iter().any(|f| f.form == form && !f.separable));
        assert!(facts.iter().any(|f| f.form == form && f.dissipative && f.forced));
    }
    let open =
        zoo().into_iter().filter(|case| !case.dynamics.system().facts().explicit).map(|case| case.name);
    let open: Vec<_> = open.collect();
    assert_eq!(
        open,
        [
            "map: thirty-four weighted rods, factored at run time",
            "Lagrangian: relativistic particle",
            "Lagrangian: Bateman's oscillators, indefinite"
        ]
    );
}

#[test]
fn the_field_is_that_of_differences_of_the_energy() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let n = state.q.len();
        let mut slopes = Vec::new();
        for place in 0..2 * n {
            slopes.extend(difference(&state.block(), place, 2e-4, |y| {
                vec![energy(&mut dynamics, &State::from_block(state.t, y, n))]
            }));
        }
        let found = field(&mut dynamics, &state);
        assert_close(&found[..n], &slopes[n..], 1e-9);
        let facts = dynamics.system().facts().clone();
        if !facts.forced && !facts.dissipative {
            let pushes: Vec<f64> = slopes[..n].iter().map(|s| -s).collect();
            assert_close(&found[n..], &pushes, 1e-9);
        }
    }
}

#[test]
fn the_jacobian_is_that_of_differences_of_the_field() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let size = 2 * state.q.len();
        let mut jacobian = vec![0.0; size * size];
        dynamics.jacobian(&[state.t], &state.block(), &mut jacobian).unwrap();
        for column in 0..size {
            let slopes = difference(&state.block(), column, 1e-3, |y| {
                field(&mut dynamics, &State::from_block(state.t, y, size / 2))
            });
            let found: Vec<f64> = (0..size).map(|row| jacobian[row * size + column]).collect();
            assert_close(&found, &slopes, 1e-7);
        }
    }
}

#[test]
fn momenta_and_velocities_belong_together() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let v = velocities(&mut dynamics, &state);
        let mut p = vec![0.0; v.len()];
        dynamics.momenta(&[state.t], &[state.q.clone(), v].concat(), &mut p).unwrap();
        let size = p.iter().fold(1.0f64, |m, p| m.max(p.abs()));
        assert!(p.iter().zip(&state.p).all(|(a, b)| (a - b).abs() <= 1e-14 * size), "{p:?} {:?}", state.p);
    }
}

#[test]
fn accelerations_are_rates_of_velocities() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let n = state.q.len();
        let v = velocities(&mut dynamics, &state);
        let mut found = vec![0.0; n];
        dynamics.accelerations(&[state.t], &[state.q.clone(), v].concat(), &mut found).unwrap();
        let slope = field(&mut dynamics, &state);
        let expected = difference(&[0.0], 0, 1e-4, |s| {
            let y: Vec<f64> = state.block().iter().zip(&slope).map(|(y, k)| y + s[0] * k).collect();
            velocities(&mut dynamics, &State::from_block(state.t + s[0], &y, n))
        });
        assert_close(&found, &expected, 1e-7);
    }
}

#[test]
fn the_mass_matrix_is_the_slope_of_the_momenta() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let n = state.q.len();
        let z = [state.q.clone(), velocities(&mut dynamics, &state)].concat();
        let mut mass = vec![0.0; n * n];
        dynamics.mass_matrix(&[state.t], &z, &mut mass).unwrap();
        for column in 0..n {
            let slopes = difference(&z, n + column, 1e-4, |z| {
                let mut p = vec![0.0; n];
                dynamics.momenta(&[state.t], z, &mut p).unwrap();
                p
            });
            let found: Vec<f64> = (0..n).map(|row| mass[row * n + column]).collect();
            assert_close(&found, &slopes, 1e-7);
        }
    }
}

#[test]
fn energy_changes_by_what_is_supplied_lost_and_driven() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let (t, y) = ([state.t], state.block());
        let [mut lost, mut gained, mut forces] = [[0.0]; 3];
        dynamics.dissipated_power(&t, &y, &mut lost).unwrap();
        dynamics.supplied_power(&t, &y, &mut gained).unwrap();
        dynamics.force_power(&t, &y, &mut forces).unwrap();
        let slope = field(&mut dynamics, &state);
        let mut rate = |query: Query, passes: f64| {
            difference(&[0.0], 0, 2e-4, |s| {
                let y: Vec<f64> = y.iter().zip(&slope).map(|(y, k)| y + s[0] * k).collect();
                let mut value = vec![0.0];
                query(&mut dynamics, &[state.t + passes * s[0]], &y, &mut value).unwrap();
                value
            })
        };
        assert_close(&rate(Dynamics::energy, 1.0), &[gained[0] - lost[0]], 1e-7);
        // H along the motion at a fixed time: what depends on time explicitly is left out.
        assert_close(&rate(Dynamics::hamiltonian, 0.0), &[forces[0]], 1e-8);
        assert_eq!(lost[0] > 0.0, dynamics.system().facts().dissipative, "{name}");
    }
}

#[test]
fn energies_add_up() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let (t, y) = ([state.t], state.block());
        let mut value = [0.0; 5];
        dynamics.kinetic_energy(&t, &y, &mut value[..1]).unwrap();
        dynamics.potential_energy(&t, &y, &mut value[1..2]).unwrap();
        dynamics.lagrangian(&t, &y, &mut value[2..3]).unwrap();
        dynamics.energy(&t, &y, &mut value[3..4]).unwrap();
        dynamics.hamiltonian(&t, &y, &mut value[4..]).unwrap();
        let [kinetic, potential, lagrangian, energy, hamiltonian] = value;
        let v = velocities(&mut dynamics, &state);
        let action: f64 = state.p.iter().zip(&v).map(|(p, v)| p * v).sum();
        assert_close(&[action - lagrangian], &[hamiltonian], 1e-13);
        assert_close(&[kinetic + potential], &[energy], 1e-13);
        assert_eq!((hamiltonian - energy).abs() > 1e-9, dynamics.system().facts().jacobi, "{name}");
    }
}

#[test]
fn lanes_are_single_states_bit_for_bit() {
    for Case { name, mut dynamics, state } in zoo() {
        println!("{name}");
        let system = dynamics.system().clone();
        let n = system.degrees();
        let times: Vec<f64> = (0..LANES).map(|l| state.t + 0.1 * l as f64).collect();
        let singles: Vec<Vec<f64>> =
            (0..LANES).map(|l| state.block().iter().map(|y| y * (1.0 - 0.05 * l as f64)).collect()).collect();
        let places: usize = system.places().iter().map(|p| p.dimensions).sum();
        let queries: [(&str, usize, Query); 18] = [
            ("field", 2 * n, Dynamics::rates),
            ("drift", n, Dynamics::drift),
            ("kick", n, Dynamics::kick),
            ("velocities", n, Dynamics::velocities),
            ("jacobian", 4 * n * n, Dynamics::jacobian),
            ("positions", places, Dynamics::positions),
            ("energy", 1, Dynamics::energy),
            ("kinetic energy", 1, Dynamics::kinetic_energy),
            ("potential energy", 1, Dynamics::potential_energy),
            ("lagrangian", 1, Dynamics::lagrangian),
            ("dissipated power", 1, Dynamics::dissipated_power),
            ("supplied power", 1, Dynamics::supplied_power),
            ("shares", system.shares().len(), Dynamics::shares),
            // These read the block as [q, v], with small velocities.
            ("momenta", n, |d, t, y, out| d.momenta(t, &slow(y), out)),
            ("pushes", n, |d, t, y, out| d.momentum_rates(t, &slow(y), out)),
            ("accelerations", n, |d, t, y, out| d.accelerations(t, &slow(y), out)),
            ("mass matrix", n * n, |d, t, y, out| d.mass_matrix(t, &slow(y), out)),
            ("field again", 2 * n, Dynamics::rates),
        ];
        for (what, rows, query) in queries {
            let block: Vec<f64> = (0..2 * n).flat_map(|i| singles.iter().map(move |y| y[i])).collect();
            let mut lanes = vec![0.0; rows * LANES];
            query(&mut dynamics, &times, &block, &mut lanes).unwrap();
            for l in 0..LANES {
                let mut single = vec![0.0; rows];
                query(&mut dynamics, &times[l..=l], &singles[l], &mut single).unwrap();
                for row in 0..rows {
                    let (a, b) = (lanes[row * LANES + l], single[row]);
                    assert!(a.to_bits() == b.to_bits(), "{name}: {what}, lane {l}, row {row}: {a} and {b}");
                    assert!(a.is_finite());
                }
            }
        }
    }
}

fn slow(y: &[f64]) -> Vec<f64> {
    let half = y.len() / 2;
    y.iter().enumerate().map(|(i, y)| if i < half { *y } else { 0.1 * y }).collect()
}

#[test]
fn the_halves_of_the_field_are_drift_and_kick() {
    for Case { name, mut dynamics, state } in zoo() {
        let n = state.q.len();
        let (mut drift, mut kick) = (vec![0.0; n], vec![0.0; n]);
        dynamics.drift(&[state.t], &state.block(), &mut drift).unwrap();
        dynamics.kick(&[state.t], &state.block(), &mut kick).unwrap();
        assert_close(&field(&mut dynamics, &state), &[drift, kick].concat(), 1e-15);
        let mut pushes = vec![0.0; n];
        let z = [state.q.clone(), velocities(&mut dynamics, &state)].concat();
        dynamics.momentum_rates(&[state.t], &z, &mut pushes).unwrap();
        assert_close(&pushes, &field(&mut dynamics, &state)[n..], 1e-12);
        println!("{name}");
    }
}

#[test]
fn observables_see_states_velocities_time_inputs_and_parameters() {
    for Case { name, mut dynamics, state } in zoo() {
        let system = dynamics.system().clone();
        let mut text = "t".to_owned();
        for i in 0..system.degrees() {
            let (q, v, p) =
                (&system.coordinates().at(i), &system.velocities().at(i), &system.momenta().at(i));
            text += &format!(" + {q}*{v} + {v}*{p}");
        }
        system.parameters().iter().for_each(|(name, _)| text += &format!(" - {name}"));
        system.inputs().iter().for_each(|name| text += &format!(" + {name}"));
        let seen = dynamics.observable(&text).unwrap();
        let push = if system.inputs().is_empty() { 0.0 } else { (3.0 * state.t).sin() };
        let mut values = dynamics.parameters().to_vec();
        for scale in [1.0, 1.25] {
            values.iter_mut().for_each(|value| *value *= scale);
            dynamics.set_parameters(&values).unwrap();
            let v = velocities(&mut dynamics, &state);
            let sum: f64 = (0..v.len()).map(|i| (state.q[i] + state.p[i]) * v[i]).sum();
            let expected = state.t + sum - values.iter().sum::<f64>() + push;
            let mut single = [0.0];
            dynamics.observe(seen, &[state.t], &state.block(), &mut single).unwrap();
            assert_close(&single, &[expected], 1e-13);
            let block: Vec<f64> = state.block().iter().flat_map(|&y| [y; LANES]).collect();
            let mut lanes = [0.0; LANES];
            dynamics.observe(seen, &[state.t; LANES], &block, &mut lanes).unwrap();
            assert_eq!(lanes, [single[0]; LANES], "{name}");
        }
    }
}

#[test]
fn a_lane_that_fails_leaves_the_others_alone() {
    // Velocities beyond light have no momenta: in lane 3 only.
    let Some(mut case) = zoo().into_iter().find(|case| case.name == "Hamiltonian: relativistic") else {
        panic!("the zoo has it")
    };
    assert_eq!(case.dynamics.system().facts().form, Form::Hamiltonian);
    let mut z = vec![0.25; 4 * LANES];
    z[2 * LANES + 3] = 1.5;
    let mut p = vec![0.0; 2 * LANES];
    let error = case.dynamics.momenta(&[0.0; LANES], &z, &mut p).unwrap_err();
    let EvalError::NoConvergence { lane, residual, .. } = error else { panic!("{error}") };
    assert!(lane == 3 && residual > 0.1);
    let exact = 0.25 / (1.0f64 - 0.125).sqrt();
    for (i, &p) in p.iter().enumerate() {
        assert!(if i % LANES == 3 { p.is_nan() } else { (p - exact).abs() < 1e-15 }, "{i}: {p}");
    }
}

#[test]
fn nearly_light_is_not_too_fast_for_newton() {
    let Some(Case { mut dynamics, .. }) =
        zoo().into_iter().find(|c| c.name.contains("relativistic particle"))
    else {
        panic!("the zoo has it")
    };
    assert!(matches!(
        dynamics.velocities(&[0.0], &[0.0, 0.0, f64::NAN, 0.0], &mut [0.0; 2]),
        Err(EvalError::NoConvergence { iterations: 1, .. })
    ));
    for momentum in [1e-8f64, 1.0, 1e2, 1e4] {
        let (mut v, mut p) = ([0.0; 2], [0.0; 2]);
        dynamics.velocities(&[0.0], &[0.0, 0.0, momentum, 0.0], &mut v).unwrap();
        assert_close(&v, &[momentum / (1.0 + momentum * momentum).sqrt(), 0.0], 4e-16);
        dynamics.momenta(&[0.0], &[0.0, 0.0, v[0], v[1]], &mut p).unwrap();
        assert!((p[0] - momentum).abs() < 1e-15 * momentum * (1.0 + momentum * momentum));
    }
}

/// Where damping is linear, Γ is what the force loses by the momenta.
#[test]
fn linear_damping_is_the_slope_of_the_force() {
    let mut damped = Vec::new();
    for Case { name, mut dynamics, state } in zoo() {
        let (n, facts) = (state.q.len(), dynamics.system().facts().clone());
        let mut gamma = vec![0.0; n * n];
        if !facts.linear_damping {
            assert!(dynamics.damping(&mut gamma).is_err());
            continue;
        }
        dynamics.damping(&mut gamma).unwrap();
        damped.extend(facts.dissipative.then_some(name));
        for column in 0..n {
            let slopes = difference(&state.block(), n + column, 1e-2, |y| {
                field(&mut dynamics, &State::from_block(state.t, y, n))[n..].to_vec()
            });
            let expected: Vec<f64> = (0..n).map(|row| -gamma[row * n + column]).collect();
            assert_close(&slopes, &expected, 1e-10);
        }
    }
    assert_eq!(damped, ["Hamiltonian: separable, friction and force"]);
}
