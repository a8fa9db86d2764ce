//! Losses by the time of sending, beside the other owners of the sender: what they are told, and what follows
//! from what is found [RFC 8985].

use skyhaul_congestion::Lost;
use skyhaul_core::Instant;

use super::Sender;
use super::decide::Chunk;
use super::rack::{Arrival, Found, Late, Situation};
use super::tail_probe::Answer;
use crate::call::Call;
use crate::loss::LossSign;
use crate::segment::Segment;
use crate::sequence::expand;

impl Sender {
    /// Moment at which what is missing is lost, if it has not arrived by then [RFC 8985 6.2, step 5].
    pub(crate) fn reordering_at(&self) -> Option<Instant> {
        self.rack.as_ref()?.due()
    }

    /// Moment at which the last segments are probed, no later than the retransmission timer would run out
    /// [RFC 8985 7.2]. `None` where no round trip is known and that timer has backed off: a probe would
    /// repeat what is to measure one.
    pub(crate) fn tail_probe_at(&self) -> Option<Instant> {
        let rack = self.rack.as_ref()?;
        // A peer that tells holes does so when something comes: the last segment again.
        let shows_nothing = || self.board.highest().is_none() && !self.in_recovery();
        let may_ask = self.agreed.snack().is_some() && self.timer.timeouts() == 0;
        let is_late = !self.timer.rtt().is_known() && self.timer.is_backed_off();
        let watches = !is_late && rack.lost_bytes() == 0 && (may_ask || shows_nothing());
        let timer_at = self.timer.at().filter(|_| watches && !self.space.is_opening())?;
        let srtt_ns = self.timer.rtt().is_known().then(|| self.timer.rtt().smoothed_ns());
        let is_alone = self.space.outstanding() <= self.mss_bytes;
        self.tail_probe.at(srtt_ns, is_alone).map(|at| at.min(timer_at))
    }

    /// The reordering timer ran out.
    pub(crate) fn on_reordering_timeout(&mut self, call: &mut Call<'_>) {
        let una = self.space.una();
        let found = if self.agreed.snack().is_some() {
            let mut found = self.take_due_requests(call.now);
            found.add(self.settle_requests(una, call));
            found
        } else {
            self.find_lost(una, call.now)
        };
        self.resolve_mtu_probe(una, call);
        self.answer_lost(found, call);
        self.answer_beside_probe(call);
    }

    /// Nothing was heard of the last segments: a probe leaves, and the retransmission timer waits for its
    /// answer [RFC 8985 7.3].
    pub(crate) fn on_tail_probe_timeout(&mut self, call: &Call<'_>) {
        self.tail_probe.expire();
        self.timer.restart(true, call.now);
    }

    /// A round trip that is known now, or that became shorter, may say that the probe should have left
    /// before.
    pub(super) fn probe_tail_if_late(&mut self, call: &Call<'_>) {
        if self.tail_probe_at().is_some_and(|at| at <= call.now) {
            self.on_tail_probe_timeout(call);
        }
    }

    /// True while what was sent before a loss was noticed is not all acknowledged.
    fn in_recovery(&self) -> bool {
        self.recovery.is_repairing() || self.space.una() < self.recovery.recovered_to()
    }

    /// True if something below what is sent now is known to be missing, so that its acknowledgement may wait.
    pub(super) fn has_missing(&self) -> bool {
        let by_time = || self.rack.is_some() && (self.board.highest().is_some() || self.in_recovery());
        self.recovery.is_repairing() || by_time()
    }

    /// True if nothing waits to go again.
    pub(super) fn has_sent_all(&self) -> bool {
        let has_lost = self.rack.as_ref().is_some_and(|rack| rack.lost_bytes() > 0);
        self.space.nxt() == self.space.max() && !has_lost
    }

    /// A piece leaves.
    pub(super) fn time_sent(&mut self, chunk: &Chunk, now: Instant) {
        if self.space.is_opening() {
            return;
        }
        let Some(rack) = self.rack.as_mut() else { return };
        let is_repeat = chunk.repeat.is_some();
        rack.on_sent(now, (chunk.first, chunk.end), is_repeat);
        self.tail_probe.on_sent(chunk.is_tail_probe, self.space.max().max(chunk.end), is_repeat);
        self.tail_probe.wait_from(now);
        let una = self.space.una();
        match self.agreed.snack() {
            _ if !is_repeat || chunk.first != una => {}
            Some(_) => self.timer.restart_once_for(una, now),
            None => self.timer.restart(true, now), // time for its answer [RFC 6675 6]
        }
    }

    /// Everything from `una` to `acknowledgement` is acknowledged.
    pub(super) fn time_arrival(
        &mut self,
        (una, acknowledgement): (u64, u64),
        segment: &Segment<'_>,
        call: &Call<'_>,
    ) {
        let clock = self.clock();
        let Some(rack) = self.rack.as_mut() else { return };
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let arrival = Arrival { now: call.now, echo: stamps.map(|stamps| stamps.echo), clock };
        if acknowledgement > una {
            rack.on_acknowledged((una, acknowledgement), &arrival);
        }
        if is_duplicate_report(segment, acknowledgement) {
            rack.on_duplicate_reported(self.space.nxt());
        }
    }

    /// A block came, of which the scoreboard does not know yet.
    pub(super) fn time_block(&mut self, (first, end): (u64, u64), now: Instant) {
        let clock = self.clock();
        let Some(rack) = self.rack.as_mut().filter(|_| !self.board.is_full()) else { return };
        let arrival = Arrival { now, echo: None, clock };
        for gap in self.board.unknown(first, end) {
            rack.on_delivered(gap, &arrival);
        }
    }

