//! Path to a peer: sizes, and the governor of the rate that its connections share.
//!
//! Other things that belong to the way to a peer rather than to a connection, and where they stand today:
//!
//! - Proof of the peer's address, keepalive, silence and giving up: each STP or TCP connection does its own.
//!   They would become fields of [`Path`] beside the governor, asked like [`Path::grant`].
//! - Probing of an outage: each STP connection asks for itself and tells the path ([`Path::outage`]).
//! - The MTU: STP's is found out here ([`Path::discover_mtu`]); each TCP connection keeps its own below
//!   [`Path::mtu_bytes`].

use alloc::boxed::Box;
use core::net::IpAddr;

use crate::circuit_breaker::CircuitBreaker;
use crate::event::{Phase, ResumePhase, RuledBy};
use crate::fair_queue::{FairQueue, FairShare};
use crate::token_bucket::TokenBucket;
use crate::{
    ConnectionId, Demand, Instant, MtuBounds, Others, Pacer, PathController, PathEstimate, PathFeedback,
    PathHeader, PathMtu, PathSample, UNMEASURED_RATE_BPS,
};

/// IP header bytes in front of every packet to `peer`, without options.
pub const fn ip_bytes(peer: IpAddr) -> u32 {
    match peer {
        IpAddr::V4(_) => 20,
        IpAddr::V6(_) => 40,
    }
}

/// IP and UDP header bytes in front of every datagram to `peer`.
pub const fn ip_udp_bytes(peer: IpAddr) -> u32 {
    ip_bytes(peer) + 8
}

/// Number of the host that an address is of: an address of IPv4, or a network of 64 bits of IPv6, of which
/// one host has all addresses.
pub fn host_number(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u64::from(ip.to_bits()),
        // Networks of IPv6 begin with 2000::/3 or fc00::/6: no address of IPv4 is among them.
        IpAddr::V6(ip) => (ip.to_bits() >> 64) as u64,
    }
}

/// Sizes of what is sent over a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConfig {
    /// Largest IP packet, in bytes.
    pub mtu_bytes: u32,
    /// Bytes that carriers put around a segment outside of the datagram's body (IP, UDP).
    pub carrier_bytes: u32,
    /// Bytes kept free in front of each segment for the envelope.
    pub head_bytes: u32,
    /// Bytes kept free behind each segment for a seal.
    pub tail_bytes: u32,
}

/// Rate that somebody declared for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredRate {
    /// Bit/s; every IP byte counts.
    pub rate_bps: u64,
    /// Credit for a sender that wakes up late, as time at this rate.
    pub burst_ns: u64,
    /// How fast credit leaves; `None`: at once.
    pub peak: Option<Peak>,
}

/// Rate at which saved credit leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Bit/s; no less than the declared rate, or it is that.
    pub rate_bps: u64,
    /// What leaves at once beside the packet that is due, as time at this rate.
    pub burst_ns: u64,
}

/// Bounds that one connection sets to a measured rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCaps {
    /// Lowest rate of the path in bit/s.
    pub min_bps: u64,
    /// Highest rate of this connection in bit/s; where it is below the lowest, the lowest holds. The
    /// connection keeps to it by a pacer of its own.
    pub max_bps: u64,
}

/// Terms on which a connection sends that goes by its path's rate instead of a window of its own, as it last
/// took them. A connection that measures keeps the last ones until it asks again, whatever has become of the
/// path meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Rate at which this connection may send at most, in bit/s of IP bytes: that of the path, which all its
    /// connections share, within the connection's caps.
    pub rate_bps: u64,
    /// Payload bytes that this connection may have under way.
    pub window_bytes: u64,
    /// Phase of the governor, for events.
    pub phase: Phase,
    /// Name of the governor, for reports.
    pub name: &'static str,
}

impl Terms {
    /// Terms of a connection that declared the rate: no window, and losses do not change it [STP 5.1.2,
    /// 5.2.3].
    pub const fn declared(rate_bps: u64) -> Self {
        Self { rate_bps, window_bytes: u64::MAX, phase: Phase::FixedRate, name: "fixed-rate" }
    }

