//! Start of a controller of a window.

/// Parameters of every controller with a window. One that has no use for a field ignores it.
#[derive(Clone, Copy, Debug)]
pub struct ControllerConfig {
    /// Largest payload of a segment.
    pub mss_bytes: u64,
    /// First window.
    pub initial_window_bytes: u64,
    /// Bound of the window.
    pub max_window_bytes: u64,
    /// Window that ends the first slow start at the latest, by controllers that take a hint (Vegas);
    /// `u64::MAX`: nobody knows one.
    pub start_until_bytes: u64,
    /// Measure of the window's growth.
    pub counting: Counting,
    /// Silence that sends the window back to its first value.
    pub idle_restart: IdleRestart,
    /// Pacing rate over window per round trip, in percent, in slow start and in avoidance. `None`: packets
    /// leave as the window lets them, or the engine spreads them (the papers' delayed send).
    pub pacing_percent: Option<(u64, u64)>,
    /// True if CUBIC's first slow start ends when the round trip grows, or when acknowledgements come in long
    /// trains.
    pub hystart: bool,
    /// Choices of Vegas.
    pub vegas: crate::VegasConfig,
    /// Bytes that a segment is longer on the wire than its payload, IP header included.
    pub overhead_bytes: u64,
    /// Round trip, if the opening measured one.
    pub rtt_ns: Option<u64>,
    /// Seed of choices that a controller leaves to chance.
    pub seed: u64,
}

impl ControllerConfig {
    /// Window after a silence: the first one again, if it is due and that is less [RFC 5681 4.1].
    pub(crate) fn window_after_idle(&self, cwnd_bytes: u64, idle_ns: u64, rto_ns: u64) -> u64 {
        let is_due = self.idle_restart.is_due(idle_ns, rto_ns);
        if is_due { cwnd_bytes.min(self.initial_window_bytes) } else { cwnd_bytes }
    }
}

/// Measure of the growth of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each acknowledgement: at most a segment in slow start, SMSS * SMSS / cwnd in avoidance
    /// [RFC 5681 3.1 (2), (3)]. With delayed acknowledgements the growth is half as fast.
    Acks,
    /// Bytes acknowledged: at most two segments an acknowledgement in slow start, a segment a window in
    /// avoidance [RFC 3465 2.1, 2.2].
    Bytes,
    /// Everything that is acknowledged: for engines whose reports cover hundreds of packets and that spread
    /// what a report allows.
    Reports,
}

impl Counting {
    /// Bytes that an acknowledgement of `bytes` counts for in slow start.
    pub(crate) fn in_slow_start(self, bytes: u64, mss_bytes: u64) -> u64 {
        match self {
            Self::Acks => bytes.min(mss_bytes),
            Self::Bytes => bytes.min(2 * mss_bytes),
            Self::Reports => bytes,
        }
    }
}

/// Silence that sends a window back to its first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// No silence [STP 5.1.2].
    Never,
    /// Silence of this length, in ns: "unless it has been idle for some time" [XSTP 3].
    After(u64),
    /// Silence longer than the retransmission timeout [RFC 5681 4.1].
    AfterRto,
}

impl IdleRestart {
    pub(crate) fn is_due(self, idle_ns: u64, rto_ns: u64) -> bool {
        match self {
            Self::Never => false,
            Self::After(limit_ns) => idle_ns >= limit_ns,
            Self::AfterRto => idle_ns > rto_ns,
        }
    }
}
