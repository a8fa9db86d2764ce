//! Model-based controller of the rate of a path, measured where the data arrives. `docs/spec/controller.md`
//! explains it and argues for each constant.

mod aim;
mod competition;
mod delays;
mod estimate;
mod growth;
mod jumps;
mod longer;
mod loss_noise;
mod min_delay;
#[cfg(test)]
mod model_tests;
mod neighbours;
mod pace;
mod proof;
mod rates;
mod sharing;
mod start;
mod trains;

use alloc::boxed::Box;

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Interval, MS, Others, PathController, PathSample, SECOND};

pub(crate) use competition::lost_part;
use competition::{QueueCause, unusual_bytes};
pub(crate) use delays::Delays;
use estimate::Estimate;
use growth::{Fit, Growth, Step};
use longer::{Report, Rises};
use loss_noise::LossNoise;
use neighbours::{Delivered, Neighbours, Part};
use pace::Pace;
pub(crate) use rates::carried_bps;
use rates::{MAX_RATE_BPS, packet_ns, rate_bps, seen_bps};
use sharing::Evidence;
use start::Start;
use trains::Trains;

/// POLLs are not much closer together than this, however short the round trip: answers come no faster.
const POLL_NS: u64 = 20 * MS;

/// Controller that measures the rate of a path, and holds it.
#[derive(Clone, Debug)]
pub struct Model {
    mss_bytes: u64,
    start: Start,
    pace: Pace,
    estimate: Estimate,
    delays: Delays,
    noise: LossNoise,
    trains: Trains,
    neighbours: Neighbours,
    growth: Growth,
    rises: Rises,
    /// What left before the rate was known stands in the queue with so many bytes too many, which nobody has
    /// asked for yet.
    excess_bytes: u64,
}

impl Model {
    /// Model of a path on which `first_window_bytes` may leave before anything is known, in segments of
    /// `mss_bytes`.
    pub fn new(mss_bytes: u64, first_window_bytes: u64) -> Self {
        Self {
            mss_bytes,
            start: Start::new(first_window_bytes),
            pace: Pace::new(first_window_bytes),
            estimate: Estimate::default(),
            delays: Delays::default(),
            noise: LossNoise::default(),
            trains: Trains::default(),
            neighbours: Neighbours::default(),
            growth: Growth::default(),
            rises: Rises::default(),
            excess_bytes: 0,
        }
    }

    /// Model that goes on from a rate in bit/s that the path has carried, and from the delays that it had: a
    /// queue that stands already is none of them.
    pub(crate) fn at(mss_bytes: u64, first_window_bytes: u64, bps: u64, delays: Delays) -> Self {
        let mut model = Self { delays, ..Self::new(mss_bytes, first_window_bytes) };
        model.estimate.set(bps as f64);
        model.pace.claim(bps as f64);
        model
    }

    /// Rate that the path carries for us, in bit/s, and its shortest round trip, once both are known.
    pub(crate) fn found(&self) -> Option<(u64, u64)> {
        self.estimate.is_known().then_some((self.estimate.bps() as u64, self.delays.rtt_min_ns()))
    }