    /// Terms before the path was asked: `window_bytes` may leave.
    pub const fn unmeasured(window_bytes: u64, name: &'static str) -> Self {
        Self { rate_bps: 1, window_bytes, phase: Phase::Measuring, name }
    }

    /// True if no rate is known and none could be assumed: what may leave leaves at once.
    pub fn is_unpaced(&self) -> bool {
        self.phase == Phase::Measuring && self.rate_bps >= UNMEASURED_RATE_BPS
    }
}

/// Governor of a path's rate. It changes in three ways only: a rate is declared (from then on it is declared,
/// until the last connection has left), a connection begins to measure where no rate is kept, and one that
/// measures gives up.
#[derive(Clone, Debug)]
enum Governor {
    /// No rate is kept: the window of each connection decides alone.
    Windowed,
    /// Somebody declared the rate, which holds unless most is lost. A connection with a window keeps to both.
    Declared(TokenBucket, CircuitBreaker),
    /// A controller finds the rate out.
    Measured(Pacer, Box<dyn PathController>),
}

/// Bytes of the header that packets with data carry for this controller.
fn header_bytes(controller: &dyn PathController) -> u32 {
    if controller.asks() { PathHeader::BYTES.into() } else { 0 }
}

/// Path to one peer: sizes, rate and turns of everything that is sent there. Its connections borrow it while
/// they work (owners: endpoint > path > connection); they report, and ask for a grant.
#[derive(Clone, Debug)]
pub struct Path {
    config: PathConfig,
    governor: Governor,
    /// Lowest measured rate in bit/s: the highest that a connection asked for, until the last has left.
    floor_bps: u64,
    /// Segment bytes sent by connections that measure.
    measured_octets: u64,
    queue: FairQueue,
    /// Size of packets that is being found out; `None`: it is that of the configuration.
    mtu: Option<PathMtu>,
    /// Bytes kept free in packets with data for a path header.
    header_bytes: u32,
}

impl Path {
    /// Path of these sizes without a rate.
    pub fn new(config: PathConfig) -> Self {
        let PathConfig { mtu_bytes, carrier_bytes, head_bytes, tail_bytes } = config;
        debug_assert!(
            mtu_bytes > carrier_bytes + head_bytes + tail_bytes,
            "no room for a segment: {config:?}"
        );
        Self {
            config,
            governor: Governor::Windowed,
            floor_bps: 1,
            measured_octets: 0,
            queue: FairQueue::default(),
            mtu: None,
            header_bytes: 0,
        }
    }

    /// Begins to find out the largest packet that the path takes, if nobody does yet. `remembered_bytes`:
    /// what it was once.
    pub fn discover_mtu(&mut self, bounds: MtuBounds, remembered_bytes: Option<u32>) {
        let max_bytes = self.config.mtu_bytes;
        self.mtu.get_or_insert_with(|| PathMtu::new(bounds, max_bytes, remembered_bytes));
    }

    /// Size of packets that is being found out, if it is.
    pub fn mtu(&self) -> Option<&PathMtu> {
        self.mtu.as_ref()
    }

    /// The same, for a change.
    pub fn mtu_mut(&mut self) -> Option<&mut PathMtu> {
        self.mtu.as_mut()
    }

    /// Sizes.
    pub fn config(&self) -> &PathConfig {
        &self.config
    }

    /// Largest IP packet to make now, in bytes.
    pub fn mtu_bytes(&self) -> u32 {
        self.mtu.as_ref().map_or(self.config.mtu_bytes, PathMtu::new_bytes)
    }

    /// Largest IP packet that leaves whole, in bytes: more than [`Self::mtu_bytes`] while it is in doubt that
    /// the path takes it.
    pub fn whole_mtu_bytes(&self) -> u32 {
        self.mtu.as_ref().map_or(self.config.mtu_bytes, PathMtu::packet_bytes)
    }

