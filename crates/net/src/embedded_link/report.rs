//! Counters of an embedded link.

use skyhaul_core::{Instant, MS};
use skyhaul_link::{Link, LinkCounters};
use skyhaul_stp::ProbingConfig;

use crate::realtime::{Counted, LatenessReport};

/// Counters of an embedded link until some moment.
#[derive(Clone, Copy, Debug)]
pub struct LinkReport {
    /// That moment, in the link's time.
    pub at: Instant,
    /// True if no outage covers it.
    pub is_up: bool,
    /// From side A to side B.
    pub forward: DirectionReport,
    /// From side B to side A.
    pub reverse: DirectionReport,
}

/// One direction of an embedded link.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectionReport {
    /// Counters of the link itself.
    pub counters: LinkCounters,
    /// Packets that the link will still deliver.
    pub packets_inside: usize,
    /// How exactly the link was emulated.
    pub lateness: LatenessReport,
    /// When the first packet came in.
    pub first_packet: Option<Instant>,
    /// Datagrams that were not let into the link: from a stranger, or without anybody to go to.
    pub strays: u64,
    /// Packets that the link delivered and the system then refused to send.
    pub send_failures: u64,
}

/// A round trip that this machine makes longer by so much may look like one of a full queue, and an
/// answer like one that does not come (`rtt_slack_ns`).
const MISLEADING_NS: u64 = ProbingConfig::standard().rtt_slack_ns;

impl LinkReport {
    /// Warning if this machine was so late that a sender may have taken it for the link.
    pub fn warning(&self) -> Option<String> {
        let [there, back] = [self.forward, self.reverse].map(|direction| direction.lateness.max_ns);
        (there.saturating_add(back) >= MISLEADING_NS).then(|| {
            format!(
                "this machine is too busy: packets left the emulated link up to {} (there) and {} (back) \
                 after their time, which the sender may have taken for a full queue or a link that was gone",
                show_ms(there),
                show_ms(back)
            )
        })
    }

    /// Remark if the link was not emulated exactly, see [`LatenessReport::is_inexact`].
    pub fn remark(&self) -> Option<String> {
        let directions = [("there", self.forward.lateness), ("back", self.reverse.lateness)];
        let inexact = directions.into_iter().filter(|(_, lateness)| lateness.is_inexact());
        let texts = inexact.map(|(name, lateness)| {
            let percent = 100.0 * lateness.late_share();
            format!("{name} {percent:.2} % of the packets, up to {}", show_ms(lateness.max_ns))
        });
        let texts = texts.collect::<Vec<_>>().join("; ");
        let text =
            || format!("this machine is busy: packets left the emulated link more than 1 ms late: {texts}");
        (!texts.is_empty()).then(text)
    }
}

fn show_ms(ns: u64) -> String {
    format!("{:.1} ms", ns as f64 / MS as f64)
}

/// Counters of a link between two gates until `at`.
pub(crate) fn report(link: &Link, counted: &Counted, at: Instant) -> LinkReport {
    let direction = |start: usize| {
        let (entry, exit) = (&counted.gates[start], &counted.gates[1 - start]);
        DirectionReport {
            counters: link.counters(start as u32, at),
            packets_inside: link.packets_inside(start as u32),
            lateness: exit.lateness,
            first_packet: entry.first_packet,
            strays: entry.strays,
            send_failures: exit.send_failures,
        }
    };
    LinkReport { at, is_up: link.is_up(at), forward: direction(0), reverse: direction(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(there: LatenessReport, back: LatenessReport) -> LinkReport {
        let direction = |lateness| DirectionReport { lateness, ..DirectionReport::default() };
        LinkReport { at: Instant::ZERO, is_up: true, forward: direction(there), reverse: direction(back) }
    }

    fn lateness(late_packets: u64, max_ms: u64) -> LatenessReport {
        LatenessReport { packets: 1000, late_packets, max_ns: max_ms * MS, ..LatenessReport::default() }
    }

    #[test]
    fn what_could_change_a_verdict_is_worth_a_warning() {
        assert_eq!(report(lateness(1, 10), lateness(1, 9)).warning(), None);
        let warning = report(lateness(1, 12), lateness(1, 8)).warning().unwrap();
        assert!(warning.contains("12.0 ms (there) and 8.0 ms (back)"), "{warning}");
    }

    #[test]
    fn what_is_merely_inexact_is_worth_a_remark() {
        assert_eq!(report(lateness(1, 3), lateness(0, 0)).remark(), None);
        let remark = report(lateness(4, 3), lateness(0, 0)).remark().unwrap();
        assert!(remark.ends_with("late: there 0.40 % of the packets, up to 3.0 ms"), "{remark}");
    }
}
