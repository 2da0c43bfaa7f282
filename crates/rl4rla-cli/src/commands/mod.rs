//! One file per command.

pub mod audit;
pub mod discover;
pub mod equiv;
pub mod evaluate;
pub mod list;
pub mod show;
pub mod sweep;
