//! Congestion control behind one small trait: engines report what happened, controllers answer how
//! much may be under way and how fast. Units inside are bytes and nanoseconds.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod avoidance;
mod bbr;
mod config;
mod counting;
mod cubic;
mod delivery;
#[cfg(test)]
mod delivery_tests;
mod fixed_rate;
mod follower;
mod idle;
mod loss_events;
pub mod memory;
mod model;
mod pacing;
#[cfg(test)]
mod pipe;
#[cfg(test)]
mod pipe_tests;
mod reno;
#[cfg(test)]
mod reno_tests;
mod slow_start;
#[cfg(test)]
mod totality_tests;
mod window;
#[cfg(test)]
mod window_tests;

use alloc::boxed::Box;
use core::fmt::Debug;

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Verdict};

pub use avoidance::Avoidance;
pub use bbr::Bbr;
pub use config::{ControllerConfig, ControllerKind};
pub use counting::Counting;
pub use cubic::Cubic;
pub use delivery::{Delivery, DeliveryLog, RateSample};
pub use fixed_rate::FixedRate;
pub use follower::Follower;
pub use idle::IdleRestart;
pub use loss_events::LossEvents;
pub use model::Model;
pub use reno::Reno;
pub use slow_start::SlowStart;
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
    /// The sender had nothing more to send, so the window was not what held it back.
    pub app_limited: bool,
    /// The sender repairs a loss event, and what it may send meanwhile follows from that (TCP's fast
    /// recovery). Never in STP, which does not interrupt the growth.
    pub in_recovery: bool,
    /// What was delivered, for controllers that ask for it ([`Controller::wants_delivery`]).
    pub delivery: Option<Delivery>,
}

impl Acked {
    /// A window that was not used tells nothing about the network [RFC 7661 1].
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
    /// The first sign of a loss event. What was sent before it was noticed, and is found lost later, belongs to
    /// the same event. The engine decides: TCP by sequence numbers, STP by time ([`LossEvents`]).
    pub begins_event: bool,
    /// Bytes under way when the loss was noticed, the lost ones included.
    pub in_flight_bytes: u64,
    /// What the loss was taken for.
    pub verdict: Verdict,
}

/// What a controller shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Phase.
    pub phase: Phase,
    /// Congestion window; `u64::MAX` where there is none.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `u64::MAX` before the first loss.
    pub ssthresh_bytes: u64,
}

/// A congestion or rate controller. All methods are total: any order of calls is allowed.
pub trait Controller: Debug + Send {
    /// A data segment left.
    fn on_sent(&mut self, _now: Instant, _bytes: u64) {}
    /// A report acknowledged packets.
    fn on_acked(&mut self, now: Instant, acked: &Acked);
    /// A report showed losses.
    fn on_lost(&mut self, now: Instant, lost: &Lost);
    /// Routers marked packets instead of dropping them, with `in_flight_bytes` under way [RFC 3168 6.1.2]. The
    /// engine tells it once a window of data, and not for a window with a loss.
    fn on_ecn(&mut self, _now: Instant, _in_flight_bytes: u64) {}
    /// The retransmission timer ran out with `in_flight_bytes` under way. `first`: not a repeat of the
    /// same silence. STP has no such timer.
    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, _first: bool) {}
    /// All that was sent before the last loss event (or timeout) was noticed is acknowledged.
    fn on_recovered(&mut self, _now: Instant) {}
    /// The last loss event (or timeout) was none: what was taken for lost had arrived.
    fn on_spurious(&mut self, _now: Instant) {}
    /// Nothing is under way, the last packet left `idle_ns` ago, and sending starts again. `rto_ns`: the
    /// retransmission timeout, or when an answer would be overdue.
    fn on_idle(&mut self, _now: Instant, _idle_ns: u64, _rto_ns: u64) {}
    /// The largest payload of a segment is another one from now on: the path takes no more.
    fn set_mss(&mut self, _mss_bytes: u64) {}
    /// The path decided: rate, payload under way at most, and what it is doing. For [`Follower`].
    fn follow(&mut self, _rate_bps: u64, _window_bytes: u64, _phase: Phase) {}
    /// Delivery rates are to be measured.
    fn wants_delivery(&self) -> bool {
        false
    }
    /// It sends less than the path takes, on purpose: such rates say nothing about the path.
    fn holds_back(&self) -> bool {
        false
    }
    /// Its window alone says how much leaves during a repair: nothing else is to slow that down.
    fn conserves(&self) -> bool {
        false
    }
    /// Bytes that may be under way.
    fn window_bytes(&self) -> u64;
    /// The rate at which to spread packets, in bit/s of IP bytes, if the controller has a wish of its own.
    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64>;
    /// A low-priority segment beyond the window is wanted (TCP-Peach+).
    fn wants_extra_segment(&self) -> bool {
        false
    }
    /// For events and reports.
    fn snapshot(&self) -> Snapshot;
    /// Name for reports.
    fn name(&self) -> &'static str;
    /// A copy: engines are `Clone`.
    fn boxed_clone(&self) -> Box<dyn Controller>;
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
