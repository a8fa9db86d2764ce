//! The probing map [XSTP 4.2, 4.3]: timestamps of probes and the round trips that answered them.

use alloc::collections::VecDeque;

use skyhaul_core::event::SHOWN_ENTRIES;
use skyhaul_core::{Event, Instant};

/// Place of an arriving STAT in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Answer to a POLL sent before the loss was noticed: kept in the reserved first entry.
    PreLoss,
    /// First answer to a probe of this cycle.
    Probe,
    /// A further part of it.
    Again,
    /// Answer to a probe that was overwritten: ignored.
    Obsolete,
}

/// One exchange. The first entry of a new map has no timestamp: it waits for answers to POLLs from
/// before the loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Exchange {
    timestamp: Option<u32>,
    sent_at: Instant,
    rtt_ns: Option<u64>,
}

/// Probes that left before another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) probes: u32,
    /// So many of them are later than any queue explains.
    pub(crate) late: u32,
}

/// At most `MAX_PROBES` exchanges, oldest first; a new one pushes the oldest out.
#[derive(Clone, Debug)]
pub(crate) struct ProbeMap {
    entries: VecDeque<Exchange>,
    max: usize,
    /// The first entry is still the reserved one.
    reserved: bool,
    /// Probes that made room for newer ones, and when the last of them left.
    pushed_out: u32,
    pushed_out_sent_at: Instant,
}

impl ProbeMap {
    /// A map for `max` exchanges (at least 2) with its first entry reserved.
    pub(crate) fn new(max: usize) -> Self {
        let mut entries = VecDeque::new();
        entries.push_back(Exchange::default());
        Self { entries, max: max.max(2), reserved: true, pushed_out: 0, pushed_out_sent_at: Instant::ZERO }
    }

    /// Event with the map as it is now.
    pub(crate) fn shown(&self) -> Event {
        let mut rtts_ns = [0; SHOWN_ENTRIES];
        let skip = self.entries.len().saturating_sub(SHOWN_ENTRIES);
        let last = self.entries.iter().skip(skip);
        rtts_ns.iter_mut().zip(last).for_each(|(room, entry)| *room = entry.rtt_ns.unwrap_or(0));
        Event::ProbeMap { reserved: self.reserved, entries: self.entries.len() as u32, rtts_ns }
    }

    /// Entry for a probe that was sent.
    pub(crate) fn sent(&mut self, sent_at: Instant, timestamp: u32) {
        if self.entries.len() == self.max {
            let oldest = self.entries.pop_front();
            if let Some(probe) = oldest.filter(|_| !self.reserved) {
                self.pushed_out += 1;
                self.pushed_out_sent_at = probe.sent_at;
            }
            self.reserved = false;
        }
        self.entries.push_back(Exchange { timestamp: Some(timestamp), sent_at, rtt_ns: None });
    }

    /// A valid answer arrived `now` to the POLL sent at `sent_at`; `is_pre_loss` if that was before the
    /// loss was noticed.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        timestamp: u32,
        sent_at: Instant,
        is_pre_loss: bool,
    ) -> Match {
        let rtt_ns = now.since(sent_at);
        if is_pre_loss {
            if let (true, Some(first)) = (self.reserved, self.entries.front_mut()) {
                *first = Exchange { timestamp: Some(timestamp), sent_at, rtt_ns: Some(rtt_ns) };
                return Match::PreLoss;
            }
            return Match::Obsolete;
        }
        match self.entries.iter_mut().find(|e| e.timestamp == Some(timestamp)) {
            Some(entry) => match entry.rtt_ns.replace(rtt_ns) {
                None => Match::Probe,
                Some(_) => Match::Again,
            },
            None => Match::Obsolete,
        }
    }

    /// Probes that left before this one, and how many of them so long before `now` that their round
    /// trip would be longer than `longest_ns`; none if it is not a probe of the map.
    pub(crate) fn before(&self, now: Instant, timestamp: u32, longest_ns: u64) -> Before {
        let Some(place) = self.place(timestamp) else { return Before::default() };
        let is_late = |sent_at| now.since(sent_at) > longest_ns;
        let probes = || self.entries.range(usize::from(self.reserved)..place);
        let late_pushed_out = if is_late(self.pushed_out_sent_at) { self.pushed_out } else { 0 };
        Before {
            probes: self.pushed_out + probes().count() as u32,
            late: late_pushed_out + probes().filter(|probe| is_late(probe.sent_at)).count() as u32,
        }
    }

    /// The answer to this probe, `now`, is one to each before it as well whose round trip is then no
    /// longer than `longest_ns`.
    pub(crate) fn answered_together(&mut self, now: Instant, timestamp: u32, longest_ns: u64) {
        let Some(place) = self.place(timestamp) else { return };
        for entry in self.entries.range_mut(usize::from(self.reserved)..place) {
            let rtt_ns = now.since(entry.sent_at);
            if entry.rtt_ns.is_none() && rtt_ns <= longest_ns {
                entry.rtt_ns = Some(rtt_ns);
            }
        }
    }

    fn place(&self, timestamp: u32) -> Option<usize> {
        self.entries.iter().position(|entry| entry.timestamp == Some(timestamp))
    }

    /// True if a probe that is answered now will have left the map before the next `required` - 1 are.
    pub(crate) fn is_late(&self, timestamp: u32, required: usize) -> bool {
        self.entries.len() == self.max && self.place(timestamp).is_none_or(|place| place + 1 < required)
    }

    /// So many probes may follow one until it is answered: with one more it is late.
    pub(crate) fn held_behind(&self, required: usize) -> u64 {
        (self.max.saturating_sub(required) + 1) as u64
    }

    /// The round trips of the first `required` consecutive answered exchanges, if there are so many.
    pub(crate) fn complete(&self, required: usize) -> Option<impl Iterator<Item = u64> + '_> {
        let mut run = 0;
        for (i, entry) in self.entries.iter().enumerate() {
            run = if entry.rtt_ns.is_some() { run + 1 } else { 0 };
            if run == required {
                let first = i + 1 - required;
                return Some(self.entries.range(first..=i).filter_map(|e| e.rtt_ns));
            }
        }
        None
    }
}
