//! Relays of a layout: leaves at its routers, two of them with a link of their own, and flows by way of them.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_petra::stpp::Config as StppConfig;
use skyhaul_scenario::{EndToEnd, Flow, LinkBetween, Node, NodeKind, RelayBuffer, Transport, Via};
use skyhaul_sim::{STP, STPP, TCP};

use crate::common::dice::Dice;
use crate::layout::{Acceptor, acceptor, config, link};
use crate::tcp_config;

/// Rate in bit/s of STPP over a link without one.
const NO_LIMIT_BPS: u64 = 50_000_000;

/// The relays of a layout.
#[derive(Clone, Debug)]
pub(crate) struct Relays {
    /// Each with what it accepts.
    relays: Vec<(usize, Acceptor)>,
    /// STPP from the first to the second, if there are two.
    stpp: Option<Transport>,
}

impl Relays {
    /// Adds up to two relays to every fourth network that has routers.
    pub(crate) fn add(
        d: &mut Dice,
        nodes: &mut Vec<Node>,
        links: &mut Vec<LinkBetween>,
        heal_at: Instant,
    ) -> Self {
        let routers = nodes.iter().filter(|node| node.kind == NodeKind::Router).count() as u64;
        let mut here = Self { relays: Vec::new(), stpp: None };
        if routers == 0 || !d.percent(25) {
            return here;
        }
        let first = nodes.len();
        for number in 0..=d.below(2) as usize {
            nodes.push(Node { name: format!("Relay {number}"), kind: NodeKind::Relay, signals: None });
            let ends = [d.below(routers) as usize, first + number];
            links.push(LinkBetween { config: link(d, links.len(), heal_at), ends, arq: None });
            here.relays.push((first + number, acceptor(d, links)));
        }
        if here.relays.len() == 2 {
            let config = link(d, links.len(), heal_at);
            let rtt_ns = config.forward.delay_ns + config.reverse.delay_ns;
            let slower = [&config.forward, &config.reverse].into_iter().filter_map(|way| way.rate_bps).min();
            links.push(LinkBetween { config, ends: [first, first + 1], arq: None });
            let [opener, acceptor] = [(); 2].map(|()| STPP.end(stpp(d, slower, rtt_ns)));
            here.stpp = Some(Transport { name: "stpp".into(), opener, acceptor });
        }
        here
    }

    /// The flow, every other one by way of the relays.
    pub(crate) fn split(&self, d: &mut Dice, flow: Flow, links: &[LinkBetween]) -> Flow {
        let Some(((first, accepts), more)) = self.relays.split_first() else { return flow };
        if !d.percent(50) {
            return flow;
        }
        let transport = hop(d, accepts, links);
        let mut onward = Vec::new();
        for (_, accepts) in more {
            let stpp = self.stpp.clone().filter(|_| d.percent(60));
            onward.push(stpp.unwrap_or_else(|| hop(d, accepts, links)));
        }
        onward.push(flow.transport.clone());
        let nodes = [*first].into_iter().chain(more.iter().map(|(node, _)| *node));
        let via =
            nodes.zip(onward).map(|(node, transport)| Via { node, transport, buffer: buffer(d) }).collect();
        Flow { transport, via, end_to_end: d.percent(30).then(|| end_to_end(d)), ..flow }
    }
}

/// A hop by TCP or STP to a relay that accepts this.
fn hop(d: &mut Dice, (stp, tcp): &Acceptor, links: &[LinkBetween]) -> Transport {
    if d.percent(50) {
        let opener = STP.end(config(d, links));
        return Transport { name: "stp hop".into(), opener, acceptor: STP.end(stp.clone()) };
    }
    let opener = TCP.end(tcp_config::config(d, false));
    Transport { name: "tcp hop".into(), opener, acceptor: TCP.end(tcp.clone()) }
}

/// An end of STPP over a link of its own, of the rate of its slower way.
fn stpp(d: &mut Dice, rate_bps: Option<u64>, rtt_ns: u64) -> StppConfig {
    StppConfig {
        payload_bytes: d.scale(20, 1_400) as u16,
        window_pdus: d.scale(4, 2_000) as u16,
        sdu_bytes: d.scale(100, 4_000) as u16,
        rate_bps: Some(rate_bps.unwrap_or(NO_LIMIT_BPS)),
        // Told too short or too long by a half.
        rtt_ns: (rtt_ns / 100 * (50 + d.below(100))).max(MS),
        status_interval_ns: d.percent(50).then(|| d.scale(rtt_ns / 16, rtt_ns).max(MS)),
        poll_percent: d.pick(&[None, Some(50), Some(90)]),
        threshold_bytes: d.scale(100, 100_000),
        receive_limit_bytes: d.scale(4_000, 1_000_000),
        max_tries: u32::MAX,
        give_up_ns: None,
        ..StppConfig::standard()
    }
}

/// Room for what a layout sends within the patience for it: a buffer goes through a hop once a round trip.
fn buffer(d: &mut Dice) -> RelayBuffer {
    let threshold_bytes = d.scale(1, 50_000);
    RelayBuffer {
        threshold_bytes,
        size_bytes: threshold_bytes + d.scale(1_000, 50_000),
        holds: d.percent(50),
    }
}

/// Batches that nobody gives up while faults last.
fn end_to_end(d: &mut Dice) -> EndToEnd {
    EndToEnd {
        batch_bytes: d.scale(100, 100_000) as u32,
        window_batches: d.scale(1, 40) as u32,
        timeout_ns: 1_000_000 * SECOND,
    }
}
