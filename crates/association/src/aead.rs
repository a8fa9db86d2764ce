//! Authenticated encryption with associated data [RFC 5116], in place. The one module that knows `ring`.

use alloc::boxed::Box;
use core::fmt;

use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::Secret;

/// Octets behind the text that prove it.
pub const TAG_BYTES: usize = 16;

/// Octets of a nonce: a number used once with a key.
pub const NONCE_BYTES: usize = 12;

/// Name of an AEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AeadName {
    /// AES with 128 bits in Galois counter mode [RFC 5116 5.1]: the fastest where the processor has AES.
    Aes128Gcm,
    /// `ChaCha20` with Poly1305 [RFC 8439 2.8]: the fastest in software.
    ChaCha20Poly1305,
}

impl AeadName {
    /// Number of datagrams that may fail to open under the keys of one handshake [RFC 9001 6.6]; then nothing
    /// opens any more.
    pub const fn max_forgeries(self) -> u64 {
        match self {
            Self::Aes128Gcm => 1 << 52,
            Self::ChaCha20Poly1305 => 1 << 36,
        }
    }

    /// Octets of the key, the first ones of a secret.
    const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// Refusal of a text whose tag is not that of key, nonce, associated data and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

/// AEAD with its key. It is wiped when dropped.
pub trait Aead: Send + Sync {
    /// Encrypts `text` in place and gives the tag. No nonce may come twice.
    fn seal(&self, nonce: [u8; NONCE_BYTES], associated: &[u8], text: &mut [u8]) -> [u8; TAG_BYTES];

    /// Decrypts `text` in place. After an error its content is undefined.
    fn open(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        text: &mut [u8],
        tag: [u8; TAG_BYTES],
    ) -> Result<(), Forged>;
}

/// Maker of AEADs. [`ring_aead`] is the one that ships; tests look over its shoulder with others.
pub type AeadMaker = fn(AeadName, &Secret) -> Box<dyn Aead>;

/// AEAD by the library `ring`.
pub fn ring_aead(name: AeadName, key: &Secret) -> Box<dyn Aead> {
    Box::new(RingAead::new(name, key))
}

struct RingAead(LessSafeKey);

impl RingAead {
    fn new(name: AeadName, key: &Secret) -> Self {
        let algorithm = match name {
            AeadName::Aes128Gcm => &AES_128_GCM,
            AeadName::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        let key = UnboundKey::new(algorithm, &key.octets()[..name.key_bytes()]);
        Self(LessSafeKey::new(key.expect("the key has the length of its algorithm")))
    }
}

impl Aead for RingAead {
    fn seal(&self, nonce: [u8; NONCE_BYTES], associated: &[u8], text: &mut [u8]) -> [u8; TAG_BYTES] {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(associated), text);
        let tag = tag.expect("a datagram is far shorter than the 64 GB that ring refuses");
        tag.as_ref().try_into().expect("both AEADs have tags of 16 octets")
    }

    fn open(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        text: &mut [u8],
        tag: [u8; TAG_BYTES],
    ) -> Result<(), Forged> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let associated = Aad::from(associated);
        self.0.open_in_place_separate_tag(nonce, associated, tag.into(), text, 0..).map_err(|_| Forged)?;
        Ok(())
    }
}

impl Drop for RingAead {
    /// Wipes the key by overwriting it with another of its algorithm, since `ring` does not wipe. Copies that
    /// moves left on a stack are not found.
    fn drop(&mut self) {
        let algorithm = self.0.algorithm();
        let zeros = UnboundKey::new(algorithm, &[0; 32][..algorithm.key_len()]);
        self.0 = LessSafeKey::new(zeros.expect("the key has the length of its algorithm"));
        core::hint::black_box(&self.0);
    }
}

impl fmt::Debug for dyn Aead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aead(..)")
    }
}
