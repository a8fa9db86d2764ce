//! The handshake: what the two SYNs agree on.

use alloc::boxed::Box;
use alloc::sync::Arc;

use skyhaul_congestion::{Controller, ControllerConfig};
use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, Instant, Path, ResetReason, StreamEvent};

use super::timers::AckDue;
use super::{Connection, Context, Entropy, Names, Reset, State};
use crate::config::{Config, Recovery};
use crate::receive::Assembly;
use crate::segment::{HEADER_BYTES, Options, Segment, Timestamps, flags};
use crate::sequence::{expand, initial, is_earlier, wire};

/// Largest shift of a window [RFC 7323 2.3].
const MAX_SHIFT: u8 = 14;
/// Payload that every peer takes if it does not say otherwise [RFC 9293 3.7.1].
const DEFAULT_MSS: u16 = 536;
/// From the last number of a connection to the first one of a successor: no late segment lies within its window.
const SUCCESSOR_STEP: u32 = 1 << 16;
/// Segments are never cut smaller than this, whatever a peer asks for: tiny ones would be all header.
const MIN_MSS: u64 = 88;

/// What both ends agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// Shift of the windows that the peer tells.
    pub(super) send_shift: u8,
    /// Shift of the windows that we tell.
    pub(super) receive_shift: u8,
    /// Both scale their windows.
    pub(super) scales: bool,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// Added to our clock, so that it does not tell how long this host runs.
    pub(super) timestamp_offset: u32,
    /// TS.Recent and when it was taken.
    pub(super) recent: u32,
    pub(super) recent_at: Instant,
    /// RCV.NXT as last acknowledged.
    pub(super) last_ack_sent: u64,
    /// Largest payload that the peer takes, options counted.
    pub(super) peer_mss: u16,
    /// Number of the peer's SYN.
    pub(super) peer_initial: u64,
}

impl Agreed {
    pub(super) fn new(timestamp_offset: u32) -> Self {
        Self {
            send_shift: 0,
            receive_shift: 0,
            scales: false,
            sack: false,
            timestamps: false,
            timestamp_offset,
            recent: 0,
            recent_at: Instant::ZERO,
            last_ack_sent: 0,
            peer_mss: u16::MAX,
            peer_initial: 0,
        }
    }

    /// What options leave of a segment of `mss_bytes`.
    pub(super) fn payload_room(&self, mss_bytes: u64) -> u64 {
        let every = if self.timestamps { 12 } else { 0 };
        mss_bytes.max(MIN_MSS).saturating_sub(every).max(1)
    }
}

/// The smallest shift that can tell a window of `limit_bytes`.
fn shift_for(limit_bytes: u64) -> u8 {
    (0..MAX_SHIFT).find(|shift| limit_bytes >> shift <= 0xFFFF).unwrap_or(MAX_SHIFT)
}

impl Connection {
    /// A connection that opens.
    pub(crate) fn open(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        context: &Context<'_>,
    ) -> Self {
        Self::new(id, names, entropy, config, State::SynSent, context)
    }

