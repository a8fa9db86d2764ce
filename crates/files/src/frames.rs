//! Records off a stream, piece by piece.
//!
//! All progress is kept in the reader, so a call may be cancelled at any time and nothing is lost:
//! sessions wait for records and for other things at once.

use std::io;

use bytes::BufMut as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};

use crate::errors::{Fault, Violation};
use crate::report::Side;
use crate::wire::{BODY_CHECK_BYTES, HEAD_BYTES, Head, OPENING_BYTES, Opening, chunk_data_len, open_body};

/// Small reads are gathered; the data of chunks goes around this buffer.
const GATHER_BYTES: usize = 16 * 1024;

/// What a call to [`Frames::step`] found.
pub(crate) enum Step {
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
enum Stage {
    Head,
    Body(Head),
    Data(Head, usize),
    Complete(Head),
}

/// Reads the records that `side` sends.
pub(crate) struct Frames<R> {
    stream: BufReader<R>,
    side: Side,
    stage: Stage,
    /// The record so far.
    bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R, side: Side) -> Self {
        let stream = BufReader::with_capacity(GATHER_BYTES, stream);
        Self { stream, side, stage: Stage::Head, bytes: Vec::new() }
    }

    /// Reads the opening; for the sender's stream, before the first [`Frames::step`].
    pub(crate) async fn opening(&mut self) -> Result<Opening, Fault> {
        let mut octets = [0; OPENING_BYTES];
        let read = self.stream.read_exact(&mut octets).await;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Ended("before the transfer began"),
            _ => Fault::stream("reading the opening")(error),
        })?;
        Ok(Opening::decode(&octets)?)
    }

    /// Reads on until there is something to tell.
    pub(crate) async fn step(&mut self) -> Result<Step, Fault> {
        loop {
            if self.advance()? {
                return Ok(Step::Frame);
            }
            let bytes = self.read().await.map_err(Fault::stream("reading"))?;
            match self.stage {
                _ if bytes == 0 => return self.ended(),
                Stage::Data(head, _) => return Ok(Step::Data { file: head.file, bytes }),
                _ => {}
            }
        }
    }

    /// The record that [`Step::Frame`] announced.
    pub(crate) fn frame(&self) -> Result<Frame<'_>, Violation> {
        let Stage::Complete(head) = self.stage else { return Err(Violation::Field("a record")) };
        let (sealed, data) = self.bytes[HEAD_BYTES..].split_at(head.sealed_body_bytes());
        Ok(Frame { head, body: &sealed[..sealed.len() - BODY_CHECK_BYTES], data })
    }

    /// Octets that the record must have before it can be judged further. Bounded in every stage,
    /// since each length was verified and is within its kind's limits.
    fn wanted(&self) -> usize {
        match self.stage {
            Stage::Head | Stage::Complete(_) => HEAD_BYTES,
            Stage::Body(head) => HEAD_BYTES + head.sealed_body_bytes(),
            Stage::Data(head, data) => HEAD_BYTES + head.sealed_body_bytes() + data,
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
        if matches!(self.stage, Stage::Complete(_)) {
            self.bytes.clear();
            self.stage = Stage::Head;
        }
        while self.bytes.len() >= self.wanted() {
            self.stage = self.next_stage()?;
            if matches!(self.stage, Stage::Complete(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_stage(&self) -> Result<Stage, Violation> {
        match self.stage {
            Stage::Head => self.head().map(Stage::Body),
            Stage::Body(head) => {
                let body = open_body(&self.bytes[HEAD_BYTES..])?;
                Ok(Stage::Data(head, chunk_data_len(&head, body)?))
            }
            Stage::Data(head, _) | Stage::Complete(head) => Ok(Stage::Complete(head)),
        }
    }

    fn head(&self) -> Result<Head, Violation> {
        let octets = self.bytes.first_chunk().ok_or(Violation::Field("a record"))?;
        Head::decode(octets, self.side)
    }

    fn ended(&self) -> Result<Step, Fault> {
        if self.bytes.is_empty() { Ok(Step::End) } else { Err(Fault::Ended("in the middle of a record")) }
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
