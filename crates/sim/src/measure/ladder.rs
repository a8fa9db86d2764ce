//! The packets of a run as a ladder diagram shows them: each with its departure and its arrival, the
//! phases of probing, and the states of the probing map.

use std::collections::BTreeMap;

use serde::Serialize;
use skyhaul_core::event::{Alarm, SHOWN_ENTRIES};
use skyhaul_core::{Event, EventSink, Instant, SECOND};
use skyhaul_link::Outage;
use skyhaul_stp::segment::types::POLL;

use super::words::{self, Sent};

use crate::engines::Protocol;
use crate::host::SOURCES_PER_HOST;
use crate::network::{Network, Wire};
use crate::scenario::Scenario;

/// Packets kept; further ones are left out.
pub const MAX_LADDER_PACKETS: usize = 100_000;

/// A line of a ladder file (`docs/guide/figures.md`).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LadderLine {
    /// A packet on its way.
    Packet {
        /// When it left.
        t_s: f64,
        /// Which host sent it.
        from: String,
        /// What is in it.
        label: String,
        /// When it reached a host; `None`: a link dropped it.
        arrived_s: Option<f64>,
        /// What it is for: data, poll, probe, stat, ustat or other.
        kind: &'static str,
    },
    /// A phase.
    Band {
        /// What it is.
        band: String,
        /// Its beginning.
        from_s: f64,
        /// Its end.
        to_s: f64,
    },
    /// The probing map after a change.
    Map {
        /// Its entries.
        map: Vec<String>,
        /// When it changed.
        at_s: f64,
        /// What changed it.
        label: String,
    },
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    UnderWay,
    Arrived(Instant),
    Lost,
}

#[derive(Clone, Debug)]
struct Packet {
    at: Instant,
    host: u64,
    label: String,
    kind: &'static str,
    fate: Fate,
}

#[derive(Clone, Debug)]
struct Cycle {
    from: Instant,
    alarm: Alarm,
    probes: u32,
}

/// Records them. Positions of packets count from the first data packet of each connection, as 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    packets: BTreeMap<u64, Packet>,
    sent: BTreeMap<u64, u64>,
    first_number: BTreeMap<u64, u64>,
    cycles: BTreeMap<u64, Cycle>,
    lines: Vec<LadderLine>,
}

fn seconds(at: Instant) -> f64 {
    at.as_ns() as f64 / SECOND as f64
}

impl Ladder {
    /// What was recorded: packets that have arrived or were dropped, by departure, then the rest.
    pub(crate) fn lines(&self, network: &Network, scenario: &Scenario) -> Vec<LadderLine> {
        let host_name =
            |node: u64| scenario.nodes.get(node as usize).map_or("?".into(), |node| node.name.clone());
        let mut packets: Vec<&Packet> = self.packets.values().collect();
        packets.sort_by_key(|packet| packet.at);
        let line = |packet: &Packet| {
            let arrived_s = match packet.fate {
                Fate::UnderWay => return None,
                Fate::Arrived(at) => Some(seconds(at)),
                Fate::Lost => None,
            };
            let (t_s, from) = (seconds(packet.at), host_name(packet.host));
            let (label, kind) = (packet.label.clone(), packet.kind);
            Some(LadderLine::Packet { t_s, from, label, arrived_s, kind })
        };
        let packets = packets.into_iter().filter_map(line);
        packets.chain(outages(network)).chain(self.lines.iter().cloned()).collect()
    }

    fn on_sent(&mut self, at: Instant, source: u64, sent: Sent) {
        let host = source / SOURCES_PER_HOST;
        let count = self.sent.entry(host).or_default();
        let id = host * SOURCES_PER_HOST + *count;
        *count += 1;
        if self.packets.len() >= MAX_LADDER_PACKETS {
            return;
        }
        let number = sent.number;
        let has_data = sent.payload_bytes > 0;
        let first = if has_data { *self.first_number.entry(source).or_insert(number) } else { number };
        let is_stp = Protocol::of(source % SOURCES_PER_HOST) == Protocol::Stp;
        let (mut label, mut kind) =
            if is_stp { words::of_stp(sent, first) } else { words::of_tcp(sent, first) };
        // Only STP has cycles.
        if let Some(cycle) = self.cycles.get_mut(&source).filter(|_| sent.types & POLL != 0) {
            cycle.probes += 1;
            label = label.replace("POLL", &format!("PROBE {}", cycle.probes));
            kind = "probe";
        }
        self.packets.insert(id, Packet { at, host, label, kind, fate: Fate::UnderWay });
    }

    fn on_ended(&mut self, at: Instant, source: u64, verdict: Option<skyhaul_core::Verdict>) {
        let Some(cycle) = self.cycles.remove(&source) else { return };
        let alarm = match cycle.alarm {
            Alarm::Silence => "early timeout",
            Alarm::Gap => "gap report",
        };
        let found = verdict.map_or("false alarm".into(), |verdict| format!("{verdict:?}").to_lowercase());
        let band = format!("probing after {alarm}: {found}");
        self.lines.push(LadderLine::Band { band, from_s: seconds(cycle.from), to_s: seconds(at) });
    }

    fn on_map(&mut self, at: Instant, reserved: bool, entries: u32, rtts_ns: [u64; SHOWN_ENTRIES]) {
        let shown = (entries as usize).min(SHOWN_ENTRIES);
        let is_first = |place: usize| reserved && place == 0 && entries as usize <= SHOWN_ENTRIES;
        let text = |(place, &rtt_ns): (usize, &u64)| match rtt_ns {
            0 if is_first(place) => "reserved".into(),
            0 => "asked".into(),
            _ => format!("{:.3} s", rtt_ns as f64 / SECOND as f64),
        };
        let map: Vec<String> = rtts_ns[..shown].iter().enumerate().map(text).collect();
        let answered = rtts_ns.iter().filter(|&&rtt_ns| rtt_ns > 0).count();
        let label = format!("{answered} answered");
        self.lines.push(LadderLine::Map { map, at_s: seconds(at), label });
    }
}

/// When the links were down.
fn outages(network: &Network) -> impl Iterator<Item = LadderLine> {
    let of = |wire: &Wire| wire.link.conditions().outages(Instant::ZERO, network.now());
    let band = |outage: Outage| LadderLine::Band {
        band: "link down".into(),
        from_s: seconds(outage.from),
        to_s: seconds(outage.to),
    };
    network.wires().iter().flat_map(of).map(band)
}

impl EventSink for Ladder {
    fn emit(&mut self, now: Instant, source: u64, event: Event) {
        match event {
            Event::Sent { types, number, payload_bytes, repeat, .. } => {
                let is_repeat = repeat.is_some();
                self.on_sent(now, source, Sent { types, number, payload_bytes, is_repeat });
            }
            Event::Arrived { packet } => {
                if let Some(packet) = self.packets.get_mut(&packet) {
                    packet.fate = Fate::Arrived(now);
                }
            }
            Event::LinkDrop { packet, .. } => {
                if let Some(packet) = self.packets.get_mut(&packet) {
                    packet.fate = Fate::Lost;
                }
            }
            Event::ProbeStarted { alarm, .. } => {
                self.cycles.insert(source, Cycle { from: now, alarm, probes: 0 });
            }
            Event::ProbeEnded { verdict, .. } => self.on_ended(now, source, verdict),
            Event::ProbeMap { reserved, entries, rtts_ns } => self.on_map(now, reserved, entries, rtts_ns),
            _ => {}
        }
    }
}
