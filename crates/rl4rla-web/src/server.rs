//! The server: connections, their limits, and how it ends.

use crate::guard::Guard;
use crate::routes;
use crate::state::ServerState;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rand::TryRng;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Connections at a time; a page has a few.
const CONNECTIONS: usize = 256;

/// How long a client may take to send the headers of a request.
const HEADERS: Duration = Duration::from_secs(10);

/// Most bytes of the headers of a request.
const HEADER_BYTES: usize = 32 << 10;

/// How often the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long runs may take to save their work when the server ends.
const GRACE: Duration = Duration::from_millis(1200);

/// What is served, and how.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The store.
    pub store: PathBuf,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// The folders of the campaigns that are shown.
    pub campaigns: Vec<PathBuf>,
    /// The command, which computes what the page asks for.
    pub command: PathBuf,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<String>,
    settings: ServerSettings,
}

impl Server {
    /// Starts to listen on the loopback interface.
    pub fn bind(settings: ServerSettings) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let token = if settings.read_only { None } else { Some(token()?) };
        Ok(Server { listener, address, token, settings })
    }

    /// Its address; the token is in a part that browsers keep to themselves.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("#token={token}"));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }

    /// Serves until `stop` says so; runs that were started from the page then save their work and end.
    pub fn run(self, stop: impl Fn() -> bool) -> io::Result<()> {
        // Two threads are enough: what takes long is done by others.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(8)
            .thread_name("serve")
            .enable_all()
            .build()?;
        let Server { listener, address, token, settings } = self;
        let guard = Arc::new(Guard::new(address.port(), token));
        let shared = ServerState::new(settings);
        runtime
            .block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                tokio::spawn(accept(listener, guard, shared.clone()));
                while !stop() {
                    tokio::time::sleep(LOOK).await;
                }
                shared.jobs.stop_all(GRACE).await;
                // What has just happened is still told.
                tokio::time::sleep(LOOK).await;
                Ok(())
            })
            .inspect(|()| runtime.shutdown_timeout(LOOK))
    }
}

/// A secret of 128 bits as hexadecimal digits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Accepts connections, each served by a task of its own.
async fn accept(listener: tokio::net::TcpListener, guard: Arc<Guard>, shared: Arc<ServerState>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let router = routes::router(guard, shared);
    loop {
        // Others wait in the queue of the system.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for example; it passes.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS)
                .max_buf_size(HEADER_BYTES)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            // A client that goes away is no matter of ours.
            drop((served, place));
        });
    }
}
