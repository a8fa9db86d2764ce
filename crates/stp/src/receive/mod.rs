//! The receiving half: assembly, delivery, and what is reported of it.

mod assembly;
mod gap_watch;
mod ready;
#[cfg(test)]
mod ready_tests;
#[cfg(test)]
mod receive_tests;
mod repairs;

pub(crate) use assembly::{Assembly, Verdict};
pub(crate) use gap_watch::GapWatch;
pub(crate) use repairs::Repairs;
