//! Split paths in real time: the satellite hop by itself, relays, and what is confirmed end to end. Every
//! test is bounded by a timeout; none asserts tight timing. What needs privileges says aloud that it is
//! skipped.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod devices;
mod hop;
#[path = "../kernel/namespace.rs"]
#[allow(dead_code, reason = "nothing is skipped in the middle of a test here")]
mod namespace;
mod seats;
mod split;
#[path = "../common/streams.rs"]
mod streams;
mod support;
mod through;
