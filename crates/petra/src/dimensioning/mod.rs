//! Formulas of [PETRA IV] for the dimensions of a split path, as `docs/spec/petra.md` has them: with the
//! corrections that are listed there. Lengths are in bits, rates in bit/s, times in seconds.

mod packets;
#[cfg(test)]
mod packets_tests;
mod plan;
#[cfg(test)]
mod plan_tests;
mod relay;
#[cfg(test)]
mod relay_tests;
mod reverse;
#[cfg(test)]
mod reverse_tests;
mod startup;
#[cfg(test)]
mod startup_tests;
mod utl;
#[cfg(test)]
mod utl_tests;

pub use packets::Pdus;
pub use plan::{Plan, PlanError, Satellite, Segments, SplitPath, Wire};
pub use relay::Cycle;
pub use reverse::{Statuses, gain, nack_rate_bps};
pub use utl::{Acknowledgement, Batches};
