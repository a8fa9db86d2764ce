//! Ways to a receiver, in the order in which they are tried: each address of its name by each version of the
//! file protocol.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skyhaul_files::Version;

/// STP port of the file transfer in version 1.
pub(crate) const FILES_PORT: u16 = 1;
/// STP ports of the file transfer and the versions whose receivers wait there, in the order in which they are
/// tried. A receiver of before refuses the first: that costs a round trip. Port 3 is that of pairing.
pub(crate) const PORTS: [(u16, Version); 3] =
    [(4, Version::Three), (2, Version::Two), (FILES_PORT, Version::One)];

/// One way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) peer: SocketAddr,
    /// STP port.
    pub(crate) port: u16,
    pub(crate) version: Version,
    /// True if other addresses are asked while this one does not answer, and the first of them that does has
    /// its turn.
    pub(crate) is_raced: bool,
}

/// Reason why a way led to nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// Nothing was heard in time.
    Silent,
    /// The machine itself says, or another on the way, that nobody is there.
    Unreachable,
    /// The machine is there, and nobody waits at that port.
    Refused,
}

/// Ways that are not tried yet.
#[derive(Debug)]
pub(crate) struct Ways(VecDeque<Way>);

impl Ways {
    /// Ways to a receiver with these addresses.
    pub(crate) fn new(peers: &[SocketAddr]) -> Self {
        let is_raced = peers.len() > 1;
        Self(peers.iter().flat_map(|&peer| to(peer, is_raced)).collect())
    }

    /// The next way to try.
    pub(crate) fn next(&mut self) -> Option<Way> {
        self.0.pop_front()
    }

    /// Tries this one again before all others: the receiver was there, and had no room.
    pub(crate) fn again(&mut self, way: Way) {
        self.0.push_front(way);
    }

    /// Way to try after this one, which led to nobody; it is still what [`Self::next`] gives.
    pub(crate) fn after(&mut self, tried: Way, nobody: Nobody) -> Option<Way> {
        if nobody != Nobody::Refused {
            self.forget(tried.peer);
        }
        self.0.front().copied()
    }

    /// Addresses to ask while `tried` does not answer.
    pub(crate) fn rivals(&self, tried: Way) -> Vec<SocketAddr> {
        let mut peers: Vec<SocketAddr> = self.0.iter().map(|way| way.peer).collect();
        peers.dedup();
        peers.retain(|&peer| tried.is_raced && peer != tried.peer);
        peers
    }

    /// True if no other address waits for its turn behind `tried`.
    pub(crate) fn is_last(&self, tried: Way) -> bool {
        self.0.iter().all(|way| way.peer == tried.peer)
    }

    /// Gives `peer`, which has answered, its turn before all others: `tried` was silent, and is tried once
    /// more behind them, by every version.
    pub(crate) fn prefer(&mut self, peer: SocketAddr, tried: Way) -> Option<Way> {
        for other in [tried.peer, peer] {
            self.forget(other);
        }
        self.0.extend(to(tried.peer, false));
        for way in to(peer, false).rev() {
            self.0.push_front(way);
        }
        self.0.front().copied()
    }

    fn forget(&mut self, peer: SocketAddr) {
        self.0.retain(|other| other.peer != peer);
    }
}

/// Ways to one address.
fn to(peer: SocketAddr, is_raced: bool) -> impl DoubleEndedIterator<Item = Way> {
    PORTS.into_iter().map(move |(port, version)| Way { peer, port, version, is_raced })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "[2001:db8::7]:4700";
    const SECOND: &str = "192.0.2.7:4700";
    const THIRD: &str = "192.0.2.8:4700";

    fn ways(peers: &[&str]) -> Ways {
        Ways::new(&peers.iter().map(|peer| peer.parse().unwrap()).collect::<Vec<_>>())
    }

    /// The next way, which is this one.
    fn next(ways: &mut Ways, peer: &str, version: Version, is_raced: bool) -> Way {
        let way = ways.next().unwrap();
        assert_eq!((way.peer.to_string().as_str(), way.version, way.is_raced), (peer, version, is_raced));
        way
    }

    #[test]
    fn who_answers_while_another_is_silent_has_its_turn_and_the_silent_one_a_last() {
        let mut ways = ways(&[FIRST, SECOND, THIRD]);
        let tried = next(&mut ways, FIRST, Version::Three, true);
        assert_eq!(ways.rivals(tried), [SECOND.parse().unwrap(), THIRD.parse().unwrap()]);
        assert_eq!(ways.prefer(THIRD.parse().unwrap(), tried).unwrap().peer, THIRD.parse().unwrap());
        for (peer, is_raced) in [(THIRD, false), (SECOND, true), (FIRST, false)] {
            for (_, version) in PORTS {
                let way = next(&mut ways, peer, version, is_raced);
                assert_eq!(ways.is_last(way), peer == FIRST, "only the last has all the time");
                assert!(is_raced || ways.rivals(way).is_empty());
                ways.after(way, Nobody::Refused);
            }
        }
        assert_eq!(ways.next(), None);
    }

    #[test]
    fn every_address_that_is_silent_to_the_end_is_tried_once() {
        let mut ways = ways(&[FIRST, SECOND]);
        let first = next(&mut ways, FIRST, Version::Three, true);
        let second = ways.after(first, Nobody::Silent);
        assert_eq!(second, Some(next(&mut ways, SECOND, Version::Three, true)));
        assert!(ways.rivals(second.unwrap()).is_empty());
        assert_eq!(ways.after(second.unwrap(), Nobody::Silent), None);
    }

    #[test]
    fn the_only_address_is_tried_by_every_version_and_an_unreachable_one_once() {
        let mut one = ways(&[SECOND]);
        let way = next(&mut one, SECOND, Version::Three, false);
        assert!(one.is_last(way));
        assert!(one.after(way, Nobody::Unreachable).is_none());
        let mut both = ways(&[FIRST, SECOND]);
        let way = next(&mut both, FIRST, Version::Three, true);
        assert!(both.after(way, Nobody::Unreachable).is_some());
        let way = next(&mut both, SECOND, Version::Three, true);
        assert!(both.after(way, Nobody::Refused).is_some());
        let way = next(&mut both, SECOND, Version::Two, true);
        assert!(both.after(way, Nobody::Refused).is_some());
        next(&mut both, SECOND, Version::One, true);
    }
}
