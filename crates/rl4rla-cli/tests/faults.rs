//! Faults: kills, damaged stores, signals, full disks, and paths that must not be written. Nothing is lost, nothing is
//! wrong, nothing panics.
//!
//! This is the short form; `scripts/fault-campaign` runs the long one.

mod common;
mod faults {
    pub mod kills;
    pub mod outputs;
    pub mod signals;
    pub mod space;
    pub mod stores;
    pub mod tally;
    pub mod writers;
}
