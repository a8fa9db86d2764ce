//! TCP: windows are kept, nothing is taken back, no segment is larger than was agreed.

use std::collections::BTreeMap;

use skyhaul_core::{Ecn, PacketMeta};
use skyhaul_tcp::scps::Capabilities;
use skyhaul_tcp::segment::{HEADER_BYTES, Segment, flags};

/// The engine cuts segments at least so large, whatever a peer asks for.
const MIN_MSS: usize = 88;
/// Header of IP in front of every segment.
const IP_BYTES: usize = 20;
/// Segment size of a SYN without the option [RFC 9293 3.7.1].
const DEFAULT_MSS: usize = 536;

/// Opening by the SYN of one side.
#[derive(Clone, Copy, Debug)]
struct Opening {
    initial: u32,
    shift: Option<u8>,
    mss: usize,
    /// Bytes that it lets whoever answers it send at once.
    window: u32,
}

impl Opening {
    fn of(segment: &Segment<'_>) -> Self {
        let options = &segment.options;
        let mss = options.mss.map_or(DEFAULT_MSS, usize::from);
        let shift = options.window_scale.map(|shift| shift.min(14));
        Self { initial: segment.sequence, shift, mss, window: segment.window.into() }
    }
}

/// Exchange of the host under watch with one port of its peer from one of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Exchange {
    ours: Option<Opening>,
    theirs: Option<Opening>,
    /// Another SYN of theirs since: it counts if a SYN answers it. Until then the old connection is there.
    proposed: Option<Opening>,
    /// Highest number of ours that the peer ever allowed, behind our initial number.
    allowed: u32,
    /// Highest number of theirs that we acknowledged and allowed, behind their initial number.
    acknowledged: u32,
    edge: u32,
}

impl Exchange {
    /// Shift of windows told by `by`.
    fn shift(&self, by: Option<Opening>) -> u8 {
        match (self.ours.and_then(|one| one.shift), self.theirs.and_then(|one| one.shift)) {
            (Some(_), Some(_)) => by.and_then(|one| one.shift).unwrap_or(0),
            _ => 0,
        }
    }
}

/// Port of the host under watch, and of its peer.
type Ports = (u16, u16);

/// Watches one host.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    mtu_bytes: u32,
    exchanges: BTreeMap<Ports, Exchange>,
    /// Numbers that the host and its peer announced last for compressed headers.
    ours: BTreeMap<u8, Ports>,
    theirs: BTreeMap<u8, Ports>,
}

/// Ports of a segment, by the number in a compressed header where it has none; what a SYN announces is kept.
fn ports(numbers: &mut BTreeMap<u8, Ports>, segment: &Segment<'_>, ports: Ports) -> Option<Ports> {
    if let Some(header) = segment.compression {
        return numbers.get(&header.connection_id).copied();
    }
    if let Some(announced) = Capabilities::find(&segment.options.extra).filter(|_| segment.has(flags::SYN)) {
        numbers.insert(announced.connection_id, ports);
    }
    Some(ports)
}

impl Watch {
    /// A watch over a host with this largest packet.
    pub(crate) fn new(mtu_bytes: u32) -> Self {
        Self { mtu_bytes, exchanges: BTreeMap::new(), ours: BTreeMap::new(), theirs: BTreeMap::new() }
    }

    /// A segment arrives.
    pub(crate) fn received(&mut self, segment: &Segment<'_>) {
        let there = (segment.destination_port, segment.source_port);
        let Some(ports) = ports(&mut self.theirs, segment, there) else { return };
        let exchange = self.exchanges.entry(ports).or_default();
        let is_syn = segment.has(flags::SYN);
        if is_syn && exchange.theirs.is_none_or(|theirs| theirs.initial != segment.sequence) {
            let opening = Some(Opening::of(segment));
            if exchange.acknowledged > 0 {
                exchange.proposed = opening;
                return;
            }
            *exchange = Exchange { ours: exchange.ours, theirs: opening, ..Exchange::default() };
        }
        let (Some(ours), true) = (exchange.ours, segment.has(flags::ACK)) else { return };
        let shift = if is_syn { 0 } else { exchange.shift(exchange.theirs) };
        let edge = segment
            .acknowledgement
            .wrapping_sub(ours.initial)
            .wrapping_add(u32::from(segment.window) << shift);
        // Of an earlier connection, if it is far away.
        if edge < 1 << 31 {
            exchange.allowed = exchange.allowed.max(edge);
        }
    }

