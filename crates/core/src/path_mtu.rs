//! Packetization layer path MTU discovery [RFC 8899]: the size of packets that a path has shown to carry, and
//! the search for a larger one. It knows no protocol: somebody sends the probes that are due, and tells what
//! became of them and of other packets. Sizes are those of whole IP packets, in bytes.
//!
//! - *Base*: packets have a size that nearly every path takes. It is believed without a probe.
//! - *Searching*: probes beside the data look for the largest size: the bound first, then by halves among the
//!   sizes that links have, then by halves among all. At most one probe is under way.
//! - *Complete*: what is left to gain is not worth a probe. Larger sizes are tried again after a while.
//! - *Error*: not even the base size arrives, so packets have the least size, and IP may cut them.
//!
//! Whether packets of the size found still arrive is told by a row of losses first, and by a comparison with
//! smaller ones then (`black_hole.rs`): while that is in doubt, new packets are smaller than those found.
//!
//! Reports of routers are hints: they choose the next probe, and shorten the proof that large packets vanish.
//! Nothing depends on them, and a forged one costs a probe.

use crate::black_hole::BlackHole;
use crate::usual_losses::UsualLosses;
use crate::{Instant, SECOND};

/// Size of packets before anything is known [RFC 8899 5.1.2]: what every link of IPv6 takes, and with few
/// exceptions those of IPv4.
pub const BASE_MTU_BYTES: u32 = 1280;
/// Least size for IPv4: what every host takes [RFC 791 3.1].
pub const MIN_IPV4_MTU_BYTES: u32 = 576;
/// Least size for IPv6: what every link takes [RFC 8200 5].
pub const MIN_IPV6_MTU_BYTES: u32 = 1280;
/// Largest size: the length field of IP.
pub const MAX_MTU_BYTES: u32 = 65_535;

/// Sizes that links have [RFC 8899 5.3.1]: Ethernet, with tunnels of many kinds and their
/// combinations, jumbo frames, loopback.
const USUAL_BYTES: [u32; 27] = [
    576, 1006, 1280, 1300, 1320, 1340, 1360, 1380, 1400, 1412, 1420, 1436, 1450, 1460, 1472, 1480, 1492,
    1500, 2304, 4352, 4470, 8192, 9000, 9216, 16_384, 32_768, 65_535,
];
/// A probe is given up when this many of a size are lost [RFC 8899 5.1.2] ...
const MAX_TRIES: u32 = 3;
/// ... and that is as unlikely where packets that are known to be small enough are lost as they usually are.
const MAX_CHANCE_OF_TRIES: f64 = 0.01;
/// Part of what is sent that probes may take: a hundredth.
const BUDGET_PART: u64 = 100;
/// The search ends when the size is known but for this part of it.
const WORTHWHILE_PART: u32 = 64;
/// Part of the size of new packets above which what becomes of a packet tells what becomes of those.
const COMPARABLE_PART: u32 = 2;
/// Time after which larger sizes are tried again: at first, and at most [RFC 8899 5.1.1]. It doubles.
const RAISE_NS: (u64, u64) = (5 * SECOND, 600 * SECOND);

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MtuBounds {
    /// Least size of a full packet. Where less gets through, IP cuts packets.
    pub min_bytes: u32,
    /// Size to begin with.
    pub base_bytes: u32,
    /// Largest packet that is to be taken from the peer.
    pub taken_bytes: u32,
    /// Size of the largest packet that leaves this machine whole; 0 where routers cut packets as well, as
    /// with IPv4.
    pub link_bytes: u32,
}

/// State of the search [RFC 8899 5.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuState {
    /// Nothing was found out.
    Base,
    /// Larger sizes are looked for.
    Searching,
    /// The largest size is found.
    Complete,
    /// Packets of the base size vanish.
    Error,
}

/// What is known of the largest packet that a path takes.
#[derive(Clone, Debug)]
pub struct PathMtu {
    bounds: MtuBounds,
    /// Largest size that is to be looked for.
    max_bytes: u32,
    state: MtuState,
    /// Size that the path was found to take.
    packet_bytes: u32,
    /// Least size that is known not to arrive.
    failed_bytes: u32,
    /// Size that somebody named: it is tried next.
    hint_bytes: Option<u32>,
    /// Probe under way.
    probe_bytes: Option<u32>,
    /// Probes of the size looked for that were lost.
    lost_probes: u32,
    black_hole: BlackHole,
    /// When larger sizes are tried again, in state `Complete`; and the time until the next time.
    raise_at: Instant,
    raise_ns: u64,
    sent_bytes: u64,
    probed_bytes: u64,
}

