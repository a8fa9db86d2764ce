//! Layout of a run by its seed: topology, links, faults, transports, workloads.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{ArqConfig, Delivery, DirectionConfig, LinkConfig};
use skyhaul_scenario::{
    Carrier, Flow, Keep, LinkBetween, Metrics, Node, NodeKind, Scenario, Sizes, Stop, Transport, Workload,
};
use skyhaul_sim::{SEALED_STP, STP, TCP};
use skyhaul_stp::Config;

use crate::common::dice::Dice;
use crate::relays::Relays;
use crate::{faults, signals, stp_config, tcp_config};

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Its seed.
    pub(crate) seed: u64,
    /// The network with its faults.
    pub(crate) scenario: Scenario,
    /// When every link becomes a perfect one of the same delay.
    pub(crate) heal_at: Instant,
}

/// How routers are connected.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Row,
    Ring,
    Star,
}

impl Layout {
    /// The run of this seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed, "network_swarm/layout");
        let d = &mut dice;
        let heal_at = Instant::from_ns(d.scale(500, 60_000) * MS);
        let (mut nodes, ends) = topology(d);
        let mut arq_dice = Dice::new(seed, "network_swarm/arq");
        let link = |(index, ends): (usize, [usize; 2])| {
            let config = link(d, index, heal_at);
            let arq = arq(&mut arq_dice).filter(|arq| arq.validate(&config).is_ok());
            LinkBetween { config, ends, arq }
        };
        let mut links: Vec<LinkBetween> = ends.into_iter().enumerate().map(link).collect();
        let hosts: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].kind == NodeKind::Host).collect();
        let acceptors: Vec<Acceptor> = nodes.iter().map(|_| acceptor(d, &links)).collect();
        let flows = (0..d.scale(1, 6)).map(|index| flow(d, index, &hosts, &acceptors, &links));
        let mut seal_dice = Dice::new(seed, "network_swarm/seal");
        let seals = links.iter().filter_map(arq_bps).all(|bps| bps >= MIN_RATE_BPS);
        let flows: Vec<Flow> =
            flows.map(|flow| if seals { sealed(flow, &mut seal_dice) } else { flow }).collect();
        let mut signal_dice = Dice::new(seed, "network_swarm/signals");
        signals::add(&mut signal_dice, &mut nodes);
        let accepted = signals::accepted(&mut signal_dice, &nodes);
        let flows = flows.into_iter().map(|flow| signals::speaking(flow, &mut signal_dice, &accepted));
        let flows: Vec<Flow> = flows.collect();
        let mut relay_dice = Dice::new(seed, "network_swarm/relays");
        let relays = Relays::add(&mut relay_dice, &mut nodes, &mut links, heal_at);
        let flows = flows.into_iter().map(|flow| relays.split(&mut relay_dice, flow, &links)).collect();
        let scenario = Scenario {
            name: format!("seed {seed}"),
            nodes,
            links,
            flows,
            carrier: d.pick(&[Carrier::Udp, Carrier::Ip]),
            stop: Stop { duration_ns: Some(heal_at.as_ns()), ..Stop::default() },
            metrics: Metrics {
                verdicts: d.percent(20),
                series_ns: d.percent(20).then_some(SECOND),
                ladder: d.percent(20),
            },
            ..Scenario::default()
        };
        Self { seed, scenario, heal_at }
    }

    /// Least rate of a layer that repeats, of a healed link; at most [`MIN_RATE_BPS`].
    pub(crate) fn least_bps(&self) -> u64 {
        self.scenario.links.iter().filter_map(arq_bps).fold(MIN_RATE_BPS, u64::min)
    }

    /// A link in its healed form.
    pub(crate) fn healed(&self, index: usize) -> LinkConfig {
        let faulty = &self.scenario.links[index].config;
        let perfect =
            |one: &DirectionConfig| DirectionConfig { delay_ns: one.delay_ns, ..Default::default() };
        let (forward, reverse) = (perfect(&faulty.forward), perfect(&faulty.reverse));
        LinkConfig { name: faulty.name.clone(), forward, reverse, ..LinkConfig::default() }
    }
}

/// The slowest of the declared rates, in bit/s. Slower layers that repeat make queues of minutes, and a first
/// handshake is held for 30 s (`docs/spec/protection.md`, 5): no flow is sealed there.
pub(crate) const MIN_RATE_BPS: u64 = 20_000;

/// Rate of the layer that repeats above a link, once that is healed: a window each round trip.
fn arq_bps(link: &LinkBetween) -> Option<u64> {
    let ArqConfig { payload_bytes, window_pdus, .. } = link.arq?;
    let rtt_ns = link.config.forward.delay_ns + link.config.reverse.delay_ns;
    let window_bits = u64::from(payload_bytes) * u64::from(window_pdus) * 8;
    Some((window_bits * SECOND / rtt_ns.max(1)).max(1))
}

