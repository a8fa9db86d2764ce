//! The application of a simulated host: one end of each flow that begins or ends there.

mod io;
mod pattern;
mod record;
mod requests;
mod source;
mod streams;
mod web;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;

use hdrhistogram::Histogram;
use skyhaul_core::{Instant, PacketMeta, Stats, Stream, StreamEvent, US, Weight};

use crate::host::{App, ConnectionKey, Engines};
pub(crate) use io::Remote;
use io::{End, Io, Writer};
pub use pattern::{count_wrong as wrong_in_pattern, fill as fill_pattern, pattern};
pub use record::{MAX_COMPLETIONS, Record};
use requests::{Asking, Client, Server, Terms};
use skyhaul_petra::utl;
use skyhaul_scenario::{EndConfig, Keep, MAX_FLOWS_PER_HOST, Sizes, Workload};
use source::{OnOff, Steady, Supply};
use streams::{StreamReceiver, StreamSender};

/// Port of the first flow that a host accepts.
const FIRST_PORT: u16 = 4;
/// One past the last: further ones are those of openers.
const END_PORT: u16 = FIRST_PORT + MAX_FLOWS_PER_HOST as u16;

/// A flow as both its ends see it.
#[derive(Clone, Debug)]
pub(crate) struct FlowTerms {
    /// Number of the flow in its run.
    pub(crate) flow: u32,
    /// Number of its group in the scenario.
    pub(crate) group: u32,
    /// Keys the bytes of its streams.
    pub(crate) key: u64,
    pub(crate) workload: Workload,
    pub(crate) start: Instant,
    /// Of its connections, at both ends.
    pub(crate) weight: Weight,
    /// True if its engines take streams by description.
    pub(crate) is_described: bool,
    /// True if its streams go on behind what is missing.
    pub(crate) has_gaps: bool,
    /// End-to-end layer above its connections.
    pub(crate) utl: Option<utl::Config>,
    /// Random stream of the workload.
    pub(crate) stream: Stream,
}

#[derive(Debug)]
struct Slot {
    flow: u32,
    end: Box<dyn End>,
    record: Record,
    timer: Option<Instant>,
    weight: Weight,
    utl: Option<utl::Config>,
    was_done: bool,
    was_served: bool,
    /// True if packets that arrive here have their delay taken: at acceptors.
    is_acceptor: bool,
}

/// The ends of all flows at one host.
#[derive(Debug)]
pub struct Flows {
    warm_up: Instant,
    slots: Vec<Slot>,
    ports: BTreeMap<u16, usize>,
    connections: BTreeMap<ConnectionKey, usize>,
    timers: BTreeSet<(Instant, usize)>,
    unfinished: usize,
    unserved: usize,
    opened: Vec<ConnectionKey>,
    scratch: Vec<u8>,
    memory_bytes: u64,
    /// No end works any more when more is held.
    max_memory_bytes: u64,
    /// True if packets are looked into, so that streams must be written octet by octet.
    shows_octets: bool,
    /// Flows that are accepted here, in rising order.
    accepted: Vec<Accepted>,
}

/// Flows of one group, one after the other, that are accepted at one host.
#[derive(Debug)]
struct Accepted {
    group: u32,
    /// Numbers of the first, and one past that of the last.
    flows: Range<u32>,
    delays: Delays,
}

/// One-way delays of packets from openers to acceptors, in microseconds.
pub(crate) type Delays = Histogram<u32>;

impl Flows {
    /// None yet. What is read before `warm_up` is counted apart.
    pub(crate) fn new(warm_up: Instant, max_memory_bytes: u64) -> Self {
        Self {
            warm_up,
            slots: Vec::new(),
            ports: BTreeMap::new(),
            connections: BTreeMap::new(),
            timers: BTreeSet::new(),
            unfinished: 0,
            unserved: 0,
            opened: Vec::new(),
            scratch: Vec::new(),
            memory_bytes: 0,
            max_memory_bytes,
            shows_octets: false,
            accepted: Vec::new(),
        }
    }

