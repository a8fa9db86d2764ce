//! Names of metrics, as the page lists them.

use super::{CAUSES, VERDICTS};

const PAGE: &str = include_str!("../../../../docs/guide/metrics.md");

/// True if a run may have a metric of this name.
pub fn is_metric(name: &str) -> bool {
    let rows = listed(false);
    let is_listed = |name: &str| rows.iter().any(|row| stands_for(row, name));
    // Of a group, the same metrics as of all.
    let of_group = name.strip_prefix("flows.").and_then(|rest| rest.split_once('.'));
    is_listed(name) || of_group.is_some_and(|(_, name)| is_listed(name))
}

/// Names in the first column of the tables; `is_series`: of time series instead.
pub(super) fn listed(is_series: bool) -> Vec<&'static str> {
    let (metrics, series) = PAGE.split_once("## Time series").unwrap_or((PAGE, ""));
    let rows = if is_series { series } else { metrics }.lines().filter(|line| line.starts_with("| `"));
    let first = rows.filter_map(|row| row.split(" | ").next());
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// True if a name on the page, where `links.NAME.DIRECTION.x` stands for many, is this one.
pub(super) fn stands_for(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.split('.').collect(), name.split('.').collect());
    let fits = |(pattern, part): (&&str, &&str)| match *pattern {
        "NAME" => !part.is_empty(),
        "DIRECTION" => ["forward", "reverse"].contains(part),
        "TRUTH" => CAUSES.contains(part),
        "VERDICT" => VERDICTS.contains(part),
        word => word == *part,
    };
    pattern.len() == name.len() && pattern.iter().zip(&name).all(fits)
}
