//! A value on an axis: a number, a word, a switch, or several keys set together.

use std::fmt;

use serde::Deserialize;
use skyhaul_core::units;

/// A value that a point of a sweep sets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum AxisValue {
    /// A switch.
    Switch(bool),
    /// A number.
    Number(f64),
    /// A word, or a quantity with its unit.
    Text(String),
    /// Anything else, such as keys that are set together.
    Other(serde_json::Value),
}

impl AxisValue {
    /// The value as a number in the base unit (s, bit/s, B), if it is one: `0.05`, `100ms`, `10Mbit/s`,
    /// `20packets`.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number).filter(|number| number.is_finite()),
            Self::Text(text) => quantity(text),
            Self::Switch(_) | Self::Other(_) => None,
        }
    }
}

fn quantity(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !is_number {
        return None;
    }
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| number.is_finite());
    }
    let rate = || {
        let is_rate = text.ends_with("bit/s") || text.ends_with("bps");
        is_rate.then(|| units::parse_rate_bps(text).ok()).flatten().map(|bps| bps as f64)
    };
    let time = || units::parse_time_ns(text).ok().map(|ns| ns as f64 / 1e9);
    let bytes =
        || text.ends_with('B').then(|| units::parse_bytes(text).ok()).flatten().map(|bytes| bytes as f64);
    let count = || text.trim_end_matches('s').strip_suffix("packet")?.trim().parse::<f64>().ok();
    // `10M` is a rate or a size; its number is the same.
    let scaled = || units::parse_rate_bps(text).ok().map(|value| value as f64);
    rate().or_else(time).or_else(bytes).or_else(count).or_else(scaled)
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(f, "{}", if *on { "on" } else { "off" }),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Other(value) => write!(f, "{value}"),
        }
    }
}
