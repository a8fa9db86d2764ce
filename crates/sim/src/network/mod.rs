//! Hosts and routers, the links between them, and the event loop.

mod build;
#[cfg(test)]
mod network_tests;

use skyhaul_core::{EventSink, Instant};
use skyhaul_link::Link;
use skyhaul_scenario::{Routes, Scenario};

pub(crate) use build::build;

use crate::fabric::{Edge, Fabric, LinkTap, address};
use crate::host::{Host, Standstills};
use crate::source::Source;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All applications are done.
    Done,
    /// Nothing is left to happen, but an application waits: a deadlock.
    Stuck,
    /// The time allowed is over.
    OutOfTime,
    /// The number of events allowed is over.
    OutOfEvents,
    /// Send buffers hold more than is allowed.
    OutOfMemory,
}

/// A node.
#[derive(Debug)]
pub enum Node {
    /// An endpoint and what runs on it.
    Host(Box<Host>),
    /// Forwards each packet at once: all waiting is done in the queues of links.
    Router,
}

/// When a run ends, beside having nothing left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// The last instant.
    pub at: Instant,
    /// Ends when all applications are done.
    pub when_done: bool,
    /// Ends when all that is to be delivered has been.
    pub when_served: bool,
    /// Ends after so many events since time zero.
    pub max_events: u64,
    /// Ends when the streams of all hosts have so much in memory.
    pub max_memory_bytes: u64,
}

impl Until {
    /// When all is done, at this time at the latest.
    pub fn done_or(at: Instant) -> Self {
        Self { at, when_done: true, when_served: false, max_events: u64::MAX, max_memory_bytes: u64::MAX }
    }
}

/// A network in virtual time. Whoever wants to act first acts; at equal times links come before
/// hosts, and each in the order of their numbers.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    fabric: Fabric,
    /// Hosts that a packet reached just now, by number, the first one last. They are not in the schedule for
    /// it: there they would come first, and then go back to about where they were.
    woken: Vec<usize>,
    now: Instant,
    events: u64,
    memory_bytes: u64,
}

impl Network {
    /// A network at time zero.
    pub(crate) fn new(nodes: Vec<Node>, edges: Vec<Edge>, routes: Routes) -> Self {
        let mut fabric = Fabric::new(edges, routes);
        for (index, node) in nodes.iter().enumerate() {
            if let Node::Host(_) = node {
                fabric.schedule.set(fabric.component(index), Some(Instant::ZERO));
            }
        }
        Self { nodes, fabric, woken: Vec::new(), now: Instant::ZERO, events: 0, memory_bytes: 0 }
    }

    /// Has `tap` see every packet at the ends of links from now on.
    pub fn set_tap(&mut self, tap: Box<dyn LinkTap>) {
        self.show_octets();
        self.fabric.set_tap(tap);
    }

    /// Has the routers of `scenario` send the signals that it says.
    pub(crate) fn set_signals(&mut self, scenario: &Scenario) {
        self.fabric.set_signals(scenario);
    }

    /// Has all hosts write streams octet by octet, instead of by description where their engines take that.
    /// Results are equal. To be called before the run begins, by whoever looks into packets or damages them.
    pub fn show_octets(&mut self) {
        for node in &mut self.nodes {
            if let Node::Host(host) = node {
                host.app.show_octets();
            }
        }
    }

    /// Virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Deliveries by links and wake-ups of hosts so far.
    pub fn events(&self) -> u64 {
        self.events + self.fabric.frames()
    }

    /// Packets for which there was no way on.
    pub fn unroutable_packets(&self) -> u64 {
        self.fabric.unroutable_packets
    }

    /// The links, by number.
    pub fn edges(&self) -> &[Edge] {
        &self.fabric.edges
    }

    /// The hosts, with their node numbers.
    pub fn hosts(&self) -> impl Iterator<Item = (usize, &Host)> {
        self.nodes.iter().enumerate().filter_map(|(index, node)| match node {
            Node::Host(host) => Some((index, &**host)),
            Node::Router => None,
        })
    }