    /// A connection that the SYN in `segment` asked for.
    pub(crate) fn accept(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        segment: &Segment<'_>,
        context: &Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, State::SynReceived, context);
        connection.is_passive = true;
        connection.learn_peer(segment, context);
        connection
    }

    /// Options of our SYN. An answer offers only what was offered.
    pub(super) fn opening_options(&self, path: &Path, now: Instant) -> Options {
        let config = &self.config;
        let answers = self.state == State::SynReceived;
        let shift = shift_for(config.receive_limit_bytes);
        let room = path.max_segment_bytes().saturating_sub(HEADER_BYTES).min(0xFFFF) as u16;
        let timestamps = if answers { self.agreed.timestamps } else { config.timestamps };
        let scales = if answers { self.agreed.scales } else { config.window_scale };
        let options = Options {
            mss: Some(room.min(config.mss_bytes)),
            window_scale: scales.then_some(shift),
            sack_permitted: if answers { self.agreed.sack } else { config.recovery == Recovery::Sack },
            timestamps: timestamps.then(|| self.timestamps(now)),
            ..Options::default()
        };
        Options { extra: self.offered_options(&options), ..options }
    }

    pub(super) fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.clock(now), echo: self.agreed.recent }
    }

    /// Our timestamp clock.
    pub(super) fn clock(&self, now: Instant) -> u32 {
        let ticks = now.as_ns() / self.config.timestamp_tick_ns.max(1);
        (ticks as u32).wrapping_add(self.agreed.timestamp_offset)
    }

    /// Takes what the peer's SYN says.
    pub(super) fn learn_peer(&mut self, segment: &Segment<'_>, context: &Context<'_>) {
        let (options, config) = (&segment.options, Arc::clone(&self.config));
        let first = initial(segment.sequence);
        let scale = options.window_scale.filter(|_| config.window_scale);
        let limit_bytes = match scale {
            Some(shift) => {
                self.agreed.scales = true;
                self.agreed.send_shift = shift.min(MAX_SHIFT);
                self.agreed.receive_shift = shift_for(config.receive_limit_bytes);
                config.receive_limit_bytes
            }
            None => config.receive_limit_bytes.min(0xFFFF),
        };
        self.agreed.sack = options.sack_permitted && config.recovery == Recovery::Sack;
        if let Some(timestamps) = options.timestamps.filter(|_| config.timestamps) {
            self.agreed.timestamps = true;
            (self.agreed.recent, self.agreed.recent_at) = (timestamps.value, context.now);
        }
        self.learn_ecn(segment);
        self.learn_options(segment);
        self.agreed.last_ack_sent = first + 1;
        self.agreed.peer_initial = first;
        self.agreed.peer_mss = options.mss.unwrap_or(DEFAULT_MSS);
        self.update_mss(context.path);
        self.assembly = Some(Assembly::new(first + 1, limit_bytes.max(1)));
        self.sending.told_by = (0, first);
        self.sending.take_window(first, 0, u64::from(segment.window));
    }

    /// Whether this SYN is no late one of this connection, which is over; if so, a number beyond all of ours
    /// [RFC 6191 2].
    pub(crate) fn successor(&self, segment: &Segment<'_>, takes_timestamps: bool) -> Option<u32> {
        let is_syn = segment.has(flags::SYN) && !segment.has(flags::ACK);
        if self.state != State::TimeWait || !is_syn {
            return None;
        }
        let is_beyond = is_earlier(wire(self.assembly.as_ref()?.next()), segment.sequence);
        let stamp = segment.options.timestamps.filter(|_| takes_timestamps).map(|stamps| stamps.value);
        let recent = self.agreed.recent;
        let is_new = match (self.agreed.timestamps, stamp) {
            (true, Some(stamp)) => is_earlier(recent, stamp) || (stamp == recent && is_beyond),
            (false, Some(_)) => true,
            (_, None) => is_beyond,
        };
        is_new.then(|| wire(self.sending.max).wrapping_add(SUCCESSOR_STEP))
    }

    /// Opened by a peer that has not confirmed it, though our answer was repeated already: most likely nobody is there.
    pub(crate) fn is_likely_nobody(&self) -> bool {
        self.state == State::SynReceived && self.timeouts > 0
    }

    /// A successor takes the ports, or somebody else the room.
    pub(crate) fn give_way(&mut self) {
        self.close(None);
    }

    /// Our SYN is acknowledged, and the peer's is known.
    pub(super) fn establish(&mut self, context: &mut Context<'_>) {
        let syn_was_lost = self.timeouts > 0;
        if syn_was_lost {
            self.rto.syn_was_lost();
        }
        self.controller = self.first_controller(syn_was_lost, context);
        self.start_sampling(context);
        self.enter(State::Established, context);
        self.timeouts = 0;
        self.tell(StreamEvent::Connected);
    }

    fn first_controller(&self, syn_was_lost: bool, context: &Context<'_>) -> Box<dyn Controller> {
        let header_bytes = HEADER_BYTES + if self.agreed.timestamps { 12 } else { 0 };
        let rtt = self.rto.rtt();
        let timed = self.timing.map(|(_, sent_at)| context.now.since(sent_at));
        self.config.controller.build(ControllerConfig {
            overhead_bytes: u64::from(context.path.wire_bytes(header_bytes)),
            rtt_ns: if rtt.is_known() { Some(rtt.smoothed_ns()) } else { timed },
            seed: self.sending.initial << 32 | u64::from(self.agreed.timestamp_offset),
            ..self.config.controller_config(self.mss_bytes, syn_was_lost)
        })
    }

    /// In SYN-SENT [RFC 9293 3.10.7.3].
    pub(super) fn handle_syn_sent(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let acknowledgement = expand(segment.acknowledgement, self.sending.max);
        let has_ack = segment.has(flags::ACK);
        if has_ack && !(self.sending.una + 1..=self.sending.max).contains(&acknowledgement) {
            if !segment.has(flags::RST) {
                self.reset = Some(Reset { sequence: acknowledgement, acknowledges: false });
            }
            return self.refuse(Refusal::Absurd, context);
        }
        if segment.has(flags::RST) {
            return if has_ack {
                self.close(Some(CloseReason::Reset(Some(ResetReason::Refused))));
            } else {
                self.refuse(Refusal::Absurd, context);
            };
        }
        if !segment.has(flags::SYN) {
            return;
        }
        self.learn_peer(segment, context);
        if has_ack {
            self.take_acknowledgement(acknowledgement, segment, context);
            self.establish(context);
            self.ack_due = AckDue::Now;
        } else {
            // Both opened at once: our SYN goes again, with an acknowledgement [RFC 9293 3.5].
            self.enter(State::SynReceived, context);
            self.sending.nxt = self.sending.initial;
            self.timing = None;
        }
    }

    /// Whether it answers our SYN, which crossed the peer's: its number is that of the SYN which is known, so it
    /// lies before the window.
    pub(super) fn is_crossing_answer(&self, segment: &Segment<'_>, sequence: u64) -> bool {
        let is_answer = segment.has(flags::SYN | flags::ACK) && !segment.has(flags::RST);
        self.state == State::SynReceived && is_answer && sequence == self.agreed.peer_initial
    }

    /// What is new is the acknowledgement [RFC 9293 3.5]. It is answered, as ours may have been lost.
    pub(super) fn take_crossing_answer(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let acknowledgement = expand(segment.acknowledgement, self.sending.max);
        if self.check_acknowledgement(acknowledgement, context) {
            self.heard(context.now);
            self.take_acknowledgement(acknowledgement, segment, context);
            self.establish(context);
            self.ack_due = AckDue::Now;
        }
    }
}