    /// Adds the end that opens.
    pub(crate) fn open(&mut self, terms: &FlowTerms, remote: Remote, config: EndConfig) {
        let FlowTerms { key, workload, start, .. } = *terms;
        let end: Box<dyn End> = match workload {
            Workload::Requests { think_ns, requests, .. } => {
                let asking = Asking::new(transaction(key, workload), terms.stream.clone());
                Box::new(Client::new(remote, config, asking, think_ns, requests, start))
            }
            Workload::Web(load) => {
                Box::new(web::Browser::new(remote, config, key, load, terms.stream.clone(), start))
            }
            Workload::Bulk { bytes, chunk_bytes, rate_bps } => {
                let source = rate_bps.map_or(Supply::Greedy, |rate_bps| {
                    Supply::Steady(Steady::new(rate_bps, chunk_bytes, start))
                });
                Box::new(StreamSender::new(
                    remote,
                    config,
                    Writer::new(key, bytes, chunk_bytes, source).described(terms.is_described),
                    start,
                ))
            }
            Workload::OnOff { rate_bps, on_ns, off_ns, chunk_bytes } => {
                let steady = Steady::new(rate_bps, chunk_bytes, start);
                let source = Supply::OnOff(Box::new(OnOff::new(steady, on_ns, off_ns, terms.stream.clone())));
                Box::new(StreamSender::new(
                    remote,
                    config,
                    Writer::new(key, None, chunk_bytes, source).described(terms.is_described),
                    start,
                ))
            }
        };
        self.add(terms, end, false);
    }

    /// A port that no flow listens at yet; `None`: there are none left.
    pub(crate) fn next_port(&self) -> Option<u16> {
        let count = u16::try_from(self.ports.len()).ok()?;
        Some(FIRST_PORT + count).filter(|&port| port < END_PORT)
    }

    /// Adds the end that accepts at `port`.
    pub(crate) fn accept(&mut self, terms: &FlowTerms, port: u16) {
        let end: Box<dyn End> = match terms.workload {
            Workload::Requests { .. } => Box::new(Server::new(transaction(terms.key, terms.workload))),
            Workload::Web(load) => Box::new(web::Server::new(terms.key, load)),
            _ => Box::new(StreamReceiver::new(terms)),
        };
        self.ports.insert(port, self.slots.len());
        self.take_delays(terms.flow, terms.group);
        self.add(terms, end, true);
    }

    /// Has the delays of the next flow that is accepted here counted with those of its group.
    fn take_delays(&mut self, flow: u32, group: u32) {
        debug_assert!(
            self.accepted.last().is_none_or(|last| last.flows.end <= flow),
            "flows come in their order"
        );
        match self.accepted.last_mut() {
            Some(last) if (last.group, last.flows.end) == (group, flow) => last.flows.end += 1,
            _ => self.accepted.push(Accepted { group, flows: flow..flow + 1, delays: delay_histogram() }),
        }
    }

    fn add(&mut self, terms: &FlowTerms, end: Box<dyn End>, is_acceptor: bool) {
        let (index, ends) = (self.slots.len(), terms.workload.ends());
        let was_done = !ends || end.is_done();
        let was_served = !ends || end.is_served();
        self.unfinished += usize::from(!was_done);
        self.unserved += usize::from(!was_served);
        self.slots.push(Slot {
            flow: terms.flow,
            end,
            record: Record::default(),
            timer: None,
            weight: terms.weight,
            utl: terms.utl,
            was_done,
            was_served,
            is_acceptor,
        });
        self.after(index);
    }

