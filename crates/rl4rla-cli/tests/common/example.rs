//! Tests that are an example too: started again with [`AS_EXAMPLE`] set, they do what the example does with the same
//! arguments. So what is tested is never older than its source, whatever else was built.

use std::process::{Command, ExitCode};

const AS_EXAMPLE: &str = "RL4RLA_AS_EXAMPLE";

/// The main function of such a test: runs the example if asked to, and the tests otherwise.
pub fn run(example: fn() -> ExitCode, tests: &[(&str, fn())]) -> ExitCode {
    if std::env::var_os(AS_EXAMPLE).is_some() {
        return example();
    }
    for (name, test) in tests {
        println!("{name}");
        test();
    }
    ExitCode::SUCCESS
}

/// The example with these arguments.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
    command.env(AS_EXAMPLE, "yes").args(args);
    command
}
