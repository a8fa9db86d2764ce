//! Client of web pages.

use std::collections::BTreeMap;

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, Stream, StreamEvent};

use super::{draw_object_bytes, draw_objects, request, response_reader};
use crate::flows::io::{End, Remote};
use crate::flows::io::{Io, Reader, Writer};
use skyhaul_scenario::EndConfig;
use skyhaul_scenario::WebLoad;

/// An object under way.
#[derive(Debug)]
struct Fetch {
    object_bytes: u64,
    request: Writer,
    response: Reader,
}

/// A page under way: first one object, then the others that it names.
#[derive(Debug)]
struct Page {
    began: Instant,
    /// Objects not asked for yet.
    waiting: u32,
    /// The first one is there.
    is_open: bool,
    fetches: BTreeMap<ConnectionKey, Fetch>,
}

/// Reads page after page, with pauses. An object that fails is noted, and the page goes on without it.
#[derive(Debug)]
pub(in crate::flows) struct Browser {
    remote: Remote,
    config: EndConfig,
    key: u64,
    load: WebLoad,
    stream: Stream,
    /// Pages still to be read, the one under way included; `None`: no end.
    left: Option<u64>,
    /// When the next page begins, if none is under way.
    next: Option<Instant>,
    page: Option<Page>,
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
        Self { remote, config, key, load, stream, left, next, page: None }
    }

    fn begin(&mut self, io: &mut Io<'_>) {
        io.record.started_at.get_or_insert(io.now);
        let waiting = draw_objects(&self.load, &mut self.stream);
        self.page = Some(Page { began: io.now, waiting, is_open: false, fetches: BTreeMap::new() });
        self.fetch_more(io);
    }

    /// Asks for as many objects as may be under way at once; the page is over when none is left.
    fn fetch_more(&mut self, io: &mut Io<'_>) {
        while let Some(page) = &mut self.page {
            let most = if page.is_open { self.load.parallel as usize } else { 1 };
            if page.waiting == 0 || page.fetches.len() >= most {
                break;
            }
            page.waiting -= 1;
            let object_bytes = draw_object_bytes(&self.load, &mut self.stream);
            let connected = io.connect(self.remote, &self.config);
            let Ok(id) = connected.map_err(|error| io.record.fail(&error)) else {
                page.is_open = true;
                continue;
            };
            let mut request = request(self.key, &self.load, object_bytes);
            if request.pump(io, id) {
                io.engines.finish(id);
            }
            page.fetches.insert(id, Fetch { object_bytes, request, response: response_reader(self.key) });
        }
        self.close_page(io);
    }

    fn close_page(&mut self, io: &mut Io<'_>) {
        let Some(page) = self.page.take_if(|page| page.waiting == 0 && page.fetches.is_empty()) else {
            return;
        };
        io.record.complete(io.now, io.now.since(page.began), io.warm_up);
        self.left = self.left.map(|left| left.saturating_sub(1));
        let think_ns =
            if self.load.think_ns > 0 { self.stream.exponential_ns(self.load.think_ns) } else { 0 };
        self.next = (self.left != Some(0)).then(|| io.now.after(think_ns));
    }

    /// An object is there, or will never be.
    fn end_fetch(&mut self, id: ConnectionKey, io: &mut Io<'_>) {
        if let Some(page) = &mut self.page {
            page.fetches.remove(&id);
            page.is_open = true;
        }
        self.fetch_more(io);
    }

    fn fetch(&mut self, id: ConnectionKey) -> Option<&mut Fetch> {
        self.page.as_mut()?.fetches.get_mut(&id)
    }
}

impl End for Browser {
    fn on_timer(&mut self, io: &mut Io<'_>) {
        if self.next.is_some_and(|next| next <= io.now) {
            self.next = None;
            if self.left != Some(0) {
                self.begin(io);
            }
        }
    }

    fn on_event(&mut self, id: ConnectionKey, event: StreamEvent, io: &mut Io<'_>) {
        let Some(fetch) = self.fetch(id) else {
            // What is left of an object that is there: the end of its stream.
            return io.skip(id, event);
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
        self.left == Some(0) && self.page.is_none()
    }
}
