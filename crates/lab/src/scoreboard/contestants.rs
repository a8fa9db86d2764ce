//! Contestants: who is measured.

use std::str::FromStr;

use skyhaul_congestion::ControllerKind;

use crate::UnknownName;
use crate::race::Racer;

/// Transport with its name in the tables.
#[derive(Debug, PartialEq, Eq)]
pub struct Contestant {
    /// Name in the tables.
    pub name: &'static str,
    /// Transport as it races.
    pub racer: Racer,
}

/// All of them, in the order of the tables.
static CONTESTANTS: [Contestant; 7] = [
    Contestant { name: "skyhaul", racer: Racer::Standard },
    Contestant { name: "xstp-declared", racer: Racer::Stp { probing: true, declared: true } },
    Contestant { name: "xstp", racer: Racer::Stp { probing: true, declared: false } },
    Contestant { name: "stp", racer: Racer::Stp { probing: false, declared: false } },
    Contestant { name: "tcp-cubic", racer: Racer::Tcp(&ControllerKind::Cubic) },
    Contestant { name: "tcp-bbr", racer: Racer::Tcp(&ControllerKind::Bbr) },
    Contestant { name: "tcp-reno", racer: Racer::Tcp(&ControllerKind::Reno) },
];

/// Contestants of these names, each once; all if there is no name.
pub fn contestants(names: &[ContestantName]) -> Vec<&'static Contestant> {
    let is_chosen = |one: &&Contestant| names.is_empty() || names.iter().any(|name| name.0 == *one);
    CONTESTANTS.iter().filter(is_chosen).collect()
}

/// Name of a contestant.
#[derive(Clone, Copy, Debug)]
pub struct ContestantName(&'static Contestant);

impl FromStr for ContestantName {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let names = CONTESTANTS.iter().map(|one| one.name);
        let found = CONTESTANTS.iter().find(|one| one.name == text);
        found.map(Self).ok_or_else(|| UnknownName::new("nobody", text, names.clone(), names))
    }
}