    /// A segment leaves.
    pub(crate) fn sent(&mut self, segment: &Segment<'_>, meta: PacketMeta) -> Result<(), String> {
        if meta.wire_bytes > self.mtu_bytes {
            let (bits, mtu) = (segment.flags, self.mtu_bytes);
            return Err(format!(
                "a packet of {} bytes, flags {bits:#04x}, on a path of {mtu}",
                meta.wire_bytes
            ));
        }
        if meta.fields.ecn != Ecn::NotEct && segment.payload_bytes() == 0 {
            return Err(format!("an ECN-capable segment without data, flags {:#04x}", segment.flags));
        }
        if segment.has(flags::RST) {
            return Ok(());
        }
        let here = (segment.source_port, segment.destination_port);
        let Some(ports) = ports(&mut self.ours, segment, here) else {
            return Err("a compressed header with a number that was never announced".into());
        };
        let exchange = self.exchanges.entry(ports).or_default();
        let is_syn = segment.has(flags::SYN);
        if is_syn && exchange.ours.is_none_or(|ours| ours.initial != segment.sequence) {
            let theirs = exchange.proposed.or(exchange.theirs).filter(|_| segment.has(flags::ACK));
            // An opening with data is answered with data [RFC 1644, RFC 7413].
            let allowed = theirs.map_or(0, |theirs| 1 + theirs.window);
            *exchange = Exchange { ours: Some(Opening::of(segment)), theirs, allowed, ..Exchange::default() };
        }
        exchange.sent(segment, is_syn, meta)
    }
}

impl Exchange {
    fn sent(&mut self, segment: &Segment<'_>, is_syn: bool, meta: PacketMeta) -> Result<(), String> {
        let (Some(ours), Some(theirs)) = (self.ours, self.theirs) else { return Ok(()) };
        // A smaller header leaves more room in a packet of one length.
        let bytes = match segment.compression {
            None => segment.payload_bytes() + segment.options.encoded_len(),
            Some(_) => (meta.wire_bytes as usize).saturating_sub(IP_BYTES + HEADER_BYTES),
        };
        if bytes > theirs.mss.max(MIN_MSS) && !is_syn {
            return Err(format!("{bytes} bytes with options in a segment, the peer takes {}", theirs.mss));
        }
        // A probe of a closed window is one byte beyond it.
        let end = segment.sequence.wrapping_sub(ours.initial).wrapping_add(segment.payload_bytes() as u32);
        if segment.payload_bytes() > 0 && end > self.allowed + 1 {
            return Err(format!("data up to {end}, and {} is allowed", self.allowed));
        }
        if !segment.has(flags::ACK) {
            return Ok(());
        }
        let shift = if is_syn { 0 } else { self.shift(Some(ours)) };
        let acknowledged = segment.acknowledgement.wrapping_sub(theirs.initial);
        let edge = acknowledged + (u32::from(segment.window) << shift);
        // A repeated answer to a SYN cannot tell the window that was told by an acknowledgement behind it.
        let edge = if is_syn { edge.max(self.edge) } else { edge };
        if acknowledged < self.acknowledged || edge < self.edge {
            let before = (self.acknowledged, self.edge);
            return Err(format!("took back {before:?} to {:?}", (acknowledged, edge)));
        }
        (self.acknowledged, self.edge) = (acknowledged, edge);
        Ok(())
    }
}
