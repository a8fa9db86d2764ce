//! Effect of bit errors on the bytes of a packet that is delivered all the same.

use bytes::Bytes;
use skyhaul_core::Stream;

use crate::chance::Chance;

/// Bound on the flipped bits of one packet.
const MAX_FLIPS: u32 = 64;

/// A copy of `bytes` (not empty) that differs in at least one bit. After each flipped bit another
/// one follows with chance `again`. That is not the exact distribution of independent errors, but
/// has single errors on good links and bursts of them on bad ones, which is what checksums meet.
pub(crate) fn damaged(bytes: &Bytes, again: Chance, stream: &mut Stream) -> Bytes {
    let mut copy = bytes.to_vec();
    let bits = copy.len() as u64 * 8;
    let first = stream.below(bits);
    flip(&mut copy, first);
    for _ in 1..MAX_FLIPS {
        if !again.hit(stream.next_u64()) {
            break;
        }
        // Any bit but the first, which must stay flipped.
        flip(&mut copy, (first + 1 + stream.below(bits - 1)) % bits);
    }
    copy.into()
}

fn flip(bytes: &mut [u8], bit: u64) {
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
}
