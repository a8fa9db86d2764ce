//! `emulate`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

#[path = "emulate/attached.rs"]
mod attached;
#[path = "emulate/commands.rs"]
mod commands;
mod common;
#[path = "emulate/control.rs"]
mod control;
#[path = "emulate/endings.rs"]
mod endings;
#[path = "emulate/guide.rs"]
mod guide;
#[path = "common/namespaces.rs"]
mod namespaces;
#[path = "common/pages.rs"]
mod pages;
#[path = "emulate/relay.rs"]
mod relay;
#[path = "emulate/signals.rs"]
mod signals;
#[path = "emulate/support.rs"]
mod support;
#[path = "emulate/usage.rs"]
mod usage;
