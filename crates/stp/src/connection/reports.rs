//! STATs and USTATs at the sender: what they acknowledge, what they show to be lost, and what the
//! controller makes of it.

use alloc::vec::Vec;

use skyhaul_congestion::{Acked, Lost};
use skyhaul_core::event::Refusal;
use skyhaul_core::{Event, Instant, SECOND, StreamEvent, Verdict, expand};

use super::{Connection, Context};
use crate::config::RetransmitRule;
use crate::probing::{Evidence, Row};
use crate::segment::{Report, Stat};
use crate::send::{Count, Entry, PollRecord};

/// What a report calls missing.
#[derive(Clone, Copy)]
pub(super) struct Missing<'a> {
    pub(super) report: &'a Report,
    next: u64,
    /// Where the list begins, as it counts: without the silent packets.
    pub(super) first_run: u64,
    pub(super) silent: Silent,
    /// The POLL that a STAT answers; none for USTATs and late STATs.
    pub(super) poll: Option<PollRecord>,
}

/// Packets that a report says nothing of, and does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silent {
    pub(super) first: u64,
    pub(super) packets: u64,
}

impl Silent {
    /// The ranges of packets that [from, end) stands for.
    fn ranges(self, from: u64, end: u64) -> [(u64, u64); 2] {
        let Self { first, packets } = self;
        let behind = |number: u64| number.max(first).saturating_add(packets);
        [(from.min(first), end.min(first)), (behind(from), behind(end))]
    }
}

impl<'a> Missing<'a> {
    /// What `report` says, whose next expected packet is `next`.
    pub(super) fn new(report: &'a Report, next: u64, poll: Option<PollRecord>) -> Self {
        let none = Silent { first: u64::MAX, packets: 0 };
        let silent = report.silent.map_or(none, |(first, packets)| Silent {
            first: next + u64::from(first),
            packets: u64::from(packets),
        });
        Self { report, next, first_run: next + u64::from(report.start), silent, poll }
    }

    /// One past the last run, as the list counts.
    pub(super) fn listed_to(&self) -> u64 {
        self.first_run + self.report.runs.iter().map(|&run| u64::from(run)).sum::<u64>()
    }

    /// One past the last packet that the report speaks of by number.
    pub(super) fn end(&self) -> u64 {
        let last =
            self.silent.ranges(self.first_run, self.listed_to())[usize::from(self.silent.packets > 0)].1;
        last.max(self.listed_to())
    }

    /// Nothing below this list was left to another part.
    pub(super) fn is_first_part(&self) -> bool {
        self.report.start == 0
    }

    /// The packets of every second run, from the first on (missing) or from the second (received).
    fn runs_from(&self, first: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = self.first_run;
        let silent = self.silent;
        let ranges = self.report.runs.iter().enumerate().filter_map(move |(i, &run)| {
            let (from, end) = (at, at + u64::from(run));
            at = end;
            (i % 2 == first).then_some(silent.ranges(from, end))
        });
        ranges.flatten()
    }

    /// The missing packet numbers, rising.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs_from(0).flat_map(|(from, end)| from..end)
    }

    /// Packets called received: between the missing ones, behind them as far as a complete STAT tells, and before them
    /// if this is not left to another part.
    pub(super) fn received(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let silent = self.silent;
        let is_whole = self.silent.packets > 0; // such a STAT has no parts
        let before = is_whole.then(|| silent.ranges(self.next, self.first_run));
        let tells = !self.report.more && (!self.report.runs.is_empty() || is_whole);
        let behind = self.poll.filter(|_| tells).map(|poll| {
            let end = poll.next.saturating_sub(silent.packets);
            silent.ranges(self.listed_to(), end.max(self.listed_to()))
        });
        let to_list = before.into_iter().flatten().chain(self.runs_from(1));
        to_list.chain(behind.into_iter().flatten()).filter(|(from, end)| from < end)
    }
}

/// The longest row in (order, time) of transmissions, sorted.
fn longest_row(left: &[(u64, Instant)]) -> Row {
    let rows = left.chunk_by(|a, b| b.0 == a.0 + 1);
    let row = |row: &[(u64, Instant)]| Row {
        packets: row.len() as u64,
        duration_ns: row[row.len() - 1].1.since(row[0].1), // chunks are not empty
    };
    rows.map(row).max_by_key(|row| row.packets).unwrap_or_default()
}

/// Packets of one verdict found lost in one report.
#[derive(Clone, Copy)]
struct Tally {
    bytes: u64,
    packets: u32,
    newest_sent_at: Instant,
    verdict: Verdict,
}

