//! Reports of routers and peers about packets of ours.

use skyhaul_core::ip;
use skyhaul_core::packet::ip_protocol;

use super::{Family, HEADER_BYTES, IcmpMessage, SignalNumbers, Unreachable};
use crate::segment::Way;

/// The part of a quoted segment that every report has: ports and sequence number; of a compressed header, as
/// much.
const QUOTED_BYTES: usize = 8;

/// A report about a segment that we sent, or that was on its way here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted<'a> {
    /// Addresses, ours first.
    pub way: Way,
    /// What it says.
    pub message: IcmpMessage,
    /// Protocol of the packet: TCP, or its compressed headers.
    pub protocol: u8,
    /// The beginning of the segment, at least 8 bytes.
    pub segment: &'a [u8],
}

/// Reads an error message, if it is one about TCP. Signals have these `numbers`.
pub fn report<'a>(family: Family, message: &'a [u8], numbers: &SignalNumbers) -> Option<Quoted<'a>> {
    let (fixed, quoted) = message.split_first_chunk::<HEADER_BYTES>()?;
    let [kind, code, _, _, word @ ..] = *fixed;
    let word = u32::from_be_bytes(word);
    let message = match family {
        Family::V4 => {
            numbers.v4.meaning((kind, code)).map(Into::into).or_else(|| meaning_v4(kind, code, word))
        }
        Family::V6 => {
            numbers.v6.meaning((kind, code)).map(Into::into).or_else(|| meaning_v6(kind, code, word))
        }
    }?;
    let (header, segment) = ip::parse_quoted(quoted)?;
    let protocol = header.fields.protocol;
    let is_ours =
        matches!(protocol, ip_protocol::TCP | ip_protocol::COMPRESSED_TCP) && segment.len() >= QUOTED_BYTES;
    let sent = Way { local: header.source, remote: header.destination };
    let way = if message.quotes_the_peer() { sent.reversed() } else { sent };
    is_ours.then_some(Quoted { way, message, protocol, segment })
}

/// [RFC 792, RFC 1122 3.2.2, RFC 1191 4, RFC 1812 5.2.7.1]. Redirects are not heard [RFC 1122 3.3.1.2: there
/// is but one way out]; source quench where TCP is told to hear it [RFC 6633].
fn meaning_v4(kind: u8, code: u8, word: u32) -> Option<IcmpMessage> {
    Some(match (kind, code) {
        (3, 4) => IcmpMessage::PacketTooBig { mtu_bytes: word & 0xFFFF },
        (3, 0 | 6 | 11) => IcmpMessage::Unreachable(Unreachable::Net),
        (3, 2) => IcmpMessage::Unreachable(Unreachable::Protocol),
        (3, 3) => IcmpMessage::Unreachable(Unreachable::Port),
        (3, 9 | 10 | 13) => IcmpMessage::Unreachable(Unreachable::Prohibited),
        (3, _) => IcmpMessage::Unreachable(Unreachable::Host),
        (4, 0) => IcmpMessage::SourceQuench,
        (11, _) => IcmpMessage::TimeExceeded,
        (12, _) => IcmpMessage::ParameterProblem,
        _ => return None,
    })
}

/// [RFC 4443 3]
fn meaning_v6(kind: u8, code: u8, word: u32) -> Option<IcmpMessage> {
    Some(match (kind, code) {
        (1, 0) => IcmpMessage::Unreachable(Unreachable::Net),
        (1, 1 | 5 | 6) => IcmpMessage::Unreachable(Unreachable::Prohibited),
        (1, 4) => IcmpMessage::Unreachable(Unreachable::Port),
        (1, _) => IcmpMessage::Unreachable(Unreachable::Host),
        (2, _) => IcmpMessage::PacketTooBig { mtu_bytes: word },
        (3, _) => IcmpMessage::TimeExceeded,
        // An unknown next header: it does not speak TCP.
        (4, 1) => IcmpMessage::Unreachable(Unreachable::Protocol),
        (4, _) => IcmpMessage::ParameterProblem,
        _ => return None,
    })
}
