//! Life of a connection: the states of RFC 9293, and what belongs to each.

use core::fmt;

use skyhaul_core::{CloseReason, Instant};

use crate::config::Config;

/// State of a connection [RFC 9293 3.3.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for openings: a port of an endpoint, never a connection.
    Listen,
    /// Our SYN is under way.
    SynSent,
    /// Both SYNs are known, ours is not acknowledged.
    SynReceived,
    /// Both directions open.
    Established,
    /// Our FIN is under way; the peer's direction is open.
    FinWait1,
    /// Our FIN is acknowledged; the peer's direction is open.
    FinWait2,
    /// The peer has ended; our direction is open.
    CloseWait,
    /// Both have ended at once; our FIN is under way.
    Closing,
    /// The peer ended first; our FIN is under way.
    LastAck,
    /// Both directions ended; answers late repeats.
    TimeWait,
    /// Nothing left.
    Closed,
}

impl State {
    /// Name as the standard prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        }
    }

    /// True if data may be sent, first or again.
    pub(crate) fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }

    /// True if the peer may still send data.
    pub(crate) fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// State with what belongs to it alone.
#[derive(Clone, Copy, Debug)]
enum StateData {
    SynSent,
    /// `is_passive`: the peer opened.
    SynReceived {
        is_passive: bool,
    },
    Established,
    FinWait1,
    /// `until`: end of the patience, once the application has let go.
    FinWait2 {
        until: Option<Instant>,
    },
    CloseWait,
    Closing,
    LastAck,
    TimeWait {
        until: Instant,
    },
    Closed {
        reason: Option<CloseReason>,
    },
}

/// RST that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reset {
    pub(super) sequence: u64,
    /// It acknowledges what came.
    pub(super) acknowledges: bool,
}

/// Life of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    state: StateData,
    /// State as last told in an event.
    told: State,
    /// The application has let go: nothing is read any more.
    released: bool,
    /// The application was told that everything has arrived.
    finished_told: bool,
    reset: Option<Reset>,
}

impl Life {
    /// Life of a connection that this end opens.
    pub(super) fn opening() -> Self {
        Self::new(StateData::SynSent, State::SynSent)
    }

    /// Life of a connection that the peer opens.
    pub(super) fn answering() -> Self {
        Self::new(StateData::SynReceived { is_passive: true }, State::SynReceived)
    }

    fn new(state: StateData, told: State) -> Self {
        Self { state, told, released: false, finished_told: false, reset: None }
    }

    pub(super) fn state(&self) -> State {
        match self.state {
            StateData::SynSent => State::SynSent,
            StateData::SynReceived { .. } => State::SynReceived,
            StateData::Established => State::Established,
            StateData::FinWait1 => State::FinWait1,
            StateData::FinWait2 { .. } => State::FinWait2,
            StateData::CloseWait => State::CloseWait,
            StateData::Closing => State::Closing,
            StateData::LastAck => State::LastAck,
            StateData::TimeWait { .. } => State::TimeWait,
            StateData::Closed { .. } => State::Closed,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, StateData::Closed { .. })
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.state, StateData::SynSent | StateData::SynReceived { .. })
    }

    /// True if this end opened it.
    pub(super) fn is_active_opening(&self) -> bool {
        matches!(self.state, StateData::SynSent | StateData::SynReceived { is_passive: false })
    }

    pub(super) fn is_released(&self) -> bool {
        self.released
    }

    /// Reason of the end; `None` for a regular one, and before it.
    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        if let StateData::Closed { reason } = self.state { reason } else { None }
    }

    /// RST that waits.
    pub(super) fn reset(&self) -> Option<Reset> {
        self.reset
    }

    /// End of TIME-WAIT, or of the patience in FIN-WAIT-2.
    pub(super) fn quiet_until(&self) -> Option<Instant> {
        match self.state {
            StateData::TimeWait { until } => Some(until),
            StateData::FinWait2 { until } => until,
            _ => None,
        }
    }

    /// Change of the state since the last call: the one before, and the one now.
    pub(super) fn take_change(&mut self) -> Option<(State, State)> {
        let (from, to) = (self.told, self.state());
        self.told = to;
        (from != to).then_some((from, to))
    }

    /// True once.
    pub(super) fn take_finished(&mut self) -> bool {
        !core::mem::replace(&mut self.finished_told, true)
    }

    pub(super) fn owe_reset(&mut self, sequence: u64, acknowledges: bool) {
        self.reset = Some(Reset { sequence, acknowledges });
    }

    /// The RST left.
    pub(super) fn reset_left(&mut self) {
        self.reset = None;
    }

    /// The application lets go.
    pub(super) fn release(&mut self, config: &Config, now: Instant) {
        self.released = true;
        if let StateData::FinWait2 { until } = &mut self.state {
            *until = Some(now.after(config.fin_wait_ns));
        }
    }

    /// Both opened at once [RFC 9293 3.5].
    pub(super) fn cross(&mut self) {
        self.state = StateData::SynReceived { is_passive: false };
    }

    /// Both SYNs are acknowledged.
    pub(super) fn establish(&mut self) {
        self.state = StateData::Established;
    }

    /// Our FIN left.
    pub(super) fn on_fin_sent(&mut self) {
        self.state = match self.state {
            StateData::Established => StateData::FinWait1,
            StateData::CloseWait => StateData::LastAck,
            other => other,
        };
    }

    /// Our FIN is acknowledged. True if that was all. `time_wait_ns`: twice the longest life of a segment.
    pub(super) fn on_fin_acknowledged(&mut self, config: &Config, time_wait_ns: u64, now: Instant) -> bool {
        match self.state {
            StateData::FinWait1 => {
                let until = self.released.then(|| now.after(config.fin_wait_ns));
                self.state = StateData::FinWait2 { until };
            }
            StateData::Closing => self.linger(time_wait_ns, now),
            _ => {}
        }
        matches!(self.state, StateData::LastAck)
    }

    /// The peer's FIN and everything before it have arrived.
    pub(super) fn on_end(&mut self, time_wait_ns: u64, now: Instant) {
        match self.state {
            StateData::Established => self.state = StateData::CloseWait,
            StateData::FinWait1 => self.state = StateData::Closing,
            StateData::FinWait2 { .. } => self.linger(time_wait_ns, now),
            _ => {}
        }
    }

    /// The peer's FIN came again: our answer was lost, and may be lost again [RFC 9293 3.10.7.4].
    pub(super) fn on_end_again(&mut self, time_wait_ns: u64, now: Instant) {
        if let StateData::TimeWait { .. } = self.state {
            self.linger(time_wait_ns, now);
        }
    }

    fn linger(&mut self, time_wait_ns: u64, now: Instant) {
        self.state = StateData::TimeWait { until: now.after(time_wait_ns) };
    }

    /// Nothing is left. False if that was so before.
    pub(super) fn close(&mut self, reason: Option<CloseReason>) -> bool {
        let was_open = !self.is_closed();
        if was_open {
            self.state = StateData::Closed { reason };
        }
        was_open
    }
}
