//! Fabric of a network: links, routes, and the time at which each link and each host wants to act.

mod address;
mod edge;
mod form;
mod routers;
mod schedule;
mod tap;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use skyhaul_core::event::DropCause;
use skyhaul_core::{Event, EventSink, Instant, NullSink, Packet};
use skyhaul_link::Link;

pub(crate) use address::{address, node};
pub use edge::Edge;
use form::Form;
use routers::Routers;
pub use routers::SignalCounters;
use schedule::Schedule;
use tap::DropSink;
pub use tap::{LinkEnd, LinkTap};

use crate::source::{LinkSink, Source};
use skyhaul_scenario::{LinkBetween, NodeKind, Routes, Scenario};

/// Reason for which a run could not begin or cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(pub String);

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

impl RunError {
    pub(crate) fn too_many_flows(scenario: &Scenario, node: usize) -> Self {
        let name = &scenario.nodes[node].name;
        Self(format!("more than {} flows end at host {name}", skyhaul_scenario::MAX_FLOWS_PER_HOST))
    }
}

/// All links, the way through them, and when they and the hosts want to act: the links come first
/// in the schedule.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) edges: Vec<Edge>,
    pub(crate) routes: Routes,
    pub(crate) schedule: Schedule,
    pub(crate) unroutable_packets: u64,
    /// Boxes of packets that have arrived, for those to come: no more than were ever under way at a time.
    #[expect(clippy::vec_box, reason = "the boxes go out again, and what is in them stays where it is")]
    spare: Vec<Box<Packet>>,
    /// Frames that layers which repeat have taken in.
    frames: u64,
    tap: Option<Box<dyn LinkTap>>,
    /// Routers that send signals, where there are any.
    routers: Option<Box<Routers>>,
}

impl Fabric {
    pub(crate) fn new(edges: Vec<Edge>, routes: Routes) -> Self {
        Self {
            schedule: Schedule::new(edges.len()),
            edges,
            routes,
            unroutable_packets: 0,
            spare: Vec::new(),
            frames: 0,
            tap: None,
            routers: None,
        }
    }

    /// Has `tap` see every packet from now on.
    pub(crate) fn set_tap(&mut self, tap: Box<dyn LinkTap>) {
        self.tap = Some(tap);
    }

    /// Has the routers of `scenario` send the signals that it says, about simulated packets.
    pub(crate) fn set_signals(&mut self, scenario: &Scenario) {
        self.set_signals_about(scenario, Form::Segments);
    }

    fn set_signals_about(&mut self, scenario: &Scenario, form: Form) {
        self.routers = Routers::new(scenario, &mut self.edges, form).map(Box::new);
    }

    /// Frames that layers which repeat have taken in.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Number of a node in the schedule.
    pub(crate) fn component(&self, node: usize) -> usize {
        self.edges.len() + node
    }

    /// A packet sets out at node `at`.
    pub(crate) fn send(&mut self, now: Instant, at: u32, packet: Packet, sink: &mut dyn EventSink<Source>) {
        let packet = match self.spare.pop() {
            Some(mut place) => {
                *place = packet;
                place
            }
            None => Box::new(packet),
        };
        self.forward(now, at, packet, sink);
    }

    /// Keeps the box of a packet that has arrived.
    pub(crate) fn recycle(&mut self, mut packet: Box<Packet>) {
        packet.bytes = Bytes::new();
        self.spare.push(packet);
    }

    /// Hands a packet that is at node `at` to the next link on its way.
    pub(crate) fn forward(
        &mut self,
        now: Instant,
        at: u32,
        packet: Box<Packet>,
        sink: &mut dyn EventSink<Source>,
    ) {
        let Some((index, port)) = self.routes.next(at, packet.meta.to) else {
            self.unroutable_packets += 1;
            return;
        };
        if self.routers.is_some() {
            self.watch_leaving(now, [at, index], &packet, sink);
        }
        if self.tap.is_some() {
            return self.enter_in_sight(now, [index, port], packet, sink);
        }
        self.enter(now, [index, port], packet, &mut LinkSink { link: index, sink });
    }

