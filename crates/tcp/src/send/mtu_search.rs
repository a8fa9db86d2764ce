//! Answer to black holes, and the search for the largest packet that the path takes [RFC 4821]. Packets have
//! the size of the first link until full ones vanish; then they are small, and segments of new data in larger
//! packets, now and then one, find out what arrives. Only with SACK or SNACK, which tell that a probe alone
//! is lost.

use skyhaul_congestion::{ControllerKind, Signal};
use skyhaul_core::event::Phase;
use skyhaul_core::{Event, Instant, MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES, MtuBounds, Path, PathMtu};

use super::decide::Chunk;
use super::path_mtu::MIN_IPV4_BYTES;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::verdicts::is_congestion;
use super::{Hole, Rack, Sender};
use crate::call::Call;
use crate::loss::LossSign;

/// Sizes that packets fall to [RFC 4821 7.2, 7.7, RFC 8899 5.1.2].
const REFUGES: [u32; 3] = [1280, MIN_HOST_BYTES, MIN_IPV4_BYTES];
/// Size that every host takes [RFC 791 3.1].
const MIN_HOST_BYTES: u32 = MIN_IPV4_MTU_BYTES;
/// Timeouts in a row of full segments that make packets smaller than any usual path needs: an outage is the
/// likelier cause.
const PATIENCE: u32 = 2;
/// As many where a black hole is as likely: for packets of the first refuge, which cost little if it was an
/// outage, and where no packet of their size ever arrived.
const LIKELY_PATIENCE: u32 = 1;
/// Segments in a row without an answer before timeouts count where losses cut nothing: where they are usual,
/// the last of a stream are now and then as silent as a black hole.
const MIN_ROW_SEGMENTS: u32 = 8;

/// Segment in a larger packet than is known to arrive.
#[derive(Clone, Copy, Debug)]
struct Probe {
    packet_bytes: u32,
    first: u64,
    end: u64,
    /// Place in the order of leaving, if it is a repeat.
    left_as: Option<u64>,
    /// When something of a repeat went again.
    again_at: Option<Instant>,
}

impl Probe {
    /// Something goes again at `now`, from `first` to `end`.
    fn on_repeated(&mut self, (first, end): (u64, u64), now: Instant) {
        if self.left_as.is_some() && first < self.end && self.first < end {
            self.again_at.get_or_insert(now);
        }
    }

    /// True if what went again of it may be what arrived, after a round trip of at least `min_rtt_ns`.
    fn is_repaired(&self, min_rtt_ns: u64, now: Instant) -> bool {
        self.again_at.is_some_and(|again_at| again_at.after(min_rtt_ns) <= now)
    }
}

/// Question of a black hole or an outage, which the first probe after a fall answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trial {
    /// It is answered, or packets never fell.
    #[default]
    Over,
    /// Nothing has arrived since, of any size: a large packet would tell nothing.
    Silent,
    /// Small packets arrive.
    Due,
}

/// Size of packets, once full ones have vanished.
#[derive(Clone, Debug, Default)]
pub(super) struct MtuSearch {
    /// Search upwards from what packets fell to; `None`: they have the full size.
    search: Option<PathMtu>,
    /// Timeouts of segments that smaller packets have no room for, since something new was acknowledged.
    full_timeouts: u32,
    /// Segments that left since something arrived.
    row_segments: u32,
    /// End of a full segment under way, and the size of its packet.
    watched: Option<(u64, u32)>,
    /// Size of the full packet that arrived last.
    arrived_bytes: Option<u32>,
    probe: Option<Probe>,
    /// First number and end of a probe that is lost and no sign of congestion, until it is repaired.
    excused: Option<(u64, u64)>,
    /// Larger packets had arrived until they fell: since then it may be an outage.
    has_arrived: bool,
    trial: Trial,
    /// End of what had been sent when packets fell.
    fallen_at: u64,
    /// The last reduction of the window was for the timeouts that packets fell for.
    is_for_timeout: bool,
}

impl MtuSearch {
    /// Largest packet to send.
    pub(super) fn packet_bytes(&self) -> u32 {
        self.search.as_ref().map_or(u32::MAX, PathMtu::packet_bytes)
    }

