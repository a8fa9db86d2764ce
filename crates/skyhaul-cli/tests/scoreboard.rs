//! `scoreboard`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

#[path = "scoreboard/board.rs"]
mod board;
mod common;
#[path = "scoreboard/guide.rs"]
mod guide;
#[path = "scoreboard/interrupted.rs"]
mod interrupted;
#[path = "common/pages.rs"]
mod pages;
#[path = "scoreboard/real.rs"]
mod real;
#[path = "scoreboard/usage.rs"]
mod usage;