    /// Largest segment that leaves whole.
    pub fn max_whole_segment_bytes(&self) -> usize {
        self.segment_bytes(self.whole_mtu_bytes())
    }

    /// Largest segment (transport header included) that fits into that, in bytes.
    pub fn max_segment_bytes(&self) -> usize {
        self.segment_bytes(self.mtu_bytes())
    }

    /// Largest segment that is to be taken from the peer.
    pub fn max_taken_segment_bytes(&self) -> usize {
        self.segment_bytes(self.mtu.as_ref().map_or(self.config.mtu_bytes, PathMtu::taken_bytes))
    }

    /// Segment with data that makes an IP packet of `wire_bytes`.
    pub fn segment_bytes(&self, wire_bytes: u32) -> usize {
        wire_bytes.saturating_sub(self.data_wire_bytes(0)) as usize
    }

    /// Octets by which a segment must grow at least, so that this machine cuts it; `None`: it need not be
    /// cut, or others can.
    pub fn filler_bytes(&self, segment_bytes: usize) -> Option<usize> {
        let wire_bytes = self.wire_bytes(segment_bytes);
        let cut_above_bytes = self.mtu.as_ref().and_then(|mtu| mtu.cut_above_bytes(wire_bytes))?;
        (cut_above_bytes >= wire_bytes).then(|| (cut_above_bytes - wire_bytes + 1) as usize)
    }

    /// True if the path is not known to take so many bytes, head and tail included.
    pub fn is_oversize(&self, bytes: usize) -> bool {
        bytes as u64 + u64::from(self.config.carrier_bytes) > u64::from(self.whole_mtu_bytes())
    }

    /// Size on the wire of a segment of `segment_bytes` with data, for which packets with a path header have
    /// that, too.
    pub fn data_wire_bytes(&self, segment_bytes: usize) -> u32 {
        self.wire_bytes(segment_bytes) + self.header_bytes
    }

    /// Size on the wire of a segment of `segment_bytes` without path header.
    pub fn wire_bytes(&self, segment_bytes: usize) -> u32 {
        let PathConfig { carrier_bytes, head_bytes, tail_bytes, .. } = self.config;
        segment_bytes as u32 + carrier_bytes + head_bytes + tail_bytes
    }

    fn pacer(&self) -> Option<&Pacer> {
        match &self.governor {
            Governor::Windowed => None,
            Governor::Declared(bucket, _) => Some(bucket.pacer()),
            Governor::Measured(pacer, _) => Some(pacer),
        }
    }

    fn controller(&self) -> Option<&dyn PathController> {
        match &self.governor {
            Governor::Measured(_, controller) => Some(&**controller),
            Governor::Windowed | Governor::Declared(..) => None,
        }
    }

    fn controller_mut(&mut self) -> Option<&mut dyn PathController> {
        match &mut self.governor {
            Governor::Measured(_, controller) => Some(&mut **controller),
            Governor::Windowed | Governor::Declared(..) => None,
        }
    }

    /// Declares the rate: what was measured does not overrule it, and a later declaration takes its place.
    /// Earlier packets stay charged, and the first burst holds.
    pub fn declare(&mut self, now: Instant, declared: DeclaredRate) {
        let rate_bps = declared.rate_bps;
        let mut bucket = match &self.governor {
            Governor::Windowed => TokenBucket::new(declared),
            Governor::Declared(bucket, _) => bucket.clone(),
            Governor::Measured(pacer, _) => TokenBucket::of_pacer(pacer.clone(), declared),
        };
        bucket.set_rate(now, rate_bps);
        self.governor = Governor::Declared(bucket, CircuitBreaker::new(now, rate_bps));
        self.header_bytes = 0;
    }

    fn breaker(&self) -> Option<&CircuitBreaker> {
        if let Governor::Declared(_, breaker) = &self.governor { Some(breaker) } else { None }
    }

