//! Policy of POLLs: when the receiver is asked. A few times a round trip while data is outstanding, on the
//! last packet of each burst while the window is small, and rarely otherwise [STP 5.1.1, 5.3; XSTP 3].

use skyhaul_core::{Instant, Path, SECOND, truncate_number};

use super::choice::{Choice, DataStep};
use super::following::Stands;
use super::poll_history::{PollHistory, PollRecord};
use super::{Entropy, Sender, SentUntil, Situation};
use crate::config::RetransmitRule;
use crate::retry::Retry;
use crate::segment::{POLL_BYTES, Poll, SETTLED_BYTES};

/// A last round trip longer than 3/2 of the shortest means queues on the way.
const SLOW_RTT: (u64, u64) = (3, 2);
/// A POLL that is due waits for the next data packet for this part of an interval ...
const RIDE_PART: u64 = 8;
/// ... or this, where the rate is measured: at a low one every packet of its own takes a share.
const FOLLOWING_RIDE_PART: u64 = 2;
/// Round trips between questions to a peer that has nothing to say, at least.
const KEEPALIVE_RTTS: u64 = 2;
/// Bytes that the path carries for each POLL: the 80 or so of its STAT are then half a percent of them.
const BYTES_PER_POLL: u64 = 16_000;
/// POLLs under way that may be lost before the others are waited for: a policer takes the ends of trains.
const SPARE_POLLS: u64 = 3;

/// Decision about the POLL of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollDecision {
    /// None belongs to it.
    No,
    /// One belongs to its data, and may follow it instead.
    Rides,
    /// One is due by itself.
    Due,
}

/// State of the policy.
#[derive(Clone, Debug)]
pub(super) struct PollPolicy {
    history: PollHistory,
    /// A POLL belongs right behind the packet just sent, which had no room for it.
    owed: bool,
    /// Timer of a closed window.
    persist: Retry,
    bytes_since_poll: u64,
    /// POLLs sent with nothing under way: how often an opener has asked whether its proof arrived.
    quiet_polls: u32,
}

/// Facts of a POLL that leaves now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) now: Instant,
    /// Data transmissions so far, and the next new number.
    pub(super) order: u64,
    pub(super) next: u64,
    pub(super) stands: Stands,
}

impl PollPolicy {
    /// Policy of a connection whose POLLs take the timestamps that `entropy` makes nobody guess.
    pub(super) fn new(entropy: Entropy, max_timer_ns: u64) -> Self {
        Self {
            history: PollHistory::new(entropy.timestamp_offset, entropy.secret).after(entropy.last_timestamp),
            owed: false,
            persist: Retry::new(SECOND, max_timer_ns),
            bytes_since_poll: 0,
            quiet_polls: 0,
        }
    }

    /// Puts a POLL behind the packet that leaves now, or (`is_owed` false) forgets one.
    pub(super) fn owe(&mut self, is_owed: bool) {
        self.owed = is_owed;
    }

    /// True if a POLL was put off already.
    pub(super) fn is_owed(&self) -> bool {
        self.owed
    }

    /// POLLs under way.
    pub(super) fn history(&self) -> &PollHistory {
        &self.history
    }

    /// Answer to a POLL.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        echo: u32,
        overtaken: impl FnMut(u32),
    ) -> Option<(PollRecord, bool)> {
        self.history.answer(now, echo, overtaken)
    }

    /// A POLL leaves in a probe of the path's MTU, a packet of `bytes`. Result: its timestamp.
    pub(super) fn on_mtu_probe(&mut self, now: Instant, order: u64, next: u64, bytes: u32) -> u32 {
        self.history.send_probe(now, order, next, bytes)
    }

    /// The segment of the last POLL was written: what has left, it included.
    pub(super) fn note_sent(&mut self, sent: SentUntil) {
        self.history.note_sent(sent);
    }

    /// A data packet leaves.
    pub(super) fn on_data(&mut self, bytes: usize) {
        self.bytes_since_poll += bytes as u64;
    }

    /// A POLL leaves. Result: its timestamp.
    pub(super) fn on_poll(&mut self, leaving: &Leaving) -> u32 {
        self.owed = false;
        self.bytes_since_poll = 0;
        self.history.send(leaving.now, leaving.order, leaving.next, leaving.stands)
    }

    /// A POLL leaves while nothing is under way.
    pub(super) fn on_quiet_poll(&mut self) {
        self.quiet_polls = self.quiet_polls.saturating_add(1);
    }

    /// Invariants: a POLL asks about what was sent before it.
    pub(super) fn check_invariants(&self, order: u64, next: u64) {
        debug_assert!(self.history.last_order().is_none_or(|last| last <= order));
        debug_assert!(self.history.last().is_none_or(|last| last.next <= next));
    }
}

