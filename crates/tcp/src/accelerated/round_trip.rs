//! Round trip to a host, kept from one connection to the next [RFC 1644 4.3]: a minimal exchange has one
//! sample in each direction, when it is over.

/// Smoothed round trip, and its deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    pub(crate) smoothed_ns: u64,
    pub(crate) variance_ns: u64,
}

impl RoundTrip {
    /// Average of this with that of a further connection, which counts as one sample [RFC 6298 2.3].
    pub(super) fn with(self, last: Self) -> Self {
        let deviation_ns = self.smoothed_ns.abs_diff(last.smoothed_ns);
        Self {
            smoothed_ns: self.smoothed_ns - self.smoothed_ns / 8 + last.smoothed_ns / 8,
            variance_ns: self.variance_ns - self.variance_ns / 4 + deviation_ns / 4,
        }
    }
}
