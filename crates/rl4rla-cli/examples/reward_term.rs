//! A reward term of one's own, beside those of the crate; `docs/extending.md` explains it.
//!
//!     cargo run --release --example reward_term -- evaluate ls-gd --weights 1,10,8,1,monotone=5

use rl4rla::reward::{self, Need, RewardTerm};
use std::process::ExitCode;

/// The share of the iterations that came nearer to the solution.
pub static MONOTONE: RewardTerm = RewardTerm {
    needs: &[Need::Iterates],
    ..RewardTerm::new("monotone", "monotonicity", "of iterations that came nearer", |input| {
        let excesses = &input.trace.excesses;
        let nearer = excesses.windows(2).filter(|pair| pair[1] < pair[0]).count();
        nearer as f64 / (excesses.len() - 1) as f64
    })
};

/// The whole command, which knows the term.
pub fn main() -> ExitCode {
    reward::register(&MONOTONE).expect("no other term has this key");
    rl4rla_cli::main()
}
