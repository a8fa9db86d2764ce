//! Transitions between states, and the timers of each, as tables that pictures are made of. What a connection
//! does is held to them: each of its steps in debug builds, and by a test that every row is taken.

use super::State::{
    self, BgnDataEndSent, BgnDataSent, BgnSent, Closed, Closing, EndSent, Established, HalfClosedLocal,
    HalfClosedRemote, Linger,
};

/// Where a transition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No connection yet: an application opens one.
    Nothing,
    /// LISTEN, which belongs to the endpoint.
    Listen,
    /// A state.
    At(State),
    /// Any state but CLOSED.
    Any,
}

/// Transition to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Where it begins.
    pub from: Origin,
    /// Stimulus: types that arrive in capitals, calls of the application in small letters.
    pub on: &'static str,
    /// Types that leave with it; empty: none.
    pub sends: &'static str,
    /// Where it ends.
    pub to: State,
}

const fn row(from: Origin, on: &'static str, sends: &'static str, to: State) -> Transition {
    Transition { from, on, sends, to }
}

/// All transitions: `docs/spec/stp.md`, section 4.1. A segment of several types does several.
pub const TRANSITIONS: [Transition; 19] = [
    row(Origin::Nothing, "connect", "BGN", BgnSent),
    row(Origin::Listen, "BGN", "BGNAK", Established),
    row(Origin::At(BgnSent), "write", "SD", BgnDataSent),
    row(Origin::At(BgnSent), "finish", "END", BgnDataEndSent),
    row(Origin::At(BgnSent), "BGNAK", "", Established),
    row(Origin::At(BgnDataSent), "finish", "END", BgnDataEndSent),
    row(Origin::At(BgnDataSent), "BGNAK", "", Established),
    row(Origin::At(BgnDataEndSent), "BGNAK", "", EndSent),
    row(Origin::At(BgnDataEndSent), "BGNAK after ENDAK", "", HalfClosedLocal),
    row(Origin::At(Established), "finish", "END", EndSent),
    row(Origin::At(Established), "END", "ENDAK", HalfClosedRemote),
    row(Origin::At(EndSent), "ENDAK", "", HalfClosedLocal),
    row(Origin::At(EndSent), "END", "ENDAK", Closing),
    row(Origin::At(HalfClosedLocal), "END", "ENDAK", Closing),
    row(Origin::At(HalfClosedRemote), "finish", "END", Closing),
    row(Origin::At(Closing), "ENDAK, STAT of all data", "", Linger),
    row(Origin::At(Closing), "ENDAK, and the peer has all", "", Closed),
    row(Origin::At(Linger), "time is over", "", Closed),
    row(Origin::Any, "RST, abort, silence", "", Closed),
];

/// Timers, and the states in which they may run: `docs/spec/stp.md`, section 4.14.
pub const TIMERS: [(&str, &[State]); 5] = [
    ("BGN", &[BgnSent, BgnDataSent, BgnDataEndSent]),
    ("POLL", &OPEN),
    ("KEEPALIVE", &OPEN),
    ("END", &[BgnDataEndSent, EndSent, Closing]),
    ("linger", &[Linger]),
];

/// States in which data may be unacknowledged.
const OPEN: [State; 7] =
    [BgnDataSent, BgnDataEndSent, Established, EndSent, HalfClosedLocal, HalfClosedRemote, Closing];

impl State {
    /// True if a row of [`TRANSITIONS`] leads from here to that state.
    pub(super) fn may_become(self, to: Self) -> bool {
        TRANSITIONS.iter().any(|row| {
            let begins = row.from == Origin::At(self) || row.from == Origin::Any && self != Closed;
            begins && row.to == to
        })
    }
}
