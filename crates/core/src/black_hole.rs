//! Doubt whether large packets vanish while small ones arrive, and its end [RFC 8899 4.3, RFC 4821 7.7]. A
//! full queue takes rows of packets, too, but takes them whatever their size: so a row of losses raises a
//! doubt and no more, and none if such rows are usual on the path. While it lasts new packets are small,
//! some of the old large ones go again among them, and what becomes of both decides.

use crate::Instant;
use crate::usual_losses::UsualLosses;

/// Large packets lost in a row, with none of their size arriving, that raise a doubt [RFC 8899 4.3]; more
/// where more are lost anyway.
const DOUBTFUL_PACKETS: u32 = 5;
/// As many that prove a black hole where a router has said so, or no large one ever arrived.
const LIKELY_PACKETS: u32 = 2;
/// Chance that what takes packets of any size has taken all large ones, below which it is their size.
const MAX_CHANCE: f64 = 1e-4;
/// Small packets that have to arrive one after the other where a large one would: a queue with a limit in
/// octets takes small ones until it has no room for a large one.
const ROOM_FACTOR: u32 = 3;
/// As many losses in a row decide where too little can be compared, and more where more are lost anyway: so
/// many more large packets are lost than small ones are sent, or all of those are lost.
const BLIND_PACKETS: u32 = 12;

/// Large packets lost since one arrived, and the doubt that they raise.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlackHole {
    row_packets: u32,
    /// When the oldest of the row left.
    row_since: Instant,
    /// When the newest large packet that arrived had left.
    arrived: Option<Instant>,
    usual: UsualLosses,
    /// Size that a router named, below that of packets, and when: it takes little to believe it.
    told: Option<(u32, Instant)>,
    doubt: Option<Doubt>,
}

/// Fate of what left since a doubt began. Of the large packets none arrived, or it would be over.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    since: Instant,
    /// Size of new packets.
    small_bytes: u32,
    large_lost: u32,
    small_arrived: u32,
    small_lost: u32,
}

impl Doubt {
    fn new(now: Instant, small_bytes: u32) -> Self {
        Self { since: now, small_bytes, large_lost: 0, small_arrived: 0, small_lost: 0 }
    }

    /// Chance that as many large packets are lost one after the other, where the small ones tell how many
    /// are lost at all (by the rule of succession), and a large one needs as much room as
    /// [`ROOM_FACTOR`] of those.
    fn chance(&self) -> f64 {
        let (lost, sent) = (self.small_lost, self.small_lost.saturating_add(self.small_arrived));
        let one = |row: u32| (f64::from(lost) + f64::from(row)) / (f64::from(sent) + f64::from(row) + 1.0);
        let of_large = |row: u32| 1.0 - (0..ROOM_FACTOR).map(|_| 1.0 - one(row)).product::<f64>();
        (1..=self.large_lost.min(10_000)).map(of_large).product()
    }

    /// Small packets lost one after the other, while none arrives: the path may take even less.
    fn small_row(&self) -> u32 {
        if self.small_arrived == 0 { self.small_lost } else { 0 }
    }

    /// Large packets lost beyond as many as there are small ones to compare them with.
    fn blind_row(&self) -> u32 {
        self.large_lost.saturating_sub(self.small_arrived.saturating_add(self.small_lost))
    }
}

impl BlackHole {
    /// State behind a fall of the size, which ends row and doubt.
    pub(crate) fn behind_fall(self) -> Self {
        Self { arrived: self.arrived, usual: self.usual, ..Self::default() }
    }

    /// True if a large packet ever arrived.
    pub(crate) fn has_seen_arrival(&self) -> bool {
        self.arrived.is_some()
    }

    /// When the oldest large packet left of those that are lost in a row now; `None`: none is.
    pub(crate) fn row_since(&self) -> Option<Instant> {
        (self.row_packets > 0).then_some(self.row_since)
    }

    /// Size of new packets while it is doubted that larger ones arrive, and since when.
    pub(crate) fn doubted(&self) -> Option<(u32, Instant)> {
        self.doubt.map(|doubt| (doubt.small_bytes, doubt.since))
    }

