//! Texts: free ones, names, and words out of a list.

use super::{Count, Kind};
use crate::error::Place;
use crate::nearest::did_you_mean;
use crate::tree::Node;

/// Any text.
pub struct Text;

impl Kind<String> for Text {
    fn read(&self, node: &Node) -> Result<String, String> {
        node.text().map(str::to_string).ok_or_else(|| "write it in quotes".to_string())
    }

    fn show(&self, value: &String) -> String {
        format!("{value:?}")
    }

    fn allowed(&self) -> String {
        "a text".to_string()
    }
}

/// Name of something that stands elsewhere, with the place where it is called.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Name.
    pub name: String,
    /// Place where it is called.
    pub place: Place,
}

/// Name of a node, a link or a transport, which this says.
pub struct Name(pub &'static str);

impl Kind<Named> for Name {
    fn read(&self, node: &Node) -> Result<Named, String> {
        let name = Text.read(node)?;
        Ok(Named { name, place: node.place.clone() })
    }

    fn show(&self, value: &Named) -> String {
        format!("{:?}", value.name)
    }

    fn allowed(&self) -> String {
        format!("the name of a {}", self.0)
    }
}

/// Choice of one of these words, each with the value that it stands for.
pub struct Choice<F: 'static>(pub &'static [(&'static str, F)]);

impl<F: Clone + PartialEq + Send + Sync> Kind<F> for Choice<F> {
    fn read(&self, node: &Node) -> Result<F, String> {
        let text = Text.read(node)?;
        let known = self.0.iter().find(|&&(word, _)| word == text);
        known
            .map(|(_, value)| value.clone())
            .ok_or_else(|| did_you_mean(&text, self.0.iter().map(|&(word, _)| word)))
    }

    fn show(&self, value: &F) -> String {
        let word = self.0.iter().find(|(_, known)| known == value).map_or("?", |&(word, _)| word);
        format!("\"{word}\"")
    }

    fn allowed(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        words.join(" or ")
    }
}

/// Number of tries, of which the largest is as good as unlimited.
pub struct UnlimitedTries;

const TRIES: Count = Count { min: 1, max: 1_000_000 };

impl Kind<u32> for UnlimitedTries {
    fn read(&self, node: &Node) -> Result<u32, String> {
        if node.text() == Some("unlimited") { Ok(u32::MAX) } else { TRIES.read(node) }
    }

    fn show(&self, value: &u32) -> String {
        if *value == u32::MAX { "\"unlimited\"".to_string() } else { value.to_string() }
    }

    fn allowed(&self) -> String {
        format!("{}, or \"unlimited\"", <Count as Kind<u32>>::allowed(&TRIES))
    }
}
