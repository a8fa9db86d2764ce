//! Sender: numbers and bytes of our direction, and the owners of what decides when they leave. Here is what
//! it is; what goes next is in `decide`, what acknowledgements say in `acknowledge`, losses in `losses`.

mod acknowledge;
mod ask;
mod best_effort;
mod buffer;
mod decide;
mod early;
mod losses;
mod mark_answer;
mod mtu_search;
mod nil;
mod outage;
mod path_mtu;
mod persist;
mod rack;
#[cfg(test)]
mod rack_tests;
mod records;
mod recovery;
mod reduction;
mod rto;
mod sampling;
mod scoreboard;
mod snack;
mod space;
mod suspects;
mod tail_probe;
mod time_of_sending;
mod timer;
mod verdicts;

use alloc::boxed::Box;
use alloc::sync::Arc;

use skyhaul_congestion::{Controller, ControllerConfig, Signal};
use skyhaul_core::event::{Repeat, Verdict};
use skyhaul_core::{Description, Event, Instant, MS, Octets, Pacer, Path, Stats};

use crate::accelerated::RoundTrip;
use crate::agreed::Agreed;
use crate::call::Call;
use crate::config::{Config, Recovery};
use crate::explicit::Asking;
use crate::route::Signals;
use crate::scps::RecordEnds;
use crate::segment::{HEADER_BYTES, Payload};
use crate::sequence::TimestampClock;
use best_effort::BestEffort;
use buffer::SendBuffer;
pub(crate) use decide::Chunk;
use early::Early;
use mark_answer::MarkAnswer;
use mtu_search::MtuSearch;
use nil::Nils;
use outage::LinkOutage;
pub(crate) use path_mtu::LEARNT_FOR_NS;
use path_mtu::PathMtu;
use persist::Persist;
use rack::Rack;
use recovery::LossRecovery;
use sampling::Sampling;
use scoreboard::{Hole, Scoreboard};
use skyhaul_core::endpoint::Context;
use space::SendSpace;
use tail_probe::TailProbe;
use timer::RetransmissionTimer;
use verdicts::Verdicts;

/// Time that a sender which wakes up late catches up at its own pace: as much as the kernel hands down at
/// once.
const PACE_BURST_NS: u64 = MS;

/// Sender of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    agreed: Agreed,
    timestamp_offset: u32,
    /// Largest payload of a segment without SACK blocks.
    mss_bytes: u64,
    space: SendSpace,
    /// Records that are not acknowledged.
    records: RecordEnds,
    /// Data that goes before the handshake is over.
    early: Early,
    board: Scoreboard,
    recovery: LossRecovery,
    /// Times of sending, where losses are found by them or what goes again is held to them.
    rack: Option<Rack>,
    tail_probe: TailProbe,
    timer: RetransmissionTimer,
    persist: Persist,
    outage: LinkOutage,
    path_mtu: PathMtu,
    mtu_search: MtuSearch,
    /// What stays unacknowledged is given up, where that is agreed on.
    best_effort: Option<BestEffort>,
    verdicts: Verdicts,
    marks: MarkAnswer,
    controller: Box<dyn Controller>,
    sampling: Sampling,
    /// What it asks routers for, and is told of.
    asking: Asking,
    /// The controller asks: a question to that would be one for each segment.
    asks: bool,
    /// Segments of low priority, where the controller wants such.
    nils: Option<Box<Nils>>,
    /// Pace of data; there is one only while the controller has a rate of its own.
    pace: Option<Pacer>,
}

impl Sender {
    /// Sender whose SYN has the number `first`, over a path to an IPv4 address or another one.
    pub(crate) fn new(
        config: Arc<Config>,
        (first, timestamp_offset): (u32, u32),
        is_ipv4: bool,
        now: Instant,
        path: &Path,
    ) -> Self {
        let room = path.max_segment_bytes().saturating_sub(HEADER_BYTES) as u64;
        let mss_bytes = room.min(u64::from(config.mss_bytes)).max(1);
        let space = SendSpace::new(first, config.send_limit_bytes);
        let controller = config.controller.build(config.controller_config(mss_bytes, false, false));
        Self {
            agreed: Agreed::NOTHING,
            timestamp_offset,
            mss_bytes,
            board: Scoreboard::default(),
            recovery: LossRecovery::new(space.initial()),
            rack: None,
            tail_probe: TailProbe::default(),
            timer: RetransmissionTimer::new(&config, space.initial(), now),
            space,
            records: RecordEnds::default(),
            early: Early::default(),
            persist: Persist::default(),
            outage: LinkOutage::default(),
            path_mtu: PathMtu::new(is_ipv4, &config),
            mtu_search: MtuSearch::default(),
            best_effort: None,
            verdicts: Verdicts::NONE,
            marks: MarkAnswer::default(),
            asks: controller.needs().path_header,
            controller,
            sampling: Sampling::OFF,
            asking: Asking::default(),
            nils: None,
            pace: None,
            config,
        }
    }

