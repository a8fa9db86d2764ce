//! Mask of a status: the numbers beyond LAST_IO that are missing, as distances from it. A mask that names
//! something names LAST_IO + 1, so LAST_SEQ_NO beyond LAST_IO says that there is one.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::rice::{RiceCost, RiceRuns, put_ended_rice_runs};

use super::SPARE_MASK_BYTES;

/// Rice parameters of missing and of received runs. Most losses are single; a received run of 6 or less has
/// fewer bits in a bitmap, one above 160 in a list, and 16 lie between both.
const PARAMETERS: [u8; 2] = [0, 4];
/// Octet that fills Rice codes up.
const RICE_FILLER: u8 = u8::MAX;

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
    Rice,
}

impl Mask {
    /// Mask that says nothing is missing.
    pub const fn clean() -> Self {
        Self { missing: Vec::new(), coded: Coded::List }
    }

    /// Mask of these distances, the first of which is 1. They rise to `span`, the distance of LAST_SEQ_NO, at
    /// most. Of nothing that is missing the span is 0.
    pub fn new(missing: Vec<u16>, span: u32, coding: MaskCoding) -> Self {
        debug_assert!(missing.is_sorted() && missing.last().is_none_or(|&last| u32::from(last) <= span));
        debug_assert!(missing.first().is_none_or(|&first| first == 1) && missing.is_empty() == (span == 0));
        if missing.is_empty() {
            return Self::clean();
        }
        let coded = match coding {
            MaskCoding::Bitmap => Coded::Bitmap,
            MaskCoding::List => Coded::List,
            MaskCoding::Rice => Coded::Rice,
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

    /// Its octets: those of the header, and those behind it. `span`: distance of LAST_SEQ_NO.
    pub(super) fn encode(&self, span: u32) -> ([u8; SPARE_MASK_BYTES], Vec<u8>) {
        let mut octets = match self.coded {
            Coded::List => self.missing.iter().flat_map(|distance| distance.to_be_bytes()).collect(),
            Coded::Bitmap => bitmap(&self.missing, span),
            Coded::Rice => rice(&self.missing),
        };
        let filler = if self.coded == Coded::Rice { RICE_FILLER } else { 0 };
        octets.resize(octets.len().max(SPARE_MASK_BYTES), filler);
        let mut header = [0; SPARE_MASK_BYTES];
        header.iter_mut().zip(octets.drain(..SPARE_MASK_BYTES)).for_each(|(place, octet)| *place = octet);
        (header, octets)
    }

    /// Mask that is encoded to these octets; `None`: there is none.
    pub(super) fn decode(
        header: [u8; SPARE_MASK_BYTES],
        behind: &[u8],
        span: u32,
        coded: Coded,
    ) -> Option<Self> {
        if span == 0 {
            let is_clean = coded == Coded::List && header == [0; SPARE_MASK_BYTES] && behind.is_empty();
            return is_clean.then(Self::clean);
        }
        let octets: Vec<u8> = header.iter().chain(behind).copied().collect();
        let missing = match coded {
            Coded::List => from_list(&octets),
            Coded::Bitmap => from_bitmap(&octets),
            Coded::Rice => from_rice(&octets, span)?,
        };
        let is_within = missing.last().is_none_or(|&last| u32::from(last) <= span);
        let is_sound = missing.first() == Some(&1) && is_within && rises(&missing);
        let mask = Self { missing, coded };
        (is_sound && mask.encode(span) == (header, behind.to_vec())).then_some(mask)
    }
}

/// Octets of the shortest coding of a mask.
pub(in crate::stpp) fn shortest_bytes(missing: &[u16], span: u32) -> usize {
    if missing.is_empty() { 0 } else { shortest(missing, span).1 }
}

/// The shortest coding of a mask that names something, and its octets.
fn shortest(missing: &[u16], span: u32) -> (Coded, usize) {
    let all = [
        (Coded::List, list_bytes(missing.len())),
        (Coded::Bitmap, bitmap_bytes(span)),
        (Coded::Rice, rice_bytes(missing)),
    ];
    // Of equal ones the first: the simplest to read.
    all.map(|(coded, bytes)| (coded, bytes.max(SPARE_MASK_BYTES)))
        .into_iter()
        .min_by_key(|(_, bytes)| *bytes)
        .unwrap_or_default()
}

/// Octets of a Rice-coded mask.
pub(in crate::stpp) fn rice_bytes(missing: &[u16]) -> usize {
    let mut costs = [RiceCost::default(); 2];
    for (place, run) in runs(missing).into_iter().enumerate() {
        costs[place % 2].add(run - 1, 1);
    }
    let bits: u64 = costs.iter().zip(PARAMETERS).map(|(cost, k)| cost.bits(k)).sum();
    bits.div_ceil(8) as usize
}

/// Runs of missing and of received numbers by turns, from LAST_IO + 1 to the last one that is missing.
fn runs(missing: &[u16]) -> Vec<u32> {
    let (mut runs, mut at) = (Vec::new(), 1);
    for &distance in missing {
        let distance = u32::from(distance);
        match runs.last_mut() {
            Some(lost) if distance == at => *lost += 1,
            Some(_) => runs.extend([distance - at, 1]),
            None => runs.push(1),
        }
        at = distance + 1;
    }
    runs
}

/// Octets of a bitmap over so many numbers.
fn bitmap_bytes(span: u32) -> usize {
    span.div_ceil(8) as usize
}

fn list_bytes(missing: usize) -> usize {
    missing * size_of::<u16>()
}

/// One bit a number, the first one highest.
fn bitmap(missing: &[u16], span: u32) -> Vec<u8> {
    let mut octets = vec![0; bitmap_bytes(span)];
    for place in missing.iter().map(|&distance| usize::from(distance) - 1) {
        octets[place / 8] |= 0x80 >> (place % 8);
    }
    octets
}

fn rice(missing: &[u16]) -> Vec<u8> {
    let mut octets = Vec::new();
    put_ended_rice_runs(&mut octets, &runs(missing), PARAMETERS);
    octets
}

fn rises(missing: &[u16]) -> bool {
    missing.iter().zip(missing.iter().skip(1)).all(|(one, next)| one < next)
}

fn from_list(octets: &[u8]) -> Vec<u16> {
    let (words, _) = octets.as_chunks::<2>();
    words.iter().map(|&word| u16::from_be_bytes(word)).collect()
}

fn from_bitmap(octets: &[u8]) -> Vec<u16> {
    let bits = (1..=u16::MAX).zip(octets.iter().flat_map(|octet| (0..8).map(move |bit| octet << bit & 0x80)));
    bits.filter(|&(_, bit)| bit != 0).map(|(distance, _)| distance).collect()
}

/// Numbers of the missing runs; `None`: one goes beyond the span.
fn from_rice(octets: &[u8], span: u32) -> Option<Vec<u16>> {
    let (mut missing, mut at, mut is_lost) = (Vec::new(), 1_u32, true);
    for run in RiceRuns::with_parameters(octets, PARAMETERS) {
        // A run has 2^24 at most by its code, and no more than the span by this.
        let end = at.checked_add(run).filter(|&end| end <= span + 1)?;
        if is_lost {
            missing.extend((at..end).filter_map(|distance| u16::try_from(distance).ok()));
        }
        (at, is_lost) = (end, !is_lost);
    }
    Some(missing)
}
