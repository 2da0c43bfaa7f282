//! One file per command.

pub mod equiv;
pub mod evaluate;
pub mod list;
pub mod show;
