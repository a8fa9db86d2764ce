//! Rate of a path that routers rule: XCP [XCP 4.1] and P-XCP [P-XCP III, Fig. 6] for a sender without a
//! window. Where no router rules it is measured ([`crate::Model`]).

mod behind;
#[cfg(test)]
mod tests;
mod used;

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, ResumePhase, RuledBy};
use skyhaul_core::{
    Demand, Instant, Others, PathController, PathEstimate, PathFeedback, PathHeader, PathSample, PathUse,
    SECOND,
};

use crate::memory::RememberedStart;
use crate::{LossAnswer, PathStart};
use behind::Behind;
use used::Used;

/// Highest rate, in octets a second: 100 Gbit/s.
const MAX_BYTES_PER_S: u64 = 12_500_000_000;

/// Controller of a path whose routers say by how much its rate changes.
///
/// The first packets leave as [`crate::Model`] has them. The first report tells whether there is a router,
/// and who decides from then on.
#[derive(Clone, Debug)]
pub struct ExplicitPath {
    answer: LossAnswer,
    start: PathStart,
    ruled_by: Option<RuledBy>,
    ruled: Ruled,
    measured: RememberedStart,
}

/// Rate that routers rule.
#[derive(Clone, Debug, Default)]
struct Ruled {
    /// As granted, in octets a second of IP packets; 0: no router rules yet.
    bytes_per_s: u64,
    /// Time from a packet to the report that tells of it, as last told, in ns.
    loop_ns: u64,
    /// When the rate was lowered for a loss.
    lowered_at: Option<Instant>,
    used: Used,
    behind: Behind,
}

