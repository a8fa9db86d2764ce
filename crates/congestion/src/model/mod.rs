//! Model-based controller of the rate of a path, measured where the data arrives. `docs/spec/controller.md`
//! explains it and argues for each constant.

mod competition;
mod growth;
mod jumps;
mod loss_noise;
mod min_delay;
#[cfg(test)]
mod model_tests;
mod sharing;
mod start;
mod trains;

use alloc::boxed::Box;

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Interval, MS, Others, PathController, PathSample, SECOND};

use competition::{CompetitionDetector, CubicClaim, QueueCause, unusual_bytes};
use growth::{Fit, Growth, Step};
use jumps::Jumps;
use loss_noise::LossNoise;
use min_delay::MinDelayFilter;
use sharing::{Evidence, Sharing};
use start::Start;
use trains::Trains;

/// Lowest rate in bit/s: a packet of 1500 octets in 12 s.
const MIN_RATE_BPS: f64 = 1000.0;
/// Highest: what a receiver says may be anything.
const MAX_RATE_BPS: f64 = 1e11;
/// Queue that is aimed at, as a part of the round trip, within these bounds: long enough to be told from
/// jitter, shorter than anybody minds.
const TARGET_PART: u64 = 50;
const MIN_TARGET_NS: u64 = 2 * MS;
const MAX_TARGET_NS: u64 = 10 * MS;
/// Part of a queue that a round trip's worth of correction takes away: the answer comes a round trip later,
/// and a loop with such a delay is stable below 1.57.
const GAIN: f64 = 0.5;
/// Bounds of a correction of the rate.
const MIN_CORRECTION: f64 = 0.5;
const MAX_CORRECTION: f64 = 1.05;
/// Time in which a path without a queue shows its shortest delay: windows of [`MinDelayFilter`] are at least
/// so long.
const BASE_WINDOW_NS: u64 = 10 * SECOND;
const BASE_WINDOW_RTTS: u64 = 20;
/// To empty a queue costs up to a packet's time: so many packets are sent in a window, ...
const BASE_WINDOW_PACKETS: u64 = 200;
/// ... up to this time, in which clocks drift by less than a packet.
const MAX_BASE_WINDOW_NS: u64 = 60 * SECOND;
/// Part of the estimate below which a path was not full: the lowest correction, less some packets.
const FULL_PART: f64 = 0.45;
/// Part of the time of sending by which arriving took longer if a queue grows.
const GROWTH_PART: u64 = 16;
/// Factor by which more may seem to have arrived than was sent: the rounding of short times.
const MAX_EXCESS: f64 = 1.02;
/// Factor of a jump at most: should the trains be wrong, a round trip of it is what has to wait.
const MAX_JUMP: f64 = 2.0;
/// POLLs are not much closer together than this, however short the round trip: answers come no faster.
const POLL_NS: u64 = 20 * MS;
/// Time for which a receiver's machine may stand still.
const STALL_NS: u64 = 20 * MS;
/// Bytes between two marks below which they say more about packet sizes than about a rate, ...
const MIN_BYTES: u64 = 4 * 1500;
/// ... and the time from which on they do not: what takes that long is slow, and less than a tenth of it is
/// jitter.
const MIN_ARRIVAL_NS: u64 = 200 * MS;
/// Factor of what has shown that it fits that is sent in a round trip at most: ten packets tell the rate of a
/// path that carries them as it carries more, and one that lets them go together shows any.
const EVIDENCE_FACTOR: u64 = 128;

/// Controller that measures the rate of a path, and holds it.
#[derive(Clone, Debug)]
pub struct Model {
    mss_bytes: u64,
    start: Start,
    /// Most IP bytes that were seen to arrive of one stretch without a queue, the first packets at least.
    evidence_bytes: u64,
    /// Rate that the path carries for us, in bit/s; 0: not known yet.
    estimate_bps: f64,
    /// Estimate at the last report without a queue.
    calm_bps: f64,
    /// Time at which an estimate was known first.
    started_at: Option<Instant>,
    /// Rate at which to send, in bit/s.
    rate_bps: f64,
    min_delay: MinDelayFilter,
    /// Shortest and latest round trip.
    rtt_min_ns: u64,
    rtt_ns: u64,
    /// Waiting of the last marks that stood behind no train.
    waits_ns: [u64; 2],
    noise: LossNoise,
    trains: Trains,
    /// Time at which the rate was last lowered for a round trip, so that the path shows its shortest delay.
    drained_at: Option<Instant>,
    competition: CompetitionDetector,
    competing: Option<CubicClaim>,
    jumps: Jumps,
    growth: Growth,
    sharing: Sharing,
}