    /// When the packets left, at the earliest, whose fate is to be told by [`Self::count_arrived`] and
    /// [`Self::count_lost`]; `None` where no rate is declared.
    pub fn fates_since(&self) -> Option<Instant> {
        self.breaker().map(CircuitBreaker::since)
    }

    /// Takes in that so many packets, of so many wire bytes, arrived under a declared rate.
    pub fn count_arrived(&mut self, packets: u64, wire_bytes: u64) {
        if let Governor::Declared(_, breaker) = &mut self.governor {
            breaker.count_arrived(packets, wire_bytes);
        }
    }

    /// Takes in that so many packets are lost under a declared rate, though the link was there.
    pub fn count_lost(&mut self, packets: u64) {
        if let Governor::Declared(_, breaker) = &mut self.governor {
            breaker.count_lost(packets);
        }
    }

    /// A report was read by a sender of which only repeats leave, or not: lowers a declared rate of which
    /// most is lost, or lets it hold again. Result: that rate, if it is another one. While it is in doubt
    /// that packets of this size arrive, nothing is decided.
    pub fn doubt_declared(&mut self, now: Instant, rtt_ns: u64, only_repeats: bool) -> Option<u64> {
        if self.mtu.as_ref().is_some_and(PathMtu::is_in_doubt) {
            return None;
        }
        let Governor::Declared(bucket, breaker) = &mut self.governor else { return None };
        let rate_bps = breaker.conclude(now, rtt_ns, only_repeats)?;
        bucket.set_rate(now, rate_bps);
        if let Some(mtu) = self.mtu.as_mut().filter(|_| breaker.is_open()) {
            mtu.forget_lost_probes(); // a full queue took them
        }
        Some(rate_bps)
    }

    /// True while a declared rate is lowered.
    pub fn is_lowered(&self) -> bool {
        self.breaker().is_some_and(CircuitBreaker::is_open)
    }

    /// Rate that a declared one was lowered to, in bit/s, now, or last where that helped.
    pub fn lowered_bps(&self) -> Option<u64> {
        self.breaker().and_then(CircuitBreaker::lowered_bps)
    }

    /// Begins to measure with the controller that `build` makes, unless a rate is kept already.
    pub fn measure(&mut self, burst_ns: u64, build: impl FnOnce(&Self) -> Box<dyn PathController>) {
        if matches!(self.governor, Governor::Windowed) {
            let controller = build(self);
            self.header_bytes = header_bytes(&*controller);
            self.governor = Governor::Measured(Pacer::new(controller.rate_bps(), burst_ns), controller);
        }
    }

    /// Ends the measuring: the measured rate goes with its controller, since nobody would ever change it
    /// again.
    pub fn stop_measuring(&mut self) {
        if self.is_measured() {
            (self.governor, self.header_bytes) = (Governor::Windowed, 0);
        }
    }

    /// True if a controller measures the rate.
    pub fn is_measured(&self) -> bool {
        matches!(self.governor, Governor::Measured(..))
    }

    /// True if a rate is kept, declared, measured or remembered, that is lower than the one assumed before.
    pub fn has_rate(&self) -> bool {
        self.pacer().is_some_and(|pacer| pacer.rate_bps() < UNMEASURED_RATE_BPS)
    }

    /// Time at which the path's rate lets the next packet leave (in the past: at once); `None` where no rate
    /// is kept.
    pub fn grant(&self) -> Option<Instant> {
        match &self.governor {
            Governor::Windowed => None,
            Governor::Declared(bucket, _) => Some(bucket.ready_at()),
            Governor::Measured(pacer, _) => Some(pacer.ready_at()),
        }
    }

    /// Charges a packet of `wire_bytes` to the path's rate, if one is kept. Whatever is sent counts; what
    /// leaves before its grant delays the next.
    pub fn charge(&mut self, now: Instant, wire_bytes: u32) {
        match &mut self.governor {
            Governor::Windowed => {}
            Governor::Declared(bucket, _) => bucket.spend(now, wire_bytes),
            Governor::Measured(pacer, _) => pacer.spend(now, wire_bytes),
        }
        self.count_sent(wire_bytes);
    }

