//! The live page: a server on this machine by which runs are watched, started, stopped and compared in the browser.
//!
//! It reads the store, and computes nothing itself: runs and questions about programs are commands, each a process of its
//! own. [`Server`] is all that the command needs.

mod asset;
mod board;
mod campaigns;
mod check;
mod command;
mod compare;
mod error;
mod events;
mod figures;
mod graph;
mod guard;
mod jobs;
mod lists;
mod map;
mod marks;
mod outline;
mod programs;
mod routes;
mod run;
mod runs;
mod server;
mod starting;
mod state;
mod terms;
mod watch;

pub use server::{Server, ServerSettings};
pub use watch::SETTLING;
