use core::net::Ipv4Addr;
use std::vec::Vec;

use bytes::Bytes;
use skyhaul_core::event::RouterSignal;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Instant, MS, NullSink, Packet, PacketMeta, SECOND};

use super::{Passing, QUOTED_BYTES, Quote, SignalConfig, SignalMessage, Signals};
use crate::{DirectionConfig, Link, LinkConfig, Outage};

const LINK: u32 = 3;

fn at_ms(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// Packet from node 1 to node 2 of the connection with these ports, with so many octets of data.
fn packet(ports: u8, data_bytes: usize) -> Passing {
    let mut header = [0; 20];
    (header[1], header[12], header[13]) = (ports, 5 << 4, 0x10);
    let segment: Bytes = [&header[..], &std::vec![7; data_bytes]].concat().into();
    let addresses = [1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host).into());
    Passing { nodes: [1, 2], addresses, protocol: ip_protocol::TCP, segment_bytes: segment.len(), segment }
}

/// What a router quotes of simulated data, which stands in a packet by description, has the length that it
/// has on a wire: a capture, which needs the octets, changed what every message took of a link.
#[test]
fn a_quote_of_data_by_description_is_as_long_as_one_of_octets() {
    let real = packet(5, 1000);
    let described = Passing { segment: real.segment.slice(..28), ..real.clone() };
    let [real, described] = [real, described].map(|packet| Quote::of(&packet).octets());
    assert_eq!((real.len(), described.len()), (QUOTED_BYTES, QUOTED_BYTES));
    assert_eq!(real[..28], described[..28]);
    assert_eq!(Quote::of(&packet(5, 3)).octets().len(), 23);
}

/// Kinds and receivers.
fn said(out: &mut Vec<SignalMessage>) -> Vec<(RouterSignal, u32)> {
    out.drain(..).map(|message| (message.kind, message.to)).collect()
}

#[test]
fn destinations_are_told_while_the_average_is_above_the_threshold() {
    let config = SignalConfig { damage_threshold: 0.2, damage_weight: 0.1, ..SignalConfig::default() };
    let (mut signals, mut out) = (Signals::new(config), Vec::new());
    let mut told_at = Vec::new();
    for n in 0..100 {
        // From the tenth packet on every second one is damaged, until the fiftieth.
        let damaged = u64::from((10..50).contains(&n));
        signals.arrived(at_ms(50 * n), LINK, damaged, Some(&packet(1, 500)), &mut out);
        if said(&mut out) == [(RouterSignal::CorruptionExperienced, 2)] {
            told_at.push(n);
        }
    }
    let (first, last) = (told_at[0], *told_at.last().unwrap());
    assert!((11..16).contains(&first) && (51..65).contains(&last), "{first} to {last}");
    assert_eq!(told_at.len() as u64, last - first + 1, "each one while it is");
}

#[test]
fn all_flows_that_were_seen_lately_are_told_at_once_and_none_too_often() {
    let config = SignalConfig {
        damage_threshold: 0.5,
        damage_weight: 1.0,
        max_destinations: 3,
        destination_age_ns: SECOND,
        ..SignalConfig::default()
    };
    let (mut signals, mut out) = (Signals::new(config), Vec::new());
    for (ms, ports) in [(0, 1), (800, 2), (900, 3), (1000, 4), (2050, 5)] {
        signals.arrived(at_ms(ms), LINK, 0, Some(&packet(ports, 500)), &mut out);
    }
    assert_eq!(said(&mut out), []);
    // A weight of one forgets what was before, so the last packet counts alone: let it weigh less.
    signals.config.damage_weight = 0.9;
    signals.arrived(at_ms(2060), LINK, 30, Some(&packet(5, 500)), &mut out);
    assert_eq!(said(&mut out), [], "0.9 fell to 0.09 by the good one");
    signals.config.damage_weight = 0.3;
    signals.arrived(at_ms(2070), LINK, 30, Some(&packet(5, 500)), &mut out);
    let quoted: Vec<u8> = out.iter().map(|message| message.quote.octets()[1]).collect();
    assert_eq!(quoted, [5], "3 is gone for want of room, 4 is too old");
    out.clear();
    signals.arrived(at_ms(2119), LINK, 5, Some(&packet(5, 500)), &mut out);
    signals.arrived(at_ms(2119), LINK, 5, Some(&packet(6, 500)), &mut out);
    assert_eq!(
        out.iter().map(|message| message.quote.octets()[1]).collect::<Vec<u8>>(),
        [6],
        "50 ms have not passed"
    );
    signals.arrived(at_ms(2120), LINK, 5, Some(&packet(5, 500)), &mut out);
    assert_eq!(out.len(), 2);
}

