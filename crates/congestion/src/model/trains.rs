//! Trains: packets that leave back to back, so that the path spreads them to the rate that it has, whatever
//! the rate at which the rest is sent. They show that there is more to be had without filling a queue to find
//! out.

use skyhaul_core::{Instant, MS, SECOND};

use super::POLL_NS;
use super::loss_noise::HOLDS_WINDOWS;

/// Queue that a train makes at most.
const QUEUE_NS: u64 = 20 * MS;
/// Packets with fewer of which a train shows the jitter of the path, but for low rates, at which a single
/// packet takes longer than any jitter: so many leave if they make a queue of no more than this part of a
/// round trip, and two in any case. A pair is no longer than the queue that is aimed at.
const USUAL_PACKETS: u64 = 4;
const USUAL_PART: u64 = 8;
pub(super) const MIN_PACKETS: u64 = 2;
/// Packets above which a train shows nothing new.
pub(super) const MAX_PACKETS: u64 = 64;
/// Factor of more that trains must show to be worth a jump: with less they may err.
const WORTH_A_JUMP: f64 = 1.05;
/// Factor of more that two trains have to agree on, whatever those before showed: the path has become
/// another.
const WORTH_A_LEAP: f64 = 1.25;
/// Trains that have to agree.
const AGREEING: usize = 2;
/// Trains by whose spread is judged what jitter does to one.
const COMPARED: usize = 4;

/// Time between two trains at least, however short the round trip: some marks have to show the path without
/// one, and they are [`POLL_NS`] apart.
const MIN_INTERVAL_NS: u64 = 3 * POLL_NS;
/// Trains remembered: what is told now left some round trips ago.
const REMEMBERED: usize = 16;

/// Train that was sent.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    packets: u64,
    /// True if its last packet is known to have arrived.
    ended: bool,
    /// True if its loss is known.
    judged: bool,
}

impl Departure {
    /// True if it left behind the first mark of an interval and before the last, and made a queue: a pair
    /// is no longer than the one that is aimed at.
    fn is_within(&self, began_at: Instant, ended_at: Instant) -> bool {
        began_at <= self.at && self.at < ended_at && self.packets > MIN_PACKETS
    }
}

/// Departures of trains, and what the last ones showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trains {
    shown_bps: [f64; COMPARED],
    /// Rates of the last trains, the last first, whatever was made of them.
    latest_bps: [f64; COMPARED],
    /// The last first.
    departures: [Option<Departure>; REMEMBERED],
    /// Packets that the last train found room for, if it was longer.
    fitted: Option<u64>,
    /// Packets that a train may have at most, as longer ones found no room, and when that was found.
    room: Option<(Instant, u64)>,
}

impl Trains {
    /// Takes in the rate that a train showed, of which `sent_bytes` left behind a mark of `began_at`.
    pub(super) fn measured(&mut self, bps: f64, began_at: Instant, sent_bytes: u64, mss_bytes: u64) {
        self.shown_bps.rotate_right(1);
        self.shown_bps[0] = bps;
        self.latest_bps.rotate_right(1);
        self.latest_bps[0] = bps;
        let is_it = |train: &&mut Departure| train.at == began_at;
        if let Some(train) = self.departures.iter_mut().flatten().find(is_it) {
            train.ended |= sent_bytes >= (train.packets - 1) * mss_bytes;
        }
    }

    /// Rate to go to from `estimate_bps`, if the last trains agree that it is worth it: what exceeds the
    /// estimate by no more than they differ is jitter.
    pub(super) fn worth_bps(&self, estimate_bps: f64) -> Option<f64> {
        let least_bps = |trains: &[f64]| trains.iter().copied().fold(f64::INFINITY, f64::min);
        let bps = least_bps(&self.shown_bps[..AGREEING]);
        if bps > estimate_bps * WORTH_A_LEAP {
            return Some(bps);
        }
        let most_bps = self.shown_bps.iter().copied().fold(0.0, f64::max);
        let spread_bps = most_bps - least_bps(&self.shown_bps);
        Some(bps).filter(|bps| *bps > estimate_bps * WORTH_A_JUMP && bps - estimate_bps > spread_bps)
    }

