//! Where the orbits of a section start: a fan of values, drawn at random, and brought to an energy.

use super::{Lost, LostOrbit, SectionError, SectionPlan};
use crate::error::PrepareError;
use crate::problem::{Problem, start};
use crate::source::Source;
use leastaction_expr::Names;
use leastaction_integrate::{number, rounded};
use leastaction_mechanics::{Dynamics, StartError, State, System};

/// Values of an initial condition that are varied from orbit to orbit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fan {
    /// A coordinate, a velocity or a momentum.
    pub name: String,
    /// Its value in the first orbit.
    pub from: f64,
    /// Its value in the last one.
    pub to: f64,
}

impl Fan {
    /// The value of an orbit of so many: both ends are among them; one alone is in the middle.
    #[must_use]
    pub fn value(&self, orbit: usize, orbits: usize) -> f64 {
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
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The energy.
    pub energy: f64,
    /// A coordinate, a velocity or a momentum.
    pub solve: String,
}

/// Why there is no initial condition of an energy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LevelError {
    /// No value gives the energy.
    #[error("no {} gives the energy {} (the nearest is {}, at {})", .level.solve, number(&.level.energy), short(*.nearest), short(*.at))]
    Unreachable {
        /// What was asked for.
        level: Level,
        /// The energy that comes nearest.
        nearest: f64,
        /// The value there.
        at: f64,
    },
    /// The energy cannot be computed on the way to the value.
    #[error("the energy cannot be computed at {} = {}", .level.solve, short(*.at))]
    Untold {
        /// What was asked for.
        level: Level,
        /// The value.
        at: f64,
    },
    /// There is no initial condition with the value.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// An orbit, by where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// What tells it from the others; empty if there are none.
    pub name: String,
    /// Its initial state.
    pub state: State,
}

/// Magnitudes that are tried in the search for an energy, as powers of 2, in parts of them.
const POWERS: std::ops::Range<i32> = -30..31;
const PARTS: i32 = 4;
/// Halvings of an interval, after which it is as short as numbers allow.
const HALVINGS: u32 = 200;

/// All orbits, and those that have no start.
pub(super) fn starts(
    source: &Source,
    problem: &mut Problem<'_>,
    plan: &SectionPlan,
    seed: Option<u64>,
) -> Result<(Vec<Orbit>, Vec<LostOrbit>), PrepareError> {
    let (vary, level) = (plan.vary.as_ref(), plan.level.as_ref());
    match (seed, vary, level) {
        (Some(seed), None, None) => {
            let draw = |i: u64| {
                let seed = seed.wrapping_add(i);
                let state = source.draw(&mut problem.dynamics, seed)?;
                Ok(Orbit { name: format!("seed {seed}"), state })
            };
            let drawn = (0..plan.orbits as u64).map(draw).collect::<Result<_, PrepareError>>()?;
            return Ok((drawn, Vec::new()));
        }
        (Some(_), ..) => return Err(SectionError::Drawn.into()),
        (None, None, _) if plan.orbits > 1 => return Err(SectionError::OneStart.into()),
        _ => {}
    }
    let system = problem.dynamics.system().clone();
    if let Some((fan, level)) = vary.zip(level) {
        // A momentum would take the place of all velocities, and a velocity that of all momenta.
        let is = |names: &Names, name: &str| names.contains(name);
        let (one, other) = (fan.name.as_str(), level.solve.as_str());
        let (v, p) = (system.velocities(), system.momenta());
        if one == other || is(v, one) && is(p, other) || is(p, one) && is(v, other) {
            return Err(SectionError::Solved { name: one.to_owned(), solve: other.to_owned() }.into());
        }
    }
    let (mut orbits, mut lost) = (Vec::new(), Vec::new());
    let stated = problem.all_values();
    for orbit in 0..plan.orbits {
        let (mut values, mut name) = (stated.clone(), String::new());
        if let Some(fan) = vary {
            let value = fan.value(orbit, plan.orbits);
            set(&mut values, &system, &fan.name, value);
            name = format!("{} = {}", fan.name, short(value));
        }
        let Some(level) = level else {
            let state = start(&mut problem.dynamics, &values).map_err(PrepareError::usage)?;
            orbits.push(Orbit { name, state });
            continue;
        };
        let names = [system.coordinates(), system.velocities(), system.momenta()];
        if !names.into_iter().any(|names| names.contains(&level.solve)) {
            // What the system does not have is no matter of the energy, and the start knows what was meant.
            set(&mut values, &system, &level.solve, 0.0);
            start(&mut problem.dynamics, &values).map_err(PrepareError::usage)?;
        }
        match level.start(&mut problem.dynamics, &values) {
            Ok(state) => orbits.push(Orbit { name, state }),
            Err(error) => lost.push(LostOrbit { name, why: Lost::Start(error) }),
        }
    }
    Ok((orbits, lost))
}

