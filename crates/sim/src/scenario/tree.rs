//! A TOML document in which every key and value knows its place.

use std::sync::Arc;

use toml::de::{DeString, DeTable, DeValue};

use super::error::{Place, ScenarioError, Source};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Switch(bool),
    List(Vec<Node>),
    Table(Table),
    /// What no key allows: dates, numbers beyond all bounds.
    Other,
}

/// Entries in the order of the file; what overrides add comes last.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Table {
    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }
}

impl Node {
    /// The document in `source`.
    pub(super) fn document(source: &Arc<Source>) -> Result<Self, ScenarioError> {
        let table = DeTable::parse(&source.text).map_err(|error| syntax(source, &error))?;
        let value = Value::Table(entries(source, table.get_ref()));
        Ok(Self { value, place: Place::new(source, 0..0) })
    }

    /// The value in `source`.
    pub(super) fn single(source: &Arc<Source>) -> Result<Self, ScenarioError> {
        let value = DeValue::parse(&source.text).map_err(|error| syntax(source, &error))?;
        Ok(node(source, &value))
    }

    pub(super) fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// For messages.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
            _ => self.place.text(),
        }
    }
}

fn syntax(source: &Arc<Source>, error: &toml::de::Error) -> ScenarioError {
    let place = Place::new(source, error.span().unwrap_or(0..0));
    place.error("", format!("no TOML: {}", error.message()))
}

fn entries(source: &Arc<Source>, table: &DeTable<'_>) -> Table {
    let entry = |(key, value): (&toml::Spanned<DeString<'_>>, _)| Entry {
        name: key.get_ref().to_string(),
        place: Place::new(source, key.span()),
        node: node(source, value),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.place.start());
    Table { entries }
}

fn node(source: &Arc<Source>, value: &toml::Spanned<DeValue<'_>>) -> Node {
    let place = Place::new(source, value.span());
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).map_or(Value::Other, Value::Integer)
        }
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Other, Value::Float),
        DeValue::Boolean(on) => Value::Switch(*on),
        DeValue::Datetime(_) => Value::Other,
        DeValue::Array(values) => Value::List(values.iter().map(|value| node(source, value)).collect()),
        DeValue::Table(table) => Value::Table(entries(source, table)),
    };
    Node { value, place }
}
