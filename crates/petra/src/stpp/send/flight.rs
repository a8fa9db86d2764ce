//! PDUs under way: which are confirmed, which are to go again, and when none may.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::event::Repeat;

use super::cutting::Cut;

/// PDU that was sent and is not confirmed in order.
#[derive(Clone, Debug)]
struct Sent {
    /// Empty once it is confirmed.
    payload: Vec<u8>,
    stream_octets: usize,
    is_confirmed: bool,
    /// Why it is to go again, while it is in the retransmission queue.
    queued: Option<Repeat>,
    /// Requests before this moment are about an earlier copy.
    barred_until: Instant,
    timer: Option<Instant>,
}

/// Status with its numbers expanded, of PDUs that were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report<'a> {
    pub(super) last_io: u64,
    pub(super) last_seq_no: u64,
    /// Distances from `last_io`.
    pub(super) missing: &'a [u16],
}

/// Result of a report.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    /// PDUs that are confirmed now, and were not before.
    pub(super) confirmed_pdus: u32,
    /// Octets of the stream in them.
    pub(super) confirmed_octets: u64,
    /// PDUs that go again now and were not in the queue, in rising order.
    pub(super) requested: Vec<u64>,
}

/// PDUs under way, at most a window of them.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// Number of the first one.
    first: u64,
    pdus: VecDeque<Sent>,
    /// Retransmission queue: each number at most once, of PDUs that are not confirmed.
    repeats: VecDeque<u64>,
    timers: BTreeSet<(Instant, u64)>,
    /// Octets of the stream that are not confirmed.
    unconfirmed_octets: u64,
    /// Time for which a PDU is barred after each send: `RTT_sat`. As the timer's, it begins when the last bit
    /// has left: a status may call missing what is still leaving.
    bar_ns: u64,
    timeout_ns: u64,
}

impl Flight {
    pub(super) fn new(bar_ns: u64, timeout_ns: u64) -> Self {
        Self {
            first: 1,
            pdus: VecDeque::new(),
            repeats: VecDeque::new(),
            timers: BTreeSet::new(),
            unconfirmed_octets: 0,
            bar_ns,
            timeout_ns,
        }
    }

    /// Number of the first PDU that is not confirmed in order.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Number that the next new PDU has.
    pub(super) fn next(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    /// PDUs of the window in use.
    pub(super) fn used_pdus(&self) -> usize {
        self.pdus.len()
    }

    pub(super) fn unconfirmed_octets(&self) -> u64 {
        self.unconfirmed_octets
    }

    /// First of the retransmission queue.
    pub(super) fn next_repeat(&self) -> Option<u64> {
        self.repeats.front().copied()
    }

    /// When the first timer ends.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|&(at, _)| at)
    }

    /// Payload of a PDU that is not confirmed.
    pub(super) fn payload(&self, number: u64) -> &[u8] {
        self.place(number).map_or(&[], |place| &self.pdus[place].payload)
    }

