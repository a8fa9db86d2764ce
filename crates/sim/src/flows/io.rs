//! What an end of a flow works with, and moving bytes in and out of a connection.

use skyhaul_core::{ConnectionId, Connections, Instant};
use skyhaul_stp::Endpoint;

use super::pattern::{count_wrong, fill};
use super::record::Record;
use super::source::Source;

/// Bytes read at a time.
pub(super) const READ_BYTES: usize = 16 * 1024;

/// Passed to an end of a flow when it works.
pub(super) struct Io<'a> {
    pub(super) now: Instant,
    pub(super) endpoint: &'a mut Endpoint,
    pub(super) record: &'a mut Record,
    /// What is read before this is warm-up.
    pub(super) warm_up: Instant,
    /// Connections opened in this call.
    pub(super) opened: &'a mut Vec<ConnectionId>,
    pub(super) scratch: &'a mut Vec<u8>,
    /// The most that each send buffer at this host ever held, all together.
    pub(super) memory_bytes: &'a mut u64,
}

/// What a reader found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Nothing more for now.
    Waiting,
    /// The end of the stream.
    Ended,
}

/// Writes a stream of known bytes.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    key: u64,
    written: u64,
    /// Its end; `None`: never.
    bytes: Option<u64>,
    chunk_bytes: u64,
    source: Source,
    /// The most that its send buffer ever held.
    peak_bytes: u64,
}

impl Writer {
    pub(super) fn new(key: u64, bytes: Option<u64>, chunk_bytes: u64, source: Source) -> Self {
        Self { key, written: 0, bytes, chunk_bytes: chunk_bytes.max(1), source, peak_bytes: 0 }
    }

    /// When more is there to write.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.is_complete() { None } else { self.source.next() }
    }

    fn is_complete(&self) -> bool {
        self.bytes.is_some_and(|bytes| self.written >= bytes)
    }

    /// Writes what is there and fits; true when all is written.
    pub(super) fn pump(&mut self, io: &mut Io<'_>, id: ConnectionId) -> bool {
        let end = self.bytes.unwrap_or(u64::MAX).min(self.source.produced(io.now));
        while self.written < end {
            let length = (end - self.written).min(self.chunk_bytes) as usize;
            // Offering a byte to a full buffer is how one asks to be told of room.
            let room = usize::try_from(io.endpoint.writable_bytes(id)).unwrap_or(usize::MAX);
            let made = length.min(room.max(1));
            io.scratch.resize(length.max(io.scratch.len()), 0);
            fill(self.key, self.written, &mut io.scratch[..made]);
            match io.endpoint.write(id, &io.scratch[..length]) {
                Ok(0) => break,
                Ok(taken) => self.written += taken as u64,
                Err(error) => {
                    io.record.fail(&error);
                    break;
                }
            }
        }
        let held = io.endpoint.held_bytes(id);
        *io.memory_bytes += held.saturating_sub(self.peak_bytes);
        self.peak_bytes = self.peak_bytes.max(held);
        self.is_complete()
    }
}

/// Reads and checks a stream of known bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    key: u64,
    pub(super) received: u64,
}

impl Reader {
    pub(super) fn new(key: u64) -> Self {
        Self { key, received: 0 }
    }

    /// Reads all that is there.
    pub(super) fn drain(&mut self, io: &mut Io<'_>, id: ConnectionId) -> Read {
        io.scratch.resize(READ_BYTES.max(io.scratch.len()), 0);
        loop {
            match io.endpoint.read(id, io.scratch) {
                Ok(Some(0)) => return Read::Ended,
                Ok(Some(n)) => {
                    let wrong = count_wrong(self.key, self.received, &io.scratch[..n]);
                    self.received += n as u64;
                    io.record.read(io.now, n as u64, wrong, io.warm_up);
                }
                Ok(None) => return Read::Waiting,
                Err(error) => {
                    io.record.fail(&error);
                    return Read::Waiting;
                }
            }
        }
    }
}
