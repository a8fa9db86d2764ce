//! Samples over time.

use std::collections::BTreeMap;

use skyhaul_core::{Instant, SECOND, Stats};

use super::flows::flows_at;
use crate::network::Network;
use crate::relays::Relays;
use skyhaul_scenario::Scenario;

/// Samples kept; further ones are not taken.
pub const MAX_SAMPLES: usize = 1_000_000;

/// The run at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Virtual time, in seconds.
    pub at_s: f64,
    /// By name: `flows.NAME.goodput_bps` (since the sample before), `flows.NAME.cwnd_bytes`,
    /// `flows.NAME.in_flight_bytes` (sums over the group), `links.NAME.forward.utilisation` (since the sample
    /// before), `links.NAME.forward.queue_bytes`, ...
    pub values: BTreeMap<String, f64>,
}

/// Takes them.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    every_ns: u64,
    next: Instant,
    samples: Vec<Sample>,
    /// Bytes delivered at the last sample, by group.
    delivered: Vec<u64>,
    /// Bytes that had left the queue at the last sample, by link and direction.
    served: Vec<[u64; 2]>,
}

impl Series {
    pub(crate) fn every(every_ns: u64) -> Self {
        let every_ns = every_ns.max(1);
        let next = Instant::from_ns(every_ns);
        Self { every_ns, next, samples: Vec::new(), delivered: Vec::new(), served: Vec::new() }
    }

    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.samples.clone()
    }

    /// Takes a sample if it is time.
    pub(crate) fn look(&mut self, scenario: &Scenario, network: &Network) {
        if network.now() < self.next {
            return;
        }
        self.next = self.next.after(self.every_ns);
        if self.samples.len() == MAX_SAMPLES {
            self.next = Instant::MAX;
            return;
        }
        let mut values = BTreeMap::new();
        self.add_flows(scenario, network, &mut values);
        self.add_links(scenario, network, &mut values);
        add_relays(scenario, network, &mut values);
        self.samples.push(Sample { at_s: network.now().as_ns() as f64 / SECOND as f64, values });
    }

    fn add_flows(&mut self, scenario: &Scenario, network: &Network, values: &mut BTreeMap<String, f64>) {
        self.delivered.resize(scenario.flows.len(), 0);
        let mut sums = vec![(0, 0, 0, [0; 3]); scenario.flows.len()];
        let mut round_trips = vec![None; scenario.flows.len()];
        for flow in flows_at(scenario, network) {
            let sum = &mut sums[flow.group];
            sum.0 += flow.received_bytes();
            sum.1 = u64::saturating_add(sum.1, flow.opener.cwnd_bytes);
            sum.2 += flow.opener.in_flight_bytes;
            round_trips[flow.group] =
                round_trips[flow.group].max(flow.round_trips().map(|last| last.last_ns));
            let Stats { data_packets, retransmitted_packets, timeouts, .. } = flow.opener;
            sum.3 = [sum.3[0] + data_packets, sum.3[1] + retransmitted_packets, sum.3[2] + timeouts];
        }
        for (spec, last_ns) in scenario.flows.iter().zip(round_trips) {
            let name = format!("flows.{}.utl_rtt_s", spec.name);
            values.extend(last_ns.map(|last_ns| (name, last_ns as f64 / SECOND as f64)));
        }
        let seconds = self.every_ns as f64 / SECOND as f64;
        for ((spec, sum), before) in scenario.flows.iter().zip(sums).zip(&mut self.delivered) {
            let bits = (sum.0 - *before) as f64 * 8.0;
            *before = sum.0;
            values.insert(format!("flows.{}.goodput_bps", spec.name), bits / seconds);
            // A declared rate has no window.
            if sum.1 < u64::MAX {
                values.insert(format!("flows.{}.cwnd_bytes", spec.name), sum.1 as f64);
            }
            values.insert(format!("flows.{}.in_flight_bytes", spec.name), sum.2 as f64);
            values.insert(format!("flows.{}.received_bytes", spec.name), sum.0 as f64);
            for (name, value) in ["new_packets", "repeated_packets", "timeouts"].into_iter().zip(sum.3) {
                values.insert(format!("flows.{}.{name}", spec.name), value as f64);
            }
        }
    }

    fn add_links(&mut self, scenario: &Scenario, network: &Network, values: &mut BTreeMap<String, f64>) {
        let now = network.now();
        let before = Instant::from_ns(now.as_ns().saturating_sub(self.every_ns));
        let seconds = self.every_ns as f64 / SECOND as f64;
        self.served.resize(scenario.links.len(), [0; 2]);
        let edges = network.edges().iter().zip(&mut self.served);
        for (spec, (edge, served)) in scenario.links.iter().zip(edges) {
            for (port, direction) in ["forward", "reverse"].iter().enumerate() {
                let name = format!("links.{}.{direction}", spec.config.name);
                let queue_bytes = edge.link.queue_bytes(port as u32, now);
                values.insert(format!("{name}.queue_bytes"), queue_bytes as f64);
                let left_bytes = edge.counters(port as u32, now).served_bytes.saturating_sub(queue_bytes);
                let bits = left_bytes.saturating_sub(served[port]) as f64 * 8.0;
                served[port] = left_bytes;
                if let Some(rate_bps) = edge.link.conditions().mean_rate_bps(port as u32, before, now) {
                    values.insert(format!("{name}.utilisation"), bits / rate_bps / seconds);
                }
            }
        }
    }
}

fn add_relays(scenario: &Scenario, network: &Network, values: &mut BTreeMap<String, f64>) {
    for (node, host) in network.hosts() {
        let Some(relays) = host.app.as_any().downcast_ref::<Relays>() else { continue };
        let (name, record) = (&scenario.nodes[node].name, relays.record());
        values.insert(format!("relays.{name}.buffer_bytes"), relays.occupancy_bytes() as f64);
        values.insert(format!("relays.{name}.left_bytes"), record.left.bytes as f64);
    }
}