    /// Waiting of the last mark on the way there.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.delays.waited_ns()
    }

    /// Queue aimed at. A small share of a fast path does not make its packets slower.
    fn target_ns(&self) -> u64 {
        let packet_ns = self.packet_ns(self.pace.bps().max(self.trains.latest_bps()));
        aim::target_ns(self.delays.rtt_min_ns(), self.room_ns(), packet_ns)
    }

    /// True if the last mark met no queue, or no longer one than is aimed at.
    fn is_calm(&self) -> bool {
        self.delays.waited_ns() <= self.target_ns()
    }

    /// True if no train shows that the path carries much more than this.
    fn is_all(&self, bps: f64) -> bool {
        bps > self.trains.latest_bps() * competition::ALONE_PART
    }

    /// True if that is so of what arrives and what noise takes: others' packets may have been taken for noise
    /// in the estimate.
    fn has_all(&self) -> bool {
        let noise_part = self.noise.part().min(competition::ALONE_NOISE);
        let ours_bps = self.neighbours.left_bps().map_or(self.estimate.bps(), |bps| bps / (1.0 - noise_part));
        self.is_all(ours_bps.min(self.estimate.bps()))
    }

    /// True if what a report tells of left much more slowly than the path carries for us, though that is all
    /// that trains show: a queue is emptied.
    fn holds_back(&self, sample: &PathSample) -> bool {
        let sent = sample.long.filter(|long| long.sent_ns > 0);
        let sent_bps = sent.map_or(self.pace.bps(), |long| rate_bps(long.sent_bytes, long.sent_ns));
        let estimate_bps = self.estimate.bps();
        self.is_all(estimate_bps) && sent_bps < estimate_bps * competition::ALONE_PART
    }

    /// Takes in what a report says of the part of the path that is ours.
    fn take_shared(&mut self, now: Instant, sample: &PathSample) {
        if let Some((long, bps)) = sample.long.and_then(|long| Some((long, self.arrived_bps(&long)?))) {
            self.neighbours.left(bps, long.arrived_bytes / self.mss_bytes.max(1));
        }
        let rtt_min_ns = self.delays.rtt_min_ns();
        let part = Part {
            evidence: Evidence {
                is_train: sample.train.is_some(),
                has_all: self.has_all(),
                has_lost: sample.long.is_some_and(|long| self.noise.is_exceeded(&long)),
                holds_back: self.holds_back(sample),
            },
            is_all_ours: self.is_all(self.estimate.bps()),
            is_loose: self.growth.is_loose(now, rtt_min_ns),
            patience_ns: competition::PATIENCE_RTTS.saturating_mul(rtt_min_ns),
        };
        self.neighbours.saw(now, part);
    }

    /// Part of what is sent that is lost whatever is sent: beside others most of it may be theirs.
    fn noise_part(&self) -> f64 {
        if self.neighbours.are_sharing() { self.noise.excused_part() } else { self.noise.part() }
    }

    /// Rate of a window of two packets: no TCP gives way further, and who sends less has no train, nor enough
    /// reports to learn by that others have gone.
    fn least_share_bps(&self) -> f64 {
        rate_bps(trains::MIN_PACKETS * self.mss_bytes, self.delays.rtt_ns())
    }

    /// Time that a train takes for which the queue has room, if longer ones had none.
    fn room_ns(&self) -> Option<u64> {
        self.trains.room_ns(self.packet_ns(self.estimate.bps()))
    }

    /// Finds the first rate: how the path spread the packets that left at once; if a queue grows of what
    /// leaves, what arrives; else what the search finds.
    fn start(&mut self, now: Instant, sample: &PathSample) {
        let train = sample.train.filter(|train| train.arrived_bytes >= 2 * self.mss_bytes);
        let carried_bps = train.as_ref().and_then(carried_bps);
        let delivered_bps = sample.long.and_then(|long| self.delivered_bps(&long));
        let is_queueing = self.delays.least_waited_ns() > aim::MAX_TARGET_NS;
        let measured_bps = carried_bps.or(delivered_bps.filter(|_| is_queueing));
        let found_bps = measured_bps.or_else(|| {
            // A few packets in a short round trip are no rate to hold, but one to search from. A packet with
            // a POLL has less data than others, and may be all that arrives.
            let bps = Some(seen_bps(sample)).filter(|bps| !self.estimate.is_known() && *bps > 0.0)?;
            self.start.search(now, sample, bps, self.mss_bytes)
        });
        if let Some(bps) = found_bps {
            let is_first = !self.estimate.is_known();
            self.estimate.set(bps);
            self.pace.go(self.estimate.bps(), &self.delays);
            if is_first {
                self.excess_bytes = self.excess_bytes(sample);
            }
        }
    }

    /// Bytes that left after the mark and will stand in a queue beyond the one that is aimed at, when what
    /// leaves now comes to it.
    fn excess_bytes(&self, sample: &PathSample) -> u64 {
        // Where something is missing, a queue was full: what is lost does not stand there.
        let has_lost = |of: Option<Interval>| of.is_some_and(|of| of.arrived_bytes < of.sent_bytes);
        if has_lost(sample.train) || has_lost(sample.long) {
            return 0;
        }
        let due_ns = self.delays.rtt_min_ns().saturating_add(self.target_ns());
        let due_bytes = self.pace.bps() * due_ns as f64 / (8.0 * SECOND as f64);
        sample.since_bytes.saturating_sub(due_bytes as u64)
    }

    /// Rate that the path carried between two marks, when there was a queue: what arrived, and what is lost
    /// anyway.
    fn delivered_bps(&self, long: &Interval) -> Option<f64> {
        self.arrived_bps(long).map(|bps| bps / (1.0 - self.noise_part()))
    }

    fn arrived_bps(&self, long: &Interval) -> Option<f64> {
        rates::arrived_bps(long, self.mss_bytes)
    }

    /// Claims a share, until nobody else is there; true while somebody is.
    fn compete(&mut self, now: Instant, sample: &PathSample) -> bool {
        if self.neighbours.claim().is_none() {
            return false;
        }
        let delivered = Delivered {
            delivered_bps: sample
                .long
                .and_then(|long| self.delivered_bps(&long))
                .unwrap_or(self.estimate.bps()),
            carried_bps: sample.train.as_ref().and_then(carried_bps),
            noise_part: self.noise_part(),
            is_calm: self.is_calm(),
        };
        self.estimate.set(delivered.delivered_bps);
        let claim_bps = self.neighbours.claim_bps(now, sample, delivered, self.delays.rtt_min_ns());
        if let Some(bps) = claim_bps {
            self.pace.claim(bps);
        }
        claim_bps.is_some()
    }

    /// Holds the rate by what arrived and by what waited.
    fn hold(&mut self, now: Instant, sample: &PathSample) {
        self.neighbours.held(now, self.estimate.bps(), self.delays.rtt_min_ns());
        let target_ns = self.target_ns();
        let is_calm = self.is_calm();
        if let Some(long) = sample.long.filter(|long| long.sent_ns > 0) {
            self.take_losses(now, sample, &long, is_calm);
            self.take_delivered(&long, target_ns);
        }
        if is_calm && !self.neighbours.have_taken() {
            self.take_trains(now);
        }
        if self.neighbours.are_sharing() {
            self.estimate.set(self.estimate.bps().max(self.least_share_bps()));
        }
        let window_ns = self.window_ns();
        self.pace.hold(now, self.estimate.bps(), &self.delays, target_ns, window_ns);
        self.stay_below_policer();
    }

    /// Raises the rate, whatever keeps it down, where nothing is lost and nothing waits, until something is.
    fn grow(&mut self, now: Instant, sample: &PathSample) {
        let fit = self.fit(sample);
        let bps = match self.growth.saw(now, sample, fit, self.pace.bps(), self.delays.rtt_min_ns()) {
            Step::Stay => return,
            Step::Raise(bps) => self.estimate.bps().max(bps),
            Step::Return(bps) => bps.max(self.estimate.bps().min(seen_bps(sample))),
        };
        self.estimate.set(bps);
        self.noise.move_limit(self.estimate.bps());
        self.pace.go(self.estimate.bps(), &self.delays);
    }

    /// Tells how what was sent fits into the path.
    fn fit(&self, sample: &PathSample) -> Fit {
        let Some(long) = sample.long.filter(|long| long.sent_ns > 0) else { return Fit::Unused };
        // Where trains leave and show no more than is ours, that is all there is.
        let is_shown = self.is_all(self.estimate.bps())
            && self.trains.are_leaving(sample.sent_at, growth::QUIET_RTTS, self.delays.rtt_min_ns());
        if 2 * self.delays.waited_ns() > self.target_ns() || self.neighbours.claim().is_some() || is_shown {
            return Fit::Queued;
        }
        if self.noise.is_testing() { Fit::Unused } else { Fit::without_queue(&long, self.pace.bps()) }
    }

    /// Takes what is missing of what was sent between two marks. A train makes a queue of its own, which the
    /// marks around it do not meet: what is lost of it tells that it was too long, and nothing of noise.
    fn take_losses(&mut self, now: Instant, sample: &PathSample, long: &Interval, is_calm: bool) {
        let began_at = sample.sent_at.before(long.sent_ns);
        let is_first = self.estimate.was_unknown(began_at);
        if is_first || self.trains.are_within(began_at, sample.sent_at) {
            let lost_packets = unusual_bytes(long, self.noise.part()) / self.mss_bytes.max(1);
            let is_telling = self.noise.is_known();
            if is_telling && !sample.behind_train {
                let interval = [began_at, sample.sent_at];
                self.trains.lost(now, interval, lost_packets);
            }
        } else if is_calm {
            self.noise.saw(now, sample, self.pace.bps(), self.window_ns(), self.neighbours.are_sharing());
        } else {
            self.noise.interrupt();
        }
    }

    /// Keeps below a policer: more is sent in vain.
    fn stay_below_policer(&mut self) {
        if let Some(limit_bps) = self.noise.limit_bps() {
            self.estimate.set(self.estimate.bps().min(limit_bps));
        }
        if let Some(max_bps) = self.noise.max_bps() {
            self.pace.stay_below(max_bps);
        }
    }

    fn take_delivered(&mut self, long: &Interval, target_ns: u64) {
        let Some(delivered_bps) = self.delivered_bps(long) else { return };
        self.estimate.take_delivered(long, delivered_bps, &self.pace, &self.delays, target_ns);
    }

    /// Takes more, if the last trains say that it is to be had: at most twice as much a round trip.
    fn take_trains(&mut self, now: Instant) {
        let Some(bps) = self.trains.worth_bps(self.estimate.bps()) else { return };
        self.estimate.jump(bps, self.neighbours.jumps().part());
        self.neighbours.jumped(now, self.estimate.bps());
        self.trains.forget();
    }

    /// Time in which the queue is emptied once, and that findings of the path are counted in.
    fn window_ns(&self) -> u64 {
        self.delays.window_ns(self.packet_ns(self.estimate.bps()))
    }

    fn packet_ns(&self, rate_bps: f64) -> f64 {
        packet_ns(self.mss_bytes, rate_bps)
    }

    /// Takes in that the queue does not go away: somebody fills it, or the path has become longer.
    fn take_queue(&mut self, now: Instant, sample: &PathSample) {
        let (waited_ns, rtt_min_ns) = (self.delays.waited_ns(), self.delays.rtt_min_ns());
        match self.neighbours.waited(sample.arrived_ns, waited_ns, self.target_ns(), rtt_min_ns) {
            QueueCause::OtherFlows if self.neighbours.claim().is_none() => {
                let due_bps = self.estimate.due_bps(self.trains.latest_bps());
                self.neighbours.begin_claim(now, sample, due_bps, self.mss_bytes);
                self.noise.forget_limit();
                self.trains.forget_room();
            }
            QueueCause::LongerPath => self.delays.forget_shortest(),
            _ => {}
        }
    }

    /// Takes in whether the path has become longer within a moment: then nothing waits, and it carries what
    /// it did before.
    fn take_longer(&mut self, now: Instant, sample: &PathSample) {
        if self.neighbours.claim().is_some() {
            return self.rises.forget();
        }
        let report = Report {
            waited_ns: self.delays.last_waited_ns(),
            target_ns: self.target_ns(),
            bps: self.estimate.bps(),
            pace_bps: self.pace.bps(),
            is_alone: self.others() == Others::Absent,
        };
        if let Some(bps) = self.rises.saw(now, sample, &report, &self.noise) {
            self.delays.became_longer(now, sample);
            self.neighbours.became_longer();
            self.estimate.set(self.estimate.bps().max(bps));
        }
    }
}

