//! The receiving half: assembly, delivery, and what is reported of it.

mod assembly;
mod feedback;
mod frontier;
mod gap_detector;
mod pieces;
mod ready;
#[cfg(test)]
mod ready_tests;
#[cfg(test)]
mod receive_tests;
mod receiver;
mod repairs;
mod replies;
mod reporter;

pub(crate) use assembly::Assembly;
#[cfg(test)]
use assembly::Verdict;
use frontier::Frontier;
use gap_detector::GapDetector;
use pieces::Pieces;
pub(crate) use receiver::{PacketArrival, PollArrival, Receiver};
use repairs::Repairs;
pub(crate) use replies::{Reply, ReplySize};
