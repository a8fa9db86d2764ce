//! Row about all runs of a cell.

use skyhaul_core::US;

use crate::cells::Bound;
use crate::emulated::Course;
use crate::outcome::Outcome;

/// No more than what the waking of threads takes in real time. If a cell's goodput in virtual time depends on
/// it, real time cannot agree better.
pub(crate) const SHIFT_NS: u64 = 100 * US;

/// One seed.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) simulated: Outcome,
    /// In round trips.
    pub(crate) length: f64,
    /// Simulated with [`SHIFT_NS`] more each way.
    pub(crate) shifted: Outcome,
    pub(crate) emulated: Course,
    /// Runs before it that were outside the bound and disturbed.
    pub(crate) repeats: u32,
}

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) bound: Bound,
    pub(crate) runs: Vec<Run>,
}

/// Verdict on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Within the bound.
    Agrees,
    /// Not within the bound.
    Differs,
    /// Not within the bound, but the machine disturbed the runs that decide it: nothing is known.
    Unknown,
}

impl Run {
    /// By how much the emulated goodput differs, in percent of the simulated one.
    pub(crate) fn difference(&self) -> f64 {
        percent(self.simulated.goodput_bps(), self.emulated.outcome.goodput_bps())
    }

    fn is_disturbed(&self) -> bool {
        self.emulated.disturbance.is_some()
    }
}

impl Row {
    /// Median of something over the runs.
    pub(crate) fn median(&self, of: impl Fn(&Run) -> f64) -> f64 {
        median(self.runs.iter().map(of))
    }

    /// Difference that the bound is for: the largest of a run, or that of the medians; in percent.
    pub(crate) fn difference(&self) -> f64 {
        self.difference_of(|run| &run.emulated.outcome)
    }

    /// Difference that [`SHIFT_NS`] more each way make to the simulated runs.
    pub(crate) fn sensitivity(&self) -> f64 {
        self.difference_of(|run| &run.shifted)
    }

    fn difference_of(&self, of: impl Fn(&Run) -> &Outcome) -> f64 {
        match self.bound {
            Bound::Each(_) => {
                let differences =
                    self.runs.iter().map(|run| percent(run.simulated.goodput_bps(), of(run).goodput_bps()));
                differences.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or_default()
            }
            Bound::Medians(_) => {
                let median = self.median(|run| run.simulated.goodput_bps());
                percent(median, self.median(|run| of(run).goodput_bps()))
            }
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        if self.bound.permits(self.difference()) {
            return Verdict::Agrees;
        }
        let is_known = match self.bound {
            Bound::Each(_) => {
                self.runs.iter().any(|run| !run.is_disturbed() && !self.bound.permits(run.difference()))
            }
            Bound::Medians(_) => 2 * self.disturbed() < self.runs.len(),
        };
        if is_known { Verdict::Differs } else { Verdict::Unknown }
    }

    /// Runs that were repeated since the machine disturbed them.
    pub(crate) fn repeats(&self) -> u32 {
        self.runs.iter().map(|run| run.repeats).sum()
    }

    /// Runs that are counted although the machine disturbed them.
    pub(crate) fn disturbed(&self) -> usize {
        self.runs.iter().filter(|run| run.is_disturbed()).count()
    }
}

pub(crate) fn percent(reference: f64, value: f64) -> f64 {
    100.0 * (value / reference - 1.0)
}

/// The middle value, or the mean of the two middle ones; 0 of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}
