//! Connections that peers open.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use crate::handle::Handle;
use crate::shared::notify;
use crate::{Protocol, Stream};

/// Takes the connections that peers open to a port. When it is dropped, further openings, and
/// connections that nobody has taken yet, are refused.
pub struct Listener<P: Protocol = skyhaul_stp::Endpoint> {
    handle: Arc<Handle<P>>,
    port: u16,
}

impl<P: Protocol> Listener<P> {
    /// Accepts connections to `port`; so many may wait to be taken.
    pub(crate) fn begin(handle: &Arc<Handle<P>>, port: u16, limit: usize) -> io::Result<Self> {
        handle.0.lock().listen(port, limit)?;
        Ok(Self { handle: Arc::clone(handle), port })
    }

    /// The next connection; `None` when the endpoint is closed. Loses nothing if dropped before it
    /// is ready.
    pub async fn accept(&mut self) -> Option<Stream<P>> {
        let (id, peer) = poll_fn(|cx| self.handle.0.lock().poll_accept(self.port, cx)).await?;
        Some(Stream::new(Arc::clone(&self.handle), id, peer))
    }
}

impl<P: Protocol> Drop for Listener<P> {
    fn drop(&mut self) {
        let mut state = self.handle.0.lock();
        state.unlisten(self.port, self.handle.0.now());
        notify(state);
    }
}

impl<P: Protocol> std::fmt::Debug for Listener<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
