//! One file per command.

pub mod evaluate;
pub mod list;
pub mod show;
