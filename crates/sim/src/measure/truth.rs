//! What really became of each packet, beside what its sender took it for.

use std::collections::{BTreeMap, BTreeSet};

use skyhaul_core::event::{Alarm, DropCause};
use skyhaul_core::{Event, EventSink, Instant, Verdict};
use skyhaul_stp::segment::types::{BLOCK, POLL, SD, STAT};

use crate::engines::Protocol;
use crate::host::SOURCES_PER_HOST;

/// Number of a host and packets that it sent so far.
type Sent = BTreeMap<u64, u64>;

/// Follows all packets of a run. Keeps entries for the packets under way and for each packet number that is not
/// acknowledged yet.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    sent: Sent,
    /// Name of the last transmission of each data packet, by connection and packet number (24 bits).
    last: BTreeMap<(u64, u64), u64>,
    dropped: BTreeMap<u64, DropCause>,
    /// Names of data packets that are under way or were dropped.
    data: BTreeSet<u64>,
    /// Next number that the peer of each connection expects.
    acknowledged: BTreeMap<u64, u64>,
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

/// Packets judged lost, by truth (see [`TRUTHS`]) and verdict (see [`VERDICTS`]).
pub type Confusion = [[u64; 4]; 4];

/// What can have become of a packet that its sender judged lost: it was dropped by a full queue, by
/// damage, by an outage, or not at all.
pub const TRUTHS: [&str; 4] = ["congestion", "corruption", "outage", "none"];
/// What its sender can have taken it for.
pub const VERDICTS: [&str; 4] = ["congestion", "corruption", "outage", "unknown"];

impl Truth {
    /// Packets judged lost, by truth and verdict.
    pub fn confusion(&self) -> &Confusion {
        &self.confusion
    }

    /// How long each early timeout came after the first loss of a POLL or STAT, in round trips.
    pub(crate) fn alarm_rtts(&self) -> &[f64] {
        &self.alarms.rtts
    }

    fn on_sent(&mut self, source: u64, types: u8, number: u64) {
        let host = source / SOURCES_PER_HOST;
        let count = self.sent.entry(host).or_default();
        let id = host * SOURCES_PER_HOST + *count;
        *count += 1;
        if !judges(source) {
            return;
        }
        if types & (POLL | STAT) != 0 && types != BLOCK {
            self.alarms.under_way.insert(id);
        }
        if types & SD != 0 {
            self.data.insert(id);
            // What became of an earlier copy does not matter any more.
            if let Some(earlier) = self.last.insert((source, number), id) {
                self.dropped.remove(&earlier);
            }
        }
    }

    /// What is acknowledged in sequence is not judged any more.
    fn on_acknowledged(&mut self, source: u64, next: u64) {
        let before = self.acknowledged.insert(source, next).unwrap_or(next);
        for number in before..next {
            if let Some(id) = self.last.remove(&(source, number & 0xFF_FFFF)) {
                self.dropped.remove(&id);
            }
        }
    }

    fn on_lost(&mut self, source: u64, number: u64, verdict: Verdict) {
        let last = self.last.get(&(source, number & 0xFF_FFFF));
        let truth = match last.and_then(|id| self.dropped.get(id)) {
            Some(DropCause::QueueFull | DropCause::Early) => 0,
            Some(DropCause::Outage) => 2,
            Some(_) => 1,
            None => 3,
        };
        self.confusion[truth][verdict as usize] += 1;
    }
}

/// Whether losses are judged there. TCP takes every loss for congestion and says so of none.
fn judges(source: u64) -> bool {
    Protocol::of(source % SOURCES_PER_HOST) == Protocol::Stp
}

impl EventSink for Truth {
    fn emit(&mut self, now: Instant, source: u64, event: Event) {
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
            Event::Acknowledged { next, .. } if judges(source) => self.on_acknowledged(source, next),
            Event::ProbeStarted { alarm, loss_rtt_ns } => self.alarms.started(now, alarm, loss_rtt_ns),
            Event::ProbeEnded { .. } => self.alarms.first_loss = None,
            Event::Rtt { sample_ns, .. } if judges(source) => self.alarms.answered(now.before(sample_ns)),
            Event::Sent { types, number, .. } => self.on_sent(source, types, number),
            Event::Lost { first, end, verdict } => {
                (first..end).for_each(|number| self.on_lost(source, number, verdict));
            }
            _ => {}
        }
    }
}
