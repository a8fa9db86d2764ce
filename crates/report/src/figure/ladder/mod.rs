//! Ladder diagrams: packets between two ends as slanting arrows between two time lines.

mod draw;
mod events;
mod labels;
mod look;
mod map;

pub(crate) use draw::scene;
pub use events::{
    Band, Ladder, LadderPacket, MAX_EVENTS, MAX_PACKETS, MapState, PacketKind, parse_events, read_events,
};
pub(crate) use look::head;

#[cfg(test)]
mod ladder_tests;
