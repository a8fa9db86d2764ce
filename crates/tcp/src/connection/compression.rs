//! Segments with compressed headers [SCPS-TP 3.3.1]: those that come, and which of ours go so.

use core::num::NonZeroU8;

use skyhaul_core::NetworkFields;
use skyhaul_core::event::Refusal;

use super::{Connection, Context};
use crate::scps::{Agreement, Terms, compress};
use crate::segment::{Compression, HEADER_BYTES, Options, Segment, flags};
use crate::send::Chunk;
use crate::sequence::truncate;

impl Connection {
    /// Number of the connection at its endpoint.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Number that we announce for compressed headers, if one was given out.
    pub(crate) fn number(&self) -> Option<NonZeroU8> {
        self.number
    }

    /// Number that the peer announced for them, where both ends agree on such.
    pub(crate) fn peer_number(&self) -> Option<NonZeroU8> {
        self.sender.agreed().peer_number()
    }

    /// Agreement on SCPS-TP, if there is one.
    pub(crate) fn scps_agreement(&self) -> Option<Agreement> {
        self.sender.agreed().scps.map(Terms::agreement)
    }

    /// A segment arrived whose header is compressed. One without a number says as much as one with the next
    /// number. Nothing ends by a reset without a number, nor opens by data that acknowledges nothing.
    pub(crate) fn handle_compressed(
        &mut self,
        segment: &Segment<'_>,
        header: Compression,
        (fields, wire_bytes): (NetworkFields, u32),
        context: &mut Context<'_>,
    ) {
        let resets_blindly = segment.has(flags::RST) && !header.has_sequence;
        let opens_blindly = self.life.is_opening() && !segment.has(flags::ACK);
        if self.peer_number().is_none() || resets_blindly || opens_blindly {
            return self.refuse(Refusal::Absurd, context);
        }
        let next = truncate(self.receiver.next());
        let sequence = if header.has_sequence { segment.sequence } else { next };
        self.handle(&Segment { sequence, ..segment.clone() }, fields, wire_bytes, context);
    }

    /// Number to compress a header with that has these bits and options; `None`: it goes as it is. So does
    /// what `asks` for an answer, and everything after a timeout: a compressed segment of a connection that
    /// the peer has lost is not answered, a plain one is by an RST. And a path may pass TCP alone.
    pub(super) fn compressing(&self, bits: u8, options: &Options, asks: bool) -> Option<NonZeroU8> {
        self.own_number().filter(|_| !asks && compress::has_place(bits, options))
    }

    /// Number that headers are compressed with now. They have no place for counts of T/TCP.
    fn own_number(&self) -> Option<NonZeroU8> {
        let compresses = self.sender.timeouts() == 0 && !self.sender.agreed().counts;
        self.peer_number().and(self.number).filter(|_| compresses)
    }

    /// True if this piece, which is no SYN, leaves without acknowledgement: its header is compressed, the
    /// peer has answered something that we sent, and nothing is owed [SCPS-TP 3.3.1]. The end, and what asks
    /// for an answer, has one.
    pub(super) fn goes_without_ack(&self, chunk: &Chunk) -> bool {
        self.own_number().is_some()
            && self.sender.una() > self.sender.initial() + 1
            && !chunk.is_probe
            && chunk.end <= self.sender.data_end()
            && self.receiver.ack_at().is_none()
            && self.mark_bits(true) == 0
    }

    /// Bytes of the header of a piece with these bits and options.
    pub(super) fn header_bytes(&self, chunk: &Chunk, bits: u8, options: &Options) -> usize {
        let end = if chunk.end > self.sender.data_end() { flags::FIN } else { 0 };
        let bits = bits | end | self.mark_bits(true);
        match self.compressing(bits, options, chunk.is_probe) {
            Some(_) => compress::header_bytes(bits, options, true),
            None => HEADER_BYTES + options.encoded_len(),
        }
    }
}
