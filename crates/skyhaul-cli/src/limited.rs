//! Time of a transfer by what held it back: what the connection has booked, joined with what the session of
//! files did meanwhile. A part of the result (`docs/guide/json.md`).

use std::cell::RefCell;
use std::collections::VecDeque;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use skyhaul_core::{Instant, Limit, LimitTimes, SECOND};
use skyhaul_files::Event;
use skyhaul_net::{Clock, Monitor, Protocol};

use crate::processor;

/// Time of which the progress line tells.
const RECENT_NS: u64 = 3 * SECOND;
/// Looks that are kept for that: more often than it is drawn nobody looks.
const MAX_LOOKS: usize = 32;

/// Cause for which a transfer did not go faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Cause {
    Opening,
    DeclaredRate,
    PathRate,
    Neighbour,
    Losses,
    Outage,
    ReceiverWindow,
    ReceiverDisk,
    Source,
    SendBuffer,
    Machine,
    Confirmation,
    ReceiverBusy,
}

impl Cause {
    const COUNT: usize = Self::ReceiverBusy as usize + 1;
    const ALL: [Self; Self::COUNT] = [
        Self::Opening,
        Self::DeclaredRate,
        Self::PathRate,
        Self::Neighbour,
        Self::Losses,
        Self::Outage,
        Self::ReceiverWindow,
        Self::ReceiverDisk,
        Self::Source,
        Self::SendBuffer,
        Self::Machine,
        Self::Confirmation,
        Self::ReceiverBusy,
    ];

    /// Name in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::DeclaredRate => "declared_rate",
            Self::PathRate => "path_rate",
            Self::Neighbour => "neighbour",
            Self::Losses => "losses",
            Self::Outage => "outage",
            Self::ReceiverWindow => "receiver_window",
            Self::ReceiverDisk => "receiver_disk",
            Self::Source => "source",
            Self::SendBuffer => "send_buffer",
            Self::Machine => "machine",
            Self::Confirmation => "confirmation",
            Self::ReceiverBusy => "receiver_busy",
        }
    }

    /// Cause that a limit of the connection amounts to while the session reads no files.
    const fn of(limit: Limit) -> Self {
        match limit {
            Limit::Settled | Limit::PeerReader => Self::ReceiverDisk,
            Limit::Drained => Self::Confirmation,
            Limit::Unwritten | Limit::Opening => Self::Opening,
            Limit::DeclaredRate => Self::DeclaredRate,
            Limit::PathRate => Self::PathRate,
            Limit::Neighbour => Self::Neighbour,
            Limit::Losses | Limit::Overflow => Self::Losses,
            Limit::Asking | Limit::Outage => Self::Outage,
            Limit::PeerWindow => Self::ReceiverWindow,
            Limit::SendBuffer => Self::SendBuffer,
            Limit::Machine => Self::Machine,
        }
    }
}

/// Time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitedBy {
    ns: [u64; Cause::COUNT],
    /// Both ends are on this machine.
    is_within: bool,
}

impl LimitedBy {
    /// Causes with their seconds, the longest first.
    pub(crate) fn ranked(&self) -> Vec<(Cause, f64)> {
        let mut ranked: Vec<_> = Cause::ALL.into_iter().map(|cause| (cause, self.seconds(cause))).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        ranked
    }

    pub(crate) fn seconds(&self, cause: Cause) -> f64 {
        self.ns[cause as usize] as f64 / SECOND as f64
    }

    /// All of the time, in seconds.
    pub(crate) fn total_s(&self) -> f64 {
        self.ns.iter().sum::<u64>() as f64 / SECOND as f64
    }

    /// The same, after `ns` in which the standard input was read.
    pub(crate) fn after_reading(mut self, ns: u64) -> Self {
        self.add(Cause::Source, ns);
        self
    }

    /// The same, after `ns` in which the receiver had no room for the transfer.
    pub(crate) fn after_waiting(mut self, ns: u64) -> Self {
        self.add(Cause::ReceiverBusy, ns);
        self
    }

    /// The same for a path within this machine on which nothing is emulated: what it carries, and every delay
    /// on it, is up to the machine.
    pub(crate) fn within_machine(mut self) -> Self {
        for cause in [Cause::PathRate, Cause::Neighbour, Cause::Outage] {
            let ns = std::mem::take(&mut self.ns[cause as usize]);
            self.add(Cause::Machine, ns);
        }
        self.is_within = true;
        self
    }

