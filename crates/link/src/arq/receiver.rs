//! Receiver of one direction: what has arrived, which packets are whole, and what is to be told.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use skyhaul_core::{Instant, RangeSet};

use super::frame::{Acknowledgement, Data, Frame, MAX_RANGES};
use super::{ArqConfig, Delivery};

#[derive(Clone, Debug)]
pub(super) struct ArqReceiver {
    config: ArqConfig,
    /// Time between acknowledgements at most.
    ack_interval_ns: u64,
    /// First PDU that has not arrived, and those that arrived behind it.
    next: u64,
    arrived: RangeSet,
    /// One past the newest sending that arrived.
    sendings_end: u64,
    /// PDUs that are missing of each packet that has begun to arrive.
    missing: BTreeMap<u64, u32>,
    /// First packet that has not left, where order counts, and those behind it that are whole.
    next_packet: u64,
    whole: BTreeSet<u64>,
    /// Sendings to be told as lost, at most a window of them: acknowledgements tell of the others.
    nacks: VecDeque<u64>,
    /// When the first PDU arrived since the last acknowledgement.
    owed_since: Option<Instant>,
}

impl ArqReceiver {
    pub(super) fn new(config: ArqConfig, ack_interval_ns: u64) -> Self {
        Self {
            config,
            ack_interval_ns,
            next: 0,
            arrived: RangeSet::new(),
            sendings_end: 0,
            missing: BTreeMap::new(),
            next_packet: 0,
            whole: BTreeSet::new(),
            nacks: VecDeque::new(),
            owed_since: None,
        }
    }

    /// A PDU arrived. The numbers of the packets that leave now.
    pub(super) fn on_data(&mut self, now: Instant, data: Data) -> Vec<u64> {
        self.owed_since.get_or_insert(now);
        let window = self.config.window_pdus as usize;
        let room = window.saturating_sub(self.nacks.len());
        self.nacks.extend((self.sendings_end..data.sending).take(room));
        self.sendings_end = self.sendings_end.max(data.sending + 1);
        if data.pdu < self.next || !self.arrived.insert(data.pdu) {
            return Vec::new();
        }
        self.next = self.arrived.run_from(self.next).unwrap_or(self.next);
        self.arrived.remove_below(self.next);
        let missing = self.missing.entry(data.packet).or_insert(data.parts);
        *missing = missing.saturating_sub(1);
        if *missing > 0 {
            return Vec::new();
        }
        self.missing.remove(&data.packet);
        self.leaving(data.packet)
    }

    /// Packets that leave when this one has become whole.
    fn leaving(&mut self, packet: u64) -> Vec<u64> {
        if self.config.delivery == Delivery::AsItComes {
            return Vec::from([packet]);
        }
        self.whole.insert(packet);
        let mut leaving = Vec::new();
        while self.whole.remove(&self.next_packet) {
            leaving.push(self.next_packet);
            self.next_packet += 1;
        }
        leaving
    }

    /// Octets of a frame that tells, ranges not counted.
    pub(super) fn overhead_bytes(&self) -> u32 {
        self.config.overhead_bytes
    }

    /// When the next frame is to be told, at the earliest.
    pub(super) fn wants_at(&self) -> Option<Instant> {
        let owed = self.owed_since.map(|since| since.after(self.ack_interval_ns));
        if self.nacks.is_empty() { owed } else { Some(Instant::ZERO) }
    }

    /// The next frame to tell.
    pub(super) fn next(&mut self, now: Instant) -> Option<Frame> {
        if let Some(sending) = self.nacks.pop_front() {
            return Some(Frame::Nack(sending));
        }
        self.wants_at().filter(|&at| at <= now)?;
        self.owed_since = None;
        let arrived: Vec<(u64, u64)> = self.arrived.iter().take(MAX_RANGES).collect();
        let told_all = self.arrived.range_count() <= MAX_RANGES;
        let silent_from = if told_all { u64::MAX } else { arrived.last().map_or(u64::MAX, |&(_, end)| end) };
        Some(Frame::Ack(Acknowledgement {
            next: self.next,
            sendings_end: self.sendings_end,
            silent_from,
            arrived,
        }))
    }
}
