//! Configuration of a channel that changes between two states [XSTP 5].

use skyhaul_core::US;

/// The shortest mean stay that a channel may have. What changes faster than packets come is better
/// described by a loss probability, and every stay has to be computed.
pub const MIN_MEAN_STAY_NS: u64 = US;

/// A two-state continuous-time Markov chain [XSTP 5]: both directions of a link together are either
/// in the good or in the bad state, for exponentially distributed times, in turn. The first stay
/// begins with the run.
///
/// The sequence of stays is drawn from the stream `NAME/channel` alone, so it is the same whatever
/// is sent, and lengths of stays do not change with loss or delay. Losses within a stay are drawn
/// from `NAME/forward/channel` and `NAME/reverse/channel`, once for each serialised packet.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelConfig {
    /// The state that is meant to be the better one. Nothing depends on that.
    pub good: StateConfig,
    /// The other one.
    pub bad: StateConfig,
    /// Which of them the run begins in.
    pub start: ChannelState,
}

impl ChannelConfig {
    /// Configuration of this state.
    pub fn state(&self, state: ChannelState) -> &StateConfig {
        [&self.good, &self.bad][state as usize]
    }
}

/// One of the two states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelState {
    /// The first one.
    #[default]
    Good,
    /// The second one.
    Bad,
}

impl ChannelState {
    /// The state that follows.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Good => Self::Bad,
            Self::Bad => Self::Good,
        }
    }
}

/// Configuration of one state of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateConfig {
    /// Mean length of a stay, in nanoseconds; at least [`MIN_MEAN_STAY_NS`].
    pub mean_stay_ns: u64,
    /// Probability that a packet is lost, independent of all others. If it is 1, the link is down
    /// during the stay, and losses count as outages.
    pub loss: f64,
    /// At each entry one of two one-way delays is chosen, each with probability 1/2, and kept for
    /// the stay, for both directions: this one, in nanoseconds. The direction's own delay comes on top.
    pub min_delay_ns: u64,
    /// Or this one, not smaller.
    pub max_delay_ns: u64,
}
