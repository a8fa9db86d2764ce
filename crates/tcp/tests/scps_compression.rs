//! Compressed headers of SCPS-TP in connections, as packet traces against a scripted peer.

mod common;

use common::{Heard, Lone, PEER_INITIAL, PEER_PORT, PORT, plain, way};
use skyhaul_core::{Connections, Ecn, Engine, NetworkFields, NullSink, Stream};
use skyhaul_tcp::scps::compress::{self, compress};
use skyhaul_tcp::scps::{CAPABILITIES, Capabilities, SNACK, Scps, SnackOption, facility};
use skyhaul_tcp::segment::{ExtraOptions, Options, Segment, flags};
use skyhaul_tcp::{AckPolicy, Config, Endpoint, EndpointConfig, IcmpMessage, State};

const FACILITIES: u8 = facility::SNACK | facility::COMPRESSION;
const RTT_MS: u64 = 100;
/// What the peer announces.
const THEIRS: u8 = 7;

fn speaking() -> Config {
    let scps = Scps {
        compression: true,
        ack_policy: AckPolicy::Reduced { every_packets: 2, delay_ns: 50_000_000 },
        pacing_percent: None,
        ..Scps::standard()
    };
    Config { scps: Some(scps), send_limit_bytes: 60_000, ..plain() }
}

fn offer(facilities: u8, number: u8) -> Options {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(CAPABILITIES, &[facilities, number]));
    Options { mss: Some(1000), sack_permitted: true, extra, ..Options::default() }
}

fn fields() -> NetworkFields {
    NetworkFields { protocol: compress::PROTOCOL, ..NetworkFields::default() }
}

/// The peer says a segment with a compressed header; no sequence: it has none.
fn say(lone: &mut Lone, number: u8, bits: u8, sequence: Option<u32>, acknowledgement: u32, payload: &[u8]) {
    let segment = Segment {
        sequence: PEER_INITIAL.wrapping_add(sequence.unwrap_or(0)),
        acknowledgement: lone.initial.wrapping_add(acknowledgement),
        flags: bits,
        window: lone.peer_window,
        payload: (payload, &[]),
        ..Segment::default()
    };
    let mut bytes = Vec::new();
    compress(way().reversed(), number, &segment, sequence.is_some(), &mut bytes);
    lone.endpoint.handle(lone.now, way(), fields(), &bytes, &mut NullSink);
}

/// A peer opened a connection, and acknowledged our answer with a compressed header.
fn accepted(config: &Config) -> Lone {
    accepted_under(config).0
}

/// With the number that we announced.
fn accepted_under(config: &Config) -> (Lone, u8) {
    let mut lone = Lone::new(config);
    lone.say(flags::SYN, 0, 0, offer(FACILITIES, THEIRS), b"");
    let answer = lone.one();
    assert_eq!(answer.protocol, 0, "a SYN goes as it is");
    let offered = Capabilities::find(&answer.options.extra).expect("it offers SCPS-TP");
    assert_eq!(offered.facilities & FACILITIES, FACILITIES);
    lone.wait_ms(RTT_MS);
    say(&mut lone, THEIRS, flags::ACK, None, 1, b"");
    lone.take();
    assert_eq!((lone.state(), lone.hear()), (State::Established, vec![]));
    (lone, offered.connection_id)
}

fn shapes(heard: &[Heard]) -> Vec<(u8, u8, usize, usize)> {
    heard.iter().map(|h| (h.protocol, h.flags, h.payload.len(), h.bytes - h.payload.len())).collect()
}

