//! NILs: segments of low priority beside the window, which routers drop first. Each carries one that is under
//! way, chosen by chance; the answers tell the controller what the path has left (TCP-Peach+).

use skyhaul_congestion::ExtraSegments;
use skyhaul_core::{Instant, Step, Stream};

use super::{Chunk, Sender};

/// NILs of one sender, whose controller wants such.
#[derive(Clone, Debug)]
pub(super) struct Nils {
    /// Those of the running round trip that have not left.
    left: u32,
    next_at: Instant,
    every_ns: u64,
    /// Those that left and were not answered: a peer cannot answer more.
    unanswered: u64,
    /// Draw for the next one.
    draw: u64,
    draws: Stream,
}

impl Nils {
    pub(super) fn new(seed: u64) -> Self {
        let mut draws = Stream::new(seed, "nil");
        let draw = draws.next_u64();
        Self { left: 0, next_at: Instant::ZERO, every_ns: 0, unanswered: 0, draw, draws }
    }

    /// `count` leave within a round trip from now on, evenly, in place of those that have not left.
    fn order(&mut self, count: u32, rtt_ns: u64, now: Instant) {
        self.left = count;
        self.every_ns = rtt_ns / (u64::from(count) + 1);
        self.next_at = now.after(self.every_ns);
    }

    fn on_sent(&mut self, now: Instant) {
        self.left -= 1;
        self.unanswered += 1;
        self.next_at = self.next_at.max(now).after(self.every_ns);
        self.draw = self.draws.next_u64();
    }

    /// An answer arrived; true if it can be one.
    fn take_answer(&mut self) -> bool {
        let is_possible = self.unanswered > 0;
        self.unanswered -= u64::from(is_possible);
        is_possible
    }
}

impl Sender {
    /// Next NIL, and when it leaves; `None` where none is wanted, or nothing is under way that one could
    /// carry.
    pub(super) fn next_nil(&self, now: Instant) -> Option<Step<Chunk>> {
        let nils = self.nils.as_ref().filter(|nils| nils.left > 0)?;
        let una = self.space.una();
        let end = self.space.nxt().min(self.space.data_end()).max(una);
        let missing = || {
            let holes = self.board.holes(una, end, self.mss_bytes);
            holes.flat_map(|hole| {
                (hole.first..hole.end).step_by(self.mss_bytes as usize).map(move |at| (at, hole.end))
            })
        };
        let count = missing().count() as u128;
        let chosen = (u128::from(nils.draw) * count) >> 64;
        let (first, end) = missing().nth(chosen as usize)?;
        let end = end.min(first + self.mss_bytes);
        Some(Step { at: nils.next_at.max(now), action: Chunk::nil(first, end) })
    }

    /// A NIL left. It changes no numbers, and no timer waits for it.
    pub(super) fn on_nil_sent(&mut self, now: Instant) {
        if let Some(nils) = self.nils.as_mut() {
            nils.on_sent(now);
        }
    }

    /// A NIL was answered.
    pub(super) fn on_nil_answered(&mut self, now: Instant) {
        if self.nils.as_mut().is_some_and(|nils| nils.take_answer()) {
            self.controller.on_extra(now, ExtraSegments::Answered);
        }
    }

    /// Orders the NILs that the controller wants, once something is under way and a round trip is known.
    pub(super) fn order_nils(&mut self, now: Instant) {
        let Some(nils) = self.nils.as_mut() else { return };
        let (wanted, rtt) = (self.controller.needs().extra_segments, self.timer.rtt());
        if wanted == 0 || self.space.outstanding() == 0 || !rtt.is_known() {
            return;
        }
        let window_bytes = self.space.window_bytes().min(self.config.send_limit_bytes);
        let left = window_bytes.saturating_sub(self.space.outstanding()) / self.mss_bytes;
        let count = match wanted {
            ExtraSegments::ALL => u32::try_from(left).unwrap_or(u32::MAX),
            count => count,
        };
        nils.order(count, rtt.smoothed_ns(), now);
        self.controller.on_extra(now, ExtraSegments::Ordered);
    }
}
