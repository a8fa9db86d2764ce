//! Fates of packets: read by our own code, and by etherparse as an oracle.

use std::net::IpAddr;

use etherparse::{Icmpv4Type, Icmpv6Type, NetHeaders, PacketBuilder, PacketHeaders, TransportHeader};
use proptest::prelude::*;
use skyhaul_core::event::RouterSignal;
use skyhaul_core::ip;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Ecn, Instant, NetworkFields, SECOND};
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{IcmpMessage, MessageNumbers, SignalNumbers, Unreachable};

use super::TunCounters;
use super::stack::{Arrival, Stack};

const US4: [u8; 4] = [10, 0, 0, 2];
const THEM4: [u8; 4] = [10, 0, 0, 1];
const US6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
const THEM6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

struct Bench {
    stack: Stack,
    counters: TunCounters,
    now: Instant,
    takes_compressed: bool,
}

impl Bench {
    fn new() -> Self {
        let stack = Stack::new(vec![US4.into(), US6.into()], SignalNumbers::default());
        Self {
            stack,
            counters: TunCounters::default(),
            now: Instant::from_ns(5 * SECOND),
            takes_compressed: true,
        }
    }

    fn receive<'a>(&mut self, packet: &'a [u8]) -> Arrival<'a> {
        self.stack.receive(self.now, packet, self.takes_compressed, &mut self.counters)
    }

    /// The answer to a packet that is not for TCP.
    fn answer(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        assert_eq!(self.receive(packet), Arrival::Nothing);
        self.stack.poll_reply()
    }
}

fn of_tcp(ecn: Ecn) -> NetworkFields {
    NetworkFields { protocol: ip_protocol::TCP, ..ecn.into() }
}

fn segment() -> Vec<u8> {
    (0..32).collect()
}

fn v4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let header = ip::write_header(THEM4.into(), US4.into(), protocol, Ecn::Ect0, body.len());
    [&header[..], body].concat()
}

fn v6(protocol: u8, body: &[u8]) -> Vec<u8> {
    let header = ip::write_header(THEM6.into(), US6.into(), protocol, Ecn::Ce, body.len());
    [&header[..], body].concat()
}

fn udp4() -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4(THEM4, US4, 64).udp(5, 7).write(&mut packet, b"anybody?").unwrap();
    packet
}

fn udp6() -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv6(THEM6, US6, 64).udp(5, 7).write(&mut packet, b"anybody?").unwrap();
    packet
}

#[test]
fn headers_are_what_an_independent_reader_expects() {
    let packet = v4(6, &segment());
    let udp = v4(17, &[0, 1, 0, 2, 0, 8, 0, 0]);
    let read = PacketHeaders::from_ip_slice(&udp).unwrap();
    let Some(NetHeaders::Ipv4(header, _)) = read.net else { panic!("{read:?}") };
    assert_eq!((header.source, header.destination, header.time_to_live), (THEM4, US4, 64));
    assert_eq!((header.calc_header_checksum(), header.dont_fragment), (header.header_checksum, true));
    assert_eq!((header.ecn.value(), header.dscp.value()), (2, 0));
    let way = Way { local: US4.into(), remote: THEM4.into() };
    assert_eq!(
        Bench::new().receive(&packet),
        Arrival::Segment { way, fields: of_tcp(Ecn::Ect0), bytes: &segment() }
    );

    let packet = v6(6, &segment());
    let udp = v6(17, &[0, 1, 0, 2, 0, 8, 0, 0]);
    let read = PacketHeaders::from_ip_slice(&udp).unwrap();
    let Some(NetHeaders::Ipv6(header, _)) = read.net else { panic!("{read:?}") };
    assert_eq!((header.source, header.destination, header.hop_limit), (THEM6, US6, 64));
    assert_eq!((header.payload_length, header.traffic_class, header.flow_label.value()), (8, 3, 0));
    let way = Way { local: US6.into(), remote: THEM6.into() };
    assert_eq!(
        Bench::new().receive(&packet),
        Arrival::Segment { way, fields: of_tcp(Ecn::Ce), bytes: &segment() }
    );
}

#[test]
fn bytes_behind_the_packet_do_not_belong_to_it() {
    for packet in [v4(6, &segment()), v6(6, &segment())] {
        let padded = [&packet[..], b"padding"].concat();
        let Arrival::Segment { bytes, .. } = Bench::new().receive(&padded) else { panic!("dropped") };
        assert_eq!(bytes, segment());
    }
}

