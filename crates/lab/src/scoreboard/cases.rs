//! Cases: what everybody is measured on.

use std::str::FromStr;

use crate::UnknownName;

const MB: u64 = 1_000_000;

/// Ready scenario, or one point of it.
#[derive(Debug)]
pub struct Case {
    /// Name in the tables.
    pub name: &'static str,
    /// Scenario file, without its ending.
    pub(super) file: &'static str,
    /// Keys of the file that are changed.
    pub(super) set: &'static [(&'static str, &'static str)],
    pub(super) group: Group,
    pub(super) load: Load,
}

/// Group of cases that are drawn into one panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Geostationary,
    Moving,
    Changing,
    Beside,
    Themselves,
}

/// Load of a case: what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// One transfer that has the path to itself, of so many bytes.
    Transfer { bytes: u64 },
    /// All flows of the file, without an end; of these it is measured what they get.
    Flows { of_contestant: &'static [&'static str] },
}

impl Case {
    /// True if one transfer has the path to itself: only such cases run in real time.
    pub fn is_single(&self) -> bool {
        matches!(self.load, Load::Transfer { .. })
    }
}

impl Group {
    pub(super) const ALL: [Self; 5] =
        [Self::Geostationary, Self::Moving, Self::Changing, Self::Beside, Self::Themselves];

    /// Name for people, and of its results where figures are defined.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Geostationary => "Geostationary",
            Self::Moving => "Low orbits, and SCPS",
            Self::Changing => "Changing rates, and queues",
            Self::Beside => "Beside other transports",
            Self::Themselves => "Among their own",
        }
    }
}

const fn transfer(name: &'static str, group: Group, bytes: u64) -> Case {
    Case { name, file: name, set: &[], group, load: Load::Transfer { bytes } }
}

const fn beside(name: &'static str, file: &'static str, of_contestant: &'static [&'static str]) -> Case {
    Case { name, file, set: &[], group: Group::Beside, load: Load::Flows { of_contestant } }
}

const fn among(name: &'static str, of_contestant: &'static [&'static str]) -> Case {
    Case { name, file: name, set: &[], group: Group::Themselves, load: Load::Flows { of_contestant } }
}

/// All cases, in the order of the tables. Sizes are such that a transfer meets what the scenario is about.
pub static CASES: [Case; 19] = [
    transfer("geo", Group::Geostationary, 20 * MB),
    Case {
        name: "geo-noisy-1e-6",
        file: "geo-noisy",
        set: &[
            ("links.geo-noisy.forward.bit_error_rate", "1e-6"),
            ("links.geo-noisy.reverse.bit_error_rate", "1e-6"),
        ],
        ..transfer("", Group::Geostationary, 20 * MB)
    },
    transfer("geo-noisy", Group::Geostationary, 20 * MB),
    transfer("thin-return", Group::Geostationary, 20 * MB),
    transfer("whisper-return", Group::Geostationary, 5 * MB),
    transfer("leo-handoff", Group::Moving, 10 * MB),
    transfer("leo-passes", Group::Moving, 10 * MB),
    Case { set: &[("sweep", "{}")], ..transfer("starlink", Group::Moving, 250 * MB) },
    Case { set: &[RATE_OF_SCPS], ..transfer("scps", Group::Moving, 5 * MB) },
    Case {
        name: "scps-noisy",
        set: &[RATE_OF_SCPS, ("sweep", "{}")],
        ..transfer("scps", Group::Moving, 5 * MB)
    },
    // The higher of its two rates.
    Case { set: &[("transports.stp.rate", "10Mbit/s")], ..transfer("steps", Group::Changing, 40 * MB) },
    transfer("rain-fade", Group::Changing, 20 * MB),
    transfer("shallow-queue", Group::Changing, 20 * MB),
    transfer("deep-queue", Group::Changing, MB * 3 / 10),
    Case {
        set: &[("sweep", "{}"), ("transports.rival.controller", "cubic")],
        ..beside("beside-cubic", "beside-tcp", &["xstp"])
    },
    Case {
        set: &[("sweep", "{}"), ("transports.rival.controller", "bbr")],
        ..beside("beside-bbr", "beside-tcp", &["xstp"])
    },
    // Half as long as the file has it.
    Case { set: &[("run.duration", "300s")], ..beside("fairness", "fairness", &["xstp"]) },
    among("fairness-rtt", &["near", "middle", "far"]),
    among("joining", &["file"]),
];

/// The file declares 95 % of it, as the paper has it.
const RATE_OF_SCPS: (&str, &str) = ("transports.stp.rate", "1.5Mbit/s");

/// Name of a case, or of a file for all cases that it has.
#[derive(Clone, Copy, Debug)]
pub struct CaseName(&'static str);

impl CaseName {
    /// True if the name is, or covers, this case.
    pub fn means(self, case: &Case) -> bool {
        case.name == self.0 || (case.file == self.0 && CASES.iter().all(|case| case.name != self.0))
    }
}

impl FromStr for CaseName {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let names = CASES.iter().flat_map(|case| [case.name, case.file]);
        if let Some(known) = names.clone().find(|name| *name == text) {
            return Ok(Self(known));
        }
        let cases = CASES.iter().map(|case| case.name);
        Err(UnknownName::new("no ready scenario", text, names, cases))
    }
}

#[cfg(test)]
#[path = "cases_tests.rs"]
mod tests;