impl PathController for Model {
    fn on_sample(&mut self, now: Instant, sample: &PathSample) {
        self.delays.saw(now, sample, self.packet_ns(self.estimate.bps()));
        if self.trains.agreed_bps() > 0.0 {
            self.delays.carries(sample, self.estimate.bps().max(self.trains.agreed_bps()));
        }
        self.pace.saw(sample, self.is_calm());
        if !self.estimate.is_known() {
            self.start(now, sample);
            self.estimate.searched(now);
            return;
        }
        // What left before that is still of the first packets, and more of those tell more.
        if self.estimate.was_unknown(sample.sent_at) && sample.train.is_some() {
            return self.start(now, sample);
        }
        if let Some((train, bps)) = sample.train.and_then(|train| Some((train, carried_bps(&train)?))) {
            let began_at = sample.sent_at.before(train.sent_ns);
            self.trains.measured(bps.min(MAX_RATE_BPS), began_at, train.sent_bytes, self.mss_bytes);
        }
        self.take_longer(now, sample);
        if self.is_calm() {
            self.estimate.was_calm();
        }
        self.take_queue(now, sample);
        if !self.compete(now, sample) {
            self.hold(now, sample);
        }
        self.grow(now, sample);
        self.take_shared(now, sample);
    }

    fn on_outage(&mut self, _: Instant) {
        self.start.forget();
        self.delays.forget();
        self.rises.forget();
        self.trains.forget();
        self.trains.forget_room();
        self.noise.forget_limit();
        self.growth = Growth::default();
        self.neighbours.forget();
    }

