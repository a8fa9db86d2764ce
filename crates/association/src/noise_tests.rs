use std::vec::Vec;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInPlace as _, KeyInit as _};

use crate::Secret;
use crate::noise::*;

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|place| u8::from_str_radix(&hex[2 * place..2 * place + 2], 16).unwrap()).collect()
}

fn secret(hex: &str) -> Secret {
    Secret::new(octets(hex).try_into().unwrap())
}

/// Text of a first transport message in the Noise framework: nonce 0, no associated data.
fn transported(key: &Secret, hex: &str) -> Vec<u8> {
    let message = octets(hex);
    let (sealed, tag) = message.split_last_chunk::<16>().unwrap();
    let mut text = sealed.to_vec();
    let aead = ChaCha20Poly1305::new(key.octets().into());
    aead.decrypt_in_place_detached(&[0; 12].into(), &[], &mut text, &(*tag).into()).unwrap();
    text
}

/// Vector of the `cacophony` collection for this handshake.
#[test]
fn the_handshake_is_that_of_the_noise_vectors() {
    let prologue = octets("4a6f686e2047616c74");
    let psk = secret("54686973206973206d7920417573747269616e20706572737065637469766521");
    let opener = Identity::new(secret("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"));
    let acceptor = Identity::new(secret("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"));
    let ephemeral = secret("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a");
    let payload = octets("4c756477696720766f6e204d69736573");
    let (mut opening, first) =
        Opener::new(&opener, acceptor.public(), &psk, &prologue, ephemeral, &payload).unwrap();
    assert_eq!(
        first,
        octets(concat!(
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f",
            "879f8e3afa4c7944001e21de9f98ddd8e2ad57527207feb5",
            "6253c9c94a9e496782ecfcb2a75fbcaf1b52948cc48daefe",
            "660c62119ab5000980c84831215f2441eba616548e832985",
            "464cf17e51ee93109008399a21f7e13f"
        ))
    );
    let ephemeral = secret("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b");
    let accepting = Acceptor::new(&acceptor, &prologue, ephemeral, &first).unwrap();
    assert_eq!((accepting.opener, &accepting.payload), (opener.public(), &payload));
    let (second, theirs) = accepting.answer(&psk, &octets("4d757272617920526f746862617264")).unwrap();
    assert_eq!(
        second,
        octets(concat!(
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5b",
            "e34069f144808843cb765f2caef0751b8f007572dab03222",
            "17755c0632f365717edbf34d33e87a"
        ))
    );
    let (payload, ours) = opening.read(&second).unwrap();
    assert_eq!(payload, octets("4d757272617920526f746862617264"));
    for split in [ours, theirs] {
        let text = "8153ca9833bc3c1b91a7e66e5f4d4f5b59bf9e64c2f20d15f0bba7";
        assert_eq!(transported(&split.from_opener, text), octets("462e20412e20486179656b"));
        let text = "07af0c9c86e1b4e80f36b04ff7688d51141af3debd0332f0a705ef";
        assert_eq!(transported(&split.from_acceptor, text), octets("4361726c204d656e676572"));
    }
}

#[test]
fn a_forged_answer_does_not_spoil_the_genuine_one() {
    let (opener, acceptor) = (Identity::new(Secret::new([1; 32])), Identity::new(Secret::new([2; 32])));
    let psk = Secret::new([3; 32]);
    let (mut opening, first) =
        Opener::new(&opener, acceptor.public(), &psk, b"p", Secret::new([4; 32]), b"1").unwrap();
    let answer = |psk: &Secret, ephemeral| {
        let accepting = Acceptor::new(&acceptor, b"p", Secret::new([ephemeral; 32]), &first).unwrap();
        accepting.answer(psk, b"2").unwrap().0
    };
    assert!(opening.read(&answer(&Secret::new([9; 32]), 6)).is_err(), "another shared secret");
    let genuine = answer(&psk, 5);
    for bit in 0..genuine.len() * 8 {
        let mut flipped = genuine.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the highest bit of a key, but the hash of the handshake does not.
        assert!(opening.read(&flipped).is_err(), "bit {bit}");
    }
    assert_eq!(opening.read(&genuine).unwrap().0, b"2");
}

#[test]
fn another_prologue_is_refused() {
    let (opener, acceptor) = (Identity::new(Secret::new([1; 32])), Identity::new(Secret::new([2; 32])));
    let psk = Secret::new([3; 32]);
    let (_, first) = Opener::new(&opener, acceptor.public(), &psk, b"p", Secret::new([4; 32]), b"1").unwrap();
    assert!(Acceptor::new(&acceptor, b"q", Secret::new([5; 32]), &first).is_err());
}
