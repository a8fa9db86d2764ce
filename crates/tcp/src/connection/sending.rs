//! The send sequence space [RFC 9293 3.3.1].

use crate::send::{Scoreboard, SendBuffer};
use crate::sequence::initial;

/// Numbers, windows and bytes of our direction.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    /// ISS: the number of our SYN.
    pub(super) initial: u64,
    /// SND.UNA: the oldest number that is not acknowledged.
    pub(super) una: u64,
    /// SND.NXT: the next number to send; behind `max` after a timeout.
    pub(super) nxt: u64,
    /// One past the highest number ever sent.
    pub(super) max: u64,
    /// SND.WND: what the peer accepts beyond `una`.
    pub(super) window_bytes: u64,
    /// The largest window seen.
    pub(super) max_window_bytes: u64,
    /// SND.WL2 and SND.WL1: acknowledgement and number of the segment that told the window.
    pub(super) told_by: (u64, u64),
    pub(super) buffer: SendBuffer,
    pub(super) is_finished: bool,
    pub(super) board: Scoreboard,
}

impl Sending {
    pub(super) fn new(wire_initial: u32, limit_bytes: u64) -> Self {
        let initial = initial(wire_initial);
        Self {
            initial,
            una: initial,
            nxt: initial,
            max: initial,
            window_bytes: 0,
            max_window_bytes: 0,
            told_by: (0, 0),
            buffer: SendBuffer::new(initial + 1, limit_bytes),
            is_finished: false,
            board: Scoreboard::default(),
        }
    }

    /// One past everything that there is to send, FIN counted.
    pub(super) fn end(&self) -> u64 {
        self.buffer.end() + u64::from(self.is_finished)
    }

    /// Whether our FIN is acknowledged.
    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.is_finished && self.una == self.end()
    }

    /// Takes a window; older segments than the one that told the last do not count [RFC 9293 3.10.7.4]. The
    /// acknowledgement comes first: a repeat has an old number, but with a new acknowledgement it is newer than
    /// what told the last window, and that window, counted from here, would end where the peer never said.
    pub(super) fn take_window(&mut self, sequence: u64, acknowledgement: u64, window_bytes: u64) {
        if (acknowledgement, sequence) >= self.told_by {
            self.window_bytes = window_bytes;
            self.max_window_bytes = self.max_window_bytes.max(window_bytes);
            self.told_by = (acknowledgement, sequence);
        }
    }
}
