//! The contract of what finds out the rate of a path. It belongs to the path: all its connections feed it with
//! what their receivers measured, and share the rate that it makes of that.

use alloc::boxed::Box;
use core::fmt::Debug;

use crate::event::ResumePhase;
use crate::{Instant, PathEstimate};

/// What left and what arrived between two marks in the stream of a connection (POLLs of STP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Between the two when they were sent, by the sender's clock.
    pub sent_ns: u64,
    /// IP bytes sent from the first (excluded) to the second (included), by all connections of the path.
    pub sent_bytes: u64,
    /// Between the two when they arrived, by the receiver's clock.
    pub arrived_ns: u64,
    /// IP bytes that arrived of those, as far as the receiver has counted them: never more than were sent.
    pub arrived_bytes: u64,
}

/// What a report says of the way that the data took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// When the mark left.
    pub sent_at: Instant,
    /// The receiver's clock when it arrived; it may be off by any constant.
    pub arrived_ns: u64,
    /// Its round trip, waiting on the way back included.
    pub rtt_ns: u64,
    /// Between this mark and one about half a round trip before.
    pub long: Option<Interval>,
    /// The first packet and this one, the last, left back to back: how the path spread them.
    pub train: Option<Interval>,
    /// This mark was behind others of a train, so it waited for those.
    pub behind_train: bool,
}

/// Finds out the rate of a path. All methods are total: any order of calls with any values is allowed.
pub trait RateControl: Debug + Send {
    /// A report came.
    fn on_sample(&mut self, now: Instant, sample: &PathSample);
    /// The link was gone and is back: delays and losses of before say nothing.
    fn on_outage(&mut self, now: Instant);
    /// The rate of all that is sent over the path, in bit/s of IP bytes. At least 1.
    fn rate_bps(&self) -> u64;
    /// Payload that one connection may have under way.
    fn window_bytes(&self) -> u64;
    /// Packets of a train that is wanted now; 0: none. It is counted as sent.
    fn take_train(&mut self, now: Instant) -> u32;
    /// The first packets of the path, which left at once, have left.
    fn after_first_train(&mut self) {}
    /// What it has found out, for connections to come.
    fn path_estimate(&self) -> Option<PathEstimate> {
        None
    }
    /// What it makes of the remembered path that it began with: the step, and the rate and the round trip remembered.
    fn resumed(&self) -> Option<(ResumePhase, PathEstimate)> {
        None
    }
    /// For events: what it is doing.
    fn phase(&self) -> crate::event::Phase;
    /// A copy: engines are `Clone`.
    fn boxed_clone(&self) -> Box<dyn RateControl>;
}

impl Clone for Box<dyn RateControl> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
