//! Fast retransmit and fast recovery: Reno [RFC 2581 3.2], NewReno [RFC 6582], SACK [RFC 6675]. The window
//! itself is the controller's; here is what goes again, and how much may leave meanwhile.

use super::reduction::Reduction;
use super::scoreboard::DUPLICATE_THRESHOLD;
use crate::config::Recovery;

/// Repair of a loss event.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// All that was sent when it was noticed: the repair ends when this is acknowledged.
    point: u64,
    /// Without SACK: what left the network since, by duplicate acknowledgements.
    inflation_bytes: u64,
    /// `una` goes again at once, whatever the window.
    is_due: bool,
    /// With SACK: the last resort may be used when more than this is acknowledged (`RescueRxt`).
    rescued_to: u64,
    /// A partial acknowledgement has restarted the timer [RFC 6582 3.2].
    restarted: bool,
    /// With SACK: how the window shrinks, if not at once.
    reduction: Option<Reduction>,
    /// All that it began for may have been overtaken alone.
    is_doubtful: bool,
}

/// Signs of losses, and the repair of what they showed.
#[derive(Clone, Debug)]
pub(super) struct LossRecovery {
    repair: Option<Repair>,
    duplicate_acks: u32,
    /// Sequence space under way at the first of them [RFC 5681 3.2].
    flight_at_duplicate_bytes: u64,
    /// Fast recovery does not begin before this is acknowledged [RFC 6582 3.2].
    recovered_to: u64,
    /// After a repair without SACK [RFC 6582 3.2 (3)], or a black hole, the window opens no faster than this.
    burst_cap_bytes: Option<u64>,
    /// The controller was told of a loss event (or timeout) that is not over.
    told_event: bool,
    /// Our clock when something first went again, until its acknowledgement tells whether it had to.
    doubt: Option<u32>,
}

/// Acknowledgement of something new, as the recovery sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance {
    /// SND.UNA behind it.
    pub(super) una: u64,
    /// Sequence space that it covers.
    pub(super) bytes: u64,
    /// Sequence space still under way.
    pub(super) outstanding: u64,
    pub(super) cwnd_bytes: u64,
    pub(super) mss_bytes: u64,
}

impl LossRecovery {
    pub(super) fn new(initial: u64) -> Self {
        Self {
            repair: None,
            duplicate_acks: 0,
            flight_at_duplicate_bytes: 0,
            recovered_to: initial,
            burst_cap_bytes: None,
            told_event: false,
            doubt: None,
        }
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.repair.is_some()
    }

    /// True if the oldest hole goes again at once, whatever the window.
    pub(super) fn is_repeat_due(&self) -> bool {
        self.repair.is_some_and(|repair| repair.is_due)
    }

    /// Number from which on a loss is a new event.
    pub(super) fn recovered_to(&self) -> u64 {
        self.recovered_to
    }

    pub(super) fn duplicate_acks(&self) -> u32 {
        self.duplicate_acks
    }

    pub(super) fn flight_at_duplicate_bytes(&self) -> u64 {
        self.flight_at_duplicate_bytes
    }

    pub(super) fn burst_cap_bytes(&self) -> Option<u64> {
        self.burst_cap_bytes
    }

    /// Bytes that have left the network during a repair without SACK.
    pub(super) fn inflation_bytes(&self) -> u64 {
        self.repair.map_or(0, |repair| repair.inflation_bytes)
    }

    /// Bytes that a proportional reduction lets go now, if there is one.
    pub(super) fn reduced_bytes(&self) -> Option<u64> {
        self.repair.and_then(|repair| repair.reduction).map(|reduction| reduction.allowed_bytes())
    }

    /// True if the last resort may be used with everything below `una` acknowledged.
    pub(super) fn may_rescue(&self, una: u64) -> bool {
        self.repair.is_some_and(|repair| una > repair.rescued_to)
    }

    /// An acknowledgement acknowledged nothing new while `outstanding` was under way. Number of these in a
    /// row;
    /// `None` during a repair.
    pub(super) fn on_duplicate(&mut self, outstanding: u64, mss_bytes: u64) -> Option<u32> {
        if let Some(repair) = self.repair.as_mut() {
            repair.inflation_bytes += mss_bytes;
            return None;
        }
        self.duplicate_acks += 1;
        if self.duplicate_acks == 1 {
            self.flight_at_duplicate_bytes = outstanding;
        }
        Some(self.duplicate_acks)
    }

    /// A repair of what was sent below `max` begins, and with it a loss event for the controller.
    pub(super) fn begin(&mut self, max: u64, mss_bytes: u64) {
        self.repair = Some(Repair {
            point: max,
            inflation_bytes: DUPLICATE_THRESHOLD * mss_bytes,
            is_due: true,
            rescued_to: max,
            restarted: false,
            reduction: None,
            is_doubtful: false,
        });
        self.recovered_to = max;
        self.told_event = true;
    }

