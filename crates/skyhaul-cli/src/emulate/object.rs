//! Counters for programs (`docs/guide/json.md`).

use std::collections::BTreeMap;

use serde::Serialize;
use skyhaul_emulator::{EmulatedLinkReport, EmulationReport};
use skyhaul_net::LatenessReport;
use skyhaul_net::realtime::LATENESS_ROWS;
use skyhaul_sim::SignalCounters;

use super::scene::EmulatedScene;

/// The object that `emulate --json` prints.
#[derive(Debug, Serialize)]
pub(super) struct EmulationObject {
    scenario: String,
    seed: u64,
    elapsed_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'static str>,
    links: BTreeMap<String, LinkObject>,
    hosts: BTreeMap<String, HostObject>,
    /// Only where routers send signals.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    routers: BTreeMap<String, RouterObject>,
    unroutable_packets: u64,
    lateness: LatenessObject,
    /// Processor time of the thread that runs the links.
    processor_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// A link.
#[derive(Debug, Serialize)]
pub(crate) struct LinkObject {
    up: bool,
    forward: DirectionObject,
    reverse: DirectionObject,
}

#[derive(Debug, Serialize)]
struct DirectionObject {
    entered_packets: u64,
    entered_bytes: u64,
    delivered_packets: u64,
    delivered_bytes: u64,
    inside_packets: usize,
    dropped: DroppedObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragmented_packets: Option<u64>,
    damaged_packets: u64,
    duplicated_packets: u64,
    marked_packets: u64,
    reordered_packets: u64,
    queue_bytes: u64,
    max_queue_bytes: u64,
}

#[derive(Debug, Serialize)]
struct DroppedObject {
    queue_full: u64,
    early: u64,
    /// Only where there is a policer.
    #[serde(skip_serializing_if = "Option::is_none")]
    policed: Option<u64>,
    random_loss: u64,
    bit_error: u64,
    outage: u64,
    /// Only where there is a largest packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_large: Option<u64>,
}

#[derive(Debug, Serialize)]
struct HostObject {
    strays: u64,
    send_failures: u64,
    late_packets: u64,
}

#[derive(Debug, Serialize)]
struct RouterObject {
    corruption_experienced: u64,
    link_outage: u64,
    link_restored: u64,
}

#[derive(Debug, Serialize)]
struct LatenessObject {
    packets: u64,
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    max_ms: f64,
    share_over_1ms: f64,
    histogram: Vec<RowObject>,
}

/// Packets up to so late, and later than the row before. The last one has no bound.
#[derive(Debug, Serialize)]
struct RowObject {
    up_to_ms: Option<f64>,
    packets: u64,
}

impl EmulationObject {
    pub(super) fn new(
        scene: &EmulatedScene,
        report: &EmulationReport,
        exit_code: Option<u8>,
        ended_by: Option<&'static str>,
    ) -> Self {
        let host = |host: &skyhaul_emulator::HostReport| {
            let gate = &host.gate;
            let late_packets = gate.lateness.late_packets;
            (
                host.name.clone(),
                HostObject { strays: gate.strays, send_failures: gate.send_failures, late_packets },
            )
        };
        Self {
            scenario: scene.name.clone(),
            seed: scene.seed,
            elapsed_s: report.at.as_secs_f64(),
            exit_code,
            ended_by,
            links: links(report),
            hosts: report.hosts.iter().map(host).collect(),
            routers: report.routers.iter().map(|own| (own.name.clone(), own.sent.into())).collect(),
            unroutable_packets: report.unroutable_packets,
            lateness: LatenessObject::from(&report.lateness),
            processor_s: report.processor_ns as f64 / 1e9,
            warning: report.warning(),
        }
    }
}

/// All links by their names.
pub(super) fn links(report: &EmulationReport) -> BTreeMap<String, LinkObject> {
    report.links.iter().map(|link| (link.name.clone(), LinkObject::from(link))).collect()
}

impl From<&EmulatedLinkReport> for LinkObject {
    fn from(link: &EmulatedLinkReport) -> Self {
        let direction = |port: usize| DirectionObject::new(link, port);
        Self { up: link.is_up, forward: direction(0), reverse: direction(1) }
    }
}

impl DirectionObject {
    fn new(link: &EmulatedLinkReport, port: usize) -> Self {
        let counters = &link.directions[port];
        let (dropped, has_mtu) = (&counters.dropped, link.has_mtu[port]);
        Self {
            entered_packets: counters.entered_packets,
            entered_bytes: counters.entered_bytes,
            delivered_packets: counters.delivered_packets,
            delivered_bytes: counters.delivered_bytes,
            inside_packets: link.packets_inside[port],
            dropped: DroppedObject {
                queue_full: dropped.queue_full,
                early: dropped.early,
                policed: link.has_policer[port].then_some(dropped.policed),
                random_loss: dropped.random_loss,
                bit_error: dropped.bit_error,
                outage: dropped.outage,
                too_large: has_mtu.then_some(dropped.too_large),
            },
            fragmented_packets: has_mtu.then_some(counters.fragmented_packets),
            damaged_packets: counters.damaged_packets,
            duplicated_packets: counters.duplicated_packets,
            marked_packets: counters.marked_packets,
            reordered_packets: counters.reordered_packets,
            queue_bytes: counters.queue_bytes,
            max_queue_bytes: counters.max_queue_bytes,
        }
    }
}

impl From<SignalCounters> for RouterObject {
    fn from(sent: SignalCounters) -> Self {
        let SignalCounters { corruption_experienced, link_outage, link_restored } = sent;
        Self { corruption_experienced, link_outage, link_restored }
    }
}

impl From<&LatenessReport> for LatenessObject {
    fn from(lateness: &LatenessReport) -> Self {
        let ms = |ns: u64| ns as f64 / 1e6;
        let bounds = LATENESS_ROWS.iter().map(|&ns| Some(ms(ns))).chain([None]);
        let rows = bounds.zip(lateness.histogram);
        Self {
            packets: lateness.packets,
            p50_ms: ms(lateness.p50_ns),
            p99_ms: ms(lateness.p99_ns),
            p999_ms: ms(lateness.p999_ns),
            max_ms: ms(lateness.max_ns),
            share_over_1ms: lateness.late_share(),
            histogram: rows.map(|(up_to_ms, packets)| RowObject { up_to_ms, packets }).collect(),
        }
    }
}
