//! The sending half: what the application wrote, what was sent of it, and what must go again.

mod cache;
#[cfg(test)]
mod cache_tests;
mod coded_tail;
mod loss;
mod poll_clock;
mod tail;

pub(crate) use cache::{Count, Entry, SendCache};
pub(crate) use coded_tail::{CodedTail, Gaps, Next};
pub(crate) use loss::Loss;
pub(crate) use poll_clock::{PollClock, PollRecord, is_newer};
pub(crate) use tail::Tail;
