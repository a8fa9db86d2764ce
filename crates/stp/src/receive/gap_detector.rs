//! Gaps in what arrives, and when each is reported by USTAT: at once, or after so many packets beyond it
//! [XSTP 3].

/// A gap that waits for packets beyond it: they may only have been reordered.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: u64,
    end: u64,
    beyond: u32,
}

/// Detector of gaps in the numbers that arrive. At most one gap waits.
#[derive(Clone, Debug)]
pub(crate) struct GapDetector {
    threshold: Option<u32>,
    waiting: Option<Waiting>,
    high: u64,
}

impl GapDetector {
    /// Detector before packet `initial`. `threshold`: packets beyond a gap that make it ripe; `None`: none
    /// ever is.
    pub(crate) fn new(initial: u64, threshold: Option<u32>) -> Self {
        Self { threshold, waiting: None, high: initial }
    }

    /// Arrival of a packet. Result: up to two ranges to report now, the one that waited, since a new
    /// gap pushes it out, and the new one.
    pub(crate) fn on_packet(&mut self, number: u64) -> [Option<(u64, u64)>; 2] {
        let Some(threshold) = self.threshold else { return [None, None] };
        let before = self.high;
        self.high = self.high.max(number + 1);
        if number > before {
            return self.on_gap(before, number, threshold);
        }
        let ripe = self.waiting.as_mut().is_some_and(|w| {
            w.beyond += u32::from(number >= w.end);
            w.beyond >= threshold
        });
        [ripe.then(|| self.take()).flatten(), None]
    }

    fn on_gap(&mut self, first: u64, end: u64, threshold: u32) -> [Option<(u64, u64)>; 2] {
        let pushed_out = self.take();
        self.waiting = Some(Waiting { first, end, beyond: 1 });
        let at_once = if threshold <= 1 { self.take() } else { None };
        [pushed_out, at_once]
    }

    fn take(&mut self) -> Option<(u64, u64)> {
        self.waiting.take().map(|w| (w.first, w.end))
    }

    /// A STAT reports everything up to `high`: nothing needs to wait.
    pub(crate) fn on_stat(&mut self, high: u64) {
        self.high = self.high.max(high);
        self.waiting = None;
    }
}
