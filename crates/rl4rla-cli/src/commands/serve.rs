//! `rl4rla serve`, and the page that comes with `--live`.

use crate::args::{Serve, Shared};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::page::Page;
use crate::{printed, progress};
use rl4rla_web::{Server, ServerSettings};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Serves the page until a signal ends it.
pub fn run(args: &Serve, shared: &Shared) -> Result<Page, Failure> {
    let server = bound(args.port, args.read_only, &args.campaigns, shared)?;
    let address = Page::ok(json!({ "url": server.url() }), server.url());
    // Runs save their work when the server ends, which takes a moment.
    interrupt::saving(Page::nothing(INTERRUPTED));
    if !printed(&address, shared) {
        return Err(Failure::new("the address cannot be printed"));
    }
    // A page says what goes on better than a line here.
    progress::end();
    server
        .run(interrupt::stopped)
        .map_err(|error| Failure::new(format!("the page cannot be served: {error}")))?;
    Ok(Page::nothing(INTERRUPTED))
}

fn bound(port: u16, read_only: bool, campaigns: &[PathBuf], shared: &Shared) -> Result<Server, Failure> {
    let command = std::env::current_exe()
        .map_err(|error| Failure::new(format!("this program does not know its own path: {error}")))?;
    // Its processes work in the same folder, but a path that is whole cannot be misunderstood.
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let (store, campaigns) = (whole(&shared.store), campaigns.iter().map(whole).collect());
    Server::bind(ServerSettings { store, port, read_only, campaigns, command }).map_err(|error| {
        Failure::new(format!("cannot listen on port {port} of this machine: {error}"))
            .advise("--port 0 for any port that is free")
    })
}

/// Does some work while the page is served, whose address goes to standard error.
pub fn alongside<T>(shared: &Shared, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let server = bound(0, false, &[], shared)?;
    let _ = writeln!(std::io::stderr(), "{}", server.url());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The work matters more than its page.
        scope.spawn(|| drop(server.run(|| over.load(Ordering::Relaxed))));
        let done = work();
        // Pages are told what was last written.
        interrupt::pause(rl4rla_web::SETTLING);
        over.store(true, Ordering::Relaxed);
        done
    })
}
