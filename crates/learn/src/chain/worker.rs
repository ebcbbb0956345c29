//! A chain forwards, and back.

use super::compiled::ProgramRunner;
use super::tape::Tape;
use super::{Chain, Stage};
use leastaction_network::{Bends, CurveAdjoints, Curved, Network, Real, Room};

/// The memory of one thread for a chain.
#[derive(Clone)]
pub struct Worker<T> {
    programs: Vec<Option<ProgramRunner>>,
    /// One for each network that passes go through.
    rooms: Vec<Option<Room<T>>>,
    /// One for each network that bends.
    bends: Vec<Option<Bends<T>>>,
    /// Derivatives by rows.
    adjoints: Vec<f64>,
    /// What goes to a network and comes from it.
    seeds: Vec<T>,
    given: Vec<T>,
    also: Vec<T>,
    third: Vec<T>,
}

/// The derivatives of something by all parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient<T> {
    /// By the parameters of each network.
    pub networks: Vec<Vec<T>>,
    /// By the numbers.
    pub numbers: Vec<f64>,
}

impl<T: Real> Gradient<T> {
    /// Zeros.
    #[must_use]
    pub fn new(networks: &[Network<T>], numbers: usize) -> Gradient<T> {
        let networks =
            networks.iter().map(|network| vec![T::default(); network.parameters().len()]).collect();
        Gradient { networks, numbers: vec![0.0; numbers] }
    }

    /// Makes all of them zeros.
    pub fn clear(&mut self) {
        self.networks.iter_mut().for_each(|list| list.fill(T::default()));
        self.numbers.fill(0.0);
    }

    /// Adds them to sums in the order of the layout.
    pub fn add_to(&self, sums: &mut [f64]) {
        let all = self.networks.iter().flatten().map(|x| x.wide()).chain(self.numbers.iter().copied());
        sums.iter_mut().zip(all).for_each(|(sum, x)| *sum += x);
    }
}

impl<T: Real> Worker<T> {
    /// Memory for chains of so many samples.
    #[must_use]
    pub fn new(chain: &Chain, networks: &[Network<T>], lanes: usize) -> Worker<T> {
        let program = |stage: &Stage| match stage {
            Stage::Program(stage) => Some(stage.runner()),
            _ => None,
        };
        let used = |place: usize| chain.inner.passes.contains(&place);
        let room = |(place, network): (usize, _)| used(place).then(|| Room::new(network, lanes));
        let curved = |place: usize| {
            let of = |stage: &Stage| matches!(stage, Stage::Curve { pass, .. } if chain.inner.passes[*pass] == place);
            chain.inner.stages.iter().any(of)
        };
        let bend = |(place, network): (usize, _)| curved(place).then(|| Bends::new(network, lanes));
        Worker {
            programs: chain.inner.stages.iter().map(program).collect(),
            rooms: networks.iter().enumerate().map(room).collect(),
            bends: networks.iter().enumerate().map(bend).collect(),
            adjoints: vec![0.0; chain.inner.rows * lanes],
            seeds: Vec::new(),
            given: Vec::new(),
            also: Vec::new(),
            third: Vec::new(),
        }
    }

    /// Sets the numbers that are learned, and the settings.
    pub fn set(&mut self, chain: &Chain, numbers: &[f64], settings: &[f64]) {
        for (program, stage) in self.programs.iter_mut().zip(&chain.inner.stages) {
            if let (Some(program), Stage::Program(stage)) = (program, stage) {
                program.set(stage, numbers, settings);
            }
        }
    }

    /// Computes all rows from those that are given.
    pub fn forward(&mut self, tape: &mut Tape<T>, networks: &[Network<T>]) {
        let (chain, lanes) = (tape.chain().clone(), tape.lanes());
        let Tape { rows, passes, sweeps, .. } = tape;
        let Worker { programs, bends, seeds, given, also, .. } = self;
        for (stage, program) in chain.inner.stages.iter().zip(programs) {
            match stage {
                Stage::Program(stage) => {
                    program.as_mut().expect("a program has a runner").forward(stage, lanes, rows);
                }
                Stage::Network { pass, reads, writes } => {
                    narrow(seeds, reads, lanes, rows);
                    let network = &networks[chain.inner.passes[*pass]];
                    match writes {
                        None => passes[*pass].units(network, seeds),
                        Some(writes) => {
                            let values = passes[*pass].values(network, seeds);
                            widen(&mut rows[writes.start * lanes..writes.end * lanes], values);
                        }
                    }
                }
                Stage::Pull { pass, sweep, weights, writes } => {
                    narrow(seeds, weights, lanes, rows);
                    let network = &networks[chain.inner.passes[*pass]];
                    given.resize(writes.len() * lanes, T::default());
                    passes[*pass].pull(network, seeds, &mut sweeps[*sweep], given);
                    widen(&mut rows[writes.start * lanes..writes.end * lanes], given);
                }
                Stage::Push { pass, sweep, direction, writes } => {
                    narrow(seeds, direction, lanes, rows);
                    let network = &networks[chain.inner.passes[*pass]];
                    given.resize(writes.len() * lanes, T::default());
                    passes[*pass].push(network, seeds, &mut sweeps[*sweep], given);
                    widen(&mut rows[writes.start * lanes..writes.end * lanes], given);
                }
                Stage::Curve { pass, weights, direction, writes } => {
                    narrow(seeds, weights, lanes, rows);
                    narrow(also, direction, lanes, rows);
                    let place = chain.inner.passes[*pass];
                    let bends = bends[place].as_mut().expect("a network that bends has room");
                    given.resize(writes.len() * lanes, T::default());
                    let of = Curved { weights: seeds, direction: also };
                    passes[*pass].curve(&networks[place], of, bends, given);
                    widen(&mut rows[writes.start * lanes..writes.end * lanes], given);
                }
            }
        }
    }

