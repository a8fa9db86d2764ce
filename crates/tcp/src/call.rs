//! Surroundings of the parts of a connection during one call.

use skyhaul_core::endpoint::Context;
use skyhaul_core::{Event, EventSink, Instant, Path, Stats};

/// Surroundings as the parts of one connection see them: events bear its number, counters are its own.
pub(crate) struct Call<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut Path,
    pub(crate) stats: &'a mut Stats,
    sink: &'a mut dyn EventSink,
    id: u64,
}

impl<'a> Call<'a> {
    /// Surroundings of connection `id`.
    pub(crate) fn new(id: u64, stats: &'a mut Stats, context: &'a mut Context<'_>) -> Self {
        Self { now: context.now, path: context.path, sink: context.sink, id, stats }
    }

    /// True if somebody listens: what is costly to say is worth making only then.
    pub(crate) fn wants(&self) -> bool {
        self.sink.wants()
    }

    /// Tells whoever listens.
    pub(crate) fn emit(&mut self, event: Event) {
        if self.wants() {
            self.sink.emit(self.now, self.id, event);
        }
    }
}
