//! Handshake of a pairing, `Noise_XXpsk0_25519_ChaChaPoly_BLAKE2s`: three messages, in which both ends prove
//! that they know one key, and show and prove their static keys.

use alloc::vec::Vec;
use core::fmt;

use snow::HandshakeState;

use super::{Identity, PublicKey, Refused, Split, builder, read, split, written};
use crate::Secret;

/// Name of the handshake in the Noise framework.
pub const PAIRING_NOISE_NAME: &str = "Noise_XXpsk0_25519_ChaChaPoly_BLAKE2s";

/// Place of the shared key in the pattern `XXpsk0`.
const PSK_PLACE: u8 = 0;

/// Most octets of a message beside its payload: ephemeral key, sealed static key, two tags.
const MOST_BYTES: usize = 96;

/// Side of a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// End at which the code is typed.
    Opener,
    /// End that shows it.
    Acceptor,
}

/// Handshake of either end.
pub(crate) struct Mutual(HandshakeState);

impl Mutual {
    /// Handshake under a key that both ends should have. `ephemeral` is random and used for nothing else.
    pub(crate) fn new(
        side: Side,
        identity: &Identity,
        key: &Secret,
        prologue: &[u8],
        ephemeral: Secret,
    ) -> Result<Self, Refused> {
        let builder =
            builder(PAIRING_NOISE_NAME, identity, prologue, ephemeral)?.psk(PSK_PLACE, key.octets())?;
        Ok(Self(match side {
            Side::Opener => builder.build_initiator()?,
            Side::Acceptor => builder.build_responder()?,
        }))
    }

    /// Next message of this end, with `payload`.
    pub(crate) fn write(&mut self, payload: &[u8]) -> Result<Vec<u8>, Refused> {
        written(&mut self.0, MOST_BYTES, payload)
    }

    /// Payload of the next message of the other end.
    pub(crate) fn read(&mut self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        read(&mut self.0, 0, message)
    }

    /// Static key of the other end, once a message has shown it.
    pub(crate) fn peer(&self) -> Option<PublicKey> {
        self.0.get_remote_static()?.try_into().ok().map(PublicKey)
    }

    /// Secrets of both directions, after the third message.
    pub(crate) fn split(&mut self) -> Split {
        split(&mut self.0)
    }
}

impl fmt::Debug for Mutual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutual(..)")
    }
}
