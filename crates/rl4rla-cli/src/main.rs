//! The binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    rl4rla_cli::main()
}
