//! `map`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "map/guide.rs"]
mod guide;
#[path = "common/pages.rs"]
mod pages;
#[path = "map/usage.rs"]
mod usage;
