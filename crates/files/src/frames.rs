//! Records off a stream, piece by piece.
//!
//! All progress is kept in the reader, so a call may be cancelled at any time and nothing is lost:
//! sessions wait for records and for other things at once.

use std::io;

use bytes::BufMut as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};

use crate::codec::{
    BODY_CHECK_BYTES, HEAD_BYTES, Head, OPENING_BYTES, PORTION_BYTES, SessionOpening, chunk_data_len, is_cut,
    open_body,
};
use crate::errors::{Fault, Violation};
use crate::report::Side;

/// Small reads are gathered; the data of chunks goes around this buffer.
const GATHER_BYTES: usize = 16 * 1024;

/// Result of a call to [`Frames::step`].
pub(crate) enum FrameStep {
    /// Some of a chunk's data for `file` arrived.
    Data { file: u32, bytes: usize },
    /// A record is complete: see [`Frames::frame`].
    Frame,
    /// The stream ended between two records.
    End,
}

/// A record as it arrived, checks verified.
pub(crate) struct Frame<'a> {
    pub(crate) head: Head,
    pub(crate) body: &'a [u8],
    pub(crate) data: &'a [u8],
    /// True of a chunk that ended early.
    pub(crate) is_cut: bool,
}

#[derive(Clone, Copy)]
enum FrameStage {
    Head,
    Body(Head),
    Data(Head, Data),
    Complete { head: Head, is_cut: bool },
}

/// Data of a record on its way.
#[derive(Clone, Copy)]
struct Data {
    /// Octets of all of it.
    bytes: usize,
    /// Octets of it at the end of the portion under way.
    until: usize,
}

impl Data {
    /// Octets to read until the end of the portion, with the one behind it if others follow.
    fn wanted(self) -> usize {
        self.until + usize::from(self.is_followed())
    }

    fn is_followed(self) -> bool {
        self.until < self.bytes
    }
}

/// Reads the records that `side` sends.
pub(crate) struct Frames<R> {
    stream: BufReader<R>,
    side: Side,
    stage: FrameStage,
    /// True if data of chunks comes in portions.
    has_portions: bool,
    /// The record so far, without what stands between portions.
    bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R, side: Side) -> Self {
        let stream = BufReader::with_capacity(GATHER_BYTES, stream);
        Self { stream, side, stage: FrameStage::Head, has_portions: false, bytes: Vec::new() }
    }

    /// Reads the opening; for the sender's stream, before the first [`Frames::step`].
    pub(crate) async fn opening(&mut self) -> Result<SessionOpening, Fault> {
        let mut octets = [0; OPENING_BYTES];
        let read = self.stream.read_exact(&mut octets).await;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Ended("before the transfer began"),
            _ => Fault::stream("reading the opening")(error),
        })?;
        let opening = SessionOpening::decode(&octets)?;
        self.has_portions = opening.version.has_portions();
        Ok(opening)
    }

    /// Reads on until there is something to tell.
    pub(crate) async fn step(&mut self) -> Result<FrameStep, Fault> {
        loop {
            if self.advance()? {
                return Ok(FrameStep::Frame);
            }
            let bytes = self.read().await.map_err(Fault::stream("reading"))?;
            match self.stage {
                _ if bytes == 0 => return self.ended(),
                FrameStage::Data(head, data) => {
                    let has_follower = data.is_followed() && self.bytes.len() == self.wanted();
                    match bytes - usize::from(has_follower) {
                        0 => {}
                        bytes => return Ok(FrameStep::Data { file: head.file, bytes }),
                    }
                }
                _ => {}
            }
        }
    }

    /// The record that [`FrameStep::Frame`] announced.
    pub(crate) fn frame(&self) -> Result<Frame<'_>, Violation> {
        let FrameStage::Complete { head, is_cut } = self.stage else {
            return Err(Violation::Field("a record"));
        };
        let (sealed, data) = self.bytes[HEAD_BYTES..].split_at(head.sealed_body_bytes());
        Ok(Frame { head, body: &sealed[..sealed.len() - BODY_CHECK_BYTES], data, is_cut })
    }

    /// Octets that the record must have before it can be judged further. Bounded in every stage,
    /// since each length was verified and is within its kind's limits.
    fn wanted(&self) -> usize {
        match self.stage {
            FrameStage::Head | FrameStage::Complete { .. } => HEAD_BYTES,
            FrameStage::Body(head) => HEAD_BYTES + head.sealed_body_bytes(),
            FrameStage::Data(head, data) => HEAD_BYTES + head.sealed_body_bytes() + data.wanted(),
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        let missing = self.wanted() - self.bytes.len();
        self.bytes.reserve(missing);
        let mut room = (&mut self.bytes).limit(missing);
        self.stream.read_buf(&mut room).await
    }

    /// Goes through the stages for which enough octets are there; `true` at the end of a record.
    fn advance(&mut self) -> Result<bool, Violation> {
        if matches!(self.stage, FrameStage::Complete { .. }) {
            self.bytes.clear();
            self.stage = FrameStage::Head;
        }
        while self.bytes.len() >= self.wanted() {
            self.stage = self.next_stage()?;
            if matches!(self.stage, FrameStage::Complete { .. }) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_stage(&mut self) -> Result<FrameStage, Violation> {
        match self.stage {
            FrameStage::Head => self.head().map(FrameStage::Body),
            FrameStage::Body(head) => {
                let body = open_body(&self.bytes[HEAD_BYTES..])?;
                let bytes = chunk_data_len(&head, body)?;
                Ok(self.portion_from(head, bytes, 0))
            }
            FrameStage::Data(head, data) if data.is_followed() => match self.bytes.pop() {
                Some(octet) if is_cut(octet)? => Ok(FrameStage::Complete { head, is_cut: true }),
                _ => Ok(self.portion_from(head, data.bytes, data.until)),
            },
            FrameStage::Data(head, _) => Ok(FrameStage::Complete { head, is_cut: false }),
            complete @ FrameStage::Complete { .. } => Ok(complete),
        }
    }

    /// Stage in which a portion comes that begins at `from` of the data.
    fn portion_from(&self, head: Head, bytes: usize, from: usize) -> FrameStage {
        let until = if self.has_portions { bytes.min(from + PORTION_BYTES) } else { bytes };
        FrameStage::Data(head, Data { bytes, until })
    }

    fn head(&self) -> Result<Head, Violation> {
        let octets = self.bytes.first_chunk().ok_or(Violation::Field("a record"))?;
        Head::decode(octets, self.side)
    }

    fn ended(&self) -> Result<FrameStep, Fault> {
        if self.bytes.is_empty() {
            Ok(FrameStep::End)
        } else {
            Err(Fault::Ended("in the middle of a record"))
        }
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
