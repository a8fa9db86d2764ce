//! Router of explicit rate control at the queue of a direction.
//!
//! A packet's fate is decided as it enters, but what the router writes on it depends on what arrives until
//! its service begins. So departures wait here, in the order of time, and are worked off when the direction
//! is next looked at: how late that is changes nothing.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, PathHeader};
use skyhaul_xcp::{Discipline, Router, RouterConfig};

use crate::line::TransmissionLine;
use crate::serializer::ServiceInterval;

/// Router of explicit rate control in front of a direction that has a rate at all times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplicitConfig {
    /// Rule by which it hands out feedback.
    pub discipline: Discipline,
    /// A share that a packet refuses is set against what others are to lose; `None`: as the discipline's
    /// authors have it.
    pub set_off: Option<bool>,
}

/// Packet that has not been delivered, or not even departed.
#[derive(Clone, Copy, Debug)]
struct Passing {
    /// Place in the order of entry.
    order: u64,
    departs_at: Instant,
    bytes: u32,
    header: Option<PathHeader>,
    /// Somebody will ask for its header: it is not lost.
    is_wanted: bool,
}

/// Router, and the packets that it has to write on or has written on.
#[derive(Clone, Debug)]
pub(crate) struct Explicit {
    router: Router,
    /// In the order of entry, which is that of departure. As many as wait, are in service or under way at
    /// most, and those before the first of these that is not delivered.
    passing: VecDeque<Passing>,
    /// How many of these have departed.
    departed: usize,
}

impl Explicit {
    /// Router in front of a link of this propagation delay.
    pub(crate) fn new(config: ExplicitConfig, propagation_delay_ns: u64) -> Self {
        let mut router = RouterConfig::new(config.discipline, propagation_delay_ns);
        router.set_off = config.set_off.unwrap_or(router.set_off);
        Self { router: Router::new(router, Instant::ZERO), passing: VecDeque::new(), departed: 0 }
    }

    /// A packet arrives at `now`, before the queue decides on it.
    pub(crate) fn arrive(
        &mut self,
        now: Instant,
        bytes: u32,
        header: Option<&PathHeader>,
        line: &TransmissionLine,
    ) {
        self.work_off(now, line);
        self.router.on_arrival(bytes, header);
    }

    /// The packet that arrived last is queued: its service begins at `departs_at`.
    pub(crate) fn queue(&mut self, order: u64, departs_at: Instant, bytes: u32, header: Option<PathHeader>) {
        self.router.on_queued(bytes);
        self.passing.push_back(Passing { order, departs_at, bytes, header, is_wanted: true });
    }

    /// Works off what happens until `now`: timers, and departures.
    pub(crate) fn work_off(&mut self, now: Instant, line: &TransmissionLine) {
        // A direction with a router has a rate at all times.
        let capacity_bps = |at| line.rate_bps(at).unwrap_or(u64::MAX);
        while let Some(next) = self.passing.get_mut(self.departed).filter(|next| next.departs_at <= now) {
            self.router.catch_up(next.departs_at, capacity_bps);
            self.router.on_departure(next.bytes, next.header.as_mut());
            self.departed += 1;
            self.forget_delivered();
        }
        self.router.catch_up(now, capacity_bps);
    }

    /// Header of a packet that is delivered now. It is forgotten, unless a copy `follows`.
    pub(crate) fn header_of(
        &mut self,
        order: u64,
        follows: bool,
        line: &TransmissionLine,
    ) -> Option<PathHeader> {
        let place = self.place(order)?;
        self.work_off(self.passing[place].departs_at, line);
        // Those in front of it may have been forgotten meanwhile.
        let place = self.place(order)?;
        self.passing[place].is_wanted = follows;
        let header = self.passing[place].header;
        self.forget_delivered();
        header
    }

    /// A packet is lost. It departs all the same.
    pub(crate) fn lose(&mut self, order: u64) {
        if let Some(place) = self.place(order) {
            self.passing[place].is_wanted = false;
            self.forget_delivered();
        }
    }

    /// Packets that have not departed depart at other times.
    pub(crate) fn replan(&mut self, services: &[(u64, ServiceInterval)]) {
        for next in self.passing.iter_mut().skip(self.departed) {
            if let Ok(found) = services.binary_search_by_key(&next.order, |&(order, _)| order) {
                next.departs_at = services[found].1.start;
            }
        }
    }

    fn place(&self, order: u64) -> Option<usize> {
        self.passing.binary_search_by_key(&order, |passing| passing.order).ok()
    }

    fn forget_delivered(&mut self) {
        while self.departed > 0 && self.passing.front().is_some_and(|first| !first.is_wanted) {
            self.passing.pop_front();
            self.departed -= 1;
        }
    }
}
