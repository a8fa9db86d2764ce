//! Tables within that of a link: its directions and its channel of two states.

use std::sync::LazyLock;

use skyhaul_link::{
    ArqConfig, BurstLoss, ChannelConfig, ChannelState, Damage, Delivery, DirectionConfig, Discipline,
    ExplicitConfig, MIN_MEAN_STAY_NS, Order, PolicerConfig, RedConfig, Reordering, StateConfig,
};

use crate::error::ScenarioError;
use crate::keys::{Key, join, read_table};
use crate::kinds::{
    Bytes, Choice, Count, Kind, Maybe, MtuBytes, Or, PayloadBytes, Probability, Queue, Rate, Switch, Time,
};
use crate::tree::Node;

pub(crate) fn direction_keys() -> &'static [Key<DirectionConfig>] {
    static KEYS: LazyLock<Vec<Key<DirectionConfig>>> = LazyLock::new(|| {
        vec![
            Key::new("rate", Or("unlimited", Rate), |d: &mut DirectionConfig| &mut d.rate_bps).means(
                "Rate, counting whole IP packets. Unlimited: a packet takes no time and the queue \
             stays empty.",
            ),
            Key::new("delay", Time::default(), |d: &mut DirectionConfig| &mut d.delay_ns)
                .means("Propagation delay. That of the channel's state comes on top."),
            Key::new("jitter", Time::default(), |d: &mut DirectionConfig| &mut d.jitter_ns)
                .means("Most that a packet's delay is longer: each draws anew, uniformly from 0 to this."),
            Key::new(
                "order",
                Choice(&[("preserve", Order::Preserve), ("free", Order::Free)]),
                |d: &mut DirectionConfig| &mut d.order,
            )
            .means(
                "When the delay becomes shorter, by the channel or by jitter: packets wait for earlier ones \
             (`preserve`), or may overtake them (`free`, as in [XSTP 5]).",
            ),
            Key::new("mtu", Or("none", MtuBytes), |d: &mut DirectionConfig| &mut d.mtu_bytes).means(
                "Largest IP packet. A larger one is dropped as it enters, unless it says that it may be \
             fragmented; then it crosses as IP fragments.",
            ),
            Key::custom("policer", "a table", read_policer).means(
                "Token bucket in front of the queue: packets beyond its rate and what it has saved are dropped.",
            ),
            Key::new("queue", Queue, |d: &mut DirectionConfig| &mut d.queue).means(
                "Limit of the queue, the packet in service included. It is DropTail unless `red` is given.",
            ),
            Key::custom("red", "a table", read_red)
                .means("Random early detection: packets are dropped or marked before the queue is full."),
            Key::new("low_limit", Count::at_least(0), |d: &mut DirectionConfig| &mut d.low_limit.0).means(
                "Packets of low class enter only while at most so many wait, the one in service not counted.",
            ),
            Key::custom("explicit", "a table", read_explicit).means(
                "Router of explicit rate control at the queue, which needs a rate at all times \
             ([xcp.md](../spec/xcp.md)).",
            ),
            Key::new("loss", Probability, |d: &mut DirectionConfig| &mut d.loss)
                .means("Probability that a packet is lost, independent of all others."),
            Key::table("burst_loss", burst_keys, |d: &mut DirectionConfig| &mut d.burst_loss)
                .means("Losses in bursts, beside those of `loss`."),
            Key::new("bit_error_rate", Probability, |d: &mut DirectionConfig| &mut d.bit_error_rate)
                .means("Probability that a bit arrives wrong, independent of all others."),
            Key::new(
                "damage",
                Choice(&[("drop", Damage::Drop), ("deliver", Damage::Deliver)]),
                |d: &mut DirectionConfig| &mut d.damage,
            )
            .means(
                "A packet with wrong bits is discarded by the layer below, or delivered with wrong \
             bits.",
            ),
            Key::table("reordering", reordering_keys, |d: &mut DirectionConfig| &mut d.reordering)
                .means("Packets that arrive later than their turn."),
            Key::new("duplication", Probability, |d: &mut DirectionConfig| &mut d.duplication).means(
                "Probability that a packet that gets through is delivered twice, the copy right behind it.",
            ),
        ]
    });
    &KEYS
}

/// Largest bucket: with more it would hardly ever be empty.
const MAX_DEPTH_BYTES: u64 = 1_000_000_000;