#[test]
fn data_fills_what_a_smaller_header_leaves_and_takes_an_acknowledgement_along_where_one_is_owed() {
    let mut lone = accepted(&speaking());
    lone.write(2012);
    // The peer may have missed that the handshake is over: the first data acknowledges.
    assert_eq!(
        shapes(&lone.hear()),
        [(105, flags::ACK, 1006, 14), (105, flags::ACK | flags::PSH, 1006, 14)],
        "no longer than a plain packet of 1000 bytes"
    );
    say(&mut lone, THEIRS, flags::ACK, None, 2013, b"");
    lone.write(2024);
    assert_eq!(shapes(&lone.hear()), [(105, 0, 1012, 8), (105, flags::PSH, 1012, 8)]);
    say(&mut lone, THEIRS, flags::ACK, None, 4037, b"");
    say(&mut lone, THEIRS, 0, Some(1), 0, b"data");
    lone.write(1);
    assert_eq!(shapes(&lone.hear()), [(105, flags::ACK | flags::PSH, 1, 14)]);
    say(&mut lone, THEIRS, flags::ACK, None, 4038, b"");
    lone.endpoint.finish(lone.id);
    assert_eq!(shapes(&lone.hear()), [(105, flags::ACK | flags::FIN, 0, 16)], "the end acknowledges");
}

#[test]
fn an_acknowledgement_has_ten_octets_and_one_that_tells_a_hole_eighteen() {
    let mut lone = accepted(&speaking());
    say(&mut lone, THEIRS, 0, Some(1), 0, b"data");
    lone.wait_ms(50);
    assert_eq!(shapes(&lone.hear()), [(105, flags::ACK, 0, 10)]);
    assert_eq!(lone.read(), b"data");
    say(&mut lone, THEIRS, 0, Some(1005), 0, b"beyond");
    lone.wait_ms(50);
    let told = lone.one();
    assert_eq!((told.bytes, told.acknowledgement), (18, 5));
    assert_eq!(told.options.extra.get(SNACK).and_then(SnackOption::decode).unwrap().size, 1);
}

/// There are no bits for them.
#[test]
fn marks_go_uncompressed_and_their_data_fits_its_packet() {
    let mut lone = Lone::new(&Config { ecn: true, ..speaking() });
    lone.say(flags::SYN | flags::ECE | flags::CWR, 0, 0, offer(FACILITIES, THEIRS), b"");
    lone.one();
    say(&mut lone, THEIRS, flags::ACK, None, 1, b"");
    lone.take();
    lone.peer_ecn = Ecn::Ce;
    lone.say(flags::ACK, 1, 1, Options::default(), b"data");
    lone.write(1012);
    let heard = lone.hear();
    assert_eq!(shapes(&heard[..1]), [(0, flags::ACK | flags::ECE, 1000, 20)]);
    lone.peer_ecn = Ecn::NotEct;
    lone.say(flags::ACK | flags::ECE, 5, 1013, Options::default(), b"");
    lone.write(4000);
    let heard = lone.hear();
    assert!(
        heard[0].flags & flags::CWR != 0 && heard[0].protocol == 0 && heard[0].payload.len() == 1000,
        "{heard:?}"
    );
}

#[test]
fn a_number_that_nobody_announced_is_counted_and_not_answered() {
    let mut lone = accepted(&speaking());
    for bits in [flags::ACK, flags::FIN | flags::ACK, 0] {
        say(&mut lone, THEIRS + 1, bits, Some(1), 1, b"data");
    }
    assert_eq!(lone.hear(), []);
    assert_eq!(lone.endpoint.endpoint_stats().unknown, 3);
    lone.endpoint.handle(lone.now, way(), fields(), &[THEIRS, 0x80, 1], &mut NullSink);
    assert_eq!(lone.endpoint.endpoint_stats().undecodable, 1);
}

