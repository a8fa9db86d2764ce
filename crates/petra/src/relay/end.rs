//! Ends of a coupling.

use skyhaul_core::{ConnectionId, Connections, StreamError};

/// Connection as a coupling uses it: one of an engine, or anything else that is a stream both ways, as a
/// socket of the kernel.
pub trait End {
    /// Octets read into `out`: `Some(0)` at the end of the stream, `None` where nothing is there yet.
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError>;

    /// Octets taken of `data`; 0: there is no room.
    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError>;

    /// Nothing more will be written.
    fn finish(&mut self);

    /// Holds the peer back (`holds`), or lets it go on: as [`Connections::hold`].
    fn hold(&mut self, holds: bool);

    /// Octets written that never left, at most.
    fn unsent_bytes(&self) -> u64;
}

/// Connection of an engine as an end.
pub(super) struct EngineEnd<'a> {
    pub(super) connections: &'a mut dyn Connections,
    pub(super) id: ConnectionId,
}

impl End for EngineEnd<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.connections.read(self.id, out)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.connections.write(self.id, data)
    }

    fn finish(&mut self) {
        self.connections.finish(self.id);
    }

    fn hold(&mut self, holds: bool) {
        self.connections.hold(self.id, holds);
    }

    fn unsent_bytes(&self) -> u64 {
        self.connections.unsent_bytes(self.id)
    }
}
