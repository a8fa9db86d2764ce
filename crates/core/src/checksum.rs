//! CRC-16/IBM-3740 ("CCITT-FALSE": polynomial 0x1021, start 0xFFFF).
//!
//! Its polynomial is P = x^16 + x^12 + x^5 + 1. Over bits, squaring only doubles exponents, so
//! P^64 = x^1024 + x^768 + x^320 + 1: the same polynomial, with words of 64 bits in place of bits. A
//! long message is therefore first reduced modulo P^64 by whole words (each goes 4, 11 and 16 words
//! further on), to 128 bytes that leave the same remainder modulo P; then by words of 32 and of 16
//! bits; and tables do the last 32 bytes.

use core::ops::BitXorAssign;

const LANES: usize = 16;
static TABLES: [[u16; 256]; LANES] = tables();

const fn tables() -> [[u16; 256]; LANES] {
    let mut t = [[0u16; 256]; LANES];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        t[0][i] = crc;
        i += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut i = 0;
        while i < 256 {
            let crc = t[lane - 1][i];
            t[lane][i] = (crc << 8) ^ t[0][(crc >> 8) as usize];
            i += 1;
        }
        lane += 1;
    }
    t
}

/// Start value of [`crc16`].
pub const START: u16 = 0xFFFF;

/// Words of one step of the reduction: the degree of P.
const WORDS: usize = 16;
/// Bytes of one step by words of 64 bits.
const BLOCK: usize = WORDS * size_of::<u64>();
/// From this length on, reducing by words first is faster.
const LONG: usize = 2 * BLOCK;

/// Continues a CRC-16 over `bytes` from `crc` ([`START`] for the first part).
pub fn crc16(crc: u16, bytes: &[u8]) -> u16 {
    if bytes.len() < LONG { by_tables(crc, bytes) } else { by_words(crc, bytes) }
}

/// At least two blocks.
fn by_words(crc: u16, bytes: &[u8]) -> u16 {
    // Zeros in front change nothing: they make the head two whole blocks.
    let (head, blocks) = bytes.split_at(BLOCK + bytes.len() % BLOCK);
    let mut padded = [0; 2 * BLOCK];
    let start = padded.len() - head.len();
    padded[start..].copy_from_slice(head);
    // What came before counts as if added to the first bits of what follows.
    padded[start] ^= (crc >> 8) as u8;
    padded[start + 1] ^= crc as u8;
    let (first, second) = padded.split_at(BLOCK);
    let mut state = reduce(words(first, u64::from_ne_bytes), words(second, u64::from_ne_bytes));
    for block in blocks.as_chunks::<BLOCK>().0 {
        state = reduce(state, words(block, u64::from_ne_bytes));
    }
    let bytes = state.map(u64::to_ne_bytes);
    let (first, second) = bytes.as_flattened().split_at(BLOCK / 2);
    let state = reduce(words(first, u32::from_ne_bytes), words(second, u32::from_ne_bytes));
    let bytes = state.map(u32::to_ne_bytes);
    let (first, second) = bytes.as_flattened().split_at(BLOCK / 4);
    let state = reduce(words(first, u16::from_ne_bytes), words(second, u16::from_ne_bytes));
    by_tables(0, state.map(u16::to_ne_bytes).as_flattened())
}

/// Sixteen words in the order of the message. How the bytes lie within a word does not matter: words
/// are only added to words.
fn words<T: Copy + Default, const SIZE: usize>(bytes: &[u8], word: impl Fn([u8; SIZE]) -> T) -> [T; WORDS] {
    let mut words = [T::default(); WORDS];
    for (place, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *place = word(*bytes);
    }
    words
}

/// `high` * x^(16 words) + `low` modulo P over words.
fn reduce<T: Copy + Default + BitXorAssign>(high: [T; WORDS], low: [T; WORDS]) -> [T; WORDS] {
    let mut all = [T::default(); 2 * WORDS];
    all[..WORDS].copy_from_slice(&high);
    all[WORDS..].copy_from_slice(&low);
    for i in 0..WORDS {
        let word = all[i];
        all[i + 4] ^= word;
        all[i + 11] ^= word;
        all[i + 16] ^= word;
    }
    let mut rest = low;
    rest.copy_from_slice(&all[WORDS..]);
    rest
}

/// Sixteen bytes a step.
fn by_tables(mut crc: u16, bytes: &[u8]) -> u16 {
    let (blocks, rest) = bytes.as_chunks::<LANES>();
    for block in blocks {
        let high = block[0] ^ (crc >> 8) as u8;
        let low = block[1] ^ crc as u8;
        let mut next = TABLES[LANES - 1][high as usize] ^ TABLES[LANES - 2][low as usize];
        for (i, &byte) in block.iter().enumerate().skip(2) {
            next ^= TABLES[LANES - 1 - i][byte as usize];
        }
        crc = next;
    }
    for &byte in rest {
        crc = (crc << 8) ^ TABLES[0][((crc >> 8) as u8 ^ byte) as usize];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit_by_bit(mut crc: u16, bytes: &[u8]) -> u16 {
        for &byte in bytes {
            crc ^= u16::from(byte) << 8;
            for _ in 0..8 {
                crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            }
        }
        crc
    }

    #[test]
    fn the_catalogued_check_value() {
        assert_eq!(crc16(START, b"123456789"), 0x29B1);
    }

    proptest! {
        #[test]
        fn words_and_tables_agree_with_the_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..1200), split in 0usize..1200,
        ) {
            let split = split.min(bytes.len());
            prop_assert_eq!(crc16(START, &bytes), bit_by_bit(START, &bytes));
            let parts = crc16(crc16(START, &bytes[..split]), &bytes[split..]);
            prop_assert_eq!(parts, bit_by_bit(START, &bytes));
        }
    }
}
