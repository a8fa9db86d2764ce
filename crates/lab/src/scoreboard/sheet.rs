//! Tables of the board: a quantity each, scenarios by transports.

use skyhaul_core::units::show_bytes;
use skyhaul_report::stats::percentile;
use skyhaul_report::{Results, Table};

use super::board::Board;
use super::cases::{Case, Load};

/// Table of one quantity.
struct Sheet {
    title: &'static str,
    /// True if it is about several flows, or else about transfers that have the path to themselves.
    of_flows: bool,
    cell: fn(&At<'_>) -> Option<String>,
}

/// All runs of a contestant on a case.
struct At<'a> {
    results: &'a Results,
    point: usize,
}

/// All tables, in the order in which they are shown.
static SHEETS: [Sheet; 9] = [
    Sheet {
        title: "Share of what the link could have carried",
        of_flows: false,
        cell: |at| at.median("share").map(|share| format!("{share:.3}")),
    },
    Sheet {
        title: "Bytes sent, as a multiple of what headers and the losses of the link make necessary",
        of_flows: false,
        cell: |at| at.median("overhead").map(|times| format!("{times:.3}")),
    },
    Sheet {
        title: "Sent back for each MB that arrived",
        of_flows: false,
        cell: |at| at.median("returned_per_mb").map(|bytes| show_bytes(bytes.round() as u64)),
    },
    Sheet {
        title: "Seconds until the last byte was there: median / 95 % of the runs",
        of_flows: false,
        cell: |at| Some(pair(at.median("elapsed_s")?, at.percentile("elapsed_s", 95)?)),
    },
    Sheet {
        title: "Waiting at the narrowest link, ms: mean / 95 % of the packets",
        of_flows: false,
        cell: waiting,
    },
    Sheet {
        title: "Goodput of a flow, as a multiple of what the others get",
        of_flows: true,
        cell: |at| at.median("times_others").map(|times| format!("{times:.2}")),
    },
    Sheet {
        title: "Fairness among all flows: Jain's index",
        of_flows: true,
        cell: |at| at.median("jain").map(|index| format!("{index:.3}")),
    },
    Sheet {
        title: "Use of the narrowest link by all flows together",
        of_flows: true,
        cell: |at| at.median("utilisation").map(|share| format!("{share:.3}")),
    },
    Sheet {
        title: "Waiting at the narrowest link with all flows, ms: mean / 95 % of the packets",
        of_flows: true,
        cell: waiting,
    },
];

fn waiting(at: &At<'_>) -> Option<String> {
    Some(pair(at.median("waiting_ms")?, at.median("waiting_p95_ms")?))
}

impl At<'_> {
    fn values(&self, metric: &str) -> Vec<f64> {
        self.results.runs_of(self.point).iter().filter_map(|run| run.metric(metric)).collect()
    }

    fn median(&self, metric: &str) -> Option<f64> {
        self.percentile(metric, 50)
    }

    fn percentile(&self, metric: &str, percent: u32) -> Option<f64> {
        percentile(&self.values(metric), percent)
    }

    /// Mark of a value that does not say it all, for runs that were ended or that failed.
    fn mark(&self, of_flows: bool) -> &'static str {
        let runs = self.results.runs_of(self.point);
        let is_late = !of_flows && runs.iter().any(|run| run.ended.as_deref() == Some("out-of-time"));
        match runs.iter().any(|run| run.error.is_some()) {
            true => "!",
            false if is_late => "*",
            false => "",
        }
    }
}

fn pair(one: f64, other: f64) -> String {
    format!("{}/{}", digits(one), digits(other))
}

/// Number with three digits where there are so many.
fn digits(value: f64) -> String {
    match value {
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 9.95 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Tables with their titles, of the quantities that some run has.
pub fn tables(board: &Board, results: &Results) -> Vec<(String, Table)> {
    let table = |sheet: &Sheet| Some((sheet.title.to_string(), sheet.table(board, results)?));
    SHEETS.iter().filter_map(table).collect()
}

impl Sheet {
    /// True if it has a row for this case.
    fn has(&self, case: &Case) -> bool {
        matches!(case.load, Load::Flows { .. }) == self.of_flows
    }

    /// Rows for all cases of which something is known; `None`: there is none.
    fn table(&self, board: &Board, results: &Results) -> Option<Table> {
        let names: Vec<String> = board.contestants.iter().map(|one| format!("#{}", one.name)).collect();
        let headings: Vec<&str> = std::iter::once("").chain(names.iter().map(String::as_str)).collect();
        let mut table = Table::new(&headings);
        for (number, trial) in board.trials.iter().enumerate().filter(|(_, trial)| self.has(trial.case)) {
            let points = (0..board.contestants.len()).map(|one| number * board.contestants.len() + one);
            let cells: Vec<_> = points.map(|point| self.shown(&At { results, point })).collect();
            if cells.iter().any(Option::is_some) {
                let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into()));
                table.push(std::iter::once(trial.case.name.to_string()).chain(cells).collect());
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }

    fn shown(&self, at: &At<'_>) -> Option<String> {
        (self.cell)(at).map(|cell| cell + at.mark(self.of_flows))
    }
}
