//! Reports at the sender: what STATs and USTATs acknowledge, what they show to be lost, and what the
//! controller makes of it.

use alloc::vec::Vec;

use skyhaul_congestion::{Acked, Lost};
use skyhaul_core::event::Refusal;
use skyhaul_core::{Event, Instant, Path, Verdict, expand};

use super::cache::SentPacket;
use super::count::{Count, Late};
use super::limiting::LostOfLate;
use super::missing::longest_row;
use super::regulator::Spreading;
use super::{Missing, PollRecord, Sender};
use crate::call::Call;
use crate::config::RetransmitRule;
use crate::probing::{Evidence, Verdicts};
use crate::segment::{Report, Stat};

/// Answer to a POLL of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) poll: PollRecord,
    /// Round trip, if this is the first part of the answer.
    pub(crate) rtt_ns: Option<u64>,
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
struct LossReport {
    by_verdict: [Tally; 4],
    /// [first, end) that is not told yet.
    run: Option<(u64, u64, Verdict)>,
}

impl LossReport {
    fn none() -> Self {
        let verdicts = [Verdict::Congestion, Verdict::Corruption, Verdict::Outage, Verdict::Unknown];
        let none = |verdict| Tally { bytes: 0, packets: 0, newest_sent_at: Instant::ZERO, verdict };
        Self { by_verdict: verdicts.map(none), run: None }
    }

    fn packets(&self) -> u64 {
        self.by_verdict.iter().map(|lost| u64::from(lost.packets)).sum()
    }

    fn add(&mut self, verdict: Verdict, bytes: u64, sent_at: Instant) {
        let lost = &mut self.by_verdict[verdict as usize];
        lost.packets += 1;
        lost.bytes += bytes;
        lost.newest_sent_at = lost.newest_sent_at.max(sent_at);
    }

    /// Packet `next` was found lost, or (`None`) no further one: packets in a row with one verdict make one
    /// event.
    fn tell(&mut self, next: Option<(u64, Verdict)>, call: &mut Call<'_>) {
        match (self.run.as_mut(), next) {
            (Some((_, end, told)), Some((number, verdict))) if *end == number && *told == verdict => {
                *end += 1;
            }
            _ => {
                if let Some((first, end, verdict)) = self.run.take() {
                    call.emit(Event::Lost { first, end, verdict });
                }
                self.run = next.map(|(number, verdict)| (number, number + 1, verdict));
            }
        }
    }
}

impl Sender {
    /// True if a POLL with this timestamp may have been sent.
    pub(crate) fn has_polled(&self, echo: u32) -> bool {
        self.polls.history().was_sent(echo)
    }

    /// When the POLL with this timestamp was sent, if it is remembered and no newer one was answered.
    pub(crate) fn polled_at(&self, echo: u32) -> Option<Instant> {
        self.polls.history().sent_at(echo)
    }

    /// Answer that an echo stands for, if it tells anything of time: it is not older than one before.
    pub(crate) fn answer(&mut self, now: Instant, echo: u32, path: &mut Path) -> Option<Answer> {
        let lost = |bytes| path.mtu_mut().into_iter().for_each(|mtu| mtu.probe_lost(now, bytes));
        let (poll, is_first) = self.polls.answer(now, echo, lost)?;
        if let (Some(bytes), true, Some(mtu)) = (poll.probes_bytes, is_first, path.mtu_mut()) {
            mtu.probe_acked(now, bytes);
        }
        Some(Answer { poll, rtt_ns: is_first.then(|| now.since(poll.sent_at)) })
    }

    /// Takes a round trip.
    pub(crate) fn take_rtt(&mut self, sample_ns: u64, call: &mut Call<'_>) {
        self.rtt.sample(sample_ns);
        call.emit(Event::Rtt {
            sample_ns,
            smoothed_ns: self.rtt.smoothed_ns(),
            variance_ns: self.rtt.variance_ns(),
            min_ns: self.rtt.min_ns(),
        });
    }

