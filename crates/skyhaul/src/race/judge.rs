//! Who is first by which quantity: whether skyhaul is as it is without any option, and who is before it.

use serde::Serialize;

use super::outcome::{Quantity, Row};
use super::racer::Racer;

/// Medians this close are equal.
const TIE: f64 = 0.01;

/// A quantity with whoever is first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct First {
    pub(super) quantity: &'static str,
    /// Its name in words.
    #[serde(skip)]
    pub(super) words: &'static str,
    pub(super) first: Racer,
    /// Whether [`Racer::Standard`] is first, or as good as the first to one in a hundred; `None`: it did not race.
    pub(super) skyhaul_wins: Option<bool>,
    /// All that are better than it, best first, with the quotient of their median and its; without if it has none,
    /// since it did not get everything through.
    pub(super) before_skyhaul: Vec<(Racer, Option<f64>)>,
}

/// A quantity that somebody can be first by.
#[derive(Clone, Copy)]
struct Judged {
    quantity: Quantity,
    words: &'static str,
    more_is_better: bool,
}

const fn judged(quantity: Quantity, words: &'static str, more_is_better: bool) -> Judged {
    Judged { quantity, words, more_is_better }
}

const JUDGED: [Judged; 5] = [
    judged(Quantity::Goodput, "most goodput", true),
    judged(Quantity::SentPerByte, "least sent", false),
    judged(Quantity::ReturnedPerMb, "least sent back", false),
    judged(Quantity::Fresh, "fastest fresh exchange", false),
    judged(Quantity::Kept, "fastest kept exchange", false),
];

/// What every row that came to something says.
pub(super) fn judge(rows: &[Row]) -> Vec<First> {
    JUDGED.iter().filter_map(|judged| judged.first(rows)).collect()
}

impl Judged {
    fn first(&self, rows: &[Row]) -> Option<First> {
        let order = self.order(rows);
        let &(best, _) = order.first()?;
        let own = order.iter().find(|(racer, _)| *racer == Racer::Standard).map(|&(_, median)| median);
        let before = order.iter().filter(|(_, median)| own.is_none_or(|own| self.is_better(*median, own)));
        let has_raced = rows.iter().any(|row| row.racer == Racer::Standard && !row.runs.is_empty());
        let before_skyhaul: Vec<_> = before
            .filter(|_| has_raced)
            .map(|&(racer, median)| (racer, own.map(|own| median / own)))
            .collect();
        let wins = has_raced && before_skyhaul.is_empty();
        Some(First {
            quantity: self.quantity.name(),
            words: self.words,
            first: if wins { Racer::Standard } else { best },
            skyhaul_wins: has_raced.then_some(wins),
            before_skyhaul,
        })
    }

    /// Medians, best first.
    fn order(&self, rows: &[Row]) -> Vec<(Racer, f64)> {
        let mut order: Vec<(Racer, f64)> = rows
            .iter()
            .filter(|row| self.more_is_better || row.incomplete() == 0) // what was not delivered costs nothing
            .filter_map(|row| Some((row.racer, row.spread(self.quantity)?.median)))
            .collect();
        order.sort_by(|a, b| if self.more_is_better { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
        order
    }

    fn is_better(&self, median: f64, than: f64) -> bool {
        if self.more_is_better { median > than * (1.0 + TIE) } else { median * (1.0 + TIE) < than }
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