    /// Records of all ends, with the counters of their connections: flow, true for the opener, record,
    /// counters.
    pub fn records<'a>(
        &'a self,
        engines: &'a Engines,
    ) -> impl Iterator<Item = (u32, bool, &'a Record, Stats)> {
        let mut sums: Vec<Stats> = self.slots.iter().map(|slot| slot.record.closed).collect();
        for (&id, &index) in &self.connections {
            if let Some(stats) = engines.stats(id) {
                sums[index].add(&stats);
            }
        }
        let slots = self.slots.iter().zip(sums);
        slots.map(|(slot, sum)| (slot.flow, !slot.is_acceptor, &slot.record, sum))
    }

    /// Delays of the packets that arrived at acceptors here, in microseconds, with the group of the flows.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (u32, &Delays)> {
        self.accepted.iter().map(|accepted| (accepted.group, &accepted.delays))
    }

    /// Flow and end of a connection.
    pub fn flow_of(&self, id: ConnectionKey) -> Option<(u32, bool)> {
        let slot = &self.slots[*self.connections.get(&id)?];
        Some((slot.flow, !slot.is_acceptor))
    }

    /// After `index` has worked: its timer, and whether it is done.
    fn after(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let timer = slot.end.deadline();
        if timer != slot.timer {
            if let Some(at) = slot.timer.take() {
                self.timers.remove(&(at, index));
            }
            self.timers.extend(timer.map(|at| (at, index)));
            slot.timer = timer;
        }
        if !slot.was_done && slot.end.is_done() {
            slot.was_done = true;
            self.unfinished -= 1;
        }
        // One that failed will not be served any more.
        if !slot.was_served && (slot.end.is_served() || slot.was_done) {
            slot.was_served = true;
            self.unserved -= 1;
        }
    }

    fn with(
        &mut self,
        index: usize,
        now: Instant,
        engines: &mut Engines,
        act: impl FnOnce(&mut dyn End, &mut Io<'_>),
    ) {
        let slot = &mut self.slots[index];
        let (opened, scratch, memory_bytes) = (&mut self.opened, &mut self.scratch, &mut self.memory_bytes);
        let mut io = Io {
            now,
            engines,
            record: &mut slot.record,
            warm_up: self.warm_up,
            utl: slot.utl,
            shows_octets: self.shows_octets,
            opened,
            scratch,
            memory_bytes,
        };
        act(&mut *slot.end, &mut io);
        while let Some(id) = self.opened.pop() {
            engines.set_weight(id, slot.weight);
            self.connections.insert(id, index);
        }
        self.after(index);
    }

    fn event(&mut self, now: Instant, id: ConnectionKey, event: StreamEvent, engines: &mut Engines) {
        let Some(&index) = self.connections.get(&id) else { return };
        if let Some(round_trips) = engines.layer_round_trips(id) {
            self.slots[index].record.confirm(round_trips);
        }
        self.with(index, now, engines, |end, io| end.on_event(id, event, io));
        if let StreamEvent::Closed(reason) = event {
            let record = &mut self.slots[index].record;
            if let Some(failure) = engines.layer_failure(id) {
                record.fail(&failure);
            }
            if let Some(reason) = reason {
                record.fail(&reason);
            }
            if let Some(stats) = engines.stats(id) {
                record.closed.add(&stats);
            }
            self.connections.remove(&id);
            engines.release(now, id);
        }
    }

    /// Connections that peers opened go to the end that listens at their port; false if there were none.
    fn accept_all(&mut self, now: Instant, engines: &mut Engines) -> bool {
        let mut worked = false;
        while let Some(id) = engines.accept() {
            worked = true;
            let Some(&index) = engines.local_port(id).and_then(|port| self.ports.get(&port)) else {
                engines.abort(id);
                engines.release(now, id);
                continue;
            };
            self.connections.insert(id, index);
            engines.set_weight(id, self.slots[index].weight);
            if let Some(utl) = self.slots[index].utl {
                engines.add_layer(id, utl);
            }
            self.event(now, id, StreamEvent::Readable, engines);
        }
        worked
    }
}

/// Longest delay that is told from longer ones: an hour.
const MAX_DELAY_US: u64 = 3_600_000_000;

/// Microseconds to three digits, which grows as longer ones come: most runs see a few seconds. Counters stay
/// at 2^32 - 1.
fn delay_histogram() -> Delays {
    Histogram::new(3).expect("three digits are allowed")
}

fn transaction(key: u64, workload: Workload) -> Terms {
    match workload {
        Workload::Requests { request_bytes, response_bytes, keep, .. } => {
            Terms { key, request: request_bytes, response: response_bytes, keep }
        }
        _ => Terms { key, request: Sizes::Fixed(1), response: Sizes::Fixed(1), keep: Keep::WithRequest },
    }
}

impl App for Flows {
    fn begin(&mut self, engines: &mut Engines) {
        self.ports.keys().for_each(|&port| engines.listen(port));
    }

    fn work(&mut self, now: Instant, engines: &mut Engines) -> bool {
        let mut worked = false;
        while let Some(&(at, index)) = self.timers.first() {
            if at > now || self.memory_bytes > self.max_memory_bytes {
                break;
            }
            self.timers.remove(&(at, index));
            self.slots[index].timer = None;
            self.with(index, now, engines, |end, io| end.on_timer(io));
            worked = true;
        }
        worked |= self.accept_all(now, engines);
        while let Some((id, event)) = engines.poll_event() {
            self.event(now, id, event, engines);
            worked = true;
        }
        worked
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers.first().map(|&(at, _)| at)
    }

    fn is_done(&self) -> bool {
        self.unfinished == 0
    }

    fn is_served(&self) -> bool {
        self.unserved == 0
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    fn flow(&self, id: ConnectionKey) -> u32 {
        self.flow_of(id).map_or(u32::MAX, |(flow, _)| flow)
    }

    fn show_octets(&mut self) {
        self.shows_octets = true;
    }

    fn arrived(&mut self, now: Instant, meta: &PacketMeta) {
        let place = self.accepted.partition_point(|accepted| accepted.flows.end <= meta.flow);
        let Some(accepted) = self.accepted.get_mut(place) else { return };
        if now >= self.warm_up && accepted.flows.start <= meta.flow {
            let delay_us = (now.since(meta.sent_at) / US).min(MAX_DELAY_US);
            accepted.delays.record(delay_us).expect("an hour has fewer counters than there are numbers");
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