impl Sender {
    /// Decision about the POLL of the segment that leaves now with the data `chosen`, or else when one leaves
    /// by itself. `data`: what is to leave next. The policy is asked here and nowhere else.
    pub(super) fn decide_poll(
        &self,
        data: Option<&DataStep>,
        chosen: Option<Choice>,
        situation: &Situation,
        now: Instant,
        path: &Path,
    ) -> (PollDecision, Option<Instant>) {
        let gives_way = || data.is_none() && self.has_nothing_new() && self.symbol_waits(situation);
        let due = self.poll_due(situation, path).filter(|_| !gives_way());
        let at = due.map(|due| self.poll_leaves_at(due, data));
        let Some(choice) = chosen else {
            let is_due = due.is_some_and(|due| due <= now) && at.is_some_and(|at| at <= now);
            return (if is_due { PollDecision::Due } else { PollDecision::No }, at);
        };
        let decision = if due.is_some_and(|due| due <= now) {
            PollDecision::Due
        } else if self.poll_rides(now, path, self.ends_burst(choice, path)) {
            PollDecision::Rides
        } else {
            PollDecision::No
        };
        (decision, at)
    }

    /// When a POLL is due, if data, an unproven peer, a closed window or an idle connection ask for one.
    fn poll_due(&self, situation: &Situation, path: &Path) -> Option<Instant> {
        if !self.has_begun(situation) || situation.is_lingering {
            return None;
        }
        if let Some(due) = situation.probe_at {
            return Some(due);
        }
        if self.polls.owed {
            return Some(Instant::ZERO);
        }
        if !self.cache.is_empty() {
            return Some(self.poll_due_for_data(path));
        }
        if !situation.is_proven {
            return Some(self.poll_due_again());
        }
        if self.is_persisting(situation.is_opened, path) {
            return Some(self.polls.persist.due().unwrap_or_else(|| self.poll_due_again()));
        }
        let last_poll_at = self.polls.history.last_sent_at().unwrap_or(Instant::ZERO);
        let quiet_since = situation.last_heard.max(last_poll_at);
        self.keepalive_ns(situation).map(|ns| quiet_since.after(ns))
    }

    /// Interval of an idle connection's POLLs. An opener asks even if nobody told it to, and soon, until the
    /// acceptor has shown that it may speak: if the proof was lost, an acceptor at its 3x limit can only wait
    /// to be spoken to, and has little patience with an unproven peer.
    fn keepalive_ns(&self, situation: &Situation) -> Option<u64> {
        if situation.is_peer_free {
            return self.config.keepalive_ns.map(|ns| ns.max(self.unhurried_ns()));
        }
        let doubled = self.config.bgn_timer_ns.saturating_mul(1 << (self.polls.quiet_polls / 2).min(20));
        Some(doubled.min(self.config.keepalive_ns.unwrap_or(self.config.max_timer_ns)))
    }

    /// Time after which a peer is asked anew that has nothing to say: an answer takes its time from what the
    /// peer sends, which at a few hundred bits a second is most of it. Before the peer is given up two
    /// questions may be lost.
    fn unhurried_ns(&self) -> u64 {
        let round_trips_ns = if self.rtt.is_known() { KEEPALIVE_RTTS * self.rtt.smoothed_ns() } else { 0 };
        round_trips_ns.min(self.config.give_up_ns.map_or(u64::MAX, |ns| ns / 3))
    }

    /// True if our opening was sent: POLLs are for such connections.
    pub(super) fn has_begun(&self, situation: &Situation) -> bool {
        situation.is_opened || self.activity.first_data_at.is_some()
    }

    fn poll_due_for_data(&self, path: &Path) -> Instant {
        let Some(last) = self.polls.history.last_sent_at() else {
            let first = self.activity.first_data_at.unwrap_or(self.activity.last_data_at);
            return first.after(self.poll_interval_ns());
        };
        if self.has_nothing_new() || self.window_is_small(path) {
            return self.poll_due_again();
        }
        let interval_ns = self.poll_interval_ns();
        if self.awaits_answers(interval_ns) {
            return self.poll_due_again();
        }
        last.after(self.backed_off(interval_ns))
    }

    /// True if no data was sent since the last POLL.
    fn has_nothing_new(&self) -> bool {
        self.polls.history.last_order() == Some(self.activity.order)
    }

    /// When the answer to the last POLL is overdue.
    fn poll_due_again(&self) -> Instant {
        let overdue = self.rtt.overdue_ns(self.config.min_poll_interval_ns);
        let last = self.polls.history.last_sent_at();
        last.map_or(Instant::ZERO, |at| at.after(self.backed_off(overdue)))
    }