/// So much times the quotient of these; unchanged where that has no divisor.
fn scaled(value: u64, numerator: u64, divisor: u64) -> u64 {
    let product = u128::from(value) * u128::from(numerator);
    let quotient = product.checked_div(divisor.into()).unwrap_or_else(|| value.into());
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// Octets of so much time at this rate.
fn bytes_in(bytes_per_s: u64, ns: u64) -> u64 {
    scaled(bytes_per_s, ns, SECOND)
}

/// Rate of so many octets in this time.
fn bytes_per_s(bytes: u64, ns: u64) -> u64 {
    scaled(bytes, SECOND, ns.max(1))
}

impl ExplicitPath {
    /// Controller at its start.
    pub fn new(start: PathStart, answer: LossAnswer) -> Self {
        let measured = RememberedStart::new(start.mss_bytes, start.first_window_bytes, start.remembered);
        Self { answer, start, ruled_by: None, ruled: Ruled::default(), measured }
    }

    fn are_routers_ruling(&self) -> bool {
        self.ruled_by == Some(RuledBy::Routers)
    }

    /// Rate at which packets leave, in octets a second: a loop's worth of what was granted leaves in the time
    /// that a loop takes now. Draft-03 has a window of that [XCP 4.1.3], which does so while a queue makes
    /// the round trip longer; of losses, which hold a window up, this knows nothing. One packet in front of a
    /// mark is no queue.
    fn paced_bytes_per_s(&self) -> u64 {
        let Ruled { bytes_per_s, loop_ns, behind, .. } = &self.ruled;
        let packet_ns = bytes_in_time(self.start.mss_bytes, *bytes_per_s);
        let queue_ns = behind.waited_ns().saturating_sub(packet_ns);
        scaled(*bytes_per_s, *loop_ns, loop_ns.saturating_add(queue_ns)).max(1)
    }

    /// Sets the rate: one packet in each loop at least [XCP 4.1.3].
    fn set_rate(&mut self, bytes_per_s_wanted: u64) {
        let least = bytes_per_s(self.start.mss_bytes, self.ruled.loop_ns).clamp(1, MAX_BYTES_PER_S);
        self.ruled.bytes_per_s = bytes_per_s_wanted.clamp(least, MAX_BYTES_PER_S);
    }

    /// Rate of the first window.
    fn first_bytes_per_s(&self) -> u64 {
        bytes_per_s(self.start.first_window_bytes, self.ruled.loop_ns)
    }

    /// Goes on by measurement, from a rate that the path has carried.
    fn measure(&mut self, why: RuledBy, carried_bytes_per_s: u64) {
        if self.are_routers_ruling() {
            let PathStart { mss_bytes, first_window_bytes, .. } = self.start;
            let bps = carried_bytes_per_s.max(1).saturating_mul(8);
            self.measured =
                RememberedStart::at(mss_bytes, first_window_bytes, bps, self.ruled.behind.delays());
        }
        self.ruled_by = Some(why);
    }

    /// Answers a loss: once for what left before the last answer.
    fn answer_loss(&mut self, now: Instant, newest_sent_at: Instant) {
        if self.ruled.lowered_at.is_none_or(|at| newest_sent_at >= at) {
            self.ruled.lowered_at = Some(now);
            let packet_ns = bytes_in_time(self.start.mss_bytes, self.ruled.bytes_per_s);
            self.ruled.behind.was_halved(packet_ns);
            self.set_rate(self.ruled.bytes_per_s / 2);
        }
    }
}

impl PathController for ExplicitPath {
    fn on_sample(&mut self, now: Instant, sample: &PathSample) {
        if self.are_routers_ruling() {
            let Ruled { bytes_per_s: rate, loop_ns, behind, .. } = &mut self.ruled;
            let packet_ns = bytes_in_time(self.start.mss_bytes, *rate);
            let Some(carried) = behind.saw(now, sample, packet_ns, *loop_ns) else { return };
            self.measure(RuledBy::QueueBehind, carried.min(self.ruled.bytes_per_s));
        }
        self.measured.on_sample(now, sample);
    }

    /// What was measured, or granted, was of another path, perhaps: XCP begins again as after a timeout,
    /// P-XCP goes on with half, as after a silence.
    fn on_outage(&mut self, now: Instant) {
        if !self.are_routers_ruling() {
            return self.measured.on_outage(now);
        }
        self.ruled.behind = Behind::default();
        match self.answer {
            LossAnswer::Keep => self.set_rate(self.ruled.bytes_per_s / 2),
            LossAnswer::Reduce | LossAnswer::KeepOnDuplicates => {
                self.set_rate(self.first_bytes_per_s().min(self.ruled.bytes_per_s));
            }
        }
    }

    fn asks(&self) -> bool {
        matches!(self.ruled_by, None | Some(RuledBy::Routers))
    }

    fn ask(&mut self, now: Instant, demand: &Demand) -> PathHeader {
        let Some(loop_ns) = demand.loop_ns.filter(|_| self.are_routers_ruling()) else {
            return PathHeader::default(); // no round trip is known, or no rate
        };
        let packet_bytes = u64::from(demand.packet_bytes).max(1);
        let paced = self.paced_bytes_per_s();
        let aged = self.ruled.used.note(now, paced, packet_bytes, loop_ns);
        if aged < paced {
            let granted = self.ruled.bytes_per_s;
            let kept = scaled(granted, aged, paced);
            self.set_rate(kept.max(self.first_bytes_per_s().min(granted)));
        }
        let window_bytes = bytes_in(self.paced_bytes_per_s(), loop_ns).max(1);
        PathUse { rtt_ns: loop_ns, packet_bytes, window_bytes, wanted_bytes: demand.wanted_bytes }.header()
    }

    fn on_feedback(&mut self, _now: Instant, feedback: &PathFeedback) {
        let PathFeedback { bytes_per_s: change, routers, loop_ns } = *feedback;
        if !self.asks() {
            return; // of packets that left before
        }
        self.ruled.loop_ns = loop_ns.max(1);
        if routers == 0 {
            return self.measure(RuledBy::NoRouter, self.ruled.bytes_per_s);
        }
        if self.ruled_by.replace(RuledBy::Routers).is_none() {
            self.set_rate(self.first_bytes_per_s());
        }
        let before = self.ruled.bytes_per_s;
        self.set_rate(before.saturating_add_signed(change.into()));
        self.ruled.behind.was_told(before, self.ruled.bytes_per_s);
    }

    fn on_no_feedback(&mut self) {
        if self.asks() {
            self.measure(RuledBy::PeerWithout, self.ruled.bytes_per_s);
        }
    }

    fn on_packet_size(&mut self, mss_bytes: u64) {
        self.start.mss_bytes = mss_bytes;
        self.measured.on_packet_size(mss_bytes);
    }

    fn on_lost(&mut self, now: Instant, newest_sent_at: Instant) {
        if self.are_routers_ruling() && self.answer == LossAnswer::Reduce {
            self.answer_loss(now, newest_sent_at);
        }
    }

    fn ruled_by(&self) -> Option<RuledBy> {
        self.ruled_by
    }

    fn rate_bps(&self) -> u64 {
        if self.are_routers_ruling() { self.paced_bytes_per_s() * 8 } else { self.measured.rate_bps() }
    }

    /// Twice what leaves until a report tells of it: the rate decides, not the window.
    fn window_bytes(&self) -> u64 {
        if !self.are_routers_ruling() {
            return self.measured.window_bytes();
        }
        let under_way_bytes = bytes_in(self.ruled.bytes_per_s, self.ruled.loop_ns);
        under_way_bytes.saturating_mul(2).saturating_add(self.start.first_window_bytes)
    }

    fn take_excess_bytes(&mut self) -> u64 {
        if self.are_routers_ruling() { 0 } else { self.measured.take_excess_bytes() }
    }

    fn take_train(&mut self, now: Instant) -> u32 {
        if self.are_routers_ruling() { 0 } else { self.measured.take_train(now) }
    }

    fn max_train_packets(&self) -> u32 {
        if self.are_routers_ruling() { 0 } else { self.measured.max_train_packets() }
    }

    fn short_queue_ns(&self) -> Option<u64> {
        if self.are_routers_ruling() { None } else { self.measured.short_queue_ns() }
    }

    fn after_first_train(&mut self) {
        self.measured.after_first_train();
    }

    /// What routers grant is theirs to tell the next time, too.
    fn path_estimate(&self) -> Option<PathEstimate> {
        if self.are_routers_ruling() { None } else { self.measured.path_estimate() }
    }

    fn resumed(&self) -> Option<(ResumePhase, PathEstimate)> {
        if self.are_routers_ruling() { None } else { self.measured.resumed() }
    }

    fn phase(&self) -> Phase {
        if self.are_routers_ruling() { Phase::Explicit } else { self.measured.phase() }
    }

    fn others(&self) -> Others {
        if self.are_routers_ruling() { Others::Absent } else { self.measured.others() }
    }

    /// What the rate goes by: [`ControllerKind::Model`](crate::ControllerKind::Model)'s name where it is
    /// measured.
    fn name(&self) -> &'static str {
        if self.asks() { self.answer.name() } else { self.measured.name() }
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}

/// Time of so many octets at this rate, in ns.
fn bytes_in_time(bytes: u64, bytes_per_s: u64) -> u64 {
    scaled(bytes, SECOND, bytes_per_s.max(1))
}
