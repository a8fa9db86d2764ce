//! Validation of configurations: the first field that makes no sense, and its problem.

use alloc::format;
use alloc::string::String;
use core::fmt;

use skyhaul_core::Instant;

use crate::timeline::Timeline;
use crate::{
    BurstLoss, ChannelConfig, DirectionConfig, LinkConfig, MAX_MTU_BYTES, MIN_MEAN_STAY_NS, MIN_MTU_BYTES,
    Outage, QueueLimit, RedConfig, ScheduleStep, StateConfig,
};

/// A configuration that makes no sense. Displays as `forward.loss: 1.5 is no probability; ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    /// The field, as in `forward.loss` or `outages[2]` (counted from 0).
    pub field: String,
    /// The problem of that field.
    pub problem: Problem,
}

/// Problem of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Problem {
    /// A probability outside of 0 to 1, or not a number.
    NotAProbability(f64),
    /// A rate of 0.
    ZeroRate,
    /// A router of explicit rate control where there is no rate.
    ExplicitUnlimited,
    /// A router of explicit rate control behind a policer.
    ExplicitPoliced,
    /// A queue with no room for the packet in service.
    ZeroQueue,
    /// A token bucket that holds nothing.
    ZeroDepth,
    /// Thresholds of random early detection that are not in one unit, or not in order.
    Thresholds,
    /// A weight of 0.
    Zero,
    /// A packet size that no packet has.
    PacketSize,
    /// A largest packet outside of [`MIN_MTU_BYTES`] to [`MAX_MTU_BYTES`].
    Mtu(u32),
    /// An outage that ends before or when it begins.
    EmptyOutage(Outage),
    /// An outage that begins before the one in front of it has ended.
    OutageTooEarly {
        /// Its beginning.
        from: Instant,
        /// End of the outage in front of it.
        previous_to: Instant,
    },
    /// A step at this time, which is not later than the one in front of it.
    StepTooEarly(Instant),
    /// A mean stay, in nanoseconds, below [`MIN_MEAN_STAY_NS`].
    ShortStay(u64),
    /// A minimum above its maximum.
    MinAboveMax {
        /// The minimum, in nanoseconds.
        min_ns: u64,
        /// The maximum, in nanoseconds.
        max_ns: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAProbability(p) => write!(f, "{p} is no probability; it must lie between 0 and 1"),
            Self::ZeroRate => write!(f, "a rate must be at least 1 bit/s, or unlimited"),
            Self::ExplicitUnlimited => {
                write!(f, "a router of explicit rate control needs a rate at all times, not an unlimited one")
            }
            Self::ExplicitPoliced => write!(
                f,
                "a router of explicit rate control hands out the link's rate, and a policer drops what it grants; \
                 leave one out"
            ),
            Self::ZeroQueue => write!(f, "a queue must have room for at least 1"),
            Self::ZeroDepth => write!(f, "a token bucket must hold at least 1 byte"),
            Self::Thresholds => {
                write!(f, "min and max must both be packets or both be bytes, and min below max")
            }
            Self::Zero => write!(f, "must be above 0"),
            Self::PacketSize => write!(f, "a packet has 1 to 65535 bytes"),
            Self::Mtu(bytes) => {
                write!(f, "a largest packet has {MIN_MTU_BYTES} to {MAX_MTU_BYTES} bytes, not {bytes}")
            }
            Self::EmptyOutage(o) => {
                write!(f, "must end after it begins, not from {:?} to {:?}", o.from, o.to)
            }
            Self::OutageTooEarly { from, previous_to } => write!(
                f,
                "begins at {from:?}, before the previous one ends at {previous_to:?}; sort and merge them"
            ),
            Self::StepTooEarly(at) => write!(f, "{at:?} is not later than the step before it; sort them"),
            Self::ShortStay(ns) => {
                write!(f, "a mean stay of {ns} ns is too short; it must be at least {MIN_MEAN_STAY_NS} ns")
            }
            Self::MinAboveMax { min_ns, max_ns } => {
                write!(f, "{min_ns} ns is above the maximum of {max_ns} ns")
            }
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl core::error::Error for ConfigError {}

impl LinkConfig {
    /// Checks everything and reports the first thing that makes no sense.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.forward.validate("forward")?;
        self.reverse.validate("reverse")?;
        outages(&self.outages)?;
        self.channel.as_ref().map_or(Ok(()), ChannelConfig::validate)
    }
}

impl ChannelConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.good.validate("channel.good")?;
        self.bad.validate("channel.bad")
    }
}

impl StateConfig {
    fn validate(&self, state: &str) -> Result<(), ConfigError> {
        let at = |field: &str| format!("{state}.{field}");
        let &Self { mean_stay_ns, loss, min_delay_ns: min_ns, max_delay_ns: max_ns } = self;
        let long = mean_stay_ns >= MIN_MEAN_STAY_NS;
        require(long, || at("mean_stay_ns"), Problem::ShortStay(mean_stay_ns))?;
        probability(loss, || at("loss"))?;
        require(min_ns <= max_ns, || at("min_delay_ns"), Problem::MinAboveMax { min_ns, max_ns })
    }
}

