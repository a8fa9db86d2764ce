//! The realised sequence of a channel's states.

use alloc::format;

use skyhaul_core::{Instant, Stream};

use crate::{ChannelConfig, ChannelState, LinkConfig, StateConfig};

/// A time that a channel spends in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The state.
    pub state: ChannelState,
    /// First instant in it.
    pub from: Instant,
    /// First instant of the next stay; later than `from`.
    pub to: Instant,
    /// One-way delay of this stay, without that of the direction, in nanoseconds.
    pub delay_ns: u64,
    /// True if the state loses every packet.
    pub is_down: bool,
}

/// The stays of one realised channel from the start of the run on, each beginning when the one
/// before it ends, until the end of time. Made one by one, as they are asked for, and not kept.
#[derive(Clone, Debug)]
pub struct Stays {
    config: ChannelConfig,
    stream: Stream,
    /// Of the next stay.
    state: ChannelState,
    /// Beginning of the next stay.
    from: Instant,
}

impl Stays {
    /// Those of a valid configuration; `None` if it has no channel.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Option<Self> {
        let channel = config.channel.clone()?;
        let stream = Stream::new(seed, &format!("{}/channel", config.name));
        Some(Self { state: channel.start, config: channel, stream, from: Instant::ZERO })
    }

    /// True if both states lose every packet.
    pub(crate) fn are_all_down(&self) -> bool {
        [ChannelState::Good, ChannelState::Bad].iter().all(|&state| is_down(self.config.state(state)))
    }

    /// The next stay that covers `at` or lies after it. The last instant of time counts as part of
    /// the last stay.
    pub(crate) fn reach(&mut self, at: Instant) -> Option<Stay> {
        let at = at.min(Instant::MAX.before(1));
        self.find(|stay| at < stay.to)
    }
}

impl Iterator for Stays {
    type Item = Stay;

    /// Takes two draws, whatever the state is like.
    fn next(&mut self) -> Option<Stay> {
        if self.from == Instant::MAX {
            return None;
        }
        let (state, from) = (self.state, self.from);
        let config = self.config.state(state);
        let to = from.after(self.stream.exponential_ns(config.mean_stay_ns));
        let delay_ns = [config.min_delay_ns, config.max_delay_ns][self.stream.below(2) as usize];
        let is_down = is_down(config);
        (self.state, self.from) = (state.other(), to);
        Some(Stay { state, from, to, delay_ns, is_down })
    }
}

fn is_down(state: &StateConfig) -> bool {
    state.loss >= 1.0
}
