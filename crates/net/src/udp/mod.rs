//! UDP as a carrier: one socket, datagrams in envelopes.

mod bind;
mod drops;
mod fragments;
mod inbox;
mod over;
mod place;
mod plain;
mod refusals;
mod reports;
mod sealed;
mod socket;
mod stp;
mod stpp;
#[cfg(test)]
mod udp_tests;

use std::io::{self, ErrorKind};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::task::{Context, Poll};

use skyhaul_capture::Heads;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Instant, NetworkFields, Transmit, ip_udp_bytes};

use crate::Counters;
use crate::address::normalised;
use crate::driver::{Batch, Carrier, Keeper, Peers, Received};
use crate::path_header;
use crate::state::State;
use crate::watch::Sink;
pub(crate) use bind::bound;
use drops::SocketDrops;
pub(crate) use fragments::route_mtu_bytes;
use inbox::Inbox;
pub use over::{Datagrams, OverUdp};
pub(crate) use place::Place;
use refusals::Refusals;
pub use sealed::{SealedStp, SealedStpp};
use socket::{Socket, Trouble};

/// Receiving system calls in a turn.
const MAX_RECEIVES: usize = 4;
/// Octets received after which a turn ends: what the streams read next is in the processor's caches still.
const MAX_TURN_BYTES: u64 = 256 << 10;
/// Datagrams that were too large and that the engine has yet to hear of; of more it hears nothing.
const MAX_TOO_LARGE: usize = 64;
/// Reports of a refusal in a row after which a datagram is given up.
const MAX_REFUSALS: u64 = 3;
/// Refusals in a row for its size after which a datagram is taken to be too large for the first link. Fewer
/// are routers' reports on earlier ones, each of which is the answer to one call; anybody can forge a burst
/// of them.
const MAX_SIZE_REPORTS: u64 = 16;
/// `EMSGSIZE`, `EIO`, `EINVAL`: the numbers of Linux on every architecture.
const EMSGSIZE: i32 = rustix::io::Errno::MSGSIZE.raw_os_error();
const EIO: i32 = rustix::io::Errno::IO.raw_os_error();
const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();

/// A UDP socket as a carrier of a protocol.
pub(crate) struct Udp<P> {
    socket: Socket,
    inbox: Inbox,
    /// The socket has all addresses of the machine. An answer that leaves from another one than the peer
    /// wrote to would be taken for a stranger's.
    is_wild: bool,
    /// The one peer of a client endpoint.
    peer: Option<SocketAddr>,
    refusals: Refusals,
    /// Refusals reported and not judged yet.
    reported: u64,
    /// Packets that this machine refused as too large, with the system's word of what the route takes, and
    /// reports of routers likewise (size 0): not told to the engine yet.
    too_large: Vec<TooLarge>,
    /// Drops that the system has counted.
    drops: SocketDrops,
    /// Receiving calls when it was last asked for them.
    asked_at: u64,
    /// Address of the socket.
    local: SocketAddr,
    protocol: PhantomData<fn() -> P>,
}

/// Packet that was too large for its route.
#[derive(Clone, Copy, Debug)]
struct TooLarge {
    peer: SocketAddr,
    /// Size of the packet that did not leave; `None`: a router reports, of one that did.
    refused_bytes: Option<u32>,
    /// Size that the system names.
    told_bytes: Option<u32>,
}

/// State of a peer: our address that it wrote to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpPeer {
    source: IpAddr,
}

