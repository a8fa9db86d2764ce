//! A connection: what the application sees of it, and what happened to it. Input, reports, output,
//! polling and timers are in files of their own.

mod arrivals;
mod close;
mod coding;
mod delivery;
mod follow;
mod input;
mod output;
mod polling;
mod probe;
mod reports;
mod state;
mod timers;
mod told;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use skyhaul_congestion::{Controller, DeliveryLog, LossEvents};
use skyhaul_core::event::ResumePhase;
use skyhaul_core::{
    CloseReason, Event, EventSink, Instant, NUMBER_MODULUS, Pacer, Path, ResetReason, RttEstimator, SECOND,
    Stats, StreamError, StreamEvent,
};

use crate::config::Config;
use crate::probing::Cycle;
use crate::receive::{Assembly, GapWatch, Repairs};
use crate::segment::{HEADER_BYTES, Opening, Options, Report, Stat};
use crate::send::{CodedTail, PollClock, SendCache, Tail};
use delivery::controller_config;
use follow::Following;
use told::Told;

pub use state::State;
pub(crate) use timers::Retry;

/// Ports, instance and nonce: what names a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) instance: u16,
    pub(crate) nonce: u64,
}

/// Random values that a new connection needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    pub(crate) initial: u32,
    pub(crate) timestamp_offset: u32,
}

/// Replies that wait to be sent. Bounds: [`MAX_STAT_PARTS`], [`MAX_USTATS`].
#[derive(Clone, Debug, Default)]
struct Replies {
    bgnak: bool,
    endak: bool,
    stats: VecDeque<Stat>,
    /// The packets below were asked about by the POLL that these answer.
    stat_covers: u64,
    ustats: VecDeque<Report>,
    rst: Option<ResetReason>,
}

/// Segments of one STAT at most; the rest is left to the next.
const MAX_STAT_PARTS: usize = 8;
/// USTATs that wait; further ones are left to the next STAT.
const MAX_USTATS: usize = 8;

/// One end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    id: u64,
    config: Arc<Config>,
    pub(crate) names: Names,
    is_opener: bool,
    /// Initial number of our direction.
    initial: u64,
    /// The peer accepted (opener) or opened (acceptor).
    opened: bool,
    /// One past the last number sent before that.
    early_to: u64,
    /// BGN waits for the application's first word.
    held: bool,
    /// The peer has shown that it receives what we send to its address.
    proven: bool,
    /// The peer has the proof of our address: its POLLs no longer carry BGNAK.
    peer_is_free: bool,
    /// POLLs sent with nothing under way: how often an opener has asked whether its proof arrived.
    quiet_polls: u32,
    /// Deliver nothing before the address is proven: the memory of closed instances overflowed.
    withhold: bool,
    opened_at: Instant,
    begin: Retry,
    /// Our END was decided: one past our last number.
    end_number: Option<u64>,
    end_acknowledged: bool,
    end: Retry,
    write_finished: bool,
    finished_told: bool,
    is_closed: bool,
    /// Why, if not by both sides finishing.
    close_reason: Option<CloseReason>,
    linger_until: Option<Instant>,
    linger_ns: u64,

    cache: SendCache,
    tail: Tail,
    coded: CodedTail,
    /// Both ends send and take repair symbols.
    both_code: bool,
    told: Told,
    /// The peer knows POLLs that spare STATs what they have told before.
    peer_takes_increments: bool,
    poll: PollClock,
    persist: Retry,
    /// A POLL belongs right behind the packet just sent, which had no room for it.
    poll_owed: bool,
    controller: Box<dyn Controller>,
    /// The rate of the path is measured, and followed.
    following: Option<Following>,
    /// Octets of all segments sent.
    sent_octets: u64,
    loss_events: LossEvents,
    /// For controllers that go by delivery rates.
    delivery_log: Option<Box<DeliveryLog>>,
    pace: Pacer,
    /// Packets that may leave without pacing.
    unpaced_packets: u64,
    rtt: RttEstimator,
    /// Data transmissions so far.
    order: u64,
    bytes_since_poll: u64,
    first_data_at: Option<Instant>,
    last_data_at: Instant,
    /// When the last outstanding packet was acknowledged.
    emptied_at: Instant,
    cycle: Option<Cycle>,
    /// Packets last sent up to this moment vanished for the reason found.
    judged: Option<(Instant, skyhaul_core::Verdict)>,
    /// The round trip measured before the latest.
    previous_rtt_ns: Option<u64>,
    peer_window_bytes: u64,
    peer_max_payload: usize,
    /// STATs are to carry when their POLL came, and what had come by then.
    peer_wants_timing: bool,
    /// Octets of the segments received.
    received_octets: u64,
    writer_waits: bool,

    assembly: Option<Assembly>,
    watch: GapWatch,
    repairs: Repairs,
    newest_poll: Option<u32>,
    /// STATs have told what is missing below.
    told_to: u64,
    /// The peer does not want to be told of gaps by USTAT.
    spares_ustats: bool,
    /// The peer polled again after a STAT had left, so it most likely has that STAT.
    polled_again: bool,
    ustat_credit: u32,
    window_closed: bool,
    replies: Replies,

    last_heard: Instant,
    last_sent: Instant,
    state_told: State,
    resume_told: Option<ResumePhase>,
    events: VecDeque<StreamEvent>,
    stats: Stats,
}

