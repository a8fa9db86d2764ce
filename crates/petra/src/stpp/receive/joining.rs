//! SDUs out of the payloads of PDUs, and the stream out of them.

use alloc::collections::VecDeque;

use super::super::pdu::SDU_ENDS;

/// Octets of an SDU's header that mean something: length and flags.
const HEAD_BYTES: usize = 3;

/// SDU that makes no sense: octets behind the last one, or unknown flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenSdu;

/// Joiner of a stream. The octets that wait for the reader are bounded by whoever pushes.
#[derive(Clone, Debug)]
pub(super) struct Joiner {
    header_bytes: usize,
    head: [u8; HEAD_BYTES],
    /// Octets of the present header that have come.
    header_done: usize,
    /// Octets of the present SDU that are still to come behind its header.
    payload_left: usize,
    unread: VecDeque<u8>,
    has_ended: bool,
}

impl Joiner {
    /// Joiner of SDUs with headers of this length.
    pub(super) fn new(header_bytes: u16) -> Self {
        Self {
            header_bytes: usize::from(header_bytes),
            head: [0; HEAD_BYTES],
            header_done: 0,
            payload_left: 0,
            unread: VecDeque::new(),
            has_ended: false,
        }
    }

    /// Takes the payload of the next PDU in order; the octets of the stream in it.
    pub(super) fn push(&mut self, mut payload: &[u8]) -> Result<usize, BrokenSdu> {
        let before = self.unread.len();
        while !payload.is_empty() {
            if self.has_ended && self.payload_left == 0 {
                return Err(BrokenSdu);
            }
            payload = if self.header_done < self.header_bytes {
                self.push_header(payload)?
            } else {
                self.push_octets(payload)
            };
        }
        Ok(self.unread.len() - before)
    }

    fn push_header<'a>(&mut self, payload: &'a [u8]) -> Result<&'a [u8], BrokenSdu> {
        let (octets, rest) = payload.split_at(payload.len().min(self.header_bytes - self.header_done));
        for (place, &octet) in (self.header_done..HEAD_BYTES).zip(octets) {
            self.head[place] = octet;
        }
        self.header_done += octets.len();
        if self.header_done == self.header_bytes {
            self.begin()?;
        }
        Ok(rest)
    }

    /// Takes in that a header is whole.
    fn begin(&mut self) -> Result<(), BrokenSdu> {
        let [high, low, flags] = self.head;
        if flags & !SDU_ENDS != 0 {
            return Err(BrokenSdu);
        }
        self.payload_left = usize::from(u16::from_be_bytes([high, low]));
        self.has_ended = flags & SDU_ENDS != 0;
        self.end_sdu();
        Ok(())
    }

    fn push_octets<'a>(&mut self, payload: &'a [u8]) -> &'a [u8] {
        let (octets, rest) = payload.split_at(payload.len().min(self.payload_left));
        self.unread.extend(octets);
        self.payload_left -= octets.len();
        self.end_sdu();
        rest
    }

    /// Expects the next header once an SDU is whole, unless it was the last.
    fn end_sdu(&mut self) {
        if self.payload_left == 0 && !self.has_ended {
            self.header_done = 0;
        }
    }

    /// True if the stream is whole.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.payload_left == 0
    }

    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread.len() as u64
    }

    /// Octets read into `out`.
    pub(super) fn read(&mut self, out: &mut [u8]) -> usize {
        let length = out.len().min(self.unread.len());
        self.unread.drain(..length).zip(out).for_each(|(octet, place)| *place = octet);
        length
    }

    /// Drops what waits: nobody reads any more.
    pub(super) fn discard(&mut self) {
        self.unread.clear();
    }
}
