//! Claims: what a paper states, as data, and whether the measured numbers of a figure bear it out.
//!
//! The verdict is mechanical: it comes from the numbers that the figure draws, by a test that stands in the
//! file.

mod across;
mod definition;
mod exact;
mod failing;
mod gain;
mod labels;
mod lasts;
mod order;
mod paired;
mod phase;
mod shows;
mod trend;
mod value;

pub use definition::{
    Claim, Claims, Compare, CompareFigures, GainAt, GainBetween, GainTrend, GainWithin, Labels, LargerGain,
    Lasts, MAX_CLAIMS, MeanBetween, Phase, Shows, Test, Trend, ValueAt, ValuesBetween,
};

use std::fmt::Write as _;

use paired::Decision;

use crate::figure::ticks::plain;
use crate::figure::{Curve, Datum, Figure, PanelData};
use crate::results::AxisValue;

#[cfg(test)]
pub(crate) mod claims_tests;
#[cfg(test)]
mod phase_tests;

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The numbers say what the paper says.
    Reproduced,
    /// They do not.
    Differs,
    /// They may, or may not: a 95 % interval has values for and against it.
    Undecided,
    /// There are no numbers that could say it, and the measured text says why.
    NotTestable,
}

impl ClaimVerdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Differs => "differs",
            Self::Undecided => "undecided",
            Self::NotTestable => "not testable",
        }
    }
}

/// A claim with what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Measured values, in words and numbers.
    pub measured: String,
}

impl Judged {
    /// The verdict in words; of a claim that the paper does not make, with that.
    pub fn verdict_words(&self) -> String {
        let words = self.verdict.words();
        if self.claim.ours { format!("{words} (ours)") } else { words.to_owned() }
    }
}

/// Counts of verdicts. What is ours, not the paper's, counts among `ours` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Claims of the paper that are reproduced.
    pub reproduced: usize,
    /// Those that differ.
    pub differ: usize,
    /// Those that stay open.
    pub undecided: usize,
    /// Those that nothing measured can decide.
    pub not_testable: usize,
    /// Claims that the paper does not make.
    pub ours: usize,
}

impl VerdictCounts {
    /// Counts of these verdicts.
    pub fn of(claims: &[Judged]) -> Self {
        let mut counts = Self::default();
        for judged in claims {
            let count = match judged.verdict {
                _ if judged.claim.ours => &mut counts.ours,
                ClaimVerdict::Reproduced => &mut counts.reproduced,
                ClaimVerdict::Differs => &mut counts.differ,
                ClaimVerdict::Undecided => &mut counts.undecided,
                ClaimVerdict::NotTestable => &mut counts.not_testable,
            };
            *count += 1;
        }
        counts
    }

    /// How many claims of the paper came out which way, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { reproduced, differ, undecided, not_testable, ours } = self;
        let all = reproduced + differ + undecided + not_testable;
        let (claims, differ_or_differs) =
            (counted(all, "claim", "claims"), counted(*differ, "differs", "differ"));
        let mut words = format!(
            "{claims}: {reproduced} reproduced, {differ_or_differs}, {undecided} undecided, {not_testable} not testable"
        );
        if *ours > 0 {
            let _ = write!(words, " (and {ours} of our own, not counted)");
        }
        words
    }
}

/// A number with its word: one for one, one for all others.
fn counted(count: usize, one: &str, others: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { others })
}

/// Result of a test: the decision, and in words what was measured; or why it cannot be tested.
type Finding = Result<(Decision, String), String>;

/// Judges every claim by the figures at hand. A claim whose figure, panel or series is not among them is not
/// testable.
pub fn evaluate_claims(claims: &Claims, figures: &[Figure]) -> Vec<Judged> {
    claims.claims.iter().map(|claim| judged(claim, figures)).collect()
}

fn judged(claim: &Claim, figures: &[Figure]) -> Judged {
    let (verdict, measured) = match finding(claim, figures) {
        Ok((Decision::Holds, measured)) => (ClaimVerdict::Reproduced, measured),
        Ok((Decision::Fails, measured)) => (ClaimVerdict::Differs, measured),
        Ok((Decision::Open, measured)) => (ClaimVerdict::Undecided, measured),
        Err(reason) => (ClaimVerdict::NotTestable, reason),
    };
    Judged { claim: claim.clone(), verdict, measured }
}

