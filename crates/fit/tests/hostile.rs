//! Data that cannot be used.