impl Model {
    /// Model of a path on which `first_window_bytes` may leave before anything is known, in segments of
    /// `mss_bytes`.
    pub fn new(mss_bytes: u64, first_window_bytes: u64) -> Self {
        Self {
            mss_bytes,
            start: Start::new(first_window_bytes),
            evidence_bytes: first_window_bytes,
            estimate_bps: 0.0,
            calm_bps: 0.0,
            started_at: None,
            rate_bps: 0.0,
            min_delay: MinDelayFilter::default(),
            rtt_min_ns: u64::MAX,
            rtt_ns: 0,
            waits_ns: [0; 2],
            noise: LossNoise::default(),
            trains: Trains::default(),
            drained_at: None,
            competition: CompetitionDetector::default(),
            competing: None,
            jumps: Jumps::default(),
            growth: Growth::default(),
            sharing: Sharing::default(),
        }
    }

    fn is_started(&self) -> bool {
        self.estimate_bps > 0.0
    }

    /// Rate that the path carries for us, in bit/s, and its shortest round trip, once both are known.
    pub(crate) fn found(&self) -> Option<(u64, u64)> {
        self.is_started().then_some((self.estimate_bps as u64, self.rtt_min_ns))
    }

    /// Waiting of the last mark on the way there.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.waits_ns[0]
    }

    /// Queue aimed at: some of the round trip, but no more than half of what the path has room for, and the
    /// time that two packets take there. A small share of a fast path does not make them slower.
    fn target_ns(&self) -> u64 {
        let room_ns = self.room_ns().unwrap_or(u64::MAX);
        let part_ns = (self.rtt_min_ns / TARGET_PART).min(room_ns / 2).clamp(MIN_TARGET_NS, MAX_TARGET_NS);
        part_ns + (2.0 * self.packet_ns(self.rate_bps.max(self.trains.latest_bps()))) as u64
    }

    /// True if the last mark met no queue, or no longer one than is aimed at.
    fn is_calm(&self) -> bool {
        self.waits_ns[0] <= self.target_ns()
    }

    /// True if no train shows that the path carries much more than this.
    fn is_all(&self, bps: f64) -> bool {
        bps > self.trains.latest_bps() * competition::ALONE_PART
    }

    /// True if that is so of what arrives and what noise takes: others' packets may have been taken for noise
    /// in the estimate.
    fn has_all(&self) -> bool {
        let noise_part = self.noise.part().min(competition::ALONE_NOISE);
        let ours_bps = self.sharing.arrived_bps().map_or(self.estimate_bps, |bps| bps / (1.0 - noise_part));
        self.is_all(ours_bps.min(self.estimate_bps))
    }

    /// Takes in whether others have a part of the path: they fill its queue, or, if it is a short one, what
    /// we lose is theirs although trains show it.
    fn take_shared(&mut self, now: Instant, sample: &PathSample) {
        if let Some((long, bps)) = sample.long.and_then(|long| Some((long, self.arrived_bps(&long)?))) {
            self.sharing.arrived(bps, long.arrived_bytes / self.mss_bytes.max(1));
        }
        let evidence = Evidence {
            is_train: sample.train.is_some(),
            has_all: self.has_all(),
            has_lost: sample.long.is_some_and(|long| self.noise.is_exceeded(&long)),
        };
        self.sharing.saw(now, evidence, self.patience_ns());
        let has_all = self.is_all(self.estimate_bps);
        let is_filled = self.competing.is_some() || self.competition.is_crowded();
        let is_loose = self.growth.is_loose(now, self.rtt_min_ns);
        if has_all && !is_filled && is_loose {
            self.jumps.forgive();
        }
        let are_there = is_filled || self.jumps.have_failed();
        self.sharing.conclude(are_there, has_all, is_loose);
    }

    /// Part of what is sent that is lost whatever is sent: beside others most of it may be theirs.
    fn noise_part(&self) -> f64 {
        if self.sharing.is_shared() { self.noise.excused_part() } else { self.noise.part() }
    }

    /// Rate of a window of two packets: no TCP gives way further, and who sends less has no train, nor enough
    /// reports to learn by that others have gone.
    fn least_share_bps(&self) -> f64 {
        rate_bps(trains::MIN_PACKETS * self.mss_bytes, self.rtt_ns.max(self.rtt_min_ns))
    }

    fn patience_ns(&self) -> u64 {
        competition::PATIENCE_RTTS.saturating_mul(self.rtt_min_ns)
    }

    /// Time that a train takes for which the queue has room, if longer ones had none.
    fn room_ns(&self) -> Option<u64> {
        self.trains.room_packets().map(|packets| (packets as f64 * self.packet_ns(self.estimate_bps)) as u64)
    }

    /// Finds the first rate: how the path spread the packets that left at once; if a queue grows of what
    /// leaves, what arrives; else what the search finds.
    fn start(&mut self, now: Instant, sample: &PathSample) {
        let train = sample.train.filter(|train| train.arrived_bytes >= 2 * self.mss_bytes);
        let carried_bps = train.as_ref().and_then(carried_bps);
        let delivered_bps = sample.long.and_then(|long| self.delivered_bps(&long));
        let is_queueing = self.waits_ns[0].min(self.waits_ns[1]) > MAX_TARGET_NS;
        let measured_bps = carried_bps.or(delivered_bps.filter(|_| is_queueing));
        let found_bps = measured_bps.or_else(|| {
            // A few packets in a short round trip are no rate to hold, but one to search from. A packet with
            // a POLL has less data than others, and may be all that arrives.
            let bps = Some(arrived_bps(sample)).filter(|bps| !self.is_started() && *bps > 0.0)?;
            self.start.search(now, sample, bps, self.mss_bytes)
        });
        if let Some(bps) = found_bps {
            self.set_estimate(bps);
            self.rate_bps = self.estimate_bps.min(self.proven_bps());
        }
    }

    fn set_estimate(&mut self, bps: f64) {
        self.estimate_bps = bps.clamp(MIN_RATE_BPS, MAX_RATE_BPS);
    }

    /// Rate that the path carried between two marks, when there was a queue: what arrived, and what is lost
    /// anyway.
    fn delivered_bps(&self, long: &Interval) -> Option<f64> {
        self.arrived_bps(long).map(|bps| bps / (1.0 - self.noise_part()))
    }

    /// Rate at which packets arrived between two marks, if they are enough to tell. A queue empties while at
    /// least the lowest correction of the rate is sent: what arrives in less of the time than that explains
    /// may have been held up for a moment by the receiver's machine, and read at once.
    fn arrived_bps(&self, long: &Interval) -> Option<f64> {
        let least_ns = ((long.sent_ns as f64 * MIN_CORRECTION) as u64).min(STALL_NS);
        let long = Interval { arrived_ns: long.arrived_ns.max(least_ns), ..*long };
        let is_enough = long.arrived_bytes >= MIN_BYTES && long.arrived_ns > 0
            || long.arrived_bytes >= self.mss_bytes && long.arrived_ns >= MIN_ARRIVAL_NS;
        is_enough.then(|| rate_bps(long.arrived_bytes, long.arrived_ns))
    }

    /// Claims a share, until nobody else is there.
    fn compete(&mut self, now: Instant, sample: &PathSample) {
        let Some(mut competing) = self.competing.take() else { return };
        let delivered_bps =
            sample.long.and_then(|long| self.delivered_bps(&long)).unwrap_or(self.estimate_bps);
        let carried_bps = sample.train.as_ref().and_then(carried_bps);
        let is_calm = self.is_calm();
        self.set_estimate(delivered_bps);
        if !competing.is_opposed(now, is_calm, self.rtt_min_ns) {
            return;
        }
        if competing.on_sample(now, sample, delivered_bps, carried_bps, self.noise_part()) {
            self.rate_bps = competing.rate_bps().clamp(MIN_RATE_BPS, MAX_RATE_BPS);
            self.competing = Some(competing);
        }
    }

    /// Holds the rate by what arrived and by what waited.
    fn hold(&mut self, now: Instant, sample: &PathSample) {
        self.jumps.saw(now, self.estimate_bps, self.rtt_min_ns);
        let target_ns = self.target_ns();
        let is_calm = self.is_calm();
        if let Some(long) = sample.long.filter(|long| long.sent_ns > 0) {
            self.take_losses(now, sample, &long, is_calm);
            self.take_delivered(&long, target_ns);
        }
        if is_calm && !self.sharing.is_taken() {
            self.take_trains(now);
        }
        if self.sharing.is_shared() {
            self.set_estimate(self.estimate_bps.max(self.least_share_bps()));
        }
        self.rate_bps = (self.estimate_bps * self.correction(now, target_ns)).min(self.proven_bps());
        self.stay_below_policer();
    }

    /// Raises the rate, whatever keeps it down, where nothing is lost and nothing waits, until something is.
    fn grow(&mut self, now: Instant, sample: &PathSample) {
        let bps = match self.growth.saw(now, sample, self.fit(sample), self.rate_bps, self.rtt_min_ns) {
            Step::Stay => return,
            Step::Raise(bps) => self.estimate_bps.max(bps),
            Step::Return(bps) => bps.max(self.estimate_bps.min(arrived_bps(sample))),
        };
        self.set_estimate(bps);
        self.noise.move_limit(self.estimate_bps);
        self.rate_bps = self.estimate_bps.min(self.proven_bps());
    }

    /// Tells how what was sent fits into the path.
    fn fit(&self, sample: &PathSample) -> Fit {
        let Some(long) = sample.long.filter(|long| long.sent_ns > 0) else { return Fit::Unused };
        // Where trains leave and show no more than is ours, that is all there is.
        let is_shown = self.is_all(self.estimate_bps)
            && self.trains.are_leaving(sample.sent_at, growth::QUIET_RTTS, self.rtt_min_ns);
        if 2 * self.waits_ns[0] > self.target_ns() || self.competing.is_some() || is_shown {
            return Fit::Queued;
        }
        let was_used = rate_bps(long.sent_bytes, long.sent_ns) > self.rate_bps * FULL_PART;
        if !was_used || self.noise.is_testing() {
            return Fit::Unused;
        }
        if long.arrived_bytes < long.sent_bytes { Fit::Lossy } else { Fit::Loose }
    }

    /// Takes what is missing of what was sent between two marks. A train makes a queue of its own, which the
    /// marks around it do not meet: what is lost of it tells that it was too long, and nothing of noise.
    fn take_losses(&mut self, now: Instant, sample: &PathSample, long: &Interval, is_calm: bool) {
        let began_at = sample.sent_at.before(long.sent_ns);
        let is_first = self.started_at.is_some_and(|at| began_at < at);
        if is_first || self.trains.are_within(began_at, sample.sent_at) {
            let lost_packets = unusual_bytes(long, self.noise.part()) / self.mss_bytes.max(1);
            let is_telling = self.noise.is_known();
            if is_telling && !sample.behind_train {
                let interval = [began_at, sample.sent_at];
                self.trains.lost(now, interval, lost_packets);
            }
        } else if is_calm {
            self.noise.saw(now, sample, self.rate_bps, self.base_window_ns(), self.sharing.is_shared());
        } else {
            self.noise.interrupt();
        }
    }

    /// Keeps below a policer: more is sent in vain.
    fn stay_below_policer(&mut self) {
        if let Some(limit_bps) = self.noise.limit_bps() {
            self.set_estimate(self.estimate_bps.min(limit_bps));
        }
        if let Some(max_bps) = self.noise.max_bps() {
            self.rate_bps = self.rate_bps.min(max_bps).max(MIN_RATE_BPS);
        }
    }

    /// Takes the rate of what arrived: with a queue it is what the path carries, without one the least that
    /// it does.
    fn take_delivered(&mut self, long: &Interval, target_ns: u64) {
        let Some(delivered_bps) = self.delivered_bps(long) else { return };
        // A link that was given too little has carried less than it can.
        let given_bps = self.estimate_bps.min(self.proven_bps());
        let was_full = rate_bps(long.sent_bytes, long.sent_ns) > given_bps * FULL_PART;
        let is_growing =
            long.arrived_ns > long.sent_ns + long.sent_ns / GROWTH_PART && self.waits_ns[0] > target_ns;
        let is_busy = self.waits_ns[0].min(self.waits_ns[1]) > target_ns;
        if was_full && (is_busy || is_growing) {
            self.set_estimate(delivered_bps);
        } else {
            // No more than is sent, which while a queue drains is less than the estimate: then it tells
            // nothing.
            let least_bps = delivered_bps.min(self.rate_bps * MAX_EXCESS);
            self.set_estimate(self.estimate_bps.max(least_bps));
        }
    }

    /// Takes more, if the last trains say that it is to be had: at most twice as much a round trip.
    fn take_trains(&mut self, now: Instant) {
        let Some(bps) = self.trains.worth_bps(self.estimate_bps) else { return };
        let most_bps = self.estimate_bps + (bps - self.estimate_bps) * self.jumps.part();
        self.set_estimate(most_bps.min(MAX_JUMP * self.estimate_bps));
        self.jumps.went(now, self.estimate_bps);
        self.trains.forget();
    }

    /// Correction of the rate by the queue: towards the one aimed at, or, once in a window of
    /// [`MinDelayFilter`], to none.
    fn correction(&mut self, now: Instant, target_ns: u64) -> f64 {
        let drained_at = *self.drained_at.get_or_insert(now);
        if now.since(drained_at) >= self.base_window_ns() {
            self.drained_at = Some(now);
        }
        let drains = self.drained_at.is_some_and(|at| now.since(at) < self.rtt_min_ns) && now > drained_at;
        let (aim_ns, gain) = if drains { (0, 1.0) } else { (target_ns, GAIN) };
        let excess_ns = aim_ns as f64 - self.waits_ns[0] as f64;
        let correction = 1.0 + gain * excess_ns / self.rtt_min_ns.max(1) as f64;
        correction.clamp(MIN_CORRECTION, MAX_CORRECTION)
    }

    fn base_window_ns(&self) -> u64 {
        let packets_ns = BASE_WINDOW_PACKETS as f64 * self.packet_ns(self.estimate_bps);
        let packets_ns = (packets_ns as u64).min(MAX_BASE_WINDOW_NS);
        BASE_WINDOW_NS.max(packets_ns).max(BASE_WINDOW_RTTS.saturating_mul(self.rtt_min_ns))
    }

    /// Takes what the path carried without a queue: what waits in one has not shown that it fits.
    fn take_evidence(&mut self, sample: &PathSample) {
        let is_calm = !sample.behind_train && self.is_calm();
        let arrived_bytes = sample.long.filter(|_| is_calm).map_or(0, |long| long.arrived_bytes);
        self.evidence_bytes = self.evidence_bytes.max(arrived_bytes);
    }

    /// Highest rate at which to send, whatever rate was found.
    fn proven_bps(&self) -> f64 {
        let bytes = EVIDENCE_FACTOR.saturating_mul(self.evidence_bytes);
        rate_bps(bytes, self.rtt_min_ns).max(MIN_RATE_BPS)
    }

    fn packet_ns(&self, rate_bps: f64) -> f64 {
        self.mss_bytes as f64 * 8.0 * SECOND as f64 / rate_bps.max(MIN_RATE_BPS)
    }
}

