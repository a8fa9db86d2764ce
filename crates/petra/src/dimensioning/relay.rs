//! Buffer of the first relay: its cycle, threshold and size [PETRA IV-A, C, D].

use libm::ceil;

use super::Plan;

/// Cycle of a relay's buffer: acknowledgements stop above the threshold and go on below it [PETRA Fig. 3].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// From the first segment to the threshold, s: `t_2`, B to C [PETRA (5)].
    pub filling_s: f64,
    /// Time in which a window leaves over the satellite link, s: `t_3`, C to E [PETRA (7)].
    pub draining_s: f64,
    /// From the end of a window's arrivals to the next segment, s: `t_4`, D to F [PETRA (8)].
    pub silence_s: f64,
    /// Length, s: `t_cycle`, B to F.
    pub length_s: f64,
    /// Segments that arrive in it: `r(t_cycle)`.
    pub segments: f64,
}

impl Plan {
    /// Cycle of the first relay's buffer in the steady state.
    pub fn cycle(&self) -> Cycle {
        let (drain, arrivals) = (self.drain_per_s(), self.arrivals_per_s());
        let (rtt_s, window) = (self.path().wires[0].rtt_s, self.window());
        let filling_s = drain * rtt_s / (arrivals - drain);
        let draining_s = window / drain;
        Cycle {
            filling_s,
            draining_s,
            silence_s: draining_s + rtt_s - window / arrivals,
            length_s: rtt_s + filling_s + draining_s,
            segments: window + arrivals * filling_s,
        }
    }

    /// Least threshold with which the satellite link never waits, segments: `B_th^min` [PETRA (16)].
    pub fn least_threshold_segments(&self) -> u64 {
        ceil(self.drain_per_s() * self.path().wires[0].rtt_s) as u64
    }

    /// What a buffer holds at most where the satellite link loses nothing, segments [PETRA (18)].
    pub fn full_buffer_segments(&self, threshold_segments: u64) -> u64 {
        let drained = self.without_errors().drain_per_s() * self.window() / self.arrivals_per_s();
        threshold_segments + ceil(self.window() - drained) as u64
    }

    /// Size of a buffer that nothing overflows, segments [PETRA (19)].
    pub fn buffer_segments(&self, threshold_segments: u64) -> u64 {
        threshold_segments + self.segments().window_segments
    }
}
