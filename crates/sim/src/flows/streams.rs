//! One stream from the opener of a connection to its acceptor.

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, StreamEvent};

use skyhaul_scenario::EndConfig;

use super::FlowTerms;
use super::io::{End, Remote};
use super::io::{Io, Read, Reader, Writer};

/// Opens a connection and writes a stream.
#[derive(Debug)]
pub(super) struct StreamSender {
    remote: Remote,
    config: EndConfig,
    writer: Writer,
    start: Instant,
    id: Option<ConnectionKey>,
    is_done: bool,
}

impl StreamSender {
    pub(super) fn new(remote: Remote, config: EndConfig, writer: Writer, start: Instant) -> Self {
        Self { remote, config, writer, start, id: None, is_done: false }
    }

    fn open(&mut self, io: &mut Io<'_>) {
        match io.connect(self.remote, &self.config) {
            Ok(id) => {
                io.record.started_at = Some(io.now);
                self.id = Some(id);
            }
            Err(error) => {
                io.record.fail(&error);
                self.is_done = true;
            }
        }
    }

    fn write(&mut self, io: &mut Io<'_>) {
        if let Some(id) = self.id
            && self.writer.pump(io, id)
        {
            io.engines.finish(id);
        }
    }
}

impl End for StreamSender {
    fn on_timer(&mut self, io: &mut Io<'_>) {
        if self.id.is_none() && !self.is_done {
            self.open(io);
        }
        self.write(io);
    }

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        match event {
            StreamEvent::Connected | StreamEvent::Writable => self.write(io),
            StreamEvent::Readable => {
                while matches!(io.engines.read(id, &mut [0; 64]), Ok(Some(n)) if n > 0) {}
            }
            StreamEvent::Finished => io.record.confirmed_at = Some(io.now),
            StreamEvent::Closed(_) => self.is_done = true,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.id {
            _ if self.is_done => None,
            None => Some(self.start),
            Some(_) => self.writer.next(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Accepts a connection, reads and checks its stream.
#[derive(Debug)]
pub(super) struct StreamReceiver {
    reader: Reader,
    has_ended: bool,
    is_done: bool,
}

impl StreamReceiver {
    pub(super) fn new(terms: &FlowTerms) -> Self {
        let reader = Reader::new(terms.key).described(terms.is_described).with_gaps(terms.has_gaps);
        Self { reader, has_ended: false, is_done: false }
    }
}

impl End for StreamReceiver {
    fn on_timer(&mut self, _: &mut Io<'_>) {}

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        match event {
            StreamEvent::Closed(_) => self.is_done = true,
            StreamEvent::Finished | StreamEvent::Writable => {}
            StreamEvent::Readable | StreamEvent::Connected => {
                if !self.is_done && self.reader.drain(io, id) == Read::Ended {
                    self.has_ended = true;
                    io.engines.finish(id);
                }
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn is_served(&self) -> bool {
        self.has_ended
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
