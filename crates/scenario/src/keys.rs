//! Keys of a table: one list says how they are read and explained.

use super::error::ScenarioError;
use super::kinds::Kind;
use super::nearest::did_you_mean;
use super::tree::{Node, Table};

type Read<T> = Box<dyn Fn(&mut T, &Node, &str) -> Result<(), ScenarioError> + Send + Sync>;
type Show<T> = Box<dyn Fn(&mut T) -> String + Send + Sync>;

/// Key of a table that becomes a `T`.
pub struct Key<T> {
    /// Name, unique in its table.
    pub name: &'static str,
    /// One sentence or a few, for the reference.
    pub meaning: &'static str,
    /// Values that it takes, in words.
    pub allowed: String,
    /// True if a table without it is refused.
    pub is_required: bool,
    read: Read<T>,
    show: Show<T>,
}

impl<T: 'static> Key<T> {
    /// Key whose value `kind` reads into a field.
    pub fn new<F: 'static, K: Kind<F> + 'static>(
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

    /// Key whose value is a table with keys of its own.
    pub fn table<U: 'static>(
        name: &'static str,
        keys: fn() -> &'static [Key<U>],
        field: fn(&mut T) -> &mut U,
    ) -> Self {
        let read: Read<T> = Box::new(move |target, node, path| read_table(keys(), field(target), node, path));
        Self { read, ..Self::custom(name, "a table", |_, _, _| Ok(())) }
    }

    /// Key that is read by a function of its own.
    pub fn custom(
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

    /// Meaning, for the reference: a sentence or a few.
    #[must_use]
    pub fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// The key, whose start value stands for nothing and is not shown.
    #[must_use]
    pub fn without_default(self) -> Self {
        Self { show: Box::new(|_| "-".to_string()), ..self }
    }

    /// The key, made one that no table may leave out.
    #[must_use]
    pub fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The key in a table that becomes a `U`, of which `T` is a part.
    pub fn within<U: 'static>(self, part: fn(&mut U) -> &mut T) -> Key<U> {
        let Self { name, meaning, allowed, is_required, read, show } = self;
        let read: Read<U> = Box::new(move |target, node, path| read(part(target), node, path));
        let show: Show<U> = Box::new(move |target| show(part(target)));
        Key { name, meaning, allowed, is_required, read, show }
    }

    /// Value that `target` has, as it would be written.
    pub fn shown(&self, target: &mut T) -> String {
        if self.is_required { "required".to_string() } else { (self.show)(target) }
    }
}

/// Reads a table into `target`. The order of `keys` counts, not that of the file: a key that brings
/// start values stands first.
pub fn read_table<T: 'static>(
    keys: &[Key<T>],
    target: &mut T,
    node: &Node,
    path: &str,
) -> Result<(), ScenarioError> {
    let table = expect_table(node, path)?;
    refuse_unknown(&[], keys, table, path)?;
    read_keys(keys, target, node, table, path)
}

/// Table that has been read in part: it may hold the keys in `before`, too.
fn read_rest<T: 'static>(
    before: &[&str],
    keys: &[Key<T>],
    target: &mut T,
    node: &Node,
    path: &str,
) -> Result<(), ScenarioError> {
    let table = expect_table(node, path)?;
    refuse_unknown(before, keys, table, path)?;
    read_keys(keys, target, node, table, path)
}

fn read_keys<T: 'static>(
    keys: &[Key<T>],
    target: &mut T,
    node: &Node,
    table: &Table,
    path: &str,
) -> Result<(), ScenarioError> {
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

/// Table in `node`, or an error.
pub fn expect_table<'a>(node: &'a Node, path: &str) -> Result<&'a Table, ScenarioError> {
    node.table().ok_or_else(|| {
        node.place.refuse(path, &node.shown(), "a table", &format!("write [{path}], or {{ key = value }}"))
    })
}

/// More keys than these are not listed in a message.
const LISTED_KEYS: usize = 16;

fn refuse_unknown<T>(
    before: &[&str],
    keys: &[Key<T>],
    table: &Table,
    path: &str,
) -> Result<(), ScenarioError> {
    let names = || before.iter().copied().chain(keys.iter().map(|key| key.name));
    for entry in &table.entries {
        if !names().any(|name| name == entry.name) {
            let allowed = match before.len() + keys.len() {
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

/// Path of a key: `path.name`, with quotes where the name needs them.
pub fn join(path: &str, name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let bare = !name.is_empty() && name.chars().all(is_bare);
    let name = if bare { name.to_string() } else { format!("{name:?}") };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// Key that chooses the family.
pub(crate) const PROTOCOL: &str = "protocol";

/// A `[transports.NAME]` whose family has been chosen by its `protocol`.
#[derive(Clone, Copy, Debug)]
pub struct TransportTable<'a> {
    /// The table.
    pub node: &'a Node,
    /// Path of the table, for messages.
    pub path: &'a str,
}

impl TransportTable<'_> {
    /// Reads all keys but `protocol` into `draft`. The order of `keys` counts, not that of the file: a key
    /// that brings start values stands first.
    pub fn read<T: 'static>(&self, keys: &[Key<T>], draft: &mut T) -> Result<(), ScenarioError> {
        read_rest(&[PROTOCOL], keys, draft, self.node, self.path)
    }
}
