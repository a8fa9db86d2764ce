//! Surroundings of the parts of a connection during one call.

use skyhaul_core::endpoint::Context;
use skyhaul_core::{Event, EventSink, Instant, Path, Stats};

/// Surroundings as the parts of one connection see them: events bear its number, counters are its own.
pub(super) struct Call<'a> {
    pub(super) now: Instant,
    pub(super) path: &'a mut Path,
    pub(super) stats: &'a mut Stats,
    sink: &'a mut dyn EventSink,
    id: u64,
}

impl<'a> Call<'a> {
    /// Surroundings of connection `id`.
    pub(super) fn new(id: u64, stats: &'a mut Stats, context: &'a mut Context<'_>) -> Self {
        Self { now: context.now, path: context.path, sink: context.sink, id, stats }
    }

    /// Tells whoever listens.
    pub(super) fn emit(&mut self, event: Event) {
        if self.sink.wants() {
            self.sink.emit(self.now, self.id, event);
        }
    }
}
