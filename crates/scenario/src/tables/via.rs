//! `[[flows.NAME.via]]`: the relays on the way of a flow.

use std::sync::LazyLock;

use super::flow::FlowDraft;
use crate::error::ScenarioError;
use crate::keys::{Key, join, read_table};
use crate::kinds::{Bytes, Choice, Name, Named};
use crate::model::RelayBuffer;
use crate::tree::{Node, Value};

/// Relays on the way of a flow at most.
const MAX_RELAYS: usize = 16;

/// A relay as the file says it.
#[derive(Clone, Debug)]
pub(crate) struct ViaDraft {
    pub(crate) relay: Named,
    pub(crate) transport: Named,
    pub(crate) buffer: RelayBuffer,
}

impl Default for ViaDraft {
    fn default() -> Self {
        let buffer = RelayBuffer { threshold_bytes: 64_000, size_bytes: 256_000, holds: true };
        Self { relay: Named::default(), transport: Named::default(), buffer }
    }
}

pub(crate) fn via_keys() -> &'static [Key<ViaDraft>] {
    static KEYS: LazyLock<Vec<Key<ViaDraft>>> = LazyLock::new(|| {
        vec![
            Key::new("relay", Name("relay"), |v: &mut ViaDraft| &mut v.relay).means("The relay.").required(),
            Key::new("transport", Name("transport"), |v: &mut ViaDraft| &mut v.transport)
                .means("What carries the flow from there to the next relay, or to its end.")
                .required(),
            Key::new("control", Choice(&[("hold", true), ("window", false)]), |v: &mut ViaDraft| {
                &mut v.buffer.holds
            })
            .means(
                "How whoever sends learns that the buffer is full: it is held back in the way of its protocol (ACK stop of \
                 TCP, STOP_TX of STPP), or the buffer is not read and its window closes.",
            ),
            Key::new("threshold", Bytes::BUFFER, |v: &mut ViaDraft| &mut v.buffer.threshold_bytes)
                .means("Octets in the buffer of a connection and direction from which on it is held back."),
            Key::new("size", Bytes::BUFFER, |v: &mut ViaDraft| &mut v.buffer.size_bytes)
                .means("Octets in it at most; not below `threshold`."),
        ]
    });
    &KEYS
}

pub(super) fn read_via(flow: &mut FlowDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let Value::List(nodes) = &node.value else {
        let hint = format!("write [[{path}]] in front of each");
        return Err(node.place.refuse(path, &node.shown(), "a list of tables", &hint));
    };
    if nodes.len() > MAX_RELAYS {
        let found = format!("{} relays", nodes.len());
        return Err(node.place.refuse(path, &found, &format!("at most {MAX_RELAYS}"), ""));
    }
    flow.via = nodes
        .iter()
        .enumerate()
        .map(|(number, node)| via(node, &format!("{path}[{number}]")))
        .collect::<Result<_, _>>()?;
    Ok(())
}

fn via(node: &Node, path: &str) -> Result<ViaDraft, ScenarioError> {
    let mut draft = ViaDraft::default();
    read_table(via_keys(), &mut draft, node, path)?;
    if draft.buffer.size_bytes < draft.buffer.threshold_bytes {
        let found = format!("{} bytes", draft.buffer.size_bytes);
        return Err(node.place.refuse(&join(path, "size"), &found, "`threshold` and more", "change either"));
    }
    Ok(draft)
}
