//! Words for what would have decided a claim against the paper.

use std::fmt::Write as _;

use super::definition::{
    Compare, CompareFigures, GainAt, GainBetween, GainTrend, GainWithin, Labels, Lasts, MeanBetween, Phase,
    Test, Trend, ValueAt,
};
use super::{percent, short};
use crate::error::listed;
use crate::results::AxisValue;

impl Test {
    /// Outcome that would have had the claim judged *differs*, in words; none if nothing can.
    pub fn fails_if(&self) -> Option<String> {
        Some(match self {
            Self::Greater(test) => compared(test, "above", "below"),
            Self::Less(test) => compared(test, "below", "above"),
            Self::GainBetween(test) => range_of_gains(test),
            Self::GainAt(test) => gain_at(test),
            Self::GainWithin(test) => gain_within(test),
            Self::LargerGain(test) => format!(
                "the mean gain of {} over {} is, seed by seed, surely not larger than in {}, or is larger at no more \
                 than half of the places",
                test.series, test.over, test.than_figure
            ),
            Self::FigureGreater(test) => across(test, "above", "below"),
            Self::FigureLess(test) => across(test, "below", "above"),
            Self::Rises(test) => trend(test, "rise"),
            Self::Falls(test) => trend(test, "fall"),
            Self::GainRises(test) => gain_trend(test),
            Self::Flat { series, ratio } => format!(
                "the largest mean of {series} is surely more than {} times the smallest",
                short(*ratio)
            ),
            Self::ValueAt(test) => value_at(test),
            Self::ValuesBetween(test) => format!(
                "{} the 95 % interval of '{}' lies wholly outside of {} to {}",
                places(&test.at, &[]),
                test.series,
                short(test.low),
                short(test.high)
            ),
            Self::MeanBetween(test) => mean_between(test),
            Self::Phase(test) => phase(test),
            Self::Labels(test) => labels(test),
            Self::Lasts(test) => lasts(test),
            Self::Shows(test) => format!("one of these is not in the drawing: {}", test.parts.join(", ")),
            Self::NotTestable { .. } => return None,
        })
    }
}

fn labels(test: &Labels) -> String {
    let mut words = format!("packets do not leave in the order {}", test.order.join(", "));
    if !test.once.is_empty() {
        let _ = write!(words, ", or not once each: {}", test.once.join(", "));
    }
    words
}

fn lasts(test: &Lasts) -> String {
    let (low, high) = (test.expected_s - test.slack_s(), test.expected_s + test.slack_s());
    format!(
        "no '{}' leaves after the last '{}' arrived, or the time from then on to the last one and the first '{}' without \
         it lies wholly outside of {} to {} s",
        test.says,
        test.after,
        test.of,
        short(low),
        short(high)
    )
}

fn phase(test: &Phase) -> String {
    let mut words = format!("the run has no phase '{}'", test.name);
    if let Some(begins) = &test.map_begins {
        let _ = write!(words, ", or the map in it does not begin as '{begins}'");
    }
    if let Some(most) = test.map_holds {
        let _ = write!(words, ", or the map does not hold {most} entries at most");
    }
    if let Some(answers) = test.map_ends_with_answers {
        let _ = write!(words, ", or it does not end with {answers} neighbours that have answers");
    }
    words
}

fn compared(test: &Compare, side: &str, other: &str) -> String {
    let places = places(&test.at, &test.except);
    format!("{places} {} is {} {}", test.series, wrong(test.tolerance, side, other), test.than)
}

/// Where a claim that names some places, or leaves some out, would fail.
fn places(at: &[AxisValue], except: &[AxisValue]) -> String {
    match (at, except) {
        ([], []) => "at some place".to_owned(),
        ([], except) => format!("at some place but {}", listed(except)),
        (at, _) => format!("at one of {}", listed(at)),
    }
}

fn across(test: &CompareFigures, side: &str, other: &str) -> String {
    let wrong = wrong(test.tolerance, side, other);
    let places = places(&[], &test.except);
    format!("{places} {} is {wrong} that of {}", test.series, test.than_figure)
}

/// Where a series must not lie, with what is tolerated.
fn wrong(tolerance_percent: f64, side: &str, other: &str) -> String {
    if tolerance_percent > 0.0 {
        return format!("surely more than {} % {other}", short(tolerance_percent));
    }
    format!("surely not {side}")
}

fn range_of_gains(test: &GainBetween) -> String {
    let (low, high) = (percent(test.low), percent(test.high));
    let inside =
        format!("a gain of {} over {} lies surely outside of {low} to {high}", test.series, test.over);
    match test.reach {
        Some(reach) => {
            format!(
                "{inside}, or the least or the largest is surely more than {} points off these ends",
                short(reach)
            )
        }
        None => inside,
    }
}

fn gain_at(test: &GainAt) -> String {
    let (low, high) = (percent(test.expected - test.tolerance), percent(test.expected + test.tolerance));
    format!(
        "at {} the 95 % interval of the gain of {} over {} lies wholly outside of {low} to {high}",
        test.x, test.series, test.over
    )
}

fn value_at(test: &ValueAt) -> String {
    let slack = test.slack();
    let (low, high) = (short(test.expected - slack), short(test.expected + slack));
    format!("at {} the 95 % interval of the mean lies wholly outside of {low} to {high}", test.x)
}

fn trend(test: &Trend, way: &str) -> String {
    format!(
        "{} does not {way} in rank (correlation below {}), or surely does not from the first place to the last",
        test.series,
        short(test.correlation)
    )
}

fn gain_trend(test: &GainTrend) -> String {
    let over = if test.at.is_empty() { String::new() } else { format!(" over {}", listed(&test.at)) };
    format!(
        "the gain of {} over {} does not rise in rank{over} (correlation below {}), or surely does not from the first \
         place to the last",
        test.series,
        test.over,
        short(test.correlation)
    )
}

fn gain_within(test: &GainWithin) -> String {
    let place = places(&test.at, &[]);
    let range = match test.high {
        Some(high) => format!("outside of {} to {}", percent(test.low), percent(high)),
        None => format!("below {}", percent(test.low)),
    };
    format!("{place} the 95 % interval of the gain of {} over {} lies wholly {range}", test.series, test.over)
}

fn mean_between(test: &MeanBetween) -> String {
    let others: Vec<String> = test.and_figures.iter().map(|id| format!(" and of {id}")).collect();
    format!(
        "the 95 % interval of the mean of '{}' over all places{} lies wholly outside of {} to {}",
        test.series,
        others.concat(),
        short(test.low),
        short(test.high)
    )
}