#[test]
fn echo_requests_are_answered_with_what_they_brought() {
    let mut packet = Vec::new();
    PacketBuilder::ipv4(THEM4, US4, 64).icmpv4_echo_request(7, 9).write(&mut packet, b"ping").unwrap();
    let reply = Bench::new().answer(&packet).unwrap();
    let read = PacketHeaders::from_ip_slice(&reply).unwrap();
    let Some(TransportHeader::Icmpv4(icmp)) = read.transport else { panic!("{read:?}") };
    let Icmpv4Type::EchoReply(echo) = icmp.icmp_type else { panic!("{icmp:?}") };
    assert_eq!((echo.id, echo.seq, read.payload.slice()), (7, 9, &b"ping"[..]));
    assert_eq!(icmp.icmp_type.calc_checksum(b"ping"), icmp.checksum);

    let mut packet = Vec::new();
    PacketBuilder::ipv6(THEM6, US6, 64).icmpv6_echo_request(7, 9).write(&mut packet, b"ping").unwrap();
    let reply = Bench::new().answer(&packet).unwrap();
    let read = PacketHeaders::from_ip_slice(&reply).unwrap();
    let Some(TransportHeader::Icmpv6(icmp)) = read.transport else { panic!("{read:?}") };
    let Icmpv6Type::EchoReply(echo) = icmp.icmp_type else { panic!("{icmp:?}") };
    assert_eq!((echo.id, echo.seq, read.payload.slice()), (7, 9, &b"ping"[..]));
    assert_eq!(icmp.icmp_type.calc_checksum(US6, THEM6, b"ping").unwrap(), icmp.checksum);
}

#[test]
fn udp_finds_no_port_and_other_protocols_find_no_taker() {
    let kinds = |packet: &[u8]| {
        let reply = Bench::new().answer(packet).unwrap();
        let read = PacketHeaders::from_ip_slice(&reply).unwrap();
        let quoted = reply.windows(packet.len()).any(|window| window == packet);
        assert!(quoted, "what nobody took is quoted");
        match read.transport {
            Some(TransportHeader::Icmpv4(icmp)) => format!("{:?}", icmp.icmp_type),
            Some(TransportHeader::Icmpv6(icmp)) => format!("{:?}", icmp.icmp_type),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kinds(&udp4()), "DestinationUnreachable(Port)");
    assert_eq!(kinds(&v4(132, b"sctp")), "DestinationUnreachable(Protocol)");
    assert_eq!(kinds(&udp6()), "DestinationUnreachable(Port)");
    let unknown = kinds(&v6(132, b"sctp"));
    assert!(unknown.contains("UnrecognizedNextHeader") && unknown.contains("pointer: 6"), "{unknown}");
}

#[test]
fn compressed_headers_go_where_they_are_taken_and_are_an_unknown_protocol_elsewhere() {
    for packet in [v4(105, &segment()), v6(105, &segment())] {
        let mut bench = Bench::new();
        let Arrival::Segment { fields, bytes, .. } = bench.receive(&packet) else { panic!("dropped") };
        assert_eq!((fields.protocol, bytes), (105, &segment()[..]));
        let mut plain = Bench { takes_compressed: false, ..Bench::new() };
        assert!(plain.answer(&packet).is_some());
        assert_eq!((plain.counters.unknown_protocols, plain.counters.unreachable_sent), (1, 1));
    }
}

#[test]
fn a_flood_is_not_answered_with_another() {
    let mut bench = Bench::new();
    let answers = (0..1000).filter_map(|_| bench.answer(&udp4())).count();
    assert!((1..=11).contains(&answers), "{answers} reports at once");
    assert_eq!(bench.counters.unreachable_withheld, 1000 - answers as u64);
    bench.now = bench.now.after(SECOND);
    assert!(bench.answer(&udp4()).is_some(), "later there is room again");

    let mut packet = Vec::new();
    PacketBuilder::ipv4(THEM4, US4, 64).icmpv4_echo_request(7, 9).write(&mut packet, b"ping").unwrap();
    for _ in 0..1000 {
        bench.receive(&packet);
    }
    assert!(std::iter::from_fn(|| bench.stack.poll_reply()).count() <= 64, "what waits is bounded");
}

#[test]
fn what_cannot_be_answered_is_dropped_and_counted() {
    let mut bench = Bench::new();
    let mut fragment = v4(6, &segment());
    fragment[6] = 0x20;
    fragment[10..12].fill(0);
    let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&fragment[..20]));
    fragment[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut damaged = v4(6, &segment());
    damaged[8] ^= 1;
    let other = ip::write_header(THEM4.into(), [10, 0, 0, 9].into(), 6, Ecn::NotEct, 0);
    let ourselves = ip::write_header(US4.into(), US4.into(), 6, Ecn::NotEct, 0);
    let multicast = ip::write_header([224, 0, 0, 1].into(), US4.into(), 17, Ecn::NotEct, 0);
    for packet in [&fragment[..], &damaged, &other, &ourselves, &multicast, &[], &[0x45], &[0x60; 39]] {
        assert_eq!(bench.answer(packet), None);
    }
    let TunCounters { fragments, malformed, strays, bad_sources, .. } = bench.counters;
    assert_eq!((fragments, malformed, strays, bad_sources), (1, 4, 1, 2));
}

