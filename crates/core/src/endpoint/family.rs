//! Parts that a protocol family adds to an endpoint: segments, connections, and answers of no connection.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use super::{Endpoint, Room};
use crate::event::Refusal;
use crate::{
    ConnectionId, Description, EventSink, Gap, Instant, Integrity, NetworkFields, Path, PathName, Stats,
    StreamError, StreamEvent,
};

/// Name of a peer: a small value of the carrier's choice. Equal names are one peer, with one path. An
/// endpoint compares, hashes and copies it, and looks for nothing inside.
pub trait Peer: Copy + Ord + Hash + Debug {}

impl<T: Copy + Ord + Hash + Debug> Peer for T {}

/// Peer and ports: what a segment finds its connection by. In the order of ports: they differ where the
/// connections of a host are many, and are quickly compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<P> {
    /// Port at this end.
    pub local_port: u16,
    /// Port at the other end.
    pub remote_port: u16,
    /// Other end.
    pub peer: P,
}

/// Surroundings of a connection during one call.
pub struct Context<'a> {
    /// Time of the call.
    pub now: Instant,
    /// Path to the peer, shared with the other connections to it.
    pub path: &'a mut Path,
    /// Receiver of events.
    pub sink: &'a mut dyn EventSink,
}

/// Circumstances in which a segment arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<P> {
    /// Time of arrival.
    pub now: Instant,
    /// Peer and ports.
    pub key: Key<P>,
    /// Fields that the network wrote.
    pub fields: NetworkFields,
    /// Size of the segment.
    pub bytes: usize,
}

/// Stage in the life of a connection, as far as it is the same in every protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// One end has not accepted yet.
    Opening,
    /// In use.
    Open,
    /// Both ends have finished; late repeats of the peer are still answered.
    Ended,
    /// Gone, in whatever way.
    Closed,
}

/// Connection as its endpoint sees it.
pub trait Connection: Clone + Debug {
    /// Step in the life of a connection, as its specification names it.
    type State: Copy + Debug + Send;

    /// State.
    fn state(&self) -> Self::State;

    /// Name of the state, as its specification prints it.
    fn state_name(&self) -> &'static str;

    /// True once nothing is received, sent or told any more.
    fn is_done(&self) -> bool;

    /// True while the peer's address is not proven: such connections are few, and make room.
    fn is_unproven(&self) -> bool;

    /// Bytes kept of what the peer sent: for the application, or until something before them comes.
    fn kept_bytes(&self) -> u64 {
        0
    }

    /// Sets what it may keep: what would be more is not taken, as if it was lost. What it keeps already
    /// stays.
    fn set_room(&mut self, _: Room) {}

    /// Stage of its life. One that a peer opened is handed to the application when it is no longer opening.
    fn stage(&self) -> Stage;

    /// Next event for the application.
    fn poll_event(&mut self) -> Option<StreamEvent>;

