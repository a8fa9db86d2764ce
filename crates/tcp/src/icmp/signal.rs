//! Signals of SCPS-TP as a router sends them [SCPS-TP 3.1].

use alloc::vec::Vec;
use core::net::IpAddr;

use skyhaul_core::event::RouterSignal;
use skyhaul_core::{Ecn, ip};

use super::{Family, SignalNumbers, message};

/// ICMP message from a router to a host about a packet of this source, destination and protocol, which began
/// with `transport` behind its IP header. Signals have these `numbers`, and all addresses are of one family.
pub fn signal(
    numbers: &SignalNumbers,
    what: RouterSignal,
    [router, host]: [IpAddr; 2],
    (source, destination, protocol): (IpAddr, IpAddr, u8),
    transport: &[u8],
) -> Vec<u8> {
    let numbers = match Family::of(router) {
        Family::V4 => numbers.v4,
        Family::V6 => numbers.v6,
    };
    let (kind, code) = numbers.of(what);
    let quoted = ip::write_header(source, destination, protocol, Ecn::NotEct, transport.len());
    message(router, host, &[&[kind, code, 0, 0], &[0; 4], &quoted, transport])
}

#[cfg(test)]
mod tests {
    use super::super::{IcmpMessage, is_intact, report};
    use super::*;
    use crate::segment::Way;

    #[test]
    fn what_a_router_says_is_what_a_host_reads() {
        let numbers = SignalNumbers::default();
        for [router, host, peer] in [["10.0.0.9", "10.0.0.1", "10.0.0.2"], ["fd77::9", "fd77::1", "fd77::2"]]
        {
            let [router, host, peer]: [IpAddr; 3] = [router, host, peer].map(|text| text.parse().unwrap());
            for signal in
                [RouterSignal::CorruptionExperienced, RouterSignal::LinkOutage, RouterSignal::LinkRestored]
            {
                let what = IcmpMessage::from(signal);
                let about = if what.quotes_the_peer() { (peer, host, 105) } else { (host, peer, 105) };
                let message = super::signal(&numbers, signal, [router, host], about, &[7; 66]);
                assert!(is_intact(router, host, &message));
                let quoted = report(Family::of(host), &message, &numbers).unwrap();
                assert_eq!((quoted.message, quoted.protocol, quoted.segment), (what, 105, &[7; 66][..]));
                assert_eq!(quoted.way, Way { local: host, remote: peer });
            }
        }
    }
}
