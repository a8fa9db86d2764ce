//! Rice codes of runs [Rice, Plaunt 1971]: lengths of what alternates, as missing and received packets do.
//! The value of a run is its length less one; its quotient by 2^k in unary, then k bits. Each kind has a k of
//! its own.

use alloc::vec::Vec;

/// A quotient this long is an escape: 24 plain bits follow.
const ESCAPE: u32 = 24;
const PLAIN_BITS: u32 = 24;
/// Rice parameters that are tried.
const PARAMETERS: usize = 16;

/// Bits of runs of one kind under every parameter k: each takes 1 + k, and what its quotient adds.
#[derive(Clone, Copy, Debug, Default)]
pub struct RiceCost {
    runs: u64,
    added_bits: [u64; PARAMETERS],
}

impl RiceCost {
    /// Counts so many runs of this value in. Their quotient adds nothing from some k on, so short runs are
    /// cheap to count.
    pub fn add(&mut self, value: u32, runs: u64) {
        self.runs += runs;
        for (k, bits) in (0u32..).zip(&mut self.added_bits) {
            let quotient = value >> k;
            if quotient == 0 {
                break;
            }
            let added = if quotient >= ESCAPE { ESCAPE + PLAIN_BITS - 1 - k } else { quotient };
            *bits += runs * u64::from(added);
        }
    }

    /// Bits under this parameter, one of those that are tried.
    #[must_use]
    pub fn bits(&self, k: u8) -> u64 {
        let added = self.added_bits.get(usize::from(k)).copied().unwrap_or(0);
        self.runs * (1 + u64::from(k)) + added
    }

    /// The cheapest parameter and its bits.
    #[must_use]
    pub fn best(&self) -> (u8, u64) {
        (0..PARAMETERS as u8).map(|k| (k, self.bits(k))).min_by_key(|&(k, bits)| (bits, k)).unwrap_or((0, 0))
    }
}

/// Appends alternating runs, each at least 1, behind an octet with the parameters of both kinds, the first
/// kind's in its upper half. The last octet is filled up with 0.
pub fn put_rice_runs(out: &mut Vec<u8>, runs: &[u32], parameters: [u8; 2]) {
    out.push(parameters[0] << 4 | parameters[1]);
    put_runs(out, runs, parameters).finish(0);
}

/// Appends alternating runs, each at least 1, by parameters that the reader knows. The last octet is filled
/// up with 1, which begins a run that has no end: the octets alone say where the runs are over.
pub fn put_ended_rice_runs(out: &mut Vec<u8>, runs: &[u32], parameters: [u8; 2]) {
    put_runs(out, runs, parameters).finish(u8::MAX);
}

fn put_runs<'a>(out: &'a mut Vec<u8>, runs: &[u32], [first, second]: [u8; 2]) -> BitWriter<'a> {
    let mut bits = BitWriter { out, held: 0, count: 0 };
    for (i, &run) in runs.iter().enumerate() {
        let k = if i % 2 == 0 { first } else { second };
        let value = run - 1;
        let quotient = value >> k;
        if quotient >= ESCAPE {
            let ones = (1 << ESCAPE) - 1;
            bits.put(ones << PLAIN_BITS | u64::from(value), ESCAPE + PLAIN_BITS);
        } else {
            let unary = ((1 << quotient) - 1) << 1;
            let low = u64::from(value & ((1 << k) - 1));
            bits.put(unary << k | low, quotient + 1 + u32::from(k));
        }
    }
    bits
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// At most 56 bits.
    fn put(&mut self, value: u64, bits: u32) {
        self.held = self.held << bits | value;
        self.count += bits;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.held >> self.count) as u8);
        }
    }

    /// Fills the last octet up with the lowest bits of `filler`.
    fn finish(self, filler: u8) {
        if self.count > 0 {
            self.out.push((self.held << (8 - self.count)) as u8 | filler >> self.count);
        }
    }
}

/// Runs as [`put_rice_runs`] wrote them: any octets give some, or an end.
#[derive(Clone, Debug)]
pub struct RiceRuns<'a> {
    parameters: [u8; 2],
    bits: BitReader<'a>,
    count: usize,
}

impl<'a> RiceRuns<'a> {
    /// Runs in these octets, the parameters first; `None`: there is no octet.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (&parameters, bytes) = bytes.split_first()?;
        Some(Self::with_parameters(bytes, [parameters >> 4, parameters & 15]))
    }

    /// Runs in these octets by parameters that stand elsewhere.
    pub fn with_parameters(bytes: &'a [u8], parameters: [u8; 2]) -> Self {
        Self { parameters, bits: BitReader { bytes, at: 0 }, count: 0 }
    }

    /// Parameters of both kinds.
    pub fn parameters(&self) -> [u8; 2] {
        self.parameters
    }

    /// Octets read so far, the last one of them perhaps in part.
    pub fn used_bytes(&self) -> usize {
        1 + self.bits.at.div_ceil(8)
    }
}

impl Iterator for RiceRuns<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let k = self.parameters[self.count % 2];
        self.count += 1;
        Some(self.bits.rice(u32::from(k))? + 1)
    }
}

#[derive(Clone, Debug)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_as_they_were_written_and_take_the_bits_that_were_counted() {
        for runs in [&[1_u32][..], &[1, 1, 1, 1, 1, 1, 1, 1, 1], &[40, 1, 3, 2], &[1 << 20, 7, 1, 1 << 23]] {
            let mut costs = [RiceCost::default(); 2];
            for (i, &run) in runs.iter().enumerate() {
                costs[i % 2].add(run - 1, 1);
            }
            let [(first, first_bits), (second, second_bits)] = costs.each_ref().map(RiceCost::best);
            let mut out = Vec::new();
            put_rice_runs(&mut out, runs, [first, second]);
            assert_eq!(out.len() as u64, 1 + (first_bits + second_bits).div_ceil(8), "{runs:?}");
            let mut coded = RiceRuns::new(&out).expect("it has octets");
            let read: Vec<u32> = coded.by_ref().take(runs.len()).collect();
            assert_eq!((read.as_slice(), coded.used_bytes()), (runs, out.len()));
        }
    }

    #[test]
    fn runs_that_end_by_themselves_are_read_without_their_number() {
        for runs in [&[][..], &[1], &[1, 17, 2, 300], &[40, 1 << 20], &[1, 1, 1, 1, 1, 1, 1, 1]] {
            let mut out = Vec::new();
            put_ended_rice_runs(&mut out, runs, [0, 4]);
            // Whoever needs a length fills it up in the same way.
            out.extend([u8::MAX; 2]);
            let read: Vec<u32> = RiceRuns::with_parameters(&out, [0, 4]).collect();
            assert_eq!(read, runs);
        }
    }

    #[test]
    fn octets_that_are_cut_off_end() {
        assert!(RiceRuns::new(&[]).is_none());
        assert_eq!(RiceRuns::new(&[0x00]).map(Iterator::count), Some(0));
        assert_eq!(
            RiceRuns::new(&[0x00, 0xFF, 0xFF]).map(Iterator::count),
            Some(0),
            "a quotient without end"
        );
        assert_eq!(RiceRuns::new(&[0xFF, 0x00]).map(Iterator::count), Some(0), "15 bits are not there");
    }
}
