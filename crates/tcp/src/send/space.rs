//! Send sequence space [RFC 9293 3.3.1]: numbers, the peer's window, and the bytes.

use skyhaul_core::event::Repeat;
use skyhaul_core::{Description, Octets};

use super::SendBuffer;
use crate::segment::Payload;
use crate::sequence::initial;

/// Numbers, window and bytes of our direction. Invariant: `initial <= una <= nxt <= max <= end`.
#[derive(Clone, Debug)]
pub(super) struct SendSpace {
    /// ISS: number of our SYN.
    initial: u64,
    /// SND.UNA: oldest number that is not acknowledged.
    una: u64,
    /// SND.NXT: next number to send; behind `max` while what lies between goes again.
    nxt: u64,
    /// One past the highest number ever sent.
    max: u64,
    /// Reason why what lies between SND.NXT and `max` goes again.
    again: Repeat,
    /// SND.WND: bytes that the peer accepts beyond `una`.
    window_bytes: u64,
    /// Largest window seen.
    max_window_bytes: u64,
    /// SND.WL2 and SND.WL1: acknowledgement and number of the segment that told the window.
    told_by: (u64, u64),
    buffer: SendBuffer,
    is_finished: bool,
    /// The application was refused room, and is to be told when there is some.
    writer_waits: bool,
}

impl SendSpace {
    pub(super) fn new(first: u32, limit_bytes: u64) -> Self {
        let initial = initial(first);
        Self {
            initial,
            una: initial,
            nxt: initial,
            max: initial,
            again: Repeat::Timer,
            window_bytes: 0,
            max_window_bytes: 0,
            told_by: (0, 0),
            buffer: SendBuffer::new(initial + 1, limit_bytes),
            is_finished: false,
            writer_waits: false,
        }
    }

    pub(super) fn initial(&self) -> u64 {
        self.initial
    }

    pub(super) fn una(&self) -> u64 {
        self.una
    }

    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    pub(super) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    pub(super) fn max_window_bytes(&self) -> u64 {
        self.max_window_bytes
    }

    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// One past the number of the last byte.
    pub(super) fn data_end(&self) -> u64 {
        self.buffer.end()
    }

    /// One past everything that there is to send, FIN counted.
    pub(super) fn end(&self) -> u64 {
        self.buffer.end() + u64::from(self.is_finished)
    }

    /// One past everything that the peer accepts.
    pub(super) fn edge(&self) -> u64 {
        self.una + self.window_bytes
    }

    /// Sequence space sent since SND.UNA, whatever became of it.
    pub(super) fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// True while our SYN is not acknowledged.
    pub(super) fn is_opening(&self) -> bool {
        self.una == self.initial
    }

    /// True once our FIN is acknowledged.
    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.is_finished && self.una == self.end()
    }

    /// True while something waits that no acknowledgement will set free.
    pub(super) fn is_stuck(&self) -> bool {
        !self.is_opening() && self.nxt == self.una && self.end() > self.nxt
    }

    /// True while everything that there is to send was sent and acknowledged.
    pub(super) fn is_quiet(&self) -> bool {
        self.una == self.max && self.end() == self.max
    }

    /// Reason of a repeat, if what begins at `first` is one.
    pub(super) fn repeat_at(&self, first: u64) -> Option<Repeat> {
        (first < self.max).then_some(self.again)
    }

    /// Bytes [from, to), which must be held; they are empty if there is a description.
    pub(super) fn payload(&self, from: u64, to: u64) -> (Payload<'_>, Option<Description>) {
        self.buffer.payload(from, to)
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.buffer.held_bytes()
    }

    pub(super) fn writable_bytes(&self) -> u64 {
        if self.is_finished { 0 } else { self.buffer.room_bytes() as u64 }
    }

    /// Takes as much as there is room for.
    pub(super) fn write(&mut self, data: Octets<'_>) -> usize {
        let taken = self.buffer.write(data);
        self.writer_waits |= taken < data.len();
        taken
    }

    /// Nothing more will be written.
    pub(super) fn finish(&mut self) {
        self.is_finished = true;
    }

    /// True once after the application was refused room, when there is some.
    pub(super) fn take_writable(&mut self) -> bool {
        let is_writable = self.writer_waits && self.buffer.room_bytes() > 0;
        self.writer_waits &= !is_writable;
        is_writable
    }

    /// Takes the window that the peer's SYN tells, which is never scaled [RFC 7323 2.2].
    pub(super) fn take_first_window(&mut self, sequence: u64, window_bytes: u64) {
        self.told_by = (0, sequence);
        self.take_window(sequence, 0, window_bytes);
    }

    /// Takes a window; older segments than the one that told the last do not count [RFC 9293 3.10.7.4]. The
    /// acknowledgement comes first: a repeat has an old number, but with a new acknowledgement it is newer
    /// than what told the last window, and that window, counted from here, would end where the peer never
    /// said.
    pub(super) fn take_window(&mut self, sequence: u64, acknowledgement: u64, window_bytes: u64) {
        if (acknowledgement, sequence) >= self.told_by {
            self.window_bytes = window_bytes;
            self.max_window_bytes = self.max_window_bytes.max(window_bytes);
            self.told_by = (acknowledgement, sequence);
        }
    }

    /// Lets the next segment tell the window, whatever its number: the handshake is done.
    pub(super) fn expect_window(&mut self) {
        self.told_by = (0, 0);
    }

    /// Takes an acknowledgement of something new; the bytes of data that it covers.
    pub(super) fn acknowledge(&mut self, acknowledgement: u64) -> u64 {
        self.una = acknowledgement;
        self.nxt = self.nxt.max(acknowledgement);
        self.buffer.acknowledge(acknowledgement)
    }

    /// Everything below `to`, which was sent, is taken for acknowledged. The peer accepts no more by that.
    pub(super) fn abandon(&mut self, to: u64) {
        self.window_bytes = self.edge().saturating_sub(to);
        self.acknowledge(to);
    }

    /// Everything below `end` was sent. `in_line`: from SND.NXT on, so that this moves.
    pub(super) fn on_sent(&mut self, end: u64, in_line: bool) {
        self.max = self.max.max(end);
        if in_line {
            self.nxt = self.nxt.max(end);
        }
    }

    /// Everything that is not acknowledged goes again.
    pub(super) fn go_back(&mut self, why: Repeat) {
        self.nxt = self.una;
        self.again = why;
    }

    /// Our SYN left before there was this connection.
    pub(super) fn assume_syn_sent(&mut self) {
        (self.nxt, self.max) = (self.initial + 1, self.initial + 1);
    }

    /// Our SYN goes again, for a reason of the peer's.
    pub(super) fn repeat_syn(&mut self) {
        self.nxt = self.initial;
    }

    /// Nothing goes again but what is known to be lost.
    pub(super) fn go_on(&mut self) {
        self.nxt = self.max;
    }

    pub(super) fn check_invariants(&self) {
        let Self { initial, una, nxt, max, .. } = *self;
        let is_ordered = initial <= una && una <= nxt && nxt <= max && max <= self.end();
        debug_assert!(is_ordered, "numbers out of order: {initial} {una} {nxt} {max} {}", self.end());
    }
}
