//! Moment at which received data is acknowledged: a choice of the receiver, and a place for further ones.

use skyhaul_core::{Instant, MS, SECOND};

/// Policy of acknowledging data in sequence. A closed window that opens and a doubtful segment are answered
/// at once by every policy, and a segment with data takes the acknowledgement along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment at once.
    Immediate,
    /// The n-th segment at once, an earlier one when its time has passed; out of sequence, filling a gap, and
    /// the end at once [RFC 5681 4.2, RFC 9293 3.8.6.3].
    Delayed {
        /// At least 1; 2 is the standard's.
        every_packets: u32,
        /// Time that a lone segment waits.
        delay_ns: u64,
    },
    /// As [`Self::Delayed`], but what waits goes at the next tick of one clock for the whole host, as in the
    /// BSDs of the time.
    Heartbeat {
        /// At least 1.
        every_packets: u32,
        /// From tick to tick, counted from time zero; at least 1.
        tick_ns: u64,
    },
    /// For a thin way back: nothing but the end is urgent, so that there is at most one acknowledgement for
    /// so many segments or so long a time, whatever is missing.
    Reduced {
        /// At least 1; `u32::MAX`: by time alone.
        every_packets: u32,
        /// From the first unacknowledged segment on.
        delay_ns: u64,
    },
    /// As [`Self::Reduced`], by a time that goes with the round trip as the receiver knows it [SCPS-TP 3.2].
    PerRoundTrip {
        /// Acknowledgements a round trip, at least 1, at most [`MAX_ACKS_PER_ROUND_TRIP`].
        acks: u32,
    },
    /// As [`Self::Reduced`], by octets instead of segments: acknowledgements go with the rate at which data
    /// comes, and a way back that several connections share is relieved where their rates are lowered
    /// [SCPS-TP 3.2].
    Bytes {
        /// Octets of data that are acknowledged at once, repeats counted.
        every_bytes: u64,
        /// From the first unacknowledged segment on, for data that comes in small blocks.
        delay_ns: u64,
    },
    /// As [`Self::Reduced`], so that acknowledgements take a share of the rate of their way
    /// [SCPS-TP 6.1.1]: after one of so many octets the next one waits as long as that share needs for it.
    ShareOfRate {
        /// Rate of the way that acknowledgements take.
        rate_bps: u64,
        /// Share of it.
        percent: u32,
    },
}

/// Most acknowledgements a round trip that a user may ask for [SCPS-TP 3.2].
pub const MAX_ACKS_PER_ROUND_TRIP: u32 = 8;

/// Data that waits for an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unacked {
    /// Segments with data or FIN.
    pub(crate) packets: u32,
    /// Octets of data.
    pub(crate) bytes: u64,
}

/// Wait for an acknowledgement that goes with a round trip which is not known.
const UNKNOWN_ROUND_TRIP_DELAY_NS: u64 = 200 * MS;

/// Size of an acknowledgement with all its options, IP header included.
const LONG_ACK_BYTES: u32 = 80;

/// Reason why a received segment is worth an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// In sequence.
    Ordinary,
    /// Out of sequence, filling a gap, or nothing new.
    Gap,
    /// The end of the stream.
    End,
}

impl AckPolicy {
    /// This policy where the round trip is `rtt_ns`, if one is known.
    pub(crate) fn over(self, rtt_ns: Option<u64>) -> Self {
        let Self::PerRoundTrip { acks } = self else { return self };
        let delay_ns = rtt_ns.map_or(UNKNOWN_ROUND_TRIP_DELAY_NS, |rtt_ns| rtt_ns / u64::from(acks.max(1)));
        Self::Reduced { every_packets: u32::MAX, delay_ns }
    }

    /// Time from an acknowledgement of so many octets on the wire to the next one, where a rate has its share
    /// for them.
    pub(crate) fn spacing_ns(self, wire_bytes: u32) -> u64 {
        let Self::ShareOfRate { rate_bps, percent } = self else { return 0 };
        let share_bps = (u128::from(rate_bps) * u128::from(percent) / 100).max(1);
        let spacing_ns = u128::from(wire_bytes) * 8 * u128::from(SECOND) / share_bps;
        u64::try_from(spacing_ns).unwrap_or(u64::MAX)
    }