pub(crate) fn policer_keys() -> &'static [Key<PolicerConfig>] {
    static KEYS: LazyLock<Vec<Key<PolicerConfig>>> = LazyLock::new(|| {
        vec![
            Key::new("rate", Rate, |p: &mut PolicerConfig| &mut p.rate_bps)
                .without_default()
                .means("Rate that passes in the long run, counting whole IP packets. Required."),
            Key::new("depth", Bytes::at_most(MAX_DEPTH_BYTES), |p: &mut PolicerConfig| &mut p.depth_bytes)
                .without_default()
                .means(
                    "What passes at once of a bucket that is full, as it is in the beginning; a full packet at \
             least. Required.",
                ),
        ]
    });
    &KEYS
}

fn read_policer(direction: &mut DirectionConfig, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let policer = direction.policer.get_or_insert(PolicerConfig { rate_bps: 0, depth_bytes: 0 });
    read_table(policer_keys(), policer, node, path)?;
    let missing = match policer {
        PolicerConfig { rate_bps: 0, .. } => ("rate", Rate.allowed()),
        PolicerConfig { depth_bytes: 0, .. } => ("depth", Bytes::at_most(MAX_DEPTH_BYTES).allowed()),
        _ => return Ok(()),
    };
    let (key, allowed) = missing;
    Err(node.place.refuse(&join(path, key), "nothing", &allowed, "it is required"))
}

pub(crate) fn red_keys() -> &'static [Key<RedConfig>] {
    static KEYS: LazyLock<Vec<Key<RedConfig>>> = LazyLock::new(|| {
        vec![
            Key::new("min", Queue, |r: &mut RedConfig| &mut r.min).means(
                "Average queue from which packets are picked. In packets or in bytes: that is what the queue \
             is measured in.",
            ),
            Key::new("max", Queue, |r: &mut RedConfig| &mut r.max)
                .means("Average queue at which `max_probability` is reached, in the same unit."),
            Key::new("max_probability", Probability, |r: &mut RedConfig| &mut r.max_probability)
                .means("Probability that a packet is picked when the average is at `max`."),
            Key::new("weight", Probability, |r: &mut RedConfig| &mut r.weight)
                .means("Weight of the newest length in the average."),
            Key::new("gentle", Switch, |r: &mut RedConfig| &mut r.gentle).means(
                "From `max` to twice `max` the probability rises to 1, instead of being 1 from `max` on.",
            ),
            Key::new("ecn", Switch, |r: &mut RedConfig| &mut r.ecn).means(
                "Packets of ECN-capable transports are marked where others are dropped, unless every packet \
             is picked [RFC 3168 7].",
            ),
            Key::new("mean_packet", Bytes::at_most(65_535), |r: &mut RedConfig| &mut r.mean_packet_bytes)
                .means(
                    "While the queue is empty the average falls as if packets of this size had passed; with \
             thresholds in bytes, larger packets are picked more often.",
                ),
        ]
    });
    &KEYS
}

fn read_red(direction: &mut DirectionConfig, node: &Node, path: &str) -> Result<(), ScenarioError> {
    read_table(red_keys(), direction.red.get_or_insert_default(), node, path)
}

/// Largest window of a link layer that repeats: both ends keep what is in it.
const MAX_WINDOW_PDUS: u64 = 65_536;

/// Link layer that repeats, as the file says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArqDraft {
    pub(crate) enabled: bool,
    pub(crate) config: ArqConfig,
}

impl Default for ArqDraft {
    fn default() -> Self {
        Self { enabled: true, config: ArqConfig::default() }
    }
}

pub(crate) fn arq_keys() -> &'static [Key<ArqDraft>] {
    static KEYS: LazyLock<Vec<Key<ArqDraft>>> = LazyLock::new(|| {
        vec![
            Key::new("enabled", Switch, |a: &mut ArqDraft| &mut a.enabled)
                .means("False: there is no such layer, as if the table were not there."),
            Key::new("payload", PayloadBytes::ANY, |a: &mut ArqDraft| &mut a.config.payload_bytes)
                .means("Octets of a packet in each PDU that it is cut into, 16 at least."),
            Key::new("overhead", PayloadBytes::ANY, |a: &mut ArqDraft| &mut a.config.overhead_bytes)
                .means("Octets of a PDU beside these, and those of a NACK; 1000 at most."),
            Key::new("window_pdus", Count { min: 1, max: MAX_WINDOW_PDUS }, |a: &mut ArqDraft| {
                &mut a.config.window_pdus
            })
            .means("PDUs that are not acknowledged, at most."),
            Key::new(
                "delivery",
                Choice(&[("in-order", Delivery::InOrder), ("as-it-comes", Delivery::AsItComes)]),
                |a: &mut ArqDraft| &mut a.config.delivery,
            )
            .means("Packets leave as they entered, and wait for those being repaired, or as they are whole."),
        ]
    });
    &KEYS
}