    /// Reading of a report that answers `poll` (none for USTATs and late STATs). `Ok(None)`: a newer report
    /// has overtaken it.
    pub(crate) fn read<'a>(
        &self,
        report: &'a Report,
        poll: Option<PollRecord>,
    ) -> Result<Option<Missing<'a>>, Refusal> {
        let next = expand(report.next, self.cache.first());
        let missing = Missing::new(report, next, poll);
        if next > self.cache.next() || missing.end() > self.cache.next() {
            return Err(Refusal::Absurd);
        }
        Ok((next >= self.cache.first()).then_some(missing))
    }

    /// Acknowledges what a report calls received.
    pub(crate) fn acknowledge(&mut self, missing: &Missing<'_>, rtt_ns: Option<u64>, call: &mut Call<'_>) {
        let in_flight_before_bytes = self.cache.in_flight_bytes();
        let app_limited = self.cache.unsent_bytes() == 0;
        let late = self.looked_for_late(missing.poll, call.now);
        let mut count = Count { recent: self.recent(call.path), late, ..Self::count_by_size(call.path) };
        self.regulator.log_received(self.cache.first(), missing.next, missing.next);
        self.cache.acknowledge_below(missing.next, &mut count);
        if count.packets > 0 && self.cache.is_empty() {
            self.note_emptied(call.now);
        }
        self.set_peer_window(missing.report.window_bytes);
        for (from, end) in missing.received() {
            self.regulator.log_received(from, end, 0);
            self.cache.acknowledge(from, end, &mut count);
        }
        Self::note_sizes(&count, call.path);
        Self::note_recent(count.recent, call.path);
        self.note_late(&count.late, call.now);
        if count.packets > 0 {
            let acked = Acked {
                bytes: count.bytes,
                packets: count.packets,
                in_flight_before_bytes,
                rtt_ns,
                smoothed_rtt_ns: self.rtt.smoothed_ns(),
                app_limited,
                in_recovery: false,
                delivery: self.regulator.delivery(call.now, self.cache.in_flight_bytes()),
            };
            self.note_acknowledged(&acked, call);
        }
        if let Some(poll) = &missing.poll {
            self.told.take(poll, missing);
        }
        self.test_report();
    }

    /// What shows that packets were overtaken, in the answer to `poll`.
    fn looked_for_late(&self, poll: Option<PollRecord>, now: Instant) -> Late {
        let goes_by_polls = self.config.retransmit == RetransmitRule::SentBeforePoll && self.rtt.is_known();
        let poll = poll.filter(|_| goes_by_polls).map(|poll| (poll.order, poll.sent_at));
        Late { poll, since: now.before(self.rtt.min_ns()), coded: self.coded.covered(), ..Late::default() }
    }

    /// Takes back what was judged lost and was late, and waits for others from now on.
    fn note_late(&mut self, late: &Late, now: Instant) {
        let packets = late.lost_packets.iter().sum();
        if packets > 0 {
            self.traffic.take_back_lost(late.lost_packets);
            self.activity.lost.take_back(late.lost_packets);
            self.tail.take_back(packets);
            self.reordering.saw_late(now, late.late_ns, self.rtt.min_ns(), self.rtt.smoothed_ns());
        } else if late.has_waited {
            self.reordering.goes_on(now);
        }
    }

    fn note_acknowledged(&mut self, acked: &Acked, call: &mut Call<'_>) {
        if self.cache.first() != self.activity.oldest.0 {
            self.activity.oldest = (self.cache.first(), call.now);
        }
        self.traffic.count_acknowledged(acked.bytes);
        self.regulator.on_acked(call.now, acked);
        self.note_limit(false);
        self.regulator.end_loss_event(call.now, self.oldest_open_sent_at());
        let (packets, bytes) = (acked.packets, acked.bytes);
        call.emit(Event::Acknowledged { next: self.cache.first(), packets, bytes });
    }

    /// Marks samples of the delivery rate that say nothing about the path.
    pub(super) fn note_limit(&mut self, is_drained: bool) {
        let is_idle = is_drained && self.cache.unsent_bytes() == 0 && self.cache.queued_packets() == 0;
        self.regulator.note_limit(is_idle, self.cache.in_flight_bytes());
    }

    /// When the oldest packet without acknowledgement was last sent.
    pub(crate) fn oldest_open_sent_at(&self) -> Instant {
        self.cache.entry(self.cache.first()).map_or(Instant::MAX, |e| e.last_sent)
    }

    /// When the newest missing packet that is worth a retransmission was last sent: only if there is
    /// one the report is taken for a loss [XSTP 4.2].
    pub(crate) fn newest_worth_sent_at(&self, missing: &Missing<'_>, now: Instant) -> Option<Instant> {
        let worth = |&n: &u64| {
            self.cache.is_open(n)
                && !self.withholding.is_withheld(n)
                && self.may_go_again(n, missing.poll, now)
        };
        let entries = missing.numbers().filter(worth).filter_map(|n| self.cache.entry(n));
        entries.map(|entry| entry.last_sent).max()
    }

    /// True if the report answers a probe: a missing packet is worth a retransmission, or waits for
    /// one already.
    pub(crate) fn is_valid_answer(&self, missing: &Missing<'_>, now: Instant) -> bool {
        let waits = |n| self.cache.entry(n).is_some_and(|entry| entry.queued);
        missing.numbers().any(waits) || self.newest_worth_sent_at(missing, now).is_some()
    }

    /// Evidence for the cause in the missing packets that had their time.
    pub(crate) fn evidence(&self, missing: &Missing<'_>) -> Evidence {
        let open = missing.numbers().filter(|&n| self.cache.is_open(n));
        let had_time = |entry: &&SentPacket| match missing.poll {
            Some(poll) => entry.order < poll.order,
            None => entry.transmissions == 1,
        };
        let entries = open.filter_map(|n| self.cache.entry(n)).filter(had_time);
        let mut left: Vec<(u64, Instant)> = entries.map(|entry| (entry.order, entry.last_sent)).collect();
        left.sort_unstable();
        let missing_packets = left.len() as u64;
        let row = longest_row(&left);
        Evidence {
            row,
            missing_packets,
            went_on: row.end_order < self.activity.order,
            listed_packets: missing_packets + missing.received().map(|(from, end)| end - from).sum::<u64>(),
        }
    }

    /// Judges the missing packets lost whose last copy had its time. Result: whether what was lost of late
    /// was too large for the path; `None`: that is open.
    pub(crate) fn lose(
        &mut self,
        missing: &Missing<'_>,
        verdicts: &Verdicts,
        call: &mut Call<'_>,
    ) -> Option<bool> {
        let mut losses = LossReport::none();
        let mut lost = Vec::new();
        if self.cache.queued_packets() == 0 {
            self.activity.lost = LostOfLate::default();
        }
        self.reordering.expire(call.now, self.rtt.smoothed_ns());
        for number in missing.numbers() {
            if !self.may_go_again(number, missing.poll, call.now) {
                if self.is_waited_for(number, missing.poll) {
                    self.cache.wait_for(number);
                }
                continue;
            }
            let Some(packet) = self.cache.lose(number, missing.poll.is_none()) else { continue };
            if self.withholding.is_found(number) {
                continue; // it was not lost
            }
            let SentPacket { order, last_sent: sent_at, .. } = packet;
            losses.add(verdicts.of(sent_at), u64::from(packet.bytes), sent_at);
            Self::note_mtu_loss(packet.whole_bytes, sent_at, call.path);
            self.pieces.note_lost(&packet);
            self.queue.count_lost(order);
            lost.push((number, packet));
        }
        let in_fragments = lost.iter().any(|(_, packet): &(u64, SentPacket)| packet.whole_bytes == 0);
        for (number, packet) in lost {
            let verdict = self.told_verdict(&packet, verdicts, call.path);
            self.cache.blame(number, verdict);
            self.traffic.count_lost(verdict, Self::row_of(&packet, call.path));
            self.activity.lost.count(verdict);
            call.path.count_lost(self.lost_to_rate(&packet, verdict, call.path));
            losses.tell(Some((number, verdict)), call);
        }
        losses.tell(None, call);
        self.note_lost(&losses, call.now, call.path);
        let were_too_large = self.conclude_mtu(in_fragments, call);
        if were_too_large == Some(true) {
            self.activity.lost = LostOfLate::default(); // for no cause that was thought of
        }
        were_too_large
    }

    /// Verdict that the user is told. Where a window is kept it is that of the cycle, by which the window
    /// goes; under a rate, which goes by none, the queue that the packet met decides. What was too large met
    /// none of the causes.
    fn told_verdict(&mut self, packet: &SentPacket, verdicts: &Verdicts, path: &Path) -> Verdict {
        let SentPacket { order, last_sent: sent_at, .. } = *packet;
        if Self::was_too_large(packet, path) {
            return Verdict::Unknown;
        }
        let found = verdicts.of(sent_at);
        let by_queue = self.config.probing.is_some_and(|probing| probing.judges_in_passing);
        if !by_queue || !self.is_rate_paced() {
            return found;
        }
        match (found, self.queue.judge(order, found)) {
            (Verdict::Outage, _) if !verdicts.is_brief(sent_at) => Verdict::Outage,
            (_, None) => Verdict::Unknown,
            // A row of damage looks like it.
            (Verdict::Outage, Some(of_queue)) if of_queue != Verdict::Congestion => Verdict::Unknown,
            (_, Some(of_queue)) => of_queue,
        }
    }

    fn note_lost(&mut self, losses: &LossReport, now: Instant, path: &mut Path) {
        let lost_bytes: u64 = losses.by_verdict.iter().map(|lost| lost.bytes).sum();
        let in_flight_bytes = self.cache.in_flight_bytes() + lost_bytes;
        for &Tally { bytes, packets, newest_sent_at, verdict } in &losses.by_verdict {
            if packets > 0 {
                let lost = Lost { bytes, packets, begins_event: false, in_flight_bytes, verdict };
                self.regulator.on_lost(now, newest_sent_at, lost);
            }
            if packets > 0 && verdict != Verdict::Outage {
                self.tell_routers_loss(newest_sent_at, now, path);
            }
        }
        self.tail.on_report(losses.packets());
    }

    /// Half the window, or slow start after a cycle as long as an idle period [XSTP 4.2]. Not left to the
    /// losses that the last answer shows: what is missing may all have been found lost before.
    pub(crate) fn slow_down(&mut self, cycle_ns: u64, now: Instant) {
        let lost = Lost {
            bytes: 0,
            packets: 0,
            begins_event: false,
            in_flight_bytes: self.cache.in_flight_bytes(),
            verdict: Verdict::Congestion,
        };
        self.regulator.on_lost(now, now, lost);
        if self.config.idle_restart_ns.is_some_and(|limit| cycle_ns >= limit) {
            self.regulator.on_idle(now, cycle_ns, self.rtt.overdue_ns(0));
        }
    }

    /// True if a missing packet's last copy had its time to arrive.
    fn may_go_again(&self, number: u64, poll: Option<PollRecord>, now: Instant) -> bool {
        let Some(entry) = self.cache.entry(number) else { return false };
        if self.pieces.is_under_way(number) {
            return false;
        }
        let Some(poll) = poll else {
            // A USTAT counts once [XSTP 3], and cannot tell how late a packet is.
            return entry.transmissions == 1 && !entry.by_ustat && self.reordering.window_ns() == 0;
        };
        match self.config.retransmit {
            RetransmitRule::SentBeforePoll => {
                // Later packets, or a quarter of a round trip, lay between it and the POLL.
                let lay_between_ns = poll.sent_at.since(entry.last_sent);
                lay_between_ns >= self.reordering.window_ns()
                    && (entry.order + self.reorder_packets() < poll.order
                        || entry.order < poll.order && lay_between_ns >= self.rtt.min_ns() / 4)
            }
            RetransmitRule::RttElapsed => {
                let backoff = 1 << (entry.transmissions - 1).min(6);
                now.since(entry.last_sent) >= self.rtt.smoothed_ns() * backoff
            }
        }
    }

    /// True if a missing packet had left before the POLL and may have been overtaken.
    fn is_waited_for(&self, number: u64, poll: Option<PollRecord>) -> bool {
        let (Some(entry), Some(poll)) = (self.cache.entry(number), poll) else { return false };
        entry.order < poll.order && poll.sent_at.since(entry.last_sent) < self.reordering.window_ns()
    }

    /// Transmissions that excuse a missing packet. A wrong retransmission costs a window half its size; under
    /// a declared rate, or when little is under way, it costs one packet, and waiting costs more.
    fn reorder_packets(&self) -> u64 {
        let most = self.config.reorder_packets;
        let few = self.cache.unsent_bytes() == 0 || self.cache.unacknowledged() <= most + 1;
        if few || self.is_rate_paced() { 0 } else { most }
    }

    /// The report is read: new pacing and events. Result: true if a writer who waits has room.
    pub(crate) fn conclude(&mut self, is_opened: bool, call: &mut Call<'_>) -> bool {
        self.coded.settle(&self.cache);
        self.doubt_declared(call);
        self.spread(call);
        let wakes_writer = self.wakes_writer();
        if let Some(on) = self.watch_window(is_opened, call.now, call.path) {
            call.emit(Event::Persist { on });
        }
        let snapshot = self.regulator.snapshot();
        call.emit(Event::Window {
            cwnd_bytes: snapshot.cwnd_bytes,
            peer_bytes: self.peer.window_bytes,
            in_flight_bytes: self.cache.in_flight_bytes(),
            phase: snapshot.phase,
        });
        wakes_writer
    }

    /// A STAT answered `poll` and was read: what it says of repair symbols.
    pub(crate) fn take_wanting(&mut self, stat: &Stat, poll: &PollRecord) {
        let loss = self.tail.loss(&self.cache);
        self.coded.on_stat(&self.cache, loss, poll.order, stat.wanting);
    }

    /// Sets how the packets that are allowed now are spread over time.
    pub(super) fn spread(&mut self, call: &mut Call<'_>) {
        let spreading = Spreading {
            now: call.now,
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            in_flight_bytes: self.cache.in_flight_bytes(),
            mss_bytes: self.mss_bytes(call.path) as u64,
        };
        if let Some(rate_bps) = self.regulator.spread(&spreading, &self.config) {
            call.emit(Event::Rate { rate_bps });
        }
    }
}