    /// A packet enters link `index` at its port `port`.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    fn enter(
        &mut self,
        now: Instant,
        [index, port]: [u32; 2],
        packet: Box<Packet>,
        sink: &mut dyn EventSink,
    ) {
        let edge = &mut self.edges[index as usize];
        edge.enter(now, [index, port], packet, sink);
        if let Some(deadline) = edge.deadline() {
            self.schedule.hasten(index as usize, deadline);
        }
    }

    /// [`Self::enter`] where somebody looks on.
    #[cold]
    fn enter_in_sight(
        &mut self,
        now: Instant,
        [index, port]: [u32; 2],
        packet: Box<Packet>,
        sink: &mut dyn EventSink<Source>,
    ) {
        let copy = Packet::clone(&packet);
        let mut drops = DropSink { drops: Vec::new(), sink: &mut LinkSink { link: index, sink } };
        self.enter(now, [index, port], packet, &mut drops);
        if let Some(tap) = &mut self.tap {
            tap.entered(now, LinkEnd { link: index, port }, &copy, &drops.drops);
        }
    }

    /// Largest packet of the next link on the way of a packet that is at node `at`, and the end of it there.
    pub(crate) fn mtu_bytes(&self, now: Instant, at: u32, packet: &Packet) -> Option<(u32, LinkEnd)> {
        let (index, port) = self.routes.next(at, packet.meta.to)?;
        let mtu_bytes = self.edges[index as usize].link.conditions().mtu_bytes(port, now)?;
        Some((mtu_bytes, LinkEnd { link: index, port }))
    }

    /// Next packet that link `index` delivers now, with the node that it reaches and the end of the link
    /// there. If there is none, the link acts when its next one is due.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Instant, index: usize) -> Option<(u32, LinkEnd, Box<Packet>)> {
        let edge = &mut self.edges[index];
        self.frames += edge.work(now);
        let Some((port, packet)) = edge.poll(now) else {
            self.schedule.set(index, edge.deadline());
            return None;
        };
        let end = LinkEnd { link: index as u32, port };
        if let Some(tap) = &mut self.tap {
            tap.left(now, end, &packet);
        }
        Some((edge.ends[port as usize], end, packet))
    }
}

/// The links and routers of a scenario without what its hosts do: packets go in at hosts and come out at
/// hosts. What a simulation has between its hosts, to be driven by somebody else, in real time for example.
///
/// The links are those of a simulation of the same scenario and seed: outages, channels and the fates of the
/// n-th packet are the same.
#[derive(Debug)]
pub struct Middle {
    fabric: Fabric,
    is_router: Vec<bool>,
    oversized: VecDeque<OversizedPacket>,
}

/// Packets kept for [`Middle::poll_oversized`]; nobody is told of further ones.
const MAX_OVERSIZED: usize = 256;

/// A packet that was larger than a link takes.
#[derive(Clone, Debug)]
pub struct OversizedPacket {
    /// When it came to that link.
    pub at: Instant,
    /// Node that it was at.
    pub node: u32,
    /// End of that link at the node.
    pub end: LinkEnd,
    /// Largest packet of the link then.
    pub mtu_bytes: u32,
    /// The packet.
    pub packet: Packet,
}

/// Sink that notes if a link drops a packet for its size.
struct SizeSink(bool);

impl EventSink<Source> for SizeSink {
    fn emit(&mut self, _: Instant, _: Source, event: Event) {
        self.0 |= matches!(event, Event::LinkDrop { cause: DropCause::TooLarge, .. });
    }
}

