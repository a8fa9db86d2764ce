//! Every order in which a small coupling's surroundings can act: none of them is a dead end.

use std::collections::{BTreeSet, VecDeque};

use skyhaul_core::{
    CloseReason, ConnectionId, Connections, Description, Instant, ResetReason, Stats, StreamError,
    StreamEvent, Weight,
};
use skyhaul_petra::relay::{Bounds, Control, Coupling, Side};

const SIDES: [Side; 2] = [Side::Near, Side::Far];

/// States of one case at most. More of them mean that something goes round without getting anywhere.
const MAX_STATES: usize = 2_000_000;

/// Relay's end of a connection, and the host at its other end.
#[derive(Clone, Debug)]
struct Hop {
    /// Octets that the host has still to send, and octets of its stream that it has sent.
    unsent: u8,
    sent: u8,
    /// Octets that have arrived, and were not read: at most `window`.
    arrived: VecDeque<u8>,
    window: usize,
    has_end_arrived: bool,
    /// What the relay asks for, and what the host knows of it: a status that is lost leaves these apart.
    holds: bool,
    is_held: bool,
    /// Octets that the relay has written, and have not left: at most `room`.
    written: VecDeque<u8>,
    room: usize,
    is_finished: bool,
    /// Octets that the host got, and whether it got the end.
    got: Vec<u8>,
    has_got_end: bool,
    is_gone: bool,
}

impl Hop {
    fn new(unsent: u8, window: usize, room: usize) -> Self {
        Self {
            unsent,
            sent: 0,
            arrived: VecDeque::new(),
            window,
            has_end_arrived: false,
            holds: false,
            is_held: false,
            written: VecDeque::new(),
            room,
            is_finished: false,
            got: Vec::new(),
            has_got_end: false,
            is_gone: false,
        }
    }

    fn check(&self) -> Result<(), StreamError> {
        let reset = CloseReason::Reset(Some(ResetReason::Aborted));
        if self.is_gone { Err(StreamError::Closed(Some(reset))) } else { Ok(()) }
    }

    /// One octet arrives at the relay.
    fn send(&mut self) -> bool {
        let may = self.unsent > 0 && !self.is_held && self.arrived.len() < self.window;
        if may {
            self.arrived.push_back(self.sent);
            self.sent += 1;
            self.unsent -= 1;
        }
        may
    }

    fn end(&mut self) -> bool {
        self.unsent == 0 && !std::mem::replace(&mut self.has_end_arrived, self.unsent == 0)
    }

    /// The host learns what the relay asks for.
    fn status(&mut self) -> bool {
        std::mem::replace(&mut self.is_held, self.holds) != self.holds
    }

    /// One octet, or the end, arrives at the host.
    fn deliver(&mut self) -> bool {
        match self.written.pop_front() {
            Some(octet) => self.got.push(octet),
            None if self.is_finished && !self.has_got_end => self.has_got_end = true,
            None => return false,
        }
        true
    }
}

impl Connections for Hop {
    fn write(&mut self, _: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        self.check()?;
        let count = data.len().min(self.room - self.written.len());
        self.written.extend(&data[..count]);
        Ok(count)
    }

    fn read(&mut self, _: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.check()?;
        let count = out.len().min(self.arrived.len());
        self.arrived.drain(..count).zip(out).for_each(|(octet, place)| *place = octet);
        Ok((count > 0 || self.has_end_arrived).then_some(count))
    }

    fn hold(&mut self, _: ConnectionId, holds: bool) {
        self.holds = holds;
    }

    fn finish(&mut self, _: ConnectionId) {
        self.is_finished = true;
    }

    fn unsent_bytes(&self, _: ConnectionId) -> u64 {
        self.written.len() as u64
    }

    fn held_bytes(&self, id: ConnectionId) -> u64 {
        self.unsent_bytes(id)
    }

    fn writable_bytes(&self, _: ConnectionId) -> u64 {
        (self.room - self.written.len()) as u64
    }

    fn abort(&mut self, _: ConnectionId) {
        self.is_gone = true;
    }

    fn listen(&mut self, _: u16) {}

    fn unlisten(&mut self, _: u16) {}

