//! Coupling of two connections: what one end sends reaches the other, half-closes and resets too.

use skyhaul_core::{ConnectionId, Connections, StreamError};

use super::direction::{Bounds, Counters, Direction};
use super::end::{End, EngineEnd};

/// Connection of a coupling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Connection that a peer opened to the relay.
    Near,
    /// Connection that the relay opened onwards.
    Far,
}

impl Side {
    /// Other connection.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

/// Two connections that are one to their ends. Whoever owns the endpoints calls [`Self::work`] for both sides
/// after whatever has happened to either, until nothing moves.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// From the near side to the far one.
    onwards: Direction,
    /// From the far side to the near one.
    back: Direction,
    has_failed: bool,
}

impl Coupling {
    /// Coupling with these bounds for the direction onwards and for that back.
    pub fn new(onwards: Bounds, back: Bounds) -> Self {
        Self { onwards: Direction::new(onwards), back: Direction::new(back), has_failed: false }
    }

    /// Direction that `side` is read for, and the one that it is written to by.
    fn directions(&mut self, side: Side) -> (&mut Direction, &mut Direction) {
        match side {
            Side::Near => (&mut self.onwards, &mut self.back),
            Side::Far => (&mut self.back, &mut self.onwards),
        }
    }

    fn from(&self, side: Side) -> &Direction {
        if side == Side::Near { &self.onwards } else { &self.back }
    }

    /// Moves what can be moved on one side; true if something did. A connection that turns out to be gone
    /// takes the other with it: [`Self::has_failed`] says so, and both are to be aborted. One that nothing is
    /// to be read from or written to any more is not asked: its owner hears of its end, and calls
    /// [`Self::fail`].
    pub fn work(&mut self, side: Side, connections: &mut dyn Connections, id: ConnectionId) -> bool {
        self.work_at(side, &mut EngineEnd { connections, id })
    }

    /// As [`Self::work`], with whatever is at that side.
    pub fn work_at(&mut self, side: Side, end: &mut dyn End) -> bool {
        if self.has_failed {
            return false;
        }
        self.try_work(side, end).unwrap_or_else(|_| {
            self.fail();
            true
        })
    }

    fn try_work(&mut self, side: Side, end: &mut dyn End) -> Result<bool, StreamError> {
        let (read, written) = self.directions(side);
        let went = !written.is_over() && written.write(end)?;
        let came = read.read(end)?;
        let changed = read.control(end);
        Ok(went || came || changed)
    }

    /// Takes in that a connection has ended other than by both its sides finishing: what waits is dropped.
    pub fn fail(&mut self) {
        self.has_failed = true;
        self.onwards.clear();
        self.back.clear();
    }

    /// True if both connections are to be aborted.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// True if both streams were passed on to their ends, and have left.
    pub fn is_over(&self) -> bool {
        self.has_failed || (self.onwards.is_over() && self.back.is_over())
    }

    /// Octets from a side that wait for the other.
    pub fn occupancy_bytes(&self, from: Side) -> u64 {
        self.from(from).occupancy_bytes()
    }

    /// Counters of the direction that comes from a side.
    pub fn counters(&self, from: Side) -> Counters {
        self.from(from).counters()
    }
}