    /// Charges a packet that waits for no grant, a report or a question. A declared rate is kept whatever
    /// that costs; a measured one may be too low, and it delays data for a while at most
    /// ([`Pacer::spend_unasked`]).
    pub fn charge_unasked(&mut self, now: Instant, wire_bytes: u32) {
        match &mut self.governor {
            Governor::Windowed => {}
            Governor::Declared(bucket, _) => bucket.spend(now, wire_bytes),
            Governor::Measured(pacer, _) => pacer.spend_unasked(now, wire_bytes),
        }
        self.count_sent(wire_bytes);
    }

    fn count_sent(&mut self, wire_bytes: u32) {
        if let Some(mtu) = &mut self.mtu {
            mtu.count_sent(wire_bytes);
        }
    }

    /// Tells the controller what a receiver has reported.
    pub fn report(&mut self, now: Instant, sample: &PathSample) {
        self.change_rule(|controller| controller.on_sample(now, sample));
        let Governor::Measured(pacer, controller) = &mut self.governor else { return };
        let excess_bytes = controller.take_excess_bytes();
        if excess_bytes > 0 {
            pacer.set_rate(now, controller.rate_bps().max(self.floor_bps));
            pacer.spend(now, u32::try_from(excess_bytes).unwrap_or(u32::MAX));
        }
    }

    /// True if packets with data are to carry a path header.
    pub fn asks(&self) -> bool {
        self.header_bytes > 0
    }

    /// Header of a packet with data that leaves now; `None`: it carries none.
    pub fn ask(&mut self, now: Instant, demand: &Demand) -> Option<PathHeader> {
        if !self.asks() {
            return None;
        }
        self.controller_mut().map(|controller| controller.ask(now, demand))
    }

    /// Tells the controller what routers granted, before the sample of that report.
    pub fn take_feedback(&mut self, now: Instant, feedback: &PathFeedback) {
        self.change_rule(|controller| controller.on_feedback(now, feedback));
    }

    /// Tells the controller that the peer takes no path headers, or tells nothing of them.
    pub fn expect_no_feedback(&mut self) {
        self.change_rule(|controller| controller.on_no_feedback());
    }

    /// Calls a method that may end the asking.
    fn change_rule(&mut self, call: impl FnOnce(&mut dyn PathController)) {
        if let Governor::Measured(_, controller) = &mut self.governor {
            call(&mut **controller);
            self.header_bytes = header_bytes(&**controller);
        }
    }

    /// Tells the controller that full packets have this payload from now on.
    pub fn take_packet_size(&mut self, mss_bytes: u64) {
        if let Some(controller) = self.controller_mut() {
            controller.on_packet_size(mss_bytes);
        }
    }

    /// Tells the controller that packets are lost, the newest of which left at this time.
    pub fn take_loss(&mut self, now: Instant, newest_sent_at: Instant) {
        if let Some(controller) = self.controller_mut() {
            controller.on_lost(now, newest_sent_at);
        }
    }

    /// What the rate goes by, where routers were asked, once that is known.
    pub fn ruled_by(&self) -> Option<RuledBy> {
        self.controller().and_then(PathController::ruled_by)
    }

    /// Takes in that the link was gone: what was measured before says nothing.
    pub fn outage(&mut self, now: Instant) {
        if let Governor::Declared(_, breaker) = &mut self.governor {
            breaker.forget(now);
        }
        if let Some(controller) = self.controller_mut() {
            controller.on_outage(now);
        }
    }

