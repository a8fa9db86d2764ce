//! End-to-end layers of a host, above connections of its engines.

use std::collections::BTreeMap;

use skyhaul_core::{Connections, Instant, StreamEvent};
use skyhaul_petra::utl::{Config, UtlEvent, UtlLayer};

use super::engines::{ConnectionKey, Member};

/// Layer, and whether the connection below it was ended for its failure.
#[derive(Clone, Debug)]
struct Layered {
    layer: UtlLayer,
    was_aborted: bool,
}

/// The layers of a host by their connections. What an application asks of a connection that has one, the
/// layer answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    all: BTreeMap<ConnectionKey, Layered>,
}

impl Layers {
    pub(super) fn add(&mut self, key: ConnectionKey, config: Config) {
        self.all.insert(key, Layered { layer: UtlLayer::new(config), was_aborted: false });
    }

    pub(super) fn remove(&mut self, key: ConnectionKey) {
        self.all.remove(&key);
    }

    /// True if no connection has one: hosts are asked at each packet.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    #[inline]
    pub(super) fn get(&self, key: ConnectionKey) -> Option<&UtlLayer> {
        Some(&self.all.get(&key)?.layer)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: ConnectionKey) -> Option<&mut UtlLayer> {
        Some(&mut self.all.get_mut(&key)?.layer)
    }

    /// Event for an application out of one of a connection; `None`: the layer tells by itself.
    pub(super) fn above(&mut self, key: ConnectionKey, event: StreamEvent) -> Option<StreamEvent> {
        let Some(layer) = self.get_mut(key) else { return Some(event) };
        match event {
            StreamEvent::Closed(_) => layer.on_closed(),
            StreamEvent::Connected => {}
            StreamEvent::Readable | StreamEvent::Writable | StreamEvent::Finished => return None,
        }
        Some(event)
    }

    /// Next event of a layer. Failures are told by the end of the connection.
    pub(super) fn poll_event(&mut self) -> Option<(ConnectionKey, StreamEvent)> {
        self.all.iter_mut().find_map(|(&key, layered)| Some((key, next(&mut layered.layer)?)))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.all.values().filter_map(|layered| layered.layer.deadline()).min()
    }

    /// Moves what can be moved between a layer and its connection, and ends connections whose layers failed;
    /// true if something moved.
    pub(super) fn work(&mut self, now: Instant, engines: &mut [Member]) -> bool {
        let mut moved = false;
        for (&key, Layered { layer, was_aborted }) in &mut self.all {
            let Some(member) = engines.get_mut(usize::from(key.engine)) else { continue };
            let connections: &mut dyn Connections = &mut *member.engine;
            layer.handle_timeout(now);
            moved |= layer.work(now, connections, key.connection);
            if layer.failure().is_some() && !*was_aborted {
                *was_aborted = true;
                moved = true;
                connections.abort(key.connection);
            }
        }
        moved
    }
}

fn next(layer: &mut UtlLayer) -> Option<StreamEvent> {
    loop {
        return Some(match layer.poll_event()? {
            UtlEvent::Readable => StreamEvent::Readable,
            UtlEvent::Writable => StreamEvent::Writable,
            UtlEvent::Finished => StreamEvent::Finished,
            UtlEvent::Failed(_) => continue,
        });
    }
}
