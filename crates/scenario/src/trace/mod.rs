//! Traces: files of comma-separated values that say how a link changes with time.

mod apply;
mod fields;
mod files;
mod read;

pub use read::{MAX_TRACE_BYTES, MAX_TRACE_ROWS};

pub(super) use apply::Span;
pub(super) use files::Traces;

#[cfg(test)]
mod apply_tests;
#[cfg(test)]
mod trace_tests;

/// A trace: its rows in the order of time, the first at the start of the run; at least one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    rows: Vec<Row>,
}

/// Changes at a time; `None`: no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    at_ns: u64,
    /// Forward, reverse.
    rate_bps: [Option<u64>; 2],
    delay_ns: [Option<u64>; 2],
    mtu_bytes: [Option<u32>; 2],
    is_up: Option<bool>,
}