    /// True if both ends are on this machine.
    pub(crate) fn is_within_machine(&self) -> bool {
        self.is_within
    }

    /// The same where the sender was ready to run for `ns` and had no processor: what is late at either end
    /// looks like a queue of others. What was not booked so already is taken from them; the path's rate may
    /// have been used all the same.
    fn without_processor(mut self, ns: u64) -> Self {
        let left_ns = ns.saturating_sub(self.ns[Cause::Machine as usize]);
        let taken_ns = left_ns.min(self.ns[Cause::Neighbour as usize]);
        self.ns[Cause::Neighbour as usize] -= taken_ns;
        self.add(Cause::Machine, taken_ns);
        self
    }

    fn add(&mut self, cause: Cause, ns: u64) {
        self.ns[cause as usize] += ns;
    }

    fn since(&self, before: &Self) -> Self {
        // Whose the time of questions was may turn out later.
        let ns = std::array::from_fn(|cause| self.ns[cause].saturating_sub(before.ns[cause]));
        Self { ns, ..*self }
    }
}

/// Account of a sender for its result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    /// Time by cause, from the first write on.
    pub(crate) by: Option<LimitedBy>,
    /// Time until the standard input had ended, before that, if it was read.
    pub(crate) read_ns: Option<u64>,
}

impl Serialize for LimitedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Cause::COUNT))?;
        for cause in Cause::ALL {
            map.serialize_entry(cause.name(), &self.seconds(cause))?;
        }
        map.end()
    }
}

/// Log of what holds a sending session back.
pub(crate) struct LimitLog<P: Protocol> {
    monitor: Monitor<P>,
    clock: Clock,
    notes: RefCell<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    /// When the session began, and what the connection had booked then.
    begun: Option<(Instant, LimitTimes)>,
    /// Table when the session began to read, while it does.
    reading: Option<LimitTimes>,
    /// Time in which the connection was idle or late because of that.
    read: Idle,
    /// Table as last booked when the connection was last looked at.
    latest: Option<LimitTimes>,
    /// Table as last booked when the result of a file was last known.
    settled: Option<LimitTimes>,
    /// Waiting for a processor when the session began, and when the result of a file was last known.
    waited_ns: [Option<u64>; 2],
    recent: VecDeque<(Instant, LimitedBy)>,
}

/// Time in which a connection has nothing to send, or its driver does not run.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    unwritten_ns: u64,
    settled_ns: u64,
    drained_ns: u64,
    machine_ns: u64,
}

impl Idle {
    fn between(before: &LimitTimes, after: &LimitTimes) -> Self {
        let passed = |limit| after.spent_ns(limit).saturating_sub(before.spent_ns(limit));
        Self {
            unwritten_ns: passed(Limit::Unwritten),
            settled_ns: passed(Limit::Settled),
            drained_ns: passed(Limit::Drained),
            machine_ns: passed(Limit::Machine),
        }
    }

    fn add(&mut self, other: Self) {
        self.unwritten_ns += other.unwritten_ns;
        self.settled_ns += other.settled_ns;
        self.drained_ns += other.drained_ns;
        self.machine_ns += other.machine_ns;
    }
}

impl Notes {
    /// Takes an event at `now`, when the connection had booked this.
    fn observe(&mut self, event: &Event<'_>, booked: LimitTimes, now: Instant) {
        match event {
            Event::Started { .. } => self.begun = Some((now, booked)),
            Event::Settled { .. } => self.settled = Some(booked),
            Event::Reading => self.reading = Some(booked.until(now)),
            Event::Read => {
                if let Some(before) = self.reading.take() {
                    self.read.add(Idle::between(&before, &booked.until(now)));
                }
            }
            _ => {}
        }
        self.latest = Some(booked);
    }

    /// Table for a result: of a session that is confirmed as it was then, though it takes longer to end.
    fn table(&self, is_confirmed: bool, now: Option<LimitTimes>) -> Option<LimitTimes> {
        self.settled.filter(|_| is_confirmed).or(now).or(self.latest)
    }

