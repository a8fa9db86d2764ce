//! Agreement of what a connection says it does next with what it does, for the tests of every protocol
//! family.

use std::vec::Vec;

use skyhaul_core::endpoint::{Connection, Context};
use skyhaul_core::{Instant, NetworkFields, NullSink, Path};

/// Segments of one moment: more are an endless loop.
const MAX_SEGMENTS: usize = 10_000;

/// Fires what is due and takes all segments that may leave now. After the timeouts, and as far as the path
/// grants it, something is due if and only if a segment leaves.
///
/// # Panics
///
/// If that does not hold.
pub(crate) fn settle<C: Connection>(
    connection: &mut C,
    now: Instant,
    path: &mut Path,
) -> Vec<(NetworkFields, Vec<u8>)> {
    let sink = &mut NullSink;
    connection.handle_timeout(&mut Context { now, path, sink });
    let mut sent = Vec::new();
    loop {
        let deadline = connection.deadline(now, path);
        let mut bytes = Vec::new();
        let fields = connection.poll_transmit(&mut Context { now, path, sink }, &mut bytes);
        let is_due = deadline.is_some_and(|at| at <= now);
        assert_eq!(is_due, fields.is_ok(), "due at {deadline:?}, sent {fields:?} at {now:?}: {connection:?}");
        let fields = match fields {
            Ok(fields) => fields,
            Err(told) => {
                assert_eq!(told, connection.deadline(now, path), "the deadline is the one that was told");
                return sent;
            }
        };
        sent.push((fields, bytes));
        assert!(sent.len() < MAX_SEGMENTS, "it sends without end: {connection:?}");
    }
}
