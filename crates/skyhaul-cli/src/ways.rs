//! Ways to a receiver, in the order in which they are tried: each address of its name by each version of the
//! file protocol.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skyhaul_files::Version;

/// STP port of the file transfer, whose receiver takes version 1.
pub(crate) const FILES_PORT: u16 = 1;
/// STP port of the file transfer, whose receiver takes version 2, too.
pub(crate) const WIDE_FILES_PORT: u16 = 2;
/// Ports and versions that are tried in turn. A receiver of before refuses the first: that costs a round
/// trip.
const PORTS: [(u16, Version); 2] = [(WIDE_FILES_PORT, Version::Two), (FILES_PORT, Version::One)];

/// One way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) peer: SocketAddr,
    /// STP port.
    pub(crate) port: u16,
    pub(crate) version: Version,
    /// True of the first try of one address of several: it may be one that never answers.
    pub(crate) is_hasty: bool,
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
        let is_hasty = peers.len() > 1;
        Self(peers.iter().flat_map(|&peer| to(peer, is_hasty)).collect())
    }

    /// The next way to try.
    pub(crate) fn next(&mut self) -> Option<Way> {
        self.0.pop_front()
    }

    /// Tries this one again before all others: the receiver was there, and had no room.
    pub(crate) fn again(&mut self, way: Way) {
        self.0.push_front(way);
    }

    /// Way to try after this one, which led to nobody; it is still what [`Self::next`] gives. An address that
    /// was silent is tried once more behind all others, by every version and with all patience.
    pub(crate) fn after(&mut self, tried: Way, nobody: Nobody) -> Option<Way> {
        if nobody != Nobody::Refused {
            self.0.retain(|other| other.peer != tried.peer);
        }
        if nobody == Nobody::Silent && tried.is_hasty {
            self.0.extend(to(tried.peer, false));
        }
        self.0.front().copied()
    }
}

/// Ways to one address.
fn to(peer: SocketAddr, is_hasty: bool) -> impl Iterator<Item = Way> {
    PORTS.into_iter().map(move |(port, version)| Way { peer, port, version, is_hasty })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "[2001:db8::7]:4700";
    const SECOND: &str = "192.0.2.7:4700";

    fn ways(peers: &[&str]) -> Ways {
        Ways::new(&peers.iter().map(|peer| peer.parse().unwrap()).collect::<Vec<_>>())
    }

    /// The next way is this one; then `nobody` is found there.
    fn finds(ways: &mut Ways, peer: &str, version: Version, is_hasty: bool, nobody: Nobody) -> bool {
        let way = ways.next().unwrap();
        assert_eq!((way.peer.to_string().as_str(), way.version, way.is_hasty), (peer, version, is_hasty));
        ways.after(way, nobody).is_some()
    }

    #[test]
    fn a_silent_address_is_tried_once_more_by_every_version_behind_the_others() {
        let mut ways = ways(&[FIRST, SECOND]);
        assert!(finds(&mut ways, FIRST, Version::Two, true, Nobody::Silent));
        assert!(finds(&mut ways, SECOND, Version::Two, true, Nobody::Refused));
        assert!(finds(&mut ways, SECOND, Version::One, true, Nobody::Refused));
        assert!(finds(&mut ways, FIRST, Version::Two, false, Nobody::Refused));
        assert!(!finds(&mut ways, FIRST, Version::One, false, Nobody::Refused));
        assert_eq!(ways.next(), None);
    }

    #[test]
    fn every_silent_address_is_tried_twice_and_no_more() {
        let mut ways = ways(&[FIRST, SECOND]);
        for (peer, is_hasty) in [(FIRST, true), (SECOND, true), (FIRST, false)] {
            assert!(finds(&mut ways, peer, Version::Two, is_hasty, Nobody::Silent));
        }
        assert!(!finds(&mut ways, SECOND, Version::Two, false, Nobody::Silent));
    }

    #[test]
    fn the_only_address_is_tried_with_all_patience_and_an_unreachable_one_once() {
        assert!(!finds(&mut ways(&[SECOND]), SECOND, Version::Two, false, Nobody::Silent));
        assert!(!finds(&mut ways(&[SECOND]), SECOND, Version::Two, false, Nobody::Unreachable));
        let mut both = ways(&[FIRST, SECOND]);
        assert!(finds(&mut both, FIRST, Version::Two, true, Nobody::Unreachable));
        assert!(finds(&mut both, SECOND, Version::Two, true, Nobody::Refused));
    }
}
