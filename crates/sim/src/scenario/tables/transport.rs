//! `[transports.NAME]`: its `protocol` decides which other keys it has.

use super::stp_transport::{StpDraft, stp_transport_keys};
use super::tcp_transport::{TcpDraft, tcp_transport_keys};
use crate::engines::Protocol;
use crate::scenario::error::ScenarioError;
use crate::scenario::keys::{Key, expect_table, join, read_table};
use crate::scenario::kinds::{Choice, Kind};
use crate::scenario::model::Transport;
use crate::scenario::tree::{Node, Table};

const PROTOCOLS: Choice<Protocol> = Choice(&[("stp", Protocol::Stp), ("tcp", Protocol::Tcp)]);

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(in crate::scenario) enum TransportDraft {
    Stp(Box<StpDraft>),
    Tcp(Box<TcpDraft>),
}

impl TransportDraft {
    /// What it comes to.
    pub(in crate::scenario) fn finish(self, name: &str) -> Transport {
        match self {
            Self::Stp(draft) => draft.finish(name),
            Self::Tcp(draft) => draft.finish(name),
        }
    }
}

/// Which protocol it is has been read before.
pub(super) fn protocol_key<T: 'static>() -> Key<T> {
    Key::custom("protocol", &PROTOCOLS.allowed(), |_, _, _| Ok(()))
        .means("The protocol, which decides on the other keys; without it, \"stp\".")
}

pub(super) fn read_transport(node: &Node, path: &str) -> Result<TransportDraft, ScenarioError> {
    let table = expect_table(node, path)?;
    let (stp, tcp) = (stp_transport_keys(), tcp_transport_keys());
    match protocol(table, path)? {
        Protocol::Stp => {
            refuse_foreign(stp, tcp, "tcp", table, path)?;
            read(stp, node, path).map(Box::new).map(TransportDraft::Stp)
        }
        Protocol::Tcp => {
            refuse_foreign(tcp, stp, "stp", table, path)?;
            let draft: TcpDraft = read(tcp, node, path)?;
            draft.check(node, path)?;
            Ok(TransportDraft::Tcp(Box::new(draft)))
        }
    }
}

fn protocol(table: &Table, path: &str) -> Result<Protocol, ScenarioError> {
    let Some(entry) = table.get("protocol") else { return Ok(Protocol::Stp) };
    let refuse = |hint: String| {
        let key = join(path, "protocol");
        entry.node.place.refuse(&key, &entry.node.shown(), &PROTOCOLS.allowed(), &hint)
    };
    PROTOCOLS.read(&entry.node).map_err(refuse)
}

fn read<T: Default + 'static>(keys: &[Key<T>], node: &Node, path: &str) -> Result<T, ScenarioError> {
    let mut draft = T::default();
    read_table(keys, &mut draft, node, path)?;
    Ok(draft)
}

/// A key that only the other protocol has is no slip of the pen.
fn refuse_foreign<T, U>(
    own: &[Key<T>],
    others: &[Key<U>],
    other: &str,
    table: &Table,
    path: &str,
) -> Result<(), ScenarioError> {
    let is_foreign =
        |name: &str| own.iter().all(|key| key.name != name) && others.iter().any(|key| key.name == name);
    let Some(entry) = table.entries.iter().find(|entry| is_foreign(&entry.name)) else { return Ok(()) };
    let found = format!("`{}`, a key of protocol \"{other}\"", entry.name);
    let allowed = "keys of the protocol of this transport";
    let hint = format!("write protocol = \"{other}\", or leave the key out");
    Err(entry.place.refuse(&join(path, &entry.name), &found, allowed, &hint))
}
