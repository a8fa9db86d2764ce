//! Results that `receive --once` tells last: what it waited for stands behind what was broken off, however
//! late that ends.

use std::cell::RefCell;
use std::net::SocketAddr;

use crate::result::TransferResult;

/// Results that are held back until everything else has ended, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Held {
    holds: bool,
    results: RefCell<Vec<(SocketAddr, TransferResult)>>,
}

impl Held {
    /// Holds results back if `holds`.
    pub(crate) fn new(holds: bool) -> Self {
        Self { holds, ..Self::default() }
    }

    /// True if results of transfers that came to their end are held back.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Holds the result of what came from `peer`. There are as many at most as sessions.
    pub(crate) fn hold(&self, peer: SocketAddr, result: TransferResult) {
        self.results.borrow_mut().push((peer, result));
    }

    /// Tells all of them by `tell`; false if one could not be told.
    pub(crate) fn tell(&self, mut tell: impl FnMut(SocketAddr, TransferResult) -> bool) -> bool {
        let results = self.results.take();
        results.into_iter().fold(true, |is_told, (peer, result)| tell(peer, result) && is_told)
    }
}
