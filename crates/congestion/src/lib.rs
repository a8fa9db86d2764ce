//! Congestion control behind two small traits: [`Controller`] of a window, and
//! [`skyhaul_core::PathController`] of a path's rate. Engines report what happened; controllers answer how
//! much may be under way, and how fast. Units inside are bytes and nanoseconds. [`ControllerKind`] names
//! those that are here and takes anybody's by a [`Factory`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bbr;
mod config;
mod cubic;
mod delivery;
#[cfg(test)]
mod delivery_tests;
mod explicit;
mod explicit_path;
#[cfg(test)]
mod explicit_tests;
mod factory;
mod growth;
mod kind;
mod loss_events;
pub mod memory;
mod model;
mod off;
mod peach;
#[cfg(test)]
mod peach_tests;
#[cfg(test)]
mod pipe;
#[cfg(test)]
mod pipe_tests;
mod reno;
#[cfg(test)]
mod reno_tests;
mod rounds;
#[cfg(test)]
mod totality_tests;
mod vegas;
#[cfg(test)]
mod vegas_tests;
mod window;
#[cfg(test)]
mod window_tests;

use alloc::boxed::Box;
use core::fmt::Debug;

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Verdict};

pub use bbr::Bbr;
pub use config::{ControllerConfig, Counting, IdleRestart};
pub use cubic::Cubic;
pub use delivery::{Delivery, DeliveryLog, RateSample};
pub use explicit::{Explicit, LossAnswer};
pub use explicit_path::ExplicitPath;
pub use factory::{ControllerFactory, Factory, PathControllerFactory, PathStart};
pub use growth::{Avoidance, SlowStart};
pub use kind::ControllerKind;
pub use loss_events::LossEvents;
pub use model::Model;
pub use off::Off;
pub use peach::PeachPlus;
pub use reno::Reno;
pub use vegas::{Vegas, VegasConfig};
pub use window::SlowStartAvoidance;

/// Packets acknowledged by one report. A STAT acknowledges hundreds at once.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Payload bytes newly acknowledged, in STP cumulatively or selectively. In TCP cumulatively: 0 if only
    /// `delivery` tells something new.
    pub bytes: u64,
    /// Packets newly acknowledged.
    pub packets: u32,
    /// Bytes under way before this report.
    pub in_flight_before_bytes: u64,
    /// Round trip that this report measured, if it did.
    pub rtt_ns: Option<u64>,
    /// Smoothed round-trip time.
    pub smoothed_rtt_ns: u64,
    /// True if the sender had nothing more to send, so that the window was not what held it back.
    pub app_limited: bool,
    /// True while the sender repairs a loss event, and what it may send follows from that (TCP's fast
    /// recovery). Never in STP, which does not interrupt the growth.
    pub in_recovery: bool,
    /// Delivery that this report tells, for controllers that ask for it ([`Needs::delivery`]).
    pub delivery: Option<Delivery>,
}

impl Acked {
    /// True if the window was not used: then it tells nothing about the network [RFC 7661 1].
    fn leaves_unused(&self, cwnd_bytes: u64) -> bool {
        self.app_limited && self.in_flight_before_bytes * 2 < cwnd_bytes
    }
}

/// Packets judged lost by one report.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Payload bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
    /// True for the first sign of a loss event. What was sent before it was noticed, and is found lost later,
    /// belongs to the same event. The engine decides: TCP by sequence numbers, STP by time ([`LossEvents`]).
    pub begins_event: bool,
    /// Bytes under way when the loss was noticed, the lost ones included.
    pub in_flight_bytes: u64,
    /// Cause that the engine found for the loss.
    pub verdict: Verdict,
}