pub(crate) fn explicit_keys() -> &'static [Key<ExplicitConfig>] {
    static KEYS: LazyLock<Vec<Key<ExplicitConfig>>> = LazyLock::new(|| {
        vec![
            Key::new(
                "discipline",
                Choice(&[
                    ("xcp", Discipline::Xcp),
                    ("p-xcp", Discipline::PXcp),
                    ("untaken", Discipline::Untaken),
                ]),
                |e: &mut ExplicitConfig| &mut e.discipline,
            )
            .means(
                "Rule by which it hands out feedback: that of draft-03, that of [P-XCP Fig. 6], or ours, which \
             offers on top what nobody took.",
            ),
            Key::new("set_off", Maybe(Switch), |e: &mut ExplicitConfig| &mut e.set_off).means(
                "A share that a packet refuses is set against what others are to lose. Without the key as the \
             discipline's authors have it: not with `p-xcp`, else yes.",
            ),
        ]
    });
    &KEYS
}

fn read_explicit(direction: &mut DirectionConfig, node: &Node, path: &str) -> Result<(), ScenarioError> {
    read_table(explicit_keys(), direction.explicit.get_or_insert_default(), node, path)
}

pub(crate) fn burst_keys() -> &'static [Key<BurstLoss>] {
    static KEYS: LazyLock<Vec<Key<BurstLoss>>> = LazyLock::new(|| {
        vec![
            Key::new("good_to_bad", Probability, |b: &mut BurstLoss| &mut b.good_to_bad)
                .means("Probability that the good state ends after a packet."),
            Key::new("bad_to_good", Probability, |b: &mut BurstLoss| &mut b.bad_to_good)
                .means("Probability that the bad state ends after a packet."),
            Key::new("loss_good", Probability, |b: &mut BurstLoss| &mut b.loss_good)
                .means("Probability that a packet is lost in the good state."),
            Key::new("loss_bad", Probability, |b: &mut BurstLoss| &mut b.loss_bad)
                .means("Probability that a packet is lost in the bad state."),
        ]
    });
    &KEYS
}

pub(crate) fn reordering_keys() -> &'static [Key<Reordering>] {
    static KEYS: LazyLock<Vec<Key<Reordering>>> = LazyLock::new(|| {
        vec![
            Key::new("probability", Probability, |r: &mut Reordering| &mut r.probability)
                .means("Probability that a packet is picked, independent of all others."),
            Key::new("extra_delay", Time::default(), |r: &mut Reordering| &mut r.extra_delay_ns)
                .means("How much later a picked packet arrives."),
        ]
    });
    &KEYS
}

pub(crate) fn channel_keys() -> &'static [Key<ChannelConfig>] {
    static KEYS: LazyLock<Vec<Key<ChannelConfig>>> = LazyLock::new(|| {
        vec![
            Key::table("good", state_keys, |c: &mut ChannelConfig| &mut c.good)
                .means("The state that is meant to be the better one."),
            Key::table("bad", state_keys, |c: &mut ChannelConfig| &mut c.bad).means("The other one."),
            Key::new(
                "start",
                Choice(&[("good", ChannelState::Good), ("bad", ChannelState::Bad)]),
                |c: &mut ChannelConfig| &mut c.start,
            )
            .means("The state that the run begins in."),
        ]
    });
    &KEYS
}

pub(crate) fn state_keys() -> &'static [Key<StateConfig>] {
    static KEYS: LazyLock<Vec<Key<StateConfig>>> = LazyLock::new(|| {
        vec![
            Key::new("mean_stay", Time { min_ns: MIN_MEAN_STAY_NS }, |s: &mut StateConfig| {
                &mut s.mean_stay_ns
            })
            .without_default()
            .means(
                "Mean of the exponentially distributed lengths of stays. Required, unless a preset \
             brings it.",
            ),
            Key::new("loss", Probability, |s: &mut StateConfig| &mut s.loss).means(
                "Probability that a packet is lost. With 1 the link is down, and its losses count as \
             outages.",
            ),
            Key::new("min_delay", Time::default(), |s: &mut StateConfig| &mut s.min_delay_ns).means(
                "One of the two one-way delays that are drawn for each stay, with equal chance. That \
             of the direction comes on top.",
            ),
            Key::new("max_delay", Time::default(), |s: &mut StateConfig| &mut s.max_delay_ns)
                .means("The other one, not smaller."),
        ]
    });
    &KEYS
}
