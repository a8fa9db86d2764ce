//! Sizes, rates and times as people write them: `20MB`, `1GiB`, `10M`, `10Mbit/s`, `4k`, `275ms`, `1.5s`. One
//! grammar for arguments, scenario files and requests to an emulation. A number without a unit is refused:
//! `--rate 8` may mean 8 bit/s, and seldom does.

use alloc::format;
use alloc::string::{String, ToString};

use crate::{MS, SECOND, US};

/// Splits a decimal number from its unit and returns (value in 10^-9 units, unit).
fn split(text: &str) -> Option<(u128, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.len() > 9 {
        return None;
    }
    let whole: u128 = match whole.len() {
        0 => 0,
        1..=20 => whole.parse().ok()?,
        _ => 100_000_000_000_000_000_000, // whatever the unit, more than fits
    };
    let padded = format!("{fraction:0<9}");
    Some((whole * 1_000_000_000 + padded.parse::<u128>().ok()?, unit.trim()))
}

fn scaled(text: &str, factor: impl Fn(&str) -> Option<u64>, example: &str) -> Result<u64, String> {
    let parsed = split(text).and_then(|(value, unit)| Some((value, factor(unit)?)));
    let Some((value, factor)) = parsed else {
        return Err(format!("{} is not understood; write it like {example}", quoted(text)));
    };
    let value = value.saturating_mul(u128::from(factor)) / 1_000_000_000;
    u64::try_from(value).map_err(|_| format!("{} is too large", quoted(text)))
}

/// A text as messages name it: of a long one its beginning.
fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => format!("'{text}'"),
        Some((end, _)) => format!("'{}...' ({} characters)", &text[..end], text.chars().count()),
    }
}

/// Refuses a number other than 0 that has no unit.
fn with_unit(text: &str, units: [&str; 3]) -> Result<(), String> {
    match split(text) {
        Some((value, "")) if value > 0 => {
            let text = text.trim();
            let [one, two, three] = units.map(|unit| format!("{text}{unit}"));
            Err(format!("'{text}' has no unit; write {one}, {two} or {three}"))
        }
        _ => Ok(()),
    }
}

/// Size in bytes: `500B`, `20kB`, `20MB`, `20M`, `1GiB` (k, M, G, T of 1000; Ki, Mi, Gi, Ti of 1024).
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    with_unit(text, ["B", "kB", "MB"])?;
    let factor = |unit: &str| {
        let unit = unit.strip_suffix('B').unwrap_or(unit);
        Some(match unit {
            "" => 1,
            "k" | "K" => 1000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            "T" => 1_000_000_000_000,
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            "Ti" => 1 << 40,
            _ => return None,
        })
    };
    scaled(text, factor, "500kB, 20MB or 1GiB")
}

/// Rate in bits per second (SI): `4k`, `10M`, `1.5Mbit/s`, `9600bit/s`.
pub fn parse_rate_bps(text: &str) -> Result<u64, String> {
    with_unit(text, ["bit/s", "k", "M"])?;
    let factor = |unit: &str| {
        let unit = unit.strip_suffix("bit/s").or_else(|| unit.strip_suffix("bps")).unwrap_or(unit);
        Some(match unit {
            "" => 1,
            "k" | "K" => 1000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            _ => return None,
        })
    };
    let rate = scaled(text, factor, "4k, 10M or 1.5Mbit/s")?;
    if rate == 0 {
        Err(format!("{} is no rate: it must be at least 1 bit/s", quoted(text)))
    } else {
        Ok(rate)
    }
}

/// Time in nanoseconds: `275ms`, `1.5s`, `10min`, `250us`.
pub fn parse_time_ns(text: &str) -> Result<u64, String> {
    with_unit(text, ["us", "ms", "s"])?;
    let factor = |unit: &str| {
        Some(match unit {
            "ns" => 1,
            "us" => US,
            "ms" => MS,
            "s" => SECOND,
            "min" | "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return None,
        })
    };
    scaled(text, factor, "275ms, 1.5s or 10min")
}

/// Rate for people: `9.63 Mbit/s`.
pub fn show_rate(bps: f64) -> String {
    match bps {
        b if b >= 1e9 => format!("{:.2} Gbit/s", b / 1e9),
        b if b >= 1e6 => format!("{:.2} Mbit/s", b / 1e6),
        b if b >= 1e3 => format!("{:.2} kbit/s", b / 1e3),
        b => format!("{b:.0} bit/s"),
    }
}

/// Size for people: `20.0 MB`.
pub fn show_bytes(bytes: u64) -> String {
    match bytes {
        b if b >= 1_000_000_000 => format!("{:.2} GB", b as f64 / 1e9),
        b if b >= 1_000_000 => format!("{:.1} MB", b as f64 / 1e6),
        b if b >= 1_000 => format!("{:.1} kB", b as f64 / 1e3),
        b => b.to_string() + " B",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        assert_eq!(parse_bytes("20MB"), Ok(20_000_000));
        assert_eq!(parse_bytes("1GiB"), Ok(1 << 30));
        assert_eq!(parse_bytes("0"), Ok(0));
        assert_eq!(parse_bytes("1.5k"), Ok(1500));
        assert_eq!(parse_rate_bps("10M"), Ok(10_000_000));
        assert_eq!(parse_rate_bps("1.5Mbit/s"), Ok(1_500_000));
        assert_eq!(parse_rate_bps("4k"), Ok(4000));
        assert_eq!(parse_time_ns("275ms"), Ok(275 * MS));
        assert_eq!(parse_time_ns("1.5s"), Ok(1500 * MS));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["", "MB", "1XB", "-1", "1..2", "99999999999999999999", "20 M B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert!(parse_rate_bps("0").is_err());
        assert_eq!(parse_time_ns("10").unwrap_err(), "'10' has no unit; write 10us, 10ms or 10s");
        let error = parse_rate_bps("8").unwrap_err();
        assert_eq!(error, "'8' has no unit; write 8bit/s, 8k or 8M");
        assert_eq!(parse_bytes("500").unwrap_err(), "'500' has no unit; write 500B, 500kB or 500MB");
        assert_eq!(parse_bytes("18446744073709TB").unwrap_err(), "'18446744073709TB' is too large");
        assert_eq!(
            parse_time_ns("99999999999999999999s").unwrap_err(),
            "'99999999999999999999s' is too large"
        );
        let long = "9".repeat(500) + "h";
        let said = parse_time_ns(&long).unwrap_err();
        assert!(said.ends_with("9...' (501 characters) is too large") && said.len() < 120, "{said}");
        let said = parse_rate_bps(&"a".repeat(5_000)).unwrap_err();
        assert!(said.contains("...' (5000 characters) is not understood") && said.len() < 160, "{said}");
    }
}
