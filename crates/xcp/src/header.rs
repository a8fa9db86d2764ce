//! The 20 octets of the congestion header [XCP 3.2].

use core::fmt;

use skyhaul_core::{HeaderFormat, HeaderTime, PathHeader};

/// Octets of the header.
pub const HEADER_BYTES: usize = PathHeader::BYTES as usize;

/// Version of draft-03.
const VERSION: u8 = 3;
const STANDARD: u8 = 1;
const MINIMAL: u8 = 2;

/// Reason why octets are no header of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer octets than a header has.
    TooShort(usize),
    /// Length field that is not 20.
    Length(u8),
    /// Version other than 3.
    Version(u8),
    /// Format that is neither standard nor minimal.
    Format(u8),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort(bytes) => write!(f, "a congestion header has {HEADER_BYTES} octets, not {bytes}"),
            Self::Length(length) => write!(f, "the length field is {length}, not {HEADER_BYTES}"),
            Self::Version(version) => write!(f, "version {version}, not {VERSION}"),
            Self::Format(format) => write!(f, "format {format} is not assigned"),
        }
    }
}

impl core::error::Error for HeaderError {}

/// Octets of a header in front of a packet of the IP protocol `protocol`. A minimal one has X, RTT and the
/// wanted change at 0.
pub fn encode(protocol: u8, header: &PathHeader) -> [u8; HEADER_BYTES] {
    let (format, asked) = match header.format {
        HeaderFormat::Standard => (STANDARD, Asked::of(header)),
        HeaderFormat::Minimal => (MINIMAL, Asked::default()),
    };
    let mut octets = [0; HEADER_BYTES];
    octets[0] = protocol;
    octets[1] = HEADER_BYTES as u8;
    octets[2] = VERSION << 4 | format;
    octets[3] = nibble(header.reverse_routers) << 4 | nibble(asked.routers);
    octets[4..8].copy_from_slice(&asked.inter_packet.units().to_be_bytes());
    octets[8..12].copy_from_slice(&asked.rtt.units().to_be_bytes());
    octets[12..16].copy_from_slice(&header.reverse_bytes_per_s.to_be_bytes());
    octets[16..20].copy_from_slice(&asked.delta_bytes_per_s.to_be_bytes());
    octets
}

/// IP protocol and header that the first octets of a packet are. What a minimal one has in the fields that
/// are for routers is ignored.
///
/// # Errors
/// Octets that are no header of this version.
pub fn decode(octets: &[u8]) -> Result<(u8, PathHeader), HeaderError> {
    let head: &[u8; HEADER_BYTES] = octets.first_chunk().ok_or(HeaderError::TooShort(octets.len()))?;
    let [protocol, length, version_and_format, routers, ..] = *head;
    if usize::from(length) != HEADER_BYTES {
        return Err(HeaderError::Length(length));
    }
    if version_and_format >> 4 != VERSION {
        return Err(HeaderError::Version(version_and_format >> 4));
    }
    let format = match version_and_format & 0xF {
        STANDARD => HeaderFormat::Standard,
        MINIMAL => HeaderFormat::Minimal,
        other => return Err(HeaderError::Format(other)),
    };
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let back = PathHeader {
        reverse_bytes_per_s: word(12) as i32,
        reverse_routers: routers >> 4,
        format,
        ..PathHeader::default()
    };
    if format == HeaderFormat::Minimal {
        return Ok((protocol, back));
    }
    let (inter_packet, rtt) = (HeaderTime::from_units(word(4)), HeaderTime::from_units(word(8)));
    let (delta_bytes_per_s, routers) = (word(16) as i32, routers & 0xF);
    Ok((protocol, PathHeader { inter_packet, rtt, delta_bytes_per_s, routers, ..back }))
}

/// Writes what routers write of a header onto its octets, and nothing else: the wanted change, and the
/// routers. Octets of a minimal header, or of none, stay as they are.
pub fn rewrite(octets: &mut [u8], header: &PathHeader) {
    let is_standard = decode(octets).is_ok_and(|(_, there)| there.is_for_routers());
    if let (true, Some(head)) = (is_standard, octets.first_chunk_mut::<HEADER_BYTES>()) {
        head[3] = head[3] & 0xF0 | nibble(header.routers);
        head[16..].copy_from_slice(&header.delta_bytes_per_s.to_be_bytes());
    }
}

fn nibble(routers: u8) -> u8 {
    routers.min(PathHeader::MAX_ROUTERS)
}

/// Fields that are for routers.
#[derive(Default)]
struct Asked {
    inter_packet: HeaderTime,
    rtt: HeaderTime,
    delta_bytes_per_s: i32,
    routers: u8,
}

impl Asked {
    fn of(header: &PathHeader) -> Self {
        let &PathHeader { inter_packet, rtt, delta_bytes_per_s, routers, .. } = header;
        Self { inter_packet, rtt, delta_bytes_per_s, routers }
    }
}
