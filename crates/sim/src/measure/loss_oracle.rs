//! Loss oracle: what really became of each packet, beside what its sender took it for.

use std::collections::{BTreeMap, BTreeSet};

use skyhaul_core::event::{Alarm, DropCause};
use skyhaul_core::{Event, EventSink, Instant, Verdict};
use skyhaul_scenario::{Protocol, Purpose};

use crate::source::{Origin, Source};

/// Follower of all packets of a run, which compares each verdict of a sender with what the links did. It
/// keeps entries for the packets under way and for each packet number that is not acknowledged yet.
#[derive(Clone, Debug, Default)]
pub struct LossOracle {
    /// Name of the last transmission of each data packet, by connection and packet number (24 bits).
    last: BTreeMap<(Origin, u64), u64>,
    dropped: BTreeMap<u64, DropCause>,
    /// Names of data packets that are under way or were dropped.
    data: BTreeSet<u64>,
    /// Next number that the peer of each connection expects.
    acknowledged: BTreeMap<Origin, u64>,
    confusion: Confusion,
    alarms: Alarms,
}

/// How soon the sender of a single flow notices that POLLs or STATs fail to arrive.
#[derive(Clone, Debug, Default)]
struct Alarms {
    /// Packets with a POLL or a STAT.
    under_way: BTreeSet<u64>,
    /// The first of them that was dropped since the last cycle.
    first_loss: Option<Instant>,
    rtts: Vec<f64>,
}

/// Early timeouts measured in a run; further ones are not.
const MAX_ALARMS: usize = 100_000;

impl Alarms {
    fn dropped(&mut self, now: Instant, packet: u64) {
        if self.under_way.remove(&packet) {
            self.first_loss.get_or_insert(now);
        }
    }

    /// A POLL that left after the loss was answered: the interleave is whole again without a cycle.
    fn answered(&mut self, sent_at: Instant) {
        self.first_loss = self.first_loss.filter(|&loss| sent_at <= loss);
    }

    fn started(&mut self, now: Instant, alarm: Alarm, loss_rtt_ns: u64) {
        let Some(loss) = self.first_loss.take() else { return };
        if alarm == Alarm::Silence && loss_rtt_ns > 0 && self.rtts.len() < MAX_ALARMS {
            self.rtts.push(now.since(loss) as f64 / loss_rtt_ns as f64);
        }
    }
}

/// Packets judged lost, by cause (see [`CAUSES`]) and verdict (see [`VERDICTS`]).
pub type Confusion = [[u64; 4]; 4];

/// Causes by which a packet that its sender judged lost can have been dropped: a full queue, damage, an
/// outage, or none, since it was not dropped.
pub const CAUSES: [&str; 4] = ["congestion", "corruption", "outage", "none"];
/// Verdicts of its sender.
pub const VERDICTS: [&str; 4] = ["congestion", "corruption", "outage", "unknown"];

impl LossOracle {
    /// Packets judged lost, by cause and verdict.
    pub fn confusion(&self) -> &Confusion {
        &self.confusion
    }

    /// How long each early timeout came after the first loss of a POLL or STAT, in round trips.
    pub(crate) fn alarm_rtts(&self) -> &[f64] {
        &self.alarms.rtts
    }

    fn on_sent(&mut self, origin: Origin, purpose: Purpose, number: u64, packet: u64) {
        if purpose.is_question_or_report {
            self.alarms.under_way.insert(packet);
        }
        if purpose.is_judged_data {
            self.data.insert(packet);
            // What became of an earlier copy does not matter any more.
            if let Some(earlier) = self.last.insert((origin, number), packet) {
                self.dropped.remove(&earlier);
            }
        }
    }

    /// Forgets what is acknowledged in sequence: it is not judged any more.
    fn on_acknowledged(&mut self, origin: Origin, next: u64) {
        let before = self.acknowledged.insert(origin, next).unwrap_or(next);
        for number in before..next {
            if let Some(id) = self.last.remove(&(origin, number & 0xFF_FFFF)) {
                self.dropped.remove(&id);
            }
        }
    }

    /// Counts a judgement, unless the packet was too large for a link: none of the verdicts is right then.
    fn on_lost(&mut self, origin: Origin, number: u64, verdict: Verdict) {
        let last = self.last.get(&(origin, number & 0xFF_FFFF));
        let cause = match last.and_then(|id| self.dropped.get(id)) {
            Some(DropCause::QueueFull | DropCause::Early | DropCause::Policed) => 0,
            Some(DropCause::Outage) => 2,
            Some(DropCause::TooLarge) => return,
            Some(_) => 1,
            None => 3,
        };
        self.confusion[cause][verdict as usize] += 1;
    }
}

impl EventSink<Source> for LossOracle {
    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        match event {
            Event::LinkDrop { packet, cause, .. } => {
                if self.data.remove(&packet) {
                    self.dropped.insert(packet, cause);
                }
                self.alarms.dropped(now, packet);
            }
            Event::Arrived { packet } => {
                self.data.remove(&packet);
                self.dropped.remove(&packet); // of which a copy may have been dropped
                self.alarms.under_way.remove(&packet);
            }
            _ => {
                if let Source::Engine { origin, protocol, packet } = source
                    && protocol.judges_losses()
                {
                    self.of_sender(now, origin, event, packet.map(|packet| (packet, protocol)));
                }
            }
        }
    }
}

impl LossOracle {
    /// Event of an engine that judges losses. `sent`: the packet that a `Sent` event tells of, and its
    /// family.
    fn of_sender(
        &mut self,
        now: Instant,
        origin: Origin,
        event: Event,
        sent: Option<(u64, &'static dyn Protocol)>,
    ) {
        match event {
            Event::Acknowledged { next, .. } => self.on_acknowledged(origin, next),
            Event::ProbeStarted { alarm, loss_rtt_ns } => self.alarms.started(now, alarm, loss_rtt_ns),
            Event::ProbeEnded { .. } => self.alarms.first_loss = None,
            Event::Rtt { sample_ns, .. } => self.alarms.answered(now.before(sample_ns)),
            Event::Sent { types, number, .. } => {
                if let Some((packet, protocol)) = sent {
                    self.on_sent(origin, protocol.purpose(types), number, packet);
                }
            }
            Event::Lost { first, end, verdict } => {
                (first..end).for_each(|number| self.on_lost(origin, number, verdict));
            }
            _ => {}
        }
    }
}
