//! Configuration of a link.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use skyhaul_core::Instant;

use crate::{ChannelConfig, ExplicitConfig, PolicerConfig};

/// A duplex link between port 0 and port 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// Name that the random streams are keyed by, as in `NAME/forward/loss`.
    pub name: String,
    /// From port 0 to port 1.
    pub forward: DirectionConfig,
    /// From port 1 to port 0.
    pub reverse: DirectionConfig,
    /// Outages of both directions together: sorted, not overlapping.
    pub outages: Vec<Outage>,
    /// Changes between a good and a bad state, both directions together, beside the outages above.
    /// `None`: none.
    pub channel: Option<ChannelConfig>,
}

impl LinkConfig {
    /// Configuration of the direction that starts at `port`.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn direction(&self, port: u32) -> &DirectionConfig {
        [&self.forward, &self.reverse][port as usize]
    }

    /// Name of the direction that starts at `port`, in front of `/loss`, `/bits` and so on.
    pub(crate) fn direction_name(&self, port: u32) -> String {
        format!("{}/{}", self.name, ["forward", "reverse"][port as usize])
    }
}

/// Least value of a largest packet: every link takes an IPv4 header of 60 bytes and 8 bytes of a fragment
/// [RFC 791 3.2].
pub const MIN_MTU_BYTES: u32 = 68;
/// Largest value of a largest packet, which is what IPv4 can say.
pub const MAX_MTU_BYTES: u32 = 65_535;

/// Configuration of one direction of a link. The default is perfect: no rate limit, no delay, no losses.
#[derive(Clone, Default, PartialEq)]
pub struct DirectionConfig {
    /// Bits per second, counting `wire_bytes` of every packet; at least 1. `None`: unlimited, so a
    /// packet leaves the instant it enters and the queue stays empty.
    pub rate_bps: Option<u64>,
    /// Propagation delay of each packet, in nanoseconds. That of the channel's state comes on top.
    pub delay_ns: u64,
    /// Most that a packet's delay is longer, in nanoseconds: each draws anew, uniformly from 0 to this.
    pub jitter_ns: u64,
    /// Order of packets when the delay changes.
    pub order: Order,
    /// Largest packet, in bytes on the wire, [`MIN_MTU_BYTES`] to [`MAX_MTU_BYTES`]; `None`: there is none. A
    /// larger one is dropped as it enters, unless it may be fragmented
    /// ([`NetworkFields::may_fragment`](skyhaul_core::NetworkFields::may_fragment)).
    pub mtu_bytes: Option<u32>,
    /// Token bucket in front of the queue, which drops what exceeds its rate. `None`: none.
    pub policer: Option<PolicerConfig>,
    /// Limit of what waits and is in service.
    pub queue: QueueLimit,
    /// Drops or marks before that limit is reached. `None`: DropTail.
    pub red: Option<RedConfig>,
    /// Packets of low class enter only while so few wait.
    pub low_limit: LowLimit,
    /// Router of explicit rate control at the queue. `None`: none, and packets keep what is written on them.
    pub explicit: Option<ExplicitConfig>,
    /// Probability that a packet is lost, independent of all others and of its length.
    pub loss: f64,
    /// Losses that come in bursts, beside those above.
    pub burst_loss: BurstLoss,
    /// Probability that a bit arrives wrong, independent of all others: a packet is hit with
    /// probability `1 - (1 - ber)^(8 * wire_bytes)`.
    pub bit_error_rate: f64,
    /// Fate of a packet that is hit by bit errors.
    pub damage: Damage,
    /// Packets that arrive later than their turn.
    pub reordering: Reordering,
    /// Probability that a packet that gets through is delivered twice, independent of all others. The copy
    /// arises behind the serialiser, so it costs no rate; it is as damaged or late as the first one, and
    /// comes out right behind it.
    pub duplication: f64,
    /// Changes of rate, delay and largest packet with time: from the instant of a step until the next one,
    /// its values stand for those above. In the order of time.
    pub schedule: Vec<ScheduleStep>,
}

impl DirectionConfig {
    /// Values that are in force before the first step of the schedule.
    pub fn first_step(&self) -> ScheduleStep {
        let &Self { rate_bps, delay_ns, mtu_bytes, .. } = self;
        ScheduleStep { at: Instant::ZERO, rate_bps, delay_ns, mtu_bytes }
    }
}

impl fmt::Debug for DirectionConfig {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rate_bps,
            delay_ns,
            jitter_ns,
            order,
            mtu_bytes,
            policer,
            queue,
            red,
            low_limit,
            explicit,
            loss,
            burst_loss,
            bit_error_rate,
            damage,
            reordering,
            duplication,
            schedule,
        } = self;
        let mut text = f.debug_struct("DirectionConfig");
        text.field("rate_bps", rate_bps).field("delay_ns", delay_ns).field("order", order);
        if *jitter_ns > 0 {
            text.field("jitter_ns", jitter_ns);
        }
        if let Some(mtu_bytes) = mtu_bytes {
            text.field("mtu_bytes", mtu_bytes);
        }
        if let Some(policer) = policer {
            text.field("policer", policer);
        }
        text.field("queue", queue).field("red", red);
        if *low_limit != LowLimit::default() {
            text.field("low_limit", &low_limit.0);
        }
        if let Some(explicit) = explicit {
            text.field("explicit", explicit);
        }
        text.field("loss", loss).field("burst_loss", burst_loss);
        text.field("bit_error_rate", bit_error_rate).field("damage", damage).field("reordering", reordering);
        text.field("duplication", duplication).field("schedule", schedule).finish()
    }
}

