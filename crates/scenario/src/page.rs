//! Sections of the reference page: a table of keys, each with its values, its defaults and its meaning.

use std::fmt::Write;

use super::keys::{Key, PROTOCOL};

/// Page under way.
#[derive(Clone, Debug)]
pub struct Page {
    text: String,
    /// Values of the key `protocol`, and the one that it has where it is left out.
    protocols: [String; 2],
}

impl Page {
    pub(crate) fn new(head: &str, protocols: [String; 2]) -> Self {
        Self { text: head.to_string(), protocols }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Section with the defaults of `T`.
    pub(crate) fn plain<T: Default + 'static>(&mut self, title: &str, keys: &[Key<T>]) {
        self.section(title, keys, &mut T::default());
    }

    /// Section in words: of a family whose keys are another one's.
    pub fn prose(&mut self, title: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\n## {title}\n\n{text}\n");
    }

    /// Section with the values that `default` has.
    pub fn section<T: 'static>(&mut self, title: &str, keys: &[Key<T>], default: &mut T) {
        self.head(title, "default");
        for key in keys {
            let shown = code(&key.shown(default));
            self.row(key.name, &key.allowed, &shown, key.meaning);
        }
    }

    /// Section with the values of all profiles; what is as in the first of them is not said again.
    pub fn profiled<T: 'static, const N: usize>(
        &mut self,
        title: &str,
        keys: &[Key<T>],
        names: [&str; N],
        profiles: &mut [T; N],
    ) {
        self.head_of_profiles(title, &names);
        self.rows_of_profiles(keys, profiles);
    }

    /// Section of the family called `name`: its `[transports.NAME]`, with the values of all profiles.
    pub fn transport<T: 'static, const N: usize>(
        &mut self,
        name: &str,
        keys: &[Key<T>],
        names: [&str; N],
        profiles: &mut [T; N],
    ) {
        self.head_of_profiles(&format!("[transports.NAME], protocol = \"{name}\""), &names);
        let shown = (0..N).map(|place| if place == 0 { "-" } else { "=" });
        let shown: Vec<&str> = shown.collect();
        let [allowed, first] = self.protocols.clone();
        let meaning = format!("The protocol, which decides on the other keys; without it, \"{first}\".");
        self.row(PROTOCOL, &allowed, &shown.join(" | "), &meaning);
        self.rows_of_profiles(keys, profiles);
    }

    fn head_of_profiles(&mut self, title: &str, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| format!("profile `{name}`")).collect();
        self.head(title, &names.join(" | "));
    }

    fn rows_of_profiles<T: 'static, const N: usize>(&mut self, keys: &[Key<T>], profiles: &mut [T; N]) {
        for key in keys {
            let shown = profiles.each_mut().map(|profile| code(&key.shown(profile)));
            let again = |value: &String| if *value == shown[0] { "=".to_string() } else { value.clone() };
            let others = shown.iter().skip(1).map(again);
            let all: Vec<String> = shown.iter().take(1).cloned().chain(others).collect();
            self.row(key.name, &key.allowed, &all.join(" | "), key.meaning);
        }
    }

    // Writing to a string cannot fail.
    fn head(&mut self, title: &str, defaults: &str) {
        let rule = "---|".repeat(defaults.matches('|').count() + 4);
        let _ = write!(self.text, "\n## {title}\n\n| key | value | {defaults} | meaning |\n|{rule}\n");
    }

    fn row(&mut self, name: &str, allowed: &str, defaults: &str, meaning: &str) {
        let _ = writeln!(self.text, "| `{name}` | {allowed} | {defaults} | {meaning} |");
    }
}

/// Words of our own are no code.
fn code(value: &str) -> String {
    if ["-", "required"].contains(&value) { value.to_string() } else { format!("`{value}`") }
}
