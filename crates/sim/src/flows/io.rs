//! Tools of an end of a flow, which move bytes in and out of a connection.

use std::fmt::Debug;
use std::net::SocketAddr;

use skyhaul_core::{ConnectError, Description, Instant, StreamEvent};

use skyhaul_petra::utl;

use crate::host::{ConnectionKey, Engines};
use skyhaul_scenario::{EndConfig, HEAD_BYTES};

use super::pattern::{count_wrong, fill};
use super::record::Record;
use super::source::Supply;

/// Bytes read at a time.
pub(super) const READ_BYTES: usize = 16 * 1024;

/// Where the acceptor of a flow listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote {
    pub(crate) address: SocketAddr,
    pub(crate) port: u16,
}

/// One end of one flow.
pub(super) trait End: Debug {
    /// Its deadline is reached.
    fn on_timer(&mut self, io: &mut Io<'_>);
    /// Something happened on one of its connections. A connection that was just accepted is `Readable`.
    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>);
    /// When it wants to act by itself.
    fn deadline(&self) -> Option<Instant>;
    /// True if nothing is left to do.
    fn is_done(&self) -> bool;
    /// True if all that this end is to receive is there. What only sends leaves that to its peer.
    fn is_served(&self) -> bool {
        true
    }
}

/// Passed to an end of a flow when it works.
pub(super) struct Io<'a> {
    pub(super) now: Instant,
    pub(super) engines: &'a mut Engines,
    pub(super) record: &'a mut Record,
    /// End of the warm-up: bytes read before it do not count.
    pub(super) warm_up: Instant,
    /// True if streams are written octet by octet, even where engines take descriptions.
    pub(super) shows_octets: bool,
    /// End-to-end layer above its connections.
    pub(super) utl: Option<utl::Config>,
    /// Connections opened in this call.
    pub(super) opened: &'a mut Vec<ConnectionKey>,
    pub(super) scratch: &'a mut Vec<u8>,
    /// The most that each send buffer at this host ever held, all together.
    pub(super) memory_bytes: &'a mut u64,
}

impl Io<'_> {
    /// Opens a connection.
    pub(super) fn connect(
        &mut self,
        remote: Remote,
        config: &EndConfig,
    ) -> Result<ConnectionKey, ConnectError> {
        let id = self.engines.connect(self.now, remote.address, remote.port, config)?;
        if let Some(utl) = self.utl {
            self.engines.add_layer(id, utl);
        }
        self.opened.push(id);
        Ok(id)
    }

    /// Reads what nobody waits for: the end of a stream of which everything is there.
    pub(super) fn skip(&mut self, id: ConnectionKey, event: StreamEvent) -> Read {
        if event != StreamEvent::Readable {
            return Read::Waiting;
        }
        self.scratch.resize(READ_BYTES.max(self.scratch.len()), 0);
        loop {
            match self.engines.read(id, self.scratch) {
                Ok(Some(0)) => return Read::Ended,
                Ok(Some(_)) => {}
                _ => return Read::Waiting,
            }
        }
    }
}

/// Result of a read.
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
    source: Supply,
    /// Head in front, instead of the pattern.
    head: Option<[u8; HEAD_BYTES as usize]>,
    /// True if it may be written by description.
    is_described: bool,
    /// True if the send buffer did not take all that was there: its connection says when it has room again.
    is_blocked: bool,
    /// The most that its send buffer ever held.
    peak_bytes: u64,
}

impl Writer {
    pub(super) fn new(key: u64, bytes: Option<u64>, chunk_bytes: u64, source: Supply) -> Self {
        Self {
            key,
            written: 0,
            bytes,
            chunk_bytes: chunk_bytes.max(1),
            source,
            head: None,
            is_described: false,
            is_blocked: false,
            peak_bytes: 0,
        }
    }

    /// Source that is written by description, if that is so.
    pub(super) fn described(self, is_described: bool) -> Self {
        Self { is_described, ..self }
    }

    /// Source that begins with `head`.
    pub(super) fn with_head(self, head: [u8; HEAD_BYTES as usize]) -> Self {
        Self { head: Some(head), ..self }
    }