    /// Begins a way back: derivatives of nothing.
    pub fn begin(&mut self) {
        self.adjoints.fill(0.0);
    }

    /// The derivatives by a row that the chain gives, to be added to.
    pub fn seed(&mut self, tape: &Tape<T>, output: usize) -> &mut [f64] {
        let row = tape.chain().inner.outputs[output];
        &mut self.adjoints[row * tape.lanes()..][..tape.lanes()]
    }

    /// The derivatives by what the chain reads.
    #[must_use]
    pub fn by_inputs(&self, tape: &Tape<T>) -> &[f64] {
        &self.adjoints[..tape.chain().inputs() * tape.lanes()]
    }

    /// From derivatives by what the chain gives to those by what it reads, adding to those by all parameters.
    pub fn backward(&mut self, tape: &Tape<T>, networks: &[Network<T>], gradient: &mut Gradient<T>) {
        let (chain, lanes) = (tape.chain(), tape.lanes());
        let Tape { rows, passes, sweeps, .. } = tape;
        let Worker { programs, rooms, bends, adjoints, seeds, given, also, third } = self;
        for (stage, program) in chain.inner.stages.iter().zip(programs).rev() {
            let place = match stage {
                Stage::Program(stage) => {
                    let program = program.as_mut().expect("a program has a runner");
                    program.reverse(stage, lanes, rows, adjoints, &mut gradient.numbers);
                    continue;
                }
                Stage::Network { pass, .. }
                | Stage::Pull { pass, .. }
                | Stage::Push { pass, .. }
                | Stage::Curve { pass, .. } => *pass,
            };
            let at = chain.inner.passes[place];
            let (network, parameters) = (&networks[at], &mut gradient.networks[at]);
            let (pass, room) =
                (&passes[place], rooms[at].as_mut().expect("a network that is passed has room"));
            match stage {
                Stage::Program(_) | Stage::Network { writes: None, .. } => {}
                Stage::Network { reads, writes: Some(writes), .. } => {
                    narrow_range(seeds, &adjoints[writes.start * lanes..writes.end * lanes]);
                    given.resize(reads.len() * lanes, T::default());
                    pass.reverse_values(network, seeds, room, given, parameters);
                    add(adjoints, reads, lanes, given);
                }
                Stage::Pull { sweep, weights, writes, pass: place } => {
                    narrow_range(seeds, &adjoints[writes.start * lanes..writes.end * lanes]);
                    given.resize(writes.len() * lanes, T::default());
                    also.resize(weights.len() * lanes, T::default());
                    let product = (&sweeps[*sweep], &seeds[..]);
                    pass.reverse_pull(network, product, room, given, also, parameters);
                    add(adjoints, chain.read_by(*place), lanes, given);
                    add(adjoints, weights, lanes, also);
                }
                Stage::Push { sweep, direction, writes, pass: place } => {
                    narrow_range(seeds, &adjoints[writes.start * lanes..writes.end * lanes]);
                    given.resize(direction.len() * lanes, T::default());
                    also.resize(direction.len() * lanes, T::default());
                    let product = (&sweeps[*sweep], &seeds[..]);
                    pass.reverse_push(network, product, room, given, also, parameters);
                    add(adjoints, chain.read_by(*place), lanes, given);
                    add(adjoints, direction, lanes, also);
                }
                Stage::Curve { weights, direction, writes, pass: place } => {
                    let seeds: Vec<T> = adjoints[writes.start * lanes..writes.end * lanes]
                        .iter()
                        .map(|&x| T::of(x))
                        .collect();
                    let rows_of = |places: &[usize]| {
                        let mut to = Vec::new();
                        narrow(&mut to, places, lanes, rows);
                        to
                    };
                    let (weighted, along) = (rows_of(weights), rows_of(direction));
                    given.resize(writes.len() * lanes, T::default());
                    also.resize(direction.len() * lanes, T::default());
                    third.resize(weights.len() * lanes, T::default());
                    let of = Curved { weights: &weighted, direction: &along };
                    let to = CurveAdjoints { inputs: given, direction: also, weights: third };
                    let bends = bends[at].as_mut().expect("a network that bends has room");
                    pass.reverse_curve(network, (of, &seeds), bends, to, parameters);
                    add(adjoints, chain.read_by(*place), lanes, given);
                    add(adjoints, direction, lanes, also);
                    add(adjoints, weights, lanes, third);
                }
            }
        }
    }
}

impl Chain {
    /// The rows that the network of a pass reads.
    fn read_by(&self, pass: usize) -> &[usize] {
        let reads = self.inner.stages.iter().find_map(|stage| match stage {
            Stage::Network { pass: place, reads, .. } if *place == pass => Some(reads),
            _ => None,
        });
        reads.expect("a pass begins with a network")
    }
}

/// Rows as a network reads them.
fn narrow<T: Real>(to: &mut Vec<T>, places: &[usize], lanes: usize, rows: &[f64]) {
    to.clear();
    for &place in places {
        to.extend(rows[place * lanes..][..lanes].iter().map(|&value| T::of(value)));
    }
}

fn narrow_range<T: Real>(to: &mut Vec<T>, rows: &[f64]) {
    to.clear();
    to.extend(rows.iter().map(|&value| T::of(value)));
}

fn widen<T: Real>(to: &mut [f64], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, value)| *to = value.wide());
}

/// Adds to the adjoints of rows.
fn add<T: Real>(adjoints: &mut [f64], places: &[usize], lanes: usize, terms: &[T]) {
    for (&place, terms) in places.iter().zip(terms.chunks_exact(lanes)) {
        let sums = &mut adjoints[place * lanes..][..lanes];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term.wide());
    }
}
