//! Losses that a path has had of late whatever the size of a packet: what a row of losses has to exceed
//! before it tells anything about size.

use crate::Instant;

/// Part of a full packet that control may take: what carries that much less is still one.
const CONTROL_PART: u32 = 16;
/// Packets that the ratio goes back to at most, before older ones count by half.
const WINDOW_PACKETS: u64 = 512;
/// Packets of a row at most that are reckoned with: any longer one is beyond chance.
const MAX_ROW_PACKETS: u32 = 10_000;

/// Fate of full packets of late. Shorter ones that arrive say nothing of those, nor does a loss behind which
/// no full one arrives: that may be their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsualLosses {
    lost: u32,
    arrived: u32,
    /// When the newest that arrived had left.
    newest: Option<Instant>,
}

impl UsualLosses {
    /// Least size of a full packet, where the largest have `packet_bytes`.
    pub(crate) fn full_bytes(packet_bytes: u32) -> u32 {
        packet_bytes - packet_bytes / CONTROL_PART
    }

    /// Takes in that so many full packets arrived, the last of which left at `sent_at`.
    pub(crate) fn arrived(&mut self, sent_at: Instant, packets: u32) {
        self.newest = self.newest.max(Some(sent_at));
        self.count(0, packets);
    }

    /// Takes in that so many packets are lost, the first of which left at `sent_at`.
    pub(crate) fn lost(&mut self, sent_at: Instant, packets: u32) {
        if self.newest.is_some_and(|newest| sent_at <= newest) {
            self.count(packets, 0);
        }
    }

    fn count(&mut self, lost: u32, arrived: u32) {
        let lost = u64::from(self.lost) + u64::from(lost);
        let arrived = u64::from(self.arrived) + u64::from(arrived);
        let halvings = ((lost + arrived) / WINDOW_PACKETS).checked_ilog2().map_or(0, |log| log + 1);
        // Together less than the window.
        (self.lost, self.arrived) = ((lost >> halvings) as u32, (arrived >> halvings) as u32);
    }

    /// Chance that so many packets in a row are lost as packets usually are; 0 where none usually is.
    pub(crate) fn chance_of_row(self, packets: u32) -> f64 {
        let one = f64::from(self.lost) / f64::from((self.lost + self.arrived).max(1));
        (0..packets.min(MAX_ROW_PACKETS)).map(|_| one).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    #[test]
    fn a_row_is_as_likely_as_the_losses_of_late() {
        let mut usual = UsualLosses::default();
        assert_eq!((usual.chance_of_row(0), usual.chance_of_row(1)), (1.0, 0.0), "nothing is known");
        usual.arrived(at(5), 10);
        usual.lost(at(4), 90);
        assert!((usual.chance_of_row(2) - 0.81).abs() < 1e-9);
        usual.arrived(at(6), 100_000);
        assert!(usual.chance_of_row(1) < 0.01, "that was long ago");
        usual.arrived(at(7), u32::MAX);
        usual.lost(at(7), u32::MAX);
        assert!(u64::from(usual.lost + usual.arrived) <= WINDOW_PACKETS, "{usual:?}");
    }

    #[test]
    fn losses_behind_which_no_full_packet_arrives_are_not_usual() {
        let mut usual = UsualLosses::default();
        usual.lost(at(1), 1000);
        assert_eq!(usual.chance_of_row(1).to_bits(), 0);
        usual.arrived(at(5), 10);
        usual.lost(at(6), 1000);
        assert_eq!(usual.chance_of_row(1).to_bits(), 0);
        assert_eq!((UsualLosses::full_bytes(1500), UsualLosses::full_bytes(1280)), (1407, 1200));
    }
}
