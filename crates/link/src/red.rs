//! Random early detection: drops, or marks, before the queue is full [Floyd and Jacobson 1993].

use skyhaul_core::{Ecn, SECOND, Stream};

use crate::chance::Chance;
use crate::{QueueLimit, RedConfig};

/// Decision on a packet that the queue has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedDecision {
    Pass,
    Mark,
    Drop,
}

/// Length of the queue that a packet finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    pub(crate) packets: usize,
    pub(crate) bytes: u64,
}

/// A time in which nothing waited or was in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Its length.
    pub(crate) ns: u64,
    /// Rate at which the server could have worked.
    pub(crate) rate_bps: Option<u64>,
}

/// Random early detection in front of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    config: RedConfig,
    min: f64,
    max: f64,
    /// Work of a mean packet, in units of 10^-9 bit.
    mean_work: f64,
    average: f64,
    /// Packets since the last one that was picked; `None`: the average was below `min`.
    since_picked: Option<u32>,
    stream: Stream,
}

impl Red {
    /// With a valid configuration.
    pub(crate) fn new(config: RedConfig, stream: Stream) -> Option<Self> {
        let (min, max) = config.thresholds()?;
        let mean_work = (config.mean_packet_bytes * 8 * SECOND) as f64;
        Some(Self { config, min, max, mean_work, average: 0.0, since_picked: None, stream })
    }

    /// A packet arrives and finds `length`; if nothing was there, the server has been `idle`.
    pub(crate) fn judge(
        &mut self,
        ecn: Ecn,
        wire_bytes: u32,
        length: Length,
        idle: Option<Idle>,
    ) -> RedDecision {
        self.follow(length, idle);
        let (probability, is_forced) = self.probability();
        if probability <= 0.0 {
            self.since_picked = None;
            return RedDecision::Pass;
        }
        if !is_forced && !self.picks(probability, wire_bytes) {
            return RedDecision::Pass;
        }
        self.since_picked = Some(0);
        let may_mark = self.config.ecn && !is_forced && ecn != Ecn::NotEct;
        if may_mark { RedDecision::Mark } else { RedDecision::Drop }
    }

    /// The average after an arrival.
    fn follow(&mut self, length: Length, idle: Option<Idle>) {
        let weight = self.config.weight;
        match idle {
            Some(Idle { ns, rate_bps: Some(rate_bps) }) => {
                let passed = ns as f64 / (self.mean_work / rate_bps as f64);
                self.average *= libm::pow(1.0 - weight, passed);
            }
            // Without a rate nothing ever waits.
            Some(Idle { rate_bps: None, .. }) => self.average = 0.0,
            None => {}
        }
        let length = match self.config.min {
            QueueLimit::Bytes(_) => length.bytes as f64,
            _ => length.packets as f64,
        };
        self.average += weight * (length - self.average);
    }

    /// Chance of a packet before the picked ones are spread, and whether every packet is picked.
    fn probability(&self) -> (f64, bool) {
        let Self { average, min, max, .. } = *self;
        let at_max = self.config.max_probability;
        if average < min {
            (0.0, false)
        } else if average < max {
            (at_max * (average - min) / (max - min), false)
        } else if self.config.gentle && average < 2.0 * max {
            (at_max + (1.0 - at_max) * (average - max) / max, false)
        } else {
            (1.0, true)
        }
    }

    /// Draws. With a fixed chance the gaps between picked packets would have a geometric distribution, and
    /// picked ones come in clusters; divided by what the gap has left, they are uniform.
    fn picks(&mut self, probability: f64, wire_bytes: u32) -> bool {
        let Some(count) = self.since_picked else {
            self.since_picked = Some(0); // the first above the threshold is never picked
            return false;
        };
        let count = count.saturating_add(1);
        self.since_picked = Some(count);
        let by_size = match self.config.min {
            QueueLimit::Bytes(_) => {
                probability * f64::from(wire_bytes) / self.config.mean_packet_bytes as f64
            }
            _ => probability,
        };
        let left = 1.0 - f64::from(count) * by_size;
        let chance = if left <= by_size { 1.0 } else { by_size / left };
        Chance::new(chance).hit(self.stream.next_u64())
    }
}
