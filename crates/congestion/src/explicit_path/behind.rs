//! Evidence of a queue behind the last router: it waits, or takes much of what is sent, or what it takes
//! halves the rate again and again, and no router answers it with feedback.

use skyhaul_core::{Instant, Interval, PathSample, QUEUE_GAIN, SPARE_GAIN};

use super::bytes_per_s;
use crate::model::{Delays, lost_part};

/// Loops for which that must hold: the transients of a router are over.
const LOOPS: u64 = 4;
/// Packets that wait at a router that rules, with room to spare: P-XCP has 7 to 10 with limited flows.
const PACKETS: u64 = 16;
/// Part of what is sent that a queue takes: noise takes less.
const LOST_PART: f64 = 1.0 / 3.0;
/// Part of the rate that feedback takes within that time, where it is an answer whatever waits.
const FALL_PART: f64 = 1.0 / 32.0;
/// Part of the rate that a router would have taken for the queue at least: less tells nothing of who sees it.
const DUE_PART: f64 = 1.0 / 64.0;
/// Part of what is due that is an answer: feedback is late by a loop, and losses take some of it.
const ANSWER_PART: f64 = 0.25;
/// Part of what is sent that does not arrive in the time in which it left, beyond what noise takes, at a
/// queue that more is sent to than it passes on. Of a path that has become longer all arrives.
const EXCESS_PART: f64 = 1.0 / 32.0;
/// Reports over which noise is averaged, and the most that it takes: more is a queue of few packets.
const NOISE_REPORTS: f64 = 16.0;
const MAX_NOISE_PART: f64 = 0.25;
/// Halvings of the rate that show a queue of few packets, each a round trip after the last one at least.
const HALVINGS: u64 = 4;
/// Part of what is sent that is lost beside such a halving: a rate that a router shares out passes what it
/// carries by less.
const HALVED_PART: f64 = 1.0 / 6.0;
/// Packets that wait where a loss is no noise: a packet of others, and one of what a pacer lets go early.
const HALVED_PACKETS: u64 = 2;

/// Part of the rate sent that did not arrive: it is lost, or makes a queue longer.
fn excess(flow: &Interval) -> f64 {
    let sent = flow.sent_bytes as f64 * flow.arrived_ns as f64;
    let arrived = flow.arrived_bytes as f64 * flow.sent_ns as f64;
    if sent > 0.0 { 1.0 - arrived / sent } else { 0.0 }
}

/// Queue that is suspected, and the feedback since.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    since: Instant,
    /// Loop at that time: of what stands in the queue later the loop becomes longer, too.
    loop_ns: u64,
    first_waited_ns: u64,
    looked_at: Instant,
    /// Part of the rate that a router would have taken for what waited since.
    due: f64,
    /// What left and arrived since, but in the first loop, all intervals together: what made the delay longer
    /// is over.
    flow: Interval,
    /// Parts of the rate that feedback added since, less what it took: now, and at most.
    added: f64,
    most_added: f64,
}

impl Suspicion {
    fn new(now: Instant, loop_ns: u64, waited_ns: u64) -> Self {
        let first_waited_ns = waited_ns;
        let flow = Interval { sent_ns: 0, sent_bytes: 0, arrived_ns: 0, arrived_bytes: 0 };
        let (due, added, most_added) = (0.0, 0.0, 0.0);
        Self { since: now, loop_ns, first_waited_ns, looked_at: now, due, flow, added, most_added }
    }

    /// Takes in that so much waits, in a loop that takes so long, and what left and arrived.
    fn waits(&mut self, now: Instant, waited_ns: u64, loop_ns: u64, interval: &Interval) {
        let loops = now.since(self.looked_at) as f64 / loop_ns as f64;
        self.due += QUEUE_GAIN * loops * waited_ns as f64 / loop_ns as f64;
        self.looked_at = now;
        if now.since(self.since) > self.loop_ns {
            let Interval { sent_ns, sent_bytes, arrived_ns, arrived_bytes } = &mut self.flow;
            *sent_ns = sent_ns.saturating_add(interval.sent_ns);
            *sent_bytes = sent_bytes.saturating_add(interval.sent_bytes);
            *arrived_ns = arrived_ns.saturating_add(interval.arrived_ns);
            *arrived_bytes = arrived_bytes.saturating_add(interval.arrived_bytes);
        }
    }

