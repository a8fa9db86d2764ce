//! Key paths, as in `links.space.forward.rate`, and setting what they lead to.

use std::fmt;
use std::sync::Arc;

use super::error::{ScenarioError, SourceText};
use super::keys::join;
use super::nearest::did_you_mean;
use super::tree::{Entry, Node, Table, Value};

/// Keys from the top of a file down to a value; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPath(Vec<String>);

/// Tables in which users name what is in them: an override that names another has a slip in it.
const NAMED: [&str; 4] = ["nodes", "links", "transports", "flows"];

impl KeyPath {
    /// Reads keys as TOML has them, separated by dots, in quotes if need be.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.contains(['\n', '\r']) {
            return None;
        }
        let source = SourceText { label: String::new(), text: format!("{text}=0"), is_override: true };
        let mut keys = Vec::new();
        let mut node = Node::document(&Arc::new(source)).ok()?;
        while let Value::Table(table) = node.value {
            let mut entries = table.entries;
            let only = entries.pop().filter(|_| entries.is_empty())?;
            keys.push(only.name);
            node = only.node;
        }
        matches!(node.value, Value::Integer(0)).then_some(Self(keys))
    }

    pub(super) fn keys(&self) -> &[String] {
        &self.0
    }

    /// These keys, and `more` below them.
    pub(super) fn below(keys: &[String], more: &Self) -> Self {
        Self([keys, &more.0].concat())
    }

    /// True if one leads to where the other does, or to what that is a part of.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }

    /// A table of tables that has `value` at the end of these keys.
    pub(super) fn nest(keys: &[String], value: Node) -> Node {
        keys.iter().rev().fold(value, |node, key| {
            let place = node.place.clone();
            let entry = Entry { name: key.clone(), place: place.clone(), node };
            Node { value: Value::Table(Table { entries: vec![entry] }), place }
        })
    }

    /// Puts `value` where this leads to; a number leads into a list, from 0. Tables that are not there are
    /// made; those that are there are replaced only by tables.
    pub(super) fn set(&self, root: &mut Node, value: Node) -> Result<(), ScenarioError> {
        self.check_name(root, &value)?;
        let mut at = root;
        let mut path = String::new();
        for (depth, key) in self.0.iter().enumerate() {
            let Some(number) = place_in(at, key, &path, &value)? else {
                let entry = Entry {
                    name: key.clone(),
                    place: value.place.clone(),
                    node: Self::nest(&self.0[depth + 1..], value),
                };
                if let Value::Table(table) = &mut at.value {
                    table.entries.push(entry);
                }
                return Ok(());
            };
            path = join(&path, key);
            at = match &mut at.value {
                Value::List(items) => &mut items[number],
                Value::Table(table) => &mut table.entries[number].node,
                _ => return Ok(()),
            };
        }
        if at.table().is_some() && value.table().is_none() {
            let is_switch = path.ends_with(".probing");
            let hint = if is_switch { format!("set {path}.on") } else { "set the keys in it".to_string() };
            return Err(value.place.refuse(&path, &value.shown(), "a table, as the file has it", &hint));
        }
        *at = value;
        Ok(())
    }

    fn check_name(&self, root: &Node, value: &Node) -> Result<(), ScenarioError> {
        let [kind, name, _, ..] = self.0.as_slice() else { return Ok(()) };
        let table = root.table().and_then(|root| root.get(kind)).and_then(|entry| entry.node.table());
        match table.filter(|_| NAMED.contains(&kind.as_str())) {
            Some(table) if table.get(name).is_none() => {
                let names: Vec<&str> = table.names().take(16).collect();
                let hint = did_you_mean(name, table.names());
                let found = format!("`{name}`, which the file does not have");
                Err(value.place.refuse(&join(kind, name), &found, &names.join(", "), &hint))
            }
            _ => Ok(()),
        }
    }
}

/// Which of the entries or items of `at`, which stands at `path`, a key leads to; `None`: a table has none
/// yet.
fn place_in(at: &Node, key: &str, path: &str, value: &Node) -> Result<Option<usize>, ScenarioError> {
    let refuse = |allowed: &str| {
        let hint = format!("so it has no `{key}`");
        Err(value.place.refuse(path, &format!("{} in the file", at.shown()), allowed, &hint))
    };
    match &at.value {
        Value::Table(table) => Ok(table.entries.iter().position(|entry| entry.name == *key)),
        Value::List(items) => match key.parse::<usize>() {
            Ok(number) if number < items.len() => Ok(Some(number)),
            _ => refuse(&format!("the number of one of its {} items, from 0", items.len())),
        },
        _ => refuse("a table"),
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().fold(String::new(), |path, key| join(&path, key)))
    }
}
