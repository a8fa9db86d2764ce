//! The application of a simulated relay: each connection that it accepts goes on as another one.

use std::any::Any;
use std::collections::BTreeMap;

use skyhaul_core::{Instant, StreamEvent, US, Weight};
use skyhaul_petra::relay::{Bounds, Control, Coupling, Record, Side};
use skyhaul_scenario::{EndConfig, MAX_FLOWS_PER_HOST, RelayBuffer};

use crate::flows::Remote;
use crate::host::{App, ConnectionKey, Engines};

/// Port of the first flow that a relay accepts.
const FIRST_PORT: u16 = 4;

/// Way of a flow from a relay on.
#[derive(Clone, Debug)]
pub(crate) struct Onward {
    pub(crate) flow: u32,
    pub(crate) remote: Remote,
    pub(crate) config: EndConfig,
    pub(crate) buffer: RelayBuffer,
    pub(crate) weight: Weight,
}

/// Two connections that are one to the flow.
#[derive(Debug)]
struct Pair {
    flow: u32,
    near: ConnectionKey,
    far: ConnectionKey,
    coupling: Coupling,
    /// What was read of the near side.
    read: Passage,
    /// Of that, what has left for the first time.
    left: Passage,
}

/// Octets that passed a place, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// How many did.
    pub bytes: u64,
    /// Sum of their times: microseconds from the start of the run.
    pub time_sum_us: u128,
}

impl Passage {
    /// Takes in that so many have passed until now.
    fn reach(&mut self, bytes: u64, now: Instant) {
        let more = bytes.saturating_sub(self.bytes);
        self.time_sum_us += u128::from(more) * u128::from(now.as_ns() / US);
        self.bytes += more;
    }

    fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, time_sum_us: self.time_sum_us + other.time_sum_us }
    }

    /// Mean of their times, s from the start of the run; `None` if none passed.
    pub fn mean_s(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.time_sum_us as f64 / self.bytes as f64 / 1e6)
    }
}

impl Pair {
    fn key(&self, side: Side) -> ConnectionKey {
        if side == Side::Near { self.near } else { self.far }
    }

    /// Moves what can be moved.
    fn work(&mut self, now: Instant, engines: &mut Engines) {
        self.move_all(engines);
        let read_bytes = self.coupling.counters(Side::Near).read_bytes;
        self.read.reach(read_bytes, now);
        // A protocol may count its opening among what has not left.
        self.left.reach(read_bytes.saturating_sub(self.coupling.occupancy_bytes(Side::Near)), now);
    }

    fn move_all(&mut self, engines: &mut Engines) {
        let mut moves = true;
        while moves {
            moves = false;
            for side in [Side::Far, Side::Near] {
                let key = self.key(side);
                if let Some(connections) = engines.connections_of(key) {
                    moves |= self.coupling.work(side, connections, key.connection);
                }
            }
        }
    }
}

/// Measurement of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayRecord {
    /// Its counters.
    pub counters: Record,
    /// Octets that were read of connections that peers opened.
    pub read: Passage,
    /// Of these, those that have left for the first time.
    pub left: Passage,
}

/// All flows that one relay splits.
#[derive(Debug, Default)]
pub struct Relays {
    onwards: BTreeMap<u16, Onward>,
    pairs: BTreeMap<u64, Pair>,
    keys: BTreeMap<ConnectionKey, u64>,
    last_pair: u64,
    /// Of the pairs that are over.
    record: RelayRecord,
}

impl Relays {
    /// Adds a flow that goes on like this; its port here, if there is one left.
    pub(crate) fn relay(&mut self, onward: Onward) -> Option<u16> {
        let count = u16::try_from(self.onwards.len()).ok()?;
        let port = FIRST_PORT + Some(count).filter(|&count| usize::from(count) < MAX_FLOWS_PER_HOST)?;
        self.onwards.insert(port, onward);
        Some(port)
    }

    /// Measurement until now.
    pub fn record(&self) -> RelayRecord {
        self.pairs.values().fold(self.record, with)
    }

    /// Octets that wait for the next hop of what peers send that opened a connection.
    pub fn occupancy_bytes(&self) -> u64 {
        self.pairs.values().map(|pair| pair.coupling.occupancy_bytes(Side::Near)).sum()
    }

    fn accept_all(&mut self, now: Instant, engines: &mut Engines) {
        while let Some(near) = engines.accept() {
            let onward = engines.local_port(near).and_then(|port| self.onwards.get(&port));
            let far = onward.map(|onward| {
                let Remote { address, port } = onward.remote;
                (onward, engines.connect(now, address, port, &onward.config))
            });
            let Some((onward, Ok(far))) = far else {
                engines.abort(near);
                engines.release(now, near);
                continue;
            };
            engines.set_weight(near, onward.weight);
            engines.set_weight(far, onward.weight);
            self.last_pair += 1;
            let bounds = bounds(onward.buffer);
            let (coupling, none) = (Coupling::new(bounds, bounds), Passage::default());
            let pair = Pair { flow: onward.flow, near, far, coupling, read: none, left: none };
            self.keys.extend([(near, self.last_pair), (far, self.last_pair)]);
            self.pairs.insert(self.last_pair, pair);
        }
    }

    fn take_events(&mut self, engines: &mut Engines) {
        while let Some((key, event)) = engines.poll_event() {
            let pair = self.keys.get(&key).and_then(|number| self.pairs.get_mut(number));
            if let (Some(pair), StreamEvent::Closed(Some(_))) = (pair, event) {
                pair.coupling.fail();
            }
        }
    }

    /// Lets go of the pairs that are over.
    fn release_all(&mut self, now: Instant, engines: &mut Engines) {
        while let Some((&number, _)) = self.pairs.iter().find(|(_, pair)| pair.coupling.is_over()) {
            let Some(pair) = self.pairs.remove(&number) else { return };
            self.record = with(self.record, &pair);
            for key in [pair.near, pair.far] {
                if pair.coupling.has_failed() {
                    engines.abort(key);
                }
                engines.release(now, key);
                self.keys.remove(&key);
            }
        }
    }
}

fn bounds(buffer: RelayBuffer) -> Bounds {
    let RelayBuffer { threshold_bytes, size_bytes, holds } = buffer;
    Bounds { threshold_bytes, size_bytes, control: if holds { Control::Hold } else { Control::Window } }
}

/// Measurement with that of a pair.
fn with(record: RelayRecord, pair: &Pair) -> RelayRecord {
    RelayRecord {
        counters: record.counters.with(&pair.coupling),
        read: record.read.and(pair.read),
        left: record.left.and(pair.left),
    }
}

impl App for Relays {
    fn begin(&mut self, engines: &mut Engines) {
        self.onwards.keys().for_each(|&port| engines.listen(port));
    }

    /// A coupling may find something at any time.
    fn work(&mut self, now: Instant, engines: &mut Engines) -> bool {
        self.accept_all(now, engines);
        self.take_events(engines);
        self.pairs.values_mut().for_each(|pair| pair.work(now, engines));
        self.release_all(now, engines);
        true
    }

    /// True at any time: a run is over when the hosts are done.
    fn is_done(&self) -> bool {
        true
    }

    fn flow(&self, key: ConnectionKey) -> u32 {
        let pair = self.keys.get(&key).and_then(|number| self.pairs.get(number));
        pair.map_or(u32::MAX, |pair| pair.flow)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
