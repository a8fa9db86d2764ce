//! State of a realised link at any time, which verdicts are compared with.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use skyhaul_core::Instant;

use crate::outages::{is_down_during, merged};
use crate::timeline::{PAST_STEPS, Timeline};
use crate::{ConfigError, LinkConfig, Outage, ScheduleStep, Stay, Stays};

/// Stays that are kept for questions about the recent past.
pub(crate) const RECENT_STAYS: usize = 256;

/// The realised conditions of a link: its rates and delays, its schedule of outages and the states of its
/// channel. A pure function of configuration and seed: the order of questions, and what is sent, change no
/// answer. A change while the link runs counts from then on; of rates, delays and forced outages that are
/// over, the latest 256 are remembered.
///
/// The states up to the present of a [`Link`](crate::Link) are made as it works; the latest 256
/// stays are kept. A question about an earlier or later time is answered by making the stays from
/// the start of the run, or from the latest one on, again: some tens of nanoseconds each.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Rates and delays of the directions themselves, by the port at which they start.
    timelines: [Timeline; 2],
    outages: Vec<Outage>,
    /// Outages that somebody forced and that are over, the latest ones.
    past: VecDeque<Outage>,
    /// One that is not over.
    forced: Option<Outage>,
    channel: Option<Realised>,
}

/// The stays of a channel.
#[derive(Clone, Debug)]
struct Realised {
    all: Stays,
    /// The latest ones before `ahead`.
    recent: VecDeque<Stay>,
    ahead: Stays,
}

impl Conditions {
    /// Those that a [`Link`](crate::Link) of this configuration and seed meets.
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let realised = |all: Stays| Realised { ahead: all.clone(), all, recent: VecDeque::new() };
        Ok(Self {
            timelines: [0, 1].map(|port| Timeline::new(config.direction(port))),
            outages: config.outages.clone(),
            past: VecDeque::new(),
            forced: None,
            channel: Stays::new(config, seed).map(realised),
        })
    }

    /// True if neither an outage nor a state that loses everything covers `at`.
    pub fn is_up(&self, at: Instant) -> bool {
        let is_forced_down = self.forced().any(|outage| outage.from <= at && at < outage.to);
        let is_down = is_forced_down || is_down_during(&self.outages, at, at);
        !is_down && !self.stay(at).is_some_and(|stay| stay.is_down)
    }

    /// Outage that covers `at`, whatever its reasons, with those that touch it: from when to when, as far as
    /// is known. `None`: the link is up then.
    pub fn outage_at(&self, at: Instant) -> Option<Outage> {
        let mut whole = self.covering(at)?;
        while let Some(next) = self.covering(whole.to) {
            whole.to = next.to;
        }
        while let Some(last) = self.covering(whole.from.before(1)).filter(|last| last.from < whole.from) {
            whole.from = last.from;
        }
        Some(whole)
    }

    /// An outage that covers `at`, for one reason.
    fn covering(&self, at: Instant) -> Option<Outage> {
        let covers = |outage: &Outage| outage.from <= at && at < outage.to;
        let first_not_over = self.outages.partition_point(|outage| outage.to <= at);
        let scheduled = self.outages.get(first_not_over).copied().filter(covers);
        let by_channel = || self.channel.as_ref()?.outage_at(at).filter(covers);
        scheduled.or_else(|| self.forced().find(covers)).or_else(by_channel)
    }

    /// Outages that are in no schedule.
    fn forced(&self) -> impl Iterator<Item = Outage> {
        self.past.iter().copied().chain(self.forced)
    }

    /// Bits per second of the direction that starts at `port`; `None`: unlimited.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn rate_bps(&self, port: u32, at: Instant) -> Option<u64> {
        self.timelines[port as usize].step(at).rate_bps
    }

    /// Largest packet that may enter at `port`, in bytes on the wire; `None`: there is none.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn mtu_bytes(&self, port: u32, at: Instant) -> Option<u32> {
        self.timelines[port as usize].step(at).mtu_bytes
    }

    /// True if there is a largest packet at `port` at any time that is remembered or planned.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn has_mtu(&self, port: u32) -> bool {
        self.timelines[port as usize].has_mtu()
    }

    /// Mean rate of the direction that starts at `port` between two instants, in bits per second; `None` if
    /// it is unlimited at any time, or `until` is not later than `from`.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn mean_rate_bps(&self, port: u32, from: Instant, until: Instant) -> Option<f64> {
        let timeline = &self.timelines[port as usize];
        if !timeline.is_limited() || from >= until {
            return None;
        }
        if !timeline.changes(from, until.before(1)) {
            return timeline.step(from).rate_bps.map(|rate_bps| rate_bps as f64);
        }
        Some(timeline.work(from, until) as f64 / until.since(from) as f64)
    }

    /// Delay of a packet that enters at `port` and whose serialisation ends at `at`, in nanoseconds:
    /// that of the direction and that of the channel's state, without the wait for earlier packets
    /// or the extra delay of reordering.
    ///
    /// # Panics
    /// If `port` is neither 0 nor 1.
    pub fn delay_ns(&self, port: u32, at: Instant) -> u64 {
        let channel_delay_ns = self.stay(at).map_or(0, |stay| stay.delay_ns);
        self.timelines[port as usize].step(at).delay_ns.saturating_add(channel_delay_ns)
    }

    /// The stay of the channel that covers `at`; `None` if the link has no channel.
    pub fn stay(&self, at: Instant) -> Option<Stay> {
        self.channel.as_ref()?.stay(at)
    }

    /// The stays of the channel from the start of the run on; nothing if the link has none.
    pub fn stays(&self) -> impl Iterator<Item = Stay> + use<> {
        self.channel.as_ref().map(|channel| channel.all.clone()).into_iter().flatten()
    }

    /// When the link is down in [`from`, `until`), by its schedule, because somebody forced it, or because
    /// the state of its channel loses everything: sorted, neither overlapping nor touching, cut off at the
    /// ends.
    pub fn outages(&self, from: Instant, until: Instant) -> Vec<Outage> {
        let stays = self.stays().take_while(|stay| stay.from < until);
        let down = stays.filter(|stay| stay.is_down).map(|Stay { from, to, .. }| Outage { from, to });
        let cut = |outage: Outage| Outage { from: outage.from.max(from), to: outage.to.min(until) };
        let all = self.outages.iter().copied().chain(self.forced()).chain(down).map(cut);
        merged(all.filter(|outage| outage.from < outage.to).collect())
    }

    /// Makes what was until `now` quick to ask for.
    pub(crate) fn pass(&mut self, now: Instant) {
        if let Some(channel) = &mut self.channel {
            channel.pass(now);
        }
    }
}