impl<P: OverUdp> Udp<P> {
    pub(crate) fn new(socket: UdpSocket, place: Place) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(socket, place.local, place.peer.is_some())?,
            inbox: Inbox::new(),
            is_wild: place.local.ip().is_unspecified() && place.peer.is_none(),
            peer: place.peer,
            refusals: Refusals::default(),
            reported: 0,
            too_large: Vec::new(),
            drops: SocketDrops::default(),
            asked_at: 0,
            local: place.local,
            protocol: PhantomData,
        })
    }

    /// Takes datagrams from the socket to the engine. False if there may be more.
    fn fetch(
        &mut self,
        cx: &mut Context<'_>,
        peers: &mut Peers<SocketAddr, UdpPeer>,
        keeper: &mut Keeper<P>,
    ) -> bool {
        let before = keeper.counters.received_bytes;
        for _ in 0..MAX_RECEIVES {
            if keeper.counters.received_bytes - before >= MAX_TURN_BYTES {
                break;
            }
            match self.inbox.poll(cx, &self.socket) {
                Poll::Pending => {
                    self.count_drops(keeper);
                    return true;
                }
                Poll::Ready(Ok(messages)) => {
                    self.refusals.heard();
                    keeper.counters.receive_calls += 1;
                    keeper.work_through(messages, |index, state, now, sink, counters| {
                        self.deliver(index, peers, (state, now, sink, counters));
                    });
                    keeper.wake();
                }
                Poll::Ready(Err(error)) => self.on_failure(&error, keeper),
            }
        }
        false
    }

    /// Counts what the system dropped, if something came since it was last asked.
    fn count_drops(&mut self, keeper: &mut Keeper<P>) {
        if self.asked_at != keeper.counters.receive_calls {
            self.asked_at = keeper.counters.receive_calls;
            keeper.counters.socket_drops += self.drops.since(self.socket.drops());
        }
    }

    /// Hands a message - datagrams from one peer - to the engine.
    fn deliver(
        &mut self,
        index: usize,
        peers: &mut Peers<SocketAddr, UdpPeer>,
        (state, now, sink, counters): (&mut State<P>, Instant, &mut Sink, &mut Counters),
    ) {
        let (message, datagrams) = self.inbox.message(index);
        if let (true, Some(source)) = (self.is_wild, message.local_ip) {
            peers.set(message.peer, UdpPeer { source }, |peer| state.engine.has_connection_to(peer));
        }
        let destination = local_towards(self.local, message.peer, message.local_ip);
        let heads = Heads { source: message.peer, destination, fields: message.fields };
        for datagram in datagrams {
            counters.received_datagrams += 1;
            counters.received_bytes += datagram.len() as u64;
            if let Some(tap) = &mut sink.tap {
                tap.arrived(now, Some(heads), datagram);
            }
            let (path_header, datagram) = path_header::take(datagram);
            let fields = NetworkFields { path_header, ..message.fields };
            let arrived = state.engine.arrive(now, message.peer, fields, datagram, sink);
            counters.bad_envelopes += u64::from(arrived.is_err());
        }
        if let Some(tap) = &mut sink.tap {
            tap.handled();
        }
    }

    fn on_failure(&mut self, error: &io::Error, keeper: &mut Keeper<P>) {
        if is_refusal(error) {
            self.note_refusal();
        } else if is_too_large(error) {
            self.note_report();
        } else {
            keeper.counters.receive_failures += 1;
        }
    }

    /// Takes what the system says about earlier datagrams.
    fn on_trouble(&mut self, trouble: &Trouble, keeper: &mut Keeper<P>) {
        match trouble {
            Trouble::Error(error) => self.on_failure(error, keeper),
            Trouble::Report(report) => {
                let (to, told_bytes) = (normalised(report.to), report.told_bytes);
                self.reported += u64::from(is_refusal(&report.error) && self.peer == Some(to));
                if told_bytes.is_some() && self.too_large.len() < MAX_TOO_LARGE {
                    self.too_large.push(TooLarge { peer: to, refused_bytes: None, told_bytes });
                }
            }
        }
    }

    /// The system refuses a call, as nobody receives what was sent earlier.
    fn note_refusal(&mut self) {
        // A queue tells to whom that was sent.
        self.reported += u64::from(!self.socket.has_queue());
    }

    /// A router reports that a packet was too large, and the system takes it for an answer to ours.
    fn note_report(&mut self) {
        if let Some(peer) = self.peer.filter(|_| !self.socket.has_queue()) {
            self.note_too_large(peer, None);
        }
    }

    fn note_too_large(&mut self, peer: SocketAddr, refused_bytes: Option<u32>) {
        let told_bytes = self.peer.and_then(|_| self.socket.route_mtu_bytes());
        if self.too_large.len() < MAX_TOO_LARGE {
            self.too_large.push(TooLarge { peer, refused_bytes, told_bytes });
        }
    }

    /// Tells the engine which packets were too large.
    fn tell_too_large(&mut self, keeper: &mut Keeper<P>) {
        for TooLarge { peer, refused_bytes, told_bytes } in std::mem::take(&mut self.too_large) {
            keeper.work(|state, now, _, _| match (refused_bytes, told_bytes) {
                (Some(bytes), told) => state.engine.packet_refused(now, peer, bytes, told),
                (None, Some(told)) => state.engine.packet_too_big(now, peer, told),
                (None, None) => {}
            });
        }
    }

    /// Judges the system's word that nobody receives at the peer's address. It says so before it hands out
    /// what the peer sent earlier, so this comes when all of that was received.
    fn judge_refusals(&mut self, keeper: &mut Keeper<P>) {
        let times = std::mem::take(&mut self.reported);
        let (Some(peer), true) = (self.peer, times > 0) else { return };
        keeper.counters.refusals += times;
        let persist = self.refusals.refused(keeper.now(), times);
        if keeper.work(|state, _, _, _| state.on_refusal(peer, persist)) {
            self.refusals.heard();
        }
    }
}

impl<P: OverUdp> Carrier for Udp<P> {
    type Protocol = P;
    type PeerState = UdpPeer;

    fn receive(
        &mut self,
        cx: &mut Context<'_>,
        peers: &mut Peers<SocketAddr, UdpPeer>,
        keeper: &mut Keeper<P>,
    ) -> Received {
        while let Poll::Ready(trouble) = self.socket.poll_trouble(cx) {
            self.on_trouble(&trouble, keeper);
        }
        let has_all = self.fetch(cx, peers, keeper);
        self.tell_too_large(keeper);
        if !has_all {
            return Received::Part;
        }
        self.judge_refusals(keeper);
        Received::All
    }

