//! Measuring of the path's rate: what a connection that goes by it reports, and the trains that it sends.

use skyhaul_core::event::{Phase, Refusal};
use skyhaul_core::{Event, Instant, MS, Path, PathMtu, PathSample, Terms};

use super::arrivals::Arrivals;
use super::{PollRecord, Sender, Situation};
use crate::call::Call;
use crate::config::Config;
use crate::segment::{HEADER_BYTES, POLL_BYTES, Stat};

/// STATs without timing, or with one that cannot be, before the connection goes by a window instead.
const MAX_STRIKES: u32 = 3;
/// Before a rate is known, every third packet of what leaves at once carries a POLL, and so do the first and
/// the last: any two that are answered tell a rate.
const TRAIN_POLLS: u32 = 3;
/// Packets further apart are not of one train.
const TRAIN_GAP_NS: u64 = MS;

/// Train of packets that a POLL stands in, and whether others of it were before: what its record says.
pub(super) type Stands = (Option<u32>, bool);

/// State of a connection that measures its path.
#[derive(Clone, Debug, Default)]
pub(super) struct Following {
    arrivals: Arrivals,
    strikes: u32,
    /// The path's rate as last seen, in bit/s; `None` before anything was measured.
    rate_bps: Option<u64>,
    /// Packets of the train under way that have not left yet.
    train_left: u32,
    /// All of them have left; the POLL that belongs behind them has not.
    train_owes_poll: bool,
    /// Number of the last train, and its packets that have left.
    train: u32,
    train_sent: u32,
}

impl Following {
    /// State at the begin, for a configuration that wants it.
    pub(super) fn wanted(config: &Config) -> Option<Self> {
        config.wants_timing().then(Self::default)
    }

    /// The packet chosen next belongs to a train.
    pub(super) fn is_in_train(&self) -> bool {
        self.train_left > 0
    }

    /// Sample of a STAT that answers `poll`; `None`: a strike.
    fn sample(&mut self, stat: &Stat, poll: &PollRecord, now: Instant, path: &Path) -> Option<PathSample> {
        let segment_bytes = path.max_segment_bytes();
        let full = (u64::from(path.data_wire_bytes(segment_bytes)), segment_bytes as u64);
        let sample = stat
            .timing
            .and_then(|timing| self.arrivals.take(poll, timing, now, full, path.measured_octets()).ok());
        self.strikes = if sample.is_some() { 0 } else { self.strikes + 1 };
        sample
    }

    /// A packet leaves while nothing is paced.
    fn note_burst(&mut self, begins: bool) -> Stands {
        self.train += u32::from(begins);
        self.train_sent = if begins { 1 } else { self.train_sent + 1 };
        (Some(self.train), !begins)
    }

    /// A segment leaves; `None` if no train is under way. The POLL at its end may follow the last packet in a
    /// segment of its own, if that was a repeat that left it no room.
    fn note_in_train(&mut self, has_data: bool, polls: bool) -> Option<Stands> {
        let is_its_poll = core::mem::take(&mut self.train_owes_poll) && polls && !has_data;
        if self.train_left == 0 && !is_its_poll {
            return None;
        }
        self.train_left -= u32::from(has_data && self.train_left > 0);
        self.train_owes_poll = has_data && !polls && self.train_left == 0;
        Some((Some(self.train), true))
    }

    /// A train of so many packets begins with the POLL that leaves now, with data or not.
    fn begin_train(&mut self, packets: u32, has_data: bool) -> Stands {
        self.train += 1;
        self.train_left = packets - u32::from(has_data);
        (Some(self.train), false)
    }

    /// Takes a rate that the path goes by now. Result: true if it is another one.
    fn take_rate(&mut self, rate_bps: u64) -> bool {
        self.rate_bps.replace(rate_bps) != Some(rate_bps)
    }
}

impl Sender {
    /// True if this connection measures its path.
    pub(crate) fn measures(&self) -> bool {
        self.following.is_some()
    }

    /// Rate of the path in bit/s, once it is known.
    pub(super) fn path_rate_bps(&self) -> Option<u64> {
        self.config.rate_bps.or(self.following.as_ref().and_then(|following| following.rate_bps))
    }

    /// Time that a probe takes at the path's rate; 0 if that is not known.
    pub(crate) fn probe_ns(&self, path: &Path) -> u64 {
        let bits = u64::from(path.wire_bytes(HEADER_BYTES + POLL_BYTES)) * 8;
        self.path_rate_bps().map_or(0, |rate_bps| bits * skyhaul_core::SECOND / rate_bps.max(1))
    }

    /// Reports to the path when `poll`, which `stat` answers for the first time, came and what had come by
    /// then. After an error the measuring is to be stopped: the peer does not tell what it takes.
    pub(crate) fn report_path(
        &mut self,
        stat: &Stat,
        poll: &PollRecord,
        call: &mut Call<'_>,
    ) -> Result<(), Refusal> {
        let Some(following) = &mut self.following else {
            self.note_delay(poll, call.now.since(poll.sent_at) as i64, call);
            return Ok(());
        };
        if !call.path.is_measured() {
            self.stop_following(call); // a rate was declared meanwhile, or another connection gave up
            return Ok(());
        }
        if let Some(sample) = following.sample(stat, poll, call.now, call.path) {
            let delay_ns = (sample.arrived_ns as i64).wrapping_sub(poll.sent_at.as_ns() as i64);
            self.queue.note_held(delay_ns);
            if !sample.behind_train {
                self.note_delay(poll, delay_ns, call);
            }
            // In doubt of their size, it is not known yet that packets are missing for the rate.
            if !call.path.mtu().is_some_and(PathMtu::is_in_doubt) {
                call.path.report(call.now, &sample);
            }
            self.take_terms(call);
            self.tell_rule(call);
        } else if following.strikes >= MAX_STRIKES {
            call.path.stop_measuring();
            return Err(Refusal::Absurd);
        }
        Ok(())
    }

