//! Values that nobody else should be able to guess: initial numbers, timestamp offsets, ports.

use core::hash::Hasher;
use core::net::IpAddr;

use siphasher::sip::SipHasher24;
use skyhaul_core::{Instant, Stream};

use crate::connection::{Entropy, Names};

/// A tick of the clock in initial numbers [RFC 9293 3.4.1].
const TICK_NS: u64 = 4000;
/// Ports that a connection opens from: as many as can be [RFC 6056 3.2].
const FIRST_PORT: u16 = 1024;
const PORTS: u16 = u16::MAX - FIRST_PORT + 1;

/// Keys of this endpoint, for as long as it lives.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    numbers: (u64, u64),
    timestamps: (u64, u64),
    cookies: (u64, u64),
}

impl Secrets {
    pub(super) fn new(random: &mut Stream) -> Self {
        let mut key = || (random.next_u64(), random.next_u64());
        let (numbers, timestamps) = (key(), key());
        let cookies = (derived(numbers, b"cookies"), derived(timestamps, b"cookies"));
        Self { numbers, timestamps, cookies }
    }

    /// Number behind which those of compressed headers are given out.
    pub(super) fn compression_start(&self) -> u8 {
        derived(self.numbers, b"compression") as u8
    }

    /// The initial number rises with the clock for equal ends, and is anything for others [RFC 6528 3]; the
    /// timestamp offset is one for each pair of hosts, so that a later connection's clock is not behind
    /// [RFC 7323 5.4, RFC 6191 2].
    pub(super) fn entropy(&self, names: Names, now: Instant) -> Entropy {
        let ticks = (now.as_ns() / TICK_NS) as u32;
        let (ports, hosts) = (both_ports(names), 0);
        Entropy {
            initial: ticks.wrapping_add(hash(self.numbers, names, ports, &[])),
            timestamp_offset: hash(self.timestamps, names, hosts, &[]),
            number: None,
        }
    }

    /// Bits that nobody else can tell of `text` between these hosts, whatever their ports.
    pub(super) fn host_cookie(&self, names: Names, text: &[u8]) -> u64 {
        whole_hash(self.cookies, names, 0, text)
    }

    /// Bits that nobody else can tell of `text` between these ends.
    pub(super) fn cookie(&self, names: Names, text: &[u8]) -> u32 {
        hash(self.cookies, names, both_ports(names), text)
    }
}

/// Bits made of a key, so that everything else that is drawn stays what it was. No other hash has a text of a
/// `purpose`'s length.
fn derived(key: (u64, u64), purpose: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(key.0, key.1);
    hasher.write(purpose);
    hasher.finish()
}

fn both_ports(names: Names) -> u32 {
    u32::from(names.local_port) << 16 | u32::from(names.remote_port)
}

fn hash(key: (u64, u64), names: Names, ports: u32, text: &[u8]) -> u32 {
    whole_hash(key, names, ports, text) as u32
}

fn whole_hash(key: (u64, u64), names: Names, ports: u32, text: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(key.0, key.1);
    for address in [names.peer.local, names.peer.remote] {
        match address {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
    }
    hasher.write(&ports.to_be_bytes());
    hasher.write(text);
    hasher.finish()
}

/// Candidates for a local port, each once, from a random one on [RFC 6056 3.3.1].
pub(super) fn ports(random: &mut Stream) -> impl Iterator<Item = u16> + use<> {
    let start = random.below(u64::from(PORTS)) as u16;
    (0..PORTS).map(move |n| FIRST_PORT + ((u32::from(start) + u32::from(n)) % u32::from(PORTS)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Way;
    use alloc::collections::BTreeSet;
    use core::net::Ipv4Addr;
    use skyhaul_core::SECOND;

    fn names(local_port: u16) -> Names {
        let address = |last| Ipv4Addr::new(10, 0, 0, last).into();
        Names { peer: Way { local: address(1), remote: address(2) }, local_port, remote_port: 80 }
    }

    #[test]
    fn initial_numbers_rise_with_the_clock_and_differ_for_other_ends() {
        let secrets = Secrets::new(&mut Stream::new(1, "secrets"));
        let at = |port, s| secrets.entropy(names(port), Instant::from_ns(s * SECOND));
        assert_eq!(at(5000, 1).initial.wrapping_sub(at(5000, 0).initial), 250_000);
        assert_eq!(at(5000, 1).timestamp_offset, at(5001, 7).timestamp_offset);
        let numbers: BTreeSet<u32> = (0..1000).map(|port| at(port, 0).initial).collect();
        assert_eq!(numbers.len(), 1000);
        let other = Secrets::new(&mut Stream::new(2, "secrets"));
        assert_ne!(other.entropy(names(5000), Instant::ZERO).initial, at(5000, 0).initial);
    }

    #[test]
    fn every_port_is_tried_once_from_a_random_one_on() {
        let mut random = Stream::new(1, "ports");
        let tried: BTreeSet<u16> = ports(&mut random).collect();
        assert_eq!((tried.len(), tried.first()), (usize::from(PORTS), Some(&FIRST_PORT)));
        assert_ne!(ports(&mut random).next(), ports(&mut random).next());
    }
}