/// A router returns 8 octets of the packet, or more: the number lies within the first 6, or behind window and
/// acknowledgement.
#[test]
fn a_router_s_word_about_a_compressed_packet_counts_where_it_returns_a_number_under_way() {
    let (mut lone, ours) = accepted_under(&speaking());
    lone.write(2012);
    assert_eq!(lone.hear().len(), 2);
    let first = lone.initial.wrapping_add(1).to_be_bytes();
    let [alone, behind] = [&[ours, 2][..], &[ours, 3, 0, 0, 0, 0, 0, 0]].map(|head| [head, &first].concat());
    let too_big = |lone: &mut Lone, quoted: &[u8]| {
        let message = IcmpMessage::PacketTooBig { mtu_bytes: 600 };
        lone.endpoint.handle_icmp(lone.now, way(), message, (compress::PROTOCOL, quoted), &mut NullSink);
        let stats = lone.endpoint.endpoint_stats();
        (stats.icmp_taken, stats.icmp_ignored)
    };
    let mut late = alone.clone();
    late[5] = late[5].wrapping_sub(1);
    let strange = [&[THEIRS], &alone[1..]].concat();
    let without = [&[ours, 1], &behind[2..]].concat();
    for (n, quoted) in [&late[..], &strange, &without, &behind[..8], &[ours, 0x82, 0x20, 0, 0], &[ours], &[]]
        .into_iter()
        .enumerate()
    {
        assert_eq!(too_big(&mut lone, quoted), (0, n as u64 + 1), "{quoted:?}");
    }
    assert_eq!(lone.hear(), []);
    assert_eq!(too_big(&mut lone, &behind), (1, 7));
    let sizes: Vec<_> = lone.hear().iter().map(|heard| heard.bytes).collect();
    assert_eq!(sizes[..3], [580; 3], "as long as a plain one in a packet of 600");
    let mut other = accepted(&speaking());
    other.write(2012);
    other.hear();
    assert_eq!(too_big(&mut other, &alone), (1, 0), "8 octets suffice without an acknowledgement");
}

#[test]
fn without_both_bits_or_a_number_headers_stay_as_they_are() {
    for (config, facilities, number) in [
        (speaking(), facility::SNACK, THEIRS),
        (speaking(), FACILITIES, 0),
        (Config { scps: Some(Scps::standard()), ..speaking() }, FACILITIES, THEIRS),
    ] {
        let mut lone = Lone::new(&config);
        lone.say(flags::SYN, 0, 0, offer(facilities, number), b"");
        let answered = Capabilities::find(&lone.one().options.extra).unwrap();
        assert_eq!(answered.facilities & facility::COMPRESSION, 0, "nobody is led to expect it");
        lone.wait_ms(RTT_MS);
        lone.ack(1, 1);
        lone.take();
        lone.write(1000);
        let heard = lone.hear();
        assert!(heard.iter().all(|heard| heard.protocol == 0 && heard.payload.len() <= 1000), "{heard:?}");
        say(&mut lone, number, 0, Some(1), 0, b"data");
        assert_eq!(lone.endpoint.endpoint_stats().unknown, 1);
    }
}

#[test]
fn a_number_in_use_is_agreed_to_for_one_connection_alone() {
    let mut lone = accepted(&speaking());
    let open = |lone: &mut Lone, port| {
        let segment = Segment {
            source_port: port,
            destination_port: PORT,
            flags: flags::SYN,
            options: offer(FACILITIES, THEIRS),
            ..Segment::default()
        };
        let mut bytes = Vec::new();
        skyhaul_tcp::segment::encode(way().reversed(), &segment, &mut bytes);
        lone.endpoint.handle(lone.now, way(), NetworkFields::default(), &bytes, &mut NullSink);
        Capabilities::find(&lone.one().options.extra).unwrap().facilities & facility::COMPRESSION
    };
    assert_eq!(open(&mut lone, PEER_PORT + 1), 0);
    lone.initial = 0;
    lone.endpoint.abort(lone.id);
    lone.endpoint.release(lone.now, lone.id);
    lone.hear();
    assert_eq!(open(&mut lone, PEER_PORT + 2), facility::COMPRESSION, "the first one is gone");
}

