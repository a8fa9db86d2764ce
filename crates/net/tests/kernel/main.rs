//! The TCP host and the Linux kernel at the two ends of a TUN device. Each test makes a network namespace of
//! its own, which goes with its thread, however that ends. This needs root (or `CAP_NET_ADMIN` and
//! `CAP_SYS_ADMIN`) and `ip`; without, every test says aloud that it was skipped.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

mod bulk;
mod capture;
mod closing;
mod congestion;
mod crowd;
mod devices;
mod fast_open;
mod icmp;
mod lab;
mod namespace;
mod negotiated;
mod pcap;
mod scps;
mod socket;
mod tap;
mod troubled;
mod tshark;
mod windows;
mod wire;
