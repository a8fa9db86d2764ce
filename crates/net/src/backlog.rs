//! Connections that peers opened and nobody has taken yet.

use std::collections::VecDeque;
use std::task::{Context, Waker};

use skyhaul_core::ConnectionId;

/// Connections to one port that wait for [`crate::Listener::accept`].
#[derive(Debug)]
pub(crate) struct Backlog {
    /// The oldest first, each with the host that it came from.
    waiting: VecDeque<(ConnectionId, u64)>,
    /// So many may wait. Of more, the newest of the host that has most of them is broken off.
    limit: usize,
    waker: Option<Waker>,
}

impl Backlog {
    pub(crate) fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), limit: limit.max(1), waker: None }
    }

    /// Takes a connection from this host in. Result: who is to be woken, and the connection that is one too
    /// many, if one is.
    pub(crate) fn put(&mut self, id: ConnectionId, host: u64) -> (Option<Waker>, Option<ConnectionId>) {
        self.waiting.push_back((id, host));
        let surplus = if self.waiting.len() > self.limit { self.surplus() } else { None };
        (self.waker.take(), surplus)
    }

    fn surplus(&mut self) -> Option<ConnectionId> {
        let of_host = |host: u64| self.waiting.iter().filter(|(_, other)| *other == host).count();
        let at = (0..self.waiting.len()).max_by_key(|&at| of_host(self.waiting[at].1))?;
        self.waiting.remove(at).map(|(id, _)| id)
    }

    /// The one that has waited longest.
    pub(crate) fn next(&mut self) -> Option<ConnectionId> {
        self.waiting.pop_front().map(|(id, _)| id)
    }

    /// Wakes the task of `cx` when there is one.
    pub(crate) fn wait(&mut self, cx: &Context<'_>) {
        self.waker = Some(cx.waker().clone());
    }

    pub(crate) fn take_waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }

    /// Those that nobody will take any more.
    pub(crate) fn into_rest(self) -> impl Iterator<Item = ConnectionId> {
        self.waiting.into_iter().map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever came to a full backlog was broken off, and one host filled it.
    #[test]
    fn a_host_that_fills_the_backlog_gives_way_to_another() {
        let mut backlog = Backlog::new(4);
        let surplus: Vec<_> = (0..6).map(|id| backlog.put(id, 1).1).collect();
        assert_eq!(surplus, [None, None, None, None, Some(4), Some(5)], "the newest");
        assert_eq!(backlog.put(6, 2).1, Some(3), "of the host with most");
        assert_eq!(backlog.put(7, 3).1, Some(2));
        assert_eq!(backlog.put(8, 1).1, Some(8));
        assert_eq!(std::iter::from_fn(|| backlog.next()).collect::<Vec<_>>(), [0, 1, 6, 7]);
    }
}