impl DirectionConfig {
    /// True if there is a rate at all times: a router of explicit rate control needs one.
    pub fn is_limited(&self) -> bool {
        Timeline::new(self).is_limited()
    }

    fn validate(&self, direction: &str) -> Result<(), ConfigError> {
        let at = |field: &str| format!("{direction}.{field}");
        require(self.rate_bps != Some(0), || at("rate_bps"), Problem::ZeroRate)?;
        mtu(self.mtu_bytes, || at("mtu_bytes"))?;
        if let Some(policer) = self.policer {
            require(policer.rate_bps > 0, || at("policer.rate_bps"), Problem::ZeroRate)?;
            require(policer.depth_bytes > 0, || at("policer.depth_bytes"), Problem::ZeroDepth)?;
        }
        let no_room = matches!(self.queue, QueueLimit::Packets(0) | QueueLimit::Bytes(0));
        require(!no_room, || at("queue"), Problem::ZeroQueue)?;
        self.red.map_or(Ok(()), |red| red.validate(&at("red")))?;
        probability(self.loss, || at("loss"))?;
        self.burst_loss.validate(&at("burst_loss"))?;
        probability(self.bit_error_rate, || at("bit_error_rate"))?;
        probability(self.reordering.probability, || at("reordering.probability"))?;
        probability(self.duplication, || at("duplication"))?;
        schedule(&self.schedule, &at("schedule"))?;
        let is_limited = self.explicit.is_none() || self.is_limited();
        require(is_limited, || at("explicit"), Problem::ExplicitUnlimited)?;
        let is_free = self.explicit.is_none() || self.policer.is_none();
        require(is_free, || at("explicit"), Problem::ExplicitPoliced)
    }
}

impl RedConfig {
    fn validate(&self, red: &str) -> Result<(), ConfigError> {
        let at = |field: &str| format!("{red}.{field}");
        require(self.thresholds().is_some(), || at("max"), Problem::Thresholds)?;
        probability(self.max_probability, || at("max_probability"))?;
        probability(self.weight, || at("weight"))?;
        require(self.weight > 0.0, || at("weight"), Problem::Zero)?;
        let fits = (1..=65_535).contains(&self.mean_packet_bytes);
        require(fits, || at("mean_packet_bytes"), Problem::PacketSize)
    }
}

impl BurstLoss {
    fn validate(&self, burst_loss: &str) -> Result<(), ConfigError> {
        let at = |field: &str| format!("{burst_loss}.{field}");
        probability(self.good_to_bad, || at("good_to_bad"))?;
        probability(self.bad_to_good, || at("bad_to_good"))?;
        probability(self.loss_good, || at("loss_good"))?;
        probability(self.loss_bad, || at("loss_bad"))
    }
}

fn probability(value: f64, field: impl Fn() -> String) -> Result<(), ConfigError> {
    // `contains` is false for NaN as well.
    require((0.0..=1.0).contains(&value), field, Problem::NotAProbability(value))
}

fn mtu(mtu_bytes: Option<u32>, field: impl Fn() -> String) -> Result<(), ConfigError> {
    let bytes = mtu_bytes.unwrap_or(MAX_MTU_BYTES);
    require(is_mtu(bytes), field, Problem::Mtu(bytes))
}

/// True if links may have this as their largest packet.
pub(crate) fn is_mtu(bytes: u32) -> bool {
    (MIN_MTU_BYTES..=MAX_MTU_BYTES).contains(&bytes)
}

fn schedule(steps: &[ScheduleStep], schedule: &str) -> Result<(), ConfigError> {
    let mut previous: Option<Instant> = None;
    for (i, step) in steps.iter().enumerate() {
        let at = |field: &str| format!("{schedule}[{i}].{field}");
        let is_late = previous.is_none_or(|previous| previous < step.at);
        require(is_late, || at("at"), Problem::StepTooEarly(step.at))?;
        require(step.rate_bps != Some(0), || at("rate_bps"), Problem::ZeroRate)?;
        mtu(step.mtu_bytes, || at("mtu_bytes"))?;
        previous = Some(step.at);
    }
    Ok(())
}

fn outages(outages: &[Outage]) -> Result<(), ConfigError> {
    let mut previous_to = Instant::ZERO;
    for (i, outage) in outages.iter().enumerate() {
        let field = || format!("outages[{i}]");
        require(outage.from < outage.to, field, Problem::EmptyOutage(*outage))?;
        let early = Problem::OutageTooEarly { from: outage.from, previous_to };
        require(previous_to <= outage.from, field, early)?;
        previous_to = outage.to;
    }
    Ok(())
}

fn require(holds: bool, field: impl Fn() -> String, problem: Problem) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError { field: field(), problem }) }
}
