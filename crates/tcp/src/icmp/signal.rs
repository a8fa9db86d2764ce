//! Signals of SCPS-TP as a router sends them [SCPS-TP 3.1].

use alloc::vec::Vec;
use core::net::IpAddr;

use skyhaul_core::{Ecn, ip};

use super::{Family, IcmpMessage, SignalNumbers, message};

/// ICMP message from a router to a host about a packet of this source, destination and protocol, which began
/// with `transport` behind its IP header. `None`: it is none of the signals that have `numbers`. All
/// addresses are of one family.
pub fn signal(
    numbers: &SignalNumbers,
    what: IcmpMessage,
    [router, host]: [IpAddr; 2],
    (source, destination, protocol): (IpAddr, IpAddr, u8),
    transport: &[u8],
) -> Option<Vec<u8>> {
    let numbers = match Family::of(router) {
        Family::V4 => numbers.v4,
        Family::V6 => numbers.v6,
    };
    let (kind, code) = numbers.of(what)?;
    let quoted = ip::write_header(source, destination, protocol, Ecn::NotEct, transport.len());
    Some(message(router, host, &[&[kind, code, 0, 0], &[0; 4], &quoted, transport]))
}

#[cfg(test)]
mod tests {
    use super::super::{is_intact, report};
    use super::*;
    use crate::segment::Way;

    #[test]
    fn what_a_router_says_is_what_a_host_reads() {
        let numbers = SignalNumbers::default();
        for [router, host, peer] in [["10.0.0.9", "10.0.0.1", "10.0.0.2"], ["fd77::9", "fd77::1", "fd77::2"]]
        {
            let [router, host, peer]: [IpAddr; 3] = [router, host, peer].map(|text| text.parse().unwrap());
            for what in
                [IcmpMessage::CorruptionExperienced, IcmpMessage::LinkOutage, IcmpMessage::LinkRestored]
            {
                let about = if what.quotes_the_peer() { (peer, host, 105) } else { (host, peer, 105) };
                let message = signal(&numbers, what, [router, host], about, &[7; 66]).unwrap();
                assert!(is_intact(router, host, &message));
                let quoted = report(Family::of(host), &message, &numbers).unwrap();
                assert_eq!((quoted.message, quoted.protocol, quoted.segment), (what, 105, &[7; 66][..]));
                assert_eq!(quoted.way, Way { local: host, remote: peer });
            }
            let about = (host, peer, 6);
            assert_eq!(signal(&numbers, IcmpMessage::TimeExceeded, [router, host], about, &[7; 20]), None);
        }
    }
}
