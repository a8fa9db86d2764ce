//! Secrets: octets that are wiped when they are no longer needed, and what is derived from them.

use core::fmt;

use blake2::Blake2sMac256;
use blake2::digest::Mac;
use zeroize::Zeroizing;

/// Octets of a secret, and of what is derived from it.
pub const SECRET_BYTES: usize = 32;

/// Secret of 32 octets: wiped when dropped, never in debug output.
#[derive(Clone)]
pub struct Secret(Zeroizing<[u8; SECRET_BYTES]>);

impl Secret {
    /// Secret of these octets. The caller's copy is the caller's to wipe.
    pub fn new(octets: [u8; SECRET_BYTES]) -> Self {
        Self(Zeroizing::new(octets))
    }

    /// Octets, for those alone that compute with them or keep them.
    pub fn octets(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    /// Secret of one purpose out of this one: keyed BLAKE2s-256 of a label. Nobody finds this one from it.
    pub(crate) fn derive(&self, label: &str) -> Self {
        Self::new(self.mac(&[label.as_bytes()]))
    }

    /// Keyed BLAKE2s-256 over the parts in a row. Callers see to it that parts cannot be cut another way:
    /// only the last may have a variable length.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> [u8; SECRET_BYTES] {
        let mut mac = <Blake2sMac256 as Mac>::new(self.octets().into());
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Source of random secrets, begun with octets that its owner hands in. After each draw its state is
/// replaced by a hash, so that nobody finds in it what was drawn before.
#[derive(Debug)]
pub(crate) struct Entropy(Secret);

impl Entropy {
    /// Source from 32 octets of the operating system's randomness.
    pub(crate) fn new(seed: Secret) -> Self {
        Self(seed)
    }

    /// Secret that nobody else has.
    pub(crate) fn draw(&mut self) -> Secret {
        let drawn = self.0.derive("skyhaul draw");
        self.0 = self.0.derive("skyhaul next");
        drawn
    }

    /// Mixes further randomness in.
    pub(crate) fn stir(&mut self, more: &Secret) {
        self.0 = Secret::new(self.0.mac(&[b"stir", more.octets()]));
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn debug_output_has_no_secret() {
        let text = format!("{:?}", Secret::new([0xAB; 32]));
        assert_eq!(text, "Secret(..)");
    }

    #[test]
    fn labels_give_independent_secrets() {
        let secret = Secret::new([1; 32]);
        assert_ne!(secret.derive("a").octets(), secret.derive("b").octets());
        assert_ne!(secret.derive("a").octets(), Secret::new([2; 32]).derive("a").octets());
        assert_eq!(secret.derive("a").octets(), secret.derive("a").octets());
    }
}
