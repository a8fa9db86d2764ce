//! Target `record`: sealed datagrams.

use skyhaul_association::aead::{AeadName, ring_aead};
use skyhaul_association::{
    Addressee, HEAD_BYTES, Head, Index, OVERHEAD_BYTES, OpeningKeys, Protection, SealingKeys, Secret,
};
use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;

use super::input::Input;

/// Any datagram gives a head or an error, and nothing that was not sealed opens. The first octet chooses
/// mode, AEAD and whether a record is forged out of what follows or sealed from it and then damaged.
///
/// # Panics
/// If a head does not survive, a forgery opens, or a record does not open once.
pub fn record(bytes: &[u8]) {
    let mut input = Input(bytes);
    let choice = input.byte();
    let protection = Protection {
        mode: if choice & 1 == 0 { Mode::Encrypted } else { Mode::Authenticated },
        aead: if choice & 2 == 0 { AeadName::Aes128Gcm } else { AeadName::ChaCha20Poly1305 },
        maker: ring_aead,
    };
    if choice & 4 == 0 { forged(protection, input.0) } else { damaged(protection, input) }
}

fn keys(protection: Protection) -> (SealingKeys, OpeningKeys) {
    let secret = Secret::new([1; 32]);
    let addressee = Addressee::Association(Index::new(1).expect("1 is an index"));
    let sealing = SealingKeys::new(protection, addressee, &secret, Instant::ZERO);
    (sealing, OpeningKeys::new(protection, &secret))
}

fn forged(protection: Protection, bytes: &[u8]) {
    let Ok(head) = Head::decode(bytes) else { return };
    assert_eq!(head.encode(), bytes[..HEAD_BYTES]);
    let opened = keys(protection).1.open(Instant::ZERO, head, &mut bytes.to_vec());
    assert!(opened.is_err(), "nobody sealed it");
}

fn damaged(protection: Protection, mut input: Input<'_>) {
    let (mut sealing, mut opening) = keys(protection);
    let (place, flip) = (input.word() as usize, input.byte());
    let mut sealed = vec![0; OVERHEAD_BYTES + input.0.len()];
    sealed[HEAD_BYTES..HEAD_BYTES + input.0.len()].copy_from_slice(input.0);
    sealing.seal(Instant::ZERO, &mut sealed).expect("it is the first");
    let mut changed = sealed.clone();
    let place = place % changed.len();
    changed[place] ^= flip;
    // The index is looked up before; the tag proves it all the same.
    if flip != 0
        && let Ok(head) = Head::decode(&changed)
    {
        assert!(opening.open(Instant::ZERO, head, &mut changed).is_err(), "octet {place}");
    }
    let head = Head::decode(&sealed).expect("it is a record");
    let mut opened = sealed.clone();
    let text = opening.open(Instant::ZERO, head, &mut opened).expect("it is genuine").text;
    assert_eq!(&opened[text], input.0);
    assert!(opening.open(Instant::ZERO, head, &mut sealed).is_err(), "it was taken");
}
