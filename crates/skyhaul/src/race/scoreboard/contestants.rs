//! Who is measured.

use std::str::FromStr;

use skyhaul_congestion::ControllerKind;
use skyhaul_sim::scenario::did_you_mean;

use crate::race::racer::Racer;

/// A transport, by its name in the tables.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) racer: Racer,
}

/// In the order of the tables.
static CONTESTANTS: [Contestant; 7] = [
    Contestant { name: "skyhaul", racer: Racer::Standard },
    Contestant { name: "xstp-declared", racer: Racer::Stp { probing: true, declared: true } },
    Contestant { name: "xstp", racer: Racer::Stp { probing: true, declared: false } },
    Contestant { name: "stp", racer: Racer::Stp { probing: false, declared: false } },
    Contestant { name: "tcp-cubic", racer: Racer::Tcp(ControllerKind::Cubic) },
    Contestant { name: "tcp-bbr", racer: Racer::Tcp(ControllerKind::Bbr) },
    Contestant { name: "tcp-reno", racer: Racer::Tcp(ControllerKind::Reno) },
];

/// All, or those of these names; each once.
pub(super) fn chosen(names: &[Name]) -> Vec<&'static Contestant> {
    let is_chosen = |one: &&Contestant| names.is_empty() || names.iter().any(|name| name.0 == *one);
    CONTESTANTS.iter().filter(is_chosen).collect()
}

/// A word of `--with`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name(&'static Contestant);

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = CONTESTANTS.iter().map(|one| one.name);
        let found = CONTESTANTS.iter().find(|one| one.name == text);
        found.map(Self).ok_or_else(|| {
            let all = names.clone().collect::<Vec<_>>().join(", ");
            let hint = did_you_mean(text, names);
            let gap = if hint.is_empty() { "" } else { " " };
            format!("nobody is called that; {hint}{gap}there are {all}")
        })
    }
}
