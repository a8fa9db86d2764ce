//! Codings of gap lists: whichever is shortest for the list at hand. A return channel of a few
//! kbit/s carries these, so bits count (`docs/spec/stp.md`, section 3.6).

use alloc::vec::Vec;

use skyhaul_core::rice::{RiceCost, RiceRuns, put_rice_runs};

/// Most runs in one list.
pub const MAX_RUNS: usize = 16_384;
/// Largest sum of a list's runs: numbers further apart cannot be told from old ones.
pub(super) const MAX_SPAN: u64 = 1 << 23;

/// How a list is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// No list.
    Empty,
    /// 7 bits an octet.
    Varint,
    /// Rice codes with these parameters for missing and received runs.
    Rice { missing: u8, received: u8 },
}

pub(super) fn varint_len(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads at most 4 octets; `None` when there is no end within them or the value is not the shortest form.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for i in 0..4 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7F) << (7 * i);
        if byte & 0x80 == 0 {
            return (i == 0 || byte != 0).then_some(value);
        }
    }
    None
}

/// Values that a varint has in one octet.
const SHORT_RUNS: usize = 0x80;

/// Bits of a list's runs in either coding, kept up run by run.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    varint_bytes: usize,
    /// Of missing and of received runs.
    kinds: [RiceCost; 2],
}

impl Cost {
    fn of(runs: &[u32]) -> Self {
        let mut cost = Self::default();
        // Most runs are short, and equal to many others.
        let mut short = [[0u16; SHORT_RUNS]; 2];
        for (i, &run) in runs.iter().enumerate() {
            match short[i % 2].get_mut(run as usize - 1) {
                Some(count) => {
                    *count += 1;
                    cost.varint_bytes += 1;
                }
                None => cost.add(i, run),
            }
        }
        for (kind, counts) in cost.kinds.iter_mut().zip(&short) {
            for (value, &count) in (0u32..).zip(counts).filter(|&(_, &count)| count > 0) {
                kind.add(value, u64::from(count));
            }
        }
        cost
    }

    /// Counts run number `i` in.
    fn add(&mut self, i: usize, run: u32) {
        self.varint_bytes += varint_len(run - 1);
        self.kinds[i % 2].add(run - 1, 1);
    }

    /// The shorter coding, and its bytes.
    fn best(&self) -> (Coding, usize) {
        let [(missing, missing_bits), (received, received_bits)] = self.kinds.each_ref().map(RiceCost::best);
        let rice = 1 + (missing_bits + received_bits).div_ceil(8) as usize;
        if rice < self.varint_bytes {
            (Coding::Rice { missing, received }, rice)
        } else {
            (Coding::Varint, self.varint_bytes)
        }
    }
}

/// Size of a list that grows. Where varints fit nothing more is known or asked.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    varint_bytes: usize,
    /// Once varints did not fit.
    cost: Option<Cost>,
}

impl Growth {
    fn of(runs: &[u32]) -> Self {
        Self { varint_bytes: runs.iter().map(|&run| varint_len(run - 1)).sum(), cost: None }
    }

    /// Counts run number `i` in.
    fn add(&mut self, i: usize, run: u32) {
        self.varint_bytes += varint_len(run - 1);
        if let Some(cost) = &mut self.cost {
            cost.add(i, run);
        }
    }

    /// True if `runs`, which are counted, take at most so many bytes.
    fn fits(&mut self, runs: &[u32], max_bytes: usize) -> bool {
        self.varint_bytes <= max_bytes
            || self.cost.get_or_insert_with(|| Cost::of(runs)).best().1 <= max_bytes
    }
}

/// The shortest coding of `runs` and the bytes of its coded runs (parameters included).
pub(super) fn choose(runs: &[u32]) -> (Coding, usize) {
    if runs.is_empty() { (Coding::Empty, 0) } else { Cost::of(runs).best() }
}

/// Writes the coded runs.
pub(super) fn put_runs(out: &mut Vec<u8>, runs: &[u32], coding: Coding) {
    match coding {
        Coding::Empty => {}
        Coding::Varint => runs.iter().for_each(|&r| put_varint(out, r - 1)),
        Coding::Rice { missing, received } => put_rice_runs(out, runs, [missing, received]),
    }
}

/// Reads `count` varint runs.
pub(super) fn take_varint_runs(bytes: &mut &[u8], count: usize) -> Option<Vec<u32>> {
    let mut runs = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        runs.push(take_varint(bytes)?.checked_add(1)?);
    }
    Some(runs)
}

/// Reads `count` Rice-coded runs, parameters first.
pub(super) fn take_rice_runs(bytes: &mut &[u8], count: usize) -> Option<Vec<u32>> {
    let mut coded = RiceRuns::new(bytes)?;
    let mut runs = Vec::with_capacity(count.min(bytes.len() * 8));
    for _ in 0..count {
        runs.push(coded.next()?);
    }
    *bytes = &bytes[coded.used_bytes()..];
    Some(runs)
}

/// Bounds of one list: what it takes to make it depends on them, and on nothing that arrived.
#[derive(Clone, Copy, Debug)]
pub struct ListBounds {
    /// Bytes of the coded runs.
    pub max_bytes: usize,
    /// Gaps.
    pub max_gaps: usize,
}

/// List of gaps, or as much of one as its bounds admit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GapList {
    /// Where the first gap begins; nothing without one.
    pub first: Option<u64>,
    /// Lengths of alternating runs: missing, received, missing, ... It ends with a missing run if it is
    /// complete, else with the received run before the first gap that is left out.
    pub runs: Vec<u32>,
    /// First gap that is left out.
    pub rest: Option<u64>,
}

impl GapList {
    /// List of `gaps`, which rise and of which only two neighbours may touch. Looks at one gap more than it
    /// lists, at most.
    pub fn of(gaps: impl Iterator<Item = (u64, u64)>, bounds: ListBounds) -> Self {
        let (mut list, mut growth, mut at) = (Self::default(), Growth::default(), 0);
        for (first, end) in gaps {
            let length = (end - first) as u32;
            let count = list.runs.len();
            if list.first.is_none() {
                list.first = Some(first);
            } else if first == at {
                // Neighbours, of which the packets between are not counted.
                list.runs[count - 1] += length;
                growth = Growth::of(&list.runs);
                at = end;
                continue;
            } else {
                let received = (first - at) as u32;
                list.runs.extend([received, length]);
                growth.add(count, received);
                growth.add(count + 1, length);
                if count / 2 + 1 >= bounds.max_gaps || !growth.fits(&list.runs, bounds.max_bytes) {
                    list.runs.pop();
                    list.rest = Some(first);
                    return list;
                }
                at = end;
                continue;
            }
            list.runs.push(length);
            growth.add(0, length);
            at = end;
        }
        list
    }
}
