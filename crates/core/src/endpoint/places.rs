//! Places of the connections that peers open: how many there are, how many of each host, and which of them
//! gives way to a newcomer.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::ConnectionId;

/// Bounds of the connections that peers open.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at most, those that were opened here included.
    pub max_connections: usize,
    /// Of those, connections whose peer's address is not proven yet: the oldest gives way to a newcomer.
    pub max_unproven: usize,
    /// Of those, connections that the application is handed before the proof, for the sake of early data;
    /// the others it has with the proof.
    pub max_early: usize,
}

impl Bounds {
    /// No bounds, for networks without strangers.
    pub const NONE: Self =
        Self { max_connections: usize::MAX, max_unproven: usize::MAX, max_early: usize::MAX };
}

/// Place for a connection that a peer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// There is one.
    Free,
    /// There is one if this connection gives way, whose peer has proven nothing.
    Instead(ConnectionId),
    /// There is none.
    None,
}

/// Number of connections that came from a host.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    unproven: usize,
}

/// Connections that peers opened. A host has half of all places at most, and half of those of the unproven;
/// hosts are told apart where the endpoint says how.
#[derive(Clone, Debug)]
pub(super) struct Places {
    bounds: Bounds,
    has_hosts: bool,
    hosts: BTreeMap<u64, Count>,
    /// Those without proof, the oldest first.
    unproven: BTreeSet<ConnectionId>,
    /// The same of each host.
    unproven_of: BTreeSet<(u64, ConnectionId)>,
    /// Connections that were handed out before the proof and are not proven yet.
    early: usize,
    /// Of those, connections that are over, of which the application has not let go: they count no more.
    over: usize,
}

/// Place that a connection has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    host: u64,
    is_unproven: bool,
    is_early: bool,
    is_over: bool,
}

impl Places {
    pub(super) fn new(bounds: Bounds, has_hosts: bool) -> Self {
        Self {
            bounds,
            has_hosts,
            hosts: BTreeMap::new(),
            unproven: BTreeSet::new(),
            unproven_of: BTreeSet::new(),
            early: 0,
            over: 0,
        }
    }

    /// True if there is room for one more beside `connections`, whoever opens it.
    pub(super) fn has_room(&self, connections: usize) -> bool {
        connections - self.over < self.bounds.max_connections
    }

    /// True if there is room for one more from `host` that is proven, beside `connections` in all.
    pub(super) fn has_room_for(&self, host: u64, connections: usize) -> bool {
        self.has_room(connections) && self.count(host).all < self.share(self.bounds.max_connections)
    }

    fn count(&self, host: u64) -> Count {
        self.hosts.get(&host).copied().unwrap_or_default()
    }

    /// Bound of a host, where this is the bound of all.
    fn share(&self, bound: usize) -> usize {
        if self.has_hosts { bound.div_ceil(2) } else { usize::MAX }
    }

    /// Place for a connection from `host` beside `connections` in all.
    pub(super) fn find(&self, host: u64, connections: usize) -> Place {
        let here = self.count(host);
        let is_host_full = here.all >= self.share(self.bounds.max_connections)
            || here.unproven >= self.share(self.bounds.max_unproven);
        if is_host_full {
            return instead_of(self.oldest_of(host));
        }
        if !self.has_room(connections) || self.unproven.len() >= self.bounds.max_unproven {
            return instead_of(self.unproven.first().copied());
        }
        Place::Free
    }

    /// Place for one that is proven, however many are not.
    pub(super) fn find_proven(&self, host: u64, connections: usize) -> Place {
        if self.has_room_for(host, connections) {
            return Place::Free;
        }
        let is_host_full = self.count(host).all >= self.share(self.bounds.max_connections);
        instead_of(if is_host_full { self.oldest_of(host) } else { self.unproven.first().copied() })
    }

    fn oldest_of(&self, host: u64) -> Option<ConnectionId> {
        self.unproven_of.range((host, 0)..=(host, ConnectionId::MAX)).next().map(|&(_, id)| id)
    }

    /// Takes a connection in.
    pub(super) fn enter(&mut self, id: ConnectionId, host: u64, is_unproven: bool) -> Seat {
        let count = self.hosts.entry(host).or_default();
        count.all += 1;
        if is_unproven {
            count.unproven += 1;
            self.unproven.insert(id);
            self.unproven_of.insert((host, id));
        }
        Seat { host, is_unproven, is_early: false, is_over: false }
    }

    /// True if one more may be handed out before the proof, where so many others count as well.
    pub(super) fn has_early_room(&self, others: usize) -> bool {
        self.early.saturating_add(others) < self.bounds.max_early
    }

    /// True if a connection may be handed out now: it is proven, or one of the few that are handed out
    /// before.
    pub(super) fn may_announce(&mut self, seat: &mut Seat) -> bool {
        let may = !seat.is_unproven || self.has_early_room(0);
        if may && seat.is_unproven {
            seat.is_early = true;
            self.early += 1;
        }
        may
    }

    /// Takes note that a connection is proven, or over (`is_over`): it does not give way any more. One that
    /// is over counts among the few that were handed out until the application lets go of it.
    pub(super) fn settle(&mut self, id: ConnectionId, seat: &mut Seat, is_over: bool) {
        if !core::mem::take(&mut seat.is_unproven) {
            return;
        }
        self.unproven.remove(&id);
        self.unproven_of.remove(&(seat.host, id));
        if let Some(count) = self.hosts.get_mut(&seat.host) {
            count.unproven -= 1;
        }
        if is_over {
            seat.is_over = true;
            self.over += 1;
            self.uncount(seat.host);
        } else {
            self.end_early(seat);
        }
    }

    fn uncount(&mut self, host: u64) {
        let Some(count) = self.hosts.get_mut(&host) else { return };
        count.all -= 1;
        if count.all == 0 {
            self.hosts.remove(&host);
        }
    }

    fn end_early(&mut self, seat: &mut Seat) {
        self.early -= usize::from(core::mem::take(&mut seat.is_early));
    }

    /// A connection is gone.
    pub(super) fn leave(&mut self, id: ConnectionId, mut seat: Seat) {
        self.settle(id, &mut seat, true);
        self.end_early(&mut seat);
        if seat.is_over {
            self.over -= 1;
        } else {
            self.uncount(seat.host);
        }
    }

    /// Checks the books, in debug builds.
    pub(super) fn check_invariants(&self, connections: usize) {
        debug_assert_eq!(self.unproven.len(), self.unproven_of.len());
        debug_assert!(self.unproven.len() + self.over <= connections && self.early <= connections);
        debug_assert!(self.hosts.len() <= connections);
    }
}

impl Seat {
    /// True if the peer's address was not proven when it was last looked at.
    pub(super) fn is_unproven(&self) -> bool {
        self.is_unproven
    }
}

fn instead_of(id: Option<ConnectionId>) -> Place {
    id.map_or(Place::None, Place::Instead)
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
