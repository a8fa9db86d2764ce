//! Checks of a list of keys against the structure that it fills, for the tests of whoever has such a list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use super::error::SourceText;
use super::keys::{Key, read_table};
use super::tree::Node;

/// Fields of a structure and their values, as `Debug` prints them. The names are without units: in a file
/// the value carries the unit.
fn fields(value: &impl Debug) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let mut current = String::new();
    for line in format!("{value:#?}").lines().filter_map(|line| line.strip_prefix("    ")) {
        let begins = line.starts_with(|c: char| c.is_ascii_lowercase());
        let (name, value) = line.split_once(':').filter(|_| begins).unwrap_or((&current, line));
        let unit = ["_ns", "_bps", "_bytes"].into_iter().find(|unit| name.ends_with(unit)).unwrap_or("");
        current = name.strip_suffix(unit).unwrap_or(name).to_string();
        fields.entry(current.clone()).or_insert_with(String::new).push_str(value);
    }
    fields
}

/// Names of the fields of a structure, without units.
pub fn field_names(value: &impl Debug) -> BTreeSet<String> {
    fields(value).into_keys().collect()
}

/// Names of these keys.
pub fn names<T>(keys: &[Key<T>]) -> BTreeSet<String> {
    keys.iter().map(|key| key.name.to_string()).collect()
}

/// Sets each key to each of many values: what can be read changes the field of that name and no other.
///
/// # Panics
/// If that does not hold.
pub fn each_sets_its_field<T: Clone + Debug + 'static>(keys: &[Key<T>], start: &T) {
    for key in keys.iter().filter(|key| key.allowed != "a table") {
        let words = key.allowed.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\""));
        let values =
            ["7", "[7, 7]", "0.7", "true", "false", "\"7us\"", "\"7bit/s\"", "\"7B\""].map(String::from);
        let mut changes = 0;
        for value in words.chain(values) {
            let text = format!("{} = {value}", key.name);
            let source = Arc::new(SourceText { text, ..SourceText::default() });
            let mut target = start.clone();
            if read_table(keys, &mut target, &document(&source), "").is_err() {
                continue;
            }
            let (before, mut after) = (fields(start), fields(&target));
            changes += usize::from(before != after);
            after.insert(key.name.to_string(), before[key.name].clone());
            assert_eq!(before, after, "{}", source.text);
        }
        assert!(changes > 0, "{} changes nothing", key.name);
    }
}

/// Reads each key of `start` as it is shown into `other`: it is the value that it was.
///
/// # Panics
/// If that does not hold.
pub fn shown_reads_as_itself<T: Clone + Debug + 'static>(keys: &[Key<T>], start: &T, other: &T) {
    for key in keys.iter().filter(|key| !key.allowed.contains("a table")) {
        let text = format!("{} = {}", key.name, key.shown(&mut start.clone()));
        let source = Arc::new(SourceText { text, ..SourceText::default() });
        let mut target = other.clone();
        read_table(keys, &mut target, &document(&source), "").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(fields(&target)[key.name], fields(start)[key.name], "{}", source.text);
    }
}

fn document(source: &Arc<SourceText>) -> Node {
    Node::document(source).unwrap_or_else(|error| panic!("{error}"))
}
