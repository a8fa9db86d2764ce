//! Times, rates, sizes: texts with a unit.

use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_core::{MS, SECOND, US};
use skyhaul_link::{MAX_MTU_BYTES, MAX_PACKETS, MIN_MTU_BYTES, QueueLimit};

use super::{Kind, unit_hint};
use crate::tree::Node;

/// Longer times are slips; this far from overflow nobody has to think of it.
pub const MAX_TIME_NS: u64 = 366 * 24 * 3600 * SECOND;
/// Faster links are slips, too: 1 Tbit/s.
pub const MAX_RATE_BPS: u64 = 1_000_000_000_000;
/// And so are larger sizes: 1 PB.
const MAX_BYTES: u64 = 1_000_000_000_000_000;

/// A time of at least so many nanoseconds, at most 366 days.
#[derive(Default)]
pub struct Time {
    /// Shortest.
    pub min_ns: u64,
}

impl Time {
    /// Time of at least a nanosecond.
    pub const POSITIVE: Self = Self { min_ns: 1 };
    /// Time that may be nothing.
    pub const ANY: Self = Self { min_ns: 0 };
}

impl Kind<u64> for Time {
    fn read(&self, node: &Node) -> Result<u64, String> {
        let ns = node.text().and_then(|text| parse_time_ns(text).ok());
        let ns = ns.ok_or_else(|| unit_hint(node, "ms"))?;
        if ns > MAX_TIME_NS {
            return Err("at most 366 days (8784h)".to_string());
        }
        if ns < self.min_ns { Err(format!("at least {}", show_time(self.min_ns))) } else { Ok(ns) }
    }

    fn show(&self, value: &u64) -> String {
        show_time(*value)
    }

    fn allowed(&self) -> String {
        let least =
            if self.min_ns > 0 { format!(" of at least {}", show_time(self.min_ns)) } else { String::new() };
        format!("a time{least} such as \"275ms\" (ns, us, ms, s, min, h)")
    }
}

/// A rate of at least 1 bit/s, at most 1 Tbit/s.
pub struct Rate;

impl Kind<u64> for Rate {
    fn read(&self, node: &Node) -> Result<u64, String> {
        let text = node.text().ok_or_else(|| rate_hint(node))?;
        match parse_rate_bps(text) {
            Ok(bps) if bps <= MAX_RATE_BPS => Ok(bps),
            Ok(_) => Err("at most 1000Gbit/s".to_string()),
            Err(problem) if problem.contains("must be") => Err("a rate is at least 1bit/s".to_string()),
            Err(_) => Err(rate_hint(node)),
        }
    }

    fn show(&self, value: &u64) -> String {
        let scales = [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s"), (1, "bit/s")];
        show_scaled(*value, &scales)
    }

    fn allowed(&self) -> String {
        "a rate such as \"10Mbit/s\" or \"10M\" (bit/s, kbit/s, Mbit/s, Gbit/s)".to_string()
    }
}

fn rate_hint(node: &Node) -> String {
    match node.text() {
        Some("unlimited" | "none") => "here a rate is needed".to_string(),
        _ => unit_hint(node, "bit/s"),
    }
}

/// A size from so many bytes to so many.
pub struct Bytes {
    min: u64,
    max: u64,
}

impl Bytes {
    /// Buffer, which a simulated application fills, so that it must fit in memory.
    pub const BUFFER: Self = Self::at_most(1 << 30);

    /// Size of at least so many bytes, and not beyond all bounds.
    pub const fn at_least(min: u64) -> Self {
        Self { min, max: MAX_BYTES }
    }

    /// Size from so many bytes to so many.
    pub const fn from_to(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// Size of at least one byte, at most so many.
    pub const fn at_most(max: u64) -> Self {
        Self { min: 1, max }
    }
}

impl Kind<u64> for Bytes {
    fn read(&self, node: &Node) -> Result<u64, String> {
        let bytes =
            node.text().and_then(|text| parse_bytes(text).ok()).ok_or_else(|| unit_hint(node, "B"))?;
        match bytes {
            bytes if bytes > self.max => Err(format!("at most {}", show_bytes(self.max))),
            bytes if bytes < self.min => Err(format!("at least {}", show_bytes(self.min))),
            bytes => Ok(bytes),
        }
    }

