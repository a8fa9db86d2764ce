//! The TCP host: two of them over a pair of sockets, one over an emulated link, one against smoltcp, bad
//! packets, and bad devices. None of this needs privileges; what does is in `tests/kernel`.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod against_smoltcp;
mod devices;
mod hostile;
mod links;
#[path = "../kernel/namespace.rs"]
#[allow(dead_code, reason = "only what is said of skipped tests is used here")]
mod namespace;
mod pairs;
#[path = "../kernel/pcap.rs"]
mod pcap;
mod scps;
mod support;
#[path = "../kernel/tap.rs"]
#[allow(dead_code, reason = "the tests with the kernel change packets, these only look")]
mod tap;
mod third;
#[path = "../kernel/tshark.rs"]
mod tshark;
