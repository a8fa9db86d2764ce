//! Probes of the path's MTU, and what tells whether its packets still get through [RFC 8899]
//! (`docs/spec/stp.md`, section 14).

use alloc::vec::Vec;

use skyhaul_core::{Event, Instant, MS, Path, truncate_number};

use super::cache::SentPacket;
use super::choice::{Choice, DataStep};
use super::count::{Compared, Count, Full};
use super::pieces::is_oversized;
use super::{Sender, Situation};
use crate::call::Call;
use crate::segment::{HEADER_BYTES, PIECE_BYTES, Poll, Segment, encode_with};

/// Packets of early data behind which an opening goes alone, so that an answer tells what became of them.
const DOUBTED_PACKETS: u64 = 3;
/// One packet in so many is one that was sent before, while it is in doubt whether its size arrives.
const COMPARED_PART: u64 = 4;
/// Padding of the largest probe.
static PADDING: [u8; 1 << 16] = [0; 1 << 16];
/// Room for a packet that was formed when the path took larger ones, and what goes with it: IP cuts it.
const OVERSIZE_ROOM_BYTES: usize = 65_000;

/// Payload of a packet of `wire_bytes`.
fn payload_bytes(path: &Path, wire_bytes: u32) -> u16 {
    let bytes = path.segment_bytes(wire_bytes).saturating_sub(HEADER_BYTES);
    bytes.min(usize::from(u16::MAX)) as u16
}

impl Sender {
    /// Size of the probe that leaves now in the place of new data; `None`: none. Without data that waits
    /// there is nothing to gain.
    pub(super) fn due_mtu_probe(
        &self,
        data: Option<&DataStep>,
        situation: &Situation,
        now: Instant,
        path: &Path,
    ) -> Option<u32> {
        let mtu = path.mtu()?;
        let goes_new = matches!(data?.action, Some(Choice::New { .. })) && data?.at <= now;
        let in_train = self.following.as_ref().is_some_and(super::Following::is_in_train);
        let may_probe = situation.is_opened && situation.is_proven && situation.reply.is_none();
        if !goes_new || !may_probe || in_train || !self.rtt.is_known() {
            return None;
        }
        let bytes = mtu.probe_due(now)?;
        (path.segment_bytes(bytes) > HEADER_BYTES + self.poll_bytes(situation)).then_some(bytes)
    }

    /// Appends a probe, a packet of `bytes`, in a segment like `blank`: a POLL, and padding that takes the
    /// place of a packet which the peer has. Result: its packet number field.
    pub(crate) fn send_mtu_probe(
        &mut self,
        bytes: u32,
        situation: &Situation,
        blank: Segment<'static>,
        call: &mut Call<'_>,
        out: &mut Vec<u8>,
    ) -> u32 {
        let start = out.len();
        let (order, next) = (self.activity.order, self.cache.next());
        let timestamp = self.polls.on_mtu_probe(call.now, order, next, bytes);
        let poll = Poll { pads: true, ..self.make_poll(timestamp, situation) };
        let body_bytes = HEADER_BYTES + self.poll_bytes(situation);
        let padding = &PADDING[..call.path.segment_bytes(bytes) - body_bytes];
        // Numbers begin at the modulus, never at 0.
        let number = truncate_number(self.cache.first() - 1);
        let segment = Segment { number, poll: Some(poll), data: Some((padding, &[])), ..blank };
        encode_with(call.path.config().integrity(), &segment, out);
        let wire_bytes = self.ask(out.len() - start, call);
        debug_assert!(wire_bytes == bytes || call.path.asks());
        // Its octets are not counted: a probe that is lost says nothing about the rate.
        self.traffic.count_mtu_probe(wire_bytes);
        self.polls.note_sent(self.traffic.until_now(call.path.measured_octets()));
        call.path.charge(call.now, wire_bytes);
        self.regulator.spend(call.now, wire_bytes, true);
        if let Some(mtu) = call.path.mtu_mut() {
            mtu.probe_sent(bytes);
        }
        let (types, number24) = (segment.type_bits(), segment.number);
        call.emit(Event::Sent { types, number: number24.into(), payload_bytes: 0, wire_bytes, repeat: None });
        number24
    }

    /// Situation in which `data` is to leave, if it has more room than `situation` says: a packet that was
    /// formed when the path took larger ones has what it needs, unless its peer's address is not proven.
    pub(super) fn make_room(
        data: Option<&DataStep>,
        situation: &Situation,
        path: &Path,
    ) -> Option<Situation> {
        let needed_bytes = match data.and_then(|step| step.action)? {
            Choice::Again { bytes, .. } => HEADER_BYTES + bytes,
            Choice::Piece { bytes, .. } => HEADER_BYTES + PIECE_BYTES + bytes,
            Choice::New { .. } => return None,
        };
        let allowance_bytes = if needed_bytes > path.max_whole_segment_bytes() {
            Self::room_bytes(situation, path)
        } else if situation.doubts_size && needed_bytes > path.max_segment_bytes() {
            path.max_whole_segment_bytes()
        } else {
            return None;
        };
        Some(Situation { allowance_bytes, ..*situation })
    }

    /// True if packets that were sent before wait while new ones may leave: in doubt whether their size
    /// arrives. One in four goes again all the same, at places that no other rhythm keeps step with (those
    /// of the golden ratio), and what becomes of those is compared.
    pub(super) fn repeats_wait(&self, situation: &Situation, path: &Path) -> bool {
        let place = self.activity.order.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        situation.doubts_size && place >= u64::MAX / COMPARED_PART && self.new_data_bytes(path) > 0
    }