    /// True if as many answers are under way as fit into a round trip, and some more, as a few may be lost:
    /// the way back is slower than the questions are. Before the first answer nobody knows how slow it is.
    fn awaits_answers(&self, interval_ns: u64) -> bool {
        let spare = if self.rtt.is_known() { SPARE_POLLS } else { 0 };
        let unanswered = u64::from(self.polls.history.unanswered());
        self.config.spares_stats
            && self.is_rate_paced()
            && unanswered >= self.config.polls_per_rtt + spare
            && unanswered >= self.rtt.smoothed_ns().div_ceil(interval_ns.max(1)) + spare
    }

    /// Interval with regard to a silent peer: it is asked once per round trip, and after a long silence less
    /// and less often.
    fn backed_off(&self, interval_ns: u64) -> u64 {
        let patient = 3 * self.config.polls_per_rtt as u32;
        let over = self.polls.history.unanswered().saturating_sub(patient);
        if over == 0 {
            return interval_ns;
        }
        let slow = interval_ns.max(self.rtt.smoothed_ns());
        slow.saturating_mul(1 << (over / 32).min(8)).min(self.config.max_timer_ns.max(slow))
    }

    /// Interval of POLLs about data.
    pub(super) fn poll_interval_ns(&self) -> u64 {
        if !self.is_slow() && self.cache.unsent_bytes() == 0 {
            return self.interval_ns(self.config.polls_per_rtt_tail).max(self.queued_ns());
        }
        self.usual_poll_interval_ns()
    }

    /// Time by which the last round trip was longer than the shortest: on a thin way back, answers wait for
    /// each other.
    fn queued_ns(&self) -> u64 {
        let is_known = self.config.spares_stats && self.rtt.is_known();
        if is_known { self.rtt.latest_ns().saturating_sub(self.rtt.min_ns()) } else { 0 }
    }

    /// Interval of POLLs about data before everything was sent.
    fn usual_poll_interval_ns(&self) -> u64 {
        let slow = self.is_slow();
        let interval_ns =
            self.interval_ns(if slow { self.config.polls_per_slow_rtt } else { self.config.polls_per_rtt });
        interval_ns.max(self.worthwhile_ns().min(self.rtt.smoothed_ns()))
    }

    /// Time in which the path carries enough to ask about, where its rate is known and answers are to be
    /// spared. Those that tell what routers grant are not: the rate waits for them.
    fn worthwhile_ns(&self) -> u64 {
        let is_spared = self.config.spares_stats && !self.is_ruled_by_routers();
        let rate_bps = self.path_rate_bps().filter(|_| is_spared);
        rate_bps.map_or(0, |rate_bps| BYTES_PER_POLL * 8 * SECOND / rate_bps.max(1))
    }

    fn is_slow(&self) -> bool {
        let (numerator, denominator) = SLOW_RTT;
        self.rtt.latest_ns() / numerator > self.rtt.min_ns() / denominator
    }

    fn interval_ns(&self, polls_per_rtt: u64) -> u64 {
        // When a long queue has gone, the last round trip says so, and the average only after many.
        let gone_ns = if self.config.spares_stats { 2 * self.rtt.latest_ns() } else { u64::MAX };
        (self.rtt.smoothed_ns().min(gone_ns) / polls_per_rtt.max(1)).max(self.config.min_poll_interval_ns)
    }

    /// True below about ten segments of window: timer POLLs are off then [STP 5.3].
    fn window_is_small(&self, path: &Path) -> bool {
        let small = self.config.small_window_packets * self.mss_bytes(path) as u64;
        !self.is_rate_paced() && self.regulator.window_bytes() < small
    }

    /// True if data waits, nothing is under way, and the peer's window is closed.
    fn is_persisting(&self, is_opened: bool, path: &Path) -> bool {
        is_opened && self.cache.is_empty() && self.cache.unsent_bytes() > 0 && self.new_data_bytes(path) == 0
    }

    /// When a POLL that is due really leaves: with the next data packet if that is soon. If nothing was
    /// sent since the last one, with the next data packet in any case: asking again and again would
    /// use up a low declared rate, so that the data never gets its turn. (For the same reason it follows a
    /// repair symbol that waits: [`Self::decide_poll`].)
    fn poll_leaves_at(&self, due: Instant, data: Option<&DataStep>) -> Instant {
        let Some(data_at) = data.map(|step| step.at).filter(|&at| at > due) else { return due };
        let part = if self.following.is_some() { FOLLOWING_RIDE_PART } else { RIDE_PART };
        let is_soon = || data_at <= due.after(self.poll_interval_ns() / part);
        if self.has_nothing_new() || is_soon() { data_at } else { due }
    }

