//! The kinds of values that a key may have: how each is read, shown and explained.

mod counts;
mod quantities;
mod words;

pub use counts::{Count, Number, Probability, Switch};
pub use quantities::{Bytes, MAX_RATE_BPS, MAX_TIME_NS, MtuBytes, PayloadBytes, Queue, Rate, Time};
pub use words::{Choice, Name, Named, Text, UnlimitedTries};

use super::tree::{Node, Value};

/// Kind of values that become an `F`.
pub trait Kind<F>: Send + Sync {
    /// Value, or a hint (perhaps empty) on how to write it.
    fn read(&self, node: &Node) -> Result<F, String>;
    /// Text of the value as a file has it.
    fn show(&self, value: &F) -> String;
    /// Values that are allowed, as in `a time such as "275ms"`.
    fn allowed(&self) -> String;
}

/// Word that means that there is none, and the kind of values beside it.
pub struct Or<K>(pub &'static str, pub K);

impl<F, K: Kind<F>> Kind<Option<F>> for Or<K> {
    fn read(&self, node: &Node) -> Result<Option<F>, String> {
        if node.text() == Some(self.0) { Ok(None) } else { self.1.read(node).map(Some) }
    }

    fn show(&self, value: &Option<F>) -> String {
        value.as_ref().map_or_else(|| format!("\"{}\"", self.0), |value| self.1.show(value))
    }

    fn allowed(&self) -> String {
        format!("{}, or \"{}\"", self.1.allowed(), self.0)
    }
}

/// Kind whose default says that the key need not be there: no word stands for it.
pub struct Maybe<K>(pub K);

impl<F, K: Kind<F>> Kind<Option<F>> for Maybe<K> {
    fn read(&self, node: &Node) -> Result<Option<F>, String> {
        self.0.read(node).map(Some)
    }

    fn show(&self, value: &Option<F>) -> String {
        value.as_ref().map_or_else(|| "-".to_string(), |value| self.0.show(value))
    }

    fn allowed(&self) -> String {
        self.0.allowed()
    }
}

/// List of two of a kind.
pub struct Pair<K>(pub K);

impl<F, K: Kind<F>> Kind<(F, F)> for Pair<K> {
    fn read(&self, node: &Node) -> Result<(F, F), String> {
        let Value::List(nodes) = &node.value else { return Err("write [A, B]".to_string()) };
        let [a, b] = &nodes[..] else { return Err(format!("two of them, not {}", nodes.len())) };
        Ok((self.0.read(a)?, self.0.read(b)?))
    }

    fn show(&self, (a, b): &(F, F)) -> String {
        format!("[{}, {}]", self.0.show(a), self.0.show(b))
    }

    fn allowed(&self) -> String {
        format!("a list of two: each {}", self.0.allowed())
    }
}

/// A hint for numbers that need a unit.
fn unit_hint(node: &Node, unit: &str) -> String {
    match &node.value {
        Value::Integer(_) | Value::Float(_) => {
            format!("write the unit, as in \"{}{unit}\"", node.shown().replace('_', ""))
        }
        Value::Text(text) if text.starts_with('-') => "it cannot be negative".to_string(),
        Value::Text(text) if text.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("write the unit, as in \"{text}{unit}\"")
        }
        Value::Text(_) => String::new(),
        _ => "write it in quotes".to_string(),
    }
}
