//! The send buffer (a byte stream, not segmented) and the send cache: one entry per packet sent
//! and not yet acknowledged in sequence [XSTP 3].

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use skyhaul_core::{Instant, Verdict};

use super::count::Count;
use crate::segment::{Payload, charge_bytes};

/// Memory of an empty buffer that is kept until the connection rests: on a fast path it empties and fills
/// many times a second, and the system clears all that is given back.
const KEPT_CAPACITY_BYTES: usize = 4 << 20;

/// Packets up to which every check of the books recounts them.
const MAX_RECOUNT: usize = 64;

/// Packet that was sent, and its fate.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentPacket {
    /// Position of its first byte in the stream.
    pub(super) offset: u64,
    /// Last transmission.
    pub(super) last_sent: Instant,
    /// Position of the last transmission among all of this connection's.
    pub(super) order: u64,
    /// Payload bytes.
    pub(super) bytes: u16,
    /// Payload of the largest packet in which the last transmission left, whole; 0: in fragments, which tell
    /// nothing of what the path takes.
    pub(super) whole_bytes: u16,
    /// Times sent.
    pub(super) transmissions: u16,
    /// Copies sent since a report last called it missing (or since it was new).
    pub(super) copies: u16,
    /// Acknowledged selectively.
    pub(super) acknowledged: bool,
    /// Judged lost and waiting to be sent again.
    pub(super) queued: bool,
    /// A USTAT had it sent again already.
    pub(super) by_ustat: bool,
    /// What it was taken for when it was judged lost last.
    pub(super) lost_as: Option<Verdict>,
    /// Transmission before the last.
    pub(super) sent_before: Instant,
    /// A report called it missing, and it was waited for.
    pub(super) waited_for: bool,
}

/// Send buffer and send cache in one, since the one indexes the other.
#[derive(Clone, Debug)]
pub(super) struct SendCache {
    buffer: VecDeque<u8>,
    /// Stream position of the buffer's first byte.
    base: u64,
    /// Stream position of the first byte never sent.
    sent_to: u64,
    entries: VecDeque<SentPacket>,
    /// Number of the first entry: next to be acknowledged in sequence.
    first: u64,
    queue: BTreeSet<u64>,
    in_flight_bytes: u64,
    charged_bytes: u64,
    unacknowledged: u64,
}

impl SendCache {
    pub(super) fn new(initial: u64) -> Self {
        Self {
            buffer: VecDeque::new(),
            base: 0,
            sent_to: 0,
            entries: VecDeque::new(),
            first: initial,
            queue: BTreeSet::new(),
            in_flight_bytes: 0,
            charged_bytes: 0,
            unacknowledged: 0,
        }
    }

    /// Takes application data. `limit_bytes` is how much the buffer is ever to hold: it doubles up to
    /// there and no further, since all of it is written over and over.
    pub(super) fn write(&mut self, data: &[u8], limit_bytes: u64) {
        let (held, needed) = (self.buffer.len(), self.buffer.len() + data.len());
        if needed > self.buffer.capacity() {
            let most = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
            let capacity = self.buffer.capacity().saturating_mul(2).min(most).max(needed);
            self.buffer.reserve_exact(capacity - held);
        }
        self.buffer.extend(data);
    }