    /// Terms of the measured rate within `caps`; `None` where nothing is measured (any more): the connection
    /// keeps the terms that it has. A highest rate lowers what this connection may send, and leaves the rest
    /// to others; a lowest one raises the path's.
    pub fn take_terms(&mut self, now: Instant, caps: RateCaps) -> Option<Terms> {
        let Governor::Measured(pacer, controller) = &mut self.governor else { return None };
        let RateCaps { min_bps, max_bps } = caps;
        self.floor_bps = self.floor_bps.max(min_bps);
        let measured_bps = controller.rate_bps().max(1);
        pacer.set_rate(now, measured_bps.max(self.floor_bps));
        let rate_bps = measured_bps.clamp(min_bps, max_bps.max(min_bps)).max(1);
        let window_bytes = controller.window_bytes().max(1);
        Some(Terms { rate_bps, window_bytes, phase: controller.phase(), name: controller.name() })
    }

    /// Packets of a train that the controller wants now; 0 for none.
    pub fn take_train(&mut self, now: Instant) -> u32 {
        self.controller_mut().map_or(0, |controller| controller.take_train(now))
    }

    /// Packets of the longest train that the controller ever wants.
    pub fn max_train_packets(&self) -> u32 {
        self.controller().map_or(0, PathController::max_train_packets)
    }

    /// Time in which the path's queue empties, if the controller knows it to be a short one.
    pub fn short_queue_ns(&self) -> Option<u64> {
        self.controller().and_then(PathController::short_queue_ns)
    }

    /// What the controller knows of others on the path.
    pub fn others(&self) -> Others {
        self.controller().map_or(Others::Absent, PathController::others)
    }

    /// True if the controller goes by that others have a part of the path: they fill its queue, or did.
    pub fn is_shared(&self) -> bool {
        self.controller()
            .is_some_and(|controller| matches!(controller.phase(), Phase::Competing | Phase::Sharing))
    }

    /// Tells the controller that the first packets, which leave at once, have left.
    pub fn end_first_train(&mut self) {
        if let Some(controller) = self.controller_mut() {
            controller.after_first_train();
        }
    }

    /// Estimate of the path, for connections to come.
    pub fn estimate(&self) -> Option<PathEstimate> {
        self.controller().and_then(PathController::path_estimate)
    }

    /// Step in the use of a remembered path, and the rate and round trip remembered.
    pub fn resumed(&self) -> Option<(ResumePhase, PathEstimate)> {
        self.controller().and_then(PathController::resumed)
    }

    /// Counts a segment of a connection that measures.
    pub fn count_measured(&mut self, segment_bytes: usize) {
        self.measured_octets += segment_bytes as u64;
    }

    /// Segment bytes sent by connections that measure.
    pub fn measured_octets(&self) -> u64 {
        self.measured_octets
    }

    /// Connection that is next among those of the path; it stands in line no more.
    pub fn next_connection(&mut self) -> Option<ConnectionId> {
        self.queue.call()
    }

    /// Takes in that one more connection uses the path.
    pub(crate) fn enter(&mut self) {
        self.queue.users += 1;
    }

    /// Takes in that a connection uses it no more; true if it was the last.
    pub(crate) fn leave(&mut self) -> bool {
        self.queue.users -= 1;
        self.queue.check_invariants(); // whoever left waits no more
        self.queue.users == 0
    }

    /// True if more than one connection uses a rate that the path keeps.
    pub(crate) fn shares_rate(&self) -> bool {
        self.queue.users > 1 && self.grant().is_some()
    }

    /// Puts a connection in line.
    pub(crate) fn line_up(&mut self, id: ConnectionId, share: &mut FairShare) {
        self.queue.enter(id, share, !matches!(self.governor, Governor::Windowed));
    }

    /// Counts what a connection sent in its turn.
    pub(crate) fn count_turn(&mut self, share: &mut FairShare, octets: u64) {
        self.queue.charge(share, octets);
    }

    /// Notes whether a connection that would send at `due` waits for the path's rate.
    pub(crate) fn set_due(&mut self, share: &mut FairShare, due: Option<Instant>) {
        let waits = self.grant().zip(due).is_some_and(|(grant, due)| due <= grant);
        self.queue.set_waiting(share, waits);
        self.queue.check_invariants();
    }
}
