//! The handshake: our SYN and the peer's, and the connection that may follow one that is over.

use alloc::sync::Arc;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Class, CloseReason, Instant, Path, ResetReason, StreamEvent};

use super::life::Life;
use super::{Connection, Context, Entropy, Names, State};
use crate::agreed::{Agreed, ECN_SETUP, shift_for};
use crate::call::Call;
use crate::config::Config;
use crate::segment::{ExtraOptions, HEADER_BYTES, Options, Segment, Timestamps, flags};
use crate::sequence::{expand, truncate};

/// Distance from the last number of a connection to the first one of a successor: no late segment lies within
/// its window.
const SUCCESSOR_STEP: u32 = 1 << 16;

/// Options of a SYN, those of other protocols left out. `agreed`: what an answer goes by.
/// `segment_bytes`: the largest segment of the path.
pub(crate) fn syn_options(
    config: &Config,
    agreed: Option<Agreed>,
    segment_bytes: usize,
    timestamps: Timestamps,
) -> Options {
    let shift = shift_for(config.receive_limit_bytes);
    let stamps = agreed.map_or(config.timestamps, |agreed| agreed.timestamps);
    let scales = agreed.map_or(config.window_scale, |agreed| agreed.scales);
    Options {
        mss: Some(our_mss(config, segment_bytes)),
        window_scale: scales.then_some(shift),
        sack_permitted: agreed.map_or(config.recovery.wants_sack(), |agreed| agreed.sack),
        timestamps: stamps.then_some(timestamps),
        ..Options::default()
    }
}

/// Largest payload that we ask for, where the largest segment of the path has `segment_bytes`.
fn our_mss(config: &Config, segment_bytes: usize) -> u16 {
    let room = segment_bytes.saturating_sub(HEADER_BYTES).min(0xFFFF) as u16;
    room.min(config.mss_bytes)
}

impl Connection {
    /// Connection that opens.
    pub(crate) fn open(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        context: &Context<'_>,
    ) -> Self {
        Self::new(id, names, entropy, config, Life::opening(), context)
    }

