//! Compared cells: the points of the scenario files beside this one.

use skyhaul_scenario::{File, Register, Scenario, Workload};
use skyhaul_sim::{STP, TCP};

/// Most that goodput may differ, in percent of the simulated one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// In each run.
    Each(f64),
    /// Between the medians of all runs: chance decides about a single one.
    Medians(f64),
}

impl Bound {
    /// True if a difference is within it.
    pub(crate) fn permits(self, percent: f64) -> bool {
        let (Self::Each(most) | Self::Medians(most)) = self;
        percent.abs() <= most
    }

    /// True if a run with such a difference says something by itself against agreement.
    pub(crate) fn is_broken_by(self, percent: f64) -> bool {
        matches!(self, Self::Each(_)) && !self.permits(percent)
    }
}

/// One scenario with one transport.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) name: String,
    /// The file it is in.
    pub(crate) file: &'static str,
    pub(crate) scenario: Scenario,
    /// Seed of the first run; the others have the numbers that follow.
    pub(crate) seed: u64,
    /// Runs.
    pub(crate) seeds: u32,
    pub(crate) bound: Bound,
    /// Run only if it is named.
    pub(crate) is_extra: bool,
}

/// Not a part of the matrix.
const EXTRA: [&str; 2] = ["short", "explicit"];

/// Cell whose emulated goodput is to be that of another one, within so many percent of the medians.
pub(crate) const PAIRS: [(&str, &str, f64); 1] = [("explicit-unruled", "explicit-model", 5.0)];

const FILES: [(&str, &str, Bound); 6] = [
    ("clean", include_str!("clean.toml"), Bound::Each(1.0)),
    ("outage", include_str!("outage.toml"), Bound::Each(1.0)),
    ("lossy", include_str!("lossy.toml"), Bound::Medians(3.0)),
    ("thin", include_str!("thin.toml"), Bound::Each(1.0)),
    ("short", include_str!("short.toml"), Bound::Each(1.0)),
    ("explicit", include_str!("explicit.toml"), Bound::Medians(3.0)),
];

/// All cells.
pub(crate) fn all() -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for (name, text, bound) in FILES {
        let file =
            File::parse(&Register::new(&[&STP, &TCP]), name, text).map_err(|error| error.to_string())?;
        for point in file.points() {
            let labels = file.labels(&point);
            let [(_, label)] = labels[..] else { return Err(format!("{name}.toml: one axis is wanted")) };
            cells.push(Cell {
                name: label.to_string(),
                file: name,
                scenario: file.scenario_at(&point).map_err(|error| error.to_string())?,
                seed: file.settings().seed,
                seeds: file.settings().replications,
                bound,
                is_extra: EXTRA.contains(&name),
            });
        }
    }
    Ok(cells)
}

impl Cell {
    /// This cell over links that take a little longer each way.
    pub(crate) fn slower(&self, by_ns: u64) -> Self {
        let mut slower = self.clone();
        for link in &mut slower.scenario.links {
            link.config.forward.delay_ns += by_ns;
            link.config.reverse.delay_ns += by_ns;
        }
        slower
    }

    /// Payload of its flow.
    pub(crate) fn payload_bytes(&self) -> Result<u64, String> {
        match self.scenario.flows[..] {
            [ref flow] => match flow.workload {
                Workload::Bulk { bytes: Some(bytes), rate_bps: None, .. } => Ok(bytes),
                _ => Err(format!("{}: its flow is no file", self.name)),
            },
            _ => Err(format!("{}: one flow is wanted", self.name)),
        }
    }
}
