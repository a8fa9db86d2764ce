//! The line behind the queue of one direction: serialisation, outages, the channel and chance.
//! Needs no packet, only its size, so that links and the capacity computation run the same code.

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::DropCause;

use crate::chance::Chance;
use crate::channel::{Channel, Passage};
use crate::fragments::Pieces;
use crate::impairments::{Impairment, Impairments};
use crate::outages::KnownOutages;
use crate::serializer::{Serializer, ServiceInterval};
use crate::timeline::{Timeline, Walk};
use crate::{Damage, DirectionConfig, LinkConfig, Order, Stay, Stays};

/// Where there is no channel.
const FREE: Passage = Passage { lost: None, delay_ns: 0 };

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Lost at the end of its serialisation.
    Lost(DropCause),
    /// Lost then, too, but by noise, where somebody listens: he hears of it when it would have arrived.
    Damaged(DropCause, Instant),
    /// Delivered then.
    Arrives(Instant, Journey),
    /// Lost if the forced outage lasts until its serialisation begins, otherwise to be decided anew.
    Held(Journey),
}

/// Random effects on a packet that is delivered. Flags in one byte: it is moved about with every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Journey(u8);

impl Journey {
    const DAMAGED: u8 = 1;
    const LATE: u8 = 2;
    const TWICE: u8 = 4;

    /// Without any effect.
    pub(crate) const UNHARMED: Self = Self(0);
    /// With a router of explicit rate control that writes on the packet when it arrives: not of chance, but
    /// whether it has that or a copy is one question.
    pub(crate) const MARKED: Self = Self(8);

    fn new(drawn: Impairment) -> Self {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        Self(flag(drawn.hit, Self::DAMAGED) | flag(drawn.late, Self::LATE) | flag(drawn.twice, Self::TWICE))
    }

    /// With bits changed.
    pub(crate) fn is_damaged(self) -> bool {
        self.0 & Self::DAMAGED != 0
    }

    /// Later than its turn.
    pub(crate) fn is_late(self) -> bool {
        self.0 & Self::LATE != 0
    }

    /// With a copy right behind it.
    pub(crate) fn is_twice(self) -> bool {
        self.0 & Self::TWICE != 0
    }

    /// With both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// With a copy, or marked.
    pub(crate) fn is_twice_or_marked(self) -> bool {
        self.0 & (Self::TWICE | Self::MARKED.0) != 0
    }

    /// Effects on the copy: all but the copying.
    pub(crate) fn once(self) -> Self {
        Self(self.0 & !Self::TWICE)
    }
}

/// Serialisation, outages, channel, chance and propagation of one direction.
#[derive(Clone, Debug)]
pub(crate) struct TransmissionLine {
    serializer: Serializer,
    impairments: Impairments,
    channel: Option<Box<Channel>>,
    damage: Damage,
    /// Somebody wants to know when packets that noise takes would have arrived.
    traces_damage: bool,
    delays: Walk,
    /// Of the timeline that `delays` walks: there is a largest packet at some time.
    has_mtu: bool,
    min_delay_ns: u64,
    /// Of a packet that is late, on top.
    extra_delay_ns: u64,
    order: Order,
    /// The latest time that a packet was to be delivered, not counting the extra delay of those
    /// picked to be overtaken.
    latest: Instant,
}

