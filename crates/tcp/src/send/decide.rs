//! Decision on what goes next of our direction, and when: a SYN, a repeat, new data, a probe of the peer's
//! window.

use skyhaul_congestion::Signal;
use skyhaul_core::event::Repeat;
use skyhaul_core::{Event, Instant, Pacer, Path, Step};

use super::{Hole, Rack, Sender};
use crate::call::Call;

/// Piece of the sequence space to send: [first, end), SYN and FIN counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// Reason why it goes again, if it was sent before.
    pub(crate) repeat: Option<Repeat>,
    /// It asks for the peer's window: no windows hold it back, and it changes no numbers.
    pub(crate) is_probe: bool,
    /// Last resort of a repair.
    is_rescue: bool,
    /// It is to show what became of the last segments.
    pub(super) is_tail_probe: bool,
    /// It goes beside the window, at low priority, and changes no numbers.
    pub(crate) is_nil: bool,
    /// Size of the packet, where that is tried: new data that may be lost for it.
    pub(crate) tried_bytes: Option<u32>,
}

impl Chunk {
    fn new(first: u64, end: u64, repeat: Option<Repeat>) -> Self {
        Self {
            first,
            end,
            repeat,
            is_probe: false,
            is_rescue: false,
            is_tail_probe: false,
            is_nil: false,
            tried_bytes: None,
        }
    }

    /// As much of it as has at most `max_bytes` of data, which ends at `data_end`.
    pub(crate) fn cut(self, max_bytes: u64, data_end: u64) -> Self {
        let data_bytes = self.end.min(data_end).saturating_sub(self.first);
        Self { end: if data_bytes > max_bytes { self.first + max_bytes } else { self.end }, ..self }
    }

    /// Piece from its first number on that fills a packet of `packet_bytes`, to see whether that arrives.
    pub(super) fn trying(self, packet_bytes: u32, payload_bytes: u64) -> Self {
        Self { end: self.first + payload_bytes, tried_bytes: Some(packet_bytes), ..self }
    }

    /// NIL that carries what is under way.
    pub(super) fn nil(first: u64, end: u64) -> Self {
        Self { is_nil: true, ..Self::new(first, end, Some(Repeat::LowPriority)) }
    }

    /// Repeat of a fast recovery.
    fn again((first, end): (u64, u64)) -> Self {
        Self::new(first, end, Some(Repeat::Recovery))
    }
}

impl Sender {
    /// Next piece to send, and when it may leave; of two at one moment the one that is no NIL. Pure.
    pub(crate) fn next(&self, now: Instant, path: &Path) -> Option<Step<Chunk>> {
        let next = self.next_of_stream(now, path);
        if self.nils.is_none() || next.is_some_and(|step| step.at <= now) {
            return next;
        }
        let nil = self.next_nil(self.ready_at(now, path));
        match (next, nil) {
            (Some(next), Some(nil)) => Some(if nil.at < next.at { nil } else { next }),
            _ => next.or(nil),
        }
    }

    /// Next piece of what the windows let go, and when it may leave.
    fn next_of_stream(&self, now: Instant, path: &Path) -> Option<Step<Chunk>> {
        if self.space.is_opening() {
            return self.next_of_opening(now, path);
        }
        if let Some(action) = self.tail_probe() {
            return Some(Step { at: self.ready_at(now, path), action });
        }
        let is_stuck = self.space.is_stuck();
        let probe_at = if is_stuck { self.persist.due().unwrap_or_else(|| self.timer.due(now)) } else { now };
        if let Some(chunk) = self.repair().or_else(|| self.next_in_line()) {
            return Some(Step { at: self.ready_at(now, path), action: self.enlarge(chunk, now, path) });
        }
        if is_stuck && probe_at <= now {
            return Some(Step { at: now, action: self.probe() });
        }
        if let Some(action) = self.leftover() {
            return Some(Step { at: self.ready_at(now, path), action });
        }
        is_stuck.then(|| Step { at: probe_at, action: self.probe() })
    }

    /// Moment at which data may leave: as the path and the controller's pace let it.
    pub(super) fn ready_at(&self, now: Instant, path: &Path) -> Instant {
        path.grant().into_iter().chain(self.pace.as_ref().map(Pacer::ready_at)).fold(now, Instant::max)
    }

    /// Next piece while our SYN is not acknowledged.
    fn next_of_opening(&self, now: Instant, path: &Path) -> Option<Step<Chunk>> {
        let initial = self.space.initial();
        if self.space.nxt() == initial {
            let repeat = self.space.repeat_at(initial);
            let with_data = if repeat.is_none() { self.early_bytes()? } else { 0 };
            return Some(Step { at: now, action: Chunk::new(initial, initial + 1 + with_data, repeat) });
        }
        let action = if self.goes_on_early() { self.next_in_line()? } else { return None };
        Some(Step { at: self.ready_at(now, path), action })
    }

