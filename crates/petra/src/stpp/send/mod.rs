//! Sending half of a connection: what leaves next, and what statuses make of it.

mod cutting;
mod flight;
mod polling;
#[cfg(test)]
mod send_tests;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Event, Instant, Path, RttEstimator, SECOND, Stats, Step, US, Verdict, nearest};

use super::call::Call;
use super::config::Config;
use super::pdu::{HEADER_BYTES, MODULUS, Opening, Status};
use cutting::Cutter;
use flight::{Flight, Report};
use polling::Polling;

/// Next thing that the sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SenderAction {
    /// First PDU of the retransmission queue.
    Repeat,
    /// New PDU.
    New,
    /// POLL alone, where no PDU may leave.
    Poll,
}

/// PDU with data that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) number: u64,
    /// Clock, if it polls.
    pub(super) poll: Option<u32>,
    pub(super) repeat: Option<Repeat>,
}

/// What a status has brought, for the application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// There is room to write, where there was too little.
    pub(super) has_room: bool,
    /// Everything is confirmed, the end included, for the first time.
    pub(super) has_finished: bool,
}

/// Bounds of what the peer takes.
#[derive(Clone, Copy, Debug)]
struct PeerBounds {
    payload_bytes: usize,
    window_pdus: usize,
}

/// Sending half.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    payload_bytes: usize,
    window_pdus: usize,
    send_limit_bytes: u64,
    cutter: Cutter,
    flight: Flight,
    polling: Polling,
    rate_bps: Option<u64>,
    rtt: RttEstimator,
    /// `None` until the peer has said.
    peer: Option<PeerBounds>,
    /// True while the peer wants no new data: STOP_TX.
    is_stopped: bool,
    /// True since a write that found too little room.
    is_short: bool,
    was_told_finished: bool,
}

/// Clock of a sender as PDUs carry it, µs.
fn clock(now: Instant) -> u32 {
    (now.as_ns() / US) as u32 // the lowest 32 bits
}

