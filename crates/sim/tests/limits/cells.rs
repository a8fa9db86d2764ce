//! Transfers of which it is known what holds them back: others have a part of the path, or nobody else is
//! there.

use skyhaul_core::Limit;

use crate::neighbours::{Beside, Other, Run};

/// Rates of the path in kbit/s, ...
const RATES_KBPS: [u32; 3] = [5_000, 20_000, 50_000];
/// ... its delays one way in ms, ...
const DELAYS_MS: [u32; 3] = [10, 75, 300];
/// ... its queues: packets, or percent of what is under way in a round trip, ...
const QUEUES: [Queue; 4] = [Queue::Packets(10), Queue::Percent(25), Queue::Percent(100), Queue::Percent(200)];
/// ... and who was there before the transfer: a constant rate, in percent of the path's, flows of TCP, others
/// of our kind.
const OTHERS: [Neighbour; 9] = [
    Neighbour::Constant(30),
    Neighbour::Constant(50),
    Neighbour::Constant(70),
    Neighbour::Constant(90),
    Neighbour::Cubic(1),
    Neighbour::Cubic(2),
    Neighbour::Cubic(4),
    Neighbour::Own(1),
    Neighbour::Own(2),
];
/// Time that the transfer takes alone, in s.
const ALONE_S: u32 = 5;
/// Part of that, in percent, from which on others are what held a transfer back: some flows give way to it.
const HELD_PERCENT: u64 = 130;
/// Starts of the transfer, and of others of our kind, which have as much to send.
const START_MS: u32 = 6_000;
const OWN_START_MS: u32 = 5_000;

/// Time of a run from the first byte to the last, in ms.
pub(crate) fn total_ms(run: &Run) -> u64 {
    let outside = [Limit::Unwritten, Limit::Settled];
    Limit::ALL.iter().filter(|limit| !outside.contains(limit)).map(|&limit| run.spent_ms(limit)).sum()
}

#[derive(Clone, Copy, Debug)]
enum Queue {
    Packets(u32),
    Percent(u32),
}

#[derive(Clone, Copy, Debug)]
enum Neighbour {
    Constant(u32),
    Cubic(u32),
    Own(u32),
}

/// A transfer with its name in tables.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) beside: Beside,
    /// Time that it takes alone, with the opening, in ms.
    alone_ms: u64,
    /// True if others, or the sender, can be seen to wait in the queue: ten packets may be too few.
    pub(crate) is_seen: bool,
}

impl Cell {
    /// True if a run took so much longer than alone that something held it back.
    pub(crate) fn is_held_back(&self, run: &Run) -> bool {
        total_ms(run) * 100 > self.alone_ms * HELD_PERCENT
    }
}

fn queue(queue: Queue, rate_kbps: u32, delay_ms: u32) -> String {
    match queue {
        Queue::Packets(packets) => format!("{packets}packets"),
        Queue::Percent(percent) => {
            format!("{}B", (rate_kbps / 8 * 2 * delay_ms * percent / 100).max(3_000))
        }
    }
}

fn other(neighbour: Neighbour, rate_kbps: u32) -> (Other, u32) {
    match neighbour {
        Neighbour::Constant(percent) => (Other::Constant(rate_kbps * percent / 100), 400),
        Neighbour::Cubic(flows) => (Other::Tcp("cubic", flows), 400),
        Neighbour::Own(hosts) => (Other::Own(hosts, 300), OWN_START_MS),
    }
}

/// Every combination with somebody else on the path.
pub(crate) fn shared() -> impl Iterator<Item = Cell> {
    let paths = RATES_KBPS.into_iter().flat_map(|rate| DELAYS_MS.map(|delay| (rate, delay)));
    let queued = paths.flat_map(|(rate, delay)| QUEUES.map(|queue| (rate, delay, queue)));
    queued.flat_map(|path| OTHERS.map(|neighbour| shared_cell(path, neighbour)))
}

fn shared_cell((rate_kbps, delay_ms, of): (u32, u32, Queue), neighbour: Neighbour) -> Cell {
    let (other, other_ms) = other(neighbour, rate_kbps);
    let beside = Beside {
        rate_kbps,
        delay: format!("{delay_ms}ms").leak(),
        queue: queue(of, rate_kbps, delay_ms).leak(),
        noise: "",
        bytes: rate_kbps * 1000 / 8 * ALONE_S,
        start_ms: START_MS,
        other,
        other_ms,
    };
    Cell {
        name: format!("{neighbour:?} {rate_kbps} {delay_ms}ms {of:?}"),
        beside,
        alone_ms: u64::from(1000 * ALONE_S + 4 * delay_ms),
        is_seen: matches!(of, Queue::Percent(_)),
    }
}

/// What the link does by itself: name, keys of a direction.
const NOISES: [(&str, &str); 5] = [
    ("clean", ""),
    ("1 %", ", loss = 0.01"),
    ("1e-5", ", bit_error_rate = 1e-5"),
    ("bursts", ", burst_loss = { good_to_bad = 0.001, bad_to_good = 0.1, loss_good = 0, loss_bad = 1 }"),
    ("late", ", reordering = { probability = 0.05, extra_delay = \"15ms\" }"),
];

/// Every combination without anybody else.
pub(crate) fn alone() -> impl Iterator<Item = Cell> {
    let paths = RATES_KBPS.into_iter().flat_map(|rate| DELAYS_MS.map(|delay| (rate, delay)));
    let queued = paths.flat_map(|(rate, delay)| QUEUES.map(|queue| (rate, delay, queue)));
    queued.flat_map(|path| NOISES.map(|noise| alone_cell(path, noise)))
}

fn alone_cell((rate, delay, of): (u32, u32, Queue), (name, noise): (&str, &'static str)) -> Cell {
    let cell = shared_cell((rate, delay, of), Neighbour::Own(0));
    let beside = Beside { other: Other::Nobody, noise, start_ms: 0, ..cell.beside };
    Cell { name: format!("{name} {rate} {delay}ms {of:?}"), beside, ..cell }
}
