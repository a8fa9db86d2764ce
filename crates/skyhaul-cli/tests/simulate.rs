//! `simulate`, `merge` and `report`, as the built binary does them.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "simulate/guide.rs"]
mod guide;
#[path = "simulate/interrupted.rs"]
mod interrupted;
#[path = "simulate/outputs.rs"]
mod outputs;
#[path = "common/pages.rs"]
mod pages;
#[path = "simulate/scenario.rs"]
mod scenario;
#[path = "simulate/usage.rs"]
mod usage;
