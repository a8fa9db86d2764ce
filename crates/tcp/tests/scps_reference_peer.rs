//! A peer with the habits of the public reference implementation, whose compressed segments are octets put
//! together here, not by the codec: data without an acknowledgement, one hole of six octets at a time with
//! the left edge up to three times, checksums over IP protocol 6, or over 105.

mod common;

use common::{Heard, Lone, PEER_INITIAL, plain, way};
use skyhaul_core::{Engine as _, MS, NetworkFields, NullSink, Verdict};
use skyhaul_tcp::scps::{CAPABILITIES, Capabilities, Scps, facility};
use skyhaul_tcp::segment::{ExtraOptions, Options, flags};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind, State};

/// IP protocols that sums are made over.
const TCP: u8 = 6;
const COMPRESSED: u8 = 105;
/// Number of its own that it announces, and puts into what it sends.
const THEIRS: u8 = 7;
const RTT_MS: u64 = 100;
/// Octets that its holes count in: the MSS of its SYN.
const BLOCK: u32 = 1000;
const WINDOW: [u8; 2] = [0x80, 0];

/// Internet checksum [RFC 1071] of a compressed segment with zeros in its place, between 10.0.0.1 and
/// 10.0.0.2; which of them sends makes no difference.
fn sum(protocol: u8, octets: &[u8]) -> [u8; 2] {
    let [high, low] = (octets.len() as u16).to_be_bytes();
    let pseudo_header = [10, 0, 0, 1, 10, 0, 0, 2, 0, protocol, high, low];
    let pairs = pseudo_header.chunks(2).chain(octets.chunks(2));
    let words = pairs.map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// Segment of a header that lacks its sum, and data.
fn sealed(protocol: u8, header: &[u8], data: &[u8]) -> Vec<u8> {
    let checksum = sum(protocol, &[header, &[0, 0], data].concat());
    [header, &checksum, data].concat()
}

struct Peer {
    lone: Lone,
    protocol: u8,
}

impl Peer {
    /// It opened a connection: an offer of short SNACKs and compressed headers, and then an acknowledgement.
    fn opened(protocol: u8) -> Self {
        let scps = Scps {
            compression: true,
            controller: ControllerKind::Off,
            pacing_percent: None,
            loss_cause: Verdict::Corruption,
            ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 50 * MS },
            ..Scps::standard()
        };
        let mut lone = Lone::new(&Config { scps: Some(scps), send_limit_bytes: 60_000, ..plain() });
        let mut extra = ExtraOptions::default();
        assert!(extra.push(CAPABILITIES, &[facility::SNACK | facility::COMPRESSION, THEIRS]));
        lone.say(flags::SYN, 0, 0, Options { mss: Some(BLOCK as u16), extra, ..Options::default() }, b"");
        let answer = Capabilities::find(&lone.one().options.extra).expect("it speaks SCPS-TP");
        assert_eq!(answer.facilities & facility::COMPRESSION, facility::COMPRESSION);
        lone.wait_ms(RTT_MS);
        let mut peer = Self { lone, protocol };
        peer.acknowledge(1, &[]);
        peer.lone.take();
        assert_eq!(peer.lone.state(), State::Established);
        peer
    }

    fn say(&mut self, octets: &[u8]) {
        let fields = NetworkFields { protocol: COMPRESSED, ..NetworkFields::default() };
        self.lone.endpoint.handle(self.lone.now, way(), fields, octets, &mut NullSink);
    }

    /// Ten octets; with options, their length and an even number of octets.
    fn acknowledge(&mut self, number: u32, options: &[u8]) {
        let number = self.lone.initial.wrapping_add(number).to_be_bytes();
        let header = if options.is_empty() {
            [&[THEIRS, 0x01], &WINDOW[..], &number].concat()
        } else {
            assert_eq!(options.len() % 2, 0, "else a zero follows");
            [&[THEIRS, 0x81, 0x80], &WINDOW[..], &number, &[options.len() as u8], options].concat()
        };
        self.say(&sealed(self.protocol, &header, b""));
    }

    /// Names one hole: the option has six octets, and no room for more is made.
    fn miss(&mut self, acknowledgement: u32, [offset, size]: [u8; 2]) {
        self.acknowledge(acknowledgement, &[21, 6, 0, offset, 0, size]);
    }

    /// Data as it sends it: number and data, and neither window nor acknowledgement.
    fn data(&mut self, first: u32, data: &[u8]) {
        let number = PEER_INITIAL.wrapping_add(first).to_be_bytes();
        self.say(&sealed(self.protocol, &[&[THEIRS, 0x02], &number[..]].concat(), data));
    }

    /// Octets of the next packet that is sent to it, if there is one.
    fn octets(&mut self) -> Option<Vec<u8>> {
        let mut buffer = Vec::new();
        let sent = self.lone.endpoint.poll_transmit(self.lone.now, &mut buffer, 1, &mut NullSink)?;
        assert_eq!(sent.fields.protocol, COMPRESSED);
        Some(buffer[..sent.segment_bytes].to_vec())
    }
}

/// Sums of `docs/spec/scps-tp.md`, and those of what this peer says below, as another program has them.
#[test]
fn sums_of_the_script_are_those_of_the_page() {
    let ack = [7, 1, 0x0A, 0x0B, 1, 2, 3, 4];
    assert_eq!(sealed(TCP, &ack, b"")[8..], [0xD6, 0xDA]);
    assert_eq!(sealed(COMPRESSED, &ack, b"")[8..], [0xD6, 0x77]);
    assert_eq!(sealed(TCP, &FIRST[..6], b"first"), FIRST);
}