/// Losses found in one report.
struct Losses {
    by_verdict: [Tally; 4],
    /// [first, end) that is not told yet.
    run: Option<(u64, u64, Verdict)>,
}

impl Losses {
    fn none() -> Self {
        let verdicts = [Verdict::Congestion, Verdict::Corruption, Verdict::Outage, Verdict::Unknown];
        let none = |verdict| Tally { bytes: 0, packets: 0, newest_sent_at: Instant::ZERO, verdict };
        Self { by_verdict: verdicts.map(none), run: None }
    }

    fn packets(&self) -> u64 {
        self.by_verdict.iter().map(|lost| u64::from(lost.packets)).sum()
    }
}

impl Connection {
    pub(super) fn on_stat(&mut self, stat: &Stat, context: &mut Context<'_>) {
        if let Some(cycle) = self.cycle.as_mut().filter(|_| self.poll.was_sent(stat.echo)) {
            cycle.heard_echo(context.now, stat.echo, self.rtt.latest_ns());
        }
        let Some((record, first_part)) = self.poll.answer(context.now, stat.echo) else {
            if self.poll.was_sent(stat.echo) {
                self.apply_report(&stat.report, None, None, context); // late: good for the cumulative part
            } else {
                self.refuse(Refusal::Absurd, context);
            }
            return;
        };
        self.proven = true;
        if self.withhold {
            self.withhold = false;
            self.tell(StreamEvent::Readable);
        }
        let sample = first_part.then(|| context.now.since(record.sent_at));
        let was_probing = self.cycle.is_some();
        if let Some(rtt_ns) = sample {
            self.take_rtt(rtt_ns, context);
        }
        if sample.is_some() && !was_probing {
            self.take_timing(stat, &record, context);
        }
        self.apply_report(&stat.report, Some(record), sample, context);
        if sample.is_some() && was_probing && self.has_found_link(context.now) {
            self.take_timing(stat, &record, context);
        }
        let loss = self.tail.loss(&self.cache);
        self.coded.on_stat(&self.cache, loss, record.order, stat.wanting);
    }

    /// While probing, the gaps of USTATs are ignored: the STATs repeat what they say [XSTP 4.2].
    pub(super) fn on_ustat(&mut self, report: &Report, context: &mut Context<'_>) {
        if self.cycle.is_some() && !report.runs.is_empty() {
            return;
        }
        self.apply_report(report, None, None, context);
    }

    fn take_rtt(&mut self, sample_ns: u64, context: &mut Context<'_>) {
        self.previous_rtt_ns = self.rtt.is_known().then(|| self.rtt.latest_ns());
        self.rtt.sample(sample_ns);
        let event = Event::Rtt {
            sample_ns,
            smoothed_ns: self.rtt.smoothed_ns(),
            variance_ns: self.rtt.variance_ns(),
            min_ns: self.rtt.min_ns(),
        };
        self.emit(context, event);
    }

    /// `poll`: the POLL that a STAT answers; none for USTATs and late STATs.
    fn apply_report(
        &mut self,
        report: &Report,
        poll: Option<PollRecord>,
        rtt_ns: Option<u64>,
        context: &mut Context<'_>,
    ) {
        let next = expand(report.next, self.cache.first());
        let missing = Missing::new(report, next, poll);
        if next > self.cache.next() || missing.end() > self.cache.next() {
            return self.refuse(Refusal::Absurd, context);
        }
        if next < self.cache.first() {
            return; // overtaken by a newer report
        }
        let in_flight_before_bytes = self.cache.in_flight_bytes();
        let app_limited = self.cache.unsent_bytes() == 0;
        let mut count = Count::default();
        self.log_received(self.cache.first(), next, next);
        self.cache.acknowledge_below(next, &mut count);
        if count.packets > 0 && self.cache.is_empty() {
            self.emptied_at = context.now;
        }
        self.peer_window_bytes = u64::from(report.window_bytes);
        self.take_received(&missing, &mut count);
        self.acknowledged(&count, in_flight_before_bytes, rtt_ns, app_limited, context);
        if let Some(poll) = &poll {
            self.told.take(poll, &missing);
        }
        if self.may_retransmit(&missing, context) {
            let losses = self.take_missing(&missing, context);
            self.lost(&losses, context.now);
            self.tail.on_report(losses.packets());
        }
        if self.cache.is_empty() {
            self.abort_probing(context); // nothing is left to ask about
        }
        self.after_report(context);
    }

    /// Acknowledges what a report calls received.
    fn take_received(&mut self, missing: &Missing<'_>, count: &mut Count) {
        for (from, end) in missing.received() {
            self.log_received(from, end, 0);
            self.cache.acknowledge(from, end, count);
        }
    }

