//! Axes of a sweep: keys, each with the values that it takes in turn.

use std::fmt;

use super::error::{Place, ScenarioError};
use super::keys::{expect_table, join};
use super::path::KeyPath;
use super::tree::{Entry, Node, Value};

/// Keys that keep their values over a whole sweep.
const FIXED: [&[&str]; 6] =
    [&["title"], &["description"], &["sweep"], &["metrics"], &["run", "seed"], &["run", "replications"]];
/// The table of axes that set several keys together.
const TOGETHER: &str = "together";
/// In it: what its values are called.
const LABELS: &str = "labels";

/// An axis: one or more keys that change together.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    columns: Vec<Column>,
    labels: Vec<Label>,
    place: Place,
}

/// A key and the values that it takes.
#[derive(Clone, Debug)]
struct Column {
    path: KeyPath,
    values: Vec<Node>,
}

/// Label of a value of an axis, for tables and figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A text, also one with a unit: `10ms`.
    Text(String),
    /// A switch.
    Switch(bool),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Switch(on) => on.fmt(f),
        }
    }
}

impl Label {
    fn of(node: &Node) -> Self {
        match &node.value {
            Value::Integer(number) if i64::try_from(*number).is_ok() => Self::Integer(*number as i64),
            Value::Float(number) => Self::Number(*number),
            Value::Text(text) => Self::Text(text.clone()),
            Value::Switch(on) => Self::Switch(*on),
            _ => Self::Text(node.place.text()),
        }
    }
}

impl Axis {
    /// The key, or the name of an axis of several keys.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All keys that it sets.
    pub fn keys(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.path.to_string()).collect()
    }

    /// Keys that it sets to their values number `choice`, as overrides.
    pub(super) fn overrides(&self, choice: usize) -> impl Iterator<Item = (String, String)> {
        self.columns.iter().map(move |column| (column.path.to_string(), column.values[choice].place.whole()))
    }

    /// Labels of its values, one for each.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Sets its keys to their values number `choice`.
    pub(super) fn apply(&self, root: &mut Node, choice: usize) -> Result<(), ScenarioError> {
        for column in &self.columns {
            column.path.set(root, column.values[choice].clone())?;
        }
        Ok(())
    }

    /// True if it sets what `path` leads to, or a part of it.
    pub(super) fn sets(&self, path: &KeyPath) -> bool {
        self.columns.iter().any(|column| column.path.overlaps(path))
    }

    /// How an override gives it other values.
    pub(super) fn override_hint(&self) -> String {
        match self.columns.as_slice() {
            [column] if self.name == column.path.to_string() => {
                format!("--set 'sweep.\"{}\"=[VALUE]' gives the axis other values", self.name)
            }
            _ => format!("--set 'sweep.{TOGETHER}.{}={{ ... }}' makes the axis anew", self.name),
        }
    }

    fn one(path: KeyPath, entry: &Entry) -> Result<Self, ScenarioError> {
        let name = path.to_string();
        let values = values(&entry.node, &join("sweep", &name))?;
        let labels = values.iter().map(Label::of).collect();
        Self { name, columns: vec![Column { path, values }], labels, place: entry.place.clone() }.checked()
    }

    fn several(entry: &Entry) -> Result<Self, ScenarioError> {
        let path = join("sweep.together", &entry.name);
        let mut labels = None;
        let mut columns: Vec<Column> = Vec::new();
        for entry in &expect_table(&entry.node, &path)?.entries {
            let values = values(&entry.node, &join(&path, &entry.name))?;
            if entry.name == LABELS {
                labels = Some(values);
            } else {
                columns.push(Column { path: key(entry, &path)?, values });
            }
        }
        let Some(first) = columns.first() else {
            let hint = "write \"KEY\" = [VALUE, VALUE]";
            return Err(entry.place.refuse(&path, "no key that it sets", "at least one", hint));
        };
        let length = first.values.len();
        let others = columns.iter().map(|column| column.values.len());
        if let Some(other) = others.chain(labels.as_ref().map(Vec::len)).find(|&other| other != length) {
            let found = format!("lists of {length} and {other} values");
            return Err(entry.place.refuse(&path, &found, "lists of equal length", ""));
        }
        let labels = labels.as_ref().unwrap_or(&first.values).iter().map(Label::of).collect();
        Self { name: entry.name.clone(), columns, labels, place: entry.place.clone() }.checked()
    }

    /// Refuses keys that cannot be swept.
    fn checked(self) -> Result<Self, ScenarioError> {
        for (number, column) in self.columns.iter().enumerate() {
            let keys = column.path.keys();
            if FIXED.iter().any(|fixed| keys.iter().zip(*fixed).all(|(a, b)| a == b)) {
                let found = format!("`{}`, which is the same at all points", column.path);
                return Err(self.place.refuse("sweep", &found, "another key", ""));
            }
            if self.columns[..number].iter().any(|other| other.path.overlaps(&column.path)) {
                return Err(self.set_twice(&column.path));
            }
        }
        Ok(self)
    }

    fn set_twice(&self, path: &KeyPath) -> ScenarioError {
        let found = format!("`{path}`, which is set by the sweep already");
        self.place.refuse(
            "sweep",
            &found,
            "each key once",
            "[sweep.together.NAME] sets several keys together",
        )
    }
}

