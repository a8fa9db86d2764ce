//! The coded tail in a connection: repair symbols that leave while the link would idle, and those that arrive
//! (`docs/spec/stp.md`, section 6.4).

use alloc::vec::Vec;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Instant, Path, expand, wire};

use super::{Connection, Context};
use crate::segment::{Block, HEADER_BYTES, Segment, encode, repair_number, repair_of};
use crate::send::{Gaps, Next};

impl Connection {
    fn may_code(&self) -> bool {
        self.both_code && self.opened && self.may_send_data() && self.has_idle_capacity()
    }

    /// The packets [first, end) that need not be sent again, since symbols stand for them. Only while symbols may
    /// leave: if new data waits, for a window that these very packets keep closed perhaps, they go as they are.
    pub(super) fn coded_packets(&self) -> (u64, u64) {
        if self.has_idle_capacity() { self.coded.covered() } else { (0, 0) }
    }

    /// A BLOCK is said again with each POLL; of several blocks a peer needs a round trip to make use.
    fn coding_gaps(&self) -> Gaps {
        Gaps { block_ns: self.poll_interval_ns(), begin_ns: self.rtt.smoothed_ns() }
    }

    /// When something coded may leave. Pure.
    pub(super) fn repair_due(&self, path: &Path) -> Option<Instant> {
        if !self.may_code() {
            return None;
        }
        let due = self.coded.due(&self.cache, self.tail.loss(&self.cache), self.coding_gaps())?;
        Some(due.max(self.paced_at(path).unwrap_or(Instant::ZERO)))
    }

    /// Appends the BLOCK or REPAIR that is due; `None` if none is.
    pub(super) fn build_coded(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<()> {
        let now = context.now;
        self.repair_due(context.path).filter(|&due| due <= now)?;
        let room_bytes = context.path.max_segment_bytes() - HEADER_BYTES;
        self.coded.begin(&self.cache, self.tail.loss(&self.cache), now, room_bytes);
        let start = out.len();
        let segment = match self.coded.next(now, self.order, self.coding_gaps())? {
            Next::Block(first, block) => {
                let segment = Segment { number: wire(first), block: Some(block), ..self.blank() };
                encode(&segment, out);
                segment
            }
            Next::Symbol(block, index, symbol) => {
                let number = repair_number(block, index);
                self.note_symbol(context);
                encode(&Segment { number, repair: Some(&symbol), ..self.blank() }, out);
                Segment { number, repair: Some(&[]), ..self.blank() }
            }
        };
        self.charge(segment.type_bits(), segment.number, out.len() - start, None, context);
        Some(())
    }

    /// A symbol counts as a transmission: POLLs ask what became of it.
    fn note_symbol(&mut self, context: &Context<'_>) {
        self.order += 1;
        self.last_data_at = context.now;
        self.unpaced_packets = self.unpaced_packets.saturating_sub(1);
        self.stats.repair_packets += 1;
    }

    pub(super) fn on_block(&mut self, number24: u32, block: &Block, context: &mut Context<'_>) {
        let Some(assembly) = self.assembly.as_ref().filter(|_| self.both_code) else {
            return self.refuse(Refusal::Unknown, context);
        };
        let first = expand(number24, assembly.next());
        if !assembly.is_plausible(first + block.members().last().unwrap_or(0)) {
            return self.refuse(Refusal::Absurd, context);
        }
        if block.bytes() > self.config.receive_limit_bytes {
            self.repairs.refuse(block.id);
            return self.refuse(Refusal::OutsideWindow, context);
        }
        self.repairs.on_block(first, block, assembly);
        self.recover(context);
    }

    pub(super) fn on_repair(&mut self, number: u32, symbol: &[u8], context: &mut Context<'_>) {
        if self.assembly.is_none() || !self.both_code {
            return self.refuse(Refusal::Unknown, context);
        }
        let (block, index) = repair_of(number);
        self.repairs.on_symbol(block, index, symbol);
        self.recover(context);
    }

    /// Takes the packets that can be decoded now as if they had arrived.
    pub(super) fn recover(&mut self, context: &mut Context<'_>) {
        for (number, data) in self.repairs.decode() {
            self.take_packet(number, &data, context);
        }
    }
}
