//! Claim definitions.

use std::path::Path;

use serde::Deserialize;

use crate::ReportError;
use crate::figure::definition::parse_toml;
use crate::results::AxisValue;

/// The most claims of a file.
pub const MAX_CLAIMS: usize = 1000;

/// A file of claims.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The claims, `[[claim]]`.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Statement of a paper about a figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The item of the paper that it belongs to.
    pub item: String,
    /// The statement, in our words.
    pub statement: String,
    /// Where it is stated.
    pub source: String,
    /// The figure that is judged; left out only if the claim is not testable.
    #[serde(default)]
    pub figure: Option<String>,
    /// The panel of the figure, from 1.
    #[serde(default = "first")]
    pub panel: usize,
    /// Remark for the reader, such as a contradiction and how it was decided.
    #[serde(default)]
    pub note: Option<String>,
    /// True if the paper does not state it: a variant, a bound or a way to count of our own. It is judged,
    /// but never counted among the paper's.
    #[serde(default)]
    pub ours: bool,
    /// True of numbers in which there is no chance: of a formula, or of runs without any. Single values
    /// decide then, since every run would have them.
    #[serde(default)]
    pub exact: bool,
    /// Condition that has to hold.
    pub test: Test,
}

/// Condition of a claim. Names of series and places on the horizontal axis are those that the figure shows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Test {
    /// One series lies above another at every place, by the 95 % interval of their differences by seed.
    Greater(Compare),
    /// One series lies below another at every place, likewise.
    Less(Compare),
    /// The relative gain of a series over another stays in a range.
    GainBetween(GainBetween),
    /// The relative gain at one place.
    GainAt(GainAt),
    /// The relative gain at some places lies in a range around what is stated.
    GainWithin(GainWithin),
    /// The mean gain is larger than in another figure, and so is the gain at more than half of the places.
    LargerGain(LargerGain),
    /// A series lies above the same series of another figure.
    FigureGreater(CompareFigures),
    /// A series lies below the same series of another figure.
    FigureLess(CompareFigures),
    /// A series rises.
    Rises(Trend),
    /// A series falls.
    Falls(Trend),
    /// The relative gain of a series over another rises.
    GainRises(GainTrend),
    /// The largest mean of a series is at most `ratio` times the smallest.
    Flat {
        /// The series.
        series: String,
        /// The largest allowed ratio, above 1.
        ratio: f64,
    },
    /// A value at one place.
    ValueAt(ValueAt),
    /// Every mean of a series lies in a range.
    ValuesBetween(ValuesBetween),
    /// The mean of a series over all places of some figures lies in a range.
    MeanBetween(MeanBetween),
    /// A ladder shows a phase.
    Phase(Phase),
    /// A ladder shows packets in this order.
    Labels(Labels),
    /// Packets of a ladder say something for so long.
    Lasts(Lasts),
    /// A drawing shows these parts.
    Shows(Shows),
    /// Nothing that was measured can say it.
    NotTestable {
        /// Why not.
        reason: String,
    },
}

/// Two series at every place, or at some.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The series that is spoken of.
    pub series: String,
    /// The series that it is compared with.
    pub than: String,
    /// Only at these places; everywhere if empty.
    #[serde(default)]
    pub at: Vec<AxisValue>,
    /// Not at these places.
    #[serde(default)]
    pub except: Vec<AxisValue>,
    /// How far, in percent of the other mean, a mean may lie on the wrong side and still count as equal.
    #[serde(default)]
    pub tolerance: f64,
}

/// A range of gains in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainBetween {
    /// The series that gains.
    pub series: String,
    /// The series that it gains over.
    pub over: String,
    /// The lowest stated gain in percent.
    pub low: f64,
    /// The highest stated gain in percent.
    pub high: f64,
    /// How far outside of the range a gain may lie, in percentage points.
    #[serde(default)]
    pub tolerance: f64,
    /// If given, the lowest and the highest measured gain must also lie within so many percentage points of
    /// the stated ones.
    #[serde(default)]
    pub reach: Option<f64>,
    /// Further figures that the range is stated of; of each the first panel.
    #[serde(default)]
    pub and_figures: Vec<String>,
    /// Not at these places.
    #[serde(default)]
    pub except: Vec<AxisValue>,
}

