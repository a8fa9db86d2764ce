//! Captures: packets at the ends of links, and in virtual time what engines say of them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use skyhaul_capture::{Assembly, Direction, Heads, Inlet, Record};
use skyhaul_core::{Event, EventSink, Instant, Packet};
use skyhaul_scenario::Scenario;

use crate::fabric::{LinkEnd, LinkTap, RunError, address};
use crate::source::Source;

/// Ends of links that a capture is of, as its interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interfaces {
    names: Vec<String>,
    /// Of each link, the numbers of its ends.
    numbers: Vec<[Option<u32>; 2]>,
}

impl Interfaces {
    /// Ends of the links of `scenario`: those at the nodes and of the links that `wanted` names; all, if it
    /// names none.
    ///
    /// # Errors
    /// There is neither a node nor a link of a name.
    pub fn new(scenario: &Scenario, wanted: &[String]) -> Result<Self, RunError> {
        let nodes: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
        let links: Vec<&str> = scenario.links.iter().map(|link| link.config.name.as_str()).collect();
        let is_known = |name: &&String| nodes.contains(&name.as_str()) || links.contains(&name.as_str());
        if let Some(unknown) = wanted.iter().find(|name| !is_known(name)) {
            let (nodes, links) = (nodes.join(", "), links.join(", "));
            return Err(RunError(format!(
                "there is no node and no link '{unknown}': nodes are {nodes}; links are {links}"
            )));
        }
        let mut names = Vec::new();
        let numbers = scenario.links.iter().map(|link| {
            link.ends.map(|node| {
                let (link, node) = (&link.config.name, &scenario.nodes[node].name);
                let is_wanted = wanted.is_empty() || wanted.contains(link) || wanted.contains(node);
                is_wanted.then(|| {
                    names.push(format!("{link} at {node}"));
                    names.len() as u32 - 1
                })
            })
        });
        Ok(Self { numbers: numbers.collect(), names })
    }

    /// Their names, like `space at ship`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of an end among them, if it is one of them.
    pub fn number(&self, end: LinkEnd) -> Option<u32> {
        self.numbers.get(end.link as usize)?[end.port as usize & 1]
    }
}

/// Capture of a run in virtual time. Its time stamps count from the beginning of the run. Copies are one
/// capture.
#[derive(Clone, Debug)]
pub struct RunCapture(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    inlet: Inlet,
    interfaces: Interfaces,
    assembly: Assembly,
}

impl RunCapture {
    /// Capture by way of `inlet`, which leads to a file with these interfaces.
    pub fn new(inlet: Inlet, interfaces: Interfaces) -> Self {
        Self(Arc::new(Mutex::new(State { inlet, interfaces, assembly: Assembly::default() })))
    }

    /// The run is over: no event is to come.
    pub(crate) fn finish(&self) {
        self.with(State::settle);
    }

    fn with(&self, act: impl FnOnce(&mut State)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl State {
    /// Writes the packet that arrived last: what is to come belongs to others.
    fn settle(&mut self) {
        if let Some(record) = self.assembly.take() {
            self.inlet.put(record);
        }
    }

    fn record(&self, now: Instant, end: LinkEnd, direction: Direction, packet: &Packet) -> Option<Record> {
        let interface = self.interfaces.number(end)?;
        let (heads, bytes, events) = (heads(packet), packet.bytes.clone(), Vec::new());
        Some(Record { at_ns: now.as_ns(), interface, direction, heads: Some(heads), bytes, events })
    }
}

/// Headers of a simulated packet.
fn heads(packet: &Packet) -> Heads {
    let [source, destination]: [SocketAddr; 2] = [packet.meta.from, packet.meta.to].map(address);
    Heads { source, destination, fields: packet.meta.fields }
}

impl LinkTap for RunCapture {
    fn entered(&mut self, now: Instant, end: LinkEnd, packet: &Packet, drops: &[Event]) {
        self.with(|state| {
            state.settle();
            // A host that is not in the capture has told of it, too.
            let mut events = state.assembly.of_sent(packet.meta.id);
            events.extend_from_slice(drops);
            let record = state.record(now, end, Direction::Outbound, packet);
            if let Some(record) = record {
                state.inlet.put(Record { events, ..record });
            }
        });
    }

    fn left(&mut self, now: Instant, end: LinkEnd, packet: &Packet) {
        self.with(|state| {
            state.settle();
            if let Some(record) = state.record(now, end, Direction::Inbound, packet) {
                state.assembly.arrived(now, record);
            }
        });
    }
}

impl EventSink<Source> for RunCapture {
    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        // What links say is known to `entered`, where a packet belongs to it.
        if let Source::Engine { origin, packet, .. } = source {
            self.with(|state| state.assembly.event(now, origin.host, event, packet));
        }
    }
}