/// Changes while the link runs. None of them is earlier than the one before it.
impl Conditions {
    pub(crate) fn timeline(&self, port: u32) -> &Timeline {
        &self.timelines[port as usize]
    }

    pub(crate) fn change(&mut self, now: Instant, port: u32, change: impl Fn(&mut ScheduleStep)) {
        let timeline = &mut self.timelines[port as usize];
        *timeline = timeline.changed(now, change);
    }

    /// The outage that somebody forced and that was not over when it was last seen to.
    pub(crate) fn forced_outage(&self) -> Option<&Outage> {
        self.forced.as_ref()
    }

    /// Down from now on, or from when it went down.
    pub(crate) fn force(&mut self, now: Instant, to: Instant) {
        let from = self.forced.map_or(now, |outage| outage.from);
        self.forced = Some(Outage { from, to });
    }

    /// The forced outage is over at `now`, if not before.
    pub(crate) fn end_forced(&mut self, now: Instant) {
        let over = self.forced.take().map(|outage| Outage { to: outage.to.min(now), ..outage });
        self.past.extend(over.filter(|outage| outage.from < outage.to));
        if self.past.len() > PAST_STEPS {
            self.past.pop_front();
        }
    }

    /// The stay that covers `now`, and those that follow it. `now` is not earlier than all that was passed.
    pub(crate) fn stays_from(&mut self, now: Instant) -> Option<(Stay, Stays)> {
        self.pass(now);
        let channel = self.channel.as_ref()?;
        Some((*channel.recent.back()?, channel.ahead.clone()))
    }
}

impl Realised {
    fn pass(&mut self, now: Instant) {
        while self.recent.back().is_none_or(|stay| stay.to <= now) {
            let Some(stay) = self.ahead.next() else { return };
            self.recent.push_back(stay);
            if self.recent.len() > RECENT_STAYS {
                self.recent.pop_front();
            }
        }
    }

    /// Outage around `at`; of a channel that is never up the whole time, as its stays have no end.
    fn outage_at(&self, at: Instant) -> Option<Outage> {
        if self.all.are_all_down() {
            return Some(Outage { from: Instant::ZERO, to: Instant::MAX });
        }
        let Stay { from, to, .. } = self.stay(at).filter(|stay| stay.is_down)?;
        Some(Outage { from, to })
    }

    fn stay(&self, at: Instant) -> Option<Stay> {
        if self.recent.front().is_none_or(|first| at < first.from) {
            return self.all.clone().reach(at);
        }
        let place = self.recent.partition_point(|stay| stay.to <= at);
        let known = self.recent.get(place).copied();
        known.or_else(|| self.ahead.clone().reach(at)).or(self.recent.back().copied())
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.recent.len()
    }
}

#[cfg(test)]
impl Conditions {
    /// How many stays are in memory.
    pub(crate) fn kept_stays(&self) -> usize {
        self.channel.as_ref().map_or(0, Realised::kept)
    }
}