    fn accept(&mut self) -> Option<ConnectionId> {
        None
    }

    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        None
    }

    fn write_described(&mut self, _: ConnectionId, _: Description) -> Result<u64, StreamError> {
        Ok(0)
    }

    fn read_described(&mut self, _: ConnectionId) -> Result<Option<Description>, StreamError> {
        Ok(None)
    }

    fn refuse(&mut self, id: ConnectionId) {
        self.abort(id);
    }

    fn is_proven(&self, _: ConnectionId) -> bool {
        true
    }

    fn release(&mut self, _: Instant, _: ConnectionId) {}

    fn set_weight(&mut self, _: ConnectionId, _: Weight) {}

    fn stats(&self, _: ConnectionId) -> Option<Stats> {
        None
    }

    fn state_name(&self, _: ConnectionId) -> Option<&'static str> {
        None
    }

    fn local_port(&self, _: ConnectionId) -> Option<u16> {
        None
    }

    fn connection_count(&self) -> usize {
        1
    }
}

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Action {
    Send,
    End,
    Status,
    Deliver,
    Work,
    /// The connection of that side is gone: of both, one at most.
    Kill,
    /// The relay's owner hears of that, and ends the other.
    Tell,
}

const ACTIONS: [Action; 7] =
    [Action::Send, Action::End, Action::Status, Action::Deliver, Action::Work, Action::Kill, Action::Tell];

#[derive(Clone, Debug)]
struct World {
    hops: [Hop; 2],
    coupling: Coupling,
    may_kill: bool,
}

impl World {
    /// The state after an action; `None` if it changes nothing.
    fn after(&self, side: Side, action: Action) -> Option<Self> {
        let mut next = self.clone();
        let hop = &mut next.hops[side as usize];
        let acts = match action {
            Action::Work => next.coupling.work(side, hop, 1),
            Action::Tell => hop.is_gone && next.fail(),
            _ if hop.is_gone => false,
            Action::Send => hop.send(),
            Action::End => hop.end(),
            Action::Status => hop.status(),
            Action::Deliver => hop.deliver(),
            Action::Kill => {
                hop.is_gone = self.may_kill;
                std::mem::take(&mut next.may_kill)
            }
        };
        acts.then_some(next)
    }

    fn fail(&mut self) -> bool {
        let is_news = !self.coupling.has_failed() || self.hops.iter().any(|hop| !hop.is_gone);
        self.coupling.fail();
        self.hops.iter_mut().for_each(|hop| hop.is_gone = true);
        is_news
    }

    fn check(&self, bounds: Bounds) {
        for side in SIDES {
            assert!(self.coupling.occupancy_bytes(side) <= bounds.size_bytes, "{self:?}");
            let (got, sent) = (&self.hops[side.other() as usize].got, self.hops[side as usize].sent);
            assert!(got.iter().copied().eq(0..got.len() as u8) && got.len() <= sent as usize, "{self:?}");
        }
    }

    /// Checks what holds where nothing can happen any more.
    fn check_last(&self) {
        if self.hops.iter().any(|hop| hop.is_gone) {
            assert!(self.hops.iter().all(|hop| hop.is_gone) && self.coupling.is_over(), "{self:?}");
            assert_eq!(SIDES.map(|side| self.coupling.occupancy_bytes(side)), [0, 0], "{self:?}");
            return;
        }
        let whole = |side: Side| {
            let (from, to) = (&self.hops[side as usize], &self.hops[side.other() as usize]);
            from.unsent == 0 && to.got.len() == from.sent as usize && to.has_got_end
        };
        assert!(self.coupling.is_over() && SIDES.into_iter().all(whole), "a dead end: {self:?}");
    }
}

/// Visits every state; returns how many there are.
fn explore(first: World, bounds: Bounds) -> usize {
    let mut seen = BTreeSet::from([format!("{first:?}")]);
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        world.check(bounds);
        let mut is_last = true;
        for (side, action) in SIDES.into_iter().flat_map(|side| ACTIONS.map(|action| (side, action))) {
            let Some(next) = world.after(side, action) else { continue };
            is_last &= matches!(action, Action::Kill);
            if seen.insert(format!("{next:?}")) {
                open.push(next);
            }
        }
        if is_last {
            world.check_last();
        }
        assert!(seen.len() < MAX_STATES, "it goes round: {world:?}");
    }
    seen.len()
}

#[test]
fn no_order_of_a_small_couplings_surroundings_is_a_dead_end() {
    let mut states = 0;
    for control in [Control::Hold, Control::Window] {
        for (threshold_bytes, size_bytes) in [(1, 1), (1, 2), (2, 2), (2, 3)] {
            for (window, room) in [(1, 1), (2, 1), (1, 2)] {
                for (onwards, back, may_kill) in [(3, 0, true), (2, 1, false), (0, 0, true)] {
                    let bounds = Bounds { threshold_bytes, size_bytes, control };
                    let hops = [Hop::new(onwards, window, room), Hop::new(back, window, room)];
                    let coupling = Coupling::new(bounds, bounds);
                    states += explore(World { hops, coupling, may_kill }, bounds);
                }
            }
        }
    }
    println!("{states} states");
    assert!(states > 20_000, "{states}: too few to be all of them");
}
