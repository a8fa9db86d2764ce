//! The probing map [XSTP 4.2, 4.3]: timestamps of probes and the round trips that answered them.

use alloc::collections::VecDeque;

/// What an arriving STAT was to the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Answer to a POLL sent before the loss was noticed: kept in the reserved first entry.
    PreLoss,
    /// Answer to a probe of this cycle.
    Probe,
    /// Answer to a probe that was overwritten: ignored.
    Obsolete,
}

/// One exchange. The first entry of a new map has no timestamp: it waits for answers to POLLs from
/// before the loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    timestamp: Option<u32>,
    rtt_ns: Option<u64>,
}

/// At most `MAX_PROBES` exchanges, oldest first; a new one pushes the oldest out.
#[derive(Clone, Debug)]
pub(crate) struct ProbeMap {
    entries: VecDeque<Entry>,
    max: usize,
    /// The first entry is still the reserved one.
    reserved: bool,
    /// Probes that made room for newer ones.
    pushed_out: u32,
}

impl ProbeMap {
    /// A map for `max` exchanges (at least 2) with its first entry reserved.
    pub(crate) fn new(max: usize) -> Self {
        let mut entries = VecDeque::new();
        entries.push_back(Entry::default());
        Self { entries, max: max.max(2), reserved: true, pushed_out: 0 }
    }

    /// A probe was sent.
    pub(crate) fn sent(&mut self, timestamp: u32) {
        if self.entries.len() == self.max {
            self.entries.pop_front();
            self.pushed_out += u32::from(!self.reserved);
            self.reserved = false;
        }
        self.entries.push_back(Entry { timestamp: Some(timestamp), rtt_ns: None });
    }

    /// A valid answer arrived; `is_pre_loss` if its POLL left before the loss was noticed.
    pub(crate) fn answered(&mut self, timestamp: u32, is_pre_loss: bool, rtt_ns: u64) -> Match {
        if is_pre_loss {
            if let (true, Some(first)) = (self.reserved, self.entries.front_mut()) {
                *first = Entry { timestamp: Some(timestamp), rtt_ns: Some(rtt_ns) };
                return Match::PreLoss;
            }
            return Match::Obsolete;
        }
        match self.entries.iter_mut().find(|e| e.timestamp == Some(timestamp)) {
            Some(entry) => {
                entry.rtt_ns = Some(rtt_ns);
                Match::Probe
            }
            None => Match::Obsolete,
        }
    }

    /// How many probes of the map left before this one; `None` if it is not a probe of the map.
    pub(crate) fn probes_before(&self, timestamp: u32) -> Option<u32> {
        let skip = usize::from(self.reserved);
        let probes = self.entries.iter().skip(skip);
        probes.map(|e| e.timestamp).position(|t| t == Some(timestamp)).map(|n| n as u32)
    }

    /// Whether a probe that is answered now will have left the map before the next `required` - 1 are.
    pub(crate) fn is_late(&self, timestamp: u32, required: usize) -> bool {
        let place = self.entries.iter().position(|entry| entry.timestamp == Some(timestamp));
        self.entries.len() == self.max && place.is_none_or(|place| place + 1 < required)
    }

    /// Timestamp of the newest probe.
    pub(crate) fn newest(&self) -> Option<u32> {
        self.entries.back().and_then(|entry| entry.timestamp)
    }

    /// Probes that made room for newer ones.
    pub(crate) fn pushed_out(&self) -> u32 {
        self.pushed_out
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
