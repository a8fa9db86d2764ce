//! Choice of the data that leaves next, and when: retransmissions first, then new data, then idle repeats
//! [STP 5.2.3].

use skyhaul_core::event::Repeat;
use skyhaul_core::{Instant, Path, Step};

use super::pieces::is_oversized;
use super::{Sender, Situation};
use crate::segment::{HEADER_BYTES, MIN_CHARGE_BYTES, PIECE_BYTES, charge_bytes};

/// Packets under way at most: half of what 24-bit numbers can tell apart, halved.
const MAX_AHEAD: u64 = 1 << 22;
/// New SD smaller than this because of the replies before it waits for a segment of its own.
const WORTHWHILE_BYTES: usize = 256;

/// Data chosen for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The next unsent bytes.
    New { bytes: usize },
    /// A packet that was sent before.
    Again { number: u64, bytes: usize, why: Repeat },
    /// A piece of a packet of `total` bytes that was sent before, in a segment of its own.
    Piece { number: u64, offset: u16, bytes: usize, total: u16, why: Repeat },
}

impl Choice {
    /// Payload.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::New { bytes } | Self::Again { bytes, .. } | Self::Piece { bytes, .. } => bytes,
        }
    }

    /// Reason for which it was sent before, if it was.
    pub(super) fn repeat(self) -> Option<Repeat> {
        match self {
            Self::New { .. } => None,
            Self::Again { why, .. } | Self::Piece { why, .. } => Some(why),
        }
    }

    /// True if the packet was judged lost.
    pub(super) fn is_repair(self) -> bool {
        self.repeat().is_some_and(|why| why != Repeat::Idle)
    }

    /// Payload of its packet.
    pub(super) fn packet_bytes(self) -> usize {
        match self {
            Self::New { bytes } | Self::Again { bytes, .. } => bytes,
            Self::Piece { total, .. } => usize::from(total),
        }
    }

    /// True if a piece of its packet has left just before.
    pub(super) fn is_further_piece(self) -> bool {
        matches!(self, Self::Piece { offset, .. } if offset > 0)
    }

    /// Payload of a packet without pieces that would be as large as the largest in which it leaves; 0: it
    /// leaves in fragments.
    pub(super) fn whole_bytes(self, path: &Path) -> u16 {
        match self {
            Self::Piece { bytes, .. } => (PIECE_BYTES + bytes) as u16,
            Self::Again { bytes, .. } if is_oversized(bytes, path) => 0,
            Self::New { bytes } | Self::Again { bytes, .. } => bytes as u16,
        }
    }

    /// Part of it that has room in `room_bytes`, beside replies perhaps.
    pub(super) fn beside(self, room_bytes: usize, has_reply: bool) -> Option<Self> {
        match self {
            Self::Again { bytes, .. } => (bytes <= room_bytes).then_some(self),
            Self::Piece { bytes, .. } => (!has_reply && PIECE_BYTES + bytes <= room_bytes).then_some(self),
            Self::New { bytes } if bytes > room_bytes && has_reply && room_bytes < WORTHWHILE_BYTES => None,
            Self::New { bytes } => Some(Self::New { bytes: bytes.min(room_bytes) }),
        }
    }
}

/// Data that is to leave: when, and which. An idle repeat is looked for only when its time has come.
pub(super) type DataStep = Step<Option<Choice>>;

impl Sender {
    /// Data that windows and pacing let leave next, in a segment without replies.
    pub(super) fn next_data(&self, situation: &Situation, now: Instant, path: &Path) -> Option<DataStep> {
        if !self.may_send_data(situation) {
            return None;
        }
        if let Some(piece) = self.next_piece(path) {
            return Some(Step { at: self.paced_at(path), action: Some(piece) });
        }
        if let Some(choice) = self.queued_packet(situation).filter(|_| !self.repeats_wait(situation, path)) {
            let choice = self.in_pieces(choice, situation, path);
            // A packet larger than the allowance waits for the proof of the address.
            let fits = choice.bytes() + HEADER_BYTES <= Self::room_bytes(situation, path);
            return fits.then(|| Step { at: self.paced_at(path), action: Some(choice) });
        }
        let bytes = self.new_data_bytes(path);
        if bytes > 0 {
            return Some(Step { at: self.paced_at(path), action: Some(Choice::New { bytes }) });
        }
        if !self.repeats_idle(situation) || !self.tail.may_repeat(&self.cache) {
            return None;
        }
        let at = self.paced_at(path).max(self.tail_at());
        if at > now {
            return Some(Step { at, action: None });
        }
        let choice = self.in_pieces(self.idle_repeat(situation)?, situation, path);
        Some(Step { at, action: Some(choice) })
    }

    /// When windows and pacing let data leave next.
    pub(crate) fn data_at(&self, situation: &Situation, now: Instant, path: &Path) -> Option<Instant> {
        self.next_data(situation, now, path).map(|step| step.at)
    }

    fn idle_repeat(&self, situation: &Situation) -> Option<Choice> {
        let number = self.tail.find(&self.cache, self.coded_packets(situation))?;
        let bytes = usize::from(self.cache.entry(number)?.bytes);
        Some(Choice::Again { number, bytes, why: Repeat::Idle })
    }

