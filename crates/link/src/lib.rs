//! The emulated medium as a state machine without a clock: packets go in with a timestamp and come
//! out later at the other port, or are dropped with a cause. The simulator runs it in virtual time,
//! the emulator in real time.
//!
//! The way of a packet through one direction:
//!
//! 0. **Largest packet** ([`DirectionConfig::mtu_bytes`]): a larger one is dropped, or crosses as fragments.
//!    See below.
//! 1. **Policer** ([`PolicerConfig`]): a token bucket that drops what exceeds a rate, and delays nothing.
//!    Then the **queue**: DropTail, or random early detection in front of it ([`RedConfig`]), which drops
//!    packets or marks those of ECN-capable transports. Packets of low class enter only while few wait
//!    ([`LowLimit`]). A router of explicit rate control ([`ExplicitConfig`]) writes on packets as their
//!    serialisation begins.
//!    The limit counts the packets that wait and the one in service; a packet's place is free as soon as its
//!    last bit has left the sender's side.
//! 2. **Serialisation** at the direction's rate, in exact integers: `wire_bytes * 8 * 10^9 / rate`
//!    nanoseconds, the fraction carried into the next packet. The fraction is forgotten when the server
//!    idles. The rate may change with time ([`DirectionConfig::schedule`]): a packet that is being serialised
//!    then goes on at the new one. The server keeps sending while the link is down: it does not know.
//! 3. **Outage.** A packet is lost if the link is down by schedule at any instant of its serialisation, first
//!    and last instant included. One that has left entirely before the outage arrives.
//! 4. **Channel** ([`ChannelConfig`]): a state shared by both directions, with a loss probability and a
//!    delay. What counts is the state at the instant when the packet's serialisation ends (on a link without
//!    a rate: when it enters), for its loss and for its delay. A state that loses everything is an outage,
//!    too; losses in others are random losses.
//! 5. **Random loss**, single and in **bursts**, then **bit errors**. Every serialised packet takes its draws
//!    for the channel's state and each of these, also when an outage takes it anyway: the losses of a stream
//!    of packets depend on the seed and the packets' places in the stream, not on their lengths or on the
//!    outages. If several things happen to one packet, the cause is the first of outage, random loss, bit
//!    error.
//! 6. **Propagation**: the direction's delay and the channel's, as they are when the serialisation ends. When
//!    they become shorter, order is preserved or not ([`Order`]). Packets picked to be reordered get an extra
//!    delay on top; where order is preserved, only these can be overtaken. Packets picked to be
//!    **duplicated** come out twice.
//!
//! A packet that may be fragmented and is too large stays one packet, with one place in the queue: its
//! fragments are serialised one after the other, each with an IPv4 header of 20 bytes, and each takes draws
//! of its own. It is lost if any of them is, late if any is late, duplicated if all are. It arrives whole,
//! but its meta data say what it was cut to, and further links carry it in fragments of that size or less.
//! What counters call its bytes is the whole packet; the bytes served are those of its fragments.
//!
//! Nothing that comes later changes what happens to a packet, so all of this is decided as it enters. See
//! [`Link::handle`] for what that means for events and counters. The exception: somebody changes the running
//! link ([`Link::set_rate`] and its like). Then what was to happen to packets that have not left is decided
//! anew, with the draws that they had.
//!
//! Equal configurations, seeds and inputs give equal outputs on every machine. Probabilities become
//! integers when the link is built; no later decision touches a float, but for the lengths of the
//! channel's stays (one logarithm of a portable library each) and the average queue of random early
//! detection (sums and products, and a power of that library after an idle time).
//!
//! [`Arq`] is a link layer above one that repeats what was lost. [`Signals`] are those of a router between
//! links: it learns of packets that noise took
//! ([`Link::take_damaged`]).
//!
//! Left out: queues of several classes, outages of one direction only, and word to the sender of a packet
//! that was too large (an emulator gives it).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arq;
mod burst;
mod capacity;
mod chance;
mod channel;
mod channel_config;
mod check;
mod conditions;
mod config;
mod counters;
mod damage;
mod direction;
mod explicit;
mod fragments;
mod impairments;
mod line;
mod link;
mod live;
mod outages;
mod policer;
mod presets;
mod queue;
mod red;
mod replan;
mod serializer;
mod signals;
mod stays;
mod timeline;
mod under_way;
mod waits;

#[cfg(test)]
mod arq_tests;
#[cfg(test)]
mod burst_tests;
#[cfg(test)]
mod capacity_tests;
#[cfg(test)]
mod chance_tests;
#[cfg(test)]
mod channel_tests;
#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod conditions_tests;
#[cfg(test)]
mod conservation_tests;
#[cfg(test)]
mod duplication_tests;
#[cfg(test)]
mod explicit_tests;
#[cfg(test)]
mod impairments_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod mtu_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod outages_tests;
#[cfg(test)]
mod policer_tests;
#[cfg(test)]
mod presets_tests;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod red_tests;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod serializer_tests;
#[cfg(test)]
mod stays_tests;
#[cfg(test)]
mod test_support;

pub use arq::{Arq, ArqConfig, Delivery};
pub use capacity::carried_packets;
pub use channel_config::{ChannelConfig, ChannelState, MIN_MEAN_STAY_NS, StateConfig};
pub use check::{ConfigError, Problem};
pub use conditions::Conditions;
pub use config::{
    BurstLoss, Damage, DirectionConfig, LinkConfig, LowLimit, MAX_MTU_BYTES, MIN_MTU_BYTES, Order, Outage,
    QueueLimit, RedConfig, Reordering, ScheduleStep,
};
pub use counters::{Drops, LinkCounters};
pub use explicit::ExplicitConfig;
pub use link::Link;
pub use policer::PolicerConfig;
pub use presets::{PRESETS, preset};
pub use queue::MAX_PACKETS;
pub use signals::{Passing, Quote, SignalConfig, SignalMessage, Signals};
pub use skyhaul_xcp::Discipline;
pub use stays::{Stay, Stays};
pub use waits::WaitHistogram;
