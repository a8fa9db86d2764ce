//! The receiving half: assembly, delivery, and what is reported of it.

mod assembly;
mod gap_watch;
#[cfg(test)]
mod receive_tests;

pub(crate) use assembly::{Assembly, Verdict};
pub(crate) use gap_watch::GapWatch;
