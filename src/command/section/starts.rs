//! The starts of the orbits: a fan of values, drawn at random, and brought to an energy.

use super::super::Failure;
use super::super::source::unprepared;
use leastaction::integrate::number;
use leastaction::simulate::{Problem, Source};
use leastaction::{Dynamics, State, System};

/// Values of a start that are varied from orbit to orbit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fan {
    pub(super) name: String,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Reads `NAME=FROM..TO`.
pub(super) fn fan(text: &str) -> Result<Fan, String> {
    let usage = || format!("`{text}`: write NAME=FROM..TO, such as y=-0.2..0.4");
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let (from, to) = range.split_once("..").ok_or_else(usage)?;
    let value = |text: &str| {
        let text = text.trim();
        text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("`{text}` is not a number"))
    };
    if name.trim().is_empty() {
        return Err(usage());
    }
    Ok(Fan { name: name.trim().to_owned(), from: value(from)?, to: value(to)? })
}

impl Fan {
    /// The value of an orbit of so many: both ends are among them; one alone is in the middle.
    fn value(&self, orbit: usize, orbits: usize) -> f64 {
        let last = orbits.saturating_sub(1);
        match orbit {
            _ if last == 0 => 0.5 * (self.from + self.to),
            0 => self.from,
            orbit if orbit == last => self.to,
            orbit => ((last - orbit) as f64 * self.from + orbit as f64 * self.to) / last as f64,
        }
    }
}

/// An energy, and what is changed so that orbits have it.
pub(super) struct Level {
    pub(super) energy: f64,
    pub(super) solve: String,
}

/// Where an orbit starts.
pub(super) struct Start {
    /// What tells it from the others.
    pub(super) name: String,
    pub(super) state: State,
}

/// Magnitudes that are tried in the search for an energy, as powers of 2, in parts of them.
const POWERS: std::ops::Range<i32> = -30..31;
const PARTS: i32 = 4;
/// Halvings of an interval, after which it is as short as numbers allow.
const HALVINGS: u32 = 200;

/// All starts, and what became of those that there are not.
pub(super) fn starts(
    (source, seed): (&Source, Option<u64>),
    problem: &mut Problem<'_>,
    orbits: usize,
    vary: Option<&Fan>,
    level: Option<&Level>,
) -> Result<(Vec<Start>, Vec<String>), Failure> {
    if let (Some(seed), None, None) = (seed, vary, level) {
        let draw = |i: u64| {
            let state = source.draw(&mut problem.dynamics, seed.wrapping_add(i));
            let state = state.map_err(|error| unprepared(source, &error))?;
            Ok(Start { name: format!("seed {}", seed.wrapping_add(i)), state })
        };
        return Ok(((0..orbits as u64).map(draw).collect::<Result<_, Failure>>()?, Vec::new()));
    }
    if seed.is_some() {
        return Err(Failure::usage(
            "starts drawn at random (--seed) are neither varied nor brought to an energy",
        ));
    }
    if orbits > 1 && vary.is_none() {
        return Err(Failure::usage("several orbits need several starts: --vary NAME=FROM..TO, or --seed N"));
    }
    let values = problem.values.clone();
    let system = problem.dynamics.system().clone();
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for orbit in 0..orbits {
        let (mut values, mut name) = (values.clone(), String::new());
        if let Some(fan) = vary {
            let value = fan.value(orbit, orbits);
            set(&mut values, &system, &fan.name, value);
            name = format!("{} = {}", fan.name, short(value));
        }
        match level {
            None => {
                let state = start(&mut problem.dynamics, &values).map_err(Failure::usage)?;
                found.push(Start { name, state });
            }
            Some(level) => {
                let names = [system.coordinates(), system.velocities(), system.momenta()];
                if !names.into_iter().flatten().any(|name| *name == level.solve) {
                    // What the system does not have is no matter of the energy, and the start knows what was meant.
                    set(&mut values, &system, &level.solve, 0.0);
                    start(&mut problem.dynamics, &values).map_err(Failure::usage)?;
                }
                match at_energy(&mut problem.dynamics, &system, &values, level) {
                    Ok(state) => found.push(Start { name, state }),
                    Err(why) => lost.push(if name.is_empty() { why } else { format!("{name}: {why}") }),
                }
            }
        }
    }
    Ok((found, lost))
}

/// Sets a value of a start in the place of what was there. Momenta and velocities do not go together.
fn set(values: &mut Vec<(String, f64)>, system: &System, name: &str, value: f64) {
    let momentum = system.momenta().iter().any(|p| p == name);
    let velocity = system.velocities().iter().any(|v| v == name);
    values.retain(|(other, _)| {
        let clash =
            momentum && system.velocities().contains(other) || velocity && system.momenta().contains(other);
        other != name && !clash
    });
    values.push((name.to_owned(), value));
}

