//! Controllers: skyhaul's own by name, and yours.
//!
//! A [`Controller`] decides how much of one connection may be under way: it is told what was sent, confirmed
//! and lost, and answers with a window and, if it likes, a rate. A [`PathController`] decides the rate of a
//! whole path: it is told when packets left and arrived, and answers with a rate that all connections to that
//! peer share. Either is given to a connection as a [`ControllerKind`] with a factory, in
//! [`Control::kind`](crate::config::Control::kind):
//!
//! ```
//! use skyhaul::Config;
//! use skyhaul::control::{ControllerFactory, ControllerKind};
//! # use skyhaul::control::{Acked, Controller, ControllerConfig, Instant, Lost, Phase, Snapshot};
//! # #[derive(Clone, Debug)]
//! # struct Mine(u64);
//! # impl Mine {
//! #     fn new(start: ControllerConfig) -> Self { Self(start.initial_window_bytes) }
//! # }
//! # impl Controller for Mine {
//! #     fn on_acked(&mut self, _: Instant, _: &Acked) {}
//! #     fn on_lost(&mut self, _: Instant, _: &Lost) {}
//! #     fn window_bytes(&self) -> u64 { self.0 }
//! #     fn pacing_rate_bps(&self, _: u64) -> Option<u64> { None }
//! #     fn snapshot(&self) -> Snapshot {
//! #         Snapshot { name: "mine", phase: Phase::Avoidance, cwnd_bytes: self.0, ssthresh_bytes: u64::MAX }
//! #     }
//! #     fn boxed_clone(&self) -> Box<dyn Controller> { Box::new(self.clone()) }
//! # }
//!
//! let mut config = Config::standard();
//! config.controller.kind =
//!     ControllerKind::Window(ControllerFactory::new(|start| Box::new(Mine::new(start))));
//! ```
//!
//! [`crate::manual::controllers`] has both kinds in full.

#[doc(inline)]
pub use skyhaul_congestion::memory::SavedPath;
#[doc(inline)]
pub use skyhaul_congestion::{
    Acked, Controller, ControllerConfig, ControllerFactory, ControllerKind, Counting, Delivery, Factory,
    IdleRestart, Lost, Needs, PathControllerFactory, PathStart, RateSample, Signal, Snapshot,
};
#[doc(inline)]
pub use skyhaul_core::event::{Phase, ResumePhase};
#[doc(inline)]
pub use skyhaul_core::{
    Instant, Interval, MS, PathController, PathEstimate, PathSample, SECOND, UNMEASURED_RATE_BPS, US, Verdict,
};
