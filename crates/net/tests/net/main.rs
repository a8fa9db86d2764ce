//! Endpoints and embedded links over real sockets of the loopback interface. Every test is bounded
//! by a timeout; none asserts tight timing.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod closing;
mod embedded;
mod explicit;
mod hostile;
mod moving;
mod refusals;
mod sealed;
mod sealed_attacks;
mod sockets;
#[path = "../common/streams.rs"]
mod streams;
mod support;
mod transfer;
mod watching;
