//! The channel as the packets of one direction meet it.

use alloc::format;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Instant, Stream};

use crate::chance::Chance;
use crate::{ChannelConfig, LinkConfig, Stay, Stays};

/// Effect of the channel on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Why it is lost, if it is.
    pub(crate) lost: Option<DropCause>,
    /// Delay beyond that of the direction.
    pub(crate) delay_ns: u64,
}

impl Passage {
    /// Passage that takes so much longer.
    pub(crate) fn later(self, extra_ns: u64) -> Self {
        Self { delay_ns: self.delay_ns.saturating_add(extra_ns), ..self }
    }
}

/// The stays that the packets of one direction meet, one after the other, and the losses in them.
/// Each direction walks along the same sequence at its own pace: how far ahead its packets end
/// depends on its queue. Nothing that was passed is kept.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    stays: Stays,
    stay: Stay,
    /// By state.
    loss: [Chance; 2],
    stream: Stream,
    min_delay_ns: u64,
}

impl Channel {
    /// The channel as met from `port` of a link with a valid configuration, if it has one.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Option<Self> {
        let mut stays = Stays::new(config, seed)?;
        let stay = stays.next()?;
        let ChannelConfig { good, bad, .. } = config.channel.as_ref()?;
        Some(Self {
            stays,
            stay,
            loss: [good.loss, bad.loss].map(Chance::new),
            stream: Stream::new(seed, &format!("{}/channel", config.direction_name(port))),
            min_delay_ns: good.min_delay_ns.min(bad.min_delay_ns),
        })
    }

    /// Takes a packet whose serialisation ends at `sent`, not before that of the packet before it.
    pub(crate) fn pass(&mut self, sent: Instant) -> Passage {
        self.reach(sent);
        let hit = self.draw();
        let cause = if self.stay.is_down { DropCause::Outage } else { DropCause::RandomLoss };
        Passage { lost: hit.then_some(cause), delay_ns: self.stay.delay_ns }
    }

    /// Takes a packet that has had its draw and was not lost, and is now sent at another time.
    pub(crate) fn pass_anew(&mut self, sent: Instant) -> Passage {
        self.reach(sent);
        Passage { lost: self.stay.is_down.then_some(DropCause::Outage), delay_ns: self.stay.delay_ns }
    }

    fn reach(&mut self, sent: Instant) {
        if self.stay.to <= sent {
            self.stay = self.stays.reach(sent).unwrap_or(self.stay);
        }
    }

    /// Goes back to `stay`, which `stays` follow.
    pub(crate) fn go_back(&mut self, stay: Stay, stays: Stays) {
        (self.stay, self.stays) = (stay, stays);
    }

    /// Less than this is never added.
    pub(crate) fn min_delay_ns(&self) -> u64 {
        self.min_delay_ns
    }

    /// One draw for each packet, also in a state that needs none.
    fn draw(&mut self) -> bool {
        self.loss != [Chance::NEVER; 2] && self.loss[self.stay.state as usize].hit(self.stream.next_u64())
    }
}
