//! Ends of couplings: streams of any protocol, or anything else that wakes a task.

use std::task::Context;

use skyhaul_petra::relay::{Coupling, Side};

use crate::{Protocol, Stream};

/// End of a coupling in real time. Implemented for every [`Stream`]; for a socket of the kernel it is for
/// whoever has that: [`Coupling::work_at`] takes what reads and writes it. Dropped, an end is broken off, and
/// its peer is told; unless [`Self::part`] came before.
pub trait RelayEnd: Send {
    /// Has `coupling` move what it can on `side`, where this end is; true if something moved. The task of
    /// `cx` is woken when there may be more: something arrived, there is room, something written has left, or
    /// the connection is over. One that has failed fails the coupling.
    fn work(&mut self, cx: &mut Context<'_>, coupling: &mut Coupling, side: Side) -> bool;

    /// Waits until what the peer sent is known to be its own, and of now, where a seal can tell that; false
    /// if the connection is gone before. Nothing is passed on until then: who stole this end's key can forge
    /// early data.
    fn confirmed(&self) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }

    /// Takes note that both directions were passed on to their ends: what is under way is delivered after
    /// this end was dropped.
    fn part(&mut self);

    /// Breaks the connection off; the peer is told that there is no room for it, where its protocol has a
    /// word for that.
    fn refuse(&mut self);
}

impl<P: Protocol> RelayEnd for Stream<P> {
    fn work(&mut self, cx: &mut Context<'_>, coupling: &mut Coupling, side: Side) -> bool {
        let work = self.connection().work(cx, |_, connections, id| coupling.work(side, connections, id));
        work.unwrap_or_else(|_| {
            let is_new = !coupling.has_failed();
            coupling.fail();
            is_new
        })
    }

    fn confirmed(&self) -> impl Future<Output = bool> + Send {
        let monitor = self.monitor();
        async move { !P::IS_SEALED || monitor.confirmed().await }
    }

    fn part(&mut self) {
        self.connection().part();
    }

    fn refuse(&mut self) {
        self.connection().refuse();
    }
}