/// A gain at one place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainAt {
    /// The series that gains.
    pub series: String,
    /// The series that it gains over.
    pub over: String,
    /// The place.
    pub x: AxisValue,
    /// The stated gain in percent; negative for a loss.
    pub expected: f64,
    /// How far off it may be, in percentage points.
    pub tolerance: f64,
}

/// A range of the gain at some places.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainWithin {
    /// The series that gains.
    pub series: String,
    /// The series that it gains over.
    pub over: String,
    /// Only at these places; everywhere if empty.
    #[serde(default)]
    pub at: Vec<AxisValue>,
    /// The lowest gain in percent that counts; negative for a loss.
    pub low: f64,
    /// The highest one; without it there is none.
    #[serde(default)]
    pub high: Option<f64>,
    /// The stated gain in percent, if the range is one around it.
    #[serde(default)]
    pub stated: Option<f64>,
}

/// A gain larger than in another figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LargerGain {
    /// The series that gains.
    pub series: String,
    /// The series that it gains over.
    pub over: String,
    /// The other figure.
    pub than_figure: String,
    /// Its panel, from 1.
    #[serde(default = "first")]
    pub than_panel: usize,
}

/// A series beside the same series of another figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareFigures {
    /// The series, in both figures.
    pub series: String,
    /// The other figure.
    pub than_figure: String,
    /// Its panel, from 1.
    #[serde(default = "first")]
    pub than_panel: usize,
    /// Not at these places.
    #[serde(default)]
    pub except: Vec<AxisValue>,
    /// As in [`Compare`].
    #[serde(default)]
    pub tolerance: f64,
}

/// A trend over the horizontal axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// The series.
    pub series: String,
    /// Spearman's rank correlation must be at least this (rising) or at most minus this (falling).
    #[serde(default = "strong")]
    pub correlation: f64,
}

/// A trend of the gain of one series over another, over the horizontal axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainTrend {
    /// The series that gains.
    pub series: String,
    /// The series that it gains over.
    pub over: String,
    /// Only at these places; everywhere if empty.
    #[serde(default)]
    pub at: Vec<AxisValue>,
    /// Spearman's rank correlation must be at least this.
    #[serde(default = "strong")]
    pub correlation: f64,
}

/// A value at one place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueAt {
    /// The series; the only one if left out.
    #[serde(default)]
    pub series: String,
    /// The place.
    pub x: AxisValue,
    /// The stated value in the shown unit.
    pub expected: f64,
    /// How far off it may be, in percent of the stated value; of a stated 0 in the shown unit.
    pub tolerance: f64,
}

impl ValueAt {
    /// How far off it may be, in the shown unit.
    pub fn slack(&self) -> f64 {
        if self.expected == 0.0 { self.tolerance } else { self.tolerance / 100.0 * self.expected.abs() }
    }
}

/// A range of values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesBetween {
    /// The series.
    pub series: String,
    /// Only at these places; everywhere if empty.
    #[serde(default)]
    pub at: Vec<AxisValue>,
    /// The lowest stated value in the shown unit.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// A range of a mean over places.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanBetween {
    /// The series.
    pub series: String,
    /// The lowest value in the shown unit.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The stated value, if the range is one around it.
    #[serde(default)]
    pub stated: Option<f64>,
    /// Further figures whose places count, in the panel of the same number.
    #[serde(default)]
    pub and_figures: Vec<String>,
}

/// Packets of a ladder by their labels: parts joined by `+`, behind them ` lost` for one that does not
/// arrive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// These leave one behind the other; others may leave between them.
    pub order: Vec<String>,
    /// Each of these leaves once.
    #[serde(default)]
    pub once: Vec<String>,
}

/// Time for which packets of one end say something after the last packet that gives cause to; labels as in
/// [`Labels`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasts {
    /// Packets that say it.
    pub says: String,
    /// Packets of that end that say it or do not: the first that does not ends it.
    pub of: String,
    /// Packets that give cause to: the time begins as the last of them arrives.
    pub after: String,
    /// The stated time in seconds.
    pub expected_s: f64,
    /// How far off it may be, in percent of the stated time.
    pub tolerance: f64,
}