    /// Time by cause from the begin until the end of `table`.
    fn causes(&self, table: &LimitTimes) -> Option<LimitedBy> {
        let begun = self.begun.map(|(at, booked)| booked.until(at))?;
        let mut by = LimitedBy::default();
        for limit in Limit::ALL {
            by.add(Cause::of(limit), table.spent_ns(limit).saturating_sub(begun.spent_ns(limit)));
        }
        let mut read = self.read;
        if let Some(before) = &self.reading {
            read.add(Idle::between(before, table)); // it reads still
        }
        for (cause, ns) in [
            (Cause::Opening, read.unwritten_ns),
            (Cause::ReceiverDisk, read.settled_ns),
            (Cause::Confirmation, read.drained_ns),
            (Cause::Machine, read.machine_ns),
        ] {
            by.ns[cause as usize] = by.ns[cause as usize].saturating_sub(ns);
            by.add(Cause::Source, ns);
        }
        Some(by)
    }

    /// The cause of most of the recent time.
    fn recent(&mut self, now: Instant, table: &LimitTimes) -> Option<Cause> {
        let causes = self.causes(table)?;
        self.recent.push_back((now, causes));
        while self.recent.len() > MAX_LOOKS
            || self.recent.get(1).is_some_and(|&(at, _)| now.since(at) >= RECENT_NS)
        {
            self.recent.pop_front();
        }
        let (_, before) = self.recent.front()?;
        causes.since(before).ranked().first().filter(|(_, seconds)| *seconds > 0.0).map(|(cause, _)| *cause)
    }
}

impl<P: Protocol> LimitLog<P> {
    /// Log of the connection that `monitor` looks at.
    pub(crate) fn new(monitor: Monitor<P>, clock: Clock) -> Self {
        Self { monitor, clock, notes: RefCell::default() }
    }

    /// Table of the connection as last booked; `None`: its protocol keeps none, or it is gone.
    fn booked(&self) -> Option<LimitTimes> {
        self.monitor.stats()?.limits
    }

    /// Takes what the sending session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        let tells =
            matches!(event, Event::Started { .. } | Event::Reading | Event::Read | Event::Settled { .. });
        if tells && let Some(booked) = self.booked() {
            let mut notes = self.notes.borrow_mut();
            notes.observe(event, booked, self.clock.now());
            match event {
                Event::Started { .. } => notes.waited_ns[0] = processor::waited_ns(),
                Event::Settled { .. } => notes.waited_ns[1] = processor::waited_ns(),
                _ => {}
            }
        }
    }

    /// What held the transfer back of late, in words for the progress line.
    pub(crate) fn doing(&self) -> Option<&'static str> {
        let booked = self.booked()?;
        let (mut notes, now) = (self.notes.borrow_mut(), self.clock.now());
        notes.latest = Some(booked);
        notes.recent(now, &booked.until(now)).map(crate::why::doing)
    }

    /// Time by cause from the session's begin until it was `confirmed_at`; until now, if it was not.
    pub(crate) fn finish(
        &self,
        started_at: Option<Instant>,
        confirmed_at: Option<Instant>,
    ) -> Option<LimitedBy> {
        let now = confirmed_at.is_none().then(|| self.booked()).flatten();
        let mut notes = self.notes.borrow_mut();
        if let Some(((begun_at, _), at)) = notes.begun.as_mut().zip(started_at) {
            *begun_at = at; // as others have it
        }
        let end = confirmed_at.unwrap_or_else(|| self.clock.now());
        let causes = notes.causes(&notes.table(confirmed_at.is_some(), now)?.until(end))?;
        let [begun_ns, settled_ns] = notes.waited_ns;
        let ended_ns = settled_ns.filter(|_| confirmed_at.is_some()).or_else(processor::waited_ns);
        let waited_ns = begun_ns.zip(ended_ns).map_or(0, |(begun, ended)| ended.saturating_sub(begun));
        Some(causes.without_processor(waited_ns))
    }
}

/// Tables for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// Table of these milliseconds.
    pub(crate) fn table(ms: &[(Cause, u64)]) -> LimitedBy {
        let mut by = LimitedBy::default();
        for &(cause, ms) in ms {
            by.add(cause, ms * skyhaul_core::MS);
        }
        by
    }
}

