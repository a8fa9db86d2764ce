//! Keys of a table: one list says how they are read and explained.

use super::error::ScenarioError;
use super::kinds::Kind;
use super::nearest::did_you_mean;
use super::tree::{Node, Table};

type Read<T> = Box<dyn Fn(&mut T, &Node, &str) -> Result<(), ScenarioError> + Send + Sync>;
type Show<T> = Box<dyn Fn(&mut T) -> String + Send + Sync>;

/// A key of a table that becomes a `T`.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    /// One sentence or a few, for the reference.
    pub(super) meaning: &'static str,
    pub(super) allowed: String,
    pub(super) is_required: bool,
    read: Read<T>,
    show: Show<T>,
}

impl<T: 'static> Key<T> {
    /// A value that `kind` reads into a field.
    pub(super) fn new<F: 'static, K: Kind<F> + 'static>(
        name: &'static str,
        kind: K,
        field: fn(&mut T) -> &mut F,
    ) -> Self {
        let allowed = kind.allowed();
        let kind = std::sync::Arc::new(kind);
        let reader = kind.clone();
        let read: Read<T> = Box::new(move |target, node, path| {
            let refuse = |hint: String| node.place.refuse(path, &node.shown(), &reader.allowed(), &hint);
            *field(target) = reader.read(node).map_err(refuse)?;
            Ok(())
        });
        let show: Show<T> = Box::new(move |target| kind.show(field(target)));
        Self { name, meaning: "", allowed, is_required: false, read, show }
    }

    /// A table with keys of its own.
    pub(super) fn table<U: 'static>(
        name: &'static str,
        keys: fn() -> &'static [Key<U>],
        field: fn(&mut T) -> &mut U,
    ) -> Self {
        let read: Read<T> = Box::new(move |target, node, path| read_table(keys(), field(target), node, path));
        Self { read, ..Self::custom(name, "a table", |_, _, _| Ok(())) }
    }

    /// Something that has its own way of being read.
    pub(super) fn custom(
        name: &'static str,
        allowed: &str,
        read: fn(&mut T, &Node, &str) -> Result<(), ScenarioError>,
    ) -> Self {
        let show: Show<T> = Box::new(|_| "-".to_string());
        Self {
            name,
            meaning: "",
            allowed: allowed.to_string(),
            is_required: false,
            read: Box::new(read),
            show,
        }
    }

    /// Says what it means.
    pub(super) fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// What its field starts with stands for nothing.
    pub(super) fn without_default(self) -> Self {
        Self { show: Box::new(|_| "-".to_string()), ..self }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The same key in a table that becomes a `U`, of which `T` is a part.
    pub(super) fn within<U: 'static>(self, part: fn(&mut U) -> &mut T) -> Key<U> {
        let Self { name, meaning, allowed, is_required, read, show } = self;
        let read: Read<U> = Box::new(move |target, node, path| read(part(target), node, path));
        let show: Show<U> = Box::new(move |target| show(part(target)));
        Key { name, meaning, allowed, is_required, read, show }
    }

    /// The value that `target` has, as it would be written.
    pub(super) fn shown(&self, target: &mut T) -> String {
        if self.is_required { "required".to_string() } else { (self.show)(target) }
    }
}

/// Reads a table into `target`. The order of `keys` counts, not that of the file: a key that brings
/// start values stands first.
pub(super) fn read_table<T: 'static>(
    keys: &[Key<T>],
    target: &mut T,
    node: &Node,
    path: &str,
) -> Result<(), ScenarioError> {
    let table = expect_table(node, path)?;
    refuse_unknown(keys, table, path)?;
    for key in keys {
        match table.get(key.name) {
            Some(entry) => (key.read)(target, &entry.node, &join(path, key.name))?,
            None if key.is_required => {
                return Err(node.place.refuse(
                    &join(path, key.name),
                    "nothing",
                    &key.allowed,
                    "it is required",
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// The table in `node`, or an error.
pub(super) fn expect_table<'a>(node: &'a Node, path: &str) -> Result<&'a Table, ScenarioError> {
    node.table().ok_or_else(|| {
        node.place.refuse(path, &node.shown(), "a table", &format!("write [{path}], or {{ key = value }}"))
    })
}

/// More keys than these are not listed in a message.
const LISTED_KEYS: usize = 16;

fn refuse_unknown<T>(keys: &[Key<T>], table: &Table, path: &str) -> Result<(), ScenarioError> {
    let names = || keys.iter().map(|key| key.name);
    for entry in &table.entries {
        if !names().any(|name| name == entry.name) {
            let allowed = match keys.len() {
                0..=LISTED_KEYS => names().collect::<Vec<_>>().join(", "),
                many => format!("{many} keys, see docs/guide/scenario-reference.md"),
            };
            let hint = did_you_mean(&entry.name, names());
            let found = format!("`{}`, which is no key here", entry.name);
            return Err(entry.place.refuse(&join(path, &entry.name), &found, &allowed, &hint));
        }
    }
    Ok(())
}

/// `path.name`, with quotes where the name needs them.
pub(super) fn join(path: &str, name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let bare = !name.is_empty() && name.chars().all(is_bare);
    let name = if bare { name.to_string() } else { format!("{name:?}") };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