    /// Gives memory back that grew with use, if nothing is in it.
    pub(super) fn give_back(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = VecDeque::new();
        }
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
    }

    /// Bytes held, acknowledged ones behind a gap included.
    pub(super) fn held_bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Bytes that the buffer has memory for (tests).
    #[cfg(test)]
    pub(super) fn capacity_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Bytes written and never sent.
    pub(super) fn unsent_bytes(&self) -> usize {
        (self.base + self.buffer.len() as u64 - self.sent_to) as usize
    }

    /// Number of the oldest packet not acknowledged in sequence.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Payload sent and neither acknowledged nor judged lost.
    pub(super) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Bytes that the unacknowledged packets take of the peer's window.
    pub(super) fn charged_bytes(&self) -> u64 {
        self.charged_bytes
    }

    /// Packets sent and not acknowledged in any way.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.unacknowledged
    }

    /// True if everything sent was acknowledged in sequence.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn entry(&self, number: u64) -> Option<&SentPacket> {
        self.entries.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn entry_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        self.entries.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Makes a packet of the next `bytes` unsent ones and returns its number.
    pub(super) fn send_new(&mut self, bytes: usize, now: Instant, order: u64) -> u64 {
        let number = self.next();
        self.entries.push_back(SentPacket {
            offset: self.sent_to,
            last_sent: now,
            order,
            bytes: bytes as u16,
            whole_bytes: bytes as u16,
            transmissions: 1,
            copies: 1,
            acknowledged: false,
            queued: false,
            by_ustat: false,
            lost_as: None,
            sent_before: now,
            waited_for: false,
        });
        self.sent_to += bytes as u64;
        self.in_flight_bytes += bytes as u64;
        self.charged_bytes += charge_bytes(bytes);
        self.unacknowledged += 1;
        number
    }

    /// Takes in that a packet goes out again; `whole_bytes` as in [`SentPacket`].
    pub(super) fn send_again(&mut self, number: u64, now: Instant, order: u64, whole_bytes: u16) {
        self.queue.remove(&number);
        let Some(entry) = self.entry_mut(number) else { return };
        let was_queued = core::mem::take(&mut entry.queued);
        entry.sent_before = core::mem::replace(&mut entry.last_sent, now);
        entry.order = order;
        entry.whole_bytes = whole_bytes;
        entry.transmissions = entry.transmissions.saturating_add(1);
        entry.copies = entry.copies.saturating_add(1);
        let bytes = u64::from(entry.bytes);
        if was_queued {
            self.in_flight_bytes += bytes;
        }
    }

    /// Takes in that a further piece of a packet goes out.
    pub(super) fn send_further(&mut self, number: u64, now: Instant, order: u64) {
        if let Some(entry) = self.entry_mut(number) {
            entry.last_sent = now;
            entry.order = order;
        }
    }

    /// Payload of a packet in the cache.
    pub(super) fn payload(&self, entry: &SentPacket) -> Payload<'_> {
        self.part(entry, 0, usize::from(entry.bytes))
    }

    /// So many bytes of a packet's payload, from `offset` on. They lie in the packet.
    pub(super) fn part(&self, entry: &SentPacket, offset: u16, bytes: usize) -> Payload<'_> {
        debug_assert!(usize::from(offset) + bytes <= usize::from(entry.bytes));
        let from = (entry.offset - self.base) as usize + usize::from(offset);
        let to = from + bytes;
        let (a, b) = self.buffer.as_slices();
        if to <= a.len() {
            (&a[from..to], &[])
        } else if from >= a.len() {
            (&b[from - a.len()..to - a.len()], &[])
        } else {
            (&a[from..], &b[..to - a.len()])
        }
    }

    /// Acknowledges everything below `next` (at most [`Self::next`]) and frees the buffer.
    pub(super) fn acknowledge_below(&mut self, next: u64, count: &mut Count) {
        debug_assert!(next <= self.next());
        while self.first < next {
            let Some(entry) = self.entries.pop_front() else { break };
            self.charged_bytes -= charge_bytes(usize::from(entry.bytes));
            self.settle(self.first, &entry, count);
            self.first += 1;
        }
        let keep_from = self.entries.front().map_or(self.sent_to, |e| e.offset);
        self.buffer.drain(..(keep_from - self.base) as usize);
        self.base = keep_from;
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_CAPACITY_BYTES {
            self.buffer = VecDeque::new();
        }
    }

    /// Acknowledges [from, to) selectively.
    pub(super) fn acknowledge(&mut self, from: u64, to: u64, count: &mut Count) {
        for number in from.max(self.first)..to.min(self.next()) {
            if let Some(entry) = self.entry(number).copied() {
                self.settle(number, &entry, count);
                if let Some(entry) = self.entry_mut(number) {
                    entry.acknowledged = true;
                    entry.queued = false;
                }
            }
        }
    }

    /// Takes an entry out of the books, once.
    fn settle(&mut self, number: u64, entry: &SentPacket, count: &mut Count) {
        if entry.acknowledged {
            return;
        }
        if entry.queued {
            self.queue.remove(&number);
        } else {
            self.in_flight_bytes -= u64::from(entry.bytes);
        }
        self.unacknowledged -= 1;
        count.add(number, entry);
    }

    /// Judges a packet lost: it leaves the flight and waits to be sent again. Result: the packet, or `None`
    /// if it is acknowledged or waits already.
    pub(super) fn lose(&mut self, number: u64, by_ustat: bool) -> Option<SentPacket> {
        let entry = self.entry_mut(number)?;
        if entry.acknowledged || entry.queued {
            return None;
        }
        entry.queued = true;
        entry.copies = 0;
        entry.by_ustat |= by_ustat;
        let packet = *entry;
        self.in_flight_bytes -= u64::from(packet.bytes);
        self.queue.insert(number);
        Some(packet)
    }

    /// Notes what a packet was taken for that was judged lost.
    pub(super) fn blame(&mut self, number: u64, verdict: Verdict) {
        if let Some(entry) = self.entry_mut(number) {
            entry.lost_as = Some(verdict);
        }
    }

    /// Notes that a packet was called missing and is waited for.
    pub(super) fn wait_for(&mut self, number: u64) {
        if let Some(entry) = self.entry_mut(number) {
            entry.waited_for = true;
        }
    }

    /// True if a packet is under way: neither acknowledged nor waiting to be sent again.
    pub(super) fn is_open(&self, number: u64) -> bool {
        self.entry(number).is_some_and(|e| !e.acknowledged && !e.queued)
    }

    /// Oldest packet that waits to be sent again and is not one of [first, end).
    pub(super) fn queued_outside(&self, (first, end): (u64, u64)) -> Option<u64> {
        self.queue.range(..first).chain(self.queue.range(end.max(first)..)).next().copied()
    }

    /// Packets that wait to be sent again and are not of [first, end).
    pub(super) fn count_queued_outside(&self, (first, end): (u64, u64)) -> usize {
        self.queue.len() - self.queue.range(first..end.max(first)).count()
    }

    /// Numbers of the packets [first, end) under way, and of those that wait to be sent again.
    pub(super) fn open_and_queued(&self, (first, end): (u64, u64)) -> (u64, u64) {
        let queued = self.queue.range(first..end.max(first)).count() as u64;
        let unacknowledged =
            (first.max(self.first)..end).filter_map(|n| self.entry(n)).filter(|e| !e.acknowledged);
        (unacknowledged.count() as u64 - queued, queued)
    }

    /// Newest unacknowledged packets as (number, bytes), rising: at most `max`, and at most `max_bytes` with
    /// each counted as the largest.
    pub(super) fn newest_unacknowledged(&self, max: u64, max_bytes: u64) -> Vec<(u64, u16)> {
        let numbered = self.entries.iter().enumerate().map(|(i, entry)| (self.first + i as u64, entry));
        let newest = numbered.rev().filter(|(_, entry)| !entry.acknowledged);
        let mut largest = 0;
        let sized = newest.zip(1..=max).take_while(|&((_, entry), count)| {
            largest = largest.max(u64::from(entry.bytes));
            count * largest <= max_bytes
        });
        let mut packets: Vec<(u64, u16)> = sized.map(|((number, entry), _)| (number, entry.bytes)).collect();
        packets.reverse();
        packets
    }

    /// First packet that waits to be sent again.
    pub(super) fn first_queued(&self) -> Option<u64> {
        self.queue.first().copied()
    }

    /// Packets that wait to be sent again.
    pub(super) fn queued_packets(&self) -> usize {
        self.queue.len()
    }

    /// Checks the books, against a recount where that is cheap.
    pub(super) fn check_invariants(&self) {
        debug_assert!(self.base <= self.sent_to && self.in_flight_bytes <= self.buffer.len() as u64);
        debug_assert!(self.unacknowledged <= self.entries.len() as u64);
        if self.entries.len() <= MAX_RECOUNT {
            self.recount();
        }
    }

    /// Checks the books against a recount.
    pub(super) fn recount(&self) {
        let open = || self.entries.iter().filter(|e| !e.acknowledged);
        let flight: u64 = open().filter(|e| !e.queued).map(|e| u64::from(e.bytes)).sum();
        debug_assert_eq!(self.in_flight_bytes, flight);
        debug_assert_eq!(self.unacknowledged, open().count() as u64);
        debug_assert_eq!(self.queue.len(), open().filter(|e| e.queued).count());
        let charged: u64 = self.entries.iter().map(|e| charge_bytes(usize::from(e.bytes))).sum();
        debug_assert_eq!(self.charged_bytes, charged);
        debug_assert!(self.entries.iter().all(|e| !(e.acknowledged && e.queued)));
    }
}