/// Its peer remembers for minutes what a process that was killed had, and every process began with 1: none
/// had compressed headers until then.
#[test]
fn a_process_behind_one_that_was_killed_announces_another_number() {
    let mut receiver = Lone::new(&speaking());
    let agreed = (0..20_u16).filter(|&process| {
        let mut lone = Lone::new(&speaking());
        lone.endpoint = Endpoint::new(EndpointConfig::default(), Stream::new(process.into(), "process"));
        let port = Some(PEER_PORT + process);
        lone.id = lone.endpoint.connect(lone.now, way(), PORT, port, speaking()).unwrap();
        let syn = Segment {
            source_port: PEER_PORT + process,
            destination_port: PORT,
            flags: flags::SYN,
            options: lone.one().options,
            ..Segment::default()
        };
        let mut bytes = Vec::new();
        skyhaul_tcp::segment::encode(way().reversed(), &syn, &mut bytes);
        receiver.endpoint.handle(receiver.now, way(), NetworkFields::default(), &bytes, &mut NullSink);
        let answered = Capabilities::find(&receiver.one().options.extra).unwrap();
        receiver.initial = 0;
        answered.facilities & facility::COMPRESSION != 0
    });
    assert!(agreed.count() >= 18, "20 of 255 numbers: two alike are rare");
}

#[test]
fn a_connection_that_opens_announces_a_number_and_answers_by_it() {
    let (mut lone, syn) = Lone::connecting(&speaking());
    let ours = Capabilities::find(&syn.options.extra).unwrap();
    assert!(ours.facilities & facility::COMPRESSION != 0 && ours.connection_id != 0);
    lone.say(flags::SYN | flags::ACK, 0, 1, offer(FACILITIES, THEIRS), b"");
    assert_eq!(shapes(&lone.hear()), [(105, flags::ACK, 0, 10)]);
    say(&mut lone, THEIRS, 0, Some(1), 0, b"data");
    assert_eq!(lone.read(), b"data");
}

/// Whoever guesses a number of 8 bits must not end a connection, nor open one.
#[test]
fn a_reset_needs_its_number_and_an_opening_its_acknowledgement() {
    let mut lone = accepted(&speaking());
    let reset = |lone: &mut Lone, bytes: &mut Vec<u8>| {
        bytes.splice(bytes.len() - 2.., [0, 0]);
        let way = way();
        let sum = skyhaul_core::pseudo_header_sum(way.local, way.remote, 6, bytes.len());
        let sum = skyhaul_core::internet_checksum(sum + skyhaul_core::internet_sum(bytes));
        bytes.splice(bytes.len() - 2.., sum.to_be_bytes());
        lone.endpoint.handle(lone.now, way, fields(), bytes, &mut NullSink);
    };
    reset(&mut lone, &mut vec![THEIRS, 0x80, 0x54, 0, 0, 0]);
    assert_eq!(lone.state(), State::Established, "without a number");
    let [a, b, c, d] = PEER_INITIAL.wrapping_add(1).to_be_bytes();
    reset(&mut lone, &mut vec![THEIRS, 0x82, 0x54, a, b, c, d, 0, 0, 0]);
    assert_eq!(lone.state(), State::Closed);

    let mut opening = Lone::new(&speaking());
    opening.say(flags::SYN, 0, 0, offer(FACILITIES, THEIRS), b"");
    opening.one();
    say(&mut opening, THEIRS, 0, Some(1), 0, b"data");
    assert_eq!((opening.hear(), opening.endpoint.accept()), (vec![], None));
}

/// A peer that has lost the connection answers a plain segment by an RST, and a compressed one not at all.
#[test]
fn after_a_timeout_headers_stay_as_they_are_until_something_is_acknowledged() {
    let mut lone = accepted(&speaking());
    lone.write(1000);
    assert_eq!(lone.one().protocol, 105);
    let mut repeats = Vec::new();
    while repeats.len() < 3 {
        lone.wait();
        repeats.extend(lone.hear());
    }
    // The first one shows the end to a peer that tells holes; the timer follows.
    let protocols: Vec<_> = repeats.iter().map(|heard| heard.protocol).collect();
    assert_eq!(protocols, [105, 0, 0]);
    assert!(repeats.iter().all(|heard| heard.flags & flags::ACK != 0));
    say(&mut lone, THEIRS, flags::ACK, None, 1001, b"");
    lone.write(10);
    assert_eq!(lone.one().protocol, 105);
}
