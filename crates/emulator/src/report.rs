//! Counters of an emulation.

use skyhaul_core::{Instant, MS};
use skyhaul_link::LinkCounters;
use skyhaul_net::LatenessReport;
use skyhaul_net::realtime::{Counted, GateReport};
use skyhaul_sim::SignalCounters;

use crate::middle::Ports;

/// Counters of an emulation until some moment.
#[derive(Clone, Debug)]
pub struct EmulationReport {
    /// That moment, since the start of the emulation.
    pub at: Instant,
    /// The links, in the order of the scenario.
    pub links: Vec<EmulatedLinkReport>,
    /// The attached hosts.
    pub hosts: Vec<HostReport>,
    /// The routers that send signals.
    pub routers: Vec<RouterReport>,
    /// How late packets left, at all hosts together.
    pub lateness: LatenessReport,
    /// Processor time of the thread that runs the links, in user and kernel mode.
    pub processor_ns: u64,
    /// Packets to a host that no link leads to.
    pub unroutable_packets: u64,
}

/// A link.
#[derive(Clone, Debug)]
pub struct EmulatedLinkReport {
    /// Its name.
    pub name: String,
    /// True if it is up at that moment.
    pub is_up: bool,
    /// By direction: forward, reverse.
    pub directions: [LinkCounters; 2],
    /// Packets that each direction will still deliver.
    pub packets_inside: [usize; 2],
    /// Directions that have a largest packet, or had one.
    pub has_mtu: [bool; 2],
    /// True where there is a policer, by the port at which the direction begins.
    pub has_policer: [bool; 2],
}

/// A host.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// Its name.
    pub name: String,
    /// Counters of the place where it is attached. The lateness is that of packets that it got.
    pub gate: GateReport,
}

/// A router that sends signals.
#[derive(Clone, Debug)]
pub struct RouterReport {
    /// Its name.
    pub name: String,
    /// What it has sent.
    pub sent: SignalCounters,
}

impl EmulationReport {
    pub(crate) fn new(names: &[String], ports: &Ports, counted: &Counted, at: Instant) -> Self {
        let middle = ports.middle();
        let links = middle.edges().iter().map(|edge| EmulatedLinkReport {
            name: edge.link.config().name.clone(),
            is_up: edge.link.is_up(at),
            directions: [0, 1].map(|port| edge.counters(port, at)),
            packets_inside: [0, 1].map(|port| edge.link.packets_inside(port)),
            has_mtu: [0, 1].map(|port| edge.link.conditions().has_mtu(port)),
            has_policer: [0, 1].map(|port| edge.link.config().direction(port).policer.is_some()),
        });
        let hosts =
            names.iter().zip(&counted.gates).map(|(name, &gate)| HostReport { name: name.clone(), gate });
        let routers = ports.signals().map(|(name, sent)| RouterReport { name: name.into(), sent });
        Self {
            at,
            links: links.collect(),
            hosts: hosts.collect(),
            routers: routers.collect(),
            lateness: counted.lateness,
            processor_ns: counted.processor_ns,
            unroutable_packets: middle.unroutable_packets(),
        }
    }

    /// Share of one processor that the links took.
    pub fn processor_share(&self) -> f64 {
        self.processor_ns as f64 / self.at.as_ns().max(1) as f64
    }

    /// Processor time of the links for each packet that left, in us; `None` where none did.
    pub fn processor_us_per_packet(&self) -> Option<f64> {
        let packets = self.lateness.packets;
        (packets > 0).then(|| self.processor_ns as f64 / 1e3 / packets as f64)
    }

    /// Warning if the links were not emulated exactly: more than 0.1 % of the packets missed their
    /// time by more than 1 ms.
    pub fn warning(&self) -> Option<String> {
        let lateness = &self.lateness;
        lateness.is_inexact().then(|| {
            format!(
                "this machine did not keep up: {} of {} packets ({:.2} %) left more than 1 ms after their time, up to \
                 {:.1} ms; what was measured is a worse path than the one asked for",
                lateness.late_packets,
                lateness.packets,
                100.0 * lateness.late_share(),
                lateness.max_ns as f64 / MS as f64
            )
        })
    }
}
