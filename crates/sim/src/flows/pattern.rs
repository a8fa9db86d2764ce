//! The bytes of simulated streams: known at every position, so that what arrives can be checked.

const WORD: u64 = 8;

/// Eight bytes from position `8 * index` of the stream with this key on.
fn word(key: u64, index: u64) -> [u8; 8] {
    let mixed = (index ^ key.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).to_le_bytes()
}

/// The byte at `position` of every simulated stream with this `key`.
pub fn pattern(key: u64, position: u64) -> u8 {
    word(key, position / WORD)[(position % WORD) as usize]
}

/// Calls `each` with runs of the stream from `position` on, `length` bytes in all.
fn runs(key: u64, position: u64, length: usize, mut each: impl FnMut(usize, &[u8])) {
    let mut done = 0;
    while done < length {
        let at = position + done as u64;
        let skip = (at % WORD) as usize;
        let run = (WORD as usize - skip).min(length - done);
        each(done, &word(key, at / WORD)[skip..skip + run]);
        done += run;
    }
}

/// Writes the stream from `position` on to `out`.
pub(crate) fn fill(key: u64, position: u64, out: &mut [u8]) {
    let length = out.len();
    runs(key, position, length, |at, run| out[at..at + run.len()].copy_from_slice(run));
}

/// How many of `bytes` are not those of the stream from `position` on.
pub(crate) fn count_wrong(key: u64, position: u64, bytes: &[u8]) -> u64 {
    let mut wrong = 0;
    runs(key, position, bytes.len(), |at, run| {
        let got = &bytes[at..at + run.len()];
        if got != run {
            wrong += got.iter().zip(run).filter(|(a, b)| a != b).count() as u64;
        }
    });
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_stream_is_right_wherever_it_is_cut_and_a_wrong_byte_is_found() {
        for (position, length) in [(0, 64), (3, 2), (5, 30), (1 << 40, 17), (8, 0)] {
            let mut bytes = vec![0; length];
            fill(7, position, &mut bytes);
            let expected: Vec<u8> = (position..).take(length).map(|at| pattern(7, at)).collect();
            assert_eq!(bytes, expected);
            assert_eq!(count_wrong(7, position, &bytes), 0);
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
                assert_eq!(count_wrong(7, position, &bytes), 1);
                assert!(count_wrong(8, position, &bytes) > 0);
            }
        }
    }
}
