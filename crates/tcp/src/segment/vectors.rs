//! Golden bytes, put together field by field, with checksums that another program computed.

use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use super::{Options, SackBlocks, Segment, Timestamps, Way, decode, encode, flags};

pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect()
}

fn assert_vector(way: Way, segment: &Segment<'_>, text: &str) {
    let mut bytes = Vec::new();
    encode(way, segment, &mut bytes);
    assert_eq!(bytes, hex(text));
    assert_eq!(decode(way.reversed(), &bytes).as_ref(), Ok(segment));
}

#[test]
fn an_opening_over_ipv4() {
    let way =
        Way { local: Ipv4Addr::new(192, 0, 2, 1).into(), remote: Ipv4Addr::new(198, 51, 100, 2).into() };
    let segment = Segment {
        source_port: 49152,
        destination_port: 80,
        sequence: 0x0102_0304,
        flags: flags::SYN,
        window: 64240,
        options: Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1000, echo: 0 }),
            ..Options::default()
        },
        ..Segment::default()
    };
    let text = "c00000500102030400000000b002faf086930000
        020405b4010104020101080a000003e800000000
        01030307";
    assert_vector(way, &segment, text);
}

#[test]
fn data_with_selective_acknowledgements_over_ipv6() {
    let address = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).into();
    let mut sack = SackBlocks::default();
    assert!(sack.push(0x0102_0a00, 0x0102_0b00) && sack.push(0x0102_0500, 0x0102_0600));
    let segment = Segment {
        source_port: 80,
        destination_port: 49152,
        sequence: 0xffff_fffe,
        acknowledgement: 0x0102_0305,
        flags: flags::ACK | flags::PSH,
        window: 502,
        options: Options {
            timestamps: Some(Timestamps { value: 2000, echo: 1000 }),
            sack,
            ..Options::default()
        },
        payload: (b"odd", b""),
        ..Segment::default()
    };
    let text = "0050c000fffffffe01020305d01801f6fba40000
        0101080a000007d0000003e80101051201020a00
        01020b0001020500010206006f6464";
    assert_vector(Way { local: address(1), remote: address(2) }, &segment, text);
}