/// What a connection works with during one call.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut Path,
    pub(crate) sink: &'a mut dyn EventSink,
}

impl Connection {
    /// A connection that opens. Its BGN leaves with the first data if `held`, else at once.
    pub(crate) fn open(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        held: bool,
        context: &mut Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, true, context);
        connection.start_sampling(context);
        connection.obey(context);
        connection.held = held;
        connection.begin.start(context.now);
        connection
    }

    /// A connection that a BGN asked for.
    pub(crate) fn accept(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        bgn: &Opening,
        withhold: bool,
        context: &mut Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, false, context);
        connection.start_sampling(context);
        connection.obey(context);
        connection.withhold = withhold;
        connection.learn_peer(bgn, context);
        connection.opened = true;
        connection.replies.bgnak = true;
        connection.state_told = State::Established;
        connection
    }

    fn new(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        is_opener: bool,
        context: &Context<'_>,
    ) -> Self {
        let mss = Self::largest_payload(&config, context.path, usize::MAX);
        // One wrap above zero, so that no number before the first is negative.
        let initial = NUMBER_MODULUS + u64::from(entropy.initial) % NUMBER_MODULUS;
        Self {
            id,
            names,
            is_opener,
            initial,
            opened: false,
            early_to: 0,
            held: false,
            proven: is_opener,
            peer_is_free: false,
            quiet_polls: 0,
            withhold: false,
            opened_at: context.now,
            begin: Retry::new(config.bgn_timer_ns, config.max_timer_ns),
            end_number: None,
            end_acknowledged: false,
            end: Retry::new(config.end_timer_ns, config.max_timer_ns),
            write_finished: false,
            finished_told: false,
            is_closed: false,
            close_reason: None,
            linger_until: None,
            linger_ns: 0,
            cache: SendCache::new(initial),
            tail: Tail::default(),
            coded: CodedTail::default(),
            both_code: false,
            told: Told::new(initial),
            peer_takes_increments: false,
            poll: PollClock::new(entropy.timestamp_offset),
            persist: Retry::new(SECOND, config.max_timer_ns),
            poll_owed: false,
            controller: config.build_controller(controller_config(&config, mss, context.path, entropy)),
            following: Following::wanted(&config),
            sent_octets: 0,
            loss_events: LossEvents::default(),
            delivery_log: None,
            pace: Pacer::new(1_000_000, 0),
            unpaced_packets: config.initial_window_packets.max(config.few_packets),
            rtt: RttEstimator::new(config.initial_rtt_ns),
            order: 0,
            bytes_since_poll: 0,
            first_data_at: None,
            last_data_at: context.now,
            emptied_at: context.now,
            cycle: None,
            judged: None,
            previous_rtt_ns: None,
            peer_window_bytes: config.early_window_bytes,
            peer_max_payload: usize::MAX,
            peer_wants_timing: false,
            received_octets: 0,
            writer_waits: false,
            assembly: None,
            watch: GapWatch::new(0, config.ustat_threshold),
            repairs: Repairs::default(),
            newest_poll: None,
            told_to: 0,
            spares_ustats: false,
            polled_again: false,
            ustat_credit: config.ustats_per_poll.unwrap_or(0),
            window_closed: false,
            replies: Replies::default(),
            last_heard: context.now,
            last_sent: context.now,
            state_told: State::BgnSent,
            resume_told: None,
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        }
    }

    /// Takes what the peer's opening says.
    fn learn_peer(&mut self, opening: &Opening, context: &Context<'_>) {
        let initial = NUMBER_MODULUS + u64::from(opening.initial);
        self.peer_window_bytes = u64::from(opening.window_bytes);
        self.both_code = opening.options.repairs && self.config.coded_tail;
        self.peer_max_payload = usize::from(opening.max_payload_bytes).max(1);
        self.peer_wants_timing = opening.options.timing;
        self.peer_takes_increments = opening.options.increments;
        self.told_to = initial;
        self.assembly = Some(Assembly::new(initial, self.config.receive_limit_bytes));
        self.watch = GapWatch::new(initial, self.config.ustat_threshold);
        self.last_heard = context.now;
    }

    fn largest_payload(config: &Config, path: &Path, peer_max: usize) -> usize {
        (path.max_segment_bytes() - HEADER_BYTES).min(config.max_payload_bytes).min(peer_max)
    }

    /// Largest payload of an SD without other bodies.
    fn mss_bytes(&self, path: &Path) -> usize {
        Self::largest_payload(&self.config, path, self.peer_max_payload)
    }

    fn our_opening(&self, path: &Path) -> Opening {
        let max = Self::largest_payload(&self.config, path, usize::MAX);
        let window = self.assembly.as_ref().map_or(self.config.receive_limit_bytes, Assembly::window_bytes);
        Opening {
            max_payload_bytes: max.min(usize::from(u16::MAX)) as u16,
            initial: skyhaul_core::wire(self.initial),
            window_bytes: window.min(u64::from(u32::MAX)) as u32,
            nonce: self.names.nonce,
            options: Options {
                timing: self.config.wants_timing(),
                repairs: self.config.coded_tail,
                increments: self.config.incremental_stats,
            },
        }
    }

    /// What the application may know of the connection's life so far.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            rtt_min_ns: self.rtt.is_known().then(|| self.rtt.min_ns()),
            rtt_smoothed_ns: self.rtt.is_known().then(|| self.rtt.smoothed_ns()),
            controller: self.controller.name(),
            cwnd_bytes: self.controller.snapshot().cwnd_bytes,
            delivered_bytes: self.assembly.as_ref().map_or(0, Assembly::delivered_bytes),
            in_flight_bytes: self.cache.in_flight_bytes(),
            last_heard: self.last_heard,
            ..self.stats
        }
    }

    /// The state that what happened amounts to.
    pub(crate) fn state(&self) -> State {
        if self.is_closed {
            return State::Closed;
        }
        if self.linger_until.is_some() {
            return State::Linger;
        }
        let peer_ended = self.assembly.as_ref().is_some_and(Assembly::is_complete);
        match (self.opened, self.end_number.is_some(), peer_ended) {
            (false, true, _) => State::BgnDataEndSent,
            (false, false, _) if self.order > 0 => State::BgnDataSent,
            (false, false, _) => State::BgnSent,
            (true, false, false) => State::Established,
            (true, false, true) => State::HalfClosedRemote,
            (true, true, false) if self.end_acknowledged => State::HalfClosedLocal,
            (true, true, false) => State::EndSent,
            (true, true, true) => State::Closing,
        }
    }

    /// Bytes that the send buffer takes at most: a few bandwidth-delay products of a declared rate.
    fn send_limit_bytes(&self) -> u64 {
        let cap = self.config.send_limit_bytes;
        let (Some(rate_bps), Some(bdps)) = (self.path_rate_bps(), self.config.send_limit_bdps) else {
            return cap;
        };
        let bits = u128::from(rate_bps) * u128::from(self.rtt.smoothed_ns()) / u128::from(SECOND);
        let bdp_bytes = (bits / 8) as u64;
        bdp_bytes.saturating_mul(bdps).max(1 << 20).min(cap)
    }

    /// What the send buffer holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.cache.held_bytes()
    }

    /// Room in the send buffer.
    pub(crate) fn writable_bytes(&self) -> u64 {
        self.send_limit_bytes().saturating_sub(self.cache.held_bytes())
    }

    /// Takes as much of `data` as there is room for; 0 means: wait for [`StreamEvent::Writable`].
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.check_open()?;
        if self.write_finished {
            return Err(StreamError::Finished);
        }
        let taken = data.len().min(usize::try_from(self.writable_bytes()).unwrap_or(usize::MAX));
        self.cache.write(&data[..taken], self.config.send_limit_bytes);
        self.held &= taken == 0;
        self.writer_waits = taken < data.len();
        Ok(taken)
    }

    /// Reads into `out`: `Some(n)`, n = 0 at the end; `None` when nothing is there yet.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.held = false;
        if self.withhold {
            return self.check_open().map(|()| None);
        }
        let Some(assembly) = &mut self.assembly else { return self.check_open().map(|()| None) };
        if assembly.readable_bytes() == 0 {
            let ended = assembly.is_complete();
            return if ended { Ok(Some(0)) } else { self.check_open().map(|()| None) };
        }
        let read = assembly.read(out);
        self.offer_window();
        Ok(Some(read))
    }

    /// Nothing more will be written; what was written is still delivered.
    pub(crate) fn finish(&mut self) {
        self.write_finished = true;
        self.held = false;
    }

    /// Ends both directions at once and tells the peer.
    pub(crate) fn abort(&mut self, reason: ResetReason) {
        if !self.is_closed {
            self.replies.rst = Some(reason);
            self.close(Some(CloseReason::AbortedHere));
        }
    }

    fn check_open(&self) -> Result<(), StreamError> {
        if self.is_closed { Err(StreamError::Closed(self.close_reason)) } else { Ok(()) }
    }

    /// The next event for the application.
    pub(crate) fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// Tells the application, once until it has taken note.
    fn tell(&mut self, event: StreamEvent) {
        if !self.events.contains(&event) {
            self.events.push_back(event);
        }
    }

    fn emit(&self, context: &mut Context<'_>, event: Event) {
        if context.sink.wants() {
            context.sink.emit(context.now, self.id, event);
        }
    }

    /// Emits a state event if the state changed since the last.
    pub(crate) fn tell_state(&mut self, context: &mut Context<'_>) {
        self.tell_resume(context);
        let state = self.state();
        if state != self.state_told {
            let event = Event::State { from: self.state_told.name(), to: state.name() };
            self.state_told = state;
            self.emit(context, event);
        }
    }

    /// Whether the peer has shown that it receives what is sent to its address.
    pub(crate) fn is_proven(&self) -> bool {
        self.proven
    }

    /// Asks the peer to show whether it still knows this connection.
    pub(crate) fn challenge(&mut self) {
        self.poll_owed = self.opened;
    }

    /// Whether the endpoint may forget the connection: closed, and the reset (if any) is sent.
    pub(crate) fn is_done(&self) -> bool {
        self.is_over() && self.events.is_empty()
    }
}