    /// The host with this node number.
    pub fn host(&self, node: usize) -> Option<&Host> {
        match self.nodes.get(node)? {
            Node::Host(host) => Some(host),
            Node::Router => None,
        }
    }

    /// Has the machine of the host with this node number stand still at these times; nothing where there is
    /// no such host.
    pub fn set_standstills(&mut self, node: usize, standstills: Standstills) {
        if let Some(Node::Host(host)) = self.nodes.get_mut(node) {
            host.set_standstills(standstills);
        }
    }

    /// Puts another link in the place of link `index`. What is inside the old one is lost with it.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn replace_link(&mut self, index: usize, link: Link) {
        self.fabric.edges[index].link = link;
        self.fabric.schedule.set(index, self.fabric.edges[index].deadline());
    }

    /// Its nodes and links, to be driven by hand.
    pub fn into_parts(self) -> (Vec<Node>, Vec<Edge>) {
        (self.nodes, self.fabric.edges)
    }

    /// Runs until `until`, or until nothing can happen.
    pub fn run(&mut self, until: Until, sink: &mut dyn EventSink<Source>) -> Ended {
        loop {
            if (until.when_done && self.is_done()) || (until.when_served && self.is_served()) {
                return Ended::Done;
            }
            let Some((at, component)) = self.next() else { return self.idle(until) };
            if at > until.at {
                self.now = self.now.max(until.at);
                return Ended::OutOfTime;
            }
            if self.events() >= until.max_events {
                return Ended::OutOfEvents;
            }
            if self.memory_bytes > until.max_memory_bytes {
                return Ended::OutOfMemory;
            }
            self.now = self.now.max(at);
            match component.checked_sub(self.fabric.edges.len()) {
                None => self.deliver(component, sink),
                Some(node) => self.work(node, sink),
            }
        }
    }

    fn is_served(&self) -> bool {
        self.hosts().all(|(_, host)| host.app.is_served())
    }

    fn is_done(&self) -> bool {
        self.hosts().all(|(_, host)| host.app.is_done())
    }

    /// Nothing will happen any more: the rest of the time passes, unless somebody waits in vain.
    fn idle(&mut self, until: Until) -> Ended {
        if !self.is_done() {
            return Ended::Stuck;
        }
        self.now = self.now.max(until.at);
        Ended::OutOfTime
    }

    /// Next actor, and its time.
    fn next(&self) -> Option<(Instant, usize)> {
        let scheduled = self.fabric.schedule.first();
        let Some(&node) = self.woken.last() else { return scheduled };
        let woken = (self.now, self.fabric.component(node));
        Some(scheduled.map_or(woken, |scheduled| scheduled.min(woken)))
    }

    fn wake(&mut self, node: usize) {
        if self.woken.last().is_none_or(|&first| node < first) {
            self.woken.push(node);
        } else if let Err(place) = self.woken.binary_search_by(|other| node.cmp(other)) {
            self.woken.insert(place, node);
        }
    }

    /// Everything that link `index` has to deliver now.
    fn deliver(&mut self, index: usize, sink: &mut dyn EventSink<Source>) {
        while let Some((at, end, packet)) = self.fabric.deliver(self.now, index) {
            self.events += 1;
            match &mut self.nodes[at as usize] {
                Node::Host(host) if packet.meta.to == at => {
                    host.receive(self.now, address(packet.meta.from), &packet, sink);
                    self.fabric.recycle(packet);
                    self.wake(at as usize);
                }
                _ => self.fabric.pass(self.now, (at, end), packet, sink),
            }
        }
    }

    fn work(&mut self, index: usize, sink: &mut dyn EventSink<Source>) {
        self.events += 1;
        self.woken.pop_if(|first| *first == index);
        let Node::Host(host) = &mut self.nodes[index] else {
            return self.fabric.look(self.now, index as u32, sink);
        };
        let (fabric, now) = (&mut self.fabric, self.now);
        let before = host.app.memory_bytes();
        host.work(now, sink, |packet, sink| fabric.send(now, index as u32, packet, sink));
        self.memory_bytes += host.app.memory_bytes().saturating_sub(before);
        fabric.schedule.set(fabric.component(index), host.deadline());
    }
}