fn start(dynamics: &mut Dynamics, values: &[(String, f64)]) -> Result<State, leastaction::StartError> {
    let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    dynamics.start(&values)
}

/// The start whose energy is that of the level, by a search outwards from 0, first among positive values.
fn at_energy(
    dynamics: &mut Dynamics,
    system: &System,
    values: &[(String, f64)],
    level: &Level,
) -> Result<State, String> {
    let mut values = values.to_vec();
    let mut excess = |value: f64| -> Option<f64> {
        set(&mut values, system, &level.solve, value);
        let state = start(dynamics, &values).ok()?;
        let mut energy = [0.0];
        dynamics.energy(&[state.t], &state.block(), &mut energy).ok()?;
        Some(energy[0] - level.energy).filter(|e| e.is_finite())
    };
    let mut nearest = (f64::INFINITY, 0.0);
    let mut bracket = None;
    'search: for way in [1.0, -1.0] {
        let mut before = None;
        let sizes =
            (POWERS.start * PARTS..POWERS.end * PARTS).map(|k| (f64::from(k) / f64::from(PARTS)).exp2());
        for value in std::iter::once(0.0).chain(sizes).map(|size| way * size) {
            let Some(here) = excess(value) else {
                before = None;
                continue;
            };
            if here.abs() < nearest.0 {
                nearest = (here.abs(), value);
            }
            match before {
                Some((other, there)) if here == 0.0 || f64::signum(there) != here.signum() => {
                    bracket =
                        Some(if here == 0.0 { [(value, here); 2] } else { [(other, there), (value, here)] });
                    break 'search;
                }
                _ if here == 0.0 => {
                    bracket = Some([(value, here); 2]);
                    break 'search;
                }
                _ => before = Some((value, here)),
            }
        }
    }
    let Some([(mut a, at_a), (mut b, _)]) = bracket else {
        return Err(format!(
            "no {} gives the energy {} (the nearest is {}, at {})",
            level.solve,
            number(&level.energy),
            short(level.energy + excess(nearest.1).unwrap_or(f64::NAN)),
            short(nearest.1)
        ));
    };
    for _ in 0..HALVINGS {
        let middle = 0.5 * (a + b);
        if middle == a || middle == b {
            break;
        }
        match excess(middle) {
            Some(0.0) => (a, b) = (middle, middle),
            Some(e) if e.signum() == at_a.signum() => a = middle,
            Some(_) => b = middle,
            None => return Err(format!("the energy cannot be told at {} = {}", level.solve, short(middle))),
        }
    }
    // The better one of two neighbours.
    let best = if excess(a).map_or(f64::INFINITY, f64::abs) <= excess(b).map_or(f64::INFINITY, f64::abs) {
        a
    } else {
        b
    };
    set(&mut values, system, &level.solve, best);
    start(dynamics, &values).map_err(|error| error.to_string())
}

/// Four digits of a number.
pub(super) fn short(value: f64) -> String {
    number(&format!("{value:.3e}").parse().unwrap_or(value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction::{Graph, Model};

    #[test]
    fn fans_are_read_and_spread() {
        let wide = fan("y = -0.5 .. 1e0").unwrap();
        assert_eq!(wide, Fan { name: "y".to_owned(), from: -0.5, to: 1.0 });
        assert_eq!([wide.value(0, 4), wide.value(1, 4), wide.value(3, 4)], [-0.5, 0.0, 1.0]);
        assert_eq!(wide.value(0, 1), 0.25);
        for bad in ["y", "y=1", "y=1..", "=1..2", "y=a..b", "y=0..inf"] {
            assert!(fan(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn energies_are_met_or_refused() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bead", 2.0, [x, y]);
        model.potential("spring", (x * x + 4.0 * y * y) / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let system = dynamics.system().clone();
        let values = vec![("y".to_owned(), 0.5)];
        let mut solve = |name: &str, energy: f64| {
            let level = Level { energy, solve: name.to_owned() };
            at_energy(&mut dynamics, &system, &values, &level)
        };
        // E = p²/4 + x²/2 + 1/2.
        let state = solve("p_x", 1.5).unwrap();
        assert!((state.p[0] - 2.0).abs() < 1e-15 && state.q == [0.0, 0.5], "{state:?}");
        assert!((solve("x'", 1.5).unwrap().p[0] - 2.0).abs() < 1e-15);
        assert!((solve("x", 1.5).unwrap().q[0] - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(solve("p_x", 0.5).unwrap().p[0], 0.0);
        let why = solve("p_x", 0.25).unwrap_err();
        assert_eq!(why, "no p_x gives the energy 0.25 (the nearest is 0.5, at 0)");
    }
}
