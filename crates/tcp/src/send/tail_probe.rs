//! Tail loss probe: where no acknowledgement comes for two round trips, one segment more leaves, so that
//! RACK can tell what became of the last ones [RFC 8985 7].

use skyhaul_core::{Instant, MS, SECOND};

/// Time that a receiver may hold back the acknowledgement of a lone segment (`TLP.max_ack_delay`).
const MAX_ACK_DELAY_NS: u64 = 200 * MS;
/// Wait before a round trip is known.
const FIRST_PTO_NS: u64 = SECOND;

/// Probe that is not answered.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// `TLP.end_seq`: all that was sent, with it.
    end: u64,
    /// `TLP.is_retrans`.
    is_repeat: bool,
}

/// Acknowledgement, as the probe sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) acknowledgement: u64,
    /// It tells of a duplicate.
    pub(super) is_dsack: bool,
    /// It acknowledges something, or a block tells of something.
    pub(super) is_news: bool,
    /// It says nothing new, and has no block.
    pub(super) is_bare_duplicate: bool,
}

/// Timer of the probe, and the probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// Moment of the last data, or of the last acknowledgement in sequence.
    since: Option<Instant>,
    is_due: bool,
    probe: Option<Probe>,
}

impl TailProbe {
    /// Data left, or something new was acknowledged: the wait begins [RFC 8985 7.2].
    pub(super) fn wait_from(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// Moment of the probe, where the round trip is `srtt_ns` and one segment is under way alone, or more
    /// are; `None` while one is not answered.
    pub(super) fn at(&self, srtt_ns: Option<u64>, is_alone: bool) -> Option<Instant> {
        let since = self.since.filter(|_| self.probe.is_none() && !self.is_due)?;
        let delay_ns = if is_alone { MAX_ACK_DELAY_NS } else { 0 };
        let pto_ns = srtt_ns.map_or(FIRST_PTO_NS, |srtt_ns| 2 * srtt_ns + delay_ns);
        Some(since.after(pto_ns))
    }

    /// The wait is over.
    pub(super) fn expire(&mut self) {
        self.is_due = true;
    }

    /// True if a probe is to leave.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// A segment left: a probe if one was due. `end` is that of all that was sent.
    pub(super) fn on_sent(&mut self, is_probe: bool, end: u64, is_repeat: bool) {
        if is_probe {
            self.probe = Some(Probe { end, is_repeat });
        }
        self.is_due = false;
    }

    /// An acknowledgement came. One with news ends a wait, and another begins; others leave a probe due that
    /// the pace holds back: the peer's data would put it off for ever. True if it tells that a probe has
    /// repaired a loss that nothing else has shown [RFC 8985 7.4].
    pub(super) fn on_acknowledged(&mut self, now: Instant, answer: &Answer) -> bool {
        if self.is_due && answer.is_news {
            self.is_due = false;
            self.wait_from(now);
        }
        let Some(probe) = self.probe.filter(|probe| answer.acknowledgement >= probe.end) else {
            return false;
        };
        let repairs = probe.is_repeat && !answer.is_dsack && answer.acknowledgement > probe.end;
        if !probe.is_repeat || answer.is_dsack || answer.is_bare_duplicate || repairs {
            self.probe = None;
        }
        repairs
    }

    /// A repair begins, or everything goes again: other things tell of losses.
    pub(super) fn give_up(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT_NS: Option<u64> = Some(100 * MS);

    fn answer(is_news: bool) -> Answer {
        Answer { acknowledgement: 0, is_dsack: false, is_news, is_bare_duplicate: false }
    }

    /// The probe of data that left at time zero, which the pace holds back.
    fn held_back() -> TailProbe {
        let mut probe = TailProbe::default();
        probe.wait_from(Instant::ZERO);
        assert_eq!(probe.at(SRTT_NS, false), Some(Instant::from_ns(200 * MS)));
        probe.expire();
        probe
    }

    #[test]
    fn data_of_the_peer_does_not_put_off_a_probe_that_the_pace_holds_back() {
        let mut probe = held_back();
        probe.on_acknowledged(Instant::from_ns(210 * MS), &answer(false));
        assert!(probe.is_due());
    }

    #[test]
    fn news_begin_the_wait_for_the_next_probe() {
        let mut probe = held_back();
        let now = Instant::from_ns(210 * MS);
        probe.on_acknowledged(now, &answer(true));
        assert_eq!((probe.is_due(), probe.at(SRTT_NS, false)), (false, Some(now.after(200 * MS))));
    }
}