impl Middle {
    /// Those of `scenario` at time zero.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, RunError> {
        let is_router = scenario.nodes.iter().map(|node| node.kind == NodeKind::Router).collect();
        let fabric = Fabric::new(edges(scenario, seed)?, Routes::new(scenario));
        Ok(Self { fabric, is_router, oversized: VecDeque::new() })
    }

    /// Has the routers of `scenario` send the signals that it says, about packets that are IP packets with
    /// their headers. Each has these two addresses; one without any says nothing.
    pub fn set_signals(&mut self, scenario: &Scenario, routers: BTreeMap<u32, (Ipv4Addr, Ipv6Addr)>) {
        self.fabric.set_signals_about(scenario, Form::Packets(routers));
    }

    /// What each router that sends signals has sent, by node number.
    pub fn signals(&self) -> impl Iterator<Item = (u32, SignalCounters)> + '_ {
        self.fabric.routers.iter().flat_map(|routers| routers.sent())
    }

    /// A packet sets out at node `at` for the host that its meta data name.
    pub fn send(&mut self, now: Instant, at: u32, packet: Packet) {
        let Some((mtu_bytes, end)) = self.fabric.mtu_bytes(now, at, &packet) else {
            self.fabric.forward(now, at, Box::new(packet), &mut NullSink);
            return;
        };
        let (mut sink, copy) = (SizeSink(false), packet.clone());
        self.fabric.forward(now, at, Box::new(packet), &mut sink);
        if sink.0 && self.oversized.len() < MAX_OVERSIZED {
            self.oversized.push_back(OversizedPacket { at: now, node: at, end, mtu_bytes, packet: copy });
        }
    }

    /// Has `tap` see every packet at the ends of links from now on.
    pub fn set_tap(&mut self, tap: Box<dyn LinkTap>) {
        self.fabric.set_tap(tap);
    }

    /// Tells the tap of a packet that no link carried: it comes out at `end` all the same.
    pub fn show(&mut self, at: Instant, end: LinkEnd, packet: &Packet) {
        if let Some(tap) = &mut self.fabric.tap {
            tap.left(at, end, packet);
        }
    }

    /// The next packet that a link dropped for its size.
    pub fn poll_oversized(&mut self) -> Option<OversizedPacket> {
        self.oversized.pop_front()
    }

    /// When [`poll`](Self::poll) is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.fabric.schedule.first().map(|(at, _)| at)
    }

    /// The next packet that has reached a host by `now`: when, which host, and the packet. Routers forward at
    /// the scheduled times, however late this is called.
    pub fn poll(&mut self, now: Instant) -> Option<(Instant, u32, Packet)> {
        loop {
            let (at, index) = self.fabric.schedule.first().filter(|&(at, _)| at <= now)?;
            if let Some(router) = index.checked_sub(self.fabric.edges.len()) {
                self.fabric.look(at, router as u32, &mut NullSink);
                continue;
            }
            let Some((node, end, packet)) = self.fabric.deliver(at, index) else { continue };
            if !self.is_router.get(node as usize).is_some_and(|is| *is) {
                return Some((at, node, *packet));
            }
            self.fabric.watch_arriving(at, (node, end), &packet, &mut NullSink);
            self.send(at, node, *packet);
        }
    }

    /// The links, in the order of the scenario.
    pub fn edges(&self) -> &[Edge] {
        &self.fabric.edges
    }

    /// Changes link `index`; `None` if there is none. Routers that wait for its end of an outage look at it.
    pub fn change<T>(
        &mut self,
        now: Instant,
        index: usize,
        change: impl FnOnce(&mut Link) -> T,
    ) -> Option<T> {
        let edge = self.fabric.edges.get_mut(index)?;
        let (done, ends) = (change(&mut edge.link), edge.ends);
        self.fabric.schedule.set(index, edge.deadline());
        for node in ends {
            self.fabric.look(now, node, &mut NullSink);
        }
        Some(done)
    }

    /// Packets for which there was no way on.
    pub fn unroutable_packets(&self) -> u64 {
        self.fabric.unroutable_packets
    }
}

/// Links of `scenario` at time zero.
pub(crate) fn edges(scenario: &Scenario, seed: u64) -> Result<Vec<Edge>, RunError> {
    let edge = |(index, spec): (usize, &LinkBetween)| Edge::new(spec, seed, index as u64);
    scenario.links.iter().enumerate().map(edge).collect()
}