fn link(outages: &[(u64, u64)]) -> Link {
    let outages = outages.iter().map(|&(from, to)| Outage { from: at_ms(from), to: at_ms(to) }).collect();
    Link::new(LinkConfig { outages, ..LinkConfig::default() }, 1, 1).unwrap()
}

/// What a packet that leaves at this time brings about.
fn leaves(signals: &mut Signals, link: &Link, ms: u64, packet: &Passing) -> Vec<(RouterSignal, u32)> {
    let mut out = Vec::new();
    signals.leaves(at_ms(ms), LINK, link.conditions(), Some(packet), &mut out);
    said(&mut out)
}

#[test]
fn sources_are_told_of_an_outage_and_of_its_end() {
    let (mut signals, link, data) =
        (Signals::new(SignalConfig::default()), link(&[(100, 500)]), packet(1, 500));
    assert_eq!(leaves(&mut signals, &link, 99, &data), []);
    assert_eq!(leaves(&mut signals, &link, 100, &data), [(RouterSignal::LinkOutage, 1)]);
    assert_eq!(leaves(&mut signals, &link, 149, &data), [], "50 ms have not passed");
    assert_eq!(leaves(&mut signals, &link, 150, &data), [(RouterSignal::LinkOutage, 1)]);
    assert_eq!(
        leaves(&mut signals, &link, 150, &packet(2, 0)),
        [],
        "nobody waits for a bare acknowledgement"
    );
    assert_eq!(leaves(&mut signals, &link, 150, &packet(3, 500)), [(RouterSignal::LinkOutage, 1)]);
    assert_eq!(
        (signals.deadline(), signals.waiting().collect::<Vec<_>>()),
        (Some(at_ms(500)), std::vec![LINK])
    );
    let mut out = Vec::new();
    signals.look(at_ms(499), LINK, link.conditions(), &mut out);
    assert_eq!(said(&mut out), []);
    signals.look(at_ms(500), LINK, link.conditions(), &mut out);
    assert_eq!(said(&mut out), [(RouterSignal::LinkRestored, 1); 2], "one for each connection");
    assert_eq!((signals.deadline(), leaves(&mut signals, &link, 500, &data)), (None, std::vec![]));
}

#[test]
fn a_router_sees_an_outage_that_lasts_and_its_end_with_its_delays() {
    let config =
        SignalConfig { outage_delay_ns: 20 * MS, restored_delay_ns: 30 * MS, ..SignalConfig::default() };
    // The second one is too short to be seen; the third follows the end of the first too soon.
    let (mut signals, data) = (Signals::new(config), packet(1, 500));
    let link = link(&[(100, 200), (215, 220), (1000, 1010)]);
    assert_eq!(leaves(&mut signals, &link, 119, &data), []);
    assert_eq!(leaves(&mut signals, &link, 120, &data), [(RouterSignal::LinkOutage, 1)]);
    assert_eq!(signals.deadline(), Some(at_ms(230)));
    assert_eq!(leaves(&mut signals, &link, 205, &data), [(RouterSignal::LinkOutage, 1)], "as it sees it");
    assert_eq!(signals.deadline(), Some(at_ms(230)));
    let mut out = Vec::new();
    signals.look(at_ms(230), LINK, link.conditions(), &mut out);
    assert_eq!((said(&mut out), signals.deadline()), (std::vec![], Some(at_ms(250))), "it went again");
    signals.look(at_ms(250), LINK, link.conditions(), &mut out);
    assert_eq!(said(&mut out), [(RouterSignal::LinkRestored, 1)]);
    assert_eq!(leaves(&mut signals, &link, 1005, &data), []);
    assert_eq!(leaves(&mut signals, &link, 1300, &data), []);
}

