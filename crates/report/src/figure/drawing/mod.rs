//! Drawings: states and networks as graphs, formats as rows of bits. What they show is a file that a program
//! made of its own tables; where it lies on the paper stands in the figure's definition.

mod formats;
mod graph;

#[cfg(test)]
mod drawing_tests;

use std::path::Path;

use serde::Deserialize;

use super::definition::DrawingDefinition;
use crate::ReportError;
use crate::scene::Scene;

/// The most nodes, ways, formats or fields of a drawing.
pub const MAX_PARTS: usize = 200;

/// Contents of a drawing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "drawing", rename_all = "lowercase", deny_unknown_fields)]
pub enum Drawing {
    /// Nodes, and ways between them.
    Graph {
        /// Nodes.
        nodes: Vec<Node>,
        /// Ways.
        ways: Vec<Way>,
    },
    /// Formats of packets.
    Formats {
        /// Formats in their order.
        formats: Vec<Format>,
    },
}

/// Look of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// A state: a box with round corners.
    State,
    /// A host: a box.
    Host,
    /// A router, on the ground or on board: a grey box.
    Router,
    /// Text alone.
    Text,
}

/// Node of a graph.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its look.
    pub kind: NodeKind,
    /// Further lines below the name.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// Way between two nodes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Name of a node.
    pub from: String,
    /// Name of a node.
    pub to: String,
    /// Lines of text at it.
    #[serde(default)]
    pub lines: Vec<String>,
    /// True: it leads from one to the other, and not back.
    #[serde(default)]
    pub directed: bool,
}

/// Format of a packet or of a part of one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Its name.
    pub name: String,
    /// Remark behind the name.
    #[serde(default)]
    pub remark: String,
    /// Fields in the order of the wire.
    pub fields: Vec<FormatField>,
}

/// Field of a format.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatField {
    /// Its name.
    pub name: String,
    /// Its width; none: as long as its value.
    pub bits: Option<usize>,
}

impl Way {
    /// Name of the way: as figure definitions and claims have it.
    pub fn name(&self) -> String {
        format!("{} to {}", self.from, self.to)
    }
}

impl Format {
    /// Octets of all fields of a fixed width.
    pub(crate) fn octets(&self) -> usize {
        self.fields.iter().filter_map(|field| field.bits).sum::<usize>() / 8
    }

    fn parts(&self) -> Vec<String> {
        let field = |field: &FormatField| match field.bits {
            Some(bits) => format!("{}: {}, {bits} bits", self.name, field.name),
            None => format!("{}: {}", self.name, field.name),
        };
        let octets = format!("{}: {} octets", self.name, self.octets());
        [self.name.clone(), octets].into_iter().chain(self.fields.iter().map(field)).collect()
    }
}

impl Drawing {
    /// Reads a drawing.
    ///
    /// # Errors
    /// Names the file: not to be read, no drawing, more than [`MAX_PARTS`] parts.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = std::fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses a text; `place` stands for the file's name in messages.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str, place: &str) -> Result<Self, ReportError> {
        let drawing: Self =
            serde_json::from_str(text).map_err(|error| ReportError::item(place, error.to_string()))?;
        if drawing.parts().len() > MAX_PARTS {
            return Err(ReportError::item(place, format!("more than {MAX_PARTS} parts")));
        }
        Ok(drawing)
    }

    /// Names of its parts: nodes, ways as "FROM to TO", and the lines of both, as "NODE: LINE" and "FROM to
    /// TO: LINE"; formats, "FORMAT: n octets", and fields as "FORMAT: FIELD, n bits".
    pub fn parts(&self) -> Vec<String> {
        match self {
            Self::Graph { nodes, ways } => {
                let lines = |node: &Node| {
                    let lines = node.lines.iter().map(|line| format!("{}: {line}", node.name));
                    std::iter::once(node.name.clone()).chain(lines).collect::<Vec<_>>()
                };
                let on_way = |way: &Way| {
                    let lines = way.lines.iter().map(|line| format!("{}: {line}", way.name()));
                    std::iter::once(way.name()).chain(lines).collect::<Vec<_>>()
                };
                nodes.iter().flat_map(lines).chain(ways.iter().flat_map(on_way)).collect()
            }
            Self::Formats { formats } => formats.iter().flat_map(Format::parts).collect(),
        }
    }
}

/// Draws it under `title`.
///
/// # Errors
/// A node without a place, or what the definition places that is not in the drawing.
pub(crate) fn scene(
    id: &str,
    title: &str,
    definition: &DrawingDefinition,
    drawing: &Drawing,
) -> Result<Scene, ReportError> {
    match drawing {
        Drawing::Graph { nodes, ways } => {
            graph::scene(title, definition, nodes, ways).map_err(|message| ReportError::item(id, message))
        }
        Drawing::Formats { formats } => Ok(formats::scene(title, formats)),
    }
}
