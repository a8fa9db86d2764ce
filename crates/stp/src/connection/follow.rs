//! A connection that goes by the measured rate of its path: what it tells the path's model, and what it takes from it.

use skyhaul_congestion::Model;
use skyhaul_core::event::{Phase, Refusal};
use skyhaul_core::{Event, Instant, MS, Path};

use super::arrivals::Arrivals;
use super::{Connection, Context};
use crate::config::Config;
use crate::segment::Stat;
use crate::send::PollRecord;

/// STATs without timing, or with one that cannot be, before the connection goes by a window instead.
const MAX_STRIKES: u32 = 3;
/// Before a rate is known, every third packet of what leaves at once carries a POLL, and so do the first and the last:
/// any two that are answered tell a rate.
const TRAIN_POLLS: u32 = 3;
/// Packets further apart are not of one train.
const TRAIN_GAP_NS: u64 = MS;

/// What a connection needs to go by its path's rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Following {
    arrivals: Arrivals,
    strikes: u32,
    /// The path's rate as last seen, in bit/s; `None` before anything was measured.
    rate_bps: Option<u64>,
    /// Neither is there one that could be assumed: what may leave leaves at once.
    is_unpaced: bool,
    /// Packets of the train under way that have not left yet.
    train_left: u32,
    /// All of them have left; the POLL that belongs behind them has not.
    train_owes_poll: bool,
    /// Number of the last train, and its packets that have left.
    train: u32,
    train_sent: u32,
}

impl Following {
    pub(super) fn wanted(config: &Config) -> Option<Self> {
        config.wants_timing().then(Self::default)
    }

    /// A packet leaves while nothing is paced.
    fn note_burst(&mut self, begins: bool) -> (Option<u32>, bool) {
        self.train += u32::from(begins);
        self.train_sent = if begins { 1 } else { self.train_sent + 1 };
        (Some(self.train), !begins)
    }

    /// A segment leaves; `None` if no train is under way. The POLL at its end may follow the last packet in a segment of
    /// its own, if that was a repeat that left it no room.
    fn note_in_train(&mut self, has_data: bool, polls: bool) -> Option<(Option<u32>, bool)> {
        let is_its_poll = core::mem::take(&mut self.train_owes_poll) && polls && !has_data;
        if self.train_left == 0 && !is_its_poll {
            return None;
        }
        self.train_left -= u32::from(has_data && self.train_left > 0);
        self.train_owes_poll = has_data && !polls && self.train_left == 0;
        Some((Some(self.train), true))
    }
}

impl Connection {
    /// The path's budget paces what is sent: at a declared rate or at a measured one.
    pub(super) fn is_rate_paced(&self) -> bool {
        self.config.rate_bps.is_some() || self.following.is_some()
    }

    /// That rate, once it is known, in bit/s.
    pub(super) fn path_rate_bps(&self) -> Option<u64> {
        self.config.rate_bps.or(self.following.as_ref().and_then(|following| following.rate_bps))
    }

    /// A STAT answers `poll` for the first time: the path's model hears when that came, and what had come by then.
    pub(super) fn take_timing(&mut self, stat: &Stat, poll: &PollRecord, context: &mut Context<'_>) {
        let Some(following) = &mut self.following else { return };
        if context.path.control.is_none() {
            return self.stop_following(context); // a rate was declared meanwhile, or another connection gave up
        }
        let segment_bytes = context.path.max_segment_bytes();
        let scale = (u64::from(context.path.wire_bytes(segment_bytes)), segment_bytes as u64);
        let sample = stat.timing.map(|timing| following.arrivals.take(poll, timing, context.now, scale));
        if let (Some(Ok(sample)), Some(control)) = (sample, &mut context.path.control) {
            following.strikes = 0;
            control.on_sample(context.now, &sample);
            return self.obey(context);
        }
        following.strikes += 1;
        if following.strikes >= MAX_STRIKES {
            // The measured rate goes with its model: nobody would ever change it again.
            (context.path.control, context.path.budget) = (None, None);
            self.refuse(Refusal::Absurd, context);
            self.stop_following(context);
        }
    }

