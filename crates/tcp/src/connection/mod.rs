//! A connection: what the application sees of it, and what happened to it. Input, acknowledgements, recovery,
//! output and timers are in files of their own.

mod acknowledge;
mod delivery;
mod ecn;
mod extensions;
mod icmp;
mod input;
mod keepalive;
mod loss;
mod opening;
mod output;
mod pacing;
mod path_mtu;
mod prr;
mod recovery;
mod rto;
mod sending;
mod spurious;
mod state;
mod timers;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use skyhaul_congestion::Controller;
use skyhaul_core::event::{Refusal, Repeat, Verdict};
use skyhaul_core::{CloseReason, Event, EventSink, Instant, Path, Stats, StreamError, StreamEvent};

use crate::config::Config;
use crate::receive::Assembly;
use crate::segment::{HEADER_BYTES, Way};
use delivery::Sampling;
use ecn::Marks;
use extensions::Extensions;
pub(crate) use icmp::Belief;
use keepalive::Silence;
use opening::Agreed;
use pacing::Pace;
pub(crate) use path_mtu::LEARNT_FOR_NS;
use path_mtu::PathMtu;
use recovery::Repair;
use rto::Rto;
use sending::Sending;
pub use state::State;
use timers::{AckDue, Challenges, Persist};

/// Ports and addresses: what names a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Names {
    pub(crate) way: Way,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
}

/// Random values that a new connection needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    pub(crate) initial: u32,
    pub(crate) timestamp_offset: u32,
}

/// What a connection works with during one call.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut Path,
    pub(crate) sink: &'a mut dyn EventSink,
}

/// An RST that waits to be sent: its number, and what it acknowledges.
#[derive(Clone, Copy, Debug)]
struct Reset {
    sequence: u64,
    acknowledges: bool,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    id: u64,
    config: Arc<Config>,
    pub(crate) names: Names,
    state: State,
    /// As last told in an event.
    told_state: State,
    close_reason: Option<CloseReason>,
    /// A peer opened it.
    pub(crate) is_passive: bool,
    released: bool,
    finished_told: bool,

    sending: Sending,
    agreed: Agreed,
    /// Largest payload of a segment without SACK blocks.
    mss_bytes: u64,
    path_mtu: PathMtu,
    marks: Marks,
    extensions: Extensions,
    silence: Silence,
    /// Our clock when something first went again, until its acknowledgement tells whether it had to.
    doubt: Option<u32>,
    /// After a repair without SACK the window opens no faster than this [RFC 6582 3.2 (3)].
    burst_cap_bytes: Option<u64>,
    /// The verdict of the last loss.
    verdict: Verdict,
    /// What losses are taken for where no judge says otherwise.
    assumed_cause: Verdict,
    /// The link was judged to be gone: one segment at a time, until something is acknowledged.
    in_outage: bool,
    /// A router said that the peer is out of reach, and nothing came since.
    is_unreachable: bool,
    controller: Box<dyn Controller>,
    pace: Pace,
    sampling: Sampling,
    /// The controller was told of a loss event (or timeout) that is not over.
    told_event: bool,
    repair: Option<Repair>,
    duplicate_acks: u32,
    /// What was under way at the first of them [RFC 5681 3.2].
    flight_at_duplicate_bytes: u64,
    /// Fast recovery does not begin before this is acknowledged [RFC 6582 3.2].
    recovered_to: u64,
    writer_waits: bool,

    rto: Rto,
    retransmit_at: Option<Instant>,
    /// Timeouts since something new was acknowledged.
    timeouts: u32,
    /// Why what lies between SND.NXT and the highest number sent goes again.
    again: Repeat,
    /// The end of a segment sent once, and when: a round trip being measured.
    timing: Option<(u64, Instant)>,
    /// Timestamps measure the next round trip from this number on: one a window [RFC 6298 3].
    echo_mark: u64,
    last_data_at: Instant,
    persist: Persist,

    assembly: Option<Assembly>,
    ack_due: AckDue,
    unacked_packets: u32,
    challenges: Challenges,
    reset: Option<Reset>,
    /// End of TIME-WAIT, or of the patience in FIN-WAIT-2.
    quiet_until: Option<Instant>,

    events: VecDeque<StreamEvent>,
    stats: Stats,
}

