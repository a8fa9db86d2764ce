//! Metrics of relays, from the start of the run on.

use super::flows::Metrics;
use crate::relays::Relays;
use crate::run::Run;

pub(super) fn add(run: &Run<'_>, metrics: &mut Metrics) {
    for (node, host) in run.network.hosts() {
        let Some(relays) = host.app.as_any().downcast_ref::<Relays>() else { continue };
        let (name, record) = (&run.scenario.nodes[node].name, relays.record());
        for (metric, value) in [
            ("couplings", record.counters.couplings),
            ("failed", record.counters.failed),
            ("read_bytes", record.counters.read_bytes),
            ("written_bytes", record.counters.written_bytes),
            ("buffer_bytes.max", record.counters.most_bytes),
            ("holds", record.counters.holds),
        ] {
            metrics.insert(format!("relays.{name}.{metric}"), value as f64);
        }
    }
    add_hop(run, metrics);
}

/// Mean time of an octet on the hop between two relays, until the next relay read it: from its first
/// departure, and from when the relay before read it. Of a single flow, since relays do not tell flows apart.
fn add_hop(run: &Run<'_>, metrics: &mut Metrics) {
    let [flow] = &run.scenario.flows[..] else { return };
    let record = |node: usize| {
        let host = run.network.hosts().find(|(at, _)| *at == node)?.1;
        Some(host.app.as_any().downcast_ref::<Relays>()?.record())
    };
    for pair in flow.via.windows(2).filter(|_| flow.count == 1) {
        let (Some(from), Some(to)) = (record(pair[0].node), record(pair[1].node)) else { continue };
        let (Some(left_s), Some(read_s)) = (from.left.mean_s(), to.read.mean_s()) else { continue };
        if from.left.bytes == to.read.bytes {
            let name = &run.scenario.nodes[pair[1].node].name;
            metrics.insert(format!("relays.{name}.hop_ms.mean"), 1e3 * (read_s - left_s));
            let waited_s = from.read.mean_s().map(|entered_s| read_s - entered_s);
            metrics.extend(waited_s.map(|s| (format!("relays.{name}.buffer_and_hop_ms.mean"), 1e3 * s)));
        }
    }
}
