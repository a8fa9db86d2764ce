//! Events: everything that an engine decides, as it decides it.
//!
//! A [`Watch`] goes into [`EndpointOptions::watch`](crate::EndpointOptions::watch); what it picks comes out
//! of [`Observations`]. It has room for as many events as it is made for; further ones are counted and lost,
//! so that the endpoint never waits.
//!
//! ```
//! use skyhaul::EndpointOptions;
//! use skyhaul::events::{Event, watch};
//!
//! let (watch, observations) = watch(1000, |event| matches!(event, Event::Lost { .. }));
//! let options = EndpointOptions { watch: Some(watch), ..EndpointOptions::default() };
//! // ... an endpoint with these options works ...
//! for seen in observations.take() {
//!     println!("{:?}: {:?}", seen.at, seen.event);
//! }
//! # let _ = options;
//! ```

#[doc(inline)]
pub use skyhaul_core::event::{
    Alarm, DropCause, Event, EventSink, NullSink, Phase, Refusal, Repeat, ResumePhase, VERSION, Verdict,
};
#[doc(inline)]
pub use skyhaul_net::{Observations, Observed, Watch, watch};
