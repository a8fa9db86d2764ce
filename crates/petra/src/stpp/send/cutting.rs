//! Stream of the application, cut into SDUs, and these into the payloads of PDUs: several share a PDU where
//! there is room, and one goes on in the next.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::super::pdu::SDU_ENDS;

/// SDU of which a part is in no PDU yet.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Length and flags, as the header begins; what follows is filler.
    head: [u8; 3],
    /// Octets of the header that are in PDUs.
    header_done: usize,
    /// Octets of the stream that are not; they are the first ones of `unsent`.
    payload_left: usize,
}

/// Payload of a PDU.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut {
    pub(super) payload: Vec<u8>,
    /// Octets of the stream among them.
    pub(super) stream_octets: usize,
}

/// Cutter of a stream. What it holds is bounded by whoever writes.
#[derive(Clone, Debug)]
pub(super) struct Cutter {
    sdu_bytes: usize,
    header_bytes: usize,
    unsent: VecDeque<u8>,
    rest: Option<Rest>,
    has_finished: bool,
    has_ended: bool,
}

impl Cutter {
    pub(super) fn new(sdu_bytes: u16, header_bytes: u16) -> Self {
        Self {
            sdu_bytes: usize::from(sdu_bytes),
            header_bytes: usize::from(header_bytes),
            unsent: VecDeque::new(),
            rest: None,
            has_finished: false,
            has_ended: false,
        }
    }

    pub(super) fn write(&mut self, data: &[u8]) {
        debug_assert!(!self.has_finished);
        self.unsent.extend(data);
    }

    /// Nothing more will be written.
    pub(super) fn finish(&mut self) {
        self.has_finished = true;
    }

    pub(super) fn has_finished(&self) -> bool {
        self.has_finished
    }

    /// Octets of the stream that are in no PDU.
    pub(super) fn unsent_octets(&self) -> usize {
        self.unsent.len()
    }

    /// True if there is nothing to make a PDU of.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_none() && !self.may_begin()
    }

    /// True if everything is in PDUs, the end included.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.rest.is_none()
    }

    fn may_begin(&self) -> bool {
        !self.unsent.is_empty() || (self.has_finished && !self.has_ended)
    }

    /// Payload of at most so many octets.
    pub(super) fn cut(&mut self, max_bytes: usize) -> Cut {
        let mut cut = Cut::default();
        while cut.payload.len() < max_bytes {
            let Some(mut rest) = self.rest.take().or_else(|| self.begin()) else { break };
            self.cut_header(&mut rest, max_bytes, &mut cut);
            self.cut_payload(&mut rest, max_bytes, &mut cut);
            let is_whole = rest.header_done == self.header_bytes && rest.payload_left == 0;
            self.rest = (!is_whole).then_some(rest);
        }
        cut
    }

    fn begin(&mut self) -> Option<Rest> {
        if !self.may_begin() {
            return None;
        }
        let length = self.unsent.len().min(self.sdu_bytes);
        self.has_ended = self.has_finished && length == self.unsent.len();
        let [high, low] = (length as u16).to_be_bytes(); // no longer than `sdu_bytes`, which is 16 bits
        let flags = if self.has_ended { SDU_ENDS } else { 0 };
        Some(Rest { head: [high, low, flags], header_done: 0, payload_left: length })
    }

    fn cut_header(&self, rest: &mut Rest, max_bytes: usize, cut: &mut Cut) {
        let room = max_bytes - cut.payload.len();
        let end = self.header_bytes.min(rest.header_done + room);
        let octets = (rest.header_done..end).map(|place| rest.head.get(place).copied().unwrap_or(0));
        cut.payload.extend(octets);
        rest.header_done = end;
    }

    fn cut_payload(&mut self, rest: &mut Rest, max_bytes: usize, cut: &mut Cut) {
        let octets = rest.payload_left.min(max_bytes - cut.payload.len());
        cut.payload.extend(self.unsent.drain(..octets));
        rest.payload_left -= octets;
        cut.stream_octets += octets;
    }
}