    /// Size that a router named.
    pub(crate) fn told_bytes(&self) -> Option<u32> {
        self.told.map(|(bytes, _)| bytes)
    }

    /// Takes in that a router names the size that packets must have.
    pub(crate) fn take_told(&mut self, bytes: u32, now: Instant) {
        self.told = Some((bytes, now));
    }

    /// Takes in that so many full packets arrived, the last of which left at `sent_at`.
    pub(crate) fn full_arrived(&mut self, sent_at: Instant, packets: u32) {
        self.usual.arrived(sent_at, packets);
    }

    /// Takes in that a large packet arrived that left at `sent_at`: it ends a row that began no later.
    pub(crate) fn large_arrived(&mut self, sent_at: Instant) {
        self.arrived = self.arrived.max(Some(sent_at));
        if self.row_packets > 0 && sent_at >= self.row_since {
            self.usual.lost(self.row_since, self.row_packets);
            (self.row_packets, self.doubt) = (0, None);
        }
        self.told = self.told.filter(|&(_, told_at)| sent_at <= told_at);
    }

    /// Takes in that a large packet is lost that left at `sent_at`.
    pub(crate) fn large_lost(&mut self, sent_at: Instant) {
        if self.arrived.is_some_and(|arrived| sent_at <= arrived) {
            self.usual.lost(sent_at, 1);
            return;
        }
        self.row_since = if self.row_packets == 0 { sent_at } else { self.row_since.min(sent_at) };
        self.row_packets = self.row_packets.saturating_add(1);
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| sent_at >= doubt.since) {
            doubt.large_lost = doubt.large_lost.saturating_add(1);
        }
    }

    /// Takes in that so many new packets arrived that left since the doubt began.
    pub(crate) fn small_arrived(&mut self, packets: u32) {
        if let Some(doubt) = &mut self.doubt {
            doubt.small_arrived = doubt.small_arrived.saturating_add(packets);
        }
    }

    /// Takes in that a packet as small as new ones is lost that left at `sent_at`.
    pub(crate) fn small_lost(&mut self, sent_at: Instant) {
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| sent_at >= doubt.since) {
            doubt.small_lost = doubt.small_lost.saturating_add(1);
        }
    }

    /// Takes in that a larger packet than are sent arrived.
    pub(crate) fn end_doubt(&mut self) {
        (self.row_packets, self.told, self.doubt) = (0, None, None);
    }

    /// Decides after a report. Result: true if it is proven that large packets vanish. New ones are of
    /// `refuge_bytes` while it is doubted, and of `min_bytes` if even those are lost.
    pub(crate) fn conclude(&mut self, now: Instant, refuge_bytes: u32, min_bytes: u32) -> bool {
        let is_likely = self.told.is_some() || self.arrived.is_none();
        if is_likely && self.row_packets >= LIKELY_PACKETS {
            return true;
        }
        let Some(doubt) = self.doubt else {
            let begins = self.is_unusual(self.row_packets, DOUBTFUL_PACKETS);
            self.doubt = begins.then(|| Doubt::new(now, refuge_bytes));
            return false;
        };
        if doubt.small_bytes > min_bytes && self.is_unusual(doubt.small_row(), DOUBTFUL_PACKETS) {
            self.doubt = Some(Doubt::new(now, min_bytes));
            return false;
        }
        let blind_row = doubt.blind_row().max(doubt.small_row());
        self.is_unusual(blind_row, BLIND_PACKETS) || doubt.chance() <= MAX_CHANCE
    }

    /// Chance that so many packets in a row are lost for another reason than their size.
    pub(crate) fn chance_of_row(&self, packets: u32) -> f64 {
        self.usual.chance_of_row(packets)
    }

    /// True if a row has `least_packets` and is no chance where packets are lost as they usually are.
    fn is_unusual(&self, row_packets: u32, least_packets: u32) -> bool {
        row_packets >= least_packets && self.chance_of_row(row_packets) <= MAX_CHANCE
    }
}

#[cfg(test)]
#[path = "black_hole_tests.rs"]
mod tests;
