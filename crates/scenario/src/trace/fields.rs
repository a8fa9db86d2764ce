//! Columns of a trace, and what may stand in them.

use skyhaul_link::{MAX_MTU_BYTES, MIN_MTU_BYTES};

use super::Row;
use crate::kinds::{MAX_RATE_BPS, MAX_TIME_NS};

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Time,
    /// Of these directions.
    Rate([bool; 2]),
    Delay([bool; 2]),
    Mtu([bool; 2]),
    Up,
}

pub(super) const TIME: &str = "time_s";

/// All columns by their names.
pub(super) const COLUMNS: [(&str, Column); 11] = [
    (TIME, Column::Time),
    ("rate_bps", Column::Rate([true, true])),
    ("delay_ms", Column::Delay([true, true])),
    ("mtu_bytes", Column::Mtu([true, true])),
    ("up", Column::Up),
    ("forward_rate_bps", Column::Rate([true, false])),
    ("reverse_rate_bps", Column::Rate([false, true])),
    ("forward_delay_ms", Column::Delay([true, false])),
    ("reverse_delay_ms", Column::Delay([false, true])),
    ("forward_mtu_bytes", Column::Mtu([true, false])),
    ("reverse_mtu_bytes", Column::Mtu([false, true])),
];

/// Allowed values, and a hint (perhaps empty).
pub(super) type Refused = (&'static str, &'static str);

const RATE: &str = "bits per second in digits, from 1 to 1000000000000";
const DELAY: &str = "milliseconds in digits, from 0 to 366 days";
const MTU: &str = "bytes in digits, from 68 to 65535";
const TIMES: &str = "seconds in digits, from 0 to 366 days";

impl Column {
    /// True if it is of one direction alone.
    pub(super) fn is_narrow(self) -> bool {
        matches!(self, Self::Rate(ways) | Self::Delay(ways) | Self::Mtu(ways) if ways != [true; 2])
    }

    /// Reads `text`, which is not empty, into a row.
    pub(super) fn read(self, text: &str, row: &mut Row) -> Result<(), Refused> {
        match self {
            Self::Time => row.at_ns = time_ns(text, 9).ok_or((TIMES, "write it like 12.5"))?,
            Self::Rate(ways) => set(&mut row.rate_bps, ways, rate_bps(text)?),
            Self::Delay(ways) => {
                set(&mut row.delay_ns, ways, time_ns(text, 6).ok_or((DELAY, "write it like 275.5"))?);
            }
            Self::Mtu(ways) => set(&mut row.mtu_bytes, ways, mtu_bytes(text)?),
            Self::Up => row.is_up = Some(up(text)?),
        }
        Ok(())
    }
}

fn set<T: Copy>(both: &mut [Option<T>; 2], ways: [bool; 2], value: T) {
    for (one, _) in both.iter_mut().zip(ways).filter(|&(_, is_meant)| is_meant) {
        *one = Some(value);
    }
}

fn rate_bps(text: &str) -> Result<u64, Refused> {
    match decimal(text, 0) {
        Some(0) => Err((RATE, "say `up` 0 while nothing goes through")),
        Some(bps) if bps <= MAX_RATE_BPS => Ok(bps),
        _ => Err((RATE, "write it like 10000000")),
    }
}

fn mtu_bytes(text: &str) -> Result<u32, Refused> {
    let bytes = decimal(text, 0).and_then(|bytes| u32::try_from(bytes).ok());
    bytes.filter(|bytes| (MIN_MTU_BYTES..=MAX_MTU_BYTES).contains(bytes)).ok_or((MTU, "write it like 1500"))
}

fn time_ns(text: &str, digits: u32) -> Option<u64> {
    decimal(text, digits).filter(|&ns| ns <= MAX_TIME_NS)
}

fn up(text: &str) -> Result<bool, Refused> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(("0 or 1", "")),
    }
}

/// A number such as 12.5 in units of 10^-`digits`, exactly; further digits are cut off.
fn decimal(text: &str, digits: u32) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) {
        return None;
    }
    let part: String = part.chars().chain(std::iter::repeat('0')).take(digits as usize).collect();
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(10u64.checked_pow(digits)?)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("0.30000000000000004", 9), Some(300_000_000));
        assert_eq!((decimal("12.5", 9), decimal("7", 6)), (Some(12_500_000_000), Some(7_000_000)));
        assert_eq!(decimal("9999999.99", 0), Some(9_999_999));
        assert_eq!(decimal("18446744073709551615", 0), Some(u64::MAX));
        for wrong in ["", ".", "1.", ".5", "-1", "+1", "1e3", "nan", "1 000", "18446744073709551616", "1.2.3"]
        {
            assert_eq!(decimal(wrong, 0), None, "{wrong}");
        }
        assert_eq!(decimal("18446744073709551615", 1), None);
    }
}
