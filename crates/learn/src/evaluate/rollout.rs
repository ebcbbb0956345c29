//! Predictions over many samples, in double precision.

use crate::chain::{Tape, Worker};
use crate::predictor::Predictor;
use leastaction_compile::LANES;
use leastaction_network::Network;
use std::sync::Mutex;

/// So many trajectories go side by side.
const TOGETHER: usize = 32;

/// Predicts so many samples, the start included, from each of these states z, so far apart, in so many threads: the same bits for any number of them. What ran away is NaN from there on.
///
/// # Panics
/// If states or parameters are not those of the predictor.
#[must_use]
pub fn rollout(
    predictor: &Predictor,
    parameters: &[f64],
    dt: f64,
    starts: &[f64],
    samples: usize,
    threads: usize,
) -> Vec<f64> {
    let dimension = predictor.dimension();
    assert!(starts.len().is_multiple_of(dimension), "numbers of a state");
    let networks: Vec<Network<f64>> = predictor.layout().with(parameters);
    let mut all = vec![0.0; starts.len() * samples];
    let groups = starts.chunks(TOGETHER * dimension).zip(all.chunks_mut(TOGETHER * dimension * samples));
    let queue = Mutex::new(groups);
    let work = || {
        loop {
            let Some((starts, to)) = queue.lock().expect("no thread panics").next() else { break };
            let mut group = Group::new(predictor, &networks, starts.len() / dimension);
            to.copy_from_slice(&group.run(parameters, dt, starts, samples));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| _ = scope.spawn(work));
        work();
    });
    all
}

struct Group<'p> {
    predictor: &'p Predictor,
    networks: &'p [Network<f64>],
    lanes: usize,
    chains: [(Tape<f64>, Worker<f64>); 3],
}

impl<'p> Group<'p> {
    fn new(predictor: &'p Predictor, networks: &'p [Network<f64>], count: usize) -> Group<'p> {
        let lanes = count.next_multiple_of(LANES);
        let chain = |chain| (Tape::new(chain, networks, lanes), Worker::new(chain, networks, lanes));
        let chains = [&predictor.encode, &predictor.step, &predictor.decode].map(chain);
        Group { predictor, networks, lanes, chains }
    }

    fn run(&mut self, parameters: &[f64], dt: f64, starts: &[f64], samples: usize) -> Vec<f64> {
        let Group { predictor, networks, lanes, chains: [encode, step, decode] } = self;
        let (lanes, dimension) = (*lanes, predictor.dimension());
        let count = starts.len() / dimension;
        let numbers = &parameters[predictor.layout().first_number()..];
        encode.1.set(&predictor.encode, numbers, &[]);
        step.1.set(&predictor.step, numbers, &[dt / predictor.substeps as f64]);
        decode.1.set(&predictor.decode, numbers, &[]);
        for (number, row) in encode.0.inputs_mut().chunks_exact_mut(lanes).enumerate() {
            // Lanes that are left over go with the last trajectory.
            row.iter_mut()
                .enumerate()
                .for_each(|(lane, z)| *z = starts[lane.min(count - 1) * dimension + number]);
        }
        encode.1.forward(&mut encode.0, networks);
        let mut y: Vec<f64> =
            (0..encode.0.chain().outputs()).flat_map(|place| encode.0.output(place).to_vec()).collect();
        let mut all = vec![0.0; count * samples * dimension];
        for sample in 0..samples {
            if sample > 0 {
                for _ in 0..predictor.substeps {
                    step.0.inputs_mut().copy_from_slice(&y);
                    step.1.forward(&mut step.0, networks);
                    y.chunks_exact_mut(lanes)
                        .enumerate()
                        .for_each(|(place, row)| row.copy_from_slice(step.0.output(place)));
                }
            }
            decode.0.inputs_mut().copy_from_slice(&y);
            decode.1.forward(&mut decode.0, networks);
            for number in 0..dimension {
                let row = decode.0.output(number);
                (0..count).for_each(|lane| all[(lane * samples + sample) * dimension + number] = row[lane]);
            }
        }
        all
    }
}
