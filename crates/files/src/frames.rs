//! Records off a stream, piece by piece.
//!
//! All progress is kept in the reader, so a call may be cancelled at any time and nothing is lost:
//! sessions wait for records and for other things at once.

use std::io;

use bytes::BufMut as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};

use crate::codec::{
    BODY_CHECK_BYTES, HEAD_BYTES, Head, OPENING_BYTES, SessionOpening, chunk_data_len, open_body,
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
}

#[derive(Clone, Copy)]
enum FrameStage {
    Head,
    Body(Head),
    Data(Head, usize),
    Complete(Head),
}

/// Reads the records that `side` sends.
pub(crate) struct Frames<R> {
    stream: BufReader<R>,
    side: Side,
    stage: FrameStage,
    /// The record so far.
    bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R, side: Side) -> Self {
        let stream = BufReader::with_capacity(GATHER_BYTES, stream);
        Self { stream, side, stage: FrameStage::Head, bytes: Vec::new() }
    }

    /// Reads the opening; for the sender's stream, before the first [`Frames::step`].
    pub(crate) async fn opening(&mut self) -> Result<SessionOpening, Fault> {
        let mut octets = [0; OPENING_BYTES];
        let read = self.stream.read_exact(&mut octets).await;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Ended("before the transfer began"),
            _ => Fault::stream("reading the opening")(error),
        })?;
        Ok(SessionOpening::decode(&octets)?)
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
                FrameStage::Data(head, _) => return Ok(FrameStep::Data { file: head.file, bytes }),
                _ => {}
            }
        }
    }

    /// The record that [`FrameStep::Frame`] announced.
    pub(crate) fn frame(&self) -> Result<Frame<'_>, Violation> {
        let FrameStage::Complete(head) = self.stage else { return Err(Violation::Field("a record")) };
        let (sealed, data) = self.bytes[HEAD_BYTES..].split_at(head.sealed_body_bytes());
        Ok(Frame { head, body: &sealed[..sealed.len() - BODY_CHECK_BYTES], data })
    }

    /// Octets that the record must have before it can be judged further. Bounded in every stage,
    /// since each length was verified and is within its kind's limits.
    fn wanted(&self) -> usize {
        match self.stage {
            FrameStage::Head | FrameStage::Complete(_) => HEAD_BYTES,
            FrameStage::Body(head) => HEAD_BYTES + head.sealed_body_bytes(),
            FrameStage::Data(head, data) => HEAD_BYTES + head.sealed_body_bytes() + data,
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
        if matches!(self.stage, FrameStage::Complete(_)) {
            self.bytes.clear();
            self.stage = FrameStage::Head;
        }
        while self.bytes.len() >= self.wanted() {
            self.stage = self.next_stage()?;
            if matches!(self.stage, FrameStage::Complete(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_stage(&self) -> Result<FrameStage, Violation> {
        match self.stage {
            FrameStage::Head => self.head().map(FrameStage::Body),
            FrameStage::Body(head) => {
                let body = open_body(&self.bytes[HEAD_BYTES..])?;
                Ok(FrameStage::Data(head, chunk_data_len(&head, body)?))
            }
            FrameStage::Data(head, _) | FrameStage::Complete(head) => Ok(FrameStage::Complete(head)),
        }
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