    /// Losses that show now, with everything below `una` acknowledged.
    pub(super) fn find_lost(&mut self, una: u64, now: Instant) -> Found {
        if self.rack.is_none() {
            return Found::default();
        }
        let situation = self.situation(una, now);
        self.rack.as_mut().map_or_else(Found::default, |rack| rack.detect(&self.board, &situation))
    }

    pub(super) fn situation(&self, una: u64, now: Instant) -> Situation {
        Situation {
            now,
            una,
            srtt_ns: self.timer.rtt().smoothed_ns(),
            in_recovery: self.in_recovery(),
            doubts_requests: self.doubts_requests(),
        }
    }

    /// What was found lost calls for a repair, or belongs to one. After a timeout, that is what goes again
    /// then; only the loss of a repeat is a new event [RFC 8985 6.3, RFC 5681 4.3].
    pub(super) fn answer_lost(&mut self, found: Found, call: &mut Call<'_>) {
        if found.bytes == 0 {
            return;
        }
        let is_repairing = self.recovery.is_repairing();
        // What is asked for again after a timeout that nothing has answered belongs to it [RFC 5681 3.1].
        let is_of_timeout = self.agreed.snack().is_some() && self.timer.timeouts() > 0;
        let begins = !is_repairing && !is_of_timeout && (found.has_repeat || !self.in_recovery());
        if begins && self.space.outstanding() == 0 {
            return self.answer_repaired(found.bytes, call);
        }
        if begins || (is_repairing && self.is_new_event(&found)) {
            self.begin_repair(found.bytes, call);
            return self.recovery.set_doubtful(!found.has_repeat);
        }
        if found.has_repeat {
            self.recovery.set_doubtful(false);
        }
        if self.sampling.is_on() && !self.mtu_search.excuses() {
            self.tell_further(found.bytes, call);
        }
    }

    /// True if what a repair finds lost is an event of its own: a window of data that left since it began,
    /// new or again, has lost something, and the controller answers each [RFC 5681 4.3]. Where what leaves
    /// goes by what arrives, a repair is one event [RFC 8985 9.3].
    fn is_new_event(&self, found: &Found) -> bool {
        let is_beyond = self.rack.as_ref().is_some_and(|rack| rack.is_beyond_repair(found));
        is_beyond && self.recovery.reduced_bytes().is_none() && self.controller.needs().each_window
    }

    /// An acknowledgement may tell that a probe has repaired a loss, which is answered as one [RFC 8985 7.4].
    pub(super) fn answer_tail_probe(
        &mut self,
        acknowledgement: u64,
        (advances, news): (bool, bool),
        segment: &Segment<'_>,
        call: &mut Call<'_>,
    ) {
        if self.rack.is_none() {
            return;
        }
        let answer = Answer {
            acknowledgement,
            is_dsack: is_duplicate_report(segment, acknowledgement),
            is_news: advances || news,
            is_bare_duplicate: !advances && !news && segment.payload_bytes() == 0,
        };
        let shows_loss = self.tail_probe.on_acknowledged(call.now, &answer);
        // Without blocks none tells that it came twice.
        if shows_loss && !self.in_recovery() && self.agreed.sack {
            self.answer_repaired(self.mss_bytes, call);
        }
    }

    /// The controller answers a loss that needs no repair any more.
    fn answer_repaired(&mut self, bytes: u64, call: &mut Call<'_>) {
        let verdict = self.judge_loss(LossSign::Duplicates, call);
        let in_flight_bytes = self.flight_bytes() + bytes;
        self.recovery.on_event_told();
        let packets = bytes.div_ceil(self.mss_bytes) as u32;
        let verdict = super::losses::told(verdict);
        let lost = Lost { bytes, packets, begins_event: true, in_flight_bytes, verdict };
        self.controller.on_lost(call.now, &lost);
    }

    /// Marks what the retransmission timer shows to be lost; `None` where everything goes again: there are no
    /// times of sending, the peer has thrown away what it once had [RFC 2018 8], or its window is closed.
    pub(super) fn lose_by_timer(&mut self, now: Instant) -> Option<Found> {
        let una = self.space.una();
        let keeps = !self.space.is_opening() && self.board.skip(una) == una && self.space.edge() > una;
        let situation = self.situation(una, now);
        let max = self.space.max();
        // Whoever tells holes tells those that the oldest segment leaves.
        let late = if self.agreed.snack().is_some() { Late::Oldest } else { Late::All };
        let rack = self.rack.as_mut().filter(|_| keeps)?;
        Some(rack.on_timeout(&self.board, max, late, &situation)).filter(|_| rack.lost_bytes() > 0)
    }

    /// After a timeout what is missing goes again, as the scoreboard says.
    pub(super) fn go_on_from_board(&mut self, now: Instant) {
        self.recovery.give_up(self.space.max());
        self.tail_probe.give_up();
        self.mtu_search.give_up_probe(now);
        self.timer.forget_timing();
        self.timer.restart(true, now);
    }

    /// Everything below is acknowledged: nothing of it is lost.
    pub(super) fn acknowledged_times(&mut self, una: u64) {
        if let Some(rack) = self.rack.as_mut() {
            rack.lose_nothing_below(una);
        }
    }
}

/// True if the first block tells of something that arrived twice [RFC 2883 4].
fn is_duplicate_report(segment: &Segment<'_>, acknowledgement: u64) -> bool {
    let mut blocks = segment
        .options
        .sack
        .as_slice()
        .iter()
        .map(|&(first, end)| (expand(first, acknowledgement), expand(end, acknowledgement)));
    let Some((first, end)) = blocks.next() else { return false };
    let is_within = |(from, to): (u64, u64)| from <= first && end <= to;
    end <= acknowledgement || blocks.next().is_some_and(is_within)
}