    /// Rate that the last train showed, in bit/s; 0 while there was none.
    pub(super) fn latest_bps(&self) -> f64 {
        self.latest_bps[0]
    }

    /// Rate that all of the last trains showed, in bit/s; 0 while there were too few.
    pub(super) fn agreed_bps(&self) -> f64 {
        self.latest_bps.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Forgets what was shown: it is acted upon, or holds no longer.
    pub(super) fn forget(&mut self) {
        self.shown_bps = [0.0; COMPARED];
    }

    /// Forgets what the queue has room for: it may be another one.
    pub(super) fn forget_room(&mut self) {
        (self.fitted, self.room) = (None, None);
    }

    /// Time that a train takes for which the queue has room, in ns, if longer ones had none; `packet_ns`:
    /// that of a packet.
    pub(super) fn room_ns(&self, packet_ns: f64) -> Option<u64> {
        self.room.map(|(_, packets)| (packets as f64 * packet_ns) as u64)
    }

    /// True if a train left within so many round trips of 20 ms or more, and the queue may have room for it.
    pub(super) fn are_leaving(&self, now: Instant, rtts: u64, rtt_ns: u64) -> bool {
        let span_ns = rtts.saturating_mul(rtt_ns.max(POLL_NS));
        let has_room = self.room.is_none_or(|(_, packets)| packets > MIN_PACKETS);
        has_room && self.departures[0].is_some_and(|last| now.since(last.at) <= span_ns)
    }

    /// True if a train left, and made a queue, behind the first mark of an interval and before the last.
    pub(super) fn are_within(&self, began_at: Instant, ended_at: Instant) -> bool {
        self.departures.iter().flatten().any(|train| train.is_within(began_at, ended_at))
    }

    /// Takes in that so many packets are missing, beyond what is usual, of those between two marks, of which
    /// the last stands behind no train. A queue that is too short for a train takes its end, and that of the
    /// next one.
    pub(super) fn lost(&mut self, now: Instant, [began_at, ended_at]: [Instant; 2], lost_packets: u64) {
        let is_new = |train: &&mut Departure| train.is_within(began_at, ended_at) && !train.judged;
        let Some(train) = self.departures.iter_mut().flatten().find(is_new) else { return };
        train.judged = true;
        let is_cut = !train.ended && lost_packets > 0;
        let fits = is_cut.then(|| train.packets.saturating_sub(lost_packets));
        if let (Some(before), Some(fits)) = (self.fitted, fits) {
            let fits = before.max(fits);
            self.room = Some((now, self.room.map_or(fits, |(_, room)| room.min(fits))));
        }
        self.fitted = fits;
    }

    /// Packets of a train that leaves now; 0: none, as there was one a moment ago, or as the queue has no
    /// room for the shortest. `window_ns`: unit of [`HOLDS_WINDOWS`].
    pub(super) fn take(
        &mut self,
        now: Instant,
        rtt_ns: u64,
        rate_bps: f64,
        mss_bytes: u64,
        window_ns: u64,
    ) -> u32 {
        if self.departures[0].is_some_and(|last| now.since(last.at) < rtt_ns.max(MIN_INTERVAL_NS)) {
            return 0;
        }
        let is_old = |(at, _): (Instant, u64)| now.since(at) >= HOLDS_WINDOWS.saturating_mul(window_ns);
        if self.room.is_some_and(is_old) {
            self.forget_room();
        }
        let packets_in = |ns: u64| (rate_bps * ns as f64 / (8 * SECOND * mss_bytes.max(1)) as f64) as u64;
        let least = packets_in(rtt_ns / USUAL_PART).clamp(MIN_PACKETS, USUAL_PACKETS);
        // A pair is no longer than the queue that is aimed at; without any, who was pushed down stays there.
        let most = self.room.map_or(MAX_PACKETS, |(_, packets)| packets.clamp(MIN_PACKETS, MAX_PACKETS));
        if most < least {
            return 0;
        }
        let packets = packets_in(QUEUE_NS).clamp(least, most);
        self.departures.rotate_right(1);
        self.departures[0] = Some(Departure { at: now, packets, ended: false, judged: false });
        packets as u32
    }
}