    /// Takes over what the path's model decided.
    pub(super) fn obey(&mut self, context: &mut Context<'_>) {
        let (Some(following), Some(control)) = (&mut self.following, &context.path.control) else { return };
        let low = self.config.min_rate_bps.unwrap_or(1);
        let high = self.config.max_rate_bps.unwrap_or(u64::MAX).max(low);
        let rate_bps = control.rate_bps().clamp(low, high);
        self.controller.follow(rate_bps, control.window_bytes(), control.phase());
        if let Some(budget) = context.path.budget.as_mut().filter(|budget| budget.rate_bps() != rate_bps) {
            budget.set_rate(rate_bps);
        }
        following.is_unpaced = control.phase() == Phase::Measuring && rate_bps >= Model::FIRST_RATE_BPS;
        if control.phase() != Phase::Measuring && following.rate_bps != Some(rate_bps) {
            following.rate_bps = Some(rate_bps);
            self.emit(context, Event::Rate { rate_bps });
        }
    }

    /// A data packet left. Behind the first train what is remembered of the path decides, if it is.
    pub(super) fn end_first_train(&mut self, context: &mut Context<'_>) {
        let is_blind = self.following.as_ref().is_some_and(|following| following.rate_bps.is_none());
        if is_blind
            && self.order == self.config.initial_window_packets
            && let Some(control) = &mut context.path.control
        {
            control.after_first_train();
            self.obey(context);
        }
    }

    /// Emits an event if the path's memory has taken another step since the last.
    pub(super) fn tell_resume(&mut self, context: &mut Context<'_>) {
        let control = context.path.control.as_ref().filter(|_| self.following.is_some());
        let Some((phase, saved)) = control.and_then(|control| control.resumed()) else { return };
        if self.resume_told != Some(phase) {
            self.resume_told = Some(phase);
            self.emit(context, Event::Resume { phase, rate_bps: saved.rate_bps, rtt_ns: saved.rtt_min_ns });
        }
    }

    /// Nobody measures the path any more: on with a window, as [XSTP] has it.
    fn stop_following(&mut self, context: &mut Context<'_>) {
        self.following = None;
        self.controller = self.config.build_window_controller(self.mss_bytes(context.path) as u64);
        self.spread(context);
    }

    /// The link was gone: what was measured before says nothing.
    pub(super) fn forget_arrivals(&mut self, context: &mut Context<'_>) {
        let Some(following) = &mut self.following else { return };
        following.arrivals.forget();
        if let Some(control) = &mut context.path.control {
            control.on_outage(context.now);
        }
    }

    /// The packet chosen now leaves at once, whatever the pace: it belongs to a train, or there is no pace yet.
    pub(super) fn is_in_train(&self) -> bool {
        self.following.as_ref().is_some_and(|following| following.train_left > 0 || following.is_unpaced)
    }

    /// Whether a POLL belongs on the data packet that leaves now because of a train. `ends_burst`: nothing can follow.
    pub(super) fn train_polls(&self, now: Instant, ends_burst: bool) -> bool {
        let Some(following) = &self.following else { return false };
        if !following.is_unpaced {
            return following.train_left == 1;
        }
        ends_burst || self.begins_burst(now) || following.train_sent.is_multiple_of(TRAIN_POLLS)
    }

    fn begins_burst(&self, now: Instant) -> bool {
        self.order == 0 || now.since(self.last_data_at) > TRAIN_GAP_NS
    }

    /// A segment leaves, with data or not, with a POLL or not: begins a train behind a POLL if the path's model wants one.
    /// What the record of a POLL in this segment says: the train that it stands in, and whether others of it were before.
    pub(super) fn note_train(
        &mut self,
        has_data: bool,
        polls: bool,
        now: Instant,
        path: &mut Path,
    ) -> (Option<u32>, bool) {
        let begins = self.begins_burst(now);
        let wants_train = polls && self.has_train(path);
        let Some(following) = &mut self.following else { return (None, false) };
        if following.is_unpaced {
            return if has_data { following.note_burst(begins) } else { (None, false) };
        }
        if let Some(stands_in) = following.note_in_train(has_data, polls) {
            return stands_in;
        }
        let Some(control) = path.control.as_mut().filter(|_| wants_train) else { return (None, false) };
        let packets = control.take_train(now);
        if packets < 2 {
            return (None, false);
        }
        following.train += 1;
        following.train_left = packets - u32::from(has_data);
        (Some(following.train), false)
    }

    /// Whether there is data for the longest train, new or to be sent again, and room for it.
    fn has_train(&self, path: &Path) -> bool {
        let mss_bytes = self.mss_bytes(path) as u64;
        let most_bytes = Model::MOST_TRAIN_PACKETS * mss_bytes;
        let waiting_bytes = self.cache.unsent_bytes() as u64 + self.cache.queued_packets() as u64 * mss_bytes;
        let room_bytes = self.controller.window_bytes().saturating_sub(self.cache.in_flight_bytes());
        waiting_bytes >= most_bytes && room_bytes >= most_bytes
    }
}
