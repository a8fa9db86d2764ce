//! The packets of a run as a ladder diagram shows them: each with its departure and its arrival, the
//! phases of probing, and the states of the probing map.

use std::collections::BTreeMap;

use serde::Serialize;
use skyhaul_core::event::{Alarm, RouterSignal, SHOWN_ENTRIES};
use skyhaul_core::{Event, EventSink, Instant, SECOND};
use skyhaul_link::Outage;

use skyhaul_scenario::{Protocol, SentSegment};

use crate::fabric::Edge;
use crate::network::Network;
use crate::source::{Origin, Source};
use skyhaul_scenario::Scenario;

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
        /// Which host sent it, or which router.
        from: String,
        /// Where it goes, where that is not the other end.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// Its contents.
        label: String,
        /// When it reached a host; `None`: a link dropped it.
        arrived_s: Option<f64>,
        /// Nodes at the ends of the link that dropped it.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost_between: Option<[String; 2]>,
        /// Its purpose: data, poll, probe, stat, ustat or other.
        kind: &'static str,
    },
    /// A phase.
    Band {
        /// Kind of it.
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
        /// Cause of the change.
        label: String,
    },
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    UnderWay,
    Arrived(Instant),
    /// On the link with this number, where that is known.
    Lost(Option<u32>),
}

#[derive(Clone, Debug)]
struct Packet {
    at: Instant,
    host: u32,
    /// Node that a router's goes to.
    to: Option<u32>,
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
    first_number: BTreeMap<Origin, u64>,
    cycles: BTreeMap<Origin, Cycle>,
    /// End whose next segment says that packets are damaged on their way to it.
    tells_corruption: Option<Origin>,
    lines: Vec<LadderLine>,
}

fn seconds(at: Instant) -> f64 {
    at.as_ns() as f64 / SECOND as f64
}

impl Ladder {
    /// Recorded lines: packets that have arrived or were dropped, by departure, then the rest.
    pub(crate) fn lines(&self, network: &Network, scenario: &Scenario) -> Vec<LadderLine> {
        let host_name =
            |node: u32| scenario.nodes.get(node as usize).map_or("?".into(), |node| node.name.clone());
        let mut packets: Vec<&Packet> = self.packets.values().collect();
        packets.sort_by_key(|packet| packet.at);
        let line = |packet: &Packet| {
            let (arrived_s, link) = match packet.fate {
                Fate::UnderWay => return None,
                Fate::Arrived(at) => (Some(seconds(at)), None),
                Fate::Lost(link) => (None, link),
            };
            let edge = link.and_then(|link| network.edges().get(link as usize));
            let lost_between = edge.map(|edge| edge.ends.map(host_name));
            let (t_s, from) = (seconds(packet.at), host_name(packet.host));
            let (to, label, kind) = (packet.to.map(host_name), packet.label.clone(), packet.kind);
            Some(LadderLine::Packet { t_s, from, to, label, arrived_s, lost_between, kind })
        };
        let packets = packets.into_iter().filter_map(line);
        packets.chain(outages(network)).chain(self.lines.iter().cloned()).collect()
    }

    fn on_sent(
        &mut self,
        at: Instant,
        origin: Origin,
        (packet, protocol): (u64, &'static dyn Protocol),
        sent: SentSegment,
    ) {
        if self.packets.len() >= MAX_LADDER_PACKETS {
            return;
        }
        let number = sent.number;
        let has_data = sent.payload_bytes > 0;
        let first = if has_data { *self.first_number.entry(origin).or_insert(number) } else { number };
        let (mut label, mut kind) = protocol.label(sent, first);
        let is_probe = protocol.purpose(sent.types).is_question;
        if let Some(cycle) = self.cycles.get_mut(&origin).filter(|_| is_probe) {
            cycle.probes += 1;
            label = label.replace("POLL", &format!("PROBE {}", cycle.probes));
            kind = "probe";
        }
        if self.tells_corruption.take() == Some(origin) {
            label.push_str(" + corruption");
        }
        let host = origin.host;
        self.packets.insert(packet, Packet { at, host, to: None, label, kind, fate: Fate::UnderWay });
    }

    fn on_signal(&mut self, at: Instant, [host, to]: [u32; 2], packet: u64, signal: RouterSignal) {
        if self.packets.len() < MAX_LADDER_PACKETS {
            let (to, label, fate) = (Some(to), signal.name().into(), Fate::UnderWay);
            self.packets.insert(packet, Packet { at, host, to, label, kind: "other", fate });
        }
    }

    fn on_ended(&mut self, at: Instant, origin: Origin, verdict: Option<skyhaul_core::Verdict>) {
        let Some(cycle) = self.cycles.remove(&origin) else { return };
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
    let of = |edge: &Edge| edge.link.conditions().outages(Instant::ZERO, network.now());
    let band = |outage: Outage| LadderLine::Band {
        band: "link down".into(),
        from_s: seconds(outage.from),
        to_s: seconds(outage.to),
    };
    network.edges().iter().flat_map(of).map(band)
}

impl EventSink<Source> for Ladder {
    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        let fate = |fate: Fate| move |packet: &mut Packet| packet.fate = fate;
        match (event, source) {
            (Event::Arrived { packet }, _) => {
                self.packets.get_mut(&packet).map(fate(Fate::Arrived(now)));
            }
            (Event::LinkDrop { packet, .. }, source) => {
                let link = if let Source::Link(link) = source { Some(link) } else { None };
                self.packets.get_mut(&packet).map(fate(Fate::Lost(link)));
            }
            (Event::Signal { packet, to, signal }, Source::Host(router)) => {
                self.on_signal(now, [router, to], packet, signal);
            }
            (event, Source::Engine { origin, protocol, packet }) => {
                self.of_engine(now, origin, event, packet.map(|packet| (packet, protocol)));
            }
            _ => {}
        }
    }
}

impl Ladder {
    /// Event of an engine. `sent`: the packet that a `Sent` event tells of, and its family.
    fn of_engine(
        &mut self,
        now: Instant,
        origin: Origin,
        event: Event,
        sent: Option<(u64, &'static dyn Protocol)>,
    ) {
        match event {
            Event::Sent { types, number, payload_bytes, repeat, .. } => {
                let segment = SentSegment { types, number, payload_bytes, is_repeat: repeat.is_some() };
                if let Some(sent) = sent {
                    self.on_sent(now, origin, sent, segment);
                }
            }
            Event::CorruptionTold => self.tells_corruption = Some(origin),
            Event::ProbeStarted { alarm, .. } => {
                self.cycles.insert(origin, Cycle { from: now, alarm, probes: 0 });
            }
            Event::ProbeEnded { verdict, .. } => self.on_ended(now, origin, verdict),
            Event::ProbeMap { reserved, entries, rtts_ns } => self.on_map(now, reserved, entries, rtts_ns),
            _ => {}
        }
    }
}
