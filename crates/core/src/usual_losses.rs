//! Losses that a path has had of late whatever the size of a packet: what a row of losses has to exceed
//! before it tells anything about size.

/// Packets that the ratio goes back to at most, before older ones count by half.
const WINDOW_PACKETS: u64 = 512;
/// Packets of a row at most that are reckoned with: any longer one is beyond chance.
const MAX_ROW_PACKETS: u32 = 10_000;

/// Fate of full packets of late, without those of a row that has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsualLosses {
    lost: u32,
    arrived: u32,
}

impl UsualLosses {
    /// Takes in what became of so many packets.
    pub(crate) fn count(&mut self, lost: u32, arrived: u32) {
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

    #[test]
    fn a_row_is_as_likely_as_the_losses_of_late() {
        let mut usual = UsualLosses::default();
        assert_eq!((usual.chance_of_row(0), usual.chance_of_row(1)), (1.0, 0.0), "nothing is known");
        usual.count(90, 10);
        assert!((usual.chance_of_row(2) - 0.81).abs() < 1e-9);
        usual.count(0, 100_000);
        assert!(usual.chance_of_row(1) < 0.01, "that was long ago");
        usual.count(u32::MAX, u32::MAX);
        assert!(u64::from(usual.lost + usual.arrived) <= WINDOW_PACKETS, "{usual:?}");
    }
}
