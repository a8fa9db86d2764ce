//! Load of one control interval: sums over the packets that arrived [XCP 4.2.1].

use skyhaul_core::{HeaderTime, Instant, PathHeader, SECOND};

use crate::RouterConfig;

/// Units of a header's time in a second.
pub(crate) const UNITS_PER_S: f64 = (1u64 << 28) as f64;

/// Sums over the arrivals of a control interval that began at `since`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    since: Instant,
    bytes: u64,
    /// Sum of X, in units of 2^-28 s.
    sum_x: u64,
    /// That of the last interval before in which any packet told an X; 0: none did.
    sum_x_before: u64,
    /// The part of it that is of packets whose RTT is known, and the sum of X RTT over these.
    sum_x_timed: u64,
    sum_xrtt: u128,
    max_rtt_units: u32,
}

impl Load {
    pub(crate) fn starting_at(since: Instant, config: &RouterConfig) -> Self {
        let longest = HeaderTime::from_ns(config.max_interval_ns);
        Self {
            since,
            bytes: 0,
            sum_x: 0,
            sum_x_before: 0,
            sum_x_timed: 0,
            sum_xrtt: 0,
            max_rtt_units: longest.units(),
        }
    }

    pub(crate) fn restarted_at(&self, since: Instant) -> Self {
        let sum_x_before = self.known_sum_x();
        Self { since, bytes: 0, sum_x: 0, sum_x_before, sum_x_timed: 0, sum_xrtt: 0, ..*self }
    }

    pub(crate) fn add(&mut self, bytes: u32, header: Option<&PathHeader>) {
        self.bytes = self.bytes.saturating_add(bytes.into());
        let Some(header) = header.filter(|header| header.is_for_routers()) else { return };
        let x = u64::from(header.inter_packet.units());
        self.sum_x = self.sum_x.saturating_add(x);
        if header.rtt.is_known() {
            let rtt = header.rtt.units().min(self.max_rtt_units);
            self.sum_x_timed = self.sum_x_timed.saturating_add(x);
            self.sum_xrtt = self.sum_xrtt.saturating_add(u128::from(x) * u128::from(rtt));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Octets that arrived.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sum of X, in seconds.
    pub(crate) fn sum_x_s(&self) -> f64 {
        self.sum_x as f64 / UNITS_PER_S
    }

    /// Sum of X that positive feedback is divided by, in seconds: of this interval, or of the last one in
    /// which any packet told an X. Else a flow of less than a packet an interval would be granted nothing.
    pub(crate) fn known_sum_x_s(&self) -> f64 {
        self.known_sum_x() as f64 / UNITS_PER_S
    }

    fn known_sum_x(&self) -> u64 {
        if self.sum_x > 0 { self.sum_x } else { self.sum_x_before }
    }

    /// Mean RTT of the flows; `None`: no packet told one.
    pub(crate) fn mean_rtt_ns(&self) -> Option<u64> {
        let mean_units = self.sum_xrtt.checked_div(self.sum_x_timed.into())?;
        // A mean of 32-bit numbers.
        Some(HeaderTime::from_units(mean_units as u32).as_ns())
    }

    /// Octets a second until `now`.
    pub(crate) fn rate_bytes_per_s(&self, now: Instant) -> f64 {
        self.bytes as f64 * SECOND as f64 / now.since(self.since).max(1) as f64
    }
}