    fn max_segments(&self) -> usize {
        self.socket.max_segments()
    }

    fn heads(&self, transmit: &Transmit<SocketAddr>, peers: &Peers<SocketAddr, UdpPeer>) -> Heads {
        let source = peers.get(transmit.peer).map(|peer| peer.source);
        let fields = NetworkFields { protocol: ip_protocol::UDP, ..transmit.fields };
        let source = local_towards(self.local, transmit.peer, source);
        Heads { source, destination: transmit.peer, fields }
    }

    fn seal(&mut self, batch: &mut Batch<SocketAddr>, _: &Peers<SocketAddr, UdpPeer>) {
        batch.segments_mut().for_each(P::complete);
        batch.insert_path_headers();
    }

    fn flush(
        &mut self,
        cx: &mut Context<'_>,
        batch: &mut Batch<SocketAddr>,
        peers: &Peers<SocketAddr, UdpPeer>,
        counters: &mut Counters,
    ) -> Poll<()> {
        let Some(transmit) = batch.transmit() else { return Poll::Ready(()) };
        let source = peers.get(transmit.peer).map(|peer| peer.source);
        let mut refused_in_a_row = 0;
        let mut too_large_in_a_row = 0;
        // What cannot be set is done without: the datagram is lost then, as on a path that cuts nothing.
        let _ = self.socket.set_cuts(transmit.fields.may_fragment);
        while !batch.is_empty() {
            let part = batch.part(if transmit.fields.may_fragment { 1 } else { self.socket.max_segments() });
            let (bytes, datagrams) = (part.len(), part.len().div_ceil(transmit.segment_bytes.max(1)));
            match self.socket.poll_send(cx, &transmit, source, part) {
                Poll::Pending => {
                    counters.send_waits += 1;
                    return Poll::Pending;
                }
                // The report of an earlier datagram: this one was not sent.
                Poll::Ready(Err(error)) if is_refusal(&error) && refused_in_a_row < MAX_REFUSALS => {
                    refused_in_a_row += 1;
                    self.note_refusal();
                    continue;
                }
                // The device cannot split batches: from now on they are sent one by one.
                Poll::Ready(Err(error)) if datagrams > 1 && self.lost_offload(&error) => continue,
                // It may be a router's report on an earlier datagram, too.
                Poll::Ready(Err(error)) if is_too_large(&error) && too_large_in_a_row < MAX_SIZE_REPORTS => {
                    too_large_in_a_row += 1;
                    continue;
                }
                Poll::Ready(result) => {
                    if result.as_ref().is_err_and(is_too_large) {
                        let segment_bytes = transmit.segment_bytes.min(bytes) as u32;
                        let wire_bytes = segment_bytes + ip_udp_bytes(transmit.peer.ip());
                        self.note_too_large(transmit.peer, Some(wire_bytes));
                    } else if too_large_in_a_row > 0 {
                        self.note_report();
                    }
                    count(counters, &result, datagrams as u64, bytes as u64);
                }
            }
            (refused_in_a_row, too_large_in_a_row) = (0, 0);
            batch.advance(bytes);
        }
        Poll::Ready(())
    }

    fn has_news(&self) -> bool {
        self.reported > 0 || !self.too_large.is_empty()
    }
}

impl<P: OverUdp> Udp<P> {
    /// True if `quinn-udp` has just stopped to use the offload.
    fn lost_offload(&self, error: &io::Error) -> bool {
        matches!(error.raw_os_error(), Some(EIO | EINVAL)) && self.socket.max_segments() == 1
    }
}

/// Address of the socket as `peer` knows it: the one that the peer wrote to, `ip`, if that is known.
fn local_towards(local: SocketAddr, peer: SocketAddr, ip: Option<IpAddr>) -> SocketAddr {
    let ip = ip.unwrap_or(local.ip()).to_canonical();
    let of_family = (ip.is_ipv4() == peer.is_ipv4()).then_some(ip);
    let any = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    SocketAddr::new(of_family.unwrap_or(any), local.port())
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(EMSGSIZE)
}

fn count(counters: &mut Counters, result: &io::Result<()>, datagrams: u64, bytes: u64) {
    match result {
        Ok(()) => {
            counters.send_calls += 1;
            counters.sent_datagrams += datagrams;
            counters.sent_bytes += bytes;
        }
        Err(error) if is_too_large(error) => counters.too_large += datagrams,
        Err(_) => counters.send_failures += datagrams,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_is_counted_and_not_fatal() {
        let mut counters = Counters::default();
        count(&mut counters, &Err(io::Error::from_raw_os_error(EMSGSIZE)), 3, 3000);
        count(&mut counters, &Err(io::Error::from(ErrorKind::NetworkUnreachable)), 2, 3000);
        count(&mut counters, &Ok(()), 1, 500);
        assert_eq!((counters.too_large, counters.send_failures), (3, 2));
        assert_eq!((counters.sent_datagrams, counters.sent_bytes, counters.send_calls), (1, 500, 1));
    }
}