#[test]
fn a_forced_outage_has_no_end_until_somebody_ends_it() {
    let (mut signals, mut link, data) = (Signals::new(SignalConfig::default()), link(&[]), packet(1, 500));
    link.force_outage(at_ms(10), None, &mut NullSink).unwrap();
    assert_eq!(leaves(&mut signals, &link, 20, &data), [(RouterSignal::LinkOutage, 1)]);
    assert_eq!(signals.deadline(), None);
    link.end_outage(at_ms(90), &mut NullSink);
    let mut out = Vec::new();
    signals.look(at_ms(90), LINK, link.conditions(), &mut out);
    assert_eq!(said(&mut out), [(RouterSignal::LinkRestored, 1)]);
}

#[test]
fn no_more_flows_are_told_than_there_is_room_for() {
    let config = SignalConfig { max_destinations: 2, ..SignalConfig::default() };
    let (mut signals, link) = (Signals::new(config), link(&[(0, 1000)]));
    let told = (0..5).map(|ports| leaves(&mut signals, &link, 10, &packet(ports, 9)).len()).sum::<usize>();
    assert_eq!(told, 2);
}

/// A link of 1 Mbit/s and 10 ms on which every packet is damaged, from one node to the other.
#[test]
fn damaged_packets_are_told_when_they_would_have_arrived() {
    let forward = DirectionConfig {
        rate_bps: Some(1_000_000),
        delay_ns: 10 * MS,
        bit_error_rate: 1.0,
        ..DirectionConfig::default()
    };
    let mut link = Link::new(LinkConfig { forward, ..LinkConfig::default() }, 1, 1).unwrap();
    let packet = Packet {
        bytes: Bytes::from_static(&[7; 105]),
        meta: PacketMeta { wire_bytes: 125, ..PacketMeta::default() },
    };
    link.handle(at_ms(0), 0, packet.clone(), &mut NullSink);
    assert_eq!(link.take_damaged(1, at_ms(20)), 0, "nobody wanted to know");
    link.watch_damage(1);
    link.handle(at_ms(20), 0, packet.clone(), &mut NullSink);
    link.handle(at_ms(20), 0, packet, &mut NullSink);
    assert_eq!(link.take_damaged(1, at_ms(30)), 0);
    assert_eq!(link.take_damaged(1, at_ms(31)), 1, "a millisecond of serialisation, and 10");
    assert_eq!(link.take_damaged(1, at_ms(99)), 1);
    assert_eq!((link.take_damaged(1, at_ms(99)), link.counters(0, at_ms(99)).dropped.bit_error), (0, 3));
}

/// Behind one node there may be several hosts, and a message goes to the address that the packet had.
#[test]
fn hosts_behind_one_node_are_told_apart_by_their_addresses() {
    let (mut signals, link) = (Signals::new(SignalConfig::default()), link(&[(0, 1000)]));
    let [one, mut other] = [packet(1, 9), packet(1, 9)];
    other.addresses[0] = Ipv4Addr::new(10, 0, 0, 99).into();
    let mut out = Vec::new();
    for packet in [&one, &other, &one] {
        signals.leaves(at_ms(10), LINK, link.conditions(), Some(packet), &mut out);
    }
    signals.arrived(at_ms(10), LINK, 30, Some(&other), &mut out);
    let told: Vec<_> = out.iter().map(|message| (message.kind, message.to, message.to_address)).collect();
    let [source, destination] = other.addresses;
    assert_eq!(
        told,
        [
            (RouterSignal::LinkOutage, 1, one.addresses[0]),
            (RouterSignal::LinkOutage, 1, source),
            (RouterSignal::CorruptionExperienced, 2, destination)
        ]
    );
}