    fn show(&self, value: &u64) -> String {
        show_bytes(*value)
    }

    fn allowed(&self) -> String {
        let least =
            if self.min > 0 { format!(" of at least {}", show_bytes(self.min)) } else { String::new() };
        let most = if self.max < MAX_BYTES {
            format!(" and at most {}", show_bytes(self.max))
        } else {
            String::new()
        };
        format!("a size{least}{most} such as \"64kB\" (B, kB, MB, GB, KiB, MiB, GiB)")
    }
}

fn show_bytes(value: u64) -> String {
    let decimal =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"), (1, "B")];
    let binary = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let is_binary = value > 0 && value.is_multiple_of(1 << 10) && !value.is_multiple_of(1000);
    show_scaled(value, if is_binary { &binary } else { &decimal })
}

/// How much a queue holds.
pub struct Queue;

impl Kind<QueueLimit> for Queue {
    fn read(&self, node: &Node) -> Result<QueueLimit, String> {
        let text = node.text().ok_or_else(|| unit_hint(node, "packets"))?;
        if text == "unlimited" {
            return Ok(QueueLimit::Unlimited);
        }
        let number = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet")).map(str::trim);
        if let Some(number) = number {
            let packets =
                number.parse().ok().filter(|&packets: &u32| (1..=MAX_PACKETS as u32).contains(&packets));
            return packets.map(QueueLimit::Packets).ok_or_else(|| format!("1 to {MAX_PACKETS} packets"));
        }
        Bytes::at_least(1).read(node).map(QueueLimit::Bytes)
    }

    fn show(&self, value: &QueueLimit) -> String {
        match value {
            QueueLimit::Unlimited => "\"unlimited\"".to_string(),
            QueueLimit::Packets(packets) => format!("\"{packets}packets\""),
            QueueLimit::Bytes(bytes) => show_bytes(*bytes),
        }
    }

    fn allowed(&self) -> String {
        "so much as \"100packets\" or \"125kB\", or \"unlimited\"".to_string()
    }
}

fn show_time(ns: u64) -> String {
    let scales =
        [(3600 * SECOND, "h"), (60 * SECOND, "min"), (SECOND, "s"), (MS, "ms"), (US, "us"), (1, "ns")];
    if ns == 0 { "\"0s\"".to_string() } else { show_scaled(ns, &scales) }
}

/// In the largest unit that leaves a whole number.
fn show_scaled(value: u64, scales: &[(u64, &str)]) -> String {
    let fits = |&&(scale, _): &&(u64, &str)| value >= scale && value.is_multiple_of(scale);
    let &(scale, unit) = scales.iter().find(fits).or(scales.last()).unwrap_or(&(1, ""));
    format!("\"{}{unit}\"", value / scale)
}

/// Largest packet of a link.
pub struct MtuBytes;

impl MtuBytes {
    const BYTES: Bytes = Bytes::from_to(MIN_MTU_BYTES as u64, MAX_MTU_BYTES as u64);
}

impl Kind<u32> for MtuBytes {
    fn read(&self, node: &Node) -> Result<u32, String> {
        u32::try_from(Self::BYTES.read(node)?).map_err(|_| String::new())
    }

    fn show(&self, value: &u32) -> String {
        format!("\"{value}B\"")
    }

    fn allowed(&self) -> String {
        format!("a size from \"{MIN_MTU_BYTES}B\" to \"{MAX_MTU_BYTES}B\" such as \"1500B\"")
    }
}

/// Size that fits a packet: a length of 16 bits.
pub struct PayloadBytes(Bytes);

impl PayloadBytes {
    /// Of at least one byte.
    pub const ANY: Self = Self::at_least(1);

    /// Of at least so many bytes.
    pub const fn at_least(min: u64) -> Self {
        Self(Bytes::from_to(min, 65_535))
    }
}

impl<F: TryFrom<u64> + Copy> Kind<F> for PayloadBytes
where
    u64: TryFrom<F>,
{
    fn read(&self, node: &Node) -> Result<F, String> {
        F::try_from(self.0.read(node)?).map_err(|_| String::new())
    }

    fn show(&self, value: &F) -> String {
        u64::try_from(*value).map_or_else(|_| "?".to_string(), |bytes| self.0.show(&bytes))
    }

    fn allowed(&self) -> String {
        self.0.allowed()
    }
}
