//! `--capture` of the built binary, and the dissector of `contrib/wireshark`, as tshark reads with it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "capture/compressed.rs"]
mod compressed;
#[path = "capture/dissector.rs"]
mod dissector;
#[path = "capture/emulate.rs"]
mod emulate;
#[path = "capture/files.rs"]
mod files;
#[path = "capture/guide.rs"]
mod guide;
#[path = "common/pages.rs"]
mod pages;
#[path = "capture/records.rs"]
mod records;
#[path = "capture/simulate.rs"]
mod simulate;
#[path = "capture/transfer.rs"]
mod transfer;
#[path = "capture/tshark.rs"]
mod tshark;