/// The axes in a table of them, in the order of the file.
pub(super) fn axes(sweep: &Node) -> Result<Vec<Axis>, ScenarioError> {
    let mut axes = Vec::new();
    collect(sweep, &[], &mut axes)?;
    axes.sort_by_key(|axis| axis.place.start());
    Ok(axes)
}

/// Refuses axes that set the same key.
pub(super) fn check_apart(axes: &[Axis]) -> Result<(), ScenarioError> {
    for (number, axis) in axes.iter().enumerate() {
        let twice = |column: &&Column| axes[..number].iter().any(|other| other.sets(&column.path));
        if let Some(column) = axis.columns.iter().find(twice) {
            return Err(axis.set_twice(&column.path));
        }
        if axes[..number].iter().any(|other| other.name == axis.name) {
            return Err(axis.place.refuse(
                "sweep",
                &format!("a second axis `{}`", axis.name),
                "another name",
                "",
            ));
        }
    }
    Ok(())
}

/// `"links.space.forward.loss" = [...]` and `links.space.forward.loss = [...]` are the same.
fn collect(node: &Node, above: &[String], axes: &mut Vec<Axis>) -> Result<(), ScenarioError> {
    for entry in &expect_table(node, "sweep")?.entries {
        let path = KeyPath::below(above, &key(entry, "sweep")?);
        match &entry.node.value {
            Value::Table(table) if above.is_empty() && entry.name == TOGETHER => {
                for entry in &table.entries {
                    axes.push(Axis::several(entry)?);
                }
            }
            Value::Table(_) => collect(&entry.node, path.keys(), axes)?,
            _ => axes.push(Axis::one(path, entry)?),
        }
    }
    Ok(())
}

fn key(entry: &Entry, path: &str) -> Result<KeyPath, ScenarioError> {
    let refuse = || {
        let key = join(path, &entry.name);
        entry.place.refuse(
            &key,
            &format!("{:?}", entry.name),
            "a key such as \"links.space.forward.loss\"",
            "",
        )
    };
    KeyPath::parse(&entry.name).ok_or_else(refuse)
}

fn values(node: &Node, path: &str) -> Result<Vec<Node>, ScenarioError> {
    match &node.value {
        Value::List(values) if !values.is_empty() => Ok(values.clone()),
        Value::List(_) => Err(node.place.refuse(path, "an empty list", "a list of values", "")),
        _ => Err(node.place.refuse(path, &node.shown(), "a list of values", "write [VALUE, VALUE]")),
    }
}
