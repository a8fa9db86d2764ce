//! Invariants of everything that a host sends and receives, at any time.

use std::collections::BTreeMap;

use skyhaul_core::{Instant, SECOND};
use skyhaul_stp::segment::{Segment, types};

/// Bytes sent per byte received to an address that has proven nothing.
const AMPLIFICATION: u64 = 3;

/// Exchange of one host with one peer's port.
#[derive(Clone, Copy, Debug, Default)]
struct Exchange {
    accepted: bool,
    proven: bool,
    received_bytes: u64,
    sent_bytes: u64,
}

/// A declared rate as a leaky bucket: its level is the most by which any window so far exceeds the rate.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate_bps: u64,
    burst_ns: u64,
    level_bit_ns: u128,
    at: Instant,
}

/// Watches one host.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    mtu_bytes: u32,
    bucket: Option<Bucket>,
    exchanges: BTreeMap<(u16, u16), Exchange>,
}

impl Watch {
    /// A watch over a host with this largest packet and declared rate (with its burst).
    pub(crate) fn new(mtu_bytes: u32, rate: Option<(u64, u64)>) -> Self {
        let bucket = rate.map(|(rate_bps, burst_ns)| Bucket {
            rate_bps,
            burst_ns,
            level_bit_ns: 0,
            at: Instant::ZERO,
        });
        Self { mtu_bytes, bucket, exchanges: BTreeMap::new() }
    }

    /// A segment arrives.
    pub(crate) fn received(&mut self, segment: &Segment<'_>, wire_bytes: u32) {
        let exchange = self.exchanges.entry((segment.destination_port, segment.source_port)).or_default();
        exchange.received_bytes += u64::from(wire_bytes);
        exchange.accepted |= segment.bgn.is_some();
        exchange.proven |= segment.stat.is_some() || segment.ustat.is_some();
    }

    /// A segment leaves.
    pub(crate) fn sent(
        &mut self,
        now: Instant,
        segment: &Segment<'_>,
        wire_bytes: u32,
    ) -> Result<(), String> {
        if wire_bytes > self.mtu_bytes {
            let (types, mtu) = (segment.type_bits(), self.mtu_bytes);
            return Err(format!("a packet of {wire_bytes} bytes, types {types:#04x}, on a path of {mtu}"));
        }
        self.amplified(segment, wire_bytes)?;
        match &mut self.bucket {
            // Resets to strangers belong to no path, whose budget could count them.
            Some(bucket) if segment.rst.is_none() => bucket.sent(now, segment, wire_bytes),
            _ => Ok(()),
        }
    }

    fn amplified(&mut self, segment: &Segment<'_>, wire_bytes: u32) -> Result<(), String> {
        let key = (segment.source_port, segment.destination_port);
        let exchange = self.exchanges.entry(key).or_default();
        exchange.sent_bytes += u64::from(wire_bytes);
        let Exchange { sent_bytes, received_bytes, .. } = *exchange;
        if exchange.accepted && !exchange.proven && sent_bytes > AMPLIFICATION * received_bytes {
            let types = segment.type_bits();
            return Err(format!(
                "{sent_bytes} bytes for {received_bytes} of an unproven peer with types {types:#04x}"
            ));
        }
        Ok(())
    }
}

impl Bucket {
    /// Control may exceed the rate for a moment; data must find room for itself.
    fn sent(&mut self, now: Instant, segment: &Segment<'_>, wire_bytes: u32) -> Result<(), String> {
        let passed = u128::from(now.since(self.at)) * u128::from(self.rate_bps);
        self.at = now;
        self.level_bit_ns = self.level_bit_ns.saturating_sub(passed);
        let is_data = segment.type_bits() & types::SD != 0;
        let most = u128::from(self.burst_ns + 1) * u128::from(self.rate_bps);
        if is_data && self.level_bit_ns > most {
            let late_ns = (self.level_bit_ns - most) / u128::from(self.rate_bps);
            return Err(format!("data {late_ns} ns before the rate of {} bit/s allows it", self.rate_bps));
        }
        self.level_bit_ns += u128::from(wire_bytes) * 8 * u128::from(SECOND);
        Ok(())
    }
}
