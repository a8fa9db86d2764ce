//! Transfers as a whole: both sessions, a stream between them, and a directory.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::wildcard_imports,
    reason = "tests tell what they do by their names, and a surprise shall end them"
)]

mod cancel;
mod changes;
mod craft;
mod crowd;
mod cut;
mod damage;
mod early;
mod happy;
mod hostile;
mod peer;
mod quiet;
mod refuse;
mod space;
mod streams;
mod support;
mod throughput;
