//! The systems, one file each.

mod bezier_bead;
mod bricard;
pub(crate) mod coupled_chain;
pub(crate) mod coupled_pendulums;
mod damped_pendulum;
mod double_pendulum;
mod dzhanibekov;
mod four_bar;
mod gyroscope;
mod harmonic_oscillator;
mod henon_heiles;
mod magnet_pendulum;
pub(crate) mod n_pendulum;
mod outer_solar_system;
mod pendulum;
mod rigid_rotor;
mod rollercoaster;
mod room;
mod slider_crank;
mod spring_on_rail;
mod two_body;

use crate::entry::Entry;

/// Every system of the catalog.
pub const ALL: &[Entry] = &[
    pendulum::ENTRY,
    double_pendulum::ENTRY,
    double_pendulum::UNEQUAL,
    room::ENTRY,
    two_body::ENTRY,
    spring_on_rail::ENTRY,
    bezier_bead::ENTRY,
    harmonic_oscillator::ENTRY,
    henon_heiles::ENTRY,
    outer_solar_system::ENTRY,
    coupled_chain::ENTRY,
    damped_pendulum::ENTRY,
    dzhanibekov::ENTRY,
    rollercoaster::ENTRY,
    n_pendulum::ENTRY,
    coupled_pendulums::ENTRY,
    magnet_pendulum::ENTRY,
    gyroscope::ENTRY,
    rigid_rotor::ENTRY,
    four_bar::ENTRY,
    slider_crank::ENTRY,
    bricard::ENTRY,
];