/// Up to five routers with up to six hosts at them, or two hosts at one link.
fn topology(d: &mut Dice) -> (Vec<Node>, Vec<[usize; 2]>) {
    let routers = if d.percent(15) { 0 } else { d.scale(1, 5) as usize };
    let hosts = if routers == 0 { 2 } else { d.scale(2, 6) as usize };
    let node = |kind: NodeKind, i: usize| Node { name: format!("{kind:?} {i}"), kind, signals: None };
    let nodes =
        (0..routers).map(|i| node(NodeKind::Router, i)).chain((0..hosts).map(|i| node(NodeKind::Host, i)));
    let mut ends: Vec<[usize; 2]> = match d.pick(&[Plan::Row, Plan::Ring, Plan::Star]) {
        Plan::Row => (1..routers).map(|i| [i - 1, i]).collect(),
        Plan::Ring if routers > 2 => (0..routers).map(|i| [i, (i + 1) % routers]).collect(),
        Plan::Ring | Plan::Star => (1..routers).map(|i| [0, i]).collect(),
    };
    if routers == 0 {
        ends.push([0, 1]);
    }
    ends.extend((0..hosts).filter(|_| routers > 0).map(|i| {
        let at = d.below(routers as u64) as usize;
        if d.percent(50) { [routers + i, at] } else { [at, routers + i] }
    }));
    (nodes.collect(), ends)
}

/// Most links are good, or no packet would cross five of them.
pub(crate) fn link(d: &mut Dice, index: usize, heal_at: Instant) -> LinkConfig {
    let (forward, reverse) = (faults::direction(d), faults::direction(d));
    let is_faulty = d.percent(40);
    let clean = |one: DirectionConfig| DirectionConfig {
        rate_bps: one.rate_bps,
        delay_ns: one.delay_ns / 8,
        queue: one.queue,
        ..Default::default()
    };
    let mut ways = [forward, reverse].map(|one| if is_faulty { one } else { clean(one) });
    for way in &mut ways {
        if d.percent(20) {
            faults::marking_queue(d, way);
        }
    }
    let [forward, reverse] = ways;
    LinkConfig {
        name: format!("link {index}"),
        forward,
        reverse,
        outages: if is_faulty { faults::outages(d, heal_at) } else { Vec::new() },
        channel: (is_faulty && d.percent(35)).then(|| faults::channel(d)),
    }
}

/// Nobody gives up while faults last; an acceptor whose peer is gone does at last.
pub(crate) fn config(d: &mut Dice, links: &[LinkBetween]) -> Config {
    let slowest = links.iter().filter_map(|link| link.config.forward.rate_bps).min();
    let mut config = stp_config::config(d, slowest, false);
    config.give_up_ns = Some(2_000 * SECOND);
    config.connect_give_up_ns = Some(2_000 * SECOND);
    config
}

/// Parameters of accepted connections of both protocols.
pub(crate) type Acceptor = (Config, skyhaul_tcp::Config);

pub(crate) fn acceptor(d: &mut Dice, links: &[LinkBetween]) -> Acceptor {
    (config(d, links), tcp_config::config(d, false))
}

/// A layer that repeats, above every fifth link.
fn arq(d: &mut Dice) -> Option<ArqConfig> {
    let arq = ArqConfig {
        payload_bytes: d.scale(40, 2_000) as u32,
        overhead_bytes: d.scale(1, 40) as u32,
        window_pdus: d.scale(1, 5_000) as u32,
        delivery: d.pick(&[Delivery::InOrder, Delivery::AsItComes]),
    };
    d.percent(20).then_some(arq)
}

/// The flow, of those by STP every third one under a seal.
fn sealed(flow: Flow, d: &mut Dice) -> Flow {
    let Transport { name, opener, acceptor } = &flow.transport;
    let configs = opener.get::<Config>().zip(acceptor.get::<Config>()).filter(|_| d.percent(33));
    let Some((opener, acceptor)) = configs else { return flow };
    let [opener, acceptor] = [opener, acceptor].map(|config| SEALED_STP.end(config.clone()));
    let transport = Transport { name: format!("sealed {name}"), opener, acceptor };
    Flow { transport, ..flow }
}

fn flow(d: &mut Dice, index: u64, hosts: &[usize], acceptors: &[Acceptor], links: &[LinkBetween]) -> Flow {
    let from = d.pick(hosts);
    let others: Vec<usize> = hosts.iter().copied().filter(|&host| host != from).collect();
    let to = d.pick(&others);
    let (stp, tcp_there) = acceptors[to].clone();
    let transport = if d.percent(60) {
        Transport { name: "stp".into(), opener: STP.end(config(d, links)), acceptor: STP.end(stp) }
    } else {
        Transport {
            name: "tcp".into(),
            opener: TCP.end(tcp_config::config(d, false)),
            acceptor: TCP.end(tcp_there),
        }
    };
    Flow {
        name: format!("flow {index}"),
        from,
        to,
        count: d.scale(1, 4) as u32,
        start_ns: if d.percent(60) { 0 } else { d.below(10 * SECOND) },
        weight: skyhaul_core::Weight::ONE,
        stagger_ns: d.pick(&[0, MS, SECOND]),
        transport,
        via: Vec::new(),
        end_to_end: None,
        workload: workload(d),
    }
}

fn workload(d: &mut Dice) -> Workload {
    if d.percent(35) {
        return Workload::Requests {
            request_bytes: Sizes::Fixed(d.scale(1, 5_000)),
            response_bytes: Sizes::Fixed(d.scale(1, 30_000)),
            think_ns: d.pick(&[0, 10 * MS, SECOND]),
            requests: Some(d.scale(1, 8)),
            keep: if d.percent(50) { Keep::Whole } else { Keep::WithRequest },
        };
    }
    Workload::Bulk {
        bytes: Some(d.scale(1, 200_000)),
        chunk_bytes: d.pick(&[1, 100, 1000, 1 << 14]),
        rate_bps: d.percent(25).then(|| d.scale(100_000, 10_000_000)),
    }
}
