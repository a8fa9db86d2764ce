//! A TOML document in which every key and value knows its place.

use std::sync::Arc;

use toml::de::{DeString, DeTable, DeValue};

use super::error::{Place, ScenarioError, SourceText};

/// Value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Value.
    pub value: Value,
    /// Place of the value.
    pub place: Place,
}

/// Value of a key, as TOML has it.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text in quotes.
    Text(String),
    /// Whole number.
    Integer(i128),
    /// Number with a fraction or an exponent.
    Float(f64),
    /// True or false.
    Switch(bool),
    /// Values in brackets.
    List(Vec<Node>),
    /// Keys with their values.
    Table(Table),
    /// Anything that no key allows: dates, numbers beyond all bounds.
    Other,
}

/// Keys with their values in the order of the file; what overrides add comes last.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Entries in that order.
    pub entries: Vec<Entry>,
}

/// Key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the key.
    pub name: String,
    /// Place of the name.
    pub place: Place,
    /// Value.
    pub node: Node,
}

impl Table {
    /// Entry with this name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }
}

impl Node {
    /// Document in `source`.
    pub(crate) fn document(source: &Arc<SourceText>) -> Result<Self, ScenarioError> {
        let table = DeTable::parse(&source.text).map_err(|error| syntax(source, &error))?;
        let value = Value::Table(entries(source, table.get_ref()));
        Ok(Self { value, place: Place::new(source, 0..0) })
    }

    /// Value in `source`.
    pub(crate) fn single(source: &Arc<SourceText>) -> Result<Self, ScenarioError> {
        let value = DeValue::parse(&source.text).map_err(|error| syntax(source, &error))?;
        Ok(node(source, &value))
    }

    /// Where the deepest of these keys stands, each within the one before it, that is there.
    pub fn place_of(&self, keys: &[&str]) -> Option<&Place> {
        let (mut node, mut place) = (self, None);
        for key in keys {
            let next = match &node.value {
                Value::Table(table) => table.get(key).map(|entry| &entry.node),
                Value::List(nodes) => key.parse().ok().and_then(|number: usize| nodes.get(number)),
                _ => None,
            };
            let Some(next) = next else { break };
            (node, place) = (next, Some(&next.place));
        }
        place
    }

    /// Table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    /// Text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Form in which messages show it.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
            _ => self.place.text(),
        }
    }
}

fn syntax(source: &Arc<SourceText>, error: &toml::de::Error) -> ScenarioError {
    let place = Place::new(source, error.span().unwrap_or(0..0));
    place.error("", format!("no TOML: {}", error.message()))
}

fn entries(source: &Arc<SourceText>, table: &DeTable<'_>) -> Table {
    let entry = |(key, value): (&toml::Spanned<DeString<'_>>, _)| Entry {
        name: key.get_ref().to_string(),
        place: Place::new(source, key.span()),
        node: node(source, value),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.place.start());
    Table { entries }
}

fn node(source: &Arc<SourceText>, value: &toml::Spanned<DeValue<'_>>) -> Node {
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