    /// When more is there to write; `None` while what is there does not fit: that more is there then changes
    /// nothing, and a fast source would wake it all the time.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.is_complete() || self.is_blocked { None } else { self.source.next() }
    }

    fn is_complete(&self) -> bool {
        self.bytes.is_some_and(|bytes| self.written >= bytes)
    }

    /// Writes what is there and fits; true when all is written.
    pub(super) fn pump(&mut self, io: &mut Io<'_>, id: ConnectionKey) -> bool {
        let end = self.bytes.unwrap_or(u64::MAX).min(self.source.produced(io.now));
        if self.is_described && !io.shows_octets {
            self.describe(end, io, id);
        } else {
            self.write(end, io, id);
        }
        self.is_blocked = self.written < end;
        let held = io.engines.held_bytes(id);
        *io.memory_bytes += held.saturating_sub(self.peak_bytes);
        self.peak_bytes = self.peak_bytes.max(held);
        self.is_complete()
    }

    /// Writes as much as fits of what lies before `end`, by description.
    fn describe(&mut self, end: u64, io: &mut Io<'_>, id: ConnectionKey) {
        if self.written < end {
            let rest = Description { stream: self.key, first: self.written, length: end - self.written };
            match io.engines.write_described(id, rest) {
                Ok(taken) => self.written += taken,
                Err(error) => io.record.fail(&error),
            }
        }
    }

    /// Writes as much as fits of what lies before `end`, a chunk at a time.
    fn write(&mut self, end: u64, io: &mut Io<'_>, id: ConnectionKey) {
        while self.written < end {
            let length = (end - self.written).min(self.chunk_bytes) as usize;
            // Offering a byte to a full buffer is how one asks to be told of room.
            let room = usize::try_from(io.engines.writable_bytes(id)).unwrap_or(usize::MAX);
            let made = length.min(room.max(1));
            io.scratch.resize(length.max(io.scratch.len()), 0);
            fill(self.key, self.written, &mut io.scratch[..made]);
            if let Some(rest) = self.head.as_ref().and_then(|head| head.get(self.written as usize..)) {
                let shown = rest.len().min(made);
                io.scratch[..shown].copy_from_slice(&rest[..shown]);
            }
            match io.engines.write(id, &io.scratch[..length]) {
                Ok(0) => break,
                Ok(taken) => self.written += taken as u64,
                Err(error) => {
                    io.record.fail(&error);
                    break;
                }
            }
        }
    }
}

/// Reads and checks a stream of known bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    key: u64,
    /// Octets that it has come to, gaps counted.
    pub(super) received: u64,
    head: Option<[u8; HEAD_BYTES as usize]>,
    /// True if its peer may write by description.
    is_described: bool,
    /// True if some of it may be missing for good.
    has_gaps: bool,
}

impl Reader {
    pub(super) fn new(key: u64) -> Self {
        Self { key, received: 0, head: None, is_described: false, has_gaps: false }
    }

    /// Check of a stream that may be written by description, if that is so.
    pub(super) fn described(self, is_described: bool) -> Self {
        Self { is_described, ..self }
    }

    /// Check of a stream of which some may be missing for good, if that is so.
    pub(super) fn with_gaps(self, has_gaps: bool) -> Self {
        Self { has_gaps, ..self }
    }

    /// Check of a stream that begins with a head.
    pub(super) fn with_head(self) -> Self {
        Self { head: Some([0; HEAD_BYTES as usize]), ..self }
    }

    /// The head, if there is one and all of it is there.
    pub(super) fn head(&self) -> Option<[u8; HEAD_BYTES as usize]> {
        self.head.filter(|_| self.received >= HEAD_BYTES)
    }

    /// Reads all that is there.
    pub(super) fn drain(&mut self, io: &mut Io<'_>, id: ConnectionKey) -> Read {
        if self.is_described && !io.shows_octets {
            self.drain_described(io, id)
        } else {
            self.drain_octets(io, id)
        }
    }

    fn drain_described(&mut self, io: &mut Io<'_>, id: ConnectionKey) -> Read {
        loop {
            match io.engines.read_described(id) {
                Ok(Some(Description { length: 0, .. })) => return Read::Ended,
                Ok(Some(Description { stream, first, length })) => {
                    let is_right = stream == self.key && first == self.received;
                    self.received += length;
                    io.record.read(io.now, length, if is_right { 0 } else { length }, io.warm_up);
                }
                Ok(None) if self.has_gaps && self.skip_gap(io, id) => {}
                Ok(None) => return Read::Waiting,
                Err(error) => {
                    io.record.fail(&error);
                    return Read::Waiting;
                }
            }
        }
    }

    /// Goes on behind a gap, if one comes next.
    fn skip_gap(&mut self, io: &mut Io<'_>, id: ConnectionKey) -> bool {
        let Some(gap) = io.engines.next_gap(id) else { return false };
        self.received += gap.bytes;
        io.record.miss(gap.bytes);
        true
    }

    fn drain_octets(&mut self, io: &mut Io<'_>, id: ConnectionKey) -> Read {
        io.scratch.resize(READ_BYTES.max(io.scratch.len()), 0);
        loop {
            match io.engines.read(id, io.scratch) {
                Ok(Some(0)) => return Read::Ended,
                Ok(Some(n)) => {
                    let headed = self.keep_head(&io.scratch[..n]);
                    let wrong = count_wrong(self.key, self.received + headed as u64, &io.scratch[headed..n]);
                    self.received += n as u64;
                    io.record.read(io.now, n as u64, wrong, io.warm_up);
                }
                Ok(None) if self.has_gaps && self.skip_gap(io, id) => {}
                Ok(None) => return Read::Waiting,
                Err(error) => {
                    io.record.fail(&error);
                    return Read::Waiting;
                }
            }
        }
    }

    /// Keeps what of `bytes` belongs to the head, and says how much that was.
    fn keep_head(&mut self, bytes: &[u8]) -> usize {
        let received = self.received as usize;
        let Some(rest) = self.head.as_mut().and_then(|head| head.get_mut(received..)) else { return 0 };
        let kept = rest.len().min(bytes.len());
        rest[..kept].copy_from_slice(&bytes[..kept]);
        kept
    }
}
