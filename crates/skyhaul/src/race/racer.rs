//! Who can race.

use std::str::FromStr;

use serde::{Serialize, Serializer};
use skyhaul_congestion::ControllerKind;
use skyhaul_sim::Protocol;
use skyhaul_sim::scenario::did_you_mean;

/// A transport as it races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Racer {
    /// STP as it is without any option: nothing declared.
    Standard,
    /// STP by the papers' window, with or without the probing of XSTP, with or without a declared rate.
    Stp { probing: bool, declared: bool },
    /// TCP with this controller: our own in virtual time, the kernel's in real time.
    Tcp(ControllerKind),
}

const fn stp(probing: bool, declared: bool) -> Racer {
    Racer::Stp { probing, declared }
}

/// What `--with` takes, and whom it means. Every racer stands in a list of its own, whose name is its name.
const ENTRIES: [(&str, &[Racer]); 10] = [
    ("skyhaul", &[Racer::Standard]),
    ("xstp", &[stp(true, true), stp(true, false)]),
    ("xstp-declared", &[stp(true, true)]),
    ("xstp-undeclared", &[stp(true, false)]),
    ("stp", &[stp(false, true), stp(false, false)]),
    ("stp-declared", &[stp(false, true)]),
    ("stp-undeclared", &[stp(false, false)]),
    ("tcp-cubic", &[Racer::Tcp(ControllerKind::Cubic)]),
    ("tcp-bbr", &[Racer::Tcp(ControllerKind::Bbr)]),
    ("tcp-reno", &[Racer::Tcp(ControllerKind::Reno)]),
];

/// A word of `--with`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(pub(super) &'static [Racer]);

impl FromStr for Entry {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = ENTRIES.iter().map(|&(name, _)| name);
        let found = ENTRIES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, racers)| Self(racers)).ok_or_else(|| {
            let all = names.clone().collect::<Vec<_>>().join(", ");
            let hint = did_you_mean(name, names);
            let gap = if hint.is_empty() { "" } else { " " };
            format!("nobody is called that; {hint}{gap}there are {all}")
        })
    }
}

impl Racer {
    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        let own = ENTRIES.iter().find(|(_, racers)| *racers == [self]);
        own.map_or("tcp", |&(name, _)| name) // every racer has an entry of its own
    }

    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Standard | Self::Stp { .. } => Protocol::Stp,
            Self::Tcp(_) => Protocol::Tcp,
        }
    }

    /// Whether it is told the rate of the path.
    pub(super) fn is_declared(self) -> bool {
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
            let Entry(named) = racer.name().parse().unwrap();
            assert_eq!(named, [*racer], "{racer:?}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_told_what_was_meant() {
        let error = "tcp-cubci".parse::<Entry>().unwrap_err();
        assert!(error.contains("did you mean `tcp-cubic`?") && error.contains("xstp-declared"), "{error}");
        assert!(!"quic".parse::<Entry>().unwrap_err().contains("did you mean"));
    }
}
