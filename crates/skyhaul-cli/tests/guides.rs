//! The pages that a stranger meets first: every command in them works.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "guides/demo.rs"]
mod demo;
#[path = "../../net/tests/kernel/namespace.rs"]
mod namespace;
#[path = "common/pages.rs"]
mod pages;
#[path = "guides/protection.rs"]
mod protection;
#[path = "guides/readme.rs"]
mod readme;
#[path = "guides/scps.rs"]
mod scps;
#[path = "guides/transfer.rs"]
mod transfer;
#[path = "capture/tshark.rs"]
mod tshark;
#[path = "guides/two_machines.rs"]
mod two_machines;