/// A step of a [schedule](DirectionConfig::schedule).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScheduleStep {
    /// First instant of the step. A packet that is being serialised then goes on at the new rate.
    pub at: Instant,
    /// Bits per second; `None`: unlimited.
    pub rate_bps: Option<u64>,
    /// Propagation delay, in nanoseconds, of packets whose serialisation ends at that time or later.
    pub delay_ns: u64,
    /// Largest packet of those that enter at that time or later; `None`: there is none.
    pub mtu_bytes: Option<u32>,
}

impl fmt::Debug for ScheduleStep {
    /// Text that digests of scenarios are made of: the name is the one that they were published with, and a
    /// field that came later is shown where it says something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { at, rate_bps, delay_ns, mtu_bytes } = self;
        let mut text = f.debug_struct("Step");
        text.field("at", &at).field("rate_bps", &rate_bps).field("delay_ns", &delay_ns);
        if let Some(mtu_bytes) = mtu_bytes {
            text.field("mtu_bytes", &mtu_bytes);
        }
        text.finish()
    }
}

/// Limit of a queue: a packet that would exceed it is dropped. It counts the packets that
/// wait and the one in service. At least 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// None of its own; the hard bound [`MAX_PACKETS`](crate::MAX_PACKETS) holds.
    #[default]
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes on the wire. A packet larger than this never fits.
    Bytes(u64),
}

impl QueueLimit {
    /// True if a packet of `wire_bytes` fits beside so many packets with so many bytes. The hard bound
    /// counts, too.
    /// too.
    pub(crate) fn has_room(self, packets: usize, bytes: u64, wire_bytes: u32) -> bool {
        let within_limit = match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes + u64::from(wire_bytes) <= limit,
        };
        within_limit && packets < crate::MAX_PACKETS
    }
}

/// Most packets that may wait, the one in service not counted, when one of low class
/// ([`Class::Low`](skyhaul_core::Class::Low)) enters; it is dropped as by a full queue otherwise. Others
/// never push it out: where few wait, what a low one takes from them is its own service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLimit(pub u32);

impl Default for LowLimit {
    /// One.
    fn default() -> Self {
        Self(1)
    }
}

/// Parameters of random early detection, under the limit of the queue.
///
/// An average of the queue's length follows each arrival with weight `weight`. Below `min` nothing happens.
/// From `min` to `max` a packet is picked with a probability that rises from 0 to `max_probability`, spread
/// so that the picked ones are about evenly apart. Above that every packet is picked; where `gentle`, only
/// from twice `max` on, and the probability rises from `max_probability` to 1 on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Average length from which packets are picked. In packets or in bytes: that is what the queue is
    /// measured in. It counts the packet in service.
    pub min: QueueLimit,
    /// Average length at which `max_probability` is reached, in the same unit; larger than `min`.
    pub max: QueueLimit,
    /// Probability just below `max`, 0 to 1.
    pub max_probability: f64,
    /// Weight of the newest length in the average.
    pub weight: f64,
    /// True if the probability rises further from `max` to twice `max`.
    pub gentle: bool,
    /// Packets of ECN-capable transports are marked where others are dropped, unless every packet is picked
    /// [RFC 3168 7].
    pub ecn: bool,
    /// While the queue is empty the average falls as if packets of so many bytes had passed.
    pub mean_packet_bytes: u64,
}

impl Default for RedConfig {
    /// The parameters of [P-XCP III], and those of ns-2 where the paper has none.
    fn default() -> Self {
        Self {
            min: QueueLimit::Packets(50),
            max: QueueLimit::Packets(100),
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            ecn: false,
            mean_packet_bytes: 500,
        }
    }
}

impl RedConfig {
    /// Both thresholds as numbers of one unit.
    pub(crate) fn thresholds(&self) -> Option<(f64, f64)> {
        let (min, max) = match (self.min, self.max) {
            (QueueLimit::Packets(min), QueueLimit::Packets(max)) => (f64::from(min), f64::from(max)),
            (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => (min as f64, max as f64),
            _ => return None,
        };
        (min < max).then_some((min, max))
    }
}

/// Order of packets when the delay becomes shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// No packet is delivered before an earlier one that is delivered: it waits for it and comes out
    /// at the same instant, behind it. ([`Reordering`] picks packets that are not waited for.)
    #[default]
    Preserve,
    /// Each packet is delivered after its own delay, so later ones may overtake [XSTP 5].
    Free,
}

/// Losses in bursts, after Gilbert and Elliott: a chain of two states that takes one step for each
/// serialised packet. The first packet meets the good state; each is lost with the probability of
/// the state that it meets, then the state may change. The default loses nothing.
///
/// In the long run a part `good_to_bad / (good_to_bad + bad_to_good)` of the packets meets the bad
/// state, `1 / bad_to_good` of them in a row on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BurstLoss {
    /// Probability that the good state ends after a packet.
    pub good_to_bad: f64,
    /// Probability that the bad state ends after a packet.
    pub bad_to_good: f64,
    /// Probability that a packet is lost in the good state.
    pub loss_good: f64,
    /// Probability that a packet is lost in the bad state.
    pub loss_bad: f64,
}

/// Fate of a packet that is hit by bit errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damage {
    /// The layer below notices and discards it.
    #[default]
    Drop,
    /// It is delivered with at least one bit of `Packet::bytes` flipped. A packet that has no bytes
    /// of its own (only counted headers) is dropped.
    Deliver,
}

/// Packets that arrive later than their turn, so that others may overtake them. All other packets
/// keep their order among themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reordering {
    /// Probability that a packet is picked, independent of all others.
    pub probability: f64,
    /// Nanoseconds added to the delay of a picked packet.
    pub extra_delay_ns: u64,
}

/// A time during which a link is down: `from` is the first instant down, `to` the first one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// First instant down.
    pub from: Instant,
    /// First instant up again.
    pub to: Instant,
}