    /// Connection that the SYN in `segment` asked for.
    pub(crate) fn accept(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        segment: &Segment<'_>,
        context: &Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, Life::answering(), context);
        connection.learn_peer(segment, context);
        connection
    }

    /// Connection that `syn` asked for, and whose answer left before there was a connection.
    pub(crate) fn resume(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        syn: &Segment<'_>,
        context: &Context<'_>,
    ) -> Self {
        let mut connection = Self::accept(id, names, entropy, config, syn, context);
        connection.sender.assume_syn_sent();
        // The window that the answer told.
        let _ = connection.receiver.acknowledge(true, Class::Normal, connection.sender.mss_bytes());
        connection
    }

    /// Options of our SYN. An answer offers only what was offered.
    pub(super) fn opening_options(&self, path: &Path, now: Instant) -> Options {
        let answers = self.life.state() != State::SynSent;
        let agreed = answers.then(|| self.sender.agreed());
        let options = syn_options(&self.config, agreed, path.max_segment_bytes(), self.timestamps(now));
        let mut extra = ExtraOptions::default();
        if let Some(scps) = self.config.in_force(agreed.is_none_or(|agreed| agreed.scps.is_some())) {
            scps.offer(self.number).push(&mut extra); // a SYN has room for it beside all others
        }
        self.push_opening(&options, &mut extra);
        Options { extra, ..options }
    }

    pub(super) fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.sender.clock().value(now), echo: self.receiver.recent() }
    }

    /// ECN bits of our SYN. A repeat asks no more: something on the way may not like the question
    /// [RFC 3168 6.1.1.1].
    pub(super) fn ecn_setup(&self) -> u8 {
        match self.life.state() {
            State::SynSent if self.config.wants_ecn() && self.sender.timeouts() == 0 => ECN_SETUP,
            State::SynSent => 0,
            _ if self.sender.agreed().ecn => flags::ECE,
            _ => 0,
        }
    }

    /// Takes what the peer's SYN says.
    fn learn_peer(&mut self, syn: &Segment<'_>, context: &Context<'_>) {
        let offers_ecn = self.life.state() != State::SynSent || self.sender.timeouts() == 0;
        let our_mss = our_mss(&self.config, context.path.max_segment_bytes());
        let agreed =
            Agreed::learn(&self.config, syn, offers_ecn).with_scps(&self.config, our_mss, self.number, syn);
        self.receiver.learn_peer(agreed, syn, &self.config, context.now);
        let window = (self.receiver.peer_initial(), u64::from(syn.window));
        self.sender.learn_peer(agreed, window, context);
        self.agree_on_counts(context);
    }

    /// First number of ours for the connection that this SYN opens between the same ends, if it is no late
    /// one of this connection, which is over: beyond everything that this one used [RFC 6191 2].
    pub(crate) fn successor(&self, segment: &Segment<'_>, takes_timestamps: bool) -> Option<u32> {
        let is_syn = segment.has(flags::SYN) && !segment.has(flags::ACK);
        let counts_on = self.opening.as_ref().is_some_and(|opening| opening.is_successor(segment));
        let is_new = is_syn
            && match self.life.state() {
                State::TimeWait => counts_on || self.receiver.is_successor(segment, takes_timestamps),
                // The peer has our FIN, or it would not count on [RFC 1644 3.4].
                State::LastAck | State::Closing => counts_on && self.sender.has_fin_alone_under_way(),
                _ => false,
            };
        is_new.then(|| truncate(self.sender.max()).wrapping_add(SUCCESSOR_STEP))
    }

    /// Our SYN is acknowledged, and the peer's is known.
    pub(super) fn establish(&mut self, context: &Context<'_>) {
        self.sender.establish(context.now, context.path);
        self.life.establish();
        self.tell(StreamEvent::Connected);
        self.learn_by_handshake();
        if self.sender.agreed().tells_window_late(&self.config) {
            self.receiver.acknowledge_now();
        }
    }

    /// A segment arrived in SYN-SENT [RFC 9293 3.10.7.3].
    pub(super) fn handle_syn_sent(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let acknowledgement = expand(segment.acknowledgement, self.sender.max());
        let has_ack = segment.has(flags::ACK);
        if has_ack && !self.acknowledges_syn(acknowledgement) {
            if !segment.has(flags::RST) {
                self.life.owe_reset(acknowledgement, false);
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
        if has_ack && !self.judge_answer(segment) {
            self.life.owe_reset(acknowledgement, false);
            return self.refuse(Refusal::Absurd, context);
        }
        self.learn_peer(segment, context);
        if has_ack {
            self.finish_handshake(acknowledgement, segment, context);
        } else {
            // Both opened at once: our SYN goes again, with an acknowledgement [RFC 9293 3.5].
            self.life.cross();
            self.sender.repeat_syn(self.sender.agreed());
        }
    }

    /// True if our SYN is what this number acknowledges.
    pub(super) fn acknowledges_syn(&self, acknowledgement: u64) -> bool {
        (self.sender.una() + 1..=self.sender.max()).contains(&acknowledgement)
    }

    /// Takes the answer to our SYN. It is answered, as ours may have been lost.
    pub(super) fn finish_handshake(
        &mut self,
        acknowledgement: u64,
        segment: &Segment<'_>,
        context: &mut Context<'_>,
    ) {
        self.silence.heard(context.now);
        let mut call = Call::new(self.id, &mut self.stats, context);
        self.sender.acknowledge(acknowledgement, segment, &mut call);
        self.establish(context);
        self.open_window_of_syn();
        if self.config.bare_acks {
            self.receiver.acknowledge_alone();
        } else {
            self.receiver.acknowledge_now();
        }
        self.finish_early(segment, context);
    }

    /// True if it answers our SYN, which crossed the peer's: its number is that of the SYN which is known, so
    /// it lies before the window [RFC 9293 3.5].
    pub(super) fn is_crossing_answer(&self, segment: &Segment<'_>, sequence: u64) -> bool {
        let is_answer = segment.has(flags::SYN | flags::ACK) && !segment.has(flags::RST);
        let is_opening = self.life.state() == State::SynReceived;
        is_opening && is_answer && sequence == self.receiver.peer_initial()
    }
}
