//! One file per command.

pub mod advise;
pub mod analyze;
pub mod audit;
pub mod calibrate;
pub mod campaign;
pub mod compare;
pub mod discover;
pub mod equiv;
pub mod evaluate;
pub mod explore;
pub mod export;
pub mod help;
pub mod learn;
pub mod list;
pub mod report;
pub mod reproduce;
#[cfg(feature = "serve")]
pub mod serve;
pub mod show;
pub mod solve;
pub mod sweep;
