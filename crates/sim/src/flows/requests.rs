//! Transactions: a request one way, a response the other.

use std::collections::BTreeMap;

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, Stream, StreamEvent};

use skyhaul_scenario::{EndConfig, HEAD_BYTES, Keep, Sizes};

use super::io::{End, Remote};
use super::io::{Io, Read, Reader, Writer};
use super::source::Supply;

/// Terms that client and server agree on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) key: u64,
    pub(super) request: Sizes,
    pub(super) response: Sizes,
    pub(super) keep: Keep,
}

/// Bytes that an end of a transaction writes at a time.
const CHUNK_BYTES: u64 = 16 * 1024;

/// Bytes of one request and its response.
#[derive(Clone, Copy, Debug)]
struct Sized {
    request_bytes: u64,
    response_bytes: u64,
}

impl Sized {
    /// Head of a request: both sizes, each of 32 bits, of which a drawn one has no more.
    fn head(self) -> [u8; HEAD_BYTES as usize] {
        (self.request_bytes << 32 | self.response_bytes).to_be_bytes()
    }
}

impl Terms {
    /// True if the server learns sizes from a head.
    fn has_head(&self) -> bool {
        self.request.are_drawn() || self.response.are_drawn()
    }

    /// Sizes of the next transaction.
    fn draw(&self, stream: &mut Stream) -> Sized {
        let least = if self.has_head() { HEAD_BYTES } else { 1 };
        let request_bytes = self.request.draw(stream).max(least);
        Sized { request_bytes, response_bytes: self.response.draw(stream) }
    }

    /// Sizes that a request asks for; `None`: its head is not there yet. No more than a client of this flow
    /// would ask for, whatever came.
    fn asked(&self, request: &Reader) -> Option<Sized> {
        let most = |sizes: Sizes| sizes.max_bytes().max(HEAD_BYTES);
        if !self.has_head() {
            let fixed = |sizes: Sizes| sizes.max_bytes().max(1);
            return Some(Sized { request_bytes: fixed(self.request), response_bytes: fixed(self.response) });
        }
        let both = u64::from_be_bytes(request.head()?);
        let request_bytes = (both >> 32).clamp(HEAD_BYTES, most(self.request));
        let response_bytes = (both & 0xFFFF_FFFF).clamp(1, most(self.response));
        Some(Sized { request_bytes, response_bytes })
    }

    /// Every request of a flow has the same bytes behind its head; responses have others.
    fn request(&self, sized: Sized) -> Writer {
        let writer = Writer::new(self.key, Some(sized.request_bytes), CHUNK_BYTES, Supply::Greedy);
        if self.has_head() { writer.with_head(sized.head()) } else { writer }
    }

    fn request_reader(&self) -> Reader {
        let reader = Reader::new(self.key);
        if self.has_head() { reader.with_head() } else { reader }
    }

    fn response(&self, sized: Sized) -> Writer {
        Writer::new(self.response_key(), Some(sized.response_bytes), CHUNK_BYTES, Supply::Greedy)
    }

    fn response_key(&self) -> u64 {
        !self.key
    }
}

/// Terms as a client has them, with the stream that it draws sizes from.
#[derive(Debug)]
pub(super) struct Asking {
    terms: Terms,
    stream: Stream,
}

impl Asking {
    pub(super) fn new(terms: Terms, stream: Stream) -> Self {
        Self { terms, stream }
    }
}

/// A transaction under way.
#[derive(Debug)]
struct Exchange {
    id: ConnectionKey,
    request: Writer,
    response: Reader,
    response_bytes: u64,
    began: Instant,
}

/// Asks.
#[derive(Debug)]
pub(super) struct Client {
    remote: Remote,
    config: EndConfig,
    asking: Asking,
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
        asking: Asking,
        think_ns: u64,
        requests: Option<u64>,
        start: Instant,
    ) -> Self {
        Self {
            remote,
            config,
            asking,
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
        io.record.exchanges += 1;
        let Asking { terms, stream } = &mut self.asking;
        self.kept = (terms.keep == Keep::Whole).then_some(id);
        let sized = terms.draw(stream);
        self.exchange = Some(Exchange {
            id,
            request: terms.request(sized),
            response: Reader::new(terms.response_key()),
            response_bytes: sized.response_bytes,
            began: io.now,
        });
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
        if exchange.request.pump(io, exchange.id) && self.asking.terms.keep == Keep::WithRequest {
            io.engines.finish(exchange.id);
        }
    }

    fn hear(&mut self, io: &mut Io<'_>) {
        let Some(exchange) = &mut self.exchange else { return };
        let has_ended = exchange.response.drain(io, exchange.id) == Read::Ended;
        if exchange.response.received < exchange.response_bytes {
            return;
        }
        let (id, took_ns) = (exchange.id, io.now.since(exchange.began));
        self.exchange = None;
        io.record.complete(io.now, took_ns, io.warm_up);
        self.left = self.left.map(|left| left.saturating_sub(1));
        let more = self.left != Some(0);
        self.next = more.then(|| io.now.after(self.think_ns));
        match self.asking.terms.keep {
            Keep::Whole if !more => io.engines.finish(id),
            Keep::AfterResponse if has_ended => io.engines.finish(id),
            _ => {}
        }
    }

    /// What is left of an exchange that is over: the end of its stream, which this end may wait for.
    fn hear_end(&self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        if io.skip(id, event) == Read::Ended && self.asking.terms.keep == Keep::AfterResponse {
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
            return self.hear_end(id, event, io);
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
        let (request, response) = self.serving.entry(id).or_insert_with(|| (terms.request_reader(), None));
        let ended = request.drain(io, id) == Read::Ended;
        if response.is_none()
            && let Some(sized) = terms.asked(request)
            && request.received >= sized.request_bytes
        {
            *request = terms.request_reader();
            *response = Some(terms.response(sized));
        }
        let answered = response.as_mut().is_some_and(|response| response.pump(io, id));
        if answered {
            *response = None;
        }
        // A client that keeps its connection ends it behind the last response.
        if (answered && terms.keep != Keep::Whole) || (ended && response.is_none()) {
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
