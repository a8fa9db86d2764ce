//! Metrics of relays, from the start of the run on.

use super::flows::Metrics;
use crate::relays::Relays;
use crate::run::Run;

pub(super) fn add(run: &Run<'_>, metrics: &mut Metrics) {
    for (node, host) in run.network.hosts() {
        let Some(relays) = host.app.as_any().downcast_ref::<Relays>() else { continue };
        let (name, record) = (&run.scenario.nodes[node].name, relays.record());
        for (metric, value) in [
            ("couplings", record.couplings),
            ("failed", record.failed),
            ("read_bytes", record.read_bytes),
            ("written_bytes", record.written_bytes),
            ("buffer_bytes.max", record.most_bytes),
            ("holds", record.holds),
        ] {
            metrics.insert(format!("relays.{name}.{metric}"), value as f64);
        }
    }
}
