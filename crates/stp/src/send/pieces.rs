//! Packets that are larger than the path takes by now, under a seal or where fragments of IP vanish, too:
//! they leave in pieces (`docs/spec/stp.md`, section 14.4).

use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Integrity, Path, truncate_number};

use super::cache::{SendCache, SentPacket};
use super::choice::Choice;
use super::plan::Plan;
use super::{Sender, Situation};
use crate::call::Call;
use crate::segment::{HEADER_BYTES, MIN_PIECE_BYTES, PIECE_BYTES, Piece, Segment, encode_with};

/// Packet of which further pieces follow.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    number: u64,
    /// Octets of it that have left.
    sent_bytes: u16,
    why: Repeat,
}

/// What a connection knows of fragments, and the packet that leaves in pieces now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pieces {
    /// A packet that left in fragments was lost. Packets that are too large leave in pieces from then on.
    fragments_vanish: bool,
    under_way: Option<UnderWay>,
}

impl Pieces {
    /// Takes in that `packet` is lost.
    pub(super) fn note_lost(&mut self, packet: &SentPacket) {
        self.fragments_vanish |= packet.whole_bytes == 0;
    }

    /// True if packets that are too large are not left to IP to cut. A fragment that somebody forges or
    /// loses costs a whole sealed packet, and the receiver's IP holds fragments that nothing proves.
    fn replace_fragments(&self, path: &Path) -> bool {
        self.fragments_vanish || path.config().integrity() == Integrity::Seal
    }

    /// True if further pieces of this packet are to leave: nothing can be said of what became of it.
    pub(super) fn is_under_way(&self, number: u64) -> bool {
        self.under_way.is_some_and(|packet| packet.number == number)
    }

    /// Packet of which further pieces are to leave, unless it has arrived meanwhile.
    fn under_way(&self, cache: &SendCache) -> Option<UnderWay> {
        self.under_way.filter(|packet| cache.is_open(packet.number))
    }

    /// The piece of packet `number` that ends at `end` of `total` octets leaves.
    fn note_sent(&mut self, number: u64, end: u16, total: u16, why: Repeat) {
        self.under_way = (end < total).then_some(UnderWay { number, sent_bytes: end, why });
    }
}

impl Sender {
    /// Nothing leaves for a while: a packet of which pieces have left goes again as a whole, once it is found
    /// missing.
    pub(crate) fn give_up_pieces(&mut self) {
        self.pieces.under_way = None;
    }

    /// True if further pieces of a packet are to leave.
    pub(super) fn has_pieces(&self) -> bool {
        self.pieces.under_way(&self.cache).is_some()
    }

    /// The next piece of the packet of which others have left.
    pub(super) fn next_piece(&self, path: &Path) -> Option<Choice> {
        let UnderWay { number, sent_bytes, why } = self.pieces.under_way(&self.cache)?;
        let total = self.cache.entry(number)?.bytes;
        let bytes = piece_bytes(path).min(usize::from(total - sent_bytes));
        Some(Choice::Piece { number, offset: sent_bytes, bytes, total, why })
    }

    /// The first piece of a packet in its place, if it is to leave in pieces.
    pub(super) fn in_pieces(&self, choice: Choice, situation: &Situation, path: &Path) -> Choice {
        let Choice::Again { number, bytes: total, why } = choice else { return choice };
        let may_cut = self.pieces.replace_fragments(path) && self.peer.takes_pieces && situation.is_proven;
        let bytes = piece_bytes(path);
        if !may_cut || !is_oversized(total, path) || bytes < MIN_PIECE_BYTES || bytes >= total {
            return choice;
        }
        Choice::Piece { number, offset: 0, bytes, total: total as u16, why }
    }

    /// Appends the planned piece, in a segment like `blank`, and charges it to the path.
    pub(crate) fn send_piece(
        &mut self,
        plan: &Plan,
        situation: &Situation,
        blank: Segment<'static>,
        call: &mut Call<'_>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        self.commit(plan, situation, call);
        let Some(choice @ Choice::Piece { number, offset, bytes, total, why }) = plan.data() else { return };
        let Some(packet) = self.cache.entry(number) else { return };
        let data = self.cache.part(packet, offset, bytes);
        let piece = Some(Piece { offset, total, data });
        let segment = Segment { number: truncate_number(number), piece, ..blank };
        encode_with(call.path.config().integrity(), &segment, out);
        let (types, number24) = (segment.type_bits(), segment.number);
        self.pieces.note_sent(number, offset + bytes as u16, total, why);
        self.charge(types, number24, out.len() - start, Some(choice), call);
    }
}

/// True if a packet with so many bytes of payload is larger than the path is known to take.
pub(super) fn is_oversized(bytes: usize, path: &Path) -> bool {
    path.mtu().is_some() && bytes + HEADER_BYTES > path.max_whole_segment_bytes()
}

/// Octets of a piece that fills a packet.
fn piece_bytes(path: &Path) -> usize {
    path.max_whole_segment_bytes().saturating_sub(HEADER_BYTES + PIECE_BYTES)
}
