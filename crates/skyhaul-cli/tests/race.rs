//! `race`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "race/ends.rs"]
mod ends;
#[path = "race/guide.rs"]
mod guide;
#[path = "race/live.rs"]
mod live;
#[path = "common/pages.rs"]
mod pages;
#[path = "race/scenario.rs"]
mod scenario;
#[path = "race/simulated.rs"]
mod simulated;
#[path = "race/usage.rs"]
mod usage;
