//! Routers that send signals: what they see at their links, and the packets that come of it.

use std::collections::BTreeMap;

use bytes::Bytes;
use skyhaul_core::event::RouterSignal;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Event, EventSink, Instant, NetworkFields, Packet, PacketMeta};
use skyhaul_link::{SignalMessage, Signals};
use skyhaul_scenario::Scenario;
use skyhaul_tcp::icmp::{self, IcmpMessage, SignalNumbers};

use super::{Edge, Fabric, LinkEnd, address};
use crate::host::PACKETS_PER_HOST;
use crate::source::Source;

/// Octets of the IP header of a message.
const IP_BYTES: usize = 20;
/// Flow of messages: none of the scenario's.
const NO_FLOW: u32 = u32::MAX;

/// Router with its signals.
#[derive(Debug)]
struct Router {
    signals: Signals,
    /// Messages sent, which name the next one.
    sent: u64,
}

/// Routers that send signals, by node number.
#[derive(Debug)]
pub(super) struct Routers(BTreeMap<u32, Router>);

impl Routers {
    /// Those of `scenario`, whose links are `edges`; `None`: there are none. A link layer that repeats hides
    /// what its link damages.
    pub(super) fn new(scenario: &Scenario, edges: &mut [Edge]) -> Option<Self> {
        let config = |node: u32| scenario.nodes.get(node as usize)?.signals;
        for edge in edges.iter_mut().filter(|edge| edge.arq.is_none()) {
            for port in [0, 1] {
                if config(edge.ends[port as usize]).is_some() {
                    edge.link.watch_damage(port);
                }
            }
        }
        let router = |node: u32| Some((node, Router { signals: Signals::new(config(node)?), sent: 0 }));
        let all: BTreeMap<_, _> = (0..scenario.nodes.len() as u32).filter_map(router).collect();
        (!all.is_empty()).then_some(Self(all))
    }
}

impl Router {
    /// Packet of a message of the router at `node`.
    fn packet(&mut self, now: Instant, node: u32, message: &SignalMessage) -> Option<Packet> {
        let ip = |node: u32| address(node).ip();
        let what = match message.kind {
            RouterSignal::CorruptionExperienced => IcmpMessage::CorruptionExperienced,
            RouterSignal::LinkOutage => IcmpMessage::LinkOutage,
            RouterSignal::LinkRestored => IcmpMessage::LinkRestored,
        };
        let about = (ip(message.from_node), ip(message.to_node), message.protocol);
        let ends = [ip(node), ip(message.to)];
        let bytes = icmp::signal(&SignalNumbers::default(), what, ends, about, &message.quote)?;
        let id = u64::from(node) * PACKETS_PER_HOST + self.sent;
        self.sent += 1;
        let meta = PacketMeta {
            wire_bytes: (bytes.len() + IP_BYTES) as u32,
            fields: NetworkFields { protocol: ip_protocol::ICMP, ..NetworkFields::default() },
            flow: NO_FLOW,
            from: node,
            to: message.to,
            id,
            sent_at: now,
            ..PacketMeta::default()
        };
        Some(Packet { bytes: Bytes::from(bytes), meta })
    }
}

impl Fabric {
    /// A packet that came out of a link goes on from node `at`.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        now: Instant,
        (at, end): (u32, LinkEnd),
        packet: Box<Packet>,
        sink: &mut dyn EventSink<Source>,
    ) {
        if self.routers.is_some() {
            self.signal(now, at, sink, |signals, edges, out| {
                let link = &mut edges[end.link as usize].link;
                signals.arrived(now, end.link, link.take_damaged(end.port, now), &packet, out);
            });
        }
        self.forward(now, at, packet, sink);
    }

    /// A packet is to leave a node by a link.
    pub(super) fn watch_leaving(
        &mut self,
        now: Instant,
        [at, link]: [u32; 2],
        packet: &Packet,
        sink: &mut dyn EventSink<Source>,
    ) {
        self.signal(now, at, sink, |signals, edges, out| {
            signals.leaves(now, link, edges[link as usize].link.conditions(), packet, out);
        });
    }

    /// Has the router at `at` look at the links that it waits for.
    pub(crate) fn look(&mut self, now: Instant, at: u32, sink: &mut dyn EventSink<Source>) {
        self.signal(now, at, sink, |signals, edges, out| {
            let links: Vec<u32> = signals.waiting().collect();
            for link in links {
                signals.look(now, link, edges[link as usize].link.conditions(), out);
            }
        });
    }

    /// Lets the router at `at`, if it sends signals, do something, and sends what comes of it.
    fn signal(
        &mut self,
        now: Instant,
        at: u32,
        sink: &mut dyn EventSink<Source>,
        act: impl FnOnce(&mut Signals, &mut [Edge], &mut Vec<SignalMessage>),
    ) {
        let router = self.routers.as_mut().and_then(|routers| routers.0.get_mut(&at));
        let Some(router) = router else { return };
        let mut messages = Vec::new();
        act(&mut router.signals, &mut self.edges, &mut messages);
        let deadline = router.signals.deadline();
        let packet = |message: &SignalMessage| Some((message.kind, router.packet(now, at, message)?));
        let packets: Vec<(RouterSignal, Packet)> = messages.iter().filter_map(packet).collect();
        let component = self.component(at as usize);
        self.schedule.set(component, deadline);
        for (signal, packet) in packets {
            if sink.wants() {
                let PacketMeta { id, to, .. } = packet.meta;
                sink.emit(now, Source::Host(at), Event::Signal { packet: id, to, signal });
            }
            self.send(now, at, packet, sink);
        }
    }
}
