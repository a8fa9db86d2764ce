//! Totals of one direction of a link.

use skyhaul_core::event::DropCause;

use crate::WaitHistogram;

/// Totals of one direction. Bytes are bytes on the wire, of whole packets where nothing else is said. At any
/// time, entered packets + duplicated packets = delivered packets + dropped packets + packets inside
/// ([`Link::packets_inside`](crate::Link::packets_inside)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets handed to the link, including those it dropped at once.
    pub entered_packets: u64,
    /// Their bytes.
    pub entered_bytes: u64,
    /// Packets given back at the other port.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped, by cause, counted when they enter.
    pub dropped: Drops,
    /// Bytes of all dropped packets.
    pub dropped_bytes: u64,
    /// Delivered packets whose contents bit errors changed.
    pub damaged_packets: u64,
    /// Packets of which a copy was delivered. It counts as delivered (and as damaged or reordered, if it is),
    /// not as inside.
    pub duplicated_packets: u64,
    /// Packets that random early detection marked instead of dropping them.
    pub marked_packets: u64,
    /// Packets that were served as fragments.
    pub fragmented_packets: u64,
    /// Delivered packets that a later one had overtaken. A packet picked for reordering that nobody
    /// overtook is not counted.
    pub reordered_packets: u64,
    /// Bytes that the server has taken on, whatever became of them, headers of fragments included: the share
    /// of the rate that was used.
    pub served_bytes: u64,
    /// Time that their packets waited for the server, all together, in nanoseconds.
    pub waited_ns: u64,
    /// Time that each packet waited for the server.
    pub waits: WaitHistogram,
    /// Bytes waiting and in service now.
    pub queue_bytes: u64,
    /// The most that ever waited and was in service.
    pub max_queue_bytes: u64,
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// The queue was full.
    pub queue_full: u64,
    /// Random early detection picked it, before the queue was full.
    pub early: u64,
    /// A policer found it to exceed its rate.
    pub policed: u64,
    /// Independent random loss.
    pub random_loss: u64,
    /// Bit errors.
    pub bit_error: u64,
    /// The link was down.
    pub outage: u64,
    /// Larger than the link's largest packet, and not to be fragmented.
    pub too_large: u64,
}

impl Drops {
    /// All causes together.
    pub fn total(&self) -> u64 {
        self.congestion() + self.random_loss + self.bit_error + self.outage + self.too_large
    }

    /// Those that were too many: a queue or a policer dropped them.
    pub fn congestion(&self) -> u64 {
        self.queue_full + self.early + self.policed
    }

    /// Those that were never served.
    pub fn unserved(&self) -> u64 {
        self.congestion() + self.too_large
    }

    fn of(&mut self, cause: DropCause) -> &mut u64 {
        match cause {
            DropCause::QueueFull => &mut self.queue_full,
            DropCause::Early => &mut self.early,
            DropCause::Policed => &mut self.policed,
            DropCause::RandomLoss => &mut self.random_loss,
            DropCause::BitError => &mut self.bit_error,
            DropCause::Outage => &mut self.outage,
            DropCause::TooLarge => &mut self.too_large,
        }
    }
}

impl LinkCounters {
    pub(crate) fn enter(&mut self, wire_bytes: u32) {
        self.entered_packets += 1;
        self.entered_bytes += u64::from(wire_bytes);
    }

    pub(crate) fn serve(&mut self, wire_bytes: u32, waited_ns: u64) {
        self.served_bytes += u64::from(wire_bytes);
        self.waited_ns = self.waited_ns.saturating_add(waited_ns);
        self.waits.add(waited_ns);
    }

    pub(crate) fn deliver(&mut self, wire_bytes: u32) {
        self.delivered_packets += 1;
        self.delivered_bytes += u64::from(wire_bytes);
    }

    pub(crate) fn lose(&mut self, wire_bytes: u32, cause: DropCause) {
        *self.dropped.of(cause) += 1;
        self.dropped_bytes += u64::from(wire_bytes);
    }
}