    /// All that this repair is for may have been overtaken alone, or (`false`) something of it was lost.
    pub(super) fn set_doubtful(&mut self, is_doubtful: bool) {
        if let Some(repair) = self.repair.as_mut() {
            repair.is_doubtful = is_doubtful;
        }
    }

    /// True if all that the running repair is for may have been overtaken alone.
    pub(super) fn is_doubtful(&self) -> bool {
        self.repair.is_some_and(|repair| repair.is_doubtful)
    }

    /// The window shrinks during this repair, not at once.
    pub(super) fn reduce_by(&mut self, reduction: Reduction) {
        if let Some(repair) = self.repair.as_mut() {
            repair.reduction = Some(reduction);
        }
    }

    /// `newly` more bytes are known to have arrived; `pipe_bytes` are under way. `advances`: also in
    /// sequence.
    pub(super) fn on_delivered(&mut self, newly: u64, pipe_bytes: u64, mss_bytes: u64, advances: bool) {
        if let Some(reduction) = self.repair.as_mut().and_then(|repair| repair.reduction.as_mut()) {
            reduction.on_delivered(newly, pipe_bytes, mss_bytes, advances);
        }
    }

    /// Something new is acknowledged. True if the retransmission timer starts anew.
    pub(super) fn on_progress(&mut self, how: Recovery, advance: &Advance) -> bool {
        let &Advance { una, bytes, outstanding, cwnd_bytes, mss_bytes } = advance;
        self.duplicate_acks = 0;
        let grown = self.burst_cap_bytes.map(|cap| cap + bytes.min(mss_bytes));
        self.burst_cap_bytes = grown.filter(|&cap| cap < cwnd_bytes);
        let Some(repair) = self.repair.as_mut() else { return true };
        // Classic Reno knows no partial acknowledgement.
        if una >= repair.point || how == Recovery::Reno {
            self.repair = None;
            if how == Recovery::NewReno {
                // So many acknowledgements may come at once that what is under way is far below the window:
                // it opens anew by slow start [RFC 6582 3.2 (3)]. With SACK the pipe was full all along.
                self.burst_cap_bytes = Some(outstanding.max(mss_bytes) + mss_bytes);
            }
            return true;
        }
        if how == Recovery::Sack {
            return true;
        }
        repair.is_due = true;
        let left = repair.inflation_bytes.saturating_sub(bytes);
        repair.inflation_bytes = left + if bytes >= mss_bytes { mss_bytes } else { 0 };
        !core::mem::replace(&mut repair.restarted, true)
    }

    /// A repeat that ends before `end` left.
    pub(super) fn on_repeated(&mut self, end: u64, is_rescue: bool) {
        let Some(repair) = self.repair.as_mut() else { return };
        // The first repeat of a repair is no reason for a rescue before it is acknowledged
        // [RFC 6675 5 (4.3)]; a rescue is one until the repair ends.
        if repair.is_due {
            repair.rescued_to = end;
        }
        repair.is_due = false;
        if is_rescue {
            repair.rescued_to = repair.point;
        }
    }

    /// So much sequence space left, first or again.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(reduction) = self.repair.as_mut().and_then(|repair| repair.reduction.as_mut()) {
            reduction.on_sent(bytes);
        }
    }

    /// Everything below `max` goes again: no repair, and no loss event before that is acknowledged.
    pub(super) fn give_up(&mut self, max: u64) {
        self.repair = None;
        self.duplicate_acks = 0;
        self.recovered_to = max;
    }

    /// The controller was told of a timeout, or of a loss that needs no repair.
    pub(super) fn on_event_told(&mut self) {
        self.told_event = true;
    }

    /// The window opens from `bytes` on, no faster than by slow start: nothing of its size is under way.
    pub(super) fn cap_burst(&mut self, bytes: u64) {
        self.burst_cap_bytes = Some(bytes);
    }

    /// True once everything sent before the event that the controller was told of is acknowledged.
    pub(super) fn ends_event(&mut self, una: u64) -> bool {
        let ends = self.told_event && self.repair.is_none() && una >= self.recovered_to;
        self.told_event &= !ends;
        ends
    }

    /// Something goes again at this time of our clock [RFC 3522 3.2 (1)]. The first repeat counts.
    pub(super) fn doubt(&mut self, clock: u32) {
        self.doubt.get_or_insert(clock);
    }

    /// Clock of the first repeat, once.
    pub(super) fn take_doubt(&mut self) -> Option<u32> {
        self.doubt.take()
    }

    /// Repeats were needless: everything goes on from `una` as before [RFC 4015].
    pub(super) fn undo(&mut self, una: u64) {
        self.repair = None;
        self.recovered_to = una;
        self.told_event = false;
    }

    pub(super) fn check_invariants(&self, una: u64, max: u64) {
        let is_open = |repair: Repair| una < repair.point && repair.point <= max;
        debug_assert!(self.repair.is_none_or(is_open), "{:?} at {una}, {max}", self.repair);
    }
}
