//! The systems: a `.motion` file each. Those of any size, and those whose starts can be drawn at random, have a file in Rust too.

mod coupled_chain;
mod coupled_pendulums;
mod gyroscope;
mod magnet_pendulum;
mod n_pendulum;
mod rigid_rotor;

use crate::entry::Entry;
use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Pose};

macro_rules! motion {
    ($name:literal) => {
        Entry::new($name, include_str!(concat!($name, ".motion")))
    };
}

/// Every system of the catalog.
pub const ALL: &[Entry] = &[
    motion!("pendulum"),
    motion!("double-pendulum"),
    motion!("double-pendulum-unequal"),
    motion!("room"),
    motion!("two-body"),
    motion!("spring-on-rail"),
    motion!("bezier-bead"),
    motion!("harmonic-oscillator"),
    motion!("henon-heiles"),
    motion!("outer-solar-system"),
    Entry::sized("coupled-chain", 8, coupled_chain::text),
    motion!("damped-pendulum"),
    motion!("dzhanibekov"),
    motion!("rollercoaster"),
    Entry::sized("n-pendulum", 3, n_pendulum::text).drawn(n_pendulum::draw),
    Entry::sized("coupled-pendulums", 3, coupled_pendulums::text).drawn(coupled_pendulums::draw),
    motion!("magnet-pendulum").drawn(magnet_pendulum::draw),
    motion!("gyroscope").drawn(gyroscope::draw),
    motion!("rigid-rotor").drawn(rigid_rotor::draw),
    motion!("four-bar"),
    motion!("slider-crank"),
    motion!("bricard"),
    motion!("kepler"),
    motion!("bead-on-hoop"),
    motion!("spherical-pendulum"),
    motion!("elastic-pendulum"),
    motion!("foucault"),
    motion!("kapitza"),
    motion!("cart-pole"),
    motion!("restricted-three-body"),
    motion!("lagrange-top"),
    motion!("rolling-coin"),
    motion!("bicycle"),
    motion!("bouncing-ball"),
    motion!("hanging-cloth"),
    motion!("jelly-cube"),
    motion!("cantilever"),
    motion!("rope"),
    motion!("lj-cluster"),
    motion!("incompressible-block"),
];

/// A statement for a list, of which there are none for an empty one.
fn statement(word: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { String::new() } else { format!("{word} {}\n", items.join(", ")) }
}

/// The values of a body's coordinates and velocities in a pose, whatever its mass and moments.
fn posed(name: &str, pose: &Pose) -> Vec<(String, f64)> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let moments = [1.0; 3].map(|moment| model.number(moment));
    let body = model.body_with_moments(name, 1.0, moments).expect("the body is sound");
    let values = body.start(pose).expect("the pose is sound");
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
