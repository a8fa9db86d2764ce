//! Connections that peers open.

use std::future::poll_fn;
use std::sync::Arc;

use crate::Stream;
use crate::shared::{Handle, notify};

/// Takes the connections that peers open to a port. When it is dropped, further openings, and
/// connections that nobody has taken yet, are refused.
pub struct Listener {
    handle: Arc<Handle>,
}

impl Listener {
    pub(crate) fn new(handle: Arc<Handle>) -> Self {
        Self { handle }
    }

    /// The next connection; `None` when the endpoint is closed. Loses nothing if dropped before it
    /// is ready.
    pub async fn accept(&mut self) -> Option<Stream> {
        let (id, peer) = poll_fn(|cx| self.handle.0.lock().poll_accept(cx)).await?;
        Some(Stream::new(Arc::clone(&self.handle), id, peer))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.handle.0.lock();
        state.unlisten(self.handle.0.now());
        notify(state);
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
