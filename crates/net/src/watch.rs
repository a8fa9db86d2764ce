//! A way to get at the events of an endpoint's engine (`docs/events.md`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use skyhaul_core::{Event, EventSink, Instant};

use crate::tap::Tap;

/// An event and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// When, by the clock of the endpoint.
    pub at: Instant,
    /// The connection, by its number in the endpoint; 0 where none is concerned.
    pub source: u64,
    /// The event.
    pub event: Event,
}

/// The end of a watch that goes into [`EndpointOptions::watch`](crate::EndpointOptions::watch).
/// Endpoints that share one cannot be told apart.
#[derive(Clone, Debug)]
pub struct Watch {
    wants: fn(&Event) -> bool,
    sender: SyncSender<Observed>,
    missed: Arc<AtomicU64>,
}

/// The end of a watch that the events come out of.
#[derive(Debug)]
pub struct Observations {
    receiver: Receiver<Observed>,
    missed: Arc<AtomicU64>,
}

/// A watch for the events that `wants` picks. It is asked while the endpoint is locked, about every
/// event, several a packet: it should do no more than look. Up to `capacity` events wait to be taken;
/// further ones are counted and lost, so the endpoint never waits.
pub fn watch(capacity: usize, wants: fn(&Event) -> bool) -> (Watch, Observations) {
    let (sender, receiver) = sync_channel(capacity.max(1));
    let missed = Arc::new(AtomicU64::new(0));
    (Watch { wants, sender, missed: Arc::clone(&missed) }, Observations { receiver, missed })
}

impl Observations {
    /// The events that wait, oldest first.
    pub fn take(&self) -> impl Iterator<Item = Observed> + '_ {
        self.receiver.try_iter()
    }

    /// How many events were wanted and lost for lack of room.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Hands over an event that is wanted.
    fn observe(&self, observed: Observed) {
        if (self.wants)(&observed.event)
            && let Err(TrySendError::Full(_)) = self.sender.try_send(observed)
        {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The sink of an endpoint: without a watch and a capture, the engine does not even make events.
#[derive(Debug)]
pub(crate) struct Sink {
    watch: Option<Watch>,
    pub(crate) tap: Option<Tap>,
}

impl Sink {
    pub(crate) fn new(watch: Option<Watch>, tap: Option<Tap>) -> Self {
        Self { watch, tap }
    }
}

impl EventSink for Sink {
    fn wants(&self) -> bool {
        self.watch.is_some() || self.tap.is_some()
    }

    fn emit(&mut self, at: Instant, source: u64, event: Event) {
        if let Some(watch) = &self.watch {
            watch.observe(Observed { at, source, event });
        }
        if let Some(tap) = &mut self.tap {
            tap.event(at, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_persist(event: &Event) -> bool {
        matches!(event, Event::Persist { .. })
    }

    #[test]
    fn what_is_wanted_comes_out_in_order_and_what_has_no_room_is_counted() {
        let (watch, observations) = watch(2, is_persist);
        let mut sink = Sink::new(Some(watch), None);
        for n in 0..3 {
            sink.emit(Instant::from_ns(n), 7, Event::Rate { rate_bps: n });
            sink.emit(Instant::from_ns(n), 7, Event::Persist { on: true });
        }
        let times: Vec<u64> = observations.take().map(|o| o.at.as_ns()).collect();
        assert_eq!((times, observations.missed()), (vec![0, 1], 1));
        drop(observations);
        sink.emit(Instant::ZERO, 7, Event::Persist { on: false }); // nobody is left: no harm
    }

    #[test]
    fn without_a_watch_nothing_is_wanted() {
        assert!(!Sink::new(None, None).wants());
        assert!(Sink::new(Some(watch(0, is_persist).0), None).wants());
    }
}