fn rate_bps(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 8.0 * SECOND as f64 / ns as f64
}

/// Rate in bit/s at which arrived what was sent between two marks; 0 without any.
fn arrived_bps(sample: &PathSample) -> f64 {
    sample.long.map_or(0.0, |long| rate_bps(long.arrived_bytes, long.arrived_ns.max(long.sent_ns).max(1)))
}

/// Rate that the path carried of a train: what is lost of it was carried, too, unless it is so much that no
/// queue took it. Packets that arrived no further apart than they left show what it carries at least.
pub(crate) fn carried_bps(train: &Interval) -> Option<f64> {
    let is_mostly_there = train.arrived_bytes * 10 >= train.sent_bytes * 7;
    let bytes = if is_mostly_there { train.sent_bytes } else { train.arrived_bytes };
    let spread_ns = train.arrived_ns.max(train.sent_ns);
    (spread_ns > 0 && bytes > 0).then(|| rate_bps(bytes, spread_ns))
}

impl PathController for Model {
    fn on_sample(&mut self, now: Instant, sample: &PathSample) {
        self.rtt_min_ns = self.rtt_min_ns.min(sample.rtt_ns).max(1);
        self.rtt_ns = sample.rtt_ns;
        if !sample.behind_train {
            let delay_ns = (sample.arrived_ns as i64).wrapping_sub(sample.sent_at.as_ns() as i64);
            self.waits_ns =
                [self.min_delay.waited_ns(now, delay_ns, self.base_window_ns()), self.waits_ns[0]];
        }
        self.take_evidence(sample);
        if !self.is_started() {
            self.start(now, sample);
            self.started_at = self.is_started().then_some(now);
            return;
        }
        // What left before that is still of the first packets, and more of those tell more.
        if self.started_at.is_some_and(|at| sample.sent_at < at) && sample.train.is_some() {
            return self.start(now, sample);
        }
        if let Some((train, bps)) = sample.train.and_then(|train| Some((train, carried_bps(&train)?))) {
            let began_at = sample.sent_at.before(train.sent_ns);
            self.trains.measured(bps.min(MAX_RATE_BPS), began_at, train.sent_bytes, self.mss_bytes);
        }
        if self.is_calm() {
            self.calm_bps = self.estimate_bps;
        }
        match self.competition.saw(now, self.waits_ns[0], self.target_ns(), self.rtt_min_ns) {
            QueueCause::OtherFlows if self.competing.is_none() => {
                // Who gave way for so long has nothing left. With one newcomer a half was due.
                // Trains show whether the path still carries that.
                let whole_bps = self.calm_bps.min(self.trains.latest_bps());
                let claim_bps = self.estimate_bps.max(whole_bps / 2.0);
                self.competing = Some(CubicClaim::new(now, sample, claim_bps, self.mss_bytes));
                self.noise.forget_limit();
                self.trains.forget_room();
            }
            QueueCause::LongerPath => self.min_delay.forget(),
            _ => {}
        }
        self.compete(now, sample);
        if self.competing.is_none() {
            self.hold(now, sample);
        }
        self.grow(now, sample);
        self.take_shared(now, sample);
    }

