//! The contract between a protocol's endpoint and whoever drives it or uses it.

use alloc::vec::Vec;

use crate::{
    ConnectionId, Description, EventSink, Gap, Instant, NetworkFields, Stats, StreamError, StreamEvent,
    Weight,
};

/// Batch of segments to one peer, ready for the carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<Peer> {
    /// Receiver.
    pub peer: Peer,
    /// Connection that all of them belong to; 0 for answers to segments of none.
    pub connection: ConnectionId,
    /// Size of each segment in the buffer but the last, which may be smaller.
    pub segment_bytes: usize,
    /// Fields for the network, equal for all of them.
    pub fields: NetworkFields,
}

/// An endpoint as its driver sees it: time and segments go in; segments and the next deadline come out.
pub trait Engine: Connections {
    /// Name of a peer: a value of the carrier's choice. Equal names are one peer, with one path.
    type Peer: Copy;

    /// Takes the body of a packet that came from `peer`, and what the network wrote on it.
    fn handle(
        &mut self,
        now: Instant,
        peer: Self::Peer,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    );

    /// Fills `buffer` (cleared first) with at most `max_segments` segments to one peer; each has the head and
    /// tail room that the endpoint was told to keep. `None`: nothing to send before [`Self::deadline`].
    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Self::Peer>>;

    /// Takes in that a peer has another address: what was found out about the way to it says nothing any
    /// more. Its connections go on.
    fn peer_moved(&mut self, _: Instant, _: Self::Peer) {}

    /// Time at which [`Self::handle_timeout`] is to be called next, provided that everything to transmit was
    /// polled.
    fn deadline(&self) -> Option<Instant>;

    /// Fires the timers that are due. Emits nothing by itself; call [`Self::poll_transmit`] next.
    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink);
}

/// An endpoint as an application sees it. Opening is not here: it takes the parameters of one protocol.
pub trait Connections {
    /// Accepts openings to this port from now on.
    fn listen(&mut self, port: u16);

    /// Refuses further openings to this port.
    fn unlisten(&mut self, port: u16);

    /// A connection that a peer opened, not yet handed out.
    fn accept(&mut self) -> Option<ConnectionId>;

    /// Next event for the application. While nobody polls, one of each kind waits for each connection at
    /// most; what happens again before it was told is told once. Of a connection that was let go nothing is
    /// told.
    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)>;

    /// Takes as much of `data` as the send buffer has room for; 0 means: wait for [`StreamEvent::Writable`].
    fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError>;

    /// Reads: `Some(0)` at the end of the stream, `None` when nothing is there yet.
    fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError>;

    /// Takes as much of what is described as the send buffer has room for, as [`Self::write`] does. A stream
    /// is written in one of both ways, from its first octet on, by one description that grows. 0, too, where
    /// a protocol takes octets only.
    fn write_described(&mut self, id: ConnectionId, data: Description) -> Result<u64, StreamError>;

    /// Reads all that is there of a stream that the peer wrote by description: one of no octets at the end of
    /// the stream, `None` when nothing is there yet.
    fn read_described(&mut self, id: ConnectionId) -> Result<Option<Description>, StreamError>;

    /// Gap that comes next in the stream, where nothing more can be read in front of it: what lies behind can
    /// be read then. Where data may be given up, reading goes no further than a gap (`None`), and
    /// [`StreamEvent::Readable`] tells of one as of data.
    fn next_gap(&mut self, _: ConnectionId) -> Option<Gap> {
        None
    }

    /// Holds the peer of a connection back (`holds`), or lets it go on: what arrives is taken and kept, and
    /// the protocol lets the peer send no new data in its own way. TCP acknowledges nothing meanwhile, and
    /// all of it then (ACK stop); STPP says STOP_TX. Nothing where a protocol has no way.
    fn hold(&mut self, id: ConnectionId, holds: bool);

    /// Nothing more will be written.
    fn finish(&mut self, id: ConnectionId);

    /// Ends a connection at once; the peer is told.
    fn abort(&mut self, id: ConnectionId);

    /// Ends a connection at once; the peer is told that there is no room for it, where the protocol has a
    /// word for that.
    fn refuse(&mut self, id: ConnectionId);

    /// True if the peer has shown that it receives at its address. Who opened a connection chose that.
    fn is_proven(&self, id: ConnectionId) -> bool;

    /// The application lets go: what was written is delivered, and the connection is forgotten when it is
    /// over.
    fn release(&mut self, now: Instant, id: ConnectionId);

    /// From now on a connection gets so much of its path's rate beside others of this endpoint that use it.
    fn set_weight(&mut self, id: ConnectionId, weight: Weight);

    /// Counters of a connection.
    fn stats(&self, id: ConnectionId) -> Option<Stats>;

    /// Name of a connection's state, as its specification prints it.
    fn state_name(&self, id: ConnectionId) -> Option<&'static str>;

    /// Port of a connection at this end.
    fn local_port(&self, id: ConnectionId) -> Option<u16>;

    /// Bytes written and not yet acknowledged in sequence: what the send buffer holds.
    fn held_bytes(&self, id: ConnectionId) -> u64;

    /// Bytes of these that never left, at most: a protocol that does not tell them apart says all of them.
    fn unsent_bytes(&self, id: ConnectionId) -> u64;

    /// Bytes that [`Self::write`] would take now.
    fn writable_bytes(&self, id: ConnectionId) -> u64;

    /// Connections held, closed ones that were not released included.
    fn connection_count(&self) -> usize;
}