impl PathMtu {
    /// Search up to `max_bytes`. `remembered_bytes`: what an earlier one found; it is tried first.
    pub fn new(bounds: MtuBounds, max_bytes: u32, remembered_bytes: Option<u32>) -> Self {
        let packet_bytes = bounds.base_bytes.min(max_bytes);
        Self {
            bounds,
            max_bytes,
            state: MtuState::Base,
            packet_bytes,
            failed_bytes: u32::MAX,
            hint_bytes: remembered_bytes,
            probe_bytes: None,
            lost_probes: 0,
            black_hole: BlackHole::default(),
            raise_at: Instant::MAX,
            raise_ns: RAISE_NS.0,
            sent_bytes: 0,
            probed_bytes: 0,
        }
    }

    /// Size that the path was found to take: larger packets are cut.
    pub fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    /// Size of full packets that are made now: less than [`Self::packet_bytes`] while that is in doubt.
    pub fn new_bytes(&self) -> u32 {
        self.black_hole.doubted().map_or(self.packet_bytes, |(bytes, _)| bytes)
    }

    /// True while it is in doubt that packets of the size found arrive.
    pub fn is_in_doubt(&self) -> bool {
        self.black_hole.doubted().is_some()
    }

    /// Sizes of packets, one excluded, that are compared with larger ones while it is doubted that these
    /// arrive, and when the first of them leaves; `None`: nothing is in doubt.
    pub fn compared(&self) -> Option<(u32, u32, Instant)> {
        self.black_hole.doubted().map(|(bytes, since)| (bytes / COMPARABLE_PART, bytes, since))
    }

    /// When the oldest large packet left of those that are lost in a row now, which may be too large; `None`:
    /// none is.
    pub fn row_since(&self) -> Option<Instant> {
        self.black_hole.row_since()
    }

    /// Largest packet that is to be taken from the peer.
    pub fn taken_bytes(&self) -> u32 {
        self.bounds.taken_bytes
    }

    /// State of the search.
    pub fn state(&self) -> MtuState {
        self.state
    }

    /// Takes in that no packet above `max_bytes` is to be sent: the peer takes none.
    pub fn limit(&mut self, max_bytes: u32) {
        self.max_bytes = self.max_bytes.min(max_bytes.max(self.bounds.min_bytes));
        self.packet_bytes = self.packet_bytes.min(self.max_bytes);
    }

    /// True if a packet of this size may be cut on its way. A full one must not, or its size would prove
    /// nothing; but one that was made when the path took more must arrive, and so must one that carries no
    /// data and has nothing to prove (`is_control`).
    pub fn may_fragment(&self, wire_bytes: u32, is_control: bool) -> bool {
        let is_small = wire_bytes <= self.bounds.min_bytes;
        let is_least = self.packet_bytes <= self.bounds.min_bytes;
        wire_bytes > self.packet_bytes || is_control && !is_small || is_least && self.cuts_small_ones()
    }

    /// Size above which a packet of `wire_bytes`, which is too large for the path, is cut by this machine, if
    /// nobody else does it.
    pub fn cut_above_bytes(&self, wire_bytes: u32) -> Option<u32> {
        (wire_bytes > self.packet_bytes && self.bounds.link_bytes > 0).then_some(self.bounds.link_bytes)
    }

    /// True if packets of the least size are cut where even less gets through: those of IPv4.
    fn cuts_small_ones(&self) -> bool {
        self.bounds.min_bytes < MIN_IPV6_MTU_BYTES
    }

    /// Counts what was sent: probes are a part of it.
    pub fn count_sent(&mut self, wire_bytes: u32) {
        self.sent_bytes += u64::from(wire_bytes);
    }

    /// Lets one probe of the largest size go before enough was sent: somebody needs its answer.
    pub fn allow_probe(&mut self) {
        self.sent_bytes += BUDGET_PART * u64::from(self.max_bytes);
    }

    /// Bytes of probes sent.
    pub fn probed_bytes(&self) -> u64 {
        self.probed_bytes
    }

