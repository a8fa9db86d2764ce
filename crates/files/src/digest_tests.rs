//! The tree of chunks against BLAKE3 itself.

use proptest::prelude::*;

use super::*;
use crate::limits::{CHUNK_BYTES, chunk_count};

fn whole(data: &[u8]) -> Digest {
    let mut tree = Tree::default();
    let chunks = chunk_count(data.len() as u64);
    for (number, chunk) in data.chunks(CHUNK_BYTES).enumerate() {
        tree.push(chunk_digest(number as u32, chunks, chunk));
    }
    tree.root()
}

fn plain(data: &[u8]) -> Digest {
    Digest(*blake3::hash(data).as_bytes())
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + (i >> 8) * 7 + (i >> 16)) as u8).collect()
}

#[test]
fn the_sizes_around_chunks_agree_with_blake3() {
    for chunks in 0..=9 {
        for step in [-1025, -1, 0, 1, 1024, 1025] {
            let Some(len) = (chunks * CHUNK_BYTES).checked_add_signed(step) else { continue };
            let data = pattern(len);
            assert_eq!(whole(&data), plain(&data), "{len} bytes");
        }
    }
}

#[test]
fn a_long_left_leaning_tree_agrees_with_blake3() {
    for chunks in [15, 16, 17, 23, 31, 32, 33] {
        let data = pattern(chunks * CHUNK_BYTES - 3);
        assert_eq!(whole(&data), plain(&data), "{chunks} chunks");
    }
}

#[test]
fn an_empty_file_has_the_known_digest() {
    let known = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(Tree::default().root().to_string(), known);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_size_agrees_with_blake3(len in 0usize..3_000_000, salt in any::<u8>()) {
        let mut data = pattern(len);
        if let Some(last) = data.last_mut() { *last ^= salt; }
        prop_assert_eq!(whole(&data), plain(&data));
    }
}
