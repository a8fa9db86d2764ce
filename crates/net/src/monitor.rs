//! A look at a connection from outside.

use std::sync::{Arc, Weak};

use skyhaul_core::Stats;

use crate::Protocol;
use crate::connection::Connection;

/// Reads what a connection counts while its stream is in use elsewhere: for progress bars and
/// metrics. Costs one short lock a look. Keeps nothing alive: once the stream is dropped there is
/// nothing to see.
#[derive(Debug)]
pub struct Monitor<P: Protocol = skyhaul_stp::Endpoint>(Weak<Connection<P>>);

impl<P: Protocol> Clone for Monitor<P> {
    fn clone(&self) -> Self {
        Self(Weak::clone(&self.0))
    }
}

impl<P: Protocol> Monitor<P> {
    pub(crate) fn new(connection: &Arc<Connection<P>>) -> Self {
        Self(Arc::downgrade(connection))
    }

    /// Counters of the connection.
    pub fn stats(&self) -> Option<Stats> {
        self.0.upgrade().map(|connection| connection.stats())
    }

    /// State of the connection.
    pub fn state(&self) -> Option<P::State> {
        self.0.upgrade().map(|connection| connection.state())
    }
}