#[test]
fn extension_headers_are_looked_past_within_bounds() {
    let hop = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0]; // PadN
    let chain = |count: usize| {
        let mut body = Vec::new();
        (0..count).for_each(|n| body.extend_from_slice(&hop(if n + 1 == count { 6 } else { 60 })));
        body.extend_from_slice(&segment());
        v6(60, &body)
    };
    for (count, is_taken) in [(1, true), (8, true), (9, false), (100, false)] {
        let packet = chain(count);
        let is_segment =
            matches!(Bench::new().receive(&packet), Arrival::Segment { bytes, .. } if bytes == segment());
        assert_eq!(is_segment, is_taken, "{count} headers");
    }
    let unknown = [6, 0, 0xC2, 4, 0, 0, 0, 0];
    let routed = [6, 0, 0, 1, 0, 0, 0, 0];
    let atomic = [6, 0, 0, 0, 0, 0, 0, 1];
    let piece = [6, 0, 0, 1, 0, 0, 0, 1];
    for (kind, extension, is_taken) in
        [(60, unknown, false), (43, routed, false), (44, atomic, true), (44, piece, false)]
    {
        let packet = v6(kind, &[&extension[..], &segment()].concat());
        let is_segment = matches!(Bench::new().receive(&packet), Arrival::Segment { .. });
        assert_eq!(is_segment, is_taken, "kind {kind}, {extension:?}");
    }
    let endless = v6(60, &[60, 255]);
    assert_eq!(Bench::new().receive(&endless), Arrival::Nothing, "it says that it is longer than the packet");
}

#[test]
fn reports_about_our_segments_reach_tcp_and_others_do_not() {
    let sent4 = ip::write_header(US4.into(), THEM4.into(), 6, Ecn::NotEct, 1400);
    let sent4 = [&sent4[..], &segment()[..8]].concat();
    let report = |kind: u8, code: u8, word: u32, quoted: &[u8]| {
        let mut message = [&[kind, code, 0, 0][..], &word.to_be_bytes(), quoted].concat();
        let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        v4(1, &message)
    };
    let mut bench = Bench::new();
    let packet = report(3, 4, 1300, &sent4);
    let Arrival::Report(quoted) = bench.receive(&packet) else { panic!("not understood") };
    assert_eq!(quoted.way, Way { local: US4.into(), remote: THEM4.into() });
    let too_big = IcmpMessage::PacketTooBig { mtu_bytes: 1300 };
    assert_eq!((quoted.message, quoted.protocol, quoted.segment), (too_big, 6, &segment()[..8]));
    let compressed = ip::write_header(US4.into(), THEM4.into(), 105, Ecn::NotEct, 1400);
    let packet = report(3, 4, 1300, &[&compressed[..], &segment()[..12]].concat());
    let Arrival::Report(quoted) = bench.receive(&packet) else { panic!("not understood") };
    assert_eq!((quoted.protocol, quoted.segment), (105, &segment()[..12]));

    let foreign = ip::write_header([10, 0, 0, 9].into(), THEM4.into(), 6, Ecn::NotEct, 1400);
    let foreign = [&foreign[..], &segment()[..8]].concat();
    for packet in [
        report(3, 4, 1300, &foreign),
        report(3, 4, 1300, &sent4[..27]),
        report(3, 4, 1300, &sent4[..19]),
        report(3, 4, 1300, b""),
        report(0, 0, 1300, &sent4),
    ] {
        assert_eq!(bench.answer(&packet), None);
    }
    assert_eq!((bench.counters.reports, bench.counters.unheard), (2, 5));
    let mut damaged = report(3, 4, 1300, &sent4);
    damaged[27] ^= 1;
    assert_eq!((bench.answer(&damaged), bench.counters.malformed), (None, 1));
}

