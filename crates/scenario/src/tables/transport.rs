//! `[transports.NAME]`: its `protocol` decides which other keys it has.

use crate::error::ScenarioError;
use crate::keys::{PROTOCOL, TransportTable, expect_table, join};
use crate::kinds::{Kind, Text};
use crate::protocol::{EndConfig, Protocol, Register};
use crate::tree::{Node, Table};

/// Parameters of the end that opens and of the one that accepts.
pub(crate) fn read_transport(
    register: &Register,
    node: &Node,
    path: &str,
) -> Result<[EndConfig; 2], ScenarioError> {
    let table = expect_table(node, path)?;
    let protocol = chosen(register, table, node, path)?;
    refuse_foreign(register, protocol, table, path)?;
    protocol.read(&TransportTable { node, path })
}

fn chosen(
    register: &Register,
    table: &Table,
    node: &Node,
    path: &str,
) -> Result<&'static dyn Protocol, ScenarioError> {
    let key = join(path, PROTOCOL);
    let Some(entry) = table.get(PROTOCOL) else {
        let none = || node.place.refuse(&key, "no protocol", "one that this program knows", "it knows none");
        return register.first().ok_or_else(none);
    };
    let found = Text.read(&entry.node).and_then(|name| register.find(&name));
    found.map_err(|hint| entry.node.place.refuse(&key, &entry.node.shown(), &register.allowed(), &hint))
}

/// A key that only another protocol has is no slip of the pen.
fn refuse_foreign(
    register: &Register,
    own: &dyn Protocol,
    table: &Table,
    path: &str,
) -> Result<(), ScenarioError> {
    let names = own.key_names();
    for entry in table.entries.iter().filter(|e| e.name != PROTOCOL && !names.contains(&e.name.as_str())) {
        let mut others = register.iter().filter(|other| other.name() != own.name());
        let Some(other) = others.find(|other| other.key_names().contains(&entry.name.as_str())) else {
            continue;
        };
        let other = other.name();
        let found = format!("`{}`, a key of protocol \"{other}\"", entry.name);
        let allowed = "keys of the protocol of this transport";
        let hint = format!("write protocol = \"{other}\", or leave the key out");
        return Err(entry.place.refuse(&join(path, &entry.name), &found, allowed, &hint));
    }
    Ok(())
}
