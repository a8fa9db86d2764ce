//! Racers: transports that can be raced, and their names.

use std::str::FromStr;

use serde::{Serialize, Serializer};
use skyhaul_congestion::ControllerKind;
use skyhaul_scenario::Protocol;
use skyhaul_sim::{STP, TCP};

use crate::UnknownName;

/// Transport as it races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Racer {
    /// STP as it is without any option: nothing declared.
    Standard,
    /// STP by the papers' window, with or without the probing of XSTP, with or without a declared rate.
    Stp {
        /// XSTP's probing is on.
        probing: bool,
        /// The rate of the path is declared.
        declared: bool,
    },
    /// TCP with this controller: our own in virtual time, the kernel's in real time.
    Tcp(&'static ControllerKind),
}

const fn stp(probing: bool, declared: bool) -> Racer {
    Racer::Stp { probing, declared }
}

/// Names and whom each means. Every racer stands in a list of its own, whose name is its name.
const ENTRIES: [(&str, &[Racer]); 10] = [
    ("skyhaul", &[Racer::Standard]),
    ("xstp", &[stp(true, true), stp(true, false)]),
    ("xstp-declared", &[stp(true, true)]),
    ("xstp-undeclared", &[stp(true, false)]),
    ("stp", &[stp(false, true), stp(false, false)]),
    ("stp-declared", &[stp(false, true)]),
    ("stp-undeclared", &[stp(false, false)]),
    ("tcp-cubic", &[Racer::Tcp(&ControllerKind::Cubic)]),
    ("tcp-bbr", &[Racer::Tcp(&ControllerKind::Bbr)]),
    ("tcp-reno", &[Racer::Tcp(&ControllerKind::Reno)]),
];

/// Racers that one name means.
#[derive(Clone, Copy, Debug)]
pub struct RacerName(pub &'static [Racer]);

impl FromStr for RacerName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let names = ENTRIES.iter().map(|&(name, _)| name);
        let found = ENTRIES.iter().find(|(known, _)| *known == name);
        found
            .map(|&(_, racers)| Self(racers))
            .ok_or_else(|| UnknownName::new("nobody", name, names.clone(), names))
    }
}

impl Racer {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        let own = ENTRIES.iter().find(|(_, racers)| *racers == [self]);
        own.map_or("tcp", |&(name, _)| name) // every racer has an entry of its own
    }

    /// Protocol that carries it, and whose headers the limit of a link counts.
    pub fn protocol(self) -> &'static dyn Protocol {
        match self {
            Self::Standard | Self::Stp { .. } => &STP,
            Self::Tcp(_) => &TCP,
        }
    }

    /// Name of its protocol in results.
    pub(super) fn transport_name(self) -> &'static str {
        self.protocol().name()
    }

    /// True if it is told the rate of the path.
    pub fn is_declared(self) -> bool {
        matches!(self, Self::Stp { declared: true, .. })
    }
}

/// By name.
impl Serialize for Racer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_racer_has_a_name_that_means_it_alone() {
        for racer in ENTRIES.iter().flat_map(|(_, racers)| *racers) {
            let RacerName(named) = racer.name().parse().unwrap();
            assert_eq!(named, [*racer], "{racer:?}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_told_what_was_meant() {
        let error = "tcp-cubci".parse::<RacerName>().unwrap_err().to_string();
        assert!(error.contains("did you mean `tcp-cubic`?") && error.contains("xstp-declared"), "{error}");
        assert!(!"quic".parse::<RacerName>().unwrap_err().to_string().contains("did you mean"));
    }
}
