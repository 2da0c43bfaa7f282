//! How much of the machine a command may use, and what it tells of that.

use crate::failure::Failure;
use crate::page::{Page, duration};
use clap::Args;
use rl4rla::cache::set_cache_limit;
use rl4rla::clock::{self, WorkPhase};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much the machine may be used.
#[derive(Args)]
pub struct Threads {
    /// Number of threads; does not affect results [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
}

/// What a computation may use, and what it tells of itself. No result depends on it.
#[derive(Args)]
pub struct Resources {
    /// Cache size limit in MiB; does not affect results [default: 128, or 256 for each thread of a sweep]
    #[arg(long, value_name = "MIB")]
    pub cache: Option<usize>,
    /// Print the time spent on instances, evaluations and search, summed over all threads
    #[arg(long)]
    pub timings: bool,
}

impl Resources {
    /// Allows for the caches of several runs at once, each on a thread of its own, unless a limit is given.
    pub fn allow_for(&self, threads: usize) {
        if self.cache.is_none() {
            set_cache_limit(threads.saturating_mul(256 << 20));
        }
    }

    /// The same, with the limit that is given.
    pub fn cache_for(&self, threads: usize) {
        self.cache.into_iter().for_each(|mib| set_cache_limit(mib.saturating_mul(1 << 20)));
        self.allow_for(threads);
    }

    /// Runs a command with these.
    pub fn within(&self, run: impl FnOnce() -> Result<Page, Failure>) -> Result<Page, Failure> {
        self.cache.into_iter().for_each(|mib| set_cache_limit(mib.saturating_mul(1 << 20)));
        if !self.timings {
            return run();
        }
        clock::start();
        let mut page = run()?;
        let parts = WorkPhase::ALL.map(|part| (part.name(), clock::spent(part).as_secs_f64()));
        let told: Vec<String> =
            parts.iter().map(|(name, seconds)| format!("{name} {}", duration(*seconds))).collect();
        page.text = format!("{}\ntime: {}\n", page.text.trim_end(), told.join(", "));
        page.json["timings"] = json!(BTreeMap::from(parts));
        Ok(page)
    }
}

/// Whether commands run inside another program, whose threads they use.
pub static EMBEDDED: AtomicBool = AtomicBool::new(false);

impl Threads {
    /// Starts the threads; once per process, and before data take the memory that their stacks need.
    pub fn apply(&self) -> Result<(), Failure> {
        if EMBEDDED.load(Ordering::Relaxed) {
            return Ok(());
        }
        let threads = self.threads.unwrap_or_default() as usize;
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(|error| {
            Failure::new(format!("there is no memory to start the threads: {error}"))
                .advise("--threads 1, or higher limits (ulimit, memory of the job)")
        })
    }
}
