//! What the sender keeps: the bytes, and what is known of them at the other end.

mod buffer;
mod scoreboard;

pub(crate) use buffer::SendBuffer;
pub(crate) use scoreboard::{DUPLICATE_THRESHOLD, Hole, Scoreboard};
