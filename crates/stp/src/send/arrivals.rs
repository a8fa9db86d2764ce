//! Arrivals at the receiver by its own clock and count: STATs to samples of the path.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, Interval, PathSample, SECOND};

use super::PollRecord;
use crate::segment::{CLOCK_SHIFT, Timing};

/// Marks remembered.
const MAX_MARKS: usize = 32;
/// After such a silence the receiver's clock may have wrapped: it begins anew.
const MAX_SILENCE_NS: u64 = 1800 * SECOND;
/// Clocks are compared over at least this time ...
const CLOCK_CHECK_NS: u64 = 2 * SECOND;
/// ... and this many round trips, in which they may differ by an eighth (waiting on the way explains a round
/// trip).
const CLOCK_CHECK_RTTS: u64 = 4;

/// A POLL whose STAT told when it arrived.
#[derive(Clone, Copy, Debug)]
struct Mark {
    poll: PollRecord,
    told_at: Instant,
    arrived_ns: u64,
    received_octets: u64,
}

/// The clock or the count of a receiver says what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Absurd;

/// The marks of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    marks: VecDeque<Mark>,
    /// The shortest round trip; 0: none yet.
    rtt_min_ns: u64,
}

impl Arrivals {
    /// Takes the timing of the STAT that answers `poll`. `full`: IP bytes and octets of a full segment.
    /// `path_octets`: what the path's connections have sent until now.
    pub(super) fn take(
        &mut self,
        poll: &PollRecord,
        timing: Timing,
        now: Instant,
        full: (u64, u64),
        path_octets: u64,
    ) -> Result<PathSample, Absurd> {
        if self.marks.back().is_some_and(|last| now.since(last.told_at) > MAX_SILENCE_NS) {
            self.forget();
        }
        let mark = self.read(poll, timing, now)?;
        let rtt_ns = now.since(poll.sent_at);
        self.check_clock(&mark, rtt_ns)?;
        let between = |earlier: &Mark| interval(earlier, &mark, full);
        let in_train = |m: &&Mark| m.poll.train.is_some() && m.poll.train == poll.train;
        let train = self.marks.iter().find(in_train).map(between);
        self.rtt_min_ns = if self.rtt_min_ns == 0 { rtt_ns } else { self.rtt_min_ns.min(rtt_ns) };
        // Behind a long queue half a round trip would be so long that its growth is told too late.
        let long_ns = (rtt_ns / 2).min(self.rtt_min_ns);
        let is_long = |m: &&Mark| poll.sent_at.since(m.poll.sent_at) >= long_ns;
        let long = self.marks.iter().rev().find(is_long).map(between);
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(mark);
        Ok(PathSample {
            sent_at: poll.sent_at,
            arrived_ns: mark.arrived_ns,
            rtt_ns,
            long,
            train,
            behind_train: poll.behind_train,
            since_bytes: on_wire(path_octets.saturating_sub(poll.sent.path_octets), full),
        })
    }

    /// Forgets the marks: they say nothing of the path as it is now.
    pub(super) fn forget(&mut self) {
        self.marks.clear();
    }

    /// Unwraps clock and count. The answered POLLs were sent one after the other, so both only grow.
    fn read(&self, poll: &PollRecord, timing: Timing, now: Instant) -> Result<Mark, Absurd> {
        let Some(last) = self.marks.back() else {
            let (arrived_ns, octets) = (u64::from(timing.clock) << CLOCK_SHIFT, u64::from(timing.octets));
            return Ok(Mark { poll: *poll, told_at: now, arrived_ns, received_octets: octets });
        };
        let units = timing.clock.wrapping_sub((last.arrived_ns >> CLOCK_SHIFT) as u32);
        let octets = timing.octets.wrapping_sub(last.received_octets as u32);
        if units > u32::MAX / 2 || octets > u32::MAX / 2 {
            return Err(Absurd);
        }
        Ok(Mark {
            poll: *poll,
            told_at: now,
            arrived_ns: last.arrived_ns + (u64::from(units) << CLOCK_SHIFT),
            received_octets: last.received_octets + u64::from(octets),
        })
    }

    /// Both clocks run at about the same speed.
    fn check_clock(&self, mark: &Mark, rtt_ns: u64) -> Result<(), Absurd> {
        let Some(first) = self.marks.front() else { return Ok(()) };
        let here_ns = mark.told_at.since(first.told_at);
        if here_ns < CLOCK_CHECK_NS.max(CLOCK_CHECK_RTTS * rtt_ns) {
            return Ok(());
        }
        let there_ns = mark.arrived_ns - first.arrived_ns;
        let first_rtt_ns = first.told_at.since(first.poll.sent_at);
        let allowed_ns = here_ns / 8 + rtt_ns.max(first_rtt_ns);
        if here_ns.abs_diff(there_ns) > allowed_ns { Err(Absurd) } else { Ok(()) }
    }
}