    /// Nothing is sent now: if idle repeats were looked for in vain, that is remembered, and true.
    pub(super) fn give_up_search(&mut self, situation: &Situation, now: Instant, path: &Path) -> bool {
        let was_looked_for = self.tail.may_repeat(&self.cache)
            && self.repeats_idle(situation)
            && self.may_send_data(situation)
            && self.paced_at(path).max(self.tail_at()) <= now;
        let is_in_vain = was_looked_for && self.idle_repeat(situation).is_none();
        if is_in_vain {
            self.tail.exhaust();
        }
        is_in_vain
    }

    /// The oldest packet that waits to be sent again and need not wait for the window, or for symbols.
    pub(super) fn queued_packet(&self, situation: &Situation) -> Option<Choice> {
        let number = self.cache.queued_outside(self.coded_packets(situation))?;
        let entry = self.cache.entry(number)?;
        let bytes = usize::from(entry.bytes);
        let flight = self.cache.in_flight_bytes();
        let fits = flight + bytes as u64 <= self.regulator.window_bytes() || flight == 0;
        let why = if entry.by_ustat && entry.transmissions == 1 { Repeat::Ustat } else { Repeat::Stat };
        (fits || !self.config.retransmit_within_window).then_some(Choice::Again { number, bytes, why })
    }

    /// True if data may be sent at all: not before the opening, not while lingering, not while probing [XSTP
    /// 4.2].
    pub(super) fn may_send_data(&self, situation: &Situation) -> bool {
        !situation.is_lingering
            && situation.probe_at.is_none()
            && (situation.is_opened || self.config.early_data)
    }

    fn repeats_idle(&self, situation: &Situation) -> bool {
        let codes_first = self.peer.both_code && self.coded.goes_first(&self.cache);
        self.config.idle_repeat && !codes_first && self.has_idle_capacity(situation)
    }

    /// True if nothing new is left, and the capacity is the user's. What is lost for its size needs no
    /// further copies.
    pub(super) fn has_idle_capacity(&self, situation: &Situation) -> bool {
        let is_idle = situation.is_proven && !situation.doubts_size && self.cache.unsent_bytes() == 0;
        is_idle && self.path_rate_bps().is_some()
    }

    /// When what is sent just in case may leave: an application that is not done has then brought nothing for
    /// as long as POLLs are apart at least, so that it most likely waits for the peer. One that reads a disk
    /// pauses for less, again and again; where it is what holds the transfer back all would go twice.
    pub(super) fn tail_at(&self) -> Instant {
        let pause_ns = if self.is_finished { 0 } else { self.config.min_poll_interval_ns };
        self.activity.last_new_at.after(pause_ns)
    }

    /// Size of the new SD that windows, Nagle and the unsent data allow; 0: none.
    pub(super) fn new_data_bytes(&self, path: &Path) -> usize {
        let mss = self.mss_bytes(path);
        let unsent = self.cache.unsent_bytes();
        let bytes = unsent.min(mss);
        if bytes == 0 || self.is_ahead() || self.waits_for_more(bytes, path) {
            return 0;
        }
        let flight = self.cache.in_flight_bytes();
        if flight > 0 && flight + bytes as u64 > self.regulator.window_bytes() {
            return 0;
        }
        self.within_peer_window(bytes)
    }

    /// True if as many packets are under way as numbers can tell apart.
    pub(super) fn is_ahead(&self) -> bool {
        self.cache.next() - self.cache.first() >= MAX_AHEAD
    }

    /// True if new data of so many bytes waits until there is more (Nagle).
    pub(super) fn waits_for_more(&self, bytes: usize, path: &Path) -> bool {
        !self.cache.is_empty() && self.is_too_small(bytes, path)
    }

    /// True if new data of so many bytes does not leave while any packet is unacknowledged (Nagle).
    fn is_too_small(&self, bytes: usize, path: &Path) -> bool {
        self.config.nagle && !self.is_finished && bytes < self.mss_bytes(path)
    }

    /// A peer with a window smaller than a packet gets a smaller packet when nothing is under way.
    fn within_peer_window(&self, bytes: usize) -> usize {
        let left = self.peer.window_bytes.saturating_sub(self.cache.charged_bytes());
        if charge_bytes(bytes) <= left {
            return bytes;
        }
        if self.cache.is_empty() && left >= MIN_CHARGE_BYTES {
            return bytes.min(left as usize);
        }
        0
    }

    /// When pacing lets the next data packet go (in the past: at once).
    pub(super) fn paced_at(&self, path: &Path) -> Instant {
        let in_train = self.following.as_ref().is_some_and(super::Following::is_in_train);
        self.regulator.paced_at(in_train, path).unwrap_or(Instant::ZERO)
    }

    /// True if nothing can follow this packet at once.
    pub(super) fn ends_burst(&self, data: Choice, path: &Path) -> bool {
        match data {
            Choice::Again { .. } => self.cache.queued_packets() == 1 && self.new_data_bytes(path) == 0,
            // A POLL that went with an earlier piece would ask too soon.
            Choice::Piece { offset, bytes, total, .. } => {
                let is_last = usize::from(offset) + bytes == usize::from(total);
                is_last && self.cache.queued_packets() == 0 && self.new_data_bytes(path) == 0
            }
            Choice::New { bytes } => {
                let next = self.mss_bytes(path);
                let flight = self.cache.in_flight_bytes() + (bytes + next) as u64;
                let charged = self.cache.charged_bytes() + charge_bytes(bytes) + charge_bytes(next);
                let left = self.cache.unsent_bytes() - bytes;
                left == 0
                    || self.is_too_small(left, path)
                    || flight > self.regulator.window_bytes()
                    || charged > self.peer.window_bytes
            }
        }
    }
}
