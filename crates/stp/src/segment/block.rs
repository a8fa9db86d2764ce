//! Which packets a block of repair symbols is made of, and how large each is: `docs/spec/stp.md`, section
//! 3.4. A symbol has no room to say so: it is as large as the largest packet, and that fills a segment.

use alloc::vec::Vec;

use super::gap_list::{
    Coding, MAX_RUNS, MAX_SPAN, choose, put_runs, put_varint, take_rice_runs, take_varint, take_varint_runs,
    varint_len,
};

/// Most packets in a block: what coding one may cost (some 0.1 s for so many).
pub const MAX_BLOCK_PACKETS: u32 = 4096;
/// Most bytes in a block, each packet counted as the largest: both ends hold them. So many packets of 1500
/// bytes.
pub const MAX_BLOCK_BYTES: u64 = 6 << 20;

/// Body of BLOCK. The segment's number is that of the first packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Names the block; each block of a connection has the next one.
    pub id: u8,
    /// Lengths of alternating runs of numbers: in the block, not in it, in it, ...
    pub runs: Vec<u32>,
    /// Payload bytes of the packets in the block, in order: (packets, bytes of each).
    pub sizes: Vec<(u32, u16)>,
}

impl Block {
    /// Packets in the block.
    pub fn packets(&self) -> u32 {
        self.runs.iter().step_by(2).sum()
    }

    /// Bytes of a symbol: the largest packet.
    pub fn symbol_bytes(&self) -> u16 {
        self.sizes.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0)
    }

    /// Bytes in the block, each packet counted as the largest.
    pub fn bytes(&self) -> u64 {
        u64::from(self.packets()) * u64::from(self.symbol_bytes())
    }

    /// Numbers of the packets in the block, counted from its first.
    pub fn members(&self) -> impl Iterator<Item = u64> + '_ {
        let mut at = 0;
        let ranges = self.runs.iter().enumerate().filter_map(move |(i, &run)| {
            let range = at..at + u64::from(run);
            at = range.end;
            (i % 2 == 0).then_some(range)
        });
        ranges.flatten()
    }

    /// Payload bytes of each packet in the block.
    pub fn member_bytes(&self) -> impl Iterator<Item = u16> + '_ {
        self.sizes.iter().flat_map(|&(packets, bytes)| core::iter::repeat_n(bytes, packets as usize))
    }

    fn is_valid(&self) -> bool {
        let span: u64 = self.runs.iter().map(|&run| u64::from(run)).sum();
        let packets: u64 = self.runs.iter().step_by(2).map(|&run| u64::from(run)).sum();
        self.runs.len() % 2 == 1
            && span <= MAX_SPAN
            && packets <= u64::from(MAX_BLOCK_PACKETS)
            && packets * u64::from(self.symbol_bytes()) <= MAX_BLOCK_BYTES
    }
}

/// Bytes of a block's body.
pub fn block_len(block: &Block) -> usize {
    let sizes = block.sizes.iter().map(|&(packets, bytes)| size_len(packets, bytes));
    2 + varint_len(block.runs.len() as u32) + choose(&block.runs).1 + sizes.sum::<usize>()
}

fn size_len(packets: u32, bytes: u16) -> usize {
    varint_len(packets - 1) + varint_len(u32::from(bytes) - 1)
}

pub(super) fn put_block(block: &Block, out: &mut Vec<u8>) {
    let (coding, _) = choose(&block.runs);
    out.push(block.id);
    out.push(if matches!(coding, Coding::Rice { .. }) { 2 } else { 1 });
    put_varint(out, block.runs.len() as u32);
    put_runs(out, &block.runs, coding);
    for &(packets, bytes) in &block.sizes {
        put_varint(out, packets - 1);
        put_varint(out, u32::from(bytes) - 1);
    }
}

/// Reads a block; `None` if it is broken or too large.
pub(super) fn take_block(bytes: &mut &[u8]) -> Option<Block> {
    let (&[id, coding], rest) = bytes.split_first_chunk::<2>()?;
    *bytes = rest;
    let count = take_varint(bytes)? as usize;
    if count == 0 || count > MAX_RUNS {
        return None;
    }
    let runs = match coding & 3 {
        1 => take_varint_runs(bytes, count)?,
        2 => take_rice_runs(bytes, count)?,
        _ => return None,
    };
    let mut block = Block { id, runs, sizes: Vec::new() };
    if !block.is_valid() {
        return None;
    }
    block.sizes = take_sizes(bytes, block.packets())?;
    block.is_valid().then_some(block)
}

fn take_sizes(bytes: &mut &[u8], packets: u32) -> Option<Vec<(u32, u16)>> {
    let mut sizes = Vec::new();
    let mut left = packets;
    while left > 0 {
        let packets = take_varint(bytes)?.checked_add(1)?;
        left = left.checked_sub(packets)?;
        sizes.push((packets, u16::try_from(take_varint(bytes)?.checked_add(1)?).ok()?));
    }
    Some(sizes)
}
