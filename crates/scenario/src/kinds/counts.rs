//! Plain numbers and switches.

use super::Kind;
use crate::tree::{Node, Value};

/// Whole number from `min` to `max`.
pub struct Count {
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
}

impl Count {
    /// Count from `min` up to a million: of packets, POLLs, tries more than anybody needs, and far from
    /// overflow.
    pub const fn at_least(min: u64) -> Self {
        Self { min, max: 1_000_000 }
    }
}

impl<F: TryFrom<u64> + Copy> Kind<F> for Count
where
    u64: TryFrom<F>,
{
    fn read(&self, node: &Node) -> Result<F, String> {
        let Value::Integer(number) = node.value else {
            let hint = if node.text().is_some() { "a plain number, without quotes" } else { "" };
            return Err(hint.to_string());
        };
        let in_range = (i128::from(self.min)..=i128::from(self.max)).contains(&number);
        F::try_from(number as u64).ok().filter(|_| in_range).ok_or_else(String::new)
    }

    fn show(&self, value: &F) -> String {
        u64::try_from(*value).map_or_else(|_| "?".to_string(), |number| number.to_string())
    }

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}", self.min, self.max)
    }
}

/// Number from `min` to `max`.
pub struct Number {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Kind<f64> for Number {
    fn read(&self, node: &Node) -> Result<f64, String> {
        let number = match &node.value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            Value::Text(_) => return Err("a plain number, without quotes".to_string()),
            _ => return Err(String::new()),
        };
        // False for NaN as well.
        if (self.min..=self.max).contains(&number) { Ok(number) } else { Err(String::new()) }
    }

    fn show(&self, value: &f64) -> String {
        format!("{value}")
    }

    fn allowed(&self) -> String {
        format!("a number from {} to {}", self.min, self.max)
    }
}

/// Number from 0 to 1.
pub struct Probability;

impl Kind<f64> for Probability {
    fn read(&self, node: &Node) -> Result<f64, String> {
        let number = match &node.value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            Value::Text(text) if text.ends_with('%') => return Err("write 0.01 for 1 %".to_string()),
            Value::Text(_) => return Err("a plain number, without quotes".to_string()),
            _ => return Err(String::new()),
        };
        // False for NaN as well.
        if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("it is a probability".to_string()) }
    }

    fn show(&self, value: &f64) -> String {
        format!("{value}")
    }

    fn allowed(&self) -> String {
        "a number from 0 to 1".to_string()
    }
}

/// Switch: true or false.
pub struct Switch;

impl Kind<bool> for Switch {
    fn read(&self, node: &Node) -> Result<bool, String> {
        match &node.value {
            Value::Switch(on) => Ok(*on),
            Value::Text(_) => Err("without quotes".to_string()),
            _ => Err(String::new()),
        }
    }

    fn show(&self, value: &bool) -> String {
        value.to_string()
    }

    fn allowed(&self) -> String {
        "true or false".to_string()
    }
}
