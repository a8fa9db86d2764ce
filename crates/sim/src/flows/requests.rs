//! Transactions: a request one way, a response the other.

use std::collections::BTreeMap;

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, StreamEvent};

use skyhaul_scenario::EndConfig;

use super::io::{End, Remote};
use super::io::{Io, Read, Reader, Writer};
use super::source::Supply;

/// Terms that client and server agree on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) key: u64,
    pub(super) request_bytes: u64,
    pub(super) response_bytes: u64,
    pub(super) keep: bool,
}

/// Bytes that an end of a transaction writes at a time.
const CHUNK_BYTES: u64 = 16 * 1024;

impl Terms {
    /// Every request of a flow has the same bytes; responses have others.
    fn request(&self) -> Writer {
        Writer::new(self.key, Some(self.request_bytes), CHUNK_BYTES, Supply::Greedy)
    }

    fn response(&self) -> Writer {
        Writer::new(self.response_key(), Some(self.response_bytes), CHUNK_BYTES, Supply::Greedy)
    }

    fn response_key(&self) -> u64 {
        !self.key
    }
}

/// A transaction under way.
#[derive(Debug)]
struct Exchange {
    id: ConnectionKey,
    request: Writer,
    response: Reader,
    began: Instant,
}

/// Asks.
#[derive(Debug)]
pub(super) struct Client {
    remote: Remote,
    config: EndConfig,
    terms: Terms,
    think_ns: u64,
    left: Option<u64>,
    /// When the next request begins, if none is under way.
    next: Option<Instant>,
    exchange: Option<Exchange>,
    /// A connection that is kept for the next request.
    kept: Option<ConnectionKey>,
}

impl Client {
    pub(super) fn new(
        remote: Remote,
        config: EndConfig,
        terms: Terms,
        think_ns: u64,
        requests: Option<u64>,
        start: Instant,
    ) -> Self {
        Self {
            remote,
            config,
            terms,
            think_ns,
            left: requests,
            next: Some(start),
            exchange: None,
            kept: None,
        }
    }

    fn begin(&mut self, io: &mut Io<'_>) {
        let id = match self.kept {
            Some(id) => id,
            None => match io.connect(self.remote, &self.config) {
                Ok(id) => id,
                Err(error) => return self.stop(&error, io),
            },
        };
        io.record.started_at.get_or_insert(io.now);
        self.kept = self.terms.keep.then_some(id);
        let response = Reader::new(self.terms.response_key());
        self.exchange = Some(Exchange { id, request: self.terms.request(), response, began: io.now });
        self.ask(io);
    }

    fn stop(&mut self, why: &impl ToString, io: &mut Io<'_>) {
        io.record.fail(why);
        self.left = Some(0);
        self.next = None;
        self.exchange = None;
    }

    fn ask(&mut self, io: &mut Io<'_>) {
        let Some(exchange) = &mut self.exchange else { return };
        if exchange.request.pump(io, exchange.id) && !self.terms.keep {
            io.engines.finish(exchange.id);
        }
    }

    fn hear(&mut self, io: &mut Io<'_>) {
        let Some(exchange) = &mut self.exchange else { return };
        exchange.response.drain(io, exchange.id);
        if exchange.response.received < self.terms.response_bytes {
            return;
        }
        let (id, took_ns) = (exchange.id, io.now.since(exchange.began));
        self.exchange = None;
        io.record.complete(io.now, took_ns, io.warm_up);
        self.left = self.left.map(|left| left.saturating_sub(1));
        let more = self.left != Some(0);
        self.next = more.then(|| io.now.after(self.think_ns));
        if !more && self.terms.keep {
            io.engines.finish(id);
        }
    }
}

impl End for Client {
    fn on_timer(&mut self, io: &mut Io<'_>) {
        if self.next.is_some_and(|next| next <= io.now) {
            self.next = None;
            if self.left != Some(0) {
                self.begin(io);
            }
        }
    }

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        if self.exchange.as_ref().is_none_or(|exchange| exchange.id != id) {
            // What is left of an exchange that is over: the end of its stream.
            return io.skip(id, event);
        }
        match event {
            StreamEvent::Connected | StreamEvent::Writable => self.ask(io),
            StreamEvent::Readable => self.hear(io),
            StreamEvent::Finished => {}
            StreamEvent::Closed(_) => self.stop(&"the connection ended before the response was there", io),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next
    }

    fn is_served(&self) -> bool {
        self.is_done()
    }

    fn is_done(&self) -> bool {
        self.left == Some(0) && self.exchange.is_none()
    }
}

/// Answers each request; over as many connections as come.
#[derive(Debug)]
pub(super) struct Server {
    terms: Terms,
    /// Connections with the requests read and the response being written.
    serving: BTreeMap<ConnectionKey, (Reader, Option<Writer>)>,
}

impl Server {
    pub(super) fn new(terms: Terms) -> Self {
        Self { terms, serving: BTreeMap::new() }
    }

    fn serve(&mut self, id: ConnectionKey, io: &mut Io<'_>) {
        let terms = self.terms;
        let (request, response) = self.serving.entry(id).or_insert_with(|| (Reader::new(terms.key), None));
        let ended = request.drain(io, id) == Read::Ended;
        if response.is_none() && request.received >= terms.request_bytes {
            *request = Reader::new(terms.key);
            *response = Some(terms.response());
        }
        let answered = response.as_mut().is_some_and(|response| response.pump(io, id));
        if answered {
            *response = None;
        }
        // A client that keeps its connection ends it behind the last response.
        if (answered && !terms.keep) || (ended && response.is_none()) {
            io.engines.finish(id);
        }
    }
}

impl End for Server {
    fn on_timer(&mut self, _: &mut Io<'_>) {}

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        match event {
            StreamEvent::Closed(_) => drop(self.serving.remove(&id)),
            StreamEvent::Finished => {}
            _ => self.serve(id, io),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// A server waits for nobody.
    fn is_done(&self) -> bool {
        true
    }
}
