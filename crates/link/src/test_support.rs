//! Short ways to build links and packets for tests.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Event, Instant, NullSink, Packet, PacketMeta};

use crate::{ChannelConfig, ChannelState, DirectionConfig, Link, LinkConfig, Outage, StateConfig};

pub(crate) type Events = Vec<(Instant, u64, Event)>;

pub(crate) const fn at(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

/// A packet of `wire_bytes`, all of them its own, with its number as flow.
pub(crate) fn packet(wire_bytes: u32, number: u32) -> Packet {
    let bytes = vec![number as u8; wire_bytes as usize].into();
    Packet { bytes, meta: PacketMeta { wire_bytes, flow: number, ..PacketMeta::default() } }
}

/// A packet of which only the size is there.
pub(crate) fn hollow(wire_bytes: u32, number: u32) -> Packet {
    Packet { meta: PacketMeta { wire_bytes, flow: number, ..PacketMeta::default() }, ..Packet::default() }
}

/// A link with the same properties both ways, called `l`.
pub(crate) fn both_ways(direction: DirectionConfig) -> LinkConfig {
    LinkConfig {
        name: "l".to_string(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    }
}

pub(crate) fn with_outages(mut config: LinkConfig, outages: &[(u64, u64)]) -> LinkConfig {
    config.outages = outages.iter().map(|&(from, to)| Outage { from: at(from), to: at(to) }).collect();
    config
}

/// A state of a channel: its mean stay, its loss, and its two delays.
pub(crate) fn state(mean_stay_ns: u64, loss: f64, [min_delay_ns, max_delay_ns]: [u64; 2]) -> StateConfig {
    StateConfig { mean_stay_ns, loss, min_delay_ns, max_delay_ns }
}

/// With a channel that begins in its good state.
pub(crate) fn with_channel(mut config: LinkConfig, good: StateConfig, bad: StateConfig) -> LinkConfig {
    config.channel = Some(ChannelConfig { good, bad, start: ChannelState::Good });
    config
}

pub(crate) fn link(config: &LinkConfig, seed: u64) -> Link {
    Link::new(config.clone(), seed, 7).unwrap()
}

/// Hands in `count` packets of `wire_bytes` at port 0, all at time zero, numbered from 0.
pub(crate) fn burst(link: &mut Link, count: u32, wire_bytes: u32) {
    for number in 0..count {
        link.handle(Instant::ZERO, 0, packet(wire_bytes, number), &mut NullSink);
    }
}

/// Everything that is left inside: delivery time, port, packet.
pub(crate) fn drain(link: &mut Link) -> Vec<(Instant, u32, Packet)> {
    let mut out = Vec::new();
    while let Some(due) = link.deadline() {
        let (port, packet) = link.poll_transmit(due).unwrap();
        out.push((due, port, packet));
    }
    out
}

/// The numbers of the packets that are left inside, as they arrive.
pub(crate) fn drain_numbers(link: &mut Link) -> Vec<u32> {
    drain(link).iter().map(|(_, _, packet)| packet.meta.flow).collect()
}

/// Time, port and cause of every drop.
pub(crate) fn drops(events: &Events) -> Vec<(u64, u32, DropCause)> {
    let drop = |&(at, source, event): &(Instant, u64, Event)| {
        assert_eq!(source, 7);
        match event {
            Event::LinkDrop { port, cause, .. } => (at.as_ns(), port, cause),
            other => panic!("links emit nothing but drops: {other:?}"),
        }
    };
    events.iter().map(drop).collect()
}