impl Lasts {
    /// How far off it may be, in seconds.
    pub fn slack_s(&self) -> f64 {
        self.tolerance / 100.0 * self.expected_s
    }
}

/// Parts of a drawing, by the names of [`Drawing::parts`](crate::figure::drawing::Drawing::parts).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shows {
    /// All of these are in it.
    pub parts: Vec<String>,
}

/// A phase of a ladder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name, or a part of it.
    pub name: String,
    /// The map's first entry in the first of its states within the phase.
    #[serde(default)]
    pub map_begins: Option<String>,
    /// How many neighbouring entries of the last state within the phase have a round trip.
    #[serde(default)]
    pub map_ends_with_answers: Option<usize>,
    /// The most entries of any state within the phase.
    #[serde(default)]
    pub map_holds: Option<usize>,
}

fn first() -> usize {
    1
}

fn strong() -> f64 {
    0.9
}

impl Claims {
    /// Reads a file of claims.
    ///
    /// # Errors
    /// Names file and line: not to be read, not TOML, an unknown key, a wrong type, or what [`Self::parse`]
    /// refuses.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = std::fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses a text; `place` stands for the file's name in messages.
    ///
    /// # Errors
    /// As [`Self::read`]; also two claims of one id, a testable claim without a figure, tolerances that are
    /// negative, more than [`MAX_CLAIMS`] claims.
    pub fn parse(text: &str, place: &str) -> Result<Self, ReportError> {
        let all: Self = parse_toml(text, place)?;
        if all.claims.len() > MAX_CLAIMS {
            return Err(ReportError::item(
                place,
                format!("{} claims; at most {MAX_CLAIMS}", all.claims.len()),
            ));
        }
        for (i, claim) in all.claims.iter().enumerate() {
            if all.claims[..i].iter().any(|other| other.id == claim.id) {
                return Err(ReportError::item(&claim.id, "two claims have this id"));
            }
            check(claim).map_err(|message| ReportError::item(&claim.id, message))?;
        }
        Ok(all)
    }
}

fn check(claim: &Claim) -> Result<(), String> {
    let testable = !matches!(claim.test, Test::NotTestable { .. });
    if testable && claim.figure.is_none() {
        return Err("a claim that is tested names its figure".to_owned());
    }
    let fits = |number: &f64| number.is_finite() && *number >= 0.0;
    let fine = match &claim.test {
        Test::Greater(test) | Test::Less(test) => fits(&test.tolerance),
        Test::FigureGreater(test) | Test::FigureLess(test) => fits(&test.tolerance),
        Test::GainBetween(test) => {
            fits(&test.tolerance) && test.reach.as_ref().is_none_or(fits) && test.low <= test.high
        }
        Test::GainAt(test) => fits(&test.tolerance) && test.expected.is_finite(),
        Test::ValueAt(test) => fits(&test.tolerance) && test.expected.is_finite(),
        Test::Rises(test) | Test::Falls(test) => fits(&test.correlation) && test.correlation <= 1.0,
        Test::GainRises(test) => fits(&test.correlation) && test.correlation <= 1.0,
        Test::Flat { ratio, .. } => ratio.is_finite() && *ratio >= 1.0,
        Test::GainWithin(test) => test.high.is_none_or(|high| test.low <= high) && test.low.is_finite(),
        Test::ValuesBetween(test) => test.low <= test.high,
        Test::MeanBetween(test) => test.low <= test.high,
        Test::Lasts(test) => fits(&test.tolerance) && fits(&test.expected_s),
        Test::Shows(test) => !test.parts.is_empty(),
        Test::LargerGain(_) | Test::Phase(_) | Test::Labels(_) | Test::NotTestable { .. } => true,
    };
    if fine {
        return Ok(());
    }
    Err("tolerances are not negative, low is not above high, a correlation is at most 1, a ratio at least 1"
        .to_owned())
}