/// Duplicates on the way count as no more than was sent. Octets become IP bytes by the ratio of a `full`
/// packet; where those with data between the two POLLs were small, which are little else than headers, by
/// theirs.
fn interval(earlier: &Mark, later: &Mark, full: (u64, u64)) -> Interval {
    let (until, since) = (later.poll.sent, earlier.poll.sent);
    let (data_bytes, data_octets) =
        (until.data_bytes - since.data_bytes, until.data_octets - since.data_octets);
    // Headers beside octets: a tenth more than those of full packets makes small ones.
    let heads = |bytes: u64, octets: u64| u128::from(bytes.saturating_sub(octets));
    let is_small = heads(data_bytes, data_octets) * u128::from(full.1) * 10
        > heads(full.0, full.1) * u128::from(data_octets) * 11;
    let (wire_bytes, octets) = if is_small { (data_bytes, data_octets) } else { full };
    let own_octets = until.octets - since.octets;
    let path_octets = until.path_octets.saturating_sub(since.path_octets).max(own_octets);
    let arrived_octets = (later.received_octets - earlier.received_octets).min(own_octets);
    // What arrived of ours stands for what arrived of all.
    let share =
        |part: u64| (u128::from(part) * u128::from(path_octets) / u128::from(own_octets.max(1))) as u64;
    Interval {
        sent_ns: later.poll.sent_at.since(earlier.poll.sent_at),
        sent_bytes: on_wire(path_octets, (wire_bytes, octets)),
        arrived_ns: later.arrived_ns - earlier.arrived_ns,
        arrived_bytes: on_wire(share(arrived_octets), (wire_bytes, octets)),
    }
}

/// IP bytes of these octets, by those of a packet: bytes and octets.
fn on_wire(of: u64, packet: (u64, u64)) -> u64 {
    (u128::from(of) * u128::from(packet.0) / u128::from(packet.1.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::SentUntil;
    use skyhaul_core::MS;

    #[test]
    fn small_packets_count_with_their_headers_as_the_path_is_charged_with_them() {
        let mut arrivals = Arrivals::default();
        // Packets of 30 octets are 60 bytes of IP; every other one arrives.
        let mut between_bytes = |packets: u64| {
            let sent_ms = packets * 10;
            let arrived_ms = 275 + sent_ms;
            let octets = packets * 30;
            let clock = ((arrived_ms * MS) >> CLOCK_SHIFT) as u32;
            let timing = Timing { clock, octets: octets as u32 / 2 };
            let sent =
                SentUntil { octets, path_octets: octets, data_octets: octets, data_bytes: packets * 60 };
            let record = PollRecord { sent, ..poll(sent_ms) };
            let sample = arrivals
                .take(&record, timing, Instant::from_ns((arrived_ms + 275) * MS), (1500, 1472), octets)
                .unwrap();
            sample.long.map(|long| (long.sent_bytes, long.arrived_bytes))
        };
        assert_eq!([0, 100].map(&mut between_bytes), [None, Some((6000, 3000))]);
    }

    fn poll(sent_ms: u64) -> PollRecord {
        PollRecord {
            timestamp: sent_ms as u32,
            sent_at: Instant::from_ns(sent_ms * MS),
            order: 0,
            next: 0,
            sent: SentUntil { octets: sent_ms * 50, path_octets: sent_ms * 50, ..SentUntil::default() },
            train: None,
            behind_train: false,
            asked: 0,
            probes_bytes: None,
        }
    }

    #[test]
    fn behind_a_long_queue_a_round_trip_of_the_empty_path_is_long_enough() {
        let mut arrivals = Arrivals::default();
        // The queue grows by seven times what is sent in a time.
        let mut long_ms = |sent_ms: u64| {
            let arrived_ms = 275 + 8 * sent_ms;
            let timing =
                Timing { clock: ((arrived_ms * MS) >> CLOCK_SHIFT) as u32, octets: sent_ms as u32 * 50 };
            let now = Instant::from_ns((arrived_ms + 275) * MS);
            let sample = arrivals.take(&poll(sent_ms), timing, now, (1, 1), sent_ms * 50).unwrap();
            sample.long.map(|long| long.sent_ns / MS)
        };
        assert_eq!([0, 500, 1000, 1500].map(&mut long_ms), [None, None, Some(1000), Some(1000)]);
    }
}