    /// Fires what is due at `context.now`.
    fn handle_timeout(&mut self, context: &mut Context<'_>);

    /// Appends the next segment that may leave now to `out`, with its fields for the network. If there is
    /// none: what [`Self::deadline`] says from then on, as long as nothing happens.
    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>>;

    /// Time at which [`Self::handle_timeout`] is due, `now` or later. Pure; asked after everything was sent.
    fn deadline(&self, now: Instant, path: &Path) -> Option<Instant>;

    /// Time at which data may leave that waits for nothing but a rate. Asked only where [`Self::deadline`]
    /// has one.
    fn data_due(&self, now: Instant, path: &Path) -> Option<Instant>;

    /// As [`crate::Connections::write`].
    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError>;

    /// As [`crate::Connections::read`].
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError>;

    /// As [`crate::Connections::write_described`].
    fn write_described(&mut self, _: Description) -> Result<u64, StreamError> {
        Ok(0)
    }

    /// As [`crate::Connections::read_described`].
    fn read_described(&mut self) -> Result<Option<Description>, StreamError> {
        Ok(None)
    }

    /// As [`crate::Connections::next_gap`].
    fn next_gap(&mut self) -> Option<Gap> {
        None
    }

    /// As [`crate::Connections::hold`].
    fn hold(&mut self, _: bool) {}

    /// As [`crate::Connections::finish`].
    fn finish(&mut self);

    /// As [`crate::Connections::abort`].
    fn abort(&mut self);

    /// As [`crate::Connections::refuse`].
    fn refuse(&mut self) {
        self.abort();
    }

    /// As [`crate::Connections::release`].
    fn release(&mut self, now: Instant);

    /// Counters.
    fn stats(&self) -> Stats;

    /// As [`crate::Connections::held_bytes`].
    fn held_bytes(&self) -> u64;

    /// As [`crate::Connections::unsent_bytes`].
    fn unsent_bytes(&self) -> u64 {
        self.held_bytes()
    }

    /// As [`crate::Connections::writable_bytes`].
    fn writable_bytes(&self) -> u64;
}

/// Protocol family: its value is what an endpoint keeps for it beside connections.
pub trait Family: Clone + Debug {
    /// Name of a peer.
    type Peer: Peer;
    /// Connection.
    type Connection: Connection;
    /// Decoded segment.
    type Segment<'a>: Clone + Debug;
    /// Reason why bytes are no segment.
    type Malformed: Debug;

    /// True if a connection that is over keeps its ports until the application lets go, for the sake of a
    /// peer that missed the end.
    const KEEPS_PORTS: bool;

    /// Segment in the body of a packet with these fields, proven by `integrity`.
    ///
    /// # Errors
    /// Why it is none.
    fn decode(
        peer: Self::Peer,
        integrity: Integrity,
        fields: NetworkFields,
        bytes: &[u8],
    ) -> Result<Self::Segment<'_>, Self::Malformed>;

    /// Ports of a segment that arrived: ours, then the sender's.
    fn ports(segment: &Self::Segment<'_>) -> (u16, u16);

    /// Name of the path to `peer` for connections to come: peers whose rate is shared have one path.
    fn path_name(&self, peer: Self::Peer) -> PathName<Self::Peer> {
        PathName::To(peer)
    }

    /// Connection that a segment is of which arrived under this key.
    fn find(endpoint: &Endpoint<Self>, key: Key<Self::Peer>, _: &Self::Segment<'_>) -> Option<ConnectionId> {
        endpoint.find(key)
    }

    /// Appends an answer of no connection to `out`; its types and number, for traces.
    fn encode(
        peer: Self::Peer,
        integrity: Integrity,
        segment: &Self::Segment<'_>,
        out: &mut Vec<u8>,
    ) -> (u8, u64);

    /// Takes a segment whose key is that of connection `id`.
    fn receive(
        endpoint: &mut Endpoint<Self>,
        id: ConnectionId,
        arrival: Arrival<Self::Peer>,
        segment: &Self::Segment<'_>,
        sink: &mut dyn EventSink,
    );

    /// Takes a segment whose key is that of no connection.
    fn receive_stray(
        endpoint: &mut Endpoint<Self>,
        arrival: Arrival<Self::Peer>,
        segment: &Self::Segment<'_>,
        sink: &mut dyn EventSink,
    );

    /// Counts a segment that was refused.
    fn count_refusal(&mut self, why: Refusal);

    /// Takes note that a connection has left its ports.
    fn on_retired(&mut self, _: Key<Self::Peer>, _: &Self::Connection) {}
}

/// Value that is an endpoint, under a protocol's own name and with its own methods. [`crate::Engine`] and
/// [`crate::Connections`] come with it.
pub trait Hosted {
    /// Protocol family.
    type Family: Family;

    /// The endpoint.
    fn endpoint(&self) -> &Endpoint<Self::Family>;

    /// The endpoint, for a change.
    fn endpoint_mut(&mut self) -> &mut Endpoint<Self::Family>;
}

impl<F: Family> Hosted for Endpoint<F> {
    type Family = F;

    fn endpoint(&self) -> &Self {
        self
    }

    fn endpoint_mut(&mut self) -> &mut Self {
        self
    }
}
