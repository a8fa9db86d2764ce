//! Counters of what was sent and what became of it.

use skyhaul_core::event::Repeat;
use skyhaul_core::{Instant, Stats, Verdict};

use super::SentUntil;
use super::choice::Choice;
use crate::segment::types;

/// Packets by verdict that are lost in a row, of which it is open whether they were too large.
#[derive(Clone, Copy, Debug, Default)]
struct LostRow {
    /// When the oldest of them left.
    since: Instant,
    packets: [u64; 4],
}

/// Counters of a sender; names and units as in [`Stats`].
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    /// Octets of all segments, and of those with data, and the IP bytes of these; probes of the path's MTU
    /// are in none.
    sent_octets: u64,
    data_octets: u64,
    data_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    data_packets: u64,
    retransmitted_packets: u64,
    retransmitted_bytes: u64,
    control_bytes: u64,
    idle_repeats: u64,
    repair_packets: u64,
    repair_bytes: u64,
    polls: u64,
    acknowledged_bytes: u64,
    lost_packets: [u64; 4],
    late_packets: u64,
    row: LostRow,
}

impl Traffic {
    /// IP bytes sent.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Octets of all segments.
    pub(super) fn sent_octets(&self) -> u64 {
        self.sent_octets
    }

    /// What has left until now, and of the path's connections so many octets.
    pub(super) fn until_now(&self, path_octets: u64) -> SentUntil {
        let Self { sent_octets, data_octets, data_bytes, .. } = *self;
        SentUntil { octets: sent_octets, path_octets, data_octets, data_bytes }
    }

    /// A segment of these types left, with that data if any.
    pub(super) fn count_segment(
        &mut self,
        octets: usize,
        wire_bytes: u32,
        segment_types: u8,
        data: Option<Choice>,
    ) {
        let wire_bytes = u64::from(wire_bytes);
        self.sent_octets += octets as u64;
        if data.is_some() {
            self.data_octets += octets as u64;
            self.data_bytes += wire_bytes;
        }
        self.sent_packets += 1;
        self.sent_bytes += wire_bytes;
        match data.map(Choice::repeat) {
            None if segment_types == types::REPAIR => self.repair_bytes += wire_bytes,
            None => self.control_bytes += wire_bytes,
            Some(Some(_)) => self.retransmitted_bytes += wire_bytes,
            Some(None) => {}
        }
    }

    /// A probe of the path's MTU leaves. Its octets are not those of the stream.
    pub(super) fn count_mtu_probe(&mut self, wire_bytes: u32) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(wire_bytes);
        self.control_bytes += u64::from(wire_bytes);
    }

    /// A data packet leaves, again for that reason perhaps.
    pub(super) fn count_data(&mut self, repeat: Option<Repeat>) {
        match repeat {
            None => self.data_packets += 1,
            Some(why) => {
                self.retransmitted_packets += 1;
                self.idle_repeats += u64::from(why == Repeat::Idle);
            }
        }
    }

    /// A repair symbol leaves.
    pub(super) fn count_symbol(&mut self) {
        self.repair_packets += 1;
    }

    /// A POLL leaves.
    pub(super) fn count_poll(&mut self) {
        self.polls += 1;
    }

    /// Payload was acknowledged.
    pub(super) fn count_acknowledged(&mut self, bytes: u64) {
        self.acknowledged_bytes += bytes;
    }

    /// A packet was judged lost. It may have been too large if it belongs to a row of such, the oldest of
    /// which left at `row_since`.
    pub(super) fn count_lost(&mut self, verdict: Verdict, row_since: Option<Instant>) {
        self.lost_packets[verdict as usize] += 1;
        let Some(since) = row_since else { return };
        if since > self.row.since {
            self.row = LostRow { since, ..LostRow::default() };
        }
        self.row.packets[verdict as usize] += 1;
    }

    /// So many packets came later than a report that called them missing, by verdict: they were not lost.
    pub(super) fn take_back_lost(&mut self, packets: [u64; 4]) {
        self.lost_packets.iter_mut().zip(packets).for_each(|(lost, late)| *lost = lost.saturating_sub(late));
        self.late_packets += packets.iter().sum::<u64>();
    }

    /// The row was too large: no verdict names that cause.
    pub(super) fn blame_size(&mut self) {
        let row = core::mem::take(&mut self.row.packets);
        self.lost_packets.iter_mut().zip(row).for_each(|(lost, row)| *lost -= row);
        self.lost_packets[Verdict::Unknown as usize] += row.iter().sum::<u64>();
    }

    /// Writes the counters.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.sent_packets = self.sent_packets;
        stats.sent_bytes = self.sent_bytes;
        stats.data_packets = self.data_packets;
        stats.retransmitted_packets = self.retransmitted_packets;
        stats.retransmitted_bytes = self.retransmitted_bytes;
        stats.control_bytes = self.control_bytes;
        stats.idle_repeats = self.idle_repeats;
        stats.repair_packets = self.repair_packets;
        stats.repair_bytes = self.repair_bytes;
        stats.polls = self.polls;
        stats.acknowledged_bytes = self.acknowledged_bytes;
        stats.lost_packets = self.lost_packets;
        stats.spurious_repairs = self.late_packets;
    }
}
