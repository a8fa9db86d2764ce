//! Verdicts: who is first by which quantity, and who is before skyhaul.

use serde::Serialize;

use super::outcome::{Quantity, RacerRuns};
use super::racer::Racer;

/// Medians this close are equal.
const TIE: f64 = 0.01;

/// Quantity with whoever is first by it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct First {
    /// Name of the quantity in files and objects.
    pub quantity: &'static str,
    /// Name of being first by it, in words.
    #[serde(skip)]
    pub words: &'static str,
    /// Racer with the best median; the subject if it wins.
    pub first: Racer,
    /// True if the subject of verdicts is first, or as good as the first to one in a hundred; `None`: it did
    /// not race.
    pub skyhaul_wins: Option<bool>,
    /// All that are better than it, best first, with the quotient of their median and its; without if it has
    /// none, since it did not get everything through.
    pub before_skyhaul: Vec<(Racer, Option<f64>)>,
}

/// Quantity that somebody can be first by.
#[derive(Clone, Copy)]
struct Criterion {
    quantity: Quantity,
    words: &'static str,
    more_is_better: bool,
}

const fn judged(quantity: Quantity, words: &'static str, more_is_better: bool) -> Criterion {
    Criterion { quantity, words, more_is_better }
}

const JUDGED: [Criterion; 5] = [
    judged(Quantity::Goodput, "most goodput", true),
    judged(Quantity::SentPerByte, "least sent", false),
    judged(Quantity::ReturnedPerMb, "least sent back", false),
    judged(Quantity::Fresh, "fastest fresh exchange", false),
    judged(Quantity::Kept, "fastest kept exchange", false),
];

/// Verdicts by every quantity that somebody has.
pub fn judge(rows: &[RacerRuns]) -> Vec<First> {
    JUDGED.iter().filter_map(|judged| judged.first(rows)).collect()
}

impl Criterion {
    fn first(&self, rows: &[RacerRuns]) -> Option<First> {
        let order = self.order(rows);
        let &(best, _) = order.first()?;
        let subject = rows.iter().find(|row| row.racer.is_subject() && !row.runs.is_empty());
        let subject = subject.map(|row| row.racer);
        let own = order.iter().find(|(racer, _)| Some(*racer) == subject).map(|&(_, median)| median);
        let before = order.iter().filter(|(_, median)| own.is_none_or(|own| self.is_better(*median, own)));
        let before_skyhaul: Vec<_> = before
            .filter(|_| subject.is_some())
            .map(|&(racer, median)| (racer, own.map(|own| median / own)))
            .collect();
        let winner = subject.filter(|_| before_skyhaul.is_empty());
        Some(First {
            quantity: self.quantity.name(),
            words: self.words,
            first: winner.unwrap_or(best),
            skyhaul_wins: subject.map(|_| winner.is_some()),
            before_skyhaul,
        })
    }

    /// Medians, best first.
    fn order(&self, rows: &[RacerRuns]) -> Vec<(Racer, f64)> {
        let mut order: Vec<(Racer, f64)> = rows
            .iter()
            // What was not delivered costs nothing.
            .filter(|row| self.more_is_better || row.incomplete() == 0)
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