    fn on_outage(&mut self, _: Instant) {
        self.start.forget();
        self.min_delay.forget();
        self.waits_ns = [0; 2];
        self.trains.forget();
        self.trains.forget_room();
        self.noise.forget_limit();
        self.competition = CompetitionDetector::default();
        self.jumps = Jumps::default();
        self.growth = Growth::default();
        self.sharing.forget(self.competing.is_some());
    }

    fn rate_bps(&self) -> u64 {
        if self.is_started() { self.rate_bps as u64 } else { self.start.rate_bps() as u64 }
    }

    fn window_bytes(&self) -> u64 {
        if !self.is_started() {
            return self.start.window_bytes();
        }
        // A train leaves only where the longest has room.
        let train_bytes = trains::MAX_PACKETS * self.mss_bytes;
        if let Some(competing) = &self.competing {
            return 2 * competing.window_bytes() + train_bytes;
        }
        let answer_ns = (self.rtt_ns.max(self.rtt_min_ns).saturating_add(POLL_NS)) as f64;
        let under_way_bytes = self.estimate_bps * answer_ns / (8.0 * SECOND as f64);
        (2.0 * under_way_bytes) as u64 + train_bytes
    }

    fn take_train(&mut self, now: Instant) -> u32 {
        if !self.is_started() || self.noise.max_bps().is_some() {
            return 0;
        }
        let window_ns = self.base_window_ns();
        self.trains.take(now, self.rtt_min_ns, self.estimate_bps, self.mss_bytes, window_ns)
    }

    fn max_train_packets(&self) -> u32 {
        trains::MAX_PACKETS as u32
    }

    fn short_queue_ns(&self) -> Option<u64> {
        // A policer has none. What a test found to be noise is nobody's queue.
        let policer_ns = self.noise.limit_bps().map(|_| 0);
        policer_ns.or(self.room_ns()).filter(|_| !self.noise.is_tested())
    }

    fn phase(&self) -> Phase {
        match (self.is_started(), &self.competing) {
            (false, _) => Phase::Measuring,
            (true, Some(_)) => Phase::Competing,
            (true, None) if self.sharing.is_shared() => Phase::Sharing,
            (true, None) => Phase::Holding,
        }
    }

    fn others(&self) -> Others {
        let is_filled = self.competition.is_filled();
        // Who has had a part is not there while no queue stands and trains show that all is ours.
        let has_all = self.is_all(self.estimate_bps) && !is_filled;
        match self.phase() {
            Phase::Competing => Others::Present,
            Phase::Sharing if !has_all => Others::Present,
            _ if is_filled || self.sharing.is_in_doubt() => Others::Suspected,
            _ => Others::Absent,
        }
    }

    fn name(&self) -> &'static str {
        "model"
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}
