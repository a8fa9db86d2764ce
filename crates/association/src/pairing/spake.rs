//! Key from a code, by SPAKE2 [RFC 9382, with the group elements of the crate `spake2`]: whoever does not
//! know the code gets another key, and learns nothing by which codes could be tried elsewhere.

use alloc::format;
use alloc::vec::Vec;

use rand_core::{CryptoRng, Error, RngCore};
use spake2::{Ed25519Group, Identity, Password, Spake2};

use super::code::Code;
use crate::Secret;
use crate::noise::Side;
use crate::secret::SECRET_BYTES;

/// Octets of what each end sends.
pub(super) const ELEMENT_BYTES: usize = 33;

/// Names of the parts, which go into the key.
const OPENER: &[u8] = b"skyhaul pairing opener";
const ACCEPTOR: &[u8] = b"skyhaul pairing acceptor";

/// One end's half. It is used once.
#[derive(Debug)]
pub(super) struct Half(Spake2<Ed25519Group>);

impl Half {
    /// Half of a code, and the element for the other end. `random` is used for nothing else.
    pub(super) fn new(side: Side, code: &Code, random: Secret) -> (Self, Vec<u8>) {
        let password = Password::new(code.octets());
        let (opener, acceptor) = (Identity::new(OPENER), Identity::new(ACCEPTOR));
        let drawn = Drawn { secret: random, count: 0 };
        let (half, element) = match side {
            Side::Opener => Spake2::start_a_with_rng(&password, &opener, &acceptor, drawn),
            Side::Acceptor => Spake2::start_b_with_rng(&password, &opener, &acceptor, drawn),
        };
        (Self(half), element)
    }

    /// Key, with the other end's element; `None` for what is none.
    pub(super) fn finish(self, element: &[u8]) -> Option<Secret> {
        let key = self.0.finish(element).ok()?;
        Some(Secret::new(key.try_into().ok()?))
    }
}

/// Random numbers that were handed in: 32 octets at a time.
struct Drawn {
    secret: Secret,
    count: u32,
}

impl RngCore for Drawn {
    fn next_u32(&mut self) -> u32 {
        let mut octets = [0; 4];
        self.fill_bytes(&mut octets);
        u32::from_be_bytes(octets)
    }

    fn next_u64(&mut self) -> u64 {
        let mut octets = [0; 8];
        self.fill_bytes(&mut octets);
        u64::from_be_bytes(octets)
    }

    fn fill_bytes(&mut self, dest: &mut [u8]) {
        for chunk in dest.chunks_mut(SECRET_BYTES) {
            self.count += 1;
            let drawn = self.secret.derive(&format!("scalar {}", self.count));
            chunk.copy_from_slice(&drawn.octets()[..chunk.len()]);
        }
    }

    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(dest);
        Ok(())
    }
}

impl CryptoRng for Drawn {}
