//! Path headers in real time: behind the first octet of a datagram over UDP, outside of any seal
//! (`docs/spec/envelope.md`, 5). Endpoints put them there and take them off; emulated links let their routers
//! write on them.

use skyhaul_core::PathHeader;
use skyhaul_core::envelope::{with_path_header, without_path_header};
use skyhaul_core::packet::ip_protocol;
use skyhaul_xcp::{HEADER_BYTES, decode, encode, rewrite};

/// Datagrams of `datagram_bytes` each, the last one perhaps fewer, with the header behind their first octets.
pub(crate) fn insert(datagrams: &[u8], datagram_bytes: usize, header: &PathHeader) -> Vec<u8> {
    let octets = encode(ip_protocol::EXPERIMENT, header);
    let chunks = datagrams.chunks(datagram_bytes.max(1));
    let mut out = Vec::with_capacity(datagrams.len() + chunks.len() * HEADER_BYTES);
    for datagram in chunks {
        let Some((&first, rest)) = datagram.split_first() else { continue };
        out.push(with_path_header(first));
        out.extend_from_slice(&octets);
        out.extend_from_slice(rest);
    }
    out
}

/// Takes the header off a datagram: what is left of it is the same datagram without.
pub(crate) fn take(datagram: &mut [u8]) -> (Option<PathHeader>, &mut [u8]) {
    let Some((first, header)) = found(datagram) else { return (None, datagram) };
    let rest = &mut datagram[HEADER_BYTES..]; // that many octets at least
    rest[0] = first;
    (Some(header), rest)
}

/// First octet without the bit, and the header behind it.
fn found(datagram: &[u8]) -> Option<(u8, PathHeader)> {
    let (&first, rest) = datagram.split_first()?;
    let first = without_path_header(first)?;
    let (_, header) = decode(rest).ok()?;
    Some((first, header))
}

/// Header of a datagram for a link, of which it counts among the octets.
pub(crate) fn of_datagram(datagram: &[u8]) -> Option<PathHeader> {
    found(datagram).map(|(_, header)| PathHeader { wire_bytes: 0, ..header })
}

/// Datagram with what routers have written on its header.
pub(crate) fn written(datagram: &[u8], header: &PathHeader) -> Vec<u8> {
    let mut datagram = datagram.to_vec();
    if let Some(octets) = datagram.get_mut(1..) {
        rewrite(octets, header);
    }
    datagram
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use skyhaul_core::HeaderTime;

    fn header() -> PathHeader {
        let rtt = HeaderTime::from_ns(600_000_000);
        PathHeader { rtt, delta_bytes_per_s: 4321, ..PathHeader::default() }
    }

    #[test]
    fn a_header_is_taken_off_as_it_was_put_on() {
        let with = insert(b"\x20first\x24next\x28!", 6, &header());
        let mut datagrams: Vec<_> = [0..26, 26..52].map(|range| with[range].to_vec()).to_vec();
        let taken: Vec<_> = datagrams.iter_mut().map(|datagram| take(datagram)).collect();
        assert_eq!(taken[0], (Some(header()), &mut b"\x20first"[..].to_vec()[..]));
        assert_eq!(taken[1].1, b"\x24next\x28");
        assert_eq!(with.len(), 13 + 3 * 20);
    }

    #[test]
    fn a_router_writes_on_the_header_and_on_nothing_else() {
        let with = insert(b"\x24body", 5, &header());
        let granted = PathHeader { delta_bytes_per_s: 1234, routers: 1, ..header() };
        let out = written(&with, &of_datagram(&with).map(|_| granted).unwrap());
        assert_eq!(out.len(), with.len());
        let differ: Vec<_> = (0..out.len()).filter(|&at| out[at] != with[at]).collect();
        assert_eq!(differ, [4, 19, 20], "routers and the wanted change");
    }

    #[test]
    fn what_only_looks_like_one_passes() {
        let good = insert(b"\x20body", 5, &header());
        let other = |at: usize, octet: u8| {
            let mut bytes = good.clone();
            bytes[at] = octet;
            bytes
        };
        // Version, an unknown mode, the reserved bit; length, version and format of the header; cut off.
        let others =
            [other(0, 0x42), other(0, 0x2E), other(0, 0x23), other(2, 19), other(3, 0x21), other(3, 0x33)];
        for bytes in others.into_iter().chain([good[..20].to_vec(), Vec::new(), b"\x22".to_vec()]) {
            assert_eq!(of_datagram(&bytes), None, "{bytes:02x?}");
            assert_eq!(take(&mut bytes.clone()).1, &bytes[..]);
        }
    }

    proptest! {
        #[test]
        fn any_octets_pass_unchanged_through_a_router_that_writes_nothing(
            length in 0usize..60, changes in proptest::collection::vec((0usize..60, any::<u8>()), 0..6),
        ) {
            let mut bytes = insert(&[0x20; 40], 40, &header());
            bytes.truncate(length);
            for (at, octet) in changes {
                if let Some(old) = bytes.get_mut(at) {
                    *old = octet;
                }
            }
            if let Some(header) = of_datagram(&bytes) {
                prop_assert_eq!(&written(&bytes, &header), &bytes);
                let (taken, rest) = (header, bytes.len() - HEADER_BYTES);
                let (again, left) = take(&mut bytes);
                prop_assert_eq!((again.map(|all| PathHeader { wire_bytes: 0, ..all }), left.len()), (Some(taken), rest));
            }
        }
    }
}
