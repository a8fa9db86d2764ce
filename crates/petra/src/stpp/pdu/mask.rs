//! Mask of a status: the numbers beyond LAST_IO that are missing, as distances from it.

use alloc::vec::Vec;

use skyhaul_core::rice::{RiceCost, RiceRuns, put_rice_runs};

/// Coding of the mask of a status, which lists the PDUs that are missing [PETRA V-C].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskCoding {
    /// A bit for each PDU from LAST_IO to LAST_SEQ_NO.
    Bitmap,
    /// 16 bits for each missing PDU.
    List,
    /// Runs of received and missing PDUs by turns, Rice-coded.
    Rice,
    /// Whichever is shortest.
    Shorter,
}

/// Missing numbers as distances from LAST_IO, rising, from 1 on; and the distance of LAST_SEQ_NO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    missing: Vec<u16>,
    coded: Coded,
}

/// How a mask is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Coded {
    #[default]
    List,
    Bitmap,
    /// By these parameters of received and of missing runs.
    Rice([u8; 2]),
}

impl Mask {
    /// Mask that says nothing is missing.
    pub const fn clean() -> Self {
        Self { missing: Vec::new(), coded: Coded::List }
    }

    /// Mask of these distances, which rise from 1 on and end below `span`, the distance of LAST_SEQ_NO.
    pub fn new(missing: Vec<u16>, span: u32, coding: MaskCoding) -> Self {
        debug_assert!(missing.is_sorted() && missing.last().is_none_or(|&last| u32::from(last) <= span));
        if missing.is_empty() {
            return Self::clean();
        }
        let coded = match coding {
            MaskCoding::Bitmap => Coded::Bitmap,
            MaskCoding::List => Coded::List,
            MaskCoding::Rice => Coded::Rice(rice(&missing, span).0),
            MaskCoding::Shorter => shortest(&missing, span).0,
        };
        Self { missing, coded }
    }

    /// Distances of missing numbers.
    pub fn missing(&self) -> &[u16] {
        &self.missing
    }

    /// How it is coded.
    pub(super) fn coded(&self) -> Coded {
        self.coded
    }

    /// Appends its octets. `span`: distance of LAST_SEQ_NO.
    pub(super) fn encode(&self, span: u32, out: &mut Vec<u8>) {
        match self.coded {
            Coded::List => out.extend(self.missing.iter().flat_map(|distance| distance.to_be_bytes())),
            Coded::Bitmap => self.encode_bitmap(span, out),
            Coded::Rice(parameters) => put_rice_runs(out, &runs(&self.missing, span), parameters),
        }
    }

    fn encode_bitmap(&self, span: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + bitmap_bytes(span), 0);
        for place in self.missing.iter().map(|&distance| usize::from(distance) - 1) {
            out[start + place / 8] |= 0x80 >> (place % 8);
        }
    }

    /// Mask whose octets are all of `bytes`; `None`: they are none. Parameters of `coded` are not looked at:
    /// they stand in `bytes`.
    pub(super) fn decode(bytes: &[u8], span: u32, coded: Coded) -> Option<Self> {
        match coded {
            Coded::List => Some(Self { missing: from_list(bytes, span)?, coded }),
            Coded::Bitmap => Some(Self { missing: from_bitmap(bytes, span)?, coded }),
            Coded::Rice(_) => from_rice(bytes, span),
        }
    }
}

/// The shortest coding of a mask, and its octets.
pub(in crate::stpp) fn shortest_bytes(missing: &[u16], span: u32) -> usize {
    if missing.is_empty() { 0 } else { shortest(missing, span).1 }
}

/// Octets of a Rice-coded mask.
pub(in crate::stpp) fn rice_bytes(missing: &[u16], span: u32) -> usize {
    if missing.is_empty() { 0 } else { rice(missing, span).1 }
}

/// The shortest coding of a mask that names something, and its octets.
fn shortest(missing: &[u16], span: u32) -> (Coded, usize) {
    let (parameters, rice) = rice(missing, span);
    let all = [
        (Coded::List, list_bytes(missing.len())),
        (Coded::Bitmap, bitmap_bytes(span)),
        (Coded::Rice(parameters), rice),
    ];
    // Of equal ones the first: the simplest to read.
    all.into_iter().min_by_key(|(_, bytes)| *bytes).unwrap_or_default()
}

/// Parameters of the shortest Rice code, and its octets.
fn rice(missing: &[u16], span: u32) -> ([u8; 2], usize) {
    let mut costs = [RiceCost::default(); 2];
    for (place, run) in runs(missing, span).into_iter().enumerate() {
        costs[place % 2].add(run - 1, 1);
    }
    let [(received, received_bits), (lost, lost_bits)] = costs.each_ref().map(RiceCost::best);
    ([received, lost], 1 + (received_bits + lost_bits).div_ceil(8) as usize)
}

/// Runs of received and of missing numbers by turns, from LAST_IO, which is received, to LAST_SEQ_NO.
fn runs(missing: &[u16], span: u32) -> Vec<u32> {
    let (mut runs, mut at) = (Vec::new(), 0);
    for &distance in missing {
        let distance = u32::from(distance);
        match runs.last_mut() {
            Some(lost) if distance == at => *lost += 1,
            _ => runs.extend([distance - at, 1]),
        }
        at = distance + 1;
    }
    runs.extend((at <= span).then(|| span + 1 - at));
    runs
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

/// Runs that end at `span`; octets are those that this code has for them.
fn from_rice(bytes: &[u8], span: u32) -> Option<Mask> {
    let mut coded = RiceRuns::new(bytes)?;
    let (mut missing, mut at, mut is_lost) = (Vec::new(), 0_u32, false);
    while at <= span {
        // A run has 2^24 at most by its code, and no more than the span by this.
        let end = at.checked_add(coded.next()?).filter(|&end| end <= span + 1)?;
        if is_lost {
            missing.extend((at..end).filter_map(|distance| u16::try_from(distance).ok()));
        }
        (at, is_lost) = (end, !is_lost);
    }
    let mask = Mask { missing, coded: Coded::Rice(coded.parameters()) };
    let mut again = Vec::new();
    mask.encode(span, &mut again);
    (!mask.missing.is_empty() && again == bytes).then_some(mask)
}