impl TransmissionLine {
    /// Line that starts at `port` of a link with a valid configuration.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Self {
        let direction: &DirectionConfig = config.direction(port);
        let name = config.direction_name(port);
        let timeline = Timeline::new(direction);
        Self {
            serializer: Serializer::new(&timeline),
            impairments: Impairments::new(direction, seed, &name),
            channel: Channel::new(config, port, seed).map(Box::new),
            damage: direction.damage,
            traces_damage: false,
            delays: Walk::new(&timeline, Instant::ZERO),
            has_mtu: timeline.has_mtu(),
            min_delay_ns: timeline.min_delay_ns(),
            extra_delay_ns: direction.reordering.extra_delay_ns,
            order: direction.order,
            latest: Instant::ZERO,
        }
    }

    /// Serves a packet that is there at `now`, after all those before it. Its [`Self::fate`] is next, or
    /// [`Self::clear_arrival`] where nothing can happen to it.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Instant, wire_bytes: u32) -> ServiceInterval {
        self.serializer.serve(now, wire_bytes)
    }

    /// Arrival of a packet that nothing happens to.
    pub(crate) fn clear_arrival(&mut self, service: ServiceInterval) -> Instant {
        self.arrival(service.end, 0, false)
    }

    /// True if neither chance nor a channel does anything to a packet.
    pub(crate) fn is_clear(&self) -> bool {
        self.impairments.are_none() && self.channel.is_none()
    }

    /// Fate of the pieces of a packet whose service has this place. `has_bytes`: it has bytes of its own,
    /// which can be damaged.
    pub(crate) fn fate(
        &mut self,
        now: Instant,
        service: ServiceInterval,
        pieces: Pieces,
        has_bytes: bool,
        down: KnownOutages<'_>,
    ) -> Fate {
        // Drawn in any case: an outage must not shift the draws of the packets after it.
        let drawn = self.impairments.draw_pieces(pieces);
        let passage = self.pass_channel(service.end);
        let is_doubtful = down.may_take(service);
        let lost = match passage.lost {
            None if drawn.lost => Some(DropCause::RandomLoss),
            None if drawn.hit && !(has_bytes && self.damage == Damage::Deliver) => Some(DropCause::BitError),
            cause => cause,
        };
        match lost {
            _ if down.takes(service, is_doubtful, now) => Fate::Lost(DropCause::Outage),
            Some(DropCause::Outage) => Fate::Lost(DropCause::Outage),
            Some(cause) if self.traces_damage => {
                Fate::Damaged(cause, self.trace(service.end, passage, drawn.jitter_ns))
            }
            Some(cause) => Fate::Lost(cause),
            None => self.carry(service, passage.later(drawn.jitter_ns), Journey::new(drawn), is_doubtful),
        }
    }

    /// Fate of a packet that had got through and is now sent at another time, after all those before it.
    pub(crate) fn send_anew(
        &mut self,
        now: Instant,
        service: ServiceInterval,
        journey: Journey,
        down: KnownOutages<'_>,
    ) -> Fate {
        let passage = self.channel.as_mut().map_or(FREE, |channel| channel.pass_anew(service.end));
        let is_doubtful = down.may_take(service);
        if passage.lost.is_some() || down.takes(service, is_doubtful, now) {
            return Fate::Lost(DropCause::Outage);
        }
        let jitter_ns = self.impairments.draw_jitter_ns();
        self.carry(service, passage.later(jitter_ns), journey, is_doubtful)
    }

    fn carry(
        &mut self,
        service: ServiceInterval,
        passage: Passage,
        journey: Journey,
        is_doubtful: bool,
    ) -> Fate {
        if is_doubtful {
            return Fate::Held(journey);
        }
        Fate::Arrives(self.arrival(service.end, passage.delay_ns, journey.is_late()), journey)
    }

    /// Restart at `now`: rates and delays are those of `timeline`, the channel is in a stay that
    /// others follow, and no packet that is under way is delivered after `latest`, but for those that may be
    /// overtaken. Gives back the work that was not done by then.
    pub(crate) fn interrupt(
        &mut self,
        now: Instant,
        timeline: &Timeline,
        stays: Option<(Stay, Stays)>,
        latest: Instant,
    ) -> u128 {
        if let (Some(channel), Some((stay, stays))) = (&mut self.channel, stays) {
            channel.go_back(stay, stays);
        }
        self.delays = Walk::new(timeline, now);
        self.has_mtu = timeline.has_mtu();
        self.min_delay_ns = timeline.min_delay_ns();
        self.latest = latest;
        self.serializer.interrupt(now, timeline)
    }

    /// End of so much work, with which the line goes on after an interruption.
    pub(crate) fn go_on(&mut self, work: u128) -> Instant {
        self.serializer.go_on(work)
    }

    /// Arrival without the extra delay of a packet that is late.
    pub(crate) fn in_order_arrival(&self, arrival: Instant, journey: Journey) -> Instant {
        if journey.is_late() { arrival.before(self.extra_delay_ns) } else { arrival }
    }

    /// The rate at any time.
    pub(crate) fn rate_bps(&self, at: Instant) -> Option<u64> {
        self.delays.timeline().step(at).rate_bps
    }

    /// True if there is a largest packet at any time.
    pub(crate) fn has_mtu(&self) -> bool {
        self.has_mtu
    }

    /// The largest packet of those that enter at any time.
    pub(crate) fn mtu_bytes(&self, at: Instant) -> Option<u32> {
        if !self.has_mtu {
            return None;
        }
        self.delays.timeline().step(at).mtu_bytes
    }

    pub(crate) fn set_loss(&mut self, probability: f64) {
        self.impairments.set_loss(probability);
    }

    fn pass_channel(&mut self, sent: Instant) -> Passage {
        self.channel.as_mut().map_or(FREE, |channel| channel.pass(sent))
    }

    /// Tells from now on when packets that noise takes would have arrived.
    pub(crate) fn trace_damage(&mut self) {
        self.traces_damage = true;
    }

    /// When what noise has left of a packet arrives.
    #[cold]
    fn trace(&mut self, sent: Instant, passage: Passage, jitter_ns: u64) -> Instant {
        sent.after(self.delays.reach(sent).delay_ns).after(passage.later(jitter_ns).delay_ns)
    }

    /// Arrival of a packet.
    fn arrival(&mut self, sent: Instant, channel_delay_ns: u64, late: bool) -> Instant {
        let mut arrival = sent.after(self.delays.reach(sent).delay_ns).after(channel_delay_ns);
        if self.order == Order::Preserve {
            self.latest = self.latest.max(arrival);
            arrival = self.latest;
        }
        if late { arrival.after(self.extra_delay_ns) } else { arrival }
    }

    /// No packet whose serialisation ends at `sent` or later is delivered before this.
    pub(crate) fn earliest_arrival(&self, sent: Instant) -> Instant {
        let channel_delay_ns = self.channel.as_ref().map_or(0, |channel| channel.min_delay_ns());
        sent.after(self.min_delay_ns).after(channel_delay_ns)
    }

    /// The chance that a packet of so many bytes is hit by a bit error.
    pub(crate) fn bit_error_chance(&self, wire_bytes: u32) -> Chance {
        self.impairments.bit_error_chance(wire_bytes)
    }
}