    /// Size of a probe that is due now; `None`: none is. The search rests while the size found is in doubt.
    pub fn probe_due(&self, now: Instant) -> Option<u32> {
        if self.is_in_doubt() {
            return None;
        }
        if self.probe_bytes.is_some() || self.state == MtuState::Complete && now < self.raise_at {
            return None;
        }
        let failed_bytes = if self.state == MtuState::Complete { u32::MAX } else { self.failed_bytes };
        let bytes = self.candidate(failed_bytes)?;
        let spent_bytes = self.probed_bytes + u64::from(bytes);
        (spent_bytes.saturating_mul(BUDGET_PART) <= self.sent_bytes).then_some(bytes)
    }

    /// Size to look for, where `failed_bytes` is known to be too large.
    fn candidate(&self, failed_bytes: u32) -> Option<u32> {
        let (low, high) = (self.packet_bytes, failed_bytes.min(self.max_bytes.saturating_add(1)));
        let between = |bytes: &u32| low < *bytes && *bytes < high;
        if let Some(hint) = self.hint_bytes.filter(between) {
            return Some(hint);
        }
        if high > self.max_bytes {
            return Some(self.max_bytes).filter(between);
        }
        let first = USUAL_BYTES.partition_point(|&bytes| bytes <= low);
        let end = USUAL_BYTES.partition_point(|&bytes| bytes < high);
        if first < end {
            return Some(USUAL_BYTES[first + (end - first) / 2]);
        }
        (high > low + (low / WORTHWHILE_PART).max(8)).then(|| low + (high - low) / 2)
    }

    /// A probe left.
    pub fn probe_sent(&mut self, bytes: u32) {
        if self.state == MtuState::Complete {
            self.failed_bytes = u32::MAX;
            self.raise_ns = self.raise_ns.saturating_mul(2).min(RAISE_NS.1);
        }
        self.state = MtuState::Searching;
        self.probe_bytes = Some(bytes);
        self.probed_bytes += u64::from(bytes);
    }

    /// A probe arrived.
    pub fn probe_acked(&mut self, now: Instant, bytes: u32) {
        if self.probe_bytes == Some(bytes) {
            self.probe_bytes = None;
        }
        if bytes <= self.packet_bytes || bytes > self.max_bytes {
            return;
        }
        self.packet_bytes = bytes;
        if self.failed_bytes <= bytes {
            self.failed_bytes = u32::MAX; // the one that failed was lost by chance, or the path has changed
        }
        self.black_hole.end_doubt();
        self.lost_probes = 0;
        self.settle(now);
    }

    /// A probe was lost.
    pub fn probe_lost(&mut self, now: Instant, bytes: u32) {
        if self.probe_bytes != Some(bytes) {
            return;
        }
        self.probe_bytes = None;
        self.lost_probes += 1;
        let is_told = self.hint_bytes.is_some_and(|hint| hint < bytes && hint > self.packet_bytes);
        if is_told || self.has_tried_enough() {
            self.fail(now, bytes);
        }
    }

    fn has_tried_enough(&self) -> bool {
        self.lost_probes >= MAX_TRIES
            && self.black_hole.chance_of_row(self.lost_probes) <= MAX_CHANCE_OF_TRIES
    }

    /// Size `bytes` does not arrive.
    fn fail(&mut self, now: Instant, bytes: u32) {
        self.failed_bytes = self.failed_bytes.min(bytes);
        self.hint_bytes = self.hint_bytes.filter(|&hint| hint < bytes);
        self.lost_probes = 0;
        self.settle(now);
    }

    /// Ends the search, if nothing is left to look for.
    fn settle(&mut self, now: Instant) {
        let is_over = self.candidate(self.failed_bytes).is_none();
        if is_over && self.state != MtuState::Complete {
            self.state = MtuState::Complete;
            self.raise_at = now.after(self.raise_ns);
            self.hint_bytes = None;
        }
    }

    /// What took the probes that are lost was no matter of their size: the search goes on.
    pub fn forget_lost_probes(&mut self) {
        (self.failed_bytes, self.lost_probes) = (u32::MAX, 0);
        if self.state == MtuState::Complete {
            self.state = MtuState::Searching;
        }
    }

    /// This machine refused to send a packet of `bytes`, or would refuse it; its route takes `told_bytes`,
    /// if it says that.
    pub fn refused(&mut self, now: Instant, bytes: u32, told_bytes: Option<u32>) {
        let told_bytes = told_bytes.filter(|&told| told < bytes);
        if self.probe_bytes.is_some_and(|probe| probe >= bytes) {
            self.probe_bytes = None;
        }
        if bytes <= self.packet_bytes {
            let refuge_bytes = self.refuge_bytes();
            self.fall(told_bytes.unwrap_or(if refuge_bytes < bytes { refuge_bytes } else { 0 }));
        }
        self.hint_bytes = told_bytes;
        self.fail(now, bytes);
    }

