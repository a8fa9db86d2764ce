//! File of a map: its axes, and how many cells are drawn from them.

use std::ops::RangeInclusive;

use serde::Deserialize;
use skyhaul_core::units::{parse_rate_bps, parse_time_ns};

use super::cell::{Cell, Discipline, Hosts, Kind};
use super::error::MapError;

/// Most cells of a map.
const MAX_CELLS: usize = 2000;
/// Most runs of a cell.
pub const MAX_RUNS: u32 = 100;
/// Bounds of the axes.
const OWN: RangeInclusive<u32> = 1..=16;
const TCPS: RangeInclusive<u32> = 0..=16;
const QUEUE: RangeInclusive<f64> = 0.01..=64.0;
const LOSS: RangeInclusive<f64> = 0.0..=0.2;
const RTT_NS: RangeInclusive<u64> = 1_000_000..=5_000_000_000;
const RATE_BPS: RangeInclusive<u64> = 16_000..=1_000_000_000;
/// Most packets that the links of all runs together may carry: about an hour of two processors.
const MAX_PACKETS: u64 = 3_000_000_000;
/// Most bytes under way and queued in a run.
const MAX_STANDING_BYTES: u64 = 256_000_000;

/// File of a map, as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    pub(super) title: String,
    pub(super) seed: u64,
    pub(super) cells: usize,
    pub(super) runs: u32,
    pub(super) as_many: f64,
    pub(super) axes: Axes,
    #[serde(default, rename = "cell")]
    given: Vec<GivenCell>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Axes {
    pub(super) own: Range<u32>,
    pub(super) hosts: Vec<Hosts>,
    pub(super) tcps: Range<u32>,
    pub(super) kinds: Vec<Kind>,
    pub(super) queue: Range<f64>,
    pub(super) disciplines: Vec<Discipline>,
    pub(super) loss: Vec<f64>,
    pub(super) rtt: Range<Time>,
    pub(super) rate: Range<Rate>,
}

/// Values from one to another, both of them included.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range<T> {
    pub(super) from: T,
    pub(super) to: T,
}

/// Time in nanoseconds, as in `"20ms"`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Time(pub(super) u64);

/// Rate in bit/s, as in `"10Mbit/s"`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Rate(pub(super) u64);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_time_ns(&text).map(Self)
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_rate_bps(&text).map(Self)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenCell {
    own: u32,
    hosts: Hosts,
    tcps: u32,
    kind: Kind,
    queue: f64,
    discipline: Discipline,
    loss: f64,
    rtt: Time,
    rate: Rate,
}

impl GivenCell {
    fn cell(&self) -> Cell {
        Cell {
            own: self.own,
            hosts: self.hosts,
            tcps: self.tcps,
            kind: self.kind,
            queue: self.queue,
            discipline: self.discipline,
            loss: self.loss,
            rtt_ns: self.rtt.0,
            rate_bps: self.rate.0,
        }
    }
}

impl Definition {
    /// File of this text; `label` names it in messages.
    pub(super) fn parse(label: &str, text: &str) -> Result<Self, MapError> {
        let definition: Self = toml::from_str(text)
            .map_err(|error| MapError::Syntax { file: label.to_string(), error: Box::new(error) })?;
        definition.check().map_err(|what| MapError::Absurd { file: label.to_string(), what })?;
        Ok(definition)
    }

    /// Cells that are there whatever is drawn.
    pub(super) fn given(&self) -> impl Iterator<Item = Cell> {
        self.given.iter().map(GivenCell::cell)
    }

    fn check(&self) -> Result<(), String> {
        let axes = &self.axes;
        within("cells", self.cells, &(self.given.len().max(1)..=MAX_CELLS))?;
        within("runs", self.runs, &(1..=MAX_RUNS))?;
        within("as_many", self.as_many, &(0.0..=1.0))?;
        range("axes.own", axes.own, &OWN)?;
        range("axes.tcps", axes.tcps, &TCPS)?;
        range("axes.queue", axes.queue, &QUEUE)?;
        range("axes.rtt (ns)", axes.rtt.map(|time| time.0), &RTT_NS)?;
        range("axes.rate (bit/s)", axes.rate.map(|rate| rate.0), &RATE_BPS)?;
        axes.loss.iter().try_for_each(|&loss| within("axes.loss", loss, &LOSS))?;
        let lists = [
            ("axes.hosts", axes.hosts.len()),
            ("axes.kinds", axes.kinds.len()),
            ("axes.disciplines", axes.disciplines.len()),
            ("axes.loss", axes.loss.len()),
        ];
        if let Some((key, _)) = lists.into_iter().find(|&(_, length)| length == 0) {
            return Err(format!("{key} is an empty list: it needs a value"));
        }
        self.given.iter().enumerate().try_for_each(|(number, cell)| {
            cell.check().map_err(|what| format!("[[cell]] number {}: {what}", number + 1))
        })
    }
}

impl GivenCell {
    fn check(&self) -> Result<(), String> {
        within("own", self.own, &OWN)?;
        within("tcps", self.tcps, &TCPS)?;
        within("queue", self.queue, &QUEUE)?;
        within("loss", self.loss, &LOSS)?;
        within("rtt (ns)", self.rtt.0, &RTT_NS)?;
        within("rate (bit/s)", self.rate.0, &RATE_BPS)
    }
}

impl<T: Copy> Range<T> {
    fn map<U>(self, to: impl Fn(T) -> U) -> Range<U> {
        Range { from: to(self.from), to: to(self.to) }
    }
}

fn range<T: PartialOrd + std::fmt::Display + Copy>(
    key: &str,
    range: Range<T>,
    allowed: &RangeInclusive<T>,
) -> Result<(), String> {
    within(key, range.from, allowed)?;
    within(key, range.to, allowed)?;
    if range.from > range.to {
        return Err(format!(
            "{key} goes from {} to {}: the first must not be the larger",
            range.from, range.to
        ));
    }
    Ok(())
}

fn within<T: PartialOrd + std::fmt::Display + Copy>(
    key: &str,
    value: T,
    allowed: &RangeInclusive<T>,
) -> Result<(), String> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(format!("{key} is {value}; it may be {} to {}", allowed.start(), allowed.end()))
}

/// Refuses cells that would take hours, or more memory than there is.
pub(super) fn check_cost(cells: &[Cell], runs: u32) -> Result<(), String> {
    if let Some((number, cell)) =
        (1..).zip(cells).find(|(_, cell)| cell.standing_bytes() > MAX_STANDING_BYTES)
    {
        return Err(format!(
            "cell {number}, {cell}, has {} MB under way and queued; at most {} MB: take smaller rates, round \
             trips or queues",
            cell.standing_bytes() / 1_000_000,
            MAX_STANDING_BYTES / 1_000_000
        ));
    }
    let packets = cells.iter().map(Cell::packets).sum::<u64>().saturating_mul(u64::from(runs));
    if packets > MAX_PACKETS {
        return Err(format!(
            "{} cells with {runs} runs each are {:.1e} packets; at most {MAX_PACKETS:.1e}, about an hour: take \
             fewer cells or runs, or lower rates",
            cells.len(),
            packets as f64,
        ));
    }
    Ok(())
}