    /// When the newest missing packet that is worth a retransmission was last sent: only if there is
    /// one the report is taken for a loss [XSTP 4.2].
    pub(super) fn newest_worth_sent_at(&self, missing: &Missing<'_>, now: Instant) -> Option<Instant> {
        let worth = |&n: &u64| self.cache.is_open(n) && self.may_go_again(n, missing.poll, now);
        let entries = missing.numbers().filter(worth).filter_map(|n| self.cache.entry(n));
        entries.map(|entry| entry.last_sent).max()
    }

    /// Whether the report answers a probe: a missing packet is worth a retransmission, or waits for
    /// one already.
    pub(super) fn is_valid_answer(&self, missing: &Missing<'_>, now: Instant) -> bool {
        let waits = |n| self.cache.entry(n).is_some_and(|entry| entry.queued);
        missing.numbers().any(waits) || self.newest_worth_sent_at(missing, now).is_some()
    }

    /// What the missing packets that had their time say about the cause.
    pub(super) fn evidence(&self, missing: &Missing<'_>) -> Evidence {
        let open = missing.numbers().filter(|&n| self.cache.is_open(n));
        let had_time = |entry: &&Entry| match missing.poll {
            Some(poll) => entry.order < poll.order,
            None => entry.transmissions == 1,
        };
        let entries = open.filter_map(|n| self.cache.entry(n)).filter(had_time);
        let mut left: Vec<(u64, Instant)> = entries.map(|entry| (entry.order, entry.last_sent)).collect();
        left.sort_unstable();
        let missing_packets = left.len() as u64;
        Evidence {
            row: longest_row(&left),
            missing_packets,
            listed_packets: missing_packets + missing.received().map(|(from, end)| end - from).sum::<u64>(),
        }
    }

    /// Judges the missing packets lost whose last copy had its time.
    fn take_missing(&mut self, missing: &Missing<'_>, context: &mut Context<'_>) -> Losses {
        let mut losses = Losses::none();
        for number in missing.numbers() {
            if !self.may_go_again(number, missing.poll, context.now) {
                continue;
            }
            if let Some((bytes, sent_at)) = self.cache.lose(number, missing.poll.is_none()) {
                let verdict = self.verdict_of(sent_at);
                let lost = &mut losses.by_verdict[verdict as usize];
                lost.packets += 1;
                lost.bytes += bytes;
                lost.newest_sent_at = lost.newest_sent_at.max(sent_at);
                self.tell_lost(&mut losses.run, Some((number, verdict)), context);
            }
        }
        self.tell_lost(&mut losses.run, None, context);
        losses
    }

    /// Packets in a row with one verdict make one event.
    fn tell_lost(
        &self,
        run: &mut Option<(u64, u64, Verdict)>,
        next: Option<(u64, Verdict)>,
        context: &mut Context<'_>,
    ) {
        match (run.as_mut(), next) {
            (Some((_, end, told)), Some((number, verdict))) if *end == number && *told == verdict => {
                *end += 1;
            }
            _ => {
                if let Some((first, end, verdict)) = run.take() {
                    self.emit(context, Event::Lost { first, end, verdict });
                }
                *run = next.map(|(number, verdict)| (number, number + 1, verdict));
            }
        }
    }

    /// Whether a missing packet's last copy had its time to arrive.
    fn may_go_again(&self, number: u64, poll: Option<PollRecord>, now: Instant) -> bool {
        let Some(entry) = self.cache.entry(number) else { return false };
        let Some(poll) = poll else {
            return entry.transmissions == 1 && !entry.by_ustat; // a USTAT counts once [XSTP 3]
        };
        match self.config.retransmit {
            RetransmitRule::SentBeforePoll => {
                // Later packets, or a quarter of a round trip, lay between it and the POLL.
                let lay_between_ns = poll.sent_at.since(entry.last_sent);
                entry.order + self.reorder_packets() < poll.order
                    || (entry.order < poll.order && lay_between_ns >= self.rtt.min_ns() / 4)
            }
            RetransmitRule::RttElapsed => {
                let backoff = 1 << (entry.transmissions - 1).min(6);
                now.since(entry.last_sent) >= self.rtt.smoothed_ns() * backoff
            }
        }
    }

    /// A wrong retransmission costs a window half its size; under a declared rate, or when little
    /// is under way, it costs one packet, and waiting costs more.
    fn reorder_packets(&self) -> u64 {
        let most = self.config.reorder_packets;
        let few = self.cache.unsent_bytes() == 0 || self.cache.unacknowledged() <= most + 1;
        if few || self.is_rate_paced() { 0 } else { most }
    }

