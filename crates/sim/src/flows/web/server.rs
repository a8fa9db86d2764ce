//! Server of web pages.

use std::collections::BTreeMap;

use crate::host::ConnectionKey;
use skyhaul_core::{Instant, StreamEvent};

use super::response;
use crate::flows::io::End;
use crate::flows::io::{Io, Reader, Writer};
use skyhaul_scenario::WebLoad;

/// A connection: its request being read, then its response being written.
#[derive(Debug)]
enum Serving {
    Asked(Reader),
    Answering(Writer),
    Answered,
}

/// Answers a request with as many bytes as it asks for; over as many connections as come.
#[derive(Debug)]
pub(in crate::flows) struct Server {
    key: u64,
    load: WebLoad,
    serving: BTreeMap<ConnectionKey, Serving>,
}

impl Server {
    pub(in crate::flows) fn new(key: u64, load: WebLoad) -> Self {
        Self { key, load, serving: BTreeMap::new() }
    }

    fn serve(&mut self, id: ConnectionKey, io: &mut Io<'_>) {
        let key = self.key;
        let serving = self.serving.entry(id).or_insert_with(|| Serving::Asked(Reader::new(key).with_head()));
        if let Serving::Asked(request) = serving {
            request.drain(io, id);
            let is_whole = request.received >= self.load.request_bytes;
            let Some(head) = request.head().filter(|_| is_whole) else { return };
            // No more than a client of this flow would ask for, whatever came.
            let object_bytes = u64::from_be_bytes(head).min(self.load.max_object_bytes);
            *serving = Serving::Answering(response(key, object_bytes));
        }
        if let Serving::Answering(response) = serving
            && response.pump(io, id)
        {
            *serving = Serving::Answered;
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
            StreamEvent::Readable if matches!(self.serving.get(&id), Some(Serving::Answered)) => {
                io.skip(id, event);
            }
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
