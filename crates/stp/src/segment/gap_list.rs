//! Codings of gap lists: whichever is shortest for the list at hand. A return channel of a few
//! kbit/s carries these, so bits count (`docs/spec/stp.md`, section 3.6).

use alloc::vec::Vec;

/// Most runs in one list.
pub const MAX_RUNS: usize = 16_384;
/// Largest sum of a list's runs: numbers further apart cannot be told from old ones.
pub(super) const MAX_SPAN: u64 = 1 << 23;
/// A quotient this long is an escape: 24 plain bits follow.
const ESCAPE: u32 = 24;
const PLAIN_BITS: u32 = 24;

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

fn rice_bits(value: u32, k: u8) -> u64 {
    let quotient = value >> k;
    if quotient >= ESCAPE { u64::from(ESCAPE + PLAIN_BITS) } else { u64::from(quotient + 1) + u64::from(k) }
}

/// The cheapest Rice parameter for runs `first`, `first + 2`, ... and its bits.
fn best_parameter(runs: &[u32], first: usize) -> (u8, u64) {
    let cost = |k: u8| runs.iter().skip(first).step_by(2).map(|&r| rice_bits(r - 1, k)).sum::<u64>();
    (0..16).map(|k| (k, cost(k))).min_by_key(|&(k, bits)| (bits, k)).unwrap_or((0, 0))
}

/// The shortest coding of `runs` and the bytes of its coded runs (parameters included).
pub(super) fn choose(runs: &[u32]) -> (Coding, usize) {
    if runs.is_empty() {
        return (Coding::Empty, 0);
    }
    let varint: usize = runs.iter().map(|&r| varint_len(r - 1)).sum();
    let (missing, missing_bits) = best_parameter(runs, 0);
    let (received, received_bits) = best_parameter(runs, 1);
    let rice = 1 + (missing_bits + received_bits).div_ceil(8) as usize;
    if rice < varint { (Coding::Rice { missing, received }, rice) } else { (Coding::Varint, varint) }
}

/// Writes the coded runs.
pub(super) fn put_runs(out: &mut Vec<u8>, runs: &[u32], coding: Coding) {
    match coding {
        Coding::Empty => {}
        Coding::Varint => runs.iter().for_each(|&r| put_varint(out, r - 1)),
        Coding::Rice { missing, received } => put_rice(out, runs, missing, received),
    }
}

fn put_rice(out: &mut Vec<u8>, runs: &[u32], missing: u8, received: u8) {
    out.push(missing << 4 | received);
    let mut bits = BitWriter { out, held: 0, count: 0 };
    for (i, &run) in runs.iter().enumerate() {
        let k = if i % 2 == 0 { missing } else { received };
        let value = run - 1;
        let quotient = value >> k;
        if quotient >= ESCAPE {
            bits.put((1 << ESCAPE) - 1, ESCAPE);
            bits.put(value, PLAIN_BITS);
        } else {
            bits.put(((1 << quotient) - 1) << 1, quotient + 1);
            bits.put(value & ((1 << k) - 1), u32::from(k));
        }
    }
    bits.finish();
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, value: u32, bits: u32) {
        self.held = self.held << bits | u64::from(value);
        self.count += bits;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.held >> self.count) as u8);
        }
    }

    fn finish(self) {
        if self.count > 0 {
            self.out.push((self.held << (8 - self.count)) as u8);
        }
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
    let (&parameters, coded) = bytes.split_first()?;
    let mut runs = Vec::with_capacity(count.min(coded.len() * 8));
    let mut bits = BitReader { bytes: coded, at: 0 };
    for i in 0..count {
        let k = if i % 2 == 0 { parameters >> 4 } else { parameters & 15 };
        runs.push(bits.rice(u32::from(k))? + 1);
    }
    let used = bits.at.div_ceil(8);
    *bytes = &coded[used..];
    Some(runs)
}

struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    fn bit(&mut self) -> Option<u32> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = byte >> (7 - self.at % 8) & 1;
        self.at += 1;
        Some(u32::from(bit))
    }

    fn plain(&mut self, bits: u32) -> Option<u32> {
        (0..bits).try_fold(0, |value, _| Some(value << 1 | self.bit()?))
    }

    fn rice(&mut self, k: u32) -> Option<u32> {
        let mut quotient = 0;
        while self.bit()? == 1 {
            quotient += 1;
            if quotient == ESCAPE {
                return self.plain(PLAIN_BITS);
            }
        }
        Some(quotient << k | self.plain(k)?)
    }
}

/// Cuts a list into parts whose coded runs take at most `max_bytes` each; every part begins with a
/// missing run. Returns (distance of the part from the list's start, runs).
pub fn split_runs(runs: Vec<u32>, max_bytes: usize) -> Vec<(u32, Vec<u32>)> {
    let mut parts = Vec::new();
    cut(runs, 0, max_bytes.max(16), &mut parts);
    parts
}

fn cut(mut runs: Vec<u32>, start: u32, max_bytes: usize, parts: &mut Vec<(u32, Vec<u32>)>) {
    let fits = runs.len() <= MAX_RUNS && choose(&runs).1 <= max_bytes;
    if fits || runs.len() <= 2 {
        parts.push((start, runs));
        return;
    }
    let half = (runs.len() / 2).next_multiple_of(2);
    let second = runs.split_off(half);
    let distance: u32 = runs.iter().sum();
    cut(runs, start, max_bytes, parts);
    if !second.is_empty() {
        cut(second, start + distance, max_bytes, parts);
    }
}