    /// Largest packet that the path has shown to take; `None`: none was, or nobody looks.
    pub(super) fn shown_bytes(&self) -> Option<u32> {
        self.arrived_bytes
    }

    /// Counts what was sent: probes are a part of it.
    pub(super) fn count_sent(&mut self, wire_bytes: u32) {
        if let Some(search) = self.search.as_mut() {
            search.count_sent(wire_bytes);
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn on_answer(&mut self, una: u64) {
        (self.full_timeouts, self.row_segments) = (0, 0);
        if self.trial == Trial::Silent {
            self.trial = Trial::Due;
        }
        if let Some((_, packet_bytes)) = self.watched.take_if(|&mut (end, _)| una >= end) {
            self.arrived_bytes = Some(packet_bytes);
        }
    }

    /// As much arrived as a full segment has, in sequence or not.
    pub(super) fn on_delivered(&mut self) {
        self.row_segments = 0;
    }

    /// The window was reduced, or is what it was: `for_timeout`: for the first timeout of a silence.
    pub(super) fn on_reduced(&mut self, for_timeout: bool) {
        self.is_for_timeout = for_timeout;
    }

    /// A segment leaves.
    fn count_segment(&mut self) {
        self.row_segments = self.row_segments.saturating_add(1);
    }

    /// A segment that ends at `end` leaves in a full packet of this size.
    fn watch(&mut self, end: u64, packet_bytes: u32) {
        self.watched.get_or_insert((end, packet_bytes));
    }

    /// Segments that were too large for packets of `refuge_bytes` met the retransmission timer. True if that
    /// is enough for such packets, as `patience` timeouts are in any case. `are_full`: they were too large
    /// for all refuges.
    fn is_exhausted(&mut self, refuge_bytes: u32, are_full: bool, patience: u32) -> bool {
        self.full_timeouts += 1;
        let is_likely = refuge_bytes == REFUGES[0] || self.arrived_bytes.is_none() && !self.has_arrived;
        let enough = match (are_full, is_likely) {
            (false, _) => patience,
            (true, true) => LIKELY_PATIENCE.min(patience),
            (true, false) => PATIENCE.min(patience),
        };
        self.full_timeouts >= enough
    }

    /// Packets are of `bytes` from the number `fallen_at` on; up to `max_bytes` is tried. What an earlier
    /// search found no longer counts.
    fn fall(&mut self, bytes: u32, max_bytes: u32, fallen_at: u64) {
        let sizes =
            MtuBounds { min_bytes: bytes, base_bytes: bytes, taken_bytes: MAX_MTU_BYTES, link_bytes: 0 };
        let mut search = PathMtu::new(sizes, max_bytes, None);
        search.allow_probe();
        let (has_arrived, is_for_timeout) = (self.arrived_bytes.is_some(), self.is_for_timeout);
        let (search, trial) = (Some(search), Trial::Silent);
        *self = Self { search, has_arrived, trial, fallen_at, is_for_timeout, ..Self::default() };
    }

    /// True if a router's word cannot be relied on: smaller packets than every host takes, where larger ones
    /// have arrived. Anybody can forge that, and nothing else would raise the size within the transfer.
    pub(super) fn contradicts(&self, bytes: u32) -> bool {
        bytes < MIN_HOST_BYTES && self.arrived_bytes.is_some_and(|arrived_bytes| arrived_bytes > bytes)
    }

    /// Takes a router's word that `bytes` is the largest packet that it forwards; true if that is tried next.
    pub(super) fn told(&mut self, bytes: u32, now: Instant) -> bool {
        let Some(search) = self.search.as_mut().filter(|search| bytes > search.packet_bytes()) else {
            return false;
        };
        search.told(now, bytes);
        true
    }

    /// Everything goes again: nothing will tell what became of a probe.
    pub(super) fn give_up_probe(&mut self, now: Instant) {
        self.end_probe(|search, bytes| search.probe_lost(now, bytes));
        (self.excused, self.watched) = (None, None);
    }

    /// Size of the packet that is to be tried now.
    fn due(&self, now: Instant) -> Option<u32> {
        let may_try = self.excused.is_none() && self.trial != Trial::Silent;
        self.search.as_ref().filter(|_| may_try)?.probe_due(now)
    }

    fn try_size(&mut self, probe: Probe) {
        if let Some(search) = self.search.as_mut() {
            search.probe_sent(probe.packet_bytes);
        }
        self.probe = Some(probe);
    }

    /// Packets have the probe's size from now on.
    fn probe_arrived(&mut self, now: Instant) {
        self.arrived_bytes = self.probe.map(|probe| probe.packet_bytes);
        self.end_probe(|search, bytes| search.probe_acked(now, bytes));
        (self.trial, self.watched) = (Trial::Over, None);
    }

    /// The probe is lost. `is_first`: no repair goes on that the window was reduced for. True if that shows a
    /// black hole.
    fn probe_lost(&mut self, is_first: bool, now: Instant) -> bool {
        self.excused = self.probe.filter(|_| is_first).map(|probe| (probe.first, probe.end));
        self.end_probe(|search, bytes| search.probe_lost(now, bytes));
        core::mem::take(&mut self.trial) == Trial::Due
    }

    /// Hole that is asked for in blocks of `unit_bytes` from `base` on. Of one that the probe alone would
    /// leave the probe is meant: blocks are larger than packets are now, and segments beside it lie in them.
    pub(super) fn requested(&self, base: u64, (first, end): (u64, u64), unit_bytes: u64) -> (u64, u64) {
        let probe = self.probe.map(|probe| (probe.first, probe.end)).or(self.excused);
        let Some((from, to)) = probe.filter(|&(from, _)| from >= base) else { return (first, end) };
        let begin = from - (from - base) % unit_bytes;
        let is_left_by_it = begin <= first && end <= base + (to - base).next_multiple_of(unit_bytes);
        if is_left_by_it && first < to && from < end { (from, to) } else { (first, end) }
    }

    /// True while a lost probe is repaired that is no sign of congestion.
    pub(super) fn excuses(&self) -> bool {
        self.excused.is_some()
    }

    /// True while a probe is under way, or a lost one is repaired.
    pub(super) fn is_trying(&self) -> bool {
        self.probe.is_some() || self.excuses()
    }

    /// No probe is lost alone: it is repaired, or something else is lost, too.
    pub(super) fn excuse_nothing(&mut self) {
        self.excused = None;
    }

    fn end_probe(&mut self, tell: impl FnOnce(&mut PathMtu, u32)) {
        if let (Some(search), Some(probe)) = (self.search.as_mut(), self.probe.take()) {
            tell(search, probe.packet_bytes);
        }
    }
}

impl Sender {
    /// True if this connection looks for the largest packet that its path takes.
    pub(super) fn searches_mtu(&self) -> bool {
        self.config.discover_mtu && self.config.black_hole_timeouts.is_some() && self.agreed.is_selective()
    }

    /// Size of a packet with this payload, without SACK blocks.
    fn packet_of_bytes(&self, payload_bytes: u64, path: &Path) -> u32 {
        path.wire_bytes(self.agreed.data_header_bytes() + payload_bytes as usize)
    }

    /// The retransmission timer ran out with `in_flight_bytes` under way: where segments go unanswered that
    /// smaller packets have no room for, those are tried [RFC 4821 7.7].
    pub(super) fn shrink_packets(&mut self, in_flight_bytes: u64, call: &mut Call<'_>) {
        let now_bytes = self.packet_of_bytes(self.mss_bytes, call.path);
        let floor_bytes = self.path_mtu.floor_bytes();
        let refuges = || REFUGES.into_iter().filter(|&bytes| bytes < now_bytes && bytes >= floor_bytes);
        // A short segment may be too large, too: for smaller packets than full ones would fall to.
        let is_telling = |bytes: &u32| in_flight_bytes > self.payload_bytes(*bytes, call.path);
        let Some(bytes) = refuges().find(is_telling) else { return };
        let are_full = refuges().next() == Some(bytes);
        if are_full && self.cuts_nothing() && self.mtu_search.row_segments < MIN_ROW_SEGMENTS {
            return;
        }
        let patience = self.config.black_hole_timeouts.unwrap_or(u32::MAX);
        if !self.mtu_search.is_exhausted(bytes, are_full, patience) {
            return;
        }
        self.search_above(bytes, call.path);
        self.take_packet_size(bytes, call);
    }

    /// Packets are of `bytes`, and larger ones are looked for, the full size first.
    fn search_above(&mut self, bytes: u32, path: &Path) {
        let full_bytes = self.payload_bytes(path.mtu_bytes(), path);
        self.mtu_search.fall(bytes, self.packet_of_bytes(full_bytes, path), self.space.max());
    }

    /// Packets are of `bytes`, as a router said who contradicts what has arrived: a larger one is tried once
    /// such have [RFC 8899 4.6.2].
    pub(super) fn doubt_told_size(&mut self, bytes: u32, path: &Path) {
        self.search_above(bytes, path);
        self.mtu_search.on_reduced(false);
    }

    fn take_packet_size(&mut self, mtu_bytes: u32, call: &mut Call<'_>) {
        self.update_mss(call.now, call.path);
        call.emit(Event::PathMtu { mtu_bytes });
    }

    /// What goes next, in a larger packet where one is to be tried: as much follows as shows its loss, so
    /// that nothing waits for the timer [RFC 4821 7.4]. New data; where losses cut nothing, in a repair, too,
    /// and what goes again.
    pub(super) fn enlarge(&self, chunk: Chunk, now: Instant, path: &Path) -> Chunk {
        let Some(packet_bytes) = self.mtu_search.due(now) else { return chunk };
        let payload_bytes = self.payload_bytes(packet_bytes, path);
        let followed_bytes = payload_bytes + DUPLICATE_THRESHOLD * self.mss_bytes;
        let is_full = chunk.end - chunk.first == self.mss_bytes;
        let is_trial = self.mtu_search.trial != Trial::Over;
        // The last repeats would wait for the repair of a probe: it is over a round trip later.
        let may_delay = !is_trial && chunk.repeat.is_some();
        let least_bytes = if may_delay { followed_bytes.max(self.flight_bytes()) } else { followed_bytes };
        let is_followed = self.end_of_place(&chunk).is_some_and(|end| chunk.first + least_bytes <= end);
        let has_room = followed_bytes <= self.controller.window_bytes()
            && payload_bytes <= self.congestion_room()
            && (self.cuts_nothing() || !self.recovery.is_repairing())
            && (is_trial || !self.may_window_grow());
        let is_allowed = packet_bytes <= self.path_mtu.packet_bytes(path.mtu_bytes());
        let is_worthwhile = payload_bytes > self.mss_bytes;
        if is_full && is_followed && has_room && is_allowed && is_worthwhile {
            return chunk.trying(packet_bytes, payload_bytes);
        }
        chunk
    }

    /// End of what leaves from a piece on, if that is a place for a probe.
    fn end_of_place(&self, chunk: &Chunk) -> Option<u64> {
        let space = &self.space;
        if let Some(rack) = self.rack.as_ref().filter(|_| self.cuts_nothing()) {
            if let Some((_, end, _)) = rack.first_lost().filter(|&(first, ..)| first == chunk.first) {
                return Some(end);
            }
            // With SNACK nobody tells of what arrives behind the last hole.
            if self.agreed.snack().is_some() && space.una() < self.mtu_search.fallen_at {
                return None;
            }
        }
        (chunk.first == space.max()).then(|| space.data_end().min(space.edge()))
    }

    /// True if losses are no reason to slow down: they are damage, or nobody controls the window.
    pub(super) fn cuts_nothing(&self) -> bool {
        let controller = self.config.controller(self.agreed.scps.is_some());
        !is_congestion(self.verdicts.assumed()) || *controller == ControllerKind::Off
    }

    /// True in a slow start that goes on: the repair of a probe would hold it up.
    fn may_window_grow(&self) -> bool {
        let snapshot = self.controller.snapshot();
        let limit_bytes = self.space.window_bytes().min(self.config.send_limit_bytes);
        snapshot.phase == Phase::SlowStart && snapshot.cwnd_bytes < limit_bytes
    }

    /// A piece leaves: a probe, or a full segment that shows what arrives.
    pub(super) fn watch_mtu(&mut self, chunk: &Chunk, now: Instant, path: &Path) {
        let &Chunk { first, end, tried_bytes, .. } = chunk;
        self.mtu_search.count_segment();
        if let Some(probe) = self.mtu_search.probe.as_mut() {
            probe.on_repeated((first, end), now);
        }
        if let Some(packet_bytes) = tried_bytes {
            let left_as = self.rack.as_ref().filter(|_| chunk.repeat.is_some()).map(Rack::left_last);
            self.mtu_search.try_size(Probe { packet_bytes, first, end, left_as, again_at: None });
        } else if self.searches_mtu() && end - first == self.mss_bytes {
            self.mtu_search.watch(end, self.packet_of_bytes(self.mss_bytes, path));
        }
    }

    /// An acknowledgement was read, up to `acknowledgement` and with its SACK blocks: it may tell what became
    /// of a probe.
    pub(super) fn resolve_mtu_probe(&mut self, acknowledgement: u64, call: &mut Call<'_>) {
        let Some(probe) = self.mtu_search.probe else { return };
        let hole = self.board.holes(probe.first.max(acknowledgement), probe.end, self.mss_bytes).next();
        let is_lost = match &hole {
            Some(hole) => self.is_lost(&probe, hole),
            None => probe.is_repaired(self.timer.rtt().min_ns(), call.now),
        };
        if hole.is_none() && !is_lost {
            self.mtu_search.probe_arrived(call.now);
            self.take_packet_size(probe.packet_bytes, call);
        } else if is_lost {
            let is_first = !self.recovery.is_repairing();
            if self.mtu_search.probe_lost(is_first, call.now) {
                self.find_black_hole(call);
            }
        }
    }

    /// Small packets arrive and a large one does not, after timeouts of large ones: there was no congestion.
    /// The window is what it was before, and opens by slow start [RFC 1191 6.5].
    fn find_black_hole(&mut self, call: &mut Call<'_>) {
        call.stats.black_holes += 1;
        if self.mtu_search.is_for_timeout {
            self.mtu_search.on_reduced(false);
            self.controller.on_signal(call.now, Signal::Spurious);
            let first_bytes =
                self.config.controller_config(self.mss_bytes, false, false).initial_window_bytes;
            self.recovery.cap_burst(first_bytes.max(self.flight_bytes()));
        }
    }

    /// End of a probe that is lost at SND.UNA, if nothing else is: no sign of congestion [RFC 4821 7.6.2].
    pub(super) fn probe_lost_alone(&self) -> Option<u64> {
        let (first, end) = self.mtu_search.excused?;
        let is_its_own = |from: u64, to: u64| first <= from && to <= end;
        let is_alone = match &self.rack {
            Some(rack) => rack.lost_segments().all(|(from, to)| is_its_own(from, to)),
            None => self.lost_holes().all(|(from, to)| is_its_own(from, to)),
        };
        is_alone.then_some(end)
    }

    /// True if a probe is lost that this is missing of. Of a repeat all is, and what left later tells it: a
    /// request may be older, and its blocks reach into what lies beside.
    fn is_lost(&self, probe: &Probe, hole: &Hole) -> bool {
        let Some(rack) = &self.rack else { return hole.is_lost };
        match probe.left_as {
            Some(serial) => {
                let is_whole = (hole.first, hole.end) == (probe.first, probe.end);
                is_whole && rack.is_overtaken(serial, DUPLICATE_THRESHOLD)
            }
            None => rack.was_lost(hole.first, hole.end),
        }
    }

    fn lost_holes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let holes = self.board.holes(self.space.una(), self.space.max(), self.mss_bytes);
        holes.take_while(|hole| hole.is_lost).map(|hole| (hole.first, hole.end))
    }

    /// Segments beside a lost probe may turn out to be lost, too, while it is repaired: those are answered.
    pub(super) fn answer_beside_probe(&mut self, call: &mut Call<'_>) {
        let Some((_, end)) = self.mtu_search.excused else { return };
        if self.recovery.is_repairing() && self.probe_lost_alone().is_none() {
            self.mtu_search.excuse_nothing();
            let verdict = self.judge_loss(LossSign::Duplicates, call);
            let lost_bytes = self.mss_bytes;
            self.answer_loss(verdict, lost_bytes, call);
        } else if self.space.una() >= end && !self.recovery.is_repairing() {
            self.mtu_search.excuse_nothing();
        }
    }
}
