//! Segments that Linux 6.18 wrote into a TUN device, read there with its addresses: a connection to port 80
//! that asks for ECN, sends twelve bytes, hears 50 bytes out of sequence twice, ends and resets.

use alloc::vec::Vec;
use core::net::IpAddr;

use super::vectors::hex;
use super::{Options, SackBlocks, Segment, Timestamps, Way, decode, encode, flags};

const IPV4: [&str; 7] = [
    "db520050318d8f3500000000a0c2faf08efb0000020405b40402080ae4a027ae000000000103030a",
    "db520050318d8f36000003e98010003fb23a00000101080ae4a027ae00000309",
    "db520050318d8f36000003e98018003f2af400000101080ae4a027ae0000030968656c6c6f206b65726e656c",
    "db520050318d8f42000003e9b010003f734b00000101080ae4a027ae000003090101050a0000044d0000047f",
    "db520050318d8f42000003e9d010003f4a6f00000101080ae4a027ae00000309010105120000044d0000047f0000044d0000047f",
    "db520050318d8f42000003e9b011003f734a00000101080ae4a027ae000003090101050a0000044d0000047f",
    "db520050318d8f43000003e9b014003f734600000101080ae4a027ae000003090101050a0000044d0000047f",
];

const IPV6: [&str; 7] = [
    "e44c005003e90db900000000a0c2fd20b1480000020405a00402080a8b09bb3c000000000103030a",
    "e44c005003e90dba000003e980100040d6a200000101080a8b09bb3c00000309",
    "e44c005003e90dba000003e9801800404f5c00000101080a8b09bb3c0000030968656c6c6f206b65726e656c",
    "e44c005003e90dc6000003e9b010004097b300000101080a8b09bb3c000003090101050a0000044d0000047f",
    "e44c005003e90dc6000003e9d01000406ed600000101080a8b09bb3d00000309010105120000044d0000047f0000044d0000047f",
    "e44c005003e90dc6000003e9b011004097b100000101080a8b09bb3d000003090101050a0000044d0000047f",
    "e44c005003e90dc7000003e9b014004097ad00000101080a8b09bb3d000003090101050a0000044d0000047f",
];

fn way(kernel: &str, other: &str) -> Way {
    let address = |text: &str| text.parse::<IpAddr>().expect("an address");
    Way { local: address(other), remote: address(kernel) }
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::default();
    assert!(blocks.iter().all(|&(first, end)| sack.push(first, end)));
    sack
}

/// Ranges that came out of sequence.
const ONCE: &[(u32, u32)] = &[(1101, 1151)];

/// Control bits, number behind the initial one, payload, SACK blocks.
type Expected = (u8, u32, &'static [u8], &'static [(u32, u32)]);

fn assert_segments(way: Way, texts: [&str; 7], initial: u32, mss: u16) {
    let bytes: Vec<Vec<u8>> = texts.into_iter().map(hex).collect();
    let segments: Vec<Segment<'_>> =
        bytes.iter().map(|bytes| decode(way, bytes).expect("a segment of the kernel")).collect();
    let syn = &segments[0];
    let first_stamp = syn.options.timestamps.map_or(0, |stamps| stamps.value);
    let offer = Options {
        mss: Some(mss),
        window_scale: Some(10),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: first_stamp, echo: 0 }),
        ..Options::default()
    };
    assert_eq!(
        (syn.flags, syn.sequence, syn.options),
        (flags::SYN | flags::ECE | flags::CWR, initial, offer)
    );
    let expected: [Expected; 6] = [
        (flags::ACK, 1, b"", &[]),
        (flags::ACK | flags::PSH, 1, b"hello kernel", &[]),
        (flags::ACK, 13, b"", ONCE),
        (flags::ACK, 13, b"", &[(1101, 1151), (1101, 1151)]),
        (flags::ACK | flags::FIN, 13, b"", ONCE),
        (flags::ACK | flags::RST, 14, b"", ONCE),
    ];
    for ((segment, bytes), (bits, number, payload, blocks)) in
        segments.iter().zip(&bytes).skip(1).zip(expected)
    {
        assert_eq!((segment.flags, segment.sequence), (bits, initial + number));
        assert_eq!((segment.acknowledgement, segment.payload.0), (1001, payload));
        assert_eq!(segment.options.sack, sack(blocks));
        // Behind an opening, the kernel lays its options as we do.
        let mut again = Vec::new();
        encode(way.reversed(), segment, &mut again);
        assert_eq!(&again, bytes);
    }
}

#[test]
fn segments_of_the_linux_kernel_over_ipv4() {
    assert_segments(way("10.77.0.1", "10.77.0.2"), IPV4, 0x318d_8f35, 1460);
}

#[test]
fn segments_of_the_linux_kernel_over_ipv6() {
    assert_segments(way("2001:db8:77::1", "2001:db8:77::2"), IPV6, 0x03e9_0db9, 1440);
}
