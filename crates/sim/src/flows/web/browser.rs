//! Client of web pages.

use std::collections::BTreeMap;

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, Stream, StreamEvent};

use super::{draw_object_bytes, draw_objects, request, response_reader};
use crate::flows::io::{End, Remote};
use crate::flows::io::{Io, Reader, Writer};
use skyhaul_scenario::EndConfig;
use skyhaul_scenario::{MAX_OBJECTS, WebLoad};

/// An object under way.
#[derive(Debug)]
struct Fetch {
    /// Number of its page.
    page: u64,
    object_bytes: u64,
    request: Writer,
    response: Reader,
}

/// A page under way.
#[derive(Debug)]
struct Page {
    began: Instant,
    /// Objects not asked for yet.
    waiting: u32,
    /// Objects under way.
    asked: usize,
    /// The first one is there, which names the others; in an open loop they are known.
    is_open: bool,
}

/// Reads pages: one after the other, with pauses, or in an open loop whenever one is due. An object that
/// fails is noted, and its page goes on without it.
#[derive(Debug)]
pub(in crate::flows) struct Browser {
    remote: Remote,
    config: EndConfig,
    key: u64,
    load: WebLoad,
    stream: Stream,
    /// Pages still to begin; `None`: no end.
    left: Option<u64>,
    /// When the next page begins, if that is known.
    next: Option<Instant>,
    /// Number of the next page.
    number: u64,
    /// By number; one at a time in a closed loop, no more than have an object under way in an open one.
    pages: BTreeMap<u64, Page>,
    /// At most [`MAX_OBJECTS`] in an open loop, beyond which objects fail.
    fetches: BTreeMap<ConnectionKey, Fetch>,
}

impl Browser {
    pub(in crate::flows) fn new(
        remote: Remote,
        config: EndConfig,
        key: u64,
        load: WebLoad,
        stream: Stream,
        start: Instant,
    ) -> Self {
        let (left, next) = (load.pages, Some(start));
        let (pages, fetches) = (BTreeMap::new(), BTreeMap::new());
        Self { remote, config, key, load, stream, left, next, number: 0, pages, fetches }
    }

    /// Begins a page. In an open loop what is drawn does not depend on what became of pages before.
    fn begin(&mut self, io: &mut Io<'_>) {
        io.record.started_at.get_or_insert(io.now);
        self.left = self.left.map(|left| left.saturating_sub(1));
        let (number, is_open) = (self.number, self.load.every_ns.is_some());
        self.number += 1;
        let waiting = draw_objects(&self.load, &mut self.stream);
        self.pages.insert(number, Page { began: io.now, waiting, asked: 0, is_open });
        self.fetch_more(number, io);
        if let Some(every_ns) = self.load.every_ns {
            self.plan_next(every_ns, io.now);
        }
    }

    /// The next page begins in so long on average, if there is one.
    fn plan_next(&mut self, mean_ns: u64, now: Instant) {
        let pause_ns = if mean_ns > 0 { self.stream.exponential_ns(mean_ns) } else { 0 };
        self.next = (self.left != Some(0)).then(|| now.after(pause_ns));
    }

    /// Asks for as many objects as may be under way at once; the page is over when none is left.
    fn fetch_more(&mut self, number: u64, io: &mut Io<'_>) {
        while let Some(page) = self.pages.get_mut(&number) {
            let most = match self.load.every_ns {
                Some(_) => usize::MAX,
                None if page.is_open => self.load.parallel as usize,
                None => 1,
            };
            if page.waiting == 0 || page.asked >= most {
                break;
            }
            page.waiting -= 1;
            let object_bytes = draw_object_bytes(&self.load, &mut self.stream);
            let is_asked = self.ask(number, object_bytes, io);
            if let Some(page) = self.pages.get_mut(&number) {
                page.asked += usize::from(is_asked);
                page.is_open |= !is_asked;
            }
        }
        self.close_page(number, io);
    }

    /// Asks for an object; false if that fails.
    fn ask(&mut self, page: u64, object_bytes: u64, io: &mut Io<'_>) -> bool {
        if self.load.every_ns.is_some() && self.fetches.len() >= MAX_OBJECTS as usize {
            io.record.fail(&"as many objects as may be are under way");
            return false;
        }
        let connected = io.connect(self.remote, &self.config);
        let Ok(id) = connected.map_err(|error| io.record.fail(&error)) else { return false };
        let mut request = request(self.key, &self.load, object_bytes);
        if request.pump(io, id) {
            io.engines.finish(id);
        }
        let response = response_reader(self.key);
        self.fetches.insert(id, Fetch { page, object_bytes, request, response });
        true
    }

    fn close_page(&mut self, number: u64, io: &mut Io<'_>) {
        let is_over = |page: &Page| page.waiting == 0 && page.asked == 0;
        if !self.pages.get(&number).is_some_and(is_over) {
            return;
        }
        let Some(page) = self.pages.remove(&number) else { return };
        io.record.complete(io.now, io.now.since(page.began), io.warm_up);
        if self.load.every_ns.is_none() {
            self.plan_next(self.load.think_ns, io.now);
        }
    }

    /// An object is there, or will never be.
    fn end_fetch(&mut self, id: ConnectionKey, io: &mut Io<'_>) {
        let Some(fetch) = self.fetches.remove(&id) else { return };
        if let Some(page) = self.pages.get_mut(&fetch.page) {
            page.asked -= 1; // this object was counted when it was asked for
            page.is_open = true;
        }
        self.fetch_more(fetch.page, io);
    }
}

impl End for Browser {
    fn on_timer(&mut self, io: &mut Io<'_>) {
        if self.next.is_some_and(|next| next <= io.now) {
            self.next = None;
            self.begin(io);
        }
    }

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        let Some(fetch) = self.fetches.get_mut(&id) else {
            // What is left of an object that is there: the end of its stream.
            io.skip(id, event);
            return;
        };
        match event {
            StreamEvent::Connected | StreamEvent::Writable => {
                if fetch.request.pump(io, id) {
                    io.engines.finish(id);
                }
            }
            StreamEvent::Readable => {
                fetch.response.drain(io, id);
                if fetch.response.received >= fetch.object_bytes {
                    self.end_fetch(id, io);
                }
            }
            StreamEvent::Finished => {}
            StreamEvent::Closed(_) => {
                io.record.fail(&"a connection ended before its object was there");
                self.end_fetch(id, io);
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next
    }

    fn is_served(&self) -> bool {
        self.is_done()
    }

    fn is_done(&self) -> bool {
        self.left == Some(0) && self.pages.is_empty()
    }
}
