//! Erasure code: `RaptorQ` [RFC 6330] by the crate of that name, one source block, one symbol a packet. From
//! a block of k packets any number of repair symbols is made; any k of packets and symbols give the block
//! back (99 times in 100; with one more 9999 in 10000). Nothing else of this crate knows the library.

#[cfg(test)]
mod coding_tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use raptorq::{
    EncodingPacket, ObjectTransmissionInformation, PayloadId, SourceBlockDecoder, SourceBlockEncoder,
};

use crate::segment::Payload;

/// One source block, one sub-block, symbols of any size; the length is not looked at.
fn shape(symbol_bytes: u16) -> ObjectTransmissionInformation {
    ObjectTransmissionInformation::new(0, symbol_bytes, 1, 1, 1)
}

/// Maker of the repair symbols of a block. It holds the block twice.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    inner: SourceBlockEncoder,
}

impl Encoder {
    /// Encoder of a block of at least one packet; each is filled up with zeros to `symbol_bytes` (which none
    /// exceeds).
    pub(crate) fn new<'a>(packets: impl Iterator<Item = Payload<'a>>, symbol_bytes: u16) -> Self {
        let mut block = Vec::new();
        for (first, second) in packets {
            let end = block.len() + usize::from(symbol_bytes);
            block.extend_from_slice(first);
            block.extend_from_slice(second);
            block.resize(end, 0);
        }
        Self { inner: SourceBlockEncoder::new(0, &shape(symbol_bytes), &block) }
    }

    /// Repair symbol number `index`.
    pub(crate) fn symbol(&self, index: u16) -> Vec<u8> {
        let packet = self.inner.repair_packets(u32::from(index), 1).pop();
        packet.map_or_else(Vec::new, |packet| packet.split().1)
    }
}

/// Packets of a block, each filled up to `symbol_bytes`, out of those that are there and repair symbols
/// (index, symbol) of exactly that size; `None` if they do not suffice. It takes time and memory in
/// proportion to the block: bounded by [`crate::segment::MAX_BLOCK_PACKETS`] and
/// [`crate::segment::MAX_BLOCK_BYTES`].
pub(crate) fn decode<'a>(
    packets: &[Option<Box<[u8]>>],
    repairs: impl Iterator<Item = (u16, &'a [u8])>,
    symbol_bytes: u16,
) -> Option<Vec<u8>> {
    let block_bytes = packets.len() as u64 * u64::from(symbol_bytes);
    let mut decoder = SourceBlockDecoder::new(0, &shape(symbol_bytes), block_bytes);
    let sources = packets.iter().enumerate().filter_map(|(i, packet)| {
        let mut symbol = packet.as_ref()?.to_vec();
        symbol.resize(usize::from(symbol_bytes), 0);
        Some(EncodingPacket::new(PayloadId::new(0, i as u32), symbol))
    });
    let first_repair = packets.len() as u32;
    let repairs = repairs.map(|(index, symbol)| {
        EncodingPacket::new(PayloadId::new(0, first_repair + u32::from(index)), symbol.to_vec())
    });
    decoder.decode(sources.chain(repairs))
}
