//! What came of a cell, and whether that is as it should be.

use skyhaul_report::Results;
use skyhaul_report::stats::percentile;

use super::cell::Cell;
use super::plan::Map;

/// Use of the link by all together that is asked for without random loss, ...
const USE: f64 = 0.95;
/// ... and how much less by loss: 0.93 with a hundredth.
const USE_BY_LOSS: f64 = 2.0;
/// Most that one of us may get of what a TCP gets, and the other way round.
const RATIO: f64 = 3.0;
/// TCPs that keep so much of what they get among TCPs have lost nothing to us.
const KEPT: f64 = 0.8;
/// Least evenness among our own.
const JAIN: f64 = 0.9;

/// Judgement of one number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Met,
    /// It is not, but TCPs alone do no better (use), or lose nothing by us (goodput).
    Excused,
    /// It is not.
    Missed,
}

/// What came of a cell: medians over its runs.
#[derive(Clone, Debug)]
pub struct CellOutcome<'a> {
    /// Its number.
    pub number: usize,
    /// The cell.
    pub cell: &'a Cell,
    point: usize,
    results: &'a Results,
}

/// Outcomes of the cells of which there is a run.
pub fn outcomes<'a>(map: &'a Map, results: &'a Results) -> Vec<CellOutcome<'a>> {
    let all = map.cells.iter().enumerate();
    let all = all.map(|(point, (number, cell))| CellOutcome { number: *number, cell, point, results });
    all.filter(|outcome| outcome.median("use").is_some()).collect()
}

impl CellOutcome<'_> {
    /// Median of a metric over the runs of the cell.
    pub fn median(&self, metric: &str) -> Option<f64> {
        let runs = self.results.runs_of(self.point);
        percentile(&runs.iter().filter_map(|run| run.metric(metric)).collect::<Vec<_>>(), 50)
    }

    fn known(&self, metric: &str) -> f64 {
        self.median(metric).unwrap_or(0.0)
    }

    /// Use that is asked for.
    pub fn asked_use(&self) -> f64 {
        USE - USE_BY_LOSS * self.cell.loss
    }

    /// True if TCPs alone do no better than this use. Where packets are lost by chance that says nothing:
    /// they leave what we should take.
    fn is_left_by_tcps(&self, used: f64) -> bool {
        self.cell.tcps > 0 && self.cell.loss <= 0.0 && used >= self.known("use_tcps")
    }

    /// Whether all together use the link. Beside TCPs, without random loss, less will do where TCPs alone
    /// leave the rest, too.
    pub fn use_verdict(&self) -> Verdict {
        match self.known("use") {
            used if used >= self.asked_use() => Verdict::Met,
            used if self.is_left_by_tcps(used) => Verdict::Excused,
            _ => Verdict::Missed,
        }
    }

    /// Whether one of us gets about what a TCP gets, where that is judged. More will do where TCPs do not get
    /// less than among TCPs.
    pub fn ratio_verdict(&self) -> Option<Verdict> {
        let ratio = self.median("ratio").filter(|_| self.cell.is_beside_as_many())?;
        Some(match ratio {
            ratio if (1.0 / RATIO..=RATIO).contains(&ratio) => Verdict::Met,
            ratio if ratio > RATIO && self.known("kept") >= KEPT => Verdict::Excused,
            _ => Verdict::Missed,
        })
    }

    /// Whether our own share evenly, if there are several.
    pub fn jain_verdict(&self) -> Option<Verdict> {
        let jain = self.median("jain_own")?;
        Some(if jain >= JAIN { Verdict::Met } else { Verdict::Missed })
    }

    /// How far the cell is from what is asked for: 0 where all is met or excused, towards 1 otherwise.
    pub fn distance(&self) -> f64 {
        let missed = |verdict: Option<Verdict>| verdict == Some(Verdict::Missed);
        let mut distance = 0.0_f64;
        if missed(Some(self.use_verdict())) {
            distance = distance.max(1.0 - self.known("use") / self.asked_use());
        }
        if missed(self.ratio_verdict()) {
            let ratio = self.known("ratio");
            distance = distance.max(1.0 - RATIO * ratio.min(1.0 / ratio));
        }
        if missed(self.jain_verdict()) {
            distance = distance.max(1.0 - self.known("jain_own") / JAIN);
        }
        distance
    }

    /// What was missed, in words; empty: nothing.
    pub fn missed(&self) -> String {
        let all = [
            ("use", Some(self.use_verdict())),
            ("goodput", self.ratio_verdict()),
            ("Jain", self.jain_verdict()),
        ];
        let missed = all.into_iter().filter(|(_, verdict)| *verdict == Some(Verdict::Missed));
        missed.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }
}
