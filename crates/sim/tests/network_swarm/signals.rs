//! Flows that speak SCPS-TP, and routers that send signals to them.

use skyhaul_core::{MS, SECOND};
use skyhaul_link::SignalConfig;
use skyhaul_scenario::{Flow, Node, NodeKind, Transport};
use skyhaul_sim::SCPS_TP;
use skyhaul_tcp::Config;
use skyhaul_tcp::scps::Scps;

use crate::common::dice::Dice;
use crate::tcp_config;

/// Three of four layouts have routers that send signals, most of theirs.
pub(crate) fn add(d: &mut Dice, nodes: &mut [Node]) {
    if !d.percent(75) {
        return;
    }
    for node in nodes.iter_mut().filter(|node| node.kind == NodeKind::Router) {
        node.signals = d.percent(85).then(|| signals(d));
    }
}

/// From a router that tells of every packet, over tables that overflow, to one that is late and shy.
fn signals(d: &mut Dice) -> SignalConfig {
    SignalConfig {
        damage_threshold: d.pick(&[0.0, 0.01, 0.1, 0.5]),
        damage_weight: d.pick(&[0.002, 0.02, 0.3, 1.0]),
        max_destinations: d.scale(1, 256) as u32,
        destination_age_ns: d.scale(MS, 60 * SECOND),
        outage_delay_ns: d.pick(&[0, 0, 10 * MS, SECOND]),
        restored_delay_ns: d.pick(&[0, 0, 10 * MS, 5 * SECOND]),
        interval_ns: d.scale(MS, 10 * SECOND),
        ..SignalConfig::default()
    }
}

/// What each node accepts of SCPS-TP.
pub(crate) fn accepted(d: &mut Dice, nodes: &[Node]) -> Vec<Scps> {
    nodes.iter().map(|_| scps(d)).collect()
}

/// The flow, of those by TCP most by SCPS-TP, to nodes that accept this.
pub(crate) fn speaking(flow: Flow, d: &mut Dice, accepted: &[Scps]) -> Flow {
    let Transport { name, opener, acceptor } = &flow.transport;
    let configs = opener.get::<Config>().zip(acceptor.get::<Config>()).filter(|_| d.percent(75));
    let Some((opener, acceptor)) = configs else { return flow };
    let with = |config: &Config, scps: Scps| SCPS_TP.end(Config { scps: Some(scps), ..config.clone() });
    let (opener, acceptor) = (with(opener, scps(d)), with(acceptor, accepted[flow.to].clone()));
    let transport = Transport { name: format!("scps over {name}"), opener, acceptor };
    Flow { transport, ..flow }
}

fn scps(d: &mut Dice) -> Scps {
    Scps { source_quench: d.percent(50), ..tcp_config::scps(d) }
}
