//! `[flows.NAME.utl]`: the end-to-end layer above the hops of a flow.

use std::sync::LazyLock;

use super::flow::FlowDraft;
use crate::error::ScenarioError;
use crate::keys::{Key, read_table};
use crate::kinds::{Bytes, Count, Time};
use crate::model::EndToEnd;
use crate::tree::Node;
use skyhaul_core::SECOND;

/// Largest batch: both ends hold what is not handed on of it.
const MAX_BATCH_BYTES: u64 = 16 << 20;
/// Largest window.
const MAX_BATCHES: u64 = 65_536;

/// The layer as the file says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UtlDraft {
    batch_bytes: u64,
    window_batches: u32,
    timeout_ns: u64,
}

impl Default for UtlDraft {
    fn default() -> Self {
        Self { batch_bytes: 50_000, window_batches: 4, timeout_ns: 20 * SECOND }
    }
}

pub(crate) fn utl_keys() -> &'static [Key<UtlDraft>] {
    static KEYS: LazyLock<Vec<Key<UtlDraft>>> = LazyLock::new(|| {
        vec![
            Key::new("batch", Bytes::from_to(1, MAX_BATCH_BYTES), |u: &mut UtlDraft| &mut u.batch_bytes)
                .means("Octets that the far application confirms at once."),
            Key::new("window_batches", Count { min: 1, max: MAX_BATCHES }, |u: &mut UtlDraft| {
                &mut u.window_batches
            })
            .means("Batches that are not confirmed, at most."),
            Key::new("timeout", Time { min_ns: 1 }, |u: &mut UtlDraft| &mut u.timeout_ns).means(
                "Time from a batch's first bit in which it must be confirmed; else the flow ends with an error.",
            ),
        ]
    });
    &KEYS
}

pub(super) fn read_utl(flow: &mut FlowDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut draft = UtlDraft::default();
    read_table(utl_keys(), &mut draft, node, path)?;
    let UtlDraft { batch_bytes, window_batches, timeout_ns } = draft;
    // The key's range fits.
    let batch_bytes = u32::try_from(batch_bytes).unwrap_or(u32::MAX);
    flow.end_to_end = Some(EndToEnd { batch_bytes, window_batches, timeout_ns });
    Ok(())
}