/// Turn in the life of a connection that is neither a departure nor a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Marks of routers on packets instead of drops [RFC 3168 6.1.2]. Told once a window of data, and not for
    /// a window with a loss.
    EcnMarks {
        /// Bytes under way.
        in_flight_bytes: u64,
    },
    /// End of the retransmission timer. STP has none.
    Timeout {
        /// Bytes under way before it.
        in_flight_bytes: u64,
        /// Bytes of these that are taken for lost by it, and were not before.
        lost_bytes: u64,
        /// Bytes still thought to be under way: sent too lately to be missed.
        left_bytes: u64,
        /// False for a repeat of the same silence.
        first: bool,
    },
    /// End of the last loss event (or timeout): all that was sent before it was noticed is acknowledged.
    Recovered,
    /// Mistake: the last loss event (or timeout) was none, as packets taken for lost had arrived.
    Spurious,
    /// Start of sending after nothing was under way.
    Idle {
        /// Time since the last packet left.
        idle_ns: u64,
        /// Retransmission timeout, or time after which an answer would be overdue.
        rto_ns: u64,
    },
    /// Another size of segments, which the path takes from now on.
    SegmentSize {
        /// Largest payload of a segment.
        mss_bytes: u64,
    },
}

/// Feedback of the routers on the path, as the receiver tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterFeedback {
    /// Change of the rate, in octets a second, not more than was asked for.
    pub bytes_per_s: i32,
    /// Routers that the last packet had passed.
    pub routers: u8,
    /// Smoothed round-trip time.
    pub smoothed_rtt_ns: u64,
}

/// Needs of a controller beyond window and pace. Most have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// True if delivery rates are to be measured ([`Acked::delivery`]).
    pub delivery: bool,
    /// True while it sends less than the path takes, on purpose: such rates say nothing about the path.
    pub holds_back: bool,
    /// True if its window alone says how much leaves during a repair: nothing else is to slow that down.
    pub conserves: bool,
    /// True if each window of data that loses something, new or again, is an event of its own, in a repair
    /// that goes on, too [RFC 5681 4.3]. Else a repair is one event however long it lasts, as in the Linux
    /// kernel.
    pub each_window: bool,
    /// True if packets are to carry a path header, which asks routers for a rate.
    pub path_header: bool,
    /// Low-priority segments beyond the window that are wanted from now on, over one round trip
    /// (TCP-Peach+); [`ExtraSegments::ALL`]: as many as the peer's window leaves.
    pub extra_segments: u32,
}

/// Turn in the life of the low-priority segments that a controller wants ([`Needs::extra_segments`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraSegments {
    /// Order: those that were wanted will leave, in place of any that have not left yet.
    Ordered,
    /// Answer to one of them.
    Answered,
}

impl ExtraSegments {
    /// As many as the peer's window leaves.
    pub const ALL: u32 = u32::MAX;
}

/// State of a controller for events and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Name of the controller.
    pub name: &'static str,
    /// Phase.
    pub phase: Phase,
    /// Congestion window; `u64::MAX` where there is none.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `u64::MAX` before the first loss.
    pub ssthresh_bytes: u64,
}

/// Controller of a window. All methods are total: any order of calls is allowed.
pub trait Controller: Debug + Send {
    /// Takes in that a data segment of `bytes` of payload left.
    fn on_sent(&mut self, _now: Instant, _bytes: u64) {}
    /// Takes in that a report acknowledged packets.
    fn on_acked(&mut self, now: Instant, acked: &Acked);
    /// Takes in that a report showed losses.
    fn on_lost(&mut self, now: Instant, lost: &Lost);
    /// Takes in what else happened.
    fn on_signal(&mut self, _now: Instant, _signal: Signal) {}
    /// Takes in what routers granted, where it asks for that ([`Needs::path_header`]).
    fn on_feedback(&mut self, _now: Instant, _feedback: &RouterFeedback) {}
    /// Takes in what becomes of low-priority segments, where it wants any ([`Needs::extra_segments`]).
    fn on_extra(&mut self, _now: Instant, _extra: ExtraSegments) {}
    /// Bytes that may be under way.
    fn window_bytes(&self) -> u64;
    /// Rate at which to spread packets, in bit/s of IP bytes; `None` for a controller without a wish of its
    /// own.
    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64>;
    /// Needs beyond that.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// State for events and reports.
    fn snapshot(&self) -> Snapshot;
    /// Copy: engines are `Clone`.
    fn boxed_clone(&self) -> Box<dyn Controller>;
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
