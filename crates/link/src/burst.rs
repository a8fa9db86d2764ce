//! Losses in bursts: a Gilbert-Elliott chain that takes a step for each packet.

use skyhaul_core::Stream;

use crate::BurstLoss;
use crate::chance::Chance;

/// The chain of one direction.
#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    /// Loss in the good and in the bad state.
    loss: [Chance; 2],
    /// Change out of the good and out of the bad state.
    change: [Chance; 2],
    bad: bool,
    stream: Stream,
}

impl GilbertElliott {
    pub(crate) fn new(config: BurstLoss, stream: Stream) -> Self {
        Self {
            loss: [config.loss_good, config.loss_bad].map(Chance::new),
            change: [config.good_to_bad, config.bad_to_good].map(Chance::new),
            bad: false,
            stream,
        }
    }

    /// True if the next packet is lost. Takes two draws: for its loss and for the change after it;
    /// none if no packet is ever lost.
    pub(crate) fn draw(&mut self) -> bool {
        if self.is_never() {
            return false;
        }
        let state = usize::from(self.bad);
        let lost = self.loss[state].hit(self.stream.next_u64());
        self.bad ^= self.change[state].hit(self.stream.next_u64());
        lost
    }

    /// True if no packet is ever lost.
    pub(crate) fn is_never(&self) -> bool {
        let [good, bad] = self.loss.map(|loss| loss == Chance::NEVER);
        good && (bad || self.change[0] == Chance::NEVER)
    }
}
