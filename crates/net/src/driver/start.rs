//! Start of an endpoint: engine and carrier come together, and a task drives them.

use std::io;
use std::sync::Arc;

use skyhaul_capture::Inlet;
use tokio::runtime;

use super::{Carrier, Driver, Keeper, PeerOf};
use crate::Watch;
use crate::shared::Shared;
use crate::state::State;
use crate::tap::Tap;
use crate::watch::Sink;

/// Options of an endpoint that its engine has no use for.
#[derive(Debug)]
pub(crate) struct Outlook {
    pub(crate) watch: Option<Watch>,
    pub(crate) capture: Option<Inlet>,
    /// Octets that an accepted connection keeps for its reader, at most.
    pub(crate) accept_limit_bytes: u64,
    /// True if the engine tells of each packet that it sends by an event.
    pub(crate) tells_all: bool,
}

/// Starts the task that drives `engine` over `carrier`, in the tokio runtime of the caller.
pub(crate) fn start<C>(
    engine: C::Protocol,
    carrier: impl FnOnce() -> io::Result<C>,
    outlook: Outlook,
) -> io::Result<Arc<Shared<C::Protocol>>>
where
    C: Carrier<PeerState: Send> + Send + 'static,
    PeerOf<C>: Send,
{
    let runtime = runtime::Handle::try_current().map_err(io::Error::other)?;
    let shared = Arc::new(Shared::new(State::new(engine, outlook.accept_limit_bytes)));
    let capture = outlook.capture;
    let tap = capture.map(|inlet| Tap::new(inlet, shared.clock, outlook.tells_all));
    let keeper = Keeper::new(Arc::clone(&shared), Sink::new(outlook.watch, tap))?;
    runtime.spawn(Driver::new(keeper, carrier()?));
    Ok(shared)
}
