//! One call of a connection: the moment, and the surroundings that it works with.

use skyhaul_core::endpoint::Context;
use skyhaul_core::{ConnectionId, Event, EventSink, Instant, Path};

/// Moment and surroundings of a call, handed down to the connection's owners.
pub(crate) struct Call<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut Path,
    sink: &'a mut dyn EventSink,
    connection: ConnectionId,
}

impl<'a> Call<'a> {
    /// Call of a connection by its endpoint.
    pub(crate) fn new(connection: ConnectionId, context: &'a mut Context<'_>) -> Self {
        Self { now: context.now, path: context.path, sink: context.sink, connection }
    }

    /// True if events are wanted.
    pub(crate) fn wants_events(&self) -> bool {
        self.sink.wants()
    }

    /// Emits an event, if events are wanted.
    pub(crate) fn emit(&mut self, event: Event) {
        if self.sink.wants() {
            self.sink.emit(self.now, self.connection, event);
        }
    }
}