    fn acknowledged(
        &mut self,
        count: &Count,
        in_flight_before_bytes: u64,
        rtt_ns: Option<u64>,
        app_limited: bool,
        context: &mut Context<'_>,
    ) {
        if count.packets == 0 {
            return;
        }
        self.stats.acknowledged_bytes += count.bytes;
        let acked = Acked {
            bytes: count.bytes,
            packets: count.packets,
            in_flight_before_bytes,
            rtt_ns,
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            app_limited,
            in_recovery: false,
            delivery: self.delivery(context),
        };
        self.controller.on_acked(context.now, &acked);
        self.note_limit(false);
        self.end_loss_event(context);
        let event =
            Event::Acknowledged { next: self.cache.first(), packets: count.packets, bytes: count.bytes };
        self.emit(context, event);
    }

    fn lost(&mut self, losses: &Losses, now: Instant) {
        let lost_bytes: u64 = losses.by_verdict.iter().map(|lost| lost.bytes).sum();
        let in_flight_bytes = self.cache.in_flight_bytes() + lost_bytes;
        for tally in losses.by_verdict.iter().filter(|tally| tally.packets > 0) {
            let Tally { bytes, packets, newest_sent_at, verdict } = *tally;
            self.stats.count_lost(verdict, packets);
            let begins_event = verdict == Verdict::Congestion && self.loss_events.begins(now, newest_sent_at);
            self.controller.on_lost(now, &Lost { bytes, packets, begins_event, in_flight_bytes, verdict });
        }
    }

    /// New pacing, room for the writer, events.
    fn after_report(&mut self, context: &mut Context<'_>) {
        self.coded.settle(&self.cache);
        self.spread(context);
        if self.writer_waits && self.cache.held_bytes() < self.send_limit_bytes() {
            self.writer_waits = false;
            self.tell(StreamEvent::Writable);
        }
        self.watch_window(context);
        let snapshot = self.controller.snapshot();
        let event = Event::Window {
            cwnd_bytes: snapshot.cwnd_bytes,
            peer_bytes: self.peer_window_bytes,
            in_flight_bytes: self.cache.in_flight_bytes(),
            phase: snapshot.phase,
        };
        self.emit(context, event);
    }

    /// Enters or leaves the persist state [XSTP 3].
    fn watch_window(&mut self, context: &mut Context<'_>) {
        let on = self.is_persisting(context.path);
        if on != self.persist.due().is_some() {
            self.emit(context, Event::Persist { on });
        }
        if on {
            self.persist.arm(context.now, self.rtt.smoothed_ns());
        } else {
            self.persist.stop();
        }
    }

    /// Sets how the packets that this report allows are spread over time.
    pub(super) fn spread(&mut self, context: &mut Context<'_>) {
        if self.is_rate_paced() {
            return; // the path's budget paces
        }
        let rtt_ns = self.rtt.smoothed_ns();
        let allowed_bytes = self.allowed_bytes();
        let few_bytes = self.config.few_packets * self.mss_bytes(context.path) as u64;
        let rate_bps = match self.controller.pacing_rate_bps(rtt_ns) {
            Some(rate_bps) => rate_bps,
            None if allowed_bytes <= few_bytes => {
                self.unpaced_packets = self.config.few_packets;
                return;
            }
            None => (u128::from(allowed_bytes) * 8 * u128::from(SECOND) / u128::from(rtt_ns)) as u64,
        };
        self.unpaced_packets = 0;
        self.set_pace(rate_bps, context);
    }

    /// What the window allows now, retransmissions included.
    fn allowed_bytes(&self) -> u64 {
        self.controller.window_bytes().saturating_sub(self.cache.in_flight_bytes())
    }

    fn set_pace(&mut self, rate_bps: u64, context: &mut Context<'_>) {
        let low = self.config.min_rate_bps.unwrap_or(1000);
        let high = self.config.max_rate_bps.unwrap_or(u64::MAX).max(low);
        let rate_bps = rate_bps.clamp(low, high);
        if rate_bps == self.pace.rate_bps() {
            return;
        }
        let burst_bytes = self.config.burst_packets * self.mss_bytes(context.path) as u64;
        let next = self.pace.ready_at();
        let plain = skyhaul_core::Pacer::new(rate_bps, 0);
        // Late wake-ups are caught up for a burst or 2 ms, whichever is longer.
        let burst_ns = plain.duration_ns(burst_bytes).max(2 * skyhaul_core::MS);
        self.pace = skyhaul_core::Pacer::starting_at(rate_bps, burst_ns, next.min(context.now));
        self.emit(context, Event::Rate { rate_bps });
    }
}