    /// Part of the rate that a router would have taken that saw the queue [XCP 4.2.2]: what the queue grew by
    /// is capacity that was missing. A queue that goes needs less.
    fn due(&self, waited_ns: u64, loop_ns: u64) -> f64 {
        let grown_ns = waited_ns as f64 - self.first_waited_ns as f64;
        self.due + SPARE_GAIN * grown_ns / loop_ns as f64
    }
}

/// Halvings of the rate that met a queue which takes what is too much, and what routers took meanwhile.
#[derive(Clone, Copy, Debug, Default)]
struct Halvings {
    count: u64,
    /// The last interval lost more than a router lets rates swing.
    is_much_lost: bool,
    /// Parts of the rate.
    taken: f64,
}

/// Part of what is sent that is lost while nothing is suspected.
#[derive(Clone, Copy, Debug, Default)]
struct Noise {
    part: f64,
    reports: f64,
}

impl Noise {
    fn add(&mut self, lost_part: f64) {
        self.reports = NOISE_REPORTS.min(self.reports + 1.0);
        self.part += (lost_part - self.part) / self.reports;
    }
}

/// Delays of the path, and what is suspected of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    delays: Delays,
    suspicion: Option<Suspicion>,
    halvings: Halvings,
    noise: Noise,
}

impl Behind {
    /// Delays that the path has shown.
    pub(super) fn delays(&self) -> Delays {
        self.delays
    }

    /// Waiting on the way there that the last two marks have met, both of them, in ns.
    pub(super) fn waited_ns(&self) -> u64 {
        self.delays.least_waited_ns()
    }

    /// Takes in that feedback made another rate, in octets a second, of this one.
    pub(super) fn was_told(&mut self, rate: u64, rate_now: u64) {
        let change = (rate_now as f64 - rate as f64) / rate.max(1) as f64;
        self.halvings.taken -= change.min(0.0);
        if self.halvings.taken > FALL_PART {
            self.halvings = Halvings::default(); // a router sees it
        }
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.added += change;
            suspicion.most_added = suspicion.most_added.max(suspicion.added);
        }
    }

    /// Takes in that a loss halved the rate at which a packet takes `packet_ns`.
    pub(super) fn was_halved(&mut self, packet_ns: u64) {
        if self.waited_ns() <= HALVED_PACKETS.saturating_mul(packet_ns) {
            self.halvings = Halvings::default(); // of noise, perhaps
        } else if self.halvings.is_much_lost {
            self.halvings.count += 1;
        }
    }

    /// Takes in a report, with `packet_ns` a packet at the rate that is granted. Result: what the path
    /// carries, in octets a second, if there is such a queue.
    pub(super) fn saw(
        &mut self,
        now: Instant,
        sample: &PathSample,
        packet_ns: u64,
        loop_ns: u64,
    ) -> Option<u64> {
        self.delays.saw(now, sample, packet_ns as f64);
        let long = sample.long.filter(|long| long.sent_ns > 0 && long.arrived_ns > 0)?;
        let carried = bytes_per_s(long.arrived_bytes, long.arrived_ns);
        if self.halvings.count >= HALVINGS {
            return Some(carried);
        }
        let (waited_ns, loop_ns) = (self.waited_ns(), loop_ns.max(1));
        let waits = waited_ns > PACKETS.saturating_mul(packet_ns);
        let lost = lost_part(&long);
        let is_lost = lost > LOST_PART;
        self.halvings.is_much_lost = lost > HALVED_PART;
        if !(waits || is_lost) {
            self.suspicion = None;
            self.noise.add(lost);
            return None;
        }
        let fresh = Suspicion::new(now, loop_ns, waited_ns);
        let suspicion = self.suspicion.get_or_insert(fresh);
        suspicion.waits(now, waited_ns, loop_ns, &long);
        let is_long = now.since(suspicion.since) >= LOOPS.saturating_mul(suspicion.loop_ns);
        if suspicion.added < -FALL_PART {
            *suspicion = fresh; // a router sees it
        } else if is_long {
            let due = suspicion.due(waited_ns, loop_ns);
            let taken = suspicion.most_added - suspicion.added;
            let is_unanswered = due > DUE_PART && taken < due * ANSWER_PART;
            let excess = excess(&suspicion.flow) - self.noise.part.min(MAX_NOISE_PART);
            if is_lost || is_unanswered && excess > EXCESS_PART {
                return Some(carried);
            }
            *suspicion = fresh;
        }
        None
    }
}
