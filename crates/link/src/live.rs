//! Changes of a link that runs.

use alloc::format;
use alloc::string::String;

use skyhaul_core::{EventSink, Instant};

use crate::check::is_mtu;
use crate::outages::KnownOutages;
use crate::{ConfigError, Link, Outage, Problem, ScheduleStep};

/// Changes while the link runs: for an emulator that somebody plays with.
///
/// A change takes effect at `now`, or, if that is earlier, at the latest time that something happened to the
/// link (a packet came in at either port, one was delivered, it was changed). Packets that have not left by
/// then are sent anew, in their order and with what was drawn for them: what was already lost stays lost, and
/// what had got through stays so, unless its new service meets an outage (also one of the schedule or the
/// channel). Such a loss is counted and emitted as [`Event::LinkDrop`](skyhaul_core::Event::LinkDrop) in the
/// call, with the end of the packet's serialisation as its time. `waited_ns` and `waits` of the counters stay
/// what was expected when the packets came in.
///
/// A change takes time in proportion to the packets inside. A link that nobody changes is not affected in any
/// way.
impl Link {
    /// From now on the direction that starts at `port` has this rate, whatever was planned for it; `None`: no
    /// limit. Packets that wait are sent at the new rate; of the one in service, the bits that are left.
    /// Where that ends, to the nanosecond, its fractions included, is what it would be had the change been
    /// known before.
    ///
    /// # Errors A rate of 0, or none where there is a router of explicit rate control; nothing is changed
    /// then. (A link that carries nothing is down: see [`force_outage`](Self::force_outage).)
    pub fn set_rate(
        &mut self,
        now: Instant,
        port: u32,
        rate_bps: Option<u64>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ConfigError> {
        if rate_bps == Some(0) {
            return Err(refused(port, "rate_bps", Problem::ZeroRate));
        }
        if rate_bps.is_none() && self.config.direction(port).explicit.is_some() {
            return Err(refused(port, "rate_bps", Problem::ExplicitUnlimited));
        }
        self.change(now, port, |step| step.rate_bps = rate_bps, sink);
        Ok(())
    }

    /// From now on the direction that starts at `port` has this propagation delay (that of the channel comes
    /// on top), whatever was planned for it. Packets whose serialisation ends later than now get it. Those
    /// that have left keep theirs, also those that left at this very instant (on a link without a rate, all
    /// that came in). Whether the others may overtake them says the direction's [`Order`](crate::Order).
    pub fn set_delay(&mut self, now: Instant, port: u32, delay_ns: u64, sink: &mut dyn EventSink) {
        self.change(now, port, |step| step.delay_ns = delay_ns, sink);
    }

    /// From now on this is the largest packet that may enter at `port`, whatever was planned for it; `None`:
    /// there is none. What has entered is not affected.
    ///
    /// # Errors
    /// A value outside of [`MIN_MTU_BYTES`](crate::MIN_MTU_BYTES) to [`MAX_MTU_BYTES`](crate::MAX_MTU_BYTES);
    /// nothing is changed then.
    pub fn set_mtu(
        &mut self,
        now: Instant,
        port: u32,
        mtu_bytes: Option<u32>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ConfigError> {
        if let Some(bytes) = mtu_bytes.filter(|&bytes| !is_mtu(bytes)) {
            return Err(refused(port, "mtu_bytes", Problem::Mtu(bytes)));
        }
        self.change(now, port, |step| step.mtu_bytes = mtu_bytes, sink);
        Ok(())
    }

    /// Packets that enter at `port` from now on are lost with this probability, independent of all others
    /// ([`DirectionConfig::loss`](crate::DirectionConfig::loss)). Each takes the next draw of the stream of
    /// losses. While the probability is 0 no draws are taken: the stream then goes on where it stopped, or
    /// begins.
    ///
    /// # Errors
    /// Not a probability; nothing is changed then.
    pub fn set_loss(&mut self, now: Instant, port: u32, probability: f64) -> Result<(), ConfigError> {
        // False for NaN as well.
        if !(0.0..=1.0).contains(&probability) {
            return Err(refused(port, "loss", Problem::NotAProbability(probability)));
        }
        let direction = &mut self.directions[port as usize];
        direction.advance(now);
        direction.line.set_loss(probability);
        Ok(())
    }

    /// The link is down from now on until `until` (`None`: without an end), in both directions, unless
    /// [`end_outage`](Self::end_outage) ends it before. If it is down by an earlier call, only the end is
    /// changed.
    ///
    /// The packets in service are lost now, later ones when their serialisation begins, if the link is still
    /// down then. The server keeps sending: it does not know. Such a loss is counted and emitted in the next
    /// call of [`handle`](Self::handle) or of a change after that, at either port; until then the packet
    /// counts as inside.
    ///
    /// # Errors
    /// An end that is not later than now; nothing is changed then.
    pub fn force_outage(
        &mut self,
        now: Instant,
        until: Option<Instant>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ConfigError> {
        let now = self.present(now);
        let to = until.unwrap_or(Instant::MAX);
        if to <= now {
            let problem = Problem::EmptyOutage(Outage { from: now, to });
            return Err(ConfigError { field: String::from("outage"), problem });
        }
        self.settle(now, sink);
        self.conditions.force(now, to);
        self.replan_all(now, sink);
        Ok(())
    }

    /// Ends what [`force_outage`](Self::force_outage) began: packets whose serialisation begins now or later
    /// are not lost to it. Outages of the schedule and the channel are not touched. Nothing happens if there
    /// is no such outage.
    pub fn end_outage(&mut self, now: Instant, sink: &mut dyn EventSink) {
        let now = self.present(now);
        self.lose_until(now, sink);
        self.conditions.end_forced(now);
        self.replan_all(now, sink);
    }

    fn change(
        &mut self,
        now: Instant,
        port: u32,
        change: impl Fn(&mut ScheduleStep),
        sink: &mut dyn EventSink,
    ) {
        let now = self.present(now);
        self.settle(now, sink);
        self.conditions.change(now, port, change);
        self.replan(now, port, sink);
    }

    fn replan_all(&mut self, now: Instant, sink: &mut dyn EventSink) {
        for port in [0, 1] {
            self.replan(now, port, sink);
        }
    }

    fn replan(&mut self, now: Instant, port: u32, sink: &mut dyn EventSink) {
        self.directions.iter_mut().for_each(|direction| direction.advance(now));
        let stays = self.conditions.stays_from(now);
        let down = KnownOutages { scheduled: &self.config.outages, forced: self.conditions.forced_outage() };
        let timeline = self.conditions.timeline(port);
        let dropped = self.directions[port as usize].replan(now, timeline, stays, down);
        self.report(port, &dropped, sink);
    }
}

fn refused(port: u32, field: &str, problem: Problem) -> ConfigError {
    let direction = ["forward", "reverse"][port as usize];
    ConfigError { field: format!("{direction}.{field}"), problem }
}
