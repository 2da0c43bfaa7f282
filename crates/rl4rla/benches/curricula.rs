//! End-to-end seconds of every curriculum, split: `cargo bench --bench curricula [-- NAME...]`. One seed, one thread.

use rl4rla::clock::{self, WorkPhase};
use rl4rla::curriculum::{BUILTIN, Curriculum, discover};
use rl4rla::discovery::{Approach, Context};
use rl4rla::search::Method;
use std::time::Instant;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    // Those in folders are variants.
    let usual = BUILTIN.iter().map(|(name, _)| *name).filter(|name| !name.contains('/'));
    let names: Vec<&str> =
        if asked.is_empty() { usual.collect() } else { asked.iter().map(String::as_str).collect() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for name in names {
        let curriculum = Curriculum::named(name).expect("built in").expect("well written");
        let approach = Approach::new(Method::Best);
        clock::start();
        let start = Instant::now();
        let discovery = pool
            .install(|| discover(&curriculum, &approach, 0, &mut Context::default()))
            .expect("its families can be drawn");
        let parts =
            WorkPhase::ALL.map(|part| format!("{} {:.2}", part.name(), clock::spent(part).as_secs_f64()));
        println!(
            "{name}: {:.2} s ({}), {} evaluations, found: {}",
            start.elapsed().as_secs_f64(),
            parts.join(", "),
            discovery.counters().evaluations,
            discovery.found
        );
    }
}
