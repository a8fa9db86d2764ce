//! Model, as plain loops, of twenty senders that nothing holds but what their receivers take in advance: no
//! controller at all, repairs by RACK, over the link of [P-XCP Fig. 2] with every tenth packet lost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use skyhaul_core::{MS, SECOND, Stream};

const SENDERS: usize = 20;
const PACKET_NS: u64 = SECOND / 1300;
const QUEUE_NS: u64 = 200 * PACKET_NS;
const ROUND_TRIP_NS: u64 = 550 * MS;
/// Time after the last packet or answer when everything that is under way is lost [RFC 6298 2.4].
const TIMEOUT_NS: u64 = SECOND;
const WARM_UP_NS: u64 = 55 * SECOND;
const END_NS: u64 = 165 * SECOND;

#[derive(Debug, Default)]
struct Sender {
    /// Everything below has arrived.
    una: u64,
    next: u64,
    arrived: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    /// Packets that nothing is known of, in the order of leaving.
    under_way: BTreeMap<u64, u64>,
    times_out_ns: u64,
}

impl Sender {
    /// Packet that may leave: what is lost, lowest first, else a new one within the window.
    fn take(&mut self, window: u64) -> Option<u64> {
        while let Some(packet) = self.lost.pop_first() {
            if packet >= self.una && !self.arrived.contains(&packet) {
                return Some(packet);
            }
        }
        let may = self.next < self.una + window;
        self.next += u64::from(may);
        may.then(|| self.next - 1)
    }

    /// The packet that left as the `serial`-th one has arrived: what left before is lost.
    fn answered(&mut self, serial: u64, packet: u64) {
        let later = self.under_way.split_off(&serial);
        self.lost.extend(std::mem::replace(&mut self.under_way, later).into_values());
        self.under_way.remove(&serial);
        self.arrived.extend((packet >= self.una).then_some(packet));
        while self.arrived.remove(&self.una) {
            self.una += 1;
        }
    }

    fn time_out(&mut self) {
        self.lost.extend(std::mem::take(&mut self.under_way).into_values());
    }
}

/// What a sender hears: the answer to what left as the `n`-th packet, or its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    Answer(u64, u64),
    Timer,
}

struct Network {
    window: u64,
    senders: Vec<Sender>,
    heard: BinaryHeap<Reverse<(u64, usize, Heard)>>,
    /// When the link has sent what waits.
    free_at_ns: u64,
    packets: u64,
    chance: Stream,
}

impl Network {
    fn send(&mut self, from: usize, now_ns: u64) {
        while let Some(packet) = self.senders[from].take(self.window) {
            self.packets += 1;
            self.senders[from].under_way.insert(self.packets, packet);
            if self.free_at_ns > now_ns + QUEUE_NS {
                continue; // no room
            }
            self.free_at_ns = self.free_at_ns.max(now_ns) + PACKET_NS;
            if self.chance.below(10) > 0 {
                let answer = Heard::Answer(self.packets, packet);
                self.heard.push(Reverse((self.free_at_ns + ROUND_TRIP_NS, from, answer)));
            }
        }
        self.senders[from].times_out_ns = now_ns + TIMEOUT_NS;
        self.heard.push(Reverse((now_ns + TIMEOUT_NS, from, Heard::Timer)));
    }

    fn delivered(&self) -> u64 {
        self.senders.iter().map(|sender| sender.una).sum()
    }
}

/// Part of the link's packets that are new ones, where receivers take so many in advance.
pub(crate) fn share(window: u64) -> f64 {
    let mut network = Network {
        window,
        senders: (0..SENDERS).map(|_| Sender::default()).collect(),
        heard: (0..SENDERS).map(|from| Reverse((37 * MS * from as u64, from, Heard::Timer))).collect(),
        free_at_ns: 0,
        packets: 0,
        chance: Stream::new(1, "window"),
    };
    let mut before = None;
    while let Some(Reverse((now_ns, from, heard))) = network.heard.pop().filter(|heard| heard.0.0 < END_NS) {
        if now_ns >= WARM_UP_NS {
            before.get_or_insert(network.delivered());
        }
        let sender = &mut network.senders[from];
        match heard {
            Heard::Answer(serial, packet) => sender.answered(serial, packet),
            Heard::Timer if now_ns < sender.times_out_ns => continue,
            Heard::Timer => sender.time_out(),
        }
        network.send(from, now_ns);
    }
    let delivered = network.delivered() - before.unwrap_or(0);
    delivered as f64 * PACKET_NS as f64 / (END_NS - WARM_UP_NS) as f64
}
