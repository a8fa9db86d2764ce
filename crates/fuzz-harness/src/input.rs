//! Fuzzed bytes, read as choices.

/// Octets of the checksum in a segment.
const CHECKSUM: std::ops::Range<usize> = 8..10;

/// Octets of the checksum in a TCP segment.
const TCP_CHECKSUM: std::ops::Range<usize> = 16..18;

/// Octets of the CRC in a PDU of STPP.
const CRC32: std::ops::Range<usize> = 16..20;

/// Takes values from the front until nothing is left; then everything is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(super) fn word(&mut self) -> u32 {
        u32::from_be_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// At most so many bytes.
    pub(super) fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A number near `base`: mostly a few off, sometimes anything.
    pub(super) fn near(&mut self, base: u32) -> u32 {
        match self.byte() {
            255 => self.word(),
            254 => base.wrapping_add(1 << 22),
            253 => base.wrapping_sub(1 << 23),
            step => base.wrapping_add(u32::from(step)).wrapping_sub(8),
        }
    }
}

/// Puts the right checksum into what may be a segment, since chance rarely does.
pub(super) fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= CHECKSUM.end {
        bytes[CHECKSUM].fill(0);
        let sum = skyhaul_core::checksum::crc16(skyhaul_core::checksum::START, &bytes);
        bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

/// Puts the right CRC into what may be a PDU of STPP.
pub(super) fn with_crc32(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= CRC32.end {
        bytes[CRC32].fill(0);
        let crc = skyhaul_petra::stpp::pdu::crc32(&[&bytes]);
        bytes[CRC32].copy_from_slice(&crc.to_be_bytes());
    }
    bytes
}

/// Segment of TCP with its checksum, from `way.remote` to `way.local`.
pub(super) fn with_tcp_checksum(way: skyhaul_tcp::segment::Way, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= TCP_CHECKSUM.end {
        bytes[TCP_CHECKSUM].fill(0);
        let sum = skyhaul_tcp::segment::checksum(way, &bytes);
        bytes[TCP_CHECKSUM].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}