    /// Takes the delay of an answered POLL, up to a constant.
    fn note_delay(&mut self, poll: &PollRecord, delay_ns: i64, call: &Call<'_>) {
        let packet_bits = u64::from(call.path.mtu_bytes()) * 8;
        let packet_ns =
            self.path_rate_bps().map_or(0, |rate_bps| packet_bits * skyhaul_core::SECOND / rate_bps.max(1));
        self.queue.note_path(call.now, call.path.short_queue_ns(), call.path.is_shared());
        self.queue.answered(call.now, poll.order, delay_ns, [self.rtt.min_ns(), packet_ns]);
    }

    /// Takes the terms that the path's controller has decided on, if one measures.
    pub(crate) fn take_terms(&mut self, call: &mut Call<'_>) {
        let Some(following) = &mut self.following else { return };
        let Some(terms) = call.path.take_terms(call.now, self.config.rate_caps()) else { return };
        self.regulator.take_terms(call.now, terms);
        let Terms { rate_bps, phase, .. } = terms;
        if phase != Phase::Measuring && following.take_rate(rate_bps) {
            call.emit(Event::Rate { rate_bps });
        }
    }

    /// Nobody measures the path any more: on with a window, as [XSTP] has it.
    pub(crate) fn stop_following(&mut self, call: &mut Call<'_>) {
        (self.following, self.asking) = (None, None);
        self.queue.forget(); // round trips are no delays of one way
        self.regulator.use_window(&self.config, self.mss_bytes(call.path));
        self.spread(call);
    }

    /// The link was gone: what was measured before says nothing.
    pub(crate) fn forget_path(&mut self, call: &mut Call<'_>) {
        self.queue.forget();
        if let Some(following) = &mut self.following {
            following.arrivals.forget();
        }
        if self.measures() || self.config.rate_bps.is_some() {
            call.path.outage(call.now);
        }
    }

    /// A data packet left. Behind the first train what is remembered of the path decides, if it is.
    pub(super) fn end_first_train(&mut self, call: &mut Call<'_>) {
        let is_blind = self.following.as_ref().is_some_and(|following| following.rate_bps.is_none());
        if is_blind && self.activity.order == self.config.initial_window_packets {
            call.path.end_first_train();
            self.take_terms(call);
        }
    }

    /// True if a POLL belongs on the data packet that leaves now because of a train. `ends_burst`: nothing
    /// can follow.
    pub(super) fn train_polls(&self, now: Instant, ends_burst: bool) -> bool {
        let Some(following) = &self.following else { return false };
        if !self.regulator.is_unpaced() {
            return following.train_left == 1;
        }
        ends_burst || self.begins_burst(now) || following.train_sent.is_multiple_of(TRAIN_POLLS)
    }

    fn begins_burst(&self, now: Instant) -> bool {
        self.activity.order == 0 || now.since(self.activity.last_data_at) > TRAIN_GAP_NS
    }

    /// A segment leaves, with data or not, with a POLL or not: begins a train behind a POLL if the path's
    /// controller wants one.
    pub(super) fn note_train(
        &mut self,
        has_data: bool,
        polls: bool,
        situation: &Situation,
        call: &mut Call<'_>,
    ) -> Stands {
        let (begins, order) = (self.begins_burst(call.now), self.activity.order);
        let wants_train = polls && self.has_train(situation, call.path);
        let is_unpaced = self.regulator.is_unpaced();
        let Some(following) = &mut self.following else { return (None, false) };
        if is_unpaced && has_data {
            self.queue.note_burst(order, 1);
            return following.note_burst(begins);
        }
        if is_unpaced {
            return (None, false);
        }
        if let Some(stands) = following.note_in_train(has_data, polls) {
            return stands;
        }
        let packets = if wants_train { call.path.take_train(call.now) } else { 0 };
        if packets < 2 {
            return (None, false);
        }
        // With data the POLL rides on its first packet, else these follow it.
        self.queue.note_burst(order, u64::from(packets));
        following.begin_train(packets, has_data)
    }

    /// True if there is data for the longest train, new or to be sent again, and room for it. What symbols
    /// are to bring across leaves in no train: one that waited for it would never end.
    fn has_train(&self, situation: &Situation, path: &Path) -> bool {
        let mss_bytes = self.mss_bytes(path) as u64;
        let train_bytes = u64::from(path.max_train_packets()) * mss_bytes;
        let queued = self.cache.count_queued_outside(self.coded_packets(situation)) as u64;
        let waiting_bytes = self.cache.unsent_bytes() as u64 + queued * mss_bytes;
        let room_bytes = self.regulator.window_bytes().saturating_sub(self.cache.in_flight_bytes());
        waiting_bytes >= train_bytes && room_bytes >= train_bytes
    }
}