#[cfg(test)]
mod tests {
    use super::samples::table;
    use super::*;
    use skyhaul_core::MS;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * MS)
    }

    const STARTED: Event<'_> = Event::Started { files: 1, bytes: 1 };

    #[test]
    fn what_passes_after_the_last_result_is_not_of_the_transfer() {
        let (mut notes, mut limits) = (Notes::default(), LimitTimes::new(at(0)));
        notes.observe(&STARTED, limits, at(0));
        limits.rest(at(0), Limit::PathRate, None);
        limits.rest(at(500), Limit::Drained, None);
        let name = skyhaul_files::RawName::new(b"file".to_vec());
        let report = skyhaul_files::FileReport::unfinished(name, 1, skyhaul_files::Side::Sender);
        notes.observe(&Event::Settled { file: 0, report: &report }, limits, at(560));
        // The refused file is dropped, and the receiver's farewell is waited for.
        limits.rest(at(600), Limit::Drained, None);
        let later = limits.until(at(1100));
        notes.latest = Some(later);
        let total_s = |is_confirmed| {
            let table = notes.table(is_confirmed, Some(later)).unwrap();
            notes.causes(&table.until(at(560))).unwrap().total_s()
        };
        assert_eq!((total_s(true), total_s(false)), (0.56, 1.1));
    }

    #[test]
    fn what_is_idle_or_late_while_files_are_read_waits_for_them() {
        let (mut notes, mut limits) = (Notes::default(), LimitTimes::new(at(0)));
        notes.observe(&STARTED, limits, at(5));
        notes.observe(&Event::Reading, limits, at(5));
        notes.observe(&Event::Read, limits, at(25));
        limits.rest(at(25), Limit::PathRate, Some(at(26)));
        notes.observe(&Event::Reading, limits, at(25));
        notes.observe(&Event::Read, limits, at(136));
        limits.rest(at(136), Limit::Drained, None);
        limits.rest(at(146), Limit::Settled, None);
        let by = notes.causes(&limits.until(at(150)));
        let expected = [
            (Cause::Source, 120),
            (Cause::PathRate, 11),
            (Cause::Confirmation, 10),
            (Cause::ReceiverDisk, 4),
        ];
        assert_eq!(by, Some(table(&expected)), "to the nanosecond, from the begin of the session");
    }

    #[test]
    fn the_line_tells_of_the_last_seconds() {
        let (mut notes, mut limits) = (Notes::default(), LimitTimes::new(at(0)));
        notes.observe(&STARTED, limits, at(0));
        limits.rest(at(0), Limit::PathRate, None);
        for look in 0..100 {
            assert_eq!(
                notes.recent(at(look * 200), &limits.until(at(look * 200))),
                (look > 0).then_some(Cause::PathRate)
            );
        }
        limits.rest(at(20_000), Limit::PeerReader, None);
        assert_eq!(notes.recent(at(21_000), &limits.until(at(21_000))), Some(Cause::PathRate));
        assert_eq!(notes.recent(at(23_000), &limits.until(at(23_000))), Some(Cause::ReceiverDisk));
        assert!(notes.recent.len() <= MAX_LOOKS);
    }

    #[test]
    fn within_a_machine_it_is_the_path() {
        let by = table(&[(Cause::PathRate, 800), (Cause::Neighbour, 20), (Cause::Source, 5)]);
        let within = table(&[(Cause::Machine, 820), (Cause::Source, 5)]);
        assert_eq!(by.within_machine(), LimitedBy { is_within: true, ..within });
    }

    #[test]
    fn waiting_for_a_processor_is_this_machine_and_no_neighbour() {
        let by =
            [(Cause::PathRate, 500), (Cause::Neighbour, 200), (Cause::Machine, 100), (Cause::Losses, 50)];
        let after = |ms| table(&by).without_processor(ms * MS);
        assert_eq!(after(80), table(&by), "it was booked already");
        let moved = |neighbour, machine| {
            let others = [(Cause::Neighbour, neighbour), (Cause::Machine, machine)];
            table(&[&others[..], &[(Cause::PathRate, 500), (Cause::Losses, 50)]].concat())
        };
        assert_eq!(after(150), moved(150, 150));
        assert_eq!(after(9_000), moved(0, 300));
    }

    #[test]
    fn in_json_every_cause_stands_and_their_sum_is_the_time() {
        let by =
            table(&[(Cause::PathRate, 1_500), (Cause::Opening, 250)]).after_reading(MS).after_waiting(2 * MS);
        let told = serde_json::to_value(by).unwrap();
        assert_eq!(told["path_rate"], 1.5);
        let seconds: Vec<f64> =
            told.as_object().unwrap().values().filter_map(serde_json::Value::as_f64).collect();
        assert_eq!(seconds.len(), Cause::COUNT);
        assert!((seconds.iter().sum::<f64>() - 1.753).abs() < 1e-9);
    }
}
