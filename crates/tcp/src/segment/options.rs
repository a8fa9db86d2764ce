//! Options: maximum segment size [RFC 9293 3.2], window scale and timestamps [RFC 7323 2, 3], selective
//! acknowledgements [RFC 2018]. Others are kept as they are.

use alloc::vec::Vec;

use super::{ExtraOptions, Malformed};

/// Blocks that fit into the options of one segment without timestamps.
pub const MAX_SACK_BLOCKS: usize = 4;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// `TSval`: the sender's clock.
    pub value: u32,
    /// `TSecr`: the receiver's clock, returned; meaningful with ACK.
    pub echo: u32,
}

/// Ranges received out of sequence: [first, end), the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block; false if there is no room.
    pub fn push(&mut self, first: u32, end: u32) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = (first, end);
        self.count += 1;
        true
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest payload that the sender of this takes.
    pub mss: Option<u16>,
    /// Shift of the windows that the sender of this advertises, as on the wire (may exceed 14).
    pub window_scale: Option<u8>,
    /// SACK may be used.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Those that this engine does not know.
    pub extra: ExtraOptions,
}

impl Options {
    /// Bytes on the wire, a multiple of 4.
    pub fn encoded_len(&self) -> usize {
        let sack = match self.sack.as_slice().len() {
            0 => 0,
            blocks => 4 + 8 * blocks,
        };
        let fixed = |present: bool, bytes: usize| if present { bytes } else { 0 };
        fixed(self.mss.is_some(), 4)
            + fixed(self.window_scale.is_some(), 4)
            + fixed(self.sack_permitted, 4)
            + fixed(self.timestamps.is_some(), 12)
            + sack
            + self.extra.encoded_len()
    }

    /// Appends them, each begun at a multiple of 4 [RFC 7323 A].
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[MSS, 4]);
            out.extend_from_slice(&mss.to_be_bytes());
        }
        if self.sack_permitted {
            out.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]);
        }
        if let Some(timestamps) = self.timestamps {
            out.extend_from_slice(&[NOP, NOP, TIMESTAMPS, 10]);
            out.extend_from_slice(&timestamps.value.to_be_bytes());
            out.extend_from_slice(&timestamps.echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            out.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
            for (first, end) in blocks {
                out.extend_from_slice(&first.to_be_bytes());
                out.extend_from_slice(&end.to_be_bytes());
            }
        }
        self.extra.encode(NOP, out);
    }

    /// Reads all options of a segment into these, which are none. Of one that comes twice the last one
    /// counts.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Result<(), Malformed> {
        while let [kind, rest @ ..] = bytes {
            bytes = match *kind {
                END => break, // what follows is padding [RFC 9293 3.1]
                NOP => rest,
                kind => self.read_one(kind, bytes)?,
            };
        }
        Ok(())
    }

    /// Reads the option that `bytes` begin with; returns what follows.
    fn read_one<'a>(&mut self, kind: u8, bytes: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let length = usize::from(*bytes.get(1).ok_or(Malformed::Options)?);
        let (option, rest) = bytes.split_at_checked(length).ok_or(Malformed::Options)?;
        let value = option.get(2..).ok_or(Malformed::Options)?;
        match kind {
            MSS => self.mss = Some(u16::from_be_bytes(exact(value)?)),
            WINDOW_SCALE => self.window_scale = Some(u8::from_be_bytes(exact(value)?)),
            SACK_PERMITTED => self.sack_permitted = exact::<0>(value).map(|_| true)?,
            TIMESTAMPS => {
                let both = u64::from_be_bytes(exact(value)?);
                self.timestamps = Some(Timestamps { value: (both >> 32) as u32, echo: both as u32 });
            }
            SACK => self.sack = sack_blocks(value)?,
            _ => _ = self.extra.push(kind, value), // there is room for all options of a header
        }
        Ok(rest)
    }
}

fn exact<const N: usize>(value: &[u8]) -> Result<[u8; N], Malformed> {
    value.try_into().map_err(|_| Malformed::Options)
}

fn sack_blocks(value: &[u8]) -> Result<SackBlocks, Malformed> {
    let (words, rest) = value.as_chunks::<8>();
    if words.is_empty() || !rest.is_empty() {
        return Err(Malformed::Options);
    }
    let mut blocks = SackBlocks::default();
    for word in words {
        let both = u64::from_be_bytes(*word);
        blocks.push((both >> 32) as u32, both as u32); // never more than fit: options have 40 bytes
    }
    Ok(blocks)
}
