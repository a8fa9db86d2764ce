//! A look at a connection from outside.

use std::sync::{Arc, Weak};

use skyhaul_core::Stats;
use skyhaul_stp::State as Phase;

use crate::stream::Connection;

/// Reads what a connection counts while its stream is in use elsewhere: for progress bars and
/// metrics. Costs one short lock a look. Keeps nothing alive: once the stream is dropped there is
/// nothing to see.
#[derive(Clone, Debug)]
pub struct Monitor(Weak<Connection>);

impl Monitor {
    pub(crate) fn new(connection: &Arc<Connection>) -> Self {
        Self(Arc::downgrade(connection))
    }

    /// Counters of the connection.
    pub fn stats(&self) -> Option<Stats> {
        self.0.upgrade().map(|connection| connection.stats())
    }

    /// State of the connection.
    pub fn state(&self) -> Option<Phase> {
        self.0.upgrade().map(|connection| connection.state())
    }
}
