//! Records, as an application sees them.

use skyhaul_core::{ConnectionId, StreamError};

use super::Endpoint;
use crate::scps::RecordPart;

impl Endpoint {
    /// Writes as [`write`](skyhaul_core::Connections::write) does; where all of `data` is taken, a record
    /// ends with it: a segment ends there, and says so if the peer speaks SCPS-TP (option 22). To a plain
    /// peer nothing is said. Nothing is taken while 4096 records are not acknowledged.
    ///
    /// # Errors
    /// As those of writing.
    pub fn write_record(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        self.0.change(id, |connection| connection.write_record(data)).unwrap_or(Err(StreamError::Unknown))
    }

    /// Reads no further than the end of a record: as [`read`](skyhaul_core::Connections::read), which reads
    /// over it. Where 4096 records wait to be read, what ends further ones is not taken, and comes again.
    ///
    /// # Errors
    /// As those of reading.
    pub fn read_record(
        &mut self,
        id: ConnectionId,
        out: &mut [u8],
    ) -> Result<Option<RecordPart>, StreamError> {
        self.0.change(id, |connection| connection.read_record(out)).unwrap_or(Err(StreamError::Unknown))
    }
}
