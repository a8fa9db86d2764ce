//! Mask of a status: the numbers beyond LAST_IO that are missing, as distances from it.

use alloc::vec::Vec;

/// Coding of the mask of a status, which lists the PDUs that are missing [PETRA V-C].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskCoding {
    /// A bit for each PDU from LAST_IO to LAST_SEQ_NO.
    Bitmap,
    /// 16 bits for each missing PDU.
    List,
    /// Whichever of the two is shorter.
    Shorter,
}

/// Missing numbers as distances from LAST_IO, rising, from 1 on; and the distance of LAST_SEQ_NO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    missing: Vec<u16>,
    is_bitmap: bool,
}

impl Mask {
    /// Mask that says nothing is missing.
    pub const fn clean() -> Self {
        Self { missing: Vec::new(), is_bitmap: false }
    }

    /// Mask of these distances, which rise from 1 on and end below `span`, the distance of LAST_SEQ_NO.
    pub fn new(missing: Vec<u16>, span: u32, coding: MaskCoding) -> Self {
        debug_assert!(missing.is_sorted() && missing.last().is_none_or(|&last| u32::from(last) <= span));
        let is_bitmap = match coding {
            MaskCoding::Bitmap => true,
            MaskCoding::List => false,
            MaskCoding::Shorter => bitmap_bytes(span) < list_bytes(missing.len()),
        };
        Self { is_bitmap: is_bitmap && !missing.is_empty(), missing }
    }

    /// Distances of missing numbers.
    pub fn missing(&self) -> &[u16] {
        &self.missing
    }

    /// True if it is coded as a bitmap.
    pub fn is_bitmap(&self) -> bool {
        self.is_bitmap
    }

    /// Appends its octets. `span`: distance of LAST_SEQ_NO.
    pub(super) fn encode(&self, span: u32, out: &mut Vec<u8>) {
        if !self.is_bitmap {
            return self.missing.iter().for_each(|distance| out.extend_from_slice(&distance.to_be_bytes()));
        }
        let start = out.len();
        out.resize(start + bitmap_bytes(span), 0);
        for place in self.missing.iter().map(|&distance| usize::from(distance) - 1) {
            out[start + place / 8] |= 0x80 >> (place % 8);
        }
    }

    /// Mask whose octets are all of `bytes`; `None`: they are none.
    pub(super) fn decode(bytes: &[u8], span: u32, is_bitmap: bool) -> Option<Self> {
        let missing = if is_bitmap { from_bitmap(bytes, span)? } else { from_list(bytes, span)? };
        Some(Self { missing, is_bitmap })
    }
}

/// Octets of a bitmap over so many numbers.
fn bitmap_bytes(span: u32) -> usize {
    span.div_ceil(8) as usize
}

fn list_bytes(missing: usize) -> usize {
    missing * size_of::<u16>()
}

/// One bit a number, the first one highest. What is behind the last number is 0, and a bit is set.
fn from_bitmap(bytes: &[u8], span: u32) -> Option<Vec<u16>> {
    if bytes.len() != bitmap_bytes(span) {
        return None;
    }
    let bit = |place: u16| bytes[usize::from(place) / 8] & (0x80 >> (place % 8)) != 0;
    let bits = u16::try_from(bytes.len() * 8).ok()?;
    let missing: Vec<u16> = (0..bits).filter(|&place| bit(place)).map(|place| place + 1).collect();
    missing.last().is_some_and(|&last| u32::from(last) <= span).then_some(missing)
}

fn from_list(bytes: &[u8], span: u32) -> Option<Vec<u16>> {
    let (words, []) = bytes.as_chunks::<2>() else { return None };
    let missing: Vec<u16> = words.iter().map(|&word| u16::from_be_bytes(word)).collect();
    let rises = missing.iter().zip(missing.iter().skip(1)).all(|(one, next)| one < next);
    let is_within = missing.last().is_none_or(|&last| u32::from(last) <= span);
    (rises && missing.first() != Some(&0) && is_within).then_some(missing)
}
