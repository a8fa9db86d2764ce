//! Where an axis has its ticks, and what they say.

use libm::{ceil, floor, log10, pow};

/// Values beyond this, or on logarithmic axes below [`MIN_LOG_VALUE`], have no place on an axis.
pub(crate) const MAX_VALUE: f64 = 1e100;
/// Smallest value that has a place on a logarithmic axis.
pub(crate) const MIN_LOG_VALUE: f64 = 1e-100;

/// An axis: from value to place and back to its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) log: bool,
}

/// A tick; a power of ten that is shown as such has its exponent. Without a label it is a minor one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: Option<TickLabel>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TickLabel {
    Plain(String),
    Power(i32),
}

impl Scale {
    /// The share of the way from the lower to the upper end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let (from, to, value) = if self.log {
            // Log axes have ends above 0: `around` and the check of a definition see to it.
            (log10(self.from), log10(self.to), log10(value.max(self.from * 1e-3)))
        } else {
            (self.from, self.to, value)
        };
        (value - from) / (to - from)
    }

    /// A scale that shows all `values` (at least one) with some room, and starts at 0 if `zero`.
    ///
    /// `ends` of a definition win. On a logarithmic axis only values above 0 count.
    pub(crate) fn around(values: &[f64], log: bool, zero: bool, ends: (Option<f64>, Option<f64>)) -> Self {
        let fits = |value: &f64| value.abs() <= MAX_VALUE && (!log || *value >= MIN_LOG_VALUE);
        let shown = || values.iter().copied().filter(fits);
        let low = shown().fold(f64::INFINITY, f64::min);
        let high = shown().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        let (low, high) = if log { log_room(low, high) } else { room(low, high, zero) };
        let (from, to) = (ends.0.unwrap_or(low), ends.1.unwrap_or(high));
        let to = match (from < to, log) {
            (true, _) => to,
            (false, true) => from * 10.0,
            (false, false) => from + from.abs().max(1.0),
        };
        Self { from, to, log }
    }

    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let decades = if self.log { log10(self.to / self.from) } else { 0.0 };
        match self.log {
            true if decades >= 2.0 => self.power_ticks(most),
            true if decades >= 0.5 => self.log_ticks(),
            _ => linear_ticks(self.from, self.to, most),
        }
    }

    fn power_ticks(&self, most: usize) -> Vec<Tick> {
        let (first, last) = (floor(log10(self.from)) as i32, ceil(log10(self.to)) as i32);
        let every = ((last - first) as usize / most.max(2) + 1) as i32;
        let mut ticks = Vec::new();
        for exponent in first..=last {
            for digit in 1..10 {
                let at = f64::from(digit) * pow(10.0, f64::from(exponent));
                let labelled = digit == 1 && exponent.rem_euclid(every) == 0;
                let label = labelled.then_some(TickLabel::Power(exponent));
                if self.holds(at) && (label.is_some() || every == 1) {
                    ticks.push(Tick { at, label });
                }
            }
        }
        ticks
    }

    fn log_ticks(&self) -> Vec<Tick> {
        let (first, last) = (floor(log10(self.from)) as i32, ceil(log10(self.to)) as i32);
        let digits = (first..=last).flat_map(|exponent| (1..10).map(move |digit| (digit, exponent)));
        let places =
            digits.map(|(digit, exponent)| (digit, f64::from(digit) * pow(10.0, f64::from(exponent))));
        let places: Vec<(i32, f64)> = places.filter(|(_, at)| self.holds(*at)).collect();
        let round = |digit: i32| matches!(digit, 1 | 2 | 5);
        // Where 1, 2 and 5 would leave less than three numbers, every digit has its own.
        let few = places.iter().filter(|(digit, _)| round(*digit)).count() < 3;
        let label = |digit, at| (few || round(digit)).then(|| TickLabel::Plain(plain(at)));
        places.into_iter().map(|(digit, at)| Tick { at, label: label(digit, at) }).collect()
    }

    fn holds(&self, at: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.share(at))
    }
}

fn room(low: f64, high: f64, zero: bool) -> (f64, f64) {
    let low = if zero && low > 0.0 { 0.0 } else { low };
    let high = if zero && high < 0.0 { 0.0 } else { high };
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let below = if zero && low == 0.0 { 0.0 } else { span * 0.04 };
    (low - below, high + span * 0.06)
}

fn log_room(low: f64, high: f64) -> (f64, f64) {
    let span = log10(high / low).max(0.3);
    (low * pow(10.0, -0.05 * span), high * pow(10.0, 0.06 * span))
}

fn linear_ticks(from: f64, to: f64, most: usize) -> Vec<Tick> {
    let step = nice_step((to - from) / most.max(2) as f64);
    let (first, last) = (ceil(from / step - 1e-9), floor(to / step + 1e-9));
    if !(last - first).is_finite() || last - first > 1000.0 {
        return Vec::new();
    }
    let decimals = (-floor(log10(step) + 1e-9)).clamp(0.0, 12.0) as usize;
    let label = |at: f64| match at.abs() {
        size if size >= 1e7 || (size > 0.0 && step < 1e-6) => plain(at),
        _ => signed(&format!("{at:.decimals$}")),
    };
    (0..=(last - first) as usize)
        .map(|i| (first + i as f64) * step)
        .map(|at| Tick { at, label: Some(TickLabel::Plain(label(at))) })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
fn nice_step(least: f64) -> f64 {
    let least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
    let power = pow(10.0, floor(log10(least)));
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A number for people: six significant digits, no needless zeros, a true minus.
pub(crate) fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_finite() { "0".to_owned() } else { value.to_string() };
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return signed(&format!("{}e{exponent}", trimmed(digits)));
    }
    let decimals = (5.0 - floor(log10(size))).clamp(0.0, 12.0) as usize;
    signed(trimmed(&format!("{value:.decimals$}")))
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn signed(text: &str) -> String {
    let zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
    if zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}