    /// True if a POLL goes with a data packet now: due, almost due, forced, or the end of a burst.
    fn poll_rides(&self, now: Instant, path: &Path, ends_burst: bool) -> bool {
        if self.train_polls(now, ends_burst) {
            return true;
        }
        let never = self.polls.history.last_sent_at().is_none();
        if never && self.config.poll_first_burst && (self.is_rate_paced() || ends_burst) {
            return true;
        }
        let forced = self.limit_bytes() / 100 * self.config.forced_poll_percent;
        if self.polls.bytes_since_poll >= forced.max(1) {
            return true;
        }
        if self.window_is_small(path) {
            return ends_burst;
        }
        !never && self.poll_due_for_data(path) <= now
    }

    /// When the POLL/STAT interleave counts as broken (early timeout [XSTP 4.2]): the oldest POLL without an
    /// answer is overdue by `late_intervals`, or by `late_deviations`. Forced and riding POLLs count like
    /// timed ones, since only the time of the oldest matters.
    pub(crate) fn silence_at(
        &self,
        late_intervals: u64,
        late_deviations: u64,
        path: &Path,
    ) -> Option<Instant> {
        if self.cache.unacknowledged() == 0 || !self.rtt.is_known() {
            return None;
        }
        let history = &self.polls.history;
        let oldest = history.oldest_unanswered_at()?;
        let late_ns = late_intervals * self.usual_poll_interval_ns();
        // While the window is small, POLLs have no interval: then it is the deviations of [RFC 6298 2.3].
        let deviations = if self.window_is_small(path) { late_deviations.max(4) } else { late_deviations };
        let deviations_ns = self.rtt.variance_ns().saturating_mul(deviations);
        let wait_ns = self.rtt.smoothed_ns().saturating_add(late_ns.max(deviations_ns));
        // An answer that just came is no silence, however late the next one is.
        Some(oldest.after(wait_ns).max(history.answered_at().after(late_ns)))
    }

    /// A POLL left: the timer of a closed window.
    pub(crate) fn note_poll(&mut self, situation: &Situation, now: Instant, path: &Path) {
        self.traffic.count_poll();
        if self.cache.is_empty() {
            self.polls.on_quiet_poll();
        }
        let is_persisting = self.is_persisting(situation.is_opened, path);
        let persist = &mut self.polls.persist;
        if persist.is_due(now) {
            persist.tried(now);
        } else if is_persisting {
            persist.arm(now, self.rtt.smoothed_ns()); // what waits was written after the window closed
        }
    }

    /// Enters or leaves the persist state [XSTP 3]. Result: a change.
    pub(super) fn watch_window(&mut self, is_opened: bool, now: Instant, path: &Path) -> Option<bool> {
        let on = self.is_persisting(is_opened, path);
        let persist = &mut self.polls.persist;
        let is_change = on != persist.due().is_some();
        if on {
            persist.arm(now, self.rtt.smoothed_ns());
        } else {
            persist.stop();
        }
        is_change.then_some(on)
    }

    /// Number below which whatever was told to be missing was sent again; `None`: the answer is to tell
    /// everything. Under a window the order of packets excuses some that are called missing, and where
    /// packets are overtaken they are waited for: these have to be told again. While probing, or in doubt of
    /// a size, every answer is evidence. And while the window holds repeats back, what became of others under
    /// way must be told, or neither would ever move.
    pub(super) fn settled(&self, situation: &Situation) -> Option<u64> {
        let is_held_back = || {
            self.cache.queued_outside(self.coded_packets(situation)).is_some()
                && self.queued_packet(situation).is_none()
        };
        let asks = self.config.incremental_stats
            && self.peer.takes_increments
            && situation.probe_at.is_none()
            && !situation.doubts_size
            && self.reordering.window_ns() == 0
            && self.is_rate_paced()
            && self.config.retransmit == RetransmitRule::SentBeforePoll
            && !is_held_back();
        if asks { self.told.settled(self.cache.first_queued()) } else { None }
    }

    /// Body of a POLL that leaves now.
    pub(super) fn make_poll(&self, timestamp: u32, situation: &Situation) -> Poll {
        // Losses cost repeats and, at the end, symbols; before the peer's opening is known it is taken to
        // know these.
        let codes = if situation.is_opened { self.peer.both_code } else { self.config.coded_tail };
        Poll {
            timestamp,
            next: truncate_number(self.cache.next()),
            settled: self.settled(situation).map(truncate_number),
            spares_ustats: self.config.spares_ustats && self.is_rate_paced() && codes,
            pads: false,
        }
    }

    /// Length of that body.
    pub(super) fn poll_bytes(&self, situation: &Situation) -> usize {
        POLL_BYTES + if self.settled(situation).is_some() { SETTLED_BYTES } else { 0 }
    }
}