    /// Room for a packet that is sent again.
    pub(super) fn room_bytes(situation: &Situation, path: &Path) -> usize {
        let may_be_cut = situation.is_proven && path.mtu().is_some();
        if may_be_cut { OVERSIZE_ROOM_BYTES } else { situation.allowance_bytes }
    }

    /// Payload above which a packet shows what the path takes; 0 where nobody wants to know.
    pub(super) fn telling_bytes(path: &Path) -> u16 {
        path.mtu().map_or(0, |mtu| payload_bytes(path, mtu.telling_bytes()))
    }

    /// Count of what arrives, by the sizes that tell what the path takes: nothing arrived yet.
    pub(super) fn count_by_size(path: &Path) -> Count {
        let least_bytes = path.mtu().map_or(0, |mtu| payload_bytes(path, mtu.full_bytes()));
        let full = Full { least_bytes, ..Full::default() };
        let (large_bytes, compared) = (Self::telling_bytes(path), Self::compared(path));
        Count { large_bytes, full, compared, ..Count::default() }
    }

    /// Small packets that are compared with large ones, while their arrival is in doubt: none arrived yet.
    fn compared(path: &Path) -> Compared {
        let compared = path.mtu().and_then(skyhaul_core::PathMtu::compared);
        compared.map_or_else(Compared::default, |(above, most, since)| Compared {
            payload_bytes: (payload_bytes(path, above), payload_bytes(path, most)),
            since,
            packets: 0,
        })
    }

    /// Takes in how many large and small packets have arrived.
    pub(super) fn note_sizes(count: &Count, path: &mut Path) {
        let Some(mtu) = path.mtu_mut() else { return };
        mtu.arrived_small(count.compared.packets);
        if let Some(sent_at) = count.full.newest {
            mtu.arrived_full(sent_at, count.full.packets);
        }
        if let Some(sent_at) = count.newest_large {
            mtu.arrived(sent_at);
        }
    }

    /// Takes in that a packet is lost that left at `sent_at`, with so much payload in the largest of its
    /// packets of IP; 0: in fragments, which tell nothing.
    pub(super) fn note_mtu_loss(whole_bytes: u16, sent_at: Instant, path: &mut Path) {
        let wire_bytes = path.data_wire_bytes(HEADER_BYTES + usize::from(whole_bytes));
        if let (1.., Some(mtu)) = (whole_bytes, path.mtu_mut()) {
            mtu.lost(wire_bytes, sent_at);
        }
    }

    /// A report was read, which tells of losses `in_fragments` perhaps: if large packets vanish, what was
    /// measured of the path says nothing. Result: whether what was lost of late was too large; `None`: that
    /// is open.
    pub(super) fn conclude_mtu(&mut self, in_fragments: bool, call: &mut Call<'_>) -> Option<bool> {
        let now = call.now;
        let vanish = call.path.mtu_mut().is_some_and(|mtu| mtu.conclude(now));
        if vanish {
            self.traffic.blame_size();
            self.forget_path(call);
        }
        let is_open = call.path.mtu().is_some_and(|mtu| mtu.row_since().is_some());
        let were_too_large = vanish || in_fragments;
        (were_too_large || !is_open).then_some(were_too_large)
    }

    /// When the oldest packet of the row left that `packet`, which is lost, belongs to: large ones, of which
    /// it is open whether they were too large.
    pub(super) fn row_of(packet: &SentPacket, path: &Path) -> Option<Instant> {
        let since = path.mtu()?.row_since()?;
        (packet.whole_bytes > Self::telling_bytes(path) && packet.last_sent >= since).then_some(since)
    }

    /// True if a packet that is lost was too large for the path: it left whole when that was thought to take
    /// it, or in fragments.
    pub(super) fn was_too_large(packet: &SentPacket, path: &Path) -> bool {
        packet.whole_bytes == 0 || is_oversized(usize::from(packet.whole_bytes), path)
    }

    /// The path takes larger packets, or smaller ones, from now on.
    pub(crate) fn take_packet_size(&mut self, is_smaller: bool, now: Instant, path: &mut Path) {
        if is_smaller {
            self.coded.abandon(&self.cache, now);
        }
        let mss_bytes = self.mss_bytes(path) as u64;
        self.regulator.take_segment_size(now, mss_bytes);
        path.take_packet_size(mss_bytes);
    }

    /// When an opening without data is to follow the early data that has just left, which may have been too
    /// large; openings in that data do not put it off. `due_at`: when one was due before. Not in the batch of
    /// what may be too large: a carrier may lose that as a whole.
    pub(crate) fn opening_alone_at(
        &self,
        due_at: Option<Instant>,
        now: Instant,
        path: &Path,
    ) -> Option<Instant> {
        let soon = now.after(MS);
        let is_doubtful = path.mtu().is_some_and(skyhaul_core::PathMtu::is_doubtful);
        match self.activity.order {
            _ if !is_doubtful => None,
            DOUBTED_PACKETS => Some(soon),
            _ => due_at.filter(|&at| self.activity.order > DOUBTED_PACKETS && at <= soon),
        }
    }

    /// No larger packets are of use than this connection sends.
    pub(super) fn limit_mtu(&self, path: &mut Path) {
        let payload_bytes = self.config.max_payload_bytes.min(self.peer.max_payload_bytes);
        let segment_bytes = payload_bytes.min(usize::from(u16::MAX)) + HEADER_BYTES;
        let wire_bytes = path.data_wire_bytes(segment_bytes);
        if let Some(mtu) = path.mtu_mut() {
            mtu.limit(wire_bytes);
        }
    }
}