    /// Segment that is to show what became of the last ones: the next one, else the last one again [RFC 8985
    /// 7.3].
    fn tail_probe(&self) -> Option<Chunk> {
        let rack = self.rack.as_ref().filter(|_| self.tail_probe.is_due())?;
        let (nxt, data_end) = (self.space.nxt(), self.space.data_end());
        let data = data_end.saturating_sub(nxt).min(self.space.edge().saturating_sub(nxt));
        let length = data.min(self.mss_bytes);
        let has_new = length > 0 && nxt == self.space.max();
        let (first, end, repeat) = if has_new {
            let ends = nxt + length == data_end && self.space.is_finished();
            (nxt, nxt + length + u64::from(ends), None)
        } else {
            let (first, end) = rack.last()?;
            let first = first.max(end.saturating_sub(self.mss_bytes)).max(self.space.una());
            (first, end, Some(Repeat::TailProbe))
        };
        (first < end).then(|| Chunk { is_tail_probe: true, ..Chunk::new(first, end, repeat) })
    }

    /// What is lost by RACK, lowest first: the first at once where that is due, the rest as the window lets
    /// it.
    fn repair_lost(&self, rack: &Rack) -> Option<Chunk> {
        let (first, end, why) = rack.first_lost()?;
        // What was asked for goes at once [SCPS-TP 3.3.2]: as much as that was lost.
        let is_asked_for = self.agreed.snack().is_some();
        let may = is_asked_for || rack.is_repeat_due() || self.congestion_room() >= self.mss_bytes;
        may.then(|| Chunk::new(first, end.min(first + self.mss_bytes), Some(why)))
    }

    /// Repeat that goes before new data.
    fn repair(&self) -> Option<Chunk> {
        if let Some(rack) = &self.rack {
            return self.repair_lost(rack);
        }
        if self.recovery.is_repeat_due() {
            let mut holes = self.board.holes(self.space.una(), self.space.max(), self.mss_bytes);
            return holes.next().map(|hole| Chunk::again(self.cut(hole)));
        }
        if !self.may_repair() {
            return None;
        }
        // NextSeg rule 1 of [RFC 6675 4]: the lowest hole that is lost and was not sent again.
        self.next_hole().filter(|hole| hole.is_lost).map(|hole| Chunk::again(self.cut(hole)))
    }

    /// Repeat of a SACK repair where there is nothing new: a hole that may not be lost (rule 3 of [RFC 6675
    /// 4]), else, once, the very last segment that is missing: nothing beyond it would tell that it is lost
    /// (rule 4).
    fn leftover(&self) -> Option<Chunk> {
        if !self.may_repair() {
            return None;
        }
        let any = self.next_hole().map(|hole| Chunk::again(self.cut(hole)));
        any.or_else(|| Some(Chunk { is_rescue: true, ..Chunk::again(self.last_hole()?) }))
    }

    /// True if a repair with SACK is going on, and a segment may leave.
    fn may_repair(&self) -> bool {
        let is_repairing = self.agreed.sack && self.rack.is_none() && self.recovery.is_repairing();
        is_repairing && self.repair_allowance() >= self.mss_bytes
    }

    /// Bytes that a repair with SACK may send now.
    fn repair_allowance(&self) -> u64 {
        let window = || self.controller.window_bytes().saturating_sub(self.flight_bytes());
        self.recovery.reduced_bytes().unwrap_or_else(window)
    }

    fn next_hole(&self) -> Option<Hole> {
        let from = self.board.repeated_to().max(self.space.una());
        self.board.holes(from, self.board.highest()?, self.mss_bytes).next()
    }

    fn last_hole(&self) -> Option<(u64, u64)> {
        let (una, nxt) = (self.space.una(), self.space.nxt());
        let may = self.recovery.may_rescue(una);
        if may { self.board.last_hole(una, nxt, self.mss_bytes) } else { None }
    }

    fn cut(&self, hole: Hole) -> (u64, u64) {
        (hole.first, hole.end.min(hole.first + self.mss_bytes))
    }

    /// Next piece from SND.NXT on that windows, Nagle and silly windows let go [RFC 9293 3.7.4, 3.8.6.2.1].
    fn next_in_line(&self) -> Option<Chunk> {
        let space = &self.space;
        let (nxt, max) = (space.nxt(), space.max());
        let first = if nxt < max { self.board.skip(nxt) } else { nxt };
        let all = space.end().saturating_sub(first);
        if all == 0 {
            return None;
        }
        let room = self.congestion_room();
        // FIN takes no room of its own in a segment.
        let data = space.data_end().saturating_sub(first);
        let length = data.min(self.mss_bytes).min(space.edge().saturating_sub(first));
        if room < length.max(1) && room < self.mss_bytes {
            return None;
        }
        let repeat = space.repeat_at(first);
        let (is_repeat, is_last) = (repeat.is_some(), length == data);
        let is_full = length == self.mss_bytes;
        let may_be_small = if is_last {
            let nothing_under_way = space.una() == max;
            is_repeat || !self.config.nagle || nothing_under_way || space.is_finished()
        } else {
            length > 0 && (is_repeat || length * 2 >= space.max_window_bytes())
        };
        if !is_full && !may_be_small && !self.ends_record_within(first, first + length) {
            return None;
        }
        let end = first + length + u64::from(is_last && space.is_finished());
        (end > first).then(|| Chunk::new(first, end, repeat))
    }

