//! Coded tail of a sender: BLOCKs and repair symbols that leave while the link would idle
//! (`docs/spec/stp.md`, section 6.4).

use alloc::vec::Vec;

use skyhaul_core::{Instant, Path, truncate_number};

use super::coded_tail::{Gaps, Next};
use super::{Sender, Situation};
use crate::call::Call;
use crate::segment::{HEADER_BYTES, Segment, encode_with, repair_number};

impl Sender {
    fn may_code(&self, situation: &Situation) -> bool {
        self.peer.both_code
            && situation.is_opened
            && self.may_send_data(situation)
            && self.has_idle_capacity(situation)
    }

    /// Packets [first, end) that need not be sent again, since symbols stand for them. Only while symbols may
    /// leave: if new data waits, for a window that these very packets keep closed perhaps, they go as they
    /// are.
    pub(super) fn coded_packets(&self, situation: &Situation) -> (u64, u64) {
        if self.has_idle_capacity(situation) { self.coded.covered() } else { (0, 0) }
    }

    /// Distances of what leaves: a BLOCK is said again with each POLL; of several blocks a peer needs a round
    /// trip to make use.
    fn coding_gaps(&self) -> Gaps {
        Gaps { block_ns: self.poll_interval_ns(), begin_ns: self.rtt.smoothed_ns() }
    }

    /// True if a symbol leaves as soon as pacing lets it.
    pub(super) fn symbol_waits(&self, situation: &Situation) -> bool {
        self.coded.has_symbols() && self.may_code(situation)
    }

    /// When a BLOCK or a REPAIR may leave. A block is looked for only when its time has come.
    pub(super) fn next_coded(&self, situation: &Situation, now: Instant, path: &Path) -> Option<Instant> {
        if !self.may_code(situation) {
            return None;
        }
        let loss = self.tail.loss(&self.cache);
        let at = self.coded.due(&self.cache, loss, self.coding_gaps())?.max(self.coded_paced_at(path));
        (at > now || self.coded.has_next(&self.cache, loss, block_room_bytes(path))).then_some(at)
    }

    /// When pacing lets a BLOCK or a REPAIR go. They stand in no train, which is one of data alone: one
    /// that ran out of data would let as many symbols go at once as there are.
    fn coded_paced_at(&self, path: &Path) -> Instant {
        self.regulator.paced_at(false, path).unwrap_or(Instant::ZERO).max(self.tail_at())
    }

    /// Nothing is sent now: if a block was looked for in vain, that is remembered, and true.
    pub(super) fn give_up_block(&mut self, situation: &Situation, now: Instant, path: &Path) -> bool {
        if !self.may_code(situation) {
            return false;
        }
        let loss = self.tail.loss(&self.cache);
        let due = self.coded.due(&self.cache, loss, self.coding_gaps());
        let is_in_vain = due.is_some_and(|due| due.max(self.coded_paced_at(path)) <= now);
        if is_in_vain {
            self.coded.exhaust();
        }
        is_in_vain
    }

    /// Appends the BLOCK or REPAIR that is due, in a segment like `blank`.
    pub(crate) fn send_coded(&mut self, blank: Segment<'static>, call: &mut Call<'_>, out: &mut Vec<u8>) {
        self.withholding.give_up();
        let loss = self.tail.loss(&self.cache);
        self.coded.begin(&self.cache, loss, call.now, block_room_bytes(call.path));
        let gaps = self.coding_gaps();
        let Some(next) = self.coded.next(call.now, self.activity.order, gaps) else { return };
        let start = out.len();
        let (types, number) = match next {
            Next::Block(first, block) => {
                let segment = Segment { number: truncate_number(first), block: Some(block), ..blank };
                encode_with(call.path.config().integrity(), &segment, out);
                (segment.type_bits(), segment.number)
            }
            Next::Symbol(block, index, symbol) => {
                let segment = Segment { number: repair_number(block, index), repair: Some(&symbol), ..blank };
                self.note_symbol(call.now);
                encode_with(call.path.config().integrity(), &segment, out);
                (segment.type_bits(), segment.number)
            }
        };
        self.charge(types, number, out.len() - start, None, call);
    }

    /// A symbol counts as a transmission: POLLs ask what became of it.
    fn note_symbol(&mut self, now: Instant) {
        self.note_transmission(now);
        self.regulator.use_unpaced();
        self.traffic.count_symbol();
    }
}

/// Most bytes of a BLOCK's body.
fn block_room_bytes(path: &Path) -> usize {
    path.max_segment_bytes() - HEADER_BYTES
}
