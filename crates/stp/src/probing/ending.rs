//! End of a cycle as it is told: the verdict and all that the rules decide by.

use skyhaul_core::event::DECIDING_RTTS;
use skyhaul_core::{Event, Instant};

use super::{Cycle, Evidence, Judgement};

impl Cycle {
    /// Event of a cycle that ended without a verdict.
    pub(crate) fn false_alarm(&self, now: Instant) -> Event {
        self.ending(now, None, &Evidence::default())
    }

    /// Event of a cycle that ended with a verdict; `evidence` is what it was judged by.
    pub(crate) fn judged(&self, now: Instant, judgement: &Judgement, evidence: &Evidence) -> Event {
        self.ending(now, Some(judgement), evidence)
    }

    fn ending(&self, now: Instant, judgement: Option<&Judgement>, evidence: &Evidence) -> Event {
        Event::ProbeEnded {
            verdict: judgement.map(|judgement| judgement.verdict),
            duration_ns: now.since(self.started_at),
            probes: self.probes,
            answers: self.answers,
            loss_rtt_ns: self.loss_rtt_ns,
            worst_rtt_ns: judgement.map_or(0, |judgement| judgement.worst_rtt_ns),
            rtts_ns: if judgement.is_some() { self.deciding_rtts_ns() } else { [0; DECIDING_RTTS] },
            alarm_rtt_ns: self.alarm_rtt_ns,
            silent_probes: self.silent_probes(),
            missing_packets: count(evidence.missing_packets),
            listed_packets: count(evidence.listed_packets),
            row_packets: count(evidence.row.packets),
            row_duration_ns: evidence.row.duration_ns,
        }
    }

    fn deciding_rtts_ns(&self) -> [u64; DECIDING_RTTS] {
        let mut rtts_ns = [0; DECIDING_RTTS];
        let deciding = self.map.complete(self.required).into_iter().flatten();
        rtts_ns.iter_mut().zip(deciding).for_each(|(room, rtt_ns)| *room = rtt_ns);
        rtts_ns
    }
}

/// Count for an event: a report covers packet numbers of 24 bits: more than fits there cannot be.
fn count(packets: u64) -> u32 {
    u32::try_from(packets).unwrap_or(u32::MAX)
}