impl Sender {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            payload_bytes: usize::from(config.payload_bytes),
            window_pdus: usize::from(config.window_pdus),
            send_limit_bytes: config.send_limit_bytes,
            cutter: Cutter::new(config.sdu_bytes, config.sdu_header_bytes),
            flight: Flight::new(config.rtt_ns, config.timeout_ns()),
            polling: Polling::new(config.poll_percent, config.rtt_ns),
            rate_bps: config.rate_bps,
            rtt: RttEstimator::new(config.rtt_ns),
            peer: None,
            is_stopped: false,
            is_short: false,
            was_told_finished: false,
        }
    }

    /// Takes in what the peer says of itself.
    pub(super) fn meet(&mut self, opening: Opening) {
        self.peer = Some(PeerBounds {
            payload_bytes: usize::from(opening.payload_bytes),
            window_pdus: usize::from(opening.window_pdus),
        });
    }

    /// Octets taken of `data`.
    pub(super) fn write(&mut self, data: &[u8]) -> usize {
        let taken = data.len().min(usize::try_from(self.writable_bytes()).unwrap_or(usize::MAX));
        self.cutter.write(&data[..taken]);
        self.is_short |= taken < data.len();
        taken
    }

    pub(super) fn finish(&mut self) {
        self.cutter.finish();
    }

    pub(super) fn has_finished(&self) -> bool {
        self.cutter.has_finished()
    }

    /// True if everything is confirmed, the end included.
    pub(super) fn is_over(&self) -> bool {
        self.cutter.is_over() && self.flight.used_pdus() == 0
    }

    /// True if something waits for the peer.
    pub(super) fn waits(&self) -> bool {
        self.flight.used_pdus() > 0 || !self.cutter.is_empty()
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.cutter.unsent_octets() as u64 + self.flight.unconfirmed_octets()
    }

    pub(super) fn unsent_bytes(&self) -> u64 {
        self.cutter.unsent_octets() as u64
    }

    pub(super) fn writable_bytes(&self) -> u64 {
        self.send_limit_bytes.saturating_sub(self.held_bytes())
    }

    /// Counters with what the sender knows.
    pub(super) fn complete(&self, stats: &Stats) -> Stats {
        let known = self.rtt.is_known();
        Stats {
            in_flight_bytes: self.flight.unconfirmed_octets(),
            cwnd_bytes: (self.window_pdus * self.payload_bytes) as u64,
            controller: "stpp",
            rtt_min_ns: known.then(|| self.rtt.min_ns()),
            rtt_smoothed_ns: known.then(|| self.rtt.smoothed_ns()),
            ..*stats
        }
    }

    /// PDUs that may be under way.
    fn window_pdus(&self) -> usize {
        self.peer.map_or(0, |peer| peer.window_pdus.min(self.window_pdus))
    }

    /// True if a new PDU may leave as far as window and peer go.
    fn may_send_new(&self) -> bool {
        !self.is_stopped && !self.cutter.is_empty() && self.flight.used_pdus() < self.window_pdus()
    }

    /// Next data, and when the path's rate lets it leave [PETRA III-F 2]: repeats first.
    pub(super) fn next_data(&self, now: Instant, path: &Path) -> Option<Step<SenderAction>> {
        let at = path.grant().map_or(now, |grant| grant.max(now));
        if self.flight.next_repeat().is_some() {
            return Some(Step { at, action: SenderAction::Repeat });
        }
        self.may_send_new().then_some(Step { at, action: SenderAction::New })
    }

    /// Next thing to send, and when. A POLL that is due goes with data, if any is to leave.
    pub(super) fn next(&self, now: Instant, path: &Path) -> Option<Step<SenderAction>> {
        let data = self.next_data(now, path);
        data.or_else(|| Some(Step { at: self.poll_at(now, path)?, action: SenderAction::Poll }))
    }

    fn poll_at(&self, now: Instant, path: &Path) -> Option<Instant> {
        let window_pdus = self.window_pdus();
        let is_held = self.is_stopped && !self.cutter.is_empty();
        let is_short = window_pdus > 0 && self.polling.is_window_short(self.flight.used_pdus(), window_pdus);
        let at = self.polling.due(now, is_held || is_short, self.flight.used_pdus() > 0)?;
        Some(if is_held {
            at.max(self.polling.stopped_at(self.leaving_ns(0, path), path.grant()))
        } else {
            at
        })
    }

    /// Time that a PDU with so much payload takes to leave at the declared rate; 0 without one.
    fn leaving_ns(&self, payload_bytes: usize, path: &Path) -> u64 {
        let bits = u64::from(path.wire_bytes(HEADER_BYTES + payload_bytes)) * 8;
        self.rate_bps.map_or(0, |rate_bps| bits * SECOND / rate_bps.max(1))
    }

    /// When the last bit of a PDU with so much payload has left whose first one leaves now.
    fn left_at(&self, payload_bytes: usize, call: &Call<'_>) -> Instant {
        call.now.after(self.leaving_ns(payload_bytes, call.path))
    }

    /// When the next timer of a PDU ends.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.flight.next_timeout()
    }

    /// Queues what the timers want repeated.
    pub(super) fn expire(&mut self, call: &mut Call<'_>) {
        call.stats.timeouts += self.flight.expire(call.now);
    }

    /// PDU with data that leaves now; `None`: there is none.
    pub(super) fn depart(&mut self, action: SenderAction, call: &mut Call<'_>) -> Option<Outgoing> {
        let (number, repeat) = match action {
            SenderAction::Repeat => {
                let payload_bytes = self.flight.payload(self.flight.next_repeat()?).len();
                let (number, why) = self.flight.repeat(self.left_at(payload_bytes, call))?;
                (number, Some(why))
            }
            SenderAction::New => (self.depart_new(call), None),
            SenderAction::Poll => return None,
        };
        let is_due = self.poll_at(call.now, call.path).is_some_and(|at| at <= call.now);
        Some(Outgoing { number, poll: is_due.then(|| self.depart_poll(call)), repeat })
    }

    fn depart_new(&mut self, call: &mut Call<'_>) -> u64 {
        let room = call.path.max_segment_bytes().saturating_sub(HEADER_BYTES);
        let peer_bytes = self.peer.map_or(0, |peer| peer.payload_bytes);
        let cut = self.cutter.cut(self.payload_bytes.min(peer_bytes).min(room).max(1));
        debug_assert!(!cut.payload.is_empty(), "a PDU of nothing");
        let left_at = self.left_at(cut.payload.len(), call);
        self.flight.push(cut, left_at)
    }

    /// Clock of a POLL that leaves now.
    pub(super) fn depart_poll(&mut self, call: &mut Call<'_>) -> u32 {
        self.polling.on_polled(call.now);
        call.stats.polls += 1;
        clock(call.now)
    }

    /// Payload of a PDU that is not confirmed.
    pub(super) fn payload(&self, number: u64) -> &[u8] {
        self.flight.payload(number)
    }

    /// Takes a status in. `None`: it speaks of PDUs that were never sent.
    pub(super) fn on_status(&mut self, status: &Status, call: &mut Call<'_>) -> Option<Progress> {
        let last_confirmed = self.flight.first() - 1;
        let last_io = nearest(u64::from(status.last_io), last_confirmed, MODULUS);
        let last_seq_no = last_io + u64::from(status.last_seq_no.wrapping_sub(status.last_io));
        if last_seq_no >= self.flight.next() {
            return None;
        }
        self.on_echo(status.echo, call);
        if last_io < last_confirmed {
            return Some(Progress::default()); // overtaken by a later one
        }
        self.is_stopped = status.is_stopped;
        self.on_report(Report { last_io, last_seq_no, missing: status.mask.missing() }, call);
        let has_finished = self.is_over() && !self.was_told_finished;
        self.was_told_finished |= has_finished;
        let has_room = self.is_short && self.writable_bytes() > 0;
        self.is_short &= !has_room;
        Some(Progress { has_room, has_finished })
    }

    fn on_echo(&mut self, echo: Option<u32>, call: &mut Call<'_>) {
        let Some(echo) = echo else { return };
        self.polling.on_solicited();
        self.rtt.sample(u64::from(clock(call.now).wrapping_sub(echo)) * US);
        call.emit(Event::Rtt {
            sample_ns: self.rtt.latest_ns(),
            smoothed_ns: self.rtt.smoothed_ns(),
            variance_ns: self.rtt.variance_ns(),
            min_ns: self.rtt.min_ns(),
        });
    }

    fn on_report(&mut self, report: Report<'_>, call: &mut Call<'_>) {
        let applied = self.flight.apply(report, call.now);
        call.stats.acknowledged_bytes += applied.confirmed_octets;
        call.stats.count_lost(Verdict::Unknown, applied.requested.len() as u32);
        for number in applied.requested {
            call.emit(Event::Lost { first: number, end: number + 1, verdict: Verdict::Unknown });
        }
        if applied.confirmed_pdus > 0 {
            let (packets, bytes) = (applied.confirmed_pdus, applied.confirmed_octets);
            call.emit(Event::Acknowledged { next: report.last_io + 1, packets, bytes });
        }
    }
}
