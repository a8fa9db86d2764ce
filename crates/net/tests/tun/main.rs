//! The TCP host: two of them over a pair of sockets, one over an emulated link, and bad devices. None of this needs
//! privileges; what does is in `tests/kernel`.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod devices;
mod links;
mod pairs;
mod support;