fn finding(claim: &Claim, figures: &[Figure]) -> Finding {
    if let Test::NotTestable { reason } = &claim.test {
        return Err(reason.clone());
    }
    if let Test::Phase(test) = &claim.test {
        return phase::judge(figures, claim.figure.as_deref().unwrap_or_default(), test);
    }
    if let Test::Labels(test) = &claim.test {
        return labels::judge(figures, claim.figure.as_deref().unwrap_or_default(), test);
    }
    if let Test::Lasts(test) = &claim.test {
        return lasts::judge(figures, claim.figure.as_deref().unwrap_or_default(), test);
    }
    if let Test::Shows(test) = &claim.test {
        return shows::judge(figures, claim.figure.as_deref().unwrap_or_default(), test);
    }
    let settled = if claim.exact { exact::settled(figures) } else { Vec::new() };
    let figures = if claim.exact { &settled[..] } else { figures };
    let own = panel(figures, claim.figure.as_deref().unwrap_or_default(), claim.panel)?;
    match &claim.test {
        Test::Greater(compare) => order::judge(own, compare, order::WantedOrder::Greater),
        Test::Less(compare) => order::judge(own, compare, order::WantedOrder::Less),
        Test::GainBetween(test) => {
            let more: Vec<&PanelData> =
                test.and_figures.iter().map(|id| panel(figures, id, 1)).collect::<Result<_, _>>()?;
            gain::between(&[&[own], &more[..]].concat(), test)
        }
        Test::GainAt(test) => gain::at(own, test),
        Test::GainWithin(test) => gain::within(own, test),
        Test::LargerGain(test) => {
            across::larger_gain(own, panel(figures, &test.than_figure, test.than_panel)?, test)
        }
        Test::FigureGreater(test) => across::compare(
            own,
            panel(figures, &test.than_figure, test.than_panel)?,
            test,
            order::WantedOrder::Greater,
        ),
        Test::FigureLess(test) => across::compare(
            own,
            panel(figures, &test.than_figure, test.than_panel)?,
            test,
            order::WantedOrder::Less,
        ),
        Test::Rises(test) => trend::judge(own, test, trend::WantedTrend::Rises),
        Test::GainRises(test) => trend::of_gain(own, test),
        Test::Falls(test) => trend::judge(own, test, trend::WantedTrend::Falls),
        Test::Flat { series, ratio } => trend::flat(own, series, *ratio),
        Test::ValueAt(test) => value::at(own, test),
        Test::ValuesBetween(test) => value::between(own, test),
        Test::MeanBetween(test) => {
            let more: Vec<&PanelData> = test
                .and_figures
                .iter()
                .map(|id| panel(figures, id, claim.panel))
                .collect::<Result<_, _>>()?;
            value::mean(&[&[own], &more[..]].concat(), test)
        }
        Test::Phase(_) | Test::Labels(_) | Test::Lasts(_) | Test::Shows(_) | Test::NotTestable { .. } => {
            Err("not a test of a panel".into())
        }
    }
}

fn panel<'a>(figures: &'a [Figure], id: &str, number: usize) -> Result<&'a PanelData, String> {
    let figure = figures.iter().find(|figure| figure.definition.id == id);
    let figure = figure.ok_or_else(|| format!("figure {id} is not among those of this run"))?;
    let panel = number.checked_sub(1).and_then(|index| figure.panels.get(index));
    panel.ok_or_else(|| format!("figure {id} has no panel {number}"))
}

fn curve<'a>(panel: &'a PanelData, name: &str) -> Result<&'a Curve, String> {
    let found = panel.curves.iter().find(|curve| curve.name == name);
    let found = found.filter(|curve| !curve.data.is_empty());
    found.ok_or_else(|| {
        let names = crate::error::listed(panel.curves.iter().map(|curve| format!("'{}'", curve.name)));
        format!("the figure has no values of '{name}'; there is {names}")
    })
}

/// A value of the horizontal axis as a claim names it: the shown number or the shown name.
fn is_at(datum: &Datum, wanted: &AxisValue) -> bool {
    let near = |x: f64| (datum.x - x).abs() <= 1e-9 * x.abs().max(1e-3);
    match wanted {
        AxisValue::Number(x) => near(*x) || datum.name == plain(*x),
        other => datum.name == other.to_string(),
    }
}

/// The values of two curves at the places that both have.
fn pairs<'a>(a: &'a Curve, b: &'a Curve) -> Vec<(&'a Datum, &'a Datum)> {
    let partner = |datum: &'a Datum| Some((datum, b.data.iter().find(|other| other.name == datum.name)?));
    a.data.iter().filter_map(partner).collect()
}

/// How far above (in percent) one mean lies over another; none over 0.
fn gain_percent((a, b): (&Datum, &Datum)) -> Option<f64> {
    (b.y.mean != 0.0).then(|| (a.y.mean - b.y.mean) / b.y.mean.abs() * 100.0)
}

/// A number for the measured text: four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return plain(value);
    }
    let factor = libm::pow(10.0, 3.0 - libm::floor(libm::log10(value.abs())));
    let rounded = (value * factor).round() / factor;
    plain(if rounded.is_finite() { rounded } else { value })
}

/// A percentage for the measured text.
fn percent(value: f64) -> String {
    let rounded = if value.abs() < 10.0 { (value * 10.0).round() / 10.0 } else { value.round() };
    format!("{}{} %", if rounded > 0.0 { "+" } else { "" }, plain(rounded))
}
