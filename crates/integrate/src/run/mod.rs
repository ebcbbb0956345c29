//! What a run is made of beside its loop: where steps end, what is written down, what is looked out for, and how to go on later.

pub(crate) mod checkpoint;
pub(crate) mod checksum;
pub(crate) mod density;
pub(crate) mod event;
mod fictitious;
pub(crate) mod grid;
pub(crate) mod roots;
pub(crate) mod schedule;
