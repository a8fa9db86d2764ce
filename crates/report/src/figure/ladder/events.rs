//! Reads an event file of a ladder diagram: JSON lines of packets, bands and states of the probing map.

use std::path::Path;

use serde::Deserialize;

use crate::ReportError;

/// The most lines of an event file.
pub const MAX_EVENTS: usize = 200_000;
/// The most packets that one diagram shows.
pub const MAX_PACKETS: usize = 1000;
/// The most entries of a probing map that are shown.
const MAX_ENTRIES: usize = 12;

/// Purpose of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketKind {
    /// Carries data.
    Data,
    /// Asks for a report.
    Poll,
    /// Reports what arrived.
    Stat,
    /// Reports a gap unasked.
    Ustat,
    /// Asks during a probing cycle.
    Probe,
    /// Anything else.
    #[default]
    Other,
}

/// A packet on its way.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderPacket {
    /// When it left.
    pub t_s: f64,
    /// Which end sent it.
    pub from: String,
    /// Which end it was sent to; the other one.
    #[serde(default)]
    pub to: Option<String>,
    /// Text beside it.
    pub label: String,
    /// When it arrived; null if it was lost.
    pub arrived_s: Option<f64>,
    /// Nodes at the ends of the link that lost it, if that is known.
    #[serde(default)]
    pub lost_between: Option<[String; 2]>,
    /// Its purpose.
    #[serde(default)]
    pub kind: PacketKind,
    /// A remark behind the label.
    #[serde(default)]
    pub note: Option<String>,
}

/// A phase: a shaded band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Kind of the band.
    pub band: String,
    /// Its start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

/// The probing map at one moment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapState {
    /// Texts of the entries; empty for an entry without a value.
    pub map: Vec<String>,
    /// When.
    pub at_s: f64,
    /// Why it changed.
    #[serde(default)]
    pub label: String,
}

/// Contents of an event file, by time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ladder {
    /// The packets by their departure.
    pub packets: Vec<LadderPacket>,
    /// The phases by their start.
    pub bands: Vec<Band>,
    /// The states of the map.
    pub map: Vec<MapState>,
}

enum AnyLine {
    LadderPacket(LadderPacket),
    Band(Band),
    Map(MapState),
}

/// Reads an event file.
///
/// # Errors
/// Names file and line: not to be read, a line that is neither packet, band nor map, a time that is no time,
/// more than [`MAX_EVENTS`] lines.
pub fn read_events(path: &Path) -> Result<Ladder, ReportError> {
    let text = std::fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
    parse_events(&text, &path.display().to_string())
}

/// Parses a text; `place` stands for the file's name in messages.
///
/// # Errors
/// As [`read_events`].
pub fn parse_events(text: &str, place: &str) -> Result<Ladder, ReportError> {
    let mut ladder = Ladder::default();
    for (i, line) in text.lines().enumerate() {
        let wrong = |message: String| ReportError::line(place, i + 1, message);
        if i >= MAX_EVENTS {
            return Err(wrong(format!("more than {MAX_EVENTS} lines")));
        }
        if line.trim().is_empty() {
            continue;
        }
        match read_line(line).map_err(wrong)? {
            AnyLine::LadderPacket(packet) => ladder.packets.push(packet),
            AnyLine::Band(band) => ladder.bands.push(band),
            AnyLine::Map(state) => ladder.map.push(state),
        }
    }
    ladder.packets.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    ladder.bands.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    ladder.map.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    Ok(ladder)
}

fn read_line(line: &str) -> Result<AnyLine, String> {
    let value: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    // The key that only one kind of line has decides, so that an error speaks of what was meant.
    let parsed = if value.get("band").is_some() {
        serde_json::from_value(value).map(AnyLine::Band)
    } else if value.get("map").is_some() {
        serde_json::from_value(value).map(AnyLine::Map)
    } else {
        serde_json::from_value(value).map(AnyLine::LadderPacket)
    };
    let line = parsed.map_err(|error| format!("neither packet, band nor map: {error}"))?;
    let time = |at: f64| at.abs() <= 1e12;
    let possible = match &line {
        AnyLine::LadderPacket(packet) => {
            time(packet.t_s) && packet.arrived_s.is_none_or(|at| time(at) && at >= packet.t_s)
        }
        AnyLine::Band(band) => time(band.from_s) && time(band.to_s) && band.from_s <= band.to_s,
        AnyLine::Map(state) => time(state.at_s) && state.map.len() <= MAX_ENTRIES,
    };
    if possible {
        Ok(line)
    } else {
        Err(format!("its times run backwards, or its map has more than {MAX_ENTRIES} entries"))
    }
}
