//! The bytes of simulated streams: known at every position, so that what arrives can be checked.

const WORD: u64 = 8;

/// From one word to the next the sum grows by this.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Sum that the word at `8 * index` is made of.
fn sum(key: u64, index: u64) -> u64 {
    index.wrapping_add(key).wrapping_mul(STEP)
}

/// No two sums make the same word, so no word stands at two places of a stream.
fn mix(sum: u64) -> u64 {
    sum ^ (sum >> 29)
}

/// The byte at `position` of every simulated stream with this `key`.
pub fn pattern(key: u64, position: u64) -> u8 {
    mix(sum(key, position / WORD)).to_le_bytes()[(position % WORD) as usize]
}

/// Bytes in front of the first whole word of `length` bytes from `position` on.
fn lead(position: u64, length: usize) -> usize {
    (position.wrapping_neg() % WORD).min(length as u64) as usize
}

/// Writes the stream from `position` on to `out`. A word at a time: calls that move a handful of bytes
/// would cost more than the bytes.
pub fn fill(key: u64, position: u64, out: &mut [u8]) {
    let (ragged, whole) = out.split_at_mut(lead(position, out.len()));
    fill_ragged(key, position, ragged);
    let first = (position + ragged.len() as u64) / WORD;
    let (words, rest) = whole.as_chunks_mut();
    let mut sum = sum(key, first);
    for place in words.iter_mut() {
        *place = mix(sum).to_le_bytes();
        sum = sum.wrapping_add(STEP);
    }
    fill_ragged(key, (first + words.len() as u64) * WORD, rest);
}

fn fill_ragged(key: u64, position: u64, out: &mut [u8]) {
    for (byte, at) in out.iter_mut().zip(position..) {
        *byte = pattern(key, at);
    }
}

/// How many of `bytes` are not those of the stream from `position` on.
pub fn count_wrong(key: u64, position: u64, bytes: &[u8]) -> u64 {
    let (ragged, whole) = bytes.split_at(lead(position, bytes.len()));
    let first = (position + ragged.len() as u64) / WORD;
    let (words, rest) = whole.as_chunks();
    let mut wrong = count_wrong_ragged(key, position, ragged);
    // Nearly always all are right, which takes no branch a word to find.
    let (mut sum, mut difference) = (sum(key, first), 0);
    for got in words {
        difference |= u64::from_le_bytes(*got) ^ mix(sum);
        sum = sum.wrapping_add(STEP);
    }
    if difference != 0 {
        wrong += count_wrong_ragged(key, first * WORD, words.as_flattened());
    }
    wrong + count_wrong_ragged(key, (first + words.len() as u64) * WORD, rest)
}

fn count_wrong_ragged(key: u64, position: u64, bytes: &[u8]) -> u64 {
    bytes.iter().zip(position..).filter(|&(&got, at)| got != pattern(key, at)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_filled_stream_is_right_wherever_it_is_cut_and_each_wrong_byte_is_counted(
            key in any::<u64>(), position in 0u64..1 << 40, length in 0usize..100,
            flips in proptest::collection::btree_set(0usize..100, 0..20),
        ) {
            let mut bytes = vec![0; length];
            fill(key, position, &mut bytes);
            let expected: Vec<u8> = (position..).take(length).map(|at| pattern(key, at)).collect();
            prop_assert_eq!(&bytes, &expected);
            let flips: Vec<usize> = flips.into_iter().filter(|&at| at < length).collect();
            for &at in &flips {
                bytes[at] ^= 1;
            }
            prop_assert_eq!(count_wrong(key, position, &bytes), flips.len() as u64);
        }
    }
}
