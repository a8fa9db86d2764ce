//! Task behind an endpoint: it takes bytes from a carrier to the engine and back, and wakes the streams. Work
//! in one turn is bounded, so that neither sending nor receiving nor other tasks starve.

mod batch;
mod keeper;
mod peers;
mod start;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use skyhaul_capture::Heads;
use skyhaul_core::{Engine, Transmit, endpoint};

use crate::Protocol;
pub(crate) use batch::Batch;
pub(crate) use keeper::Keeper;
use keeper::Sent;
pub(crate) use peers::Peers;
pub(crate) use start::{Outlook, start};

/// Batches sent in a turn.
const MAX_SENDS: usize = 16;

/// Engine's name of a peer.
pub(crate) type PeerOf<C> = <<C as Carrier>::Protocol as Engine>::Peer;
/// State of a carrier for each peer.
pub(crate) type PeersOf<C> = Peers<PeerOf<C>, <C as Carrier>::PeerState>;

/// Outcome of a turn's receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// Nothing is left to receive at present.
    All,
    /// There may be more.
    Part,
    /// The carrier is gone: the endpoint comes to its end.
    Gone,
}

/// Carrier of an endpoint's packets: it alone knows what names of peers mean, and what surrounds a segment.
pub(crate) trait Carrier: Sized {
    /// Protocol that it carries.
    type Protocol: Protocol<Peer: endpoint::Peer>;
    /// State for each peer.
    type PeerState;

    /// Takes some of what waits to the engine.
    fn receive(
        &mut self,
        cx: &mut Context<'_>,
        peers: &mut PeersOf<Self>,
        keeper: &mut Keeper<Self::Protocol>,
    ) -> Received;

    /// Segments of a batch that it takes at once.
    fn max_segments(&self) -> usize;

    /// Next packet of its own to send, which no engine has made.
    fn poll_own_packet(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Headers that surround the segments of a batch, for a capture.
    fn heads(&self, transmit: &Transmit<PeerOf<Self>>, peers: &PeersOf<Self>) -> Heads;

    /// Completes the segments of a new batch.
    fn seal(&mut self, _: &mut Batch<PeerOf<Self>>, _: &PeersOf<Self>) {}

    /// Sends what is left of a batch. Pending: it takes no more at present, and wakes the driver when it
    /// does.
    fn flush(
        &mut self,
        cx: &mut Context<'_>,
        batch: &mut Batch<PeerOf<Self>>,
        peers: &PeersOf<Self>,
        counters: &mut <Self::Protocol as Protocol>::Counters,
    ) -> Poll<()>;

    /// True if it learned in this turn what [`Self::receive`] has to look at.
    fn has_news(&self) -> bool {
        false
    }
}

/// Task behind an endpoint.
pub(crate) struct Driver<C: Carrier> {
    carrier: C,
    peers: PeersOf<C>,
    batch: Batch<PeerOf<C>>,
    /// Goes last: it tells that the carrier is closed.
    keeper: Keeper<C::Protocol>,
}

impl<C: Carrier> Driver<C> {
    pub(crate) fn new(keeper: Keeper<C::Protocol>, carrier: C) -> Self {
        Self { carrier, peers: Peers::new(), batch: Batch::new(), keeper }
    }

    /// Takes a turn: receive, send, set the timer. Ready when the endpoint has come to its end.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.keeper.begin(cx)?;
        let received = self.carrier.receive(cx, &mut self.peers, &mut self.keeper);
        if received == Received::Gone {
            return Poll::Ready(Ok(()));
        }
        let sent = self.send(cx);
        self.keeper.conclude(cx, received == Received::Part || self.carrier.has_news(), sent)
    }

    /// Takes what is due now from the engine to the carrier.
    fn send(&mut self, cx: &mut Context<'_>) -> Sent {
        self.keeper.begins_to_send();
        let sent = self.send_batches(cx);
        self.keeper.has_sent();
        sent
    }

    fn send_batches(&mut self, cx: &mut Context<'_>) -> Sent {
        for _ in 0..MAX_SENDS {
            if self.batch.is_empty() && !self.fill() {
                return Sent::All;
            }
            let Self { carrier, batch, peers, keeper } = self;
            if carrier.flush(cx, batch, peers, &mut keeper.counters).is_pending() {
                return Sent::Blocked;
            }
        }
        Sent::Part
    }

    /// Gets the next packet of the carrier's own, or the next batch of the engine; false if there is none.
    fn fill(&mut self) -> bool {
        if let Some(packet) = self.carrier.poll_own_packet() {
            self.batch.put(&packet);
            self.show();
            return true;
        }
        let (batch, max_segments) = (&mut self.batch, self.carrier.max_segments());
        let filled = self.keeper.fill(|engine, now, sink| batch.fill(now, engine, max_segments, sink));
        if filled {
            self.carrier.seal(batch, &self.peers);
            self.show();
        }
        filled
    }

    /// Shows a new batch to a capture.
    fn show(&mut self) {
        let Self { carrier, peers, batch, keeper } = self;
        let now = keeper.now();
        let Some(tap) = &mut keeper.sink.tap else { return };
        let heads = batch.transmit().map(|transmit| carrier.heads(&transmit, peers));
        batch.segments_mut().for_each(|segment| tap.left(now, heads, segment));
    }
}

/// Nothing refers to what is inside.
impl<C: Carrier> Unpin for Driver<C> {}

impl<C: Carrier> Future for Driver<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // An error can only come from the timer or from the runtime as it shuts down.
        self.get_mut().turn(cx).map(drop)
    }
}
