//! One file at the sender.

use crate::codec::{CHUNK_HEAD_BYTES, ChunkRange, Record, Version, chunk_head, portion, portioned_bytes};
use crate::digest::{Digest, Tree, chunk_digest};
use crate::errors::Violation;
use crate::fetching::{Fetching, Place};
use crate::limits::{MAX_ROUNDS, chunk_count, chunk_len, chunk_offset};
use crate::outbox::Outbox;
use crate::reason::Reason;
use crate::report::{Failure, FileOutcome, FileReport, Side};
use crate::source::{Reading, Source, SourceError, begin_reason};

/// Files below this size are read at once: handing them to another thread would take longer than most.
const READ_AHEAD_BYTES: u64 = 64 * 1024;

/// What came of a turn of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A record was put.
    Put,
    /// Its next chunk is being read.
    Waits,
    /// Its end was put, or nothing is left to put for now.
    Ended,
}

/// How far a file is.
enum SendState {
    /// Its turn has not come.
    Waiting,
    /// Its chunks are being sent in order.
    Streaming { reading: Reading, next: u32, tree: Tree },
    /// Everything was sent, perhaps chunks of it again; the receiver has the word.
    Sent { reading: Reading, digest: Digest },
    /// The receiver asked for chunks, and these are still to be sent again, the next one last.
    Repairing { reading: Reading, digest: Digest, chunks: Vec<u32> },
    /// Its result is known.
    Settled,
}

/// A file on its way out.
pub(crate) struct Sending {
    file: u32,
    source: Source,
    state: SendState,
    rounds: u8,
    report: FileReport,
}

impl Sending {
    pub(crate) fn new(file: u32, source: Source) -> Self {
        let report = FileReport::unfinished(source.name().as_raw().clone(), source.size(), Side::Sender);
        Self { file, source, state: SendState::Waiting, rounds: 0, report }
    }

    pub(crate) fn report(&self) -> &FileReport {
        &self.report
    }

    pub(crate) fn into_report(self) -> FileReport {
        self.report
    }

    /// Opens the file, for [`Sending::begin`].
    pub(crate) fn open(&self) -> Result<Reading, SourceError> {
        self.source.begin()
    }

    /// Closes a file of which everything was sent; true if that frees a descriptor.
    pub(crate) fn close_sent(&mut self) -> bool {
        let SendState::Sent { reading, .. } = &mut self.state else { return false };
        reading.close()
    }

    /// Sends the file's beginning. On an error that was sent as well, so that the receiver has the name.
    pub(crate) fn begin(
        &mut self,
        opened: Result<Reading, SourceError>,
        version: Version,
        out: &mut Outbox,
    ) -> Result<(), Reason> {
        let begun = opened.map_err(|error| begin_reason(&error));
        let executable = begun.as_ref().is_ok_and(Reading::executable);
        let keeps_time = version != Version::One;
        let modified = begun.as_ref().ok().filter(|_| keeps_time).and_then(Reading::modified);
        self.report.bytes = begun.as_ref().map_or(self.source.size(), Reading::size);
        let name = self.report.name.clone();
        out.put(&Record::File { size: self.report.bytes, executable, modified, name }.encode(self.file));
        self.state = SendState::Streaming { reading: begun?, next: 0, tree: Tree::default() };
        Ok(())
    }

    /// Sends the next chunk that is due, if it was read, or the end.
    pub(crate) fn advance(
        &mut self,
        version: Version,
        fetching: &mut Fetching,
        out: &mut Outbox,
    ) -> Result<Step, Reason> {
        let Some((chunk, reading)) = self.due() else { return self.end(out).map(|()| Step::Ended) };
        let record = ChunkRecord { version, file: self.file, chunk, reading: reading.clone() };
        let Some(digest) = record.put(fetching, out)? else { return Ok(Step::Waits) };
        match &mut self.state {
            SendState::Streaming { next, tree, .. } => {
                tree.push(digest);
                *next += 1;
            }
            SendState::Repairing { chunks, .. } => drop(chunks.pop()),
            _ => {}
        }
        if let Some((chunk, _)) = self.due() {
            ChunkRecord { chunk, ..record }.read_ahead(fetching);
        }
        Ok(Step::Put)
    }

    /// Number of the next chunk to send, and where it is read.
    fn due(&self) -> Option<(u32, &Reading)> {
        match &self.state {
            SendState::Streaming { reading, next, .. } => {
                (*next < chunk_count(reading.size())).then_some((*next, reading))
            }
            SendState::Repairing { reading, chunks, .. } => chunks.last().map(|&chunk| (chunk, reading)),
            _ => None,
        }
    }

    fn end(&mut self, out: &mut Outbox) -> Result<(), Reason> {
        let (reading, digest) = match std::mem::replace(&mut self.state, SendState::Settled) {
            SendState::Streaming { reading, tree, .. } => (reading, tree.root()),
            SendState::Repairing { reading, digest, .. } => (reading, digest),
            other => {
                self.state = other;
                return Ok(());
            }
        };
        reading.unchanged()?;
        out.put(&Record::End { digest }.encode(self.file));
        self.state = SendState::Sent { reading, digest };
        Ok(())
    }

