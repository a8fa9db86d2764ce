//! Texts beside a time line that keep apart: neighbours of one kind are joined, then all are moved as little
//! as needed.

use super::{LadderPacket, PacketKind};

/// The height of a line of text beside a time line.
pub(super) const LINE: f64 = 13.5;

/// A text and where on the time line it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LadderLabel {
    /// Where the first and the last packet left.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Where the text stands.
    pub(super) y: f64,
    pub(super) text: String,
    pub(super) kind: PacketKind,
}

/// The labels of one end's packets at their places; rows of packets of one kind, closer than a line, share
/// one.
pub(super) fn joined<'a>(packets: impl Iterator<Item = (&'a LadderPacket, f64)>) -> Vec<LadderLabel> {
    let mut labels: Vec<(LadderLabel, &LadderPacket, usize)> = Vec::new();
    for (packet, y) in packets {
        if let Some((label, first, count)) = labels.last_mut()
            && label.kind == packet.kind
            && y - label.to < LINE
            && packet.note.is_none()
            && first.note.is_none()
            && packet.arrived_s.is_some() == first.arrived_s.is_some()
        {
            label.to = y;
            *count += 1;
            let dots = if *count == 2 { "," } else { " …" };
            label.text = format!("{}{dots} {}", first.label, packet.label);
            continue;
        }
        let text = packet
            .note
            .as_ref()
            .map_or_else(|| packet.label.clone(), |note| format!("{} ({note})", packet.label));
        labels.push((LadderLabel { from: y, to: y, y, text, kind: packet.kind }, packet, 1));
    }
    labels
        .into_iter()
        .map(|(label, ..)| LadderLabel { y: f64::midpoint(label.from, label.to), ..label })
        .collect()
}

/// Moves places (in ascending order) apart by `gap`, within `from` and `to` as far as there is room.
pub(super) fn spread(places: &mut [f64], gap: f64, from: f64, to: f64) {
    let mut free = from;
    for place in places.iter_mut() {
        *place = place.max(free);
        free = *place + gap;
    }
    let mut limit = to;
    for place in places.iter_mut().rev() {
        if *place <= limit {
            break;
        }
        *place = limit;
        limit -= gap;
    }
}