    /// A router says that `bytes` is the largest packet that it can forward. Anybody can forge that.
    pub fn told(&mut self, now: Instant, bytes: u32) {
        if bytes > self.packet_bytes && bytes < self.failed_bytes.min(self.max_bytes) {
            self.hint_bytes = Some(bytes);
        } else if bytes < self.packet_bytes && bytes >= self.bounds.min_bytes.min(BASE_MTU_BYTES) {
            self.black_hole.take_told(bytes, now);
        }
    }

    /// Size that packets fall to if they vanish.
    fn refuge_bytes(&self) -> u32 {
        let base_bytes = self.bounds.base_bytes;
        if self.packet_bytes > base_bytes { base_bytes } else { self.bounds.min_bytes.min(base_bytes) }
    }

    /// True if not even packets of the size that they have now are sure to arrive.
    pub fn is_doubtful(&self) -> bool {
        !self.black_hole.has_seen_arrival() && self.telling_bytes() < self.packet_bytes
    }

    /// Size above which the loss of a packet tells anything.
    pub fn telling_bytes(&self) -> u32 {
        self.refuge_bytes()
    }

    /// True if that of one of this size does. Larger ones than are sent now may have been cut.
    fn is_telling(&self, bytes: u32) -> bool {
        self.telling_bytes() < bytes && bytes <= self.packet_bytes
    }

    /// A packet above [`Self::telling_bytes`], which left at `sent_at`, arrived.
    pub fn arrived(&mut self, sent_at: Instant) {
        self.black_hole.large_arrived(sent_at);
    }

    /// Least size of a packet that is as large as they are, but for control.
    pub fn full_bytes(&self) -> u32 {
        UsualLosses::full_bytes(self.packet_bytes)
    }

    /// So many packets of at least [`Self::full_bytes`] arrived, the last of which left at `sent_at`; told
    /// before [`Self::arrived`].
    pub fn arrived_full(&mut self, sent_at: Instant, packets: u32) {
        self.black_hole.full_arrived(sent_at, packets);
    }

    /// So many packets arrived that [`Self::compared`] tells of.
    pub fn arrived_small(&mut self, packets: u32) {
        self.black_hole.small_arrived(packets);
    }

    /// A packet with data, which left at `sent_at`, is missing, though something that left later arrived.
    pub fn lost(&mut self, bytes: u32, sent_at: Instant) {
        if self.is_telling(bytes) {
            self.black_hole.large_lost(sent_at);
        } else if self.compared().is_some_and(|(above, most, _)| above < bytes && bytes <= most) {
            self.black_hole.small_lost(sent_at);
        }
    }

    /// A report was read: decides whether large packets vanish. True if packets are smaller from now on.
    pub fn conclude(&mut self, now: Instant) -> bool {
        let (lost_bytes, min_bytes) = (self.packet_bytes, self.bounds.min_bytes);
        if lost_bytes <= min_bytes || !self.black_hole.conclude(now, self.refuge_bytes(), min_bytes) {
            return false;
        }
        let doubted_bytes = self.black_hole.doubted().map(|(bytes, _)| bytes);
        let told_bytes = self.black_hole.told_bytes().or(doubted_bytes);
        self.fall(told_bytes.unwrap_or_else(|| self.refuge_bytes()));
        // It may have been something else: an outage, a queue.
        self.hint_bytes = Some(lost_bytes);
        true
    }

    /// The path is another one: the search begins anew, with the size that packets had.
    pub fn restart(&mut self) {
        let last_bytes = self.packet_bytes;
        self.fall(self.bounds.base_bytes);
        (self.black_hole, self.hint_bytes) = (BlackHole::default(), Some(last_bytes));
    }

    /// Packets are of `bytes` from now on, and the search begins anew.
    fn fall(&mut self, bytes: u32) {
        let bytes = bytes.max(self.bounds.min_bytes).min(self.packet_bytes);
        self.packet_bytes = bytes;
        self.state = if bytes < self.bounds.base_bytes { MtuState::Error } else { MtuState::Base };
        (self.failed_bytes, self.lost_probes) = (u32::MAX, 0);
        (self.probe_bytes, self.raise_ns) = (None, RAISE_NS.0);
        self.black_hole = self.black_hole.behind_fall();
    }
}

#[cfg(test)]
#[path = "path_mtu_tests.rs"]
mod tests;