    /// The digest, if the receiver may call the file delivered now.
    pub(crate) fn deliverable(&self) -> Option<Digest> {
        match self.state {
            SendState::Sent { digest, .. } => Some(digest),
            _ => None,
        }
    }

    /// The receiver wants chunks again; gives their number and their bytes.
    pub(crate) fn again(&mut self, ranges: &[ChunkRange]) -> Result<(u32, u64), Violation> {
        let misplaced = Violation::Order { what: "a request for chunks", file: self.file };
        let chunks: Vec<u32> = ranges.iter().rev().flat_map(|range| range.numbers().rev()).collect();
        let count = chunk_count(self.report.bytes);
        if self.rounds == MAX_ROUNDS || chunks.iter().any(|number| *number >= count) {
            return Err(misplaced);
        }
        let SendState::Sent { .. } = self.state else { return Err(misplaced) };
        let (wanted, bytes) =
            (chunks.len() as u32, chunks.iter().map(|n| chunk_len(self.report.bytes, *n) as u64).sum());
        if let SendState::Sent { reading, digest } = std::mem::replace(&mut self.state, SendState::Settled) {
            self.state = SendState::Repairing { reading, digest, chunks };
        }
        self.rounds += 1;
        self.report.chunks_again += wanted;
        Ok((wanted, bytes))
    }

    /// Payload that was never put into the outbox.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        match &self.state {
            SendState::Waiting => self.report.bytes,
            SendState::Streaming { reading, next, .. } => reading.size().saturating_sub(chunk_offset(*next)),
            _ => 0,
        }
    }

    /// True if chunks are being sent in order.
    pub(crate) fn is_streaming(&self) -> bool {
        matches!(self.state, SendState::Streaming { .. })
    }

    /// True if the receiver expects more records of this file.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, SendState::Streaming { .. } | SendState::Repairing { .. })
    }

    /// True if the file is begun and has no result.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_open() || matches!(self.state, SendState::Sent { .. })
    }

    /// True if this side gave the file up.
    pub(crate) fn was_aborted(&self) -> bool {
        let here = |failure: &Failure| failure.side == Side::Sender;
        matches!(self.state, SendState::Settled) && self.report.failure().is_some_and(here)
    }

    /// The result is known; the file is closed.
    pub(crate) fn settle(&mut self, outcome: FileOutcome) {
        self.state = SendState::Settled;
        self.report.settle(outcome);
    }
}

/// Record of a chunk, to be read.
struct ChunkRecord {
    version: Version,
    file: u32,
    chunk: u32,
    reading: Reading,
}

impl ChunkRecord {
    /// Octets of payload.
    fn payload_bytes(&self) -> usize {
        chunk_len(self.reading.size(), self.chunk)
    }

    fn octets(&self) -> usize {
        let len = self.payload_bytes();
        CHUNK_HEAD_BYTES + if self.version.has_portions() { portioned_bytes(len) } else { len }
    }

    fn place(&self) -> Place {
        Place { file: self.file, chunk: self.chunk }
    }

    /// True if another thread reads it. What comes first of all is read at once: it may go with the opening.
    fn is_fetched(&self) -> bool {
        let is_first = self.file == 0 && self.chunk == 0;
        self.reading.may_wait() && self.reading.size() >= READ_AHEAD_BYTES && !is_first
    }

    /// Has it read, if that is another thread's.
    fn read_ahead(self, fetching: &mut Fetching) {
        if self.is_fetched() {
            fetching.start(self.place(), self.octets(), move |room| self.fill(room));
        }
    }

    /// Puts it if it was read, and has it read otherwise; its digest, if it was put.
    fn put(&self, fetching: &mut Fetching, out: &mut Outbox) -> Result<Option<Digest>, Reason> {
        if !self.is_fetched() {
            let digest = self.fill(out.room(self.octets()))?;
            self.commit(out);
            return Ok(Some(digest));
        }
        let put = |record: &mut Vec<u8>| {
            out.fill_room(record);
            self.commit(out);
        };
        if let Some(digest) = fetching.take(self.place(), put) {
            return digest.map(Some);
        }
        Self { reading: self.reading.clone(), ..*self }.read_ahead(fetching);
        Ok(None)
    }

    /// Fills `room`, which is of its octets.
    fn fill(&self, room: &mut [u8]) -> Result<Digest, Reason> {
        let (len, size) = (self.payload_bytes(), self.reading.size());
        let (head, data) = room.split_at_mut(CHUNK_HEAD_BYTES);
        self.reading.read(chunk_offset(self.chunk), &mut data[..len])?;
        let digest = chunk_digest(self.chunk, chunk_count(size), &data[..len]);
        head.copy_from_slice(&chunk_head(self.file, self.chunk, len, &digest));
        if self.version.has_portions() {
            portion(data, len);
        }
        Ok(digest)
    }

    /// Appends what stands in the room of `out`.
    fn commit(&self, out: &mut Outbox) {
        let len = self.payload_bytes();
        if self.version.has_portions() {
            out.commit_portions(self.file, len);
        } else {
            out.commit(CHUNK_HEAD_BYTES + len, len);
        }
    }
}
