//! The binary.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: rl4rla_cli::Allocator = rl4rla_cli::Allocator;

fn main() -> ExitCode {
    rl4rla_cli::main()
}