impl Connection {
    fn new(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        state: State,
        context: &Context<'_>,
    ) -> Self {
        let room = context.path.max_segment_bytes().saturating_sub(HEADER_BYTES) as u64;
        let mss_bytes = room.min(u64::from(config.mss_bytes)).max(1);
        let sending = Sending::new(entropy.initial, config.send_limit_bytes);
        Self {
            id,
            names,
            state,
            told_state: state,
            close_reason: None,
            is_passive: false,
            released: false,
            finished_told: false,
            recovered_to: sending.initial,
            echo_mark: sending.initial,
            sending,
            agreed: Agreed::new(entropy.timestamp_offset),
            mss_bytes,
            path_mtu: PathMtu::default(),
            marks: Marks::default(),
            extensions: Extensions::default(),
            silence: Silence::new(context.now),
            doubt: None,
            burst_cap_bytes: None,
            verdict: Verdict::Congestion,
            assumed_cause: Verdict::Congestion,
            in_outage: false,
            is_unreachable: false,
            controller: config.controller.build(config.controller_config(mss_bytes, false)),
            pace: Pace::default(),
            sampling: Sampling::OFF,
            told_event: false,
            repair: None,
            duplicate_acks: 0,
            flight_at_duplicate_bytes: 0,
            writer_waits: false,
            rto: Rto::new(&config),
            retransmit_at: None,
            timeouts: 0,
            again: Repeat::Timer,
            timing: None,
            last_data_at: context.now,
            persist: Persist::default(),
            assembly: None,
            ack_due: AckDue::No,
            unacked_packets: 0,
            challenges: Challenges::default(),
            reset: None,
            quiet_until: None,
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Whether nothing is left to do or to say.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Closed && self.reset.is_none()
    }

    /// Takes as much of `data` as there is room for.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        if self.state == State::Closed {
            return Err(StreamError::Closed(self.close_reason));
        }
        if self.sending.is_finished {
            return Err(StreamError::Finished);
        }
        let taken = self.sending.buffer.write(data);
        self.writer_waits |= taken < data.len();
        Ok(taken)
    }

    /// What the send buffer holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.sending.buffer.held_bytes()
    }

    pub(crate) fn writable_bytes(&self) -> u64 {
        let open = self.state != State::Closed && !self.sending.is_finished;
        if open { self.sending.buffer.room_bytes() as u64 } else { 0 }
    }

    /// `Some(0)` at the end of the stream, `None` when nothing is there yet. What arrived before the
    /// connection went can still be read.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        if let Some(assembly) = self.assembly.as_mut() {
            let count = assembly.read(out);
            let opens = assembly.should_tell(self.mss_bytes);
            if count > 0 && opens && self.state.may_receive() {
                self.ack_due = AckDue::Now; // the window opens
            }
            if count > 0 || assembly.is_complete() {
                return Ok(Some(count));
            }
        }
        if self.state == State::Closed { Err(StreamError::Closed(self.close_reason)) } else { Ok(None) }
    }

    /// Nothing more will be written.
    pub(crate) fn finish(&mut self) {
        self.sending.is_finished = true;
    }

    /// Ends the connection at once; the peer is told [RFC 9293 3.10.5].
    pub(crate) fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::SynSent | State::TimeWait) {
            self.reset = Some(Reset { sequence: self.sending.max, acknowledges: true });
        }
        self.close(Some(CloseReason::AbortedHere));
    }

    /// The application lets go: what was written is delivered, nothing is read any more.
    pub(crate) fn release(&mut self, now: Instant) {
        self.released = true;
        self.finish();
        if self.state == State::FinWait2 {
            self.quiet_until = Some(now.after(self.config.fin_wait_ns));
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    pub(crate) fn stats(&self) -> Stats {
        let rtt = self.rto.rtt();
        Stats {
            delivered_bytes: self.assembly.as_ref().map_or(0, Assembly::delivered_bytes),
            in_flight_bytes: self.flight_bytes(),
            cwnd_bytes: self.controller.window_bytes(),
            controller: self.controller.name(),
            rtt_min_ns: rtt.is_known().then(|| rtt.min_ns()),
            rtt_smoothed_ns: rtt.is_known().then(|| rtt.smoothed_ns()),
            rto_ns: self.rto.timeout_ns(),
            ..self.stats
        }
    }

    fn close(&mut self, reason: Option<CloseReason>) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.close_reason = reason;
            self.tell(StreamEvent::Closed(reason));
        }
    }

    fn tell(&mut self, event: StreamEvent) {
        if self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }

    fn emit(&self, context: &mut Context<'_>, event: Event) {
        if context.sink.wants() {
            context.sink.emit(context.now, self.id, event);
        }
    }

    fn refuse(&mut self, why: Refusal, context: &mut Context<'_>) {
        self.stats.count_refusal(why);
        self.emit(context, Event::Refused { why });
    }

    /// Emits the change of state since the last call.
    fn tell_state(&mut self, context: &mut Context<'_>) {
        let (from, to) = (self.told_state.name(), self.state.name());
        if from != to {
            self.told_state = self.state;
            self.emit(context, Event::State { from, to });
        }
    }

    fn enter(&mut self, state: State, context: &Context<'_>) {
        self.state = state;
        self.quiet_until = match state {
            State::TimeWait => Some(context.now.after(self.config.time_wait_ns)),
            State::FinWait2 if self.released => Some(context.now.after(self.config.fin_wait_ns)),
            _ => None,
        };
    }
}
