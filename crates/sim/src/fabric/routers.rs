//! Routers that send signals: what they see at their links, and the packets that come of it.

use std::collections::BTreeMap;

use skyhaul_core::event::RouterSignal;
use skyhaul_core::{Event, EventSink, Instant, Packet, PacketMeta, SignalNumbers};
use skyhaul_link::{Passing, SignalMessage, Signals};
use skyhaul_scenario::Scenario;

use super::form::Form;
use super::{Edge, Fabric, LinkEnd};
use crate::host::PACKETS_PER_HOST;
use crate::source::Source;

/// Signals that a router has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalCounters {
    /// Word of damage.
    pub corruption_experienced: u64,
    /// Word that a link is down.
    pub link_outage: u64,
    /// Word that it is back.
    pub link_restored: u64,
}

impl SignalCounters {
    fn count(&mut self, signal: RouterSignal) {
        *match signal {
            RouterSignal::CorruptionExperienced => &mut self.corruption_experienced,
            RouterSignal::LinkOutage => &mut self.link_outage,
            RouterSignal::LinkRestored => &mut self.link_restored,
        } += 1;
    }

    fn total(&self) -> u64 {
        self.corruption_experienced + self.link_outage + self.link_restored
    }
}

/// Router with its signals.
#[derive(Debug)]
struct Router {
    signals: Signals,
    numbers: SignalNumbers,
    sent: SignalCounters,
}

/// Routers that send signals, by node number.
#[derive(Debug)]
pub(super) struct Routers {
    all: BTreeMap<u32, Router>,
    form: Form,
}

impl Routers {
    /// Those of `scenario`, whose links are `edges`, with packets of this form; `None`: there are none. A
    /// link layer that repeats hides what its link damages.
    pub(super) fn new(scenario: &Scenario, edges: &mut [Edge], form: Form) -> Option<Self> {
        let config = |node: u32| scenario.nodes.get(node as usize)?.signals_sent();
        for edge in edges.iter_mut().filter(|edge| edge.arq.is_none()) {
            for port in [0, 1] {
                if config(edge.ends[port as usize]).is_some() {
                    edge.link.watch_damage(port);
                }
            }
        }
        let router = |node: u32| {
            let config = config(node)?;
            let (signals, numbers) = (Signals::new(config), config.numbers);
            Some((node, Router { signals, numbers, sent: SignalCounters::default() }))
        };
        let all: BTreeMap<_, _> = (0..scenario.nodes.len() as u32).filter_map(router).collect();
        (!all.is_empty()).then_some(Self { all, form })
    }

    /// What each of them has sent.
    pub(super) fn sent(&self) -> impl Iterator<Item = (u32, SignalCounters)> + '_ {
        self.all.iter().map(|(&node, router)| (node, router.sent))
    }
}

impl Router {
    /// Packet of a message of the router at `node`.
    fn packet(&mut self, now: Instant, node: u32, message: &SignalMessage, form: &Form) -> Option<Packet> {
        let mut packet = form.message(node, message, &self.numbers)?;
        packet.meta.id = u64::from(node) * PACKETS_PER_HOST + self.sent.total();
        packet.meta.sent_at = now;
        self.sent.count(message.kind);
        Some(packet)
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
            self.watch_arriving(now, (at, end), &packet, sink);
        }
        self.forward(now, at, packet, sink);
    }

    /// A packet that came out of a link is at a node.
    pub(super) fn watch_arriving(
        &mut self,
        now: Instant,
        (at, end): (u32, LinkEnd),
        packet: &Packet,
        sink: &mut dyn EventSink<Source>,
    ) {
        self.signal(now, at, Some(packet), sink, |signals, edges, passing, out| {
            let damaged = edges[end.link as usize].link.take_damaged(end.port, now);
            signals.arrived(now, end.link, damaged, passing, out);
        });
    }

    /// A packet is to leave a node by a link.
    pub(super) fn watch_leaving(
        &mut self,
        now: Instant,
        [at, link]: [u32; 2],
        packet: &Packet,
        sink: &mut dyn EventSink<Source>,
    ) {
        self.signal(now, at, Some(packet), sink, |signals, edges, passing, out| {
            signals.leaves(now, link, edges[link as usize].link.conditions(), passing, out);
        });
    }

    /// Has the router at `at` look at the links that it waits for.
    pub(crate) fn look(&mut self, now: Instant, at: u32, sink: &mut dyn EventSink<Source>) {
        self.signal(now, at, None, sink, |signals, edges, _, out| {
            let links: Vec<u32> = signals.waiting().collect();
            for link in links {
                signals.look(now, link, edges[link as usize].link.conditions(), out);
            }
        });
    }

    /// Lets the router at `at`, if it sends signals, do something about a packet, and sends what comes of it.
    fn signal(
        &mut self,
        now: Instant,
        at: u32,
        packet: Option<&Packet>,
        sink: &mut dyn EventSink<Source>,
        act: impl FnOnce(&mut Signals, &mut [Edge], Option<&Passing>, &mut Vec<SignalMessage>),
    ) {
        let Some(routers) = &mut self.routers else { return };
        let Routers { all, form } = &mut **routers;
        let Some(router) = all.get_mut(&at) else { return };
        let mut messages = Vec::new();
        let passing = packet.and_then(|packet| form.passing(packet));
        act(&mut router.signals, &mut self.edges, passing.as_ref(), &mut messages);
        let deadline = router.signals.deadline();
        let packet = |message: &SignalMessage| Some((message.kind, router.packet(now, at, message, form)?));
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