    /// What the queue has room for was counted in packets.
    fn on_packet_size(&mut self, mss_bytes: u64) {
        self.mss_bytes = mss_bytes.max(1);
        self.trains.forget_room();
    }

    fn rate_bps(&self) -> u64 {
        if self.estimate.is_known() { self.pace.bps() as u64 } else { self.start.rate_bps() as u64 }
    }

    fn window_bytes(&self) -> u64 {
        if !self.estimate.is_known() {
            return self.start.window_bytes();
        }
        // A train leaves only where the longest has room.
        let train_bytes = trains::MAX_PACKETS * self.mss_bytes;
        if let Some(claim) = self.neighbours.claim() {
            return 2 * claim.window_bytes() + train_bytes;
        }
        let answer_ns = self.delays.rtt_ns().saturating_add(POLL_NS) as f64;
        let under_way_bytes = self.estimate.bps() * answer_ns / (8.0 * SECOND as f64);
        (2.0 * under_way_bytes) as u64 + train_bytes
    }

    fn take_excess_bytes(&mut self) -> u64 {
        core::mem::take(&mut self.excess_bytes)
    }

    fn take_train(&mut self, now: Instant) -> u32 {
        if !self.estimate.is_known() || self.noise.max_bps().is_some() {
            return 0;
        }
        let window_ns = self.window_ns();
        self.trains.take(now, self.delays.rtt_min_ns(), self.estimate.bps(), self.mss_bytes, window_ns)
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
        if !self.estimate.is_known() {
            return Phase::Measuring;
        }
        self.neighbours.phase().unwrap_or(Phase::Holding)
    }

    fn others(&self) -> Others {
        self.neighbours.others(self.is_all(self.estimate.bps()))
    }

    fn name(&self) -> &'static str {
        "model"
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}
