//! Who is first by which quantity, and before whom XSTP is not.

use serde::Serialize;

use super::outcome::{Quantity, Row};

/// Medians this close are equal.
const TIE: f64 = 0.01;

/// A quantity with whoever is first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct First {
    pub(super) quantity: &'static str,
    /// Its name in words.
    #[serde(skip)]
    pub(super) words: &'static str,
    pub(super) first: &'static str,
    /// Those of XSTP that are first, or as good as the first to one in a hundred.
    pub(super) xstp_wins: bool,
    /// All that are better than the best of XSTP, best first, with the quotient of their medians and its.
    pub(super) before_xstp: Vec<(&'static str, f64)>,
}

/// Quantities that somebody can be first by, and whether more of them is better.
const JUDGED: [(Quantity, &str, bool); 5] = [
    (Quantity::Goodput, "most goodput", true),
    (Quantity::SentPerByte, "least sent", false),
    (Quantity::ReturnedPerMb, "least sent back", false),
    (Quantity::Fresh, "fastest fresh exchange", false),
    (Quantity::Kept, "fastest kept exchange", false),
];

/// What every row that came to something says.
pub(super) fn judge(rows: &[Row]) -> Vec<First> {
    JUDGED.iter().filter_map(|&(quantity, words, more)| first(rows, quantity, words, more)).collect()
}

fn first(rows: &[Row], quantity: Quantity, words: &'static str, more: bool) -> Option<First> {
    let measured: Vec<(&Row, f64)> = rows
        .iter()
        .filter(|row| more || row.incomplete() == 0) // what was not delivered costs nothing
        .filter_map(|row| Some((row, row.spread(quantity)?.median)))
        .collect();
    let mut order = measured.clone();
    order.sort_by(|a, b| if more { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
    let first = *order.first()?;
    let xstp = order.iter().find(|(row, _)| row.racer.is_xstp()).map(|&(_, median)| median);
    let is_better = |median: f64, than: f64| {
        if more { median > than * (1.0 + TIE) } else { median * (1.0 + TIE) < than }
    };
    let before = order.iter().filter_map(|&(row, median)| {
        let xstp = xstp.filter(|&xstp| is_better(median, xstp))?;
        Some((row.racer.name(), median / xstp))
    });
    let before_xstp: Vec<_> = before.collect();
    let xstp_wins = xstp.is_some() && before_xstp.is_empty();
    // Of those that are equal, the first to be named.
    let equal = |&(row, median): &(&Row, f64)| {
        row.racer.is_xstp() && xstp.is_some_and(|xstp| !is_better(xstp, median))
    };
    let best_of_xstp = measured.iter().find(|one| xstp_wins && equal(one));
    let (by, _) = best_of_xstp.unwrap_or(&first);
    Some(First { quantity: quantity.name(), words, first: by.racer.name(), xstp_wins, before_xstp })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
