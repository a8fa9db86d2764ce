//! Routers of an emulation that send signals: what comes out at the hosts, octet by octet.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(clippy::disallowed_methods, reason = "real time")]
#![allow(missing_docs, unreachable_pub, dead_code, reason = "a test")]

mod common;

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use common::{LONG, SHORT, receive, send};
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Ecn, ip};
use skyhaul_emulator::Emulation;
use skyhaul_emulator::control::{Change, LinkQuantity, apply};
use skyhaul_sim::SignalCounters;
use skyhaul_tcp::icmp::{Family, IcmpMessage, SignalNumbers, is_intact, report};

/// A host, a router that sends signals, a link of space, and a host behind it.
fn start() -> (Emulation, OwnedFd, OwnedFd) {
    common::started(
        r#"
[run]
duration = "1h"
[nodes]
centre = { kind = "host" }
station = { kind = "router", signals = {} }
craft = { kind = "host" }
[links.lan]
between = ["centre", "station"]
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[links.space]
between = ["station", "craft"]
forward = { delay = "5ms" }
reverse = { delay = "5ms" }
[transports.t]
protocol = "tcp"
[flows.f]
from = "centre"
to = "craft"
transport = "t"
workload = { kind = "bulk" }
"#,
    )
}

/// Addresses of a network behind a host, of the two hosts and of the router.
const FAMILIES: [[&str; 3]; 3] = [
    ["10.77.0.1", "10.77.0.2", "10.77.128.1"],
    ["10.88.1.2", "10.88.2.2", "10.77.128.1"],
    ["fd77::1", "fd77::2", "fd77::8001"],
];

/// Packet with so many octets of data behind a header of TCP, or of protocol 105, which has a number.
fn packet(from: IpAddr, to: IpAddr, protocol: u8, data_bytes: usize) -> Vec<u8> {
    let mut segment = vec![7; 20 + data_bytes];
    match protocol {
        ip_protocol::TCP => (segment[12], segment[13]) = (5 << 4, 0x10),
        _ => segment[1] = 0x02,
    }
    let header = ip::write_header(from, to, protocol, Ecn::NotEct, segment.len());
    [&header[..], &segment].concat()
}

/// What a router said to `host` in this packet about one from `source` to `destination` with this segment.
fn said(packet: &[u8], ends: [IpAddr; 2], about: (IpAddr, IpAddr, &[u8])) -> IcmpMessage {
    let header = ip::parse(packet).unwrap();
    assert_eq!([header.source, header.destination], ends);
    let (family, body) = (Family::of(ends[1]), &packet[header.body.clone()]);
    assert_eq!(header.fields.protocol, family.protocol());
    assert!(is_intact(ends[0], ends[1], body));
    let quoted = report(family, body, &SignalNumbers::default()).unwrap();
    let way = if quoted.message.quotes_the_peer() {
        [quoted.way.remote, quoted.way.local]
    } else {
        [quoted.way.local, quoted.way.remote]
    };
    assert_eq!(way, [about.0, about.1]);
    assert_eq!(quoted.segment, &about.2[..about.2.len().min(68)]);
    quoted.message
}

fn of_link(quantity: LinkQuantity) -> Change {
    Change { link: "space".into(), port: None, quantity }
}

#[test]
fn sources_are_told_of_an_outage_by_control_and_of_its_end() {
    let (emulation, centre, _craft) = start();
    apply(&emulation, &[of_link(LinkQuantity::DownNs(None))]).unwrap();
    let mut told = Vec::new();
    for (names, protocol) in FAMILIES.iter().zip([ip_protocol::TCP, ip_protocol::COMPRESSED_TCP, 6]) {
        let [source, destination, router] = names.map(|name| name.parse::<IpAddr>().unwrap());
        let data = packet(source, destination, protocol, 500);
        send(&centre, &packet(source, destination, ip_protocol::UDP, 500));
        send(&centre, &data);
        let answer = receive(&centre, LONG).expect("word of the outage");
        let segment = data[ip::parse(&data).unwrap().body].to_vec();
        let about = (source, destination, &segment[..]);
        assert_eq!(said(&answer, [router, source], about), IcmpMessage::LinkOutage);
        told.push((source, destination, router, segment));
    }
    assert_eq!(receive(&centre, SHORT), None, "what is no TCP, and an outage that lasts");
    apply(&emulation, &[of_link(LinkQuantity::Up)]).unwrap();
    for (source, destination, router, segment) in told {
        let answer = receive(&centre, LONG).expect("word that it is back");
        assert_eq!(
            said(&answer, [router, source], (source, destination, &segment)),
            IcmpMessage::LinkRestored
        );
    }
    assert_eq!(receive(&centre, SHORT), None);
    let report = emulation.stop();
    let [router] = &report.routers[..] else { panic!("{report:?}") };
    let sent = SignalCounters { corruption_experienced: 0, link_outage: 3, link_restored: 3 };
    assert_eq!((router.name.as_str(), router.sent), ("station", sent));
}

/// The link is down for a while that is known: nobody has to end it.
#[test]
fn the_end_of_an_outage_is_told_when_it_comes() {
    let (emulation, centre, craft) = start();
    let [source, destination, router] = FAMILIES[0].map(|name| name.parse::<IpAddr>().unwrap());
    let data = packet(source, destination, ip_protocol::TCP, 500);
    apply(&emulation, &[of_link(LinkQuantity::DownNs(Some(300_000_000)))]).unwrap();
    send(&centre, &data);
    for expected in [IcmpMessage::LinkOutage, IcmpMessage::LinkRestored] {
        let answer = receive(&centre, LONG).expect("two messages");
        assert_eq!(said(&answer, [router, source], (source, destination, &data[20..])), expected);
    }
    send(&centre, &data);
    assert_eq!(receive(&craft, LONG), Some(data));
}

#[test]
fn destinations_are_told_of_damage() {
    let (emulation, centre, craft) = start();
    let change = |text: &str| apply(&emulation, &[Change::parse(text).unwrap()]).unwrap();
    for names in FAMILIES {
        let [source, destination, router] = names.map(|name| name.parse::<IpAddr>().unwrap());
        let data = packet(destination, source, ip_protocol::TCP, 100);
        change("space.reverse.loss=1");
        send(&craft, &data);
        assert_eq!(receive(&centre, SHORT), None, "damaged");
        change("space.reverse.loss=0");
        send(&craft, &data);
        // Word of damage leaves in front of the packet that it quotes.
        let answer = receive(&centre, LONG).expect("word of damage");
        assert_eq!(
            said(&answer, [router, source], (destination, source, &data[ip::parse(&data).unwrap().body])),
            IcmpMessage::CorruptionExperienced
        );
        assert_eq!(receive(&centre, LONG), Some(data));
    }
    let sent = SignalCounters { corruption_experienced: 3, ..SignalCounters::default() };
    assert_eq!(emulation.report().routers[0].sent, sent);
}

#[test]
fn nothing_is_answered_at_the_address_of_a_router() {
    let (emulation, centre, craft) = start();
    for [source, _, router] in FAMILIES {
        let [source, router] = [source, router].map(|name| name.parse::<IpAddr>().unwrap());
        send(&centre, &packet(source, router, ip_protocol::UDP, 100));
    }
    assert_eq!((receive(&craft, SHORT), receive(&centre, SHORT)), (None, None));
    assert_eq!(emulation.stop().hosts[0].gate.strays, 3);
}