/// Sets a value of an initial condition in the place of what was there. Momenta and velocities do not go together.
fn set(values: &mut Vec<(String, f64)>, system: &System, name: &str, value: f64) {
    let momentum = system.momenta().contains(name);
    let velocity = system.velocities().contains(name);
    values.retain(|(other, _)| {
        let clash =
            momentum && system.velocities().contains(other) || velocity && system.momenta().contains(other);
        other != name && !clash
    });
    values.push((name.to_owned(), value));
}

impl Level {
    /// The state of these values whose energy is that of the level, by a search outwards from 0, first among positive values.
    ///
    /// # Errors
    /// [`LevelError`] if there is none.
    pub fn start(&self, dynamics: &mut Dynamics, values: &[(String, f64)]) -> Result<State, LevelError> {
        let (level, system, mut values) = (self, dynamics.system().clone(), values.to_vec());
        let mut excess = |value: f64| -> Option<f64> {
            set(&mut values, &system, &level.solve, value);
            let state = start(dynamics, &values).ok()?;
            let mut energy = [0.0];
            dynamics.hamiltonian(&[state.t], &state.block(), &mut energy).ok()?;
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
                        bracket = Some(if here == 0.0 {
                            [(value, here); 2]
                        } else {
                            [(other, there), (value, here)]
                        });
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
            let at = nearest.1;
            let nearest = level.energy + excess(at).unwrap_or(f64::NAN);
            return Err(LevelError::Unreachable { level: level.clone(), nearest, at });
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
                None => return Err(LevelError::Untold { level: level.clone(), at: middle }),
            }
        }
        // The better one of two neighbours.
        let best = if excess(a).map_or(f64::INFINITY, f64::abs) <= excess(b).map_or(f64::INFINITY, f64::abs) {
            a
        } else {
            b
        };
        set(&mut values, &system, &level.solve, best);
        Ok(start(dynamics, &values)?)
    }
}

/// Four digits of a number.
fn short(value: f64) -> String {
    rounded(value, 4)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction_expr::Graph;
    use leastaction_mechanics::Model;

    #[test]
    fn fans_are_spread() {
        let wide = Fan { name: "y".to_owned(), from: -0.5, to: 1.0 };
        assert_eq!([wide.value(0, 4), wide.value(1, 4), wide.value(3, 4)], [-0.5, 0.0, 1.0]);
        assert_eq!(wide.value(0, 1), 0.25);
    }

    #[test]
    fn energies_are_met_or_refused() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bead", 2.0, [x, y]);
        model.potential("spring", (x * x + 4.0 * y * y) / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let values = vec![("y".to_owned(), 0.5)];
        let mut solve =
            |name: &str, energy: f64| Level { energy, solve: name.to_owned() }.start(&mut dynamics, &values);
        // E = p²/4 + x²/2 + 1/2.
        let state = solve("p_x", 1.5).unwrap();
        assert!((state.p[0] - 2.0).abs() < 1e-15 && state.q == [0.0, 0.5], "{state:?}");
        assert!((solve("x'", 1.5).unwrap().p[0] - 2.0).abs() < 1e-15);
        assert!((solve("x", 1.5).unwrap().q[0] - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(solve("p_x", 0.5).unwrap().p[0], 0.0);
        let why = solve("p_x", 0.25).unwrap_err();
        assert_eq!(why.to_string(), "no p_x gives the energy 0.25 (the nearest is 0.5, at 0)");
    }
}