    fn place(&self, number: u64) -> Option<usize> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (place < self.pdus.len()).then_some(place)
    }

    /// Takes in a new PDU, the last bit of which has left at `left_at`; its number.
    pub(super) fn push(&mut self, cut: Cut, left_at: Instant) -> u64 {
        let number = self.next();
        let Cut { payload, stream_octets } = cut;
        self.unconfirmed_octets += stream_octets as u64;
        self.pdus.push_back(Sent {
            payload,
            stream_octets,
            is_confirmed: false,
            queued: None,
            barred_until: left_at,
            timer: None,
        });
        self.depart(number, left_at);
        number
    }

    /// Takes in that the first of the retransmission queue leaves, its last bit at `left_at`; its number, and
    /// why it goes again.
    pub(super) fn repeat(&mut self, left_at: Instant) -> Option<(u64, Repeat)> {
        let number = self.repeats.pop_front()?;
        let why = self.pdus[self.place(number)?].queued?;
        self.depart(number, left_at);
        Some((number, why))
    }

    fn depart(&mut self, number: u64, left_at: Instant) {
        let Some(place) = self.place(number) else { return };
        let timer = left_at.after(self.timeout_ns);
        let sent = &mut self.pdus[place];
        sent.queued = None;
        sent.barred_until = left_at.after(self.bar_ns);
        sent.timer = Some(timer);
        self.timers.insert((timer, number));
    }

    /// Queues the PDUs whose timers have ended; how many.
    pub(super) fn expire(&mut self, now: Instant) -> u64 {
        let mut expired = 0;
        while let Some(&(at, number)) = self.timers.first().filter(|&&(at, _)| at <= now) {
            self.timers.remove(&(at, number));
            if let Some(place) = self.place(number) {
                self.pdus[place].timer = None;
                self.queue(place, Repeat::Timer);
                expired += 1;
            }
        }
        expired
    }

    /// Takes a report in. It ends the timers of all PDUs that it shows as received, behind holes, too: they
    /// would fire there for nothing.
    pub(super) fn apply(&mut self, report: Report<'_>, now: Instant) -> Applied {
        let mut applied = Applied::default();
        while self.first <= report.last_io && !self.pdus.is_empty() {
            self.confirm(0, &mut applied);
            self.pdus.pop_front();
            self.first += 1;
        }
        let mut missing =
            report.missing.iter().map(|&distance| report.last_io + u64::from(distance)).peekable();
        for number in report.last_io + 1..=report.last_seq_no {
            let is_missing = missing.next_if_eq(&number).is_some();
            match self.place(number) {
                Some(place) if is_missing => self.request(place, now, &mut applied),
                Some(place) => self.confirm(place, &mut applied),
                None => {}
            }
        }
        self.forget_confirmed_repeats();
        self.check_invariants();
        applied
    }

    fn confirm(&mut self, place: usize, applied: &mut Applied) {
        let (number, sent) = (self.first + place as u64, &mut self.pdus[place]);
        if sent.is_confirmed {
            return;
        }
        sent.is_confirmed = true;
        sent.payload = Vec::new();
        if let Some(timer) = sent.timer.take() {
            self.timers.remove(&(timer, number));
        }
        self.unconfirmed_octets -= sent.stream_octets as u64;
        applied.confirmed_pdus += 1;
        applied.confirmed_octets += sent.stream_octets as u64;
    }

    fn request(&mut self, place: usize, now: Instant, applied: &mut Applied) {
        let sent = &self.pdus[place];
        if !sent.is_confirmed && sent.queued.is_none() && now >= sent.barred_until {
            self.queue(place, Repeat::Stat);
            applied.requested.push(self.first + place as u64);
        }
    }

    fn queue(&mut self, place: usize, why: Repeat) {
        let (number, sent) = (self.first + place as u64, &mut self.pdus[place]);
        if sent.queued.is_some() || sent.is_confirmed {
            return;
        }
        sent.queued = Some(why);
        if let Some(timer) = sent.timer.take() {
            self.timers.remove(&(timer, number));
        }
        self.repeats.push_back(number);
    }

    fn forget_confirmed_repeats(&mut self) {
        let (first, pdus) = (self.first, &self.pdus);
        self.repeats.retain(|&number| {
            let place = number.checked_sub(first).map(|place| place as usize);
            place.and_then(|place| pdus.get(place)).is_some_and(|sent| !sent.is_confirmed)
        });
    }

    /// Checks, in debug builds, that each PDU under way waits for its timer or for its turn, or is confirmed.
    fn check_invariants(&self) {
        debug_assert!(self.repeats.len() + self.timers.len() <= self.pdus.len());
        debug_assert!(
            self.pdus.iter().all(|sent| sent.is_confirmed || sent.queued.is_some() || sent.timer.is_some()),
            "a PDU that nothing repeats"
        );
    }
}