/// `first` with PSH, number 0xFFFFFE0C: sums over 6 and over 105, and over 106, which is not believed.
const FIRST: [u8; 13] = *b"\x07\x06\xff\xff\xfe\x0c\x99\xf9first";
const FIRST_OVER_105: [u8; 13] = *b"\x07\x06\xff\xff\xfe\x0c\x99\x96first";
const FIRST_OVER_106: [u8; 13] = *b"\x07\x06\xff\xff\xfe\x0c\x99\x95first";
/// `next!` without any bit but that of its number, which is 0xFFFFFE11.
const NEXT: [u8; 13] = *b"\x07\x02\xff\xff\xfe\x11\xde\xfbnext!";
const NEXT_OVER_105: [u8; 13] = *b"\x07\x02\xff\xff\xfe\x11\xde\x98next!";

#[test]
fn data_without_an_acknowledgement_is_delivered_with_its_sum_over_6_or_over_105() {
    for [first, next] in [[FIRST, NEXT], [FIRST_OVER_105, NEXT_OVER_105]] {
        let mut peer = Peer::opened(TCP);
        peer.say(&first);
        peer.say(&next);
        assert_eq!(peer.lone.read(), b"firstnext!");
        peer.lone.wait_ms(50);
        let answer = peer.octets().unwrap();
        let expected = PEER_INITIAL.wrapping_add(11).to_be_bytes();
        assert_eq!((answer.len(), answer[1], &answer[4..8]), (10, 0x01, &expected[..]));
    }
}

#[test]
fn a_sum_over_neither_is_refused() {
    let mut peer = Peer::opened(TCP);
    peer.say(&FIRST_OVER_106);
    let mut damaged = FIRST;
    damaged[12] ^= 1;
    peer.say(&damaged);
    assert_eq!((peer.lone.endpoint.endpoint_stats().undecodable, peer.lone.read()), (2, vec![]));
    peer.lone.wait_ms(50);
    assert_eq!(peer.octets(), None);
    peer.say(&FIRST);
    assert_eq!(peer.lone.read(), b"first");
}

/// Its data lacks window and acknowledgement: what was told last holds.
#[test]
fn data_without_an_acknowledgement_leaves_what_was_told_as_it_is() {
    let mut peer = Peer::opened(TCP);
    peer.lone.write(40_000);
    let under_way: Vec<_> = peer.lone.hear();
    let bytes: usize = under_way.iter().map(|heard| heard.payload.len()).sum();
    assert!((32_768 - 1012..=32_768).contains(&bytes), "{bytes} in a window of 32768");
    for n in 0..20 {
        peer.data(1 + 5 * n, b"words");
    }
    assert_eq!(peer.lone.hear(), [], "neither an acknowledgement thrice, nor a window of nothing");
    assert_eq!(peer.lone.read(), b"words".repeat(20));
    peer.acknowledge(1 + bytes as u32, &[]);
    assert_eq!(peer.lone.hear().iter().map(|heard| heard.payload.len()).sum::<usize>(), 40_000 - bytes);
}

#[test]
fn what_is_sent_to_it_has_its_sum_over_6() {
    let mut peer = Peer::opened(COMPRESSED);
    peer.lone.write(2000);
    let mut count = 0;
    while let Some(octets) = peer.octets() {
        let mut without = octets.clone();
        let flags = octets[1];
        let at = 2 + if flags & 0x01 != 0 { 6 } else { 0 } + 4;
        without[at..at + 2].fill(0);
        assert_eq!(octets[at..at + 2], sum(TCP, &without), "{octets:02x?}");
        count += 1;
    }
    assert_eq!(count, 2);
}

/// The left edge in up to three acknowledgements, whose sums are over either protocol.
#[test]
fn the_left_edge_three_times_in_compressed_acknowledgements_goes_again_once() {
    for protocol in [TCP, COMPRESSED] {
        let mut peer = Peer::opened(protocol);
        peer.lone.write(10_120);
        let ends = |heard: &Heard| [heard.sequence, heard.sequence + heard.payload.len() as u32];
        let segments: Vec<[u32; 2]> = peer.lone.hear().iter().map(ends).collect();
        peer.lone.wait_ms(RTT_MS);
        let mut sent = Vec::new();
        for missing in [0..2, 0..2, 0..2, 5..6, 8..9] {
            let [[from, _], [_, to]] = [segments[missing.start], segments[missing.end - 1]];
            let (first, end) = ((from - 1) / BLOCK, (to - 1).div_ceil(BLOCK));
            peer.miss(1, [first as u8, (end - first) as u8]);
            sent.extend(peer.lone.data_sent());
            peer.lone.wait_ms(20);
        }
        assert_eq!(sent, [0, 1, 5, 8].map(|n: usize| segments[n][0]));
        peer.acknowledge(10_121, &[]);
        assert_eq!((peer.lone.stats().in_flight_bytes, peer.lone.data_sent()), (0, vec![]));
    }
}

/// It is told holes as it tells them: six octets each, in a header of 18 for one.
#[test]
fn its_holes_are_told_to_it_by_options_of_six_octets() {
    let mut peer = Peer::opened(TCP);
    peer.data(1001, &[7; 1000]);
    peer.lone.wait_ms(50);
    let answer = peer.octets().unwrap();
    assert_eq!(
        (answer.len(), &answer[1..3], &answer[9..16]),
        (18, &[0x81, 0x80][..], &[6, 21, 6, 0, 0, 0, 1][..])
    );
    peer.data(1, &[7; 1000]);
    peer.lone.wait_ms(50);
    let answer = peer.octets().unwrap();
    assert_eq!((answer.len(), &answer[4..8]), (10, &PEER_INITIAL.wrapping_add(2001).to_be_bytes()[..]));
    assert_eq!(peer.lone.read().len(), 2000);
}