/// What is quoted was on its way here, so the ways are the other way round.
#[test]
fn word_of_damage_quotes_packets_that_were_to_come_here() {
    let said = |[source, destination]: [IpAddr; 2], kind: u8, code: u8| {
        let quoted = ip::write_header(source, destination, 6, Ecn::NotEct, 1400);
        let mut message = [&[kind, code, 0, 0, 0, 0, 0, 0][..], &quoted, &segment()[..8]].concat();
        let family = if source.is_ipv4() { ip_protocol::ICMP } else { ip_protocol::ICMPV6 };
        let router: IpAddr = if source.is_ipv4() { [10, 0, 0, 3].into() } else { [0xfd; 16].into() };
        let us: IpAddr = if source.is_ipv4() { US4.into() } else { US6.into() };
        let pseudo = match source {
            IpAddr::V4(_) => 0,
            IpAddr::V6(_) => skyhaul_core::pseudo_header_sum(router, us, family, message.len()),
        };
        let sum = skyhaul_core::internet_checksum(pseudo + skyhaul_core::internet_sum(&message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let header = ip::write_header(router, us, family, Ecn::NotEct, message.len());
        [&header[..], &message].concat()
    };
    let mut bench = Bench::new();
    for (us, them, kind) in [(US4.into(), THEM4.into(), 19), (US6.into(), THEM6.into(), 100)] {
        let packet = said([them, us], kind, 0);
        let Arrival::Report(quoted) = bench.receive(&packet) else { panic!("not understood") };
        assert_eq!(
            (quoted.way, quoted.message),
            (Way { local: us, remote: them }, IcmpMessage::CorruptionExperienced)
        );
        assert_eq!(bench.answer(&said([us, them], kind, 0)), None, "about what we sent");
    }
    assert_eq!(bench.answer(&said([THEM6.into(), US6.into()], 100, 3)), None);
    assert_eq!((bench.counters.reports, bench.counters.unheard), (2, 3));
}

#[test]
fn signals_of_routers_have_the_numbers_that_the_host_was_given() {
    let sent = |kind: u8, code: u8| {
        let quoted = ip::write_header(US4.into(), THEM4.into(), 6, Ecn::NotEct, 1400);
        let mut message = [&[kind, code, 0, 0, 0, 0, 0, 0][..], &quoted, &segment()[..8]].concat();
        let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        v4(1, &message)
    };
    let read = |bench: &mut Bench, number: (u8, u8)| match bench.receive(&sent(number.0, number.1)) {
        Arrival::Report(quoted) => Some(quoted.message),
        _ => None,
    };
    let host = IcmpMessage::Unreachable(Unreachable::Host);
    let mut bench = Bench::new();
    for (number, expected) in [
        ((3, 16), Some(IcmpMessage::LinkOutage)),
        ((5, 4), Some(IcmpMessage::LinkRestored)),
        ((4, 0), Some(IcmpMessage::SourceQuench)),
        ((3, 17), Some(host)),
        ((5, 0), None),
        ((4, 1), None),
    ] {
        assert_eq!(read(&mut bench, number), expected, "{number:?}");
    }
    let v4 = MessageNumbers { link_outage: (3, 99), ..MessageNumbers::REFERENCE };
    let signals = SignalNumbers { v4, ..SignalNumbers::default() };
    bench.stack = Stack::new(vec![US4.into()], signals);
    assert_eq!(read(&mut bench, (3, 99)), Some(IcmpMessage::LinkOutage));
    assert_eq!(read(&mut bench, (3, 16)), Some(host));
    assert_eq!(SignalNumbers::default().v6.meaning((100, 2)), Some(RouterSignal::LinkRestored));
}

#[test]
fn a_mark_on_the_way_keeps_the_header_right() {
    for mut packet in [v4(6, &segment()), v6(6, &segment())] {
        ip::set_ecn(&mut packet, Ecn::Ce);
        assert_eq!(ip::ecn_of(&packet), Ecn::Ce);
        let Arrival::Segment { fields, .. } = Bench::new().receive(&packet) else { panic!("dropped") };
        assert_eq!(fields.ecn, Ecn::Ce);
    }
}

proptest! {
    #[test]
    fn nothing_that_arrives_makes_a_panic(
        version in prop_oneof![Just(0x45u8), Just(0x46), Just(0x60), any::<u8>()],
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        protocol in prop_oneof![Just(1u8), Just(58), Just(6), Just(60), Just(44), any::<u8>()],
    ) {
        let mut bench = Bench::new();
        let raw = [&[version], &bytes[..]].concat();
        let _ = bench.receive(&raw);
        let _ = ip::parse_quoted(&raw);
        for packet in [v4(protocol, &bytes), v6(protocol, &bytes)] {
            let _ = bench.receive(&packet);
            if let Some(reply) = bench.stack.poll_reply() {
                prop_assert!(PacketHeaders::from_ip_slice(&reply).is_ok(), "what is answered is well formed");
            }
        }
    }
}