    /// Time that passes between acknowledgements of a stream of data at most, with a round trip of `rtt_ns`,
    /// where they are reduced for a thin way back; 0: it is in the round trips that are measured.
    pub(crate) fn longest_wait_ns(self, rtt_ns: u64) -> u64 {
        match self {
            Self::Immediate | Self::Delayed { .. } | Self::Heartbeat { .. } => 0,
            Self::Reduced { delay_ns, .. } | Self::Bytes { delay_ns, .. } => delay_ns,
            Self::PerRoundTrip { acks } => rtt_ns / u64::from(acks.max(1)),
            Self::ShareOfRate { .. } => self.spacing_ns(LONG_ACK_BYTES),
        }
    }

    /// Moment at which the answer to a segment is due, where with it so much waits; `None`: at once.
    pub(crate) fn due(self, waiting: Unacked, urgency: Urgency, now: Instant) -> Option<Instant> {
        match self {
            _ if urgency == Urgency::End => None,
            Self::Immediate => None,
            Self::Delayed { every_packets, delay_ns } => {
                (urgency == Urgency::Ordinary && waiting.packets < every_packets).then(|| now.after(delay_ns))
            }
            Self::Heartbeat { every_packets, tick_ns } => (urgency == Urgency::Ordinary
                && waiting.packets < every_packets)
                .then(|| Instant::from_ns((now.as_ns() + 1).next_multiple_of(tick_ns.max(1)))),
            Self::Reduced { every_packets, delay_ns } => {
                (waiting.packets < every_packets).then(|| now.after(delay_ns))
            }
            Self::Bytes { every_bytes, delay_ns } => {
                (waiting.bytes < every_bytes).then(|| now.after(delay_ns))
            }
            Self::PerRoundTrip { .. } => self.over(None).due(waiting, urgency, now),
            Self::ShareOfRate { .. } => Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_ns(250 * MS);

    fn packets(packets: u32) -> Unacked {
        Unacked { packets, bytes: 100 * u64::from(packets) }
    }

    #[test]
    fn each_policy_says_when_an_acknowledgement_is_due() {
        let at = |ms| Some(Instant::from_ns(ms * MS));
        let delayed = AckPolicy::Delayed { every_packets: 2, delay_ns: 40 * MS };
        let heartbeat = AckPolicy::Heartbeat { every_packets: 2, tick_ns: 200 * MS };
        let reduced = AckPolicy::Reduced { every_packets: 8, delay_ns: 100 * MS };
        let by_bytes = AckPolicy::Bytes { every_bytes: 200, delay_ns: 80 * MS };
        for (policy, alone, second, gap) in [
            (AckPolicy::Immediate, None, None, None),
            (delayed, at(290), None, None),
            (heartbeat, at(400), None, None),
            (reduced, at(350), at(350), at(350)),
            (by_bytes, at(330), None, at(330)),
        ] {
            assert_eq!(policy.due(packets(1), Urgency::Ordinary, NOW), alone, "{policy:?}");
            assert_eq!(policy.due(packets(2), Urgency::Ordinary, NOW), second, "{policy:?}");
            assert_eq!(policy.due(packets(1), Urgency::Gap, NOW), gap, "{policy:?}");
            assert_eq!(policy.due(packets(1), Urgency::End, NOW), None, "{policy:?}");
        }
        assert_eq!(reduced.due(packets(8), Urgency::Gap, NOW), None);
        let eight = AckPolicy::PerRoundTrip { acks: 8 };
        for (rtt_ns, ms) in [(Some(400 * MS), 300), (None, 450)] {
            assert_eq!(eight.over(rtt_ns).due(packets(1000), Urgency::Gap, NOW), at(ms), "{rtt_ns:?}");
            assert_eq!(eight.over(rtt_ns).due(packets(1), Urgency::End, NOW), None);
        }
        assert_eq!(reduced.over(Some(MS)), reduced);
        let share = AckPolicy::ShareOfRate { rate_bps: 1500, percent: 50 };
        assert_eq!(share.due(packets(1000), Urgency::Gap, NOW), Some(NOW), "but for the spacing");
        assert_eq!((share.spacing_ns(48) / MS, eight.spacing_ns(48)), (512, 0), "384 bits at 750 bit/s");
        let on_tick = Instant::from_ns(200 * MS);
        assert_eq!(
            heartbeat.due(packets(1), Urgency::Ordinary, on_tick),
            at(400),
            "the tick that is now has passed"
        );
    }
}