    pub(crate) fn agreed(&self) -> Agreed {
        self.agreed
    }

    pub(crate) fn clock(&self) -> TimestampClock {
        TimestampClock::new(self.config.timestamp_tick_ns, self.timestamp_offset)
    }

    /// ISS: number of our SYN.
    pub(crate) fn initial(&self) -> u64 {
        self.space.initial()
    }

    /// SND.UNA: oldest number that is not acknowledged.
    pub(crate) fn una(&self) -> u64 {
        self.space.una()
    }

    /// One past the highest number ever sent.
    pub(crate) fn max(&self) -> u64 {
        self.space.max()
    }

    /// One past the number of the last byte.
    pub(crate) fn data_end(&self) -> u64 {
        self.space.data_end()
    }

    /// Oldest acknowledgement that the peer can have sent lately [RFC 5961 5.2].
    pub(crate) fn oldest_acknowledgement(&self) -> u64 {
        self.space.una().saturating_sub(self.space.max_window_bytes())
    }

    /// Largest payload of a segment without SACK blocks.
    pub(crate) fn mss_bytes(&self) -> u64 {
        self.mss_bytes
    }

    /// Timeouts since something new was acknowledged.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timer.timeouts()
    }

    /// True if so many timeouts in a row suffice to give the peer up. Where the timer does not back off, they
    /// take seconds, which an outage outlasts: the time that they take of one that does must have passed
    /// [RFC 1122 4.2.3.5: 100 s at least]. Where data is given up, as much must have passed since something
    /// was heard of the peer (`heard_at`).
    pub(crate) fn has_timed_out(&self, repeats: u32, heard_at: Instant, now: Instant) -> bool {
        if self.best_effort.is_some() && !self.space.is_opening() {
            return now.since(heard_at) >= self.timer.backed_off_ns(repeats);
        }
        let backs_off = self.space.is_opening() || verdicts::is_congestion(self.verdicts.last());
        self.timeouts() >= repeats && (backs_off || self.timer.has_lasted(repeats, now))
    }

    /// Smoothed round trip of what this end sends.
    pub(crate) fn rtt_ns(&self) -> Option<u64> {
        let rtt = self.timer.rtt();
        rtt.is_known().then(|| rtt.smoothed_ns())
    }

    /// Smoothed round trip and its deviation.
    pub(crate) fn round_trip(&self) -> Option<RoundTrip> {
        let rtt = self.timer.rtt();
        let known = RoundTrip { smoothed_ns: rtt.smoothed_ns(), variance_ns: rtt.variance_ns() };
        rtt.is_known().then_some(known)
    }

    /// Takes the round trip of earlier connections, until there is a sample.
    pub(crate) fn assume_round_trip(&mut self, known: RoundTrip) {
        self.timer.assume(known);
    }

    /// Moment at which the retransmission timer runs out, if it runs.
    pub(crate) fn retransmit_at(&self) -> Option<Instant> {
        self.timer.at()
    }

    /// Moment since which the peer owes an answer, if it does: something is under way, or its window was
    /// asked for.
    pub(crate) fn asks_since(&self) -> Option<Instant> {
        self.timer.since().into_iter().chain(self.persist.asked_at()).min()
    }

    /// Moment at which more than `max_repeats` probes of the peer's window were not answered for too long.
    pub(crate) fn gives_up_at(&self, max_repeats: u32) -> Option<Instant> {
        self.persist.gives_up_at(max_repeats)
    }

    /// Cause of the last loss.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdicts.last()
    }

    /// True while everything that there is to send was sent and acknowledged.
    pub(crate) fn is_quiet(&self) -> bool {
        self.space.is_quiet()
    }

    /// True once nothing more will be written.
    pub(crate) fn is_finished(&self) -> bool {
        self.space.is_finished()
    }

    /// Bytes [from, to), which must be held; they are empty if there is a description.
    pub(crate) fn payload(&self, from: u64, to: u64) -> (Payload<'_>, Option<Description>) {
        self.space.payload(from, to)
    }

    /// Bytes that the send buffer holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.space.held_bytes()
    }

    /// Bytes that were never sent.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        self.space.data_end().saturating_sub(self.space.max())
    }

    /// Bytes that [`Self::write`] would take.
    pub(crate) fn writable_bytes(&self) -> u64 {
        self.space.writable_bytes()
    }

    /// Adds what the sender knows of the path and of itself.
    pub(crate) fn complete(&self, stats: &Stats) -> Stats {
        let rtt = self.timer.rtt();
        Stats {
            in_flight_bytes: self.flight_bytes(),
            cwnd_bytes: self.controller.window_bytes(),
            controller: self.controller.snapshot().name,
            rtt_min_ns: rtt.is_known().then(|| rtt.min_ns()),
            rtt_smoothed_ns: rtt.is_known().then(|| rtt.smoothed_ns()),
            rto_ns: self.timer.timeout_ns(),
            path_mtu_bytes: self.mtu_search.shown_bytes(),
            ..*stats
        }
    }

    /// Takes as much of `data` as there is room for.
    pub(crate) fn write(&mut self, data: Octets<'_>) -> usize {
        self.space.write(data)
    }

    /// Nothing more will be written.
    pub(crate) fn finish(&mut self) {
        self.space.finish();
    }

    /// Takes what the carrier says of losses from now on.
    pub(crate) fn assume_loss_cause(&mut self, cause: Verdict) {
        self.verdicts.assume(cause);
    }

    /// Obeys these signals alone from now on, of those that no parameter is about.
    pub(crate) fn obey(&mut self, signals: Signals) {
        if !signals.corruption {
            self.verdicts.ignore_damage();
        }
        if !signals.outage {
            self.ignore_outages();
        }
    }

    /// The peer's SYN, numbered `sequence`, told its window and led to `agreed`.
    pub(crate) fn learn_peer(
        &mut self,
        agreed: Agreed,
        (sequence, window_bytes): (u64, u64),
        context: &Context<'_>,
    ) {
        self.agreed = agreed;
        let by_time = agreed.snack().is_some() || agreed.sack && self.config.recovery == Recovery::Rack;
        self.rack = by_time.then(Rack::new);
        if let Some(scps) = self.config.in_force(agreed.scps.is_some()) {
            let gives_up = agreed.scps.is_some_and(|terms| terms.best_effort);
            self.best_effort = gives_up.then(|| BestEffort::new(scps.best_effort_repeats));
            self.verdicts.assume_by_default(scps.loss_cause);
            self.timer.expect_acks(scps.ack_policy); // both ends of a link are set alike
        }
        self.update_mss(context.now, context.path);
        self.space.take_first_window(sequence, window_bytes);
    }

    /// Our SYN goes again, under what is agreed now.
    pub(crate) fn repeat_syn(&mut self, agreed: Agreed) {
        self.agreed = agreed;
        self.space.repeat_syn();
        self.timer.forget_timing();
    }

    /// Our SYN left before there was this connection: it measures nothing.
    pub(crate) fn assume_syn_sent(&mut self) {
        self.space.assume_syn_sent();
    }

    /// Our SYN is acknowledged, and the peer's is known: the controller begins.
    pub(crate) fn establish(&mut self, now: Instant, path: &Path) {
        let rtt_ns = self.timer.rtt_so_far_ns(now);
        let syn_was_lost = self.timer.on_established();
        let header_bytes = self.agreed.data_header_bytes();
        let is_scps = self.agreed.scps.is_some();
        let controller = self.config.controller(is_scps);
        let seed = self.space.initial() << 32 | u64::from(self.timestamp_offset);
        self.controller = controller.build(ControllerConfig {
            overhead_bytes: u64::from(path.wire_bytes(header_bytes)),
            rtt_ns,
            seed,
            ..self.config.controller_config(self.mss_bytes, syn_was_lost, is_scps)
        });
        let needs = self.controller.needs();
        self.asks = needs.path_header;
        if needs.delivery {
            self.sampling.start(now);
        }
        // Who wants any wants some at once.
        self.nils = (needs.extra_segments > 0).then(|| Box::new(Nils::new(seed)));
    }

    /// The next segment tells the peer's window, whatever its number.
    pub(crate) fn expect_window(&mut self) {
        self.space.expect_window();
    }

    /// True once after the application was refused room, when there is some.
    pub(crate) fn take_writable(&mut self) -> bool {
        self.space.take_writable()
    }

    /// True after the window was reduced, until the peer is told [RFC 3168 6.1.2].
    pub(crate) fn is_reduced(&self) -> bool {
        self.marks.tells_reduced()
    }

    /// A segment leaves that tells the peer so.
    pub(crate) fn tell_reduced(&mut self) {
        self.marks.reduced_told();
    }

    /// Bytes thought to be under way.
    fn flight_bytes(&self) -> u64 {
        let (una, nxt) = (self.space.una(), self.space.nxt());
        if let Some(rack) = &self.rack {
            let gone_bytes = self.board.bytes_below(nxt) + rack.lost_bytes();
            return (nxt - una).saturating_sub(gone_bytes);
        }
        if self.agreed.sack && self.recovery.is_repairing() {
            return self.board.pipe_bytes(una, nxt, self.mss_bytes);
        }
        (nxt - una).saturating_sub(self.board.bytes_below(nxt))
    }

    /// True if the congestion window is what holds the sender back.
    fn is_window_used(&self) -> bool {
        self.flight_bytes() + self.mss_bytes > self.controller.window_bytes()
    }

    /// Largest packet that is sent.
    fn packet_bytes(&self, path: &Path) -> u32 {
        self.path_mtu.packet_bytes(path.mtu_bytes()).min(self.mtu_search.packet_bytes())
    }

    /// Reckons the largest payload anew, by everything that is known now.
    fn update_mss(&mut self, now: Instant, path: &Path) {
        self.mss_bytes = self.payload_bytes(self.packet_bytes(path), path);
        self.controller.on_signal(now, Signal::SegmentSize { mss_bytes: self.mss_bytes });
    }

    /// Largest payload of a packet of `packet_bytes`.
    fn payload_bytes(&self, packet_bytes: u32, path: &Path) -> u64 {
        let overhead = (path.mtu_bytes() as usize - path.max_segment_bytes()) + HEADER_BYTES;
        let room = u64::from(packet_bytes).saturating_sub(overhead as u64 + self.path_header_bytes());
        self.agreed.payload_bytes(room.min(u64::from(self.config.mss_bytes)), &self.config)
    }

    /// Packet size that a router's word leads to; `None`: it cannot be true, or tells nothing new [RFC 1191
    /// 3].
    pub(crate) fn believed_bytes(&self, told_bytes: u32, path: &Path) -> Option<u32> {
        self.path_mtu.believed_bytes(told_bytes, self.packet_bytes(path))
    }

    /// Takes a router's word on a size above that of packets now; true if it is tried.
    pub(crate) fn take_mtu_hint(&mut self, told_bytes: u32, now: Instant) -> bool {
        self.mtu_search.told(told_bytes, now)
    }

    /// Nothing larger is sent from now on; what was, and was not acknowledged, goes again, if `may_repeat`.
    /// That is no sign of congestion [RFC 1191 6.5], and says nothing about round trips.
    pub(crate) fn limit_packets(&mut self, bytes: u32, may_repeat: bool, call: &mut Call<'_>) {
        if bytes >= self.packet_bytes(call.path) {
            return;
        }
        if self.searches_mtu() && self.mtu_search.contradicts(bytes) {
            self.doubt_told_size(bytes, call.path);
        } else {
            self.path_mtu.learn(bytes, call.now);
        }
        let before = self.mss_bytes;
        self.update_mss(call.now, call.path);
        call.emit(Event::PathMtu { mtu_bytes: bytes });
        if may_repeat && self.mss_bytes < before && self.space.outstanding() > 0 {
            self.go_back(Repeat::TooBig, call.now);
            self.recovery.take_doubt();
        }
    }

    /// Knowledge of the path's MTU that is old may be wrong by now: the full size is tried again.
    pub(crate) fn forget_path_mtu(&mut self, now: Instant, path: &Path) {
        if self.path_mtu.forget_old(now) {
            self.update_mss(now, path);
        }
    }

    /// Everything that is not known to have arrived goes again, from the oldest on.
    fn go_back(&mut self, why: Repeat, now: Instant) {
        self.recovery.give_up(self.space.max());
        self.tail_probe.give_up();
        if let Some(rack) = self.rack.as_mut() {
            rack.clear();
        }
        self.mtu_search.give_up_probe(now);
        self.timer.stop(); // the repeat starts it
        self.space.go_back(why);
        self.board.begin_repeats(self.space.una());
    }

    /// A packet left: the path and the controller's pace are charged.
    pub(crate) fn charge(&mut self, wire_bytes: u32, is_data: bool, call: &mut Call<'_>) {
        call.path.charge(call.now, wire_bytes);
        if !is_data {
            return;
        }
        self.mtu_search.count_sent(wire_bytes);
        let smoothed_ns = self.timer.rtt().smoothed_ns();
        let Some(rate_bps) = self.controller.pacing_rate_bps(smoothed_ns) else { return };
        let before = self.pace.as_ref().map(Pacer::rate_bps);
        let pace = self.pace.get_or_insert_with(|| Pacer::starting_at(rate_bps, PACE_BURST_NS, call.now));
        pace.set_rate(call.now, rate_bps);
        pace.spend(call.now, wire_bytes);
        if before != Some(rate_bps) {
            call.emit(Event::Rate { rate_bps });
        }
    }

    /// Panics where the owners disagree, in debug builds.
    pub(crate) fn check_invariants(&self) {
        self.space.check_invariants();
        self.recovery.check_invariants(self.space.una(), self.space.max());
        self.board.check_invariants(self.space.una(), self.space.max());
        if let Some(rack) = &self.rack {
            rack.check_invariants(&self.board, self.space.una(), self.space.nxt());
        }
        let is_watched = self.timer.at().is_some() || self.space.outstanding() == 0;
        debug_assert!(is_watched, "something is under way, and no timer watches it");
    }
}
