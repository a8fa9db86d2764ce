//! Count of the packets that a report acknowledges, by the sizes that tell what the path takes.

use skyhaul_core::Instant;

use super::cache::SentPacket;

/// Small packets that are compared with large ones, by their payload, and how many of them arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    /// Least payload, excluded, and most.
    pub(super) payload_bytes: (u16, u16),
    /// When the first of them left.
    pub(super) since: Instant,
    pub(super) packets: u32,
}

impl Default for Compared {
    /// None.
    fn default() -> Self {
        Self { payload_bytes: (u16::MAX, 0), since: Instant::MAX, packets: 0 }
    }
}

impl Compared {
    fn add(&mut self, entry: &SentPacket) {
        let (above, most) = self.payload_bytes;
        let is_one = above < entry.whole_bytes && entry.whole_bytes <= most && entry.last_sent >= self.since;
        self.packets += u32::from(is_one);
    }
}

/// Packets that arrived of those that left since a moment, whatever their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    pub(super) since: Instant,
    pub(super) packets: u64,
    /// Payload.
    pub(super) bytes: u64,
}

impl Default for Recent {
    /// None.
    fn default() -> Self {
        Self { since: Instant::MAX, packets: 0, bytes: 0 }
    }
}

impl Recent {
    fn add(&mut self, entry: &SentPacket) {
        if entry.last_sent >= self.since {
            self.packets += 1;
            self.bytes += u64::from(entry.bytes);
        }
    }
}

/// Full packets that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Full {
    /// Payload from which on a packet is full; 0: none is looked for.
    pub(super) least_bytes: u16,
    pub(super) packets: u32,
    /// When the one that left last did so.
    pub(super) newest: Option<Instant>,
}

impl Full {
    fn add(&mut self, entry: &SentPacket) {
        if self.least_bytes > 0 && entry.whole_bytes >= self.least_bytes {
            self.packets += 1;
            self.newest = self.newest.max(Some(entry.last_sent));
        }
    }
}

/// Packets that came though a report had called them missing, and not by the repeat: they were overtaken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Late {
    /// Transmissions before the POLL that is answered, and when it left; `None`: nobody looks for late ones.
    pub(super) poll: Option<(u64, Instant)>,
    /// Time since when what left cannot be confirmed yet.
    pub(super) since: Instant,
    /// Packets [first, end) that repair symbols may have brought.
    pub(super) coded: (u64, u64),
    /// Those that were judged lost, by verdict.
    pub(super) lost_packets: [u64; 4],
    /// Longest time from leaving to the POLL that found such a one.
    pub(super) late_ns: u64,
    /// Some came that were waited for.
    pub(super) has_waited: bool,
}

impl Late {
    fn add(&mut self, number: u64, entry: &SentPacket) {
        let Some((order, polled_at)) = self.poll else { return };
        let is_coded = (self.coded.0..self.coded.1).contains(&number);
        self.has_waited |= entry.waited_for && entry.transmissions == 1;
        let Some(verdict) = entry.lost_as.filter(|_| !is_coded) else { return };
        // A repeat that left behind the POLL, less than a round trip ago, is not what is confirmed.
        let is_unheard = entry.copies == 1 && entry.order >= order && entry.last_sent > self.since;
        if entry.queued || is_unheard {
            let left_at = if entry.queued { entry.last_sent } else { entry.sent_before };
            self.lost_packets[verdict as usize] += 1;
            self.late_ns = self.late_ns.max(polled_at.since(left_at));
        }
    }
}

/// Newly acknowledged packets and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// Payload above which a packet is large; 0: none is looked for.
    pub(super) large_bytes: u16,
    /// When the large one that left last did so.
    pub(super) newest_large: Option<Instant>,
    pub(super) full: Full,
    pub(super) compared: Compared,
    pub(super) recent: Recent,
    pub(super) late: Late,
}

impl Count {
    pub(super) fn add(&mut self, number: u64, entry: &SentPacket) {
        self.late.add(number, entry);
        self.packets += 1;
        self.bytes += u64::from(entry.bytes);
        self.compared.add(entry);
        self.full.add(entry);
        self.recent.add(entry);
        if self.large_bytes > 0 && entry.whole_bytes > self.large_bytes {
            self.newest_large = self.newest_large.max(Some(entry.last_sent));
        }
    }
}