    /// Bytes that the congestion window leaves for the next segment in line.
    pub(super) fn congestion_room(&self) -> u64 {
        if self.agreed.sack && self.recovery.is_repairing() {
            return self.repair_allowance();
        }
        // Limited transmit [RFC 3042].
        let limited = match self.recovery.duplicate_acks() {
            count @ 1..=2 if self.config.limited_transmit && !self.agreed.is_selective() => u64::from(count),
            _ => 0,
        };
        let inflation = if self.agreed.is_selective() { 0 } else { self.recovery.inflation_bytes() };
        let cwnd = if self.verdicts.in_outage() { self.mss_bytes } else { self.controller.window_bytes() };
        // One segment at least [RFC 5681 3.1], also where segments have grown since the window was reckoned.
        let cwnd = cwnd.min(self.recovery.burst_cap_bytes().unwrap_or(u64::MAX)).max(self.mss_bytes);
        (cwnd + inflation + limited * self.mss_bytes).saturating_sub(self.flight_bytes())
    }

    /// Probe of a window that is closed, or too small to bother [RFC 9293 3.8.6.1].
    fn probe(&self) -> Chunk {
        let first = self.space.nxt();
        let room = self.space.edge().saturating_sub(first).max(1);
        let end = first + room.min(self.mss_bytes).min(self.space.end() - first);
        Chunk { is_probe: true, ..Chunk::new(first, end, self.space.repeat_at(first)) }
    }

    /// Books what was sent.
    pub(crate) fn on_sent(&mut self, chunk: Chunk, call: &mut Call<'_>) {
        let (now, bytes) = (call.now, chunk.end - chunk.first);
        if chunk.is_nil {
            return self.on_nil_sent(now);
        }
        if self.space.outstanding() == 0 && self.timer.timeouts() == 0 && !chunk.is_probe {
            let (idle_ns, rto_ns) = (self.timer.idle_ns(now), self.timer.timeout_ns());
            self.controller.on_signal(now, Signal::Idle { idle_ns, rto_ns });
        }
        if chunk.is_probe {
            self.space.on_sent(chunk.end, false);
            call.stats.window_probes += 1;
            // Whoever must give a sign of life is asked for it, and two questions may be lost.
            let longest_ns = self.config.user_timeout_ns.map_or(u64::MAX, |ns| ns / 3);
            let max_ns = self.config.max_rto_ns.min(longest_ns);
            return self.persist.tried(now, self.timer.timeout_ns(), max_ns);
        }
        if self.sampling.is_on() {
            let payload_bytes = chunk.end.min(self.space.data_end()).saturating_sub(chunk.first) as u32;
            self.sampling.on_sent(now, (chunk.first, chunk.end), payload_bytes, self.flight_bytes());
        }
        let is_new = chunk.first == self.space.max();
        let in_line = chunk.repeat != Some(Repeat::Recovery) && chunk.first >= self.space.nxt();
        self.time_sent(&chunk, now);
        self.watch_mtu(&chunk, now, call.path);
        self.space.on_sent(chunk.end, in_line);
        if !in_line && self.rack.is_none() {
            self.recovery.on_repeated(chunk.end, chunk.is_rescue);
            if !chunk.is_rescue {
                self.board.repeat_to(chunk.end);
            }
        }
        // A SYN measures a round trip, whatever becomes of data beside it.
        let timed_end = if chunk.first == self.space.initial() { chunk.first + 1 } else { chunk.end };
        self.timer.on_sent(timed_end, is_new && !self.has_missing(), now);
        if self.persist.stop() {
            call.emit(Event::Persist { on: false });
        }
        if self.timer.at().is_none() {
            self.timer.restart(self.space.outstanding() > 0, now);
        }
        self.recovery.on_sent(bytes);
        self.controller.on_sent(now, bytes);
        self.order_nils(now);
    }

    /// Nothing more leaves now, whatever the pace: samples are marked where the application is the reason,
    /// and the persist timer runs where no acknowledgement will change that. True if that timer began or
    /// ended.
    pub(crate) fn rest(&mut self, call: &mut Call<'_>) -> bool {
        let space = &self.space;
        let is_drained = space.data_end().saturating_sub(space.nxt()) < self.mss_bytes;
        let has_repaired = !self.recovery.is_repairing() && self.has_sent_all();
        if self.sampling.is_on() && is_drained && has_repaired && !self.is_window_used() {
            let in_flight_bytes = self.flight_bytes();
            self.sampling.mark_limited(in_flight_bytes);
        }
        let is_stuck = self.space.is_stuck();
        let changed = if is_stuck { self.persist.arm(self.timer.due(call.now)) } else { self.persist.stop() };
        if changed {
            call.emit(Event::Persist { on: is_stuck });
        }
        changed
    }
}
