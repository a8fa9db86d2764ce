//! Split paths in real time: the satellite hop by itself, relays, and what is confirmed end to end. Every test
//! is bounded by a timeout; none asserts tight timing. What needs privileges says aloud that it is skipped.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod hop;
mod split;
mod support;
mod through;
