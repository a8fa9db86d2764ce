//! Moments as people and other machines name them: UTC, for results only. Nothing is measured by it.

use rustix::time::{ClockId, clock_gettime};
use serde::{Serialize, Serializer};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WallTime(u64);

impl WallTime {
    pub(crate) fn now() -> Self {
        let now = clock_gettime(ClockId::Realtime);
        let millis = u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000;
        Self(u64::try_from(now.tv_sec).unwrap_or(0) * 1000 + millis)
    }

    /// Like `2026-11-23T05:32:25.123Z` [RFC 3339].
    fn text(self) -> String {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (days, of_day) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl Serialize for WallTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    while days >= 365 + leap(year) {
        days -= 365 + leap(year);
        year += 1;
    }
    let lengths = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// Days that a year has more than 365.
fn leap(year: u64) -> u64 {
    u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_their_names() {
        let named = [0, 951_782_400_000, 1_000_000_000_005, 4_102_444_799_999].map(|ms| WallTime(ms).text());
        let names = [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T00:00:00.000Z",
            "2001-09-09T01:46:40.005Z",
            "2099-12-31T23:59:59.999Z",
        ];
        assert_eq!(named, names);
    }
}
