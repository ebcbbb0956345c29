//! The systems, one file each.

mod double_pendulum;

use crate::entry::Entry;

/// Every system of the catalog.
pub const ALL: &[Entry] = &[double_pendulum::ENTRY, double_pendulum::UNEQUAL];
