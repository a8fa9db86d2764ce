use std::net::IpAddr;

use proptest::prelude::*;
use skyhaul_core::Ecn;

use skyhaul_core::ip;
use skyhaul_core::packet::ip_protocol;

use super::{Family, is_intact, packet_too_big};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A packet of `protocol` from the first address to the second, with this body.
fn from_to([source, destination]: [&str; 2], protocol: u8, body: &[u8]) -> Vec<u8> {
    let header = ip::write_header(address(source), address(destination), protocol, Ecn::NotEct, body.len());
    [&header, body].concat()
}

const V4: [&str; 2] = ["10.77.0.1", "10.77.0.2"];
const V6: [&str; 2] = ["fd77::1", "fd77::2"];

#[test]
fn the_sender_is_told_the_largest_packet_and_which_of_its_packets_was_larger() {
    for (way, fixed, largest, kind) in [(V4, 20, 576, [3, 4]), (V6, 40, 1280, [2, 0])] {
        let packet = from_to(way, 17, &[7; 1460]);
        let message = packet_too_big(&packet, 1300).unwrap();
        assert_eq!(message.len(), largest, "as much as fits");
        let header = ip::parse(&message).unwrap();
        assert_eq!((header.source, header.destination), (address(way[1]), address(way[0])));
        assert_eq!(header.fields.protocol, Family::of(header.source).protocol());
        let body = &message[header.body.clone()];
        assert!(is_intact(&header, body));
        assert_eq!(body[..2], kind);
        assert_eq!(u32::from_be_bytes(body[4..8].try_into().unwrap()), 1300);
        assert_eq!(body[8..], packet[..largest - fixed - 8]);
    }
}

#[test]
fn nobody_is_told_about_errors_later_fragments_and_packets_of_no_single_sender() {
    let tells = |packet: &[u8]| packet_too_big(packet, 1300).is_some();
    let body = |kind: u8| vec![kind; 1400];
    assert!(
        tells(&from_to(V4, ip_protocol::ICMP, &body(8)))
            && tells(&from_to(V6, ip_protocol::ICMPV6, &body(128)))
    );
    assert!(!tells(&from_to(V4, ip_protocol::ICMP, &body(3))), "an error");
    assert!(!tells(&from_to(V6, ip_protocol::ICMPV6, &body(2))), "an error");
    assert!(!tells(&from_to(["0.0.0.0", V4[1]], 17, &body(0))));
    assert!(!tells(&from_to(["ff02::1", V6[1]], 17, &body(0))));
    let mut later = from_to(V4, 17, &body(0));
    later[7] = 9;
    assert!(!tells(&later));
}

proptest! {
    #[test]
    fn any_bytes_have_a_message_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        if let Some(message) = packet_too_big(&bytes, 1300) {
            let header = ip::parse(&message).unwrap();
            prop_assert!(is_intact(&header, &message[header.body.clone()]));
        }
    }
}
